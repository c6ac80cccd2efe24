"""Slow twins: exhaustive recursion over all play on a small board, without arrays.

`Play` is the game as the rules describe it. The player rolls from any stack against any neighbour,
with any allowed number of dice, moves on after a conquest, and may stop or attack elsewhere after
any roll.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from iacta import Rules
from iacta.board import Holding, Position
from iacta.plan import Goal, InOrder, OwnAny, TakeAll, TakeAny, Worth
from iacta.plan.problem import Problem, SearchState
from iacta.plan.search import Search
from iacta.rules.modes import BalancedBlitz, DefenderSeesFirst
from iacta.rules.roll import count_losses_by_throw, loss_counts
from tests.balanced_twin import list_outcomes
from tests.house_twin import House, find_house
from tests.plan.boards import Move

Number: TypeAlias = Any  # a fraction or a float


class State(NamedTuple):
    """The armies on each territory, and whether the player owns it."""

    armies: tuple[int, ...]
    owned: tuple[bool, ...]


class Action(NamedTuple):
    """An attack with its number of dice; the maximum number for a whole battle."""

    start: int
    to: int
    dice: int


class End(NamedTuple):
    """A result of a roll or battle: the losses of both sides, and the dice of the last roll."""

    chance: Number
    lost: int
    killed: int
    dice: int


# The chance of a throw, and the possible results for each reply of the defender.
Throws: TypeAlias = tuple[tuple[Number, tuple[tuple[End, ...], ...]], ...]


@cache
def battle_ends(able: int, defenders: int, rules: Rules) -> dict[tuple[int, int, int], Fraction]:
    """Return the distribution of (able left, defenders left, dice of the last roll)."""
    if (house := find_house(rules)) is not None:
        return _house_ends(able, defenders, house, rules.garrison)
    if not able or not defenders:
        return {(able, defenders, 0): Fraction(1)}
    dice = min(able, rules.attack.kept)
    losses = loss_counts(dice, min(defenders, rules.defence.kept), rules)
    ends: dict[tuple[int, int, int], Fraction] = {}
    for killed, rolls in enumerate(losses.counts):
        after = able - (losses.pair_count - killed), defenders - killed
        for (a, d, last), chance in battle_ends(*after, rules).items():
            key = a, d, last or dice
            ends[key] = ends.get(key, Fraction(0)) + chance * Fraction(rolls, losses.total)
    return ends


@cache
def _house_ends(
    able: int, defenders: int, house: House, garrison: int
) -> dict[tuple[int, int, int], Fraction]:
    """Return the distribution of `battle_ends` under a house rule.

    Of the last roll, at most three dice count, as for whole battles of a turn.
    """
    dice, theirs = house.count_dice(able, defenders, garrison)
    if not dice:
        return {(able, defenders, 0): Fraction(1)}
    law = house.list_losses(dice, theirs)
    again = law.get((0, 0), Fraction(0))
    ends: dict[tuple[int, int, int], Fraction] = {}
    for (lost, killed), chance in law.items():
        if not lost and not killed:
            continue
        after = _house_ends(able - lost, defenders - killed, house, garrison)
        for (a, d, last), p in after.items():
            key = a, d, last or min(dice, 3)
            ends[key] = ends.get(key, Fraction(0)) + p * chance / (1 - again)
    return ends


@cache
def _battle(able: int, defenders: int, rules: Rules) -> Throws:
    """Return the possible results of a whole battle."""
    ends: dict[tuple[int, int, int], Number]
    if isinstance(rules.mode, BalancedBlitz):
        ends = {
            (a, d, min(a, rules.attack.kept)): float(chance)
            for (a, d), chance in list_outcomes(able, defenders, replace(rules, garrison=0)).items()
        }
    else:
        ends = {**battle_ends(able, defenders, rules)}
    row = (End(p, able - a, defenders - d, dice) for (a, d, dice), p in ends.items() if p)
    return ((Fraction(1), (tuple(row),)),)


@cache
def _roll(dice: int, defenders: int, rules: Rules) -> Throws:
    """Return the possible results of one roll."""
    if (house := find_house(rules)) is not None:
        theirs = house.count_dice(dice, defenders)[1]
        losses = house.list_losses(dice, theirs).items()
        return ((Fraction(1), (tuple(End(p, *pair, dice) for pair, p in losses),)),)
    most = min(defenders, rules.defence.kept)
    if isinstance(rules.mode, DefenderSeesFirst):
        throws = count_losses_by_throw(dice, most, rules)
    else:
        throws = {(loss_counts(dice, most, rules),): 1}
    total = sum(throws.values())
    return tuple(
        (
            Fraction(weight, total),
            tuple(
                tuple(
                    End(Fraction(n, each.total), each.pair_count - killed, killed, dice)
                    for killed, n in enumerate(each.counts)
                    if n
                )
                for each in replies
            ),
        )
        for replies, weight in throws.items()
    )


class Play:
    """A game that begins in a position: legal actions, successor states and best values.

    position: the position in which the game begins.
    rules: the rules for all battles.
    goal: the payoffs at the end of the game.
    rules_of: by name of the attacked territory, the rules for battles over it.
    keep: by name of the territory, the armies that must always remain there.
    stay: the territories that may not attack.
    battles: whether each battle is fought to the end with all dice.
    number: `float` or `Fraction`: the type of all values.
    """

    def __init__(
        self,
        position: Position,
        goal: Goal,
        rules: Rules,
        *,
        rules_of: Mapping[str, Rules] | None = None,
        keep: Mapping[str, int] | None = None,
        stay: Iterable[str] = (),
        battles: bool = False,
        number: Callable[[Any], Number] = float,
    ) -> None:
        board = position.board
        self.position, self.goal, self.number, self.battles = position, goal, number, battles
        self.names = board.territories
        self.place = {name: t for t, name in enumerate(self.names)}
        self.ways = [[] for _ in self.names]  # type: list[list[int]]
        closed = {t for t, each in enumerate(position.holdings) if not each.owner}
        for start, to in board.borders:
            if start not in set(stay) and self.place[to] not in closed:
                self.ways[self.place[start]].append(self.place[to])
        self.rules_of = [(rules_of or {}).get(name, rules) for name in self.names]
        self.garrison = rules.garrison
        self.keep = [max((keep or {}).get(name, 0), rules.garrison) for name in self.names]
        self.start = self.state(position)
        self._known: dict[State, tuple[Number, Action | None]] = {}
        self._throws: dict[tuple[int, int, Rules], Throws] = {}

    def state(self, position: Position) -> State:
        """Return the state of a position."""
        owned = tuple(each.owner == position.player for each in position.holdings)
        return State(tuple(each.armies for each in position.holdings), owned)

    def paid(self, state: State) -> Number:
        """Return the payoff if the player stops now."""
        armies = {name: armies for name, armies, own in zip(self.names, *state, strict=True) if own}
        goal = self.goal
        if isinstance(goal, TakeAll):
            return self.number(int(armies.keys() >= {*goal.territories}))
        if isinstance(goal, OwnAny):
            held = sum(number >= goal.armies for number in armies.values())
            return self.number(int(held >= goal.number))
        if isinstance(goal, TakeAny):
            return self.number(int(bool(armies.keys() & {*goal.territories})))
        if isinstance(goal, InOrder):
            worth, wanted = self.number(0), set[str]()
            for each, more in zip(goal.goals, goal.worths, strict=True):
                wanted |= {*each.territories}
                worth += self.number(more) if armies.keys() >= wanted else 0
            return worth
        assert isinstance(goal, Worth)
        lands = sum(self.number(goal.compute_worth(name)) for name in armies)
        bonus = sum(
            each.bonus
            for each in self.position.board.continents
            if armies.keys() >= {*each.territories}
        )
        lands += sum(
            self.number(worth)
            for each, worth in goal.prizes
            if armies.keys() >= {*each.territories}
        )
        rest = self.number(goal.bonus) * bonus + self.number(goal.army) * sum(armies.values())
        return self.number(lands + rest)

    def is_over(self, state: State) -> bool:
        """Return whether no further payoff is possible."""
        return isinstance(self.goal, TakeAll | TakeAny | OwnAny) and self.paid(state) == 1

    def actions(self, state: State) -> Iterator[Action]:
        """Yield all legal attacks, which leave every garrison in place."""
        armies, owned = state
        for v, ways in enumerate(self.ways):
            for c in ways:
                if owned[v] and not owned[c]:
                    rules = self.rules_of[c]
                    whole = self.battles or isinstance(rules.mode, BalancedBlitz)
                    able = armies[v] - (self.keep[v] if whole else self.garrison)
                    most = min(able, rules.attack.kept)
                    if (house := find_house(rules)) is not None:
                        most, theirs = house.count_dice(able, armies[c], self.garrison)
                    for dice in range(max(most, 1) if whole else 1, most + 1):
                        action = Action(v, c, dice)
                        if house is not None and house.is_equal and not whole and dice < theirs:
                            continue
                        if self._is_safe(state, action):
                            yield action

    def _is_safe(self, state: State, action: Action) -> bool:
        return all(
            state.armies[action.start]
            - end.lost
            - (self.least(end, action) if end.killed == state.armies[action.to] else 0)
            >= self.keep[action.start]
            for _, replies in self.throws(state, action)
            for reply in replies
            for end in reply
        )

    def least(self, end: End, action: Action) -> int:
        """Return the fewest armies that must advance after a conquest."""
        rules = self.rules_of[action.to]
        return min(end.dice if rules.least_advance else 1, rules.most_advance or end.dice)

    def throws(self, state: State, action: Action) -> Throws:
        """Return the possible results of an attack."""
        rules = self.rules_of[action.to]
        whole = self.battles or isinstance(rules.mode, BalancedBlitz)
        able = state.armies[action.start] - self.keep[action.start] if whole else action.dice
        key = able, state.armies[action.to], rules
        if key not in self._throws:
            number = self.number
            self._throws[key] = tuple(
                (
                    number(weight),
                    tuple(tuple(End(number(end[0]), *end[1:]) for end in reply) for reply in rows),
                )
                for weight, rows in (_battle if whole else _roll)(*key)
            )
        return self._throws[key]

    def after(self, state: State, action: Action, end: End) -> list[State]:
        """Return the possible states after a result; the player chooses one."""
        v, c, _ = action
        left, against = state.armies[v] - end.lost, state.armies[c] - end.killed
        if against:
            return [State(_with(_with(state.armies, v, left), c, against), state.owned)]
        owned = tuple(own or t == c for t, own in enumerate(state.owned))
        return [
            State(_with(_with(state.armies, v, left - m), c, m), owned)
            for m in range(
                self.least(end, action),
                min(left - self.keep[v], self.rules_of[c].most_advance or left) + 1,
            )
        ]

    def value(self, state: State | None = None) -> Number:
        """Return the best value of a state; pass `None` for the start."""
        return self._best(self.start if state is None else state)[0]

    def best_action(self, state: State) -> Action | None:
        """Return the best attack, or `None` to stop."""
        return self._best(state)[1]

    def _best(self, state: State) -> tuple[Number, Action | None]:
        found = self._known.get(state)
        if found is None:
            best: tuple[Number, Action | None] = self.paid(state), None
            actions = [] if self.is_over(state) else [*self.actions(state)]
            values = [self._value_changes(state, action) for action in actions]
            again = [self._find_repetition(state, action) for action in actions]
            # Value iteration: a roll that costs nobody an army leads back to the state.
            worth = best[0] - 1
            while best[0] > worth:
                worth = best[0]
                for action, value, chance in zip(actions, values, again, strict=True):
                    if value + chance * worth > best[0]:
                        best = value + chance * worth, action
            found = self._known[state] = best
        return found

    def find_action_value(self, state: State, action: Action) -> Number:
        """Return the value of an attack if all later play is optimal.

        An attack that costs nobody an army is repeated.
        """
        again = self._find_repetition(state, action)
        return self._value_changes(state, action) / (1 - again)

    def _find_repetition(self, state: State, action: Action) -> Number:
        """Return the chance that an attack costs nobody an army."""
        return sum(
            weight * end.chance
            for weight, replies in self.throws(state, action)
            for end in replies[0]
            if not end.lost and not end.killed
        )

    def _value_changes(self, state: State, action: Action) -> Number:
        """Return the sum of the values after each costly result of an attack, by their chances."""
        return sum(
            weight
            * min(
                sum(
                    end.chance
                    * max(self._best(after)[0] for after in self.after(state, action, end))
                    for end in reply
                    if end.lost or end.killed
                )
                for reply in replies
            )
            for weight, replies in self.throws(state, action)
        )

    def make_position(self, state: State) -> Position:
        """Return the position of a state."""
        start = self.position
        holdings = tuple(
            Holding(start.player if own else there.owner, armies)
            for there, armies, own in zip(start.holdings, *state, strict=True)
        )
        return replace(start, holdings=holdings)

    def evaluate_policy(self, moves: Callable[[Position], Move | None]) -> Number:
        """Return the expected payoff of a policy against the worst replies of defenders.

        moves: a function that returns the policy's next move in a position. An illegal move is an
            error.
        """
        value: Callable[[State], Number] = cache(
            lambda state: self._evaluate_policy(state, moves, value)
        )
        return value(self.start)

    def _evaluate_policy(
        self,
        state: State,
        moves: Callable[[Position], Move | None],
        value: Callable[[State], Number],
    ) -> Number:
        move = moves(self.make_position(state))
        if move is None:
            return self.paid(state)
        action = Action(self.place[move.start], self.place[move.to], move.dice)
        if action not in set(self.actions(state)):
            raise AssertionError(f"{move} is not legal in {state}")

        def after(end: End) -> Number:
            left = state.armies[action.start] - end.lost - self.keep[action.start]
            follows = self.after(state, action, end)
            if end.killed < state.armies[action.to]:
                return value(follows[0])
            moved = move.advance[left]
            return value(next(each for each in follows if each.armies[action.to] == moved))

        changes = sum(
            weight
            * min(
                sum(end.chance * after(end) for end in reply if end.lost or end.killed)
                for reply in replies
            )
            for weight, replies in self.throws(state, action)
        )
        return changes / (1 - self._find_repetition(state, action))


def _with(armies: tuple[int, ...], place: int, number: int) -> tuple[int, ...]:
    return (*armies[:place], number, *armies[place + 1 :])


Border: TypeAlias = tuple[int, int]


@dataclass
class PolicyStatistics:
    """Statistics of a policy, as in `iacta.plan.search.Report` and `Visit`."""

    owned: list[float]
    armies: list[float]
    taken: list[float]
    visits: dict[Border, list[float]] = field(
        default_factory=lambda: defaultdict(lambda: [0.0] * 4)
    )
    advances: dict[Border, dict[int, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(lambda: [0.0] * 2))
    )


def collect_statistics(core: Search, problem: Problem) -> PolicyStatistics:
    """Follow a core's policy to every end, and record the borders that it attacks."""
    lands, sets = len(problem.out), problem.rewards.sets
    found = PolicyStatistics([0.0] * lands, [0.0] * lands, [0.0] * len(sets))
    layer: dict[tuple[SearchState, tuple[Border, ...]], float] = {(problem.start, ()): 1.0}
    while layer:
        next_layer = dict[tuple[SearchState, tuple[Border, ...]], float]()
        for (state, before), chance in layer.items():
            action = core.decide(state)
            if not action.dice:
                for t in range(lands):
                    if state.owned >> t & 1:
                        found.owned[t] += chance
                        found.armies[t] += chance * state.armies[t]
                for k, (mask, _) in enumerate(sets):
                    found.taken[k] += chance * (mask & state.owned == mask)
                if before and not is_over(problem, state):
                    found.visits[before[-1]][3] += chance
                continue
            border = action.start, action.to
            if border not in before:
                found.visits[border][0] += chance
            after = (*(each for each in before if each != border), border)
            for result in action.outcomes:
                p = chance * result.chance
                if result.defenders == state.armies[action.to]:
                    able = state.armies[action.start] - problem.garrisons[action.start]
                    for sums, start in (
                        (found.visits[border], 1),
                        (found.advances[border][able - result.attackers], 0),
                    ):
                        sums[start] += p
                        sums[start + 1] += p * result.moved
                there = state.after(action, result), after
                next_layer[there] = next_layer.get(there, 0.0) + p
        layer = next_layer
    return found


def is_over(problem: Problem, state: SearchState) -> bool:
    """Return whether no territory left to take has a payoff."""
    rewards = problem.rewards
    paying = {t for t, paid in enumerate(rewards.lands) if paid}
    paying |= {t for mask, _ in rewards.sets for t in range(len(problem.out)) if mask >> t & 1}
    taken = {t for t in paying if problem.field >> t & 1 and state.owned >> t & 1}
    return bool(taken) if rewards.once else taken == {t for t in paying if problem.field >> t & 1}
