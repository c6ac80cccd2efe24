"""Fronts: the best way to divide armies among borders that are attacked independently."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from iacta import Battle, Campaign, Dice, IactaError, Rules, find_rules
from iacta.odds import fronts as fronts_file
from iacta.odds.fronts import BestFronts, Front, defend_fronts, format_front, parse_front
from iacta.odds.spread import OBJECTIVES, Objective, spread_defenders
from iacta.probability.distribution import Probability
from tests.cases import for_each
from tests.odds.test_spread import COIN, Twin, enumerate_spreads, list_values

CLASSIC = find_rules("classic")
CAPITAL = find_rules("capital")
# Three attack dice always win, so only an odd number of defenders may hold.
THREE = Rules(full_attack=Dice((6, 6, 6), bonus=(9, 9, 9)))
CASES: list[tuple[int, list[Front], Rules]] = [
    (7, [Front(5), Front(3)], CLASSIC),
    (9, [Front(6, 2), Front(4)], CLASSIC),
    (9, [Front(5), Front(5), Front(5)], CLASSIC),
    (8, [Front(6, 2, "any"), Front(4)], CLASSIC),
    (10, [Front(7, 3), Front(5, 2), Front(2)], CLASSIC),
    (8, [Front(5, rules="capital"), Front(5)], CLASSIC),
    (7, [Front(1), Front(4, 2)], CLASSIC),
    (5, [Front(9, 2), Front(9), Front(9, 2, "any")], CLASSIC),
    (8, [Front(5, 2, "any"), Front(5)], CAPITAL),
    (9, [Front(5, 3, "any"), Front(5)], THREE),
    (6, [Front(3), Front(2)], COIN),
]


class Brute:
    """A slow twin: every division among fronts, with every spread on each front, in fractions."""

    def __init__(self, armies: int, fronts: Sequence[Front], rules: Rules, aim: Objective) -> None:
        self.armies, self.fronts, self.aim = armies, fronts, aim
        self.twins = [
            Twin(rules if each.rules is None else find_rules(each.rules, rules.garrison))
            for each in fronts
        ]
        self.known: dict[tuple[int, tuple[int, ...]], Fraction] = {}

    def value(self, place: int, spread: tuple[int, ...]) -> Fraction:
        """Return the value of a spread for the attackers of a front."""
        if (place, spread) not in self.known:
            front, twin = self.fronts[place], self.twins[place]
            if front.shape == "any":
                found = max(twin.best(front.attackers, (d,), [0, 1]) for d in spread)
            else:
                found = twin.best(front.attackers, spread, list_values(self.aim, len(spread)))
            self.known[place, spread] = found
        return self.known[place, spread]

    def total(self, spreads: Sequence[tuple[int, ...]]) -> Fraction:
        """Return the value of the spreads on all fronts."""
        values = [self.value(place, spread) for place, spread in enumerate(spreads)]
        if self.aim == "territories":
            return sum(values, start=Fraction(0))
        return 1 - prod((1 - value for value in values), start=Fraction(1))

    def best(self) -> Fraction:
        """Return the smallest value of all divisions."""
        return min(map(self.total, self.all()))

    def all(self) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Yield every division with every spread."""
        numbers = [range(each.territories, self.armies + 1) for each in self.fronts]
        for division in product(*numbers):
            if sum(division) == self.armies:
                yield from product(
                    *(
                        enumerate_spreads(n, each.territories)
                        for n, each in zip(division, self.fronts, strict=True)
                    )
                )


def find_spread_of_each_front(best: BestFronts) -> list[tuple[int, ...]]:
    """Return the best spread of armies on each front."""
    return [each.spread for each in best.fronts]


@for_each("objective", OBJECTIVES)
@for_each("case", CASES)
def test_no_division_is_better(case: tuple[int, list[Front], Rules], objective: Objective) -> None:
    armies, fronts, rules = case
    brute = Brute(armies, fronts, rules, objective)
    best = defend_fronts(armies, fronts, rules, objective=objective, exact=True)
    assert best.is_exact
    assert sum(map(sum, find_spread_of_each_front(best))) == armies
    assert best.value == brute.total(find_spread_of_each_front(best)) == brute.best()
    for place, each in enumerate(best.fronts):
        assert each.front == fronts[place]
        assert each.value == brute.value(place, each.spread)
    found = defend_fronts(armies, fronts, rules, objective=objective)
    assert find_spread_of_each_front(found) == find_spread_of_each_front(best)
    assert found.value == pytest.approx(float(best.value), rel=1e-12)
    assert [each.value for each in found.fronts] == pytest.approx(
        [float(each.value) for each in best.fronts], rel=1e-12
    )


def test_one_front_is_a_chain() -> None:
    for objective in OBJECTIVES:
        best = defend_fronts(12, [Front(12, 3)], objective=objective)
        chain = spread_defenders(12, 12, 3, objective=objective)
        assert find_spread_of_each_front(best) == [chain.spreads[0]]
        assert best.value == pytest.approx(chain.value, rel=1e-12)


def test_placing_armies_greedily_is_not_always_best() -> None:
    # Only odd numbers of defenders hold, so one more army is useless but two more help.
    fronts = [Front(5), Front(5)]
    best = defend_fronts(8, fronts, THREE, exact=True)
    assert sorted(map(sum, find_spread_of_each_front(best))) != [4, 4]
    assert best.value == Brute(8, fronts, THREE, "break through").best()


def test_equal_fronts_get_equal_numbers_of_armies() -> None:
    best = defend_fronts(30, [Front(8)] * 3)
    assert find_spread_of_each_front(best) == [(10,)] * 3
    assert best.is_exact
    assert sorted(find_spread_of_each_front(defend_fronts(31, [Front(8)] * 3))) == [
        (10,),
        (10,),
        (11,),
    ]


def test_rare_falls_and_rare_holds_keep_their_digits() -> None:
    for armies, attackers in ((600, 120), (40, 400)):
        fronts = [Front(attackers), Front(attackers + 9, 2, "any")]
        best, exact = (defend_fronts(armies, fronts, exact=exact) for exact in (False, True))
        assert find_spread_of_each_front(best) == find_spread_of_each_front(exact)
        assert best.value == pytest.approx(float(exact.value), rel=1e-12)
    assert best.value == 1.0  # the chance that 400 fail to break through is tiny but not 0
    assert 0 < 1 - exact.value < 1e-20


@pytest.mark.slow
def test_many_armies_are_divided() -> None:
    best = defend_fronts(6000, [Front(3000), Front(2000), Front(1000, rules="capital")])
    first, second, third = map(sum, find_spread_of_each_front(best))
    assert first + second + third == 6000
    assert first > second > third


def test_balanced_blitz_is_shown_in_floats_only() -> None:
    best = defend_fronts(20, [Front(9), Front(7)], "balanced blitz")
    assert best.value == pytest.approx(
        min(
            defend_fronts(n, [Front(9)], "balanced blitz").value
            + defend_fronts(20 - n, [Front(7)], "balanced blitz").value
            - defend_fronts(n, [Front(9)], "balanced blitz").value
            * defend_fronts(20 - n, [Front(7)], "balanced blitz").value
            for n in range(1, 20)
        ),
        abs=1e-12,
    )


def test_undecided_results_are_not_called_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fronts_file, "MAX_EXACT_FRONT_STEPS", 0)
    assert defend_fronts(9, [Front(5), Front(5)]).is_exact  # 4 + 5 is as good as 5 + 4
    assert not defend_fronts(9, [Front(1), Front(1, 2)]).is_exact


@pytest.mark.parametrize(
    "front", [Front(8), Front(15, 3), Front(8, 2, "any"), Front(8, rules="capital")], ids=repr
)
def test_a_front_is_read_as_it_is_written(front: Front) -> None:
    assert parse_front(format_front(front)) == front
    assert eval(repr(front), {"Front": Front, "Rules": Rules, "Dice": Dice}) == front  # noqa: S307 # the claim


@pytest.mark.parametrize("text", ["", "x", "8:", "8:any", "8:0", "8:2:nowhere", ":3", "8:some2"])
def test_values_that_are_not_fronts_are_refused(text: str) -> None:
    with pytest.raises(IactaError):
        parse_front(text)


def test_numpy_numbers_are_accepted() -> None:
    assert find_spread_of_each_front(defend_fronts(np.int16(9), [np.uint8(5), 5])) == [(4,), (5,)]  # type: ignore[arg-type, list-item] # the claim


def enumerate_placements(armies: int, territories: int) -> Iterator[tuple[int, ...]]:
    """Yield every placement of a number of armies on a number of territories."""
    if territories == 1:
        yield (armies,)
        return
    for first in range(armies + 1):
        for rest in enumerate_placements(armies - first, territories - 1):
            yield first, *rest


def falls(front: Front, spread: tuple[int, ...]) -> Probability:
    """Return the chance that a front falls, from campaigns in fractions."""
    if front.shape == "any":
        return max(Battle(front.attackers, n).win_probability(exact=True) for n in spread)
    ways = [spread] if front.shape == "end" else [spread, spread[::-1]]
    return max(Campaign(front.attackers, way).win_probability(exact=True) for way in ways)


@pytest.mark.parametrize(
    ("armies", "fronts"),
    [
        (4, [Front(6, held=(2,)), Front(7, 2, "end", held=(3, 1))]),
        (5, [Front(9, 3, "end")]),
        (3, [Front(5, held=(4,)), Front(8, 2, "any", held=(1, 3))]),
        (3, [Front(8, 2, held=(4, 0)), Front(4, held=(0,))]),
        (4, [Front(9, 3, held=(2, 0, 1))]),
    ],
)
def test_held_armies_and_fixed_ends_agree_with_enumeration(
    armies: int, fronts: list[Front]
) -> None:
    held = [n for front in fronts for n in front.held or (0,) * front.territories]
    places = [len(front.least) for front in fronts]
    chances = []
    for new in enumerate_placements(armies, len(held)):
        rest = [more + before for more, before in zip(new, held, strict=True)]
        if min(rest) < 1:
            continue
        held_all: Probability = Fraction(1)
        for front, count in zip(fronts, places, strict=True):
            held_all *= 1 - falls(front, tuple(rest[:count]))
            del rest[:count]
        chances.append(1 - held_all)
    best = defend_fronts(armies, fronts, exact=True)
    assert best.value == min(chances)
    assert sum(sum(each.spread) for each in best.fronts) == armies + sum(held)
    for each in best.fronts:
        assert all(n >= least for n, least in zip(each.spread, each.front.least, strict=True))
