"""The recorded steps of a turn, judged: luck in armies, luck for the goal, and costs."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import fsum
from typing import Any, ClassVar

from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import LEVEL, MomentForm
from iacta.forms.parameter_kinds import CommaList, Flag, Kind, Number, Schema, Whole
from iacta.forms.percentages import (
    describe_luck,
    format_armies,
    format_goal_change,
    format_goal_value,
)
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import KeyedRecord, key
from iacta.forms.sections import Section, Table
from iacta.forms.shared_parameters import ELIMINATE, TAKE, TAKE_ANY, TIME_LIMIT
from iacta.game import Attack
from iacta.game.steps import (
    MAX_TREE_STEPS,
    STEPS,
    STEPS_VERSION,
    TreeTurn,
    check_version,
    read_tree,
)
from iacta.inputs.checks import quote, read_int, read_list
from iacta.inputs.errors import MalformedError
from iacta.inputs.json_and_toml import parse_json
from iacta.native.deadline import Deadline
from iacta.plan.judge import Judgement, StateValue
from iacta.plan.levels import USUAL, list_levels, read_level
from iacta.plan.named_goals import GOAL_KINDS
from iacta.plan.step_tree import StepTree

MIN_LOSS = 0.0005  # minimum loss or luck to show
MAX_PRECISE_ERROR = 0.002  # maximum error of a precise chance; ten times as much for points

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
        return tuple(read_list(value, name, "steps"))

    def format(self, value: Sequence[Mapping[str, Any]]) -> str:
        return json.dumps(list(value))

    def to_json(self, value: Sequence[Mapping[str, Any]]) -> Any:
        return list(value)

    def schema(self) -> Schema:
        return {"type": "array", "items": STEP_SCHEMA, "maxItems": MAX_TREE_STEPS}


@question(
    "steps",
    Topic.STUDY,
    Example(
        "steps game.toml --take Africa --steps '[]'",
        "what is the chance of a goal? (make game.toml with iacta board)",
    ),
    Example(
        'steps game.toml --worth --steps \'[{"do": "stop", "after": 0}]\'',
        "how much did each step change?",
    ),
)
class StepsQuestion(MomentForm, Question):
    """Show what luck and decisions gained or lost at each step of a turn."""

    has_page: ClassVar = False  # people record steps on the board
    one_of: ClassVar[tuple[str, ...]] = ("position or code",)
    is_search: ClassVar = True

    steps: tuple[Mapping[str, Any], ...] = parameter(
        StepList(),
        "The steps as JSON; `after` gives the number of the step before each.",
        default=(),
    )
    take: str | None = parameter(*TAKE, metavar="NAMES", default=None)
    take_any: str | None = parameter(*TAKE_ANY, metavar="NAMES", excludes="take", default=None)
    eliminate: str | None = parameter(
        *ELIMINATE, metavar="PLAYER", excludes="take or take_any", default=None
    )
    worth: bool = parameter(
        Flag(),
        "Instead of one goal: gain the most points on average.",
        excludes="take or take_any or eliminate",
        default=False,
    )
    win: bool = parameter(
        Flag(),
        "Win the game this turn.",
        excludes="take or take_any or eliminate or worth",
        default=False,
    )
    price: Fraction | None = parameter(
        Number(minimum=0),
        "The price of a lost army since the goal began.",
        excludes="worth",
        default=None,
    )
    order: tuple[int, ...] | None = parameter(
        CommaList(Whole()),
        "The numbers of the steps to evaluate; 0 is the start.",
        usual="all",
        default=None,
    )
    level: str = parameter(*LEVEL, default=USUAL.name)
    version: int | None = parameter(
        Whole(),
        "The version of the format in which the steps are written.",
        usual=str(STEPS_VERSION),
        default=None,
    )
    time_limit: Fraction | None = parameter(*TIME_LIMIT, metavar="SECONDS", default=None)

    def complete(self) -> None:
        if self.version is not None:
            check_version({"version": self.version})

    def __hash__(self) -> int:
        return hash((type(self), self.position, self.code, len(self.steps)))

    @cached_property
    def nodes(self) -> list[TreeTurn]:
        """The nodes of the tree of steps, each with its turn."""
        return read_tree(self.turn, self.steps, self.goal)

    @property
    def goal(self) -> dict[str, Any] | None:
        """The goal of the first turn, in the form in which steps record it."""
        logged = (name for name, kind in GOAL_KINDS.items() if kind.is_logged)
        given = {name: getattr(self, name) for name in logged if self.has(name)}
        price = {} if self.price is None else {"price": float(self.price)}
        return {**given, **price} if given else None

    def answer(self, watch: Watch | None = None) -> "StepsAnswer":
        nodes, deadline = self.nodes, Deadline.from_time_limit(self.time_limit)
        order = range(len(nodes)) if self.order is None else self.order
        for number in order:
            read_int(number, "order", maximum=len(nodes) - 1)
        last, best = read_level(self.level), StepsAnswer(self, StepTree(nodes))
        levels = list_levels(last) if deadline.limited or watch is not None else [last]
        for number, level in enumerate(levels):
            tree = StepTree(nodes)
            if not best.level:  # a higher level replaces a lower one as a whole
                best = StepsAnswer(self, tree)
            try:
                for done, total in tree.evaluate(order, level, deadline):
                    if watch is not None:
                        part = (number + done / total) / len(levels)
                        watch("Looking at steps", part, keeps=True, so_far=best)
            except KeyboardInterrupt:
                if not best.level:
                    raise
                break
            if deadline.is_over:
                break
            best = StepsAnswer(self, tree, level.name)
        return best


class StepValueRecord(KeyedRecord, of=Judgement):
    """The value of a turn, and the effect of the step that leads to it."""

    value: float | None = key(
        "The value of the turn: the chance of the goal, or points; `null` without a goal."
    )
    figure: str = key("The value in words; empty without a goal.")
    is_chance: bool = key("Whether the value is a chance.")
    words: str = key("The value, the luck and the cost in words.")
    sum: str = key(
        "The luck since the player's turn began, and the cost of its decisions, in words; without "
        "points until all values of the turn are known."
    )
    change: float | None
    luck: float | None
    luck_armies: float | None
    cost: float | None
    error: float | None
    price: float = key(
        "The price of a lost army in comparisons of plans for the goal. It stays the same from the "
        "choice of the goal on; 0 if the value is unknown."
    )
    is_costly: bool = key("Whether the decision gave up a value that is shown.")
    is_rough: bool = key("Whether the error is large.")


class StepsRecord(KeyedRecord):
    """The values and effects of recorded steps."""

    level: str = key("The level at which all steps are judged; empty if some values are missing.")
    values: Sequence[StepValueRecord | None] = key(
        "The value of each turn, the first turn first; `null` for a turn that is not valued yet."
    )


class StepsAnswer(Answer):
    """The values and effects of recorded steps.

    tree: the tree of steps, with the values found so far.
    level: the level at which all steps are judged; empty if some values are missing.
    """

    question: StepsQuestion
    tree: StepTree
    level: str = ""

    @cached_property
    def values(self) -> list[StateValue | None]:
        return self.tree.values()

    @cached_property
    def judgements(self) -> list[Judgement | None]:
        return [self.tree.judge_step(k, self.values) for k in range(len(self.values))]

    @property
    def data(self) -> StepsRecord:
        return StepsRecord(
            level=self.level, values=[self._make_record(k) for k in range(len(self.values))]
        )

    def rows(self) -> Iterator[Sequence[object]]:
        yield "step", "words", "value", "change", "luck", "cost", "luck_armies"
        for k, (node, value) in enumerate(zip(self.tree.nodes, self.values, strict=True)):
            judged = self.judgements[k] or Judgement()
            numbers = judged.change, judged.luck, judged.cost, judged.luck_armies
            cells = ("" if number is None else number for number in numbers)
            yield k, node.words, "" if value is None else value.value, *cells

    def draw(self, charts: Charts) -> Any:
        return charts.board_map(self.question.turn.position)

    def sections(self) -> Iterator[Section]:
        if self.question.goal is not None:
            first = self.values[0]
            if first is None:
                yield Section(["There is no estimate yet for the start."])
            else:
                figure = self._format_value(0, first.value)
                yield Section([f"Before the first step the goal is worth {figure}."])
        rows = [
            (self.tree.nodes[k].words, "" if record is None else record.words)
            for k, record in enumerate(self.data.values)
            if k
        ]
        if rows:
            yield Section([Table(("", "value"), rows)], title="Step by step:")
        elif self.question.goal is None:
            yield Section(["There are no steps to judge; give --steps or a goal."])

    def _make_record(self, step_index: int) -> StepValueRecord | None:
        node, value = self.tree.nodes[step_index], self.values[step_index]
        judged = self.judgements[step_index] or Judgement()
        if node.turn is None or (node.goal is not None and value is None):
            return None
        figure = "" if value is None else self._format_value(step_index, value.value)
        luck = self._describe_luck(step_index, judged, minimum=MIN_LOSS)
        cost = judged.cost or 0.0
        is_costly = cost >= MIN_LOSS and cost > self._find_margin(step_index)
        choice = f"choice {self._format_points(step_index, -cost)}" if is_costly else ""
        return StepValueRecord.from_attributes(
            judged,
            value=None if value is None else value.value,
            figure=figure,
            is_chance=self._is_chance(step_index),
            words=", ".join(filter(None, (figure, luck, choice))),
            sum=self._describe_sum(step_index),
            price=0.0 if value is None else value.price,
            is_costly=is_costly,
            is_rough=self._is_rough(step_index, judged),
        )

    def _find_margin(self, step_index: int) -> float:
        """Return the largest cost of a step that counts as none."""
        before = self.values[self.tree.nodes[step_index].before]
        return 0.0 if before is None else before.margin

    def _is_chance(self, step_index: int) -> bool:
        goal = self.tree.nodes[step_index].goal
        return isinstance(goal, Mapping) and "worth" not in goal

    def _format_value(self, step_index: int, value: float) -> str:
        turn = self.tree.nodes[step_index].turn
        is_over = turn is not None and (
            turn.phase in ("fortify", "over")
            or (turn.phase == "attack" and not any(isinstance(a, Attack) for a in turn.actions()))
        )
        is_exact = value == 1.0 or (value == 0.0 and is_over)
        return format_goal_value(
            Fraction(value) if is_exact else value, is_chance=self._is_chance(step_index)
        )

    def _format_points(self, step_index: int, value: float) -> str:
        return format_goal_change(value, is_chance=self._is_chance(step_index), sign="+")

    def _is_rough(self, step_index: int, judged: Judgement) -> bool:
        return (judged.error or 0.0) > MAX_PRECISE_ERROR * (
            1.0 if self._is_chance(step_index) else 10.0
        )

    def _describe_luck(self, step_index: int, judged: Judgement, minimum: float) -> str:
        """Describe the luck of a step, for the goal and in armies; empty for a step without dice.

        minimum: the minimum luck for the goal to show.
        """
        parts = []
        if judged.luck is not None and abs(judged.luck) >= minimum:
            about = "about " if self._is_rough(step_index, judged) else ""
            parts.append(f"{about}{self._format_points(step_index, judged.luck)}")
        if judged.luck_armies is not None:
            parts.append(format_armies(judged.luck_armies))
        return f"dice {' and '.join(parts)}" if parts else ""

    def _describe_sum(self, step_index: int) -> str:
        """Describe the luck and the cost since the player's turn began; empty if unknown."""
        path = [*self.tree.list_path(step_index)]
        judged = [self.judgements[each] or Judgement() for each in path]
        aimed = [each for each in path if self.tree.nodes[each].goal is not None]
        is_mixed = len({self._is_chance(each) for each in aimed}) > 1
        if is_mixed or any(self.values[each] is None for each in aimed):
            judged = [Judgement(luck_armies=each.luck_armies) for each in judged]
        return describe_sum(judged, is_chance=self._is_chance(step_index))


def describe_sum(judged: Iterable[Judgement], *, is_chance: bool) -> str:
    """Describe the luck and the cost of the steps of a turn together; empty if unknown.

    judged: the luck and the cost of each step.
    is_chance: whether the goal of the turn is a chance, and not points.

    >>> steps = [Judgement(luck=0.1, luck_armies=1.2), Judgement(luck=0, cost=0.02)]
    >>> describe_sum(steps, is_chance=True)
    'you were lucky by 1.2 armies (+10.0 points) and your choices cost 2.0 points'
    """
    steps = [*judged]
    armies = [step.luck_armies for step in steps if step.luck_armies is not None]
    words = f"you were {describe_luck(sum(armies))}" if armies else ""
    known = [step for step in steps if step.luck is not None]
    if not known:
        return words
    luck, cost = (fsum(getattr(each, name) or 0.0 for each in known) for name in ("luck", "cost"))
    if words:
        words += f" ({format_goal_change(luck, is_chance=is_chance, sign='+')} points) and "
    return f"{words}your choices cost {format_goal_change(cost, is_chance=is_chance)} points"
