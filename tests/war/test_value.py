"""The value function V: properties that hold for all weights, and the meaning of its features."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from iacta import Board, Capitals, Continent, Missions, Position, Rules, Turn, classic_board
from iacta.game import Eliminate, Mission, OwnContinents, OwnTerritories
from iacta.game.cards import Sets
from iacta.inputs.errors import IactaError, MalformedError
from iacta.inputs.files import read_package_file
from iacta.war.games import War, stack_weights
from iacta.war.players import PLAYERS, Player
from iacta.war.value import FEATURES_OF_PLAYERS, HIDDEN, load_weights
from tests.game.positions import classic_turn, make_line_turn, skip_to_end

pytestmark = pytest.mark.usefixtures("core")
ROOT = Path(__file__).parents[2]
BEFORE = ROOT / "benchmarks" / "usual_before.json"


def make_start(seed: int) -> Turn:
    """Return the start of a turn on the classic board."""
    turn = classic_turn(classic_board(), seed)
    return skip_to_end(turn).next()


def rename_players(turn: Turn) -> tuple[Turn, dict[str, str]]:
    """Return the start of a turn with players renamed and reordered, and the new names."""
    other = dict(zip(turn.players, ("b", "c", "a"), strict=True))
    held = {
        name: (other[owner], armies)
        for name, owner, armies in zip(
            turn.board.territories, turn.owners, turn.armies, strict=True
        )
    }
    cards = {other[name]: hand for name, hand in (turn.cards or {}).items()}
    order = [other[name] for name in (*turn.players[1:], *turn.players[:1])]
    again = Turn(
        Position(turn.board, other[turn.player], held),
        place=turn.place,
        phase=turn.phase if turn.phase == "trade" else None,
        cards=cards,
        trade=turn.trade,
        players=order,
    )
    return again, other


@pytest.mark.parametrize("seed", range(8))
def test_v_does_not_depend_on_names(seed: int) -> None:
    turn = make_start(seed)
    again, other = rename_players(turn)
    ending = load_weights("ending")
    wanted = dict(
        zip((other[name] for name in turn.players), War(turn).judge(ending)[0], strict=True)
    )
    found = dict(zip(again.players, War(again).judge(ending)[0], strict=True))
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("player", "games"), [("simple", 600), ("usual", 100)])
def test_chances_do_not_depend_on_names(player: str, games: int) -> None:
    turn = make_start(5)
    again, other = rename_players(turn)
    wins = []
    for seed, each in enumerate((turn, again)):
        found = War(each).play_games(
            (PLAYERS[player],) * 3,
            games=games,
            seed=seed,
        )
        wins.append(dict(zip(each.players, (found.chances == 1).sum(axis=0), strict=True)))
    pairs = np.array([(wins[0][name], wins[1][other[name]]) for name in turn.players], dtype=float)
    assert (pairs > 5).all()
    expected = pairs.mean(axis=1, keepdims=True)
    assert (np.square(pairs - expected) / expected).sum() < 13.8  # critical value of χ² at 0.1%


@pytest.mark.parametrize("seed", range(4))
def test_v_equals_a_softmax_network_over_the_features(seed: int) -> None:
    weights = load_weights("ending")
    chances, seen = War(make_start(seed)).judge(weights)
    features = len(FEATURES_OF_PLAYERS)
    first = weights[: features * HIDDEN].reshape(features, HIDDEN)
    bias, second = weights[features * HIDDEN :].reshape(2, HIDDEN)
    scores = np.maximum(seen.astype(float) @ first + bias, 0) @ second
    powers = np.exp(scores - scores.max())
    assert chances == pytest.approx(powers / powers.sum(), abs=1e-5)
    assert chances.sum() == pytest.approx(1, abs=1e-12)


def test_v_is_exact_for_decided_games() -> None:
    out = make_line_turn("r3 g1", players=("red", "blue", "green"), cards={"blue": 1})
    assert War(out).judge(load_weights("ending"))[0][1] == 0
    won = make_line_turn("r3 r1", players=("red", "blue"), cards={"blue": 1})
    assert War(won).judge(load_weights("ending"))[0].tolist() == [1, 0]


def test_features_match_their_descriptions() -> None:
    turn = make_start(2)
    names, war = [*FEATURES_OF_PLAYERS], War(turn)
    assert len(names) == war.features
    _, seen = war.judge(load_weights("ending"))
    mover = turn.players.index(turn.player)
    assert seen[mover][names.index("seat 0")] == 1
    assert seen[:, names.index("seat 0")].sum() == 1
    for i, name in enumerate(turn.players):
        lands = turn.owners.count(name)
        assert seen[i][names.index("share of territories")] == pytest.approx(lands / 42)
        hand = turn.hand_of(name).number
        assert seen[i][names.index("cards")] == pytest.approx(hand / 5)
    assert seen[:, names.index("share of income")].sum() == pytest.approx(1)
    assert np.abs(seen).max() < 10


def test_v_has_separate_weights_for_games_with_capitals_or_missions() -> None:
    turn, usual = make_mission_turn("East", "5 territories", "5 territories"), PLAYERS["usual"]
    for some, name in ((turn, "missions"), (make_start(1), "choosing")):
        found = stack_weights((usual, usual), some.victory)
        assert np.array_equal(found, np.tile(load_weights(name), 2))  # type: ignore[arg-type]
    # A file of other weights has one set for all games.
    before = Player(samples=2, value=BEFORE)
    found = stack_weights((before,), turn.victory)
    assert np.array_equal(found, load_weights("choosing", BEFORE))  # type: ignore[arg-type]


LINE = Board(
    "line",
    tuple("ABCDEF"),
    tuple(pair for a, b in zip("ABCDE", "BCDEF", strict=True) for pair in ((a, b), (b, a))),
    (Continent("West", 1, ("A", "B", "C")), Continent("East", 2, ("D", "E", "F"))),
)


def make_mission_turn(*missions: Mission | str) -> Turn:
    """Return a turn with red on A and B, blue on C and D, green on E and F."""
    held = dict(zip("ABCDEF", zip("rrbbgg", (5, 1, 2, 3, 4, 1), strict=True), strict=True))
    given = dict(zip("rbg", missions, strict=True))
    victory = Missions(given, cards=("5 territories", "6 territories", "East"))
    return Turn(Position(LINE, "r", held), place=3, players=tuple("rbg"), victory=victory)


def read_mission_features(turn: Turn) -> list[dict[str, float]]:
    """Return the seven features of each player's mission."""
    _, seen = War(turn).judge(load_weights("ending"))
    names = [*FEATURES_OF_PLAYERS][-7:]
    return [dict(zip(names, map(float, row[-7:]), strict=True)) for row in seen]


def test_the_features_of_missions_match_their_descriptions() -> None:
    turn = make_mission_turn(OwnContinents(("East",)), OwnTerritories(4, 2), Eliminate("r"))
    red, blue, green = read_mission_features(turn)
    # Red has 9 armies and needs D, E and F with 8 armies, and an army on each.
    assert red["mission of continents"] == blue["mission of territories"] == 1
    assert green["mission to eliminate"] == 1
    assert red["missing"] == pytest.approx(3 / 6)
    assert red["progress"] == pytest.approx(9 / (9 + 8 + 3))
    # Blue has 5 armies and needs B and F with 1 army, and two armies on each.
    assert blue["missing"] == pytest.approx(2 / 6)
    assert blue["progress"] == pytest.approx(5 / (5 + 2 + 4))
    # Green has 5 armies and needs A and B with 6 armies, and an army on each.
    assert green["missing"] == pytest.approx(2 / 6)
    assert green["progress"] == pytest.approx(5 / (5 + 6 + 2))
    assert red["best rival's mission"] == pytest.approx(5 / 11)
    assert green["best rival's mission"] == pytest.approx(5 / 11)
    assert blue["best rival's mission"] == pytest.approx(9 / 20)


def test_hidden_missions_have_no_features() -> None:
    for each in read_mission_features(make_mission_turn("hidden", "hidden", "hidden")):
        assert set(each.values()) == {0.0}
    red, blue, _ = read_mission_features(make_mission_turn("East", "hidden", "hidden"))
    assert red["mission of continents"] == 1
    assert blue["progress"] == 0
    assert blue["best rival's mission"] == red["progress"] > 0


def test_a_player_compares_aims_without_the_secret_missions_of_others() -> None:
    first, second = (
        War(make_mission_turn("5 territories", mission, "6 territories")).judge_aims(
            PLAYERS["usual"], 1
        )
        for mission in ("secret West", "secret 3 territories")
    )
    assert first == second
    known = War(make_mission_turn("5 territories", "West", "6 territories"))
    assert known.judge_aims(PLAYERS["usual"], 1) != first


def test_the_features_of_capitals_count_the_missing_capitals() -> None:
    held = dict(zip("ABCDEF", zip("rrbbgg", (5, 1, 2, 3, 4, 1), strict=True), strict=True))
    capitals = Capitals({"r": "A", "b": "C", "g": "F"}, 2)
    turn = Turn(Position(LINE, "r", held), place=3, players=tuple("rbg"), victory=capitals)
    red, blue, green = read_mission_features(turn)
    assert red["mission of capitals"] == blue["mission of capitals"] == 1
    assert red["missing"] == blue["missing"] == green["missing"] == pytest.approx(1 / 6)
    assert red["progress"] == pytest.approx(9 / (9 + 1 + 1))  # F
    assert blue["progress"] == pytest.approx(5 / (5 + 1 + 1))  # F
    assert green["progress"] == pytest.approx(5 / (5 + 2 + 1))  # C


def test_dealt_games_give_each_player_their_capital_with_many_armies() -> None:
    lands = classic_board().territories
    held = {land: ("rbg"[k % 3], 3) for k, land in enumerate(lands)}
    capitals = {"r": "Brazil", "b": "Ural", "g": "Japan"}
    turn = Turn(
        Position(classic_board(), "r", held),
        phase="over",
        cards={},
        players=tuple("rbg"),
        victory=Capitals(capitals),
    )
    missing, stack = (
        [*FEATURES_OF_PLAYERS].index(name) for name in ("missing", "stack for armies")
    )
    stacks = list[float]()
    for seed in range(20):
        (first, *_), _ = War(turn).record_game((PLAYERS["simple"],) * 3, sample_chance=1, seed=seed)
        # After the first turn of the game, every player still needs one or two capitals.
        assert {*(first[:, missing] * len(lands)).round().tolist()} <= {1, 2, 3}
        stacks += first[:, stack].tolist()
    # A capital gets 0.4 of the armies that are left after one for each territory: 8 of 35.
    assert np.median(stacks) > 8 / 35


def test_the_file_of_v_describes_its_origin_and_features() -> None:
    record = json.loads(read_package_file("iacta.war", "value.json"))
    assert record["features"] == FEATURES_OF_PLAYERS
    for name in ("choosing", "missions", "ending"):
        assert re.fullmatch("[0-9a-f]{64}", record["SHA-256 of what made it"][name])
        assert record["made by"][name].startswith("python -m benchmarks.train_war ")
        assert np.isfinite(load_weights(name)).all()
        assert len(load_weights(name)) == (len(FEATURES_OF_PLAYERS) + 2) * HIDDEN


def test_weights_of_v_with_another_length_are_refused(tmp_path: Path) -> None:
    record = json.loads(read_package_file("iacta.war", "value.json"))["weights"]
    short = tmp_path / "short.json"
    for name in ("choosing", "missions", "ending"):
        record[name] = record[name][:-1]
    short.write_text(json.dumps({"weights": record}))
    turn = make_start(1)
    with pytest.raises(MalformedError, match=r"value must be a file with 1,824 weights, got 1,823"):
        War(turn).judge_aims(replace(PLAYERS["usual"], value=short), 1)


def test_an_ai_without_aims_plays_turns_with_random_aims() -> None:
    turn = make_start(1)
    ai = Player(samples=-1)
    assert War(turn).play_turn(ai, 1).end.phase == "over"


def test_the_core_uses_the_new_armies_of_the_rules() -> None:
    column = [*FEATURES_OF_PLAYERS].index("income for armies")
    turn, weights = make_line_turn("r6 b4"), load_weights("ending")
    incomes = [3 / 6, 3 / 4]
    assert War(turn).judge(weights)[1][:, column].tolist() == incomes
    for rules in (Rules(least_new_armies=6), Rules(territories_per_army=1, least_new_armies=1)):
        other = turn.with_options(rules=rules)
        found = War(other).judge(weights)[1][:, column].tolist()
        assert found == pytest.approx([rules.count_new_armies(1) / each for each in (6, 4)])


def test_the_core_refuses_invalid_rules_of_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sets, "traded_at_once", -1)
    with pytest.raises(IactaError, match="the rules of cards and new armies must have"):
        War(make_line_turn("r6 b4"))
