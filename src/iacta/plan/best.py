"""Best plan: what a player asks, from his position to the plan."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import monotonic

from iacta.board import Position
from iacta.checks import shown
from iacta.errors import IllegalError, MalformedError
from iacta.plan.goal import Goal, TakeAll, Worth, read_goal
from iacta.plan.plan import Plan, made_plan
from iacta.plan.problem import Problem, read_problem
from iacta.plan.search import Effort, Found, effort_of, take_all
from iacta.plan.sets import bits, mask_of
from iacta.plan.worth import most_worth, take_any
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

__all__ = ["best_plan", "better_plans"]


def best_plan(
    position: Position,
    goal: Goal,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    keep: Mapping[str, int] | None = None,
    may_not_move: Iterable[str] = (),
    time_limit: float | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> Plan:
    """Return the best plan to a goal that is found.

    position: who holds what; the player is the one whose turn it is.
    goal: `TakeAll`, `TakeAny` or `Worth`; `eliminate` makes the first of a player's name.
    rules: `Rules`, or the name of a rule set; those under which armies grow are refused.
    garrison: armies that must stay behind on each territory; `None` leaves what the rules say.
    keep: by name, armies that must stay behind on a territory, if they are more.
    may_not_move: names of the player's territories that may not attack.
    time_limit: seconds that the search may take, about, if it finds no end before; `None` for a
        moderate search, which is the same each time.
    progress: called with the worth of the best plan and the bound, whenever one is found.

    A `Plan`. Its chance is exact for what the plan does, to some 1e-12; `proven` says whether no
    plan is better, and `gap` how much better one may be. Ctrl-C ends the search with the best plan
    so far. Unknown names are refused, and goals without territories or with some that the position
    does not list.

    >>> from iacta.board import Board, Holding, Position
    >>> borders = ("A", "B"), ("B", "A"), ("B", "C"), ("C", "B")
    >>> board = Board("three", ("A", "B", "C"), borders)
    >>> holdings = Holding("red", 7), Holding("blue", 2), Holding("blue", 1)
    >>> position = Position(board, "red", holdings)
    >>> plan = best_plan(position, TakeAll("B,C"))
    >>> round(plan.win_probability, 6), plan.proven
    (0.839586, True)
    """
    if progress is not None and not callable(progress):
        raise MalformedError(f"progress must be a function, got {shown(progress)}")
    started = monotonic()
    kept = {} if keep is None else keep
    problem = read_problem(position, find_rules(rules, garrison), kept, may_not_move)
    named = read_goal(goal, position.board)
    limit = None if time_limit is None else _seconds(time_limit)
    best: Found | None = None
    try:
        for best in better_plans(problem, named, effort_of(limit)):
            if progress is not None:
                progress(best.value, best.upper_bound)
    except KeyboardInterrupt:
        if best is None:
            raise
    if best is None:
        raise IllegalError(f"goal must be one that a plan can have, got {shown(goal)}")
    seconds = monotonic() - started
    return made_plan(position, named, best.policy, best.value, best.upper_bound, seconds)


def better_plans(problem: Problem, goal: Goal, effort: Effort) -> Iterator[Found]:
    """Yield the best plan so far, whenever one is found; the last one is the best.

    problem: the problem.
    goal: the goal, its names as the board spells them.
    effort: how long the search may go on.
    """
    best: Found | None = None
    for found in _plans(problem, goal, effort):
        best = found if best is None or found.is_better(best) else best
        yield best


def _plans(problem: Problem, goal: Goal, effort: Effort) -> Iterator[Found]:
    if isinstance(goal, Worth):
        return most_worth(problem, goal, effort)
    names = {name: t for t, name in enumerate(problem.board.territories)}
    mask = mask_of([names[name] for name in goal.territories])
    for name in goal.territories:
        if problem.enemy >> names[name] & 1 and not problem.armies[names[name]]:
            raise IllegalError(f"territories to take must be listed in the position, got {name}")
    if isinstance(goal, TakeAll):
        return take_all(problem, mask & problem.enemy, effort)
    if mask & problem.owned:
        mine = ", ".join(problem.name(t) for t in bits(mask & problem.owned))
        raise IllegalError(f"territories of TakeAny must be other players', got {mine}")
    return take_any(problem, mask, effort)


def _seconds(value: object) -> float:
    seconds = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if seconds is None or not seconds >= 0:
        raise IllegalError(f"time_limit must be seconds of at least 0, got {shown(value)}")
    return float(seconds)
