"""Results of benchmarks: measurements, and comparisons with a simple rival program."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

Work: TypeAlias = Callable[[], object]


class Measurement(NamedTuple):
    """A measured number and its requirement.

    claim: the measured quantity, in words.
    got: the measured number.
    asked: the required number; `None` if there is no requirement.
    is_least: whether `asked` is a minimum rather than a maximum.
    of: the number of samples behind the measurement.
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


class Comparison(NamedTuple):
    """The time that iacta needs, compared with a rival program for the same task.

    claim: the task.
    ours: the time of iacta in seconds.
    rival: the name of the rival.
    theirs: the time of the rival in seconds, extrapolated if only a part was timed.
    least_ratio: the required speed-up.
    most_seconds: the maximum time of iacta in seconds on two cores; `None` for no maximum.
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
    """Return the median time of several runs in seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
