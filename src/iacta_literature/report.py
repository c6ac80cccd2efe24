"""The report: a self-contained HTML page that compares all published values with iacta's values."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from iacta.charts.theme import AMBER, BLUE, FAINT, INK, PAPER, RED
from iacta_literature.figures import Drawn
from iacta_literature.published import (
    AGREES,
    DIFFERS,
    ERRATUM,
    Compared,
    PrintedSource,
    Row,
    Timing,
)

MARKS = {AGREES: "✓", ERRATUM: "!", DIFFERS: "✗"}

REPORT_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The literature on Risk, reproduced</title>
<style>
{style}
</style>
</head>
<body>
<main>
<h1>The literature on Risk, reproduced</h1>
{body}
</main>
</body>
</html>
"""

COLOURS = "--paper: {paper}; --ink: {ink}; --faint: {faint};"
STYLE = """:root {{ {light} color-scheme: light dark; }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
body {{ margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 sans-serif; }}
main {{ max-width: 60rem; margin: 0 auto; padding: 0 12px 3rem; }}
td, li {{ overflow-wrap: anywhere; }} th {{ white-space: nowrap; }}
h1, h2 {{ line-height: 1.2; }}
h2 {{ margin-top: 3rem; border-top: 1px solid var(--faint); padding-top: 1rem; }}
details {{ margin: .5rem 0; }}
summary {{ cursor: pointer; padding: .2rem 0; }}
table {{ border-collapse: collapse; width: 100%; font-size: 14px; }}
th, td {{ text-align: left; vertical-align: top; padding: 3px 10px 3px 0;
  border-bottom: 1px solid var(--faint); font-variant-numeric: tabular-nums; }}
.agrees b {{ color: {blue}; }} .erratum b {{ color: {amber}; }} .differs b {{ color: {red}; }}
figure {{ margin: 1.5rem 0; }}
figure img {{ max-width: 100%; height: auto; }}
figcaption {{ font-size: 14px; }}
@media (max-width: 560px) {{
  thead {{ display: none; }}
  td {{ display: block; border: 0; padding: 0; }}
  td:empty {{ display: none; }}
  td[data-name]::before {{ content: attr(data-name) ": "; opacity: .75; }}
  tr {{ display: block; padding: 6px 0; border-bottom: 1px solid var(--faint); }}
}}"""


class Chapter(NamedTuple):
    """The chapter of the report about one source.

    source: the article.
    values: the published values, compared with iacta's values.
    timings: the computations with a published run time, each with iacta's run time in seconds.
    figures: the redrawn figures of the article.
    errata: the errors in the article or in works that it quotes, as rows of the data file `errata`.
    """

    source: PrintedSource
    values: Sequence[Compared]
    timings: Sequence[tuple[Timing, float]]
    figures: Sequence[Drawn]
    errata: Sequence[Row]


def format_report(chapters: Sequence[Chapter], seconds: float) -> str:
    """Return the report as an HTML page.

    chapters: one chapter for each source.
    seconds: the total run time in seconds.
    """
    light, dark = (
        COLOURS.format(paper=PAPER[dark], ink=INK[dark], faint=FAINT[dark])
        for dark in (False, True)
    )
    errata = [
        (chapter.source, row, _count_affected(chapter, row))
        for chapter in chapters
        for row in chapter.errata
    ]
    mistaken = sum(count for _, _, count in errata)
    listed = (
        f'<li><a href="#{source.key}">{escape(row["where"])}</a> '
        f"({count or 'no printed'} {'value' if count < 2 else 'values'}). "
        f"{escape(row['sentence'])}</li>"
        for source, row, count in errata
    )
    contents = (
        f'<li><a href="#{chapter.source.key}">{escape(chapter.source.name)}</a>: '
        f"{_summarise(chapter.values)}</li>"
        for chapter in chapters
    )
    values = [value for chapter in chapters for value in chapter.values]
    body = [
        f"<p>{mistaken} {'value is an erratum' if mistaken == 1 else 'values are errata'}, in the "
        "sources or in works that they quote:</p>",
        f"<ul>{''.join(listed)}</ul>",
        f"<p>{_summarise(values)} Recomputed in "
        f"{seconds:.0f} seconds. Exact values must agree in all printed digits, and simulated "
        "values within their sampling interval. If a source prints an equation, its result is the "
        "published value. iacta chose the limits of statistical tests.</p>",
        f"<ul>{''.join(contents)}</ul>",
        *(line for chapter in chapters for line in _format_chapter(chapter)),
    ]
    return REPORT_PAGE.format(
        style=STYLE.format(light=light, dark=dark, blue=BLUE, amber=AMBER, red=RED),
        body="\n".join(body),
    )


def _summarise(values: Sequence[Compared]) -> str:
    count = Counter(value.verdict for value in values)
    if count[AGREES] == len(values):
        return f"{len(values)} values, and all agree."
    words = [f"{len(values)} values: {count[AGREES]} agree"]
    if count[ERRATUM]:
        words.append(f"{count[ERRATUM]} {'is an erratum' if count[ERRATUM] == 1 else 'are errata'}")
    words.append(f"{count[DIFFERS] or 'none'} differ{'' if count[DIFFERS] > 1 else 's'}")
    return ", ".join(words) + "."


def _count_affected(chapter: Chapter, row: Row) -> int:
    """Return the number of published values in a chapter that an erratum affects."""
    return sum(value.published.erratum == row["erratum"] for value in chapter.values)


def _format_chapter(chapter: Chapter) -> Iterator[str]:
    yield f'<h2 id="{chapter.source.key}">{escape(chapter.source.name)}</h2>'
    yield f"<p>{_summarise(chapter.values)}</p>"
    if chapter.timings:
        yield "<h3>Run time</h3>"
        yield from _format_table(
            ("what", "published", "ours, in this run"),
            (
                ("", timing.what, timing.published, f"{seconds:.2f} s")
                for timing, seconds in chapter.timings
            ),
        )
    yield "<h3>Values</h3>"
    tables = groupby(chapter.values, key=lambda value: value.table)
    for number, (title, values) in enumerate(tables):
        yield from _format_values(title, list(values), is_first=number == 0)
    yield from map(_format_figure, chapter.figures)


def _format_values(title: str, values: Sequence[Compared], *, is_first: bool) -> Iterator[str]:
    is_open = is_first or any(value.verdict != AGREES for value in values)
    yield f"<details{' open' if is_open else ''}><summary><b>{escape(title)}.</b> "
    yield f"{_summarise(values)}</summary>"
    heading = ("quantity", "published", "ours", "difference", "verdict")
    yield from _format_table(heading, map(_list_cells, values))
    yield "</details>"


def _list_cells(value: Compared) -> tuple[str, ...]:
    ours, difference = value.ours_text, value.difference
    if isinstance(value.ours, float) or "." in ours:
        ours = f"{float(ours):.10g}"
    return (
        value.verdict,
        value.quantity,
        value.published.text,
        ours,
        "" if difference is None else f"{difference:+.2g}" if difference else "0",
        f"{MARKS[value.verdict]} {value.verdict} ({value.how})",
    )


def _format_table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    titles = "".join(f"<th>{escape(title)}</th>" for title in heading)
    yield f"<table><thead><tr>{titles}</tr></thead><tbody>"
    for verdict, first, *cells in rows:
        named = (
            f'<td data-name="{escape(title)}">{_format_cell(cell)}</td>'
            for title, cell in zip(heading[1:], cells, strict=True)
        )
        yield f'<tr class="{verdict}"><td>{escape(first)}</td>{"".join(named)}</tr>'
    yield "</tbody></table>"


def _format_cell(text: str) -> str:
    mark, _, rest = text.partition(" ")
    return f"<b>{mark}</b> {escape(rest)}" if mark in MARKS.values() else escape(text)


def _format_figure(drawn: Drawn) -> str:
    wide, wide_dark, narrow, narrow_dark = drawn.views
    dark, small = "(prefers-color-scheme: dark)", "(max-width: 560px)"
    return (
        "<figure><picture>"
        f'<source media="{small} and {dark}" srcset="{narrow_dark}">'
        f'<source media="{small}" srcset="{narrow}">'
        f'<source media="{dark}" srcset="{wide_dark}">'
        f'<img src="{wide}" alt="{escape(drawn.title)}"></picture>'
        f"<figcaption>{escape(drawn.figure.what)}</figcaption></figure>"
    )
