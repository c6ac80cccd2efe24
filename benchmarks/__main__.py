"""Prints a table of ratios, each measured in this one run: `make bench`."""

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import plain
from iacta import Battle, Campaign, armies_needed, win_probability, win_table
from iacta.methods import counting
from iacta.roll import loss_law
from iacta.rules import CLASSIC

UNFINISHED = [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]
CHANCES = [f"{p}%" for p in (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99)]
CLASSIC_MATCH_UPS = [(i, j) for i in (1, 2, 3) for j in (1, 2)]
SIMULATED_RUNS = 1_000
LINE_WIDTH = 150


@dataclass(frozen=True)
class Line:
    """One measured claim.

    claim: what is measured.
    ours: seconds that iacta takes.
    rival: what it is measured against, and the seconds of that.
    wanted: the bound that is wanted, and whether it is met.
    """

    claim: str
    ours: float
    rival: str
    rival_seconds: float | None
    wanted: str
    met: bool


def median_seconds(function: Callable[[], object], runs: int = 5) -> float:
    """Return the median time of some runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def against(claim: str, ours: float, rival: str, rival_seconds: float, least_ratio: float) -> Line:
    """Return a claim to be faster than a rival by some ratio."""
    met = rival_seconds / ours >= least_ratio
    return Line(claim, ours, rival, rival_seconds, f"{least_ratio:,.0f} times", met)


def within(claim: str, ours: float, seconds: float) -> Line:
    """Return a claim to take at most some time on the machine at hand."""
    return Line(claim, ours, "", None, f"{1000 * seconds:,.0f} ms", ours <= seconds)


def campaign_lines() -> list[Line]:
    """Measure the unfinished game in floats, against simulation."""
    campaign = Campaign(72, UNFINISHED)
    campaign.outcomes()
    ours = median_seconds(campaign.outcomes, 21)
    rng = random.Random(1)
    simulated = median_seconds(
        lambda: [plain.campaign_run(72, UNFINISHED, rng) for _ in range(SIMULATED_RUNS)], 3
    )
    return [
        within("unfinished game, law in floats, warm", ours, 0.005),
        against(
            "unfinished game, law in floats, warm",
            ours,
            f"100,000 simulated runs ({SIMULATED_RUNS:,} timed)",
            simulated * 100_000 / SIMULATED_RUNS,
            3_000,
        ),
    ]


def battle_lines() -> list[Line]:
    """Measure exact and float battles against the plain recursions."""
    battle = Battle(100, 100)
    exact = median_seconds(lambda: battle.win_probability(exact=True))

    def recursion() -> None:
        plain.recursive_win_probability.cache_clear()
        plain.recursive_win_probability(100, 100)

    return [
        against(
            "100 v 100 in fractions",
            exact,
            "dictionary of fractions",
            median_seconds(lambda: plain.fraction_win_probability(100, 100), 3),
            50,
        ),
        against(
            "100 v 100 in floats",
            median_seconds(battle.win_probability),
            "recursion with a cache",
            median_seconds(recursion),
            1,
        ),
    ]


def table_lines() -> list[Line]:
    """Measure tables, arrays and requirements."""
    rng = np.random.default_rng(1)
    attackers, defenders = rng.integers(1, 201, size=(2, 10**6))
    every_defence = np.arange(1, 201)[:, np.newaxis]

    def requirements() -> None:
        for rules in ("classic", "capital"):
            armies_needed(every_defence, [CHANCES], rules)

    return [
        within("table of 1,000 x 1,000", median_seconds(lambda: win_table(1000, 1000), 11), 0.03),
        within(
            "10^6 battles up to 200 v 200",
            median_seconds(lambda: win_probability(attackers, defenders)),
            0.05,
        ),
        within(
            "armies needed, 200 x 15, classic and capital", median_seconds(requirements, 3), 0.5
        ),
    ]


def roll_lines() -> list[Line]:
    """Measure the laws of the six classic rolls, nothing cached."""

    def cold() -> None:
        loss_law.cache_clear()
        counting.coefficients.cache_clear()
        for dice in CLASSIC_MATCH_UPS:
            loss_law(*dice, CLASSIC)

    def plain_cold() -> None:
        plain.roll_law.cache_clear()
        for dice in CLASSIC_MATCH_UPS:
            plain.roll_law(*dice)

    ours = median_seconds(cold)
    return [
        within("the six classic rolls, cold", ours, 0.005),
        against(
            "the six classic rolls, cold",
            ours,
            "all rolls one by one",
            median_seconds(plain_cold),
            1,
        ),
    ]


def process_lines() -> list[Line]:
    """Measure the command as a whole process, against the import of NumPy."""
    command = [sys.executable, "-m", "iacta", "battle", "12", "10"]
    bare = [sys.executable, "-c", "import numpy"]
    times: dict[str, list[float]] = {"command": [], "bare": []}
    for _ in range(15):
        for name, words in (("command", command), ("bare", bare)):
            start = time.perf_counter()
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            times[name].append(time.perf_counter() - start)
    ours, rival = statistics.median(times["command"]), statistics.median(times["bare"])
    return [
        Line(
            "iacta battle 12 10, process",
            ours,
            "import numpy, process",
            rival,
            "at most 2.5 times as long",
            ours <= 2.5 * rival,
        )
    ]


def main() -> None:
    """Measure and print everything."""
    console = Console(width=LINE_WIDTH)
    table = Table(title="Medians of one run", title_justify="left", box=None)
    for heading in ("what", "iacta", "rival", "rival takes", "ratio", "wanted", ""):
        table.add_column(heading, justify="right" if heading in ("iacta", "ratio") else "left")
    for lines in (roll_lines, battle_lines, campaign_lines, table_lines, process_lines):
        for line in lines():
            ratio = "" if line.rival_seconds is None else f"{line.rival_seconds / line.ours:,.1f}"
            rival = "" if line.rival_seconds is None else f"{1000 * line.rival_seconds:,.1f} ms"
            table.add_row(
                line.claim,
                f"{1000 * line.ours:,.2f} ms",
                line.rival,
                rival,
                ratio,
                line.wanted,
                "met" if line.met else "missed",
            )
    console.print(table)


if __name__ == "__main__":
    main()
