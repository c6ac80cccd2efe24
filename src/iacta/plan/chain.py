"""The best play of the only stack before a chain of territories, exactly.

In each state there is one border to roll over, and what stays behind can attack nothing. So a state
is the place i of the stack on the chain, its armies n and the defenders d of the next territory.
With P(x, y) the chance that a roll costs x attackers and y defenders, and r(x, y) what that pays,

    V(i, n, d) = max(0, max over rolls of Σ P(x, y) · (r(x, y) + V(i, n − x, d − y))),

where V(i, n, 0) is the maximum of V(i + 1, m, ·) over all advances m. Long chains, whose states are
too large for `iacta.plan.exact_turn`, are solved in no time. `iacta.plan.turn` states the rules.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from iacta.methods.kernel import Choice, Result
from iacta.plan.exact_turn import best_roll
from iacta.plan.game import Attack
from iacta.plan.games import Game, Source, played
from iacta.plan.policy import Visit, Visits
from iacta.plan.problem import bits, mask_of
from iacta.plan.turn import BestRoll, Roll, Turn, TurnState
from iacta.plan.turn_codes import SAME

__all__ = ["ChainPlay", "solve_chain"]

Fallen: TypeAlias = tuple[float, Sequence[Result]]  # the chance of a throw, and what follows it


def solve_chain(
    turn: Turn, most_states: int, late: Callable[[], bool] = lambda: False
) -> "ChainPlay | None":
    """Return the best play of one stack along a chain; `None` where the turn is not that, or large.

    turn: the turn.
    most_states: how many states may be kept.
    late: tells whether the time is over.
    """
    start, out = turn.start(), turn.problem.borders.out
    left = turn.left(start)
    chain = [v for v, _ in turn.problem.stacks() if out[v] & left]
    if len(chain) != 1 or turn.is_over(start):
        return None
    while left:
        after = out[chain[-1]] & left
        if after.bit_count() != 1:
            return None
        chain.append(after.bit_length() - 1)
        left &= ~after
    armies = start.armies
    if armies[chain[0]] * sum(armies[c] for c in chain[1:]) > most_states:
        return None
    play = ChainPlay(turn, chain)
    return play if play._solve(late) else None


class ChainPlay:
    """The best policy of real play along a chain; `solve_chain` makes it.

    turn: the turn.
    visits: how it goes.
    """

    def __init__(self, turn: Turn, chain: list[int]) -> None:
        self.turn, self.visits = turn, Visits()
        self._chain, armies = chain, turn.start().armies
        self._start = 0, armies[chain[0]], armies[chain[1]]
        self._paid = [
            turn.rewards.of(c, mask_of(chain[i:])) for i, c in enumerate(chain) if i
        ]  # by each conquest
        self._values: dict[tuple[int, int, int], float] = {}  # where V > 0
        self._best: dict[tuple[int, int, int], tuple[Choice, list[Fallen]]] = {}
        self._moved: dict[tuple[int, int], list[int]] = {}  # by the place and the least advance

    @property
    def value(self) -> float:
        """V at the start."""
        return self._values.get(self._start, 0.0)

    def value_of(self, state: TurnState) -> float | None:
        """Return V of a state; `None` for one that the turn cannot come to."""
        turn, chain, left = self.turn, self._chain, self.turn.left(state)
        if turn.is_over(state):
            return 0.0
        out, before = turn.problem.borders.out, turn.problem.armies
        i = len(chain) - 1 - left.bit_count()
        others = state.owned & ~turn.problem.resting & ~(1 << chain[i])
        if left != mask_of(chain[i + 1 :]) or any(
            turn.spare(state, v) > 0 and out[v] & left for v in bits(others)
        ):
            return None
        n, d = state.armies[chain[i]], state.armies[chain[i + 1]]
        known = n <= self._start[1] and d <= before[chain[i + 1]]
        known &= all(state.armies[c] == before[c] for c in chain[i + 2 :])
        return self._values.get((i, n, d), 0.0) if known else None

    def best_roll(self, state: TurnState) -> BestRoll | None:
        """Return what to do in a state; `None` for a stop."""
        return best_roll(self.turn, state, self._worth_of)

    def results(self, state: TurnState, roll: Roll) -> list[Result]:
        """Return the results of a roll, with the answers that the defender gives."""
        return self.turn.results(state, roll, self._worth_of)

    def covers(self, state: TurnState) -> bool:
        """Return whether the turn can come to a state."""
        return self.value_of(state) is not None

    def games(self, source: Source) -> Iterator[Game]:
        """Yield games that the policy plays, without end."""
        return played(self, source)

    def set_chances(self, masks: Iterable[int]) -> tuple[float, ...]:
        """Return the chance that the player owns all of a set at the end, for each set."""
        conquered = {to: each.conquered for (_, to), each in self.visits.battles.items()}
        missing = (bits(mask & self.turn.problem.enemy) for mask in masks)
        return tuple(min((conquered.get(c, 0.0) for c in each), default=1.0) for each in missing)

    def _worth_of(self, state: TurnState) -> float:
        return self.value_of(state) or 0.0

    def _solve(self, late: Callable[[], bool]) -> bool:
        """Find V in all states, and how the best play goes; return whether time was enough."""
        armies, most = self.turn.problem.armies, self._start[1]
        for i in range(len(self._chain) - 2, -1, -1):
            if self._is_over(i):
                continue
            v, c = self._chain[i : i + 2]
            for d in range(1, armies[c] + 1):
                if late():
                    return False
                for n in range(self.turn.problem.garrisons[v] + 1, most + 1):
                    self._choose(i, n, d, self.turn.choices(v, c, n, d))
        self._go()
        return True

    def _choose(self, i: int, n: int, d: int, choices: Iterable[Choice]) -> None:
        """Find the best roll of a state."""
        best = 0.0
        for choice in choices:
            total, results = 0.0, []
            for share, options in choice.throws:
                worst: tuple[float, Sequence[Result]] | None = None
                for option in options:
                    worth = 0.0
                    for result in option:
                        worth += result.chance * self._follows(i, n, d, result, choice.least)
                    if worst is None or worth < worst[0]:
                        worst = worth, option
                if worst is not None:
                    total += share * worst[0]
                    results.append((share, worst[1]))
            if total > best * (1.0 + SAME):
                best, self._values[i, n, d] = total, total
                self._best[i, n, d] = choice, results

    def _follows(self, i: int, n: int, d: int, result: Result, least: int) -> float:
        """Return what a result pays, and what follows it is worth."""
        _, x, y = result
        cost = self.turn.rewards.army * x
        if y < d:
            return self._values.get((i, n - x, d - y), 0.0) - cost
        spare = n - x - self.turn.problem.garrisons[self._chain[i]]
        return (
            self._paid[i]
            - cost
            + self._values.get(self._after(i, self._advance(i, spare, least)), 0.0)
        )

    def _is_over(self, i: int) -> bool:
        """Return whether the turn is over when the stack is at place i."""
        taken = mask_of(self._chain[1 : i + 1])
        armies, owned = self.turn.start()
        return self.turn.is_over(TurnState(armies, owned | taken))

    def _after(self, i: int, moved: int) -> tuple[int, int, int]:
        """Return the state after an advance; one that is not kept where the turn is over."""
        if i + 2 == len(self._chain):
            return i + 1, moved, 0
        return i + 1, moved, self.turn.problem.armies[self._chain[i + 2]]

    def _advance(self, i: int, spare: int, least: int) -> int:
        """Return how many armies of those to spare advance, all if that is no worse."""
        moved = self._moved.setdefault((i, least), [])
        for most in range(len(moved), spare + 1):
            before = moved[-1] if most > least else most
            worths = [self._values.get(self._after(i, m), 0.0) for m in (before, most)]
            moved.append(most if worths[1] >= worths[0] * (1.0 - SAME) else before)
        return moved[spare]

    def _go(self) -> None:
        """Follow the best play from the start."""
        chances = {self._start: 1.0} if self.value else {}
        armies, garrisons = self.turn.problem.armies, self.turn.problem.garrisons
        for i, (v, c) in enumerate(pairwise(self._chain)):
            attack = Attack(v, c)
            reached = sum(chances.values())
            conquered = arrived = ended = 0.0
            after: dict[tuple[int, int, int], float] = defaultdict(float)
            for d in range(armies[c], 0, -1):
                for n in range(self._start[1], 0, -1):
                    here = chances.get((i, n, d), 0.0)
                    if not here:
                        continue
                    choice, results = self._best[i, n, d]
                    for share, (chance, x, y) in (
                        (share, result) for share, option in results for result in option
                    ):
                        part = here * share * chance
                        self.visits.armies[v] -= part * x
                        state = i, n - x, d - y
                        if y == d:
                            spare = n - x - garrisons[v]
                            moved = self._advance(i, spare, choice.least)
                            state = self._after(i, moved)
                            self.visits.armies[v] -= part * moved
                            self.visits.add_advance(attack, spare, moved, part)
                            conquered, arrived = conquered + part, arrived + part * moved
                        if state in self._values:
                            where = after if y == d else chances
                            where[state] = where.get(state, 0.0) + part
                        elif y < d or not self._is_over(i + 1):
                            ended += part
            if reached:
                self.visits.add(attack, Visit(reached, conquered, arrived, ended))
            chances = after
