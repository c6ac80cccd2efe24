"""Choose the territories to take for an `OwnAny` or a `WinGame`, if exact play is too large.

If the player needs n more territories, and S ranges over the sets of n territories, then

    max_S V(take all of S) ≤ V(own any n more) ≤ V(take any territory).

The search builds sets of n territories one territory at a time: it starts at the border of all
territories of the player, or of a single territory, and always adds the neighbour with the fewest
armies. Then it improves the best set by exchanging single territories, as long as the value of a
lookahead policy rises.

If each territory needs several armies, new armies are first placed on the player's own territories
that need the fewest more armies, because this costs less than a conquest.

Of several ways to win, each way that counts territories is replaced by the territories chosen for
it. Lookahead then plays for all these sets, of which one is enough.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from heapq import heappop, heappush
from itertools import chain, combinations
from math import comb
from typing import TypeAlias, cast

from iacta.game.victory import WayToWin
from iacta.native.bit_sets import bits, make_mask
from iacta.native.deadline import Deadline
from iacta.plan.goals import Goal, OwnAny, TakeAll, TakeAny, TakeWithArmies, WinGame
from iacta.plan.problem import Problem, SearchState
from iacta.plan.search import Search, Style

MAX_SETS = 6  # maximum number of sets with which the search starts
MAX_VALUED_SETS = 24  # maximum number of sets whose value the search computes
MAX_PLACES = 4  # maximum number of territories on which all new armies are tried

MAX_LOOKAHEAD_WAYS = 8  # maximum number of ways to win for which lookahead plays
MAX_TARGETS = 20  # a way to win with more territories to take is left to exact play

Conquest: TypeAlias = TakeAll | TakeAny


def choose_goal(
    problem: Problem, start: SearchState, new: int, deadline: Deadline
) -> Conquest | WinGame | None:
    """Return a goal that names territories, to play for an `OwnAny` or a `WinGame` by lookahead.

    Every play that reaches the result reaches the goal of the problem. The result is `None` if the
    search finds no territories, or if the goal already names all territories.

    problem, start, new, deadline: as for `choose_territories`.
    """
    goal = problem.goal
    if isinstance(goal, OwnAny):
        return choose_territories(problem, start, new, deadline)
    if not isinstance(goal, WinGame):
        return None
    reachable = start.owned | problem.field
    sets, counted = list[tuple[str, ...]](), list[Conquest]()
    for left, way in zip(range(len(goal.ways), 0, -1), goal.ways, strict=True):
        if not way.number:
            missing = make_mask(map(problem.place, way.territories)) & ~start.owned
            if not missing & ~reachable and missing.bit_count() <= MAX_TARGETS:
                sets.append(way.territories)
            continue
        own = replace(problem, goal=OwnAny(way.number, max(way.armies, 1)))
        territories = choose_territories(own, start, new, deadline.take_share(1 / left))
        if isinstance(territories, TakeAny):
            return territories  # one conquest is enough, and no other way needs fewer
        if territories is not None:
            counted.append(territories)
    return _choose_way(problem, start, new, sets, counted, deadline)


def _choose_way(
    problem: Problem,
    start: SearchState,
    new: int,
    sets: list[tuple[str, ...]],
    counted: list[Conquest],
    deadline: Deadline,
) -> Conquest | WinGame | None:
    """Return the goal with the greatest value: take any one of some sets, or a goal in `counted`.

    The result is `None` if there is no goal, or if it is the goal of the problem.

    sets: the territories of each way to win that names its territories.
    counted: the goals chosen for the ways to win that count territories.
    """
    sets += [each.names for each in counted if not isinstance(each, TakeWithArmies)]
    if len(sets) > MAX_LOOKAHEAD_WAYS:
        values = dict[tuple[str, ...], float]()
        for names in sets:  # the fewest defenders first
            if values and deadline.is_over:
                break
            values[names] = _compute_best_value(problem, names, start, new, deadline)
        sets = sorted(values, key=lambda names: values[names], reverse=True)[:MAX_LOOKAHEAD_WAYS]
    goals: list[Conquest | WinGame] = [each for each in counted if isinstance(each, TakeWithArmies)]
    if sets:
        goals.append(WinGame(tuple(map(WayToWin, sets))) if len(sets) > 1 else TakeAll(sets[0]))
    if goals == [problem.goal]:
        return None
    if len(goals) < 2:
        return goals[0] if goals else None
    return max(goals, key=lambda each: _compute_goal_value(problem, each, start, new, deadline))


def _compute_best_value(
    problem: Problem, names: tuple[str, ...], start: SearchState, new: int, deadline: Deadline
) -> float:
    return _compute_goal_value(problem, TakeAll(names), start, new, deadline)


def choose_territories(
    problem: Problem, start: SearchState, new: int, deadline: Deadline
) -> Conquest | None:
    """Return the goal to take the best set of territories that a search finds for an `OwnAny`.

    The result is `None` if the search finds no set that reaches the goal, if no more territories
    are needed, or if each territory needs several armies and some battles are fought to the end.

    problem: the problem with an `OwnAny` goal, in which each own territory has all new armies.
    start: the state before the new armies are placed.
    new: the number of new armies.
    deadline: when to stop searching.
    """
    assert isinstance(problem.goal, OwnAny)  # noqa: S101 # the caller checks it
    missing = count_missing_armies(problem, start, new)
    start, new = start.add_armies(missing), new - sum(missing.values())
    need = problem.goal.number - problem.goal.count_held(start.owned, start.armies)
    others = [*bits(problem.field)]
    # A battle to the end may leave a conquered territory with too few armies.
    has_whole_battles = any(map(problem.turn.setting.has_whole_battles, others))
    if not 1 <= need <= len(others) or (problem.goal.armies > 1 and has_whole_battles):
        return None
    if need == 1 and problem.goal.armies < 2:
        return TakeAny(tuple(map(problem.name, others)))
    search = _SetSearch(problem, start, new, deadline)
    found = search.improve_best_set(search.list_sets(others, need))
    return None if found is None else search.make_goal(found)


def count_missing_armies(
    problem: Problem, start: SearchState, new_armies: int
) -> Mapping[int, int]:
    """Return the number of new armies that some own territories still need to count for the goal.

    For an `OwnAny`, these are the territories that need the fewest, as long as the goal needs more
    territories and there are enough new armies. The result is empty if the goal does not require a
    minimum number of armies.

    problem: the problem with the goal.
    start: the state before the new armies are placed.
    new_armies: the number of new armies.
    """
    goal, missing = problem.goal, dict[int, int]()
    if isinstance(goal, TakeWithArmies):
        lacking = ((goal.armies - start.armies[t], t) for t in map(problem.place, goal.kept))
        return {t: number for number, t in lacking if number > 0}
    if not isinstance(goal, OwnAny):
        return missing
    need = goal.number - goal.count_held(start.owned, start.armies)
    for number, t in sorted((goal.armies - start.armies[t], t) for t in bits(start.owned)):
        if number > 0 and len(missing) < need and number <= new_armies - sum(missing.values()):
            missing[t] = number
    return missing


class _SetSearch:
    """The search for the best set of territories to take."""

    def __init__(self, problem: Problem, start: SearchState, new: int, deadline: Deadline) -> None:
        self.problem, self.start, self.new, self.deadline = problem, start, new, deadline
        self.known = dict[int, float]()

    def make_goal(self, chosen: int) -> TakeAll:
        goal, name = cast(OwnAny, self.problem.goal), self.problem.name
        names = tuple(map(name, bits(chosen)))
        if goal.armies < 2:
            return TakeAll(names)
        kept = (t for t in bits(self.start.owned) if self.start.armies[t] >= goal.armies)
        return TakeWithArmies(names, kept=tuple(map(name, kept)), armies=goal.armies)

    def list_sets(self, others: list[int], need: int) -> list[int]:
        """Return the sets of `need` territories with which the search starts."""
        if comb(len(others), need) <= MAX_SETS:
            return [*map(make_mask, combinations(others, need))]
        owned, grown = self.start.owned, set[int]()
        for start in (owned, *(1 << t for t in bits(owned))):
            if grown and self.deadline.is_over:
                break
            grown.add(self._grow(start, need))
        whole = (each for each in grown if each.bit_count() == need)
        return sorted(whole, key=lambda each: (self._count_armies(each), each))[:MAX_SETS]

    def _grow(self, start: int, need: int) -> int:
        """Return a set of at most `need` targets near `start`.

        Each step adds the neighbour with the fewest armies.
        """
        problem, seen = self.problem, 0
        nearest = list[tuple[int, int]]()  # a heap of the armies and the indices of neighbours

        def add_neighbours(v: int) -> None:
            nonlocal seen
            for t in bits(problem.out[v] & problem.field & ~seen):
                heappush(nearest, (self.start.armies[t], t))
            seen |= problem.out[v]

        for v in bits(start & ~problem.immobile):
            add_neighbours(v)
        found = 0
        for _ in range(need):
            if not nearest:
                break
            best = heappop(nearest)[1]
            found |= 1 << best
            add_neighbours(best)
        return found

    def _count_armies(self, chosen: int) -> int:
        return sum(self.start.armies[t] for t in bits(chosen))

    def improve_best_set(self, sets: Iterable[int]) -> int | None:
        """Improve the best of some sets by exchanging single territories, and return the result."""
        best: int | None = None
        for chosen in sets:
            if best is not None and self.deadline.is_over:
                break
            if best is None or self._compute_value(chosen) > self._compute_value(best):
                best = chosen
        is_better = best is not None
        while is_better:
            is_better = False
            for chosen in self._exchange(best or 0):
                if len(self.known) >= MAX_VALUED_SETS or self.deadline.is_over:
                    return best
                if self._compute_value(chosen) > self._compute_value(best or 0):
                    best, is_better = chosen, True
        return best

    def _exchange(self, chosen: int) -> Iterator[int]:
        """Yield sets with one territory of `chosen` replaced, fewest defenders first.

        There may be more sets than the search can value, which are left out.
        """
        problem, armies, beside = self.problem, self.start.armies, 0
        for v in bits(self.start.owned | chosen):
            beside |= problem.out[v]
        olds = sorted(bits(chosen), key=lambda t: -armies[t])
        news = sorted(bits(beside & problem.field & ~chosen), key=lambda t: armies[t])
        # The exchanges that save most armies are exchanges of the first territories of both lists.
        # Sets that have a value already are not valued again.
        most = 2 * MAX_VALUED_SETS
        changes = sorted(armies[new] - armies[old] for old in olds[:most] for new in news[:most])
        largest = changes[:most][-1] if changes else 0
        pairs = list[tuple[int, int]]()
        for old in olds:
            for new in news:
                if (change := armies[new] - armies[old]) > largest:
                    break
                pairs.append((change, chosen & ~(1 << old) | 1 << new))
        for _, exchanged in sorted(pairs):
            yield exchanged

    def _compute_value(self, chosen: int) -> float:
        """Return a lookahead estimate of the chance to take a set of territories.

        All new armies are placed on one territory, the best of several that are tried.
        """
        if chosen not in self.known:
            goal = self.make_goal(chosen)
            self.known[chosen] = _compute_goal_value(
                self.problem, goal, self.start, self.new, self.deadline
            )
        return self.known[chosen]


def _compute_goal_value(
    problem: Problem, goal: Goal, start: SearchState, new: int, deadline: Deadline
) -> float:
    """Return a lookahead estimate of the chance to reach a goal that names territories.

    All new armies are placed on one territory, the best of several that are tried.
    """
    posed = replace(problem, goal=goal)
    search, value = Search(posed, deadline), 0.0
    search.follow(None, Style(idle=0.0))
    rewards = goal.rewards(problem.board, start.owned)
    masks = *(mask for mask, _ in rewards.sets), *(way.lands for way in rewards.ways)
    for state in _list_states(posed, start, new, make_mask(chain(*map(bits, masks)))):
        value = max(value, search.compute_state_value(state, deadline) or 0.0)
    return value


def _list_states(
    problem: Problem, start: SearchState, new: int, targets: int
) -> Iterator[SearchState]:
    """Yield the states after all new armies are placed on one of the largest stacks by a target."""
    if not new:
        yield start
        return
    near = [v for v in bits(start.owned & ~problem.immobile) if problem.out[v] & targets]
    for v in sorted(near, key=lambda v: -start.armies[v])[:MAX_PLACES]:
        yield start.add_armies({v: new})
