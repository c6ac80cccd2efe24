"""Random commands and calls give an answer or one sentence; what once did not is a case here."""

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
FOUND = [
    f"battle {MANY} 3 --max-rolls 2",
    f"battle 5 {MANY} --max-rolls 2",
    f"battle {'9' * 100} 3 --max-rolls 2",
    f"battle 5 {'9' * 100} --max-losses 2",
    f"battle 9 3 --garrison {MANY}",
    f"battle 5 4 --garrison 3 --stop-at {'9' * 100}",
    f"campaign {MANY} 3 2 --max-rolls 2",
    f"campaign 9 {'9' * 100} 3 --max-rolls 3",
    f"simulate {'9' * 100} 3 --garrison 3",
    f"need {'9' * 100} --stop-at {'9' * 100}",
    "decide 2 99999999999999999999 --garrison 14",
    "need 2 --chance 1e-9999 --rules castle+risk --exact",
    "defend 32 --chance 1e-9999 --garrison 3",
    "campaign 9 -0:ammo",
    "battle 9 3 --json=" + "x" * 9999,
    "battle 9 3 --rules " + "x+" * 999,
    "rules capital --rules " + "x" * 999,
    "battle 3 2 --rules capital --rules-file " + "x" * 999,
    "board x\x1b[31m",
    "board classic --to x\x1b[31m.gif",
    "plan position.toml --take \x1b[31m",
    "plan position.toml --take B --need 50% --source \x1b[31m",
    "battle 3 2 --plot " + "x" * 300 + ".csv",
    "chart delta",
    f"compare 1 {'9' * 99}",
]


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
