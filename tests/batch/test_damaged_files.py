"""Damaged files of every binary format give an answer or an error, and never crash Python."""

import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from iacta import IactaError, audit
from iacta.batch import answer_file
from tests.damaged_files import find_crashes
from tests.processes import run_python

LONG = "a text with more letters than a view of Arrow holds itself"
FAR = 2**31 - 64  # an offset far beyond the end of the text


def test_damaged_files_give_an_answer_or_an_error() -> None:
    found = list(find_crashes(seed=1, count=100))
    assert not found, "\n\n".join(f"{each.asked}\n{each.said}" for each in found)


def damaged_arrow() -> bytes:
    """Return an Arrow file with an offset beyond its end."""
    frame = pl.DataFrame({"attackers": [9], "defenders": [5], "die": [3], "rules": [LONG]})
    content = io.BytesIO()
    frame.write_ipc(content, compression="uncompressed")
    view = struct.pack("<I4sII", len(LONG), LONG[:4].encode(), 0, 0)
    wrong = struct.pack("<I4sII", len(LONG), LONG[:4].encode(), 0, FAR)
    assert content.getvalue().count(view) == 1
    return content.getvalue().replace(view, wrong)


VIEWS = """
import struct
import pyarrow as pa

short = struct.pack("<I12s", 3, b"abc")
anything = struct.pack("<I4sII", 2**31 - 1, b"x", 7, 2**30)
buffers = [pa.py_buffer(bytes([0b101])), pa.py_buffer(short + anything + short)]
view = pa.Array.from_buffers(pa.string_view(), 3, buffers, null_count=1)
view.validate(full=True)
notes = {
    "plain": view,
    "record": pa.StructArray.from_arrays([view], ["x"]),
    "list": pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), view),
    "pair": pa.FixedSizeListArray.from_arrays(view, 1),
}

from pathlib import Path
from iacta import audit
from iacta.batch import answer, answer_file

for kind, note in notes.items():
    print(kind, flush=True)
    table = pa.table({"attackers": [9] * 3, "defenders": [5] * 3, "die": [3] * 3, "note": note})
    with pa.ipc.new_file("in.arrow", table.schema) as writer:
        writer.write_table(table)
    answer(table.rename_columns({"note": "rules"}))
    audit(Path("in.arrow"))
    for ending in ("csv", "parquet"):
        answer_file("in.arrow", f"{kind}.{ending}")
"""
TEXTS: dict[str, list[Any]] = {
    "plain": ["abc", None, "abc"],
    "record": [{"x": "abc"}, {"x": None}, {"x": "abc"}],
    "list": [["abc"], [None], ["abc"]],
    "pair": [["abc"], [None], ["abc"]],
}


def test_undefined_views_of_nulls_are_ignored(tmp_path: Path) -> None:
    ended = run_python(VIEWS, cwd=tmp_path, check=False)
    assert (ended.stdout.split(), ended.stderr, ended.returncode) == ([*TEXTS], "", 0)
    for kind, texts in TEXTS.items():
        assert pl.read_parquet(tmp_path / f"{kind}.parquet")["note"].to_list() == texts


READ = """
from pathlib import Path
import pyarrow as pa
from iacta import IactaError, audit
from iacta.batch import answer, answer_file

def read_batch():
    answer_file("in.arrow", "out.csv")

def read_log():
    audit(Path("in.arrow"))

def read_frame():
    answer(pa.ipc.open_file("in.arrow").read_all())

for read in (read_batch, read_log, read_frame):
    try:
        read()
    except IactaError as error:
        print(read.__name__, error, flush=True)
"""


def test_offsets_beyond_the_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in.arrow").write_bytes(damaged_arrow())
    ended = run_python(READ, cwd=tmp_path, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    for said, reader in zip(
        ended.stdout.splitlines(), ("read_batch", "read_log", "read_frame"), strict=True
    ):
        assert said.startswith(reader)
        assert "the column 'rules' is damaged: " in said


WRONG: dict[str, tuple[Any, str]] = {
    "day": (
        pa.array([2**31 - 1], pa.int32()).view(pa.date32()),
        "have dates in the years 1 to 9999",
    ),
    "moment": (
        pa.array([-(2**63)], pa.int64()).view(pa.timestamp("ms")),
        "have dates in the years 1 to 9999",
    ),
    "days": (
        pa.array([[2**31 - 1]], pa.list_(pa.int32())).cast(pa.list_(pa.date32())),
        "have dates in the years 1 to 9999",
    ),
    "record": (
        pa.StructArray.from_arrays(
            [pa.array([2**62], pa.int64()).view(pa.timestamp("us", "UTC"))], ["at"]
        ),
        "have dates in the years 1 to 9999",
    ),
    "empty": (pa.array([[]], pa.list_(pa.int8(), 0)), "not have lists of size 0"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("target", ["out.csv", "out.jsonl", "out.xlsx", "out.parquet"])
def test_values_that_make_polars_panic_are_refused(
    name: str, target: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    column, said = WRONG[name]
    table = pa.table({"attackers": [9], "defenders": [5], "die": [3], name: column})
    with pa.ipc.new_file(str(tmp_path / "in.arrow"), table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(IactaError, match=rf"the column '{name}' must {said}"):
        answer_file(tmp_path / "in.arrow", tmp_path / target)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("text", ["aaaa", "bbbb", "CCCC", "dddd", "eeee"])
def test_column_names_and_time_zones_must_be_utf_8(
    text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kind = pa.struct([pa.field("bbbb", pa.timestamp("us", "CCCC"), metadata={"dddd": "eeee"})])
    table = pa.table({"attackers": [9], "defenders": [5], "aaaa": pa.array([None], kind)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    content = sink.getvalue().to_pybytes().replace(text.encode(), b"x\xff\xfex")
    (tmp_path / "in.arrow").write_bytes(content)
    with pytest.raises(IactaError, match=r"cannot read .*can't decode byte 0xff"):
        answer_file(tmp_path / "in.arrow", tmp_path / "out.csv")
    assert capfd.readouterr().err == ""


def test_metadata_of_a_file_is_ignored(tmp_path: Path) -> None:
    table = pa.table({"attackers": [9], "defenders": [5]}).replace_schema_metadata({"x": b"\xff"})
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    assert answer_file(tmp_path / "in.parquet", tmp_path / "out.csv") == (1, 0)


def test_dates_of_all_years_are_written(tmp_path: Path) -> None:
    ends = pa.array([-62_135_596_800_000, None, 253_402_300_799_999]).view(pa.timestamp("ms"))
    table = pa.table({"attackers": [9] * 3, "defenders": [5] * 3, "at": ends})
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    for target in ("out.csv", "out.jsonl", "out.xlsx", "out.arrow"):
        assert answer_file(tmp_path / "in.parquet", tmp_path / target) == (3, 0)


def test_an_audit_reads_only_the_columns_of_a_log(tmp_path: Path) -> None:
    zone = pa.array([1], pa.int64()).view(pa.timestamp("ns", "Nowhere/X"))
    table = pa.table({"die": [3.0], "at": zone})
    pa.parquet.write_table(table, tmp_path / "log.parquet")
    assert audit(tmp_path / "log.parquet").unread == ("at",)
    pa.parquet.write_table(pa.table({"die": zone}), tmp_path / "log.parquet")
    with pytest.raises(IactaError, match="the column 'die' cannot be read"):
        audit(tmp_path / "log.parquet")


def test_a_workbook_without_a_sheet_is_refused(tmp_path: Path) -> None:
    pl.DataFrame({"attackers": [9], "defenders": [5]}).write_excel(tmp_path / "whole.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "whole.xlsx") as parts,
        zipfile.ZipFile(tmp_path / "in.xlsx", "w") as damaged,
    ):
        for name in parts.namelist():
            damaged.writestr(name, parts.read(name).replace(b"<sheet ", b"<sheep "))
    for read in (audit, lambda file: answer_file(file, tmp_path / "out.csv")):
        with pytest.raises(IactaError, match=r"in\.xlsx': the workbook has no sheet"):
            read(tmp_path / "in.xlsx")
