"""Random commands and calls never crash. Bugs found earlier are regression tests."""

import json
import random
import sys
from pathlib import Path

import pytest

from tests import fuzz

ROUNDS = 200  # number of commands; there are five times as many calls
MANY = "9" * 999
FOUND: list[str] = json.loads(Path(__file__).with_name("found_by_fuzz.json").read_text("utf-8"))


@pytest.mark.parametrize("line", FOUND, ids=lambda line: line[:50])
def test_earlier_findings_stay_fixed(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in fuzz.FILES.items():
        (tmp_path / name).write_text(text)
    assert fuzz.run(line.split()) is None


@pytest.mark.parametrize("seed", range(5))
def test_random_commands_and_calls_never_crash(seed: int) -> None:
    rounds = iter(range(ROUNDS))
    rng = random.Random(seed)  # noqa: S311 # no secret depends on it
    found = list(fuzz.findings(rng, lambda: next(rounds, None) is not None))
    assert not found, "\n\n".join(f"{each.asked}\n{each.said}" for each in found)


@pytest.mark.parametrize(
    "said", ["", "iacta: two\nlines\n", "iacta: " + "x" * 999, "iacta: \x1b[31m", "a traceback"]
)
def test_the_fuzzer_detects_bad_output(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def main() -> None:
        print(said, file=sys.stderr)
        sys.exit(2)

    monkeypatch.setattr(fuzz, "main", main)
    assert fuzz.run(["battle"]) is not None
