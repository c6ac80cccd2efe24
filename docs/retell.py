"""Tells the sessions of the pages anew, where commands now print something else.

python -m docs.retell [WORD ...] runs the commands that hold all the words, and rewrites below each
as many lines as the page shows. Titles of pictures and sentences around are left to who runs it.
"""

import io
import shutil
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory

from docs.sessions import Session, sessions
from iacta.cli import main as command

ROOT = Path(__file__).resolve().parent.parent
SLOW = ("iacta reproduce",)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def printed_by(session: Session) -> str:
    """Return what a command prints, run in an empty folder."""
    words = session.command.removeprefix("iacta ").replace(".svg", ".json").split()
    with TemporaryDirectory() as folder, chdir(folder):
        Path("docs/pictures").mkdir(parents=True)
        shutil.copy(ROOT / "docs" / "house-rules.toml", "docs")
        shutil.copytree(ROOT / "examples", "examples")
        sys.argv = ["iacta", *words]
        out, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(errors), suppress(SystemExit):
            command()
    return out.getvalue() + errors.getvalue().replace(".json", ".svg")


def told_anew(session: Session, printed: str) -> str:
    """Return what a page shows of what a command prints.

    Where three dots stand for lines that are left out, each line that is shown becomes the one that
    is most like it.
    """
    shown, lines = session.shown.splitlines(keepends=True), printed.splitlines(keepends=True)
    if "...\n" not in shown:
        return printed
    return "".join(line if "..." in line else _nearest(line, lines) for line in shown)


def _nearest(line: str, lines: list[str]) -> str:
    return max(lines, key=lambda other: SequenceMatcher(None, line, other).ratio())


def retell(words: list[str]) -> None:
    """Rewrite the pages, and print the commands that are told anew."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for session in sessions(text):
            is_asked = all(word in session.command for word in words)
            if not is_asked or not session.command.startswith("iacta ") or session.command in SLOW:
                continue
            printed = printed_by(session)
            if not session.is_told_by(printed):
                before = f"$ {session.command}\n{session.shown}"
                after = f"$ {session.command}\n{told_anew(session, printed)}"
                text = text.replace(before, after)
                print(f"{page.relative_to(ROOT)}: {session.command}", flush=True)
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    retell(sys.argv[1:])
