"""Searches for the smallest number that reaches a chance, using floats and fractions."""

from fractions import Fraction

import numpy as np
import pytest

from iacta.methods.kernel import Chances, Error
from iacta.odds.search import (
    Curve,
    compare_chance,
    find_smallest,
    find_smallest_in_tables,
    is_reached_by_floats,
)
from tests.cases import for_each

TRUE = [1 - Fraction(1, max(n, 1)) for n in range(31)]  # 0, 0, 1/2, 2/3 ...


def curve(error: float, asked: list[int], most: int = 30) -> Curve:
    """Return chances as floats with their bounds, and count how often fractions are requested."""

    def exact(count: int) -> list[Fraction]:
        asked.append(count)
        return TRUE[: count + 1]

    pro = np.array([float(chance) for chance in TRUE[: most + 1]])
    return Curve(pro, Error(error), lambda: 1 - pro, exact)


def test_a_curve_is_as_exact_as_its_fractions() -> None:
    asked: list[int] = []
    hair = Fraction(1, 10**30)
    wide = curve(1e-3, asked)
    assert wide.find_first([Fraction(9, 10), Fraction(9, 10) + hair]) == [10, 11]
    assert asked
    asked.clear()
    assert wide.find_first([Fraction(17, 19), Fraction(19, 20) - Fraction(1, 200)]) == [10, 19]
    assert not asked
    assert wide.find_first([Fraction(99, 100), 1 - Fraction(1, 10**200)]) == [None, None]
    assert wide.find_first([Fraction(1, 10**400)]) == [2]


def test_without_fractions_the_floats_of_the_smaller_chance_decide() -> None:
    pro = np.array([0.0, 0.5, 1.0, 1.0])
    con = np.array([1.0, 0.5, 1e-30, 0.0])
    floats = Curve(pro, Error(0.0, 1e-9), lambda: con, lambda _: None)
    assert floats.find_first([Fraction(1), 1 - Fraction(1, 10**29), Fraction(1, 2)]) == [
        3,
        2,
        1,
    ]
    assert is_reached_by_floats(Chances(0.25, 0.75), Fraction(1, 4))


def test_the_complement_decides_where_the_chance_cannot() -> None:
    chances = Chances(1.0, 1e-30)
    hair = Fraction(1, 10**30)
    assert compare_chance(chances, 1 - 2 * hair, Error(1e-12)) is True
    assert compare_chance(chances, 1 - hair / 2, Error(1e-12)) is False
    assert compare_chance(chances, 1 - hair, Error(1e-12)) is None
    assert compare_chance(chances, 1 - hair / 2, Error(1e-12), minimum=Fraction(1, 10**15)) is None
    assert compare_chance(chances, 1 - hair / 2, Error(0.0, 1e-12)) is None


@for_each("guess", [1, 2, 7, 40, 1000])
@for_each("least", [1, 2, 39, 40, 41, 777])
def test_the_first_is_found_from_any_guess(guess: int, least: int) -> None:
    asked: list[int] = []

    def reaches(number: int) -> bool:
        asked.append(number)
        return number >= least

    for step in (1, 8):
        asked.clear()
        assert find_smallest(reaches, guess, step) == least
        assert len(asked) == len(set(asked))
        assert min(asked) > 0
    if guess <= 500:
        assert find_smallest(reaches, guess, maximum=500) == (least if least <= 500 else None)


def test_tables_grow_until_every_number_is_found_or_refused() -> None:
    sizes: list[int] = []

    def tables(most: int, keys: object) -> list[tuple[str, Curve]]:
        sizes.append(most)
        return [("one", curve(1e-12, [], most))]

    def refuse(key: str, wanted: Fraction) -> None:
        if wanted == 1:
            raise LookupError(key)

    wanted = [Fraction(1, 2), Fraction(9, 10)]
    found = find_smallest_in_tables({"one": wanted}, tables, 4, refuse)
    assert found == {("one", Fraction(1, 2)): 2, ("one", Fraction(9, 10)): 10}
    assert sizes == [4, 8, 16]
    with pytest.raises(LookupError, match="one"):
        find_smallest_in_tables({"one": [Fraction(1)]}, tables, 4, refuse)
