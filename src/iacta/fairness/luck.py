"""Luck: what the dice gave beyond their average, as backgammon measures it.

A state of the game has a value V, such as the chance to win it. What a player does moves V, and so
do the dice. The luck of a throw is what the dice alone have added to V,

    luck = V(after) − E[V(after)],

whose expected value is 0 whatever the player chose. So luck adds up over throws, and so do its
variances, as no throw knows the next. What is left of the result is due to choices:

    result = skill + luck.

Here V counts armies, those that the enemy has lost minus one's own, or it is the chance to win the
battle, or the whole campaign. What the attackers gain in luck the defenders lose.

Where a log gives V itself, such as the chance that a plan has from the position before a throw and
after it, the luck is V(after) − V(before): a plan that is followed has the same chance on average.
As V·(1 − V) and the square of its steps together keep their mean, the variance of such steps is on
average

    E[(V(after) − V(before))²] = V(before)·(1 − V(before)) − E[V(after)·(1 − V(after))],

whose sum over a plan that is followed to its end is V·(1 − V) at the start.

Source: Zare, "A measure of luck" (GammOnLine, 2000), for backgammon.
"""

import math
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from iacta.battle.campaign import Campaign
from iacta.battle.territory import Territory
from iacta.fairness.total_chances import win_tails
from iacta.fairness.trials import LOST, WON, Entry, Trial, outcomes
from iacta.methods import find_kernel
from iacta.rules.rules import Rules

LONGEST = 2**18
MOST_WORK = 2**26  # of a transform; what takes more is as good as normal
LEAST_TAIL = 1e-10


class Luck(NamedTuple):
    """The luck of a player.

    player: the name, empty for attackers without one.
    throws: how many rolls and battles the player was in.
    result: armies that the enemy lost, minus those of the player.
    armies: how many of them are luck; the others, `result - armies`, are what the choices were
        worth.
    spread: the standard deviation of that luck.
    as_bad, as_good: the chance that fair dice are at least as bad, or as good, for the player: in
        armies, or in battles won if no armies are known.
    fights: how many of them changed a known chance to win a battle.
    wins: the luck in battles won, summed over these.
    wins_spread: the standard deviation of that luck.
    """

    player: str
    throws: int
    result: int
    armies: float
    spread: float
    as_bad: float
    as_good: float
    fights: int
    wins: float
    wins_spread: float


class Gained(NamedTuple):
    """What throws gain a player, added up.

    armies, luck: the armies gained, and how many of them are luck.
    fights, wins: how many changed a known chance to win, and by how much, with its variance.
    """

    throws: float
    armies: float
    luck: float
    fights: float
    wins: float
    variance: float


def gained(entry: Entry, trial: Trial) -> Gained:
    """Return the gain of the attackers in a roll or a battle, or their mean gain in many rolls."""
    armies = (entry.outcome[1] - entry.outcome[0]) / (entry.times if trial.kind == "total" else 1)
    mean, _ = armies_gain(trial)
    if trial.is_only_won:
        armies = 0
    chance: tuple[float, float, float] = (0, 0.0, 0.0)
    if entry.chances is not None:
        before, after = entry.chances
        chance = (1, after - before, before * (1 - before) - after * (1 - after))
    elif trial.kind == "battle" or entry.armies is not None:
        chance = (1, *chance_gain(trial, entry.armies, entry.outcome, entry.ahead))
    return Gained(1, armies, armies - mean, *chance)


@lru_cache(maxsize=2**14)
def armies_gain(trial: Trial) -> tuple[float, float]:
    """Return the armies that a throw gains the attackers on average, and their variance.

    Both are 0 for a battle of which only the winner is known.

    >>> mean, variance = armies_gain(Trial("roll", 3, 2, Rules()))
    >>> round(mean, 4), round(variance, 4)
    (0.1582, 2.6319)
    """
    if trial.is_only_won:
        return 0.0, 0.0
    chances = outcomes(trial)
    mean = math.fsum(p * (theirs - ours) for (ours, theirs), p in chances.items())
    square = math.fsum(p * (theirs - ours) ** 2 for (ours, theirs), p in chances.items())
    return mean, max(square - mean * mean, 0.0)


@lru_cache(maxsize=2**16)
def chance_gain(
    trial: Trial,
    armies: tuple[int, int] | None,
    lost: tuple[int, int],
    ahead: tuple[Territory, ...] = (),
) -> tuple[float, float]:
    """Return how lucky a throw was in the chance to succeed, and the variance of that.

    armies: attackers, garrison included, and defenders before a roll; `None` for a battle.
    lost: what it cost both sides.
    ahead: the territories to be taken after this one; the chance is that to take them all.

    >>> luck, variance = chance_gain(Trial("roll", 3, 2, Rules()), (12, 10), (0, 2))
    >>> round(luck, 4)
    0.1403
    """
    chances = outcomes(trial)
    ours, theirs = (trial.first, trial.second) if armies is None else armies
    is_over = armies is None  # a battle is: who has lost it does not go on
    if trial.is_only_won:
        won = chances.get(WON, 0.0)
        return float(lost == WON) - won, won * chances.get(LOST, 0.0)
    values = {
        outcome: _chance(ours - outcome[0], theirs - outcome[1], trial.rules, ahead, is_over)
        for outcome in chances
    }
    mean = math.fsum(p * values[outcome] for outcome, p in chances.items())
    square = math.fsum(p * (values[outcome] - mean) ** 2 for outcome, p in chances.items())
    return values[lost] - mean, square


@lru_cache(maxsize=2**16)
def _chance(
    attackers: int, defenders: int, rules: Rules, ahead: tuple[Territory, ...], is_over: bool
) -> float:
    """Return the chance to take a territory, and all that are ahead."""
    able = attackers - rules.garrison
    if not defenders and not ahead:
        return 1.0
    if able <= 0 or (defenders and is_over):
        return 0.0
    if not ahead:
        return float(find_kernel(rules).win_probability(able, defenders))
    way = [Territory(defenders), *ahead] if defenders else ahead
    return float(Campaign(attackers if defenders else able, way, rules).win_probability())


def luck_of(player: str, total: Gained, thrown: Mapping[tuple[Trial, int], int]) -> Luck:
    """Return the luck of a player.

    total: what all throws gained them.
    thrown: how often each trial occurred, with 1 where they attacked and −1 where they defended.

    The distribution of the armies gained is exact, by a Fourier transform of each trial's; where
    that would take long, it is the normal one.
    """
    variances = (armies_gain(trial)[1] * count for (trial, _), count in thrown.items())
    result, spread = round(total.armies), math.sqrt(math.fsum(variances))
    if all(trial.is_only_won for trial, _ in thrown):
        as_bad, as_good = _win_tails(thrown, total.wins)
    else:
        as_bad, as_good = _tails(thrown, result, spread)
    return Luck(
        player=player,
        throws=int(total.throws),
        result=result,
        armies=total.luck,
        spread=spread,
        as_bad=as_bad,
        as_good=as_good,
        fights=int(total.fights),
        wins=total.wins,
        wins_spread=math.sqrt(max(total.variance, 0.0)),
    )


def _win_tails(thrown: Mapping[tuple[Trial, int], int], luck: float) -> tuple[float, float]:
    """Return the chance that fair dice win at most, and at least, as many battles."""
    battles: Counter[tuple[float, float]] = Counter()
    for (trial, sign), count in thrown.items():
        won, lost = (outcomes(trial).get(end, 0.0) for end in ((WON, LOST)[::sign]))
        battles[won, lost] += count
    expected = math.fsum(won * count for (won, _), count in battles.items())
    return win_tails(battles, round(luck + expected))


def _tails(
    thrown: Mapping[tuple[Trial, int], int], result: int, spread: float
) -> tuple[float, float]:
    """Return the chance that fair dice gain at most, and at least, so many armies."""
    # A throw gains at most the enemies in it, and costs at most one's own armies.
    thrown = {key: count for key, count in thrown.items() if not key[0].is_only_won}
    most = sum((trial.first + trial.second) * count for (trial, _), count in thrown.items()) + 1
    size = 1 << max(most - 1, 1).bit_length()
    if size > LONGEST or size * len(thrown) > MOST_WORK:
        if not spread:
            return 1.0, 1.0
        means = (sign * armies_gain(trial)[0] * n for (trial, sign), n in thrown.items())
        off = (result - math.fsum(means)) / spread / math.sqrt(2)
        return math.erfc(-off) / 2, math.erfc(off) / 2
    rows = []
    for (trial, sign), count in thrown.items():
        weights = outcomes(trial)
        gains = sign * np.array([theirs - ours for ours, theirs in weights])
        least = int(gains.min())
        rows.append((least, np.bincount(gains - least, weights=[*weights.values()]), count))
    width = sum((len(chances) - 1) * count for _, chances, count in rows) + 1
    size = max(size, 1 << max(width - 1, 1).bit_length())  # where armies grow
    product = np.ones(size // 2 + 1, dtype=complex)
    for _, chances, count in rows:
        product *= np.fft.rfft(chances, size) ** count
    total = np.fft.irfft(product, size)[:width]
    place = result - sum(least * count for least, _, count in rows)
    at_most, at_least = float(total[: place + 1].sum()), float(total[place:].sum())
    return min(max(at_most, LEAST_TAIL), 1.0), min(max(at_least, LEAST_TAIL), 1.0)
