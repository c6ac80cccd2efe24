"""The deadline of a search: the time that is left, and its division among parts of the work."""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import inf
from threading import TIMEOUT_MAX
from time import monotonic
from typing import TypeVar

from iacta.inputs.checks import read_seconds

MAX_BYTES = 400 * 2**20  # the memory limit of a search
THREADS = 2  # more threads do not help on a typical server
MIN_PART = 0.02  # seconds for an item; with too many items, the first items get results

Item = TypeVar("Item")
Result = TypeVar("Result")


class Deadline:
    """The time limit of a search, with a flag that stops it early.

    seconds: the time from now on; `None` for no limit.
    most_bytes: the approximate memory limit of the search.

    Stopping a deadline also stops all its parts.

    >>> whole = Deadline()
    >>> part = whole.part(0.5)
    >>> whole.stop()
    >>> part.is_over
    True
    """

    is_divided = True

    def __init__(self, seconds: float | None = None, most_bytes: int = MAX_BYTES) -> None:
        self.limited = seconds is not None
        self.bytes = most_bytes
        self.start = monotonic()
        self._end = inf if seconds is None else self.start + seconds
        self.flag = ctypes.c_int32(0)  # the core stops when it is not 0

    @classmethod
    def of(cls, time_limit: float | Fraction | None) -> "Deadline":
        """Return the deadline of a call with a time limit in seconds; `None` for no limit."""
        return cls(None if time_limit is None else read_seconds(time_limit, "time_limit"))

    def left(self) -> float:
        """Return the seconds left; infinity without a limit."""
        return max(self._end - monotonic(), 0.0)

    @property
    def time_limit(self) -> float | None:
        """The seconds left, as the time limit of a call."""
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
        """Return a deadline with at least so many seconds, which shares the flag of this one."""
        return self._replace_seconds(max(self.left(), seconds))

    def postpone(self, seconds: float) -> "Deadline":
        """Return a deadline that comes some seconds later, which shares the flag of this one."""
        return self._replace_seconds(max(self._end + seconds - monotonic(), 0.0))

    def keep_whole(self) -> "Deadline":
        """Return a deadline whose parts are not shorter, for work of limited size.

        If such work ends in time, its result does not depend on the speed of the machine.
        """
        found = self.at_least(0.0)
        found.is_divided = False
        return found

    def part(self, share: float, least: float = 0.0) -> "Deadline":
        """Return a deadline for a share of the time left.

        least: the minimum number of seconds, as far as there are so many left.
        """
        if not self.is_divided:
            return self
        left = self.left()
        return self._replace_seconds(max(left * share, min(least, left)))

    def _replace_seconds(self, seconds: float) -> "Deadline":
        found = Deadline(seconds if self.limited else None, self.bytes)
        found.flag = self.flag
        return found


def run_in_threads(
    function: Callable[[Item, Deadline], Result], items: Sequence[Item], deadline: Deadline
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with the result of a function, in the order of completion.

    function: takes an item and its deadline. It spends most of its time in the core, which lets
        other threads run.
    deadline: the deadline of all items; each item gets a share of the time left.

    Items that no thread has begun at the deadline have no result.
    """
    from concurrent.futures import ThreadPoolExecutor, as_completed  # slow to import

    waiting = len(items)

    def work(item: Item) -> list[tuple[Item, Result]]:
        nonlocal waiting
        if deadline.is_over:
            return []
        part = deadline.part(min(THREADS / waiting, 1.0), MIN_PART)
        waiting -= 1
        return [(item, function(item, part))]

    with ThreadPoolExecutor(THREADS) as pool:
        try:
            jobs = [pool.submit(work, item) for item in items]
            for job in as_completed(jobs, TIMEOUT_MAX):  # Ctrl-C ends only a wait with a limit
                yield from job.result()
        except BaseException:
            deadline.stop()
            pool.shutdown(cancel_futures=True)
            raise
