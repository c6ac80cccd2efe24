"""Draws the pictures of the pages, each by the command that the page shows.

Those of the pages under `docs/` are also kept in `docs/pictures/`, so that the pages can be read in
the repository. A test says when one is stale; `python -m tools.docs.reprint` draws it again.
"""

import contextlib
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch
from xml.etree import ElementTree

from tools.docs.sessions import sessions

PICTURE = re.compile(r"^!\[(.*)\]\((.*\.svg)\)$", re.MULTILINE)
FLOAT = re.compile(r"\d+\.\d{9,}(e-\d+)?")
NARROW, WIDE = 260, 600  # pixels of the plot, for telephones and for other screens
KEPT = Path(__file__).parents[2] / "docs" / "pictures"
SLOW = "iacta plan "  # takes seconds each: its pictures are taken as they are kept

# The reader's screen chooses narrow or wide, the theme of the site light or dark.
ELEMENT = "".join(
    f'<picture class="chart {theme}">'
    f'<source media="(max-width: 599px)" srcset="{{stem}}-narrow{ending}.svg">'
    f'<img src="{{stem}}{ending}.svg" alt="{{alt}}" loading="lazy"></picture>'
    for theme, ending in (("light", ""), ("dark", "-dark"))
)


def add_pictures(text: str) -> str:
    """Return a page in which each picture is there in four forms, of which the screen takes one.

    text: the page, as Markdown.
    """
    return PICTURE.sub(
        lambda found: ELEMENT.format(alt=found[1], stem=found[2].removesuffix(".svg")), text
    )


def run_command(command: str) -> str:
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
    """Draw the pictures of all pages, where the pages look for them.

    pages: the pages as Markdown, by their paths.
    folder: where the pages are.
    """
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        started = [
            pool.submit(_draw, command, (folder / page).parent / picture)
            for page, text in pages.items()
            for picture, command in _find_pictures(text)
        ]
        for each in started:
            each.result()


def _find_pictures(text: str) -> Iterator[tuple[str, str]]:
    """Yield each picture of a page with the command that draws it."""
    commands = {each.picture: each.command for each in sessions(text) if each.picture}
    for _, picture in PICTURE.findall(text):
        yield picture, commands[Path(picture).name]


def _draw(command: str, file: Path) -> None:
    """Write a picture in its four forms."""
    file.parent.mkdir(parents=True, exist_ok=True)
    specification = "" if command.startswith(SLOW) else _specification(command, file.name)
    for narrow, width in (("", WIDE), ("-narrow", NARROW)):
        for ending in ("", "-dark"):
            made = file.with_name(f"{file.stem}{narrow}{ending}.svg")
            if specification:
                made.write_text(drawn(specification, dark=bool(ending), width=width), "utf-8")
            else:
                shutil.copy(KEPT / f"{file.stem}{ending}.svg", made)


def _specification(command: str, name: str) -> str:
    """Return what a command draws, as a Vega-Lite specification."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "drawn.json"
        run_command(command.replace(name, str(file)))
        return file.read_text(encoding="utf-8")


def drawn(specification: str, *, dark: bool = False, width: int = WIDE) -> str:
    """Return a picture as SVG.

    specification: what it shows, in Vega-Lite.
    dark: whether its ground is dark.
    width: of the plot, in pixels.
    """
    from iacta.charts.converter import convert
    from iacta.charts.saving import add_description, fit_width

    fit = fit_width(json.loads(specification), dark=dark, width=width)
    return add_description(convert(json.dumps(fit), "svg"), fit).decode()


def words(picture: str) -> list[str]:
    """Return all that an SVG says: its texts, and the values that its marks are labelled with.

    Places may differ by a pixel from machine to machine, as letters do, and values in their last
    digits.

    picture: the SVG.
    """
    root = ElementTree.fromstring(picture)  # noqa: S314 # our own
    said = (each.attrib.get("aria-label") or each.text or "" for each in root.iter())
    return [FLOAT.sub(lambda found: f"{float(found[0]):.9g}", each) for each in said]
