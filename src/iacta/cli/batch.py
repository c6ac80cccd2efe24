"""`iacta batch`: answer a question for each row of a file."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise

from iacta.cli.print_answer import Command, command
from iacta.cli.terminal import show_progress
from iacta.forms.form import Example, Form, Topic, format_option, make_form, parameter
from iacta.forms.parameter_kinds import CommaList, FileName, Flag, Name
from iacta.forms.question import QUESTIONS, Question, find_question
from iacta.forms.sentences import add_noun
from iacta.inputs.files import STREAM
from iacta.questions.battle import BattleQuestion

EXIT_ROW_ERRORS = 1
QUESTION_NAMES = ", ".join(form.name for form in QUESTIONS.load_all() if form.usual_columns())


@command(
    "batch",
    Topic.TOOLS,
    Example("batch battles.csv odds.csv", "odds of each battle in a file"),
    Example(
        "batch chains.parquet far.parquet --question campaign --rules capital",
        "odds of campaigns in a Parquet file",
    ),
)
class BatchCommand(Command, kw_only=True):
    """Answer a question for every row of a table, in added columns.

    The exit code is 1 if some rows have errors.
    """

    input: str = parameter(
        FileName(),
        "Input file: CSV, JSON, Excel, Parquet or Arrow; CSV and JSON may be compressed.",
        is_argument=True,
        metavar="IN",
    )
    output: str = parameter(
        FileName(),
        "Output file: .csv, .jsonl (also compressed, such as .csv.gz), .xlsx, .parquet or .arrow; "
        "- prints the format of IN. With --cluster, Parquet output is a folder.",
        is_argument=True,
        metavar="OUT",
    )
    question: str = parameter(
        Name(),
        f"The question: {QUESTION_NAMES}. Its options may be columns of IN with the same names.",
        metavar="NAME",
        default=BattleQuestion.name,
    )
    columns: tuple[str, ...] | None = parameter(
        CommaList(Name()),
        "Columns to add: keys of the answer, as in --json.",
        usual="chances and numbers",
        metavar="NAME,NAME...",
        default=None,
    )
    cluster: str | None = parameter(
        Name(),
        "Run on a Dask cluster, for files larger than memory or long computations: the "
        "scheduler's address, such as tcp://127.0.0.1:8786, or local to use all cores.",
        metavar="ADDRESS",
        default=None,
    )

    @classmethod
    def for_words(cls, words: Sequence[str]) -> type[Command]:
        """Return the command with the options of the question that the words name."""
        option = format_option("question")
        named = [after for word, after in pairwise(words) if word == option]
        named += [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
        form = find_question(named[0]) if named else BattleQuestion
        return _make_command(form) if form is not None else BatchCommand

    def run(self) -> int:
        from iacta.batch import answer_file  # optional, and slow to import

        own = {parameter.name for parameter in BatchCommand.parameters()}
        given = {
            parameter.name: value
            for parameter in self.parameters()
            if parameter.name not in own
            and (value := getattr(self, parameter.name)) is not None
            and value is not False
        }
        with ExitStack() as stack:
            client = None
            if self.cluster is not None:
                from iacta.batch.cluster import open_cluster  # needs the extra `cluster`

                client = stack.enter_context(open_cluster(self.cluster))
                print(f"iacta: Dask dashboard: {client.dashboard_link}", file=sys.stderr)
            done = answer_file(
                self.input,
                self.output,
                self.question,
                columns=self.columns,
                client=client,
                watch=stack.enter_context(show_progress()),
                **given,
            )
        is_printed = self.output == STREAM
        rows = add_noun(done.rows, "row", "rows")
        answered = f"{done.rows - done.errors} of {rows}" if done.errors else rows
        print(f"{answered} answered.", file=sys.stderr if is_printed else sys.stdout)
        if done.errors:
            wrong = add_noun(done.errors, "row has an error", "rows have errors")
            print(f'iacta: {wrong}; see column "error"', file=sys.stderr)
        return EXIT_ROW_ERRORS if done.errors else 0


def _make_command(question: type[Question]) -> type[BatchCommand]:
    """Return the command with the parameters of a question as additional options."""
    fields = {}
    for described in question.parameters():
        usual = "a column" if described.is_required else described.default_text
        default = False if isinstance(described.kind, Flag) else None
        fields[described.name] = parameter(
            described.kind, described.help, default=default, usual=usual, metavar=described.metavar
        )
    form: type[BatchCommand] = make_form(
        (BatchCommand, make_form((Form,), fields)), {}, __doc__=BatchCommand.__doc__
    )
    return form


# Without --question, the command has the options of the default question.
command(BatchCommand.name, BatchCommand.topic, *BatchCommand.examples)(
    _make_command(BattleQuestion)
)
