"""Files of every format get their answers, whoever gives them, to the last byte."""

import bz2
import gzip
import io
import json
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

from iacta import IactaError, ask
from iacta.batch import answer, answer_file
from iacta.batch import run as runs
from iacta.batch.files import Format, Source
from iacta.batch.parts import Job, answer_part
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
        "the line must be JSON, got: Ex",
        "the line must be an object of ",
        "lists and tables must be at mo",
        "the line must be plain JSON, g",
        None,
        "error must be another name, go",
        "the line must be plain JSON, g",
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
    monkeypatch.setattr("iacta.batch.files.BLOCK", len(first))
    answer_file(tmp_path / "in.jsonl", tmp_path / "out.parquet", attackers=None)
    found = read(tmp_path / "out.parquet")
    assert found.schema["size"] == pl.Int64
    assert found["list"].to_list() == ["[1]", "[1]", None, None]
    assert found["error"].to_list()[2:] == [
        "size must be a whole as in the first lines, got 'big'",
        "keys must be among those of the first lines, got 'new'",
    ]


def test_a_cell_of_csv_may_write_a_whole_number_with_a_point(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("attackers,defenders\n12.0,10\n12,10\n12.5,10\n")
    assert answer_file(tmp_path / "in.csv", tmp_path / "out.parquet").errors == 1
    found = pl.read_parquet(tmp_path / "out.parquet")
    assert found["attackers"].to_list() == [12, 12, None]
    assert found["win_probability"][0] == found["win_probability"][1] > 0


REFUSED: list[tuple[str, bytes, str, str]] = [
    ("in.txt", b"", "out.csv", "the file must end in .csv"),
    ("in.csv", b"", "out.txt", "the file must end in .csv"),
    ("in.parquet.gz", b"", "out.csv", "the file must end in .csv"),
    ("none.csv", b"", "out.csv", "No such file"),
    ("in.csv", b"", "out.csv", "must be a file that can be read, got: Empty CSV"),
    ("in.csv", b"attackers,defenders\n1,2\n1,2,3\n", "out.csv", "Expected 2 columns, got 3"),
    ("in.csv", b"attackers,defenders\n\xff,2\n", "out.csv", "must be a file that can be read"),
    ("in.csv", "attackers\n3\n".encode("utf-16"), "out.csv", "must be UTF-8, got UTF-16; save"),
    ("in.jsonl", "{}\n".encode("utf-16"), "out.csv", "must be UTF-8, got UTF-16; save"),
    ("in.csv.gz", gzip.compress(b"\xfe\xff\0a\0\n"), "out.csv", "must be UTF-8, got UTF-16; save"),
    ("in.csv", b"attackers,attackers\n3,2\n", "out.csv", "once, got 'attackers' twice"),
    ("in.csv", b"attackers\n3\n", "out.csv", "defenders must be a column, or given"),
    ("in.csv", b"attackers,defenders,error\n3,2,1\n", "out.csv", "got 'error'"),
    ("in.jsonl", b'{"attackers": 3}\n\xff\n', "out.csv", "lines must be UTF-8"),
    ("in.jsonl", b'{"attackers": 3}\n', "out.jsonl", "defenders must be a column, or given"),
    ("in.parquet", b"nonsense", "out.csv", "must be a file that can be read"),
    ("in.arrow", b"nonsense", "out.csv", "must be a file that can be read"),
    ("in.csv.gz", b"nonsense", "out.csv", "must be a file that can be read"),
    ("in.csv", b"attackers,defenders\n3,2\n", "in.csv", "must be another file than the source"),
    ("in.csv", b"attackers,defenders\n3,2\n", "none/out.csv", "the folder of the target"),
    ("in.csv", b"attackers,defenders\n3,2\n", f"{'x' * 300}.csv", "File name too long"),
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
    assert [each.name for each in tmp_path.iterdir()] == ([name] if name != "none.csv" else [])


@pytest.mark.parametrize("target", ["out.csv", "out.jsonl"])
@pytest.mark.parametrize("held", [b"x", [b"x"], {"a": b"x"}])
def test_bytes_are_refused_where_the_target_is_text(
    tmp_path: Path, held: object, target: str
) -> None:
    table = pa.table({"attackers": [9], "defenders": [5], "held": [held]})
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(IactaError, match="can hold them, got 'held' of binary"):
        answer_file(tmp_path / "in.parquet", tmp_path / target)
    assert answer_file(tmp_path / "in.parquet", tmp_path / "out.arrow").rows == 1


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
    with pytest.raises(IactaError, match="resume must go on with the same question"):
        answer_file(parquet, target, part_rows=50, resume=True, rules=None, garrison=2)
    with pytest.raises(IactaError, match="resume must go on with the same question"):
        answer_file(parquet, target, part_rows=60, resume=True)
    done = answer_file(parquet, target, part_rows=50, resume=True, executor=second)
    assert (done.resumed, done.parts, second.count) == (7, 12, 5)
    assert target.read_bytes() == whole.read_bytes()
    assert {each.name for each in parquet.parent.iterdir()} == {
        "in.parquet",
        "out.parquet",
        "whole.parquet",
    }


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


def test_a_cluster_answers_the_same_and_a_worker_that_is_killed_loses_nothing(
    chains: Path,
) -> None:
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
        "3 rows answered.\n",
        "iacta: 2 rows have errors, which the column error tells\n",
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
    code, out, told = piped(b"attackers,defenders\n12,10\n", "batch - - --columns win_probability")
    assert (code, out) == (
        0,
        b"attackers,defenders,win_probability,error\n12,10,0.6538260547697077,\n",
    )
    assert told == b"1 row answered.\n"
    table = pa.table({"attackers": [12], "defenders": [10]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    code, out, told = piped(sink.getvalue().to_pybytes(), "batch - -")
    assert pa.ipc.open_stream(out).read_all().equals(answer(table))
    code, out, told = piped(b"PAR1....PAR1", "batch - -")
    assert (code, told[:36]) == (2, b"iacta: Parquet must be read from a f")


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
    out, told = started.communicate()
    assert (started.returncode, out) == (130, "")
    assert told.endswith("done; --resume goes on from there\n")
    assert not (tmp_path / "out.csv").exists()


def test_the_function_of_a_part_is_pure(battles: pl.DataFrame, tmp_path: Path) -> None:
    source = written(battles, tmp_path / "in.parquet")
    with Source(source) as opened:
        job = Job(read_asked("battle"), opened.format, Format("csv"))
        (part,) = opened.parts(COUNT)
    with ThreadPoolExecutor(4) as pool:
        texts = {
            each.column("text")[0].as_py() for each in pool.map(answer_part, [part] * 8, [job] * 8)
        }
    assert len(texts) == 1
