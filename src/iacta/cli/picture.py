"""The picture of an answer, which commands draw into a file."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from iacta.charts.converter import CONVERTED, Converter, convert
from iacta.files import STREAM, check_writable, plain

if TYPE_CHECKING:
    from iacta.charts.theme import AnyChart

__all__ = ["Picture"]


class Picture:
    """The file for a picture: `-` prints SVG."""

    def __init__(self, file: str, dark: bool) -> None:
        from iacta.charts import check_installed  # only needed here
        from iacta.charts.files import ending

        check_installed()
        self._file, self._dark = file, dark
        kind = "svg" if file == STREAM else ending(file)
        if file != STREAM:
            check_writable(file)
        # The converter starts now, to be ready when the answer is.
        self._make = Converter(kind) if kind in CONVERTED else convert

    def __enter__(self) -> "Picture":
        return self

    def __exit__(self, *_: object) -> None:
        if isinstance(self._make, Converter):
            self._make.close()

    def sketch(self, make: "Callable[[ModuleType], AnyChart]") -> "AnyChart":
        """Return the chart that `make` returns, given `iacta.charts`; it may refuse an answer."""
        from iacta import charts  # as above
        from iacta.charts.theme import sketched

        with sketched():
            return make(charts)

    def draw(self, chart: "AnyChart") -> None:
        from iacta import charts  # as above
        from iacta.charts.files import content

        if self._file == STREAM:
            print(content(chart, "svg", dark=self._dark, make=self._make).decode())
            return
        charts.save(chart, self._file, dark=self._dark, make=self._make)
        if sys.stderr is not None:  # as it is when the shell has closed it
            print(f"iacta: wrote {plain(self._file)}", file=sys.stderr)
