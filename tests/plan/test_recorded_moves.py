"""Recordings of the official app's form: armies that move after a conquest, read by the rules.

Each recording is made up. Its form is that of RiskGameRecorder: the map at the start of a round,
then snapshots of the territories that changed, with their previous armies.
"""

import json
from typing import Any, NamedTuple

import pytest

from iacta import review
from iacta.board import Board

EDGES = [("A", "B"), ("B", "C"), ("C", "D"), ("A", "F"), ("F", "G")]
BOARD = Board("coast", tuple("ABCDFG"), tuple(way for v, c in EDGES for way in ((v, c), (c, v))))
NAMES = {1: "Ada", 2: "Ben", 3: "Cleo"}
NOT_ALLOWED = "moves of armies that the rules do not allow"
Lands = dict[str, tuple[int, int]]


class Recorded(NamedTuple):
    """A recorded turn of Ada, and its only reading.

    start: the owner and the armies of each territory.
    snapshots: the changes, in order.
    battles: the start, the target, the losses of both sides and the armies that move in.
    unclear: the events that are left out.
    ambiguous: the number of turns whose last move has two readings.
    dice: the dice mode.
    """

    start: Lands
    snapshots: list[Lands]
    battles: list[tuple[str, str, int, int, int]]
    unclear: tuple[tuple[str, int], ...] = ()
    ambiguous: int = 0
    dice: str = "BalancedBlitz"


ROW: Lands = {"A": (1, 8), "B": (2, 2), "C": (2, 1), "D": (3, 9), "F": (1, 1), "G": (2, 1)}
SOLE = {**ROW, "B": (2, 1), "C": (3, 1), "G": (1, 1)}  # B is Ben's last territory

RECORDINGS = {
    "fortification back": Recorded(
        ROW, [{"A": (1, 1), "B": (1, 7)}, {"A": (1, 5), "B": (1, 3)}], [("A", "B", 0, 2, 7)],
        ambiguous=1,
    ),
    "fortification back of all that moved in": Recorded(
        ROW, [{"A": (1, 1), "B": (1, 7)}, {"A": (1, 7), "B": (1, 1)}], [("A", "B", 0, 2, 7)]
    ),
    "advance in two steps, then a fortification back": Recorded(
        ROW,
        [{"A": (1, 5), "B": (1, 3)}, {"A": (1, 1), "B": (1, 7)}, {"A": (1, 6), "B": (1, 2)}],
        [("A", "B", 0, 2, 7)],
    ),
    "advance in two steps before another attack": Recorded(
        ROW,
        [{"A": (1, 5), "B": (1, 3)}, {"A": (1, 1), "B": (1, 7)}, {"B": (1, 2), "C": (1, 5)}],
        [("A", "B", 0, 2, 7), ("B", "C", 0, 1, 5)],
    ),
    "advance of fewer armies than dice, completed later": Recorded(
        ROW, [{"A": (1, 7), "B": (1, 1)}, {"A": (1, 3), "B": (1, 5)}], [("A", "B", 0, 2, 5)]
    ),
    "more armies forward at the end": Recorded(
        ROW, [{"A": (1, 5), "B": (1, 3)}, {"A": (1, 2), "B": (1, 6)}], [("A", "B", 0, 2, 6)],
        ambiguous=1,
    ),
    "fortification through several territories": Recorded(
        {**ROW, "G": (1, 1)},
        [{"A": (1, 4), "B": (1, 4)}, {"B": (1, 1), "G": (1, 4)}],
        [("A", "B", 0, 2, 4)],
    ),
    "more armies forward, then a fortification elsewhere": Recorded(
        {**ROW, "G": (1, 1)},
        [{"A": (1, 5), "B": (1, 3)}, {"A": (1, 2), "B": (1, 6)}, {"A": (1, 1), "G": (1, 2)}],
        [("A", "B", 0, 2, 6)],
    ),
    "elimination, with cards between the conquest and the advance": Recorded(
        SOLE,
        [
            {"A": (1, 5), "B": (1, 3)},
            {"F": (1, 7)},
            {"A": (1, 1), "B": (1, 7)},
            {"B": (1, 2), "C": (1, 5)},
        ],
        [("A", "B", 0, 1, 7), ("B", "C", 0, 1, 5)],
    ),
    "elimination, with cards in the snapshot of the advance": Recorded(
        SOLE,
        [{"A": (1, 5), "B": (1, 3)}, {"A": (1, 1), "B": (1, 13)}, {"B": (1, 8), "C": (1, 5)}],
        [("A", "B", 0, 1, 7), ("B", "C", 0, 1, 5)],
    ),
    "elimination, then a fortification back": Recorded(
        SOLE,
        [{"A": (1, 1), "B": (1, 7)}, {"B": (1, 11)}, {"A": (1, 9), "B": (1, 3)}],
        [("A", "B", 0, 1, 7)],
    ),
    "armies back and forward again": Recorded(
        ROW,
        [{"A": (1, 1), "B": (1, 7)}, {"A": (1, 7), "B": (1, 1)}, {"A": (1, 3), "B": (1, 5)}],
        [("A", "B", 0, 2, 5)],
    ),
    "armies back before an attack elsewhere": Recorded(
        {**ROW, "F": (2, 1)},
        [{"A": (1, 1), "B": (1, 7)}, {"A": (1, 7), "B": (1, 1)}, {"A": (1, 2), "F": (1, 5)}],
        [("A", "B", 0, 2, 7), ("A", "F", 0, 1, 5)],
        unclear=((NOT_ALLOWED, 1),),
    ),
    "armies back that fit a smaller advance with other dice": Recorded(
        {**ROW, "F": (2, 1)},
        [{"A": (1, 1), "B": (1, 7)}, {"A": (1, 7), "B": (1, 1)}, {"A": (1, 2), "F": (1, 5)}],
        [("A", "B", 0, 2, 1), ("A", "F", 0, 1, 5)],
        dice="TrueRandom",
    ),
}  # fmt: skip


def format_lands(lands: Lands, before: Lands | None = None) -> dict[str, dict[str, Any]]:
    """Return territories in the form of a recording."""
    return {
        name: {
            "ownedBy": owner,
            "isCapital": False,
            "isPortal": False,
            "isActivePortal": False,
            "units": armies,
            **({} if before is None else {"previousUnits": before[name][1]}),
        }
        for name, (owner, armies) in lands.items()
    }


def record(game: Recorded) -> str:
    """Return the recording of a turn."""
    lands, snapshots = game.start, list[dict[str, Any]]()
    for time, changed in enumerate(game.snapshots, 1):
        territories = format_lands(changed, lands)
        snapshots.append({"type": "territory", "territories": territories, "time": 1000 * time})
        lands = lands | changed
    events = {"income": 0, "cardsAtTurnStart": [], "cardsAfterTurn": [], "snapshots": snapshots}
    return json.dumps(
        {
            "metadata": {"version": 1, "date": "2026-01-01 00:00:00 +00:00"},
            "gameInfo": {"map": "coast", "gameMode": "WorldDomination", "dice": game.dice},
            "players": {str(number): {"name": name} for number, name in NAMES.items()},
            "roundInfo": {
                "1": {"mapState": format_lands(game.start), "playerTurns": {"1": events}}
            },
        }
    )


@pytest.mark.parametrize("name", RECORDINGS)
def test_no_battle_is_lost_and_forbidden_actions_are_not_assumed(name: str) -> None:
    game = RECORDINGS[name]
    found = review(record(game), board=BOARD)
    battles = [
        (each.start, each.to, each.lost, each.killed, each.moved) for each in found.steps if each.to
    ]
    assert battles == game.battles
    assert found.unclear == game.unclear
    assert found.ambiguous == game.ambiguous
    assert [each.name for each in found.steps].count("stop") == 1


def test_armies_that_move_back_cost_no_luck() -> None:
    board = Board.from_edges("three in a row", [("North", "Middle"), ("Middle", "South")])
    start: Lands = {"North": (1, 5), "Middle": (2, 2), "South": (2, 4)}
    snapshots: list[Lands] = [
        {"North": (1, 1), "Middle": (1, 4)},
        {"North": (1, 4), "Middle": (1, 1)},
    ]
    found = review(record(Recorded(start, snapshots, [])), board=board)
    battle, stop = found.steps
    assert (battle.name, battle.lost, battle.killed, battle.moved) == ("North to Middle", 0, 2, 4)
    assert battle.luck_armies == pytest.approx(1.0, abs=0.05)
    assert (stop.name, found.unclear, found.ambiguous) == ("stop", (), 0)


def test_a_recorded_turn_ends_before_its_fortifying_move() -> None:
    back = RECORDINGS["fortification back of all that moved in"]
    ahead = back._replace(snapshots=back.snapshots[:1])
    assert review(record(back), board=BOARD) == review(record(ahead), board=BOARD)
