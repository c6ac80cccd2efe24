"""Starts the command `iacta`.

It stands beside the package, whose import takes a moment, so that Ctrl-C is answered in it too.
"""

import sys
from typing import NoReturn

__all__ = ["main"]

INTERRUPTED = 130


def main() -> NoReturn:
    """Load the command and run it; Ctrl-C ends it with 130 at any time."""
    try:
        from iacta.cli import main as command

        command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
