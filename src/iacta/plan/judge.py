"""The judge: the luck and the cost of one step of a turn.

Let V(s) be the value of the best plan found in a state s, and Q(s, a) the action value of an attack
a with a number of dice (`iacta.plan.alternatives`). A step from s to s' has

    cost = V(s) − Q(s, a),     luck = V(s') − V(s) + cost,

so that the luck of a roll is 0 on average. A step without dice has no luck: its cost is
V(s) − V(s'). A loss that is no larger than the uncertainty of the values counts as 0.

Luck in armies needs no goal. Where both sides expect to lose E and E' armies and lose L and L',

    luck in armies = (E − L) + (L' − E').

A roll of known numbers of dice has the expected losses of that roll. Several rolls have the
expected losses of a battle to its end from s, less those from s'. Both are 0 on average.

If the defender rolls k dice, fewer than usual, luck is judged for these dice:

    luck = V(s') − E[V(s') | k defence dice].

The defender also gives away value by rolling fewer dice; that part of the change is neither luck
nor cost.

The search of each state has a fixed amount of work, so its value is the same on every machine.

Source: Zare, "A measure of luck" (GammOnLine, 2000), for backgammon.
"""

from collections.abc import Sequence
from typing import NamedTuple

from iacta.game import Turn
from iacta.game.actions import Advance, Attack
from iacta.game.steps import list_advances
from iacta.native.deadline import Deadline
from iacta.plan.alternatives import (
    Alternative,
    find_significant_loss,
    list_first_attacks,
    uncertainty,
)
from iacta.plan.best import plan_within
from iacta.plan.goals import Goal
from iacta.plan.plan import Plan
from iacta.plan.problem import pose_problem
from iacta.plan.reinforcement import plan_with_new_armies, turn_options
from iacta.rules.roll import Losses

BUDGET = 0.2  # work for the search of a state; 1 is the default work of a plan
TRIED_ADVANCES = 3  # how many different advances are compared after a conquest


class StateValue(NamedTuple):
    """The value of a state of a turn."""

    value: float  # the chance of the goal, or the expected worth
    error: float = 0.0  # half the width of the interval of the value
    uncertainty: float = 0.0  # smaller differences between values count as 0
    attacks: tuple[Alternative, ...] = ()  # the possible first attacks, the best first


class Judgement(NamedTuple):
    """The effect of a step on the value, split into luck and cost.

    change: the change of the value; `None` without a goal or a value.
    luck: the part of the change that is due to the dice; `None` where the decision cannot be
        judged.
    cost: the value that the decision gave up; `None` where the decision cannot be judged.
    error: the error of the change.
    luck_armies: the luck of the dice in armies; `None` without dice.
    """

    change: float | None = None
    luck: float | None = None
    cost: float | None = None
    error: float | None = None
    luck_armies: float | None = None


def plan_state(turn: Turn, goal: Goal, deadline: Deadline, threads: int = 1) -> Plan | None:
    """Return the plan of a turn; `None` outside the attack phase, or if the goal is reached.

    turn: the turn.
    goal: the goal of the player.
    deadline: the end of the search; it changes the plan only if it cuts the search short.
    threads: the number of threads of the search.
    """
    if turn.phase != "attack" or (goal.is_chance and goal.is_reached(turn)):
        return None
    return plan_within(pose_problem(turn, goal), deadline, budget=BUDGET, threads=threads)


def evaluate_state(turn: Turn, goal: Goal | None, deadline: Deadline) -> StateValue:
    """Return the value of a turn in any phase.

    goal: the goal of the player; `None` if the player to eliminate has no territories.
    """
    if goal is None or (goal.is_chance and goal.is_reached(turn)):
        return StateValue(1.0)
    if turn.phase == "advance":
        numbers = list_advances(turn)
        last = len(numbers) - 1
        tried = {numbers[last * k // (TRIED_ADVANCES - 1)] for k in range(TRIED_ADVANCES)}
        afters = [turn.after(Advance(number)) for number in sorted(tried)]
        values = (evaluate_state(after, goal, deadline) for after in afters)
        return max(values, key=lambda each: each.value)
    if turn.phase == "place":
        options = turn_options(turn)
        plan = plan_with_new_armies(turn.position, goal, turn.place, options, deadline, BUDGET)
    else:
        found = plan_state(turn, goal, deadline)
        if found is None:
            return StateValue(goal.worth(turn))
        plan = found
    return value_plan(plan, has_attacks=turn.phase == "attack")


def value_plan(plan: Plan, *, has_attacks: bool = True) -> StateValue:
    """Return the value of the state in which a plan begins.

    has_attacks: whether to add the values of the possible first attacks.
    """
    low, high = plan.interval or (plan.comparable_value, plan.comparable_value)
    attacks = list_first_attacks(plan) if has_attacks else ()
    return StateValue(plan.comparable_value, (high - low) / 2, uncertainty(plan), attacks)


def judge_choice(before: StateValue, after: StateValue) -> Judgement:
    """Return the effect of a step without dice."""
    change, error = after.value - before.value, before.error + after.error
    unsure = max(before.uncertainty, after.uncertainty)
    return Judgement(change, 0.0, find_significant_loss(-change, unsure), error)


def judge_attack(
    before: StateValue,
    after: StateValue,
    border: tuple[str, str],
    dice: Sequence[int],
    expected: float | None = None,
) -> Judgement:
    """Return the effect of an attack on the value.

    border: the attacking territory and the attacked one.
    dice: the possible numbers of attack dice; the number with the least cost counts.
    expected: the expected value after a roll with fewer defence dice than usual; `None` for the
        usual number.
    """
    best = before.attacks[0].value if before.attacks else 0.0
    costs = {
        attack.dice: find_significant_loss(best - attack.value, before.uncertainty)
        for attack in before.attacks
        if attack[:2] == border
    }
    fit = [costs[number] for number in costs if number in dice] or [*costs.values()][:1]
    cost = min(fit, default=None)
    change = after.value - before.value
    if expected is not None:
        luck: float | None = after.value - expected
    else:
        luck = None if cost is None else change + cost
    return Judgement(change, luck, cost, before.error + after.error)


def list_reduced_ends(
    turn: Turn, border: tuple[str, str], dice: int, their_dice: int
) -> list[tuple[float, Turn]]:
    """Return the turns after a roll with fewer defence dice than usual, with their chances.

    border: the attacking territory and the attacked one.
    dice, their_dice: the numbers of attack and defence dice.
    """
    mine, theirs = (turn.position.find_holding(name).armies for name in border)
    results = turn.find_reduced_results(Attack(*border, dice), their_dice).items()
    return [
        (float(p), turn.apply_battle(*border, mine - lost, theirs - killed, dice, their_dice))
        for (lost, killed), p in results
    ]


def measure_army_luck(
    before: Turn,
    after: Turn,
    border: tuple[str, str],
    losses: Losses,
    dice: int | None,
    their_dice: int | None = None,
) -> float | None:
    """Return the luck of an attack in armies; `None` if the battle is too large to evaluate.

    before, after: the turn before the attack and after it.
    border: the attacking territory and the attacked one.
    losses: the losses of both sides.
    dice: the number of attack dice of a single roll; `None` for several rolls.
    their_dice: the number of defence dice, if it is smaller than usual.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:4,Brazil:blue:2")
    >>> after = turn.apply_battle("Peru", "Brazil", 2, 2, 3)
    >>> round(measure_army_luck(turn, after, ("Peru", "Brazil"), Losses(2, 0), 3), 4)
    -2.1582
    """
    if dice is not None:
        lost, killed = before.expect_roll(Attack(*border, dice), their_dice)
    else:
        start, end = before.expect_battle(*border), after.expect_battle(*border)
        if start is None or end is None:
            return None
        lost, killed = start[0] - end[0], start[1] - end[1]
    return (lost - losses.attackers) + (losses.defenders - killed)
