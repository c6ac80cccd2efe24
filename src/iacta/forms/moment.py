"""The parameters that give a question its moment: a position, or a turn in any phase."""

from functools import cached_property
from typing import ClassVar, overload

from iacta.board.board import Board
from iacta.board.files import read_board
from iacta.board.position import Position
from iacta.forms.form import Form, parameter
from iacta.forms.parameter_kinds import Name, Source
from iacta.game import Turn
from iacta.game.moment import read_moment
from iacta.inputs.errors import IactaError


@overload
def resolve_board(board: str | Board) -> Board: ...
@overload
def resolve_board(board: str | Board | None) -> Board | None: ...
def resolve_board(board: str | Board | None) -> Board | None:
    """Return a board; read it from its file if a file name is given."""
    return read_board(board) if isinstance(board, str) else board


class MomentForm(Form, kw_only=True):
    """A question about a moment of a turn."""

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
                return Turn.from_code(self.code, board)
            return read_moment(self.position or "", board)
        except IactaError as error:  # the error may name a part of the moment, such as its player
            error.parameter = "position" if self.code is None else "code"
            raise
