"""The built-in boards: the classic board, and the boards of national editions.

The classic board has the territories, borders and bonuses of the board game, in the editions in
which East Africa borders on the Middle East. The outlines were drawn by hand for iacta, from
approximate longitudes and latitudes in Miller's cylindrical projection. Neighbours on land share
the points of their border. Therefore the outlines neither overlap nor leave gaps.
"""

import copyreg
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from iacta.board.board import Board, fold_name
from iacta.board.formats import own
from iacta.board.formats.draft import assemble
from iacta.board.formats.reading import read_json
from iacta.inputs.files import read_package_file


@cache
def _read_built_in(name: str) -> Board:
    text = read_package_file("iacta.board", f"{name}.json")
    return assemble(own.read_board_table(read_json(text), name)).board


def classic_board() -> Board:
    """Return the classic board of the game, with places and outlines on a map of the world.

    The map is 1000 units wide and 487 high.

    >>> board = classic_board()
    >>> len(board.territories), len(board.borders) // 2, len(board.continents)
    (42, 83, 6)
    >>> board.neighbours("Iceland")
    ('Greenland', 'Scandinavia', 'Great Britain')
    """
    return _read_built_in("classic")


def teg_board() -> Board:
    """Return the board of TEG, the Argentine game, with places on a map of the world.

    Three programs that play TEG agree on its 50 territories, 89 borders and 6 continents.

    >>> board = teg_board()
    >>> len(board.territories), len(board.borders) // 2, len(board.continents)
    (50, 89, 6)
    >>> board.neighbours("Chile")
    ('Peru', 'Argentina', 'Australia')
    """
    return _read_built_in("teg")


def war_board() -> Board:
    """Return the board of War, the Brazilian game, with places on a map of the world.

    Two programs that play War agree on its 79 borders; three others each leave out one or two.

    >>> board = war_board()
    >>> len(board.territories), len(board.borders) // 2, len(board.continents)
    (42, 79, 6)
    >>> board.neighbours("Sumatra")
    ('India', 'Australia')
    """
    return _read_built_in("war")


# On RisiKo!'s map a corridor of China leads between Afghanistan and India to the Middle East.
# Its northern edge goes from east to west, its southern edge from west to east.
NORTHERN_EDGE = ((714.3, 225.8), (705.7, 233.0), (694.8, 244.0), (681.6, 247.0))
SOUTHERN_EDGE = ((682.8, 262.0), (703.0, 256.0), (714.0, 250.0), (725.2, 247.4))
# For each territory: the first and the last point of the part of its classic outline that changes,
# and the new points of this part.
RISIKO_OUTLINES = {
    "Afghanistan": ((714.3, 225.8), (682.4, 253.7), NORTHERN_EDGE),
    "India": ((682.4, 253.7), (725.2, 247.4), SOUTHERN_EDGE),
    "China": ((725.2, 247.4), (714.3, 225.8), (*reversed(SOUTHERN_EDGE), *reversed(NORTHERN_EDGE))),
    "Middle East": ((682.4, 253.7), (682.4, 253.7), (NORTHERN_EDGE[-1], SOUTHERN_EDGE[0])),
}


@cache
def risiko_board() -> Board:
    """Return the board of RisiKo!, the Italian game: the classic board with other borders in Asia.

    Two programs that play RisiKo! agree on its borders.

    >>> board = risiko_board()
    >>> len(board.territories), len(board.borders) // 2, len(board.continents)
    (42, 82, 6)
    >>> board.neighbours("India")
    ('China', 'Middle East', 'Siam')
    """
    classic = classic_board()
    removed = {frozenset(("Afghanistan", "India")), frozenset(("East Africa", "Middle East"))}
    added = (("China", "Middle East"), ("Middle East", "China"))
    borders = [border for border in classic.borders if frozenset(border) not in removed]
    outlines = [*classic.outlines]
    for name, (first, last, points) in RISIKO_OUTLINES.items():
        t = classic.territories.index(name)
        land, *islands = outlines[t]
        start, end = land.index(first), land.index(last) + 1
        outlines[t] = ((*land[:start], *points, *land[end:]), *islands)
    return replace(classic, name="risiko", borders=(*borders, *added), outlines=(*outlines,))


BUILT_IN_BOARDS: Mapping[str, Callable[[], Board]] = {
    "classic": classic_board,
    "teg": teg_board,
    "war": war_board,
    "risiko": risiko_board,
}


def find_built_in(name: str) -> Board | None:
    """Return the built-in board with a name, or `None`."""
    found = BUILT_IN_BOARDS.get(fold_name(name))
    return None if found is None else found()


def _reduce_board(board: Board) -> str | tuple[Any, ...]:
    """Return the instructions of `pickle` for a board: the classic board is pickled by name."""
    if board.name == classic_board().name and board == classic_board():
        return classic_board, ()
    return board.__reduce_ex__(2)


copyreg.pickle(Board, _reduce_board)
