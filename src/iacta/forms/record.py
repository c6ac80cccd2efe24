"""Record: what an answer holds, described once for JSON, its schema, batches and their page.

A record is a frozen dataclass. Each field is declared by `key`, which says in one line what it
means; its name and its type are the field's. JSON, the schema of the API, the columns of batches
and the page of keys all come from it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Protocol,
    Self,
    TypeAlias,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

from iacta.forms.percentages import exact_text

OMITTED: Any = object()  # the value of a key that is left out
SIMPLE = (float, int, bool, str)
PLAIN = (*SIMPLE, NoneType)
Schema: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Described:
    """What a schema says of a type; pydantic asks for it by the name of the method."""

    more: tuple[tuple[str, object], ...]

    def __get_pydantic_json_schema__(self, core: Any, make: Callable[[Any], Schema]) -> Schema:
        return {**make(core), **dict(self.more)}


@dataclass(frozen=True)
class Key:
    """What a key of a record means.

    meaning: one line for people.
    is_column: whether batches have it as a column if no columns are named.
    is_repeated: whether it repeats what was asked, so that it is never a column.
    name, holds: its name and its type, those of the field, filled in by `KeyedRecord.all_keys`.
    """

    meaning: str
    is_column: bool = False
    is_repeated: bool = False
    name: str = ""
    holds: Any = object

    @property
    def kind(self) -> type:
        """What a column holds: `float`, `int`, `bool`, `str`, or a `list` that is written as JSON.

        >>> Key("", holds=float | None).kind, Key("", holds=tuple[int, ...]).kind
        (<class 'float'>, <class 'list'>)
        """
        choices = [choice for choice in _choices(self.holds) if choice is not NoneType]
        if all(get_origin(choice) is Literal for choice in choices):
            return str
        (first, *others) = choices
        return first if first in SIMPLE and not others else list

    @property
    def is_list(self) -> bool:
        return any(get_origin(choice) in (tuple, list, Sequence) for choice in _choices(self.holds))

    @property
    def parts(self) -> list[type["KeyedRecord"]]:
        """The records that are its value, or in it."""
        return list(_records(self.holds))


def _choices(annotation: Any) -> Iterator[Any]:
    """Yield the types that a value may have."""
    if get_origin(annotation) is Annotated:
        yield from _choices(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for choice in get_args(annotation):
            yield from _choices(choice)
    else:
        yield annotation


def _records(annotation: Any) -> Iterator[type["KeyedRecord"]]:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        if issubclass(annotation, KeyedRecord):
            yield annotation
    else:
        for part in get_args(annotation):
            yield from _records(part)


def key(
    meaning: str, *, is_column: bool = False, is_repeated: bool = False, default: Any = MISSING
) -> Any:
    """Declare a field of a record.

    meaning, is_column, is_repeated: as in `Key`.
    default: its value if none is given; `OMITTED` for a key that may be left out.
    """
    described = Key(meaning, is_column, is_repeated)
    return field(default=default, metadata={"description": meaning, "key": described})


class Repeated(Protocol):
    """A question, of which its answer repeats some values."""

    def get_repeated(self, name: str) -> Any: ...


def json_name(field: str) -> str:
    """Return the key of a field.

    >>> json_name("from_")  # `from` is a word of Python's
    'from'
    """
    return field.rstrip("_")


@dataclass_transform(frozen_default=True, field_specifiers=(key,))
@dataclass(frozen=True)
class KeyedRecord:
    """Plain data, as JSON has it: subclasses are frozen dataclasses whose fields are keys."""

    # How pydantic makes the schema; nothing here imports it.
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "extra": "forbid",
        "alias_generator": json_name,
    }

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        dataclass(frozen=True, kw_only=kw_only)(cls)

    @classmethod
    @cache
    def all_keys(cls) -> tuple[Key, ...]:
        """Return the keys, in their order."""
        return tuple(
            replace(field.metadata["key"], name=field.name, holds=field.type)
            for field in fields(cls)
        )

    @classmethod
    def of(cls, value: object, question: Repeated | None = None, **more: Any) -> Self:
        """Return the record of an object that has attributes with the names of the keys.

        value: the object; its fractions become floats, and `x_exact` is the text of its `x`.
        question: what says the keys that repeat it.
        more: the keys that it does not have, and those that may be left out.
        """
        names = {own.name for own in fields(cls)}
        for own in fields(cls):
            name, of_exact = own.name, own.name.removesuffix("_exact")
            if name in more or own.default is not MISSING:
                continue
            if of_exact in names - {name}:
                more[name] = exact_text(getattr(value, of_exact))
            else:
                repeated = question if own.metadata["key"].is_repeated else None
                number = repeated.get_repeated(name) if repeated else getattr(value, name)
                more[name] = float(number) if isinstance(number, Fraction) else number
        return cls(**more)

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON has it, without the keys that are left out.

        >>> IntervalRecord(0.95, 0.8, 0.9).to_json()
        {'level': 0.95, 'low': 0.8, 'high': 0.9}
        """
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {
            json_name(name): json_value(value) for name, value in values if value is not OMITTED
        }


def json_value(value: Any) -> Any:
    if isinstance(value, KeyedRecord):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: json_value(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [part if type(part) in PLAIN else json_value(part) for part in value]
    return value


# What many records share.

Count: TypeAlias = Annotated[int, Described((("minimum", 0),))]
Unit: TypeAlias = Annotated[float, Described((("minimum", 0), ("maximum", 1)))]  # of chances
ExactText: TypeAlias = Annotated[str, Described((("pattern", r"^\d+(/\d+)?$"),))] | None
RULES_KEY = "The name of the rules, or of the rules file."
SEED_KEY = "The seed of their dice: the same seed throws the same dice."
RUNS_KEY = "How many games were played."
GARRISON_KEY = "Armies that must stay behind."
ATTACKERS_KEY = "Armies on the attacking territory, garrison included."
DEFENDERS_KEY = "Armies on the defended territory."
WILSON_KEY = "Wilson's interval for the true chance."


class IntervalRecord(KeyedRecord):
    """An interval that contains the true value with a stated confidence."""

    level: Unit = key("The confidence.")
    low: float = key("The lower end.")
    high: float = key("The upper end.")


class RepeatedBattle(KeyedRecord, kw_only=True):
    """What a question on one battle repeats."""

    attackers: Count = key(ATTACKERS_KEY, is_repeated=True)
    defenders: Count = key(DEFENDERS_KEY, is_repeated=True)
    garrison: Count = key(GARRISON_KEY, is_repeated=True)
    rules: str = key(RULES_KEY, is_repeated=True)
