"""Every registered chart: its specification is valid, its picture visible and its title fitting."""

import inspect
import json
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import iacta
from iacta import Battle, ask, audit, charts
from iacta.charts import Chart
from iacta.charts.registry import list_charts as registered
from iacta.charts.registry import list_defaults
from iacta.charts.saving import SUBTITLE_WIDTH, TITLE_WIDTH
from iacta.odds.simulation import running_estimates
from iacta.questions.threats import ThreatsAnswer
from iacta_literature import charts as literature
from tests.browser import BROWSER
from tests.cases import for_each
from tests.charts.checks import find_flaw, is_drawn
from tests.processes import run_python

ASIA = Path(__file__).parents[2] / "examples" / "asia.toml"
EVENING = Path(__file__).parents[2] / "examples" / "rolls.csv"
GAME = Path(__file__).parents[2] / "examples" / "game.jsonl"
WAR = "1;classic;red;Peru:red:9,Venezuela:green:4,Brazil:blue:6,Argentina:blue:1"
BATTLE, WAY = Battle(6, 4), iacta.Campaign(12, [4, 3])

# Example arguments by type or name. A chart that needs no other arguments needs no example here.
ARGUMENTS: Mapping[str, Callable[[], Any]] = {
    "estimates": lambda: running_estimates(BATTLE, runs=200, seed=3),
    "best": lambda: iacta.spread_defenders(10, 12, 3),
    "chances": lambda: iacta.win_table(6, 5),
    "averages": lambda: iacta.win_table(6, 5) * 9,
    "attackers": lambda: 6,
    "defenders": lambda: 3,
    "board": iacta.classic_board,
    "territories": lambda: [5, 2],
    "simulation": lambda: iacta.simulate_battle(6, 4, runs=100, seed=1),
    "Sequence[int]": lambda: [1, 5],
    "Audit": lambda: audit([each % 6 + 1 for each in range(60)]),
    "Battle": lambda: BATTLE,
    "Battle | Campaign": lambda: BATTLE,
    "Campaign": lambda: WAY,
    "CardOdds": lambda: iacta.CardOdds(iacta.Hand(infantry=2)),
    "CompareAnswer": lambda: ask("compare", attackers=4, defenders=3),
    "Decision": lambda: iacta.best_mix(9, 8),
    "DiceDecision": lambda: iacta.how_many_dice(6, 4),
    "FrontsAnswer": lambda: ask("fronts", fronts=["9/4", "20/8/3/2:end"], armies=10),
    "GoalsAnswer": lambda: ask("goals", code=WAR, games=4),
    "ThreatsAnswer": lambda: ask("threats", code=WAR),
    "HoldAnswer": lambda: ask("defend", attackers=6, chance="75%"),
    "NeedAnswer": lambda: ask("need", territories=[5, 2], keep=2),
    "Distribution[Any]": lambda: iacta.Distribution(range(1, 7)).repeat(2).map(sum),
    "Plan": lambda: iacta.best_plan(iacta.read_position(ASIA), iacta.TakeAll("Asia"), budget=0.02),
    "Reinforcement": lambda: iacta.reinforce(
        iacta.Turn(iacta.read_position(ASIA), place=2), iacta.TakeAll("Ural"), time_limit=0
    ),
    "Roll": lambda: iacta.Roll(3, 2),
    "Review": lambda: iacta.review(GAME),
    "RuleSet": lambda: iacta.find_rule_set("capital"),
    "WinAnswer": lambda: ask("win", code=WAR, games=20),
}
# Charts with other arguments, and variants. The name of a variant follows a comma.
EXAMPLES: dict[str, Callable[[], Chart]] = {
    "after_rolls": lambda: literature.after_rolls(12, 10, [0, 1, 2, 6]),
    "after_rolls, none": lambda: literature.after_rolls(1, 1),
    "dice_audit": lambda: charts.dice_audit(audit(EVENING)),
    "dice_audit, counted": lambda: charts.dice_audit(audit("die,count\n1,622\n6,812\n")),
    "battle_outcomes": lambda: charts.battle_outcomes(
        Battle(9, 7, stop=iacta.StopRule(max_rolls=2))
    ),
    "break_even": lambda: literature.break_even(12, 12),
    "campaign_score": lambda: literature.campaign_score(
        WAY, iacta.simulate_campaign(12, [4, 3], runs=100, seed=1), seed=1
    ),
    "curves_by_advantage": lambda: literature.curves_by_advantage([0, 1], 8),
    "curves_by_delta": lambda: literature.curves_by_delta([-1, 0, 2], 8),
    "decision_map, no line": lambda: charts.decision_map(iacta.when_to_stop(4, 8, prize=3)),
    "distribution, of outcomes": lambda: charts.distribution(Battle(20, 16).outcomes()),
    "goal_bars, with games": lambda: charts.choose_chart(ask("goals", code=WAR, games=4, win=True)),
    "threat_bars, with bounds": lambda: charts.choose_chart(ask_open_threats()),
    "win_bar, nobody left": lambda: charts.choose_chart(
        ask("win", code="1;classic;red;Peru:red:9")
    ),
    "minimum_troops": lambda: literature.minimum_troops(9, ["50%", "95%"]),
    "minimum_troops, for each": lambda: literature.minimum_troops(
        9, ["50%"], ["classic"], per_defender=True
    ),
    "minimum_troops_ratio": lambda: literature.minimum_troops_ratio(9, ["50%", "95%"]),
    "probability_tree": lambda: literature.probability_tree(4, 3, "capital"),
    "slices": lambda: literature.slices([3, 6], 12),
    "state_space": lambda: literature.state_space(4, 2),
    "survival, one": lambda: charts.survival(iacta.Campaign(5, [5])),
}


def ask_open_threats() -> ThreatsAnswer:
    """Return threats whose chances are clearly below their bounds."""
    answer = ask("threats", code=WAR)
    assert isinstance(answer, ThreatsAnswer)
    rows = tuple(each._replace(chance=0.5 * each.chance) for each in answer.found.threats)
    return replace(answer, found=replace(answer.found, threats=rows))


FIGURES = literature.__all__
NAMES = tuple(dict.fromkeys([*registered(), *FIGURES, *EXAMPLES]))


def draw(name: str) -> Callable[..., Chart]:
    """Return the function of a chart in `iacta.charts` or in the literature."""
    function: Callable[..., Chart] = getattr(literature if name in FIGURES else charts, name)
    return function


def list_required(name: str) -> list[inspect.Parameter]:
    """Return the required arguments of a chart."""
    parameters = inspect.signature(draw(name)).parameters.values()
    return [each for each in parameters if each.default is each.empty]


@cache
def make_argument(key: str) -> Any:
    """Return an example of a type of argument or of a named argument."""
    return ARGUMENTS[key]()


def make_arguments(name: str) -> list[Any]:
    """Return example arguments for a chart."""
    kinds = [(str(each.annotation), each.name) for each in list_required(name)]
    return [make_argument(kind if kind in ARGUMENTS else called) for kind, called in kinds]


@cache
def example(name: str) -> Chart:
    """Return an example of a chart."""
    return EXAMPLES[name]() if name in EXAMPLES else draw_example(name)


@cache
def draw_example(name: str) -> Chart:
    """Return a chart drawn with its example arguments."""
    return draw(name)(*make_arguments(name))


def test_the_public_names_come_from_the_registry() -> None:
    assert set(dir(charts)) == set(registered()) | {"Chart", "choose_chart"}
    assert all(callable(getattr(charts, name)) for name in dir(charts))
    with pytest.raises(AttributeError, match="no attribute 'pie'"):
        charts.pie  # noqa: B018 # is what is tested


@for_each("name", NAMES)
def test_each_chart_is_valid_and_visible_and_its_title_fits(name: str) -> None:
    chart = example(name)
    assert is_drawn(chart)
    head = chart.to_dict()["title"]
    first, last = head["text"][0], head["text"][-1]
    narrow = chart.to_dict()["usermeta"]["narrow"]["title"]
    for is_narrow, words in ((False, head), (True, narrow)):
        assert max(map(len, words["text"])) <= TITLE_WIDTH[is_narrow]
        assert max(map(len, words["subtitle"])) <= SUBTITLE_WIDTH[is_narrow]
    assert " ".join(narrow["text"]) == " ".join(head["text"])
    assert first[0].isupper() or first[0].isdigit()
    assert last.endswith(".")
    assert head["subtitle"][-1].endswith(".")


FLAWS = (
    ("mark", {"type": "pie"}, ".mark.type: 'pie' is not one of"),
    ("mark", {"opacty": 1}, ".mark: Additional properties are not allowed ('opacty' was unexp"),
    ("encoding", {"colour": {"value": "red"}}, ".encoding: Additional properties are not allowed"),
    ("encoding", {"x": {"field": "count", "titel": "rolls"}}, ".encoding.x: Additional properties"),
    ("encoding", {"x": {"scale": {"type": "l"}}}, ".encoding.x.scale.type: 'l' is not one of"),
    ("encoding", {"x": {"axis": {"tickCount": "many"}}}, ".encoding.x.axis.tickCount: 'many' is"),
)


@pytest.mark.parametrize(("part", "wrong", "said"), FLAWS)
def test_invalid_specifications_are_detected(part: str, wrong: dict[str, Any], said: str) -> None:
    spec = example("roll_losses").to_dict()
    assert not find_flaw(spec)
    bars = spec["layer"][0]
    spec["layer"] = [{**bars, part: {**bars[part], **wrong}}]
    assert find_flaw(spec).startswith(f"layer.0{said}"), find_flaw(spec)


def test_data_is_saved_without_vl_convert(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['vl_convert'] = None\n"
        "from iacta import Battle\n"
        "chart = Battle(5, 3).plot()\n"
        "chart.save('numbers.csv'), chart.save('chart.json')\n"
        "assert not {'altair', 'pandas', 'jsonschema'} & set(sys.modules)"
    )
    run_python(code, cwd=tmp_path)
    assert [each.stat().st_size > 100 for each in tmp_path.iterdir()] == [True] * 2


@for_each("name", [*dir(charts), *FIGURES])
def test_docstrings_of_charts_describe_each_argument(name: str) -> None:
    documented = draw(name)
    text = inspect.getdoc(documented) or ""
    assert text.split("\n")[0].endswith(".")
    for argument in inspect.signature(documented).parameters:
        assert f"{argument}:" in text or f"{argument}," in text, argument


@for_each("name", [each.__name__ for each in dict.fromkeys(list_defaults().values())])
def test_each_answer_has_a_chart_of_its_own(name: str) -> None:
    assert charts.choose_chart(*make_arguments(name)).description == draw_example(name).description


ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "battle": {"attackers": 12, "defenders": 10, "rules": "capital"},
    "defend": {"attackers": 6},
    "fronts": {"fronts": ["9", "8"], "armies": 12},
    "need": {"territories": [5, 2]},
    "roll": {"attack_dice": 3, "defence_dice": 2},
    "threats": {"code": WAR},
    "win": {"code": WAR, "games": 20},
    "goals": {"code": WAR, "games": 4, "win": True},
}


def test_a_chart_without_rows_has_no_legend() -> None:
    # An empty legend has an infinite height in browsers.
    answer = ask_open_threats()
    empty = replace(answer, found=replace(answer.found, threats=()))
    layers = charts.choose_chart(empty).view["layer"]
    colours = [part["encoding"].get("color") for part in layers]
    assert [each["legend"] for each in colours if each] == [None]


def test_threats_show_the_interval_up_to_the_bound() -> None:
    closed = charts.choose_chart(ask("threats", code=WAR))
    opened = EXAMPLES["threat_bars, with bounds"]()
    kinds = [[part["mark"]["type"] for part in each.view["layer"]] for each in (closed, opened)]
    assert kinds == [["bar", "text"], ["bar", "rule", "text"]]
    assert opened.view["layer"][1]["encoding"]["x2"] == {"field": "at_most"}
    shown = [row["figure"] for row in opened.tables["threats"]]
    assert any(figure.startswith("at least") for figure in shown)


@pytest.mark.parametrize("name", ANSWERS)
def test_titles_reuse_the_sentence_of_the_answer(name: str) -> None:
    answer = ask(name, **ANSWERS[name])
    assert answer.plot().title == answer.sentence


def test_a_missing_context_is_named() -> None:
    best, simulated = make_argument("best"), make_argument("simulation")
    assert "break through" in charts.choose_chart(best, 10).title
    assert "games" in charts.choose_chart(simulated, BATTLE).title
    with pytest.raises(iacta.MalformedError, match="must have attackers to draw a BestSpread, got"):
        charts.choose_chart(best)
    with pytest.raises(
        iacta.MalformedError, match="must be an object that has a chart, got 'battle'"
    ):
        charts.choose_chart("battle")


def test_distributions_of_any_values_are_drawn() -> None:
    dice = iacta.Distribution(range(1, 7)).repeat(2).map(sum)
    assert charts.distribution(dice).title == "7.00 on average, most often 7: 17% of the time."
    rows = charts.distribution(dice).tables["outcomes"]
    assert [row["probability"] for row in rows] == [float(dice[row["least"]]) for row in rows]
    outcomes = Battle(20, 16).outcomes()
    said = charts.distribution(outcomes)
    rows = said.tables["outcomes"]
    assert [row["probability"] for row in rows] == sorted(map(float, outcomes.values()))[:-31:-1]
    assert said.subtitle == "The probability of each outcome, without the 5 least likely."


NARROW = 360
MEASURED = Path(__file__).with_name("measured.html").read_text("utf-8")
POINTED = Path(__file__).with_name("pointed.html").read_text("utf-8")


def read_in_browser(page: Path) -> str:
    """Return the content of the last element of a page after its scripts have run."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    data = f"--user-data-dir={page.parent / 'browser'}"
    times = ["--virtual-time-budget=20000", data, "--dump-dom"]
    ended = subprocess.run(  # noqa: S603 # our own page
        [str(BROWSER), *options, *times, page.as_uri()], capture_output=True, text=True, check=True
    )
    return ended.stdout.split("<pre>")[1].split("</pre>")[0]


@pytest.mark.skipif(BROWSER is None, reason="needs a browser")
def test_pages_fit_into_a_narrow_window(tmp_path: Path) -> None:
    names = ["rule_sets", "curves_by_delta", "minimum_troops", "roll_losses", "survival"]
    names += ["board_map", "plan_map"]
    for name in names:
        example(name).save(tmp_path / f"{name}.html")
    page = tmp_path / "all.html"
    page.write_text(MEASURED.format(names=json.dumps(names), width=NARROW), encoding="utf-8")
    found = json.loads(read_in_browser(page))
    assert len(found) == len(names)
    assert max(found) <= NARROW
    assert min(found) > NARROW / 2


@pytest.mark.skipif(BROWSER is None, reason="needs a browser")
def test_a_page_shows_tooltips(tmp_path: Path) -> None:
    battle = Battle(6, 4)
    chart = charts.battle_outcomes(battle)
    chart.save(tmp_path / "chart.html")
    number = 2
    page = tmp_path / "pointed.html"
    page.write_text(POINTED.format(marks=".mark-rect path", number=number), encoding="utf-8")
    row = chart.tables["outcomes"][number]
    said = read_in_browser(page).replace("<br>", " ").split()
    assert said[-1] == f"{row['probability']:.16g}"
    assert " ".join(row["end"].split()) in " ".join(said)


@for_each("wrong", [None, 5, "x", [1], []])
@for_each("name", [name for name in [*registered(), *FIGURES] if list_required(name)])
def test_wrong_arguments_of_charts_are_refused_in_a_sentence(name: str, wrong: object) -> None:
    with suppress(iacta.IactaError):
        draw(name)(*[wrong] * len(list_required(name)))
