"""Cards: how a turn goes on with what an eliminated player's cards bring.

Who eliminates a player gets their cards. Here all sets that the cards in hand hold are traded in at
once (`iacta.game.traded_armies`), and the new armies are placed, in the same turn.

The turn goes on from where the first plan ends, which is drawn at random. What the new armies are
worth there is asked as in `iacta.plan.placing`: on a small board they are placed as is best, and
the turn goes on as well as can be; elsewhere both go by a quick look.

What comes after the first goal depends on where armies are then. So several first plans are tried:
the best one to reach the first goal, the best one for all goals in order, also with the later goals
worth far more, and plans to reach the first goal that are paid for armies left.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from iacta.board import Position
from iacta.checks import shown, whole_number
from iacta.display import Displayed
from iacta.distribution import Distribution
from iacta.errors import IllegalError
from iacta.plan.deadline import Deadline
from iacta.plan.goals import Goal, InOrder, TakeAll, Worth
from iacta.plan.placing import (
    Placements,
    PlanOptions,
    Values,
    deadline_of,
    everywhere,
    mean_error,
    planned,
)
from iacta.plan.plan import Plan
from iacta.plan.sets import mask_of
from iacta.plan.simulated import ends as ends_of

if TYPE_CHECKING:
    import altair

__all__ = ["Continuation", "go_on"]

ENDS = 48
PILOT = 4  # of the ends, this part says which of the plans is best
RARE = 1e-4  # ends of a plan that succeeds less often are not drawn
PLANNED, PILOTED = 0.5, 0.5  # parts of the time that is left
OTHERS = 0.25  # of the usual work, for each plan but the first
LATER = 20.0  # what later goals are worth, next to the first, in a plan that is tried
ARMY = (0.01, 0.04)  # what an army left is worth, next to the first goal, in plans that are tried
MOST_STATES = 2_000  # of what follows an end, for the best play
MOST_VISITED = 10_000  # by a plan that is paid for armies left
NORMAL = 1.96


@dataclass(frozen=True, repr=False)
class Continuation(Displayed):
    """A turn that goes on with new armies when the first goal is reached.

    plan: the plan that is followed until the first goal is reached.
    first: the chance that it is reached.
    armies: the distribution of the new armies, once it is reached.
    win_probability: an estimate of the chance that the first goal and the next one are reached.
    error: its standard error; of fewer than ten ends that of a coin.
    without: the same without new armies, from the same ends.
    ends: from how many ends of the first plan they are estimated.
    """

    plan: Plan
    first: float
    armies: Distribution[int]
    win_probability: float
    error: float
    without: float
    ends: int

    def plot(self, *context: Any) -> "altair.TopLevelMixin":
        """Return the picture of the plan; `context` is as for `Displayed.plot`."""
        return self.plan.plot(*context)

    def _summary(self) -> str:
        aim = self.plan.goal.phrase(self.plan.position)
        return f"{aim} and go on, {self.win_probability:.6g} (error {self.error:.2g})"

    @property
    def interval(self) -> tuple[float, float]:
        """An interval that has the chance in 95% of all cases."""
        low, high = (self.win_probability + s * NORMAL * self.error for s in (-1, 1))
        return max(low, 0.0), min(high, self.first)


def go_on(
    position: Position,
    goal: InOrder,
    armies: Distribution[int] | Mapping[int, float],
    *,
    ends: int = ENDS,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[float, float], object] | None = None,
    **options: Unpack[PlanOptions],
) -> Continuation:
    """Return the best turn that is found when reaching the first of two goals brings new armies.

    position: who holds what.
    goal: the goals in order; where there are more than two, the second is to reach all the others.
    armies: the distribution of the new armies, such as that of `traded_armies`.
    ends: from how many ends of the first plan the chance is estimated.
    seed: of the dice by which these are drawn.
    time_limit: the most seconds that it may take; `None` for no limit.
    progress, options: as for `reinforce`.

    Several plans are tried that begin the turn. All of them end as soon as the first goal is
    reached.
    """
    new = armies if isinstance(armies, Distribution) else Distribution(armies)
    number = whole_number(ends, "ends", least=1)
    if not isinstance(goal, InOrder) or len(goal.goals) < 2:
        raise IllegalError(f"goal must be at least two goals in order, got {shown(goal)}")
    deadline = deadline_of(time_limit)
    plans = [*_first_plans(position, goal, deadline, progress, options)]
    read = goal.read(position.board)
    later = TakeAll(tuple(dict.fromkeys(chain(*(each.names for each in read.goals[1:])))))
    tried = [_Turn(plan, read.goals[0], later, new, options, seed) for plan in plans]
    for place, turn in enumerate(tried):
        part = deadline.part(PILOTED / (len(tried) - place * PILOTED))
        turn.look_at(max(number // PILOT, 2), part)
    best = max(tried, key=lambda turn: turn.value)
    best.look_at(number, deadline)
    return best.continuation()


def _first_plans(
    position: Position,
    goal: InOrder,
    deadline: Deadline,
    progress: Callable[[float, float], object] | None,
    options: PlanOptions,
) -> Iterator[Plan]:
    """Yield plans that may begin the turn, each for the first goal or for all in order."""
    first, *others = goal.goals
    goals: list[Goal] = [first, goal, InOrder(goal.goals, (1.0, *(LATER for _ in others)))]
    goals += [Worth(0.0, bonus=0.0, army=army, prizes=((first, 1.0),)) for army in ARMY]
    end, best = deadline.part(PLANNED), None
    for place, each in enumerate(goals):
        part = end.part(1 / (len(goals) - place))
        budget = OTHERS if place else 1.0
        plan = planned(position, each, options, part, None if place else progress, budget)
        best = best or plan
        if each.is_chance or isinstance(each, InOrder):
            yield plan
        elif (chance := _chance_of_prize(plan, part)) is not None:
            yield replace(
                plan,
                goal=best.goal,
                win_probability=chance,
                value=chance,
                upper_bound=max(best.upper_bound, chance),
                proven=False,
                interval=None,
                battles_value=None,
            )


def _chance_of_prize(plan: Plan, deadline: Deadline) -> float | None:
    """Return the chance that a plan wins its only prize; `None` where that takes too much."""
    report = plan.policy.search.flow(deadline, MOST_VISITED)
    if report is None or len(report.taken) != 1:
        return None
    return min(report.taken[0], 1.0)


class _Turn:
    """A turn that begins with a plan, as far as its ends have been looked at."""

    def __init__(
        self,
        plan: Plan,
        first: TakeAll,
        later: TakeAll,
        armies: Distribution[int],
        options: PlanOptions,
        seed: int,
    ) -> None:
        self.plan, self.later, self.armies, self.options = plan, later, armies, options
        self.first = plan.stages[0] if plan.stages else plan.win_probability
        self.found: list[tuple[float, float]] = []  # with the new armies, and without
        self._known: dict[Position, tuple[float, float]] = {}
        until = mask_of(map(plan.problem.place, first.names))
        drawn = ends_of(plan, np.random.default_rng(seed), until)
        mine = plan.position.player
        self._ends = (end for end in drawn if all(end.of(n).owner == mine for n in first.names))

    def look_at(self, ends: int, deadline: Deadline) -> None:
        """Look at more ends, until there are enough or the time is over."""
        while self.first > RARE and len(self.found) < ends:
            if self.found and deadline.is_over:
                return
            end = next(self._ends)
            if end not in self._known:
                self._known[end] = self._values_of(end, deadline)
            self.found.append(self._known[end])

    def _values_of(self, end: Position, deadline: Deadline) -> tuple[float, float]:
        """Return the chance to reach all goals from an end, with the new armies and without."""
        problem = everywhere(end, self.later, max(self.armies), self.options)
        new = Placements(end, Values(problem, deadline, MOST_STATES), deadline)
        values = {n: new.value(new.compared(n)[0]) for n in {0, *self.armies}}
        return sum(float(p) * values[n] for n, p in self.armies.items()), values[0]

    @property
    def value(self) -> float:
        """An estimate of the chance that all goals are reached."""
        return self.first * float(np.mean(self.found, axis=0)[0]) if self.found else 0.0

    def continuation(self) -> Continuation:
        """Return what is known of it."""
        count, rows = len(self.found), np.array(self.found).reshape(-1, 2)
        error = mean_error(rows[:, 0].tolist())
        without = self.first * float(rows[:, 1].mean()) if count else 0.0
        return Continuation(
            self.plan, self.first, self.armies, self.value, self.first * error, without, count
        )
