"""The plan for a goal of a turn in any phase, found by the work of one level.

`plan_goal` is the only search behind the numbers of a turn: lists of goals, plans, threats, the
steps of a turn and reviews ask it. For the same turn, goal, level and price it finds the same
numbers everywhere.

Before the attacks the plan places the new armies. Cards that are not traded yet are ignored. After
a conquest the plan chooses the number of armies that move in: it compares several numbers by short
searches, and the best of them by full searches. The value of the turn is the value of the chosen
continuation, so it does not change when the player follows the plan.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from iacta.game import Turn
from iacta.game.actions import Advance
from iacta.game.step_fields import list_advances
from iacta.inputs.meanings import Count
from iacta.native.deadline import Deadline
from iacta.plan.best import plan_within
from iacta.plan.goals import Goal
from iacta.plan.levels import Level, list_levels
from iacta.plan.margin import MARGIN
from iacta.plan.placements import Placement
from iacta.plan.plan import Plan
from iacta.plan.problem import pose_problem
from iacta.plan.reinforcement import PlacedPlan, plan_with_new_armies

MIN_GOAL_CHANCE = 0.005  # goals with a smaller chance are not offered
OPEN_PHASES = "trade", "place", "attack", "advance"  # the phases in which attacks may follow


class MoveIn(NamedTuple):
    """The best number of armies to move into a conquered territory.

    best: the best number of armies.
    values: pairs of a number of armies and the value of the plan that follows; empty without a
        value, or if the goal is already reached.
    """

    best: Count
    values: Sequence[Sequence[float]]


@dataclass(frozen=True)
class GoalPlan:
    """The plan for a goal of a turn.

    turn: the turn.
    goal: the goal; `None` if the player to eliminate is already eliminated.
    level: the level of the search; `None` if the search was cut short. The plan then has no value
        that can be compared.
    value: the chance to reach the goal, or the expected worth; `None` if it is not known.
    plan: the plan of the attacks, after new armies are placed or moved in; `None` if the goal is
        settled.
    placed: the placement of the new armies.
    move_in: the number of armies to move in after a conquest.
    """

    turn: Turn
    goal: Goal | None
    level: Level | None
    value: float | None
    plan: Plan | None = field(default=None, compare=False)
    placed: PlacedPlan | None = field(default=None, compare=False)
    move_in: MoveIn | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of an estimated value; `None` for an exact value."""
        return None if self.plan is None else self.plan.interval

    @property
    def upper_bound(self) -> float:
        """An upper bound on the value of any play."""
        if self.plan is not None:
            return self.plan.upper_bound
        return 1.0 if self.value is None else self.value

    @property
    def placement(self) -> Placement:
        """The new armies, as pairs of a territory and a number of armies."""
        return () if self.placed is None else self.placed.placement

    @property
    def losses(self) -> float:
        """The expected number of armies that the plan loses."""
        return 0.0 if self.plan is None else self.plan.expected_losses

    @property
    def left(self) -> float:
        """The expected number of the player's armies after the attacks."""
        if self.plan is not None:
            return sum(territory.expected_armies for territory in self.plan.territories)
        owners = zip(self.turn.owners, self.turn.armies, strict=True)
        return self.turn.place + sum(n for owner, n in owners if owner == self.turn.player)

    @property
    def is_final(self) -> bool:
        """Whether every higher level finds the same plan."""
        if self.plan is None:
            return self.level is not None
        found = self.plan.greatest or self.plan
        return (
            self.level is not None
            and self.placed is None
            and self.move_in is None
            and found.policy.is_best
            and found.interval is None
        )

    def remove_numbers(self) -> "GoalPlan":
        """Return the plan of an interrupted search, without the numbers that it did not finish."""
        if self.plan is None:
            return self
        plan = replace(
            self.plan, value=None, interval=None, win_probability=None, greatest=None, stages=()
        )
        placed = self.placed and self.placed._replace(plan=plan)
        move_in = self.move_in and self.move_in._replace(values=())
        return replace(self, level=None, value=None, plan=plan, placed=placed, move_in=move_in)


def plan_goal(
    turn: Turn,
    goal: Goal | None,
    level: Level,
    deadline: Deadline,
    *,
    margin: float = MARGIN,
    price: float | None = None,
) -> GoalPlan:
    """Return the plan for a goal of the player to move, found by the work of a level.

    turn: a turn in any phase. In the phases `fortify`, `over` and `defend` the player attacks no
        more.
    goal: the goal; `None` if the player to eliminate is already eliminated.
    deadline: when to stop searching. After the deadline the result is unfinished and must not be
        compared.
    margin: how much chance the plan may give up to lose fewer armies.
    price: the price of a lost army since the goal began; `None` if the goal begins in this turn.

    >>> from iacta import TakeAll
    >>> from iacta.plan.levels import QUICK, USUAL
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:3")
    >>> found = [plan_goal(turn, TakeAll("Brazil"), each, Deadline()) for each in (QUICK, USUAL)]
    >>> [round(each.value, 4) for each in found], found[0].is_final
    ([0.9468, 0.9468], True)
    """
    is_lost = turn.winner not in (None, turn.player)
    if is_lost and turn.phase != "advance":
        return GoalPlan(turn, goal, level, 0.0)
    if not is_lost and (goal is None or (goal.is_chance and goal.is_reached(turn))):
        return GoalPlan(turn, goal, level, 1.0)
    if goal is None:
        return GoalPlan(turn, goal, level, 0.0)
    if turn.phase not in OPEN_PHASES:
        return GoalPlan(turn, goal, level, compute_end_value(turn, goal))
    whole = deadline.disable_shares()
    if turn.phase == "advance":
        return _choose_advance(turn, goal, level, whole, margin, price)
    if turn.place:
        placed = plan_with_new_armies(turn, goal, level, whole, margin=margin, price=price)
        value = placed.plan.comparable_value
        return GoalPlan(turn, goal, level, value, placed.plan, placed)
    problem = pose_problem(turn, goal)
    plan = plan_within(problem, whole, budget=level.budget, margin=margin, price=price)
    return GoalPlan(turn, goal, level, plan.comparable_value, plan)


def plan_at_levels(
    turn: Turn,
    goal: Goal | None,
    level: Level,
    deadline: Deadline,
    *,
    margin: float = MARGIN,
    price: float | None = None,
    lowest: Level | None = None,
) -> Iterator[GoalPlan]:
    """Yield the plan for a goal at each level up to the given level.

    turn, goal, deadline, margin, price: as for `plan_goal`.
    lowest: the first level; `None` for the lowest of all.

    A level that the deadline interrupts is left out. If the deadline interrupts the first level,
    its plan is yielded without numbers.
    """
    found: GoalPlan | None = None
    for each in list_levels(level, lowest):
        try:
            reached = plan_goal(turn, goal, each, deadline, margin=margin, price=price)
        except KeyboardInterrupt:
            if found is None:
                raise
            return
        if deadline.is_over:
            if found is None:
                yield reached.remove_numbers()
            return
        found = reached
        if found.is_final:
            yield replace(found, level=level)
            return
        yield found


def compute_end_value(turn: Turn, goal: Goal) -> float:
    """Return the value of a turn if the player makes no more attacks.

    The chance is 1 if the player has won the game, even without reaching the goal. The value is 0
    if another player has won.
    """
    if turn.winner not in (None, turn.player):
        return 0.0
    is_won = goal.is_chance and turn.winner == turn.player
    return 1.0 if is_won else goal.worth(turn)


def _choose_advance(
    turn: Turn, goal: Goal, level: Level, deadline: Deadline, margin: float, price: float | None
) -> GoalPlan:
    """Choose the number of armies that move in after a conquest; return it with the plan."""

    def plan_after(number: int, work: Level) -> GoalPlan:
        after = turn.after(Advance(number))
        return plan_goal(after, goal, work, deadline, margin=margin, price=price)

    numbers = pick_evenly(list_advances(turn), level.advances)
    trial = level._replace(budget=level.trial_budget)
    plans = {number: plan_after(number, trial) for number in numbers}
    if trial != level:
        best = _rank_advances(plans)[: level.finalists]
        plans |= {number: plan_after(number, level) for number in best}
        best = _rank_advances({number: plans[number] for number in best})[:1]
    else:
        best = _rank_advances(plans)[:1]
    chosen = plans[best[0]]
    values = [(number, found.value) for number, found in plans.items() if found.value is not None]
    move_in = MoveIn(best[0], tuple(values))
    return GoalPlan(turn, goal, level, chosen.value, chosen.plan, chosen.placed, move_in)


def _rank_advances(plans: dict[int, GoalPlan]) -> list[int]:
    """Return numbers of armies to move in, from best to worst."""

    def compute_best(found: GoalPlan) -> float:
        return (found.value or 0.0) + (found.plan.sacrifice if found.plan else 0.0)

    top = max(plans.values(), key=compute_best)
    price = top.plan.price if top.plan else 0.0

    def rank(number: int) -> tuple[bool, float, int]:
        found = plans[number]
        # After the last hope, no attack follows and no army is lost.
        has_hope = found is top or found.plan is None or bool(found.plan.steps)
        return has_hope, (found.value or 0.0) - price * found.losses, number

    return sorted(plans, key=rank, reverse=True)


def pick_evenly(numbers: list[int], maximum: int) -> list[int]:
    """Return evenly spaced numbers, including the first and the last.

    >>> pick_evenly([1, 2, 3, 4, 5], 3)
    [1, 3, 5]
    """
    parts = min(len(numbers), maximum) - 1 or 1
    return sorted({numbers[round(k * (len(numbers) - 1) / parts)] for k in range(parts + 1)})
