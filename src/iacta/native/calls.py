"""Calls of the core: each has a budget, obeys its deadline, and stops on Ctrl-C.

While the core works, other Python threads go on. The core looks at the flag of its deadline at
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

AT_ONCE = 0.05  # seconds that a short call may take on the thread of its caller

Call = Callable[[Any], int]  # takes a reference to a budget, and returns a code of the core


def call(
    library: Library,
    function: Call,
    deadline: Deadline,
    lock: Lock,
    *,
    states: float = inf,
    is_short: bool = False,
    unsound: str = "",
) -> int:
    """Call the core when no other thread uses the same handle, and return its code.

    function: the call.
    lock: the lock of the handle.
    states: how many states the call may look at.
    is_short: whether the call is nearly always over at once, and can be started again.
    unsound: the sentence of the refusal if the core says that its input is impossible.
    """
    stopped = library.constant("STOPPED")
    if not lock.acquire(timeout=min(deadline.left(), TIMEOUT_MAX)):
        return stopped
    try:
        code = stopped
        if is_short:
            budget = make_budget(library, deadline, states, AT_ONCE)
            code = _retry_while_busy(library, function, budget, deadline)
        if code == stopped:
            budget = make_budget(library, deadline, states)
            code = _call_in_thread(library, function, budget, deadline)
    finally:
        lock.release()
    if code == library.constant("NO_MEMORY"):
        raise TooLargeError("the search for a plan ran out of memory")
    if code == library.constant("BROKEN"):
        raise RuntimeError("the compiled core of iacta is broken")
    if code == library.constant("UNSOUND"):
        raise IllegalError(unsound)
    return code


def make_budget(library: Library, deadline: Deadline, states: float, seconds: float = 1e9) -> Any:
    """Return a reference to the budget of a call.

    states: how many states the call may look at.
    seconds: how long it may take, besides the deadline.
    """
    record = CoreData(library, "budget")
    record.data.stop = POINTER(c_int32)(deadline.flag)
    record.put(
        seconds=min(deadline.left(), seconds), states=int(min(states, 2**62)), bytes=deadline.bytes
    )
    return record.reference


def _retry_while_busy(library: Library, function: Call, budget: Any, deadline: Deadline) -> int:
    """Call a function of the core, which may still be busy with a call that Ctrl-C has ended."""
    busy = library.constant("BUSY")
    while (code := function(budget)) == busy:
        if deadline.is_over:
            return library.constant("STOPPED")
        sleep(AT_ONCE / 10)
    return code


def _call_in_thread(library: Library, function: Call, budget: Any, deadline: Deadline) -> int:
    codes, done = list[int](), Event()

    def work() -> None:
        try:
            codes.append(_retry_while_busy(library, function, budget, deadline))
        finally:
            done.set()

    # Thread.join would not do: when Ctrl-C ends it, Python 3.11 takes the thread for dead. After
    # Polars is imported, Ctrl-C ends only a wait that has a limit.
    try:
        Thread(target=work).start()
        done.wait(TIMEOUT_MAX)
    except BaseException:
        deadline.stop()
        done.wait(1)  # the thread may never have started
        raise
    return codes[0]
