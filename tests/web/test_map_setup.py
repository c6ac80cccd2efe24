"""Setting up a position on the board page: by mouse, touch, keyboard, table and files."""

import json
import re

import pytest
from playwright.sync_api import expect

from iacta.board.built_in import classic_board
from iacta.board.files import read_board
from tests.web.board_page import (
    FILES,
    POSITION,
    TINY,
    TINY_LINK,
    TURN,
    attack,
    counted,
    dropped,
    link,
    open_more,
    play,
    says,
    spot,
)
from tests.web.conftest import Visit, barriers, late


def test_a_first_visit_shows_a_position_with_a_goal(visit: Visit) -> None:
    page = visit("/map")
    says(page, "Ukraine", "red, 42")
    says(page, "Ural", "green, 4, goal")
    assert page.locator("#kind option:checked").inner_text() == "Take Asia (7)"
    assert page.locator(".spot").count() == 42


def test_the_player_to_move_gets_the_first_taps(visit: Visit) -> None:
    page = visit("/map")
    page.get_by_role("button", name="Set up", exact=True).click()
    expect(page.locator("#owners [aria-pressed=true]")).to_contain_text("red")
    spot(page, "Ural").click()
    says(page, "Ural", "red, 1, goal")


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
    page.locator("#owners").get_by_role("button", name="only select").click()
    spot(page, "C").click()
    says(page, "C", "blue, 4, goal")
    page.locator("#owners").get_by_role("button", name="nobody").click()
    spot(page, "C").click()
    says(page, "C", "nobody, goal")


def test_editing_armies_keeps_their_owner(visit: Visit) -> None:
    page = visit(TINY_LINK)
    page.locator("#owners").get_by_role("button", name="only select").click()
    spot(page, "C").click()
    armies = page.get_by_label("Armies on C", exact=True)
    armies.click()
    page.keyboard.type("5")  # replaces the content, which the click selects
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


def test_a_territory_may_be_empty_if_the_rules_have_no_garrison(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&r=%7B%22garrison%22%3A0%7D")
    page.locator("#owners").get_by_role("button", name="only select").click()
    spot(page, "C").click()
    armies = page.get_by_label("Armies on C", exact=True)
    armies.fill("0")
    armies.press("Tab")
    says(page, "C", "blue, 0, goal")
    page.get_by_role("button", name="Analyse", exact=True).click()
    expect(page.locator("#now button").first).to_be_visible()
    says(page, "C", "blue, 0, goal")
    page.reload()
    says(page, "C", "blue, 0, goal")


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


def test_the_table_can_do_everything_without_the_map(visit: Visit) -> None:
    page = visit(TINY_LINK.replace("g=continent&t=0", "g=all&t="))
    page.get_by_text("All territories as a table").click()
    page.get_by_label("Armies on A", exact=True).fill("11")
    page.get_by_label("Owner of B").select_option("red")
    page.get_by_label("Take C").check()
    page.get_by_label("A may not attack").check()
    page.get_by_label("Armies to keep on B").fill("2")
    page.keyboard.press("Tab")
    says(page, "A", "red, 11, may not attack")
    says(page, "B", "red, 1, keep 2")
    says(page, "C", "blue, 2, goal")


def test_quick_ways_fill_a_board(visit: Visit) -> None:
    page = visit(TINY_LINK.replace("a9.b1.b2.b1", "a9.b1.-.-"))
    expect(page.get_by_text("2 territories are empty")).to_be_visible()
    page.locator("#owners").get_by_role("button", name="red").click()
    page.locator("#rest-armies").fill("4")
    page.get_by_role("button", name="Fill", exact=True).click()
    says(page, "B", "blue, 1")
    says(page, "C", "red, 4, goal")
    expect(page.locator("#rest")).to_be_hidden()
    page.get_by_role("button", name="Undo the fill").click()
    says(page, "C", "nobody, goal")
    page.locator("#rest-armies").fill("abc")
    page.get_by_role("button", name="Fill", exact=True).click()
    assert not page.locator("#rest-armies").evaluate("each => each.validity.valid")
    says(page, "C", "nobody, goal")
    page.get_by_text("Deal, open or paste").click()
    page.get_by_label("armies per player").fill("10")
    page.get_by_role("button", name="Deal").click()
    for player in ("red", "blue"):
        expect(page.locator("#legend")).to_contain_text(f"{player}: 10 armies, 2 territories")


def test_files_are_dropped_opened_and_pasted(visit: Visit) -> None:
    page = visit("/map")
    page.get_by_role("button", name="Set up", exact=True).click()
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


def test_a_file_dropped_while_the_page_loads_stays_open(visit: Visit) -> None:
    page = visit("/about")
    page.route(re.compile("examples"), late)
    page.goto(page.url.replace("/about", "/map"))
    dropped(page, (FILES / "own.toml").read_text(), "own.toml")
    name = read_board(FILES / "own.toml").name
    expect(page.locator("#board-name")).to_have_text(name)
    page.wait_for_timeout(700)
    expect(page.locator("#board-name")).to_have_text(name)


def test_a_link_followed_while_the_page_loads_stays_open(visit: Visit) -> None:
    page = visit("/about")
    page.route(re.compile("examples"), late)
    page.goto(page.url.replace("/about", "/map"))
    page.evaluate("fragment => { location.hash = fragment; }", TINY_LINK.partition("#")[2])
    says(page, "C", "blue, 2, goal")
    page.reload()
    says(page, "C", "blue, 2, goal")


@pytest.mark.parametrize("delayed", ["board", "read", "labels", "replay"])
def test_input_before_the_first_answers_is_not_lost(visit: Visit, delayed: str) -> None:
    page = visit("/about")
    refused = list[str]()
    page.on("response", lambda found: refused.append(found.url) if found.status == 422 else None)
    page.route(re.compile(f"/api/v1/.*{delayed}$"), late)
    page.goto(page.url.replace("/about", TINY_LINK))
    spot(page, "A").focus()
    page.keyboard.type("12")
    says(page, "A", "red, 12")
    says(page, "C", "blue, 2, goal")
    page.get_by_role("button", name="Analyse", exact=True).click()
    spot(page, "A").click()
    spot(page, "B").click()
    expect(page.locator("#battle-name")).to_have_text("A to B")
    page.goto(page.url.partition("#")[0] + "#setup")
    page.reload()
    page.get_by_text("Deal, open or paste").click()
    page.fill("#pasted", json.dumps(POSITION))
    page.get_by_role("button", name="Use it").click()
    page.get_by_role("button", name="Analyse", exact=True).click()
    spot(page, "A").click()
    expect(page.locator("#goals")).to_contain_text("Take one card")
    expect(spot(page, "A")).to_have_attribute("aria-pressed", "true")
    assert refused == []


def test_a_map_tap_during_a_step_follows_the_step(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    attack(page, "A", "B")
    page.route("**/turn/step", late)
    page.get_by_text("I lose 1, they 0").click()
    spot(page, "A").click()
    expect(page.locator("#attack-help")).to_be_visible()
    says(page, "A", "red, 8")


def test_a_board_is_painted_with_few_taps(visit: Visit) -> None:
    size = {"width": 360, "height": 740}
    page = visit("/map", viewport=size, has_touch=True, is_mobile=True)
    says(page, "Ukraine", "red, 42")
    page.get_by_role("button", name="Set up", exact=True).tap()
    page.get_by_role("button", name="Clear", exact=True).tap()
    wanted = {
        name: (("red", "blue", "green")[t % 3], 1 + t * 7 % 4 + 20 * (t == 9))
        for t, name in enumerate(classic_board().territories[:20])
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
    assert taps <= 60  # this position has 70 armies


def test_positions_that_were_analysed_are_kept_in_the_browser(visit: Visit) -> None:
    page = visit(TINY_LINK)
    play(page)
    page.get_by_role("button", name="Set up", exact=True).click()
    page.get_by_label("Start from").select_option(label="Take Asia with red\u2019s 42 armies")
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


def test_the_code_is_copied_and_pasted(visit: Visit) -> None:
    page = visit(TINY_LINK, permissions=["clipboard-read", "clipboard-write"])
    open_more(page)
    page.get_by_text("Share it").click()
    page.get_by_role("button", name="Copy the code").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    code = page.evaluate("navigator.clipboard.readText()")
    assert code == TURN
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_text("Deal, open or paste").click()
    turned = code.replace("C:blue:2", "C:red:7").replace(";attack", ";place;place=4;keep=C:3")
    page.fill("#pasted", turned)
    page.get_by_role("button", name="Use it").click()
    says(page, "C", "red, 7, keep 3")


def test_the_way_to_win_of_a_position_is_set_up(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&h=a9.b1.b2.a4"))
    won = page.get_by_label("Won by")
    expect(won).to_have_value("survivor")
    won.select_option("share")
    expect(page.locator("#won-share-said")).to_have_text("70% of the territories")
    page.locator("#won-share").press("ArrowRight")
    expect(page.locator("#won-share")).to_have_value("75")
    won.select_option("capitals")
    expect(page.locator("#won")).to_contain_text("red: A; blue: C")
    expect(page.locator("#map .capital")).to_have_count(2)
    page.get_by_role("button", name="Tap the capitals on the map").click()
    spot(page, "D").click()
    expect(page.locator("#won")).to_contain_text("red: D; blue: C")
    assert barriers(page) == []
    page.reload()
    expect(page.locator("#won")).to_contain_text("red: D; blue: C")
    won.select_option("missions")
    page.get_by_label("Mission of red").fill("East")
    page.get_by_label("Mission of red").press("Tab")
    expect(page.locator("#map .capital")).to_have_count(0)
    page.get_by_role("button", name="Analyse", exact=True).click()
    expect(page.locator("#condition")).to_contain_text("red: East; blue: hidden")
