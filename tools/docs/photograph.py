"""Photographs the map page for the README, light and dark: `python -m tools.docs.photograph`.

It drives the Chromium of the system, as the tests of the pages do.
"""

import os
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
SLOWEST = 120_000  # milliseconds: the server may have to compile first


def photograph(address: str) -> None:
    """Write the pictures of the map with the plan for Asia.

    address: where a server is.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for scheme, ending in (("light", ""), ("dark", "-dark")):
            page = browser.new_page(
                viewport={"width": 1340, "height": 800},
                color_scheme=scheme,  # type: ignore[arg-type] # one of its literals
            )
            page.goto(f"{address}/map")
            page.locator("#moves button").first.click(timeout=SLOWEST)
            page.get_by_text("proven best").wait_for(timeout=SLOWEST)
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
