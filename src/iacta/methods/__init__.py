"""The ways to solve a battle: one file a method, all with the functions of `Method`.

A method is loaded when it is first asked, so that the ones that nobody asks cost nothing.
"""

from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, Literal, cast

from iacta.checks import check_choice, shown
from iacta.distribution import Distribution, Probability
from iacta.errors import IactaError, IllegalError
from iacta.methods import counting, lattice
from iacta.methods.kernel import Chances, Error, Kernel, State, Values, bare_rules
from iacta.methods.limits import check_rules
from iacta.methods.method import Method, TableMethod
from iacta.rules.modes import TrueRandom
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, Stop

__all__ = [
    "EXACT_METHODS",
    "METHODS",
    "SEEN_METHODS",
    "STATED_ERROR",
    "TRUE_RANDOM_METHODS",
    "Method",
    "Question",
    "TableMethod",
    "check_method",
    "check_rules",
    "exact_table_method",
    "find_kernel",
    "find_method",
    "find_table_method",
    "float_table_method",
    "load_method",
    "refusal",
]

TRUE_RANDOM_METHODS: tuple[str, ...] = (
    "counting",
    "closed_form",
    "path_tree",
    "lattice",
    "leap",
    "markov",
    "simulation",
)
BALANCED_METHOD = "balanced_blitz"
SEEN_METHOD, EXACT_SEEN_METHOD = "sees_first", "sees_first_exact"
SEEN_METHODS: tuple[str, ...] = (EXACT_SEEN_METHOD, SEEN_METHOD)
METHODS: tuple[str, ...] = (*TRUE_RANDOM_METHODS, BALANCED_METHOD, *SEEN_METHODS)
EXACT_METHODS: tuple[str, ...] = ("counting", "closed_form", "path_tree", EXACT_SEEN_METHOD)
STATED_ERROR = 1e-12

Question = Literal["chance", "law", "stack"]

# For each question the methods that "auto" tries, the fastest first.
FLOAT_ORDER: dict[Question, tuple[str, ...]] = {
    "chance": ("leap", "lattice"),
    "law": ("lattice", "leap"),
    "stack": ("lattice",),
}
LAST_FLOAT = "markov"  # solves what no other does, with a package that not everybody has
EXACT_ORDER: dict[Question, tuple[str, ...]] = {
    "chance": ("closed_form", "counting"),
    "law": ("closed_form", "counting"),
    "stack": ("counting",),
}


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


def find_method(
    name: str, attackers: int, defenders: int, rules: Rules, *, exact: bool, question: Question
) -> Method:
    """Return the method of that name, or for `"auto"` the fastest that meets the stated error.

    name: one of `METHODS`, or `"auto"`.
    attackers: armies on the attacking territory, garrison included; of a stack the most.
    defenders: armies on the defended territory.
    rules: the rules of the battle; methods refuse those that they cannot solve.
    exact: whether fractions are asked for.
    question: what is asked: `"chance"`, the chance to win alone; `"law"`, that of all outcomes;
        or `"stack"`, the same for a stack whose size is not certain.

    The stated error is `STATED_ERROR`, relative. Where no method meets it, the bound is what
    `relative_error` of the method says.

    >>> from iacta.rules.rules import CLASSIC
    >>> find_method("auto", 12, 10, CLASSIC, exact=False, question="law").NAME
    'lattice'
    >>> find_method("auto", 10**9, 10**9, CLASSIC, exact=False, question="chance").NAME
    'leap'
    >>> from iacta.rules.modes import BalancedBlitz, DefenderSeesFirst
    >>> from iacta.rules.modes import BalancedBlitz
    >>> balanced = Rules(mode=BalancedBlitz())
    >>> find_method("auto", 12, 10, balanced, exact=False, question="law").NAME
    'balanced_blitz'
    >>> from iacta.rules.modes import DefenderSeesFirst
    >>> seen = Rules(mode=DefenderSeesFirst())
    >>> find_method("auto", 12, 10, seen, exact=False, question="law").NAME
    'sees_first'
    """
    check_method(name, rules, exact=exact)
    if exact and rules.all_ones_gain:
        raise IllegalError("exact must be False where armies can grow: only floats solve that")
    if name == "auto":
        name = _only_method(rules, exact=exact) or name
    if name != "auto":
        found = load_method(name)
        found.refuse(attackers, defenders, rules)
        return found
    if exact:
        return _first_that_solves((EXACT_ORDER[question],), attackers, defenders, rules)
    orders = (FLOAT_ORDER[question], (LAST_FLOAT,))
    return _first_that_solves(orders, attackers, defenders, rules)


def find_table_method(name: str, rules: Rules, *, exact: bool) -> TableMethod | None:
    """Return the method of that name if it answers for every number of attackers at once.

    name: one of `METHODS`, or `"auto"` for the fastest.
    rules: the rules of the battles; where armies can grow there is none.
    exact: whether fractions are asked for.

    >>> from iacta.rules.rules import CLASSIC
    >>> find_table_method("auto", CLASSIC, exact=True).NAME
    'counting'
    """
    if name == "auto" and rules.all_ones_gain:
        return None
    if name == "auto":
        return exact_table_method(rules) if exact else float_table_method(rules)
    tables = (counting.NAME, lattice.NAME, *SEEN_METHODS)
    return cast(TableMethod, load_method(name)) if name in tables else None


def float_table_method(rules: Rules) -> TableMethod:
    """Return the method that answers in floats for every number of attackers at once.

    rules: the rules of the battles; where armies can grow, and under balanced blitz, it refuses
        them.
    """
    return cast(TableMethod, load_method(SEEN_METHOD)) if rules.defender_sees_first else lattice


def exact_table_method(rules: Rules) -> TableMethod:
    """Return the method that answers in fractions for every number of attackers at once.

    rules: the rules of the battles, as for `float_table_method`.
    """
    if rules.defender_sees_first:
        return cast(TableMethod, load_method(EXACT_SEEN_METHOD))
    return counting


def check_method(name: str, rules: Rules, *, exact: bool) -> None:
    """Refuse rules that no method solves, and a method of another name or kind.

    name: the name of the method that is asked.
    rules: the rules of a battle.
    exact: whether fractions are asked for.
    """
    check_choice(exact, (True, False), "exact")
    check_rules(rules, exact=exact)
    allowed = EXACT_METHODS if exact else METHODS
    if not isinstance(name, str) or name not in ("auto", *allowed):
        kind = "an exact method" if exact else "a method"
        choices = ", ".join(map(repr, ("auto", *allowed)))
        raise IllegalError(f"method must be {kind} ({choices}), got {shown(name)}")
    if name != "auto" and _only_method(rules, exact=exact) is not None:
        load_method(name).refuse(1, 1, rules)


def _only_method(rules: Rules, *, exact: bool) -> str | None:
    """Return the one method that solves rules of their own kind, `None` for all others."""
    if rules.dice_mode == "balanced blitz":
        return BALANCED_METHOD
    if rules.defender_sees_first:
        return EXACT_SEEN_METHOD if exact else SEEN_METHOD
    return None


def _first_that_solves(
    orders: tuple[tuple[str, ...], ...], attackers: int, defenders: int, rules: Rules
) -> Method:
    """Return the first that solves a battle within the stated error, or else the first at all.

    orders: methods to try, and then those to try if all before have refused.
    """
    refused: list[IactaError] = []
    for names in orders:
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
        if able:
            return able[0]
    # Who would solve the rules tells more than who would not.
    raise next((error for error in refused if not isinstance(error, IllegalError)), refused[0])


def find_kernel(
    rules: Rules, stop: Stop = NEVER, *, exact: bool = False, method: str = "auto"
) -> Kernel:
    """Return the kernel of battles under some rules and a stop: all that is asked of the methods.

    rules: the rules of the battles; their garrison does not matter.
    stop: when the attackers stop.
    exact: whether to answer in fractions.
    method: one of `METHODS`, or `"auto"`.

    >>> from iacta.rules.rules import CLASSIC
    >>> find_kernel(CLASSIC, exact=True).win_probability(2, 1)
    Fraction(1955, 2592)
    """
    return _kernel(bare_rules(rules), stop, exact, method)


@lru_cache(maxsize=256)
def _kernel(rules: Rules, stop: Stop, exact: bool, method: str) -> Kernel:
    from iacta.methods.stopping import Reserve, Stopping

    if stop != NEVER:
        fought = replace(stop, stop_at=None)
        if fought == NEVER:
            kernel = _kernel(rules, NEVER, exact, method)
        elif method == "simulation":
            kernel = _ModuleKernel(rules, method, exact, fought)
        else:
            if method not in ("auto", "stopping"):
                check_method(method, rules, exact=exact)
                raise IllegalError(
                    "method must be 'auto', 'stopping' or 'simulation' for a battle that stops by "
                    f"charge, max_losses or max_rolls, got {method!r}"
                )
            kernel = Stopping(rules, fought, exact=exact)
        return Reserve(kernel, stop) if stop.stop_at else kernel
    check_method(method, rules, exact=exact)
    if exact and rules.all_ones_gain:
        raise IllegalError("exact must be False where armies can grow: only floats solve that")
    if method == "auto" and isinstance(rules.mode, TrueRandom):
        from iacta.methods.auto import Auto

        return Auto(rules, exact=exact, load=partial(_by_name, rules, exact))
    if method == "auto":
        method = _only_method(rules, exact=exact) or LAST_FLOAT
    return _by_name(rules, exact, method)


def _by_name(rules: Rules, exact: bool, name: str) -> Kernel:
    return _named_kernel(rules, exact, name)


@lru_cache(maxsize=256)
def _named_kernel(rules: Rules, exact: bool, name: str) -> Kernel:
    if name == "lattice":
        return lattice.Lattice(rules)
    if name == "counting":
        return counting.Counting(rules)
    if name == BALANCED_METHOD:
        from iacta.methods.balanced_blitz import Blitz

        return Blitz(rules, _kernel(replace(rules, mode=TrueRandom()), NEVER, False, "auto"))
    if name in SEEN_METHODS:
        from iacta.methods.sees_first import SeesFirst

        return SeesFirst(rules, exact=name == EXACT_SEEN_METHOD)
    return _ModuleKernel(rules, name, exact)


class _ModuleKernel(Kernel):
    """A kernel over the functions of a module, until the module has a kernel of its own."""

    def __init__(self, rules: Rules, name: str, exact: bool, stop: Stop = NEVER) -> None:
        super().__init__(rules, stop)
        self.name, self.exact = name, exact
        self._module: Any = load_method(name)

    def refuse(self, attackers: int, defenders: int) -> None:
        self._module.refuse(attackers, defenders, self.rules)

    def error(self, attackers: int, defenders: int) -> Error:
        return Error(self._module.relative_error(attackers, defenders, self.rules))

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        more = {} if self.stop == NEVER else {"stop": self.stop}
        found = self._module.outcomes(start, defenders, self.rules, **more)
        law: Distribution[State] = found.map(lambda end: State(*end))
        return law

    def backward(self, values: Values) -> Any:
        if not hasattr(self._module, "value_rows"):
            return super().backward(values)
        return self._module.value_rows(values.won, values.lost, self.rules)

    def win_probability(self, attackers: int, defenders: int) -> Probability:
        if attackers <= 0 or not defenders or self.stop != NEVER:
            return super().win_probability(attackers, defenders)
        chance: Probability = self._module.win_probability(attackers, defenders, self.rules)
        return chance

    def chances(self, attackers: int, defenders: int, keep: int = 0) -> Chances:
        if self.name == "leap" and attackers > 0 and defenders:
            return Chances(*self._module.both_chances(attackers, defenders, self.rules, keep))
        return super().chances(attackers, defenders, keep)
