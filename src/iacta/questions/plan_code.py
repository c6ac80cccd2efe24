"""What the code of a turn asks of a plan: a position, with the rules and constraints of a turn."""

from typing import Any

from iacta.board.board import Board
from iacta.board.codes import read_code
from iacta.board.files import read_board
from iacta.board.position import Position
from iacta.game import Sets, Turn
from iacta.inputs.errors import IllegalError
from iacta.plan.problem import PLAYS
from iacta.rules.rules import CLASSIC
from iacta.rules.variants import rules_name

BEGINS = ("place", "attack")  # the phases in which a plan may begin


def parameters_of_code(
    text: str, board: str | Board | None, victim: str | None, *, is_held: bool
) -> dict[str, Any]:
    """Return what a code says, by the names of the parameters of a plan.

    text: the code of a position or a turn.
    board: the board, or its file, where it is not the classic one.
    victim: the player to be eliminated, whose cards count with those of the player.
    is_held: whether the plan is to hold what it takes, so that fortifying counts.

    Cards count where a player is eliminated and no new armies are to be placed.

    >>> code = "1;classic;red;Peru:red:3,Brazil:blue:2;attack;keep=Peru:2"
    >>> given = parameters_of_code(code, None, None, is_held=False)
    >>> given["position"].of("Peru"), given["keep"]
    (Holding(owner='red', armies=3), (('Peru', 2),))
    """
    known = read_board(board) if isinstance(board, str) else board
    if not read_code(text, known).rest:
        return {"position": Position.from_code(text, known)}
    turn = Turn.from_code(text, known)
    if turn.phase not in BEGINS or turn.first:
        raise IllegalError(
            "position must be the code of a turn that is about to place its armies or to attack, "
            f"got one in the phase {turn.phase!r}",
            parameter="position",
        )
    given: dict[str, Any] = {
        "position": turn.position,
        "rules": None if turn.rules == CLASSIC else turn.rules,
        "keep": tuple(turn.keep.items()),
        "rules_of": tuple((name, rules_name(own)) for name, own in turn.rules_of.items()),
        "stay": ", ".join(turn.stay),
        "reinforce": turn.place,
        "play": PLAYS[1] if turn.whole_battles else None,
        "fortify": turn.fortify if is_held else None,
    }
    if victim is not None and turn.cards and not turn.place:
        owner = turn.position.of(turn.position.owned_by(victim)[0]).owner
        held = {name: turn.cards[name].number for name in turn.cards}
        given["cards"] = tuple(hand for hand in held.items() if hand[0] in (owner, turn.player))
        given["trade"] = turn.trade if given["cards"] and turn.trade != Sets() else None
    return {name: value for name, value in given.items() if value}
