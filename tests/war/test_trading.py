"""An AI with `trading` decides on a trade by the values of its aims with and without the trade."""

from dataclasses import replace
from random import Random

import pytest

from iacta import Hand, Position, Sets, Turn, classic_board
from iacta.game import EndPhase, Trade
from iacta.war.games import War
from iacta.war.players import AIMS, PLAYERS, WIN
from tests.game.positions import classic_turn
from tests.war.twin import SimplePolicy
from tests.war.victories import RING

pytestmark = pytest.mark.usefixtures("core")
# Without margins, the value of an aim is the mean of V.
TRADER = replace(
    PLAYERS["usual"], trading=1, margin=0, aims=tuple(each for each in AIMS if each != WIN)
)
SEEDS = range(40)


def draw_turn_with_a_set(seed: int) -> Turn:
    """Return a turn on the classic board in which the mover may keep a set."""
    turn, rng = classic_turn(classic_board(), seed), Random(seed)  # noqa: S311 # no secrets
    hand = rng.choice((Hand(3), Hand(1, 1, 1), Hand(0, 2, 1, 1)))
    trade = rng.choice(
        (Sets(), Sets(is_fixed=True), Sets(must_trade=6, pictured=5, has_card_per_conquest=True))
    )
    return Turn(
        turn.position,
        phase="trade",
        place=turn.new_armies(),
        cards={turn.player: hand},
        trade=trade,
        players=turn.players,
    )


def find_best_value(turn: Turn, seed: int) -> float:
    """Return the value of the best aim."""
    return War(turn).judge_aims(TRADER, seed)[0][1]


def test_a_set_is_traded_if_the_best_aim_is_then_worth_more() -> None:
    traded = 0
    for seed in SEEDS:
        turn = draw_turn_with_a_set(seed)
        first = War(turn).play_turn(TRADER, seed).moves[0].action
        trade = next(each for each in turn.actions() if isinstance(each, Trade))
        after, kept = (find_best_value(turn.after(each), seed) for each in (trade, EndPhase()))
        assert isinstance(first, Trade) == (after >= kept), seed
        traded += after >= kept
    assert 0.2 < traded / len(SEEDS) < 0.98


def test_nuclear_trades_of_the_core_are_those_of_turn_and_of_the_twin() -> None:
    struck = out = 0
    for seed in range(60):
        rng = Random(seed)  # noqa: S311 # plays games, no secrets
        players = ("red", "blue", "green")[: rng.randint(2, 3)]
        lands = {name: (rng.choice(players), rng.randint(1, 9)) for name in RING.territories}
        lands |= {name: (player, 3) for name, player in zip(RING.territories, players)}  # noqa: B905
        names = tuple(sorted(rng.sample(RING.territories, 5)))
        hand = Hand(infantry=5, territories=names)
        turn = Turn(
            Position(RING, "red", lands),
            phase="trade",
            place=3,
            cards={"red": hand, "blue": 4},
            trade=Sets(is_nuclear=True, must_trade=rng.choice((5, 6))),
            symbols=dict.fromkeys(RING.territories, "infantry"),
            players=players,
        )
        # `play_turn` raises an error if the end differs from that of `Turn`.
        played = War(turn).play_turn(PLAYERS["simple"], seed)
        policy = SimplePolicy()
        for move in played.moves:
            if move.turn.phase == "trade":
                assert policy(move.turn) == move.action, seed
                struck += isinstance(move.action, Trade)
        out += len(played.end.survivors) < len(players)
    assert struck > 20
    assert out > 3
