"""Charts of many battles: curves of chances, and the fewest attackers for a chance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from iacta.charts.axes_and_labels import ATTACKERS, axis, categories, draw_level, exact_field
from iacta.charts.saving import Chart
from iacta.charts.subtitles import format_count, format_rules, format_signed
from iacta.charts.theme import BLUE, GREEN, GREY, HEIGHT, list_shades
from iacta.charts.vega import Channel, Row, View, field, layer, table_view
from iacta.forms.percentages import percent
from iacta.forms.sentences import join_phrases
from iacta.inputs.checks import quote, read_int, read_list
from iacta.inputs.errors import IllegalError
from iacta.odds.arrays import win_probability
from iacta.odds.needed import armies_needed, break_even_line
from iacta.probability.chances import Chance, read_chances
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules, rules_name

CHANCES = (0.05, 0.25, 0.5, 0.75, 0.95)
EVEN = Fraction(1, 2)

MAX_CURVE_ARMIES = 1_000  # a chart with more points would be slow
MAX_CHART_DEFENDERS = 500  # the maximum in charts of the fewest attackers
MAX_CHART_LINES = 20  # a chart with more lines would be unreadable
FEW_LINES = 10  # a chart with more lines has thinner lines
MAX_SPOTS = 1_500  # a chart with more tooltips would be slow
LABEL_HEIGHT = 12  # pixels
HALF_WIDTH = 255  # the width in pixels of one of two plots side by side
LEADER = 9  # the distance in pixels between a line and its label

REGION, LINE, EQUAL = "favourites", "nearest line", "equal numbers"

Whole = npt.NDArray[np.int64]


def curves_by_delta(
    deltas: Sequence[int], defenders: int, rules: Rules | str = "classic", label: str = ""
) -> Chart:
    """Draw the chance to win by number of defenders, one curve for each lead of the attackers.

    deltas: the leads, that is, attackers (garrison included) minus defenders; they may be negative.
    defenders: the largest number of defenders.
    rules: `Rules`, or the name of a rule set.
    label: a name for the rules in the title; empty for their own name.

    Points without attackers are omitted. Raises `IactaError` for more than 20 leads, or more than
    1000 defenders.

    Source: the chart of Norvig, "The Unfinished Game ... of Risk".
    """
    most = read_int(defenders, "defenders", minimum=1, maximum=MAX_CURVE_ARMIES)
    leads = _read_line_values(deltas, "deltas", minimum=1 - most)
    rules, against = find_rules(rules), np.arange(1, most + 1)
    cases = [
        f"with {format_count(abs(lead))} {'more' if lead > 0 else 'fewer'}"
        if lead
        else "with as many armies"
        for lead in leads
    ]
    return _make_curves_chart(
        _make_lead_lines("delta", leads),
        _list_curve_points(
            rules, "delta", [(d, np.maximum(against + d, 0), against) for d in leads]
        ),
        Axis("defenders", "defenders", 0, most),
        (f"Against {format_count(most, 'defender')}", cases),
        format_rules(rules, label),
    )


def curves_by_match_up(
    defenders: Sequence[int], attackers: int, rules: Rules | str = "classic", label: str = ""
) -> Chart:
    """Draw the chance to win by number of attackers, one curve for each number of defenders.

    defenders: the numbers of defenders. Each number has its own curve.
    attackers: the largest number of attackers, garrison included.
    rules, label: the same as for `curves_by_delta`.

    Raises `IactaError` for more than 20 numbers of defenders, or more than 1000 attackers.

    Source: the curves by match-up of "Analyzing the Board Game Risk" (pracpred).
    """
    most = read_int(attackers, "attackers", minimum=1, maximum=MAX_CURVE_ARMIES)
    defended = _read_line_values(defenders, "defenders", minimum=1)[::-1]
    rules = find_rules(rules)
    return _make_curves_chart(
        _make_defender_lines(defended),
        _list_match_ups(rules, defended, most),
        Axis("attackers", ATTACKERS, 0, most),
        (f"With {format_count(most)}", [f"against {d}" for d in defended]),
        format_rules(rules, label),
    )


def curves_by_advantage(
    advantages: Sequence[int], attackers: int, rules: Rules | str = "classic", label: str = ""
) -> Chart:
    """Draw the chance to win by number of attackers, one curve for each advantage in armies.

    advantages: the leads, that is, attackers (garrison included) minus defenders; they may be
        negative.
    attackers: the largest number of attackers, garrison included.
    rules, label: the same as for `curves_by_delta`.

    Points without defenders are omitted. Raises `IactaError` for more than 20 advantages, or more
    than 1000 attackers.

    Source: the curves by attacker advantage of "Analyzing the Board Game Risk" (pracpred), which
    excludes the garrison.
    """
    most = read_int(attackers, "attackers", minimum=2, maximum=MAX_CURVE_ARMIES)
    leads = _read_line_values(advantages, "advantages", maximum=most - 1)
    rules, count = find_rules(rules), np.arange(1, most + 1)
    cases = [
        f"against {abs(lead)} {'fewer' if lead > 0 else 'more'}" if lead else "against as many"
        for lead in leads
    ]
    return _make_curves_chart(
        _make_lead_lines("advantage", leads),
        _list_curve_points(rules, "advantage", [(lead, count, count - lead) for lead in leads]),
        Axis("attackers", ATTACKERS, 0, most),
        (f"With {format_count(most)}", cases),
        format_rules(rules, label),
    )


def _list_curve_points(
    rules: Rules, column: str, curves: list[tuple[int, Whole, Whole]]
) -> list[Row]:
    """Return the points of several curves.

    rules: the rules of the battles.
    column: the name of the column that distinguishes the curves.
    curves: for each curve, its value in this column, and the attackers and defenders of its points.
    """
    rows: list[Row] = []
    for value, attackers, defenders in curves:
        is_battle = (attackers > 0) & (defenders > 0)
        battles = attackers[is_battle], defenders[is_battle]
        chances = win_probability(*battles, rules)
        rows += [
            {"attackers": a, "defenders": d, column: value, "win_probability": chance}
            for a, d, chance in zip(
                *(column.tolist() for column in (*battles, chances)), strict=True
            )
        ]
    return rows


def _list_match_ups(rules: Rules, defended: Sequence[int], maximum: int) -> list[Row]:
    count = np.arange(1, maximum + 1)
    return _list_curve_points(
        rules, "defenders", [(d, count, np.full(maximum, d)) for d in defended]
    )


def _make_curves_chart(
    lines: CurveLines, rows: Sequence[Row], x: Axis, words: tuple[str, Sequence[str]], rules: str
) -> Chart:
    """Return a chart of curves of chances to win.

    lines: the lines of the chart.
    rows: the points of the curves.
    x: the horizontal axis.
    words: two phrases for the title: about all curves together, and about each curve.
    rules: the name of the rules, for the subtitle.
    """
    situation, cases = words
    last = {row[lines.column]: percent(row["win_probability"], 0) for row in rows}
    low, high = next(iter(last.values())), next(reversed(last.values()))
    title = f"{situation} you win {low} of the time {cases[0]}"
    ends = "the defenders"
    if lines.column != "defenders":
        ends = f"{lines.title}, garrison included"
    return Chart(
        lines.draw("curves", rows, x, TO_WIN),
        f"{title}." if len(cases) == 1 else f"{title}, {high} {cases[-1]}.",
        f"Chance to win by number of {x.column}; at the end of each line: {ends} ({rules}).",
        {"curves": rows},
    )


def slices(
    defenders: Sequence[int], attackers: int, rules: Rules | str = "classic", label: str = ""
) -> Chart:
    """Draw the chance to win by number of attackers, and mark the points where it reaches one half.

    defenders: the numbers of defenders. Each number has its own curve.
    attackers: the largest number of attackers, garrison included.
    rules, label: the same as for `curves_by_delta`.

    Raises `IactaError` for more than 20 numbers of defenders, more than 1000 attackers, and rules
    under which no number of attackers has an even chance.

    Source: Höhle (2025), who draws the table of chances for 15, 25 and 35 defenders.
    """
    most = read_int(attackers, "attackers", minimum=1, maximum=MAX_CURVE_ARMIES)
    defended = _read_line_values(defenders, "defenders", minimum=1)[::-1]
    rules = find_rules(rules)
    needed = dict(zip(defended, armies_needed(defended, EVEN, rules).tolist(), strict=True))
    rows = [
        {**row, "is_fewest": row["attackers"] == needed[row["defenders"]]}
        for row in _list_match_ups(rules, defended, most)
    ]
    by_attackers = Axis("attackers", ATTACKERS, 0, most)
    marked = table_view("slices", "datum.is_fewest").encode(x="attackers:Q")
    reached = marked.encode(y="win_probability:Q", color="defenders:O")
    numbers = marked.mark("text", align="left", dx=6, dy=12)
    layers = [
        draw_level("slices", "y", 0.5, color=GREY, strokeDash=[2, 4]),
        reached.mark("rule", strokeDash=[4, 3]).encode(y2={"datum": 0}),
        reached.mark("point", filled=True, size=50, opacity=1),
        numbers.encode(y={"datum": 0.5, "type": "quantitative"}, text="attackers:Q"),
        _make_defender_lines(defended).draw("slices", rows, by_attackers, TO_WIN),
    ]
    return Chart(
        layer(*layers),
        _format_slices_title({d: needed[d] for d in defended[::-1]}, most),
        "Chance to win by number of attackers; at the end of each line: the defenders; beside "
        f"each dot: the fewest attackers with an even chance ({format_rules(rules, label)}).",
        {"slices": rows},
    )


def _format_slices_title(needed: Mapping[int, int], maximum: int) -> str:
    """Return a title that states how many attackers have an even chance."""
    inside = {d: fewest for d, fewest in needed.items() if fewest <= maximum}
    outside = [f"{d:,}" for d in needed if d not in inside]
    few = ""
    if outside:
        few = (
            f"{maximum:,} {'is' if maximum == 1 else 'are'} too few against {join_phrases(outside)}"
        )
    if not inside:
        noun = "defender" if outside == ["1"] else "defenders"
        return f"To be favourites, {few} {noun}."
    fewest = join_phrases([f"{attackers:,}" for attackers in inside.values()])
    against = join_phrases([f"{d:,}" for d in inside])
    verb = "attacker is" if fewest == "1" else "attackers are"
    noun = "defender" if against == "1" else "defenders"
    title = f"{fewest} {verb} enough to be favourites against {against} {noun}"
    return f"{title}; {few}." if few else f"{title}."


def minimum_troops(
    defenders: int = 200,
    chances: Sequence[Chance] = CHANCES,
    rules: Sequence[Rules | str] = ("classic", "capital"),
    *,
    per_defender: bool = False,
) -> Chart:
    """Draw the fewest attackers needed for each chance, by number of defenders.

    defenders: the largest number of defenders.
    chances: the wanted chances, in the format of `armies_needed`.
    rules: the rule sets to compare, each as `Rules` or as a name. Each rule set has its own plot;
        all plots have the same scales.
    per_defender: whether to divide the numbers of attackers by the numbers of defenders.

    Attackers include the garrison. Raises `IactaError` for more than 20 chances or 500 defenders,
    and in the same cases as `armies_needed`.

    Source: Van Wijgerden, "Let slip the dice of war", graphs for up to 200 and up to 50 defenders.
    """
    most = read_int(defenders, "defenders", minimum=2, maximum=MAX_CHART_DEFENDERS)
    by_chance = _make_chance_lines(chances)
    tables = {
        _format_rules_name(some_rules): _compute_attackers_needed(
            most, by_chance.values, some_rules
        )
        for some_rules in rules
    }
    rows = [
        {
            "rules": name,
            "chance": chance,
            "defenders": d,
            "attackers": attackers,
            "attackers_per_defender": attackers / d,
        }
        for name, needed in tables.items()
        for chance, line in zip(by_chance.values, needed.tolist(), strict=True)
        for d, attackers in enumerate(line, start=1)
    ]
    x = Axis("defenders", "defenders", 0, most)
    column, title, form = "attackers", "fewest attackers", ",d"
    if per_defender:
        column, title, form = "attackers_per_defender", "attackers for each defender", ".1f"
    y = Axis(column, title, 0, max(row[column] for row in rows) * 1.02, form)
    half = {"width": HALF_WIDTH} if len(tables) > 1 else {}
    plots = []
    for name in tables:
        mine = [row for row in rows if row["rules"] == name]
        lines = by_chance.draw("needed", mine, x, y, f"datum.rules == {json.dumps(name)}")
        head = {"text": f"{name} rules", "fontSize": 13}
        plots.append(lines.properties(title=head, **half))
    ends = [needed[0, -1] for needed in tables.values()]
    counts = [f"{n / most:.2f}" if per_defender else str(n) for n in ends]
    counts[0] += " attackers for each" if per_defender else " attackers"
    cases = [f"{count} ({name})" for count, name in zip(counts, tables, strict=True)]
    is_one = len(plots) == 1
    return Chart(
        plots[0] if is_one else View(concat=plots, columns=2),
        f"Against {most} defenders, a chance of {by_chance.labels[0]} takes {join_phrases(cases)}.",
        "The fewest attackers, garrison included, that win with at least the chance at the end of "
        "the line.",
        {"needed": rows},
        {} if is_one else {"columns": 1},
    )


def minimum_troops_ratio(
    defenders: int = 200,
    chances: Sequence[Chance] = CHANCES,
    rules: Rules | str = "capital",
    base: Rules | str = "classic",
) -> Chart:
    """Draw the ratio of the attackers needed under two rule sets, one line for each chance.

    defenders: the largest number of defenders.
    chances: the wanted chances, in the format of `armies_needed`.
    rules: the rules of the numerator: `Rules`, or the name of a rule set.
    base: the rules of the denominator.

    The exceptions are the same as for `minimum_troops`.

    Source: Van Wijgerden, "Let slip the dice of war", with capitals and standard territories.
    """
    most = read_int(defenders, "defenders", minimum=2, maximum=MAX_CHART_DEFENDERS)
    by_chance = _make_chance_lines(chances)
    ratios = _compute_attackers_needed(most, by_chance.values, rules) / _compute_attackers_needed(
        most, by_chance.values, base
    )
    rows = [
        {"chance": p, "defenders": d, "ratio": ratio}
        for p, line in zip(by_chance.values, ratios.tolist(), strict=True)
        for d, ratio in enumerate(line, start=1)
    ]
    least, largest = (f"{pick(ratios[:, -1]):.2f}" for pick in (min, max))
    span = least if least == largest else f"{least} to {largest}"
    name, other = _format_rules_name(rules), _format_rules_name(base)
    y = Axis("ratio", f"{name} / {other}", ratios.min(), ratios.max() * 1.02, ".1f")
    return Chart(
        by_chance.draw("ratios", rows, Axis("defenders", "defenders", 0, most), y),
        f"Against {most} defenders, {name} rules take {span} times as many attackers as {other} "
        "rules.",
        "The fewest attackers, garrison included, that win with at least the chance at the end of "
        f"the line: the number under {name} rules divided by the number under {other} rules.",
        {"ratios": rows},
    )


def _make_chance_lines(chances: object) -> CurveLines:
    """Return the lines of a plot with one line for each chance, the highest chance first."""
    given = read_chances(read_list(chances, "chances", "chances")).reshape(-1).tolist()
    wanted: list[Fraction] = sorted(set(given), reverse=True)
    if not 1 <= len(wanted) <= MAX_CHART_LINES:
        raise IllegalError(
            f"chances must be a list of 1 to {MAX_CHART_LINES} chances, got {len(wanted)}"
        )
    values = [float(chance) for chance in wanted]
    return CurveLines("chance", "chance", values, [f"{100 * chance:.10g}%" for chance in values])


def _format_rules_name(rules: Rules | str) -> str:
    rules = find_rules(rules)
    name = rules_name(rules)
    return name if rules.garrison == 1 else f"{name}, garrison {rules.garrison}"


def _compute_attackers_needed(
    max_defenders: int, chances: Sequence[float], rules: Rules | str
) -> Whole:
    needed: Whole = armies_needed(
        np.arange(1, max_defenders + 1), [[chance] for chance in chances], rules
    )
    return needed


def _read_line_values(
    values: object, name: str, minimum: int | None = None, maximum: int | None = None
) -> list[int]:
    """Validate the numbers of a chart's lines; return them sorted, without duplicates."""
    row = read_list(values, name, "whole numbers")
    numbers = sorted({read_int(value, name, -(10**9), 10**9) for value in row})
    if not 1 <= len(numbers) <= MAX_CHART_LINES:
        raise IllegalError(f"{name} must be 1 to {MAX_CHART_LINES} numbers, got {len(numbers)}")
    for end in (numbers[0], numbers[-1]):
        if (minimum is not None and end < minimum) or (maximum is not None and end > maximum):
            span = f"at least {minimum}" if minimum is not None else f"at most {maximum}"
            raise IllegalError(
                f"{name} must be {span} to have a line, got {quote(end)}", parameter=name
            )
    return numbers


class Axis(NamedTuple):
    """An axis: its column, its title with the unit, its limits and its number format."""

    column: str
    title: str
    minimum: float
    maximum: float
    format: str = ",d"

    def channel(self) -> Channel:
        scale = {"domain": [self.minimum, self.maximum], "nice": False, "zero": False}
        return axis(f"{self.column}:Q", self.title, scale, format=self.format)


TO_WIN = Axis("win_probability", "chance to win", 0, 1, "%")


class CurveLines(NamedTuple):
    """The lines of a plot, each with a label at its right end; labels do not overlap.

    column: the name of the column that distinguishes the lines.
    title: the title of this column.
    values: the values of this column, from the worst for the attackers to the best.
    labels: the labels of the lines.
    """

    column: str
    title: str
    values: Sequence[float]
    labels: Sequence[str]

    def draw(self, table: str, rows: Sequence[Row], x: Axis, y: Axis, where: str = "") -> View:
        """Return a view of the lines.

        table, rows: the name of the table, and its rows.
        x, y: the two axes.
        where: the same as for `table_view`.
        """
        base = table_view(table, where).encode(x=x.channel())
        scale = {"domain": list(self.values), "range": list_shades(len(self.values))}
        colour = field(f"{self.column}:O", scale=scale, legend=None)
        lines = base.encode(y=y.channel(), color=colour)
        last = max(row[x.column] for row in rows)
        ends = {row[self.column]: row[y.column] for row in rows if row[x.column] == last}
        labels = {v: text for v, text in zip(self.values, self.labels, strict=True) if v in ends}
        gap = LABEL_HEIGHT * (y.maximum - y.minimum) / HEIGHT
        places = spread_labels([ends[value] for value in labels], gap, y.minimum, y.maximum)
        which = f"indexof({json.dumps(list(labels))}, datum['{self.column}'])"
        placed = base.filter(f"datum['{x.column}'] == {last} && {which} >= 0")
        placed = placed.calculate(
            place=f"{json.dumps(places)}[{which}]",
            label=f"{json.dumps(list(labels.values()))}[{which}]",
        )
        # Labels have the colour of text, because the colours of the lines are too light to read.
        text = placed.mark("text", align="left", dx=LEADER + 2, baseline="middle", fontSize=11)
        leader = placed.mark("rule", x2Offset=LEADER, strokeWidth=1)
        layers = [
            lines.mark("line", strokeWidth=2 if len(self.values) <= FEW_LINES else 1),
            leader.encode(color=colour, x2=x.column, y=f"{y.column}:Q", y2="place"),
            text.encode(y="place:Q", text="label:N"),
        ]
        if len(rows) <= MAX_SPOTS:
            tooltip = [
                field(f"{self.column}:O", title=self.title),
                exact_field(x.column, x.title),
                exact_field(y.column, y.title),
            ]
            layers.append(lines.mark("point", size=60, opacity=0).encode(tooltip=tooltip))
        return layer(*layers)


def _make_lead_lines(column: str, leads: Sequence[int]) -> CurveLines:
    labels = [format_signed(lead, plus=True) for lead in leads]
    return CurveLines(column, "attackers minus defenders", leads, labels)


def _make_defender_lines(defended: Sequence[int]) -> CurveLines:
    return CurveLines("defenders", "defenders", defended, list(map(str, defended)))


def spread_labels(
    places: Sequence[float], gap: float, minimum: float, maximum: float
) -> list[float]:
    """Return positions for labels near their wanted positions, but without overlap.

    places: the wanted positions of the labels, in any order.
    gap: the smallest distance between two labels.
    minimum, maximum: the smallest and the largest allowed position.

    >>> spread_labels([0.5, 0.5, 0.9], 0.1, 0, 1)
    [0.45, 0.55, 0.9]
    """
    order = np.argsort(places, kind="stable")
    steps = gap * np.arange(len(places))
    wanted = np.array(places, dtype=float)[order] - steps
    # The mean of two solutions: one only moves labels up, the other only moves labels down.
    up = np.maximum.accumulate(wanted)
    down = np.minimum.accumulate(wanted[::-1])[::-1]
    held = np.clip((up + down) / 2, minimum, max(maximum - steps[-1], minimum)) + steps
    moved = np.empty(len(places))
    moved[order] = held
    return [float(place) for place in moved.round(12)]


def break_even(
    attackers: int, defenders: int, rules: Rules | str = "classic", label: str = ""
) -> Chart:
    """Draw the region of battles in which the attackers are favourites, and a line fitted to it.

    attackers: the largest number of attackers, garrison included.
    defenders: the largest number of defenders, at least 2.
    rules: `Rules`, or the name of a rule set.
    label: a name for the rules in the title; empty for their own name.

    Raises `IactaError` for more than 1000 armies, and in the same cases as `break_even_line`.

    Source: Höhle (2025), the picture of a table of 50 by 50 battles, and the regression line.
    """
    most = read_int(attackers, "attackers", minimum=1, maximum=MAX_CURVE_ARMIES)
    against = read_int(defenders, "defenders", minimum=2, maximum=MAX_CURVE_ARMIES)
    rules = find_rules(rules)
    line = break_even_line(against, rules)
    rows = [
        {"defenders": d, "attackers": fewest, "line": line.intercept + line.slope * d}
        for d, fewest in enumerate(line.attackers, start=1)
    ]
    more = "more" if line.intercept >= 0 else "fewer"
    return Chart(
        layer(*_make_region_layers(most, against)),
        f"An even fight takes about {line.slope:.2f} attackers for each defender, and "
        f"{abs(line.intercept):.1f} {more}.",
        "The battles that the attackers win at least half of the time, and the line "
        f"{line.intercept:.4f} + {line.slope:.4f} per defender, by least squares "
        f"({format_rules(rules, label)}).",
        {"border": rows},
    )


def _make_region_layers(maximum: int, against: int) -> list[View]:
    """Return the layers: the region of favourites, the fitted line, and a line of equal armies."""
    rim = maximum + 0.5
    scale = {"domain": [1, against], "nice": False}
    base = table_view("border").encode(x=axis("defenders:Q", "defenders", scale, format=",d"))
    ends = {"low": f"min(datum.attackers - 0.5, {rim})", "high": f"{rim}"}
    legend = {"symbolOpacity": 1, "symbolType": "square"}
    kinds = categories("kind", {REGION: GREEN, LINE: BLUE, EQUAL: GREY}, legend=legend)
    region = base.calculate(**ends, kind=f"'{REGION}'").encode(
        y=axis("low:Q", ATTACKERS, {"domain": [0.5, rim], "nice": False}, format=",d"),
        y2="high",
        color=kinds,
    )

    def filter_visible(column: str) -> View:
        # It is faster to filter rows than to clip marks.
        return base.filter(f"datum.{column} >= 0.5 && datum.{column} <= {rim}")

    fewest = field("attackers:Q", title="fewest attackers")
    spots = filter_visible("attackers").mark("point", size=60, opacity=0)
    equal = filter_visible("defenders").mark("line", strokeDash=[5, 4])
    return [
        region.mark("area", opacity=0.5, interpolate="step"),
        equal.encode(y="defenders:Q", color={"datum": EQUAL}),
        filter_visible("line").mark("line").encode(y="line:Q", color={"datum": LINE}),
        spots.encode(y="attackers:Q", tooltip=["defenders:Q", fewest, exact_field("line", LINE)]),
    ]
