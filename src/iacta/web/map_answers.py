"""The types of the answers at the addresses of the map; the schema of the API is made from them.

Territories are numbers, in the order of the board.
"""

from typing import Any, NotRequired, TypeAlias

from typing_extensions import TypedDict  # pydantic reads only this one in Python 3.11

from iacta.charts.scene import Scene

SentBoard: TypeAlias = dict[str, Any] | str  # `"classic"` for the classic board


class MapRemark(TypedDict):
    """A remark on a file.

    line: the number of the line, `None` for the whole file.
    text: the remark.
    """

    line: int | None
    text: str


class MapContinent(TypedDict):
    """A continent.

    name: its name.
    bonus: the new armies for its owner.
    territories: the numbers of the territories.
    """

    name: str
    bonus: int
    territories: list[int]


class MapBoard(TypedDict):
    """A board with the shapes of its map.

    format: the file format.
    remarks: remarks on the file.
    board: the board, to be sent with questions.
    name: the name of the board.
    code: the part of a code that names the board.
    territories: the names of the territories.
    continents: the continents.
    scene: the shapes of the map.
    """

    format: str
    remarks: list[MapRemark]
    board: SentBoard
    name: str
    code: str
    territories: list[str]
    continents: list[MapContinent]
    scene: Scene


class MapHolding(TypedDict):
    """The owner and the armies of a territory.

    owner: the player.
    armies: the number of armies.
    """

    owner: str
    armies: int


class MapHoldings(TypedDict):
    """A position.

    player: the player to move.
    territories: the owned territories, by name.
    """

    player: str
    territories: dict[str, MapHolding]


class MapPosition(MapBoard):
    """A position with its board.

    position: the position.
    rules: the name of the rules, for the code of a turn.
    keep: the garrisons by territory, for the code of a turn.
    stay: the territories whose armies all stay, for the code of a turn.
    fresh: the number of new armies, for the code of a turn.
    """

    position: MapHoldings
    rules: NotRequired[str]
    keep: NotRequired[dict[int, int]]
    stay: NotRequired[list[int]]
    fresh: NotRequired[int]


BorderRecord = TypedDict(
    "BorderRecord",
    {
        "from": int,
        "to": int,
        "chance": float,
        "words": str,
        "dice": int,
        "rolls": list[tuple[int, int, float, str]],
    },
)
BorderRecord.__doc__ = """The odds of a battle over a border.

from, to: the attacking and the defended territory.
chance: the chance to take the defended territory.
words: the chance in words.
dice: the number of attack dice in the next roll.
rolls: the results of the next roll: both sides' losses, the chance, and the result in words.
"""

AdvanceSpan = TypedDict("AdvanceSpan", {"from": int, "to": int, "least": int, "most": int})
AdvanceSpan.__doc__ = """The numbers of armies that may move into a taken territory.

from, to: the territory that attacked, and the taken one.
least, most: the smallest and the largest number.
"""


class TurnAnswer(TypedDict):
    """The state of a turn.

    code: the code of the turn.
    phase: the phase of the turn.
    player: the player to move.
    owners: the owner of each territory.
    armies: the number of armies on each territory.
    new: the number of new armies to place.
    usual: the number of new armies by the rules.
    odds: the odds of each legal battle.
    sentence: the phase in words.
    advance: the numbers of armies that may move in, in the phase `advance`.
    fortify: the legal last moves: start, end, and the most armies, in the phase `fortify`.
    """

    code: str
    phase: str
    player: str
    owners: list[str]
    armies: list[int]
    new: int
    usual: int
    odds: list[BorderRecord]
    sentence: str
    advance: NotRequired[AdvanceSpan]
    fortify: NotRequired[list[tuple[int, int, int]]]


class StepAnswer(TurnAnswer):
    """The state of a turn after a step.

    words: the step in words.
    """

    words: str


class ImpossibleStep(TypedDict):
    """A step that is not possible.

    problem: the reason.
    """

    problem: str


class ReplayAnswer(TypedDict):
    """The states of a turn before and after each of many steps.

    turns: the first state, then the state after each step.
    """

    turns: list[StepAnswer | TurnAnswer | ImpossibleStep]


class StepValueRecord(TypedDict):
    """The value of a turn, and the effect of the step before.

    value: the chance of the goal, or points.
    figure: the value in words.
    is_chance: whether the value is a chance.
    change: the value minus the value before the step.
    luck: the part of the change due to the dice, `None` if unknown.
    cost: the loss of the choice against the best one, `None` if unknown.
    error: the half width of the interval of `change`.
    is_costly: whether the cost is significant.
    is_rough: whether the error is large.
    words: the value, the luck and the cost in words.
    sum: the luck and the cost of the whole turn in words.
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
    """The values of the turns of a tree.

    values: the value of each turn, `None` if unknown.
    """

    values: list[StepValueRecord | None]


class AttackByDice(TypedDict):
    """An attack with a number of dice.

    dice: the number of dice.
    loss: the loss of value against the best attack.
    results: the possible losses of the attackers and the defenders.
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
MoveRecord.__doc__ = """A first attack of a plan.

from, to: the attacking and the defended territory.
name: the names of both territories.
dice: the number of attack dice.
loss: the loss of value against the best attack.
by_dice: the attack with each number of dice.
words: the loss in words.
figure: the value of the attack in words.
success: the value after a conquest in words.
"""


class StopRecord(TypedDict):
    """The decision to attack no more.

    loss: the loss of value against the best attack.
    words: the loss in words.
    """

    loss: float
    words: str


class PlanTable(TypedDict):
    """A table.

    columns: the headings.
    rows: the cells.
    """

    columns: list[str]
    rows: list[list[str]]


class SectionRecord(TypedDict):
    """A part of the plan in words.

    title: the heading.
    parts: the sentences, tables and bars.
    """

    title: str
    parts: list[str | PlanTable | list[Any] | dict[str, Any]]


class AnalyseAnswer(TypedDict):
    """The value of a goal in a turn, with the plan for it.

    value: the chance of the goal, or points; `None` if unknown.
    bound: the upper bound of the value.
    low, high: the interval of the value.
    is_proven: whether the value is final.
    is_chance: whether the value is a chance.
    figure: the value in words.
    sentences: the answer in words.
    moves: the first attacks, the best first.
    stop: the decision to attack no more.
    placement: the best placement of new armies: pairs of a territory and a number.
    sections: the plan in words.
    scene: the arrows and labels of the plan.
    chances: the chance to own each territory, `None` if the map has no room.
    advances: pairs of a number of armies that may move in and its value.
    best: the best number of armies to move in.
    command: the shell command for the same plan.
    python: the Python call for the same plan.
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
    "/api/v1/board": MapBoard,
    "/api/v1/board/read": MapBoard,
    "/api/v1/position/read": MapPosition,
    "/api/v1/turn/step": StepAnswer,
    "/api/v1/turn/replay": ReplayAnswer,
    "/api/v1/turn/values": ValuesAnswer,
    "/api/v1/turn/analyse": AnalyseAnswer,
}
