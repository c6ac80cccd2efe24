"""The chain of a battle: states, matrices and their consequences, and published numbers."""

import sys
from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import iacta
from iacta import CLASSIC, Battle, Chain, Distribution, Outcome, Rules, TooLargeError
from iacta.battle.chain import BEYOND
from iacta.methods.markov import Markov
from tests import brute
from tests.adapters import SEVERAL_RULES, counting, markov
from tests.cases import for_each
from tests.methods.test_agreement import assert_within
from tests.methods.test_markov import FIVE_ONES, GROWING

ABLE = Rules(garrison=0)
BATTLES = [(9, 6), (6, 9), (5, 1), (4, 12), (2, 1), (1, 3)]


def moves(state: Outcome, rules: Rules) -> brute.Chances:
    """Return the distribution of the state after a roll, by enumeration of the dice."""
    attackers, defenders = state
    if attackers <= rules.garrison or not defenders:
        return {state: Fraction(1)}
    dice = min(attackers - rules.garrison, rules.attack.kept), min(defenders, rules.defence.kept)
    return {
        (attackers - ours, defenders - theirs): p
        for (ours, theirs), p in brute.roll_losses(*dice, rules).items()
    }


@cache
def count_rolls(attackers: int, defenders: int, rules: Rules) -> dict[int, Fraction]:
    """Return the distribution of the number of rolls, by recursion over the first roll."""
    state = Outcome(attackers, defenders)
    if attackers <= rules.garrison or not defenders:
        return {0: Fraction(1)}
    found: dict[int, Fraction] = {}
    for after, p in moves(state, rules).items():
        for rolls, chance in count_rolls(*after, rules).items():
            found[rolls + 1] = found.get(rolls + 1, Fraction(0)) + p * chance
    return found


@cache
def count_visits(attackers: int, defenders: int, rules: Rules) -> dict[tuple[int, int], Fraction]:
    """Return the expected visits to each state, by recursion over the first roll."""
    state = Outcome(attackers, defenders)
    visits: dict[tuple[int, int], Fraction] = {state: Fraction(1)}
    if attackers > rules.garrison and defenders:
        for after, p in moves(state, rules).items():
            for visited, number in count_visits(*after, rules).items():
                visits[visited] = visits.get(visited, Fraction(0)) + p * number
    return visits


def test_states_are_in_the_documented_order() -> None:
    chain = Chain(4, 2, garrison=2)
    assert chain.transient == ((3, 1), (4, 1), (3, 2), (4, 2))
    assert chain.absorbing == ((3, 0), (4, 0), (2, 1), (2, 2))
    assert chain.start == (4, 2)
    assert Chain(4, 2, FIVE_ONES).states[-1] == BEYOND


@for_each("rules", [*SEVERAL_RULES.values(), FIVE_ONES, GROWING["small dice"]])
@for_each("battle", BATTLES)
def test_each_row_of_p_is_the_distribution_of_one_roll(
    rules: Rules, battle: tuple[int, int]
) -> None:
    grows = rules.mode.grows
    chain = Chain(*((3, 2) if grows else battle), rules, exact=not grows)
    for row, state in zip(chain.P.tolist(), chain.states, strict=True):
        expected = dict.fromkeys(chain.states, Fraction(0))
        for after, p in ({BEYOND: Fraction(1)} if state == BEYOND else moves(state, rules)).items():
            expected[Outcome(*after) if after in expected else BEYOND] += p
        assert row == [float(p) if grows else p for p in expected.values()]


@for_each("name", SEVERAL_RULES)
@for_each("battle", BATTLES)
def test_exact_matrices_equal_a_recursion_over_the_first_roll(
    name: str, battle: tuple[int, int]
) -> None:
    rules = SEVERAL_RULES[name]
    chain = Chain(*battle, rules, exact=True)
    assert not np.triu(chain.Q).any()
    for i, start in enumerate(chain.transient):
        visits = count_visits(*start, rules)
        assert chain.N[i].tolist() == [visits.get(state, 0) for state in chain.transient]
        assert chain.B[i].tolist() == [visits.get(state, 0) for state in chain.absorbing]
        rolls = Distribution(count_rolls(*start, rules))
        assert (chain.t[i], chain.variance[i]) == (rolls.mean(), rolls.variance())
    if chain.transient:
        assert (chain.N @ chain.R == chain.B).all()
        assert (chain.N.sum(axis=1) == chain.t).all()


@for_each("name", SEVERAL_RULES)
@for_each("battle", BATTLES)
def test_floats_are_within_the_bound_of_the_method(name: str, battle: tuple[int, int]) -> None:
    rules = SEVERAL_RULES[name]
    exact, floats = Chain(*battle, rules, exact=True), Chain(*battle, rules)
    bound = markov.relative_error(*battle, rules)
    for matrix in ("P", "N", "B", "t"):
        for value, true in zip(
            getattr(floats, matrix).ravel(), getattr(exact, matrix).ravel(), strict=True
        ):
            assert_within(value, Fraction(true), bound)
    assert floats.variance.tolist() == pytest.approx([*map(float, exact.variance)], abs=1e-12)


@for_each("rules", [CLASSIC, SEVERAL_RULES["garrison 3"]])
def test_substitution_agrees_with_elimination(rules: Rules) -> None:
    chain = Chain(25, 20, rules)
    fundamental = np.linalg.inv(np.eye(len(chain.transient)) - chain.Q)
    assert np.abs(chain.N - fundamental).max() < 1e-13
    assert np.abs(chain.B - fundamental @ chain.R).max() < 1e-13
    assert chain.t == pytest.approx(fundamental.sum(axis=1), rel=1e-13)


def test_the_expected_rolls_of_a_large_chain_need_no_matrix() -> None:
    chain = Chain(150, 150)
    assert chain.t[-1] == pytest.approx(float(Battle(150, 150).rolls().mean()), rel=1e-12)
    with pytest.raises(TooLargeError):
        chain.N  # noqa: B018 # the matrix is too large


@for_each("rules", [CLASSIC, SEVERAL_RULES["garrison 3"], FIVE_ONES])
@for_each("n", [0, 1, 2, 3, 7, 30, 10**9])
def test_the_states_after_n_rolls_are_rows_of_the_matrix_power(rules: Rules, n: int) -> None:
    chain = Chain(6, 4, rules)
    power = np.linalg.matrix_power(chain.P, n)
    for row, start in zip(power.tolist(), chain.states, strict=True):
        states = chain.after(n, start)
        assert [float(states[each]) for each in chain.states] == pytest.approx(
            row, rel=1e-12, abs=1e-15
        )


def test_exact_states_after_n_rolls_are_rows_of_the_exact_power() -> None:
    chain = Chain(6, 4, exact=True)
    power = np.linalg.matrix_power(chain.P, 3)
    assert chain.after(3) == Distribution(
        dict(zip(chain.states, power[chain.states.index(chain.start)].tolist(), strict=True))
    )


def test_grown_armies_leave_the_chain_almost_never() -> None:
    chain = Chain(6, 4, FIVE_ONES)
    row = chain.transient.index(chain.start)
    ends = dict(zip(chain.absorbing, chain.B[row].tolist(), strict=True))
    assert 0 < ends[BEYOND] < 1e-12
    won = sum(p for end, p in ends.items() if not end.defenders)
    assert won == pytest.approx(Battle(6, 4, FIVE_ONES).win_probability(), abs=1e-12)
    assert chain.B.sum(axis=1) == pytest.approx(1, abs=1e-12)


def test_published_numbers_are_in_the_chain() -> None:
    # Höhle (2025), where the attackers exclude the garrison: 10 against 10 has 100 transient and
    # 20 absorbing states, three states after a roll, and the chance .5675929 to win.
    ten = Chain(10, 10, garrison=0)
    assert (len(ten.transient), len(ten.absorbing), len(ten.after(1))) == (100, 20, 3)
    assert ten.B[-1][:10].sum() == pytest.approx(0.5675928721351305, abs=1e-15)
    # Analyzing the Board Game Risk (pracpred): all ends of 3 against 2, as fractions.
    small = Chain(3, 2, garrison=0, exact=True)
    assert dict(zip(small.absorbing, small.B[-1].tolist(), strict=True)) == {
        (1, 0): Fraction(906815, 10077696),
        (2, 0): Fraction(326375, 1679616),
        (3, 0): Fraction(1445, 3888),
        (0, 1): Fraction(1269541, 10077696),
        (0, 2): Fraction(366275, 1679616),
    }
    # Norvig (2020): two attackers who can roll against one defender win 1955 of 2592 battles.
    assert Chain(2, 1, garrison=0, exact=True).B[-1][:2].sum() == Fraction(1955, 2592)


def test_data_frames_have_the_states_as_labels() -> None:
    chain = Chain(4, 2, exact=True)
    for name, rows, columns in (
        ("P", chain.states, chain.states),
        ("Q", chain.transient, chain.transient),
        ("R", chain.transient, chain.absorbing),
        ("N", chain.transient, chain.transient),
        ("B", chain.transient, chain.absorbing),
    ):
        frame = chain.to_frame(name)  # type: ignore[arg-type] # a name in a loop
        assert [*frame.index] == list(rows)
        assert [*frame.columns] == list(columns)
        assert frame.index.names == ["attackers", "defenders"]
        assert (frame.to_numpy() == getattr(chain, name)).all()
    assert chain.to_frame("t").loc[(4, 2), "t"] == chain.t[-1]
    assert chain.to_frame("variance").loc[(4, 2), "variance"] == chain.variance[-1]
    # With a garrison of 0, the labels are those of the articles.
    assert [*Chain(3, 2, garrison=0).to_frame("N").index] == [
        (attackers - 1, defenders) for attackers, defenders in chain.transient
    ]


def test_a_chain_of_attackers_who_cannot_attack_stays() -> None:
    for rules in (Rules(garrison=3), Rules(garrison=3, mode=iacta.ArmiesGrow())):
        still = Chain(2, 3, rules)
        assert dict(still.after(5)) == {Outcome(2, 3): 1.0}
        assert still.transient == ()
        assert still.N.size == still.B.size == still.t.size == still.variance.size == 0


def test_the_arrays_of_a_chain_cannot_be_written() -> None:
    chain = Chain(3, 2)
    for array in (chain.P, chain.Q, chain.R, chain.N, chain.B, chain.t, chain.variance):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("start", [(12, 3), (0, 0), (3, -1), "start", 3])
def test_a_state_outside_the_chain_is_refused(start: object) -> None:
    with pytest.raises(
        iacta.IllegalError, match="start must be a state of the chain, with at most 4 att"
    ):
        Chain(4, 3).after(1, start)  # type: ignore[arg-type] # is the test


def test_wrong_chains_are_refused_in_a_sentence() -> None:
    for call, sentence in (
        (lambda: Chain(0, 3), "attackers must be a whole number of at least 1"),
        (lambda: Chain(3, 0), "defenders must be a whole number of at least 1"),
        (lambda: Chain(3, 2).after(-1), "rolls must be a whole number from 0 to 1000000000"),
        (lambda: Chain(3, 2).to_frame("S"), "name must be 'P' or 'Q' or 'R'"),  # type: ignore[arg-type]
        (lambda: Chain(3, 2, "balanced blitz"), "rules with balanced blitz cannot be used"),
        (lambda: Chain(3, 2, "defender sees first"), "cannot be used for a Markov chain"),
        (lambda: Chain(3, 2, "five ones", exact=True), "exact is not possible where armies can"),
    ):
        with pytest.raises(iacta.IllegalError, match=sentence):
            call()


@for_each("battle", [(10**12, 10**12), (10**9, 1), (2, 10**12), (10**30, 10**30)])
@for_each("rules", [CLASSIC, FIVE_ONES])
def test_chains_too_large_for_memory_are_refused_at_once(
    battle: tuple[int, int], rules: Rules
) -> None:
    with pytest.raises(TooLargeError):
        Chain(*battle, rules)


def test_a_chain_too_large_for_its_matrices_has_states_after_a_roll() -> None:
    large = Chain(301, 300)
    assert dict(large.after(1)) == {
        Outcome(301 - ours, 300 - theirs): float(p)
        for (ours, theirs), p in brute.roll_losses(3, 2, CLASSIC).items()
    }
    with pytest.raises(TooLargeError, match="a chain of 301 against 300 is too large"):
        large.N  # noqa: B018 # is the test


def test_a_small_chain_needs_no_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    assert Chain(30, 30).t[-1] == pytest.approx(float(Chain(30, 30, exact=True).t[-1]))


@for_each("name", SEVERAL_RULES)
@for_each("battle", BATTLES)
def test_the_outcomes_of_a_battle_are_the_last_row_of_b(name: str, battle: tuple[int, int]) -> None:
    rules = SEVERAL_RULES[name]
    if battle[0] > rules.garrison:
        chain = Chain(*battle, rules, exact=True)
        ends = counting.outcomes(Distribution([battle[0]]), battle[1], rules)
        assert dict(zip(chain.absorbing, chain.B[-1].tolist(), strict=True)) == {
            end: ends[end] for end in chain.absorbing
        }


def test_chances_of_won_states_differ_from_chances_of_the_first_win() -> None:
    # An erratum of Höhle (2025): the sum of the chances of the won states is no chance.
    small = Chain(3, 2, ABLE)
    won = [float(small.after(n).prob(lambda state: not state.defenders)) for n in range(21)]
    assert round(sum(won[1:]), 2) == 12.74
    first_wins = [after - before for before, after in pairwise(won)]
    assert round(sum(first_wins), 3) == round(float(Battle(3, 2, ABLE).win_probability()), 3)


def test_a_growing_chain_is_refused_before_it_takes_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = list[object]()
    monkeypatch.setattr(np, "eye", made.append)
    monkeypatch.setattr(Markov, "most_left", made.append)
    for size in (90, 1000):
        with pytest.raises(TooLargeError, match=f"a chain of {size} against {size} is too large"):
            Chain(size, size, FIVE_ONES)
    assert not made
