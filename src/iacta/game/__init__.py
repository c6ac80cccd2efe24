"""The rules of a turn, the values of policies, and one-line codes of turns.

`Turn` is a state of the game with its legal actions, the chances of their results, and the next
states. A policy is a function from a turn to an action. This package exports the actions, such as
`iacta.game.Attack`.
"""

from iacta.game.action_records import (
    ACTION_SCHEMA,
    PlayedStep,
    play_step,
    read_action,
    record_action,
)
from iacta.game.actions import (
    Action,
    Actions,
    Advance,
    Attack,
    Defend,
    EndPhase,
    Fortify,
    Place,
    Result,
    Reveal,
    Trade,
)
from iacta.game.card_odds import CardOdds, OpponentCards, Prey, TradeOption, find_card_odds
from iacta.game.cards import Hand, Sets, traded_armies
from iacta.game.deal import deal
from iacta.game.editions import EDITIONS, Edition, deal_edition, find_edition
from iacta.game.missions import (
    Eliminate,
    Hidden,
    Mission,
    Missions,
    OwnContinents,
    OwnNamed,
    OwnParts,
    OwnTerritories,
)
from iacta.game.odds import BorderOdds, list_border_odds
from iacta.game.policies import Evaluation, evaluate, evaluate_battle
from iacta.game.state import FortifyReach, Phase
from iacta.game.turn import Move, PlayedTurn, Policy, Turn
from iacta.game.victory import Capitals, Share, Survivor, Victory
from iacta.methods.kernel import Throw
from iacta.rules.roll import Losses

__all__ = [
    "ACTION_SCHEMA",
    "EDITIONS",
    "Action",
    "Actions",
    "Advance",
    "Attack",
    "BorderOdds",
    "Capitals",
    "CardOdds",
    "Defend",
    "Edition",
    "Eliminate",
    "EndPhase",
    "Evaluation",
    "Fortify",
    "FortifyReach",
    "Hand",
    "Hidden",
    "Losses",
    "Mission",
    "Missions",
    "Move",
    "OpponentCards",
    "OwnContinents",
    "OwnNamed",
    "OwnParts",
    "OwnTerritories",
    "Phase",
    "Place",
    "PlayedStep",
    "PlayedTurn",
    "Policy",
    "Prey",
    "Result",
    "Reveal",
    "Sets",
    "Share",
    "Survivor",
    "Throw",
    "Trade",
    "TradeOption",
    "Turn",
    "Victory",
    "deal",
    "deal_edition",
    "evaluate",
    "evaluate_battle",
    "find_card_odds",
    "find_edition",
    "list_border_odds",
    "play_step",
    "read_action",
    "record_action",
    "traded_armies",
]
