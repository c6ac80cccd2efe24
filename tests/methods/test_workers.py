"""Work is spread over any executor, and what is none is refused in a sentence."""

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from iacta import IactaError, simulate_battle
from iacta.methods.simulation import MOST_PENDING, spread


class NoFutures(Executor):
    """Takes on work, and returns nothing."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return nothing, against its own word."""
        return None  # type: ignore[return-value] # the fault


def test_results_come_in_the_order_of_the_pieces() -> None:
    pieces = range(MOST_PENDING + 20)
    with ThreadPoolExecutor(3) as executor:
        assert list(spread(abs, pieces, executor)) == list(pieces)


def test_what_is_no_working_executor_is_refused() -> None:
    closed = ThreadPoolExecutor(1)
    closed.shutdown()
    faults: list[tuple[Any, str]] = [
        (ThreadPoolExecutor, "executor must be a concurrent.futures.Executor"),
        (3, "executor must be a concurrent.futures.Executor, got 3"),
        (closed, "executor must take on work"),
        (NoFutures(), "executor must return futures, got None"),
    ]
    for executor, sentence in faults:
        with pytest.raises(IactaError, match=sentence):
            simulate_battle(5, 3, runs=10, executor=executor)
