"""The templates of the pages: their filters, the menu, and the words of the pages."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

import iacta
from iacta.forms.form import Topic
from iacta.forms.percentages import bar_percent
from iacta.forms.sections import Shaded, Table, format_cell
from iacta.web.limits import MAX_PAGE_CELLS
from iacta.web.read_question import list_pages, list_served_questions

SHADES = 10


@cache
def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("iacta.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "label": format_label,
        "shade": _choose_shade,
        "bar": bar_percent,
        "cell": format_cell,
        "said": replace_options_by_labels,
        "ticked": _mark_code,
    }
    environment.globals |= {"menu": list_menu, "takes_code": list_code_pages, "cut": _cut_table}
    environment.globals["kind"] = lambda part: type(part).__name__
    environment.globals["version"] = iacta.__version__
    # The relative path from a page to the root. Only the paths of error pages contain folders.
    environment.globals["up"] = ""
    return environment


def load_templates() -> None:
    """Compile all templates."""
    for name in _make_environment().list_templates():
        _make_environment().get_template(name)


def render_template(file: str, /, **values: Any) -> str:
    """Render a template as HTML.

    file: the name of the template.
    values: the variables of the template.
    """
    return _make_environment().get_template(file).render(values)


def list_menu() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Yield each topic with its pages: path, name, and the question in words."""
    forms = list_pages()
    # The board comes first because players use it most.
    for topic in sorted(Topic, key=lambda topic: topic is not Topic.BOARD):
        pages = [
            (name, format_label(name), form.headline)
            for name, form in forms.items()
            if form.topic is topic and form.headline
        ]
        if topic is Topic.BOARD:
            pages = [("map", "Board", "Play a turn on the map"), *pages]
        if pages:
            yield topic.value, pages
    yield "More", [("about", "About", "How it is computed"), ("docs", "API", "For programs")]


@cache
def list_code_pages() -> list[str]:
    """Return the pages of questions that accept the code of a turn."""
    forms = list_pages().items()
    return [
        name
        for name, form in forms
        if any(parameter.name == "code" for parameter in form.parameters())
    ]


def format_label(name: str) -> str:
    """Return the label of a parameter or a question on pages.

    >>> format_label("max_rolls"), format_label("from_"), format_label("mix")
    ('Max rolls', 'Your armies', 'Roll or blitz')
    """
    return name_on_page(name).capitalize()


def name_on_page(name: str) -> str:
    """Return the name of a parameter or a question on pages, in lower case."""
    return _list_labels().get(name) or name.rstrip("_").replace("_", " ")


@cache
def _list_labels() -> dict[str, str]:
    forms = list_served_questions().values()
    return {
        parameter.name: parameter.label
        for form in forms
        for parameter in form.parameters()
        if parameter.label
    }


def replace_options_by_labels(text: str) -> str:
    """Replace command-line options in a text by the labels of parameters on pages.

    >>> replace_options_by_labels("The same dice again: --max-rolls 7")
    'The same dice again: “Max rolls” 7'
    """
    return re.sub(
        r"--([a-z][a-z-]*)", lambda match: f"“{format_label(match[1].replace('-', '_'))}”", text
    )


def _mark_code(text: str) -> Markup:
    """Convert a text to HTML, with code elements for the parts in backticks.

    >>> str(_mark_code("as with `--json`, if x < y"))
    'as with <code>--json</code>, if x &lt; y'
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 # escaped


def _choose_shade(cell: Shaded) -> int:
    return round(cell.level * SHADES)


def _cut_table(table: Table) -> Table:
    """Truncate a table to about `MAX_PAGE_CELLS` cells, which a browser can show quickly."""
    columns = min(len(table.columns), MAX_PAGE_CELLS // 50)
    rows = MAX_PAGE_CELLS // max(columns, 1)
    return Table(table.columns[:columns], [row[:columns] for row in table.rows[:rows]])
