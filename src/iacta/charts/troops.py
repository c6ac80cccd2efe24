"""Pictures of the fewest attackers that wanted chances take."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt

from iacta.charts.lines import Axis, Lines, draw_lines
from iacta.charts.theme import AnyChart, Row, finish
from iacta.charts.words import joined
from iacta.checks import read_chances, row_of, whole_number
from iacta.errors import IllegalError
from iacta.questions.armies_needed import armies_needed
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules, rules_name

__all__ = ["CHANCES", "minimum_troops", "minimum_troops_ratio"]

CHANCES = (0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.99)
MOST_CHANCES = 20  # more lines cannot be told apart
MOST_DEFENDERS = 500

RULES: tuple[str, ...] = ("classic", "capital")


def minimum_troops(
    defenders: int = 200,
    chances: Sequence[Any] = CHANCES,
    rules: Sequence[Rules | str] = RULES,
    *,
    per_defender: bool = False,
) -> AnyChart:
    """Return the fewest attackers that chances take, by the defenders, a line for each chance.

    defenders: the most defenders.
    chances: the wanted chances, as for `armies_needed`.
    rules: the rules, each as `Rules` or the name of a rule set; a plot for each, one below the
        other on the same scales, so that they can be compared on a narrow page too.
    per_defender: whether to divide the attackers by the defenders.

    The garrison counts as attackers. Refused is what `armies_needed` refuses, more than 20 chances
    and more than 500 defenders.

    Source: Van Wijgerden, "Let slip the dice of war", of its graphs for up to 200 and 50 defenders.
    """
    most = whole_number(defenders, "defenders", least=2, most=MOST_DEFENDERS)
    wanted = _read_chances(chances)
    tables = {_name(each): _needed(most, wanted, each) for each in rules}
    rows = [row for name, needed in tables.items() for row in _rows(name, needed, wanted)]
    column = "attackers_per_defender" if per_defender else "attackers"
    title = "attackers for each defender" if per_defender else "fewest attackers"
    y = _axis(column, title, rows)
    return finish(
        _panels(y, rows, wanted, most),
        _title(most, wanted, tables, per_defender),
        "The fewest attackers, garrison included, that win with at least the chance at the end of "
        "the line.",
        {"needed": rows},
    )


def minimum_troops_ratio(
    defenders: int = 200,
    chances: Sequence[Any] = CHANCES,
    rules: Rules | str = "capital",
    base: Rules | str = "classic",
) -> AnyChart:
    """Return how many times as many attackers some rules take as others do, a line for each chance.

    defenders: the most defenders.
    chances: the wanted chances, as for `armies_needed`.
    rules: `Rules`, or the name of a rule set.
    base: the rules with whose attackers those are compared.

    The same is refused as by `minimum_troops`.

    Source: Van Wijgerden, "Let slip the dice of war", who divides capitals by standard territories.
    """
    most = whole_number(defenders, "defenders", least=2, most=MOST_DEFENDERS)
    wanted = _read_chances(chances)
    above, below = (_needed(most, wanted, each) for each in (rules, base))
    rows = [
        {"chance": p, "defenders": d, "ratio": ratio}
        for p, line in zip(wanted, (above / below).tolist(), strict=True)
        for d, ratio in enumerate(line, start=1)
    ]
    least, largest = (f"{pick(above[:, -1] / below[:, -1]):.2f}" for pick in (min, max))
    span = least if least == largest else f"{least} to {largest}"
    name, other = _name(rules), _name(base)
    return finish(
        draw_lines(_lines(_axis("ratio", f"{name} / {other}", rows), wanted, most), "ratios", rows),
        f"Against {most} defenders, {name} rules take {span} times as many attackers as {other} "
        "rules.",
        "The fewest attackers, garrison included, that win with at least the chance at the end of "
        f"the line: those under {name} rules divided by those under {other} rules.",
        {"ratios": rows},
    )


def _read_chances(chances: object) -> list[float]:
    """Return the chances in order, each once, the highest first: it is the worst to be asked."""
    asked = row_of(chances, "chances", "chances")
    wanted: list[Fraction] = sorted(set(read_chances(asked).reshape(-1).tolist()), reverse=True)
    if not 1 <= len(wanted) <= MOST_CHANCES:
        raise IllegalError(f"chances must be 1 to {MOST_CHANCES}, got {len(wanted)}")
    return [float(chance) for chance in wanted]


def _name(rules: Rules | str) -> str:
    found = find_rules(rules)
    name = rules_name(found)
    return name if found.garrison == 1 else f"{name}, garrison {found.garrison}"


def _needed(most: int, wanted: Sequence[float], rules: Rules | str) -> npt.NDArray[np.int64]:
    """Return the fewest attackers, a row for each chance and a column for each defender."""
    needed: npt.NDArray[np.int64] = armies_needed(
        np.arange(1, most + 1), [[chance] for chance in wanted], rules
    )
    return needed


def _rows(name: str, needed: npt.NDArray[np.int64], wanted: Sequence[float]) -> list[Row]:
    return [
        {
            "rules": name,
            "chance": chance,
            "defenders": d,
            "attackers": attackers,
            "attackers_per_defender": attackers / d,
        }
        for chance, line in zip(wanted, needed.tolist(), strict=True)
        for d, attackers in enumerate(line, start=1)
    ]


def _axis(column: str, title: str, rows: Sequence[Row]) -> Axis:
    values = [row[column] for row in rows]
    whole = column == "attackers"
    least = min(values) if column == "ratio" else 0
    return Axis(column, title, least, max(values) * 1.02, ",d" if whole else ".1f")


def _lines(y: Axis, wanted: Sequence[float], most: int) -> Lines:
    labels = [f"{100 * chance:.10g} %" for chance in wanted]
    x = Axis("defenders", "defenders", 0, most)
    return Lines(x, y, "chance", "chance", wanted, labels)


def _panels(y: Axis, rows: Sequence[Row], wanted: Sequence[float], most: int) -> AnyChart:
    """Return a plot for each of the rules, one below the other."""
    lines = _lines(y, wanted, most)
    plots = []
    for name in dict.fromkeys(row["rules"] for row in rows):
        its_own = [row for row in rows if row["rules"] == name]
        plot = draw_lines(lines, "needed", its_own, f"datum.rules == {json.dumps(name)}")
        plots.append(plot.properties(title=alt.TitleParams(f"{name} rules", fontSize=13)))
    return plots[0] if len(plots) == 1 else alt.vconcat(*plots)


def _title(most: int, wanted: Sequence[float], tables: dict[str, Any], per_defender: bool) -> str:
    """Return what the highest chance takes against the most defenders."""
    chance = f"{100 * wanted[0]:.10g} %"
    ends = {name: needed[0, -1] for name, needed in tables.items()}
    told = [f"{n / most:.2f}" if per_defender else str(n) for n in ends.values()]
    told[0] += " attackers for each" if per_defender else " attackers"
    cases = [f"{text} ({name})" for text, name in zip(told, ends, strict=True)]
    return f"Against {most} defenders, a chance of {chance} takes {joined(cases)}."
