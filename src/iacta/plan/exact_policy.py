"""The best play of a turn as a policy: what it does in each state, and how often it comes to it.

A forward pass from the start follows the best rolls and advances, all states with the same number
of armies at once (`iacta.plan.exact_turn`). It keeps the territories as they are, and looks up the
value of a state with interchangeable territories put in order.

To know the chance that a border is ever rolled over, it also carries, for each border, the
probability of visiting a state without having rolled over that border before.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

from iacta.methods.kernel import Result
from iacta.plan.exact_turn import AT_ONCE, ExactTurn, Worths, chances_of, worth_of
from iacta.plan.game import Attack
from iacta.plan.game import Game as BattleGame
from iacta.plan.games import Game, Source, played
from iacta.plan.goals import Rewards
from iacta.plan.one_stack import StackChances
from iacta.plan.policy import Node, Policy, Visit, Visits
from iacta.plan.problem import mask_of
from iacta.plan.turn import BestRoll, Roll, TurnState
from iacta.plan.turn_codes import (
    SAME,
    Block,
    Bools,
    Border,
    Fight,
    Floats,
    Ints,
    Move,
    advances_after,
)

__all__ = ["BestPlay", "ExactPolicy", "visits_of"]


def visits_of(exact: ExactTurn) -> Visits:
    """Return how the best play goes.

    exact: the turn, solved.
    """
    return _Flow(exact).run()


class BestPlay:
    """The best policy of real play.

    exact: the turn, solved.
    """

    def __init__(self, exact: ExactTurn) -> None:
        self.exact, self.turn = exact, exact.turn

    def best_roll(self, state: TurnState) -> BestRoll | None:
        """Return what to do in a state; `None` for a stop."""
        return self.exact.best_roll(state)

    def results(self, state: TurnState, roll: Roll) -> list[Result]:
        """Return the results of a roll, with the answers that the defender gives."""
        return self.turn.results(state, roll, lambda after: self.exact.value_of(after) or 0.0)

    def covers(self, state: TurnState) -> bool:
        """Return whether the turn can come to a state."""
        return self.exact.value_of(state) is not None

    def games(self, source: Source) -> Iterator[Game]:
        """Yield games that the policy plays, without end."""
        return played(self, source)

    def set_chances(self, masks: Iterable[int]) -> tuple[float, ...]:
        """Return the chance that the player owns all of a set at the end, for each set."""
        flow = _Flow(self.exact)
        flow.run()
        field = self.exact.layout.places[self.exact.layout.stacks :]
        ends = flow.ends or {mask_of(range(len(field))): 1.0}

        def chance_of(mask: int) -> float:
            missing = mask & self.turn.problem.enemy
            if missing & ~mask_of(field):
                return 0.0
            asked = mask_of(j for j, t in enumerate(field) if missing >> t & 1)
            return min(1.0, sum(chance for left, chance in ends.items() if not asked & left))

        return tuple(map(chance_of, masks))


class ExactPolicy(Policy):
    """The best policy, battle by battle; its nodes are states as whole numbers.

    game: the game it is made for.
    chances: the chances of single stacks.
    exact: the turn, solved with whole battles.
    """

    def __init__(self, game: BattleGame, chances: StackChances, exact: ExactTurn) -> None:
        super().__init__(game, chances)
        self.exact, self.layout = exact, exact.layout
        self.start = self.layout.encode(exact.turn.start()) if exact.value > 0.0 else None

    @cached_property
    def _flow(self) -> "_Flow":
        """The forward pass, made when it is first asked for."""
        flow = _Flow(self.exact)
        flow.run()
        return flow

    @cached_property
    def _borders(self) -> dict[int, int]:
        """By the states in which a battle is fought, the number of the border."""
        return {code: number for codes, number in self._flow.fought for code in codes.tolist()}

    @cached_property
    def _conquests(self) -> dict[tuple[int, int], tuple[int, int]]:
        """By the number of the border and the conquest, how many advance, and the state after."""
        return {
            (number, code): (moved, after)
            for number, *columns in self._flow.advanced
            for code, moved, after in zip(*(column.tolist() for column in columns), strict=True)
        }

    def for_rewards(self, rewards: Rewards) -> "ExactPolicy":
        """Return the same policy for a game that pays otherwise."""
        other = copy(self)
        other.game = BattleGame(self.game.problem, self.game.field, rewards)
        return other

    def settled(self, node: Node) -> Node:
        """Return a state in which a battle is fought; `None` for all others."""
        return node if isinstance(node, int) and node in self._borders else None

    def attack(self, node: Node) -> tuple[Attack, int, int]:
        """Return the next attack, the armies on the attacking territory, and the defenders."""
        _, border, armies, defenders = self._battle(node)
        places = self.layout.places
        return Attack(places[border.start], places[border.to]), armies, defenders

    def _battle(self, node: Node) -> tuple[int, Border, int, int]:
        """Return the next border with its number, and the armies on its two territories."""
        code, layout = _code(node), self.layout
        number = self._borders[code]
        i, c = (border := layout.borders[number]).start, border.to
        ours, theirs = (code % layout.whole // layout.strides[k] % layout.radix[k] for k in (i, c))
        return number, border, ours - layout.defenders[i], theirs + 1

    def after_win(self, node: Node, able: int) -> tuple[int, Node]:
        """Return how many of `able` armies left advance after a conquest, and the next node."""
        layout, (number, border, armies, defenders) = self.layout, self._battle(node)
        i, c = border.start, border.to
        lost = armies - layout.garrisons[i] - able
        code = _code(node) - lost * layout.steps[i] - defenders * layout.steps[c]
        code += (layout.defenders[c] + 1) * layout.strides[c]
        moved, after = self._conquests.get((number, code), (able, None))
        return moved, self.settled(after)

    def after_loss(self, node: Node, defenders: int) -> Node:
        """Return the next node after a lost battle that leaves some defenders."""
        layout, (_, border, armies, before) = self.layout, self._battle(node)
        fallen = (before - defenders) * layout.steps[border.to]
        return self.settled(_code(node) - armies * layout.steps[border.start] - fallen)

    def visits(self) -> Visits:
        """Return how the plan goes."""
        return self._flow.visits


def _code(node: Node) -> int:
    if not isinstance(node, int):
        raise TypeError(f"a node of this policy is a whole number, got {node!r}")
    return node


class _Mass(NamedTuple):
    """States with the probability of visiting each.

    codes: the states, their territories as they are.
    chances: the probability of visiting each, as `[state, 0]`; and as `[state, 1 + k]`, that of
        visiting it without having rolled over border k before.
    """

    codes: Ints
    chances: Floats

    def of(self, rows: Ints | Bools) -> "_Mass":
        """Return some of the states."""
        return _Mass(self.codes[rows], self.chances[rows])


class _Flow:
    """The probability of visiting each state, if every roll and every advance is the best.

    exact: the turn, solved.
    fought: states, and the number of the border over which is attacked in them.
    advanced: the number of a border, conquests over it, how many advance, and the states after it.
    """

    def __init__(self, exact: ExactTurn) -> None:
        self.exact, self.layout, self.turn = exact, exact.layout, exact.turn
        self.visits = Visits()
        self.ends: dict[int, float] = defaultdict(float)
        self.fought: list[tuple[Ints, int]] = []
        self.advanced: list[tuple[int, Ints, Ints, Ints]] = []
        self.waiting: dict[int, list[_Mass]] = defaultdict(list)
        # By t, and then by border and the least advance.
        self.taken: dict[int, dict[tuple[int, int], list[_Mass]]] = defaultdict(
            lambda: defaultdict(list)
        )

    def run(self) -> Visits:
        """Return how it goes."""
        start = self.turn.start()
        code = self.layout.encode(start)
        if code is None or not self.exact.value > 0.0:
            return self.visits
        borders = len(self.layout.borders)
        self._wait(_Mass(np.array([code]), np.ones((1, 1 + borders))))
        for total in range(code // self.layout.whole, -1, -1):
            for (number, least), parts in self.taken.pop(total, {}).items():
                self._advance(number, least, _summed(parts))
            if total in self.waiting:
                mass = _summed(self.waiting.pop(total))
                for low in range(0, len(mass.codes), AT_ONCE):
                    self._leave(mass.of(np.arange(low, min(low + AT_ONCE, len(mass.codes)))))
        return self.visits

    def _attack(self, number: int) -> Attack:
        border = self.layout.borders[number]
        return Attack(self.layout.places[border.start], self.layout.places[border.to])

    def _wait(self, mass: _Mass) -> float:
        """Put states to those that wait; return the chance of those in which it is best to stop."""
        going = self.exact.values_at(mass.codes) > 0.0
        stopped = float(mass.chances[~going, 0].sum())
        self._end(Block(self.layout, mass.codes[~going]).left, mass.chances[~going, 0])
        mass = mass.of(going)
        totals = mass.codes // self.layout.whole
        for total in np.flatnonzero(np.bincount(totals)).tolist():
            self.waiting[total].append(mass.of(totals == total))
        return stopped

    def _end(self, left: Ints, chances: Floats) -> None:
        """Count ends of the turn, by the places of the field that are not taken then."""
        for mask, chance in zip(left.tolist(), chances.tolist(), strict=True):
            self.ends[mask] += chance

    def _leave(self, mass: _Mass) -> None:
        """Make the best roll of some states."""
        block = Block(self.layout, mass.codes)
        best = np.zeros(len(mass.codes))
        chosen = np.full(len(mass.codes), -1)
        rolls: list[tuple[Fight, Move, Worths]] = []
        for fight in block.fights():
            worths = self.exact.worths(block, fight)
            for move in fight.group.moves:
                worth = worth_of(move, fight, worths)
                better = worth > best[fight.rows] * (1.0 + SAME)
                rows = fight.rows[better]
                best[rows], chosen[rows] = worth[better], len(rolls)
                rolls.append((fight, move, worths))
        for k, (fight, move, worths) in enumerate(rolls):
            here = np.flatnonzero(chosen[fight.rows] == k)
            if len(here):
                few = {key: worth[here] for key, worth in worths.items()}
                self._roll(block, fight.of(here), move, few, mass)

    def _roll(self, block: Block, fight: Fight, move: Move, worths: Worths, mass: _Mass) -> None:
        """Make a roll in some states."""
        number, attack = fight.number, self._attack(fight.number)
        border = self.layout.borders[number]
        self.fought.append((mass.codes[fight.rows], number))
        before = mass.chances[fight.rows].copy()
        self.visits.add(attack, Visit(float(before[:, 1 + number].sum()), 0.0, 0.0, 0.0))
        before[:, 1 + number] = 0.0
        for k, chances in chances_of(move, fight, worths).items():
            here = np.flatnonzero(chances)
            loss, some = fight.group.losses[k], fight.of(here)
            after = _Mass(block.after(some, loss), before[here] * chances[here, None])
            attackers = some.lost(loss.attackers)
            self.visits.armies[attack.start] -= float((attackers * after.chances[:, 0]).sum())
            if not loss.conquers:
                ended = self._wait(after)
                self.visits.add(attack, Visit(0.0, 0.0, 0.0, ended))
                continue
            _, over = self.layout.paid(border.to, block.left[some.rows])
            spare = some.armies - attackers - self.layout.garrisons[border.start]
            self._arrive(number, spare[over], spare[over], after.chances[over, 0])
            taken = 1 << border.to - self.layout.stacks
            self._end(block.left[some.rows][over] & ~taken, after.chances[over, 0])
            after = after.of(~over)
            totals = after.codes // self.layout.whole
            for total in np.flatnonzero(np.bincount(totals)).tolist():
                self.taken[total][number, move.least].append(after.of(totals == total))

    def _advance(self, number: int, least: int, mass: _Mass) -> None:
        """Make the best advance after some conquests."""
        advances = advances_after(self.layout, number, mass.codes)
        worths = self.exact.worths_of_advances(advances)
        moved, _ = advances.best(worths, least)
        self._arrive(number, advances.spare, moved, mass.chances[:, 0])
        codes = advances.codes[moved - 1, np.arange(len(moved))]
        self.advanced.append((number, mass.codes, moved, codes))
        stopped = self._wait(_Mass(codes, mass.chances))
        self.visits.add(self._attack(number), Visit(0.0, 0.0, 0.0, stopped))

    def _arrive(self, number: int, able: Ints, moved: Ints, chances: Floats) -> None:
        """Count conquests and advances."""
        attack = self._attack(number)
        arrived = float((moved * chances).sum())
        self.visits.armies[attack.start] -= arrived
        self.visits.add(attack, Visit(0.0, float(chances.sum()), arrived, 0.0))
        for (left, go), k in _places_of(able, moved).items():
            self.visits.add_advance(attack, left, go, float(chances[k].sum()))


def _summed(parts: list[_Mass]) -> _Mass:
    """Return the states of some masses, each once."""
    codes = np.concatenate([part.codes for part in parts])
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    chances = np.concatenate([part.chances for part in parts])[order]
    return _Mass(codes[first], np.add.reduceat(chances, first, axis=0))


def _places_of(*rows: Ints) -> dict[tuple[int, ...], Ints]:
    """Return where each combination of numbers stands."""
    if not len(rows[0]):
        return {}
    order = np.lexsort(rows)
    columns = [row[order] for row in rows]
    new = np.any([np.diff(column, prepend=-1) != 0 for column in columns], axis=0)
    first = np.flatnonzero(new)
    parts = np.split(order, first[1:])
    return {
        tuple(int(column[k]) for column in columns): part
        for k, part in zip(first, parts, strict=True)
    }
