"""Start the command `iacta`.

This module is outside the package `iacta`, so that Ctrl-C works during the slow import of iacta.
"""

import _signal as signal  # type: ignore[import-not-found] # without the slow import of enums
import os
import sys

TYPE_CHECKING = False  # stands for `typing.TYPE_CHECKING`, whose import is slow
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

__all__ = ["main"]

INTERRUPTED = 130
IMPORTER = "<frozen importlib._bootstrap>"  # the file of the frames that import modules


def main() -> "NoReturn":
    """Load and run the command; Ctrl-C ends it with exit code 130 at any time."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # a shell may ignore Ctrl-C
        # There is nothing to clean up yet, and an import could swallow an exception.
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    import atexit  # imported once Ctrl-C works
    import gc

    gc.disable()  # imported modules stay in memory
    import numpy  # noqa: F401 # slower deep inside other imports

    from iacta.cli import main as command

    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGINT, _interrupt if usual is signal.default_int_handler else usual)
    try:
        command()
    except SystemExit as ended:
        # Python would first destroy all objects, which takes 10% of the time of a small question.
        atexit._run_exitfuncs()
        os._exit(ended.code if isinstance(ended.code, int) else 1)


def _interrupt(_: int, frame: "FrameType | None") -> None:
    """Raise KeyboardInterrupt, and raise it again at the end of a running import.

    An import may swallow the exception, or replace it: up to Python 3.11, by a RuntimeError while a
    class is being created.
    """
    if _is_importing(frame):
        sys.setprofile(_interrupt_after_import)
        sys.unraisablehook = _print_nothing
    raise KeyboardInterrupt


def _interrupt_after_import(frame: "FrameType", event: str, _: object) -> None:
    is_end = event == "return" and frame.f_code.co_filename == IMPORTER
    if is_end and not _is_importing(frame.f_back):
        sys.setprofile(None)
        raise KeyboardInterrupt


def _is_importing(frame: "FrameType | None") -> bool:
    while frame is not None and frame.f_code.co_filename != IMPORTER:
        frame = frame.f_back
    return frame is not None


def _print_nothing(_: object) -> None:
    """Replace `sys.unraisablehook`, which would print swallowed exceptions."""
