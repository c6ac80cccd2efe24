"""Rules that can be combined, and the distributions of the named rule sets."""

from itertools import combinations, permutations, product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

import iacta
from iacta import MODIFIERS, RULE_SETS, Dice, Rules, break_even_ratio, find_rule_set, find_rules
from iacta.rules.roll import loss_counts
from tests import brute, strategies
from tests.cases import for_each
from tests.published import read_rows

NAMES = [modifier.name for modifier in MODIFIERS]
STACKS = [names for count in range(1, 6) for names in combinations(NAMES, count)]

# The rules for which counts were published, and the rule sets with these rules.
PUBLISHED = {
    "classic": ["classic", "standard", "true random", "official advance", "free advance"],
    "capital": ["capital", "wall", "risiko", "RisiKo!", "TEG", "old English", "classic+capital"],
    "leader-defence": ["defence leader", "stronghold", "marshal", "bunker"],
    "leader-attack": ["attack leader", "leader", "general"],
    "ammo-shortage": ["ammo shortage"],
    "fortification": ["fortification"],
    "best-two-of-three": ["defence bonus die"],
    "space-station": ["space station"],
    "attacker-wins-ties": ["zombie defender", "war god"],
}


@for_each("row", read_rows("roll_losses_of_variants"))
def test_named_rules_have_the_published_counts_of_rolls(row: dict[str, str]) -> None:
    for name in PUBLISHED[row["rules"]]:
        losses = loss_counts(int(row["attack_dice"]), int(row["defence_dice"]), find_rules(name))
        assert losses.counts[int(row["defenders_lost"])] == int(row["count"])
        assert losses.total == int(row["total"])


def list_dice_counts(rules: Rules) -> list[tuple[int, int]]:
    """Return all numbers of dice that the two sides can throw."""
    return list(product(range(1, rules.attack.kept + 1), range(1, rules.defence.kept + 1)))


@for_each("known", [each for each in RULE_SETS if each.name != "attack die again"])
def test_rolls_of_each_rule_set_agree_with_enumeration(known: iacta.RuleSet) -> None:
    for dice in list_dice_counts(known.rules):
        assert dict(iacta.Roll(*dice, known.rules).losses()) == brute.roll_losses(
            *dice, known.rules
        )


@pytest.mark.parametrize("name", ["capital+wall", "capital+wall+zombie attacker+zombie defender"])
def test_rolls_with_combined_rules_agree_with_enumeration(name: str) -> None:
    rules = find_rules(name)
    assert rules.defence.kept == 4
    for dice in list_dice_counts(rules):
        assert dict(iacta.Roll(*dice, rules).losses()) == brute.roll_losses(*dice, rules)


@for_each("names", STACKS)
def test_modifiers_stack_in_any_order(names: tuple[str, ...]) -> None:
    stacked = find_rule_set("+".join(names))
    assert stacked.name == "+".join(names)
    for other in permutations(names):
        assert find_rule_set("+".join(other)) == stacked
        assert (
            find_rule_set(" + ".join(name.upper().replace(" ", "-") for name in other)) == stacked
        )
    assert find_rule_set("+".join(["classic", *names])) == stacked


@for_each("names", STACKS)
def test_a_stack_is_found_by_its_name(names: tuple[str, ...]) -> None:
    rules = find_rules("+".join(names))
    name = iacta.rules_name(rules)
    assert "Rules(" not in name
    assert find_rules(name) == rules
    assert iacta.rules_name(find_rules(name, garrison=3)) == name
    battle = iacta.Battle(12, 10, rules)
    assert repr(battle) == f"Battle(12, 10, {name!r})"
    assert eval(repr(battle), vars(iacta)) == battle  # noqa: S307 # the claim is that it can be evaluated


@for_each(
    ("name", "joined"),
    [
        ("marshal+leader", "attack leader+defence leader"),
        ("commander+station", "attack commander+space station"),
        ("wall+risiko", "risiko+wall"),
        ("bunker+risiko", "risiko+bunker"),
        ("magic+bonus die+ammo", "ammo shortage+attack magic+attack bonus die"),
        ("ties nobody+risiko", "risiko+ties cost nobody"),
    ],
)
def test_joined_rules_make_the_changes_of_all_parts(name: str, joined: str) -> None:
    known = find_rule_set(name)
    assert known.name == joined
    assert find_rule_set(joined) == known
    assert find_rule_set(f"classic+{name}") == known
    for dice in list_dice_counts(known.rules):
        found = dict(iacta.Roll(*dice, known.rules).losses())
        assert found == brute.roll_losses(*dice, known.rules)


def test_joined_rules_of_two_games_have_the_dice_of_both() -> None:
    leaders = find_rules("leader+marshal")
    assert (leaders.attack.bonus, leaders.defence.bonus) == ((1,), (1,))
    station = find_rules("commander+station")
    assert (station.attack.faces, station.defence.faces) == ((8, 6, 6), (8, 8))


@for_each(
    ("name", "attack", "defence", "bonuses"),
    [
        ("leader+marshal", (6, 6, 6), (6, 6), ((1, 0), (1, 0))),
        ("general+marshal", (6, 6, 6), (6, 6), ((1, 0), (1, 0))),
        ("leader+fortification", (6, 6, 6), (6, 6), ((1, 0), (1, 1))),
        ("commander+station", (8, 6, 6), (8, 8), ((0, 0), (0, 0))),
        ("commander+defence commander", (8, 6, 6), (8, 6), ((0, 0), (0, 0))),
    ],
)
def test_rolls_of_joined_rules_are_all_rolls_of_the_dice_of_both_games(
    name: str,
    attack: tuple[int, ...],
    defence: tuple[int, ...],
    bonuses: tuple[tuple[int, int], tuple[int, int]],
) -> None:
    counts = dict.fromkeys([(0, 2), (1, 1), (2, 0)], 0)
    for faces in product(*(range(1, sides + 1) for sides in (*attack, *defence))):
        mine = sorted(faces[: len(attack)], reverse=True)
        theirs = sorted(faces[len(attack) :], reverse=True)
        pairs = zip(mine, theirs, *bonuses, strict=False)
        lost = sum(ours + more <= other + extra for ours, other, more, extra in pairs)
        counts[lost, 2 - lost] += 1
    total = prod(attack) * prod(defence)
    found = dict(iacta.Roll(3, 2, find_rules(name)).losses())
    assert {tuple(losses): chance * total for losses, chance in found.items()} == counts


@for_each(
    ("name", "first", "second"),
    [
        ("bunker+fortification", "bunker", "fortification"),
        ("defence commander+station", "defence commander", "space station"),
        ("ties nobody+ties both", "ties cost nobody", "ties cost both"),
        ("balanced blitz+ties nobody", "ties cost nobody", "balanced blitz"),
    ],
)
def test_rules_that_change_the_same_part_cannot_be_joined(
    name: str, first: str, second: str
) -> None:
    with pytest.raises(iacta.IllegalError, match=f"'{first}' cannot be joined with '{second}'"):
        find_rules(name)


def test_a_rules_file_is_only_proposed_where_it_helps() -> None:
    for name, helps in (("missile+defence missile", True), ("fumble+missile", False)):
        with pytest.raises(iacta.IllegalError) as refused:
            find_rules(name)
        assert str(refused.value).endswith("write a rules file") is helps


@given(strategies.rules(), st.permutations(MODIFIERS), st.integers(1, 5))
def test_modifiers_commute_on_any_rules(
    rules: Rules, order: list[iacta.Modifier], count: int
) -> None:
    one_way = other_way = rules
    for modifier in order[:count]:
        one_way = modifier.apply(one_way)
    for modifier in reversed(order[:count]):
        other_way = modifier.apply(other_way)
    assert one_way == other_way


@given(strategies.rules())
def test_modifiers_change_the_number_of_dice_and_nothing_else(rules: Rules) -> None:
    capital, _, zombie, *_ = MODIFIERS
    assert capital.apply(rules).defence.kept == rules.defence.kept + 1
    assert capital.apply(rules).attack == rules.attack
    fewer = zombie.apply(rules)
    assert fewer.attack.kept == max(rules.attack.kept - 1, 1)
    spare = len(rules.attack.faces) - rules.attack.kept
    assert len(fewer.attack.faces) - fewer.attack.kept == spare
    assert fewer.defence == rules.defence


def test_a_zombie_attacker_keeps_the_last_die() -> None:
    zombie = next(each for each in MODIFIERS if each.name == "zombie attacker")
    assert zombie.apply(Rules(attack=Dice((6,)))) == Rules(attack=Dice((6,)))
    best = Rules(attack=Dice((6, 8), keep=1, reroll=(7,)))
    assert zombie.apply(best) == best


@given(strategies.rules())
def test_removing_a_die_does_not_change_the_other_rolls(rules: Rules) -> None:
    zombie = next(each for each in MODIFIERS if each.name == "zombie attacker")
    plain = Rules(attack=rules.attack, defence=rules.defence, ties=rules.ties)
    fewer = zombie.apply(plain)
    if not set(rules.attack.reroll) - set(fewer.attack.reroll):
        for dice in list_dice_counts(fewer):
            assert loss_counts(*dice, fewer) == loss_counts(*dice, plain)


def test_the_break_even_ratio_is_the_ratio_of_mean_losses() -> None:
    for known in RULE_SETS:
        if not known.rules.mode.dice_chosen_first or known.name in (
            "fourth die",
            "attack die again",
        ):
            continue
        full = brute.roll_losses(*known.rules.full_roll, known.rules)
        attackers = sum(ours * chance for (ours, _), chance in full.items())
        defenders = sum(theirs * chance for (_, theirs), chance in full.items())
        assert break_even_ratio(known.rules) == attackers / defenders


@pytest.mark.parametrize("name", ["classic", "capital", "capital+wall", "zombie defender"])
def test_large_battles_tip_at_the_break_even_ratio(name: str) -> None:
    ratio = break_even_ratio(name)
    assert ratio is not None
    for part, wins in ((0.98, False), (1.02, True)):
        won = iacta.Battle(round(part * ratio * 10**6), 10**6, name).win_probability()
        assert (won > 0.99) if wins else (won < 0.01)


def test_break_even_ratios_of_extreme_rules_are_correct() -> None:
    assert break_even_ratio(Rules(attack=Dice((1,)))) is None
    assert break_even_ratio(Rules(attack=Dice((1,), bonus=(9,)))) == 0


def test_the_published_percentages_of_dominating12_agree_with_enumeration() -> None:
    rules = find_rules("dominating12")
    losses = iacta.Roll(3, 2, rules).losses()
    assert loss_counts(3, 2, rules).total == prod((130, 6, 6, 28, 28))
    for row in read_rows("dominating12"):
        lost = int(row["defenders_lost"])
        assert f"{100 * float(losses[iacta.Losses(2 - lost, lost)]):.3f}" == row["percent"]


def test_classic_s_own_name_comes_first() -> None:
    assert iacta.rules_name(iacta.CLASSIC) == "classic"
    assert find_rule_set("official advance").rules.least_advance
    assert not find_rules("free advance").least_advance
