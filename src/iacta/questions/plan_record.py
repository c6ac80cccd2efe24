"""What a plan's answer holds, for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from iacta.distribution import Distribution
from iacta.estimate import CONFIDENCE
from iacta.plan import Continuation, Hold, Plan, Reinforcement
from iacta.plan.alternatives import Alternative
from iacta.plan.report import rearguards
from iacta.questions.plan_turn import Needed
from iacta.questions.plan_words import Checked, is_hopeless, is_worth, why
from iacta.questions.record import (
    OMITTED,
    Count,
    IntervalRecord,
    Key,
    KeyedRecord,
    RulesKey,
    RunsKey,
    SeedKey,
    Unit,
    WilsonKey,
)

__all__ = [
    "PlanRecord",
    "cards_record",
    "check_record",
    "hold_record",
    "need_record",
    "plan_record",
    "reinforce_record",
    "ways_record",
]

FROM = Key("The territory that attacks.")
TO = Key("The territory that is attacked.")
NAME = Key("The territory.")
PLACEMENT = Key("The new armies on each territory.")
IntervalKey: TypeAlias = Annotated[
    IntervalRecord | None, Key("The interval of a chance that is estimated, else `null`.")
]


@dataclass(frozen=True, kw_only=True)
class GoalRecord(KeyedRecord):
    """What a plan is for."""

    kind: Annotated[
        Literal["take all", "take any", "worth", "in order"], Key("The kind of the goal.")
    ]
    territories: Annotated[Sequence[str], Key("The territories to take.")] = OMITTED
    eliminates: Annotated[str, Key("The player whom taking them eliminates.")] = OMITTED
    territory: Annotated[float, Key("For a worth, the value of a territory.")] = OMITTED
    bonus: Annotated[float, Key("The value of each army of a bonus.")] = OMITTED
    army: Annotated[float, Key("The value of each surviving army.")] = OMITTED
    prizes: Annotated[
        Sequence[Mapping[str, object]], Key("Goals that pay more, each with its `worth`.")
    ] = OMITTED
    goals: Annotated[
        Sequence[Mapping[str, object]], Key("For goals in order, each with its `worth`.")
    ] = OMITTED


@dataclass(frozen=True)
class StepRecord(KeyedRecord):
    """A border that may be attacked over."""

    from_: Annotated[str, FROM]
    to: Annotated[str, TO]
    reach_probability: Annotated[Unit, Key("The chance that this battle is fought.")]
    conquer_probability: Annotated[Unit, Key("The chance that it is fought and won.")]
    expected_armies: Annotated[float, Key("How many armies move in on average if it is won.")]


@dataclass(frozen=True)
class PlanTerritoryRecord(KeyedRecord):
    """A territory when the plan is over."""

    name: Annotated[str, NAME]
    own_probability: Annotated[Unit, Key("The chance that the player owns it.")]
    expected_armies: Annotated[float, Key("The player's armies on it on average.")]


@dataclass(frozen=True)
class AdvanceRecord(KeyedRecord):
    """How many armies stay behind after a conquest, garrison included."""

    from_: Annotated[str, FROM]
    to: Annotated[str, TO]
    probability: Annotated[Unit, Key("The chance of the conquest.")]
    least: Annotated[Count, Key("The fewest in nearly all cases.")]
    most: Annotated[Count, Key("The most in nearly all cases.")]
    usual: Annotated[Count, Key("The most frequent number.")]


@dataclass(frozen=True)
class EndingRecord(KeyedRecord):
    """Where a plan may fail."""

    from_: Annotated[str, FROM]
    to: Annotated[str, TO]
    probability: Annotated[Unit, Key("How likely that is.")]


@dataclass(frozen=True)
class WayRecord(KeyedRecord):
    """A border that the turn may begin with."""

    from_: Annotated[str, FROM]
    to: Annotated[str, TO]
    dice: Annotated[Count, Key("How many dice to roll.")]
    value: Annotated[float, Key("The value of the plan that begins so.")]


@dataclass(frozen=True)
class HelpRecord(KeyedRecord):
    """What new armies are worth on a territory, by quick plans."""

    name: Annotated[str, NAME]
    one: Annotated[float, Key("The value with one new army there.")]
    all: Annotated[float, Key("The value with all of them there.")]


@dataclass(frozen=True)
class ReinforceRecord(KeyedRecord):
    """New armies, and where they help."""

    armies: Annotated[Count, Key("How many new armies.")]
    placement: Annotated[Mapping[str, Count], PLACEMENT]
    value_without: Annotated[float, Key("The value of the plan without them.")]
    quick_value_without: Annotated[
        float, Key("The same of a quick plan, for comparison with `territories`.")
    ]
    territories: Annotated[Sequence[HelpRecord], Key("Where they help.")]


@dataclass(frozen=True)
class BroughtRecord(KeyedRecord):
    """A number of armies that cards may bring."""

    armies: Annotated[Count, Key("The number.")]
    probability: Annotated[Unit, Key("Its chance.")]


@dataclass(frozen=True)
class PlanCardsRecord(KeyedRecord):
    """What the cards of an eliminated player bring."""

    armies: Annotated[Sequence[BroughtRecord], Key("The armies that they bring.")]
    first_probability: Annotated[
        Unit, Key("With `--then`: the chance that the player is eliminated.")
    ] = OMITTED
    win_probability: Annotated[
        Unit, Key("With `--then`: the estimated chance that all goals are reached.")
    ] = OMITTED
    interval: IntervalKey = OMITTED
    win_probability_without: Annotated[Unit, Key("With `--then`: the same without new armies.")] = (
        OMITTED
    )
    ends: Annotated[Count, Key("With `--then`: the number of ends that it is estimated from.")] = (
        OMITTED
    )
    is_exact: Annotated[
        bool, Key("With `--then`: whether the turn is the best of all, and its chances are exact.")
    ] = OMITTED


@dataclass(frozen=True)
class ThreatRecord(KeyedRecord):
    """What an opponent may take back."""

    player: Annotated[str, Key("The opponent.")]
    chance: Annotated[Unit, Key("The chance that they take some of it.")]
    armies: Annotated[float, Key("Their new armies on average.")]
    at_most: Annotated[float, Key("The bound on that chance.")]


@dataclass(frozen=True)
class FortifiedRecord(KeyedRecord):
    """A move at the end of the turn."""

    from_: Annotated[str, Key("The territory that the armies leave.")]
    to: Annotated[str, Key("The territory that they go to.")]
    part: Annotated[Unit, Key("In which part of the ends it is made.")]
    armies: Annotated[float, Key("How many armies move on average.")]


@dataclass(frozen=True)
class HeldRecord(KeyedRecord):
    """The chance to hold what is taken."""

    win_probability: Annotated[
        Unit,
        Key("The estimated chance that the goal is reached and held until the next turn."),
    ]
    interval: IntervalKey
    win_probability_unfortified: Annotated[
        Unit, Key("The same without a move at the end of the turn.")
    ]
    at_least: Annotated[
        float, Key("The chance that is left by the bounds on the plans of the others.")
    ]
    is_exact: Annotated[
        bool,
        Key("Whether it is certain that the others have no better plans than those found."),
    ]
    threats: Annotated[Sequence[ThreatRecord], Key("The opponents, the most dangerous first.")]
    moves: Annotated[Sequence[FortifiedRecord], Key("The moves at the end of the turn.")]
    ends: Annotated[Count, Key("The number of ends that it is estimated from.")]


@dataclass(frozen=True, kw_only=True)
class FewestRecord(KeyedRecord):
    """The fewest armies for a chance."""

    chance: Annotated[Unit, Key("The wanted chance.")]
    source: Annotated[str, Key("The territory with the armies.")] = OMITTED
    armies: Annotated[
        Count, Key("The fewest armies on it; with `--reinforce` the fewest new armies.")
    ]
    placement: Annotated[Mapping[str, Count], PLACEMENT] = OMITTED


@dataclass(frozen=True)
class CheckRecord(KeyedRecord):
    """Games of the plan with real dice."""

    runs: RunsKey
    seed: SeedKey
    won: Annotated[Count, Key("In how many of them the goal was reached.")]
    win_probability: Annotated[Unit, Key("`won` divided by `runs`.")]
    interval: WilsonKey
    value: Annotated[float, Key("What the plan was worth on average.")]
    error: Annotated[float, Key("The standard error of that.")]


@dataclass(frozen=True, kw_only=True)
class PlanRecord(KeyedRecord):
    """The best plan that was found."""

    goal: Annotated[GoalRecord, Key("What it is for.")]
    rules: RulesKey
    win_probability: Annotated[
        Unit | None,
        Key(
            "The chance that the goal is reached by this plan, exact unless there is an "
            "`interval`; `null` for a worth.",
            is_column=True,
        ),
    ]
    upper_bound: Annotated[
        float,
        Key(
            "An upper bound on the chance, or the worth, of any legal play; with `--play battles` "
            "of any that fights each battle to its end.",
            is_column=True,
        ),
    ]
    proven: Annotated[bool, Key("Whether no play is better by more than 1e-9.")]
    steps: Annotated[
        Sequence[StepRecord], Key("The borders that may be attacked over, most likely first.")
    ]
    territories: Annotated[
        Sequence[PlanTerritoryRecord], Key("The territories when the plan is over.")
    ]
    seconds: Annotated[float, Key("How long the search took.")]
    value: Annotated[
        float,
        Key("The chance, or what everything the player has at the end is worth.", is_column=True),
    ]
    play: Annotated[
        str,
        Key(
            '`"rolls"` if the plan decides after each roll, `"battles"` if it fights each battle '
            "to its end."
        ),
    ]
    interval: Annotated[
        IntervalRecord | None,
        Key("The interval of a value that is estimated from games, else `null`."),
    ]
    battles_value: Annotated[
        float | None,
        Key("What the plan is worth if it fights each battle to its end, `null` if it does not."),
    ]
    advances: Annotated[
        Sequence[AdvanceRecord], Key("How many armies stay behind, for each conquest.")
    ]
    endings: Annotated[Sequence[EndingRecord], Key("Where the plan may fail, most likely first.")]
    code: Annotated[
        str, Key("The turn that is planned, as a code of one line that `iacta plan` reads.")
    ]
    stages: Annotated[
        Sequence[Unit],
        Key(
            "Only for goals in order: for each goal the chance that it and all before it are "
            "reached."
        ),
    ] = OMITTED
    alternatives: Annotated[
        Sequence[WayRecord],
        Key("Only with `--alternatives`: the borders that the turn may begin with, best first."),
    ] = OMITTED
    why: Annotated[
        str | None,
        Key(
            "Only if the goal, or the first one, is never reached: why not, or `null` if no plan "
            "was found though there may be one."
        ),
    ] = OMITTED
    reinforce: Annotated[
        ReinforceRecord, Key("Only with `--reinforce`: new armies, and where they help.")
    ] = OMITTED
    cards: Annotated[
        PlanCardsRecord, Key("Only with `--cards`: what the cards of the eliminated player bring.")
    ] = OMITTED
    hold: Annotated[HeldRecord, Key("Only with `--hold`: the chance to hold what is taken.")] = (
        OMITTED
    )
    need: Annotated[FewestRecord, Key("Only with `--need`: the fewest armies.")] = OMITTED
    check: Annotated[CheckRecord, Key("Only with `--check`: games of the plan with real dice.")] = (
        OMITTED
    )


def plan_record(plan: Plan, rules: str, **more: Any) -> PlanRecord:
    """Return a plan for programs.

    rules: the name of the rules.
    more: what else the answer holds.
    """
    if plan.stages:
        more["stages"] = plan.stages
    if is_hopeless(plan):
        more["why"] = why(plan) or None
    return PlanRecord.of(
        plan,
        goal=GoalRecord(**plan.goal.record()),
        rules=rules,
        win_probability=None if is_worth(plan) else plan.win_probability,
        steps=[StepRecord.of(each, from_=each.start) for each in plan.steps],
        territories=[PlanTerritoryRecord.of(each) for each in plan.territories],
        interval=_interval(plan.interval),
        advances=[AdvanceRecord.of(each, from_=each.start) for each in rearguards(plan)],
        endings=[EndingRecord(each.start, each.to, each.chance) for each in plan.endings],
        code=plan.problem.turn.to_code(),
        **more,
    )


def _interval(interval: tuple[float, float] | None) -> IntervalRecord | None:
    return None if interval is None else IntervalRecord(CONFIDENCE, *interval)


def ways_record(ways: Sequence[Alternative]) -> list[WayRecord]:
    return [WayRecord(*each) for each in ways]


def reinforce_record(new: Reinforcement) -> ReinforceRecord:
    return ReinforceRecord(
        new.armies,
        dict(new.placement),
        new.before.value,
        new.quick,
        [HelpRecord(each.territory, each.one, each.all) for each in new.marginals],
    )


def cards_record(brought: Distribution[int], goes_on: Continuation | None) -> PlanCardsRecord:
    armies = [BroughtRecord(number, float(brought[number])) for number in sorted(brought)]
    if goes_on is None:
        return PlanCardsRecord(armies)
    return PlanCardsRecord(
        armies,
        goes_on.first,
        goes_on.win_probability,
        _interval(goes_on.interval),
        goes_on.without,
        goes_on.ends,
        goes_on.is_exact,
    )


def hold_record(held: Hold) -> HeldRecord:
    return HeldRecord(
        held.win_probability,
        _interval(held.interval),
        held.unfortified,
        held.at_least,
        held.is_exact,
        [ThreatRecord(*each) for each in held.threats],
        [FortifiedRecord(*each) for each in held.moves if each.start],
        held.ends,
    )


def need_record(needed: Needed) -> FewestRecord:
    where: dict[str, Any] = (
        {"source": needed.source} if needed.source else {"placement": dict(needed.placement)}
    )
    return FewestRecord(chance=float(needed.chance), armies=needed.armies, **where)


def check_record(checked: Checked) -> CheckRecord:
    simulated = checked.simulated
    return CheckRecord(
        checked.runs,
        checked.seed,
        simulated.won.successes,
        float(simulated.won.probability),
        IntervalRecord(CONFIDENCE, *checked.interval),
        simulated.value,
        simulated.error,
    )
