"""Territories picked in turn before the first turn."""

import pytest

from iacta import IllegalError, classic_board
from iacta.war.picking import complete_order, pick_territory

BOARD = classic_board()
NAMES = ["red", "blue", "green"]
AUSTRALIA = ["Indonesia", "New Guinea", "Western Australia", "Eastern Australia"]


def test_v_completes_its_own_continent() -> None:
    others = ["Peru", "Ural", "Egypt", "Siam", "Alaska", "Congo"]
    order = [*AUSTRALIA[:1], *others[:2], *AUSTRALIA[1:2], *others[2:4], *AUSTRALIA[2:3]]
    order += others[4:]
    assert pick_territory(BOARD, NAMES, order, seed=1) == AUSTRALIA[3]


def test_computers_pick_until_a_person_must_pick() -> None:
    order = complete_order(BOARD, NAMES, [], ["red", "blue"], seed=1)
    assert len(order) == 2
    assert complete_order(BOARD, NAMES, order, ["red", "blue"], seed=1) == order
    whole = [name for name in BOARD.territories if name not in order]
    assert len(complete_order(BOARD, NAMES, [*order, *whole], [], seed=1)) == 42


def test_a_territory_cannot_be_picked_twice() -> None:
    with pytest.raises(IllegalError, match="order must name each territory once, got 'Peru' twice"):
        complete_order(BOARD, NAMES, ["Peru", "peru"], [], seed=1)
