"""Codes: written codes can be read again, and malformed codes raise one-sentence errors."""

from itertools import pairwise, permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import (
    Board,
    Dice,
    Hand,
    Holding,
    IactaError,
    Position,
    Rules,
    RuleSet,
    Sets,
    Turn,
    classic_board,
)
from iacta.game import Advance, Attack, Place
from iacta.game.codes import read_sets
from iacta.rules.modes import DefenderSeesFirst
from iacta.rules.variants import register_rule_set
from tests.game.positions import at_random, classic_turn, make_line_turn

NAMES = st.text(st.sampled_from("aB9,:;%= é°#+\u2003~"), min_size=1, max_size=6).filter(
    lambda name: bool(name.strip(" \u2003-_")) and name.isprintable()
)


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """Draw positions with names that contain the separators of codes."""
    names = [f"{k}{draw(NAMES)}" for k in range(draw(st.integers(2, 5)))]
    board = Board.from_edges("drawn", pairwise(names))
    owners = [f"{k}{draw(NAMES)}" for k in range(2)]
    rows = [Holding(draw(st.sampled_from(owners)), draw(st.integers(1, 10**9))) for _ in names]
    if draw(st.booleans()):
        rows[-1] = Holding("", 0)
    return Position(board, rows[0].owner, rows)


@settings(max_examples=60, deadline=None)
@given(positions())
def test_the_code_of_a_position_survives_reading(position: Position) -> None:
    code = position.to_code()
    assert not any(letter.isspace() for letter in code)
    assert Position.from_code(code, position.board) == position
    assert Turn.from_code(code, position.board) == Turn(position)
    turn = Turn(position, phase="over", keep={position.board.territories[0]: 9})
    assert Turn.from_code(turn.to_code(), position.board) == turn


TURNS = {
    "plain": make_line_turn("r3 b1"),
    "all that can be": make_line_turn(
        "r5 r3 b2 g1",
        rules=Rules(garrison=2, mode=DefenderSeesFirst()),
        phase="trade",
        place=7,
        cards={"red": Hand(2, 1, 0, 1, 2), "green": 3},
        trade=Sets((12, 15)),
        keep={"A": 4},
        rules_of={"C": "capital", "D": Rules(least_advance=False)},
        stay="B",
        fortify="adjacent",
        whole_battles=True,
        players=("green", "red", "blue", "dead"),
        cards_due=1,
    ),
    "sets of RisiKo": make_line_turn(
        "r3 b1", trade=Sets(is_fixed=True, fixed=(6, 8, 4, 10), joker=12), cards={}
    ),
    "house rules for sets": make_line_turn(
        "r3 b1",
        trade=Sets((10, 12), must_trade=7, pictured=0, has_card_per_conquest=True),
        cards={},
    ),
    "fixed sets with a house rule": make_line_turn(
        "r3 b1", trade=Sets(is_fixed=True, must_trade=6), cards={}
    ),
    "fixed sets": make_line_turn("r3 b1", trade=Sets(is_fixed=True), cards={}),
    "placing": make_line_turn("r3 r1 r2 b1", place=5).after(Place("A", 2)),
    "an advance": make_line_turn("r9 b1 g1").after(Attack("A", "B", 3), (0, 1)),
    "a trade to come": make_line_turn("r9 b1 g1", cards={"red": 3, "blue": 3}).after(
        Attack("A", "B", 3), (0, 1)
    ),
    "the end": make_line_turn("r9 b1").after(Attack("A", "B", 3), (0, 1)),
    "nothing left": make_line_turn("r3 b1 g1", rules=Rules(garrison=0))
    .after(Attack("A", "B", 3), (0, 1))
    .after(Advance(3)),
}


@pytest.mark.parametrize("name", TURNS)
def test_the_code_of_a_turn_survives_reading(name: str) -> None:
    turn = TURNS[name]
    again = Turn.from_code(turn.to_code(), turn.board)
    assert again == turn
    assert hash(again) == hash(turn)
    assert again.to_code() == turn.to_code()
    assert list(again.actions()) == list(turn.actions())


def test_short_reprs_can_be_pasted() -> None:
    turn = Turn(Position(classic_board(), "red", {"Peru": ("red", 4), "Brazil": ("blue", 2)}))
    assert eval(repr(turn), {"Turn": Turn}) == turn  # noqa: S307 # the claim
    assert repr(make_line_turn("r3 b1")) == "<Turn: on 'line', red to attack>"


GOOD = "1;classic;red;Peru:red:3,Brazil:blue:2"


def test_another_board_and_a_turn_as_a_position_are_refused() -> None:
    position = make_line_turn("r3 b1").position
    with pytest.raises(IactaError, match="got 'classic' with 'classic'"):
        Position.from_code(position.to_code(), classic_board())
    with pytest.raises(IactaError, match="must end with its territories"):
        Position.from_code(f"{GOOD};attack")
    with pytest.raises(IactaError, match="code must be a string"):
        Position.from_code(3)  # type: ignore[arg-type] # that is the claim


def test_damaged_codes_only_raise_iacta_errors() -> None:
    rng = Random(7)  # noqa: S311 # damages codes, no secrets
    turn = classic_turn(classic_board(), 3)
    codes = []
    for _ in range(40):
        codes.append((turn.to_code(), turn.board))
        action = at_random(turn, rng)
        turn = turn.after(action, turn.results(action).sample(1, 1)[0])
        if turn.phase == "over":
            turn = turn.next()
    codes += [(each.to_code(), each.board) for each in TURNS.values()] * 10
    for code, board in codes:
        letters = list(code)
        for _ in range(rng.randint(1, 3)):
            letters[rng.randrange(len(letters))] = rng.choice(";,:=%.#0129az\u00e9{\n")
        try:
            Turn.from_code("".join(letters), board).actions()
        except IactaError as error:
            assert "\n" not in str(error)  # the error is one sentence


def test_a_code_contains_rules_whose_name_other_processes_lack() -> None:
    rules = Rules(attack=Dice((9, 6, 6)))
    register_rule_set(
        "of-nine-faces.toml", RuleSet("our house", rules, "Dice of nine faces.", "a file")
    )
    turn = make_line_turn("r3 b1", rules=rules)
    assert "of-nine" not in turn.to_code()
    assert Turn.from_code(turn.to_code(), turn.board).rules == rules


def test_house_rules_for_sets_may_come_in_any_order() -> None:
    rules = ("each", "at6", "own3")
    expected = Sets((8,), must_trade=6, pictured=3, has_card_per_conquest=True)
    for order in permutations(rules):
        assert read_sets(",".join(["8", *order])) == expected
    for twice in ("at6,at7", "each,own3,each"):
        with pytest.raises(IactaError, match=f"each house rule once, got '{twice}'"):
            read_sets(twice)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("at4", "trade at must be a whole number from 5 to 9, got 4"),
        ("own200", "trade own must be a whole number from 0 to 100, got 200"),
        ("each,6", "trade must name house rules after the armies, got 'each' before them"),
        ("fixed/1/2", "trade must have no number after fixed, or 4 or 5 numbers as in"),
        ("fixed/a/2/3/4", "trade must be a whole number from 0 to 1000, got 'a'"),
    ],
)
def test_wrong_armies_for_sets_are_explained(text: str, message: str) -> None:
    with pytest.raises(IactaError, match=message):
        read_sets(text, "trade")
