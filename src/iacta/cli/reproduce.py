"""`iacta reproduce`: every value and figure of the literature, recomputed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iacta.cli import options, show

if TYPE_CHECKING:
    from rich.console import Console

    from iacta_literature import Reproduced

__all__ = ["reproduce"]

DIFFERENT = 1

Folder = Annotated[
    str, typer.Argument(metavar="[DIR]", help="The folder to write into, made if need be.")
]


def reproduce(folder: Folder = "iacta-reproduced", as_json: options.Json = False) -> None:
    """Recompute every number and figure of the literature, and write a report.

    Ends with 1 if a value differs and is not a listed erratum.

    Example: iacta reproduce
    """
    import iacta_literature as library  # slow to import, and only needed here

    library.check_packages()
    with show.progress("Recomputing the literature", library.steps()) as progress:
        done = library.reproduce(Path(folder), progress)
    show.emit(
        options.output(as_json, False),
        record=lambda: _record(done),
        rows=lambda: (),
        text=lambda console: _print(console, done),
    )
    if done.differing:
        raise typer.Exit(DIFFERENT)


def _record(done: "Reproduced") -> dict[str, object]:
    return {
        "report": str(done.report),
        "values": sum(map(len, done.values.values())),
        "agree": len(done.agreeing),
        "errata": [
            {"where": row["where"], "count": _count(row, done), "sentence": row["sentence"]}
            for row in done.errata
        ],
        "differ": [
            {
                "table": value.table,
                "quantity": value.quantity,
                "published": value.published.text,
                "ours": value.ours_text,
            }
            for value in done.differing
        ],
        "seconds": done.seconds,
    }


def _count(row: dict[str, str], done: "Reproduced") -> int:
    """Return how many values an erratum affects."""
    return sum(value.published.erratum == row["erratum"] for value in done.mistaken)


def _print(console: "Console", done: "Reproduced") -> None:
    total = sum(map(len, done.values.values()))
    show.say(
        console,
        f"{len(done.agreeing)} of the {total} values and equations of the five sources agree with "
        f"iacta, and {len(done.mistaken)} are errata.",
    )
    if done.differing:
        one = len(done.differing) == 1
        words = "differs and is not a listed erratum" if one else "differ and are not listed errata"
        show.heading(console, f"{len(done.differing)} {words}:")
        for value in done.differing:
            show.say(
                console,
                f"{value.table}, {value.quantity}: published {value.published.text}, "
                f"ours {value.ours_text}",
            )
    show.heading(console, "The errata:")
    for row in done.errata:
        count = _count(row, done)
        values = "1 value" if count == 1 else f"{count} values"
        show.say(console, f"{row['where']} ({values}): {row['sentence']}")
    console.print()
    show.say(console, f"The full report is {done.report}; it took {done.seconds:.0f} s.")
