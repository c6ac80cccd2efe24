"""Mid-game positions: random positions, positions from played games, and seven hard positions."""

import json
from collections.abc import Iterator, Mapping
from itertools import combinations, count
from pathlib import Path
from random import Random
from typing import NamedTuple

from iacta.board import Board, Continent, Holding, Position
from iacta.board.built_in import classic_board
from iacta.board.position import read_position
from iacta.native.deadline import Deadline
from iacta.plan import Goal, TakeAll, Worth, eliminate
from iacta.plan.policy import choose_policy
from iacta.plan.problem import pose_problem
from iacta.plan.search import Search

POSITIONS = 300
BOUNDED = 64  # number of positions for comparing bounds
PLAYERS = ("red", "blue", "green", "black", "yellow", "white")
HARD_SIZES = range(6, 14)  # sizes of goals to try first, in territories
HARD_STATES = 20_000  # smaller problems are solved exactly
HARD_GAMES, HARD_SEEN = 40, 800  # a position is hard if 40 games visit more than 800 states
RESTRICTED_SIZE = 9  # maximum number of territories in a restricted problem
RESTRICTED_STATES = 1_000_000  # larger restricted problems are left out
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
    """A goal and a position from a study, and the chance of the plan that the study found."""

    goal: TakeAll
    position: Position
    reached: float


def midgame(seed: int, board: Board | None = None) -> Position:
    """Return a position of 3 to 6 players in which red has 2 or 3 large stacks.

    seed: the random seed. The fixed set has the seeds from 0 to `POSITIONS - 1`.
    board: the board; `None` for the classic board.

    Each player owns patches of neighbouring territories. Large stacks are placed where they can
    attack.
    """
    rng, board = Random(seed), board or classic_board()
    owners = _assign_owners(rng, board, PLAYERS[: rng.randint(3, 6)])
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


def draw_gabriel_board(seed: int) -> Board:
    """Return a random board of 30 to 60 territories with 3 to 7 continents.

    Territories are points in a square. Two are neighbours if the circle with both at opposite ends
    contains no other point (Gabriel & Sokal 1969). Such a board is connected and can be drawn in
    the plane. Each territory belongs to the continent with the nearest centre.
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


def draw_bounded_questions(count: int = BOUNDED) -> Iterator[Question]:
    """For each position, yield an elimination and a continent; half of the boards are random.

    count: the number of positions. Other benchmarks use other seeds.
    """
    for seed in range(POSITIONS, POSITIONS + count):
        position = midgame(seed, draw_gabriel_board(seed) if seed % 2 else None)
        for each in _list_questions(seed, position, every=False):
            if each.kind != "worth":
                yield each


def _assign_owners(rng: Random, board: Board, players: tuple[str, ...]) -> dict[str, str]:
    """Return an owner for each territory, often the owner of a neighbour."""
    near: dict[str, list[str]] = {name: [] for name in board.territories}
    for a, b in board.borders:
        near[a].append(b)
    weight = {player: rng.uniform(0.5, 1.5) for player in players}
    names = list(board.territories)
    rng.shuffle(names)
    owners = dict(zip(names, players, strict=False))  # each player owns at least one territory
    for name in names[len(players) :]:
        around = [owners[other] for other in near[name] if other in owners]
        if around and rng.random() < 0.6:
            owners[name] = rng.choice(around)
        else:
            owners[name] = rng.choices(players, [weight[player] for player in players])[0]
    return owners


def questions(number: int = POSITIONS, *, every: bool = True) -> Iterator[Question]:
    """Yield goals in the first positions: continents, eliminations, and a worth.

    number: the number of positions.
    every: whether to yield all goals; otherwise, one random goal of each kind.
    """
    for seed in range(number):
        yield from _list_questions(seed, midgame(seed), every=every)


def _list_questions(seed: int, position: Position, *, every: bool) -> Iterator[Question]:
    rng = Random(-1 - seed)
    mine = {*position.list_territories("red")}
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


def play_position(seed: int) -> Position:
    """Return a position before the attacks of a turn, from a played game with 3 to 6 players.

    seed: the seed of the game. Every player attacks with their largest stacks while these outnumber
        the defenders.
    """
    rng, board = Random(seed), classic_board()
    players, names = PLAYERS[: rng.randint(3, 6)], [*board.territories]
    near = {name: {*board.neighbours(name)} for name in names}
    rng.shuffle(names)
    owners = {name: players[k % len(players)] for k, name in enumerate(names)}
    armies = {name: rng.randint(1, 3) for name in names}
    last, trade = rng.randint(3 * len(players), 7 * len(players)), 4
    for turn in count():
        player = players[turn % len(players)]
        mine = [name for name in board.territories if owners[name] == player]
        fronts = [name for name in mine if any(owners[other] != player for other in near[name])]
        large = sorted(fronts, key=lambda name: -armies[name])[:3]
        if not large:
            continue
        whole = [each for each in board.continents if {*mine} >= {*each.territories}]
        new = max(3, len(mine) // 3) + sum(each.bonus for each in whole)
        if rng.random() < 0.25:
            new, trade = new + trade, min(trade + 2, 15)
        for _ in range(new):
            armies[rng.choice(large)] += 1
        if turn >= last:
            holdings = (Holding(owners[name], armies[name]) for name in board.territories)
            return Position(board, player, tuple(holdings))
        for start in large:
            _conquer(rng, near, owners, armies, start)
    raise AssertionError("count() never ends")


def _conquer(
    rng: Random,
    near: Mapping[str, set[str]],
    owners: dict[str, str],
    armies: dict[str, int],
    start: str,
) -> None:
    """Attack from a territory and its conquests, at most four territories with fewer armies."""
    for _ in range(rng.randint(0, 4)):
        weak = [
            name
            for name in sorted(near[start])
            if owners[name] != owners[start] and armies[name] + 2 < armies[start]
        ]
        if not weak:
            return
        to = min(weak, key=lambda name: (armies[name], rng.random()))
        while armies[start] > 3 and armies[to]:
            ours = sorted((rng.randint(1, 6) for _ in range(3)), reverse=True)
            theirs = sorted((rng.randint(1, 6) for _ in range(min(2, armies[to]))), reverse=True)
            for x, y in zip(ours, theirs, strict=False):
                armies[to if x > y else start] -= 1
        if armies[to]:
            return
        owners[to] = owners[start]
        armies[to], armies[start] = armies[start] - 1, 1
        start = to


def _list_goals(position: Position) -> Iterator[TakeAll]:
    """Yield the goals of eliminating each other player and taking each continent."""
    for owner in sorted({each.owner for each in position.holdings} - {position.player}):
        yield eliminate(position, owner)
    for each in position.board.continents:
        yield TakeAll(each.territories)


def hard_questions(number: int, first: int = 20_000) -> Iterator[Question]:
    """Yield goals in played positions that lookahead reaches with a chance of .1 to .9.

    number: the number of goals.
    first: the seed of the first game.
    """
    for seed in count(first):
        if not number:
            return
        position, rng = play_position(seed), Random(-1 - seed)
        mine = {*position.list_territories(position.player)}
        goals = [*_list_goals(position)]
        rng.shuffle(goals)
        goals.sort(key=lambda goal: len({*_list_names(position, goal)} - mine) not in HARD_SIZES)
        for goal in goals:
            if {*_list_names(position, goal)} <= mine:
                continue
            policy = choose_policy(pose_problem(position, goal), states=HARD_STATES)
            games = policy.search.play(Deadline(), HARD_GAMES)
            if 0.1 < games.gains.mean() < 0.9 and games.report.states > HARD_SEEN:
                number -= 1
                yield Question(seed, "elimination", goal, position)
                break


def draw_restricted_questions(number: int, first: int = 30_000) -> Iterator[tuple[Question, float]]:
    """Yield goals in played positions, each with the optimum of its restricted problem.

    number: the number of goals, at most one per position.
    first: the seed of the first game.

    In the restricted problem, only the player's territories next to the goal may attack, and only
    territories of the goal may be attacked. It has at most nine territories.
    """
    for seed in count(first):
        if not number:
            return
        position, rng = play_position(seed), Random(-1 - seed)
        goals = [*_list_goals(position)]
        rng.shuffle(goals)
        for goal in goals:
            narrow = pose_problem(position, goal).narrow()
            if narrow is None or narrow.focus is None or narrow.focus.bit_count() > RESTRICTED_SIZE:
                continue
            solution = Search(narrow).solve(Deadline(), RESTRICTED_STATES)
            if solution is not None and 0.02 < solution.value < 0.98:
                number -= 1
                yield Question(seed, "restricted", goal, position), solution.value
                break


def hard_positions() -> Iterator[Hard]:
    """Yield the seven positions of the study."""
    for record in json.loads(HARD.read_text(encoding="utf-8"))["positions"]:
        position = read_position(record["position"])
        kind, name = record["goal"].split(" ", 1)
        goal = eliminate(position, name) if kind == "--eliminate" else TakeAll(name)
        yield Hard(TakeAll(_list_names(position, goal)), position, record["reached"])


def _list_names(position: Position, goal: TakeAll) -> tuple[str, ...]:
    names = goal.territories
    return tuple(position.board.find_set(names)) if isinstance(names, str) else names
