"""E-values: evidence against fair dice that may be checked after every throw.

A p-value is valid only if the length of the log was fixed in advance: a player who checks after
every game and stops at the first small p-value will eventually find one, even with fair dice. An
e-value may be checked at any time. It is the capital of a gambler who starts with 1 and bets
against fair dice. With fair dice the expected capital stays 1 under any betting strategy. By
Ville's inequality, the chance that the capital ever reaches 1/α is at most α.

The gambler bets on a Dirichlet mixture. Let result i have probability pᵢ with fair dice, count nᵢ
among n throws, and weight aᵢ, and let A be the sum of all weights. Then

    E = Γ(A) / Γ(A + n) · Π_i (Γ(a_i + n_i) / Γ(a_i)) / Π_i p_i^{n_i},

and each throw multiplies E by one factor. If the next result is i, the factor is

    (a_i + n_i) / ((A + n)·p_i).

The weights aᵢ = 100 pᵢ suit biases of a few per cent. The e-values of different kinds of throw are
multiplied.

Source: Lindon and Malek, "Anytime-valid inference for multinomial count data" (NeurIPS 2022, arXiv
2011.03567).
"""

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

WEIGHT = 100.0  # the sum A of all weights aᵢ in the formulas above


def log_evidence(counts: Ints, chances: Floats) -> float:
    """Return log E, the logarithm of the e-value, for the counts of all results of a log.

    counts: the count of each result.
    chances: the probability of each result with fair dice.

    >>> import numpy as np
    >>> round(math.exp(log_evidence(np.array([30, 10]), np.array([0.5, 0.5]))), 2)
    3.58
    """
    total = math.lgamma(WEIGHT) - math.lgamma(WEIGHT + int(counts.sum()))
    for count, chance in zip(counts.tolist(), chances.tolist(), strict=True):
        if count:
            weight = WEIGHT * chance
            total += math.lgamma(weight + count) - math.lgamma(weight) - count * math.log(chance)
    return total


def log_factors(results: Ints, before: Ints, chances: Floats) -> Floats:
    """Return the change of log E, the logarithm of the e-value, caused by each throw of a sequence.

    results: the results in order, as indices into `chances`.
    before: for each possible result, its number of occurrences before the sequence.
    chances: the probability of each result with fair dice.

    >>> import numpy as np
    >>> factors = log_factors(np.array([0, 1, 0]), np.zeros(2, dtype=int), np.array([0.5, 0.5]))
    >>> round(float(factors.sum() - log_evidence(np.array([2, 1]), np.array([0.5, 0.5]))), 12)
    0.0
    """
    seen = np.empty(len(results))
    for kind, count in enumerate(before.tolist()):
        is_kind = np.flatnonzero(results == kind)
        seen[is_kind] = np.arange(count, count + len(is_kind))
    n = np.arange(int(before.sum()), int(before.sum()) + len(results))
    chance = chances[results]
    factors: Floats = np.log((WEIGHT * chance + seen) / ((WEIGHT + n) * chance))
    return factors
