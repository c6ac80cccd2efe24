"""Calls of the core. Each call has a budget, respects its deadline, and stops on Ctrl-C.

Other Python threads can run while the core works. The core checks the stop flag of its deadline at
least ten times a second.
"""

from collections.abc import Callable
from ctypes import POINTER, c_int32
from math import inf
from threading import TIMEOUT_MAX, Event, Lock, Thread
from time import sleep
from typing import Any

from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.native.core_library import CoreData, Library
from iacta.native.deadline import Deadline
from iacta.native.heartbeat import wait_for_event

SHORT_CALL_SECONDS = 0.05  # longer calls are repeated in a separate thread

Call = Callable[[Any], int]  # a function that takes a pointer to a budget and returns a status code


def call_core(
    library: Library,
    function: Call,
    deadline: Deadline,
    lock: Lock,
    *,
    states: float = inf,
    is_short: bool = False,
    unsound: str = "",
) -> int:
    """Call a function of the core under the lock of its handle, and return the status code.

    function: a function that takes a pointer to a budget and calls the core.
    lock: the lock of the handle.
    states: the maximum number of states in the search.
    is_short: whether the call usually takes milliseconds and may be repeated.
    unsound: the error message if the core reports invalid input.
    """
    stopped = library.constant("STOPPED")
    if not lock.acquire(timeout=min(deadline.measure_seconds_left(), TIMEOUT_MAX)):
        return stopped
    try:
        code = stopped
        if is_short:
            budget = make_budget(library, deadline, states, SHORT_CALL_SECONDS)
            code = _retry_while_busy(library, function, budget, deadline)
        if code == stopped:
            budget = make_budget(library, deadline, states)
            code = _call_in_thread(library, function, budget, deadline)
    finally:
        lock.release()
    if code == library.constant("NO_MEMORY"):
        raise TooLargeError("iacta ran out of memory")
    if code == library.constant("BROKEN"):
        raise RuntimeError("the compiled core of iacta is broken")
    if code == library.constant("UNSOUND"):
        raise IllegalError(unsound)
    return code


def make_budget(library: Library, deadline: Deadline, states: float, seconds: float = 1e9) -> Any:
    """Return a pointer to a new budget: the limits of one call of the core.

    states: the maximum number of states in the search.
    seconds: a time limit in seconds, in addition to the deadline.
    """
    record = CoreData(library, "budget")
    record.data.stop = POINTER(c_int32)(deadline.flag)
    record.set_fields(
        seconds=min(deadline.measure_seconds_left(), seconds),
        states=int(min(states, 2**62)),
        bytes=deadline.bytes,
    )
    return record.reference


def _retry_while_busy(library: Library, function: Call, budget: Any, deadline: Deadline) -> int:
    """Call a function of the core; retry as long as a call that Ctrl-C abandoned is running."""
    busy = library.constant("BUSY")
    while (code := function(budget)) == busy:
        if deadline.is_over:
            return library.constant("STOPPED")
        sleep(SHORT_CALL_SECONDS / 10)
    return code


def _call_in_thread(library: Library, function: Call, budget: Any, deadline: Deadline) -> int:
    codes, done = list[int](), Event()

    def work() -> None:
        try:
            codes.append(_retry_while_busy(library, function, budget, deadline))
        finally:
            done.set()

    # Do not use Thread.join: if Ctrl-C interrupts it, Python 3.11 considers the thread dead.
    try:
        Thread(target=work).start()
        wait_for_event(done)
    except BaseException:
        deadline.stop()
        done.wait(1)  # not forever, because the thread may not have started
        raise
    return codes[0]
