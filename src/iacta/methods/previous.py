"""What was asked of the methods before they had kernels, until nothing asks for it."""

from importlib import import_module
from typing import Any, Literal

from iacta.errors import IactaError
from iacta.rules.rules import Rules

__all__ = [
    "Method",
    "Question",
    "TableMethod",
    "check_rules",
    "exact_table_method",
    "find_method",
    "find_table_method",
    "float_table_method",
    "load_method",
    "refusal",
]

Method = Any
TableMethod = Any
Question = Literal["chance", "law", "stack"]


def _methods() -> Any:
    return import_module("iacta.methods")


def check_rules(rules: Rules, *, exact: bool = False) -> None:
    _methods().check_method("auto", rules, exact=exact)


def load_method(name: str) -> Any:
    return import_module(f"iacta.methods.{name}")


def refusal(method: Any, attackers: int, defenders: int, rules: Rules) -> IactaError | None:
    try:
        method.refuse(attackers, defenders, rules)
    except IactaError as error:
        return error
    return None


def find_method(
    name: str, attackers: int, defenders: int, rules: Rules, *, exact: bool, question: Question
) -> Any:
    kernel = _methods().find_kernel(rules, exact=exact, method=name)
    if name == "auto":
        asked = "distribution" if question == "law" else question
        kernel = kernel.by(asked, attackers - rules.garrison, defenders)
    kernel.refuse(attackers - rules.garrison, defenders)
    return load_method(kernel.name)


def find_table_method(name: str, rules: Rules, *, exact: bool) -> Any:
    if name == "auto" and (rules.mode.grows or not rules.mode.rolls):
        return None
    if name == "auto":
        return exact_table_method(rules) if exact else float_table_method(rules)
    tables = ("counting", "lattice", *_methods().SEEN_METHODS)
    return load_method(name) if name in tables else None


def float_table_method(rules: Rules) -> Any:
    return load_method("lattice" if rules.mode.dice_chosen_first else "sees_first")


def exact_table_method(rules: Rules) -> Any:
    return load_method("counting" if rules.mode.dice_chosen_first else "sees_first_exact")
