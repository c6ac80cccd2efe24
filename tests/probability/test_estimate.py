"""Intervals of means: their coverage for skewed results."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from iacta.probability.estimate import (
    Interval,
    compute_half_width,
    compute_interval_of_skewed,
)

SAMPLES, RUNS = 4_000, 100
ROUNDING = 0.004  # the standard error of the measured coverage

Draw = Callable[[np.random.Generator], npt.NDArray[np.float64]]


def draw_exponential(rng: np.random.Generator) -> npt.NDArray[np.float64]:
    return 1.0 - rng.exponential(size=RUNS)


def draw_gamma(rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Draw results with a skewness of 2.8, as in plans with a small chance."""
    return rng.gamma(0.5, 2.0, size=RUNS) - 1.0


def measure_coverage(draw: Draw, interval: Callable[[npt.NDArray[np.float64]], Interval]) -> float:
    """Return how often an interval contains the mean, which is 0."""
    rng = np.random.default_rng(1)
    found = (interval(draw(rng)) for _ in range(SAMPLES))
    return sum(low <= 0.0 <= high for low, high in found) / SAMPLES


def compute_symmetric_interval(results: npt.NDArray[np.float64]) -> Interval:
    mean, half = float(results.mean()), compute_half_width(results)
    return Interval(mean - half, mean + half)


@pytest.mark.parametrize("draw", [draw_exponential, draw_gamma])
def test_intervals_of_skewed_results_contain_the_mean(draw: Draw) -> None:
    corrected = measure_coverage(draw, compute_interval_of_skewed)
    assert corrected >= 0.94 - ROUNDING
    assert corrected > measure_coverage(draw, compute_symmetric_interval)


def test_intervals_of_symmetric_results_are_symmetric() -> None:
    results = np.linspace(-1.0, 1.0, RUNS)
    low, high = compute_interval_of_skewed(results)
    assert (low, high) == pytest.approx(compute_symmetric_interval(results), rel=1e-3)
    assert compute_interval_of_skewed([0.5] * RUNS) == (0.5, 0.5)
    assert compute_interval_of_skewed([0.0, 1.0]) == (-np.inf, np.inf)
