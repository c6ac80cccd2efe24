"""Stopping: battles that the attackers may stop before the end.

`Reserve` holds back some armies, like a larger garrison. `Stopping` handles all other stop rules.

Let a be the number of attackers excluding the garrison, n their number at the start, and d the
number of defenders. The attackers may stop when they would roll fewer dice, when few armies are
left, or after some losses. In all these cases they roll only while a ≥ t, for a threshold t ≥ 1
that may depend on n. The states with a < t are absorbing, and so are the states with d = 0. A roll
may jump below t, but its number of dice depends on a alone.

Armies that can never take part in a roll do not affect the result. If the attackers always have
more armies than dice, the battle is solved with fewer armies, and the difference is added to the
outcome. Stop rules that allow only few losses or rolls are therefore easy for armies of any size.

Forward. All n with the same t are solved together, by the rows of `counting` or `lattice`. If the
number of rolls is limited, the probabilities of all states are carried forward roll by roll:

    X(a − m + k, d − k)  +=  c_k · X(a, d).

Backward. All n with the same t form a group; call its largest n the top. Let l = top − a, and let
r be the number of rolls so far. The expected value is

    V(r, l, d)  =  Σ_k  c_k · V(r + 1, l + m − k, d − k)    while a ≥ t and another roll is allowed,

and otherwise the value of stopping. A start with n attackers has l = top − n and r = 0. All groups
are computed at once, without r if the number of rolls is unlimited. If t is the same for all n,
`counting` or `lattice` computes the rows.

Error. There are only sums and products of non-negative numbers, so the relative errors of all
roundings add up; `Stopping.error` counts the roundings.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import repeat
from math import inf
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.errors import IllegalError
from iacta.methods import counting, lattice
from iacta.methods.counting import Ends, ExactRow, UnitKernel, list_powers, scale_to_integers
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
from iacta.probability.distribution import Distribution
from iacta.rules.modes import MODES
from iacta.rules.rules import Rules
from iacta.rules.stop import ROLL_STOP_PURPOSE, StopRule

STOPPING = "stopping"

Numbers: TypeAlias = npt.NDArray[Any]
Steps: TypeAlias = dict[tuple[int, int], tuple[Any, ...]]
Weights: TypeAlias = dict[int, Any]

ROLL_STEP_FACTOR = 4  # ratio of the time for a step roll by roll to a step by rows


class Reserve(Kernel):
    """A kernel for attackers who hold back some armies, which roll no dice.

    inner: the kernel for the armies that fight.
    garrison: the garrison without the armies held back, for error messages.
    """

    modes = MODES

    def __init__(self, inner: Kernel, stop: StopRule, garrison: int) -> None:
        self.name = inner.name
        super().__init__(replace(inner.rules, garrison=garrison), stop)
        self.inner, self.held_back = inner, stop.hold_back or 0
        self.exact, self.is_vectorised = inner.exact, inner.is_vectorised

    def most_left(self, attackers: int, defenders: int) -> State:
        return self._add_held_back(self.inner.most_left(attackers - self.held_back, defenders))

    def _add_held_back(self, state: State) -> State:
        return State(state.attackers + self.held_back, state.defenders)

    def for_question(self, question: str, attackers: int, defenders: int) -> Kernel:
        return self.inner.for_question(question, max(attackers - self.held_back, 0), defenders)

    def choose_decider(self, chance: Fraction) -> tuple[Kernel, Fraction]:
        decider, wanted = self.inner.choose_decider(chance)
        same = decider is self.inner
        return self if same else Reserve(decider, self.stop, self.garrison), wanted

    def refuse(self, attackers: int, defenders: int) -> None:
        self.inner.refuse(max(attackers - self.held_back, 0), defenders)

    def error(self, attackers: int, defenders: int) -> Error:
        return self.inner.error(attackers, defenders)

    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        fighting = start.map(lambda attackers: attackers - self.held_back)
        return self.inner.run_forward(fighting, defenders).map(self._add_held_back)

    def split_reserve(self) -> tuple[Kernel, int]:
        return self.inner, self.held_back

    def run_backward(self, values: Values) -> Iterator[Any]:
        count, held = len(values.won), min(self.held_back, len(values.won))
        inner = Values(values.won[held:], values.lost)
        rows = self.inner.run_backward(inner) if count > held else repeat([])
        for lost, row in zip(values.lost[1:], rows, strict=False):
            first = np.array([lost] * held, dtype=object if self.exact else float)
            if count == held:
                yield first
            else:
                fighting = row[np.arange(count - held)]
                yield np.concatenate([first, fighting]) if held else fighting

    def win_probability(self, attackers: int, defenders: int) -> Any:
        if not defenders:
            return self.number(1)
        return self.inner.win_probability(attackers - self.held_back, defenders)

    def chances(self, attackers: int, defenders: int, min_survivors: int = 0) -> Chances:
        if not defenders:
            return super().chances(attackers, defenders, min_survivors)
        return self.inner.chances(
            attackers - self.held_back, defenders, max(min_survivors - self.held_back, 0)
        )

    def win_table(self, attackers: int, defenders: int, staying: int = 0) -> Numbers:
        held = min(self.held_back, attackers)
        if held == attackers:
            return np.zeros((staying + attackers, defenders), object if self.exact else float)
        return self.inner.win_table(attackers - held, defenders, staying + held)

    def compute_transitions(
        self, attackers: int, defenders: int, min_attackers: int = 0
    ) -> Transitions:
        held = min(self.held_back, attackers + 1)
        most = self.most_left(attackers, defenders)
        won, lost = (np.zeros((attackers + 1, count + 1)) for count in most)
        lost[:held, defenders] = 1.0
        if attackers >= held:
            fighting = self.inner.compute_transitions(
                attackers - held, defenders, max(min_attackers - held, 0)
            )
            won[held:, held:], lost[held:] = fighting
        return Transitions(won, lost)

    def limit_of_attackers(self, defenders: int) -> Fraction:
        return self.inner.limit_of_attackers(defenders)

    def limit_of_defenders(self, attackers: int) -> Fraction:
        return self.inner.limit_of_defenders(max(attackers - self.held_back, 0))

    def play(self, attackers: int, defenders: int, rng: "np.random.Generator") -> State:
        return self._add_held_back(self.inner.play(attackers - self.held_back, defenders, rng))


class Leaving(Kernel):
    """A kernel for attackers who stop when few defenders are left, and by other stop rules.

    inner: the kernel without a stop rule.

    It follows the battle roll by roll, as in `iacta.methods.roll_counts`, under any rules with
    single rolls.

    >>> from iacta.methods import choose_kernel
    >>> from iacta.rules.rules import CLASSIC
    >>> kernel = choose_kernel(CLASSIC, StopRule(leave=1), exact=True)
    >>> kernel.run_forward(Distribution([3]), 2)[State(attackers=3, defenders=0)]
    Fraction(1445, 3888)
    """

    name = STOPPING
    modes = MODES

    def __init__(self, inner: Kernel, stop: StopRule) -> None:
        super().__init__(replace(inner.rules, garrison=inner.garrison), stop)
        self.inner, self.exact = inner, inner.exact

    def refuse(self, attackers: int, defenders: int) -> None:
        """Accept every battle. `run_forward` checks the size."""

    def most_left(self, attackers: int, defenders: int) -> State:
        return self.inner.most_left(attackers, defenders)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return a bound on the relative error from the number of roundings; 0 if exact.

        A battle has at most attackers + defenders rolls. A roll has two roundings and a rounding
        for each term that is added to a state. If armies can grow, the bound is that of `inner`.
        """
        if self.exact or self.rules.mode.grows:
            return self.inner.error(attackers, defenders)
        most = min(self.rules.full_roll)
        roundings = (attackers + defenders) * (2 + (most + 1) * (most + 2) // 2) + 12
        return Error(roundings * UNIT_ROUNDOFF * 1.001)  # (1 + u)^n − 1 < 1.001 n u

    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        from iacta.methods.roll_counts import Rolled, count_rolls

        able = np.array(list(start))
        chances = np.array(list(start.values()), object if self.exact else float)
        before = Rolled(0, able, np.full_like(able, defenders), chances)
        states: dict[State, Any] = {}
        for end in count_rolls(self, [before]):
            for a, d, p in zip(*(each.tolist() for each in end[1:]), strict=True):
                states[State(a, d)] = states.get(State(a, d), 0) + p
        return Distribution(states) if self.exact else Distribution.from_probabilities(states)

    def tabulate_moves(self, attackers: int, defenders: int) -> dict[tuple[int, int], Numbers]:
        return self.inner.tabulate_moves(attackers, defenders)

    def limit_of_attackers(self, defenders: int) -> Fraction:
        raise IllegalError("leave cannot be combined with a search for the armies needed")

    def limit_of_defenders(self, attackers: int) -> Fraction:
        return self.limit_of_attackers(attackers)


class Stopping(UnitKernel, RollKernel):
    """A kernel for attackers with a stop rule: stop_at, charge, max_losses or max_rolls.

    exact: whether the results are fractions.

    >>> from iacta.rules.rules import CLASSIC
    >>> Stopping(CLASSIC, StopRule(max_rolls=1), exact=True).run_forward(Distribution([3]), 2)
    Distribution({State(attackers=1, defenders=2): 2275, State(attackers=2, defenders=1): 2611, \
State(attackers=3, defenders=0): 2890})
    """

    name = STOPPING
    is_vectorised = True

    def __init__(self, rules: Rules, stop: StopRule, *, exact: bool) -> None:
        mode = rules.mode
        if mode.grows or not (mode.rolls and mode.has_plain_rolls):
            raise mode.make_unfit_error(ROLL_STOP_PURPOSE)
        super().__init__(rules, stop)
        self.exact = exact

    def refuse(self, attackers: int, defenders: int) -> None:
        """Accept every battle. `run_forward` checks the size, which depends on the stop rule."""

    def error(self, attackers: int, defenders: int) -> Error:
        """Return a bound on the relative error, from the number of roundings; 0 if exact.

        By rows, the roundings are as for `Lattice`. Roll by roll, a battle has at most
        attackers + defenders rolls. Each roll has two roundings, in its probability and its
        product, and a rounding for each term that is added to a state: at most m (m + 3) / 2 for
        rolls that take 1 .. m armies. The last sum has a term for each size of the stack.
        """
        if self.exact:
            return Error(0.0)
        most = min(self.rules.full_roll)
        by_rolls = (most * (most + 3) // 2 + 3) * (attackers + defenders) * UNIT_ROUNDOFF
        by_rows = lattice.Lattice(self.rules).error(attackers, defenders).relative
        # The weights of the stack sizes and of a campaign add at most twelve roundings.
        weights = (self.rules.attack.kept + 12) * UNIT_ROUNDOFF
        return Error((max(by_rolls, by_rows) + weights) * 1.001)  # (1 + u)^n − 1 < 1.001 n u

    def _compute_steps(self, attackers: int, defenders: int) -> tuple[int, Steps]:
        """Return U (1 for floats) and, for each (attack dice, defence dice), c_0 .. c_m."""
        if self.exact:
            return counting.compute_coefficients(attackers, defenders, self.rules)
        return 1, lattice.compute_steps(attackers, defenders, self.rules)

    def ends(self, able: Weights, defenders: int) -> Ends:
        attack, defence = self.rules.full_roll
        rolls = self.stop.max_rolls
        # The most armies that one side can lose before the last roll.
        most_lost = inf if rolls is None else max(rolls - 1, 0) * min(attack, defence)
        less = int(max(defenders - most_lost - defence, 0))
        # Keys: t, the armies left out, the remaining armies. A value of -1 varies within the group.
        groups: dict[tuple[int, int, int], tuple[Weights, Weights]] = {}
        for n, weight in able.items():
            fewest = min(self.stop.fewest_able(n, attack), n + 1)  # n + 1: no roll at all
            here = int(max(fewest, n - most_lost))
            more = max(here - attack, 0)
            if not more or here == self.stop.fewest_of_all:
                key = attack if more else fewest, more, -1
                start, _ = groups.setdefault(key, ({}, {more: 1}))
                start[n - more] = weight
            else:
                _, left_out = groups.setdefault((attack, -1, n - more), ({n - more: 1}, {}))
                left_out[more] = weight
        unit, steps = self._compute_steps(max(able), defenders)
        for start, left_out in groups.values():
            self._refuse_group(max(start), defenders, less, left_out, unit)
        return unit, (
            (State(a + more, d + less), x * weight, lost)
            for (fewest, *_), (start, left_out) in groups.items()
            for (a, d), x, lost in self._compute_absorbing_states(
                start, defenders - less, fewest, unit, steps
            )
            if x
            for more, weight in left_out.items()
        )

    def _refuse_group(
        self, top: int, defenders: int, less: int, left_out: Weights, unit: int
    ) -> None:
        """Raise `TooLargeError` for large battles, before any large allocation."""
        rolls, (attack, defence) = self.stop.max_rolls, self.rules.full_roll
        width = defenders - less
        if rolls is None or rolls >= top + width - 1:
            states, held = top * width, top * (defence + 1)
            ends = top + attack * width
        else:
            ends = (top + 1) * (width + 1)
            states, held = ROLL_STEP_FACTOR * ends * rolls, 2 * ends
        size = self._measure_number(top + width, unit)
        self.refuse_too_large(
            top + max(left_out),
            defenders,
            memory=held * size + ends * len(left_out) * (OUTCOME_BYTES + size),
            number_bytes=size,
            states=states,
        )

    def _measure_number(self, armies: int, unit: int) -> int:
        return 50 + armies * unit.bit_length() // 8 if self.exact else 8

    def _compute_absorbing_states(
        self, start: Weights, defenders: int, fewest: int, unit: int, steps: Steps
    ) -> Iterable[tuple[State, Any, int]]:
        """Return the final states, as `ends` does, for starts with the same threshold t.

        fewest: t.
        """
        top, rolls = max(start), self.stop.max_rolls
        if rolls is None or rolls >= top + defenders - 1:
            if self.exact:
                return counting.compute_absorbing_states(start, defenders, unit, steps, fewest)
            return lattice.compute_absorbing_states(start, defenders, steps, fewest)
        states: Numbers = np.zeros((top + 1, defenders + 1), object if self.exact else float)
        for n, weight in start.items():
            states[n, -1] = weight * unit ** (top - n)
        full, moves = max(steps), []
        for (i, j), step in steps.items():
            if fewest <= i <= top and j <= defenders:
                a_end = i + 1 if i < full[0] else top + 1
                d_end = j + 1 if j < full[1] else defenders + 1
                for k, c in enumerate(step):
                    x = len(step) - 1 - k
                    after = slice(i - x, a_end - x), slice(j - k, d_end - k)
                    moves.append((c, (slice(i, a_end), slice(j, d_end)), after))
        for _ in range(rolls):
            before, states = states, states.copy()
            states[fewest:, 1:] = 0
            for c, here, after in moves:
                states[after] += c * before[here]
        ends = np.argwhere(states != 0).tolist()
        return ((State(a, d), states[a, d], top + defenders - a - d) for a, d in ends)

    def run_backward(self, values: Values) -> Iterator[Any]:
        attackers, defenders = len(values.won) - 1, len(values.lost) - 1
        if self.stop == StopRule(stop_at=self.stop.stop_at):
            yield from self._run_with_one_threshold(values)
            return
        attack, defence = self.rules.full_roll
        unit, steps = self._compute_steps(max(attackers, 1), max(defenders, 1))
        rolls = self.stop.max_rolls
        if rolls is not None and rolls >= attackers + defenders - 1:
            rolls = None  # every battle ends before the limit
        able = np.arange(attackers + 1)
        fewest, group = np.unique(
            [min(self.stop.fewest_able(n, attack), attackers + 1) for n in able.tolist()],
            return_inverse=True,
        )
        top = np.searchsorted(group, np.arange(len(fewest)), "right") - 1
        along = (-1, *[1] * (np.ndim(values.won) - 1))
        is_too_small = (able < fewest[group]).reshape(along)
        most_lost = int(np.minimum(top, top - fewest + min(attack, defence)).max())
        size = self._measure_number(attackers + defenders, unit)
        states = (most_lost + 1) * len(top) * np.size(values.won[0]) * ((rolls or 0) + 1)
        self.refuse_too_large(
            attackers,
            defenders,
            memory=states * (6 * defence + 3) * size,
            number_bytes=size,
            states=states * defenders,
        )
        kind = object if self.exact else float
        left = np.maximum(top - np.arange(most_lost + 1)[:, np.newaxis], 0)  # [l, group]
        dice = np.where(left >= fewest, np.minimum(left, attack), 0).reshape(len(left), *along)
        # For each number of defence dice, c_k by the losses of attackers and defenders.
        moves: list[dict[tuple[int, int], Numbers]] = [{} for _ in range(defence + 1)]
        for (i, j), step in steps.items():
            for k, c in enumerate(step):
                cost = len(step) - 1 - k, k
                moves[j].setdefault(cost, np.zeros(dice.shape, kind))[dice == i] = c
        powers = list_powers(unit, attackers + defenders)
        units = np.array(powers, kind).reshape(along)
        *sides, scale = scale_to_integers(values) if self.exact else (*values, 1)
        won, held = (np.asarray(side, kind) for side in sides)
        rows = {0: (won * units[: attackers + 1])[left][np.newaxis]}
        if rolls is not None:
            rows[0] = np.repeat(rows[0], rolls + 1, axis=0)
        # If the number of rolls is limited, a roll leads from r to r + 1.
        now, then = (slice(None),) * 2 if rolls is None else (slice(-1), slice(1, None))
        for d in range(1, defenders + 1):
            stopped = (held[d] * units[d : d + attackers + 1])[left]
            rolled = np.where(dice, 0, stopped)
            row = rows[d] = np.stack([rolled] if rolls is None else [rolled] * rolls + [stopped])
            within = []
            for (x, y), c in moves[min(d, defence)].items():
                end = most_lost + 1 - x
                if y:
                    row[now, :end] += c[:end] * rows[d - y][then, x:]
                else:
                    within.append((x, c[:end], end))
            if rolls is None:
                for lost in range(most_lost, -1, -1):
                    for x, c, end in within:
                        if lost < end:
                            row[0, lost] += c[lost] * row[0, lost + x]
            else:
                for r in range(rolls - 1, -1, -1):
                    for x, c, end in within:
                        row[r, :end] += c * row[r + 1, x:]
            found = row[0, np.minimum(top[group] - able, most_lost), group]
            found = np.where(is_too_small, held[d] * units[d : d + attackers + 1], found)
            yield ExactRow(found.tolist(), powers, scale, d) if self.exact else found
            rows.pop(d - defence, None)

    def _run_with_one_threshold(self, values: Values) -> Iterator[Any]:
        """Return the rows of `run_backward` if all starts have the same threshold t."""
        rules = replace(self.rules, garrison=self.garrison)
        attackers, defenders = len(values.won) - 1, len(values.lost) - 1
        fewest = min(self.stop.fewest_of_all, attackers + 1)
        if self.exact:
            counting.Counting(rules).refuse(attackers, defenders)
            return counting.run_backward(values, self.rules, fewest)
        lattice.Lattice(rules).refuse(attackers, defenders)
        return lattice.run_backward(values, self.rules, fewest)

    def limit_of_attackers(self, defenders: int) -> Fraction:
        """Return the limit of the chance to win as the number of attackers grows.

        With a limit on losses or rolls, it is the chance of a stack that is large enough to roll
        all dice up to the limit. `stop_at` has no effect in the limit.
        """
        taken, most = min(self.rules.full_roll), []
        if self.stop.max_losses is not None:
            most.append(self.stop.max_losses + taken - 1)
        if self.stop.max_rolls is not None:
            most.append(self.stop.max_rolls * taken)
        if not most:
            return super().limit_of_attackers(defenders)
        kernel = Stopping(self.rules, replace(self.stop, stop_at=None), exact=True)
        return Fraction(kernel.win_probability(min(most) + self.rules.attack.kept, defenders))
