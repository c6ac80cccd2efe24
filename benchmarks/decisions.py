"""Benchmarks of rule sets and decisions."""

from collections.abc import Iterator
from functools import partial

from benchmarks import plain
from benchmarks.measure import Comparison, seconds
from iacta import Battle, best_mix, spread_defenders, when_to_stop, win_table
from iacta.odds.spread import spread_value
from iacta.rules.variants import RULE_SETS, find_rules

SIZE = 200
SPREADS = 118_755  # number of ways to place 30 armies on 6 territories, at least one on each


def compare_variants() -> Iterator[Comparison]:
    """Compare the slowest table of any named rule set."""
    memory: plain.Memory = {}

    def plain_table() -> None:
        memory.clear()
        for a in range(1, SIZE + 1):
            for d in range(1, SIZE + 1):
                plain.recursive_win_probability(a, d, memory)

    solved = [each.name for each in RULE_SETS if not find_rules(each.name).mode.grows]
    times = {name: seconds(partial(win_table, SIZE, SIZE, name), 3) for name in solved}
    slowest = max(times, key=lambda name: times[name])
    yield Comparison(
        f"table of {SIZE} x {SIZE}, the slowest rules ({slowest})",
        times[slowest],
        "memoised recursion, classic rules",
        seconds(plain_table, 1),
        1,
        0.05,
    )


def compare_blitz() -> Iterator[Comparison]:
    """Compare the distribution of a balanced blitz."""
    battle = Battle(1_001, 1_000, "balanced blitz")
    yield Comparison(
        "distribution of 1,000 v 1,000 by balanced blitz",
        seconds(battle.outcomes, 11),
        "loop over the states with true dice (100 v 100 timed)",
        100 * seconds(lambda: plain.outcome_distribution(100, 100), 3),
        1,
        0.05,
    )


def compare_decisions() -> Iterator[Comparison]:
    """Compare iacta's decisions (when to stop, roll or blitz) with plain Python loops."""
    yield Comparison(
        f"when to stop, all states up to {SIZE} x {SIZE}",
        seconds(lambda: when_to_stop(SIZE + 1, SIZE, prize=10)),
        "loop over the states",
        seconds(lambda: plain.stopping_values(SIZE, SIZE, 10), 3),
        1,
        0.2,
    )
    yield Comparison(
        "roll or blitz, all states up to 50 x 50",
        seconds(lambda: best_mix(51, 50)),
        "loop over the states and their distributions (20 x 20 timed)",
        seconds(lambda: plain.mix_win_probabilities(20, 20), 1) * (50 / 20) ** 4,
        1,
        2,
    )


def compare_spreads() -> Iterator[Comparison]:
    """Compare finding the best spread of armies with evaluating every spread."""
    some = [(5, 5, 5, 5, 5, 5), (10, 4, 4, 4, 4, 4), (1, 1, 1, 1, 1, 25), (9, 1, 1, 1, 9, 9)]
    one = seconds(lambda: [spread_value(40, each) for each in some]) / len(some)
    yield Comparison(
        "best spread of 30 over 6 territories against 40",
        seconds(lambda: spread_defenders(40, 30, 6), 3),
        "loop over all spreads (4 timed)",
        one * SPREADS,
        1,
        5,
    )


MEASURES = (compare_variants, compare_blitz, compare_decisions, compare_spreads)
