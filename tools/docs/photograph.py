"""Takes screenshots of the board page for the README: `python -m tools.docs.photograph`.

This needs Chromium, like the tests of the web pages.
"""

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
TIMEOUT = 120_000  # milliseconds; the server may have to compile first


def photograph(address: str) -> None:
    """Save screenshots of the map with a plan for Asia.

    address: the URL of a running server.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for scheme, ending in (("light", ""), ("dark", "-dark")):
            page = browser.new_page(
                viewport={"width": 1340, "height": 800},
                color_scheme=scheme,  # type: ignore[arg-type] # a valid literal
            )
            page.goto(f"{address}/map")
            page.locator("#moves button").first.click(timeout=TIMEOUT)
            page.get_by_text("no plan is better").wait_for(timeout=TIMEOUT)
            page.screenshot(path=PICTURES / f"map{ending}.png")
        browser.close()


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
