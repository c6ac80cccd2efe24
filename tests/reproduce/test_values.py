"""Every value that the sources print."""

import csv
import shutil
from pathlib import Path

import pytest

from iacta import MalformedError
from iacta_literature import SOURCES, compare_source
from iacta_literature.data import FOLDER, read_rows, source_of
from iacta_literature.figures import FIGURES
from iacta_literature.tables import Source
from tests import published

FILES = sorted(file.stem for file in FOLDER.glob("*.csv"))
ERRATA = {row["erratum"]: row for row in read_rows("errata")}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.key)
def test_nothing_differs_that_is_no_listed_erratum(source: Source) -> None:
    entries = compare_source(source)
    assert [entry for entry in entries if entry.compared.verdict == "differs"] == []
    mistaken = {e.compared.published.erratum for e in entries if e.compared.verdict == "erratum"}
    assert mistaken == {name for name, row in ERRATA.items() if row["source"] == source.key}


def test_a_wrong_value_is_noticed(tmp_path: Path) -> None:
    (hoehle,) = (source for source in SOURCES if source.key == "hoehle")
    spoil(tmp_path)
    differing = [e for e in compare_source(hoehle, tmp_path) if e.compared.verdict == "differs"]
    assert [(e.quantity, e.compared.published.text) for e in differing] == [
        ("10 against 10", "0.567")
    ]


def spoil(folder: Path) -> None:
    """Copy the published values, one of them wrong by a digit."""
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    file = folder / "hoehle_win_10x10.csv"
    text = file.read_text(encoding="utf-8")
    assert text.count("0.568") == 1
    file.write_text(text.replace("0.568", "0.567"), encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_every_file_names_its_source_and_is_used(name: str) -> None:
    assert len(source_of(name)) > 40
    tables = {table.file for source in SOURCES for table in source.tables}
    assert name in tables | {"errata"}


@pytest.mark.parametrize("name", sorted(file.stem for file in published.FOLDER.glob("*.csv")))
def test_a_value_has_one_home(name: str) -> None:
    assert len(source_of(name, published.FOLDER)) > 40
    assert name not in FILES


def test_a_file_without_its_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "odds.csv").write_text("attackers,published\n1,2\n", encoding="utf-8")
    with pytest.raises(MalformedError, match="must begin with its source, got 'odds'"):
        read_rows("odds", tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_rows_have_as_many_cells_as_their_heading(name: str) -> None:
    lines = (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert len({len(cells) for cells in csv.reader(lines)}) == 1


def test_figures_are_drawn_by_charts_and_have_files_of_their_own() -> None:
    assert {figure.source for figure in FIGURES} <= {source.key for source in SOURCES}
    assert len({(figure.source, figure.name) for figure in FIGURES}) == len(FIGURES)
