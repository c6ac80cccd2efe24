"""Writes a chart to a file or to standard output."""

import sys
from typing import TYPE_CHECKING

from iacta.charts.converter import CONVERTED, Converter, convert
from iacta.inputs.files import STREAM, check_writable, format_path

if TYPE_CHECKING:
    from iacta.charts import Chart


class Picture:
    """The file for a chart; `-` stands for standard output, as SVG."""

    def __init__(self, file: str, dark: bool) -> None:
        from iacta.charts.saving import check_installed, read_suffix  # only needed here

        self._file, self._dark = file, dark
        kind = "svg" if file == STREAM else read_suffix(file)
        if kind in CONVERTED:
            check_installed()
        if file != STREAM:
            check_writable(file)
        # Start the converter now, so that it loads while the answer is being computed.
        self._make = Converter(kind) if kind in CONVERTED else convert

    def __enter__(self) -> "Picture":
        return self

    def __exit__(self, *_: object) -> None:
        if isinstance(self._make, Converter):
            self._make.close()

    def draw(self, chart: "Chart") -> None:
        if self._file == STREAM:
            print(chart.content("svg", dark=self._dark, make=self._make).decode())
            return
        chart.save(self._file, dark=self._dark, make=self._make)
        if sys.stderr is not None:  # None if the stream is closed
            print(f"iacta: wrote {format_path(self._file)}", file=sys.stderr)
