"""Turns the docstrings of the library into pages."""

import inspect
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import iacta
from iacta.methods import (
    balanced_blitz,
    chain,
    closed_form,
    counting,
    hand_or_blitz,
    lattice,
    leap,
    markov,
    optimal_play,
    path_tree,
    replies,
    sees_first,
    sees_first_exact,
    simulation,
    spreads,
    stopping,
    survivors,
    walk,
)
from iacta_literature import hoehle, taflin

__all__ = ["CHARTS", "METHODS", "SECTIONS", "anchor", "charts_page", "library_page", "method_page"]

SECTIONS: dict[str, list[str]] = {
    "What a player asks": [
        "Battle",
        "Campaign",
        "armies_needed",
        "armies_needed_for_campaign",
        "defenders_needed",
        "spread_defenders",
    ],
    "What to do": [
        "when_to_stop",
        "best_mix",
        "how_many_dice",
        "win_probability_if_seen",
        "Decision",
        "Boundary",
        "DiceDecision",
    ],
    "The best way on a board": [
        "best_plan",
        "TakeAll",
        "TakeAny",
        "Worth",
        "eliminate",
        "armies_needed_for_plan",
        "simulate_plan",
        "Plan",
        "Step",
        "TerritoryEnd",
        "Ending",
        "Play",
        "NextMove",
        "SimulatedPlan",
    ],
    "Arrays of battles": [
        "win_probability",
        "win_table",
        "expected_attackers_left",
        "expected_defenders_left",
    ],
    "Played with random dice": [
        "simulate_battle",
        "simulate_campaign",
        "Simulated",
        "Estimate",
        "Interval",
    ],
    "What the world is": [
        "Rules",
        "Dice",
        "RuleSet",
        "find_rules",
        "find_rule_set",
        "rules_name",
        "Modifier",
        "read_rules_file",
        "read_rules_record",
        "rules_record",
        "rules_toml",
        "Roll",
        "Losses",
        "break_even_ratio",
        "Territory",
        "Stop",
    ],
    "Boards": [
        "classic_board",
        "read_board",
        "read_position",
        "Board",
        "Continent",
        "Position",
        "Holding",
    ],
    "How it ends": [
        "Distribution",
        "Outcome",
        "BestSpread",
        "CampaignOutcome",
        "TerritoryOdds",
        "PlayedBattle",
    ],
    "What is refused": [
        "IactaError",
        "MalformedError",
        "IllegalError",
        "TooLargeError",
        "MissingError",
    ],
}
CHARTS: dict[str, list[str]] = {
    "Of an answer": [
        "battle_law",
        "survival",
        "roll_law",
        "chance_by_attackers",
        "chance_by_defenders",
        "best_spread",
        "decision_map",
        "dice_map",
        "simulated_law",
        "win_chance_map",
        "rule_sets",
        "full_roll",
        "methods_compared",
        "Solved",
    ],
    "Of many battles": [
        "curves_by_delta",
        "curves_by_match_up",
        "curves_by_advantage",
        "break_even",
        "slices",
        "minimum_troops",
        "minimum_troops_ratio",
    ],
    "Of how a battle goes": [
        "state_space",
        "probability_tree",
        "path_chances",
        "after_rolls",
        "first_passages",
        "transition_matrix",
        "final_difference",
    ],
    "Of boards and plans": ["board_map", "plan_map"],
    "Of random dice": ["convergence", "campaign_score"],
    "As files and numbers": ["save", "specification", "chart_tables", "chart_csv", "chart_frame"],
}


class MethodPage(NamedTuple):
    """The page of one method.

    title: what the method is called.
    modules: its files, the one that matters first.
    """

    title: str
    modules: tuple[ModuleType, ...]


METHODS: dict[str, MethodPage] = {
    "counting": MethodPage("Counting", (counting,)),
    "closed_form": MethodPage("Closed form", (closed_form, taflin)),
    "path_tree": MethodPage("Path tree", (path_tree,)),
    "markov": MethodPage("Markov chain", (markov, chain)),
    "lattice": MethodPage("Lattice", (lattice,)),
    "leap": MethodPage("Leap", (leap, walk, survivors)),
    "simulation": MethodPage("Simulation", (simulation,)),
    "tan_1997": MethodPage("Tan's error, wrong on purpose", (hoehle,)),
    "stopping": MethodPage("Stopping", (stopping,)),
    "optimal_play": MethodPage("Optimal play", (optimal_play,)),
    "spreads": MethodPage("Spreads", (spreads,)),
    "balanced_blitz": MethodPage("Balanced blitz", (balanced_blitz,)),
    "hand_or_blitz": MethodPage("By hand or blitz", (hand_or_blitz,)),
    "sees_first": MethodPage("Defender sees first", (sees_first, sees_first_exact, replies)),
}
STARS = re.compile(r"(`[^`]*`|\*\w+\*)|\*")
SOURCES = Path(__file__).parent / "sources.md"
LONG = 40  # letters of a default value that says more than it helps
ARGUMENT = re.compile(r"^(?!Source)(\w+(?:, \w+)*): ")


def library_page() -> str:
    """Return a page with every public name."""
    parts = ["# Library", "Everything here is imported from `iacta`."]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}")
        for name in names:
            parts += _entry(name, getattr(iacta, name), "###")
    return "\n\n".join(parts) + "\n"


def charts_page() -> str:
    """Return a page with every function that draws."""
    from iacta import charts

    parts = ["# Pictures from Python", "Everything here is imported from `iacta.charts`."]
    for title, names in CHARTS.items():
        parts.append(f"## {title}")
        for name in names:
            parts += _entry(name, getattr(charts, name), "###")
    return "\n\n".join(parts) + "\n"


def method_page(page: MethodPage) -> str:
    """Return the page of a method: its mathematics, its functions, and where it is from.

    page: which method.
    """
    parts = [f"# {page.title}"]
    for number, module in enumerate(page.modules):
        if number:
            parts.append(f"## `{module.__name__}`")
        parts += _prose(module)
    parts.append("## Its functions")
    for module in page.modules:
        for name in module.__all__:
            if callable(getattr(module, name)):
                parts += _entry(f"{_last(module)}.{name}", getattr(module, name), "###")
    if links := _sources("\n".join(parts)):
        parts += ["## Where it is from", links]
    return "\n\n".join(parts) + "\n"


def _prose(module: ModuleType) -> list[str]:
    """Return the docstring of a file, without the name with which it may begin."""
    first, *rest = inspect.cleandoc(module.__doc__ or "").split("\n\n")
    name, _, said = first.partition(": ")
    lead = said or name
    return [lead[0].upper() + lead[1:], *map(_starred, rest)]


def _starred(paragraph: str) -> str:
    """Return a paragraph in which stars are stars, but for those around a word that is stressed."""
    if paragraph.startswith("    "):
        return paragraph
    return STARS.sub(lambda found: found[1] or r"\*", paragraph)


def _last(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _sources(text: str) -> str:
    """Return links to the sources that a text names."""
    names = re.findall(r"^## (.*)$", SOURCES.read_text(encoding="utf-8"), re.MULTILINE)
    return " · ".join(f"[{name}](../sources.md#{anchor(name)})" for name in names if name in text)


def anchor(heading: str) -> str:
    """Return what the site calls a heading.

    heading: its words.
    """
    letters = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", letters))


def _entry(name: str, documented: Any, level: str) -> Iterator[str]:
    yield f"{level} `{name}`"
    if inspect.isfunction(documented) or _has_own_signature(documented):
        yield f"```python\n{name}{_signature(documented)}\n```"
    yield from _paragraphs(documented)
    if inspect.isclass(documented):
        for method_name, method in vars(documented).items():
            function = getattr(method, "__func__", method)
            if not method_name.startswith("_") and inspect.isfunction(function):
                yield from _entry(f"{name}.{method_name}", function, level + "#")


def _has_own_signature(documented: Any) -> bool:
    return inspect.isclass(documented) and not issubclass(documented, Exception)


def _signature(documented: Any) -> str:
    """Return the arguments without their types, which the text tells."""
    signature = inspect.signature(documented)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty, default=_default(parameter))
        for name, parameter in signature.parameters.items()
        if name not in ("self", "cls")
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _default(parameter: inspect.Parameter) -> Any:
    """Return a default value; of one that takes long to tell only that there is one."""
    return ... if len(repr(parameter.default)) > LONG else parameter.default


def _paragraphs(documented: type | ModuleType | Any) -> Iterator[str]:
    """Yield the docstring as Markdown: arguments as a list, sessions as code."""
    for paragraph in inspect.cleandoc(documented.__doc__ or "").split("\n\n"):
        if paragraph.startswith(">>>"):
            yield f"```python\n{paragraph}\n```"
        elif ARGUMENT.match(paragraph):
            yield re.sub(r"^(\w+(?:, \w+)*): ", r"- `\1`: ", paragraph, flags=re.MULTILINE)
        else:
            yield _starred(paragraph)
