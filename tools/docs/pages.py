"""The pages of the site: handwritten pages and pages generated from the code.

Pages in `docs/` can also be read in the repository, where they link to source files. For the site,
`rewrite_links` changes these links to generated pages.
"""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import iacta
from tools.docs.commands import make_commands_page, make_gallery_page
from tools.docs.formats import make_formats_page
from tools.docs.keys import make_keys_page
from tools.docs.pictures import add_pictures, draw_all
from tools.docs.reference import METHODS, make_reference_pages

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "docs"
TARGET = ROOT / "build" / "docs"
ICON = ROOT / "src" / "iacta" / "web" / "static" / "icon.svg"
ROOT_PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")  # pages outside of docs/

# Links to these files and folders of the repository become links to generated pages.
GENERATED_PAGES = {
    "src/iacta/__init__.pyi": "library.md",
    "src/iacta/plan": "plans.md",
    "src/iacta/board/formats": "formats.md",
    "src/iacta/questions": "keys.md",
    **{
        Path(module.__file__ or "").relative_to(ROOT).as_posix(): f"methods/{name}.md"
        for name, module in METHODS.items()
    },
    **{name: name.lower() for name in ROOT_PAGES},
}
LINK = re.compile(r"\]\((?:\.\./)*(src/[\w/.]+|[A-Z]+\.md)\)")


def read_handwritten_pages() -> dict[str, str]:
    """Return the contents of the pages in `docs/` by path."""
    files = sorted(SOURCE.rglob("*.md"))
    return {file.relative_to(SOURCE).as_posix(): file.read_text("utf-8") for file in files}


def rewrite_links(page: str, text: str) -> str:
    """Replace links to files of the repository by links to generated pages.

    page: the path of the page.
    text: the page in Markdown.

    >>> rewrite_links("questions/cost.md", "[plans](../../src/iacta/plan)")
    '[plans](../plans.md)'
    """
    up = "../" * page.count("/")
    return LINK.sub(lambda found: f"]({up}{GENERATED_PAGES[found[1]]})", text)


def generate_pages() -> dict[str, str]:
    """Return the generated pages by path."""
    return {
        "commands.md": make_commands_page(),
        "gallery/pictures.md": make_gallery_page(),
        "formats.md": make_formats_page(),
        "keys.md": make_keys_page(),
        **make_reference_pages(),
    }


def make_settings(generated: Iterable[str]) -> str:
    """Return the settings of MkDocs, with the generated pages in the menu.

    generated: the paths of the generated pages.
    """
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    text = text.replace("site_name: iacta #", f"site_name: iacta {iacta.__version__} #")
    return re.sub(
        r"^( *- )(\w+/)\*$",
        lambda found: "\n".join(found[1] + page for page in generated if page.startswith(found[2])),
        text,
        flags=re.MULTILINE,
    )


def write_pages(folder: Path = TARGET) -> None:
    """Write the pages, pictures, styles and settings of the site."""
    beside = {name.lower(): (ROOT / name).read_text("utf-8") for name in ROOT_PAGES}
    generated = generate_pages()
    pages = read_handwritten_pages() | generated
    pages |= {name: text.replace("](docs/", "](") for name, text in beside.items()}
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in pages.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shown = add_pictures(rewrite_links(name, text))
        file.write_text(
            _make_search_boost(name) + shown.replace("```python\n>>>", "```pycon\n>>>"), "utf-8"
        )
    for copied in (SOURCE / "style.css", SOURCE / "iframe-worker.js", ICON):
        shutil.copy(copied, folder)
    (folder.parent / "mkdocs.yml").write_text(make_settings(generated), encoding="utf-8")
    draw_all(pages, folder)


def _make_search_boost(page: str) -> str:
    """Return front matter that ranks pages about questions first in searches."""
    return "---\nsearch:\n  boost: 4\n---\n\n" if page.startswith("questions/") else ""
