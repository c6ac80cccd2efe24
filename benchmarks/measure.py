"""What is measured, and how."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

__all__ = ["Line", "Work", "seconds"]

Work: TypeAlias = Callable[[], object]


class Line(NamedTuple):
    """One measured claim.

    claim: what iacta does.
    ours: the seconds that it takes.
    rival: what does the same plainly.
    theirs: the seconds of that; where only a part of it was timed, as many times more.
    least_ratio: how many times faster iacta has to be.
    most_seconds: how long it may take on a machine of two cores, if that is asked.
    """

    claim: str
    ours: float
    rival: str
    theirs: float
    least_ratio: float = 1.0
    most_seconds: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether all that is asked is met."""
        fast_enough = self.most_seconds is None or self.ours <= self.most_seconds
        return fast_enough and self.theirs >= self.least_ratio * self.ours


def seconds(work: Work, runs: int = 5) -> float:
    """Return the median time of some runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
