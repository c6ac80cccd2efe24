"""The core follows the rules of `Turn`, and agrees with its Python twin."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from iacta import Board, Hand, Position, Sets, Turn, classic_board
from iacta.game import Defend, Reveal, Trade
from iacta.inputs.errors import IactaError
from iacta.methods import find_kernel
from iacta.rules.modes import ArmiesGrow, DefenderSeesFirst
from iacta.rules.rules import Rules
from iacta.war.games import ELIMINATE, HOLD, Aim, War, list_seats
from iacta.war.players import PLAYERS
from iacta.war.tactics import SimplePolicy
from iacta.war.value import load_weights
from tests.game.positions import classic_turn, line_turn
from tests.war.games import NAMES, random_turn

pytestmark = pytest.mark.usefixtures("core")
TURNS, OF_A_TEST = 1000, 50


def playable(seed: int) -> Turn | None:
    """Return a random turn with an action left."""
    turn = random_turn(Random(seed))  # noqa: S311 # plays games, no secrets
    is_over = turn.phase == "over" or turn.winner is not None
    return None if is_over or len(list_seats(turn)) < 2 else turn


@pytest.mark.parametrize("first", range(0, TURNS, OF_A_TEST))
def test_turns_of_the_core_are_legal(first: int) -> None:
    actions = 0
    for seed in range(first, first + OF_A_TEST):
        turn = playable(seed)
        if turn is None:
            continue
        for name in ("simple", "usual", "yardstick"):
            # `play_turn` raises an error for illegal actions and for a different end.
            record = War(turn).play_turn(PLAYERS[name], load_weights("choosing"), seed)
            assert record.end.phase == "over"
            actions += len(record.moves)
    assert actions > 20 * OF_A_TEST


@pytest.mark.parametrize("first", range(5000, 5200, OF_A_TEST))
@pytest.mark.parametrize("name", ["simple", "yardstick"])
def test_the_python_twin_takes_the_same_actions_as_the_core(name: str, first: int) -> None:
    policy = SimplePolicy(PLAYERS[name])
    for seed in range(first, first + OF_A_TEST):
        turn = playable(seed)
        if turn is None:
            continue
        for move in War(turn).play_turn(PLAYERS[name], None, seed).moves:
            if not isinstance(move.action, Defend):
                assert policy(move.turn) == move.action, (seed, move.turn.phase)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_python_twin_plays_the_same_games_as_the_core(seed: int) -> None:
    policy, turn, turns = SimplePolicy(), classic_turn(classic_board(), seed), 0
    while turn.winner is None and turns < 12:
        record = War(turn).play_turn(PLAYERS["simple"], None, seed + turns)
        for move in record.moves:
            assert policy(move.turn) == move.action
        turn, turns = record.end, turns + 1
        turn = turn if turn.winner else turn.next()
    assert turns > 3


@pytest.mark.parametrize("rules", ["classic", "capital", Rules(mode=DefenderSeesFirst())])
def test_odds_of_the_core_equal_those_of_the_kernel(rules: Rules | str) -> None:
    turn = line_turn("r3 b1", rules=rules)
    kernel = find_kernel(turn.rules)
    for able, defenders in ((1, 1), (1, 7), (9, 2), (5, 5), (64, 64), (3, 64)):
        won, lost, killed = War(turn).find_odds(1, able, defenders)
        assert won == pytest.approx(float(kernel.win_probability(able, defenders)), abs=1e-9)
        assert 0 < lost <= able
        assert 0 < killed <= defenders
    assert War(turn).find_odds(1, 900, 30)[0] == pytest.approx(1, abs=1e-6)


def test_only_unknown_cards_differ_between_games() -> None:
    turn = line_turn("r9 b1 g1", phase="trade", place=3, cards={"red": 5})
    war, seen = War(turn), set()
    for seed in range(40):
        moves = war.play_turn(PLAYERS["simple"], None, seed).moves
        assert isinstance(moves[0].action, Reveal)
        seen.add(moves[0].result)
    assert len(seen) > 20
    known = line_turn("r9 b1 g1", phase="trade", place=3, cards={"red": Hand(5)})
    moves = War(known).play_turn(PLAYERS["simple"], None, 1).moves
    assert moves[0].action == Trade(Hand(3))


def test_a_neutral_player_never_moves() -> None:
    board = classic_board()
    owners = ("red", "blue", "grey")
    held = {name: (owners[t % 3], 2) for t, name in enumerate(board.territories)}
    turn = Turn(Position(board, "red", held), place=3, players=("red", "blue"), cards={})
    for number in range(60):
        grey = {t for t, owner in enumerate(turn.owners) if owner == "grey"}
        turn = War(turn).play_turn(PLAYERS["simple"], None, number).end
        assert {t for t, owner in enumerate(turn.owners) if owner == "grey"} <= grey
        if turn.winner is not None:
            break
        turn = turn.next()
        assert turn.player != "grey"
    assert turn.winner in ("red", "blue")


def test_a_turn_with_an_aim_reaches_it_more_often() -> None:
    turn = line_turn("r12 b2 g3", cards={"red": 2, "green": 2})
    war, player = War(turn), (PLAYERS["usual"],) * 3
    choosing, ending = load_weights("choosing"), load_weights("ending")
    reached = [
        war.play_games(player, choosing, ending, games=200, aim=aim, cut=1).reached.mean()
        for aim in (Aim(ELIMINATE, 2), Aim(HOLD))
    ]
    assert reached[0] > 0.5
    assert reached[1] == 1


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        (line_turn("r3 b1", rules=Rules(mode=ArmiesGrow())), "cannot be used for the whole game"),
        (line_turn("r3"), "players must be from 2 to 6, got 1"),
        ("1;classic", "turn must be a Turn"),
    ],
)
def test_rules_that_the_core_does_not_support_are_refused(turn: Turn, message: str) -> None:
    with pytest.raises(IactaError, match=message):
        War(turn)


def test_more_than_six_players_are_refused() -> None:
    names = [*NAMES, "seventh"]
    board = Board.from_edges("line", [(f"T{k}", f"T{k + 1}") for k in range(6)])
    held = {f"T{k}": (name, 3) for k, name in enumerate(names)}
    with pytest.raises(IactaError, match="players must be from 2 to 6, got 7"):
        War(Turn(Position(board, "red", held)))


def test_the_division_into_calls_does_not_change_games() -> None:
    war = War(classic_turn(classic_board(), 4))
    player = (PLAYERS["usual"],) * 3
    choosing, ending = load_weights("choosing"), load_weights("ending")
    whole = war.play_games(player, choosing, ending, games=12, seed=3, cut=2)
    parts = [
        war.play_games(player, choosing, ending, games=4, first=first, seed=3, cut=2)
        for first in (0, 4, 8)
    ]
    assert np.array_equal(whole.chances, np.concatenate([each.chances for each in parts]))


@pytest.mark.parametrize("name", ["simple", "usual"])
def test_players_attack_on_a_full_board(name: str) -> None:
    turn = line_turn("r90 r90 b90 b90", place=3)
    player, weights = PLAYERS[name], (load_weights("choosing"), load_weights("ending"))
    found = War(turn).play_games((player,) * 2, *weights, games=20, most_rounds=1000)
    assert not (found.is_cut | found.is_too_long).any()
    waits = replace(player, patience=1e6, growth=0.0, samples=0)
    found = War(turn).play_games((waits,) * 2, *weights, games=20, most_rounds=1000)
    assert found.is_too_long.all()


def test_games_from_random_deals_are_fair() -> None:
    turn = classic_turn(classic_board(), 4)
    found = War(turn).play_games(
        (PLAYERS["simple"],) * 3,
        None,
        load_weights("ending"),
        games=900,
        seed=1,
        is_dealt=True,
    )
    wins = (found.chances == 1).sum(axis=0)
    assert ((wins - 300) ** 2 / 300).sum() < 13.8  # chi-squared test at the 0.1% level


def test_fixed_sets_never_rise() -> None:
    turn = line_turn(
        "r9 b1 g1", phase="trade", cards={"red": Hand(3, 3)}, trade=Sets(is_fixed=True)
    )
    moves = War(turn).play_turn(PLAYERS["simple"], None, 1).moves
    assert next(m.action.cards for m in moves if isinstance(m.action, Trade)) == Hand(cavalry=3)
