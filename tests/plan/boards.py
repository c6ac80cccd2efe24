"""Boards for the tests of plans: the classic one, entered by hand, and random small ones."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from iacta.board import Board, Continent, Holding, Position

CLASSIC_TEXT = """
North America 5
Alaska: Northwest Territory, Alberta, Kamchatka
Northwest Territory: Alberta, Ontario, Greenland
Greenland: Ontario, Quebec, Iceland
Alberta: Ontario, Western United States
Ontario: Quebec, Western United States, Eastern United States
Quebec: Eastern United States
Western United States: Eastern United States, Central America
Eastern United States: Central America
Central America: Venezuela
South America 2
Venezuela: Peru, Brazil
Peru: Brazil, Argentina
Brazil: Argentina, North Africa
Argentina:
Europe 5
Iceland: Great Britain, Scandinavia
Great Britain: Scandinavia, Northern Europe, Western Europe
Scandinavia: Northern Europe, Ukraine
Northern Europe: Western Europe, Southern Europe, Ukraine
Western Europe: Southern Europe, North Africa
Southern Europe: Ukraine, North Africa, Egypt, Middle East
Ukraine: Ural, Afghanistan, Middle East
Africa 3
North Africa: Egypt, East Africa, Congo
Egypt: East Africa, Middle East
East Africa: Congo, South Africa, Madagascar, Middle East
Congo: South Africa
South Africa: Madagascar
Madagascar:
Asia 7
Ural: Siberia, China, Afghanistan
Siberia: Yakutsk, Irkutsk, Mongolia, China
Yakutsk: Kamchatka, Irkutsk
Kamchatka: Irkutsk, Mongolia, Japan
Irkutsk: Mongolia
Mongolia: Japan, China
Japan:
Afghanistan: China, India, Middle East
China: India, Siam
Middle East: India
India: Siam
Siam: Indonesia
Australia 2
Indonesia: New Guinea, Western Australia
New Guinea: Western Australia, Eastern Australia
Western Australia: Eastern Australia
Eastern Australia:
"""


def board_of(name: str, pairs: Iterable[tuple[str, str]], names: Iterable[str]) -> Board:
    """Return the board of some undirected borders."""
    order = {territory: place for place, territory in enumerate(names)}
    both = {pair for a, b in pairs for pair in ((a, b), (b, a))}
    borders = sorted(both, key=lambda pair: (order[pair[0]], order[pair[1]]))
    return Board(name, tuple(order), tuple(borders))


def _classic() -> Board:
    continents: list[Continent] = []
    names: list[str] = []
    pairs = []
    for line in CLASSIC_TEXT.strip().splitlines():
        if ":" not in line:
            title, bonus = line.rsplit(" ", 1)
            continents.append(Continent(title, int(bonus), ()))
            continue
        start, others = line.split(":")
        names.append(start)
        last = continents[-1]
        continents[-1] = Continent(last.name, last.bonus, (*last.territories, start))
        pairs += [(start, other.strip()) for other in others.split(",") if other.strip()]
    bare = board_of("classic", pairs, names)
    return Board("classic", bare.territories, bare.borders, tuple(continents))


CLASSIC_BOARD = _classic()


def position_on(
    board: Board, mine: Mapping[str, int], theirs: Mapping[str, int], other: str = "blue"
) -> Position:
    """Return a position: red holds `mine`, the other player all else, with 1 army if not said."""
    holdings = tuple(
        Holding("red", mine[name]) if name in mine else Holding(other, theirs.get(name, 1))
        for name in board.territories
    )
    return Position(board, "red", holdings)


def chain(armies: int, defenders: Iterable[int]) -> Position:
    """Return a stack before a chain of territories."""
    garrisons = list(defenders)
    names = ["start", *(f"t{k}" for k in range(1, len(garrisons) + 1))]
    board = board_of("chain", pairwise(names), names)
    return position_on(board, {"start": armies}, dict(zip(names[1:], garrisons, strict=True)))
