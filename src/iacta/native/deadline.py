"""Deadlines of searches, and shares of the remaining time for the parts of a search."""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import inf
from time import monotonic
from typing import TypeVar

from iacta.inputs.checks import read_seconds
from iacta.native.heartbeat import beat, get_pause

MAX_SEARCH_BYTES = 400 * 2**20  # the memory limit of a search, in bytes
THREADS = 2  # more threads do not help on a typical server
MIN_TIME_SHARE = 0.02  # the minimum share of an item in seconds, even if later items get no time

Item = TypeVar("Item")
Result = TypeVar("Result")


class Deadline:
    """The time limit of a search, with a flag that stops it early.

    seconds: the number of seconds from now until the deadline; `None` for no limit.
    most_bytes: the approximate memory limit of the search, in bytes.

    Stopping a deadline also stops all deadlines derived from it.

    >>> whole = Deadline()
    >>> part = whole.take_share(0.5)
    >>> whole.stop()
    >>> part.is_over
    True
    """

    is_divided = True

    def __init__(self, seconds: float | None = None, most_bytes: int = MAX_SEARCH_BYTES) -> None:
        self.limited = seconds is not None
        self.bytes = most_bytes
        self.start = monotonic()
        self._end = inf if seconds is None else self.start + seconds
        self.flag = ctypes.c_int32(0)  # a value other than 0 stops the core

    @classmethod
    def from_time_limit(cls, time_limit: float | Fraction | None) -> "Deadline":
        """Return a deadline `time_limit` seconds from now; `None` for no limit."""
        return cls(None if time_limit is None else read_seconds(time_limit, "time_limit"))

    def measure_seconds_left(self) -> float:
        """Return the remaining time in seconds, or infinity without a limit."""
        return max(self._end - monotonic(), 0.0)

    @property
    def time_limit(self) -> float | None:
        """The remaining time in seconds, or `None` without a limit."""
        return self.measure_seconds_left() if self.limited else None

    @property
    def seconds(self) -> float:
        return monotonic() - self.start

    @property
    def is_over(self) -> bool:
        return bool(self.flag.value) or monotonic() >= self._end

    def stop(self) -> None:
        self.flag.value = 1

    def extend_to(self, seconds: float) -> "Deadline":
        """Return a deadline that is at least `seconds` from now, with the same stop flag."""
        return self._replace_seconds(max(self.measure_seconds_left(), seconds))

    def postpone(self, seconds: float) -> "Deadline":
        """Return a deadline that is `seconds` later, with the same stop flag."""
        return self._replace_seconds(max(self._end + seconds - monotonic(), 0.0))

    def disable_shares(self) -> "Deadline":
        """Return a copy of this deadline in which every share lasts until the deadline itself.

        The result of a search with a limited number of steps then does not depend on the speed of
        the machine, provided that the search finishes in time.
        """
        found = self.extend_to(0.0)
        found.is_divided = False
        return found

    def take_share(self, share: float, minimum: float = 0.0) -> "Deadline":
        """Return a deadline for a share of the remaining time.

        share: the share, from 0 to 1.
        minimum: the minimum number of seconds, unless less time remains.
        """
        if not self.is_divided:
            return self
        left = self.measure_seconds_left()
        return self._replace_seconds(max(left * share, min(minimum, left)))

    def _replace_seconds(self, seconds: float) -> "Deadline":
        found = Deadline(seconds if self.limited else None, self.bytes)
        found.flag = self.flag
        return found


def run_in_threads(
    function: Callable[[Item, Deadline], Result], items: Sequence[Item], deadline: Deadline
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with the result of a function, in the order of completion.

    function: a function that takes an item and its deadline. It should spend most of its time in
        the core, which does not block other threads.
    items: the items that the function processes.
    deadline: the deadline for all items; each item gets a share of the remaining time.

    Items that have not been started before the deadline are omitted.
    """
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait  # a slow import

    waiting = len(items)

    def work(item: Item) -> list[tuple[Item, Result]]:
        nonlocal waiting
        if deadline.is_over:
            return []
        part = deadline.take_share(min(THREADS / waiting, 1.0), MIN_TIME_SHARE)
        waiting -= 1
        return [(item, function(item, part))]

    with ThreadPoolExecutor(THREADS) as pool:
        try:
            running = {pool.submit(work, item) for item in items}
            while running:
                done, running = wait(running, get_pause(), FIRST_COMPLETED)
                beat()
                while done:  # no variable keeps a finished job, so its result can be freed
                    yield from done.pop().result()
        except BaseException:
            deadline.stop()
            pool.shutdown(cancel_futures=True)
            raise
