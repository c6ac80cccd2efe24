"""Battles in which a die may change after the roll, compared with a twin that lists all dice."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

import iacta
from iacta import Battle, Campaign, Dice, Rules
from iacta.methods.changed_dice import ChangedDiceKernel
from iacta.rules.modes import AttackDieAgain, ChangedDice, Missiles, MissileUse
from tests.cases import for_each
from tests.game.positions import make_line_turn

Row = tuple[int, ...]
THREE = Dice((6, 6, 6))
MODES = {
    "again": AttackDieAgain(),
    "one missile": Missiles(attack=1),
    "defence missile": Missiles(defence=1),
    "missiles": Missiles(attack=2, defence=1),
    "at once": Missiles(attack=1, defence=2, used="at once"),
}
SIZES = ((2, 1), (2, 3), (3, 2), (4, 3), (5, 3), (3, 5))


@cache
def list_throws(attack: int, defence: int) -> Counter[tuple[Row, Row]]:
    """Return the number of throws with each pair of sorted dice."""
    return Counter(
        (tuple(sorted(dice[:attack])[::-1]), tuple(sorted(dice[attack:])[::-1]))
        for dice in product(range(1, 7), repeat=attack + defence)
    )


def kill(ours: Row, theirs: Row, ties: str) -> int:
    return sum(x > y or (x == y and ties == "attacker") for x, y in zip(ours, theirs, strict=False))


def change(row: Row, index: int, face: int) -> Row:
    return tuple(sorted((*row[:index], face, *row[index + 1 :]), reverse=True))


class Twin:
    """The chance to win by recursion over all dice and all choices, garrison of 1 included."""

    def __init__(self, rules: Rules) -> None:
        self.rules, self.ties = rules, rules.ties
        mode = rules.mode
        self.used: MissileUse = mode.used if isinstance(mode, Missiles) else "best"
        self.missiles = (mode.attack, mode.defence) if isinstance(mode, Missiles) else (0, 0)
        self.value = cache(self._value)

    def win(self, attackers: int, defenders: int) -> Fraction:
        return self.value(attackers - 1, defenders, *self.missiles)

    def _value(self, a: int, d: int, m: int, n: int) -> Fraction:
        if d <= 0 or a <= 0:
            return Fraction(d <= 0)
        throws = list_throws(min(a, 3), min(d, self.rules.defence.kept))
        total = sum(
            (weight * self._choose(*pair, (a, d, m, n)) for pair, weight in throws.items()),
            Fraction(0),
        )
        return total / throws.total()

    def _after(self, ours: Row, theirs: Row, state: tuple[int, int, int, int]) -> Fraction:
        a, d, m, n = state
        killed = kill(ours, theirs, self.ties)
        return self.value(a - min(len(ours), len(theirs)) + killed, d - killed, m, n)

    def _choose(self, ours: Row, theirs: Row, state: tuple[int, int, int, int]) -> Fraction:
        a, d, m, n = state
        if isinstance(self.rules.mode, AttackDieAgain):
            values = [self._after(ours, theirs, state)]
            for i in range(len(ours)):
                rows = [change(ours, i, face) for face in range(1, 7)]
                again = sum((self._after(row, theirs, state) for row in rows), Fraction(0))
                values.append(again / 6)
            return max(values)
        mine = [(m, ours)] + [(m - 1, change(ours, i, 6)) for i in range(len(ours)) if m]
        if self.used == "at once":
            left, ours = max(mine, key=lambda each: (kill(each[1], theirs, self.ties), each[0]))
            other = [(n, theirs)] + [(n - 1, change(theirs, i, 6)) for i in range(len(theirs)) if n]
            rest, theirs = min(other, key=lambda each: (kill(ours, each[1], self.ties), -each[0]))
            return self._after(ours, theirs, (a, d, left, rest))
        return max(
            min(
                self._after(row, other, (a, d, left, rest))
                for rest, other in [
                    (n, theirs),
                    *((n - 1, change(theirs, i, 6)) for i in range(len(theirs)) if n),
                ]
            )
            for left, row in mine
        )


@for_each("mode", MODES)
def test_battles_agree_with_the_twin(mode: str) -> None:
    rules = Rules(mode=MODES[mode])
    twin = Twin(rules)
    for attackers, defenders in SIZES:
        battle, expected = Battle(attackers, defenders, rules), twin.win(attackers, defenders)
        assert battle.win_probability(exact=True) == expected
        assert battle.win_probability() == pytest.approx(float(expected), rel=1e-13)
        won = battle.outcomes(exact=True).prob(lambda end: end.defenders == 0)
        assert won == expected
        assert iacta.win_table(attackers, defenders, rules, exact=True)[-1, -1] == expected


@for_each("mode", ["again", "missiles"])
@for_each("ties", ["attacker", "defender"])
def test_battles_with_three_defence_dice_agree_with_the_twin(mode: str, ties: str) -> None:
    rules = Rules(defence=THREE, ties=ties, mode=MODES[mode])  # type: ignore[arg-type]
    assert Battle(5, 4, rules).win_probability(exact=True) == Twin(rules).win(5, 4)


@for_each("mode", MODES)
def test_floats_have_the_distribution_of_fractions(mode: str) -> None:
    rules = Rules(mode=MODES[mode])
    for attackers, defenders in ((8, 3), (3, 6), (9, 1)):
        battle = Battle(attackers, defenders, rules)
        exact, close = battle.outcomes(exact=True), battle.outcomes()
        assert {*exact} == {*close}
        for end, chance in exact.items():
            assert close[end] == pytest.approx(float(chance), rel=1e-11)


@for_each("mode", MODES)
def test_tables_of_transitions_agree_with_the_distribution(mode: str) -> None:
    kernel = ChangedDiceKernel(Rules(mode=MODES[mode], garrison=0), exact=False)
    moves = kernel.compute_transitions(7, 4)
    for able in range(1, 8):
        ends = kernel.run_forward(iacta.Distribution([able]), 4)
        for (a, d), chance in ends.items():
            found = moves.lost[able, d] if d else moves.won[able, a]
            assert found == pytest.approx(float(chance), rel=1e-12)


@for_each(
    ("mode", "chance"),
    [
        (AttackDieAgain(), 0.8514),
        (Missiles(attack=1), 0.8369),
        (Missiles(defence=1), 0.3459),
        (Missiles(attack=1, defence=1), 0.5608),
    ],
)
def test_the_chances_in_the_docs_are_those_of_the_twin(mode: ChangedDice, chance: float) -> None:
    rules = Rules(mode=mode)
    exact = Twin(rules).win(10, 8)
    assert round(float(exact), 4) == chance
    assert Battle(10, 8, rules).win_probability(exact=True) == exact


def test_battles_without_missiles_are_classic() -> None:
    for attackers, defenders in SIZES:
        battle = Battle(attackers, defenders, Rules(mode=Missiles()))
        classic = Battle(attackers, defenders).win_probability(exact=True)
        assert battle.win_probability(exact=True) == classic


def test_a_missile_never_hurts_its_owner() -> None:
    for attackers, defenders in SIZES:
        battles = [Battle(attackers, defenders, name) for name in ("classic", "missile")]
        plain, helped = (battle.win_probability(exact=True) for battle in battles)
        defended = Battle(attackers, defenders, "defence missile").win_probability(exact=True)
        assert defended < plain < helped
        for used in (1, 2):
            more = Battle(attackers, defenders, Rules(mode=Missiles(attack=1, defence=used)))
            assert more.win_probability(exact=True) <= helped


def test_best_missiles_are_at_least_as_good_as_missiles_used_at_once() -> None:
    best, at_once = (
        Battle(8, 8, Rules(mode=Missiles(attack=2, used=used))).win_probability(exact=True)
        for used in ("best", "at once")
    )
    assert best > at_once


def test_an_attack_die_is_rolled_again_where_it_costs_the_defenders_most() -> None:
    attackers, defenders = iacta.Roll(3, 2, "attack die again").expected_losses()
    twin = Fraction(0)
    for (ours, theirs), weight in list_throws(3, 2).items():
        again = [
            Fraction(sum(kill(change(ours, i, f), theirs, "defender") for f in range(1, 7)), 6)
            for i in range(3)
        ]
        twin += weight * max(Fraction(kill(ours, theirs, "defender")), *again)
    assert defenders == twin / 6**5
    assert iacta.break_even_ratio("attack die again") == attackers / defenders


def test_rolls_are_counted_where_a_die_is_rolled_again() -> None:
    assert Battle(2, 1, "attack die again").rolls().mean() == pytest.approx(1)
    assert Battle(9, 5, "attack die again").rolls().mean() < Battle(9, 5).rolls().mean() + 1


@for_each("mode", ["again", "missiles"])
def test_played_battles_end_as_computed(mode: str) -> None:
    battle = Campaign(6, [3], Rules(mode=MODES[mode]))
    rng, runs = np.random.default_rng(1), 4000
    won = sum(battle.play(rng)[-1].defenders_left == 0 for _ in range(runs))
    chance = battle.win_probability()
    assert abs(won / runs - chance) < 4 * (chance * (1 - chance) / runs) ** 0.5


def test_a_missile_lasts_for_one_battle_only() -> None:
    with pytest.raises(iacta.IllegalError, match="missiles cannot be used for several battles"):
        Campaign(9, [2, 2], "missile").win_probability()
    for refused in (
        lambda: iacta.spread_defenders(9, 4, 2, "missile"),
        lambda: Campaign(9, ["2:missile", 2, "2:missile"]).outcomes(),
        lambda: iacta.armies_needed_for_campaign([2, 2], 0.5, "missile"),
    ):
        with pytest.raises(iacta.IllegalError, match="rules with missiles cannot be used"):
            refused()
    assert Campaign(9, [2, "2:missile"]).win_probability() > Campaign(9, [2, 2]).win_probability()
    assert Campaign(9, [2, 2], "attack die again").win_probability() > 0.9


@for_each(
    ("record", "message"),
    [
        ({"missiles": 2}, "missiles must be a table with attack, defence or used, got 2"),
        ({"missiles": {"attack": 10}}, "missiles.attack must be a whole number from 0 to 9"),
        ({"missiles": {"defense": 1}}, "unknown key 'defense'; the keys are attack, defence, used"),
        ({"missiles": {"attack": 1, "used": "late"}}, "missiles.used must be 'best' or 'at once'"),
        ({"fumble": 1.5}, "fumble must be True or False"),
        ({"fumble": True, "attack_die_again": True}, "rules cannot combine a fumble with"),
    ],
)
def test_wrong_modes_are_refused(record: dict[str, object], message: str) -> None:
    with pytest.raises(iacta.IactaError) as raised:
        iacta.read_rules_record(record)
    assert message in str(raised.value)


def test_rules_with_missiles_survive_a_file() -> None:
    rules = Rules(mode=Missiles(attack=2, used="at once"))
    assert iacta.read_rules_record(iacta.rules_record(rules)) == rules


@for_each(
    "rules",
    [
        Rules(attack=Dice((6, 6, 6), bonus=(1,)), mode=Missiles(attack=1)),
        Rules(attack=Dice((8, 6, 6)), mode=AttackDieAgain()),
    ],
)
def test_dice_that_cannot_be_changed_are_refused(rules: Rules) -> None:
    with pytest.raises(iacta.IllegalError, match="cannot be used with"):
        Battle(5, 4, rules).win_probability()


def test_turns_refuse_dice_that_change() -> None:
    turn = make_line_turn("r9 b2")
    with pytest.raises(iacta.IllegalError, match="the rules 'missile' cannot be used for a turn"):
        turn.with_options(rules="missile")
