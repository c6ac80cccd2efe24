"""Draws the pictures on the pages, using the commands shown there.

Pictures of pages in `docs/` are also stored in `docs/pictures/` for readers of the repository. A
test detects outdated pictures, and `python -m tools.docs.reprint` redraws them.
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

from tools.docs.sessions import find_sessions

PICTURE = re.compile(r"^!\[(.*)\]\((.*\.svg)\)$", re.MULTILINE)
FLOAT = re.compile(r"\d+\.\d{9,}(e-\d+)?")
NARROW, WIDE = 260, 600  # widths of the plot in pixels, for phones and for other screens
KEPT = Path(__file__).parents[2] / "docs" / "pictures"
SLOW = "iacta plan "  # prefix of slow commands; their stored pictures are copied

# The browser chooses between narrow and wide; the theme of the site chooses between light and dark.
ELEMENT = "".join(
    f'<picture class="chart {theme}">'
    f'<source media="(max-width: 599px)" srcset="{{stem}}-narrow{ending}.svg">'
    f'<img src="{{stem}}{ending}.svg" alt="{{alt}}" loading="lazy"></picture>'
    for theme, ending in (("light", ""), ("dark", "-dark"))
)


def add_pictures(text: str) -> str:
    """Replace each picture on a Markdown page by four variants: narrow or wide, light or dark."""
    return PICTURE.sub(
        lambda found: ELEMENT.format(alt=found[1], stem=found[2].removesuffix(".svg")), text
    )


def run_command(command: str) -> str:
    """Run a command line that begins with `iacta` in this process; return its output."""
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
    """Draw the pictures on all pages.

    pages: the Markdown pages by path.
    folder: the folder that contains the pages.
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
    """For each picture on a page, yield the picture and the command that draws it."""
    commands = {each.picture: each.command for each in find_sessions(text) if each.picture}
    for _, picture in PICTURE.findall(text):
        yield picture, commands[Path(picture).name]


def _draw(command: str, file: Path) -> None:
    """Write the four variants of a picture."""
    file.parent.mkdir(parents=True, exist_ok=True)
    specification = "" if command.startswith(SLOW) else _make_specification(command, file.name)
    for narrow, width in (("", WIDE), ("-narrow", NARROW)):
        for ending in ("", "-dark"):
            made = file.with_name(f"{file.stem}{narrow}{ending}.svg")
            if specification:
                made.write_text(draw_svg(specification, dark=bool(ending), width=width), "utf-8")
            else:
                shutil.copy(KEPT / f"{file.stem}{ending}.svg", made)


def _make_specification(command: str, name: str) -> str:
    """Return the Vega-Lite specification of the picture that a command draws."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "drawn.json"
        run_command(command.replace(name, str(file)))
        return file.read_text(encoding="utf-8")


def draw_svg(specification: str, *, dark: bool = False, width: int = WIDE) -> str:
    """Convert a specification to SVG.

    specification: a Vega-Lite specification as JSON.
    dark: whether to draw on a dark background.
    width: the width of the plot in pixels.
    """
    from iacta.charts.converter import convert
    from iacta.charts.saving import add_description, fit_width

    fit = fit_width(json.loads(specification), dark=dark, width=width)
    return add_description(convert(json.dumps(fit), "svg"), fit).decode()


def list_texts(picture: str) -> list[str]:
    """List the texts and the labels of marks in an SVG picture, for comparing pictures.

    Positions are ignored and numbers are rounded, because they differ slightly between machines.
    """
    root = ElementTree.fromstring(picture)  # noqa: S314 # trusted input
    said = (each.attrib.get("aria-label") or each.text or "" for each in root.iter())
    return [FLOAT.sub(lambda found: f"{float(found[0]):.9g}", each) for each in said]
