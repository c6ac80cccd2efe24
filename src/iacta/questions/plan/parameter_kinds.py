"""Kinds of parameters for plans: garrisons, rules of territories, cards and prizes."""

from typing import Any, ClassVar

from iacta.forms.parameter_kinds import Kind, Number, Pairs, RulesName, Schema
from iacta.game import Sets
from iacta.inputs.checks import parse_int, read_int, read_list
from iacta.inputs.errors import IactaError
from iacta.plan.goals import MAX_WORTH
from iacta.rules.variants import find_rule_set

WORTH = Number(least=0, most=int(MAX_WORTH))


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

    def format(self, value: Any) -> str:
        return str(value) if isinstance(value, int) else super().format(value)

    def to_json(self, value: Any) -> Any:
        return value if isinstance(value, int) else super().to_json(value)

    def schema(self) -> Schema:
        return {"anyOf": [self.value.schema(), super().schema()]}


class Trades(Kind):
    """The armies for the next sets of cards, or `fixed` for the fixed values of the app.

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

    def format(self, value: Sets) -> str:
        return "fixed" if value.is_fixed else ",".join(map(str, value.values))

    def to_json(self, value: Sets) -> str:
        return self.format(value)
