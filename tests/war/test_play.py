"""The core follows the rules of `Turn` and agrees with its Python twin."""

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from benchmarks.opponents import find_row
from iacta import Board, Hand, Position, Sets, Turn, classic_board
from iacta.game import Attack, Defend, Place, PlayedTurn, Reveal, Trade
from iacta.inputs.errors import IactaError, IllegalError
from iacta.methods import choose_kernel
from iacta.rules.modes import ArmiesGrow, DefenderSeesFirst
from iacta.rules.roll import Losses
from iacta.rules.rules import Rules
from iacta.war import ai
from iacta.war.games import Aim, War, list_seats
from iacta.war.players import AIMS, ELIMINATE, GUARD, HOLD, PLAYERS, RAID, WIN
from tests.cases import choose_seeds
from tests.game.positions import classic_turn, make_line_turn
from tests.house_twin import HOUSES, TURN_HOUSES
from tests.war.games import NAMES, random_turn
from tests.war.twin import SimplePolicy

pytestmark = pytest.mark.usefixtures("core")
SEEDS = choose_seeds(range(1000), 200)


def draw_turn(seed: int, rules: Rules | None = None) -> Turn | None:
    """Return a random turn, or `None` if its game is over."""
    turn = random_turn(Random(seed), rules)  # noqa: S311 # plays games, no secrets
    is_over = turn.phase == "over" or turn.winner is not None
    return None if is_over or len(list_seats(turn)) < 2 else turn


def check_moves(turn: Turn, record: PlayedTurn) -> None:
    """Check that all moves of a played turn are legal, and lead to its end."""
    for move in record.moves:
        assert move.turn == turn
        turn = turn.after(move.action, move.result)
    assert (turn, turn.phase) == (record.end, "over")


def play_drawn_turn(seed: int, rules: Rules | None = None) -> dict[str, PlayedTurn]:
    """Return a random turn as played by each AI, with legal moves; empty if its game is over."""
    turn = draw_turn(seed, rules)
    if turn is None:
        return {}
    war = War(turn)
    records = {name: war.play_turn(PLAYERS[name], seed) for name in PLAYERS}
    for record in records.values():
        check_moves(turn, record)
    return records


@pytest.mark.parametrize("part", range(4))
def test_turns_of_the_core_are_legal(part: int) -> None:
    actions, seeds = 0, SEEDS[part::4]
    for seed in seeds:
        for record in play_drawn_turn(seed).values():
            actions += len(record.moves)
    assert actions > 25 * len(seeds)


@pytest.mark.parametrize("house", TURN_HOUSES)
def test_turns_under_house_rules_are_legal_and_agree_with_the_twin(house: str) -> None:
    actions, policy = 0, SimplePolicy()
    for seed in choose_seeds(range(2000, 2100), 20):
        records = play_drawn_turn(seed, HOUSES[house].rules)
        actions += sum(len(record.moves) for record in records.values())
        for move in records["simple"].moves if records else ():
            assert policy(move.turn) == move.action, (seed, move.turn.phase)
    assert actions > 400


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("house", TURN_HOUSES)
def test_rolls_of_the_core_have_the_chances_of_the_turn(house: str, whole: bool) -> None:
    # The core draws again where a roll costs nobody an army.
    turn = make_line_turn("r9 b4", rules=HOUSES[house].rules, whole_battles=whole)
    war, games, counts = War(turn), 3000, Counter[object]()
    for seed in range(games):
        first = war.play_turn(PLAYERS["simple"], seed).moves[0]
        counts[first.result] += 1
    chances: dict[object, float] = {
        losses: float(p) for losses, p in turn.results(first.action).items()
    }
    again = chances.pop(Losses(0, 0), 0.0)
    assert counts.keys() <= chances.keys()
    for losses, p in chances.items():
        p /= 1 - again
        assert abs(counts[losses] - games * p) < 4.5 * (games * p * (1 - p)) ** 0.5 + 1


@pytest.mark.parametrize("name", ["simple", "yardstick"])
def test_the_python_twin_takes_the_same_actions_as_the_core(name: str) -> None:
    policy = SimplePolicy(find_row(name))
    for seed in choose_seeds(range(5000, 5200), 60):
        turn = draw_turn(seed)
        if turn is None:
            continue
        for move in War(turn).play_turn(find_row(name), seed).moves:
            if not isinstance(move.action, Defend):
                assert policy(move.turn) == move.action, (seed, move.turn.phase)


@pytest.mark.parametrize("name", PLAYERS)
def test_the_policy_of_an_ai_plays_like_the_core(name: str) -> None:
    actions, seeds = 0, choose_seeds(range(300, 316), 6)
    for seed in seeds:
        turn = draw_turn(seed)
        if turn is None:
            continue
        policy = ai(name, seed=seed)
        follow = policy.follow()
        for number, move in enumerate(War(turn).play_turn(PLAYERS[name], seed).moves):
            if not isinstance(move.action, Defend):
                assert follow(move.turn) == move.action, (seed, move.turn.phase)
                assert number or policy(turn) == move.action
                actions += 1
    assert actions > 4 * len(seeds)


def test_an_ai_keeps_its_aim_in_play_and_chooses_anew_in_single_calls() -> None:
    turn, policy = make_line_turn("r9 b2 g3 b1", place=4), ai("usual", seed=2)
    record = turn.play(policy, seed=3)
    assert record == turn.play(policy, seed=3)
    follow = policy.follow()
    assert [follow(move.turn) for move in record.moves] == [move.action for move in record.moves]
    middle = record.moves[1].turn
    assert policy(middle) == ai("usual", seed=2)(middle)


@pytest.mark.parametrize("name", PLAYERS)
def test_an_ai_does_not_act_in_a_finished_turn(name: str) -> None:
    for code in ("Peru:red:9,Brazil:blue:2;over", "Peru:red:9,Brazil:red:2;over"):
        with pytest.raises(IllegalError, match=r"^the turn of red must have a legal action"):
            ai(name)(Turn.from_code(f"1;classic;red;{code};players=red,blue"))


@pytest.mark.parametrize("kind", AIMS)
def test_turns_with_any_aim_are_legal(kind: str) -> None:
    continents, players = kind in ("continent", "break", RAID, GUARD), kind in ("chase", ELIMINATE)
    for seed in choose_seeds(range(20), 10):
        turn = draw_turn(seed)
        if turn is None or (continents and not turn.board.continents):
            continue
        which = (list_seats(turn).index(turn.player) + 1) % len(list_seats(turn)) if players else 0
        if kind == WIN:  # any territory, including territories of others, or the routes decide
            which = seed % (len(turn.board.territories) + 1)
        check_moves(turn, War(turn).play_turn(PLAYERS["usual"], seed, Aim(kind, which)))


def test_eliminations_take_dead_ends_first() -> None:
    # Blue owns a dead end next to the stack, a territory behind green, and one next to home.
    board = Board.from_edges(
        "tree",
        [("stack", "end"), ("stack", "way"), ("way", "far"), ("home", "other"), ("stack", "home")],
    )
    held = {
        "stack": ("red", 12),
        "end": ("blue", 1),
        "way": ("green", 1),
        "far": ("blue", 2),
        "home": ("red", 1),
        "other": ("blue", 2),
    }
    turn = Turn(Position(board, "red", held), place=6, players=("red", "blue", "green"))
    war = War(turn)
    moves = war.play_turn(PLAYERS["usual"], 1, Aim(ELIMINATE, 1)).moves
    placed = {m.action.territory: m.action.armies for m in moves if isinstance(m.action, Place)}
    assert placed["home"] >= 4
    attacked = [m.action.to for m in moves if isinstance(m.action, Attack)]
    assert attacked.index("end") < attacked.index("way") < attacked.index("far")
    aims = (Aim(ELIMINATE, 1), Aim("chase", 1))
    reached = [
        war.play_games((PLAYERS["usual"],) * 3, games=200, aim=aim, cut=1).reached.mean()
        for aim in aims
    ]
    assert reached[0] > 0.6 > reached[1]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_python_twin_plays_the_same_games_as_the_core(seed: int) -> None:
    policy, turn, turns = SimplePolicy(), classic_turn(classic_board(), seed), 0
    while turn.winner is None and turns < 12:
        record = War(turn).play_turn(PLAYERS["simple"], seed + turns)
        for move in record.moves:
            assert policy(move.turn) == move.action
        turn, turns = record.end, turns + 1
        turn = turn if turn.winner else turn.next()
    assert turns > 3


@pytest.mark.parametrize("name", ["simple", "usual"])
def test_turns_of_an_ai_are_legal(name: str) -> None:
    played = 0
    for seed in SEEDS[:60]:
        turn = draw_turn(seed)
        if turn is None:
            continue
        record = ai(name).play(turn, seed=seed)
        check_moves(turn, record)
        assert ai(name).play(turn, seed=seed) == record
        played += 1
    assert played > 20


HOUSE_RULES = [HOUSES[name].rules for name in TURN_HOUSES]


@pytest.mark.parametrize(
    "rules", ["classic", "capital", Rules(mode=DefenderSeesFirst()), *HOUSE_RULES]
)
def test_odds_of_the_core_equal_those_of_the_kernel(rules: Rules | str) -> None:
    turn = make_line_turn("r3 b1", rules=rules)
    kernel = choose_kernel(turn.rules)
    for able, defenders in ((1, 1), (1, 7), (9, 2), (5, 5), (64, 64), (3, 64)):
        won, lost, killed = War(turn).compute_odds(1, able, defenders)
        assert won == pytest.approx(float(kernel.win_probability(able, defenders)), abs=1e-9)
        assert lost <= able
        assert killed <= defenders
        may_attack = kernel.count_dice(able, defenders)[0] > 0
        assert (lost > 0, killed > 0) == (may_attack, may_attack)
    assert War(turn).compute_odds(1, 900, 30)[0] == pytest.approx(1, abs=1e-6)


def test_only_unknown_cards_differ_between_games() -> None:
    turn = make_line_turn("r9 b1 g1", phase="trade", place=3, cards={"red": 5})
    war, seen = War(turn), set()
    for seed in range(40):
        moves = war.play_turn(PLAYERS["simple"], seed).moves
        assert isinstance(moves[0].action, Reveal)
        seen.add(moves[0].result)
    assert len(seen) > 20
    known = make_line_turn("r9 b1 g1", phase="trade", place=3, cards={"red": Hand(5)})
    moves = War(known).play_turn(PLAYERS["simple"], 1).moves
    assert moves[0].action == Trade(Hand(3))


def test_a_neutral_player_never_moves() -> None:
    board = classic_board()
    owners = ("red", "blue", "grey")
    held = {name: (owners[t % 3], 2) for t, name in enumerate(board.territories)}
    turn = Turn(Position(board, "red", held), place=3, players=("red", "blue"), cards={})
    for number in range(60):
        grey = {t for t, owner in enumerate(turn.owners) if owner == "grey"}
        turn = War(turn).play_turn(PLAYERS["simple"], number).end
        assert {t for t, owner in enumerate(turn.owners) if owner == "grey"} <= grey
        if turn.winner is not None:
            break
        turn = turn.next()
        assert turn.player != "grey"
    assert turn.winner in ("red", "blue")


def test_a_turn_with_an_aim_reaches_it_more_often() -> None:
    turn = make_line_turn("r12 b2 g3", cards={"red": 2, "green": 2})
    war, player = War(turn), (PLAYERS["usual"],) * 3
    reached = [
        war.play_games(player, games=200, aim=aim, cut=1).reached.mean()
        for aim in (Aim(ELIMINATE, 2), Aim(HOLD))
    ]
    assert reached[0] > 0.5
    assert reached[1] == 1


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        (
            make_line_turn("r3 b1", rules=Rules(mode=ArmiesGrow())),
            "cannot be used for the whole game",
        ),
        (make_line_turn("r3"), "players must be from 2 to 6, got 1"),
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


def test_games_do_not_depend_on_the_division_into_calls() -> None:
    war = War(classic_turn(classic_board(), 4))
    player = (PLAYERS["usual"],) * 3
    whole = war.play_games(player, games=12, seed=3, cut=2)
    parts = [war.play_games(player, games=4, first=first, seed=3, cut=2) for first in (0, 4, 8)]
    assert np.array_equal(whole.chances, np.concatenate([each.chances for each in parts]))


@pytest.mark.parametrize("name", PLAYERS)
def test_players_attack_on_a_full_board(name: str) -> None:
    turn = make_line_turn("r90 r90 b90 b90", place=3)
    player = PLAYERS[name]
    found = War(turn).play_games((player,) * 2, games=20, most_rounds=1000)
    assert not (found.is_cut | found.is_too_long).any()
    waits = replace(player, patience=1e6, growth=0.0, samples=0, sure=0.0)
    found = War(turn).play_games((waits,) * 2, games=20, most_rounds=1000)
    assert found.is_too_long.all()


def test_games_from_random_deals_are_fair() -> None:
    turn = classic_turn(classic_board(), 4)
    found = War(turn).play_games((PLAYERS["simple"],) * 3, games=900, seed=1, is_dealt=True)
    wins = (found.chances == 1).sum(axis=0)
    assert ((wins - 300) ** 2 / 300).sum() < 13.8  # critical value of χ² at 0.1%


def test_fixed_sets_never_rise() -> None:
    turn = make_line_turn(
        "r9 b1 g1", phase="trade", cards={"red": Hand(3, 3)}, trade=Sets(is_fixed=True)
    )
    moves = War(turn).play_turn(PLAYERS["simple"], 1).moves
    assert next(m.action.cards for m in moves if isinstance(m.action, Trade)) == Hand(cavalry=3)
