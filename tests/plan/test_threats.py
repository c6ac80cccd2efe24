"""Threats: compared with all placements and plays on small boards."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, combinations_with_replacement
from random import Random

import pytest

from iacta import Missions, Turn
from iacta.analysis import Threats, threats
from iacta.analysis.threats import MIN_LOWERED_CHANCE, Kind, find_threats
from iacta.board import Board, Continent, Holding, Position
from iacta.game import Fortify
from iacta.inputs.errors import IactaError
from iacta.native.deadline import Deadline
from iacta.plan import Goal, TakeAll, TakeAny, place_armies
from iacta.plan.goal_plan import MIN_GOAL_CHANCE
from iacta.plan.levels import USUAL
from iacta.plan.margin import MARGIN as SACRIFICE
from iacta.plan.problem import enter_phase
from iacta.rules.modes import ArmiesGrow
from iacta.rules.rules import CLASSIC, Rules
from tests.cases import choose_seeds
from tests.plan.boards import assert_known, make_board
from tests.plan.twin import Play
from tests.plan.whole_turn import draw_turn


def small(seed: int) -> Position:
    """Return a turn of three players on five or six territories, in which red owns a continent."""
    rng = Random(seed)  # noqa: S311 # draws boards, no secrets
    names = "abcdef"[: rng.randint(5, 6)]
    pairs = [(names[rng.randrange(k)], names[k]) for k in range(1, len(names))]
    pairs += [pair for pair in combinations(names, 2) if rng.random() < 0.3]
    bare = make_board("small", pairs, names)
    board = Board("small", bare.territories, bare.borders, (Continent("K", 2, ("a", "b")),))
    owners = ["red", "red", "blue", "green", *rng.choices(("red", "blue", "green"), k=2)]
    held = (Holding(owner, rng.randint(1, 3)) for owner, _ in zip(owners, names, strict=False))
    return Position(board, "red", tuple(held))


def best_of_all(position: Position, player: str, goal: Goal) -> float:
    """Return the chance of the best placement and play of an opponent."""
    theirs = replace(position, player=player)
    mine = theirs.list_territories(player)
    rows = combinations_with_replacement(mine, Turn(position).new_armies(player))
    after = (
        place_armies(theirs, [(name, row.count(name)) for name in mine]).position for row in rows
    )
    return max(float(Play(each, goal, CLASSIC).value()) for each in after)


def list_goals(position: Position) -> Iterator[tuple[Kind, str, Goal]]:
    red = position.list_territories("red")
    for name in red:
        yield "take", name, TakeAll(name)
    yield "break", "K", TakeAny("a,b")
    yield "eliminate", "red", TakeAll(red)


@pytest.mark.parametrize("seed", choose_seeds(range(6), 4))
def test_the_best_placement_and_play_of_small_boards_is_found_and_bounded(seed: int) -> None:
    position = small(seed)
    found = {each[:3]: each for each in threats(Turn(position)).threats}
    for player in ("blue", "green"):
        for kind, name, goal in list_goals(position):
            best, each = best_of_all(position, player, goal), found.pop((player, kind, name), None)
            if each is None:
                assert best < MIN_GOAL_CHANCE + SACRIFICE
                continue
            assert best - min(SACRIFICE, best / 100) <= each.chance + 1e-9
            assert best <= each.at_most + 1e-9
            assert each.armies == sum(number for _, number in each.placement)
            theirs = place_armies(replace(position, player=player), each.placement).position
            assert each.chance <= Play(theirs, goal, CLASSIC).value() + 1e-9
            assert each.chance <= best + 1e-9
    assert not found


def test_threats_follow_one_way_borders_from_the_opponent_to_the_player() -> None:
    ways = ("A", "B"), ("B", "A"), ("B", "C"), ("C", "A")
    board = Board("one way", ("A", "B", "C"), ways)
    held = Holding("red", 2), Holding("red", 3), Holding("blue", 5)
    found = {each.name: each.chance for each in threats(Turn(Position(board, "red", held))).threats}
    assert found["A"] == pytest.approx(0.966649, abs=1e-6)  # blue borders A only
    assert found["B"] == pytest.approx(0.663176, abs=1e-6)  # blue must take A first


NEUTRAL = (
    "1;classic;red;Peru:red:3,Venezuela:red:2,Brazil:grey:9,Central%20America:blue:4;attack;"
    "players=red,blue"
)


@pytest.mark.parametrize(
    "win",
    ["", ";win=capitals:all,red:Peru,blue:Central%20America", ";win=missions:,red:any,blue:any"],
)
def test_neutral_owners_are_no_threat(win: str) -> None:
    found = threats(Turn.from_code(NEUTRAL + win)).threats
    assert {each.player for each in found} == {"blue"}


TURN = Turn.from_code(
    "1;classic;red;Peru:red:3,Venezuela:red:2,Brazil:blue:7,Egypt:blue:1,Argentina:green:2"
)


def test_a_higher_level_keeps_the_threats_and_their_bounds() -> None:
    found = [*find_threats(TURN, USUAL, Deadline())]
    assert [each.level for each in found] == ["quick", "usual"]
    assert [each.is_complete for each in found] == [False, True]
    quick, usual = ({each[:3]: each for each in some.threats} for some in found)
    assert {*quick} == {*usual}
    assert all(usual[key].chance <= quick[key].at_most + 1e-9 for key in quick)
    chances = [each.chance for each in found[1].threats]
    assert chances == sorted(chances, reverse=True)


def test_without_time_no_threat_has_a_chance() -> None:
    found = threats(TURN, time_limit=0)
    assert (found.threats, found.move, found.level, found.is_complete) == ((), None, "", False)


def make_front(rear: int) -> Turn:
    """Return a turn in which red has armies behind a front of single armies."""
    board = make_board("front", [("r", "f"), ("f", "b"), ("r", "x")], "rfbx")
    red, blue = Holding("red", rear), Holding("blue", 6)
    return Turn(Position(board, "red", (red, Holding("red", 1), blue, Holding("red", 1))))


def test_the_last_move_brings_armies_to_the_front_and_says_what_that_changes() -> None:
    move = threats(make_front(9)).move
    assert move is not None
    assert (move.start, move.to) == ("r", "f")
    assert (move.before.kind, move.before.name, move.before.player) == ("take", "f", "blue")
    assert move.after.chance < move.before.chance
    assert move.kept == pytest.approx((move.before.chance - move.after.chance) / 3, abs=0.34)
    there = make_front(9).position
    held = {"r": 9 - move.armies, "f": 1 + move.armies}
    after = replace(
        there,
        holdings=tuple(
            replace(each, armies=held.get(name, each.armies))
            for name, each in zip(there.board.territories, there.holdings, strict=True)
        ),
    )
    known = {each[:3]: each.chance for each in threats(Turn(after)).threats}
    assert known["blue", "take", "f"] == pytest.approx(move.after.chance)


class Losses:
    """Red's losses after each fortifying move, by enumeration of the opponents' turns.

    position: the position in which red may fortify.
    """

    def __init__(self, position: Position) -> None:
        last = Turn(position, phase="fortify")
        self.moves = [each for each in last.actions() if isinstance(each, Fortify)]
        ends = [position, *(last.after(each).position for each in self.moves)]
        self.lost = [dict[tuple[Kind, str], float]() for _ in ends]
        for player in ("blue", "green"):
            if position.list_territories(player):
                for kind, name, goal in list_goals(position):
                    if kind != "eliminate":
                        self._add(ends, player, (kind, name), goal)

    def _add(self, ends: list[Position], player: str, which: tuple[Kind, str], goal: Goal) -> None:
        position = replace(ends[0], player=player)
        play, new = Play(position, goal, CLASSIC), Turn(ends[0]).new_armies(player)
        mine = position.list_territories(player)
        rows = [*combinations_with_replacement(mine, new)]
        bonuses = {each.name: each.bonus for each in position.board.continents}
        worth = bonuses[which[1]] if which[0] == "break" else 1 / 3
        for end, lost in zip(ends, self.lost, strict=True):
            theirs = replace(end, player=player)
            after = (
                place_armies(theirs, [(name, row.count(name)) for name in mine]).position
                for row in rows
            )
            loss = worth * max(float(play.value(play.state(each))) for each in after)
            lost[which] = max(lost.get(which, 0.0), loss)

    def find_kept(self, move: Fortify) -> tuple[float, float]:
        """Return the bonus armies that a move saves, and the territories in armies."""
        before, after = self.lost[0], self.lost[1 + self.moves.index(move)]
        parts = {"break": 0.0, "take": 0.0}
        for which in before:
            parts[which[0]] += before[which] - after[which]
        return parts["break"], parts["take"]


def judge_last_move(seed: int) -> tuple[bool, bool, bool]:
    """Judge the recommended fortifying move on a small board.

    Return whether a helpful move exists, whether the recommendation is the best move, and whether
    it is harmful.
    """
    position = small(seed)
    losses, move = Losses(position), threats(Turn(position)).move
    kept = {each: losses.find_kept(each) for each in losses.moves}
    # Compare bonuses first, rounded to 0.01 armies, then territories. Their sum must be positive.
    helpful = {
        each: (bonus, rest)
        for each, (bonus, rest) in kept.items()
        if bonus + rest > 1e-9 and (round(bonus, 2), rest) > (0.0, 1e-9)
    }
    if move is None:
        return bool(helpful), not helpful, False
    assert move.before.chance - move.after.chance >= MIN_LOWERED_CHANCE
    own = Fortify(move.start, move.to, move.armies)
    assert move.kept == pytest.approx(sum(kept[own]), abs=1e-9)
    best = max((round(bonus, 2), rest) for bonus, rest in helpful.values())
    bonus, rest = kept[own]
    is_best = round(bonus, 2) >= best[0] - 1e-9 and rest >= best[1] - 1e-9
    return True, is_best, sum(kept[own]) <= 0


@pytest.mark.parametrize("seed", choose_seeds(range(10), 5))
def test_the_last_move_is_optimal_and_never_harmful(seed: int) -> None:
    _, is_best, is_harmful = judge_last_move(seed)
    assert is_best
    assert not is_harmful


@pytest.mark.parametrize("seed", [3, 23, 33])
def test_the_chances_of_the_last_move_are_true_after_the_move(seed: int) -> None:
    turn = enter_phase(draw_turn(seed, most_lands=14, most_armies=9), "fortify")
    found = threats(turn)
    move = assert_known(found.move)
    lost = move.before[1:3]
    assert move.before.chance == find_greatest(found, lost)
    after = turn.after(Fortify(move.start, move.to, move.armies))
    assert move.after.chance == pytest.approx(find_greatest(threats(after), lost), abs=1e-12)
    assert move.before.chance - move.after.chance >= MIN_LOWERED_CHANCE


def find_greatest(found: Threats, lost: tuple[str, str]) -> float:
    """Return the greatest chance of any opponent to take a territory, or to break a continent."""
    return max((each.chance for each in found.threats if each[1:3] == lost), default=0.0)


def test_a_move_that_opens_a_continent_is_not_recommended() -> None:
    fronts = "Egypt,East Africa,Congo,South Africa,Madagascar,Western Europe,Brazil"
    red = "North Africa:red:10," + fronts.replace(",", ":red:1,") + ":red:1"
    others = "Great Britain:blue:9,Venezuela:green:8"
    turn = Turn.from_code(f"1;classic;red;{red},{others}".replace(" ", "%20"))
    found = threats(turn)
    broken = max(each.chance for each in found.threats if each.kind == "break")
    assert broken == pytest.approx(0.5208, abs=1e-4)
    assert found.move is None or found.move.kept > 0
    after = Turn(turn.position, phase="fortify").after(Fortify("North Africa", "Brazil", 9))
    opened = max(each.chance for each in threats(after).threats if each.kind == "break")
    assert opened == pytest.approx(0.9997, abs=1e-4)
    assert found.move is None or found.move.to != "Brazil"


def test_a_bonus_comes_before_a_territory_that_is_in_more_danger() -> None:
    pairs = [("a", "b"), ("b", "r"), ("r", "c"), ("a", "x"), ("c", "y")]
    bare = make_board("two fronts", pairs, "abcrxy")
    board = replace(bare, continents=(Continent("K", 1, ("a", "b")),))
    red = [Holding("red", armies) for armies in (1, 1, 1, 6)]
    position = Position(board, "red", (*red, Holding("blue", 10), Holding("green", 1)))
    move, losses = threats(Turn(position)).move, Losses(position)
    kept = {each: losses.find_kept(each)[0] for each in losses.moves}
    assert move is not None
    assert (move.start, move.to, move.before.kind, move.before.name) == ("r", "a", "break", "K")
    assert kept[Fortify("r", "a", move.armies)] == max(kept.values())
    # Each three territories bring one army, so c seems to be worth a third of an army. But red owns
    # so few territories that the loss of c costs no army.
    there = Turn(position, phase="fortify").after(Fortify("r", "c", move.armies)).position
    safer = [best_of_all(each, "green", TakeAll("c")) for each in (position, there)]
    assert (safer[0] - safer[1]) / 3 > max(kept.values())
    lost = replace(there, holdings=(*red[:2], Holding("green", 1), red[3], *there.holdings[4:]))
    assert Turn(lost).new_armies() == Turn(position).new_armies()


@pytest.mark.parametrize("turn", [make_front(1), make_front(9).with_options(fortify="none")])
def test_no_move_is_named_if_nothing_can_move(turn: Turn) -> None:
    assert threats(turn).move is None


def test_the_player_s_constraints_do_not_apply_to_opponents() -> None:
    free = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:7")
    bound = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:7;attack;keep=Brazil:7")
    assert threats(free).threats == threats(bound).threats


def test_the_position_counts_in_the_middle_of_a_turn() -> None:
    turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:1,Argentina:blue:4")
    taken = turn.apply_battle("Peru", "Brazil", 8, 0)
    assert taken.phase == "advance"
    assert "Brazil" in [each.name for each in threats(taken).threats]


def test_rules_under_which_armies_grow_are_refused() -> None:
    with pytest.raises(IactaError, match="plan"):
        threats(Turn(TURN.position, Rules(mode=ArmiesGrow())))


def test_a_message_about_too_many_armies_counts_the_armies_on_the_board() -> None:
    turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:1998,Argentina:blue:3")
    with pytest.raises(IactaError) as error:
        threats(turn)
    assert str(error.value) == (
        "armies on Brazil must be at most 1,997 before 3 new ones for a plan, got 1,998"
    )


def test_hidden_missions_average_over_the_possible_cards() -> None:
    held = {"A": ("blue", 5), "B": ("red", 2), "C": ("red", 1), "D": ("red", 3)}
    board = make_board("line", [("A", "B"), ("B", "C"), ("C", "D")], "ABCD")
    cards = ("2 territories", "3 territories", "3 territories with 2 armies")

    def find_chance(mission: str) -> float:
        missions = Missions(
            {"red": "4 territories", "blue": mission}, cards=(*cards, "1 territories")
        )
        turn = Turn(Position(board, "red", held), phase="over", victory=missions)
        found = [each for each in threats(turn).threats if each.kind == "win"]
        assert len(found) == 1
        assert found[0].chance <= found[0].at_most + 1e-9
        return found[0].chance

    known = [find_chance(each) for each in cards]
    assert len({*known}) == len(cards)
    assert find_chance("hidden") == pytest.approx(sum(known) / len(cards))


def test_a_finished_game_has_no_threats() -> None:
    turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:9;attack;win=share:1")
    assert threats(turn) == Threats("red", (), None, "usual", is_complete=True)
