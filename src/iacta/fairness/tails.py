"""Tests for results that are too extreme, or too average, for fair dice.

The result x of a roll or a battle is the losses of both sides, such as (3, 0) if only the attackers
lost armies. The possible results are ordered from best to worst for the attackers. With fair dice,
the probabilities of a result at least as good as x, and at least as bad as x, are

    U(x) = P(X ≤ x),        D(x) = P(X ≥ x).

Two sums measure the luck in a log: Σ −log U(x) is large if the attackers were lucky, and Σ −log
D(x) is large if they were unlucky (Fisher 1932). The sum Σ −log min(U(x), D(x)) measures the
spread. It is large if results are too extreme on either side, and small if they are too average,
for example if balanced blitz was used instead of dice.

Because results are discrete, these sums do not have Fisher's distribution. Their distribution is
computed exactly: each score is rounded to a whole number of units, and the distributions of all
scores are convolved (`sums.py`). Rounding makes a statistic coarser, but its p-value stays exact.

A sum can hide one extreme result among many. The most extreme battle therefore has a test of its
own: the probability that fair dice give at least one battle with a min(U, D) as small or smaller.

Source: Fisher, "Statistical Methods for Research Workers" (4th edition, 1932, section 21.1).
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from iacta.fairness.e_values import Floats
from iacta.fairness.p_values import TOLERANCE, Finding
from iacta.fairness.sums import MAX_WORK, WINDOW_DEVIATIONS, Scores, compute_tail
from iacta.fairness.throws import UNDECIDED, Line
from iacta.fairness.trials import Trial, compute_outcome_chances

MAX_UNITS = 16.0  # scores are rounded to multiples of 1 / 16, or of more in very long logs
TILTS = np.array([0.25, 0.5, 0.75, 0.9])  # each θ has a bet on lucky and a bet on unlucky results
BETS = 2 * len(TILTS)
NO_BETS = (0.0,) * BETS


@lru_cache(maxsize=2**11)
def compute_tails(trial: Trial) -> tuple[Floats, Floats, Floats]:
    """Return the probabilities P(X = x), U(x) and D(x) for each result x of a trial.

    Results are ordered from best to worst for the attackers.

    >>> from iacta.rules.rules import Rules
    >>> [chances.round(3).tolist() for chances in compute_tails(Trial("roll", 2, 1, Rules()))]
    [[0.579, 0.421], [0.579, 1.0], [1.0, 0.421]]
    """
    chances = np.array([*compute_outcome_chances(trial).values()])
    better, worse = np.cumsum(chances), np.cumsum(chances[::-1])[::-1]
    return chances, np.minimum(better, 1.0), np.minimum(worse, 1.0)


@lru_cache(maxsize=2**11)
def _compute_bets(trial: Trial) -> Floats:
    """Return the logs of the factors by which each result multiplies the stakes of bets.

    The array has a row for each result of the trial, and a column for each bet on extreme results.
    A bet on lucky results multiplies its stake by U^−θ / E[U^−θ], which has expected value 1.
    """
    chances, *sides = compute_tails(trial)
    logs = np.concatenate([np.outer(TILTS, -np.log(side)) for side in sides])
    bets: Floats = logs - np.log(np.exp(logs) @ chances)[:, None]
    return bets.T


def compute_bet_changes(line: Line) -> tuple[float, ...]:
    """Return, for each bet on extreme results, the change of its log E that a line causes.

    The changes are 0 for a single die, a roll or an impossible result. The stake of a bet on an
    undecided attack is multiplied by the weighted mean of the factors for success and failure,
    which is also a fair bet.
    """
    if line.gain is None or line.trial.kind == "roll":
        return NO_BETS
    bets = _compute_bets(line.trial)
    if line.result != UNDECIDED:
        return tuple(bets[line.result].tolist())
    after = line.trial.chance + line.gain.wins
    return tuple(np.log(np.array([after, 1 - after]) @ np.exp(bets)).tolist())


class Tails:
    """Counts the results of rolls, battles and stated chances, and tests whether they are extreme.

    results: for each trial, the count of each result.
    bets: for each bet on extreme results, log E: the logarithm of its stake, which starts at 1.
    """

    def __init__(self) -> None:
        self.results: dict[Trial, Counter[int]] = {}
        self.bets: Floats = np.zeros(BETS)

    def add(self, line: Line, times: int) -> None:
        """Count the result of a line that occurs `times` times in the log."""
        if line.gain is None:  # the line is a single die, or its result is impossible
            return
        self.results.setdefault(line.trial, Counter())[line.result] += times
        self.bets += times * np.array(compute_bet_changes(line))

    def run_tests(self) -> list[Finding]:
        """Test the luck of all attackers, and the spread of battles and of chances."""
        decided = {trial: counts for trial, counts in self.results.items() if trial.is_decided}
        battles = {trial: counts for trial, counts in decided.items() if trial.kind != "roll"}
        found = []
        if decided:
            lucky, unlucky = (
                compute_tail(*_compute_scores(decided, side))
                for side in (lambda better, _: better, lambda _, worse: worse)
            )
            found.append(_choose_worse("luck", {"lucky": lucky, "unlucky": unlucky}))
        if battles:
            parts, total = _compute_scores(battles, np.minimum)
            negative = [part._replace(scores=-part.scores) for part in parts]
            sides = {
                "extreme": compute_tail(parts, total),
                "average": compute_tail(negative, -total),
            }
            found += [_choose_worse("spread", sides), _judge_most_extreme(battles)]
        return found


def _compute_scores(
    results: Mapping[Trial, Counter[int]], find_chances: Callable[[Floats, Floats], Floats]
) -> tuple[list[Scores], int]:
    """Return the distributions of the scores of all results, and the observed total score.

    find_chances: a function that computes a probability for each result of a trial from U and D.
        The score of the result is the negative logarithm of this probability.
    """
    number = sum(counts.total() for counts in results.values())
    units = min(MAX_UNITS, MAX_WORK / (len(results) * 2 * WINDOW_DEVIATIONS * math.sqrt(number)))
    parts, total = [], 0
    for trial, counts in results.items():
        chances, better, worse = compute_tails(trial)
        scores = np.rint(-units * np.log(find_chances(better, worse))).astype(np.int64)
        parts.append(Scores(scores, chances, counts.total()))
        total += sum(int(scores[result]) * count for result, count in counts.items())
    return parts, total


def _choose_worse(question: str, sides: Mapping[str, float]) -> Finding:
    """Return a finding with the p-value of a two-sided test.

    sides: for each side, such as `lucky` and `unlucky`, the probability that fair dice deviate at
        least as much.
    """
    worse = min(sides, key=lambda side: sides[side])
    return Finding(question, min(2 * sides[worse], 1.0), sides[worse], "exact", None, worse)


def _judge_most_extreme(battles: Mapping[Trial, Counter[int]]) -> Finding:
    """Test whether the most extreme result of all battles is too extreme for fair dice."""
    least, rank, where = 1.0, 0, next(iter(battles))
    for trial, counts in battles.items():
        _, better, worse = compute_tails(trial)
        ends = np.minimum(better, worse)
        for result in counts:
            if ends[result] <= least:
                least, rank, where = float(ends[result]), result, trial
    log_none = 0.0
    for trial, counts in battles.items():
        chances, better, worse = compute_tails(trial)
        as_far = math.fsum(chances[np.minimum(better, worse) <= least * (1 + TOLERANCE)])
        log_none += counts.total() * (math.log1p(-as_far) if as_far < 1 else -math.inf)
    return Finding(
        "most extreme", -math.expm1(log_none), least, "exact", None, _describe(where, rank)
    )


def _describe(trial: Trial, rank: int) -> str:
    """Describe a result of a trial in words.

    rank: the rank of the result, 0 for the best result for the attackers.

    >>> from iacta.rules.rules import Rules
    >>> _describe(Trial("battle", 9, 1, Rules()), 8)
    '9 against 1 lost, with 1 left'
    """
    ours, theirs = [*compute_outcome_chances(trial)][rank]
    if trial.kind == "chance":
        return f"a chance of {trial.chance:.6g} {'won' if theirs else 'lost'}"
    if trial.has_only_winner:
        return f"{trial.first:,} against {trial.second:,} {'won' if theirs else 'lost'}"
    left = trial.second - theirs
    end = f"lost, with {left:,} left" if left else f"won, {ours:,} lost"
    return f"{trial.first:,} against {trial.second:,} {end}"
