"""The parameters of questions about a moment: a position, or a turn in any phase."""

from dataclasses import replace
from functools import cached_property
from typing import ClassVar, overload

from iacta.board.board import Board
from iacta.board.files import read_board
from iacta.board.position import Position
from iacta.forms.form import Example, Form, parameter
from iacta.forms.parameter_kinds import FileName, Flag, Name, Pairs, Source
from iacta.game import Missions, Turn
from iacta.game.mission_cards import read_mission_cards
from iacta.game.moment import read_moment
from iacta.game.victory import SURVIVAL, Capitals, Victory, make_victory
from iacta.inputs.errors import IactaError
from iacta.rules.variants import MODIFIERS

CAPITAL = next(each for each in MODIFIERS if each.name == "capital")


@overload
def resolve_board(board: str | Board) -> Board: ...
@overload
def resolve_board(board: str | Board | None) -> Board | None: ...
def resolve_board(board: str | Board | None) -> Board | None:
    """Return a board, after reading it if the argument is a file name."""
    return read_board(board) if isinstance(board, str) else board


class VictoryForm(Form, kw_only=True):
    """State how the game is won, besides being the last player who owns a territory."""

    examples = (
        Example("win game.toml --win-by share=70%", "who wins by a share of the map?"),
        Example(
            "goals game.toml --win-by capitals --capital red=Brazil,blue=Ural",
            "can I take all capitals this turn?",
        ),
        Example(
            "plan game.toml --win-by missions --mission red='Asia, Africa' --mission blue=hidden "
            "--win",
            "how do I fulfil my mission this turn?",
        ),
    )

    win_by: str | None = parameter(
        Name(),
        "How the game is won: survivor, share=70%, capitals or missions.",
        metavar="CONDITION",
        usual="as the position says",
        page="win_by",
        default=None,
    )
    capital: tuple[tuple[str, str], ...] | None = parameter(
        Pairs(Name(), "red=Brazil,blue=Ural"),
        "With --win-by capitals, the capital of each player: red=Brazil,blue=Ural.",
        metavar="PLAYERS",
        needs="win_by",
        page="win_by",
        default=None,
    )
    capital_dice: bool = parameter(
        Flag(),
        "Capitals defend with one more die, as in the official app.",
        needs="capital",
        page="win_by",
        default=False,
    )
    mission: tuple[tuple[str, str], ...] | None = parameter(
        Pairs(Name(), "red=Asia, Africa;blue=eliminate red", ";"),
        "With --win-by missions, the mission of a player: red='Asia, Africa' or red=hidden. Repeat "
        "the option for each player.",
        metavar="MISSIONS",
        needs="win_by",
        excludes="capital",
        page="win_by",
        default=None,
    )
    mission_cards: str | None = parameter(
        FileName(),
        "The cards from which hidden missions are dealt: a TOML file, or a .cards file of the "
        "program Domination.",
        usual="the cards of the 1993 edition",
        needs="mission",
        page="win_by",
        default=None,
    )

    @cached_property
    def victory(self) -> Victory | None:
        """The victory condition; `None` for the condition of the moment."""
        if self.win_by is None:
            return None
        word, _, value = self.win_by.partition("=")
        try:
            return make_victory(
                {word.strip(): value.strip(), **dict(self.capital or self.mission or ())}
            )
        except IactaError as error:
            name = error.parameter or "win"
            sentence = str(error).replace(name, f"win_by {name}" if name != "win" else "win_by", 1)
            raise type(error)(sentence, parameter="win_by") from None

    def set_victory(self, turn: Turn) -> Turn:
        """Return a turn with the victory condition of the question."""
        if self.victory is None:
            return turn
        victory = self.victory
        if self.mission_cards is not None and isinstance(victory, Missions):
            cards = read_mission_cards(self.mission_cards, turn.board, turn.players)
            victory = replace(victory, cards=cards)
        found = turn.with_options(victory=victory)
        if not (self.capital_dice and isinstance(found.victory, Capitals)):
            return found
        own = dict.fromkeys(found.victory.capitals.values(), CAPITAL.apply(turn.rules))
        return found.with_options(rules_of={**turn.rules_of, **own})


class MomentForm(VictoryForm, kw_only=True):
    """A question about a moment: a position, or a turn in any phase."""

    one_of: ClassVar[tuple[str, ...]] = ("position or code",)

    position: str | Position | Turn | None = parameter(
        Source(Turn, read_moment, reads=(Position,)),
        "A saved position or turn: a file, or a code from the board.",
        is_argument=True,
        metavar="FILE",
        default=None,
    )
    code: str | None = parameter(
        Name(),
        "A position or turn as a code, copied from the board.",
        metavar="TEXT",
        default=None,
    )
    board: str | Board | None = parameter(
        Source(Board, read_board, ("classic",)),
        "The board (map) that the code belongs to.",
        metavar="FILE",
        usual="classic",
        default=None,
    )

    @cached_property
    def turn(self) -> Turn:
        board = resolve_board(self.board)
        try:
            if self.code is not None:
                turn = Turn.from_code(self.code, board)
            else:
                turn = read_moment(self.position or "", board)
        except IactaError as error:  # the error may name a part of the moment, such as its player
            error.parameter = "position" if self.code is None else "code"
            raise
        return self.set_victory(turn)


def list_condition(turn: Turn) -> list[str]:
    """Return the victory condition and the progress of each player, as sentences."""
    if turn.victory == SURVIVAL:
        return []
    found = ((name, turn.victory.describe_progress(turn, name)) for name in turn.survivors)
    progress = "; ".join(f"{name}: {words}" for name, words in found if words)
    winner = turn.winner
    return [
        turn.victory.describe(turn),
        *([f"So far: {progress}."] if progress else []),
        *([f"{winner[:1].upper()}{winner[1:]} has won."] if winner else []),
    ]
