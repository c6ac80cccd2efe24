"""Parameters that several questions have in common."""

from dataclasses import replace
from functools import cached_property
from typing import Any

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign
from iacta.battle.territory import Territory, parse_territory
from iacta.forms.form import Form, parameter
from iacta.forms.parameter_kinds import (
    FileName,
    Flag,
    Name,
    Number,
    RulesName,
    Way,
    Whole,
)
from iacta.rules.rules import Rules
from iacta.rules.stop import StopRule
from iacta.rules.variants import RuleSet, find_rule_set, rules_name

ARMIES = Whole(minimum=1)

ATTACKERS = ARMIES, "Armies on the attacking territory, including those that must stay behind."
DEFENDERS = ARMIES, "Armies on the defended territory."
TAKE = Name(), "Take these territories, or a continent."
TAKE_ANY = Name(), "Take any one of these territories."
ELIMINATE = Name(), "Eliminate this player."
SEED = Whole(), "Any number. The same number gives the same dice."
TIME_LIMIT = (
    Number(minimum=0, unit="seconds"),
    "Give the best answer found within this many seconds.",
)


def draw_seed() -> int:
    """Return a random seed that is short enough to type."""
    import numpy as np  # a slow import

    return int(np.random.default_rng().integers(10**6))


class ChainForm(Form):
    """A question about a chain of territories."""

    territories: tuple[str | Territory, ...] = parameter(
        Way(),
        "Defenders of each territory, in the order of attack, such as 8 2 4. After a number, add "
        ":capital if the territory defends as a capital, @3 to leave 3 armies there after you take "
        "it, or ~5 to keep 5 armies out of the battle for it.",
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
        """For each territory, the name of its own rules, or `None` for the campaign's rules."""
        return tuple(map(_read_own_rules, self.territories))


def _read_own_rules(territory: str | Territory) -> str | None:
    if isinstance(territory, Territory):
        return None if territory.rules is None else rules_name(territory.rules)  # type: ignore[arg-type] # found by `Territory`
    _, colon, name = territory.partition("~")[0].partition("@")[0].partition(":")
    return find_rule_set(name).name if colon else None


class RulesForm(Form, kw_only=True):
    """A question with a named rule set, or with house rules from a file."""

    rules: str | Rules | None = parameter(
        RulesName(), "The rules (iacta rules lists them).", usual="classic", default=None
    )
    rules_file: str | None = parameter(
        FileName(),
        "House rules from a file (see the docs, page Rules).",
        excludes="rules",
        default=None,
    )
    garrison: int | None = parameter(
        Whole(), "Armies that must stay behind.", usual="1", default=None
    )

    @cached_property
    def rule_set(self) -> RuleSet:
        rule_set = self._find_rule_set()
        if self.garrison is None:
            return rule_set
        return replace(rule_set, rules=replace(rule_set.rules, garrison=self.garrison))

    def get_repeated(self, name: str) -> Any:
        """Return a value that the answer repeats: the rules' name, their garrison, or a field."""
        if name in ("rules", "garrison"):
            return self.rule_set.name if name == "rules" else self.rule_set.rules.garrison
        return getattr(self, name)

    def _find_rule_set(self) -> RuleSet:
        if self.rules_file is not None:
            from iacta.rules.files import read_rules_file  # a slow import

            return read_rules_file(self.rules_file)
        if isinstance(self.rules, Rules):
            return RuleSet(rules_name(self.rules), self.rules, "", "")
        return find_rule_set(self.rules or "classic")


class StopForm(Form, kw_only=True):
    """A question about attackers who may stop."""

    hold_back: int | None = parameter(
        Whole(), "Armies to keep out of the battle, in addition to the garrison.", default=None
    )
    stop_at: int | None = parameter(
        Whole(),
        "Stop once you have only this many armies left, including the garrison.",
        default=None,
    )
    charge: bool = parameter(
        Flag(), "Stop as soon as you would roll fewer dice than at the start.", default=False
    )
    max_losses: int | None = parameter(
        Whole(), "Stop once you have lost this many armies in a battle.", default=None
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


class AttackForm(StopForm, kw_only=True):
    """A question about attackers who may stop when few defenders are left."""

    leave: int | None = parameter(
        Whole(),
        "Stop once the defender has only this many armies left.",
        default=None,
    )

    @property
    def stop(self) -> StopRule:
        return replace(super().stop, leave=self.leave)


class BattleForm(RulesForm, AttackForm):
    """A question about one battle."""

    attackers: int = parameter(*ATTACKERS, is_argument=True)
    defenders: int = parameter(*DEFENDERS, is_argument=True)

    @cached_property
    def battle(self) -> Battle:
        return Battle(self.attackers, self.defenders, self.rule_set.rules, stop=self.stop)


class CampaignForm(RulesForm, AttackForm, ChainForm):
    """A question about one campaign."""

    attackers: int = parameter(*ATTACKERS, is_argument=True)

    @cached_property
    def campaign(self) -> Campaign:
        return Campaign(self.attackers, self.way, self.rule_set.rules, stop=self.stop)


class ExactForm(Form, kw_only=True):
    """A question whose answer can be an exact fraction."""

    exact: bool = parameter(Flag(), "Also give the chances as exact fractions.", default=False)
