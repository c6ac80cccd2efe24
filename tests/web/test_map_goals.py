"""The board page: a goal belongs to the turn for which it was chosen."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

import iacta
from iacta.board.built_in import classic_board
from iacta.board.position import read_position
from iacta.board.scene import shorten_name
from iacta.forms.percentages import format_goal_change
from iacta.inputs.errors import IllegalError
from iacta.plan.named_goals import GOAL_KINDS
from iacta.war.games import OPEN_AIMS
from iacta.war.players import HOLD
from iacta.web.labels import describe_goal, list_choices
from tests.coherence.play import ask_about
from tests.web.board_page import POSITION, SLOWEST, TINY_LINK, downloaded
from tests.web.conftest import RunScript, Visit
from tests.web.test_map_link import BOARD

STEPS = "x=0a0-1-8-0.1m7.2s.3s.4n"
CONTINENTS = [{"name": "East", "bonus": 2, "territories": [2, 3]}]
READ = """async ([board, fragment]) => {
  const { readLink, writeLink } = await import("/static/map_link.js");
  const look = { names: ["red", "blue"], steps: 500 };
  const { state } = readLink(fragment, board, look);
  return [state, readLink(writeLink(state), board, look).state];
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
        assert label["words"] == shorten_name(words, 72)
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
    expect(steps.nth(6)).to_contain_text("points", timeout=SLOWEST)
    assert list_goal_values(steps.all_text_contents()[:5]) == list_goal_values(red)
    for k in range(1, 5):
        percent = re.findall(r"[\d.]+%, (?:dice|choice)[^g]*", red[k])
        assert all(words in (steps.nth(k).text_content() or "") for words in percent)
    page.reload()
    expect(steps.nth(3)).to_contain_text("choice -", timeout=SLOWEST)
    steps.nth(1).get_by_role("button").first.click()
    expect(page.get_by_role("button", name="Goal: Take East")).to_be_attached()


@pytest.mark.parametrize(
    ("goals", "first", "at"),
    [("g=eliminate&t=0&q=0.1.0.0", "o1-0-0-0", 6), ("g=eliminate&t=0", "", 6)],
)
def test_an_old_link_has_the_goal_of_each_turn(
    goals: str, first: str, at: int, run_script: RunScript
) -> None:
    board = {**BOARD, "continents": CONTINENTS}
    read = run_script(READ, [board, f"p=red&p=blue&h=a9.b1.b2.b1&{goals}&go=1&i=5&{STEPS}.5sy"])
    for state in read:
        assert (state["goal"], state["at"]) == (first, at)
        texts = [(step["after"], step["text"]) for step in state["steps"][4:]]
        assert texts == [(4, "n"), (5, "o4-0-0-0")]
    assert read[0] == read[1]


def test_a_second_goal_of_a_turn_leaves_the_steps_of_the_first_as_they_were(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1&i=2&x=0a0-1-8-0.1m7")
    steps = page.locator("#steps li")
    expect(steps.nth(2)).to_contain_text("%", timeout=SLOWEST)
    before = list_goal_values(steps.all_text_contents())
    page.get_by_role("button", name="Goal: Take East").click()
    choose_goal(page, "eliminate.0.1")
    expect(steps).to_have_count(4)
    expect(steps.nth(3)).to_contain_text(re.compile("Goal: Eliminate blue .*%"), timeout=SLOWEST)
    assert list_goal_values(steps.all_text_contents()[:3]) == before
    page.locator("#goal-now").dispatch_event("click")  # a second tap this soon would be ignored
    page.get_by_role("button", name="Stop attacking").click()
    expect(steps.nth(4)).to_contain_text("choice -", timeout=SLOWEST)
    assert list_goal_values(steps.all_text_contents()[:3]) == before
    page.reload()
    expect(steps.nth(4)).to_contain_text("choice -", timeout=SLOWEST)
    assert list_goal_values(steps.all_text_contents()[:3]) == before
    assert re.search(r"&g=o1-0-[1-9]\d*-0&", page.url)  # with the price of a lost army
    assert re.search(r"\.2o4-0-[1-9]\d*-1[a-z]\.", page.url)
    log = [json.loads(line) for line in downloaded(page, "Download the log").splitlines()]
    assert log[0]["goal"]["price"] > 0
    assert [step["do"] for step in log[0]["steps"]] == ["attack", "advance", "goal", "stop"]
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Goal: Take East")).to_be_attached()


@pytest.mark.parametrize(
    "steps",
    [
        "0p0-3.1a0-1-12-0-3.2m3.3o4-0-0-1.4a1-2-2-1-2.5s.6s",
        "0p0-3.1a0-1-11-1-3.2a0-1-11-0-3.3m10.4a1-3-10-0-3.5m9.6s.7s",
        "0p0-3.1s.2n.3o2-0-0-0.4p1-5.5s",
    ],
)
def test_the_board_and_the_review_of_its_log_state_the_same_luck_and_cost(
    steps: str, visit: Visit
) -> None:
    page = visit(f"{TINY_LINK}&f=3&go=1&i={steps.count('.') + 1}&x={steps}")
    said = re.compile(
        r"In this turn (?:you were [^(]*\((\S+) points\) and )?your choices cost (\S+)"
    )
    expect(page.locator("#report")).to_have_text(
        re.compile(said.pattern + " points"), timeout=SLOWEST
    )
    luck, cost = said.search(page.locator("#report").text_content() or "").groups()  # type: ignore[union-attr]
    found = iacta.review(downloaded(page, "Download the log"))
    player = found.players[-1]
    assert player.cost is not None
    assert format_goal_change(player.cost, is_chance=True) == cost
    assert format_goal_change(player.luck or 0.0, is_chance=True, sign="+") == (luck or "0.0")


def answer_all(page: Page, question: str, answer: dict[str, Any]) -> None:
    """Answer all requests of a page for a search."""
    body = json.dumps({"answer": answer}) + "\n"
    page.route(
        f"**/api/v1/{question}",
        lambda route: route.fulfill(body=body, content_type="application/x-ndjson"),
    )


NO_GOAL = TINY_LINK.partition("&g=")[0]


def test_stopping_carries_the_mark_when_it_is_best_for_the_game(visit: Visit) -> None:
    page = visit("/about")
    answer_all(page, "goals", {"goals": [{"goal": OPEN_AIMS[HOLD], "is_best": True}]})
    page.goto(page.url.replace("/about", f"{NO_GOAL}&go=1"))
    stop = page.get_by_role("button", name="Stop attacking (best for the game)")
    expect(stop).to_be_visible(timeout=SLOWEST)
    expect(page.locator("#goals")).to_contain_text("Take East")
    expect(page.locator("#goals")).not_to_contain_text("best for the game")
    stop.click()
    expect(page.locator("#steps")).to_contain_text("Stop attacking")


@pytest.mark.parametrize(
    ("is_complete", "words"),
    [(True, "The search found no goal."), (False, "There was no time to find a goal.")],
)
def test_an_empty_list_of_goals_states_its_reason(
    is_complete: bool, words: str, visit: Visit
) -> None:
    page = visit("/about")
    answer_all(page, "analysis", {"goals": [], "is_complete": is_complete})
    page.goto(page.url.replace("/about", f"{NO_GOAL}&go=1"))
    expect(page.locator("#now [role=status]")).to_have_text(words)


def test_a_bar_without_games_states_the_reason(visit: Visit) -> None:
    page = visit("/about")
    answer_all(page, "win", {"games": 0, "words": "", "players": [], "details": []})
    page.goto(page.url.replace("/about", f"{TINY_LINK}&go=1"))
    expect(page.locator("#how")).to_have_text("There was no time to play games.", timeout=SLOWEST)


def test_a_better_plan_of_a_longer_search_is_no_luck(visit: Visit) -> None:
    def worsen(route: Route) -> None:
        """Let the quick search find a plan that is worse by 2.1 points."""
        if json.loads(route.request.post_data or "")["level"] != "quick":
            route.continue_()
            return
        response = route.fetch()
        lines = [json.loads(line) for line in response.text().splitlines()]
        for line in lines:
            for goal in line.get("answer", {}).get("goals", []):
                if goal.get("plan"):
                    goal["plan"]["value"] -= 0.021
        route.fulfill(response=response, body="".join(json.dumps(line) + "\n" for line in lines))

    page = visit("/about")
    page.route("**/api/v1/analysis", worsen)
    page.goto(page.url.replace("/about", f"{TINY_LINK}&go=1&i=1&x=0a0-1-8-1-3"))
    words = "A longer search found a better plan: +2.1 points, which are not luck."
    expect(page.locator("#improved")).to_have_text(words, timeout=SLOWEST)
    step = {"do": "attack", "from": "A", "to": "B", "left": 8, "their_left": 1, "dice": 3}
    turn = iacta.Turn(read_position(POSITION))
    steps = [{**step, "after": 0}]
    values = ask_about("steps", turn, steps=steps, level="usual", take="East")["values"]
    rows = page.locator("#steps li")
    for row, value in zip(rows.all(), values, strict=True):
        expect(row).to_contain_text(value["words"])
