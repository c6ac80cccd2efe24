"""Random commands and calls give an answer or one sentence; what once did not is a case here."""

import json
import random
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iacta
from iacta import IactaError
from tests import fuzz

ROUNDS = 200  # as many commands, and five times as many calls
MANY = "9" * 999
FOUND: list[str] = json.loads(Path(__file__).with_name("found_by_fuzz.json").read_text("utf-8"))


@pytest.mark.parametrize("line", FOUND, ids=lambda line: line[:50])
def test_what_was_found_stays_mended(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in fuzz.FILES.items():
        (tmp_path / name).write_text(text)
    assert fuzz.run(line.split()) is None


CALLS: list[Callable[[], Any]] = [
    lambda: iacta.ask(np.zeros(3)),  # type: ignore[arg-type]
    lambda: iacta.usual_reinforcements(len, "red"),  # type: ignore[arg-type]
    lambda: iacta.Battle(5, 3).stop_probability(exact=np.zeros(3)),  # type: ignore[call-overload]
    lambda: iacta.Distribution([1, 2]).sf(Decimal("sNaN")),  # type: ignore[arg-type]
    lambda: iacta.Distribution([1, 2]).cdf(np.zeros(0)),  # type: ignore[arg-type]
    lambda: iacta.Battle(10**400, 3),
    lambda: iacta.audit("die\n6\n", progress=7),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("call", CALLS)
def test_what_was_found_in_the_library_stays_mended(call: Callable[[], Any]) -> None:
    with pytest.raises(IactaError) as refused:
        call()
    assert len(str(refused.value)) < fuzz.LONGEST


@pytest.mark.parametrize("seed", range(5))
def test_random_commands_and_calls_are_answered_or_refused(seed: int) -> None:
    rounds = iter(range(ROUNDS))
    rng = random.Random(seed)  # noqa: S311 # no secret depends on it
    found = list(fuzz.findings(rng, lambda: next(rounds, None) is not None))
    assert not found, "\n\n".join(f"{each.asked}\n{each.said}" for each in found)


@pytest.mark.parametrize(
    "said", ["", "iacta: two\nlines\n", "iacta: " + "x" * 999, "iacta: \x1b[31m", "a traceback"]
)
def test_what_should_not_be_said_is_found(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def main() -> None:
        print(said, file=sys.stderr)
        sys.exit(2)

    monkeypatch.setattr(fuzz, "main", main)
    assert fuzz.run(["battle"]) is not None
