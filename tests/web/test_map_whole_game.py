"""Whole games that a person plays on the board page, from the deal to the end."""

import re

import pytest
from playwright.sync_api import Page, expect

from iacta.board.files import read_board
from tests.web.board_page import TINY, link, spot
from tests.web.conftest import Visit

# The holdings of a map: the owner and the armies of each territory.
Holdings = dict[str, tuple[str, int]]

BOARD = read_board(TINY)
MOST_STEPS = 300  # no game here has more steps of the person

LABELS = "[...document.querySelectorAll('.spot')].map(each => each.getAttribute('aria-label'))"


def read_map(page: Page) -> Holdings:
    found = [re.match(r"([^,]+), (\w+), (\d+) arm", text) for text in page.evaluate(LABELS)]
    return {each[1]: (each[2], int(each[3])) for each in found if each}


def check_legend(page: Page) -> None:
    """Check that the list of players and the map show the same armies."""
    held = read_map(page).values()
    for line in page.locator("#legend").inner_text().splitlines():
        if said := re.search(r"(\w+) \(.*?\): (\d+) arm\w+, (\d+) territor", line):
            armies = [count for owner, count in held if owner == said[1]]
            assert (sum(armies), len(armies)) == (int(said[2]), int(said[3])), line


def press(page: Page, name: str) -> None:
    """Press a button of the panel, and wait until the address has changed."""
    before = page.evaluate("location.hash")
    button = page.locator("#now").get_by_role("button", name=name, exact=True)
    button.dispatch_event("click")  # the guard against double taps lets it pass
    page.wait_for_function("(before) => location.hash !== before", arg=before)


def place_armies(page: Page) -> None:
    """Place all new armies on the largest stack beside an opponent."""
    held = read_map(page)
    fronts = [name for name, (owner, _) in held.items() if owner == "red" and list_weak(held, name)]
    largest = max(fronts, key=lambda name: held[name][1])
    new = re.match(r"\d+", page.locator("#placing-said").inner_text())
    assert new
    for _ in range(int(new[0])):
        count = read_map(page)[largest][1]
        spot(page, largest).dispatch_event("click")
        expect(spot(page, largest)).to_have_attribute(
            "aria-label", re.compile(rf"^{largest}, red, {count + 1} ")
        )
    press(page, "Confirm")


def list_weak(held: Holdings, name: str) -> list[str]:
    """Return the opponents' territories beside a territory, the weakest first."""
    others = [t for t in BOARD.neighbours(name) if held[t][0] != "red"]
    return sorted(others, key=lambda t: held[t][1])


def attack_or_stop(page: Page) -> None:
    """Attack with a stack of at least four armies that is not the smaller one, or stop."""
    held = read_map(page)
    stacks = sorted((count, name) for name, (owner, count) in held.items() if owner == "red")
    for count, name in reversed(stacks):
        weak = list_weak(held, name)
        if weak and count >= max(held[weak[0]][1], 4):
            spot(page, name).dispatch_event("click")
            spot(page, weak[0]).dispatch_event("click")
            return press(page, "Roll to the end")
    return press(page, "Stop attacking")


def play_step(page: Page) -> None:
    """Take the next step of the game that the page shows."""
    panel = page.locator("#now")
    if panel.get_by_role("button", name=re.compile("^Skip to")).count():
        press(page, panel.get_by_role("button", name=re.compile("^Skip to")).inner_text())
    elif page.locator("#placing-said").count():
        place_armies(page)
    elif panel.get_by_role("button", name="Move in", exact=True).count():
        press(page, "Move in")
    elif panel.get_by_role("button", name="Move no armies", exact=True).count():
        press(page, "Move no armies")
    else:
        attack_or_stop(page)


@pytest.mark.parametrize("size", [(390, 844), (1440, 900)])
def test_a_whole_game_is_played_to_its_end_and_every_step_agrees(
    visit: Visit, size: tuple[int, int]
) -> None:
    viewport = {"width": size[0], "height": size[1]}
    page = visit(link(TINY, "p=red&p=blue&h=a7.b4.b3.b5&y=person.simple&go=1"), viewport=viewport)
    expect(page.locator(".spot")).to_have_count(len(BOARD.territories))
    for _ in range(MOST_STEPS):
        page.wait_for_function("!document.querySelector('#now').matches('[aria-busy=true]')")
        if page.locator("#result").count():
            break
        check_legend(page)
        play_step(page)
    expect(page.locator("#result")).to_have_text(re.compile("has won"))
    check_legend(page)
    page.reload()
    expect(page.locator("#result")).to_have_text(re.compile("has won"))
