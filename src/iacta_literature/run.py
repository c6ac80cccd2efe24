"""Recompute the literature: compare every value, draw every figure, and write a report."""

import csv
import io
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import NamedTuple

from iacta.inputs.errors import IllegalError, MissingError, missing_error
from iacta.inputs.files import TEMPORARY_SUFFIX, quote_path, write_atomically
from iacta_literature import hoehle, norvig, pracpred, taflin_tables, van_wijgerden
from iacta_literature.published import (
    AGREES,
    DIFFERS,
    ERRATUM,
    Compared,
    PrintedSource,
    Row,
    Timing,
    compare_table,
    read_rows,
)

SOURCES: tuple[PrintedSource, ...] = (
    pracpred.SOURCE,
    taflin_tables.SOURCE,
    norvig.SOURCE,
    van_wijgerden.SOURCE,
    hoehle.SOURCE,
)

REPORT = "report.html"
ABANDONED = 3600  # unfinished files of earlier runs are deleted after this many seconds
COLUMNS = ("table", "quantity", "published", "ours", "difference", "compared", "verdict")


class Reproduced(NamedTuple):
    """The result of recomputing the literature.

    report: the path of the report.
    values: a mapping from the keys of sources to the comparisons of all published values.
    errata: the known errata, as rows of the data file `errata`.
    seconds: the run time in seconds.
    """

    report: Path
    values: dict[str, list[Compared]]
    errata: list[Row]
    seconds: float

    @property
    def agreements(self) -> list[Compared]:
        """The published values that agree with iacta's values."""
        return self._select(AGREES)

    @property
    def mistaken(self) -> list[Compared]:
        """The published values that are confirmed errata."""
        return self._select(ERRATUM)

    @property
    def unexplained_differences(self) -> list[Compared]:
        """The published values that differ from iacta's values and are not known errata."""
        return self._select(DIFFERS)

    def _select(self, verdict: str) -> list[Compared]:
        return [
            value for values in self.values.values() for value in values if value.verdict == verdict
        ]


def check_packages() -> None:
    try:
        import scipy.stats  # noqa: F401 # to check that SciPy is installed

        from iacta.charts.saving import check_installed

        check_installed()
    except (ImportError, MissingError):
        raise missing_error(
            "reproducing the literature needs SciPy and vl-convert, which are not both installed",
            "methods",
            "plot",
        ) from None


def count_steps() -> int:
    """Return the number of steps that `reproduce` reports."""
    return sum(len(source.tables) + len(source.timings) + len(source.figures) for source in SOURCES)


def reproduce(folder: Path, progress: Callable[[int], None] | None = None) -> Reproduced:
    """Recompute all published values and figures, and write the results to a folder.

    folder: the folder, which is created if necessary.
    progress: a callback that takes the number of finished steps.

    The results are a CSV file for each source, a PNG file for each figure, and the report. Files
    are written atomically. Raises `IactaError` if the folder cannot be written, or if required
    packages are missing.
    """
    check_packages()
    from iacta_literature.figures import draw_figures  # a slow import
    from iacta_literature.report import Chapter, format_report

    begun = time.perf_counter()
    _make_folder(folder)
    done = count(1)

    def step() -> None:
        if progress is not None:
            progress(next(done))

    errata = read_rows("errata")
    values, timings, figures = {}, {}, defaultdict(list)
    with draw_figures(figure for source in SOURCES for figure in source.figures) as begun_drawings:
        for source in SOURCES:
            values[source.key] = _compare_tables(source, step)
            _write(folder, f"{source.key}.csv", _format_csv(values[source.key]).encode())
            timings[source.key] = _measure_times(source, step)
        keys = (source.key for source in SOURCES for _ in source.figures)
        for key, drawing in zip(keys, begun_drawings, strict=True):
            drawn = drawing.finish()
            _write(folder, f"{key}_{drawn.figure.name}.png", drawn.png)
            figures[key].append(drawn)
            step()
    chapters = [
        Chapter(
            source,
            values[source.key],
            timings[source.key],
            figures[source.key],
            [row for row in errata if row["source"] == source.key],
        )
        for source in SOURCES
    ]
    seconds = time.perf_counter() - begun
    _write(folder, REPORT, format_report(chapters, seconds).encode())
    return Reproduced(folder / REPORT, values, errata, seconds)


def _compare_tables(source: PrintedSource, step: Callable[[], None]) -> list[Compared]:
    values: list[Compared] = []
    for table in source.tables:
        values += compare_table(source, table)
        step()
    return values


def _measure_times(source: PrintedSource, step: Callable[[], None]) -> list[tuple[Timing, float]]:
    timings = []
    for timing in source.timings:
        begun = time.perf_counter()
        timing.ours()
        timings.append((timing, time.perf_counter() - begun))
        step()
    return timings


def _write(folder: Path, name: str, content: bytes) -> None:
    write_atomically(folder / name, content)


def _make_folder(folder: Path) -> None:
    """Create the folder, and delete unfinished files of earlier runs."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for part in folder.glob(f".*{TEMPORARY_SUFFIX}"):
            if part.is_file() and time.time() - part.stat().st_mtime > ABANDONED:
                part.unlink()
    except (OSError, ValueError) as error:
        raise IllegalError(
            f"cannot write to {quote_path(folder)}: {getattr(error, 'strerror', None) or error}"
        ) from None


def _format_csv(values: Iterable[Compared]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for value in values:
        difference = "" if value.difference is None else value.difference
        compared = value.published.text, value.ours_text, difference, value.how, value.verdict
        writer.writerow((value.table, value.quantity, *compared))
    return text.getvalue()
