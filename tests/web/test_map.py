"""The analysis board: a position set up in each way, and the turn from it, step by step."""

import base64
import json
import math
import re
import zlib
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Request, Route, expect

import iacta
from iacta.board.files import classic_board, read_board
from iacta.board.position import Position, read_position
from iacta.forms.percentages import percent
from iacta.inputs.errors import IactaError
from iacta.plan import Plan, TakeAll, best_plan
from iacta.questions import ask
from iacta.questions.plan import PlanQuestion
from iacta.questions.whole_game import CONDITION
from iacta.web.map import board_read, position_read
from iacta.web.turns import replay_turns, step_turn
from tests.tables import table
from tests.web.conftest import Visit, barriers, late

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


def link(board: dict[str, Any], fragment: str) -> str:
    """Return the address of a map with a board of its own."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(json.dumps(board).encode()) + packer.flush()
    code = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    return f"/map#b={code}&{fragment}"


TINY_LINK = link(TINY, "p=red&p=blue&h=a9.b1.b2.b1&g=continent&t=0")
TURN = iacta.Turn(read_position(POSITION)).to_code()


def taking(**step: Any) -> dict[str, Any]:
    return {"code": TURN, "board": TINY, "step": step}


def plan_of_tiny() -> Plan:
    return best_plan(read_position(POSITION), TakeAll("East"))


def counted(armies: int) -> str:
    return "army" if armies == 1 else "armies"


def spot(page: Page, name: str) -> Any:
    return page.locator(f'.spot[aria-label^="{name},"]')


def says(page: Page, name: str, words: str) -> None:
    """Check what is spoken of a territory, given without the noun of its armies."""
    words = re.sub(r", (\d+)", lambda found: f"{found[0]} {counted(int(found[1]))}", words, count=1)
    label = re.compile(rf"^{re.escape(f'{name}, {words}')}(, \d+% to own it at the end)?$")
    expect(spot(page, name)).to_have_attribute("aria-label", label)


# Whether territories are on the part of the map that is seen.
SEEN = """names => {
  const box = view.getBoundingClientRect();
  return names.every(name => {
    const badge = document.querySelector(`.spot[aria-label^="${name},"] .badge`);
    const at = badge.getBoundingClientRect();
    const isWide = at.left >= box.left && at.right <= box.right;
    return isWide && at.top >= box.top && at.bottom <= box.bottom;
  });
}"""


def dropped(page: Page, text: str, name: str) -> None:
    """Drop a file on the page."""
    transfer = page.evaluate_handle(
        "([text, name]) => { const all = new DataTransfer();"
        " all.items.add(new File([text], name)); return all }",
        [text, name],
    )
    page.dispatch_event("body", "drop", {"dataTransfer": transfer})


# Setting up a position.


def test_a_first_visit_shows_a_position_with_a_goal(visit: Visit) -> None:
    page = visit("/map")
    says(page, "Ukraine", "red, 42")
    says(page, "Ural", "green, 4, goal")
    assert page.locator("#kind option:checked").inner_text() == "Take Asia (7)"
    assert page.locator(".spot").count() == 42


def test_a_phone_shows_names_that_can_be_read_badges_that_can_be_hit_and_continents(
    visit: Visit,
) -> None:
    page = visit("/map", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    says(page, "Alaska", "blue, 3")
    middles = page.locator(".badge").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect())"
        ".map(({x, y, width, height}) => [x + width / 2, y + height / 2])"
    )
    assert min(math.dist(a, b) for a, b in combinations(middles, 2)) >= 32
    unit = page.evaluate("map.getScreenCTM().a")
    sizes = page.locator("#map .name").evaluate_all(
        "all => all.map(each => Number(each.getAttribute('font-size')))"
    )
    assert min(sizes) * unit >= 11
    page.get_by_role("button", name="Set up", exact=True).tap()
    page.get_by_role("button", name="Clear", exact=True).tap()
    names = page.locator("#map .name.continent").all_text_contents()
    assert {*names} == {f"{each.name} +{each.bonus}" for each in classic_board().continents}


def test_a_position_is_set_up_by_mouse(visit: Visit) -> None:
    page = visit(TINY_LINK)
    spot(page, "C").click()
    says(page, "C", "red, 1, goal")
    spot(page, "C").click()
    says(page, "C", "red, 2, goal")
    page.get_by_label("Armies on C", exact=True).fill("7")
    page.keyboard.press("Tab")
    says(page, "C", "red, 7, goal")
    page.fill("#brush", "4")
    page.locator("#owners").get_by_role("button", name="blue").click()
    spot(page, "C").click()
    says(page, "C", "blue, 4, goal")
    page.locator("#owners").get_by_role("button", name="select").click()
    spot(page, "C").click()
    says(page, "C", "blue, 4, goal")
    page.locator("#owners").get_by_role("button", name="nobody").click()
    spot(page, "C").click()
    says(page, "C", "nobody, goal")


def test_editing_armies_keeps_their_owner(visit: Visit) -> None:
    page = visit(TINY_LINK)
    page.locator("#owners").get_by_role("button", name="select").click()
    spot(page, "C").click()
    armies = page.get_by_label("Armies on C", exact=True)
    armies.click()
    page.keyboard.type("5")  # the content was selected
    page.keyboard.press("Enter")
    says(page, "C", "blue, 5, goal")
    for text in ("", "some"):
        armies.fill(text)
        armies.blur()
        expect(armies).to_have_value("5")
    armies.fill("0")
    says(page, "C", "blue, 5, goal")
    armies.press("Tab")
    says(page, "C", "nobody, goal")


def test_a_position_is_set_up_by_touch(visit: Visit) -> None:
    size = {"width": 360, "height": 740}
    page = visit(TINY_LINK, viewport=size, has_touch=True, is_mobile=True)
    page.locator("#owners").get_by_role("button", name="blue").tap()
    spot(page, "B").tap()
    says(page, "B", "blue, 2")
    page.get_by_label("Armies on B", exact=True).tap()
    page.keyboard.type("1")
    spot(page, "C").tap()
    says(page, "B", "blue, 1")
    says(page, "C", "blue, 3, goal")
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
    page.keyboard.press("Enter")
    expect(page.get_by_label("Armies on D", exact=True)).to_be_focused()
    page.keyboard.type("23")
    page.keyboard.press("Enter")
    says(page, "D", "blue, 23, goal")


def test_all_is_done_in_the_table_without_the_map(visit: Visit) -> None:
    page = visit(TINY_LINK.replace("g=continent&t=0", "g=all&t="))
    page.get_by_text("All territories as a table").click()
    page.get_by_label("Armies on A", exact=True).fill("11")
    page.get_by_label("Owner of B").select_option("red")
    page.get_by_label("Take C").check()
    page.get_by_label("A may not attack").check()
    page.get_by_label("Armies to keep on B").fill("2")
    page.keyboard.press("Tab")
    says(page, "A", "red, 11, stays")
    says(page, "B", "red, 1, keep 2")
    says(page, "C", "blue, 2, goal")


def test_quick_ways_fill_a_board(visit: Visit) -> None:
    page = visit(TINY_LINK.replace("a9.b1.b2.b1", "a9.b1.-.-"))
    expect(page.get_by_text("2 territories are empty")).to_be_visible()
    page.locator("#rest-player").select_option(label="blue")
    page.locator("#rest-armies").fill("4")
    page.get_by_role("button", name="Fill", exact=True).click()
    says(page, "B", "blue, 1")
    says(page, "C", "blue, 4, goal")
    expect(page.locator("#rest")).to_be_hidden()
    page.get_by_role("button", name="Undo the filling").click()
    says(page, "C", "nobody, goal")
    page.locator("#rest-armies").fill("abc")
    page.get_by_role("button", name="Fill", exact=True).click()
    assert not page.locator("#rest-armies").evaluate("each => each.validity.valid")
    says(page, "C", "nobody, goal")
    page.get_by_text("Deal, open or paste").click()
    page.get_by_label("armies per player").fill("10")
    page.get_by_role("button", name="Deal").click()
    legend = page.locator("#legend").inner_text()
    assert "red: 10 on 2" in legend
    assert "blue: 10 on 2" in legend


def test_the_map_is_seen_larger_where_the_sea_is_tapped_twice(visit: Visit) -> None:
    page = visit("/map", viewport={"width": 1440, "height": 900})
    says(page, "Ukraine", "red, 42")
    whole = page.evaluate("map.clientWidth")
    for wide in (2 * whole, whole):
        page.locator("#view").dblclick(position={"x": 5, "y": 5})
        assert abs(page.evaluate("map.clientWidth") - wide) < 2


def test_files_are_dropped_opened_and_pasted(visit: Visit) -> None:
    page = visit("/map")
    page.get_by_role("button", name="Set up").click()
    dropped(page, (FILES / "domination.map").read_text(), "domination.map")
    expected = read_board(FILES / "domination.map")
    expect(page.locator("#board-name")).to_have_text(expected.name)
    assert page.locator(".spot").count() == len(expected.territories)
    page.set_input_files("#file", FILES / "own.toml")
    expect(page.locator("#board-name")).to_have_text(read_board(FILES / "own.toml").name)
    page.get_by_text("Deal, open or paste").click()
    page.fill("#pasted", json.dumps(POSITION))
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#board-name")).to_have_text("tiny")
    says(page, "C", "blue, 2")
    page.fill("#pasted", '{"player": "red", "territories": {"Mars": 1}}')
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#wrong")).to_contain_text("'Mars'")
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


# The turn.


def play(page: Page) -> None:
    page.get_by_role("button", name="Analyse", exact=True).click()
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)


def value(page: Page, chance: float) -> None:
    expect(page.locator("#figure")).to_have_text(percent(chance), timeout=SLOWEST)


def attack(page: Page, start: str, to: str) -> None:
    spot(page, start).click()
    spot(page, to).click()
    expect(page.locator("#battle-name")).to_have_text(f"{start} to {to}")


def fought(page: Page, left: int, theirs: int) -> None:
    """Say how the chosen battle ended."""
    page.fill("#left", str(left))
    page.fill("#theirs", str(theirs))
    page.locator("#fought").get_by_role("button", name="Enter").click()


def chance_in(**held: tuple[str, int]) -> float:
    territories = {name: {"owner": owner, "armies": n} for name, (owner, n) in held.items()}
    position = read_position({**POSITION, "territories": HELD | territories})
    return best_plan(position, TakeAll("East")).counted


def test_an_analysis_has_the_numbers_of_the_library(visit: Visit) -> None:
    page, plan = visit(TINY_LINK), plan_of_tiny()
    play(page)
    value(page, plan.counted)
    expect(page.locator("#report")).to_contain_text("proven best")
    assert page.locator("#bar").get_attribute("aria-valuenow") == f"{100 * plan.counted:.2f}"
    page.locator("#whole summary").click()
    answer = PlanQuestion(read_position(POSITION), take="East").answer()
    for section in list(answer.sections())[1:]:
        expect(page.locator("#plan-tables")).to_contain_text(section.title.rstrip(":"))


def test_a_turn_is_played_with_variations_and_undone(visit: Visit) -> None:
    page = visit(TINY_LINK)
    play(page)
    expect(page.locator("#moves li")).to_have_count(1)
    page.locator("#moves button").click()
    expect(page.locator("#battle-said")).to_contain_text("9 against 1")
    fought(page, 8, 0)
    expect(page.locator("#advance-said")).to_have_text("Armies that move from A into B")
    expect(page.locator("#advance-number")).to_have_text("7, the best")
    assert page.locator("#advance").input_value() == "7"
    page.get_by_role("button", name="Move in", exact=True).click()
    says(page, "B", "red, 7")
    value(page, chance_in(A=("red", 1), B=("red", 7)))
    attack(page, "B", "C")
    page.get_by_role("button", name="I lose 2, they lose 0").click()
    says(page, "B", "red, 5")
    there = chance_in(A=("red", 1), B=("red", 5))
    value(page, there)
    page.get_by_role("button", name="Step back").click()
    says(page, "B", "red, 7")
    attack(page, "B", "D")
    fought(page, 7, 0)
    expect(page.locator("#advance-number")).to_have_text("3, the best")
    page.get_by_role("button", name="Move in", exact=True).click()
    says(page, "D", "red, 3, goal")  # the others take C
    expect(page.locator("#steps")).to_contain_text("or: B to C: you lose 2, they lose 0")
    here = page.evaluate("location.pathname + location.hash")
    page.reload()
    says(page, "D", "red, 3, goal")
    other = visit(here)
    says(other, "D", "red, 3, goal")
    other.get_by_role("button", name="or: B to C").click()
    says(other, "B", "red, 5")
    value(other, there)
    other.get_by_role("button", name="Undo").click()
    says(other, "B", "red, 7")
    expect(other.locator("#steps")).not_to_contain_text("lose 2, they lose 0")
    other.go_back()
    says(other, "B", "red, 5")
    for _ in range(3):
        other.get_by_role("button", name="Step back").click()
    expect(other.locator("#steps button[aria-current]")).to_contain_text("Start")


def test_steps_that_there_was_no_time_for_are_asked_for_again(visit: Visit) -> None:
    page = visit("/map")

    def cut_off(route: Route) -> None:
        response = route.fetch()
        values = json.loads(response.text().splitlines()[-1])["answer"]["values"]
        if ordered(route.request) == [0, 1, 2]:  # as if there were time for the first two only
            values[2] = None
        route.fulfill(response=response, body=json.dumps({"answer": {"values": values}}) + "\n")

    def ordered(request: Request) -> list[int]:
        found: list[int] = json.loads(request.post_data or "")["order"]
        return found

    def is_again(request: Request) -> bool:
        return request.url.endswith("api/v1/steps") and ordered(request) == [2]

    page.route("**/api/v1/steps", cut_off)
    with page.expect_request(is_again, timeout=SLOWEST):
        page.goto(f"{page.url.split('/map')[0]}{TINY_LINK}&go=1&i=2&x=0a0-1-8-0.1m7")


def test_each_step_is_parted_into_luck_and_decision(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a9.b1.b2.b1&g=all&t=2&go=1"))
    before = best_plan(read_position(POSITION), TakeAll("C")).counted
    value(page, before)
    attack(page, "A", "B")
    fought(page, 9, 0)
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    page.get_by_role("button", name="Move in", exact=True).click()
    after = chance_of_c(B=8)
    value(page, after)
    expect(page.locator("#steps li").nth(1)).to_contain_text(f"dice +{100 * (after - before):.1f}")
    page.get_by_role("button", name="Step back").click()
    page.locator("#advance").fill("3")
    page.get_by_role("button", name="Move in", exact=True).click()
    value(page, chance_of_c(A=6, B=3))
    step = page.locator("#steps button[aria-current]")
    cost = after - chance_of_c(A=6, B=3)
    expect(step).to_contain_text(f"choice -{100 * cost:.1f}")
    expect(step.locator(".mark")).to_have_count(1)
    expect(page.locator("#graph")).to_be_visible()
    found = iacta.review(downloaded(page, "Download the log"))
    (battle,) = found.steps  # red has not stopped yet
    assert battle.is_assumed  # as the dice were not entered
    assert (battle.name, battle.lost, battle.moved) == ("A to B", 0, 3)
    assert battle.cost == pytest.approx(cost)


def test_new_armies_part_a_log(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    attack(page, "A", "B")
    fought(page, 9, 0)
    page.get_by_role("button", name="Move in", exact=True).click()
    page.get_by_label("New armies from traded cards").fill("4")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("button", name="Best: 4 on B").click()
    says(page, "B", "red, 12")
    page.get_by_role("button", name="Attack no more").click()
    found = iacta.review(downloaded(page, "Download the log"))
    assert [(each.turn, each.name) for each in found.steps] == [(1, "A to B"), (1, "stop")]
    assert found.steps[1].before > found.steps[0].after


def downloaded(page: Page, button: str) -> str:
    """Return the text of the file that a button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_text(encoding="utf-8")


def chance_of_c(**red: int) -> float:
    territories = {name: {"owner": "red", "armies": number} for name, number in red.items()}
    held = HELD | {"A": {"owner": "red", "armies": 1}} | territories
    position = read_position({**POSITION, "territories": held})
    return best_plan(position, TakeAll("C")).counted


def test_dice_are_rolled_here_or_entered(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    attack(page, "A", "B")
    page.get_by_text("Enter the dice").click()
    page.fill("#mine", "6 4 1")
    page.fill("#yours", "5")
    page.locator("#faces").get_by_role("button", name="Enter").click()
    expect(page.locator("#steps")).to_contain_text("you lose 0, they lose 1 in 1 roll; B is taken")
    page.get_by_role("button", name="Undo").click()
    attack(page, "A", "B")
    page.get_by_role("button", name="Roll to the end").click()
    expect(page.locator("#steps")).to_contain_text(re.compile("you lose .*; B is taken"))


@pytest.mark.parametrize("how", ["entered", "rolled", "chosen"])
def test_a_roll_s_dice_are_in_the_address_and_the_log(visit: Visit, how: str) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a9.b2.b2.b1&g=all&t=2&go=1"))
    attack(page, "A", "B")
    if how == "entered":
        page.get_by_text("Enter the dice").click()
        page.fill("#mine", "6")
        page.fill("#yours", "5 1")
        page.locator("#faces").get_by_role("button", name="Enter").click()
    elif how == "rolled":
        page.get_by_role("button", name="Roll once").click()
    else:
        page.get_by_role("button", name="I lose 1, they lose 1").click()
    dice = 1 if how == "entered" else 3
    expect(page).to_have_url(re.compile(rf"x=0a0-1-\d-\d-{dice}\b"))
    page.reload()
    expect(page.locator("#steps")).to_contain_text("you lose", timeout=SLOWEST)
    log = downloaded(page, "Download the log")
    (battle,) = json.loads(log)["battles"]
    assert battle["dice"] == dice
    step = iacta.review(log).steps[0]
    assert (step.dice, step.is_assumed) == (dice, False)
    assert step.spread is not None


def test_the_choice_of_dice_is_charged(visit: Visit) -> None:
    record = json.loads((EXAMPLES / "break-off.json").read_text(encoding="utf-8"))
    fragment = "p=red&p=blue&h=a7.a8.b2.b3&g=all&t=2.3&go=1&i=1&x=0a0-2-6-1"
    for dice, cost in (("", "0.5"), ("-3", "0.5"), ("-2", "0.7")):
        page = visit(link(record["board"], fragment + dice))
        step = page.locator("#steps button[aria-current]")
        expect(step).to_contain_text(f"choice -{cost}", timeout=SLOWEST)


def test_new_armies_are_placed_as_is_best_or_by_hand(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&f=3&go=1")
    best = page.get_by_role("button", name="Best: 3 on A")
    expect(best).to_be_visible(timeout=SLOWEST)
    for _ in range(3):
        spot(page, "A").click()
    expect(page.locator("#placing-said")).to_have_text(
        "No new armies are left: place these, or clear them."
    )
    page.get_by_role("button", name="Clear", exact=True).click()
    best.click()
    says(page, "A", "red, 12")
    page.get_by_label("New armies from traded cards").fill("4")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("button", name="Best: 4 on A")).to_be_visible(timeout=SLOWEST)
    spot(page, "A").click()
    expect(page.locator("#placing-said")).to_contain_text("3 of 4")


def test_a_turn_ends_with_a_move_and_the_next_player(visit: Visit) -> None:
    both = {**TINY, "territories": {"A": ["B"], "B": ["A", "C", "D"], "C": ["B"], "D": ["B"]}}
    page = visit(link(both, "p=red&p=blue&h=a9.a1.b2.b1&g=continent&t=0&go=1"))
    page.route(re.compile("threats"), late)
    page.get_by_role("button", name="Attack no more").click()
    expect(page.locator("#fortify-said")).to_be_visible()
    spot(page, "A").click()
    spot(page, "B").click()
    expect(page.get_by_label("Armies to move")).to_have_value("8")
    page.get_by_label("Armies to move").fill("5")
    expect(page.get_by_role("button", name="Best: ")).to_be_visible(timeout=SLOWEST)
    expect(page.get_by_label("Armies to move")).to_have_value("5")
    expect(page.get_by_label("Armies to move")).to_be_focused()
    page.get_by_role("button", name="Move", exact=True).click()
    says(page, "B", "red, 6")
    expect(page.locator("#report")).to_contain_text("red's turn is over.")
    page.get_by_role("button", name="Next player").click()
    expect(page.locator("#turn")).to_have_text("blue moves")
    page.locator("#goals button").first.click()
    expect(page.locator("#placing-said")).to_contain_text("5 of 5 new armies")


def test_what_is_entered_wrong_is_refused_where_it_can_be_seen(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1", viewport={"width": 360, "height": 740}, has_touch=True)
    attack(page, "A", "B")
    expect(page.locator("#battle")).to_be_in_viewport()
    page.get_by_text("Enter the dice").click()
    page.locator("#faces").get_by_role("button", name="Enter").click()
    expect(page.locator("#wrong")).to_have_text("missing the attacker's dice")
    expect(page.locator("#wrong")).to_be_in_viewport()
    spot(page, "D").dispatch_event("click")
    expect(page.locator("#attack-help")).to_have_text("You have no armies that can attack D.")


def test_the_link_is_that_of_the_page_however_fast_it_changes(visit: Visit) -> None:
    page = visit(TINY_LINK, permissions=["clipboard-read", "clipboard-write"])
    spot(page, "A").focus()
    page.keyboard.type("+" * 150)
    says(page, "A", "red, 159")
    page.get_by_text("Share it").click()
    page.get_by_role("button", name="Copy the link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    says(visit(copied.partition("/map")[1] + copied.partition("/map")[2]), "A", "red, 159")


def test_players_move_in_their_order(visit: Visit) -> None:
    order = "p=red&p=blue&p=green&h=a3.c2.b2.b1&g=all&t=2&go=1"
    page = visit(link(TINY, order))
    page.get_by_role("button", name="Attack no more").click()
    page.get_by_role("button", name="Next player").click()
    expect(page.locator("#turn")).to_have_text("blue moves")


def test_a_step_that_cannot_be_is_refused(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    attack(page, "A", "B")
    fought(page, 10, 0)
    sentence = "armies left on A must be a whole number from 1 to 9, got 10"
    expect(page.locator("#wrong")).to_have_text(sentence)
    # C cannot be attacked from A.
    page = visit(f"{TINY_LINK}&go=1&x=0a0-2-8-0.1m7&i=2")
    expect(page.locator("#steps")).to_contain_text("A cannot attack C: no border leads there")
    page.get_by_role("button", name="Start").click()
    value(page, plan_of_tiny().counted)


def test_a_comment_is_in_the_link(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1&x=0a0-1-8-0&i=1")
    page.once("dialog", lambda dialog: dialog.accept("too & risky"))
    page.get_by_role("button", name="Comment").click()
    expect(page.locator("#steps .note")).to_have_text("too & risky")
    page.reload()
    expect(page.locator("#steps .note")).to_have_text("too & risky")


def test_a_search_is_stopped_with_what_it_has_found(visit: Visit) -> None:
    page = visit("/map")
    page.get_by_role("button", name="Set up").click()
    page.get_by_label("Start from").select_option(label="Eliminate blue with four stacks")
    says(page, "Brazil", "red, 22")
    page.get_by_role("button", name="Analyse", exact=True).click()
    expect(page.locator("#moves li")).to_have_count(3, timeout=SLOWEST)
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Search longer")).to_be_visible(timeout=SLOWEST)
    expect(page.locator("#figure")).not_to_be_empty()
    expect(page.locator("#moves li")).to_have_count(3)


def test_an_answer_is_kept_unless_another_is_surely_as_good(visit: Visit) -> None:
    script = """async () => {
      const {better} = await import("/static/map_analysis.js");
      const answer = (value, low, bound) => ({value, low, bound, is_proven: false});
      const kept = [
        better(answer(.8, .8, .9), answer(.7, .7, .85), false),
        better(answer(1, 0, 1), answer(.78, .76, .9), false),
        better(answer(.8, .8, .9), answer(.7, .7, .85), true),
        better({...answer(.8, .8, .9), placement: [[1, 5]]}, answer(.7, .7, .85), false),
      ];
      return kept.map(({value, bound}) => [value, bound]);
    }"""
    assert visit("/about").evaluate(script) == [
        [0.8, 0.85],
        [0.78, 0.9],
        [0.7, 0.85],
        [0.8, 0.9],  # another placement has another bound
    ]


def test_a_turn_is_played_by_keyboard_alone(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    value(page, plan_of_tiny().counted)
    spot(page, "A").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#battle-name")).to_have_text("A to B")
    page.get_by_role("button", name="Roll to the end").press("Enter")
    expect(page.locator("#steps li")).to_have_count(2)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#steps button[aria-current]")).to_contain_text("Start")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#steps button[aria-current]")).to_contain_text("A to B")


def test_a_whole_board_is_painted_with_few_taps(visit: Visit) -> None:
    size = {"width": 360, "height": 740}
    page = visit("/map", viewport=size, has_touch=True, is_mobile=True)
    says(page, "Ukraine", "red, 42")
    page.get_by_role("button", name="Set up").tap()
    page.get_by_role("button", name="Clear", exact=True).tap()
    wanted = {
        name: (("red", "blue", "green")[t % 3], 1 + t * 7 % 4 + 20 * (t == 9))
        for t, name in enumerate(classic_board().territories)
    }
    taps = 2
    for player in ("red", "blue", "green"):
        page.locator("#owners").get_by_role("button", name=player).tap()
        taps += 1
        for name, (owner, armies) in wanted.items():
            if owner != player:
                continue
            if armies < 10:
                for _ in range(armies):
                    spot(page, name).tap()
                taps += armies
                continue
            spot(page, name).dispatch_event("pointerdown", {"isPrimary": True, "button": 0})
            for digit in str(armies):
                page.locator("#pad").get_by_role("button", name=digit, exact=True).tap()
            taps += 1 + len(str(armies))
    for name, (owner, armies) in wanted.items():
        expect(spot(page, name)).to_have_attribute(
            "aria-label", re.compile(f"^{name}, {owner}, {armies} {counted(armies)}(, goal)?$")
        )
    assert taps <= 115  # 107 armies


def test_a_turn_on_a_phone_scrolls_no_page(visit: Visit) -> None:
    size = {"width": 390, "height": 844}
    names = classic_board().territories
    held = ".".join("a60" if name == "Central America" else "-" for name in names)
    page = visit(f"/map#p=red&p=blue&h={held}", viewport=size, has_touch=True, is_mobile=True)
    page.evaluate("window.scrolls = 0; addEventListener('scroll', () => { window.scrolls += 1; })")
    route = [
        *("Central America", "Venezuela", "Peru", "Argentina", "Brazil"),
        *("North Africa", "Egypt", "East Africa", "Congo", "South Africa", "Madagascar"),
    ]

    pans = []

    def take(territories: list[str]) -> None:
        """Take territories with all armies, each from the one before it."""
        for to in territories:
            if not page.evaluate(SEEN, [to]):
                pans.append(to)
            spot(page, to).tap()
            expect(page.locator("#battle-name")).to_contain_text(f"to {to}")
            page.get_by_role("button", name="Roll to the end").tap()
            slider = page.locator("#advance")
            slider.fill(slider.get_attribute("max") or "")
            page.get_by_role("button", name="Move in", exact=True).tap()
            expect(page.locator("#advance")).to_have_count(0)

    page.locator("#rest-armies").fill("1")
    page.get_by_role("button", name="Fill", exact=True).tap()
    page.get_by_role("button", name="Analyse", exact=True).tap()
    page.locator("#goals").get_by_role("button", name="Take South America").tap()
    expect(page.locator("#moves button").first).to_be_in_viewport(timeout=SLOWEST)
    take(route[1:5])
    expect(page.locator("#report")).to_have_text("The goal is reached.")
    page.get_by_role("button", name="Goal: Take South America").tap()
    page.get_by_label("Goal", exact=True).select_option(label="Take Africa (3)")
    page.get_by_role("button", name="Goal: Take Africa").tap()
    take(route[5:])
    page.get_by_role("button", name="Threats: what can they do to me?").tap()
    expect(page.locator("#now table")).to_contain_text("break red's", timeout=SLOWEST)
    page.get_by_role("button", name="Threats: what can they do to me?").tap()
    page.get_by_role("button", name="Attack no more").tap()
    page.get_by_role("button", name="Move no armies").tap()
    expect(page.locator("#report")).to_contain_text("In this turn: dice ")
    game = re.compile("^Games won if everybody plays like iacta's player: red .*, blue ")
    expect(page.locator("#game")).to_have_attribute("aria-label", game, timeout=SLOWEST)
    shares = r" +red \d+%, +blue \d+%"
    said = rf"{CONDITION}:{shares} \(like its simple player:{shares}\)"
    expect(page.locator("#game-said")).to_have_text(re.compile(f"^Game, {said}$"))
    for shown in ("#game-said", "#now button:text('Review')", "#now button:text('Copy the link')"):
        expect(page.locator(shown)).to_be_in_viewport()
    expect(page.locator("#curve")).to_contain_text(
        re.compile(rf"dashed: of the game, {CONDITION} \(like its simple player:{shares}\)\.")
    )
    page.get_by_role("button", name="Next player").tap()
    expect(page.get_by_role("button", name="Goal: Choose a goal")).to_be_visible()
    words = f"Chances to win the game hold {CONDITION}."
    expect(page.locator("#now")).to_contain_text(words, timeout=SLOWEST)
    page.locator("#goals button").nth(1).tap()
    expect(page.locator("#placing-said")).to_be_in_viewport()
    assert page.evaluate("window.scrolls") == 0
    assert pans == []


def test_the_code_is_a_picture_to_scan(visit: Visit) -> None:
    page = visit("/map")
    page.get_by_role("button", name="Set up").click()
    page.get_by_text("Share it").click()
    expect(page.locator("#qr")).to_be_visible()
    expect(page.locator("#qr")).to_have_js_property("complete", value=True)
    assert page.locator("#qr").evaluate("image => image.naturalWidth") > 100


ROW = [f"T{n}" for n in range(12)]
FAR = {
    "name": "far",
    "territories": {a: [b] for a, b in pairwise(ROW)} | {"T11": []},
    "places": {name: [80 * n, 200 * (n % 2)] for n, name in enumerate(ROW)},
}


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_map_follows_the_goal_and_the_first_attack(visit: Visit, motion: str) -> None:
    held = "a9.b9.b1x7.a8.b1.b2"  # the largest stack, which is shown first, is far away
    fragment = f"p=red&p=blue&h={held}&g=all&t=10&s=0&go=1"
    size = {"width": 390, "height": 844}
    page = visit(link(FAR, fragment), viewport=size, has_touch=True, reduced_motion=motion)
    value(page, best_plan(position_of_far(), TakeAll("T10"), stay=["T0"]).counted)
    expect(page.locator("#map .head")).to_have_class("head next")
    assert page.locator("#map .step-number").all_text_contents() == ["1"]
    page.wait_for_function(SEEN, arg=["T9", "T10"])
    assert page.evaluate("scrollY") == 0


def position_of_far() -> Position:
    armies = [9, 9, *[1] * 7, 8, 1, 2]
    territories = {
        name: {"owner": "red" if n in (0, 9) else "blue", "armies": armies[n]}
        for n, name in enumerate(ROW)
    }
    return read_position({"board": FAR, "player": "red", "territories": territories})


def test_a_projector_shows_the_map_and_the_sentence(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1", viewport={"width": 1920, "height": 1080})
    value(page, plan_of_tiny().counted)
    before = page.locator(".badge").first.bounding_box()
    page.get_by_role("button", name="Project").click()
    expect(page.locator(".map-side")).to_be_hidden()
    page.wait_for_function("() => map.getBoundingClientRect().height > .7 * innerHeight")
    assert page.evaluate("view.getBoundingClientRect().width > .95 * innerWidth")
    after = page.locator(".badge").first.bounding_box()
    assert before
    assert after
    assert after["width"] > 1.2 * before["width"]
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    expect(page.locator("#report")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".map-side")).to_be_visible()


def test_map_sentence_and_main_line_are_printed_on_one_page(visit: Visit) -> None:
    page = visit("/map", viewport={"width": 1280, "height": 800})
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for shown in ("h1", "#map", "#bar", "#game-said", "#report", "#moves", "#plan-tables h3"):
        expect(page.locator(shown).first).to_be_visible()
    for hidden in ("#setup", "#nav", "#cards", "#command", "#sharing", ".menu"):
        expect(page.locator(hidden)).to_be_hidden()


def test_positions_that_were_analysed_are_kept_in_the_browser(visit: Visit) -> None:
    page = visit(TINY_LINK)
    play(page)
    page.get_by_role("button", name="Set up").click()
    page.get_by_label("Start from").select_option(label="Red\u2019s 42 armies want Asia")
    expect(spot(page, "Ukraine")).to_be_visible()
    page.get_by_label("Start from").select_option(label="Recent: red, 9 armies, on tiny")
    says(page, "A", "red, 9")


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
    page = visit(f"{TINY_LINK}&go=1")
    page.get_by_role("button", name="Goal: Take East").click()
    page.get_by_label("Goal", exact=True).select_option("any")
    pick = page.get_by_role("button", name="Choose on the map")
    expect(pick).to_have_attribute("aria-pressed", "true")
    spot(page, "D").click()
    says(page, "D", "blue, 1, goal")
    page.keyboard.press("ArrowLeft")
    says(page, "B", "blue, 1")
    page.keyboard.press("Enter")
    says(page, "B", "blue, 1, goal")
    page.get_by_role("button", name="Set up").click()
    page.get_by_label("Rules").select_option("capital")
    page.reload()
    says(page, "D", "blue, 1, goal")
    assert page.get_by_label("Rules").input_value() == "capital"
    play(page)
    page.go_back()
    expect(page.locator("#play")).to_be_hidden()
    page.go_forward()
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)


def test_a_plan_is_copied_as_python_and_as_a_command(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1", permissions=["clipboard-read", "clipboard-write"])
    value(page, plan_of_tiny().counted)
    page.locator("#whole summary").click()
    page.get_by_role("button", name="Copy as Python").click()
    text = page.evaluate("navigator.clipboard.readText()")
    assert eval(text, {"iacta": iacta}).plan.value == plan_of_tiny().value  # noqa: S307 # our own text
    page.get_by_role("button", name="Copy as command").click()
    command = page.evaluate("navigator.clipboard.readText()").split(" <<")[0]
    assert command == "iacta plan - --take East"


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
    page.get_by_role("button", name="Set up").click()
    page.get_by_text("Deal, open or paste").click()
    page.fill("#pasted", json.dumps(position))
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#board-name")).to_have_text("<h1>board</h1>")
    page.get_by_text("All territories as a table").click()
    page.get_by_label("Armies on __proto__").fill("3")
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.get_by_label("Goal", exact=True).select_option("Eliminate __proto__")
    expect(page.locator("#report")).to_contain_text("eliminate __proto__", timeout=SLOWEST)
    page.get_by_role("button", name="Goal: Eliminate __proto__").click()
    page.locator("#moves button").first.click()
    expect(page.locator("#battle-name")).to_contain_text(names[0])
    shown = "main img:not(#qr), main b:not(#names b), main i, main u, main h1"
    assert page.locator(shown).count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_in_the_way_of_anybody(visit: Visit, width: int, scheme: str) -> None:
    # Dark or light, nothing but the colours differs.
    rules = ["color-contrast"] if scheme == "dark" else []
    page = visit(TINY_LINK, viewport={"width": width, "height": 800}, color_scheme=scheme)
    spot(page, "B").click()
    for summary in page.locator("#setup summary").all():
        summary.click()
    page.get_by_text("All territories as a table").click()
    assert barriers(page, *rules) == []
    page = visit(
        f"{TINY_LINK}&go=1&x=0a0-1-8-0&i=1",
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
    )
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    assert barriers(page, *rules) == []
    page.get_by_role("button", name="Move in", exact=True).click()
    expect(page.locator("#moves li")).not_to_have_count(0)
    page.locator("#moves button").first.click()
    page.locator("#whole summary").click()
    assert barriers(page, *rules) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [360, 1280])
def test_every_territory_is_named_and_no_label_is_on_another(visit: Visit, width: int) -> None:
    page = visit("/map", viewport={"width": width, "height": 800})
    says(page, "Ukraine", "red, 42")
    # All at once, as a better plan has other labels.
    labels, keys = page.evaluate(
        "() => [[...map.querySelectorAll('.name, .badge')].map(each => {"
        " const box = each.getBoundingClientRect();"
        " return [each.textContent, box.left, box.top, box.right, box.bottom] }),"
        " [...names.children].map(each => each.innerText)]"
    )
    texts = " ".join(each[0] for each in labels)
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


def test_land_and_badge_have_the_colour_of_the_owner(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    expect(page.locator("#figure")).not_to_be_empty(timeout=SLOWEST)
    fills = "all => all.map(each => getComputedStyle(each).fill)"
    tones = page.eval_on_selector_all(".badge", fills)
    assert page.eval_on_selector_all(".land", fills) == tones


# Boards, positions and turns as the server reads them.


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


READERS: dict[str, Any] = {
    each.__name__: each for each in (board_read, position_read, replay_turns, step_turn)
}


@pytest.mark.parametrize(*table(__file__, "unreadable"))
def test_what_cannot_be_read_is_refused_in_a_sentence(
    function: str, is_of_the_turn: bool, asked: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(IactaError) as refused:
        READERS[function]({"code": TURN, "board": TINY} | asked if is_of_the_turn else asked)
    assert str(refused.value).startswith(sentence)


def test_dice_that_a_server_rolls_are_those_of_its_seed() -> None:
    asked = taking(do="roll", seed=3, **{"from": 0, "to": 1})
    assert step_turn(asked) == step_turn(asked)
    once = step_turn(taking(do="roll", seed=3, once=True, **{"from": 0, "to": 1}))
    assert "in 1 roll" in once["words"]


def test_steps_are_those_of_the_game() -> None:
    turn = iacta.Turn(read_position(POSITION))
    after = turn.fought("A", "B", 8, 0).after(iacta.game.Advance(5))
    steps = [
        {"after": 0, "do": "attack", "from": 0, "to": 1, "left": 8, "their_left": 0},
        {"after": 1, "do": "advance", "armies": 5},
        {"after": 2, "do": "attack", "from": 1, "to": 2, "left": 5, "their_left": 1},
        {"after": 2, "do": "get", "armies": 2},
        {"after": 4, "do": "place", "on": [[0, 1], [1, 1]]},
        {"after": 0, "do": "advance", "armies": 5},
        {"after": 6, "do": "stop"},
    ]
    turns = replay_turns({"code": turn.to_code(), "board": TINY, "steps": steps})["turns"]
    assert turns[0]["armies"] == [9, 1, 2, 1]
    assert turns[1]["advance"] == {"from": 0, "to": 1, "least": 3, "most": 7}
    assert turns[2]["code"] == after.to_code()
    assert turns[2]["odds"][0]["chance"] == after.odds()[0].win_probability
    assert turns[3]["code"] == after.fought("B", "C", 5, 1).to_code()
    assert turns[5]["armies"] == [4, 6, 2, 1]
    assert "no territory has just been taken" in turns[6]["problem"]
    assert turns[7]["problem"] == "the step before it is not possible"


def test_an_analysis_compares_attacks_and_advances_as_the_best_play_does() -> None:
    turn = iacta.Turn(read_position(POSITION))
    best = plan_of_tiny()
    found = ask("plan", position=turn, take="East").record()
    assert found["value"] == found["upper_bound"] == best.value
    assert [each["loss"] for each in found["moves"]] == [0.0]
    after = turn.fought("A", "B", 8, 0)
    found = ask("plan", position=after, take="East").record()
    for armies, value in found["move_in"]["values"]:
        there = after.after(iacta.game.Advance(armies)).position
        assert value == pytest.approx(best_plan(there, TakeAll("East")).value)
    assert found["move_in"]["best"] == 7


def test_chances_of_attacks_are_those_to_take_where_all_is_to_be_held() -> None:
    asked: dict[str, Any] = {"position": TURN, "board": TINY, "take": "East", "time_limit": 2}
    free, held = (ask("plan", **asked, hold=hold).record() for hold in (False, True))
    assert [each["figure"] for each in held["moves"]] == [each["figure"] for each in free["moves"]]
    assert "and hold it until your next turn" in held["sentences"][0]
    assert "stop" not in held


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
    page.get_by_text("Share it").click()
    page.get_by_role("button", name="Copy the code").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    code = page.evaluate("navigator.clipboard.readText()")
    assert code == TURN
    page.get_by_text("Deal, open or paste").click()
    turned = code.replace("C:blue:2", "C:red:7").replace(";attack", ";place;place=4;keep=C:3")
    page.fill("#pasted", turned)
    page.get_by_role("button", name="Use it").click()
    says(page, "C", "red, 7, keep 3")


def test_a_link_that_cannot_be_read_says_so_and_shows_no_position(visit: Visit) -> None:
    position = "Cannot read the position in the address"
    for broken, sentence in (
        ("p=red&h=a1&g=all&go=1&x=0a0-1-8-0&i=1", position),
        ("%%%", position),
        ("x=1&s=broken", position),
        ("b=zzz&p=red&h=a1", "Cannot read the board in the address"),
    ):
        page = visit(f"/map#{broken}")
        expect(page.get_by_text(sentence)).to_be_visible()
        says(page, "Alaska", "nobody")
        assert page.locator(".badge.empty").count() == 42
    # The second link is cut after its first step, which is shown.
    for steps, armies in (("x=0q1&i=7", 9), ("i=2&x=0a0-1-8-0", 5)):
        page = visit(f"{TINY_LINK}&go=1&{steps}")
        expect(page.get_by_text(position)).to_be_visible()
        says(page, "A", f"red, {armies}")
