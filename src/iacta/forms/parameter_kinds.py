"""The kinds of parameters. A kind reads strings or values, and formats them as strings or JSON."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import PurePath
from typing import Any, ClassVar, Generic, TypeVar, dataclass_transform

from iacta.battle.territory import Territory, format_territory, parse_territory
from iacta.board.codes import is_code
from iacta.inputs.checks import (
    MAX_VALUE_LENGTH,
    check_choice,
    format_fraction,
    parse_int,
    quote,
    read_int,
    read_list,
    split_words,
)
from iacta.inputs.errors import (
    IactaError,
    IllegalError,
    MalformedError,
    TooLargeError,
    choose_error_class,
)
from iacta.probability.chances import read_chance, read_fraction
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rule_set, rules_name

T = TypeVar("T")

Schema = dict[str, Any]


@dataclass_transform(frozen_default=True, eq_default=False)
@dataclass(frozen=True, eq=False, repr=False)
class Kind:
    """The base class of kinds of parameters, which are frozen dataclasses.

    `parse` reads a string from a command line or URL. `check` reads a Python or JSON value, and
    also accepts its own results. Both raise exceptions whose messages start with the name of the
    parameter. `format` is the inverse of `parse`.

    Kinds have no `__eq__` and no `__repr__`, which makes the import faster.
    """

    metavar: ClassVar[str] = "TEXT"
    is_list: ClassVar[bool] = False  # whether a value consists of several words on a command line
    names_file: ClassVar[bool] = False  # whether a value is a path, which web pages cannot read
    names_rules: ClassVar[bool] = False  # whether a value can include rules, such as 8:capital

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False, repr=False)(cls)

    def parse(self, text: str, name: str) -> Any:
        """Parse a string.

        name: the name of the parameter, for error messages.
        """
        return self.check(text, name)

    def check(self, value: object, name: str) -> Any:
        """Validate a value, and convert it to the type that questions store.

        name: the name of the parameter, for error messages.
        """
        raise NotImplementedError

    def is_path(self, value: object) -> bool:
        """Return whether a value of this kind is the path of a file."""
        return False

    def format(self, value: Any) -> str:
        """Return a value as a string that `parse` reads."""
        return str(value)

    def to_json(self, value: Any) -> Any:
        """Return a value as a JSON value that `check` reads."""
        return value

    def schema(self) -> Schema:
        """Return the JSON schema for values of this kind."""
        return {"type": "string"}


class Whole(Kind):
    """A whole number from `minimum` to `maximum`.

    >>> Whole(minimum=1).parse("12", "attackers"), Whole().check(12, "keep")
    (12, 12)
    >>> Whole(minimum=1, maximum=3).schema()
    {'type': 'integer', 'minimum': 1, 'maximum': 3}
    """

    metavar: ClassVar[str] = "N"
    minimum: int | None = 0
    maximum: int | None = None

    def parse(self, text: str, name: str) -> int:
        return parse_int(text, name, self.minimum, self.maximum)

    def check(self, value: object, name: str) -> int:
        return read_int(value, name, self.minimum, self.maximum)

    def schema(self) -> Schema:
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        return {"type": "integer", **{key: n for key, n in bounds.items() if n is not None}}


class Number(Kind):
    """A number such as 10, 2.5 or 5/2, read as a fraction.

    >>> Number().parse("2.5", "prize")
    Fraction(5, 2)
    """

    metavar: ClassVar[str] = "X"
    minimum: int | None = None
    maximum: int | None = None
    unit: str = "a number"

    def check(self, value: object, name: str) -> Fraction:
        expected = f"be {self.unit}{'' if self.minimum is None else f' of at least {self.minimum}'}"
        number = read_fraction(value, name, expected)  # type: ignore[arg-type] # checks the type
        if self.minimum is not None and number < self.minimum:
            raise IllegalError(f"{name} must {expected}, got {quote(value)}", parameter=name)
        if self.maximum is not None and number > self.maximum:
            raise TooLargeError(
                f"{name} must be at most {self.maximum:g}, got {quote(value)}", parameter=name
            )
        return number

    def to_json(self, value: Fraction) -> str:
        return self.format(value)

    def schema(self) -> Schema:
        bounds = {"minimum": self.minimum, "maximum": self.maximum}
        given = {key: n for key, n in bounds.items() if n is not None}
        return {"anyOf": [{"type": "number", **given}, {"type": "string"}]}


class Chance(Kind):
    """A chance between 0 and 1 such as 95%, 95, 0.95 or 19/20, read as a fraction.

    certain: whether a chance of 1 is allowed.
    impossible: whether a chance of 0 is allowed.

    >>> Chance().parse("95%", "chance"), Chance().format(Fraction(19, 20))
    (Fraction(19, 20), '95%')
    """

    metavar: ClassVar[str] = "P"
    certain: bool = False
    impossible: bool = False

    def check(self, value: object, name: str) -> Fraction:
        return read_chance(
            value,  # type: ignore[arg-type] # checks the type
            name,
            certain=self.certain,
            impossible=self.impossible,
        )

    def format(self, value: Fraction) -> str:
        percents = 100 * value
        return f"{percents}%" if percents.denominator == 1 else format_fraction(value)

    def to_json(self, value: Fraction) -> str:
        return self.format(value)

    def schema(self) -> Schema:
        number = {
            "type": "number",
            "minimum" if self.impossible else "exclusiveMinimum": 0,
            "maximum" if self.certain else "exclusiveMaximum": 1,
        }
        return {"anyOf": [number, {"type": "string"}]}


class Flag(Kind):
    """True or false. On the command line, a flag is an option without a value."""

    metavar: ClassVar[str] = ""

    def parse(self, text: str, name: str) -> bool:
        words = {"true": True, "1": True, "on": True, "false": False, "0": False, "off": False}
        if text.casefold() not in words:
            raise MalformedError(f"{name} must be true or false, got {quote(text)}", parameter=name)
        return words[text.casefold()]

    def check(self, value: object, name: str) -> bool:
        check_choice(value, (True, False), name)
        return bool(value)

    def format(self, value: bool) -> str:
        return "true" if value else "false"

    def schema(self) -> Schema:
        return {"type": "boolean"}


class OneOf(Kind):
    """One of several phrases, in which hyphens may replace spaces.

    >>> OneOf(("break through", "territories")).parse("break-through", "objective")
    'break through'
    """

    metavar: ClassVar[str] = "CHOICE"
    words: tuple[str, ...] = ()

    def check(self, value: object, name: str) -> str:
        for word in self.words:
            if isinstance(value, str) and value.replace("-", " ") == word:
                return word
        *most, last = (word.replace(" ", "-") for word in self.words)
        words = f"{', '.join(most)} or {last}"
        raise IllegalError(f"{name} must be {words}, got {quote(value)}", parameter=name)

    def format(self, value: str) -> str:
        return value.replace(" ", "-")

    def schema(self) -> Schema:
        return {"type": "string", "enum": list(self.words)}


class Name(Kind):
    """A name or a path, which is not validated."""

    def check(self, value: object, name: str) -> str:
        if not isinstance(value, str | PathLike):
            raise MalformedError(f"{name} must be a string, got {quote(value)}", parameter=name)
        return str(value)


class FileName(Name):
    """The path of a file on the machine that computes the answer."""

    metavar: ClassVar[str] = "FILE"
    names_file: ClassVar[bool] = True


class RulesName(Kind):
    """The name of a rule set in any spelling; in Python also `Rules`, and in JSON an object.

    >>> RulesName().parse("Wall + Capital", "rules")
    'capital+wall'
    >>> RulesName().check({"ties": "attacker"}, "rules")
    Rules(ties='attacker')
    """

    metavar: ClassVar[str] = "NAME"

    def check(self, value: object, name: str) -> str | Rules:
        if isinstance(value, Rules):
            return value
        if isinstance(value, Mapping):
            from iacta.rules.files import read_rules_record  # a slow import

            return read_rules_record(value)
        return find_rule_set(value).name  # type: ignore[arg-type] # checks the type

    def format(self, value: str | Rules) -> str:
        return value if isinstance(value, str) else rules_name(value)

    def to_json(self, value: str | Rules) -> str | dict[str, Any]:
        if isinstance(value, str):
            return value
        from iacta.rules.files import rules_record  # a slow import

        return rules_record(value)

    def schema(self) -> Schema:
        return {"type": ["string", "object"]}


class ListKind(Kind):
    """A list of entries, separated by spaces. An entry is a number, possibly with rules.

    Subclasses define `read` and `format_entry`, which convert a single entry.
    """

    is_list: ClassVar[bool] = True
    names_rules: ClassVar[bool] = True
    entries: ClassVar[str]

    def read(self, entry: object) -> Any:
        """Validate an entry, and convert it to the type that questions store."""
        raise NotImplementedError

    def format_entry(self, entry: Any) -> str:
        """Return an entry as a string that `read` reads."""
        raise NotImplementedError

    def parse(self, text: str, name: str) -> tuple[Any, ...]:
        return self.check(split_words(text), name)

    def check(self, value: object, name: str) -> tuple[Any, ...]:
        entries = read_list(value, name, self.entries)
        if not entries:
            raise IllegalError(f"missing {name}")
        try:
            return tuple(map(self.read, entries))
        except IactaError as error:
            texts = " ".join(map(str, entries))
            if "," not in texts:
                raise
            apart = " ".join(texts.replace(",", " ").split())[:MAX_VALUE_LENGTH]
            raise choose_error_class(error)(
                f"{error}; separate {name} by spaces: {apart}"
            ) from None

    def format(self, value: Sequence[Any]) -> str:
        return " ".join(self.to_json(value))

    def to_json(self, value: Sequence[Any]) -> list[str]:
        return list(map(self.format_entry, value))

    def schema(self) -> Schema:
        entry = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}
        return {"type": "array", "items": entry, "minItems": 1}


class Way(ListKind):
    """The territories of a campaign, each as DEFENDERS:RULES@GARRISON~HOLD_BACK.

    >>> Way().parse("22 8:capital@3", "territories")
    ('22', '8:capital@3')
    """

    entries: ClassVar[str] = "defenders, such as [8, 2]"

    def read(self, entry: object) -> str | Territory:
        if isinstance(entry, Territory):
            return entry
        if isinstance(entry, str):
            parse_territory(entry)
            return entry
        return str(read_int(entry, "defenders", minimum=1))

    def format_entry(self, entry: str | Territory) -> str:
        return entry if isinstance(entry, str) else format_territory(entry)


class CommaList(Kind):
    """Several values of one kind, separated by commas.

    >>> CommaList(Whole(minimum=None)).parse("-2, 0,5", "deltas")
    (-2, 0, 5)
    """

    metavar: ClassVar[str] = "X,X..."
    kind: Kind

    def parse(self, text: str, name: str) -> tuple[Any, ...]:
        return tuple(self.kind.parse(part.strip(), name) for part in text.split(","))

    def check(self, value: object, name: str) -> tuple[Any, ...]:
        if isinstance(value, Mapping):
            raise MalformedError(f"{name} must be a list, got {quote(value)}", parameter=name)
        return tuple(self.kind.check(entry, name) for entry in read_list(value, name, "values"))

    def format(self, value: Sequence[Any]) -> str:
        return ",".join(self.kind.format(entry) for entry in value)

    def to_json(self, value: Sequence[Any]) -> list[Any]:
        return [self.kind.to_json(entry) for entry in value]

    def schema(self) -> Schema:
        return {"type": "array", "items": self.kind.schema()}


class Pairs(Kind):
    """Pairs of a name and a value, such as territories with larger garrisons.

    value: the kind of the values.
    example: an example of a valid string, for error messages.
    between: the separator between pairs.

    >>> Pairs(Whole(), "Brazil:3,Egypt:2").parse("Brazil:3, Egypt=2", "keep")
    (('Brazil', 3), ('Egypt', 2))
    >>> Pairs(Number(), "Africa:5;Egypt:2", ";").parse("Africa: 5; eliminate green: 5/2", "prizes")
    (('Africa', Fraction(5, 1)), ('eliminate green', Fraction(5, 2)))
    """

    metavar: ClassVar[str] = "NAMES"
    value: Kind
    example: str
    between: str = ","

    def parse(self, text: str, name: str) -> tuple[tuple[str, Any], ...]:
        pairs = []
        for part in text.split(self.between):
            who, colon, value = part.replace("=", ":").rpartition(":")
            if not colon:
                raise IllegalError(
                    f"{name} must be pairs such as '{self.example}', got {quote(text)}",
                    parameter=name,
                )
            who = who.strip()
            pairs.append((who, self.value.parse(value.strip(), _add_owner(name, who))))
        return tuple(pairs)

    def check(self, value: object, name: str) -> tuple[tuple[str, Any], ...]:
        pairs = value.items() if isinstance(value, Mapping) else read_list(value, name, "pairs")
        entries = []
        for pair in pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise MalformedError(
                    f"{name} must contain only pairs, got {quote(pair)}", parameter=name
                )
            who, own = str(pair[0]), pair[1]
            entries.append((who, self.value.check(own, _add_owner(name, who))))
        return tuple(entries)

    def format(self, value: Sequence[tuple[str, Any]]) -> str:
        mark = "=" if "=" in self.example else ":"
        return self.between.join(f"{who}{mark}{self.value.format(own)}" for who, own in value)

    def to_json(self, value: Sequence[tuple[str, Any]]) -> Any:
        return {who: self.value.to_json(own) for who, own in value}

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.value.schema()}


class OtherArmies(Pairs):
    """One number of armies for all other territories, or numbers for named territories.

    >>> others = OtherArmies(Whole(minimum=1), "2,Ural=4")
    >>> others.parse("2, Ural=4", "others"), others.check(2, "others")
    ((('', 2), ('Ural', 4)), (('', 2),))
    """

    metavar: ClassVar[str] = "ARMIES"

    def parse(self, text: str, name: str) -> tuple[tuple[str, int], ...]:
        bare = [part for part in text.split(",") if not {":", "="} & {*part}]
        named = [part for part in text.split(",") if part not in bare]
        if len(bare) > 1:
            raise IllegalError(
                f"{name} must have at most one number without a name, got {quote(text)}",
                parameter=name,
            )
        rest = [("", self.value.parse(part.strip(), name)) for part in bare]
        return (*rest, *(super().parse(",".join(named), name) if named else ()))

    def check(self, value: object, name: str) -> tuple[tuple[str, int], ...]:
        return super().check({"": value} if isinstance(value, int) else value, name)

    def format(self, value: Sequence[tuple[str, int]]) -> str:
        return ",".join(f"{who}={number}" if who else str(number) for who, number in value)

    def schema(self) -> Schema:
        return {"anyOf": [self.value.schema(), super().schema()]}


class OwnRules(RulesName):
    """The name of the rules for battles over one territory."""

    def check(self, value: object, name: str) -> str:
        try:
            return find_rule_set(value).name  # type: ignore[arg-type] # checks the type
        except IactaError as error:
            raise type(error)(f"{name.partition(' of ')[0]}: {error}") from None

    def schema(self) -> Schema:
        return {"type": "string"}


class TerritoryRules(Pairs):
    """The names of the rules for battles over certain territories.

    >>> kind = TerritoryRules(OwnRules(), "Egypt:wall")
    >>> kind.parse("Ukraine:wall+capital, Egypt=wall", "rules_of")
    (('Ukraine', 'capital+wall'), ('Egypt', 'wall'))
    """

    names_rules: ClassVar[bool] = True


class NewArmies(Pairs):
    """New armies: one number for all players, or a number for each named player.

    >>> new = NewArmies(Whole(), "blue=5")
    >>> new.parse("5", "opponents_get"), new.parse("blue=5", "opponents_get")
    (5, (('blue', 5),))
    """

    metavar: ClassVar[str] = "ARMIES"

    def parse(self, text: str, name: str) -> Any:
        is_one = not {":", "="} & {*text}
        return self.value.parse(text.strip(), name) if is_one else super().parse(text, name)

    def check(self, value: object, name: str) -> Any:
        is_one = isinstance(value, int)
        return self.value.check(value, name) if is_one else super().check(value, name)

    def format(self, value: Any) -> str:
        return str(value) if isinstance(value, int) else super().format(value)

    def to_json(self, value: Any) -> Any:
        return value if isinstance(value, int) else super().to_json(value)

    def schema(self) -> Schema:
        return {"anyOf": [self.value.schema(), super().schema()]}


def _add_owner(name: str, owner: str) -> str:
    return f"{name} of {owner}" if owner else name


class Source(Kind, Generic[T]):
    """A board, a position or a similar value, given as a path, a name, a code or the value itself.

    holds: the class of the value.
    read: a function that converts a JSON object, or an instance of a class in `reads`, to the
        value.
    names: the built-in names, which are not paths.
    reads: further classes that `read` accepts.
    """

    holds: type[T]
    read: Callable[[Any], T]
    names: tuple[str, ...] = ()
    reads: tuple[type, ...] = ()

    def check(self, value: object, name: str) -> str | T:
        if isinstance(value, self.holds):
            return value
        if isinstance(value, (Mapping, *self.reads)):
            return self.read(value)
        if isinstance(value, str | PurePath):
            return str(value)
        kind = self.holds.__name__.lower()
        raise MalformedError(
            f"{name} must be a {kind} or the path of a file, got {quote(value)}", parameter=name
        )

    def is_path(self, value: object) -> bool:
        return isinstance(value, str) and value not in self.names and not is_code(value)

    def schema(self) -> Schema:
        return {"type": ["string", "object"]}
