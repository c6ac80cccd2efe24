"""What a plan is asked with: positions, garrisons, rules of territories, cards and prizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePath
from typing import Any, ClassVar

from iacta.board.board import Board
from iacta.board.files import read_board
from iacta.board.position import Position, read_position
from iacta.checks import parse_whole_number, row_of, shown, whole_number
from iacta.errors import IactaError, IllegalError, MalformedError
from iacta.game import Sets
from iacta.plan.goals import MOST_WORTH
from iacta.questions.kinds import Kind, Number, Schema
from iacta.rules.variants import find_rule_set

__all__ = [
    "WORTH",
    "BoardSource",
    "Garrisons",
    "NewArmies",
    "Others",
    "PositionSource",
    "Prizes",
    "RulesOf",
    "Trades",
]

WORTH = Number(least=0, most=int(MOST_WORTH))


class BoardSource(Kind):
    """The path of a file with a board, or its name; in Python and JSON the board itself."""

    def check(self, value: object, name: str) -> str | Board:
        if isinstance(value, Board):
            return value
        if isinstance(value, Mapping):
            return read_board(value)
        if isinstance(value, str | PurePath):
            return str(value)
        raise MalformedError(f"{name} must be a board or a file of one, got {shown(value)}")

    def schema(self) -> Schema:
        return {"type": ["string", "object"]}


class PositionSource(Kind):
    """The path of a file with a position, or in Python and JSON the position itself."""

    def check(self, value: object, name: str) -> str | Position:
        if isinstance(value, Position):
            return value
        if isinstance(value, Mapping):
            return read_position(value)
        if isinstance(value, str | PurePath):
            return str(value)
        raise MalformedError(f"{name} must be a position or a file of one, got {shown(value)}")

    def schema(self) -> Schema:
        return {"type": ["string", "object"]}


@dataclass(frozen=True, eq=False, repr=False)
class Garrisons(Kind):
    """A number for each of some names, such as the armies that must stay on some territories.

    example: what it looks like.
    least: the least number.

    >>> Garrisons().parse("Brazil:3, Egypt=2", "keep")
    (('Brazil', 3), ('Egypt', 2))
    """

    metavar: ClassVar[str] = "NAMES"
    example: str = "Brazil:3,Egypt:2"
    least: int = 0

    def parse(self, text: str, name: str) -> tuple[tuple[str, int], ...]:
        kept = {}
        for part in text.split(","):
            territory, colon, number = part.replace("=", ":").rpartition(":")
            if not colon:
                raise IllegalError(f"{name} must be like '{self.example}', got {shown(text)}")
            kept[territory.strip()] = parse_whole_number(
                number.strip(), f"{name} of {territory.strip()}", self.least
            )
        return self.check(kept, name)

    def check(self, value: object, name: str) -> tuple[tuple[str, int], ...]:
        pairs = _pairs(value, name)
        return tuple(
            (str(who), whole_number(number, f"{name} of {who}" if who else name, self.least))
            for who, number in pairs
        )

    def text(self, value: Sequence[tuple[str, int]]) -> str:
        return ",".join(f"{territory}:{number}" for territory, number in value)

    def json(self, value: Sequence[tuple[str, int]]) -> dict[str, int]:
        return dict(value)

    def schema(self) -> Schema:
        number = {"type": "integer", "minimum": self.least}
        return {"type": "object", "additionalProperties": number}


@dataclass(frozen=True, eq=False, repr=False)
class Others(Garrisons):
    """Armies of all territories, without a name, and of some of them.

    >>> Others().parse("2, Ural=4", "others"), Others().check(2, "others")
    ((('', 2), ('Ural', 4)), (('', 2),))
    """

    metavar: ClassVar[str] = "ARMIES"
    example: str = "2,Ural=4"
    least: int = 1

    def parse(self, text: str, name: str) -> tuple[tuple[str, int], ...]:
        bare = [part for part in text.split(",") if not {":", "="} & {*part}]
        named = [part for part in text.split(",") if part not in bare]
        if len(bare) > 1:
            raise IllegalError(
                f"{name} must have at most one number without a name, got {shown(text)}"
            )
        rest = [("", parse_whole_number(part.strip(), name, 1)) for part in bare]
        return (*rest, *(super().parse(",".join(named), name) if named else ()))

    def check(self, value: object, name: str) -> tuple[tuple[str, int], ...]:
        if isinstance(value, int):
            return (("", whole_number(value, name, 1)),)
        return super().check(value, name)

    def text(self, value: Sequence[tuple[str, int]]) -> str:
        return ",".join(f"{who}={number}" if who else str(number) for who, number in value)

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "integer", "minimum": 1}, super().schema()]}


class RulesOf(Kind):
    """The names of rules by which territories are defended.

    >>> RulesOf().parse("Ukraine:wall+capital, Egypt=wall", "rules_of")
    (('Ukraine', 'capital+wall'), ('Egypt', 'wall'))
    """

    metavar: ClassVar[str] = "NAMES"
    names_rules: ClassVar[bool] = True

    def parse(self, text: str, name: str) -> tuple[tuple[str, str], ...]:
        pairs = []
        for part in text.split(","):
            territory, colon, rules = part.replace("=", ":").partition(":")
            if not colon:
                raise IllegalError(
                    f"{name} must be like 'Ukraine:capital,Egypt:wall', got {shown(text)}"
                )
            pairs.append((territory.strip(), rules.strip()))
        return self.check(pairs, name)

    def check(self, value: object, name: str) -> tuple[tuple[str, str], ...]:
        pairs = _pairs(value, name)
        return tuple((str(who), _rule_set_name(rules, name)) for who, rules in pairs)

    def text(self, value: Sequence[tuple[str, str]]) -> str:
        return ",".join(f"{territory}:{rules}" for territory, rules in value)

    def json(self, value: Sequence[tuple[str, str]]) -> dict[str, str]:
        return dict(value)

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": {"type": "string"}}


def _pairs(value: object, name: str) -> list[tuple[Any, Any]]:
    """Return the pairs of a mapping, or of a row of them."""
    if isinstance(value, Mapping):
        return list(value.items())
    pairs: list[tuple[Any, Any]] = []
    for each in row_of(value, name, "pairs"):
        if not isinstance(each, list | tuple) or len(each) != 2:
            raise MalformedError(f"{name} must be a row of pairs, got {shown(each)} in it")
        pairs.append((each[0], each[1]))
    return pairs


def _rule_set_name(rules: str, called: str) -> str:
    try:
        return find_rule_set(rules).name
    except IactaError as error:
        raise type(error)(f"{called}: {error}") from None


class NewArmies(Garrisons):
    """New armies: one number for all players, or one for each of some.

    >>> NewArmies().parse("5", "opponents_get"), NewArmies().parse("blue=5", "opponents_get")
    (5, (('blue', 5),))
    """

    metavar: ClassVar[str] = "ARMIES"

    def parse(self, text: str, name: str) -> Any:
        if not {":", "="} & {*text}:
            return parse_whole_number(text.strip(), name)
        return super().parse(text, name)

    def check(self, value: object, name: str) -> Any:
        return whole_number(value, name) if isinstance(value, int) else super().check(value, name)

    def text(self, value: Any) -> str:
        return str(value) if isinstance(value, int) else super().text(value)

    def json(self, value: Any) -> Any:
        return value if isinstance(value, int) else super().json(value)

    def schema(self) -> Schema:
        return {"anyOf": [{"type": "integer", "minimum": 0}, super().schema()]}


class Trades(Kind):
    """What the next sets of cards bring, or `fixed` as in the app.

    >>> Trades().parse("10,12", "trade").nth(2), Trades().parse("fixed", "trade").is_fixed
    (15, True)
    """

    metavar: ClassVar[str] = "ARMIES"

    def parse(self, text: str, name: str) -> Sets:
        if text.strip() == "fixed":
            return Sets(is_fixed=True)
        return Sets(tuple(parse_whole_number(part.strip(), name) for part in text.split(",")))

    def check(self, value: object, name: str) -> Sets:
        if isinstance(value, Sets):
            return value
        if isinstance(value, str):
            return self.parse(value, name)
        return Sets(tuple(whole_number(each, name) for each in row_of(value, name, "numbers")))

    def text(self, value: Sets) -> str:
        return "fixed" if value.is_fixed else ",".join(map(str, value.values))

    def json(self, value: Sets) -> str:
        return self.text(value)


class Prizes(Kind):
    """Goals, and what it is worth to reach them.

    >>> Prizes().parse("Africa: 5; eliminate green: 5/2", "prizes")
    (('Africa', Fraction(5, 1)), ('eliminate green', Fraction(5, 2)))
    """

    metavar: ClassVar[str] = "GOALS"

    def parse(self, text: str, name: str) -> tuple[tuple[str, Fraction], ...]:
        prizes = []
        for part in text.split(";"):
            goal, colon, number = part.rpartition(":")
            if not colon:
                raise IllegalError(
                    f"{name} must be like 'Africa:5;eliminate green:10', got {shown(text)}"
                )
            prizes.append((goal.strip(), number.strip()))
        return self.check(prizes, name)

    def check(self, value: object, name: str) -> tuple[tuple[str, Fraction], ...]:
        pairs = _pairs(value, name)
        return tuple((str(goal), WORTH.check(worth, name)) for goal, worth in pairs)

    def text(self, value: Sequence[tuple[str, Fraction]]) -> str:
        return ";".join(f"{goal}:{worth}" for goal, worth in value)

    def json(self, value: Sequence[tuple[str, Fraction]]) -> dict[str, str]:
        return {goal: WORTH.json(worth) for goal, worth in value}

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": WORTH.schema()}
