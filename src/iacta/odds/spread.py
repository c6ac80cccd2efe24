"""The best spread of armies over a chain of territories."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import islice, permutations, product
from math import comb
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import check_choice, quote, read_int, read_list
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.inputs.reprs import PasteableMixin
from iacta.methods import choose_kernel
from iacta.methods.kernel import Error, Floats, Kernel
from iacta.odds.spread_values import (
    Battles,
    Model,
    Payoff,
    Spread,
    bound_value_error,
    compute_all_values,
    list_compositions,
    make_kernel_model,
    tabulate_battles,
)
from iacta.probability.distribution import Probability
from iacta.rules.rules import Rules
from iacta.rules.stop import StopRule, read_stop
from iacta.rules.variants import find_rules

Objective: TypeAlias = Literal["break through", "territories"]

OBJECTIVES: tuple[Objective, ...] = ("break through", "territories")
PAYOFFS: dict[Objective, Callable[[int], Payoff]] = {
    "break through": lambda territories: Payoff((0,) * territories + (1,)),
    "territories": lambda territories: Payoff(tuple(range(territories + 1))),
}
MAX_FRONT_ARMIES = 10_000  # the limit for a stack, and for all armies of a front or chain
MAX_LISTED_SPREADS = 100  # the maximum number of equally good spreads in a result
MIN_FLOAT_VALUE = 1e-130  # the error bound does not cover smaller values, which may underflow
MAX_SPREADS = 2 * 10**6  # if more spreads are possible, only some are compared
MAX_SPREAD_VALUES = 5 * 10**7  # the limit for the number of spreads times the number of attackers
MAX_EXACT_SPREAD_STEPS = 3 * 10**6  # about half a minute of computation with fractions
MAX_TRIES = 20_000  # the maximum number of spreads that the local search tries
MAX_TRY_STEPS = 3 * 10**9  # about half a minute of local search
MAX_CACHED_VECTORS = 10_000  # the maximum number of vectors in the cache of a model


@dataclass(frozen=True, repr=False)
class BestSpread(PasteableMixin):
    """The best spreads of armies over a chain of territories, and their value to the attackers.

    spreads: up to 100 of the best spreads, the most even spread first. Each lists the armies from
        one end of the chain to the other.
    count: the number of best spreads, which may exceed 100.
    value: the attackers' chance to break through, or the expected number of territories that they
        conquer; a fraction if fractions were requested.
    is_exact: whether these spreads are proven to be the best. Otherwise they are the best spreads
        that the search has found.

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
    stop: StopRule | None = None,
    exact: bool = False,
) -> BestSpread:
    """Return the best spread of defenders over a chain of territories against optimal attackers.

    attackers: armies of the attacking stack, garrison included.
    armies: all armies of the defence; each territory gets at least one army.
    territories: the number of territories in the chain.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind on each territory; `None` for the garrison of the rules.
    objective: the value that the attackers maximise and the defence minimises: `"break through"`
        for the chance to conquer all territories, or `"territories"` for the expected number of
        conquered territories.
    stop: the rule by which the attackers stop a battle and their attack.
    exact: whether to return the value as a fraction.

    The model: one stack borders all territories of the chain, and may begin with any territory.
    After a conquest it moves in with all armies except the garrison, or as many as the rules allow,
    and attacks a neighbour of the conquered territory, as in a `Campaign`. It can neither skip a
    territory nor go back. An attack that starts at one end can therefore conquer the whole chain.
    An attack that starts inside the chain chooses its direction after the first conquest, when the
    losses are known. Every battle ends when the territory is conquered, the stack cannot attack, or
    the attackers stop. To break through means to cross the whole chain from one end to the other.
    (If it meant to conquer any single territory, the even spread would be best.)

    Returns a `BestSpread`. If there are at most 2 million spreads, and at most 50 million spreads
    times attackers, all spreads are compared, with floats if their proven error bound allows it,
    otherwise with fractions. An example is 6 territories with 30 armies against 400 attackers. For
    larger problems a local search starts from several spreads and moves armies between territories;
    `is_exact` is then false. `is_exact` is also false if floats cannot distinguish some spreads and
    fractions would take too long or are not available for the rules.
    `iacta.odds.spread_values.bound_value_error` bounds the error of a float value.

    Raises `IactaError` for fewer armies than territories, for rules under which armies can grow,
    and for problems that need more than 1 GiB of memory.

    >>> best = spread_defenders(12, 12, 3)
    >>> best.spreads, round(best.value, 4), best.is_exact
    (((4, 2, 6), (6, 2, 4)), 0.359, True)
    >>> spread_defenders(12, 12, 3, objective="territories").spreads
    ((1, 10, 1),)

    Source: `iacta.odds.spread_values`.
    """
    chain, total = _read_chain(
        attackers, armies, territories, rules, garrison, objective, stop, exact
    )
    best = chain.find_best(total)
    if exact:
        return replace(best, value=chain.compute_value(best.spreads[0], exact=True))
    return best


def spread_value(
    attackers: int,
    spread: Sequence[int],
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    objective: Objective = "break through",
    stop: StopRule | None = None,
    exact: bool = False,
) -> Probability:
    """Return the value that optimal attackers gain from a given spread of armies over a chain.

    attackers: armies of the attacking stack, garrison included.
    spread: the armies on the territories, from one end of the chain to the other.
    rules, garrison, objective, stop, exact: the same as for `spread_defenders`, which describes the
        model.

    Returns the chance to break through, or the expected number of conquered territories.
    `iacta.odds.spread_values.bound_value_error` bounds the error of a float.

    >>> spread_value(4, [1, 1], exact=True)
    Fraction(108175, 186624)
    """
    row = tuple(read_int(n, "spread", minimum=1) for n in read_list(spread, "spread", "armies"))
    if not row:
        raise IllegalError("missing spread")
    chain, _ = _read_chain(attackers, sum(row), len(row), rules, garrison, objective, stop, exact)
    return chain.compute_value(row, exact=exact)


def simple_spreads(armies: int, territories: int) -> dict[str, Spread]:
    """Return a mapping from names to simple spreads, for comparison with the best spread.

    armies: the number of armies.
    territories: the number of territories. Each gets at least one army.

    >>> simple_spreads(10, 4)["even"], simple_spreads(10, 4)["in the middle"]
    ((3, 2, 2, 3), (1, 4, 4, 1))
    """
    last, rest = territories - 1, armies - territories
    heaps = {
        "at both ends": (0, last),
        "in the middle": (last // 2, territories // 2),
        "at one end": (0, 0),
    }
    spreads = {"even": _spread_evenly(armies, territories)}
    for name, (first, second) in heaps.items():
        spread = [1] * territories
        spread[first] += rest - rest // 2
        spread[second] += rest // 2
        spreads[name] = tuple(spread)
    return spreads


def _spread_evenly(armies: int, territories: int) -> Spread:
    """Return an even spread, with the remainder of the armies at both ends and in the middle."""
    share, rest = divmod(armies, territories)
    fuller = sorted(range(territories), key=lambda i: min(i, territories - 1 - i))[:rest]
    if rest % 2 and territories % 2:
        fuller[-1] = territories // 2
    return tuple(share + (i in fuller) for i in range(territories))


def _generate_most_even(armies: int, territories: int) -> Iterator[Spread]:
    """Yield all spreads in the order of `measure_unevenness`, the most even spread first.

    All spreads can be reached from the most even spread by two kinds of steps that increase the
    unevenness. Swaps of two neighbours in ascending order lead from a sorted spread to all its
    permutations. Moves of one army to a territory that has at least the same number of armies lead
    from the most even sorted spread to all sorted spreads.
    """
    first = tuple(sorted(_spread_evenly(armies, territories)))
    pending, known = [measure_unevenness(first)], {first}
    while pending:
        spread = heappop(pending)[1:]
        yield spread
        rising = [i for i in range(territories - 1) if spread[i] < spread[i + 1]]
        after = {_move_armies(spread, i + 1, i, spread[i + 1] - spread[i]) for i in rising}
        if list(spread) == sorted(spread):
            last = {n: index for index, n in enumerate(spread)}
            after |= {
                tuple(sorted(_move_armies(spread, spread.index(fewer), last[more], 1)))
                for fewer, more in product(last, repeat=2)
                if 1 < fewer <= more and (fewer < more or spread.count(fewer) > 1)
            }
        for unseen in after - known:
            heappush(pending, measure_unevenness(unseen))
        known |= after


def measure_unevenness(spread: Spread) -> tuple[int, ...]:
    """Return a sort key that is smaller for a more even spread."""
    return sum(n * n for n in spread), *spread


def _move_armies(spread: Spread, source: int, target: int, armies: int) -> Spread:
    other = list(spread)
    other[source] -= armies
    other[target] += armies
    return tuple(other)


def _read_chain(
    attackers: int,
    armies: int,
    territories: int,
    rules: Rules | str,
    garrison: int | None,
    objective: Objective,
    stop: StopRule | None,
    exact: bool,
) -> tuple["AttackedChain", int]:
    """Validate all arguments, and return the chain and the number of its defenders."""
    rules, stops = find_rules(rules, garrison), read_stop(stop)
    refuse_unfit(rules, stops, exact, "to spread armies")
    stack = read_int(attackers, "attackers", minimum=1)
    length = read_int(territories, "territories", minimum=1)
    total = read_int(armies, "armies", minimum=1)
    check_choice(objective, OBJECTIVES, "objective")
    if total < length:
        raise IllegalError(
            f"armies must be at least one for each of the {quote(length)} territories, "
            f"got {quote(total)}",
            parameter="armies",
        )
    if max(stack, total) > MAX_FRONT_ARMIES:
        raise TooLargeError(
            f"attackers and armies must be at most {MAX_FRONT_ARMIES}, "
            f"got {quote(max(stack, total))}"
        )
    return AttackedChain(stack, rules, stops, objective, (1,) * length), total


def refuse_unfit(rules: Rules, stop: StopRule, exact: bool, purpose: str) -> None:
    """Raise `IactaError` for rules that do not fit several battles, or that have no kernel."""
    if rules.mode.grows or rules.mode.is_used_up:
        raise rules.mode.make_unfit_error(purpose)
    check_choice(exact, (True, False), "exact")
    choose_kernel(rules, stop, exact=exact).refuse(1, 1)


@dataclass(frozen=True)
class AttackedChain:
    """A chain of territories, and the stack that attacks it.

    attackers: armies of the stack, garrison included.
    rules, stop: the rules and the stop rule of every battle.
    objective: the objective of the attackers.
    least: the minimum number of armies on each territory.
    from_first: whether the attack must start at the first territory.
    """

    attackers: int
    rules: Rules
    stop: StopRule
    objective: Objective
    least: Spread
    from_first: bool = False

    @property
    def payoff(self) -> Payoff:
        return PAYOFFS[self.objective](len(self.least))

    def compute_value(self, spread: Spread, *, exact: bool) -> Probability:
        if self._is_hopeless():
            return Fraction(0) if exact else 0.0
        value = self._make_model(exact=exact).compute_value(spread, from_first=self.from_first)
        return Fraction(value) if exact else min(float(value), float(self.payoff.values[-1]))

    def is_small(self, spreads: int) -> bool:
        """Return whether a number of spreads is small enough to compare them all."""
        return spreads <= MAX_SPREADS and spreads * (self.attackers + 1) <= MAX_SPREAD_VALUES

    def tabulate_battles(self, armies: int) -> Battles:
        largest = armies - len(self.least) + 1
        return tabulate_battles(self.attackers, largest, self._choose_kernel(), self.rules.garrison)

    def bound_error(self, armies: int) -> Error:
        length = len(self.least)
        return bound_value_error(self.attackers, armies, length, self.payoff, self._choose_kernel())

    def compute_all_values(
        self, armies: int, payoff: Payoff, battles: Battles
    ) -> tuple[npt.NDArray[np.int16], Floats]:
        """Return all possible spreads of a number of armies, and their values."""
        spreads = list_compositions(armies, len(self.least))
        values = compute_all_values(armies, payoff, battles, from_first=self.from_first)
        possible = (spreads >= self.least).all(axis=1)
        return spreads[possible], values[possible]

    def find_best(self, armies: int) -> BestSpread:
        length = len(self.least)
        count = comb(armies - 1, length - 1)
        if self._is_hopeless() and max(self.least) == 1:
            spreads = tuple(islice(_generate_most_even(armies, length), MAX_LISTED_SPREADS))
            return BestSpread(spreads, count, 0.0, True)
        battles, payoff = self.tabulate_battles(armies), self.payoff
        even = _spread_evenly(armies, length)
        if 2 * self.compute_value(even, exact=False) > payoff.values[-1]:
            # The complement is the smaller number and therefore the more precise one.
            payoff = payoff.complement()
        if self.is_small(count):
            return self._compare_all(armies, payoff, battles)
        return self._search_locally(armies, battles.make_model(payoff))

    def _choose_kernel(self, *, exact: bool = False) -> Kernel:
        return choose_kernel(self.rules, self.stop, exact=exact)

    def _make_model(self, *, exact: bool) -> Model:
        kernel = self._choose_kernel(exact=exact)
        return make_kernel_model(self.attackers, self.payoff, kernel, self.rules.garrison)

    def _is_hopeless(self) -> bool:
        """Return whether the attackers have too few armies to achieve anything."""
        rules, values = self.rules, self.payoff.values
        stack, taken = self.attackers, 0
        while stack > rules.garrison and taken < len(self.least):
            stack, taken = rules.limit_advance(stack - rules.garrison), taken + 1
        return values[taken] == values[0]

    def _compare_all(self, armies: int, payoff: Payoff, battles: Battles) -> BestSpread:
        """Compare the values of all spreads, and return the best."""
        rows, values = self.compute_all_values(armies, payoff, battles)
        costs = payoff.sign * values
        near = np.flatnonzero(_are_near(costs, self.bound_error(armies)))
        spreads: list[Spread] = [tuple(row) for row in rows[near].tolist()]
        # Mirror images have equal values, unless the attack must start at the first territory.
        same = {
            spread: spread if self.from_first else min(spread, spread[::-1]) for spread in spreads
        }
        different = set(same.values())
        if len(different) == 1 or self._is_hopeless():
            return self._make_result(spreads, is_exact=True)
        # Fractions get longer with more armies, and the time to reduce a fraction grows with the
        # square of its length. With 200 attackers or more, this dominates the computation.
        step = 1 + (self.attackers / 200) ** 2
        steps = len(different) * armies * self.attackers * step
        if steps > MAX_EXACT_SPREAD_STEPS or self.rules.mode.inexact:
            best = spreads[int(costs[near].argmin())]
            equal = [spread for spread in spreads if same[spread] == same[best]]
            return self._make_result(equal, is_exact=False)
        model = self._make_model(exact=True)
        exact = {
            spread: model.compute_value(spread, from_first=self.from_first) for spread in different
        }
        least = min(exact.values())
        equal = [spread for spread in spreads if exact[same[spread]] == least]
        return self._make_result(equal, is_exact=True)

    def _search_locally(self, armies: int, model: Model) -> BestSpread:
        """Return the best result of local searches that start from several simple spreads."""
        simple = set(simple_spreads(armies, len(self.least)).values())
        steps = 3 * len(self.least) * (self.attackers + 1) ** 2  # the steps for one spread
        tries = min(MAX_TRIES, MAX_TRY_STEPS // steps) // len(simple)
        optima = [_improve(spread, model, tries) for spread in sorted(simple)]
        best = min(optima, key=lambda spread: _compute_cost(model, spread))
        return self._make_result([best, best[::-1]], is_exact=False)

    def _make_result(self, spreads: Sequence[Spread], *, is_exact: bool) -> BestSpread:
        different = sorted(set(spreads), key=measure_unevenness)
        value = self.compute_value(different[0], exact=False)
        return BestSpread(tuple(different[:MAX_LISTED_SPREADS]), len(different), value, is_exact)


def _are_near(costs: Floats, error: Error) -> npt.NDArray[np.bool_]:
    """Return a mask of the spreads that could be best, given the error of their costs."""
    least = costs.min()
    relative, absolute = 3 * error.relative * abs(least), 2 * error.absolute
    return np.asarray(costs <= least + relative + absolute + MIN_FLOAT_VALUE)


def _compute_cost(model: Model, spread: Spread) -> float:
    if len(model.cache) > MAX_CACHED_VECTORS:
        model.cache.clear()
    return model.payoff.sign * float(model.compute_value(spread))


def _improve(spread: Spread, model: Model, tries: int) -> Spread:
    """Improve a spread to a local optimum by moving armies, at first many at a time."""
    cost, moved = _compute_cost(model, spread), max(spread) // 2 or 1
    while moved:
        before = cost
        for source, target in permutations(range(len(spread)), 2):
            if spread[source] > moved and tries:
                tries -= 1
                other = _move_armies(spread, source, target, moved)
                if (other_cost := _compute_cost(model, other)) < cost:
                    spread, cost = other, other_cost
        if cost == before:
            moved //= 2
    return spread
