"""Stopping: the law of a battle that the attackers may leave off.

Let a be the attackers able to attack, n of them at the start, and d the defenders. To stop when
fewer dice would be rolled, or after so many losses, is to roll only while a ≥ t, with a fewest
number t ≥ 1 that depends on n. The states with a < t keep what has come to them: they are
absorbing, as those with d = 0 are. A roll may jump below t, and its dice are those of the true a.

A roll that compares m dice takes m armies, so it leads from the diagonal a + d = s to s − m, and

    X(a − m + k, d − k)  +=  c_k · X(a, d)

is done for a whole diagonal at once, from the highest s to the lowest. Where the number of rolls
is limited, all states are rolled together instead, roll by roll. Exact and float differ in c_k
alone: counts in units of U^m as in `methods/counting.py`, or chances as in `methods/lattice.py`.

Stacks of several sizes n are solved together where they have the same t. After at most so many
losses that all attack dice are thrown to the end, the losses do not depend on n: one law of them
serves all these sizes.

Error. There are only sums and products of numbers that are not negative, so the roundings merely
add up: `relative_error` counts them.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate, repeat
from operator import mul
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.errors import IllegalError
from iacta.methods import counting, lattice
from iacta.methods.kernel import (
    Chances,
    Error,
    Kernel,
    RollKernel,
    State,
    Transitions,
    Values,
)
from iacta.methods.limits import OUTCOME_BYTES, refuse_too_large
from iacta.methods.outcome import Outcome
from iacta.rules.rules import Rules
from iacta.rules.stop import Stop
from iacta.rules.variants import rules_name

__all__ = ["NAME", "Reserve", "Stopping", "outcomes", "refuse_rules", "relative_error"]

NAME: str = "stopping"

Numbers: TypeAlias = npt.NDArray[Any]
Weights: TypeAlias = dict[int, Any]
Dice: TypeAlias = tuple[int, int]
Place: TypeAlias = tuple[slice, slice]
Moves: TypeAlias = list[tuple[Place, list[tuple[Any, Place]]]]
Found: TypeAlias = list[tuple[Outcome, Any, int]]

UNIT_ROUNDOFF = 2.0**-53
SLOWER = 4  # a step roll by roll, beside one of a diagonal


class Arithmetic(NamedTuple):
    """The recurrence's constants for one set of rules, exact or float.

    unit: U, or 1.0 in floats.
    steps: (c_0, c_1 ... c_m) for each (attack dice, defence dice).
    kind: what an array holds: `object` for whole numbers of any size, or `float`.
    """

    unit: int | float
    steps: dict[Dice, tuple[Any, ...]]
    kind: type

    @property
    def most_dice(self) -> Dice:
        """The most dice of both sides."""
        return max(self.steps)


class Group(NamedTuple):
    """Sizes of a stack that are solved together.

    start: the weight of each number of attackers able to attack, in units of U^number.
    more: the numbers to be added to those left, each with its weight.
    fewest: t, the fewest attackers able to attack that roll again.
    """

    start: Weights
    more: Weights
    fewest: int


def outcomes(
    stack: Distribution[int], defenders: int, rules: Rules, stop: Stop, *, exact: bool
) -> Distribution[Outcome]:
    """Return the law of the outcome of a battle that the attackers may leave off.

    stack: the law of the number of attackers on the territory, garrison included; an exact one
        if `exact`.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    stop: when the attackers stop.
    exact: whether to answer in fractions.

    The law is exact, or else the relative error of each probability is at most `relative_error`
    of the largest stack. Rules under which armies grow are refused, and battles too large.

    >>> from iacta.rules.rules import CLASSIC
    >>> outcomes(Distribution([4]), 2, CLASSIC, Stop(max_rolls=1), exact=True)
    Distribution({Outcome(attackers=2, defenders=2): 2275, Outcome(attackers=3, defenders=1): \
2611, Outcome(attackers=4, defenders=0): 2890})
    """
    refuse_rules(rules)
    weights = stack.weights()[0] if exact else {n: float(p) for n, p in stack.items()}
    garrison = stop.rules_in_fight(rules).garrison
    stay = {n: weight for n, weight in weights.items() if n <= garrison or not defenders}
    found: Found = [(Outcome(n, defenders), weight, 0) for n, weight in stay.items()]
    able = {n - garrison: weight for n, weight in weights.items() if n not in stay}
    if not able:
        return _law(found, 1)
    arithmetic = _arithmetic(max(able), defenders, rules, exact)
    groups = _groups(able, stop, rules.attack.kept)
    for group in groups:
        _refuse_group(group, defenders, arithmetic, stop.max_rolls)
    for group in groups:
        found += _found(group, defenders, garrison, arithmetic, stop.max_rolls)
    return _law(found, arithmetic.unit)


def relative_error(attackers: int, defenders: int, rules: Rules) -> float:
    """Return a bound on the relative error of each probability of a float law.

    attackers: armies on the attacking territory, garrison included or not: the bound holds.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    A battle has at most attackers + defenders rolls. Each costs two roundings, in its chance and
    its product, and one for each term that is added to a state: of rolls that take 1 .. m armies,
    m (m + 3) / 2 at most. As many outcomes as there are sizes of the stack may be added at last.

    >>> from iacta.rules.rules import CLASSIC
    >>> relative_error(250, 250, CLASSIC) < 1e-12
    True
    """
    most = min(rules.full_roll)
    roundings = (most * (most + 3) // 2 + 3) * (attackers + defenders) + rules.attack.kept
    # The weights of the sizes, and a campaign that weighs its laws, cost twelve roundings at most.
    return (roundings + 12) * UNIT_ROUNDOFF * 1.001  # (1 + u)^n − 1 < 1.001 n u while n u < 0.001


def refuse_rules(rules: Rules) -> None:
    """Refuse rules under which a battle that may be left off is not solved.

    rules: the rules of the battle.
    """
    if rules.all_ones_gain:
        raise IllegalError(
            "all_ones_gain must be 0 for a battle that stops by charge, max_losses or max_rolls, "
            f"got {rules.all_ones_gain}"
        )
    if rules.dice_mode != "true random" or rules.defender_sees_first:
        raise IllegalError(
            "rules must have truly random dice and a defender who does not see the attack first "
            f"for a battle that stops by charge, max_losses or max_rolls, got {rules_name(rules)}"
        )


def _arithmetic(able: int, defenders: int, rules: Rules, exact: bool) -> Arithmetic:
    if exact:
        return Arithmetic(*counting.coefficients(able, defenders, rules), object)
    return Arithmetic(1.0, lattice.steps_of(able, defenders, rules), float)


def _groups(able: Weights, stop: Stop, most_dice: int) -> list[Group]:
    """Return the groups of a stack.

    Sizes of one fewest number t go together. Where t is more than the attack dice, all dice are
    thrown to the end, so that a size less whatever it has more than it needs for that will do.
    """
    groups: dict[tuple[int, int], Group] = {}
    for n, weight in able.items():
        fewest = stop.fewest_able(n, most_dice)
        more = max(fewest - most_dice, 0)
        if more:
            key = Group({n - more: 1}, {}, most_dice)
            groups.setdefault((most_dice, n - more), key).more[more] = weight
        else:
            groups.setdefault((fewest, 0), Group({}, {0: 1}, fewest)).start[n] = weight
    return list(groups.values())


def _found(
    group: Group, defenders: int, garrison: int, arithmetic: Arithmetic, most_rolls: int | None
) -> Found:
    """Return the outcomes of a group, each with its weight in units of U^−(armies lost)."""
    top = max(group.start)
    start = {n: weight * arithmetic.unit ** (top - n) for n, weight in group.start.items()}
    if most_rolls is None or most_rolls >= top + defenders - 1:
        ends = _by_diagonals(start, defenders, group.fewest, arithmetic)
    else:
        ends = _roll_by_roll(start, defenders, group.fewest, arithmetic, most_rolls)
    return [
        (Outcome(a + more + garrison, d), weight * factor, top + defenders - a - d)
        for a, d, weight in ends
        for more, factor in group.more.items()
    ]


def _law(found: Found, unit: int | float) -> Distribution[Outcome]:
    """Return the law of the outcomes found, over one denominator."""
    most = max(lost for _, _, lost in found)
    powers = list(accumulate(repeat(unit, most), mul, initial=unit**0))
    law: dict[Outcome, Any] = {}
    for outcome, weight, lost in found:
        law[outcome] = law.get(outcome, 0) + weight * powers[most - lost]
    exact = all(isinstance(weight, int) for weight in law.values())
    return Distribution(law) if exact else Distribution.from_probabilities(law)


def _by_diagonals(
    start: Weights, defenders: int, fewest: int, arithmetic: Arithmetic
) -> Iterator[tuple[int, int, Any]]:
    """Yield the attackers able to attack, the defenders and the weight of each end."""
    top = max(start)
    # Those who roll leave no fewer.
    lowest = min(max(fewest - arithmetic.most_dice[0], 0), *start)
    pending: dict[int, Numbers] = {}

    def diagonal_of(total: int) -> tuple[int, Numbers]:
        """Return the fewest defenders that can be left there, and the weights from these on."""
        first, last = max(total - top, 0), min(defenders, total - lowest)
        if total not in pending:
            pending[total] = np.zeros(last - first + 1, dtype=arithmetic.kind)
        return first, pending[total]

    for n, weight in start.items():
        first, diagonal = diagonal_of(n + defenders)
        diagonal[defenders - first] += weight
    while pending:
        total = max(pending)
        first, diagonal = diagonal_of(total)
        del pending[total]
        if not diagonal.any():
            continue  # in floats what is less than 1e-300 is left out
        for low, high, step in _spans(total, defenders, fewest, arithmetic):
            moved = diagonal[max(low - first, 0) : max(high - first, 0)]
            for k, c in enumerate(step):
                below, target = diagonal_of(total - len(step) + 1)
                place = max(low, first) - k - below
                target[place : place + len(moved)] += c * moved
        ended = {0, *(total - a for a in range(fewest) if 0 < total - a <= defenders)}
        yield from (
            (total - d, d, diagonal[d - first])
            for d in sorted(ended)
            if first <= d < first + len(diagonal) and diagonal[d - first]
        )


def _spans(
    total: int, defenders: int, fewest: int, arithmetic: Arithmetic
) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
    """Yield from which to before which number of defenders the same dice roll on a diagonal."""
    most = arithmetic.most_dice
    for (i, j), step in arithmetic.steps.items():
        low = j if i == most[0] else max(j, total - i)
        high = min(defenders if j == most[1] else j, total - i)
        if i >= fewest and low <= high:
            yield low, high + 1, step


def _roll_by_roll(
    start: Weights, defenders: int, fewest: int, arithmetic: Arithmetic, rolls: int
) -> Iterator[tuple[int, int, Any]]:
    """Yield the ends, as `_by_diagonals` does, of at most so many rolls."""
    lowest = _lowest(start, defenders, arithmetic, rolls)
    shape = max(start) - lowest[0] + 1, defenders - lowest[1] + 1
    states: Numbers = np.zeros(shape, dtype=arithmetic.kind)
    for n, weight in start.items():
        states[n - lowest[0], -1] = weight
    moves = _moves(lowest, (max(start), defenders), fewest, arithmetic)
    for _ in range(rolls):
        states = _rolled(states, moves)
    for a, d in zip(*(each.tolist() for each in np.nonzero(states)), strict=True):
        yield a + lowest[0], d + lowest[1], states[a, d]


def _lowest(start: Weights, defenders: int, arithmetic: Arithmetic, rolls: int) -> tuple[int, int]:
    """Return the fewest attackers and defenders that so many rolls can leave."""
    taken = rolls * min(arithmetic.most_dice)
    return max(min(start) - taken, 0), max(defenders - taken, 0)


def _moves(
    lowest: tuple[int, int], highest: tuple[int, int], fewest: int, arithmetic: Arithmetic
) -> Moves:
    """Return the states that throw the same dice, and where they lead with which weight."""
    moves: Moves = []
    for dice, step in arithmetic.steps.items():
        taken = len(step) - 1
        spans = [
            # Nothing that rolls again is so near the lowest states, unless they are 0.
            (max(i, low + taken if low else 0), high if i == most else min(i, high))
            for i, most, low, high in zip(dice, arithmetic.most_dice, lowest, highest, strict=True)
        ]
        if dice[0] >= fewest and all(first <= last for first, last in spans):
            targets = [(c, _place(spans, lowest, taken - k, k)) for k, c in enumerate(step)]
            moves.append((_place(spans, lowest, 0, 0), targets))
    return moves


def _place(spans: list[tuple[int, int]], lowest: tuple[int, int], *lost: int) -> Place:
    rows, columns = (
        slice(first - low - less, last - low - less + 1)
        for (first, last), low, less in zip(spans, lowest, lost, strict=True)
    )
    return rows, columns


def _rolled(states: Numbers, moves: Moves) -> Numbers:
    """Return the states after one more roll of those that have not ended."""
    rolled = states.copy()
    for source, _ in moves:
        rolled[source] = 0
    for source, targets in moves:
        for c, target in targets:
            rolled[target] += c * states[source]
    return rolled


def _refuse_group(
    group: Group, defenders: int, arithmetic: Arithmetic, most_rolls: int | None
) -> None:
    """Refuse what is too large, before anything is made of its size."""
    top, rolls = max(group.start), most_rolls
    if rolls is None or rolls >= top + defenders - 1:
        lost, states = top + defenders, top * defenders
        held = (min(arithmetic.most_dice) + 1) * defenders
        ends = top + group.fewest * defenders
    else:
        low = _lowest(group.start, defenders, arithmetic, rolls)
        lost = top - low[0] + defenders - low[1]
        ends = (top - low[0] + 1) * (defenders - low[1] + 1)
        states, held = SLOWER * ends * rolls, 2 * ends
    exact_bytes = 50 + lost * int(arithmetic.unit).bit_length() // 8
    size = exact_bytes if arithmetic.kind is object else 8
    refuse_too_large(
        top + max(group.more),
        defenders,
        memory=held * size + ends * len(group.more) * (OUTCOME_BYTES + size),
        method=NAME,
        number_bytes=size,
        states=states,
    )


class Reserve(Kernel):
    """The kernel of attackers who keep some armies out of the fight, whose dice are not thrown.

    It is another kernel, for fewer attackers; those kept out are added to those left.

    fought: the kernel of the fight.
    """

    def __init__(self, fought: Kernel, stop: Stop) -> None:
        super().__init__(fought.rules, stop)
        self.fought, self.kept = fought, stop.stop_at or 0
        self.name, self.exact, self.certain = fought.name, fought.exact, fought.certain

    def by(self, question: str, attackers: int, defenders: int) -> Kernel:
        """Return the kernel of the one method that answers the fight."""
        return self.fought.by(question, attackers - self.kept, defenders)

    def decided_by(self, chance: Fraction) -> tuple[Kernel, Fraction]:
        """Return what decides the fight."""
        fought, wanted = self.fought.decided_by(chance)
        return Reserve(fought, self.stop), wanted

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse what cannot be answered for the fight."""
        self.fought.refuse(attackers - self.kept, defenders)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return the error for the fight."""
        return self.fought.error(attackers, defenders)

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the distribution of the absorbing state."""
        fighting = start.map(lambda attackers: attackers - self.kept)
        return self.fought.forward(fighting, defenders).map(
            lambda state: State(state.attackers + self.kept, state.defenders)
        )

    def backward(self, values: Values) -> Iterator[Any]:
        """Yield the expected value for each number of attackers, for 1, 2 ... defenders."""
        held = self.kept
        inner = Values(values.won[held:], values.lost)
        if values.stopped is not None and len(values.won) > held:
            lost = [row[held] for row in values.stopped] if held else values.lost
            inner = Values(values.won[held:], lost, [row[held:] for row in values.stopped])
        rows = self.fought.backward(inner)
        for d, row in enumerate(rows, start=1):
            first = [
                values.lost[d] if values.stopped is None or a == 0 else values.stopped[d][a]
                for a in range(min(held, len(values.won)))
            ]
            fought = row[np.arange(max(len(values.won) - held, 0))]
            yield np.concatenate([np.array(first, dtype=object if self.exact else float), fought])

    def win_probability(self, attackers: int, defenders: int) -> Any:
        """Return the chance to take the territory."""
        if not defenders:
            return self._number(certain=True)
        return self.fought.win_probability(attackers - self.kept, defenders)

    def chances(self, attackers: int, defenders: int, keep: int = 0) -> Chances:
        """Return the chances to take the territory with enough armies left, and not to."""
        if not defenders:
            return super().chances(attackers, defenders, keep)
        return self.fought.chances(attackers - self.kept, defenders, max(keep - self.kept, 0))

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> Numbers:
        """Return the chances to win all battles up to a size."""
        held = min(self.kept, attackers)
        if held == attackers:
            return np.zeros((staying + attackers, defenders), object if self.exact else float)
        return self.fought.win_table(attackers - held, defenders, staying + held)

    def transitions(self, attackers: int, defenders: int) -> Transitions:
        """Return how battles of up to so many attackers are absorbed; stops count as not won."""
        held = min(self.kept, attackers + 1)
        won, lost = np.zeros((attackers + 1,) * 2), np.zeros((attackers + 1, defenders + 1))
        lost[:held, defenders] = 1.0
        if attackers >= held:
            fought = self.fought.transitions(attackers - held, defenders)
            won[held:, held:], lost[held:] = fought
        return Transitions(won, lost)

    def limit_of_attackers(self, defenders: int) -> Fraction:
        """Return the chance to win as the attackers grow without end."""
        return self.fought.limit_of_attackers(defenders)

    def limit_of_defenders(self, attackers: int) -> Fraction:
        """Return the chance not to win as the defenders grow without end."""
        return self.fought.limit_of_defenders(max(attackers - self.kept, 0))

    def play(self, attackers: int, defenders: int, rng: "np.random.Generator") -> State:
        """Return how one battle ends that is decided by chance."""
        left = self.fought.play(attackers - self.kept, defenders, rng)
        return State(left.attackers + self.kept, left.defenders)


class Stopping(RollKernel):
    """The kernel of attackers who stop by charge, after so many losses or after so many rolls.

    exact: whether the answers are fractions.
    """

    name = NAME

    def __init__(self, rules: Rules, stop: Stop, *, exact: bool) -> None:
        super().__init__(rules, stop)
        self.exact = exact
        refuse_rules(self.rules)

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse rules under which a battle that may stop is not solved."""
        refuse_rules(self.rules)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return `relative_error`."""
        return Error(0.0 if self.exact else relative_error(attackers, defenders, self.rules))

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the distribution of the absorbing state."""
        ends = outcomes(start, defenders, self.rules, self.stop, exact=self.exact)
        return ends.map(lambda end: State(*end))
