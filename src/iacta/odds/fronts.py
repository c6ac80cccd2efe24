"""Fronts: how armies are best divided among several borders, each with attackers of its own.

The fronts are attacked independently of each other. Let p_f(n) be the chance that front f falls
when n armies are spread over it in the best way. All of them hold with the chance
Π_f (1 − p_f(n_f)), so the best division has the least sum of

    c_f(n) = −log(1 − p_f(n)),

and where the loss counts, c_f(n) is the expected number of territories lost. Such a sum is
separable, and the least cost of n armies on the first f fronts is, by dynamic programming,

    C_f(n) = min_m  C_{f−1}(n − m) + c_f(m),

whatever the shape of the c_f: to put each army where it helps most is not always best, as two
armies may help where one does not. The smaller of p_f and 1 − p_f is computed, so that no digit of
either is lost.

Error. Each cost has at most twice the relative error of its chance. All divisions whose sums are
within that of the least are looked for, and fractions decide among them.

Source: Bellman, "Dynamic programming" (1957), the allocation of a resource; the fronts are those of
sipolac's `fortify`, which places armies one by one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, exp, expm1, prod
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import (
    check_choice,
    parse_whole_number,
    put,
    row_of,
    short_repr,
    shown,
    whole_number,
)
from iacta.distribution import Probability
from iacta.errors import IllegalError, TooLargeError
from iacta.methods import find_kernel
from iacta.methods.kernel import Error, Floats, Kernel, Values
from iacta.odds.spread import (
    MOST_ARMIES,
    MOST_SPREADS,
    MOST_VALUES,
    OBJECTIVES,
    PAYOFFS,
    Objective,
    simple_spreads,
    spread_defenders,
    spread_value,
)
from iacta.odds.spread_values import (
    Spread,
    Whole,
    battles_up_to,
    compositions,
    error_of_values,
    every_value,
    kernel_model,
)
from iacta.rules.rules import Rules
from iacta.rules.stop import Stop, read_stop
from iacta.rules.variants import find_rules, rules_name

__all__ = [
    "SHAPES",
    "BestFronts",
    "Front",
    "FrontSpread",
    "Shape",
    "defend_fronts",
    "front_name",
    "parse_front",
]

Shape: TypeAlias = Literal["chain", "any", "end"]
Division: TypeAlias = tuple[int, ...]
Flags: TypeAlias = npt.NDArray[np.bool_]

SHAPES: tuple[Shape, ...] = ("chain", "any", "end")
MOST_STEPS = 2 * 10**9
MOST_NEAR = 1000
MOST_EXACT_STEPS = 3 * 10**5
LEAST_HELD = 1e-300


@dataclass(frozen=True, repr=False)
class Front:
    """A border of ours with the attackers that face it.

    attackers: armies of the one stack that attacks there, garrison included.
    territories: how many territories the front has.
    shape: `"chain"` if they are in a row, and it falls when the stack has crossed them all from
        either end; `"end"` if they are in a row that the stack must cross from the first territory
        on; `"any"` if they are side by side, and it falls when the stack has taken any of them.
    rules: the rules of its battles, `Rules` or a name; `None` for those of the other fronts. Their
        garrison does not count.
    held: the armies that are on each territory already and stay there; empty for none.

    >>> Front(15, 3), Front(8, rules="capital")
    (Front(15, territories=3), Front(8, rules=Rules(defence=Dice((6, 6, 6)))))
    """

    attackers: int
    territories: int = 1
    shape: Shape = "chain"
    rules: Rules | str | None = None
    held: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        put(self, "attackers", whole_number(self.attackers, "attackers", least=1))
        put(self, "territories", whole_number(self.territories, "territories", least=1))
        check_choice(self.shape, SHAPES, "shape")
        put(self, "rules", None if self.rules is None else find_rules(self.rules))
        held = tuple(whole_number(n, "held") for n in row_of(self.held, "held", "armies"))
        if held and len(held) != self.territories:
            raise IllegalError(
                f"held must have one number for each of {shown(self.territories)} territories, "
                f"got {shown(held)}"
            )
        put(self, "held", held)

    @property
    def least(self) -> Spread:
        """The fewest armies that can be on each territory: those held, and at least one."""
        return tuple(max(n, 1) for n in self.held) or (1,) * self.territories

    def __repr__(self) -> str:
        return short_repr(self, first="attackers")


class FrontSpread(NamedTuple):
    """The armies on one front.

    front: the front.
    spread: the armies on its territories, held ones included, those of a chain from one end to the
        other.
    value: the chance that the front falls, or the number of its territories that the attackers are
        expected to take.
    """

    front: Front
    spread: Spread
    value: Probability


@dataclass(frozen=True)
class BestFronts:
    """The best division of armies among fronts, and what it leaves the attackers.

    fronts: the armies on each front.
    value: the chance that any front falls, or the number of territories that the attackers are
        expected to take on all fronts.
    is_exact: whether it is proven that no other division is better; else floats cannot distinguish
        it from some others.
    """

    fronts: tuple[FrontSpread, ...]
    value: Probability
    is_exact: bool


def parse_front(text: str) -> Front:
    """Return the front written as ATTACKERS/HELD/HELD...:TERRITORIES:RULES, or with less than that.

    >>> parse_front("15:3"), parse_front("8"), parse_front("8:any2")
    (Front(15, territories=3), Front(8), Front(8, territories=2, shape='any'))
    >>> parse_front("20/8/3/2:end")
    Front(20, territories=3, shape='end', held=(8, 3, 2))
    >>> parse_front("8:1:capital").rules == find_rules("capital")
    True
    """
    stacks, colon, rest = text.partition(":")
    count, named, name = rest.partition(":")
    shape: Shape = next((each for each in SHAPES if count.startswith(each)), "chain")
    number = count.removeprefix(shape)
    attackers, *held = stacks.split("/")
    return Front(
        parse_whole_number(attackers, "attackers", least=1),
        len(held) or 1
        if not number and (held or not colon)
        else parse_whole_number(number, "territories", least=1),
        shape,
        find_rules(name) if named else None,
        tuple(parse_whole_number(each, "held") for each in held),
    )


def front_name(front: Front) -> str:
    """Return the text that `parse_front` reads.

    >>> front_name(Front(8, 2, "any")), front_name(Front(8, rules="capital"))
    ('8:any2', '8:1:capital')
    """
    rules = "" if front.rules is None else f":{rules_name(find_rules(front.rules))}"
    stacks = "/".join(map(str, (front.attackers, *front.held)))
    if front.territories == 1 and not rules:
        return stacks
    return f"{stacks}:{front.shape * (front.shape != 'chain')}{front.territories}{rules}"


def defend_fronts(
    armies: int,
    fronts: Sequence[Front],
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    objective: Objective = "break through",
    stop: Stop | None = None,
    exact: bool = False,
) -> BestFronts:
    """Return how to divide armies among fronts that are attacked independently of each other.

    armies: armies to divide, besides those that the fronts hold already; each territory that
        holds none gets at least one.
    fronts: the fronts, each a `Front`, or the number of attackers before a single territory.
    rules: `Rules`, or the name of a rule set, for fronts without rules of their own.
    garrison: armies that must stay behind on each territory; `None` keeps what the rules say.
    objective: what the defence minimises: `"break through"`, the chance that any front falls; or
        `"territories"`, the expected number of territories lost. The attackers of a chain want
        most of it, as `spread_defenders` says.
    stop: when the attackers stop a battle, and with it their attack.
    exact: whether to return the values as fractions.

    Each front has one stack, which attacks only there. Before a chain it plays as for
    `spread_defenders`, or from the first territory on. Where territories are side by side, it
    attacks the one that it takes most likely, and no other after it.

    All divisions of the armies are compared, by dynamic programming, in floats with a proven bound,
    and in fractions where these cannot tell. `is_exact` is False where more than a thousand
    divisions, or too large ones, are too nearly equal, and where floats cannot tell them apart
    under rules without fractions. Of divisions that are equal, one is returned.

    Refused are fewer armies than territories, rules under which armies grow, more than 10,000
    armies, and a chain of two territories or more with more than 2 million spreads, or more than 50
    million when multiplied by its attackers.

    >>> best = defend_fronts(20, [Front(15, 3), Front(8)])
    >>> [each.spread for each in best.fronts], round(best.value, 4)
    ([(4, 2, 6), (8,)], 0.7885)
    >>> best = defend_fronts(24, [15, Front(8, 2, "any")], objective="territories")
    >>> [each.spread for each in best.fronts], round(best.value, 4)
    ([(22,), (1, 1)], 1.1802)

    Source: `iacta.odds.fronts`.
    """
    total = whole_number(armies, "armies", least=1, most=MOST_ARMIES)
    given = row_of(fronts, "fronts", "fronts")
    if not given:
        raise IllegalError("missing fronts")
    check_choice(objective, OBJECTIVES, "objective")
    check_choice(exact, (True, False), "exact")
    stops, common = read_stop(stop), find_rules(rules, garrison)
    asked = [_Asked.of(each, common, stops, objective, exact) for each in given]
    empty = sum(sum(each.front.least) - sum(each.front.held) for each in asked)
    if total < empty:
        raise IllegalError(
            f"armies must be at least one for each of {shown(empty)} territories without any, "
            f"got {shown(total)}"
        )
    curves = [each.curve(total - empty + sum(each.front.least)) for each in asked]
    total += sum(sum(each.front.held) for each in asked)
    if total > MOST_ARMIES:
        raise TooLargeError(f"armies must be at most {MOST_ARMIES} in all, got {shown(total)}")
    best, is_exact = _best_division(asked, curves, total, objective)
    spreads = [each.spread(n) for each, n in zip(asked, best, strict=True)]
    if exact:
        found = [each.exact_value(spread) for each, spread in zip(asked, spreads, strict=True)]
        value: Probability = _exact_total(found, objective)
        values: list[Probability] = [*found]
    else:
        values = [float(curve.taken[n]) for curve, n in zip(curves, best, strict=True)]
        costs = sum(float(curve.cost(objective)[n]) for curve, n in zip(curves, best, strict=True))
        value = costs if objective == "territories" else -expm1(-costs)
    return BestFronts(
        tuple(
            FrontSpread(each.front, spread, value)
            for each, spread, value in zip(asked, spreads, values, strict=True)
        ),
        value,
        is_exact,
    )


class _Curve(NamedTuple):
    """What the attackers of a front achieve against 0, 1, 2 ... armies.

    taken: the chance that it falls, or the expected number of territories taken.
    missing: what they miss; the smaller of the two has its digits.
    error: a bound on the error of the smaller.
    """

    taken: Floats
    missing: Floats
    error: Error

    def cost(self, objective: Objective) -> Floats:
        """Return c_f."""
        if objective == "territories":
            return self.taken
        held = np.maximum(self.missing, LEAST_HELD)
        costs = np.where(self.taken <= 0.5, -np.log1p(-np.minimum(self.taken, 0.5)), -np.log(held))
        return np.where(np.isinf(self.taken), np.inf, costs)


class _Asked(NamedTuple):
    """One front, and what is asked of it."""

    front: Front
    rules: Rules
    stop: Stop
    objective: Objective

    @classmethod
    def of(
        cls, given: object, rules: Rules, stop: Stop, objective: Objective, exact: bool
    ) -> "_Asked":
        front = given if isinstance(given, Front) else Front(whole_number(given, "fronts", least=1))
        own = rules if front.rules is None else find_rules(front.rules, rules.garrison)
        if own.mode.grows:
            raise own.mode.unfit("to divide armies among fronts")
        if front.attackers > MOST_ARMIES:
            raise TooLargeError(
                f"attackers must be at most {MOST_ARMIES}, got {shown(front.attackers)}"
            )
        find_kernel(own, stop, exact=exact).refuse(1, 1)
        return cls(front, own, stop, objective)

    @property
    def is_chain(self) -> bool:
        """Whether the territories are in a row, of at least two."""
        return self.front.shape != "any" and self.front.territories > 1

    @property
    def is_free(self) -> bool:
        """Whether no territory holds more than it must, and a chain may be crossed either way."""
        return self.front.shape != "end" and max(self.front.least) == 1

    def can_be(self, spreads: Whole) -> Flags:
        """Return for each row whether no territory has fewer armies than it holds."""
        return np.asarray((spreads >= self.front.least).all(axis=1))

    @property
    def able(self) -> int:
        """The attackers able to attack, 0 or less for none."""
        return self.front.attackers - self.rules.garrison

    def kernel(self, *, exact: bool = False) -> Kernel:
        """Return the kernel of every battle."""
        return find_kernel(self.rules, self.stop, exact=exact)

    def curve(self, most: int) -> _Curve:
        """Return what the attackers achieve against up to this many armies."""
        return self._chain(most) if self.is_chain else self._side_by_side(most)

    def _chain(self, most: int) -> _Curve:
        attackers, length = self.front.attackers, self.front.territories
        spreads = comb(most, length)
        if spreads > MOST_SPREADS or spreads * (attackers + 1) > MOST_VALUES:
            raise TooLargeError(
                f"a chain must have at most {MOST_SPREADS:.0e} spreads, and {MOST_VALUES:.0e} "
                f"multiplied by its attackers, got {shown(front_name(self.front))} "
                f"with up to {shown(most)} armies"
            )
        kernel, payoff = self.kernel(), PAYOFFS[self.objective](length)
        whole = float(payoff.values[-1])
        taken, missing = np.full(most + 1, np.inf), np.full(most + 1, -np.inf)
        battles = battles_up_to(attackers, most - length + 1, kernel, self.rules.garrison)
        one_end = self.front.shape == "end"
        for n in range(sum(self.front.least), most + 1):
            taken[n], missing[n] = 0.0, whole
            if self.able > 0:
                can_be = self.can_be(compositions(n, length))
                missed = payoff.complement()
                values = every_value(n, attackers, payoff, battles, from_first=one_end)
                others = every_value(n, attackers, missed, battles, from_first=one_end)
                taken[n], missing[n] = values[can_be].min(), others[can_be].max()
        return _Curve(taken, missing, error_of_values(attackers, most, length, payoff, kernel))

    def _side_by_side(self, most: int) -> _Curve:
        taken, missing = self._territory(most)
        each = np.array([taken, missing])
        first, *others = (_from(each, held) for held in self.front.least)
        taken, missing = first
        for count, one in enumerate(others, start=2):
            if count * (most + 1) ** 2 > MOST_STEPS:
                raise TooLargeError(
                    "territories side by side and armies must be fewer, got "
                    f"{shown(front_name(self.front))} with up to {shown(most)} armies"
                )
            taken, missing = _weakest(one, np.array([taken, missing]), count)
        kernel, able = self.kernel(), max(self.able, 1)
        return _Curve(taken, missing, kernel.by("table", able, most).error(able, most))

    def _territory(self, most: int) -> tuple[Floats, Floats]:
        """Return the chances that 1, 2 ... armies on one territory fall, and that they hold."""
        kernel, able = self.kernel(), max(self.able, 0)
        if able:
            kernel.by("table", able, most).refuse(able, most)
        taken, missing = np.zeros(most + 1), np.ones(most + 1)
        if able:
            for won, chances in ((1, taken), (0, missing)):
                values = Values(np.full(able + 1, won), np.full(most + 1, 1 - won))
                chances[1:] = [row[able] for row in kernel.backward(values)]
        taken = np.minimum(taken, 1.0)
        taken[0], missing[0] = np.inf, -np.inf
        return taken, missing

    def spread(self, armies: int) -> Spread:
        """Return the best spread of this many armies over the front."""
        front = self.front
        if not self.is_free:
            return self._by_chain(armies) if self.is_chain else next(self._by_weakness(armies))
        if self.is_chain:
            best = spread_defenders(
                front.attackers,
                armies,
                front.territories,
                self.rules,
                objective=self.objective,
                stop=self.stop,
            )
            return best.spreads[0]
        taken, _ = self._territory(armies)
        even = simple_spreads(armies, front.territories)["even"]
        found = [even]
        if not (np.diff(taken[1:]) <= 0).all():  # some rules make one army more a weakness
            found += map(tuple, map(sorted, self._by_weakness(armies)))
        return min(found, key=lambda each: max(taken[[*each]]))

    def _by_weakness(self, armies: int) -> Iterator[Spread]:
        """Yield a spread over territories side by side whose weakest falls least likely."""
        taken = np.array(self._territory(armies))
        first, *others = (_from(taken, held)[0] for held in self.front.least)
        best, chosen = first, []
        for one in others:
            larger = [np.maximum(best[n::-1], one[: n + 1]) for n in range(armies + 1)]
            chosen.append([int(np.argmin(row)) for row in larger])
            best = np.array([row.min() for row in larger])
        rest, spread = armies, []
        for row in reversed(chosen):
            spread.append(row[rest])
            rest -= row[rest]
        yield (rest, *reversed(spread))

    def _by_chain(self, armies: int) -> Spread:
        """Return the best spread over a chain that holds armies, or is crossed from one end."""
        front, length = self.front, self.front.territories
        spreads = compositions(armies, length)
        payoff, one_end = PAYOFFS[self.objective](length), front.shape == "end"
        can_be = self.can_be(spreads)
        spreads = spreads[can_be]
        if self.able <= 0:
            return min(map(tuple, spreads.tolist()), key=_unevenness)
        battles = battles_up_to(front.attackers, armies, self.kernel(), self.rules.garrison)
        values = every_value(armies, front.attackers, payoff, battles, from_first=one_end)[can_be]
        least = values.min()
        error = error_of_values(front.attackers, armies, length, payoff, self.kernel())
        near = values <= least * (1 + 3 * error.relative) + 2 * error.absolute
        rows = list(map(tuple, spreads[near].tolist()))
        steps = len(rows) * armies * front.attackers
        if len(rows) == 1 or self.rules.mode.inexact or steps > MOST_EXACT_STEPS:
            return tuple(spreads[int(np.argmin(values))].tolist())
        exact = {row: self.exact_value(row) for row in rows}
        return min(rows, key=lambda row: (exact[row], _unevenness(row)))

    def exact_value(self, spread: Spread) -> Fraction:
        """Return what the attackers achieve against a spread."""
        if self.is_chain and self.front.shape == "end":
            payoff = PAYOFFS[self.objective](self.front.territories)
            kernel = self.kernel(exact=True)
            model = kernel_model(self.front.attackers, payoff, kernel, self.rules.garrison)
            return Fraction(model.value(spread, from_first=True))
        if self.is_chain:
            value = spread_value(
                self.front.attackers,
                spread,
                self.rules,
                objective=self.objective,
                stop=self.stop,
                exact=True,
            )
            return Fraction(value)
        kernel = self.kernel(exact=True)
        return max(Fraction(kernel.win_probability(self.able, d)) for d in set(spread))


def _from(curve: Floats, least: int) -> Floats:
    """Return the chances to fall, and to hold, of a territory that cannot have fewer armies."""
    limited = curve.copy()
    limited[:, :least] = [[np.inf], [-np.inf]]
    return limited


def _weakest(one: Floats, several: Floats, count: int) -> Floats:
    """Return the curves of one territory more: what falls most likely of them, at best.

    one, several: the chances to fall, and to hold, of one territory and of those before.
    count: how many there are then.
    """
    most = one.shape[1] - 1
    found = np.array([np.full(most + 1, np.inf), np.full(most + 1, -np.inf)])
    for n in range(count, most + 1):
        here, there = one[:, 1 : n - count + 2], several[:, n - 1 : count - 2 : -1]
        found[0, n] = np.maximum(here[0], there[0]).min()
        found[1, n] = np.minimum(here[1], there[1]).max()
    return found


def _best_division(
    asked: Sequence[_Asked], curves: Sequence[_Curve], armies: int, objective: Objective
) -> tuple[Division, bool]:
    """Return the armies on each front, and whether no other division is proven to be better."""
    costs = [curve.cost(objective) for curve in curves]
    least = [np.where(np.arange(armies + 1) > 0, np.inf, 0.0)]
    for cost in costs:
        least.append(_least_sums(least[-1], cost, armies))
    best = float(least[-1][armies])
    relative = 4 * max(curve.error.relative + 1e-15 for curve in curves) * len(curves)
    # An absolute error of a chance weighs more in its logarithm, the less likely the front holds.
    weight = exp(min(best, 600.0)) if objective == "break through" else 1.0
    absolute = 4 * sum(curve.error.absolute for curve in curves) * weight
    most = best * (1 + relative) + absolute
    near = list(_divisions(costs, least, armies, most))
    best_near = min(near[:MOST_NEAR], key=lambda each: _sum(costs, each))
    different = {_key(asked, each): each for each in reversed(near)}
    if len(different) == 1:
        return min(near, key=_unevenness), True
    inexact = any(each.rules.mode.inexact for each in asked)
    steps = sum(
        n * each.front.attackers
        for one in different.values()
        for each, n in zip(asked, one, strict=True)
    )
    if inexact or len(near) > MOST_NEAR or steps > MOST_EXACT_STEPS:
        return best_near, False
    exact = {key: _exact_sum(asked, each, objective) for key, each in different.items()}
    least_value = min(exact.values())
    best_of = [each for each in near if exact[_key(asked, each)] == least_value]
    return min(best_of, key=_unevenness), True


def _least_sums(before: Floats, cost: Floats, armies: int) -> Floats:
    """Return C_f."""
    found = np.full(armies + 1, np.inf)
    for n in range(armies + 1):
        most = min(n, len(cost) - 1)
        found[n] = (before[n - most : n + 1][::-1] + cost[: most + 1]).min()
    return found


def _divisions(
    costs: Sequence[Floats], least: Sequence[Floats], armies: int, most: float
) -> Iterator[Division]:
    """Yield the divisions whose cost is at most `most`, and at most one past `MOST_NEAR`."""
    pending: list[tuple[int, float, Division]] = [(armies, 0.0, ())]
    count = 0
    while pending and count <= MOST_NEAR:
        rest, spent, division = pending.pop()
        if len(division) == len(costs):
            count += 1
            yield division
            continue
        place = len(costs) - len(division) - 1
        cost = costs[place][: rest + 1]
        sums = least[place][rest - np.arange(len(cost))] + cost + spent
        # Sums in another order may be rounded otherwise.
        near = np.flatnonzero(sums <= most * (1 + 1e-14)).tolist()
        pending += [(rest - n, spent + float(cost[n]), (n, *division)) for n in near]


def _sum(costs: Sequence[Floats], division: Division) -> float:
    return float(sum(cost[n] for cost, n in zip(costs, division, strict=True)))


def _key(asked: Sequence[_Asked], division: Division) -> tuple[tuple[str, int], ...]:
    """Return what equal divisions among equal fronts have in common."""
    return tuple(sorted((repr(each), n) for each, n in zip(asked, division, strict=True)))


def _unevenness(division: Division) -> tuple[int, ...]:
    return sum(n * n for n in division), *division


def _exact_sum(asked: Sequence[_Asked], division: Division, objective: Objective) -> Fraction:
    """Return the value of a division as a fraction."""
    values = [each.exact_value(each.spread(n)) for each, n in zip(asked, division, strict=True)]
    return _exact_total(values, objective)


def _exact_total(values: Sequence[Fraction], objective: Objective) -> Fraction:
    if objective == "territories":
        return sum(values, start=Fraction(0))
    return 1 - prod((1 - value for value in values), start=Fraction(1))
