"""The board page: a goal belongs to the turn for which it was chosen."""

import re

import pytest
from playwright.sync_api import Page, expect

from iacta.board.files import classic_board
from iacta.board.scene import shorten_name
from iacta.inputs.errors import IllegalError
from iacta.plan.named_goals import GOAL_KINDS
from iacta.web.labels import describe_goal, list_choices
from tests.web.board_page import SLOWEST, TINY_LINK
from tests.web.conftest import RunScript, Visit
from tests.web.test_map_link import BOARD

STEPS = "x=0a0-1-8-0.1m7.2s.3s.4n"
CONTINENTS = [{"name": "East", "bonus": 2, "territories": [2, 3]}]
READ = """async ([board, fragment]) => {
  const { readLink, writeLink } = await import("/static/map_link.js");
  const look = { names: ["red", "blue"], steps: 500 };
  const { state } = readLink(fragment, board, look);
  const { shown, ...others } = state.goals;
  const first = { ...state, at: 1, goals: { ...others, 5: shown } };
  return [state, readLink(writeLink(first, 0), board, look).state].map(({ goals }) => goals);
}"""


def choose_goal(page: Page, option: str) -> None:
    page.get_by_label("Goal", exact=True).select_option(option)


def list_goal_values(texts: list[str]) -> list[str]:
    """Return the steps with the values for their goals, without values from games."""
    return [re.sub(r",? ?wins .*", "", text)[:30] for text in texts]


def test_the_page_offers_each_goal_that_logs_may_state_as_its_kind_describes_it() -> None:
    board, players = classic_board(), ["red", "blue"]
    named = {"take": "Peru, Brazil", "take_any": "Peru, Brazil", "eliminate": "blue"}
    offered = {text["text"].partition(".")[0] for text in list_choices(board, players)}
    for name, kind in GOAL_KINDS.items():
        goal = {name: named.get(name, True), **({"hold": True} if kind.can_hold else {})}
        if not kind.is_logged:
            with pytest.raises(IllegalError, match="goal must be one that the page offers"):
                describe_goal(goal, board, players)
            continue
        label = describe_goal(goal, board, players)
        assert label["parameters"] == goal
        assert label["hold"] is (True if kind.can_hold else None)
        words = kind.words.format(named.get(name, ""))
        assert label["words"] == shorten_name(words)
        assert describe_goal(label["text"], board, players) == label
        assert label["text"].partition(".")[0] in offered


def test_the_goal_of_a_turn_changes_only_this_turn(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1&i=4&{STEPS.removesuffix('.4n')}")
    steps = page.locator("#steps li")
    expect(steps.nth(3)).to_contain_text("choice -", timeout=SLOWEST)
    red = steps.all_text_contents()
    page.get_by_role("button", name="Next player").click()
    expect(page.get_by_role("button", name="Goal: Choose a goal")).to_be_visible()
    choose_goal(page, "worth.0")
    expect(steps.nth(5)).to_contain_text("points", timeout=SLOWEST)
    assert list_goal_values(steps.all_text_contents()[:5]) == list_goal_values(red)
    for k in range(1, 5):
        percent = re.findall(r"[\d.]+%, (?:dice|choice)[^g]*", red[k])
        assert all(words in (steps.nth(k).text_content() or "") for words in percent)
    page.reload()
    expect(steps.nth(3)).to_contain_text("choice -", timeout=SLOWEST)
    steps.nth(1).get_by_role("button").first.click()
    expect(page.get_by_role("button", name="Goal: Take East")).to_be_attached()


def test_a_link_has_the_goal_of_each_turn(run_script: RunScript) -> None:
    board = {**BOARD, "continents": CONTINENTS}
    link = f"p=red&p=blue&h=a9.b1.b2.b1&g=eliminate&t=0&go=1&i=5&q=0.1.0.0&{STEPS}"
    read = run_script(READ, [board, link])
    first, again = read
    assert first == {"0": "1.0.0", "shown": "eliminate.0.0"}  # 1 is the number of `continent`
    assert again == {"5": "eliminate.0.0", "shown": "1.0.0"}


def test_an_old_link_has_the_goal_of_its_present_turn(run_script: RunScript) -> None:
    board = {**BOARD, "continents": CONTINENTS}
    link = f"p=red&p=blue&h=a9.b1.b2.b1&g=eliminate&t=0&go=1&i=5&{STEPS}"
    read = run_script(READ, [board, link])
    assert read == [{"shown": "eliminate.0.0"}, {"5": "eliminate.0.0"}]
