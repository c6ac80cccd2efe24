"""Totals: logs that state only sums, such as the armies lost in many rolls, or the winners.

Such a log shows no single die. So a sum is compared with its distribution under fair dice: for each
kind of roll the armies lost in all rolls, the number of battles won of which only the winner is
known, and the number of chances that came true. If the attackers lose X armies in one roll, their
loss S in n rolls has the standard score

    z = (S − n·E[X]) / √(n·Var[X]).

The p-value of one kind of roll is the chance of as large a |z|; of several, that of as large a sum
of z².
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from iacta.fairness.p_values import DRAWS, SAME, Finding, simulated_finding
from iacta.fairness.sums import Scores, are_nearly_normal, score_wins, sum_tails, win_tails
from iacta.fairness.throws import DICE, TOTALS, WINS, Line, Throws, name_of_roll
from iacta.fairness.trials import LOST, WON, Entry, Trial, outcomes
from iacta.inputs.errors import IllegalError

NO_BIAS = 1e-12  # least chance to win or lose in the power of a log
SAME_ARMIES = 1e-6  # rounding error of a mean, in armies
CHANCES = "chances"


class Wins:
    """The number of wins among battles or chances of which nothing else is known.

    tried: how often each chance to win, and not to win, was tried.
    won: how many were won, or the sum of the chances that they became.
    is_decided: whether each became 0 or 1.
    """

    def __init__(self) -> None:
        self.tried: Counter[tuple[float, float]] = Counter()
        self.won = 0.0
        self.is_decided = True

    def add(self, entry: Entry, trial: Trial, times: int) -> None:
        """Add a line that occurs so many times."""
        chances = outcomes(trial)
        self.tried[chances.get(WON, 0.0), chances.get(LOST, 0.0)] += times
        self.is_decided &= trial.is_decided
        if trial.is_decided:
            self.won += times * (entry.outcome == WON)
        elif entry.chances is not None:
            self.won += times * entry.chances[1]

    @property
    def expected_wins(self) -> float:
        """How many fair dice win on average."""
        return math.fsum(won * count for (won, _), count in self.tried.items())

    @property
    def variance(self) -> float:
        """The variance of the number of wins."""
        return math.fsum(won * lost * count for (won, lost), count in self.tried.items())

    def compare_with_fair(self, question: str, noun: str) -> Finding:
        """Return how odd the number of wins is.

        noun: the plural of what was tried, after a blank; may be empty.
        """
        tried, expected = self.tried.total(), self.expected_wins
        at_most, at_least = win_tails(self.tried, self.won, is_decided=self.is_decided)
        tail, off = min(at_most, at_least), self.won - expected
        words = f"{tried:,} {question} add up to {self.won:,.2f}, {expected:,.2f} expected"
        how = "normal" if are_nearly_normal(score_wins(self.tried)) else "exact"
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
    """Adds up the totals of a log.

    lost: for each kind of roll, the number of rolls and the armies that the attackers lost.
    battles: battles of which only the winner is known.
    chances: lines that have nothing but chances.
    """

    def __init__(self) -> None:
        self.lost: dict[Trial, tuple[int, int]] = {}
        self.battles = Wins()
        self.chances = Wins()

    def add(self, entry: Entry, line: Line, count: int) -> None:
        """Add a line that occurs so many times, unless its result is impossible."""
        trial, times = line.trial, count * line.times
        if line.gain is None:
            return
        if trial.kind == "total":
            rolls, lost = self.lost.get(trial, (0, 0))
            self.lost[trial] = rolls + times, lost + count * entry.outcome[0]
        elif trial.kind == "chance":
            self.chances.add(entry, trial, times)
        elif trial.is_only_won:
            self.battles.add(entry, trial, times)

    def throws(self) -> Iterator[Throws]:
        """Yield losses and battles as kinds of throws, whose results depend on each other."""
        for trial, (rolls, lost) in self.lost.items():
            mean, variance = loss_moments(attackers_lost(trial))
            taken = min(trial.first, trial.second)
            share = mean / taken
            yield Throws(
                TOTALS,
                f"{name_of_roll(trial)} in total",
                ("attackers lose", "defenders lose"),
                np.array([share, 1 - share]),
                np.array([0.0, 1.0]),
                {0: np.array([lost, taken * rolls - lost])},
                dispersion=variance / (taken * share * (1 - share)),
            )
        if fought := self.battles.tried.total():
            won = round(self.battles.won)
            share = min(max(self.battles.expected_wins / fought, NO_BIAS), 1 - NO_BIAS)
            equal = fought * share * (1 - share)  # the variance of battles with equal chances
            yield Throws(
                WINS,
                "battles",
                ("won", "lost"),
                np.array([share, 1 - share]),
                np.array([1.0, 0.0]),
                {0: np.array([won, fought - won])},
                # Battles that are all but certain have a share that is no longer their own.
                dispersion=self.battles.variance / equal if equal > 2 * fought * NO_BIAS else 1.0,
            )

    def findings(self, rng: "np.random.Generator", draws: int = DRAWS) -> list[Finding]:
        """Return the tests of the totals against fair dice.

        draws: how many fair logs are simulated where the log has several kinds of rolls.
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
            chances = attackers_lost(trial)
            mean, variance = loss_moments(chances)
            off.append((lost - rolls * mean) / (rolls * variance) ** 0.5)
            details.append(
                f"In {rolls:,} rolls of {name_of_roll(trial)} the attackers lost {lost:,} armies, "
                f"{abs(lost - rolls * mean):,.1f} {'more' if off[-1] > 0 else 'fewer'} than "
                f"average (z = {off[-1]:+.2f})"
            )
            if len(self.lost) == 1:
                p_value, how = loss_tail(chances, rolls, lost)
                return Finding(TOTALS, p_value, off[0], how, None, details[0])
            counts = rng.multinomial(rolls, [*chances.values()], size=draws)
            drawn += (counts @ np.array([*chances]) - rolls * mean) ** 2 / (rolls * variance)
        statistic = float(np.square(off).sum())
        as_far = int((drawn >= statistic * (1 - SAME)).sum())
        return simulated_finding(TOTALS, as_far, draws, statistic, ". ".join(details))


def loss_tail(chances: Mapping[int, float], rolls: int, lost: int) -> tuple[float, str]:
    """Return the chance that some rolls cost a side an amount as far from the mean, or farther.

    Also returns how the chance was found: `"exact"` or `"normal"`.

    chances: how likely one roll costs it so many armies.
    rolls: how many there are.
    lost: the armies that it has lost.

    >>> tail, how = loss_tail({0: 2890 / 7776, 1: 2611 / 7776, 2: 2275 / 7776}, 100_000, 92_351)
    >>> round(tail, 3), how
    (0.312, 'exact')
    """
    parts = [Scores(np.array([*chances]), np.array([*chances.values()]), rolls)]
    mean = rolls * loss_moments(chances)[0]
    off = abs(lost - mean) - SAME_ARMIES
    at_most, _ = sum_tails(parts, math.floor(mean - off))
    _, at_least = sum_tails(parts, math.ceil(mean + off))
    return min(at_most + at_least, 1.0), "normal" if are_nearly_normal(parts) else "exact"


def loss_moments(chances: Mapping[int, float]) -> tuple[float, float]:
    """Return the mean and the variance of the armies that a roll costs.

    >>> loss_moments({0: 0.5, 2: 0.5})
    (1.0, 1.0)
    """
    mean = math.fsum(p * lost for lost, p in chances.items())
    return mean, math.fsum(p * (lost - mean) ** 2 for lost, p in chances.items())


def attackers_lost(trial: Trial) -> dict[int, float]:
    """Return the distribution of the armies that a roll costs the attackers.

    Rolls that do not always take the same number of armies are refused, as their losses in total do
    not show the number of such rolls.

    >>> from iacta.rules.rules import Rules
    >>> attackers_lost(Trial("total", 1, 1, Rules()))
    {0: 0.4166666666666667, 1: 0.5833333333333334}
    """
    taken = min(trial.first, trial.second)
    chances = outcomes(trial)
    if any(sum(lost) != taken for lost in chances) or len(chances) < 2:
        raise IllegalError("totals need rolls that always take the same number of armies")
    return {lost: p for (lost, _), p in chances.items()}


CANNOT_SHOW = {
    DICE: "Single dice cannot show whether losses and battles follow from them, or any luck.",
    TOTALS: "Totals cannot show how often each face or loss came up, or the order of the rolls.",
    WINS: "Battles of which only the winner is known cannot show their losses, and their order is "
    "not tested.",
}


def describe_limits(throws: Iterable[Throws]) -> Iterator[str]:
    """Yield a sentence on the limits of a log that has only throws of one kind.

    >>> list(describe_limits([]))
    []
    """
    kinds = {each.kind for each in throws}
    if len(kinds) == 1:
        yield from (CANNOT_SHOW[kind] for kind in kinds if kind in CANNOT_SHOW)
