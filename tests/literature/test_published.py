"""Published values: each agrees with iacta's value or is a listed erratum."""

import csv
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from iacta import MalformedError
from iacta_literature import SOURCES
from iacta_literature import published as library
from iacta_literature.published import Compared, Number, Published, read_rows
from tests import published
from tests.tables import table

FILES = sorted(file.stem for file in library.FOLDER.glob("*.csv"))
ERRATA = {row["erratum"]: row for row in read_rows("errata")}
# Errata without printed values, which `test_hoehle.py` tests: a definition and a piece of advice.
WITHOUT_VALUES = {"hoehle_first_passage", "hoehle_line"}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.key)
def test_every_difference_is_a_listed_erratum(source: library.PrintedSource) -> None:
    values = [value for table in source.tables for value in library.compare_table(source, table)]
    assert [value for value in values if value.verdict == "differs"] == []
    mistaken = {value.published.erratum for value in values if value.verdict == "erratum"}
    listed = {name for name, row in ERRATA.items() if row["source"] == source.key}
    assert mistaken == listed - WITHOUT_VALUES


def test_a_wrong_value_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(tmp_path)
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    (hoehle,) = (source for source in SOURCES if source.key == "hoehle")
    values = [value for table in hoehle.tables for value in library.compare_table(hoehle, table)]
    differing = [value for value in values if value.verdict == "differs"]
    assert [(value.quantity, value.published.text) for value in differing] == [
        ("10 against 10", "0.567")
    ]


def spoil(folder: Path) -> None:
    """Copy the published values, with one wrong digit."""
    shutil.copytree(library.FOLDER, folder, dirs_exist_ok=True)
    file = folder / "hoehle_win_10x10.csv"
    text = file.read_text(encoding="utf-8")
    assert text.count("0.568") == 1
    file.write_text(text.replace("0.568", "0.567"), encoding="utf-8")


def read_source(folder: Path, name: str) -> str:
    """Return the first line of a file of published values."""
    return (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.parametrize("name", FILES)
def test_every_file_names_its_source_and_is_used(name: str) -> None:
    assert len(read_source(library.FOLDER, name)) > 40
    tables = {f"{source.key}_{table}" for source in SOURCES for table in source.tables}
    assert name in tables | {"errata"}


@pytest.mark.parametrize("name", sorted(file.stem for file in published.FOLDER.glob("*.csv")))
def test_each_table_is_stored_in_one_place(name: str) -> None:
    assert len(read_source(published.FOLDER, name)) > 40
    assert name not in FILES


def test_a_file_without_its_source_is_refused(tmp_path: Path) -> None:
    (tmp_path / "odds.csv").write_text("attackers,published\n1,2\n", encoding="utf-8")
    with pytest.raises(MalformedError, match="must start with its source, got 'odds'"):
        read_rows("odds", tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_rows_have_as_many_cells_as_their_heading(name: str) -> None:
    lines = (library.FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if not line.startswith("# ")]
    assert len({len(cells) for cells in csv.reader(rows)}) == 1


def test_the_page_of_sources_has_every_source() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sources.md").read_text(encoding="utf-8")
    text = " ".join(page.replace('"', "").split())
    for source in SOURCES:
        author, _, title = source.name.partition(", ")
        assert title.split("”")[0].strip("“").removesuffix(" (2025)") in text
        assert author.split()[-1] in text


@pytest.mark.parametrize(*table(__file__, "verdicts"))
def test_values_agree_at_the_digits_that_are_printed(
    ours: Number, text: str, kind: str, runs: int, verdict: str
) -> None:
    number = Fraction(ours) if isinstance(ours, str) and "/" in ours else ours
    assert Compared(number, Published(text, kind, runs)).verdict == verdict


def test_an_erratum_must_be_wrong_and_our_value_right() -> None:
    hendel = Published("5", right="6", erratum="hendel")
    assert [Compared(ours, hendel).verdict for ours in (5, 6, 7)] == [
        "differs",
        "erratum",
        "differs",
    ]


def test_the_difference_is_our_value_minus_the_published_value() -> None:
    assert Compared(Fraction(1, 2), Published("0.25")).difference == 0.25
    assert Compared(Fraction(1, 2), Published("0.65 to 0.75", "range")).difference is None
    assert Compared("1 and 1", Published("1 and 1", "text")).difference is None


def test_our_value_is_written_as_the_published_one() -> None:
    assert Compared(Fraction(5, 12), Published("15/36")).ours_text == "5/12"
    assert Compared(Fraction(5, 12), Published("0.417")).ours_text == "0.4166666666666667"
    assert Compared(Fraction(7776), Published("7776")).ours_text == "7776"


def test_a_simulated_value_is_labelled() -> None:
    simulated = Compared(0.7194, Published("0.7178", "simulated", runs=10_000))
    assert simulated.how == "within the sampling interval (99.9%)"


@pytest.mark.parametrize("published", [Published("many"), Published("1/0"), Published("1", "odd")])
def test_a_value_that_cannot_be_read_is_refused(published: Published) -> None:
    with pytest.raises(MalformedError):
        _ = Compared(1, published).verdict
