"""Protection against CSV injection: strings that a spreadsheet would run as formulas."""

from collections.abc import Iterable, Iterator

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def escape_formulas(rows: Iterable[Iterable[object]]) -> Iterator[list[object]]:
    """Yield the rows; add an apostrophe before each string that begins like a formula.

    Spreadsheets display such a cell as plain text. Numbers do not change.

    >>> list(escape_formulas([["=1+1", "-2.5", -2.5, "Peru"]]))
    [["'=1+1", '-2.5', -2.5, 'Peru']]
    """
    for row in rows:
        yield [f"'{cell}" if _is_formula(cell) else cell for cell in row]


def _is_formula(cell: object) -> bool:
    if not isinstance(cell, str) or not cell.startswith(FORMULA_STARTS):
        return False
    try:
        float(cell)
    except ValueError:
        return len(cell) > 1
    return False
