"""The end of a game on the board page: for all screens, by keyboard, and its fold on a phone."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web.board_page import TINY, link
from tests.web.conftest import Visit, barriers
from tests.web.test_map_game import LOST

END = link(TINY, f"p=red&p=blue&h=a4.b1.b1.b1&y=person.simple{LOST.format(5)}")

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
LAPTOP = {"viewport": {"width": 1440, "height": 900}}
SCREENS: dict[str, dict[str, Any]] = {
    "phone": PHONE,
    "laptop": LAPTOP,
    "projector": {"viewport": {"width": 1920, "height": 1080}},
    "dark": {**LAPTOP, "color_scheme": "dark"},
    "200%": {"viewport": {"width": 720, "height": 450}, "device_scale_factor": 2},
}
MAX_TABS = 100


def open_end(visit: Visit, **options: Any) -> Page:
    """Return the page with the end of a game and its whole review."""
    page = visit(END, **options)
    expect(page.locator("#moments button")).to_have_count(1)
    expect(page.locator("#wins path.win")).to_have_count(2)
    expect(page.locator("#game-review [role=status]")).to_be_hidden()
    return page


@pytest.mark.parametrize("screen", SCREENS)
def test_the_end_of_a_game_has_no_barriers_on_any_screen(visit: Visit, screen: str) -> None:
    page = open_end(visit, **SCREENS[screen])
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.get_by_role("button", name="Rematch")).to_be_in_viewport()


def tab_to(page: Page, words: str) -> None:
    """Press Tab until the focus is on the control that begins with some words."""
    for _ in range(MAX_TABS):
        page.keyboard.press("Tab")
        label = page.evaluate(
            "(document.activeElement.ariaLabel ?? document.activeElement.innerText)"
        )
        if label.startswith(words):
            focused = page.locator(":focus")
            expect(focused).to_be_in_viewport()
            assert focused.evaluate(
                "each => getComputedStyle(each).outlineStyle !== 'none' || each.matches('.spot')"
            )
            return
    raise AssertionError(f"Tab does not reach {words!r}")


def test_the_end_of_a_game_needs_only_the_keyboard(visit: Visit) -> None:
    page = open_end(visit, **LAPTOP)
    tab_to(page, "Round 1: attack B from A rather than stop attacking")
    page.keyboard.press("Enter")
    expect(page.locator("#hinted")).to_contain_text("Better: attack B from A")
    page.go_back()
    expect(page.locator("#result")).to_be_visible()
    with page.expect_download():
        tab_to(page, "Save a picture")
        page.keyboard.press("Enter")
    tab_to(page, "Rematch")
    page.keyboard.press("Enter")
    expect(page.locator("#placing-said")).to_be_visible()
    expect(page.locator("#result")).to_have_count(0)


def test_a_phone_folds_the_steps_of_a_finished_game(visit: Visit) -> None:
    page = open_end(visit, **PHONE)
    steps = page.locator("#steps .step-of")
    shown = steps.filter(visible=True)
    expect(shown).to_have_count(1)
    expect(shown).to_have_attribute("aria-current", "step")
    page.get_by_role("button", name="Steps of the last round").click()
    expect(steps).not_to_have_count(1)
    expect(shown).to_have_count(steps.count())
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.get_by_role("button", name=re.compile("Steps of"))).to_be_hidden()
