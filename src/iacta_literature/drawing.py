"""Draws the figures in processes of their own, beside the computing."""

import base64
import json
import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import Queue
from typing import Any, NamedTuple

from iacta import charts
from iacta.charts import theme
from iacta.charts.converter import Drawer, PictureError
from iacta.errors import TooLargeError
from iacta_literature.figures import Figure

__all__ = ["Drawn", "darkened", "drawing", "lean", "text_of"]

PROCESSES = 2
NARROW = 240  # pixels of a plot that is read on a telephone, beside its axis
WIDTHS = (theme.WIDTH, NARROW)

# What is different on a dark page, unless a scale makes shades of it.
LIGHT_TO_DARK = {
    each[False]: each[True] for each in (theme.INK, theme.PAPER, theme.FAINT, theme.MIDDLE)
}
FONT = ' font-family="sans-serif"'  # said once for all texts
UNSEEN = re.compile(
    r' (?:class|aria-hidden|aria-roledescription|role|pointer-events)="[^"]*"| opacity="1"'
    rf'|{FONT}|<path[^>]* d="" display="none"/>'
)
PLACES = re.compile(r' (?:d|transform)="[^"]*"')
HUNDREDTHS = re.compile(r"(\.\d)\d+")
SHADES = re.compile(r'"range": "(diverging|heatmap|ramp)"')


class Drawn(NamedTuple):
    """A figure that has been drawn.

    figure: the figure.
    title: its title, which tells what is found.
    png: the picture.
    views: it as addresses that hold the picture themselves: wide and light, wide and dark, narrow
        and light, narrow and dark.
    """

    figure: Figure
    title: str
    png: bytes
    views: tuple[str, ...]


class Pictures(NamedTuple):
    """A figure as it is drawn: as an SVG, and as a PNG if it is asked for."""

    svg: bytes
    png: bytes


class View(NamedTuple):
    """One look of a figure that is being drawn.

    drawn: the picture.
    darken: whether its colours are still to be changed to those of a dark page.
    """

    drawn: "Future[Pictures]"
    darken: bool

    def svg(self) -> str:
        """Wait for it."""
        svg = lean(self.drawn.result().svg.decode())
        return darkened(svg) if self.darken else svg


class Waiting(NamedTuple):
    """A figure that is being drawn in another process."""

    figure: Figure
    title: str
    views: tuple["View", ...]

    def drawn(self) -> Drawn:
        """Wait for it."""
        try:
            views = tuple(_address(view.svg()) for view in self.views)
            return Drawn(self.figure, self.title, self.views[0].drawn.result().png, views)
        except PictureError:
            raise TooLargeError(
                f"the figure {self.figure.name!r} must be drawn by a process of its own, which was "
                "ended; it may need more memory than there is"
            ) from None


class _Pool:
    """Drawers, and as many threads that wait for them."""

    def __init__(self) -> None:
        self.drawers = [Drawer() for _ in range(PROCESSES)]
        self._free: Queue[Drawer] = Queue()
        for drawer in self.drawers:
            self._free.put(drawer)
        self._threads = ThreadPoolExecutor(PROCESSES)

    def submit(self, text: str, has_png: bool) -> "Future[Pictures]":
        """Let a picture be drawn.

        text: the specification.
        has_png: whether a PNG is asked for.
        """
        return self._threads.submit(self._pictures, text, has_png)

    def _pictures(self, text: str, has_png: bool) -> Pictures:
        drawer = self._free.get()
        try:
            return Pictures(*drawer.draw(text, has_png))
        finally:
            self._free.put(drawer)

    def close(self) -> None:
        """End all, also what is still being drawn."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for drawer in self.drawers:
            drawer.close()
        self._threads.shutdown()


@contextmanager
def drawing(figures: tuple[Figure, ...]) -> Iterator[list[Waiting]]:
    """Draw figures in processes of their own while the block goes on.

    figures: what to draw.
    """
    pool = _Pool()
    try:
        yield [_submit(figure, pool) for figure in figures]
    finally:
        pool.close()


def _submit(figure: Figure, pool: _Pool) -> Waiting:
    chart = figure.draw()
    spec = _still(charts.specification(chart))
    views = tuple(view for width in WIDTHS for view in _views(spec, width, pool))
    return Waiting(figure, chart.description, views)


def _views(spec: Any, width: int, pool: _Pool) -> tuple[View, View]:
    """Return a figure on a light page and on a dark one, drawn twice only if it must be."""
    text = text_of(spec, width)
    light = pool.submit(text, width == theme.WIDTH)
    if not SHADES.search(text):
        return View(light, False), View(light, True)
    dark = pool.submit(text_of(spec, width, dark=True), False)
    return View(light, False), View(dark, False)


def text_of(spec: Any, width: int, *, dark: bool = False) -> str:
    """Return a specification as it is drawn for the report, where no pointer asks it anything.

    spec: the specification.
    width: how wide the plot is, in pixels.
    dark: whether it stands on a dark page.
    """
    return json.dumps({**spec, "config": {**theme.config(dark=dark, width=width), "aria": False}})


def darkened(svg: str) -> str:
    """Return a picture for a light page as it is on a dark one.

    svg: the picture, which must have no shades between the colours of the page.
    """
    known = re.compile("|".join(LIGHT_TO_DARK))
    return known.sub(lambda found: LIGHT_TO_DARK[found[0]], svg)


def lean(svg: str) -> str:
    """Return a picture without what nobody sees: names for scripts, and hundredths of a pixel.

    svg: the picture.
    """
    bare = UNSEEN.sub("", svg).replace("<svg", f"<svg{FONT}", 1)
    return PLACES.sub(lambda found: HUNDREDTHS.sub(r"\1", found[0]), bare)


def _still(spec: Any) -> Any:
    """Return a part of a chart without what only a pointer would find: tooltips, unseen marks."""
    if isinstance(spec, list):
        return [_still(part) for part in spec if not _is_unseen(part)]
    if isinstance(spec, dict):
        kept = {key: part for key, part in spec.items() if key != "tooltip"}
        return {key: part if key == "datasets" else _still(part) for key, part in kept.items()}
    return spec


def _is_unseen(layer: Any) -> bool:
    mark = layer.get("mark") if isinstance(layer, dict) else None
    return isinstance(mark, dict) and mark.get("opacity") == 0


def _address(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
