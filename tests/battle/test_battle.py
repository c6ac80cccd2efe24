"""`Battle`: the odds of one battle, compared with published values."""

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iacta
from iacta import Battle, IactaError
from iacta.methods.kernel import is_won
from tests import strategies
from tests.published import read_rows


@pytest.mark.parametrize("row", read_rows("win_probability"))
def test_published_win_probabilities_agree(row: dict[str, str]) -> None:
    battle = Battle(int(row["attackers"]), int(row["defenders"]), garrison=0)
    if row["exact"]:
        assert battle.win_probability(exact=True) == Fraction(row["exact"])
    if row["probability"]:
        assert abs(float(battle.win_probability(exact=True)) - float(row["probability"])) < 4e-16
        assert abs(battle.win_probability() - float(row["probability"])) < 2e-15


@pytest.mark.parametrize("row", read_rows("moments"))
def test_published_means_and_deviations_agree(row: dict[str, str]) -> None:
    battle = Battle(int(row["attackers"]), int(row["defenders"]), garrison=0)
    quantities = {
        "armies_lost_when_winning": battle.attackers_lost_if_won().mean(),
        "expected_defenders_lost": battle.defenders_lost().mean(),
        "expected_attackers_lost": battle.attackers_lost().mean(),
        "sd_defenders_lost": battle.defenders_lost().standard_deviation(),
        "sd_attackers_lost": battle.attackers_lost().standard_deviation(),
    }
    quantity = quantities[row["quantity"]]
    assert f"{float(quantity):.{row['digits']}f}" == row["value"]


@pytest.mark.parametrize("row", read_rows("capital_conquest"))
def test_published_capital_battles_agree(row: dict[str, str]) -> None:
    battle = Battle(int(row["attackers"]), int(row["defenders"]), "capital", garrison=0)
    assert f"{100 * battle.win_probability():.2f}" == row["percent"]


def test_the_published_break_even_line_agrees() -> None:
    table = iacta.win_table(60, 50, garrison=0, exact=True)
    least = [1 + int(np.argmax(table[:, d] > 0.5)) for d in range(50)]
    for row in read_rows("hoehle_break_even"):
        assert least[int(row["defenders"]) - 1] == int(row["published"])
    slope, intercept = np.polyfit(np.arange(1, 51), least, 1)
    (line,) = read_rows("break_even_line")
    assert f"{intercept:.8f}" == line["intercept"]
    assert f"{slope:.8f}" == line["slope"]


@pytest.mark.parametrize("name", ["classic", "capital", "fortification", "zombie attacker"])
def test_more_attackers_help_and_more_defenders_hurt(name: str) -> None:
    table = iacta.win_table(40, 40, name, garrison=0, exact=True)
    assert (table[1:] > table[:-1]).all()
    assert (table[:, 1:] < table[:, :-1]).all()


@settings(max_examples=50)
@given(strategies.rules(), st.integers(1, 10), st.integers(1, 10))
def test_every_answer_comes_from_the_one_distribution(
    rules: iacta.Rules, attackers: int, defenders: int
) -> None:
    battle = Battle(attackers, defenders, rules)
    outcomes = battle.outcomes(exact=True)
    assert sum(outcomes.values()) == 1
    assert battle.win_probability(exact=True) == sum(
        outcomes[o] for o in outcomes if not o.defenders
    )
    left, lost = battle.attackers_left(exact=True), battle.attackers_lost(exact=True)
    assert left.mean() + lost.mean() == attackers
    held, fell = battle.defenders_left(exact=True), battle.defenders_lost(exact=True)
    assert held.mean() + fell.mean() == defenders
    assert held[0] == battle.win_probability(exact=True)


def test_attackers_no_more_than_the_garrison_cannot_attack() -> None:
    for attackers, garrison in ((1, 1), (3, 3), (2, 5)):
        battle = Battle(attackers, 4, garrison=garrison)
        assert battle.win_probability() == 0
        assert battle.win_probability(exact=True) == 0
        assert dict(battle.outcomes()) == {iacta.Outcome(attackers, 4): 1}
        assert battle.state_count() == battle.path_count() == 1


@pytest.mark.parametrize(("attackers", "defenders"), [(420, 820), (900, 300), (600, 400)])
def test_rare_ends_of_large_battles_keep_their_digits(attackers: int, defenders: int) -> None:
    battle = Battle(attackers, defenders)
    exact, found = battle.outcomes(exact=True), battle.outcomes()
    for side in (is_won, lambda end: not is_won(end)):
        assert found.prob(side) == pytest.approx(float(exact.prob(side)), rel=1e-12)
        ours, theirs = found.condition(side), exact.condition(side).to_float()
        assert ours.keys() == theirs.keys()
        assert all(math.isclose(ours[e], p, rel_tol=2e-12) for e, p in theirs.items() if p > 1e-99)
        for number in (lambda end: end.attackers, lambda end: end.defenders):
            assert ours.map(number).mean() == pytest.approx(theirs.map(number).mean(), rel=2e-12)


def test_exact_results_are_fractions_and_others_floats() -> None:
    battle = Battle(4, 3)
    assert battle.outcomes(exact=True).is_exact
    assert isinstance(battle.attackers_lost_if_won(exact=True).mean(), Fraction)
    for method in ("auto", "lattice", "counting"):
        assert isinstance(battle.win_probability(method=method), float)
    assert battle.win_probability(method="counting") == float(battle.win_probability(exact=True))


def test_a_win_too_rare_for_floats_says_so() -> None:
    assert Battle(2, 600).win_probability() == 0.0
    assert Battle(2, 600).win_probability(exact=True) > 0
    assert dict(Battle(2, 600).attackers_left_if_won(exact=True)) == {2: 1}


def normalise_name(name: str) -> str:
    """Return the name of rules in lower case, without spaces, hyphens, `_` and `!`."""
    return re.sub("[ _!-]", "", name.casefold())


RULE_NAMES = {
    normalise_name(name) for each in iacta.RULE_SETS for name in (each.name, *each.aliases)
}


@given(st.one_of(st.none(), st.text(), st.floats(), st.integers(max_value=-1), st.binary()))
def test_invalid_numbers_of_armies_raise_iacta_errors(wrong: Any) -> None:
    with pytest.raises(IactaError):
        Battle(wrong, 1)
    with pytest.raises(IactaError):
        Battle(1, wrong)
    # Valid names that are joined by `+` are also valid.
    if not (isinstance(wrong, str) and {*map(normalise_name, wrong.split("+"))} <= RULE_NAMES):
        with pytest.raises(IactaError):
            Battle(1, 1, wrong)
    if wrong is not None:
        with pytest.raises(IactaError):
            Battle(1, 1, garrison=wrong)
