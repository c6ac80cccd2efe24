"""Benchmarks of batches: ten million battles, campaigns, plans on a cluster, a killed worker.

    python -m benchmarks.batches [ROWS]

This measures more plans than `make bench`, and the memory for ten million battles. ROWS is the
number of battles for a cluster that loses a worker.
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet

from benchmarks.measure import Comparison, Measurement, seconds
from iacta import ask, read_position

ALL_ROWS = 10**7
LARGE = 10**8
CALLS = 100_000
TIMED = 300  # number of timed calls and of timed campaigns
ASIA = Path(__file__).parent.parent / "examples" / "asia.toml"
PLANS, ALL_PLANS = 40, 200
ADDED = (
    "win_probability",
    "expected_attackers_left",
    "expected_defenders_left",
    "expected_attackers_left_if_won",
)
PLAIN = "import polars, sys; polars.read_parquet(sys.argv[1]).write_parquet(sys.argv[2])"


def run_python(words: list[str]) -> None:
    """Run Python with the given arguments."""
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)


def write_battles(file: str, rows: int) -> list[tuple[int, int]]:
    """Write random battles to a file, and return a sample of the battles."""
    import polars as pl

    numbers = np.random.default_rng(1).integers(1, 201, (rows, 2))
    pl.DataFrame(numbers, schema=["attackers", "defenders"]).write_parquet(file)
    return [(int(a), int(d)) for a, d in numbers[:TIMED]]


def compare_battles(rows: int = ALL_ROWS) -> Iterator[Comparison]:
    """Compare a batch of battles, in its own process, with plain Polars and with a loop."""
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        source, target, copy = (str(Path(folder) / f"{n}.parquet") for n in ("in", "out", "copy"))
        calls = write_battles(source, rows)
        ours = seconds(lambda: run_python(["-m", "iacta", "batch", source, target]), 3)
        pl.read_parquet(target).select("attackers", "defenders", *ADDED).write_parquet(copy)
        plain = seconds(lambda: run_python(["-c", PLAIN, copy, target]), 3)
    yield Comparison(
        f"{rows:,} battles up to 200 v 200, Parquet to Parquet",
        ours,
        "Polars reads and writes the same columns",
        plain,
        1 / 4,
    )
    single = seconds(
        lambda: [ask("battle", attackers=a, defenders=d).record() for a, d in calls], 1
    )
    yield Comparison(
        f"{CALLS:,} battles, at the time per battle of a batch of {rows:,}",
        ours * CALLS / rows,
        f"a loop of {CALLS:,} calls ({TIMED} timed)",
        single * CALLS / TIMED,
        100,
    )


def compare_campaigns(rows: int = 10**5) -> Iterator[Comparison]:
    """Compare a batch of campaigns of five territories with a loop."""
    import polars as pl

    from iacta.batch import answer

    rng = np.random.default_rng(2)
    ways = rng.integers(1, 13, (rows, 5)).tolist()
    frame = pl.DataFrame({"attackers": rng.integers(5, 61, rows), "territories": ways})
    some = frame[:TIMED].rows()
    single = seconds(
        lambda: [ask("campaign", attackers=a, territories=way).record() for a, way in some], 1
    )
    yield Comparison(
        f"{rows:,} campaigns of 5 territories",
        seconds(lambda: answer(frame, "campaign"), 1),
        f"one campaign at a time ({TIMED} timed)",
        single * rows / TIMED,
        10,
    )


def compare_plans(plans: int = PLANS) -> Iterator[Comparison]:
    """Compare planning for a continent on two workers of a local cluster with a single worker."""
    import polars as pl

    from iacta.batch import answer_file

    distributed: Any = import_module("distributed")
    text = ASIA.read_text(encoding="utf-8")
    held = read_position(ASIA)
    stack = max(each.armies for each in held.holdings)
    texts = [text.replace(f"armies = {stack} ", f"armies = {stack - n} ") for n in range(plans)]
    taken = {}
    with tempfile.TemporaryDirectory() as folder:
        source, target = str(Path(folder) / "in.parquet"), str(Path(folder) / "out.csv")
        for workers in (1, 2):
            options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
            with (
                distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, **options
                ) as local,
                distributed.Client(local) as client,
            ):
                for rows in (
                    texts[: 2 * workers],
                    texts,
                ):  # the first batch only warms up the workers
                    pl.DataFrame({"position": rows}).write_parquet(source)
                    start = time.perf_counter()
                    answer_file(source, target, "plan", client=client, take="Asia", play="battles")
                    taken[workers] = time.perf_counter() - start
    yield Comparison(
        f"{plans:,} plans of a continent on two workers", taken[2], "on one worker", taken[1], 1.8
    )


def measure_large_batch(rows: int = LARGE) -> Iterator[Measurement]:
    """Measure a batch larger than memory on a local cluster that loses a worker."""
    import polars as pl

    from iacta.batch import answer_file
    from iacta.batch.cluster import open_cluster

    killed: list[int] = []
    most = 0
    is_done = Event()

    def look() -> None:
        nonlocal most
        while not is_done.wait(0.2):
            here = psutil.Process()
            memory = 0
            for process in (here, *here.children(recursive=True)):
                with suppress(psutil.Error):  # the process may have ended
                    memory += process.memory_info().rss
            most = max(most, memory)

    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.parquet", Path(folder) / "out.parquet"
        write_large(source, rows)
        watcher = Thread(target=look)
        watcher.start()
        start = time.perf_counter()
        with open_cluster("local") as client:

            def watch(
                doing: str, part: float | None, *, keeps: bool = False, so_far: object = None
            ) -> None:
                if not killed and part and part >= 0.5:
                    killed.append(min(client.run(os.getpid).values()))
                    os.kill(killed[0], signal.SIGKILL)

            done = answer_file(source, target, client=client, watch=watch)
        taken = time.perf_counter() - start
        is_done.set()
        watcher.join()
        asked = pl.scan_parquet(source).select("attackers", "defenders")
        found = pl.scan_parquet(target / "*.parquet")
        sums = [
            each.select(pl.all().sum()).collect().row(0)
            for each in (asked, found.select(asked.collect_schema().names()))
        ]
        lost = rows - found.select(pl.col("win_probability").count()).collect().item()
    claim = f"{rows:,} battles, --cluster local, a worker killed"
    is_whole = killed and done == (rows, 0) and sums[0] == sums[1]
    yield Measurement(f"{claim}: rows lost", lost if is_whole else rows, 0, False, rows)
    yield Measurement(f"{claim}: GB of all processes", most / 1e9, 4, False, rows)
    yield Measurement(f"{claim}: seconds", taken, None, False, rows)


def write_large(file: Path, rows: int) -> None:
    """Write random battles to a Parquet file, ten million at a time."""
    rng = np.random.default_rng(1)
    schema = pa.schema({"attackers": pa.int32(), "defenders": pa.int32()})
    with pa.parquet.ParquetWriter(file, schema) as writer:
        for first in range(0, rows, ALL_ROWS):
            numbers = rng.integers(1, 201, (min(ALL_ROWS, rows - first), 2), np.int32)
            writer.write_table(pa.table([*numbers.T], schema=schema), row_group_size=2**18)


MEASURES = (compare_battles, compare_campaigns, compare_plans, measure_large_batch)


def main() -> None:
    """Run all benchmarks of batches, and measure the memory of a batch that fits in memory."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else LARGE
    with tempfile.TemporaryDirectory() as folder:
        source, target = (str(Path(folder) / f"{name}.parquet") for name in ("in", "out"))
        write_battles(source, ALL_ROWS)
        run_python(["-m", "iacta", "batch", source, target])
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    print(
        Measurement(f"{ALL_ROWS:,} battles by Polars: GB", memory, 3, False, ALL_ROWS), flush=True
    )
    for lines in (
        compare_battles(),
        compare_campaigns(),
        compare_plans(ALL_PLANS),
        measure_large_batch(rows),
    ):
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
