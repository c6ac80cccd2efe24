"""The core follows the rules of `Turn`: attacks, results and advances agree."""

from collections.abc import Iterator
from itertools import takewhile
from random import Random

import pytest

from iacta import Turn
from iacta.game import Advance, Attack, Defend, EndPhase, Losses, Throw
from iacta.native.deadline import Deadline
from iacta.plan import Policy
from iacta.plan.policy import choose_policy
from iacta.plan.problem import PolicyAction, Problem, SearchState
from iacta.plan.search import Search
from tests.cases import choose_seeds
from tests.plan.boards import find_payoff, small_game

MOST_DICE = 4


def make_state(turn: Turn) -> SearchState:
    """Return the planner's state for a turn."""
    owned = sum(1 << t for t, owner in enumerate(turn.owners) if owner == turn.player)
    return SearchState(turn.armies, owned)


def walk(turn: Turn, rng: Random) -> Iterator[Turn]:
    """Yield the states before each attack of a random turn."""
    while turn.phase != "over":
        if turn.phase == "attack":
            yield turn
        actions = [each for each in turn.actions() if not isinstance(each, EndPhase)]
        action = rng.choice(actions) if actions and turn.phase != "fortify" else EndPhase()
        turn = turn.after(action, rng.choice([*turn.results(action)]))


@pytest.mark.parametrize("seed", choose_seeds(range(100)))
def test_states_are_the_same_action_by_action_and_result_by_result(seed: int) -> None:
    game, rng = small_game(seed), Random(seed)  # noqa: S311 # plays at random, no secrets
    problem = game.problem(rng.choice(("rolls", "rolls", "battles")))
    core = Search(problem)
    assert core.solve(Deadline()) is not None
    if problem.field:
        turns = takewhile(lambda turn: not problem.goal.is_reached(turn), walk(problem.turn, rng))
        assert sum(compare(core, problem, turn) for turn in turns)


def compare(core: Search, problem: Problem, turn: Turn) -> int:
    """Compare all attacks of a turn with the core; return their number."""
    state, worths = make_state(turn), [0.0]
    for start, to in turn.board.borders:
        v, c = problem.place(start), problem.place(to)
        if not problem.field & ~state.owned & 1 << c or not state.owned & 1 << v:
            continue
        is_whole = turn.whole_battles or not problem.turn.setting.kernels[c].is_rolled
        legal = {
            0 if is_whole else each.dice: each
            for each in turn.actions()
            if isinstance(each, Attack) and (each.start, each.to) == (start, to)
        }
        for dice in (0,) if is_whole else range(1, MOST_DICE + 1):
            found = core.evaluate_attack(state, v, c, dice)
            assert (dice in legal) == bool(found.dice)
            if dice in legal:
                check_results(core, problem, turn, legal[dice], found)
                worths.append(found.value)
    assert core.decide(state).value == pytest.approx(max(worths), abs=1e-12)
    return len(worths) - 1


def check_results(
    core: Search, problem: Problem, turn: Turn, attack: Attack, found: PolicyAction
) -> None:
    """Compare the core's results and advances for an attack with the game."""
    results = turn.results(attack)
    worths = {
        losses: find_value_after(core, problem, turn, after, losses.attackers)
        for losses, after in list_successors(turn, attack)
    }
    for each in found.outcomes:
        losses = each.attackers, each.defenders
        assert each.value == pytest.approx(worths[Losses(*losses)], abs=1e-12)
        if Losses(*losses) in results:
            assert each.chance == pytest.approx(results[Losses(*losses)], abs=1e-12)
    assert sum(each.chance for each in found.outcomes) == pytest.approx(1.0, abs=1e-12)
    assert found.value == pytest.approx(compute_state_value(turn, attack, worths), abs=1e-12)


def list_answers(turn: Turn) -> list[Defend]:
    return [action for action in turn.actions() if isinstance(action, Defend)]


def list_successors(turn: Turn, attack: Attack) -> Iterator[tuple[Losses, Turn]]:
    """Yield the possible losses of an attack, and the turns after them."""
    for result in turn.results(attack):
        after = turn.after(attack, result)
        if isinstance(result, Losses):
            yield result, after
            continue
        for answer in list_answers(after):
            for losses in after.results(answer):
                yield losses, after.after(answer, losses)


def compute_state_value(turn: Turn, attack: Attack, worths: dict[Losses, float]) -> float:
    """Return the value of an attack if replies are the worst for the player."""
    total = 0.0
    for result, chance in turn.results(attack).items():
        if not isinstance(result, Throw):
            total += chance * worths[result]
            continue
        defending = turn.after(attack, result)
        total += chance * min(
            sum(float(p) * worths[losses] for losses, p in defending.results(answer).items())
            for answer in list_answers(defending)
        )
    return total


def find_value_after(core: Search, problem: Problem, before: Turn, after: Turn, lost: int) -> float:
    """Return the immediate payoff plus the value afterwards, with the best advance."""
    rewards = problem.rewards
    paid = -rewards.price * lost
    if after.phase != "advance":
        return paid + core.decide(make_state(after)).value
    (taken,) = (t for t, owner in enumerate(before.owners) if owner != after.owners[t])
    paid += find_payoff(rewards, taken, ~make_state(before).owned)
    advances = [each for each in after.actions() if isinstance(each, Advance)]
    return paid + max(core.decide(make_state(after.after(each))).value for each in advances)


@pytest.mark.parametrize("seed", choose_seeds(range(0, 60, 2)))
def test_lookahead_follows_the_rules(seed: int) -> None:
    game, rng = small_game(seed), Random(seed)  # noqa: S311 # plays at random, no secrets
    policy = choose_policy(game.problem(rng.choice(("rolls", "battles"))), states=0)
    assert isinstance(policy, Policy)
    turn = policy.problem.turn
    while turn.phase != "over":
        action = policy(turn)
        assert action in turn.actions()
        results = turn.results(action)
        if isinstance(action, Attack) and not any(isinstance(each, Throw) for each in results):
            decision = policy.decide(make_state(turn))
            found = {(each.attackers, each.defenders): each.chance for each in decision.outcomes}
            assert found == pytest.approx(dict(results.items()), abs=1e-12)
        turn = turn.after(action, rng.choice([*results]))
        if turn.phase == "defend":
            answer = turn.careful_defence()
            turn = turn.after(answer, rng.choice([*turn.results(answer)]))
