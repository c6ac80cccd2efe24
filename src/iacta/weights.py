"""Weights: how the weights and values of a finite law are read, added and scaled."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

import numpy as np

from iacta.checks import shown
from iacta.errors import IllegalError, MalformedError

__all__ = [
    "Probability",
    "added",
    "as_floats",
    "counted",
    "exact_sum",
    "in_lowest_terms",
    "normalised",
    "read_function",
    "read_pairs",
    "read_weight",
    "unordered",
]

T = TypeVar("T", bound=Hashable)
U = TypeVar("U", bound=Hashable)

Probability: TypeAlias = Fraction | float


def counted(values: Iterable[T]) -> Mapping[T, int]:
    """Return how often each value stands among equally likely ones."""
    try:
        return Counter(values)
    except TypeError:
        raise MalformedError(
            f"a distribution must be made of a mapping or of hashable values, got {shown(values)}"
        ) from None


def read_pairs(pairs: Iterable[tuple[T, Probability]]) -> list[tuple[T, Probability]]:
    """Return (value, weight) pairs as a list, or refuse what is none."""
    try:
        return [(value, weight) for value, weight in pairs]
    except (TypeError, ValueError):
        raise MalformedError(
            f"pairs must be an iterable of (value, weight), got {shown(pairs)}"
        ) from None


def read_function(function: Callable[[T], U], name: str) -> Callable[[T], U]:
    """Return a function, or refuse what is none."""
    if not callable(function):
        raise MalformedError(f"{name} must be a function of a value, got {shown(function)}")
    return function


def unordered(value: object) -> MalformedError:
    """Return the error for values that have no order."""
    return MalformedError(f"the values must have an order, got {shown(value)} among others")


def read_weight(value: object, weight: Any) -> int | float | Fraction:
    """Return a weight as a number, or refuse one that is negative, infinite or undefined."""
    if isinstance(weight, np.generic):
        weight = weight.item()
    if isinstance(weight, Decimal) and weight.is_finite():
        weight = Fraction(weight)
    if not isinstance(weight, int | float | Fraction) or isinstance(weight, bool):
        raise MalformedError(f"the weight of {shown(value)} must be a number, got {shown(weight)}")
    if not 0 <= weight < math.inf:
        raise IllegalError(
            f"the weight of {shown(value)} must be finite and at least 0, got {shown(weight)}"
        )
    return weight


def added(pairs: Iterable[tuple[U, Any]]) -> dict[U, Any]:
    """Return the sums of the weights of equal values."""
    weights: dict[U, Any] = {}
    for value, weight in pairs:
        try:
            weights[value] = weights.get(value, 0) + weight
        except TypeError:
            raise MalformedError(f"the values must be hashable, got {shown(value)}") from None
    return weights


def in_lowest_terms(weights: Mapping[T, int | Fraction]) -> dict[T, int]:
    """Return exact weights as whole numbers without a common divisor."""
    denominator = math.lcm(*(weight.denominator for weight in weights.values()))
    whole = {value: int(weight * denominator) for value, weight in weights.items()}
    divisor = math.gcd(*whole.values())
    return {value: weight // divisor for value, weight in whole.items()}


def normalised(weights: Mapping[T, Probability]) -> dict[T, float]:
    """Return weights as floats whose sum is 1."""
    floats = as_floats(weights)
    # Scaled by their largest, no sum of floats is too large for a float.
    largest = max(floats.values())
    scaled = {value: weight / largest for value, weight in floats.items()}
    total = math.fsum(scaled.values())
    return {value: weight / total for value, weight in scaled.items()}


def as_floats(weights: Mapping[T, Probability]) -> dict[T, float]:
    """Return weights as floats, or refuse those that are too large."""
    try:
        return {value: float(weight) for value, weight in weights.items()}
    except OverflowError:
        raise IllegalError("the weights must fit into a float beside other floats") from None


def exact_sum(terms: Iterable[Any]) -> Any:
    """Add exactly what is exact, and floats with a single rounding."""
    added = list(terms)
    return math.fsum(added) if any(isinstance(term, float) for term in added) else sum(added)
