"""The luck of players in words and in a table."""

from collections.abc import Sequence

from iacta.fairness.audit import Audit
from iacta.fairness.luck import Luck
from iacta.forms.sections import Table
from iacta.questions.audit.phrases import format_rarity

ORDINARY_GAMES = 5.0  # luck is ordinary if it occurs more often than once in this many games
SPREADS = "in standard deviations"  # heading of a column of luck


def sort_lucks(audited: Audit, first: str | None = None) -> list[Luck]:
    """Return the luck of each player: of the player `first`, and then by the number of throws."""
    return sorted(audited.lucks, key=lambda luck: (luck.player != first, -luck.throws, luck.player))


def describe_luck(luck: Luck, *, is_you: bool = False) -> str:
    """Return a sentence about the luck of a player.

    luck: the player's luck.
    is_you: whether the player is the reader, addressed as "you".

    >>> describe_luck(Luck("Ada", 90, -12, -7.3, 4.0, 0.025, 0.98, 0, 0.0, 0.0))
    'Ada was unlucky: 7.3 armies worse than average, as bad as 1 game in 40.'
    >>> describe_luck(Luck("", 3, 4, 2.7, 4.0, 0.79, 0.25, 0, 0.0, 0.0))
    'The attackers had ordinary luck: 2.7 armies better than average, as good as 1 game in 4.'
    """
    who = "You" if is_you else luck.player or "The attackers"
    were = "was" if luck.player and not is_you else "were"
    spread = luck.spread if has_armies(luck) else luck.wins_spread
    if not spread:
        return f"{who} had no luck, good or bad: every result was certain."
    if has_armies(luck):
        is_bad = luck.armies < 0
        off = f"{abs(luck.armies):,.1f} armies {'worse' if is_bad else 'better'} than average"
    else:
        is_bad = luck.wins < 0
        off = f"{abs(luck.wins):,.1f} wins {'fewer' if is_bad else 'more'} than average"
    chance, as_odd = (luck.as_bad, "bad") if is_bad else (luck.as_good, "good")
    games = format_rarity(chance).replace(" in ", " games in " if chance > 0.35 else " game in ")
    kind = f"{were} {'unlucky' if is_bad else 'lucky'}"
    if chance * ORDINARY_GAMES > 1:
        kind = "had ordinary luck"
    return f"{who} {kind}: {off}, as {as_odd} as {games}."


def has_armies(luck: Luck) -> bool:
    """Return whether a player's luck is known in armies, not only in wins."""
    return bool(luck.spread) or not luck.fights


def make_luck_table(lucks: Sequence[Luck], noun: str) -> Table:
    """Return a table of the players' luck.

    noun: the heading for the number of throws if luck is only known in wins.
    """
    if not any(map(has_armies, lucks)):
        won = [
            (
                luck.player or "attackers",
                f"{luck.throws:,}",
                f"{luck.wins:+,.2f}",
                f"{luck.wins / (luck.wins_spread or 1.0):+.2f}",
            )
            for luck in lucks
        ]
        return Table(("", noun, "luck", SPREADS), won)
    rows = []
    for luck in lucks:
        off = luck.armies / luck.spread if luck.spread else 0.0
        rows.append(
            (
                luck.player or "attackers",
                f"{luck.throws:,}",
                f"{luck.result:+,}",
                f"{luck.result - luck.armies:+,.1f}",
                f"{luck.armies:+,.1f}",
                f"{off:+.2f}",
                f"{luck.wins:+,.2f} won" if luck.fights else "",
            )
        )
    columns = ("", "throws", "result", "= skill", "+ luck", SPREADS, "and battles")
    if not any(luck.fights for luck in lucks):
        return Table(columns[:-1], [row[:-1] for row in rows])
    return Table(columns, rows)
