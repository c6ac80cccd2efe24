"""The board follows the table: corrections, starting over, and quick taps."""

import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Dialog, Page, Route, expect

import iacta
from iacta import IactaError
from iacta.board.built_in import classic_board
from iacta.cli.serve import ServeCommand
from tests.web.board_page import TINY_LINK, attack, downloaded, open_more, says, spot
from tests.web.conftest import Visit

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
BATTLE = f"{TINY_LINK}&go=1&x=0a0-1-8-0.1m7&i=2"  # red has taken B with 7 armies


def test_the_present_position_is_corrected_as_a_step(visit: Visit) -> None:
    page = visit(BATTLE, **PHONE)
    says(page, "B", "red, 7")
    page.get_by_role("button", name="Correct", exact=True).tap()
    spot(page, "B").tap()
    for key in ("5", "OK"):
        page.locator("#pad").get_by_role("button", name=key, exact=True).tap()
    says(page, "B", "red, 5")
    page.get_by_role("button", name="Done").tap()
    expect(page.locator("#steps button[aria-current]")).to_contain_text("Corrected: B 7 → 5")
    page.reload()
    says(page, "B", "red, 5")
    expect(page.locator("#steps button[aria-current] small")).not_to_contain_text("dice")
    page.get_by_role("button", name="Undo", exact=True).tap()
    says(page, "B", "red, 7")
    page.get_by_role("button", name="Correct", exact=True).tap()
    page.locator("#owners").get_by_role("button", name="blue").tap()
    spot(page, "B").tap()
    page.get_by_role("button", name="Analyse", exact=True).tap()
    expect(page.locator("#steps")).to_contain_text("Corrected: B red 7 → blue 7")
    lines = [json.loads(line) for line in downloaded(page, "Download the log").splitlines()]
    assert lines[0]["steps"][-1] == {"do": "correct", "on": [["B", "blue", 7]]}
    found = iacta.review("\n".join(map(json.dumps, lines)))
    assert found.corrections == ("turn 1: B red 7 → blue 7",)


def test_starting_over_asks_first_and_is_undone(visit: Visit) -> None:
    page, asked = visit(BATTLE), list[str]()

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.message)
        (dialog.accept if len(asked) > 1 else dialog.dismiss)()

    page.on("dialog", answer)
    page.get_by_role("button", name="Correct", exact=True).click()
    page.get_by_role("button", name="Start over").click()
    expect(page.get_by_role("button", name="Correct", exact=True)).to_be_visible()
    page.get_by_role("button", name="Start over").click()
    expect(page.get_by_role("button", name="Set up", exact=True)).to_be_visible()
    assert asked == ["Start over? This ends the game with its 2 steps. You can undo it."] * 2
    says(page, "B", "blue, 1")
    spot(page, "B").click()
    says(page, "B", "red, 1")
    page.wait_for_timeout(400)  # a button that has just appeared ignores taps
    page.locator("#restore").click()
    says(page, "B", "blue, 1")
    page.wait_for_timeout(400)
    page.get_by_role("button", name="Undo: continue the game").click()
    expect(page.locator("#steps li")).to_have_count(3)
    says(page, "B", "red, 7")


def tap_at(page: Page, place: tuple[float, float], times: int, pause: int = 0) -> None:
    for _ in range(times):
        page.touchscreen.tap(*place)
        page.wait_for_timeout(pause)


def find_place(page: Page, name: str) -> tuple[float, float]:
    box = page.locator("#rolls").get_by_text(name).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_quick_taps_count_while_their_button_stays_the_same(visit: Visit) -> None:
    board = TINY_LINK.replace("a9.b1", "a20.b6")
    page = visit(f"{board}&go=1", **PHONE)
    page.clock.set_fixed_time(0)  # all taps are quick, also on a slow machine
    attack(page, "A", "B")
    tap_at(page, find_place(page, "I lose 1, they 1"), 9)  # the sixth tap would hit another button
    last = page.locator("#steps button[aria-current]")
    expect(last).to_contain_text("A to B: you lose 1, they lose 1")
    expect(page.locator("#steps li")).to_have_count(6)
    says(page, "B", "blue, 1, attacked")
    expect(page.locator("#luck")).to_have_text("Last dice: unlucky by 0.2 armies.")
    page.clock.set_fixed_time(500)  # a button that has just changed ignores taps
    page.locator("#rolls").get_by_text("I lose 1, they 0").tap()
    expect(page.locator("#steps li")).to_have_count(7)


def test_no_button_moves_when_the_plan_arrives(visit: Visit) -> None:
    plans: list[Route] = []
    page = visit("/about", **PHONE)
    page.route("**/api/v1/analysis", lambda route: plans.append(route))
    board = TINY_LINK.replace("a9.b1", "a20.b6")
    page.goto(f"{page.url.removesuffix('/about')}{board}&go=1")
    attack(page, "A", "B")
    expect(page.locator("#battle-said")).to_have_text("20 against 6: 99.66% to take it.")
    before = find_place(page, "I lose 1, they 1")
    plans.pop().continue_()
    expect(page.locator("#battle-said")).to_contain_text("once it is taken")
    assert find_place(page, "I lose 1, they 1") == before


def test_no_button_moves_when_the_first_dice_are_known(visit: Visit) -> None:
    names = classic_board().territories
    held = ".".join({"North Africa": "a20", "Egypt": "b9"}.get(name, "b1") for name in names)
    page = visit(f"/map#p=red&p=blue&h={held}&go=1&g=continent&t=3", **PHONE)
    attack(page, "North Africa", "Egypt")
    expect(page.locator("#luck")).to_have_text("Last dice: none yet.")
    before = find_place(page, "I lose 2, they 0")
    page.locator("#rolls").get_by_text("I lose 2, they 0").tap()
    expect(page.locator("#luck")).to_contain_text("unlucky by")
    assert find_place(page, "I lose 2, they 0") == before


def test_the_menu_and_the_codes_have_the_present_position(visit: Visit) -> None:
    names = classic_board().territories
    held = ".".join({"Peru": "a9", "Brazil": "b2"}.get(name, "-") for name in names)
    peru, brazil = names.index("Peru"), names.index("Brazil")
    page = visit(f"/board#p=red&p=blue&h={held}&go=1&i=1&x=0a{peru}-{brazil}-8-1-3")
    expect(page).to_have_url(re.compile("/map#"))
    says(page, "Peru", "red, 8")
    open_more(page)
    page.get_by_text("Share it").click()
    code = "1;classic;red;Peru:red:8,Brazil:blue:1;attack"
    expect(page.locator("#qr")).to_have_js_property("complete", value=True)
    assert page.locator("#qr").evaluate("image => image.naturalWidth") > 40
    expect(page.locator("#qr-said")).to_contain_text("iacta serve --host 0.0.0.0")
    expect(page.locator("#qr")).to_have_attribute(
        "src", f"api/v1/qr.svg?{urlencode({'text': code})}"
    )
    page.evaluate("document.querySelector('#page').dataset.url = 'http://192.0.2.7/risk/'")
    for _ in range(2):
        open_more(page)
        page.get_by_text("Share it").click()
    expect(page.locator("#qr-said")).to_have_text("Scan the picture to open this board.")
    link = re.escape(urlencode({"text": "http://192.0.2.7/risk/map#v=3&n=1&"}))
    expect(page.locator("#qr")).to_have_attribute("src", re.compile(link))
    page.get_by_role("button", name="Menu").click()
    page.locator("#menu").get_by_role("link", name="Win").click()
    expect(page).to_have_url(re.compile("/win"))
    assert page.locator("#code").input_value() == code
    expect(page.locator("#code")).to_be_hidden()
    page.get_by_text("Another position").click()
    expect(page.locator("#code")).to_be_visible()


def test_the_url_for_other_devices_is_that_of_the_network_or_given() -> None:
    assert ServeCommand()._make_public_url(80) == ""
    assert ServeCommand(public_url="https://a.org/r")._make_public_url(80) == "https://a.org/r/"
    with pytest.raises(IactaError, match="public_url must be a URL such as"):
        ServeCommand(public_url="a.org")._make_public_url(80)
