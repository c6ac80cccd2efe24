"""Updates the console sessions and pictures on the pages.

`python -m tools.docs.reprint [WORD ...]` runs the commands that contain all the words, updates
their output on the pages, and redraws outdated pictures. The prose and the titles of pictures do
not change.
"""

import io
import shutil
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from iacta.cli import main as command
from tools.docs.pictures import KEPT, draw_svg, list_texts
from tools.docs.sessions import Session, find_sessions

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = ("iacta reproduce",)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def run_session(session: Session) -> tuple[str, str]:
    """Run a command in an empty folder; return its output and the specification of its picture."""
    words = [word.replace(".svg", ".json") for word in session.words]
    with TemporaryDirectory() as folder, chdir(folder):
        Path("docs/pictures").mkdir(parents=True)
        shutil.copy(ROOT / "docs" / "house-rules.toml", "docs")
        shutil.copytree(ROOT / "examples", "examples")
        sys.argv = ["iacta", *words]
        written, errors = io.BytesIO(), io.StringIO()  # `iacta batch` writes bytes
        out = io.TextIOWrapper(written, "utf-8", write_through=True)
        silent = patch("iacta.cli.terminal.SILENT_DELAY", 1e6)  # no progress messages
        with silent, redirect_stdout(out), redirect_stderr(errors), suppress(SystemExit):
            command()
        drawing = Path(session.picture).with_suffix(".json") if session.picture else None
        specification = drawing.read_text("utf-8") if drawing else ""
    return written.getvalue().decode() + errors.getvalue().replace(".json", ".svg"), specification


def redraw(session: Session, specification: str) -> None:
    """Redraw the stored variants of a command's picture if they are outdated."""
    for ending in ("", "-dark"):
        file = KEPT / f"{Path(session.picture or '').stem}{ending}.svg"
        made = draw_svg(specification, dark=bool(ending))
        is_kept = file.exists() or not ending
        if is_kept and not (
            file.exists() and list_texts(file.read_text("utf-8")) == list_texts(made)
        ):
            file.write_text(made, encoding="utf-8")
            print(file.relative_to(ROOT), flush=True)


def update_session(session: Session, printed: str) -> str:
    """Return the new output to show on a page.

    If three dots replace some lines, each line that is shown is replaced by the most similar new
    line.
    """
    shown, lines = session.shown.splitlines(keepends=True), printed.splitlines(keepends=True)
    if "...\n" not in shown:
        return printed
    return "".join(line if "..." in line else _find_nearest(line, lines) for line in shown)


def _find_nearest(line: str, lines: list[str]) -> str:
    return max(lines, key=lambda other: SequenceMatcher(None, line, other).ratio())


def reprint(words: list[str]) -> None:
    """Update the pages and print the changes."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for session in find_sessions(text):
            is_asked = all(word in session.command for word in words)
            if (
                not is_asked
                or not session.command.startswith("iacta ")
                or session.command in SKIPPED
            ):
                continue
            printed, specification = run_session(session)
            if session.picture and f"pictures/{Path(session.picture).name}" in text:
                redraw(session, specification)
            if not session.shows(printed):
                before = f"$ {session.command}\n{session.shown}"
                after = f"$ {session.command}\n{update_session(session, printed)}"
                text = text.replace(before, after)
                print(f"{page.relative_to(ROOT)}: {session.command}", flush=True)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    reprint(sys.argv[1:])
