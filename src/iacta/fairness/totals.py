"""Tests of logs that give only sums: the armies lost in many rolls, or the number of wins.

The tests compare sums with their distributions under fair dice: the armies lost in all rolls of
each kind, the number of battles won, and the number of successes among attacks with a known chance.
If the attackers lose X armies in one roll, their loss S in n rolls has the standard score

    z = (S − n·E[X]) / √(n·Var[X]).

The p-value of one kind of roll is the probability that |z| is at least as large. For several kinds,
it is the probability that the sum of z² is at least as large.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from iacta.fairness.p_values import DRAWS, TOLERANCE, Finding, make_simulated_finding
from iacta.fairness.sums import (
    Scores,
    are_nearly_normal,
    compute_tails_of_sum,
    compute_win_tails,
    list_win_scores,
)
from iacta.fairness.throws import DICE, TOTALS, WINS, Line, Throws, name_roll
from iacta.fairness.trials import LOST, WON, Entry, Trial, compute_outcome_chances
from iacta.inputs.errors import IllegalError

MIN_MEAN_CHANCE = 1e-12  # a mean chance to win is kept at least this far from 0 and 1
ARMIES_TOLERANCE = 1e-6  # upper bound on the rounding error of an expected loss, in armies
CHANCES = "chances"


class Wins:
    """Counts wins in battles with only a winner, or in attacks with only a chance of success.

    tried: the number of trials for each pair of the chance to win and the chance to lose.
    won: the number of wins, or the sum of the chances to win after the trials.
    is_decided: whether every trial is won or lost.
    """

    def __init__(self) -> None:
        self.tried: Counter[tuple[float, float]] = Counter()
        self.won = 0.0
        self.is_decided = True

    def add(self, entry: Entry, trial: Trial, times: int) -> None:
        """Add a line that occurred `times` times."""
        chances = compute_outcome_chances(trial)
        self.tried[chances.get(WON, 0.0), chances.get(LOST, 0.0)] += times
        self.is_decided &= trial.is_decided
        if trial.is_decided:
            self.won += times * (entry.outcome == WON)
        elif entry.chances is not None:
            self.won += times * entry.chances[1]

    @property
    def expected_wins(self) -> float:
        """The expected number of wins with fair dice."""
        return math.fsum(won * count for (won, _), count in self.tried.items())

    @property
    def variance(self) -> float:
        """The variance of the number of wins with fair dice."""
        return math.fsum(won * lost * count for (won, lost), count in self.tried.items())

    def compare_with_fair(self, question: str, noun: str) -> Finding:
        """Test whether the number of wins agrees with the chances to win.

        question: the name of the test.
        noun: the plural noun for the trials with a leading space, or an empty string.
        """
        tried, expected = self.tried.total(), self.expected_wins
        at_most, at_least = compute_win_tails(self.tried, self.won, is_decided=self.is_decided)
        tail, off = min(at_most, at_least), self.won - expected
        words = f"{tried:,} {question} add up to {self.won:,.2f}, {expected:,.2f} expected"
        how = "normal" if are_nearly_normal(list_win_scores(self.tried)) else "exact"
        if self.is_decided:
            words = (
                f"{self.won:,.0f} of {tried:,}{noun} won, {expected:,.1f} expected; fair dice win "
                f"{'at most' if at_most < at_least else 'at least'} {self.won:,.0f} with a chance "
                f"of {100 * tail:.3g}%"
            )
        else:
            how = "bound"
        return Finding(question, min(2 * tail, 1.0), off, how, None, words)


class Totals:
    """Adds up the lines of a log that state only total losses, winners or chances.

    lost: for each kind of roll, the number of rolls and the armies that the attackers lost.
    battles: the battles with a known winner but unknown losses.
    chances: the attacks for which only the chance of success is known.
    """

    def __init__(self) -> None:
        self.lost: dict[Trial, tuple[int, int]] = {}
        self.battles = Wins()
        self.chances = Wins()

    def add(self, entry: Entry, line: Line, count: int) -> None:
        """Add a line that occurred `count` times.

        Other lines (a single die, a roll, a battle with known losses) and impossible results are
        ignored.
        """
        trial, times = line.trial, count * line.times
        if line.gain is None:
            return
        if trial.kind == "total":
            rolls, lost = self.lost.get(trial, (0, 0))
            self.lost[trial] = rolls + times, lost + count * entry.outcome[0]
        elif trial.kind == "chance":
            self.chances.add(entry, trial, times)
        elif trial.has_only_winner:
            self.battles.add(entry, trial, times)

    def list_throws(self) -> Iterator[Throws]:
        """Yield the counts as `Throws`: armies lost in rolls of each kind, and battles won."""
        for trial, (rolls, lost) in self.lost.items():
            mean, variance = compute_loss_moments(compute_attackers_lost(trial))
            taken = min(trial.first, trial.second)
            share = mean / taken
            yield Throws(
                TOTALS,
                f"{name_roll(trial)} in total",
                ("attackers lose", "defenders lose"),
                np.array([share, 1 - share]),
                np.array([0.0, 1.0]),
                {0: np.array([lost, taken * rolls - lost])},
                dispersion=variance / (taken * share * (1 - share)),
            )
        if fought := self.battles.tried.total():
            won = round(self.battles.won)
            share = min(
                max(self.battles.expected_wins / fought, MIN_MEAN_CHANCE), 1 - MIN_MEAN_CHANCE
            )
            equal = fought * share * (1 - share)  # the variance if all battles had the mean chance
            yield Throws(
                WINS,
                "battles",
                ("won", "lost"),
                np.array([share, 1 - share]),
                np.array([1.0, 0.0]),
                {0: np.array([won, fought - won])},
                # If the result of every battle is certain, both variances are about 0, and their
                # quotient is meaningless.
                dispersion=self.battles.variance / equal
                if equal > 2 * fought * MIN_MEAN_CHANCE
                else 1.0,
            )

    def run_tests(self, rng: "np.random.Generator", draws: int = DRAWS) -> list[Finding]:
        """Test whether the totals agree with fair dice.

        draws: the number of fair logs to simulate if there are several kinds of rolls.
        """
        findings = []
        if self.lost:
            findings.append(self._compare_losses(rng, draws))
        if self.battles.tried:
            findings.append(self.battles.compare_with_fair(WINS, " battles"))
        if self.chances.tried:
            findings.append(self.chances.compare_with_fair(CHANCES, ""))
        return findings

    def _compare_losses(self, rng: "np.random.Generator", draws: int) -> Finding:
        off, drawn, details = [], np.zeros(draws), []
        for trial, (rolls, lost) in self.lost.items():
            chances = compute_attackers_lost(trial)
            mean, variance = compute_loss_moments(chances)
            off.append((lost - rolls * mean) / (rolls * variance) ** 0.5)
            details.append(
                f"In {rolls:,} rolls of {name_roll(trial)} the attackers lost {lost:,} armies, "
                f"{abs(lost - rolls * mean):,.1f} {'more' if off[-1] > 0 else 'fewer'} than "
                f"average (z = {off[-1]:+.2f})"
            )
            if len(self.lost) == 1:
                p_value, how = compute_loss_tail(chances, rolls, lost)
                return Finding(TOTALS, p_value, off[0], how, None, details[0])
            counts = rng.multinomial(rolls, [*chances.values()], size=draws)
            drawn += (counts @ np.array([*chances]) - rolls * mean) ** 2 / (rolls * variance)
        statistic = float(np.square(off).sum())
        as_far = int((drawn >= statistic * (1 - TOLERANCE)).sum())
        return make_simulated_finding(TOTALS, as_far, draws, statistic, ". ".join(details))


def compute_loss_tail(chances: Mapping[int, float], rolls: int, lost: int) -> tuple[float, str]:
    """Return the probability that the attackers' total loss is at least as far from its mean.

    The second value names the method: `"exact"` or `"normal"`.

    chances: the probability of each loss in one roll.
    rolls: the number of rolls.
    lost: the armies that the attackers lost in all rolls together.

    >>> chances = {0: 2890 / 7776, 1: 2611 / 7776, 2: 2275 / 7776}
    >>> tail, how = compute_loss_tail(chances, 100_000, 92_351)
    >>> round(tail, 3), how
    (0.312, 'exact')
    """
    parts = [Scores(np.array([*chances]), np.array([*chances.values()]), rolls)]
    mean = rolls * compute_loss_moments(chances)[0]
    off = abs(lost - mean) - ARMIES_TOLERANCE
    at_most, _ = compute_tails_of_sum(parts, math.floor(mean - off))
    _, at_least = compute_tails_of_sum(parts, math.ceil(mean + off))
    return min(at_most + at_least, 1.0), "normal" if are_nearly_normal(parts) else "exact"


def compute_loss_moments(chances: Mapping[int, float]) -> tuple[float, float]:
    """Return the mean and variance of the armies that the attackers lose in a roll.

    chances: the probability of each loss.

    >>> compute_loss_moments({0: 0.5, 2: 0.5})
    (1.0, 1.0)
    """
    mean = math.fsum(p * lost for lost, p in chances.items())
    return mean, math.fsum(p * (lost - mean) ** 2 for lost, p in chances.items())


def compute_attackers_lost(trial: Trial) -> dict[int, float]:
    """Return the distribution of the armies that the attackers lose in a roll.

    If rolls do not always take the same number of armies, `IllegalError` is raised, because the
    total losses of one side do not determine those of the other.

    >>> from iacta.rules.rules import Rules
    >>> compute_attackers_lost(Trial("total", 1, 1, Rules()))
    {0: 0.4166666666666667, 1: 0.5833333333333334}
    """
    taken = min(trial.first, trial.second)
    chances = compute_outcome_chances(trial)
    if any(sum(lost) != taken for lost in chances) or len(chances) < 2:
        raise IllegalError("totals need rolls that always take the same number of armies")
    return {lost: p for (lost, _), p in chances.items()}


CANNOT_SHOW = {
    DICE: "Single dice cannot show luck, or whether the losses match the dice.",
    TOTALS: "Totals cannot show how often each face or loss came up, or the order of the rolls.",
    WINS: "A log of winners cannot show losses, and its order is not tested.",
}


def describe_limits(throws: Iterable[Throws]) -> Iterator[str]:
    """Yield a sentence about the limits of a log that has only one kind of throw.

    An example is a log of winners, which does not show losses.

    >>> list(describe_limits([]))
    []
    """
    kinds = {throw.kind for throw in throws}
    if len(kinds) == 1:
        yield from (CANNOT_SHOW[kind] for kind in kinds if kind in CANNOT_SHOW)
