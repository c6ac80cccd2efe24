"""Totals: logs that state only sums, such as the armies lost in many rolls, or the winners.

Such a log shows no single die. So a sum is compared with its distribution under fair dice: for each
kind of roll the armies lost in all rolls, and the number of battles won. If the attackers lose X
armies in one roll, their loss S in n rolls has the standard score

    z = (S − n·E[X]) / √(n·Var[X]).

The p-value of one kind of roll is the chance of as large a |z|; of several, that of as large a sum
of z².
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from iacta.errors import IllegalError
from iacta.fairness.p_values import DRAWS, SAME, Finding, simulated_finding
from iacta.fairness.throws import DICE, TOTALS, WINS, Throws, name_of_roll
from iacta.fairness.total_chances import (
    MOST_ARMIES,
    are_nearly_normal,
    loss_moments,
    loss_tail,
    win_tails,
)
from iacta.fairness.trials import LOST, WON, Entry, Trial, outcomes

NO_BIAS = 1e-12  # least chance to win or lose in the power of a log


class Totals:
    """Adds up the totals of a log.

    lost: for each kind of roll, the number of rolls and the armies that the attackers lost.
    fought: the number of battles with each chance to win and to lose.
    won: the number of battles won.
    """

    def __init__(self) -> None:
        self.lost: dict[Trial, tuple[int, int]] = {}
        self.fought: Counter[tuple[float, float]] = Counter()
        self.won = 0

    def add(self, entry: Entry, times: int) -> None:
        """Add a line that occurs so many times."""
        trial = entry.trial
        if trial is None:
            raise ValueError("no trial")
        if trial.kind == "total":
            rolls, lost = self.lost.get(trial, (0, 0))
            self.lost[trial] = rolls + times * entry.times, lost + times * entry.outcome[0]
            return
        chances = outcomes(trial)
        self.fought[chances.get(WON, 0.0), chances.get(LOST, 0.0)] += times * entry.times
        self.won += times * entry.times * (entry.outcome == WON)

    def throws(self) -> Iterator[Throws]:
        """Yield the totals as kinds of throws, whose results depend on each other."""
        for trial, (rolls, lost) in self.lost.items():
            mean, variance, _ = loss_moments(attackers_lost(trial))
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
        if fought := self.fought.total():
            wins = sum(p * count for (p, _), count in self.fought.items())
            variance = sum(p * q * count for (p, q), count in self.fought.items())
            share = min(max(wins / fought, NO_BIAS), 1 - NO_BIAS)
            yield Throws(
                WINS,
                "battles",
                ("won", "lost"),
                np.array([share, 1 - share]),
                np.array([1.0, 0.0]),
                {0: np.array([self.won, fought - self.won])},
                dispersion=max(variance / (fought * share * (1 - share)), NO_BIAS),
            )

    def findings(self, rng: "np.random.Generator", draws: int = DRAWS) -> list[Finding]:
        """Return the tests of the totals against fair dice.

        draws: how many fair logs are simulated where the log has several kinds of rolls.
        """
        findings = []
        if self.lost:
            findings.append(self._compare_losses(rng, draws))
        if self.fought:
            findings.append(self._compare_wins())
        return findings

    def _compare_losses(self, rng: "np.random.Generator", draws: int) -> Finding:
        off, drawn, details = [], np.zeros(draws), []
        for trial, (rolls, lost) in self.lost.items():
            chances = attackers_lost(trial)
            mean, variance, _ = loss_moments(chances)
            off.append((lost - rolls * mean) / (rolls * variance) ** 0.5)
            details.append(
                f"In {rolls:,} rolls of {name_of_roll(trial)} the attackers lost {lost:,} armies, "
                f"{abs(lost - rolls * mean):,.1f} {'more' if off[-1] > 0 else 'fewer'} than "
                f"average (z = {off[-1]:+.2f})."
            )
            if len(self.lost) == 1:
                p_value = loss_tail(chances, rolls, lost)
                how = "exact" if rolls * max(chances) < MOST_ARMIES else "normal"
                return Finding(TOTALS, p_value, off[0], how, None, details[0])
            counts = rng.multinomial(rolls, [*chances.values()], size=draws)
            drawn += (counts @ np.array([*chances]) - rolls * mean) ** 2 / (rolls * variance)
        statistic = float(np.square(off).sum())
        as_far = int((drawn >= statistic * (1 - SAME)).sum())
        return simulated_finding(TOTALS, as_far, draws, statistic, " ".join(details))

    def _compare_wins(self) -> Finding:
        at_most, at_least = win_tails(self.fought, self.won)
        fought = self.fought.total()
        expected = sum(p * count for (p, _), count in self.fought.items())
        few = at_most < at_least
        detail = (
            f"The attackers won {self.won:,} of {fought:,} battles, {expected:,.1f} expected; fair "
            f"dice win {'at most' if few else 'at least'} {self.won:,} with a chance of "
            f"{100 * min(at_most, at_least):.3g}%."
        )
        how = "normal" if are_nearly_normal(self.fought) else "exact"
        return Finding(
            WINS, min(1.0, 2 * min(at_most, at_least)), self.won - expected, how, None, detail
        )


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
    WINS: "Battles of which only the winner is known cannot show their losses or their order.",
}


def describe_limits(throws: Iterable[Throws]) -> Iterator[str]:
    """Yield a sentence on the limits of a log that has only throws of one kind.

    >>> list(describe_limits([]))
    []
    """
    kinds = {each.kind for each in throws}
    if len(kinds) == 1:
        yield from (CANNOT_SHOW[kind] for kind in kinds if kind in CANNOT_SHOW)
