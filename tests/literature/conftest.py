"""Shared fixtures: commands in this process, and one complete run of `iacta reproduce`."""

import fcntl
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from iacta.cli import main
from tests.cli.conftest import run

__all__ = ["Whole", "run", "whole"]


class Whole(NamedTuple):
    """A complete run of `iacta reproduce --json`: its folder and its output."""

    folder: Path
    record: dict[str, Any]

    @property
    def report(self) -> str:
        """The report as HTML."""
        return (self.folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Whole:
    """Run the command once for all test workers."""
    base = tmp_path_factory.getbasetemp()
    base = base if worker_id == "master" else base.parent
    folder, printed = base / "whole", base / "whole.json"
    with (base / "whole.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            out, err = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
                patch.setattr(sys, "argv", ["iacta", "reproduce", str(folder), "--json"])
                with pytest.raises(SystemExit) as ended:
                    main()
            assert (ended.value.code, err.getvalue()) == (0, "")
            printed.write_text(out.getvalue(), encoding="utf-8")
    return Whole(folder, json.loads(printed.read_text(encoding="utf-8")))
