"""Measures batches: battles by the ten million, campaigns, and plans on a cluster.

    python -m benchmarks.batches [ROWS]

A tenth of it is measured by `make bench`; this measures all, and the memory.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Line, seconds
from iacta import ask, read_position

ROWS = 10**6
ALL_ROWS = 10**7
CALLS = 100_000
TIMED = 300  # of the calls, and of the campaigns one after another
ASIA = Path(__file__).parent.parent / "examples" / "asia.toml"
PLANS, ALL_PLANS = 40, 200
ADDED = (
    "win_probability",
    "expected_attackers_left",
    "expected_defenders_left",
    "expected_attackers_left_if_won",
)
PLAIN = "import polars, sys; polars.read_parquet(sys.argv[1]).write_parquet(sys.argv[2])"


def ended(words: list[str]) -> None:
    """Run Python with some words to its end."""
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)


def write_battles(file: str, rows: int) -> list[tuple[int, int]]:
    """Write random battles into a file, and return some of them."""
    import polars as pl

    numbers = np.random.default_rng(1).integers(1, 201, (rows, 2))
    pl.DataFrame(numbers, schema=["attackers", "defenders"]).write_parquet(file)
    return [(int(a), int(d)) for a, d in numbers[:TIMED]]


def battle_lines(rows: int = ROWS) -> Iterator[Line]:
    """Measure battles from Parquet to Parquet, whole processes, beside plain Polars and a loop."""
    import polars as pl

    with tempfile.TemporaryDirectory() as folder:
        source, target, copy = (str(Path(folder) / f"{n}.parquet") for n in ("in", "out", "copy"))
        calls = write_battles(source, rows)
        ours = seconds(lambda: ended(["-m", "iacta", "batch", source, target]), 3)
        pl.read_parquet(target).select("attackers", "defenders", *ADDED).write_parquet(copy)
        plain = seconds(lambda: ended(["-c", PLAIN, copy, target]), 3)
    yield Line(
        f"{rows:,} battles up to 200 v 200, Parquet to Parquet",
        ours,
        "Polars reads and writes the same columns",
        plain,
        1 / 4,
    )
    single = seconds(
        lambda: [ask("battle", attackers=a, defenders=d).record() for a, d in calls], 1
    )
    yield Line(
        f"{rows:,} battles, each at its share of the time: {CALLS:,} of them",
        ours * CALLS / rows,
        f"a loop of {CALLS:,} calls ({TIMED} timed)",
        single * CALLS / TIMED,
        100,
    )


def campaign_lines(rows: int = 10**5) -> Iterator[Line]:
    """Measure campaigns of five territories, beside one after the other."""
    import polars as pl

    from iacta.batch import answer

    rng = np.random.default_rng(2)
    ways = rng.integers(1, 13, (rows, 5)).tolist()
    frame = pl.DataFrame({"attackers": rng.integers(5, 61, rows), "territories": ways})
    some = frame[:TIMED].rows()
    single = seconds(
        lambda: [ask("campaign", attackers=a, territories=way).record() for a, way in some], 1
    )
    yield Line(
        f"{rows:,} campaigns of 5 territories",
        seconds(lambda: answer(frame, "campaign"), 1),
        f"one after the other ({TIMED} timed)",
        single * rows / TIMED,
        10,
    )


def cluster_lines(plans: int = PLANS) -> Iterator[Line]:
    """Measure plans of a continent on two workers of a local cluster, beside one worker."""
    import polars as pl

    from iacta.batch.run import answer_file, cluster

    local_cluster: Any = import_module("distributed").LocalCluster
    text = ASIA.read_text(encoding="utf-8")
    held = read_position(ASIA)
    stack = max(each.armies for each in held.holdings)
    texts = [text.replace(f"armies = {stack} ", f"armies = {stack - n} ") for n in range(plans)]
    taken = {}
    with tempfile.TemporaryDirectory() as folder:
        source, target = str(Path(folder) / "in.parquet"), str(Path(folder) / "out.parquet")
        for workers in (1, 2):
            options = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
            with (
                local_cluster(n_workers=workers, threads_per_worker=1, **options) as local,
                cluster(local.scheduler_address) as (executor, count),
            ):
                for rows in (texts[: 2 * workers], texts):  # the first are to load the workers
                    pl.DataFrame({"position": rows}).write_parquet(source)
                    start = time.perf_counter()
                    answer_file(
                        source,
                        target,
                        "plan",
                        take="Asia",
                        play="battles",
                        executor=executor,
                        workers=count,
                        part_rows=1,
                    )
                    taken[workers] = time.perf_counter() - start
    yield Line(
        f"{plans:,} plans of a continent on two workers", taken[2], "on one worker", taken[1], 1.8
    )


MEASURES = (battle_lines, campaign_lines, cluster_lines)


def main() -> None:
    """Measure all, and print it with the memory of the largest process."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ALL_ROWS
    with tempfile.TemporaryDirectory() as folder:
        source, target = (str(Path(folder) / f"{name}.parquet") for name in ("in", "out"))
        write_battles(source, rows)
        ended(["-m", "iacta", "batch", source, target])
    memory = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{rows:,} battles take {memory / 1e6:,.0f} MB of memory, at most 1,000", flush=True)
    for lines in (battle_lines(rows), campaign_lines(), cluster_lines(ALL_PLANS)):
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
