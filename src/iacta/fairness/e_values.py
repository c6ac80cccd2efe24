"""E-values: how much a log speaks against fair dice, at any moment that somebody looks.

A p-value is right for a log of a length that was fixed before. Who looks after every game, and
stops when it is small, finds one in the end even with fair dice. An e-value may be watched. It is
what a bet against fair dice has made of 1: with fair dice its expected value stays 1, however the
bets are placed, so that by Ville's inequality it ever reaches 1/α with a chance of at most α.

The bets are those of a Dirichlet mixture. With K kinds of results, nᵢ of kind i among n, which fair
dice give with the probability pᵢ, and weights aᵢ with the sum A,

    E = Γ(A) / Γ(A + n) · Π_i (Γ(a_i + n_i) / Γ(a_i)) / Π_i p_i^{n_i},

which grows by one factor with each result: when kind i comes next, by

    (a_i + n_i) / ((A + n)·p_i).

The weights are aᵢ = 100 pᵢ: the mixture looks for biases of some per cent. The e-values of
different kinds of throws are multiplied.

Source: Lindon and Malek, "Anytime-valid inference for multinomial count data" (NeurIPS 2022, arXiv
2011.03567).
"""

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

WEIGHT = 100.0


def log_evidence(counts: Ints, chances: Floats) -> float:
    """Return log E for the counts of all results.

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
    """Return by how much each of some results changes log E.

    results: the results in their order, as places in `chances`.
    before: how often each result came before these.

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
