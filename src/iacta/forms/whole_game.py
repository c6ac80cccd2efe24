"""What questions on the whole game share: how games are played, and their words."""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from iacta.forms.form import parameter
from iacta.forms.moment import MomentForm
from iacta.forms.parameter_kinds import Whole
from iacta.forms.percentages import short_percent
from iacta.forms.question import Watch
from iacta.forms.record import IntervalRecord
from iacta.forms.shared_parameters import SEED, TIME_LIMIT
from iacta.game import Turn
from iacta.game.turn import MOST_NEW
from iacta.probability.distribution import Probability
from iacta.probability.estimate import CONFIDENCE, Interval
from iacta.war.tournament import MAX_GAMES

CONDITION = "if everybody plays like iacta's player"
PEOPLE = (
    "These are not chances among people: two sensible players differ by 4 to 7 points on average."
)
CONDITION_KEY = "Under which condition the numbers hold: in a game among people they differ."


NOTHING_TO_PLACE = "This assumes that no new armies are left to place; --reinforce N adds some."


class WholeGameForm(MomentForm, kw_only=True):
    """A question on the whole game from a moment of a turn on."""

    is_search: ClassVar = True

    reinforce: int | None = parameter(
        Whole(least=1, most=MOST_NEW),
        "New armies of the player whose turn it is, still to be placed.",
        default=None,
    )

    games: int | None = parameter(
        Whole(least=2, most=MAX_GAMES), "How many games to play of each kind.", default=None
    )
    time_limit: Fraction | None = parameter(*TIME_LIMIT, metavar="SECONDS", default=None)
    seed: int = parameter(*SEED, default=0)

    @cached_property
    def turn(self) -> Turn:
        turn = super().turn
        return turn if self.reinforce is None else turn.with_options(place=self.reinforce)

    def list_assumptions(self) -> list[str]:
        """Return a sentence for each thing that the moment does not say, and that counts."""
        turn = self.turn
        is_at_start = turn.phase == "attack" and not turn.conquered and not self.reinforce
        return [NOTHING_TO_PLACE] if is_at_start and len(turn.alive) > 1 else []


def reported(watch: Watch | None, what: str) -> Callable[[int, int], None]:
    """Return what reports to a watch how many games or goals are done.

    what: what they are, in the plural.
    """

    def progress(done: int, total: int) -> None:
        if watch is not None:
            watch(f"Playing {total:,} {what}", done / total)

    return progress


def like(player: str) -> str:
    """Return a player of iacta's in words, in which the usual one is iacta's player.

    >>> like("usual"), like("simple")
    ("iacta's player", "iacta's simple player")
    """
    return "iacta's player" if player == "usual" else f"iacta's {player} player"


def share_of(games: float) -> Probability:
    """Return a share of games that were played: of none and of all of them it is exact."""
    return Fraction(games) if games in (0, 1) else games


def share_text(games: float) -> str:
    """Return a share of games that were played, for people.

    >>> share_text(0.283), share_text(0.0), share_text(0.9999)
    ('28.3%', '0%', '> 99.9%')
    """
    return short_percent(share_of(games), 1)


def range_text(interval: Interval) -> str:
    """Return an interval for the cell of a table.

    >>> range_text(Interval(0.27, 0.29)), range_text(Interval(1.0, 1.0))
    ('27.0-29.0%', '')
    """
    if interval.low == interval.high:
        return ""
    return f"{100 * interval.low:.1f}-{100 * interval.high:.1f}%"


def share_and_range(games: float, interval: Interval) -> str:
    """Return a share of games that were played, with its interval, for a sentence.

    >>> share_and_range(0.283, Interval(0.27, 0.29)), share_and_range(1.0, Interval(1.0, 1.0))
    ('28.3% (27.0-29.0%)', '100%')
    """
    within = range_text(interval)
    return f"{share_text(games)} ({within})" if within else share_text(games)


def interval_record(interval: Interval) -> IntervalRecord:
    return IntervalRecord(CONFIDENCE, *interval)
