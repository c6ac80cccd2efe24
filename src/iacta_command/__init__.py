"""Starts the command `iacta`.

It is outside the package, whose import takes a moment, so that Ctrl-C works during that import.
"""

import _signal as signal  # type: ignore[import-not-found] # without enums, which take a moment
import os

TYPE_CHECKING = False  # as `typing` has it, which takes a moment too
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]

INTERRUPTED = 130


def main() -> "NoReturn":
    """Load the command and run it; Ctrl-C ends it with 130 at any time."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # a shell may have it ignored
        # There is nothing to clean up yet, and an exception could be lost inside an import.
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    import atexit  # Ctrl-C works only from here on
    import gc

    gc.disable()  # what is imported stays
    import numpy  # noqa: F401 # deep inside other imports it takes longer

    from iacta.cli import main as command

    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGINT, usual)
    try:
        command()
    except SystemExit as ended:
        # Python's own end takes all objects apart, which is a tenth of a small question's time.
        atexit._run_exitfuncs()
        os._exit(ended.code if isinstance(ended.code, int) else 1)
