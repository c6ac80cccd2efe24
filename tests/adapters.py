"""Adapters for methods: they count attackers as players do, garrison included."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

from iacta import CLASSIC, Dice, Distribution, Outcome, Rules, find_rules
from iacta.methods import METHODS, choose_kernel
from iacta.methods.kernel import Kernel, Values
from iacta.odds.needed import win_probabilities_keeping

SEVERAL_RULES = {
    "classic": CLASSIC,
    "capital": find_rules("capital"),
    "garrison 0": Rules(garrison=0),
    "garrison 3": Rules(garrison=3),
    "one die each": Rules(attack=Dice((6,)), defence=Dice((6,))),
    "five against four": Rules(attack=Dice((4,) * 5), defence=Dice((4,) * 4)),
    "two against three": Rules(attack=Dice((6, 6)), defence=Dice((8, 6, 6)), ties="attacker"),
    "ties to the attacker": Rules(ties="attacker"),
    "fortification": find_rules("fortification"),
    "dominating12": find_rules("dominating12"),
    "attacker cannot lose": Rules(attack=Dice((6,), bonus=(6,)), defence=Dice((6,))),
    "attacker cannot win": Rules(defence=Dice((6, 6), bonus=(6, 6))),
}


def win_probability_keeping(attackers: int, *way: Any, **options: Any) -> Any:
    """Return the chance to take all territories of a campaign and keep a number of armies."""
    return win_probabilities_keeping([attackers], *way, **options)[0]


def outcomes(
    kernel: Any, stack: Distribution[int], defenders: int, garrison: int, **runs: int
) -> Distribution[Outcome]:
    """Return the distribution of the outcome of a battle with a garrison."""
    able = stack.map(lambda armies: armies - garrison)
    found = (
        kernel.play_many(able, defenders, **runs) if runs else kernel.run_forward(able, defenders)
    )
    distribution: Distribution[Outcome] = found.map(
        lambda state: Outcome(state.attackers + garrison, state.defenders)
    )
    return distribution


class Asked:
    """A method whose attackers include the garrison; other attributes come from its module."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(f"iacta.methods.{self.name}"), name)

    def kernel(self, rules: Rules) -> Kernel:
        """Return the kernel of the method."""
        return choose_kernel(rules, method=self.name)

    def refuse(self, attackers: int, defenders: int, rules: Rules) -> None:
        """Raise the errors that the kernel raises."""
        self.kernel(rules).refuse(attackers - rules.garrison, defenders)

    def relative_error(self, attackers: int, defenders: int, rules: Rules) -> float:
        """Return the bound on the relative error; if there is none, on the absolute error."""
        error = self.kernel(rules).error(attackers, defenders)
        return error.absolute or error.relative

    def outcomes(
        self, stack: Distribution[int], defenders: int, rules: Rules, **runs: int
    ) -> Distribution[Outcome]:
        """Return the distribution of outcomes; `runs` and `seed` only matter for simulations."""
        return outcomes(self.kernel(rules), stack, defenders, rules.garrison, **runs)

    def win_probability(self, attackers: int, defenders: int, rules: Rules, **runs: int) -> Any:
        """Return the chance to win."""
        if runs:
            distribution = self.outcomes(Distribution([attackers]), defenders, rules, **runs)
            return float(distribution.prob(lambda end: not end.defenders))
        return self.kernel(rules).win_probability(attackers - rules.garrison, defenders)

    def both_chances(self, attackers: int, defenders: int, rules: Rules, keep: int = 0) -> Any:
        """Return the chances to win and to lose."""
        return self.kernel(rules).chances(attackers - rules.garrison, defenders, keep)

    def value_rows(self, won: Any, lost: Any, rules: Rules) -> Iterator["Row"]:
        """Yield the expected values for 1, 2 ... defenders."""
        held = min(rules.garrison, len(won) - 1)
        rows = self.kernel(rules).run_backward(Values(won[: len(won) - held], lost))
        for d, row in enumerate(rows, start=1):
            yield Row(row, lost[d], held)

    def values(self, won: Any, lost: Any, defenders: int, rules: Rules) -> "Row":
        """Return the expected values for a number of defenders."""
        *_, last = self.value_rows(won, lost[: defenders + 1], rules)
        return last

    def win_table(self, attackers: int, defenders: int, rules: Rules) -> Any:
        """Return the chances to win for all battles up to a size."""
        held = min(rules.garrison, attackers)
        return self.kernel(rules).win_table(attackers - held, defenders, held)


class Row(NamedTuple):
    """The expected values for each number of attackers, computed when needed."""

    able: Any
    lost: Any
    garrison: int

    def __getitem__(self, attackers: Any) -> Any:
        return self.able[attackers - self.garrison] if attackers > self.garrison else self.lost


ASKED: dict[str, Any] = {name: Asked(name) for name in METHODS}
counting, closed_form, path_tree = ASKED["counting"], ASKED["closed_form"], ASKED["path_tree"]
lattice, leap, markov, simulation = (
    ASKED[name] for name in ("lattice", "leap", "markov", "simulation")
)
