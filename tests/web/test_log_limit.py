"""The log: one line per kind and second, and no tracebacks for expected errors."""

import asyncio
import errno
import logging

import h11
import pytest

from iacta.web import log_limit
from iacta.web.log_limit import LogLimit


def record(
    error: BaseException | None, message: str = "failed", line: int = 1
) -> logging.LogRecord:
    """Return the log record of an error at a line of code."""
    info = None if error is None else (type(error), error, None)
    return logging.LogRecord("iacta", logging.ERROR, "file.py", line, message, (), info)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.EMFILE, "full"), "all file descriptors are in use; see `ulimit -n`"),
        (
            h11.LocalProtocolError("state=MUST_CLOSE"),
            "a client sent invalid HTTP while the server was responding",
        ),
    ],
)
def test_expected_errors_have_one_line(error: Exception, sentence: str) -> None:
    limit, first = LogLimit(), record(error)
    assert limit.filter(first)
    assert (first.getMessage(), first.exc_info) == (sentence, None)
    assert not limit.filter(record(error, "elsewhere", 2))


def test_bugs_keep_their_tracebacks() -> None:
    first = record(ValueError("3"))
    assert LogLimit().filter(first)
    assert first.exc_info is not None
    assert first.getMessage() == "failed"


def test_log_records_of_a_kind_are_counted_until_the_next_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit, now = LogLimit(), 5.0
    monkeypatch.setattr(log_limit, "monotonic", lambda: now)
    assert [limit.filter(record(ValueError("3"))) for _ in range(4)] == [True, False, False, False]
    assert limit.filter(record(KeyError("3")))
    assert limit.filter(record(ValueError("3"), line=2))
    now = 6.0
    later = record(ValueError("4"))
    assert limit.filter(later)
    assert later.getMessage() == "failed (3 more in between)"


def test_cancelled_requests_are_not_logged() -> None:
    assert not LogLimit().filter(record(asyncio.CancelledError()))
