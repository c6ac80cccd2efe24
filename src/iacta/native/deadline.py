"""The deadline of a search: the one object that knows how much time is left, and who shares it."""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import inf
from time import monotonic
from typing import TypeVar

from iacta.inputs.checks import read_seconds

MOST_BYTES = 400 * 2**20  # that a search may fill
THREADS = 2  # as many as help on most machines that serve

Item = TypeVar("Item")
Result = TypeVar("Result")


class Deadline:
    """When a search must end.

    seconds: from now on; `None` for no limit.
    most_bytes: about the most memory that the search may take.

    A part of a deadline stops with the whole of it.

    >>> whole = Deadline()
    >>> part = whole.part(0.5)
    >>> whole.stop()
    >>> part.is_over
    True
    """

    is_divided = True

    def __init__(self, seconds: float | None = None, most_bytes: int = MOST_BYTES) -> None:
        self.limited = seconds is not None
        self.bytes = most_bytes
        self.start = monotonic()
        self._end = inf if seconds is None else self.start + seconds
        self.flag = ctypes.c_int32(0)  # which the core looks at

    @classmethod
    def of(cls, time_limit: float | Fraction | None) -> "Deadline":
        """Return the deadline of a call with a time limit in seconds; `None` for no limit."""
        return cls(None if time_limit is None else read_seconds(time_limit, "time_limit"))

    def left(self) -> float:
        """Return how many seconds are left; infinitely many where there is no limit."""
        return max(self._end - monotonic(), 0.0)

    @property
    def time_limit(self) -> float | None:
        """The seconds that are left, as the time limit of a call."""
        return self.left() if self.limited else None

    @property
    def seconds(self) -> float:
        return monotonic() - self.start

    @property
    def is_over(self) -> bool:
        return bool(self.flag.value) or monotonic() >= self._end

    def stop(self) -> None:
        self.flag.value = 1

    def at_least(self, seconds: float) -> "Deadline":
        """Return a deadline with at least so much time, which stops with this one."""
        return self._replace_seconds(max(self.left(), seconds))

    def keep_whole(self) -> "Deadline":
        """Return the same deadline for work that is bounded: each part of it is the whole.

        Such work is the same whatever the machine, if the deadline is not over when it is done.
        """
        found = self.at_least(0.0)
        found.is_divided = False
        return found

    def part(self, share: float) -> "Deadline":
        """Return a deadline for a part of the time that is left."""
        if not self.is_divided:
            return self
        return self._replace_seconds(self.left() * share)

    def _replace_seconds(self, seconds: float) -> "Deadline":
        found = Deadline(seconds if self.limited else None, self.bytes)
        found.flag = self.flag
        return found


def run_in_threads(
    function: Callable[[Item, Deadline], Result], items: Sequence[Item], deadline: Deadline
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with what a function returns for it, as soon as it is there.

    function: takes an item and the deadline by which it is to be done; it works in the core most of
        the time, so that threads help.
    deadline: for all of them; each has its part of what is left.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed  # slow to import

    waiting = len(items)

    def work(item: Item) -> Result:
        nonlocal waiting
        part = deadline.part(min(THREADS / waiting, 1.0))
        waiting -= 1
        return function(item, part)

    with ThreadPoolExecutor(THREADS) as pool:
        try:
            jobs = {pool.submit(work, item): item for item in items}
            for job in as_completed(jobs):
                yield jobs[job], job.result()
        except BaseException:
            deadline.stop()
            pool.shutdown(cancel_futures=True)
            raise
