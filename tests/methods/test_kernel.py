"""All kernels: derived and accelerated results agree with the forward pass."""

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from iacta import Distribution, IactaError, IllegalError, StopRule, find_rules
from iacta.methods import choose_kernel
from iacta.methods.kernel import Kernel, State, Values
from tests.cases import for_each

RULES = {
    name: find_rules(name)
    for name in (
        "classic",
        "capital",
        "zombie attacker",
        "war god",
        "dominating12",
        "balanced blitz",
        "capital+balanced blitz",
        "defender sees first",
        "five ones",
    )
}
STOPS = {
    "never": StopRule(),
    "hold_back": StopRule(hold_back=2),
    "stop_at": StopRule(stop_at=3),
    "both": StopRule(hold_back=1, stop_at=4),
    "stop_at-and-losses": StopRule(stop_at=3, max_losses=3),
    "charge": StopRule(charge=True),
    "losses": StopRule(max_losses=2),
    "rolls": StopRule(max_rolls=2),
    "several": StopRule(hold_back=1, charge=True, max_losses=3, max_rolls=4),
}
MOST_ATTACKERS, MOST_DEFENDERS = 7, 4


def kernels() -> list[Any]:
    """Return all kernels for the given rules, stop rule and kind of number."""
    found = []
    for rules_name, rules in RULES.items():
        for stop_name, stop in STOPS.items():
            for exact in (False, True):
                try:
                    kernel = choose_kernel(rules, stop, exact=exact)
                except IactaError:
                    continue
                found.append(pytest.param(kernel, id=f"{rules_name}-{stop_name}-{exact}"))
    return found


KERNELS = kernels()


@cache
def find_ends(kernel: Kernel, attackers: int, defenders: int) -> dict[State, Any]:
    """Return the probability of each final state."""
    return dict(kernel.run_forward(Distribution([attackers]), defenders).items())


def are_close(kernel: Kernel, one: Any, other: Any, scale: Any = 1) -> bool:
    """Return whether two results agree within the kernel's bound, for values up to `scale`."""
    error = kernel.error(MOST_ATTACKERS, MOST_DEFENDERS)
    if kernel.exact:
        return bool(one == other)
    margin = error.relative * abs(other) + error.absolute * scale
    return bool(abs(one - other) <= 2 * margin + 1e-12)


@for_each("kernel", KERNELS)
def test_the_backward_pass_is_the_mean_of_the_forward_pass(kernel: Kernel) -> None:
    most = kernel.most_left(MOST_ATTACKERS, MOST_DEFENDERS)
    won = [Fraction(a * a + 1) for a in range(most.attackers + 1)]
    lost = [Fraction(3 * d) for d in range(most.defenders + 1)]
    values = Values(won, lost)
    for d, row in enumerate(kernel.run_backward(values), start=1):
        for a in range(MOST_ATTACKERS + 1) if d <= MOST_DEFENDERS else ():
            mean = sum(p * values.find(end) for end, p in find_ends(kernel, a, d).items())
            assert are_close(kernel, row[a], mean, max(won)), (a, d)


@for_each("kernel", [each for each in KERNELS if not each.values[0].exact])
def test_several_value_functions_at_once_equal_single_ones(kernel: Kernel) -> None:
    rng = np.random.default_rng(3)
    most = kernel.most_left(MOST_ATTACKERS, MOST_DEFENDERS)
    won, lost = rng.random((most.attackers + 1, 3)), rng.random((most.defenders + 1, 3))
    rows = list(kernel.run_backward(Values(won, lost)))
    for place in range(3):
        alone = kernel.run_backward(Values(won[:, place], lost[:, place]))
        for row, one in zip(rows, alone, strict=True):
            near_ones = pytest.approx(one, rel=1e-13, abs=1e-15, nan_ok=True)
            assert row[:, place] == near_ones


@for_each("kernel", KERNELS)
def test_chances_tables_and_transitions_agree_with_the_forward_pass(kernel: Kernel) -> None:
    table = kernel.win_table(MOST_ATTACKERS, MOST_DEFENDERS, staying=2)
    assert table.shape == (MOST_ATTACKERS + 2, MOST_DEFENDERS)
    assert not table[:2].any()
    for d in range(1, MOST_DEFENDERS + 1):
        transitions = kernel.compute_transitions(MOST_ATTACKERS, d)
        for a in range(MOST_ATTACKERS + 1):
            absorbed = find_ends(kernel, a, d)
            won = sum(p for end, p in absorbed.items() if not end.defenders)
            assert are_close(kernel, kernel.win_probability(a, d), won)
            for keep in (0, 2):
                enough = sum(
                    p for end, p in absorbed.items() if not end.defenders and end.attackers >= keep
                )
                chances = kernel.chances(a, d, keep)
                assert are_close(kernel, chances.won, enough)
                assert are_close(kernel, chances.lost, 1 - enough)
            if a:
                assert are_close(kernel, table[a + 1, d - 1], won)
            for left, chance in enumerate(transitions.won[a]):
                assert abs(chance - float(absorbed.get(State(left, 0), 0))) <= 1e-12
            for left, chance in enumerate(transitions.lost[a, 1:], start=1):
                expected = float(sum(p for end, p in absorbed.items() if end.defenders == left))
                assert abs(chance - expected) <= 1e-12


@for_each("kernel", KERNELS)
def test_stacks_that_are_too_small_stay(kernel: Kernel) -> None:
    for attackers in (-2, 0):
        assert find_ends(kernel, attackers, 3) == {State(attackers, 3): 1}
        assert not kernel.win_probability(attackers, 3)
        assert kernel.chances(attackers, 3) == (0, 1)


@for_each("kernel", KERNELS)
def test_a_stack_of_uncertain_size_is_the_mixture_of_its_sizes(kernel: Kernel) -> None:
    stack = Distribution({0: 1, 3: 2, 5: 1})
    mixed = kernel.run_forward(stack, 3)
    for end in {*mixed, *(end for a in stack for end in find_ends(kernel, a, 3))}:
        expected = sum(stack[a] * find_ends(kernel, a, 3).get(end, 0) for a in stack)
        assert are_close(kernel, mixed[end], expected), end


@for_each("kernel", KERNELS)
def test_a_played_battle_ends_as_a_battle_can(kernel: Kernel) -> None:
    rng = np.random.default_rng(1)
    possible = {end for end, p in find_ends(kernel, 5, 3).items() if p}
    assert all(kernel.play(5, 3, rng) in possible for _ in range(30))


@pytest.mark.parametrize("name", [name for name in RULES if name != "five ones"])
def test_chances_tend_to_their_limits(name: str) -> None:
    kernel = choose_kernel(RULES[name])
    assert are_close(kernel, kernel.win_probability(200, 3), float(kernel.limit_of_attackers(3)))
    assert are_close(
        kernel, kernel.win_probability(3, 200), 1 - float(kernel.limit_of_defenders(3))
    )


def test_armies_that_grow_have_no_limit() -> None:
    kernel = choose_kernel(RULES["five ones"])
    for ask in (kernel.limit_of_attackers, kernel.limit_of_defenders):
        with pytest.raises(
            IllegalError,
            match="armies that grow when all dice show one cannot be used for the limit",
        ):
            ask(3)
