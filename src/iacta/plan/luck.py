"""Luck with a plan: how much of the result of a plan that was followed the dice have decided.

The chance of a plan is the mean of its chances after the next battle, over all ends of that battle,

    V(s) = Σ_z P(z)·V(s after z),

as long as the player does what the plan says. So what a battle that ended in z has changed is luck,

    luck = V(s after z) − V(s),     variance = Σ_z P(z)·(V(s after z) − V(s))²,

and nothing else: the choices are those of the plan. Summed over a plan to its end, the luck is
1 − V at the start where the plan succeeds, and −V where it fails.

Source: Zare, "A measure of luck" (GammOnLine, 2000), for backgammon.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from iacta.checks import row_of, shown, whole_number
from iacta.errors import IllegalError, MalformedError, TooLargeError
from iacta.plan.plan import Plan, Play
from iacta.plan.policy import Node
from iacta.plan.problem import mask_of

__all__ = ["LuckOfBattle", "luck_with_plan"]

MOST_NODES = 20_000


class LuckOfBattle(NamedTuple):
    """The luck of one battle of a plan.

    start, to: the territories that attacked and were attacked.
    before: the chance of the plan before the battle.
    after: its chance after it.
    spread: the standard deviation of the chance after the battle.
    """

    start: str
    to: str
    before: float
    after: float
    spread: float

    @property
    def luck(self) -> float:
        """How much chance the dice have added."""
        return self.after - self.before


def luck_with_plan(plan: Plan, ends: Iterable[tuple[int, int]]) -> tuple[LuckOfBattle, ...]:
    """Return how lucky each battle of a plan was that has been followed.

    plan: the plan, which takes all or any of some territories battle by battle.
    ends: how its battles ended, in their order: the armies that the attacking territory had left,
        all of them before any moved in, and the defenders that were left.

    Plans roll by roll, for worths, and with more than 20,000 states are refused, and so are ends
    that a battle cannot have.

    >>> from iacta import Board, Holding, Position, TakeAll, best_plan
    >>> board = Board("row", ("A", "B", "C"), (("A", "B"), ("B", "C"), ("B", "A"), ("C", "B")))
    >>> red, blue = Holding("red", 7), Holding("blue", 2)
    >>> plan = best_plan(Position(board, "red", (red, blue, blue)), TakeAll("B,C"), play="battles")
    >>> first, second = luck_with_plan(plan, [(6, 0), (1, 1)])
    >>> f"{first.before:.1%} {first.luck:+.1%} {second.luck:+.1%} {second.after:.1%}"
    '66.3% +12.2% -78.5% 0.0%'
    """
    if not isinstance(plan, Plan):
        raise MalformedError(f"plan must be a Plan, got {shown(plan)}")
    if not plan.rewards.is_chance:
        raise IllegalError(f"goal must be to take territories, got {shown(plan.goal)}")
    play = plan.follow()
    found: list[LuckOfBattle] = []
    values: dict[Node, float] = {}
    for number, end in enumerate(row_of(ends, "ends", "pairs of armies"), 1):
        left, defenders = _end(end, number)
        if play.is_over:
            raise IllegalError(f"the plan is over after {len(found)} ends, got more")
        attack, _, _ = play.battle()
        garrison = play.policy.game.problem.garrisons[attack.start]
        before = _value(play, values)
        spread = math.sqrt(
            math.fsum(p * (_value(each, values) - before) ** 2 for each, p in _followers(play))
        )
        play = play.lost(defenders) if defenders else play.won(left - garrison)
        name = play.policy.game.problem.name
        found.append(
            LuckOfBattle(name(attack.start), name(attack.to), before, _value(play, values), spread)
        )
    return tuple(found)


def _end(end: object, number: int) -> tuple[int, int]:
    pair = row_of(end, f"end {number}", "two numbers")
    if len(pair) != 2:
        raise MalformedError(f"end {number} must be attackers and defenders left, got {shown(end)}")
    left = whole_number(pair[0], f"attackers left of end {number}")
    return left, whole_number(pair[1], f"defenders left of end {number}")


def _followers(play: Play) -> list[tuple[Play, float]]:
    """Return where the plan may stand after its next battle, and with which chance."""
    attack, armies, defenders = play.battle()
    policy = play.policy
    able = armies - policy.game.problem.garrisons[attack.start]
    won, lost = policy.chances.battle(attack.to, defenders)
    found = [
        (play.won(left), float(won[able][left])) for left in range(1, able + 1) if won[able][left]
    ]
    return found + [
        (play.lost(left), float(lost[able][left]))
        for left in range(1, defenders + 1)
        if lost[able][left]
    ]


def _value(play: Play, values: dict[Node, float]) -> float:
    """Return the chance of a plan from where it stands; the states to come are worked out first."""
    waiting = [play]
    while waiting:
        last = waiting[-1]
        if last.is_over or last.standing in values:
            waiting.pop()
            continue
        after = _followers(last)
        missing = [each for each, _ in after if not each.is_over and each.standing not in values]
        if missing:
            waiting += missing
            continue
        values[last.standing] = math.fsum(
            p * (_reached(each) if each.is_over else values[each.standing]) for each, p in after
        )
        if len(values) > MOST_NODES:
            raise TooLargeError(
                f"the luck of a plan with more than {MOST_NODES} states takes too long"
            )
    return _reached(play) if play.is_over else values[play.standing]


def _reached(play: Play) -> float:
    """Return 1 if a plan that is over has reached its goal."""
    holdings, player = play.position().holdings, play.plan.position.player
    owned = mask_of(t for t, holding in enumerate(holdings) if holding.owner == player)
    rewards = play.plan.rewards
    return float(bool(owned & rewards.any_of) if rewards.any_of else not rewards.all_of & ~owned)
