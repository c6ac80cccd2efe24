"""The pages of the site: those written by hand, and those made from the code.

The pages under `docs/` are read in the repository too. There they link to files, such as that of a
method; the site has pages made from those files, and `with_site_links` leads to them instead.
"""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import iacta
from tools.docs.commands import commands_page, gallery_page
from tools.docs.formats import formats_page
from tools.docs.keys import keys_page
from tools.docs.pictures import add_pictures, draw_all
from tools.docs.reference import METHODS, reference_pages

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs"
MADE = ROOT / "build" / "docs"
ICON = ROOT / "src" / "iacta" / "web" / "static" / "icon.svg"
BESIDE = ("CONTRIBUTING.md", "CHANGELOG.md")  # pages of the site that are not under docs/

# The pages that are made from files and folders of the repository.
MADE_FROM = {
    "src/iacta/__init__.pyi": "library.md",
    "src/iacta/plan": "plans.md",
    "src/iacta/board/formats": "formats.md",
    "src/iacta/questions": "keys.md",
    **{
        Path(module.__file__ or "").relative_to(ROOT).as_posix(): f"methods/{name}.md"
        for name, module in METHODS.items()
    },
    **{name: name.lower() for name in BESIDE},
}
LINK = re.compile(r"\]\((?:\.\./)*(src/[\w/.]+|[A-Z]+\.md)\)")


def handwritten() -> dict[str, str]:
    """Return the pages under `docs/`, as they are written, by their paths."""
    files = sorted(FOLDER.rglob("*.md"))
    return {file.relative_to(FOLDER).as_posix(): file.read_text("utf-8") for file in files}


def with_site_links(page: str, text: str) -> str:
    """Return a page whose links to files of the repository lead to the pages made from them.

    page: its path.
    text: the page, as Markdown.

    >>> with_site_links("questions/cost.md", "[plans](../../src/iacta/plan)")
    '[plans](../plans.md)'
    """
    up = "../" * page.count("/")
    return LINK.sub(lambda found: f"]({up}{MADE_FROM[found[1]]})", text)


def generate_pages() -> dict[str, str]:
    """Return the pages that are made from the code, by their paths."""
    return {
        "commands.md": commands_page(),
        "gallery/pictures.md": gallery_page(),
        "formats.md": formats_page(),
        "keys.md": keys_page(),
        **reference_pages(),
    }


def settings(made: Iterable[str]) -> str:
    """Return the settings of the site, with the pages that are made from the code in the menu.

    made: the paths of those pages.
    """
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    text = text.replace("site_name: iacta #", f"site_name: iacta {iacta.__version__} #")
    return re.sub(
        r"^( *- )(\w+/)\*$",
        lambda found: "\n".join(found[1] + page for page in made if page.startswith(found[2])),
        text,
        flags=re.MULTILINE,
    )


def write(folder: Path = MADE) -> None:
    """Write the pages, their pictures and how they look, and beside them their settings."""
    beside = {name.lower(): (ROOT / name).read_text("utf-8") for name in BESIDE}
    made = generate_pages()
    pages = handwritten() | made
    pages |= {name: text.replace("](docs/", "](") for name, text in beside.items()}
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in pages.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shown = add_pictures(with_site_links(name, text))
        file.write_text(
            _search_boost(name) + shown.replace("```python\n>>>", "```pycon\n>>>"), "utf-8"
        )
    for copied in (FOLDER / "style.css", FOLDER / "iframe-worker.js", ICON):
        shutil.copy(copied, folder)
    (folder.parent / "mkdocs.yml").write_text(settings(made), encoding="utf-8")
    draw_all(pages, folder)


def _search_boost(page: str) -> str:
    """Return what lets the search find a question before the pages that only mention it."""
    return "---\nsearch:\n  boost: 4\n---\n\n" if page.startswith("questions/") else ""
