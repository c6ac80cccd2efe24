"""The log of a server: what goes wrong is written to stderr, but never without end."""

import logging
from time import monotonic

__all__ = ["BoundedLog"]

MOST_RECORDS = 20  # in one interval
SECONDS = 60.0
MOST_CHARACTERS = 10_000  # of a record


class BoundedLog(logging.StreamHandler):  # type: ignore[type-arg] # of stderr
    """Writes records to stderr, a limited number a minute, and says how many it left out."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        self._begun = -SECONDS
        self._count = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, if there were not too many lately."""
        now = monotonic()
        if now - self._begun >= SECONDS:
            left_out = self._count - MOST_RECORDS
            self._begun, self._count = now, 0
            if left_out > 0:
                self.stream.write(f"{left_out} more messages were not logged\n")
        self._count += 1
        if self._count <= MOST_RECORDS:
            super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record, cut where it is very long."""
        text = super().format(record)
        return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} …"
