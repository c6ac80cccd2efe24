"""Norvig, "The Unfinished Game ... of Risk": armies with their garrison."""

from collections.abc import Callable
from fractions import Fraction
from itertools import count

from iacta.battle import Battle
from iacta.campaign import Campaign
from iacta.reproduce.rolls import example_losses, roll_chance
from iacta.reproduce.tables import Source, Table, Timing
from iacta.reproduce.verdict import Number
from iacta.roll import Losses, Roll
from iacta.simulated import simulate_campaign

__all__ = ["SOURCE", "UNFINISHED"]

UNFINISHED = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1])
RUNS = 100_000


def _win(attackers: int, defenders: int) -> Fraction:
    return Fraction(Battle(attackers, defenders).win_probability(exact=True))


def _defenders() -> int:
    return sum(territory.defenders for territory in UNFINISHED.territories)


def _first_even() -> int:
    return next(n for n in count(1) if _win(n, n) >= Fraction(1, 2))


VALUES: dict[str, Callable[[], Number]] = {
    "territories of the unfinished game": lambda: len(UNFINISHED.territories),
    "defenders of the unfinished game": _defenders,
    "more attackers than defenders in the unfinished game": lambda: (
        UNFINISHED.attackers - _defenders()
    ),
    "chance to take all in the unfinished game": UNFINISHED.win_probability,
    "equally likely rolls of five dice": lambda: Roll(3, 2).law().total,
    "chance of 2 against 1": lambda: _win(2, 1),
    "chance of 12 against 10": lambda: _win(12, 10),
    "chance of 32 against 30": lambda: _win(32, 30),
    "chance of 32 against 30, simulated": lambda: _win(32, 30),
    "fewest armies on each side with a chance of one half": _first_even,
    "chance of 60 against 60": lambda: _win(60, 60),
    "chance of 6 against 5": lambda: _win(6, 5),
    "chance of 3 against 1": lambda: _win(3, 1),
    "chance of 4 against 2": lambda: _win(4, 2),
    "chance of 55 against 60": lambda: _win(55, 60),
    "chance of five ones": lambda: Fraction(Roll(3, 2, "five ones").losses()[Losses(-1, -1)]),
}

SOURCE = Source(
    "norvig",
    "Peter Norvig, “The Unfinished Game ... of Risk” (2020)",
    (
        Table(
            "norvig_roll_examples",
            "Single rolls: attackers and defenders lost",
            "{attack_dice} against {defence_dice}",
            example_losses,
        ),
        Table(
            "norvig_roll_losses",
            "Armies that a roll costs",
            "{attack_dice} dice against {defence_dice}: {attackers_lost} attackers and "
            "{defenders_lost} defenders",
            roll_chance,
        ),
        Table("norvig_values", "Single values", "{quantity}", lambda r: VALUES[r["quantity"]]()),
    ),
    (
        Timing(
            "the unfinished game, simulated 100,000 times",
            "33.2 s",
            lambda: simulate_campaign(UNFINISHED.attackers, UNFINISHED.territories, runs=RUNS),
        ),
    ),
)
