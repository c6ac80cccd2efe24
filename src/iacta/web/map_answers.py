"""What the addresses of the map answer, as the schema of the API describes it.

Territories are numbers, in the order of the board.
"""

from typing import Any, NotRequired, TypeAlias

from typing_extensions import TypedDict  # which pydantic can read in Python 3.11

from iacta.charts.scene import Scene

SentBoard: TypeAlias = dict[str, Any] | str  # `"classic"` for the classic board


class FileRemark(TypedDict):
    """What was noticed while a file was read.

    line: the number of its line, if it is about one.
    text: the remark.
    """

    line: int | None
    text: str


class DrawnContinent(TypedDict):
    """A continent.

    name: its name.
    bonus: the armies that it brings.
    territories: its territories.
    """

    name: str
    bonus: int
    territories: list[int]


class DrawnBoard(TypedDict):
    """A board, and what its map is drawn from.

    format: the format that it was read from.
    remarks: what was noticed while it was read.
    board: the board as it is sent back with questions.
    name: its name.
    code: its part of a code.
    territories: the names of the territories.
    continents: the continents.
    scene: what is drawn.
    """

    format: str
    remarks: list[FileRemark]
    board: SentBoard
    name: str
    code: str
    territories: list[str]
    continents: list[DrawnContinent]
    scene: Scene


class SentHolding(TypedDict):
    """Who holds a territory.

    owner: the player.
    armies: how many armies are there.
    """

    owner: str
    armies: int


class SentPosition(TypedDict):
    """A position.

    player: the player whose turn it is.
    territories: those that are held, by their names.
    """

    player: str
    territories: dict[str, SentHolding]


class DrawnPosition(DrawnBoard):
    """A position and its board.

    position: the position.
    rules, keep, stay, fresh: of the code of a turn: the name of its rules, the armies that stay on
        territories by their numbers, the territories whose armies all stay, and the new armies.
    """

    position: SentPosition
    rules: NotRequired[str]
    keep: NotRequired[dict[int, int]]
    stay: NotRequired[list[int]]
    fresh: NotRequired[int]


BorderState = TypedDict(
    "BorderState",
    {
        "from": int,
        "to": int,
        "chance": float,
        "words": str,
        "dice": int,
        "rolls": list[tuple[int, int, float, str]],
    },
)
BorderState.__doc__ = """The odds of a battle over a border.

from, to: the territories.
chance: the chance to take the territory.
words: the chance in words.
dice: the attack dice of the next roll.
rolls: what the next roll may cost the attackers and the defenders, with its chance and in words.
"""

AdvanceSpan = TypedDict("AdvanceSpan", {"from": int, "to": int, "least": int, "most": int})
AdvanceSpan.__doc__ = """How many armies may move into a territory that was just taken.

from, to: the territories.
least, most: the armies.
"""


class TurnRecord(TypedDict):
    """Where a turn is.

    code: its code.
    phase: its phase.
    player: whose turn it is.
    owners, armies: those of each territory.
    new: the armies still to be placed.
    usual: the new armies that the player gets by the rules.
    odds: those of each battle that can be begun.
    sentence: the phase in words.
    advance: how many armies may move in, where that is to be decided.
    fortify: the last moves of armies: from where, to where, and the most armies.
    """

    code: str
    phase: str
    player: str
    owners: list[str]
    armies: list[int]
    new: int
    usual: int
    odds: list[BorderState]
    sentence: str
    advance: NotRequired[AdvanceSpan]
    fortify: NotRequired[list[tuple[int, int, int]]]


class StepAnswer(TurnRecord):
    """Where a turn is after a step.

    words: the step in words.
    """

    words: str


class ImpossibleStep(TypedDict):
    """A step that is not possible.

    problem: why not.
    """

    problem: str


class ReplayAnswer(TypedDict):
    """Where a turn is, and where it is after each of many steps.

    turns: the turn, and those after the steps.
    """

    turns: list[StepAnswer | TurnRecord | ImpossibleStep]


class StepValueRecord(TypedDict):
    """What a turn is worth, and what the step to it changed.

    value: the chance of the goal, or points.
    figure: the value in words.
    is_chance: whether it is a chance.
    change, luck, cost, error: what the step changed, what the dice and the choice did of that where
        that is known, and how large the error may be.
    is_costly: whether the choice cost something.
    is_rough: whether the error is not small.
    words: all that in words.
    sum: what dice and choices have done since the turn began, in words.
    """

    value: float
    figure: str
    is_chance: bool
    change: NotRequired[float]
    luck: NotRequired[float | None]
    cost: NotRequired[float | None]
    error: NotRequired[float]
    is_costly: NotRequired[bool]
    is_rough: NotRequired[bool]
    words: str
    sum: str


class ValuesAnswer(TypedDict):
    """What turns are worth.

    values: of each turn, `None` where it is not known.
    """

    values: list[StepValueRecord | None]


class AttackByDice(TypedDict):
    """An attack with a number of dice.

    dice: the number.
    loss: what it loses against the best attack.
    results: what the roll may cost the attackers and the defenders.
    """

    dice: int
    loss: float
    results: list[tuple[int, int]]


MoveRecord = TypedDict(
    "MoveRecord",
    {
        "from": int,
        "to": int,
        "name": str,
        "dice": int,
        "loss": float,
        "by_dice": list[AttackByDice],
        "words": str,
        "figure": str,
        "success": str | None,
    },
)
MoveRecord.__doc__ = """An attack with which a plan may begin.

from, to: the territories.
name: both names.
dice: the attack dice.
loss: what it loses against the best attack.
by_dice: the same for each number of dice.
words, figure: the loss, and what the goal is worth then.
success: what the goal is worth once the territory is taken, in words.
"""


class StopRecord(TypedDict):
    """What it loses to attack no more.

    loss: the loss.
    words: the loss in words.
    """

    loss: float
    words: str


class PlanTable(TypedDict):
    """A table.

    columns: its headings.
    rows: its cells.
    """

    columns: list[str]
    rows: list[list[str]]


class SectionRecord(TypedDict):
    """A part of the plan in words.

    title: its heading.
    parts: its sentences, tables and bars.
    """

    title: str
    parts: list[str | PlanTable | list[Any] | dict[str, Any]]


class AnalyseAnswer(TypedDict):
    """What a goal is worth in a turn.

    value, bound: the chance of the goal or points, and what no play can exceed; `None` where it is
        not known.
    low, high: the interval of the value.
    is_proven: whether a longer search finds nothing better.
    is_chance: whether the value is a chance.
    figure: the value in words.
    sentences: the answer in words.
    moves: the first attacks, the best first.
    stop: what it loses to attack no more.
    placement: where new armies are best placed: territories with numbers.
    sections: the plan in words.
    scene: the arrows and labels of the plan.
    chances: the chance to own each territory, where there is room to show them.
    advances: the numbers of armies that may move in, with what each is worth.
    best: the best of these numbers.
    command, python: what asks for the same plan in a terminal and in Python.
    """

    value: float | None
    bound: float | None
    low: float | None
    high: float | None
    is_proven: bool
    is_chance: NotRequired[bool]
    figure: str
    sentences: list[str]
    moves: list[MoveRecord]
    stop: NotRequired[StopRecord | None]
    placement: NotRequired[list[tuple[int, int]] | None]
    sections: NotRequired[list[SectionRecord]]
    scene: NotRequired[dict[str, Any] | None]
    chances: NotRequired[list[float] | None]
    advances: NotRequired[list[tuple[int, float]]]
    best: NotRequired[int]
    command: NotRequired[str | None]
    python: NotRequired[str | None]


MAP_ANSWERS: dict[str, Any] = {
    "/api/v1/board": DrawnBoard,
    "/api/v1/board/read": DrawnBoard,
    "/api/v1/position/read": DrawnPosition,
    "/api/v1/turn/step": StepAnswer,
    "/api/v1/turn/replay": ReplayAnswer,
    "/api/v1/turn/values": ValuesAnswer,
    "/api/v1/turn/analyse": AnalyseAnswer,
}
