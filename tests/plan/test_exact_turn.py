"""The best play of a turn: known cases, and a plain recursion over all states."""

from collections import defaultdict
from functools import cache
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iacta import CLASSIC, Dice, Rules
from iacta.board import Position
from iacta.plan.exact_policy import visits_of
from iacta.plan.exact_turn import ExactTurn, solve_turn
from iacta.plan.game import Attack
from iacta.plan.goals import Rewards
from iacta.plan.problem import mask_of, read_problem
from iacta.plan.turn import Turn, TurnState
from iacta.rules.modes import BalancedBlitz, DefenderSeesFirst, TrueRandom
from tests.plan.boards import (
    BLOCKED,
    FREE,
    THREE_STACKS,
    TWO_STACKS,
    WALLS,
    board_of,
    position_of,
    position_on,
)

CAPITAL_WITH_WALL = Rules(defence=Dice((6,) * 4))


def turn_of(
    position: Position,
    rules: Rules = CLASSIC,
    keep: dict[str, int] | None = None,
    *,
    whole_battles: bool = False,
) -> Turn:
    """Return the turn of a player who wants to take all."""
    problem = read_problem(position, rules, keep or {}, ())
    rewards = Rewards(all_of=problem.enemy)
    return Turn(problem, problem.enemy, rewards, whole_battles=whole_battles)


def solved(turn: Turn) -> ExactTurn:
    exact = solve_turn(turn)
    assert exact is not None
    return exact


def plain_value(turn: Turn) -> float:
    """Return the value of a turn by plain recursion."""

    @cache
    def value(state: TurnState) -> float:
        worths = (turn.worth(state, roll, value) for roll in turn.rolls(state))
        return max((0.0, *worths))

    return value(turn.start())


TWO_SINGLE = position_of({"A": 4}, {"c": 1, "d": 1}, "A: c d")
ONE = position_of({"A": 6}, {"c": 1}, "A: c")


@pytest.mark.parametrize(
    ("turn", "value"),
    [
        (turn_of(TWO_SINGLE), 12925 / 31104),
        (turn_of(ONE, FREE, {"A": 4}), 0.8842110339506173),
        (turn_of(TWO_STACKS), 0.8013776318139583),
        (turn_of(TWO_STACKS, whole_battles=True), 0.6249318102162903),
    ],
)
def test_small_cases(turn: Turn, value: float) -> None:
    assert solved(turn).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("turn", "value"),
    [
        (turn_of(WALLS, CAPITAL_WITH_WALL, whole_battles=True), 0.2365252),
        (turn_of(THREE_STACKS, FREE, whole_battles=True), 0.2870483),
        (turn_of(BLOCKED, whole_battles=True), 0.3745919),
    ],
)
def test_a_stack_that_conquers_may_block_another(turn: Turn, value: float) -> None:
    assert solved(turn).value == pytest.approx(value, abs=5e-8)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    """Draw a small turn under any rules, with any goal."""
    mine = {name: draw(st.integers(1, 5)) for name in "AB"[: draw(st.integers(1, 2))]}
    theirs = {name: draw(st.integers(1, 3)) for name in "wxyz"[: draw(st.integers(1, 4))]}
    names = [*mine, *theirs]
    pairs = [pair for pair in combinations(names, 2) if draw(st.booleans())]
    rules = Rules(
        garrison=draw(st.sampled_from([0, 1, 1, 2])),
        least_advance=draw(st.booleans()),
        defence=draw(st.sampled_from([Dice((6, 6)), Dice((6, 6, 6))])),
        mode=draw(st.sampled_from([TrueRandom(), BalancedBlitz(), DefenderSeesFirst()])),
    )
    keep = draw(st.dictionaries(st.sampled_from(names), st.integers(0, 4), max_size=2))
    special = draw(
        st.dictionaries(
            st.sampled_from([*theirs]), st.sampled_from(["capital", "balanced blitz"]), max_size=1
        )
    )
    position = position_on(board_of("small", pairs, names), mine, theirs)
    problem = read_problem(position, rules, keep, (), special)
    targets = st.sets(st.sampled_from(range(len(mine), len(names))), min_size=1).map(mask_of)
    rewards = draw(
        st.one_of(
            st.builds(Rewards, all_of=targets),
            st.builds(Rewards, any_of=targets),
            st.builds(
                Rewards,
                territories=st.tuples(*(st.sampled_from([0.0, 1.0, 2.0]) for _ in names)),
                continents=st.lists(st.tuples(targets, st.just(2.0)), max_size=2).map(tuple),
                army=st.sampled_from([0.0, 0.1, 0.3]),
            ),
        )
    )
    return Turn(problem, problem.enemy, rewards, whole_battles=draw(st.booleans()))


@settings(max_examples=100, derandomize=True, deadline=None)
@given(turn=turns())
def test_the_pass_over_all_states_equals_a_plain_recursion(turn: Turn) -> None:
    assert solved(turn).value == pytest.approx(plain_value(turn), abs=1e-12)


@settings(max_examples=50, derandomize=True, deadline=None)
@given(turn=turns())
def test_who_makes_the_best_rolls_is_paid_the_value(turn: Turn) -> None:
    exact = solved(turn)
    begun: dict[Attack, float] = defaultdict(float)
    arrived: dict[Attack, float] = defaultdict(float)
    paid = 0.0
    going = {(turn.start(), frozenset[Attack]()): 1.0}
    while going:
        state, before = key = max(going, key=lambda each: sum(each[0].armies))
        chance, best = going.pop(key), exact.best_roll(state)
        if best is None:
            continue
        attack = Attack(best.roll.start, best.roll.to)
        begun[attack] += chance * (attack not in before)
        choice = turn.choice(state, best.roll)
        ends = {}
        for throw in choice.throws:
            for option in throw.options:
                for result in option:
                    after, worth = turn.after(state, best.roll, result), 0.0
                    if turn.advances(after, best.roll, choice.least):
                        moved = best.advance[turn.spare(after, best.roll.start)]
                        after = turn.after_advance(after, best.roll, moved)
                    worth = turn.paid(state, best.roll, result) + (exact.value_of(after) or 0.0)
                    ends[result] = after, worth
            reply = min(throw.options, key=lambda o: sum(r.chance * ends[r][1] for r in o))
            for result in reply:
                part, (after, _) = chance * throw.chance * result.chance, ends[result]
                paid += part * turn.paid(state, best.roll, result)
                if after.owned != state.owned:
                    arrived[attack] += part * after.armies[attack.to]
                follower = after, before | {attack}
                going[follower] = going.get(follower, 0.0) + part
    assert paid == pytest.approx(exact.value, abs=1e-11)
    battles = visits_of(exact).battles
    assert battles.keys() == begun.keys()
    for attack, visit in battles.items():
        assert visit.reached == pytest.approx(begun[attack], abs=1e-11)
        assert visit.arrived == pytest.approx(arrived[attack], abs=1e-11)
    ended = sum(visit.ended for visit in battles.values())
    if turn.rewards.is_chance and battles:
        assert ended == pytest.approx(1.0 - exact.value, abs=1e-11)


def test_interchangeable_territories_are_merged() -> None:
    star = turn_of(position_of({"A": 12}, dict.fromkeys("vwxyz", 2), "A: v w x y z"))
    exact = solved(star)
    assert exact.value == pytest.approx(plain_value(star), abs=1e-12)
    assert len(exact.codes) < 250


def test_too_many_states_and_a_time_limit_end_it() -> None:
    turn = turn_of(TWO_STACKS)
    assert solve_turn(turn, most_states=10) is None
    assert solve_turn(turn, late=lambda: True) is None


def test_a_state_of_another_turn_has_no_value() -> None:
    turn = turn_of(position_of({"A": 8, "B": 6}, {"c": 3, "d": 3}, "A: c; B: c; c: d"))
    exact = solved(turn)
    assert exact.value_of(TurnState((9, 6, 3, 3), 0b11)) is None
    assert exact.value_of(TurnState((1, 1, 3, 3), 0b11)) == 0.0
    assert exact.value_of(TurnState((1, 1, 1, 1), 0b1111)) == 0.0
