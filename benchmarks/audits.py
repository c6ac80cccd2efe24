"""Audit simulated logs and count alarms: python -m benchmarks.audits [LOGS [THROWS ...]].

The logs contain single dice, rolls, losses, battles or totals, of one player or of three. They are
audited as by `iacta audit`, but with fewer simulations. Dice are written either in the order of the
throw or sorted. For each test and level, the program prints the share of logs whose p-value is at
most the level, the share of logs with an alarm, and the share of logs in which the evidence,
checked after each throw, ever reached 1 / level. A share may exceed its level only by chance.

`python -m benchmarks.audits level [LOGS]` audits fair logs of 1 to 12 battles of all sizes. `python
-m benchmarks.audits power [LOGS]` audits logs of unfair battles, and prints the share of logs with
an alarm, with and without the tests of tails. The table in docs/questions/fair-dice.md is its
output.
"""

import math
import sys
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from iacta import Battle, Roll, audit
from iacta.fairness.audit import LEVEL, Audit
from iacta.fairness.p_values import correct_by_holm

LOGS = 2_000
LEVEL_LOGS = 10_000
POWER_LOGS = 100
MAX_BATTLES = 12  # maximum number of battles in a fair log
MAX_ATTACKERS, MAX_DEFENDERS = 40, 30
BATTLES = (20, 60, 200)  # lengths of unfair logs, in battles
TAIL_TESTS = ("luck", "spread", "most extreme", "chances")
UPSETS = 0.05  # share of battles in which the favourite loses all armies
LOADED = (0.156, 0.156, 0.156, 0.156, 0.156, 0.22)  # probabilities of the faces 1 to 6
UNFAIR = {
    "upsets": "the favourite loses all in 1 battle of 20",
    "blitz": "balanced blitz, called dice",
    "loaded": "a six on 22% of the attackers' dice",
}
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


def make_fair_log(way: str, throws: int, rng: np.random.Generator, players: int = 1) -> str:
    """Return a log of fair dice.

    way: the content and the format of the lines, one of `WAYS`.
    throws: the number of lines.
    rng: the random number generator.
    players: the number of players, who take random turns.
    """
    heading, lines = {
        "dice": ("die", _generate_dice(rng)),
        "sorted dice": ("die", iter(sorted(next(_generate_dice(rng)) for _ in range(throws)))),
        "rolls": ("attack,defence", _generate_rolls(rng)),
        "sorted rolls": ("attack,defence", _generate_rolls(rng, is_sorted=True)),
        "fights": ("attack,defence", _generate_fights(rng)),
        "sorted fights": ("attack,defence", _generate_fights(rng, is_sorted=True)),
        "losses": ("attack_dice,defence_dice,attackers_lost", _generate_losses(rng)),
        "battles": ("attackers,defenders,attackers_left,defenders_left", _generate_battles(rng)),
        "totals": ("rolls,attack_dice,defence_dice,attackers_lost", _generate_totals(rng)),
        "wins": ("attackers,defenders,won", _generate_wins(rng)),
    }[way]
    names = rng.integers(players, size=throws).tolist()
    rows = [f"{line},{name}" for line, name in zip(lines, names)]  # noqa: B905 # some generators are endless
    return "\n".join([f"{heading},player", *rows])


def _generate_dice(rng: np.random.Generator) -> Iterator[str]:
    while True:
        yield str(rng.integers(1, 7))


def _format_random_roll(
    rng: np.random.Generator, attack_dice: int, defence_dice: int, *, is_sorted: bool
) -> str:
    dice = rng.integers(1, 7, attack_dice).tolist(), rng.integers(1, 7, defence_dice).tolist()
    if is_sorted:
        dice = sorted(dice[0], reverse=True), sorted(dice[1], reverse=True)
    return ",".join("".join(map(str, side)) for side in dice)


def _generate_rolls(rng: np.random.Generator, *, is_sorted: bool = False) -> Iterator[str]:
    while True:
        yield _format_random_roll(rng, *rng.integers(1, (4, 3)).tolist(), is_sorted=is_sorted)


def _generate_fights(rng: np.random.Generator, *, is_sorted: bool = False) -> Iterator[str]:
    """Yield the rolls of whole battles. The losses so far determine the dice of the next roll."""
    while True:
        attackers, defenders = rng.integers(2, 15, 2).tolist()
        while attackers > 1 and defenders:
            line = _format_random_roll(
                rng, min(attackers - 1, 3), min(defenders, 2), is_sorted=is_sorted
            )
            yield line
            ours, theirs = (sorted(map(int, side), reverse=True) for side in line.split(","))
            won = [a > d for a, d in zip(ours, theirs, strict=False)]
            attackers, defenders = attackers - won.count(False), defenders - won.count(True)


def _generate_losses(rng: np.random.Generator) -> Iterator[str]:
    while True:
        ours, theirs = rng.integers(1, (4, 3)).tolist()
        losses = Roll(ours, theirs).losses().to_float().sample(1, rng)[0]
        yield f"{ours},{theirs},{losses.attackers}"


def _generate_battles(rng: np.random.Generator) -> Iterator[str]:
    while True:
        attackers, defenders = rng.integers((2, 1), 10).tolist()
        end = Battle(attackers, defenders).outcomes().sample(1, rng)[0]
        yield f"{attackers},{defenders},{end.attackers},{end.defenders}"


def _generate_totals(rng: np.random.Generator) -> Iterator[str]:
    while True:
        ours, theirs = rng.integers(1, (4, 3)).tolist()
        rolls = int(rng.integers(2, 30))
        losses = Roll(ours, theirs).losses().to_float().sample(rolls, rng)
        yield f"{rolls},{ours},{theirs},{sum(each.attackers for each in losses)}"


def _generate_wins(rng: np.random.Generator) -> Iterator[str]:
    for battle in _generate_battles(rng):
        attackers, defenders, _, left = battle.split(",")
        yield f"{attackers},{defenders},{'no' if int(left) else 'yes'}"


def make_battle_log(dice: str, battles: int, rng: np.random.Generator) -> str:
    """Return a log of battles of all sizes.

    dice: `fair` or a name in `UNFAIR`.
    battles: the number of battles.
    rng: the random number generator.
    """
    rows = ["attackers,defenders,attackers_left,defenders_left"]
    for _ in range(battles):
        attackers = int(rng.integers(2, MAX_ATTACKERS + 1))
        defenders = int(rng.integers(1, MAX_DEFENDERS + 1))
        if dice == "loaded":
            ours, theirs = _fight_loaded(attackers, defenders, rng)
        else:
            ends, sums = _compute_ends(attackers, defenders, dice == "blitz")
            ours, theirs = ends[min(int(np.searchsorted(sums, rng.random())), len(ends) - 1)]
        if dice == "upsets" and rng.random() < UPSETS:
            favourite_attacks = Battle(attackers, defenders).win_probability() > 0.5
            ours, theirs = (1, defenders) if favourite_attacks else (attackers, 0)
        rows.append(f"{attackers},{defenders},{ours},{theirs}")
    return "\n".join(rows)


@lru_cache(maxsize=2**12)
def _compute_ends(
    attackers: int, defenders: int, is_blitz: bool
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Return the possible ends of a battle, and the cumulative sums of their chances."""
    outcomes = Battle(attackers, defenders, "balanced blitz" if is_blitz else "classic").outcomes()
    ends = [(end.attackers, end.defenders) for end in outcomes]
    return ends, np.cumsum([float(chance) for chance in outcomes.values()])


def _fight_loaded(attackers: int, defenders: int, rng: np.random.Generator) -> tuple[int, int]:
    while attackers > 1 and defenders:
        ours = np.sort(rng.choice(6, min(attackers - 1, 3), p=LOADED))[::-1]
        theirs = np.sort(rng.integers(0, 6, min(defenders, 2)))[::-1]
        fought = min(len(ours), len(theirs))
        won = int((ours[:fought] > theirs[:fought]).sum())
        attackers, defenders = attackers - fought + won, defenders - won
    return attackers, defenders


def is_alarm_without_tails(found: Audit) -> bool:
    """Return whether a log raises an alarm without the tests of tails."""
    p_values = [each.p_value for each in found.findings if each.question not in TAIL_TESTS]
    return min(correct_by_holm(p_values)) <= found.level


def measure_level(logs: int, most_battles: int = MAX_BATTLES) -> dict[str, np.ndarray]:
    """Return the p-values of fair logs of battles of all sizes.

    `ALARM` is the key of the corrected p-values. If a log is too short for a test, such as the test
    of order, the p-value is 1.

    logs: the number of logs.
    most_battles: the largest number of battles in a log.
    """
    rng = np.random.default_rng(1)
    p_values: dict[str, np.ndarray] = {}
    for n in range(logs):
        text = make_battle_log("fair", int(rng.integers(1, most_battles + 1)), rng)
        found = audit(text, draws=DRAWS, seed=n)
        row = {each.question: each.p_value for each in found.findings}
        row |= {"ALARM": min(found.corrected), "WATCHED": math.exp(-found.most_evidence)}
        for question, p_value in row.items():
            p_values.setdefault(question, np.ones(logs))[n] = p_value
    return p_values


def measure_power(dice: str, battles: int, logs: int) -> tuple[float, float]:
    """Return the share of logs with an alarm, without and with the tests of tails.

    dice: a name in `UNFAIR`.
    battles: the number of battles in each log.
    logs: the number of logs.
    """
    rng = np.random.default_rng(battles)
    before = after = 0
    for n in range(logs):
        found = audit(make_battle_log(dice, battles, rng), draws=DRAWS, seed=n)
        before += is_alarm_without_tails(found)
        after += found.is_alarm
    return before / logs, after / logs


def main() -> None:
    """Print the shares of logs with an alarm."""
    if sys.argv[1:2] == ["level"]:
        logs = int(sys.argv[2]) if sys.argv[2:] else LEVEL_LOGS
        print(f"{logs:,} fair logs of 1 to {MAX_BATTLES} battles of all sizes:")
        _print_alarm_shares(measure_level(logs))
        return
    if sys.argv[1:2] == ["power"]:
        logs = int(sys.argv[2]) if sys.argv[2:] else POWER_LOGS
        print(f"{logs:,} logs each; alarms at {LEVEL} without and with the tests of tails:")
        for dice, words in UNFAIR.items():
            for battles in BATTLES:
                before, after = measure_power(dice, battles, logs)
                print(f"{words:42} {battles:5} {before:8.1%} {after:8.1%}", flush=True)
        return
    logs, *sizes = [int(each) for each in sys.argv[1:]] or [LOGS]
    for throws in sizes or THROWS:
        for way in WAYS:
            for players in (1, 3):
                _print_fair_alarms(way, throws, players, logs)


def _print_fair_alarms(way: str, throws: int, players: int, logs: int) -> None:
    rng = np.random.default_rng([throws, players])
    p_values: dict[str, list[float]] = {}
    for n in range(logs):
        found = audit(make_fair_log(way, throws, rng, players), draws=DRAWS, seed=n)
        for each in found.findings:
            p_values.setdefault(each.question, []).append(each.p_value)
        p_values.setdefault("ALARM", []).append(min(found.corrected))
        p_values.setdefault("WATCHED", []).append(math.exp(-found.most_evidence))
    by = "1 player" if players == 1 else f"{players} players"
    print(f"{logs:,} fair logs of {throws:,} {way} by {by}:")
    padded = {
        question: np.array([*found_p, *[1.0] * (logs - len(found_p))])
        for question, found_p in p_values.items()
    }
    _print_alarm_shares(padded)


def _print_alarm_shares(p_values: dict[str, np.ndarray]) -> None:
    for question, found in p_values.items():
        shares = [f"{(found <= level).mean():.2%}" for level in LEVELS]
        print(f"  {question:14}", *(f"{share:>8}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
