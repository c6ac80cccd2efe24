"""The parameters and phrases that questions about the whole game have in common."""

from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import ClassVar

from iacta.forms.form import parameter
from iacta.forms.moment import MomentForm
from iacta.forms.parameter_kinds import Whole
from iacta.forms.percentages import percent, short_percent
from iacta.forms.shared_parameters import SEED, TIME_LIMIT
from iacta.game import Turn
from iacta.game.setup import MAX_NEW_ARMIES
from iacta.probability.estimate import Interval
from iacta.war.tournament import MAX_TOURNAMENT_GAMES

GAMES_CONDITION = "when the computer plays every side"
PEOPLE = (
    "Games among people differ: even two sensible computer players give answers that differ by "
    "4 to 7 percentage points on average."
)
CONDITION_KEY = "The AI that plays every side in these games; games among people differ."

MAX_MARGIN = 12  # percentage points; shares with a larger margin are not shown
NOTHING_TO_PLACE = "This assumes that all new armies are placed; --reinforce N adds some."


class WholeGameForm(MomentForm, kw_only=True):
    """A question about the rest of the game after a given moment."""

    is_search: ClassVar = True

    reinforce: int | None = parameter(
        Whole(minimum=1, maximum=MAX_NEW_ARMIES),
        "New armies that the player to move still has to place.",
        default=None,
    )

    games: int | None = parameter(
        Whole(minimum=2, maximum=MAX_TOURNAMENT_GAMES),
        "How many games to play with each of the two AIs (computer players).",
        default=None,
    )
    time_limit: Fraction | None = parameter(*TIME_LIMIT, metavar="SECONDS", default=None)
    seed: int = parameter(*SEED, default=0)

    @cached_property
    def turn(self) -> Turn:
        turn = super().turn
        return turn if self.reinforce is None else turn.with_options(place=self.reinforce)

    def list_assumptions(self) -> list[str]:
        """Return a sentence for each assumption about the turn that the user did not state."""
        turn = self.turn
        is_at_start = turn.phase == "attack" and not turn.cards_due and not self.reinforce
        return [NOTHING_TO_PLACE] if is_at_start and len(turn.survivors) > 1 else []


def describe_ai(ai: str) -> str:
    """Return the name of an AI in words for players.

    >>> describe_ai("usual"), describe_ai("simple")
    ('the computer', 'the simple AI')
    """
    return "the computer" if ai == "usual" else f"the {ai} AI"


def format_share(share: float) -> str:
    """Return a share of games as a percentage, which is never rounded to 0% or 100%.

    >>> format_share(0.283), format_share(0.0), format_share(0.9999)
    ('28.3%', '0%', '> 99.9%')
    """
    return short_percent(Fraction(share) if share in (0, 1) else share, 1)


def format_range(interval: Interval) -> str:
    """Return an interval as text for a table cell, or "" if its two ends are equal.

    >>> format_range(Interval(0.27, 0.29)), format_range(Interval(1.0, 1.0))
    ('27.0-29.0%', '')
    """
    if interval.low == interval.high:
        return ""
    return f"{100 * interval.low:.1f}-{100 * interval.high:.1f}%"


def format_share_and_range(share: float, interval: Interval) -> str:
    """Return a share of games, followed by its interval in parentheses.

    >>> format_share_and_range(0.283, Interval(0.27, 0.29))
    '28.3% (27.0-29.0%)'
    >>> format_share_and_range(1.0, Interval(1.0, 1.0))
    '100%'
    """
    within = format_range(interval)
    return f"{format_share(share)} ({within})" if within else format_share(share)


def describe_share(games: float, interval: Interval, about: str = "about") -> str:
    """Return a share of games as a rounded percentage, or "" if its interval is too wide.

    about: the words before the percentage.

    >>> describe_share(0.203, Interval(0.182, 0.226)), describe_share(0.2, Interval(0.05, 0.35))
    ('about 20% of games (±3)', '')
    >>> describe_share(0.999, Interval(0.99, 1.0)), describe_share(1.0, Interval(1.0, 1.0))
    ('more than 99% of games (±1)', '100% of games')
    """
    if interval.low == interval.high:
        return f"{percent(Fraction(games) if games in (0, 1) else games, 0)} of games"
    margin = ceil(100 * max(interval.high - games, games - interval.low))
    share = percent(games, 0)
    words = f"{about} {share}" if share[0].isdigit() else share
    return f"{words} of games (±{margin})" if margin <= MAX_MARGIN else ""
