"""A callback that runs regularly during long work, to show progress or to end the work.

The callback belongs to the thread that calls `beat_during`. It runs while this thread waits for the
core or for other threads. An exception in the callback ends the work.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import TIMEOUT_MAX, Event, Thread
from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:  # slow to import
    from concurrent.futures import Future

PAUSE = 0.02  # the seconds between two calls

Callback: TypeAlias = Callable[[], object]
Result = TypeVar("Result")
_callback: ContextVar[Callback | None] = ContextVar("heartbeat", default=None)


@contextmanager
def beat_during(callback: Callback | None) -> Iterator[None]:
    """Return a context manager in which long work calls a function regularly.

    callback: the function; `None` keeps the function of an outer context manager, if there is one.

    >>> calls = []
    >>> with beat_during(lambda: calls.append(1)):
    ...     beat()
    >>> calls
    [1]
    """
    token = _callback.set(_callback.get() if callback is None else callback)
    try:
        yield
    finally:
        _callback.reset(token)


def beat() -> None:
    """Call the callback of this thread, if there is one."""
    callback = _callback.get()
    if callback is not None:
        callback()


def get_pause() -> float:
    """Return the maximum number of seconds to wait before the next `beat`.

    After Polars has been imported, Ctrl-C interrupts a wait only if the wait has a timeout.
    """
    return TIMEOUT_MAX if _callback.get() is None else PAUSE


def wait_for_event(event: Event) -> None:
    """Wait for an event, and call the callback regularly."""
    while not event.wait(get_pause()):
        beat()


def wait_for_result(future: "Future[Result]") -> Result:
    """Return the result of a future, and call the callback regularly."""
    while not future.done():
        with suppress(TimeoutError):
            return future.result(get_pause())
        beat()
    return future.result()


def join_thread(thread: Thread) -> None:
    """Wait for the end of a thread, and call the callback regularly."""
    while thread.is_alive():
        thread.join(get_pause())
        beat()
