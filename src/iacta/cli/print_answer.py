"""Prints answers; also defines the base class of commands that are not questions."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import chain
from typing import TYPE_CHECKING

from iacta.cli.terminal import print_sections, show_progress
from iacta.forms.form import Form, Register, parameter
from iacta.forms.parameter_kinds import Flag, Name
from iacta.forms.question import Answer, Question
from iacta.inputs.csv_formulas import escape_formulas
from iacta.inputs.errors import IllegalError
from iacta.inputs.files import STREAM

if TYPE_CHECKING:
    from iacta.cli.picture import Picture


class Command(Form):
    """A command that does not answer a question, such as `serve`."""

    @classmethod
    def for_words(cls, words: Sequence[str]) -> "type[Command]":
        """Return the form for a command line. Its options may depend on the words."""
        return cls

    def run(self) -> int:
        raise NotImplementedError


COMMANDS: Register[Command] = Register("iacta.cli", "command")
command = COMMANDS.add


class OutputOptions(Form, kw_only=True):
    """Options for printing an answer."""

    json: bool = parameter(
        Flag(), "Print the answer for programs (JSON).", excludes="csv", default=False
    )
    csv: bool = parameter(Flag(), "Print the answer as a spreadsheet table (CSV).", default=False)
    plot: str | None = parameter(
        Name(),
        "Save a chart as FILE; its ending sets the format: .png, .svg, .pdf, .html, .csv or .json.",
        metavar="FILE",
        default=None,
    )
    dark: bool = parameter(Flag(), "Draw on a dark background.", default=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plot == STREAM and (self.json or self.csv):
            raise IllegalError("--plot - cannot be combined with --json or --csv")


def ask(question: Question, shown: OutputOptions) -> Answer:
    """Print the answer to a question, save its chart if asked for, and return the answer."""
    picture = None
    if shown.plot is not None:
        question.check_chart()
        from iacta.cli.picture import Picture  # only needed here

        picture = Picture(shown.plot, shown.dark)
    elif shown.dark:
        raise IllegalError("--dark also needs --plot FILE")
    with picture or nullcontext():
        return _print_answer(question, shown, picture)


def _print_answer(question: Question, shown: OutputOptions, picture: "Picture | None") -> Answer:
    with show_progress() as watch:
        answer = question.answer(watch)
        if shown.json:
            import json  # only needed here

            text = json.dumps(answer.record(), indent=2)
        elif shown.csv:
            rows = answer.rows()
            heading = next(rows)
        else:
            sections = list(answer.sections())
        if picture and answer.is_complete:
            chart = answer.plot()  # may raise an error, so draw before printing
    if shown.plot == STREAM:
        pass  # the chart replaces the text
    elif shown.json:
        print(text)
    elif shown.csv:
        import csv  # only needed here

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows(escape_formulas(chain([heading], rows)))
    else:
        print_sections(sections)
    if not answer.is_complete:
        raise KeyboardInterrupt
    if picture:
        picture.draw(chart)
    return answer
