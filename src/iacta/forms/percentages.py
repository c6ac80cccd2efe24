"""Format chances as percentages, which are never rounded to certainty, or as fractions n/d.

An estimated chance has an interval. `format_estimate` shows only the digits that the interval
supports, and never the interval itself.
"""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from iacta.battle.campaign import Campaign
from iacta.inputs.checks import format_fraction
from iacta.methods import choose_kernel
from iacta.probability.distribution import Probability
from iacta.rules.rules import Rules

MAX_PERCENT_DIGITS = 26  # percentages with more digits after the point are formatted as fractions
MAX_FRACTION_LENGTH = 40  # the maximum number of characters of a fraction in a sentence
COARSE_UNIT = 5  # a chance that is known less precisely is rounded to a multiple of this percentage
MAX_GAP = 0.05  # a bound that exceeds a chance by more makes the chance a lower bound only
ROUNDING = 1e-9  # allowance for rounding errors, in percentage points
NOT_KNOWN = "not known yet"


def percent(probability: Probability, digits: int = 2) -> str:
    """Return a chance as a percentage, which is 0% or 100% only if the outcome is certain.

    probability: the chance. A float 0 or 1 is not certain, because it may be rounded.
    digits: the number of digits after the point.

    >>> percent(0.65382), percent(0.999999), percent(1e-9), percent(Fraction(1))
    ('65.38%', 'more than 99.99%', 'less than 0.01%', '100%')
    >>> percent(0.65382, 0), percent(0.9999, 0)
    ('65%', 'more than 99%')
    """
    if not isinstance(probability, float) and probability in (0, 1):
        return f"{100 * int(probability)}%"
    least = 10.0**-digits
    if probability >= 1 - least / 200:
        return f"more than {100 - least:.{digits}f}%"
    if probability <= least / 200:
        return f"less than {least:.{digits}f}%"
    return f"{100 * float(probability):.{digits}f}%"


def short_percent(probability: Probability, digits: int = 2) -> str:
    """Return a chance as a percentage like `percent`, but shorter, with the signs < and >.

    >>> short_percent(0.65382), short_percent(0.999999), short_percent(0.25, 0)
    ('65.38%', '> 99.99%', '25%')
    """
    return shorten_percent(percent(probability, digits))


def format_estimate(
    chance: Probability, interval: tuple[float, float] | None = None, digits: int = 2
) -> str:
    """Return a chance with the digits that its interval supports.

    chance: the chance.
    interval: the interval of an estimated chance; `None` for an exact chance.
    digits: the maximum number of digits after the point.

    A digit is shown if both ends of the interval are within one unit of that digit. Less precise
    estimates are approximate: whole percentages within 2.5 points, and multiples of 5% within 5.

    >>> format_estimate(0.65382), format_estimate(0.65382, (0.653, 0.6546))
    ('65.38%', '65.4%')
    >>> format_estimate(0.65382, (0.645, 0.662)), format_estimate(0.77382, (0.76, 0.79))
    ('65%', 'about 77%')
    >>> format_estimate(0.96, (0.93, 1.0)), format_estimate(0.03, (0.0, 0.07))
    ('about 95%', 'about 5%')
    >>> format_estimate(0.0001, (0.0, 0.0176)), format_estimate(0.99, (0.96, 1.0))
    ('less than 2%', 'more than 95%')
    >>> format_estimate(0.6, (0.39, 1.0))
    'not known yet'
    """
    low, high = (chance, chance) if interval is None else interval
    if low == high:
        return percent(chance, digits)
    error = 100 * max(high - chance, chance - low) - ROUNDING
    fitting = (number for number in range(digits, -1, -1) if error <= 10.0**-number)
    shown = next(fitting, None)
    if shown is None and error > COARSE_UNIT:
        return NOT_KNOWN
    coarse = 1 if error <= COARSE_UNIT / 2 else COARSE_UNIT
    unit = coarse if shown is None else 10.0**-shown
    rounded = round(100 * float(chance) / unit) * unit
    number = shown or 0
    if rounded < unit / 2:
        return f"less than {ceil((100 * high - ROUNDING) / unit) * unit:.{number}f}%"
    if rounded > 100 - unit / 2:
        return f"more than {floor((100 * low + ROUNDING) / unit) * unit:.{number}f}%"
    return f"{'about ' if shown is None else ''}{rounded:.{number}f}%"


def format_best_found(
    chance: Probability, interval: tuple[float, float] | None, bound: float, digits: int = 2
) -> str:
    """Return the chance of the best plan found, or a lower bound if a far better plan may exist.

    chance: the chance of the plan.
    interval: the interval of the chance; `None` for an exact chance.
    bound: an upper bound on the chance of any plan.
    digits: the maximum number of digits after the point.

    >>> format_best_found(0.65382, None, 0.67), format_best_found(0.40382, None, 0.95)
    ('65.38%', 'at least 40%')
    >>> format_best_found(0.41, (0.394, 0.426), 1.0), format_best_found(0.0, None, 1.0)
    ('at least 39%', 'not known yet')
    """
    if bound - chance <= MAX_GAP + ROUNDING:
        return format_estimate(chance, interval, digits)
    low = chance if interval is None else interval[0]
    percents = floor(100 * low + ROUNDING)
    return f"at least {percents}%" if percents >= 1 else NOT_KNOWN


def format_related(chance: Probability, known: float, interval: tuple[float, float] | None) -> str:
    """Return a chance that is as uncertain as a related estimate, such as a change of it.

    chance: the chance.
    known: the related estimate.
    interval: the interval of the related estimate; `None` if both are exact.

    >>> format_related(0.51234, 0.62, (0.616, 0.626)), format_related(0.51234, 0.62, None)
    ('51%', '51.23%')
    """
    if interval is None:
        return format_estimate(chance)
    shift = float(chance) - known
    low, high = (min(max(end + shift, 0.0), 1.0) for end in interval)
    return format_estimate(chance, (low, high))


def describe_chance(text: str) -> str:
    """Return a noun phrase for a chance as text.

    >>> describe_chance("about 95%"), describe_chance(NOT_KNOWN)
    ('a chance of about 95%', 'a chance that is not known yet')
    """
    return f"a chance that is {text}" if text == NOT_KNOWN else f"a chance of {text}"


def shorten_percent(text: str) -> str:
    """Return a percentage with the signs < and > instead of words.

    >>> shorten_percent("more than 99.99%"), shorten_percent("about 95%")
    ('> 99.99%', 'about 95%')
    """
    return text.replace("more than", ">").replace("less than", "<")


def format_goal_value(
    value: Probability, interval: tuple[float, float] | None = None, *, is_chance: bool
) -> str:
    """Return the value of a goal as a percentage or in points.

    interval: the interval of an estimated value.

    >>> format_goal_value(0.65382, is_chance=True), format_goal_value(3.25, is_chance=False)
    ('65.38%', '3.25 points')
    """
    if is_chance:
        return shorten_percent(format_estimate(value, interval))
    return f"{float(value):.2f} points"


def format_goal_change(change: float, *, is_chance: bool, sign: str = "") -> str:
    """Return a change of the value of a goal, in percentage points or in points.

    is_chance: whether the value is a chance.
    sign: `+` to give gains a plus sign; 0 never has a sign.

    >>> format_goal_change(0.0123, is_chance=True, sign="+")
    '+1.2'
    >>> format_goal_change(-1e-9, is_chance=False, sign="+")
    '0.00'
    """
    number, digits = (100 * change, 1) if is_chance else (change, 2)
    rounded = round(number, digits) + 0.0  # -0.0 becomes 0.0
    return f"{rounded:{sign if rounded else ''}.{digits}f}"


def format_armies(luck: float) -> str:
    """Return an amount of luck in armies, with a sign.

    >>> format_armies(-2.158), format_armies(1.0), format_armies(0.0)
    ('-2.2 armies', '+1.0 armies', '0.0 armies')
    """
    rounded = round(luck, 1) + 0.0  # -0.0 becomes 0.0
    return f"{rounded:{'+' if rounded else ''}.1f} armies"


def describe_luck(armies: float) -> str:
    """Return an amount of luck in armies as a phrase.

    >>> describe_luck(-1.38), describe_luck(1.0), describe_luck(-0.04)
    ('unlucky by 1.4 armies', 'lucky by 1 army', 'neither lucky nor unlucky')
    """
    amount = f"{abs(armies):.1f}".removesuffix(".0")
    if amount == "0":
        return "neither lucky nor unlucky"
    unit = "army" if amount == "1" else "armies"
    return f"{'lucky' if armies > 0 else 'unlucky'} by {amount} {unit}"


def bar_percent(probability: Probability, digits: int = 1) -> str:
    """Return a chance as a percentage like `short_percent`, but with decimals even for 0 and 1.

    Unlike `percent`, this function treats a float 0 as certain.

    >>> bar_percent(0.25), bar_percent(0.99999), bar_percent(1e-5), bar_percent(0.0)
    ('25.0%', '> 99.9%', '< 0.1%', '0.0%')
    >>> bar_percent(Fraction(1)), bar_percent(0.25, 0)
    ('100.0%', '25%')
    """
    if not probability or (isinstance(probability, Fraction) and probability == 1):
        return f"{100 * int(probability):.{digits}f}%"
    return short_percent(probability, digits)


def plain_percent(chance: Fraction) -> str:
    """Return a chance as an exact percentage, or as a fraction if there are too many decimals.

    >>> plain_percent(Fraction(19, 20)), plain_percent(Fraction(10**9 - 1, 10**9))
    ('95%', '99.9999999%')
    >>> plain_percent(Fraction(1, 3))
    '1/3'
    """
    digits = 0
    while digits < MAX_PERCENT_DIGITS and (100 * chance * 10**digits).denominator > 1:
        digits += 1
    percents = Decimal(chance.numerator * 100) / Decimal(chance.denominator)
    if digits < MAX_PERCENT_DIGITS:
        return f"{percents:.{digits}f}%"
    text = format_fraction(chance)
    return text if len(text) <= MAX_FRACTION_LENGTH else f"about {percents:.3g}%"


def mark_certain(probability: Probability, rules: Iterable[Rules]) -> Probability:
    """Return the fraction 0 or 1 for a certain outcome, otherwise the chance unchanged.

    probability: the chance.
    rules: the rules of the battles. If all these rules allow certain outcomes, a float 0 or 1 is
        certain too.

    >>> from iacta.rules.variants import find_rules
    >>> rules = [Rules()], [find_rules("balanced blitz")]
    >>> [percent(mark_certain(1.0, some)) for some in rules]
    ['more than 99.99%', '100%']
    """
    if probability in (0, 1) and all(choose_kernel(some_rules).certain for some_rules in rules):
        return Fraction(probability)
    return probability


def mark_certain_conquest(probability: Probability, campaign: Campaign, count: int) -> Probability:
    """Return the chance to take territories of a campaign; a fraction if it is exactly 0 or 1.

    probability: the chance.
    campaign: the campaign.
    count: the number of territories, from the first.

    >>> percent(mark_certain_conquest(0.0, Campaign(3, [1, 1, 1]), 3))
    '0%'
    """
    if count > campaign.count_possible_conquests():
        return Fraction(0)
    return mark_certain(probability, (stage.rules for stage in campaign.stages()[:count]))


def format_all_digits(probability: Probability) -> str:
    """Return a fraction as n/d, or a float with all its digits.

    >>> format_all_digits(Fraction(1, 2)), format_all_digits(0.1)
    ('1/2', '0.1')
    """
    if isinstance(probability, Fraction):
        return format_fraction(probability)
    return repr(float(probability))


def format_if_exact(probability: Probability | None) -> str | None:
    """Return a fraction as n/d, or `None` for a float."""
    return format_fraction(probability) if isinstance(probability, Fraction) else None


def list_fractions(*probabilities: Probability | None) -> list[str]:
    """Return a list with a line of exact fractions, or an empty list if all chances are floats.

    >>> list_fractions(Fraction(1, 2), 0.25), list_fractions(0.5)
    (['Exactly: 1/2'], [])
    """
    fractions = [text for text in map(format_if_exact, probabilities) if text]
    return [f"Exactly: {' and '.join(fractions)}"] if fractions else []
