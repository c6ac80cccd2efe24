"""Boards and starting positions for training and benchmarking AIs in whole games."""

from fractions import Fraction
from random import Random

from iacta import (
    Board,
    Capitals,
    Continent,
    Holding,
    Missions,
    Position,
    Sets,
    Share,
    Turn,
    Victory,
    classic_board,
)
from iacta.game import Eliminate, Mission, OwnContinents, OwnTerritories

NAMES = ("red", "blue", "green", "black", "white", "pink")
HOUSE_SETS = Sets((5, 7, 9, 11, 13, 15))


def draw_board(rng: Random, name: str = "random") -> Board:
    """Return a random plane board with 12 to 60 territories; continents consist of neighbours."""
    number = rng.randint(12, 60)
    points = [(rng.random(), rng.random()) for _ in range(number)]

    def apart(i: int, j: int) -> float:
        (a, b), (c, d) = points[i], points[j]
        return (a - c) ** 2 + (b - d) ** 2

    edges = set()
    for i in range(number):
        near = sorted((j for j in range(number) if j != i), key=lambda j: apart(i, j))
        edges |= {(min(i, j), max(i, j)) for j in near[: rng.choice((2, 3, 3))]}
    joined = {0}
    while len(joined) < number:
        joined |= {t for pair in edges if joined & {*pair} for t in pair}
        if len(joined) < number and not any(len(joined & {*pair}) == 1 for pair in edges):
            rest = [t for t in range(number) if t not in joined]
            pairs = ((i, j) for i in sorted(joined) for j in rest)
            i, j = min(pairs, key=lambda pair: apart(*pair))
            edges.add((min(i, j), max(i, j)))
    seeds = rng.sample(range(number), max(2, number // rng.randint(5, 9)))
    homes = [min(seeds, key=lambda seed: apart(t, seed)) for t in range(number)]
    continents = []
    for seed in seeds:
        lands = {t for t in range(number) if homes[t] == seed}
        border = {t for pair in edges if len(lands & {*pair}) == 1 for t in lands & {*pair}}
        bonus = max(1, round(len(lands) / 3 + len(border) / 3))
        continents.append(Continent(f"C{seed}", bonus, tuple(f"T{t}" for t in sorted(lands))))
    territories = tuple(f"T{t}" for t in range(number))
    borders = tuple((f"T{i}", f"T{j}") for pair in sorted(edges) for i, j in (pair, pair[::-1]))
    return Board(name, territories, borders, tuple(continents))


def make_finished_game(
    board: Board, player_count: int, trade: Sets | None, *, with_cards: bool = True
) -> Turn:
    """Return a finished game, from which the core deals new games."""
    names = NAMES[:player_count]
    rows = [Holding(names[t % player_count], 3) for t in range(len(board.territories))]
    cards: dict[str, int] | None = {} if with_cards else None
    position = Position(board, names[0], rows)
    return Turn(position, phase="over", cards=cards, trade=trade, players=names)


def draw_finished_game(rng: Random) -> Turn:
    """Return a finished game on a random board or the classic board, with random card rules."""
    board = classic_board() if rng.random() < 0.4 else draw_board(rng)
    trade = rng.choice((None, None, Sets(is_fixed=True), Sets(is_fixed=True), HOUSE_SETS))
    start = make_finished_game(board, rng.randint(2, 6), trade, with_cards=rng.random() < 0.85)
    return start if rng.random() < 0.6 else start.with_options(victory=draw_victory(rng, start))


def draw_victory(rng: Random, start: Turn) -> Victory:
    """Return a random victory condition, scaled to the board: a share, capitals or missions."""
    names, board = start.players, start.board
    kind = rng.choice(("share", "capitals", "known", "hidden"))
    if kind == "share":
        return Share(Fraction(rng.randint(10, 18), 20))
    if kind == "capitals":
        capitals = dict(zip(names, rng.sample(board.territories, len(names)), strict=True))
        return Capitals(capitals, rng.choice((None, max(len(names) - 1, 2))))
    cards = list_mission_cards(board, names)
    if kind == "hidden":
        return Missions(dict.fromkeys(names, "hidden"), cards=cards)
    others = {name: [card for card in cards if card != Eliminate(name)] for name in names}
    return Missions({name: rng.choice(others[name]) for name in names})


def list_mission_cards(board: Board, players: tuple[str, ...]) -> tuple[Mission, ...]:
    """Return missions like those of the board game, scaled to a board."""
    number = len(board.territories)
    continents = [each.name for each in board.continents]
    pairs = [
        OwnContinents((first, second))
        for index, first in enumerate(continents)
        for second in continents[index + 1 :]
    ]
    counted = (OwnTerritories(round(number * 4 / 7)), OwnTerritories(round(number * 3 / 7), 2))
    return (*pairs[:6], *counted, *counted, *map(Eliminate, players))
