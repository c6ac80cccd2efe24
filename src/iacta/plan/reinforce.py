"""New armies: where to place them before the first battle, jointly with the plan.

A placement says how many new armies stand on which of the player's territories. Where there are few
states, one backward pass over all that can follow any placement gives the value of each, exactly
(`iacta.plan.exact_turn`), so that the best is proven.

Elsewhere placements are compared by quick plans, which leave out what a search takes its time for:
first all new armies on one territory, for each territory with an enemy beside it; then half of them
on each of two; then the best of these is improved by moving armies from one territory to another,
first half of them and in the end one at a time, as long as that gains. The few best placements are
settled by plans with all the effort there is.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, combinations_with_replacement
from math import comb, inf
from typing import Any, TypeAlias, TypedDict, Unpack

from iacta.board import Holding, Position
from iacta.checks import Chance, read_chance, read_seconds, row_of, shown, whole_number
from iacta.display import Displayed
from iacta.errors import IllegalError, MalformedError
from iacta.plan.compiled import clock
from iacta.plan.exact_turn import solve_turn
from iacta.plan.goals import Goal, InOrder, Worth, deed, held_worth, read_goal
from iacta.plan.one_stack import MOST_ABLE
from iacta.plan.plan import Plan, best_plan
from iacta.plan.problem import read_problem
from iacta.plan.real_play import Clock
from iacta.plan.real_play import Search as PlanSearch
from iacta.plan.turn import Turn, TurnState
from iacta.questions.search import first
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

__all__ = [
    "Marginal",
    "PlanOptions",
    "Reinforcement",
    "Search",
    "late_after",
    "placed",
    "reinforce",
    "reinforcements_needed",
]

MOST_NEW = 1000
FIRST_TRIED = 8
MOST_MIXED = 4  # territories among which new armies are divided
SETTLED = 2  # placements that are settled by plans with all the effort there is
QUICK = 0.3  # of the time, for quick plans
GAIN = 1e-9
MOST_PLACEMENTS = 2000  # that are all looked at
MOST_STATES = 50_000  # that can follow them
FEW_STATES = 20_000
MANY_STATES = 10**6
MANY_QUICK = 30  # quick plans
EXACT = 0.2  # of the time, to look at all placements

Placement: TypeAlias = tuple[tuple[str, int], ...]  # (territory, new armies), the most first


class PlanOptions(TypedDict, total=False):
    """The rules and constraints of a plan, as for `best_plan`."""

    rules: Rules | str
    play: str
    rules_of: Mapping[str, Rules | str] | None
    garrison: int | None
    keep: Mapping[str, int] | None
    may_not_move: Iterable[str]


@dataclass(frozen=True)
class Marginal:
    """What new armies on one territory are worth, by quick plans.

    territory: the territory.
    one: the value of the plan with one more army there.
    all: its value with all new armies there.
    """

    territory: str
    one: float
    all: float


@dataclass(frozen=True, repr=False)
class Reinforcement(Displayed):
    """Where to place new armies, and the plan that follows.

    armies: how many there are.
    placement: how many of them stand where: (territory, new armies), the most first.
    plan: the plan with them; its position has them.
    before: the plan without them.
    quick: the value of a quick plan without them, with which `marginals` can be compared.
    marginals: for each territory where they may be of use, what they are worth there, the best
        first.
    has_tried_all: whether all placements were compared, each with the best play after it.
    """

    armies: int
    placement: Placement
    plan: Plan
    before: Plan
    quick: float
    marginals: tuple[Marginal, ...]
    has_tried_all: bool = False

    def _summary(self) -> str:
        where = ", ".join(f"{number} on {name}" for name, number in self.placement)
        aim = deed(self.plan.position, self.plan.goal)
        return f"{where}; {aim}, {self.plan.value:.6g} instead of {self.before.value:.6g}"


def placed(position: Position, placement: Iterable[tuple[str, int]]) -> Position:
    """Return a position with new armies.

    position: who holds what.
    placement: (territory, new armies), each territory the player's.

    >>> from iacta.board import Board
    >>> board = Board("two", ("A", "B"), (("A", "B"), ("B", "A")))
    >>> position = Position(board, "red", (Holding("red", 4), Holding("blue", 1)))
    >>> placed(position, [("A", 3)]).of("A").armies
    7
    """
    holdings = dict(zip(position.board.territories, position.holdings, strict=True))
    for name, number in row_of(placement, "placement", "pairs"):
        found = position.board.find(name)
        if holdings[found].owner != position.player:
            raise IllegalError(
                f"new armies must be placed on territories of {position.player}, got {found}"
            )
        armies = holdings[found].armies + whole_number(number, f"new armies on {found}")
        holdings[found] = Holding(position.player, armies)
    return replace(position, holdings=tuple(holdings.values()))


def reinforce(
    position: Position,
    goal: Goal,
    armies: int,
    *,
    time_limit: float | None = None,
    progress: Callable[[float, float], object] | None = None,
    **options: Unpack[PlanOptions],
) -> Reinforcement:
    """Return the best placement of new armies that the search finds, with its plan.

    position: who holds what before they are placed.
    goal: as for `best_plan`.
    armies: how many new armies there are, from 1 to 1000; all of them are placed.
    time_limit: about how many seconds it may take; `None` for a moderate search, which is the same
        each time.
    progress: called with the value of the best plan and its bound, while plans are settled.
    options: `rules`, `play`, `rules_of`, `garrison`, `keep` and `may_not_move`, as for `best_plan`.

    >>> from iacta.board import Board
    >>> from iacta.plan import TakeAll
    >>> borders = ("A", "B"), ("B", "A"), ("C", "D"), ("D", "C")
    >>> board = Board("pairs", ("A", "B", "C", "D"), borders)
    >>> mine, theirs = Holding("red", 4), Holding("blue", 2)
    >>> position = Position(board, "red", (mine, theirs, mine, theirs))
    >>> found = reinforce(position, TakeAll("B,D"), 4)
    >>> found.placement, round(found.before.value, 4), round(found.plan.value, 4)
    ((('A', 2), ('C', 2)), 0.4303, 0.7917)
    """
    number = whole_number(armies, "armies", least=1, most=MOST_NEW)
    search = Search(position, goal, options, late_after(time_limit, QUICK), time_limit)
    before = search.settled((), time_limit, progress)
    marginals = tuple(search.marginals(number))
    placement, plan = search.best(number, time_limit, progress)
    return Reinforcement(
        number, placement, plan, before, search.value(()), marginals, search.has_tried_all
    )


def reinforcements_needed(
    position: Position, goal: Goal, chance: Chance, **options: Unpack[PlanOptions]
) -> Reinforcement:
    """Return the fewest new armies with which a plan reaches a wanted chance, best placed.

    position: who holds what before they are placed.
    goal: `TakeAll` or `TakeAny`.
    chance: the wanted chance, between 0 and 1.
    options: as for `reinforce`.

    A `Reinforcement` without marginals; its number is 0 where no new armies are needed. With one
    army less no plan with that chance was found, though there might be one. A chance that 1000 new
    armies do not reach is refused.
    """
    wanted = read_chance(chance)
    if isinstance(goal, Worth | InOrder):
        raise IllegalError(f"goal must be TakeAll or TakeAny to have a chance, got {shown(goal)}")
    search = Search(position, goal, options)
    before = search.settled(())
    if before.value >= wanted:
        return Reinforcement(0, (), before, before, search.value(()), ())
    number = first(
        lambda n: max(map(search.value, search.placements(n))) >= wanted,
        FIRST_TRIED,
        step=FIRST_TRIED,
        most=MOST_NEW,
    )
    if number is None:
        raise IllegalError(f"{MOST_NEW} new armies do not reach a chance of {chance}")
    placement, plan = search.best(number)
    while number > 1:  # a settled plan may do with fewer than a quick one
        fewer, better = search.best(number - 1)
        if better.value < wanted:
            break
        number, placement, plan = number - 1, fewer, better
    return Reinforcement(number, placement, plan, before, search.value(()), ())


class Search:
    """Placements of new armies, and the values of their plans, each found once.

    position: who holds what before they are placed.
    goal: what the plans are for.
    options: the rules and constraints of the plans.
    late: tells whether the time for quick plans is over.
    time_limit: all the time there is, in seconds.
    has_tried_all: whether all placements of the armies of the last `best` were compared.
    """

    def __init__(
        self,
        position: Position,
        goal: Goal,
        options: PlanOptions,
        late: Callable[[], bool] = lambda: False,
        time_limit: float | None = None,
    ) -> None:
        if not isinstance(position, Position):
            raise MalformedError(f"position must be a Position, got {shown(position)}")
        self.position, self.goal, self.options, self.late = position, goal, options, late
        self.plan = partial(best_plan, goal=goal, **options)
        quick: PlanOptions = {**options, "play": "battles"}
        # Only their values are compared, so any bound will do.
        self.quick_plan = partial(best_plan, goal=goal, prove=inf, **quick)
        self.least_effort: float | None = 0
        if isinstance(goal, Worth):  # which is grown step by step
            self.least_effort = time_limit and QUICK * time_limit / MANY_QUICK
        self.has_tried_all = False
        self._quick: dict[Placement, Plan] = {}
        self.places = tuple(self._places(options.get("may_not_move", ())))

    def _places(self, may_not_move: Iterable[str]) -> Iterator[str]:
        """Yield where new armies may be of use, the largest stacks first."""
        position, board = self.position, self.position.board
        names = [may_not_move] if isinstance(may_not_move, str) else may_not_move
        resting = {board.find(name) for name in row_of(names, "may_not_move", "names")}
        mine = [each for each in position.owned_by(position.player) if each not in resting]
        for name in sorted(mine, key=lambda each: -position.of(each).armies):
            near = map(position.of, board.neighbours(name))
            if any(each.owner not in ("", position.player) for each in near):
                yield name

    def quick(self, placement: Placement) -> Plan:
        """Return a quick plan with new armies."""
        if placement not in self._quick:
            self._quick[placement] = self.quick_plan(
                placed(self.position, placement), time_limit=self.least_effort
            )
        return self._quick[placement]

    def value(self, placement: Placement) -> float:
        """Return the value of a quick plan with new armies."""
        return self.quick(placement).value

    def settled(
        self,
        placement: Placement,
        time_limit: float | None = None,
        progress: Callable[[float, float], object] | None = None,
    ) -> Plan:
        """Return a plan with new armies, with all the effort there is."""
        limit = None if time_limit is None else (1 - QUICK - EXACT) * time_limit / (SETTLED + 1)
        there = placed(self.position, placement)
        plan = self.plan(there, time_limit=limit, progress=progress)
        quick = self.quick(placement)
        if plan.value >= quick.value:
            return plan
        return replace(
            quick, upper_bound=max(min(plan.upper_bound, quick.upper_bound), quick.value)
        )

    def best(
        self,
        armies: int,
        time_limit: float | None = None,
        progress: Callable[[float, float], object] | None = None,
    ) -> tuple[Placement, Plan]:
        """Return the best placement, settled, and its plan."""
        most = MOST_STATES if time_limit is None else MANY_STATES
        exact = self.proven(armies, most, late_after(time_limit, EXACT))
        self.has_tried_all = exact is not None
        found = self.placements(armies)[:SETTLED] if exact is None else [exact[0]]
        plans = [(each, self.settled(each, time_limit, progress)) for each in found]
        return max(plans, key=lambda pair: pair[1].value)

    def proven(
        self,
        armies: int,
        most_states: int = FEW_STATES,
        late: Callable[[], bool] = lambda: False,
    ) -> tuple[Placement, float] | None:
        """Return the best of all placements, and what the best plan is worth then.

        armies: how many new armies there are.
        most_states: how many states may be looked at.
        late: tells whether the time is over.

        `None` where there are too many placements or states, the time is over, or there is nothing
        to take.
        """
        places = self.places
        if not places or comb(armies + len(places) - 1, armies) > MOST_PLACEMENTS:
            return None
        everywhere = placed(self.position, [(name, armies) for name in places])
        problem = read_problem(everywhere, *self._constraints())
        if problem.most - min(problem.garrisons) > MOST_ABLE:
            return None
        goal = read_goal(self.goal, problem.board)
        turn = PlanSearch(problem, goal, "rolls", Clock(None)).turn
        if self.options.get("play") == "battles":
            turn = Turn(problem, turn.field, turn.rewards, whole_battles=True)
        if turn.is_over(turn.start()):
            return None
        rows = combinations_with_replacement(places, armies)
        states = {
            each: TurnState(
                tuple(one.armies for one in placed(self.position, each).holdings), problem.owned
            )
            for each in (_ordered(Counter(row)) for row in rows)
        }
        solved = solve_turn(turn, most_states, late, states.values())
        if solved is None:
            return None
        values = {each: solved.value_of(state) or 0.0 for each, state in states.items()}
        best = max(values, key=lambda each: (values[each], -len(each)))
        start = read_problem(placed(self.position, best), *self._constraints())
        return best, values[best] + held_worth(start, goal)

    def _constraints(self) -> tuple[Any, ...]:
        """Return the rules and constraints, as `read_problem` takes them."""
        given = self.options
        return (
            find_rules(given.get("rules", "classic"), given.get("garrison")),
            given.get("keep") or {},
            given.get("may_not_move", ()),
            given.get("rules_of"),
        )

    def best_of(self, places: Iterable[str], armies: int) -> float:
        """Return the best value with all new armies on one of some territories, by quick plans."""
        mine = [name for name in places if name in self.places] or self.places[:1]
        values = [self.value(((name, armies),)) for name in mine if armies]
        return max(values, default=self.value(()))

    def marginals(self, armies: int) -> Iterator[Marginal]:
        """Yield what new armies are worth on each territory, the best first."""
        found = [
            Marginal(each, self.value(((each, 1),)), self.value(((each, armies),)))
            for each in self.places
        ]
        yield from sorted(found, key=lambda each: (-each.all, -each.one))

    def placements(self, armies: int) -> list[Placement]:
        """Return some placements, the best by quick plans first."""
        if not self.places:
            mine = self.position.owned_by(self.position.player)
            most = max(mine, key=lambda each: self.position.of(each).armies)
            return [((most, armies),)]
        tried: dict[Placement, float] = {}

        def value(placement: Mapping[str, int]) -> float:
            key = _ordered(placement)
            tried[key] = self.value(key)
            return tried[key]

        stay = self.value(())
        alone = {each: value({each: armies}) for each in self.places}
        gaining = [each for each in self.places if alone[each] > stay + GAIN] or self.places
        places = sorted(gaining, key=lambda each: -alone[each])[:MOST_MIXED]
        for one, other in combinations(places, 2):
            if armies > 1 and not self.late():
                value({one: armies - armies // 2, other: armies // 2})
        first_best: Placement = max(tried, key=tried.__getitem__)
        best = dict(first_best)
        step = max(armies // 2, 1)
        while step and not self.late():
            better = max(_moved(best, places, step), key=value, default=best)
            if value(better) > value(best) + GAIN:
                best = better
            else:
                step //= 2
        return sorted(tried, key=lambda each: -tried[each])


def _moved(placement: dict[str, int], places: Iterable[str], step: int) -> list[dict[str, int]]:
    """Return the placements in which some armies stand on another territory."""
    moved = []
    for start, there in placement.items():
        for to in places:
            if to != start and there >= step:
                changed = {**placement, start: there - step}
                changed[to] = changed.get(to, 0) + step
                moved.append({name: number for name, number in changed.items() if number})
    return moved


def _ordered(placement: Mapping[str, int]) -> Placement:
    return tuple(sorted(placement.items(), key=lambda pair: (-pair[1], pair[0])))


def late_after(time_limit: float | None, part: float) -> Callable[[], bool]:
    """Return what tells whether a part of the time is over.

    time_limit: the time in seconds, `None` if there is no end.
    part: the part of it.
    """
    if time_limit is None:
        return lambda: False
    end = clock() + part * read_seconds(time_limit, "time_limit")
    return lambda: clock() >= end
