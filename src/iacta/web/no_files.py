"""Prevents worker processes from opening the files that a question names."""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from iacta.inputs.errors import IllegalError


def seal() -> None:
    """Prevent this process from opening files, except the files of its program.

    These are the files of Python and its packages, and the cached script for pictures. Opening any
    other file raises `IllegalError`.
    """
    home, cache = os.path.expanduser("~"), os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    packages = [str(Path(__file__).parents[2]), str(Path(np.__file__).parents[1])]
    own = [sys.prefix, sys.base_prefix, *packages, f"{home}/.local/lib"]
    folders = tuple(
        os.path.join(os.path.abspath(os.path.expanduser(folder)), "")
        for folder in (*own, f"{cache}/iacta")
    )

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            path = os.path.abspath(os.fsdecode(arguments[0]))
            if not path.startswith(folders) and path != os.devnull:
                raise IllegalError("the server reads no files; send the contents of the file")

    sys.addaudithook(refuse)
