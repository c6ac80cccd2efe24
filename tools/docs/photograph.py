"""Takes screenshots of the board page for the docs: `python -m tools.docs.photograph`.

This needs Chromium, like the tests of the web pages.
"""

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from iacta import classic_board, deal

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
SEED = 11  # of the game on the picture
MAX_SHOWN = 40  # steps of computers
SETTLED = 500  # milliseconds until a step is drawn
TIMEOUT = 120_000  # milliseconds; the server may have to compile first


def photograph(address: str) -> None:
    """Save screenshots of the map with a plan for Asia, and of a computer's turn in a new game.

    address: the URL of a running server.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for scheme, ending in (("light", ""), ("dark", "-dark")):
            page = browser.new_page(
                viewport={"width": 1240, "height": 740},
                color_scheme=scheme,  # type: ignore[arg-type] # a valid literal
            )
            page.goto(f"{address}/map")
            page.get_by_text("no plan is better").wait_for(timeout=TIMEOUT)
            page.get_by_text("of games (±").wait_for(timeout=TIMEOUT)
            page.locator("#moves button").first.click(timeout=TIMEOUT)
            page.screenshot(path=PICTURES / f"map{ending}.png")
        page.goto(f"{address}/{write_game()}")
        page.emulate_media(color_scheme="light")
        page.reload()
        _watch_conquest(page)
        page.screenshot(path=PICTURES / "game.png")
        browser.close()


def write_game() -> str:
    """Return the address of a game in which a computer begins."""
    turn = deal(classic_board(), ["red", "blue", "green"], seed=SEED)
    letters = dict(zip(turn.players, "abc", strict=True))
    rows = zip(turn.owners, turn.armies, strict=True)
    held = ".".join(f"{letters[owner]}{armies}" for owner, armies in rows)
    players = "&".join(f"p={name}" for name in turn.players)
    return f"map#v=3&{players}&m=1&h={held}&f=4&c=cards=&y=person.usual.usual&go=1&e=1"


def _watch_conquest(page: Page) -> None:
    """Show the steps of a computer up to an attack with a reason."""
    for _ in range(MAX_SHOWN):
        page.get_by_role("button", name="Next", exact=True).click(timeout=TIMEOUT)
        page.wait_for_timeout(SETTLED)
        if page.locator("#reason").inner_text() and page.locator(".die").count():
            return
    raise RuntimeError("the computer has no attack with a reason")


def _main() -> None:
    command = [sys.executable, "-m", "iacta", "serve", "--port", "0"]
    with subprocess.Popen(  # noqa: S603 # our own command
        command, stdout=subprocess.PIPE, text=True
    ) as server:
        line = "" if server.stdout is None else server.stdout.readline()
        photograph(next(word for word in line.split() if word.startswith("http")).rstrip("/"))
        server.terminate()


if __name__ == "__main__":
    _main()
