"""Records: answers as data, for use by programs.

A record is a frozen dataclass or a named tuple that becomes a JSON object: its fields are the keys.
Values of lower layers, such as `Threat`, serve as records unchanged. A `KeyedRecord` is written
only for an answer that differs from such a value. The meaning of a key is stated once: in the
docstring of the class, as `name: meaning`, or with `key`. JSON, the schema of the API, the columns
of batches and the documentation of keys are derived from `list_keys`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
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
    get_type_hints,
)

from iacta.forms.percentages import format_if_exact
from iacta.forms.sections import Section, Table, format_cell
from iacta.inputs.meanings import Count, SchemaExtra, Unit, read_meanings
from iacta.probability.estimate import CONFIDENCE, Interval

OMITTED: Any = object()  # the value of a key that is omitted from JSON
SIMPLE = (float, int, bool, str)
PLAIN = (*SIMPLE, NoneType)


@dataclass(frozen=True)
class Key:
    """A key of a record.

    meaning: the meaning of the key, in one line.
    is_column: whether the key is a default column of batches.
    is_repeated: whether the key repeats the question. Such a key cannot be a column of batches.
    may_be_omitted: whether JSON may omit the key.
    name: the name of the field.
    holds: the type of the field.
    """

    meaning: str
    is_column: bool = False
    is_repeated: bool = False
    may_be_omitted: bool = False
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
    def parts(self) -> list[type]:
        """The records in the type of the value."""
        return list(_list_records(self.holds))


def is_record(kind: Any) -> bool:
    """Return whether a type is a record: a dataclass or a named tuple."""
    if not isinstance(kind, type) or get_origin(kind) is not None:
        return False
    return is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


def _list_choices(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union type, or a type that is not a union."""
    if get_origin(annotation) is Annotated:
        yield from _list_choices(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for choice in get_args(annotation):
            yield from _list_choices(choice)
    else:
        yield annotation


def _list_records(annotation: Any) -> Iterator[type]:
    if is_record(annotation):
        yield annotation
    else:
        for part in get_args(annotation):
            yield from _list_records(part)


def key(
    meaning: str = "", *, is_column: bool = False, is_repeated: bool = False, default: Any = MISSING
) -> Any:
    """Declare a field of a record.

    meaning: the meaning of the key, in one line; empty if a docstring states it.
    is_column, is_repeated: the same as for `Key`.
    default: the default value; `OMITTED` to omit the key from JSON by default.
    """
    described = Key(meaning, is_column, is_repeated)
    return field(default=default, metadata={"key": described})


class Repeated(Protocol):
    """A question whose answer repeats some of its values."""

    def get_repeated(self, name: str) -> Any: ...


def format_key(field: str) -> str:
    """Return the JSON key of a field.

    >>> format_key("start"), format_key("to")  # `from` is a keyword of Python
    ('from', 'to')
    """
    return "from" if field == "start" else field


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(key,))
@dataclass(frozen=True, kw_only=True)
class KeyedRecord:
    """A JSON object. Subclasses are frozen dataclasses whose fields are the keys.

    of: the class that the record describes, a class argument. A key without its own meaning takes
        the meaning of the field with the same name in that class.
    """

    of: ClassVar[type | None] = None

    def __init_subclass__(cls, *, of: type | None = None) -> None:
        cls.of = of or cls.of
        dataclass(frozen=True, kw_only=True)(cls)

    @classmethod
    def from_attributes(
        cls, value: object, question: Repeated | None = None, /, **more: Any
    ) -> Self:
        """Create a record whose keys are attributes of an object.

        value: the object. Fractions are converted to floats. The key `x_exact` is the fraction `x`
            as a string.
        question: the question, for keys that repeat parts of the question.
        more: the values of keys that are not attributes of the object, or that have a default.
        """
        names = {own.name for own in fields(cls)}
        record: type = cls
        repeated = {known.name for known in list_keys(record) if known.is_repeated}
        for own in fields(cls):
            name, exact_name = own.name, own.name.removesuffix("_exact")
            if name in more or own.default is not MISSING:
                continue
            if exact_name in names - {name}:
                more[name] = format_if_exact(getattr(value, exact_name))
            elif question is not None and name in repeated:
                more[name] = _convert_fraction(question.get_repeated(name))
            else:
                more[name] = _convert_fraction(getattr(value, name))
        return cls(**more)

    def to_json(self) -> dict[str, Any]:
        """Return the record as a JSON object, without the keys whose values are `OMITTED`.

        >>> IntervalRecord(level=0.95, low=0.8, high=0.9).to_json()
        {'level': 0.95, 'low': 0.8, 'high': 0.9}
        """
        return _make_object(self, (own.name for own in fields(self)))


def _convert_fraction(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value


@cache
def list_keys(record: type) -> tuple[Key, ...]:
    """Return the keys of a record in the order of the fields.

    >>> from iacta.probability.estimate import Interval
    >>> [(key.name, key.meaning) for key in list_keys(Interval)]
    [('low', 'The lower end.'), ('high', 'The upper end.')]
    """
    types = get_type_hints(record, include_extras=True)
    value = getattr(record, "of", None)
    meanings = {**(read_meanings(value) if value else {}), **read_meanings(record)}
    declared = {own.name: own for own in fields(record)} if is_dataclass(record) else {}
    keys = []
    for name in declared or record._fields:  # type: ignore[attr-defined] # a named tuple
        own = declared.get(name)
        described = own.metadata.get("key", Key("")) if own else Key("")
        keys.append(
            replace(
                described,
                meaning=described.meaning or meanings.get(name, ""),
                may_be_omitted=own is not None and own.default is OMITTED,
                name=name,
                holds=types[name],
            )
        )
    return tuple(keys)


def json_value(value: Any) -> Any:
    """Return a value as JSON: records as objects, and fractions as floats."""
    if is_dataclass(value):
        return _make_object(value, (own.name for own in fields(value)))
    if isinstance(value, Mapping):
        return {name: json_value(part) for name, part in value.items()}
    if isinstance(value, tuple) and is_record(type(value)):
        return _make_object(value, value._fields)  # type: ignore[attr-defined] # a named tuple
    if isinstance(value, list | tuple):
        return [part if type(part) in PLAIN else json_value(part) for part in value]
    return _convert_fraction(value)


def _make_object(value: object, names: Iterator[str] | Sequence[str]) -> dict[str, Any]:
    values = ((name, getattr(value, name)) for name in names)
    return {format_key(name): json_value(part) for name, part in values if part is not OMITTED}


ExactText: TypeAlias = Annotated[str, SchemaExtra((("pattern", r"^\d+(/\d+)?$"),))] | None
EXACT_KEY = 'With `--exact` the same number as `"n/d"`, else `null`.'
RULES_KEY = "The name of the rules, or of the rules file."
SEED_KEY = "The seed of the dice: the same seed gives the same dice."
RUNS_KEY = "The number of games played."
GARRISON_KEY = "Armies that must stay behind."
ATTACKERS_KEY = "Armies on the attacking territory, garrison included."
DEFENDERS_KEY = "Armies on the defended territory."
WILSON_KEY = "The Wilson interval for the true chance."


class IntervalRecord(KeyedRecord, of=Interval):
    """A confidence interval."""

    level: Unit = key("The confidence.")
    low: float
    high: float

    @classmethod
    def from_interval(cls, interval: tuple[float, float], level: float = CONFIDENCE) -> Self:
        low, high = interval
        return cls(level=level, low=low, high=high)


class RepeatedBattle(KeyedRecord):
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
        return cls(title=section.title.rstrip(":"), parts=parts)


def _make_table_record(table: Table, numbers: Mapping[str, int]) -> dict[str, object]:
    rows = [[format_cell(cell) for cell in row] for row in table.rows]
    numbered = [
        [f"{numbers[row[0]]}. {row[0]}", *row[1:]] if row[0] in numbers else row for row in rows
    ]
    return {"columns": list(table.columns), "rows": numbered}
