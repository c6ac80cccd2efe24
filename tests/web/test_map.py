"""The map: a position set up in each way, the best plan on it, and the plan followed."""

import base64
import json
import re
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

import iacta
from iacta.board.files import read_board
from iacta.board.position import read_position
from iacta.errors import IactaError, IllegalError
from iacta.plan import Plan, Play, TakeAll, best_plan
from iacta.questions.following import standing
from iacta.questions.plan import PlanQuestion
from iacta.questions.words import percent, short_percent
from iacta.web import map as page_map
from iacta.web.map import board_read, followed, position_read
from tests.web.conftest import Visit

FILES = Path(__file__).parents[1] / "board" / "files"
EXAMPLES = Path(__file__).parents[2] / "examples"
SHIPPED = Path(__file__).parents[2] / "src" / "iacta" / "web" / "static" / "examples"

SLOWEST = 30_000  # milliseconds: a server may have to start first

# Four territories, so that plans are found at once: A attacks B, and from there C and D. Yet the
# searches have time, as a process may have to load much for its first plan.
TINY = {
    "name": "tiny",
    "territories": {"A": ["B"], "B": ["C", "D"], "C": [], "D": []},
    "continents": {"East": {"bonus": 2, "territories": ["C", "D"]}},
    "places": {"A": [0, 50], "B": [50, 50], "C": [100, 0], "D": [100, 100]},
}
HELD = {
    "A": {"owner": "red", "armies": 9},
    "B": {"owner": "blue", "armies": 1},
    "C": {"owner": "blue", "armies": 2},
    "D": {"owner": "blue", "armies": 1},
}
POSITION = {"board": TINY, "player": "red", "territories": HELD}
QUESTION = {"position": POSITION, "take": "East"}


def link(board: dict[str, Any], fragment: str) -> str:
    """Return the address of a map with a board of its own."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(json.dumps(board).encode()) + packer.flush()
    code = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    return f"/map#b={code}&{fragment}"


TINY_LINK = link(TINY, "p=red&p=blue&h=a9.b1.b2.b1&g=continent&t=0&l=20")


def plan_of_tiny() -> Plan:
    return best_plan(read_position(POSITION), TakeAll("East"))


def sent(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what a server answers, read from its JSON."""
    found: dict[str, Any] = json.loads(json.dumps(followed(asked)))
    return found


def spot(page: Page, name: str) -> Any:
    return page.locator(f'.spot[aria-label^="{name},"]')


def says(page: Page, name: str, words: str) -> None:
    expect(spot(page, name)).to_have_attribute("aria-label", f"{name}, {words}")


def dropped(page: Page, text: str, name: str) -> None:
    """Drop a file on the page."""
    transfer = page.evaluate_handle(
        "([text, name]) => { const all = new DataTransfer();"
        " all.items.add(new File([text], name)); return all }",
        [text, name],
    )
    page.dispatch_event("body", "drop", {"dataTransfer": transfer})


def late(route: Route) -> None:
    """Let a request wait."""
    route.request.frame.page.wait_for_timeout(400)
    route.continue_()


def planned(page: Page) -> None:
    page.get_by_role("button", name="Find the best plan").click()
    expect(page.locator("#plan")).to_be_visible(timeout=SLOWEST)


def fought(page: Page, left: int, theirs: int) -> None:
    """Say how the next battle ended."""
    page.get_by_role("button", name="I attack").click()
    page.fill("#left", str(left))
    page.fill("#theirs", str(theirs))
    page.get_by_role("button", name="Enter result").click()
    expect(page.locator("#fought")).to_be_hidden()


# Setting up a position.


def test_a_first_visit_shows_a_position_with_a_goal(visit: Visit) -> None:
    page = visit("/map")
    says(page, "Ukraine", "red, 42")
    says(page, "Ural", "green, 4, goal")
    assert page.locator("#continent option:checked").inner_text() == "Asia (7)"
    assert page.locator(".spot").count() == 42


def test_a_position_is_set_up_by_mouse(visit: Visit) -> None:
    page = visit(TINY_LINK)
    spot(page, "C").click()
    page.locator("#owners").get_by_role("button", name="red").click()
    page.fill("#armies", "7")
    says(page, "C", "red, 7, goal")
    page.get_by_role("button", name="One army more").click()
    says(page, "C", "red, 8, goal")
    page.locator("#owners").get_by_role("button", name="nobody").click()
    says(page, "C", "nobody, goal")


def test_editing_armies_keeps_their_owner(visit: Visit) -> None:
    page = visit(TINY_LINK)
    spot(page, "C").click()
    armies = page.locator("#armies")
    armies.click()
    page.keyboard.type("5")  # the content was selected
    says(page, "C", "blue, 5, goal")
    armies.press("Backspace")
    says(page, "C", "blue, 5, goal")
    page.keyboard.type("7")
    says(page, "C", "blue, 7, goal")
    armies.fill("")
    armies.blur()
    expect(armies).to_have_value("7")
    armies.fill("1")
    page.get_by_role("button", name="One army fewer").click()
    says(page, "C", "blue, 1, goal")
    armies.fill("0")
    says(page, "C", "blue, 1, goal")
    armies.press("Tab")
    says(page, "C", "nobody, goal")
    page.get_by_label("Armies on B", exact=True).fill("")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Armies on B", exact=True)).to_have_value("1")
    says(page, "B", "blue, 1")


def test_a_position_is_set_up_by_touch(visit: Visit) -> None:
    size = {"width": 360, "height": 740}
    page = visit(TINY_LINK, viewport=size, has_touch=True, is_mobile=True)
    spot(page, "B").tap()
    page.get_by_role("button", name="One army more").tap()
    says(page, "B", "blue, 2")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_position_is_set_up_on_the_map_by_keyboard_alone(visit: Visit) -> None:
    page = visit(TINY_LINK)
    spot(page, "A").focus()
    page.keyboard.type("12")
    says(page, "A", "red, 12")
    page.keyboard.press("ArrowRight")
    expect(spot(page, "B")).to_be_focused()
    page.keyboard.type("r")
    says(page, "B", "red, 1")
    page.keyboard.press("ArrowUp")
    expect(spot(page, "C")).to_be_focused()
    page.keyboard.type("++-")
    says(page, "C", "blue, 3, goal")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Delete")
    says(page, "D", "nobody, goal")
    page.keyboard.type("5b")
    says(page, "D", "blue, 5, goal")


def test_all_is_done_in_the_table_without_the_map(visit: Visit) -> None:
    page = visit(TINY_LINK)
    page.get_by_label("Armies on A", exact=True).fill("11")
    page.get_by_label("Owner of B").select_option("red")
    page.get_by_label("Goal", exact=True).select_option("all")
    page.get_by_label("Take C").check()
    page.get_by_label("A may not attack").check()
    page.get_by_label("Armies to keep on B").fill("2")
    page.keyboard.press("Tab")
    says(page, "A", "red, 11, stays")
    says(page, "B", "red, 1, keep 2")
    says(page, "C", "blue, 2, goal")


def test_quick_ways_fill_a_board(visit: Visit) -> None:
    page = visit(TINY_LINK)
    page.get_by_text("Fill in quickly").click()
    page.get_by_label("Armies on all other territories").fill("4")
    page.get_by_role("button", name="Set").click()
    says(page, "A", "red, 9")
    says(page, "B", "blue, 4")
    dealt = []
    for seed in ("5", "6", "5"):
        page.get_by_label("armies per player").fill("10")
        page.get_by_label("seed").fill(seed)
        page.get_by_role("button", name="Deal").click()
        dealt.append(page.evaluate("location.hash"))
    assert dealt[0] == dealt[2] != dealt[1]
    legend = page.locator("#legend").inner_text()
    assert "red: 10 on 2" in legend
    assert "blue: 10 on 2" in legend


def test_files_are_dropped_opened_and_pasted(visit: Visit) -> None:
    page = visit("/map")
    dropped(page, (FILES / "domination.map").read_text(), "domination.map")
    expected = read_board(FILES / "domination.map")
    expect(page.locator("#board-name")).to_have_text(expected.name)
    assert page.locator(".spot").count() == len(expected.territories)
    page.set_input_files("#file", FILES / "own.toml")
    expect(page.locator("#board-name")).to_have_text(read_board(FILES / "own.toml").name)
    page.get_by_text("Fill in quickly").click()
    page.fill("#pasted", json.dumps(POSITION))
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#board-name")).to_have_text("tiny")
    says(page, "C", "blue, 2, goal")
    page.fill("#pasted", '{"player": "red", "territories": {"Mars": 1}}')
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#setup-wrong")).to_contain_text("'Mars'")
    page.go_back()
    expect(page.locator("#board-name")).to_have_text(read_board(FILES / "own.toml").name)


def test_a_file_that_is_dropped_while_the_page_begins_stays(visit: Visit) -> None:
    page = visit("/about")
    page.route(re.compile("examples"), late)
    page.goto(page.url.replace("/about", "/map"))
    dropped(page, (FILES / "own.toml").read_text(), "own.toml")
    name = read_board(FILES / "own.toml").name
    expect(page.locator("#board-name")).to_have_text(name)
    page.wait_for_timeout(700)
    expect(page.locator("#board-name")).to_have_text(name)


def test_the_page_ships_the_examples_of_the_repository() -> None:
    for each in SHIPPED.iterdir():
        assert each.read_text() == (EXAMPLES / each.name).read_text()


# The plan.


def test_a_plan_has_the_numbers_of_the_library(visit: Visit) -> None:
    page, plan = visit(TINY_LINK), plan_of_tiny()
    planned(page)
    told = page.locator("#plan-told")
    expect(told.locator("strong")).to_have_text(percent(plan.win_probability))
    expect(told).to_contain_text("proven best")
    answer = PlanQuestion(read_position(POSITION), take="East").answer()
    for sentence in next(iter(answer.sections())).parts:
        expect(told).to_contain_text(str(sentence))
    for each in plan.territories:
        head = page.get_by_role("rowheader", name=each.name, exact=True)
        row = page.locator("#table tr", has=head)
        chance = "100%" if each.name == "A" else short_percent(each.own_probability)
        expect(row.locator("td").last).to_have_text(chance)


def test_a_plan_is_followed_through_wins_and_losses_and_undone(visit: Visit) -> None:
    page, plan = visit(TINY_LINK), plan_of_tiny()
    planned(page)
    page.get_by_role("button", name="Follow it").click()
    told = page.locator("#follow-told")
    plays: list[Play] = [plan.follow()]

    def is_told() -> None:
        before = plays[-2].value if len(plays) > 1 else None
        for sentence in standing(plays[-1], before):
            expect(told).to_contain_text(sentence)

    is_told()
    fought(page, 8, 0)
    plays.append(plays[-1].fought(8, 0))
    is_told()
    says(page, "B", "red, 7")
    says(page, "A", "red, 1")
    move = plays[-1].move
    assert move is not None
    fought(page, 2, 2 if move.to == "C" else 1)
    plays.append(plays[-1].fought(2, 2 if move.to == "C" else 1))
    is_told()
    page.get_by_role("button", name="Undo").click()
    plays.pop()
    is_told()
    here = page.evaluate("location.pathname + location.hash")
    page.reload()
    expect(told).to_contain_text("Chance", timeout=SLOWEST)
    says(page, "B", "red, 7")
    other = visit(here)
    expect(other.locator("#follow-told")).to_contain_text("Chance", timeout=SLOWEST)
    says(other, "B", "red, 7")
    for _ in range(2):
        there = plays[-1].move
        assert there is not None
        fought(page, plays[-1].position.of(there.start).armies, 0)
        plays.append(plays[-1].fought(plays[-1].position.of(there.start).armies, 0))
        is_told()
    expect(told).to_have_text("Done: you take East.")
    expect(page.get_by_role("button", name="I attack")).to_be_hidden()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the turn").click()
    record = json.loads(Path(download.value.path()).read_text())
    assert record["battles"][0]["to"] == "B"
    assert read_position(record["position"] | {"board": TINY}) == plays[-1].position
    for _ in range(3):
        page.get_by_role("button", name="Undo").click()
    expect(told).to_contain_text(next(standing(plays[0], None)))
    says(page, "B", "blue, 1")


def test_dice_are_rolled_here_and_armies_left_behind(visit: Visit) -> None:
    page = visit(TINY_LINK)
    planned(page)
    page.get_by_role("button", name="Follow it").click()
    while page.get_by_role("button", name="I attack").is_visible():
        page.get_by_role("button", name="I attack").click()
        page.get_by_role("button", name="Roll to the end").click()
        expect(page.locator("#fought")).to_be_hidden()
        expect(page.locator("#follow-told")).to_contain_text("you lose")
    expect(page.locator("#follow-told")).to_have_text(re.compile("Done|The plan is over"))
    while page.get_by_role("button", name="Undo").is_enabled():
        page.get_by_role("button", name="Undo").click()
    fought(page, 9, 0)
    page.get_by_label("Moved in").fill("5")
    page.get_by_role("button", name="Change").click()
    says(page, "A", "red, 4")
    says(page, "B", "red, 5")
    page.get_by_role("button", name="New plan from here").click()
    expect(page.locator("#plan")).to_be_visible(timeout=SLOWEST)
    assert "red, 5" in (spot(page, "B").get_attribute("aria-label") or "")


def test_a_battle_that_cannot_end_so_is_refused(visit: Visit) -> None:
    page = visit(TINY_LINK)
    planned(page)
    page.get_by_role("button", name="Follow it").click()
    page.get_by_role("button", name="I attack").click()
    page.fill("#left", "10")
    page.get_by_role("button", name="Enter result").click()
    sentence = "left must be a whole number from 1 to 9, got 10"
    expect(page.locator("#follow-wrong")).to_have_text(sentence)


def test_a_link_with_an_impossible_turn_shows_it_and_says_why(visit: Visit) -> None:
    # C cannot be attacked from A.
    page = visit(f"{TINY_LINK}&go=2&c=0-2-9-0-8")
    told = page.locator("#follow-told")
    expect(told).to_contain_text("cannot go on from this turn", timeout=SLOWEST)
    expect(page.locator("#follow-wrong")).to_contain_text("from A to B, got 'A' to 'C'")
    says(page, "C", "red, 8, goal")
    expect(page.get_by_role("button", name="I attack")).to_be_hidden()
    page.get_by_role("button", name="Undo").click()
    expect(told).to_contain_text("A (9) to B (1)")
    expect(page.locator("#follow-wrong")).to_be_empty()
    says(page, "C", "blue, 2, goal")


def test_a_page_that_is_reloaded_follows_the_same_plan(visit: Visit) -> None:
    page = visit(TINY_LINK)
    planned(page)
    page.get_by_role("button", name="Follow it").click()
    fought(page, 8, 0)
    expect(page.locator("#follow-told")).to_contain_text("B (7) to")
    searched: list[str] = []
    page.on("websocket", lambda socket: searched.append(socket.url))
    page.reload()
    expect(page.locator("#follow-told")).to_contain_text("B (7) to")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#follow-told")).to_contain_text("A (9) to B (1)")
    assert searched == []


def test_a_search_is_stopped_with_what_it_has_found(visit: Visit) -> None:
    page = visit("/map")
    page.get_by_label("Start from").select_option(label="Eliminate blue with four stacks")
    says(page, "Brazil", "red, 22")
    page.locator("#goal summary").click()
    page.get_by_label("Search for").select_option("20")
    page.get_by_role("button", name="Find the best plan").click()
    expect(page.locator("#doing")).to_contain_text("best so far", timeout=SLOWEST)
    page.get_by_role("button", name="Stop here").click()
    expect(page.locator("#plan-told")).to_contain_text("eliminate blue", timeout=SLOWEST)


def test_a_plan_is_asked_for_by_keyboard_and_the_focus_stays(visit: Visit) -> None:
    page = visit(TINY_LINK)
    page.get_by_role("button", name="Find the best plan").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#plan")).to_be_visible(timeout=SLOWEST)
    expect(page.get_by_role("button", name="Find the best plan")).to_be_focused()
    page.get_by_role("button", name="Follow it").press("Enter")
    expect(page.get_by_role("button", name="I attack")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#left")).to_be_focused()
    page.keyboard.type("9")
    page.keyboard.press("Enter")
    says(page, "B", "red, 8")


def test_players_are_renamed_added_and_removed(visit: Visit) -> None:
    page = visit(TINY_LINK)
    page.get_by_text("Players and whose turn it is").click()
    page.get_by_label("Name of player 2").fill("Zoë")
    page.keyboard.press("Tab")
    says(page, "B", "Zoë, 1")
    page.get_by_role("button", name="Add a player").click()
    spot(page, "D").focus()
    page.keyboard.type("b")
    says(page, "D", "blue, 1, goal")
    page.get_by_label("Zoë moves").check()
    expect(page.locator("#turn")).to_have_text("Zoë moves")
    page.get_by_role("button", name="Remove red").click()
    says(page, "A", "nobody")
    page.reload()
    expect(page.locator("#turn")).to_have_text("Zoë moves")


def test_a_key_may_be_held_down(visit: Visit) -> None:
    page = visit(TINY_LINK)
    spot(page, "A").focus()
    page.keyboard.type("+" * 250)
    says(page, "A", "red, 259")
    assert re.search("h=a[1-9]", page.url)


def test_back_goes_back_and_reload_keeps_all(visit: Visit) -> None:
    page = visit(TINY_LINK)
    page.get_by_label("Goal", exact=True).select_option("any")
    page.get_by_role("button", name="Choose on the map").click()
    spot(page, "D").click()
    says(page, "D", "blue, 1, goal")
    page.keyboard.press("ArrowLeft")
    says(page, "B", "blue, 1")
    page.keyboard.press("Enter")
    says(page, "B", "blue, 1, goal")
    page.get_by_label("Rules").select_option("capital")
    page.reload()
    says(page, "D", "blue, 1, goal")
    assert page.get_by_label("Rules").input_value() == "capital"
    planned(page)
    page.go_back()
    expect(page.locator("#plan")).to_be_hidden()
    page.go_forward()
    expect(page.locator("#plan")).to_be_visible(timeout=SLOWEST)


def test_what_a_player_may_ask_besides(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a5.b1.b2.b1&g=continent&t=0&l=20"))
    page.locator("#goal summary").click()
    page.get_by_label("Armies needed for a chance of").fill("95")
    page.get_by_label("Compare other ways to begin").check()
    planned(page)
    start = read_position({**POSITION, "territories": HELD | {"A": {"owner": "red", "armies": 5}}})
    answer = PlanQuestion(start, take="East", need=Fraction(95, 100), alternatives=True).answer()
    assert answer.needed is not None
    told, tables = page.locator("#plan-told"), page.locator("#plan-tables")
    expect(told).to_contain_text(f"you need {answer.needed.armies} armies on A")
    expect(tables).to_contain_text("Ways to begin")
    expect(tables).to_contain_text(percent(answer.ways[0].value))
    expect(tables).to_contain_text("Where it may fail")
    page.get_by_label("Armies needed for a chance of").fill("")
    page.get_by_label("New armies to place first").fill("3")
    planned(page)
    expect(told).to_contain_text("With 3 new armies on A")
    assert "red, 8" in (spot(page, "A").get_attribute("aria-label") or "")


def test_a_plan_is_copied_as_python_and_as_a_command_and_saved(visit: Visit) -> None:
    page, plan = visit(TINY_LINK, permissions=["clipboard-read", "clipboard-write"]), plan_of_tiny()
    planned(page)
    page.get_by_role("button", name="Copy as Python").click()
    text = page.evaluate("navigator.clipboard.readText()")
    assert eval(text, {"iacta": iacta}).plan.value == plan.value  # noqa: S307 # our own text
    page.get_by_role("button", name="Copy as command").click()
    command = page.evaluate("navigator.clipboard.readText()").split(" <<")[0]
    assert command == "iacta plan - --take East --time-limit 20"
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as JSON").click()
    assert json.loads(Path(download.value.path()).read_text())["value"] == plan.value


# What a page must never do.


def test_names_are_text_everywhere(visit: Visit) -> None:
    names = ["<img src=x onerror=alert(1)>", "</script><b>\"quoted'", "__proto__", "constructor"]
    board = {
        "name": "<h1>board</h1>",
        "territories": {name: [] for name in names} | {names[0]: names[1:]},
        "continents": {"<i>land</i>": {"bonus": 1, "territories": names}},
    }
    position = {
        "board": board,
        "player": "<u>me</u>",
        "territories": {name: {"owner": "__proto__", "armies": 1} for name in names}
        | {names[0]: {"owner": "<u>me</u>", "armies": 9}},
    }
    page = visit("/map")
    page.get_by_text("Fill in quickly").click()
    page.fill("#pasted", json.dumps(position))
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#board-name")).to_have_text("<h1>board</h1>")
    page.get_by_label("Armies on __proto__").fill("3")
    page.get_by_label("Goal", exact=True).select_option("eliminate")
    planned(page)
    expect(page.locator("#plan-told")).to_contain_text("eliminate __proto__")
    page.get_by_role("button", name="Follow it").click()
    expect(page.locator("#follow-told")).to_contain_text(names[0])
    assert page.locator("main img, main b:not(#names b), main i, main u, main h1").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_in_the_way_of_anybody(visit: Visit, width: int, scheme: str) -> None:
    # Dark or light, nothing but the colours differs.
    asked = {"runOnly": ["color-contrast"]} if scheme == "dark" else None
    page = visit(TINY_LINK, viewport={"width": width, "height": 800}, color_scheme=scheme)
    spot(page, "B").click()
    for summary in page.locator("summary").all():
        summary.click()
    assert Axe().run(page, options=asked).response["violations"] == []
    planned(page)
    assert Axe().run(page, options=asked).response["violations"] == []
    page.get_by_role("button", name="Follow it").click()
    page.get_by_role("button", name="I attack").click()
    assert Axe().run(page, options=asked).response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [360, 1280])
def test_every_territory_is_named_and_no_label_is_on_another(visit: Visit, width: int) -> None:
    page = visit("/map", viewport={"width": width, "height": 800})
    says(page, "Ukraine", "red, 42")
    labels = page.eval_on_selector_all(
        "#map .name, #map .badge",
        "all => all.map(each => { const box = each.getBoundingClientRect();"
        " return [each.textContent, box.left, box.top, box.right, box.bottom] })",
    )
    texts = " ".join(each[0] for each in labels)
    keys = page.locator("#names li").all_inner_texts()
    for name in read_board("classic").territories:
        letters = [key.split()[0] for key in keys if key.endswith(f" {name}")]
        assert name in texts or any(letter in texts.split() for letter in letters), name
    edges = 2.5  # of the boxes around letters, which are higher than the letters
    left, top, right, bottom = np.array([each[1:] for each in labels], float).T
    left, top, right, bottom = left + edges, top + edges, right - edges, bottom - edges
    meet = (left[:, None] < right) & (top[:, None] < bottom)
    meet &= meet.T
    lines = {each for each in range(len(labels)) if labels[each][0]}
    pairs = [(i, j) for i, j in np.argwhere(np.triu(meet, 1)) if {i, j} & lines]
    assert [(labels[i][0], labels[j][0]) for i, j in pairs] == []


def test_no_colour_says_two_things(visit: Visit) -> None:
    page = visit(TINY_LINK)
    planned(page)
    fills = "all => all.map(each => getComputedStyle(each).fill)"
    tones = page.eval_on_selector_all(".badge", fills)
    lands = page.eval_on_selector_all(".land", fills)
    if page.locator("#shades").is_visible():
        assert not {*tones} & {*lands}
    else:
        assert tones == lands


# Boards, positions and plans as the server reads them.


@pytest.mark.parametrize("file", sorted(FILES.glob("*.*")), ids=lambda file: file.name)
def test_every_format_is_read_from_its_text(file: Path) -> None:
    text = file.read_text()
    if file.stem == "position":
        position = read_position(file)
        found = position_read({"text": text, "board": position.board.to_record()})
        assert read_position({**found["position"], "board": found["board"]}) == position
    elif file.suffix != ".cards":
        board = read_board(file)
        found = board_read({"text": text, "name": file.name})
        assert found["territories"] == list(board.territories)
        assert read_board(found["board"]).borders == board.borders
        ends = {(each["start"], each["to"]) for each in found["scene"]["borders"]}
        assert len(ends) == len({frozenset(pair) for pair in board.borders})


@pytest.mark.parametrize(
    ("function", "asked", "sentence"),
    [
        (board_read, {}, "text must be text, got None"),
        (board_read, {"text": "[", "name": "x"}, "this is not a board in a known format"),
        (board_read, {"text": "\ud800", "nam": ""}, "unknown key 'nam'; the keys are text, name"),
        (position_read, {"text": 'player = "red"\nboard = "/etc/passwd"'}, "line 2: board must be"),
        (position_read, {"text": "{}", "board": 1}, "board must be 'classic' or an object, got 1"),
        (followed, {}, "question must be an object, got None"),
        (followed, {"question": QUESTION, "plan": "x"}, "plan must be an object, got 'x'"),
        (followed, {"question": QUESTION, "plan": {}}, "policy must be an object, got None"),
        (followed, {"question": QUESTION, "plan": {"x": 1}}, "unknown key 'x'; the keys are"),
        (followed, {"question": {"position": POSITION}}, "missing take, take_any"),
        (
            followed,
            {"question": {"position": POSITION, "take": "B"}, "attack": {"from": "B", "to": "A"}},
            "attack must be the plan's next, from A to B, got 'B' to 'A'",
        ),
        (
            followed,
            {
                "question": {"position": POSITION, "take": "B"},
                "attack": {"from": "A", "to": "B", "left": 1, "their_left": 0},
            },
            "left must be more than the garrison when B is taken, got 1",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(
    function: Any, asked: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(IactaError) as refused:
        function(asked)
    assert str(refused.value).startswith(sentence)


def test_dice_that_a_server_rolls_are_those_of_its_seed() -> None:
    asked = {
        "question": QUESTION,
        "plan": sent({"question": QUESTION})["plan"],
        "roll": {"seed": 3},
    }
    first, again = followed(asked), followed(asked)
    assert first == again
    lost, killed = np.sum(first["rolls"], axis=0)
    assert first["attack"]["left"] == 9 - lost
    assert first["attack"]["their_left"] == 1 - killed
    once = followed(asked | {"roll": {"seed": 3, "once": True}})
    assert len(once["rolls"]) == 1


@pytest.mark.parametrize("more", [{}, {"reinforce": 2}, {"play": "battles", "keep": {"B": 2}}])
def test_a_plan_is_followed_as_it_was_found_by_any_process(
    monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    question = QUESTION | more
    start = sent({"question": question})
    monkeypatch.setattr(PlanQuestion, "answer", lambda *_: pytest.fail("searched again"))
    asked = {"question": question, "plan": start["plan"]}
    attack = {"from": "A", "to": "B", "left": 9, "their_left": 0}
    here, after = sent(asked), sent(asked | {"attack": attack})
    page_map._plans.clear()  # as in another process
    assert (sent(asked), sent(asked | {"attack": attack})) == (here, after)
    assert here == {name: start[name] for name in here}
    assert after["move"]["from"] == "B"
    assert "plan" not in after


def wrong(policy: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return {"policy": policy | parts, "value": 0.5}


def test_a_plan_that_is_not_one_of_its_question_is_refused() -> None:
    policy = sent({"question": QUESTION})["plan"]["policy"]
    turn, row = policy["turn"], [{"0": [1, 2]}]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"policy": policy}, "value must be a number, got None"),
        ({"policy": policy, "value": "x"}, "value must be a number, got 'x'"),
        ({"policy": policy, "value": 0.5, "way": 3}, "way must be a list of borders, got 3"),
        (
            {"policy": policy, "value": 0.5, "way": [["A", "D"]]},
            "way must be a list of borders, got [['A', 'D']]",
        ),
        (wrong(policy, version=0), "policy must be a record of version 1"),
        (wrong(policy, turn=3), "turn must be text, got 3"),
        (wrong(policy, turn="1;classic;red;Peru:red:3"), "plan must be for the position of its"),
        (
            wrong(policy, turn=turn.replace("red:9", "red:9999")),
            "armies on A must be at most 2,000",
        ),
        (wrong(policy, turn=turn.replace("red", "green")), "plan must be for the position of its"),
        (wrong(policy, turn=turn.replace("attack", "fortify")), "policy must be for the turn"),
        (wrong(policy, assignment=3), "policy must be a record of a policy"),
        (wrong(policy, assignment=row * 2), "policy must have 1 assignments, got 2"),
        (wrong(policy, assignment=[{"0": [4]}]), "policy must be a record of a policy"),
        (wrong(policy, assignment=[{"0": [-1]}]), "policy must be a record of a policy"),
        (wrong(policy, assignment=[{"A": [1]}]), "policy must be a record of a policy"),
        (wrong(policy, style=[99, 0.1, 1, 0.1]), "policy must be a record of a policy"),
        (wrong(policy, style=[3, 0.1]), "policy must be a record of a policy"),
    ]
    for plan, sentence in cases:
        with pytest.raises(IactaError) as refused:
            followed({"question": QUESTION, "plan": plan})
        assert str(refused.value).startswith(sentence), plan


def test_a_best_play_that_is_not_sent_is_found_within_the_limit_of_a_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    question = {"from_": {"Ukraine": 60, "Brazil": 60}, "others": 3, "take": "Asia"}
    asked = {"question": question | {"time_limit": 0}}
    plan = sent(asked)["plan"]
    monkeypatch.setattr(page_map, "MOST_SECONDS", 0.1)
    with pytest.raises(IllegalError, match="plan must have an assignment, as its best play takes"):
        followed({**asked, "plan": wrong(plan["policy"], assignment=None)})


def test_a_code_is_read_with_what_it_says_of_the_turn() -> None:
    position = read_position(POSITION)
    found = position_read({"text": position.to_code(), "board": TINY})
    assert read_position({**found["position"], "board": found["board"]}) == position
    turn = iacta.Turn(position, "capital", place=3, keep={"C": 4}, stay="A")
    found = position_read({"text": turn.to_code(), "board": TINY})
    asked = [found[key] for key in ("rules", "keep", "stay", "fresh")]
    assert asked == ["capital", {2: 4}, [0], 3]
    own_rules = iacta.Turn(position, rules_of={"B": "capital"}).to_code()
    with pytest.raises(IactaError, match="no rules of territories"):
        position_read({"text": own_rules, "board": TINY})


def test_the_code_is_copied_and_pasted(visit: Visit) -> None:
    page = visit(TINY_LINK, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the code").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    code = page.evaluate("navigator.clipboard.readText()")
    assert code == read_position(POSITION).to_code()
    page.get_by_text("Fill in quickly").click()
    page.fill("#pasted", f"{code.replace('C:blue:2', 'C:red:7')};place;place=4;keep=C:3")
    page.get_by_role("button", name="Use it").click()
    says(page, "C", "red, 7, goal, keep 3")
