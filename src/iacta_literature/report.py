"""The report: one page with every published value beside ours, which needs no network."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from iacta.charts.theme import AMBER, BLUE, FAINT, INK, PAPER, RED
from iacta_literature.data import Row
from iacta_literature.drawing import Drawn
from iacta_literature.tables import Entry, Source
from iacta_literature.verdict import AGREES, DIFFERS, ERRATUM

__all__ = ["Measured", "Part", "page"]

MARKS = {AGREES: "✓", ERRATUM: "!", DIFFERS: "✗"}

PAGE = """<!doctype html>
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


class Measured(NamedTuple):
    """A run time that a source tells, beside ours.

    what: what took so long.
    published: how long, in the source's words.
    seconds: how long it took in this run.
    """

    what: str
    published: str
    seconds: float


class Part(NamedTuple):
    """What the report tells of a source.

    source: the source.
    entries: its values.
    timings: its run times.
    figures: its figures.
    errata: what is wrong in it or in what it quotes, as rows of the data file `errata`.
    """

    source: Source
    entries: Sequence[Entry]
    timings: Sequence[Measured]
    figures: Sequence[Drawn]
    errata: Sequence[Row]


def page(parts: Sequence[Part], seconds: float) -> str:
    """Return the report as a page of HTML.

    parts: what it tells, source by source.
    seconds: how long it all took.
    """
    tally = _tally([entry for part in parts for entry in part.entries])
    body = [
        f"<p>{tally} Recomputed in {seconds:.0f} seconds. Each value is compared at the digits "
        "with which it is printed; one that is simulated, within its sampling interval. Where a "
        "source prints an equation, the value is what the equation gives; limits of tests are "
        "ours.</p>",
        _contents(parts),
        *(line for part in parts for line in _part(part)),
    ]
    return PAGE.format(style=_style(), body="\n".join(body))


def _style() -> str:
    light, dark = (
        COLOURS.format(paper=PAPER[dark], ink=INK[dark], faint=FAINT[dark])
        for dark in (False, True)
    )
    return STYLE.format(light=light, dark=dark, blue=BLUE, amber=AMBER, red=RED)


def _tally(entries: Sequence[Entry]) -> str:
    """Return how many values there are of each verdict, in words."""
    count = dict.fromkeys(MARKS, 0)
    for entry in entries:
        count[entry.compared.verdict] += 1
    if count[AGREES] == len(entries):
        return f"{len(entries)} values, and all agree."
    words = [f"{len(entries)} values: {count[AGREES]} agree"]
    if count[ERRATUM]:
        words.append(f"{count[ERRATUM]} {'is an erratum' if count[ERRATUM] == 1 else 'are errata'}")
    words.append(f"{count[DIFFERS] or 'none'} differ{'' if count[DIFFERS] > 1 else 's'}")
    return ", ".join(words) + "."


def _contents(parts: Iterable[Part]) -> str:
    items = (
        f'<li><a href="#{part.source.key}">{escape(part.source.name)}</a>: '
        f"{_tally(part.entries)}</li>"
        for part in parts
    )
    return f"<ul>{''.join(items)}</ul>"


def _part(part: Part) -> Iterator[str]:
    yield f'<h2 id="{part.source.key}">{escape(part.source.name)}</h2>'
    yield f"<p>{_tally(part.entries)}</p>"
    if part.errata:
        yield "<h3>Errata</h3><ul>"
        for row in part.errata:
            yield f"<li><b>{escape(row['where'])}.</b> {escape(row['sentence'])}</li>"
        yield "</ul>"
    if part.timings:
        yield "<h3>Run time</h3>"
        yield from _table(
            ("what", "published", "ours, in this run"),
            (("", each.what, each.published, f"{each.seconds:.2f} s") for each in part.timings),
        )
    yield "<h3>Values</h3>"
    tables = groupby(part.entries, key=lambda entry: entry.table)
    for number, (title, entries) in enumerate(tables):
        yield from _values(title, list(entries), is_first=number == 0)
    yield from map(_figure, part.figures)


def _values(title: str, entries: Sequence[Entry], *, is_first: bool) -> Iterator[str]:
    """Yield a table, unfolded if it is the first of its source, or tells more than agreement."""
    notable = any(entry.compared.verdict != AGREES for entry in entries)
    yield f"<details{' open' if notable or is_first else ''}><summary><b>{escape(title)}.</b> "
    yield f"{_tally(entries)}</summary>"
    heading = ("quantity", "published", "ours", "difference", "verdict")
    yield from _table(heading, map(_cells, entries))
    yield "</details>"


def _cells(entry: Entry) -> tuple[str, ...]:
    compared = entry.compared
    difference = "" if compared.difference is None else f"{compared.difference:+.2g}"
    ours = compared.ours
    return (
        compared.verdict,
        entry.quantity,
        compared.published.text,
        f"{ours:.10g}" if isinstance(ours, float) else _short(compared.ours_text),
        "0" if compared.difference == 0 else difference,
        f"{MARKS[compared.verdict]} {compared.verdict} ({compared.how})",
    )


def _short(text: str) -> str:
    """Return a decimal with ten digits; other texts stay as they are."""
    return f"{float(text):.10g}" if "." in text else text


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table; each row begins with its verdict, if it has one."""
    titles = "".join(f"<th>{escape(title)}</th>" for title in heading)
    yield f"<table><thead><tr>{titles}</tr></thead><tbody>"
    for verdict, first, *cells in rows:
        named = (
            f'<td data-name="{escape(title)}">{_cell(cell)}</td>'
            for title, cell in zip(heading[1:], cells, strict=True)
        )
        yield f'<tr class="{verdict}"><td>{escape(first)}</td>{"".join(named)}</tr>'
    yield "</tbody></table>"


def _cell(text: str) -> str:
    mark, _, rest = text.partition(" ")
    return f"<b>{mark}</b> {escape(rest)}" if mark in MARKS.values() else escape(text)


def _figure(drawn: Drawn) -> str:
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
