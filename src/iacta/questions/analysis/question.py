"""The analysis of a turn: the numbers of its goals and threats, by levels of fixed work."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from iacta.analysis.analysis import (
    RANKS,
    Analysis,
    AskedGoal,
    GoalAnalysis,
    analyse,
)
from iacta.analysis.goals import canonicalise, make_goal_key
from iacta.analysis.threats import Threats, find_threats
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import LEVEL, MomentForm
from iacta.forms.parameter_kinds import CommaList, Kind, OneOf, Schema
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import OMITTED, IntervalRecord, KeyedRecord, key
from iacta.forms.sections import Section, Table
from iacta.forms.sentences import capitalise
from iacta.forms.shared_parameters import TIME_LIMIT
from iacta.game import Turn
from iacta.inputs.checks import FrozenDict, quote, read_list
from iacta.inputs.errors import MalformedError
from iacta.inputs.json_and_toml import parse_json
from iacta.native.deadline import Deadline
from iacta.plan.goal_plan import GoalPlan
from iacta.plan.levels import USUAL, list_levels, read_level
from iacta.plan.named_goals import read_goal_record, read_price
from iacta.questions.analysis.known import Known, read_known
from iacta.questions.goals import find_range, format_reach, is_known, sort_known_first
from iacta.questions.plan import PlanQuestion
from iacta.questions.plan.question import make_answer
from iacta.questions.threats import (
    DangerRecord,
    HelpfulMoveRecord,
    ThreatenedRecord,
    describe_threat,
    format_threat,
    make_danger_record,
    make_move_record,
    make_threat_record,
)

PARTS = "goals", "threats"
MAX_ASKED = 100  # maximum number of goals in a request


class JsonValue(Kind):
    """A JSON value, as text or as Python objects.

    of: the type of the value, `list` or `dict`.
    what: the type in words, for error messages.
    """

    metavar: ClassVar[str] = "JSON"
    of: type = dict
    what: str = "an object"

    def parse(self, text: str, name: str) -> Any:
        try:
            given = parse_json(text)
        except ValueError:
            raise MalformedError(
                f"{name} must be {self.what} in JSON, got {quote(text)}", parameter=name
            ) from None
        return self.check(given, name)

    def check(self, value: object, name: str) -> Any:
        if self.of is list:
            return tuple(read_list(value, name, "objects", MAX_ASKED))
        if not isinstance(value, Mapping):
            raise MalformedError(f"{name} must be {self.what}, got {quote(value)}", parameter=name)
        return value

    def format(self, value: Any) -> str:
        return json.dumps(self.to_json(value))

    def to_json(self, value: Any) -> Any:
        return self.of(value)

    def schema(self) -> Schema:
        if self.of is list:
            return {"type": "array", "items": {"type": "object"}, "maxItems": MAX_ASKED}
        return {"type": "object"}


@question(
    "analysis",
    Topic.BOARD,
    Example("analysis game.toml", "the numbers of all goals"),
    Example("analysis game.toml --parts goals,threats --level quick", "the same, and threats"),
)
class AnalysisQuestion(MomentForm, Question):
    """List the chances of all goals and threats for programs."""

    has_page: ClassVar = False  # the board shows the analysis
    one_of: ClassVar[tuple[str, ...]] = ("position or code",)
    is_search: ClassVar = True

    parts: tuple[str, ...] | None = parameter(
        CommaList(OneOf(PARTS)),
        "What to list: goals, threats or both.",
        usual="goals unless --goals names some",
        default=None,
    )
    goals: tuple[Mapping[str, Any], ...] = parameter(
        JsonValue(list, "a list"),
        "Goals to plan, as a list of JSON objects like those of steps; `price` is the price of a "
        "lost army where the goal began.",
        default=(),
    )
    known: Mapping[str, Any] | None = parameter(
        JsonValue(dict, "an object"),
        "An earlier answer for the same turn; its numbers are not computed again.",
        default=None,
    )
    level: str = parameter(*LEVEL, default=USUAL.name)
    time_limit: Fraction | None = parameter(*TIME_LIMIT, metavar="SECONDS", default=None)

    def __hash__(self) -> int:
        return hash((type(self), self.position, self.code, len(self.goals)))

    @cached_property
    def canonical_turn(self) -> Turn:
        """The turn to which the analysis belongs."""
        return canonicalise(self.turn)

    @cached_property
    def asked(self) -> list[AskedGoal]:
        """The goals to plan."""
        asked = list[AskedGoal]()
        for record in self.goals:
            if not isinstance(record, Mapping):
                raise MalformedError(f"goals must be a list of objects, got {quote(record)}")
            parameters = {name: value for name, value in record.items() if name != "price"}
            read_goal_record(self.canonical_turn, parameters)
            asked.append(AskedGoal(parameters, read_price(record)))
        return asked

    def answer(self, watch: Watch | None = None) -> "AnalysisAnswer":
        level, deadline = read_level(self.level), Deadline.from_time_limit(self.time_limit)
        turn, asked = self.canonical_turn, self.asked
        known = Known() if self.known is None else read_known(turn, self.known)
        parts = (() if asked else ("goals",)) if self.parts is None else self.parts
        empty = Analysis(turn, known.goals, "", is_complete=False)
        answer = AnalysisAnswer(self, known, empty, tuple(parts))

        def show(part: float, **found: Any) -> None:
            nonlocal answer
            answer = replace(answer, **found)
            if watch is not None:
                watch("Analysing", part, keeps=True, so_far=answer)

        def note_plan(goal: str, plan: GoalPlan) -> None:
            if plan.level is not None:
                show(0.0, plans={**answer.plans, goal: plan})

        share = 0.5 if "threats" in parts else 1.0
        if asked or "goals" in parts:
            found = analyse(
                turn,
                level,
                goals=asked,
                has_offers="goals" in parts,
                known=known.goals,
                deadline=deadline,
                progress=lambda found, part: show(share * part, found=found),
                planned=note_plan,
            )
            show(share, found=found)
        if "threats" in parts and RANKS[known.level] < RANKS[level.name]:
            missing = (each for each in list_levels(level) if RANKS[each.name] > RANKS[known.level])
            lowest, seen = next(missing), self.turn.seen_by(self.turn.player)
            for threats in find_threats(seen, level, deadline, lowest):
                if threats.level:
                    show(0.5 + 0.5 * RANKS[threats.level] / RANKS[level.name], threats=threats)
        return answer


class AnalysedGoalRecord(KeyedRecord, of=GoalAnalysis):
    """The numbers of the plan for a goal."""

    parameters: Mapping[str, str | bool]
    goal: str = key("The goal in words.")
    is_offered: bool
    is_chance: bool
    level: str
    figure: str = key("The value as text, with the digits that are known.")
    is_rough: bool = key("Whether a better plan may have a much greater chance.")
    words: str = key("The armies that are left, in words.")
    chance: float = key(
        "The chance to reach the goal, or the expected worth; left out without a level.",
        default=OMITTED,
    )
    interval: IntervalRecord = key("The 95% interval of an estimated value.", default=OMITTED)
    upper_bound: float
    proven: bool
    price: float
    margin: float
    sacrifice: float
    losses: float
    left: float
    placement: Mapping[str, int]
    move_in: int = key("The armies to move in after a conquest.", default=OMITTED)
    is_reached: bool
    plan: Mapping[str, object] = key(
        "For goals that were asked for: the answer of `plan` with the same numbers.",
        default=OMITTED,
    )


class AnalysisRecord(KeyedRecord):
    """The numbers of a turn."""

    code: str = key("The turn to which the numbers belong, as a code.", is_column=True)
    player: str = key("The player to move in this turn.", is_column=True)
    level: str = key("The level that all numbers have; empty without a level.", is_column=True)
    is_complete: bool = key("Whether this is the level that was asked for.", is_column=True)
    goals: Sequence[AnalysedGoalRecord] = key("The goals, in the order in which they are shown.")
    threats: Sequence[ThreatenedRecord] = key(
        "The threats of the opponents, likeliest first.", default=OMITTED
    )
    threatened: str = key("The player whom the opponents threaten.", default=OMITTED)
    threats_level: str = key("The level of the threats; empty without a level.", default=OMITTED)
    move: HelpfulMoveRecord = key("The fortifying move that helps most, if any.", default=OMITTED)
    danger: DangerRecord = key(
        "The greatest threat to each territory of the threatened player, on the map.",
        default=OMITTED,
    )


class AnalysisAnswer(Answer):
    """The numbers of a turn.

    known: the numbers that the client sent.
    found: the goals.
    threats: the threats; `None` if they were not computed.
    plans: the plans for the goals that were asked for.
    parts: the parts that were asked for.
    """

    question: AnalysisQuestion
    known: Known
    found: Analysis
    parts: tuple[str, ...]
    threats: Threats | None = None
    plans: Mapping[str, GoalPlan] = FrozenDict({})

    @property
    def level(self) -> str:
        """The lowest level of the parts that were asked for."""
        levels = [self.found.level] if self.question.asked or "goals" in self.parts else []
        levels += [self._threats_level] if "threats" in self.parts else []
        return min(levels, key=RANKS.__getitem__, default="")

    @property
    def _threats_level(self) -> str:
        return self.known.level if self.threats is None else self.threats.level

    @property
    def data(self) -> AnalysisRecord:
        threats = self.known.threats if self.threats is None else self.threats.threats
        move: HelpfulMoveRecord | None = self.known.move
        player = self.question.turn.player
        if self.threats is not None:
            found = self.threats.move
            move = None if found is None else make_move_record(found, player)
        more: dict[str, Any] = {}
        if threats is not None:
            more["threats"] = [make_threat_record(each, player) for each in threats]
            more |= {"threatened": player, "threats_level": self._threats_level}
            more |= {} if move is None else {"move": move}
            more["danger"] = make_danger_record(self.question.turn, threats)
        turn = self.found.turn
        return AnalysisRecord(
            code=turn.to_code(),
            player=turn.player,
            level=self.level,
            is_complete=self.level == self.question.level,
            goals=[self._make_goal_record(each) for each in sort_known_first(self.found.goals)],
            **more,
        )

    def _make_goal_record(self, goal: GoalAnalysis) -> AnalysedGoalRecord:
        more: dict[str, Any] = {}
        if goal.value is not None:
            more["chance"] = goal.value
        if goal.interval is not None:
            more["interval"] = IntervalRecord.from_interval(goal.interval)
        if goal.move_in is not None:
            more["move_in"] = goal.move_in
        if goal.key in self.plans:
            more["plan"] = self._make_plan_record(goal.key)
        return AnalysedGoalRecord.from_attributes(
            goal,
            parameters=dict(goal.parameters),
            goal=goal.words,
            figure=format_reach(goal),
            words=f"{goal.left:.1f} armies left" if is_known(goal) else "",
            placement=dict(goal.placement),
            **more,
        )

    def _make_plan_record(self, goal: str) -> dict[str, Any]:
        """Return the answer of `plan` for a goal that was asked for."""
        plan, price = self.plans[goal], None
        for asked in self.question.asked:
            if make_goal_key(asked.parameters) == goal:
                price = asked.price
        asked_question = PlanQuestion(
            plan.turn,
            **json.loads(goal),
            price=None if price is None else Fraction(price),
            level=plan.level.name if plan.level else USUAL.name,
        )
        return make_answer(asked_question, plan, Deadline(), price=price).record()

    def rows(self) -> Iterator[Sequence[object]]:
        yield "goal", "level", "chance", "low", "at_most", "left"
        for each in sort_known_first(self.found.goals):
            chance = "" if each.value is None else each.value
            yield each.words, each.level, chance, *find_range(each), each.left

    def draw(self, charts: Charts) -> Any:
        return charts.board_map(self.question.turn.position)

    def sections(self) -> Iterator[Section]:
        turn = self.found.turn
        name = capitalise(turn.player)
        reached = f"at the level {self.level}" if self.level else "not known yet; allow more time"
        yield Section([f"{name}'s turn, {reached}."])
        rows = [
            (each.words, format_reach(each), each.level)
            for each in sort_known_first(self.found.goals)
        ]
        if rows:
            yield Section([Table(("", "chance", "level"), rows)], title="Goals:")
        threats = self.known.threats if self.threats is None else self.threats.threats
        if threats:
            player = self.question.turn.player
            table = [
                (each.player, describe_threat(each, player), format_threat(each))
                for each in threats
            ]
            yield Section([Table(("", "threat", "chance"), table)], title="Threats:")
