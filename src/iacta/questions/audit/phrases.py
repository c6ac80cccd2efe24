"""Phrases for throws, biases and rare chances."""

import math

from iacta.fairness.throws import ATTACK, BATTLES, DEFENCE, DICE, ROLLS, TOTALS, WINS, Throws
from iacta.forms.sentences import add_noun

MIN_SHOWN_P_VALUE = 1e-5  # the smallest p-value that is shown as a number
MAX_KINDS = 6  # maximum number of kinds of throws in an answer
MAX_NAMES = 10  # maximum number of players or columns in a sentence
NOUNS = {
    DICE: ("die", "dice"),
    ATTACK: ("attack die", "attack dice"),
    DEFENCE: ("defence die", "defence dice"),
    ROLLS: ("roll", "rolls"),
    BATTLES: ("battle", "battles"),
    WINS: ("battle", "battles"),
}


def describe_throws(throws: Throws, kind: str = "") -> str:
    """Return the number of throws with a noun, such as `3 rolls`.

    kind: the kind of throws that the noun names; `throws.kind` by default.
    """
    if throws.kind == TOTALS:
        return f"the loss of {add_noun(throws.total, 'army', 'armies', ',')}"
    one, many = NOUNS[kind or throws.kind]
    return f"{throws.total:,} {one if throws.total == 1 else many}"


def name_results(throws: Throws) -> str:
    """Return the quantity whose bias a kind of throws reveals, such as `a face`."""
    names = {
        BATTLES: "a tenth of all results",
        ROLLS: "a result",
        TOTALS: "the share of a side",
        WINS: "the share of battles won",
    }
    return names.get(throws.kind, "a face")


def format_points(bias: float) -> str:
    """Return a difference of chances in percent, with two significant digits.

    >>> format_points(0.00478), format_points(0.123)
    ('0.48%', '12%')
    """
    digits = max(0, 1 - math.floor(math.log10(100 * bias))) if bias > 0 else 0
    return f"{100 * bias:.{digits}f}%"


def format_rarity(chance: float, *, is_most: bool = False) -> str:
    """Return a chance as "1 in" a round number.

    is_most: whether the chance is an upper bound, so that rounding must not lower it.

    >>> format_rarity(0.025), format_rarity(1e-9), format_rarity(0.7)
    ('1 in 40', 'fewer than 1 in 100,000', '7 in 10')
    >>> format_rarity(6.634e-5), format_rarity(6.634e-5, is_most=True)
    ('1 in 15,000', 'fewer than 1 in 15,000')
    >>> format_rarity(0.31, is_most=True)
    'fewer than 4 in 10'
    """
    if chance < MIN_SHOWN_P_VALUE:
        return f"fewer than 1 in {round(1 / MIN_SHOWN_P_VALUE):,}"
    fewer, whole = ("fewer than ", math.floor) if is_most else ("", round)
    if chance > (0.25 if is_most else 0.35):
        return f"{fewer}{math.ceil(10 * chance) if is_most else round(10 * chance)} in 10"
    many = whole(1 / chance)
    size = 10 ** max(0, len(str(many)) - 2)
    return f"{fewer}1 in {whole(many / size) * size:,}"
