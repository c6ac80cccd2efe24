"""The classic board: 42 territories, 83 borders and 6 continents, with a world map to draw.

The territories, borders and bonuses are those of the board game, in the editions in which East
Africa borders on the Middle East. The outlines are drawn by hand for iacta, from rough
longitudes and latitudes on Miller's cylindrical projection; neighbours on land share the points of
their border, so that the shapes neither overlap nor gape.
"""

from functools import cache
from importlib.resources import files

from iacta.board.board import Board
from iacta.board.formats import plain
from iacta.board.formats.draft import assemble
from iacta.board.formats.tables import read_json

__all__ = ["classic_board"]


@cache
def classic_board() -> Board:
    """Return the classic board of the game, with places and outlines that draw a map of the world.

    It is 1000 units wide and 487 high.

    >>> board = classic_board()
    >>> len(board.territories), len(board.borders) // 2, len(board.continents)
    (42, 83, 6)
    >>> board.neighbours("Iceland")
    ('Greenland', 'Scandinavia', 'Great Britain')
    """
    text = files("iacta.board").joinpath("classic.json").read_text(encoding="utf-8")
    return assemble(plain.read(read_json(text), "classic")).board
