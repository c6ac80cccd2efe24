"""Where a question begins that is about a moment of a turn."""

from functools import cached_property
from typing import ClassVar

from iacta.board.board import Board
from iacta.board.files import read_board
from iacta.board.position import Position, code_in, read_position
from iacta.forms.form import ClashError, Form, parameter
from iacta.forms.parameter_kinds import Name
from iacta.game import Turn
from iacta.questions.plan_parameter_kinds import Source


class FromMoment(Form, kw_only=True):
    """A question that begins at a position, or at any moment of a turn."""

    one_of: ClassVar = ("position or code",)

    position: str | Position | None = parameter(
        Source(Position, read_position),
        "The position, or the turn: a JSON or TOML file, a code, or - for stdin.",
        is_argument=True,
        metavar="FILE",
        default=None,
    )
    code: str | None = parameter(
        Name(),
        "The code of a turn or a position, such as the one that the board shows.",
        metavar="TEXT",
        default=None,
    )
    board: str | Board | None = parameter(
        Source(Board, read_board, ("classic",)),
        "The board of a code, a file.",
        metavar="FILE",
        usual="classic",
        default=None,
    )

    @cached_property
    def turn(self) -> Turn:
        board = read_board(self.board) if isinstance(self.board, str) else self.board
        if self.code is not None:
            return Turn.from_code(self.code, board)
        if (code := code_in(self.position)) is not None:
            return Turn.from_code(code, board)
        if board is not None:
            raise ClashError("{board} is that of a code, and {position} has its own")
        source = self.position
        return Turn(source if isinstance(source, Position) else read_position(source or ""))
