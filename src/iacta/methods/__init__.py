"""The ways to solve a battle: one file a method, all with the functions of `Method`."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from iacta.distribution import Distribution
from iacta.errors import IllegalError
from iacta.methods import counting, lattice
from iacta.numbers import shown
from iacta.outcome import Outcome
from iacta.records import check_choice
from iacta.rules import Rules

__all__ = ["METHODS", "Method", "find_method"]


class Method(Protocol):
    """What every method answers, each in its own kind of number, exact or float."""

    NAME: str

    def outcomes(
        self, stack: Distribution[int], defenders: int, rules: Rules
    ) -> Distribution[Outcome]:
        """Return the law of the outcome, given the law of the attackers on the territory."""

    def refuse(self, attackers: int, defenders: int, rules: Rules) -> None:
        """Refuse a battle that is too large, before anything is made of its size."""

    def value_rows(self, won: Sequence[Any], lost: Sequence[Any], rules: Rules) -> Iterator[Any]:
        """Yield what `values` returns, for 1, 2 ... defenders, as many as `lost` has entries for.

        A row is indexed by arrays of attackers, garrison included.
        """

    def values(self, won: Sequence[Any], lost: Sequence[Any], defenders: int, rules: Rules) -> Any:
        """Return the mean worth of a battle, for every number of attackers at once.

        won: `won[n]` is what it is worth that n armies can move in.
        lost: `lost[d]` is what it is worth that d defenders hold.
        """

    def win_table(self, attackers: int, defenders: int, rules: Rules) -> Any:
        """Return the chances to win of all battles up to a size, `[attackers, defenders]`."""


EXACT_METHODS: dict[str, Method] = {"counting": counting}
METHODS: dict[str, Method] = {**EXACT_METHODS, "lattice": lattice}


def find_method(name: str, rules: Rules, *, exact: bool) -> Method:
    """Return the method of that name, or for `"auto"` the fastest that gives what is asked.

    name: `"counting"`, `"lattice"` or `"auto"`.
    rules: the rules of the battle; methods refuse those that they cannot solve.
    exact: whether fractions are asked for.

    >>> from iacta.rules import CLASSIC
    >>> find_method("auto", CLASSIC, exact=True).NAME
    'counting'
    """
    check_choice(exact, (True, False), "exact")
    if rules.dice_mode != "true random":
        raise IllegalError(f"dice_mode must be 'true random' here, got {rules.dice_mode!r}")
    if rules.defender_sees_first:
        raise IllegalError("defender_sees_first must be False here, got True")
    allowed = EXACT_METHODS if exact else METHODS
    if not isinstance(name, str) or name not in ("auto", *allowed):
        kind = "an exact method" if exact else "a method"
        choices = ", ".join(map(repr, ("auto", *allowed)))
        raise IllegalError(f"method must be {kind} ({choices}), got {shown(name)}")
    if name == "auto":
        return counting if exact else lattice
    return allowed[name]
