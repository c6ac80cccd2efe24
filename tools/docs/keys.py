"""Makes the page of the keys that answers have, from the records of the questions."""

from collections.abc import Iterator

from iacta.forms.question import QUESTIONS
from iacta.forms.record import KeyedRecord, json_name

HEAD = (
    "What each command prints with `--json`. [Another page](output.md) is about output in general. "
    "Probabilities are numbers with all their digits; attackers include the garrison. In `a[].b`, "
    "`b` is a key of each entry of the list `a`."
)


def keys_page() -> str:
    """Return a page with a table of the keys of each answer."""
    parts = ["# Keys of answers", HEAD]
    for form in QUESTIONS.load_all():
        parts.append(f"## `iacta {form.name} --json`")
        for record in form.records():
            rows = "\n".join(_rows(record, ""))
            parts += [_about(record), f"| key | meaning |\n| --- | --- |\n{rows}"]
            parts += _notes(record)
    return "\n\n".join(parts) + "\n"


def _about(record: type[KeyedRecord]) -> str:
    return (record.__doc__ or "").partition("\n\n")[0]


def _notes(record: type[KeyedRecord]) -> Iterator[str]:
    """Yield what is said of a record, and of those in it, beside their keys."""
    _, _, more = (record.__doc__ or "").partition("\n\n")
    if more:
        yield " ".join(more.split())
    for key in record.all_keys():
        for part in key.parts:
            yield from _notes(part)


def _rows(record: type[KeyedRecord], within: str) -> Iterator[str]:
    for key in record.all_keys():
        name = f"{within}{json_name(key.name)}"
        yield f"| `{name}` | {key.meaning} |"
        for part in key.parts:
            yield from _rows(part, f"{name}{'[]' if key.is_list else ''}.")
