"""The planner: times, proofs on small boards, hard positions, gaps to the bound, time limits.

    python -m benchmarks.planner [POSITIONS]

This plans an elimination and a continent for the first POSITIONS of a fixed set of 64 positions,
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

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Measurement as Mark
from benchmarks.positions import (
    BOUNDED,
    Question,
    bounded_questions,
    hard_positions,
    hard_questions,
    midgame,
    played,
    questions,
    restricted_questions,
)
from iacta import Turn, ask, goals_in_reach, threats
from iacta.board import Board, Position
from iacta.board.position import read_position
from iacta.native.deadline import Deadline
from iacta.plan import Plan, TakeAll, TakeAny, Worth, best_plan, reinforce, simulate_plan
from iacta.plan.planner import STYLES
from iacta.plan.policy import MAX_STATES_BY_DEFAULT, STARTS, policy_for
from iacta.plan.problem import read_problem
from iacta.plan.search import Search, Style
from iacta.questions.plan import PlanQuestion

EXAMPLE = ("plan", "examples/asia.toml", "--take", "Asia")
MEGABYTE = 1024  # kilobytes
FEW, MANY = 2.0, 10.0  # time limits in seconds
LONGEST = 60.0
QUICK_LIMIT = 3.0  # seconds of the quick estimates of all goals, and of a plan for each goal
QUICK_SEED, QUICK_GOALS = 40_000, 61  # first seed, and number of goals with quick estimates
RESTRICTED = 40
RUNS = 3_000
FRESH_GAME = 2**40  # games from this number on are new to every plan


def process_marks() -> Iterator[Mark]:
    """Yield how long a plan takes as a whole process."""
    times = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "iacta", *EXAMPLE], check=True, stdout=subprocess.DEVNULL
        )
        times.append(time.perf_counter() - started)
    yield Mark("a plan for Asia as a process, seconds", statistics.median(times), 1.5, False, 5)


def small_board(seed: int) -> Position:
    """Return a board of 5 to 9 territories, of which red has one or two with many armies."""
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


def exact_marks() -> Iterator[Mark]:
    """Yield how fast games are solved, and how many small boards are proven, and how fast."""
    rates, slowest, proven = [], 0.0, 0
    for seed in range(40):
        position = small_board(seed)
        goal = (TakeAll, TakeAny)[seed % 2](position.list_territories("blue"))
        core = Search(read_problem(position, goal))
        started = time.process_time()
        if core.solve(Deadline(), MAX_STATES_BY_DEFAULT) is None:
            rates.append(MAX_STATES_BY_DEFAULT / (time.process_time() - started))
            continue
        started = time.perf_counter()
        proven += best_plan(position, goal).proven
        slowest = max(slowest, time.perf_counter() - started)
    solved = 40 - len(rates)
    if rates:
        yield Mark("states solved a second", statistics.median(rates), 2e5, True, len(rates))
    yield Mark("small boards proven", proven / solved, 1.0, True, solved)
    yield Mark("slowest small board, seconds", slowest, 2.0, False, solved)


def game_marks() -> Iterator[Mark]:
    """Yield how long a game of a policy takes, and its next move, on hard positions."""
    games, moves = [], []
    for each in hard_positions():
        policy = policy_for(read_problem(each.position, each.goal), states=0)
        if not isinstance(policy.search, Search):
            raise TypeError("the compiled core must be there to be measured")
        started = time.process_time()
        policy.search.play(Deadline(), 100)
        games.append((time.process_time() - started) / 100)
        plan = best_plan(each.position, each.goal, time_limit=0)
        for position in (each.position, *(midgame(seed) for seed in range(3))):
            started = time.perf_counter()
            plan.next_move(position)
            moves.append(time.perf_counter() - started)
    yield Mark("a game, median milliseconds", 1000 * statistics.median(games), 0.9, False, 7)
    yield Mark("next_move, worst milliseconds", 1000 * max(moves), 20.0, False, len(moves))


def board_marks() -> Iterator[Mark]:
    """Yield the times of the goals of a turn and of the threats of opponents."""
    first, every, games, threatened = [], [], [], []
    for name in ("asia.toml", "eliminate-blue.json", "break-off.json"):
        turn = Turn(read_position(f"examples/{name}"))
        said: list[float] = []
        started = time.perf_counter()
        goals_in_reach(turn, progress=lambda *_, to=said: to.append(time.perf_counter()))
        first.append(said[0] - started)
        every.append(said[-1] - started)
        started = time.perf_counter()
        ask("goals", position=turn.position, win=True, time_limit=3)
        games.append(time.perf_counter() - started)
        started = time.perf_counter()
        threats(turn)
        threatened.append(time.perf_counter() - started)
    yield Mark("goals of a turn, first seconds", max(first), 0.5, False, 3)
    yield Mark("goals of a turn, all, seconds", max(every), 3.0, False, 3)
    yield Mark("with 3 s for games too, seconds", max(games), 3.3, False, 3)
    yield Mark("what opponents can do, seconds", max(threatened), 2.0, False, 3)


def hard_marks(limit: float = FEW) -> Iterator[Mark]:
    """Yield what plans of hard positions report and reach, and the best known of each."""
    for k, hard in enumerate(hard_positions(), start=1):
        plan = best_plan(hard.position, hard.goal, time_limit=limit)
        simulated = simulate_plan(plan, runs=RUNS, seed=k)
        off = abs(plan.comparable_value - simulated.value) / max(simulated.error, 1 / RUNS)
        yield Mark(f"hard position {k}: reported", plan.comparable_value, None, True, 1)
        # The chance is an estimate from simulated games: two standard errors are tolerated.
        noise = 2 * (2 * hard.reached * (1 - hard.reached) / RUNS) ** 0.5
        yield Mark(
            f"hard position {k}: simulated", simulated.value, hard.reached - noise, True, RUNS
        )
        claim = f"hard position {k}: reported and simulated, standard errors"
        yield Mark(claim, off, 4, False, RUNS)


def play_marks(
    positions: int = 20,
    limits: Sequence[float] = (0.5, FEW, MANY),
    games: int = 4_000,
    longest: float = LONGEST,
) -> Iterator[Mark]:
    """Yield how far plans of hard positions are below the best known, in points.

    positions: how many; they are played, and no style was chosen by them.
    limits: seconds of the plans.
    games: fresh games by which policies are compared, all with the same dice.
    longest: the seconds of the search that, with all styles, gives the best known value.
    """
    short: dict[float, list[float]] = {limit: [] for limit in limits}
    inside = list[bool]()
    for each in hard_questions(positions):
        gains = partial(_gains, Search(read_problem(each.position, each.goal)), games)
        values = {style: gains(style) for style in STYLES}
        best, plans = best_plan(each.position, each.goal, time_limit=longest), dict[float, Plan]()
        for limit in limits:
            plans[limit] = best_plan(each.position, each.goal, time_limit=limit)
        for plan in (best, *plans.values()):
            if plan.policy.style not in values:
                values[plan.policy.style] = gains(plan.policy.style)
        known = max(found.mean() for found in values.values())
        for limit, plan in plans.items():
            found = values[plan.policy.style]
            short[limit].append(100 * (known - found.mean()))
            low, high = plan.interval or (plan.comparable_value, plan.comparable_value)
            error = 2 * found.std() / games**0.5
            inside.append(bool(low - error <= found.mean() <= high + error))
    for limit, points in short.items():
        claim = f"plans in {limit:g} s: points below the best known"
        wanted = {FEW: 0.8, MANY: 0.4}.get(limit)
        yield Mark(f"{claim}, mean", statistics.mean(points), wanted, False, len(points))
        yield Mark(f"{claim}, most", max(points), 4.0 if wanted else None, False, len(points))
    yield Mark("intervals that hold the value", statistics.mean(inside), 0.95, True, len(inside))


def _gains(core: Search, games: int, style: Style) -> npt.NDArray[np.float64]:
    core.follow(core.assign(Deadline(), STARTS), style)
    return core.play(Deadline(), games, FRESH_GAME).gains


def gap_marks(positions: int = 8) -> Iterator[Mark]:
    """Yield the gaps of mid-game plans at two time limits, and what the longer one gains.

    positions: how many of the set by which bounds are compared.
    """
    asked = {("continent", FEW): 0.02, ("continent", MANY): 0.01}
    asked |= {("elimination", FEW): 0.20, ("elimination", MANY): 0.12}
    drawn = [*bounded_questions(positions)]
    plans: dict[float, list[Plan]] = {limit: planned(drawn, limit) for limit in (FEW, MANY)}
    for (kind, limit), most in asked.items():
        gaps = [
            plan.gap for each, plan in zip(drawn, plans[limit], strict=True) if each.kind == kind
        ]
        claim = f"{kind}s at {limit:g} s: median gap"
        yield Mark(claim, statistics.median(gaps), most, False, len(gaps))
    gains = [
        later.comparable_value - early.comparable_value
        for early, later in zip(plans[FEW], plans[MANY], strict=True)
        if not early.proven
    ]
    if gains:
        yield Mark("value at 10 s above 2 s, mean", statistics.mean(gains), 0.0, True, len(gains))


def restricted_marks() -> Iterator[Mark]:
    """Yield how far plans are below the optimum of the problem around the goal."""
    short = [
        optimum - best_plan(each.position, each.goal, time_limit=FEW).comparable_value
        for each, optimum in restricted_questions(RESTRICTED)
    ]
    claim = "plans at 2 s below the restricted optimum, most"
    yield Mark(claim, max(short), 0.002, False, len(short))


def quick_marks() -> Iterator[Mark]:
    """Yield how plans compare with the quick estimates of `goals`, with the same time.

    Both values have intervals, so only a plan whose interval lies lower counts as below.
    """
    compared = chain.from_iterable(map(compare_quick_estimates, count(QUICK_SEED)))
    clear, gains = zip(*islice(compared, QUICK_GOALS), strict=True)
    yield Mark("plans at 3 s below quick estimates, most", max(clear), 0.001, False, len(clear))
    yield Mark(
        "plans at 3 s above quick estimates, mean", statistics.mean(gains), 0.0, True, len(gains)
    )


def compare_quick_estimates(seed: int) -> Iterator[tuple[float, float]]:
    """Yield for each goal of a played position how far its plan is below its quick estimate.

    seed: the seed of the game.

    The first number is the distance between the intervals, the second the gain of the plan.
    """
    position = played(seed)
    for each in goals_in_reach(Turn(position), time_limit=QUICK_LIMIT):
        if each.chance < 0.999:
            plan = best_plan(position, each.goal, time_limit=QUICK_LIMIT)
            value = plan.comparable_value
            high = value if plan.interval is None else plan.interval[1]
            yield each.interval.low - high, value - each.chance


def planned(drawn: list[Question], limit: float) -> list[Plan]:
    """Return the plans for some questions."""
    return [best_plan(each.position, each.goal, time_limit=limit) for each in drawn]


def large_marks() -> Iterator[Mark]:
    """Yield how long the first plan takes on a grid of 500 territories, with its first game."""
    columns, rows = 25, 20
    names = [f"t{k}" for k in range(columns * rows)]
    pairs = [(a, b) for a, b in pairwise(names) if int(b[1:]) % columns]
    board = Board.from_edges("grid", [*pairs, *zip(names, names[columns:], strict=False)])
    times = []
    for seed in range(3):
        position = midgame(seed, board)
        stack = next(k for k, each in enumerate(position.holdings) if each.armies > 9)
        around = [stack + columns * y + x for y in (0, 1, 2) for x in (0, 1, 2)]
        problem = read_problem(position, TakeAll(tuple(names[k % len(names)] for k in around)))
        started = time.process_time()
        core = Search(problem)
        core.assign(Deadline(), STARTS)
        core.play(Deadline(), 1)
        times.append(time.process_time() - started)
    yield Mark("500 territories: first plan, CPU seconds", max(times), 2.0, False, 3)


def limit_marks() -> Iterator[Mark]:
    """Yield how long answers take that are given a second."""
    plans, placed = list[float](), list[float]()
    gone_on, held = list[float](), list[float]()
    for each in islice(questions(8, every=False), 12):
        started = time.perf_counter()
        best_plan(each.position, each.goal, time_limit=1)
        plans.append(time.perf_counter() - started)
    for seed in range(4):
        started = time.perf_counter()
        reinforce(midgame(seed), Worth(), 5, time_limit=1)
        placed.append(time.perf_counter() - started)
        # The player with the fewest territories is eliminated.
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
    yield Mark("a plan in 1 s: the longest, seconds", max(plans), 1.2, False, len(plans))
    yield Mark("new armies in 1 s: the longest, seconds", max(placed), 1.2, False, len(placed))
    yield Mark("cards in 1 s: the longest, seconds", max(gone_on), 1.2, False, len(gone_on))
    yield Mark("to hold in 1 s: the longest, seconds", max(held), 1.2, False, len(held))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MEGABYTE
    yield Mark("memory, megabytes", most, 500, False, 1)


MEASURES = (
    *(process_marks, board_marks, exact_marks, game_marks, large_marks, hard_marks, play_marks),
    *(limit_marks, restricted_marks, quick_marks, gap_marks),
)


def main(words: list[str]) -> int:
    """Print what plans take and reach; return 1 if something that is asked is missed."""
    positions = int(words[0]) if words else BOUNDED
    missed = 0
    for measure in (*MEASURES[:-1], partial(gap_marks, positions)):
        for mark in measure():
            print(mark, flush=True)
            missed += not mark.is_met
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
