"""Draws the figures in processes of their own, beside the computing."""

import base64
import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import NamedTuple

from iacta import charts
from iacta.charts import theme
from iacta.charts.converter import convert
from iacta.errors import TooLargeError
from iacta.reproduce.figures import Figure

__all__ = ["Drawn", "drawing"]

PROCESSES = 2
NARROW = 240  # pixels of a plot that is read on a telephone, beside its axis
WAYS = tuple((dark, width) for width in (theme.WIDTH, NARROW) for dark in (False, True))


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


class Waiting(NamedTuple):
    """A figure that is being drawn in another process."""

    figure: Figure
    title: str
    png: "Future[bytes]"
    views: tuple["Future[bytes]", ...]

    def drawn(self) -> Drawn:
        """Wait for it."""
        try:
            views = tuple(_address(view.result()) for view in self.views)
            return Drawn(self.figure, self.title, self.png.result(), views)
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
        raise
    finally:
        pool.shutdown(cancel_futures=True)


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
    spec = charts.specification(chart)
    texts = [json.dumps({**spec, "config": theme.config(dark=d, width=w)}) for d, w in WAYS]
    views = tuple(pool.submit(convert, text, "svg") for text in texts)
    return Waiting(figure, chart.description, pool.submit(convert, texts[0], "png"), views)


def _address(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
