"""Values: they do not change, can be compared, pickled and shown, and are short in a terminal."""

import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest

import iacta
from iacta import (
    MODIFIERS,
    RULE_SETS,
    Battle,
    Campaign,
    CampaignOutcome,
    Continuation,
    Distribution,
    Estimate,
    Hold,
    Holding,
    IactaError,
    InOrder,
    NextMove,
    Plan,
    Position,
    Roll,
    SimulatedPlan,
    Step,
    TakeAll,
    TakeAny,
    Worth,
    audit,
    best_mix,
    best_plan,
    classic_board,
    eliminate,
    find_rules,
    go_on,
    hold,
    how_many_dice,
    read_position,
    reinforce,
    simulate_battle,
    spread_defenders,
    when_to_stop,
)
from iacta.reprs import Displayed

GOALS = (TakeAll, TakeAny, InOrder, Worth)
SMALL = read_position("examples/break-off.json")
CD = TakeAll("C,D")


@cache
def by_rolls() -> Plan:
    return best_plan(SMALL, CD)


@cache
def by_battles() -> Plan:
    return best_plan(SMALL, CD, play="battles")


def continued() -> Continuation:
    goals = InOrder((TakeAll("C"), TakeAll("D")))
    return go_on(SMALL, goals, {2: 1.0}, ends=4)


def held() -> Hold:
    return hold(by_battles())


# Values whose text can be pasted back, large ones too.
PASTED: dict[str, Any] = {
    "battle": Battle(12, 10),
    "house rules": Battle(12, 10, iacta.Rules(attack=iacta.Dice((20,) * 60))),
    "campaign": Campaign(20, range(1, 200)),
    "distribution": Battle(60, 50).outcomes(),
    "exact distribution": Battle(12, 10).attackers_left(exact=True),
    "board": classic_board(),
    "position": read_position("examples/asia.toml"),
    "small position": SMALL,
    "roll": Roll(3, 2),
    "simulated": simulate_battle(12, 10, runs=100),
    "spread": spread_defenders(12, 100, 3),
    "goal": TakeAll(classic_board().territories),
    "any": TakeAny("Egypt"),
    "goals in order": InOrder((TakeAll(classic_board().territories), TakeAll("Egypt"))),
    "worth": Worth(dict.fromkeys(classic_board().territories, 1.0)),
    "rule set": RULE_SETS[8],
    "modifier": MODIFIERS[4],
    "simulated plan": SimulatedPlan(Estimate(9, 4), 0.4, 0.1, (Estimate(9, 4),) * 42),
    "step": Step("A", "C", 1.0, 0.9, 3.0, tuple((n, 0.1, 2.0) for n in range(40))),
}
# Answers, which can only be asked for again.
ANSWERS: dict[str, Any] = {
    "decision": when_to_stop(12, 10, prize=10),
    "mix": best_mix(6, 4),
    "dice": how_many_dice(6, 4),
}


@pytest.mark.parametrize("name", PASTED)
def test_the_text_of_a_value_can_be_pasted_back(name: str) -> None:
    value = PASTED[name]
    text = value.to_text()
    names = {each: getattr(iacta, each) for each in iacta.__all__}
    pasted = eval(text, names)  # noqa: S307 # the claim is that it can be evaluated
    assert (pasted, hash(pasted)) == (value, hash(value))
    assert repr(value) == text if len(text) <= 200 else repr(value).startswith("<")
    assert len(repr(value)) <= 200


@pytest.mark.parametrize("name", PASTED | ANSWERS)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_value_can_be_pickled(name: str, protocol: int) -> None:
    value = (PASTED | ANSWERS)[name]
    again = pickle.loads(pickle.dumps(value, protocol))  # noqa: S301 # our own bytes
    assert (again, hash(again), repr(again)) == (value, hash(value), repr(value))


def test_a_plan_can_be_pickled_and_followed_on() -> None:
    chain = read_position("examples/unfinished-game.json")
    later = Position(SMALL.board, "red", {"A": ("red", 7), "B": ("red", 8)}, others=("blue", 2))
    plans = {
        by_rolls(): later,
        by_battles(): later,
        best_plan(SMALL, Worth()): later,
        best_plan(chain, eliminate(chain, "blue")): chain,
    }
    for plan, position in plans.items():
        again = pickle.loads(pickle.dumps(plan))  # noqa: S301 # our own bytes
        assert (again, hash(again), repr(again)) == (plan, hash(plan), repr(plan))
        assert again.next_move() == plan.next_move()
        assert again.next_move(position) == plan.next_move(position)
    play = by_battles().follow()
    again = pickle.loads(pickle.dumps(play))  # noqa: S301 # our own bytes
    assert (again, again.next_move()) == (play, play.next_move())
    assert again.won(5).next_move() == play.won(5).next_move()


def test_a_policy_is_pickled_without_its_search() -> None:
    policy, start = by_rolls().policy, by_rolls().problem.start
    pickled = pickle.dumps(policy)
    assert len(pickled) < 10**5
    again = pickle.loads(pickled)  # noqa: S301 # our own bytes
    assert (again.decide(start), again.value(start)) == (policy.decide(start), policy.value(start))


def test_an_answer_says_in_a_line_what_it_is() -> None:
    assert repr(ANSWERS["decision"]) == "<Decision: stop, 12 against 10; value 12, 12 if stopped>"
    assert repr(ANSWERS["dice"]) == "<DiceDecision: 3 dice against 2, 6 against 4; value 0.638295>"
    assert repr(by_rolls()) == "<Plan: take C and D, 0.801378, proven best>"
    assert repr(by_battles().follow()) == "<Play: take C and D, next A to C>"
    assert repr(classic_board()) == "<Board: 'classic', 42 territories, 83 borders>"
    position = read_position("examples/asia.toml")
    assert repr(position) == "<Position: on 'classic', red to move, 42 territories listed>"
    new = reinforce(SMALL, CD, 2)
    assert repr(new).startswith("<Reinforcement: ")
    for value in (new, held(), continued()):
        assert len(repr(value)) <= 200


def test_the_tables_of_a_decision_cannot_be_written() -> None:
    decision, dice = when_to_stop(6, 4, prize=3), how_many_dice(6, 4)
    for each in (decision, dice, pickle.loads(pickle.dumps(decision))):  # noqa: S301
        for table in vars(each).values():
            if isinstance(table, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    table[0, 0] = 1


def test_a_next_move_has_a_hash_and_does_not_change() -> None:
    move = by_battles().next_move()
    assert move is not None
    assert hash(move) == hash(by_battles().next_move())
    assert pickle.loads(pickle.dumps(move)) == move  # noqa: S301 # our own bytes
    assert eval(move.to_text(), {"NextMove": NextMove}) == move  # noqa: S307 # as above
    with pytest.raises(TypeError, match="cannot be changed"):
        move.advance[3] = 1  # type: ignore[index] # the claim


@pytest.mark.slow
def test_every_value_that_shows_itself_has_a_sentence_in_a_notebook() -> None:
    shown = [*PASTED.values(), *ANSWERS.values(), by_rolls(), held(), continued()]
    shown.append(audit([6, 6, 1]))
    kinds = {type(value) for value in shown} | {type(reinforce(SMALL, CD, 1))}
    public = {getattr(iacta, name) for name in iacta.__all__}
    displayed = {each for each in public if isinstance(each, type) and issubclass(each, Displayed)}
    # Of these a notebook shows the text.
    texts = {NextMove, iacta.Play, iacta.Step, iacta.SimulatedPlan, iacta.Modifier}
    assert displayed <= kinds | texts
    for value in {type(each): each for each in reversed(shown) if type(each) not in texts}.values():
        assert isinstance(value, GOALS) or "<p>" in value._repr_mimebundle_()["text/html"]
    move = by_battles().next_move()
    assert move is not None
    assert move._repr_mimebundle_() == {"text/plain": repr(move)}


@pytest.mark.slow
def test_a_value_draws_itself() -> None:
    shown: list[Displayed] = [Battle(5, 3), Campaign(9, [2, 3]), Roll(3, 2), by_rolls(), held()]
    for value in (*shown, iacta.ask("battle", attackers=5, defenders=3)):
        assert value.plot().to_dict()["description"]
    simulated = simulate_battle(5, 3, runs=100)
    assert simulated.plot(Battle(5, 3)).to_dict()["description"]
    with pytest.raises(IactaError, match="context must have"):
        simulated.plot()


def test_numbers_of_numpy_are_worths_too() -> None:
    large: Any = np.uint8(200)
    found = Worth(large, bonus=large, army=large, prizes=((CD, large),))
    assert found == Worth(200, bonus=200, army=200, prizes=((CD, 200),))
    assert {type(found.territories), type(found.bonus), type(found.army)} == {int}
    assert Worth({"Egypt": large}) == Worth({"Egypt": 200})
    assert InOrder((CD, TakeAll("A")), (large, np.float32(1))).worths == (200.0, 1.0)  # type: ignore[arg-type]


def test_wrong_types_are_refused_in_a_sentence() -> None:
    wrong: Any = None
    for refused in (
        lambda: MODIFIERS[0].apply(wrong),
        lambda: Campaign(3, [1, 5]).score_of(wrong),
        lambda: Distribution("HT").repeated(10**400),
        lambda: Holding(np.array([5, 3]), 1),  # type: ignore[arg-type] # the claim
        lambda: SMALL.owned_by(np.array([5, 3])),  # type: ignore[arg-type] # the claim
    ):
        with pytest.raises(IactaError):
            refused()
    assert MODIFIERS[0].apply("classic") == find_rules("capital")
    assert best_plan(SMALL, CD, time_limit=10**400).proven
    assert best_plan(SMALL, CD, time_limit=np.int64(9)).proven  # type: ignore[arg-type] # as above
    end = CampaignOutcome(conquered=0, attackers=1, defenders=1)
    assert Campaign(3, [1, 5]).score_of(end) == -5
