"""Published tables as data files; the first line of each names its source.

What the five sources print stands in the package, which reproduces it; here is what has been
computed independently, or is published elsewhere.
"""

from pathlib import Path

from iacta_literature import published

__all__ = ["FOLDER", "read_rows"]

FOLDER = Path(__file__).parent


def read_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table: strings by column."""
    return published.read_rows(name, FOLDER if (FOLDER / f"{name}.csv").exists() else None)
