"""Plans as records in JSON, for programs that read the answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any, Literal

from iacta.board.scene import Arrow, build_scene
from iacta.forms.percentages import short_percent
from iacta.forms.record import (
    OMITTED,
    RULES_KEY,
    RUNS_KEY,
    SEED_KEY,
    WILSON_KEY,
    AnswerSectionRecord,
    Count,
    IntervalRecord,
    KeyedRecord,
    Unit,
    key,
)
from iacta.forms.sections import Section
from iacta.plan import Continuation, Hold, Plan, Reinforcement
from iacta.plan.alternatives import Alternative
from iacta.plan.report import find_rearguards
from iacta.probability.distribution import Distribution
from iacta.probability.estimate import CONFIDENCE
from iacta.questions.plan.armies_cards_hold import Needed
from iacta.questions.plan.arrows import label_chances, list_arrows
from iacta.questions.plan.move_in import MoveIn
from iacta.questions.plan.moves import RankedMove, describe_loss
from iacta.questions.plan.sentences import (
    Checked,
    explain_impossibility,
    has_worth_goal,
    is_hopeless,
)

SHOWN_ARROWS = 4  # maximum number of arrows that a small map can show clearly
FROM = "The attacking territory."
TO = "The attacked territory."
NAME = "The territory."
PLACEMENT = "The new armies on each territory."
IS_CHANCE = "Whether the value is a chance, and not points."
FIGURE = "The value as text: a chance or points; empty without a value."
SENTENCES = "The answer in sentences."
INTERVAL_KEY = "The interval of an estimated chance, else `null`."


class GoalRecord(KeyedRecord, kw_only=True):
    """The goal of a plan."""

    kind: Literal["take all", "take any", "own any", "worth", "in order"] = key(
        "The kind of the goal."
    )
    territories: Sequence[str] = key("The territories to take.", default=OMITTED)
    number: Count = key("The number of territories to own in all.", default=OMITTED)
    armies: Count = key("The fewest armies on each of these territories.", default=OMITTED)
    kept: Sequence[str] = key(
        "The player's own territories that must also have this many armies.", default=OMITTED
    )
    eliminates: str = key("The player eliminated by taking the territories.", default=OMITTED)
    territory: float = key("For goal `worth`, the value of a territory.", default=OMITTED)
    bonus: float = key("The value of each army of a bonus.", default=OMITTED)
    army: float = key("The value of each surviving army.", default=OMITTED)
    prizes: Sequence[Mapping[str, object]] = key(
        "Goals that give further points, each with its `worth`.", default=OMITTED
    )
    goals: Sequence[Mapping[str, object]] = key(
        "For goals in order, each with its `worth`.", default=OMITTED
    )


class StepRecord(KeyedRecord):
    """A battle that the plan may fight."""

    from_: str = key(FROM)
    to: str = key(TO)
    reach_probability: Unit = key("The chance that this battle is fought.")
    conquer_probability: Unit = key("The chance that the battle is fought and won.")
    expected_armies: float = key("The average number of armies that move in after a win.")


class PlanTerritoryRecord(KeyedRecord):
    """A territory at the end of the plan."""

    name: str = key(NAME)
    own_probability: Unit = key("The chance that the player owns the territory.")
    expected_armies: float = key("The player's armies on the territory on average.")


class AdvanceRecord(KeyedRecord):
    """The number of armies that stay behind after a conquest, garrison included."""

    from_: str = key(FROM)
    to: str = key(TO)
    probability: Unit = key("The chance of the conquest.")
    least: Count = key("The smallest number in nearly all cases.")
    most: Count = key("The largest number in nearly all cases.")
    usual: Count = key("The most frequent number.")


class EndingRecord(KeyedRecord):
    """A battle whose loss ends the plan."""

    from_: str = key(FROM)
    to: str = key(TO)
    probability: Unit = key("The chance that the plan fails at this battle.")


class WayRecord(KeyedRecord):
    """A possible first attack."""

    from_: str = key(FROM)
    to: str = key(TO)
    dice: Count = key("The number of dice to roll.")
    value: float = key("The value of the plan that begins with this attack.")


class HelpRecord(KeyedRecord):
    """A rough estimate of the value of new armies on a territory."""

    name: str = key(NAME)
    one: float = key("The value with one new army there.")
    all: float = key("The value with all new armies there.")


class ReinforceRecord(KeyedRecord):
    """New armies and their best placement."""

    armies: Count = key("The number of new armies.")
    placement: Mapping[str, Count] = key(PLACEMENT)
    value_without: float | None = key(
        "The value of the plan without new armies; `null` if the time limit allowed no game."
    )
    quick_value_without: float = key(
        "The value of a quick plan without new armies, for comparison with `territories`."
    )
    territories: Sequence[HelpRecord] = key("The value of new armies on each territory.")


class BroughtRecord(KeyedRecord):
    """A number of armies that cards may bring."""

    armies: Count = key("The number of armies.")
    probability: Unit = key("The chance of this number.")


class PlanCardsRecord(KeyedRecord):
    """The armies that the cards of an eliminated player bring."""

    armies: Sequence[BroughtRecord] = key("The possible numbers of armies.")
    first_probability: Unit | None = key(
        "With `--then`: the chance that the player is eliminated. All three chances are `null` if "
        "the time limit allowed no game.",
        default=OMITTED,
    )
    win_probability: Unit | None = key(
        "With `--then`: the estimated chance that all goals are reached.", default=OMITTED
    )
    interval: IntervalRecord | None = key(INTERVAL_KEY, default=OMITTED)
    win_probability_without: Unit | None = key(
        "With `--then`: the chance without new armies.", default=OMITTED
    )
    ends: Count = key(
        "With `--then`: the number of simulated games behind the estimates.", default=OMITTED
    )
    is_exact: bool = key(
        "With `--then`: whether the plan is proven best, and its chances are exact.",
        default=OMITTED,
    )


class ThreatRecord(KeyedRecord):
    """An opponent's threat to the conquests."""

    player: str = key("The opponent.")
    chance: Unit = key("The chance that the opponent takes a conquest back.")
    armies: float = key("The opponent's new armies on average.")
    at_most: float = key("An upper bound on the chance.")


class FortifiedRecord(KeyedRecord):
    """A fortifying move at the end of the turn."""

    from_: str = key("The territory that the armies leave.")
    to: str = key("The territory that the armies enter.")
    part: Unit = key("The share of the games in which the move is made.")
    armies: float = key("The average number of armies that move.")


class HeldRecord(KeyedRecord):
    """The chance to hold the conquests."""

    win_probability: Unit | None = key(
        "The estimated chance that the goal is reached and held until the next turn; `null` if the "
        "time limit allowed no game."
    )
    interval: IntervalRecord | None = key(INTERVAL_KEY)
    win_probability_unfortified: Unit | None = key(
        "The same chance without a move at the end of the turn."
    )
    at_least: float = key("A lower bound on the chance against any plans of the opponents.")
    is_exact: bool = key("Whether the opponents' plans are proven best.")
    threats: Sequence[ThreatRecord] = key("The opponents, the most dangerous first.")
    moves: Sequence[FortifiedRecord] = key("The moves at the end of the turn.")
    ends: Count = key("The number of simulated games behind the estimates.")
    placement: Mapping[str, Count] = key(
        "Only if the goal is reached already: the new armies on each territory.", default=OMITTED
    )
    win_probability_without: Unit | None = key(
        "Only if the goal is reached already: the chance without new armies; `null` if there are "
        "none.",
        default=OMITTED,
    )


class FewestRecord(KeyedRecord, kw_only=True):
    """The fewest armies for a required chance."""

    chance: Unit = key("The requested chance.")
    source: str = key("The territory with the armies.", default=OMITTED)
    armies: Count = key("The fewest armies there; with `--reinforce` the fewest new armies.")
    placement: Mapping[str, Count] = key(PLACEMENT, default=OMITTED)


class CheckRecord(KeyedRecord):
    """Simulated games of the plan with random dice."""

    runs: Count = key(RUNS_KEY)
    seed: Count = key(SEED_KEY)
    won: Count = key("The number of games that reached the goal.")
    win_probability: Unit = key("`won` divided by `runs`.")
    interval: IntervalRecord = key(WILSON_KEY)
    value: float = key("The average value of the plan.")
    error: float = key("The standard error of the average.")


class DiceChoiceRecord(KeyedRecord):
    """A number of dice for a first attack."""

    dice: Count = key("The number of attack dice.")
    loss: float = key("The value given up against the best first attack.")
    results: Sequence[Sequence[Count]] = key("The possible losses of a roll: `[mine, theirs]`.")


class MoveRecord(KeyedRecord):
    """A possible first attack over one border, with its best number of dice."""

    from_: str = key(FROM)
    to: str = key(TO)
    dice: Count = key("The best number of attack dice.")
    loss: float = key("The value given up against the best first attack.")
    by_dice: Sequence[DiceChoiceRecord] = key("Each number of attack dice, the best first.")
    words: str = key("The loss in words, such as `best` or `as good`.")
    figure: str = key("The value as text.")
    success: str | None = key(
        "The value after a conquest with median losses, in words; `null` if no conquest is "
        "possible."
    )


class StopRecord(KeyedRecord):
    """The option to stop attacking."""

    loss: float = key("The value that stopping now gives up.")
    words: str = key("The loss in words.")


class SceneRecord(KeyedRecord):
    """The plan as arrows on a map. Territories are numbered in the order of the board."""

    arrows: Sequence[Mapping[str, object]] = key("The arrows of the main line, in order.")
    labels: Sequence[Mapping[str, object]] = key("Chances to own attacked territories, as text.")
    chances: Sequence[float] | None = key(
        "The chance to own each territory at the end; `null` if the chances hardly differ."
    )
    figures: Sequence[str] | None = key("`chances` as whole percentages.")


class MoveInRecord(KeyedRecord):
    """The number of armies to move into a conquered territory."""

    best: Count = key("The best number.")
    values: Sequence[Sequence[float]] = key(
        "Pairs of a number of armies and the value of the plan that follows; empty without a value."
    )


class GoalEndRecord(KeyedRecord):
    """The answer if the goal is already reached or nothing is left to attack."""

    win_probability: Unit | None = key(
        "1 if the goal is reached, otherwise 0; with `--hold`, the chance to hold it until the "
        "next turn, or `null` if the time limit allowed no estimate."
    )
    value: float | None = key("The chance of the goal, or the points of the turn.", is_column=True)
    upper_bound: float = key("The same number as `value`; 1 if the value is not proven.")
    proven: bool = key("False only with `--hold`, if better play may exist.")
    is_chance: bool = key(IS_CHANCE)
    figure: str = key(FIGURE)
    sentences: Sequence[str] = key(SENTENCES)
    code: str = key("The turn as a code of one line.")
    move_in: MoveInRecord = key(
        "Only after the conquest that reaches the goal: the armies to move in that protect both "
        "territories best.",
        default=OMITTED,
    )
    hold: HeldRecord = key("Only with `--hold`: the chance to hold the goal.", default=OMITTED)
    need: FewestRecord = key("Only with `--need`: the fewest new armies.", default=OMITTED)


class PlanRecord(KeyedRecord, kw_only=True):
    """The best plan found."""

    goal: GoalRecord = key("The goal of the plan.")
    rules: str = key(RULES_KEY, is_repeated=True)
    win_probability: Unit | None = key(
        "The chance that this plan reaches the goal, exact unless there is an `interval`; `null` "
        "for goal `worth`, and if the time limit allowed no game.",
        is_column=True,
    )
    upper_bound: float = key(
        "An upper bound on the chance, or the value, of any legal play; with `--play battles` of "
        "any play that fights each battle to its end.",
        is_column=True,
    )
    proven: bool = key("Whether no play is better by more than 1e-9.")
    steps: Sequence[StepRecord] = key("The battles that may be fought, most likely first.")
    territories: Sequence[PlanTerritoryRecord] = key("The territories at the end of the plan.")
    seconds: float = key("The time of the search in seconds.")
    value: float | None = key(
        "The chance, or the points of the player at the end; `null` if the time limit allowed no "
        "game.",
        is_column=True,
    )
    play: str = key(
        '`"rolls"` if the plan decides after each roll, `"battles"` if it fights each battle '
        "to its end."
    )
    interval: IntervalRecord | None = key(
        "The interval of a value estimated from games, else `null`."
    )
    battles_value: float | None = key(
        "The value of a plan that fights each battle to its end, `null` for other plans."
    )
    advances: Sequence[AdvanceRecord] = key("The armies that stay behind, for each conquest.")
    endings: Sequence[EndingRecord] = key(
        "The battles at which the plan may fail, most likely first."
    )
    code: str = key("The planned turn as a code of one line, which `iacta plan` reads.")
    is_chance: bool = key(IS_CHANCE)
    figure: str = key(FIGURE)
    sentences: Sequence[str] = key(SENTENCES)
    tables: Sequence[AnswerSectionRecord] = key("The displayed tables of the answer.")
    moves: Sequence[MoveRecord] = key(
        "The first attacks, best first; empty if new armies are still to be placed."
    )
    stop: StopRecord | None = key(
        "The cost of stopping now; `null` without a value. Left out if new armies are still to be "
        "placed, and with `--hold`.",
        default=OMITTED,
    )
    move_in: MoveInRecord = key(
        "Only after a conquest: the armies to move in. The plan continues from the best number.",
        default=OMITTED,
    )
    command: str | None = key(
        "The command for the same question; `null` if a command cannot ask the question."
    )
    python: str | None = key(
        "The Python call for the same question; `null` if a call cannot ask the question."
    )
    scene: SceneRecord = key(
        "The first four battles of the plan as arrows on a map; left out for a board without a "
        "map.",
        default=OMITTED,
    )
    whole_scene: SceneRecord = key(
        "All battles of a longer plan as arrows on a map.", default=OMITTED
    )
    stages: Sequence[Unit] = key(
        "Only for goals in order: for each goal, the chance to reach this and all earlier goals.",
        default=OMITTED,
    )
    alternatives: Sequence[WayRecord] = key(
        "Only with `--alternatives`: the possible first attacks, best first.",
        default=OMITTED,
    )
    why: str | None = key(
        "Only for a plan that never reaches the goal (or the first goal): the reason, or `null` if "
        "another plan may reach the goal.",
        default=OMITTED,
    )
    reinforce: ReinforceRecord = key(
        "Only with `--reinforce`: new armies, and their best placement.", default=OMITTED
    )
    cards: PlanCardsRecord = key(
        "Only with `--cards`: the armies for the cards of the eliminated player.", default=OMITTED
    )
    hold: HeldRecord = key("Only with `--hold`: the chance to hold the conquests.", default=OMITTED)
    need: FewestRecord = key("Only with `--need`: the fewest armies.", default=OMITTED)
    check: CheckRecord = key(
        "Only with `--check`: games of the plan with random dice.", default=OMITTED
    )


def plan_record(plan: Plan, rules: str, **more: Any) -> PlanRecord:
    """Return a plan as a record.

    rules: the name of the rules.
    more: additional keys of the record.
    """
    if plan.stages:
        more["stages"] = plan.stages
    if is_hopeless(plan):
        more["why"] = explain_impossibility(plan) or None
    return PlanRecord.from_attributes(
        plan,
        goal=GoalRecord(**plan.goal.record()),
        rules=rules,
        is_chance=plan.goal.is_chance,
        win_probability=None if has_worth_goal(plan) else plan.win_probability,
        steps=[StepRecord.from_attributes(step, from_=step.start) for step in plan.steps],
        territories=[
            PlanTerritoryRecord.from_attributes(territory) for territory in plan.territories
        ],
        interval=_make_interval_record(plan.interval),
        advances=[
            AdvanceRecord.from_attributes(rearguard, from_=rearguard.start)
            for rearguard in find_rearguards(plan)
        ],
        endings=[EndingRecord(ending.start, ending.to, ending.chance) for ending in plan.endings],
        code=plan.problem.turn.to_code(),
        **more,
    )


def _make_interval_record(interval: tuple[float, float] | None) -> IntervalRecord | None:
    return None if interval is None else IntervalRecord(CONFIDENCE, *interval)


def ways_record(ways: Sequence[Alternative]) -> list[WayRecord]:
    return [WayRecord(*way[:4]) for way in ways]


def reinforce_record(new: Reinforcement) -> ReinforceRecord:
    return ReinforceRecord(
        new.armies,
        dict(new.placement),
        new.before.value,
        new.quick,
        [HelpRecord(marginal.territory, marginal.one, marginal.all) for marginal in new.marginals],
    )


def cards_record(brought: Distribution[int], goes_on: Continuation | None) -> PlanCardsRecord:
    armies = [BroughtRecord(number, float(brought[number])) for number in sorted(brought)]
    if goes_on is None:
        return PlanCardsRecord(armies)
    return PlanCardsRecord(
        armies,
        goes_on.first,
        goes_on.win_probability,
        _make_interval_record(goes_on.interval),
        goes_on.without,
        goes_on.ends,
        goes_on.proven,
    )


def hold_record(held: Hold, **more: Any) -> HeldRecord:
    """Return the chance to hold as a record, with additional keys."""
    return HeldRecord(
        held.win_probability,
        _make_interval_record(held.interval if held.error else None),
        held.unfortified,
        held.at_least,
        held.proven,
        [ThreatRecord(*threat) for threat in held.threats],
        [FortifiedRecord(*move) for move in held.moves if move.start],
        held.ends,
        **more,
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


def moves_record(moves: Sequence[RankedMove]) -> list[MoveRecord]:
    return [
        MoveRecord(
            *move.way[:3],
            move.loss,
            [
                DiceChoiceRecord(*choice[:2], [*map(list, choice.results)])
                for choice in move.by_dice
            ],
            move.words,
            move.figure,
            move.success,
        )
        for move in moves
    ]


def move_in_record(move_in: MoveIn, plan: Plan) -> MoveInRecord:
    return MoveInRecord(move_in.best, [] if plan.value is None else [*map(list, move_in.values)])


def stop_record(plan: Plan) -> StopRecord | None:
    if plan.value is None:
        return None
    loss = max(plan.comparable_value - plan.problem.held, 0.0)
    return StopRecord(loss, describe_loss(plan, loss))


def tables_record(sections: Iterable[Section], plan: Plan) -> list[AnswerSectionRecord]:
    """Return sections as records; rows about battles begin with the numbers of their arrows."""
    arrows = (arrow for arrow in list_arrows(plan) if arrow.look != "rare")
    names = plan.position.board.territories
    numbers = {f"{names[arrow.start]} to {names[arrow.to]}": arrow.number for arrow in arrows}
    return [AnswerSectionRecord.from_section(section, numbers) for section in sections]


def make_scene_records(plan: Plan) -> dict[str, SceneRecord]:
    """Return arrows on a map for the start of the main line and for the whole main line.

    Unlikely battles have no arrow.
    """
    arrows = [arrow for arrow in list_arrows(plan) if arrow.look != "rare"]
    records = {"scene": _make_scene_record(plan, arrows[:SHOWN_ARROWS])}
    if len(arrows) > SHOWN_ARROWS:
        records["whole_scene"] = _make_scene_record(plan, arrows)
    return records


def _make_scene_record(plan: Plan, arrows: Sequence[Arrow]) -> SceneRecord:
    position = plan.position
    labels = label_chances(plan, arrows)
    scene = build_scene(position.board, arrows, labels)
    chances = [
        1.0 if position.find_holding(each.name).owner == position.player else each.own_probability
        for each in plan.territories
    ]
    figures = [
        short_percent(Fraction(chance) if chance in (0, 1) else chance, 0) for chance in chances
    ]
    return SceneRecord(
        [*map(asdict, scene.arrows)],
        [*map(asdict, scene.labels)],
        chances if labels else None,
        figures if labels else None,
    )
