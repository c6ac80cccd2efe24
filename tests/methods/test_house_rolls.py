"""Battles under house rules for rolls, compared with a twin that enumerates all dice."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

import iacta
from iacta import Battle, Campaign, Dice, Rules
from iacta.game import Attack, EndPhase
from iacta.methods import choose_kernel
from iacta.rules.modes import Missiles, TiesCost
from iacta.rules.roll import Losses
from iacta.rules.thrown import throw_losses
from tests.cases import for_each
from tests.game.positions import make_line_turn
from tests.house_twin import HOUSES, TURN_HOUSES, House


def win(house: House, attackers: int, defenders: int) -> Fraction:
    """Return the chance to win by recursion, garrison of 1 included."""

    @cache
    def value(a: int, d: int) -> Fraction:
        if d <= 0:
            return Fraction(a > 0 or house.ties == "both and taken")
        ours, theirs = house.count_dice(a, d)
        if not ours:
            return Fraction(0)
        law = house.list_losses(ours, theirs)
        again = law.get((0, 0), Fraction(0))
        onward = (p * value(a - x, d - y) for (x, y), p in law.items() if (x, y) != (0, 0))
        return sum(onward, Fraction(0)) / (1 - again)

    return value(attackers - 1, defenders)


@for_each("house", HOUSES)
def test_battles_agree_with_the_twin(house: str) -> None:
    rules = HOUSES[house].rules
    for attackers, defenders in ((1, 2), (2, 1), (2, 3), (4, 3), (7, 4), (9, 6), (5, 8)):
        expected, battle = (
            win(HOUSES[house], attackers, defenders),
            Battle(attackers, defenders, rules),
        )
        assert battle.win_probability(exact=True) == expected
        assert battle.win_probability() == pytest.approx(float(expected), rel=1e-13)
        won = battle.outcomes(exact=True).prob(lambda end: end.defenders == 0)
        assert won == expected
        table = iacta.win_table(attackers, defenders, rules, exact=True)
        assert table[-1, -1] == expected


@for_each(
    ("house", "attackers", "defenders", "chance"),
    [
        ("nobody", 10, 8, 0.90653),
        ("nobody, one die", 3, 2, 0.66474),
        ("both", 10, 8, 0.87275),
        ("both and taken", 10, 8, 0.88210),
        ("late", 10, 8, 0.68111),
        ("never fewer", 10, 5, 0.5904),
    ],
)
def test_battles_have_the_published_chances(
    house: str, attackers: int, defenders: int, chance: float
) -> None:
    found = Battle(attackers, defenders, HOUSES[house].rules).win_probability()
    assert found == pytest.approx(chance, abs=6e-6 if chance != 0.5904 else 6e-5)


@for_each("house", HOUSES)
def test_all_ends_of_battles_have_the_chances_of_a_single_battle(house: str) -> None:
    kernel = choose_kernel(HOUSES[house].rules)
    for defenders in (2, 5, 5, 3):  # in any order
        won, stopped = kernel.compute_ends(7, defenders)
        for able in range(1, 8):
            ends = kernel.run_forward(iacta.Distribution([able]), defenders)
            if kernel.count_dice(able, defenders)[0] == 0:
                assert not won[able].any()
                assert not stopped[able].any()
                continue
            expected = np.zeros_like(stopped[able])
            for end, chance in ends.items():
                if end.defenders:
                    expected[end.defenders, end.attackers] += float(chance)
                else:
                    assert won[able, end.attackers] == pytest.approx(float(chance), rel=1e-12)
            assert stopped[able] == pytest.approx(expected, rel=1e-12)


def test_ties_that_cost_nobody_take_more_rolls() -> None:
    rolls = Battle(3, 2, HOUSES["nobody, one die"].rules).rolls()
    assert rolls.mean() == pytest.approx(613 / 216, abs=1e-12)


@for_each("house", HOUSES)
def test_played_battles_end_as_computed(house: str) -> None:
    battle = Campaign(6, [3], HOUSES[house].rules)
    rng, runs = np.random.default_rng(1), 4000
    won = sum(battle.play(rng)[-1].defenders_left == 0 for _ in range(runs))
    chance = battle.win_probability()
    assert abs(won / runs - chance) < 4 * (chance * (1 - chance) / runs) ** 0.5


@for_each("house", HOUSES)
def test_armies_needed_are_the_first_that_reach_the_chance(house: str) -> None:
    rules = HOUSES[house].rules
    needed = iacta.armies_needed(4, 0.8, rules)
    assert win(HOUSES[house], needed - 1, 4) < Fraction(4, 5) <= win(HOUSES[house], needed, 4)


def test_a_tie_leaves_a_turn_as_it_was() -> None:
    turn = make_line_turn("r3 b2").with_options(rules=HOUSES["nobody"].rules)
    attack = turn.actions()[0]
    assert isinstance(attack, Attack)
    assert turn.after(attack, (0, 0)) == turn
    assert tuple(turn.compare_dice(attack, [6, 5], [6, 4])) == (0, 1)


def test_the_dice_of_a_turn_follow_the_house_rule() -> None:
    def limits(house: str, text: str) -> tuple[tuple[int, ...], int]:
        turn = make_line_turn(text).with_options(rules=HOUSES[house].rules)
        return turn.compute_dice_limits(*turn.board.territories[:2])

    assert limits("late", "r9 b2") == ((3, 2, 1), 1)
    assert limits("late", "r9 b3") == ((3, 2, 1), 2)
    assert limits("never fewer", "r9 b2") == ((3, 2), 2)
    assert limits("fourth", "r6 b3") == ((4, 3, 2, 1), 3)
    assert limits("fourth", "r5 b3") == ((3, 2, 1), 3)
    with pytest.raises(iacta.IllegalError, match="the rules allow no roll of 2 dice against 3"):
        limits("never fewer", "r3 b3")


@for_each("house", TURN_HOUSES)
def test_a_defender_may_roll_fewer_dice_under_house_rules(house: str) -> None:
    turn = make_line_turn("r9 b4").with_options(rules=HOUSES[house].rules)
    start, to, *_ = turn.board.territories
    numbers, most = turn.compute_dice_limits(start, to)
    for dice, theirs in product(numbers, range(1, most + 1)):
        found = turn.results(Attack(start, to, dice), theirs)
        law = HOUSES[house].list_losses(dice, theirs)
        assert {tuple(losses): p for losses, p in found.items()} == pytest.approx(law)


def test_a_fumble_costs_an_army_for_each_attack_die() -> None:
    turn = make_line_turn("r4 b1").with_options(rules="fumble")
    attack = turn.actions()[0]
    assert isinstance(attack, Attack)
    assert tuple(turn.compare_dice(attack, [1, 1, 1], [1])) == (3, 0)
    assert tuple(turn.compare_dice(attack, [2, 1, 1], [1])) == (0, 1)
    assert dict(iacta.Roll(3, 1, "fumble").losses())[Losses(3, 0)] == Fraction(1, 216)


def test_what_a_house_rule_does_not_allow_is_refused() -> None:
    stopped = Battle(9, 8, HOUSES["nobody"].rules, stop=iacta.StopRule(max_rolls=3))
    with pytest.raises(iacta.IllegalError, match="rules with ties that cost"):
        stopped.outcomes()


@for_each("house", HOUSES)
def test_simulated_battles_have_the_chances_of_the_twin(house: str) -> None:
    for attackers, defenders in ((9, 7), (6, 3)):
        chance = float(win(HOUSES[house], attackers, defenders))
        runs = 20_000
        found = iacta.simulate_battle(attackers, defenders, HOUSES[house].rules, runs=runs)
        share = found.outcomes.prob(lambda end: end.defenders == 0)
        assert abs(share - chance) < 4.5 * (chance * (1 - chance) / runs) ** 0.5


@for_each("house", HOUSES)
def test_simulated_rolls_have_the_chances_of_the_twin(house: str) -> None:
    rng, runs = np.random.default_rng(3), 20_000
    for dice in ((3, 1), (2, 2), (1, 1)):
        theirs = min(dice[1], HOUSES[house].defence)
        lost = throw_losses(dice[0], theirs, HOUSES[house].rules, runs, rng)
        pairs = zip(lost.attackers.tolist(), lost.defenders.tolist(), strict=True)
        counts, law = Counter(pairs), HOUSES[house].list_losses(dice[0], theirs)
        assert counts.keys() <= law.keys()
        for losses, p in law.items():
            assert abs(counts[losses] - runs * p) < 4.5 * float(runs * p * (1 - p)) ** 0.5 + 1


def test_rules_for_single_battles_only_are_refused_by_name() -> None:
    line = make_line_turn("r3 b2")
    for name in ("ties cost both", "attack die again", "missile", "defence missile"):
        words = f"the rules '{name}' cannot be used for a turn; use them with iacta battle"
        with pytest.raises(iacta.IllegalError, match=words):
            line.with_options(rules=name)
    grows = line.with_options(rules="five ones")
    with pytest.raises(iacta.IllegalError, match=r"the rules 'five ones' .* with iacta battle"):
        iacta.best_plan(grows, iacta.TakeAll("B"))
    rules = Rules(mode=Missiles(attack=3))
    with pytest.raises(iacta.IllegalError, match="rules with missiles cannot be used for a turn"):
        line.with_options(rules=rules)


def test_a_roll_that_never_costs_an_army_is_no_attack() -> None:
    one = Dice((1,))
    rules = Rules(attack=one, defence=one, mode=TiesCost("nobody"))
    turn = make_line_turn("r3 b2").with_options(rules=rules)
    assert [*turn.actions()] == [EndPhase()]
    assert iacta.best_plan(turn, iacta.TakeAll("B")).value == 0


def test_a_battle_that_can_never_end_is_refused() -> None:
    one = Dice((1,))
    rules = Rules(attack=one, defence=one, mode=TiesCost("nobody"))
    for refused in (
        lambda: Battle(5, 3, rules).win_probability(),
        lambda: Battle(5, 3, rules).outcomes(),
        lambda: Battle(5, 3, rules, stop=iacta.StopRule(leave=2)).outcomes(),
        lambda: iacta.win_table(5, 3, rules),
        lambda: iacta.simulate_battle(5, 3, rules),
        lambda: iacta.armies_needed(3, 0.5, rules),
    ):
        with pytest.raises(iacta.IllegalError, match="1 attack dice against 1 never costs an army"):
            refused()
