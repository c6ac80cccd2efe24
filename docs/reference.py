"""Turns the docstrings of the library into a page."""

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

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
    taflin_2001,
    taflin_strips,
    tan_1997,
    walk,
)

__all__ = ["library_page", "mathematics_page"]

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
METHODS = (
    counting,
    lattice,
    leap,
    walk,
    survivors,
    closed_form,
    taflin_2001,
    taflin_strips,
    markov,
    chain,
    path_tree,
    stopping,
    simulation,
    spreads,
    tan_1997,
    optimal_play,
    hand_or_blitz,
    replies,
    sees_first,
    sees_first_exact,
    balanced_blitz,
)
ARGUMENT = re.compile(r"^(\w+(?:, \w+)*): ")


def library_page() -> str:
    """Return a page with every public name."""
    parts = ["# Library", "Everything here is imported from `iacta`."]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}")
        for name in names:
            parts += _entry(name, getattr(iacta, name), "###")
    return "\n\n".join(parts) + "\n"


def mathematics_page() -> str:
    """Return a page with one section for each method, and the functions of its file."""
    parts = ["# The mathematics", "Each section is the text of one file."]
    for method in METHODS:
        parts += [f"## `{method.__name__}`", *_paragraphs(method)]
        for name in method.__all__:
            if callable(getattr(method, name)):
                parts += _entry(name, getattr(method, name), "###")
    return "\n\n".join(parts) + "\n"


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
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if name not in ("self", "cls")
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _paragraphs(documented: type | ModuleType | Any) -> Iterator[str]:
    """Yield the docstring as Markdown: arguments as a list, sessions as code."""
    for paragraph in inspect.cleandoc(documented.__doc__ or "").split("\n\n"):
        if paragraph.startswith(">>>"):
            yield f"```python\n{paragraph}\n```"
        elif ARGUMENT.match(paragraph):
            yield re.sub(r"^(\w+(?:, \w+)*): ", r"- `\1`: ", paragraph, flags=re.MULTILINE)
        else:
            yield paragraph
