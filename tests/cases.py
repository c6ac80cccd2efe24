"""Tests of many cases: one test checks all cases of a kind, and lists all that fail."""

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from functools import wraps
from typing import Any, TypeAlias

import pytest

TestFunction: TypeAlias = Callable[..., None]

PARAMETERS = type(pytest.param())
MAX_SEEDS = 20  # maximum number of seeds of a test, except in `make fuzz`
WHOLE_RANGES = "IACTA_WHOLE_RANGES"  # the environment variable that `make fuzz` sets
MAX_LISTED = 20  # maximum number of cases in a failure message
MAX_CASE_LENGTH = 200


def choose_seeds(seeds: Sequence[int], number: int = MAX_SEEDS) -> Sequence[int]:
    """Return some of the seeds, evenly spaced; `make fuzz` tests the whole range.

    number: the number of seeds to choose; fewer for tests that take seconds.

    >>> list(choose_seeds(range(100)))[:3]
    [0, 5, 10]
    >>> choose_seeds(range(6), 3)
    [0, 2, 4]
    """
    if len(seeds) <= number or os.environ.get(WHOLE_RANGES):
        return seeds
    return [seeds[k * len(seeds) // number] for k in range(number)]


def for_each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[TestFunction], Any]:
    """Return a decorator that runs a test for each case, like `pytest.mark.parametrize`.

    All cases are one test, which needs less time than a test for each case. The failure lists all
    cases that fail, with the traceback of the first.

    names: the names of the arguments, separated by commas or as a sequence.
    cases: for each case, the value of the argument, or a sequence of values of several arguments.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    is_single = len(keys) == 1 and isinstance(names, str)
    rows = [
        case.values if isinstance(case, PARAMETERS) else (case,) if is_single else case
        for case in cases
    ]
    assert rows, "a test needs a case"

    def decorate(test: TestFunction) -> TestFunction:
        @wraps(test)
        def run_all(**fixtures: Any) -> None:
            failures: list[tuple[str, BaseException]] = []
            for number, row in enumerate(rows):
                values = dict(zip(keys, row, strict=True))
                try:
                    with ExitStack() as stack:
                        test(**_refresh(fixtures, number, stack), **values)
                except (Exception, pytest.fail.Exception) as error:
                    failures.append((_describe(values), error))
            if failures:
                listed = "\n".join(f"{case}: {error}" for case, error in failures[:MAX_LISTED])
                raise AssertionError(
                    f"{len(failures)} of {len(rows)} cases fail:\n{listed}"
                ) from failures[0][1]

        signature = inspect.signature(test)
        fixtures = [each for name, each in signature.parameters.items() if name not in keys]
        run_all.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        del run_all.__wrapped__  # pytest would read its arguments
        return run_all

    return decorate


def _refresh(fixtures: dict[str, Any], number: int, stack: ExitStack) -> dict[str, Any]:
    """Return the fixtures of a case: each has its own folder and undoes its own patches."""
    own = dict(fixtures)
    if "monkeypatch" in own:
        own["monkeypatch"] = stack.enter_context(pytest.MonkeyPatch.context())
    if "tmp_path" in own:
        own["tmp_path"] = own["tmp_path"] / str(number)
        own["tmp_path"].mkdir()
    return own


def _describe(values: dict[str, Any]) -> str:
    text = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return text if len(text) <= MAX_CASE_LENGTH else f"{text[: MAX_CASE_LENGTH - 3]}..."
