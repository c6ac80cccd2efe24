"""Audits fair logs, and counts the false alarms: python -m benchmarks.audits [LOGS [THROWS ...]].

Logs of single dice, rolls, their losses, battles, and totals of both, by one player and by three,
are audited whole, as `iacta audit` does, with fewer simulated logs. Dice are written as thrown, or
sorted, as most people do. For each question and level it prints the share of logs whose p-value is
no larger, and that of logs with an alarm; and of those in which the evidence, watched after each
throw, has ever reached 1 / level. None may be larger than the level, but by chance.
"""

import math
import sys
from collections.abc import Iterator

import numpy as np

from iacta import Battle, Roll, audit

LOGS = 2_000
THROWS = (150,)
LEVELS = (0.01, 0.05, 0.2)
DRAWS = 999
WAYS = (
    "dice",
    "sorted dice",
    "rolls",
    "sorted rolls",
    "fights",
    "sorted fights",
    "losses",
    "battles",
    "totals",
    "wins",
)


def fair_log(way: str, throws: int, rng: np.random.Generator, players: int = 1) -> str:
    """Return a log of fair dice.

    way: what a line is, and how it is written; one of `WAYS`.
    throws: how many lines there are.
    rng: random numbers.
    players: how many take turns at random.
    """
    heading, lines = {
        "dice": ("die", _dice(rng)),
        "sorted dice": ("die", iter(sorted(next(_dice(rng)) for _ in range(throws)))),
        "rolls": ("attack,defence", _rolls(rng)),
        "sorted rolls": ("attack,defence", _rolls(rng, is_sorted=True)),
        "fights": ("attack,defence", _fights(rng)),
        "sorted fights": ("attack,defence", _fights(rng, is_sorted=True)),
        "losses": ("attack_dice,defence_dice,attackers_lost", _losses(rng)),
        "battles": ("attackers,defenders,attackers_left,defenders_left", _battles(rng)),
        "totals": ("rolls,attack_dice,defence_dice,attackers_lost", _totals(rng)),
        "wins": ("attackers,defenders,won", _wins(rng)),
    }[way]
    names = rng.integers(players, size=throws).tolist()
    rows = [f"{line},{name}" for line, name in zip(lines, names)]  # noqa: B905 # some are endless
    return "\n".join([f"{heading},player", *rows])


def _dice(rng: np.random.Generator) -> Iterator[str]:
    while True:
        yield str(rng.integers(1, 7))


def _roll(rng: np.random.Generator, ours: int, theirs: int, *, is_sorted: bool) -> str:
    dice = rng.integers(1, 7, ours).tolist(), rng.integers(1, 7, theirs).tolist()
    if is_sorted:
        dice = sorted(dice[0], reverse=True), sorted(dice[1], reverse=True)
    return ",".join("".join(map(str, side)) for side in dice)


def _rolls(rng: np.random.Generator, *, is_sorted: bool = False) -> Iterator[str]:
    while True:
        yield _roll(rng, *rng.integers(1, (4, 3)).tolist(), is_sorted=is_sorted)


def _fights(rng: np.random.Generator, *, is_sorted: bool = False) -> Iterator[str]:
    """Yield the rolls of whole battles: the losses decide with how many dice the next is rolled."""
    while True:
        attackers, defenders = rng.integers(2, 15, 2).tolist()
        while attackers > 1 and defenders:
            line = _roll(rng, min(attackers - 1, 3), min(defenders, 2), is_sorted=is_sorted)
            yield line
            ours, theirs = (sorted(map(int, side), reverse=True) for side in line.split(","))
            won = [a > d for a, d in zip(ours, theirs, strict=False)]
            attackers, defenders = attackers - won.count(False), defenders - won.count(True)


def _losses(rng: np.random.Generator) -> Iterator[str]:
    while True:
        ours, theirs = rng.integers(1, (4, 3)).tolist()
        losses = Roll(ours, theirs).losses().to_float().sample(1, rng)[0]
        yield f"{ours},{theirs},{losses.attackers}"


def _battles(rng: np.random.Generator) -> Iterator[str]:
    while True:
        attackers, defenders = rng.integers((2, 1), 10).tolist()
        end = Battle(attackers, defenders).outcomes().sample(1, rng)[0]
        yield f"{attackers},{defenders},{end.attackers},{end.defenders}"


def _totals(rng: np.random.Generator) -> Iterator[str]:
    while True:
        ours, theirs = rng.integers(1, (4, 3)).tolist()
        rolls = int(rng.integers(2, 30))
        losses = Roll(ours, theirs).losses().to_float().sample(rolls, rng)
        yield f"{rolls},{ours},{theirs},{sum(each.attackers for each in losses)}"


def _wins(rng: np.random.Generator) -> Iterator[str]:
    for battle in _battles(rng):
        attackers, defenders, _, left = battle.split(",")
        yield f"{attackers},{defenders},{'no' if int(left) else 'yes'}"


def main() -> None:
    """Print the shares of false alarms."""
    logs, *sizes = [int(each) for each in sys.argv[1:]] or [LOGS]
    for throws in sizes or THROWS:
        for way in WAYS:
            for players in (1, 3):
                _count(way, throws, players, logs)


def _count(way: str, throws: int, players: int, logs: int) -> None:
    rng = np.random.default_rng([throws, players])
    p_values: dict[str, list[float]] = {}
    for n in range(logs):
        found = audit(fair_log(way, throws, rng, players), draws=DRAWS, seed=n)
        for each in found.findings:
            p_values.setdefault(each.question, []).append(each.p_value)
        p_values.setdefault("ALARM", []).append(min(found.corrected))
        p_values.setdefault("WATCHED", []).append(math.exp(-found.most_evidence))
    by = "1 player" if players == 1 else f"{players} players"
    print(f"{logs:,} fair logs of {throws:,} {way} by {by}:")
    for question, found_p in p_values.items():
        shares = [f"{(np.array(found_p) <= level).sum() / logs:.2%}" for level in LEVELS]
        print(f"  {question:14}", *(f"{share:>8}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
