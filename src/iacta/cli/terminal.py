"""Output to the terminal: sentences, tables, text bars, and the progress of long work."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from time import monotonic
from unicodedata import combining, east_asian_width

from iacta.forms.percentages import bar_percent
from iacta.forms.question import Recordable, Watch
from iacta.forms.sections import Bars, Cell, Grid, Section, Shaded, Table, format_cell

EIGHTHS = " ▏▎▍▌▋▊▉"
FULL_BLOCK = "█"
MIN_BAR_WIDTH, MAX_BAR_WIDTH = 8, 400
# ECMA-48 codes: text styles, and the two ends of the scale of background colours.
BOLD, PLAIN = "1", "0"
TONES = {"good": "32", "bad": "31", "neutral": "33", "other": "36"}
DEFENDERS, EVEN, ATTACKERS = (240, 160, 96), (240, 240, 240), (112, 180, 230)
CUBE_LEVELS = (0, 95, 135, 175, 215, 255)  # intensities in the 256-colour palette
PROGRESS_DELAY, REFRESH_INTERVAL = 0.5, 0.1  # seconds
SILENT_DELAY = 5.0  # seconds until the single message for output that is not a terminal
LONG_WORK = "this is taking a while; Ctrl-C stops it"
CLEAR_LINE = "\r\x1b[K"


def print_sections(sections: Iterable[Section]) -> None:
    """Print the sections of an answer. Lines are not wrapped."""
    for number, section in enumerate(sections):
        first = section.parts[0]
        is_split = isinstance(first, Table) and first.continued  # parts print their own blank lines
        if number and not is_split:
            print()
        if section.title:
            print(_style(section.title, BOLD))
        for part in section.parts:
            if isinstance(part, Table):
                _print_table(part)
            elif isinstance(part, Bars):
                _print_bars(part)
            elif isinstance(part, Grid):
                _print_grid(part)
            else:
                print(part)


def _is_coloured() -> bool:
    """Return whether to print colours, following https://no-color.org."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    shows = os.environ.get("TERM") != "dumb" and (os.name != "nt" or "WT_SESSION" in os.environ)
    return shows and sys.stdout.isatty()


def _style(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[{PLAIN}m" if style and text and _is_coloured() else text


def _measure_width(text: str) -> int:
    """Return the width of a text in terminal columns.

    >>> _measure_width("Kyiv"), _measure_width("東京")
    (4, 4)
    """
    if text.isascii():
        return len(text)
    return sum((1 + (east_asian_width(c) in "WF")) * (not combining(c)) for c in text)


def _print_table(table: Table) -> None:
    if not table.continued:
        _print_rows(table.columns, table.rows)
        return
    width = max(
        len(format_cell(row[i])) for row in (table.columns, *table.rows) for i in range(1, len(row))
    )
    room = get_terminal_size().columns - len(table.columns[0])
    at_once = max(room // (width + 2), 1)
    for first in range(1, len(table.columns), at_once):
        part = slice(first, first + at_once)
        columns = table.columns[part]
        print()
        print(_style(table.continued.format(columns[0], columns[-1]), BOLD))
        rows = ((row[0], *row[part]) for row in table.rows)
        _print_rows((table.columns[0], *columns), rows)


def _print_rows(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
    for line in format_rows(columns, rows):
        print(line)


def format_rows(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield the lines of a table. Columns with a heading are right-aligned.

    columns: the headings. If all headings are empty, the table has no row of headings.
    rows: the cells.

    >>> [*format_rows(["", "armies"], [["red", "12"], ["green", "3"]])]
    ['       armies', 'red        12', 'green       3']
    """
    shown = [columns, *rows] if any(columns) else list(rows)
    texts = [[format_cell(cell) for cell in row] for row in shown]
    widths = [max(_measure_width(row[i]) for row in texts) for i in range(len(columns))]
    for row, cells in zip(texts, shown, strict=True):
        line = ""
        for i, (text, cell) in enumerate(zip(row, cells, strict=True)):
            blanks = " " * (widths[i] - _measure_width(text))
            whole = blanks + text if columns[i] else text + blanks
            line += "  " * (i > 0)
            line += (
                _style(whole, _choose_background(cell.level)) if isinstance(cell, Shaded) else whole
            )
        yield line.rstrip()


def _choose_background(level: float) -> str:
    """Return the style for black text on a background from orange (0) to blue (1).

    >>> _choose_background(0.0) in ("38;5;16;48;2;240;160;96", "38;5;16;48;5;215")
    True
    """
    end, part = (DEFENDERS, 1 - 2 * level) if level < 0.5 else (ATTACKERS, 2 * level - 1)
    tones = [round(even + part * (tone - even)) for even, tone in zip(EVEN, end, strict=True)]
    if os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        return f"38;5;16;48;2;{';'.join(map(str, tones))}"
    red, green, blue = (min(range(6), key=lambda i: abs(CUBE_LEVELS[i] - tone)) for tone in tones)
    return f"38;5;16;48;5;{16 + 36 * red + 6 * green + blue}"


def _print_bars(bars: Bars) -> None:
    label_width = max(len(bar.label) for bar in bars.bars)
    longest = max(bar.probability for bar in bars.bars)
    room = get_terminal_size().columns - label_width - len("  > 99.9%  ") - 1
    room = min(max(room, MIN_BAR_WIDTH), MAX_BAR_WIDTH)  # COLUMNS may have any value
    for label, probability, tone in bars.bars:
        length = room * float(probability / longest) if longest else 0.0
        bar = _style(
            _draw_bar(length, getattr(sys.stdout, "encoding", None) or "utf-8"), TONES[tone]
        )
        print(f"{label:<{label_width}}  {bar_percent(probability):>7}  {bar}".rstrip())


def _draw_bar(length: float, encoding: str) -> str:
    if not encoding.lower().startswith("utf"):
        return "#" * round(length)
    eighths = round(8 * length)
    return (FULL_BLOCK * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def _print_grid(grid: Grid) -> None:
    margin = max(len(str(number)) for number, _ in grid.rows)
    width = max(len(str(grid.columns[-1])) + 1, len("[R]"))
    for number, letters in grid.rows:
        line = f"{number:>{margin}} "
        for text, tone, is_marked in letters:
            line += _style(f"{f'[{text}]' if is_marked else f' {text} ':>{width}}", TONES[tone])
        print(line.rstrip())
    # Column numbers below 100 are centred under their letter; longer numbers are right-aligned.
    foot = "".join(
        f"{f'{column} ' if column < 100 else column:>{width}}" for column in grid.columns
    )
    print(f"{' ' * (margin + 1)}{foot.rstrip()}")


@contextmanager
def show_progress() -> Iterator[Watch]:
    """Show progress on standard error during a `with` block, and yield a progress callback.

    If standard error is not a terminal, print only one line after a few seconds.
    """
    if sys.stderr is None:
        yield lambda *_, **__: None
        return
    from threading import Timer  # only needed here

    is_shown = sys.stderr.isatty()
    begun = written = monotonic()
    line, long = "Computing; Ctrl-C stops it.", LONG_WORK

    def write() -> None:
        nonlocal written
        written = monotonic()
        if not is_shown:
            with suppress(OSError, ValueError):  # standard error may be closed
                print(f"iacta: {long}", file=sys.stderr, flush=True)
            return
        room = get_terminal_size().columns - 1
        print(f"{CLEAR_LINE}{line[:room]}", end="", file=sys.stderr, flush=True)

    def watch(
        doing: str, part: float | None, *, keeps: bool = False, so_far: Recordable | None = None
    ) -> None:
        del so_far  # a terminal only shows the complete answer
        nonlocal line, long
        passed = monotonic() - begun
        line = f"{doing}; Ctrl-C {'keeps the best so far' if keeps else 'stops it'}."
        long = f"{line[0].lower()}{line[1:-1]}"
        if part:
            line += f" {part:.0%} done, {_format_seconds(passed * (1.0 - part) / part)} left."
        if is_shown and passed >= PROGRESS_DELAY and monotonic() - written >= REFRESH_INTERVAL:
            write()

    timer = Timer(PROGRESS_DELAY if is_shown else SILENT_DELAY, write)
    timer.daemon = True
    timer.start()
    try:
        yield watch
    finally:
        timer.cancel()
        timer.join()
        if is_shown and written > begun:
            print(CLEAR_LINE, end="", file=sys.stderr, flush=True)


def _format_seconds(seconds: float) -> str:
    """Format a duration, rounded to one unit.

    >>> _format_seconds(8.4), _format_seconds(200), _format_seconds(7300)
    ('8 s', '3 min', '2 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"
