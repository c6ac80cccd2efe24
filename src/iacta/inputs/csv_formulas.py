"""CSV formulas: a text that a spreadsheet would compute is written with an apostrophe in front."""

from collections.abc import Iterable, Iterator

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def escape_formulas(rows: Iterable[Iterable[object]]) -> Iterator[list[object]]:
    """Yield rows of CSV in which no text is a formula to a spreadsheet.

    A text that begins like a formula, such as a name from a file, gets an apostrophe in front, as
    spreadsheets mark texts. Numbers stay as they are.

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
