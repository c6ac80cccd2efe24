"""What these tests share: the command line within the process, and one whole run of the command."""

import fcntl
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.conftest import run

__all__ = ["Whole", "run", "whole"]


class Whole(NamedTuple):
    """A whole run of `iacta reproduce --json`: its folder, and what it prints."""

    folder: Path
    record: dict[str, Any]

    @property
    def report(self) -> str:
        """The report as HTML."""
        return (self.folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Whole:
    """Run the command once, also for workers beside this one."""
    base = tmp_path_factory.getbasetemp()
    base = base if worker_id == "master" else base.parent
    folder, printed = base / "whole", base / "whole.json"
    with (base / "whole.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            line = [sys.executable, "-m", "iacta", "reproduce", str(folder), "--json"]
            ended = subprocess.run(line, capture_output=True, text=True, check=True)  # noqa: S603 # ours
            assert ended.stderr == ""
            printed.write_text(ended.stdout, encoding="utf-8")
    return Whole(folder, json.loads(printed.read_text(encoding="utf-8")))
