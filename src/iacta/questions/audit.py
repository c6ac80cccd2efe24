"""Tests of the dice in a log, and the luck of each player."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.fairness.audit import Audit, ResultCount, audit, count_tests
from iacta.fairness.layouts import EXAMPLES
from iacta.fairness.luck import Luck
from iacta.fairness.p_values import (
    INTERVAL_LEVEL,
    MAX_BIAS,
    POWER,
    Finding,
    count_throws_needed,
    find_detectable_bias,
)
from iacta.fairness.throws import (
    ATTACK,
    BATTLES,
    BINS,
    DEFENCE,
    DICE,
    ROLLS,
    TOTALS,
    WINS,
    Throws,
)
from iacta.fairness.totals import CHANCES
from iacta.fairness.trials import Trial, find_outcome_chances
from iacta.forms.form import ClashError, Example, Topic, parameter
from iacta.forms.parameter_kinds import Chance, FileName, Flag, Name, Whole
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import RULES_KEY, IntervalRecord, KeyedRecord, key
from iacta.forms.sections import Section, Table, make_sections
from iacta.forms.sentences import add_noun
from iacta.forms.shared_parameters import RulesForm
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError
from iacta.inputs.meanings import Count, Unit
from iacta.rules.rules import Rules

MAX_KINDS = 6  # maximum number of kinds of throws in an answer
MAX_NAMES = 10  # maximum number of players or columns in a sentence
MAX_FACES = 100  # maximum number of faces of dice in the tables of detectable bias
MAX_ROLLS = 10**15  # the largest round number of rolls that a float can hold exactly
MIN_BIAS = Fraction(1, 10**6)  # smaller biases need more than MAX_ROLLS rolls
ORDINARY_GAMES = 5.0  # luck is ordinary if it occurs more often than once in this many games
RARE = 1e-5  # the smallest p-value that is shown as a number
SPREADS = "in standard deviations"  # heading of a column of luck
MAX_BIAS_SHOWN = 0.2  # a log that reveals only a larger bias is called too short
USUAL_ROLLS = (100, 1_000, 10_000, 100_000, 1_000_000)
USUAL_BIASES = tuple(Fraction(bias, 1000) for bias in (50, 20, 10, 5, 1))
SIDED = ("luck", "spread")  # two-sided tests, whose alarm depends on the detail of the finding
EXPLAINED = ("period", "players", "most extreme", "chances")  # tests whose alarm shows the detail
DICE_TEXT = re.compile(r"[0-9][0-9\s,;:|/v-]*")  # text that is probably a line of dice
NOUNS = {
    DICE: ("die", "dice"),
    ATTACK: ("attack die", "attack dice"),
    DEFENCE: ("defence die", "defence dice"),
    ROLLS: ("roll", "rolls"),
    BATTLES: ("battle", "battles"),
    WINS: ("battle", "battles"),
}
EXAMPLE_LOG = "attack,defence\n5 6 3,4 2\n4 1 4,3 6\n2 6 1,5 5\n5 3 3,1 3\n6 6 2,2 6\n3 4,5\n"
ALARMS = {
    "dice": "some faces come up too often",
    "attack dice": "some faces come up too often in attack",
    "defence dice": "some faces come up too often in defence",
    "rolls": "some losses occur too often",
    "battles": "battles do not end as they should",
    "repeats": "results do not repeat as they would by chance",
    "runs": "good and bad results do not alternate as they would by chance",
    "correlation": "each result depends on the one before",
    "period": "a sequence of results is used again",
    "totals": "one side loses too many armies",
    "wins": "too many or too few battles are won",
    "players": "not all players get the same dice",
    "lucky": "the attackers are too lucky",
    "unlucky": "the attackers are too unlucky",
    "average": "too few battles end in an extreme result",
    "extreme": "too many battles end in an extreme result",
    "most extreme": "one result is too unlikely",
    "chances": "chances do not come true as often as they should",
}
WORDS = {
    "dice": "are all faces equally likely?",
    "attack dice": "are all faces equally likely in attack?",
    "defence dice": "are all faces equally likely in defence?",
    "rolls": "are losses as likely as they should be?",
    "battles": "do battles end as they should?",
    "repeats": "do results repeat only by chance?",
    "runs": "do good and bad results alternate by chance?",
    "correlation": "does a result depend on the one before?",
    "period": "is a sequence of results used again?",
    "totals": "does each side lose as many armies in total as it should?",
    "wins": "is the right number of battles won?",
    "players": "do all players get the same dice?",
    "luck": "are attackers as lucky as they should be?",
    "spread": "are results as extreme as they should be?",
    "most extreme": "could the most extreme result be chance?",
    "chances": "do chances come true as often as they should?",
}


@question(
    "audit",
    Topic.STUDY,
    Example("audit --power", "how many rolls does it take to notice loaded dice?"),
    Example("audit rolls.csv --player Ada", "were the dice in your log fair, and was Ada lucky?"),
)
class AuditQuestion(RulesForm, Question):
    """Test whether the dice in a log were fair, and who was lucky."""

    headline: ClassVar = "Are these dice fair?"
    first_texts: ClassVar = {"log": EXAMPLE_LOG}
    help_sections: ClassVar = {
        "A log with a heading in its first line (here: heading, a colon, a sample line)": [
            (each.text, each.meaning) for each in EXAMPLES if each.heading
        ],
        "A log without a heading (here: a sample line)": [
            (each.text, each.meaning) for each in EXAMPLES if not each.heading
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
        Whole(least=1, most=MAX_ROLLS),
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


THROWS = "The kind of throws, such as `dice` or `3 v 2`."


class FindingRecord(KeyedRecord, of=Finding):
    """The result of one test."""

    question: str
    p_value: Unit
    corrected: Unit = key("The p-value, corrected for the number of tests by Holm's method.")
    statistic: float
    how: str
    interval: IntervalRecord | None
    detail: str


class MomentRecord(KeyedRecord):
    """The evidence after a number of throws."""

    throws: Count = key("The number of throws so far.")
    e_value: float | None = key("The e-value so far; `null` if too large for a float.")


class EvidenceRecord(KeyedRecord):
    """The evidence against fair dice, updated after every throw."""

    e_value: float | None = key("The final e-value; `null` if too large for a float.")
    largest: float | None = key("The largest e-value; `null` if too large for a float.")
    needed: float = key("The e-value that raises an alarm.")
    reached_after: Count | None = key(
        "The number of throws after which the e-value raised an alarm; `null` for no alarm."
    )
    over_time: Sequence[MomentRecord] = key(
        "The evidence over time; empty for a log without the order of the throws."
    )


class LuckRecord(KeyedRecord, of=Luck):
    """The luck of a player: `result` is the sum of `skill` and `luck`."""

    player: str
    throws: Count
    result: int
    skill: float = key("The expected part of `result`, which the player's choices explain.")
    luck: float = key("The part of `result` due to luck.")
    spread: float
    as_bad: Unit
    as_good: Unit
    fights: Count
    luck_in_wins: float | None = key(
        "The luck in throws with a known chance, in battles won; else `null`."
    )
    spread_in_wins: float | None = key("The standard deviation of `luck_in_wins`, else `null`.")
    p_value: Unit | None = key(
        "The p-value of the difference from all other players; `null` without other players."
    )


class SeenRecord(KeyedRecord):
    """The smallest bias that this log would reveal."""

    throws: str = key(THROWS)
    count: Count = key("The number of throws.")
    bias_seen: float | None = key(
        "The bias detected nine times in ten; `null` if no bias is detected."
    )


class AuditRecord(KeyedRecord, of=Audit):
    """Tests of the dice in a log, and the luck of each player."""

    lines: Count
    rules: str = key(RULES_KEY, is_repeated=True)
    level: Unit
    alarm: bool = key("Whether the dice do not look fair.")
    impossible: Count
    questions: Sequence[FindingRecord] = key("The tests.")
    evidence: EvidenceRecord = key("The evidence against fair dice.")
    results: Sequence[ResultCount] = key("The frequency of each result.")
    players: Sequence[LuckRecord] = key("The luck of each player.")
    power: Sequence[SeenRecord] = key("The biases that would be noticed in this log.")
    unread: Sequence[str]
    remarks: Sequence[str]
    broken_off: Count
    not_told: Mapping[str, Count] = key(
        "The number of entries left out because the recording is unclear, by reason."
    )


class AuditAnswer(Answer):
    """Tests of the dice in a log, and the luck of each player.

    audited: the results of all tests.
    """

    question: AuditQuestion
    audited: Audit

    @property
    def data(self) -> AuditRecord:
        audited = self.audited
        return AuditRecord.from_attributes(
            audited,
            self.question,
            alarm=audited.is_alarm,
            questions=[
                FindingRecord.from_attributes(
                    finding,
                    corrected=corrected,
                    interval=finding.interval
                    and IntervalRecord.from_interval(finding.interval, INTERVAL_LEVEL),
                )
                for finding, corrected in zip(audited.findings, audited.corrected, strict=True)
            ],
            evidence=EvidenceRecord(
                e_value=_compute_e_value(audited.log_evidence),
                largest=_compute_e_value(audited.most_evidence),
                needed=1 / audited.level,
                reached_after=audited.alarm,
                over_time=[
                    MomentRecord(
                        throws=moment.throws, e_value=_compute_e_value(moment.log_evidence)
                    )
                    for moment in audited.moments
                ],
            ),
            players=[_make_luck_record(audited, luck) for luck in self._list_lucks()],
            power=[
                SeenRecord(
                    throws=kind.name,
                    count=int(kind.counts.sum()),
                    bias_seen=audited.find_detectable_bias(kind),
                )
                for kind in audited.throws
            ],
            not_told=audited.skipped,
        )

    def rows(self) -> Iterator[Sequence[object]]:
        yield ("throws", "result", "seen", "expected", "low", "high")
        yield from self.audited.results

    def draw(self, charts: Charts) -> Any:
        return charts.dice_audit(self.audited)

    def sections(self) -> Iterator[Section]:
        first = [luck for luck in self._list_lucks() if luck.player == self.question.player]
        said = [_describe_luck(luck, is_you=True) for luck in first]
        head, *others = _make_sections(self.audited)
        yield Section([*head.parts, *said])
        yield from others
        if self.question.power:
            audited = self.audited
            kinds = _list_kinds(self.question.rule_set.rules, audited.level, audited.test_count)
            yield from _make_power_sections(kinds, USUAL_ROLLS, USUAL_BIASES)

    def _list_lucks(self) -> list[Luck]:
        return _sort_lucks(self.audited, self.question.player)


def _compute_e_value(log: float) -> float | None:
    """Return an e-value from its logarithm, or `None` if it is too large for a float."""
    return math.exp(log) if log < 700 else None


def _make_luck_record(audited: Audit, luck: Luck) -> LuckRecord:
    return LuckRecord.from_attributes(
        luck,
        skill=luck.result - luck.armies,
        luck=luck.armies,
        luck_in_wins=luck.wins if luck.fights else None,
        spread_in_wins=luck.wins_spread if luck.fights else None,
        p_value=audited.player_p_values.get(luck.player),
    )


def _sort_lucks(audited: Audit, first: str | None = None) -> list[Luck]:
    return sorted(audited.lucks, key=lambda luck: (luck.player != first, -luck.throws, luck.player))


def _make_sections(audited: Audit) -> Iterator[Section]:
    lucks = _sort_lucks(audited)
    yield Section([audit_sentence(audited), *_describe_evidence(audited), *_list_notes(audited)])
    if audited.findings:
        yield Section(
            [_make_tests_table(audited)],
            title="How likely fair dice look at least this unusual (p-value):",
        )
    kinds = sorted(audited.throws, key=lambda kind: -int(kind.counts.sum()))[:MAX_KINDS]
    if kinds:  # there are no counts if everything in the log is impossible
        yield Section([_make_counts_table(audited, kinds)], title="How often each result came up:")
    if lucks:
        sentences = [_describe_luck(luck) for luck in lucks[:MAX_NAMES]] if len(lucks) < 3 else []
        title = "Luck, in armies:" if any(map(_has_armies, lucks)) else "Luck, in wins:"
        noun = "chances" if audited.chances else "battles"
        yield Section([*sentences, _make_luck_table(lucks[:MAX_NAMES], noun)], title=title)
    if kinds:
        yield Section(
            list(_list_power_lines(audited)),
            title="What would be noticed in this log nine times in ten:",
        )


def audit_sentence(audited: Audit) -> str:
    if audited.impossible:
        results = add_noun(audited.impossible, "result is", "results are")
        reason = "rules, or by the chances," if audited.chances else "rules"
        return (
            f"The log has other dice or other rules: {results} impossible, or too unlikely to "
            f"compute, under the {reason} used for comparison."
        )
    if audited.is_alarm:
        corrected, _, worst = min(
            zip(
                audited.corrected,
                (finding.p_value for finding in audited.findings),
                audited.findings,
                strict=True,
            ),
            key=itemgetter(0, 1),
        )
        odds = _format_rarity(_bound_p_value(worst, corrected), is_most=worst.interval is not None)
        alarm = ALARMS[worst.detail if worst.question in SIDED else worst.question]
        more = f", {worst.detail}" if worst.question in EXPLAINED else ""
        return (
            f"These dice do not look fair: {alarm}{more}. Among fair logs, {odds} look this "
            "unusual."
        )
    throws, what, bias = _find_noticeable_bias(audited)
    needed = -math.log(audited.level)
    has_evidence = audited.alarm is not None or audited.log_evidence >= needed
    head = "No test raises an alarm" if has_evidence else "Nothing points to unfair dice"
    if bias is None or bias > MAX_BIAS_SHOWN:
        return f"{head}, but {throws} {_describe_shortage(throws)} to tell."
    off = f"{what} off by {_format_points(bias)}"
    return f"{head}: with {throws}, {off} would be noticed nine times in ten."


def _describe_shortage(amount: str) -> str:
    """Return the verb phrase after a number of throws, such as "are too few".

    >>> _describe_shortage("17 dice"), _describe_shortage("the loss of 5 armies")
    ('are too few', 'is not enough')
    """
    is_singular = amount.startswith(("1 ", "the ")) and " and " not in amount
    return "is not enough" if is_singular else "are too few"


def _find_noticeable_bias(audited: Audit) -> tuple[str, str, float | None]:
    """Return the number of throws of the largest kind, the biased quantity, and its smallest bias.

    The bias is the smallest bias that these throws reveal.
    """
    largest = audited.largest
    if largest is None or largest.total < audited.chances:
        chances = f"{audited.chances:,} {'chance' if audited.chances == 1 else 'chances'}"
        return chances, "wins", audited.detectable_chance_bias
    dice = [_describe_throws(kind) for kind in audited.throws if kind.kind in (ATTACK, DEFENCE)]
    bias = audited.find_detectable_bias(largest)
    is_shown = bias is not None and bias <= MAX_BIAS_SHOWN
    throws = _describe_throws(largest) if is_shown or not dice else " and ".join(dice)
    return throws, _name_results(largest), bias


def _describe_throws(throws: Throws, kind: str = "") -> str:
    """Return the number of throws with a noun, such as `3 rolls`.

    kind: the kind of throws that the noun names; `throws.kind` by default.
    """
    if throws.kind == TOTALS:
        return f"the loss of {add_noun(throws.total, 'army', 'armies', ',')}"
    one, many = NOUNS[kind or throws.kind]
    return f"{throws.total:,} {one if throws.total == 1 else many}"


def _name_results(throws: Throws) -> str:
    names = {
        BATTLES: "a tenth of all results",
        ROLLS: "a result",
        TOTALS: "the share of a side",
        WINS: "the share of battles won",
    }
    return names.get(throws.kind, "a face")


def _format_points(bias: float) -> str:
    """Return a difference of chances in percent, with two significant digits.

    >>> _format_points(0.00478), _format_points(0.123)
    ('0.48%', '12%')
    """
    digits = max(0, 1 - math.floor(math.log10(100 * bias))) if bias > 0 else 0
    return f"{100 * bias:.{digits}f}%"


def _format_rarity(chance: float, *, is_most: bool = False) -> str:
    """Return a chance as "1 in" a round number.

    is_most: whether the chance is an upper bound, so that rounding must not lower it.

    >>> _format_rarity(0.025), _format_rarity(1e-9), _format_rarity(0.7)
    ('1 in 40', 'fewer than 1 in 100,000', '7 in 10')
    >>> _format_rarity(6.634e-5), _format_rarity(6.634e-5, is_most=True)
    ('1 in 15,000', 'fewer than 1 in 15,000')
    >>> _format_rarity(0.31, is_most=True)
    'fewer than 4 in 10'
    """
    if chance < RARE:
        return f"fewer than 1 in {round(1 / RARE):,}"
    fewer, whole = ("fewer than ", math.floor) if is_most else ("", round)
    if chance > (0.25 if is_most else 0.35):
        return f"{fewer}{math.ceil(10 * chance) if is_most else round(10 * chance)} in 10"
    many = whole(1 / chance)
    size = 10 ** max(0, len(str(many)) - 2)
    return f"{fewer}1 in {whole(many / size) * size:,}"


def _bound_p_value(finding: Finding, corrected: float) -> float:
    """Return the corrected p-value, or its upper bound if the p-value is simulated."""
    if finding.interval is None:
        return corrected
    return min(1.0, finding.interval.high * corrected / finding.p_value)


def _describe_evidence(audited: Audit) -> Iterator[str]:
    needed = round(1 / audited.level)
    if _are_only_totals(audited):
        return  # totals have no order, so there is no evidence over time
    if not audited.is_ordered:
        yield (
            f"The evidence against fair dice is {_format_odds(audited.log_evidence)} to 1; an "
            f"alarm needs {needed:,} to 1."
        )
    elif audited.alarm is not None:
        yield (
            f"Watched after every throw, the evidence against fair dice reached {needed:,} to 1 "
            f"after {audited.alarm:,} of {audited.lines:,}; "
            f"it is now {_format_odds(audited.log_evidence)} to 1."
        )
    else:
        is_blind = audited.is_alarm and not audited.impossible
        weaker = ", which is less sensitive than the tests," if is_blind else ""
        yield (
            f"Watched after every throw, the evidence against fair dice{weaker} never exceeded "
            f"{_format_odds(audited.most_evidence)} to 1; an alarm needs {needed:,} to 1."
        )


def _are_only_totals(audited: Audit) -> bool:
    """Return whether a log has only total losses, not single rolls."""
    return not audited.chances and {kind.kind for kind in audited.throws} == {TOTALS}


def _format_odds(log: float) -> str:
    """Return the logarithm of an e-value as odds.

    >>> _format_odds(0.0), _format_odds(-5.0), _format_odds(40.0), _format_odds(999.0)
    ('1.0', '0.0067', '2.4e+17', '1e433')
    """
    if log > 700:
        return f"1e{int(log / math.log(10))}"
    value = math.exp(log)
    if value >= 1e6:
        return f"{value:.1e}"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 0.1 else f"{value:.2g}"


def _list_notes(audited: Audit) -> Iterator[str]:
    for finding in audited.findings:
        if finding.question in (TOTALS, WINS, CHANCES):
            yield f"{finding.detail}."
    yield from audited.remarks
    if audited.unread:
        names = ", ".join(repr(name) for name in audited.unread[:MAX_NAMES])
        yield f"Ignored columns: {names}."
    if audited.broken_off:
        battles = add_noun(audited.broken_off, "battle", "battles")
        reason = "because stopping is a choice and not luck"
        yield f"Ignored {battles} that the attackers broke off, {reason}."
    if audited.skipped:
        skipped = ", ".join(f"{number} {why}" for why, number in audited.skipped.items())
        yield f"Ignored, because the recording is unclear: {skipped}."
    if audited.is_recording:
        yield (
            "The odds are from the app's makers, published in 2024; they have announced changes "
            "since."
        )
    if not audited.is_ordered and not _are_only_totals(audited):
        yield "The log does not show the order of the throws, so their order is not tested."


def _make_tests_table(audited: Audit) -> Table:
    rows = [
        (
            WORDS[finding.question],
            _format_p_value(finding, finding.p_value),
            _format_p_value(finding, corrected),
        )
        for finding, corrected in zip(audited.findings, audited.corrected, strict=True)
    ]
    return Table(("", "by itself", f"among {add_noun(len(rows), 'test', 'tests')}"), rows)


def _format_p_value(finding: Finding, p_value: float) -> str:
    is_below = finding.interval is not None and not finding.interval.low
    most = _bound_p_value(finding, p_value) if is_below else max(p_value, RARE)
    digits = 3 if most >= 0.01 else 5
    if is_below:
        return f"< {math.ceil(most * 10**digits) / 10**digits:.{digits}f}"
    return f"{'< ' if p_value < RARE else ''}{most:.{digits}f}"


def _make_counts_table(audited: Audit, kinds: Sequence[Throws]) -> Table:
    names = {kind.name for kind in kinds}
    totals = {kind.name: int(kind.counts.sum()) for kind in kinds}
    rows = []
    for result in audited.results:
        if result.throws in names:
            total = totals[result.throws]
            rows.append(
                (
                    f"{result.throws}: {result.result}",
                    f"{result.seen:,}",
                    f"{result.expected:,.1f}",
                    f"{100 * result.seen / total:.2f}%",
                    f"{100 * result.expected / total:.2f}%",
                    "odd" if audited.is_unusual(result) else "",
                )
            )
    return Table(("", "seen", "fair", "seen", "fair", " "), rows)


def _describe_luck(luck: Luck, *, is_you: bool = False) -> str:
    """Return a sentence about the luck of a player.

    luck: the player's luck.
    is_you: whether the player is the reader, addressed as "you".

    >>> _describe_luck(Luck("Ada", 90, -12, -7.3, 4.0, 0.025, 0.98, 0, 0.0, 0.0))
    'Ada was unlucky: 7.3 armies worse than average, as bad as 1 game in 40.'
    >>> _describe_luck(Luck("", 3, 4, 2.7, 4.0, 0.79, 0.25, 0, 0.0, 0.0))
    'The attackers had ordinary luck: 2.7 armies better than average, as good as 1 game in 4.'
    """
    who = "You" if is_you else luck.player or "The attackers"
    were = "was" if luck.player and not is_you else "were"
    spread = luck.spread if _has_armies(luck) else luck.wins_spread
    if not spread:
        return f"{who} had no luck, good or bad: every result was certain."
    if _has_armies(luck):
        is_bad = luck.armies < 0
        off = f"{abs(luck.armies):,.1f} armies {'worse' if is_bad else 'better'} than average"
    else:
        is_bad = luck.wins < 0
        off = f"{abs(luck.wins):,.1f} wins {'fewer' if is_bad else 'more'} than average"
    chance, as_odd = (luck.as_bad, "bad") if is_bad else (luck.as_good, "good")
    games = _format_rarity(chance).replace(" in ", " games in " if chance > 0.35 else " game in ")
    kind = f"{were} {'unlucky' if is_bad else 'lucky'}"
    if chance * ORDINARY_GAMES > 1:
        kind = "had ordinary luck"
    return f"{who} {kind}: {off}, as {as_odd} as {games}."


def _has_armies(luck: Luck) -> bool:
    """Return whether a player's luck is known in armies, not only in wins."""
    return bool(luck.spread) or not luck.fights


def _make_luck_table(lucks: Sequence[Luck], noun: str) -> Table:
    """Return a table of the players' luck.

    noun: the heading for the number of throws if luck is only known in wins.
    """
    if not any(map(_has_armies, lucks)):
        won = [
            (
                luck.player or "attackers",
                f"{luck.throws:,}",
                f"{luck.wins:+,.2f}",
                f"{luck.wins / (luck.wins_spread or 1.0):+.2f}",
            )
            for luck in lucks
        ]
        return Table(("", noun, "luck", SPREADS), won)
    rows = []
    for luck in lucks:
        off = luck.armies / luck.spread if luck.spread else 0.0
        rows.append(
            (
                luck.player or "attackers",
                f"{luck.throws:,}",
                f"{luck.result:+,}",
                f"{luck.result - luck.armies:+,.1f}",
                f"{luck.armies:+,.1f}",
                f"{off:+.2f}",
                f"{luck.wins:+,.2f} won" if luck.fights else "",
            )
        )
    columns = ("", "throws", "result", "= skill", "+ luck", SPREADS, "and battles")
    if not any(luck.fights for luck in lucks):
        return Table(columns[:-1], [row[:-1] for row in rows])
    return Table(columns, rows)


def _list_power_lines(audited: Audit) -> Iterator[str]:
    level = audited.level / audited.test_count
    for kind in sorted(audited.throws, key=lambda kind: -int(kind.counts.sum()))[:MAX_KINDS]:
        bias = audited.find_detectable_bias(kind)
        off = f"not even {_name_results(kind)} off by {_format_points(MAX_BIAS)}"
        if bias is not None:
            off = f"{_name_results(kind)} off by {_format_points(bias)}"
        needed = round(count_throws_needed(0.01, kind.chances, level) * kind.dispersion)
        number = _describe_throws(kind, kind.kind.split(" ")[-1])
        yield f"{kind.name}: {off} with {number}; to notice 1% takes {needed:,}."


class PowerRow(NamedTuple):
    """A kind of throws for which detectable biases are reported.

    name: the name of the throws, such as "dice of 6 faces".
    chances: the chance of each result if the dice are fair.
    level: the largest p-value that counts as an alarm.
    """

    name: str
    chances: npt.NDArray[np.float64]
    level: float

    def find_bias(self, throw_count: int) -> float | None:
        return find_detectable_bias(throw_count, self.chances, self.level)

    def count_needed(self, bias: Fraction) -> int:
        return count_throws_needed(float(bias), self.chances, self.level)


def _list_kinds(rules: Rules, level: float, number_of_tests: int | None = None) -> list[PowerRow]:
    """Return the kinds of throws to report: dice, rolls with all dice, and battles.

    number_of_tests: the number of tests that share the level; `None` for the tests of a log with
        one kind of throws and one player.
    """
    faces = rules.attack.faces[0]
    kinds = []
    if faces <= MAX_FACES:
        name = "dice" if faces == 6 else f"dice of {faces} faces"
        kinds.append((name, DICE, np.full(faces, 1 / faces)))
    if rules.mode.dice_chosen_first:
        first, second = rules.full_roll
        chances = find_outcome_chances(Trial("roll", first, second, rules)).values()
        kinds.append((f"rolls of {first} against {second}", ROLLS, np.array([*chances])))
    kinds.append((BATTLES, BATTLES, np.full(BINS, 1 / BINS)))
    return [
        PowerRow(name, chances, level / (number_of_tests or count_tests(kind)))
        for name, kind, chances in kinds
    ]


def _make_power_sections(
    kinds: Sequence[PowerRow], rolls: Sequence[int], biases: Sequence[Fraction]
) -> Iterator[Section]:
    names = [kind.name for kind in kinds]
    seen = [
        (f"{number:,}", *(_format_bias(kind.find_bias(number)) for kind in kinds))
        for number in rolls
    ]
    needed = [
        (_format_points(float(bias)), *(f"{kind.count_needed(bias):,}" for kind in kinds))
        for bias in biases
    ]
    yield Section(
        [Table(("", *names), seen)], title="The smallest bias that is noticed nine times in ten:"
    )
    yield Section([Table(("bias", *names), needed)], title="How many are needed to notice a bias:")


def _format_bias(bias: float | None) -> str:
    return "none" if bias is None else _format_points(bias)


def _count_throws(number: int, name: str) -> str:
    """Return a number of throws with a noun.

    >>> _count_throws(1, "dice of 20 faces"), _count_throws(2, "dice")
    ('1 die of 20 faces', '2 dice')
    >>> _count_throws(1, "rolls of 3 against 2")
    '1 roll of 3 against 2'
    """
    many, *more = name.split(" ", 1)
    one = {"dice": "die"}.get(many, many.removesuffix("s"))
    return " ".join([f"{number:,}", one if number == 1 else many, *more])


class BiasRecord(KeyedRecord):
    """The smallest bias that a number of throws reveals."""

    throws: str = key(THROWS)
    count: Count = key("The number of throws.")
    bias: float | None = key("The bias that they detect; `null` if they detect no bias.")


class NeededRecord(KeyedRecord):
    """The number of throws needed to reveal a bias."""

    throws: str = key(THROWS)
    bias: float = key("The bias.")
    count: Count = key("The number of throws needed.")


class PowerRecord(KeyedRecord):
    """The smallest bias that each number of throws reveals, for `--power` without a log."""

    rules: str = key(RULES_KEY, is_repeated=True)
    level: Unit = key("The chance of a false alarm.")
    power: Unit = key("The chance to detect a bias of the stated size.")
    bias_seen: Sequence[BiasRecord] = key("The bias that each number of throws detects.")
    rolls_needed: Sequence[NeededRecord] = key("The number of throws needed for each bias.")


class PowerAnswer(Answer):
    """The smallest bias that each number of rolls reveals, and the rolls needed for each bias."""

    question: AuditQuestion

    @cached_property
    def kinds(self) -> list[PowerRow]:
        return _list_kinds(self.question.rule_set.rules, float(self.question.level))

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
                BiasRecord(throws=kind.name, count=rolls, bias=kind.find_bias(rolls))
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
            thrown = _count_throws(first.count_needed(question.bias), first.name)
            off = _format_points(float(question.bias))
            sentence = f"To notice {what} off by {off} nine times in ten takes {thrown}."
        else:
            number = question.rolls or USUAL_ROLLS[2]
            bias = first.find_bias(number)
            off = "no bias" if bias is None else f"{what} off by {_format_points(bias)}"
            thrown = _count_throws(number, first.name)
            sentence = f"With {thrown}, {off} would be noticed nine times in ten."
        yield Section([sentence])
        yield from _make_power_sections(self.kinds, self.rolls, self.biases)


@make_sections.register
def _(value: Audit) -> Iterator[Section]:
    return _make_sections(value)
