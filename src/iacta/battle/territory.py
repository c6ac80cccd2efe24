"""Territory: one territory of a campaign, with the battle for it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from iacta.inputs.checks import parse_int, read_int, read_list, set_field
from iacta.inputs.errors import IllegalError
from iacta.inputs.reprs import format_short_repr
from iacta.methods import choose_kernel
from iacta.methods.kernel import Kernel
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, StopRule, read_stop
from iacta.rules.variants import find_rules, rules_name


@dataclass(frozen=True, repr=False)
class Territory:
    """A territory that a campaign attacks.

    defenders: the number of armies that defend the territory.
    rules: the rules for the battle, as `Rules` or a name; `None` for the campaign's rules. Their
        garrison is ignored, because the attacking territory has its own `garrison`.
    garrison: the number of armies that must stay on this territory when the stack moves on; `None`
        for the garrison of the campaign.
    stop: the `StopRule` for the battle; `None` for the campaign's stop rule.

    >>> Territory(8, rules="capital", garrison=3)
    Territory(8, rules=Rules(defence=Dice((6, 6, 6))), garrison=3)
    """

    defenders: int
    rules: Rules | str | None = None
    garrison: int | None = None
    stop: StopRule | None = None

    def __post_init__(self) -> None:
        set_field(self, "defenders", read_int(self.defenders, "defenders", minimum=1))
        set_field(self, "rules", None if self.rules is None else find_rules(self.rules))
        if self.garrison is not None:
            set_field(self, "garrison", read_int(self.garrison, "garrison", minimum=0))
        set_field(self, "stop", None if self.stop is None else read_stop(self.stop))

    def __repr__(self) -> str:
        return format_short_repr(self, first="defenders")


MAX_TERRITORIES = 10_000  # the same limit as for boards

Territories: TypeAlias = Iterable[int | str | Territory]


class Stage(NamedTuple):
    """One battle of a campaign.

    defenders: the number of armies that defend the territory.
    rules: the rules for the battle, with the garrison of the attacking territory.
    stop: the stop rule of the attackers.
    """

    defenders: int
    rules: Rules
    stop: StopRule = NEVER

    def is_forbidden(self, able: int) -> bool:
        """Return whether the rules forbid the first roll.

        able: the attackers without the garrison.
        """
        return self.kernel().count_dice(able, self.defenders)[0] == 0

    def kernel(self, *, exact: bool = False, method: str = "auto") -> Kernel:
        return choose_kernel(self.rules, self.stop, exact=exact, method=method)

    def is_stopped(self, attackers: int, defenders: int) -> bool:
        """Return whether the battle ended because the attackers stopped.

        attackers: the number of attackers left, garrison included.
        defenders: the number of defenders left.
        """
        return defenders > 0 and attackers > self.rules.garrison


def read_territories(territories: Territories) -> tuple[Territory, ...]:
    """Read the territories of a campaign.

    territories: numbers of defenders, `Territory` objects, or strings for `parse_territory`.

    Raises `IactaError` for an invalid entry, and if there are no entries.

    >>> read_territories([22, Territory(8), "8@3"])
    (Territory(22), Territory(8), Territory(8, garrison=3))
    """
    entries = read_list(territories, "territories", "defenders, such as [8, 2]", MAX_TERRITORIES)
    way = tuple(_read_territory(entry) for entry in entries)
    if not way:
        raise IllegalError("missing territories", parameter="territories")
    return way


def _read_territory(entry: int | str | Territory) -> Territory:
    if isinstance(entry, str):
        return parse_territory(entry)
    return entry if isinstance(entry, Territory) else Territory(entry)


def stages(
    territories: Iterable[Territory], rules: Rules, stop: StopRule = NEVER
) -> Iterator[Stage]:
    """Yield the battle for each territory.

    rules, stop: the rules and the stop rule for territories without their own.

    Raises `IllegalError` if two battles would use up the same missiles.

    >>> way = [Territory(8, garrison=3), Territory(2)]
    >>> [stage.rules.garrison for stage in stages(way, Rules())]
    [1, 3]
    """
    garrison, is_used_up = rules.garrison, False
    for territory in territories:
        own = rules if territory.rules is None else find_rules(territory.rules)
        if own.mode.is_used_up and is_used_up:
            raise own.mode.make_unfit_error("for several battles")
        is_used_up = is_used_up or own.mode.is_used_up
        own_stop = stop if territory.stop is None else territory.stop
        yield Stage(territory.defenders, replace(own, garrison=garrison), own_stop)
        garrison = rules.garrison if territory.garrison is None else territory.garrison


def parse_territory(text: str) -> Territory:
    """Parse a territory in the form DEFENDERS:RULES@GARRISON~HOLD_BACK; later parts may be omitted.

    >>> parse_territory("8:capital@3")
    Territory(8, rules=Rules(defence=Dice((6, 6, 6))), garrison=3)
    >>> parse_territory("8~5")
    Territory(8, stop=StopRule(hold_back=5))
    >>> parse_territory("many")
    Traceback (most recent call last):
        ...
    iacta.MalformedError: defenders must be a whole number of at least 1, got 'many'
    """
    before, tilde, hold_back = text.partition("~")
    rest, at, garrison = before.partition("@")
    defenders, colon, rules = rest.partition(":")
    return Territory(
        parse_int(defenders, "defenders", minimum=1),
        find_rules(rules) if colon else None,
        parse_int(garrison, "garrison", minimum=0) if at else None,
        StopRule(hold_back=parse_int(hold_back, "hold_back", minimum=0)) if tilde else None,
    )


def format_territory(territory: Territory) -> str:
    """Return a territory as a string that `parse_territory` can read.

    Rules without a name, and stop rules other than `hold_back`, are written in full.

    >>> format_territory(Territory(8, rules="capital", garrison=3, stop=StopRule(hold_back=5)))
    '8:capital@3~5'
    """
    rules = "" if territory.rules is None else f":{rules_name(find_rules(territory.rules))}"
    return f"{territory.defenders}{rules}{format_own_numbers(territory)}"


def format_own_numbers(territory: Territory) -> str:
    """Return a territory's own garrison and stop rule in the notation of `parse_territory`.

    >>> format_own_numbers(Territory(8, garrison=3, stop=StopRule(hold_back=5)))
    '@3~5'
    """
    garrison = "" if territory.garrison is None else f"@{territory.garrison}"
    if territory.stop is None:
        return garrison
    stop = territory.stop
    return f"{garrison}~{(stop.hold_back or 0) if stop.is_reserve else stop!r}"
