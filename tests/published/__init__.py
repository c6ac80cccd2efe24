"""Published tables as data files. The first line of each file names the source.

The values printed in the five sources are part of the package, which reproduces them. The files
here contain values that were computed independently or published elsewhere.
"""

from pathlib import Path

from iacta_literature import published

__all__ = ["FOLDER", "read_rows"]

FOLDER = Path(__file__).parent


def read_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table as mappings from columns to strings."""
    return published.read_rows(name, FOLDER if (FOLDER / f"{name}.csv").exists() else None)
