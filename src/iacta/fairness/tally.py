"""Tally: what a log adds up to, block by block: its counts, the evidence, and the luck."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from iacta.fairness.evidence import log_evidence
from iacta.fairness.fair import Finding, Followed, find_period
from iacta.fairness.luck import Luck, armies_gain, luck_of
from iacta.fairness.throws import (
    ATTACK,
    BATTLES,
    BINS,
    DEFENCE,
    DICE,
    NOBODY,
    ROLLS,
    Floats,
    Ints,
    Known,
    Line,
    Throws,
)

__all__ = ["CURVES", "Counts", "Course", "Evidence", "Lines", "Lucks", "Moment", "Repeats"]

MOST_FOLLOWED = {DICE: 2**19, ROLLS: 2**17}  # searched for a list that is used again
MOST_MOMENTS = 512
CURVES = 6  # players whose luck is followed


class Moment(NamedTuple):
    """The evidence and the luck after some throws.

    throws: how many lines of the log.
    log_evidence: the natural logarithm of the e-value.
    armies: the luck of the first players, in armies.
    """

    throws: int
    log_evidence: float
    armies: tuple[float, ...]


@dataclass(frozen=True)
class Lines:
    """Some lines of a log.

    before: how many throws came before them.
    different: the different lines.
    places: which of these each line is.
    """

    before: int
    different: list[Line]
    places: Ints

    def of(self, name: str) -> Any:
        """Return one thing about each line."""
        return np.array(list(map(attrgetter(name), self.different)))[self.places]

    def dice(self, thrown: list[tuple[int, ...]]) -> Ints:
        """Return the dice of each line, a row each, filled up with 0.

        thrown: those of the different lines.
        """
        table = np.zeros((len(thrown), max(1, *map(len, thrown))), dtype=np.int64)
        for row, dice in enumerate(thrown):
            table[row, : len(dice)] = dice
        return table[self.places]


@dataclass
class Counts:
    """How often each result came.

    throws: the kinds of throws.
    rng: draws the tenth that the result of a battle belongs to.
    impossible: how many throws have a result without a chance.
    """

    throws: list[Throws]
    rng: "np.random.Generator"
    impossible: int = 0

    def add(self, lines: Lines, *, in_order: bool) -> Floats:
        """Count lines, and return by how much each changes log E of two bets.

        in_order: whether each line is a single throw, and follows those before it; else nothing is
            known of the bets.

        In the first bet, the dice of rolls take the place of their losses.
        """
        kinds, players, times = lines.of("throws"), lines.of("player"), lines.of("times")
        is_possible = lines.of("is_possible")
        self.impossible += int(times[~is_possible].sum())
        factors = np.zeros((2, len(kinds)))
        for kind in np.unique(kinds).tolist():
            rows = np.flatnonzero((kinds == kind) & is_possible)
            throws = self.throws[kind]
            if throws.kind == BATTLES and not in_order:
                self._draw_several(throws, lines, rows)
                continue
            found = lines.of("result")[rows]
            if throws.kind == BATTLES:
                drawn = lines.of("start")[rows] + lines.of("width")[rows] * self.rng.random(
                    len(rows)
                )
                found = np.minimum((BINS * drawn).astype(np.int64), BINS - 1)
            if in_order:
                factors[:, rows] += throws.follow(found, players[rows])
            else:
                throws.count(found, players[rows], times[rows])
        self._add_dice(lines, factors, in_order)
        return factors

    def _draw_several(self, throws: Throws, lines: Lines, rows: Ints) -> None:
        """Count battles of which a line has several equal ones: each is drawn by itself."""
        edges = np.arange(BINS + 1) / BINS
        for code, count in zip(*np.unique(lines.places[rows], return_counts=True), strict=True):
            each = lines.different[code]
            ends = np.clip(edges, each.start, each.start + each.width)
            parts = np.maximum(np.diff(ends), 0.0)
            drawn = self.rng.multinomial(each.times * int(count), parts / parts.sum())
            throws.of(each.player)[:] += drawn

    def _add_dice(self, lines: Lines, factors: Floats, in_order: bool) -> None:
        players, times, sides = lines.of("player"), lines.of("times"), lines.of("dice")
        factors[0, sides.max(axis=1) >= 0] = 0.0
        for side, name in enumerate(("attack", "defence")):
            table = lines.dice([getattr(each, name) for each in lines.different])
            kinds = sides[:, side]
            for kind in np.unique(kinds[kinds >= 0]).tolist():
                rows = np.flatnonzero(kinds == kind)
                faces = table[rows]
                owner = np.repeat(rows, faces.shape[1])[faces.ravel() > 0]
                found = faces.ravel()[faces.ravel() > 0] - 1
                if not in_order:
                    self.throws[kind].count(found, players[owner], times[owner])
                    continue
                changed = self.throws[kind].follow(found, players[owner])
                factors[0] += np.bincount(owner, weights=changed, minlength=len(kinds))


@dataclass
class Evidence:
    """The evidence against fair dice while a log grows: the mean of two bets.

    logs: log E of each bet.
    most: the largest log E of both together.
    alarm: after how many throws it reached 1 / level.
    """

    level: float
    logs: Floats = field(default_factory=lambda: np.zeros(2))
    most: float = 0.0
    alarm: int | None = None

    def watch(self, before: int, factors: Floats) -> Floats:
        """Return log E after each of some throws, by how much each changes it."""
        logs = self.logs[:, None] + np.cumsum(factors, axis=1)
        curve: Floats = np.logaddexp(*logs) - math.log(2)
        self.logs = logs[:, -1]
        self.most = max(self.most, float(curve.max()))
        reached = np.flatnonzero(curve >= -math.log(self.level))
        if self.alarm is None and len(reached):
            self.alarm = before + int(reached[0]) + 1
        return curve

    def forget_order(self, throws: list[Throws]) -> None:
        """Take the evidence from the counts of a log whose order is not known."""
        self.alarm, self.most = None, 0.0
        dice = (ATTACK, DEFENCE)
        has_dice = any(each.kind in dice for each in throws)
        for bet, skipped in enumerate(((ROLLS,) if has_dice else dice, dice)):
            self.logs[bet] = math.fsum(
                log_evidence(each.counts, each.chances)
                for each in throws
                if each.kind not in skipped
            )

    @property
    def log(self) -> float:
        """The log E of both bets together."""
        return float(np.logaddexp(*self.logs)) - math.log(2)


@dataclass
class Course:
    """Evidence and luck at some moments.

    step: how many throws there are between two moments.
    armies: the luck of the first players.
    end: the last moment.
    """

    step: int = 1
    armies: Floats = field(default_factory=lambda: np.zeros(CURVES))
    end: Moment | None = None
    _kept: list[Moment] = field(default_factory=list)

    def follow(self, lines: Lines, evidence: Floats) -> None:
        """Go on with some lines, and the log E after each."""
        attackers, defenders, luck = lines.of("player"), lines.of("opponent"), lines.of("luck")
        curves = np.stack(
            [
                self.armies[player]
                + np.cumsum(luck * (attackers == player) - luck * (defenders == player))
                for player in range(CURVES)
            ]
        )
        numbers = lines.before + 1 + np.arange(len(luck))
        found = [
            Moment(number, log, tuple(armies))
            for number, log, armies in zip(
                *(each.tolist() for each in (numbers, evidence, curves.T)), strict=True
            )
            if number % self.step == 0
        ]
        while int(numbers[-1]) // self.step > 2 * MOST_MOMENTS:
            self.step *= 2
        self._kept = [each for each in (*self._kept, *found) if each.throws % self.step == 0]
        self.armies = curves[:, -1]
        self.end = Moment(int(numbers[-1]), float(evidence[-1]), tuple(self.armies.tolist()))

    @property
    def moments(self) -> tuple[Moment, ...]:
        """The moments, with the last."""
        is_new = self.end is not None and self.end not in self._kept
        return (*self._kept, self.end) if self.end is not None and is_new else tuple(self._kept)


@dataclass
class Lucks:
    """The luck of each player, by the player's number.

    sums: what the throws of each player add up to: throws, result, luck in armies, fights, luck in
        battles won, and its variance.
    thrown: how often each trial occurred to each player, with 1 for the attacker and -1 for the
        defender.
    """

    sums: dict[int, Floats] = field(default_factory=dict)
    thrown: dict[int, Counter[tuple[int, int]]] = field(default_factory=dict)

    def add(self, lines: Lines) -> None:
        """Add rolls and battles."""
        counts = np.bincount(lines.places, minlength=len(lines.different))
        for each, count in zip(lines.different, counts.tolist(), strict=True):
            for player, sign in ((each.player, 1), (each.opponent, -1)):
                if each.gain is not None and player != NOBODY:
                    gained, luck, is_fight, wins, variance = each.gain
                    row = [1, sign * gained, sign * luck, is_fight, sign * wins, variance]
                    times = count * each.times
                    self.sums[player] = self.sums.get(player, np.zeros(6)) + times * np.array(row)
                    self.thrown.setdefault(player, Counter())[each.trial, sign] += times

    def all(self, known: Known) -> Iterator[Luck]:
        """Yield the luck of each player."""
        names, trials = list(known.players), list(known.trials)
        for player, sums in self.sums.items():
            throws, result, armies, fights, wins, wins_variance = sums.tolist()
            mine = {(trials[trial], sign): n for (trial, sign), n in self.thrown[player].items()}
            variance = math.fsum(armies_gain(trial).variance * n for (trial, _), n in mine.items())
            spread, wins_spread = math.sqrt(variance), math.sqrt(max(wins_variance, 0.0))
            odds = luck_of(mine, int(result), spread)
            counted = names[player], int(throws), int(result), armies, spread
            yield Luck(*counted, *odds, int(fights), wins, wins_spread)


@dataclass
class Repeats:
    """The throws in their order, in which a list that is used again is looked for.

    throws: the kinds of throws.
    rng: shuffles the dice of a roll. Most people write them from the largest to the smallest, so
        that their order means nothing.
    """

    throws: list[Throws]
    rng: "np.random.Generator"
    _dice: list[Ints] = field(default_factory=list)
    _rolls: list[Ints] = field(default_factory=list)
    _marks: dict[Any, int] = field(default_factory=dict)
    _mark_chances: list[float] = field(default_factory=list)

    def follow(self, lines: Lines) -> None:
        """Go on with some lines, unless there are many already."""
        if sum(map(len, self._dice)) < MOST_FOLLOWED[DICE]:
            self._dice.append(self._thrown_dice(lines))
        if sum(map(len, self._rolls)) < MOST_FOLLOWED[ROLLS]:
            rows = np.array([self._mark(each) for each in lines.different])[lines.places]
            self._rolls.append(rows[rows[:, 1] >= 0])

    def findings(self) -> list[Finding]:
        """Return the finding, if there is enough to look at."""
        nothing = np.zeros((0, 2), dtype=np.int64)
        dice = np.concatenate([nothing, *self._dice])[: MOST_FOLLOWED[DICE]]
        rolls = np.concatenate([nothing, *self._rolls])[: MOST_FOLLOWED[ROLLS]]
        faces = np.array([len(each.chances) for each in self.throws])[dice[:, 0]]
        chances = np.array(self._mark_chances)[rolls[:, 1]]
        about = " or so" if len(rolls) else ""  # as the dice of a roll are shuffled
        codes = faces * faces.max(initial=0) + dice[:, 1]
        found = find_period(
            [
                Followed(f"die{about}", f"dice{about}", faces, codes, 1 / faces),
                Followed("roll", "rolls", rolls[:, 0], rolls[:, 1], chances),
            ]
        )
        return [] if found is None else [found]

    def _thrown_dice(self, lines: Lines) -> Ints:
        """Return the kinds and faces of all dice in their order."""
        kinds, faces = [], []
        for side in (0, 1):
            thrown = [self._of_side(each, side) for each in lines.different]
            table = lines.dice([dice for _, dice in thrown])
            faces.append(self.rng.permuted(table, axis=1) if table.shape[1] > 1 else table)
            kind = np.array([kind for kind, _ in thrown])[lines.places]
            kinds.append(np.repeat(kind[:, None], table.shape[1], axis=1))
        thrown_faces, thrown_kinds = np.hstack(faces).ravel(), np.hstack(kinds).ravel()
        found: Ints = np.column_stack([thrown_kinds, thrown_faces])[thrown_faces > 0]
        return found

    def _of_side(self, each: Line, side: int) -> tuple[int, tuple[int, ...]]:
        """Return the dice of one side that fall on all faces alike, and their kind."""
        if self.throws[each.throws].kind == DICE:
            return each.throws, () if side else (each.result + 1,)
        kind = each.dice[side]
        return kind, () if kind < 0 else (each.defence if side else each.attack)

    def _mark(self, each: Line) -> tuple[int, int]:
        """Return the kind of a roll, and the number of its result; −1 for what is not a roll.

        The result is its dice in any order, or its losses.
        """
        if self.throws[each.throws].kind != ROLLS or each.result < 0:
            return -1, -1
        has_dice = min(each.dice) >= 0
        dice = tuple(sorted(each.attack)), tuple(sorted(each.defence))
        key = each.throws, dice if has_dice else each.result
        if key not in self._marks:
            self._marks[key] = len(self._marks)
            chance = float(self.throws[each.throws].chances[each.result])
            if has_dice:
                faces = [len(self.throws[kind].chances) for kind in each.dice]
                chance = math.prod(map(_unordered, dice, faces))
            self._mark_chances.append(chance)
        return 2 * each.throws + has_dice, self._marks[key]


def _unordered(dice: tuple[int, ...], faces: int) -> float:
    """Return the probability of dice that fall on all faces alike, in any order.

    >>> round(1 / _unordered((3, 3, 6), 6), 9)
    72.0
    """
    orders = math.factorial(len(dice))
    for face in {*dice}:
        orders //= math.factorial(dice.count(face))
    return float(orders / faces ** len(dice))
