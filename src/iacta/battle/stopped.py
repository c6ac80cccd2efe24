"""The law of a battle that may be stopped, by whatever method is asked."""

from iacta.distribution import Distribution
from iacta.errors import IllegalError
from iacta.methods import METHODS, Question, check_method, find_method
from iacta.methods.kernel import Outcome
from iacta.rules.rules import Rules
from iacta.rules.stop import Stop

__all__ = ["method_name", "outcomes"]

STOPPING, SIMULATION = "stopping", "simulation"


def outcomes(
    stack: Distribution[int],
    defenders: int,
    rules: Rules,
    stop: Stop,
    *,
    exact: bool,
    method: str = "auto",
) -> Distribution[Outcome]:
    """Return the law of the outcome of a battle.

    stack: the law of the number of attackers on the territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    stop: when the attackers stop. Of a stop that is more than a larger garrison, only the method
        `"stopping"`, which `"auto"` takes, and `"simulation"` know.
    exact: whether fractions are asked for.
    method: as for `Battle`.

    >>> law = outcomes(Distribution([4]), 2, Rules(), Stop(max_rolls=1), exact=True)
    >>> law[Outcome(attackers=4, defenders=0)]
    Fraction(1445, 3888)
    """
    if stop.is_reserve:
        question: Question = "law" if len(stack) == 1 else "stack"
        fought = stop.rules_in_fight(rules)
        solver = find_method(method, max(stack), defenders, fought, exact=exact, question=question)
        return solver.outcomes(stack, defenders, fought)
    _check_method(method, rules, exact)
    if method == SIMULATION:
        from iacta.methods import simulation  # slow to import, and only needed here

        return simulation.outcomes(stack, defenders, rules, stop=stop)
    from iacta.methods import stopping  # as above

    return stopping.outcomes(stack, defenders, rules, stop, exact=exact)


def method_name(
    attackers: int, defenders: int, rules: Rules, stop: Stop, *, exact: bool, question: Question
) -> str:
    """Return the name of the method that `"auto"` takes.

    attackers, defenders, rules, stop: the battle.
    exact, question: as for `iacta.methods.find_method`.

    >>> method_name(12, 10, Rules(), Stop(charge=True), exact=False, question="law")
    'stopping'
    """
    if not stop.is_reserve:
        return STOPPING
    fought = stop.rules_in_fight(rules)
    return find_method("auto", attackers, defenders, fought, exact=exact, question=question).NAME


def _check_method(method: str, rules: Rules, exact: bool) -> None:
    """Refuse a method that knows of no stops."""
    if method != STOPPING:
        check_method(method, rules, exact=exact)
    if method in METHODS and method != SIMULATION:
        raise IllegalError(
            f"method must be 'auto', {STOPPING!r} or {SIMULATION!r} for a battle that stops by "
            f"charge, max_losses or max_rolls, got {method!r}"
        )
