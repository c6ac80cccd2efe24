"""Draws the pictures of the pages, each by the command that the page shows."""

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from docs.house import drawing
from docs.sessions import sessions

__all__ = ["HAND_DRAWN", "PICTURE", "draw_all", "printed_by", "with_pictures"]

PICTURE = re.compile(r"^!\[(.*)\]\((.*\.svg)\)$", re.MULTILINE)
NARROW, WIDE = 260, 600  # pixels of the plot, for telephones and for other screens
AXES = 60  # and of what stands beside it
HAND_DRAWN = {"house.svg": drawing}  # those that no command draws

# The reader's screen chooses: narrow or wide, light or dark.
ELEMENT = (
    '<picture class="chart">'
    '<source media="(max-width: 599px) and (prefers-color-scheme: dark)"'
    ' srcset="{stem}-narrow-dark.svg">'
    '<source media="(max-width: 599px)" srcset="{stem}-narrow.svg">'
    '<source media="(prefers-color-scheme: dark)" srcset="{stem}-dark.svg">'
    '<img src="{stem}.svg" alt="{alt}"></picture>'
)


def with_pictures(text: str) -> str:
    """Return a page in which each picture is there in four forms, of which the screen takes one.

    text: the page, as Markdown.
    """
    return PICTURE.sub(
        lambda found: ELEMENT.format(alt=found[1], stem=found[2].removesuffix(".svg")), text
    )


def printed_by(command: str) -> str:
    """Return what a command prints, run within this process.

    command: the whole line, from `iacta` on.
    """
    from iacta.cli import main

    printed = io.StringIO()
    with (
        patch.object(sys, "argv", command.split()),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.suppress(SystemExit),
    ):
        main()
    return printed.getvalue()


def draw_all(pages: Mapping[str, str], folder: Path) -> None:
    """Draw the pictures of all pages, next to them.

    pages: the pages as Markdown, by their paths.
    folder: where the pages are.
    """
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        drawn = [
            pool.submit(_draw, command, folder / Path(page).with_name(name))
            for page, text in pages.items()
            for name, command in _wanted(text)
        ]
        for each in drawn:
            each.result()


def _wanted(text: str) -> Iterator[tuple[str, str]]:
    """Yield each picture of a page with the command that draws it."""
    commands = {each.picture: each.command for each in sessions(text) if each.picture}
    for _, name in PICTURE.findall(text):
        yield name, "" if name in HAND_DRAWN else commands[name]


def _draw(command: str, file: Path) -> None:
    """Write a picture in its four forms."""
    for ending, dark, width in (
        (".svg", False, WIDE),
        ("-dark.svg", True, WIDE),
        ("-narrow.svg", False, NARROW),
        ("-narrow-dark.svg", True, NARROW),
    ):
        if command:
            made = _chart(_specification(command, file.name), dark, width)
        else:
            made = HAND_DRAWN[file.name](dark=dark, width=width + AXES)
        file.with_name(file.stem + ending).write_text(made, encoding="utf-8")


_known: dict[str, str] = {}


def _specification(command: str, name: str) -> str:
    """Return what a command draws, as a Vega-Lite specification."""
    if command not in _known:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "drawn.json"
            printed_by(command.replace(name, str(file)))
            _known[command] = file.read_text(encoding="utf-8")
    return _known[command]


def _chart(specification: str, dark: bool, width: int) -> str:
    from iacta.charts.converter import convert
    from iacta.charts.files import described, fitted

    drawn = fitted(json.loads(specification), dark=dark, width=width)
    return described(convert(json.dumps(drawn), "svg"), drawn).decode()
