"""The figures of the sources: one row for each in `FIGURES`, drawn by `iacta.charts`."""

from collections.abc import Callable
from typing import NamedTuple

from iacta import charts
from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign
from iacta.charts.theme import AnyChart
from iacta.questions.arrays import win_table
from iacta.questions.simulated import running_estimates, simulate_campaign
from iacta.rules.roll import Roll
from iacta.rules.rules import Rules
from iacta.rules.stop import Stop
from iacta.rules.variants import find_rules

__all__ = ["FIGURES", "Figure"]

UNFINISHED = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1])
WITHOUT_GARRISON = Rules(garrison=0)  # as pracpred, Höhle and the states of Van Wijgerden
CAPITAL_WITHOUT_GARRISON = find_rules("capital", 0)
ONE_ROLL = Battle(3, 2, WITHOUT_GARRISON, stop=Stop(max_rolls=1))  # won if both defenders fall
MATCH_UPS = (1, 2, 3, 4, 5, 10, 15, 20)
ADVANTAGES = (0, 1, 2, 3, 4, 5, 6, 7)
DELTAS = (-5, -2, -1, 0, 1, 2, 5, 10)
RUNS = 100_000
NORVIG_RUNS = 10_000
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


def _convergence(asked: Battle, runs: int) -> AnyChart:
    return charts.convergence(running_estimates(asked, runs=runs, seed=SEED), asked)


def _map(size: int) -> AnyChart:
    return charts.win_chance_map(win_table(size, size, WITHOUT_GARRISON), WITHOUT_GARRISON)


FIGURES: tuple[Figure, ...] = (
    Figure(
        "pracpred",
        "win_chance_map",
        "Heat map of the chances of all battles up to 20 against 20.",
        lambda: _map(20),
    ),
    Figure(
        "pracpred",
        "curves_by_match_up",
        "Chances by attackers, a curve for each number of defenders.",
        lambda: charts.curves_by_match_up(MATCH_UPS, 20, WITHOUT_GARRISON),
    ),
    Figure(
        "pracpred",
        "curves_by_advantage",
        "Chances by attackers, a curve for each advantage over the defenders.",
        lambda: charts.curves_by_advantage(ADVANTAGES, 20, WITHOUT_GARRISON),
    ),
    Figure(
        "taflin",
        "after_rolls",
        "Figure 1: where a battle stands after one roll and after two. The source names no armies; "
        "ours are 12 against 10.",
        lambda: charts.after_rolls(12, 10, (0, 1, 2)),
    ),
    Figure(
        "taflin",
        "first_passages",
        "Figure 2: the boundary region, where fewer dice are thrown. The source draws some ways "
        "into it; ours tells the chance of each point at which 12 against 10 first reaches it.",
        lambda: charts.first_passages(12, 10),
    ),
    Figure(
        "norvig",
        "campaign_score",
        "Histogram of the score of the unfinished game, simulated as in the source; the exact law "
        "laid over it is ours.",
        lambda: _score(),
    ),
    Figure(
        "norvig",
        "curves_by_delta",
        "Chances by defenders, a curve for each lead of the attackers.",
        lambda: charts.curves_by_delta(DELTAS, 60),
    ),
    Figure(
        "norvig",
        "convergence",
        "Simulation beside exact computation: the source prints two numbers, after 10,000 battles "
        "of 32 against 30; ours shows how the one comes to the other.",
        lambda: _convergence(Battle(32, 30), NORVIG_RUNS),
    ),
    Figure(
        "van_wijgerden",
        "minimum_troops",
        "Minimum troops for 15 chances, against up to 200 defenders.",
        lambda: charts.minimum_troops(200),
    ),
    Figure(
        "van_wijgerden",
        "minimum_troops_per_defender",
        "Minimum troops, divided by the defenders.",
        lambda: charts.minimum_troops(200, per_defender=True),
    ),
    Figure(
        "van_wijgerden",
        "minimum_troops_per_defender_to_50",
        "The same, zoomed to 50 defenders.",
        lambda: charts.minimum_troops(50, per_defender=True),
    ),
    Figure(
        "van_wijgerden",
        "minimum_troops_to_50",
        "Minimum troops themselves, zoomed to 50 defenders.",
        lambda: charts.minimum_troops(50),
    ),
    Figure(
        "van_wijgerden",
        "minimum_troops_ratio",
        "Minimum troops against a capital, divided by those against a territory.",
        lambda: charts.minimum_troops_ratio(200),
    ),
    Figure(
        "van_wijgerden",
        "state_space_of_1_against_1",
        "The state space of [1 1]: each side has one army, and a roll takes one of the two.",
        lambda: charts.state_space(1, 1, WITHOUT_GARRISON),
    ),
    Figure(
        "van_wijgerden",
        "state_space",
        "The bigger state space: three attackers against two, and the losses of each roll.",
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
        "probability_tree_from_2_against_2",
        "The tree from [2 2], which does not come by [1 2] and [2 1].",
        lambda: charts.probability_tree(2, 2, WITHOUT_GARRISON),
    ),
    Figure(
        "van_wijgerden",
        "probability_tree_to_3_against_3",
        "The full tree of all states up to [3 3].",
        lambda: charts.probability_tree(3, 3, WITHOUT_GARRISON, every=True),
    ),
    Figure(
        "van_wijgerden",
        "paths",
        "The seven paths of [3 2]. The source colours paths in the tree; ours lists them all, each "
        "with its chance.",
        lambda: charts.path_chances(3, 2, WITHOUT_GARRISON),
    ),
    Figure(
        "van_wijgerden",
        "state_space_of_a_territory",
        "All states up to [3 3] on a territory, to be compared with the next.",
        lambda: charts.state_space(3, 3, WITHOUT_GARRISON, every=True),
    ),
    Figure(
        "van_wijgerden",
        "state_space_of_a_capital",
        "All states up to [3 3] on a capital, where three dice defend.",
        lambda: charts.state_space(3, 3, CAPITAL_WITHOUT_GARRISON, every=True),
    ),
    Figure(
        "hoehle",
        "roll_law",
        "Figure 1: the law of a roll of three dice against two, there by the dice roller Troll.",
        lambda: charts.roll_law(Roll(3, 2)),
    ),
    Figure(
        "hoehle",
        "transition_matrix",
        "The transition matrix of 10 against 10, which the source describes, as an image. Of its "
        "121 states ours leaves out the one without armies, which no battle comes to.",
        lambda: charts.transition_matrix(10, 10, WITHOUT_GARRISON),
    ),
    Figure(
        "hoehle",
        "win_chance_map",
        "Table of the chances of all battles up to 10 against 10, coloured. The source colours "
        "those above one half green; ours goes from orange to blue at one half.",
        lambda: _map(10),
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
        "Slices of that table at 15, 25 and 35 defenders, which the source draws side by side.",
        lambda: charts.slices((15, 25, 35), 50, WITHOUT_GARRISON),
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
        "Simulation of 100,000 rolls of three dice against two, of which the source prints the "
        "parts: ours shows how often both defenders fall (“won”), more and more rolls counted.",
        lambda: _convergence(ONE_ROLL, RUNS),
    ),
)
