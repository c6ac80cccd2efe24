"""Games that are played by a policy of real play, and what they show.

Where a policy has too many states to go through all of them, what a player asks about it, such as
how often a battle is fought, is counted in games.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from iacta.methods.kernel import Result
from iacta.methods.simulation import throw_losses
from iacta.plan.game import Attack
from iacta.plan.policy import Visit, Visits
from iacta.plan.problem import Problem, bits
from iacta.plan.turn import BestRoll, Roll, Turn, TurnState

__all__ = [
    "Drawn",
    "Game",
    "RollMade",
    "RollPolicy",
    "Source",
    "Thrown",
    "owned_in",
    "paid_in",
    "played",
    "usual_game",
    "visits_of",
]

THROWN_AT_ONCE = 4096
LIKELY = 0.1


class RollPolicy(Protocol):
    """A policy of real play.

    turn: the attack phase for which it is made.
    """

    turn: Turn

    def best_roll(self, state: TurnState) -> BestRoll | None:
        """Return what to do in a state; `None` for a stop."""

    def results(self, state: TurnState, roll: Roll) -> list[Result]:
        """Return the results of a roll, with the answers that the defender gives."""

    def covers(self, state: TurnState) -> bool:
        """Return whether the policy knows what to do in a state."""

    def games(self, source: "Source") -> Iterator["Game"]:
        """Yield games that the policy plays, without end."""


class RollMade(NamedTuple):
    """A roll that was made, what it cost, and how many moved in if it conquered."""

    roll: Roll
    attackers: int
    defenders: int
    moved: int


class Game(NamedTuple):
    """A game that was played.

    rolls: its rolls.
    last: the state at its end.
    gain: what its rolls gained by lookahead, where that is known.
    is_whole: whether it was played to its end, or only until the time was over.
    chances: for each of several sets, whether it was taken, less the luck of the rolls.
    """

    rolls: tuple[RollMade, ...]
    last: TurnState
    gain: float = 0.0
    is_whole: bool = True
    chances: tuple[float, ...] = ()


class Source(Protocol):
    """Where the results of rolls come from."""

    def pick(self, roll: Roll, defenders: int, results: list[Result]) -> int:
        """Return the place of the result that falls."""


class Drawn:
    """Results that are drawn with their chances.

    seed: of the generator, or the generator.
    """

    def __init__(self, seed: int | np.random.Generator) -> None:
        self._rng = np.random.default_rng(seed)

    def pick(self, roll: Roll, defenders: int, results: list[Result]) -> int:
        """Return the place of the result that falls."""
        point = self._rng.random()
        for place, result in enumerate(results[:-1]):
            point -= result.chance
            if point < 0.0:
                return place
        return len(results) - 1


class Thrown(Drawn):
    """Results that real dice show, where the dice of a roll are chosen before it is thrown.

    problem: the rules of the battles.
    seed: of the generator of the dice, or the generator.
    """

    def __init__(self, problem: Problem, seed: int | np.random.Generator) -> None:
        super().__init__(seed)
        self._problem = problem
        self._losses: dict[tuple[int, int, int], list[tuple[int, int]]] = {}

    def pick(self, roll: Roll, defenders: int, results: list[Result]) -> int:
        """Return the place of the result that falls."""
        rules = self._problem.rules_of(roll.to)
        if not self._problem.kernel_of(roll.to).rolled:
            return super().pick(roll, defenders, results)
        key = self._problem.kinds[roll.to], roll.dice, min(defenders, rules.defence.kept)
        if not self._losses.get(key):
            thrown = throw_losses(*key[1:], rules, THROWN_AT_ONCE, self._rng)
            pairs = zip(thrown.attackers.tolist(), thrown.defenders.tolist(), strict=True)
            self._losses[key] = [*pairs]
        fallen = self._losses[key].pop()
        return [(each.attackers, each.defenders) for each in results].index(fallen)


def played(policy: RollPolicy, source: Source) -> Iterator[Game]:
    """Yield games that a policy plays, without end.

    policy: what to do in each state.
    source: where the results of the rolls come from.
    """
    known: dict[TurnState, tuple[BestRoll, list[Result]] | None] = {}
    while True:
        state, rolls = policy.turn.start(), []
        while True:
            if state not in known:
                best = policy.best_roll(state)
                known[state] = best and (best, policy.results(state, best.roll))
            decided = known[state]
            if decided is None:
                break
            (roll, _, advance), results = decided
            fallen = results[source.pick(roll, state.armies[roll.to], results)]
            state = policy.turn.after(state, roll, fallen)
            moved = 0
            if not state.armies[roll.to]:
                moved = advance[policy.turn.spare(state, roll.start)]
                state = policy.turn.after_advance(state, roll, moved)
            rolls.append(RollMade(roll, fallen.attackers, fallen.defenders, moved))
        yield Game(tuple(rolls), state)


def usual_game(policy: RollPolicy) -> Iterator[tuple[TurnState, RollMade]]:
    """Yield the states and rolls of a game in which the losses are as on average."""
    state, due = policy.turn.start(), 0.0
    while (best := policy.best_roll(state)) is not None:
        roll, _, advance = best
        results = policy.results(state, roll)
        due += sum(result.chance * (result.attackers - result.defenders) for result in results)
        likely = [result for result in results if result.chance >= LIKELY] or results
        result = min(likely, key=lambda each: abs(due - each.attackers + each.defenders))
        due -= result.attackers - result.defenders
        after = policy.turn.after(state, roll, result)
        moved = 0
        if not after.armies[roll.to]:
            moved = advance[policy.turn.spare(after, roll.start)]
            after = policy.turn.after_advance(after, roll, moved)
        yield state, RollMade(roll, result.attackers, result.defenders, moved)
        state = after


def paid_in(game: Game, turn: Turn) -> float:
    """Return what a game has paid."""
    left, total = turn.left(turn.start()), 0.0
    for made in game.rolls:
        total -= turn.rewards.army * made.attackers
        if made.moved:
            total += turn.rewards.of(made.roll.to, left)
            left &= ~(1 << made.roll.to)
    return total


def owned_in(games: Sequence[Game], masks: Iterable[int]) -> tuple[float, ...]:
    """Return how often the player owned all of a set when a game was over, for each set."""
    return tuple(sum(not mask & ~game.last.owned for game in games) / len(games) for mask in masks)


def visits_of(games: Iterable[Game], turn: Turn) -> Visits:
    """Return how games went: each number is the average over them."""
    games, visits = [*games], Visits()
    share = 1.0 / len(games)
    for game in games:
        before = dict(enumerate(turn.problem.armies))
        left = dict(before)
        begun: dict[Attack, None] = {}
        for (start, to, _), lost, killed, moved in game.rolls:
            attack = Attack(start, to)
            if attack not in begun:
                begun[attack] = None
                visits.add(attack, Visit(share, 0.0, 0.0, 0.0))
            left[start] -= lost
            left[to] -= killed
            if not left[to]:
                able = left[start] - turn.problem.garrisons[start]
                visits.add(attack, Visit(0.0, share, share * moved, 0.0))
                visits.add_advance(attack, able, moved, share)
                visits.armies[to] -= share * moved  # counted with those at the end
                left[start], left[to] = left[start] - moved, moved
        if game.rolls and turn.rewards.is_chance and not turn.is_over(game.last):
            last = game.rolls[-1].roll
            visits.add(Attack(last.start, last.to), Visit(0.0, 0.0, 0.0, share))
        for t in bits(game.last.owned):
            held = before[t] if turn.problem.owned >> t & 1 else 0
            visits.armies[t] += share * (game.last.armies[t] - held)
    return visits
