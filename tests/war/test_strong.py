"""The strong AI: the rounds that it simulates, and the knowledge that it uses."""

from dataclasses import replace
from math import sqrt
from random import Random

import pytest

from iacta import Capitals, Hand, Missions, Position, Turn, classic_board
from iacta.native.deadline import Deadline
from iacta.war.games import Aim, War, list_seats
from iacta.war.players import PLAYERS
from tests.game.positions import classic_turn, make_line_turn
from tests.war.victories import RING

pytestmark = pytest.mark.usefixtures("core")
STRONG = PLAYERS["strong"]
FINALISTS = 3  # the number of aims that the AI compares by simulated rounds


def ring_turn(number: int) -> Turn:
    """Return a turn on a ring of territories with two or three players."""
    rng = Random(number)  # noqa: S311 # deals games, no secrets
    names = ("red", "blue", "green")[: 2 + number % 2]
    lands = enumerate(RING.territories)
    held = {name: (names[k % len(names)], rng.randint(1, 5)) for k, name in lands}
    return Turn(Position(RING, "red", held), place=3, players=names, cards={})


@pytest.mark.parametrize("number", [0, 2, 5])
def test_values_of_the_best_aims_are_results_of_games_after_these_aims(number: int) -> None:
    turn = ring_turn(number)
    war = War(turn)
    to_the_end = replace(STRONG, rounds=200.0, trials=2000.0)
    quick = replace(
        STRONG,
        samples=0.0,
        rounds=0.0,
        guarding=STRONG.guarding / 2,
        guard_level=STRONG.guard_level / 2,
        guard_share=STRONG.guard_share / 2,
    )
    without_samples = (quick,) * len(war.seats)
    aims = dict[float, Aim]()
    for aim, value in war.judge_aims(to_the_end, 1):
        aims.setdefault(value, aim)
    assert len(aims) > FINALISTS
    for value, aim in [*aims.items()][:FINALISTS]:
        games = war.play_games(without_samples, games=2000, seed=2, aim=aim)
        assert not (games.is_cut | games.is_too_long).any()
        error = sqrt(2 * 0.25 / 2000)  # standard error of the difference of two means
        assert value == pytest.approx(float(games.chances[:, 0].mean()), abs=4 * error), aim


def test_a_longer_comparison_starts_with_the_aims_of_the_usual_ai() -> None:
    for seed in range(4):
        war = War(classic_turn(classic_board(), seed))
        usual = [aim for aim, _ in war.judge_aims(PLAYERS["usual"], seed)]
        strong = [aim for aim, _ in war.judge_aims(STRONG, seed)]
        assert {*strong} == {*usual}
        assert usual[0] in strong[:FINALISTS]


def test_secret_missions_of_rivals_do_not_change_its_choice() -> None:
    names = ("red", "blue", "green")
    held = {name: (names[k % 3], 4) for k, name in enumerate(RING.territories)}

    def judge(secret: str) -> object:
        missions = Missions({"red": "7 territories", "blue": secret, "green": "8 territories"})
        turn = Turn(Position(RING, "red", held), place=3, players=names, victory=missions)
        return War(turn).judge_aims(STRONG, 1)

    assert judge("secret 4 territories") == judge("secret 8 territories")
    assert judge("4 territories") != judge("8 territories")


def test_cards_of_rivals_do_not_change_its_choice() -> None:
    def judge(cards: int | Hand) -> object:
        turn = make_line_turn("r7 b4 g5 r3 b3", place=3, cards={"red": 1, "blue": cards})
        return War(turn).judge_aims(STRONG, 1)

    assert judge(Hand(3)) == judge(Hand(1, 1, 1)) == judge(3)
    assert judge(3) != judge(4)


def test_it_guards_its_capital_against_a_rival_who_can_win() -> None:
    # Blue owns green's capital E, and wins by taking A. V does not consider capitals.
    owners = ("red", "red", "green", "blue", "blue", "green", "red", "blue")
    armies = (2, 5, 4, 3, 4, 6, 1, 3)
    held = dict(zip(RING.territories, zip(owners, armies, strict=True), strict=True))
    capitals = Capitals({"red": "A", "blue": "D", "green": "E"})
    turn = Turn(
        Position(RING, "red", held), place=5, players=("red", "blue", "green"), victory=capitals
    )
    lost = []
    for name in ("strong", "usual"):
        players = (PLAYERS[name], PLAYERS["usual"], PLAYERS["usual"])
        found = War(turn).play_games(players, games=600, cut=1)
        lost.append(int((found.chances[:, 1] == 1).sum()))
    assert lost[0] < lost[1] / 2


def test_a_long_choice_ends_with_the_time_limit() -> None:
    turn = classic_turn(classic_board(), 3)
    player = (replace(STRONG, trials=1e7),) * len(list_seats(turn))
    found = War(turn).play_games(player, games=1, deadline=Deadline(0.05))
    assert len(found.chances) == 0
