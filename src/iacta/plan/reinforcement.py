"""New armies: where to place them before the first attack, and the plan that follows.

Quick values compare placements (`iacta.plan.placements`). If they are exact and all placements are
compared, the best placement is proven. Otherwise the same search also compares placements in the
narrow problem (`Problem.narrow`), by exact values of a coarse version. Plans with a small budget
then decide between the best few placements, and the winner gets a full plan.

If placements have equal values, the placement that leaves more armies is better, then the placement
that needs fewer rolls.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from iacta.board import Position
from iacta.game import Turn
from iacta.inputs.checks import quote, read_int, read_list
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.inputs.reprs import DisplayMixin
from iacta.native.bit_sets import bits
from iacta.native.deadline import THREADS, Deadline, run_in_threads
from iacta.odds.search import find_smallest
from iacta.plan.best import (
    FIRST_TRIED,
    Improved,
    Progress,
    count_default_threads,
    make_best_reporter,
    plan_within,
)
from iacta.plan.goals import Goal
from iacta.plan.levels import USUAL, Level
from iacta.plan.margin import MARGIN
from iacta.plan.own_any import count_missing_armies
from iacta.plan.placements import (
    LARGE_EXACT_SHARE,
    PAYOFF_DIGITS,
    PLACEMENT_GAIN,
    SMALL_STATES,
    Placement,
    Placements,
    compute_quick_values,
    is_small,
    list_shifted_placements,
)
from iacta.plan.plan import Plan
from iacta.plan.planner import EQUAL, LARGE, Found, solve_exactly
from iacta.plan.policy import MAX_STATES_BY_DEFAULT
from iacta.plan.problem import Problem, SearchState, pose_problem, read_turn
from iacta.probability.chances import Chance, read_chance

MAX_PLACED_ARMIES = 1000  # maximum number of new armies
FINALIST_SHARE = 0.3  # fraction of the remaining time for the plans of the finalists
MANY_STATES = 10**6  # the same in `reinforce`, and on other boards if there is a time limit
BEFORE_SHARE = 0.05  # fraction of the remaining time for the plan without new armies
PLACEMENT_COMPARISON_SHARE = 0.5  # fraction of the remaining time for comparing placements
NARROW_SHARE = 0.75  # fraction of the remaining time for comparing placements in the narrow problem
FIRST_SHARE = 0.25  # fraction of the time for the narrow problem, for its first placement
MAX_NARROW_PLACEMENTS = 12  # hill climbing in the narrow problem stops at this many placements


@dataclass(frozen=True)
class Marginal:
    """Quick estimates of the value if new armies are placed on a single territory.

    The estimates agree with the values of the plans with and without new armies.

    name: the name of the territory.
    one: the value of the plan with one new army there.
    all: the value of the plan with all new armies there.
    """

    name: str
    one: float
    all: float


@dataclass(frozen=True, repr=False)
class Reinforcement(DisplayMixin):
    """The best placement of new armies and the plan that follows.

    armies: the number of new armies.
    placement: pairs (territory, number of new armies), most armies first.
    plan: the plan after the placement.
    before: the plan if there were no new armies.
    marginals: the value of new armies on each useful territory, best first. If time was short, some
        territories are missing. Empty in the result of `reinforcements_needed`.
    has_tried_all: whether all placements were compared by exact search; always false in the result
        of `reinforcements_needed`.
    """

    armies: int
    placement: Placement
    plan: Plan
    before: Plan
    marginals: tuple[Marginal, ...]
    has_tried_all: bool = False

    def _summary(self) -> str:
        where = ", ".join(f"{number} on {name}" for name, number in self.placement)
        aim = self.plan.goal.phrase(self.plan.position)
        values = (
            "no estimate" if value is None else f"{value:.6g}"
            for value in (self.plan.value, self.before.value)
        )
        return f"{where}; {aim}, {' instead of '.join(values)}"


def place_armies(turn: Turn | Position, placement: Iterable[tuple[str, int]]) -> Turn:
    """Return a turn with more armies on the board, without changing its phase.

    turn: the turn, or a position.
    placement: pairs (territory, number of new armies); each territory must belong to the player.

    >>> from iacta.board import Board
    >>> board = Board.from_edges("two", [("A", "B")])
    >>> position = Position(board, "red", {"A": ("red", 4), "B": ("blue", 1)})
    >>> place_armies(position, [("A", 3)]).armies_on("A")
    7
    """
    start = read_turn(turn)
    armies = dict(zip(start.board.territories, start.armies, strict=True))
    for name, number in read_list(placement, "placement", "pairs"):
        found = start.board.find(name)
        if start.owner_of(found) != start.player:
            raise IllegalError(
                f"new armies must be placed on territories of {start.player}, got {found}"
            )
        armies[found] += read_int(number, f"new armies on {found}")
    return start.replace_armies(start.owners, tuple(armies.values()))


def reinforce(
    turn: Turn,
    goal: Goal,
    *,
    time_limit: float | None = None,
    margin: float = MARGIN,
    price: float | None = None,
    progress: Progress | None = None,
    improved: Callable[[Reinforcement], object] | None = None,
) -> Reinforcement:
    """Search for the best placement of new armies, and return it with the plan that follows.

    turn: a turn with 1 to 1000 new armies (`place`). All armies are placed.
    goal: as for `best_plan`.
    time_limit: the maximum time in seconds; `None` for no limit, which makes the result the same on
        every machine.
    margin, price: as for `best_plan`; they also decide between placements.
    progress: a callback that receives the value of the best plan so far and its upper bound.
    improved: a callback that receives the best placement so far and its plan.

    >>> from iacta.board import Board
    >>> from iacta.plan import TakeAll
    >>> board = Board.from_edges("pairs", [("A", "B"), ("C", "D")])
    >>> mine = {"A": ("red", 4), "C": ("red", 4)}
    >>> turn = Turn(Position(board, "red", mine, others=("blue", 2)), place=4)
    >>> found = reinforce(turn, TakeAll("B,D"))
    >>> found.placement, round(found.before.value, 4), round(found.plan.value, 4)
    ((('A', 2), ('C', 2)), 0.4303, 0.7917)
    """
    number = read_int(read_turn(turn).place, "new armies", minimum=1, maximum=MAX_PLACED_ARMIES)
    deadline, progress = Deadline.from_time_limit(time_limit), make_best_reporter(progress)
    before = find_plan(turn, goal, deadline.take_share(BEFORE_SHARE), progress)
    placements = _make_placements(turn, goal, number, deadline)
    some = placements.list_finalists(number)

    def combine(placement: Placement, plan: Plan) -> Reinforcement:
        return combine_plans(PlacedPlan(placement, plan, placements), before)

    report = None if improved is None else lambda *pair: improved(combine(*pair))
    chosen = _choose_placement(
        turn, goal, placements, some, deadline, progress, report, margin=margin, price=price
    )
    return combine(*chosen)


class PlacedPlan(NamedTuple):
    """A placement of new armies with the plan that follows.

    placement: pairs (territory, number of new armies), most armies first.
    plan: the plan after the placement.
    placements: the comparison of placements by quick estimates.
    """

    placement: Placement
    plan: Plan
    placements: "Placements"


def plan_with_new_armies(
    turn: Turn,
    goal: Goal,
    level: Level,
    deadline: Deadline,
    *,
    margin: float = MARGIN,
    price: float | None = None,
) -> PlacedPlan:
    """Choose a placement of the new armies and plan the attacks, with the work of a level.

    turn: the turn, with its new armies.
    deadline: when to stop searching. A search that finishes earlier is reproducible.
    margin, price: as for `best_plan`.
    """
    whole = deadline.disable_shares()
    states = SMALL_STATES if is_small(turn) else level.placement_states
    placements = _make_placements(turn, goal, turn.place, whole, states)
    few = placements.list_finalists(turn.place, level.finalists)
    chosen = _choose_placement(
        turn, goal, placements, few, whole, margin=margin, price=price, level=level
    )
    return PlacedPlan(*chosen, placements)


def combine_plans(placed: PlacedPlan, before: Plan) -> Reinforcement:
    """Return a placement with the plans before and after it, and the values of new armies.

    before: the plan without new armies.
    """
    placement, plan, placements = placed
    number = sum(armies for _, armies in placement)
    marginals = _list_marginals(placed, number, before)
    return Reinforcement(number, placement, plan, before, marginals, placements.has_tried_all)


def _list_marginals(placed: PlacedPlan, armies: int, before: Plan) -> tuple[Marginal, ...]:
    """Return the values of new armies on single territories, best first.

    Quick estimates compare the placements. They are scaled so that no new armies have the value of
    the plan `before`, and the best placement has the value of `plan`.
    """
    placement, plan, placements = placed
    none, most = placements.value(()), placements.value(placement)
    if before.value is None or plan.value is None or most - none < PLACEMENT_GAIN:
        return ()
    scale = max(plan.value - before.value, 0.0) / (most - none)
    first = before.value

    def scale_value(tried: Placement) -> float:
        return first + scale * max(placements.value(tried) - none, 0.0)

    marginals = [
        Marginal(name, scale_value(one), scale_value(all_there))
        for name in placements.places
        if placements.compute_rank(one := ((name, 1),)) is not None
        and placements.compute_rank(all_there := ((name, armies),)) is not None
    ]
    return tuple(sorted(marginals, key=lambda each: (-each.all, -each.one)))


def list_plans(
    turn: Turn,
    placements: Sequence[Placement],
    goal: Goal,
    deadline: Deadline,
    budget: float,
    known: Mapping[Placement, Found] = MappingProxyType({}),
    *,
    margin: float = 0.0,
    price: float | None = None,
) -> dict[Placement, Plan]:
    """Return a plan for each placement. If time is short, later placements are left out.

    budget: the search budget for each plan, relative to the default.
    known: solutions of the narrow problems after placements, if known.
    margin, price: as for `best_plan`.
    """
    plans = dict[Placement, Plan]()
    for placement in placements:
        if plans and deadline.is_over:
            break
        part = deadline.take_share(1 / (len(placements) - len(plans)))
        there = pose_problem(place_armies(turn, placement), goal)
        plans[placement] = plan_within(
            there, part, budget=budget, margin=margin, price=price, narrow=known.get(placement)
        )
    return plans


def rank_plans(plans: Mapping[Placement, Plan]) -> dict[Placement, Plan]:
    """Return placements with their plans, sorted from best to worst.

    Within the margin of the greatest value, the price of the lost armies decides. If there is no
    margin and the values are equal, the plan that loses the fewest armies comes first.
    """
    top = max(plans.values(), key=lambda plan: plan.comparable_value + plan.sacrifice)

    def make_sort_key(pair: tuple[Placement, Plan]) -> tuple[bool, float, float]:
        plan, value = pair[1], pair[1].comparable_value
        same = PLACEMENT_GAIN if plan.interval is top.interval is None else EQUAL
        is_top = value >= top.comparable_value + top.sacrifice - max(same, top.margin)
        left = sum(territory.expected_armies for territory in plan.territories)
        rank = value + top.price * left if top.price else left
        return is_top, rank if is_top else 0.0, value

    return dict(sorted(plans.items(), key=make_sort_key, reverse=True))


def reinforcements_needed(
    turn: Turn | Position, goal: Goal, chance: Chance, *, time_limit: float | None = None
) -> Reinforcement | None:
    """Return the fewest new armies with which a plan reaches a required chance.

    turn: the turn, as for `best_plan`; its own new armies are ignored.
    goal: `TakeAll`, `TakeAny` or `OwnAny`.
    chance: the required chance, between 0 and 1.
    time_limit: the maximum time in seconds; `None` for no limit.

    Return a `Reinforcement` without marginals, or `None` if the time is too short to find it. Its
    number of armies is 0 if no new armies are needed. With one army less, the search found no plan
    with that chance, although one may exist. If 1000 new armies are not enough, `IllegalError` is
    raised.

    >>> from iacta import TakeAll, Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:12")
    >>> reinforcements_needed(turn, TakeAll("Brazil"), chance=0.9).placement
    (('Peru', 11),)
    """
    start, wanted = read_turn(turn), read_chance(chance)
    if not isinstance(goal, Goal) or not goal.is_chance:
        raise IllegalError(f"goal must be TakeAll, TakeAny or OwnAny, got {quote(goal)}")
    deadline = Deadline.from_time_limit(time_limit)

    @cache
    def add_armies(number: int) -> tuple[Placements, list[Placement]]:
        if deadline.is_over:
            raise TimeoutError
        placements = _make_placements(start, goal, number, deadline)
        return placements, placements.list_finalists(number)

    @cache
    def find_best(armies: int) -> tuple[Placement, Plan]:
        return _choose_placement(start, goal, *add_armies(armies), deadline)

    def is_promising(armies: int) -> bool:
        found, some = add_armies(armies)
        return found.value(some[0]) >= wanted

    def count_armies() -> int:
        number = find_smallest(
            is_promising, FIRST_TRIED, step=FIRST_TRIED, maximum=MAX_PLACED_ARMIES
        )
        if number is None:
            raise IllegalError(f"{MAX_PLACED_ARMIES} new armies do not reach a chance of {chance}")
        while number < MAX_PLACED_ARMIES and find_best(number)[1].comparable_value < wanted:
            number += 1  # the plan is worse than the quick estimate
        while number > 1 and find_best(number - 1)[1].comparable_value >= wanted:
            number -= 1  # the plan is better than the quick estimate
        return number

    before = find_plan(start, goal, deadline.take_share(BEFORE_SHARE))
    try:
        fewest = count_armies() if before.comparable_value < wanted else 0
        placement, plan = find_best(fewest) if fewest else ((), before)
    except TimeoutError:
        return None
    return Reinforcement(fewest, placement, plan, before, ())


def _make_placements(
    turn: Turn, goal: Goal, armies: int, deadline: Deadline, states: int | None = None
) -> "Placements":
    """Return a comparison of placements of `armies` new armies.

    states: the maximum number of states in an exact search; `None` for the default.
    """
    if states is None:
        states = MANY_STATES if deadline.limited or is_small(turn) else USUAL.placement_states
    part = deadline.take_share(PLACEMENT_COMPARISON_SHARE)
    values = compute_quick_values(turn, goal, armies, part, states)
    return Placements(SearchState.from_turn(turn), values)


def _choose_placement(
    turn: Turn,
    goal: Goal,
    found: "Placements",
    finalists: Sequence[Placement],
    deadline: Deadline,
    progress: Progress | None = None,
    improved: Callable[[Placement, Plan], object] | None = None,
    *,
    margin: float = 0.0,
    price: float | None = None,
    level: Level | None = None,
) -> tuple[Placement, Plan]:
    """Choose the placement with the best plan; return the placement with a plan of full budget.

    turn: the turn before the placement.
    found: the placements.
    finalists: the best placements by quick estimates, sorted from best to worst.
    improved: a callback that receives the best placement so far and its plan.
    level: the amount of work; `None` for the work of the level `usual` and all the time that is
        left.
    """
    best, known, work = finalists[0], dict[Placement, Found](), level or USUAL
    if len(finalists) > 1:
        armies = sum(number for _, number in best)
        states = work.narrow_states
        if level is None:
            states = MANY_STATES if deadline.limited else MAX_STATES_BY_DEFAULT
        if states:
            comparison = _NarrowComparison(turn, armies, found.values.problem, states)
            known = comparison.compare(best, deadline.take_share(NARROW_SHARE))
        tried = [*dict.fromkeys([*rank_solutions(known)[:1], *finalists])]
        part = deadline.take_share(FINALIST_SHARE)
        plans = list_plans(
            turn, tried, goal, part, work.trial_budget, known, margin=margin, price=price
        )
        best = next(iter(rank_plans(plans)))
    report: Improved | None = None if improved is None else partial(improved, best)
    placed, narrow = place_armies(turn, best), known.get(best)
    if level is None:
        plan = find_plan(
            placed, goal, deadline, progress, report, narrow, margin=margin, price=price
        )
    else:
        problem = pose_problem(placed, goal)
        plan = plan_within(problem, deadline, budget=level.budget, margin=margin, price=price)
    return best, plan


class _NarrowComparison:
    """Compares placements by exact values of coarse narrow problems, which are lower bounds.

    turn: the turn before the placement.
    armies: the number of new armies.
    reinforced: the problem from `pose_reinforced_problem`.
    states: the maximum number of states in the search after each placement.
    """

    def __init__(self, turn: Turn, armies: int, reinforced: Problem, states: int) -> None:
        self.turn, self.armies, self.goal = turn, armies, reinforced.goal
        self.states = states
        narrow, start = reinforced.narrow(), SearchState.from_turn(turn)
        # Armies that an own territory needs to count for the goal leave nothing to compare.
        is_fit = narrow is not None and not reinforced.rewards.price
        is_fit = is_fit and not count_missing_armies(reinforced, start, armies)
        self.narrow = narrow if is_fit else None
        self.known = dict[Placement, Found]()

    def compare(self, first: Placement, deadline: Deadline) -> dict[Placement, Found]:
        """Return placements with solutions of their narrow problems, found by hill climbing.

        first: the placement that is solved first.

        The result is empty if the narrow problem of this placement is too large.
        """
        if self.narrow is None:
            return {}
        if self.narrow.field.bit_count() > LARGE:
            deadline = deadline.take_share(LARGE_EXACT_SHARE)
        if not self._solve([first], deadline.take_share(FIRST_SHARE)):
            return {}
        alone = {((self.narrow.name(t), self.armies),): t for t in bits(self.narrow.stacks)}
        self._solve([each for each in alone if each not in self.known], deadline)
        places = [each[0][0] for each in rank_solutions(self.known) if each in alone]
        step = max(self.armies // 2, 1)
        while self._improve(places, step, deadline) or step > 1:
            step = max(step // 2, 1)
        return self.known

    def _improve(self, places: Sequence[str], step: int, deadline: Deadline) -> bool:
        """Move `step` armies to another place until there is a better placement.

        places: the territories, the most promising first.

        The armies are moved from the best placement; single armies then from the others, too.
        Return whether there is a better placement.
        """
        ranked = rank_solutions(self.known)
        best, bases = ranked[0], ranked if step == 1 else ranked[:1]
        shifted = (list_shifted_placements(dict(base), places, step) for base in bases)
        moved = dict.fromkeys(chain.from_iterable(shifted))
        new = [each for each in moved if each not in self.known]
        for first in range(0, len(new), THREADS):
            if deadline.is_over or len(self.known) >= MAX_NARROW_PLACEMENTS:
                break
            self._solve(new[first : first + THREADS], deadline)
            if rank_solutions(self.known)[0] != best:
                return True
        return False

    def _solve(self, placements: Sequence[Placement], deadline: Deadline) -> bool:
        """Solve the narrow problems after placements; return whether all were small enough."""

        def solve(placement: Placement, part: Deadline) -> Found | None:
            narrow = pose_problem(place_armies(self.turn, placement), self.goal).narrow()
            if narrow is None:
                return None
            with suppress(TooLargeError):
                return solve_exactly(replace(narrow, is_coarse=True), part, self.states, part)
            return None

        solved = dict(run_in_threads(solve, placements, deadline.disable_shares()))
        self.known |= {each: found for each, found in solved.items() if found is not None}
        return all(each in self.known for each in placements)


def rank_solutions(solutions: Mapping[Placement, Found]) -> list[Placement]:
    """Return placements sorted from best to worst by the exact values of their solutions."""

    def make_sort_key(placement: Placement) -> tuple[float, int, Placement]:
        value = solutions[placement].value or 0.0
        return -round(value, PAYOFF_DIGITS), len(placement), placement

    return sorted(solutions, key=make_sort_key)


def find_plan(
    turn: Turn,
    goal: Goal,
    deadline: Deadline,
    progress: Progress | None = None,
    improved: Improved | None = None,
    narrow: Found | None = None,
    *,
    margin: float = 0.0,
    price: float | None = None,
) -> Plan:
    """Return the best plan, found with the default number of threads."""
    return plan_within(
        pose_problem(turn, goal),
        deadline,
        threads=count_default_threads(),
        margin=margin,
        price=price,
        narrow=narrow,
        progress=progress,
        improved=improved,
    )
