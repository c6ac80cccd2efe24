"""The smallest biases that a number of throws reveals, in words and in tables."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.fairness.audit import Audit, count_tests
from iacta.fairness.p_values import MAX_BIAS, compute_detectable_bias, count_throws_needed
from iacta.fairness.throws import BATTLES, BINS, DICE, ROLLS
from iacta.fairness.trials import Trial, compute_outcome_chances
from iacta.forms.sections import Section, Table
from iacta.questions.audit.phrases import MAX_KINDS, describe_throws, format_points, name_results
from iacta.rules.rules import Rules

MAX_POWER_FACES = 100  # maximum number of faces of dice in the tables of detectable bias
USUAL_ROLLS = (100, 1_000, 10_000, 100_000, 1_000_000)
USUAL_BIASES = tuple(Fraction(bias, 1000) for bias in (50, 20, 10, 5, 1))


class PowerRow(NamedTuple):
    """A kind of throws for which detectable biases are reported.

    name: the name of the throws, such as "dice of 6 faces".
    chances: the chance of each result if the dice are fair.
    level: the largest p-value that counts as an alarm.
    """

    name: str
    chances: npt.NDArray[np.float64]
    level: float

    def compute_bias(self, throw_count: int) -> float | None:
        return compute_detectable_bias(throw_count, self.chances, self.level)

    def count_needed(self, bias: Fraction) -> int:
        return count_throws_needed(float(bias), self.chances, self.level)


def list_kinds(rules: Rules, level: float, number_of_tests: int | None = None) -> list[PowerRow]:
    """Return the kinds of throws to report: dice, rolls with all dice, and battles.

    number_of_tests: the number of tests that share the level; `None` for the tests of a log with
        one kind of throws and one player.
    """
    faces = rules.attack.faces[0]
    kinds = []
    if faces <= MAX_POWER_FACES:
        name = "dice" if faces == 6 else f"dice of {faces} faces"
        kinds.append((name, DICE, np.full(faces, 1 / faces)))
    if rules.mode.has_plain_rolls:
        first, second = rules.full_roll
        chances = compute_outcome_chances(Trial("roll", first, second, rules)).values()
        kinds.append((f"rolls of {first} against {second}", ROLLS, np.array([*chances])))
    kinds.append((BATTLES, BATTLES, np.full(BINS, 1 / BINS)))
    return [
        PowerRow(name, chances, level / (number_of_tests or count_tests(kind)))
        for name, kind, chances in kinds
    ]


def make_power_sections(
    kinds: Sequence[PowerRow], rolls: Sequence[int], biases: Sequence[Fraction]
) -> Iterator[Section]:
    """Yield a table of the biases that throws reveal, and a table of the throws needed."""
    names = [kind.name for kind in kinds]
    seen = [
        (f"{number:,}", *(_format_bias(kind.compute_bias(number)) for kind in kinds))
        for number in rolls
    ]
    needed = [
        (format_points(float(bias)), *(f"{kind.count_needed(bias):,}" for kind in kinds))
        for bias in biases
    ]
    yield Section(
        [Table(("", *names), seen)], title="The smallest bias that is noticed nine times in ten:"
    )
    yield Section([Table(("bias", *names), needed)], title="How many are needed to notice a bias:")


def list_power_lines(audited: Audit) -> Iterator[str]:
    """Yield a sentence for each frequent kind of throw: the smallest bias that a log can reveal."""
    level = audited.level / audited.test_count
    for kind in sorted(audited.throws, key=lambda kind: -int(kind.counts.sum()))[:MAX_KINDS]:
        bias = audited.compute_detectable_bias(kind)
        off = f"not even {name_results(kind)} off by {format_points(MAX_BIAS)}"
        if bias is not None:
            off = f"{name_results(kind)} off by {format_points(bias)}"
        needed = round(count_throws_needed(0.01, kind.chances, level) * kind.dispersion)
        number = describe_throws(kind, kind.kind.split(" ")[-1])
        yield f"{kind.name}: {off} with {number}; to notice 1% takes {needed:,}."


def _format_bias(bias: float | None) -> str:
    return "none" if bias is None else format_points(bias)


def count_throws(number: int, name: str) -> str:
    """Return a number of throws with a noun.

    >>> count_throws(1, "dice of 20 faces"), count_throws(2, "dice")
    ('1 die of 20 faces', '2 dice')
    >>> count_throws(1, "rolls of 3 against 2")
    '1 roll of 3 against 2'
    """
    many, *more = name.split(" ", 1)
    one = {"dice": "die"}.get(many, many.removesuffix("s"))
    return " ".join([f"{number:,}", one if number == 1 else many, *more])
