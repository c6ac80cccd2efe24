"""Files of every format get their answers, whoever gives them, to the last byte."""

import bz2
import gzip
import io
import json
import lzma
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from iacta import IactaError, ask, audit
from iacta.batch import answer, answer_file, parts
from iacta.batch import run as runs
from iacta.batch.files import BatchSource, FileFormat
from iacta.batch.parts import BatchJob, answer_part
from iacta.batch.rows import read_asked
from tests.cli.conftest import run
from tests.cli.run import Run

__all__ = ["run"]

COUNT = 600


@pytest.fixture(scope="module")
def battles() -> pl.DataFrame:
    """Return battles, some of them wrong, with texts that CSV must quote and rules for some."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(rng.integers(0, 40, (COUNT, 2)), schema=["attackers", "defenders"])
    notes = pl.Series("note", [['a "b", c', None, "=1+1", "東京"][n % 4] for n in range(COUNT)])
    rules = pl.Series("rules", [["capital", None, "wall"][n % 3] for n in range(COUNT)])
    return frame.with_columns(notes, rules)


@pytest.fixture
def parquet(battles: pl.DataFrame, tmp_path: Path) -> Path:
    """Return a file with the battles."""
    battles.write_parquet(tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def zstd(content: bytes) -> bytes:
    """Return bytes as Zstandard packs them."""
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(content)
    return bytes(packed.getvalue())


def written(frame: pl.DataFrame, file: Path) -> Path:
    """Write a frame in the format of a file's ending."""
    text = frame.write_csv().encode() if ".csv" in file.name else frame.write_ndjson().encode()
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    match file.suffix:
        case ".parquet":
            frame.write_parquet(file)
        case ".feather":
            pa.feather.write_feather(table, file)
        case ".arrow":
            with pa.ipc.new_stream(file, table.schema) as writer:
                writer.write_table(table)
        case ".gz":
            file.write_bytes(gzip.compress(text))
        case ".bz2":
            file.write_bytes(bz2.compress(text))
        case ".zst":
            with pa.CompressedOutputStream(str(file), "zstd") as stream:
                stream.write(text)
        case _:
            file.write_bytes(text)
    return file


def read(file: Path) -> pl.DataFrame:
    """Read a frame that was written, numbers as numbers."""
    content = file.read_bytes()
    if file.suffix == ".zst":
        content = pa.CompressedInputStream(str(file), "zstd").read()
    elif file.suffix in (".gz", ".bz2"):
        content = (gzip if file.suffix == ".gz" else bz2).decompress(content)
    if ".csv" in file.name:
        return pl.read_csv(io.BytesIO(content), infer_schema_length=None)
    if ".jsonl" in file.name or ".ndjson" in file.name:
        return pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)
    return pl.read_parquet(file) if file.suffix == ".parquet" else pl.read_ipc(file)


FILES = (
    ("in.csv", "out.csv"),
    ("in.csv", "out.parquet"),
    ("in.csv.gz", "out.jsonl"),
    ("in.jsonl", "out.jsonl.zst"),
    ("in.ndjson", "out.csv.bz2"),
    ("in.jsonl.bz2", "out.feather"),
    ("in.parquet", "out.csv"),
    ("in.parquet", "out.parquet"),
    ("in.feather", "out.csv.gz"),
    ("in.arrow", "out.jsonl"),
)


@pytest.mark.parametrize(("source", "target"), FILES)
def test_rows_of_each_format_keep_their_order_and_get_their_answers(
    battles: pl.DataFrame, tmp_path: Path, source: str, target: str
) -> None:
    done = answer_file(written(battles, tmp_path / source), tmp_path / target, part_rows=250)
    wanted = answer(battles)
    assert (done.rows, done.parts) == (COUNT, 3)
    assert done.errors == COUNT - wanted["error"].null_count() > 0
    found = read(tmp_path / target)
    assert found.columns == wanted.columns
    if ".csv" in target and ".csv" not in source:  # no spreadsheet shall compute it
        found = found.with_columns(note=pl.col("note").str.replace("^'=", "="))
    assert found.equals(wanted)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted((source, target))


def test_what_is_written_does_not_depend_on_parts_or_on_who_answers(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iacta.batch.files.GROUP", 104)
    for ending in ("parquet", "arrow", "csv", "jsonl.gz", "csv.zst"):
        contents = set()
        for rows, workers in ((COUNT, 1), (7, 1), (104, None), (250, None)):
            target = parquet.with_name(f"out.{ending}")
            answer_file(parquet, target, part_rows=rows, workers=workers)
            contents.add(target.read_bytes())
        assert len(contents) == 1, ending


def test_a_campaign_s_columns_may_be_lists_and_dictionaries(tmp_path: Path) -> None:
    rules = pa.array(["capital", None, "capital"]).dictionary_encode()
    ways = pa.array([[2, 3], [1], [2, None]])
    table = pa.table({"attackers": [9, 9, 9], "territories": ways, "rules": rules})
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    done = answer_file(tmp_path / "in.parquet", tmp_path / "out.csv", "campaign")
    assert done.errors == 1
    found = read(tmp_path / "out.csv")
    assert found["territories"].to_list() == ["[2, 3]", "[1]", "[2, null]"]
    wanted = answer(table, "campaign")["win_probability"].to_pylist()
    assert found["win_probability"].to_list() == wanted


def test_lines_that_are_wrong_have_a_sentence_and_the_others_their_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iacta.batch.run.HEAD", 7)
    lines = [
        '{"attackers": 12, "defenders": 10}',
        "",
        '{"attackers": "x", "defenders": 10, "deep": {"a": [1]}}',
        "{nonsense}",
        "[1, 2]",
        f'{{"attackers": {"[" * 99}1{"]" * 99}, "defenders": 1}}',
        '{"attackers": NaN, "defenders": 1}',
        '{"attackers": 5, "defenders": 3, "rules": "capital"}',
        '{"attackers": 5, "defenders": 3, "error": "mine"}',
        f'{{"attackers": {"9" * 5000}, "defenders": 1}}',
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    done = answer_file(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert (done.rows, done.errors) == (9, 7)
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert found[1]["deep"] == {"a": [1]}
    assert [each["error"] and each["error"][:30] for each in found] == [
        None,
        "attackers must be a whole numb",
        "invalid JSON: Expecting proper",
        "the line must be an object of ",
        "lists and tables must be at mo",
        "invalid JSON: NaN, or a number",
        None,
        "error is the name of an added ",
        "invalid JSON: NaN, or a number",
    ]
    assert found[2]["line"] == "{nonsense}"
    answer_file(tmp_path / "in.jsonl", tmp_path / "out.csv")
    assert read(tmp_path / "out.csv")["error"].null_count() == 2


def test_types_of_columns_are_those_of_the_first_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iacta.batch.run.HEAD", 1)
    first = '{"attackers": 3, "defenders": 2, "size": 1, "share": 0.5, "ok": true, "list": [1]}\n'
    others = '{"attackers": "4", "defenders": 2, "size": "big", "share": 1}\n{"new": 1}\n'
    (tmp_path / "in.jsonl").write_text(first + first + others)
    monkeypatch.setattr("iacta.tabular.BLOCK", len(first))
    answer_file(tmp_path / "in.jsonl", tmp_path / "out.parquet", attackers=None)
    found = read(tmp_path / "out.parquet")
    assert found.schema["size"] == pl.Int64
    assert found["list"].to_list() == ["[1]", "[1]", None, None]
    assert found["error"].to_list()[2:] == [
        "size must be a whole number, as in the first lines, got 'big'",
        "the key 'new' is not in the first lines",
    ]


def test_a_cell_of_csv_may_write_a_whole_number_with_a_point(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("attackers,defenders\n12.0,10\n12,10\n12.5,10\n")
    assert answer_file(tmp_path / "in.csv", tmp_path / "out.parquet").errors == 1
    found = pl.read_parquet(tmp_path / "out.parquet")
    assert found["attackers"].to_list() == [12, 12, None]
    assert found["win_probability"][0] == found["win_probability"][1] > 0


ROW = b"attackers,defenders\n3,2\n"
REFUSED: list[tuple[str, bytes, str, str]] = [
    ("in.csv", ROW, "out.txt", "the target must end in .csv"),
    ("in.csv", ROW, "out.parquet.gz", "the target must end in .csv"),
    ("none.csv", b"", "out.csv", "none.csv': no such file"),
    ("in.csv", b"", "out.csv", "in.csv': the text is empty"),
    ("in.csv", b" \n\n", "out.csv", "in.csv': the text is empty"),
    ("in.csv", b"\n" * 10**5, "out.csv", "in.csv': the text is empty"),
    ("in.csv", b"attackers,defenders\n\xff,2\n", "out.csv", "line 2: the text must be UTF-8, got"),
    ("in.csv", b"attackers,Gr\xf6\xdfe\n3,2\n", "out.csv", "line 1: the text must be UTF-8, got"),
    ("in.csv", ROW + b"3,\0\n", "out.csv", "line 3: the text must have no NUL, got one"),
    ("in.csv", ROW + b'"3,2\n' * 3, "out.csv", "line 5: quotes must close, got them open at"),
    ("in.csv", ROW + b'"3,2' + bytes(10**7), "out.csv", "line 3: a line must have at most 100"),
    ("in.csv", ROW + b'"3,2' + b"\nx" * 10**7, "out.csv", "line 3: quotes must close within 100"),
    ("in.csv", b"attackers," * 10**6 + b"\n", "out.csv", "must have at most 16384 cells, got 1000"),
    ("in.csv", "attackers\n3\n".encode("utf-16"), "out.csv", "must be UTF-8, got UTF-16; save"),
    ("in.jsonl", "{}\n".encode("utf-16"), "out.csv", "must be UTF-8, got UTF-16; save"),
    (
        "in.csv.gz",
        gzip.compress(b"\xfe\xff\0a\0\n", mtime=0),
        "out.csv",
        "must be UTF-8, got UTF-16; save",
    ),
    (
        "in.csv.gz",
        gzip.compress(ROW * 9**5, mtime=0)[:999],
        "out.csv",
        "in.csv.gz': compressed file ended",
    ),
    (
        "in.csv.gz",
        gzip.compress(bytes(10**8), mtime=0),
        "out.csv",
        "a line must have at most 10000000",
    ),
    ("in.csv", b"attackers,attackers\n3,2\n", "out.csv", "the column 'attackers' appears twice"),
    ("in.csv", b"Attackers,attackers\n3,2\n", "out.csv", "the column 'attackers' appears twice"),
    ("in.csv", b"attackers\n3\n", "out.csv", "missing the column defenders; the columns are: 'a"),
    ("in.csv", b"attackers,defenders,error\n3,2,1\n", "out.csv", "the column 'error' has the name"),
    ("in.jsonl", b'{"attackers": 3}\n\xff\n', "out.csv", "line 2: the text must be UTF-8, got"),
    ("in.jsonl", b'{"attackers": 3}\n', "out.jsonl", "missing the column defenders; the columns"),
    ("in.json", b"[{}", "out.jsonl", "in.json': line 1: invalid JSON: Expecting ',' delimiter"),
    ("in.parquet", b"nonsense", "out.csv", "missing the column attackers; the columns are: 'non"),
    ("in.parquet", b"PAR1nonsense", "out.csv", "in.parquet': parquet magic bytes not found"),
    ("in.arrow", b"ARROW1nonsense", "out.csv", "in.arrow': file is too small: 14"),
    ("in.arrow", b"\xff\xff\xff\xffnonsense", "out.csv", "in.arrow': "),
    ("in.xlsx", b"PK\x03\x04nonsense", "out.csv", "in.xlsx': file is not a zip file"),
    ("in.csv.gz", b"\x1f\x8bnonsense", "out.csv", "in.csv.gz': unknown compression method"),
    ("in.csv.zst", b"(\xb5/\xfdnonsense", "out.csv", "in.csv.zst': "),
    ("in.csv", ROW, "in.csv", "the source and the target are the same file"),
    ("in.csv", ROW, "none/out.csv", "none/out.csv': no such folder"),
    ("in.csv", ROW, f"{'x' * 300}.csv", "file name too long"),
]


@pytest.mark.parametrize(("name", "content", "target", "sentence"), REFUSED)
def test_files_that_cannot_be_answered_are_refused_in_one_sentence(
    tmp_path: Path, name: str, content: bytes, target: str, sentence: str
) -> None:
    if name != "none.csv":
        (tmp_path / name).write_bytes(content)
    with pytest.raises(IactaError) as refused:
        answer_file(tmp_path / name, tmp_path / target)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert str(refused.value).count("batch file") <= 1
    assert [each.name for each in tmp_path.iterdir()] == ([name] if name != "none.csv" else [])


@pytest.mark.parametrize("target", ["out.csv", "out.jsonl"])
@pytest.mark.parametrize("held", [b"x", [b"x"], {"a": b"x"}])
def test_bytes_are_refused_where_the_target_is_text(
    tmp_path: Path, held: object, target: str
) -> None:
    table = pa.table({"attackers": [9], "defenders": [5], "held": [held]})
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(IactaError, match="cannot hold the column 'held' of"):
        answer_file(tmp_path / "in.parquet", tmp_path / target)
    assert answer_file(tmp_path / "in.parquet", tmp_path / "out.arrow").rows == 1


# Text of many kinds.


def answered(tmp_path: Path, content: str | bytes, target: str = "out.csv", **given: Any) -> str:
    """Return what is written for the content of a file."""
    content = content.encode() if isinstance(content, str) else content
    (tmp_path / "in").write_bytes(content)
    answer_file(tmp_path / "in", tmp_path / target, columns=["win_probability"], **given)
    return (tmp_path / target).read_text()


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zstd])
def test_marks_cases_and_compressions_are_seen_from_the_content(
    tmp_path: Path, mark: str, pack: Callable[[bytes], bytes]
) -> None:
    rows = [["\ufeffATTACKERS ", "Note", "Defenders"], ["12", '"a ""b"",;\n"', "10"], ["", "", ""]]
    text = "\r\n".join(map(mark.join, rows)) + "\r\n\r\n"
    found = answered(tmp_path, pack(text.encode()))
    plain = answered(tmp_path, "attackers,defenders\n12,10\n").splitlines()[1].split(",")[2]
    assert found.splitlines() == [
        mark.join(["ATTACKERS ", "Note", "Defenders", "win_probability", "error"]),
        mark.join(["12", '"a ""b"",;']),
        mark.join(['"', "10", plain, ""]),
        mark.join(["", "", "", "", "missing attackers"]),
    ]


def test_a_heading_may_come_after_many_blank_lines(tmp_path: Path) -> None:
    found = answered(tmp_path, "\n" * 2**21 + "attackers,defenders\n12,10\n").splitlines()
    assert found[1].startswith("12,10,0.65")


def test_a_row_of_too_few_or_too_many_cells_stops_no_other(tmp_path: Path) -> None:
    answered(tmp_path, 'attackers,defenders\n12\n5,4,"a,b",7\n12,10\n"x"y,2\n')
    found = read(tmp_path / "out.csv")
    assert found["attackers"].to_list() == ["12", "5", "12", '"x"y,2']
    assert found["defenders"].to_list() == [None, "4,a,b,7", "10", None]
    assert found["win_probability"].is_null().to_list() == [True, True, False, True]
    assert found["error"].to_list() == [
        "expected 2 cells, as in the heading, got 1",
        "expected 2 cells, as in the heading, got 4",
        None,
        "not a row of CSV: '\"x\"y,2'",
    ]


def test_rows_are_read_the_same_fast_and_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        letters = rng.choice([*"ab1 .;,'\té"], size=(9, 12))
        lines = ["".join(row) for row in letters]
        names = ["x", "y", "z"][: int(rng.integers(1, 4))]
        mark = ",;\t"[int(rng.integers(3))]
        quick = parts._quick_cells(lines, names, mark)
        with monkeypatch.context() as patch:
            patch.setattr(parts, "_quick_cells", lambda *_: None)
            slow, errors = parts.read_cells(lines, names, mark)
        assert (quick is None) == any(errors)
        assert quick is None or quick.equals(slow)


def test_a_list_of_json_is_read_as_lines_of_json(tmp_path: Path) -> None:
    rows = [{"Attackers": 12, "DEFENDERS": 10}, {"Attackers": 5}, 7]
    found = answered(tmp_path, json.dumps(rows), "out.jsonl").splitlines()
    assert json.loads(found[0])["win_probability"] == pytest.approx(0.6538, abs=1e-4)
    assert json.loads(found[1])["error"] == "missing defenders"
    assert json.loads(found[2])["error"].startswith("the line must be an object of JSON")


# Arrow and Excel.


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_arrow_files_of_polars_are_read_and_their_texts_written(
    battles: pl.DataFrame, tmp_path: Path, compression: Any
) -> None:
    battles.write_ipc(tmp_path / "in.arrow", compression=compression)
    battles.write_ipc_stream(tmp_path / "stream.arrow", compression=compression)
    battles.lazy().sink_ipc(tmp_path / "sunk.arrow")
    for name in ("in", "stream", "sunk"):
        for target in ("out.arrow", "out.parquet"):
            answer_file(tmp_path / f"{name}.arrow", tmp_path / target)
            assert read(tmp_path / target).equals(answer(battles))


def test_excel_is_read_and_written(battles: pl.DataFrame, tmp_path: Path) -> None:
    wanted = answer(battles)
    battles.rename({"attackers": "Attackers"}).write_excel(tmp_path / "in.xlsx")
    answer_file(tmp_path / "in.xlsx", tmp_path / "out.parquet")
    assert read(tmp_path / "out.parquet").rename({"Attackers": "attackers"}).equals(wanted)
    battles.write_parquet(tmp_path / "in.parquet")
    contents = set()
    for rows in (COUNT, 50):
        answer_file(tmp_path / "in.parquet", tmp_path / "out.xlsx", part_rows=rows)
        contents.add((tmp_path / "out.xlsx").read_bytes())
    assert len(contents) == 1
    found = pl.read_excel(tmp_path / "out.xlsx", infer_schema_length=None)
    assert found["note"].to_list() == wanted["note"].to_list()  # a text that is no formula
    assert found["error"].to_list() == wanted["error"].to_list()
    for name in wanted.columns[4:-1]:
        numbers = (each[name].fill_null(-1.0).to_list() for each in (found, wanted))
        assert next(numbers) == pytest.approx(next(numbers), rel=1e-15), name


def test_excel_loses_no_digits_and_no_letters(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [2**53 + 1, 1], "attackers": [5, 5], "way": [[1, 2], None]})
    frame.write_parquet(tmp_path / "in.parquet")
    answer_file(tmp_path / "in.parquet", tmp_path / "out.xlsx", defenders=3)
    found = pl.read_excel(tmp_path / "out.xlsx")
    assert found["id"].to_list() == [str(2**53 + 1), "1"]
    assert found["way"].to_list() == ["[1, 2]", None]
    frame.with_columns(note=pl.lit("x" * 40_000)).write_parquet(tmp_path / "long.parquet")
    with pytest.raises(IactaError, match="a cell of Excel holds 32767 letters"):
        answer_file(tmp_path / "long.parquet", tmp_path / "new.xlsx", defenders=3)
    assert not (tmp_path / "new.xlsx").exists()


def test_a_workbook_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    import xlsxwriter

    book = xlsxwriter.Workbook(tmp_path / "in.xlsx")
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["attackers", "defenders"])
    sheet.write(2**20 - 1, 2**14 - 1, 1)
    book.close()
    said = "a sheet must have at most 20000000 cells, got 16384 columns and 1048576 rows"
    with pytest.raises(IactaError, match=said):
        answer_file(tmp_path / "in.xlsx", tmp_path / "out.csv")
    with pytest.raises(IactaError, match=said):
        audit(tmp_path / "in.xlsx")
    pl.DataFrame({"a": [1], "b": [2]}).write_excel(tmp_path / "empty.xlsx", include_header=False)
    with pytest.raises(IactaError, match="missing the column attackers"):
        answer_file(tmp_path / "empty.xlsx", tmp_path / "out.csv")


# Runs that are stopped.


class Counting(Executor):
    """Answers in this process, and counts the parts; after so many it is interrupted."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.count = 0

    def submit(self, function: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        if self.count == self.most:
            raise KeyboardInterrupt
        self.count += 1
        future: Future[Any] = Future()
        future.set_result(function(*args, **named))
        return future


def test_an_interrupted_run_leaves_no_target_and_resume_does_no_part_twice(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, whole = parquet.with_name("out.parquet"), parquet.with_name("whole.parquet")
    answer_file(parquet, whole, part_rows=50)
    target.write_text("what was there before")
    first, second = Counting(7), Counting(99)
    with pytest.raises(KeyboardInterrupt):
        answer_file(parquet, target, part_rows=50, executor=first, workers=1)
    assert target.read_text() == "what was there before"
    kept = runs.kept_parts(target)
    assert kept == 7
    with pytest.raises(IactaError, match="resume needs the question, files and part_rows"):
        answer_file(parquet, target, part_rows=50, resume=True, rules=None, garrison=2)
    with pytest.raises(IactaError, match="resume needs the question, files and part_rows"):
        answer_file(parquet, target, part_rows=60, resume=True)
    done = answer_file(parquet, target, part_rows=50, resume=True, executor=second)
    assert (done.resumed, done.parts, second.count) == (7, 12, 5)
    assert target.read_bytes() == whole.read_bytes()
    assert {each.name for each in parquet.parent.iterdir()} == {
        "in.parquet",
        "out.parquet",
        "whole.parquet",
    }


def stopped(source: Path, target: Path) -> Path:
    """Stop a run after seven parts, and return the folder of the parts."""
    with pytest.raises(KeyboardInterrupt):
        answer_file(source, target, part_rows=50, executor=Counting(7), workers=1)
    assert runs.kept_parts(target) == 7
    return target.with_name(f".{target.name}.iacta-parts")


@pytest.mark.parametrize("damage", ["a byte", "cut off", "empty"])
def test_a_kept_part_that_is_damaged_is_answered_again(parquet: Path, damage: str) -> None:
    target, whole, again = (
        parquet.with_name("out.csv"),
        parquet.with_name("whole.csv"),
        Counting(99),
    )
    answer_file(parquet, whole, part_rows=50)
    part = stopped(parquet, target) / "00000003.arrow"
    content = bytearray(part.read_bytes())
    content[-len(content) // 2] ^= 1
    part.write_bytes({"a byte": bytes(content), "cut off": bytes(content[:99])}.get(damage, b""))
    done = answer_file(parquet, target, part_rows=50, resume=True, executor=again)
    assert (done.resumed, done.parts, again.count) == (6, 12, 6)
    assert target.read_bytes() == whole.read_bytes()


def test_a_source_that_has_changed_unnoticed_is_not_resumed(
    battles: pl.DataFrame, tmp_path: Path
) -> None:
    source = written(battles, tmp_path / "in.csv")
    stopped(source, tmp_path / "out.csv")
    about = source.stat()
    source.write_bytes(source.read_bytes()[:-3] + b"\n\n\n")
    os.utime(source, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert source.stat().st_size == about.st_size
    with pytest.raises(IactaError, match="omit it to start over"):
        answer_file(source, tmp_path / "out.csv", part_rows=50, resume=True)


def test_what_is_kept_is_on_the_disk_before_it_counts(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    flush, replace = os.fsync, Path.replace

    def fsync(file: int) -> None:
        events.append("flushed")
        flush(file)

    def moved(self: Path, target: Path) -> Path:
        events.append(target.name)
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", moved)
    answer_file(parquet, parquet.with_name("out.csv"), part_rows=400, workers=1)
    names = ["run.json", "00000000.arrow", "00000001.arrow", "out.csv"]
    assert events == [each for name in names for each in ("flushed", name)]


def test_a_run_that_is_stopped_before_a_part_is_done_leaves_nothing(parquet: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        answer_file(parquet, parquet.with_name("out.csv"), executor=Counting(0))
    assert [each.name for each in parquet.parent.iterdir()] == ["in.parquet"]


def test_without_resume_all_is_done_anew(parquet: Path) -> None:
    target, again = parquet.with_name("out.csv"), Counting(99)
    with pytest.raises(KeyboardInterrupt):
        answer_file(parquet, target, part_rows=50, executor=Counting(9), workers=1)
    done = answer_file(parquet, target, part_rows=50, executor=again)
    assert (done.resumed, again.count) == (0, 12)


@pytest.fixture
def chains(tmp_path: Path) -> Path:
    """Return a file with campaigns, which take some time."""
    rng = np.random.default_rng(2)
    ways = [" ".join(f"{n}:capital" for n in way) for way in rng.integers(3, 20, (80, 3)).tolist()]
    frame = pl.DataFrame({"attackers": rng.integers(60, 99, 80), "territories": ways})
    frame.write_parquet(tmp_path / "chains.parquet")
    return tmp_path / "chains.parquet"


def test_processes_answer_the_same_and_one_that_is_killed_loses_nothing(chains: Path) -> None:
    alone, together = chains.with_name("alone.parquet"), chains.with_name("together.parquet")
    answer_file(chains, alone, "campaign", workers=1)
    killed: list[int] = []

    def watch(doing: str, part: float | None, *, keeps: bool = False) -> None:
        if not killed:
            import multiprocessing

            child = multiprocessing.active_children()[0]
            assert child.pid is not None
            killed.append(child.pid)
            os.kill(child.pid, signal.SIGKILL)

    done = answer_file(chains, together, "campaign", workers=2, part_rows=5, watch=watch)
    assert killed
    assert done.rows == 80
    assert together.read_bytes() == alone.read_bytes()


def test_a_cluster_answers_the_same_and_a_worker_that_is_killed_loses_nothing(chains: Path) -> None:
    distributed: Any = pytest.importorskip("distributed")
    alone, together = chains.with_name("alone.csv"), chains.with_name("together.csv")
    answer_file(chains, alone, "campaign", workers=1)
    killed: list[int] = []
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as cluster:

        def watch(doing: str, part: float | None, *, keeps: bool = False) -> None:
            if not killed:
                killed.append(cluster.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        with runs.cluster(cluster.scheduler_address) as (executor, workers):
            assert workers == 2
            done = answer_file(
                chains, together, "campaign", executor=executor, part_rows=5, watch=watch
            )
    assert killed
    assert done.rows == 80
    assert together.read_bytes() == alone.read_bytes()


def test_a_cluster_that_is_not_there_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("iacta.batch.run.LONGEST_GREETING", 0.2)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(IactaError, match="cluster must be the address"), runs.cluster(address):
            pass


# The command.


def test_the_command_answers_a_file_and_ends_with_1_if_rows_have_errors(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("attackers,defenders\n12,10\n5,4\n")
    wanted = ask("battle", attackers=12, defenders=10, rules="capital").record()["win_probability"]
    assert run("batch in.csv out.csv --rules capital --columns win_probability,method") == (
        0,
        "2 rows answered.\n",
        "",
    )
    assert Path("out.csv").read_text().splitlines()[:2] == [
        "attackers,defenders,win_probability,method,error",
        f"12,10,{wanted},lattice,",
    ]
    Path("in.csv").write_text("attackers,defenders\n12,10\n5,x\n5,\n")
    assert run("batch in.csv out.csv") == (
        1,
        "1 of 3 rows answered.\n",
        'iacta: 2 rows have errors; see column "error"\n',
    )


def test_the_command_has_the_options_of_its_question(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("territories\n8 2 2\n10\n")
    assert run("batch in.csv out.csv --question need --chance 90% --garrison 0").code == 0
    found = read(Path("out.csv"))
    assert (
        found["attackers"].to_list()
        == answer({"territories": ["8 2 2", "10"]}, "need", chance="90%", garrison=0)[
            "attackers"
        ].tolist()
    )
    helped = run("batch --question=need --help").stdout
    assert "--keep N" in helped
    assert "--stop-at N" in helped
    assert "--keep N" not in run("batch --help").stdout
    assert run("batch in.csv out.csv --keep 3").stderr.startswith("iacta: unknown option --keep")
    refused = run("batch in.csv out.csv --question need --chance 2")
    assert (refused.code, refused.stdout) == (2, "")
    assert refused.stderr.startswith("iacta: --chance must lie between 0 and 1")
    assert "--question must be one of" in run("batch in.csv out.csv --question x").stderr
    assert "--columns must be of" in run("batch in.csv out.csv --columns x").stderr


@pytest.fixture
def piped(tmp_path: Path) -> Callable[[bytes, str], tuple[int, bytes, bytes]]:
    """Return what runs a command with bytes on its standard input."""
    code = "import sys; sys.argv[0] = 'iacta'; from iacta_command import main; main()"

    def ended(content: bytes, line: str) -> tuple[int, bytes, bytes]:
        done = subprocess.run(  # noqa: S603 # our own line
            [sys.executable, "-c", code, *line.split()],
            input=content,
            capture_output=True,
            check=False,
            cwd=tmp_path,
        )
        return done.returncode, done.stdout, done.stderr

    return ended


def test_pipes_are_answered_in_their_own_format(
    piped: Callable[[bytes, str], tuple[int, bytes, bytes]], tmp_path: Path
) -> None:
    code, out, said = piped(b"attackers,defenders\n12,10\n", "batch - - --columns win_probability")
    assert (code, out) == (
        0,
        b"attackers,defenders,win_probability,error\n12,10,0.6538260547697077,\n",
    )
    assert said.endswith(b"1 row answered.\n")  # a slow machine says more
    table = pa.table({"attackers": [12], "defenders": [10]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    code, out, said = piped(sink.getvalue().to_pybytes(), "batch - -")
    assert pa.ipc.open_stream(out).read_all().equals(answer(table))
    code, out, said = piped(b"PAR1....PAR1", "batch - -")
    assert (code, said) == (
        2,
        b"iacta: batch on standard input: Parquet is read from a file, not a pipe\n",
    )


def test_ctrl_c_ends_a_run_with_its_workers_and_says_how_to_go_on(
    tmp_path: Path, chains: Path
) -> None:
    code = "import sys; sys.argv[0] = 'iacta'; from iacta_command import main; main()"
    line = "batch chains.parquet out.csv --question campaign --part-rows 1 --workers 1"
    started = subprocess.Popen(  # noqa: S603 # our own line
        [sys.executable, "-c", code, *line.split()],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while runs.kept_parts(tmp_path / "out.csv") < 2:
        time.sleep(0.01)
    started.send_signal(signal.SIGINT)
    out, said = started.communicate()
    assert (started.returncode, out) == (130, "")
    assert said.endswith("done; --resume continues from there\n")
    assert not (tmp_path / "out.csv").exists()


def test_the_function_of_a_part_is_pure(battles: pl.DataFrame, tmp_path: Path) -> None:
    source = written(battles, tmp_path / "in.parquet")
    with BatchSource(source) as opened:
        job = BatchJob(read_asked("battle"), opened.format, FileFormat("csv"))
        (part,) = opened.parts(COUNT)
    with ThreadPoolExecutor(4) as pool:
        texts = {
            each.column("text")[0].as_py() for each in pool.map(answer_part, [part] * 8, [job] * 8)
        }
    assert len(texts) == 1
