"""Positions in the middle of a game, drawn by a seed, and the seven that a study found hard."""

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random
from typing import NamedTuple

from iacta.board import Board, Continent, Holding, Position
from iacta.board.files import classic_board
from iacta.board.position import read_position
from iacta.plan import Goal, TakeAll, Worth, eliminate

POSITIONS = 300
BOUNDED = 64  # positions of the set by which bounds are compared
PLAYERS = ("red", "blue", "green", "black", "yellow", "white")
HARD = Path(__file__).with_name("midgame.json")


class Question(NamedTuple):
    """A goal in a position.

    kind: `"continent"`, `"elimination"` or `"worth"`.
    """

    seed: int
    kind: str
    goal: Goal
    position: Position


class Hard(NamedTuple):
    """A question of the study, with the chance that a simple search reached there."""

    goal: TakeAll
    position: Position
    reached: float


def midgame(seed: int, board: Board | None = None) -> Position:
    """Return a position of 3 to 6 players in which red has 2 or 3 large stacks.

    seed: which one; the fixed set has the seeds from 0 to `POSITIONS - 1`.
    board: the board; the classic one if none is given.

    Territories go to players in patches. A large stack is placed where it can attack.
    """
    rng, board = Random(seed), board or classic_board()
    owners = _owners(rng, board, PLAYERS[: rng.randint(3, 6)])
    armies = {
        name: 1 + min(int(rng.expovariate(0.9 if owner == "red" else 0.7)), 9)
        for name, owner in owners.items()
    }
    red = [name for name, owner in owners.items() if owner == "red"]
    fronts = sorted({a for a, b in board.borders if owners[a] == "red" != owners[b]})
    for name in rng.sample(fronts, min(rng.randint(2, 3), len(fronts))):
        armies[name] = rng.randint(9, 28)
    if not red:
        raise AssertionError(f"red has no territory with the seed {seed}")
    return Position(
        board, "red", tuple(Holding(owners[name], armies[name]) for name in board.territories)
    )


def drawn_board(seed: int) -> Board:
    """Return a board of 30 to 60 territories with 3 to 7 continents, drawn by a seed.

    Territories are points of a square; two of them are neighbours where no other one is within the
    circle through both (Gabriel & Sokal 1969). Such a board is connected, and in the plane. A
    continent has the territories that are nearest to its centre.
    """
    rng = Random(seed)
    points = {f"t{k}": complex(rng.random(), rng.random()) for k in range(rng.randint(30, 60))}
    pairs = [
        (a, b)
        for a, b in combinations(points, 2)
        if all(
            abs(points[c] - (points[a] + points[b]) / 2) >= abs(points[a] - points[b]) / 2
            for c in points
            if c not in {a, b}
        )
    ]
    centres = rng.sample(sorted(points), rng.randint(3, 7))
    nearest = {t: min(centres, key=lambda c: abs(points[c] - points[t])) for t in points}
    continents = []
    for centre in centres:
        names = tuple(t for t in points if nearest[t] == centre)
        continents.append(Continent(f"around {centre}", 1 + len(names) // 2, names))
    bare = Board.from_edges(f"drawn {seed}", pairs)
    return Board(bare.name, bare.territories, bare.borders, tuple(continents))


def bounded_questions(count: int = BOUNDED) -> Iterator[Question]:
    """Yield an elimination and a continent of each of some positions, half on drawn boards.

    count: how many positions; no other set has their seeds.
    """
    for seed in range(POSITIONS, POSITIONS + count):
        position = midgame(seed, drawn_board(seed) if seed % 2 else None)
        for each in _questions(seed, position, every=False):
            if each.kind != "worth":
                yield each


def _owners(rng: Random, board: Board, players: tuple[str, ...]) -> dict[str, str]:
    """Give each territory to a player, more often to one who has a neighbour of it."""
    near: dict[str, list[str]] = {name: [] for name in board.territories}
    for a, b in board.borders:
        near[a].append(b)
    weight = {player: rng.uniform(0.5, 1.5) for player in players}
    names = list(board.territories)
    rng.shuffle(names)
    owners = dict(zip(names, players, strict=False))  # everyone has one
    for name in names[len(players) :]:
        around = [owners[other] for other in near[name] if other in owners]
        if around and rng.random() < 0.6:
            owners[name] = rng.choice(around)
        else:
            owners[name] = rng.choices(players, [weight[player] for player in players])[0]
    return owners


def questions(count: int = POSITIONS, *, every: bool = True) -> Iterator[Question]:
    """Yield the goals of the first positions: continents, eliminations, and a worth.

    count: how many positions.
    every: whether all goals of each; otherwise one of each kind, drawn by the seed.
    """
    for seed in range(count):
        yield from _questions(seed, midgame(seed), every=every)


def _questions(seed: int, position: Position, *, every: bool) -> Iterator[Question]:
    rng = Random(-1 - seed)
    mine = {*position.owned_by("red")}
    continents: list[Goal] = [
        TakeAll(each.territories)
        for each in position.board.continents
        if not mine >= {*each.territories}
    ]
    others = sorted({each.owner for each in position.holdings} - {"red"})
    eliminations: list[Goal] = [eliminate(position, owner) for owner in others]
    worth = Worth(1.0, bonus=rng.choice((1.0, 2.0)), army=rng.choice((0.0, 0.25, 0.5)))
    for kind, goals in (
        ("continent", continents),
        ("elimination", eliminations),
        ("worth", [worth]),
    ):
        for goal in goals if every else rng.sample(goals, 1):
            yield Question(seed, kind, goal, position)


def hard_positions() -> Iterator[Hard]:
    """Yield the seven positions of the study."""
    for record in json.loads(HARD.read_text(encoding="utf-8"))["positions"]:
        position = read_position(record["position"])
        kind, name = record["goal"].split(" ", 1)
        goal = eliminate(position, name) if kind == "--eliminate" else TakeAll(name)
        yield Hard(TakeAll(_names(position, goal)), position, record["reached"])


def _names(position: Position, goal: TakeAll) -> tuple[str, ...]:
    names = goal.territories
    return tuple(position.board.find_set(names)) if isinstance(names, str) else names
