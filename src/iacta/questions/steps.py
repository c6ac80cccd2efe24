"""The values of the recorded steps of a turn: luck, and the cost of decisions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import MomentForm
from iacta.forms.parameter_kinds import CommaList, Flag, Kind, Schema, Whole
from iacta.forms.percentages import format_goal_change, format_goal_value
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import KeyedRecord, key
from iacta.forms.sections import Section, Table
from iacta.forms.shared_parameters import ELIMINATE, TAKE, TAKE_ANY, TIME_LIMIT
from iacta.game import Turn
from iacta.game.steps import MAX_STEPS, STEPS, VERSION, TreeTurn, check_version, read_tree
from iacta.inputs.checks import quote, read_int, read_row
from iacta.inputs.errors import IactaError, MalformedError
from iacta.inputs.json_and_toml import parse_json
from iacta.native.deadline import Deadline, run_in_threads
from iacta.plan.goals import GOAL_KINDS, read_goal
from iacta.plan.judge import Judgement, StateValue, evaluate_state
from iacta.plan.step_tree import StepTree

MIN_LOSS = 0.0005  # a smaller loss or luck is not shown
MAX_PRECISE_ERROR = 0.002  # a change with a larger error is rough; ten times as much for points

STEP_SCHEMA: Schema = {
    "type": "object",
    "description": "A step of a turn; a territory is a name or its number on the board.",
    "properties": {"do": {"enum": list(STEPS)}},
    "required": ["do"],
}


class StepList(Kind):
    """Recorded steps, as JSON text or as objects."""

    metavar: ClassVar[str] = "JSON"

    def parse(self, text: str, name: str) -> tuple[Mapping[str, Any], ...]:
        try:
            given = parse_json(text)
        except ValueError:
            raise MalformedError(
                f"{name} must be a list of steps in JSON, got {quote(text)}", parameter=name
            ) from None
        return self.check(given, name)

    def check(self, value: object, name: str) -> tuple[Mapping[str, Any], ...]:
        return tuple(read_row(value, name, "steps"))

    def text(self, value: Sequence[Mapping[str, Any]]) -> str:
        return json.dumps(list(value))

    def json(self, value: Sequence[Mapping[str, Any]]) -> Any:
        return list(value)

    def schema(self) -> Schema:
        return {"type": "array", "items": STEP_SCHEMA, "maxItems": MAX_STEPS}


@question(
    "steps",
    Topic.STUDY,
    Example(
        "steps game.toml --take Africa --steps '[]'",
        "what is the chance of a goal (game.toml: see iacta board)?",
    ),
    Example(
        'steps game.toml --worth --steps \'[{"do": "stop", "after": 0}]\'',
        "how much did each step change?",
    ),
)
class StepsQuestion(MomentForm, Question):
    """Value each step of a turn: luck, and the cost of decisions."""

    one_of: ClassVar[tuple[str, ...]] = ("position or code", " or ".join(GOAL_KINDS))
    is_search: ClassVar = True

    steps: tuple[Mapping[str, Any], ...] = parameter(
        StepList(),
        "The steps in JSON, each with the number of the step before it as `after`.",
        default=(),
    )
    take: str | None = parameter(*TAKE, metavar="NAMES", default=None)
    take_any: str | None = parameter(*TAKE_ANY, metavar="NAMES", default=None)
    eliminate: str | None = parameter(*ELIMINATE, metavar="PLAYER", default=None)
    worth: bool = parameter(Flag(), "Gain the most points on average.", default=False)
    order: tuple[int, ...] | None = parameter(
        CommaList(Whole()), "The numbers of the turns to value, from 0.", usual="all", default=None
    )
    version: int | None = parameter(
        Whole(), "The version of the format of the steps.", usual=str(VERSION), default=None
    )
    time_limit: Fraction | None = parameter(*TIME_LIMIT, metavar="SECONDS", default=None)

    def complete(self) -> None:
        if self.version is not None:
            check_version({"version": self.version})

    def __hash__(self) -> int:
        return hash((type(self), self.position, self.code, len(self.steps)))

    @cached_property
    def nodes(self) -> list[TreeTurn]:
        """The turns of the tree of steps."""
        return read_tree(self.turn, self.steps)

    def answer(self, watch: Watch | None = None) -> "StepsAnswer":
        nodes = self.nodes
        order = range(len(nodes)) if self.order is None else self.order
        for number in order:
            read_int(number, "order", most=len(nodes) - 1)
        wanted = dict.fromkeys(_add_turns_before(nodes, order))
        turns = {turn.to_code(): turn for k in wanted if (turn := nodes[k].turn) is not None}
        tree, deadline = StepTree(nodes), Deadline.of(self.time_limit).keep_whole()

        def evaluate(code: str, part: Deadline) -> StateValue | None:
            turn = turns[code]
            try:
                value = evaluate_state(turn, self._read_goal(turn), part)
            except IactaError:  # the goal of one player may be invalid for another player
                return None
            return None if part.is_over else value  # an interrupted search has no final value

        for done, (code, value) in enumerate(run_in_threads(evaluate, [*turns], deadline), 1):
            if value is not None:
                tree.put(turns[code], value)
            if watch is not None:
                watch("Looking at steps", done / len(turns), so_far=StepsAnswer(self, tree))
        return StepsAnswer(self, tree)

    def _read_goal(self, turn: Turn) -> Any:
        kind = next(kind for kind in GOAL_KINDS if self.has(kind))
        text = getattr(self, kind)
        return read_goal(turn, kind, "" if kind == "worth" else text)


def _add_turns_before(nodes: Sequence[TreeTurn], order: Sequence[int]) -> Iterator[int]:
    """Yield the numbers of turns, each preceded by the turn in which its step was taken."""
    for k in order:
        if nodes[k].step is not None:
            yield nodes[k].before
        yield k


class StepValueRecord(KeyedRecord, kw_only=True):
    """The value of a turn, and the change made by the step that led to the turn."""

    value: float = key("The value of the turn: the chance of the goal, or points.")
    figure: str = key("The value as text.")
    is_chance: bool = key("Whether the value is a chance.")
    words: str = key("The value, and the changes by dice and decision, in words.")
    sum: str = key("The changes by dice and decisions since the player's turn began, in words.")
    change: float | None = key("The change of the value; `null` for the first turn.")
    luck: float | None = key("The value added by the dice; `null` if the decision is not judged.")
    cost: float | None = key(
        "The value given up by the decision; `null` if the decision is not judged."
    )
    error: float | None = key("The error of the change.")
    is_costly: bool = key("Whether the cost of the decision is large enough to show.")
    is_rough: bool = key("Whether the error of the change is large.")


class StepsRecord(KeyedRecord):
    """The values of recorded steps."""

    values: Sequence[StepValueRecord | None] = key(
        "The value of each turn, in order; `null` for a turn without a value."
    )


class StepsAnswer(Answer):
    """The values of recorded steps.

    tree: the steps, with the values known so far.
    """

    question: StepsQuestion
    tree: StepTree

    @cached_property
    def values(self) -> list[StateValue | None]:
        return self.tree.values()

    @cached_property
    def judgements(self) -> list[Judgement | None]:
        return [self.tree.judge(k, self.values) for k in range(len(self.values))]

    @property
    def data(self) -> StepsRecord:
        return StepsRecord([self._record(k) for k in range(len(self.values))])

    def rows(self) -> Iterator[Sequence[object]]:
        yield "step", "words", "value", "change", "luck", "cost"
        for k, (node, value) in enumerate(zip(self.tree.nodes, self.values, strict=True)):
            judged = self.judgements[k]
            numbers = ("", "", "") if judged is None else judged[:3]
            cells = ("" if each is None else each for each in numbers)
            yield k, node.words, "" if value is None else value.value, *cells

    def draw(self, charts: Charts) -> Any:
        return charts.board_map(self.question.turn.position)

    def sections(self) -> Iterator[Section]:
        first = self.values[0]
        figure = "no estimate yet" if first is None else self._figure(first.value)
        yield Section([f"Before the first step the goal is worth {figure}."])
        rows = [
            (self.tree.nodes[k].words, "" if record is None else record.words)
            for k, record in enumerate(self.data.values)
            if k
        ]
        if rows:
            yield Section([Table(("", "value"), rows)], title="Step by step:")

    def _record(self, k: int) -> StepValueRecord | None:
        value, judged = self.values[k], self.judgements[k]
        if value is None:
            return None
        figure = self._figure(value.value)
        said, is_rough = [figure], judged is not None and self._is_rough(judged)
        if judged is not None:
            about = "about " if is_rough else ""
            if judged.luck is not None and abs(judged.luck) >= MIN_LOSS:
                said.append(f"dice {about}{self._points(judged.luck)}")
            if judged.cost is not None and judged.cost >= MIN_LOSS:
                said.append(f"choice {self._points(-judged.cost)}")
        return StepValueRecord(
            value=value.value,
            figure=figure,
            is_chance=self._is_chance,
            words=", ".join(said),
            sum=self._describe_sum(k),
            change=None if judged is None else judged.change,
            luck=None if judged is None else judged.luck,
            cost=None if judged is None else judged.cost,
            error=None if judged is None else judged.error,
            is_costly=judged is not None and (judged.cost or 0.0) >= MIN_LOSS,
            is_rough=is_rough,
        )

    @property
    def _is_chance(self) -> bool:
        return not self.question.worth

    def _figure(self, value: float) -> str:
        return format_goal_value(Fraction(1) if value == 1.0 else value, is_chance=self._is_chance)

    def _points(self, value: float) -> str:
        return format_goal_change(value, is_chance=self._is_chance, sign="+")

    def _is_rough(self, judged: Judgement) -> bool:
        return judged.error > MAX_PRECISE_ERROR * (1.0 if self._is_chance else 10.0)

    def _describe_sum(self, k: int) -> str:
        """Return the changes by dice and decisions since the turn began, in words."""
        path = [self.judgements[each] for each in self.tree.list_path(k)]
        known = [judged for judged in path if judged is not None and judged.luck is not None]
        if not known:
            return ""
        luck = sum(judged.luck or 0.0 for judged in known)
        cost = sum(judged.cost or 0.0 for judged in known)
        return f"dice {self._points(luck)}, choices {self._points(-cost)}"
