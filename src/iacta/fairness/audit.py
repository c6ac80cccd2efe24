"""The audit of a log: tests whether its dice were fair, and the luck of each player.

A throw is a single die, a roll or a whole battle. An audit reads the log once and stores only
counts, so the log may have any length. It counts the results by kind of throw (for example rolls of
3 dice against 2), by player, and by the previous result. It also adds up the evidence against fair
dice (see `e_values`) and the luck of each player (see `luck`). `p_values` tests the counts.

The result x of a battle is a pair of losses such as (3, 2): 3 attackers and 2 defenders. The
possible results are ordered from best to worst for the attackers, and each result is converted to a
number from 0 to 1:

    u = F(x) + v·P(x),

where F(x) is the probability of a better result, P(x) the probability of this result, and v a
random number from 0 to 1. If the dice are fair, u is uniformly distributed, whatever the numbers of
armies in the battle (Rosenblatt 1952; Brockwell 2007). All battles can therefore be counted as one
kind of throw with ten equally likely results, called tenths: u below 0.1 (the luckiest tenth), from
0.1 to 0.2, and so on.
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
    ORDER_TESTS,
    POWER,
    SHUFFLES,
    Finding,
    check_order,
    compare_players,
    compare_with_fair,
    compute_detectable_bias,
    correct_by_holm,
)
from iacta.fairness.tally import CURVES, Evidence, Moment, Tally
from iacta.fairness.throws import ATTACK, BATTLES, DEFENCE, KINDS, ROLLS, Throws
from iacta.fairness.totals import describe_limits
from iacta.fairness.trials import Notes
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.files import add_file_name
from iacta.inputs.meanings import Count
from iacta.inputs.reprs import DisplayMixin
from iacta.probability.chances import Chance, read_chance
from iacta.probability.estimate import CONFIDENCE, Interval
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

LEVEL = "1%"
MAX_DRAWS = 10**7  # upper limit of `draws`; simulating 10 million logs takes a few minutes


class ResultCount(NamedTuple):
    """How often one result of a kind of throw occurs, in the log and with fair dice.

    throws: the kind of throw, such as `3 v 2`.
    result: the name of the result, such as `lose 1, kill 1`.
    seen: the count of the result in the log.
    expected: the expected count with fair dice.
    low: the lower end of a confidence interval, estimated from `seen`, for the expected count with
        the dice of the log. The confidence level holds for the intervals of all results together.
    high: the upper end of the interval.
    """

    throws: str
    result: str
    seen: Count
    expected: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class Audit(DisplayMixin):
    """The result of an audit: whether the dice of a log were fair, and the luck of its players.

    level: the accepted chance of a false alarm: an alarm although the dice are fair.
    lines: the number of dice, rolls, battles and attacks with stated chances in the log.
    throws: each kind of throw in the log, with the counts of its results.
    findings: the outcome of each statistical test.
    corrected: the p-value of each finding, corrected for the number of tests by Holm's method.
    impossible: the number of throws whose result is impossible, or too unlikely to compute, under
        the rules.
    is_ordered: whether the log lists single throws in the order in which they were made.
    log_evidence: the natural logarithm of the e-value (see `e_values`) of the whole log.
    most_evidence: the natural logarithm of the largest e-value at any point of the log, or of the
        whole log if the order is unknown.
    alarm: the number of throws after which the e-value reached 1 / level; `None` if it never did or
        the order is unknown.
    moments: the evidence and luck at several points of the log; empty if the order is unknown.
    players: the names of the players in `moments`, in order of first appearance.
    player_p_values: for each of the 12 players with the most throws, the p-value of a comparison
        with all other players together; empty if the log names no players, or if only one player
        attacked.
    lucks: the luck of each player, or of the attackers if the log names no players; empty for a log
        of single dice.
    unread: the columns of the log that were ignored.
    remarks: sentences for the user about the layout of the log, and about its limits.
    skipped: for a recording of a game, the number of attacks that could not be used, by reason.
    broken_off: the number of battles that the attackers stopped early; they are ignored.
    chances: the number of attacks for which the log states only the chance of success before and
        after the attack.
    chance_spread: the standard deviation, with fair dice, of the number of successes among these
        attacks; `None` if some attacks are undecided.
    is_recording: whether the log is a recording of a game by RiskGameRecorder.
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
        """Whether a corrected p-value is at most the level, or some result is impossible."""
        return bool(self.impossible) or min(self.corrected, default=1.0) <= self.level

    @property
    def test_count(self) -> int:
        """The number of statistical tests of the log, but at least 1 (it is used as a divisor)."""
        return max(len(self.findings), 1)

    @cached_property
    def results(self) -> tuple[ResultCount, ...]:
        """The observed and expected count of each result, with confidence intervals."""
        cells = self.test_count * sum(len(kind.chances) for kind in self.throws)
        results = []
        for kind in self.throws:
            total, counts = kind.total, kind.counts.tolist()
            for name, count, chance in zip(kind.results, counts, kind.chances, strict=True):
                low, high = kind.compute_interval(count, 1 - self.level / cells)
                results.append(
                    ResultCount(
                        kind.name, name, count, total * float(chance), total * low, total * high
                    )
                )
        return tuple(results)

    def is_unusual(self, result: ResultCount) -> bool:
        """Return whether the count of a result may explain the alarm of the audit.

        The expected count with fair dice is then outside the confidence interval. The result is
        `False` if the audit raises no alarm.
        """
        return self.is_alarm and not result.low <= result.expected <= result.high

    def compute_fair_intervals(self) -> Iterator[Interval]:
        """Yield, for each result, the interval in which its count probably lies with fair dice.

        In 95 of 100 logs of fair dice, all counts lie in their intervals.
        """
        cells = sum(len(kind.chances) for kind in self.throws) or 1
        z = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / (2 * cells))
        for kind in self.throws:
            for chance in map(float, kind.chances):
                variance = kind.total * chance * (1 - chance) * kind.dispersion
                middle, half = kind.total * chance, z * sqrt(variance)
                yield Interval(max(middle - half, 0.0), min(middle + half, float(kind.total)))

    @property
    def largest(self) -> Throws | None:
        """The kind of throw with the most throws.

        `None` if no throws are counted, for example because the log states only chances.
        """
        return max(self.throws, key=lambda kind: kind.total, default=None)

    @property
    def detectable_chance_bias(self) -> float | None:
        """The smallest mean error of stated chances that the test of the number of wins detects.

        The error of a chance is the stated minus the true chance of success, so errors of opposite
        sign cancel. An error is detected if it raises an alarm with a probability of at least 90%.
        The value is `None` if only a mean error of at least 0.5 would be detected, if the log
        states no chances between 0 and 1, or if some attacks are undecided. The number of wins is
        treated as normally distributed.
        """
        if not self.chances or not self.chance_spread:
            return None
        normal = NormalDist()
        off = normal.inv_cdf(1 - self.level / self.test_count / 2) + normal.inv_cdf(POWER)
        bias = off * self.chance_spread / self.chances
        return bias if bias < 0.5 else None

    def compute_detectable_bias(self, throws: Throws) -> float | None:
        """Return the smallest bias of a kind of throw that a log of this length detects.

        throws: the kind of throw, one element of `Audit.throws`.

        The bias is the difference between the actual and the fair probability of one result. It is
        detected if it raises an alarm with a probability of at least 90%. The value is `None` if
        the log is too short to detect even a bias of 50 percentage points.
        """
        return compute_detectable_bias(
            throws.independent, throws.chances, self.level / self.test_count
        )


def audit(
    log: Log,
    *,
    rules: Rules | str = "classic",
    level: Chance = LEVEL,
    seed: int = 1,
    draws: int = DRAWS,
    progress: Callable[[int], None] | None = None,
) -> Audit:
    r"""Test whether the dice of a log were fair, and measure the luck of its players.

    log: the path of a file, the log as a string or bytes, or a list with one element per line: a
        mapping from columns to values, the face of a die, a line of text, or the dice of both
        sides. A recording by RiskGameRecorder is also a log.
    rules: the default for lines that do not name any rules: `Rules`, or the name of a rule set.
    level: the accepted chance of a false alarm: an alarm although the dice are fair.
    seed: the random seed for simulated logs.
    draws: the number of fair logs to simulate for a p-value that cannot be computed exactly.
    progress: a function that is called with the number of lines read so far, or `None`.

    A log that cannot be read raises `IactaError` with the line number.

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
    rng = np.random.default_rng(read_int(seed, "seed", minimum=0))
    draws = read_int(draws, "draws", minimum=1, maximum=MAX_DRAWS)
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
            ignored.append(f"{tally.broken_off} {were} stopped by the attackers")
        raise MalformedError("; ".join(["the log has no throws or battles to audit", *ignored]))
    return _make_audit(tally, notes, draws)


def count_tests(kind: str) -> int:
    """Return how many statistical tests apply to a log with one player and one kind of throw.

    kind: `"dice"`, `"rolls"` with known dice, or `"battles"`.

    >>> count_tests("dice"), count_tests("battles")
    (5, 7)
    """
    counted = [ATTACK, DEFENCE, ROLLS] if kind == ROLLS else [kind]
    # The luck of the attackers is tested for rolls and battles. The spread of the results and the
    # most extreme result are tested only for battles.
    tails = {ROLLS: 1, BATTLES: 3}.get(kind, 0)
    has_period_test = kind != BATTLES
    return len(counted) + len(ORDER_TESTS) + has_period_test + tails


def _make_audit(tally: Tally, notes: Notes, draws: int) -> Audit:
    """Run all statistical tests on the counts of a log, and return the audit."""
    used = sorted(
        (kind for kind in tally.known.throws if kind.total),
        key=lambda kind: (KINDS.index(kind.kind), [-ord(letter) for letter in kind.name]),
    )
    findings = [
        compare_with_fair(kind, list(parts), tally.rng, draws)
        for kind, parts in groupby(used, key=attrgetter("kind"))
    ]
    # The tests of order and of players count a roll as one result, not its single dice: the order
    # of dice within a roll means nothing, and `ATTACK` and `DEFENCE` credit all dice to the
    # attacking player.
    first = [kind for kind in used if kind.kind not in (ATTACK, DEFENCE)]
    shuffles = min(draws, SHUFFLES)
    # If the results are sorted, the log does not show the order in which the throws were made.
    is_sorted = bool(used) and all(kind.is_sorted(tally.level) for kind in used)
    is_ordered = tally.is_ordered and notes.has_order and not is_sorted
    if is_ordered:
        findings += check_order(first, tally.rng, shuffles)
        findings += tally.repeats.run_tests()
    names = list(tally.known.players)
    difference, by_player = compare_players(first, names, tally.rng, shuffles)
    findings += difference
    findings += tally.tails.run_tests()
    findings += tally.totals.run_tests(tally.rng, draws)
    evidence = tally.evidence if is_ordered else Evidence.from_counts(used, tally.tails.bets)
    used += tally.totals.list_throws()
    chances = tally.totals.chances
    return Audit(
        level=tally.level,
        lines=tally.lines,
        throws=tuple(used),
        findings=tuple(findings),
        corrected=tuple(correct_by_holm([finding.p_value for finding in findings])),
        impossible=tally.impossible,
        is_ordered=is_ordered,
        log_evidence=evidence.log_e_value,
        most_evidence=max(evidence.most, evidence.log_e_value),
        alarm=evidence.alarm,
        moments=tuple(tally.moments) if is_ordered else (),
        players=tuple(names[:CURVES]),
        player_p_values=by_player if any(names) else {},
        lucks=tuple(tally.measure_lucks()),
        unread=tuple(notes.unread),
        remarks=(*notes.remarks, *(() if tally.chances else describe_limits(used))),
        skipped=dict(notes.skipped),
        broken_off=tally.broken_off,
        chances=tally.chances,
        chance_spread=sqrt(chances.variance) if chances.is_decided else None,
        is_recording=notes.is_recording,
    )
