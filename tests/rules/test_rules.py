"""Rules and their names."""

import dataclasses
import pickle

import pytest
from hypothesis import given

from iacta import CLASSIC, RULE_SETS, Dice, Rules, find_rule_set, find_rules, rules_name
from iacta.rules import modes
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


def test_modes_are_read_from_their_records() -> None:
    for mode in (
        modes.TrueRandom(),
        modes.BalancedBlitz(),
        modes.DefenderSeesFirst(),
        modes.ArmiesGrow(3),
    ):
        assert modes.read_mode(modes.mode_record(mode)) == mode
