"""`iacta rules`, and `--rules` and `--rules-file` of every command."""

import csv
import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from iacta import (
    MODIFIERS,
    RULE_SETS,
    Battle,
    IactaError,
    Rules,
    armies_needed,
    break_even_ratio,
    find_rules,
    read_rules_record,
)
from tests.cli.run import Run

HOUSE = 'name = "our house"\nties = "attacker"\n[defence]\nfaces = [6, 6, 6]\n'
HOUSE_RULES = find_rules("capital+zombie defender")
COMMANDS = (
    "battle 6 4",
    "campaign 9 3 2",
    "need 4",
    "simulate 6 4 --runs 9",
    "compare 4 3",
    "table 3 3",
    "roll 3 3",
)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Return a file of house rules."""
    file = tmp_path / "house.toml"
    file.write_text(HOUSE)
    return file


def records(run: Run, line: str) -> list[dict[str, Any]]:
    """Return the rule sets that a command prints as JSON."""
    result = run(f"{line} --json")
    assert (result.code, result.stderr) == (0, "")
    return list(json.loads(result.stdout)["rules"])


def can_be_told(rules: Rules) -> bool:
    """Return whether the library tells the odds of battles."""
    try:
        Battle(10, 10, rules).win_probability()
    except IactaError:
        return False
    return True


def test_the_list_tells_the_odds_of_all_rules(run: Run) -> None:
    lines = run("rules").stdout.splitlines()
    assert max(map(len, lines)) <= 100
    odds = lines[lines.index("Their odds:") :]
    told = [next(line for line in odds if line.startswith(f"{each.name} ")) for each in RULE_SETS]
    assert told[0].split("  ")[0] == "classic"
    assert told[0].endswith("37.2 / 33.6 / 29.3   47.99%       0.853")
    assert told[1].endswith("13.8 / 21.5 / 26.5 / 38.3   14.53%       1.710")
    for each, line in zip(RULE_SETS, told, strict=True):
        assert ("%" in line) == can_be_told(each.rules), line


def test_the_list_says_what_stacks(run: Run) -> None:
    lines = run("rules").stdout.splitlines()
    assert f"These stack in any order: {', '.join(each.name for each in MODIFIERS)}." in lines


def test_json_has_all_numbers(run: Run) -> None:
    for record, known in zip(records(run, "rules --exact"), RULE_SETS, strict=True):
        assert record["name"] == known.name
        assert read_rules_record(record["fields"]) == known.rules
        if not known.rules.mode.dice_chosen_first:
            assert record["full_roll"] is None  # the dice are not chosen before the roll
        else:
            chances = [loss["probability"] for loss in record["full_roll"]]
            assert sum(chances) == pytest.approx(1, abs=1e-3)
        assert Fraction(record["break_even_ratio_exact"]) == break_even_ratio(known.rules)
        if known.rules.mode.rolls and not known.rules.mode.grows:
            exact = Battle(10, 10, known.rules).win_probability(exact=True)
            assert Fraction(record["win_probability_exact"]) == exact
            assert record["break_even_attackers"] == armies_needed(10, 0.5, known.rules)


def test_what_cannot_be_told_is_null(run: Run, house: Path) -> None:
    house.write_text('base = "dominating12"\ndefender_sees_first = true\n')
    record = records(run, f"rules --rules-file {house}")[0]
    assert record["win_probability"] is record["break_even_attackers"] is None
    text = run(f"rules --rules-file {house}").stdout
    assert "The odds of its battles are not known: full_attack must be" in text


def test_a_defender_who_sees_first_is_told_of_without_a_roll(run: Run) -> None:
    text = run("rules defender-sees-first").stdout
    assert "They choose the number that makes the loss of their territory least likely" in text
    assert "10 armies beat 10 with a chance of 36.32%." in text
    assert "even with 1.001 attackers for each defender." in text
    assert "What a roll costs" not in text


def test_csv_has_a_row_for_each(run: Run) -> None:
    result = run("rules --csv --exact")
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert [row[0] for row in rows[1:]] == [each.name for each in RULE_SETS]
    classic = dict(zip(rows[0], rows[1], strict=True))
    assert classic["full_roll"] == "1445/3888; 2611/7776; 2275/7776"
    assert Fraction(classic["break_even_ratio"]) == break_even_ratio("classic")
    assert Fraction(classic["win_probability"]) == Battle(10, 10).win_probability(exact=True)
    assert int(classic["break_even_attackers"]) == armies_needed(10, 0.5)


def test_one_rule_set_is_explained(run: Run) -> None:
    lines = run("rules wall+capital").stdout.splitlines()
    assert lines[0] == (
        "capital+wall: capital: the defender rolls one extra die; "
        "wall: the defender rolls one extra die."
    )
    assert "Stacks with: zombie attacker, zombie defender, balanced blitz" in lines
    assert "The defender throws at most 4 dice with 6 faces each." in lines
    assert "Ties go to the defender; 1 army must stay behind." in lines
    assert "10 armies beat 10 with a chance of 3.81%." in lines
    assert "27 armies have an even chance or better against 10; one fewer does not." in lines
    assert "A very large battle is even with 2.996 attackers for each defender." in lines
    assert "3 dice against 4   7.3 / 14.8 / 23.4 / 54.4  2.2493  0.7507" in lines
    assert "3 armies must stay behind." in run("rules capital --garrison 3").stdout


@pytest.mark.parametrize("known", RULE_SETS, ids=lambda known: known.name)
def test_each_rule_set_is_explained(run: Run, known: Any) -> None:
    result = run(f"rules {known.name.replace(' ', '-')}")
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{known.name}: {known.description}\n")
    assert known.source in result.stdout


def test_odd_dice_are_told_in_words(run: Run, house: Path) -> None:
    house.write_text(
        "all_ones_gain = 2\n[attack]\nfaces = [8, 6, 6]\nkeep = 2\nreroll = [1, 2]\n"
        "bonus = [1, -1]\n[defence]\nfaces = [1]\nclamp = [9, 9]\n"
    )
    lines = run(f"rules --rules-file {house}").stdout.splitlines()
    assert (
        "The attacker throws at most 3 dice with 8, 6 and 6 faces, of which the best 2 count, "
        "a throw of 1 or 2 is rerolled once, +1 on the highest, -1 on the second." in lines
    )
    assert "The defender throws at most 1 die with 1 faces, then at least 9 and at most 9." in lines
    assert "When all dice show one, both sides gain 2 armies and nobody loses any." in lines


def test_an_attack_that_cannot_hurt_is_never_even(run: Run, house: Path) -> None:
    house.write_text("[attack]\nfaces = [1]\n")
    text = run(f"rules --rules-file {house}").stdout
    assert "A very large battle is never even: on average the defenders lose none." in text
    assert "10 armies beat 10 with a chance of less than 0.01%." in text
    record = records(run, f"rules --rules-file {house}")[0]
    assert record["break_even_ratio"] is record["break_even_attackers"] is None
    assert run(f"rules --rules-file {house} --csv").stdout.splitlines()[1].endswith(",never,")


def test_dice_too_many_to_be_told_are_no_error(run: Run, house: Path) -> None:
    house.write_text("[attack]\nfaces = [300, 300]\n[defence]\nfaces = [300, 300]\n")
    result = run(f"rules --rules-file {house}")
    assert (result.code, result.stderr) == (0, "")
    assert "The odds of its battles are not known: 2 attack dice of up to 300" in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_plays_by_the_rules_of_a_file(run: Run, house: Path, command: str) -> None:
    seed = " --seed 1" if command.startswith("simulate") else ""
    ours = run(f"{command}{seed} --rules-file {house} --json")
    known = run(f"{command}{seed} --rules zombie-defender+capital --json")
    assert (ours.code, ours.stderr) == (0, "")
    given, expected = json.loads(ours.stdout), json.loads(known.stdout)
    assert (given["rules"], expected["rules"]) == ("our house", "capital+zombie defender")
    assert without_names_and_times(given) == without_names_and_times(expected)
    if not command.startswith("table"):
        assert "(our house)" in run(f"{command}{seed} --rules-file {house}").stdout


def without_names_and_times(record: Any) -> Any:
    """Return an answer without what need not be the same."""
    if isinstance(record, dict):
        return {
            key: without_names_and_times(value)
            for key, value in record.items()
            if key not in ("rules", "seconds")
        }
    return [*map(without_names_and_times, record)] if isinstance(record, list) else record


@pytest.mark.parametrize("command", [*COMMANDS, "rules"])
def test_a_wrong_file_gets_one_sentence(run: Run, house: Path, command: str) -> None:
    house.write_text("[attack]\nkeep = 9\n")
    result = run(f"{command} --rules-file {house}")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr == (
        f"iacta: rules file {str(house)!r}: attack.keep must be a whole number from 1 to 3, got 9\n"
    )


@pytest.mark.parametrize("command", [*COMMANDS, "rules"])
def test_rules_are_named_or_read_not_both(run: Run, house: Path, command: str) -> None:
    result = run(f"{command} --rules classic --rules-file {house}")
    assert (result.code, result.stdout) == (2, "")
    named = "rules" if command == "rules" else "--rules"
    assert result.stderr == f"iacta: --rules-file cannot be combined with {named}\n"


def test_the_garrison_option_goes_before_that_of_the_file(run: Run, house: Path) -> None:
    house.write_text("garrison = 3\n")
    three = json.loads(run(f"battle 9 4 --rules-file {house} --json").stdout)
    assert (three["garrison"], three["rules"]) == (3, "house.toml")
    assert json.loads(run(f"battle 9 4 --rules-file {house} --garrison 0 --json").stdout) == {
        **json.loads(run("battle 9 4 --garrison 0 --json").stdout),
        "rules": "house.toml",
    }


def test_territories_have_stacked_rules_too(run: Run) -> None:
    record = json.loads(run("campaign 20 8:wall+capital@2 2 --json").stdout)
    assert [each["rules"] for each in record["territories"]] == ["capital+wall", "classic"]
