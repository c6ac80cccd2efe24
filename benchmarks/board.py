"""Benchmarks of the board in a browser: response to a tap, layout shift, time to analyse a link."""

import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks.measure import Measurement
from iacta import Turn
from iacta.board.position import read_position
from iacta.web.turns import replay_turns, step_turn

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
PHONE = {"width": 390, "height": 844}
MAX_TAP, MAX_SHIFT, MAX_LINK = 0.05, 0.05, 10.0  # seconds, layout shift, seconds
TAPS, ROLLS = 20, 30
SETTLED = 6_000  # milliseconds after which the first search has finished
EXAMPLE = Path(__file__).parents[1] / "examples" / "asia.toml"
TAP = """taps => {
  const spot = document.querySelector('.spot[aria-label^="China"]');
  const begun = performance.now();
  for (let k = 0; k < taps; k++) {
    spot.dispatchEvent(new MouseEvent("click", {bubbles: true}));
    spot.getBoundingClientRect();
  }
  return (performance.now() - begun) / 1000 / taps;
}"""
SHIFT = """window.shift = 0;
new PerformanceObserver(list => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) window.shift += each.value;
}).observe({type: "layout-shift", buffered: true});"""
VALUED = """() => [...document.querySelectorAll("#steps li small")]
  .filter(each => /^[^g]*%/.test(each.textContent)).length"""


def measure_board() -> Iterator[Measurement]:
    """Measure the board page in a window of a phone's size."""
    with _open_page() as (page, address):
        page.add_init_script(SHIFT)
        page.goto(f"{address}/map")
        page.wait_for_selector("#moves button")
        page.wait_for_timeout(SETTLED)
        yield Measurement(
            "layout shift while the board is analysed",
            _evaluate_number(page, "() => window.shift"),
            MAX_SHIFT,
            False,
            1,
        )
        page.click("#to-setup")
        yield Measurement(
            "seconds until a tap has changed the map",
            _evaluate_number(page, TAP, TAPS),
            MAX_TAP,
            False,
            TAPS,
        )
        fragment, steps = _make_link()
        page.goto("about:blank")
        begun = time.perf_counter()
        page.goto(f"{address}/map{fragment}")
        while page.evaluate(VALUED) <= steps:
            page.wait_for_timeout(50)
        taken = time.perf_counter() - begun
        yield Measurement(
            f"seconds until a link with {ROLLS} rolls is analysed", taken, MAX_LINK, False, 1
        )


def _evaluate_number(page: Page, script: str, *args: Any) -> float:
    return float(page.evaluate(script, *args))


@contextmanager
def _open_page() -> Iterator[tuple[Page, str]]:
    """Start a server and a browser; yield a page like a phone's and the address of the server."""
    command = [sys.executable, "-m", "iacta", "serve", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None  # noqa: S101 # it is piped
    address = next(word for word in server.stdout.readline().split() if "://" in word).rstrip("/")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            page = browser.new_page(viewport=PHONE, has_touch=True)  # type: ignore[arg-type] # a dict
            page.set_default_timeout(120_000)
            yield page, address
            browser.close()
    finally:
        server.terminate()
        server.wait()


def _make_link() -> tuple[str, int]:
    """Return the fragment of a link to a turn with many rolls, and its number of steps."""
    position = read_position(tomllib.loads(EXAMPLE.read_text(encoding="utf-8")))
    (state,) = replay_turns({"code": Turn(position).to_code()})["turns"]
    texts = list[str]()
    players = [*dict.fromkeys([position.player, *(each.owner for each in position.holdings)])]
    rolls = 0
    while rolls < ROLLS or state["phase"] == "advance":
        if state["phase"] == "advance":
            step = {"do": "advance", "armies": state["advance"]["most"]}
            text = f"m{step['armies']}"
        else:
            way = max(state["odds"], key=lambda each: each["chance"])
            lost, killed, *_ = max(way["rolls"], key=lambda each: each[2])  # the most likely result
            start, to = way["from"], way["to"]
            left, theirs = state["armies"][start] - lost, state["armies"][to] - killed
            step = {
                "do": "attack",
                "from": start,
                "to": to,
                "left": left,
                "their_left": theirs,
                "dice": way["dice"],
            }
            text = f"a{start}-{to}-{left}-{theirs}-{way['dice']}"
            rolls += 1
        state = step_turn({"code": state["code"], "step": step})
        texts.append(f"{len(texts)}{text}")
    held = [f"{chr(97 + players.index(each.owner))}{each.armies}" for each in position.holdings]
    names = "".join(f"&p={name}" for name in players)
    asked = f"g=continent&t={[each.name for each in position.board.continents].index('Asia')}&go=1"
    return f"#h={'.'.join(held)}{names}&{asked}&x={'.'.join(texts)}&i={len(texts)}", len(texts)
