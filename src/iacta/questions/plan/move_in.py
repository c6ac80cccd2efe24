"""The number of armies to move into a conquered territory."""

from collections.abc import Sequence
from typing import NamedTuple

from iacta.battle.battle import Battle
from iacta.game import Advance, Turn
from iacta.game.steps import list_advances
from iacta.inputs.meanings import Count
from iacta.native.deadline import Deadline
from iacta.plan import Goal, Plan
from iacta.plan.reinforcement import find_plan

MAX_COMPARED_ADVANCES = 12  # maximum number of advances to compare by search
MAX_DEFENDED = 60  # maximum number of advances to compare for defence alone
# Fraction of the time in which advances are compared. In the rest of the time, a longer search
# evaluates the best advance.
ADVANCE_COMPARISON_SHARE = 0.6


class MoveIn(NamedTuple):
    """The best number of armies to move into a conquered territory.

    best: the best number of armies.
    values: pairs of a number of armies and the value of the plan that follows; empty without a
        value, or if the goal is already reached.
    """

    best: Count
    values: Sequence[Sequence[float]]


def compare_advances(
    turn: Turn, goal: Goal, deadline: Deadline, margin: float, price: float | None
) -> tuple[MoveIn, Plan]:
    """Return the best number of armies to move in, with the plan that follows.

    turn: a turn right after a conquest.
    goal: the goal of the turn.
    deadline: when to stop searching.
    margin, price: as for `best_plan`.
    """

    def plan_after(number: int, part: Deadline) -> Plan:
        after = turn.after(Advance(number))
        return find_plan(after, goal, part, margin=margin, price=price)

    tried = _pick_evenly(list_advances(turn), MAX_COMPARED_ADVANCES)
    end, plans = deadline.take_share(ADVANCE_COMPARISON_SHARE), dict[int, Plan]()
    for number in tried:
        plans[number] = plan_after(number, end.take_share(1 / (len(tried) - len(plans))))
    top = max(plans.values(), key=lambda each: each.comparable_value + each.sacrifice)

    def rank(number: int) -> tuple[bool, float, int]:
        each = plans[number]
        # After the last hope, no attack follows and no army is lost.
        has_hope = each is top or bool(each.steps)
        return has_hope, each.comparable_value - top.price * each.expected_losses, number

    best = max(plans, key=rank)
    plan = plan_after(best, deadline)
    # The values come from quick searches. The best number is searched again for longer, and all
    # values are shifted by the difference.
    shift = 0.0 if plan.value is None else plan.value - plans[best].comparable_value
    values = tuple((number, each.comparable_value + shift) for number, each in plans.items())
    return MoveIn(best, values), plan


def defend_conquest(turn: Turn) -> MoveIn:
    """Return the number of armies to move in that best protects both territories.

    turn: a turn right after a conquest.

    Each territory is assumed to be attacked by its strongest neighbouring enemy. The best number
    has the smallest chance to lose the more endangered territory; ties are broken by the sum of the
    two chances.

    >>> turn = Turn.from_code("1;classic;red;Brazil:red:9,Peru:blue:1,Argentina:blue:5")
    >>> from iacta.game.steps import take_step
    >>> attack = {"do": "attack", "from": "Brazil", "to": "Peru", "left": 9, "their_left": 0}
    >>> defend_conquest(take_step(turn, attack)[0]).best
    5
    """
    assert turn.pending is not None  # noqa: S101 # the phase is `advance`
    ends = turn.pending.start, turn.pending.to

    def compute_risks(armies: int) -> tuple[float, float, int]:
        after = turn.after(Advance(armies))
        risks = [_compute_risk(after, name) for name in ends]
        return max(risks), sum(risks), -armies

    return MoveIn(min(_pick_evenly(list_advances(turn), MAX_DEFENDED), key=compute_risks), ())


def _compute_risk(turn: Turn, name: str) -> float:
    """Return the chance that a territory falls to its strongest neighbouring enemy."""
    armies = dict(zip(turn.board.territories, turn.armies, strict=True))
    owners = dict(zip(turn.board.territories, turn.owners, strict=True))
    enemies = [
        armies[start]
        for start, to in turn.board.borders
        if to == name and owners[start] not in ("", turn.player)
    ]
    if not enemies:
        return 0.0
    rules = turn.rules_of.get(name, turn.rules)
    return float(Battle(max(enemies), armies[name], rules).win_probability())


def _pick_evenly(numbers: list[int], maximum: int) -> list[int]:
    """Return evenly spaced numbers, including the first and the last."""
    parts = min(len(numbers), maximum) - 1 or 1
    return sorted({numbers[round(k * (len(numbers) - 1) / parts)] for k in range(parts + 1)})
