"""Quick estimates of the chance to reach a goal with new armies, and upper bounds on it.

A quick estimate places the new armies (`iacta.plan.reinforcement`), plays a policy from there, and
computes an upper bound from a relaxed game. If at most seven territories have owners, exact search
compares up to 100,000 placements, and the chance is exact unless this search takes too long.

Some goals imply others: taking all of S implies taking every part of S, and any one territory of S.
If goal g implies goal h, then with the best placement and play for each goal,

    chance(g) ≤ chance(h).

Estimates may violate this inequality. They are made consistent: if g has the greater chance, h
adopts g's policy; if h has the smaller bound, g adopts h's bound.
"""

from collections.abc import Hashable, Iterable, Mapping
from math import inf
from typing import NamedTuple, TypeVar

from iacta.game import Turn
from iacta.native.bit_sets import make_mask
from iacta.native.deadline import Deadline
from iacta.plan.best import plan_within
from iacta.plan.goals import Goal, OwnAny, TakeAny, WinGame, make_owned_mask
from iacta.plan.problem import SearchState, pose_problem
from iacta.plan.reinforcement import (
    PLACEMENT_COMPARISON_SHARE,
    QUICK_STATES,
    Placement,
    Placements,
    compute_quick_values,
    is_small,
    place_armies,
    pose_reinforced_problem,
)
from iacta.plan.search import Search

SMALL_STATES = 300_000  # maximum number of states in an exact search on a small board, about 1 s
ESTIMATE_BUDGET = 0.05  # search budget of a plan that improves an estimate, relative to the default
MIN_GAP = 0.001  # a plan improves an estimate only if its upper bound exceeds it by more than this
BOUND_VALUES = 20_000  # maximum number of values to compute in a relaxed game, for an upper bound

Key = TypeVar("Key", bound=Hashable)


class QuickEstimate(NamedTuple):
    """A quick estimate of the chance to reach a goal with new armies."""

    chance: float  # the chance of success of the best play that was found
    # The 95% interval; `None` if the chance is exact or no play was evaluated.
    interval: tuple[float, float] | None
    at_most: float  # an upper bound on the chance of any placement and play
    placement: Placement  # the best placement of new armies that was found
    left: float = 0.0  # the mean number of the player's armies after the attacks
    is_tried: bool = True  # false if there was no time to evaluate any play; the chance is then 0

    @property
    def low(self) -> float:
        """The lower end of the 95% interval of the chance, or the chance if it is exact."""
        return self.chance if self.interval is None else self.interval[0]

    def cap(self, bound: float) -> "QuickEstimate":
        """Return a copy whose chance, interval and upper bound do not exceed the given bound."""
        if bound >= self.at_most:
            return self
        interval = self.interval and (min(self.interval[0], bound), min(self.interval[1], bound))
        return self._replace(chance=min(self.chance, bound), interval=interval, at_most=bound)


OUT_OF_REACH = QuickEstimate(0.0, None, 0.0, ())
NOT_TRIED = QuickEstimate(0.0, None, 1.0, (), is_tried=False)


def estimate_goal(turn: Turn, goal: Goal, deadline: Deadline) -> QuickEstimate:
    """Estimate the chance to reach a goal with the best placement of new armies.

    turn: the turn, with its new armies.
    deadline: when to stop searching. If it comes before any play is found, `is_tried` is false.
    """
    armies = turn.place
    problem = pose_reinforced_problem(turn, goal, armies)
    if problem.rewards.most <= 0.0:
        return OUT_OF_REACH
    states = SMALL_STATES if is_small(problem.turn) else QUICK_STATES
    part = deadline.take_share(PLACEMENT_COMPARISON_SHARE)
    values = compute_quick_values(turn, goal, armies, part, states)
    placements = Placements(SearchState.from_turn(turn), values)
    best = placements.rank_placements(armies)[0] if armies else ()
    played = values.play(placements.after(best), deadline.take_share(PLACEMENT_COMPARISON_SHARE))
    if values.proven and (placements.has_tried_all or not armies):
        chance = min(placements.value(best), 1.0)
        if played is None:
            return NOT_TRIED._replace(at_most=chance, placement=best)
        return QuickEstimate(chance, None, chance, best, played[2])
    at_most = min(next(Search(problem).bounds(deadline, BOUND_VALUES), 1.0), 1.0)
    if played is None:
        return NOT_TRIED._replace(at_most=at_most, placement=best)
    chance, interval, left = played
    # The mean of random games may by chance be greater than the upper bound, so limit it.
    return QuickEstimate(chance, interval, inf, best, left).cap(at_most)


def improve_estimate(
    turn: Turn, goal: Goal, estimate: QuickEstimate, deadline: Deadline
) -> QuickEstimate:
    """Search for a plan with the placement of an estimate; return the better of the two estimates.

    The maximum of two means from games is biased upwards. The plan therefore replaces an estimate
    from games unless the interval of the plan lies below the interval of the estimate.
    """
    if estimate.at_most - estimate.low <= MIN_GAP:
        return estimate
    problem = pose_problem(place_armies(turn, estimate.placement), goal)
    plan = plan_within(problem, deadline, budget=ESTIMATE_BUDGET)
    if plan.value is None:
        return estimate
    low, high = plan.interval or (plan.value, plan.value)
    if low <= estimate.chance if estimate.interval is None else high < estimate.low:
        return estimate
    at_most = max(estimate.at_most, plan.value)
    left = sum(territory.expected_armies for territory in plan.territories)
    return QuickEstimate(plan.value, plan.interval, at_most, estimate.placement, left)


class Conquest(NamedTuple):
    """The conquests that reach a goal: a number of territories from a set.

    among: the set of territories whose conquest may help.
    least: the goal cannot be reached with fewer conquests in this set.
    enough: the goal is always reached with this number of conquests in this set.
    """

    among: int
    least: int
    enough: float

    @classmethod
    def for_goal(cls, goal: Goal, turn: Turn) -> "Conquest":
        """Return the conquests that reach a `TakeAll`, `TakeAny`, `OwnAny` or `WinGame`.

        turn: the turn before the attacks.
        """
        others = make_mask(range(len(turn.owners))) & ~make_owned_mask(turn)
        if isinstance(goal, OwnAny):
            missing = goal.number - (len(turn.owners) - others.bit_count())
            # If each territory needs several armies, no number of conquests is required or enough.
            span = (missing, missing) if goal.armies == 1 else (0, inf)
            return cls(others, *span)
        if isinstance(goal, WinGame):
            # No number of conquests is enough, because it depends on the territories.
            owned = len(turn.owners) - others.bit_count()
            least = min(
                len(way.territories) or (way.number - owned if way.armies <= 1 else 0)
                for way in goal.ways
            )
            return cls(others, least, inf)
        names = goal.resolve_names(turn.board).names
        theirs = make_mask(map(turn.board.territories.index, names)) & others
        number = theirs.bit_count()
        least = min(number, 1) if isinstance(goal, TakeAny) else number
        return cls(theirs, least, least)

    def implies(self, other: "Conquest") -> bool:
        """Return whether reaching this goal always reaches the other goal, too.

        >>> both, first, any_of_three = (Conquest(0b11, 2, 2), Conquest(0b1, 1, 1),
        ...     Conquest(0b111, 1, 1))
        >>> both.implies(first), first.implies(any_of_three), any_of_three.implies(first)
        (True, True, False)
        >>> Conquest(0b11, 2, 2).implies(Conquest(0b111, 2, 2))
        True
        """
        outside = (self.among & ~other.among).bit_count()
        return self.least - outside >= other.enough or not other.enough


def list_implied(conquests: Mapping[Key, Conquest]) -> dict[Key, list[Key]]:
    """Return, for the key of each goal, the keys of the other goals that it implies."""
    return {
        key: [name for name, other in conquests.items() if name != key and one.implies(other)]
        for key, one in conquests.items()
    }


def order_estimates(
    estimates: Mapping[Key, QuickEstimate], implied: Mapping[Key, Iterable[Key]]
) -> dict[Key, QuickEstimate]:
    """Make estimates consistent: no goal has a greater chance than a goal that it implies.

    estimates: the estimate for each goal.
    implied: for each goal, the goals that it implies, with or without an estimate.
    """
    bounded = {}
    for key, estimate in estimates.items():
        bounds = (estimates[name].at_most for name in implied[key] if name in estimates)
        bounded[key] = estimate.cap(min(bounds, default=inf))
    ordered = dict(bounded)
    for key, estimate in bounded.items():
        for name in implied[key]:
            if name in ordered and estimate.chance > ordered[name].chance:
                ordered[name] = estimate._replace(
                    at_most=max(ordered[name].at_most, estimate.chance)
                )
    return ordered
