"""Values are immutable, comparable and picklable, and have short reprs."""

import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest

import iacta
from iacta import Battle, Campaign, InOrder, TakeAll, Worth, best_plan, classic_board, read_position
from iacta.game import Turn
from iacta.inputs.reprs import DisplayMixin
from tests.cases import for_each
from tests.plan.boards import find_move

GOALS = (TakeAll, iacta.TakeAny, iacta.OwnAny, InOrder, Worth)
SMALL = read_position("examples/break-off.json")
CD = TakeAll("C,D")
ONE_WAY = iacta.Board("own", ("A", "B", "C"), (("A", "B"), ("B", "A"), ("B", "C")))


@cache
def make_plan_by_rolls() -> iacta.Plan:
    return best_plan(SMALL, CD)


@cache
def make_plan_by_battles() -> iacta.Plan:
    return best_plan(Turn(SMALL, whole_battles=True), CD)


def make_continuation() -> iacta.Continuation:
    goals = InOrder((TakeAll("C"), TakeAll("D")))
    return iacta.go_on(SMALL, goals, {2: 1.0}, ends=4)


def make_hold() -> iacta.Hold:
    return iacta.hold(make_plan_by_battles())


# Values whose repr can be pasted back, including large values.
PASTED: dict[str, Any] = {
    "battle": Battle(12, 10),
    "battle at a capital": Battle(9, 4, "capital", garrison=2),
    "house rules": Battle(12, 10, iacta.Rules(attack=iacta.Dice((20,) * 60))),
    "campaign": Campaign(20, range(1, 200)),
    "chain": iacta.Chain(4, 2, "capital", exact=True),
    "distribution": Battle(60, 50).outcomes(),
    "exact distribution": Battle(12, 10).attackers_left(exact=True),
    "board": classic_board(),
    "position": read_position("examples/asia.toml"),
    "small position": SMALL,
    "position with an empty territory": iacta.Position(ONE_WAY, "red", {"A": ("red", 3)}),
    "one-way board": ONE_WAY,
    "roll": iacta.Roll(3, 2),
    "roll at a capital": iacta.Roll(1, 3, "capital"),
    "roll of other dice": iacta.Roll(1, 1, iacta.Rules(attack=iacta.Dice((20,)))),
    "simulated": iacta.simulate_battle(12, 10, runs=100),
    "spread": iacta.spread_defenders(12, 100, 3),
    "goal": TakeAll(classic_board().territories),
    "any": iacta.TakeAny("Egypt"),
    "own any": iacta.OwnAny(2),
    "goals in order": InOrder((TakeAll(classic_board().territories), TakeAll("Egypt"))),
    "worth": Worth(dict.fromkeys(classic_board().territories, 1.0)),
    "rule set": iacta.RULE_SETS[8],
    "modifier": iacta.MODIFIERS[4],
    "simulated plan": iacta.SimulatedPlan(
        iacta.Estimate(9, 4), 0.4, 0.1, (iacta.Estimate(9, 4),) * 42
    ),
    "step": iacta.Step("A", "C", 1.0, 0.9, 3.0, tuple((n, 0.1, 2.0) for n in range(40))),
}
# Results that can only be recreated by a new computation.
ANSWERS: dict[str, Any] = {
    "decision": iacta.when_to_stop(12, 10, prize=10),
    "mix": iacta.best_mix(6, 4),
    "dice": iacta.how_many_dice(6, 4),
}


@for_each("name", PASTED)
def test_the_text_of_a_value_can_be_pasted_back(name: str) -> None:
    value = PASTED[name]
    text = value.to_text()
    names = {each: getattr(iacta, each) for each in iacta.__all__}
    pasted = eval(text, names)  # noqa: S307 # the claim is that it can be evaluated
    assert (pasted, hash(pasted)) == (value, hash(value))
    assert repr(value) == text if len(text) <= 200 else repr(value).startswith("<")
    assert len(repr(value)) <= 200


@for_each("name", PASTED | ANSWERS)
@for_each("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_value_can_be_pickled(name: str, protocol: int) -> None:
    value = (PASTED | ANSWERS)[name]
    again = pickle.loads(pickle.dumps(value, protocol))  # noqa: S301 # our own bytes
    assert (again, hash(again), repr(again)) == (value, hash(value), repr(value))


def test_a_plan_can_be_pickled_and_followed_on() -> None:
    chain = read_position("examples/unfinished-game.json")
    later = iacta.Position(
        SMALL.board, "red", {"A": ("red", 7), "B": ("red", 8)}, others=("blue", 2)
    )
    plans = {
        make_plan_by_rolls(): later,
        make_plan_by_battles(): later,
        best_plan(SMALL, Worth()): later,
        best_plan(chain, iacta.eliminate(chain, "blue")): chain,
    }
    for plan, position in plans.items():
        again = pickle.loads(pickle.dumps(plan))  # noqa: S301 # our own bytes
        assert (again, hash(again), repr(again)) == (plan, hash(plan), repr(plan))
        assert again.policy == plan.policy
        assert find_move(again) == find_move(plan)
        assert find_move(again, position) == find_move(plan, position)


def test_a_policy_is_pickled_without_its_search() -> None:
    turn, policy = make_plan_by_rolls().turn, make_plan_by_rolls().policy
    pickled = pickle.dumps(policy)
    assert len(pickled) < 10**5
    again = pickle.loads(pickled)  # noqa: S301 # our own bytes
    assert (again(turn), again.value(turn)) == (policy(turn), policy.value(turn))


def test_the_repr_of_an_answer_is_one_line() -> None:
    for value in (
        iacta.reinforce(iacta.Turn(SMALL, place=2), CD),
        make_hold(),
        make_continuation(),
    ):
        assert len(repr(value)) <= 200


def test_the_tables_of_a_decision_cannot_be_written() -> None:
    decision, dice = iacta.when_to_stop(6, 4, prize=3), iacta.how_many_dice(6, 4)
    for each in (decision, dice, pickle.loads(pickle.dumps(decision))):  # noqa: S301
        for table in vars(each).values():
            if isinstance(table, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    table[0, 0] = 1


@pytest.mark.slow
def test_every_displayed_value_has_a_sentence_in_notebooks() -> None:
    shown = [
        *PASTED.values(),
        *ANSWERS.values(),
        make_plan_by_rolls(),
        make_hold(),
        iacta.Turn(SMALL, place=1),
        make_continuation(),
    ]
    shown.append(iacta.audit([6, 6, 1]))
    kinds = {type(value) for value in shown} | {
        type(iacta.reinforce(iacta.Turn(SMALL, place=1), CD))
    }
    public = {getattr(iacta, name) for name in iacta.__all__}
    displayed = {
        each for each in public if isinstance(each, type) and issubclass(each, DisplayMixin)
    }
    # Notebooks show these as text.
    texts = {iacta.Chain, iacta.Step, iacta.SimulatedPlan, iacta.Modifier}
    assert displayed <= kinds | texts
    for value in {type(each): each for each in reversed(shown) if type(each) not in texts}.values():
        assert isinstance(value, GOALS) or "<p>" in value._repr_mimebundle_()["text/html"]
    step = make_plan_by_battles().steps[0]
    assert step._repr_mimebundle_() == {"text/plain": repr(step)}


@pytest.mark.slow
def test_values_have_charts() -> None:
    shown: list[DisplayMixin] = [
        Battle(5, 3),
        Campaign(9, [2, 3]),
        iacta.Roll(3, 2),
        make_plan_by_rolls(),
        make_hold(),
    ]
    for value in (*shown, iacta.ask("battle", attackers=5, defenders=3)):
        assert value.plot().to_dict()["description"]
    simulated = iacta.simulate_battle(5, 3, runs=100)
    assert simulated.plot(Battle(5, 3)).to_dict()["description"]
    with pytest.raises(iacta.IactaError, match="context must have"):
        simulated.plot()


def test_numpy_numbers_are_valid_worths() -> None:
    large: Any = np.uint8(200)
    found = Worth(large, bonus=large, army=large, prizes=((CD, large),))
    assert found == Worth(200, bonus=200, army=200, prizes=((CD, 200),))
    assert {type(found.territories), type(found.bonus), type(found.army)} == {int}
    assert Worth({"Egypt": large}) == Worth({"Egypt": 200})
    assert InOrder((CD, TakeAll("A")), (large, np.float32(1))).worths == (200.0, 1.0)  # type: ignore[arg-type]


def test_wrong_types_are_refused_in_a_sentence() -> None:
    wrong: Any = None
    for refused in (
        lambda: iacta.MODIFIERS[0].apply(wrong),
        lambda: Campaign(3, [1, 5]).compute_score(wrong),
        lambda: iacta.Distribution("HT").repeat(10**400),
        lambda: iacta.Holding(np.array([5, 3]), 1),  # type: ignore[arg-type] # the claim
        lambda: SMALL.list_territories(np.array([5, 3])),  # type: ignore[arg-type] # the claim
    ):
        with pytest.raises(iacta.IactaError):
            refused()
    assert iacta.MODIFIERS[0].apply("classic") == iacta.find_rules("capital")
    assert best_plan(SMALL, CD, time_limit=10**400).proven
    assert best_plan(SMALL, CD, time_limit=np.int64(10**6)).proven  # type: ignore[arg-type] # as above
    end = iacta.CampaignOutcome(conquered=0, attackers=1, defenders=1)
    assert Campaign(3, [1, 5]).compute_score(end) == -5
