"""Calls of the core for whole games stop at their deadline and on Ctrl-C, on boards of any size."""

from collections.abc import Callable

import pytest

from iacta import Board, Missions, Position, Turn
from iacta.native.deadline import Deadline
from iacta.war.games import TimeIsOverError, War
from iacta.war.players import PLAYERS
from tests.processes import press_ctrl_c_after

pytestmark = pytest.mark.usefixtures("core")
USUAL = PLAYERS["usual"]
PLAYED = ("red", "blue", "green")


def make_grid(number: int, width: int, mission: str) -> Turn:
    """Return a turn on a grid with 20 continents, on which a turn of the AI takes seconds."""
    names = [f"T{k}" for k in range(number)]
    borders = [(names[k], names[k + 1]) for k in range(number - 1) if (k + 1) % width]
    borders += [(names[k], names[k + width]) for k in range(number - width)]
    size = number // 20
    continents = {f"C{i}": (2, names[i * size : (i + 1) * size]) for i in range(20)}
    board = Board.from_edges("grid", borders, continents=continents)
    held = {name: (PLAYED[k % 3], 1 + (7 * k) % 9) for k, name in enumerate(names)}
    victory = Missions(dict.fromkeys(PLAYED, mission))
    return Turn(Position(board, "red", held), place=5, players=PLAYED, victory=victory)


CALLS: dict[str, Callable[[War, Deadline], object]] = {
    "judge aims": lambda war, deadline: war.judge_aims(USUAL, 1, deadline),
    "play a turn": lambda war, deadline: war.play_turn(USUAL, 1, deadline=deadline),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_turn_of_several_seconds_stops_at_the_deadline(name: str) -> None:
    war = War(make_grid(300, 20, "any, any, any"))
    with pytest.raises(TimeIsOverError):
        CALLS[name](war, Deadline(0.05))


@pytest.mark.parametrize("mission", ["any, any, any", "60 territories with 2 armies"])
@pytest.mark.parametrize("name", CALLS)
def test_a_turn_after_the_deadline_is_refused(name: str, mission: str) -> None:
    war = War(make_grid(120, 10, mission))
    with pytest.raises(TimeIsOverError):
        CALLS[name](war, Deadline(0.0))


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_stops_a_turn(name: str) -> None:
    war = War(make_grid(300, 20, "any, any, any"))
    deadline = Deadline()
    with press_ctrl_c_after(0.2), pytest.raises(KeyboardInterrupt):
        CALLS[name](war, deadline)
    assert deadline.is_over


def test_games_stop_within_a_turn() -> None:
    war = War(make_grid(300, 20, "any, any, any"))
    played = war.play_games((USUAL,) * 3, games=10, deadline=Deadline(0.1))
    assert len(played.chances) == 0  # the first turn takes longer


def test_a_call_without_a_deadline_has_the_same_result() -> None:
    war = War(make_grid(20, 5, "any"))
    assert war.judge_aims(USUAL, 1) == war.judge_aims(USUAL, 1, Deadline(600))
    assert war.play_turn(USUAL, 1) == war.play_turn(USUAL, 1, deadline=Deadline(600))
