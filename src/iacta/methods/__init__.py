"""Methods: one file for each method that computes the kernel of a battle.

Higher packages only call `choose_kernel`. Each method is registered by one line in this file and is
imported on first use.
"""

from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import NamedTuple

from iacta.inputs.checks import check_choice, quote
from iacta.inputs.errors import IllegalError
from iacta.methods.kernel import Kernel
from iacta.rules.modes import (
    ArmiesGrow,
    BalancedBlitz,
    ChangedDice,
    DefenderSeesFirst,
    HouseRolls,
    Mode,
)
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, ROLL_STOP_PURPOSE, StopRule

__all__ = ["EXACT_METHODS", "METHODS", "check_method", "choose_kernel", "list_methods"]


class _Method(NamedTuple):
    """A registered method.

    name: the name of the method.
    kernel: the file and the class of the kernel.
    exact: whether the results are fractions.
    mode: the dice mode for which `"auto"` chooses this method.
    """

    name: str
    kernel: str
    exact: bool = False
    mode: type[Mode] | None = None

    def build(self, rules: Rules, *, exact: bool) -> Kernel:
        """Import the file of the kernel's class, and return the kernel for the rules."""
        file, _, name = self.kernel.partition(".")
        kernel: type[Kernel] = getattr(import_module(f"{__name__}.{file}"), name)
        return kernel.build(rules, exact, choose_kernel)


_METHODS = (
    _Method("counting", "counting.Counting", exact=True),
    _Method("closed_form", "closed_form.ClosedForm", exact=True),
    _Method("path_tree", "path_tree.PathTree", exact=True),
    _Method("lattice", "lattice.Lattice"),
    _Method("leap", "leap.Leap"),
    _Method("markov", "markov.Markov", mode=ArmiesGrow),
    _Method("simulation", "simulation.SimulatedKernel"),
    _Method("balanced_blitz", "balanced_blitz.Blitz", mode=BalancedBlitz),
    _Method("sees_first_exact", "sees_first.SeesFirst", exact=True, mode=DefenderSeesFirst),
    _Method("sees_first", "sees_first.SeesFirst", mode=DefenderSeesFirst),
    _Method("house_rolls_exact", "house_rolls.HouseKernel", exact=True, mode=HouseRolls),
    _Method("house_rolls", "house_rolls.HouseKernel", mode=HouseRolls),
    _Method("changed_dice_exact", "changed_dice.ChangedDiceKernel", exact=True, mode=ChangedDice),
    _Method("changed_dice", "changed_dice.ChangedDiceKernel", mode=ChangedDice),
)
_AUTO = _Method("auto", "auto.Auto")  # the default for dice modes that no other method names

METHODS: tuple[str, ...] = tuple(each.name for each in _METHODS)
EXACT_METHODS: tuple[str, ...] = tuple(each.name for each in _METHODS if each.exact)


def list_methods(rules: Rules) -> tuple[str, ...]:
    """Return the names of the methods that can compute battles under the rules.

    >>> list_methods(Rules(mode=DefenderSeesFirst()))
    ('sees_first_exact', 'sees_first')
    """

    def has_fixed_dice(mode: type[Mode] | Mode | None) -> bool:
        return mode is None or (mode.rolls and mode.has_plain_rolls)

    if has_fixed_dice(rules.mode):
        return tuple(method.name for method in _METHODS if has_fixed_dice(method.mode))
    return tuple(
        method.name for method in _METHODS if method.mode and isinstance(rules.mode, method.mode)
    )


def check_method(name: str, rules: Rules, *, exact: bool) -> None:
    """Raise `IllegalError` for an unknown method, or a method that cannot compute the battle.

    exact: whether the method must compute fractions.
    """
    check_choice(exact, (True, False), "exact")
    if exact and rules.mode.inexact:
        raise IllegalError(f"exact is not possible {rules.mode.inexact}", parameter="exact")
    allowed = EXACT_METHODS if exact else METHODS
    if not isinstance(name, str) or name not in ("auto", *allowed):
        kind = "an exact method" if exact else "a method"
        choices = ", ".join(map(repr, ("auto", *allowed)))
        raise IllegalError(f"method must be {kind} ({choices}), got {quote(name)}")
    _kernel(rules, NEVER, exact, name)


def choose_kernel(
    rules: Rules, stop: StopRule = NEVER, *, exact: bool = False, method: str = "auto"
) -> Kernel:
    """Return the kernel for battles under the given rules and stop rule.

    rules: the rules of the battles.
    stop: the stop rule of the attackers.
    exact: whether to compute fractions.
    method: a name in `METHODS`, or `"auto"`; also `"stopping"` if there is a stop rule.

    >>> from iacta.rules.rules import CLASSIC
    >>> choose_kernel(CLASSIC, exact=True).win_probability(2, 1)
    Fraction(1955, 2592)
    """
    stops = not stop.is_reserve
    check_method("auto" if stops and method == "stopping" else method, rules, exact=exact)
    return _kernel(rules, stop, exact, method)


@lru_cache(maxsize=1024)
def _kernel(rules: Rules, stop: StopRule, exact: bool, method: str) -> Kernel:
    if stop == NEVER:
        named = {each.name: each for each in _METHODS}
        fit = (
            each
            for each in _METHODS
            if each.mode and isinstance(rules.mode, each.mode) and each.exact == exact
        )
        found = named.get(method) or next(fit, _AUTO)
        return found.build(rules, exact=exact if found is _AUTO else found.exact)
    inner_rules = stop.add_to_garrison(rules)
    if stop.is_reserve:
        kernel = _kernel(inner_rules, NEVER, exact, method)
    else:
        inner_stop = replace(stop, hold_back=None).subtract_garrison(inner_rules.garrison)
        kernel = _build_stopping(inner_rules, inner_stop, exact, method)
    if not stop.hold_back:
        return kernel
    from iacta.methods.stopping import Reserve

    return Reserve(kernel, stop.subtract_garrison(rules.garrison), rules.garrison)


def _build_stopping(rules: Rules, stop: StopRule, exact: bool, method: str) -> Kernel:
    if method == "simulation":
        from iacta.methods.simulation import SimulatedKernel

        return SimulatedKernel(rules, stop)
    from iacta.methods.stopping import STOPPING, Leaving, Stopping

    if method not in ("auto", STOPPING):
        raise IllegalError(
            f"method must be 'auto', {STOPPING!r} or 'simulation' {ROLL_STOP_PURPOSE}, "
            f"got {method!r}"
        )
    if stop.leave is not None:
        return Leaving(_kernel(rules, NEVER, exact, "auto"), stop)
    return Stopping(rules, stop, exact=exact)
