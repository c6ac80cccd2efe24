"""Territory: a step on the way of a campaign."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from iacta.errors import IllegalError
from iacta.numbers import parse_whole_number, row_of, whole_number
from iacta.records import put, short_repr
from iacta.rules import Rules
from iacta.variants import find_rules, rules_name

__all__ = [
    "Stage",
    "Territories",
    "Territory",
    "parse_territory",
    "read_territories",
    "stages",
    "territory_name",
]


@dataclass(frozen=True, repr=False)
class Territory:
    """A territory on the way of a campaign.

    defenders: armies that defend it.
    rules: the rules of the battle for it, `Rules` or a name; `None` for those of the campaign.
        Their garrison does not count: what stays behind is said by the territory attacked from.
    garrison: armies that must stay on it when the stack moves on; `None` for that of the
        campaign.

    >>> Territory(8, rules="capital", garrison=3)
    Territory(8, rules=Rules(defence=Dice((6, 6, 6))), garrison=3)
    """

    defenders: int
    rules: Rules | str | None = None
    garrison: int | None = None

    def __post_init__(self) -> None:
        put(self, "defenders", whole_number(self.defenders, "defenders", least=1))
        put(self, "rules", None if self.rules is None else find_rules(self.rules))
        if self.garrison is not None:
            put(self, "garrison", whole_number(self.garrison, "garrison", least=0))

    def __repr__(self) -> str:
        return short_repr(self, first="defenders")


Territories: TypeAlias = Iterable[int | Territory]


class Stage(NamedTuple):
    """One battle of a campaign.

    defenders: armies that defend the territory.
    rules: the rules of the battle, with the garrison of the territory attacked from.
    """

    defenders: int
    rules: Rules


def read_territories(territories: Territories) -> tuple[Territory, ...]:
    """Return a way as territories; one that is empty, or no row of numbers, is refused.

    >>> read_territories([22, Territory(8)])
    (Territory(22), Territory(8))
    """
    entries = row_of(territories, "territories", "defenders")
    way = tuple(each if isinstance(each, Territory) else Territory(each) for each in entries)
    if not way:
        raise IllegalError("territories must have at least one entry, got none")
    return way


def stages(territories: Iterable[Territory], rules: Rules) -> Iterator[Stage]:
    """Yield the battles for the territories, each under its own rules or else under `rules`.

    >>> way = [Territory(8, garrison=3), Territory(2)]
    >>> [stage.rules.garrison for stage in stages(way, Rules())]
    [1, 3]
    """
    garrison = rules.garrison
    for territory in territories:
        own = rules if territory.rules is None else find_rules(territory.rules)
        yield Stage(territory.defenders, replace(own, garrison=garrison))
        garrison = rules.garrison if territory.garrison is None else territory.garrison


def parse_territory(text: str) -> Territory:
    """Return the territory written as DEFENDERS, DEFENDERS:RULES, or either with @GARRISON.

    >>> parse_territory("8:capital@3")
    Territory(8, rules=Rules(defence=Dice((6, 6, 6))), garrison=3)
    >>> parse_territory("many")
    Traceback (most recent call last):
        ...
    iacta.errors.MalformedError: defenders must be a whole number of at least 1, got 'many'
    """
    rest, at, garrison = text.partition("@")
    defenders, colon, rules = rest.partition(":")
    return Territory(
        parse_whole_number(defenders, "defenders", least=1),
        find_rules(rules) if colon else None,
        parse_whole_number(garrison, "garrison", least=0) if at else None,
    )


def territory_name(territory: Territory) -> str:
    """Return the text that `parse_territory` reads; rules without a name are shown in full.

    >>> territory_name(Territory(8, rules="capital", garrison=3))
    '8:capital@3'
    """
    rules = "" if territory.rules is None else f":{rules_name(find_rules(territory.rules))}"
    garrison = "" if territory.garrison is None else f"@{territory.garrison}"
    return f"{territory.defenders}{rules}{garrison}"
