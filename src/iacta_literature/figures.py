"""Draws the figures in separate processes, while this process computes the values."""

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
NARROW = 240  # width in pixels of a plot on a phone, without its axis

# The colours of a dark page by those of a light page.
LIGHT_TO_DARK = {
    colour[False]: colour[True] for colour in (theme.INK, theme.PAPER, theme.FAINT, theme.MIDDLE)
}
SHADES = re.compile(r'"range": "(diverging|heatmap|ramp)"')
FONT = ' font-family="sans-serif"'  # written once per picture instead of in every text element
UNSEEN = re.compile(
    r' (?:class|aria-hidden|aria-roledescription|role|pointer-events)="[^"]*"| opacity="1"'
    rf'|{FONT}|<path[^>]* d="" display="none"/>'
)
PLACES = re.compile(r' (?:d|transform)="[^"]*"')
HUNDREDTHS = re.compile(r"(\.\d)\d+")


class Drawn(NamedTuple):
    """A figure that has been drawn.

    figure: the figure.
    title: the title, which states the main result.
    png: the picture as PNG.
    views: data URLs of the picture in four versions: wide light, wide dark, narrow light, narrow
        dark.
    """

    figure: Figure
    title: str
    png: bytes
    views: tuple[str, ...]


class Pictures(NamedTuple):
    """A figure in one width: SVGs for a light and for a dark page, and a PNG."""

    light: str
    dark: str
    png: bytes


class Drawing(NamedTuple):
    """A figure that another process is drawing."""

    figure: Figure
    title: str
    wide: "Future[Pictures]"
    narrow: "Future[Pictures]"

    def finish(self) -> Drawn:
        """Wait for the figure, and return it."""
        try:
            wide, narrow = self.wide.result(), self.narrow.result()
        except PictureError:
            raise TooLargeError(
                f"the process that draws {self.figure.name!r} was killed; it may need more "
                "memory than this machine has"
            ) from None
        views = tuple(
            f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
            for svg in (wide.light, wide.dark, narrow.light, narrow.dark)
        )
        return Drawn(self.figure, self.title, wide.png, views)


@contextmanager
def draw_figures(figures: Iterable[Figure]) -> Iterator[list[Drawing]]:
    """Draw figures in separate processes during a `with` block, which stops them at its end.

    figures: the figures to draw.
    """
    drawers = [Converter("svg") for _ in range(PROCESSES)]
    free: Queue[Converter] = Queue()
    for drawer in drawers:
        free.put(drawer)

    def draw(spec: Any, width: int) -> Pictures:
        drawer = free.get()
        try:
            return _draw_pictures(drawer, spec, width)
        finally:
            free.put(drawer)

    threads = ThreadPoolExecutor(PROCESSES)
    try:
        begun = []
        for figure in figures:
            chart = figure.draw()
            spec = _remove_interaction(chart.to_dict())
            wide, narrow = (threads.submit(draw, spec, width) for width in (theme.WIDTH, NARROW))
            begun.append(Drawing(figure, chart.description, wide, narrow))
        yield begun
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for drawer in drawers:
            drawer.close()
        threads.shutdown()


def _draw_pictures(drawer: Converter, spec: Any, width: int) -> Pictures:
    """Draw a figure for a light page, and for a dark page."""
    text = format_spec(spec, width)
    svg = drawer(text, "svg").decode()
    png = drawer(svg, "raster") if width == theme.WIDTH else b""
    light = shorten_svg(svg)
    if not SHADES.search(text):  # without a colour scale, replacing the page's colours is enough
        return Pictures(light, darken(light), png)
    dark = drawer(format_spec(spec, width, dark=True), "svg")
    return Pictures(light, shorten_svg(dark.decode()), png)


def _remove_interaction(spec: Any) -> Any:
    """Return a specification, or a part of it, without tooltips and invisible marks."""
    if isinstance(spec, list):
        return [_remove_interaction(part) for part in spec if not _is_invisible(part)]
    if isinstance(spec, dict):
        kept = {key: part for key, part in spec.items() if key != "tooltip"}
        return {
            key: part if key == "datasets" else _remove_interaction(part)
            for key, part in kept.items()
        }
    return spec


def _is_invisible(layer: Any) -> bool:
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
    """Return a picture for a dark page, made from a picture for a light page.

    svg: the picture; it must not have a colour scale.
    """
    colours = re.compile("|".join(LIGHT_TO_DARK))
    return colours.sub(lambda match: LIGHT_TO_DARK[match[0]], svg)


def shorten_svg(svg: str) -> str:
    """Return a picture without attributes for scripts, and with coordinates of one decimal.

    svg: the picture.
    """
    bare = UNSEEN.sub("", svg).replace("<svg", f"<svg{FONT}", 1)
    return PLACES.sub(lambda match: HUNDREDTHS.sub(r"\1", match[0]), bare)
