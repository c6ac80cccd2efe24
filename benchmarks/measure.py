"""What is measured, and how: a mark is one number, a line compares iacta with a rival."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

Work: TypeAlias = Callable[[], object]


class Mark(NamedTuple):
    """One number.

    claim: what is measured.
    got: the number.
    asked: what it should be, `None` where it is only reported.
    is_least: whether the number must be at least that; otherwise at most.
    of: how many measurements it comes from.
    """

    claim: str
    got: float
    asked: float | None
    is_least: bool
    of: int

    @property
    def is_met(self) -> bool:
        """Whether the number is as it should be."""
        if self.asked is None:
            return True
        return self.got >= self.asked if self.is_least else self.got <= self.asked

    def __str__(self) -> str:
        sign = "at least" if self.is_least else "at most"
        asked = "" if self.asked is None else f"{sign} {self.asked:,.4g}"
        return f"{self.claim:60}{self.got:14,.4f}  {asked:20}of {self.of:,}"


class Line(NamedTuple):
    """One comparison.

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
        """Whether it is as fast as asked, in seconds and beside the rival."""
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
