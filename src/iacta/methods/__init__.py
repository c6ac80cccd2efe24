"""The ways to solve a battle: one file a method, all with the functions of `Method`.

A method is loaded when it is first asked, so that the ones that nobody asks cost nothing.
"""

from importlib import import_module
from typing import cast

from iacta.errors import IactaError, IllegalError
from iacta.methods import counting, lattice
from iacta.methods.method import Method, TableMethod
from iacta.numbers import shown
from iacta.records import check_choice
from iacta.rules import Rules

__all__ = [
    "EXACT_METHODS",
    "METHODS",
    "STATED_ERROR",
    "Method",
    "TableMethod",
    "check_rules",
    "find_method",
    "find_table_method",
    "load_method",
    "refusal",
]

EXACT_METHODS: tuple[str, ...] = ("counting", "closed_form", "path_tree")
METHODS: tuple[str, ...] = (*EXACT_METHODS, "lattice")
STATED_ERROR = 1e-12

# In the order in which "auto" tries them, the fastest first.
FOR_ONE_CHANCE: tuple[str, ...] = ("lattice",)
FOR_A_LAW: tuple[str, ...] = ("lattice",)
FOR_ONE_CHANCE_EXACTLY: tuple[str, ...] = ("closed_form", "counting")
FOR_A_LAW_EXACTLY: tuple[str, ...] = ("counting",)


def load_method(name: str) -> Method:
    """Return the method of that name, one of `METHODS`.

    >>> load_method("lattice").NAME
    'lattice'
    """
    return cast(Method, import_module(f"{__name__}.{name}"))


def refusal(method: Method, attackers: int, defenders: int, rules: Rules) -> IactaError | None:
    """Return why a method cannot solve a battle, or `None` if it can.

    method: one of the methods.
    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    """
    try:
        method.refuse(attackers, defenders, rules)
    except IactaError as error:
        return error
    return None


def check_rules(rules: Rules) -> None:
    """Refuse rules that no method solves.

    rules: the rules of a battle.
    """
    if rules.dice_mode != "true random":
        raise IllegalError(f"dice_mode must be 'true random' here, got {rules.dice_mode!r}")
    if rules.defender_sees_first:
        raise IllegalError("defender_sees_first must be False here, got True")


def find_method(
    name: str, attackers: int, defenders: int, rules: Rules, *, exact: bool, law: bool
) -> Method:
    """Return the method of that name, or for `"auto"` the fastest that meets the stated error.

    name: one of `METHODS`, or `"auto"`.
    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle; methods refuse those that they cannot solve.
    exact: whether fractions are asked for.
    law: whether the law of the outcome is asked for, or else the chance to win alone.

    The stated error is `STATED_ERROR`, relative. Where no method meets it, the answer's own bound
    holds, which is what `relative_error` of the method says.

    >>> from iacta.rules import CLASSIC
    >>> find_method("auto", 12, 10, CLASSIC, exact=False, law=True).NAME
    'lattice'
    """
    _check(name, rules, METHODS, exact)
    if name != "auto":
        found = load_method(name)
        found.refuse(attackers, defenders, rules)
        return found
    if exact:
        names = FOR_A_LAW_EXACTLY if law else FOR_ONE_CHANCE_EXACTLY
    else:
        names = FOR_A_LAW if law else FOR_ONE_CHANCE
    return _first_that_solves(names, attackers, defenders, rules)


def find_table_method(name: str, rules: Rules, *, exact: bool) -> TableMethod:
    """Return the method of that name that answers for every number of attackers at once.

    name: `"counting"`, `"lattice"` or `"auto"`.
    rules: the rules of the battles.
    exact: whether fractions are asked for.

    >>> from iacta.rules import CLASSIC
    >>> find_table_method("auto", CLASSIC, exact=True).NAME
    'counting'
    """
    _check(name, rules, (counting.NAME, lattice.NAME), exact)
    return counting if exact or name == counting.NAME else lattice


def _check(name: str, rules: Rules, names: tuple[str, ...], exact: bool) -> None:
    check_choice(exact, (True, False), "exact")
    check_rules(rules)
    allowed = [each for each in names if not exact or each in EXACT_METHODS]
    if not isinstance(name, str) or name not in ("auto", *allowed):
        kind = "an exact method" if exact else "a method"
        choices = ", ".join(map(repr, ("auto", *allowed)))
        raise IllegalError(f"method must be {kind} ({choices}), got {shown(name)}")


def _first_that_solves(
    names: tuple[str, ...], attackers: int, defenders: int, rules: Rules
) -> Method:
    """Return the first that solves a battle within the stated error, or else the first at all."""
    refused: list[IactaError] = []
    able: list[Method] = []
    for name in names:
        method = load_method(name)
        error = refusal(method, attackers, defenders, rules)
        if error is not None:
            refused.append(error)
        elif method.relative_error(attackers, defenders, rules) <= STATED_ERROR:
            return method
        else:
            able.append(method)
    if not able:
        raise refused[-1]  # the last of each list takes on the most rules
    return able[0]
