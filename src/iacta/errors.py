"""The errors that iacta raises on bad input: each is one sentence that can be shown to a player."""

__all__ = ["IactaError", "IllegalError", "MalformedError", "MissingError", "TooLargeError"]


class IactaError(ValueError):
    """Any input that iacta refuses; its text names the value, what was expected and where."""


class MalformedError(IactaError):
    """The input cannot be read: a text where a number is wanted, a fraction of an army."""


class IllegalError(IactaError):
    """The input can be read, but the rules of the game or of probability forbid it."""


class TooLargeError(IactaError):
    """The input is sound, but its answer would not fit into memory or into an hour."""


class MissingError(IactaError):
    """The input is sound, but a package that answers it is not installed."""
