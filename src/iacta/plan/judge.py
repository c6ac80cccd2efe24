"""Judging a step of a turn: how much was luck, and how much the decision cost.

Let V(s) be the value of the best plan found in state s, and Q(s, a) the action value of attack a
with its number of dice (`iacta.plan.alternatives`). For a step from s to s',

    cost = V(s) − Q(s, a),     luck = V(s') − V(s) + cost,

where V(s) is the value of the plan, even if a plan with a slightly greater value would lose more
armies (`iacta.plan.margin`). A cost may then be negative. By this definition the luck of a roll is
0 on average. A step without dice has no luck: its cost is V(s) − V(s'). A loss within the
uncertainty of the values counts as 0.

Luck in armies needs no goal. If the two sides expect to lose E and E' armies and lose L and L',

    luck in armies = (E − L) + (L' − E').

For a single roll, E and E' are the expected losses of that roll. For several rolls, they are the
expected losses of a battle to the end from s, minus the same losses from s'. Either way, the luck
in armies is 0 on average.

If the defender rolls only k dice, fewer than usual, luck is measured against that choice:

    luck = V(s') − E[V(s') | k defence dice].

By rolling fewer dice the defender also gives away value. That part of the change is neither luck
nor cost.

Under rules in which a tie costs nobody an army, a roll may leave all armies unchanged. Such a roll
has neither luck nor cost; Q and the spread of an attack are those of a roll that costs an army.

`iacta.plan.goal_plan` finds the value of each state, by the work of one level for the whole turn.

Source: Zare, "A measure of luck" (GammOnLine, 2000), for backgammon.
"""

from collections.abc import Sequence
from typing import NamedTuple

from iacta.game import Turn
from iacta.game.actions import Attack
from iacta.game.odds import expect_battle_losses, expect_roll_losses
from iacta.plan.alternatives import (
    Alternative,
    compute_significant_loss,
    compute_uncertainty,
    list_first_attacks,
)
from iacta.plan.goal_plan import GoalPlan
from iacta.rules.roll import Losses


class StateValue(NamedTuple):
    """The value of a state of a turn, found by the work of one level."""

    value: float  # the chance to reach the goal, or the expected worth
    # Half the width of the 95% interval of the value; 0 if it is exact or a lookahead estimate.
    error: float = 0.0
    uncertainty: float = 0.0  # a difference between two values is significant only if it is larger
    attacks: tuple[Alternative, ...] = ()  # the possible next attacks with their values, best first
    price: float = 0.0  # the price of a lost army by which plans are compared
    losses: float = 0.0  # the expected number of armies that the plan loses
    margin: float = 0.0  # the largest value that the plan may give up to lose fewer armies
    best: str = ""  # the best advance or placement in words, in the phases without attacks


class Judgement(NamedTuple):
    """The effect of one step (an attack, an advance or a stop) on the value of a turn.

    change: the change of the value; `None` for the first turn, without a goal or without a value.
    luck: the part of the change that is due to the dice; `None` if the decision cannot be judged.
    cost: the value that the decision gave up; `None` if the decision cannot be judged.
    error: the error of the change, in the same unit.
    luck_armies: the luck of the dice in armies; `None` for a step without dice, or for a very large
        battle.
    """

    change: float | None = None
    luck: float | None = None
    cost: float | None = None
    error: float | None = None
    luck_armies: float | None = None


def value_goal(found: GoalPlan, *, has_attacks: bool = True) -> StateValue:
    """Return the value of the turn to which a plan for a goal belongs.

    has_attacks: whether the result includes the values of the possible first attacks.
    """
    plan = found.plan
    if plan is None or found.value is None:
        return StateValue(found.value or 0.0)
    low, high = plan.interval or (found.value, found.value)
    has_attacks = has_attacks and found.placed is None and found.move_in is None
    return StateValue(
        found.value,
        (high - low) / 2,
        compute_uncertainty(plan),
        list_first_attacks(plan) if has_attacks else (),
        plan.price,
        plan.expected_losses,
        plan.margin,
        _describe_choice(found),
    )


def _describe_choice(found: GoalPlan) -> str:
    """Return the best advance or placement in words; empty in other phases."""
    if found.move_in is not None:
        return f"move {found.move_in.best} in"
    placed = ", ".join(f"{number} on {name}" for name, number in found.placement)
    return f"place {placed}" if placed else ""


def judge_choice(before: StateValue, after: StateValue) -> Judgement:
    """Judge a step without dice, such as an advance: return the change of value and its cost."""
    change, error = after.value - before.value, before.error + after.error
    unsure = max(before.uncertainty, after.uncertainty)
    return Judgement(change, 0.0, compute_significant_loss(-change, unsure), error)


def judge_attack(
    before: StateValue,
    after: StateValue,
    border: tuple[str, str],
    dice: Sequence[int],
    expected: float | None = None,
) -> Judgement:
    """Judge an attack: return the change of value, the luck of the dice and the decision's cost.

    before, after: the value of the turn before and after the attack.
    border: the attacking and the defending territory.
    dice: the possible numbers of attack dice; the number with the lowest cost is assumed.
    expected: the mean value after a roll in which the defender rolls fewer dice than usual; `None`
        for the usual number of dice.
    """
    best = before.attacks[0].value if before.attacks else 0.0
    costs = {
        attack.dice: _find_cost(best - attack.value, before)
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


def _find_cost(loss: float, before: StateValue) -> float:
    """Return the cost of an attack: a significant loss of value, negative only with a margin."""
    is_gain = loss < 0.0 < before.margin
    return compute_significant_loss(loss, before.uncertainty) - (
        compute_significant_loss(-loss, before.uncertainty) if is_gain else 0.0
    )


def list_reduced_ends(
    turn: Turn, border: tuple[str, str], dice: int, their_dice: int
) -> list[tuple[float, Turn]]:
    """List the possible turns, with chances, after a roll with fewer defence dice than usual.

    border: the attacking and the defending territory.
    dice, their_dice: the numbers of attack and defence dice.
    """
    mine, theirs = map(turn.armies_on, border)
    results = turn.results(Attack(*border, dice), their_dice).items()
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

    before, after: the turn before and after the attack.
    border: the attacking and the defending territory.
    losses: the armies lost by the attacker and by the defender.
    dice: the number of attack dice of a single roll; `None` for several rolls.
    their_dice: the number of defence dice if it is smaller than usual; otherwise `None`.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:4,Brazil:blue:2")
    >>> after = turn.apply_battle("Peru", "Brazil", 2, 2, 3)
    >>> round(measure_army_luck(turn, after, ("Peru", "Brazil"), Losses(2, 0), 3), 4)
    -2.1582
    """
    if dice is not None:
        lost, killed = expect_roll_losses(before, Attack(*border, dice), their_dice)
    else:
        start, end = (
            expect_battle_losses(before, *border),
            expect_battle_losses(after, *border),
        )
        if start is None or end is None:
            return None
        lost, killed = start[0] - end[0], start[1] - end[1]
    return (lost - losses.attackers) + (losses.defenders - killed)
