"""Python in a process of its own."""

import subprocess
import sys
from pathlib import Path

__all__ = ["run_python"]


def run_python(
    code: str, *words: str, cwd: Path | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run code with the words after it, and return how it ends and what it prints."""
    return subprocess.run(  # noqa: S603 # our own code
        [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=cwd, check=check
    )
