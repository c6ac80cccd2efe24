"""Lists of ways to win are short, and contain the cheapest ways."""

from itertools import combinations, pairwise
from random import Random

import pytest

from iacta import Board, Capitals, Missions, Position, Turn
from iacta.game import victory
from iacta.game.victory import MAX_WAYS_TO_WIN


def make_turn(continents: int, seed: int) -> Turn:
    """Return a turn on a line of continents with two territories each."""
    names = [f"T{k}" for k in range(2 * continents)]
    random = Random(seed)  # noqa: S311 # tests need no cryptographic randomness
    board = Board.from_edges(
        "line",
        [*pairwise(names)],
        continents={f"C{k}": (2, names[2 * k : 2 * k + 2]) for k in range(continents)},
    )
    players = ("red", "blue", "green")
    held = {
        name: (players[k % 3] if k < 3 else random.choice(players), random.randint(1, 9))
        for k, name in enumerate(names)
    }
    missions = Missions(dict.fromkeys(players, "any, any, any"))
    return Turn(Position(board, "red", held), place=3, players=players, victory=missions)


def count_cost(turn: Turn, names: tuple[str, ...]) -> int:
    """Return the hostile armies and territories among named territories."""
    return sum(turn.armies_on(each) + 1 for each in names if turn.owner_of(each) != "red")


@pytest.mark.parametrize("seed", range(5))
def test_the_cheapest_ways_to_win_are_listed_in_order(seed: int) -> None:
    turn = make_turn(16, seed)  # 560 ways
    costs = [count_cost(turn, way.territories) for way in turn.victory.list_ways(turn, "red")]
    continents = [each.territories for each in turn.board.continents]
    everything = sorted(
        sum(count_cost(turn, names) for names in chosen) for chosen in combinations(continents, 3)
    )
    assert costs == everything[:MAX_WAYS_TO_WIN]


def test_few_ways_to_win_keep_the_order_of_the_board() -> None:
    turn = make_turn(5, 1)
    ways = [way.territories for way in turn.victory.list_ways(turn, "red")]
    continents = [each.territories for each in turn.board.continents]
    assert ways == [a + b + c for a, b, c in combinations(continents, 3)]


def test_a_list_of_ways_to_win_is_never_long() -> None:
    turn = make_turn(60, 1)
    for text in ("any, any", "any, any, any, any, any"):
        missions = Missions(dict.fromkeys(turn.players, text))
        ways = missions.list_ways(turn, "red")
        assert len(ways) == MAX_WAYS_TO_WIN == len({*ways})


def test_capitals_with_many_choices_are_listed_by_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(victory, "MAX_WAYS_TO_WIN", 4)
    names = "ABCDEF"
    board = Board.from_edges("line", [*pairwise(names)])
    players = ("red", "blue", "green", "pink", "grey", "black")
    held = {name: (players[k], k + 1) for k, name in enumerate(names)}
    capitals = Capitals(dict(zip(players, names, strict=True)), number=3)
    turn = Turn(Position(board, "red", held), players=players, victory=capitals)
    ways = [way.territories for way in capitals.list_ways(turn, "red")]
    assert ways[0] == ("A", "B", "C")
    costs = [count_cost(turn, way) for way in ways]
    assert len(ways) == 4
    assert costs == sorted(costs)
