"""The board page in a browser: small boards, and gestures for its tests."""

import base64
import json
import re
import zlib
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

import iacta
from iacta.board.position import read_position
from iacta.forms.percentages import percent
from iacta.plan import Plan, TakeAll, best_plan

FILES = Path(__file__).parents[1] / "board" / "files"

EXAMPLES = Path(__file__).parents[2] / "examples"

SLOWEST = 300_000  # milliseconds within which the slowest machine answers

# Four territories, so that plans are found quickly: A attacks B, and from there C and D. Searches
# still get enough time, because a process may have to load much for its first plan.
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
    """Return the URL of the board page with a custom board."""
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(json.dumps(board).encode()) + packer.flush()
    code = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    return f"/map#b={code}&{fragment}"


TINY_LINK = link(TINY, "p=red&p=blue&h=a9.b1.b2.b1&g=continent&t=0")

TURN = iacta.Turn(read_position(POSITION)).to_code()


def reopen(page: Page, path: str) -> None:
    """Load a path of the board page in the same window, even if only the fragment differs."""
    site = page.url.partition("/map")[0]
    page.goto("about:blank")
    page.goto(site + path)


def plan_of_tiny() -> Plan:
    return best_plan(read_position(POSITION), TakeAll("East"))


def chance_in(**held: tuple[str, int]) -> float:
    territories = {name: {"owner": owner, "armies": n} for name, (owner, n) in held.items()}
    position = read_position({**POSITION, "territories": HELD | territories})
    return best_plan(position, TakeAll("East")).comparable_value


def counted(armies: int) -> str:
    return "army" if armies == 1 else "armies"


def spot(page: Page, name: str) -> Any:
    return page.locator(f'.spot[aria-label^="{name},"]')


def says(page: Page, name: str, words: str) -> None:
    """Check the accessible name of a territory, given without the word "armies"."""
    words = re.sub(r", (\d+)", lambda found: f"{found[0]} {counted(int(found[1]))}", words, count=1)
    label = re.compile(rf"^{re.escape(f'{name}, {words}')}(, ([<>] )?\d+% to own it at the end)?$")
    expect(spot(page, name)).to_have_attribute("aria-label", label)


# Whether territories are in the visible part of the map.
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


def open_more(page: Page) -> None:
    """Show the controls behind *More*."""
    if page.locator("#to-extra").get_attribute("aria-expanded") == "false":
        page.get_by_role("button", name="More", exact=True).click()


def downloaded(page: Page, button: str) -> str:
    """Return the content of the file that a button behind *More* saves."""
    open_more(page)
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_text(encoding="utf-8")


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
    """Enter the result of the selected battle."""
    page.locator("#dice").evaluate("each => { each.open = true }")
    page.fill("#left", str(left))
    page.fill("#theirs", str(theirs))
    page.locator("#fought").get_by_role("button", name="Enter").click()
