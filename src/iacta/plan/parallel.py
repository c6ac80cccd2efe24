"""Many small searches at a time, which share the time that there is."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from iacta.plan.deadline import Deadline

THREADS = 2  # as many as help on most machines that serve

Item = TypeVar("Item")
Result = TypeVar("Result")


def by_threads(
    function: Callable[[Item, Deadline], Result], items: Sequence[Item], deadline: Deadline
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with what a function returns for it, as soon as it is there.

    function: takes an item and the deadline by which it is to be done; it works in the core most of
        the time, so that threads help.
    deadline: for all of them; each has its part of what is left.
    """
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
