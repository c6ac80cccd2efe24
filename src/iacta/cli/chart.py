"""`iacta chart`: one subcommand for each chart that belongs to no question."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import Any, NamedTuple

from iacta.charts import Chart, cheat_sheet, roll_counts
from iacta.cli.print_answer import Command, command
from iacta.cli.terminal import show_progress
from iacta.forms.form import ClashError, Example, Form, Topic, make_form, parameter
from iacta.forms.parameter_kinds import Chance, CommaList, Flag, Name, RulesName, Whole
from iacta.forms.sentences import capitalise
from iacta.forms.shared_parameters import (
    ATTACKERS,
    DEFENDERS,
    BattleForm,
    CampaignForm,
    RulesForm,
)
from iacta.odds.simulation import running_estimates
from iacta.probability.chances import read_chance
from iacta.questions.simulate import SimulationForm
from iacta_literature import charts
from iacta_literature.charts.curves import CHANCES

FILE = (
    Name(),
    "The file to write; its ending chooses the format: .png, .svg, .pdf, .html, .csv or .json.",
)


@command(
    "chart",
    Topic.STUDY,
    Example("chart delta delta.svg", "the value of one more army"),
    Example("chart break-even even.png --dark", "the armies needed for an even battle"),
)
class ChartGroup(Command):
    """Draw more charts, mostly from published articles."""


class ChartCommand(Command, kw_only=True):
    """A command that draws one chart and saves it."""

    file: str = parameter(*FILE, is_argument=True)
    dark: bool = parameter(Flag(), "Draw on a dark background.", default=False)

    def run(self) -> int:
        from iacta.cli.picture import Picture  # only needed here

        with Picture(self.file, self.dark) as picture:
            draw, values = self.chart()
            picture.draw(draw(**values))
        return 0

    def chart(self) -> tuple[Callable[..., Any], dict[str, Any]]:
        raise NotImplementedError


def _simulate(form: SimulationForm) -> object:
    with show_progress() as watch:
        return form.simulate(watch)


def _estimate(form: SimulationForm) -> object:
    with show_progress():
        return running_estimates(form.campaign, runs=form.runs, seed=form.dice)


NUMBERS = {"attackers": ATTACKERS, "defenders": DEFENDERS}
# Arguments of charts that are not numbers: the form that parses the command line, and a function
# that computes the argument from the form.
ARGUMENTS: dict[str, tuple[type[Form], Callable[[Any], object]]] = {
    "battle": (BattleForm, lambda form: form.battle),
    "campaign": (CampaignForm, lambda form: form.campaign),
    "battle_or_campaign": (CampaignForm, lambda form: form.campaign),
    "simulated": (SimulationForm, _simulate),
    "estimates": (SimulationForm, _estimate),
    "seed": (SimulationForm, lambda form: form.dice),
    "rules": (RulesForm, lambda form: form.rule_set.rules),
    "label": (RulesForm, lambda form: form.rule_set.name),
}


class Option(NamedTuple):
    """A command-line option for an argument of a chart.

    default: the default value as a string.
    minimum: the minimum, or `None` if negative numbers are allowed.
    """

    default: str
    minimum: int | None = None


def _make_command(draw: Callable[..., Chart], options: Mapping[str, Option]) -> type[ChartCommand]:
    """Return a command for a chart. Its parameters are the arguments of the chart function."""
    arguments = [
        parameter
        for parameter in inspect.signature(draw).parameters.values()
        if parameter.name in ARGUMENTS
        or parameter.name in options
        or parameter.default is parameter.empty
    ]
    forms = {ARGUMENTS[argument.name][0] for argument in arguments if argument.name in ARGUMENTS}
    needed = [form for form in forms if not any(form in other.__mro__[1:] for other in forms)]
    own: dict[str, Any] = {
        "file": parameter(*FILE, is_argument=True)
    }  # the first positional argument
    for argument in arguments:
        if argument.name in options:
            own[argument.name] = _make_option(draw, argument, options[argument.name])
        elif argument.name in NUMBERS:
            own[argument.name] = parameter(*NUMBERS[argument.name], is_argument=True)

    def chart(self: Form) -> tuple[Callable[..., Any], dict[str, Any]]:
        names = [argument.name for argument in arguments]
        finders = {
            name: ARGUMENTS[name][1] if name in ARGUMENTS else attrgetter(name) for name in names
        }
        return draw, {name: find(self) for name, find in finders.items()}

    summary, *_ = inspect.cleandoc(draw.__doc__ or "").split("\n")
    made: type[ChartCommand] = make_form((*needed, ChartCommand), own, __doc__=summary, chart=chart)
    return made


def _make_option(draw: Callable[..., Chart], argument: inspect.Parameter, option: Option) -> Any:
    """Return an option for an argument. The help comes from the docstring of the chart function."""
    name, text = argument.name, inspect.cleandoc(draw.__doc__ or "")
    match = re.search(rf"^{name}: (.*(?:\n    .*)*)", text, re.MULTILINE)
    line = " ".join(match[1].split()) if match else ""
    is_list = "Sequence" in str(argument.annotation)
    number = Whole(option.minimum)
    kind = CommaList(number) if is_list else number
    help_line = capitalise(line)
    default = kind.parse(option.default, name)
    return parameter(kind, help_line, default=default, metavar="N,N..." if is_list else "")


def _add_chart(name: str, draw: Callable[..., Chart], example: str = "", **options: Option) -> None:
    """Register the command for a chart.

    name: the name of the command after `iacta chart`.
    draw: the function that draws the chart.
    example: the words after the file name in the help's example.
    options: the options by name of the argument.
    """
    line = f"chart {name} {name}.svg {example}".strip()
    command(f"chart {name}", Topic.STUDY, Example(line))(_make_command(draw, options))


_add_chart(
    "delta",
    charts.curves_by_delta,
    deltas=Option("-5,-2,-1,0,1,2,5,10"),
    defenders=Option("60", minimum=1),
)
_add_chart(
    "match-ups",
    charts.curves_by_match_up,
    defenders=Option("1,2,3,4,5,10,15,20", minimum=1),
    attackers=Option("20", minimum=1),
)
_add_chart(
    "advantage",
    charts.curves_by_advantage,
    advantages=Option("0,1,2,3,4,5,6,7"),
    attackers=Option("20", minimum=2),
)
_add_chart(
    "slices",
    charts.slices,
    "--garrison 0",
    defenders=Option("15,25,35", minimum=1),
    attackers=Option("50", minimum=1),
)
_add_chart(
    "break-even",
    charts.break_even,
    attackers=Option("50", minimum=1),
    defenders=Option("50", minimum=2),
)
_add_chart("difference", charts.final_difference, "50 50 --garrison 0")
_add_chart("score", charts.campaign_score, "72 22 8 2 2 2 7 1 1 3 1 2 3 5 1 --seed 1")
_add_chart("convergence", charts.convergence, "12 10 --runs 1e5 --seed 1")
_add_chart("rolls", roll_counts, "12 10")
_add_chart(
    "sheet",
    cheat_sheet,
    attackers=Option("20", minimum=1),
    defenders=Option("15", minimum=1),
)
_add_chart("states", charts.state_space, "4 2")
_add_chart("tree", charts.probability_tree, "4 2")
_add_chart(
    "after-rolls", charts.after_rolls, "12 10 --rolls 0,1,2,6", rolls=Option("0,1,2", minimum=0)
)
_add_chart("matrix", charts.transition_matrix, "11 10")
_add_chart("boundary", charts.first_passages, "12 10")


@command(
    "chart minimum-troops",
    Topic.STUDY,
    Example("chart minimum-troops minimum-troops.svg --defenders 50 --per-defender"),
)
class MinimumTroops(ChartCommand, kw_only=True):
    """Draw the minimum number of attackers for each chance and rule set, by defenders."""

    defenders: int = parameter(Whole(minimum=2), "The maximum number of defenders.", default=200)
    chances: Sequence[Fraction] = parameter(
        CommaList(Chance()),
        "Wanted chances, such as 50%,95%.",
        metavar="P,P...",
        default=tuple(map(read_chance, CHANCES)),
    )
    rules: Sequence[str] = parameter(
        CommaList(RulesName()),
        "Rules to compare.",
        metavar="NAME,NAME...",
        default=("classic", "capital"),
    )
    per_defender: bool = parameter(Flag(), "Divide the attackers by the defenders.", default=False)
    ratio: bool = parameter(
        Flag(),
        "Show the ratio of two rule sets: the second to the first.",
        excludes="per_defender",
        default=False,
    )

    def chart(self) -> tuple[Callable[..., Any], dict[str, Any]]:
        if not self.ratio:
            return charts.minimum_troops, {
                "defenders": self.defenders,
                "chances": self.chances,
                "rules": self.rules,
                "per_defender": self.per_defender,
            }
        if len(self.rules) != 2:
            raise ClashError("{ratio} needs two rule sets, got {0}", len(self.rules))
        base, rules = self.rules
        wanted = {"defenders": self.defenders, "chances": self.chances}
        return charts.minimum_troops_ratio, {**wanted, "rules": rules, "base": base}
