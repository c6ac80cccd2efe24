"""The board page in small windows, and what its buttons do after each other."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.web.board_page import SLOWEST, TINY, TINY_LINK, attack, link, open_more, says, spot
from tests.web.conftest import RunScript, Visit, late

BOTH = {**TINY, "territories": {"A": ["B"], "B": ["A", "C", "D"], "C": ["B"], "D": ["B"]}}
# Whether an element lies completely inside the window.
IS_WHOLE = """each => {
  const box = each.getBoundingClientRect();
  const isInside = box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
  return box.width > 0 && box.top >= 0 && isInside;
}"""


def test_small_windows_show_all_controls_of_the_map(visit: Visit) -> None:
    controls = ("#to-setup", "#to-play", "#smaller", "#larger", "header .questions")
    page = visit(TINY_LINK, has_touch=True)
    for width, height in ((844, 390), (720, 450), (320, 568), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        says(page, "A", "red, 9")
        for selector in controls:
            assert page.locator(selector).evaluate(IS_WHOLE), (width, selector)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_every_player_has_a_name_and_a_number_in_the_bar(visit: Visit) -> None:
    players = ["red", "blue", "Maximilian", "yellow"]
    named = "&".join(f"p={name}" for name in players)
    address = link(BOTH, f"{named}&h=a9.b4.c4.d4&g=all&t=1&go=1")
    page = visit(address, plays_games=True, viewport={"width": 390, "height": 844})
    parts = page.locator("#shares .part")
    expect(parts).to_have_count(4, timeout=SLOWEST)
    for part in parts.all():
        name, figure = part.inner_text().split(" ", 1)
        assert name in players
        assert "%" in figure
        assert part.evaluate("each => each.scrollWidth <= each.clientWidth + 1")


def test_a_goal_is_chosen_on_the_map_until_it_is_done(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1")
    page.get_by_role("button", name="Goal: Take East").click()
    page.route(re.compile("labels"), late)  # taps wait until the goal is known
    page.get_by_label("Goal", exact=True).select_option("all.0")
    for name in ("B", "C", "C"):
        spot(page, name).click()
    says(page, "B", "blue, 1, goal")
    expect(page.get_by_role("button", name="Goal: Take B", exact=True)).to_be_visible()
    page.get_by_role("button", name="Done", exact=True).click()
    expect(page.locator("#goal")).to_be_hidden()
    attack(page, "A", "B")
    page.get_by_role("button", name="Goal: Take B").click()
    page.get_by_role("button", name="Choose on the map").click()
    page.get_by_role("button", name="Goal: Take B").click()  # closes the goals
    expect(page.locator("#view")).not_to_have_class(re.compile("picking"))
    spot(page, "C").click()
    says(page, "C", "blue, 2")


def test_undo_takes_back_one_change_after_another(visit: Visit) -> None:
    page = visit(TINY_LINK)
    says(page, "A", "red, 9")
    page.get_by_role("button", name="Clear", exact=True).click()
    for name in ("A", "B"):
        spot(page, name).click()
        says(page, name, "red, 1")
    for name in ("B", "A"):
        page.wait_for_timeout(450)  # a second tap at the same place would be ignored
        page.get_by_role("button", name="Undo", exact=True).click()
        says(page, name, "nobody")
    page.wait_for_timeout(450)
    page.get_by_role("button", name="Undo", exact=True).click()
    says(page, "A", "red, 9")


def test_fill_offers_players_without_territories_and_leaves_their_brush(visit: Visit) -> None:
    page = visit(link(TINY, "p=red&p=blue&p=yellow&h=a9.b1.-.-"))
    expect(page.locator("#rest-player option").first).to_have_text("yellow")
    page.get_by_role("button", name="Fill", exact=True).click()
    says(page, "C", "yellow, 2")
    brush = page.locator("#owners").get_by_role("button", name="yellow")
    expect(brush).to_have_attribute("aria-pressed", "true")


def test_ones_own_placement_is_confirmed_by_the_first_button(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&f=2&go=1")
    first = page.locator("#now .primary")
    expect(first).to_have_text("Best: 2 on A", timeout=SLOWEST)
    for _ in range(2):
        spot(page, "A").click()
    expect(first).to_have_text("Confirm mine")
    first.click()
    says(page, "A", "red, 11")


def test_the_bar_recovers_when_the_server_is_back(visit: Visit) -> None:
    address = link(BOTH, "p=red&p=blue&h=a9.b4.b4.b4&g=all&t=1&go=1")
    page = visit("/about", plays_games=True)
    page.add_init_script(
        """
        const fetchWhole = fetch;
        let lost = 0;
        window.fetch = (address, options) =>
          String(address).endsWith("/win") && !lost++
            ? Promise.reject(new TypeError("no connection"))
            : fetchWhole(address, options);
        """
    )
    page.goto(f"{page.url.removesuffix('/about')}{address}")
    summary = page.locator("#how summary")
    expect(summary).to_contain_text("The server does not respond.", timeout=SLOWEST)
    expect(summary).to_contain_text("Red wins", timeout=SLOWEST)


def test_a_review_shows_the_positions_of_its_log_on_maps(visit: Visit) -> None:
    page = visit(f"{TINY_LINK}&go=1&i=3&x=0a0-1-8-0.1m7.2s")
    open_more(page)
    page.get_by_role("button", name="Review").last.click()
    expect(page.locator("#lead")).to_contain_text("Red was ", timeout=SLOWEST)
    expect(page.locator(".asked.opened #log")).to_be_attached()  # the text is below the answer
    page.get_by_text("Position 1: red moves").click()
    expect(page.get_by_role("img", name="Map of position 1")).to_be_visible(timeout=SLOWEST)
    assert page.evaluate("document.querySelector('#positions img').naturalWidth") > 100
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Open it on the board").first.click()
    says(page, "A", "red, 9")


def find_goals(page: Page) -> list[str]:
    return page.locator("#kind option").all_text_contents()


def test_a_code_keeps_its_order_of_play_and_its_neutral_armies(visit: Visit) -> None:
    holdings = "Peru:red:9,Brazil:blue:3,Argentina:grey:2,Venezuela:green:2"
    code = f"1;classic;blue;{holdings};attack;players=red,blue,green;fortify=adjacent"
    page = visit(f"/map#code={code.replace('=', '%3D')}")
    expect(page.locator("#legend")).to_contain_text("grey (neutral): 2 armies")
    eliminations = [words for words in find_goals(page) if words.startswith("Eliminate")]
    assert eliminations == ["Eliminate red", "Eliminate green"]
    open_more(page)
    page.get_by_text("Share it").click()
    expect(page.locator("#qr")).to_have_attribute("src", re.compile("players%3Dred%2Cblue%2Cgreen"))
    page.get_by_label("Goal", exact=True).select_option("worth.0")
    page.get_by_role("button", name="Goal: Gain the most points").click()
    page.get_by_role("button", name="Stop attacking").click()
    page.get_by_role("button", name="Next player").click()
    expect(page.locator("#turn")).to_have_text("green moves")
    assert "Eliminate blue" in find_goals(page)


READ_BACK = """async ([board, state]) => {
  const { readLink, writeLink } = await import("/static/map_link.js");
  const { makeState } = await import("/static/map_state.js");
  const look = { names: ["red", "blue"], steps: 500 };
  const whole = { ...makeState(board, "", look.names), ...state };
  const { state: read, problem } = readLink(writeLink(whole), board, look);
  return [read.players, read.owners, read.fields, problem];
}"""


def test_links_have_room_for_many_players_and_long_conditions(run_script: RunScript) -> None:
    players = [f"player {k}" for k in range(40)]
    state: dict[str, Any] = {
        "players": players,
        "owners": [0, 25, 26, 39],
        "armies": [1, 2, 3, 4],
        "fields": {"win": f"missions:{'x' * 5000}", "phase": "over"},
    }
    board = {**TINY, "territories": ["A", "B", "C", "D"], "continents": []}
    read = run_script(READ_BACK, [board, state])
    assert read == [players, state["owners"], state["fields"], ""]
