"""The lattice: tables by anti-diagonals equal tables by rows."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import CLASSIC, Dice, Rules, find_rules
from iacta.methods.kernel import Values
from iacta.methods.lattice import Lattice
from tests import strategies
from tests.cases import for_each

SEVERAL_RULES = {
    "classic": CLASSIC,
    "capital": find_rules("capital"),
    "one die each": Rules(attack=Dice((6,)), defence=Dice((6,))),
    "five against four": Rules(attack=Dice((6,) * 5), defence=Dice((6,) * 4)),
    "attacker cannot lose": Rules(attack=Dice((6,), bonus=(6,)), defence=Dice((6,))),
    "attacker cannot win": Rules(defence=Dice((6, 6), bonus=(6, 6))),
    "attacker hardly loses": Rules(attack=Dice((100, 100, 100))),
    "defender hardly loses": Rules(defence=Dice((100, 100))),
}


def compute_by_rows(attackers: int, defenders: int, rules: Rules) -> npt.NDArray[np.float64]:
    """Compute the table of chances to win one row at a time."""
    values = Values(np.ones(attackers + 1), np.zeros(defenders + 1))
    rows = Lattice(rules).run_backward(values)
    return np.array([row[1:] for row in rows])


def assert_same(
    table: npt.NDArray[np.float64], rows: npt.NDArray[np.float64], tolerance: float
) -> None:
    """Assert that chances are relatively equal; tiny chances only have to be near 0."""
    rare = rows < 1e-150
    assert np.allclose(table[~rare], rows[~rare], rtol=tolerance, atol=0)
    assert (table[rare] < 1.001e-150).all()


@for_each("name", SEVERAL_RULES)
@for_each("size", [(700, 900), (900, 800), (120, 1500)])
def test_a_band_contains_every_chance_except_0_and_1(name: str, size: tuple[int, int]) -> None:
    rules = SEVERAL_RULES[name]
    table = Lattice(rules)._fill_by_diagonals(*size, staying=0)
    assert table.shape == size[::-1]
    assert_same(table, compute_by_rows(*size, rules), tolerance=1e-13)


# Under these rules more dice can be worse, so more attackers do not always win more often.
@pytest.mark.parametrize(
    ("rules", "size"),
    [
        (Rules(attack=Dice((1, 1), bonus=(-1,)), defence=Dice((1, 2)), ties="attacker"), (3, 2)),
        (
            Rules(
                attack=Dice((1, 1), reroll=(1,), bonus=(-2,)),
                defence=Dice((1, 1, 4), clamp=(0, 3)),
                ties="attacker",
            ),
            (5, 7),
        ),
    ],
)
def test_chances_against_few_defenders_stay_certain(rules: Rules, size: tuple[int, int]) -> None:
    table = Lattice(rules)._fill_by_diagonals(*size, staying=0)
    assert_same(table, compute_by_rows(*size, rules), tolerance=1e-14)


@settings(max_examples=60)
@given(strategies.rules(), st.integers(1, 30), st.integers(1, 30))
def test_any_rules_and_sizes_agree(rules: Rules, attackers: int, defenders: int) -> None:
    i, j = rules.full_roll
    if attackers < i or defenders < j:
        return  # too few armies for a roll with all dice
    table = Lattice(rules)._fill_by_diagonals(attackers, defenders, staying=0)
    assert_same(table, compute_by_rows(attackers, defenders, rules), tolerance=1e-14)


@pytest.mark.parametrize("staying", [0, 1, 3])
def test_rows_for_armies_that_must_stay_have_no_chance(staying: int) -> None:
    table = Lattice(CLASSIC).win_table(40, 50, staying)
    assert table.shape == (staying + 40, 50)
    assert not table[:staying].any()
    assert_same(table[staying:].T, compute_by_rows(40, 50, CLASSIC), tolerance=1e-14)


def test_large_tables_are_made_by_anti_diagonals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Lattice, "_fill_by_diagonals", lambda *_: np.zeros((50, 50)))
    assert (Lattice(CLASSIC).win_table(50, 50) == 0).all()
