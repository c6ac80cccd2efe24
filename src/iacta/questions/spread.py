"""Spread: how armies are best spread over a chain of territories."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from math import comb
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import check_choice, row_of, shown, whole_number
from iacta.distribution import Probability
from iacta.errors import IllegalError, TooLargeError
from iacta.methods import check_rules
from iacta.methods.limits import refuse_gains, refuse_seen
from iacta.methods.spreads import (
    Aim,
    Model,
    Passages,
    compositions,
    every_value,
    exact_model,
    float_model,
    lattice_model,
    make_passages,
    relative_error,
)
from iacta.rules.rules import Rules
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
Spread: TypeAlias = tuple[int, ...]
Floats: TypeAlias = npt.NDArray[np.float64]

OBJECTIVES: tuple[Objective, ...] = ("break through", "territories")
AIMS: dict[str, Callable[[int], Aim]] = {
    "break through": lambda territories: Aim((0,) * territories + (1,)),
    "territories": lambda territories: Aim(tuple(range(territories + 1))),
}
MOST_ARMIES = 10_000
LEAST_FLOAT_WORTH = 1e-130
MOST_SPREADS = 2 * 10**6
MOST_WORTHS = 5 * 10**7  # spreads times stack sizes
MOST_EXACT_STEPS = 3 * 10**6
MOST_LISTED = 100
MOST_TRIED = 20_000
MOST_TRIED_STEPS = 3 * 10**9
MOST_KNOWN = 10_000


@dataclass(frozen=True)
class BestSpread:
    """The best spread of armies over a chain, and what it leaves to the attackers.

    spreads: the best spreads, each the armies on the territories from one end of the chain to the
        other; the most even first, and no more than 100 of them.
    count: how many spreads are as good as these.
    value: the attackers' chance to break through, or the mean number of territories that they
        take; a fraction if that was asked.
    is_exact: whether no spread at all is better, which has been decided without rounding; else
        these are the best that a search has found.

    >>> spread_defenders(10, 12, 3).spreads
    ((4, 2, 6), (6, 2, 4))
    """

    spreads: tuple[Spread, ...]
    count: int
    value: Probability
    is_exact: bool


def spread_defenders(
    attackers: int,
    armies: int,
    territories: int,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    objective: Objective = "break through",
    exact: bool = False,
) -> BestSpread:
    """Return how to spread armies over a chain of territories against attackers who play best.

    attackers: armies of the one stack that attacks, garrison included.
    armies: armies of the defence in all; at least one stands on each territory.
    territories: how many there are, in a row.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind on each territory; `None` leaves what the rules say.
    objective: what the attackers want the most of, and the defence the least: `"break through"`,
        the chance to take all territories; or `"territories"`, the mean number that they take.
    exact: whether to tell the value as a fraction.

    The model: the attackers stand beside the chain and may attack any one of its territories
    first. They take it, move in with all but the garrison, and attack a neighbour of the territory
    on which they stand, as in a `Campaign`, and so on; a stack can neither jump nor walk back over
    what it has taken. So who starts at one end can take all, and who starts inside chooses after
    the first conquest, knowing what it has cost, to which end to go. Every battle is fought until
    the territory is taken or the stack cannot go on. To break through thus means to cross the whole
    chain from one of its ends. (It could also mean to take any one territory: then the even spread
    is the best.)

    A `BestSpread`. Up to 2 million spreads, and 50 million when multiplied by the attackers, all
    are compared, in floats with a proven bound and in fractions where these cannot tell: chains of
    6 territories and 30 armies against 400 attackers are among them. Beyond that, armies are moved
    from territory to territory, from several starting spreads, for as long as it helps and at most
    some thousand times, and `is_exact` is False. It is so too where thousands of spreads are too
    nearly equal, or where the numbers that tell them apart are below 1e-130. The relative error of
    a float value is at most that of `iacta.methods.spreads`.

    Fewer armies than territories are refused, and sizes that would take more than a GiB.

    >>> best = spread_defenders(12, 12, 3)
    >>> best.spreads, round(best.value, 4), best.is_exact
    (((4, 2, 6), (6, 2, 4)), 0.359, True)
    >>> spread_defenders(12, 12, 3, objective="territories").spreads
    ((1, 10, 1),)

    Source: `iacta.methods.spreads`.
    """
    asked = _ask(attackers, armies, territories, rules, garrison, objective)
    check_choice(exact, (True, False), "exact")
    if asked.is_hopeless():
        even = simple_spreads(asked.armies, asked.territories)["even"]
        count = comb(asked.armies - 1, asked.territories - 1)
        return BestSpread((even,), count, Fraction(0) if exact else 0.0, True)
    defence = _Defence(asked, make_passages(asked.attackers, asked.largest, asked.rules))
    found = defence.best_of_all() if defence.can_compare_all() else defence.best_found()
    if exact:
        return replace(found, value=asked.exactly(found.spreads[0]))
    return found


def spread_value(
    attackers: int,
    spread: Sequence[int],
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    objective: Objective = "break through",
    exact: bool = False,
) -> Probability:
    """Return what attackers who play best have against one spread of armies over a chain.

    attackers: armies of the one stack that attacks, garrison included.
    spread: the armies on the territories, from one end of the chain to the other.
    rules, garrison, objective, exact: as for `spread_defenders`, which tells the model.

    The chance to break through, or the mean number of territories taken; a float has at most the
    relative error of `iacta.methods.spreads`.

    >>> spread_value(4, [1, 1], exact=True)
    Fraction(108175, 186624)
    """
    row = tuple(whole_number(n, "spread", least=1) for n in row_of(spread, "spread", "armies"))
    if not row:
        raise IllegalError("spread must have at least one entry, got none")
    asked = _ask(attackers, sum(row), len(row), rules, garrison, objective)
    check_choice(exact, (True, False), "exact")
    if exact:
        return asked.exactly(row)
    return asked.in_floats(row)


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
    """Return as many on each territory, and what is left over outside and in the middle."""
    each, rest = divmod(armies, territories)
    fuller = sorted(range(territories), key=lambda i: min(i, territories - 1 - i))[:rest]
    if rest % 2 and territories % 2:
        fuller[-1] = territories // 2
    return tuple(each + (i in fuller) for i in range(territories))


class _Asked(NamedTuple):
    attackers: int
    armies: int
    territories: int
    rules: Rules
    aim: Aim

    @property
    def largest(self) -> int:
        """The most armies that one territory can have."""
        return self.armies - self.territories + 1

    def is_hopeless(self) -> bool:
        """Tell whether the garrisons alone keep the attackers from all that they want."""
        garrison, worths = self.rules.garrison, self.aim.worths
        taken = sum(self.attackers > garrison * n for n in range(1, self.territories + 1))
        return worths[taken] == worths[0]

    def exactly(self, spread: Spread) -> Fraction:
        """Return what the attackers have against one spread."""
        return Fraction(exact_model(self.attackers, self.aim, self.rules).value(spread))

    def in_floats(self, spread: Spread) -> float:
        """Return what the attackers have against one spread, as a float."""
        worth = float(lattice_model(self.attackers, self.aim, self.rules).value(spread))
        return min(worth, float(self.aim.worths[-1]))  # not more than certain


def _ask(
    attackers: int,
    armies: int,
    territories: int,
    rules: Rules | str,
    garrison: int | None,
    objective: Objective,
) -> _Asked:
    """Return the question, or refuse it."""
    found = find_rules(rules, garrison)
    check_rules(found)
    refuse_gains(found, "spreads")
    if found.dice_mode != "true random":
        raise IllegalError(
            "dice_mode must be 'true random' to spread armies over a chain, "
            f"got {found.dice_mode!r}"
        )
    refuse_seen(found, "for a spread over a chain of territories")
    stack = whole_number(attackers, "attackers", least=1)
    length = whole_number(territories, "territories", least=1)
    total = whole_number(armies, "armies", least=1)
    check_choice(objective, OBJECTIVES, "objective")
    if total < length:
        raise IllegalError(
            f"armies must be at least one for each of {shown(length)} territories, "
            f"got {shown(total)}"
        )
    if max(stack, total) > MOST_ARMIES:
        raise TooLargeError(
            f"attackers and armies must be at most {MOST_ARMIES}, got {shown(max(stack, total))}"
        )
    return _Asked(stack, total, length, found, AIMS[objective](length))


class _Defence:
    """The search for the best spread."""

    def __init__(self, asked: _Asked, passages: Passages) -> None:
        self.asked = asked
        self.passages = passages
        even = _even(asked.armies, asked.territories)
        much = 2 * asked.in_floats(even) > asked.aim.worths[-1]
        # What the attackers miss is the smaller number then, which has its digits.
        self.aim = asked.aim.complement() if much else asked.aim

    def can_compare_all(self) -> bool:
        """Tell whether there are few enough spreads to look at each."""
        count = comb(self.asked.armies - 1, self.asked.territories - 1)
        return count <= MOST_SPREADS and count * (self.asked.attackers + 1) <= MOST_WORTHS

    def best_of_all(self) -> BestSpread:
        """Return the best of all spreads."""
        asked = self.asked
        values = every_value(asked.armies, asked.attackers, self.aim, self.passages)
        near = np.flatnonzero(self._is_near(values))
        rows = compositions(asked.armies, asked.territories)[near].tolist()
        spreads = [tuple(row) for row in rows]
        different = {min(spread, spread[::-1]) for spread in spreads}
        if len(different) == 1:
            return self._told(spreads, is_exact=True)
        if len(different) * asked.armies * asked.attackers > MOST_EXACT_STEPS:
            place = int((np.argmin if self.aim.wants_most else np.argmax)(values[near]))
            return self._told([spreads[place], spreads[place][::-1]], is_exact=False)
        return self._told(self._exactly_best(spreads, different), is_exact=True)

    def _is_near(self, values: Floats) -> npt.NDArray[np.bool_]:
        """Tell which spreads may be the best, as far as floats tell."""
        asked = self.asked
        error = relative_error(asked.attackers, asked.armies, asked.territories, asked.rules)
        if self.aim.wants_most:
            return np.asarray(values <= max(values.min() * (1 + 3 * error), LEAST_FLOAT_WORTH))
        most = values.max()
        return np.asarray(values >= (most * (1 - 3 * error) if most > LEAST_FLOAT_WORTH else 0.0))

    def _exactly_best(self, spreads: list[Spread], different: set[Spread]) -> list[Spread]:
        """Return the best of some spreads; mirror images are as good as each other."""
        model = exact_model(self.asked.attackers, self.asked.aim, self.asked.rules)
        worths = {spread: model.value(spread) for spread in different}
        least = min(worths.values())
        return [each for each in spreads if worths[min(each, each[::-1])] == least]

    def best_found(self) -> BestSpread:
        """Return the best spread that moving armies from several first spreads leads to."""
        simple = set(simple_spreads(self.asked.armies, self.asked.territories).values())
        model = float_model(self.asked.attackers, self.aim, self.passages)
        steps = 3 * self.asked.territories * (self.asked.attackers + 1) ** 2  # of one spread
        tries = min(MOST_TRIED, MOST_TRIED_STEPS // steps) // len(simple)
        found = [_climb(spread, model, tries) for spread in sorted(simple)]
        best = min(found, key=lambda spread: _cost(model, spread))
        return self._told([best, best[::-1]], is_exact=False)

    def _told(self, spreads: list[Spread], is_exact: bool) -> BestSpread:
        """Return what is said of spreads that are the best, the most even first."""
        different = sorted(set(spreads), key=lambda each: (sum(n * n for n in each), *each))
        value = self.asked.in_floats(different[0])
        return BestSpread(tuple(different[:MOST_LISTED]), len(different), value, is_exact)


def _cost(model: Model, spread: Spread) -> float:
    """Return the worth of a spread to the attackers, the less the better for the defence."""
    if len(model.known) > MOST_KNOWN:
        model.known.clear()
    worth = float(model.value(spread))
    return worth if model.aim.wants_most else -worth


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
