"""Draws the figures in processes of their own, beside the computing."""

import base64
import json
import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import Any, NamedTuple

from iacta import charts
from iacta.charts import theme
from iacta.charts.converter import convert, raster
from iacta.errors import TooLargeError
from iacta.reproduce.figures import Figure

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
        except BrokenProcessPool:
            raise TooLargeError(
                f"the figure {self.figure.name!r} must be drawn by a process of its own, which was "
                "ended; it may need more memory than there is"
            ) from None


@contextmanager
def drawing(figures: tuple[Figure, ...]) -> Iterator[list[Waiting]]:
    """Draw figures in processes of their own while the block goes on.

    figures: what to draw.
    """
    others = active_children()
    pool = ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn"), initializer=_begin)
    with _interrupts_put_off():  # the processes inherit that, and say nothing of Ctrl-C
        for _ in range(PROCESSES):
            pool.submit(os.getpid)
    try:
        yield [_submit(figure, pool) for figure in figures]
    except BaseException:
        for process in active_children():
            if process not in others:
                process.terminate()  # nobody waits for its pictures
        # The pool's own thread may close the queue at the same moment; then it is closed twice.
        with suppress(OSError):
            _read_no_more(pool)
        with suppress(OSError):
            pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown(cancel_futures=True)


def _read_no_more(pool: ProcessPoolExecutor) -> None:
    """Let a pool whose processes have ended end too, though it has more to hand them.

    Python before 3.12 waits for ever for its thread that writes to them (its issue 94777).
    """
    queue = getattr(pool, "_call_queue", None)
    reader = getattr(queue, "_reader", None)
    if reader is not None:
        reader.close()


@contextmanager
def _interrupts_put_off() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block, where the system can."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Leave Ctrl-C to the process that asks for pictures, and end when that one ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _submit(figure: Figure, pool: ProcessPoolExecutor) -> Waiting:
    chart = figure.draw()
    spec = _still(charts.specification(chart))
    views = tuple(view for width in WIDTHS for view in _views(spec, width, pool))
    return Waiting(figure, chart.description, views)


def _views(spec: Any, width: int, pool: ProcessPoolExecutor) -> tuple[View, View]:
    """Return a figure on a light page and on a dark one, drawn twice only if it must be."""
    text = text_of(spec, width)
    light = pool.submit(_pictures, text, width == theme.WIDTH)
    if not SHADES.search(text):
        return View(light, False), View(light, True)
    dark = pool.submit(_pictures, text_of(spec, width, dark=True), False)
    return View(light, False), View(dark, False)


def _pictures(text: str, has_png: bool) -> Pictures:
    svg = convert(text, "svg")
    return Pictures(svg, raster(svg) if has_png else b"")


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
