"""The types of responses to the board page, from which the OpenAPI schema is generated.

Territories are numbers in the order of the board.
"""

from typing import Any, NotRequired, TypeAlias

from typing_extensions import TypedDict  # pydantic does not support Python 3.11's version

from iacta.board.scene import Scene

SentBoard: TypeAlias = dict[str, Any] | str  # a board, or `"classic"` for the classic board


class FileRemark(TypedDict):
    """A remark about a file.

    line: the line number, or `None` if the remark is about the whole file.
    text: the remark in words.
    """

    line: int | None
    text: str


class DrawnContinent(TypedDict):
    """A continent of the board.

    name: the name.
    bonus: the new armies per turn for its owner.
    territories: the numbers of its territories.
    """

    name: str
    bonus: int
    territories: list[int]


class DrawnBoard(TypedDict):
    """A board and its map.

    format: the file format.
    remarks: remarks about the file.
    board: the board in the form that later requests must use.
    name: the name of the board.
    code: the part of a position code that identifies the board.
    territories: the names of the territories.
    continents: the continents.
    scene: the shapes and labels of the map.
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
    """The owner and the armies of a territory.

    owner: the name of the player.
    armies: the number of armies.
    """

    owner: str
    armies: int


class SentPosition(TypedDict):
    """A position.

    player: the player to move.
    territories: the owned territories, by name.
    """

    player: str
    territories: dict[str, SentHolding]


class DrawnPosition(DrawnBoard):
    """A position and its board.

    position: the position.
    rules: the name of the rules, if the code of a turn was read.
    keep: the larger garrisons by territory, if the code of a turn was read.
    stay: the territories that must not attack, if the code of a turn was read.
    fresh: the number of new armies, if the code of a turn was read.
    victory: the victory condition as in a code; empty if the last survivor wins.
    """

    position: SentPosition
    rules: NotRequired[str]
    keep: NotRequired[dict[int, int]]
    stay: NotRequired[list[int]]
    fresh: NotRequired[int]
    victory: NotRequired[str]


BorderState = TypedDict(
    "BorderState",
    {
        "from": int,
        "to": int,
        "chance": float,
        "words": str,
        "dice": int,
        "rolls": list[tuple[int, int, str, str]],
    },
)
BorderState.__doc__ = """The odds of a battle over a border.

from, to: the attacking and the defended territory.
chance: the chance to take the defended territory.
words: the chance in words.
dice: the number of attack dice in the next roll.
rolls: the results of the next roll: both sides' losses, the losses in words, and the losses with
    the chance in words.
"""

AdvanceSpan = TypedDict("AdvanceSpan", {"from": int, "to": int, "least": int, "most": int})
AdvanceSpan.__doc__ = """The numbers of armies that may move into a taken territory.

from, to: the territory that attacked, and the taken territory.
least, most: the smallest and the largest number.
"""


class TurnRecord(TypedDict):
    """The state of a turn.

    code: the code of the turn.
    phase: the phase of the turn.
    player: the player to move.
    owners: the owner of each territory.
    armies: the number of armies on each territory.
    new: the number of new armies to place.
    usual: the number of new armies that the rules give.
    odds: the odds of each legal battle.
    sentence: the phase in words.
    condition: the victory condition and the progress of each player in words; empty if the last
        survivor wins.
    winner: the player who has won, `None` while the game goes on.
    advance: in the phase `advance`, the numbers of armies that may move in.
    fortify: in the phase `fortify`, the legal moves: from, to, and the most armies.
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
    condition: str
    winner: str | None
    advance: NotRequired[AdvanceSpan]
    fortify: NotRequired[list[tuple[int, int, int]]]


class StepAnswer(TurnRecord):
    """The state of a turn after one step of a tree.

    words: the step described in words.
    luck: the luck of the dice in armies, described in words; empty for a step without dice or for a
        large battle.
    """

    words: str
    luck: str


class StepResult(StepAnswer):
    """The state of a turn after a step.

    step: the step as links record it, with the result of the dice.
    """

    step: dict[str, Any]


class ImpossibleStep(TypedDict):
    """A step that is not possible.

    problem: the reason in words.
    """

    problem: str


class ReplayAnswer(TypedDict):
    """The states of a turn before and after each of many steps.

    turns: the first state, followed by the state after each step.
    """

    turns: list[StepAnswer | TurnRecord | ImpossibleStep]


MAP_ANSWERS: dict[str, Any] = {
    "/api/v1/board": DrawnBoard,
    "/api/v1/board/read": DrawnBoard,
    "/api/v1/position/read": DrawnPosition,
    "/api/v1/turn/step": StepResult,
    "/api/v1/turn/replay": ReplayAnswer,
}
