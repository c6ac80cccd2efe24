"""The page about iacta: its methods, and the articles whose results it recomputes."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from iacta.methods import METHODS
from iacta.web.templates import render_template


def write_about() -> bytes:
    """Return the page about iacta."""
    return render_template("about.html", path="about", **_describe_iacta()).encode()


@dataclass(frozen=True)
class Article:
    """An article whose results iacta recomputes.

    name: the authors and the title.
    values, figures: the number of recomputed values and of recomputed figures.
    errata: the place and the description of each mistake in the article.
    """

    name: str
    values: int
    figures: int
    errata: list[tuple[str, str]]


@cache
def _describe_iacta() -> dict[str, Any]:
    """Return the variables of the page about iacta: its methods and sources."""
    from iacta_literature.published import read_rows  # a slow import
    from iacta_literature.run import SOURCES

    errata = read_rows("errata")
    sources = [
        Article(
            source.name,
            sum(len(read_rows(f"{source.key}_{table}")) for table in source.tables),
            len(source.figures),
            [(row["where"], row["sentence"]) for row in errata if row["source"] == source.key],
        )
        for source in SOURCES
    ]
    files = [f"iacta.methods.{name}" for name in METHODS]
    docs = [import_module(file).__doc__ or "" for file in files if find_spec(file)]
    return {
        "methods": [_split_title(doc) for doc in docs],
        "sources": sources,
        "values": sum(source.values for source in sources),
    }


def _split_title(doc: str) -> tuple[str, str]:
    """Return the title and the summary in the first paragraph of a docstring.

    >>> _split_title("Closed form: exact odds, by counting paths.")
    ('Closed form', 'exact odds, by counting paths')
    """
    begins = doc.partition("\n\n")[0].replace("`", "")
    title, _, rest = " ".join(begins.split()).partition(": ")
    return title, rest.rstrip(".")
