"""The best plan: what a player asks for, and the plan that answers it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import inf
from typing import Any, TypeAlias

from iacta.board import Holding, Position
from iacta.board.position import check_position
from iacta.inputs.checks import quote, read_int, read_row, unwrap_number
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.native.deadline import Deadline
from iacta.odds.search import find_least
from iacta.plan.goals import Goal
from iacta.plan.plan import Ending, Plan, Step, TerritoryEnd
from iacta.plan.planner import Found, Planner
from iacta.plan.problem import Problem, read_problem
from iacta.plan.search import Report
from iacta.probability.chances import Chance, read_chance
from iacta.rules.rules import Rules

Progress: TypeAlias = Callable[[float, float], object]  # called with a value and its bound
Improved: TypeAlias = Callable[[Plan], object]  # called with the best plan so far

LEAST_CHANCE = 1e-12  # borders that are fought over less often are left out
MOST_ARMIES = 1000  # a search for the fewest ends there
FIRST_TRIED = 8
TRIAL_PART = 0.2  # of the time that is left, for a plan with a number of armies


def best_plan(
    position: Position,
    goal: Goal,
    rules: Rules | str = "classic",
    *,
    play: str = "rolls",
    rules_of: Mapping[str, Rules | str] | None = None,
    garrison: int | None = None,
    keep: Mapping[str, int] | None = None,
    stay: Iterable[str] | str = (),
    time_limit: float | None = None,
    budget: float | None = None,
    prove: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    improved: Improved | None = None,
) -> Plan:
    """Return the best plan for a goal that the search finds.

    position: who holds what; the player is the one whose turn it is.
    goal: `TakeAll`, `TakeAny`, `Worth` or `InOrder`; `eliminate` makes the first of a player's
        name.
    rules: `Rules`, or the name of a rule set; those under which armies grow are refused.
    play: `"rolls"` for a plan that decides after each roll; `"battles"` for one that fights each
        battle to its end.
    rules_of: by name, the rules of the battles for a territory, where they are its own.
    garrison: armies that must stay behind on each territory; `None` leaves what the rules say.
    keep: by name, armies that must remain on a territory at all times, if they are more.
    stay: names of the player's territories that may not attack.
    time_limit: the most seconds that the search may take; `None` for no limit.
    budget: how much work the search may do, 1 for the usual. The same work finds the same plan,
        whatever the machine, if no time limit ends it before. `None` for the usual work, or with
        a time limit for as much as there is time.
    prove: the search ends when no play can be better than the plan by more than this.
    threads: how many threads the search may use, of which 2 are of use; `None` for 2, and for 1 in
        a worker process.
    progress: called with the value of the best plan and the bound, whenever one gets better.
    improved: called with the best plan at the same moments.

    A `Plan`. Its value is exact for what the plan does, to some 1e-12, or an estimate with an
    interval; `proven` says whether no play is better, and `gap` how much better one may be. Ctrl-C
    ends the search with the best plan so far. Refused are unknown names, goals with territories
    that nobody holds, and more than 2000 armies on a territory that matters.

    >>> from iacta.board import Board, Holding, Position
    >>> from iacta.plan import TakeAll
    >>> borders = ("A", "B"), ("B", "A"), ("B", "C"), ("C", "B")
    >>> board = Board("three", ("A", "B", "C"), borders)
    >>> holdings = Holding("red", 7), Holding("blue", 2), Holding("blue", 1)
    >>> position = Position(board, "red", holdings)
    >>> plan = best_plan(position, TakeAll("B,C"))
    >>> round(plan.win_probability, 6), plan.proven
    (0.839586, True)
    """
    _check_callback(progress, "progress")
    _check_callback(improved, "improved")
    deadline = Deadline.of(time_limit)
    problem = read_problem(
        position, goal, rules, play=play, rules_of=rules_of, garrison=garrison, keep=keep, stay=stay
    )
    return plan_within(
        problem,
        deadline,
        budget=None if budget is None else _positive(budget, "budget"),
        prove=None if prove is None else _positive(prove, "prove"),
        threads=usual_threads() if threads is None else read_int(threads, "threads", least=1),
        progress=progress,
        improved=improved,
    )


def plan_within(
    problem: Problem,
    deadline: Deadline,
    *,
    budget: float | None = None,
    prove: float | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    improved: Improved | None = None,
) -> Plan:
    """Return the best plan for a problem that the search finds.

    deadline: when it must end.
    budget, prove, threads, progress, improved: as for `best_plan`.
    """
    found = None
    try:
        for found in Planner(problem, deadline, budget=budget, prove=prove, threads=threads).run():
            if progress is not None and found.value is not None:
                progress(found.value, found.bound)
            if improved is not None:
                improved(plan_of(found, deadline.seconds))
    except KeyboardInterrupt:
        if found is None:
            raise
    assert found is not None  # noqa: S101 # the planner finds one or raises
    return plan_of(found, deadline.seconds)


def rising(progress: Progress | None) -> Progress:
    """Return what shows progress with several plans, of which the best so far counts.

    progress: a function, or `None`; anything else is refused.
    """
    _check_callback(progress, "progress")
    best = -inf

    def show(value: float, bound: float) -> None:
        nonlocal best
        best = max(best, value)
        if progress is not None:
            progress(best, max(best, bound))

    return show


def _check_callback(callback: object, name: str) -> None:
    if callback is not None and not callable(callback):
        raise MalformedError(f"{name} must be a function, got {quote(callback)}")


def usual_threads() -> int:
    """Return how many threads a search uses: one in a worker process."""
    from multiprocessing import parent_process  # slow to import, and only needed here

    return 2 if parent_process() is None else 1


def _positive(value: object, name: str) -> float:
    number = unwrap_number(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not number >= 0:
        raise MalformedError(f"{name} must be a number of at least 0, got {quote(value)}")
    return float(number)


def plan_of(found: Found, seconds: float) -> Plan:
    """Return the plan that goes by a policy, with all that a player asks about it.

    found: the policy, and how it goes.
    seconds: how long it took to find.
    """
    problem, report = found.policy.problem, found.report
    goal, held = problem.goal, problem.held
    stages = () if found.value is None else _stages(problem, report)
    value = found.value if found.value is None else found.value + held
    won = value if goal.is_chance else 0.0
    if stages and won is not None:
        won = stages[-1]
    endings = [
        Ending(problem.name(visit.start), problem.name(visit.to), visit.ended)
        for visit in report.visits
        if visit.ended > LEAST_CHANCE
    ]
    return Plan(
        problem.position,
        goal,
        problem.turn.rules,
        win_probability=won if won is None else min(won, 1.0),
        value=value,
        upper_bound=found.bound + held,
        proven=found.is_proven,
        steps=_steps(problem, report),
        territories=_territories(problem, report),
        endings=tuple(sorted(endings, key=lambda end: -end.chance)),
        seconds=seconds,
        policy=found.policy,
        stages=stages,
        play=problem.play,
        interval=found.interval and (found.interval[0] + held, found.interval[1] + held),
        battles_value=value if problem.play == "battles" else None,
        games=found.games,
    )


def _stages(problem: Problem, report: Report) -> tuple[float, ...]:
    """Return the chance of each of several goals in order."""
    masks = (mask for mask, _ in problem.rewards.sets)
    chances = dict(zip(masks, report.taken, strict=True))
    missing = (mask & ~problem.owned for mask in problem.goal.stages(problem.board))
    return tuple(min(chances.get(mask, 0.0), 1.0) if mask else 1.0 for mask in missing)


def _steps(problem: Problem, report: Report) -> tuple[Step, ...]:
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
                if chance > LEAST_CHANCE
            ),
        )
        for visit in report.visits
        if visit.reached > LEAST_CHANCE
    ]
    return tuple(sorted(steps, key=lambda step: -step.reach_probability))


def _territories(problem: Problem, report: Report) -> tuple[TerritoryEnd, ...]:
    territories = []
    for t, name in enumerate(problem.board.territories):
        is_own = problem.owned >> t & 1
        armies = float(problem.turn.armies[t] * is_own)
        if (problem.field | problem.stacks) >> t & 1:
            armies = report.armies[t]
        chance = 1.0 if is_own else min(report.owned[t], 1.0)
        territories.append(TerritoryEnd(name, chance, armies))
    return tuple(territories)


def armies_needed_for_plan(
    position: Position,
    goal: Goal,
    chance: Chance,
    source: str,
    rules: Rules | str = "classic",
    *,
    time_limit: float | None = None,
    **options: Any,
) -> int:
    """Return the fewest armies on a territory with which the best plan reaches a wanted chance.

    position: who holds what; the armies on `source` do not count.
    goal: `TakeAll` or `TakeAny`.
    chance: the wanted chance, between 0 and 1, as for `armies_needed`.
    source: the name of a territory of the player's that may attack.
    rules: as for `best_plan`.
    time_limit: the most seconds that all searches together may take.
    options: `play`, `rules_of`, `garrison`, `keep` and `stay`, as for `best_plan`.

    A whole number of at least 1. With one army less, the best plan that is found does not have that
    chance; where plans are not proven, a better one might. A chance that 1000 armies do not reach
    is refused.
    """
    check_position(position)
    if not isinstance(goal, Goal) or not goal.is_chance:
        raise IllegalError(f"goal must be TakeAll or TakeAny to have a chance, got {quote(goal)}")
    wanted = read_chance(chance)
    stay = options.get("stay", ())
    staying = [stay] if isinstance(stay, str) else read_row(stay, "stay", "names")
    resting = {*map(position.board.find, staying)}
    name = position.board.find(source)
    if position.find_holding(name).owner != position.player:
        raise IllegalError(
            f"source must be a territory of {position.player}, got {name}", parameter="source"
        )
    if name in resting:
        raise IllegalError(
            f"source must be a territory that may attack, got {name}", parameter="source"
        )
    place = position.board.territories.index(name)
    deadline = Deadline.of(time_limit)

    def reaches(armies: int) -> bool:
        holdings = list(position.holdings)
        holdings[place] = Holding(position.player, armies)
        there = replace(position, holdings=tuple(holdings))
        limit = deadline.part(TRIAL_PART).time_limit
        return best_plan(there, goal, rules, time_limit=limit, **options).counted >= wanted

    fewest = find_least(reaches, FIRST_TRIED, step=FIRST_TRIED, most=MOST_ARMIES)
    if fewest is None:
        raise IllegalError(f"{MOST_ARMIES} armies on {name} do not reach a chance of {chance}")
    return fewest
