"""How answers look: JSON, CSV, and for people sentences, tables and bars of text."""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from threading import Timer
from typing import TYPE_CHECKING, NamedTuple

from iacta.checks import fraction_text
from iacta.cli.options import Output
from iacta.distribution import Probability
from iacta.rules.rules import Rules

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "Bar",
    "all_digits",
    "armies",
    "bars",
    "emit",
    "exact_text",
    "few_bars",
    "heading",
    "patience",
    "percent",
    "plain_percent",
    "print_table",
    "progress",
    "say",
    "say_cannot_attack",
    "say_does_not_attack",
    "say_exactly",
    "short_percent",
    "told",
    "under",
]

NEGLIGIBLE = 0.0005
LEAST_BAR = 8
MOST_PERCENT_DIGITS = 26
EIGHTHS = " ▏▎▍▌▋▊▉"
FULL_BLOCK = "█"


def emit(
    output: Output,
    record: Callable[[], Mapping[str, object]],
    rows: Callable[[], Iterable[Sequence[object]]],
    text: "Callable[[Console], None]",
) -> None:
    """Print an answer: `record` as JSON, `rows`, heading first, as CSV, or `text` for people."""
    if output is Output.JSON:
        print(json.dumps(record(), indent=2))
    elif output is Output.CSV:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows(rows())
    else:
        from rich.console import Console

        text(Console(highlight=False, markup=False, emoji=False))


@contextmanager
def patience() -> Iterator[None]:
    """While the block runs for long, say on a terminal that work goes on."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status("Counting; Ctrl-C stops.")
    timer = Timer(0.5, status.start)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


@contextmanager
def progress(label: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """Show on a terminal how much of the work is done, by a function that is told; else `None`."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


def percent(probability: Probability) -> str:
    """Return a chance as a player says it; what is not quite certain is never called certain.

    >>> percent(0.65382), percent(0.999999), percent(1e-9), percent(Fraction(1))
    ('65.38 %', 'more than 99.99 %', 'less than 0.01 %', '100 %')
    """
    if isinstance(probability, Fraction) and probability.denominator == 1:
        return f"{100 * probability} %"
    if probability >= 0.99995:
        return "more than 99.99 %"
    if probability < 0.00005:
        return "less than 0.01 %"
    return f"{100 * float(probability):.2f} %"


def told(probability: Probability, rules: Iterable[Rules]) -> Probability:
    """Return a chance as `percent` is to say it: 0 and 1 as fractions where they are certain.

    probability: the chance.
    rules: the rules of the battles; under balanced blitz, floats of 0 and 1 are certain.

    >>> from iacta.rules.modes import BalancedBlitz
    >>> percent(told(1.0, [Rules(mode=BalancedBlitz())])), percent(told(1.0, [Rules()]))
    ('100 %', 'more than 99.99 %')
    """
    balanced = all(each.dice_mode == "balanced blitz" for each in rules)
    return Fraction(probability) if balanced and probability in (0, 1) else probability


def short_percent(probability: Probability) -> str:
    """Return a chance as `percent` does, for the cell of a table.

    >>> short_percent(0.65382), short_percent(0.999999)
    ('65.38 %', '> 99.99 %')
    """
    return percent(probability).replace("more than", ">").replace("less than", "<")


def plain_percent(chance: Fraction) -> str:
    """Return a wanted chance as a percentage with all its digits, or as a fraction without end.

    >>> plain_percent(Fraction(19, 20)), plain_percent(Fraction(10**9 - 1, 10**9))
    ('95 %', '99.9999999 %')
    >>> plain_percent(Fraction(1, 3))
    '1/3'
    """
    digits = 0
    while digits < MOST_PERCENT_DIGITS and (100 * chance * 10**digits).denominator > 1:
        digits += 1
    percents = Decimal(chance.numerator * 100) / Decimal(chance.denominator)
    return f"{percents:.{digits}f} %" if digits < MOST_PERCENT_DIGITS else str(chance)


def under(rules: str) -> str:
    """Return the note that an answer under other rules than classic bears.

    >>> under("capital"), under("classic")
    (' (capital)', '')
    """
    return "" if rules == "classic" else f" ({rules})"


def armies(count: int, one: str = "", many: str = "") -> str:
    """Return the word for so many armies, with its verb: `one` army takes, `many` armies take.

    >>> armies(1, "takes", "take"), armies(2)
    ('army takes', 'armies')
    """
    return f"army {one}".strip() if count == 1 else f"armies {many}".strip()


def say_cannot_attack(console: "Console", attackers: int, garrison: int) -> None:
    """Say that all the armies must stay behind."""
    say(
        console,
        f"{attackers} {armies(attackers)} cannot attack: {garrison} must stay behind.",
    )


def say_does_not_attack(console: "Console", attackers: int) -> None:
    """Say that the armies might attack, but stop before the first roll."""
    say(
        console,
        f"{attackers} {armies(attackers, 'does', 'do')} not attack: "
        f"{'it stops' if attackers == 1 else 'they stop'} before the first roll.",
    )


def all_digits(probability: Probability) -> str:
    """Return a fraction as n/d, a float with all its digits.

    >>> all_digits(Fraction(1, 2)), all_digits(0.1)
    ('1/2', '0.1')
    """
    if isinstance(probability, Fraction):
        return fraction_text(probability)
    return repr(float(probability))


def exact_text(probability: Probability) -> str | None:
    """Return an exact probability as n/d, and None for a float."""
    return fraction_text(probability) if isinstance(probability, Fraction) else None


def say(console: "Console", sentence: str = "") -> None:
    """Print a sentence as one line, whatever the width: the terminal wraps it, a pipe does not."""
    console.print(sentence, soft_wrap=True)


def say_exactly(console: "Console", *probabilities: Probability) -> None:
    """Print exact probabilities as fractions; say nothing of floats."""
    fractions = [text for text in map(exact_text, probabilities) if text]
    if fractions:
        say(console, f"Exactly: {' and '.join(fractions)}")


def heading(console: "Console", title: str) -> None:
    """Print an empty line and a title in bold."""
    console.print()
    console.print(title, style="bold")


def print_table(
    console: "Console", columns: Sequence[str], rows: "Iterable[Sequence[str | Text]]"
) -> None:
    """Print a plain table, numbers to the right; a first column without a heading to the left.

    Lines longer than the window are left to the terminal to wrap: no number is cut.
    """
    from rich.text import Text

    cells = [
        [cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in (columns, *rows)
    ]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for row in cells:
        for i, cell in enumerate(row):
            cell.align("right" if columns[i] else "left", widths[i])
        console.print(Text("  ").join(row), soft_wrap=True)


class Bar(NamedTuple):
    """One bar of a chart of outcomes.

    kind: what kind of outcome it is, such as `won`; only bars of one kind are joined.
    least, most: the range of numbers that it stands for.
    probability: the chance of all of them.
    style: its colour on a terminal.
    """

    kind: str
    least: int
    most: int
    probability: float
    style: str

    @property
    def numbers(self) -> str:
        """The range as a player reads it."""
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


def few_bars(outcomes: Sequence[Bar], most: int = 20) -> list[Bar]:
    """Return about `most` bars: rare outcomes at both ends left out, neighbours joined."""
    if len(outcomes) <= most:
        return list(outcomes)
    likely = _without_rare(_without_rare(list(outcomes))[::-1])[::-1]
    width = -(-len(likely) // most)
    joined: list[Bar] = []
    room = 0
    for bar in likely:
        if room and joined[-1].kind == bar.kind:
            last = joined.pop()
            joined.append(
                Bar(
                    bar.kind,
                    min(last.least, bar.least),
                    max(last.most, bar.most),
                    last.probability + bar.probability,
                    bar.style,
                )
            )
            room -= 1
        else:
            joined.append(bar)
            room = width - 1
    return joined


def _without_rare(outcomes: list[Bar]) -> list[Bar]:
    rare, total = 0, 0.0
    while rare < len(outcomes) and total + outcomes[rare].probability < NEGLIGIBLE:
        total += outcomes[rare].probability
        rare += 1
    return outcomes[rare:]


def bars(console: "Console", rows: Sequence[tuple[str, Probability, str]]) -> None:
    """Print (label, probability, style) rows as bars as long as the terminal is wide."""
    from rich.text import Text

    label_width = max(len(label) for label, _, _ in rows)
    longest = max(probability for _, probability, _ in rows)
    room = max(console.width - label_width - len("  > 99.9 %  ") - 1, LEAST_BAR)
    for label, probability, style in rows:
        length = room * float(probability / longest) if longest else 0.0
        line = Text(f"{label:<{label_width}}  {_bar_percent(probability):>8}  ")
        line.append(_bar(length, console.encoding), style=style)
        console.print(line, soft_wrap=True)


def _bar_percent(probability: Probability) -> str:
    """Return a chance beside its bar; what is not quite certain, or impossible, is not called so.

    >>> _bar_percent(0.25), _bar_percent(0.99999), _bar_percent(1e-5), _bar_percent(0.0)
    ('25.0 %', '> 99.9 %', '< 0.1 %', '0.0 %')
    >>> _bar_percent(Fraction(1))
    '100.0 %'
    """
    if isinstance(probability, Fraction) and probability == 1:
        return "100.0 %"
    if probability >= 0.9995:
        return "> 99.9 %"
    if 0 < probability < 0.0005:
        return "< 0.1 %"
    return f"{100 * float(probability):.1f} %"


def _bar(length: float, encoding: str) -> str:
    if not encoding.lower().startswith("utf"):
        return "#" * round(length)
    eighths = round(8 * length)
    return (FULL_BLOCK * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()
