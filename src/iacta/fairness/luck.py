"""Luck: the part of a result that is due to the dice, as in backgammon.

A state of the game has a value V, such as the chance to win. Both decisions and dice change V. The
luck of a throw is the change of V caused by the dice alone,

    luck = V(after) − E[V(after)].

Its expected value is 0, whatever the decision was. Luck therefore adds up over throws, and so does
its variance, because throws are independent. Skill is the rest of the result:

    result = skill + luck.

Here V is the number of armies lost by the enemy minus the player's own losses, or the chance to win
the battle or the whole campaign. The luck of the defenders is the luck of the attackers with a
minus sign.

A log may state V itself, such as the chance of a plan before and after a throw. While the plan is
followed, V is a martingale, so the luck is V(after) − V(before). The sum of V·(1 − V) and all
squared changes of V so far is also a martingale, so the expected square of a change is

    E[(V(after) − V(before))²] = V(before)·(1 − V(before)) − E[V(after)·(1 − V(after))].

Over a plan that is followed to its end, these squares add up to V·(1 − V) at the start.

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
from iacta.fairness.sums import Scores, compute_tails_of_sum, compute_win_tails
from iacta.fairness.trials import LOST, WON, Entry, Trial, compute_outcome_chances
from iacta.methods import choose_kernel
from iacta.rules.rules import Rules


class Luck(NamedTuple):
    """The luck of a player in all throws of a log.

    player: the name of the player; empty if the log has no names.
    throws: the number of rolls and battles in which the player took part.
    result: the armies lost by the player's opponents, minus the player's own losses. Throws without
        stated losses count as 0.
    armies: the part of the result that is luck; the rest, `result - armies`, is skill.
    spread: the standard deviation of the luck, with fair dice.
    as_bad: the chance that fair dice are at least as bad for the player, measured in armies, or in
        wins if the log has no losses.
    as_good: the chance that fair dice are at least as good for the player.
    fights: the number of throws for which the chance to win before and after the throw is known.
    wins: the sum, over these throws, of the changes of the chance to win that are due to the dice.
    wins_spread: the standard deviation, with fair dice, of `wins`; for stated chances, an estimate.
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


class Gain(NamedTuple):
    """The result and the luck of a player in one or more throws.

    throws: the number of throws.
    armies: the armies lost by the enemy, minus the player's own losses; 0 if the log states no
        losses.
    luck: the part of `armies` that is due to the dice.
    fights: the number of throws for which the chance to win before and after the throw is known.
    wins: the sum of the changes of the chance to win that are due to the dice.
    variance: the variance of `wins` with fair dice; for stated chances, an estimate.
    """

    throws: float
    armies: float
    luck: float
    fights: float
    wins: float
    variance: float


def measure_gain(entry: Entry, trial: Trial) -> Gain:
    """Return the attackers' gain from a roll or battle; for many rolls, the mean gain per roll."""
    armies = (entry.outcome[1] - entry.outcome[0]) / (entry.times if trial.kind == "total" else 1)
    mean, _ = compute_army_moments(trial)
    if not trial.has_losses:
        armies = 0
    chance: tuple[float, float, float] = (0, 0.0, 0.0)
    if entry.chances is not None:
        before, after = entry.chances
        chance = (1, after - before, before * (1 - before) - after * (1 - after))
    elif trial.kind == "battle" or entry.armies is not None:
        chance = (1, *measure_chance_luck(trial, entry.armies, entry.outcome, entry.ahead))
    return Gain(1, armies, armies - mean, *chance)


@lru_cache(maxsize=2**14)
def compute_army_moments(trial: Trial) -> tuple[float, float]:
    """Return the mean and variance of the armies lost by the defenders minus the attackers' losses.

    The mean and the variance are 0 if the log does not state the losses of the trial.

    >>> mean, variance = compute_army_moments(Trial("roll", 3, 2, Rules()))
    >>> round(mean, 4), round(variance, 4)
    (0.1582, 2.6319)
    """
    if not trial.has_losses:
        return 0.0, 0.0
    chances = compute_outcome_chances(trial)
    mean = math.fsum(p * (theirs - ours) for (ours, theirs), p in chances.items())
    square = math.fsum(p * (theirs - ours) ** 2 for (ours, theirs), p in chances.items())
    return mean, max(square - mean * mean, 0.0)


@lru_cache(maxsize=2**16)
def measure_chance_luck(
    trial: Trial,
    armies: tuple[int, int] | None,
    lost: tuple[int, int],
    ahead: tuple[Territory, ...] = (),
) -> tuple[float, float]:
    """Return the change of the attackers' chance to succeed that is due to the dice of a throw.

    The second value is the variance of this change.

    armies: the attackers (garrison included) and the defenders before a roll; `None` for a battle.
    lost: the armies lost by the attackers and by the defenders.
    ahead: the territories that the attackers must still conquer after this one to succeed.

    >>> luck, variance = measure_chance_luck(Trial("roll", 3, 2, Rules()), (12, 10), (0, 2))
    >>> round(luck, 4)
    0.1403
    """
    chances = compute_outcome_chances(trial)
    ours, theirs = (trial.first, trial.second) if armies is None else armies
    is_over = armies is None  # after a battle, defenders that are left cannot be attacked again
    if trial.has_only_winner:
        won = chances.get(WON, 0.0)
        return float(lost == WON) - won, won * chances.get(LOST, 0.0)
    values = {
        outcome: _compute_chance(
            ours - outcome[0], theirs - outcome[1], trial.rules, ahead, is_over
        )
        for outcome in chances
    }
    mean = math.fsum(p * values[outcome] for outcome, p in chances.items())
    square = math.fsum(p * (values[outcome] - mean) ** 2 for outcome, p in chances.items())
    return values[lost] - mean, square


@lru_cache(maxsize=2**16)
def _compute_chance(
    attackers: int, defenders: int, rules: Rules, ahead: tuple[Territory, ...], is_over: bool
) -> float:
    """Return the chance to conquer a territory and all territories ahead of it.

    attackers, defenders: the attackers (garrison included) and the defenders that are left.
    is_over: whether the battle for the first territory has ended.
    """
    able = attackers - rules.garrison
    if not defenders and not ahead:
        return 1.0
    if able <= 0 or (defenders and is_over):
        return 0.0
    if not ahead:
        return float(choose_kernel(rules).win_probability(able, defenders))
    way = [Territory(defenders), *ahead] if defenders else ahead
    return float(Campaign(attackers if defenders else able, way, rules).win_probability())


def measure_luck(
    player: str, total_gain: Gain, trial_counts: Mapping[tuple[Trial, int], int]
) -> Luck:
    """Return the luck of a player in all throws of a log.

    total_gain: the sum of the player's gains.
    trial_counts: how often each trial occurred. The key is a pair of the trial and a sign: 1 if the
        player attacked, −1 if the player defended.

    `as_bad` and `as_good` are exact with two exceptions: for very long logs they are normal
    approximations, and for logs with undecided attacks they are Chernoff bounds.
    """
    variances = (
        compute_army_moments(trial)[1] * count for (trial, _), count in trial_counts.items()
    )
    result, spread = round(total_gain.armies), math.sqrt(math.fsum(variances))
    if any(trial.has_losses for trial, _ in trial_counts):
        as_bad, as_good = _compute_army_tails(trial_counts, result)
    else:
        as_bad, as_good = _compute_win_tails(trial_counts, total_gain.wins)
    return Luck(
        player=player,
        throws=int(total_gain.throws),
        result=result,
        armies=total_gain.luck,
        spread=spread,
        as_bad=as_bad,
        as_good=as_good,
        fights=int(total_gain.fights),
        wins=total_gain.wins,
        wins_spread=math.sqrt(max(total_gain.variance, 0.0)),
    )


def _compute_army_tails(
    trial_counts: Mapping[tuple[Trial, int], int], army_gain: int
) -> tuple[float, float]:
    """Return the chances that fair dice gain a player at most, and at least, `army_gain` armies.

    The gain is the losses of the player's opponents, minus the player's own losses.
    """
    parts = []
    for (trial, sign), count in trial_counts.items():
        if trial.has_losses:
            weights = compute_outcome_chances(trial)
            gains = sign * np.array([theirs - ours for ours, theirs in weights])
            parts.append(Scores(gains, np.array([*weights.values()]), count))
    return compute_tails_of_sum(parts, army_gain)


def _compute_win_tails(
    trial_counts: Mapping[tuple[Trial, int], int], gain: float
) -> tuple[float, float]:
    """Return the chances that fair dice bring a player at most, and at least, this luck in wins.

    gain: the luck in wins: the number of the player's wins minus its expected value.
    """
    tried: Counter[tuple[float, float]] = Counter()
    for (trial, sign), count in trial_counts.items():
        chances = compute_outcome_chances(trial)
        won, lost = chances.get(WON, 0.0), chances.get(LOST, 0.0)
        tried[(won, lost) if sign > 0 else (lost, won)] += count
    expected = math.fsum(won * count for (won, _), count in tried.items())
    is_decided = all(trial.is_decided for trial, _ in trial_counts)
    return compute_win_tails(tried, gain + expected, is_decided=is_decided)
