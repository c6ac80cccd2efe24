"""Every public chart: its specification is valid, its picture not blank, its title fits a page."""

import inspect
import json
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from iacta import (
    Battle,
    Campaign,
    IactaError,
    Roll,
    Stop,
    TakeAll,
    best_mix,
    best_plan,
    charts,
    classic_board,
    find_rule_set,
    how_many_dice,
    read_position,
    simulate_battle,
    simulate_campaign,
    spread_defenders,
    when_to_stop,
    win_table,
)
from iacta.charts.comparison import Solved
from iacta.charts.theme import SUBTITLE_LETTERS, TITLE_LETTERS, AnyChart
from iacta.questions.simulated import running_estimates
from tests.charts.look import is_drawn, subtitle, title

ASIA = Path(__file__).parents[2] / "examples" / "asia.toml"
BATTLE, WAY = Battle(6, 4), Campaign(12, [4, 3])
NO_CHARTS = {"Solved", "chart_csv", "chart_frame", "chart_tables", "save", "specification"}
SOLVED = [Solved("counting", 0.5, 0.0, True, 1e-4), Solved("leap", 0.5, None, False, 1e-5)]

# The function, and what is special of one of several examples.
EXAMPLES: dict[str, Callable[[], AnyChart]] = {
    "after_rolls": lambda: charts.after_rolls(12, 10, [0, 1, 2, 6]),
    "after_rolls, none": lambda: charts.after_rolls(1, 1),
    "battle_law": lambda: charts.battle_law(Battle(9, 7, stop=Stop(max_rolls=2))),
    "best_spread": lambda: charts.best_spread(spread_defenders(10, 12, 3), 10),
    "board_map": lambda: charts.board_map(classic_board()),
    "break_even": lambda: charts.break_even(12, 12),
    "campaign_score": lambda: charts.campaign_score(
        WAY, simulate_campaign(12, [4, 3], runs=100, seed=1), seed=1
    ),
    "chance_by_attackers": lambda: charts.chance_by_attackers([5, 2], 14, Fraction(19, 20), keep=2),
    "chance_by_defenders": lambda: charts.chance_by_defenders(6, 8, Fraction(3, 4)),
    "convergence": lambda: charts.convergence(running_estimates(BATTLE, runs=200, seed=3), BATTLE),
    "curves_by_advantage": lambda: charts.curves_by_advantage([0, 1], 8),
    "curves_by_delta": lambda: charts.curves_by_delta([-1, 0, 2], 8),
    "curves_by_match_up": lambda: charts.curves_by_match_up([1, 5], 8),
    "decision_map": lambda: charts.decision_map(best_mix(9, 8)),
    "decision_map, no line": lambda: charts.decision_map(when_to_stop(4, 8, prize=3)),
    "dice_map": lambda: charts.dice_map(how_many_dice(6, 4)),
    "final_difference": lambda: charts.final_difference(Battle(9, 7)),
    "first_passages": lambda: charts.first_passages(12, 10),
    "full_roll": lambda: charts.full_roll(find_rule_set("capital")),
    "methods_compared": lambda: charts.methods_compared(BATTLE, SOLVED),
    "minimum_troops": lambda: charts.minimum_troops(9, ["50%", "95%"]),
    "minimum_troops, for each": lambda: charts.minimum_troops(
        9, ["50%"], ["classic"], per_defender=True
    ),
    "minimum_troops_ratio": lambda: charts.minimum_troops_ratio(9, ["50%", "95%"]),
    "plan_map": lambda: charts.plan_map(best_plan(read_position(ASIA), TakeAll("Asia"))),
    "probability_tree": lambda: charts.probability_tree(4, 3, "capital"),
    "roll_law": lambda: charts.roll_law(Roll(3, 2)),
    "rule_sets": lambda: charts.rule_sets(),
    "simulated_law": lambda: charts.simulated_law(simulate_battle(6, 4, runs=100, seed=1), BATTLE),
    "slices": lambda: charts.slices([3, 6], 12),
    "path_chances": lambda: charts.path_chances(4, 2),
    "state_space": lambda: charts.state_space(4, 2),
    "survival": lambda: charts.survival(WAY),
    "survival, one": lambda: charts.survival(Campaign(5, [5])),
    "transition_matrix": lambda: charts.transition_matrix(6, 4),
    "win_chance_map": lambda: charts.win_chance_map(win_table(6, 5)),
}


def test_every_public_chart_has_an_example() -> None:
    assert {name.split(",")[0] for name in EXAMPLES} == set(charts.__all__) - NO_CHARTS
    assert all(callable(getattr(charts, name)) for name in charts.__all__)
    with pytest.raises(AttributeError, match="no attribute 'pie'"):
        charts.pie  # noqa: B018 # is what is tested


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_valid_and_not_blank_and_its_title_fits(name: str) -> None:
    chart = EXAMPLES[name]()
    assert is_drawn(chart)
    head = charts.specification(chart)["title"]
    assert max(map(len, head["text"])) <= TITLE_LETTERS
    assert max(map(len, head["subtitle"])) <= SUBTITLE_LETTERS
    assert title(chart)[0].isupper() or title(chart)[0].isdigit()
    assert title(chart).endswith(".")
    assert subtitle(chart).endswith(".")


@pytest.mark.parametrize("name", charts.__all__)
def test_it_tells_of_each_argument(name: str) -> None:
    documented = getattr(charts, name)
    text = inspect.getdoc(documented) or ""
    assert text.split("\n")[0].endswith(".")
    for argument in inspect.signature(documented).parameters:
        assert f"{argument}:" in text or f"{argument}," in text, argument


BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
NARROW = 360
MEASURED = """<body><script>
const names = {names};
const wide = each => Math.max(...[...each.querySelectorAll("svg")].map(
  svg => svg.getBoundingClientRect().right));
for (const name of names) document.body.insertAdjacentHTML(
  "beforeend", `<iframe src="${{name}}.html" style="border:0;width:{width}px"></iframe>`);
setTimeout(() => {{
  const found = [...document.querySelectorAll("iframe")].map(each => wide(each.contentDocument));
  document.body.innerHTML = `<pre>${{JSON.stringify(found)}}</pre>`;
}}, 10000);
</script>"""


@pytest.mark.skipif(BROWSER is None, reason="needs a browser")
def test_pages_fit_into_a_narrow_window(tmp_path: Path) -> None:
    names = ["rule_sets", "curves_by_delta", "minimum_troops", "roll_law", "survival"]
    for name in names:
        charts.save(EXAMPLES[name](), tmp_path / f"{name}.html")
    page = tmp_path / "all.html"
    page.write_text(MEASURED.format(names=json.dumps(names), width=NARROW), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    times = ["--virtual-time-budget=20000", f"--user-data-dir={tmp_path / 'browser'}", "--dump-dom"]
    ended = subprocess.run(  # noqa: S603 # our own page
        [str(BROWSER), *options, *times, page.as_uri()], capture_output=True, text=True, check=True
    )
    found = json.loads(ended.stdout.split("<pre>")[1].split("</pre>")[0])
    assert len(found) == len(names)
    assert max(found) <= NARROW
    assert min(found) > NARROW / 2


def needed(name: str) -> int:
    """Return how many arguments a chart cannot do without."""
    parameters = inspect.signature(getattr(charts, name)).parameters.values()
    return sum(each.default is each.empty for each in parameters)


@pytest.mark.parametrize("wrong", [None, 5, "x", [1], []])
@pytest.mark.parametrize("name", sorted(set(charts.__all__) - NO_CHARTS))
def test_what_is_not_asked_for_is_refused_in_a_sentence(name: str, wrong: object) -> None:
    with suppress(IactaError):
        getattr(charts, name)(*[wrong] * needed(name))
