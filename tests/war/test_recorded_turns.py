"""The recorded turns in which a plan wins the game or eliminates a player."""

import pytest

from benchmarks.eliminations import (
    ELIMINATION,
    KINDS,
    MIN_CHANCES,
    MIN_GAIN,
    OF_A_KIND,
    WIN,
    read_chances,
)
from iacta.war.games import War
from iacta.war.players import PLAYERS

pytestmark = pytest.mark.usefixtures("core")
USUAL = PLAYERS["usual"]


def test_the_ai_wins_at_once_if_a_plan_surely_wins() -> None:
    # V gives some other turns more than 0.99.
    sure = [each for each in read_chances(WIN) if each.chance > 0.999][:6]
    assert len(sure) == 6
    for each in sure:
        war = War(each.turn)
        wins = sum(each.is_taken(war.play_turn(USUAL, seed).end) for seed in range(10))
        assert wins >= 9


@pytest.mark.parametrize("kind", KINDS)
def test_the_recorded_turns_have_the_stated_chances(kind: str) -> None:
    found = read_chances(kind)
    assert len(found) == OF_A_KIND
    for each in found:
        assert MIN_CHANCES[kind] <= each.chance <= 1
        assert each.gain >= MIN_GAIN if kind == ELIMINATION else not each.gain
        assert {*each.victims} <= {*each.turn.survivors} - {each.turn.player}
        assert bool(each.victims) == (kind == ELIMINATION)
        assert each.turn.phase in ("trade", "place")
