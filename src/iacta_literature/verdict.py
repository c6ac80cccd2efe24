"""Compares a published value with ours, at the digits with which it is printed."""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from iacta.checks import fraction_text, shown
from iacta.errors import MalformedError
from iacta.estimate import Estimate

__all__ = [
    "AGREES",
    "DIFFERS",
    "ERRATUM",
    "Compared",
    "Number",
    "Published",
    "compare",
]

Number: TypeAlias = int | float | Fraction | str

AGREES, ERRATUM, DIFFERS = "agrees", "erratum", "differs"

FLOAT_ERROR = Fraction(1, 10**15)  # the last digit of a float, which its source's own sums lost
SAMPLING_LEVEL = "99.9%"


class Published(NamedTuple):
    """A value as a source prints it.

    text: as it is printed: a whole number, a fraction, a decimal, a percentage or words.
    kind: how it is meant: `""` for rounded to its digits (a whole number or a fraction is exact),
        `truncated`, `about` (a whole number is rounded too), `float` (all digits of a float),
        `simulated`, `range` (`low to high`), `above` or `below` (a limit), or `text`.
    runs: how many runs a simulated value comes from.
    right: for an erratum, the value that is right; else empty.
    erratum: for an erratum, its name among the errata; else empty.
    """

    text: str
    kind: str = ""
    runs: int = 0
    right: str = ""
    erratum: str = ""


class Compared(NamedTuple):
    """A published value beside ours.

    ours: our value.
    published: the value as it is printed.
    verdict: `agrees`, `erratum` or `differs`.
    """

    ours: Number
    published: Published
    verdict: str

    @property
    def difference(self) -> float | None:
        """Ours less the published value; `None` where they are words or ranges."""
        if isinstance(self.ours, str) or self.published.kind in ("range", "above", "below"):
            return None
        return float(Fraction(self.ours) - _read(self.published.text)[0])

    @property
    def ours_text(self) -> str:
        """Our value as it is written beside the published one, with all its digits."""
        if isinstance(self.ours, str):
            return self.ours
        if isinstance(self.ours, Fraction) and "/" in self.published.text:
            return fraction_text(self.ours)
        whole = isinstance(self.ours, int) or Fraction(self.ours).denominator == 1
        return str(int(self.ours)) if whole else repr(float(self.ours))

    @property
    def how(self) -> str:
        """How the two are compared, in words."""
        kinds = {
            "truncated": "cut off after its digits",
            "about": "rounded",
            "float": "to the last digit of a float",
            "simulated": f"within the sampling interval ({SAMPLING_LEVEL})",
            "range": "within the range",
            "above": "above the limit",
            "below": "below the limit",
            "text": "in words",
        }
        if self.published.erratum:
            return f"right is {self.published.right}"
        if self.published.kind or isinstance(self.ours, str):
            return kinds[self.published.kind or "text"]
        return "rounded to its digits" if _read(self.published.text)[1] else "exactly"


def compare(ours: Number, published: Published) -> Compared:
    """Compare our value with a published one.

    ours: our value.
    published: the other; one that is listed as an erratum must differ from ours, which must be the
        value that is right, or the verdict is that it differs.

    >>> compare(Fraction(5, 12), Published("0.417")).verdict
    'agrees'
    >>> compare(6, Published("5", right="6", erratum="hendel")).verdict
    'erratum'
    """
    agrees = _agrees(ours, published)
    if not published.erratum:
        return Compared(ours, published, AGREES if agrees else DIFFERS)
    mended = _agrees(ours, Published(published.right))
    return Compared(ours, published, ERRATUM if mended and not agrees else DIFFERS)


def _agrees(ours: Number, published: Published) -> bool:
    text, kind = published.text, published.kind
    if isinstance(ours, str):
        return ours == text
    number = Fraction(ours)
    if kind == "range":
        low, _, high = text.partition(" to ")
        return _read(low)[0] <= number <= _read(high)[0]
    value, unit = _read(text)
    if kind == "simulated":
        return _is_within_sampling(number, value, unit, published.runs)
    rules: dict[str, Callable[[], bool]] = {
        # Half a unit to either side: sources break ties up, down or to even.
        "": lambda: abs(number - value) <= unit / 2,
        "about": lambda: abs(number - value) <= (unit or 1) / 2,
        "truncated": lambda: value <= number < value + (unit or 1),
        "float": lambda: abs(number - value) <= FLOAT_ERROR * abs(value),
        "above": lambda: number > value,
        "below": lambda: number < value,
    }
    if kind not in rules:
        raise MalformedError(f"kind must be one of a published value, got {shown(kind)}")
    return rules[kind]()


def _is_within_sampling(number: Fraction, value: Fraction, unit: Fraction, runs: int) -> bool:
    low, high = Estimate(runs, round(value * runs)).interval(SAMPLING_LEVEL)
    return low - unit / 2 <= number <= high + unit / 2


def _read(text: str) -> tuple[Fraction, Fraction]:
    """Return a printed number, and the unit of its last digit: 0 if it is exact.

    >>> _read("73.6%") == (Fraction(736, 1000), Fraction(1, 1000))
    True
    >>> _read("15/36")[1]
    Fraction(0, 1)
    """
    percent = text.endswith("%")
    bare = text.removesuffix("%")
    try:
        value = Fraction(bare)
    except (ValueError, ZeroDivisionError):
        raise MalformedError(f"a published value must be a number, got {shown(text)}") from None
    digits = len(bare.partition(".")[2])
    unit = Fraction(1, 10**digits) if digits or percent else Fraction(0)
    return (value / 100, unit / 100) if percent else (value, unit)
