"""Höhle's article on Markov chains and counting: armies without their garrison."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np

from iacta.battle.battle import Battle
from iacta.methods import markov
from iacta.methods.outcome import Outcome
from iacta.questions.arrays import win_table
from iacta.rules.roll import Roll
from iacta_literature import tan_1997
from iacta_literature.data import Row, read_rows
from iacta_literature.pracpred import ABLE, first_even, win
from iacta_literature.rolls import dice_of, example_losses, roll_chance
from iacta_literature.tables import Source, Table
from iacta_literature.verdict import Number

__all__ = ["SOURCE"]

ROLLS = 100_000
MOST_DEFENDERS = 50
FULL_ROLL = {"attack_dice": "3", "defence_dice": "2"}


def _roll(row: Row) -> Fraction:
    """Return the chance p_adk."""
    compared = min(int(row["attack_dice"]), int(row["defence_dice"]))
    return roll_chance({**row, "attackers_lost": str(compared - int(row["defenders_lost"]))})


def _full_roll(row: Row) -> Fraction:
    return _roll({**FULL_ROLL, "defenders_lost": row["defenders_lost"]})


def _order_statistics(row: Row) -> Fraction:
    best = int(row["first"]), int(row["second"])
    return Fraction(Roll(3, 2).best_attack_dice(2)[best])


def _joint(row: Row) -> Fraction:
    dice = dice_of(row["attack_dice"]), dice_of(row["defence_dice"])
    return Fraction(Roll(3, 2).compared_dice()[dice])


def _independence(row: Row) -> Fraction:
    """Return the chance of two comparisons, jointly or as if one told nothing of the other."""
    joint = Roll(3, 2).compared_dice().map(lambda d: (d[0][0] > d[1][0], d[0][1] > d[1][1]))
    if row["law"] == "independent":
        joint = joint.map(lambda won: won[0]).product(joint.map(lambda won: won[1]))
    return Fraction(joint[row["first"] == "won", row["second"] == "won"])


def _after_one_roll(row: Row) -> Number:
    state = Outcome(int(row["attackers_left"]), int(row["defenders_left"]))
    return markov.chain(10, 10, ABLE).after(1)[state]


def _after_all_rolls(row: Row) -> Number:
    state = Outcome(int(row["attackers_left"]), int(row["defenders_left"]))
    return markov.chain(10, 10, ABLE).after(20)[state]


@cache
def _fewest() -> tuple[int, ...]:
    """Return the fewest attackers with a chance above one half against 1, 2 ... defenders."""
    table = win_table(MOST_DEFENDERS + 10, MOST_DEFENDERS, ABLE, exact=True)
    return tuple((1 + np.argmax(table > Fraction(1, 2), axis=0)).tolist())


def _line() -> tuple[float, float]:
    slope, start = np.polyfit(np.arange(1, MOST_DEFENDERS + 1), _fewest(), 1)
    return float(start), float(slope)


def _states() -> tuple[int, int]:
    form = markov.chain(10, 10, ABLE).canonical()
    return len(form.transient), len(form.absorbing)


def _p_value(law: Callable[[], tuple[Number, ...]]) -> float:
    """Return the p-value of a law by the rolls that the source reports."""
    parts = [Fraction(row["published"]) for row in read_rows("hoehle_simulated")]
    counts = [int(part * ROLLS) for part in parts]
    return tan_1997.chi_square([float(chance) for chance in law()], counts).p_value


@cache
def _trial() -> tan_1997.Trial:
    return tan_1997.trial(rolls=ROLLS)


def _ways_to_end() -> int:
    rolls = [Roll(attack, defence) for attack in (1, 2, 3) for defence in (1, 2)]
    return sum(len(roll.losses()) for roll in rolls)


VALUES: dict[str, Callable[[], Number]] = {
    "equally likely rolls of five dice": lambda: Roll(3, 2).law().total,
    "rolls that the sums of p_32k count": lambda: sum(Roll(3, 2).law().counts),
    "armies lost by 4 3 3 against 3 2": lambda: example_losses(
        {"attack_dice": "4 3 3", "defence_dice": "3 2"}
    ),
    "states of 10 against 10, the one without armies included": lambda: sum(_states()) + 1,
    "absorbing states of 10 against 10": lambda: _states()[1],
    "transient states of 10 against 10": lambda: _states()[0],
    "chance of 10 against 10": lambda: win(10, 10),
    "chance of 10 against 10 (Osborne, table 3)": lambda: win(10, 10),
    "fewest armies on each side with a chance above one half": first_even,
    "pairs that the best two of three dice can show": lambda: len(Roll(3, 2).best_attack_dice(2)),
    "ways in which the rolls of all numbers of dice can end": _ways_to_end,
    "states that follow 10 against 10": lambda: len(markov.chain(10, 10, ABLE).after(1)),
    "line of the fewest attackers: start": lambda: _line()[0],
    "line of the fewest attackers: slope": lambda: _line()[1],
    "chance of 50 against 50": lambda: win(50, 50),
    "armies lost by 50 against 50 when winning": lambda: (
        Battle(50, 50, ABLE).attackers_lost_if_won().mean()
    ),
    "p-value of Tan's law, given his 100,000 rolls": lambda: _p_value(
        lambda: tan_1997.PRINTED_3_AGAINST_2
    ),
    "p-value of the right law, given his 100,000 rolls": lambda: _p_value(
        lambda: tan_1997.right_law(3, 2)
    ),
    "p-value of Tan's law, given 100,000 rolls of ours": lambda: _trial().wrong.p_value,
    "p-value of the right law, given 100,000 rolls of ours": lambda: _trial().right.p_value,
}

SOURCE = Source(
    "hoehle",
    "Michael Höhle, article on the board game Risk, Markov chains and counting (2025)",
    (
        Table(
            "hoehle_order_statistics",
            "The best two of three dice",
            "{first} and {second}",
            _order_statistics,
        ),
        Table(
            "hoehle_joint",
            "The dice that are compared",
            "{attack_dice} against {defence_dice}",
            _joint,
        ),
        Table(
            "hoehle_roll_losses",
            "Chances of a roll",
            "{attack_dice} dice against {defence_dice}: {defenders_lost} defenders lost",
            _roll,
        ),
        Table(
            "hoehle_tan",
            "Three dice against two, as Tan printed it",
            "{defenders_lost} defenders lost",
            _full_roll,
        ),
        Table(
            "hoehle_simulated",
            "Three dice against two, simulated",
            "{defenders_lost} defenders lost",
            _full_roll,
        ),
        Table(
            "hoehle_independence",
            "The two comparisons of three dice against two",
            "{law}: first {first}, second {second}",
            _independence,
        ),
        Table(
            "hoehle_after_one_roll",
            "10 against 10 after one roll",
            "{attackers_left} against {defenders_left}",
            _after_one_roll,
        ),
        Table(
            "hoehle_outcomes_10v10",
            "10 against 10 after 20 rolls",
            "{attackers_left} attackers and {defenders_left} defenders left",
            _after_all_rolls,
        ),
        Table(
            "hoehle_win_10x10",
            "Chances of all battles up to 10 against 10",
            "{attackers} against {defenders}",
            lambda row: win(int(row["attackers"]), int(row["defenders"])),
        ),
        Table(
            "hoehle_break_even",
            "Fewest attackers with a chance above one half",
            "against {defenders}",
            lambda row: _fewest()[int(row["defenders"]) - 1],
        ),
        Table("hoehle_values", "Single values", "{quantity}", lambda r: VALUES[r["quantity"]]()),
    ),
)
