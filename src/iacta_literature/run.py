"""Runs it all: compares every value, draws every figure, and writes the files."""

import csv
import io
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from iacta.checks import shown
from iacta.errors import IllegalError, MissingError
from iacta_literature import hoehle, norvig, pracpred, taflin, van_wijgerden
from iacta_literature.data import FOLDER, Row, read_rows
from iacta_literature.tables import Entry, Source, compare_table
from iacta_literature.verdict import AGREES, DIFFERS, ERRATUM

if TYPE_CHECKING:
    from iacta_literature.report import Measured

__all__ = ["SOURCES", "Reproduced", "check_packages", "compare_source", "reproduce", "steps"]

SOURCES: tuple[Source, ...] = (
    pracpred.SOURCE,
    taflin.SOURCE,
    norvig.SOURCE,
    van_wijgerden.SOURCE,
    hoehle.SOURCE,
)

REPORT = "report.html"
ABANDONED = 3600  # seconds after which nobody still writes a file
COLUMNS = ("table", "quantity", "published", "ours", "difference", "compared", "verdict")


class Reproduced(NamedTuple):
    """What came of it.

    report: the page that tells all.
    entries: every published value beside ours, by the key of its source.
    errata: the errata, as rows of the data file `errata`.
    seconds: how long it took.
    """

    report: Path
    entries: dict[str, list[Entry]]
    errata: list[Row]
    seconds: float

    def of(self, verdict: str) -> list[Entry]:
        """Return the values with a verdict.

        verdict: `agrees`, `erratum` or `differs`.
        """
        every = (entry for entries in self.entries.values() for entry in entries)
        return [entry for entry in every if entry.compared.verdict == verdict]

    @property
    def agreeing(self) -> list[Entry]:
        """The values that agree with ours."""
        return self.of(AGREES)

    @property
    def mistaken(self) -> list[Entry]:
        """The values that are listed as errata, and are."""
        return self.of(ERRATUM)

    @property
    def differing(self) -> list[Entry]:
        """The values that differ from ours and are not listed as errata."""
        return self.of(DIFFERS)


def steps() -> int:
    """Return how many steps `reproduce` tells of as its progress."""
    from iacta_literature.figures import FIGURES  # slow to import, and only needed here

    return len(FIGURES) + sum(len(source.tables) + len(source.timings) for source in SOURCES)


def compare_source(source: Source, folder: Path = FOLDER) -> list[Entry]:
    """Return every value of a source, each compared with ours.

    source: one of `SOURCES`.
    folder: where the published values are.
    """
    return [entry for table in source.tables for entry in compare_table(table, folder)]


def reproduce(folder: Path, progress: Callable[[int], None] | None = None) -> Reproduced:
    """Recompute all that the sources print, and write it into a folder.

    folder: where to; it is made if it is not there.
    progress: is called with the number of steps done so far.

    For each source a CSV file, the figures as PNG, and last of all the report. Every file is whole
    or not there at all. Refused are folders that cannot be written, and to go on without the
    packages that it takes.
    """
    check_packages()
    begun = time.perf_counter()
    _make_folder(folder)
    return _Run(folder, progress, begun).whole()


def check_packages() -> None:
    """Refuse to go on without the packages that compute and draw."""
    try:
        import scipy.stats  # noqa: F401 # whether it is there

        import iacta.charts  # noqa: F401 # the same
    except (ImportError, MissingError):
        raise MissingError(
            "reproducing the literature needs SciPy, Altair and vl-convert, not all of which are "
            "installed: pip install 'iacta[methods,plot]'"
        ) from None


def _make_folder(folder: Path) -> None:
    """Make a folder, and clear what a killed run may have left half-written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for part in folder.glob(".*.iacta-part"):
            if part.is_file() and time.time() - part.stat().st_mtime > ABANDONED:
                part.unlink()
    except OSError as error:
        raise IllegalError(
            f"the folder must be one that can be written, got {shown(str(folder))}: "
            f"{error.strerror}"
        ) from None


class _Run:
    """One run, which counts its steps."""

    def __init__(self, folder: Path, progress: Callable[[int], None] | None, begun: float) -> None:
        self.folder, self.begun = folder, begun
        self._progress, self._done = progress, 0

    def whole(self) -> Reproduced:
        """Reproduce every source, and return what came of it."""
        from iacta_literature.drawing import drawing  # slow to import
        from iacta_literature.figures import FIGURES
        from iacta_literature.report import Part, page

        errata = read_rows("errata")
        with drawing(FIGURES) as waiting:
            values = {source.key: self._values(source) for source in SOURCES}
            timings = {source.key: self._timings(source) for source in SOURCES}
            figures = []
            for each in waiting:
                drawn = each.drawn()
                name = f"{drawn.figure.source}_{drawn.figure.name}.png"
                self._write(name, drawn.png)
                figures.append(drawn)
                self._step()
        parts = [
            Part(
                source,
                values[source.key],
                timings[source.key],
                [drawn for drawn in figures if drawn.figure.source == source.key],
                [row for row in errata if row["source"] == source.key],
            )
            for source in SOURCES
        ]
        seconds = time.perf_counter() - self.begun
        self._write(REPORT, page(parts, seconds).encode())
        return Reproduced(self.folder / REPORT, values, errata, seconds)

    def _values(self, source: Source) -> list[Entry]:
        entries: list[Entry] = []
        for table in source.tables:
            entries += compare_table(table, FOLDER)
            self._step()
        self._write(f"{source.key}.csv", _csv(entries).encode())
        return entries

    def _timings(self, source: Source) -> "list[Measured]":
        from iacta_literature.report import Measured

        measured = []
        for timing in source.timings:
            start = time.perf_counter()
            timing.ours()
            seconds = time.perf_counter() - start
            measured.append(Measured(timing.what, timing.published, seconds))
            self._step()
        return measured

    def _step(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done)

    def _write(self, name: str, content: bytes) -> None:
        from iacta.charts.files import write

        write(self.folder / name, content, "a file of the folder")


def _csv(entries: Iterable[Entry]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_row, entries))
    return text.getvalue()


def _row(entry: Entry) -> Sequence[object]:
    compared = entry.compared
    difference = "" if compared.difference is None else compared.difference
    return (
        entry.table,
        entry.quantity,
        compared.published.text,
        compared.ours_text,
        difference,
        compared.how,
        compared.verdict,
    )
