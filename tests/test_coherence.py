"""Numbers shown together agree: if one event implies another, its chance is not larger."""

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from benchmarks.positions import play_position
from iacta import Turn, goals_in_reach, threats
from iacta.analysis.goals import Conquest
from iacta.board import Board, Continent, Holding, Position
from iacta.game.actions import Place
from iacta.native.bit_sets import bits
from iacta.native.deadline import Deadline
from iacta.plan import Goal, Policy, TakeAll, TakeAny, best_plan
from iacta.plan.alternatives import list_first_attacks
from iacta.plan.goal_plan import plan_goal
from iacta.plan.levels import QUICK, USUAL, Level
from iacta.plan.named_goals import read_goal_record
from iacta.plan.planner import EQUAL
from iacta.plan.policy import best_policy
from iacta.plan.problem import SearchState, pose_problem
from tests.cases import choose_seeds

PLAYERS = "red", "blue", "green"
TURNS = 100
MAX_STATES = 20_000  # tests with exact search skip larger boards
POSITIONS = 12  # `make bench GROUP=limits` compares 500


def draw_turn(seed: int) -> Turn:
    """Return a turn on a random board of 6 to 16 territories in two or three continents."""
    rng = Random(seed)  # noqa: S311 # draws boards, no secrets
    names = [f"t{k}" for k in range(rng.randint(6, 16))]
    pairs = [*pairwise(names), *(tuple(rng.sample(names, 2)) for _ in range(len(names) // 2))]
    number = rng.randint(2, 3)
    continents = tuple(
        Continent(f"C{k}", rng.randint(1, 5), tuple(names[k::number][:4])) for k in range(number)
    )
    bare = Board.from_edges("drawn", [*dict.fromkeys(pairs)])
    board = Board("drawn", bare.territories, bare.borders, continents)
    # Each player starts with a continent or a part of one, so that bonuses can be broken.
    owners = {name: PLAYERS[k % number] for k in range(number) for name in names[k::number]}
    for name in rng.sample(names, len(names) // 4):
        owners[name] = rng.choice(PLAYERS)
    most = 9 if len(names) > 7 else 3  # on small boards all placements and plays are compared
    holdings = (Holding(owners[name], rng.randint(1, most)) for name in board.territories)
    return Turn(Position(board, owners[board.territories[0]], tuple(holdings)))


def find_disorder(turn: Turn) -> list[str]:
    """Return the contradictions between the chances of goals, and between those of threats."""
    wrong, position = list[str](), turn.position
    reached = list[tuple[str, Goal, float]]()
    for known in goals_in_reach(turn, "quick"):
        wanted = read_goal_record(turn, known.parameters)
        assert wanted is not None
        assert known.value is not None
        reached.append((known.words, wanted, known.value))
    groups: dict[str, tuple[Position, list[tuple[str, Goal, float]]]] = {
        "goals": (position, reached)
    }
    for each in threats(turn, "quick").threats:
        theirs = Position(position.board, each.player, position.holdings)
        mine = position.list_territories(turn.player)
        goal: Goal = TakeAll(each.name)
        if each.kind == "eliminate":
            goal = TakeAll(mine)
        elif each.kind == "break":
            found = next(c for c in position.board.continents if c.name == each.name)
            goal = TakeAny(found.territories)
        groups.setdefault(each.player, (theirs, []))[1].append(
            (f"{each.kind} {each.name}", goal, each.chance)
        )
        assert each.chance <= each.at_most
    for who, (start, rows) in groups.items():
        for words, goal, chance in rows:
            for others, other, least in rows:
                stronger = Conquest.for_goal(goal, Turn(start))
                if stronger.implies(Conquest.for_goal(other, Turn(start))) and chance > least:
                    wrong.append(f"{who}: {words} {chance} > {others} {least}")
    return wrong


@pytest.mark.parametrize("seed", choose_seeds(range(POSITIONS), 4))
def test_an_event_is_never_likelier_than_an_event_that_it_implies(seed: int) -> None:
    assert find_disorder(draw_turn(seed)) == []


def find_goal(turn: Turn) -> TakeAll | None:
    """Return the goal of taking a continent, or `None` if the player owns all continents."""
    owned = {*turn.position.list_territories(turn.player)}
    goals = (each.territories for each in turn.board.continents)
    wanted = [names for names in goals if not {*names} <= owned]
    return TakeAll(wanted[-1]) if wanted else None


def find_exact_policy(seed: int) -> Policy | None:
    """Solve a plan for a continent on a random board; `None` if the board is too large."""
    turn = draw_turn(seed)
    goal = find_goal(turn)
    if goal is None:
        return None
    return best_policy(pose_problem(turn, goal), Deadline(), MAX_STATES)


def list_states(policy: Policy) -> list[SearchState]:
    """Return the states in a line of play in which each roll has its most likely result."""
    states = [policy.problem.start]
    while (action := policy.decide(states[-1])).dice:
        likeliest = max(action.outcomes, key=lambda each: each.chance)
        states.append(states[-1].after(action, likeliest))
    return states


@pytest.mark.parametrize("seed", choose_seeds(range(TURNS)))
def test_the_value_of_a_state_is_the_mean_of_the_values_after_its_best_attack(seed: int) -> None:
    policy = find_exact_policy(seed)
    for state in [] if policy is None else list_states(policy):
        assert policy is not None
        problem, action = policy.problem, policy.decide(state)
        assert action.value == pytest.approx(
            sum(each.chance * each.value for each in action.outcomes), abs=1e-12
        )
        for each in action.outcomes:
            after = state.after(action, each)
            gained = problem.sum_payoffs(after) - problem.sum_payoffs(state)
            value = gained + policy.decide(after).value
            assert each.value == pytest.approx(value, abs=1e-9)
            if problem.goal.is_reached(problem.make_turn(after)):
                assert value == 1.0
        for v in bits(problem.stacks & state.owned):
            for c in bits(problem.out[v] & problem.field & ~state.owned):
                for dice in (1, 2, 3):
                    assert policy.evaluate_attack(state, v, c, dice).value <= action.value + 1e-9


@pytest.mark.parametrize("seed", choose_seeds(range(TURNS)))
def test_each_attack_takes_a_target_or_a_territory_that_the_value_needs(seed: int) -> None:
    policy = find_exact_policy(seed)
    for state in [] if policy is None else list_states(policy)[:-1]:
        assert policy is not None
        problem, action = policy.problem, policy.decide(state)
        if problem.name(action.to) in problem.goal.names:
            continue
        here = problem.at_state(state)
        everything = (1 << len(here.out)) - 1
        without = replace(here, focus=everything & ~(1 << action.to))
        other = best_policy(without, Deadline())
        assert other is not None
        assert other.decide(without.start).value < action.value - 1e-12, problem.name(action.to)


def list_useless_attacks(policy: Policy) -> list[str]:
    """Return the attacks in a likely line of play that take no target and change no value."""
    problem, useless = policy.problem, list[str]()
    for state in list_states(policy)[:-1]:
        action = policy.decide(state)
        values = [each.value for each in action.outcomes]
        is_target = problem.name(action.to) in problem.goal.names
        if not is_target and max(values) <= min(values) + 1e-9:
            useless.append(f"{problem.name(action.start)} to {problem.name(action.to)}")
    return useless


# Positions in which a stack that the goal does not need might attack without purpose.
@pytest.mark.parametrize(
    ("seed", "goal"),
    [(50024, "Africa"), (50032, "Australia"), (50039, "Europe")],
)
def test_the_values_of_lookahead_agree_and_no_attack_is_useless(seed: int, goal: str) -> None:
    plan = best_plan(play_position(seed), TakeAll(goal), budget=0.02)
    assert not plan.policy.is_exact
    policy, problem, start = plan.policy, plan.problem, plan.problem.start
    own = policy.decide(start)
    assert list_useless_attacks(policy) == []
    ways = list_first_attacks(plan)
    assert ways[0][:2] == (problem.name(own.start), problem.name(own.to))
    assert ways[0].value == pytest.approx(plan.comparable_value, abs=1e-9)
    means = list[float]()
    for each in ways:
        border = problem.place(each.start), problem.place(each.to)
        judged = policy.evaluate_attack(start, *border, each.dice)
        assert judged.value <= own.value * (1.03 if policy.style.order == "risk" else 1.0) + EQUAL
        afters = [(result.chance, start.after(judged, result)) for result in judged.outcomes]
        means.append(sum(p * (problem.sum_payoffs(s) + policy.decide(s).value) for p, s in afters))
    for each, mean in zip(ways, means, strict=True):
        most = plan.comparable_value + (plan.margin if each is not ways[0] else 0.0)
        assert each.value <= most + 1e-9
        scaled = ways[0].value * mean / means[0]
        assert each.value == pytest.approx(min(scaled, most), abs=1e-9)


@pytest.mark.parametrize("seed", [1, 2, 13, 14])
@pytest.mark.parametrize("level", [QUICK, USUAL])
def test_the_value_before_new_armies_is_the_value_after_the_best_placement(
    seed: int, level: Level
) -> None:
    turn = Turn(draw_turn(seed).position, phase="place", place=3)
    goal = find_goal(turn)
    assert goal is not None
    before = plan_goal(turn, goal, level, Deadline())
    after = turn
    for name in turn.board.territories:
        armies = dict(before.placement).get(name, 0)
        after = after.after(Place(name, armies)) if armies else after
    assert after.phase == "attack"
    found = plan_goal(after, goal, level, Deadline())
    assert (found.value, found.interval, found.losses) == (
        before.value,
        before.interval,
        before.losses,
    )


def test_turns_of_the_samples_are_solved() -> None:
    solved = [policy for seed in range(TURNS) if (policy := find_exact_policy(seed)) is not None]
    assert len(solved) >= 20
    assert any(
        policy.problem.name(policy.decide(state).to) not in policy.problem.goal.names
        for policy in solved
        for state in list_states(policy)[:-1]
    )
