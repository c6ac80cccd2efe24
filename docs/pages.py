"""The pages of the site: those written by hand, and those made from the code."""

import shutil
from pathlib import Path

from docs.commands import commands_page, gallery_page
from docs.formats import formats_page
from docs.pictures import draw_all, with_pictures
from docs.reference import METHODS, charts_page, library_page, method_page

__all__ = ["FOLDER", "generated", "handwritten", "write"]

FOLDER = Path(__file__).parent
MADE = FOLDER.parent / "build" / "docs"


def handwritten() -> dict[str, str]:
    """Return the pages that are written by hand, by their paths."""
    files = sorted(FOLDER.rglob("*.md"))
    return {file.relative_to(FOLDER).as_posix(): file.read_text(encoding="utf-8") for file in files}


def generated() -> dict[str, str]:
    """Return the pages that are made from the code, by their paths."""
    return {
        "commands.md": commands_page(),
        "gallery/pictures.md": gallery_page(),
        "library.md": library_page(),
        "charts.md": charts_page(),
        "formats.md": formats_page(),
        **{f"methods/{name}.md": method_page(page) for name, page in METHODS.items()},
    }


def write() -> None:
    """Write the pages, their pictures, and how they look."""
    pages = handwritten() | generated()
    shutil.rmtree(MADE, ignore_errors=True)
    for name, text in pages.items():
        file = MADE / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(with_pictures(text).replace("```python\n>>>", "```pycon\n>>>"), "utf-8")
    shutil.copy(FOLDER / "style.css", MADE)
    draw_all(pages, MADE)
