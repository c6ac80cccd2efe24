"""Records: answers as data, for use by programs.

A record is a frozen dataclass. Each field is declared with `key`, with its meaning in one line.
JSON, the schema of the API, the columns of batches and the documentation of keys are derived from
the fields.
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

from iacta.forms.percentages import format_if_exact
from iacta.forms.sections import Section, Table, format_cell

OMITTED: Any = object()  # the value of a key that is omitted from JSON
SIMPLE = (float, int, bool, str)
PLAIN = (*SIMPLE, NoneType)
Schema: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class SchemaExtra:
    """Keywords that extend the JSON schema of a type. Pydantic calls the method by its name."""

    keywords: tuple[tuple[str, object], ...]

    def __get_pydantic_json_schema__(self, core: Any, make: Callable[[Any], Schema]) -> Schema:
        return {**make(core), **dict(self.keywords)}


@dataclass(frozen=True)
class Key:
    """A key of a record.

    meaning: the meaning of the key, in one line.
    is_column: whether the key is a default column of batches.
    is_repeated: whether the key repeats the question. Such a key cannot be a column of batches.
    name, holds: the name and the type of the field, set by `KeyedRecord.all_keys`.
    """

    meaning: str
    is_column: bool = False
    is_repeated: bool = False
    name: str = ""
    holds: Any = object

    @property
    def kind(self) -> type:
        """The type of the column: `float`, `int`, `bool`, `str`, or `list` for JSON text.

        >>> Key("", holds=float | None).kind, Key("", holds=tuple[int, ...]).kind
        (<class 'float'>, <class 'list'>)
        """
        choices = [choice for choice in _list_choices(self.holds) if choice is not NoneType]
        if all(get_origin(choice) is Literal for choice in choices):
            return str
        (first, *others) = choices
        return first if first in SIMPLE and not others else list

    @property
    def is_list(self) -> bool:
        return any(
            get_origin(choice) in (tuple, list, Sequence) for choice in _list_choices(self.holds)
        )

    @property
    def parts(self) -> list[type["KeyedRecord"]]:
        """The record classes in the type of the value."""
        return list(_list_records(self.holds))


def _list_choices(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union type, or a type that is not a union."""
    if get_origin(annotation) is Annotated:
        yield from _list_choices(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for choice in get_args(annotation):
            yield from _list_choices(choice)
    else:
        yield annotation


def _list_records(annotation: Any) -> Iterator[type["KeyedRecord"]]:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        if issubclass(annotation, KeyedRecord):
            yield annotation
    else:
        for part in get_args(annotation):
            yield from _list_records(part)


def key(
    meaning: str, *, is_column: bool = False, is_repeated: bool = False, default: Any = MISSING
) -> Any:
    """Declare a field of a record.

    meaning, is_column, is_repeated: the same as for `Key`.
    default: the default value; `OMITTED` to omit the key from JSON by default.
    """
    described = Key(meaning, is_column, is_repeated)
    return field(default=default, metadata={"description": meaning, "key": described})


class Repeated(Protocol):
    """A question whose answer repeats some of its values."""

    def get_repeated(self, name: str) -> Any: ...


def format_key(field: str) -> str:
    """Return the JSON key of a field.

    >>> format_key("from_")  # `from` is a keyword of Python
    'from'
    """
    return field.rstrip("_")


@dataclass_transform(frozen_default=True, field_specifiers=(key,))
@dataclass(frozen=True)
class KeyedRecord:
    """A JSON object. Subclasses are frozen dataclasses whose fields are the keys."""

    # Pydantic reads this when it creates a schema. This module does not import pydantic.
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {
        "extra": "forbid",
        "alias_generator": format_key,
    }

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        dataclass(frozen=True, kw_only=kw_only)(cls)

    @classmethod
    @cache
    def all_keys(cls) -> tuple[Key, ...]:
        """Return the keys in the order of the fields."""
        return tuple(
            replace(field.metadata["key"], name=field.name, holds=field.type)
            for field in fields(cls)
        )

    @classmethod
    def from_attributes(cls, value: object, question: Repeated | None = None, **more: Any) -> Self:
        """Create a record whose keys are attributes of an object.

        value: the object. Fractions are converted to floats. The key `x_exact` is the fraction `x`
            as a string.
        question: the question, for keys that repeat parts of the question.
        more: the values of keys that are not attributes of the object, or that have a default.
        """
        names = {own.name for own in fields(cls)}
        for own in fields(cls):
            name, exact_name = own.name, own.name.removesuffix("_exact")
            if name in more or own.default is not MISSING:
                continue
            if exact_name in names - {name}:
                more[name] = format_if_exact(getattr(value, exact_name))
            else:
                repeated = question if own.metadata["key"].is_repeated else None
                number = repeated.get_repeated(name) if repeated else getattr(value, name)
                more[name] = float(number) if isinstance(number, Fraction) else number
        return cls(**more)

    def to_json(self) -> dict[str, Any]:
        """Return the record as a JSON object, without the keys whose values are `OMITTED`.

        >>> IntervalRecord(0.95, 0.8, 0.9).to_json()
        {'level': 0.95, 'low': 0.8, 'high': 0.9}
        """
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {
            format_key(name): json_value(value) for name, value in values if value is not OMITTED
        }


def json_value(value: Any) -> Any:
    if isinstance(value, KeyedRecord):
        return value.to_json()
    if isinstance(value, Mapping):
        return {name: json_value(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [part if type(part) in PLAIN else json_value(part) for part in value]
    return value


Count: TypeAlias = Annotated[int, SchemaExtra((("minimum", 0),))]
Unit: TypeAlias = Annotated[float, SchemaExtra((("minimum", 0), ("maximum", 1)))]  # a chance
ExactText: TypeAlias = Annotated[str, SchemaExtra((("pattern", r"^\d+(/\d+)?$"),))] | None
RULES_KEY = "The name of the rules, or of the rules file."
SEED_KEY = "The seed of the dice: the same seed gives the same dice."
RUNS_KEY = "The number of games played."
GARRISON_KEY = "Armies that must stay behind."
ATTACKERS_KEY = "Armies on the attacking territory, garrison included."
DEFENDERS_KEY = "Armies on the defended territory."
WILSON_KEY = "The Wilson interval for the true chance."


class IntervalRecord(KeyedRecord):
    """A confidence interval."""

    level: Unit = key("The confidence.")
    low: float = key("The lower end.")
    high: float = key("The upper end.")


class RepeatedBattle(KeyedRecord, kw_only=True):
    """The keys with which an answer repeats a question about one battle."""

    attackers: Count = key(ATTACKERS_KEY, is_repeated=True)
    defenders: Count = key(DEFENDERS_KEY, is_repeated=True)
    garrison: Count = key(GARRISON_KEY, is_repeated=True)
    rules: str = key(RULES_KEY, is_repeated=True)


class AnswerSectionRecord(KeyedRecord):
    """A section of the displayed answer."""

    title: str = key("The title.")
    parts: Sequence[object] = key("Sentences, and tables with `columns` and `rows` of text.")

    @classmethod
    def from_section(cls, section: Section, numbers: Mapping[str, int] | None = None) -> Self:
        """Return a section as a record.

        numbers: a mapping from the first cell of a row to the number that precedes the cell.
        """
        parts = [
            _make_table_record(part, numbers or {}) if isinstance(part, Table) else str(part)
            for part in section.parts
        ]
        return cls(section.title.rstrip(":"), parts)


def _make_table_record(table: Table, numbers: Mapping[str, int]) -> dict[str, object]:
    rows = [[format_cell(cell) for cell in row] for row in table.rows]
    numbered = [
        [f"{numbers[row[0]]}. {row[0]}", *row[1:]] if row[0] in numbers else row for row in rows
    ]
    return {"columns": list(table.columns), "rows": numbered}
