"""The log of a server: what goes wrong is written to stderr, but never without end."""

import logging
from time import monotonic

from iacta.web.limits import LOG_CHARACTERS, LOG_RECORDS, LOG_SECONDS

__all__ = ["BoundedLog"]


class BoundedLog(logging.StreamHandler):  # type: ignore[type-arg] # of stderr
    """Writes records to stderr, a limited number a minute, and says how many it left out."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        self._begun = -LOG_SECONDS
        self._count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, if there were not too many lately."""
        now = monotonic()
        if now - self._begun >= LOG_SECONDS:
            left_out = self._count - LOG_RECORDS
            self._begun, self._count = now, 0
            if left_out > 0:
                self.stream.write(f"{left_out} more messages were not logged\n")
        self._count += 1
        if self._count <= LOG_RECORDS:
            super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return text if len(text) <= LOG_CHARACTERS else f"{text[:LOG_CHARACTERS]} …"
