"""Throws: what the lines of a log are: which kind of throw, which result, and how lucky."""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.errors import TooLargeError
from iacta.fairness.evidence import log_factors
from iacta.fairness.fair import Counted
from iacta.fairness.luck import armies_gain, chance_gain
from iacta.fairness.trials import Entry, Trial, outcomes
from iacta.rules.variants import rules_name

__all__ = [
    "ATTACK",
    "BATTLES",
    "BINS",
    "DEFENCE",
    "DICE",
    "KINDS",
    "NOBODY",
    "ROLLS",
    "Floats",
    "Ints",
    "Known",
    "Line",
    "Throws",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BINS = 10
NOBODY = -1
ATTACK, DEFENCE, DICE, ROLLS, BATTLES = "attack dice", "defence dice", "dice", "rolls", "battles"
KINDS = (DICE, ATTACK, DEFENCE, ROLLS, BATTLES)
MOST_PLAYERS = 1000  # whose counts a log from a stranger may make us keep
MOST_TRIALS = 20_000
MOST_REMEMBERED = 2**18  # lines
MOST_ARMIES = 250_000  # in all different battles: about a minute of work
ROLL_OF_BATTLE = 40  # as many rolls with armies take as long as a battle


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
        return sum(self.by_player.values(), np.zeros(len(self.chances), dtype=np.int64))

    def of(self, player: int) -> Ints:
        """Return how often each result came to a player."""
        return self.by_player.setdefault(player, np.zeros(len(self.chances), dtype=np.int64))

    def count(self, found: Ints, players: Ints, times: Ints) -> None:
        """Count results, each so many times."""
        for player in np.unique(players).tolist():
            mine = players == player
            counts = np.bincount(found[mine], weights=times[mine], minlength=len(self.chances))
            self.of(player)[:] += counts.astype(np.int64)

    def follow(self, found: Ints, players: Ints) -> Floats:
        """Count single results in their order, and return by how much each changes log E."""
        size = len(self.chances)
        factors = log_factors(found, self.counts, self.chances)
        self.count(found, players, np.ones(len(found), dtype=np.int64))
        if len(found):
            if self.pairs is None:
                self.pairs = np.zeros((size, size), dtype=np.int64)
            chain = found if self.last < 0 else np.concatenate([[self.last], found])
            pairs = np.bincount(chain[:-1] * size + chain[1:], minlength=size * size)
            self.pairs += pairs.reshape(size, size)
            self.last = int(found[-1])
        return factors

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


class Gained(NamedTuple):
    """The armies gained, and how many of them are luck.

    is_fight, wins, variance: whether a known chance to win changed, by how much, and the variance
        of that.
    """

    armies: int
    luck: float
    is_fight: bool
    wins: float
    variance: float


class Line(NamedTuple):
    """What a line of a log is.

    throws: the kind of throws; with its result, -1 for a battle, whose result is drawn.
    start, width: of a battle, F and P of its result.
    player, opponent, trial: who threw, against whom, and what, by their numbers.
    gain: what a roll or a battle gained the attackers.
    attack, defence, dice: the dice of a roll, and the kinds of throws that they are.
    is_possible: whether the rules give it a chance.
    times: how often it happened.
    """

    throws: int
    player: int
    opponent: int
    trial: int
    is_possible: bool
    times: int
    result: int
    start: float
    width: float
    gain: Gained | None
    attack: tuple[int, ...]
    defence: tuple[int, ...]
    dice: tuple[int, int]

    @property
    def luck(self) -> float:
        """The armies that are luck."""
        return 0.0 if self.gain is None else self.gain.luck


class _Trial(NamedTuple):
    """What lines of one trial share: its number, its kind of throws, and its dice."""

    number: int
    throws: int
    attack_dice: int
    dice: tuple[int, int]


@dataclass
class Known:
    """The players, the trials, the kinds of throws and the lines that have come, numbered."""

    throws: list[Throws] = field(default_factory=list)
    players: dict[str, int] = field(default_factory=dict)
    trials: dict[Trial, "_Trial"] = field(default_factory=dict)
    _places: dict[Hashable, int] = field(default_factory=dict)
    _lines: dict[Entry, Line] = field(default_factory=dict)
    _weighed: set[Hashable] = field(default_factory=set)
    _weight: float = 0.0

    def weigh(self, entries: list[Entry]) -> None:
        """Refuse battles whose distributions take too long, before the first is found."""
        for entry in entries:
            key = entry.trial, entry.fought, entry.ahead
            if entry.trial is None or entry.fought is None or key in self._weighed:
                continue
            self._weighed.add(key)
            armies = sum(entry.fought) + sum(each.defenders for each in entry.ahead)
            is_roll = entry.trial.kind == "roll" and not entry.ahead  # takes the chance to win only
            self._weight += armies / ROLL_OF_BATTLE if is_roll else armies
        if self._weight > MOST_ARMIES:
            raise TooLargeError(
                f"the log is too large: its different battles have more than {MOST_ARMIES:,} "
                "armies in total"
            )

    def line(self, entry: Entry) -> Line | None:
        """Return what an entry is, `None` for a battle that was broken off."""
        found = self._lines.get(entry)
        if found is None and entry.trial is not None:
            if len(self._lines) > MOST_REMEMBERED:
                self._lines.clear()
            found = self._lines[entry] = self._made(entry, entry.trial)
        return found

    def _made(self, entry: Entry, trial: Trial) -> Line:
        known = self.trials.get(trial) or self._new(trial)
        chances = outcomes(trial)
        start, result, width, gain = 0.0, -1, 0.0, None
        is_possible = entry.outcome in chances
        if is_possible and trial.kind == "battle":
            better = takewhile(lambda each: each != entry.outcome, chances)
            start, width = math.fsum(chances[each] for each in better), chances[entry.outcome]
        elif is_possible:
            result = list(chances).index(entry.outcome)
        if is_possible and trial.kind != "die":
            gain = _gained(entry, trial)
        return Line(
            known.throws,
            self._player(entry.player),
            self._player(entry.opponent) if entry.opponent else NOBODY,
            known.number,
            is_possible,
            entry.times,
            result,
            start,
            width,
            gain,
            entry.dice[: known.attack_dice],
            entry.dice[known.attack_dice :],
            known.dice if entry.dice else (-1, -1),
        )

    def _new(self, trial: Trial) -> "_Trial":
        if len(self.trials) >= MOST_TRIALS:
            raise TooLargeError(
                f"a log must have at most {MOST_TRIALS} kinds of rolls and battles, got more"
            )
        throws, attack_dice, dice = self._throws_of(trial), 0, (-1, -1)
        if trial.kind == "roll":
            attack, _ = trial.rules.dice(trial.first, trial.second)
            attack_dice, dice = trial.first + len(attack.faces) - attack.kept, self._dice(trial)
        self.trials[trial] = _Trial(len(self.trials), throws, attack_dice, dice)
        return self.trials[trial]

    def _player(self, name: str) -> int:
        if name not in self.players and len(self.players) >= MOST_PLAYERS:
            raise TooLargeError(f"a log must have at most {MOST_PLAYERS} players, got more")
        return self.players.setdefault(name, len(self.players))

    def _throws_of(self, trial: Trial) -> int:
        """Return the kind of throws that a trial belongs to."""
        if trial.kind == "battle":
            return self._throws(BATTLES, _battle_throws)
        if trial.kind == "die":
            return self._throws((DICE, trial.first), partial(_dice_throws, DICE, trial.first))
        return self._throws((ROLLS, trial), partial(_roll_throws, trial))

    def _dice(self, trial: Trial) -> tuple[int, int]:
        """Return the kinds of throws of the dice of both sides, -1 where they are not alike."""
        found = []
        for kind, dice in zip(
            (ATTACK, DEFENCE), trial.rules.dice(trial.first, trial.second), strict=True
        ):
            if len({*dice.faces}) > 1 or dice.reroll:
                found.append(-1)
            else:
                make = partial(_dice_throws, kind, dice.faces[0])
                found.append(self._throws((kind, dice.faces[0]), make))
        return found[0], found[1]

    def _throws(self, key: Hashable, make: Callable[[], Throws]) -> int:
        if key not in self._places:
            self._places[key] = len(self.throws)
            self.throws.append(make())
        return self._places[key]


def _gained(entry: Entry, trial: Trial) -> Gained:
    armies = entry.outcome[1] - entry.outcome[0]
    luck = armies - armies_gain(trial).mean
    if entry.chances is not None:
        before, after = entry.chances
        variance = before * (1 - before) - after * (1 - after)
        return Gained(armies, luck, True, after - before, variance)
    if trial.kind == "battle" or entry.armies is not None:
        gain = chance_gain(trial, entry.armies, entry.outcome, entry.ahead)
        return Gained(armies, luck, True, *gain)
    return Gained(armies, luck, False, 0.0, 0.0)


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
