"""Rules and their names."""

import dataclasses
import pickle
from typing import Any

import pytest
from hypothesis import given

from iacta import (
    CLASSIC,
    RULE_SETS,
    Dice,
    IactaError,
    IllegalError,
    MalformedError,
    Rules,
    find_rule_set,
    find_rules,
    read_rules_record,
    rules_name,
)
from iacta.rules.modes import (
    ArmiesGrow,
    BalancedBlitz,
    DefenderSeesFirst,
    TrueRandom,
    mode_record,
    read_mode,
)
from tests import strategies


def test_rules_with_the_same_fields_are_the_same_rules() -> None:
    assert Rules(defence=Dice((6, 6, 6))) == find_rules("capital") == find_rules("risiko")
    assert len({Rules(), CLASSIC, Rules(attack=Dice([6, 6, 6], keep=3, bonus=[0]))}) == 1  # type: ignore[arg-type] # lists are taken as rows


def test_rules_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        CLASSIC.garrison = 2  # type: ignore[misc] # that is the claim


@given(strategies.rules())
def test_repr_can_be_pasted_back(rules: Rules) -> None:
    assert eval(repr(rules)) == rules  # noqa: S307 # the claim is that it can be evaluated
    assert pickle.loads(pickle.dumps(rules)) == rules  # noqa: S301 # its own pickle


def test_every_rule_set_is_found_by_each_of_its_names() -> None:
    for known in RULE_SETS:
        for name in (known.name, *known.aliases):
            for spelling in (name, name.upper(), name.replace(" ", "-"), name.replace(" ", "_")):
                assert find_rule_set(spelling) is known


def test_no_name_stands_for_two_rule_sets() -> None:
    names = [name for known in RULE_SETS for name in (known.name, *known.aliases)]
    assert len(names) == len(set(names))


def test_every_rule_set_says_what_differs_and_where_it_is_from() -> None:
    for known in RULE_SETS:
        assert known.description.endswith(".")
        assert known.source
        assert find_rules(rules_name(known.rules)) == known.rules


def test_an_unknown_name_gets_the_near_ones_suggested() -> None:
    with pytest.raises(IllegalError, match=r"unknown rules 'capitol'; did you mean 'capital'\?"):
        find_rules("capitol")
    with pytest.raises(IllegalError, match="'xyzzy'; see iacta rules"):
        find_rules("xyzzy")
    with pytest.raises(MalformedError, match="rules must be a name or Rules, got 7"):
        find_rules(7)  # type: ignore[arg-type] # that is the claim


WRONG_RULES: list[tuple[Any, dict[str, Any], str]] = [
    (Dice, {"faces": ()}, "the number of dice must be a whole number from 1 to 100, got 0"),
    (Dice, {"faces": (6, 0)}, "faces must be a whole number from 1 to 1000000, got 0"),
    (Dice, {"faces": (6, 2.5)}, "faces must be a whole number from 1 to 1000000, got 2.5"),
    (Dice, {"faces": "66"}, "faces must be a row of whole numbers, got '66'"),
    (Dice, {"faces": {6: 1}}, "faces must be a row of whole numbers, got {6: 1}"),
    (Dice, {"faces": 6}, "faces must be a row of whole numbers, got 6"),
    (Dice, {"faces": (6, 6), "keep": 3}, "keep must be a whole number from 1 to 2, got 3"),
    (Dice, {"faces": (6, 6), "keep": 0}, "keep must be a whole number from 1 to 2, got 0"),
    (Dice, {"reroll": (7,)}, "reroll must be a whole number from 1 to 6, got 7"),
    (
        Dice,
        {"faces": (6,), "bonus": (1, 1)},
        "bonus must have at most one entry for each of the 1 dice kept, got (1, 1)",
    ),
    (Dice, {"clamp": (6, 1)}, "clamp must be a lowest and a highest value, got (6, 1)"),
    (Dice, {"clamp": (1,)}, "clamp must be a lowest and a highest value, got (1,)"),
    (Rules, {"ties": "nobody"}, "ties must be 'attacker' or 'defender', got 'nobody'"),
    (Rules, {"ties": ["attacker"]}, "ties must be 'attacker' or 'defender', got ['attacker']"),
    (Rules, {"garrison": -1}, "garrison must be a whole number of at least 0, got -1"),
    (Rules, {"least_advance": 1}, "least_advance must be True or False, got 1"),
    (Rules, {"mode": "balanced blitz"}, "mode must be a Mode, got 'balanced blitz'"),
    (ArmiesGrow, {"gain": 0}, "gain must be a whole number from 1 to 100, got 0"),
    (Rules, {"attack": 6}, "attack must be Dice, got 6"),
    (Rules, {"attack": None}, "attack must be Dice, got None"),
    (
        Rules,
        {"full_attack": Dice((6,))},
        "full_attack must keep 3 dice as attack does, got Dice((6,))",
    ),
]


@pytest.mark.parametrize(("kind", "fields", "sentence"), WRONG_RULES)
def test_rules_that_cannot_exist_are_refused(
    kind: Any, fields: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(IactaError) as caught:
        kind(**fields)
    assert str(caught.value) == sentence


def test_only_rules_have_a_name() -> None:
    with pytest.raises(MalformedError, match="rules must be Rules, got 5"):
        rules_name(5)  # type: ignore[arg-type] # that is the claim


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (
            {"dice_mode": "blitz"},
            "dice_mode must be 'true random' or 'balanced blitz', got 'blitz'",
        ),
        (
            {"defender_sees_first": True, "dice_mode": "balanced blitz"},
            "rules cannot combine balanced blitz with a defender who sees the attack first",
        ),
        (
            {"defender_sees_first": True, "all_ones_gain": 2},
            "rules cannot combine a defender who sees the attack first with armies that grow when "
            "all dice show one",
        ),
    ],
)
def test_rules_have_one_mode(record: dict[str, Any], sentence: str) -> None:
    with pytest.raises(IllegalError) as caught:
        read_rules_record(record)
    assert str(caught.value) == sentence


def test_each_mode_is_read_from_its_record() -> None:
    for mode in (TrueRandom(), BalancedBlitz(), DefenderSeesFirst(), ArmiesGrow(3)):
        assert read_mode(mode_record(mode)) == mode
