"""Damaged files lead to an answer or an error, and never crash Python.

A crash would also end the tests, so child processes read the files. `find_crashes` starts them, and
`python -m tests.damaged_files SEED FIRST STOP` runs one. The seed and the number of a file are
enough to recreate it.
"""

import gzip
import io
import os
import random
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet

from tests import fuzz
from tests.fuzz import Finding

FILES_PER_CHILD = 50  # importing iacta takes as long as reading about 20 files
MAX_MEMORY = 4 * 2**30  # limit on the address space of a child, in bytes
TIMEOUT = 300  # in seconds, for each child
TARGETS = ("out.csv", "out.jsonl", "out.parquet", "out.arrow", "out.xlsx")
INTEGERS = (0, 1, 7, 8, 64, 2**16, 2**31 - 1, 2**31, 2**32 - 1)  # values that replace 4 bytes
NOT_IN_EXCEL = ("bytes", "wait", "moment")
PLACES = ("xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml", "xl/workbook.xml")


def make_table(rng: random.Random) -> pa.Table:
    """Return a table with columns for a batch and an audit, and columns of many other types."""
    count = rng.choice([1, 9, 70, 300])
    day = datetime(2024, 2, 29, 12, 30)  # times in files have no time zone
    words = ["capital", "classic", "", "wall, with more letters than a view holds", "Zürich"]
    others: dict[str, pa.Array] = {
        "rules": pa.array(rng.choices(["capital", "classic", None], k=count)),
        "note": pa.array(rng.choices([*words, None], k=count)),
        "large": pa.array(rng.choices([*words, None], k=count), pa.large_string()),
        "view": pa.array(rng.choices([*words, None], k=count), pa.string_view()),
        "word": pa.array(rng.choices(words, k=count)).dictionary_encode(),
        "territories": pa.array([[rng.randint(1, 5)] * rng.randint(0, 3) for _ in range(count)]),
        "pair": pa.array([[1, 2]] * count, pa.list_(pa.int16(), 2)),
        "place": pa.array([{"x": 1.5, "name": rng.choice(words)}] * count),
        "day": pa.array([date(2024, 2, 29)] * count),
        "moment": pa.array([day] * count, pa.timestamp("us", "UTC")),
        "clock": pa.array([time(12, 30)] * count),
        "wait": pa.array([timedelta(seconds=3)] * count),
        "price": pa.array([Decimal("1.25"), *[None] * (count - 1)]),
        "won": pa.array(rng.choices([True, False, None], k=count)),
        "share": pa.array([rng.random() for _ in range(count)], pa.float32()),
        "nothing": pa.nulls(count),
        "bytes": pa.array([b"\xff"] * count),
    }
    names = rng.sample([*others], rng.randint(0, 5))
    return pa.table(
        {
            "attackers": [rng.randint(0, 30) for _ in range(count)],
            "defenders": pa.array([rng.randint(0, 30) for _ in range(count)], pa.int8()),
            "die": [rng.randint(1, 6) for _ in range(count)],
            **{name: others[name] for name in names},
        }
    )


def _write_arrow(table: pa.Table, rng: random.Random) -> bytes:
    packed: Any = rng.choice([None, None, "lz4", "zstd"])
    if rng.random() < 0.5:
        buffer = io.BytesIO()
        frame = pl.DataFrame(table)
        write = frame.write_ipc if rng.random() < 0.5 else frame.write_ipc_stream
        write(buffer, compression=packed or "uncompressed")
        return buffer.getvalue()
    sink = pa.BufferOutputStream()
    write = rng.choice([pa.ipc.new_file, pa.ipc.new_stream])
    with write(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=packed)) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _write_parquet(table: pa.Table, rng: random.Random) -> bytes:
    packed: Any = rng.choice(["none", "none", "snappy", "zstd", "gzip"])
    if rng.random() < 0.3:
        buffer = io.BytesIO()
        pl.DataFrame(table).write_parquet(
            buffer, compression="uncompressed" if packed == "none" else packed
        )
        return buffer.getvalue()
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(
        table,
        sink,
        compression=packed,
        use_dictionary=rng.random() < 0.5,
        data_page_version=rng.choice(["1.0", "2.0"]),
    )
    return bytes(sink.getvalue())


def _write_excel(table: pa.Table, rng: random.Random) -> bytes:
    del rng
    buffer = io.BytesIO()
    frame = pl.DataFrame(table)
    frame.select(name for name in frame.columns if name not in NOT_IN_EXCEL).write_excel(buffer)
    return buffer.getvalue()


def _write_text(table: pa.Table, rng: random.Random) -> bytes:
    frame = pl.DataFrame(table).drop("bytes", "wait", strict=False)
    if rng.random() < 0.5:
        return frame.write_ndjson().encode()
    flat = [name for name, kind in frame.schema.items() if not kind.is_nested()]
    return frame.select(flat).write_csv().encode()


WRITERS: dict[str, Callable[[pa.Table, random.Random], bytes]] = {
    "in.arrow": _write_arrow,
    "in.parquet": _write_parquet,
    "in.xlsx": _write_excel,
    "in.gz": _write_text,
}


def damage(content: bytes, rng: random.Random) -> bytes:
    """Change, delete or repeat some bytes."""
    if not content:
        return content
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        place = rng.randrange(len(changed))
        kind = rng.random()
        if kind < 0.5:
            changed[place] = rng.randrange(256)
        elif kind < 0.8:
            place -= place % 4
            changed[place : place + 4] = rng.choice(INTEGERS).to_bytes(4, "little")
        elif kind < 0.9:
            size = rng.randint(1, 64)
            start = rng.randrange(len(changed))
            changed[place : place + size] = changed[start : start + size]
        elif kind < 0.95:
            del changed[place : place + rng.randint(1, 64)]
        else:
            changed[place] ^= 1 << rng.randrange(8)
    if rng.random() < 0.05:
        del changed[rng.randrange(len(changed)) :]
    return bytes(changed)


def make_damaged_file(seed: int, number: int) -> tuple[str, bytes]:
    """Return the name and content of a damaged file, in each format in turn."""
    rng = random.Random(f"{seed} {number}")  # noqa: S311 # no secret depends on it
    name = [*WRITERS][number % len(WRITERS)]
    content = WRITERS[name](make_table(rng), rng)
    is_inside = rng.random() < 0.7
    if name == "in.gz":
        content = damage(content, rng) if is_inside else content
        content = gzip.compress(content, mtime=0)
    elif name == "in.xlsx" and is_inside:
        return name, _damage_workbook_part(content, rng)
    return name, content if name == "in.gz" and is_inside else damage(content, rng)


def _damage_workbook_part(workbook: bytes, rng: random.Random) -> bytes:
    """Return a valid ZIP file in which one part of a workbook is damaged."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook)) as parts, zipfile.ZipFile(packed, "w") as damaged:
        chosen = rng.choice([name for name in PLACES if name in parts.namelist()])
        for name in parts.namelist():
            part = parts.read(name)
            damaged.writestr(name, damage(part, rng) if name == chosen else part)
    return packed.getvalue()


def find_crashes(seed: int, count: int) -> Iterator[Finding]:
    """Yield the bugs that child processes find when they read `count` damaged files."""
    for first in range(0, count, FILES_PER_CHILD):
        stop = min(first + FILES_PER_CHILD, count)
        while first < stop:
            number, said = _run_child(seed, first, stop)
            if said:
                yield Finding(f"python -m tests.damaged_files {seed} {number} {number + 1}", said)
            first = number + 1


def _run_child(seed: int, first: int, stop: int) -> tuple[int, str]:
    """Return the number of the last file that a child read, and its error message."""
    words = [sys.executable, "-m", "tests.damaged_files", *map(str, (seed, first, stop))]
    try:
        child = subprocess.run(  # noqa: S603 # our own code
            words, capture_output=True, text=True, timeout=TIMEOUT, errors="replace"
        )
    except subprocess.TimeoutExpired as hanging:
        lines = (hanging.stdout or b"").decode().split()
        return int(lines[-1]) if lines else first, f"takes more than {TIMEOUT} s"
    lines = child.stdout.split()
    number = int(lines[-1]) if lines else first
    if child.returncode == 0 and not child.stderr:
        return number, ""
    return number, f"{child.stderr[-3000:]}\nends with {child.returncode}".strip()


def _read_damaged_files(seed: int, first: int, stop: int) -> None:
    """Read damaged files; exit at the first bug."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number in range(first, stop):
            print(number, flush=True)
            name, content = make_damaged_file(seed, number)
            Path(name).write_bytes(content)
            target = TARGETS[number // len(WRITERS) % len(TARGETS)]
            question = ("battle", "campaign")[number % 7 == 0]
            for line in (f"batch {name} {target} --question {question}", f"audit {name}"):
                if wrong := fuzz.run(line.split()):
                    sys.exit(f"{wrong.asked}\n{wrong.said}")
            if stray := {*os.listdir()} - {*WRITERS, *TARGETS}:
                sys.exit(f"leaves {sorted(stray)}")


if __name__ == "__main__":
    _read_damaged_files(*map(int, sys.argv[1:4]))
