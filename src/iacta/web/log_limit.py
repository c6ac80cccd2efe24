"""The log: clients can neither fill it nor hide anything in it."""

import asyncio
import errno
import logging
from time import monotonic

import h11

from iacta.web.limits import LOG_SECONDS

NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE)
INCOMPLETE = "ASGI callable returned without completing response."  # `Delivery` has said why


class LogLimit(logging.Filter):
    """Lets through one record of a kind in a second, and failures that are no mistakes in one line.

    Records are of a kind if the same line of code writes them about the same type of error.
    """

    def __init__(self) -> None:
        super().__init__()
        self._written: dict[object, float] = {}  # when a record of a kind was written last
        self._omitted: dict[object, int] = {}  # how many there have been since

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is written, and shorten it."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, asyncio.CancelledError) or record.msg == INCOMPLETE:
            return False
        kind: object = record.pathname, record.lineno, type(error)
        sentence = _sentence_of(error)
        if sentence:
            record.msg, record.args, record.exc_info, kind = sentence, (), None, sentence
        now = monotonic()
        if now - self._written.get(kind, -LOG_SECONDS) < LOG_SECONDS:
            self._omitted[kind] = self._omitted.get(kind, 0) + 1
            return False
        self._written[kind] = now
        if omitted := self._omitted.pop(kind, 0):
            record.msg = f"{record.getMessage()} ({omitted:,} more like this before)"
            record.args = ()
        return True


def lacks_descriptors(error: BaseException | None) -> bool:
    """Return whether there was no file descriptor left for something."""
    return isinstance(error, OSError) and error.errno in NO_DESCRIPTOR


def _sentence_of(error: BaseException | None) -> str:
    """Return one line about an error that is no mistake, nothing about others."""
    if lacks_descriptors(error):
        return "all file descriptors are in use; see `ulimit -n`"
    if isinstance(error, h11.ProtocolError):
        return "a client broke HTTP while it was answered"
    return ""
