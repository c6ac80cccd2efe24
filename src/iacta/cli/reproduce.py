"""`iacta reproduce`: recompute every value and figure of five published articles."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from iacta.cli.print_answer import Command, command
from iacta.cli.terminal import print_sections, show_progress
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.parameter_kinds import Flag, Name
from iacta.forms.sections import Section
from iacta.forms.sentences import add_noun
from iacta.inputs.errors import IllegalError
from iacta.inputs.files import format_path

if TYPE_CHECKING:
    from iacta_literature import Reproduced

EXIT_DIFFERENT = 1


@command(
    "reproduce",
    Topic.STUDY,
    Example("reproduce", "compare every published number"),
    Example("reproduce report", "write the report to the folder report"),
)
class ReproduceCommand(Command):
    """Recompute the numbers and figures of five articles, and write a report.

    The exit code is 1 if a value differs and is not a listed erratum.
    """

    folder: str = parameter(
        Name(),
        "Folder for the report; iacta creates it.",
        is_argument=True,
        metavar="DIR",
        default="iacta-reproduced",
    )
    json: bool = parameter(Flag(), "Print the report for programs (JSON).", default=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.folder.strip():
            raise IllegalError(f"DIR must be the name of a folder, got {self.folder!r}")

    def run(self) -> int:
        import iacta_literature as library  # slow to import, and only needed here

        library.check_packages()
        steps = library.count_steps()
        with show_progress() as watch:
            done = library.reproduce(
                Path(self.folder), lambda step: watch("Recomputing the literature", step / steps)
            )
        if self.json:
            print(json.dumps(_make_record(done), indent=2))
        else:
            print_sections(_make_sections(done))
        return EXIT_DIFFERENT if done.unexplained_differences else 0


def _make_record(reproduced: "Reproduced") -> dict[str, object]:
    return {
        "report": str(reproduced.report),
        "values": sum(map(len, reproduced.values.values())),
        "agree": len(reproduced.agreements),
        "errata": [
            {
                "where": row["where"],
                "count": _count_values(row, reproduced),
                "sentence": row["sentence"],
            }
            for row in reproduced.errata
        ],
        "differ": [
            {
                "table": value.table,
                "quantity": value.quantity,
                "published": value.published.text,
                "ours": value.ours_text,
            }
            for value in reproduced.unexplained_differences
        ],
        "seconds": reproduced.seconds,
    }


def _count_values(row: dict[str, str], reproduced: "Reproduced") -> int:
    return sum(value.published.erratum == row["erratum"] for value in reproduced.mistaken)


def _make_sections(reproduced: "Reproduced") -> Iterator[Section]:
    total = sum(map(len, reproduced.values.values()))
    yield Section(
        [
            f"{len(reproduced.agreements)} of the {total} values and equations of the five sources "
            f"agree with iacta, and {len(reproduced.mistaken)} are errata."
        ]
    )
    if reproduced.unexplained_differences:
        one = len(reproduced.unexplained_differences) == 1
        words = "differs and is not a listed erratum" if one else "differ and are not listed errata"
        lines = [
            f"{value.table}, {value.quantity}: published {value.published.text}, "
            f"ours {value.ours_text}"
            for value in reproduced.unexplained_differences
        ]
        yield Section(lines, title=f"{len(reproduced.unexplained_differences)} {words}:")
    errata = []
    for row in reproduced.errata:
        printed = _count_values(row, reproduced)
        values = add_noun(printed, "value", "values") if printed else "no printed value"
        errata.append(f"{row['where']} ({values}): {row['sentence']}")
    if errata:
        yield Section(errata, title="The errata:")
    path, seconds = format_path(reproduced.report), reproduced.seconds
    yield Section([f"The full report is {path}; it took {seconds:.0f} s."])
