"""The packages of iacta as a table and a picture, both derived from the packages themselves."""

import ast
from html import escape
from pathlib import Path
from textwrap import wrap

from tests.test_package import FLOORS

__all__ = ["drawing", "packages", "table"]

SOURCE = Path(__file__).parent.parent / "src" / "iacta"
LETTER, LINE, PADDING, GAP = 5.9, 15, 10, 8
NAMES = ("ground", "rules", "methods", "battles", "questions", "plans", "answers", "faces", "faces")
COLOURS = ("#6b7280", "#009e73", "#bd8a00", "#2583c4", "#2583c4", "#2583c4", "#b5679b", "#8a5fbf")


def packages() -> list[list[tuple[str, str]]]:
    """Return each floor from the ground up: its packages or files, and what each says it is."""
    floors = [
        [(name, _summary(name)) for name in floor if _file(name) is not None] for floor in FLOORS
    ]
    return [floor for floor in floors if floor and floor[0][0] != "__main__"]


def _file(name: str) -> Path | None:
    """Return the file that holds the docstring of a package, or of a file on the ground floor."""
    places = (SOURCE / name / "__init__.py", SOURCE / f"{name}.py")
    return next((place for place in places if place.exists()), None)


def _summary(name: str) -> str:
    """Return the first sentence of a docstring, without the name with which it begins."""
    file = _file(name)
    text = "" if file is None else ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    first = " ".join(text.split("\n\n")[0].split())
    _, _, said = first.partition(": ")
    return (said or first).rstrip(".").replace("`", "")


def table() -> str:
    """Return the packages as a Markdown table, from the roof down."""
    lines = ["| floor | package | what it is |", "|---|---|---|"]
    for floor in reversed(packages()):
        for name, summary in floor:
            path = name if (SOURCE / name).is_dir() else f"{name}.py"
            slash = "/" if (SOURCE / name).is_dir() else ""
            lines.append(f"| {_floor_name(floor)} | `{path}{slash}` | {summary} |")
    return "\n".join(lines)


def _floor_name(floor: list[tuple[str, str]]) -> str:
    for names, title in zip(FLOORS, NAMES, strict=True):
        if floor[0][0] in names:
            return title
    raise LookupError(floor)


def drawing(*, dark: bool, width: int) -> str:
    """Return the house as SVG: each package imports only from the floors below its own.

    dark: whether it stands on a dark page.
    width: how wide it is, in pixels.
    """
    ink, paper = ("#e6e6e6", "#16181d") if dark else ("#1f2328", "#ffffff")
    parts, y = [], PADDING
    floors = packages()
    for level in range(len(floors) - 1, -1, -1):
        rooms = floors[level]
        wide = (width - 2 * PADDING - GAP * (len(rooms) - 1)) / len(rooms)
        texts = [wrap(summary, max(int((wide - 16) / LETTER), 12)) for _, summary in rooms]
        height = 32 + LINE * (0 if len(rooms) > 3 else max(map(len, texts)))
        for number, ((name, _), lines) in enumerate(zip(rooms, texts, strict=True)):
            x = PADDING + number * (wide + GAP)
            colour = COLOURS[min(level, len(COLOURS) - 1)]
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{height}" rx="4" '
                f'fill="{colour}" fill-opacity="0.2" stroke="{colour}"/>'
            )
            parts.append(_words(x + 8, y + 20, name, f'font-weight="bold" fill="{ink}"'))
            if len(rooms) <= 3:
                parts += [
                    _words(x + 8, y + 20 + LINE * (i + 1), line, f'fill="{ink}"')
                    for i, line in enumerate(lines)
                ]
        y += height + GAP
    box = f'width="{width}" height="{y}" viewBox="0 0 {width} {y}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>'
    ground = f'<rect width="100%" height="100%" fill="{paper}"/>'
    return "\n".join([head, ground, *parts, "</svg>\n"])


def _words(x: float, y: float, words: str, look: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" font-family="sans-serif" font-size="11" {look}>'
        f"{escape(words)}</text>"
    )
