"""Chances to win: exact cases, intervals and reproducibility."""

from collections.abc import Sequence
from math import hypot
from statistics import fmean
from typing import Any

import numpy as np
import pytest

import iacta.war.chances
from benchmarks.eliminations import ELIMINATION, read_opportunities
from benchmarks.war import SEED, read_recorded
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
    NORMAL_QUANTILE,
    Estimate,
    Interval,
    compute_half_width_of_difference,
    compute_interval_of_mean,
)
from iacta.rules.modes import ArmiesGrow
from iacta.rules.rules import Rules
from iacta.war.chances import (
    CUT_ROUNDS,
    ESTIMATE_GAMES,
    SEED_COUNT,
    V_ERROR,
    Series,
    WinChances,
    WinStage,
    compute_interval_of_results,
    list_stages,
)
from iacta.war.games import Floats, PlayedGames, War, choose_best_aim_per_goal, describe_aim
from iacta.war.goals import (
    _Candidate,
    _rank_candidates,
    _SecondOpinion,
    _try_plans,
    _try_win,
)
from iacta.war.players import PLAYERS
from iacta.war.value import load_weights
from iacta.web.turns import describe_setup, read_setup
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


def test_an_interval_covers_the_dice_and_the_error_of_v() -> None:
    found = win_chances(middle(), player="simple", games=40).chances
    assert (found.games, found.is_estimated) == (40, False)
    for row in found.chances:
        wins = round(40 * row.chance)
        assert row.chance == pytest.approx(wins / 40)
        assert row.interval == pytest.approx(Estimate(40, wins).interval())
    results = np.random.default_rng(2).uniform(0.3, 0.6, 500)
    ends = [compute_interval_of_results(results, cut) for cut in (0, 100, 500)]
    widths = [high - low for low, high in ends]
    assert widths == sorted(widths)
    assert ends[2].low < results.mean() - 0.08 < results.mean() + 0.08 < ends[2].high
    low, high = compute_interval_of_results(np.zeros(80), 80)
    assert low == 0 < 0.02 < high  # V never makes a chance certain


@pytest.mark.parametrize("player", ["usual", "keeper"])
def test_the_stages_are_an_estimate_and_then_complete_games(player: str) -> None:
    turn, seen = make_line_turn("r4 b4 g5", players=("red", "blue", "green")), list[WinChances]()

    def keep(found: WinChances | None, _: float) -> None:
        if found is not None and found not in seen:
            seen.append(found)

    final = win_chances(turn, player=player, games=1300, progress=keep)
    assert final is seen[-1]
    shown = [(each.chances.games, each.chances.is_estimated) for each in seen]
    assert shown == [(ESTIMATE_GAMES, True), (600, False), (1200, False), (1300, False)]
    assert shown == [(each.second_opinion.games, each.second_opinion.is_estimated) for each in seen]
    assert win_chances(turn, player=player) == seen[1]
    assert win_chances(turn, player=player, games=1300) == final
    estimate, complete = seen[0].chances, seen[1].chances
    assert not {*estimate.results.ravel()} <= {0.0, 1.0}
    assert {*complete.results.ravel()} == {0.0, 1.0}


def test_games_that_v_may_not_score_have_only_complete_stages() -> None:
    line = make_line_turn("r4 b4")
    assert list_stages("usual", line, None) == [WinStage(ESTIMATE_GAMES, CUT_ROUNDS), WinStage(600)]
    assert list_stages("strong", line, None) == [WinStage(n) for n in (25, 50, 100, 200)]
    assert list_stages(idle, line, None) == [WinStage(n) for n in (5, 10, 20, 40)]
    capitals = winnable_turn("capitals", 1)
    assert list_stages("usual", capitals, None) == [WinStage(n) for n in (75, 150, 300, 600)]
    assert list_stages("usual", line, 30) == [WinStage(30, CUT_ROUNDS), WinStage(30)]


def test_estimates_agree_with_complete_games_within_their_intervals() -> None:
    """Recorded results of complete games from 60 positions, with rising and with fixed sets."""
    within = list[bool]()
    for each in (*read_recorded()["classic"], *read_recorded()["fixed"]):
        war, games = War(each.turn), len(each.winners)
        found = Series(war, "usual", SEED + 1, cut=CUT_ROUNDS).play(20, Deadline())
        for seat, results in enumerate(found.chances.T):
            wins = each.winners.count(str(seat)) / games
            low, high = compute_interval_of_results(results, int(found.is_cut.sum()))
            half = hypot((high - low) / 2, NORMAL_QUANTILE * (wins * (1 - wins) / games) ** 0.5)
            within.append(abs(wins - (low + high) / 2) <= half)
    assert len(within) > 200
    assert fmean(within) >= 0.95


def test_a_finished_turn_has_the_chances_of_the_next_player_s_turn() -> None:
    three = ("red", "blue", "green")
    turns = [
        make_line_turn("r4 b4 g2", phase="over", players=three),
        LINE.play(idle, seed=0).end,
        *(winnable_turn(condition, 1).play(idle, seed=0).end for condition in WINNABLE),
    ]
    for turn in turns:
        assert (turn.phase, turn.winner) == ("over", None)
        found = win_chances(turn, games=10, seed=4)
        after = win_chances(turn.next(), games=10, seed=4)
        assert found == after
        for name in turn.players:
            change = after.chances.compute_change(found.chances, name)
            assert change.change == 0


def test_neutral_armies_are_no_players() -> None:
    code = (
        "1;classic;red;Peru:red:6,Venezuela:red:2,Brazil:blue:5,Argentina:grey:3,"
        "North%20Africa:blue:4;place;place=3;players=red,blue"
    )
    turn = Turn.from_code(code)
    found = win_chances(turn, games=10)
    assert [each.player for each in found.chances.chances] == ["red", "blue"]
    # The page sends the same turn, and asks the same question.
    assert found == win_chances(read_setup(describe_setup(turn), turn.board), games=10)


def test_the_same_dice_make_a_change_precise() -> None:
    """Every turn has its own dice, so two similar positions have similar games."""
    turn = middle()
    armies = list(turn.armies)
    armies[turn.owners.index(turn.player)] += 1
    changed = turn.replace_armies(turn.owners, tuple(armies))

    def play(each: Turn, seed: int) -> Floats:
        series = Series(War(each), "usual", seed, cut=CUT_ROUNDS)
        return series.play(100, Deadline()).chances[:, 0]

    before = play(turn, 0)
    paired, independent = (
        compute_half_width_of_difference(play(changed, s) - before) for s in (0, 1)
    )
    assert paired < 0.9 * independent


def test_a_better_roll_does_not_lower_the_chance() -> None:
    """The best and the worst result of one roll, in the same state."""
    for armies in ("r6 b5 g4 r2 b3", "r9 b7 g2 b4 r5", "b3 r7 g6 r8 b4"):
        turn = make_line_turn(armies, players=("red", "blue", "green"), phase="attack")
        attacks = [each for each in turn.actions() if isinstance(each, Attack) and each.dice == 3]
        attack = max(attacks, key=lambda each: turn.armies_on(each.to))
        results = turn.list_losses(attack)
        better, worse = (
            win_chances(turn.after(attack, each), games=60) for each in (results[0], results[-1])
        )
        for after, before in (
            (better.chances, worse.chances),
            (better.second_opinion, worse.second_opinion),
        ):
            found = after.compute_change(before, "red")
            own = after.find_chance("red").chance - before.find_chance("red").chance
            assert found.change == pytest.approx(own)
            assert found.interval.low <= found.change <= found.interval.high
            assert found.interval.high >= 0


def test_a_change_to_a_decided_game_is_known_as_well_as_the_chance_before() -> None:
    before = win_chances(make_line_turn("r4 b4"), games=40).chances
    won = win_chances(make_line_turn("r4 r1", players=("red", "blue"))).chances
    found = won.compute_change(before, "red")
    assert found.change == 1 - before.find_chance("red").chance
    assert found.interval.low < found.change < found.interval.high
    assert won.compute_change(won, "red") == (0.0, (0.0, 0.0))
    rough = win_chances(make_line_turn("r4 b4"), time_limit=0).chances
    low, high = rough.compute_change(before, "red").interval
    assert high - low > 0.6


def test_a_seed_repeats_the_result_with_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = win_chances(middle(), games=50, seed=7)
    monkeypatch.setattr(iacta.war.chances, "cpu_count", lambda: 5)
    monkeypatch.setattr(iacta.war.chances, "CHUNK_GAMES", 7)
    assert win_chances(middle(), games=50, seed=7) == found
    assert win_chances(middle(), games=50, seed=8) != found


def test_a_time_limit_only_decides_which_stage_is_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turn, play = make_line_turn("r4 b4"), Series.play
    stages = [win_chances(turn, games=n) for n in (600, 1000)]
    calls = 0
    limit = 0

    def stop_early(series: Series, end: int, deadline: Deadline, *more: Any) -> PlayedGames:
        nonlocal calls
        calls += 1
        found = play(series, end, deadline, *more)
        return found if calls <= limit else PlayedGames._make(each[:-1] for each in found)

    monkeypatch.setattr(Series, "play", stop_early)
    for limit in range(7):
        calls = 0
        found = win_chances(turn, games=1000, time_limit=1000)
        if limit < 2:
            assert (found.chances.games, found.chances.is_estimated) == (0, True)
        elif limit < 4:
            assert (found.chances.games, found.chances.is_estimated) == (ESTIMATE_GAMES, True)
        else:
            assert found == stages[limit >= 6]


def test_estimates_of_one_position_agree_within_their_intervals() -> None:
    turn = make_line_turn("r4 b4")
    found = [win_chances(turn, games=25, seed=seed) for seed in range(102)]
    ends = [each.chances.find_chance("red").interval for each in found]
    pairs = [(ends[k], ends[k + gap]) for k in range(100) for gap in (1, 2)]
    assert len(pairs) == 200
    assert sum(a.low > b.high or b.low > a.high for a, b in pairs) <= 10


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
    chances = found.chances
    assert (chances.ai, chances.games, chances.is_estimated) == ("bold", 10, False)
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
    assert found.chances.games in (5, 10, 20)
    assert max(asked) < 5
    asked.clear()
    with pytest.raises(IllegalError, match="time_limit is too short for 5 games"):
        win_chances(make_line_turn("r6 b2 g1"), player=slow, time_limit=0)
    assert len(asked) < 10


@pytest.mark.parametrize("player", ["usual", "simple"])
def test_without_time_for_games_v_scores_the_position(player: str) -> None:
    turn = make_line_turn("r6 b2 g1")
    found = win_chances(turn, player=player, time_limit=0)
    for estimate in (found.chances, found.second_opinion):
        assert (estimate.games, estimate.is_estimated) == (0, True)
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


class StoppedError(Exception):
    """Raised by a callback to end the work."""


def test_the_progress_of_goals_begins_without_goals_and_can_end_the_work() -> None:
    shown = list[tuple[int, float]]()
    found = best_goals(
        LINE, games=60, progress=lambda goals, part: shown.append((len(goals.goals), part))
    )
    assert shown == sorted(shown)
    assert 0 < shown[-1][0] <= len(found.goals)
    assert shown[-1][1] <= 1.0

    def stop(*_: object) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        best_goals(LINE, games=60, progress=stop)


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
    monkeypatch.setattr("iacta.war.chances.play_game", lambda *_: None)
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


def test_fresh_complete_games_confirm_a_marked_goal() -> None:
    """Eliminating red is marked in a recorded turn, and wins most complete games."""
    war = War(read_opportunities(ELIMINATION)[2].turn)
    mover, rows, wins = war.seats.index(war.turn.player), list[_Candidate](), dict[str, float]()
    example = make_line_turn("r2 b1", phase="attack").play(idle, seed=0)
    for aim, _ in choose_best_aim_per_goal(war, PLAYERS["usual"], 0):
        words = describe_aim(war, aim)
        if words not in ("eliminate red", "take Europe", "take Africa"):
            continue
        found = Series(war, "usual", 0, aim, CUT_ROUNDS).play(160, Deadline()).chances[:, mover]
        fresh = Series(war, "usual", SEED_COUNT, aim).play(50, Deadline()).chances[:, mover]
        rows.append(_Candidate(words, "tactics", found, 1.0, None, example, lambda *_: np.zeros(0)))
        wins[words] = float(fresh.mean())
    second = {row.words: _SecondOpinion(0.5, Interval(0.4, 0.6)) for row in rows}
    marked = [each.goal for each in _rank_candidates(rows, second) if each.is_best]
    assert marked == ["eliminate red"]
    assert max(wins, key=lambda words: wins[words]) == "eliminate red"


def test_no_goal_is_marked_before_the_difference_is_clear() -> None:
    example = make_line_turn("r2 b1", phase="attack").play(lambda _: EndPhase(), seed=0)

    def make(words: str, wins: Floats) -> _Candidate:
        return _Candidate(words, "tactics", wins, 1.0, None, example, lambda *_: wins)

    def mark(rows: dict[str, Floats]) -> list[str]:
        second = {words: _SecondOpinion(0.5, Interval(0.4, 0.6)) for words in rows}
        found = _rank_candidates([make(*row) for row in rows.items()], second)
        return [each.goal for each in found if each.is_best]

    rng = np.random.default_rng(3)
    won = (rng.random(160) < 0.6).astype(float)
    lost = won * (rng.random(160) < 0.6)
    assert mark({"take Asia": won, "hold": lost}) == ["take Asia"]
    assert mark({"take Asia": won, "hold": lost, "take Europe": won * 0.99}) == []
    assert mark({"take Asia": won[:12], "hold": won[:12] * 0.9}) == []
    # A style of play that is as good does not prevent the mark; a better style does.
    assert mark({"take Asia": won, "hold": lost, "attack boldly": won * 0.99}) == ["take Asia"]
    assert mark({"take Asia": lost, "hold": lost * 0.1, "attack boldly": won}) == []
    # Equal results in all games mean that the goals are played alike.
    alike = {"attack without a goal": won, "take one card": won, "take Asia": won, "hold": lost}
    assert mark(alike) == ["take Asia"]
    # A difference that is clear in one comparison is not clear in one of twenty.
    weak = won - (rng.random(160) < 0.10) * won
    few = {"take Asia": won, "hold": weak}
    many = few | {f"take {k}": weak * rng.random(160) for k in range(18)}
    assert (mark(few), mark(many)) == (["take Asia"], [])


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
