"""The AI makes the eliminations that plans find."""

from pathlib import Path
from typing import NamedTuple

import pytest

from iacta import Board, Position, Turn
from iacta.game import Advance, Attack, Place
from iacta.war.games import Aim, War
from iacta.war.players import ELIMINATE, PLAYERS

pytestmark = pytest.mark.usefixtures("core")
USUAL = PLAYERS["usual"]


class Case(NamedTuple):
    """A turn of a lost game in which an earlier AI missed an elimination.

    chance: the chance of the best plan.
    victim: the player whom the plan eliminates.
    turn: the turn.
    """

    chance: float
    victim: str
    turn: Turn


def read_cases() -> list[Case]:
    """Return the turns of `missed_eliminations.tsv`."""
    rows = Path(__file__).with_name("missed_eliminations.tsv").read_text("utf-8").splitlines()[1:]
    fields = (row.split("\t") for row in rows)
    return [Case(float(p), victim, Turn.from_code(code)) for p, victim, _, code in fields]


CASES = read_cases()


@pytest.mark.parametrize("number", range(len(CASES)))
def test_an_elimination_succeeds_nearly_as_often_as_the_plan(number: int) -> None:
    chance, victim, turn = CASES[number]
    war, turns = War(turn), 40
    aim = Aim(ELIMINATE, war.seats.index(victim))
    made = sum(victim not in war.play_turn(USUAL, seed, aim).end.owners for seed in range(turns))
    assert made / turns > 0.85 * chance


def test_the_ai_eliminates_a_player_in_the_first_case() -> None:
    turn = CASES[0].turn
    war, before = War(turn), len(turn.survivors)
    made = sum(len(war.play_turn(USUAL, seed).end.survivors) < before for seed in range(50))
    assert made >= 40


def play_elimination(held: dict[str, tuple[str, int]], edges: str, place: int = 0) -> list[object]:
    """Return the actions of a turn in which red eliminates blue."""
    board = Board.from_edges("small", [tuple(edge.split("-")) for edge in edges.split()])
    turn = Turn(Position(board, "red", held), place=place, players=("red", "blue", "green"))
    return [move.action for move in War(turn).play_turn(USUAL, 1, Aim(ELIMINATE, 1)).moves]


def test_all_armies_advance_along_the_only_way() -> None:
    held = {
        "stack": ("red", 20),
        "side": ("green", 2),
        "way": ("green", 1),
        "near": ("blue", 3),
        "far": ("blue", 3),
    }
    actions = play_elimination(held, "side-stack stack-way way-near near-far")
    attacked = [each.to for each in actions if isinstance(each, Attack)]
    assert attacked[0] == "way"
    first = next(each for each in actions if isinstance(each, Advance))
    assert first.armies >= 17


def test_a_large_stack_takes_a_way_if_the_adjacent_stack_is_too_small() -> None:
    held = {
        "small": ("red", 1),
        "stack": ("red", 15),
        "way": ("green", 1),
        "victim": ("blue", 4),
    }
    actions = play_elimination(held, "small-victim stack-way way-victim")
    attacks = [(each.start, each.to) for each in actions if isinstance(each, Attack)]
    assert attacks[0] == ("stack", "way")
    assert ("way", "victim") in attacks


def test_new_armies_go_where_the_elimination_needs_them() -> None:
    # The stack is large enough for one part of blue; the other part has no large stack beside it.
    held = {
        "stack": ("red", 12),
        "one": ("blue", 2),
        "home": ("red", 2),
        "two": ("blue", 5),
        "three": ("blue", 2),
    }
    actions = play_elimination(held, "stack-one stack-home home-two two-three", place=10)
    placed = {each.territory: each.armies for each in actions if isinstance(each, Place)}
    assert placed["home"] >= 9
