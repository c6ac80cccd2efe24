"""The board page shows the numbers of the API, after each step and after a reload."""

from collections.abc import Sequence
from typing import Any

from playwright.sync_api import Page, expect

import iacta
from iacta.board.position import read_position
from tests.coherence.checks import find_entry
from tests.coherence.play import analyse, ask_about
from tests.web.board_page import POSITION, SLOWEST, TINY_LINK, attack, spot
from tests.web.conftest import Visit

GOAL = {"take": "East"}
LEVEL = "usual"
START = iacta.Turn(read_position(POSITION))
BATTLE = {"do": "attack", "from": "A", "to": "B", "dice": 3}
STEPS: list[dict[str, Any]] = [
    {**BATTLE, "left": 8, "their_left": 1, "after": 0},
    {**BATTLE, "left": 8, "their_left": 0, "after": 1},
    {"do": "advance", "armies": 7, "after": 2},
]


def check_numbers(page: Page, turn: iacta.Turn, steps: Sequence[dict[str, Any]]) -> None:
    """Check that the headline, the list of goals and the steps show the numbers of the API."""
    values = ask_about("steps", START, steps=steps, level=LEVEL, **GOAL)["values"]
    entry = find_entry(analyse(turn, LEVEL, goals=[{**GOAL, "price": values[0]["price"]}]), GOAL)
    assert entry is not None
    assert entry["figure"] == values[-1]["figure"]
    figure, rows = page.locator("#figure"), page.locator("#steps li")
    expect(figure).to_have_text(entry["figure"], timeout=SLOWEST)
    expect(rows).to_have_count(len(values) if steps else 0)
    for row, value in zip(rows.all(), values, strict=False):
        expect(row).to_contain_text(value["words"], timeout=SLOWEST)
    page.get_by_role("button", name="Goal: Take East").click()
    offer = page.locator("#goals").get_by_role("button", name="Take East")
    expect(offer).to_contain_text(entry["figure"], timeout=SLOWEST)
    page.get_by_role("button", name="Goal: Take East").click()


def test_the_page_shows_the_numbers_of_the_api_after_each_step(visit: Visit) -> None:
    page, turn = visit(f"{TINY_LINK}&go=1"), START
    check_numbers(page, turn, [])
    attack(page, "A", "B")
    page.locator("#rolls").get_by_text("I lose 1, they 0").click()
    turn = turn.apply_battle("A", "B", 8, 1, 3)
    check_numbers(page, turn, STEPS[:1])
    attack(page, "A", "B")
    page.locator("#rolls").get_by_text("I lose 0, they 1").click()
    turn = turn.apply_battle("A", "B", 8, 0, 3)
    check_numbers(page, turn, STEPS[:2])
    page.get_by_role("button", name="Move in", exact=True).click()
    turn = turn.after(iacta.game.Advance(7))
    check_numbers(page, turn, STEPS)
    page.reload()
    expect(spot(page, "B")).to_be_visible()
    check_numbers(page, turn, STEPS)
