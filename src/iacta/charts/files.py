"""Files and tables of charts: charts as pictures, as pages that need no network, and as tables."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from iacta.charts.converter import CONVERTED, PictureError, convert
from iacta.charts.registry import public
from iacta.charts.theme import NARROW_PLOT, PADDING, PAPER, WIDTH, AnyChart, Row, config
from iacta.checks import shown
from iacta.errors import IllegalError, MalformedError, TooLargeError, missing
from iacta.files import csv_rows, named, write_whole

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
ENDINGS = (*CONVERTED, "json", "csv")

MARGIN = 110  # pixels that axes and padding usually take beside the plot
NARROW = 480  # a window narrower than this has smaller letters in its titles
LEAST = 160  # no plot is narrower


@public
def save(
    chart: AnyChart,
    file: str | Path,
    *,
    dark: bool = False,
    make: Callable[[str, str], bytes] = convert,
) -> None:
    """Write a chart to a file, whose ending says how.

    chart: any chart of `iacta.charts`.
    file: where to; it must end in .svg, .png, .pdf, .html for a page that needs no network, .json
        for the Vega-Lite specification, or .csv for the numbers.
    dark: whether a picture has a dark ground; a page follows its reader's settings.
    make: turns a specification into a picture of an ending.

    The file is written as a whole or not at all. Other endings, and places that cannot be written,
    are refused.
    """
    drawn = content(chart, ending(file), dark=dark, make=make)
    write_whole(Path(file), drawn)


def content(
    chart: AnyChart,
    kind: str,
    *,
    dark: bool = False,
    make: Callable[[str, str], bytes] = convert,
) -> bytes:
    """Return what the file of a chart holds.

    kind: the ending of the file, without its dot.
    """
    if kind == "csv":
        return chart_csv(chart).encode()
    return made_of(specification(chart, dark=dark), kind, make=make)


def made_of(
    spec: Mapping[str, Any], kind: str, *, make: Callable[[str, str], bytes] = convert
) -> bytes:
    """Return what the file of a specification holds.

    kind: the ending of the file, without its dot, but for `"csv"`.
    """
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
    iacta.errors.IllegalError: a picture's name must end in .svg, .png, .pdf, .html, .json or \
.csv, got 'odds.gif'
    """
    found = Path(file).suffix.lower().removeprefix(".")
    if found not in ENDINGS:
        *most, last = (f".{each}" for each in ENDINGS)
        raise IllegalError(
            f"a picture's name must end in {', '.join(most)} or {last}, got {named(file)}"
        )
    return found


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


@public
def specification(chart: AnyChart, *, dark: bool = False) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart with its data and theme.

    chart: any chart of `iacta.charts`.
    dark: whether it has a dark ground.
    """
    chart_tables(chart)  # refuses charts that are not ours
    bare = chart.copy(deep=False)
    # The rows are added at the end: Altair would check every value.
    tables, bare.datasets = bare.datasets, {}
    spec: dict[str, Any] = bare.to_dict(validate=False)
    return {**spec, "$schema": SCHEMA, "datasets": tables, "config": config(dark=dark)}


@public
def chart_tables(chart: AnyChart) -> dict[str, list[Row]]:
    """Return the rows behind a chart by table, the most important table first.

    chart: any chart of `iacta.charts`.
    """
    if not isinstance(getattr(chart, "datasets", None), dict):
        raise MalformedError(f"chart must be one of iacta.charts, got {shown(chart)}")
    return dict(chart.datasets)


@public
def chart_csv(chart: AnyChart) -> str:
    """Return the numbers of a chart as CSV; if there are several tables, a first column names them.

    Texts that a spreadsheet would take for formulas begin with an apostrophe.

    chart: any chart of `iacta.charts`.
    """
    rows = _rows(chart)
    text = io.StringIO()
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = ([row.get(name, "") for name in columns] for row in rows)
    csv.writer(text, lineterminator="\n").writerows(csv_rows([columns, *cells]))
    return text.getvalue()


@public
def chart_frame(chart: AnyChart) -> Any:
    """Return the numbers of a chart as a pandas frame, with the columns of `chart_csv`.

    chart: any chart of `iacta.charts`.
    """
    try:
        import pandas
    except ImportError:
        raise missing("a frame needs pandas, which is not installed", "plot") from None
    return pandas.DataFrame(_rows(chart))


def _rows(chart: AnyChart) -> Sequence[Row]:
    tables = chart_tables(chart)
    if len(tables) == 1:
        return next(iter(tables.values()))
    return [{"table": name, **row} for name, rows in tables.items() for row in rows]


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 0; background: {light}; }}
@media (prefers-color-scheme: dark) {{ body {{ background: {dark}; }} }}
#chart {{ display: block; margin: 0 auto; max-width: {widest}px; overflow-x: auto; }}
</style>
</head>
<body>
<div id="chart"></div>
<script>{script}</script>
<script>
const spec = {spec};
const configs = {configs};
const dark = matchMedia("(prefers-color-scheme: dark)");
let drawing = 0;
async function draw() {{
  const mine = ++drawing;
  const config = structuredClone(configs[dark.matches ? 1 : 0]);
  const room = document.documentElement.clientWidth - 2;  // for rounding
  let width = Math.min({width}, room - {margin});
  if (room < {narrow}) {{
    Object.assign(config.title, {{fontSize: 13, subtitleFontSize: 11}});
    config.legend.columns = 2;
  }}
  // How much room the labels beside the plot take is known only once they are drawn.
  for (let round = 0; round < 3 && mine === drawing; ++round) {{
    config.view.continuousWidth = config.view.discreteWidth = width = Math.max({least}, width);
    // Maps have two sizes, for which the places of their labels are computed.
    const isNarrow = spec.usermeta.fixed ? room < {width} + {padding} : width < {plot};
    const form = isNarrow ? {{...spec, ...spec.usermeta.narrow}} : spec;
    await vegaEmbed("#chart", {{...form, config}}, {{renderer: "svg", actions: false}});
    const wide = selector => Math.max(0, ...Array.from(
      document.querySelectorAll(selector), each => each.getBoundingClientRect().width));
    const words = wide("#chart .role-title-text, #chart .role-title-subtitle");
    const excess = wide("#chart svg") - room;
    if (spec.usermeta.fixed || Math.abs(excess) < 1 || (excess < 0 && width >= {width})) break;
    if (words > room - {padding}) {{
      config.title.fontSize *= (room - {padding}) / words;
      config.title.subtitleFontSize *= (room - {padding}) / words;
    }}
    width = Math.min({width}, width - excess);
  }}
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
        width=WIDTH,
        widest=WIDTH + MARGIN,
        margin=MARGIN,
        narrow=NARROW,
        least=LEAST,
        plot=NARROW_PLOT,
        padding=2 * PADDING,
    )


def _in_script(value: object) -> str:
    """Return a value as JSON that cannot end the script around it."""
    return json.dumps(value).replace("<", "\\u003c")
