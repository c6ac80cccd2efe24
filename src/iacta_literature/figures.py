"""Draw figures in other processes while the main process computes values."""

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
NARROW = 240  # the width in pixels of a plot on a phone, without its axis

# A mapping from the colours of a light page to the colours of a dark page.
LIGHT_TO_DARK = {
    colour[False]: colour[True] for colour in (theme.INK, theme.PAPER, theme.FAINT, theme.MIDDLE)
}
SHADES = re.compile(r'"range": "(diverging|heatmap|ramp)"')
# Set once for the whole picture, to make files smaller.
FONT_ATTRIBUTE = ' font-family="sans-serif"'
UNSEEN = re.compile(
    r' (?:class|aria-hidden|aria-roledescription|role|pointer-events)="[^"]*"| opacity="1"'
    rf'|{FONT_ATTRIBUTE}|<path[^>]* d="" display="none"/>'
)
PLACES = re.compile(r' (?:d|transform)="[^"]*"')
HUNDREDTHS = re.compile(r"(\.\d)\d+")


class Drawn(NamedTuple):
    """A drawn figure.

    figure: the figure of the article.
    title: the title of the chart, which states the main result.
    png: the picture in PNG format.
    views: data URLs of four versions of the picture: wide light, wide dark, narrow light and narrow
        dark.
    """

    figure: Figure
    title: str
    png: bytes
    views: tuple[str, ...]


class Pictures(NamedTuple):
    """A figure at one width: one SVG for a light page, one for a dark page, and a PNG."""

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
        """Wait until the figure is drawn, and return it."""
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
    """Draw figures in other processes, which are stopped at the end of the `with` block.

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
    if not SHADES.search(text):  # without a colour scale, it suffices to replace colours
        return Pictures(light, darken(light), png)
    dark = drawer(format_spec(spec, width, dark=True), "svg")
    return Pictures(light, shorten_svg(dark.decode()), png)


def _remove_interaction(spec: Any) -> Any:
    """Return a specification, or part of one, without tooltips and invisible marks."""
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
    """Return a Vega-Lite specification as JSON for the report, without ARIA attributes.

    spec: the specification.
    width: the width of the plot in pixels.
    dark: whether the specification is for a dark page.
    """
    drawn = fit_width(spec, dark=dark, width=width)
    return json.dumps({**drawn, "config": {**drawn["config"], "aria": False}})


def darken(svg: str) -> str:
    """Convert an SVG picture for a light page to a picture for a dark page.

    svg: the picture for a light page, without a colour scale.
    """
    colours = re.compile("|".join(LIGHT_TO_DARK))
    return colours.sub(lambda match: LIGHT_TO_DARK[match[0]], svg)


def shorten_svg(svg: str) -> str:
    """Shorten an SVG picture: remove attributes for scripts, and round coordinates to 0.1 pixels.

    svg: the picture.
    """
    bare = UNSEEN.sub("", svg).replace("<svg", f"<svg{FONT_ATTRIBUTE}", 1)
    return PLACES.sub(lambda match: HUNDREDTHS.sub(r"\1", match[0]), bare)
