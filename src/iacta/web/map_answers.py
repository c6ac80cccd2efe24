"""What the addresses of the map answer, as the schema of the API describes it.

Territories are numbers, in the order of the board.
"""

from typing import Any, NotRequired, TypeAlias

from typing_extensions import TypedDict  # which pydantic can read in Python 3.11

from iacta.board.scene import Scene

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


MAP_ANSWERS: dict[str, Any] = {
    "/api/v1/board": DrawnBoard,
    "/api/v1/board/read": DrawnBoard,
    "/api/v1/position/read": DrawnPosition,
    "/api/v1/turn/step": StepAnswer,
    "/api/v1/turn/replay": ReplayAnswer,
}
