"""Spread: how armies are best spread over a chain of territories."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import islice, permutations, product
from math import comb
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import check_choice, quote, read_int, read_row
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.inputs.reprs import PasteableMixin
from iacta.methods import find_kernel
from iacta.methods.kernel import Error, Floats, Kernel
from iacta.odds.spread_values import (
    Battles,
    Model,
    Payoff,
    Spread,
    battles_up_to,
    compositions,
    error_of_values,
    every_value,
    kernel_model,
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
MAX_ARMIES = 10_000  # of a stack or a chain: tables hold them
MAX_LISTED = 100  # spreads that are as good
MIN_FLOAT_VALUE = 1e-130  # below it, floats may have lost their digits
# What some seconds and a GiB are enough for:
MAX_SPREADS = 2 * 10**6  # that are all looked at
MAX_VALUES = 5 * 10**7  # spreads times stack sizes
MAX_EXACT_STEPS = 3 * 10**6  # in fractions: about half a minute
MAX_TRIED = 20_000  # spreads, by moving armies
MAX_TRIED_STEPS = 3 * 10**9  # about half a minute
MAX_KNOWN = 10_000  # vectors


@dataclass(frozen=True, repr=False)
class BestSpread(PasteableMixin):
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
    stop: StopRule | None = None,
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
    chain, total = _ask(attackers, armies, territories, rules, garrison, objective, stop, exact)
    spread = chain.best(total)
    return replace(spread, value=chain.value(spread.spreads[0], exact=True)) if exact else spread


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
    """Return what attackers who play best achieve against one spread of armies over a chain.

    attackers: armies of the one stack that attacks, garrison included.
    spread: the armies on the territories, from one end of the chain to the other.
    rules, garrison, objective, stop, exact: as for `spread_defenders`, which describes the model.

    The chance to break through, or the expected number of territories taken; a float has at most
    the error of `iacta.odds.spread_values.error_of_values`.

    >>> spread_value(4, [1, 1], exact=True)
    Fraction(108175, 186624)
    """
    row = tuple(read_int(n, "spread", least=1) for n in read_row(spread, "spread", "armies"))
    if not row:
        raise IllegalError("missing spread")
    chain, _ = _ask(attackers, sum(row), len(row), rules, garrison, objective, stop, exact)
    return chain.value(row, exact=exact)


def simple_spreads(armies: int, territories: int) -> dict[str, Spread]:
    """Return the spreads that come to mind first, by their names.

    armies: how many in all.
    territories: over how many they are spread, one on each at least.

    >>> simple_spreads(10, 4)["even"], simple_spreads(10, 4)["in the middle"]
    ((3, 2, 2, 3), (1, 4, 4, 1))
    """
    last, rest = territories - 1, armies - territories
    heaps = {
        "at both ends": (0, last),
        "in the middle": (last // 2, territories // 2),
        "at one end": (0, 0),
    }
    spreads = {"even": _even(armies, territories)}
    for name, (first, second) in heaps.items():
        spread = [1] * territories
        spread[first] += rest - rest // 2
        spread[second] += rest // 2
        spreads[name] = tuple(spread)
    return spreads


def _even(armies: int, territories: int) -> Spread:
    """Return equal numbers on all territories, the rest on the outer ones and in the middle."""
    share, rest = divmod(armies, territories)
    fuller = sorted(range(territories), key=lambda i: min(i, territories - 1 - i))[:rest]
    if rest % 2 and territories % 2:
        fuller[-1] = territories // 2
    return tuple(share + (i in fuller) for i in range(territories))


def _most_even(armies: int, territories: int) -> Iterator[Spread]:
    """Yield all spreads in the order of `unevenness`, the best first.

    Every order of some numbers comes from their sorted one by exchanging rising neighbours. Every
    sorted one comes from the most even one by moving one army at a time from a territory to another
    with at least as many. Each of these steps leads to a spread that is later in the order.
    """
    first = tuple(sorted(_even(armies, territories)))
    pending, known = [unevenness(first)], {first}
    while pending:
        spread = heappop(pending)[1:]
        yield spread
        rising = [i for i in range(territories - 1) if spread[i] < spread[i + 1]]
        after = {_moved(spread, i + 1, i, spread[i + 1] - spread[i]) for i in rising}
        if list(spread) == sorted(spread):
            last = {n: place for place, n in enumerate(spread)}
            after |= {
                tuple(sorted(_moved(spread, spread.index(fewer), last[more], 1)))
                for fewer, more in product(last, repeat=2)
                if 1 < fewer <= more and (fewer < more or spread.count(fewer) > 1)
            }
        for unseen in after - known:
            heappush(pending, unevenness(unseen))
        known |= after


def unevenness(spread: Spread) -> tuple[int, ...]:
    """Return what is least for the most even of some spreads that are as good as each other."""
    return sum(n * n for n in spread), *spread


def _moved(spread: Spread, source: int, target: int, armies: int) -> Spread:
    other = list(spread)
    other[source] -= armies
    other[target] += armies
    return tuple(other)


def _ask(
    attackers: int,
    armies: int,
    territories: int,
    rules: Rules | str,
    garrison: int | None,
    objective: Objective,
    stop: StopRule | None,
    exact: bool,
) -> tuple["AttackedChain", int]:
    rules, stops = find_rules(rules, garrison), read_stop(stop)
    refuse_unfit(rules, stops, exact, "to spread armies")
    stack = read_int(attackers, "attackers", least=1)
    length = read_int(territories, "territories", least=1)
    total = read_int(armies, "armies", least=1)
    check_choice(objective, OBJECTIVES, "objective")
    if total < length:
        raise IllegalError(
            f"armies must be at least one for each of the {quote(length)} territories, "
            f"got {quote(total)}",
            parameter="armies",
        )
    if max(stack, total) > MAX_ARMIES:
        raise TooLargeError(
            f"attackers and armies must be at most {MAX_ARMIES}, got {quote(max(stack, total))}"
        )
    return AttackedChain(stack, rules, stops, objective, (1,) * length), total


def refuse_unfit(rules: Rules, stop: StopRule, exact: bool, purpose: str) -> None:
    """Refuse rules under which armies grow, and what no kernel answers."""
    if rules.mode.grows:
        raise rules.mode.unfit(purpose)
    check_choice(exact, (True, False), "exact")
    find_kernel(rules, stop, exact=exact).refuse(1, 1)


@dataclass(frozen=True)
class AttackedChain:
    """Territories in a row, and the one stack that attacks them.

    attackers: armies of the stack, garrison included.
    rules, stop: those of every battle.
    objective: what the attackers want.
    least: the fewest armies that can be on each territory.
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

    def value(self, spread: Spread, *, exact: bool) -> Probability:
        if self._is_hopeless():
            return Fraction(0) if exact else 0.0
        value = self._model(exact=exact).value(spread, from_first=self.from_first)
        return Fraction(value) if exact else min(float(value), float(self.payoff.values[-1]))

    def is_small(self, spreads: int) -> bool:
        return spreads <= MAX_SPREADS and spreads * (self.attackers + 1) <= MAX_VALUES

    def battles(self, armies: int) -> Battles:
        largest = armies - len(self.least) + 1
        return battles_up_to(self.attackers, largest, self._kernel(), self.rules.garrison)

    def error(self, armies: int) -> Error:
        length = len(self.least)
        return error_of_values(self.attackers, armies, length, self.payoff, self._kernel())

    def every(
        self, armies: int, payoff: Payoff, battles: Battles
    ) -> tuple[npt.NDArray[np.int16], Floats]:
        """Return the possible spreads of so many armies, and the value of each."""
        spreads = compositions(armies, len(self.least))
        values = every_value(armies, payoff, battles, from_first=self.from_first)
        possible = (spreads >= self.least).all(axis=1)
        return spreads[possible], values[possible]

    def best(self, armies: int) -> BestSpread:
        length = len(self.least)
        count = comb(armies - 1, length - 1)
        if self._is_hopeless() and max(self.least) == 1:
            spreads = tuple(islice(_most_even(armies, length), MAX_LISTED))
            return BestSpread(spreads, count, 0.0, True)
        battles, payoff = self.battles(armies), self.payoff
        if 2 * self.value(_even(armies, length), exact=False) > payoff.values[-1]:
            # What the attackers miss is the smaller number then, which has its digits.
            payoff = payoff.complement()
        if self.is_small(count):
            return self._best_of_all(armies, payoff, battles)
        return self._best_found(armies, battles.model(payoff))

    def _kernel(self, *, exact: bool = False) -> Kernel:
        return find_kernel(self.rules, self.stop, exact=exact)

    def _model(self, *, exact: bool) -> Model:
        kernel = self._kernel(exact=exact)
        return kernel_model(self.attackers, self.payoff, kernel, self.rules.garrison)

    def _is_hopeless(self) -> bool:
        """Return whether the garrisons alone keep the attackers from all that they want."""
        garrison, values = self.rules.garrison, self.payoff.values
        taken = sum(self.attackers > garrison * n for n in range(1, len(self.least) + 1))
        return values[taken] == values[0]

    def _best_of_all(self, armies: int, payoff: Payoff, battles: Battles) -> BestSpread:
        rows, values = self.every(armies, payoff, battles)
        costs = payoff.sign * values
        near = np.flatnonzero(_are_near(costs, self.error(armies)))
        spreads: list[Spread] = [tuple(row) for row in rows[near].tolist()]
        # Mirror images are as good as each other, unless one end is fixed.
        same = {
            spread: spread if self.from_first else min(spread, spread[::-1]) for spread in spreads
        }
        different = set(same.values())
        if len(different) == 1 or self._is_hopeless():
            return self._answer(spreads, is_exact=True)
        # Fractions have as many digits as there are armies, and reducing them takes their square,
        # as much time as all else from 200 attackers on.
        step = 1 + (self.attackers / 200) ** 2
        steps = len(different) * armies * self.attackers * step
        if steps > MAX_EXACT_STEPS or self.rules.mode.inexact:
            best = spreads[int(costs[near].argmin())]
            return self._answer([spread for spread in spreads if same[spread] == same[best]], False)
        model = self._model(exact=True)
        exact = {spread: model.value(spread, from_first=self.from_first) for spread in different}
        least = min(exact.values())
        return self._answer([spread for spread in spreads if exact[same[spread]] == least], True)

    def _best_found(self, armies: int, model: Model) -> BestSpread:
        """Return the best spread that moving armies from several first spreads leads to."""
        simple = set(simple_spreads(armies, len(self.least)).values())
        steps = 3 * len(self.least) * (self.attackers + 1) ** 2  # of one spread
        tries = min(MAX_TRIED, MAX_TRIED_STEPS // steps) // len(simple)
        climbed = [_climb(spread, model, tries) for spread in sorted(simple)]
        best = min(climbed, key=lambda spread: _cost(model, spread))
        return self._answer([best, best[::-1]], is_exact=False)

    def _answer(self, spreads: Sequence[Spread], is_exact: bool) -> BestSpread:
        different = sorted(set(spreads), key=unevenness)
        value = self.value(different[0], exact=False)
        return BestSpread(tuple(different[:MAX_LISTED]), len(different), value, is_exact)


def _are_near(costs: Floats, error: Error) -> npt.NDArray[np.bool_]:
    """Return which spreads may be the best, as far as floats show."""
    least = costs.min()
    relative, absolute = 3 * error.relative * abs(least), 2 * error.absolute
    return np.asarray(costs <= least + relative + absolute + MIN_FLOAT_VALUE)


def _cost(model: Model, spread: Spread) -> float:
    if len(model.known) > MAX_KNOWN:
        model.known.clear()
    return model.payoff.sign * float(model.value(spread))


def _climb(spread: Spread, model: Model, tries: int) -> Spread:
    """Return the spread to which moves of armies lead, ever fewer at once down to one."""
    cost, moved = _cost(model, spread), max(spread) // 2 or 1
    while moved:
        before = cost
        for source, target in permutations(range(len(spread)), 2):
            if spread[source] > moved and tries:
                tries -= 1
                other = _moved(spread, source, target, moved)
                if (other_cost := _cost(model, other)) < cost:
                    spread, cost = other, other_cost
        if cost == before:
            moved //= 2
    return spread
