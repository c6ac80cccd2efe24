"""Actions and results that a client sends as JSON are legal, or raise an error."""

from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacta import Hand, IactaError, IllegalError, Turn
from iacta.game import (
    Action,
    Advance,
    Attack,
    Defend,
    EndPhase,
    Fortify,
    Place,
    Reveal,
    Trade,
    play_step,
)

BOARD = "1;classic;red;Peru:red:6,Argentina:blue:1,Brazil:blue:3,Venezuela:red:2"
CODES = (
    f"{BOARD};trade;cards=red:3.1.1.1.0",
    f"{BOARD};trade;cards=red:3",
    f"{BOARD};place;place=4",
    f"{BOARD};attack",
    f"{BOARD};attack;whole=1",
    f"{BOARD};attack;rules=defender%20sees%20first",
    f"{BOARD};defend;rules=defender%20sees%20first;attack=Peru:Brazil:3;throw=2",
    "1;classic;red;Peru:red:3,Brazil:blue:3,Argentina:red:3;advance;attack=Peru:Argentina:3",
    f"{BOARD};fortify",
    f"{BOARD};over",
)
KINDS = (Reveal, Trade, Place, Attack, Defend, Advance, Fortify, EndPhase)

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)


@st.composite
def draw_value(draw: st.DrawFn, value: object) -> Any:
    """Draw a value that a client might send: the right one, a similar one, or anything."""
    near: list[Any]
    if isinstance(value, tuple):  # a tuple, such as a hand of cards
        near = [value, tuple(value), tuple(draw(draw_value(each)) for each in value)]
        return draw(st.sampled_from(near) | JSON)
    if isinstance(value, int):
        near = [value, float(value), str(value), value + 1, -value, value + 0.5, value == 1]
        return draw(st.sampled_from(near) | JSON)
    return draw(st.just(value) | JSON)


@st.composite
def steps(draw: st.DrawFn) -> tuple[Turn, Action, Any]:
    """Draw a turn, an action and its result."""
    turn = Turn.from_code(draw(st.sampled_from(CODES)))
    actions = [*turn.actions()]
    is_near = draw(st.integers(0, 4)) > 0
    if actions and is_near:
        legal = draw(st.sampled_from(actions))
        kind = type(legal)
        values = [draw(draw_value(getattr(legal, each.name))) for each in fields(kind)]
        result = draw(draw_value(draw(st.sampled_from([*turn.results(legal)]))))
    else:
        kind = draw(st.sampled_from(KINDS))
        values, result = [draw(JSON) for _ in fields(kind)], draw(JSON)
    return turn, kind(*values), result


@given(steps())
def test_a_turn_accepts_or_refuses_any_request(step: tuple[Turn, Action, Any]) -> None:
    turn, action, result = step
    try:
        after = turn.after(action, result)
    except IllegalError as error:
        assert str(error).isprintable()
        return
    assert action in [*turn.actions()]
    again = Turn.from_code(after.to_code())
    assert (again, again.to_code()) == (after, after.to_code())
    assert [*again.actions()] == [*after.actions()]


@given(JSON, JSON)
def test_values_that_are_not_actions_are_refused(action: Any, result: Any) -> None:
    for code in CODES:
        with pytest.raises(IllegalError):
            Turn.from_code(code).after(action, result)


def test_a_turn_accepts_actions_equal_to_its_own() -> None:
    turn = Turn.from_code(CODES[3])
    for dice in (1, 1.0, True):
        after = turn.after(Attack("Peru", "Argentina", dice), (0.0, True))  # type: ignore[arg-type] # that is the claim
        assert repr(after.pending) == "Attack('Peru', 'Argentina', 1)"
        assert Turn.from_code(after.to_code()) == after
    placed = Turn.from_code(CODES[2]).after(Place("Venezuela", 2.0))  # type: ignore[arg-type] # that is the claim
    assert placed.to_code().count(".") == 0
    trading = Turn.from_code(CODES[0])
    expected = trading.after(Trade(Hand(3))).to_code()
    numbers: list[tuple[Any, ...]] = [(3.0, 0, 0, 0, 0, ()), (True * 3, 0, 0, 0, 0, ())]
    for cards in (Hand._make(numbers[0]), *numbers):
        assert trading.after(Trade(cards)).to_code() == expected  # type: ignore[arg-type] # that is the claim


def test_the_moves_of_a_game_belong_to_its_turns() -> None:
    turn = Turn.from_code(CODES[3])
    record = turn.play(lambda turn: _with_floats(turn.actions()[0]), seed=1)
    assert all(
        type(each) is not float for move in record.moves for each in vars(move.action).values()
    )


def _with_floats(action: Action) -> Action:
    kind: Any = type(action)
    return kind(*(float(each) if type(each) is int else each for each in vars(action).values()))  # type: ignore[no-any-return] # the kind of the action


def test_an_attack_without_a_border_is_refused_as_such() -> None:
    turn = Turn.from_code(CODES[3])
    for action, sentence in (
        (Attack("Peru", "Alaska", 3), "Peru cannot attack Alaska: no border leads there"),
        (Attack("Brazil", "Peru", 1), "Brazil cannot attack Peru: it is not red's"),
        (Attack("Peru", "Venezuela", 1), "Peru cannot attack Venezuela: red owns it already"),
        (Attack("Peru", "Brasil", 1), "no territory 'Brasil'; did you mean 'Brazil'"),
        (Attack("Peru", "Brazil", 4), r"such as Attack\('Peru', 'Brazil', 3\), got Attack\('Peru"),
    ):
        with pytest.raises(IllegalError, match=sentence):
            turn.after(action, (0, 1))


@pytest.mark.parametrize("step", [None, [], 5, "stop", {}, {"do": []}, {"do": "place", "on": 5}])
def test_a_sent_value_that_is_no_step_is_an_error(step: Any) -> None:
    with pytest.raises(IactaError, match=r"^(step|do|on) must be "):
        play_step(Turn.from_code(f"{BOARD};place;place=4"), step)
