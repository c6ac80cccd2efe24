"""Batches on a cluster: the same answers as in a single process, and no rows are lost."""

import io
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from iacta import IactaError
from iacta.batch import BatchResult, answer, answer_file
from iacta.batch.cluster import open_cluster
from tests.cli.conftest import run
from tests.cli.run import Run

__all__ = ["run"]

ROWS = 3_000
LARGE = 10**18 + 1


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Yield the client of a local cluster."""
    pytest.importorskip("dask.dataframe")
    with open_cluster("local") as client:
        yield client


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use small blocks, so that each test file has several."""
    monkeypatch.setattr("iacta.batch.cluster.CLUSTER_BLOCK_BYTES", 20_000)
    monkeypatch.setattr("iacta.inputs.tabular.BLOCK_BYTES", 2_000)


@pytest.fixture
def battles(tmp_path: Path) -> pl.DataFrame:
    """Write battles with missing values, errors and large numbers in each format."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(rng.integers(0, 40, (ROWS, 2)), schema=["attackers", "defenders"])
    notes = pl.Series("note", ['a "b", c', None, "=1+1", "東京"] * (ROWS // 4))
    ids = pl.Series("id", [LARGE, None, 3] * (ROWS // 3))
    late = pl.Series("rules", ["capital", *[None] * (ROWS - 2), "wall"])
    gaps = pl.when(pl.col("attackers") == 7).then(None).otherwise(pl.col("attackers"))
    frame = frame.with_columns(gaps, notes, ids, late)
    frame.write_parquet(tmp_path / "in.parquet", row_group_size=700)
    frame.write_csv(tmp_path / "in.csv", separator=";", include_bom=True)
    frame.write_ndjson(tmp_path / "in.jsonl")
    frame.write_csv(tmp_path / "in.csv.gz", compression="gzip")
    return frame


def read_output(place: Path) -> pl.DataFrame:
    """Read the rows of a target."""
    if place.suffix == ".parquet":
        return pl.read_parquet(place / "*.parquet" if place.is_dir() else place)
    if ".jsonl" in place.name:
        return pl.read_ndjson(place, infer_schema_length=None)
    mark = ";" if b";" in place.read_bytes()[:20] else ","
    return pl.read_csv(place, infer_schema_length=None, separator=mark)


@pytest.mark.parametrize("source", ["in.csv", "in.csv.gz", "in.jsonl", "in.parquet"])
@pytest.mark.parametrize("ending", ["csv", "jsonl.gz", "parquet"])
def test_a_cluster_writes_the_same_rows_as_a_single_process(
    client: Any, battles: pl.DataFrame, tmp_path: Path, source: str, ending: str
) -> None:
    alone, together = tmp_path / f"alone.{ending}", tmp_path / f"together.{ending}"
    done = answer_file(tmp_path / source, together, client=client)
    assert done == answer_file(tmp_path / source, alone) == (ROWS, done.errors)
    assert done.errors > 0
    if ending == "csv":
        assert together.read_bytes() == alone.read_bytes()
    found, wanted = read_output(together), read_output(alone)
    if (source, ending) == ("in.jsonl", "parquet"):  # a cluster reads JSON cells as text
        wanted = wanted.with_columns(pl.col("attackers", "defenders").cast(pl.String))
    assert found.equals(wanted)
    added = answer(battles).select("win_probability", "error")
    assert found.select("win_probability", "error").equals(added)
    assert found["id"].to_list() == wanted["id"].to_list()
    assert str(LARGE) == str(found["id"][0])
    assert {each.name[:3] for each in tmp_path.iterdir()} == {
        "in.",
        "alo",
        "tog",
    }  # no temporary files are left


def test_a_killed_worker_loses_no_row(client: Any, battles: pl.DataFrame, tmp_path: Path) -> None:
    alone, together = tmp_path / "alone.csv", tmp_path / "together.csv"
    answer_file(tmp_path / "in.csv", alone)
    killed: list[int] = []

    def watch(
        doing: str, part: float | None, *, keeps: bool = False, so_far: object = None
    ) -> None:
        if not killed:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)

    assert answer_file(tmp_path / "in.csv", together, client=client, watch=watch).rows == ROWS
    assert killed
    assert together.read_bytes() == alone.read_bytes()


def test_two_runs_at_once_each_write_all_rows(
    client: Any, battles: pl.DataFrame, tmp_path: Path
) -> None:
    battles[:2000].write_csv(tmp_path / "some.csv")

    def answered(pair: tuple[str, str]) -> BatchResult | str:
        try:
            return answer_file(tmp_path / pair[0], tmp_path / pair[1], client=client)
        except IactaError as refused:
            return str(refused)

    pairs = [
        (source, target)
        for target in ("out.csv", "out.parquet")
        for source in ("in.csv", "some.csv")
    ]
    with ThreadPoolExecutor(4) as pool:
        first, second, *folders = pool.map(answered, pairs)
    assert isinstance(first, BatchResult)
    assert isinstance(second, BatchResult)
    assert (first.rows, second.rows) == (ROWS, 2000)
    assert read_output(tmp_path / "out.csv").height in (ROWS, 2000)
    # One run creates the folder; the other run reports an error.
    (done,) = (each for each in folders if isinstance(each, BatchResult))
    (said,) = (each for each in folders if isinstance(each, str))
    assert "out.parquet" in said
    assert read_output(tmp_path / "out.parquet").height == done.rows
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_a_folder_is_never_replaced(client: Any, battles: pl.DataFrame, tmp_path: Path) -> None:
    target = tmp_path / "out.parquet"
    target.mkdir()
    with pytest.raises(IactaError, match="it is a folder"):
        answer_file(tmp_path / "in.csv", target, client=client)
    target.rmdir()
    target.write_text("mine")
    with pytest.raises(IactaError, match="a cluster writes Parquet into a new folder"):
        answer_file(tmp_path / "in.csv", target, client=client)
    assert target.read_text() == "mine"
    target.unlink()

    def meanwhile(*_: object, **__: object) -> None:
        target.mkdir(exist_ok=True)
        (target / "mine").write_text("mine")

    with pytest.raises(IactaError, match=r"cannot write '.*out.parquet': "):
        answer_file(tmp_path / "in.csv", target, client=client, watch=meanwhile)
    assert [each.name for each in target.iterdir()] == ["mine"]
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_block_with_missing_rows_is_an_error(
    client: Any, battles: pl.DataFrame, tmp_path: Path, ending: str
) -> None:
    target = tmp_path / f"out.{ending}"

    def spoil(
        doing: str, part: float | None, *, keeps: bool = False, so_far: object = None
    ) -> None:
        if part == 1.0:
            (folder,) = tmp_path.glob(".*")
            shutil.copy(folder / f"part.00000000.{ending}", folder / f"part.00000001.{ending}")

    with pytest.raises(IactaError, match=r"the blocks must have [0-9,]* (rows|bytes), got"):
        answer_file(tmp_path / "in.csv", target, client=client, watch=spoil)
    assert not target.exists()


HEAD = b"attackers,defenders\n"
ROW = b'{"attackers": 12, "defenders": 10}\n'
REFUSED = [
    (
        HEAD + b"12,10\n" * 9000 + b"12\n",
        "in': the block at byte 40,000: line 2337: expected 2 cells",
    ),
    (HEAD + b"12,10\n" * 9000 + b"1,2,3\n", "at byte 40,000: line 2337: expected 2 cells, as in"),
    (
        HEAD + b"12,10\n" * 3330 + b'12,"' + b"1\n" * 999 + b'"\n',
        "a quoted cell must not contain a line break at the end of a block",
    ),
    (
        HEAD + b"12,10\n" * 900 + b"12,\xff\n",
        "the block at byte 0: line 902: the text must be UTF-8",
    ),
    (ROW * 900 + b"{nonsense}\n", "the block at byte 20,000: line 329: invalid JSON"),
    (ROW * 900 + b'{"new": 1}\n', "the key 'new' must also be in the first lines"),
    (b"[1]", "a cluster can only read and write CSV, JSON lines and Parquet"),
]


@pytest.mark.parametrize(("content", "sentence"), REFUSED)
def test_errors_of_blocks_name_the_block(
    client: Any, tmp_path: Path, content: bytes, sentence: str
) -> None:
    (tmp_path / "in").write_bytes(content)
    (tmp_path / "out.csv").write_text("what was there before")
    with pytest.raises(IactaError) as refused:
        answer_file(tmp_path / "in", tmp_path / "out.csv", client=client)
    assert sentence in str(refused.value)
    assert (tmp_path / "out.csv").read_text() == "what was there before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in", "out.csv"]


def test_slow_questions_are_divided_among_the_workers(client: Any, tmp_path: Path) -> None:
    frame = pl.DataFrame({"territories": [f"{n}:capital 2" for n in range(1, 60)]})
    frame.write_csv(tmp_path / "in.csv")
    blocks: list[float | None] = []

    def watch(
        doing: str, part: float | None, *, keeps: bool = False, so_far: object = None
    ) -> None:
        blocks.append(part)

    answer_file(tmp_path / "in.csv", tmp_path / "out.csv", "need", client=client, watch=watch)
    assert len(blocks) >= 2 * len(client.nthreads())
    found = pl.read_csv(tmp_path / "out.csv")["attackers"]
    assert found.to_list() == answer(frame, "need")["attackers"].to_list()


def test_the_command_uses_a_cluster_and_prints_the_dashboard(
    run: Run, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("attackers,defenders\n12,10\n5,x\n")
    code, out, said = run(f"batch in.csv out.csv --cluster {client.scheduler.address}")
    assert (code, out) == (1, "1 of 2 rows answered.\n")
    assert f"iacta: Dask dashboard: {client.dashboard_link}\n" in said
    assert run("batch in.csv -").stdout == Path("out.csv").read_text()
    code, out, said = run(f"batch in.csv - --cluster {client.scheduler.address}")
    assert (code, out) == (2, "")
    assert said.endswith("a cluster cannot write to a pipe, got '-'\n")
    Path("in.json").write_text(json.dumps([{"attackers": 12, "defenders": 10}]))
    pl.read_csv(io.StringIO("attackers,defenders\n1,2")).write_excel("in.xlsx")
    for source in ("in.json", "in.xlsx"):
        refused = run(f"batch {source} out.csv --cluster {client.scheduler.address}")
        assert "a cluster can only read and write CSV, JSON lines and Parquet" in refused.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no masks of signals")
def test_ctrl_c_in_a_terminal_does_not_reach_the_workers(client: Any) -> None:
    def find_blocked() -> set[int | signal.Signals]:
        return signal.pthread_sigmask(signal.SIG_BLOCK, [])

    assert all(signal.SIGINT in blocked for blocked in client.run(find_blocked).values())
    assert signal.SIGINT not in find_blocked()


def test_a_damaged_block_of_parquet_is_refused(client: Any, tmp_path: Path) -> None:
    day = pa.array([2**31 - 1], pa.int32()).view(pa.date32())
    table = pa.table({"attackers": [9], "defenders": [5], "day": day})
    pa.parquet.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(IactaError, match="the column 'day' must have dates in the years 1 to 9999"):
        answer_file(tmp_path / "in.parquet", tmp_path / "out.csv", client=client)


def test_an_unreachable_cluster_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("iacta.batch.cluster.CONNECT_TIMEOUT", 0.2)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(IactaError, match="cluster must be local or"), open_cluster(address):
            pass
