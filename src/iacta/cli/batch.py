"""`iacta batch`: a question asked for each row of a file."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise

from iacta.cli.print_answer import Command, command
from iacta.cli.terminal import patience
from iacta.forms.form import Example, Form, Topic, made_form, option_name, parameter
from iacta.forms.parameter_kinds import FileName, Flag, Listed, Name
from iacta.forms.question import QUESTIONS, Question, find_question
from iacta.forms.sentences import count
from iacta.inputs.files import STREAM
from iacta.questions.battle import BattleQuestion

SOME_ERRORS = 1
ANSWERED = ", ".join(form.name for form in QUESTIONS.all() if form.usual_columns())


@command(
    "batch",
    Topic.TOOLS,
    Example("batch battles.csv odds.csv", "what are the odds of each battle in a file?"),
    Example(
        "batch chains.parquet far.parquet --question campaign --rules capital",
        "and of campaigns, by whole columns?",
    ),
)
class BatchCommand(Command, kw_only=True):
    """Answer a question for each row of a file, and write the rows with their answers.

    Ends with 1 if some rows have errors.
    """

    input: str = parameter(
        FileName(),
        "The file with the rows: CSV, JSON, Excel, Parquet or Arrow, text also compressed; - "
        "is standard input.",
        is_argument=True,
        metavar="IN",
    )
    output: str = parameter(
        FileName(),
        "The file to write: .csv, .jsonl, .xlsx, .parquet or .arrow, text also as .csv.gz and "
        "the like; - prints it in the format of IN. The Parquet of a cluster is a folder.",
        is_argument=True,
        metavar="OUT",
    )
    question: str = parameter(
        Name(),
        f"The question: {ANSWERED}. Each of its options may also be a column of that name.",
        metavar="NAME",
        default=BattleQuestion.name,
    )
    columns: tuple[str, ...] | None = parameter(
        Listed(Name()),
        "The columns to add: keys of the answer, as --json prints it.",
        usual="its chances and numbers",
        metavar="NAME,NAME...",
        default=None,
    )
    cluster: str | None = parameter(
        Name(),
        "Answer in blocks on a Dask cluster, for what is larger than the memory or takes long: "
        "the address of its scheduler, such as tcp://127.0.0.1:8786, or local for all cores here.",
        metavar="ADDRESS",
        default=None,
    )

    @classmethod
    def for_words(cls, words: Sequence[str]) -> type[Command]:
        """Add the options of the question that the command line names."""
        option = option_name("question")
        named = [after for word, after in pairwise(words) if word == option]
        named += [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
        form = find_question(named[0]) if named else BattleQuestion
        return _asking(form) if form is not None else BatchCommand

    def run(self) -> int:
        from iacta.batch import answer_file  # an extra, slow to load

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
                from iacta.batch.cluster import cluster  # another extra

                client = stack.enter_context(cluster(self.cluster))
                print(f"iacta: Dask shows its work at {client.dashboard_link}", file=sys.stderr)
            done = answer_file(
                self.input,
                self.output,
                self.question,
                columns=self.columns,
                client=client,
                watch=stack.enter_context(patience()),
                **given,
            )
        is_printed = self.output == STREAM
        rows = count(done.rows, "row", "rows")
        answered = f"{done.rows - done.errors} of {rows}" if done.errors else rows
        print(f"{answered} answered.", file=sys.stderr if is_printed else sys.stdout)
        if done.errors:
            wrong = count(done.errors, "row has an error", "rows have errors")
            print(f'iacta: {wrong}; see column "error"', file=sys.stderr)
        return SOME_ERRORS if done.errors else 0


def _asking(question: type[Question]) -> type[BatchCommand]:
    """Return the command with the parameters of a question as options, none of them required."""
    fields = {}
    for described in question.parameters():
        usual = "a column" if described.is_required else described.default_text
        default = False if isinstance(described.kind, Flag) else None
        fields[described.name] = parameter(
            described.kind, described.help, default=default, usual=usual, metavar=described.metavar
        )
    form: type[BatchCommand] = made_form(
        (BatchCommand, made_form((Form,), fields)), {}, __doc__=BatchCommand.__doc__
    )
    return form


# The help shows the options of the usual question, too.
command(BatchCommand.name, BatchCommand.topic, *BatchCommand.examples)(_asking(BattleQuestion))
