"""Validation of user input. Each error message is one sentence that shows the rejected value."""

import operator
import re
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from math import prod
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError

K = TypeVar("K")
V = TypeVar("V")

MAX_VALUE_LENGTH = 60  # the maximum number of characters of a value in an error message
MAX_NUMBER_LENGTH = 1000  # the maximum number of characters; parsing longer numbers would be slow
MAX_TIME_LIMIT = 1e9  # about 30 years; longer time limits are reduced to this
MAX_DIGITS = 100  # products of two such numbers and small factors do not overflow a float
MAX_EXACT_FLOAT = 2.0**53  # floats represent all smaller whole numbers exactly
# Limits that protect the memory.
MAX_ROW_LENGTH = 10**6
MAX_ARRAY_SIZE = 2 * 10**7
MAX_TERMS = 10  # sums of up to ten numbers with `MAX_DIGITS` digits are valid for `read_int`
WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(,[0-9]{3})+|[1-9][0-9]{0,2}(_[0-9]{3})+)")
SCIENTIFIC = re.compile(r"[+-]?[0-9]{1,40}(\.[0-9]{1,40})?[eE]\+?[0-9]{1,3}")


# Format values.


def quote(value: object) -> str:
    """Return the repr of a value for an error message, shortened if it is very long."""
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # Python refuses to format integers with more than 4300 digits
        return "a number with thousands of digits"
    text = " ".join(text.split())  # an array's repr may have several lines
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 3]}..."


def refuse_unknown_keys(record: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise `IactaError` if a record has an unknown key."""
    for key in record:
        if key not in known:
            raise IllegalError(f"unknown key {quote(key)}; the keys are {', '.join(known)}")


def format_int(number: int) -> str:
    """Return a whole number in decimal digits, even beyond the limit of 4300 digits of `str`.

    >>> len(format_int(10**5000))
    5001
    """
    return f"{Decimal(number):f}"


def format_fraction(fraction: Fraction) -> str:
    """Return a fraction as n/d, even if n or d exceeds the 4300 digits of `str`.

    >>> format_fraction(Fraction(19, 20)), format_fraction(Fraction(1))
    ('19/20', '1/1')
    """
    return f"{format_int(fraction.numerator)}/{format_int(fraction.denominator)}"


# Read whole numbers and arrays.


def read_int(value: object, name: str, minimum: int | None = 0, maximum: int | None = None) -> int:
    """Return a whole number as an `int`; raise an error that states the allowed range.

    >>> read_int(-3, "attackers", minimum=1)
    Traceback (most recent call last):
        ...
    iacta.IllegalError: attackers must be a whole number of at least 1, got -3
    """
    if isinstance(value, bool | np.bool_):
        raise MalformedError(_explain_range(value, name, minimum, maximum), parameter=name)
    try:
        number = operator.index(value)  # type: ignore[arg-type] # other types raise TypeError
    except TypeError:
        sentence = f"{_explain_range(value, name, minimum, maximum)}{_suggest_int(value)}"
        raise MalformedError(sentence, parameter=name) from None
    if abs(number) >= MAX_TERMS * 10**MAX_DIGITS:
        raise _make_length_error(name, quote(number))
    if (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
        raise IllegalError(_explain_range(value, name, minimum, maximum), parameter=name)
    return number


def _explain_range(value: object, name: str, minimum: int | None, maximum: int | None) -> str:
    span = f" of at least {minimum}" if maximum is None else f" from {minimum} to {maximum}"
    span = "" if minimum is None else span
    return f"{name} must be a whole number{span}, got {quote(value)}"


def _suggest_int(value: object) -> str:
    """Return `"; did you mean 12?"` for `"12"` or `12.0`, otherwise an empty string."""
    if isinstance(value, str):
        number = value.strip() if WHOLE.fullmatch(value.strip()) else ""
    else:
        is_whole = isinstance(value, float | np.floating) and value.is_integer()
        number = format_int(int(value)) if is_whole else ""  # type: ignore[call-overload] # a float
    return f"; did you mean {number}?" if 0 < len(number) <= MAX_VALUE_LENGTH else ""


def _make_length_error(name: str, got: str) -> IllegalError:
    return IllegalError(f"{name} must have at most {MAX_DIGITS} digits, got {got}", parameter=name)


def parse_int(text: str, name: str, minimum: int | None = 0, maximum: int | None = None) -> int:
    """Parse a whole number.

    Commas or underscores may separate thousands, and 1e6 is a million. The digits of other scripts
    are invalid.

    >>> parse_int("12", "attackers"), parse_int("12,000", "attackers")
    (12, 12000)
    >>> parse_int("12_000", "runs"), parse_int("2.5e3", "runs")
    (12000, 2500)
    >>> parse_int("many", "attackers", minimum=1)
    Traceback (most recent call last):
        ...
    iacta.MalformedError: attackers must be a whole number of at least 1, got 'many'
    """
    number_text = text.strip()
    number: object = text
    if len(number_text) > MAX_NUMBER_LENGTH and number_text.strip("+-").isdecimal():
        raise _make_length_error(name, str(len(number_text)))
    if WHOLE.fullmatch(number_text):
        number = int(re.sub("[,_]", "", number_text))
    elif SCIENTIFIC.fullmatch(number_text) and Fraction(number_text).denominator == 1:
        number = int(Fraction(number_text))
    if isinstance(number, int) and abs(number) >= 10**MAX_DIGITS:
        raise _make_length_error(name, quote(number))
    return read_int(number, name, minimum, maximum)


def read_int_array(values: object, name: str, minimum: int = 0) -> npt.NDArray[np.int64]:
    """Return a number or an array-like of any shape as an int64 array.

    Floats are valid if they are whole numbers of at most 2^53.

    >>> read_int_array([12.0, 8.0], "attackers").tolist()
    [12, 8]
    >>> read_int_array([[1, 2], [3, 4.5]], "defenders")
    Traceback (most recent call last):
        ...
    iacta.MalformedError: defenders must be a whole number of at least 0, got 4.5
    """
    array = read_array(values, name, "whole numbers")
    if array.dtype.kind == "f" and (np.abs(array) <= MAX_EXACT_FLOAT).all():
        # Data frames with missing values contain whole numbers as floats.
        whole = array.astype(np.int64)
        array = whole if (whole == array).all() else array
    if array.dtype.kind not in "iu" or array.dtype == np.uint64:
        checked = [read_int(value, name, minimum) for value in np.asarray(values, object).flat]
        try:
            return np.array(checked, dtype=np.int64).reshape(array.shape)
        except OverflowError:
            raise IllegalError(
                f"{name} must be below 2^63 in an array, got {quote(max(checked))}"
            ) from None
    too_small = array[array < minimum]
    if too_small.size:
        read_int(too_small.flat[0], name, minimum)
    return array.astype(np.int64)


def read_array(values: object, name: str, kind: str, dtype: type | None = None) -> npt.NDArray[Any]:
    """Convert an array-like to an array; raise an error if it is too large.

    name: the name of the values, for error messages.
    kind: a plural noun for the values, such as `"whole numbers"`.
    dtype: the type of the array. Arrays of `object` have a lower size limit.

    >>> read_array(range(10**12), "attackers", "whole numbers")
    Traceback (most recent call last):
        ...
    iacta.TooLargeError: attackers must be at most 20,000,000 whole numbers, got more
    """
    most = MAX_ROW_LENGTH if dtype is object else MAX_ARRAY_SIZE
    if _count_entries(values, most) > most:
        raise TooLargeError(f"{name} must be at most {most:,} {kind}, got more", parameter=name)
    try:
        return np.asarray(values, dtype)
    except ValueError:
        raise MalformedError(
            f"{name} must be {kind} in rows of equal length, got {quote(values)}", parameter=name
        ) from None
    except MemoryError:
        raise TooLargeError(f"{name} must be {kind} that fit in memory", parameter=name) from None


def _count_entries(values: object, maximum: int) -> int:
    """Count the entries of an array-like; stop counting when the count exceeds `maximum`."""
    if isinstance(values, np.ndarray):
        return values.size
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        return 1
    try:
        count = len(values)
    except OverflowError:  # a `range` may be too long for `len`
        return maximum + 1
    has_rows = 0 < count <= maximum and isinstance(values[0], Sequence | np.ndarray)
    if not has_rows or isinstance(values[0], str):
        return count
    total = 0
    for row in values:
        total += _count_entries(row, maximum)
        if total > maximum:
            break
    return total


def unwrap_number(value: Any) -> Any:
    """Convert a NumPy number to a Python number, to avoid overflow; do not change other values."""
    return value.item() if isinstance(value, np.number) else value


def broadcast_arrays(
    *arrays: npt.NDArray[Any], maximum: int = MAX_ARRAY_SIZE
) -> tuple[npt.NDArray[Any], ...]:
    """Broadcast arrays to a common shape of at most `maximum` numbers."""
    shapes = " and ".join(str(array.shape) for array in arrays)
    try:
        shape = np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        raise IllegalError(f"arrays must have shapes that broadcast, got {shapes}") from None
    if prod(shape) > maximum:
        raise TooLargeError(
            f"arrays must broadcast to at most {maximum:,} numbers, got shapes {shapes}"
        )
    return np.broadcast_arrays(*arrays)


def read_seconds(value: object, name: str) -> float:
    """Return a time in seconds as a float of at most `MAX_TIME_LIMIT`.

    >>> read_seconds(2, "time_limit")
    2.0
    """
    seconds = unwrap_number(value)
    is_number = isinstance(seconds, int | float | Fraction) and not isinstance(seconds, bool)
    if not is_number or not seconds >= 0:  # the comparison is also false for NaN
        raise IllegalError(
            f"{name} must be a number of seconds, at least 0, got {quote(value)}", parameter=name
        )
    return float(min(seconds, MAX_TIME_LIMIT))


# Lists, choices, and fields of frozen dataclasses.


def read_list(values: object, name: str, kind: str, maximum: int = MAX_ROW_LENGTH) -> list[Any]:
    """Return the entries of an ordered iterable; strings, sets and mappings are errors.

    kind: a plural noun for the entries, such as `"whole numbers"`.
    maximum: the maximum length. At most one more entry is read from an iterator.

    >>> read_list((6, 6), "faces", "whole numbers")
    [6, 6]
    >>> read_list(range(10**12), "faces", "whole numbers", maximum=1000)
    Traceback (most recent call last):
        ...
    iacta.TooLargeError: faces must be a list of at most 1,000 entries, got more
    """
    if not isinstance(values, str | bytes | Set | Mapping):
        with suppress(TypeError):
            entries = list(islice(values, maximum + 1))  # type: ignore[call-overload] # may raise
            if len(entries) > maximum:
                raise TooLargeError(
                    f"{name} must be a list of at most {maximum:,} entries, got more",
                    parameter=name,
                )
            return entries
    raise MalformedError(f"{name} must be a list of {kind}, got {quote(values)}", parameter=name)


def split_words(text: str) -> list[str]:
    """Split a string at spaces and commas, but not at the commas in numbers such as 8,200.

    >>> split_words("8, 2,4"), split_words("8,200, 3")
    (['8', '2', '4'], ['8,200', '3'])
    """
    parts = (part.strip(",") for part in text.split())
    words = ([part] if WHOLE.fullmatch(part) else part.split(",") for part in parts)
    return [word for some in words for word in some if word]


def check_choice(value: object, allowed: tuple[object, ...], name: str) -> None:
    # The operator `in` would treat 1 and True as equal, and raise an error for arrays.
    if not any(type(value) is type(choice) and value == choice for choice in allowed):
        choices = " or ".join(map(repr, allowed))
        raise IllegalError(f"{name} must be {choices}, got {quote(value)}", parameter=name)


def set_field(instance: object, name: str, value: object) -> None:
    """Set a field of a frozen dataclass, for use in its `__post_init__`."""
    object.__setattr__(instance, name, value)


class PickledByFields:
    """A base class of dataclasses whose pickles do not contain cached properties."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the values of the fields."""
        names: Mapping[str, object] = vars(type(self))["__dataclass_fields__"]
        return {name: getattr(self, name) for name in names}


class FrozenDict(dict[K, V]):
    """An immutable, hashable dict."""

    def _refuse(self, *args: object, **options: object) -> NoReturn:
        raise TypeError("iacta's values are immutable")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override] # immutable
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)
