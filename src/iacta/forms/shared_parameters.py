"""Parameters that many questions share, each described once."""

from dataclasses import replace
from functools import cached_property
from typing import Any

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign
from iacta.battle.territory import Territory, parse_territory
from iacta.forms.form import Form, parameter
from iacta.forms.parameter_kinds import FileName, Flag, Name, Number, RulesName, Way, Whole
from iacta.rules.rules import Rules
from iacta.rules.stop import StopRule
from iacta.rules.variants import RuleSet, find_rule_set, rules_name

ARMIES = Whole(least=1)

ATTACKERS = ARMIES, "Armies on the attacking territory, garrison included."
DEFENDERS = ARMIES, "Armies on the defended territory."
TAKE = Name(), "Territories to take, or a continent."
TAKE_ANY = Name(), "Territories; taking any one of them is enough."
ELIMINATE = Name(), "The player to eliminate."
SEED = Whole(), "Seed of the dice; the same seed repeats the dice."
TIME_LIMIT = Number(least=0, unit="seconds"), "The most seconds that all of it may take."


def fresh_seed() -> int:
    """Return a seed where none is given, short enough to be typed."""
    import numpy as np  # its random numbers are slow to load

    return int(np.random.default_rng().integers(10**6))


class AlongWay(Form):
    """A question on a chain of territories."""

    territories: tuple[str | Territory, ...] = parameter(
        Way(),
        "Defenders of each territory, in order; 8:capital or 8:house.toml under its own "
        "rules, 8@3 where 3 armies must stay, 8~5 to hold back 5 armies.",
        is_argument=True,
        metavar="DEFENDERS",
    )

    @cached_property
    def way(self) -> tuple[Territory, ...]:
        return tuple(
            parse_territory(territory) if isinstance(territory, str) else territory
            for territory in self.territories
        )

    @cached_property
    def own_rules(self) -> tuple[str | None, ...]:
        """The name of the rules of its own that each territory has, `None` without any."""
        return tuple(map(_own_rules, self.territories))


def _own_rules(territory: str | Territory) -> str | None:
    if isinstance(territory, Territory):
        return None if territory.rules is None else rules_name(territory.rules)  # type: ignore[arg-type] # found
    _, colon, name = territory.partition("~")[0].partition("@")[0].partition(":")
    return find_rule_set(name).name if colon else None


class UnderRules(Form, kw_only=True):
    """A question under rules that have a name, or are in a file."""

    rules: str | Rules | None = parameter(
        RulesName(), "Rules, such as capital+wall.", usual="classic", default=None
    )
    rules_file: str | None = parameter(
        FileName(),
        "House rules: a TOML file, or - for standard input.",
        excludes="rules",
        default=None,
    )
    garrison: int | None = parameter(
        Whole(), "Armies that must stay behind.", usual="1", default=None
    )

    @cached_property
    def rule_set(self) -> RuleSet:
        rule_set = self._named_rules()
        if self.garrison is None:
            return rule_set
        return replace(rule_set, rules=replace(rule_set.rules, garrison=self.garrison))

    def get_repeated(self, name: str) -> Any:
        """Return a value that the answer repeats: of the rules their name, and their garrison."""
        if name in ("rules", "garrison"):
            return self.rule_set.name if name == "rules" else self.rule_set.rules.garrison
        return getattr(self, name)

    def _named_rules(self) -> RuleSet:
        if self.rules_file is not None:
            from iacta.rules.files import read_rules_file  # only needed here

            return read_rules_file(self.rules_file)
        if isinstance(self.rules, Rules):
            return RuleSet(rules_name(self.rules), self.rules, "", "")
        return find_rule_set(self.rules or "classic")


class WithStop(Form, kw_only=True):
    """A question on attackers who may stop."""

    hold_back: int | None = parameter(
        Whole(), "Armies that take no part, besides the garrison.", default=None
    )
    stop_at: int | None = parameter(
        Whole(), "Stop a battle once this many armies are left, garrison included.", default=None
    )
    charge: bool = parameter(
        Flag(), "Stop as soon as you would roll fewer dice than at first.", default=False
    )
    max_losses: int | None = parameter(
        Whole(), "Stop a battle once this many armies are lost.", default=None
    )
    max_rolls: int | None = parameter(Whole(), "Stop a battle after this many rolls.", default=None)

    @property
    def stop(self) -> StopRule:
        return StopRule(
            hold_back=self.hold_back,
            stop_at=self.stop_at,
            charge=self.charge,
            max_losses=self.max_losses,
            max_rolls=self.max_rolls,
        )


class OneBattle(UnderRules, WithStop):
    """A question on one battle."""

    attackers: int = parameter(*ATTACKERS, is_argument=True)
    defenders: int = parameter(*DEFENDERS, is_argument=True)

    @cached_property
    def battle(self) -> Battle:
        return Battle(self.attackers, self.defenders, self.rule_set.rules, stop=self.stop)


class OneCampaign(UnderRules, WithStop, AlongWay):
    """A question on one campaign."""

    attackers: int = parameter(*ATTACKERS, is_argument=True)

    @cached_property
    def campaign(self) -> Campaign:
        return Campaign(self.attackers, self.way, self.rule_set.rules, stop=self.stop)


class Exact(Form, kw_only=True):
    """A question that can be answered in fractions."""

    exact: bool = parameter(Flag(), "Count in exact fractions.", default=False)
