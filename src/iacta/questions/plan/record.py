"""Plans as records in JSON, for programs that read the answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Annotated, Any

from iacta.board.scene import Arrow, build_scene
from iacta.forms.percentages import short_percent
from iacta.forms.record import (
    OMITTED,
    RULES_KEY,
    RUNS_KEY,
    SEED_KEY,
    WILSON_KEY,
    AnswerSectionRecord,
    IntervalRecord,
    KeyedRecord,
    key,
)
from iacta.forms.sections import Section
from iacta.inputs.meanings import Count, SchemaExtra, Unit
from iacta.plan import Continuation, Hold, Plan, Reinforcement
from iacta.plan.alternatives import Alternative
from iacta.plan.goal_plan import MoveIn
from iacta.plan.goals import list_kinds
from iacta.plan.hold import Fortified, Threat
from iacta.plan.plan import Ending, Step, TerritoryEnd
from iacta.plan.reinforcement import Marginal
from iacta.plan.report import Rearguard, list_rearguards
from iacta.plan.simulated import SimulatedPlan
from iacta.probability.distribution import Distribution
from iacta.questions.plan.armies_cards_hold import Needed
from iacta.questions.plan.arrows import label_chances, list_arrows
from iacta.questions.plan.moves import RankedMove, describe_loss
from iacta.questions.plan.sentences import (
    Checked,
    explain_impossibility,
    has_worth_goal,
    is_hopeless,
)

SHOWN_ARROWS = 4  # maximum number of arrows that a small map can show clearly
NAME_MEANING = "The territory."
PLACEMENT = "The new armies on each territory."
IS_CHANCE = "Whether the value is a chance, and not points."
FIGURE = "The value as text: a chance or points; empty without a value."
SENTENCES = "The answer in sentences."
INTERVAL_KEY = "The interval of an estimated chance, else `null`."


class GoalRecord(KeyedRecord):
    """The goal of a plan."""

    kind: Annotated[str, SchemaExtra((("enum", list_kinds()),))] = key("The kind of the goal.")
    territories: Sequence[str] = key("The territories to take.", default=OMITTED)
    number: Count = key("The number of territories to own in all.", default=OMITTED)
    armies: Count = key("The fewest armies on each of these territories.", default=OMITTED)
    kept: Sequence[str] = key(
        "The player's own territories that must also have this many armies.", default=OMITTED
    )
    ways: Sequence[Mapping[str, object]] = key(
        "For goal `win`, the ways to win, each with its `territories`, `number` and `armies`.",
        default=OMITTED,
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


class StepRecord(KeyedRecord, of=Step):
    """A battle that the plan may fight."""

    start: str
    to: str
    reach_probability: Unit
    conquer_probability: Unit
    expected_armies: float


class AdvanceRecord(KeyedRecord, of=Rearguard):
    """The number of armies that stay behind after a conquest, garrison included."""

    start: str
    to: str
    probability: Unit
    least: Count
    most: Count
    usual: Count


class ReinforceRecord(KeyedRecord, of=Reinforcement):
    """New armies and their best placement."""

    armies: Count
    placement: Mapping[str, Count] = key(PLACEMENT)
    value_without: float | None = key(
        "The value of the plan without new armies; `null` if the time limit allowed no game."
    )
    territories: Sequence[Marginal] = key("The value of new armies on each territory.")


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


class HeldRecord(KeyedRecord, of=Hold):
    """The chance to hold the conquests."""

    win_probability: Unit | None
    interval: IntervalRecord | None = key(INTERVAL_KEY)
    win_probability_unfortified: Unit | None = key(
        "The same chance without a move at the end of the turn."
    )
    at_least: float
    is_exact: bool = key("Whether the opponents' plans are proven best.")
    threats: Sequence[Threat]
    moves: Sequence[Fortified]
    ends: Count
    placement: Mapping[str, Count] = key(
        "Only if the goal is already reached: the new armies on each territory.", default=OMITTED
    )
    win_probability_without: Unit | None = key(
        "Only if the goal is already reached: the chance to hold it without the new armies; `null` "
        "if the turn has no new armies or the time was too short.",
        default=OMITTED,
    )


class FewestRecord(KeyedRecord):
    """The fewest armies for a required chance."""

    chance: Unit = key("The requested chance.")
    source: str = key("The territory with the armies.", default=OMITTED)
    armies: Count = key("The fewest armies there; with `--reinforce` the fewest new armies.")
    placement: Mapping[str, Count] = key(PLACEMENT, default=OMITTED)


class CheckRecord(KeyedRecord, of=SimulatedPlan):
    """Simulated games of the plan with random dice."""

    runs: Count = key(RUNS_KEY)
    seed: Count = key(SEED_KEY)
    won: Count = key("The number of games that reached the goal.")
    win_probability: Unit = key("`won` divided by `runs`.")
    interval: IntervalRecord = key(WILSON_KEY)
    value: float
    error: float


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


class GoalEndRecord(KeyedRecord):
    """The answer if the goal is already reached or nothing is left to attack."""

    win_probability: Unit | None = key(
        "1 if the goal is reached, otherwise 0; with `--hold`, the chance to hold it until the "
        "next turn, or `null` if the time limit allowed no estimate."
    )
    value: float | None = key("The chance of the goal, or the points of the turn.", is_column=True)
    upper_bound: float = key("The same number as `value`; 1 if the value is not proven.")
    proven: bool = key("False only with `--hold`, if better play may exist.")
    is_reached: bool = key("Whether the goal is reached.")
    is_chance: bool = key(IS_CHANCE)
    figure: str = key(FIGURE)
    sentences: Sequence[str] = key(SENTENCES)
    code: str = key("The turn as a code of one line.")
    move_in: MoveIn = key(
        "Only after the conquest that reaches the goal: the armies to move in that protect both "
        "territories best.",
        default=OMITTED,
    )
    hold: HeldRecord = key("Only with `--hold`: the chance to hold the goal.", default=OMITTED)
    need: FewestRecord = key("Only with `--need`: the fewest new armies.", default=OMITTED)


class PlanRecord(KeyedRecord, of=Plan):
    """The best plan found."""

    goal: GoalRecord
    rules: str = key(RULES_KEY, is_repeated=True)
    win_probability: Unit | None = key(
        "The chance that this plan reaches the goal, exact unless there is an `interval`; `null` "
        "for goal `worth`, and if the time limit allowed no game.",
        is_column=True,
    )
    upper_bound: float = key(is_column=True)
    proven: bool
    price: float = key(
        "The price of a lost army by which plans were compared; 0 for the greatest chance alone. "
        "With `--price`, later plans of the turn keep it."
    )
    sacrifice: float = key("How much chance, or value, the plan gives up to lose fewer armies.")
    steps: Sequence[StepRecord] = key("The battles that may be fought, most likely first.")
    territories: Sequence[TerritoryEnd]
    seconds: float
    value: float | None = key(
        "The chance, or the points of the player at the end; `null` if the time limit allowed no "
        "game.",
        is_column=True,
    )
    play: str = key(
        '`"rolls"` if the plan decides after each roll, `"battles"` if it fights each battle '
        "to its end."
    )
    interval: IntervalRecord | None
    battles_value: float | None = key(
        "The value of a plan that fights each battle to its end, `null` for other plans."
    )
    advances: Sequence[AdvanceRecord] = key("The armies that stay behind, for each conquest.")
    endings: Sequence[Ending]
    code: str = key("The planned turn as a code of one line, which `iacta plan` reads.")
    is_chance: bool = key(IS_CHANCE)
    figure: str = key(FIGURE)
    sentences: Sequence[str] = key(SENTENCES)
    tables: Sequence[AnswerSectionRecord] = key("The displayed tables of the answer.")
    moves: Sequence[RankedMove] = key(
        "The first attacks, best first; empty if new armies are still to be placed."
    )
    stop: StopRecord | None = key(
        "The cost of stopping now; `null` without a value. Left out if new armies are still to be "
        "placed, and with `--hold`.",
        default=OMITTED,
    )
    move_in: MoveIn = key(
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
    alternatives: Sequence[Alternative] = key(
        "Only with `--alternatives`: the possible first attacks, best first.",
        default=OMITTED,
    )
    why: str | None = key(
        "Only for a plan that never reaches the goal (or the first goal): the reason, or `null` if "
        "another plan may reach the goal.",
        default=OMITTED,
    )
    level: str = key(
        "The level of the search: `quick`, `usual` or `long`; empty if the time was too short for "
        "any level, or for another kind of search.",
        default="",
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
        play="battles" if plan.turn.whole_battles else "rolls",
        is_chance=plan.goal.is_chance,
        win_probability=None if has_worth_goal(plan) else plan.win_probability,
        steps=[StepRecord.from_attributes(step) for step in plan.steps],
        interval=_make_interval_record(plan.interval),
        advances=[AdvanceRecord.from_attributes(rearguard) for rearguard in list_rearguards(plan)],
        code=plan.problem.turn.to_code(),
        **more,
    )


def _make_interval_record(interval: tuple[float, float] | None) -> IntervalRecord | None:
    return None if interval is None else IntervalRecord.from_interval(interval)


def reinforce_record(new: Reinforcement) -> ReinforceRecord:
    return ReinforceRecord(
        armies=new.armies,
        placement=dict(new.placement),
        value_without=new.before.value,
        territories=new.marginals,
    )


def cards_record(brought: Distribution[int], goes_on: Continuation | None) -> PlanCardsRecord:
    armies = [
        BroughtRecord(armies=number, probability=float(brought[number]))
        for number in sorted(brought)
    ]
    if goes_on is None:
        return PlanCardsRecord(armies=armies)
    return PlanCardsRecord(
        armies=armies,
        first_probability=goes_on.first,
        win_probability=goes_on.win_probability,
        interval=_make_interval_record(goes_on.interval),
        win_probability_without=goes_on.without,
        ends=goes_on.ends,
        is_exact=goes_on.proven,
    )


def hold_record(held: Hold, **more: Any) -> HeldRecord:
    """Return the chance to hold as a record, with additional keys."""
    return HeldRecord.from_attributes(
        held,
        interval=_make_interval_record(held.interval if held.error else None),
        win_probability_unfortified=held.unfortified,
        is_exact=held.proven,
        moves=[move for move in held.moves if move.start],
        **more,
    )


def need_record(needed: Needed) -> FewestRecord:
    where: dict[str, Any] = (
        {"source": needed.source} if needed.source else {"placement": dict(needed.placement)}
    )
    return FewestRecord(chance=float(needed.chance), armies=needed.armies, **where)


def check_record(checked: Checked) -> CheckRecord:
    won = checked.simulated.won
    return CheckRecord.from_attributes(
        checked.simulated,
        runs=checked.runs,
        seed=checked.seed,
        won=won.successes,
        win_probability=float(won.probability),
        interval=IntervalRecord.from_interval(checked.interval),
    )


def stop_record(plan: Plan) -> StopRecord | None:
    if plan.value is None:
        return None
    loss = max(plan.comparable_value - plan.problem.held, 0.0)
    return StopRecord(loss=loss, words=describe_loss(plan, loss))


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
    turn, labels = plan.turn, label_chances(plan, arrows)
    scene = build_scene(turn.board, arrows, labels)
    chances = [
        1.0 if turn.owner_of(territory.name) == turn.player else territory.own_probability
        for territory in plan.territories
    ]
    figures = [
        short_percent(Fraction(chance) if chance in (0, 1) else chance, 0) for chance in chances
    ]
    return SceneRecord(
        arrows=[
            {
                **asdict(arrow),
                "paths": [[*map(list, path)] for path in arrow.paths],
                "disc": [*arrow.disc],
            }
            for arrow in scene.arrows
        ],
        labels=[{**asdict(label), "middle": [*label.middle]} for label in scene.labels],
        chances=chances if labels else None,
        figures=figures if labels else None,
    )
