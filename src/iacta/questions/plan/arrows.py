"""The battles of a plan, as numbered arrows on a map."""

from collections.abc import Sequence

from iacta.board.scene import Arrow, shorten_name
from iacta.forms.percentages import short_percent
from iacta.plan import Plan
from iacta.plan.report import list_main_line

MIN_REACH = 0.1  # minimum chance of a battle off the main line
MAX_ARROWS = 30  # maximum number of arrows, unless the main line is longer
MIN_DIFFERENCE = 0.1  # minimum spread of the chances for showing them on the map


def list_arrows(plan: Plan) -> list[Arrow]:
    """Return arrows for the battles of the main line, followed by other likely battles."""
    line = [leg.step for leg in list_main_line(plan)]
    known = {(step.start, step.to) for step in line}
    others = [
        step
        for step in plan.steps
        if (step.start, step.to) not in known and step.reach_probability >= MIN_REACH
    ]
    number = {name: t for t, name in enumerate(plan.position.board.territories)}
    return [
        Arrow(
            n,
            number[step.start],
            number[step.to],
            "rare" if n > len(line) else "main" if n > 1 else "next",
            f"{shorten_name(step.start)} to {shorten_name(step.to)}",
            short_percent(step.reach_probability, 0),
            short_percent(step.conquer_probability, 0),
        )
        for n, step in enumerate([*line, *others][: max(MAX_ARROWS, len(line))], start=1)
    ]


def label_chances(plan: Plan, arrows: Sequence[Arrow]) -> dict[int, str]:
    """Return the chance to own each attacked territory, or nothing if the chances hardly differ."""
    chances = {arrow.to: plan.territories[arrow.to].own_probability for arrow in arrows}
    if not chances or max(chances.values()) - min(chances.values()) <= MIN_DIFFERENCE:
        return {}
    return {t: short_percent(chances[t], 0) for t in sorted(chances)}
