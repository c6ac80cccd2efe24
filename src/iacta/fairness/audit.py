"""Audit: whether dice were fair, and how lucky their players.

A log is read once, from its first line to its last, and only counted, so that its length does not
matter. What is kept is how often each result came in each kind of throw, to whom, and after which
result; the evidence against fair dice; and the luck of each player. From these counts
`p_values` answers the questions, and one sentence says whether any of them raises an alarm.

A battle has a single result, such as (3, 0): 3 attackers lost, no defender left. Its place among
all results of such a battle, the best for the attackers first, is turned into a number from 0 to 1:

    u = F(x) + v·P(x),

where F(x) is the probability of better results, P(x) that of this one, and v is a random number
from 0 to 1. If the results have the probabilities that they should have, u is uniform whatever the
armies were (Rosenblatt 1952; Brockwell 2007), so that battles of all sizes are one kind of throw:
each tenth of the results, from the luckiest to the unluckiest, comes as often as each other.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import sqrt
from operator import attrgetter
from os import PathLike
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from iacta.fairness.log import Log, read_log
from iacta.fairness.luck import Luck
from iacta.fairness.p_values import (
    DRAWS,
    ORDER,
    POWER,
    SHUFFLES,
    Finding,
    bias_seen,
    compare_players,
    compare_with_fair,
    holm,
    look_at_order,
)
from iacta.fairness.tally import CURVES, Evidence, Moment, Tally
from iacta.fairness.throws import ATTACK, BATTLES, DEFENCE, KINDS, ROLLS, Throws
from iacta.fairness.totals import describe_limits
from iacta.fairness.trials import Notes
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.files import add_file_name
from iacta.inputs.reprs import DisplayMixin
from iacta.probability.chances import Chance, read_chance
from iacta.probability.estimate import CONFIDENCE, Interval
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

LEVEL = "1%"
MAX_DRAWS = 10**7  # simulated logs: some minutes


class ResultCount(NamedTuple):
    """How often one result came.

    throws: of which throws, such as `3 v 2`.
    result: the result, such as `lose 1, kill 1`.
    seen: how often it came.
    expected: how often it comes on average with fair dice.
    low, high: the confidence interval for the expected number, for all results at once.
    """

    throws: str
    result: str
    seen: int
    expected: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class Audit(DisplayMixin):
    """Whether a log is one of fair dice.

    level: the chance of a false alarm.
    lines: how many throws and battles the log has.
    throws: the kinds of throws in it.
    findings: the questions that were asked.
    corrected: their p-values, corrected for their number by Holm.
    impossible: throws whose result is impossible, or too unlikely to compute, under the rules.
    is_ordered: whether the log has its throws one by one, in the order they were made.
    log_evidence: the natural logarithm of the e-value in the end.
    most_evidence: the largest that it ever was.
    alarm: after how many throws the e-value reached 1 / level, `None` if it never did.
    moments: evidence and luck over time.
    players: the first players, in the order of `moments`.
    player_p_values: how odd the difference of each player from all others is.
    lucks: the luck of each player, that of the attackers if there are no names.
    unread: columns of the log that are ignored.
    remarks: sentences on the layout of the log and on its limits.
    skipped: what is not clear from a recording, and how often.
    broken_off: battles that attackers left before their end; only their choice decided when.
    chances: lines that have nothing but the chance to succeed, before and after.
    chance_spread: the standard deviation of their wins, `None` if some are still open.
    is_recording: whether the log is the recording of a game.
    """

    level: float
    lines: int
    throws: tuple[Throws, ...]
    findings: tuple[Finding, ...]
    corrected: tuple[float, ...]
    impossible: int
    is_ordered: bool
    log_evidence: float
    most_evidence: float
    alarm: int | None
    moments: tuple[Moment, ...]
    players: tuple[str, ...]
    player_p_values: dict[str, float]
    lucks: tuple[Luck, ...]
    unread: tuple[str, ...]
    remarks: tuple[str, ...]
    skipped: dict[str, int]
    broken_off: int
    chances: int
    chance_spread: float | None
    is_recording: bool

    def _summary(self) -> str:
        return f"{self.lines} throws, {'an alarm' if self.is_alarm else 'no alarm'}"

    @property
    def is_alarm(self) -> bool:
        """Whether the dice do not look fair: a corrected p-value is at most the level."""
        return bool(self.impossible) or min(self.corrected, default=1.0) <= self.level

    @property
    def questions(self) -> int:
        """How many questions were asked."""
        return max(len(self.findings), 1)

    @cached_property
    def results(self) -> tuple[ResultCount, ...]:
        """How often each result came, with intervals that are right for all at once."""
        cells = self.questions * sum(len(kind.chances) for kind in self.throws)
        results = []
        for kind in self.throws:
            total, counts = kind.total, kind.counts.tolist()
            for name, count, chance in zip(kind.results, counts, kind.chances, strict=True):
                low, high = kind.interval(count, 1 - self.level / cells)
                results.append(
                    ResultCount(
                        kind.name, name, count, total * float(chance), total * low, total * high
                    )
                )
        return tuple(results)

    def is_odd(self, result: ResultCount) -> bool:
        """Return whether a result is part of the reason for an alarm."""
        return self.is_alarm and not result.low <= result.expected <= result.high

    def fair_counts(self) -> Iterator[Interval]:
        """Yield between which counts each result lies, so that all do in 95 of 100 fair logs."""
        cells = sum(len(kind.chances) for kind in self.throws) or 1
        z = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / (2 * cells))
        for kind in self.throws:
            for chance in map(float, kind.chances):
                variance = kind.total * chance * (1 - chance) * kind.dispersion
                middle, half = kind.total * chance, z * sqrt(variance)
                yield Interval(max(middle - half, 0.0), min(middle + half, float(kind.total)))

    @property
    def largest(self) -> Throws | None:
        """The kind of throws of which there are the most, `None` for a log of chances."""
        return max(self.throws, key=lambda kind: kind.total, default=None)

    @property
    def chance_bias_seen(self) -> float | None:
        """The bias of chances that this log detects nine times in ten, `None` if none.

        The number of wins is as good as normal.
        """
        if not self.chances or not self.chance_spread:
            return None
        normal = NormalDist()
        off = normal.inv_cdf(1 - self.level / self.questions / 2) + normal.inv_cdf(POWER)
        bias = off * self.chance_spread / self.chances
        return bias if bias < 0.5 else None

    def bias_seen(self, throws: Throws) -> float | None:
        """Return the bias that this log detects nine times in ten.

        throws: the kind of throws.
        """
        return bias_seen(throws.independent, throws.chances, self.level / self.questions)


def audit(
    log: Log,
    *,
    rules: Rules | str = "classic",
    level: Chance = LEVEL,
    seed: int = 1,
    draws: int = DRAWS,
    progress: Callable[[int], None] | None = None,
) -> Audit:
    r"""Return whether a log is one of fair dice, and how lucky its players were.

    log: the path of a file; the log itself as a text; or rows, each a mapping from the names of
        columns, or the face of a die.
    rules: `Rules` or the name of a rule set, where a line names none.
    level: the chance of a false alarm.
    seed: that of the random numbers of simulated logs.
    draws: how many fair logs are simulated for a p-value that is not exact.
    progress: is called with the number of lines read so far; `None` for none.

    A log that cannot be read is refused, with the line.

    >>> audited = audit("die\n" + "6\n" * 9)
    >>> audited.is_alarm, audited.lines
    (True, 9)
    """
    if progress is not None and not callable(progress):
        raise MalformedError(f"progress must be a function, got {quote(progress)}")
    rules = find_rules(rules)
    false_alarms = float(read_chance(level, "level"))
    if false_alarms < 1e-9:
        raise IllegalError(f"level must be at least 1e-9, got {quote(level)}", parameter="level")
    rng = np.random.default_rng(read_int(seed, "seed", least=0))
    draws = read_int(draws, "draws", least=1, most=MAX_DRAWS)
    notes, tally = Notes(), Tally(false_alarms, rng)
    with add_file_name(log, "log") if isinstance(log, PathLike) else nullcontext():
        for block in read_log(log, rules, notes):
            tally.add(block.entries, block.codes)
            if progress is not None:
                progress(tally.lines)
    if not tally.lines:
        ignored = [f"{count} {why}" for why, count in notes.skipped.items()]
        if tally.broken_off:
            were = "battle was" if tally.broken_off == 1 else "battles were"
            ignored.append(f"{tally.broken_off} {were} broken off: when to stop was a choice")
        raise MalformedError("; ".join(["the log has no throws or battles to audit", *ignored]))
    return _judged(tally, notes, draws)


def questions_of(kind: str) -> int:
    """Return how many questions a log of one player and one kind of throws is asked.

    kind: `"dice"`, `"rolls"` whose dice are known, or `"battles"`.

    >>> questions_of("dice"), questions_of("battles")
    (5, 7)
    """
    counted = [ATTACK, DEFENCE, ROLLS] if kind == ROLLS else [kind]
    tails = {ROLLS: 1, BATTLES: 3}.get(kind, 0)  # luck; spread and the most extreme battle
    return len(counted) + len(ORDER) + (kind != BATTLES) + tails  # a list used again


def _judged(tally: Tally, notes: Notes, draws: int) -> Audit:
    """Return the answers to the questions that are asked of a log."""
    used = sorted(
        (kind for kind in tally.known.throws if kind.total),
        key=lambda kind: (KINDS.index(kind.kind), [-ord(letter) for letter in kind.name]),
    )
    findings = [
        compare_with_fair(kind, list(parts), tally.rng, draws)
        for kind, parts in groupby(used, key=attrgetter("kind"))
    ]
    # The dice of rolls have no order, and belong to the players of the rolls.
    first = [kind for kind in used if kind.kind not in (ATTACK, DEFENCE)]
    shuffles = min(draws, SHUFFLES)
    # Who sorts a log has not watched it grow either.
    is_sorted = bool(used) and all(kind.is_sorted(tally.level) for kind in used)
    is_ordered = tally.is_ordered and not is_sorted
    if is_ordered:
        findings += look_at_order(first, tally.rng, shuffles)
        findings += tally.repeats.findings()
    names = list(tally.known.players)
    difference, by_player = compare_players(first, names, tally.rng, shuffles)
    findings += difference
    findings += tally.tails.findings()
    findings += tally.totals.findings(tally.rng, draws)
    evidence = tally.evidence if is_ordered else Evidence.from_counts(used, tally.tails.bets)
    used += tally.totals.throws()
    chances = tally.totals.chances
    return Audit(
        level=tally.level,
        lines=tally.lines,
        throws=tuple(used),
        findings=tuple(findings),
        corrected=tuple(holm([finding.p_value for finding in findings])),
        impossible=tally.impossible,
        is_ordered=is_ordered,
        log_evidence=evidence.log,
        most_evidence=max(evidence.most, evidence.log),
        alarm=evidence.alarm,
        moments=tuple(tally.moments) if is_ordered else (),
        players=tuple(names[:CURVES]),
        player_p_values=by_player if any(names) else {},
        lucks=tuple(tally.lucks()),
        unread=tuple(notes.unread),
        remarks=(*notes.remarks, *(() if tally.chances else describe_limits(used))),
        skipped=dict(notes.skipped),
        broken_off=tally.broken_off,
        chances=tally.chances,
        chance_spread=sqrt(chances.variance) if chances.is_decided else None,
        is_recording=notes.is_recording,
    )
