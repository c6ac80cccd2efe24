"""Compare the numbers of armies that may move into a conquered territory."""

from typing import NamedTuple

from iacta.game import Advance, Turn
from iacta.game.steps import list_advances
from iacta.native.deadline import Deadline
from iacta.plan import Goal, Plan, best_plan
from iacta.plan.reinforcement import turn_options

MAX_COMPARED = 12  # at most this many numbers of armies are compared
COMPARISON_SHARE = 0.6  # share of the time for the comparison; the best number gets the rest


class MoveIn(NamedTuple):
    """The best number of armies to move into a conquered territory."""

    best: int
    values: tuple[tuple[int, float], ...]  # some numbers of armies, and the value of each


def compare_advances(turn: Turn, goal: Goal, deadline: Deadline) -> tuple[MoveIn, Plan]:
    """Return the best number of armies to move in, and the plan that follows.

    turn: a turn after a conquest.
    goal: the goal of the turn.
    deadline: the deadline of the search.
    """
    numbers = list_advances(turn)
    parts = min(len(numbers), MAX_COMPARED) - 1 or 1
    tried = sorted({numbers[round(k * (len(numbers) - 1) / parts)] for k in range(parts + 1)})
    end, ranked = deadline.take_share(COMPARISON_SHARE), list[tuple[float, int]]()
    for number in tried:
        part = end.take_share(1 / (len(tried) - len(ranked)))
        ranked.append((_plan_after_advance(turn, number, goal, part).comparable_value, number))
    quick, best = max(ranked)
    plan = _plan_after_advance(turn, best, goal, deadline)
    # Quick searches give the compared values; the longer search of the best shifts all values.
    shift = 0.0 if plan.value is None else plan.value - quick
    return MoveIn(best, tuple((number, value + shift) for value, number in ranked)), plan


def _plan_after_advance(turn: Turn, armies: int, goal: Goal, deadline: Deadline) -> Plan:
    after = turn.after(Advance(armies))
    return best_plan(after.position, goal, **turn_options(after), time_limit=deadline.time_limit)
