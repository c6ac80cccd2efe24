"""`iacta table`: the chances of every battle up to a size."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from iacta.checks import shown
from iacta.cli import options, show
from iacta.cli.picture import read_picture
from iacta.errors import TooLargeError
from iacta.questions.arrays import win_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["table"]

ROW_HEADING = "attackers"
CELL_WIDTH = 5
DEFENDERS, EVEN, ATTACKERS = (240, 160, 96), (240, 240, 240), (112, 180, 230)
MOST_JSON_CELLS = 5 * 10**6


def table(
    attackers: options.Attackers,
    defenders: options.Defenders,
    rules: options.RulesName = None,
    rules_file: options.RulesFile = None,
    garrison: options.Garrison = None,
    exact: options.Exact = False,
    as_json: options.Json = False,
    as_csv: options.Csv = False,
    plot: options.Plot = None,
    dark: options.Dark = False,
) -> None:
    """Tell the chances to win of every battle up to so many attackers and defenders.

    Example: iacta table 20 20
    """
    chosen = options.output(as_json, as_csv)
    picture = read_picture(plot, dark)
    known = options.read_rules(rules, rules_file, garrison)
    size = (
        options.number(attackers, "attackers", least=1),
        options.number(defenders, "defenders", least=1),
    )
    if chosen is options.Output.JSON and size[0] * size[1] > MOST_JSON_CELLS:
        raise TooLargeError(
            f"a table must have at most {MOST_JSON_CELLS:.0e} cells as JSON, "
            f"got {shown(size[0])} by {shown(size[1])}; --csv takes more"
        )
    with show.patience():
        chances = win_table(*size, known.rules, exact=exact)
    label = known.name
    show.emit(
        chosen,
        record=lambda: {
            "attackers": size[0],
            "defenders": size[1],
            "garrison": known.rules.garrison,
            "rules": label,
            "win_probability": chances.astype(float).tolist(),
        },
        rows=lambda: _rows(chances),
        text=lambda console: _tell(console, chances, label),
    )
    if picture:
        picture.draw(lambda charts: charts.win_chance_map(chances, known.rules, label))


def _rows(chances: npt.NDArray[Any]) -> Iterator[Sequence[object]]:
    yield (ROW_HEADING, *range(1, chances.shape[1] + 1))
    for attackers, row in enumerate(chances, start=1):
        yield (attackers, *map(show.all_digits, row.tolist()))


def _tell(console: "Console", chances: npt.NDArray[Any], label: str) -> None:
    show.say(console, f"Chance to win in per cent, your garrison included{show.under(label)}:")
    at_once = max((console.width - len(ROW_HEADING)) // CELL_WIDTH, 1)
    for first in range(0, chances.shape[1], at_once):
        columns = range(first, min(first + at_once, chances.shape[1]))
        show.heading(console, f"against {columns[0] + 1} to {columns[-1] + 1} defenders")
        show.print_table(
            console,
            (ROW_HEADING, *(str(d + 1) for d in columns)),
            _block(chances, columns, console.is_terminal),
        )
    if chances.dtype == object:
        show.say(console)
        show.say(console, "The fractions themselves are printed with --csv.")


def _style(chance: float) -> str:
    """Return the ground of a cell, from orange to blue, on which black can be read.

    >>> _style(0.0), _style(0.5), _style(1.0)
    ('#000000 on #f0a060', '#000000 on #f0f0f0', '#000000 on #70b4e6')
    """
    end, part = (DEFENDERS, 1 - 2 * chance) if chance < 0.5 else (ATTACKERS, 2 * chance - 1)
    tones = (round(even + part * (tone - even)) for even, tone in zip(EVEN, end, strict=True))
    return f"#000000 on #{''.join(f'{tone:02x}' for tone in tones)}"


def _block(
    chances: npt.NDArray[Any], columns: range, coloured: bool
) -> "Iterator[Sequence[str | Text]]":
    from rich.text import Text

    for attackers, row in enumerate(chances, start=1):
        cells = (
            Text(f"{100 * float(row[d]):.0f}", style=_style(float(row[d])) if coloured else "")
            for d in columns
        )
        yield (str(attackers), *cells)
