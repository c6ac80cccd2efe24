"""Goals in order, prizes, and names of goals."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import read_position
from iacta.board import Holding, Position
from iacta.game import Turn
from iacta.inputs.errors import IllegalError
from iacta.plan import InOrder, TakeAll, TakeAny, Worth, best_plan, eliminate
from iacta.plan.named_goals import read_goal
from iacta.rules.rules import CLASSIC
from tests.plan.boards import CLASSIC_BOARD, chain, make_board, make_position, positions
from tests.plan.twin import Play

FIRST, BOTH = TakeAll("t0"), TakeAll("t0,t1")
BLUE = read_position("examples/eliminate-blue.json")


@given(positions(), st.integers(0, 5), st.integers(0, 5))
@settings(max_examples=20, deadline=None)
def test_goals_in_order_have_values_between_their_parts_and_the_whole(
    position: Position, first: int, second: int
) -> None:
    goals = InOrder((FIRST, TakeAll("t1")), (first, second))
    plan = best_plan(position, goals, margin=0.0)
    alone, both = (best_plan(position, goal, margin=0.0).comparable_value for goal in (FIRST, BOTH))
    assert plan.value == pytest.approx(first * plan.stages[0] + second * plan.stages[1], abs=1e-9)
    assert plan.win_probability == plan.stages[1] <= plan.stages[0] + 1e-12
    assert plan.stages[0] <= alone + 1e-9
    assert plan.stages[1] <= both + 1e-9
    assert plan.comparable_value >= (first + second) * both - 1e-9
    assert plan.comparable_value >= first * alone - 1e-9
    assert plan.comparable_value <= plan.upper_bound + 1e-9


def test_the_first_goal_on_a_chain_has_the_chance_of_its_battles() -> None:
    position = chain(8, [2, 1, 3])
    plan = best_plan(position, InOrder((TakeAll("t1,t2"), TakeAll("t3")), (2, 3)))
    alone = [
        best_plan(position, TakeAll(names)).comparable_value for names in ("t1,t2", "t1,t2,t3")
    ]
    assert plan.stages == pytest.approx(alone, abs=1e-12)
    assert plan.comparable_value == pytest.approx(2 * alone[0] + 3 * alone[1], abs=1e-12)
    assert plan.proven


def test_a_goal_that_is_reached_already_counts() -> None:
    position = chain(8, [2, 1])
    plan = best_plan(position, InOrder((TakeAll("start"), TakeAll("t1"))))
    assert plan.stages == pytest.approx((1.0, best_plan(position, TakeAll("t1")).comparable_value))
    assert plan.value == pytest.approx(sum(plan.stages))


def test_the_worths_decide_between_conflicting_goals() -> None:
    # One stack between two territories: the second goal costs armies that the first may need.
    pairs = [("s", "a"), ("s", "b"), ("b", "c")]
    position = make_position(make_board("fork", pairs, "sabc"), {"s": 9}, {"a": 1, "b": 2, "c": 3})
    dear = best_plan(position, InOrder((TakeAll("a"), TakeAll("b,c")), (100, 1)))
    cheap = best_plan(position, InOrder((TakeAll("a"), TakeAll("b,c")), (1, 100)))
    assert dear.stages[0] > cheap.stages[0]
    assert dear.stages[1] <= cheap.stages[1] + 1e-12


def test_goals_in_order_work_on_large_boards() -> None:
    goal = InOrder((TakeAll("South America"), TakeAll("Central America")))
    plan = best_plan(BLUE, goal, budget=0.1)
    assert plan.stages[0] >= plan.stages[1] > 0.99
    assert plan.stages[1] <= plan.comparable_value


def test_a_worth_may_have_prizes() -> None:
    position = chain(6, [2, 2])
    prize = Worth(0, bonus=0.0, prizes=((TakeAll("t1,t2"), 7.0),))
    taken = best_plan(position, TakeAll("t1,t2")).comparable_value
    plan = best_plan(position, prize)
    assert plan.comparable_value == pytest.approx(7 * taken, abs=1e-12)
    assert plan.proven
    held = replace(prize, prizes=((TakeAll("Start"), 2.0),))
    assert best_plan(position, held).comparable_value == 2.0
    mixed = Worth(1, bonus=0.0, prizes=((TakeAll("t2"), 7.0),))
    assert (
        best_plan(position, mixed).comparable_value
        > best_plan(position, Worth(1, bonus=0.0)).comparable_value
    )


def test_names_in_goals_may_have_any_spelling() -> None:
    goal = InOrder((TakeAll("south-america"), TakeAll(("alaska",))))
    found = best_plan(BLUE, goal, budget=0.02).goal
    assert isinstance(found, InOrder)
    assert found.goals[1].territories == ("Alaska",)
    worth = best_plan(BLUE, Worth(0, bonus=0.0, prizes=((TakeAll("alaska"), 1.0),)), time_limit=0)
    assert isinstance(worth.goal, Worth)
    assert worth.goal.prizes[0][0].territories == ("Alaska",)
    with pytest.raises(IllegalError, match=r"has no territory or continent 'Nowhere'"):
        best_plan(BLUE, InOrder((TakeAll("Nowhere"),)))
    empty = replace(BLUE, holdings=(Holding("", 0), *BLUE.holdings[1:]))
    with pytest.raises(IllegalError, match="Alaska has none"):
        best_plan(empty, InOrder((TakeAll("Peru"), TakeAll("Alaska"))))


def test_a_goal_keeps_the_words_of_the_request() -> None:
    theirs = BLUE.list_territories("blue")
    assert eliminate(BLUE, "Blue").phrase(BLUE) == "eliminate blue"
    assert TakeAll(theirs).phrase(BLUE) == f"take all of {len(theirs)} territories"
    assert eliminate(BLUE, "blue") == TakeAll(theirs)
    plan = best_plan(chain(3, (1,)), eliminate(chain(3, (1,)), "blue"))
    assert plan.goal.phrase(BLUE) == "eliminate blue"
    goal = InOrder((eliminate(BLUE, "blue"), TakeAll(CLASSIC_BOARD.continents[3].territories)))
    assert goal.phrase(BLUE) == "eliminate blue, then take Africa"
    assert goal.kind == "in order"


PAYING: st.SearchStrategy[InOrder | Worth] = st.one_of(
    st.builds(
        InOrder, st.just((FIRST, TakeAll("t1"))), st.tuples(st.integers(0, 3), st.integers(0, 3))
    ),
    st.builds(
        Worth,
        st.integers(0, 1),
        st.just(1.0),
        st.sampled_from([0.0, 0.5]),
        st.just(((BOTH, 3.0), (TakeAll("t0,s"), 1.0))),
    ),
)


@given(positions(3), PAYING)
@settings(max_examples=30, deadline=None)
def test_no_play_beats_the_twin_s_optimal_play(position: Position, goal: InOrder | Worth) -> None:
    plan = best_plan(position, goal)
    named = plan.goal
    battles = Play(position, named, CLASSIC, battles=True).value()
    assert 0.97 * battles - 1e-9 <= plan.value <= Play(position, named, CLASSIC).value() + 1e-9


def test_take_any_omits_own_territories_until_a_conquest() -> None:
    code = "1;classic;red;Peru:red:3,Venezuela:red:2,Brazil:blue:1,Argentina:blue:1"
    start = Turn.from_code(code)
    goal = read_goal(start, "take_any", "Peru,Brazil,Argentina")
    assert goal == TakeAny(("Brazil", "Argentina"))
    assert not goal.is_reached(start)
    assert read_goal(start, "take_any", "Peru") == TakeAny(("Peru",))
    conquered = Turn(start.position, phase="attack", cards_due=1)
    assert read_goal(conquered, "take_any", "Peru,Brazil") == TakeAny(("Peru", "Brazil"))
