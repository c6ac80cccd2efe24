"""The best plan for a goal, and the fewest armies that reach a required chance."""

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import TypeAlias

from iacta.board import Position
from iacta.game import Turn
from iacta.inputs.checks import check_choice, quote, read_int, unwrap_number
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.native.deadline import Deadline
from iacta.native.heartbeat import beat, beat_during
from iacta.odds.search import find_smallest
from iacta.plan.goals import Goal
from iacta.plan.margin import MARGIN
from iacta.plan.plan import Ending, Plan, Step, TerritoryEnd
from iacta.plan.planner import Found, Planner
from iacta.plan.problem import Problem, pose_problem, read_turn
from iacta.plan.search import Report
from iacta.probability.chances import Chance, read_chance

# A callback that receives the value of the best plan so far and its upper bound.
Progress: TypeAlias = Callable[[float, float], object]
Improved: TypeAlias = Callable[[Plan], object]  # a callback that receives the best plan so far

MIN_BATTLE_CHANCE = 1e-12  # a plan does not list battles that happen with a smaller chance
MAX_NEEDED_ARMIES = 1000  # the search for the fewest armies gives up beyond this number
FIRST_TRIED = 8  # the first number of armies in a search for the fewest armies
TRIAL_TIME_SHARE = 0.2  # fraction of the remaining time for the plan with each number of armies


def best_plan(
    turn: Turn | Position,
    goal: Goal,
    *,
    time_limit: float | None = None,
    budget: float | None = None,
    prove: float | None = None,
    bound: bool = True,
    threads: int | None = None,
    margin: float = MARGIN,
    price: float | None = None,
    progress: Progress | None = None,
    improved: Improved | None = None,
) -> Plan:
    """Search for the best plan for a goal.

    turn: the turn, whose rules and constraints apply; a `Position` is a turn in its attack phase
        under the classic rules. New armies must be placed first; `reinforce` places them. Cards are
        ignored, and rules under which armies can grow are rejected. If the turn has
        `whole_battles`, the plan fights each battle to the end; otherwise it decides after each
        roll.
    goal: `TakeAll`, `TakeAny`, `OwnAny`, `Worth` or `InOrder`; `eliminate` returns a `TakeAll` for
        the name of a player.
    time_limit: the maximum time in seconds; `None` for no limit.
    budget: the amount of work, relative to the default. The same budget finds the same plan on
        every machine unless a time limit ends the search. `None` means the default amount, or
        unlimited work if there is a time limit.
    prove: stop as soon as the value of the plan is this close to its upper bound.
    bound: whether to search for better plans and for an upper bound. With `False`, the search
        returns the better of its first two plans with its value, which is much faster, and ignores
        `margin` and `price`. Very large stacks may still need a `time_limit`.
    threads: the number of threads; using more than 2 does not help. `None` means 2, or 1 in a
        worker process.
    margin: how much chance the plan may give up to lose fewer armies, at most a hundredth of the
        chance (see `iacta.plan.margin`). With 0, the plan is the most likely to succeed.
    price: the price of a lost army, from an earlier plan for the same goal in this turn. `None`
        means that the search finds the price from `margin`.
    progress: a callback that receives the value of the best plan and its upper bound, about fifty
        times a second; the value is 0 before the first plan. An exception in the callback ends the
        search.
    improved: a callback that receives the best plan whenever its value or the bound improves.

    Return a `Plan`. Its value is exact to about 1e-12, an estimate with an interval, or `None` if
    there was no time to simulate a game. `proven` is true if no plan is better, and `gap` bounds
    the possible improvement. Ctrl-C ends the search and returns the best plan so far. Unknown
    names, goals that include unowned territories, and more than 2000 armies on a relevant territory
    raise `IactaError`.

    >>> from iacta.board import Board, Holding, Position
    >>> from iacta.plan import TakeAll
    >>> borders = ("A", "B"), ("B", "A"), ("B", "C"), ("C", "B")
    >>> board = Board("three", ("A", "B", "C"), borders)
    >>> holdings = Holding("red", 7), Holding("blue", 2), Holding("blue", 1)
    >>> position = Position(board, "red", holdings)
    >>> plan = best_plan(position, TakeAll("B,C"))
    >>> round(plan.win_probability, 6), plan.proven
    (0.839586, True)
    >>> plan = best_plan(position, TakeAll("B,C"), bound=False)
    >>> round(plan.win_probability, 6), plan.upper_bound
    (0.839586, 1.0)
    """
    _check_callback(progress, "progress")
    _check_callback(improved, "improved")
    check_choice(bound, (True, False), "bound")
    deadline = Deadline.from_time_limit(time_limit)
    if (start := read_turn(turn)).place:
        raise IllegalError(
            f"new armies must be placed before a plan, got {start.place}; `reinforce` places them"
        )
    return plan_within(
        pose_problem(start, goal),
        deadline,
        budget=None if budget is None else _read_positive(budget, "budget"),
        prove=None if prove is None else _read_positive(prove, "prove"),
        bound=bound,
        threads=_read_threads(threads),
        margin=_read_positive(margin, "margin"),
        price=None if price is None else _read_positive(price, "price"),
        progress=progress,
        improved=improved,
    )


def plan_within(
    problem: Problem,
    deadline: Deadline,
    *,
    budget: float | None = None,
    prove: float | None = None,
    bound: bool = True,
    threads: int = 1,
    margin: float = 0.0,
    price: float | None = None,
    narrow: Found | None = None,
    progress: Progress | None = None,
    improved: Improved | None = None,
) -> Plan:
    """Search for the best plan for a problem (a turn with a goal).

    deadline: when to stop searching.
    narrow: as for `Planner`.
    budget, prove, bound, threads, margin, price, progress, improved: as for `best_plan`, but
        `margin` is 0 by default.
    """
    found = None
    if price is not None:
        margin = 0.0
        problem = replace(problem, price=price if problem.goal.has_margin else 0.0)
    planner = Planner(
        problem,
        deadline,
        budget=budget,
        prove=prove,
        bound=bound,
        threads=threads,
        margin=margin,
        narrow=narrow,
    )
    best = 0.0, planner.bound
    try:
        with beat_during(None if progress is None else lambda: progress(*best)):
            for found in planner.run():
                if found.value is not None:
                    best = found.value, found.bound
                    beat()
                if improved is not None:
                    improved(make_plan(found, deadline.seconds))
    except KeyboardInterrupt:
        if found is None:
            raise
    assert found is not None  # noqa: S101 # the planner yields at least once or raises
    return make_plan(found, deadline.seconds)


def make_best_reporter(progress: Progress | None) -> Progress:
    """Return a callback for several successive searches that reports the best value so far.

    progress: the user's callback, which is called with this value and its bound, or `None`. Any
        other object raises an error.
    """
    _check_callback(progress, "progress")
    best = -inf

    def report(value: float, bound: float) -> None:
        nonlocal best
        best = max(best, value)
        if progress is not None:
            progress(best, max(best, bound))

    return report


def _check_callback(callback: object, name: str) -> None:
    if callback is not None and not callable(callback):
        raise MalformedError(f"{name} must be a function, got {quote(callback)}")


def count_default_threads() -> int:
    """Return the default number of threads: 2, or 1 in a worker process."""
    from multiprocessing import parent_process  # imported here because the import is slow

    return 2 if parent_process() is None else 1


def _read_threads(threads: int | None) -> int:
    if threads is None:
        return count_default_threads()
    return read_int(threads, "threads", minimum=1)


def _read_positive(value: object, name: str) -> float:
    number = unwrap_number(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not number >= 0:
        raise MalformedError(f"{name} must be a number of at least 0, got {quote(value)}")
    return float(number)


def make_plan(found: Found, seconds: float) -> Plan:
    """Convert the result of a search to a plan, with the statistics for the user.

    found: the policy with its value and statistics.
    seconds: the duration of the search in seconds.
    """
    problem, report = found.policy.problem, found.report
    goal, held = problem.goal, problem.held
    stages = () if found.value is None else _compute_stages(problem, report)
    greatest = None
    if found.greatest is not None:
        greatest = make_plan(replace(found.greatest, bound=found.bound), seconds)
    value = found.value if found.value is None else found.value + held
    won = value if goal.is_chance else 0.0
    if stages and won is not None:
        won = stages[-1]
    endings = [
        Ending(problem.name(visit.start), problem.name(visit.to), visit.ended)
        for visit in report.visits
        if visit.ended > MIN_BATTLE_CHANCE
    ]
    return Plan(
        problem.turn,
        goal,
        win_probability=won if won is None else min(won, 1.0),
        value=value,
        upper_bound=found.bound + held,
        proven=found.is_proven,
        steps=_make_steps(problem, report),
        territories=_make_territories(problem, report),
        endings=tuple(sorted(endings, key=lambda end: -end.probability)),
        seconds=seconds,
        policy=found.policy,
        stages=stages,
        interval=found.interval and (found.interval[0] + held, found.interval[1] + held),
        battles_value=value if problem.turn.whole_battles else None,
        games=found.games,
        price=found.price,
        sacrifice=_compute_sacrifice(found),
        greatest=greatest,
    )


def _compute_sacrifice(found: Found) -> float:
    """Return the value that a policy gives up to lose fewer armies."""
    if found.greatest is None or found.greatest.value is None or found.value is None:
        return 0.0
    return max(found.greatest.value - found.value, 0.0)


def _compute_stages(problem: Problem, report: Report) -> tuple[float, ...]:
    """Return, for goals in order, the chance to reach each goal together with all earlier goals."""
    masks = (mask for mask, _ in problem.rewards.sets)
    chances = dict(zip(masks, report.taken, strict=True))
    missing = (mask & ~problem.owned for mask in problem.goal.stages(problem.board))
    return tuple(min(chances.get(mask, 0.0), 1.0) if mask else 1.0 for mask in missing)


def _make_steps(problem: Problem, report: Report) -> tuple[Step, ...]:
    steps = [
        Step(
            problem.name(visit.start),
            problem.name(visit.to),
            min(visit.reached, 1.0),
            min(visit.conquered, 1.0),
            visit.arrived / visit.conquered if visit.conquered else 0.0,
            tuple(
                (able, chance, moved / chance)
                for able, chance, moved in visit.advances
                if chance > MIN_BATTLE_CHANCE
            ),
        )
        for visit in report.visits
        if visit.reached > MIN_BATTLE_CHANCE
    ]
    return tuple(sorted(steps, key=lambda step: -step.reach_probability))


def _make_territories(problem: Problem, report: Report) -> tuple[TerritoryEnd, ...]:
    territories, owned, left = [], report.owned, report.armies
    for t, name in enumerate(problem.board.territories):
        is_own = problem.owned >> t & 1
        armies = float(problem.turn.armies[t] * is_own)
        if (problem.field | problem.stacks) >> t & 1:
            armies = left[t]
        chance = 1.0 if is_own else min(owned[t], 1.0)
        territories.append(TerritoryEnd(name, chance, armies))
    return tuple(territories)


def armies_needed_for_plan(
    turn: Turn | Position,
    goal: Goal,
    chance: Chance,
    source: str,
    *,
    time_limit: float | None = None,
) -> int | None:
    """Return the fewest armies on a territory with which the best plan reaches a required chance.

    turn: the turn, as for `best_plan`; the armies on `source` are ignored.
    goal: `TakeAll`, `TakeAny` or `OwnAny`.
    chance: the required chance, between 0 and 1.
    source: the name of a territory of the player that may attack.
    time_limit: the maximum total time of all searches in seconds; `None` for no limit.

    Return a whole number of at least 1, or `None` if the time is too short to find it. With one
    army less, the search finds no plan with the required chance, although such a plan may exist
    unless the search is exact. If 1000 armies are not enough, `IllegalError` is raised.

    >>> from iacta import TakeAll
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:3")
    >>> armies_needed_for_plan(turn, TakeAll("Brazil"), chance=0.95, source="Peru")
    10
    """
    start = read_turn(turn)
    if not isinstance(goal, Goal) or not goal.is_chance:
        raise IllegalError(f"goal must be TakeAll, TakeAny or OwnAny, got {quote(goal)}")
    wanted = read_chance(chance)
    name = start.board.find(source)
    place = start.board.territories.index(name)
    if start.owners[place] != start.player:
        raise IllegalError(
            f"source must be a territory of {start.player}, got {name}", parameter="source"
        )
    if name in start.stay:
        raise IllegalError(
            f"source must be a territory that may attack, got {name}", parameter="source"
        )
    deadline = Deadline.from_time_limit(time_limit)

    def is_enough(number: int) -> bool:
        armies = (*start.armies[:place], number, *start.armies[place + 1 :])
        limit = deadline.take_share(TRIAL_TIME_SHARE).time_limit
        around = start.replace_armies(start.owners, armies)
        plan = best_plan(around, goal, time_limit=limit, margin=0.0)
        if plan.value is None:
            raise TimeoutError
        return plan.comparable_value >= wanted

    try:
        fewest = find_smallest(is_enough, FIRST_TRIED, step=FIRST_TRIED, maximum=MAX_NEEDED_ARMIES)
    except TimeoutError:
        return None
    if fewest is None:
        raise IllegalError(
            f"{MAX_NEEDED_ARMIES} armies on {name} do not reach a chance of {chance}"
        )
    return fewest
