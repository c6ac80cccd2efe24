"""The literature on Risk, recomputed: every published value and figure beside ours.

Each of the five articles has a file, which says what is recomputed of it and how; its published
values are data files in `published/`, each with its source in its first line. `taflin` has Taflin's
equations, `hoehle` Tan's error. `reproduce` recomputes everything and writes a report.
"""

from iacta_literature.run import SOURCES, Reproduced, check_packages, reproduce, steps

__all__ = ["SOURCES", "Reproduced", "check_packages", "reproduce", "steps"]
