"""Spread: how armies are best spread over a chain of territories."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import merge
from itertools import islice, permutations, product
from math import comb
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import check_choice, row_of, shown, whole_number
from iacta.display import Pasted
from iacta.distribution import Probability
from iacta.errors import IllegalError, TooLargeError
from iacta.methods import find_kernel
from iacta.methods.kernel import Floats, Kernel
from iacta.odds.spread_values import (
    Model,
    Payoff,
    Spread,
    battles_up_to,
    compositions,
    error_of_values,
    every_value,
    kernel_model,
    table_model,
)
from iacta.rules.rules import Rules
from iacta.rules.stop import Stop, read_stop
from iacta.rules.variants import find_rules

__all__ = [
    "OBJECTIVES",
    "BestSpread",
    "Objective",
    "simple_spreads",
    "spread_defenders",
    "spread_value",
]

Objective: TypeAlias = Literal["break through", "territories"]

OBJECTIVES: tuple[Objective, ...] = ("break through", "territories")
PAYOFFS: dict[str, Callable[[int], Payoff]] = {
    "break through": lambda territories: Payoff((0,) * territories + (1,)),
    "territories": lambda territories: Payoff(tuple(range(territories + 1))),
}
MOST_ARMIES = 10_000
LEAST_FLOAT_VALUE = 1e-130
MOST_SPREADS = 2 * 10**6
MOST_VALUES = 5 * 10**7  # spreads times stack sizes
MOST_EXACT_STEPS = 3 * 10**6
FEW_DIGITS = 200  # attackers up to which adding fractions takes no longer than all else
MOST_LISTED = 100
MOST_TRIED = 20_000
MOST_TRIED_STEPS = 3 * 10**9
MOST_KNOWN = 10_000


@dataclass(frozen=True, repr=False)
class BestSpread(Pasted):
    """The best spread of armies over a chain, and what it leaves the attackers.

    spreads: the best spreads, each the armies on the territories from one end of the chain to the
        other; the most even first, and no more than 100 of them.
    count: how many spreads are as good as these.
    value: the attackers' chance to break through, or the number of territories that they are
        expected to take; a fraction if `exact` was asked for.
    is_exact: whether no spread at all is better, which is proven; else these are the best found.

    >>> spread_defenders(10, 12, 3).spreads
    ((4, 2, 6), (6, 2, 4))
    """

    spreads: tuple[Spread, ...]
    count: int
    value: Probability
    is_exact: bool

    def _summary(self) -> str:
        best = ", ".join(map(str, self.spreads[0]))
        return f"{self.count} best spreads such as {best}; value {float(self.value):.6g}"


def spread_defenders(
    attackers: int,
    armies: int,
    territories: int,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    objective: Objective = "break through",
    stop: Stop | None = None,
    exact: bool = False,
) -> BestSpread:
    """Return how to spread armies over a chain of territories against attackers who play best.

    attackers: armies of the one stack that attacks, garrison included.
    armies: all armies of the defence; each territory gets at least one.
    territories: how many there are, in a row.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind on each territory; `None` keeps what the rules say.
    objective: what the attackers want most, and the defence least: `"break through"`, the chance to
        take all territories; or `"territories"`, the expected number that they take.
    stop: when the attackers stop a battle, and with it their attack.
    exact: whether to return the value as a fraction.

    The model: the attackers are beside the chain and may attack any one of its territories
    first. They take it, move in with all but the garrison, and attack a neighbour of the territory
    on which they are, as in a `Campaign`, and so on; a stack can neither jump nor walk back over
    what it has taken. So an attack that starts at one end can take all, and one that starts inside
    chooses after the first conquest, knowing what it has cost, to which end it continues. Every
    battle is fought until the territory is taken, the stack cannot attack or the attackers stop. To
    break through thus means to cross the whole chain from one of its ends. (It could also mean to
    take any one territory: then the even spread is the best.)

    A `BestSpread`. Up to 2 million spreads, and 50 million when multiplied by the attackers, are
    all compared, in floats with a proven bound and in fractions where these cannot decide: chains
    of 6 territories and 30 armies against 400 attackers are among them. Beyond that, armies are
    moved from territory to territory, from several starting spreads, for as long as it helps and at
    most some thousand times, and `is_exact` is False. It is also False where thousands of spreads
    are too nearly equal, where their differences are below 1e-130, and where floats cannot
    distinguish them under rules without fractions. The error of a float value is at most that of
    `iacta.odds.spread_values.error_of_values`.

    Refused are fewer armies than territories, rules under which armies grow, and sizes that would
    take more than a GiB.

    >>> best = spread_defenders(12, 12, 3)
    >>> best.spreads, round(best.value, 4), best.is_exact
    (((4, 2, 6), (6, 2, 4)), 0.359, True)
    >>> spread_defenders(12, 12, 3, objective="territories").spreads
    ((1, 10, 1),)

    Source: `iacta.odds.spread_values`.
    """
    asked = _ask(attackers, armies, territories, rules, garrison, objective, stop, exact)
    if asked.is_hopeless():
        spreads = tuple(islice(_most_even(asked.armies, asked.territories), MOST_LISTED))
        count = comb(asked.armies - 1, asked.territories - 1)
        return BestSpread(spreads, count, Fraction(0) if exact else 0.0, True)
    defence = _Defence(asked)
    found = defence.best_of_all() if defence.can_compare_all() else defence.best_found()
    return replace(found, value=asked.value(found.spreads[0], exact=True)) if exact else found


def spread_value(
    attackers: int,
    spread: Sequence[int],
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    objective: Objective = "break through",
    stop: Stop | None = None,
    exact: bool = False,
) -> Probability:
    """Return what attackers who play best achieve against one spread of armies over a chain.

    attackers: armies of the one stack that attacks, garrison included.
    spread: the armies on the territories, from one end of the chain to the other.
    rules, garrison, objective, stop, exact: as for `spread_defenders`, which describes the model.

    The chance to break through, or the expected number of territories taken; a float has at most
    the error of `iacta.odds.spread_values.error_of_values`.

    >>> spread_value(4, [1, 1], exact=True)
    Fraction(108175, 186624)
    """
    row = tuple(whole_number(n, "spread", least=1) for n in row_of(spread, "spread", "armies"))
    if not row:
        raise IllegalError("missing spread")
    asked = _ask(attackers, sum(row), len(row), rules, garrison, objective, stop, exact)
    return asked.value(row, exact=exact)


def simple_spreads(armies: int, territories: int) -> dict[str, Spread]:
    """Return the spreads that come to mind first, by their names.

    armies: how many in all.
    territories: over how many they are spread, one on each at least.

    >>> simple_spreads(10, 4)["even"], simple_spreads(10, 4)["in the middle"]
    ((3, 2, 2, 3), (1, 4, 4, 1))
    """
    last = territories - 1
    return {
        "even": _even(armies, territories),
        "at both ends": _on(armies, territories, (0, last)),
        "in the middle": _on(armies, territories, (last // 2, territories // 2)),
        "at one end": _on(armies, territories, (0, 0)),
    }


def _on(armies: int, territories: int, heaps: tuple[int, int]) -> Spread:
    """Return one army on each territory, and the rest on two of them."""
    spread = [1] * territories
    rest = armies - territories
    spread[heaps[0]] += rest - rest // 2
    spread[heaps[1]] += rest // 2
    return tuple(spread)


def _even(armies: int, territories: int) -> Spread:
    """Return equal numbers on all territories, the rest on the outer ones and in the middle."""
    each, rest = divmod(armies, territories)
    fuller = sorted(range(territories), key=lambda i: min(i, territories - 1 - i))[:rest]
    if rest % 2 and territories % 2:
        fuller[-1] = territories // 2
    return tuple(each + (i in fuller) for i in range(territories))


def _most_even(armies: int, territories: int) -> Iterator[Spread]:
    """Yield all spreads, the most even first, in the order of `BestSpread`.

    Every spread, its armies sorted, comes from the most even one by moving one army at a time from
    a territory to another with at least as many, and each move makes the sum of squares larger.
    """
    pending = [tuple(sorted(_even(armies, territories)))]
    known = set(pending)
    while pending:
        least = min(map(_unevenness, pending))
        level = [spread for spread in pending if _unevenness(spread) == least]
        yield from merge(*map(_orders, level))
        less_even = {
            tuple(sorted(_moved(spread, spread.index(fewer), _last(spread, more), 1)))
            for spread in level
            for fewer, more in product(sorted(set(spread)), repeat=2)
            if 1 < fewer <= more and (fewer < more or spread.count(fewer) > 1)
        }
        pending = [spread for spread in pending if _unevenness(spread) > least]
        pending += sorted(less_even - known)
        known |= less_even


def _unevenness(spread: Spread) -> int:
    return sum(n * n for n in spread)


def _last(spread: Spread, number: int) -> int:
    """Return the last place of a number."""
    return len(spread) - 1 - spread[::-1].index(number)


def _orders(spread: Spread) -> Iterator[Spread]:
    """Yield each order of the numbers once, in lexicographic order, from the sorted one on."""
    row = list(spread)
    while True:
        yield tuple(row)
        rising = [i for i in range(len(row) - 1) if row[i] < row[i + 1]]
        if not rising:
            return
        pivot = rising[-1]
        larger = max(i for i in range(pivot + 1, len(row)) if row[i] > row[pivot])
        row[pivot], row[larger] = row[larger], row[pivot]
        row[pivot + 1 :] = row[:pivot:-1]


class _Asked(NamedTuple):
    attackers: int
    armies: int
    territories: int
    rules: Rules
    stop: Stop
    payoff: Payoff

    @property
    def largest(self) -> int:
        """The most armies that one territory can have."""
        return self.armies - self.territories + 1

    def is_hopeless(self) -> bool:
        """Return whether the garrisons alone keep the attackers from all that they want."""
        garrison, values = self.rules.garrison, self.payoff.values
        taken = sum(self.attackers > garrison * n for n in range(1, self.territories + 1))
        return values[taken] == values[0]

    def kernel(self, *, exact: bool = False) -> Kernel:
        """Return the kernel of every battle."""
        return find_kernel(self.rules, self.stop, exact=exact)

    def model(self, *, exact: bool) -> Model:
        """Return the model for a few spreads."""
        kernel = self.kernel(exact=exact)
        return kernel_model(self.attackers, self.payoff, kernel, self.rules.garrison)

    def value(self, spread: Spread, *, exact: bool) -> Probability:
        """Return what the attackers achieve against one spread."""
        value = self.model(exact=exact).value(spread)
        return Fraction(value) if exact else min(float(value), float(self.payoff.values[-1]))


def _ask(
    attackers: int,
    armies: int,
    territories: int,
    rules: Rules | str,
    garrison: int | None,
    objective: Objective,
    stop: Stop | None,
    exact: bool,
) -> _Asked:
    """Return the question, or refuse it."""
    found = find_rules(rules, garrison)
    if found.mode.grows:
        raise found.mode.unfit("to spread armies")
    check_choice(exact, (True, False), "exact")
    stops = read_stop(stop)
    find_kernel(found, stops, exact=exact).refuse(1, 1)
    stack = whole_number(attackers, "attackers", least=1)
    length = whole_number(territories, "territories", least=1)
    total = whole_number(armies, "armies", least=1)
    check_choice(objective, OBJECTIVES, "objective")
    if total < length:
        raise IllegalError(
            f"armies must be at least one for each of the {shown(length)} territories, "
            f"got {shown(total)}"
        )
    if max(stack, total) > MOST_ARMIES:
        raise TooLargeError(
            f"attackers and armies must be at most {MOST_ARMIES}, got {shown(max(stack, total))}"
        )
    return _Asked(stack, total, length, found, stops, PAYOFFS[objective](length))


class _Defence:
    """The search for the best spread."""

    def __init__(self, asked: _Asked) -> None:
        self.asked = asked
        kernel, garrison = asked.kernel(), asked.rules.garrison
        self.battles = battles_up_to(asked.attackers, asked.largest, kernel, garrison)
        even = _even(asked.armies, asked.territories)
        much = 2 * asked.value(even, exact=False) > asked.payoff.values[-1]
        # What the attackers miss is the smaller number then, which has its digits.
        self.payoff = asked.payoff.complement() if much else asked.payoff
        self.error = error_of_values(
            asked.attackers, asked.armies, asked.territories, asked.payoff, kernel
        )

    def can_compare_all(self) -> bool:
        """Return whether there are few enough spreads to look at each."""
        count = comb(self.asked.armies - 1, self.asked.territories - 1)
        return count <= MOST_SPREADS and count * (self.asked.attackers + 1) <= MOST_VALUES

    def best_of_all(self) -> BestSpread:
        """Return the best of all spreads."""
        asked = self.asked
        values = every_value(asked.armies, asked.attackers, self.payoff, self.battles)
        near = np.flatnonzero(self._is_near(values))
        rows = compositions(asked.armies, asked.territories)[near].tolist()
        spreads = [tuple(row) for row in rows]
        different = {min(spread, spread[::-1]) for spread in spreads}
        if len(different) == 1:
            return self._answer(spreads, is_exact=True)
        # Fractions have as many digits as there are armies, and reducing them takes their square.
        step = 1 + (asked.attackers / FEW_DIGITS) ** 2
        steps = len(different) * asked.armies * asked.attackers * step
        if steps > MOST_EXACT_STEPS or self.asked.rules.mode.inexact:
            place = int((np.argmin if self.payoff.maximized else np.argmax)(values[near]))
            return self._answer([spreads[place], spreads[place][::-1]], is_exact=False)
        return self._answer(self._exactly_best(spreads, different), is_exact=True)

    def _is_near(self, values: Floats) -> npt.NDArray[np.bool_]:
        """Return which spreads may be the best, as far as floats show."""
        relative, absolute = 3 * self.error.relative, 2 * self.error.absolute
        if self.payoff.maximized:
            least = values.min()
            return np.asarray(values <= max(least * (1 + relative), LEAST_FLOAT_VALUE) + absolute)
        most = values.max()
        bound = most * (1 - relative) if most > LEAST_FLOAT_VALUE else 0.0
        return np.asarray(values >= bound - absolute)

    def _exactly_best(self, spreads: list[Spread], different: set[Spread]) -> list[Spread]:
        """Return the best of some spreads; mirror images are as good as each other."""
        model = self.asked.model(exact=True)
        values = {spread: model.value(spread) for spread in different}
        least = min(values.values())
        return [each for each in spreads if values[min(each, each[::-1])] == least]

    def best_found(self) -> BestSpread:
        """Return the best spread that moving armies from several first spreads leads to."""
        simple = set(simple_spreads(self.asked.armies, self.asked.territories).values())
        model = table_model(self.asked.attackers, self.payoff, self.battles)
        steps = 3 * self.asked.territories * (self.asked.attackers + 1) ** 2  # of one spread
        tries = min(MOST_TRIED, MOST_TRIED_STEPS // steps) // len(simple)
        found = [_climb(spread, model, tries) for spread in sorted(simple)]
        best = min(found, key=lambda spread: _cost(model, spread))
        return self._answer([best, best[::-1]], is_exact=False)

    def _answer(self, spreads: list[Spread], is_exact: bool) -> BestSpread:
        """Return the answer with such spreads, the most even first."""
        different = sorted(set(spreads), key=lambda each: (_unevenness(each), *each))
        value = self.asked.value(different[0], exact=False)
        return BestSpread(tuple(different[:MOST_LISTED]), len(different), value, is_exact)


def _cost(model: Model, spread: Spread) -> float:
    """Return the value of a spread to the attackers; the less, the better for the defence."""
    if len(model.known) > MOST_KNOWN:
        model.known.clear()
    value = float(model.value(spread))
    return value if model.payoff.maximized else -value


def _climb(spread: Spread, model: Model, tries: int) -> Spread:
    """Return the spread to which moves of armies lead, ever fewer at once down to one."""
    cost, moved = _cost(model, spread), max(spread) // 2 or 1
    while moved:
        before = cost
        for source, target in permutations(range(len(spread)), 2):
            if spread[source] > moved and tries:
                tries -= 1
                other = _moved(spread, source, target, moved)
                if _cost(model, other) < cost:
                    spread, cost = other, _cost(model, other)
        if cost == before:
            moved //= 2
    return spread


def _moved(spread: Spread, source: int, target: int, armies: int) -> Spread:
    other = list(spread)
    other[source] -= armies
    other[target] += armies
    return tuple(other)
