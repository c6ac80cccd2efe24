"""How campaigns end, as bars: shared by the commands that lead one."""

from iacta.campaign import CampaignOutcome
from iacta.cli import show
from iacta.distribution import Distribution

__all__ = ["bar_rows", "best_first"]


def best_first(law: Distribution[CampaignOutcome]) -> list[CampaignOutcome]:
    """Return the outcomes, the best for the attackers first."""
    return sorted(law, key=lambda end: (-end.conquered, end.defenders, -end.attackers))


def bar_rows(law: Distribution[CampaignOutcome], territories: int) -> list[tuple[str, float, str]]:
    """Return bars for the armies left after a full success, and one for each territory lost.

    law: how the campaign ends.
    territories: how many there are on the way.
    """
    won = [
        show.Bar("won", end.attackers, end.attackers, float(law[end]), "green")
        for end in best_first(law)
        if end.conquered == territories
    ]
    lost: dict[int, float] = {}
    for end in best_first(law):
        if end.conquered < territories:
            number = end.conquered + 1
            lost[number] = lost.get(number, 0.0) + float(law[end])
    stopped = [show.Bar("stopped", number, number, p, "red") for number, p in lost.items()]
    bars = show.few_bars(won, most=12) + show.few_bars(stopped, most=8)
    return [_bar_row(bar) for bar in bars]


def _bar_row(bar: show.Bar) -> tuple[str, float, str]:
    if bar.kind == "won":
        return f"all taken, {bar.numbers} left", bar.probability, bar.style
    return f"stopped at territory {bar.numbers}", bar.probability, bar.style
