"""Jeroen van Wijgerden, "Let slip the dice of war".

The states in the article exclude the garrison. The numbers of troops needed include it.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from iacta import Battle, Losses, Outcome, Roll, armies_needed, find_rules
from iacta_literature.charts import (
    minimum_troops,
    minimum_troops_ratio,
    path_chances,
    probability_tree,
    state_space,
)
from iacta_literature.pracpred import ABLE, compute_ending_probability, win
from iacta_literature.published import (
    Figure,
    Number,
    PrintedSource,
    Row,
    Timing,
    compare_example_dice,
    compute_roll_chance,
    count_rolls_of_five_dice,
    read_rows,
)
from iacta_literature.tree import paths

VAN_WIJGERDEN_DEFENDERS = 200  # the last row of the printed table
CHANCES = tuple(
    Fraction(n, 100) for n in (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99)
)


@cache
def compute_needed(rules: str) -> npt.NDArray[Any]:
    """Return a table of the fewest attackers needed, garrison included.

    The rows belong to `CHANCES`, the columns to 1 to 200 defenders.

    rules: `"classic"` or `"capital"`.
    """
    defenders = np.arange(1, VAN_WIJGERDEN_DEFENDERS + 1)
    wanted = np.array(CHANCES, dtype=object)[:, np.newaxis]
    armies: npt.NDArray[Any] = armies_needed(defenders, wanted, rules)
    return armies


def _compute_path_chance(row: Row) -> Fraction:
    states = [Outcome(*map(int, state.split())) for state in row["path"].split(", ")]
    routes = paths(*states[0], ABLE)
    return next(path.probability for path in routes if list(path.states) == states)


def _compute_outcome_chance(attackers: int, defenders: int, outcome: Outcome) -> Fraction:
    return Fraction(Battle(attackers, defenders, ABLE).outcomes(exact=True)[outcome])


def _compute_fewest(row: Row) -> int:
    return int(armies_needed(int(row["defenders"]), row["chance"]))


def _count_low_entries() -> int:
    """Count the entries of Hendel's table that are smaller by 1 than iacta's values."""
    rows = read_rows("van_wijgerden_hendel")
    return sum(_compute_fewest(row) - int(row["published"]) == 1 for row in rows)


def _compute_capital_spike() -> int:
    """Return the number of defenders that takes the most attackers per defender at 99%.

    A single defender is not considered.
    """
    of_each = compute_needed("capital")[-1] / np.arange(1, VAN_WIJGERDEN_DEFENDERS + 1)
    return 2 + int(np.argmax(of_each[1:]))


VALUES: dict[str, Callable[[], Number]] = {
    "equally likely rolls of five dice": count_rolls_of_five_dice,
    "paths from 3 against 2": lambda: Battle(3, 2, ABLE).path_count(),
    "sum of the chances of all outcomes of 3 against 2": lambda: Fraction(
        sum(Battle(3, 2, ABLE).outcomes(exact=True).values())
    ),
    "chance that 3 against 2 is won": lambda: win(3, 2),
    "chance that 3 against 2 is won, rounded": lambda: win(3, 2),
    "chance that 3 against 2 is won, as a percentage": lambda: win(3, 2),
    "chance that 1 against 1 is lost": lambda: 1 - win(1, 1),
    "chance that 1 against 1 is won": lambda: win(1, 1),
    "chance that the first roll of 2 against 1 wins": lambda: Roll(2, 1).losses()[Losses(0, 1)],
    "chance that 2 against 1 is lost": lambda: _compute_outcome_chance(2, 1, Outcome(0, 1)),
    "chance that 2 against 1 ends with 1 attacker": lambda: _compute_outcome_chance(
        2, 1, Outcome(1, 0)
    ),
    "chance that 1 attacker loses a roll against 3 defenders of a capital": lambda: Roll(
        1, 3, "capital"
    ).losses()[Losses(1, 0)],
    "chance that 1 attacker loses a roll against 3 defenders of a territory": lambda: Roll(
        1, 2
    ).losses()[Losses(1, 0)],
    "attackers needed against 2 for 20%": lambda: int(armies_needed(2, "20%")),
    "chance of 2 attackers, garrison included, against 2": lambda: win(1, 2),
    "chance of 3 attackers, garrison included, against 2": lambda: win(2, 2),
    "attackers needed against 10 for 95%, per defender": lambda: Fraction(
        int(armies_needed(10, "95%")), 10
    ),
    "chance that 3 against 2 ends with 1 attacker, as a percentage": lambda: (
        _compute_outcome_chance(3, 2, Outcome(1, 0))
    ),
    "number of defenders at the spike of the 99% line for capitals": _compute_capital_spike,
    "mean ratio of the attackers needed against a capital to those against a territory": lambda: (
        float((compute_needed("capital") / compute_needed("classic")).mean())
    ),
    "entries of Hendel's table that are one too low": _count_low_entries,
    "chance of 5 against 10, if the headings of Osborne's table 3 were right": lambda: win(5, 10),
}

SOURCE = PrintedSource(
    "van_wijgerden",
    "Jeroen van Wijgerden, “Let slip the dice of war”",
    {
        "roll_losses": compute_roll_chance,
        "roll_examples": compare_example_dice,
        "paths": _compute_path_chance,
        "outcomes": compute_ending_probability,
        "values": lambda row: VALUES[row["quantity"]](),
        "hendel": _compute_fewest,
    },
    (
        Figure(
            "minimum_troops",
            "Minimum troops for five of the chances, against up to 200 defenders.",
            lambda: minimum_troops(200),
        ),
        Figure(
            "minimum_troops_per_defender",
            "Minimum troops, divided by the defenders.",
            lambda: minimum_troops(200, per_defender=True),
        ),
        Figure(
            "minimum_troops_per_defender_to_50",
            "Minimum troops, divided by the defenders, for up to 50 defenders.",
            lambda: minimum_troops(50, per_defender=True),
        ),
        Figure(
            "minimum_troops_to_50",
            "Minimum troops for up to 50 defenders.",
            lambda: minimum_troops(50),
        ),
        Figure(
            "minimum_troops_ratio",
            "Ratio of the minimum troops against a capital to those against a territory.",
            lambda: minimum_troops_ratio(200),
        ),
        Figure(
            "state_space_of_1_against_1",
            "The state space of [1 1]: each side has one army, and a roll takes one of the two.",
            lambda: state_space(1, 1, ABLE),
        ),
        Figure(
            "state_space",
            "The state space of [3 2], with the losses of each roll.",
            lambda: state_space(3, 2, ABLE),
        ),
        Figure(
            "probability_tree",
            "The states of [3 2], with the chance of each roll.",
            lambda: probability_tree(3, 2, ABLE),
        ),
        Figure(
            "probability_tree_from_2_against_2",
            "The tree from [2 2], which does not pass through [1 2] and [2 1].",
            lambda: probability_tree(2, 2, ABLE),
        ),
        Figure(
            "probability_tree_to_3_against_3",
            "The full tree of all states up to [3 3].",
            lambda: probability_tree(3, 3, ABLE, every=True),
        ),
        Figure(
            "paths",
            "The seven paths of [3 2]. The source colours paths in the tree; this chart lists all "
            "paths with their chances.",
            lambda: path_chances(3, 2, ABLE),
        ),
        Figure(
            "state_space_of_a_territory",
            "All states up to [3 3] on a territory, to compare with the next figure.",
            lambda: state_space(3, 3, ABLE, every=True),
        ),
        Figure(
            "state_space_of_a_capital",
            "All states up to [3 3] on a capital, where three dice defend.",
            lambda: state_space(3, 3, find_rules("capital", 0), every=True),
        ),
    ),
    (
        Timing(
            "the fewest attackers against 1 to 200 defenders for 15 chances, on territories and on "
            "capitals, computed exactly",
            "many hours (exact), some minutes (rounded)",
            lambda: (compute_needed.__wrapped__("classic"), compute_needed.__wrapped__("capital")),
        ),
    ),
)
