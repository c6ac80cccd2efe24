"""Stopping: battles that the attackers may stop, before the territory is taken or they are lost.

`Reserve` keeps some armies out of the fight, as a larger garrison would. `Stopping` is for all
other stops.

Let a be the attackers able to attack, n of them at the start, and d the defenders. To stop when
fewer dice would be rolled, or after so many losses, is to roll only while a ≥ t, with a fewest
number t ≥ 1 that depends on n. The states with a < t keep what has come to them: they are
absorbing, as those with d = 0 are. A roll may jump below t, and its dice are those of the true a.

Forward. A roll that compares m dice takes m armies, so it leads from the diagonal a + d = s to
s − m, and

    X(a − m + k, d − k)  +=  c_k · X(a, d)

is done for a whole diagonal at once, from the highest s to the lowest. Where the number of rolls
is limited, all states are rolled together instead, roll by roll. Exact and float differ in c_k
alone: counts in units of U^m as in `methods/counting.py`, or chances as in `methods/lattice.py`.
Stacks of several sizes n are solved together where they have the same t. After at most so many
losses that all attack dice are thrown to the end, the losses do not depend on n: one distribution
of them serves all these sizes.

Backward. With l the attackers lost so far, the expected value of a start with n attackers is
V(n, 0, d), where

    V(n, l, d)  =  Σ_k  c_k · V(n, l + m − k, d − k)    while n − l ≥ t(n),

and the value of stopping otherwise. This is done for all n at once. Where the number of rolls is
limited, V also depends on how many are left, and is done for all l and d at once too.

Error. There are only sums and products of numbers that are not negative, so the roundings merely
add up: `Stopping.error` counts them.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import repeat
from math import lcm
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.distribution import Distribution
from iacta.methods import counting, lattice
from iacta.methods.counting import ExactRow, powers_of
from iacta.methods.kernel import (
    OUTCOME_BYTES,
    UNIT_ROUNDOFF,
    Chances,
    Error,
    Kernel,
    RollKernel,
    State,
    Transitions,
    Values,
)
from iacta.rules.modes import MODES
from iacta.rules.rules import Rules
from iacta.rules.stop import Stop

__all__ = ["Reserve", "Stopping"]

NAME = "stopping"

Numbers: TypeAlias = npt.NDArray[Any]
Weights: TypeAlias = dict[int, Any]
Dice: TypeAlias = tuple[int, int]
Place: TypeAlias = tuple[slice, slice]
Moves: TypeAlias = list[tuple[Place, list[tuple[Any, Place]]]]
Found: TypeAlias = list[tuple[State, Any, int]]

SLOWER = 4  # a step roll by roll, compared with one of a diagonal


class Reserve(Kernel):
    """The kernel of attackers who keep some armies out of the fight, whose dice are not thrown.

    It is another kernel, for fewer attackers; those kept out are added to those left.

    fought: the kernel of the fight.
    """

    modes = MODES

    def __init__(self, fought: Kernel, stop: Stop) -> None:
        self.name = fought.name
        super().__init__(fought.rules, stop)
        self.fought, self.kept = fought, stop.stop_at or 0
        self.exact, self.by_rows = fought.exact, fought.by_rows

    def most_left(self, attackers: int, defenders: int) -> State:
        """Return the most attackers and defenders that a battle of at most this size can leave."""
        left = self.fought.most_left(attackers - self.kept, defenders)
        return State(left.attackers + self.kept, left.defenders)

    def by(self, question: str, attackers: int, defenders: int) -> Kernel:
        """Return the kernel of the one method that answers the fight."""
        return self.fought.by(question, attackers - self.kept, defenders)

    def decided_by(self, chance: Fraction) -> tuple[Kernel, Fraction]:
        """Return what decides the fight."""
        fought, wanted = self.fought.decided_by(chance)
        return self if fought is self.fought else Reserve(fought, self.stop), wanted

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
        held, count = self.kept, len(values.won)
        inner = Values(values.won[held:], values.lost)
        if values.stopped is not None and count > held:
            lost = [row[held] for row in values.stopped] if held else values.lost
            inner = Values(values.won[held:], lost, [row[held:] for row in values.stopped])
        rows = self.fought.backward(inner) if count > held else repeat(None)
        for d, row in zip(range(1, len(values.lost)), rows, strict=False):
            stays = [values.of(State(a, d)) for a in range(min(held, count))]
            first = np.array(stays, dtype=object if self.exact else float)
            yield first if row is None else np.concatenate([first, row[np.arange(count - held)]])

    def win_probability(self, attackers: int, defenders: int) -> Any:
        """Return the chance to take the territory."""
        if not defenders:
            return self.number(1)
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

    def transitions(self, attackers: int, defenders: int, fewest: int = 0) -> Transitions:
        """Return how battles of up to so many attackers are absorbed; stops count as not won."""
        held = min(self.kept, attackers + 1)
        most = self.most_left(attackers, defenders)
        won, lost = (np.zeros((attackers + 1, count + 1)) for count in most)
        lost[:held, defenders] = 1.0
        if attackers >= held:
            fought = self.fought.transitions(attackers - held, defenders, max(fewest - held, 0))
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

    >>> from iacta.rules.rules import CLASSIC
    >>> Stopping(CLASSIC, Stop(max_rolls=1), exact=True).forward(Distribution([3]), 2)
    Distribution({State(attackers=1, defenders=2): 2275, State(attackers=2, defenders=1): 2611, \
State(attackers=3, defenders=0): 2890})
    """

    name = NAME
    by_rows = True

    def __init__(self, rules: Rules, stop: Stop, *, exact: bool) -> None:
        refuse_rules(rules)
        super().__init__(rules, stop)
        self.exact = exact

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse nothing: how large a battle may be depends on the stop, and `forward` refuses."""

    def error(self, attackers: int, defenders: int) -> Error:
        """Return the bound that counts all roundings, 0 if exact.

        A battle has at most attackers + defenders rolls. Each costs two roundings, in its
        probability and its product, and one for each term that is added to a state: of rolls that
        take 1 .. m armies, m (m + 3) / 2 at most. As many states as there are sizes of the stack
        may be added at last.
        """
        if self.exact:
            return Error(0.0)
        most = min(self.rules.full_roll)
        roundings = (most * (most + 3) // 2 + 3) * (attackers + defenders) + self.rules.attack.kept
        # The weights of the sizes, and those of a campaign, cost twelve roundings at most.
        return Error((roundings + 12) * UNIT_ROUNDOFF * 1.001)  # (1 + u)^n − 1 < 1.001 n u

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the distribution of the absorbing state; battles too large are refused."""
        weights = start.weights()[0] if self.exact else {a: float(p) for a, p in start.items()}
        stay = {a: weight for a, weight in weights.items() if a <= 0 or not defenders}
        found: Found = [(State(a, defenders), weight, 0) for a, weight in stay.items()]
        able = {a: weight for a, weight in weights.items() if a not in stay}
        if not able:
            return _distribution(found, 1)
        arithmetic = self._arithmetic(max(able), defenders)
        groups = _groups(able, self.stop, self.rules.attack.kept)
        for group in groups:
            self._refuse_group(group, defenders, arithmetic)
        for group in groups:
            found += _found(group, defenders, arithmetic, self.stop.max_rolls)
        return _distribution(found, arithmetic.unit)

    def _arithmetic(self, attackers: int, defenders: int) -> "Arithmetic":
        if self.exact:
            return Arithmetic(*counting.coefficients(attackers, defenders, self.rules), object)
        return Arithmetic(1.0, lattice.steps_of(attackers, defenders, self.rules), float)

    def backward(self, values: Values) -> Iterator[Any]:
        """Yield the expected value for each number of attackers, for 1, 2 ... defenders."""
        attackers, defenders = len(values.won) - 1, len(values.lost) - 1
        if not attackers or not defenders:
            shape = np.shape(values.won)
            kind = object if self.exact else float
            yield from (np.broadcast_to(each, shape).astype(kind) for each in values.lost[1:])
            return
        arithmetic = self._arithmetic(attackers, defenders)
        most_lost, rolls = (
            self._most_lost(attackers, defenders),
            self._most_rolls(attackers, defenders),
        )
        cells = np.size(values.won) * (most_lost + 1)
        size = 50 + (attackers + defenders) if self.exact else 8
        self.refuse_too_large(
            attackers,
            defenders,
            memory=cells * (5 * self.rules.defence.kept + 3 * defenders) * size,
            number_bytes=size,
            states=cells * defenders * (rolls or 1),
        )
        going = self._going(attackers, most_lost)
        moves = {
            j: _moves_of_all(arithmetic, j, going) for j in range(1, arithmetic.most_dice[1] + 1)
        }
        if np.ndim(values.won) > 1:
            moves = {
                j: {lost: c[..., np.newaxis] for lost, c in costs.items()}
                for j, costs in moves.items()
            }
        powers = powers_of(int(arithmetic.unit), attackers + defenders)
        scale = 1
        if self.exact:
            stopped: Any = [] if values.stopped is None else np.ravel(values.stopped[1:])
            every = (*values.won, *values.lost, *stopped)
            scale = lcm(*(Fraction(value).denominator for value in every))
        ends = np.stack(
            [
                _if_absorbed(
                    values, d, going, arithmetic.kind, powers if self.exact else None, scale
                )
                for d in range(defenders + 1)
            ]
        )
        absorbed = ends.copy()
        absorbed[1:, going > 0] = 0
        if rolls is None:
            found = _row_by_row(absorbed, moves)
        else:
            found = _all_at_once(ends, absorbed, moves, rolls)
        for d, row in enumerate(found, start=1):
            yield ExactRow(row.tolist(), powers, scale, d) if self.exact else row

    def limit_of_attackers(self, defenders: int) -> Fraction:
        """Return the chance to win as the attackers grow without end.

        If they can only lose so many, it is that of so many and all attack dice.
        """
        taken, most = min(self.rules.full_roll), []
        if self.stop.max_losses is not None:
            most.append(self.stop.max_losses + taken - 1)
        if self.stop.max_rolls is not None:
            most.append(self.stop.max_rolls * taken)
        if not most:
            return super().limit_of_attackers(defenders)
        kernel = Stopping(self.rules, self.stop, exact=True)
        return Fraction(kernel.win_probability(min(most) + self.rules.attack.kept, defenders))

    def _most_rolls(self, attackers: int, defenders: int) -> int | None:
        """Return after how many rolls such a battle stops, `None` if it ends before."""
        rolls = self.stop.max_rolls
        return None if rolls is None or rolls >= attackers + defenders - 1 else rolls

    def _most_lost(self, attackers: int, defenders: int) -> int:
        """Return how many attackers such a battle can cost before it stops."""
        taken, rolls = min(self.rules.full_roll), self._most_rolls(attackers, defenders)
        most = attackers if self.stop.max_losses is None else self.stop.max_losses + taken - 1
        return max(min(most, attackers if rolls is None else rolls * taken, attackers), 0)

    def _going(self, attackers: int, most_lost: int) -> Numbers:
        """Return how many attackers are left where they roll again, `[l, n]`; elsewhere 0."""
        dice = self.rules.attack.kept
        fewest = [self.stop.fewest_able(n, dice) for n in range(attackers + 1)]
        left = np.arange(attackers + 1) - np.arange(most_lost + 1)[:, np.newaxis]
        return np.where(left >= fewest, left, 0)

    def _refuse_group(self, group: "Group", defenders: int, arithmetic: "Arithmetic") -> None:
        """Refuse what is too large, before allocating anything of its size."""
        top, rolls = max(group.start), self.stop.max_rolls
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
        self.refuse_too_large(
            top + max(group.more),
            defenders,
            memory=held * size + ends * len(group.more) * (OUTCOME_BYTES + size),
            number_bytes=size,
            states=states,
        )


def refuse_rules(rules: Rules) -> None:
    """Refuse rules under which a battle that may stop is not solved."""
    mode = rules.mode
    if mode.grows or not (mode.rolls and mode.dice_chosen_first):
        raise mode.unfit("for a battle that stops by charge, max_losses or max_rolls")


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


def _found(group: Group, defenders: int, arithmetic: Arithmetic, most_rolls: int | None) -> Found:
    """Return the absorbing states of a group, each with its weight in units of U^−(armies lost)."""
    top = max(group.start)
    start = {n: weight * arithmetic.unit ** (top - n) for n, weight in group.start.items()}
    if most_rolls is None or most_rolls >= top + defenders - 1:
        ends = _by_diagonals(start, defenders, group.fewest, arithmetic)
    else:
        ends = _roll_by_roll(start, defenders, group.fewest, arithmetic, most_rolls)
    return [
        (State(a + more, d), weight * factor, top + defenders - a - d)
        for a, d, weight in ends
        for more, factor in group.more.items()
    ]


def _distribution(found: Found, unit: Any) -> Distribution[State]:
    """Return the distribution of the states found, over one denominator."""
    most = max(lost for _, _, lost in found)
    powers = powers_of(unit, most) if unit != 1 else [1] * (most + 1)
    states: dict[State, Any] = {}
    for state, weight, lost in found:
        states[state] = states.get(state, 0) + weight * powers[most - lost]
    exact = all(isinstance(weight, int) for weight in states.values())
    return Distribution(states) if exact else Distribution.from_probabilities(states)


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


def _moves_of_all(arithmetic: Arithmetic, defence_dice: int, going: Numbers) -> dict[Dice, Numbers]:
    """Return c_k by the attackers and the defenders that it costs, `[l, n]`; 0 where none roll."""
    most, width = arithmetic.most_dice[0], int(going.max()) + 1
    by_left: dict[Dice, Numbers] = {}
    for i in range(1, min(most, width - 1) + 1):
        step = arithmetic.steps[i, defence_dice]
        for k, c in enumerate(step):
            costs = by_left.setdefault(
                (len(step) - 1 - k, k), np.zeros(width, dtype=arithmetic.kind)
            )
            costs[i if i < most else slice(most, None)] = c
    return {lost: costs[going] for lost, costs in by_left.items()}


def _if_absorbed(
    values: Values, defenders: int, going: Numbers, kind: type, powers: list[int] | None, scale: int
) -> Numbers:
    """Return the value of all states, `[l, n]`, as if they were absorbing."""
    left = np.maximum(np.arange(going.shape[1]) - np.arange(len(going))[:, np.newaxis], 0)
    if not defenders:
        found: Numbers = np.array(values.won, dtype=kind)
    else:
        found = np.empty(np.shape(values.won), dtype=kind)
        found[:] = values.lost[defenders]
        if values.stopped is not None:
            found[1:] = values.stopped[defenders][1 : len(found)]
    if powers is not None:
        found = np.array(
            [int(Fraction(v) * scale) * p for v, p in zip(found, powers[defenders:], strict=False)],
            object,
        )
    return np.asarray(found[left])


def _row_by_row(values: Numbers, moves: dict[int, dict[Dice, Numbers]]) -> Iterator[Numbers]:
    """Yield the values of the starts for 1, 2 ... defenders.

    values: those of the absorbing states, `[d, l, n]`, and 0 elsewhere; they are overwritten.
    moves: what `_moves_of_all` returns, for each number of defence dice.
    """
    for d in range(1, len(values)):
        row, costs = values[d], moves[min(d, max(moves))]
        for (x, y), c in costs.items():
            if y:
                row[: len(row) - x] += c[: len(row) - x] * values[d - y, x:]
        for lost in range(len(row) - 2, -1, -1):
            for (x, y), c in costs.items():
                if not y and lost + x < len(row):
                    row[lost] += c[lost] * row[lost + x]
        yield row[0]


def _all_at_once(
    values: Numbers, absorbed: Numbers, moves: dict[int, dict[Dice, Numbers]], rolls: int
) -> Iterator[Numbers]:
    """Yield the same after so many rolls.

    values: those of all states if no roll is left, `[d, l, n]`.
    absorbed: the same, but 0 where the attackers roll again.
    """
    for _ in range(rolls):
        before, values = values, absorbed.copy()
        for d in range(1, len(values)):
            for (x, y), c in moves[min(d, max(moves))].items():
                end = values.shape[1] - x
                values[d, :end] += c[:end] * before[d - y, x:]
    yield from (rows[0] for rows in values[1:])
