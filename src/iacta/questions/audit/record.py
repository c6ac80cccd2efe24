"""Audits as records in JSON, for programs that read the answer."""

import math
from collections.abc import Iterable, Mapping, Sequence

from iacta.fairness.audit import Audit, ResultCount
from iacta.fairness.luck import Luck
from iacta.fairness.p_values import INTERVAL_LEVEL, Finding
from iacta.forms.record import RULES_KEY, IntervalRecord, KeyedRecord, Repeated, key
from iacta.inputs.meanings import Count, Unit

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


def audit_record(audited: Audit, question: Repeated, lucks: Iterable[Luck]) -> AuditRecord:
    """Return an audit as a record.

    audited: the audit.
    question: the question, whose rules the record repeats.
    lucks: the luck of each player, in the order of the record.
    """
    return AuditRecord.from_attributes(
        audited,
        question,
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
                MomentRecord(throws=moment.throws, e_value=_compute_e_value(moment.log_evidence))
                for moment in audited.moments
            ],
        ),
        players=[_make_luck_record(audited, luck) for luck in lucks],
        power=[
            SeenRecord(
                throws=kind.name,
                count=int(kind.counts.sum()),
                bias_seen=audited.compute_detectable_bias(kind),
            )
            for kind in audited.throws
        ],
        not_told=audited.skipped,
    )


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
