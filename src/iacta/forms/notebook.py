"""The display of values and answers in notebooks: a sentence, tables and a chart."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from iacta.forms.percentages import bar_percent, percent
from iacta.forms.question import QUESTIONS, Answer
from iacta.forms.sections import (
    Bar,
    Bars,
    Grid,
    Letter,
    Part,
    Section,
    Table,
    format_cell,
    make_sections,
)
from iacta.inputs.errors import IactaError
from iacta.probability.distribution import Distribution

MAX_NOTEBOOK_ROWS = 100
COLOURS = {"good": "#2e8540", "bad": "#c0392b", "neutral": "#b8860b"}
CELL = "padding:1px 8px;text-align:{}"


@make_sections.register
def _(value: Answer) -> Iterable[Section]:
    return value.sections()


@make_sections.register
def _(value: Distribution) -> Iterator[Section]:  # type: ignore[type-arg] # any distribution
    outcomes = list(value)
    rows = [(str(outcome), percent(value[outcome])) for outcome in outcomes[:MAX_NOTEBOOK_ROWS]]
    yield Section([f"A distribution of {len(outcomes)} values."])
    yield Section([Table(("", "probability"), rows)])
    if len(outcomes) > MAX_NOTEBOOK_ROWS:
        yield Section([f"The other {len(outcomes) - MAX_NOTEBOOK_ROWS} values are not shown."])


def make_mime_bundle(value: Any) -> dict[str, str]:
    """Return a mapping from MIME types to representations of a value in a notebook."""
    QUESTIONS.load_all()  # importing a question registers the sections of its values
    shown = {"text/plain": repr(value)}
    if make_sections.dispatch(type(value)) is not make_sections.dispatch(object):
        shown["text/html"] = format_html(make_sections(value)) + _draw_picture(value)
    return shown


def format_html(sections: Iterable[Section]) -> str:
    """Return sections as HTML, with all text escaped.

    >>> format_html([Section(["Is 1 < 2?"])])
    '<div><p>Is 1 &lt; 2?</p></div>'
    """
    return "".join(
        f"<div>{_format_title(section.title)}{''.join(map(_format_part, section.parts))}</div>"
        for section in sections
    )


def _format_title(title: str) -> str:
    return f"<p><b>{escape(title)}</b></p>" if title else ""


def _format_part(part: Part) -> str:
    if isinstance(part, Table):
        headings = _format_row(part.columns, part.columns, "th") if any(part.columns) else ""
        return _format_table(
            [headings, *(_format_row(map(format_cell, row), part.columns) for row in part.rows)]
        )
    if isinstance(part, Bars):
        longest = max((bar.probability for bar in part.bars), default=0)
        return _format_table(
            _format_bar(bar, float(bar.probability / (longest or 1))) for bar in part.bars
        )
    if isinstance(part, Grid):
        cells = [(str(number), *map(_format_letter, letters)) for number, letters in part.rows]
        shown = [*cells, ("", *map(str, part.columns))]
        return _format_table(_format_row(row, ("", *map(str, part.columns))) for row in shown)
    return f"<p>{escape(part)}</p>"


def _format_letter(letter: Letter) -> str:
    return f"[{letter.text}]" if letter.is_marked else letter.text


def _format_table(rows: Iterable[str]) -> str:
    return f"<table>{''.join(rows)}</table>"


def _format_row(cells: Iterable[str], columns: Iterable[str], tag: str = "td") -> str:
    aligned = (
        f'<{tag} style="{CELL.format("right" if column else "left")}">{escape(cell)}</{tag}>'
        for cell, column in zip(cells, columns, strict=True)
    )
    return f"<tr>{''.join(aligned)}</tr>"


def _format_bar(bar: Bar, part: float) -> str:
    style = f"background:{COLOURS[bar.tone]};width:{300 * part:.1f}px;height:0.8em"
    return (
        f'<tr><td style="{CELL.format("left")}">{escape(bar.label)}</td>'
        f'<td style="{CELL.format("right")}">{bar_percent(bar.probability)}</td>'
        f'<td style="{CELL.format("left")}"><div style="{style}"></div></td></tr>'
    )


def _draw_picture(value: Any) -> str:
    """Return the chart of a value as an HTML image, or an empty string if there is no chart."""
    try:
        chart = value.plot()
        svg = b64encode(chart.content("svg")).decode()
    except IactaError:
        return ""
    return f'<img alt="{escape(chart.title)}" src="data:image/svg+xml;base64,{svg}">'
