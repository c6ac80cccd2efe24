"""The dialog of a new game on the board page."""

import json

from playwright.sync_api import Page, expect

from tests.web.board_page import open_more, spot
from tests.web.conftest import Visit, barriers


def open_dialog(page: Page) -> None:
    open_more(page)
    page.get_by_role("button", name="Set up a game").click()
    expect(page.locator("#new-dialog")).to_be_visible()


def start(page: Page) -> None:
    page.get_by_role("button", name="Start the game").click()


def test_a_game_is_set_up_and_its_wishes_are_remembered(visit: Visit) -> None:
    page = visit("/map")
    open_dialog(page)
    page.get_by_label("Name of player 1").fill("Ann")
    page.get_by_label("Name of player 1").press("Tab")
    page.get_by_label("blue is played by").select_option("strong")
    page.get_by_role("button", name="Add a player").click()
    page.get_by_role("button", name="Remove green").click()
    page.get_by_label("Won by").select_option("share")
    slider = page.locator("#wish-share")
    slider.focus()
    slider.press("End")
    slider.press("ArrowLeft")
    expect(page.locator("#wish-share-said")).to_have_text("95% of the territories")
    page.get_by_label("Dice").select_option("own")
    assert barriers(page) == []
    start(page)
    expect(page.locator("#placing-said")).to_be_visible()
    expect(page.locator("#legend")).to_contain_text("Ann (you): 35 armies, 14 territories")
    expect(page.locator("#legend")).to_contain_text("blue (hard)")
    assert "&own=1&" in page.url
    page.reload()
    open_dialog(page)
    expect(page.get_by_label("Name of player 1")).to_have_value("Ann")
    expect(page.get_by_label("Won by")).to_have_value("share")
    expect(page.locator("#new-wishes .player")).to_have_count(3)


def test_an_edition_is_one_choice_and_brings_its_board(visit: Visit) -> None:
    page = visit("/map")
    open_dialog(page)
    page.locator("#wish-edition").select_option("teg")
    expect(page.locator("#new-wishes")).to_contain_text("TEG (Argentina): 50 territories")
    expect(page.get_by_label("Won by")).to_have_count(0)
    assert barriers(page) == []
    start(page)
    expect(page.locator("#legend")).to_contain_text("red (you): 25 armies, 17 territories")
    page.reload()
    expect(page.locator("#legend")).to_contain_text("red (you): 25 armies, 17 territories")
    open_dialog(page)
    expect(page.locator("#wish-edition")).to_have_value("teg")
    page.locator("#wish-edition").select_option("")
    expect(page.get_by_label("Won by")).to_be_visible()


def test_a_wish_that_ends_the_game_at_the_deal_stays_in_the_dialog(visit: Visit) -> None:
    page = visit("/map")
    open_dialog(page)
    page.get_by_role("button", name="Remove green").click()
    page.get_by_label("Won by").select_option("share")
    slider = page.locator("#wish-share")
    slider.focus()
    slider.press("Home")
    start(page)
    expect(page.locator("#new-wrong")).to_contain_text("already won: they own 21")
    expect(page.locator("#new-dialog")).to_be_visible()


def test_territories_are_picked_on_the_map_and_capitals_chosen(visit: Visit) -> None:
    page = visit("/about")
    draft = {
        **{"players": ["red", "blue"], "seats": ["person", "usual"], "deal": "pick"},
        **{"victory": {"by": "capitals", "choose": True}, "sets": "none"},
        "order": list(range(40)),
    }
    holdings = ".".join(["a1.b1"] * 20 + ["-x2"])
    fragment = f"p=red&p=blue&h={holdings}&y=person.usual&draft={json.dumps(draft)}&e=1"
    page.goto(f"{page.url.removesuffix('/about')}/map#v=3&{fragment}")
    expect(page.locator("#asked")).to_have_text("Red picks 1 more territory: tap one.")
    expect(page.locator("#setup")).to_be_hidden()
    spot(page, "Alaska").click()  # it is not free
    spot(page, "Western Australia").click()
    capital = "Red chooses a capital: tap one of their territories."
    expect(page.locator("#asked")).to_have_text(capital)
    page.reload()
    expect(page.locator("#asked")).to_have_text(capital)
    page.go_back()
    expect(page.locator("#asked")).to_contain_text("picks 1 more")
    page.go_forward()
    expect(page.locator("#asked")).to_have_text(capital)
    spot(page, "Alaska").click()
    expect(page.locator("#placing-said")).to_be_visible()
    expect(page.locator("#legend")).to_contain_text("red (you): 40 armies, 21 territories")
    page.go_back()
    expect(page.locator("#asked")).to_have_text(capital)
    open_more(page)
    page.get_by_role("button", name="New game with the same players").click()
    expect(page.locator("#asked")).to_have_text("Red picks 21 more territories: tap one.")


def test_a_mission_is_chosen_for_a_player_of_a_new_game(visit: Visit) -> None:
    page = visit("/map")
    open_dialog(page)
    page.get_by_label("Won by").select_option("missions")
    expect(page.locator("#wish-missions option")).to_have_count(11)
    assert barriers(page) == []
    page.get_by_label("Mission of red").fill("Atlantis")
    page.get_by_label("Mission of red").press("Tab")
    start(page)
    expect(page.locator("#new-wrong")).to_contain_text("Mission of red must name continents")
    page.get_by_label("Mission of red").fill("Asia, Africa")
    page.get_by_label("Mission of red").press("Tab")
    page.get_by_label("Anyone wins with").fill("30")
    page.get_by_label("Anyone wins with").press("Tab")
    start(page)
    expect(page.locator("#legend")).to_contain_text("in Asia")
    expect(page.locator("#legend")).to_contain_text("secret mission")
    expect(page.locator("#condition")).to_contain_text("or owns 30 territories")
