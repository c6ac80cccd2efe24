"""Throws: what the lines of a log are: which kind of throw, which result, and how lucky."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from iacta.fairness.e_values import Floats, Ints, log_factors
from iacta.fairness.luck import Gained, gained
from iacta.fairness.sums import share_interval
from iacta.fairness.trials import Entry, Trial, outcomes
from iacta.inputs.errors import TooLargeError
from iacta.probability.estimate import Estimate
from iacta.rules.dice import Dice
from iacta.rules.variants import rules_name

Side: TypeAlias = tuple[int, tuple[int, ...]]  # the kind of one side's dice, and the dice
Key: TypeAlias = tuple[str, int] | Trial  # a kind with so many equally likely results, or a roll

BINS = 10
NOBODY = -1
NO_THROWS = -1  # lines of which only sums are known belong to no kind of throws
IMPOSSIBLE, OPEN = -1, -2  # such results have no place among all others
ATTACK, DEFENCE, DICE, ROLLS, BATTLES = "attack dice", "defence dice", "dice", "rolls", "battles"
TOTALS, WINS = "totals", "wins"  # throws of which only sums are known
KINDS = (DICE, ATTACK, DEFENCE, ROLLS, BATTLES, TOTALS, WINS)
MAX_PLAYERS = 1000  # whose counts a log from a stranger may make us keep
MAX_TRIALS = 20_000  # kinds, whose chances are all kept in memory
MAX_REMEMBERED = 2**18  # lines
MAX_ARMIES = 250_000  # in all different battles: about a minute of work
UNKNOWN: Side = (-1, ())  # dice that are not given, or not alike
ROLL_OF_BATTLE = 40  # as many rolls with armies take as long as a battle


@dataclass(eq=False)
class Throws:
    """One kind of throws, and what came of them.

    kind: one of `KINDS`.
    name: what people call it.
    results: what they call its results.
    chances: how likely fair dice give each.
    scores: a number for each, the larger the better for the attackers.
    by_player: how often each came to each player, by the player's number.
    pairs: how often each was followed by each other, `None` if the order is not known.
    last: the last result, -1 if there was none.
    dispersion: the variance of the counts, divided by that of independent results.
    """

    kind: str
    name: str
    results: tuple[str, ...]
    chances: Floats
    scores: Floats
    by_player: dict[int, Ints] = field(default_factory=dict)
    pairs: Ints | None = None
    last: int = -1
    dispersion: float = 1.0

    @property
    def is_sum(self) -> bool:
        """Whether only a sum is known, so that the results depend on each other."""
        return self.kind in (TOTALS, WINS)

    @property
    def counts(self) -> Ints:
        """How often each result came."""
        return sum(self.by_player.values(), np.zeros(len(self.chances), dtype=np.int64))

    @property
    def total(self) -> int:
        """How many there are."""
        return int(self.counts.sum())

    @property
    def independent(self) -> int:
        """How many independent results vary as much, no more than there are results."""
        return max(1, round(self.total / max(self.dispersion, 1.0)))

    def interval(self, count: int, level: float) -> tuple[float, float]:
        """Return the interval for the share of a result.

        count: how often it came.
        level: how often the interval contains the true share.
        """
        if self.is_sum:
            seen = min(round(count * self.independent / self.total), self.independent)
            return share_interval(seen, self.independent, level)
        return Estimate(self.total, count).interval(level)

    def of(self, player: int) -> Ints:
        return self.by_player.setdefault(player, np.zeros(len(self.chances), dtype=np.int64))

    def add(self, results: Ints, players: Ints, times: Ints, *, in_order: bool) -> Floats:
        """Count results, each so many times, and return by how much each changes log E.

        in_order: whether each is a single one that follows the one before; else log E is unknown.
        """
        size, factors = len(self.chances), np.zeros(len(results))
        if in_order and len(results):
            factors = log_factors(results, self.counts, self.chances)
            chain = results if self.last < 0 else np.concatenate([[self.last], results])
            pairs = np.bincount(chain[:-1] * size + chain[1:], minlength=size * size)
            before = 0 if self.pairs is None else self.pairs
            self.pairs = before + pairs.reshape(size, size)
            self.last = int(results[-1])
        for player in np.unique(players).tolist():
            mine = players == player
            counts = np.bincount(results[mine], weights=times[mine], minlength=size)
            self.of(player)[:] += counts.astype(np.int64)
        return factors

    def is_sorted(self, level: float) -> bool:
        """Return whether single dice go up or down all the way, as thrown ones hardly ever do."""
        if self.kind != DICE or self.pairs is None:
            return False
        if np.tril(self.pairs, -1).any() == np.triu(self.pairs, 1).any():
            return False
        orders = math.lgamma(self.counts.sum() + 1) - sum(map(math.lgamma, self.counts + 1))
        return orders >= math.log(2 / level)


class Line(NamedTuple):
    """What a line of a log is.

    throws: the kind of throws, by its number, or `NO_THROWS`.
    player, opponent: who threw, and against whom, by their numbers.
    trial: what was thrown.
    times: how often it happened.
    result: the place of the result, the best for the attackers first; `IMPOSSIBLE` if it has no
        chance, `OPEN` if the chance to succeed is neither 0 nor 1 after it.
    start, width: F and P of the result.
    gain: what a roll or a battle gained the attackers.
    sides: the dice of both sides, each with the kind of throws that they are.
    """

    throws: int
    player: int
    opponent: int
    trial: Trial
    times: int
    result: int
    start: float
    width: float
    gain: Gained | None
    sides: tuple[Side, Side]

    @property
    def luck(self) -> float:
        """The armies that are luck."""
        return 0.0 if self.gain is None else self.gain.luck


@dataclass
class Known:
    """The players, the kinds of throws and the lines that have come, numbered."""

    throws: list[Throws] = field(default_factory=list)
    players: dict[str, int] = field(default_factory=dict)
    _places: dict[Key, int] = field(default_factory=dict)
    _trials: set[Trial] = field(default_factory=set)
    _lines: dict[Entry, Line] = field(default_factory=dict)
    _weighed: set[object] = field(default_factory=set)
    _weight: float = 0.0

    def weigh(self, entries: list[Entry]) -> None:
        """Refuse battles whose distributions take too long, before the first is found."""
        for entry in entries:
            key = entry.trial, entry.fought, entry.ahead
            if entry.trial is None or entry.fought is None or key in self._weighed:
                continue
            self._weighed.add(key)
            armies = sum(entry.fought) + sum(territory.defenders for territory in entry.ahead)
            is_roll = entry.trial.kind == "roll" and not entry.ahead  # takes the chance to win only
            self._weight += armies / ROLL_OF_BATTLE if is_roll else armies
        if self._weight > MAX_ARMIES:
            raise TooLargeError(
                f"the log is too large: its different battles have more than {MAX_ARMIES:,} "
                "armies in total"
            )

    def line(self, entry: Entry) -> Line | None:
        """Return what an entry is, `None` for a battle that was broken off."""
        line = self._lines.get(entry)
        if line is None and entry.trial is not None:
            if len(self._lines) > MAX_REMEMBERED:
                self._lines.clear()
            line = self._lines[entry] = self._made(entry, entry.trial)
        return line

    def _made(self, entry: Entry, trial: Trial) -> Line:
        self._trials.add(trial)
        if len(self._trials) > MAX_TRIALS:
            raise TooLargeError(
                f"a log must have at most {MAX_TRIALS} kinds of rolls, battles and chances, got "
                "more"
            )
        keys: dict[str, Key] = {"die": (DICE, trial.first), "battle": (BATTLES, BINS)}
        is_counted = trial.has_losses and trial.kind != "total"
        throws = self._place(keys.get(trial.kind, trial)) if is_counted else NO_THROWS
        chances = outcomes(trial)
        result, start, width, gain = IMPOSSIBLE, 0.0, 0.0, None
        if trial.kind == "total":
            gain = gained(entry, trial)
        elif entry.outcome in chances:
            result = [*chances].index(entry.outcome)
            start, width = math.fsum([*chances.values()][:result]), chances[entry.outcome]
            gain = None if trial.kind == "die" else gained(entry, trial)
        elif not trial.is_decided and len(chances) == 2:
            result, gain = OPEN, gained(entry, trial)
        ours, theirs = UNKNOWN, UNKNOWN
        if trial.kind == "die":
            ours = throws, entry.outcome[:1]
        elif entry.dice:
            attack, defence = trial.rules.dice(trial.first, trial.second)
            count = len(attack.thrown(trial.first))
            ours = self._side(ATTACK, attack, entry.dice[:count])
            theirs = self._side(DEFENCE, defence, entry.dice[count:])
        return Line(
            throws,
            self._player(entry.player),
            self._player(entry.opponent) if entry.opponent else NOBODY,
            trial,
            entry.times,
            result,
            start,
            width,
            gain,
            (ours, theirs),
        )

    def _player(self, name: str) -> int:
        if name not in self.players and len(self.players) >= MAX_PLAYERS:
            raise TooLargeError(f"a log must have at most {MAX_PLAYERS} players, got more")
        return self.players.setdefault(name, len(self.players))

    def _side(self, kind: str, dice: Dice, thrown: tuple[int, ...]) -> Side:
        if len({*dice.faces}) > 1 or dice.reroll:
            return UNKNOWN
        return self._place((kind, dice.faces[0])), thrown

    def _place(self, key: Key) -> int:
        """Return the number of the throws of a roll, or of a kind with so many results."""
        if key not in self._places:
            self._places[key] = len(self.throws)
            made = _throws_of_roll(key) if isinstance(key, Trial) else _throws_alike(*key)
            self.throws.append(made)
        return self._places[key]


def name_of_roll(trial: Trial) -> str:
    """Return the name of a roll, such as `3 v 2`, with its rules unless they are the usual ones."""
    called = rules_name(trial.rules)
    rules = "" if called == "classic" else f" ({called if len(called) < 40 else 'house rules'})"
    return f"{trial.first} v {trial.second}{rules}"


def _throws_of_roll(trial: Trial) -> Throws:
    chances = outcomes(trial)
    return Throws(
        ROLLS,
        name_of_roll(trial),
        tuple(
            f"both gain {-ours}" if ours < 0 else f"lose {ours}, kill {theirs}"
            for ours, theirs in chances
        ),
        np.array([*chances.values()]),
        np.array([float(theirs - ours) for ours, theirs in chances]),
    )


def _throws_alike(kind: str, count: int) -> Throws:
    """Return throws whose results are equally likely: dice, or the tenths of battles."""
    chances, numbers = np.full(count, 1 / count), np.arange(1.0, count + 1)
    if kind == BATTLES:
        names = ["luckiest tenth", *(f"tenth {i}" for i in range(2, count)), "unluckiest tenth"]
        return Throws(kind, kind, tuple(names), chances, 1 - numbers)
    name = kind if count == 6 else f"{kind} of {count} faces"
    return Throws(kind, name, tuple(map(str, range(1, count + 1))), chances, numbers)
