"""What every method answers: the one signature."""

from collections.abc import Iterator
from typing import Any, Protocol

from iacta.distribution import Distribution, Probability
from iacta.methods.outcome import Outcome
from iacta.rules.rules import Rules

__all__ = ["Method", "TableMethod"]


class Method(Protocol):
    """A way to solve a battle, in its own kind of number, exact or float."""

    NAME: str

    def refuse(self, attackers: int, defenders: int, rules: Rules) -> None:
        """Refuse a battle that the method cannot solve, before anything is made of its size."""

    def relative_error(self, attackers: int, defenders: int, rules: Rules) -> float:
        """Return a bound on the relative error of the answers for a battle.

        It is 0 for an exact method, and infinite where chance decides how near they are.
        """

    def win_probability(self, attackers: int, defenders: int, rules: Rules) -> Probability:
        """Return the chance that the territory is taken."""

    def outcomes(
        self, stack: Distribution[int], defenders: int, rules: Rules
    ) -> Distribution[Outcome]:
        """Return the law of the outcome, given the law of the attackers on the territory."""


class TableMethod(Method, Protocol):
    """A method that answers for every number of attackers at once."""

    def value_rows(self, won: Any, lost: Any, rules: Rules) -> Iterator[Any]:
        """Yield what `values` returns, for 1, 2 ... defenders, as many as `lost` has entries for.

        A row is indexed by arrays of attackers, garrison included.
        """

    def values(self, won: Any, lost: Any, defenders: int, rules: Rules) -> Any:
        """Return the mean worth of a battle, for every number of attackers at once.

        won: `won[n]` is what it is worth that n armies can move in.
        lost: `lost[d]` is what it is worth that d defenders hold.
        """

    def win_table(self, attackers: int, defenders: int, rules: Rules) -> Any:
        """Return the chances to win of all battles up to a size, `[attackers, defenders]`."""
