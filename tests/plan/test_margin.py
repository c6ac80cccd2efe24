"""The margin: plans that lose fewer armies agree with an independent twin, and keep the margin."""

import json
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iacta import (
    Battle,
    Campaign,
    OwnAny,
    TakeAll,
    TakeAny,
    Worth,
    best_plan,
    threats,
    win_probability,
)
from iacta.board import Board, Holding, Position
from iacta.board.built_in import classic_board
from iacta.game import Turn
from iacta.native.deadline import Deadline
from iacta.plan import Plan
from iacta.plan.margin import FIRST_FACTOR, MARGIN, compute_largest_sacrifice
from iacta.plan.problem import Problem, SearchState
from iacta.plan.search import Report, Search
from iacta.rules.variants import RULE_SETS
from tests.cases import choose_seeds
from tests.plan.boards import SmallGame, assert_known, parse_position, small_game
from tests.plan.twin import Action, End, Play, State

PRICES = (0.0, 0.002, 0.02, 0.2)
# Plans with the greatest chance, without a price of armies: exact plans and
# lookahead, each with a fixed amount of work.
WITHOUT_MARGIN: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("without_margin.json").read_text(encoding="utf-8")
)


class PricedPlay(Play):
    """The twin of play with a price: payoffs and losses of all play are compared by their sum.

    Of the choices after which a further payoff is possible, the choice with the greatest payoff
    less the price of its expected losses is best. Without such a choice, the play stops.
    """

    price = 0.0

    def find_result(self, state: State) -> tuple[float, float]:
        """Return the expected payoff at the end and the expected losses."""
        if state not in self.results:
            stop = self.paid(state), 0.0
            actions = () if self.is_over(state) else self.actions(state)
            found = (self.find_attack_result(state, action) for action in actions)
            hopeful = [each for each in found if each[0] > stop[0] + 1e-12]
            self.results[state] = max(hopeful, key=self.rank, default=stop)
        return self.results[state]

    @cached_property
    def results(self) -> dict[State, tuple[float, float]]:
        return {}

    def rank(self, result: tuple[float, float]) -> float:
        return result[0] - self.price * result[1]

    def find_attack_result(self, state: State, action: Action) -> tuple[float, float]:
        payoff = losses = 0.0
        for weight, replies in self.throws(state, action):
            (reply,) = replies
            for end in reply:
                follows = self.choose_advance(state, action, end)
                payoff += weight * end.chance * follows[0]
                losses += weight * end.chance * (end.lost + follows[1])
        return payoff, losses

    def choose_advance(self, state: State, action: Action, end: End) -> tuple[float, float]:
        afters = self.after(state, action, end)
        least = min(map(self.paid, afters))
        results = [*map(self.find_result, afters)]
        hopeful = [each for each in results if each[0] > least + 1e-12]
        return max(hopeful or results, key=self.rank)


def list_games() -> list[int]:
    """Return the seeds of small games with a margin, in which the defender has no choice."""
    found = [(seed, small_game(seed)) for seed in range(60)]
    return [seed for seed, game in found if game.problem().goal.has_margin and not game.replies]


SEEDS = choose_seeds(list_games())


def make_twin(game: SmallGame, price: float) -> PricedPlay:
    twin = PricedPlay(game.position, game.problem().goal, game.rules, **game.options)
    twin.price = price
    return twin


def solve(problem: Problem, price: float) -> Search:
    search = Search(replace(problem, price=price))
    assert search.solve(Deadline()) is not None
    return search


@pytest.mark.parametrize("seed", SEEDS)
def test_exact_search_with_a_price_agrees_with_the_twin(seed: int) -> None:
    game = small_game(seed)
    problem = game.problem()
    for price in PRICES:
        report = assert_known(solve(problem, price).flow(Deadline()))
        twin = make_twin(game, price)
        expected = twin.rank(twin.find_result(twin.start))
        # The core also counts a millionth of an army for each roll.
        found = report.value + problem.held - price * report.losses
        assert found == pytest.approx(expected, abs=1e-9 + 1e-4 * price)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sacrifice_is_at_most_the_margin(seed: int) -> None:
    turn, goal = (problem := small_game(seed).problem()).turn, problem.goal
    greatest = best_plan(turn, goal, margin=0.0, threads=1)
    plan = best_plan(turn, goal, margin=MARGIN, threads=1)
    assert greatest.value is not None
    assert plan.value is not None
    most = compute_largest_sacrifice(problem, greatest.value - problem.held)
    assert plan.sacrifice == pytest.approx(greatest.value - plan.value, abs=1e-12)
    assert plan.sacrifice <= most + 1e-12
    assert plan.expected_losses <= greatest.expected_losses + 1e-9
    assert plan.proven == greatest.proven
    if plan.price:
        least, most = (factor * most / greatest.expected_losses for factor in (1.0, FIRST_FACTOR))
        assert least - 1e-12 <= plan.price <= most + 1e-12


def test_the_saved_armies_pay_for_the_sacrifice_in_every_state() -> None:
    seed = next(seed for seed in list_games() if best_small_plan(seed).sacrifice > 0.0)
    plan = best_small_plan(seed)
    problem = small_game(seed).problem()
    free, priced = solve(problem, 0.0), solve(problem, plan.price)
    waiting, seen = [problem.start], set[SearchState]()
    while waiting:
        state = waiting.pop()
        action = priced.decide(state)
        later = {state.after(action, each) for each in action.outcomes} - seen
        seen |= later
        waiting += later
        values = [assert_known(search.flow(Deadline(), start=state)) for search in (free, priced)]
        saved = losses_after(values[0], state) - losses_after(values[1], state)
        assert values[0].value - values[1].value <= plan.price * saved + 1e-6
    assert len(seen) > 10


def losses_after(report: Report, state: SearchState) -> float:
    """Return the expected losses of a policy after a state."""
    return report.losses - (report.problem.start.total - state.total)


def best_small_plan(seed: int) -> Plan:
    problem = small_game(seed).problem()
    return best_plan(problem.turn, problem.goal, margin=MARGIN, threads=1)


BATTLES = (2, 1), (2, 6), (3, 2), (4, 3), (7, 1), (9, 12), (16, 10)
# Rules under which fewer dice can be better are left out.
FIXED_ARMIES = [
    each.name
    for each in RULE_SETS
    if each.rules.mode.fits_plans and each.name not in ("fourth die", "attack commander")
]


@pytest.mark.parametrize("rules", FIXED_ARMIES)
def test_a_plan_of_one_battle_has_the_chance_of_the_battle(rules: str) -> None:
    attackers, defenders = np.array(BATTLES).T
    chances = win_probability(attackers, defenders, rules)
    board = Board.from_edges("two", [("A", "B")])
    for (armies, others), chance in zip(BATTLES, chances.tolist(), strict=True):
        position = Position(board, "red", {"A": ("red", armies), "B": ("blue", others)})
        turn = Turn(position, rules)
        for goal in (TakeAll("B"), TakeAny("B"), OwnAny(2)):
            plan = best_plan(turn, goal, threads=1)
            assert plan.value == pytest.approx(chance, rel=1e-9)
            assert plan.sacrifice == 0.0
            if rules == "defender sees first":
                continue  # this defender also decides how many dice to roll
            assert plan.value == pytest.approx(
                float(Battle(armies, others, rules).win_probability()), rel=1e-9
            )
            campaign = Campaign(armies, [others], rules)
            assert plan.value == pytest.approx(float(campaign.win_probability()), rel=1e-9)
        # An opponent on a small board gets three new armies.
        mine = Position(board, "blue", {"A": ("red", armies), "B": ("blue", others)})
        threat = next(each for each in threats(Turn(mine, rules)).threats if each.kind == "take")
        more = float(win_probability(armies + 3, others, rules))
        assert threat.chance == pytest.approx(more, rel=1e-9)


def test_a_price_prefers_the_cheaper_of_two_nearly_equal_plans() -> None:
    position = place_stacks({"Brazil": 6, "Ukraine": 5, "China": 4}, {"Peru": 1}, 4)
    greatest = best_plan(position, OwnAny(4), margin=0.0, threads=1, budget=0.1)
    plan = best_plan(position, OwnAny(4), margin=MARGIN, threads=1, budget=0.1)
    assert (greatest.steps[0].start, plan.steps[0].start) == ("China", "Brazil")
    assert greatest.expected_losses > plan.expected_losses + 2
    assert plan.expected_losses < 0.8
    assert assert_known(plan.value) > assert_known(greatest.value) - 0.0005


def place_stacks(mine: dict[str, int], theirs: dict[str, int], others: int) -> Position:
    """Return a position on the classic board; `others` armies are on all other territories."""
    holdings = [
        Holding("red", mine[name]) if name in mine else Holding("blue", theirs.get(name, others))
        for name in classic_board().territories
    ]
    return Position(classic_board(), "red", tuple(holdings))


def test_a_given_price_replaces_the_margin() -> None:
    position = parse_position({"A": 6, "B": 5}, {"c": 1, "d": 4}, "A: c; B: d")
    plan = best_plan(position, TakeAny("c,d"), price=0.25, margin=0.0)
    assert plan.price == 0.25
    assert best_plan(position, TakeAny("c,d"), price=0.0, margin=MARGIN).price == 0.0


@pytest.mark.parametrize("number", range(len(WITHOUT_MARGIN)))
def test_without_a_margin_plans_are_those_of_earlier_versions(number: int) -> None:
    case = WITHOUT_MARGIN[number]
    turn, names = Turn.from_code(case["code"]), case["names"]
    goal = {"take": TakeAll, "take_any": TakeAny, "own_any": OwnAny}[case["goal"]](names)
    plan = best_plan(turn, goal, margin=0.0, threads=1, budget=case["budget"])
    action = plan.policy.decide(plan.problem.start)
    names = turn.board.territories
    first = [names[action.start], names[action.to], action.dice] if action.dice else []
    assert first == case["first"]
    # Compilers may differ in the last digits.
    assert plan.value == pytest.approx(case["value"], rel=1e-13, abs=1e-15)
    assert plan.expected_losses == pytest.approx(case["losses"], rel=1e-12, abs=1e-12)
    assert (plan.interval is None) == case["exact"]
    assert (plan.price, plan.sacrifice, plan.greatest) == (0.0, 0.0, None)


@pytest.mark.parametrize("seed", SEEDS)
def test_exact_search_without_a_price_agrees_with_the_twin(seed: int) -> None:
    game = small_game(seed)
    twin = Play(game.position, (problem := game.problem()).goal, game.rules, **game.options)
    search = solve(problem, 0.0)
    assert search.decide(problem.start).value + problem.held == pytest.approx(
        twin.value(twin.start), abs=1e-12
    )


def test_a_worth_has_no_margin() -> None:
    position = parse_position({"A": 6, "B": 5}, {"c": 1, "d": 4}, "A: c; B: d")
    plan = best_plan(position, Worth(1, army=0.1), margin=MARGIN, price=0.25)
    assert (plan.price, plan.sacrifice) == (0.0, 0.0)
