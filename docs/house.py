"""The packages of iacta as a table and a picture, both derived from the packages themselves."""

import ast
from html import escape
from pathlib import Path
from textwrap import wrap

__all__ = ["FLOORS", "drawing", "packages", "table"]

# From the ground up: a package imports only from the floors below its own, or from itself.
FLOORS = {
    "ground": ("errors", "checks", "files", "display", "distribution", "estimate"),
    "rules": ("rules", "board"),
    "methods": ("methods",),
    "battles": ("battle",),
    "questions": ("questions",),
    "plans": ("plan",),
    "answers": ("answers",),
    "charts": ("charts",),
    "faces": ("web", "batch"),
    "command": ("cli",),
    "start": ("__main__",),
}
COLOURS = {
    "ground": "#6b7280",
    "rules": "#009e73",
    "methods": "#bd8a00",
    "faces": "#8a5fbf",
    "command": "#8a5fbf",
}
OTHERS = "#2583c4"
SOURCE = Path(__file__).parent.parent / "src" / "iacta"
LETTER, BOLD, LINE, PADDING, GAP = 5.9, 6.8, 15, 10, 8


def packages() -> dict[str, dict[str, str]]:
    """Return the floors from the ground up: what each package, or file, says it is."""
    floors = {
        title: {name: _summary(name) for name in names if _file(name) is not None}
        for title, names in FLOORS.items()
        if title != "start"
    }
    return {title: rooms for title, rooms in floors.items() if rooms}


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
    for title, rooms in reversed(packages().items()):
        for name, summary in rooms.items():
            path = f"{name}/" if (SOURCE / name).is_dir() else f"{name}.py"
            lines.append(f"| {title} | `{path}` | {summary} |")
    return "\n".join(lines)


def drawing(*, dark: bool, width: int) -> str:
    """Return the house as SVG: each package imports only from the floors below its own.

    dark: whether it stands on a dark page.
    width: how wide it is, in pixels.
    """
    ink, paper = ("#e6e6e6", "#16181d") if dark else ("#1f2328", "#ffffff")
    parts, y = [], PADDING
    for title, floor in reversed(packages().items()):
        longest = max(map(len, floor))
        most = max(int((width - 2 * PADDING + GAP) / (longest * BOLD + 16 + GAP)), 1)
        count = -(-len(floor) // most)
        is_told = len(floor) <= 3
        for rooms in (dict(list(floor.items())[start::count]) for start in range(count)):
            wide = (width - 2 * PADDING - GAP * (len(rooms) - 1)) / len(rooms)
            texts = [wrap(text, max(int((wide - 16) / LETTER), 12)) for text in rooms.values()]
            height = 32 + LINE * (max(map(len, texts)) if is_told else 0)
            for number, (name, lines) in enumerate(zip(rooms, texts, strict=True)):
                x = PADDING + number * (wide + GAP)
                colour = COLOURS.get(title, OTHERS)
                parts.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{height}" rx="4" '
                    f'fill="{colour}" fill-opacity="0.2" stroke="{colour}"/>'
                )
                parts.append(_words(x + 8, y + 20, name, f'font-weight="bold" fill="{ink}"'))
                if is_told:
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
