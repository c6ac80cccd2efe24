"""Rules files: written rules can be read again, and errors name the mistake."""

import json
import re
import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import iacta
from iacta import Dice, MalformedError, Rules, read_rules_file, read_rules_record, rules_toml
from iacta.rules.modes import ArmiesGrow, BalancedBlitz, DefenderSeesFirst, TrueRandom
from tests import strategies
from tests.cases import for_each

STACKED = [
    iacta.find_rule_set("capital+wall"),
    iacta.find_rule_set("capital+wall+zombie attacker+zombie defender+balanced blitz"),
]
HOUSE = Path(__file__).with_name("house.toml")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Return the path for a rules file."""
    return tmp_path / "house.toml"


@for_each("known", [*iacta.RULE_SETS, *STACKED])
def test_every_rule_set_survives_json_and_toml(known: iacta.RuleSet, house: Path) -> None:
    assert read_rules_record(json.loads(json.dumps(iacta.rules_record(known.rules)))) == known.rules
    house.write_text(rules_toml(known.name, name=known.name), encoding="utf-8")
    again = read_rules_file(house)
    assert (again.name, again.rules) == (known.name, known.rules)


@given(
    strategies.rules(),
    st.fixed_dictionaries(
        {
            "least_advance": st.booleans(),
            "most_advance": st.sampled_from((None, 1, 3, 10**9)),
            "territories_per_army": st.integers(1, 1000),
            "least_new_armies": st.integers(0, 9),
            "mode": st.sampled_from(
                (TrueRandom(), BalancedBlitz(), DefenderSeesFirst(), ArmiesGrow(), ArmiesGrow(3))
            ),
        }
    ),
)
def test_any_rules_survive_json_and_toml(rules: Rules, more: dict[str, Any]) -> None:
    rules = replace(rules, **more)
    assert read_rules_record(json.loads(json.dumps(iacta.rules_record(rules)))) == rules
    assert read_rules_record(tomllib.loads(rules_toml(rules))) == rules


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text().filter(str.isprintable).map("our {}".format))
def test_any_name_survives_toml(house: Path, name: str) -> None:
    rules = Rules(attack=Dice((20,)))
    house.write_text(rules_toml(rules, name=name), encoding="utf-8")
    again = read_rules_file(house)
    assert (again.name, again.rules) == (name, rules)


def test_rules_files_contain_every_field_of_rules() -> None:
    assert read_rules_file(str(HOUSE)) == iacta.RuleSet(
        "our house",
        Rules(
            attack=Dice(
                (8, 6, 6), keep=2, reroll=(1,), bonus=(0, 1), clamp=(1, 6), sort_again=False
            ),
            full_attack=Dice((20, 6)),
            ties="attacker",
            garrison=2,
            least_advance=False,
            most_advance=3,
            territories_per_army=2,
            least_new_armies=1,
        ),
        "Two of three good dice.",
        f"rules file {str(HOUSE)!r}",
    )


def test_rules_files_state_whether_dice_are_sorted_again(house: Path) -> None:
    house.write_text("[defence]\nbonus = [-1]\nclamp = [1, 6]\n")
    assert read_rules_file(house).rules == iacta.find_rules("ammo shortage")
    house.write_text("[defence]\nbonus = [-1]\nsort_again = false\n")
    in_old_order = read_rules_file(house).rules
    assert iacta.Roll(3, 2, in_old_order).loss_counts().counts == (1429, 2377, 3970)


def test_missing_fields_of_a_rules_file_come_from_its_base(house: Path) -> None:
    house.write_text('base = "wall + capital"\n[defence]\nbonus = [1]\n')
    assert read_rules_file(house).rules == Rules(defence=Dice((6, 6, 6, 6), bonus=(1,)))
    house.write_text('base = "dominating12"\n[full_defence]\nreroll = [1]\n')
    again = read_rules_file(house).rules
    assert again.full_attack == iacta.find_rules("dominating12").full_attack
    assert again.full_defence == Dice((28, 28), reroll=(1,))
    house.write_text("")
    assert read_rules_file(house).rules == iacta.CLASSIC
    assert read_rules_record({}, base="capital") == iacta.find_rules("capital")
    assert read_rules_record({"full_attack": None}, base="dominating12").full_attack is None


def test_without_a_name_the_rules_are_called_like_the_file(tmp_path: Path) -> None:
    for name in ("house.toml", "capital.toml"):
        (tmp_path / name).write_text("garrison = 2")
        assert read_rules_file(tmp_path / name).name == name
    (tmp_path / "two\nlines.toml").write_text("")
    assert read_rules_file(tmp_path / "two\nlines.toml").name == "rules file"


def test_a_byte_order_mark_is_accepted(house: Path) -> None:
    house.write_text('\ufeffties = "attacker"\r\n', encoding="utf-8")
    assert read_rules_file(house).rules == Rules(ties="attacker")


def test_files_in_the_docs_can_be_read(house: Path) -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "rules.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert blocks
    for block in blocks:
        house.write_text(block)
        assert read_rules_file(house).name == "our house"
    for key in (
        *iacta.rules_record(iacta.CLASSIC),
        *(field.name for field in fields(Dice)),
        "name",
        "base",
    ):
        assert f"`{key}`" in page or f"`[{key}]`" in page, key


WRONG: dict[str, str] = json.loads(Path(__file__).with_name("wrong_files.json").read_text("utf-8"))


@for_each("text", WRONG)
def test_a_wrong_file_is_reported_in_one_sentence_with_its_key(house: Path, text: str) -> None:
    house.write_text(text)
    with pytest.raises(iacta.IactaError) as caught:
        read_rules_file(house)
    sentence = str(caught.value)
    assert sentence.startswith(f"rules file {str(house)!r}: {WRONG[text]}")
    assert "\n" not in sentence


def test_files_without_text_are_reported(tmp_path: Path) -> None:
    binary, large = tmp_path / "binary.toml", tmp_path / "large.toml"
    binary.write_bytes(b"ties = '\xff'")
    large.write_text("#" * (10**6 + 1))
    said: list[tuple[Any, type[iacta.IactaError], str]] = [
        (tmp_path / "none.toml", MalformedError, ": no such file"),
        (tmp_path, MalformedError, ": it is a folder"),
        ("nul\0.toml", MalformedError, ": embedded null byte"),
        (binary, MalformedError, "the text is not UTF-8: byte 0xff at position 8"),
        (large, iacta.TooLargeError, "must be at most 1000000 bytes"),
        (7, MalformedError, "rules must be the path of a file, got 7"),
        (None, MalformedError, "rules must be the path of a file, got None"),
    ]
    for path, kind, sentence in said:
        with pytest.raises(kind) as caught:
            read_rules_file(path)
        assert str(caught.value).endswith(sentence)
        if path not in (7, None):
            assert repr(str(path)) in str(caught.value)


def test_rules_are_not_written_under_the_name_of_others() -> None:
    assert rules_toml("capital", name="wall").startswith('name = "wall"\n')
