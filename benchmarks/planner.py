"""Benchmarks of the planner: times, proofs, hard positions, gaps to the bound, time limits.

    python -m benchmarks.planner [POSITIONS]

For the first POSITIONS of a fixed set of 64 positions, this plans an elimination and a continent,
in 2 and in 10 seconds each. Half of the positions are on random boards.
"""

import resource
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain, combinations, count, islice, pairwise
from random import Random
from typing import cast

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Measurement
from benchmarks.positions import (
    BOUNDED,
    Question,
    draw_bounded_questions,
    draw_restricted_questions,
    hard_positions,
    hard_questions,
    midgame,
    play_position,
    questions,
)
from iacta import Turn, ask, goals_in_reach, threats
from iacta.analysis import analyse
from iacta.board import Board, Position
from iacta.board.position import read_position
from iacta.native.deadline import Deadline
from iacta.plan import Goal, Plan, TakeAll, TakeAny, Worth, best_plan, reinforce, simulate_plan
from iacta.plan.levels import QUICK
from iacta.plan.named_goals import read_goal_record
from iacta.plan.planner import STYLES
from iacta.plan.policy import MAX_STATES_BY_DEFAULT, STARTS, choose_policy
from iacta.plan.problem import pose_problem
from iacta.plan.search import Search, Style
from iacta.questions.plan import PlanQuestion

EXAMPLE = ("plan", "examples/asia.toml", "--take", "Asia")
MEGABYTE = 1024  # kilobytes
FEW, MANY = 2.0, 10.0  # time limits in seconds
MAX_LIMIT = 60.0  # the longest time limit in seconds
QUICK_LIMIT = 3.0  # time in seconds for quick estimates of all goals, and for a plan for each goal
QUICK_SEED, QUICK_GOALS = 40_000, 61  # seed of the first game, and number of goals
RESTRICTED = 40
RUNS = 3_000
ROUNDING = 1e-9  # the mean of many games of an exact plan may differ from its value by this much
FRESH_GAME = 2**40  # plans use only games with smaller numbers


def measure_process() -> Iterator[Measurement]:
    """Measure the time of a plan that runs in its own process."""
    times = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "iacta", *EXAMPLE], check=True, stdout=subprocess.DEVNULL
        )
        times.append(time.perf_counter() - started)
    yield Measurement(
        "a plan for Asia as a process, seconds", statistics.median(times), 1.5, False, 5
    )


def small_board(seed: int) -> Position:
    """Return a board of 5 to 9 territories on which red has one or two large stacks."""
    rng = Random(seed)
    names = tuple(f"t{k}" for k in range(rng.randint(5, 9)))
    pairs = [(names[rng.randrange(k)], names[k]) for k in range(1, len(names))]
    pairs += [(a, b) for a, b in combinations(names, 2) if rng.random() < 0.2]
    board = Board.from_edges("small", pairs)
    mine = names[: rng.randint(1, 2)]
    return Position(
        board,
        "red",
        {
            name: ("red", rng.randint(4, 14)) if name in mine else ("blue", rng.randint(1, 3))
            for name in names
        },
    )


def measure_exact_play() -> Iterator[Measurement]:
    """Measure the speed of exact search, and proofs of plans on small boards."""
    rates, slowest, proven = [], 0.0, 0
    for seed in range(40):
        position = small_board(seed)
        goal = (TakeAll, TakeAny)[seed % 2](position.list_territories("blue"))
        core = Search(pose_problem(position, goal))
        started = time.process_time()
        if core.solve(Deadline(), MAX_STATES_BY_DEFAULT) is None:
            rates.append(MAX_STATES_BY_DEFAULT / (time.process_time() - started))
            continue
        started = time.perf_counter()
        proven += best_plan(position, goal).proven
        slowest = max(slowest, time.perf_counter() - started)
    solved = 40 - len(rates)
    if rates:
        yield Measurement(
            "states solved per second", statistics.median(rates), 2e5, True, len(rates)
        )
    yield Measurement("small boards proven", proven / solved, 1.0, True, solved)
    yield Measurement("slowest small board, seconds", slowest, 2.0, False, solved)


def measure_games() -> Iterator[Measurement]:
    """Measure how long a simulated game and a decision take on hard positions."""
    games, moves = [], []
    for each in hard_positions():
        policy = choose_policy(pose_problem(each.position, each.goal), states=0)
        if not isinstance(policy.search, Search):
            raise TypeError("this benchmark needs the compiled core")
        started = time.process_time()
        policy.search.play(Deadline(), 100)
        games.append((time.process_time() - started) / 100)
        plan = best_plan(each.position, each.goal, time_limit=0)
        for position in (each.position, *(midgame(seed) for seed in range(3))):
            started = time.perf_counter()
            plan.policy(Turn(position))
            moves.append(time.perf_counter() - started)
    yield Measurement("a game, median milliseconds", 1000 * statistics.median(games), 0.9, False, 7)
    yield Measurement("a decision, worst milliseconds", 1000 * max(moves), 20.0, False, len(moves))


def measure_goals_and_threats() -> Iterator[Measurement]:
    """Measure how long `goals_in_reach`, `best_goals` and `threats` take."""
    first, every, games, threatened = [], [], [], []
    for name in ("asia.toml", "eliminate-blue.json", "break-off.json"):
        turn = Turn(read_position(f"examples/{name}"))
        said: list[float] = []
        started = time.perf_counter()
        analyse(turn, QUICK, progress=lambda *_, to=said: to.append(time.perf_counter()))
        first.append(said[0] - started)
        every.append(said[-1] - started)
        started = time.perf_counter()
        ask("goals", position=turn.position, win=True, time_limit=3)
        games.append(time.perf_counter() - started)
        started = time.perf_counter()
        threats(turn, "quick")
        threatened.append(time.perf_counter() - started)
    yield Measurement("goals of a turn: seconds until the first result", max(first), 0.5, False, 3)
    yield Measurement("goals of a turn: seconds until the last result", max(every), 3.0, False, 3)
    yield Measurement("goals of a turn with 3 s for games: seconds", max(games), 3.3, False, 3)
    yield Measurement("threats of opponents: seconds", max(threatened), 2.0, False, 3)


def measure_hard_positions(limit: float = FEW) -> Iterator[Measurement]:
    """Compare plans on hard positions with simulations and with the best known values."""
    for k, hard in enumerate(hard_positions(), start=1):
        plan = best_plan(hard.position, hard.goal, time_limit=limit)
        simulated = simulate_plan(plan, runs=RUNS, seed=k)
        off = abs(plan.comparable_value - simulated.value) / max(simulated.error, 1 / RUNS)
        yield Measurement(f"hard position {k}: reported", plan.comparable_value, None, True, 1)
        # The chance is estimated from simulated games, so two standard errors are tolerated.
        noise = 2 * (2 * hard.reached * (1 - hard.reached) / RUNS) ** 0.5
        yield Measurement(
            f"hard position {k}: simulated", simulated.value, hard.reached - noise, True, RUNS
        )
        claim = f"hard position {k}: reported and simulated, standard errors"
        yield Measurement(claim, off, 4, False, RUNS)


def measure_play(
    positions: int = 20,
    limits: Sequence[float] = (0.5, FEW, MANY),
    games: int = 4_000,
    longest: float = MAX_LIMIT,
) -> Iterator[Measurement]:
    """Measure how far plans on hard positions fall short of the best known values, in points.

    positions: the number of positions, which were not used to choose a style.
    limits: the time limits of the plans in seconds.
    games: the number of new games in which policies are compared, all with the same dice.
    longest: the time limit in seconds of one more plan. The best known value is the largest value
        of all plans and of `STYLES`.
    """
    short: dict[float, list[float]] = {limit: [] for limit in limits}
    inside = list[bool]()
    for each in hard_questions(positions):
        core = Search(pose_problem(each.position, each.goal))
        styles = [_play_gains(core, games, style) for style in STYLES]
        times = (longest, *limits)
        plans = {time: best_plan(each.position, each.goal, time_limit=time) for time in times}
        # The policy of a plan may have another assignment than `core`, or be exact.
        values = {
            time: plan.policy.search.play(Deadline(), games, FRESH_GAME).gains
            for time, plan in plans.items()
        }
        known = max(found.mean() for found in (*styles, *values.values()))
        for limit in limits:
            plan, found = plans[limit], values[limit]
            short[limit].append(100 * (known - found.mean()))
            low, high = plan.interval or (plan.comparable_value, plan.comparable_value)
            error = 2 * found.std() / games**0.5 + ROUNDING
            inside.append(bool(low - error <= found.mean() <= high + error))
    for limit, points in short.items():
        claim = f"plans in {limit:g} s: points below the best known"
        wanted = {FEW: 0.8, MANY: 0.4}.get(limit)
        yield Measurement(f"{claim}, mean", statistics.mean(points), wanted, False, len(points))
        yield Measurement(
            f"{claim}, most", max(points), 4.0 if wanted else None, False, len(points)
        )
    yield Measurement(
        "share of intervals that contain the value",
        statistics.mean(inside),
        0.95,
        True,
        len(inside),
    )


def _play_gains(core: Search, games: int, style: Style) -> npt.NDArray[np.float64]:
    core.follow(core.assign(Deadline(), STARTS), style)
    return core.play(Deadline(), games, FRESH_GAME).gains


def measure_gaps(positions: int = 8) -> Iterator[Measurement]:
    """Measure the gaps of mid-game plans at two time limits, and the gain from more time.

    positions: the number of positions from the set to use.
    """
    asked = {("continent", FEW): 0.02, ("continent", MANY): 0.01}
    asked |= {("elimination", FEW): 0.20, ("elimination", MANY): 0.12}
    drawn = [*draw_bounded_questions(positions)]
    plans: dict[float, list[Plan]] = {limit: make_plans(drawn, limit) for limit in (FEW, MANY)}
    for (kind, limit), most in asked.items():
        gaps = [
            plan.gap for each, plan in zip(drawn, plans[limit], strict=True) if each.kind == kind
        ]
        claim = f"{kind}s at {limit:g} s: median gap"
        yield Measurement(claim, statistics.median(gaps), most, False, len(gaps))
    gains = [
        later.comparable_value - early.comparable_value
        for early, later in zip(plans[FEW], plans[MANY], strict=True)
        if not early.proven
    ]
    if gains:
        yield Measurement(
            "gain of plans in 10 s over plans in 2 s, mean",
            statistics.mean(gains),
            0.0,
            True,
            len(gains),
        )


def measure_restricted() -> Iterator[Measurement]:
    """Measure how far plans fall short of the optimum of restricted problems."""
    short = [
        optimum - best_plan(each.position, each.goal, time_limit=FEW).comparable_value
        for each, optimum in draw_restricted_questions(RESTRICTED)
    ]
    claim = "plans in 2 s: largest shortfall from the restricted optimum"
    yield Measurement(claim, max(short), 0.002, False, len(short))


def measure_quick_level() -> Iterator[Measurement]:
    """Compare plans with the plans of the level `quick`.

    Both values have intervals, so a plan only counts as worse if its interval lies lower.
    """
    compared = chain.from_iterable(map(compare_quick_plans, count(QUICK_SEED)))
    clear, gains = zip(*islice(compared, QUICK_GOALS), strict=True)
    yield Measurement(
        "plans in 3 s: largest shortfall from the level quick", max(clear), 0.001, False, len(clear)
    )
    yield Measurement(
        "plans in 3 s: mean gain over the level quick",
        statistics.mean(gains),
        0.0,
        True,
        len(gains),
    )


def compare_quick_plans(seed: int) -> Iterator[tuple[float, float]]:
    """For each goal in a played position, compare its plan with that of the level `quick`.

    seed: the seed of the game.

    Yield the distance by which the plan's interval lies below the interval of the level, which may
    be negative, and the gain of the plan.
    """
    position = play_position(seed)
    for each in goals_in_reach(Turn(position), "quick"):
        if each.value is not None and each.value < 0.999:
            goal = read_goal_record(Turn(position), each.parameters)
            plan = best_plan(position, cast(Goal, goal), time_limit=QUICK_LIMIT)
            value = plan.comparable_value
            high = value if plan.interval is None else plan.interval[1]
            low = each.value if each.interval is None else each.interval[0]
            yield low - high, value - each.value


def make_plans(drawn: list[Question], limit: float) -> list[Plan]:
    """Return a plan for each question.

    limit: the time limit of each plan in seconds.
    """
    return [best_plan(each.position, each.goal, time_limit=limit) for each in drawn]


def measure_large_board() -> Iterator[Measurement]:
    """Measure the time until the first plan and its first game on a grid of 500 territories."""
    columns, rows = 25, 20
    names = [f"t{k}" for k in range(columns * rows)]
    pairs = [(a, b) for a, b in pairwise(names) if int(b[1:]) % columns]
    board = Board.from_edges("grid", [*pairs, *zip(names, names[columns:], strict=False)])
    times = []
    for seed in range(3):
        position = midgame(seed, board)
        stack = next(k for k, each in enumerate(position.holdings) if each.armies > 9)
        around = [stack + columns * y + x for y in (0, 1, 2) for x in (0, 1, 2)]
        problem = pose_problem(position, TakeAll(tuple(names[k % len(names)] for k in around)))
        started = time.process_time()
        core = Search(problem)
        core.assign(Deadline(), STARTS)
        core.play(Deadline(), 1)
        times.append(time.process_time() - started)
    yield Measurement("500 territories: first plan, CPU seconds", max(times), 2.0, False, 3)


def measure_limits() -> Iterator[Measurement]:
    """Measure answers with a time limit of one second: their time and peak memory."""
    plans, placed = list[float](), list[float]()
    gone_on, held = list[float](), list[float]()
    for each in islice(questions(8, every=False), 12):
        started = time.perf_counter()
        best_plan(each.position, each.goal, time_limit=1)
        plans.append(time.perf_counter() - started)
    for seed in range(4):
        started = time.perf_counter()
        reinforce(Turn(midgame(seed), place=5), Worth(), time_limit=1)
        placed.append(time.perf_counter() - started)
        # Eliminate the player with the fewest territories.
        position = midgame(seed)
        owned = Counter(each.owner for each in position.holdings)
        victim = min({*owned} - {"red"}, key=lambda player: (owned[player], player))
        asked = PlanQuestion(position=position, eliminate=victim, time_limit=Fraction(1))
        for times, more in (
            (gone_on, {"cards": ((victim, 4),), "then": "Asia"}),
            (held, {"hold": True}),
        ):
            started = time.perf_counter()
            replace(asked, **more).answer()
            times.append(time.perf_counter() - started)
    yield Measurement(
        "slowest plan with a limit of 1 s, seconds", max(plans), 1.2, False, len(plans)
    )
    yield Measurement(
        "slowest placement with a limit of 1 s, seconds", max(placed), 1.2, False, len(placed)
    )
    yield Measurement(
        "slowest turn with cards and a limit of 1 s, seconds",
        max(gone_on),
        1.2,
        False,
        len(gone_on),
    )
    yield Measurement(
        "slowest plan to hold with a limit of 1 s, seconds", max(held), 1.2, False, len(held)
    )
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE
    yield Measurement("memory, megabytes", most, 500, False, 1)


MEASURES = (
    *(
        measure_process,
        measure_goals_and_threats,
        measure_exact_play,
        measure_games,
        measure_large_board,
        measure_hard_positions,
        measure_play,
    ),
    *(measure_limits, measure_restricted, measure_quick_level, measure_gaps),
)


def main(words: list[str]) -> int:
    """Print the measurements. Return 1 if a requirement is not met."""
    positions = int(words[0]) if words else BOUNDED
    missed = 0
    for measure in (*MEASURES[:-1], partial(measure_gaps, positions)):
        for mark in measure():
            print(mark, flush=True)
            missed += not mark.is_met
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
