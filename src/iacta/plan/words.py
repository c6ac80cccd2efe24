"""The words of plans: what a goal is called in a sentence."""

from iacta.board import Board, Position
from iacta.plan import Goal, TakeAny, Worth

__all__ = ["deed", "goal_words"]

MOST_NAMED = 4


def deed(position: Position, goal: Goal) -> str:
    """Return what a player does who reaches a goal, as a verb with its object.

    position: who holds what.
    goal: the goal, with the names of the board.

    >>> from iacta.board.files import classic_board
    >>> from iacta.board import Holding
    >>> from iacta.plan import TakeAll
    >>> holdings = [Holding("blue", 2)] * 41
    >>> start = Position(classic_board(), "red", (*holdings, Holding("red", 9)))
    >>> deed(start, TakeAll(["Venezuela", "Peru", "Brazil", "Argentina"]))
    'take South America'
    >>> deed(start, TakeAny(["Peru", "Brazil"]))
    'take Peru or Brazil'
    """
    if isinstance(goal, Worth):
        return "gain the greatest expected worth"
    names = _names(goal.territories, position.board)
    if isinstance(goal, TakeAny):
        return f"take {_listed(position.board, names, 'or', 'one of')}"
    for owner in dict.fromkeys(each.owner for each in position.holdings):
        theirs = set(position.owned_by(owner)) if owner not in ("", position.player) else set()
        if theirs == set(names) and _continent(position.board, names) is None:
            return f"eliminate {owner}"
    return f"take {_listed(position.board, names, 'and', 'all of')}"


def goal_words(goal: Goal) -> str:
    """Return which kind of goal it is, in one word or two.

    goal: the goal.

    >>> goal_words(TakeAny("Peru"))
    'take any'
    """
    if isinstance(goal, Worth):
        return "worth"
    return "take any" if isinstance(goal, TakeAny) else "take all"


def _names(territories: tuple[str, ...] | str, board: Board) -> tuple[str, ...]:
    return board.find_set(territories) if isinstance(territories, str) else territories


def _continent(board: Board, names: tuple[str, ...]) -> str | None:
    for each in board.continents:
        if set(each.territories) == set(names) and len(names) > 1:
            return each.name
    return None


def _listed(board: Board, names: tuple[str, ...], last: str, several: str) -> str:
    continent = _continent(board, names)
    if continent is not None:
        return continent if last == "and" else f"a territory of {continent}"
    if len(names) == 1:
        return names[0]
    if len(names) <= MOST_NAMED:
        return f"{', '.join(names[:-1])} {last} {names[-1]}"
    return f"{several} {len(names)} territories"
