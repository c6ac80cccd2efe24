"""Persons in a game on the board page: the phone, resignations, eliminations, long games."""

import re
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.web.board_page import TINY, attack, link, open_more, reopen, spot
from tests.web.conftest import Visit, barriers

PLAYERS = "p=red&p=blue&p=green&h=a9.b9.b2.c9&go=1"


def tap(page: Page, name: str) -> None:
    page.locator("#now").get_by_role("button", name=name, exact=True).click()


def test_persons_pass_the_phone_between_their_turns(visit: Visit) -> None:
    page = visit(link(TINY, f"{PLAYERS}&y=person.person.person"))
    expect(page.locator("#now h3")).to_contain_text("Pass the phone to red")
    assert barriers(page) == []
    spot(page, "A").click()  # nobody plays yet
    expect(page.locator("#passing")).to_be_visible()
    expect(page.get_by_role("button", name="Hint")).to_be_disabled()
    tap(page, "I am red")
    expect(page.locator("#attack-help")).to_be_visible()
    tap(page, "Stop attacking")
    expect(page.locator("#now h3")).to_contain_text("Pass the phone to blue")
    tap(page, "I am blue")
    expect(page.locator("#placing-said")).to_be_visible()


def test_a_single_person_keeps_the_phone(visit: Visit) -> None:
    page = visit(link(TINY, f"{PLAYERS}&y=person.simple.simple"))
    expect(page.locator("#attack-help")).to_be_visible()


def test_a_computer_goes_on_after_a_resignation_which_can_be_taken_back(visit: Visit) -> None:
    page = visit(link(TINY, f"{PLAYERS}&y=person.simple.simple"))
    open_more(page)
    page.get_by_role("button", name="Resign").click()
    expect(page.locator("#now h3")).to_have_text("Resign?")
    tap(page, "Play on")
    expect(page.locator("#attack-help")).to_be_visible()
    open_more(page)
    page.get_by_role("button", name="Resign").click()
    tap(page, "Resign")
    expect(page.locator("#now h3")).to_contain_text("red plays")
    expect(page.locator("#left")).to_have_text("red resigned.")
    assert "&y=resigned0.simple.simple&" in page.url
    tap(page, "Skip to the end")
    expect(page.locator("#result")).to_be_visible()
    page.go_back()
    expect(page.locator("#attack-help")).to_be_visible()
    page.go_forward()
    expect(page.locator("#result")).to_be_visible()


def test_a_resignation_is_taken_back_in_the_turn_of_a_computer(visit: Visit) -> None:
    page = visit(link(TINY, f"{PLAYERS}&y=resigned0.simple.simple"))
    tap(page, "Take back the resignation of red")
    expect(page.locator("#attack-help")).to_be_visible()
    assert "&y=person.simple.simple&" in page.url
    assert "&l=1.0&" in page.url


def test_an_eliminated_person_watches_the_end(visit: Visit) -> None:
    position = "p=red&p=blue&p=green&h=a1.b60.b2.c90&m=1"
    page = visit(link(TINY, f"{position}&y=person.simple.simple&go=1"))
    for _ in range(20):
        tap(page, "Next")
        if page.locator("#left").is_visible():
            break
    expect(page.locator("#left")).to_have_text("red is eliminated.")
    tap(page, "Skip to the end")
    expect(page.locator("#result")).to_be_visible()


def test_computers_alone_play_a_game_to_watch(visit: Visit) -> None:
    page = visit(link(TINY, f"{PLAYERS}&y=simple.simple.simple"))
    expect(page.locator("#now h3")).to_contain_text("red plays")
    open_more(page)
    expect(page.get_by_role("button", name="Resign")).to_be_disabled()
    tap(page, "Skip to the end")
    expect(page.locator("#result")).to_have_text(re.compile("has won"))
    expect(page.locator("#now")).not_to_contain_text("You asked")


def test_a_long_game_offers_to_count_the_territories(visit: Visit) -> None:
    page = visit(link(TINY, f"{PLAYERS}&y=person.simple.simple&l=0.200"))
    expect(page.locator("#offer")).to_have_text("200 rounds are played")
    expect(page.locator("#now")).to_contain_text(
        "blue wins by territories: 2 territories and 11 armies."
    )
    tap(page, "Play on")
    expect(page.locator("#attack-help")).to_be_visible()
    assert "&l=0.200.400&" in page.url
    page.go_back()
    tap(page, "Count the territories")
    expect(page.locator("#result")).to_contain_text("blue wins by territories")
    page.reload()
    expect(page.locator("#result")).to_contain_text("blue wins by territories")


def test_players_who_roll_their_own_dice_enter_them(visit: Visit) -> None:
    page = visit(link(TINY, f"{PLAYERS}&y=person.simple.simple&own=1"))
    attack(page, "A", "B")
    expect(page.get_by_role("button", name="Roll once")).to_be_hidden()
    page.locator("#rolls").get_by_text("I lose 0, they 2").click()
    expect(page.locator("#battle-said")).to_have_text("9 against 7.")


def test_progress_and_capitals_are_shown_and_secrets_are_not(visit: Visit) -> None:
    capitals = "attack;own=B:capital;win=capitals:all,red:A,blue:B"
    page = visit(
        link(TINY, f"v=3&p=red&p=blue&h=a9.b1.b1.b2&c={quote(capitals)}&y=person.simple&go=1&e=1")
    )
    expect(page.locator("#legend")).to_contain_text("1 of 2 capitals")
    expect(page.locator("#legend .bar .now")).to_have_count(2)
    expect(page.locator("#map .capital text")).to_have_text(["2", "3"])
    expect(spot(page, "B")).to_have_attribute(
        "aria-label", "B, blue, 1 army, goal, capital of blue, 3 defence dice"
    )
    expect(page.locator("#map .edge.target")).to_have_count(2)
    missions = "attack;win=missions:,red:secret 3 territories,blue:secret eliminate red"
    fragment = f"v=3&p=red&p=blue&h=a9.b1.b1.b2&c={quote(missions)}&go=1&e=1"
    reopen(page, link(TINY, f"{fragment}&y=person.simple"))
    expect(page.locator("#legend")).to_contain_text("1 of 3 territories")
    expect(page.locator("#legend")).to_contain_text("secret mission")
    expect(page.locator("#legend")).not_to_contain_text("of red left")
    reopen(page, link(TINY, f"{fragment}&y=person.person"))
    expect(page.locator("#passing")).to_be_visible()
    expect(page.locator("#legend")).not_to_contain_text("1 of 3")
    tap(page, "I am red")
    page.get_by_role("button", name="Show my").dispatch_event("click")
    expect(page.locator("#legend")).to_contain_text("1 of 3 territories")
    expect(page.locator("#legend")).not_to_contain_text("of red left")
