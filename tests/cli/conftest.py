"""Fixtures for tests of the command line."""

import pytest

from tests.cli.run import Run


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run command lines in a window of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return Run(monkeypatch, capsys)
