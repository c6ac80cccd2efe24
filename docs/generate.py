"""Puts the pages of the site together: those written by hand, and those made from the code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from reference import library_page, mathematics_page

FOLDER = Path(__file__).parent
PAGES = FOLDER.parent / "build" / "docs"
COMMANDS = (
    "",
    "battle",
    "campaign",
    "need",
    "defend",
    "decide",
    "simulate",
    "compare",
    "table",
    "chart",
    "reproduce",
    "roll",
    "rules",
)


def commands_page() -> str:
    """Return a page with the help of every command."""
    parts = ["# Commands", "This page is what `--help` prints."]
    for command in COMMANDS:
        title = f"iacta {command}".strip()
        parts += [f"## `{title}`", f"```text\n{help_text(command)}\n```"]
    return "\n\n".join(parts) + "\n"


def help_text(command: str) -> str:
    """Return what `--help` prints in a window of 88 columns."""
    words = [sys.executable, "-m", "iacta", *command.split(), "--help"]
    window = {**os.environ, "COLUMNS": "88", "TERMINAL_WIDTH": "88"}
    printed = subprocess.run(words, check=True, capture_output=True, text=True, env=window).stdout
    return "\n".join(line.rstrip() for line in printed.strip().splitlines())


def index_page() -> str:
    """Return the README, with its links as seen from the site."""
    readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    return readme.replace("](docs/", "](").replace(
        "](LICENSE)", "](https://opensource.org/license/mit)"
    )


def main() -> None:
    """Write the pages."""
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir(parents=True)
    pages = {page.name: page.read_text(encoding="utf-8") for page in FOLDER.glob("*.md")}
    pages |= {
        "index.md": index_page(),
        "commands.md": commands_page(),
        "library.md": library_page(),
        "mathematics.md": mathematics_page(),
    }
    for name, text in pages.items():
        (PAGES / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
