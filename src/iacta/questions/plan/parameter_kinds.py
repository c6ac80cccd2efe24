"""Kinds of parameters of plans: garrisons, rules of territories, cards and prizes."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from iacta.forms.parameter_kinds import Kind, Number, RulesName, Schema
from iacta.game import Sets
from iacta.inputs.checks import parse_int, quote, read_int, read_list
from iacta.inputs.errors import IactaError, IllegalError, MalformedError
from iacta.plan.goals import MAX_WORTH
from iacta.rules.variants import find_rule_set

WORTH = Number(least=0, most=int(MAX_WORTH))


class Pairs(Kind):
    """A value for each of several names, such as larger garrisons for several territories.

    value: the kind of the values.
    example: a valid text, for error messages.
    between: the separator of the pairs.

    >>> from iacta.forms.parameter_kinds import Whole
    >>> Pairs(Whole(), "Brazil:3,Egypt:2").parse("Brazil:3, Egypt=2", "keep")
    (('Brazil', 3), ('Egypt', 2))
    >>> Pairs(WORTH, "Africa:5;Egypt:2", ";").parse("Africa: 5; eliminate green: 5/2", "prizes")
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
                    f"{name} must be like '{self.example}', got {quote(text)}", parameter=name
                )
            who = who.strip()
            pairs.append((who, self.value.parse(value.strip(), _join_owner(name, who))))
        return tuple(pairs)

    def check(self, value: object, name: str) -> tuple[tuple[str, Any], ...]:
        pairs = value.items() if isinstance(value, Mapping) else read_list(value, name, "pairs")
        entries = []
        for pair in pairs:
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise MalformedError(
                    f"{name} must be a list of pairs, got {quote(pair)} in it", parameter=name
                )
            who, own = str(pair[0]), pair[1]
            entries.append((who, self.value.check(own, _join_owner(name, who))))
        return tuple(entries)

    def text(self, value: Sequence[tuple[str, Any]]) -> str:
        mark = "=" if "=" in self.example else ":"
        return self.between.join(f"{who}{mark}{self.value.text(own)}" for who, own in value)

    def json(self, value: Sequence[tuple[str, Any]]) -> Any:
        return {who: self.value.json(own) for who, own in value}

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.value.schema()}


def _join_owner(name: str, who: str) -> str:
    return f"{name} of {who}" if who else name


class OwnRules(RulesName):
    """The name of the rules under which a territory is defended."""

    def check(self, value: object, name: str) -> str:
        try:
            return find_rule_set(value).name  # type: ignore[arg-type] # checks the type
        except IactaError as error:
            raise type(error)(f"{name.partition(' of ')[0]}: {error}") from None

    def schema(self) -> Schema:
        return {"type": "string"}


class TerritoryRules(Pairs):
    """The names of rules under which territories are defended.

    >>> kind = TerritoryRules(OwnRules(), "Egypt:wall")
    >>> kind.parse("Ukraine:wall+capital, Egypt=wall", "rules_of")
    (('Ukraine', 'capital+wall'), ('Egypt', 'wall'))
    """

    names_rules: ClassVar[bool] = True


class OtherArmies(Pairs):
    """One number of armies for all other territories, and numbers for named territories.

    >>> from iacta.forms.parameter_kinds import Whole
    >>> others = OtherArmies(Whole(least=1), "2,Ural=4")
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

    def text(self, value: Sequence[tuple[str, int]]) -> str:
        return ",".join(f"{who}={number}" if who else str(number) for who, number in value)

    def schema(self) -> Schema:
        return {"anyOf": [self.value.schema(), super().schema()]}


class NewArmies(Pairs):
    """New armies: one number for all players, or a number for each named player.

    >>> from iacta.forms.parameter_kinds import Whole
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

    def text(self, value: Any) -> str:
        return str(value) if isinstance(value, int) else super().text(value)

    def json(self, value: Any) -> Any:
        return value if isinstance(value, int) else super().json(value)

    def schema(self) -> Schema:
        return {"anyOf": [self.value.schema(), super().schema()]}


class Trades(Kind):
    """The armies for the next sets of cards, or `fixed` as in the app.

    >>> Trades().parse("10,12", "trade").nth(2), Trades().parse("fixed", "trade").is_fixed
    (15, True)
    """

    metavar: ClassVar[str] = "ARMIES"

    def parse(self, text: str, name: str) -> Sets:
        if text.strip() == "fixed":
            return Sets(is_fixed=True)
        return Sets(tuple(parse_int(part.strip(), name) for part in text.split(",")))

    def check(self, value: object, name: str) -> Sets:
        if isinstance(value, Sets):
            return value
        if isinstance(value, str):
            return self.parse(value, name)
        return Sets(tuple(read_int(number, name) for number in read_list(value, name, "numbers")))

    def text(self, value: Sets) -> str:
        return "fixed" if value.is_fixed else ",".join(map(str, value.values))

    def json(self, value: Sets) -> str:
        return self.text(value)
