"""Chances to win: exact cases, intervals and reproducibility."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np
import pytest

import iacta.war.chances
from iacta import (
    Turn,
    best_goals,
    classic_board,
    goals_in_reach,
    tournament,
    win_chances,
)
from iacta.game import Action, Attack, EndPhase
from iacta.inputs.errors import IactaError, IllegalError
from iacta.native import deadline
from iacta.native.deadline import Deadline
from iacta.probability.estimate import (
    Estimate,
    Interval,
    compute_half_width_of_difference,
    compute_interval_of_mean,
)
from iacta.rules.modes import ArmiesGrow
from iacta.rules.rules import Rules
from iacta.war.chances import (
    ALLOWANCES,
    GOAL_GAMES,
    SEED_COUNT,
    V_ERROR,
    Series,
    WinChances,
)
from iacta.war.games import Aim, Floats, PlayedGames, War, choose_best_aim_per_goal, describe_aim
from iacta.war.goals import (
    _Candidate,
    _rank_candidates,
    _SecondOpinion,
    _try_plans,
    _try_win,
)
from iacta.war.players import PLAYERS
from iacta.war.value import load_weights
from tests.game.positions import classic_turn, make_line_turn
from tests.processes import press_ctrl_c_after
from tests.war.twin import SimplePolicy
from tests.war.victories import WINNABLE, winnable_turn

pytestmark = pytest.mark.usefixtures("core")


LINE = make_line_turn(
    "r9 b2 g3", place=3, cards={"red": 3, "green": 2}, players=("red", "blue", "green")
)


def middle(seed: int = 3) -> Turn:
    return classic_turn(classic_board(), seed)


def test_chances_are_exact_for_a_sole_owner_and_an_eliminated_player() -> None:
    won = make_line_turn("r3 r1", players=("red", "blue"))
    for found in (win_chances(won).chances, win_chances(won).second_opinion):
        assert [(each.chance, *each.interval) for each in found.chances] == [(1, 1, 1), (0, 0, 0)]
    three = make_line_turn("r3 g2 r1", players=("red", "blue", "green"), cards={"blue": 3})
    for found in (
        win_chances(three, games=20).chances,
        win_chances(three, games=20).second_opinion,
    ):
        blue = found.find_chance("blue")
        assert (blue.chance, *blue.interval) == (0, 0, 0)


def test_a_sole_owner_has_won_where_another_player_has_cards_left() -> None:
    won = make_line_turn("r3 r1", players=("red", "blue"), cards={"blue": 3})
    for found in (win_chances(won).chances, win_chances(won).second_opinion):
        assert [(each.chance, *each.interval) for each in found.chances] == [(1, 1, 1), (0, 0, 0)]


def test_a_game_in_which_nobody_can_attack_does_not_end() -> None:
    apart = Turn.from_code("1;classic;red;Peru:red:3,Japan:blue:2")
    with pytest.raises(IactaError, match=r"^the game cannot end: no territory of a player"):
        win_chances(apart)
    with pytest.raises(IactaError, match=r"^the game cannot end: no territory of a player"):
        best_goals(apart)
    assert goals_in_reach(apart) == ()
    neutral = Turn.from_code(
        "1;classic;red;Peru:red:3,Brazil:grey:1,Japan:blue:2;attack;players=red,blue"
    )
    assert win_chances(neutral, games=2).chances.games == 2


@pytest.mark.parametrize(("player", "second"), [("usual", "keeper"), ("keeper", "usual")])
def test_chances_sum_to_one_and_lie_within_their_intervals(player: str, second: str) -> None:
    found = win_chances(middle(), player=player, games=60)
    for each in (found.chances, found.second_opinion):
        assert sum(row.chance for row in each.chances) == pytest.approx(1, abs=1e-12)
        assert all(row.interval.low <= row.chance <= row.interval.high for row in each.chances)
        assert each.games == 60
    assert (found.chances.ai, found.second_opinion.ai) == (player, second)


def test_only_cut_games_have_an_allowance() -> None:
    found = win_chances(middle(), player="simple", games=40)
    assert found.second_opinion.cut > 0
    assert (found.second_opinion.ai, found.second_opinion.allowance) == ("keeper", 0.06)
    assert win_chances(middle(), games=10).chances.allowance == 0.03
    assert (found.chances.cut, found.chances.allowance) == (0, 0)
    for row in found.chances.chances:
        wins = round(40 * row.chance)
        assert row.chance == pytest.approx(wins / 40)
        assert row.interval == pytest.approx(Estimate(40, wins).interval())


def test_a_seed_repeats_the_result_with_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = win_chances(middle(), games=50, seed=7)
    monkeypatch.setattr(iacta.war.chances, "cpu_count", lambda: 5)
    monkeypatch.setattr(iacta.war.chances, "CHUNK_GAMES", 7)
    assert win_chances(middle(), games=50, seed=7) == found
    assert win_chances(middle(), games=50, seed=8) != found


def test_a_time_limit_plays_fewer_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iacta.war.chances.GRACE", 1000.0)  # enough for two games anywhere
    found = win_chances(middle(), games=10**6, time_limit=0.3)
    assert 2 <= found.chances.games < 10**6
    assert sum(row.chance for row in found.chances.chances) == pytest.approx(1)


def test_only_complete_stages_count(monkeypatch: pytest.MonkeyPatch) -> None:
    turn, seen = make_line_turn("r4 b4"), dict[int, WinChances]()

    def keep(found: WinChances | None, _: float) -> None:
        if found is not None:
            seen[found.chances.games] = found

    assert win_chances(turn, games=250, progress=keep) == seen[250]
    assert {**seen} == {n: win_chances(turn, games=n) for n in (100, 200, 250)}

    play = Series.play

    def stop_early(series: Series, end: int, deadline: Deadline, *more: Any) -> PlayedGames:
        found = play(series, end, deadline, *more)
        if len(more) < 2:  # never stop the first stage
            return found
        deadline.stop()
        return PlayedGames._make(each[:-1] for each in found)

    monkeypatch.setattr(Series, "play", stop_early)
    assert win_chances(turn, games=250) == seen[100]


def test_estimates_of_one_position_agree_within_their_intervals() -> None:
    turn = make_line_turn("r4 b4")
    found = [win_chances(turn, best_goal=True, games=25, seed=seed) for seed in range(102)]
    ends = [each.chances.find_chance("red").interval for each in found]
    pairs = [(ends[k], ends[k + gap]) for k in range(100) for gap in (1, 2)]
    assert len(pairs) == 200
    assert sum(a.low > b.high or b.low > a.high for a, b in pairs) <= 10


def test_the_best_goal_is_selected_in_other_games() -> None:
    turn = make_line_turn("r5 b4 g4", place=3, players=("red", "blue", "green"))
    war, wins = War(turn), dict[Aim, float]()
    for aim, _ in choose_best_aim_per_goal(war, PLAYERS["usual"], 3):
        selecting = Series(war, "usual", 3, aim).play(GOAL_GAMES, Deadline())
        wins[aim] = float(selecting.chances[:, 0].mean())
    assert len({*wins.values()}) > 1
    best = max(wins, key=lambda aim: wins[aim])
    fresh = Series(war, "usual", 3 + SEED_COUNT, best).play(50, Deadline())
    found = win_chances(turn, best_goal=True, games=50, seed=3)
    assert found.goal == describe_aim(war, best)
    assert found.chances.find_chance("red").chance == pytest.approx(fresh.chances[:, 0].mean())


def test_ctrl_c_ends_the_games() -> None:
    turn = middle()
    with press_ctrl_c_after(0.3), pytest.raises(KeyboardInterrupt):
        win_chances(turn, games=1_000_000)


def test_a_stack_that_cannot_lose_wins() -> None:
    turn = make_line_turn("r50 b1", place=3)
    found = win_chances(turn, games=100)
    assert found.chances.find_chance("red").chance > 0.99
    assert found.second_opinion.find_chance("red").chance > 0.99


def test_a_policy_may_play_every_seat() -> None:
    asked = []

    def bold(turn: Turn) -> Action:
        asked.append(turn.player)
        return turn.actions()[0]

    found = win_chances(make_line_turn("r6 b2 g1"), player=bold, games=10)
    assert (found.chances.ai, found.chances.games, found.chances.cut) == ("bold", 10, 0)
    assert {*asked} == {"red", "blue", "green"}
    assert sum(row.chance for row in found.chances.chances) == pytest.approx(1)
    assert win_chances(make_line_turn("r6 b2 g1"), player=bold, games=10) == found


def test_a_policy_is_not_asked_after_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now, asked = 0.0, list[float]()
    monkeypatch.setattr(deadline, "monotonic", lambda: now)

    def slow(turn: Turn) -> Action:
        nonlocal now
        asked.append(now)
        now += 0.03
        return turn.actions()[0]

    found = win_chances(make_line_turn("r6 b2 g1"), player=slow, time_limit=5)
    assert 2 <= found.chances.games < 40
    assert max(asked) < 2.5  # the second AI gets half of the time
    asked.clear()
    with pytest.raises(IllegalError, match="time_limit is too short for two games"):
        win_chances(make_line_turn("r6 b2 g1"), player=slow, time_limit=0)
    assert len(asked) < 10


@pytest.mark.parametrize("player", ["usual", "simple"])
def test_without_time_for_two_games_v_scores_the_position(
    player: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iacta.war.chances.GRACE", 0.0)
    turn = make_line_turn("r6 b2 g1")
    found = win_chances(turn, player=player, time_limit=0)
    for estimate in (found.chances, found.second_opinion):
        assert estimate.is_scored
        assert not estimate.is_decided
        chances = [each.chance for each in estimate.chances]
        assert sum(chances) == pytest.approx(1)
        for each in estimate.chances:
            assert 0 <= each.interval.low <= each.chance <= each.interval.high <= 1
            assert each.interval.high - each.interval.low > 0.4
    assert chances == pytest.approx(War(turn).judge(load_weights("ending"))[0].tolist())


def idle(turn: Turn) -> Action:
    return turn.actions()[-1]


def test_a_tournament_counts_wins() -> None:
    table: Sequence[object] = [idle, "simple", SimplePolicy()]
    standings = tournament(table, make_line_turn("r3 b3 g3", place=3), games=9, seed=2)  # type: ignore[arg-type] # any of them
    assert [each.games for each in standings] == [9, 9, 9]
    assert sum(each.wins for each in standings) <= 9
    assert standings[0].wins == 0
    for each in standings:
        assert each.interval == Estimate(9, each.wins).interval()


def test_games_between_ais_run_in_the_core() -> None:
    standings = tournament(["usual", "simple", "simple"], middle(), games=30)
    assert [each.name for each in standings] == ["usual", "simple", "simple"]
    assert sum(each.wins for each in standings) == 30
    assert tournament(["usual", "simple", "simple"], middle(), games=30) == standings


def test_goals_are_compared_by_the_chance_to_win() -> None:
    found = best_goals(LINE, games=60)
    wins = [each.win for each in found.goals]
    assert wins == sorted(wins, reverse=True)
    assert found.best.behind == 0
    words = {each.goal for each in found.goals}
    assert {
        "attack without a goal",
        "hold without attacking",
        "take one card",
        "eliminate blue",
    } <= words
    for each in found.goals:
        assert each.interval.low <= each.win <= each.interval.high
        assert each.is_clear == (each.behind_interval.low > 0)
        assert each.how in ("tactics", "plan", "worth")
        assert (each.plan is None) == (each.how == "tactics")
        assert each.example.end.phase == "over"
    assert found.unclear == tuple(each for each in found.goals[1:] if not each.is_clear)
    assert [each.goal for each in best_goals(LINE, games=60).goals] == [
        each.goal for each in found.goals
    ]


def test_a_plan_may_beat_the_tactics() -> None:
    found = best_goals(Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1"))
    eliminate = next(each for each in found.goals if each.goal == "eliminate blue")
    assert eliminate.chance > 0.6


GROWS = Rules(mode=ArmiesGrow())


def test_the_best_goal_gets_fresh_games() -> None:
    turn, mover = LINE, "red"
    found = best_goals(turn, games=12, seed=5)
    war = War(turn)
    aims = {
        describe_aim(war, aim): aim for aim, _ in choose_best_aim_per_goal(war, PLAYERS["usual"], 5)
    }
    assert found.best.how == "tactics"
    aim = aims[found.best.goal]
    fresh = Series(war, "usual", 5 + SEED_COUNT, aim).play(12, Deadline())
    assert found.best.win == pytest.approx(fresh.chances[:, war.seats.index(mover)].mean())
    for each in found.goals:
        assert each.behind == pytest.approx(found.best.win - each.win)


def test_a_goal_with_fewer_games_is_compared_in_the_common_games() -> None:
    results = np.random.default_rng(1).random(120)
    results[:60] += 0.1  # the first games are lucky

    def make(words: str, wins: Floats) -> _Candidate:
        example = make_line_turn("r2 b1", phase="attack").play(lambda _: EndPhase(), seed=0)
        return _Candidate(words, "tactics", wins, 1.0, None, example, lambda *_: wins)

    rows = [make("all", results), make("same", results[:60]), make("worse", results[:60] - 0.2)]
    second = {row.words: _SecondOpinion(0.5, Interval(0.4, 0.6)) for row in rows}
    for some in (rows, rows[::-1]):
        found = {each.goal: each for each in _rank_candidates(some, second)}
        assert found["all"].behind == pytest.approx(found["same"].behind, abs=1e-12)
        assert not found["same"].is_clear
        assert found["worse"].behind == pytest.approx(0.2)
        assert found["worse"].is_clear


@pytest.mark.parametrize("games", [2, 5, 60])
@pytest.mark.parametrize("win", [0.0, 1.0])
def test_no_chance_is_certain_because_a_few_games_agree(games: int, win: float) -> None:
    wilson = Estimate(games, round(games * win)).interval()
    own = np.full(games, win)
    assert compute_interval_of_mean(own) == pytest.approx(wilson)
    example = make_line_turn("r2 b1", phase="attack").play(lambda _: EndPhase(), seed=0)
    rows = [
        _Candidate(words, "tactics", wins, 1.0, None, example, lambda *_: own)
        for words, wins in (("best", own), ("same", own.copy()))
    ]
    second = {row.words: _SecondOpinion(0.5, Interval(0.4, 0.6)) for row in rows}
    best, same = _rank_candidates(rows, second)
    assert best.interval == pytest.approx(wilson)
    assert same.interval.low <= wilson.low + 1e-9
    assert same.interval.high >= wilson.high - 1e-9
    assert same.behind_interval.low < 0 < same.behind_interval.high


def test_intervals_of_few_scored_games_cover_the_mean() -> None:
    # V scores most games alike, and a few games are lost: the sample variance is often far too low.
    rng = np.random.default_rng(4)
    for games in (2, 5, 20, 100):
        samples = np.where(
            rng.random((2000, games)) < 0.15, 0.0, rng.uniform(0.36, 0.41, (2000, games))
        )
        ends = [compute_interval_of_mean(each) for each in samples]
        mean = 0.85 * 0.385
        assert fmean(low <= mean <= high for low, high in ends) > 0.93, games
        apart = samples[::2] - samples[1::2]
        halves = [compute_half_width_of_difference(each) for each in apart]
        assert fmean(abs(each.mean()) <= half for each, half in zip(apart, halves, strict=True)) > (
            0.93
        ), games


@pytest.mark.parametrize("games", [2, 2000])
def test_games_that_are_too_long_leave_the_chance_uncertain(
    games: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = make_line_turn("r6 b2 g1")
    zeros, scores = np.zeros(games, np.uint8), np.linspace(0.36, 0.41, games)
    chances = np.stack([scores, 1 - scores, np.zeros(games)], axis=1)
    played = PlayedGames(
        chances, zeros.astype(bool), ~zeros.astype(bool), zeros, zeros.astype(np.int32)
    )
    monkeypatch.setattr(Series, "play", lambda *_, **__: played)
    low, high = win_chances(turn, player="simple", games=games).chances.find_chance("red").interval
    assert low <= 0.385 - V_ERROR
    assert high >= 0.385 + V_ERROR
    assert games > 2 or high - low > 0.6


def test_a_policy_that_ends_no_game_may_win_or_lose_every_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("iacta.war.chances.play_to_end", lambda *_: None)
    found = win_chances(make_line_turn("r6 b2 g1"), player=idle, games=30).chances
    assert found.too_long == 30
    for each in found.chances:
        assert each.interval.low == 0
        assert each.interval.high == 1


@pytest.mark.parametrize("condition", WINNABLE)
def test_a_plan_to_win_in_this_turn_is_compared_in_games(condition: str) -> None:
    turn = winnable_turn(condition, 1)
    found = best_goals(turn, games=12)
    (win,) = (each for each in found.goals if each.goal == "win now")
    assert win.chance == win.win == found.best.win
    assert win.win > 0.9
    by_plan = _try_win(War(turn), 12, 0, Deadline())
    assert by_plan is not None
    candidate, second_opinion = by_plan
    assert candidate.how == "plan"
    assert candidate.chance == candidate.wins.mean() > 0.9
    assert second_opinion.win > 0.9


def test_a_plan_without_attacks_is_no_candidate_for_a_goal() -> None:
    war = War(make_line_turn("r12 b14", phase="attack"))
    (aim,) = (
        aim
        for aim, _ in choose_best_aim_per_goal(war, PLAYERS["usual"], 0)
        if describe_aim(war, aim) == "eliminate blue"
    )
    candidates = [*_try_plans(war, aim, 2, 0, Deadline())]
    assert [each.how for each in candidates] == ["plan"]
    assert isinstance(candidates[0].example.moves[0].action, Attack)


def test_intervals_of_goals_are_wider_by_the_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    # In each series of games, some games are cut.
    turn = make_line_turn("r9 b12 g12 b12 g12", place=3, players=("red", "blue", "green"))
    goals = best_goals(turn, games=40).goals
    for ai in ("usual", "keeper"):
        monkeypatch.setitem(ALLOWANCES, ai, 0.0)
    plain_goals = best_goals(turn, games=40).goals
    assert [each.goal for each in goals] == [each.goal for each in plain_goals]
    for k, (found, plain) in enumerate(zip(goals, plain_goals, strict=True)):
        assert (found.win, found.behind) == (plain.win, plain.behind)
        wider = 0.03 if k else 0.0  # for the best goal, the difference is exactly 0
        assert found.behind_interval == pytest.approx(
            (plain.behind_interval.low - wider, plain.behind_interval.high + wider)
        )
        assert found.is_clear == (found.behind_interval.low > 0)
        assert found.interval == _widen(plain.interval, 0.03)
        assert found.second_opinion_interval == _widen(plain.second_opinion_interval, 0.06)


def _widen(interval: Interval, allowance: float) -> object:
    low, high = interval
    return pytest.approx((max(low - allowance, 0.0), min(high + allowance, 1.0)))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: win_chances(make_line_turn("r3 b1", rules=GROWS)), "for the whole game"),
        (lambda: best_goals(make_line_turn("r3 b1", rules=GROWS)), "for the whole game"),
        (lambda: win_chances(middle(), player="bold"), "player must be one of usual, keeper"),
        (lambda: win_chances(middle(), player=3), "player must be one of"),  # type: ignore[arg-type]
        (lambda: win_chances(middle(), games=1), "games must be a whole number"),
        (
            lambda: best_goals(make_line_turn("r3 b1", phase="over")),
            "must have an action left, got the phase 'over'",
        ),
        (lambda: tournament(["simple"], middle()), "players must be 3"),
    ],
)
def test_bad_input_is_refused(ask: object, message: str) -> None:
    with pytest.raises(IactaError, match=message):
        ask()  # type: ignore[operator] # a function


@pytest.mark.usefixtures("core")
def test_without_the_core_the_message_has_the_command_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("iacta.native.core_library.find_library", lambda: None)
    with pytest.raises(
        IactaError, match=r"^whole games need the compiled core of iacta; `make core`"
    ):
        win_chances(middle(), games=2)
