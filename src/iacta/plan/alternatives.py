"""Alternatives: the values of a plan after each possible first attack.

For each border over which the player can attack at once, the action value of a first attack there
is

    Q(v, c) = Σ_x P(x) · V(s after x),

with the losses x and, after a conquest, the best advance. V is the value under the plan's own
policy: exact for exact play, and an estimate by lookahead otherwise. Most attacks can also be made
later, so the policy plays on after the first attack; the differences between the values show the
cost of each choice. The policy's own attack comes first. If its style prefers this attack to others
that look slightly better, the values count as equal.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import fsum, inf
from typing import NamedTuple

from iacta.game import Attack
from iacta.native.bit_sets import bits, make_mask
from iacta.native.deadline import Deadline
from iacta.plan.plan import Plan
from iacta.plan.planner import EQUAL
from iacta.plan.policy import Policy
from iacta.plan.problem import PolicyAction, TurnState

MAX_ROLL_RESULTS = 4  # whole battles have more results
SAME = 1e-9  # exact values that differ by less count as equal
DIGITS = 12  # values equal to 12 digits are sorted by the number of dice, the most first


class Alternative(NamedTuple):
    """A possible first attack of a plan."""

    start: str  # the territory that attacks first
    to: str  # the attacked territory
    dice: int  # the number of attack dice
    # The value of the plan that begins with this attack: the chance of the goal, or the expected
    # worth of the player's holdings at the end.
    value: float
    # Whether the attack can only cost armies: the territory is not a target, and no result of a
    # roll raises the value.
    is_detour: bool = False


def alternatives(plan: Plan, deadline: Deadline | None = None) -> tuple[Alternative, ...]:
    """Return the best first attack over each border, the best attack first, without detours.

    plan: the plan.
    deadline: the end of the search, which evaluates the plan's own attack and then the attacks
        of the largest stacks; `None` for no limit.

    Each border has its best number of dice. The plan's own first attack is included; attacks
    that can only cost armies are not. The values of exact play are exact. Lookahead may
    underestimate the plan; then all values are scaled by the same factor, so that the first entry
    has the value of the plan. A plan without a value has no alternatives.

    >>> from iacta.board import Board, Holding, Position
    >>> from iacta.plan import TakeAll, best_plan
    >>> borders = ("A", "C"), ("B", "C"), ("C", "A"), ("C", "B")
    >>> board = Board("two ways", ("A", "B", "C"), borders)
    >>> holdings = Holding("red", 6), Holding("red", 3), Holding("blue", 3)
    >>> for each in alternatives(best_plan(Position(board, "red", holdings), TakeAll("C"))):
    ...     print(each.start, each.dice, round(each.value, 4))
    A 3 0.8691
    B 2 0.869
    """
    return () if plan.value is None else select_best_per_border(list_first_attacks(plan, deadline))


def select_best_per_border(ways: Iterable[Alternative]) -> tuple[Alternative, ...]:
    """Return the first listed attack over each border, sorted by value, without detours."""
    first: dict[tuple[str, str], Alternative] = {}
    for each in ways:
        first.setdefault((each.start, each.to), each)
    useful = (each for each in first.values() if not each.is_detour)
    return tuple(sorted(useful, key=lambda each: -each.value))


def list_first_attacks(plan: Plan, deadline: Deadline | None = None) -> tuple[Alternative, ...]:
    """Return each possible first attack with each number of dice, the best first.

    plan, deadline: as for `alternatives`. Detours are last.
    """
    problem, policy, found = plan.problem, plan.policy, list[Alternative]()
    start, own = problem.start, policy.decide(problem.start)
    deadline = Deadline() if deadline is None else deadline
    best = own.value if deadline.is_over else _find_value(policy, start, own)
    is_scaled = not policy.is_exact and best > 0.0 and plan.value is not None
    scale = (plan.comparable_value - problem.held) / best if is_scaled else 1.0
    names = problem.goal.names if problem.goal.is_chance else ()
    wanted = make_mask(map(problem.place, names)) or problem.field
    equal = SAME if policy.is_exact else EQUAL
    dice_of = defaultdict[tuple[str, str], list[int]](list)
    for attack in problem.turn.actions():
        if isinstance(attack, Attack):
            dice_of[attack.start, attack.to].append(attack.dice)
    for v in sorted(bits(problem.stacks), key=lambda v: (v != own.start, -start.armies[v])):
        near = bits(problem.out[v] & problem.field & ~start.owned)
        for c in sorted(near, key=lambda c: (v, c) != own[:2]):
            if found and deadline.is_over:
                break
            pair = problem.name(v), problem.name(c)
            is_whole = problem.is_whole(c)
            for dice in dice_of[pair]:
                is_own = (v, c) == own[:2] and (is_whole or dice == own.dice)
                judged = own
                if not is_own:
                    judged = policy.evaluate_attack(start, v, c, 0 if is_whole else dice, deadline)
                if judged.dice and (is_own or not deadline.is_over):
                    # The policy may prefer its attack to an attack of a slightly greater value.
                    value = best if is_own else min(_find_value(policy, start, judged), best)
                    can_help = any(each.value > best + equal for each in judged.outcomes)
                    is_detour = not is_own and not wanted >> c & 1 and not can_help
                    worth = problem.held + scale * value
                    found.append(Alternative(*pair, dice, worth, is_detour))
                    if is_own:
                        found.insert(0, found.pop())
    if problem.focus is not None:
        found += _attacks_outside(plan, deadline)
    return tuple(sorted(found, key=lambda each: (each.is_detour, -round(each.value, DIGITS))))


def _attacks_outside(plan: Plan, deadline: Deadline) -> Iterator[Alternative]:
    """Yield the attacks outside the focus of the policy, as detours.

    The value counts only the armies left in the focus, so it is a lower bound.
    """
    problem, policy, start = plan.problem, plan.policy, plan.problem.start
    for attack in problem.turn.actions():
        if deadline.is_over:
            return
        if not isinstance(attack, Attack):
            continue
        v, c = problem.place(attack.start), problem.place(attack.to)
        if problem.stacks >> v & 1 and problem.field >> c & 1:
            continue
        losses = problem.turn.list_losses(attack)
        chances = problem.turn.results(attack)
        if not all(each in chances for each in losses):  # the defender chooses among results
            continue
        value = 0.0
        for each in losses:
            armies = [*start.armies]
            is_taken = each.defenders == armies[c]
            moved = min(attack.dice, armies[v] - each.attackers - problem.garrisons[v])
            armies[v] -= each.attackers + (moved if is_taken else 0)
            state = TurnState(tuple(armies), start.owned)
            value += float(chances[each]) * policy.decide(state).value
        worth = problem.held + value
        yield Alternative(attack.start, attack.to, attack.dice, worth, is_detour=True)


def uncertainty(plan: Plan) -> float:
    """Return the uncertainty of the value of a plan; a smaller difference may be an error.

    The uncertainty of an estimate is the width of its interval, or the error of the lookahead that
    compares the attacks if this is larger.
    """
    if plan.value is None:
        return inf
    seen = plan.problem.held + plan.policy.decide(plan.problem.start).value
    off = 0.0 if plan.policy.is_exact else abs(plan.value - seen)
    low, high = plan.interval or (plan.value, plan.value)
    return max(high - low, off, SAME)


def find_significant_loss(loss: float, unsure: float) -> float:
    """Return the loss of a decision, or 0 if it does not exceed the uncertainty `unsure`."""
    return loss if loss > unsure else 0.0


def _find_value(policy: Policy, state: TurnState, attack: PolicyAction) -> float:
    if policy.is_exact or len(attack.outcomes) > MAX_ROLL_RESULTS:
        return attack.value
    afters = ((each.chance, state.after(attack, each)) for each in attack.outcomes)
    return fsum(p * (policy.problem.paid(s) + policy.decide(s).value) for p, s in afters)
