"""`iacta plan`: the answer is the library's, and what is wrong gets one sentence."""

import io
import json
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from iacta import (
    Board,
    Campaign,
    IllegalError,
    InOrder,
    MalformedError,
    Sets,
    TakeAll,
    TakeAny,
    Worth,
    armies_needed_for_plan,
    best_plan,
    eliminate,
    go_on,
    hold,
    read_position,
    reinforce,
    reinforcements_needed,
    traded_armies,
)
from iacta.cli.terminal import patience
from iacta.plan.alternatives import alternatives
from iacta.questions import ask
from iacta.questions import plan as asked
from iacta.questions.plan import PlanQuestion
from tests.cli.run import Result, Run

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
CHAIN = EXAMPLES / "unfinished-game.json"
ASIA = EXAMPLES / "asia.toml"
WAY = [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]
KEYS = ("goal", "rules", "win_probability", "upper_bound", "proven", "steps", "territories")

SMALL = """
player = "red"

[board.territories]
A = ["B", "C"]
B = ["D"]
C = []
D = []

[board.continents.East]
bonus = 3
territories = ["B", "D"]

[territories]
A = { owner = "red", armies = 9 }
B = { owner = "blue", armies = 2 }
C = { owner = "green", armies = 1 }
D = { owner = "blue", armies = 1 }
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return the file of a small position."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    return file


def record(result: Result) -> dict[str, Any]:
    """Return what `--json` has printed."""
    assert (result.code, result.stderr) == (0, "")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_unfinished_game_is_the_campaign(run: Run) -> None:
    found = record(run(f"plan {CHAIN} --eliminate blue --json"))
    odds = Campaign(72, WAY).territory_odds()
    assert found["win_probability"] == pytest.approx(odds[-1].conquer_probability, abs=1e-12)
    assert found["upper_bound"] - found["win_probability"] < 0.005
    assert [step["to"] for step in found["steps"]] == [str(n) for n in range(1, 15)]


def test_json_has_the_keys_in_their_order_and_the_library_s_numbers(run: Run, small: Path) -> None:
    found = record(run(f"plan {small} --take B,C,D --json"))
    plan = best_plan(read_position(small), TakeAll("B,C,D"))
    assert tuple(found)[: len(KEYS) + 1] == (*KEYS, "seconds")
    assert found["goal"]["kind"] == "take all"
    assert set(found["goal"]["territories"]) == set(plan.goal.names)
    assert (found["win_probability"], found["upper_bound"]) == (
        plan.win_probability,
        plan.upper_bound,
    )
    for told, step in zip(found["steps"], plan.steps, strict=True):
        assert tuple(told.values()) == (
            step.start,
            step.to,
            step.reach_probability,
            step.conquer_probability,
            step.expected_armies,
        )
    for told, end in zip(found["territories"], plan.territories, strict=True):
        assert tuple(told.values()) == (end.name, end.own_probability, end.expected_armies)


def test_csv_is_the_way(run: Run, small: Path) -> None:
    lines = run(f"plan {small} --eliminate blue --csv").stdout.splitlines()
    steps = best_plan(position := read_position(small), eliminate(position, "blue")).steps
    assert lines[0] == "from,to,reach_probability,conquer_probability,expected_armies"
    assert [line.split(",")[:3] for line in lines[1:]] == [
        [step.start, step.to, repr(step.reach_probability)] for step in steps
    ]


def test_the_answer_tells_each_branch(run: Run, small: Path) -> None:
    told = run(f"plan {small} --take B,C,D").stdout
    assert told.startswith("You take B, C and D with a chance of ")
    assert "proven best." in told.splitlines()[0]
    assert "\nfrom A to B: move all but " in told or "\nfrom A to C: move all but " in told
    assert "Where it may fail:" in told
    assert "\nAt the end:\n" in told


def test_a_goal_is_any_of_four(run: Run, small: Path) -> None:
    position = read_position(small)
    goals: dict[str, TakeAll | TakeAny | Worth] = {
        "--take East": TakeAll("B,D"),
        "--take-any C,D": TakeAny("C,D"),
        "--eliminate blue": eliminate(position, "blue"),
        "--worth --territory-value 2 --bonus-value 1/2 --army-value 0.1": Worth(2.0, 0.5, 0.1),
    }
    for words, goal in goals.items():
        assert (
            record(run(f"plan {small} {words} --json"))["value"] == best_plan(position, goal).value
        ), words
    told = run(f"plan {small} --worth").stdout
    assert told.startswith("The plan is worth ")
    assert record(run(f"plan {small} --worth --json"))["win_probability"] is None


def test_constraints_and_rules_reach_the_plan(run: Run, small: Path) -> None:
    position, goal = read_position(small), TakeAll("B,D")
    plans = {
        "--garrison 2": best_plan(position, goal, garrison=2),
        "--keep A:3,b:2": best_plan(position, goal, keep={"A": 3, "B": 2}),
        "--rules capital": best_plan(position, goal, "capital"),
    }
    for words, plan in plans.items():
        found = record(run(f"plan {small} --take East {words} --json"))
        assert found["win_probability"] == plan.win_probability, words
    assert len({plan.win_probability for plan in plans.values()}) == 3


def test_need_tells_the_fewest_armies(run: Run, small: Path) -> None:
    found = record(run(f"plan {small} --take East --need 95% --json"))
    armies = armies_needed_for_plan(read_position(small), TakeAll("East"), "95%", "A")
    assert found["need"] == {"chance": 0.95, "source": "A", "armies": armies}
    for there, enough in ((armies, True), (armies - 1, False)):
        text = SMALL.replace("armies = 9", f"armies = {there}")
        small.write_text(text, encoding="utf-8")
        chance = record(run(f"plan {small} --take East --json"))["win_probability"]
        assert (chance >= 0.95) is enough
    told = run(f"plan {small} --take East --need 95%").stdout
    assert f"you need {armies} armies on A" in told


def test_need_may_be_asked_where_nothing_can_be_done_yet(run: Run, small: Path) -> None:
    small.write_text(SMALL.replace("armies = 9", "armies = 1"), encoding="utf-8")
    told = run(f"plan {small} --take East --need 50%").stdout
    assert told.startswith("You cannot take East: red has no stack that can attack: ")
    assert told.splitlines()[1].startswith("For a chance of at least 50% you need ")


def test_check_plays_it_with_real_dice(run: Run, small: Path) -> None:
    line = f"plan {small} --take East --check 2e4 --seed 5"
    found = record(run(f"{line} --json"))
    check = found["check"]
    assert (check["runs"], check["seed"]) == (20_000, 5)
    assert check["interval"]["low"] < found["win_probability"] < check["interval"]["high"]
    told = run(line).stdout.splitlines()
    assert told == run(line).stdout.splitlines()
    assert told[1].startswith("In 20,000 games with real dice it succeeded in ")
    assert "the exact chance is inside (seed 5)." in told[1]


def test_the_position_may_come_from_standard_input(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SMALL.encode())))
    assert run("plan - --take East").stdout.startswith("You take East with a chance of ")


def test_the_position_may_be_a_value(small: Path) -> None:
    position, table = read_position(small), tomllib.loads(SMALL)
    for given in (small, str(small), position, table):
        found = ask("plan", position=given, take="East", keep={"B": 2}).record()
        assert found["win_probability"] == best_plan(position, TakeAll("East"), keep={"B": 2}).value
    with pytest.raises(MalformedError, match="position must be a position or a file of one, got 5"):
        ask("plan", position=5, take="East")


def test_plot_draws_the_plan(run: Run, small: Path, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    ended = run(f"plan {small} --take East --plot {file} --dark")
    assert ended.code == 0
    spec = json.loads(file.read_text(encoding="utf-8"))
    chance = best_plan(read_position(small), TakeAll("East")).win_probability
    assert f"You take East {100 * chance:.0f}% of the time." in spec["description"]


def test_who_watches_is_told_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def watch(doing: str, part: float | None, *, keeps: bool = False) -> None:
        assert (part, keeps) == (None, True)
        told.append(doing)

    def search(*_: object, progress: Callable[[float, float], None], **__: object) -> None:
        progress(0.5, 0.75)
        raise KeyboardInterrupt

    monkeypatch.setattr(asked, "best_plan", search)
    for question in (PlanQuestion(str(ASIA), take="Asia"), PlanQuestion(str(ASIA), worth=True)):
        with pytest.raises(KeyboardInterrupt):
            question.answer(watch)
    assert told == [
        "Planning; best so far 50.00%, at most 75.00%",
        "Planning; best so far 0.50 more than now, at most 0.75",
    ]


def test_a_terminal_says_what_ctrl_c_does_and_how_far_work_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("iacta.cli.terminal.LEAST_WAIT", 0.0)
    monkeypatch.setattr("iacta.cli.terminal.LEAST_CHANGE", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with patience() as watch:
        watch("Planning", None, keeps=True)
        watch("Throwing dice", 0.5)
    told = capsys.readouterr().err.split("\r\x1b[K")
    assert "Planning; Ctrl-C keeps the best so far." in told
    assert "Throwing dice; Ctrl-C stops it. 50% done, 0 s left." in told
    assert told[-1] == "", "the line is wiped at the end"


WRONG = {
    "--take Asja": "board 'classic' has no territory or continent 'Asja'; did you mean 'Asia'?",
    "--take Ukraine": "--take must name a territory of another player; Ukraine is red's",
    "--take-any Europe": None,
    "": "missing --take, --take-any, --eliminate or --worth",
    "--take Asia --worth": "--take cannot be combined with --worth",
    "--eliminate purple": "--eliminate must be a player with a territory, got 'purple'",
    "--eliminate red": "--eliminate must be one of blue, green, got 'red'",
    "--take Asia --army-value 1": "--army-value also needs --worth",
    "--worth --army-value -1": "--army-value must be a number of at least 0, got '-1'",
    "--worth --army-value much": "--army-value must be a number of at least 0, got 'much'",
    "--worth --need 90%": "--need cannot be combined with --worth",
    "--take Asia --need 100%": "--need must lie between 0 and 1, both excluded, got '100%'",
    "--take Asia --source Ukraine": "--source also needs --need",
    "--take Asia --need 90% --source India": None,
    "--take Asia --reinforce 0": "--reinforce must be a whole number from 1 to 1000, got 0",
    "--take Asia --reinforce 1 --need 9% --source Ukraine": "--source cannot be combined with "
    "--reinforce",
    "--take Asia --cards blue=4": "--cards also needs --eliminate",
    "--eliminate green --cards blue=4": "--cards must be those of green, who is to be eliminated, "
    "or of red, got blue",
    "--eliminate green --cards green": "--cards must be like 'blue=4', got 'green'",
    "--eliminate green --cards green=45": "--cards must be a whole number from 0 to 44, got 45",
    "--eliminate green --trade 4": "--trade also needs --cards",
    "--eliminate green --cards green=4 --trade much": "--trade must be a whole number of at least "
    "0, got 'much'",
    "--eliminate green --cards green=4 --reinforce 3": "--cards cannot be combined with "
    "--reinforce",
    "--take Asia --opponents-get 4": "--opponents-get also needs --hold",
    "--take Asia --fortify none": "--fortify also needs --hold",
    "--take-any Asia --hold": "--hold also needs --take or --eliminate",
    "--take Asia --hold --fortify far": "--fortify must be connected, adjacent or none, got 'far'",
    "--take Siam --hold --opponents-get -1": "--opponents-get must be a whole number of at least "
    "0, got -1",
    "--take Siam --hold --opponents-get red=3": "--opponents-get must name opponents, got red",
    "--take Siam --hold --opponents-get purple=3": "--opponents-get must be a player with a "
    "territory, got 'purple'",
    "--eliminate green --cards purple=3": "--cards must be a player with a territory, got 'purple'",
    "--take Asia --play slowly": "--play must be rolls or battles, got 'slowly'",
    "--take Asia --prove 0": "--prove must lie between 0 and 1, both excluded, got '0'",
    "--take Asia --rules-of Siam": "--rules-of must be like 'Ukraine:capital,Egypt:wall', got "
    "'Siam'",
    "--take Asia --rules-of Siam:capitol": "--rules-of: unknown rules 'capitol'; did "
    "you mean 'capital'?",
    "--take Asia --rules-of Slam:wall": None,
    "--take Asia --seed 1": "--seed also needs --check, --hold or --cards",
    "--take Asia --check many": "--check must be a whole number from 1 to 10000000, got 'many'",
    "--take Asia --check 0": "--check must be a whole number from 1 to 10000000, got 0",
    "--take Asia --keep Ukraine": "--keep must be like 'Brazil:3,Egypt:2', got 'Ukraine'",
    "--take Asia --keep Ukraine:many": "--keep of Ukraine must be a whole number of at least 0, "
    "got 'many'",
    "--take Asia --stay India": "--stay must be the player's own territories, got India",
    "--take Asia --stay Atlantis": None,
    "--take Asia --time-limit soon": "--time-limit must be seconds of at least 0, got 'soon'",
    "--take Asia --time-limit -1": "--time-limit must be seconds of at least 0, got '-1'",
    "--take Asia --json --csv": "--json cannot be combined with --csv",
    "--take Asia --dark": "--dark also needs --plot FILE",
    "--take Asia --need 90% --then Africa": "--need cannot be combined with --then",
    "--take-any Asia --then Africa": "--then also needs --take or --eliminate",
    "--take Asia --then Europe": "--then must name a territory of another player; Iceland, "
    "Scandinavia, Great Britain, 4 more are all red's",
    "--take Asia --stage-values 1": "--stage-values also needs --then",
    "--take Asia --then Africa --stage-values 1": "--stage-values must be one for each of 2 goals "
    "in order, got 1",
    "--take Asia --prizes China:3": "--prizes also needs --worth",
    "--worth --prizes China": "--prizes must be like 'Africa:5;eliminate green:10', got 'China'",
    "--worth --prizes Chine:3": None,
}


@pytest.mark.parametrize("words", WRONG)
@pytest.mark.slow
def test_wrong_words_get_one_sentence(run: Run, words: str) -> None:
    result = run(f"plan {ASIA} {words}")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    if WRONG[words] is not None:
        assert result.stderr == f"iacta: {WRONG[words]}\n"


FILES = {
    "": "missing player, whose turn it is",
    "{": "JSON",
    "not a position": "",
    "[1, 2]": "",
    '{"player": 3, "territories": {}}': "player",
    '{"player": "red", "territories": {"Brazil": 3}}': "Brazil",
    '{"player": "red", "territories": {"Brazil": {"owner": "red", "armies": "many"}}}': "armies",
    '{"player": "red", "territories": {"Brasil": {"owner": "red", "armies": 3}}}': "Brazil",
    '{"player": "red", "board": "no-such.json", "territories": {}}': "board",
}


@pytest.mark.parametrize("text", FILES)
def test_wrong_files_get_one_sentence_with_their_name(run: Run, tmp_path: Path, text: str) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(text, encoding="utf-8")
    result = run(f"plan {file} --take Peru")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert f"position file '{file}': " in result.stderr
    assert FILES[text] in result.stderr


def test_an_island_that_no_way_leads_to_is_named(run: Run, small: Path) -> None:
    small.write_text(SMALL.replace('B = ["D"]', "B = []"), encoding="utf-8")
    ended = run(f"plan {small} --take East")
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.stdout == "You cannot take East: no path leads to D.\n"
    found = record(run(f"plan {small} --take East --json"))
    assert (found["win_probability"], found["why"]) == (0.0, "no path leads to D")
    told = run(f"plan {small} --take East --then C").stdout
    assert told == "You cannot take East, then take C: no path leads to D.\n"


def test_what_too_few_armies_cannot_do_is_an_answer(run: Run) -> None:
    told = run(f"plan {ASIA} --take Asia --garrison 41").stdout
    assert told == (
        "You cannot take Asia: the 42 armies that can attack are too few, whatever the dice show.\n"
    )
    told = run(f"plan {ASIA} --take Asia --garrison 42").stdout
    assert told == (
        "You cannot take Asia: red has no stack that can attack: each has too few armies, no "
        "enemy beside it, or must stay.\n"
    )


def test_what_was_not_found_is_not_called_impossible(small: Path) -> None:
    plan = replace(best_plan(read_position(small), TakeAll("East")), win_probability=0.0, value=0.0)
    for bound, told in (
        (0.25, "The search found no plan to take East; no plan can have a chance above 25.00%."),
        (1.0, "The search found no plan to take East; one may exist."),
    ):
        answer = asked.PlanAnswer(
            PlanQuestion(str(small), take="East"), replace(plan, upper_bound=bound, proven=False)
        )
        assert answer.sentence == told
        assert answer.record()["why"] is None


def test_a_player_to_eliminate_after_it_must_be_there(small: Path) -> None:
    with pytest.raises(IllegalError, match="then must be a player with a territory, got 'purple'"):
        ask("plan", position=small, take="C", then="take East; eliminate purple")


def test_goals_in_order_are_told_one_after_another(run: Run, small: Path) -> None:
    position = read_position(small)
    goal = InOrder((eliminate(position, "blue"), TakeAll("C")), (2, 1))
    plan = best_plan(position, goal)
    line = f"plan {small} --eliminate blue --then C --stage-values 2,1"
    found = record(run(f"{line} --json"))
    assert found["stages"] == list(plan.stages)
    assert found["win_probability"] == plan.win_probability
    assert found["value"] == plan.value
    assert found["goal"] == {
        "kind": "in order",
        "goals": [
            {"kind": "take all", "territories": ["B", "D"], "eliminates": "blue", "worth": 2.0},
            {"kind": "take all", "territories": ["C"], "worth": 1.0},
        ],
    }
    first, second = (f"{100 * chance:.2f}%" for chance in plan.stages)
    told = run(line).stdout
    assert told.startswith(
        f"You eliminate blue with a chance of {first}, then take C with {second}"
    )
    assert run(f"plan {small} --take B,D").stdout.startswith("You take East with")


def test_a_worth_may_pay_for_goals(run: Run, small: Path) -> None:
    position = read_position(small)
    prizes = (TakeAll("C"), 3.0), (eliminate(position, "blue"), 0.5)
    found = ask(
        "plan", position=small, worth=True, prizes={"C": 3, "eliminate blue": "1/2"}
    ).record()
    assert found["value"] == best_plan(position, Worth(prizes=prizes)).value
    told = record(run(f"plan {small} --worth --prizes C:3;B,D:1/2 --json"))
    assert told["value"] == found["value"]
    assert [each["worth"] for each in found["goal"]["prizes"]] == [3.0, 0.5]
    assert found["value"] > record(run(f"plan {small} --worth --json"))["value"]


def test_worths_beyond_all_bounds_are_refused(run: Run) -> None:
    for text in ("1e400", "1e308", "1000000001"):
        result = run(f"plan {ASIA} --worth --territory-value {text}")
        sentence = f"iacta: --territory-value must be at most 1e+09, got '{text}'\n"
        assert (result.code, result.stdout, result.stderr) == (2, "", sentence)


def test_runs_beyond_all_bounds_are_refused_before_planning(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked, "best_plan", None)
    result = run(f"plan {ASIA} --take Asia --check 1e30")
    assert result.stderr.startswith("iacta: --check must be a whole number from 1 to 10000000, ")
    assert result.code == 2


@pytest.mark.parametrize("stopped", ["armies_needed_for_plan", "simulate_plan"])
def test_ctrl_c_leaves_the_plan_that_is_known(
    run: Run, small: Path, monkeypatch: pytest.MonkeyPatch, stopped: str
) -> None:
    plain = run(f"plan {small} --take East")

    def interrupted(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    option = "--need 95%" if stopped == "armies_needed_for_plan" else "--check 100"
    monkeypatch.setattr(asked, stopped, interrupted)
    result = run(f"plan {small} --take East {option}")
    assert (result.code, result.stdout, result.stderr) == (130, plain.stdout, "")


def test_what_is_certain_is_told_as_100_percent_under_balanced_blitz(
    run: Run, small: Path, tmp_path: Path
) -> None:
    rules = tmp_path / "blitz.toml"
    rules.write_text('dice_mode = "balanced blitz"\n', encoding="utf-8")
    small.write_text(SMALL.replace("armies = 9", "armies = 90"), encoding="utf-8")
    line = f"plan {small} --take East"
    assert run(line).stdout.startswith("You take East with a chance of more than 99.99%")
    told = run(f"{line} --rules-file {rules}").stdout
    assert told.startswith("You take East with a chance of 100%")
    assert "99.99" not in told
    checked = run(f"{line} --rules-file {rules} --check 100").stdout.splitlines()[1]
    assert checked.startswith("In 100 games with simulated battles it succeeded in ")


def test_where_no_attack_pays_it_is_told_to_stay(run: Run, small: Path) -> None:
    line = f"plan {small} --worth --territory-value 0 --bonus-value 0 --army-value 1"
    told = run(line).stdout
    assert told == "No attack pays: stay. That is worth 9.00: proven best.\n"


def test_need_is_refused_with_the_chance_as_given_and_a_source_that_may_attack(
    run: Run, small: Path
) -> None:
    lonely = SMALL.replace('A = ["B", "C"]', 'A = ["C"]')
    small.write_text(lonely, encoding="utf-8")
    assert run(f"plan {small} --take East --need 50%").stderr == (
        "iacta: 1000 armies on A do not reach a chance of 50%\n"
    )
    small.write_text(SMALL, encoding="utf-8")
    assert run(f"plan {small} --take East --need 50% --source A --stay A").stderr == (
        "iacta: --source must be a territory that may attack, got A\n"
    )


def test_a_board_too_large_to_be_drawn_is_refused_before_planning(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"t{k}" for k in range(501)]
    board = {
        "name": "long",
        "territories": dict(zip(names, [[n] for n in names[1:]] + [[]], strict=True)),
    }
    holdings = {n: {"owner": "red" if n == "t0" else "blue", "armies": 3} for n in names}
    file = tmp_path / "long.json"
    file.write_text(json.dumps({"board": board, "player": "red", "territories": holdings}))
    monkeypatch.setattr(asked, "best_plan", None)
    result = run(f"plan {file} --take t1 --plot {tmp_path / 'long-map.json'}")
    assert result.code == 2
    assert result.stderr.startswith("iacta: a board must have at most ")
    assert result.stderr.endswith(" territories to be drawn, got 501\n")


def test_new_armies_are_placed_before_the_plan(run: Run, small: Path) -> None:
    found = reinforce(read_position(small), TakeAll("East"), 3)
    told = record(run(f"plan {small} --take East --reinforce 3 --json"))
    assert told["win_probability"] == found.plan.win_probability
    assert told["reinforce"] == {
        "armies": 3,
        "placement": {"A": 3},
        "value_without": found.before.value,
        "quick_value_without": found.quick,
        "territories": [
            {"name": "A", "one": found.marginals[0].one, "all": found.marginals[0].all}
        ],
    }
    lines = run(f"plan {small} --take East --reinforce 3").stdout.splitlines()
    chance = f"{100 * found.plan.win_probability:.2f}%"
    assert lines[0].startswith(f"With 3 new armies on A, you take East with a chance of {chance}")
    assert lines[1] == f"Without them the chance is {100 * found.before.value:.2f}%."
    assert lines[3:5] == [
        "Where they help, by quick plans:",
        "   with 1 more  with 3 more",
    ]
    assert lines[5].split() == ["A", f"{100 * found.marginals[0].one:.2f}%", *chance.split()]


def test_need_finds_the_fewest_new_armies(run: Run, small: Path) -> None:
    line = f"plan {small} --take East --reinforce 1 --need 98%"
    need = record(run(f"{line} --json"))["need"]
    found = reinforcements_needed(read_position(small), TakeAll("East"), "98%")
    assert need == {"chance": 0.98, "armies": found.armies, "placement": dict(found.placement)}
    assert (
        found.armies
        == armies_needed_for_plan(read_position(small), TakeAll("East"), "98%", "A") - 9
    )
    sentence = run(line).stdout.splitlines()[2]
    assert sentence.startswith(
        f"For a chance of at least 98% you need {found.armies} new armies on A."
    )
    told = run(f"plan {small} --take East --reinforce 1 --need 20%").stdout
    assert "You have a chance of at least 20% without new armies." in told


def test_cards_bring_armies_with_which_the_turn_goes_on(run: Run, small: Path) -> None:
    line = f"plan {small} --eliminate blue --cards blue=3,red:1 --trade 10"
    brought = record(run(f"{line} --json"))["cards"]["armies"]
    chance = float(traded_armies(4)[4])
    assert brought == [
        {"armies": 0, "probability": pytest.approx(1 - chance)},
        {"armies": 10, "probability": pytest.approx(chance)},
    ]
    told = run(line).stdout.splitlines()
    assert told[1] == (
        "The cards bring 10 armies with 81.70% and none with 18.30%. All sets are traded in at "
        "once; the cards are assumed to be random."
    )
    position = read_position(small)
    goal = InOrder((eliminate(position, "blue"), TakeAll("C")))
    found = go_on(position, goal, traded_armies(4, Sets((10,))))
    cards = record(run(f"{line} --then C --json"))["cards"]
    assert cards["win_probability"] == found.win_probability
    assert cards["first_probability"] == found.first
    assert cards["win_probability_without"] == found.without
    low, high = found.interval
    assert cards["interval"] == {"level": 0.95, "low": low, "high": high}
    lines = run(f"{line} --then C").stdout.splitlines()
    assert lines[0].startswith(f"You eliminate blue with a chance of {100 * found.first:.2f}%")
    assert f"then take C with {100 * found.win_probability:.2f}%" in lines[0]
    assert f"from {found.ends} games" in lines[2]


def test_hold_tells_what_the_others_may_take_back(run: Run, small: Path) -> None:
    line = f"plan {small} --take B --hold --opponents-get blue=2 --fortify adjacent --seed 4"
    found = hold(
        best_plan(read_position(small), TakeAll("B")), {"blue": 2}, fortify="adjacent", seed=4
    )
    told = record(run(f"{line} --json"))["hold"]
    assert told["win_probability"] == found.win_probability
    assert told["win_probability_unfortified"] == found.unfortified
    assert told["threats"] == [each._asdict() for each in found.threats]
    assert told["ends"] == found.ends
    lines = run(line).stdout.splitlines()
    share = f"{100 * found.win_probability:.2f}%"
    assert lines[1].startswith(f"You hold it until your next turn with a chance of about {share} (")
    assert "What the others can do:" in lines
    assert record(run(f"plan {small} --take B --hold --opponents-get 2 --json"))["hold"]["ends"]


def test_play_and_rules_of_territories_reach_the_plan(run: Run, small: Path) -> None:
    position, goal = read_position(small), TakeAll("East")
    usual = record(run(f"plan {small} --take East --json"))
    for words, plan in {
        "--play battles": best_plan(position, goal, play="battles"),
        "--rules-of d:capital+wall": best_plan(position, goal, rules_of={"D": "capital+wall"}),
    }.items():
        found = record(run(f"plan {small} --take East {words} --json"))
        assert found["win_probability"] == plan.win_probability, words
        assert (found["play"], found["interval"]) == (plan.play, None)
        assert found["battles_value"] == (plan.value if plan.play == "battles" else None)
    assert (usual["play"], usual["battles_value"]) == ("rolls", None)
    by_battles = best_plan(position, goal, play="battles")
    assert usual["win_probability"] >= by_battles.win_probability
    told = record(run(f"plan {small} --take East --rules-of B=wall --prove 1% --json"))
    assert told["upper_bound"] - told["value"] <= 0.01


def test_battles_fought_to_their_end_are_worth_less(run: Run, tmp_path: Path) -> None:
    table = {
        "board": {
            "name": "pair",
            "territories": {"A": ["c"], "B": ["c"], "c": ["A", "B", "d"], "d": ["c"]},
        },
        "player": "red",
        "territories": {
            **{name: {"owner": "red", "armies": 8} for name in ("A", "B")},
            **{name: {"owner": "blue", "armies": 3} for name in ("c", "d")},
        },
    }
    file = tmp_path / "pair.json"
    file.write_text(json.dumps(table), encoding="utf-8")
    rolls, battles = (
        run(f"plan {file} --take c,d --play {play}").stdout.splitlines()
        for play in ("rolls", "battles")
    )
    assert rolls[0] == "You take c and d with a chance of 80.14%: proven best."
    assert battles[0] == (
        "You take c and d with a chance of 62.49%: proven best of the plans that fight each battle "
        "to its end."
    )


def test_alternatives_are_the_library_s(run: Run, small: Path) -> None:
    line = f"plan {small} --take East --alternatives"
    found = alternatives(best_plan(read_position(small), TakeAll("East")))
    assert record(run(f"{line} --json"))["alternatives"] == [
        {"from": each.start, "to": each.to, "dice": each.dice, "value": each.value}
        for each in found
    ]
    lines = run(line).stdout.splitlines()
    place = lines.index("Ways to begin, by first roll:")
    assert lines[place + 1].split() == ["dice", "chance"]
    for told, each in zip(lines[place + 2 :], found, strict=False):
        assert told.startswith(f"{each.start} to {each.to}")
        assert told.endswith(f" {each.dice}  {100 * each.value:.2f}%")


def test_a_worth_is_told_with_its_interval(small: Path) -> None:
    plan = best_plan(read_position(small), Worth())
    guessed = replace(plan, value=4.5, interval=(4.25, 4.75), upper_bound=6.0, proven=False)
    found = next(asked.PlanAnswer(PlanQuestion(str(small), worth=True), guessed).sections())
    assert found.parts == [
        "The plan is worth 4.50 on average (4.25 to 4.75), against 1.00 if you stay; it is at most "
        "1.50 below the best possible.",
    ]
    none = replace(guessed, steps=())
    assert asked.PlanAnswer(PlanQuestion(str(small), worth=True), none).sentence == (
        "The search found no attack that pays. To stay is worth 1.00; it is at most 1.50 below "
        "the best possible."
    )


def test_an_estimate_is_told_with_its_interval_and_what_its_bound_says(small: Path) -> None:
    plan = best_plan(read_position(small), TakeAll("East"))
    guessed = replace(plan, win_probability=0.62, value=0.62, interval=(0.61, 0.63), proven=False)
    for bound, said in (
        (0.625, ", at most 0.50 percentage points below the best possible."),
        (0.7, ", the best found; no play has a chance above 70.00%."),
        (0.98, "; a better plan may exist."),
    ):
        found = replace(guessed, upper_bound=bound)
        answer = asked.PlanAnswer(PlanQuestion(str(small), take="East"), found)
        assert answer.sentence == f"You take East with a chance of 62.00% (61.00 to 63.00){said}"
        assert answer.record()["interval"] == {"level": 0.95, "low": 0.61, "high": 0.63}


@pytest.mark.slow
def test_a_stack_needs_no_position_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(
        'player = "red"\nothers = { owner = "blue", armies = 2 }\n[territories]\n'
        'Ukraine = { owner = "red", armies = 12 }\nUral = { owner = "blue", armies = 4 }\n'
    )
    by_file = run(f"plan {file} --take Ural --json")
    for board in ("", "--board classic "):
        alone = run(f"plan {board}--from Ukraine=12 --others 2,Ural=4 --take Ural --json")
        assert (alone.code, alone.stderr) == (0, "")
        found, expected = json.loads(alone.stdout), json.loads(by_file.stdout)
        assert {**found, "seconds": 0} == {**expected, "seconds": 0}


def test_a_stack_may_stand_on_a_board_of_its_own() -> None:
    board = Board.from_edges("tiny", [("A", "B"), ("B", "C")])
    for given in (board, {"territories": {"A": ["B"], "B": ["C"], "C": []}}):
        found = ask("plan", board=given, from_={"A": 7}, others={"B": 2, "C": 1}, take="B,C")
        assert found.record()["win_probability"] == pytest.approx(0.839586, abs=1e-6)
    for_all = ask("plan", board=board, from_={"A": 7}, others=2, take="B,C")
    assert for_all.record()["win_probability"] < found.record()["win_probability"]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--take Asia", "missing position or --from"),
        ("--others 2 --take Asia", "missing position or --from"),
        ("--from Ukraine=9 --take Ural", "--from also needs --others"),
        (f"{ASIA} --from Ukraine=9 --others 2", "position cannot be combined with --from"),
        (f"{ASIA} --board classic --take Ural", "--board cannot be combined with position"),
        ("--from Ukraine=0 --others 2", "--from of Ukraine must be a whole number of at least 1"),
        ("--from Ukraine=9 --others 0", "--others must be a whole number of at least 1, got 0"),
        ("--from Ukraine=9 --others 2,3", "--others must have at most one number without a name"),
        ("--from Ukraine --others 2", "--from must be like 'Ukraine=42', got 'Ukraine'"),
        ("--from Ukraine=9 --others ukraine=2 --take Ural", "'Ukraine' appears twice"),
        ("--from Ukrane=9 --others 2 --take Ural", "board 'classic' has no territory 'Ukrane'"),
    ],
)
def test_an_impossible_stack_is_refused(run: Run, line: str, sentence: str) -> None:
    result = run(f"plan {line}" if "--take" in line else f"plan {line} --take Ural")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"iacta: {sentence}")
