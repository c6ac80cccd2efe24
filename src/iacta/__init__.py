"""iacta: the exact odds of battles and campaigns in the board game Risk.

A `Battle` is fought between two territories, a `Campaign` leads one stack through a chain of
them, and `armies_needed` tells how many armies a wanted chance takes; `defenders_needed` and
`spread_defenders` ask for the other side, and `when_to_stop` tells what to do. On a `Board`
`best_plan` finds the best way to a goal, such as `TakeAll`. `Rules` hold
everything that changes the odds, a `Stop` says when the attackers leave off, a `Roll` is one throw
of the dice, and a `Distribution` is a finite law. `simulate_battle` and `simulate_campaign` throw
real dice instead.

Conventions:

- Attackers are counted as a player sees them, on the territory, garrison included. Tables that
  leave out the army which must stay behind are had with `garrison=0`.
- Values never change; two with the same content are equal, and their repr can be pasted back.
- Answers are floats with a proven error bound, or with `exact=True` fractions.
- Bad input raises an `IactaError`, a `ValueError` of one sentence.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from iacta.battle.battle import Battle, Outcome
from iacta.battle.campaign import Campaign, CampaignOutcome, PlayedBattle, TerritoryOdds
from iacta.battle.territory import Territory
from iacta.distribution import Distribution
from iacta.errors import IactaError, IllegalError, MalformedError, MissingError, TooLargeError
from iacta.questions.arrays import (
    expected_attackers_left,
    expected_defenders_left,
    win_probability,
    win_table,
)
from iacta.questions.needed import armies_needed, armies_needed_for_campaign
from iacta.rules.dice import Dice
from iacta.rules.roll import Losses, Roll, break_even_ratio
from iacta.rules.rules import CLASSIC, Rules
from iacta.rules.stop import Stop
from iacta.rules.variants import (
    MODIFIERS,
    RULE_SETS,
    Modifier,
    RuleSet,
    find_rule_set,
    find_rules,
    rules_name,
)

if TYPE_CHECKING:
    from iacta.board.board import Board, Continent
    from iacta.board.files import classic_board, read_board
    from iacta.board.position import Holding, Position, read_position
    from iacta.estimate import Estimate, Interval
    from iacta.plan import (
        Ending,
        NextMove,
        Plan,
        Play,
        SimulatedPlan,
        Step,
        TakeAll,
        TakeAny,
        TerritoryEnd,
        Worth,
        armies_needed_for_plan,
        best_plan,
        eliminate,
        simulate_plan,
    )
    from iacta.questions.decisions import (
        Boundary,
        Decision,
        DiceDecision,
        best_mix,
        how_many_dice,
        when_to_stop,
        win_probability_if_seen,
    )
    from iacta.questions.needed import defenders_needed
    from iacta.questions.simulated import Simulated, simulate_battle, simulate_campaign
    from iacta.questions.spread import BestSpread, spread_defenders
    from iacta.rules.files import read_rules_file, read_rules_record, rules_record, rules_toml

__all__ = [
    "CLASSIC",
    "MODIFIERS",
    "RULE_SETS",
    "Battle",
    "BestSpread",
    "Board",
    "Boundary",
    "Campaign",
    "CampaignOutcome",
    "Continent",
    "Decision",
    "Dice",
    "DiceDecision",
    "Distribution",
    "Ending",
    "Estimate",
    "Holding",
    "IactaError",
    "IllegalError",
    "Interval",
    "Losses",
    "MalformedError",
    "MissingError",
    "Modifier",
    "NextMove",
    "Outcome",
    "Plan",
    "Play",
    "PlayedBattle",
    "Position",
    "Roll",
    "RuleSet",
    "Rules",
    "Simulated",
    "SimulatedPlan",
    "Step",
    "Stop",
    "TakeAll",
    "TakeAny",
    "Territory",
    "TerritoryEnd",
    "TerritoryOdds",
    "TooLargeError",
    "Worth",
    "armies_needed",
    "armies_needed_for_campaign",
    "armies_needed_for_plan",
    "best_mix",
    "best_plan",
    "break_even_ratio",
    "classic_board",
    "defenders_needed",
    "eliminate",
    "expected_attackers_left",
    "expected_defenders_left",
    "find_rule_set",
    "find_rules",
    "how_many_dice",
    "read_board",
    "read_position",
    "read_rules_file",
    "read_rules_record",
    "rules_name",
    "rules_record",
    "rules_toml",
    "simulate_battle",
    "simulate_campaign",
    "simulate_plan",
    "spread_defenders",
    "when_to_stop",
    "win_probability",
    "win_probability_if_seen",
    "win_table",
]

_LOADED_WHEN_ASKED = {
    "BestSpread": "iacta.questions.spread",
    "Board": "iacta.board.board",
    "Continent": "iacta.board.board",
    "Holding": "iacta.board.position",
    "Position": "iacta.board.position",
    "classic_board": "iacta.board.files",
    "read_board": "iacta.board.files",
    "read_position": "iacta.board.position",
    "Ending": "iacta.plan",
    "NextMove": "iacta.plan",
    "Plan": "iacta.plan",
    "Play": "iacta.plan",
    "SimulatedPlan": "iacta.plan",
    "Step": "iacta.plan",
    "TakeAll": "iacta.plan",
    "TakeAny": "iacta.plan",
    "TerritoryEnd": "iacta.plan",
    "Worth": "iacta.plan",
    "armies_needed_for_plan": "iacta.plan",
    "best_plan": "iacta.plan",
    "eliminate": "iacta.plan",
    "simulate_plan": "iacta.plan",
    "Boundary": "iacta.questions.decisions",
    "Decision": "iacta.questions.decisions",
    "DiceDecision": "iacta.questions.decisions",
    "best_mix": "iacta.questions.decisions",
    "how_many_dice": "iacta.questions.decisions",
    "when_to_stop": "iacta.questions.decisions",
    "win_probability_if_seen": "iacta.questions.decisions",
    "Estimate": "iacta.estimate",
    "Interval": "iacta.estimate",
    "Simulated": "iacta.questions.simulated",
    "read_rules_file": "iacta.rules.files",
    "read_rules_record": "iacta.rules.files",
    "rules_record": "iacta.rules.files",
    "rules_toml": "iacta.rules.files",
    "simulate_battle": "iacta.questions.simulated",
    "defenders_needed": "iacta.questions.needed",
    "simulate_campaign": "iacta.questions.simulated",
    "spread_defenders": "iacta.questions.spread",
}


def __getattr__(name: str) -> Any:
    if name in _LOADED_WHEN_ASKED:
        return getattr(import_module(_LOADED_WHEN_ASKED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
