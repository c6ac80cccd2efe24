"""Chances: reads strings and numbers such as 95%, 0.95 or 19/20 as exact fractions."""

import re
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import MAX_NUMBER_LENGTH, WHOLE, quote, read_array
from iacta.inputs.errors import IllegalError, MalformedError

Chance: TypeAlias = float | Fraction | Decimal | str

MAX_EXPONENT = 999  # limits the number of digits in a `Fraction`
EXCLUDED_ENDS = {  # the words for each (impossible, certain)
    (False, False): ", both excluded",
    (False, True): ", 0 excluded",
    (True, False): ", 1 excluded",
    (True, True): "",
}
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]{1,40},[0-9]{1,40}\s?%?")


def read_fraction(value: Chance, name: str, expected: str) -> Fraction:
    """Read a number as an exact fraction.

    value: a number, or a decimal, percentage or fraction as a string. A float counts as the
        shortest decimal that represents it, so 0.95 means 19/20.
    name: the name of the number in error messages.
    expected: the words after "must" in error messages.

    A value that is not a number raises `IactaError`.

    >>> read_fraction(0.1, "level", "be a number"), read_fraction("95%", "level", "be a number")
    (Fraction(1, 10), Fraction(19, 20))
    """
    try:
        if isinstance(value, str | Decimal):
            return _parse_fraction(str(value), name)
        if isinstance(value, float | np.floating):
            return Fraction(repr(float(value)))
        if isinstance(value, bool):
            raise TypeError
        number = Fraction(value)
        # NumPy integers inside a `Fraction` would overflow.
        return Fraction(int(number.numerator), int(number.denominator))
    except IllegalError:
        raise
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        has_comma = isinstance(value, str) and DECIMAL_COMMA.fullmatch(value.strip())
        hint = f"; did you mean {str(value).strip().replace(',', '.')}?" if has_comma else ""
        raise MalformedError(
            f"{name} must {expected}, got {quote(value)}{hint}", parameter=name
        ) from None


def _parse_fraction(text: str, name: str) -> Fraction:
    bare = text.strip()
    if len(bare) > MAX_NUMBER_LENGTH or not bare.isascii():
        raise ValueError(bare)
    percent = bare.endswith("%")
    number = bare[:-1].strip() if percent else bare
    if WHOLE.fullmatch(number):
        number = re.sub("[,_]", "", number)
    if "_" in number:
        raise ValueError(bare)
    # Fraction("1e999999999") would have to store all its digits.
    _, _, exponent = number.lower().partition("e")
    if exponent and abs(int(exponent)) > MAX_EXPONENT:
        raise IllegalError(
            f"{name} must have an exponent from -{MAX_EXPONENT} to {MAX_EXPONENT}, "
            f"got {quote(text)}",
            parameter=name,
        )
    return Fraction(number) / (100 if percent else 1)


def read_chance(
    value: Chance, name: str = "chance", *, certain: bool = False, impossible: bool = False
) -> Fraction:
    """Read a chance above 0 and below 1 as an exact fraction.

    value: the chance, as for `read_fraction`. In a string without a percent sign, whole numbers and
        all numbers above 1 are percentages: `"75"` and `"0.75"` both mean 75%, `"1"` means 1%, and
        `"1.0"` means certainty.
    name: the name of the chance in error messages.
    certain: whether a chance of 1 is allowed as well.
    impossible: whether a chance of 0 is allowed as well.

    Other values raise `IactaError`.

    >>> read_chance(0.95), read_chance("95%"), read_chance("95"), read_chance("19/20")
    (Fraction(19, 20), Fraction(19, 20), Fraction(19, 20), Fraction(19, 20))
    >>> read_chance(1.2)
    Traceback (most recent call last):
        ...
    iacta.IllegalError: chance must lie between 0 and 1, both excluded, got 1.2
    """
    excluded = EXCLUDED_ENDS[impossible, certain]
    fraction = read_fraction(value, name, f"lie between 0 and 1{excluded}")
    if isinstance(value, str) and not {*value} & {*"%/"}:
        is_percentage = fraction > 1 or value.strip().isdecimal()
        fraction = fraction / 100 if is_percentage else fraction
    if fraction == 1 and not certain:
        raise refuse_certainty(value, name)
    if not 0 <= fraction <= 1 or (fraction == 0 and not impossible):
        hint = ""
        if 2 <= fraction < 100 and not isinstance(value, str):
            hint = f'; did you mean "{float(fraction):g}%" or {float(fraction / 100):g}?'
        bounds = "0 and 1" + excluded
        if isinstance(value, str) and "%" in value:
            bounds = re.sub("[01]", lambda end: f"{100 * int(end[0])}%", bounds)
        raise IllegalError(
            f"{name} must lie between {bounds}, got {quote(value)}{hint}",
            parameter=name,
        )
    return fraction


def refuse_certainty(value: object, name: str = "chance") -> IllegalError:
    """Return the error for a required chance of 100% where no result is certain.

    value: the chance as the user gave it.
    name: the name of the chance.
    """
    return IllegalError(
        f"nothing is certain: enter less than 100%, got {quote(value)}", parameter=name
    )


def read_chances(values: object, *, certain: bool = False) -> npt.NDArray[np.object_]:
    """Read chances from an array-like of any shape as an array of exact fractions.

    >>> read_chances(["5%", 0.5]).tolist()
    [Fraction(1, 20), Fraction(1, 2)]
    """
    given = read_array(values, "chances", "chances", object)
    chances = np.empty(given.shape, dtype=object)
    chances.reshape(-1)[:] = [read_chance(value, certain=certain) for value in given.flat]
    return chances
