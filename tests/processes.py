"""Runs Python in child processes, and simulates Ctrl-C in this process."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

# Hides all third-party packages except NumPy.
NUMPY_ONLY = """
import sys
from importlib.machinery import PathFinder

known = {*sys.stdlib_module_names, "numpy", "iacta", "iacta_literature"}
usual = PathFinder.find_spec
PathFinder.find_spec = lambda name, path=None, target=None: (
    usual(name, path, target) if path or name in known else None
)
"""


def run_python(
    code: str, *words: str, cwd: Path | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run code with arguments in a child process, and return the result."""
    return subprocess.run(  # noqa: S603 # our own code
        [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=cwd, check=check
    )


@contextmanager
def press_ctrl_c_after(seconds: float) -> Iterator[None]:
    """Simulate Ctrl-C after some seconds. As in Polars, it only ends waits with a timeout."""
    timer = Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    signal.siginterrupt(signal.SIGINT, False)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.siginterrupt(signal.SIGINT, True)
