"""Draws the floors of the package as a house, from the list to which the tests hold the code."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["drawing", "floors"]

LIST = Path(__file__).parent.parent / "tests" / "test_package.py"
STOREYS = {  # from the ground up; the colours are those of the charts
    "ground": ("what the world is, and how values are read", "#009e73"),
    "methods": ("ways to solve a battle", "#bd8a00"),
    "question": ("what a player asks", "#2583c4"),
    "charts": ("draw", "#b5679b"),
    "reproduce": ("hold the literature to us", "#b5679b"),
    "cli": ("ask and print", "#b5679b"),
}
LETTER, ROOM, GAP, PADDING = 6.3, 21, 3, 12
INK = {False: "#1f2328", True: "#e6e6e6"}
PAPER = {False: "#ffffff", True: "#16181d"}


class _Row(NamedTuple):
    """A line of rooms, or of words where there are none."""

    storey: str
    rooms: tuple[str, ...]


def floors() -> list[list[str]]:
    """Return the files of the package, floor by floor, from the ground up."""
    for node in ast.parse(LIST.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FLOORS":
            return [sorted(floor) for floor in ast.literal_eval(node.value)]
    raise LookupError(f"{LIST} has no FLOORS")


def drawing(*, dark: bool, width: int) -> str:
    """Return the house as SVG: each file imports only from floors below its own.

    dark: whether it stands on a dark page.
    width: how wide it is without its margins, in pixels.
    """
    parts, y = [], PADDING
    for storey, rooms in _rows(width):
        if not rooms:
            y += 3 * GAP
            label = f"{storey}: {STOREYS[storey][0]}"
            parts.append(_words(PADDING, y + 14, label, f'font-weight="bold" fill="{INK[dark]}"'))
        parts += _floor(rooms, STOREYS[storey][1], y, width, INK[dark])
        y += ROOM + GAP
    size = f'width="{width + 2 * PADDING}" height="{y + PADDING}"'
    box = f'viewBox="0 0 {width + 2 * PADDING} {y + PADDING}"'
    paper = f'<rect width="100%" height="100%" fill="{PAPER[dark]}"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box}>'
    return "\n".join([head, paper, *parts, "</svg>\n"])


def _rows(width: int) -> Iterator[_Row]:
    """Yield the lines from the roof down, floors that are too wide in several."""
    above = ""
    for storey, names in reversed(list(_storeys())):
        if storey != above:
            yield _Row(storey, ())
            above = storey
        line: list[str] = []
        for name in names:
            if sum(map(_least, (*line, name))) - GAP > width:
                yield _Row(storey, tuple(line))
                line = []
            line.append(name)
        yield _Row(storey, tuple(line))


def _storeys() -> Iterator[tuple[str, list[str]]]:
    """Yield each floor with its storey, which the folders tell, and the names of its rooms."""
    storey = "ground"
    for floor in floors():
        folder = floor[0].partition(".")[0]
        if folder in STOREYS:
            storey = folder
        elif storey == "methods":
            storey = "question"
        names = [name.partition(".")[2] or name for name in floor]
        yield ("cli" if floor == ["__main__"] else storey), names


def _floor(rooms: Sequence[str], colour: str, y: int, width: int, ink: str) -> Iterator[str]:
    """Yield the rooms of a line, which fill it, each as wide as its name asks."""
    spare = (width + GAP - sum(map(_least, rooms))) / max(1, len(rooms))
    x = float(PADDING)
    for name in rooms:
        wide = _least(name) + spare - GAP
        place = f'x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{ROOM}" rx="3"'
        yield f'<rect {place} fill="{colour}" fill-opacity="0.22" stroke="{colour}"/>'
        yield _words(x + wide / 2, y + 14, name, f'text-anchor="middle" fill="{ink}"')
        x += wide + GAP


def _least(name: str) -> float:
    """Return the width of a room that its name just fits into, with the gap behind it."""
    return len(name) * LETTER + 12 + GAP


def _words(x: float, y: float, words: str, look: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y}" font-family="sans-serif" font-size="11" {look}>{words}</text>'
    )
