"""What the frozen dataclasses of iacta share: setting a checked field, and a repr to paste back."""

from dataclasses import fields
from typing import Any

from iacta.errors import IllegalError
from iacta.numbers import shown

__all__ = ["check_choice", "put", "short_repr"]


def put(instance: object, name: str, value: object) -> None:
    """Set a field of a frozen instance that is still being made."""
    object.__setattr__(instance, name, value)


def check_choice(value: object, allowed: tuple[object, ...], name: str) -> None:
    """Refuse a value that is none of those allowed."""
    # `in` would take 1 for True, and an unhashable or array value for an answer.
    if not any(type(value) is type(choice) and value == choice for choice in allowed):
        choices = " or ".join(map(repr, allowed))
        raise IllegalError(f"{name} must be {choices}, got {shown(value)}")


def short_repr(instance: Any, first: str = "") -> str:
    """Show the fields that differ from their defaults; `first` always and without its name."""
    shown_fields = [
        f"{field.name}={getattr(instance, field.name)!r}"
        for field in fields(instance)
        if field.name != first and getattr(instance, field.name) != field.default
    ]
    if first:
        shown_fields.insert(0, repr(getattr(instance, first)))
    return f"{type(instance).__name__}({', '.join(shown_fields)})"
