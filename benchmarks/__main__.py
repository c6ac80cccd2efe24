"""Run the benchmarks and print each row as soon as it has been measured: `make bench [GROUP=...]`.

    python -m benchmarks [GROUP ...]

Without a name, all groups run. The rows are also written to `build/bench.json`. Some groups have
longer versions that are commands of their own, such as `python -m benchmarks.planner`.
"""

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np

from benchmarks import (
    batches,
    board,
    coherence,
    compiled,
    decisions,
    eliminations,
    environment,
    limits,
    load,
    plain,
    planner,
    war,
)
from benchmarks.measure import Comparison, Measurement, seconds
from iacta import Battle, Campaign, armies_needed, simulate_campaign, win_probability, win_table
from iacta.methods import choose_kernel, counting
from iacta.rules.roll import _count_losses, loss_counts
from iacta.rules.rules import CLASSIC

UNFINISHED = [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]
CHANCES = [p / 100 for p in (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99)]
MATCH_UPS = [(i, j) for i in (1, 2, 3) for j in (1, 2)]
MAX_PROCESS_RATIO = 1.4  # time of the command, relative to importing NumPy
RESULTS = Path("build") / "bench.json"
Measure: TypeAlias = Callable[[], Iterator[Comparison | Measurement]]
# Mostly even battles, from small to very large. Attackers include the garrison.
SINGLE_BATTLES = [
    (11, 10),
    (101, 100),
    (855, 1_000),
    (8_536, 10_000),
    (853_401, 10**6),
    (853_414_375, 10**9),
    (853_414_372_544, 10**12),
    (10**12, 10**12),
    (100, 500),
    (3_000, 5_000),
]


def compare_rolls() -> Iterator[Comparison]:
    """Compare the losses in the six classic rolls, without a cache."""

    def cold() -> None:
        loss_counts.cache_clear()
        _count_losses.cache_clear()
        counting._compute_coefficients.cache_clear()
        for dice in MATCH_UPS:
            loss_counts(*dice, CLASSIC)

    theirs = seconds(lambda: [plain.loss_counts(*dice) for dice in MATCH_UPS])
    yield Comparison(
        "the six classic rolls without a cache",
        seconds(cold),
        "enumeration of all rolls",
        theirs,
        1,
        0.005,
    )


def compare_battles() -> Iterator[Comparison]:
    """Compare battles computed in fractions and in floats."""
    battle = Battle(101, 100)
    yield Comparison(
        "100 v 100 in fractions",
        seconds(lambda: battle.win_probability(exact=True), 9),
        "dictionary of fractions",
        seconds(lambda: plain.fraction_win_table(101, 100), 3),
        50,
    )
    yield Comparison(
        "100 v 100 in floats",
        seconds(battle.win_probability),
        "memoised recursion",
        seconds(lambda: plain.recursive_win_probability(101, 100, {})),
    )


def compare_large_battles() -> Iterator[Comparison]:
    """Compare battles of all sizes with a battle of 1,000; compare a search with brute force."""

    def measure_time(attackers: int, defenders: int) -> float:
        battle = Battle(attackers, defenders)
        battle.win_probability()
        return seconds(battle.win_probability, 101)

    thousand = measure_time(*SINGLE_BATTLES[2])
    for attackers, defenders in SINGLE_BATTLES:
        yield Comparison(
            f"{attackers:,} v {defenders:,} in floats",
            measure_time(attackers, defenders),
            "a battle against 1,000 defenders",
            thousand,
            1 / 2,
            0.001,
        )
    yield Comparison(
        "armies needed for 95% against 10^9",
        seconds(lambda: armies_needed(10**9, 0.95), 21),
        "compiled loop over all states (1,000 x 1,000 timed)",
        seconds(lambda: compiled.win_table(1000, 1000)) * (armies_needed(10**9, 0.95) / 1000) * 1e6,
        1,
        0.005,
    )


def compare_fractions() -> Iterator[Comparison]:
    """Compare large battles computed in fractions."""
    yield Comparison(
        "1,000 v 1,000 in fractions",
        seconds(lambda: choose_kernel(CLASSIC, method="closed_form").win_probability(1000, 1000)),
        "a table of whole numbers",
        seconds(lambda: choose_kernel(CLASSIC, method="counting").win_probability(1000, 1000), 1),
        1,
        0.3,
    )


def compare_markov() -> Iterator[Comparison]:
    """Compare tables computed from the Markov chain."""
    memory: plain.Memory = {}

    def plain_table() -> None:
        memory.clear()
        for a in range(1, 102):
            for d in range(1, 101):
                plain.recursive_win_probability(a, d, memory)

    yield Comparison(
        "Markov chain, all starts up to 100 v 100",
        seconds(lambda: choose_kernel(CLASSIC, method="markov").win_table(100, 100, 1)),
        "memoised recursion",
        seconds(plain_table, 3),
        1,
        0.5,
    )


def compare_simulations() -> Iterator[Comparison]:
    """Compare simulations with random dice."""
    rng = random.Random(1)
    runs = 1_000
    simulated = seconds(lambda: [plain.campaign_run(72, UNFINISHED, rng) for _ in range(runs)], 3)
    yield Comparison(
        "100,000 simulated unfinished games",
        seconds(lambda: simulate_campaign(72, UNFINISHED, runs=100_000)),
        f"one game at a time ({runs:,} timed)",
        simulated * 100_000 / runs,
        1,
        0.5,
    )


def compare_campaigns() -> Iterator[Comparison]:
    """Compare the campaign `UNFINISHED`."""
    campaign = Campaign(72, UNFINISHED)
    campaign.outcomes()
    rng = random.Random(1)
    runs = 1_000
    simulated = seconds(lambda: [plain.campaign_run(72, UNFINISHED, rng) for _ in range(runs)], 3)
    yield Comparison(
        "unfinished game in floats, with a warm cache",
        seconds(campaign.outcomes, 21),
        f"100,000 simulated runs ({runs:,} timed)",
        simulated * 100_000 / runs,
        3_000,
        0.005,
    )
    yield Comparison(
        "unfinished game in fractions",
        seconds(lambda: campaign.outcomes(exact=True)),
        f"100,000 simulated runs ({runs:,} timed)",
        simulated * 100_000 / runs,
    )


def compare_tables() -> Iterator[Comparison]:
    """Compare tables of win probabilities."""
    size = 300

    def plain_table() -> None:
        memory: plain.Memory = {}
        for a in range(1, size + 1):
            for d in range(1, size + 1):
                plain.recursive_win_probability(a, d, memory)

    plain_seconds = seconds(plain_table, 1)
    yield Comparison(
        "table of 1,000 x 1,000",
        seconds(lambda: win_table(1000, 1000), 11),
        f"memoised recursion ({size} x {size} timed)",
        plain_seconds * (1000 / size) ** 2,
        1,
        0.03,
    )
    for size, least in ((1_000, 1 / 10), (5_000, 1.0)):
        compiled.win_table(10, 10)
        yield Comparison(
            f"table of {size:,} x {size:,}",
            seconds(partial(win_table, size + 1, size), 7),
            "brute-force loop, compiled",
            seconds(partial(compiled.win_table, size, size), 7),
            least,
        )


def compare_arrays() -> Iterator[Comparison]:
    """Compare odds and armies needed for whole arrays with plain Python loops."""
    rng = np.random.default_rng(1)
    attackers, defenders = rng.integers(1, 201, size=(2, 10**6))
    memory: plain.Memory = {}
    some = list(zip(attackers[:100_000].tolist(), defenders[:100_000].tolist(), strict=True))
    yield Comparison(
        "10^6 battles up to 200 v 200",
        seconds(lambda: win_probability(attackers, defenders)),
        "a cached loop over the battles (10^5 timed)",
        10 * seconds(lambda: [plain.recursive_win_probability(*each, memory) for each in some]),
        1,
        0.05,
    )
    every_defence = np.arange(1, 201)[:, np.newaxis]
    searched = seconds(
        lambda: [plain.linear_requirement(200, chance) for chance in CHANCES[::7]], 1
    )
    yield Comparison(
        "armies needed, exactly, 200 x 15, classic and capital",
        seconds(
            lambda: [armies_needed(every_defence, [CHANCES], r) for r in ("classic", "capital")], 3
        ),
        "linear search in floats (200 defenders, 3 chances timed)",
        searched * 5 * 200 / 2 * 2,
        1,
        0.5,
    )


def compare_processes() -> Iterator[Comparison]:
    """Compare a process that runs the command with a process that only imports NumPy."""
    times: dict[str, list[float]] = {"iacta": [], "numpy": []}
    words = {"iacta": ["-m", "iacta", "battle", "12", "10"], "numpy": ["-c", "import numpy"]}
    for _ in range(15):
        for name, arguments in words.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            times[name].append(time.perf_counter() - start)
    yield Comparison(
        "iacta battle 12 10, as a process",
        statistics.median(times["iacta"]),
        "import numpy, as a process",
        statistics.median(times["numpy"]),
        1 / MAX_PROCESS_RATIO,
    )


def compare_pictures() -> Iterator[Comparison]:
    """Compare a process that draws a large table with a process that only imports the libraries."""
    with tempfile.TemporaryDirectory() as folder:
        picture = str(Path(folder) / "table.png")
        words = ["-m", "iacta", "table", "60", "60", "--csv", "--plot", picture]
        yield Comparison(
            "iacta table 60 60 --plot, as a process",
            seconds(partial(_run_process, words), 7),
            "import numpy, vl_convert, as a process",
            seconds(partial(_run_process, ["-c", "import numpy, vl_convert"]), 7),
            0,
            1.0,
        )


def _run_process(words: list[str]) -> None:
    """Run Python with the given arguments, and discard the output."""
    hidden = subprocess.DEVNULL
    subprocess.run([sys.executable, *words], check=True, stdout=hidden, stderr=hidden)


# Plans run first, because their memory is measured as the peak of the whole process.
GROUPS: dict[str, tuple[Measure, ...]] = {
    "plans": planner.MEASURES,
    "battles": (
        compare_rolls,
        compare_battles,
        compare_large_battles,
        compare_fractions,
        compare_campaigns,
    ),
    "simulation": (compare_simulations,),
    "tables": (compare_markov, compare_tables, compare_arrays),
    "decisions": decisions.MEASURES,
    "batches": batches.MEASURES,
    "processes": (compare_processes, compare_pictures),
    "war": (*war.MEASURES, *eliminations.MEASURES),
    "environment": environment.MEASURES,
    "load": (load.measure_load,),
    "limits": limits.MEASURES,
    "board": (board.measure_board,),
    "coherence": coherence.MEASURES,
}


def main(words: list[str]) -> int:
    """Run the named groups. Return 1 if a requirement is not met."""
    unknown = [word for word in words if word not in GROUPS]
    if unknown:
        print(f"unknown group {unknown[0]!r}; expected some of {', '.join(GROUPS)}")
        return 2
    rows: list[Comparison | Measurement] = []
    for name in GROUPS:
        if words and name not in words:
            continue
        started = time.perf_counter()
        print(name, flush=True)
        for measure in GROUPS[name]:
            for row in measure():
                rows.append(row)
                print(f"  {'' if row.is_met else 'MISSED: '}{row}", flush=True)
        print(f"  ({time.perf_counter() - started:.0f} s)", flush=True)
    write_rows(rows)
    missed = sum(not row.is_met for row in rows)
    print(f"{len(rows)} rows, {missed} missed; written to {RESULTS}")
    return 1 if missed else 0


def write_rows(rows: list[Comparison | Measurement]) -> None:
    """Write the rows to a JSON file."""
    RESULTS.parent.mkdir(exist_ok=True)
    records = [{**row._asdict(), "is_met": row.is_met} for row in rows]
    partial_file = RESULTS.with_suffix(".part")
    partial_file.write_text(json.dumps(records, indent=2) + "\n", encoding="utf-8")
    partial_file.replace(RESULTS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
