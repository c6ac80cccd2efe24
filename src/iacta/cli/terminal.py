"""How answers look on a terminal: sentences, tables and bars of text; and patience."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from iacta.answers.question import Watch
from iacta.answers.sections import Bars, Cell, Grid, Section, Shaded, Table, text_of
from iacta.answers.words import bar_percent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["patience", "print_sections"]

EIGHTHS = " ▏▎▍▌▋▊▉"
FULL_BLOCK = "█"
LEAST_BAR = 8
STYLES = {"good": "green", "bad": "red", "neutral": "yellow", "other": "cyan"}
DEFENDERS, EVEN, ATTACKERS = (240, 160, 96), (240, 240, 240), (112, 180, 230)


def print_sections(sections: Iterable[Section]) -> None:
    """Print an answer. Lines are not cut: a terminal wraps them, a pipe does not."""
    from rich.console import Console  # slow to import, and needed for text alone

    console = Console(highlight=False, markup=False, emoji=False)
    for number, section in enumerate(sections):
        if number and not _is_split(section):
            console.print()
        if section.title:
            console.print(section.title, style="bold")
        for part in section.parts:
            if isinstance(part, Table):
                _print_table(console, part)
            elif isinstance(part, Bars):
                _print_bars(console, part)
            elif isinstance(part, Grid):
                _print_grid(console, part)
            else:
                console.print(part, soft_wrap=True)


def _is_split(section: Section) -> bool:
    """Tell whether a section begins with a table in parts, each of which has its own title."""
    return isinstance(section.parts[0], Table) and bool(section.parts[0].continued)


def _print_table(console: "Console", table: Table) -> None:
    if not table.continued:
        _print_rows(console, table.columns, table.rows)
        return
    width = max(
        len(text_of(row[i])) for row in (table.columns, *table.rows) for i in range(1, len(row))
    )
    at_once = max((console.width - len(table.columns[0])) // (width + 2), 1)
    for first in range(1, len(table.columns), at_once):
        part = slice(first, first + at_once)
        columns = table.columns[part]
        console.print()
        console.print(table.continued.format(columns[0], columns[-1]), style="bold")
        rows = ((row[0], *row[part]) for row in table.rows)
        _print_rows(console, (table.columns[0], *columns), rows)


def _print_rows(console: "Console", columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    from rich.text import Text

    shown = [columns, *rows] if any(columns) else list(rows)
    cells = [[_cell(cell, console.is_terminal) for cell in row] for row in shown]
    widths = [max(row[i].cell_len for row in cells) for i in range(len(columns))]
    for row in cells:
        for i, cell in enumerate(row):
            cell.align("right" if columns[i] else "left", widths[i])
        line = Text("  ").join(row)
        line.rstrip()
        console.print(line, soft_wrap=True)


def _cell(cell: Cell, coloured: bool) -> "Text":
    from rich.text import Text

    is_shaded = isinstance(cell, Shaded) and coloured
    return Text(text_of(cell), style=_ground(cell.level) if is_shaded else "")  # type: ignore[union-attr] # shaded


def _ground(level: float) -> str:
    """Return the ground of a cell, from orange to blue, on which black can be read.

    >>> _ground(0.0), _ground(0.5), _ground(1.0)
    ('#000000 on #f0a060', '#000000 on #f0f0f0', '#000000 on #70b4e6')
    """
    end, part = (DEFENDERS, 1 - 2 * level) if level < 0.5 else (ATTACKERS, 2 * level - 1)
    tones = (round(even + part * (tone - even)) for even, tone in zip(EVEN, end, strict=True))
    return f"#000000 on #{''.join(f'{tone:02x}' for tone in tones)}"


def _print_bars(console: "Console", bars: Bars) -> None:
    from rich.text import Text

    label_width = max(len(bar.label) for bar in bars.bars)
    longest = max(bar.probability for bar in bars.bars)
    room = max(console.width - label_width - len("  > 99.9 %  ") - 1, LEAST_BAR)
    for label, probability, tone in bars.bars:
        length = room * float(probability / longest) if longest else 0.0
        line = Text(f"{label:<{label_width}}  {bar_percent(probability):>8}  ")
        line.append(_bar(length, console.encoding), style=STYLES[tone])
        console.print(line, soft_wrap=True)


def _bar(length: float, encoding: str) -> str:
    if not encoding.lower().startswith("utf"):
        return "#" * round(length)
    eighths = round(8 * length)
    return (FULL_BLOCK * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def _print_grid(console: "Console", grid: Grid) -> None:
    from rich.text import Text

    margin = max(len(str(number)) for number, _ in grid.rows)
    width = max(len(str(grid.columns[-1])) + 1, len("[R]"))
    for number, letters in grid.rows:
        line = Text(f"{number:>{margin}} ")
        for text, tone, is_marked in letters:
            line.append(f"{f'[{text}]' if is_marked else f' {text} ':>{width}}", STYLES[tone])
        line.rstrip()
        console.print(line, soft_wrap=True)
    # A number stands below the letter if it is short, and else ends where its column ends.
    foot = "".join(f"{f'{each} ' if each < 100 else each:>{width}}" for each in grid.columns)
    console.print(f"{' ' * (margin + 1)}{foot.rstrip()}", soft_wrap=True)


@contextmanager
def patience() -> Iterator[Watch]:
    """While the block runs for long, show on a terminal that and how far work goes on."""
    if not sys.stderr.isatty():
        yield lambda *_, **__: None
        return
    from threading import Timer

    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    shown = Progress(*columns, console=Console(stderr=True), transient=True)
    task = shown.add_task("Counting; Ctrl-C stops.", total=None)

    def watch(doing: str, part: float | None, *, keeps: bool = False) -> None:
        sentence = f"{doing}; Ctrl-C {'takes it' if keeps else 'stops'}."
        total = None if part is None else 1.0
        shown.update(task, description=sentence, total=total, completed=part or 0)

    timer = Timer(0.5, shown.start)
    timer.start()
    try:
        yield watch
    finally:
        timer.cancel()
        timer.join()
        shown.stop()
