"""The Markov chain as a method: its odds, and rules under which armies can grow."""

import math
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

import iacta
from iacta import CLASSIC, Dice, Distribution, MissingError, Outcome, Rules, TooLargeError
from iacta.methods import choose_kernel
from iacta.methods.auto import STATED_ERROR
from iacta.methods.kernel import State, is_won
from iacta.methods.markov import Markov, solve
from iacta.rules.modes import ArmiesGrow, TrueRandom
from tests import brute
from tests.adapters import SEVERAL_RULES, counting, lattice, markov
from tests.cases import for_each
from tests.methods.test_agreement import EDGES, assert_within

FIVE_ONES = iacta.find_rules("five ones")
GROWING = {
    "five ones": FIVE_ONES,
    "five ones at a capital": Rules(defence=Dice((6, 6, 6)), mode=ArmiesGrow(), garrison=2),
    "four gained": Rules(mode=ArmiesGrow(4)),
    "small dice": Rules(attack=Dice((3, 3)), defence=Dice((3, 3)), mode=ArmiesGrow(2), garrison=0),
    "a gain in six rolls": Rules(attack=Dice((3,)), defence=Dice((2,)), mode=ArmiesGrow()),
}


# Odds if armies cannot grow.


@for_each("name", SEVERAL_RULES)
def test_a_chance_comes_with_a_bound_on_its_error(name: str) -> None:
    rules = SEVERAL_RULES[name]
    for attackers, defenders in [*EDGES, (3, 40), (40, 2)]:
        won = Fraction(counting.win_probability(attackers, defenders, rules))
        chance, error = markov.bound_win_probability(attackers, defenders, rules)
        assert abs(Fraction(chance) - won) <= Fraction(error) <= Fraction(1, 10**12)


def test_large_battles_keep_their_bound() -> None:
    exact = counting.values([1] * 302, [0] * 301, 300, CLASSIC)[301]
    bound = markov.relative_error(301, 300, CLASSIC)
    assert_within(markov.win_probability(301, 300, CLASSIC), exact, bound)
    assert bound < STATED_ERROR


# Odds if armies can grow.


def ends_by_steps(attackers: int, defenders: int, rules: Rules) -> dict[tuple[int, int], float]:
    """Follow the chances of the states roll by roll; only chances below 1e-20 are dropped."""
    current = {(attackers, defenders): 1.0}
    ended: dict[tuple[int, int], float] = {}
    while current:
        following: dict[tuple[int, int], float] = {}
        for (a, d), chance in current.items():
            if a <= rules.garrison or not d:
                ended[a, d] = ended.get((a, d), 0.0) + chance
                continue
            dice = min(a - rules.garrison, rules.attack.kept), min(d, rules.defence.kept)
            for (ours, theirs), p in float_distribution(dice, rules):
                if chance * p > 1e-20:
                    state = a - ours, d - theirs
                    following[state] = following.get(state, 0.0) + chance * p
        current = following
    return ended


@cache
def float_distribution(dice: tuple[int, int], rules: Rules) -> list[tuple[tuple[int, int], float]]:
    return [(losses, float(p)) for losses, p in brute.roll_losses(*dice, rules).items()]


GROWN = [(name, battle) for name in GROWING for battle in ((3, 1), (4, 7))]

GROWN += [(name, (7, 5)) for name in GROWING if "six rolls" not in name]
GROWN += [("five ones", (12, 10)), ("five ones", (30, 24)), ("small dice", (14, 10))]


@for_each(("name", "battle"), GROWN)
@pytest.mark.slow
def test_grown_armies_end_as_their_steps_do(name: str, battle: tuple[int, int]) -> None:
    rules = GROWING[name]
    attackers, defenders = battle
    ended = ends_by_steps(attackers, defenders, rules)
    won = math.fsum(p for (_, d), p in ended.items() if not d)
    chance, error = markov.bound_win_probability(attackers, defenders, rules)
    # The dropped chances and rounding errors are far below a hundredth of the bound.
    assert abs(chance - won) <= error + 1e-14
    assert 0 < error <= 1e-12
    outcomes = markov.outcomes(Distribution([attackers]), defenders, rules)
    differences = [abs(float(outcomes[Outcome(*end)]) - p) for end, p in ended.items()]
    assert math.fsum(differences) <= markov.relative_error(attackers, defenders, rules) + 1e-14
    assert 0 <= 1 - math.fsum(outcomes.values()) + 1e-14 <= 1e-12
    assert markov.win_table(attackers, defenders, rules)[-1, -1] == chance


def test_more_room_changes_no_more_than_the_bound() -> None:
    for name in ("five ones", "five ones at a capital", "small dice"):
        rules = GROWING[name]
        chance, error = markov.bound_win_probability(6, 5, rules)
        able = 6 - rules.garrison
        whole = Markov(rules)._build_chain(able, 5, 20)
        transient, absorbing = whole.blocks()
        row = (solve(transient, np.eye(transient.shape[0])) @ absorbing)[whole.row(able, 5)]
        won = math.fsum(row[: whole.able])
        assert won - 1e-14 <= chance + error <= won + row[-1] + 2 * error + 1e-14


def test_armies_that_grow_past_all_room_are_refused() -> None:
    # With one face, every full roll shows only ones, so armies grow forever.
    endless = Rules(attack=Dice((1,)), defence=Dice((1,)), mode=ArmiesGrow())
    with pytest.raises(
        TooLargeError, match=r"its armies grow past .* with a chance of up to 1.0e\+00,"
    ):
        markov.win_probability(5, 5, endless)
    drifting = Rules(attack=Dice((2,)), defence=Dice((2,)), mode=ArmiesGrow(3))
    with pytest.raises(TooLargeError, match="its armies grow past"):
        markov.outcomes(Distribution([6]), 6, drifting)


def test_thrown_dice_agree_with_the_distribution() -> None:
    rules, runs = GROWING["a gain in six rolls"], 1500
    rng = np.random.default_rng(11)
    won = sum(is_won(Outcome(*fight_battle(7, 5, rules, rng))) for _ in range(runs))
    chance = markov.win_probability(7, 5, rules)
    deviation = math.sqrt(chance * (1 - chance) / runs)
    assert abs(won / runs - chance) < 4 * deviation
    # The simulation has enough runs to detect a chain that ignores the rule.
    without = markov.win_probability(7, 5, replace(rules, mode=TrueRandom()))
    assert abs(won / runs - without) > 10 * deviation


def fight_battle(
    attackers: int, defenders: int, rules: Rules, rng: np.random.Generator
) -> tuple[int, int]:
    """Fight a battle roll by roll with plain dice; the defender wins ties."""
    while attackers > rules.garrison and defenders:
        i = min(attackers - rules.garrison, rules.attack.kept)
        j = min(defenders, rules.defence.kept)
        ours = sorted(rng.integers(1, rules.attack.faces[:i], endpoint=True).tolist(), reverse=True)
        theirs = sorted(
            rng.integers(1, rules.defence.faces[:j], endpoint=True).tolist(), reverse=True
        )
        if (i, j) == rules.full_roll and {*ours, *theirs} == {1}:
            assert isinstance(rules.mode, ArmiesGrow)
            attackers, defenders = attackers + rules.mode.gain, defenders + rules.mode.gain
            continue
        lost = sum(y > z for y, z in zip(ours, theirs, strict=False))
        attackers, defenders = attackers - min(i, j) + lost, defenders - lost
    return attackers, defenders


def test_auto_solves_five_ones_with_this_method() -> None:
    for question in ("chance", "distribution", "stack", "table"):
        assert choose_kernel(FIVE_ONES).for_question(question, 11, 10).name == "markov"
    battle = iacta.Battle(12, 10, "five ones")
    steps = ends_by_steps(12, 10, FIVE_ONES)
    assert battle.win_probability() == pytest.approx(
        math.fsum(p for (_, d), p in steps.items() if not d), abs=1e-12
    )
    assert max(battle.attackers_left()) > 12
    assert battle.outcomes().prob(is_won) == pytest.approx(battle.win_probability(), abs=1e-12)


def test_a_campaign_moves_in_with_armies_that_grew() -> None:
    way = iacta.Campaign(7, [2, 3], "five ones")
    first = ends_by_steps(7, 2, FIVE_ONES)
    expected = math.fsum(
        p * float(markov.win_probability(a - 1, 3, FIVE_ONES))
        for (a, d), p in first.items()
        if not d
    )
    assert way.win_probability() == pytest.approx(expected, abs=2e-12)
    assert way.win_probability() != pytest.approx(
        float(iacta.Campaign(7, [2, 3]).win_probability()), abs=1e-6
    )


@pytest.mark.parametrize("rules", [CLASSIC, FIVE_ONES])
@pytest.mark.parametrize("battle", [(10**12, 10**12), (10**9, 1), (2, 10**12), (10**30, 10**30)])
def test_battles_too_large_for_memory_are_refused_at_once(
    rules: Rules, battle: tuple[int, int]
) -> None:
    attackers, defenders = battle
    for ask in (markov.refuse, markov.win_probability, markov.win_table):
        with pytest.raises(TooLargeError):
            ask(attackers, defenders, rules)
    with pytest.raises(TooLargeError):
        markov.outcomes(Distribution([attackers]), defenders, rules)


def test_a_bound_that_cannot_be_kept_is_refused() -> None:
    with pytest.raises(TooLargeError, match=r"its error may be .*, expected at most 1e-12"):
        markov.bound_win_probability(900, 700, CLASSIC)
    with pytest.raises(TooLargeError, match=r"whose armies can grow has 4e\+06 states"):
        markov.bound_win_probability(2000, 2000, FIVE_ONES)


def test_without_scipy_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    sentence = r"^the method 'markov' needs SciPy, .*: pip install scipy$"
    for rules in (CLASSIC, FIVE_ONES):
        for ask in (markov.refuse, markov.win_probability, markov.win_table):
            with pytest.raises(MissingError, match=sentence):
                ask(25, 24, rules)
        with pytest.raises(MissingError, match=sentence):
            markov.outcomes(Distribution([25]), 24, rules)
    with pytest.raises(MissingError, match=sentence):
        iacta.Battle(30, 30, "five ones").win_probability()


@pytest.mark.parametrize("rules", [CLASSIC, FIVE_ONES, GROWING["five ones at a capital"]])
def test_numpy_alone_solves_small_chains_as_scipy_does(
    rules: Rules, monkeypatch: pytest.MonkeyPatch
) -> None:
    def solved() -> tuple[list[float], Distribution[State]]:
        kernel = Markov(rules)
        won = [kernel.win_probability(a, d) for a, d in product(range(1, 8), repeat=2)]
        return won, kernel.run_forward(Distribution([3, 7]), 6)

    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "scipy.sparse", None)
        won, ends = solved()
    monkeypatch.setattr("iacta.methods.markov.MAX_DENSE", 0)
    others_won, others_ends = solved()
    assert won == pytest.approx(others_won, rel=0, abs=1e-14)
    assert dict(ends.items()) == pytest.approx(dict(others_ends.items()), rel=0, abs=1e-14)


def test_auto_uses_it_only_as_a_last_resort() -> None:
    assert lattice.relative_error(400, 400, CLASSIC) > STATED_ERROR
    assert choose_kernel(CLASSIC).for_question("stack", 400, 400).name == "lattice"
