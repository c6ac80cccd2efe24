"""Generates the page about JSON keys, from the records of the questions."""

from collections.abc import Iterator
from inspect import cleandoc

from iacta.forms.question import QUESTIONS
from iacta.forms.record import format_key, list_keys
from iacta.inputs.meanings import DESCRIPTION

HEAD = (
    "The keys of each command's output with `--json`. See also [output](output.md). "
    "Probabilities are numbers with all their digits; attackers include the garrison. In `a[].b`, "
    "`b` is a key of each entry of the list `a`."
)


def make_keys_page() -> str:
    """Return a page with a table of keys for each answer."""
    parts = ["# Keys of answers", HEAD]
    for form in QUESTIONS.load_all():
        parts.append(f"## `iacta {form.name} --json`")
        for record in form.records():
            rows = "\n".join(_list_rows(record, ""))
            parts += [_find_summary(record), f"| key | meaning |\n| --- | --- |\n{rows}"]
            parts += _list_notes(record)
    return "\n\n".join(parts) + "\n"


def _find_summary(record: type) -> str:
    return (record.__doc__ or "").partition("\n\n")[0]


def _list_notes(record: type) -> Iterator[str]:
    """Yield notes from the docstrings of a record and its nested records.

    The descriptions of fields are in the table, and doctests are no notes.
    """
    _, *paragraphs = cleandoc(record.__doc__ or "").split("\n\n")
    for paragraph in paragraphs:
        if not DESCRIPTION.match(paragraph) and not paragraph.startswith(">>>"):
            yield " ".join(paragraph.split())
    for key in list_keys(record):
        for part in key.parts:
            yield from _list_notes(part)


def _list_rows(record: type, within: str) -> Iterator[str]:
    for key in list_keys(record):
        name = f"{within}{format_key(key.name)}"
        yield f"| `{name}` | {key.meaning} |"
        for part in key.parts:
            yield from _list_rows(part, f"{name}{'[]' if key.is_list else ''}.")
