"""Audits in words: the alarm, the evidence, and tables of tests and counts."""

import math
from collections.abc import Iterator, Sequence
from operator import itemgetter

from iacta.fairness.audit import Audit
from iacta.fairness.p_values import Finding
from iacta.fairness.throws import ATTACK, DEFENCE, TOTALS, WINS, Throws
from iacta.fairness.totals import CHANCES
from iacta.forms.sections import Section, Table, make_sections
from iacta.forms.sentences import add_noun
from iacta.questions.audit.luck import describe_luck, has_armies, make_luck_table, sort_lucks
from iacta.questions.audit.phrases import (
    MAX_KINDS,
    MAX_NAMES,
    MIN_SHOWN_P_VALUE,
    describe_throws,
    format_points,
    format_rarity,
    name_results,
)
from iacta.questions.audit.power import list_power_lines

MAX_BIAS_SHOWN = 0.2  # a log is too short if it reveals only a larger bias
# Two-sided tests. The detail of the finding, such as "lucky", selects the message in ALARMS.
SIDED = ("luck", "spread")
# Tests whose message ends with the detail of the finding.
EXPLAINED = ("period", "players", "most extreme", "chances")
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
    "average": "too few battles end in a very lucky or unlucky result",
    "extreme": "too many battles end in a very lucky or unlucky result",
    "most extreme": "one battle has a result that is too unlikely",
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


@make_sections.register
def list_audit_sections(audited: Audit) -> Iterator[Section]:
    """Yield the sections of an audit; the first section starts with `audit_sentence`."""
    lucks = sort_lucks(audited)
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
        sentences = [describe_luck(luck) for luck in lucks[:MAX_NAMES]] if len(lucks) < 3 else []
        title = "Luck, in armies:" if any(map(has_armies, lucks)) else "Luck, in wins:"
        noun = "chances" if audited.chances else "battles"
        yield Section([*sentences, make_luck_table(lucks[:MAX_NAMES], noun)], title=title)
    if kinds:
        yield Section(
            list(list_power_lines(audited)),
            title="What would be noticed in this log nine times in ten:",
        )


def audit_sentence(audited: Audit) -> str:
    """Return a sentence on whether the dice look fair."""
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
        odds = format_rarity(_bound_p_value(worst, corrected), is_most=worst.interval is not None)
        alarm = ALARMS[worst.detail if worst.question in SIDED else worst.question]
        more = f", {worst.detail}" if worst.question in EXPLAINED else ""
        return (
            f"These dice do not look fair: {alarm}{more}. Among fair logs, {odds} look this "
            "unusual."
        )
    throws, what, bias = _compute_noticeable_bias(audited)
    needed = -math.log(audited.level)
    has_evidence = audited.alarm is not None or audited.log_evidence >= needed
    head = "No test raises an alarm" if has_evidence else "Nothing points to unfair dice"
    if bias is None or bias > MAX_BIAS_SHOWN:
        return f"{head}, but {throws} {_describe_shortage(throws)} to tell."
    off = f"{what} off by {format_points(bias)}"
    return f"{head}: with {throws}, {off} would be noticed nine times in ten."


def _describe_shortage(amount: str) -> str:
    """Return the verb phrase after a number of throws, such as "are too few".

    >>> _describe_shortage("17 dice"), _describe_shortage("the loss of 5 armies")
    ('are too few', 'is not enough')
    """
    is_singular = amount.startswith(("1 ", "the ")) and " and " not in amount
    return "is not enough" if is_singular else "are too few"


def _compute_noticeable_bias(audited: Audit) -> tuple[str, str, float | None]:
    """Return the number of throws of the largest kind, the biased quantity, and its smallest bias.

    The bias is the smallest bias that these throws reveal.
    """
    largest = audited.largest
    if largest is None or largest.total < audited.chances:
        chances = f"{audited.chances:,} {'chance' if audited.chances == 1 else 'chances'}"
        return chances, "wins", audited.detectable_chance_bias
    dice = [describe_throws(kind) for kind in audited.throws if kind.kind in (ATTACK, DEFENCE)]
    bias = audited.compute_detectable_bias(largest)
    is_shown = bias is not None and bias <= MAX_BIAS_SHOWN
    throws = describe_throws(largest) if is_shown or not dice else " and ".join(dice)
    return throws, name_results(largest), bias


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
    most = _bound_p_value(finding, p_value) if is_below else max(p_value, MIN_SHOWN_P_VALUE)
    digits = 3 if most >= 0.01 else 5
    if is_below:
        return f"< {math.ceil(most * 10**digits) / 10**digits:.{digits}f}"
    return f"{'< ' if p_value < MIN_SHOWN_P_VALUE else ''}{most:.{digits}f}"


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
