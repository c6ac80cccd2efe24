"""Quick comparisons of placements of new armies, for one turn and goal.

Imagine a problem in which every territory of the player gets all the new armies. Every placement
leads to a state of this problem, so a single search evaluates all placements. If there are few
states, the values are exact; otherwise they come from one step of lookahead.

If the values are exact and there are few placements, all placements are compared. Otherwise the
search first tries all new armies on one territory, then half of the armies on each of two
territories. It improves the best placement by moving armies between territories, many at a time at
first and one at a time at the end, as long as the value rises.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import NamedTuple, TypeAlias

from iacta.game import Turn
from iacta.native.bit_sets import bits, make_mask
from iacta.native.deadline import Deadline
from iacta.plan.goals import Goal, TakeWithArmies
from iacta.plan.levels import USUAL
from iacta.plan.own_any import choose_goal, count_missing_armies
from iacta.plan.planner import LARGE
from iacta.plan.policy import QUICK_STYLE
from iacta.plan.problem import Problem, SearchState, pose_problem
from iacta.plan.search import Search, Solution
from iacta.probability.estimate import MIN_GAMES, compute_half_width

PAYOFF_DIGITS = 9  # expected payoffs and losses are rounded to this many decimals before comparing
PLACEMENT_GAIN = 1e-9  # exact values that differ by less are treated as equal
MAX_PLACEMENTS = 2000  # if there are more placements, the search compares only promising ones
SMALL_BOARD = 7  # a board is small if at most this many territories have an owner
SMALL_PLACEMENTS = 100_000  # the value of `MAX_PLACEMENTS` on a small board
MAX_FLOW_STATES = 2_000  # games are simulated if a policy visits more states than this
PLACEMENT_GAMES = 64  # number of simulated games that estimate the value of a policy
SMALL_STATES = 300_000  # maximum number of states in an exact search on a small board, about 1 s
EXACT_SHARE = 0.5  # fraction of the remaining time for exact search while comparing placements
LARGE_EXACT_SHARE = 0.05  # the value of `EXACT_SHARE` if the field of the problem is large
SET_SHARE = 0.4  # fraction of the remaining time to choose the territories for an `OwnAny` goal
VALUE_SHARE = 0.5  # fraction of the remaining time for the exact value of a policy

# Pairs of the name of a territory and a number of new armies, most armies first.
Placement: TypeAlias = tuple[tuple[str, int], ...]


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
