"""Python in a process of its own."""

import subprocess
import sys
from pathlib import Path

# Code after this finds no package but NumPy, as where nothing else is installed.
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
    """Run code with the words after it, and return how it ends and what it prints."""
    return subprocess.run(  # noqa: S603 # our own code
        [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=cwd, check=check
    )
