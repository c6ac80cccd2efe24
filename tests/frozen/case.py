"""Cases: questions with recorded answers, and their comparison with the current answers."""

import csv
import io
import json
import math
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

import iacta
from iacta import Distribution, Rules, rules_name
from iacta.cli import main

KINDS = ("json", "csv", "text", "refusal", "value")
ROOT = Path(__file__).parent.parent.parent
FOLDER = Path(__file__).parent / "cases"
RELATIVE, ABSOLUTE = 1e-12, 1e-300
WRITTEN = "OUT.csv"  # stands for the file that a command writes
VARYING = ("seconds", "relative_error")  # values that depend on the clock or on rounding
NAMES = {name: getattr(iacta, name) for name in iacta.__all__}


def read_cases(kind: str) -> dict[str, Any]:
    """Return the recorded answers of a kind by question; `None` if not recorded yet."""
    cases: dict[str, Any] = json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8"))
    return cases


def write_cases(kind: str, cases: Mapping[str, Any]) -> None:
    """Write the answers of a kind, one case per line; texts keep their own lines."""
    indent = 1 if kind in ("text", "refusal") else None
    entries = [
        f"{json.dumps(asked)}: {json.dumps(found, ensure_ascii=False, indent=indent)}"
        for asked, found in cases.items()
    ]
    text = "{\n" + ",\n".join(entries) + "\n}\n"
    (FOLDER / f"{kind}.json").write_text(text, encoding="utf-8")


def answer(kind: str, asked: str) -> Any:
    """Return iacta's current answer as JSON values."""
    with chdir(ROOT):
        return _value(asked) if kind == "value" else _run(kind, asked)


def differences(found: Any, expected: Any, where: str = "answer") -> Iterator[str]:
    """Yield the places where two answers differ. Floats may differ by 1e-12."""
    if type(found) is not type(expected):
        yield f"{where} is {found!r}, expected {expected!r}"
    elif isinstance(expected, dict) and list(found) == list(expected):
        for key in expected:
            yield from differences(found[key], expected[key], f"{where}[{key!r}]")
    elif isinstance(expected, list) and len(found) == len(expected):
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            yield from differences(one, other, f"{where}[{place}]")
    elif isinstance(expected, float):
        if not math.isclose(found, expected, rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            yield f"{where} is {found!r}, expected {expected!r}"
    elif found != expected:
        yield f"{where} is {found!r}, expected {expected!r}"


def _run(kind: str, line: str) -> dict[str, Any]:
    """Run a command; return its exit code, its output, and the file that it writes."""
    out, err = io.StringIO(), io.StringIO()
    environment = {name: text for name, text in os.environ.items() if name != "FORCE_COLOR"}
    with TemporaryDirectory() as folder:
        file = Path(folder, WRITTEN)
        words = ["iacta", *shlex.split(line.replace(WRITTEN, str(file)))]
        with (
            patch.object(sys, "argv", words),
            patch.dict(os.environ, {**environment, "COLUMNS": "80"}, clear=True),
            patch("iacta.cli.terminal.SILENT_DELAY", 1e6),  # no progress messages
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                main()
            except SystemExit as ended:
                code = ended.code
        printed, said = (each.getvalue().replace(str(file), WRITTEN) for each in (out, err))
        found = {"code": code, "stdout": _output(kind, printed), "stderr": said}
        return found | ({"file": _rows(file.read_text("utf-8"))} if file.exists() else {})


def _output(kind: str, printed: str) -> Any:
    """Return the output of a command without the parts that change from run to run."""
    if kind == "json" and printed:
        return _steady(json.loads(printed))
    if kind == "csv":
        return _rows(printed)
    if "Usage: iacta" in printed:  # the layout of help depends on the terminal
        return sorted(set(re.findall(r"(?<=[ │])--?[a-z][a-z-]*", printed)))
    if re.search(r"relative error .* time$", printed, re.MULTILINE):
        printed = re.sub(r"\b(0\.\d{12})\d+", r"\1", printed)
        printed = re.sub(r"\d\.\de-1[4-9]\b|\b[\d.]+ [mµ]?s$", "*", printed, flags=re.MULTILINE)
        printed = re.sub(" +", " ", printed)
    return printed.splitlines()


def _steady(record: Any) -> Any:
    if isinstance(record, dict):
        return {key: None if key in VARYING else _steady(each) for key, each in record.items()}
    return [*map(_steady, record)] if isinstance(record, list) else record


def _rows(text: str) -> list[list[float | str]]:
    """Return the cells of a CSV text, with decimal numbers as floats."""
    heading, *rows = list(csv.reader(io.StringIO(text))) or [[]]
    steady = [
        ["" if name in VARYING else _cell(cell) for name, cell in zip(heading, row, strict=True)]
        for row in rows
    ]
    return [[*heading], *steady]


def _cell(text: str) -> float | str:
    return float(text) if re.fullmatch(r"-?\d+(\.\d+|(\.\d+)?e[-+]\d+)", text) else text


def _value(expression: str) -> Any:
    """Return the value of an expression, or its error."""
    try:
        return _plain(eval(expression, {**NAMES, "np": np, "Fraction": Fraction}))  # noqa: S307 # ours
    except iacta.IactaError as error:
        return {"refused": type(error).__name__, "says": str(error)}


def _plain(value: Any) -> Any:
    """Return a value as JSON: fractions become strings, distributions become sorted pairs."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Rules):
        return [rules_name(value), value.garrison]
    if is_dataclass(value):
        compared = [each.name for each in fields(value) if each.compare]
        return {name: _plain(getattr(value, name)) for name in compared}
    if isinstance(value, Distribution):
        return _plain(sorted(value.items()))
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    return [*map(_plain, value)]
