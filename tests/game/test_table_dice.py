"""Known dice and whole placements: what a server of games passes to a turn."""

from itertools import product

import pytest

from iacta import IactaError, Losses, Turn, classic_board
from iacta.game import Actions, Attack, EndPhase, Fortify, Place
from iacta.game.legal import list_fortify_limits
from iacta.plan.problem import enter_phase
from iacta.rules.modes import DefenderSeesFirst
from iacta.rules.rules import Rules
from tests.cases import choose_seeds
from tests.game.positions import classic_turn

TURN = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
ROLL = Attack("Peru", "Brazil", 3)


@pytest.mark.parametrize("their_dice", [1, 2])
def test_known_dice_have_the_chances_of_the_results(their_dice: int) -> None:
    faces = range(1, 7)
    counts = dict[Losses, int]()
    for mine in product(faces, repeat=3):
        for theirs in product(faces, repeat=their_dice):
            losses = TURN.compare_dice(ROLL, mine, theirs)
            counts[losses] = counts.get(losses, 0) + 1
    total = 6 ** (3 + their_dice)
    found = TURN.results(ROLL, their_dice)
    assert {losses: pytest.approx(count / total) for losses, count in counts.items()} == dict(found)
    for losses in counts:
        after = TURN.after(ROLL, losses, their_dice)
        assert after.armies_on("Peru") == 9 - losses.attackers
        assert after.armies_on("Brazil") == 4 - losses.defenders


def test_the_usual_number_of_defence_dice_changes_nothing() -> None:
    assert TURN.results(ROLL, 2) == TURN.results(ROLL)
    assert TURN.after(ROLL, (1, 1), 2) == TURN.after(ROLL, (1, 1))


@pytest.mark.parametrize(
    ("mine", "theirs", "message"),
    [
        ([6, 5], [1], "mine must have 3 dice, got 2"),
        ([6, 5, 1], [], "theirs must have from 1 to 2 dice, got 0"),
        ([6, 5, 1], [1, 1, 1], "theirs must have from 1 to 2 dice, got 3"),
        ([7, 5, 1], [1, 1], "face must be"),
        ("651", [1, 1], "mine must be a list of numbers"),
    ],
)
def test_impossible_dice_are_rejected(mine: list[int], theirs: list[int], message: str) -> None:
    with pytest.raises(IactaError, match=message):
        TURN.compare_dice(ROLL, mine, theirs)


def test_defence_dice_are_rejected_where_nobody_chooses_them() -> None:
    sees_first = Turn(TURN.position, Rules(mode=DefenderSeesFirst()))
    for turn in (sees_first, Turn(TURN.position, whole_battles=True)):
        attack = turn.actions()[0]
        assert isinstance(attack, Attack)
        with pytest.raises(IactaError, match="their_dice must be left out"):
            turn.results(attack, 1)
    for number, message in ((3, "their_dice must be"), (0, "their_dice must be")):
        with pytest.raises(IactaError, match=message):
            TURN.results(ROLL, number)


def test_a_placement_may_have_any_order() -> None:
    code = "1;classic;red;Alaska:red:1,Peru:red:9,Siam:red:2,Brazil:blue:4;place;place=6"
    turn = Turn.from_code(code)
    placed = {"siam": 1, "Peru": 3, "Alaska": 2}
    after = turn.place_armies(placed)
    assert after == turn.place_armies(dict(sorted(placed.items())))
    assert [after.armies_on(name) for name in ("Alaska", "Peru", "Siam")] == [3, 12, 3]
    assert after.phase == "attack"
    for given, message in (
        ({"Peru": 5}, "new armies must be 6 in all, got 5"),
        ({"Peru": 5, "Brazil": 1}, "Brazil gets no new armies: red does not own it"),
        ({"Peru": -6, "Siam": 12}, "new armies on Peru must be"),
        ({"Atlantis": 6}, "Atlantis"),
        ([("Peru", 6)], "placement must map territories to armies"),
    ):
        with pytest.raises(IactaError, match=message):
            turn.place_armies(given)  # type: ignore[arg-type]
    assert TURN.place_armies({}) == TURN


def test_actions_in_plain_lists_are_found_like_lazy_actions() -> None:
    place = Place("Peru", 2)
    assert Actions([[place, EndPhase()]]).find(Place("Peru", 2)) == place
    assert Actions([[place]]).find(Place("Peru", 3)) is None
    assert Actions([[place]]).find(Place(["Peru"], 2)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", choose_seeds(range(20), 8))
def test_limits_of_last_moves_are_those_of_all_actions(seed: int) -> None:
    turn = enter_phase(classic_turn(classic_board(), seed), "fortify")
    most = dict[tuple[str, str], int]()
    for action in turn.actions():
        if isinstance(action, Fortify):
            pair = action.start, action.to
            most[pair] = max(most.get(pair, 0), action.armies)
    assert list_fortify_limits(turn) == most
