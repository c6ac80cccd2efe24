"""How good plans are: the marks that are asked of them, on positions in the middle of a game.

    python -m benchmarks.marks [POSITIONS] [SECONDS] [--every] [--search]

POSITIONS of the fixed set are planned with SECONDS each; `--every` takes all continents and
eliminations of each position, otherwise one of each is drawn by its seed. A plan is contested if
its chance is between .02 and .98. `--search` lets a simple search play the contested ones too.
"""

import json
import random
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from benchmarks.positions import hard_positions, questions
from benchmarks.simple_search import simple_search
from iacta.board import Holding, Position
from iacta.plan import Goal, NextMove, Plan, TakeAll, Worth, best_plan, simulate_plan
from iacta.rules.roll import loss_counts

__all__ = ["Mark", "marks", "sample", "show"]

RESULTS = Path("build") / "marks.json"
CONTESTED = 0.02, 0.98
RUNS = 3_000
GAMES = 300  # of the simple search
FOLLOWED = 12  # plans that are followed move by move


class Mark(NamedTuple):
    """One mark.

    claim: what is measured.
    got: the number.
    asked: what it is compared with, `None` where it is only told.
    is_least: whether the number must be at least that; otherwise at most.
    of: of how many plans it is taken.
    """

    claim: str
    got: float
    asked: float | None
    is_least: bool
    of: int

    @property
    def is_met(self) -> bool:
        """Whether the mark is met."""
        if self.asked is None:
            return True
        return self.got >= self.asked if self.is_least else self.got <= self.asked


class Planned(NamedTuple):
    """A plan for a question, and how many seconds it took."""

    kind: str
    plan: Plan
    seconds: float

    @property
    def is_contested(self) -> bool:
        """Whether the plan neither almost always nor almost never succeeds."""
        chance = self.plan.win_probability
        return self.kind != "worth" and CONTESTED[0] <= chance <= CONTESTED[1]

    @property
    def gap(self) -> float:
        """How far the plan may be from the best one; of a worth, in parts of what is gained."""
        if self.kind != "worth":
            return self.plan.gap
        gained = self.plan.value - _stopped(self.plan.position, self.plan.goal)
        return self.plan.gap / gained if gained > 0 else float(self.plan.gap > 0)

    @property
    def improvement(self) -> float:
        """What rolls are worth beyond battles."""
        return self.plan.value - (self.plan.battles_value or 0.0)

    @property
    def is_worse(self) -> bool:
        """Whether rolls are worth less than battles, beyond what chance explains."""
        return (self.plan.interval or (0, self.plan.value))[1] < (
            self.plan.battles_value or 0
        ) - 1e-9


def _stopped(position: Position, goal: Goal) -> float:
    """Return what a position is worth to who does nothing."""
    names = position.owned_by(position.player)
    return best_plan(position, goal, stay=names).value if isinstance(goal, Worth) else 0.0


def marks(
    positions: int, seconds: float, *, every: bool = False, search: bool = False
) -> Iterator[Mark]:
    """Yield the marks of the first positions of the fixed set, planned with some seconds each."""
    for first in questions(1, every=False):
        best_plan(first.position, first.goal)  # what is compiled is compiled once
    planned = []
    for kind, goal, position in (each[1:] for each in questions(positions, every=every)):
        started = time.perf_counter()
        plan = best_plan(position, goal, time_limit=seconds)
        planned.append(Planned(kind, plan, time.perf_counter() - started))
    for kind, within, median in (("continent", 0.6, 0.02), ("elimination", 0.25, 0.08)):
        some = [each for each in planned if each.kind == kind and each.is_contested]
        yield from _chances(f"{kind}s", some, within, median)
    worth = [each for each in planned if each.kind == "worth"]
    if worth:
        gap = statistics.median(each.gap for each in worth)
        yield Mark("worth: median gap / gain", gap, 0.25, False, len(worth))
        yield from _improvements("worth", worth)
    slowest = max(each.seconds for each in planned) - seconds
    yield Mark("slowest plan, seconds beyond the limit", slowest, 0.5, False, len(planned))
    zero = sum(each.plan.value == 0 < each.plan.upper_bound for each in planned)
    yield Mark("plans of value 0 that are not proven", zero, None, False, len(planned))
    contested = [each.plan for each in planned if each.is_contested][:FOLLOWED]
    times = sorted(move for k, plan in enumerate(contested) for move in _move_seconds(plan, k))
    if search:
        yield from _search_marks([each.plan for each in planned if each.is_contested])
    if times:
        half = statistics.median(times)
        yield Mark("next_move, median seconds", half, None, False, len(times))
        yield Mark("next_move, worst seconds", times[-1], 0.05, False, len(times))


def _chances(name: str, some: list[Planned], within: float, median: float) -> Iterator[Mark]:
    if not some:
        return
    near = sum(each.gap <= 0.01 for each in some) / len(some)
    gap = statistics.median(each.gap for each in some)
    yield Mark(f"{name}: share within .01 of the bound", near, within, True, len(some))
    yield Mark(f"{name}: median gap", gap, median, False, len(some))
    yield from _improvements(name, some)


def _improvements(name: str, some: list[Planned]) -> Iterator[Mark]:
    gains = [each.improvement for each in some]
    worse = sum(each.is_worse for each in some)
    yield Mark(f"{name}: rolls over battles, mean", statistics.mean(gains), None, True, len(some))
    yield Mark(f"{name}: rolls over battles, at most", max(gains), None, True, len(some))
    yield Mark(f"{name}: plans worse than their battles", worse, 0, False, len(some))


def _search_marks(plans: list[Plan]) -> Iterator[Mark]:
    """Yield how much better a simple search is, whose moves take about a millisecond each."""
    more, variance = [], 0.0
    for k, plan in enumerate(plans):
        found = simple_search(plan.position, _targets(plan.goal), GAMES, k)
        more.append(found.chance - plan.value)
        variance += found.error**2
    if more:
        mean, error = statistics.mean(more), variance**0.5 / len(more)
        yield Mark("a simple search is better by, mean", mean, 0.005, False, len(more))
        yield Mark("standard error of that mean", error, None, False, len(more) * GAMES)


def _targets(goal: Goal) -> tuple[str, ...]:
    if not isinstance(goal, TakeAll) or isinstance(goal.territories, str):
        raise TypeError(f"goal must be a TakeAll with names, got {goal!r}")
    return goal.territories


def hard_marks(seconds: float) -> Iterator[Mark]:
    """Yield what plans tell and reach in the positions of the study, planned with some seconds."""
    for k, hard in enumerate(hard_positions(), start=1):
        plan = best_plan(hard.position, hard.goal, time_limit=seconds)
        simulated = simulate_plan(plan, runs=RUNS, seed=k)
        off = abs(plan.value - simulated.value) / max(simulated.error, 1 / RUNS)
        yield Mark(f"hard position {k}: reported", plan.value, None, True, 1)
        # What was reached is an estimate of as many games: two standard errors are let pass.
        noise = 2 * (2 * hard.reached * (1 - hard.reached) / RUNS) ** 0.5
        yield Mark(
            f"hard position {k}: simulated", simulated.value, hard.reached - noise, True, RUNS
        )
        claim = f"hard position {k}: reported and simulated, standard errors apart"
        yield Mark(claim, off, 4, False, RUNS)


def _move_seconds(plan: Plan, seed: int) -> Iterator[float]:
    """Follow a plan in one game with real dice, and yield how long each move took."""
    rng, position = random.Random(seed), plan.position
    while True:
        started = time.perf_counter()
        move = plan.next_move(position)
        yield time.perf_counter() - started
        if move is None:
            return
        position = rolled(position, move, plan, rng)


def rolled(position: Position, move: NextMove, plan: Plan, rng: random.Random) -> Position:
    """Return a position after the dice of a move are thrown, under rules with chosen dice."""
    rules, holdings = plan.rules, list(position.holdings)
    start, to = map(position.board.territories.index, (move.start, move.to))
    ours, theirs = holdings[start].armies, holdings[to].armies
    losses = loss_counts(move.dice, min(theirs, rules.defence.kept), rules)
    killed = rng.choices(range(len(losses.counts)), losses.counts)[0]
    ours, theirs = ours - (losses.compared - killed), theirs - killed
    moved = 0 if theirs else move.advance[ours - rules.garrison]
    holdings[start] = Holding(position.player, ours - moved)
    holdings[to] = Holding(holdings[to].owner, theirs) if theirs else Holding("red", moved)
    return replace(position, holdings=tuple(holdings))


def show(found: Iterable[Mark], title: str, results: Path = RESULTS) -> bool:
    """Print marks as they are found, write them down, and return whether all are met."""
    print(title)
    every = []
    for each in found:
        every.append(each)
        sign = "at least" if each.is_least else "at most"
        asked = "" if each.asked is None else f"{sign} {each.asked:.4g}"
        verdict = "" if each.asked is None else "met" if each.is_met else "missed"
        print(f"{each.claim:48}{each.got:12.4f}  {asked:18}{verdict:8}of {each.of:,}", flush=True)
    results.parent.mkdir(exist_ok=True)
    records = [{**each._asdict(), "is_met": each.is_met} for each in every]
    results.write_text(json.dumps(records, indent=2) + "\n", encoding="utf-8")
    return all(each.is_met for each in every)


def sample() -> Iterator[Mark]:
    """Yield the marks of a few positions, and of those of the study."""
    yield from marks(6, 2.0, search=True)
    yield from hard_marks(2.0)


def main(words: list[str]) -> int:
    """Print the marks that the words ask for; return 1 if one is missed."""
    numbers = [word for word in words if not word.startswith("-")]
    positions, seconds = int(numbers[0]) if numbers else 20, float(numbers[1] if numbers[1:] else 5)
    found = chain(
        marks(positions, seconds, every="--every" in words, search="--search" in words),
        hard_marks(seconds),
    )
    met = show(found, f"{positions} positions, {seconds:g} seconds a plan")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
