"""Quick looks: the chance of each of several goals, with new armies, and bounds on it.

A quick look places the new armies (`iacta.plan.reinforcement`), plays a policy from there, and
bounds all play by a relaxed game. On a board of up to seven territories it compares all
placements, each with the best play, as long as there are at most 100,000 placements; then the
chance is exact.

Goals imply each other: a player who takes all of S takes each part of S, and any territory of S.
If a goal g implies a goal h, then, for the best placement and play,

    chance(g) ≤ chance(h).

Estimates do not keep that order by themselves. So h adopts the policy of g where the chance of g is
greater, and g the bound of h where that is less.
"""

from collections.abc import Hashable, Iterable, Mapping
from math import inf
from typing import NamedTuple, TypeVar

from iacta.board import Position
from iacta.native.bit_sets import make_mask
from iacta.native.deadline import Deadline
from iacta.plan.best import plan_within
from iacta.plan.goals import Goal, TakeAny
from iacta.plan.problem import TurnState, read_problem
from iacta.plan.reinforcement import (
    COMPARED,
    QUICK_STATES,
    Placement,
    Placements,
    PlanOptions,
    QuickValues,
    everywhere,
    is_small,
    placed,
)
from iacta.plan.search import Search

SMALL_STATES = 300_000  # the most states for the best play on a small board: about a second
LOOK_BUDGET = 0.05  # work for the plan after a quick look, in default amounts
NEAR = 0.001  # a gap below it needs no plan
BOUND_VALUES = 20_000  # number of relaxed values for one bound

Key = TypeVar("Key", bound=Hashable)


class Look(NamedTuple):
    """The result of a quick look at a goal."""

    chance: float  # that of the play that was found
    interval: tuple[float, float] | None  # at 95%, where it is estimated from games
    at_most: float  # no play has a greater chance, wherever the new armies are placed
    placement: Placement  # of the new armies
    left: float = 0.0  # the player's armies after the attacks, on average
    is_tried: bool = True  # whether there was time for any play; else the chance is 0

    @property
    def low(self) -> float:
        """The lower end of the interval of the chance."""
        return self.chance if self.interval is None else self.interval[0]

    def below(self, bound: float) -> "Look":
        """Return the same look where no play has a greater chance than a bound."""
        if bound >= self.at_most:
            return self
        interval = self.interval and (min(self.interval[0], bound), min(self.interval[1], bound))
        return self._replace(chance=min(self.chance, bound), interval=interval, at_most=bound)


OUT_OF_REACH = Look(0.0, None, 0.0, ())
NOT_TRIED = Look(0.0, None, 1.0, (), is_tried=False)


def quick_look(
    position: Position, goal: Goal, armies: int, options: PlanOptions, deadline: Deadline
) -> Look:
    """Return the chance of a goal at a first look, the new armies placed best.

    position: who holds what before they are placed.
    armies: how many new armies there are.
    deadline: when the look must end; a look without time for any play is not tried.
    """
    problem = everywhere(position, goal, armies, options)
    if problem.rewards.most <= 0.0:
        return OUT_OF_REACH
    states = SMALL_STATES if is_small(problem.turn) else QUICK_STATES
    values = QuickValues(problem, deadline.take_share(COMPARED), states)
    placements = Placements(TurnState.from_position(position), values)
    best = placements.compared(armies)[0] if armies else ()
    played = values.play(placements.after(best), deadline.take_share(COMPARED))
    if values.proven and (placements.has_tried_all or not armies):
        chance = min(placements.value(best), 1.0)
        if played is None:
            return NOT_TRIED._replace(at_most=chance, placement=best)
        return Look(chance, None, chance, best, played[2])
    at_most = min(next(Search(problem).bounds(deadline, BOUND_VALUES), 1.0), 1.0)
    if played is None:
        return NOT_TRIED._replace(at_most=at_most, placement=best)
    chance, interval, left = played
    # The mean of the games is subject to luck, so it may exceed the bound.
    return Look(chance, interval, inf, best, left).below(at_most)


def quick_plan(
    position: Position, goal: Goal, options: PlanOptions, look: Look, deadline: Deadline
) -> Look:
    """Return the better of a look and a plan with the same placement, if that can gain much."""
    if look.at_most - look.low <= NEAR:
        return look
    problem = read_problem(placed(position, look.placement), goal, **options)
    plan = plan_within(problem, deadline, budget=LOOK_BUDGET)
    if plan.value is None or plan.value <= look.chance:
        return look
    at_most = max(look.at_most, plan.value)
    left = sum(each.expected_armies for each in plan.territories)
    return Look(plan.value, plan.interval, at_most, look.placement, left)


class Conquest(NamedTuple):
    """The territories that a goal still needs.

    needed: the set of these territories.
    is_any: whether one of them is enough.
    """

    needed: int
    is_any: bool

    @classmethod
    def of(cls, goal: Goal, position: Position) -> "Conquest":
        """Return the conquest of a goal to take all or any of some territories.

        position: who holds what before the attacks.
        """
        board = position.board
        names = goal.read(board).names
        theirs = [name for name in names if position.find_holding(name).owner != position.player]
        needed = make_mask(map(board.territories.index, theirs))
        return cls(needed, isinstance(goal, TakeAny) and len(theirs) > 1)

    def implies(self, other: "Conquest") -> bool:
        """Return whether a player who makes this conquest makes another one, too.

        >>> both, first, any_of_three = (Conquest(0b11, False), Conquest(0b1, False),
        ...     Conquest(0b111, True))
        >>> both.implies(first), first.implies(any_of_three), any_of_three.implies(first)
        (True, True, False)
        """
        if self.is_any:
            return other.is_any and not self.needed & ~other.needed
        if other.is_any:
            return bool(self.needed & other.needed)
        return not other.needed & ~self.needed


def find_implied(conquests: Mapping[Key, Conquest]) -> dict[Key, list[Key]]:
    """Return for each conquest the keys of the others that it implies."""
    return {
        key: [name for name, other in conquests.items() if name != key and one.implies(other)]
        for key, one in conquests.items()
    }


def order_looks(looks: Mapping[Key, Look], implied: Mapping[Key, Iterable[Key]]) -> dict[Key, Look]:
    """Return looks at goals in which no goal has a greater chance than a goal that it implies.

    looks: the looks at some goals.
    implied: for each goal the goals that it implies, not only those with a look.
    """
    bounded = {}
    for key, look in looks.items():
        bounds = (looks[name].at_most for name in implied[key] if name in looks)
        bounded[key] = look.below(min(bounds, default=inf))
    ordered = dict(bounded)
    for key, look in bounded.items():
        for name in implied[key]:
            if name in ordered and look.chance > ordered[name].chance:
                ordered[name] = look._replace(at_most=max(ordered[name].at_most, look.chance))
    return ordered
