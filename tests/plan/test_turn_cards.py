"""Cards: the armies they bring, how plans end, and turns that continue with new armies."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, combinations_with_replacement, islice
from random import Random

import numpy as np
import pytest

from iacta import Rules
from iacta.board import Holding, Position
from iacta.game import Action, Attack, EndPhase, Sets, Turn, traded_armies
from iacta.game.cards import list_card_sets as sets_of
from iacta.game.cards import list_hands
from iacta.plan import InOrder, TakeAll, best_plan, eliminate, go_on, place_armies
from iacta.probability.distribution import Distribution
from iacta.rules.variants import find_rules
from tests.cases import choose_seeds
from tests.plan.boards import (
    BLUE,
    THREE_STACKS,
    assert_known,
    chain,
    draw_ends,
    make_board,
    make_position,
)

DECK = [*"ABC" * 14, "*", "*"]
SEEDS = (0, 1, 3, 7, 9)
SMALL_DECK = [*"AAABBBCCC", "*", "*"]


def is_set(cards: tuple[str, ...]) -> bool:
    """Return whether three cards show the same symbol or three different symbols."""
    symbols = {card for card in cards if card != "*"}
    jokers = cards.count("*")
    return len(symbols) <= 1 or len(symbols) == 3 - jokers


def list_card_sets(hand: tuple[str, ...]) -> int:
    """Return the largest number of sets in a hand, by enumeration."""
    best = 0
    for three in combinations(range(len(hand)), 3):
        if is_set(tuple(hand[k] for k in three)):
            rest = tuple(card for k, card in enumerate(hand) if k not in three)
            best = max(best, 1 + list_card_sets(rest))
    return best


@pytest.mark.parametrize("cards", [3, 4])
def test_few_cards_hold_a_set_as_often_as_all_deals_say(cards: int) -> None:
    deals = list(combinations(DECK, cards))
    wins = sum(list_card_sets(deal) for deal in deals)
    dealt = [*list_hands(cards)]
    holding = sum(ways for hand, ways in dealt if sets_of(hand))
    assert (holding, sum(ways for _, ways in dealt)) == (wins, len(deals))


def test_five_cards_hold_a_set() -> None:
    assert all(list_card_sets(hand) >= 1 for hand in combinations(SMALL_DECK, 5))
    assert all(sets_of(hand) for hand, _ in list_hands(5))


def test_from_six_cards_on_sets_are_traded_until_four_or_fewer_are_left() -> None:
    most = sum((4, 6, 8, 10, 12, 15, *range(20, 60, 5)))
    for cards in range(6):
        assert traded_armies(cards) == Distribution({0: 1})
    for cards, brought in (
        (6, 4),
        (7, 4),
        (8, 10),
        (10, 10),
        (11, 18),
        (44, most),
    ):
        assert traded_armies(cards) == Distribution({brought: 1})


def test_fixed_values_use_the_best_set() -> None:
    fixed = Sets(is_fixed=True)
    values = {"A": 4, "B": 6, "C": 8}

    def worth(hand: tuple[str, ...]) -> int:
        """Return the armies of the best set of a hand, by enumeration."""
        found = [0]
        for three in filter(is_set, combinations(hand, 3)):
            symbols = {card for card in three if card != "*"}
            is_mixed = len(symbols) + three.count("*") >= 3
            found.append(10 if is_mixed else values[symbols.pop()])
        return max(found)

    wanted: Counter[int] = Counter()
    for hand, ways in list_hands(6):
        cards = "A" * hand[0] + "B" * hand[1] + "C" * hand[2] + "*" * hand.jokers
        wanted[worth(tuple(cards))] += ways
    assert traded_armies(6, fixed) == Distribution.from_pairs(
        (number, Fraction(ways)) for number, ways in wanted.items()
    )


def test_rows_of_values_agree_with_the_table() -> None:
    assert [Sets((8,)).nth(k) for k in range(5)] == [8, 10, 12, 15, 20]
    assert [Sets((15,)).nth(k) for k in range(3)] == [15, 20, 25]
    assert [Sets((40,)).nth(k) for k in range(3)] == [40, 45, 50]
    assert [Sets((5, 7)).nth(k) for k in range(4)] == [5, 7, 12, 17]
    assert traded_armies(6, Sets((25,))) == Distribution({25: 1})


def test_ends_occur_as_often_as_the_plan_predicts() -> None:
    plan = best_plan(Turn(THREE_STACKS, whole_battles=True), eliminate(THREE_STACKS, "blue"))
    runs = 1500
    ends = list(islice(draw_ends(plan, np.random.default_rng(3)), runs))
    for each in plan.territories:
        held = [end.find_holding(each.name) for end in ends]
        mine = np.array([one.armies * (one.owner == "red") for one in held])
        share, chance = (mine > 0).mean(), each.own_probability
        assert abs(share - chance) <= 4.5 * (chance * (1 - chance) / runs) ** 0.5 + 1e-9
        spread = mine.std() / runs**0.5
        assert abs(mine.mean() - each.expected_armies) <= 4.5 * spread + 0.01


def test_ends_stop_at_the_threshold() -> None:
    position = chain(12, [1, 1, 1])
    plan = best_plan(position, TakeAll("t1,t2,t3"))
    rng = np.random.default_rng(5)
    for end in islice(draw_ends(plan, rng, until=0b0010), 50):
        assert end.find_holding("t2").owner == "blue"
        assert (end.find_holding("t1").owner == "red") or end.find_holding("start").armies == 1


def two_players(armies: int) -> Position:
    """Return a stack next to blue's territory, with green's territory behind it."""
    board = make_board("row", [("s", "b"), ("b", "g")], "sbg")
    holdings = Holding("red", armies), Holding("blue", 2), Holding("green", 3)
    return Position(board, "red", holdings)


@pytest.mark.usefixtures("without_exact_turns")
def test_a_turn_continues_with_the_armies_from_cards() -> None:
    position = two_players(6)
    goal = InOrder((eliminate(position, "blue"), TakeAll("g")))
    found = go_on(position, goal, {4: 3, 0: 1}, ends=600, seed=2)
    first = best_plan(position, TakeAll("b"))
    exact = without = 0.0
    for able, chance, moved in first.steps[0].advances:
        after = make_position(
            position.board, {"s": round(able + 1 - moved), "b": round(moved)}, {"g": 3}, "green"
        )
        values = [
            best_plan(place_armies(after, [("b", n)]), TakeAll("g")).comparable_value
            for n in (0, 4)
        ]
        exact += chance * (0.25 * values[0] + 0.75 * values[1])
        without += chance * values[0]
    assert found.first == pytest.approx(first.win_probability, abs=1e-12)
    assert abs(assert_known(found.win_probability) - exact) < 4 * found.error
    assert found.without == pytest.approx(without, abs=0.05)
    assert (
        assert_known(found.interval)[0]
        < assert_known(found.win_probability)
        < assert_known(found.interval)[1]
        <= assert_known(found.first)
    )
    assert (
        assert_known(found.without)
        < assert_known(found.win_probability)
        < assert_known(found.first)
    )
    assert found == go_on(position, goal, {4: 3, 0: 1}, ends=600, seed=2)


def star(seed: int) -> tuple[Position, dict[int, int]]:
    """Return a star around red's stack, and the distribution of armies from blue's cards."""
    rng = Random(seed)  # noqa: S311 # draws boards, no secrets
    targets = [f"t{k}" for k in range(rng.randint(2, 4))]
    names, pairs = ["s", *targets], [("s", name) for name in targets]
    if rng.random() < 0.5:
        names.append("z")
        pairs += [("z", name) for name in targets if rng.random() < 0.6]
    pairs += [pair for pair in combinations(targets, 2) if rng.random() < 0.25]
    blue = rng.randint(1, len(targets) - 1)
    holdings = tuple(
        Holding("blue" if int(name[1:]) < blue else "green", rng.choice((1, 1, 2, 3)))
        if name in targets
        else Holding("red", rng.randint(2, 6))
        for name in names
    )
    position = Position(make_board("star", pairs, names), "red", holdings)
    return position, {0: rng.randint(0, 2) or 1, rng.randint(2, 5): 3}


def best_turn(position: Position, armies: dict[int, int]) -> float:
    """Return the chance to take all in the best turn, with new armies after eliminating blue."""

    @cache
    def after(end: Position, number: int) -> float:
        if all(each.owner == "red" for each in end.holdings):
            return 1.0
        mine, theirs = end.list_territories("red"), end.list_territories("green")
        rows = combinations_with_replacement(mine, number)
        placements = (place_armies(end, [(name, row.count(name)) for name in mine]) for row in rows)
        return max(best_plan(each, TakeAll(theirs)).comparable_value for each in placements)

    @cache
    def value(turn: Turn) -> float:
        if "blue" not in turn.owners:
            weighted = sum(weight * after(turn.position, n) for n, weight in armies.items())
            return weighted / sum(armies.values())
        return max(map(partial(attack_value, turn), turn.actions()), default=0.0)

    def attack_value(turn: Turn, action: Action) -> float:
        if not isinstance(action, Attack):
            return 0.0
        total = 0.0
        for losses, chance in turn.results(action).items():
            then = turn.after(action, losses)
            is_won = then.phase == "advance"
            follows = [then.after(each) for each in then.actions()] if is_won else [then]
            total += chance * max(map(value, follows))
        return total

    return value(Turn(position))


@pytest.fixture
def without_exact_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn off exact solutions of whole turns, as on a large board."""
    monkeypatch.setattr("iacta.plan.continuation.MAX_TURN_STATES", 0)


# Seeds 5 and 10 are left out: their enumeration takes longer than all others together.
@pytest.mark.parametrize("seed", choose_seeds([*range(5), *range(6, 10), 11], 5))
def test_turns_on_small_boards_are_optimal(seed: int) -> None:
    position, armies = star(seed)
    goal = InOrder((eliminate(position, "blue"), eliminate(position, "green")))
    found = go_on(position, goal, armies)
    assert found.proven
    best = best_turn(position, armies)
    assert found.interval == (found.win_probability, found.win_probability)
    assert found.win_probability == pytest.approx(best, abs=1e-9)


def enumerate_turn(position: Position, armies: dict[int, int], rules: Rules) -> float:
    """Return the chance to take all in the best turn, by enumerating all actions."""

    @cache
    def later(turn: Turn) -> float:
        return 1.0 if "green" not in turn.owners else best_value(turn, later)

    @cache
    def value(turn: Turn) -> float:
        if "blue" in turn.owners or turn.phase == "advance":
            return best_value(turn, value)
        if turn.winner is not None:
            return 1.0
        placing = {n: turn.with_options(place=n) for n in armies}
        return sum(n * later(placing[new]) for new, n in armies.items()) / sum(armies.values())

    def best_value(turn: Turn, then: Callable[[Turn], float]) -> float:
        actions = (each for each in turn.actions() if not isinstance(each, EndPhase))
        return max(
            (
                sum(p * then(turn.after(action, each)) for each, p in turn.results(action).items())
                for action in actions
            ),
            default=0.0,
        )

    return value(Turn(position, rules))


@pytest.mark.parametrize("seed", [0, 1, 3, 7, 9, 11, 13])
def test_turns_without_garrisons_are_optimal(seed: int) -> None:
    """New armies may be placed on territories that all armies have left."""
    position, armies = star(seed)
    goal = InOrder((eliminate(position, "blue"), eliminate(position, "green")))
    found = go_on(Turn(position, find_rules("classic", 0)), goal, armies)
    assert found.proven
    best = enumerate_turn(position, armies, Rules(garrison=0))
    assert found.win_probability == pytest.approx(best, abs=1e-9)


@pytest.mark.usefixtures("without_exact_turns")
def test_a_turn_without_garrisons_is_estimated() -> None:
    position, armies = star(7)
    goal = InOrder((eliminate(position, "blue"), eliminate(position, "green")))
    found = go_on(Turn(position, find_rules("classic", 0)), goal, armies, ends=300)
    best = enumerate_turn(position, armies, Rules(garrison=0))
    assert found.win_probability == pytest.approx(best, abs=max(0.01, 3.5 * found.error))


def test_the_best_start_may_differ_from_the_best_plan_for_the_first_goal() -> None:
    board = make_board("T", [("T0", "T1"), ("T1", "T2"), ("T1", "T3")], ["T0", "T1", "T2", "T3"])
    held = Holding("green", 1), Holding("red", 4), Holding("blue", 2), Holding("red", 4)
    position = Position(board, "red", held)
    goal = InOrder((eliminate(position, "green"), TakeAll("T2")))
    found = go_on(position, goal, traded_armies(6))
    assert found.proven
    assert found.win_probability == pytest.approx(0.7645, abs=5e-5)
    assert (
        assert_known(found.without)
        < assert_known(found.win_probability)
        < assert_known(found.first)
    )


def test_the_chances_of_a_turn_agree_with_its_plan() -> None:
    position = two_players(6)
    goal = InOrder((eliminate(position, "blue"), TakeAll("g")))
    found = go_on(position, goal, {4: 3, 0: 1})
    assert found.plan.win_probability == pytest.approx(found.first, abs=1e-12)
    first = best_plan(position, TakeAll("b"))
    assert found.first == pytest.approx(first.win_probability, abs=1e-12)
    assert (found.ends, found.error) == (0, 0.0)


@pytest.mark.usefixtures("without_exact_turns")
@pytest.mark.parametrize("seed", SEEDS)
def test_no_turn_is_much_better_than_an_estimated_one(seed: int) -> None:
    position, armies = star(seed)
    goal = InOrder((eliminate(position, "blue"), eliminate(position, "green")))
    found = go_on(position, goal, armies, ends=300)
    assert not found.proven
    best = best_turn(position, armies)
    assert found.win_probability == pytest.approx(best, abs=max(0.01, 3.5 * found.error))


def test_armies_are_divided_if_no_single_placement_is_enough() -> None:
    # After s takes b, both s and b are next to a single army of green.
    pairs = [("s", "b"), ("s", "g"), ("b", "h")]
    board = make_board("apart", pairs, "sbgh")
    holdings = Holding("red", 5), Holding("blue", 1), Holding("green", 1), Holding("green", 1)
    position = Position(board, "red", holdings)
    goal = InOrder((eliminate(position, "blue"), eliminate(position, "green")))
    found = go_on(position, goal, {10: 1}, ends=100)
    assert assert_known(found.win_probability) > 0.9


@pytest.mark.usefixtures("without_exact_turns")
@pytest.mark.parametrize("ends", [1, 3, 20])
def test_few_equal_games_do_not_give_certainty(ends: int) -> None:
    position = two_players(40)
    goal = InOrder((eliminate(position, "blue"), TakeAll("g")))
    found = go_on(position, goal, {4: 1}, ends=ends)
    assert assert_known(found.win_probability) > 0.999
    assert assert_known(found.interval)[0] < 1.0 - 1.0 / (ends + 2)
    exact = best_plan(position, TakeAll("b,g")).comparable_value
    assert assert_known(found.interval)[0] <= exact <= assert_known(found.interval)[1] + 1e-9


@pytest.mark.usefixtures("without_exact_turns")
def test_intervals_hold_the_chance_of_a_turn() -> None:
    position, armies = star(3)
    goal = InOrder((eliminate(position, "blue"), eliminate(position, "green")))
    best, inside = best_turn(position, armies), 0
    for seed in range(40):
        low, high = assert_known(go_on(position, goal, armies, ends=32, seed=seed).interval)
        inside += low <= best <= high
    assert inside >= 34  # fewer of 40 intervals at 95% have a chance of 0.3%


def test_progress_never_falls() -> None:
    calls: list[tuple[float, float]] = []
    goal = InOrder((eliminate(BLUE, "blue"), TakeAll("South America")))
    found = go_on(
        Turn(BLUE, whole_battles=True),
        goal,
        {15: 1},
        ends=6,
        progress=lambda *each: calls.append(each),
    )
    assert found.ends == 6
    assert len(calls) > 1
    assert all(value <= bound for value, bound in calls)
    assert [value for value, _ in calls] == sorted(value for value, _ in calls)


def test_a_first_goal_that_is_never_reached_ends_the_turn() -> None:
    position = two_players(1)
    goal = InOrder((eliminate(position, "blue"), TakeAll("g")))
    found = go_on(position, goal, {4: 1})
    assert (found.win_probability, found.ends, found.first) == (0.0, 0, 0.0)
