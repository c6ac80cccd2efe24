"""The class `Chart` and its export to images, self-contained HTML pages, JSON and CSV."""

from __future__ import annotations

import csv
import html
import io
import json
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from iacta.charts.converter import CONVERTED, PictureError, convert
from iacta.charts.theme import NARROW_PLOT, PAPER, SIZES, WIDTH, make_config
from iacta.charts.vega import Tables, View
from iacta.inputs.csv_formulas import escape_formulas
from iacta.inputs.errors import IllegalError, TooLargeError, missing_error
from iacta.inputs.files import quote_path, write_atomically

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
SUFFIXES = (*CONVERTED, "json", "csv")
# Characters per line of the title, above a wide plot (False) and above a narrow one (True).
TITLE_WIDTH = {False: 72, True: 42}
SUBTITLE_WIDTH = {False: 104, True: 56}

PAGE_SIZE = 595, 842  # A4, in points
PAGE_MARGIN = 36  # half an inch
SIDES = ("width", "height")

FIT = Path(__file__).with_name("fit.js")  # shared with `iacta.web`


@dataclass(frozen=True, eq=False, repr=False)
class Chart:
    """A chart with its data, which notebooks display.

    view: the Vega-Lite view; it refers to tables by name.
    title: the main result, as a sentence.
    subtitle: the quantities and the rules that the chart shows.
    tables: the rows of each table, by name, most important table first.
    narrow: properties that replace properties of `view` in a narrow plot. Titles are always wrapped
        to fit.
    is_page: whether a PDF has the size of a printed page (A4).
    """

    view: View
    title: str
    subtitle: str
    tables: Tables
    narrow: Mapping[str, Any] = field(default_factory=dict)
    is_page: bool = False

    def __repr__(self) -> str:
        return f"<Chart: {self.title}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "image/svg+xml": self.content("svg").decode()}

    @property
    def description(self) -> str:
        """The title and the subtitle as one text."""
        return f"{self.title} {self.subtitle}"

    def to_dict(self, *, dark: bool = False) -> dict[str, Any]:
        """Return the Vega-Lite specification with data and theme.

        dark: whether to draw on a dark background.
        """
        wide, narrow = (
            {
                "text": textwrap.wrap(self.title, TITLE_WIDTH[is_narrow]),
                "subtitle": textwrap.wrap(self.subtitle, SUBTITLE_WIDTH[is_narrow]),
            }
            for is_narrow in (False, True)
        )
        return {
            **self.view,
            "$schema": SCHEMA,
            "title": wide,
            "description": self.description,
            "usermeta": {"narrow": {"title": narrow, **self.narrow}},
            "datasets": {name: list(rows) for name, rows in self.tables.items()},
            "config": make_config(dark=dark),
        }

    def to_csv(self) -> str:
        """Return the data as CSV. With several tables, the first column is the name of the table.

        Cells that a spreadsheet could run as formulas get an apostrophe in front.
        """
        rows = [
            {"table": name, **row} if len(self.tables) > 1 else row
            for name, table in self.tables.items()
            for row in table
        ]
        text = io.StringIO()
        columns = list(dict.fromkeys(key for row in rows for key in row))
        cells = ([row.get(name, "") for name in columns] for row in rows)
        csv.writer(text, lineterminator="\n").writerows(escape_formulas([columns, *cells]))
        return text.getvalue()

    def content(
        self, kind: str, *, dark: bool = False, make: Callable[[str, str], bytes] = convert
    ) -> bytes:
        """Return the chart as the content of a file.

        kind: the suffix of the file without the dot, such as `"svg"`.
        dark: whether to draw on a dark background. HTML pages follow the browser's setting instead.
        make: a function to use instead of `convert`, such as a `Converter`.
        """
        if kind == "csv":
            return self.to_csv().encode()
        if kind == "pdf" and self.is_page:
            picture = self.content("svg", dark=dark, make=make)
            return make(fit_page(picture, PAPER[dark]), "page")
        return _convert_spec(self.to_dict(dark=dark), kind, make=make)

    def save(
        self,
        file: str | Path,
        *,
        dark: bool = False,
        make: Callable[[str, str], bytes] = convert,
    ) -> None:
        """Save the chart to a file; the file is replaced only when the new content is complete.

        file: a path that ends in .svg, .png or .pdf, in .html for a self-contained page, in .json
            for the Vega-Lite specification, or in .csv for the data.
        dark, make: as for `content`.
        """
        write_atomically(Path(file), self.content(read_suffix(file), dark=dark, make=make))


def check_installed() -> None:
    """Raise an error if vl-convert is not installed."""
    if not find_spec("vl_convert"):
        raise missing_error("pictures need vl-convert, which is not installed", "plot")


def _convert_spec(
    spec: Mapping[str, Any], kind: str, *, make: Callable[[str, str], bytes] = convert
) -> bytes:
    """Convert a specification to the content of a file.

    kind: the suffix of the file without the dot; `"csv"` is not allowed.
    """
    if kind in CONVERTED:
        check_installed()
    try:
        if kind == "json":
            return json.dumps(spec, indent=1).encode() + b"\n"
        if kind == "html":
            return format_page(spec, make("", kind).decode()).encode()
        made = make(json.dumps(spec), kind)
        return add_description(made, spec) if kind == "svg" else made
    except PictureError as error:
        raise TooLargeError(f"the picture cannot be drawn: {error}") from None


def read_suffix(file: str | Path) -> str:
    """Return the suffix of a path in lower case; raise an error for an unknown suffix.

    >>> read_suffix("odds.PNG")
    'png'
    >>> read_suffix("odds.gif")
    Traceback (most recent call last):
        ...
    iacta.IllegalError: a picture's name must end in .svg, .png, .pdf, .html, .json or \
.csv, got 'odds.gif'
    """
    suffix = Path(file).suffix.lower().removeprefix(".")
    if suffix not in SUFFIXES:
        *most, last = (f".{ending}" for ending in SUFFIXES)
        raise IllegalError(
            f"a picture's name must end in {', '.join(most)} or {last}, got {quote_path(file)}"
        )
    return suffix


def add_description(svg: bytes, spec: Mapping[str, Any]) -> bytes:
    """Add a title and a description to an SVG picture for screen readers.

    spec: the specification of the chart, with the title and subtitle.
    """
    words = {"title": spec["title"]["text"], "desc": spec["title"]["subtitle"]}
    texts = [f"<{tag}>{html.escape(' '.join(lines))}</{tag}>" for tag, lines in words.items()]
    end = svg.index(b">") + 1
    root = svg[: end - 1].replace(b"<svg ", b'<svg role="img" ', 1)
    return root + b">" + "".join(texts).encode() + svg[end:]


def fit_page(svg: bytes, fill: str) -> str:
    """Return an SVG picture of the size of a page that contains a picture, scaled to fit.

    svg: the picture.
    fill: the colour of the page.

    >>> fit_page(b'<svg width="100" height="50"><g/></svg>', "white")[:60]
    '<svg xmlns="http://www.w3.org/2000/svg" width="595" height="'
    """
    picture = svg.decode()
    root = picture[: picture.index(">")]
    width, height = (float(root.partition(f' {side}="')[2].partition('"')[0]) for side in SIDES)
    (page_width, page_height), margin = PAGE_SIZE, PAGE_MARGIN
    scale = min((page_width - 2 * margin) / width, (page_height - 2 * margin) / height)
    left = (page_width - scale * width) / 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{page_width}" height="{page_height}">'
        f'<rect width="{page_width}" height="{page_height}" fill="{fill}"/>'
        f'<g transform="translate({left:.1f},{margin}) scale({scale:.4f})">{picture}</g></svg>'
    )


def fit_width(spec: Mapping[str, Any], *, dark: bool = False, width: int = WIDTH) -> dict[str, Any]:
    """Adapt a specification to the width of the plot, with `narrow` properties if it is narrow.

    dark: whether to draw on a dark background.
    width: the width of the plot in pixels, without axes.
    """
    narrow = spec.get("usermeta", {}).get("narrow", {}) if width < NARROW_PLOT else {}
    return {**spec, **narrow, "config": make_config(dark=dark, width=width)}


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0; background: {light}; }}
@media (prefers-color-scheme: dark) {{ body {{ background: {dark}; }} }}
#chart {{ display: block; width: fit-content; max-width: 100%; margin: 0 auto; overflow-x: auto; }}
</style>
</head>
<body>
<div id="chart"></div>
<script>{script}</script>
<script type="module">
{fit}
const spec = {spec};
const configs = {configs};
const sizes = {sizes};
const dark = matchMedia("(prefers-color-scheme: dark)");
const element = document.getElementById("chart");
let drawing = 0;
async function draw() {{
  const mine = ++drawing;
  const config = structuredClone(configs[dark.matches ? 1 : 0]);
  const room = document.documentElement.clientWidth - 2;  // for rounding
  await fit(element, spec, config, {{room, sizes, slack: 1, isLate: () => mine !== drawing}});
}}
draw();
dark.addEventListener("change", draw);
addEventListener("resize", draw);
</script>
</body>
</html>
"""


def format_page(spec: Mapping[str, Any], script: str) -> str:
    """Return an HTML page with a chart that adapts to the window and to dark mode.

    script: the code of Vega, Vega-Lite and vega-embed.
    """
    return PAGE.format(
        title=html.escape(str(spec.get("description", "iacta"))),
        light=PAPER[False],
        dark=PAPER[True],
        script=script.replace("</script", "<\\/script"),
        spec=_escape_json(spec),
        configs=_escape_json([make_config(dark=False), make_config(dark=True)]),
        fit=FIT.read_text(encoding="utf-8"),
        sizes=_escape_json(SIZES),
    )


def _escape_json(value: object) -> str:
    """Format a value as JSON that is safe inside a `<script>` element."""
    return json.dumps(value).replace("<", "\\u003c")
