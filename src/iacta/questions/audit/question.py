"""The question `audit`: tests of the dice in a log, and the luck of each player."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from iacta.fairness.audit import Audit, audit
from iacta.fairness.layouts import EXAMPLES
from iacta.fairness.luck import Luck
from iacta.fairness.p_values import POWER
from iacta.forms.form import ClashError, Example, Topic, parameter
from iacta.forms.parameter_kinds import Chance, FileName, Flag, Name, Whole
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.sections import Section
from iacta.forms.shared_parameters import RulesForm
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError
from iacta.questions.audit.luck import describe_luck, sort_lucks
from iacta.questions.audit.phrases import MAX_NAMES, format_points
from iacta.questions.audit.power import (
    USUAL_BIASES,
    USUAL_ROLLS,
    PowerRow,
    count_throws,
    list_kinds,
    make_power_sections,
)
from iacta.questions.audit.record import (
    AuditRecord,
    BiasRecord,
    NeededRecord,
    PowerRecord,
    audit_record,
)
from iacta.questions.audit.sentences import list_audit_sections

MAX_POWER_ROLLS = 10**15  # the largest round number of rolls that a float can hold exactly
MIN_BIAS = Fraction(1, 10**6)  # smaller biases need more than MAX_POWER_ROLLS rolls
DICE_TEXT = re.compile(r"[0-9][0-9\s,;:|/v-]*")  # text that is probably a line of dice
EXAMPLE_DICE_LOG = "attack,defence\n5 6 3,4 2\n4 1 4,3 6\n2 6 1,5 5\n5 3 3,1 3\n6 6 2,2 6\n3 4,5\n"


@question(
    "audit",
    Topic.STUDY,
    Example("audit --power", "how many rolls does it take to notice loaded dice?"),
    Example("audit rolls.csv --player Ada", "were the dice in your log fair, and was Ada lucky?"),
)
class AuditQuestion(RulesForm, Question):
    """Test whether the dice in a log were fair, and who was lucky."""

    headline: ClassVar = "Are these dice fair?"
    first_texts: ClassVar = {"log": EXAMPLE_DICE_LOG}
    help_sections: ClassVar = {
        "A log with a heading in its first line (here: heading, a colon, a sample line)": [
            (example.text, example.meaning) for example in EXAMPLES if example.heading
        ],
        "A log without a heading (here: a sample line)": [
            (example.text, example.meaning) for example in EXAMPLES if not example.heading
        ],
    }

    file: str | None = parameter(
        FileName(),
        "The log: a file of dice, rolls or battles, one on each line, or a recorded game.",
        is_argument=True,
        default=None,
    )
    log: str | None = parameter(
        Name(),
        "Your rolls, one on each line, such as 6 4 1 vs 5 3.",
        metavar="TEXT",
        excludes="file",
        default=None,
    )
    player: str | None = parameter(
        Name(), "Your name in the log: your luck is shown first.", metavar="NAME", default=None
    )
    level: Fraction = parameter(
        Chance(), "How often fair dice may be called unfair by mistake.", default=Fraction(1, 100)
    )
    power: bool = parameter(
        Flag(),
        "Show how heavily loaded dice must be to be noticed.",
        label="detectable bias",
        default=False,
    )
    rolls: int | None = parameter(
        Whole(minimum=1, maximum=MAX_POWER_ROLLS),
        "With --power: show how heavily loaded dice must be to be noticed in this many rolls.",
        needs="power",
        excludes="file or log",
        default=None,
    )
    bias: Fraction | None = parameter(
        Chance(),
        "With --power: show how many rolls reveal a number that comes up too often or too rarely "
        "by this much, such as 1%.",
        needs="power",
        excludes="file or log",
        default=None,
    )
    seed: int = parameter(
        Whole(), "Any number. The same number gives the same simulated dice.", default=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bias is not None and self.bias < MIN_BIAS:
            raise IllegalError(
                f"bias must be at least 0.0001%, got {float(self.bias):.3g}", parameter="bias"
            )
        if (
            self.file is not None
            and DICE_TEXT.fullmatch(self.file)
            and not Path(self.file).exists()
        ):
            raise ClashError(
                "{file} must be the name of a file, got {0!r}; dice need {log}", self.file
            )
        if self.source is None and not self.power:
            raise ClashError(
                "missing {file}, {log} or {power}", on_page="Paste your rolls or open a file."
            )

    @property
    def source(self) -> Path | str | None:
        return Path(self.file) if self.file is not None else self.log

    def check_chart(self) -> None:
        if self.source is None:
            raise IllegalError("a picture of an audit needs a log")

    def answer(self, watch: Watch | None = None) -> "AuditAnswer | PowerAnswer":
        if self.source is None:
            return PowerAnswer(self)

        def progress(line_count: int) -> None:
            if watch is not None:
                watch(f"Reading {line_count:,} lines", None)

        audited = audit(
            self.source,
            rules=self.rule_set.rules,
            level=self.level,
            seed=self.seed,
            progress=progress,
        )
        names = [luck.player for luck in audited.lucks]
        if self.player is not None and self.player not in names:
            known = ", ".join(filter(None, names[:MAX_NAMES])) or "none"
            raise IllegalError(
                f"player must be in the log ({known}), got {quote(self.player)}", parameter="player"
            )
        return AuditAnswer(self, audited)


class AuditAnswer(Answer):
    """Tests of the dice in a log, and the luck of each player.

    audited: the results of all tests.
    """

    question: AuditQuestion
    audited: Audit

    @property
    def data(self) -> AuditRecord:
        return audit_record(self.audited, self.question, self._list_lucks())

    def rows(self) -> Iterator[Sequence[object]]:
        yield ("throws", "result", "seen", "expected", "low", "high")
        yield from self.audited.results

    def draw(self, charts: Charts) -> Any:
        return charts.dice_audit(self.audited)

    def sections(self) -> Iterator[Section]:
        first = [luck for luck in self._list_lucks() if luck.player == self.question.player]
        said = [describe_luck(luck, is_you=True) for luck in first]
        head, *others = list_audit_sections(self.audited)
        yield Section([*head.parts, *said])
        yield from others
        if self.question.power:
            audited = self.audited
            kinds = list_kinds(self.question.rule_set.rules, audited.level, audited.test_count)
            yield from make_power_sections(kinds, USUAL_ROLLS, USUAL_BIASES)

    def _list_lucks(self) -> list[Luck]:
        return sort_lucks(self.audited, self.question.player)


class PowerAnswer(Answer):
    """The smallest bias that each number of rolls reveals, and the rolls needed for each bias."""

    question: AuditQuestion

    @cached_property
    def kinds(self) -> list[PowerRow]:
        return list_kinds(self.question.rule_set.rules, float(self.question.level))

    @property
    def rolls(self) -> Sequence[int]:
        return USUAL_ROLLS if self.question.rolls is None else (self.question.rolls,)

    @property
    def biases(self) -> Sequence[Fraction]:
        return USUAL_BIASES if self.question.bias is None else (self.question.bias,)

    @property
    def data(self) -> PowerRecord:
        return PowerRecord(
            rules=self.question.rule_set.name,
            level=float(self.question.level),
            power=POWER,
            bias_seen=[
                BiasRecord(throws=kind.name, count=rolls, bias=kind.compute_bias(rolls))
                for kind in self.kinds
                for rolls in self.rolls
            ],
            rolls_needed=[
                NeededRecord(throws=kind.name, bias=float(bias), count=kind.count_needed(bias))
                for kind in self.kinds
                for bias in self.biases
            ],
        )

    def rows(self) -> Iterator[Sequence[object]]:
        record = self.data
        yield ("throws", "count", "bias", "asked")
        for seen in record.bias_seen:
            yield seen.throws, seen.count, "" if seen.bias is None else seen.bias, "bias seen"
        for needed in record.rolls_needed:
            yield needed.throws, needed.count, needed.bias, "rolls needed"

    def draw(self, charts: Charts) -> Any:
        raise IllegalError("a picture of an audit needs a log")

    def sections(self) -> Iterator[Section]:
        question, first = self.question, self.kinds[0]
        what = "a face" if first.name.startswith("dice") else "a result"
        if question.bias is not None and question.rolls is None:
            thrown = count_throws(first.count_needed(question.bias), first.name)
            off = format_points(float(question.bias))
            sentence = f"To notice {what} off by {off} nine times in ten takes {thrown}."
        else:
            number = question.rolls or USUAL_ROLLS[2]
            bias = first.compute_bias(number)
            off = "no bias" if bias is None else f"{what} off by {format_points(bias)}"
            thrown = count_throws(number, first.name)
            sentence = f"With {thrown}, {off} would be noticed nine times in ten."
        yield Section([sentence])
        yield from make_power_sections(self.kinds, self.rolls, self.biases)
