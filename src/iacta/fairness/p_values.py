"""P-values: test whether the counts of results agree with fair dice, and find detectable biases.

All tests of counts use Pearson's statistic. If result i has count nᵢ among n throws, and
probability pᵢ with fair dice, the statistic is

    X² = Σ_i (n_i − n·p_i)² / (n·p_i).

The p-value is the probability that fair dice give a value at least as large. For short logs, this
is a sum over all possible counts (the exact multinomial test). For longer logs, N fair logs are
simulated. If b of their statistics are at least as large, the p-value is

    p = (b + 1) / (N + 1).

With fair dice, the probability that this p-value is at most α is itself at most α (Davison and
Hinkley 1997, eq 4.11). Several tests of a log are combined by Holm's correction (1979): the
smallest of m p-values is multiplied by m, the next by m − 1, and so on. With fair dice, the
probability that any corrected p-value is at most α is then at most α.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.fairness.e_values import Floats, Ints
from iacta.fairness.sums import approximate_tail
from iacta.fairness.throws import Throws
from iacta.probability.estimate import Estimate, Interval

MAX_ENUMERATED_COUNTS = 200_000  # maximum number of possible counts that an exact p-value adds up
DRAWS = 100_000  # usual number of fair logs to simulate for a p-value
SHUFFLES = 9_999  # usual number of shuffled logs in the tests of order and of players
MAX_SHUFFLED_THROWS = 1_000  # a normal approximation tests the order of logs with more throws
MAX_URN_THROWS = 10**9  # NumPy's hypergeometric distribution accepts fewer throws than this
MAX_COMPARED_PLAYERS = 12
ORDER_TESTS = ("repeats", "runs", "correlation")
MIN_SEQUENCE = 40  # logs with fewer throws are not searched for repeated sequences
# The fractions r of repeated throws, one for each bet of `find_period`.
COPIED_SHARES = (0.99, *(2.0**-i for i in range(1, 9)))
TOLERANCE = 1e-9  # statistics with a smaller relative difference are treated as equal
POWER = 0.9  # a bias is detectable if it raises an alarm with at least this probability
MAX_BIAS = 0.5
CERTAIN_SHIFT = 1000.0  # a bias with a larger noncentrality per result always raises an alarm
INTERVAL_LEVEL = 0.99  # confidence level of the interval around a simulated p-value
MAX_SUMMED_VARIANCE = 1e6  # binomial tails with a larger variance use a normal approximation


class Finding(NamedTuple):
    """The outcome of one statistical test of a log.

    question: the name of the test.
    p_value: the probability that fair dice deviate at least as much as the log.
    statistic: the value of the test statistic.
    how: how the p-value was found: `"exact"`, `"simulated"`, `"normal"` or `"bound"`.
    interval: the 99% confidence interval of a simulated p-value; otherwise `None`.
    detail: further details in words, for the user.
    """

    question: str
    p_value: float
    statistic: float
    how: str
    interval: Interval | None = None
    detail: str = ""


def compare_with_fair(
    question: str, parts: Sequence[Throws], rng: "np.random.Generator", draws: int = DRAWS
) -> Finding:
    """Test whether the counts of results agree with fair dice.

    question: the name of the test.
    parts: the kinds of throw that are tested together; their statistics X² are added.
    draws: the number of fair logs to simulate if there are too many possible counts.

    >>> import numpy as np
    >>> sides, counts = np.array([1.0, 2.0]), {0: np.array([9, 1])}
    >>> coin = Throws("coins", "a coin", ("heads", "tails"), np.array([0.5, 0.5]), sides, counts)
    >>> finding = compare_with_fair("a coin", [coin], np.random.default_rng(1))
    >>> round(finding.p_value * 1024, 9), finding.how
    (22.0, 'exact')
    """
    statistic = sum(float(_compute_pearson(part.counts, part.chances)) for part in parts)
    others = len(parts[0].chances) - 1
    if len(parts) == 1 and comb(parts[0].total + others, others) <= MAX_ENUMERATED_COUNTS:
        return Finding(question, _compute_exact_p_value(parts[0], statistic), statistic, "exact")
    drawn = np.zeros(draws)
    for part in parts:
        drawn += _compute_pearson(
            rng.multinomial(part.total, part.chances, size=draws), part.chances
        )
    return make_simulated_finding(
        question, int((drawn >= statistic * (1 - TOLERANCE)).sum()), draws, statistic
    )


def make_simulated_finding(
    question: str, extreme_count: int, draws: int, statistic: float, detail: str = ""
) -> Finding:
    """Compute a p-value from simulated logs, and return it as a finding.

    extreme_count: the number of simulated fair logs that deviate at least as much as the real log.
    draws: the total number of simulated fair logs.
    """
    interval = Estimate(draws, extreme_count).interval(INTERVAL_LEVEL)
    p_value = (extreme_count + 1) / (draws + 1)
    return Finding(question, p_value, statistic, "simulated", interval, detail)


def _compute_pearson(counts: Ints, chances: Floats) -> Floats:
    expected = counts.sum(axis=-1, keepdims=True) * chances
    with np.errstate(invalid="ignore"):
        parts = (counts - expected) ** 2 / expected
    statistics: Floats = np.nansum(parts, axis=-1)
    return statistics


def _compute_exact_p_value(part: Throws, statistic: float) -> float:
    """Return the exact p-value of X²: a sum over all possible counts of a kind of throw."""
    n = part.total
    every = _list_compositions(n, len(part.chances))
    log_factorials = _log_factorial(np.arange(n + 1))
    logs = log_factorials[n] + (every * np.log(part.chances) - log_factorials[every]).sum(axis=1)
    is_as_far = _compute_pearson(every, part.chances) >= statistic * (1 - TOLERANCE)
    return min(math.fsum(np.exp(logs[is_as_far])), 1.0)


def _list_compositions(total: int, kinds: int) -> Ints:
    """Return all combinations of `kinds` counts that add up to `total`, one per row.

    >>> _list_compositions(1, 3).tolist()
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    """
    rows = np.zeros((1, 0), dtype=np.int64)
    left = np.array([total], dtype=np.int64)
    for _ in range(kinds - 1):
        ways = left + 1
        parents = np.repeat(np.arange(len(left)), ways)
        count = np.arange(len(parents)) - np.repeat(np.cumsum(ways) - ways, ways)
        rows, left = np.column_stack([rows[parents], count]), left[parents] - count
    return np.column_stack([rows, left])


def correct_by_holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for multiple tests by Holm's method.

    >>> correct_by_holm([0.01, 0.5, 0.02])
    [0.03, 0.5, 0.04]

    Source: Holm, "A simple sequentially rejective multiple test procedure" (Scandinavian Journal
    of Statistics 6, 1979).
    """
    order = np.argsort(p_values, kind="stable")
    left = len(order) - np.arange(len(order))
    corrected = np.empty(len(order))
    corrected[order] = np.maximum.accumulate(np.minimum(left * np.array(p_values)[order], 1.0))
    return corrected.tolist()


def check_order(
    parts: Sequence[Throws], rng: "np.random.Generator", draws: int = SHUFFLES
) -> list[Finding]:
    """Test whether a result depends on the previous result, by repeats, runs and correlation.

    Each test uses pairs of consecutive results of one kind of throw. If the dice have no memory,
    all orders of the observed results are equally likely. Short logs are therefore compared with
    shuffled logs, and long logs with a normal distribution that has the mean and variance over all
    orders. Let n be the number of results, qᵢ the share of result i, and s_k = Σ qᵢ^k:

    - repeats: the number of pairs with equal results has mean n·s₂ − 1 and, for large n, variance n
      (s₂ + s₂² − 2 s₃) (Moran 1948);
    - runs: the number of changes between n₁ results above and n₀ results at or below the average
      has mean 2 n₁ n₀ / n and variance 2 n₁ n₀ (2 n₁ n₀ − n) / (n² (n − 1)) (Wald and Wolfowitz
      1940);
    - correlation: if the scores of results are standardised to mean 0 and variance 1, the sum over
      all pairs of the product of both scores has mean −1 and, for large n, variance n (Wald and
      Wolfowitz 1943).

    The list is empty unless some kind of throw has more than two throws and two different results.
    """
    used = [part for part in parts if part.total > 2 and (part.counts > 0).sum() > 1]
    if not used:
        return []
    totals, means, variances = np.sum([_compute_order_statistics(part) for part in used], axis=0)
    total = sum(part.total for part in used)
    seen = (
        f"{totals[0]:,.0f} repeats of the previous result, {means[0]:,.1f} expected",
        f"{totals[1] + len(used):,.0f} runs of good or bad results, {means[1] + len(used):,.1f} "
        "expected",
        f"the correlation with the previous result is {(totals[2] + len(used)) / total:+.3f}",
    )
    if total > MAX_SHUFFLED_THROWS:
        off = (np.abs(totals - means) / np.sqrt(variances)).tolist()
        return [
            Finding(name, math.erfc(count / math.sqrt(2)), count, "normal", None, words)
            for name, count, words in zip(ORDER_TESTS, off, seen, strict=True)
        ]
    shuffled = np.sum([_simulate_order_statistics(part, rng, draws) for part in used], axis=0)
    off = np.abs(totals - means) * (1 - TOLERANCE)
    as_far = (np.abs(shuffled - means) >= off).sum(axis=0)
    return [
        make_simulated_finding(name, int(count), draws, float(deviation), words)
        for name, count, deviation, words in zip(ORDER_TESTS, as_far, off, seen, strict=True)
    ]


def _standardise(part: Throws) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the scores of all results with mean 0 and variance 1, and which scores are above 0."""
    share = part.counts / part.total
    middle = part.scores - share @ part.scores
    spread = math.sqrt(float(share @ middle**2)) or 1.0
    return middle / spread, middle > 0


def _compute_order_statistics(part: Throws) -> Floats:
    """Return the statistics of the three tests of order, their means, and their variances.

    The order of the columns is repeats, runs, correlation.
    """
    assert part.pairs is not None  # noqa: S101 # the caller checks that the order is known
    n, pairs, (scores, better) = part.total, part.pairs, _standardise(part)
    changes = pairs[better][:, ~better].sum() + pairs[~better][:, better].sum()
    share, high = part.counts / n, float(part.counts[better].sum())
    two, three, both = (share**2).sum(), (share**3).sum(), 2 * high * (n - high)
    variances = [n * (two + two**2 - 2 * three), both * (both - n) / (n * n * (n - 1)), n]
    return np.array(
        [
            [np.trace(pairs), changes, scores @ pairs @ scores],
            [n * two - 1, both / n, -1.0],
            np.maximum(variances, 1e-300),
        ]
    )


def _simulate_order_statistics(part: Throws, rng: "np.random.Generator", draws: int) -> Floats:
    scores, better = _standardise(part)
    results = np.repeat(np.arange(len(part.counts)), part.counts)
    rows = rng.permuted(np.tile(results.astype(np.uint8), (draws, 1)), axis=1)
    first, second = rows[:, :-1], rows[:, 1:]
    high = better[rows]
    return np.column_stack(
        [
            (first == second).sum(axis=1),
            (high[:, :-1] != high[:, 1:]).sum(axis=1),
            (scores[first] * scores[second]).sum(axis=1),
        ]
    )


class ThrowSequence(NamedTuple):
    """The throws of a log in order, to be searched for a repeated sequence.

    one, many: the noun for throws in singular and plural, such as `die` and `dice`.
    kinds: for each throw, the number of its kind. Only throws of the same kind can be equal.
    results: for each throw, the number of its result.
    chances: for each throw, the probability of its result with fair dice.
    """

    one: str
    many: str
    kinds: Ints
    results: Ints
    chances: Floats


def find_period(sequences: Sequence[ThrowSequence]) -> Finding | None:
    """Test whether the results repeat themselves with a period, and estimate the period.

    sequences: the same log as one or more sequences, such as its single dice and its rolls.

    Each throw is compared with the throw L places before it, if both are of the same kind. Consider
    a bet that a fraction r of the throws repeat the earlier throw, and that the other throws are
    fair. Each throw multiplies the stake by

        1 − r + r/p   if both results are equal,        1 − r   otherwise,

    where p is the probability of the earlier result with fair dice. With fair dice, this factor has
    the expected value 1 for all L and r. Let E be the mean of all bets: over distances, fractions
    and sequences. Its expected value is also 1, so by Markov's inequality 1/E is a p-value.

    If a result occurs more often than p, its observed share replaces p: loaded dice repeat results
    more often, and this alone must not raise an alarm.

    The result is `None` if no sequence has at least 40 throws.
    """
    used = [sequence for sequence in sequences if len(sequence.results) > 1]
    longest = max((len(sequence.results) for sequence in used), default=0)
    if longest < MIN_SEQUENCE:
        return None
    logs = [_compute_log_evidence_of_repeats(sequence) for sequence in used]
    means = [np.logaddexp.reduce(log) - math.log(len(log)) for log in logs]
    evidence = float(np.logaddexp.reduce(means)) - math.log(len(means))
    best = int(np.argmax([log.max() for log in logs]))
    distance = int(np.argmax(logs[best])) + 1
    # An alarm appends this detail to "a sequence of results is used again".
    detail = f"after {distance:,} {used[best].one if distance == 1 else used[best].many}"
    if evidence <= 0:
        detail = f"no period of up to {longest - 1:,} results was found"
    p_value = math.exp(-max(evidence, 0.0))
    return Finding("period", p_value, float(distance), "bound", None, detail)


def _compute_log_evidence_of_repeats(sequence: ThrowSequence) -> Floats:
    """Return, for each distance L = 1, 2, ..., log E of the bets that throws repeat after L throws.

    E is the mean over all fractions r of repeated throws (see `find_period`).
    """
    _, kinds, sizes = np.unique(sequence.kinds, return_inverse=True, return_counts=True)
    _, results, counts = np.unique(sequence.results, return_inverse=True, return_counts=True)
    chances, groups = np.unique(
        np.maximum(sequence.chances, counts[results] / sizes[kinds]), return_inverse=True
    )
    shares = np.array(COPIED_SHARES)[:, None]
    logs = np.log1p(-shares) * _count_equal_pairs(np.arange(len(kinds)), kinds)
    for group, chance in enumerate(chances.tolist()):
        indices = np.flatnonzero(groups == group)
        logs += np.log1p(shares / chance / (1 - shares)) * _count_equal_pairs(indices, results)
    copied: Floats = np.logaddexp.reduce(logs[:, 1:]) - math.log(len(shares))
    return copied


def _count_equal_pairs(indices: Ints, results: Ints) -> Ints:
    """Return the number of pairs of equal results at each distance 0, 1, 2, ... in a sequence.

    indices: the indices of the results to compare; other results are ignored.
    """
    n = len(results)
    indices = indices[np.argsort(results[indices], kind="stable")]
    results, counts = results[indices], np.bincount(results[indices], minlength=1)
    alike = np.zeros(n, dtype=np.int64)
    is_often = counts**2 > 16 * n  # a Fourier transform counts the pairs of frequent results faster
    size = 1 << (2 * n - 1).bit_length()
    for result in np.flatnonzero(is_often).tolist():
        marks = np.zeros(size)
        marks[indices[results == result]] = 1
        pairs = np.fft.irfft(np.abs(np.fft.rfft(marks)) ** 2, size)[:n]
        alike += np.rint(pairs).astype(np.int64)
    is_rare = ~is_often[results]
    indices, results = indices[is_rare], results[is_rare]
    for step in range(1, int(counts[~is_often].max(initial=0))):
        is_same = results[step:] == results[:-step]
        np.add.at(alike, (indices[step:] - indices[:-step])[is_same], 1)
    return alike


def compare_players(
    parts: Sequence[Throws],
    names: Sequence[str],
    rng: "np.random.Generator",
    draws: int = SHUFFLES,
) -> tuple[list[Finding], dict[str, float]]:
    """Test whether all players get equally good dice; also return a p-value for each player.

    Only the 12 players with the most throws are compared. The list and the mapping are empty if
    fewer than two players threw.

    names: the names of the players; the index is the number of the player.

    Fix the total count of each result and the number of throws of each player. If the dice are the
    same for all, results are distributed among players like draws from an urn. X² compares the
    counts of one player, and of all the others together, with their shares of the totals. The
    simulated logs are drawn from the urn. The test does not use the probabilities of fair dice, so
    a bias that affects all players equally raises no alarm here.
    """
    throws: Counter[int] = Counter()
    for part in parts:
        throws.update({player: int(counts.sum()) for player, counts in part.by_player.items()})
    if len(throws) < 2:
        return [], {}
    findings = {}
    for player, _ in throws.most_common(MAX_COMPARED_PLAYERS):
        statistic, drawn = 0.0, np.zeros(draws)
        for part in parts:
            came = part.counts > 0
            ours = part.by_player.get(player, np.zeros_like(part.counts))[came]
            both = part.counts[came]
            n, m = int(ours.sum()), int((both - ours).sum())
            if not n or not m or len(both) < 2:
                continue
            expected = both * (n / (n + m))
            scale = expected * (m / (n + m))
            statistic += float(((ours - expected) ** 2 / scale).sum())
            if n + m < MAX_URN_THROWS:
                dealt = rng.multivariate_hypergeometric(both, n, size=draws, method="marginals")
            else:
                dealt = rng.multinomial(n, both / (n + m), size=draws)
            drawn += ((dealt - expected) ** 2 / scale).sum(axis=1)
        as_far = int((drawn >= statistic * (1 - TOLERANCE)).sum())
        findings[names[player]] = make_simulated_finding("players", as_far, draws, 0.0)
    best = min(findings, key=lambda name: findings[name].p_value)
    # Two players have only one comparison, that of the first player with the second.
    shown, comparisons = (next(iter(findings)), 1) if len(findings) == 2 else (best, len(findings))
    finding = findings[shown]._replace(
        p_value=min(1.0, findings[shown].p_value * comparisons),
        interval=Interval(*(min(1.0, end * comparisons) for end in findings[shown].interval or ())),
        detail=f"most unlike the others: {best or 'players without a name'}",
    )
    return [finding], {name: finding.p_value for name, finding in findings.items()}


_log_factorial = np.vectorize(lambda n: math.lgamma(n + 1), otypes=[float])


def chi_square_sf(x: float, degrees: int, noncentrality: float = 0.0) -> float:
    """Return the probability that a χ² variable is at least x.

    degrees: the degrees of freedom, at least 1.
    noncentrality: λ, the expected increase of X² caused by a bias.

    For λ = 0 and k degrees of freedom, the probability is a finite sum (Abramowitz and Stegun 1964,
    eqs 26.4.4 and 26.4.5):

        Q = Σ_{j<k/2} (x/2)^j·e^{−x/2} / j!,     k even.

    For odd k the sum runs over j = 1/2, 3/2 .. k/2 − 1, with Γ(j + 1) in place of j!, and erfc
    √(x/2) is added. A noncentral variable is a mixture of central variables with k + 2j degrees of
    freedom, where j has a Poisson distribution with mean λ/2 (eq 26.4.25).

    >>> round(chi_square_sf(4.36, 2), 3), round(chi_square_sf(11.07, 5, noncentrality=16.47), 3)
    (0.113, 0.9)
    """
    half, mean = max(x, 1e-300) / 2, max(noncentrality, 1e-300) / 2
    width = 12 * math.sqrt(mean)
    j = np.arange(max(0, int(mean - width - 12)), int(mean + width) + 13)
    weights = np.exp(j * math.log(mean) - mean - _log_factorial(j))
    steps = np.arange(degrees // 2 + j[-1]) + (0.5 if degrees % 2 else 0.0)
    terms = np.exp(steps * math.log(half) - half - _log_factorial(steps))
    sums = np.cumsum([math.erfc(math.sqrt(half)) if degrees % 2 else 0.0, *terms])
    return min(float(weights @ sums[degrees // 2 + j]), 1.0)


def _find_smallest_number(
    is_enough: Callable[[float], bool], maximum: float, tolerance: float
) -> float:
    """Find the smallest number from 0 to `maximum` for which `is_enough` is true, by bisection.

    tolerance: the maximum relative error of the number.
    """
    low, high = 0.0, maximum
    while high - low > tolerance * high:
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


@lru_cache(maxsize=1024)
def _compute_critical_value(degrees: int, level: float) -> float:
    """Return the value that a χ² variable with `degrees` of freedom exceeds with chance `level`."""
    most = 1.0
    while chi_square_sf(most, degrees) > level:
        most *= 2
    return _find_smallest_number(lambda x: chi_square_sf(x, degrees) <= level, most, 1e-15)


@lru_cache(maxsize=2**14)
def _is_detected(throws: int, bias: float, fair_chances: tuple[float, ...], level: float) -> bool:
    """Return whether a bias raises an alarm with a probability of at least `POWER`.

    The alarm must be this likely no matter which result is biased.

    throws: the number of throws in the log.
    bias: the change of the probability of the biased result.
    fair_chances: the probability of each result with fair dice.
    level: the chance of a false alarm.
    """
    if len(fair_chances) == 2:
        return all(
            binomial_tail(throws, _compute_critical_count(throws, chance, level / 2), chance + bias)
            >= POWER
            for chance in _list_raisable_chances(fair_chances, bias)
        )
    chances = np.array(fair_chances)
    worst = int(np.argmax(chances * (1 - chances)))
    # Increase the probability of one result by the bias, or decrease it if it is near 1.
    sign = 1 if fair_chances[worst] + bias < 1 else -1
    if sign > 0 and float(chances.max()) ** throws > level:
        return False  # not even a log with only the most likely result raises an alarm
    change = -sign * bias * chances / (1 - chances[worst])
    change[worst] = sign * bias
    loaded = chances + change
    degrees = len(chances) - 1
    noncentrality = throws * float((change**2 / chances).sum())
    if loaded.min() <= 0 or noncentrality > CERTAIN_SHIFT * (degrees + 1):
        return True
    # Compute the mean and the variance of X² with the loaded dice.
    spread = (np.diag(loaded) - np.outer(loaded, loaded)) / np.sqrt(np.outer(chances, chances))
    moved = math.sqrt(throws) * change / np.sqrt(chances)
    mean = float(np.trace(spread)) + noncentrality
    variance = 2 * float((spread**2).sum()) + 4 * float(moved @ spread @ moved)
    scale = math.sqrt(2 * (degrees + 2 * noncentrality) / variance)
    limit = degrees + noncentrality + (_compute_critical_value(degrees, level) - mean) * scale
    return chi_square_sf(limit, degrees, noncentrality) >= POWER


def _list_raisable_chances(fair_chances: tuple[float, ...], bias: float) -> list[float]:
    """Return the fair probabilities of results that stay at most 1 if the bias is added."""
    return [chance for chance in fair_chances if chance + bias <= 1]


def binomial_tail(throws: int, count: int, chance: float) -> float:
    """Return the probability of at least `count` successes in `throws` independent throws.

    chance: the probability of success in one throw.

    If the variance is at most a million, the probabilities of the counts in the smaller tail are
    added. Otherwise, the result is a normal approximation with a correction for skewness.

    >>> round(binomial_tail(3, 2, 0.5), 12), binomial_tail(3, 0, 0.5), binomial_tail(3, 4, 0.5)
    (0.5, 1.0, 0.0)
    """
    if count <= 0 or count > throws:
        return float(count <= 0)
    if chance <= 0 or chance >= 1:
        return float(chance >= 1)
    mean, other = throws * chance, 1 - chance
    variance = mean * other
    if variance > MAX_SUMMED_VARIANCE:
        return approximate_tail(mean - count + 0.5, variance, variance * (chance - other))
    if count <= mean:  # compute the probability of fewer successes, which is smaller
        return 1 - binomial_tail(throws, throws - count + 1, other)
    log_first = (
        math.lgamma(throws + 1)
        - math.lgamma(count + 1)
        - math.lgamma(throws - count + 1)
        + count * math.log(chance)
        + (throws - count) * math.log1p(-chance)
    )
    successes = np.arange(count, min(throws, count + int(12 * math.sqrt(variance)) + 50))
    ratios = (throws - successes) / (successes + 1) * (chance / other)
    return min(math.exp(log_first) * (1 + float(np.cumprod(ratios).sum())), 1.0)


@lru_cache(maxsize=2**14)
def _compute_critical_count(throws: int, chance: float, level: float) -> int:
    """Return the smallest count that fair dice reach with a chance of at most `level`.

    chance: the probability of the counted result in one throw.
    """
    return bisect_left(
        range(throws + 1),
        True,
        key=lambda count: binomial_tail(throws, count, chance) <= level,
    )


@lru_cache(maxsize=2**10)
def _count_throws_for_two_results(chance: float, bias: float, level: float) -> int:
    """Return the smallest number of throws that detects a bias of dice with only two results.

    chance: the fair probability of the biased result.
    bias: the difference between its true and its fair probability.
    level: the chance of a false alarm.

    The power of an exact test is not monotone in the number of throws. However, if the count that
    raises an alarm is fixed, both the power and the chance of a false alarm are monotone. For each
    count, the function therefore finds the smallest number of throws with enough power. It returns
    this number for the first count with few enough false alarms.
    """

    @cache
    def compute_throws(count: int) -> int:
        most = 2 * count
        while binomial_tail(most, count, chance + bias) < POWER:
            most *= 2
        return bisect_left(
            range(most),
            True,
            count,
            key=lambda throws: binomial_tail(throws, count, chance + bias) >= POWER,
        )

    def is_rare(count: int) -> bool:
        return binomial_tail(compute_throws(count), count, chance) <= level

    most = 1
    while not is_rare(most):
        most *= 2
    return compute_throws(bisect_left(range(most), True, most // 2 + 1, key=is_rare))


def compute_detectable_bias(throws: int, chances: Floats, level: float) -> float | None:
    """Return the smallest bias that a number of throws detects with a probability of 90%.

    chances: the probability of each result with fair dice.
    level: the chance of a false alarm.

    The result is `None` if the throws do not even detect a bias of 50 percentage points.

    Suppose that the probability of one result is its fair probability p plus a bias b, at the
    expense of the other results. With n throws, the expected value of X² then increases by

        λ = n·b² / (p·(1 − p)).

    λ is smallest for the result whose p is nearest to one half. X² is approximated by a χ² variable
    with noncentrality λ, scaled to the mean and variance of X² with such dice.

    If there are only two results, the exact binomial test must detect the bias of each result whose
    biased probability is at most 1.

    >>> import numpy as np
    >>> round(compute_detectable_bias(100_000, np.full(6, 1 / 6), 0.05), 4)
    0.0048
    """
    row = tuple(chances.tolist())
    if not _is_detected(throws, MAX_BIAS, row, level):
        return None
    return _find_smallest_number(
        lambda bias: _is_detected(throws, bias, row, level), MAX_BIAS, 1e-5
    )


def count_throws_needed(bias: float, chances: Floats, level: float) -> int:
    """Return the number of throws that detects a bias of one result with a probability of 90%.

    bias: the difference between the true and the fair probability of the result.
    chances: the probability of each result with fair dice.
    level: the chance of a false alarm.

    >>> import numpy as np
    >>> count_throws_needed(0.01, np.full(6, 1 / 6), 0.05)
    23298
    """
    row, most = tuple(chances.tolist()), 1
    if len(row) == 2:
        return max(
            (
                _count_throws_for_two_results(chance, bias, level / 2)
                for chance in _list_raisable_chances(row, bias)
            ),
            default=1,
        )
    while not _is_detected(most, bias, row, level):
        most *= 2
    return bisect_left(
        range(most), True, most // 2 + 1, key=lambda throws: _is_detected(throws, bias, row, level)
    )
