# The public names, one a line, each with the file it lives in. `__init__.py` reads them from here.
# `__all__` lists the same names for type checkers: what `from iacta import *` brings.

from iacta.analysis import GoalAnalysis as GoalAnalysis
from iacta.analysis import HelpfulMove as HelpfulMove
from iacta.analysis import Threatened as Threatened
from iacta.analysis import Threats as Threats
from iacta.analysis import goals_in_reach as goals_in_reach
from iacta.analysis import threats as threats
from iacta.battle.battle import Battle as Battle
from iacta.battle.campaign import Campaign as Campaign
from iacta.battle.campaign import CampaignOutcome as CampaignOutcome
from iacta.battle.campaign import PlayedBattle as PlayedBattle
from iacta.battle.campaign import TerritoryOdds as TerritoryOdds
from iacta.battle.chain import Chain as Chain
from iacta.battle.territory import Territory as Territory
from iacta.board.board import Board as Board
from iacta.board.board import Continent as Continent
from iacta.board.built_in import classic_board as classic_board
from iacta.board.files import read_board as read_board
from iacta.board.files import write_board as write_board
from iacta.board.position import Holding as Holding
from iacta.board.position import Position as Position
from iacta.board.position import read_position as read_position
from iacta.fairness.audit import Audit as Audit
from iacta.fairness.audit import audit as audit
from iacta.game import Capitals as Capitals
from iacta.game import CardOdds as CardOdds
from iacta.game import Evaluation as Evaluation
from iacta.game import Hand as Hand
from iacta.game import Missions as Missions
from iacta.game import Sets as Sets
from iacta.game import Share as Share
from iacta.game import Survivor as Survivor
from iacta.game import Turn as Turn
from iacta.game import Victory as Victory
from iacta.game import deal as deal
from iacta.game import evaluate as evaluate
from iacta.game import evaluate_battle as evaluate_battle
from iacta.game import traded_armies as traded_armies
from iacta.inputs.errors import IactaError as IactaError
from iacta.inputs.errors import IllegalError as IllegalError
from iacta.inputs.errors import MalformedError as MalformedError
from iacta.inputs.errors import MissingError as MissingError
from iacta.inputs.errors import TooLargeError as TooLargeError
from iacta.methods.kernel import Outcome as Outcome
from iacta.odds.arrays import expected_attackers_left as expected_attackers_left
from iacta.odds.arrays import expected_defenders_left as expected_defenders_left
from iacta.odds.arrays import expected_rolls as expected_rolls
from iacta.odds.arrays import win_probability as win_probability
from iacta.odds.arrays import win_table as win_table
from iacta.odds.decisions import Boundary as Boundary
from iacta.odds.decisions import Decision as Decision
from iacta.odds.decisions import DiceDecision as DiceDecision
from iacta.odds.decisions import best_mix as best_mix
from iacta.odds.decisions import compute_prize_to_roll as compute_prize_to_roll
from iacta.odds.decisions import how_many_dice as how_many_dice
from iacta.odds.decisions import when_to_stop as when_to_stop
from iacta.odds.decisions import win_probability_if_seen as win_probability_if_seen
from iacta.odds.fronts import BestFronts as BestFronts
from iacta.odds.fronts import Front as Front
from iacta.odds.fronts import FrontSpread as FrontSpread
from iacta.odds.fronts import defend_fronts as defend_fronts
from iacta.odds.needed import armies_needed as armies_needed
from iacta.odds.needed import armies_needed_for_campaign as armies_needed_for_campaign
from iacta.odds.needed import defenders_needed as defenders_needed
from iacta.odds.simulation import SimulationResult as SimulationResult
from iacta.odds.simulation import running_estimates as running_estimates
from iacta.odds.simulation import simulate_battle as simulate_battle
from iacta.odds.simulation import simulate_campaign as simulate_campaign
from iacta.odds.spread import BestSpread as BestSpread
from iacta.odds.spread import spread_defenders as spread_defenders
from iacta.odds.spread import spread_value as spread_value
from iacta.plan import Continuation as Continuation
from iacta.plan import Defence as Defence
from iacta.plan import Ending as Ending
from iacta.plan import Fortified as Fortified
from iacta.plan import Hold as Hold
from iacta.plan import InOrder as InOrder
from iacta.plan import LuckOfBattle as LuckOfBattle
from iacta.plan import Marginal as Marginal
from iacta.plan import OwnAny as OwnAny
from iacta.plan import Plan as Plan
from iacta.plan import Reinforcement as Reinforcement
from iacta.plan import SimulatedPlan as SimulatedPlan
from iacta.plan import Step as Step
from iacta.plan import TakeAll as TakeAll
from iacta.plan import TakeAny as TakeAny
from iacta.plan import TerritoryEnd as TerritoryEnd
from iacta.plan import Threat as Threat
from iacta.plan import Worth as Worth
from iacta.plan import armies_needed_for_plan as armies_needed_for_plan
from iacta.plan import armies_needed_to_hold as armies_needed_to_hold
from iacta.plan import best_plan as best_plan
from iacta.plan import eliminate as eliminate
from iacta.plan import go_on as go_on
from iacta.plan import hold as hold
from iacta.plan import hold_without_attack as hold_without_attack
from iacta.plan import measure_plan_luck as measure_plan_luck
from iacta.plan import reinforce as reinforce
from iacta.plan import reinforcements_needed as reinforcements_needed
from iacta.plan import simulate_plan as simulate_plan
from iacta.plan import take_and_hold as take_and_hold
from iacta.plan.review import PlayerReview as PlayerReview
from iacta.plan.review import Review as Review
from iacta.plan.review import ReviewedStep as ReviewedStep
from iacta.plan.review import review as review
from iacta.probability.distribution import Distribution as Distribution
from iacta.probability.estimate import Estimate as Estimate
from iacta.probability.estimate import Interval as Interval
from iacta.questions import ask as ask
from iacta.rules.dice import Dice as Dice
from iacta.rules.files import read_rules_file as read_rules_file
from iacta.rules.files import read_rules_record as read_rules_record
from iacta.rules.files import rules_record as rules_record
from iacta.rules.files import rules_toml as rules_toml
from iacta.rules.modes import ArmiesGrow as ArmiesGrow
from iacta.rules.modes import BalancedBlitz as BalancedBlitz
from iacta.rules.modes import DefenderSeesFirst as DefenderSeesFirst
from iacta.rules.modes import TrueRandom as TrueRandom
from iacta.rules.roll import Losses as Losses
from iacta.rules.roll import Roll as Roll
from iacta.rules.roll import break_even_ratio as break_even_ratio
from iacta.rules.rules import CLASSIC as CLASSIC
from iacta.rules.rules import Rules as Rules
from iacta.rules.stop import StopRule as StopRule
from iacta.rules.variants import MODIFIERS as MODIFIERS
from iacta.rules.variants import RULE_SETS as RULE_SETS
from iacta.rules.variants import Modifier as Modifier
from iacta.rules.variants import RuleSet as RuleSet
from iacta.rules.variants import find_rule_set as find_rule_set
from iacta.rules.variants import find_rules as find_rules
from iacta.rules.variants import rules_name as rules_name
from iacta.war import Game as Game
from iacta.war import GoalChance as GoalChance
from iacta.war import Goals as Goals
from iacta.war import Standing as Standing
from iacta.war import WinChance as WinChance
from iacta.war import WinChances as WinChances
from iacta.war import WinEstimate as WinEstimate
from iacta.war import ai as ai
from iacta.war import best_goals as best_goals
from iacta.war import tournament as tournament
from iacta.war import win_chances as win_chances

from . import batch as batch
from . import charts as charts

__all__ = [
    "CLASSIC",
    "MODIFIERS",
    "RULE_SETS",
    "ArmiesGrow",
    "Audit",
    "BalancedBlitz",
    "Battle",
    "BestFronts",
    "BestSpread",
    "Board",
    "Boundary",
    "Campaign",
    "CampaignOutcome",
    "Capitals",
    "CardOdds",
    "Chain",
    "Continent",
    "Continuation",
    "Decision",
    "Defence",
    "DefenderSeesFirst",
    "Dice",
    "DiceDecision",
    "Distribution",
    "Ending",
    "Estimate",
    "Evaluation",
    "Fortified",
    "Front",
    "FrontSpread",
    "Game",
    "GoalAnalysis",
    "GoalChance",
    "Goals",
    "Hand",
    "HelpfulMove",
    "Hold",
    "Holding",
    "IactaError",
    "IllegalError",
    "InOrder",
    "Interval",
    "Losses",
    "LuckOfBattle",
    "MalformedError",
    "Marginal",
    "MissingError",
    "Missions",
    "Modifier",
    "Outcome",
    "OwnAny",
    "Plan",
    "PlayedBattle",
    "PlayerReview",
    "Position",
    "Reinforcement",
    "Review",
    "ReviewedStep",
    "Roll",
    "RuleSet",
    "Rules",
    "Sets",
    "Share",
    "SimulatedPlan",
    "SimulationResult",
    "Standing",
    "Step",
    "StopRule",
    "Survivor",
    "TakeAll",
    "TakeAny",
    "Territory",
    "TerritoryEnd",
    "TerritoryOdds",
    "Threat",
    "Threatened",
    "Threats",
    "TooLargeError",
    "TrueRandom",
    "Turn",
    "Victory",
    "WinChance",
    "WinChances",
    "WinEstimate",
    "Worth",
    "ai",
    "armies_needed",
    "armies_needed_for_campaign",
    "armies_needed_for_plan",
    "armies_needed_to_hold",
    "ask",
    "audit",
    "best_goals",
    "best_mix",
    "best_plan",
    "break_even_ratio",
    "classic_board",
    "compute_prize_to_roll",
    "deal",
    "defend_fronts",
    "defenders_needed",
    "eliminate",
    "evaluate",
    "evaluate_battle",
    "expected_attackers_left",
    "expected_defenders_left",
    "expected_rolls",
    "find_rule_set",
    "find_rules",
    "go_on",
    "goals_in_reach",
    "hold",
    "hold_without_attack",
    "how_many_dice",
    "measure_plan_luck",
    "read_board",
    "read_position",
    "read_rules_file",
    "read_rules_record",
    "reinforce",
    "reinforcements_needed",
    "review",
    "rules_name",
    "rules_record",
    "rules_toml",
    "running_estimates",
    "simulate_battle",
    "simulate_campaign",
    "simulate_plan",
    "spread_defenders",
    "spread_value",
    "take_and_hold",
    "threats",
    "tournament",
    "traded_armies",
    "when_to_stop",
    "win_chances",
    "win_probability",
    "win_probability_if_seen",
    "win_table",
    "write_board",
]

__version__: str
