"""Questions about whole games: every interface states the assumption behind the chances."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from iacta import (
    IactaError,
    Missions,
    Turn,
    ask,
    best_goals,
    classic_board,
    goals_in_reach,
    win_chances,
)
from iacta.analysis import Analysis, GoalAnalysis
from iacta.batch import answer
from iacta.forms.percentages import MAX_GAP, NOT_KNOWN
from iacta.forms.question import Answer, find_question
from iacta.forms.sections import Bars, Section, Table, format_cell
from iacta.forms.whole_game import GAMES_CONDITION, PEOPLE
from iacta.questions.goals import GoalsAnswer, GoalsQuestion, find_range, sort_known_first
from iacta.questions.threats import NO_MOVE_HELPS
from iacta.questions.win import WinQuestion
from iacta.war.chances import ESTIMATE_GAMES
from iacta.war.games import War, choose_best_aim_per_goal, describe_aim
from iacta.war.narration import describe_moves
from iacta.war.players import PLAYERS
from tests.cases import for_each
from tests.tables import table

pytestmark = pytest.mark.usefixtures("core")

EXAMPLES = Path(__file__).parents[2] / "examples"
BOARDS = Path(__file__).parents[1] / "coherence" / "board.tsv"
CODE = "1;classic;red;Peru:red:9,Venezuela:green:4,Brazil:blue:6,Argentina:blue:1"
ASKED: dict[str, dict[str, Any]] = {
    "win": {"code": CODE, "games": 20, "seed": 1},
    "goals": {"code": CODE, "games": 6, "seed": 1, "win": True},
}

CONDITION_KEYS = {"win": "condition", "goals": "win_condition"}


def answer_example(name: str, **more: Any) -> Answer:
    return ask(name, **{**ASKED[name], **more})


def join_text(sections: list[Section]) -> str:
    """Return the text of sections."""
    said = []
    for section in sections:
        for part in section.parts:
            if isinstance(part, Table):
                said += [*part.columns, *(format_cell(cell) for row in part.rows for cell in row)]
            elif isinstance(part, str):
                said.append(part)
            elif isinstance(part, Bars):
                said += [bar.label for bar in part.bars]
    return "\n".join([*said, *(section.title for section in sections)])


def share_axes(spec: object) -> Iterator[list[float]]:
    """Yield the tick marks of the axes of shares in a specification."""
    parts = spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ()
    if isinstance(spec, dict) and spec.get("format") == "~%":
        yield spec["values"]
    for part in parts:
        yield from share_axes(part)


def test_no_axis_of_shares_has_a_tick_above_100_percent() -> None:
    for found in (
        answer_example("goals"),
        answer_example("goals", win=False),
        ask("threats", code=CODE),
    ):
        ticks = [*share_axes(found.plot().to_dict())]
        assert ticks
        assert all(each[0] == 0.0 and each[-1] <= 1.0 for each in ticks)


@pytest.mark.parametrize("name", ASKED)
def test_every_interface_states_the_condition_and_the_second_opinion(name: str) -> None:
    found = answer_example(name)
    record, picture = found.record(), found.plot()
    shown = {
        "text": join_text([*found.sections()]),
        "JSON": json.dumps(record),
        "CSV": "\n".join(",".join(map(str, row)) for row in found.rows()),
        "picture": f"{picture.description} {json.dumps(picture.to_dict()['datasets'])}",
    }
    for face, words in shown.items():
        assert GAMES_CONDITION in words, face
        assert any(each in words for each in ("another AI", "second_opinion")), face
        assert "the chance" not in words.lower(), face
    assert found.sentence.count("%") == 4  # two chances, each with an interval
    condition = CONDITION_KEYS[name]
    assert record[condition] == GAMES_CONDITION
    assert 0 <= record["second_opinion"] <= 1
    heading, *rows = found.rows()
    assert condition in heading
    assert "second_opinion" in heading
    stated = [row[heading.index(condition)] for row in rows if row[heading.index("win")] != ""]
    assert {*stated} == {GAMES_CONDITION}


@pytest.mark.parametrize("name", ASKED)
def test_batches_have_columns_for_the_condition_and_the_second_opinion(
    name: str,
) -> None:
    form = find_question(name)
    assert form is not None
    condition = CONDITION_KEYS[name]
    assert {condition, "win", "second_opinion"} <= {*form.usual_columns()}
    polars = pytest.importorskip("polars")
    given = {**ASKED[name]}
    found = answer(polars.DataFrame({"code": [given.pop("code"), "x"]}), name, **given)
    row, wrong = found.to_dicts()
    record = answer_example(name).record()
    win = "answer_win" if name == "goals" else "win"  # `win` is a parameter of `goals`
    second = "second_opinion"
    for key, column in ((condition, condition), ("win", win), (second, second)):
        assert row[column] == record[key]
    assert wrong["error"] == "code must begin with its version, '1;', got 'x'"


def test_a_threat_far_below_its_bound_is_a_lower_bound() -> None:
    shown = set[bool]()
    large = BOARDS.read_text(encoding="utf-8").splitlines()[2].partition("\t")[0]
    for code in (CODE, large):
        found = ask("threats", code=code, level="quick")
        for each in found.record()["threats"]:
            is_open = each["at_most"] - each["chance"] > MAX_GAP
            is_lower_bound = each["figure"].startswith("at least") or each["figure"] == NOT_KNOWN
            assert is_lower_bound == is_open
            shown.add(is_open)
        assert "at most" not in join_text([*found.sections()])
    assert shown == {True, False}


@pytest.mark.parametrize(
    ("code", "is_named", "is_denied"),
    [
        (
            "Peru:red:9,Venezuela:red:1,Brazil:red:1,Argentina:red:1,Central%20America:blue:7",
            True,
            False,
        ),
        ("Peru:red:1,Brazil:red:1,Venezuela:blue:6", False, False),
        ("Peru:red:3,Brazil:red:1,Argentina:red:1,Venezuela:blue:19", False, True),
    ],
)
def test_threats_name_a_move_that_helps_or_say_that_none_does(
    code: str, is_named: bool, is_denied: bool
) -> None:
    text = join_text([*ask("threats", code=f"1;classic;red;{code}").sections()])
    assert ("The best fortifying move" in text) == is_named
    assert (NO_MOVE_HELPS in text) == is_denied


def test_only_chances_from_games_have_a_condition_about_the_computer() -> None:
    found = ask("goals", code=CODE)
    assert "computer" not in json.dumps(found.record())
    assert "computer" not in str([*found.rows()])


@pytest.mark.parametrize("name", ["goals", "threats"])
def test_a_fulfilled_mission_wins_with_certainty(name: str) -> None:
    players = "players=red,blue;win=missions:end,red:1%20territories,blue:1%20territories"
    code = f"1;classic;red;Indonesia:red:9,Siam:blue:3;attack;{players}"
    found = ask(name, code=code)
    assert "with a chance of 100%" in found.sentence
    assert "more than 99.99%" not in join_text([*found.sections()])


def test_the_sentence_names_another_ai() -> None:
    found = answer_example("win", player="simple")
    assert found.sentence.startswith("Red wins about ")
    assert found.record()["condition"] == "when the simple AI plays every side"


def test_no_share_is_shown_before_its_interval_is_narrow() -> None:
    few, many = answer_example("win").record(), answer_example("win", games=600).record()
    assert few["words"] == ""
    assert re.fullmatch(r"Red wins about \d+% of games \(±[1-5]\)\.", many["words"])
    assert max(row["interval"]["high"] - row["win"] for row in few["players"]) > 0.12
    text = json.dumps(many["details"])
    assert PEOPLE in text
    assert "with the keeper AI" in text


def test_the_turn_of_the_ai_is_shown_with_the_goals_that_it_compared() -> None:
    found, war = answer_example("win", turn_=True), War(Turn.from_code(CODE))
    record, text = found.record(), join_text([*found.sections()])
    played = war.play_turn(PLAYERS["usual"], 1)
    assert record["turn"] == describe_moves(played)
    aims = choose_best_aim_per_goal(war, PLAYERS["usual"], 1)
    shown = [(each["goal"], each["value"]) for each in record["compared"]]
    assert shown == [(describe_aim(war, aim), value) for aim, value in aims]
    assert war.play_turn(PLAYERS["usual"], 1, aims[0][0]).moves[0] == played.moves[0]
    for words in (*record["turn"], *(goal for goal, _ in shown), "points behind"):
        assert words in text
    assert not {"turn", "compared"} & {*answer_example("win").record()}
    assert answer_example("win", turn_=True, player="simple").record()["compared"] == []


@pytest.mark.parametrize(("seed", "is_first"), [(8, False), (2, True)])
def test_the_chosen_goal_comes_first_and_a_better_value_is_explained(
    seed: int, is_first: bool
) -> None:
    missions = {"red": "Asia, South America", "blue": "eliminate red", "green": "24 territories"}
    turn = Turn.from_code((EXAMPLES / "three-empires.txt").read_text(encoding="utf-8"))
    turn = turn.with_options(victory=Missions(missions))
    found = ask("win", position=turn, games=2, seed=seed, turn_=True)
    values = [each["value"] for each in found.record()["compared"]]
    assert (values[0] == max(values)) == is_first
    assert ("its choice first" in join_text([*found.sections()])) == (not is_first)


def test_an_answer_so_far_is_sent_once_for_each_stage() -> None:
    sent = []

    def watch(doing: str, part: float | None, *, keeps: bool = False, so_far: Any = None) -> None:
        assert doing == "Playing games"
        assert part is not None
        if so_far is not None:
            assert keeps
            sent.append((so_far.record()["games"], so_far.record()["is_estimated"]))

    WinQuestion(code=CODE, games=250).answer(watch)
    assert sent == [(ESTIMATE_GAMES, True), (250, False)]
    sent.clear()
    WinQuestion(code=CODE, games=20, compare_to=CODE).answer(watch)
    assert sent == [(20, True), (20, False)]


def test_the_answer_equals_the_library_s() -> None:
    turn = Turn.from_code(CODE)
    found, record = win_chances(turn, games=20, seed=1), answer_example("win").record()
    for first, second, row in zip(
        found.chances.chances, found.second_opinion.chances, record["players"], strict=True
    ):
        assert row["player"] == first.player
        assert row["win"] == first.chance
        assert [row["interval"]["low"], row["interval"]["high"]] == [*first.interval]
        assert row["second_opinion"] == second.chance
    assert sum(row["win"] for row in record["players"]) == pytest.approx(1)
    assert record["is_complete"]
    assert (record["games"], record["second_opinion_games"]) == (20, 20)
    goals = best_goals(turn, games=6, seed=1).goals
    rows = answer_example("goals").record()["goals"]
    assert [(row["goal"], row["win"], row["second_opinion"]) for row in rows if "win" in row] == [
        (each.goal, each.win, each.second_opinion) for each in goals
    ]
    reach = {each.words: each for each in goals_in_reach(turn)}
    likely = {row["goal"]: row for row in rows if "chance" in row}
    assert {*likely} == {*reach}
    for words, row in likely.items():
        assert (row["chance"], row["left"]) == (reach[words].value, reach[words].left)
        assert (row["interval"]["low"], row["interval"]["high"]) == find_range(reach[words])


def test_a_longer_search_for_a_goal_stays_in_its_interval() -> None:
    turn = Turn.from_code(f"{CODE};place;place=4")
    for row in answer_example("goals", code=turn.to_code(), win=False).record()["goals"]:
        asked = {**row["parameters"], "reinforce": 4}
        plan = ask("plan", position=turn.position, **asked).record()
        found, (low, high) = (
            plan["win_probability"],
            (row["interval"][end] for end in ("low", "high")),
        )
        assert low - 1e-9 <= found <= high + 1e-9
        assert low <= row["chance"] <= high
        assert sum(row["placement"].values()) == 4
        assert 0 < row["left"] <= 9 + 4


def test_without_games_goals_have_their_own_chance_only() -> None:
    record = answer_example("goals", win=False).record()
    assert not {"win", "second_opinion", "games"} & {*record, *record["goals"][0]}
    win, *others = record["goals"]
    assert (win["goal"], win["parameters"]) == ("win now", {"win": True})
    ranks = [(row["goal"] == "take one card" or row["chance"] <= 0.5) for row in others]
    assert ranks == sorted(ranks)
    for is_last in (False, True):
        chances = [
            row["chance"] for row, rank in zip(others, ranks, strict=True) if rank == is_last
        ]
        assert chances == sorted(chances, reverse=True)
    # To hold needs no attacks, so it has no chance of its own.
    assert "hold" not in [row["goal"] for row in record["goals"]]


def test_a_search_without_time_claims_no_easiest_goal() -> None:
    found = answer_example("goals", win=False, time_limit=0)
    assert found.sentence == "There was no time to compare Red's goals; allow more time."
    assert "0.01%" not in join_text([*found.sections()])


@pytest.mark.parametrize("limit", [0, 0.2])
def test_an_answer_cut_by_its_time_limit_has_intervals(limit: float) -> None:
    record = answer_example("win", games=10**6, time_limit=limit).record()
    assert not record["is_complete"]
    assert record["games"] in (0, ESTIMATE_GAMES, 600, 1200, 2400, 4800)
    for row in record["players"]:
        assert row["interval"]["low"] <= row["win"] <= row["interval"]["high"]


def test_an_estimate_says_so() -> None:
    code = (
        "1;classic;red;Peru:red:9,Venezuela:green:9,Brazil:blue:9,Argentina:blue:5,"
        "North%20Africa:green:7"
    )
    question = WinQuestion(code=code, games=60)
    kept = list[Answer]()

    def watch(*_: object, so_far: Any = None, **__: object) -> None:
        kept.extend([so_far] if so_far is not None else [])

    question.answer(watch)
    estimate, complete = kept
    assert " wins an estimated " in estimate.sentence
    assert " wins about " in complete.sentence
    text = join_text([*estimate.sections()])
    assert "stopped after 3 rounds" in text
    assert "the intervals include its error" in text
    assert "all played to the end" in join_text([*complete.sections()])


def test_the_change_since_an_earlier_position_has_its_own_interval() -> None:
    better = CODE.replace("Peru:red:9", "Peru:red:14")
    found = answer_example("win", code=better, compare_to=CODE)
    before = answer_example("win").record()
    record = found.record()
    assert [row["player"] for row in record["changes"]] == ["green", "red", "blue"]
    for row, own, old in zip(record["changes"], record["players"], before["players"], strict=True):
        assert row["change"] == pytest.approx(own["win"] - old["win"])
        assert row["interval"]["low"] <= row["change"] <= row["interval"]["high"]
        assert re.fullmatch(r"[+-]\d+ points \(±\d+\)", row["words"])
    assert "Changes since the earlier position" in join_text([*found.sections()])
    with pytest.raises(IactaError, match=r"^compare_to must be a position of green, red, blue"):
        answer_example("win", compare_to="1;classic;red;Peru:red:9,Brazil:blue:6")
    with pytest.raises(IactaError, match="code must begin with its version"):
        answer_example("win", compare_to="x")


@pytest.mark.parametrize("phase", ["over", "trade"])
def test_a_finished_turn_and_the_next_turn_have_the_same_numbers(phase: str) -> None:
    turn = Turn.from_code(f"{CODE};over")
    code = (turn if phase == "over" else turn.next()).to_code()
    record = answer_example("win", code=code).record()
    expected = answer_example("win", code=turn.next().to_code()).record()
    assert record["players"] == expected["players"]


def test_a_sole_owner_has_won() -> None:
    found = ask("win", code="1;classic;red;Peru:red:9")
    assert found.sentence == "Red has won: no other player is left."
    assert found.record()["is_complete"]


@for_each(*table(__file__, "winning_turns"))
def test_a_turn_that_wins_says_how(more: dict[str, Any], how: str, tmp_path: Path) -> None:
    cards = tmp_path / "cards.toml"
    cards.write_text('missions = ["24 territories"]')
    if "hidden" in more.get("mission", {}).values():
        more = {**more, "mission_cards": str(cards)}
    names = classic_board().territories
    held = ",".join(f"{name}:red:60" for name in names[:23])
    theirs = ",".join(f"{name}:blue:1" for name in names[23:])
    code = f"1;classic;red;{held},{theirs}".replace(" ", "%20")
    turn = ask("win", code=code, games=2, turn_=True, **more).record()["turn"]
    assert turn[-1] == f"Red has won: {how}."
    assert not any("won" in line for line in turn[:-1])


def test_progress_counts_games_and_goals() -> None:
    for name in ASKED:
        parts: list[float] = []

        def watch(
            doing: str,
            part: float | None,
            *,
            keeps: bool = False,
            so_far: object = None,
            to: Any = parts,
        ) -> None:
            assert doing.startswith(("Playing ", "Comparing ", "Starting"))
            assert (part is None) == (doing == "Starting")
            to.extend([] if part is None else [part])

        ask(name, watch=watch, **ASKED[name])
        assert parts[-1] == 1
        assert parts == sorted(parts)


@pytest.mark.parametrize(("name", "needs"), [("win", "whole games need"), ("goals", "plans need")])
def test_without_the_core_an_error_is_raised(
    name: str, needs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iacta.native.core_library.find_library", lambda: None)
    with pytest.raises(IactaError, match=needs):
        answer_example(name)


def test_a_player_who_wins_no_game_hardly_wins_with_any_goal() -> None:
    found = answer_example("goals", win=True, games=4)
    assert isinstance(found, GoalsAnswer)
    assert found.judged is not None
    lost = tuple(replace(each, win=0.0, second_opinion=0.001) for each in found.judged.goals)
    hopeless = replace(found, judged=replace(found.judged, goals=lost))
    assert hopeless.sentence == (
        "Red hardly wins, whatever they choose: about 0% of games when the computer plays every "
        "side."
    )
    assert "not clearly worse" not in join_text([*hopeless.sections()])


def test_a_goal_whose_best_plan_is_unknown_has_a_lower_bound() -> None:
    reach = GoalAnalysis(
        {"take": "Brazil, Argentina"},
        "take South America",
        is_offered=True,
        level="quick",
        value=0.04,
        interval=(0.02, 0.06),
    )
    asked = GoalsQuestion(code=CODE)
    analysis = Analysis(asked.turn, (reach,), "quick", is_complete=True)
    found = GoalsAnswer(asked, analysis)
    assert found.sentence == ("Red can take South America this turn with a chance of at least 2%.")
    unknown = replace(reach, level="", value=None, interval=None)
    assert GoalsAnswer(asked, replace(analysis, goals=(unknown,), level="")).sentence == (
        "There was no time to compare Red's goals; allow more time."
    )


def test_goals_without_a_known_chance_come_after_the_others() -> None:
    known = GoalAnalysis({}, "take Asia", is_offered=True, value=0.6, upper_bound=0.61)
    wide = replace(known, words="win now", value=0.9, interval=(0.0, 1.0), upper_bound=1.0)
    later = GoalAnalysis({}, "take Europe", value=0.2, upper_bound=0.2)
    found = sort_known_first((wide, GoalAnalysis({}, "take Africa"), later, known))
    assert [each.words for each in found] == ["take Asia", "win now", "take Europe", "take Africa"]
