"""Starts the command `iacta`.

It stands beside the package, whose import takes a moment, so that Ctrl-C is answered in it too.
"""

import os
import signal
from typing import NoReturn

__all__ = ["main"]

INTERRUPTED = 130


def main() -> NoReturn:
    """Load the command and run it; Ctrl-C ends it with 130 at any time."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # a shell may have it ignored
        # Nothing is to be tidied up yet, and an exception might be lost within an import.
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from iacta.cli import main as command

    signal.signal(signal.SIGINT, usual)
    command()
