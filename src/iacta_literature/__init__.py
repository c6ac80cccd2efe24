"""The literature on Risk, recomputed: every published value and figure beside ours.

One small file for each of the five sources says what is recomputed and how; the published values
are data files in `published/`, each with its source in its first line. Nothing is computed here
that the library does not tell, but for the printed errors in `as_printed`.
"""

from iacta_literature.run import (
    SOURCES,
    Reproduced,
    check_packages,
    compare_source,
    reproduce,
    steps,
)

__all__ = ["SOURCES", "Reproduced", "check_packages", "compare_source", "reproduce", "steps"]
