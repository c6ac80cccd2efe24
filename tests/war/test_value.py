"""The value function V: properties that hold for all weights, and the meaning of its features."""

import json
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from iacta import Position, Turn, classic_board
from iacta.inputs.errors import IactaError
from iacta.inputs.files import read_package_file
from iacta.war.games import War
from iacta.war.players import PLAYERS, Player
from iacta.war.tables import find_hand
from iacta.war.value import FEATURES_OF_PLAYERS, HIDDEN, load_weights
from tests.game.positions import classic_turn, make_line_turn

pytestmark = pytest.mark.usefixtures("core")
ROOT = Path(__file__).parents[2]


def make_start(seed: int) -> Turn:
    """Return the start of a turn on the classic board."""
    turn = classic_turn(classic_board(), seed)
    return turn._replace(phase="over").next()


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
        hand = find_hand(turn, name).number
        assert seen[i][names.index("cards")] == pytest.approx(hand / 5)
    assert seen[:, names.index("share of income")].sum() == pytest.approx(1)
    assert np.abs(seen).max() < 10


def test_the_file_of_v_describes_its_origin_and_features() -> None:
    record = json.loads(read_package_file("iacta.war", "value.json"))
    assert record["features"] == FEATURES_OF_PLAYERS
    assert re.fullmatch("[0-9a-f]{64}", record["SHA-256 of what made it"])
    assert record["made by"].startswith("python -m benchmarks.train_war")
    for name in ("choosing", "ending"):
        assert np.isfinite(load_weights(name)).all()
        assert len(load_weights(name)) == (len(FEATURES_OF_PLAYERS) + 2) * HIDDEN


def test_the_core_has_the_weights_in_the_same_order() -> None:
    text = (ROOT / "src" / "core" / "war" / "player.hpp").read_text(encoding="utf-8")
    (listed,) = re.findall(r"enum Number : int \{(.*?)\}", text, re.DOTALL)
    names = [each.strip().lower() for each in listed.split(",")]
    *weights, value = (each.name for each in fields(Player))
    assert (names, value) == ([*weights, "numbers"], "value")
    assert len(PLAYERS["usual"].numbers) == len(weights)


def test_the_core_uses_the_rules_of_new_armies_from_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    column = [*FEATURES_OF_PLAYERS].index("income for armies")
    turn, weights = make_line_turn("r6 b4"), load_weights("ending")
    incomes = [3 / 6, 3 / 4]
    assert War(turn).judge(weights)[1][:, column].tolist() == incomes
    monkeypatch.setattr("iacta.war.tables.MIN_NEW", 6)
    assert War(turn).judge(weights)[1][:, column].tolist() == [2 * each for each in incomes]


def test_the_core_refuses_invalid_rules_of_new_armies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("iacta.war.tables.TERRITORIES_PER_ARMY", 0)
    with pytest.raises(IactaError, match="the rules of cards and new armies must have"):
        War(make_line_turn("r6 b4"))
