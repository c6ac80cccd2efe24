"""Luck while following a plan: how much the dice helped or hurt.

The chance of a plan in state s is the mean of its chances after the next roll z (or after the next
battle, if the plan fights each battle to the end),

    V(s) = Σ_z P(z)·V(s after z),

as long as the player follows the plan. The change of the chance caused by z is therefore pure luck,

    luck = V(s after z) − V(s),     variance = Σ_z P(z)·(V(s after z) − V(s))²,

because the plan leaves no choice to the player. Over a whole plan the luck adds up to 1 − V if the
plan succeeds and to −V if it fails, where V is the chance at the start.

Source: Zare, "A measure of luck" (GammOnLine, 2000), for backgammon.
"""

import math
from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from iacta.game import Attack
from iacta.inputs.checks import quote, read_int, read_list
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError
from iacta.native.deadline import Deadline
from iacta.plan.plan import Plan
from iacta.plan.policy import Policy
from iacta.plan.problem import SearchState

MAX_LUCK_STATES = 20_000  # an estimated plan with more states takes too long to evaluate exactly


class LuckOfBattle(NamedTuple):
    """The luck of one battle or one roll of a plan.

    start, to: the attacking and the defending territory.
    before: the plan's chance to succeed before the battle or roll.
    after: the plan's chance to succeed after the battle or roll.
    spread: the standard deviation of `after` over all possible results.
    """

    start: str
    to: str
    before: float
    after: float
    spread: float

    @property
    def luck(self) -> float:
        """The change of the plan's chance to succeed that the dice caused."""
        return self.after - self.before


def measure_plan_luck(plan: Plan, ends: Iterable[tuple[int, int]]) -> tuple[LuckOfBattle, ...]:
    """Return the luck of each roll or battle of a plan that the player followed.

    plan: a plan for a `TakeAll`, `TakeAny` or `OwnAny`.
    ends: the results in order. Each result is a pair: the armies left on the attacking territory
        before armies move in, and the defenders left. Pairs describe whole battles if the plan
        fights each battle to the end, and single rolls otherwise.

    It is an error to pass a plan that maximises a worth, an impossible result, or an estimated plan
    that may visit more than 20,000 states.

    >>> from iacta import Board, Position, TakeAll, Turn, best_plan
    >>> board = Board.from_edges("row", [("A", "B"), ("B", "C")])
    >>> start = Position(board, "red", {"A": ("red", 7)}, others=("blue", 2))
    >>> plan = best_plan(Turn(start, whole_battles=True), TakeAll("B,C"))
    >>> first, second = measure_plan_luck(plan, [(6, 0), (1, 1)])
    >>> f"{first.before:.1%} {first.luck:+.1%} {second.luck:+.1%} {second.after:.1%}"
    '66.3% +12.2% -78.5% 0.0%'
    """
    if not isinstance(plan, Plan):
        raise MalformedError(f"plan must be a Plan, got {quote(plan)}")
    if not plan.goal.is_chance:
        raise IllegalError(f"goal must be TakeAll, TakeAny or OwnAny, got {quote(plan.goal)}")
    turn, policy = plan.turn, plan.policy
    chance, found = _make_chance_function(policy), list[LuckOfBattle]()
    for number, end in enumerate(read_list(ends, "ends", "pairs of armies"), 1):
        pair = read_list(end, f"end {number}", "two numbers")
        if len(pair) != 2:
            raise MalformedError(
                f"end {number} must be the attackers and the defenders left, got {quote(end)}"
            )
        left = read_int(pair[0], f"attackers left of end {number}")
        defenders = read_int(pair[1], f"defenders left of end {number}")
        attack, state = policy(turn), SearchState.from_turn(turn)
        if not isinstance(attack, Attack):
            raise IllegalError(f"ends must be at most {len(found)}, because the plan is over then")
        before, decision = chance(state), policy.decide(state)
        variance = math.fsum(
            outcome.chance * (chance(state.after(decision, outcome)) - before) ** 2
            for outcome in decision.outcomes
        )
        border = attack.start, attack.to
        dice = attack.dice if turn.has_single_rolls(attack.to) else None
        turn = turn.apply_battle(*border, left, defenders, dice)
        if turn.phase == "advance":
            turn = turn.after(policy(turn))
        after = chance(SearchState.from_turn(turn))
        found.append(LuckOfBattle(*border, before, after, math.sqrt(variance)))
    return tuple(found)


def _make_chance_function(policy: Policy) -> Callable[[SearchState], float]:
    """Return a function that maps a state to the policy's chance of success."""
    problem = policy.problem

    @cache
    def chance(state: SearchState) -> float:
        if policy.is_exact:
            more = policy.decide(state).value
        else:
            report = policy.search.flow(Deadline(), MAX_LUCK_STATES, state)
            if report is None:
                raise TooLargeError(
                    "the luck of an estimated plan can be measured for at most "
                    f"{MAX_LUCK_STATES:,} states"
                )
            more = report.value
        return min(problem.sum_payoffs(state) + problem.held + more, 1.0)

    return chance
