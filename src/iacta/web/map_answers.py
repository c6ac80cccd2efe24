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
    name, short_name: the name of the board, and the name shortened for a map.
    code: the part of a position code that identifies the board.
    territories, short: the names of the territories, and the names shortened for a map.
    continents: the continents.
    scene: the shapes and labels of the map.
    """

    format: str
    remarks: list[FileRemark]
    board: SentBoard
    name: str
    short_name: str
    code: str
    territories: list[str]
    short: list[str]
    continents: list[DrawnContinent]
    scene: Scene


class Setup(TypedDict):
    """A turn that the page sets up. Players and territories are numbers.

    players: the names of all owners, in the order of play.
    neutral: the owners who have no turns.
    mover: the player to move.
    owners: the owner of each territory; -1 for nobody.
    armies: the number of armies on each territory.
    rules: the name of the rules, or house rules as JSON.
    keep: the larger garrisons by territory.
    stay: the territories that must not attack.
    fresh: the number of new armies.
    fields: further fields of a position file, by key.
    """

    players: list[str]
    neutral: list[int]
    mover: int
    owners: list[int]
    armies: list[int]
    rules: str
    keep: dict[int, int]
    stay: list[int]
    fresh: int
    fields: dict[str, str]


class ReadBoard(DrawnBoard):
    """A board and its map, and the turn of a text with a position.

    setup: the turn, if the text contains a position.
    """

    setup: NotRequired[Setup]


class PlayerLabel(TypedDict):
    """The look of a player.

    short: the name, shortened for a map.
    colour, digits: the colour of the player, and of digits on it.
    shape: the shape of the player's badges, as an SVG path.
    """

    short: str
    colour: str
    digits: str
    shape: str


class GoalChoice(TypedDict):
    """A goal to choose.

    text: the short text of the goal.
    words: the goal in words.
    player: the number of the player to eliminate.
    """

    text: str
    words: str
    player: NotRequired[int]


class GoalLabel(TypedDict):
    """A goal of the page.

    text: the short text of the goal.
    step: the choice of the goal as the text of a step in links.
    words: the goal in words.
    is_list: whether the goal lists territories.
    hold: whether conquests must also be held; `None` if this cannot be asked.
    parameters: the parameters of `plan`; `None` until territories are chosen.
    targets: the territories of the goal.
    """

    text: str
    step: str
    words: str
    is_list: bool
    hold: bool | None
    parameters: dict[str, Any] | None
    targets: list[int]


class Labels(TypedDict):
    """Labels of the board page.

    players: the label of each player.
    choices: the goals to choose from.
    goals: the goals in the request; `None` for a goal that does not fit the board.
    """

    players: list[PlayerLabel]
    choices: list[GoalChoice]
    goals: list[GoalLabel | None]


class Dealt(TypedDict):
    """Territories that are dealt at random.

    owners: the number of the owner of each territory.
    armies: the number of armies on each territory.
    """

    owners: list[int]
    armies: list[int]


class CapitalMark(TypedDict):
    """A capital.

    territory: the number of the territory.
    player: the name of its first owner.
    dice: the maximum number of dice that defend it.
    """

    territory: int
    player: str
    dice: int


class DealQuestion(TypedDict):
    """A question to a person before the first turn of a game.

    player: the number of the player who must answer.
    sentence: the question in words.
    territories: the territories to choose from.
    capitals: the capitals that others have chosen.
    """

    player: int
    sentence: str
    territories: list[int]
    capitals: list[CapitalMark]


class ChosenVictory(TypedDict):
    """The way to win of a position.

    fields: the fields of the setup.
    victory: the victory condition, in the form of the request.
    capitals: the capitals.
    missions: missions to choose from.
    """

    fields: dict[str, str]
    victory: dict[str, Any]
    capitals: list[CapitalMark]
    missions: list[str]


class NewGame(TypedDict):
    """A new game, or the territories dealt so far.

    setup: the first turn; with a question, the territories dealt so far.
    order: with a question, the territories dealt so far, in order.
    ask: the next question to a person; `None` after the deal.
    """

    setup: Setup
    order: list[int]
    ask: DealQuestion | None


class PositionFile(TypedDict):
    """A position file.

    text: the content of the file.
    """

    text: str


class PositionPicture(TypedDict):
    """A picture of a position.

    svg: the picture as SVG.
    """

    svg: str


class GamePicture(TypedDict):
    """The picture of a finished game.

    png: the picture as PNG in base64.
    """

    png: str


class LogFile(TypedDict):
    """A log for `iacta review`.

    log: the content of the log.
    """

    log: str


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


class HandCard(TypedDict):
    """A card in the hand of the player to move.

    key: the symbol and the pictured territory, such as "cavalry Peru".
    symbol: "infantry", "cavalry", "artillery", "joker", or "unknown".
    territory: the number of the pictured territory.
    """

    key: str
    symbol: str
    territory: int | None


class PossibleTrade(TypedDict):
    """A trade of a set of cards.

    keys: the sorted keys of the cards.
    words: the trade in words.
    step: the trade as a step.
    """

    keys: list[str]
    words: str
    step: dict[str, Any]


class WinProgress(TypedDict):
    """The progress of a player towards winning.

    player: the name of the player.
    part: the progress, from 0 to 1.
    words: the progress in words; empty if the last survivor wins.
    is_secret: whether the other players do not know it.
    targets: the territories that the player needs, as far as they are certain.
    """

    player: str
    part: float
    words: str
    is_secret: bool
    targets: list[int]


class BriefTurn(TypedDict):
    """The state of a turn that the page does not show.

    code: the code of the turn.
    phase: the phase of the turn.
    player: the player to move.
    owners: the owner of each territory.
    armies: the number of armies on each territory.
    new: the number of new armies to place.
    sentence: the phase in words.
    winner: the player who has won, `None` while the game goes on.
    is_brief: whether the odds, the legal moves and the hand are left out.
    seen: the code of the turn as the player to move sees it; empty if they see everything, and in a
        brief description of a turn that neither begins nor is over.
    advance: in the phase `advance`, the numbers of armies that may move in.
    """

    code: str
    phase: str
    player: str
    owners: list[str]
    armies: list[int]
    new: int
    sentence: str
    winner: str | None
    is_brief: bool
    seen: str
    advance: NotRequired[AdvanceSpan]


class TurnRecord(BriefTurn):
    """The state of a turn.

    usual: the number of new armies that the rules give.
    odds: the odds of each legal battle.
    condition: the victory condition and the progress of each player in words; empty if the last
        survivor wins.
    standings: each surviving player's new armies next turn and continents, in words.
    hands: the number of cards of each surviving player; empty in a game without cards.
    hand: the cards of the player to move.
    trades: in the phase `trade`, the legal trades.
    must_trade: whether the player must trade a set.
    sets: the armies for sets in words; empty in a game without cards.
    mission: the mission of the player to move and their progress; empty if it is no secret.
    public: `condition` without secret missions.
    count: the winner if the game ends now and the territories are counted, in words.
    progress: the progress of each surviving player towards winning.
    capitals: the capitals.
    fortify: in the phase `fortify`, the legal moves: from, to, and the most armies.
    """

    usual: int
    odds: list[BorderState]
    condition: str
    standings: dict[str, str]
    hands: dict[str, int]
    hand: list[HandCard]
    trades: list[PossibleTrade]
    must_trade: bool
    sets: str
    mission: str
    public: str
    count: str
    progress: list[WinProgress]
    capitals: list[CapitalMark]
    fortify: NotRequired[list[tuple[int, int, int]]]


class TakenStep(TypedDict):
    """A step of a turn.

    words: the step described in words.
    reason: a sentence about the reason of an attack that matters, such as a continent that it takes
        or breaks; empty for other steps.
    losses: the armies that the attacker and the defender lost; `None` for a step without a battle.
    luck: the luck of the dice in armies, described in words; empty for a step without dice or for a
        large battle; `None` for an advance or a new goal, which continue a battle.
    luck_armies: the same luck as a number; `None` where it is not known.
    step: the step as logs record it, with the result of the dice.
    text: the step as a short text, as links record it.
    faces: the attack dice and the defence dice of the last roll of a step `roll`, or of a battle
        in `turn/play`, the highest first; `None` if the battle has no single rolls.
    """

    words: str
    reason: str
    losses: tuple[int, int] | None
    luck: str | None
    luck_armies: float | None
    step: dict[str, Any]
    text: str
    faces: NotRequired[tuple[list[int], list[int]] | None]


class StepResult(TurnRecord, TakenStep):
    """The state of a turn after a step."""


class BriefStep(BriefTurn, TakenStep):
    """The state of a turn after a step that the page does not show."""


class ImpossibleStep(TypedDict):
    """A step that is not possible.

    problem: the reason in words.
    step: the step.
    """

    problem: str
    step: dict[str, Any]


class PlayAnswer(TypedDict):
    """The steps of an AI.

    turns: the state after each step, up to the next player's turn or the end of the game.
    """

    turns: list[StepResult]


class RoughCost(TypedDict):
    """A decision that may have given up a chance to win the game.

    step: the index of the step among the texts of the request.
    cost: a rough estimate of the chance that it gave up, without an interval.
    """

    step: int
    cost: float


class JudgedTurn(TypedDict):
    """The rough costs of the decisions in a turn, or the chances to win at its start.

    wins: for a request without texts, each player's chance to win if the usual AI plays every seat;
        `None` if the time was too short, and for other requests.
    costs: the decisions with a rough cost of at least two points.
    missed: the number of decisions that could not be judged.
    done: the number of steps that have been judged.
    """

    wins: dict[str, float] | None
    costs: list[RoughCost]
    missed: int
    done: int


class CostlyDecision(TypedDict):
    """A decision that clearly gave up a chance to win the game.

    cost: the chance that it gave up, if the usual AI plays every seat afterwards.
    figure: the cost in points.
    words: the better decision and this decision in words.
    better: the better decision as a step.
    """

    cost: float
    figure: str
    words: str
    better: dict[str, Any]


class MeasuredDecision(TypedDict):
    """The measured cost of a decision.

    moment: the decision; `None` if it is not clearly worse than the decision of the usual AI.
    missed: whether the decision could not be judged.
    """

    moment: CostlyDecision | None
    missed: bool


class ReplayAnswer(TypedDict):
    """The states of a turn before and after each of many steps.

    turns: the first state, followed by the state after each step.
    problem: the reason why a setup is not a turn; then there are no turns.
    """

    turns: list[StepResult | TurnRecord | BriefStep | BriefTurn | ImpossibleStep]
    problem: NotRequired[str]


MAP_ANSWERS: dict[str, Any] = {
    "/api/v1/board": DrawnBoard,
    "/api/v1/board/read": ReadBoard,
    "/api/v1/board/labels": Labels,
    "/api/v1/board/deal": Dealt,
    "/api/v1/game/deal": NewGame,
    "/api/v1/position/victory": ChosenVictory,
    "/api/v1/position/write": PositionFile,
    "/api/v1/position/draw": PositionPicture,
    "/api/v1/turn/step": StepResult,
    "/api/v1/turn/play": PlayAnswer,
    "/api/v1/turn/replay": ReplayAnswer,
    "/api/v1/turn/judge": JudgedTurn,
    "/api/v1/decision/judge": MeasuredDecision,
    "/api/v1/turn/log": LogFile,
    "/api/v1/game/draw": GamePicture,
}
