"""How campaigns end, as bars: shared by the commands that lead one."""

from collections.abc import Sequence

from iacta.battle.campaign import CampaignOutcome
from iacta.cli import show
from iacta.distribution import Distribution
from iacta.methods.outcome import Stage

__all__ = ["bar_rows", "best_first", "stops"]


def best_first(law: Distribution[CampaignOutcome]) -> list[CampaignOutcome]:
    """Return the outcomes, the best for the attackers first."""
    return sorted(law, key=lambda end: (-end.conquered, end.defenders, -end.attackers))


def stops(end: CampaignOutcome, way: Sequence[Stage]) -> bool:
    """Tell whether a campaign ends because the attackers stop: with armies left to attack.

    end: how it ends.
    way: its battles.
    """
    return end.conquered < len(way) and end.attackers > way[end.conquered].rules.garrison


def bar_rows(
    law: Distribution[CampaignOutcome], way: Sequence[Stage]
) -> list[tuple[str, float, str]]:
    """Return bars for the armies left after a full success, and one for each territory lost.

    law: how the campaign ends.
    way: its battles; where the attackers stop of their own will, they have bars of their own.
    """
    won: list[show.Bar] = []
    left_off: dict[int, float] = {}
    lost: dict[int, float] = {}
    for end in best_first(law):
        probability, number = float(law[end]), end.conquered + 1
        if end.conquered == len(way):
            won.append(show.Bar("won", end.attackers, end.attackers, probability, "green"))
        else:
            others = left_off if stops(end, way) else lost
            others[number] = others.get(number, 0.0) + probability
    bars = show.few_bars(won, most=12)
    for kind, others, style in (("left off", left_off, "yellow"), ("stopped", lost, "red")):
        bars += show.few_bars([show.Bar(kind, n, n, p, style) for n, p in others.items()], most=8)
    return [_bar_row(bar) for bar in bars]


def _bar_row(bar: show.Bar) -> tuple[str, float, str]:
    if bar.kind == "won":
        return f"all taken, {bar.numbers} left", bar.probability, bar.style
    return f"{bar.kind} at territory {bar.numbers}", bar.probability, bar.style
