"""Random commands and calls lead to an answer or an error, and never to a traceback.

`python -m tests.fuzz [SECONDS [SEED]]` tries damaged files first, compares plans to win with all
possible play on small boards, and then tries commands and calls. After fixing a bug that it finds,
add it to the cases of `tests/test_fuzz.py`.
"""

import inspect
import io
import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from copy import copy
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import iacta
from iacta import IactaError
from iacta.cli import main
from iacta.cli.print_answer import COMMANDS, OutputOptions
from iacta.cli.terminal import LONG_WORK
from iacta.forms import parameter_kinds
from iacta.forms.form import Parameter, format_option
from iacta.forms.question import QUESTIONS, Question
from iacta.inputs.checks import quote
from tests.plan.whole_turn import draw_turn, find_win_fault

MAX_MESSAGE_LENGTH = 320
DAMAGED_FILES = 2_000  # these take a few minutes
WHOLE_TURNS = 500  # turns that are compared with all possible play, about a minute
SLOW = (
    "plan",
    "compare",
    "chart",
    "defend",
    "simulate",
    "reproduce",
)  # slow commands, and commands that write files
NOT_RUN = ("reproduce", "serve")  # slow or endless commands
DRAWN = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
FILES: dict[str, str]
USUAL: dict[str, list[str]]
RULES: list[str]
FILES, USUAL, RULES = DRAWN.values()
NAMES = ("A", "B", "A,C", "X", "x", "classic", "red", "blue", "x.csv", "x.json", "x.map", *FILES)
HOSTILE: list[str] = json.loads(Path(__file__).with_name("hostile.json").read_text("utf-8"))


class Finding(NamedTuple):
    """A bug: the command or call, and what happened."""

    asked: str
    said: str

    @property
    def kind(self) -> str:
        """The part of a finding that identifies the bug."""
        lines = self.said.splitlines()
        places = [line for line in lines if line.lstrip().startswith("File ")]
        return f"{places[-1]}: {lines[-1].partition(':')[0]}" if places else self.said[:60]


def command_line(rng: random.Random) -> list[str]:
    """Return the words of a random command."""
    forms = [
        form for form in [*QUESTIONS.load_all(), *COMMANDS.load_all()] if form.name not in NOT_RUN
    ]
    form = rng.choice(forms)
    if form.name.split()[0] in SLOW and rng.random() < 0.8:
        form = rng.choice(forms)
    words = form.name.split()
    parameters = [*form.parameters()]
    if issubclass(form, Question):
        parameters += OutputOptions.parameters()
    if form.name == "plan":
        words += ["--time-limit", "0.02", "--check", "10"][: rng.choice([2, 2, 4])]
    for parameter in parameters:
        if parameter.is_argument:
            words += _argument(rng, parameter)
    options = [each for each in parameters if not each.is_argument]
    chosen = rng.sample(options, min(len(options), rng.choice([0, 0, 1, 1, 2, 3, 5])))
    if form.name == "plan":
        chosen = [each for each in options if each.name in ("take", "rules")][:2] + chosen[:2]
    for parameter in chosen:
        words.append(format_option(parameter.name))
        if not isinstance(parameter.kind, parameter_kinds.Flag):
            words.append(_text(rng, parameter))
    if rng.random() < 0.1:
        words.insert(rng.randrange(len(words) + 1), rng.choice(HOSTILE))
    if rng.random() < 0.05:
        words.pop(rng.randrange(len(words)))
    return [word for word in words if "\0" not in word]


def _argument(rng: random.Random, parameter: Parameter) -> list[str]:
    if not parameter.is_required and rng.random() < 0.3:
        return []
    count = rng.choice([1, 1, 2, 3]) if parameter.kind.is_list else 1
    return [_text(rng, parameter) for _ in range(count)]


def _text(rng: random.Random, parameter: Parameter) -> str:
    """Return a text for a parameter; one in six is hostile."""
    kind = parameter.kind
    if rng.random() < 1 / 6:
        return rng.choice(HOSTILE)
    if isinstance(kind, parameter_kinds.CommaList):
        inner = Parameter(kind.kind, "", name=parameter.name)
        return ",".join(_text(rng, inner) for _ in range(rng.choice([1, 2, 3])))
    if isinstance(kind, parameter_kinds.OneOf):
        return rng.choice(kind.words).replace(" ", "-")
    if isinstance(kind, parameter_kinds.RulesName):
        return rng.choice(RULES)
    if isinstance(kind, parameter_kinds.Chance):
        return rng.choice(["50%", "0.9", "1/3", "99.9%", "1e-9", "0.999999999999"])
    if isinstance(kind, parameter_kinds.Whole | parameter_kinds.Number):
        least, most = kind.minimum or 0, 20 if kind.maximum is None else min(kind.maximum, 20)
        return str(rng.choice([least, rng.randint(least, most), rng.randint(least, most)]))
    if isinstance(kind, parameter_kinds.Way):
        return rng.choice(["{}", "{}:capital", "{}@2", "{}~3", "{}:zombie defender@0~1"]).format(
            rng.randrange(1, 20)
        )
    usual = USUAL.get(parameter.name) if rng.random() < 5 / 6 else None
    return rng.choice(usual or NAMES)


def run(words: list[str]) -> Finding | None:
    """Run a command line in the current folder; return a bug if there is one."""
    out, err = io.StringIO(), io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(b""))
    asked = f"iacta {' '.join(map(repr, words))}"
    try:
        with (
            patch.object(sys, "argv", ["iacta", *words]),
            patch.object(sys, "stdin", stdin),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            main()
    except SystemExit as ended:
        code = ended.code
    except Exception:  # any other exception is a bug
        return Finding(asked, traceback.format_exc().strip())
    said = err.getvalue()
    lines = [line for line in said.splitlines() if line != f"iacta: {LONG_WORK}"]
    printed = out.getvalue()
    is_right = (code == 0 and printed + said != "") or (
        code == 2 and (printed, len(lines)) == ("", 1)
    )
    is_right |= code == 1 and words[0] == "batch"  # 1: some rows have errors
    for line in lines:
        is_right &= (
            line.startswith("iacta: ") and line.isprintable() and len(line) <= MAX_MESSAGE_LENGTH
        )
    return None if is_right else Finding(asked, f"ends with {code}, says {said[:2000]!r}")


def values() -> list[Callable[[], Any]]:
    """Return generators of arguments; most arguments are invalid."""
    usual: list[Any] = [1, 2, 3, 7, 0.5, "classic", "capital", "50%", [3, 2], (4, 1), True, None]
    odd: list[Any] = [
        *(-1, 0, 2.5, float("nan"), float("inf"), 10**400, -(10**400), 10**30, 1e300, 1 + 2j),
        *("", "x", "9" * 5000, "a\nb", "\x1b", b"x", "x" * 999, "\udc80"),
        *([], {}, set(), {"a": 1}, [[1, 2], [3]], [None], range(3), object(), ...),
        *(np.int64(3), np.uint8(200), np.float32("nan"), np.bool_(True), np.datetime64("NaT")),
        *(np.array([5, 3]), np.array([[5, 3], [2, 1]]), np.array("x"), np.array([]), np.zeros(3)),
        *(Fraction(1, 3), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal(3)),
        *(
            iacta.Battle(3, 2),
            iacta.Rules(),
            iacta.Dice((6, 6)),
            iacta.StopRule(hold_back=2, stop_at=3),
        ),
        *(iacta.Campaign(5, [2, 1]), iacta.Distribution([1, 2]), iacta.Holding("red", 3)),
        iacta.Board("b", ("A", "B"), (("A", "B"),)),
    ]
    makers: list[Callable[[], Any]] = [partial(copy, each) for each in [*usual, *odd]]
    return [*makers, lambda: iter([1, 2]), lambda: (n for n in [3])]


def calls() -> list[tuple[str, Callable[..., Any]]]:
    """Return the functions to call: public functions, classes and methods."""
    found = [(name, getattr(iacta, name)) for name in iacta.__all__]
    found = [(name, each) for name, each in found if callable(each) and name not in SKIPPED]
    things: list[Any] = [
        iacta.Battle(5, 3),
        iacta.Campaign(7, [2, 1]),
        iacta.Distribution([1, 2, 2]),
        iacta.Board("b", ("A", "B"), (("A", "B"),)),
    ]
    for thing in things:
        for name in dir(thing):
            if not name.startswith("_") and name not in INNER and callable(getattr(thing, name)):
                found.append((f"{type(thing).__name__}.{name}", getattr(thing, name)))
    return found


RESULTS = {"Decision", "DiceDecision"}  # only iacta creates these
INNER = {"method_name", "is_stopped", "get"}
SKIPPED = RESULTS | {"read_board", "read_position", "write_board", "read_rules_file", "notebook"}


def call(rng: random.Random, name: str, called: Callable[..., Any], made: Any) -> Finding | None:
    """Call a function with random arguments; return a bug if there is one."""
    try:
        parameters = inspect.signature(called).parameters.values()
    except ValueError:
        return None
    arguments: list[Any] = []
    named: dict[str, Any] = {}
    is_cut = False  # whether an earlier argument is left out
    for each in parameters:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        if each.default is not each.empty and rng.random() < 0.7:
            is_cut |= each.kind is not each.KEYWORD_ONLY
            continue
        if is_cut and each.kind is not each.KEYWORD_ONLY:
            continue
        value = rng.choice(made[:12] if rng.random() < 0.5 else made)()
        if each.kind is each.KEYWORD_ONLY:
            named[each.name] = value
        else:
            arguments.append(value)
    asked = f"{name}({', '.join(map(quote, arguments))}, **{quote(named)})"
    try:
        called(*arguments, **named)
    except IactaError as error:
        said = str(error)
        if not said.isprintable() or len(said) > MAX_MESSAGE_LENGTH:
            return Finding(asked, f"says {said[:2000]!r}")
    except Exception:  # any other exception is a bug
        return Finding(asked, traceback.format_exc().strip())
    return None


def findings(rng: random.Random, more: Callable[[], bool]) -> Iterator[Finding]:
    """Yield bugs, each kind only once."""
    made, called = values(), calls()
    seen = set()
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        try:
            for name, text in FILES.items():
                Path(name).write_text(text, encoding="utf-8")
            while more():
                found = run(command_line(rng))
                some = [call(rng, name, each, made) for name, each in rng.sample(called, 5)]
                for wrong in filter(None, [found, *some]):
                    if wrong.kind not in seen:
                        seen.add(wrong.kind)
                        yield wrong
        finally:
            os.chdir(before)


def search(seconds: float, seed: int) -> int:
    """Try damaged files, then random calls for some seconds; print and count the bugs."""
    from tests.damaged_files import find_crashes  # damaged_files imports this module

    count = 0
    parts = find_crashes(seed, DAMAGED_FILES), find_wrong_wins(seed), _find_for(seconds, seed)
    for found in chain.from_iterable(parts):
        count += 1
        print(json.dumps(found.asked, ensure_ascii=True)[:600], found.said, "", sep="\n")
    print(f"{count} findings with seed {seed} in {DAMAGED_FILES} damaged files and {seconds:g} s")
    return count


def find_wrong_wins(seed: int) -> Iterator[Finding]:
    """Yield the turns on small boards whose plan to win differs from the best whole turn."""
    for number in range(seed * WHOLE_TURNS, (seed + 1) * WHOLE_TURNS):
        if fault := find_win_fault(draw_turn(number)):
            yield Finding("iacta plan --win", fault)


def _find_for(seconds: float, seed: int) -> Iterator[Finding]:
    begun = time.monotonic()
    rng = random.Random(seed)  # noqa: S311 # no secret depends on it
    yield from findings(rng, lambda: time.monotonic() - begun < seconds)


if __name__ == "__main__":
    wanted = [*sys.argv[1:], "3600"][0]
    given = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(10**6)
    sys.exit(bool(search(float(wanted), given)))
