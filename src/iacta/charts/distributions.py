"""Charts of outcomes: distributions of battles, of rolls and of anything else as bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from iacta.battle.battle import Battle, Outcome, is_won
from iacta.battle.campaign import Campaign
from iacta.charts.registry import chart
from iacta.charts.theme import (
    AMBER,
    BLUE,
    GREY,
    RED,
    WHOLE,
    WITHOUT_SIGN,
    AnyChart,
    Row,
    alt,
    categories,
    counted,
    exactly,
    expect,
    fight,
    finish,
    named,
    rules_words,
    signed,
)
from iacta.distribution import Distribution, Probability
from iacta.errors import IactaError
from iacta.methods import find_kernel
from iacta.questions.words import percent
from iacta.rules.roll import Roll
from iacta.rules.rules import Rules

# How something ends, with a number of armies.
Ends: TypeAlias = Mapping[tuple[str, int], Probability]

WIN, HOLD, STOP = "you win", "they hold", "you stop"
COLOURS = {WIN: BLUE, HOLD: RED, STOP: AMBER}
REMAIN = "armies that remain: theirs to the left, yours to the right"
YOURS, THEIRS = "your armies that remain", "their armies that remain"
CHANCE = "chance"

MOST_COUNTED = 10**4  # states: so many are counted exactly at once
MOST_BARS = 120  # more are no more than hairs
FEW_BARS = 40  # of so few, none is left out
MOST_ROWS = 30  # of a distribution of anything but numbers
ROW_HEIGHT = 22
RARE = 1e-4
PALE = 0.75
LEAST_GAPS = 3  # fewer are not seen as teeth


@chart(of="Battle")
def battle_outcomes(battle: Battle) -> AnyChart:
    """Return how a battle ends: the chances of each number of armies left, to either side.

    battle: the battle.

    The chart has a table `outcomes`: `end`, the numbers of armies from `least` to `most`, yours
    above 0 where you win or stop and theirs below where they hold, and their `probability`. More
    than 120 numbers are joined; of more than 40, those at the ends that occur once in 10,000
    battles are left out. Battles with more outcomes than can be listed are refused.
    """
    expect(battle, Battle, "battle")
    outcomes = battle.outcomes()
    rows = bar_rows(_ends(outcomes, battle, lambda end: signed_left(end, battle)))
    return finish(
        histogram("outcomes", rows, whose(rows), is_signed=False),
        _won(outcomes, battle),
        fight(battle.attackers, battle.defenders, battle.rules, battle.stop)
        + f" How it ends, including the garrison of {battle.rules.garrison}.",
        {"outcomes": rows},
    )


@chart(command="difference", example="50 50 --garrison 0")
def final_difference(battle: Battle) -> AnyChart:
    """Return the difference of the armies left at the end: attackers less defenders.

    battle: the battle.

    The chart has a table `differences` with the columns of `battle_outcomes`. In classic Risk a
    roll with all dice takes two armies, so that even and odd differences are not equally likely:
    hence the teeth, where both sides have many more armies than dice. The same is refused as by
    `battle_outcomes`.

    Source: Höhle (2025), the sawtooth of 50 against 50, without garrison.
    """
    expect(battle, Battle, "battle")
    outcomes = battle.outcomes()
    rows = bar_rows(_ends(outcomes, battle, lambda end: end.attackers - end.defenders))
    likeliest = outcomes.mode()
    left = f"leaves them {counted(likeliest.defenders)}"
    if is_won(likeliest):
        left = f"leaves you {counted(likeliest.attackers)}"
    bars = [row["probability"] for row in sorted(rows, key=lambda row: float(row["least"]))]
    gaps = sum(a > b < c for a, b, c in zip(bars, bars[1:], bars[2:], strict=False))
    taken = min(battle.rules.full_roll)
    why = ""
    if taken > 1 and gaps >= LEAST_GAPS and _is_rolled(battle.rules):
        why = f" A roll with all dice costs {taken} armies in total: hence the teeth."
    return finish(
        histogram("differences", rows, "attackers minus defenders at the end, in armies"),
        f"{_won(outcomes, battle)} The likeliest single end {left}.",
        fight(battle.attackers, battle.defenders, battle.rules, battle.stop) + why,
        {"differences": rows},
    )


def _is_rolled(rules: Rules) -> bool:
    """Return whether a battle is a sequence of rolls whose dice are known beforehand."""
    return find_kernel(rules).rolled and not rules.mode.grows


def _won(outcomes: Distribution[Outcome], battle: Battle) -> str:
    won = outcomes.prob(is_won)
    if won in (0, 1) and is_certain(won, battle):
        return f"You {'always' if won else 'never'} win."
    title = f"You win {percent(float(won), 0)} of the time"
    stopped = outcomes.prob(battle.is_stopped)
    return f"{title}, and stop {percent(stopped, 0)}." if stopped else f"{title}."


def is_certain(won: Probability, asked: Battle | Campaign) -> bool:
    """Return whether a chance to win of 0 or 1 is exactly that, not a float that is nearly so."""
    if asked.attackers <= asked.rules.garrison:
        return True
    stages = [asked] if isinstance(asked, Battle) else asked.stages()
    if all(find_kernel(stage.rules).certain for stage in stages):
        return True
    if asked.attackers * sum(stage.defenders for stage in stages) > MOST_COUNTED:
        return False
    try:
        return asked.win_probability(exact=True) == won
    except IactaError:  # no method counts it
        return False


def whose(rows: Sequence[Row]) -> str:
    """Return what the numbers of bars are, whose rows are those of `bar_rows`."""
    held = [row["end"] == HOLD for row in rows]
    return THEIRS if all(held) else REMAIN if any(held) else YOURS


def signed_left(end: Outcome, battle: Battle) -> int:
    """Return the armies left to you if you win or stop, and otherwise theirs, below 0."""
    return -end.defenders if fate(end, battle) == HOLD else end.attackers


def fate(end: Outcome, battle: Battle) -> str:
    """Return whether a battle that ends so is won, held, or was stopped."""
    if is_won(end):
        return WIN
    return STOP if battle.is_stopped(end) else HOLD


def _ends(
    outcomes: Distribution[Outcome], battle: Battle, number: Callable[[Outcome], int]
) -> Distribution[tuple[str, int]]:
    return outcomes.map(lambda end: (fate(end, battle), number(end)))


@chart(of="Roll")
def roll_losses(roll: Roll) -> AnyChart:
    """Return what one roll of the dice costs both sides.

    roll: the roll.

    The chart has a table `losses`: the armies that `attackers` and `defenders` lose, and the
    `count` of equally likely rolls, of a `total`, that cost this many.

    Source: Taflin (2001), table 1.
    """
    expect(roll, Roll, "roll")
    total = roll.loss_counts().total
    more = {-1: "they lose more", 0: "neither does", 1: "you lose more"}
    rows: list[Row] = [
        {
            "losses": f"you {lost.attackers}, they {lost.defenders}"
            if lost.attackers >= 0
            else f"both gain {-lost.attackers}",
            "worse": more[(lost.attackers > lost.defenders) - (lost.attackers < lost.defenders)],
            **lost._asdict(),
            "count": int(chance * total),
            "total": total,
            "probability": float(chance),
        }
        for lost, chance in sorted(roll.losses().items())
    ]
    base = alt.Chart(named("losses")).encode(
        y=alt.Y("losses:N", title="armies lost", sort=[row["losses"] for row in rows]),
        x=alt.X(
            "probability:Q",
            title=CHANCE,
            axis=alt.Axis(format="~%", tickCount=5),
            scale=alt.Scale(domainMax=1.25 * max(row["probability"] for row in rows)),
        ),
        tooltip=[
            alt.Tooltip("losses:N", title="armies lost"),
            alt.Tooltip("count:Q", title="rolls"),
            alt.Tooltip("total:Q", title="of"),
            exactly("probability", CHANCE),
        ],
    )
    colours = {more[1]: RED, more[-1]: BLUE, more[0]: GREY}
    text = base.mark_text(align="left", dx=5).encode(text=alt.Text("probability:Q", format=".2~%"))
    bars = base.mark_bar().encode(color=categories("worse", colours, rows))
    ours, theirs = map(float, roll.expected_losses())
    dice = "die" if roll.attack_dice == 1 else "dice"
    return finish(
        alt.layer(bars, text).properties(height=50 * len(rows)),
        f"A roll costs you {ours:.2f} and them {theirs:.2f} armies on average.",
        f"Armies lost in one roll of {roll.attack_dice} attack {dice} against {roll.defence_dice} "
        f"({rules_words(roll.rules)}).",
        {"losses": rows},
    )


@chart(of="Distribution")
def distribution(distribution: Distribution[Any]) -> AnyChart:
    """Return the probability of each outcome of a distribution, in order if they are numbers.

    distribution: the distribution.

    The chart has a table `outcomes`: of whole numbers those from `least` to `most` with their
    `probability`, joined and left out as for `battle_outcomes`; of anything else each `outcome`
    with its `probability`, the 30 likeliest.
    """
    expect(distribution, Distribution, "distribution")
    likeliest = distribution.mode()
    often = f"{percent(distribution[likeliest], 0)} of the time"
    if all(isinstance(each, int) for each in distribution):
        rows = bar_rows({(CHANCE, each): chance for each, chance in distribution.items()})
        return finish(
            histogram("outcomes", rows, "number", {CHANCE: BLUE}).encode(color=alt.value(BLUE)),
            f"{signed(distribution.mean(), 2)} on average, most often {signed(likeliest)}: "
            f"{often}.",
            "The probability of each number.",
            {"outcomes": rows},
        )
    ranked = sorted(distribution.items(), key=lambda item: -item[1])
    rows = [
        {"outcome": _outcome_words(each), "probability": float(chance)}
        for each, chance in ranked[:MOST_ROWS]
    ]
    left_out = len(ranked) - len(rows)
    bars = (
        alt.Chart(named("outcomes"), height=ROW_HEIGHT * len(rows))
        .mark_bar()
        .encode(
            y=alt.Y("outcome:N", title=None, sort=[row["outcome"] for row in rows]),
            x=alt.X("probability:Q", title=CHANCE, axis=alt.Axis(format="~%", tickCount=5)),
            tooltip=["outcome:N", exactly("probability", CHANCE)],
        )
    )
    return finish(
        bars,
        f"Most often {rows[0]['outcome']}: {often}.",
        "The probability of each outcome"
        + (f", without the {left_out:,} least likely." if left_out else "."),
        {"outcomes": rows},
    )


def _outcome_words(outcome: Any) -> str:
    fields = getattr(outcome, "_fields", None)
    if fields is None:
        return str(outcome)
    return ", ".join(f"{each} {value}" for each, value in zip(fields, outcome, strict=True))


class Span(NamedTuple):
    """What a bar stands for: how it ends, with from the least to the most armies."""

    end: str
    least: int
    most: int


def spans(ends: Ends, most: int = MOST_BARS) -> dict[tuple[str, int], Span]:
    """Return the bar to which each outcome belongs.

    ends: the chance of each outcome.
    most: how many bars there may be; of more, neighbours are joined. Where there are more than 40,
        those at either end are left out that together are rarer than 1 in 10,000.
    """
    numbers = sorted({number for _, number in ends})
    if len(numbers) > FEW_BARS:
        numbers = _likely(numbers, ends)
    width = -(-(numbers[-1] - numbers[0] + 1) // most)
    return {
        (end, number): Span(end, number // width * width, number // width * width + width - 1)
        for end, number in ends
        if numbers[0] <= number <= numbers[-1]
    }


def _likely(numbers: Sequence[int], ends: Ends) -> list[int]:
    """Return the numbers without those at both ends that together are rare."""
    chances = dict.fromkeys(numbers, 0.0)
    for (_, number), chance in ends.items():
        chances[number] += float(chance)
    kept = list(numbers)
    for last in (0, -1):
        rare = chances[kept[last]]
        while rare < RARE:
            kept.pop(last)
            rare += chances[kept[last]]
    return kept


def bar_rows(ends: Ends, bars: Mapping[tuple[str, int], Span] | None = None) -> list[Row]:
    """Return a row for each bar: `end`, `least` and `most` armies, and its `probability`.

    ends: the chance of each outcome.
    bars: the bar of each outcome; `None` for those of `spans`.
    """
    bars = spans(ends) if bars is None else bars
    sums: dict[Span, float] = {}
    for outcome in ends:
        if outcome in bars:
            span = bars[outcome]
            sums[span] = sums.get(span, 0.0) + float(ends[outcome])
    return [{**span._asdict(), "probability": chance} for span, chance in sums.items()]


def histogram(
    table: str,
    rows: Sequence[Row],
    title: str | Iterable[str],
    colours: Mapping[str, str] = COLOURS,
    *,
    beneath: bool = False,
    is_signed: bool = True,
) -> Any:
    """Return bars as wide as the armies that they stand for, coloured by how it ends.

    table: the name of the table.
    rows: its rows, those of `bar_rows`.
    title: what the armies are, in one line or several.
    colours: the colour of each end.
    beneath: whether lines are drawn over the bars; these are then pale, and each begins at 0.
    is_signed: whether numbers below 0 have their sign; without, they are those of the defenders.
    """
    width = max(row["most"] - row["least"] + 1 for row in rows)
    label = WHOLE if is_signed else WITHOUT_SIGN
    if not is_signed and all(row["least"] >= 0 for row in rows):
        label = f"datum.value < 0 ? '' : {label}"  # the axis may begin before the first bar
    elif not is_signed and all(row["most"] <= 0 for row in rows):
        label = f"datum.value > 0 ? '' : {label}"
    return (
        alt.Chart(named(table))
        .transform_calculate(low="datum.least - 0.45", high="datum.most + 0.45")
        .mark_bar(binSpacing=0, opacity=PALE if beneath else 1)
        .encode(
            x=alt.X(
                "low:Q",
                bin="binned",
                title=title if isinstance(title, str) else list(title),
                axis=alt.Axis(format=",~d", tickMinStep=1, labelExpr=label),
            ),
            x2="high:Q",
            y=alt.Y(
                "probability:Q",
                title=CHANCE if width == 1 else f"chance of {width} numbers in a row",
                axis=alt.Axis(format="~%"),
                stack=None if beneath else "zero",
            ),
            color=categories("end", colours, rows),
            tooltip=[
                alt.Tooltip("end:N"),
                alt.Tooltip("least:Q", title="from"),
                alt.Tooltip("most:Q", title="to"),
                exactly("probability", CHANCE),
            ],
        )
    )
