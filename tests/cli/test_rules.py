"""`iacta rules`, and `--rules` and `--rules-file` of every command."""

import json
from pathlib import Path
from typing import Any

import pytest

from iacta import RULE_SETS
from tests.cases import for_each
from tests.cli.run import Run

HOUSE = 'name = "our house"\nties = "attacker"\n[defence]\nfaces = [6, 6, 6]\n'
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


@for_each("known", RULE_SETS)
def test_each_rule_set_is_explained(run: Run, known: Any) -> None:
    result = run(f"rules {known.name.replace(' ', '-')}")
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout.startswith(f"{known.name}: {known.description}\n")
    assert known.source in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_plays_by_the_rules_of_a_file(run: Run, house: Path, command: str) -> None:
    seed = " --seed 1" if command.startswith("simulate") else ""
    ours = run(f"{command}{seed} --rules-file {house} --json")
    known = run(f"{command}{seed} --rules zombie-defender+capital --json")
    assert (ours.code, ours.stderr) == (0, "")
    given, expected = json.loads(ours.stdout), json.loads(known.stdout)
    assert (given["rules"], expected["rules"]) == ("our house", "capital+zombie defender")
    assert remove_names_and_times(given) == remove_names_and_times(expected)
    if not command.startswith("table"):
        assert "(rules: our house)" in run(f"{command}{seed} --rules-file {house}").stdout


def remove_names_and_times(record: Any) -> Any:
    """Return an answer without names and times, which may differ."""
    if isinstance(record, dict):
        return {
            key: remove_names_and_times(value)
            for key, value in record.items()
            if key not in ("rules", "seconds")
        }
    return [*map(remove_names_and_times, record)] if isinstance(record, list) else record


def test_the_garrison_option_overrides_the_rules_file(run: Run, house: Path) -> None:
    house.write_text("garrison = 3\n")
    three = json.loads(run(f"battle 9 4 --rules-file {house} --json").stdout)
    assert (three["garrison"], three["rules"]) == (3, "house.toml")
    assert json.loads(run(f"battle 9 4 --rules-file {house} --garrison 0 --json").stdout) == {
        **json.loads(run("battle 9 4 --garrison 0 --json").stdout),
        "rules": "house.toml",
    }
