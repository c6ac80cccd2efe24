"""Norvig, "The Unfinished Game ... of Risk": armies with their garrison."""

from collections.abc import Callable
from fractions import Fraction
from itertools import count

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.distribution import Distribution
from iacta.estimate import Estimate
from iacta.methods.outcome import Outcome
from iacta.questions.simulated import simulate_campaign
from iacta.rules.roll import Losses, Roll
from iacta_literature.data import Row, read_rows
from iacta_literature.rolls import example_losses, roll_chance
from iacta_literature.tables import Source, Table, Timing
from iacta_literature.verdict import Number

__all__ = ["SOURCE", "UNFINISHED"]

UNFINISHED = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1])
RUNS = 100_000


def _win(attackers: int, defenders: int) -> Fraction:
    return Fraction(Battle(attackers, defenders).win_probability(exact=True))


def _defenders() -> int:
    return sum(territory.defenders for territory in UNFINISHED.territories)


def _first_even() -> int:
    return next(n for n in count(1) if _win(n, n) >= Fraction(1, 2))


def _moved_on(row: Row) -> Number:
    """Return the armies that a row says to move on, if the battle can leave so many."""
    defenders = UNFINISHED.territories[int(row["territory"]) - 1].defenders
    left = Outcome(int(row["published"]) + 1, 0)  # one stays behind
    can_be = left in Battle(int(row["attackers"]), defenders).outcomes()
    return left.attackers - 1 if can_be else "impossible"


def _last_defenders() -> list[int]:
    return [territory.defenders for territory in UNFINISHED.territories[-4:]]


def _spike_width(number: int, law: Distribution[int]) -> int:
    """Return how many scores of those stopped at a territory rise above the dip beside them.

    number: that of the territory, from 0.
    law: the law of the score.

    The dip is the least likely of these scores and the one above them.
    """
    defenders = UNFINISHED.territories[number].defenders
    stops = (CampaignOutcome(number, 1, left) for left in range(1, defenders + 1))
    scores = [UNFINISHED.score_of(stop) for stop in stops]
    dip = min(law[score] for score in (*scores, scores[0] + 1))
    return sum(law[score] > dip for score in scores)


def _spike_widths() -> str:
    count, law = len(UNFINISHED.territories), UNFINISHED.score()
    return _listed([_spike_width(number, law) for number in range(count - 4, count)])


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


def _simulated_difference() -> Fraction:
    """Return how far the chance that the source simulated is from the exact one."""
    (row,) = (row for row in read_rows("norvig_values") if row["runs"] == "10000")
    return abs(_win(32, 30) - Fraction(row["published"]))


def _half_interval() -> float:
    low, high = Estimate(RUNS, round(UNFINISHED.win_probability() * RUNS)).interval()
    return (high - low) / 2


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
    "defenders of the last four territories": lambda: _listed(_last_defenders()),
    "widths of the spikes at the last four territories, in scores": _spike_widths,
    "chance of losing 17 full rolls in a row": lambda: (
        Fraction(Roll(3, 2).losses()[Losses(2, 0)]) ** 17
    ),
    "difference of the simulated chance of 32 against 30 and the exact one": _simulated_difference,
    "half of the sampling interval (95 %) of 100,000 simulations": _half_interval,
    "accuracy of four bits": lambda: Fraction(1, 2**4),
    "score of the campaign that is told": lambda: UNFINISHED.score_of(
        CampaignOutcome(len(UNFINISHED.territories), 12, 0)
    ),
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
        Table(
            "norvig_campaign",
            "The campaign that is told: armies that move on, each number possible",
            "territory {territory}: {attackers} attack {defenders}",
            _moved_on,
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
