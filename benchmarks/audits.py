"""Audits fair logs, and counts the false alarms: python -m benchmarks.audits [LOGS [THROWS ...]].

Each log is audited whole, as `iacta audit` does, with fewer simulated logs. At each level it prints
the share of logs with an alarm by their p-values, and of those in which the evidence, watched after
each throw, has ever reached 1 / level. None may be larger than the level, but by chance.
"""

import math
import sys

import numpy as np

from iacta import audit

LOGS = 10_000
THROWS = (30, 200, 1500)
LEVELS = (0.01, 0.05, 0.2)
DRAWS = 999


def fair_log(throws: int, rng: np.random.Generator) -> str:
    """Return a log of fair dice: rolls of all sizes, by two players."""
    lines = ["attack,defence,player"]
    sizes = rng.integers(1, (4, 3, 3), (throws, 3)).tolist()
    for row, (ours, theirs, player) in zip(
        rng.integers(1, 7, (throws, 5)).tolist(), sizes, strict=True
    ):
        dice = "".join(map(str, row))
        lines.append(f"{dice[:ours]},{dice[3 : 3 + theirs]},{player}")
    return "\n".join(lines)


def main() -> None:
    """Print the shares of false alarms."""
    logs, *sizes = [int(each) for each in sys.argv[1:]] or [LOGS]
    for number in sizes or THROWS:
        rng = np.random.default_rng(number)
        found = [audit(fair_log(number, rng), draws=DRAWS, seed=n) for n in range(logs)]
        p_values = np.array([min(each.corrected) for each in found])
        evidence = np.array([each.most_evidence for each in found])
        for level in LEVELS:
            alarms = (p_values <= level).mean()
            watched = (evidence >= -math.log(level)).mean()
            print(
                f"{logs:,} fair logs of {number:,} rolls, level {level:.0%}: {alarms:.2%} by "
                f"p-value, {watched:.2%} watched",
                flush=True,
            )


if __name__ == "__main__":
    main()
