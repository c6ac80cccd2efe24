"""A rate limit for the log, so that clients cannot fill the disk."""

import asyncio
import errno
import logging
from time import monotonic

import h11

from iacta.web.limits import LOG_SECONDS

NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE)
INCOMPLETE = "ASGI callable returned without completing response."  # `Delivery` logs the reason


class LogLimit(logging.Filter):
    """A log filter that passes one record of each kind per second.

    Two records are of the same kind if they report the same expected error, or if the same line of
    code reports the same type of error. Expected errors are logged in one line, without traceback.
    """

    def __init__(self) -> None:
        super().__init__()
        self._written: dict[object, float] = {}  # the time of the last record of each kind
        self._omitted: dict[
            object, int
        ] = {}  # the number of records of each kind omitted since then

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a record; shorten the record of an expected error to one line."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, asyncio.CancelledError) or record.msg == INCOMPLETE:
            return False
        kind: object = record.pathname, record.lineno, type(error)
        sentence = _describe_error(error)
        if sentence:
            record.msg, record.args, record.exc_info, kind = sentence, (), None, sentence
        now = monotonic()
        if now - self._written.get(kind, -LOG_SECONDS) < LOG_SECONDS:
            self._omitted[kind] = self._omitted.get(kind, 0) + 1
            return False
        self._written[kind] = now
        if omitted := self._omitted.pop(kind, 0):
            record.msg = f"{record.getMessage()} ({omitted:,} more in between)"
            record.args = ()
        return True


def lacks_descriptors(error: BaseException | None) -> bool:
    """Return whether an error means that the process has no file descriptors left."""
    return isinstance(error, OSError) and error.errno in NO_DESCRIPTOR


def _describe_error(error: BaseException | None) -> str:
    """Return the log line for an expected error, or an empty string for other errors."""
    if lacks_descriptors(error):
        return "all file descriptors are in use; see `ulimit -n`"
    if isinstance(error, h11.ProtocolError):
        return "a client sent invalid HTTP while the server was responding"
    return ""
