"""The best play along a chain is what the search of all states finds."""

from hypothesis import given, settings
from hypothesis import strategies as st

from iacta.plan.chain import solve_chain
from iacta.plan.exact_policy import BestPlay, visits_of
from iacta.plan.exact_turn import solve_turn
from iacta.plan.goals import Goal, TakeAll, TakeAny, Worth
from iacta.plan.problem import read_problem
from iacta.plan.real_play import Clock, Search
from iacta.plan.turn import Turn
from iacta.rules.rules import Rules
from tests.plan.boards import EVERY_RULES, chain

GOALS: tuple[Goal, ...] = (
    TakeAll(("t1", "t2", "t3")),
    TakeAll(("t2",)),
    TakeAny(("t3",)),
    Worth(0.4),
)


def turn_of(armies: int, defenders: list[int], goal: Goal, rules: Rules, kept: int) -> Turn:
    position = chain(armies, defenders)
    problem = read_problem(position, rules, {"start": kept, "t1": kept}, ())
    return Search(problem, goal, "rolls", Clock(None)).turn


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    armies=st.integers(2, 14),
    defenders=st.lists(st.integers(1, 4), min_size=3, max_size=4),
    goal=st.sampled_from(GOALS),
    rules=st.sampled_from(EVERY_RULES),
    kept=st.integers(0, 4),
)
def test_a_chain_is_played_as_the_search_of_all_states_plays_it(
    armies: int, defenders: list[int], goal: Goal, rules: Rules, kept: int
) -> None:
    turn = turn_of(armies, defenders, goal, rules, kept)
    exact, found = solve_turn(turn), solve_chain(turn, 10**6)
    if found is None:
        assert armies <= max(kept, rules.garrison)  # no stack can attack
        return
    assert exact is not None
    assert abs(found.value - exact.value) < 1e-12
    expected = visits_of(exact)
    assert found.visits.battles.keys() == expected.battles.keys()
    for attack, visit in expected.battles.items():
        assert all(
            abs(a - b) < 1e-9 for a, b in zip(found.visits.battles[attack], visit, strict=True)
        )
    sets = [1 << t for t in range(len(defenders) + 1)]
    for a, b in zip(found.set_chances(sets), BestPlay(exact).set_chances(sets), strict=True):
        assert abs(a - b) < 1e-9
    here, there = found.best_roll(turn.start()), exact.best_roll(turn.start())
    assert (here is None) == (there is None)
    assert here is None or there is None or abs(here.worth - there.worth) < 1e-12
