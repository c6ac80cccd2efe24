"""Takes screenshots of the board page for the docs: `python -m tools.docs.photograph`.

This needs Chromium, like the tests of the web pages, and pngquant, which makes the files small.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

from playwright.sync_api import Page, sync_playwright

from iacta import classic_board, deal

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
LAPTOP = {"width": 1280, "height": 800}
PLAYERS = ["red", "blue", "green"]
SEED = 11  # of the game on the pictures of a turn
WHOLE_SEED = 27  # of the game on the picture of an end
MAX_SHOWN = 40  # steps of computers
MAX_TURNS = 100  # of a whole game
SETTLED = 500  # milliseconds until a step is drawn
TIMEOUT = 120_000  # milliseconds; the server may have to compile first
SAME_DICE = "crypto.getRandomValues = (array) => array.fill(3)"


def photograph(address: str) -> None:
    """Save screenshots of the map with a plan for Asia, and of a game.

    The pictures of games show a computer's turn, the dice of the player, and the end.

    address: the URL of a running server.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for scheme, ending in (("light", ""), ("dark", "-dark")):
            page = browser.new_page(
                viewport=LAPTOP,  # type: ignore[arg-type] # a dict
                color_scheme=scheme,  # type: ignore[arg-type] # a valid literal
            )
            page.goto(f"{address}/map")
            page.get_by_text("no plan is better").wait_for(timeout=TIMEOUT)
            page.get_by_text("of games (±").wait_for(timeout=TIMEOUT)
            _save_picture(page, f"map{ending}.png")
        games = {
            "game": (write_game(), _watch_conquest),
            "dice": (write_game(mover="red", fresh=0), _roll_dice),
            "end": (_play_whole_game(address), _wait_for_review),
        }
        for name, (link, prepare) in games.items():
            page = browser.new_page(viewport=LAPTOP)  # type: ignore[arg-type] # a dict
            page.add_init_script(SAME_DICE)
            page.goto(f"{address}/{link}")
            prepare(page)
            _save_picture(page, f"{name}.png")
        browser.close()


def _save_picture(page: Page, name: str) -> None:
    file = PICTURES / name
    page.screenshot(path=file)
    shrink = ["pngquant", "--force", "--quality", "90-100", "--output", str(file), str(file)]
    subprocess.run(shrink, check=True)  # noqa: S603 # our own command


def write_game(seed: int = SEED, mover: str = "blue", fresh: int = 4) -> str:
    """Return the address of a game of a person, red, against two computers.

    seed: the seed of the deal.
    mover: the player who begins.
    fresh: the number of new armies.
    """
    turn = deal(classic_board(), PLAYERS, seed=seed)
    letters = dict(zip(PLAYERS, "abc", strict=True))
    rows = zip(turn.owners, turn.armies, strict=True)
    held = ".".join(f"{letters[owner]}{armies}" for owner, armies in rows)
    players = "&".join(f"p={name}" for name in PLAYERS)
    begin = f"m={PLAYERS.index(mover)}&h={held}&f={fresh}"
    return f"map#v=3&{players}&{begin}&c=cards=&y=person.usual.usual&go=1&e=1"


def _watch_conquest(page: Page) -> None:
    """Show the steps of a computer up to an attack with a reason."""
    for _ in range(MAX_SHOWN):
        page.get_by_role("button", name="Next", exact=True).click(timeout=TIMEOUT)
        page.wait_for_timeout(SETTLED)
        if page.locator("#reason").inner_text() and page.locator(".die").count():
            return
    raise RuntimeError("the computer has no attack with a reason")


def _roll_dice(page: Page) -> None:
    """Roll the dice of an attack."""
    for name in ("Ukraine", "Northern Europe"):
        page.locator(f'.spot[aria-label^="{name},"]').click(timeout=TIMEOUT)
    page.get_by_role("button", name="Roll once").click()
    page.locator(".die").first.wait_for()
    page.wait_for_timeout(SETTLED)


def _play_whole_game(address: str) -> str:
    """Let computers play a whole game, and return its address, as if a person had played red."""
    turn = deal(classic_board(), PLAYERS, seed=WHOLE_SEED)
    asked = {"code": turn.to_code(), "board": "classic", "players": PLAYERS}
    player = turn.player
    texts: list[str] = []
    for number in range(MAX_TURNS):
        ai = "usual" if player == "red" else "simple"
        body = json.dumps({**asked, "ai": ai, "seed": number}).encode()
        request = Request(f"{address}/api/v1/turn/play", body, {"Content-Type": "application/json"})  # noqa: S310 # our own server
        with urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310
            turns = json.load(response)["turns"]
        texts += [each["text"] for each in turns]
        asked["code"], player = turns[-1]["code"], turns[-1]["player"]
        if turns[-1]["winner"]:
            steps = ".".join(f"{number}{text}" for number, text in enumerate(texts))
            game = write_game(WHOLE_SEED, turn.player).replace("v=3&", "")  # no check letters
            return f"{game}&x={steps}&i={len(texts)}"
    raise RuntimeError("no computer has won")


def _wait_for_review(page: Page) -> None:
    """Wait until the whole game is judged."""
    page.locator("#wins").wait_for(timeout=TIMEOUT)
    page.get_by_text("Judging the game").wait_for(state="hidden", timeout=TIMEOUT)
    page.wait_for_timeout(SETTLED)


def _main() -> None:
    command = [sys.executable, "-m", "iacta", "serve", "--port", "0"]
    with subprocess.Popen(  # noqa: S603 # our own command
        command, stdout=subprocess.PIPE, text=True
    ) as server:
        line = "" if server.stdout is None else server.stdout.readline()
        try:
            photograph(next(word for word in line.split() if word.startswith("http")).rstrip("/"))
        finally:
            server.terminate()


if __name__ == "__main__":
    _main()
