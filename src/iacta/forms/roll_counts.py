"""The number of rolls of a battle or a campaign in an answer."""

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign
from iacta.forms.record import KeyedRecord, key
from iacta.forms.sentences import add_noun
from iacta.inputs.errors import IllegalError
from iacta.inputs.meanings import Count, Unit
from iacta.probability.distribution import Distribution

QUICK_STATES = 10**5  # counting the rolls of so many states takes about 0.2 s
SLOWER_IF_SEEN = 10  # the factor of the time if the defender sees the attack roll


class RollCountRecord(KeyedRecord):
    """A possible number of rolls."""

    rolls: Count = key("The number of rolls.")
    probability: Unit = key("The chance of this number.")


def count_rolls_if_quick(battle: Battle | Campaign) -> Distribution[int] | None:
    """Return the distribution of the number of rolls, or `None` if there is no quick answer.

    There is none for large battles, and for battles that are not decided roll by roll.
    """
    ways = battle.stages() if isinstance(battle, Campaign) else [battle]
    is_simple = all(way.rules.mode.dice_chosen_first for way in ways)
    states = battle.attackers * sum(way.defenders for way in ways)
    if states > (QUICK_STATES if is_simple else QUICK_STATES // SLOWER_IF_SEEN):
        return None
    try:
        return battle.rolls()
    except IllegalError:
        return None


def list_roll_counts(rolls: Distribution[int] | None) -> tuple[RollCountRecord, ...]:
    """Return a record for each number of rolls."""
    found = {} if rolls is None else dict(rolls)
    return tuple(RollCountRecord(rolls=n, probability=float(p)) for n, p in found.items())


def describe_rolls(rolls: Distribution[int]) -> str:
    """Return a sentence about the number of rolls.

    >>> describe_rolls(Battle(12, 10).rolls())
    'It takes 8.6 rolls on average, and 6 to 11 rolls 9 times out of 10.'
    >>> describe_rolls(Battle(2, 1).rolls())
    'It takes 1 roll.'
    """
    if len(rolls) == 1:
        return f"It takes {add_noun(max(rolls), 'roll', 'rolls')}."
    low, high = rolls.quantile(0.05), rolls.quantile(0.95)
    numbers = f"{low} to {high}" if low < high else str(low)
    return (
        f"It takes {float(rolls.mean()):.1f} rolls on average, and {numbers} rolls "
        "9 times out of 10."
    )
