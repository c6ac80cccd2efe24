"""`iacta chart`: the pictures that no other command draws, one command each."""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, make_dataclass
from fractions import Fraction
from operator import attrgetter
from typing import Annotated, Any

from iacta.charts.curves import CHANCES
from iacta.charts.registry import Chart, charts
from iacta.checks import read_chance
from iacta.cli.command import Command, command
from iacta.cli.terminal import patience
from iacta.odds.simulated import running_estimates
from iacta.questions.form import ClashError, Example, Form, Parameter, Topic
from iacta.questions.kinds import Chance, Flag, Listed, Name, RulesName, Whole
from iacta.questions.parameters import (
    Attackers,
    Defenders,
    OneBattle,
    OneCampaign,
    UnderRules,
)
from iacta.questions.simulate import RandomCampaign

__all__ = ["ChartCommand"]

PictureFile = Annotated[
    str,
    Parameter(
        Name(),
        "Picture file, ending in .svg, .png, .pdf, .html, .json or .csv; - prints SVG.",
        is_argument=True,
    ),
]


@command(
    "chart",
    Topic.STUDY,
    Example("chart delta delta.svg", "how much does it help to be one army ahead?"),
    Example("chart break-even even.png --dark", "how many armies is an even battle?"),
)
@dataclass(frozen=True)
class ChartGroup(Command):
    """Draw one of the pictures that no other command draws."""


@dataclass(frozen=True, kw_only=True)
class ChartCommand(Command):
    """A command that draws one chart into a file."""

    file: PictureFile
    dark: Annotated[bool, Parameter(Flag(), "Draw on a dark background.")] = False

    def run(self) -> int:
        from iacta.cli.picture import Picture  # only needed here

        with Picture(self.file, self.dark) as picture:
            draw, values = self.chart()
            picture.draw(picture.sketch(lambda _: draw(**values)))
        return 0

    def chart(self) -> tuple[Callable[..., Any], dict[str, Any]]:
        raise NotImplementedError


def _simulated(form: RandomCampaign) -> object:
    with patience() as watch:
        return form.simulated(watch)


def _estimates(form: RandomCampaign) -> object:
    with patience():
        return running_estimates(form.campaign, runs=form.runs, seed=form.dice)


NUMBERS = {"attackers": Attackers, "defenders": Defenders}
# The form and the value of each argument of a chart that is not a number.
FOUND: dict[str, tuple[type[Form], Callable[[Any], object]]] = {
    "battle": (OneBattle, lambda form: form.battle),
    "campaign": (OneCampaign, lambda form: form.campaign),
    "asked": (OneCampaign, lambda form: form.campaign),
    "simulated": (RandomCampaign, _simulated),
    "estimates": (RandomCampaign, _estimates),
    "seed": (RandomCampaign, lambda form: form.dice),
    "rules": (UnderRules, lambda form: form.rule_set.rules),
    "label": (UnderRules, lambda form: form.rule_set.name),
}


def _described(drawn: Chart) -> type[ChartCommand]:
    """Return the command of a chart; its parameters are the arguments of the chart's function."""
    arguments = [
        each
        for each in inspect.signature(drawn.draw).parameters.values()
        if each.name in FOUND or each.name in drawn.options or each.default is each.empty
    ]
    forms = {FOUND[each.name][0] for each in arguments if each.name in FOUND}
    needed = [form for form in forms if not any(form in other.__mro__[1:] for other in forms)]
    own: list[Any] = [("file", PictureFile)]
    for each in arguments:
        if each.name in drawn.options:
            own.append(_option(drawn, each))
        elif each.name in NUMBERS:
            own.append((each.name, NUMBERS[each.name]))

    def chart(self: Form) -> tuple[Callable[..., Any], dict[str, Any]]:
        names = [each.name for each in arguments]
        finders = {name: FOUND[name][1] if name in FOUND else attrgetter(name) for name in names}
        return drawn.draw, {name: find(self) for name, find in finders.items()}

    summary, *_ = inspect.cleandoc(drawn.draw.__doc__ or "").split("\n")
    return make_dataclass(
        drawn.draw.__name__,
        own,
        bases=(*needed, ChartCommand),
        namespace={"chart": chart, "__doc__": summary.replace("Return", "Draw", 1)},
        frozen=True,
        kw_only=True,
        eq=False,
        repr=False,
    )


def _option(drawn: Chart, argument: inspect.Parameter) -> tuple[str, Any, Any]:
    """Return the field of an option; its help is what the chart's docstring says."""
    name, option = argument.name, drawn.options[argument.name]
    text = inspect.cleandoc(drawn.draw.__doc__ or "")
    found = re.search(rf"^{name}: (.*(?:\n    .*)*)", text, re.MULTILINE)
    line = " ".join(found[1].split()) if found else ""
    is_list = "Sequence" in str(argument.annotation)
    number = Whole(option.least)
    kind = Listed(number) if is_list else number
    help_line = line[:1].upper() + line[1:]
    parameter = Parameter(kind, help_line, metavar="N,N..." if is_list else "")
    return name, Annotated[Any, parameter], kind.parse(option.default, name)


for each in charts().values():
    if each.command:
        line = f"chart {each.command} {each.command}.svg {each.example}".strip()
        command(f"chart {each.command}", Topic.STUDY, Example(line))(_described(each))


@command(
    "chart minimum-troops",
    Topic.STUDY,
    Example("chart minimum-troops minimum-troops.svg --defenders 50 --per-defender"),
)
@dataclass(frozen=True, kw_only=True)
class MinimumTroops(ChartCommand):
    """Draw the fewest attackers needed for each chance, by defenders, for several rules."""

    defenders: Annotated[int, Parameter(Whole(least=2), "The most defenders.")] = 200
    chances: Annotated[
        Sequence[Fraction],
        Parameter(Listed(Chance()), "Wanted chances, such as 50%,95%.", metavar="P,P..."),
    ] = tuple(map(read_chance, CHANCES))
    rules: Annotated[
        Sequence[str],
        Parameter(Listed(RulesName()), "Rules to compare.", metavar="NAME,NAME..."),
    ] = ("classic", "capital")
    per_defender: Annotated[bool, Parameter(Flag(), "Divide the attackers by the defenders.")] = (
        False
    )
    ratio: Annotated[
        bool,
        Parameter(
            Flag(), "Show the ratio of the second rules to the first.", excludes="per_defender"
        ),
    ] = False

    def chart(self) -> tuple[Callable[..., Any], dict[str, Any]]:
        drawn = charts()
        if not self.ratio:
            return drawn["minimum_troops"].draw, {
                "defenders": self.defenders,
                "chances": self.chances,
                "rules": self.rules,
                "per_defender": self.per_defender,
            }
        if len(self.rules) != 2:
            raise ClashError("{ratio} needs two rules, got {0}", len(self.rules))
        base, rules = self.rules
        wanted = {"defenders": self.defenders, "chances": self.chances}
        return drawn["minimum_troops_ratio"].draw, {**wanted, "rules": rules, "base": base}
