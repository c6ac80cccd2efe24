"""Alternatives: what plans are worth that begin differently.

For each border over which the player can attack at once, the action value of a first roll there is

    Q(v, c) = Σ_x P(x) · V(s after x),

with the losses x and, after a conquest, the best of a few advances. V is what the plan's own policy
expects from there on, or a quick plan where the policy does not say. So all beginnings are measured
with the same rule, and their differences tell what the choice is worth.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from iacta.board import Holding, Position
from iacta.methods.kernel import Result
from iacta.plan.chain import ChainPlay
from iacta.plan.exact_policy import BestPlay
from iacta.plan.goals import Worth, held_worth
from iacta.plan.plan import Plan, best_plan
from iacta.plan.policy import Policy
from iacta.plan.turn import Roll, Turn, TurnState

__all__ = ["Alternative", "alternatives", "quick_gain"]


class Alternative(NamedTuple):
    """A way to begin.

    start, to: the territory that attacks first, and the one that it attacks.
    dice: how many dice it rolls.
    value: what the plan is worth that begins with this roll: the chance of the goal, or all that
        the player has at the end on average.
    """

    start: str
    to: str
    dice: int
    value: float


def alternatives(plan: Plan, late: Callable[[], bool] = lambda: False) -> tuple[Alternative, ...]:
    """Return what plans are worth that begin with another attack, the best first.

    plan: the plan.
    late: tells whether the time is over; attacks of the largest stacks are looked at first.

    The plan's own beginning is among them, measured as the others are. Where the policy of the plan
    is the best of all, so are the values; elsewhere they are those of one roll of lookahead.

    >>> from iacta.board import Board
    >>> from iacta.plan import TakeAll
    >>> borders = ("A", "C"), ("B", "C"), ("C", "A"), ("C", "B")
    >>> board = Board("two ways", ("A", "B", "C"), borders)
    >>> holdings = Holding("red", 6), Holding("red", 3), Holding("blue", 3)
    >>> for each in alternatives(best_plan(Position(board, "red", holdings), TakeAll("C"))):
    ...     print(each.start, each.dice, round(each.value, 4))
    A 3 0.8691
    B 2 0.869
    """
    problem, held = plan.problem, held_worth(plan.problem, plan.goal)
    turn = Turn(problem, problem.enemy, plan.rewards)
    value = _value_of(plan, turn)
    start, found = turn.start(), list[Alternative]()
    rolls = _first_rolls(plan, turn, start)
    for roll in sorted(rolls, key=lambda each: -start.armies[each.start]):
        if found and late():
            break
        worth = _worth(turn, start, roll, value, isinstance(plan.policy, BestPlay | ChainPlay))
        found.append(
            Alternative(problem.name(roll.start), problem.name(roll.to), roll.dice, worth + held)
        )
    return tuple(sorted(found, key=lambda each: -each.value))


def _first_rolls(plan: Plan, turn: Turn, start: TurnState) -> list[Roll]:
    """Return one roll for each border: that of the plan, or with as many dice as are allowed."""
    rolls: dict[tuple[int, int], Roll] = {}
    for roll in turn.rolls(start):
        rolls.setdefault((roll.start, roll.to), roll)
    move, board = plan.next_move(), plan.position.board
    if move is not None:
        pair = board.territories.index(move.start), board.territories.index(move.to)
        rolls[pair] = Roll(*pair, move.dice)
    return [*rolls.values()]


def _worth(
    turn: Turn, state: TurnState, roll: Roll, value: Callable[[TurnState], float], is_exact: bool
) -> float:
    """Return Q of a roll, after conquests with the best of a few advances, or of all if exact."""
    if is_exact:
        return turn.worth(state, roll, value)
    choice = turn.choice(state, roll)

    def of(result: Result) -> float:
        after = turn.after(state, roll, result)
        advances = turn.advances(after, roll, choice.least)
        few = {advances[0], advances[len(advances) // 2], advances[-1]} if advances else ()
        follows = (value(turn.after_advance(after, roll, moved)) for moved in few)
        return turn.paid(state, roll, result) + (max(follows) if few else value(after))

    return sum(
        throw.chance
        * min(sum(result.chance * of(result) for result in option) for option in throw.options)
        for throw in choice.throws
    )


def _value_of(plan: Plan, turn: Turn) -> Callable[[TurnState], float]:
    """Return what tells what is still paid on average from a state on."""
    policy = plan.policy

    @cache
    def value(state: TurnState) -> float:
        if turn.is_over(state):
            return 0.0
        if not isinstance(policy, Policy):
            best = policy.best_roll(state)
            return best.worth if best is not None else 0.0
        start = plan.position
        holdings = tuple(
            Holding(start.player if state.owned >> t & 1 else each.owner, state.armies[t])
            for t, each in enumerate(start.holdings)
        )
        return quick_gain(plan, Position(start.board, start.player, holdings))

    return value


def quick_gain(plan: Plan, position: Position) -> float:
    """Return what a quick plan for the goal of a plan still gains from a position on.

    plan: a plan, whose rules and constraints hold for the quick one too.
    position: who holds what.
    """
    quick = best_plan(
        position,
        plan.goal,
        plan.rules,
        play="battles",
        **plan.constraints_at(position),
        time_limit=None if isinstance(plan.goal, Worth) else 0,
    )
    return quick.value - held_worth(quick.problem, plan.goal)
