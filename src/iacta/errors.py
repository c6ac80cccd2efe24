"""Errors: what iacta raises on bad input, each message one sentence fit for a player."""

__all__ = ["IactaError", "IllegalError", "MalformedError", "MissingError", "TooLargeError"]


class IactaError(ValueError):
    """Bad input; the message names the value, what was expected and where.

    parameter: the name of the parameter that was given the value, `None` if it is not known.
    """

    parameter: str | None = None


class MalformedError(IactaError):
    """The input cannot be read, such as a text instead of a number, or half an army."""


class IllegalError(IactaError):
    """The input can be read, but the rules of the game or of probability forbid it."""


class TooLargeError(IactaError):
    """The input is valid, but answering it would take too much memory or more than an hour."""


class MissingError(IactaError):
    """The input is valid, but answering it takes a package that is not installed."""
