"""The positions: four ways to win, two to six players, first and later turns."""

from itertools import pairwise
from pathlib import Path
from random import Random

from benchmarks.positions import play_position
from iacta import Turn
from iacta.board import Board, Continent, Holding, Position
from iacta.game import Capitals, Missions, Share, Survivor, Victory

POSITIONS = 20  # every way to win with every number of players
PLAYERS = ("red", "blue", "green", "yellow", "black", "white")
WAYS = ("survivor", "share", "capitals", "missions")


def draw_turn(number: int) -> Turn:
    """Return the start of a turn on a small random board."""
    rng = Random(number)  # noqa: S311 # draws boards, no secrets
    players = PLAYERS[: 2 + number % 5]
    names = [f"t{k}" for k in range(len(players) + rng.randint(4, 6))]
    pairs = [*pairwise(names), *(rng.sample(names, 2) for _ in range(len(names) // 2))]
    borders = dict.fromkeys(tuple(sorted(pair, key=names.index)) for pair in pairs)
    continents = tuple(
        Continent(f"C{k}", rng.randint(1, 3), tuple(names[3 * k : 3 * k + 3]))
        for k in range(len(names) // 3)
    )
    bare = Board.from_edges("drawn", [*borders])
    board = Board("drawn", bare.territories, bare.borders, continents)
    owners = {name: players[k % len(players)] for k, name in enumerate(names)}
    is_later = number >= POSITIONS // 2
    holdings = (
        Holding(owners[name], rng.randint(1, 6 if is_later else 3)) for name in board.territories
    )
    position = Position(board, players[0], tuple(holdings))
    victory = draw_victory(WAYS[number % len(WAYS)], position)
    if is_later:
        return Turn(position, victory=victory, players=players, phase="place", place=3)
    return Turn(position, victory=victory, players=players, phase="attack")


def draw_victory(way: str, position: Position) -> Victory:
    """Return a way to win the game that no player has fulfilled."""
    board, owners = position.board, dict[str, str]()
    for name, holding in zip(board.territories, position.holdings, strict=True):
        owners.setdefault(holding.owner, name)
    if way == "share":
        return Share("70%")
    if way == "capitals":
        return Capitals(owners)
    if way == "missions":
        missions = dict.fromkeys(owners, f"{len(board.territories) - 2} territories")
        first, second, *_ = owners
        return Missions({**missions, first: f"eliminate {second}"})
    return Survivor()


def play_turn(number: int) -> Turn:
    """Return the start of a turn of a played game on the classic board."""
    position = play_position(number)
    players = tuple(dict.fromkeys(holding.owner for holding in position.holdings))
    order = tuple(name for name in PLAYERS if name in players)
    victory = draw_victory(WAYS[number % len(WAYS)], position)
    return Turn(position, victory=victory, players=order, phase="place", place=4)


def read_board_turns() -> list[Turn]:
    """Return the positions of `board.tsv`."""
    rows = Path(__file__).with_name("board.tsv").read_text("utf-8").splitlines()[1:]
    return [Turn.from_code(row.split("\t")[0]) for row in rows]
