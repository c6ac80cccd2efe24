"""Battle: rolls between two territories until one side cannot go on or the attackers stop.

Users count the garrison among the attackers, while the methods exclude it. This file converts
between the two.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, overload

from iacta.battle.territory import Stage
from iacta.inputs.checks import check_choice, quote, read_int, set_field
from iacta.inputs.errors import IllegalError
from iacta.inputs.reprs import PasteableMixin
from iacta.methods import choose_kernel
from iacta.methods.kernel import Kernel, Outcome, is_won
from iacta.methods.roll_counts import count_rolls, start_battle, sum_by_rolls
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, StopRule, format_stop_argument, read_stop
from iacta.rules.variants import find_rules, format_rules_argument


@dataclass(frozen=True, init=False, repr=False)
class Battle(PasteableMixin):
    """A battle. It ends when the attackers conquer the territory, cannot go on, or stop.

    attackers: the number of armies on the attacking territory, garrison included.
    defenders: the number of armies on the defended territory.
    rules: `Rules`, or the name of a rule set.
    garrison: the number of armies that must stay behind; `None` for the rules' garrison, usually 1.
    stop: a `StopRule`, or `None` to fight to the end. A battle in which the attackers stop has no
        winner: armies are left on both sides.

    Results are floats, or fractions with `exact=True`. `method` is a name in
    `iacta.methods.METHODS`, or `"auto"` for the fastest method with a relative error of at most
    1e-12 (2e-12 for conditional distributions). This bound holds for chances above 1e-150. In
    battles with more than a million states, distributions leave out outcomes whose chance is below
    1e-18, given the winner. Balanced blitz only has a bound on the absolute error, but certain
    events have a chance of exactly 1.0 or 0.0. `Kernel.error` of each method gives its error
    (`iacta.methods.kernel`). For a stop rule other than `hold_back`, the method must be `"auto"`,
    `"stopping"` or `"simulation"`.

    A stack that is no larger than its garrison cannot attack. Armies must be whole numbers of at
    least 1; other values raise `IactaError`.

    >>> battle = Battle(12, 10)
    >>> round(battle.win_probability(), 4)
    0.6538
    >>> Battle(3, 1).win_probability(exact=True)
    Fraction(1955, 2592)
    >>> Battle(10, 10, garrison=0) == Battle(10, 10, Rules(garrison=0))
    True
    >>> Battle(1, 10).win_probability()
    0.0
    >>> Battle(12, 10, stop=StopRule(max_losses=3)).attackers_left().quantile(0)
    8
    >>> Battle(-3, 10)
    Traceback (most recent call last):
        ...
    iacta.IllegalError: attackers must be a whole number of at least 1, got -3
    """

    attackers: int
    defenders: int
    rules: Rules
    stop: StopRule

    def __init__(
        self,
        attackers: int,
        defenders: int,
        rules: Rules | str = "classic",
        *,
        garrison: int | None = None,
        stop: StopRule | None = None,
    ) -> None:
        set_field(self, "attackers", read_int(attackers, "attackers", minimum=1))
        set_field(self, "defenders", read_int(defenders, "defenders", minimum=1))
        set_field(self, "rules", find_rules(rules, garrison))
        set_field(self, "stop", read_stop(stop))

    def to_text(self) -> str:
        """Return Python code of any length that creates this battle."""
        more = format_rules_argument(self.rules) + format_stop_argument(self.stop)
        return f"Battle({self.attackers}, {self.defenders}{more})"

    def _summary(self) -> str:
        return f"{self.attackers} against {self.defenders}, rules of its own"

    def outcomes(self, *, exact: bool = False, method: str = "auto") -> Distribution[Outcome]:
        """Return the joint distribution of the attackers (garrison included) and defenders left.

        >>> Battle(3, 1).outcomes(exact=True)[Outcome(attackers=2, defenders=0)]
        Fraction(455, 2592)
        """
        garrison = self.rules.garrison
        ends = self._choose_kernel(exact, method).run_forward(
            Distribution([self._able]), self.defenders
        )
        left = ends.map(lambda state: Outcome(state.attackers + garrison, state.defenders))
        return left if exact else left.to_float()

    @overload
    def win_probability(self, *, exact: Literal[False] = False, method: str = "auto") -> float: ...
    @overload
    def win_probability(self, *, exact: Literal[True], method: str = "auto") -> Fraction: ...
    @overload
    def win_probability(self, *, exact: bool, method: str = "auto") -> Probability: ...
    def win_probability(self, *, exact: bool = False, method: str = "auto") -> Probability:
        """Return the chance that the attackers conquer the territory.

        >>> Battle(4, 1).win_probability(exact=True)
        Fraction(342035, 373248)
        """
        won = self._choose_kernel(exact, method).win_probability(self._able, self.defenders)
        return won if exact else float(won)

    @overload
    def stop_probability(self, *, exact: Literal[False] = False, method: str = "auto") -> float: ...
    @overload
    def stop_probability(self, *, exact: Literal[True], method: str = "auto") -> Fraction: ...
    @overload
    def stop_probability(self, *, exact: bool, method: str = "auto") -> Probability: ...
    def stop_probability(self, *, exact: bool = False, method: str = "auto") -> Probability:
        """Return the chance that the attackers stop although they could still attack.

        >>> Battle(4, 2, stop=StopRule(max_rolls=1)).stop_probability(exact=True)
        Fraction(2443, 3888)
        """
        if self.stop == NEVER or self._able <= 0:
            check_choice(exact, (True, False), "exact")
            return Fraction(0) if exact else 0.0
        return self.outcomes(exact=exact, method=method).prob(self.is_stopped)

    def is_stopped(self, outcome: Outcome) -> bool:
        """Return whether the attackers stopped although they could still attack.

        outcome: the outcome of the battle.

        >>> battle = Battle(9, 4, stop=StopRule(max_losses=3))
        >>> battle.is_stopped(Outcome(6, 2)), battle.is_stopped(Outcome(7, 0))
        (True, False)
        """
        return Stage(self.defenders, self.rules).is_stopped(*outcome)

    def method_name(self, *, exact: bool = False, question: str = "distribution") -> str:
        """Return the name of the method that `"auto"` chooses.

        question: `"distribution"` for all outcomes, or `"chance"` for the chance to win alone.

        >>> Battle(12, 10).method_name(), Battle(12, 10).method_name(question="chance")
        ('lattice', 'leap')
        """
        return (
            self._choose_kernel(exact, "auto")
            .for_question(question, self._able, self.defenders)
            .name
        )

    def attackers_left(self, *, exact: bool = False, method: str = "auto") -> Distribution[int]:
        """Return the distribution of the attackers left, garrison included.

        >>> left = Battle(12, 10).attackers_left()
        >>> round(left.mean(), 3), left.quantile(0.05), left.quantile(0.95)
        (4.438, 1, 10)
        """
        return self._count_in_outcomes(lambda outcome: outcome.attackers, exact, method)

    def defenders_left(self, *, exact: bool = False, method: str = "auto") -> Distribution[int]:
        """Return the distribution of the defenders left; 0 after a conquest.

        >>> Battle(3, 1).defenders_left(exact=True)[0]
        Fraction(1955, 2592)
        """
        return self._count_in_outcomes(lambda outcome: outcome.defenders, exact, method)

    def attackers_lost(self, *, exact: bool = False, method: str = "auto") -> Distribution[int]:
        """Return the distribution of the attackers lost.

        >>> round(Battle(6, 5).attackers_lost().mean(), 4)
        3.3685
        """
        return self._count_in_outcomes(
            lambda outcome: self.attackers - outcome.attackers, exact, method
        )

    def defenders_lost(self, *, exact: bool = False, method: str = "auto") -> Distribution[int]:
        """Return the distribution of the defenders lost.

        >>> round(Battle(6, 5).defenders_lost().mean(), 4)
        3.5568
        """
        return self._count_in_outcomes(
            lambda outcome: self.defenders - outcome.defenders, exact, method
        )

    def attackers_left_if_won(
        self, *, exact: bool = False, method: str = "auto"
    ) -> Distribution[int]:
        """Return the distribution of the attackers left, given that they win.

        If they cannot win, `IllegalError` is raised.

        >>> Battle(1, 3).attackers_left_if_won()
        Traceback (most recent call last):
            ...
        iacta.IllegalError: a win must have a chance above 0, got Battle(1, 3)
        """
        ends = self.outcomes(exact=exact, method=method)
        if not ends.prob(is_won):
            fighting = self._able - (self.stop.hold_back or 0)
            too_rare = not exact and self.stop.is_reserve and fighting > 0
            hint = " in floats; try exact=True" if too_rare else ""
            raise IllegalError(f"a win must have a chance above 0, got {quote(self)}{hint}")
        return ends.condition(is_won).map(lambda outcome: outcome.attackers)

    def attackers_lost_if_won(
        self, *, exact: bool = False, method: str = "auto"
    ) -> Distribution[int]:
        """Return the distribution of the attackers lost, given that they win.

        If they cannot win, `IllegalError` is raised.

        >>> round(Battle(51, 50).attackers_lost_if_won().mean(), 4)
        37.7799
        """
        left = self.attackers_left_if_won(exact=exact, method=method)
        return left.map(lambda attackers: self.attackers - attackers)

    def rolls(self, *, exact: bool = False) -> Distribution[int]:
        """Return the distribution of the number of rolls until the battle ends.

        If armies can grow, there is no upper limit; the distribution leaves out numbers of rolls
        whose chances sum to less than 1e-18. Raises `IactaError` for rules under which battles are
        not decided roll by roll, and for battles that would take more than half a minute.

        >>> Battle(3, 1).rolls(exact=True)
        Distribution({1: 125, 2: 91})
        >>> rolls = Battle(10, 10, garrison=0).rolls()
        >>> round(rolls.mean(), 4), rolls.mode(), max(rolls)
        (8.2134, 9, 14)
        """
        check_choice(exact, (True, False), "exact")
        start = start_battle(self._able, self.defenders, exact=exact)
        ends = count_rolls(self._choose_kernel(exact, "auto"), [start])
        return sum_by_rolls(ends, exact=exact)

    def state_count(self) -> int:
        """Return the number of states that the battle can visit, including the first and the last.

        >>> Battle(11, 6).state_count()
        52
        """
        kernel = self._make_tree()
        return kernel.state_count(self.attackers - kernel.garrison, self.defenders)

    def path_count(self) -> int:
        """Return the number of different paths that the battle can take from roll to roll.

        >>> Battle(4, 2).path_count()
        7
        """
        kernel = self._make_tree()
        return kernel.path_count(self.attackers - kernel.garrison, self.defenders)

    @property
    def _able(self) -> int:
        """The attackers excluding the garrison; 0 or less for a stack that cannot attack."""
        return self.attackers - self.rules.garrison

    def _choose_kernel(self, exact: bool, method: str) -> Kernel:
        return Stage(self.defenders, self.rules, self.stop).kernel(exact=exact, method=method)

    def _make_tree(self) -> Kernel:
        """Return the kernel that counts states and paths, or raise `IllegalError`."""
        if not self.stop.is_reserve:
            raise IllegalError(
                "states and paths can be counted only if hold_back is the only stop condition, "
                f"got {quote(self.stop)}"
            )
        return choose_kernel(self.stop.add_to_garrison(self.rules), method="path_tree")

    def _count_in_outcomes(
        self, count: Callable[[Outcome], int], exact: bool, method: str
    ) -> Distribution[int]:
        return self.outcomes(exact=exact, method=method).map(count)
