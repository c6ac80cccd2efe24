"""Audit: whether dice were fair, and how lucky their players.

A log is read once, from its first line to its last, and only counted, so that its length does not
matter. What is kept is how often each result came in each kind of throw, to whom, and after which
result; the evidence against fair dice; and the luck of each player. From these counts
`audit_fair` answers the questions, and one sentence says whether any of them raises an alarm.

A battle has a single result, such as (3, 0): 3 attackers lost, no defender left. Its place among
all results of such a battle, the best for the attackers first, is turned into a number from 0 to 1:

    u = F(x) + v·P(x),

where F(x) is the probability of better results, P(x) that of this one, and v is a random number
from 0 to 1. If the results have the probabilities that they should have, u is uniform whatever the
armies were (Rosenblatt 1952; Brockwell 2007), so that battles of all sizes are one kind of throw:
each tenth of the results, from the luckiest to the unluckiest, comes as often as each other.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.checks import Chance, read_chance, shown, whole_number
from iacta.display import Displayed
from iacta.errors import IllegalError, MalformedError, TooLargeError
from iacta.estimate import Estimate, Interval
from iacta.fairness.evidence import log_evidence, log_factors
from iacta.fairness.fair import (
    DRAWS,
    ORDER,
    SHUFFLES,
    Counted,
    Finding,
    Followed,
    bias_seen,
    compare_players,
    compare_with_fair,
    find_period,
    holm,
    look_at_order,
)
from iacta.fairness.log import Log, read_log
from iacta.fairness.luck import Luck, armies_gain, chance_gain, luck_of
from iacta.fairness.trials import Entry, Notes, Trial, outcomes
from iacta.files import in_file
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules, rules_name

__all__ = ["Audit", "Moment", "Result", "Throws", "audit", "questions_of"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEVEL = "1%"
BINS = 10
MOST_FOLLOWED = {"dice": 2**19, "rolls": 2**17}  # searched for a list that is used again
MOST_PLAYERS = 1000
MOST_DRAWS = 10**7
MOST_TRIALS = 20_000
MOST_SEEN = 2**18
MOST_ARMIES = 250_000  # in all different battles: about a minute of work
ROLL_OF_BATTLE = 40  # as many rolls with armies take as long as a battle
MOST_COMPARED = 12  # players
MOST_MOMENTS = 512
CURVES = 6  # players whose luck is followed
NOBODY = -1
ATTACK, DEFENCE, DICE, ROLLS, BATTLES = "attack dice", "defence dice", "dice", "rolls", "battles"
KINDS = (DICE, ATTACK, DEFENCE, ROLLS, BATTLES)


class Result(NamedTuple):
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


class Moment(NamedTuple):
    """The evidence and the luck after some throws.

    throws: how many lines of the log.
    log_evidence: the natural logarithm of the e-value.
    armies: the luck of the first players, in armies.
    """

    throws: int
    log_evidence: float
    armies: tuple[float, ...]


@dataclass(eq=False)
class Throws:
    """One kind of throws, and what came of them.

    kind: `"dice"`, `"attack dice"`, `"defence dice"`, `"rolls"` or `"battles"`.
    name: what people call it.
    results: what they call its results.
    chances: how likely fair dice give each.
    scores: a number for each, the larger the better for the attackers.
    by_player: how often each came to each player, by the player's number.
    pairs: how often each was followed by each other, `None` if the order is not known.
    last: the last result, -1 if there was none.
    """

    kind: str
    name: str
    results: tuple[str, ...]
    chances: Floats
    scores: Floats
    by_player: dict[int, Ints] = field(default_factory=dict)
    pairs: Ints | None = None
    last: int = -1

    @property
    def counts(self) -> Ints:
        """How often each result came."""
        total = np.zeros(len(self.chances), dtype=np.int64)
        for counts in self.by_player.values():
            total += counts
        return total

    def is_sorted(self, level: float) -> bool:
        """Return whether single dice go from the smallest to the largest, or the other way round.

        level: the chance of that which is too small for dice in the order they were thrown.
        """
        if self.kind != DICE or self.pairs is None:
            return False
        if np.tril(self.pairs, -1).any() == np.triu(self.pairs, 1).any():
            return False
        orders = math.lgamma(self.counts.sum() + 1) - sum(map(math.lgamma, self.counts + 1))
        return orders >= math.log(2 / level)

    def counted(self, *, is_ordered: bool) -> Counted:
        """Return the counts as tests take them."""
        return Counted(self.counts, self.chances, self.scores, self.pairs if is_ordered else None)


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Displayed):
    """Whether a log is one of fair dice.

    level: the chance of a false alarm.
    lines: how many throws and battles the log has.
    throws: the kinds of throws in it.
    findings: the questions that were asked.
    corrected: their p-values, corrected for their number by Holm.
    impossible: throws whose result has no chance under the rules.
    is_ordered: whether the log has its throws one by one, in the order they were made.
    log_evidence: the natural logarithm of the e-value in the end.
    most_evidence: the largest that it ever was.
    alarm: after how many throws the e-value reached 1 / level, `None` if it never did.
    moments: evidence and luck over time.
    players: the first players, in the order of `moments`.
    player_p_values: how odd the difference of each player from all others is.
    lucks: the luck of each player, that of the attackers if there are no names.
    unread: columns of the log that are ignored.
    skipped: what is not clear from a recording, and how often.
    broken_off: battles that attackers left before their end; only their choice decided when.
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
    skipped: dict[str, int]
    broken_off: int
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
    def results(self) -> tuple[Result, ...]:
        """How often each result came, with intervals that are right for all at once."""
        # Among all questions, so that none is off where the log as a whole raises no alarm.
        cells = self.questions * sum(len(each.chances) for each in self.throws)
        found = []
        for each in self.throws:
            counts = each.counts
            total = int(counts.sum())
            for name, count, chance in zip(
                each.results, counts.tolist(), each.chances, strict=True
            ):
                low, high = Interval(0.0, 1.0)
                if total:
                    low, high = Estimate(total, count).interval(1 - self.level / cells)
                found.append(
                    Result(each.name, name, count, total * float(chance), total * low, total * high)
                )
        return tuple(found)

    @property
    def largest(self) -> Throws:
        """The kind of throws of which there are the most."""
        return max(self.throws, key=lambda each: int(each.counts.sum()))

    def bias_seen(self, throws: Throws) -> float | None:
        """Return the bias that this log detects nine times in ten.

        throws: the kind of throws.
        """
        total = int(throws.counts.sum())
        return bias_seen(total, throws.chances, self.level / self.questions)


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

    >>> found = audit("die\n" + "6\n" * 9)
    >>> found.is_alarm, found.lines
    (True, 9)
    """
    if progress is not None and not callable(progress):
        raise MalformedError(f"progress must be a function, got {shown(progress)}")
    found = find_rules(rules)
    false_alarms = float(read_chance(level, "level"))
    if false_alarms < 1e-9:
        raise IllegalError(f"level must be at least 1e-9, got {shown(level)}")
    rng = np.random.default_rng(whole_number(seed, "seed", least=0))
    notes = Notes()
    tally = _Tally(false_alarms, rng, whole_number(draws, "draws", least=1, most=MOST_DRAWS))
    with in_file(log, "log") if isinstance(log, PathLike) else nullcontext():
        for block in read_log(log, found, notes):
            tally.add(block.entries, block.codes)
            if progress is not None:
                progress(tally.lines)
    if not tally.lines:
        ignored = [f"{count} {why}" for why, count in notes.skipped.items()]
        if notes.broken_off:
            were = "battle was" if notes.broken_off == 1 else "battles were"
            ignored.append(f"{notes.broken_off} {were} broken off: when to stop was a choice")
        raise MalformedError("; ".join(["the log has no throws or battles to audit", *ignored]))
    return tally.result(notes)


def questions_of(kind: str) -> int:
    """Return how many questions a log of one player and one kind of throws is asked.

    kind: `"dice"`, `"rolls"` whose dice are known, or `"battles"`.

    >>> questions_of("dice"), questions_of("battles")
    (5, 4)
    """
    counted = [ATTACK, DEFENCE, ROLLS] if kind == ROLLS else [kind]
    return len(counted) + len(ORDER) + (kind != BATTLES)  # a list used again


class _Seen(NamedTuple):
    """What an entry adds to the tally."""

    throws: int
    result: int  # of a battle -1: it is drawn
    start: float
    width: float
    player: int
    opponent: int
    trial: int
    armies: float
    gained: int
    wins: float
    wins_variance: float
    is_fight: bool
    attack: tuple[int, ...]
    defence: tuple[int, ...]
    dice: tuple[int, int]  # the kinds of throws of attack and defence dice
    is_possible: bool
    times: int


class _Tally:
    """Counts a log block by block."""

    def __init__(self, level: float, rng: np.random.Generator, draws: int) -> None:
        self.level, self.rng, self.draws = level, rng, draws
        self.throws: list[Throws] = []
        self.places: dict[Any, int] = {}
        self.players: dict[str, int] = {}
        self.trials: dict[Trial, int] = {}
        self.weighed: set[Any] = set()
        self.weight = 0.0
        self.seen: dict[Entry, _Seen] = {}
        self.fought: dict[tuple[int, int, int], int] = {}
        self.sums: dict[int, Floats] = {}
        self.lines = self.impossible = 0
        self.is_ordered = True
        self.logs = np.zeros(2)
        self.has_dice = False
        self.most = 0.0
        self.alarm: int | None = None
        self.step = 1
        self.moments: list[Moment] = []
        self.shuffling = rng.spawn(1)[0]
        self.followed: dict[str, list[Ints]] = {name: [] for name in MOST_FOLLOWED}
        self.marks: dict[Any, int] = {}
        self.mark_chances: list[float] = []
        self.armies = np.zeros(CURVES)
        self.curve = np.zeros(0)
        self.end = Moment(0, 0.0, ())

    def add(self, entries: list[Entry], codes: Ints) -> None:
        """Count a block."""
        self._weigh(entries)
        used, places = np.unique(codes, return_inverse=True)
        found = [self._seen(entries[code]) for code in used.tolist()]
        is_used = np.array([each is not None for each in found], dtype=bool)
        rows = np.flatnonzero(is_used[places]) if len(places) else places
        seen = [each for each in found if each is not None]
        if not len(rows):
            return
        places = (np.cumsum(is_used) - 1)[places[rows]]
        times = np.array([each.times for each in seen], dtype=np.int64)
        self._count(seen, places, times)
        if self.is_ordered and (times != 1).any():
            self.is_ordered = False
        self._luck(seen, places, times)
        self._follow(seen, places, times)
        self.lines += int(times[places].sum())

    def _weigh(self, entries: list[Entry]) -> None:
        """Refuse battles whose distributions take too long, before the first is found."""
        for entry in entries:
            key = entry.trial, entry.fought, entry.ahead
            if entry.trial is None or entry.fought is None or key in self.weighed:
                continue
            self.weighed.add(key)
            armies = sum(entry.fought) + sum(each.defenders for each in entry.ahead)
            is_roll = entry.trial.kind == "roll" and not entry.ahead  # takes the chance to win only
            self.weight += armies / ROLL_OF_BATTLE if is_roll else armies
        if self.weight > MOST_ARMIES:
            raise TooLargeError(
                f"the log is too large: its different battles have more than {MOST_ARMIES:,} "
                "armies in total"
            )

    # What an entry is.

    def _seen(self, entry: Entry) -> _Seen | None:
        found = self.seen.get(entry)
        if found is None and entry.trial is not None:
            if len(self.seen) > MOST_SEEN:
                self.seen.clear()
            found = self.seen[entry] = self._made(entry, entry.trial)
        return found

    def _made(self, entry: Entry, trial: Trial) -> _Seen:
        if trial not in self.trials and len(self.trials) >= MOST_TRIALS:
            raise TooLargeError(
                f"a log must have at most {MOST_TRIALS} kinds of rolls and battles, got more"
            )
        place = self.trials.setdefault(trial, len(self.trials))
        chances = outcomes(trial)
        is_possible = entry.outcome in chances
        throws, result, start, width = self._place(trial), -1, 0.0, 0.0
        if trial.kind == "battle" and is_possible:
            start = math.fsum(p for p in _before(list(chances.items()), entry.outcome))
            width = chances[entry.outcome]
        elif is_possible:
            result = list(chances).index(entry.outcome)
        gained, armies, wins, variance, is_fight = 0, 0.0, 0.0, 0.0, False
        if trial.kind != "die" and is_possible:
            gained = entry.outcome[1] - entry.outcome[0]
            armies = gained - armies_gain(trial).mean
            is_fight = (trial.kind == "battle") or entry.armies is not None
            if entry.chances is not None:
                before, after = entry.chances
                wins, variance = after - before, before * (1 - before) - after * (1 - after)
                is_fight = True
            elif is_fight:
                wins, variance = chance_gain(trial, entry.armies, entry.outcome, entry.ahead)
        count = trial.first + _spare(trial) if entry.dice else 0
        attack, defence = entry.dice[:count], entry.dice[count:]
        return _Seen(
            throws,
            result,
            start,
            width,
            self._player(entry.player),
            self._player(entry.opponent) if entry.opponent else NOBODY,
            place,
            armies,
            gained,
            wins,
            variance,
            is_fight,
            attack,
            defence,
            self._dice(trial) if entry.dice else (-1, -1),
            is_possible,
            entry.times,
        )

    def _player(self, name: str) -> int:
        if name not in self.players and len(self.players) >= MOST_PLAYERS:
            raise TooLargeError(f"a log must have at most {MOST_PLAYERS} players, got more")
        return self.players.setdefault(name, len(self.players))

    def _place(self, trial: Trial) -> int:
        """Return the kind of throws that a trial belongs to."""
        if trial.kind == "battle":
            return self._throws(BATTLES, BATTLES, _battle_throws)
        if trial.kind == "die":
            return self._throws((DICE, trial.first), DICE, lambda: _dice_throws(DICE, trial.first))
        return self._throws((ROLLS, trial), ROLLS, lambda: _roll_throws(trial))

    def _dice(self, trial: Trial) -> tuple[int, int]:
        """Return the kinds of throws of the dice of both sides, -1 where they are not alike."""
        found = []
        for kind, dice in zip(
            (ATTACK, DEFENCE), trial.rules.dice(trial.first, trial.second), strict=True
        ):
            faces = {*dice.faces}
            if len(faces) > 1 or dice.reroll:
                found.append(-1)
                continue
            (count,) = faces
            found.append(self._throws((kind, count), kind, partial(_dice_throws, kind, count)))
        return found[0], found[1]

    def _throws(self, key: Any, kind: str, make: Callable[[], Throws]) -> int:
        if key not in self.places:
            self.places[key] = len(self.throws)
            self.throws.append(make())
        return self.places[key]

    # What a block adds.

    def _count(self, seen: list[_Seen], places: Ints, times: Ints) -> None:
        """Count results, pairs of results, and evidence."""
        kinds = np.array([each.throws for each in seen])
        results = np.array([each.result for each in seen])
        start = np.array([each.start for each in seen])
        width = np.array([each.width for each in seen])
        players = np.array([each.player for each in seen])
        possible = np.array([each.is_possible for each in seen])
        self.impossible += int(times[places[~possible[places]]].sum())
        is_single = bool((times == 1).all()) and self.is_ordered
        factors = np.zeros((2, len(places)))
        for kind in np.unique(kinds).tolist():
            rows = np.flatnonzero((kinds[places] == kind) & possible[places])
            codes = places[rows]
            if self.throws[kind].kind != BATTLES:
                found = results[codes]
            elif is_single:
                drawn = start[codes] + width[codes] * self.rng.random(len(codes))
                found = np.minimum((BINS * drawn).astype(np.int64), BINS - 1)
            else:
                self._battles_at_once(kind, seen, codes)
                continue
            found_factors = self._results(kind, found, players[codes], times[codes], is_single)
            if is_single:
                factors[:, rows] += found_factors
        self._count_dice(seen, places, players, times, is_single, factors)
        if is_single:
            self._watch(factors)

    def _battles_at_once(self, kind: int, seen: list[_Seen], codes: Ints) -> None:
        """Count battles of which a line has several equal ones: each is drawn by itself."""
        edges = np.arange(BINS + 1) / BINS
        for code, lines in zip(*np.unique(codes, return_counts=True), strict=True):
            each = seen[code]
            ends = np.clip(edges, each.start, each.start + each.width)
            parts = np.maximum(np.diff(ends), 0.0)
            drawn = self.rng.multinomial(each.times * int(lines), parts / parts.sum())
            self._of(kind, each.player)[:] += drawn

    def _of(self, kind: int, player: int) -> Ints:
        throws = self.throws[kind]
        return throws.by_player.setdefault(player, np.zeros(len(throws.chances), dtype=np.int64))

    def _results(
        self, kind: int, found: Ints, players: Ints, times: Ints, is_single: bool
    ) -> Floats:
        """Count results of one kind, in their order, and return by how much each changes log E."""
        throws = self.throws[kind]
        size = len(throws.chances)
        factors = log_factors(found, throws.counts, throws.chances) if is_single else np.zeros(0)
        for player in np.unique(players).tolist():
            mine = players == player
            self._of(kind, player)[:] += np.bincount(
                found[mine], weights=times[mine], minlength=size
            ).astype(np.int64)
        if is_single and len(found):
            if throws.pairs is None:
                throws.pairs = np.zeros((size, size), dtype=np.int64)
            chain = found if throws.last < 0 else np.concatenate([[throws.last], found])
            pairs = np.bincount(chain[:-1] * size + chain[1:], minlength=size * size)
            throws.pairs += pairs.reshape(size, size)
            throws.last = int(found[-1])
        return factors

    def _count_dice(
        self,
        seen: list[_Seen],
        places: Ints,
        players: Ints,
        times: Ints,
        is_single: bool,
        factors: Floats,
    ) -> None:
        """Count the faces of the dice of rolls; they take the place of losses in the first bet."""
        if not any(each.attack for each in seen):
            return
        self.has_dice = True
        for side in (0, 1):
            kinds = np.array([each.dice[side] for each in seen])
            thrown = [each.defence if side else each.attack for each in seen]
            table = np.zeros((len(seen), max(1, *map(len, thrown))), dtype=np.int64)
            for row, dice in enumerate(thrown):
                table[row, : len(dice)] = dice
            for kind in np.unique(kinds[kinds >= 0]).tolist():
                rows = np.flatnonzero(kinds[places] == kind)
                faces = table[places[rows]]
                owner = np.repeat(rows, faces.shape[1])[faces.ravel() > 0]
                found = faces.ravel()[faces.ravel() > 0] - 1
                changed = self._results(
                    kind, found, players[places[owner]], times[places[owner]], is_single
                )
                if is_single and not side:
                    factors[0, rows] = 0.0
                if is_single:
                    factors[0] += np.bincount(owner, weights=changed, minlength=len(places))

    def _watch(self, factors: Floats) -> None:
        """Follow the evidence through a block: the mean of two bets, on dice and on losses."""
        logs = self.logs[:, None] + np.cumsum(factors, axis=1)
        self.curve = np.logaddexp(logs[0], logs[1]) - math.log(2)
        self.logs = logs[:, -1]
        self.most = max(self.most, float(self.curve.max()))
        reached = np.flatnonzero(self.curve >= -math.log(self.level))
        if self.alarm is None and len(reached):
            self.alarm = self.lines + int(reached[0]) + 1

    def _luck(self, seen: list[_Seen], places: Ints, times: Ints) -> None:
        lines = np.bincount(places, minlength=len(seen)) * times
        for each, count in zip(seen, lines.tolist(), strict=True):
            if self._is_die(each) or not each.is_possible:
                continue
            row = np.array(
                [1, each.gained, each.armies, each.is_fight, each.wins, each.wins_variance]
            )
            for player, sign in ((each.player, 1), (each.opponent, -1)):
                if player == NOBODY:
                    continue
                signs = np.array([1, sign, sign, 1, sign, 1])
                self.sums.setdefault(player, np.zeros(6))
                self.sums[player] += count * signs * row
                key = player, each.trial, sign
                self.fought[key] = self.fought.get(key, 0) + count

    def _is_die(self, each: _Seen) -> bool:
        return self.throws[each.throws].kind == DICE

    def _follow(self, seen: list[_Seen], places: Ints, times: Ints) -> None:
        """Keep evidence and luck at some moments, and the results for a list used again."""
        if not self.is_ordered:
            return
        attackers = np.array([each.player for each in seen])[places]
        defenders = np.array([each.opponent for each in seen])[places]
        armies = np.array([each.armies for each in seen])[places]
        curves = np.stack(
            [
                self.armies[player]
                + np.cumsum(armies * (attackers == player) - armies * (defenders == player))
                for player in range(CURVES)
            ]
        )
        numbers = self.lines + 1 + np.arange(len(places))
        while int(numbers[-1]) // self.step > 2 * MOST_MOMENTS:
            self.step *= 2
        self.moments = [each for each in self.moments if each.throws % self.step == 0]
        for i in np.flatnonzero(numbers % self.step == 0).tolist():
            self.moments.append(self._moment(int(numbers[i]), i, curves))
        self.armies = curves[:, -1]
        self.end = self._moment(int(numbers[-1]), -1, curves)
        for name, follow in (("dice", self._thrown_dice), ("rolls", self._thrown_rolls)):
            if sum(map(len, self.followed[name])) < MOST_FOLLOWED[name]:
                self.followed[name].append(follow(seen, places))

    def _moment(self, number: int, i: int, curves: Floats) -> Moment:
        return Moment(number, float(self.curve[i]), tuple(curves[:, i].tolist()))

    def _thrown_dice(self, seen: list[_Seen], places: Ints) -> Ints:
        """Return the kinds and faces of all dice in their order.

        Most people write the dice of a roll from the largest to the smallest. So the order within
        a roll means nothing, and the dice of each side are shuffled.
        """
        kinds, faces = [], []
        for side in (0, 1):
            thrown = [self._dice_of(each, side) for each in seen]
            table = np.zeros((len(seen), max(1, *map(len, thrown))), dtype=np.int64)
            for row, dice in enumerate(thrown):
                table[row, : len(dice)] = dice
            table = table[places]
            faces.append(self.shuffling.permuted(table, axis=1) if table.shape[1] > 1 else table)
            kind = np.array(
                [each.throws if self._is_die(each) else each.dice[side] for each in seen]
            )
            kinds.append(np.repeat(kind[places, None], table.shape[1], axis=1))
        thrown_faces, thrown_kinds = np.hstack(faces).ravel(), np.hstack(kinds).ravel()
        is_die = thrown_faces > 0
        found: Ints = np.column_stack([thrown_kinds, thrown_faces])[is_die]
        return found

    def _dice_of(self, each: _Seen, side: int) -> tuple[int, ...]:
        """Return the dice of one side that fall on all faces alike."""
        if self._is_die(each):
            return () if side else (each.result + 1,)
        return () if each.dice[side] < 0 else (each.defence if side else each.attack)

    def _thrown_rolls(self, seen: list[_Seen], places: Ints) -> Ints:
        """Return the kinds and results of rolls: their dice in any order, or their losses."""
        rows = np.array([self._mark(each) for each in seen], dtype=np.int64)[places]
        found: Ints = rows[rows[:, 1] >= 0]
        return found

    def _mark(self, each: _Seen) -> tuple[int, int]:
        """Return the kind of a roll, and the number of its result; −1 for what is not a roll."""
        if self.throws[each.throws].kind != ROLLS or each.result < 0:
            return -1, -1
        has_dice = min(each.dice) >= 0
        dice = tuple(sorted(each.attack)), tuple(sorted(each.defence))
        key = each.throws, dice if has_dice else each.result
        if key not in self.marks:
            self.marks[key] = len(self.marks)
            chance = float(self.throws[each.throws].chances[each.result])
            if has_dice:
                faces = [len(self.throws[kind].chances) for kind in each.dice]
                chance = math.prod(map(_unordered, dice, faces))
            self.mark_chances.append(chance)
        return 2 * each.throws + has_dice, self.marks[key]

    # What comes of it.

    def result(self, notes: Notes) -> Audit:
        """Return what the counts say."""
        used = sorted(
            (each for each in self.throws if each.counts.any()),
            key=lambda each: (KINDS.index(each.kind), [-ord(letter) for letter in each.name]),
        )
        if self.is_ordered and used and all(each.is_sorted(self.level) for each in used):
            # Somebody has sorted the log, so that nobody could watch it grow.
            self.is_ordered, self.alarm, self.most = False, None, 0.0
        findings = []
        for kind in KINDS:
            parts = [each.counted(is_ordered=False) for each in used if each.kind == kind]
            if parts:
                findings.append(compare_with_fair(kind, parts, self.rng, self.draws))
        if self.is_ordered:
            findings += look_at_order(
                [each.counted(is_ordered=True) for each in used if self._is_first(each)],
                self.rng,
                min(self.draws, SHUFFLES),
            )
            findings += self._period()
        players = {name: place for name, place in self.players.items() if name}
        difference, by_player = self._differences(used)
        findings += difference
        logs = self.logs
        if not self.is_ordered:
            logs = np.array([self._log_evidence(used, with_dice=each) for each in (True, False)])
        evidence = float(np.logaddexp(*logs)) - math.log(2)
        names = list(self.players)
        return Audit(
            level=self.level,
            lines=self.lines,
            throws=tuple(used),
            findings=tuple(findings),
            corrected=tuple(holm([each.p_value for each in findings])),
            impossible=self.impossible,
            is_ordered=self.is_ordered,
            log_evidence=evidence,
            most_evidence=max(self.most, evidence),
            alarm=self.alarm,
            moments=self._moments(),
            players=tuple(names[:CURVES]),
            player_p_values=by_player if players else {},
            lucks=tuple(self._lucks(names)),
            unread=tuple(notes.unread),
            skipped=dict(notes.skipped),
            broken_off=notes.broken_off,
            is_recording=notes.is_recording,
        )

    def _is_first(self, throws: Throws) -> bool:
        """Return whether the order of this kind is tested: the dice of rolls are not."""
        return throws.kind not in (ATTACK, DEFENCE)

    def _period(self) -> list[Finding]:
        dice, rolls = (
            np.concatenate([np.zeros((0, 2), dtype=np.int64), *self.followed[name]])[:most]
            for name, most in MOST_FOLLOWED.items()
        )
        faces = np.array([len(each.chances) for each in self.throws])[dice[:, 0]]
        chances = np.array(self.mark_chances)[rolls[:, 1]]
        about = " or so" if len(rolls) else ""  # as the dice of a roll are shuffled
        codes = faces * faces.max(initial=0) + dice[:, 1]
        found = find_period(
            [
                Followed(f"die{about}", f"dice{about}", faces, codes, 1 / faces),
                Followed("roll", "rolls", rolls[:, 0], rolls[:, 1], chances),
            ]
        )
        return [] if found is None else [found]

    def _log_evidence(self, used: list[Throws], *, with_dice: bool) -> float:
        skipped = (ROLLS,) if with_dice and self.has_dice else (ATTACK, DEFENCE)
        return math.fsum(
            log_evidence(each.counts, each.chances) for each in used if each.kind not in skipped
        )

    def _moments(self) -> tuple[Moment, ...]:
        if not self.is_ordered:
            return ()
        last = [self.end] if not self.moments or self.moments[-1].throws < self.end.throws else []
        return (*self.moments, *last)

    def _differences(self, used: list[Throws]) -> tuple[list[Finding], dict[str, float]]:
        kinds = [each for each in used if self._is_first(each)]
        totals: dict[int, int] = {}
        for each in kinds:
            for player, counts in each.by_player.items():
                totals[player] = totals.get(player, 0) + int(counts.sum())
        names = list(self.players)
        compared = sorted(totals, key=lambda player: -totals[player])[:MOST_COMPARED]
        if len(totals) < 2:
            return [], {}
        shares = []
        for player in compared:
            mine = [
                each.by_player.get(player, np.zeros(len(each.chances), dtype=np.int64))
                for each in kinds
            ]
            shares.append(
                (mine, [each.counts - ours for each, ours in zip(kinds, mine, strict=True)])
            )
        told = [names[player] for player in compared]
        finding, p_values = compare_players(shares, told, self.rng, min(self.draws, SHUFFLES))
        return [finding], dict(zip(told, p_values, strict=True))

    def _lucks(self, names: list[str]) -> Iterator[Luck]:
        trials = list(self.trials)
        for player, (count, gained, armies, fights, wins, variance) in self.sums.items():
            mine = {
                (trials[trial], sign): times
                for (who, trial, sign), times in self.fought.items()
                if who == player
            }
            spread = math.sqrt(
                math.fsum(armies_gain(trial).variance * n for (trial, _), n in mine.items())
            )
            as_bad, as_good = luck_of(mine, int(gained), spread)
            yield Luck(
                names[player],
                int(count),
                int(gained),
                float(armies),
                spread,
                as_bad,
                as_good,
                int(fights),
                float(wins),
                math.sqrt(max(variance, 0.0)),
            )


def _before(
    chances: list[tuple[tuple[int, int], float]], outcome: tuple[int, int]
) -> Iterator[float]:
    for each, chance in chances:
        if each == outcome:
            return
        yield chance


def _unordered(dice: tuple[int, ...], faces: int) -> float:
    """Return the probability of dice that fall on all faces alike, in any order.

    >>> round(1 / _unordered((3, 3, 6), 6), 9)
    72.0
    """
    orders = math.factorial(len(dice))
    for face in {*dice}:
        orders //= math.factorial(dice.count(face))
    return float(orders / faces ** len(dice))


def _spare(trial: Trial) -> int:
    dice, _ = trial.rules.dice(trial.first, trial.second)
    return len(dice.faces) - dice.kept


def _dice_throws(kind: str, faces: int) -> Throws:
    names = tuple(map(str, range(1, faces + 1)))
    name = kind if faces == 6 else f"{kind} of {faces} faces"
    return Throws(kind, name, names, np.full(faces, 1 / faces), np.arange(1.0, faces + 1))


def _roll_throws(trial: Trial) -> Throws:
    chances = outcomes(trial)
    called = rules_name(trial.rules)
    rules = "" if called == "classic" else f" ({called if len(called) < 40 else 'house rules'})"
    return Throws(
        ROLLS,
        f"{trial.first} v {trial.second}{rules}",
        tuple(_lost(each) for each in chances),
        np.array([*chances.values()]),
        np.array([float(theirs - ours) for ours, theirs in chances]),
    )


def _lost(outcome: tuple[int, int]) -> str:
    ours, theirs = outcome
    return f"both gain {-ours}" if ours < 0 else f"lose {ours}, kill {theirs}"


def _battle_throws() -> Throws:
    names = ["luckiest tenth", *(f"tenth {i}" for i in range(2, BINS)), "unluckiest tenth"]
    return Throws(BATTLES, BATTLES, tuple(names), np.full(BINS, 1 / BINS), -np.arange(float(BINS)))
