"""Practically Predictable, "Analyzing the Board Game Risk". Armies exclude the garrison."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import count
from typing import Any

import numpy.typing as npt

from iacta import Battle, Distribution, Outcome, Roll, Rules, win_table
from iacta.charts import win_chance_map
from iacta_literature.charts import curves_by_advantage, curves_by_match_up
from iacta_literature.published import (
    Figure,
    Number,
    PrintedSource,
    Row,
    compare_example_dice,
    compute_roll_chance,
)
from iacta_literature.tree import nodes, tree

ABLE = Rules(garrison=0)
MATCH_UPS = (1, 2, 3, 4, 5, 10, 15, 20)
ADVANTAGES = (0, 1, 2, 3, 4, 5, 6, 7)


def win(attackers: int, defenders: int) -> Fraction:
    """Return the exact chance to win a battle.

    attackers, defenders: the armies on both sides, garrison excluded.
    """
    if max(attackers, defenders) > 20:
        return Fraction(Battle(attackers, defenders, ABLE).win_probability(exact=True))
    return Fraction(_tabulate_wins()[attackers - 1, defenders - 1])


@cache
def _tabulate_wins() -> npt.NDArray[Any]:
    return win_table(20, 20, ABLE, exact=True)


def compute_ending_probability(row: Row) -> Fraction:
    """Return the probability of an outcome of a battle.

    row: a row with the columns `attackers`, `defenders`, `attackers_left` and `defenders_left`,
        garrison excluded.
    """
    battle = Battle(int(row["attackers"]), int(row["defenders"]), ABLE)
    outcome = Outcome(int(row["attackers_left"]), int(row["defenders_left"]))
    return Fraction(battle.outcomes(exact=True)[outcome])


def compute_first_even() -> int:
    """Return the smallest n for which n attackers win more than half their battles against n."""
    return next(n for n in count(1) if win(n, n) > Fraction(1, 2))


def _compute_loss_chance(attack_dice: int, defence_dice: int, attackers_lost: int) -> Fraction:
    """Return the chance that the attackers lose 0 or 1 armies in a roll that kills one army."""
    dice = {"attack_dice": f"{attack_dice}", "defence_dice": f"{defence_dice}"}
    lost = {"attackers_lost": f"{attackers_lost}", "defenders_lost": f"{1 - attackers_lost}"}
    return compute_roll_chance(dice | lost)


def _compute_mean_chance(*leads: int) -> Fraction:
    """Return the mean chance to win of 6 to 20 attackers with each of the given leads in armies."""
    chances = [win(a, a - lead) for lead in leads for a in range(6, 21)]
    return sum(chances, Fraction(0)) / len(chances)


def _list_states_after_one_roll() -> str:
    states = (branch.node.state for branch in tree(10, 6, ABLE).branches)
    return ", ".join(f"{state.attackers} {state.defenders}" for state in states)


def _list_states_before_7_against_5() -> str:
    states = sorted(
        node.state
        for node in nodes(tree(10, 6, ABLE))
        if any(branch.node.state == (7, 5) for branch in node.branches)
    )
    return ", ".join(f"{state.attackers} {state.defenders}" for state in states)


def _list_dice_counts() -> set[int]:
    attack, defence = ABLE.full_roll
    return {a + d for a in range(1, attack + 1) for d in range(1, defence + 1)}


VALUES: dict[str, Callable[[], Number]] = {
    "kinds of rolls": lambda: ABLE.full_roll[0] * ABLE.full_roll[1],
    "chance that 2 against 1 is won by the first roll": lambda: _compute_loss_chance(2, 1, 0),
    "chance that 2 against 1 goes on after the first roll": lambda: _compute_loss_chance(2, 1, 1),
    "chance that 1 against 1 is won": lambda: win(1, 1),
    "chance that 1 against 1 is lost": lambda: 1 - win(1, 1),
    "chance that 2 against 1 is won by the second roll": lambda: (
        _compute_loss_chance(2, 1, 1) * win(1, 1)
    ),
    "chance that 2 against 1 is won": lambda: win(2, 1),
    "chance that 2 against 1 is lost": lambda: 1 - win(2, 1),
    "chance that 3 against 1 is won by the first roll": lambda: _compute_loss_chance(3, 1, 0),
    "chance that 3 against 1 is won": lambda: win(3, 1),
    "chance of 100 against 100": lambda: win(100, 100),
    "chance of 107 against 100": lambda: win(107, 100),
    "chance of 107 against 100, in words": lambda: win(107, 100),
    "chance of 100 against 100, in words": lambda: win(100, 100),
    "battles in the table": lambda: _tabulate_wins().size,
    "fewest armies on each side with a chance above one half": compute_first_even,
    "mean chance of 6 to 20 attackers with an advantage of 1 or 2 armies": lambda: (
        _compute_mean_chance(1, 2)
    ),
    "mean chance of 6 to 20 attackers with a disadvantage of 1 or 2 armies": lambda: (
        _compute_mean_chance(-1, -2)
    ),
    "rule of thumb for an advantage of 1 or 2 armies": lambda: _compute_mean_chance(1, 2),
    "most armies that a side can lose in a roll of one die against two": lambda: max(
        max(losses) for losses in Roll(1, 2).losses()
    ),
    "fewest armies on each side with a chance above one half, according to the text": (
        compute_first_even
    ),
    "the better attack of 15 against 8 and 20 against 13": lambda: (
        "15 against 8" if win(15, 8) > win(20, 13) else "20 against 13"
    ),
    "states after one roll from 10 against 6": _list_states_after_one_roll,
    "states before a roll that leads to 7 against 5": _list_states_before_7_against_5,
    "numbers of dice in a roll": lambda: len(_list_dice_counts()),
    "most dice in a roll": lambda: max(_list_dice_counts()),
    "chance that 2 against 1 is won or lost": lambda: Fraction(
        sum(Battle(2, 1, ABLE).outcomes(exact=True).values())
    ),
}

SOURCE = PrintedSource(
    "pracpred",
    "Practically Predictable, “Analyzing the Board Game Risk”",
    {
        "dice": lambda row: len(Distribution(range(1, 7)).repeat(int(row["dice"]))),
        "roll_losses": compute_roll_chance,
        "roll_examples": compare_example_dice,
        "outcomes": compute_ending_probability,
        "values": lambda row: VALUES[row["quantity"]](),
        "win_20x20": lambda row: win(int(row["attackers"]), int(row["defenders"])),
        "win_by_advantage": lambda row: win(
            int(row["attackers"]), int(row["attackers"]) - int(row["advantage"])
        ),
    },
    (
        Figure(
            "win_chance_map",
            "Heat map of the chances of all battles up to 20 against 20.",
            lambda: win_chance_map(win_table(20, 20, ABLE), ABLE),
        ),
        Figure(
            "curves_by_match_up",
            "Chances by attackers, one curve for each number of defenders.",
            lambda: curves_by_match_up(MATCH_UPS, 20, ABLE),
        ),
        Figure(
            "curves_by_advantage",
            "Chances by attackers, one curve for each advantage over the defenders.",
            lambda: curves_by_advantage(ADVANTAGES, 20, ABLE),
        ),
    ),
)
