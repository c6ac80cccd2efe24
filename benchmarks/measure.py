"""Results of benchmarks: a mark is one number, a line compares iacta with a rival."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

Work: TypeAlias = Callable[[], object]


class Mark(NamedTuple):
    """One number.

    claim: the name of the measurement.
    got: the number.
    asked: the required number, `None` without a requirement.
    is_least: whether the number must be at least `asked`; otherwise at most.
    of: the number of measurements.
    """

    claim: str
    got: float
    asked: float | None
    is_least: bool
    of: int

    @property
    def is_met(self) -> bool:
        """Whether the number meets its requirement."""
        if self.asked is None:
            return True
        return self.got >= self.asked if self.is_least else self.got <= self.asked

    def __str__(self) -> str:
        sign = "at least" if self.is_least else "at most"
        asked = "" if self.asked is None else f"{sign} {self.asked:,.4g}"
        return f"{self.claim:60}{self.got:14,.4f}  {asked:20}of {self.of:,}"


class Line(NamedTuple):
    """One comparison.

    claim: the task of iacta.
    ours: the seconds of iacta.
    rival: the plain program for the same task.
    theirs: the seconds of the rival, extrapolated if only a part was timed.
    least_ratio: the required speed-up.
    most_seconds: the time limit on a machine of two cores, `None` for no limit.
    """

    claim: str
    ours: float
    rival: str
    theirs: float
    least_ratio: float = 1.0
    most_seconds: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether iacta meets the time limit and the speed-up."""
        fast_enough = self.most_seconds is None or self.ours <= self.most_seconds
        return fast_enough and self.theirs >= self.least_ratio * self.ours

    def __str__(self) -> str:
        most = "" if self.most_seconds is None else f"at most {1000 * self.most_seconds:,.0f} ms"
        least = f", at least {self.least_ratio:g}" if self.least_ratio else ""
        ratio = f"{self.theirs / self.ours:,.2f} times faster{least} than {self.rival}"
        return f"{self.claim:60}{1000 * self.ours:11,.3f} ms  {most:18}{ratio}"


def seconds(work: Work, runs: int = 5) -> float:
    """Return the median time of some runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
