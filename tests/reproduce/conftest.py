"""What these tests share: the command line, run within the process."""

from tests.cli.conftest import run

__all__ = ["run"]
