"""Alternatives: the value of a plan after each possible first attack.

A turn often allows several attacks. The action value of attacking territory c from territory v is

    Q(v, c) = Σ_x P(x) · V(s after x),

where x ranges over the losses of the roll and each conquest is followed by the best advance. V is
the value under the plan's own policy: exact if the plan is exact, otherwise a lookahead estimate.
The policy plays on after the first attack, and may then make the other attacks. The difference
between two values is therefore the cost of a different start. The plan's own first attack is listed
first. If the policy rejects an attack of slightly greater value, the value of this attack is capped
at the value of the plan, unless the plan has a price for lost armies (`iacta.plan.margin`): it then
gives up some value on purpose, and no value exceeds the upper bound.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import fsum, inf, sqrt
from typing import NamedTuple

from iacta.game import Attack
from iacta.inputs.meanings import Count
from iacta.native.bit_sets import bits, make_mask
from iacta.native.deadline import Deadline
from iacta.plan.plan import Plan
from iacta.plan.planner import EQUAL
from iacta.plan.policy import Policy
from iacta.plan.problem import PolicyAction, SearchState

# An attack with more possible results is treated as a whole battle. A roll with at most three
# defence dice has at most 4 results.
MAX_ROLL_RESULTS = 4
SAME_ALTERNATIVE = 1e-9  # two exact values that differ by less are treated as equal
VALUE_DIGITS = 12  # values are rounded to this many decimals before they are compared


class Alternative(NamedTuple):
    """A possible first attack of a turn, with the value of a plan that begins with it.

    start: the attacking territory.
    to: the attacked territory.
    dice: the number of attack dice.
    value: the chance to reach the goal, or the expected worth, for a plan that begins with this
        attack.
    is_detour: whether this attack can only cost armies: the territory is not a target, and no roll
        raises the value of the plan.
    spread: the standard deviation of the value after the roll; 0 for a detour.
    """

    start: str
    to: str
    dice: Count
    value: float
    is_detour: bool = False
    spread: float = 0.0


def alternatives(plan: Plan, deadline: Deadline | None = None) -> tuple[Alternative, ...]:
    """Return the best first attack over each border, sorted from best to worst.

    plan: the plan that makes all later decisions.
    deadline: when to stop evaluating attacks; `None` for no limit. The plan's own attack is
        evaluated first, then the attacks of the largest stacks.

    Each border is listed with its best number of dice. The plan's own first attack comes first;
    attacks that can only cost armies are left out. Values are exact if the plan is exact. Lookahead
    may underestimate the plan; in that case all values are scaled by the same factor so that the
    first entry has the value of the plan. A plan without a value has no alternatives.

    >>> from iacta.board import Board, Holding, Position
    >>> from iacta.plan import TakeAll, best_plan
    >>> borders = ("A", "C"), ("B", "C"), ("C", "A"), ("C", "B")
    >>> board = Board("two ways", ("A", "B", "C"), borders)
    >>> holdings = Holding("red", 6), Holding("red", 3), Holding("blue", 3)
    >>> plan = best_plan(Position(board, "red", holdings), TakeAll("C"), margin=0)
    >>> for each in alternatives(plan):
    ...     print(each.start, each.dice, round(each.value, 4))
    A 3 0.8691
    B 2 0.869
    """
    return () if plan.value is None else select_best_per_border(list_first_attacks(plan, deadline))


def select_best_per_border(ways: Iterable[Alternative]) -> tuple[Alternative, ...]:
    """Return the best attack across each border, sorted by value.

    A border is skipped if all attacks across it can only cost armies.

    ways: the attacks; the first is that of the plan and stays first.
    """
    best: dict[tuple[str, str], Alternative] = {}
    useful, own = set[tuple[str, str]](), None
    for way in ways:
        border = way.start, way.to
        own, before = own or border, best.setdefault(border, way)
        if border != own and round(way.value, VALUE_DIGITS) > round(before.value, VALUE_DIGITS):
            best[border] = way
        if not way.is_detour:
            useful.add(border)
    listed = (each for border, each in best.items() if border in useful)
    return tuple(sorted(listed, key=lambda each: (each[:2] != own, -each.value)))


def list_first_attacks(plan: Plan, deadline: Deadline | None = None) -> tuple[Alternative, ...]:
    """Return every possible first attack with every number of dice, sorted from best to worst.

    plan, deadline: as for `alternatives`. Attacks that can only cost armies come last.
    """
    problem, policy, found = plan.problem, plan.policy, list[Alternative]()
    start, own = problem.start, policy.decide(problem.start)
    deadline = Deadline() if deadline is None else deadline
    best = own.value if deadline.is_over else _compute_value(policy, start, own)
    is_scaled = not policy.is_exact and best > 0.0 and plan.value is not None
    scale = (plan.comparable_value - problem.held) / best if is_scaled else 1.0
    names = problem.goal.names if problem.goal.is_chance else ()
    wanted = make_mask(map(problem.place, names)) or problem.field
    equal = SAME_ALTERNATIVE if policy.is_exact else EQUAL
    most = best + min(plan.margin, plan.gap) / scale
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
            is_whole = problem.turn.setting.has_whole_battles(c)
            for dice in dice_of[pair]:
                is_own = (v, c) == own[:2] and (is_whole or dice == own.dice)
                judged = own
                if not is_own:
                    judged = policy.evaluate_attack(start, v, c, 0 if is_whole else dice, deadline)
                if judged.dice and (is_own or not deadline.is_over):
                    # The policy may prefer its own attack to an attack whose value is slightly
                    # greater.
                    value = best if is_own else min(_compute_value(policy, start, judged), most)
                    can_help = any(outcome.value > best + equal for outcome in judged.outcomes)
                    is_detour = not is_own and not wanted >> c & 1 and not can_help
                    worth = problem.held + scale * value
                    spread = measure_spread([(each.chance, each.value) for each in judged.outcomes])
                    found.append(Alternative(*pair, dice, worth, is_detour, scale * spread))
                    if is_own:
                        found.insert(0, found.pop())
    if problem.focus is not None:
        found += _list_detours(plan, deadline)
    first = found[:1] if plan.margin else []
    rest = found[len(first) :]
    rest.sort(key=lambda each: (each.is_detour, -round(each.value, VALUE_DIGITS)))
    return *first, *rest


def _list_detours(plan: Plan, deadline: Deadline) -> Iterator[Alternative]:
    """Yield the attacks that can only cost armies: attacks that the policy never considers.

    After such an attack only the policy's own stacks attack its targets, so each value is a lower
    bound.
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
        if not all(each in chances for each in losses):
            continue  # the chances depend on the number of dice that the defender chooses
        value = 0.0
        for each in losses:
            armies = [*start.armies]
            is_taken = each.defenders == armies[c]
            moved = min(attack.dice, armies[v] - each.attackers - problem.garrisons[v])
            armies[v] -= each.attackers + (moved if is_taken else 0)
            state = SearchState(tuple(armies), start.owned)
            value += float(chances[each]) * policy.decide(state).value
        worth = problem.held + value
        yield Alternative(attack.start, attack.to, attack.dice, worth, is_detour=True)


def measure_spread(ends: Sequence[tuple[float, float]]) -> float:
    """Return the standard deviation of the value after a roll.

    ends: the chance and the value of each result.
    """
    mean = fsum(chance * value for chance, value in ends)
    return sqrt(fsum(chance * (value - mean) ** 2 for chance, value in ends))


def compute_uncertainty(plan: Plan) -> float:
    """Return the uncertainty of the value of a plan. Smaller differences may be noise.

    The uncertainty of an estimate is the width of its interval, or the error of the lookahead that
    compares the attacks, whichever is larger. A plan without a value has infinite uncertainty.
    """
    if plan.value is None:
        return inf
    seen = plan.problem.held + plan.policy.decide(plan.problem.start).value
    off = 0.0 if plan.policy.is_exact else abs(plan.value - seen)
    low, high = plan.interval or (plan.value, plan.value)
    return max(high - low, off, SAME_ALTERNATIVE)


def compute_significant_loss(loss: float, uncertainty: float) -> float:
    """Return a loss of value, or 0 if the loss does not exceed the uncertainty of the values."""
    return loss if loss > uncertainty else 0.0


def _compute_value(policy: Policy, state: SearchState, attack: PolicyAction) -> float:
    if policy.is_exact or len(attack.outcomes) > MAX_ROLL_RESULTS:
        return attack.value
    afters = ((outcome.chance, state.after(attack, outcome)) for outcome in attack.outcomes)
    return fsum(p * (policy.problem.sum_payoffs(s) + policy.decide(s).value) for p, s in afters)
