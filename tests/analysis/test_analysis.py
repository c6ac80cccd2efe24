"""One analysis for each turn: the same numbers everywhere, ordered, and kept by clients."""

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from iacta import Turn, ask, goals_in_reach, review, threats
from iacta.analysis import GoalAnalysis, analyse
from iacta.analysis.analysis import AskedGoal, Task, order_goals
from iacta.analysis.goals import Conquest, canonicalise, list_goals, list_implied, make_goal_key
from iacta.board import Board, Holding, Position
from iacta.game import EndPhase, Missions
from iacta.inputs.errors import IactaError
from iacta.native import deadline as deadlines
from iacta.native.deadline import Deadline
from iacta.plan import TakeAll, TakeAny, goal_plan, reinforcement
from iacta.plan.goal_plan import plan_at_levels, plan_goal
from iacta.plan.levels import LEVELS, LONG, QUICK, USUAL
from iacta.plan.named_goals import read_goal_record
from iacta.plan.opponents import begin_opponent_turn
from iacta.questions.threats import describe_threat
from tests.cases import choose_seeds
from tests.cli.conftest import run
from tests.cli.run import Run
from tests.test_coherence import draw_turn

__all__ = ["run"]

POSITIONS = 20
# Blue's turn on the classic board, after red has taken North America; from a game on the board.
BLUE = (
    "1;classic;blue;Alaska:red:2,Northwest%20Territory:red:1,Alberta:red:1,Ontario:red:1,Quebec:red:1,"
    "Eastern%20United%20States:red:1,Western%20United%20States:red:2,Central%20America:red:5,"
    "Greenland:red:1,Venezuela:yellow:2,Peru:yellow:1,Brazil:yellow:5,Argentina:yellow:1,"
    "Iceland:blue:1,Scandinavia:blue:2,Great%20Britain:blue:4,Western%20Europe:blue:2,"
    "Northern%20Europe:blue:3,Southern%20Europe:blue:6,Ukraine:blue:4,North%20Africa:yellow:4,"
    "Egypt:yellow:2,East%20Africa:yellow:2,Congo:yellow:1,South%20Africa:yellow:1,"
    "Madagascar:yellow:1,Ural:yellow:2,Siberia:yellow:1,Yakutsk:yellow:1,Kamchatka:red:2,"
    "Irkutsk:yellow:1,Mongolia:green:1,Japan:green:1,Afghanistan:yellow:2,China:green:3,"
    "Middle%20East:yellow:3,India:green:2,Siam:green:6,Indonesia:green:5,New%20Guinea:green:1,"
    "Western%20Australia:green:1,Eastern%20Australia:green:1;attack;players=red,blue,green,yellow"
)


def make_turn(seed: int) -> Turn:
    """Return the start of a turn on a random board, with new armies for some seeds."""
    turn = Turn(draw_turn(seed).position)
    return turn.with_options(place=3) if seed % 2 else turn


def ask_quickly(turn: Turn, **more: Any) -> dict[str, Any]:
    """Return the record of an analysis at the level `quick`."""
    record: dict[str, Any] = ask(
        "analysis", code=turn.to_code(), board=turn.board, level="quick", **more
    ).record()
    return record


def analyse_blue() -> dict[str, Any]:
    """Return the numbers of blue's turn as JSON, as the API sends them."""
    found = ask("analysis", code=BLUE, level="quick", parts=("goals", "threats")).record()
    return dict(json.loads(json.dumps(found)))


def test_the_numbers_do_not_depend_on_threads_processes_or_faces(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        job = pool.submit(analyse_blue)
        found = analyse_blue()
        assert job.result() == found
    monkeypatch.setattr(deadlines, "THREADS", 1)
    monkeypatch.setattr(reinforcement, "THREADS", 1)
    monkeypatch.setattr("iacta.native.calls.SHORT_CALL_SECONDS", 1e-4)  # a slow machine
    turn = Turn.from_code(Turn.from_code(BLUE).to_code())
    listed = [(each.words, each.value, each.left) for each in goals_in_reach(turn, "quick")]
    assert listed == [(each["goal"], each["chance"], each["left"]) for each in found["goals"]]
    told = json.loads(run(f"goals {BLUE} --level quick --json").stdout)
    assert [each["chance"] for each in told["goals"]] == [value for _, value, _ in listed]


@pytest.mark.parametrize(
    ("seed", "level"), [*((seed, "quick") for seed in range(POSITIONS)), (1, "usual"), (2, "usual")]
)
def test_list_plan_steps_and_review_have_one_number(seed: int, level: str) -> None:
    turn = make_turn(seed)
    for each in goals_in_reach(turn, level)[:2]:
        parameters = dict(each.parameters)
        plan = ask("plan", position=turn, level=level, **parameters).record()
        assert plan["value"] == pytest.approx(each.value, abs=0), each.words
        steps = ask("steps", position=turn, level=level, **parameters).record()
        assert steps["level"] == level
        assert steps["values"][0]["value"] == each.value, each.words
        (named,) = (
            found
            for found in ask_named(turn, level, parameters)["goals"]
            if found["parameters"] == parameters
        )
        assert named["chance"] == named["plan"]["value"] == each.value
        if turn.phase == "attack" and "win" not in parameters:
            line = {"turn": turn.to_code(), "goal": parameters}
            judged = review(json.dumps({**line, "battles": []}), board=turn.board, level=level)
            assert [step.before for step in judged.steps] == [each.value]


def ask_named(turn: Turn, level: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the record of an analysis of one goal."""
    record: dict[str, Any] = ask(
        "analysis", code=turn.to_code(), board=turn.board, level=level, goals=[parameters]
    ).record()
    return record


@pytest.mark.parametrize("seed", choose_seeds(range(POSITIONS), 10))
def test_threats_are_the_goals_of_the_next_player(seed: int) -> None:
    turn = Turn(draw_turn(seed).position)
    over = turn.after(EndPhase())
    over = over if over.phase == "over" else over.after(EndPhase())
    theirs = over.next()
    named = {"break", "eliminate"}
    listed = {
        each.words: each.value
        for each in goals_in_reach(theirs, "quick")
        if each.words.endswith(turn.player) or f"break {turn.player}'s" in each.words
    }
    told = {
        describe_threat(each, turn.player): each.chance
        for each in threats(over, "quick").threats
        if each.player == theirs.player and each.kind in named
    }
    assert told == listed


def test_a_finished_turn_counts_as_the_next_player_s() -> None:
    turn = Turn(draw_turn(3).position, phase="over")
    assert canonicalise(turn) == turn.next() == canonicalise(turn.next())
    assert analyse(turn, QUICK) == analyse(turn.next(), QUICK)


def test_a_level_that_is_stopped_leaves_the_lower_level(monkeypatch: pytest.MonkeyPatch) -> None:
    turn, search = Turn.from_code(BLUE), plan_goal

    def stop_at_usual(*given: Any, **more: Any) -> Any:
        if given[2] == USUAL:
            given[3].stop()
        return search(*given, **more)

    expected = analyse(turn, QUICK).goals
    monkeypatch.setattr("iacta.analysis.analysis.plan_goal", stop_at_usual)
    found = analyse(turn, USUAL)
    assert (found.goals, found.level, found.is_complete) == (expected, "quick", False)
    monkeypatch.setattr(goal_plan, "plan_goal", stop_at_usual)
    goal = read_goal_record(turn, {"take": "Africa"})
    reached = [*plan_at_levels(turn, goal, LONG, Deadline())]
    assert [each.level for each in reached] == [QUICK]


def test_without_any_level_a_plan_has_no_numbers() -> None:
    turn = Turn.from_code(BLUE)
    stopped = Deadline()
    stopped.stop()
    (found,) = plan_at_levels(turn, read_goal_record(turn, {"take": "Africa"}), USUAL, stopped)
    assert (found.level, found.value, found.interval) == (None, None, None)
    record = ask("plan", position=turn, take="Africa", time_limit=0).record()
    assert (record["value"], record["figure"], record["level"]) == (None, "", "")
    answer = analyse(turn, goals=[AskedGoal({"take": "Africa"})], deadline=stopped)
    assert [(each.level, each.value) for each in answer.goals] == [("", None)]


def test_known_numbers_are_returned_and_not_computed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turn, search = Turn.from_code(BLUE), plan_goal
    calls = list[object]()

    def count_calls(*given: Any, **more: Any) -> Any:
        calls.append(given[1])
        return search(*given, **more)

    monkeypatch.setattr("iacta.analysis.analysis.plan_goal", count_calls)
    known = ask_quickly(turn, parts=("goals", "threats"))
    first = len(calls)
    assert first > len(known["goals"]) + len(known["threats"]) - 1
    again = ask_quickly(turn, parts=("goals", "threats"), known=json.loads(json.dumps(known)))
    assert again == known
    assert len(calls) <= first + 14  # only goals that were not likely enough are tried again
    calls.clear()
    goal = known["goals"][0]["parameters"]
    named = ask_quickly(turn, goals=[goal], known=known)
    assert calls == []
    assert [each["goal"] for each in named["goals"]] == [each["goal"] for each in known["goals"]]
    priced = ask_quickly(turn, goals=[{**goal, "price": 0.5}], known=known)
    assert len(calls) == 1
    (found,) = (each for each in priced["goals"] if each["parameters"] == goal)
    assert found["price"] == 0.5
    assert found["is_offered"]


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"goals": 3}, "known goals must be a list of objects, got 3"),
        ({"goals": [4]}, "known goal must be a JSON object, got 4"),
        ({"goals": [{"parameters": {"take": "X"}}]}, "X"),
        ({"goals": [{"parameters": {"take": "Asia"}, "chance": 2}]}, "goal must be text, got None"),
        (
            {"goals": [{"parameters": {"take": "Asia"}, "goal": "a", "chance": 2}]},
            "chance must be a chance from 0 to 1, got 2",
        ),
        (
            {"goals": [{"parameters": {"take": "Asia"}, "goal": "a", "level": "much"}]},
            "level must be '' or 'quick' or 'usual' or 'long', got 'much'",
        ),
        ({"threats": [{"kind": "sing"}]}, "kind must be"),
        ({"move": []}, "move must be a JSON object, got []"),
    ],
)
def test_malformed_numbers_are_refused_in_one_line(known: dict[str, Any], message: str) -> None:
    with pytest.raises(IactaError) as error:
        ask("analysis", code=BLUE, known=known)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def list_tasks() -> Iterator[tuple[str, Task]]:
    board = Board.from_edges("line", [("a", "b"), ("b", "c"), ("c", "d")])
    turn = Turn(Position(board, "red", (Holding("red", 5), *(Holding("blue", 1),) * 3)))
    goals = {"b": TakeAll("b"), "all": TakeAll("b,c,d"), "any": TakeAny("c,d")}
    for key, goal in goals.items():
        yield key, Task(turn, goal, None, {"take": key}, key, is_offered=True)


def test_an_implied_goal_adopts_the_plan_and_a_stronger_goal_the_bound() -> None:
    tasks = dict(list_tasks())
    conquests = {
        key: Conquest.for_goal(task.goal, task.turn) for key, task in tasks.items() if task.goal
    }
    assert list_implied(conquests) == {"b": [], "all": ["b", "any"], "any": []}
    empty = {key: GoalAnalysis(task.parameters, key, level="quick") for key, task in tasks.items()}
    best = replace(empty["all"], value=0.4, interval=(0.3, 0.5), upper_bound=0.9, left=3.0)
    numbers = {
        "b": replace(empty["b"], value=0.2, upper_bound=0.8, proven=True),
        "all": best,
        "any": replace(empty["any"], value=0.5, upper_bound=0.5),
    }
    ordered = order_goals({key: (tasks[key], numbers[key]) for key in tasks}, tasks)
    assert ordered["any"] == numbers["any"]
    assert ordered["all"] == replace(best, upper_bound=0.5)
    adopted = ordered["b"]
    assert (adopted.value, adopted.interval, adopted.left) == (0.4, (0.3, 0.5), 3.0)
    assert (adopted.upper_bound, adopted.proven, adopted.words) == (0.8, False, "b")


def test_a_goal_that_was_asked_first_is_offered_later() -> None:
    turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1")
    offered = [each for each in analyse(turn, QUICK).goals if each.is_offered]
    asked = [AskedGoal(each.parameters) for each in offered]
    first = analyse(turn, QUICK, goals=asked, has_offers=False)
    assert not any(each.is_offered for each in first.goals)
    again = analyse(turn, QUICK, goals=asked, known=first.goals)
    assert [each for each in again.goals if each.is_offered] == offered


def test_the_numbers_of_listed_goals_do_not_depend_on_other_goals() -> None:
    tasks = dict(list_tasks())
    chances = {"b": 0.2, "all": 0.4, "any": 0.3}
    pairs = {
        key: (task, GoalAnalysis(task.parameters, key, level="quick", value=chances[key]))
        for key, task in tasks.items()
    }
    ordered = order_goals(pairs, {"any"})
    assert ordered["any"] == pairs["any"][1]
    assert [ordered[key].value for key in ("b", "all")] == [0.4, 0.3]


def test_a_threat_has_the_number_of_the_goal_in_the_opponents_list() -> None:
    boards = Path(__file__).parents[1] / "coherence" / "board.tsv"
    turn = Turn.from_code(boards.read_text("utf-8").splitlines()[4].partition("\t")[0])
    found = threats(turn, "quick")
    compared = 0
    for player in {each.player for each in found.threats}:
        theirs = begin_opponent_turn(turn, player)
        offered = {each.key: each for each in analyse(theirs, QUICK).goals}
        for each in found.threats:
            if each.player == player and (goal := offered.get(make_goal_key(each.parameters))):
                assert each.chance == goal.value, (player, each.parameters)
                compared += 1
    assert compared > 0


def test_secret_missions_do_not_change_the_dangers() -> None:
    held = "Peru:red:3,Venezuela:blue:5,Brazil:green:3,Siam:green:1"
    found = []
    for mission in ("2 territories", "8 territories"):
        missions = {"red": "9 territories", "blue": mission, "green": "8 territories"}
        secret = Missions(missions, secret=("blue",))
        turn = Turn.from_code(f"1;classic;red;{held}").with_options(victory=secret)
        record = ask("analysis", code=turn.to_code(), parts=["threats"], level="quick").record()
        found.append((record["danger"], record["threats"]))
    assert found[0] == found[1]
    greatest = max(row["chance"] for row in found[0][1] if row["name"] == "Peru")
    assert [chance for chance in found[0][0]["chances"] if chance is not None] == [greatest]


def test_every_offer_is_a_goal_that_users_can_name() -> None:
    turn = Turn.from_code(BLUE)
    for words, parameters in list_goals(turn):
        goal = read_goal_record(turn, parameters)
        assert goal is not None, words
    assert [*LEVELS] == ["quick", "usual", "long"]


def test_an_estimate_agrees_with_the_exact_chance_of_an_implied_goal() -> None:
    tasks = dict(list_tasks())
    empty = {key: GoalAnalysis(task.parameters, key, level="quick") for key, task in tasks.items()}
    exact = replace(empty["b"], value=0.98, left=5.0, losses=0.5)
    estimate = replace(empty["all"], value=1.0, interval=(0.9, 1.0), left=3.0, losses=9.0)
    numbers = {"b": exact, "all": estimate, "any": replace(empty["any"], value=1.0)}
    ordered = order_goals({key: (tasks[key], numbers[key]) for key in tasks}, tasks)
    assert ordered["b"] == exact
    assert ordered["all"] == replace(estimate, value=0.98)
    clear = numbers | {"all": replace(estimate, interval=(0.99, 1.0))}
    assert order_goals({key: (tasks[key], clear[key]) for key in tasks}, tasks)["b"].value == 1.0
