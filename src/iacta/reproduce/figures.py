"""The figures of the sources: one row for each in `FIGURES`, drawn by `iacta.charts`."""

from collections.abc import Callable
from typing import NamedTuple

from iacta import charts
from iacta.battle import Battle
from iacta.campaign import Campaign
from iacta.charts.theme import AnyChart
from iacta.odds import win_table
from iacta.rules import Rules
from iacta.simulated import running_estimates, simulate_campaign

__all__ = ["FIGURES", "Figure"]

UNFINISHED = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1])
WITHOUT_GARRISON = Rules(garrison=0)  # as the source counts
MATCH_UPS = (1, 2, 3, 4, 5, 10, 15, 20)
ADVANTAGES = (0, 1, 2, 3, 4, 5)
RUNS = 100_000
SEED = 1


class Figure(NamedTuple):
    """A figure of a source.

    source: the key of the source.
    name: the name of its file, without the ending.
    what: what the source shows there.
    draw: returns the chart.
    """

    source: str
    name: str
    what: str
    draw: Callable[[], AnyChart]


def _score() -> AnyChart:
    simulated = simulate_campaign(
        UNFINISHED.attackers, UNFINISHED.territories, runs=RUNS, seed=SEED
    )
    return charts.campaign_score(UNFINISHED, simulated)


def _convergence(asked: Battle | Campaign) -> AnyChart:
    return charts.convergence(running_estimates(asked, runs=RUNS, seed=SEED), asked)


FIGURES: tuple[Figure, ...] = (
    Figure(
        "pracpred",
        "win_chance_map",
        "Heat map of the chances of all battles up to 20 against 20.",
        lambda: charts.win_chance_map(win_table(20, 20)),
    ),
    Figure(
        "pracpred",
        "curves_by_match_up",
        "Chances by attackers, a curve for each number of defenders.",
        lambda: charts.curves_by_match_up(MATCH_UPS, 21),
    ),
    Figure(
        "pracpred",
        "curves_by_advantage",
        "Chances by attackers, a curve for each advantage over the defenders.",
        lambda: charts.curves_by_advantage(ADVANTAGES, 21),
    ),
    Figure(
        "taflin",
        "after_rolls",
        "Figure 1: where a battle stands after one roll and after two.",
        lambda: charts.after_rolls(12, 10, (0, 1, 2)),
    ),
    Figure(
        "taflin",
        "first_passages",
        "Figure 2: the boundary region, where fewer dice are thrown.",
        lambda: charts.first_passages(12, 10),
    ),
    Figure(
        "norvig",
        "campaign_score",
        "Histogram of the score of the unfinished game, simulated, with the exact law.",
        lambda: _score(),
    ),
    Figure(
        "norvig",
        "curves_by_delta",
        "Chances by defenders, a curve for each lead of the attackers.",
        lambda: charts.curves_by_delta((-5, -2, -1, 0, 1, 2, 5, 10), 60),
    ),
    Figure(
        "norvig",
        "convergence",
        "Simulation of the unfinished game beside the exact chance.",
        lambda: _convergence(UNFINISHED),
    ),
    Figure(
        "van_wijgerden",
        "state_space",
        "States of a battle of three attackers against two, and of their losses.",
        lambda: charts.state_space(3, 2, WITHOUT_GARRISON),
    ),
    Figure(
        "van_wijgerden",
        "probability_tree",
        "The same states, and the chances that lead to them.",
        lambda: charts.probability_tree(3, 2, WITHOUT_GARRISON),
    ),
    Figure(
        "van_wijgerden",
        "minimum_troops",
        "Minimum troops for 15 chances, against up to 200 defenders.",
        lambda: charts.minimum_troops(200),
    ),
    Figure(
        "van_wijgerden",
        "minimum_troops_to_50",
        "The same to 50 defenders.",
        lambda: charts.minimum_troops(50),
    ),
    Figure(
        "van_wijgerden",
        "minimum_troops_per_defender",
        "Minimum troops for each defender.",
        lambda: charts.minimum_troops(200, per_defender=True),
    ),
    Figure(
        "van_wijgerden",
        "minimum_troops_ratio",
        "Minimum troops against a capital, divided by those against a territory.",
        lambda: charts.minimum_troops_ratio(200),
    ),
    Figure(
        "hoehle",
        "win_chance_map",
        "Table of the chances of all battles up to 10 against 10, coloured.",
        lambda: charts.win_chance_map(win_table(10, 10)),
    ),
    Figure(
        "hoehle",
        "break_even",
        "Where the attackers are favourites up to 50 against 50, with the fitted line.",
        lambda: charts.break_even(50, 50, WITHOUT_GARRISON),
    ),
    Figure(
        "hoehle",
        "slices",
        "Slices of that table at 15, 25 and 35 defenders.",
        lambda: charts.slices((15, 25, 35), 50, WITHOUT_GARRISON),
    ),
    Figure(
        "hoehle",
        "transition_matrix",
        "The transition matrix of a battle as an image.",
        lambda: charts.transition_matrix(5, 4),
    ),
    Figure(
        "hoehle",
        "final_difference",
        "The sawtooth of the difference at the end of 50 against 50.",
        lambda: charts.final_difference(Battle(50, 50, WITHOUT_GARRISON)),
    ),
    Figure(
        "hoehle",
        "convergence",
        "Simulation of 10 against 10 beside the exact chance.",
        lambda: _convergence(Battle(10, 10, WITHOUT_GARRISON)),
    ),
)
