"""Lines of a log, prepared for counting: the kind of throw, result and luck of each line."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from iacta.fairness.e_values import Floats, Ints, log_factors
from iacta.fairness.luck import Gain, measure_gain
from iacta.fairness.sums import compute_share_interval
from iacta.fairness.trials import Entry, Trial, compute_outcome_chances
from iacta.inputs.errors import TooLargeError
from iacta.probability.estimate import Estimate
from iacta.rules.dice import Dice
from iacta.rules.variants import rules_name

# The dice of one side: the index of their kind in `Registry.throws` (-1 if unknown), and the faces.
Side: TypeAlias = tuple[int, tuple[int, ...]]
# A kind of throw: its element of `KINDS` with the number of results, or the trial of a roll.
Key: TypeAlias = tuple[str, int] | Trial

BINS = 10  # battles are counted by tenths of the number u, see `iacta.fairness.audit`
NO_PLAYER = -1
NO_THROWS = -1  # marks lines that state only total losses, a winner or chances
# These values of `Line.result` mark an impossible result and an attack that is not over.
IMPOSSIBLE, UNDECIDED = -1, -2
ATTACK, DEFENCE, DICE, ROLLS, BATTLES = "attack dice", "defence dice", "dice", "rolls", "battles"
TOTALS, WINS = "totals", "wins"  # rolls with only total losses; battles with only a winner
KINDS = (DICE, ATTACK, DEFENCE, ROLLS, BATTLES, TOTALS, WINS)
MAX_PLAYERS = 1000
MAX_TRIALS = 20_000  # maximum number of different rolls, battles and chances kept in memory
MAX_REMEMBERED = 2**18  # maximum number of lines in the cache of prepared lines
# Maximum number of armies in all different battles and rolls, about a minute of work. The armies of
# a roll count less, see `ROLLS_PER_BATTLE`.
MAX_TESTED_ARMIES = 250_000
# Dice that are not counted by face: the log omits them, or they are rerolled or differ in faces.
UNKNOWN: Side = (-1, ())
ROLLS_PER_BATTLE = 40  # computing one battle takes as long as computing this many rolls


@dataclass(eq=False)
class Throws:
    """A kind of throw, such as rolls of 3 dice against 2, with the counts of its results.

    kind: an element of `KINDS`, such as `rolls`.
    name: the name for the user, such as `3 v 2`.
    results: the names of the possible results, for the user.
    chances: the probability of each result with fair dice.
    scores: a number for each result; larger is better for the attackers.
    by_player: for each player, by number, the count of each result.
    pairs: the count of each pair of consecutive results; `None` if the order is unknown.
    last: the result of the last throw so far; -1 before the first throw.
    dispersion: the variance of the counts, divided by the variance for independent results.
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
        """Whether the log states only total losses or winners, so counts are not independent."""
        return self.kind in (TOTALS, WINS)

    @property
    def counts(self) -> Ints:
        """The count of each result, for all players together."""
        return sum(self.by_player.values(), np.zeros(len(self.chances), dtype=np.int64))

    @property
    def total(self) -> int:
        """The number of throws of this kind."""
        return int(self.counts.sum())

    @property
    def independent(self) -> int:
        """The number of independent throws that tell as much as the counts, at most `total`."""
        return max(1, round(self.total / max(self.dispersion, 1.0)))

    def compute_interval(self, count: int, level: float) -> tuple[float, float]:
        """Return a confidence interval for the probability of a result.

        count: how often the result occurred.
        level: the chance that the interval contains the actual probability.
        """
        if self.is_sum:
            seen = min(round(count * self.independent / self.total), self.independent)
            return compute_share_interval(seen, self.independent, level)
        return Estimate(self.total, count).interval(level)

    def count_results(self, player: int) -> Ints:
        """Return the count of each result of a player; the caller may change the array."""
        return self.by_player.setdefault(player, np.zeros(len(self.chances), dtype=np.int64))

    def add(self, results: Ints, players: Ints, times: Ints, *, in_order: bool) -> Floats:
        """Count results, and return the change of log E (see `e_values`) caused by each result.

        players: for each element of `results`, the number of the player.
        times: for each element of `results`, how often the result occurred.
        in_order: whether the results are single throws in order; if not, all changes are 0.
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
            self.count_results(player)[:] += counts.astype(np.int64)
        return factors

    def is_sorted(self, level: float) -> bool:
        """Return whether single dice are sorted by face, so that their order means nothing."""
        if self.kind != DICE or self.pairs is None:
            return False
        if np.tril(self.pairs, -1).any() == np.triu(self.pairs, 1).any():
            return False
        orders = math.lgamma(self.counts.sum() + 1) - sum(map(math.lgamma, self.counts + 1))
        return orders >= math.log(2 / level)


class Line(NamedTuple):
    """A line of a log, prepared for counting.

    throws: the number of its kind of throw, or `NO_THROWS`.
    player, opponent: the numbers of the attacker and of the defender.
    trial: the trial (a die, roll, battle or attack) whose result the line states.
    times: how often the trial occurred with this result.
    result: the rank of the result, 0 for the best result for the attackers (or for the lowest face
        of a die); `IMPOSSIBLE` if its probability is 0, and for total losses, which have no rank;
        `UNDECIDED` if the attack is not over.
    start: the probability of a better result with fair dice.
    width: the probability of this result with fair dice.
    gain: the armies and luck that the attackers gained; `None` for a single die or an impossible
        result.
    sides: the dice of the attackers and of the defenders.
    """

    throws: int
    player: int
    opponent: int
    trial: Trial
    times: int
    result: int
    start: float
    width: float
    gain: Gain | None
    sides: tuple[Side, Side]

    @property
    def luck(self) -> float:
        """The luck of the attackers in this line, measured in armies."""
        return 0.0 if self.gain is None else self.gain.luck


@dataclass
class Registry:
    """Numbers the players and the kinds of throw in a log, and caches its prepared lines."""

    throws: list[Throws] = field(default_factory=list)
    players: dict[str, int] = field(default_factory=dict)
    _numbers: dict[Key, int] = field(default_factory=dict)
    _trials: set[Trial] = field(default_factory=set)
    _lines: dict[Entry, Line] = field(default_factory=dict)
    _checked: set[object] = field(default_factory=set)
    _total_size: float = 0.0

    def check_size(self, entries: list[Entry]) -> None:
        """Raise `TooLargeError` if the battles and rolls so far would take too long to compute."""
        for entry in entries:
            key = entry.trial, entry.fought, entry.ahead
            if entry.trial is None or entry.fought is None or key in self._checked:
                continue
            self._checked.add(key)
            armies = sum(entry.fought) + sum(territory.defenders for territory in entry.ahead)
            # A roll without territories ahead needs only chances to win a battle, which are faster
            # to compute than the luck of a whole battle.
            is_roll = entry.trial.kind == "roll" and not entry.ahead
            self._total_size += armies / ROLLS_PER_BATTLE if is_roll else armies
        if self._total_size > MAX_TESTED_ARMIES:
            raise TooLargeError(
                "the log is too large: its different battles and rolls would take too long to "
                f"compute (they count as more than {MAX_TESTED_ARMIES:,} armies)"
            )

    def find_line(self, entry: Entry) -> Line | None:
        """Return the prepared line of an entry; `None` for a battle that was stopped early."""
        line = self._lines.get(entry)
        if line is None and entry.trial is not None:
            if len(self._lines) > MAX_REMEMBERED:
                self._lines.clear()
            line = self._lines[entry] = self._make_line(entry, entry.trial)
        return line

    def _make_line(self, entry: Entry, trial: Trial) -> Line:
        self._trials.add(trial)
        if len(self._trials) > MAX_TRIALS:
            raise TooLargeError(
                f"a log must have at most {MAX_TRIALS} kinds of rolls, battles and chances, got "
                "more"
            )
        keys: dict[str, Key] = {"die": (DICE, trial.first), "battle": (BATTLES, BINS)}
        is_counted = trial.has_losses and trial.kind != "total"
        throws = self._assign_kind_number(keys.get(trial.kind, trial)) if is_counted else NO_THROWS
        chances = compute_outcome_chances(trial)
        result, start, width, gain = IMPOSSIBLE, 0.0, 0.0, None
        if trial.kind == "total":
            gain = measure_gain(entry, trial)
        elif entry.outcome in chances:
            result = [*chances].index(entry.outcome)
            start, width = math.fsum([*chances.values()][:result]), chances[entry.outcome]
            gain = None if trial.kind == "die" else measure_gain(entry, trial)
        elif not trial.is_decided and len(chances) == 2:
            result, gain = UNDECIDED, measure_gain(entry, trial)
        ours, theirs = UNKNOWN, UNKNOWN
        if trial.kind == "die":
            ours = throws, entry.outcome[:1]
        elif entry.dice:
            attack, defence = trial.rules.dice(trial.first, trial.second)
            count = len(attack.list_faces(trial.first))
            ours = self._make_side(ATTACK, attack, entry.dice[:count])
            theirs = self._make_side(DEFENCE, defence, entry.dice[count:])
        return Line(
            throws,
            self._assign_player_number(entry.player),
            self._assign_player_number(entry.opponent) if entry.opponent else NO_PLAYER,
            trial,
            entry.times,
            result,
            start,
            width,
            gain,
            (ours, theirs),
        )

    def _assign_player_number(self, name: str) -> int:
        if name not in self.players and len(self.players) >= MAX_PLAYERS:
            raise TooLargeError(f"a log must have at most {MAX_PLAYERS} players, got more")
        return self.players.setdefault(name, len(self.players))

    def _make_side(self, kind: str, dice: Dice, thrown: tuple[int, ...]) -> Side:
        if len({*dice.faces}) > 1 or dice.reroll:
            return UNKNOWN
        return self._assign_kind_number((kind, dice.faces[0])), thrown

    def _assign_kind_number(self, key: Key) -> int:
        """Return the number of a kind of throw; add the kind to `throws` if it is new."""
        if key not in self._numbers:
            self._numbers[key] = len(self.throws)
            made = _make_roll_throws(key) if isinstance(key, Trial) else _make_uniform_throws(*key)
            self.throws.append(made)
        return self._numbers[key]


def name_roll(trial: Trial) -> str:
    """Return the name of a roll, such as `3 v 2`, with the name of its rules if not classic."""
    called = rules_name(trial.rules)
    rules = "" if called == "classic" else f" ({called if len(called) < 40 else 'house rules'})"
    return f"{trial.first} v {trial.second}{rules}"


def _make_roll_throws(trial: Trial) -> Throws:
    chances = compute_outcome_chances(trial)
    return Throws(
        ROLLS,
        name_roll(trial),
        tuple(
            f"both gain {-ours}" if ours < 0 else f"lose {ours}, kill {theirs}"
            for ours, theirs in chances
        ),
        np.array([*chances.values()]),
        np.array([float(theirs - ours) for ours, theirs in chances]),
    )


def _make_uniform_throws(kind: str, count: int) -> Throws:
    """Return a kind of throw with `count` equally likely results: faces, or tenths of battles."""
    chances, numbers = np.full(count, 1 / count), np.arange(1.0, count + 1)
    if kind == BATTLES:
        names = ["luckiest tenth", *(f"tenth {i}" for i in range(2, count)), "unluckiest tenth"]
        return Throws(kind, kind, tuple(names), chances, 1 - numbers)
    name = kind if count == 6 else f"{kind} of {count} faces"
    return Throws(kind, name, tuple(map(str, range(1, count + 1))), chances, numbers)
