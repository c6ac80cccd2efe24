"""The tally of a log: running totals of results, of evidence against fair dice, and of luck."""

import math
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from iacta.fairness.e_values import Floats, Ints, log_evidence
from iacta.fairness.luck import Gain, Luck, measure_luck
from iacta.fairness.p_values import Finding, ThrowSequence, find_period
from iacta.fairness.tails import BETS, Tails, compute_bet_changes
from iacta.fairness.throws import (
    ATTACK,
    BATTLES,
    BINS,
    DEFENCE,
    DICE,
    IMPOSSIBLE,
    NO_PLAYER,
    NO_THROWS,
    ROLLS,
    Line,
    Registry,
    Throws,
)
from iacta.fairness.totals import Totals
from iacta.fairness.trials import Entry, Trial

# Only this many dice and rolls, at the start of a log, are searched for repeated sequences.
MAX_SEARCHED = {DICE: 2**19, ROLLS: 2**17}
MAX_MOMENTS = 512  # a curve of evidence or luck over time has at most about twice as many points
CURVES = 6  # maximum number of players whose luck is shown over time


class Moment(NamedTuple):
    """The evidence against fair dice and the luck after the first throws of a log.

    throws: the number of these throws.
    log_evidence: the natural logarithm of their e-value (see `iacta.fairness.e_values`).
    armies: the luck of each player in `Audit.players` in these throws, in armies.
    """

    throws: int
    log_evidence: float
    armies: tuple[float, ...]


class Evidence(NamedTuple):
    """The evidence against fair dice in the throws so far, as log E of several bets.

    E is the e-value of a bet (see `iacta.fairness.e_values`). The e-value of all bets together is
    the mean over the bets in `dice` times the weighted mean over the bets in `battles`, in which
    the bet on tenths has half the weight.

    dice: log E of a bet on the dice of rolls (on the losses if the dice are unknown), and of a bet
        on the losses of rolls. If the order of the throws is known, single dice count in both bets.
    battles: log E of the bets on battles and stated chances: first a bet on tenths (see
        `iacta.fairness.audit`), then bets on extreme results.
    most: the largest log E of all bets together so far.
    alarm: the number of throws after which E of all bets together reached 1 / level; `None` if it
        never did.
    """

    dice: Floats = np.zeros(2)
    battles: Floats = np.zeros(1 + BETS)
    most: float = 0.0
    alarm: int | None = None

    @property
    def log_e_value(self) -> float:
        """The natural logarithm of the e-value of all bets together."""
        return float(average_evidence(self.dice, self.battles))

    @classmethod
    def from_counts(cls, throws: list[Throws], tails: Floats) -> "Evidence":
        """Compute the evidence from counts, if the order of the throws is unknown.

        The first bet uses the losses of rolls only if no faces of dice are counted. The second bet
        ignores single dice.

        throws: the kinds of throw with their counts.
        tails: log E of each bet on extreme results.
        """
        dice = (ATTACK, DEFENCE)
        lost = (ROLLS,) if any(kind.kind in dice for kind in throws) else dice
        first, second, tenths = (
            math.fsum(
                log_evidence(kind.counts, kind.chances) for kind in throws if is_bet_on(kind.kind)
            )
            for is_bet_on in (
                lambda kind: kind not in (*lost, BATTLES),
                lambda kind: kind not in (*dice, BATTLES),
                lambda kind: kind == BATTLES,
            )
        )
        return cls(np.array([first, second]), np.array([tenths, *tails]))


def average_evidence(dice: Floats, battles: Floats) -> Floats:
    """Return the natural logarithm of the e-value of all bets together.

    dice: log E of the bets on dice and on losses of rolls, one per row.
    battles: log E of the bets on battles, one per row. The first row, the bet on tenths, has as
        much weight as all other rows together.
    """
    tails = np.logaddexp.reduce(battles[1:]) - math.log(len(battles) - 1)
    mean: Floats = np.logaddexp(*dice) + np.logaddexp(battles[0], tails) - math.log(4)
    return mean


@dataclass(frozen=True)
class Lines:
    """Consecutive lines of a log, in which repeated lines are stored only once.

    different: the different lines.
    indices: for each line, in the order of the log, its index in `different`.
    """

    different: list[Line]
    indices: Ints

    def make_column(self, name: str) -> Any:
        return np.array(list(map(attrgetter(name), self.different)))[self.indices]

    @cached_property
    def sides(self) -> list[tuple[Ints, Ints]]:
        """The dice of the attackers and of the defenders, as two arrays per side.

        The first array has the number of the kind of dice of each line, negative if the dice are
        unknown; the second array has a row for each line with the faces, padded with 0.
        """
        sides = []
        for side in (0, 1):
            kinds, thrown = zip(*(line.sides[side] for line in self.different), strict=True)
            table = np.zeros((len(thrown), max(1, *map(len, thrown))), dtype=np.int64)
            for row, dice in enumerate(thrown):
                table[row, : len(dice)] = dice
            sides.append((np.array(kinds)[self.indices], table[self.indices]))
        return sides


class Tally:
    """Adds up the counts, the evidence and the luck in a log, block by block.

    level: the accepted chance of a false alarm.
    rng: the generator of the random numbers v in `iacta.fairness.audit`.

    known: the players and the kinds of throw, with the counts of their results.
    lines: the number of dice, rolls, battles and attacks with stated chances so far.
    broken_off: the number of battles that the attackers stopped early; they are ignored.
    impossible: the number of throws whose result is impossible or too unlikely to compute.
    is_ordered: whether every line is a single throw; only then the order of the throws is known.
    evidence: the evidence against fair dice so far.
    moments: the evidence and luck at several points of the log, including the end.
    repeats: the throws in order, to be searched for repeated sequences.
    tails: the counts of results, to be tested for extreme results.
    totals: the sums of lines that state only total losses, winners or chances.
    chances: the number of attacks for which the log states only the chance of success.
    """

    def __init__(self, level: float, rng: "np.random.Generator") -> None:
        self.level, self.rng = level, rng
        self.known = Registry()
        self.lines = self.broken_off = self.impossible = 0
        self.is_ordered = True
        self.evidence = Evidence()
        self.moments: list[Moment] = []
        self.repeats = Repeats(self.known.throws, rng.spawn(1)[0])
        self.tails = Tails()
        self.totals = Totals()
        self.chances = 0
        # For each player: the sum of gains, and the count of each pair of a trial and a sign, which
        # is 1 if the player attacked and -1 if the player defended.
        self._gained: dict[int, Floats] = {}
        self._thrown: dict[int, Counter[tuple[Trial, int]]] = {}

    def add(self, entries: list[Entry], codes: Ints) -> None:
        """Add the lines of a block (see `iacta.fairness.log.Block`) to all counts and sums."""
        self.known.check_size(entries)
        used, counts = np.unique(codes, return_counts=True)
        numbers = {}
        for code, count in zip(used.tolist(), counts.tolist(), strict=True):
            line = self.known.find_line(entries[code])
            if line is None:
                self.broken_off += count * entries[code].times
                continue
            times = count * line.times
            self.chances += times if line.trial.kind == "chance" else 0
            self.totals.add(entries[code], line, count)
            self._add_luck(line, times)
            if line.trial.kind == "total":  # the e-values do not use total losses of many rolls
                self.is_ordered = False
                self.lines += times
            else:
                numbers[code] = line
                self.is_ordered &= line.times == 1
                self.tails.add(line, times)
        if not numbers:
            return
        kept = np.array([*numbers])
        lines = Lines([*numbers.values()], np.searchsorted(kept, codes[np.isin(codes, kept)]))
        factors = self._count_results(lines)
        if self.is_ordered:
            self._update_evidence(lines, factors)
            self.repeats.add_dice_and_rolls(lines)
        self.lines += int(lines.make_column("times").sum())

    def _count_results(self, lines: Lines) -> Floats:
        """Count the results of lines, and return the change of log E caused by each line.

        The array has three rows, one for each bet: on the dice of rolls (on the losses if the dice
        are unknown), on the losses of rolls, and on the tenths of battles (see
        `iacta.fairness.audit`). Single dice count in the first two rows.
        """
        kinds, players, times = (
            lines.make_column("throws"),
            lines.make_column("player"),
            lines.make_column("times"),
        )
        results = lines.make_column("result")
        is_possible = (results >= 0) & (kinds != NO_THROWS)
        self.impossible += int(times[results == IMPOSSIBLE].sum())
        factors = np.zeros((3, len(kinds)))
        for kind in np.unique(kinds[is_possible]).tolist():
            throws, rows = self.known.throws[kind], np.flatnonzero((kinds == kind) & is_possible)
            if throws.kind == BATTLES and not self.is_ordered:
                self._draw_repeated_battles(throws, lines, rows)
                continue
            if throws.kind == BATTLES:
                drawn = lines.make_column("start")[rows] + lines.make_column("width")[
                    rows
                ] * self.rng.random(len(rows))
                results[rows] = np.minimum((BINS * drawn).astype(np.int64), BINS - 1)
            bets = slice(2, 3) if throws.kind == BATTLES else slice(2)
            factors[bets, rows] += throws.add(
                results[rows], players[rows], times[rows], in_order=self.is_ordered
            )
        # The bet in the first row uses the dice of a roll if they are known, otherwise the losses.
        # `Throws.add` above used the losses, so replace its changes for rolls with known dice.
        rolls = [n for n, throws in enumerate(self.known.throws) if throws.kind == ROLLS]
        is_roll = np.isin(kinds, rolls)
        factors[0, is_roll & (np.maximum(*(kinds for kinds, _ in lines.sides)) >= 0)] = 0.0
        for dice_kinds, table in lines.sides:
            for kind in np.unique(dice_kinds[is_roll & (dice_kinds >= 0)]).tolist():
                rows = np.flatnonzero(dice_kinds == kind)
                dice = table[rows]
                owner = np.repeat(rows, (dice > 0).sum(axis=1))
                changed = self.known.throws[kind].add(
                    dice[dice > 0] - 1, players[owner], times[owner], in_order=self.is_ordered
                )
                factors[0] += np.bincount(owner, weights=changed, minlength=len(kinds))
        return factors

    def _draw_repeated_battles(self, throws: Throws, lines: Lines, rows: Ints) -> None:
        """Count the battles of lines that stand for several battles with the same result.

        The tenth (see `iacta.fairness.audit`) of each battle is drawn at random.
        """
        edges = np.arange(BINS + 1) / BINS
        for code, count in zip(*np.unique(lines.indices[rows], return_counts=True), strict=True):
            line = lines.different[code]
            ends = np.clip(edges, line.start, line.start + line.width)
            parts = np.maximum(np.diff(ends), 0.0)
            drawn = self.rng.multinomial(line.times * int(count), parts / parts.sum())
            throws.count_results(line.player)[:] += drawn

    def _update_evidence(self, lines: Lines, factors: Floats) -> None:
        """Update the evidence line by line, and add points to the curves of evidence and luck."""
        evidence = self.evidence
        dice = evidence.dice[:, None] + np.cumsum(factors[:2], axis=1)
        changes = np.zeros((1 + BETS, 1))
        if any(line.trial.kind in ("battle", "chance") for line in lines.different):
            tails = np.array([compute_bet_changes(line) for line in lines.different])[lines.indices]
            changes = np.vstack([factors[2:], tails.T])
        battles = evidence.battles[:, None] + np.cumsum(changes, axis=1)
        curve = average_evidence(dice, battles)
        reached, alarm = np.flatnonzero(curve >= -math.log(self.level)), evidence.alarm
        if alarm is None and len(reached):
            alarm = self.lines + int(reached[0]) + 1
        most = max(evidence.most, float(curve.max()))
        self.evidence = Evidence(dice[:, -1], battles[:, -1], most, alarm)
        attackers, defenders, luck = (
            lines.make_column("player"),
            lines.make_column("opponent"),
            lines.make_column("luck"),
        )
        before = self.moments[-1].armies if self.moments else (0.0,) * CURVES
        armies = [
            start + np.cumsum(luck * (attackers == player) - luck * (defenders == player))
            for player, start in enumerate(before)
        ]
        numbers, step = self.lines + 1 + np.arange(len(luck)), 1
        while int(numbers[-1]) // step > 2 * MAX_MOMENTS:
            step *= 2
        shown = np.flatnonzero((numbers % step == 0) | (numbers == numbers[-1]))
        rows = np.column_stack([make_column[shown] for make_column in (curve, *armies)]).tolist()
        self.moments = [moment for moment in self.moments if moment.throws % step == 0] + [
            Moment(number, log, tuple(luck))
            for number, (log, *luck) in zip(numbers[shown].tolist(), rows, strict=True)
        ]

    def _add_luck(self, line: Line, times: int) -> None:
        for player, sign in ((line.player, 1), (line.opponent, -1)):
            if line.gain is not None and player != NO_PLAYER:
                row = times * np.array(line.gain) * [1, sign, sign, 1, sign, 1]
                self._gained[player] = self._gained.get(player, 0.0) + row
                self._thrown.setdefault(player, Counter())[line.trial, sign] += times

    def measure_lucks(self) -> Iterator[Luck]:
        names = list(self.known.players)
        for player, gained in self._gained.items():
            yield measure_luck(names[player], Gain(*gained.tolist()), self._thrown[player])


class Repeats:
    """The dice and rolls of a log in order, to be searched for repeated sequences.

    throws: the kinds of throw in the log; a roll refers to its kind by the index in this list.
    rng: the random number generator that shuffles the dice within a roll. Most people write the
        largest die first, so the order within a roll means nothing.
    """

    def __init__(self, throws: list[Throws], rng: "np.random.Generator") -> None:
        self.throws, self.rng = throws, rng
        # Each array in `_dice` has a row (kind of throw, face) for each die. Each array in `_rolls`
        # has a row (kind of throw, number of the result, probability) for each roll.
        self._dice = [np.zeros((0, 2), dtype=np.int64)]
        self._rolls = [np.zeros((0, 3))]
        self._numbers: dict[Hashable, int] = {}

    def add_dice_and_rolls(self, lines: Lines) -> None:
        """Append the dice and rolls of lines, until there are as many as the search can use."""
        if sum(map(len, self._dice)) < MAX_SEARCHED[DICE]:
            sides = [
                np.broadcast_arrays(kinds[:, None], self.rng.permuted(table, axis=1))
                for kinds, table in lines.sides
            ]
            dice = np.dstack([np.hstack(pair) for pair in zip(*sides, strict=True)])
            self._dice.append(dice[dice[:, :, 1] > 0])
        if sum(map(len, self._rolls)) < MAX_SEARCHED[ROLLS]:
            rows = np.array([self._identify_roll(line) for line in lines.different])[lines.indices]
            self._rolls.append(rows[rows[:, 1] >= 0])

    def _identify_roll(self, line: Line) -> tuple[int, int, float]:
        """Return the kind of a roll, a number that identifies its result, and its probability.

        The result is the dice if they are known, otherwise the losses. For lines that are not
        rolls, and for impossible results, the kind and the number are −1.
        """
        if line.throws == NO_THROWS or line.result < 0:
            return -1, -1, 1.0
        throws, dice = self.throws[line.throws], line.sides
        if throws.kind != ROLLS:
            return -1, -1, 1.0
        result: Hashable = line.result
        chance = float(throws.chances[line.result])
        has_dice = min(kind for kind, _ in dice) >= 0
        if has_dice:
            result = tuple(tuple(sorted(faces)) for _, faces in dice)
            chance = math.prod(
                _compute_multiset_probability(faces, len(self.throws[kind].chances))
                for kind, faces in dice
            )
        number = self._numbers.setdefault((line.throws, result), len(self._numbers))
        return 2 * line.throws + has_dice, number, chance

    def run_tests(self) -> list[Finding]:
        """Test whether the dice or rolls repeat a sequence, if the log is long enough."""
        dice = np.concatenate(self._dice)[: MAX_SEARCHED[DICE]]
        rolls = np.concatenate(self._rolls)[: MAX_SEARCHED[ROLLS]]
        kinds, numbers = rolls[:, :2].astype(np.int64).T
        faces = np.array([len(kind.chances) for kind in self.throws])[dice[:, 0]]
        # The dice within a roll are shuffled, so a period counted in dice is not exact.
        about = " or so" if len(rolls) else ""
        codes = faces * faces.max(initial=0) + dice[:, 1]
        findings = find_period(
            [
                ThrowSequence(f"die{about}", f"dice{about}", faces, codes, 1 / faces),
                ThrowSequence("roll", "rolls", kinds, numbers, rolls[:, 2]),
            ]
        )
        return [] if findings is None else [findings]


def _compute_multiset_probability(dice: tuple[int, ...], faces: int) -> float:
    """Return the probability that fair dice show these faces, in any order.

    faces: the number of faces of a die.

    >>> round(1 / _compute_multiset_probability((3, 3, 6), 6), 9)
    72.0
    """
    orders = math.factorial(len(dice))
    for face in {*dice}:
        orders //= math.factorial(dice.count(face))
    return float(orders / faces ** len(dice))
