"""Plans, goals and threats in positions with owned territories that have no armies.

Under rules without a garrison, players may leave a territory empty. It keeps its owner, and nobody
can attack it.
"""

from random import Random

import pytest

from iacta import IllegalError, Rules, Turn, ask
from iacta.analysis import goals_in_reach, threats
from iacta.board import Holding, Position
from iacta.game import EndPhase, Fortify
from iacta.plan import OwnAny, TakeAll, best_plan, reinforce
from iacta.plan.margin import MARGIN
from tests.cases import choose_seeds
from tests.plan.boards import assert_known
from tests.plan.whole_turn import WholeTurn, draw_turn, find_threat, pay_conquest

NO_GARRISON = Rules(garrison=0)
SEEDS = choose_seeds(range(24), 12)
EMPTY = (
    "1;classic;red;Peru:red:5,Brazil:blue:2,Argentina:red:0,Venezuela:blue:0,"
    'North%20Africa:blue:3,Siam:green:0,Central%20America:green:2;attack;rules={"garrison"%3A0}'
)


def draw_empty_turn(seed: int) -> Turn:
    """Draw a turn under rules without a garrison in which some territories are empty."""
    drawn, rng = draw_turn(seed, most_lands=5, most_armies=5), Random(seed)  # noqa: S311
    holdings = tuple(
        Holding(owner, armies if rng.random() < 0.7 else 0)
        for owner, armies in zip(drawn.owners, drawn.armies, strict=True)
    )
    return Turn(
        Position(drawn.board, "red", holdings),
        NO_GARRISON,
        place=drawn.place,
        players=drawn.players,
        fortify=drawn.fortify,
    )


def is_best_but_for_margin(chance: float, best: float) -> bool:
    """Return whether a plan with this chance may be chosen if the best plan has the chance `best`.

    A plan may give up a part of the chance to lose fewer armies.
    """
    return best - min(MARGIN, best / 100) - 1e-9 <= chance <= best + 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plan_has_the_value_of_the_whole_turn(seed: int) -> None:
    turn = draw_empty_turn(seed)
    theirs = [name for name in turn.board.territories if turn.owner_of(name) != "red"]
    goal = TakeAll(tuple(theirs[: 1 + seed % 2]))
    best = WholeTurn(pay_conquest(goal.names)).compute_state_value(turn)
    plan = reinforce(turn, goal).plan if turn.place else best_plan(turn, goal)
    assert is_best_but_for_margin(assert_known(plan.win_probability), best), turn.to_code()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_threat_has_the_value_of_the_opponents_whole_turn(seed: int) -> None:
    turn = draw_empty_turn(seed).with_options(place=0)
    found = {(each.player, each.name): each for each in threats(turn).threats}
    for player in set(turn.survivors) - {"red"}:
        for name in turn.position.list_territories("red"):
            best = find_threat(turn, player, pay_conquest((name,)))
            chance = found[player, name].chance if (player, name) in found else 0.0
            assert is_best_but_for_margin(chance, best), (turn.to_code(), player, name)


@pytest.mark.parametrize("seed", [43, 47, 52, 101, 180, 237])
def test_the_threat_after_the_recommended_move_is_the_stated_threat(seed: int) -> None:
    turn = draw_empty_turn(seed).with_options(place=0)
    move = assert_known(threats(turn).move)
    assert move.before.kind == "take"
    last = turn.after(EndPhase()).after(Fortify(move.start, move.to, move.armies))
    pay = pay_conquest((move.before.name,))
    worst = max(find_threat(last, player, pay) for player in set(turn.survivors) - {"red"})
    assert is_best_but_for_margin(move.after.chance, worst)


def test_goals_that_need_an_empty_territory_are_not_offered() -> None:
    found = goals_in_reach(Turn.from_code(EMPTY))
    assert [each.words for each in found] == ["take one card"]


def test_a_plan_to_take_an_empty_territory_says_why_it_is_impossible() -> None:
    answer = ask("plan", position=EMPTY, take="Venezuela")
    assert answer.sentence == (
        "You cannot take Venezuela: Venezuela has no armies, and nobody can attack an empty "
        "territory."
    )
    with pytest.raises(IllegalError, match="must have an owner; Siam has none"):
        best_plan(Turn.from_code("1;classic;red;Peru:red:5,Brazil:blue:2"), TakeAll("Siam"))


def test_a_number_of_more_territories_counts_from_all_own_territories() -> None:
    code = "1;classic;red;Venezuela:red:4,Peru:red:0,Brazil:blue:1,Argentina:blue:1;attack;"
    turn = Turn.from_code(code + 'rules={"garrison"%3A0}')
    answer = ask("plan", position=turn.to_code(), own_any=2)
    both = best_plan(turn, TakeAll(("Brazil", "Argentina")))
    assert answer.sentence.startswith("You own 4 territories with a chance of ")
    four = best_plan(turn, OwnAny(4))
    assert four.win_probability == pytest.approx(both.win_probability, abs=1e-9)


@pytest.mark.parametrize(("number", "is_reached"), [(2, True), (3, False)])
def test_an_own_territory_without_armies_counts_as_owned(number: int, is_reached: bool) -> None:
    turn = Turn.from_code(EMPTY)
    assert OwnAny(number).is_reached(turn) is is_reached
    assert best_plan(turn, OwnAny(3)).win_probability == pytest.approx(
        best_plan(turn, TakeAll("Brazil")).win_probability, abs=1e-9
    )
