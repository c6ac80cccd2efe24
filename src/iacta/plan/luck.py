"""Luck with a plan: how much of the result of a plan that was followed the dice have decided.

The chance of a plan is the mean of its chances after the next roll, or after the next battle where
it fights each to its end, over all results z,

    V(s) = Σ_z P(z)·V(s after z),

as long as the player does what the plan says. So what a result z has changed is luck,

    luck = V(s after z) − V(s),     variance = Σ_z P(z)·(V(s after z) − V(s))²,

and nothing else: the choices are those of the plan. Summed over a plan to its end, the luck is
1 − V at the start where the plan succeeds, and −V where it fails.

Source: Zare, "A measure of luck" (GammOnLine, 2000), for backgammon.
"""

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from iacta.inputs.checks import quote, read_int, read_row
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError
from iacta.native.deadline import Deadline
from iacta.plan.plan import NextMove, Plan, Play
from iacta.plan.policy import Policy
from iacta.plan.problem import TurnState

MOST_STATES = 20_000  # of a plan whose luck is followed exactly: some seconds


class LuckOfBattle(NamedTuple):
    """The luck of one battle of a plan, or of one roll.

    start, to: the territories that attacked and were attacked.
    before: the chance of the plan before it.
    after: its chance after it.
    spread: the standard deviation of the chance after it.
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
    """Return how lucky each roll or battle of a plan was that has been followed.

    plan: the plan, which takes all or any of some territories.
    ends: what each left, in order: the armies of the attacking territory, all of them before any
        moved in, and the defenders. With a plan that fights each battle to its end these are the
        ends of battles, and otherwise the results of single rolls.

    Plans for worths are refused, and so are plans that are not the best play of all and may come to
    more than 20,000 states, and ends that a roll or battle cannot have.

    >>> from iacta import Board, Holding, Position, TakeAll, best_plan
    >>> board = Board("row", ("A", "B", "C"), (("A", "B"), ("B", "C"), ("B", "A"), ("C", "B")))
    >>> red, blue = Holding("red", 7), Holding("blue", 2)
    >>> plan = best_plan(Position(board, "red", (red, blue, blue)), TakeAll("B,C"), play="battles")
    >>> first, second = luck_with_plan(plan, [(6, 0), (1, 1)])
    >>> f"{first.before:.1%} {first.luck:+.1%} {second.luck:+.1%} {second.after:.1%}"
    '66.3% +12.2% -78.5% 0.0%'
    """
    if not isinstance(plan, Plan):
        raise MalformedError(f"plan must be a Plan, got {quote(plan)}")
    if not plan.goal.is_chance:
        raise IllegalError(f"goal must be to take territories, got {quote(plan.goal)}")
    play, chance, found = plan.follow(), _chances(plan.policy), list[LuckOfBattle]()
    for number, end in enumerate(read_row(ends, "ends", "pairs of armies"), 1):
        pair = read_row(end, f"end {number}", "two numbers")
        if len(pair) != 2:
            raise MalformedError(
                f"end {number} must be attackers and defenders left, got {quote(end)}"
            )
        left = read_int(pair[0], f"attackers left of end {number}")
        defenders = read_int(pair[1], f"defenders left of end {number}")
        move = play.move
        if move is None:
            raise IllegalError(f"the plan is over after {len(found)} ends, got more")
        state = play.problem.start
        before, decision = chance(state), plan.policy.decide(state)
        variance = math.fsum(
            each.chance * (chance(state.after(decision, each)) - before) ** 2
            for each in decision.outcomes
        )
        play = _followed(play, move, left, defenders)
        after = chance(play.problem.start)
        found.append(LuckOfBattle(move.start, move.to, before, after, math.sqrt(variance)))
    return tuple(found)


def _followed(play: Play, move: NextMove, left: int, defenders: int) -> Play:
    if not play.problem.turn.whole_battles:
        mine, theirs = (play.position.find_holding(name).armies for name in (move.start, move.to))
        return play.after(mine - left, theirs - defenders)
    after = play.fought(left, defenders)
    if after.battle is not None:
        raise IllegalError(
            f"the battle of {move.start} against {move.to} must be fought to its end, got {left} "
            f"and {defenders} armies left"
        )
    return after


def _chances(policy: Policy) -> Callable[[TurnState], float]:
    """Return a function that says the chance of a policy in a state."""
    problem = policy.problem

    @cache
    def chance(state: TurnState) -> float:
        if policy.is_exact:
            more = policy.decide(state).value
        else:
            report = policy.search.flow(Deadline(), MOST_STATES, state)
            if report is None:
                raise TooLargeError(
                    f"the plan must visit at most {MOST_STATES:,} states to follow its luck"
                )
            more = report.value
        return min(problem.paid(state) + problem.held + more, 1.0)

    return chance
