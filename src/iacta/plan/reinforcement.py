"""New armies: where to place them before the first attack, and the plan that follows.

Imagine a problem in which every territory of the player gets all the new armies. Every placement
leads to a state of this problem, so a single search evaluates all placements. If there are few
states, the values are exact; otherwise they come from one step of lookahead.

If the values are exact and there are few placements, all placements are compared, and the best
placement is proven. Otherwise the search first tries all new armies on one territory, then half of
the armies on each of two territories. It improves the best placement by moving armies between
territories, many at a time at first and one at a time at the end, as long as the value rises. The
same search compares placements in the narrow problem (`Problem.narrow`), by exact values of a
coarse version. Plans with a small budget then decide between the best few placements, and the
winner gets a full plan.

If placements have equal values, the placement that leaves more armies is better, then the placement
that needs fewer rolls.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, combinations, combinations_with_replacement
from math import comb
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from iacta.board import Position
from iacta.game import Turn
from iacta.inputs.checks import quote, read_int, read_list
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.inputs.reprs import DisplayMixin
from iacta.native.bit_sets import bits, make_mask
from iacta.native.deadline import THREADS, Deadline, run_in_threads
from iacta.odds.search import find_smallest
from iacta.plan.best import (
    Improved,
    Progress,
    count_default_threads,
    make_best_reporter,
    plan_within,
)
from iacta.plan.goals import Goal, TakeWithArmies
from iacta.plan.levels import USUAL, Level
from iacta.plan.margin import MARGIN
from iacta.plan.own_any import choose_goal, count_missing_armies
from iacta.plan.plan import Plan
from iacta.plan.planner import EQUAL, LARGE, Found, solve_exactly
from iacta.plan.policy import MAX_STATES_BY_DEFAULT, QUICK_STYLE
from iacta.plan.problem import Problem, SearchState, pose_problem, read_turn
from iacta.plan.search import Search, Solution
from iacta.probability.chances import Chance, read_chance
from iacta.probability.estimate import MIN_GAMES, compute_half_width

MAX_PLACED_ARMIES = 1000  # maximum number of new armies
FIRST_TRIED = 8
FINALIST_SHARE = 0.3  # fraction of the remaining time for the plans of the finalists
PAYOFF_DIGITS = 9  # expected payoffs and losses are rounded to this many decimals before comparing
PLACEMENT_GAIN = 1e-9  # exact values that differ by less are treated as equal
MAX_PLACEMENTS = 2000  # if there are more placements, the search compares only promising ones
SMALL_BOARD = 7  # a board is small if at most this many territories have an owner
SMALL_PLACEMENTS = 100_000  # the value of `MAX_PLACEMENTS` on a small board
MAX_FLOW_STATES = 2_000  # games are simulated if a policy visits more states than this
PLACEMENT_GAMES = 64  # number of simulated games that estimate the value of a policy
SMALL_STATES = 300_000  # maximum number of states in an exact search on a small board, about 1 s
MANY_STATES = 10**6  # the same in `reinforce`, and on other boards if there is a time limit
BEFORE_SHARE = 0.05  # fraction of the remaining time for the plan without new armies
PLACEMENT_COMPARISON_SHARE = 0.5  # fraction of the remaining time for comparing placements
EXACT_SHARE = 0.5  # fraction of the remaining time for exact search while comparing placements
LARGE_EXACT_SHARE = 0.05  # the value of `EXACT_SHARE` if the field of the problem is large
NARROW_SHARE = 0.75  # fraction of the remaining time for comparing placements in the narrow problem
FIRST_SHARE = 0.25  # fraction of the time for the narrow problem, for its first placement
MAX_NARROW_PLACEMENTS = 12  # hill climbing in the narrow problem stops at this many placements
SET_SHARE = 0.4  # fraction of the remaining time to choose the territories for an `OwnAny` goal
VALUE_SHARE = 0.5  # fraction of the remaining time for the exact value of a policy

# Pairs of the name of a territory and a number of new armies, most armies first.
Placement: TypeAlias = tuple[tuple[str, int], ...]


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


class QuickValues:
    """Quick estimates of the values of states in a problem.

    The values are exact until the search grows too large or takes too long, and lookahead estimates
    from then on.

    deadline: when to stop searching. Exact search may use only a fraction of this time.
    states: the maximum number of states in an exact search; 0 for lookahead only.
    """

    def __init__(self, problem: Problem, deadline: Deadline, states: int) -> None:
        self.problem, self.deadline = problem, deadline
        self.proven = states > 0  # whether all values found so far are exact
        is_large = problem.field.bit_count() > LARGE
        share = LARGE_EXACT_SHARE if is_large else EXACT_SHARE
        self._exact, self._states = deadline.take_share(share), states
        self._search = _make_search(problem)
        self._known: dict[SearchState, Solution] = {}

    def find(self, state: SearchState) -> Solution | None:
        """Return the expected payoff and the expected losses (cost) of play from a state.

        The cost is 0 if the payoff is a lookahead estimate. The result is `None` if the deadline
        comes before the payoff is known.
        """
        if state in self._known:
            return self._known[state]
        found = None
        if self.proven:
            found = self._search.solve(self._exact, self._states, state, is_short=True)
        if self.proven and found is None:
            self._known.clear()
            self._search, self.proven = _make_search(self.problem), False
        if found is None and not self.deadline.is_over:
            value = self._search.compute_state_value(state, self.deadline)
            found = None if value is None else Solution(value, 0.0)
        if found is not None:
            self._known[state] = found
        return found

    def play(
        self, state: SearchState, deadline: Deadline
    ) -> tuple[float, tuple[float, float] | None, float] | None:
        """Evaluate the quick policy from a state: value, 95% interval, and mean armies left.

        The interval is `None` if the value is exact. The result is `None` if there is not enough
        time.
        """
        self.find(state)
        if deadline.is_over:
            return None
        part = deadline.take_share(VALUE_SHARE)
        report, interval = self._search.flow(part, MAX_FLOW_STATES, state), None
        value = 0.0 if report is None else report.value
        if report is None:
            gains, report = self._search.play(deadline, PLACEMENT_GAMES, start=state)
            if len(gains) < MIN_GAMES:
                return None
            value, half = max(float(gains.mean()), 0.0), compute_half_width(gains)
            interval = max(value - half, 0.0), value + half
        touched = self.problem.field | self.problem.stacks
        idle = sum(state.armies[t] for t in bits(state.owned & ~touched))
        return value, interval, idle + sum(report.armies[t] for t in bits(touched))


def _make_search(problem: Problem) -> Search:
    """Return a search that plays by lookahead without an assignment of targets to stacks.

    Its values can be compared between positions, because they depend on no assignment.
    """
    search = Search(problem)
    search.follow(None, QUICK_STYLE)
    return search


def pose_reinforced_problem(turn: Turn, goal: Goal, new: int) -> Problem:
    """Return the problem in which every territory of the player has `new` new armies."""
    pairs = zip(turn.owners, turn.armies, strict=True)
    armies = tuple(number + new * (owner == turn.player) for owner, number in pairs)
    return pose_problem(turn.replace_armies(turn.owners, armies), goal, new)


def compute_quick_values(
    turn: Turn, goal: Goal, armies: int, deadline: Deadline, states: int
) -> QuickValues:
    """Return quick estimates of values for a goal.

    For an `OwnAny` or a `WinGame` that exact search cannot solve, the goal is replaced by the goal
    to take the best territories that are found, if any.

    turn: the turn before the placement.
    armies: the number of new armies.
    deadline, states: as for `QuickValues`.
    """
    problem = pose_reinforced_problem(turn, goal, armies)
    values = QuickValues(problem, deadline, states)
    if not problem.rewards.ways:
        return values
    start = SearchState.from_turn(turn)
    # Try exact search in two states. One state is not enough: in `problem.start`, the new armies
    # may reach the goal without an attack.
    for state in (problem.start, start):
        values.find(state)
    if values.proven:
        return values
    part = deadline.take_share(SET_SHARE)
    chosen = choose_goal(problem, start, armies, part)
    return values if chosen is None else QuickValues(replace(problem, goal=chosen), deadline, 0)


def is_small(turn: Turn) -> bool:
    """Return whether the board is small: at most `SMALL_BOARD` territories have an owner."""
    return sum(map(bool, turn.owners)) <= SMALL_BOARD


class Rank(NamedTuple):
    """The rank of a placement of new armies, by value, then by losses; greater is better."""

    value: float  # the expected payoff of the play after the placement
    saved: float  # minus the expected losses of this play; 0 if the value is an estimate


class Placements:
    """Compares placements of new armies by quick estimates of their values.

    start: the state before the new armies are placed.
    values: the values for a problem from `pose_reinforced_problem` that contains the start state.
        Their deadline also limits the comparison.
    """

    def __init__(self, start: SearchState, values: QuickValues) -> None:
        self.start, self.values = start, values
        problem = values.problem
        distances = _count_attacks_to_goal(problem)
        # The territories where new armies may help: nearest to the goal first, and among equally
        # near territories, most armies first.
        self.places = tuple(
            problem.name(v)
            for v in sorted(
                bits(start.owned & ~problem.immobile),
                key=lambda v: (distances[v], -start.armies[v]),
            )
            if problem.out[v] & problem.field & ~start.owned
        )
        # The other own territories that have too few armies to count for the goal.
        least = max(problem.rewards.armies, 1)
        self._weak = tuple(
            name
            for v in bits(start.owned)
            if start.armies[v] < least and (name := problem.name(v)) not in self.places
        )
        # Whether `rank_placements`, when last called, compared all placements by exact search.
        self.has_tried_all = False

    def value(self, placement: Placement) -> float:
        """Return the value of a placement.

        If the deadline comes before the value is known, the result is the value if nobody attacks.
        """
        problem, state = self.values.problem, self.after(placement)
        found = self.values.find(state)
        if self._has_too_few_armies(state):
            return 0.0
        paid = 0.0 if found is None else min(found.value, problem.rewards.most)
        return paid + problem.sum_payoffs(state) + problem.held

    def compute_rank(self, placement: Placement) -> Rank | None:
        """Return the rank of a placement; `None` if the deadline comes before it is known."""
        state = self.after(placement)
        found = self.values.find(state)
        if found is None:
            return None
        if self._has_too_few_armies(state):
            return Rank(0.0, 0.0)
        value = found.value + self.values.problem.sum_payoffs(state)
        return Rank(round(value, PAYOFF_DIGITS), -round(found.cost, PAYOFF_DIGITS))

    def _has_too_few_armies(self, state: SearchState) -> bool:
        """Return whether own territories have fewer armies than the goal requires."""
        goal = self.values.problem.goal
        return isinstance(goal, TakeWithArmies) and bool(
            count_missing_armies(self.values.problem, state, 0)
        )

    def after(self, placement: Placement) -> SearchState:
        """Return the state after a placement of new armies."""
        return self.start.add_armies({self.values.problem.place(name): n for name, n in placement})

    def rank_placements(self, armies: int) -> list[Placement]:
        """Return placements of `armies` new armies, sorted from best to worst.

        The list may lack some placements, but has at least one placement even if there is no time
        to compare any.
        """
        self.has_tried_all = False
        problem = self.values.problem
        missing = {} if self.values.proven else count_missing_armies(problem, self.start, armies)
        if missing and sum(missing.values()) <= armies:
            rest = Placements(self.start.add_armies(missing), self.values)
            first = {problem.name(t): number for t, number in missing.items()}
            left = rest.rank_placements(armies - sum(missing.values()))
            return [sort_placement(Counter(first) + Counter(dict(each))) for each in left]
        limit = SMALL_PLACEMENTS if is_small(problem.turn) else MAX_PLACEMENTS
        places = *self.places, *self._weak
        number = comb(armies + len(places) - 1, armies) if places else 0
        can_try_all = 0 < number <= limit and self.values.proven
        if not self.places and not can_try_all:
            most = max(bits(self.start.owned), key=lambda v: self.start.armies[v])
            return [((self.values.problem.name(most), armies),) if armies else ()]
        ranks = dict[Placement, Rank]()
        if can_try_all:
            for row in combinations_with_replacement(places, armies):
                if not self._rank(sort_placement(Counter(row)), ranks) or not self.values.proven:
                    break
            self.has_tried_all = self.values.proven
        if not self.has_tried_all and self.places:
            ranks = self._rank_promising_placements(armies)
        alone = ((places[0], armies),) if armies else ()
        return sorted(ranks, key=lambda each: (*ranks[each], -len(each)), reverse=True) or [alone]

    def list_finalists(self, armies: int, number: int = USUAL.finalists) -> list[Placement]:
        """Return the best placements to compare by plans; only one if all have been compared.

        number: the maximum number of placements.
        """
        ranked = self.rank_placements(armies)
        return ranked[: 1 if self.has_tried_all else number]

    def _rank(self, placement: Placement, ranks: dict[Placement, Rank]) -> bool:
        """Add the rank of a placement to `ranks`; return `False` after the deadline."""
        if placement not in ranks:
            rank = self.compute_rank(placement)
            if rank is None:
                return False
            ranks[placement] = rank
        return True

    def _rank_promising_placements(self, armies: int) -> dict[Placement, Rank]:
        """Rank promising placements, found by hill climbing.

        This is used unless all placements can be compared by exact search.
        """
        was_proven = self.values.proven
        ranks = self._compute_ranks(armies)
        # If the values changed from exact to estimated in between, they are not comparable.
        return self._compute_ranks(armies) if was_proven and not self.values.proven else ranks

    @property
    def _most(self) -> float:
        """The largest possible payoff."""
        return self.values.problem.rewards.most

    def _compute_ranks(self, armies: int) -> dict[Placement, Rank]:
        ranks = dict[Placement, Rank]()
        none, alone = self.compute_rank(()), dict[str, Placement]()
        for place in self.places:
            alone[place] = ((place, armies),) if armies else ()
            if not self._rank(alone[place], ranks):
                return ranks
        least = PLACEMENT_GAIN if none is None else none.value + PLACEMENT_GAIN
        places = [each for each in alone if ranks[alone[each]].value > least] or [*self.places]
        first = max(alone, key=lambda each: ranks[alone[each]])
        for place in self.places if armies > 1 else ():
            # Some territories help only if the best territory gets armies, too: try half on each.
            pair = sort_placement({first: armies - armies // 2, place: armies // 2})
            if place in places or ranks[alone[first]].value > self._most - PLACEMENT_GAIN:
                continue
            if not self._rank(pair, ranks):
                return ranks
            if ranks[pair] > ranks[alone[first]]:
                places.append(place)
        for one, other in combinations(places, 2):
            pair = sort_placement({one: armies - armies // 2, other: armies // 2})
            if armies > 1 and not self._rank(pair, ranks):
                return ranks
        best, step = max(ranks, key=lambda each: ranks[each]), max(armies // 2, 1)
        while step:
            moved = [*list_shifted_placements(dict(best), places, step)]
            if not all(self._rank(each, ranks) for each in moved):
                return ranks
            better = max(moved, key=lambda each: ranks[each], default=best)
            if ranks[better] > ranks[best]:
                best = better
            else:
                step //= 2
        return ranks


def _count_attacks_to_goal(problem: Problem) -> dict[int, int]:
    """Return the number of attacks from each territory to the nearest target of the goal.

    The distance is 0 if no attacks lead from the territory to a target. All distances are 0 if the
    goal names no territories, such as `Worth`, or only territories that the player owns.
    """
    wanted = make_mask(map(problem.place, problem.goal.names)) & ~problem.owned
    wanted |= make_mask(t for way in problem.rewards.ways for t in bits(way.lands))
    found, near = dict.fromkeys(range(len(problem.out)), 0), wanted
    if not wanted:
        return found
    seen, distance = wanted, 0
    while near := make_mask(v for v, out in enumerate(problem.out) if out & near) & ~seen:
        distance += 1
        seen |= near
        found |= dict.fromkeys(bits(near), distance)
    return found


def list_shifted_placements(
    placement: Mapping[str, int], places: Iterable[str], step: int
) -> Iterator[Placement]:
    for start, there in placement.items():
        for to in places:
            if to != start and there >= step:
                changed = {**placement, start: there - step}
                changed[to] = changed.get(to, 0) + step
                yield sort_placement({name: number for name, number in changed.items() if number})


def sort_placement(placement: Mapping[str, int]) -> Placement:
    return tuple(sorted(placement.items(), key=lambda pair: (-pair[1], pair[0])))
