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
from iacta.fairness.sums import Scores, sum_tails, win_tails
from iacta.fairness.trials import LOST, WON, Entry, Trial, outcomes
from iacta.methods import find_kernel
from iacta.rules.rules import Rules


class Luck(NamedTuple):
    """The luck of a player.

    player: the name, empty for attackers without one.
    throws: how many rolls and battles the player was in.
    result: armies that the enemy lost, minus those of the player.
    armies: how many of them are luck; the others, `result - armies`, are what the choices were
        worth.
    spread: the standard deviation of that luck.
    as_bad, as_good: the chance that fair dice are at least as bad, or as good, for the player: in
        armies, or in wins where no armies are known.
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
    if not trial.has_losses:
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

    Both are 0 where only success is known.

    >>> mean, variance = armies_gain(Trial("roll", 3, 2, Rules()))
    >>> round(mean, 4), round(variance, 4)
    (0.1582, 2.6319)
    """
    if not trial.has_losses:
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

    The distribution of the armies gained, or of the wins, is exact. Where that takes long, the
    distribution of armies is the normal one, and where chances are still open, that of wins is
    Chernoff's bound.
    """
    variances = (armies_gain(trial)[1] * count for (trial, _), count in thrown.items())
    result, spread = round(total.armies), math.sqrt(math.fsum(variances))
    if any(trial.has_losses for trial, _ in thrown):
        as_bad, as_good = _army_tails(thrown, result)
    else:
        as_bad, as_good = _win_tails(thrown, total.wins)
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


def _army_tails(thrown: Mapping[tuple[Trial, int], int], result: int) -> tuple[float, float]:
    """Return the chance that fair dice gain at most, and at least, so many armies."""
    parts = []
    for (trial, sign), count in thrown.items():
        if trial.has_losses:
            weights = outcomes(trial)
            gains = sign * np.array([theirs - ours for ours, theirs in weights])
            parts.append(Scores(gains, np.array([*weights.values()]), count))
    return sum_tails(parts, result)


def _win_tails(thrown: Mapping[tuple[Trial, int], int], gain: float) -> tuple[float, float]:
    """Return the chance that fair dice win at most, and at least, as often."""
    tried: Counter[tuple[float, float]] = Counter()
    for (trial, sign), count in thrown.items():
        chances = outcomes(trial)
        won, lost = chances.get(WON, 0.0), chances.get(LOST, 0.0)
        tried[(won, lost) if sign > 0 else (lost, won)] += count
    expected = math.fsum(won * count for (won, _), count in tried.items())
    is_decided = all(trial.is_decided for trial, _ in thrown)
    return win_tails(tried, gain + expected, is_decided=is_decided)
