"""The picture of an answer, which any command draws into a file when asked."""

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from iacta.checks import shown
from iacta.cli.terminal import PRINTED
from iacta.errors import IllegalError

if TYPE_CHECKING:
    from iacta.charts.theme import AnyChart

__all__ = ["Picture", "read_picture"]


class Picture:
    """A file for a picture that is still to be drawn.

    file: its name; `-` for standard output, which gets SVG.
    dark: whether the picture has a dark ground.
    """

    def __init__(self, file: str, dark: bool) -> None:
        from iacta.charts import check_installed  # only needed here
        from iacta.charts.converter import CONVERTED, Converter, convert
        from iacta.charts.files import ending

        check_installed()
        self._file, self._dark = file, dark
        kind = "svg" if file == PRINTED else ending(file)
        if file != PRINTED:
            _refuse_place(file)
        # It starts now, to be ready when the answer is computed.
        self._make = Converter(kind) if kind in CONVERTED else convert

    def draw(self, make: "Callable[[ModuleType], AnyChart]") -> None:
        """Write the picture that `make` returns, given `iacta.charts`, and say so on stderr."""
        from iacta import charts  # as above
        from iacta.charts.files import content

        gc.disable()  # Altair makes thousands of classes, which never become garbage
        try:
            if self._file == PRINTED:
                drawn = content(make(charts), "svg", dark=self._dark, make=self._make)
                print(drawn.decode())
                return
            charts.save(make(charts), self._file, dark=self._dark, make=self._make)
        finally:
            gc.enable()
        if sys.stderr is not None:  # as it is when the shell has closed it
            print(f"iacta: the picture is in {self._file}", file=sys.stderr)


def _refuse_place(file: str) -> None:
    """Refuse a place that cannot be written, before the answer is computed."""
    place = Path(file)
    if not place.parent.is_dir():
        raise IllegalError(f"the folder of a picture must exist, got {shown(str(place.parent))}")
    if place.is_dir() or file.endswith(os.sep):
        raise IllegalError(f"a picture must be a file, got the folder {file!r}")
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        raise IllegalError(f"the file of a picture must be writable, got {file!r}")


def read_picture(file: str | None, dark: bool) -> Picture | None:
    """Return the file for the picture that `--plot` asks for; `--dark` alone is refused."""
    if file is None:
        if dark:
            raise IllegalError("--dark must go with --plot FILE, got it alone")
        return None
    return Picture(file, dark)
