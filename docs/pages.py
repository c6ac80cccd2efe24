"""The pages of the site: those written by hand, and those made from the code."""

import re
import shutil
from pathlib import Path

from docs.commands import commands_page, gallery_page
from docs.formats import formats_page
from docs.house import table
from docs.pictures import draw_all, with_pictures
from docs.reference import (
    METHODS,
    charts_page,
    library_navigation,
    library_pages,
    method_page,
    plans_page,
    title,
)

__all__ = ["FOLDER", "generated", "handwritten", "settings", "write"]

FOLDER = Path(__file__).parent
MADE = FOLDER.parent / "build" / "docs"


def handwritten() -> dict[str, str]:
    """Return the pages that are written by hand, by their paths."""
    files = sorted(FOLDER.rglob("*.md"))
    return {
        file.relative_to(FOLDER).as_posix(): file.read_text("utf-8").replace("{packages}", table())
        for file in files
    }


def generated() -> dict[str, str]:
    """Return the pages that are made from the code, by their paths."""
    return {
        "commands.md": commands_page(),
        "gallery/pictures.md": gallery_page(),
        **library_pages(),
        "charts.md": charts_page(),
        "formats.md": formats_page(),
        "plans.md": plans_page(),
        **{f"methods/{name}.md": method_page(module) for name, module in METHODS.items()},
    }


def settings() -> str:
    """Return the settings of the site, with the pages that are made from the code in the menu."""
    text = (FOLDER.parent / "mkdocs.yml").read_text(encoding="utf-8")
    methods = [f"{title(module)}: methods/{name}.md" for name, module in METHODS.items()]
    library = [
        line
        for package, pages in library_navigation()
        for line in (f"{package}:", *(f"    - {name}: {page}" for name, page in pages))
    ]
    for mark, lines in (("methods/*", methods), ("library/*", library)):
        (indent,) = re.findall(rf"^( *)- {re.escape(mark)}$", text, re.MULTILINE)
        shown = (line if line[0] == " " else f"- {line}" for line in lines)
        text = text.replace(f"{indent}- {mark}", "\n".join(indent + line for line in shown))
    return text


def write() -> None:
    """Write the pages, their pictures, their settings, and how they look."""
    pages = handwritten() | generated()
    shutil.rmtree(MADE, ignore_errors=True)
    for name, text in pages.items():
        file = MADE / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(with_pictures(text).replace("```python\n>>>", "```pycon\n>>>"), "utf-8")
    for name in ("style.css", "iframe-worker.js"):
        shutil.copy(FOLDER / name, MADE)
    (MADE.parent / "mkdocs.yml").write_text(settings(), encoding="utf-8")
    draw_all(pages, MADE)
