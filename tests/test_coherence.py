"""Numbers that are shown together agree: if one event implies another, its chance is not larger."""

from itertools import pairwise
from random import Random

import pytest

from iacta import Turn, goals_in_reach, threats
from iacta.board import Board, Continent, Holding, Position
from iacta.plan import TakeAll, TakeAny
from iacta.plan.looks import Conquest, Look, find_implied, order_looks

PLAYERS = "red", "blue", "green"
POSITIONS = 12  # `make bench GROUP=limits` compares 500


def draw_turn(seed: int) -> Turn:
    """Return a turn on a drawn board of 6 to 16 territories in two or three continents."""
    rng = Random(seed)  # noqa: S311 # draws boards, no secrets
    names = [f"t{k}" for k in range(rng.randint(6, 16))]
    pairs = [*pairwise(names), *(tuple(rng.sample(names, 2)) for _ in range(len(names) // 2))]
    number = rng.randint(2, 3)
    continents = tuple(
        Continent(f"C{k}", rng.randint(1, 5), tuple(names[k::number][:4])) for k in range(number)
    )
    bare = Board.from_edges("drawn", [*dict.fromkeys(pairs)])
    board = Board("drawn", bare.territories, bare.borders, continents)
    # Each player begins with a continent or a part of it, so that bonuses can be broken.
    owners = {name: PLAYERS[k % number] for k in range(number) for name in names[k::number]}
    for name in rng.sample(names, len(names) // 4):
        owners[name] = rng.choice(PLAYERS)
    most = 9 if len(names) > 7 else 3  # on small boards all placements and plays are compared
    holdings = (Holding(owners[name], rng.randint(1, most)) for name in board.territories)
    return Turn(Position(board, owners[board.territories[0]], tuple(holdings)))


def find_disorder(turn: Turn) -> list[str]:
    """Return the pairs of goals and of threats whose chances contradict each other."""
    wrong, position = list[str](), turn.position
    reached = [(each.words, each.goal, each.chance) for each in goals_in_reach(turn)]
    groups = {"goals": (position, reached)}
    for each in threats(turn).threats:
        theirs = Position(position.board, each.player, position.holdings)
        mine = position.list_territories(turn.player)
        goal: TakeAll | TakeAny = TakeAll(each.name)
        if each.kind == "eliminate":
            goal = TakeAll(mine)
        elif each.kind == "break":
            found = next(c for c in position.board.continents if c.name == each.name)
            goal = TakeAny(found.territories)
        groups.setdefault(each.player, (theirs, []))[1].append(
            (f"{each.kind} {each.name}", goal, each.chance)
        )
        assert each.chance <= each.at_most
    for who, (start, rows) in groups.items():
        for words, goal, chance in rows:
            for others, other, least in rows:
                stronger = Conquest.of(goal, start)
                if stronger.implies(Conquest.of(other, start)) and chance > least:
                    wrong.append(f"{who}: {words} {chance} > {others} {least}")
    return wrong


@pytest.mark.parametrize("seed", range(POSITIONS))
def test_an_event_is_never_likelier_than_an_event_that_it_implies(seed: int) -> None:
    assert find_disorder(draw_turn(seed)) == []


def test_an_implied_goal_adopts_the_policy_and_a_stronger_goal_the_bound() -> None:
    board = Board.from_edges("line", [("a", "b"), ("b", "c"), ("c", "d")])
    holdings = Holding("red", 5), *(Holding("blue", 1),) * 3
    position = Position(board, "red", holdings)
    goals = {"b": TakeAll("b"), "all": TakeAll("b,c,d"), "any": TakeAny("c,d")}
    implied = find_implied({key: Conquest.of(goal, position) for key, goal in goals.items()})
    assert implied == {"b": [], "all": ["b", "any"], "any": []}
    best = Look(0.4, (0.3, 0.5), 0.9, (("a", 2),), 3.0)
    looks = {
        "b": Look(0.2, None, 0.8, (("a", 1),), 1.0),
        "all": best,
        "any": Look(0.5, None, 0.5, (("a", 1),), 2.0),
    }
    ordered = order_looks(looks, implied)
    assert ordered["all"] == Look(0.4, (0.3, 0.5), 0.5, (("a", 2),), 3.0)
    assert ordered["b"] == Look(0.4, (0.3, 0.5), 0.8, (("a", 2),), 3.0)
    assert ordered["any"] == looks["any"]


def test_games_that_were_lucky_are_cut_at_the_bound_of_an_implied_goal() -> None:
    looks = {"stronger": Look(0.6, (0.5, 0.7), 1.0, ()), "weaker": Look(0.55, None, 0.55, ())}
    ordered = order_looks(looks, {"stronger": ["weaker"], "weaker": []})
    assert ordered["stronger"] == Look(0.55, (0.5, 0.55), 0.55, ())
