"""Charts and their files: pictures, pages that need no network, and the numbers behind them."""

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
from iacta.charts.theme import NARROW_PLOT, PAPER, SIZES, WIDTH, config
from iacta.charts.vega import Tables, View
from iacta.inputs.csv_formulas import escape_formulas
from iacta.inputs.errors import IllegalError, TooLargeError, missing_error
from iacta.inputs.files import quote_path, write_atomically

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
ENDINGS = (*CONVERTED, "json", "csv")
TITLE_LETTERS = {False: 72, True: 42}  # as many fit above a wide plot and a narrow one
SUBTITLE_LETTERS = {False: 104, True: 56}

FIT = Path(__file__).with_name("fit.js")  # also part of the pages of `iacta.web`


@dataclass(frozen=True, eq=False, repr=False)
class Chart:
    """A picture and its numbers; a notebook shows it, and `save` writes it to a file.

    view: what is drawn, in Vega-Lite, with data by name.
    title: the finding, in a sentence.
    subtitle: what is shown, and under which rules.
    tables: the rows of each table, the most important table first.
    narrow: what else than the title differs in a narrow plot, where it is wrapped to fit into 360
        pixels.
    """

    view: View
    title: str
    subtitle: str
    tables: Tables
    narrow: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Chart: {self.title}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "image/svg+xml": self.content("svg").decode()}

    @property
    def description(self) -> str:
        """All that it says."""
        return f"{self.title} {self.subtitle}"

    def to_dict(self, *, dark: bool = False) -> dict[str, Any]:
        """Return its Vega-Lite specification with its data and theme.

        dark: whether it has a dark ground.
        """
        wide, narrow = (
            {
                "text": textwrap.wrap(self.title, TITLE_LETTERS[is_narrow]),
                "subtitle": textwrap.wrap(self.subtitle, SUBTITLE_LETTERS[is_narrow]),
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
            "config": config(dark=dark),
        }

    def to_csv(self) -> str:
        """Return its numbers as CSV; if there are several tables, a first column names them.

        Texts that a spreadsheet would take for formulas begin with an apostrophe.
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
        """Return what its file holds.

        kind: the ending of the file, without its dot.
        dark: whether a picture has a dark ground; a page follows its reader's settings.
        make: turns a specification into a picture of an ending.
        """
        if kind == "csv":
            return self.to_csv().encode()
        return _made_of(self.to_dict(dark=dark), kind, make=make)

    def save(
        self,
        file: str | Path,
        *,
        dark: bool = False,
        make: Callable[[str, str], bytes] = convert,
    ) -> None:
        """Write it to a file, whose ending says how.

        file: where to; it must end in .svg, .png, .pdf, .html for a page that needs no network,
            .json for the Vega-Lite specification, or .csv for the numbers.
        dark, make: as for `content`.

        The file is written as a whole or not at all. Other endings, and places that cannot be
        written, are refused.
        """
        write_atomically(Path(file), self.content(ending(file), dark=dark, make=make))


def check_installed() -> None:
    """Refuse to draw without the package that it takes."""
    if not find_spec("vl_convert"):
        raise missing_error("pictures need vl-convert, which is not installed", "plot")


def _made_of(
    spec: Mapping[str, Any], kind: str, *, make: Callable[[str, str], bytes] = convert
) -> bytes:
    """Return what the file of a specification holds.

    kind: the ending of the file, without its dot, but for `"csv"`.
    """
    if kind in CONVERTED:
        check_installed()
    try:
        if kind == "json":
            return json.dumps(spec, indent=1).encode() + b"\n"
        if kind == "html":
            return page(spec, make("", kind).decode()).encode()
        made = make(json.dumps(spec), kind)
        return described(made, spec) if kind == "svg" else made
    except PictureError as error:
        raise TooLargeError(f"the picture cannot be drawn: {error}") from None


def ending(file: str | Path) -> str:
    """Return the ending of a file's name, one of `ENDINGS`, or refuse it.

    >>> ending("odds.PNG")
    'png'
    >>> ending("odds.gif")
    Traceback (most recent call last):
        ...
    iacta.IllegalError: a picture's name must end in .svg, .png, .pdf, .html, .json or \
.csv, got 'odds.gif'
    """
    suffix = Path(file).suffix.lower().removeprefix(".")
    if suffix not in ENDINGS:
        *most, last = (f".{ending}" for ending in ENDINGS)
        raise IllegalError(
            f"a picture's name must end in {', '.join(most)} or {last}, got {quote_path(file)}"
        )
    return suffix


def described(svg: bytes, spec: Mapping[str, Any]) -> bytes:
    """Return an SVG whose `<title>` and `<desc>` are the title and the subtitle of its chart.

    svg: the picture.
    spec: the specification of its chart.
    """
    words = {"title": spec["title"]["text"], "desc": spec["title"]["subtitle"]}
    texts = [f"<{tag}>{html.escape(' '.join(lines))}</{tag}>" for tag, lines in words.items()]
    end = svg.index(b">") + 1
    root = svg[: end - 1].replace(b"<svg ", b'<svg role="img" ', 1)
    return root + b">" + "".join(texts).encode() + svg[end:]


def fitted(spec: Mapping[str, Any], *, dark: bool = False, width: int = WIDTH) -> dict[str, Any]:
    """Return a specification as it is drawn at another width, with its narrow form if that is less.

    spec: the specification.
    dark: whether it has a dark ground.
    width: how wide the plot is, in pixels, axes not included.
    """
    narrow = spec.get("usermeta", {}).get("narrow", {}) if width < NARROW_PLOT else {}
    return {**spec, **narrow, "config": config(dark=dark, width=width)}


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
const place = document.getElementById("chart");
let drawing = 0;
async function draw() {{
  const mine = ++drawing;
  const config = structuredClone(configs[dark.matches ? 1 : 0]);
  const room = document.documentElement.clientWidth - 2;  // for rounding
  await fit(place, spec, config, {{room, sizes, slack: 1, isLate: () => mine !== drawing}});
}}
draw();
dark.addEventListener("change", draw);
addEventListener("resize", draw);
</script>
</body>
</html>
"""


def page(spec: Mapping[str, Any], script: str) -> str:
    """Return a page that draws a chart as wide as its window, light or dark as its reader prefers.

    spec: the Vega-Lite specification.
    script: Vega, Vega-Lite and vega-embed.
    """
    return PAGE.format(
        title=html.escape(str(spec.get("description", "iacta"))),
        light=PAPER[False],
        dark=PAPER[True],
        script=script.replace("</script", "<\\/script"),
        spec=_in_script(spec),
        configs=_in_script([config(dark=False), config(dark=True)]),
        fit=FIT.read_text(encoding="utf-8"),
        sizes=_in_script(SIZES),
    )


def _in_script(value: object) -> str:
    """Return a value as JSON that cannot end the script around it."""
    return json.dumps(value).replace("<", "\\u003c")
