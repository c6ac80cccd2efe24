"""Distribution: a finite probability distribution, in exact fractions or in floats."""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from itertools import accumulate, product
from operator import ge, gt, itemgetter, le
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from iacta.inputs.checks import format_fraction, format_int, quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError, MissingError, TooLargeError
from iacta.inputs.reprs import PasteableMixin
from iacta.probability.chances import Chance, read_fraction

if TYPE_CHECKING:
    import pandas as pd

Probability: TypeAlias = Fraction | float

T = TypeVar("T", bound=Hashable)
U = TypeVar("U", bound=Hashable)
V = TypeVar("V")

SUM_TOLERANCE = 1e-9
MAX_VALUES = 10**7  # limits memory


class Distribution(PasteableMixin, Mapping[T, Probability], Generic[T]):
    """A finite distribution: an immutable mapping of values to their probabilities.

    source: a mapping of values to weights, with any sum, or an iterable of equally likely values,
        which may repeat. Whole numbers and fractions give an exact distribution with `Fraction`
        probabilities. If any weight is a float, all probabilities are floats.

    Iteration is in ascending order of the values, or in the given order if values cannot be
    compared. Values that cannot occur have probability 0. Exact distributions are equal if all
    their probabilities are. Negative, infinite or undefined weights, and weights that are all zero,
    raise `IactaError`.

    A die, two dice, and their sum:

    >>> d6 = Distribution(range(1, 7))
    >>> d6[6]
    Fraction(1, 6)
    >>> d6.repeat(2).map(sum)[7]
    Fraction(1, 6)

    A roll of three dice against two, and a battle of two against one, worked out by hand as in the
    article "Analyzing the Board Game Risk" (pracpred.com):

    >>> def losses(dice):
    ...     attack, defence = sorted(dice[:3], reverse=True), sorted(dice[3:], reverse=True)
    ...     defenders_lost = sum(a > d for a, d in zip(attack, defence))
    ...     return 2 - defenders_lost, defenders_lost
    >>> rolls = d6.repeat(5)
    >>> len(rolls)
    7776
    >>> rolls.group_by(losses)
    Distribution({(0, 2): 2890, (1, 1): 2611, (2, 0): 2275})
    >>> rolls.group_by(losses)[0, 2]
    Fraction(1445, 3888)
    >>> two_dice = d6.repeat(3).prob(lambda dice: max(dice[:2]) > dice[2])
    >>> one_die = d6.repeat(2).prob(lambda dice: dice[0] > dice[1])
    >>> two_dice, one_die
    (Fraction(125, 216), Fraction(5, 12))
    >>> two_dice + (1 - two_dice) * one_die
    Fraction(1955, 2592)
    """

    __slots__ = ("_cumulative", "_is_ordered", "_total", "_weights")

    _weights: dict[T, Any]
    _total: int | float
    _is_ordered: bool  # whether the weights are sorted by value
    _cumulative: tuple[list[T], list[float]]  # for `sample`; set by the first sample

    def __init__(self, source: Mapping[T, Probability] | Iterable[T]) -> None:
        try:
            given = source if isinstance(source, Mapping) else Counter(_read_values(source))
        except TypeError:
            raise MalformedError(
                "a distribution must be made from a mapping or from hashable values, "
                f"got {quote(source)}"
            ) from None
        self._set_weights({value: _read_weight(value, weight) for value, weight in given.items()})

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[T, Probability]]) -> "Distribution[T]":
        """Return the distribution of (value, weight) pairs. The weights of equal values are added.

        >>> Distribution.from_pairs([("win", 2), ("lose", 1), ("win", 1)])
        Distribution({'lose': 1, 'win': 3})
        """
        try:
            rows = [(value, weight) for value, weight in _read_values(pairs)]
        except TooLargeError:
            raise
        except (TypeError, ValueError):
            raise MalformedError(
                f"pairs must be an iterable of (value, weight), got {quote(pairs)}"
            ) from None
        return cls(_add_weights((value, _read_weight(value, weight)) for value, weight in rows))

    @classmethod
    def from_probabilities(cls, probabilities: Mapping[T, Probability]) -> "Distribution[T]":
        """Return a distribution in floats with the given probabilities.

        probabilities: the probability of each value. They must sum to 1 within 1e-9. Unlike weights
            they are not divided by their sum, so they keep all their digits.

        >>> Distribution.from_probabilities({"win": 0.75, "lose": 0.25})["win"]
        0.75
        """
        if not isinstance(probabilities, Mapping):
            raise MalformedError(f"probabilities must be a mapping, got {quote(probabilities)}")
        weights = _as_floats({value: _read_weight(value, p) for value, p in probabilities.items()})
        total = math.fsum(weights.values())
        if abs(total - 1) > SUM_TOLERANCE:
            raise IllegalError(f"probabilities must sum to 1, got {total!r}")
        return cls._from_weights({value: p for value, p in weights.items() if p}, 1.0)

    @classmethod
    def _from_weights(cls, weights: dict[T, Any], total: float) -> "Distribution[T]":
        distribution: Distribution[T] = cls.__new__(cls)
        distribution._weights, distribution._total, distribution._is_ordered = weights, total, False
        return distribution

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._from_weights, (self._weights, self._total)

    def _set_weights(self, weights: dict[T, Any]) -> None:
        weights = {value: weight for value, weight in weights.items() if weight}
        if not weights:
            raise IllegalError("a distribution needs a value of positive weight")
        if any(isinstance(weight, float) for weight in weights.values()):
            floats = _as_floats(weights)
            # Dividing by the largest weight keeps the sum from overflowing.
            largest = max(floats.values())
            scaled = {value: weight / largest for value, weight in floats.items()}
            total = math.fsum(scaled.values())
            self._weights = {value: weight / total for value, weight in scaled.items()}
            self._total = 1.0
        else:
            denominator = math.lcm(*(weight.denominator for weight in weights.values()))
            whole = {value: int(weight * denominator) for value, weight in weights.items()}
            divisor = math.gcd(*whole.values())
            self._weights = {value: weight // divisor for value, weight in whole.items()}
            self._total = sum(self._weights.values())
        self._is_ordered = False

    @property
    def is_exact(self) -> bool:
        """Whether the probabilities are exact fractions."""
        return isinstance(self._total, int)

    def weights(self) -> tuple[dict[T, int], int]:
        """Return the weights as whole numbers in lowest terms, and their sum.

        A floating-point distribution raises `IactaError`.

        >>> Distribution(["win", "win", "lose", "lose"]).weights()
        ({'lose': 1, 'win': 1}, 2)
        """
        if not isinstance(self._total, int):
            raise IllegalError(
                "a distribution in floats has no weights; only an exact distribution has"
            )
        return dict(self._sort_weights()), self._total

    def _sort_weights(self) -> dict[T, Any]:
        """Return the weights in ascending order of their values, from a cache if possible."""
        if not self._is_ordered:
            with suppress(TypeError):  # values that cannot be compared keep their order
                self._weights = dict(sorted(self._weights.items(), key=itemgetter(0)))
            self._is_ordered = True
        return self._weights

    def __getitem__(self, value: T) -> Probability:
        """Return the probability of `value`; 0 if it cannot occur."""
        return self._chance([self._weights.get(value, 0)])

    def _chance(self, weights: list[Any]) -> Probability:
        """Return the probability of the values with these weights; exactly 1 for all values."""
        if isinstance(self._total, int):
            return Fraction(sum(weights), self._total)
        if len(weights) == len(self._weights) and all(weights):
            return 1.0  # rounded probabilities may not sum to exactly 1
        return min(math.fsum(weights), 1.0)

    def _probability(self, weight: Any) -> Probability:
        """Return a sum of weights, or of weighted numbers, divided by the total weight."""
        if isinstance(self._total, int) and not isinstance(weight, float):
            return Fraction(weight, self._total)
        return float(weight) / self._total

    def __contains__(self, value: object) -> bool:
        return value in self._weights

    def __iter__(self) -> Iterator[T]:
        return iter(self._sort_weights())

    def __len__(self) -> int:
        return len(self._weights)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Distribution):
            return NotImplemented
        same_kind = self.is_exact == other.is_exact
        return same_kind and bool(self._weights == other._weights)

    def __hash__(self) -> int:
        return hash(frozenset(self._weights.items()))

    def to_text(self) -> str:
        """Return Python code that creates this distribution, however long it is.

        >>> Distribution("HT").to_text()
        "Distribution({'H': 1, 'T': 1})"
        """
        if self.is_exact:
            weights = (f"{value!r}: {format_int(n)}" for value, n in self._sort_weights().items())
            return f"Distribution({{{', '.join(weights)}}})"
        return f"Distribution.from_probabilities({self._sort_weights()!r})"

    def _summary(self) -> str:
        values = list(self)
        ends = f"{len(values)} values from {quote(values[0])} to {quote(values[-1])}"
        if len(values) == 1:
            ends = f"1 value, {quote(values[0])}"
        with suppress(
            MalformedError, OverflowError
        ):  # no mean if values are not numbers, or are too large
            ends += f", mean {float(self.mean()):.6g}"
        return f"{ends}, {'exact' if self.is_exact else 'in floats'}"

    def prob(self, predicate: Callable[[T], object]) -> Probability:
        """Return the probability of the values for which `predicate` is true.

        >>> Distribution(range(1, 7)).prob(lambda face: face > 4)
        Fraction(1, 3)
        """
        holds = _read_function(predicate, "predicate")
        return self._chance([w for value, w in self._weights.items() if holds(value)])

    def map(self, function: Callable[[T], U]) -> "Distribution[U]":
        """Return the distribution of `function(value)`. Probabilities of equal results are added.

        >>> Distribution(range(1, 7)).map(lambda face: face % 2)
        Distribution({0: 1, 1: 1})
        """
        mapped = _read_function(function, "function")
        weights = _add_weights((mapped(value), weight) for value, weight in self._weights.items())
        if self.is_exact and len(weights) < len(self):
            return Distribution(weights)
        return Distribution._from_weights(weights, self._total)  # already in lowest terms

    def group_by(self, key: Callable[[T], U]) -> "Distribution[U]":
        """Return the distribution of `key(value)`; a synonym of `map`.

        >>> Distribution(range(1, 7)).group_by(lambda face: "high" if face > 2 else "low")
        Distribution({'high': 2, 'low': 1})
        """
        return self.map(key)

    def condition(self, predicate: Callable[[T], object]) -> "Distribution[T]":
        """Return the distribution given that `predicate` is true.

        If the predicate is never true, `IllegalError` is raised.

        >>> Distribution(range(1, 7)).condition(lambda face: face > 4)
        Distribution({5: 1, 6: 1})
        """
        holds = _read_function(predicate, "predicate")
        kept = {value: weight for value, weight in self._weights.items() if holds(value)}
        if not kept:
            raise IllegalError("the condition never holds")
        return Distribution(kept)

    def product(self, other: "Distribution[U]") -> "Distribution[tuple[T, U]]":
        """Return the joint distribution of independent values from this distribution and `other`.

        >>> coin = Distribution("HT")
        >>> coin.product(coin)["H", "T"]
        Fraction(1, 4)
        """
        if not isinstance(other, Distribution):
            raise MalformedError(f"other must be a Distribution, got {quote(other)}")
        same_kind = self.is_exact == other.is_exact
        ours = self if same_kind else self.to_float()
        theirs = other if same_kind else other.to_float()
        pairs = product(ours._weights.items(), theirs._weights.items())
        return Distribution(
            {(value, second): weight * factor for (value, weight), (second, factor) in pairs}
        )

    def repeat(self, times: int) -> "Distribution[tuple[T, ...]]":
        """Return the joint distribution of `times` independent values, as tuples.

        >>> Distribution("HT").repeat(3)["H", "H", "T"]
        Fraction(1, 8)
        """
        times = read_int(times, "times", minimum=0)
        if times > math.log(MAX_VALUES) / math.log(len(self) + 1):
            raise TooLargeError(
                f"{len(self)} values repeated {quote(times)} times are too many, expected at most "
                f"{MAX_VALUES:.0e} results"
            )
        weights: dict[tuple[T, ...], Any] = {(): 1}
        for _ in range(times):
            weights = {
                (*values, value): weight * factor
                for values, weight in weights.items()
                for value, factor in self._weights.items()
            }
        return Distribution(weights)

    def __add__(self, other: Any) -> "Distribution[Any]":
        """Return the distribution of the sum with another number.

        other: an independent distribution of numbers, or a single number.

        >>> d6 = Distribution(range(1, 7))
        >>> (d6 + d6)[7]
        Fraction(1, 6)
        >>> sum([d6, d6, d6]).mean()
        Fraction(21, 2)
        """
        if isinstance(other, int | float | Fraction | np.number):
            other = Distribution([other])
        if not isinstance(other, Distribution):
            return NotImplemented
        if len(self) * len(other) > MAX_VALUES:
            raise TooLargeError(
                f"{len(self)} values and {len(other)} are too many to be added, expected at most "
                f"{MAX_VALUES:.0e} pairs"
            )
        same_kind = self.is_exact == other.is_exact
        ours, theirs = (side if same_kind else side.to_float() for side in (self, other))
        first, second = ours._numbers(), theirs._numbers()
        terms: dict[Any, list[Any]] = {}
        for (value, weight), (more, factor) in product(
            ours._weights.items(), theirs._weights.items()
        ):
            terms.setdefault(first[value] + second[more], []).append(weight * factor)
        return Distribution({value: _sum(rows) for value, rows in terms.items()})

    __radd__ = __add__

    def mean(self) -> Probability:
        """Return the expected value.

        Values that are not numbers raise `MalformedError`.

        >>> Distribution(range(1, 7)).mean()
        Fraction(7, 2)
        """
        return self._expectation(self._numbers())

    def variance(self) -> Probability:
        """Return the variance, E[(value − mean)²].

        >>> Distribution(range(1, 7)).variance()
        Fraction(35, 12)
        """
        mean = self.mean()
        return self._expectation({v: (x - mean) ** 2 for v, x in self._numbers().items()})

    def standard_deviation(self) -> float:
        """Return the square root of the variance as a float.

        >>> round(Distribution(range(1, 7)).standard_deviation(), 4)
        1.7078
        """
        return math.sqrt(self.variance())

    def _numbers(self) -> dict[T, Any]:
        """Return each value as a Python number, which cannot overflow as NumPy integers can."""
        numbers = {v: v.item() if isinstance(v, np.generic) else v for v in self._weights}
        for number in numbers.values():
            if not isinstance(number, int | float | Fraction) or not -math.inf < number < math.inf:
                raise MalformedError(
                    f"the values must be finite numbers, got {quote(number)}; map them first"
                )
        return numbers

    def _expectation(self, numbers: dict[T, Any]) -> Probability:
        if any(isinstance(number, float) for number in numbers.values()):
            weights = self.to_float()._weights
            return float(_sum(weight * numbers[v] for v, weight in weights.items()))
        return self._probability(_sum(w * numbers[v] for v, w in self._weights.items()))

    def cdf(self, value: T) -> Probability:
        """Return the probability of a result of at most `value`.

        >>> Distribution(range(1, 7)).cdf(4)
        Fraction(2, 3)
        """
        return self._compute_order_chance(le, value)

    def at_least(self, value: T) -> Probability:
        """Return the probability of a result of at least `value`.

        >>> Distribution(range(1, 7)).at_least(5)
        Fraction(1, 3)
        """
        return self._compute_order_chance(ge, value)

    def sf(self, value: T) -> Probability:
        """Return the probability of a result above `value`: the survival function, 1 - cdf.

        >>> Distribution(range(1, 7)).sf(5)
        Fraction(1, 6)
        """
        return self._compute_order_chance(gt, value)

    def _compute_order_chance(self, holds: Callable[[Any, Any], object], value: T) -> Probability:
        try:
            if value == value:  # NaN has no order
                return self.prob(lambda outcome: holds(outcome, value))
        except (TypeError, ValueError, ArithmeticError):  # raised by arrays and decimal NaNs
            pass
        raise _make_order_error(value)

    def median(self) -> T:
        """Return the smallest value whose cdf is at least one half.

        >>> Distribution([1, 2, 2, 9]).median()
        2
        """
        return self.quantile(0.5)

    def quantile(self, level: Chance) -> T:
        """Return the smallest value whose cdf is at least `level`.

        A float level is read as its decimal representation: 0.1 is exactly one tenth.

        >>> Distribution(range(1, 7)).quantile(0.5)
        3
        """
        wanted = read_fraction(level, "level", "be a number from 0 to 1")
        if not 0 <= wanted <= 1:
            raise IllegalError(f"level must be a number from 0 to 1, got {quote(level)}")
        try:
            values = sorted(self._weights)  # type: ignore[type-var] # raises TypeError without an order
        except TypeError:
            raise _make_order_error(next(iter(self))) from None
        so_far = Fraction(0)
        for value in values:
            so_far += Fraction(self._weights[value])
            # Round the sum of floats only once, as `cdf` does.
            reached = so_far / self._total if self.is_exact else Fraction(float(so_far))
            if reached >= wanted:
                return value
        return values[-1]  # floats may sum to slightly less than 1

    def mode(self) -> T:
        """Return the most likely value, or the first of several equally likely values.

        >>> Distribution.from_pairs([("win", 2), ("lose", 1)]).mode()
        'win'
        """
        return max(self._sort_weights(), key=self._weights.__getitem__)

    def sample(self, n: int, seed: "int | np.random.Generator") -> list[T]:
        """Return `n` independent random values.

        n: the number of values.
        seed: a whole number, which makes the values repeatable, or a `numpy.random.Generator`.

        >>> Distribution(range(1, 7)).sample(5, seed=1)
        [4, 6, 1, 6, 2]
        """
        n = read_int(n, "n", minimum=0, maximum=MAX_VALUES)
        if isinstance(seed, np.random.Generator):
            rng = seed
        else:
            rng = np.random.default_rng(read_int(seed, "seed"))
        if not hasattr(self, "_cumulative"):
            values = list(self)
            self._cumulative = values, [*accumulate(self.to_float()._weights.values())]
        values, cumulative = self._cumulative
        if n == 1:  # many games draw one value at a time
            return [values[bisect_right(cumulative, rng.random() * cumulative[-1])]]
        draws = rng.random(n) * cumulative[-1]
        return [values[i] for i in np.searchsorted(cumulative, draws, side="right")]

    def to_float(self) -> "Distribution[T]":
        """Return the distribution in floats, each rounded to the nearest float.

        >>> Distribution("HT").to_float()
        Distribution.from_probabilities({'H': 0.5, 'T': 0.5})
        """
        if not self.is_exact:
            return self
        # Python divides whole numbers of any size and rounds to the nearest float.
        weights = {value: weight / self._total for value, weight in self._weights.items()}
        return Distribution._from_weights({value: p for value, p in weights.items() if p}, 1.0)

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas table with one row per value.

        The columns are `value` (or, for named tuples, their fields, such as `attackers` and
        `defenders`) and `probability`, which has fractions if the distribution is exact. If pandas
        is not installed, `MissingError` is raised.

        >>> Distribution("HT").to_float().to_frame()
          value  probability
        0     H          0.5
        1     T          0.5
        """
        parts = {getattr(value, "_fields", None) for value in self}
        names = parts.pop() if len(parts) == 1 else None
        rows = [(*(value if names else (value,)), p) for value, p in self.items()]  # type: ignore[misc] # a named tuple
        return load_pandas().DataFrame(rows, columns=[*(names or ["value"]), "probability"])

    def markdown(self, value: str = "value", probability: str = "probability") -> str:
        """Return a Markdown table of the distribution.

        value, probability: the headings of the two columns.

        >>> print(Distribution("HT").markdown("side"))
        | side | probability |
        | --- | --- |
        | H | 1/2 |
        | T | 1/2 |
        """
        lines = [f"| {value} | {probability} |", "| --- | --- |"]
        for outcome, p in self.items():
            cell = str(outcome).replace("|", "\\|")
            lines.append(f"| {cell} | {format_fraction(p) if isinstance(p, Fraction) else p} |")
        return "\n".join(lines)


def load_pandas() -> ModuleType:
    """Import pandas, which is slow to import, or raise `MissingError`."""
    try:
        return import_module("pandas")
    except ImportError:
        raise MissingError(
            "tables need pandas, which is not installed: pip install pandas"
        ) from None


def _read_values(values: Iterable[V]) -> Iterator[V]:
    """Yield the values; raise `TooLargeError` if there are more than `MAX_VALUES`."""
    for number, value in enumerate(values):
        if number == MAX_VALUES:
            raise TooLargeError(f"a distribution must have at most {MAX_VALUES:,} values")
        yield value


def _read_weight(value: object, weight: Any) -> int | float | Fraction:
    if isinstance(weight, np.generic):
        weight = weight.item()
    if isinstance(weight, Decimal) and weight.is_finite():
        weight = Fraction(weight)
    if isinstance(weight, Fraction):
        weight = Fraction(
            int(weight.numerator), int(weight.denominator)
        )  # without NumPy integers, which can overflow
    if not isinstance(weight, int | float | Fraction) or isinstance(weight, bool):
        raise MalformedError(f"the weight of {quote(value)} must be a number, got {quote(weight)}")
    if not 0 <= weight < math.inf:
        raise IllegalError(
            f"the weight of {quote(value)} must be finite and at least 0, got {quote(weight)}"
        )
    return weight


def _read_function(function: Callable[[T], U], name: str) -> Callable[[T], U]:
    if not callable(function):
        raise MalformedError(f"{name} must be a function of a value, got {quote(function)}")
    return function


def _make_order_error(value: object) -> MalformedError:
    return MalformedError(f"the values must have an order, got {quote(value)} among others")


def _add_weights(pairs: Iterable[tuple[U, Any]]) -> dict[U, Any]:
    """Return the total weight of each value."""
    weights: dict[U, Any] = {}
    for value, weight in pairs:
        try:
            weights[value] = weights.get(value, 0) + weight
        except TypeError:
            raise MalformedError(f"the values must be hashable, got {quote(value)}") from None
    return weights


def _as_floats(weights: Mapping[T, Probability]) -> dict[T, float]:
    try:
        return {value: float(weight) for value, weight in weights.items()}
    except OverflowError:
        raise IllegalError("the weights do not fit in floats") from None


def _sum(terms: Iterable[Any]) -> Any:
    """Add numbers: exactly if they are exact, otherwise with a single rounding."""
    rows = list(terms)
    return math.fsum(rows) if any(isinstance(term, float) for term in rows) else sum(rows)
