"""Exceptions for bad input. Each message is one sentence that tells a player what to change."""

import re
from functools import cache


class IactaError(ValueError):
    """The base class of iacta's errors, most of which are about bad input.

    The message about a value states what was expected and, if known, where the value stands.

    parameter: the name of the rejected parameter, or `None` if it is unknown.
    """

    def __init__(self, sentence: str, *, parameter: str | None = None) -> None:
        super().__init__(sentence)
        self.parameter = parameter


class MalformedError(IactaError):
    """The input has the wrong form, such as a word instead of a number, or half an army."""


class IllegalError(IactaError):
    """The input has the right form, but the rules of the game or of probability forbid it."""


class TooLargeError(IactaError):
    """The input is valid, but the computation would need too much memory or more than an hour."""


class MissingError(IactaError):
    """The input is valid, but the computation needs a package that is not installed."""


# Make tracebacks and pickles use the public names, such as `iacta.IllegalError`.
for _error in (IactaError, MalformedError, IllegalError, TooLargeError, MissingError):
    _error.__module__ = "iacta"


class add_location:  # noqa: N801 # used like a function; in loops faster than `contextmanager`
    """A context manager that prefixes the message of any `IactaError` with a location.

    >>> with add_location("line 3"):
    ...     raise IllegalError("die must be a whole number from 1 to 6, got 7")
    Traceback (most recent call last):
        ...
    iacta.IllegalError: line 3: die must be a whole number from 1 to 6, got 7
    """

    def __init__(self, location: str) -> None:
        self.location = location

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, _: object) -> None:
        if isinstance(error, IactaError):
            raise choose_error_class(error)(f"{self.location}: {error}") from None


class add_parameter:  # noqa: N801 # used like a function
    """A context manager that sets the parameter of any `IactaError`.

    >>> try:
    ...     with add_parameter("keep"):
    ...         raise IllegalError("board 'classic' has no territory 'Narnia'")
    ... except IllegalError as error:
    ...     print(error.parameter)
    keep
    """

    def __init__(self, parameter: str) -> None:
        self.parameter = parameter

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, _: object) -> None:
        if isinstance(error, IactaError):
            error.parameter = self.parameter


def choose_error_class(error: IactaError) -> type[IactaError]:
    """Return the public class of an error, to raise the error again with another message."""
    kinds = (IllegalError, TooLargeError, MissingError)
    return next((kind for kind in kinds if isinstance(error, kind)), MalformedError)


def missing_error(sentence: str, *extras: str) -> MissingError:
    """Return an exception whose message ends with the command that installs the missing packages.

    sentence: the beginning of the message, with the feature and the packages that it needs.
    extras: the extras of iacta that contain the packages.
    """
    names = dict.fromkeys(name for extra in extras for name in list_packages(extra))
    quoted = (f"'{name}'" if "[" in name else name for name in names)  # shells expand brackets
    return MissingError(f"{sentence}: pip install {' '.join(quoted)}")


@cache
def list_packages(extra: str) -> tuple[str, ...]:
    """Return the packages of an extra of iacta, according to iacta's metadata.

    >>> list_packages("methods")
    ('scipy',)
    """
    from importlib.metadata import requires  # a slow import

    packages: list[str] = []
    for line in requires("iacta") or ():
        package, _, marker = line.partition(";")
        if re.search(rf"""extra == ["']{extra}["']""", marker):
            others = re.fullmatch(r"iacta\[([\w,-]+)\]", package.strip())
            if others is None:
                packages.append(re.split(r"[^\w.,\[\]-]", package)[0])
            else:
                packages += (
                    name for other in others[1].split(",") for name in list_packages(other)
                )
    return tuple(dict.fromkeys(packages))
