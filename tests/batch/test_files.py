"""Batches of files in every format, and atomic writes."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from iacta import IactaError, ask, audit
from iacta.batch import answer, answer_file
from iacta.batch.files import BatchJob
from iacta.cli import main
from iacta.cli.terminal import LONG_WORK
from tests.cli.conftest import run
from tests.cli.run import Run
from tests.cli.test_streams import shell

__all__ = ["run"]

COUNT = 600
KILLS = 3  # more runs would take minutes


@pytest.fixture(scope="module")
def battles() -> pl.DataFrame:
    """Return battles with invalid rows, rules, and texts that must be quoted in CSV."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(rng.integers(0, 40, (COUNT, 2)), schema=["attackers", "defenders"])
    notes = pl.Series("note", [['a "b", c', None, "=1+1", "東京"][n % 4] for n in range(COUNT)])
    rules = pl.Series("rules", [["capital", None, "wall"][n % 3] for n in range(COUNT)])
    return frame.with_columns(notes, rules)


@pytest.fixture
def parquet(battles: pl.DataFrame, tmp_path: Path) -> Path:
    """Return a Parquet file with the battles."""
    battles.write_parquet(tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def zstd(content: bytes) -> bytes:
    """Compress bytes with Zstandard."""
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(content)
    return bytes(packed.getvalue())


def write_frame(frame: pl.DataFrame, file: Path) -> Path:
    """Write a frame in the format of the file's suffix."""
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


def read_output(file: Path) -> pl.DataFrame:
    """Read a target into a frame, with numbers converted from text."""
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
    done = answer_file(write_frame(battles, tmp_path / source), tmp_path / target)
    wanted = answer(battles)
    assert done.rows == COUNT
    assert done.errors == COUNT - wanted["error"].null_count() > 0
    found = read_output(tmp_path / target)
    assert found.columns == wanted.columns
    if ".csv" in target and ".csv" not in source:  # formulas must not run in a spreadsheet
        found = found.with_columns(note=pl.col("note").str.replace("^'=", "="))
    assert found.equals(wanted)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted((source, target))


def test_columns_of_campaigns_may_have_lists_and_objects(tmp_path: Path) -> None:
    rules = pa.array(["capital", None, "capital"]).dictionary_encode()
    ways = pa.array([[2, 3], [1], [2, None]])
    table = pa.table({"attackers": [9, 9, 9], "territories": ways, "rules": rules})
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    done = answer_file(tmp_path / "in.parquet", tmp_path / "out.csv", "campaign")
    assert done.errors == 1
    found = read_output(tmp_path / "out.csv")
    assert found["territories"].to_list() == ["[2, 3]", "[1]", "[2, null]"]
    wanted = answer(table, "campaign")["win_probability"].to_pylist()
    assert found["win_probability"].to_list() == wanted


def test_json_lines_stay_unchanged_except_for_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        '{"attackers": 12, "defenders": 10, "id": 1e2}',
        "",
        '{"attackers": "x", "defenders": 10, "deep": {"a": [1]}}',
        '{"defenders": "1", "Attackers": null, "id": 123456789012345678901}',
        '{"attackers": true, "defenders": 1, "id": "007"}',
        '{"attackers": 5, "defenders": 3, "rules": "capital"}',
        "{}",
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines).replace("Attackers", "attackers"))
    # Blocks of 100 bytes have different columns.
    monkeypatch.setattr("iacta.inputs.tabular.BLOCK_BYTES", 100)
    assert answer_file(tmp_path / "in.jsonl", tmp_path / "out.jsonl") == (6, 4)
    texts = (tmp_path / "out.jsonl").read_text().splitlines()
    for row in (0, 2):
        line = lines[(0, 3)[row // 2]].replace("Attackers", "attackers")
        assert texts[row].startswith(f'{line[:-1]},"win_probability":')
    found = [json.loads(line) for line in texts]
    assert found[1]["deep"] == {"a": [1]}
    assert [each["error"] for each in found] == [
        None,
        "attackers must be a whole number of at least 1, got 'x'",
        "missing attackers",
        "attackers must be a whole number of at least 1, got 'true'",
        None,
        "missing attackers",
    ]
    answer_file(tmp_path / "in.jsonl", tmp_path / "out.parquet")
    columns = read_output(tmp_path / "out.parquet")
    assert columns.drop("win_probability", strict=False).height == 6
    assert columns["deep"].to_list() == [None, '{"a": [1]}', None, None, None, None]
    assert columns["error"].to_list() == [each["error"] for each in found]


def test_large_whole_numbers_stay_exact_in_mixed_columns(tmp_path: Path) -> None:
    large = 10**18 + 1
    frame = pl.DataFrame({"attackers": [large, None, 12], "defenders": [10, 10, large]})
    for source in ("in.parquet", "in.csv", "in.jsonl"):
        file = write_frame(frame, tmp_path / source)
        if source == "in.jsonl":
            file.write_text(file.read_text().replace("12,", "12.0,"))
        answer_file(file, tmp_path / "out.csv")
        found = read_output(tmp_path / "out.csv")
        assert found["attackers"].to_list() == [large, None, 12], source
        wanted = answer(frame)
        assert found["error"].to_list() == wanted["error"].to_list()
        assert found["win_probability"].to_list() == wanted["win_probability"].to_list()


def test_headings_of_csv_escape_formulas(tmp_path: Path) -> None:
    row = {"attackers": 12, "defenders": 10, "=HYPERLINK(1)": "=1+1", "-5": 'a "b"'}
    (tmp_path / "in.jsonl").write_text(json.dumps(row))
    answer_file(tmp_path / "in.jsonl", tmp_path / "out.csv", columns=["method"])
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "attackers,defenders,'=HYPERLINK(1),-5,method,error",
        '12,10,\'=1+1,"a ""b""",lattice,',
    ]


def test_a_csv_cell_may_have_a_whole_number_with_a_decimal_point(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("attackers,defenders\n12.0,10\n12,10\n12.5,10\n")
    assert answer_file(tmp_path / "in.csv", tmp_path / "out.parquet").errors == 1
    found = pl.read_parquet(tmp_path / "out.parquet")
    assert found["attackers"].to_list() == [12, 12, None]
    assert found["win_probability"][0] == found["win_probability"][1] > 0


ROW = b"attackers,defenders\n3,2\n"
JSON = b'{"attackers": 3, "defenders": 2}\n'
REFUSED: list[tuple[str, bytes, str, str]] = [
    ("in.csv", ROW, "out.txt", "the target must end in .csv"),
    ("in.csv", ROW, "out.parquet.gz", "the target must end in .csv"),
    ("none.csv", b"", "out.csv", "none.csv': no such file"),
    ("in.csv", b"", "out.csv", "in.csv': the text is empty"),
    ("in.csv", b" \n\n", "out.csv", "in.csv': the text is empty"),
    ("in.csv", b"\n" * 10**5, "out.csv", "in.csv': the text is empty"),
    ("in.csv", b"attackers,defenders\n\xff,2\n", "out.csv", "line 2: the text must be UTF-8, got"),
    ("in.csv", b"attackers,Gr\xf6\xdfe\n3,2\n", "out.csv", "line 1: the text must be UTF-8, got"),
    ("in.csv", ROW + b"3,\0\n", "out.csv", "line 3: the text must not contain NUL"),
    ("in.csv", ROW + b'"3,2\n' * 3, "out.csv", "line 5: quotes must be closed before"),
    ("in.csv", ROW + b'"3,2' + bytes(10**7), "out.csv", "line 3: a line must be at most 100"),
    (
        "in.csv",
        ROW + b'"3,2' + b"\nxxxxxxxxx" * 10**6,
        "out.csv",
        "line 3: quotes must be closed within 100",
    ),
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
        "a line must be at most 10000000",
    ),
    ("in.csv", b"attackers,attackers\n3,2\n", "out.csv", "the column 'attackers' appears twice"),
    ("in.csv", b"Attackers,attackers\n3,2\n", "out.csv", "the column 'attackers' appears twice"),
    ("in.csv", b"attackers\n3\n", "out.csv", "missing column defenders; the columns are: 'a"),
    ("in.csv", b"3,2\n4,2\n", "out.csv", "the first row must name the columns, got '3', '2'"),
    ("in.csv", b"attackers,defenders,error\n3,2,1\n", "out.csv", "column 'error' clashes"),
    ("in.jsonl", b'{"attackers": 3}\n\xff\n', "out.csv", "line 2: the text must be UTF-8, got"),
    ("in.jsonl", b'{"attackers": 3}\n', "out.jsonl", "missing column defenders; the columns"),
    ("in.json", b"[{}", "out.jsonl", "in.json': line 1: invalid JSON: Expecting ',' delimiter"),
    ("in.parquet", b"nonsense", "out.csv", "missing column attackers; the columns are: 'non"),
    ("in.parquet", b"PAR1nonsense", "out.csv", "in.parquet': parquet magic bytes not found"),
    ("in.arrow", b"ARROW1nonsense", "out.csv", "in.arrow': file is too small: 14"),
    ("in.arrow", b"\xff\xff\xff\xffnonsense", "out.csv", "in.arrow': "),
    ("in.xlsx", b"PK\x03\x04nonsense", "out.csv", "in.xlsx': file is not a zip file"),
    ("in.csv.gz", b"\x1f\x8bnonsense", "out.csv", "in.csv.gz': unknown compression method"),
    ("in.csv.zst", b"(\xb5/\xfdnonsense", "out.csv", "in.csv.zst': "),
    ("in.csv", ROW + b"12\n", "out.csv", "line 3: expected 2 cells, as in the heading, got 1"),
    ("in.csv", ROW + b'\n"1\n",2\n5,4,"a,b",7\n', "out.csv", "line 6: expected 2 cells, as in"),
    ("in.csv", ROW + b'1,"x"y\n"x"y\n', "out.csv", "line 3: not a CSV row: '1,\"x\"y'"),
    ("in.csv", b"attackers,defenders\n1\r2,3\n", "out.csv", "line 2: not a CSV row: '1\\r2,3'"),
    ("in.jsonl", JSON + b"{nonsense}\n", "out.csv", "line 2: invalid JSON: text needs"),
    ("in.jsonl", JSON + b"\n[1, 2]\n", "out.jsonl", "line 3: a line must be a JSON object"),
    ("in.jsonl", JSON + b'{"a": NaN}\n', "out.csv", "line 2: invalid JSON: NaN, or a number that"),
    (
        "in.jsonl",
        JSON + b'{"a":' + b"[" * 9**5,
        "out.csv",
        "line 2: lists and tables must be nested at",
    ),
    ("in.jsonl", JSON + b'{"a": 1} {}\n', "out.jsonl", "line 2: invalid JSON: Extra data"),
    ("in.jsonl", JSON[:-2] + b', "error": 1}', "out.jsonl", "column 'error' clashes with a column"),
    ("in.jsonl", JSON[:-2] + b', "a\\u0000": 1}', "out.csv", "must not contain NUL, got 'a\\x00'"),
    (
        "in.jsonl",
        JSON[:-2] + b', "a": "x\\ud800"}',
        "out.csv",
        "line 1: text must not contain half a",
    ),
    ("in.jsonl", JSON + b'\n{"\\uDC00": 1}', "out.jsonl", "line 3: text must not contain half a"),
    (
        "in.jsonl",
        JSON[:-2] + b', "a": "x\\u0000"}',
        "out.csv",
        "row 1: csv cannot store text with",
    ),
    ("in.csv", ROW, "in.csv", "the source and the target are the same file"),
    ("in.csv", ROW, "none/out.csv", "none/out.csv': no such folder"),
    ("in.csv", ROW, f"{'x' * 300}.csv", "file name too long"),
]


@pytest.mark.parametrize(("name", "content", "target", "sentence"), REFUSED)
def test_invalid_files_are_refused_in_one_sentence(
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


def test_surrogate_pairs_and_escaped_backslashes_are_valid(tmp_path: Path) -> None:
    text = r"\ud83d\ude00 \\ud800"
    found = answer_content(tmp_path, f'{{"attackers": 9, "defenders": 5, "note": "{text}"}}')
    assert found.splitlines()[1].startswith(r"9,5,😀 \ud800,0.8")


def rows_with_keys(rows: int, keys: int, nested: str = "{}") -> str:
    """Return JSON lines with a different key in each line."""
    each = (nested.format(f'{{"k{n % keys}": 1}}') for n in range(rows))
    return "\n".join(f'{{"attackers": 9, "defenders": 5, {inner[1:]}' for inner in each)


@pytest.mark.parametrize("target", ["out.csv", "out.jsonl"])
@pytest.mark.parametrize(
    ("rows", "keys", "nested", "sentence"),
    [
        (20_000, 20_000, "{}", "rows must have at most 16384 different keys, got "),
        (20_000, 20_000, '{{"x": {}}}', "rows must have at most 16384 different keys, got 1"),
        (9_000, 9_000, "{}", "keys must have at most 20000000 cells together, got 8999 rows with "),
    ],
)
def test_json_lines_with_many_different_keys_are_refused(
    tmp_path: Path, rows: int, keys: int, nested: str, sentence: str, target: str
) -> None:
    (tmp_path / "in.jsonl").write_text(rows_with_keys(rows, keys, nested))
    with pytest.raises(IactaError, match=sentence):
        answer_file(tmp_path / "in.jsonl", tmp_path / target)


def test_the_limit_on_keys_applies_to_all_blocks_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iacta.inputs.tabular.BLOCK_BYTES", 20_000)
    monkeypatch.setattr("iacta.batch.files.MAX_SHEET_CELLS", 200_000)
    (tmp_path / "in.jsonl").write_text(rows_with_keys(4_000, 60))
    with pytest.raises(IactaError, match=r"at most 200000 cells together, got [0-9]+ rows with 62"):
        answer_file(tmp_path / "in.jsonl", tmp_path / "out.csv")


def test_json_lines_may_have_some_different_keys(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(rows_with_keys(2_000, 500))
    assert answer_file(tmp_path / "in.jsonl", tmp_path / "out.parquet") == (2_000, 0)
    assert read_output(tmp_path / "out.parquet").width == 2 + 500 + 5


def test_colons_in_json_texts_are_not_counted_as_keys(tmp_path: Path) -> None:
    lines = [
        json.dumps({"attackers": 9, "defenders": 5, "note": f'k{n}": "{n}":'})
        for n in range(17_000)
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    assert answer_file(tmp_path / "in.jsonl", tmp_path / "out.jsonl") == (17_000, 0)


@pytest.mark.parametrize("target", ["out.csv", "out.jsonl"])
@pytest.mark.parametrize("held", [b"x", [b"x"], {"a": b"x"}])
def test_columns_of_bytes_are_refused_in_text_formats(
    tmp_path: Path, held: object, target: str
) -> None:
    table = pa.table({"attackers": [9], "defenders": [5], "held": [held]})
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(IactaError, match="cannot store the column 'held' of"):
        answer_file(tmp_path / "in.parquet", tmp_path / target)
    assert answer_file(tmp_path / "in.parquet", tmp_path / "out.arrow").rows == 1


def answer_content(tmp_path: Path, content: str | bytes, target: str = "out.csv") -> str:
    """Answer a batch with the given content; return the text of the target."""
    content = content.encode() if isinstance(content, str) else content
    (tmp_path / "in").write_bytes(content)
    answer_file(tmp_path / "in", tmp_path / target, columns=["win_probability"])
    return (tmp_path / target).read_text()


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zstd])
def test_delimiters_and_compressions_are_detected_from_the_content(
    tmp_path: Path, mark: str, pack: Callable[[bytes], bytes]
) -> None:
    rows = [["\ufeffATTACKERS ", "Note", "Defenders"], ["12", '"a ""b"",;\n"', "10"], ["", "", ""]]
    text = "\r\n".join(map(mark.join, rows)) + "\r\n\r\n"
    found = answer_content(tmp_path, pack(text.encode()))
    plain = answer_content(tmp_path, "attackers,defenders\n12,10\n").splitlines()[1].split(",")[2]
    assert found.splitlines() == [
        mark.join(["ATTACKERS ", "Note", "Defenders", "win_probability", "error"]),
        mark.join(["12", '"a ""b"",;']),
        mark.join(['"', "10", plain, ""]),
        mark.join(["", "", "", "", "missing attackers"]),
    ]


def test_a_heading_may_come_after_many_blank_lines(tmp_path: Path) -> None:
    found = answer_content(tmp_path, "\n" * 2**21 + "attackers,defenders\n12,10\n").splitlines()
    assert found[1].startswith("12,10,0.65")


def test_csv_cells_are_parsed_as_python_does(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        rows = ["".join(row) for row in rng.choice([*"ab1 .;,\"'\té\r\n"], size=(9, 12))]
        mark = ",;\t"[int(rng.integers(3))]
        text = "".join(f"1{mark}2{mark}{row}\n" for row in rows)
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
        (tmp_path / "in.csv").write_text(f"attackers{mark}defenders{mark}note\n{text}", newline="")
        try:
            answer_file(tmp_path / "in.csv", tmp_path / "out.jsonl")
        except IactaError as refused:
            with pytest.raises((csv.Error, AssertionError)):
                assert all(len(row) == 3 for row in lines), refused
            continue
        found = (tmp_path / "out.jsonl").read_text().splitlines()
        notes = [json.loads(line)["note"] or "" for line in found]
        assert [row[2] for row in lines if row] == notes, text


def test_a_list_of_json_is_read_as_lines_of_json(tmp_path: Path) -> None:
    rows = [{"Attackers": 12, "DEFENDERS": 10}, {"Attackers": 5}]
    found = answer_content(tmp_path, json.dumps(rows), "out.jsonl").splitlines()
    assert json.loads(found[0])["win_probability"] == pytest.approx(0.6538, abs=1e-4)
    assert json.loads(found[1])["error"] == "missing defenders"


# Formats that need additional packages: Arrow and Excel.


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
            assert read_output(tmp_path / target).equals(answer(battles))


def test_excel_is_read_and_written(battles: pl.DataFrame, tmp_path: Path) -> None:
    wanted = answer(battles)
    battles.rename({"attackers": "Attackers"}).write_excel(tmp_path / "in.xlsx")
    answer_file(tmp_path / "in.xlsx", tmp_path / "out.parquet")
    assert read_output(tmp_path / "out.parquet").rename({"Attackers": "attackers"}).equals(wanted)
    battles.write_parquet(tmp_path / "in.parquet")
    answer_file(tmp_path / "in.parquet", tmp_path / "out.xlsx")
    found = pl.read_excel(tmp_path / "out.xlsx", infer_schema_length=None)
    assert found["note"].to_list() == wanted["note"].to_list()  # text, not a formula
    assert found["error"].to_list() == wanted["error"].to_list()
    for name in wanted.columns[4:-1]:
        numbers = (each[name].fill_null(-1.0).to_list() for each in (found, wanted))
        assert next(numbers) == pytest.approx(next(numbers), rel=1e-15), name


def test_excel_keeps_all_digits_and_characters(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [2**53 + 1, 1], "attackers": [5, 5], "way": [[1, 2], None]})
    frame.write_parquet(tmp_path / "in.parquet")
    answer_file(tmp_path / "in.parquet", tmp_path / "out.xlsx", defenders=3)
    found = pl.read_excel(tmp_path / "out.xlsx")
    assert found["id"].to_list() == [str(2**53 + 1), "1"]
    assert found["way"].to_list() == ["[1, 2]", None]
    frame.with_columns(note=pl.lit("x" * 40_000)).write_parquet(tmp_path / "long.parquet")
    with pytest.raises(IactaError, match="an Excel cell must have at most 32767 characters"):
        answer_file(tmp_path / "long.parquet", tmp_path / "new.xlsx", defenders=3)
    assert not (tmp_path / "new.xlsx").exists()


def test_values_that_excel_cannot_represent_become_text_or_errors(tmp_path: Path) -> None:
    at = [datetime(1850, 1, 2), datetime(2024, 1, 2)]  # the column `zoned` has a time zone
    frame = pl.DataFrame({"attackers": [5, 5], "at": at, "share": [float("nan"), float("inf")]})
    zoned = frame["at"].dt.replace_time_zone("UTC").alias("zoned")
    frame.with_columns(zoned, later=pl.lit(at[1])).write_parquet(tmp_path / "in.parquet")
    answer_file(tmp_path / "in.parquet", tmp_path / "out.xlsx", defenders=3)
    found = pl.read_excel(tmp_path / "out.xlsx")
    assert [text[:10] for text in found["at"]] == ["1850-01-02", "2024-01-02"]
    assert found["zoned"][1].startswith("2024-01-02 00:00:00")
    assert found["later"].to_list() == [at[1].date()] * 2
    assert found["share"].to_list() == [None, None]


def test_a_workbook_that_needs_too_much_memory_is_refused(tmp_path: Path) -> None:
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
    with pytest.raises(IactaError, match="the first row must name the columns"):
        answer_file(tmp_path / "empty.xlsx", tmp_path / "out.csv")


START = "import sys; sys.argv[0] = 'iacta'; from iacta_command import main; main()"


def start_command(folder: Path, line: str) -> "subprocess.Popen[str]":
    """Start the command in a folder; do not wait for its end."""
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", START, *line.split()]
    return subprocess.Popen(words, cwd=folder, stdout=pipe, stderr=pipe, text=True)  # noqa: S603


def test_killed_runs_leave_a_complete_target(tmp_path: Path) -> None:
    """Kill pairs of runs with the same target at random times."""
    old = "what was there before"
    target = tmp_path / "out.csv"
    sizes = (100_000, 150_000)
    for rows in sizes:
        frame = pl.DataFrame({"attackers": [12] * rows, "defenders": 10})
        frame.write_csv(tmp_path / f"{rows}.csv")
    rng, endings, longest = random.Random(1), set(), 1.0  # noqa: S311 # no secret
    for _ in range(KILLS):
        target.write_text(old)
        begun = time.monotonic()
        runs = [start_command(tmp_path, f"batch {rows}.csv out.csv") for rows in sizes]
        try:
            runs[0].wait(rng.uniform(0.0, 1.2) * longest)
            runs[rng.randrange(2)].kill()
        except subprocess.TimeoutExpired:
            runs[rng.randrange(2)].kill()
        said = [each.communicate()[0] for each in runs]
        longest = max(longest, time.monotonic() - begun)
        ended = [rows for rows, each in zip(sizes, runs, strict=True) if each.returncode == 0]
        endings.add(len(ended))
        assert all(f"{rows} rows answered.\n" in said for rows in ended)
        content = target.read_text()
        if ended or content != old:
            assert content.count("\n") - 1 in sizes
            assert content.endswith(",4.438225776527249,1.3393729416636297,6.2586246012148745,\n")
            frame = read_output(target)
            assert frame["error"].null_count() == frame.height == frame["win_probability"].count()
    assert endings - {0}, "no run ended"


def test_an_interrupted_run_leaves_the_target_unchanged(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = parquet.with_name("out.csv")
    target.write_text("what was there before")

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_file(parquet, target, watch=stop)
    monkeypatch.setattr(BatchJob, "_write_plain", stop)
    with pytest.raises(KeyboardInterrupt):
        answer_file(parquet, target)
    assert target.read_text() == "what was there before"
    assert sorted(each.name for each in parquet.parent.iterdir()) == ["in.parquet", "out.csv"]


def test_files_are_synced_before_they_are_renamed(
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
    answer_file(parquet, parquet.with_name("out.csv"))
    assert events == ["flushed", "out.csv"]


def test_the_command_exits_with_1_if_rows_have_errors(
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
    found = read_output(Path("out.csv"))
    assert (
        found["attackers"].to_list()
        == answer({"territories": ["8 2 2", "10"]}, "need", chance="90%", garrison=0)[
            "attackers"
        ].tolist()
    )
    helped = run("batch --question=need --help").stdout
    assert "--keep N" in helped
    assert "--hold-back N" in helped
    assert "--stop-at N" in helped
    assert "--keep N" not in run("batch --help").stdout
    assert run("batch in.csv out.csv --keep 3").stderr.startswith("iacta: unknown option --keep")
    refused = run("batch in.csv out.csv --question need --chance 200")
    assert (refused.code, refused.stdout) == (2, "")
    assert refused.stderr.startswith("iacta: --chance must lie between 0 and 1")
    assert "--question must be one of" in run("batch in.csv out.csv --question x").stderr
    assert "--columns must be some of" in run("batch in.csv out.csv --columns x").stderr


@pytest.fixture
def run_piped(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes, str], tuple[int, bytes, str]]:
    """Return a function that runs a command with bytes piped to standard input."""

    def ended(content: bytes, line: str) -> tuple[int, bytes, str]:
        read, write = os.pipe()
        with open(write, "wb") as sent:
            sent.write(content)
        printed, said = io.BytesIO(), io.StringIO()
        with open(read, encoding="utf-8") as pipe, io.TextIOWrapper(printed) as out:
            monkeypatch.setattr(sys, "stdin", pipe)
            monkeypatch.setattr(sys, "argv", ["iacta", *line.split()])
            with redirect_stdout(out), redirect_stderr(said), pytest.raises(SystemExit) as end:
                main()
            return int(end.value.code or 0), printed.getvalue(), said.getvalue()

    return ended


def test_pipes_are_answered_in_their_own_format(
    run_piped: Callable[[bytes, str], tuple[int, bytes, str]],
) -> None:
    code, out, said = run_piped(
        b"attackers,defenders\n12,10\n", "batch - - --columns win_probability"
    )
    assert (code, out) == (
        0,
        b"attackers,defenders,win_probability,error\n12,10,0.6538260547697077,\n",
    )
    assert said == "1 row answered.\n"
    table = pa.table({"attackers": [12], "defenders": [10]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    code, out, said = run_piped(sink.getvalue().to_pybytes(), "batch - -")
    assert pl.DataFrame(pa.ipc.open_stream(out).read_all()).equals(pl.DataFrame(answer(table)))
    code, out, said = run_piped(b"PAR1....PAR1", "batch - -")
    assert (code, said) == (
        2,
        "iacta: batch on standard input: Parquet is read from a file, not a pipe\n",
    )


@pytest.mark.parametrize(
    ("source", "unbuffered"),
    [("in.csv", ""), ("in.csv", "1"), ("in.jsonl", "1"), ("in.arrow", "1")],
)
def test_a_closed_pipe_ends_the_batch_quietly(source: str, unbuffered: str, tmp_path: Path) -> None:
    """Unbuffered standard output may accept only part of a write."""
    frame = pl.DataFrame({"attackers": [12] * 30_000, "defenders": 10})
    write_frame(frame, tmp_path / source)
    ended = shell(
        f"{{ $iacta batch {tmp_path / source} -; echo $? >&2; }} | head -c 9 >/dev/null",
        {"PYTHONUNBUFFERED": unbuffered},
    )
    assert [line for line in ended.err.splitlines() if LONG_WORK not in line] == ["141"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
@pytest.mark.parametrize("target", ["csv", "jsonl", "parquet", "arrow", "xlsx", "csv.gz"])
def test_a_full_disk_is_an_error(target: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("attackers,defenders\n12,10\n")
    full = tmp_path / f"out.{target}"
    full.symlink_to("/dev/full")
    said = rf"cannot write '.*out\.{target}': no space left on device"
    with pytest.raises(IactaError, match=said):
        answer_file(tmp_path / "in.csv", full)


def test_ctrl_c_ends_a_run(tmp_path: Path) -> None:
    ways = [f"{n}:capital 9 9" for n in range(1, 200)]
    pl.DataFrame({"attackers": 500, "territories": ways * 9}).write_csv(tmp_path / "in.csv")
    stopped = start_command(tmp_path, "batch in.csv out.csv --question campaign --exact")
    with pytest.raises(subprocess.TimeoutExpired):
        stopped.wait(3)
    stopped.send_signal(signal.SIGINT)
    assert stopped.communicate()[0] == ""
    assert stopped.returncode == 130
    assert [each.name for each in tmp_path.iterdir()] == ["in.csv"]
