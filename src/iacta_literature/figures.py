"""Figures, drawn in separate processes while the values are computed."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import Queue
from typing import Any, NamedTuple

from iacta import TooLargeError
from iacta.charts import theme
from iacta.charts.converter import Converter, PictureError
from iacta.charts.saving import fit_width
from iacta_literature.published import Figure

PROCESSES = 2
NARROW = 240  # pixels of a plot on a telephone, without its axis

# The colours of a dark page, for pictures without a colour scale.
LIGHT_TO_DARK = {
    colour[False]: colour[True] for colour in (theme.INK, theme.PAPER, theme.FAINT, theme.MIDDLE)
}
SHADES = re.compile(r'"range": "(diverging|heatmap|ramp)"')
FONT = ' font-family="sans-serif"'  # named once for all texts
UNSEEN = re.compile(
    r' (?:class|aria-hidden|aria-roledescription|role|pointer-events)="[^"]*"| opacity="1"'
    rf'|{FONT}|<path[^>]* d="" display="none"/>'
)
PLACES = re.compile(r' (?:d|transform)="[^"]*"')
HUNDREDTHS = re.compile(r"(\.\d)\d+")


class Drawn(NamedTuple):
    """A figure that has been drawn.

    figure: the figure.
    title: its title, which states the finding.
    png: the picture.
    views: data URLs of the picture: wide and light, wide and dark, narrow and light, narrow and
        dark.
    """

    figure: Figure
    title: str
    png: bytes
    views: tuple[str, ...]


class Pictures(NamedTuple):
    """A figure in one width: the SVG for a light page and for a dark one, and the PNG."""

    light: str
    dark: str
    png: bytes


class Drawing(NamedTuple):
    """A figure in progress in another process."""

    figure: Figure
    title: str
    wide: "Future[Pictures]"
    narrow: "Future[Pictures]"

    def drawn(self) -> Drawn:
        """Wait for the figure, and return it."""
        try:
            wide, narrow = self.wide.result(), self.narrow.result()
        except PictureError:
            raise TooLargeError(
                f"the process that draws {self.figure.name!r} was ended; it may need more "
                "memory than there is"
            ) from None
        views = tuple(
            f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
            for svg in (wide.light, wide.dark, narrow.light, narrow.dark)
        )
        return Drawn(self.figure, self.title, wide.png, views)


@contextmanager
def drawings(figures: Iterable[Figure]) -> Iterator[list[Drawing]]:
    """Draw figures in separate processes during the block, and stop the processes at its end.

    figures: the figures to draw.
    """
    drawers = [Converter("svg") for _ in range(PROCESSES)]
    free: Queue[Converter] = Queue()
    for drawer in drawers:
        free.put(drawer)

    def draw(spec: Any, width: int) -> Pictures:
        drawer = free.get()
        try:
            return _pictures(drawer, spec, width)
        finally:
            free.put(drawer)

    threads = ThreadPoolExecutor(PROCESSES)
    try:
        begun = []
        for figure in figures:
            chart = figure.draw()
            spec = _still(chart.to_dict())
            wide, narrow = (threads.submit(draw, spec, width) for width in (theme.WIDTH, NARROW))
            begun.append(Drawing(figure, chart.description, wide, narrow))
        yield begun
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for drawer in drawers:
            drawer.close()
        threads.shutdown()


def _pictures(drawer: Converter, spec: Any, width: int) -> Pictures:
    """Draw a figure for a light page, and again for a dark page if it has shades."""
    text = format_spec(spec, width)
    svg = drawer(text, "svg").decode()
    png = drawer(svg, "raster") if width == theme.WIDTH else b""
    light = shorten_svg(svg)
    if not SHADES.search(text):
        return Pictures(light, darken(light), png)
    dark = drawer(format_spec(spec, width, dark=True), "svg")
    return Pictures(light, shorten_svg(dark.decode()), png)


def _still(spec: Any) -> Any:
    """Return a part of a chart without tooltips and invisible marks."""
    if isinstance(spec, list):
        return [_still(part) for part in spec if not _is_unseen(part)]
    if isinstance(spec, dict):
        kept = {key: part for key, part in spec.items() if key != "tooltip"}
        return {key: part if key == "datasets" else _still(part) for key, part in kept.items()}
    return spec


def _is_unseen(layer: Any) -> bool:
    mark = layer.get("mark") if isinstance(layer, dict) else None
    return isinstance(mark, dict) and mark.get("opacity") == 0


def format_spec(spec: Any, width: int, *, dark: bool = False) -> str:
    """Return a specification as JSON for the report, without ARIA attributes.

    spec: the specification.
    width: the width of the plot in pixels.
    dark: whether the specification is for a dark page.
    """
    drawn = fit_width(spec, dark=dark, width=width)
    return json.dumps({**drawn, "config": {**drawn["config"], "aria": False}})


def darken(svg: str) -> str:
    """Return the dark version of a picture for a light page.

    svg: the picture, without shades between the colours of the page.
    """
    known = re.compile("|".join(LIGHT_TO_DARK))
    return known.sub(lambda match: LIGHT_TO_DARK[match[0]], svg)


def shorten_svg(svg: str) -> str:
    """Return a picture without names for scripts and without fractions of a tenth of a pixel.

    svg: the picture.
    """
    bare = UNSEEN.sub("", svg).replace("<svg", f"<svg{FONT}", 1)
    return PLACES.sub(lambda match: HUNDREDTHS.sub(r"\1", match[0]), bare)
