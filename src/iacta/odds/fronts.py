"""The best division of armies among several fronts, each with its own attackers.

The fronts are attacked independently. Let p_f(n) be the chance that front f falls if its n armies
are spread in the best way. The probability that all fronts hold is Π_f (1 − p_f(n_f)). Therefore
the best division minimises the sum of the costs

    c_f(n) = −log(1 − p_f(n)).

With the objective `"territories"`, c_f(n) is instead the expected number of territories lost. By
dynamic programming, the minimum cost of n armies on the first f fronts is

    C_f(n) = min_m  C_{f−1}(n − m) + c_f(m).

This holds for any function c_f. Placing the armies greedily, one by one, is not always best: two
armies may help where a single army does not. The program computes both p_f and 1 − p_f, so that the
smaller number has full relative precision.

Error. Each cost has at most twice the relative error of its chance. The program enumerates all
divisions within this error of the minimum, and compares them with fractions.

Source: Bellman, "Dynamic programming" (1957), the allocation of a resource; the fronts are modelled
on sipolac's `fortify`, which places armies one by one.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, exp, expm1, prod
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from iacta.inputs.checks import check_choice, parse_int, quote, read_int, read_list, set_field
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.inputs.reprs import format_short_repr
from iacta.methods import choose_kernel
from iacta.methods.kernel import Error, Floats, Values
from iacta.odds.spread import (
    MAX_FRONT_ARMIES,
    MAX_SPREAD_VALUES,
    MAX_SPREADS,
    OBJECTIVES,
    AttackedChain,
    Objective,
    measure_unevenness,
    refuse_unfit,
    simple_spreads,
)
from iacta.odds.spread_values import Spread
from iacta.probability.distribution import Probability
from iacta.rules.rules import Rules
from iacta.rules.stop import StopRule, read_stop
from iacta.rules.variants import find_rules, rules_name

Shape: TypeAlias = Literal["chain", "any", "end"]
Division: TypeAlias = tuple[int, ...]

SHAPES: tuple[Shape, ...] = ("chain", "any", "end")
MAX_FRONT_STEPS = 2 * 10**9  # about half a minute of computation with floats
MAX_COMPARED_DIVISIONS = 1000  # the maximum number of divisions that are compared with fractions
MAX_EXACT_FRONT_STEPS = 3 * 10**5  # about half a minute of computation with fractions
MIN_HOLD_CHANCE = 1e-300


@dataclass(frozen=True, repr=False)
class Front:
    """Territories of the defender that one stack can attack.

    attackers: armies of the attacking stack, garrison included.
    territories: the number of territories of the front.
    shape: `"chain"` for territories in a row: the front falls when the stack has crossed the whole
        row, from either end. `"end"` for a row that the stack must cross starting at the first
        territory. `"any"` for territories side by side: the front falls when the stack has
        conquered any of the territories.
    rules: the rules of the battles on this front, as `Rules` or as a name; `None` for the common
        rules of all fronts. Their garrison is ignored.
    held: the armies that already stand on each territory and cannot be moved; empty for no armies.

    >>> Front(15, 3), Front(8, rules="capital")
    (Front(15, territories=3), Front(8, rules=Rules(defence=Dice((6, 6, 6)))))
    """

    attackers: int
    territories: int = 1
    shape: Shape = "chain"
    rules: Rules | str | None = None
    held: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        set_field(self, "attackers", read_int(self.attackers, "attackers", minimum=1))
        set_field(self, "territories", read_int(self.territories, "territories", minimum=1))
        check_choice(self.shape, SHAPES, "shape")
        set_field(self, "rules", None if self.rules is None else find_rules(self.rules))
        held = tuple(read_int(n, "held") for n in read_list(self.held, "held", "armies"))
        if held and len(held) != self.territories:
            raise IllegalError(
                f"held must have one number for each of {quote(self.territories)} territories, "
                f"got {quote(held)}"
            )
        set_field(self, "held", held)

    @property
    def least(self) -> Spread:
        """The minimum number of armies on each territory: its held armies, but at least one."""
        return tuple(max(n, 1) for n in self.held) or (1,) * self.territories

    def __repr__(self) -> str:
        return format_short_repr(self, first="attackers")


class FrontSpread(NamedTuple):
    """The armies on one front, and the value of the front to the attackers.

    front: the front on which the armies stand.
    spread: the armies on each territory, held armies included. In a chain, the armies are listed
        from one end to the other.
    value: the chance that the front falls, or the expected number of territories that the attackers
        conquer on this front.
    """

    front: Front
    spread: Spread
    value: Probability


@dataclass(frozen=True)
class BestFronts:
    """The best division of armies among fronts, and its value to the attackers.

    fronts: the armies on each front.
    value: the chance that at least one front falls, or the expected number of territories that the
        attackers conquer on all fronts.
    is_exact: whether this division is proven to be the best; otherwise floats cannot distinguish it
        from other divisions.
    """

    fronts: tuple[FrontSpread, ...]
    value: Probability
    is_exact: bool


def parse_front(text: str) -> Front:
    """Parse a front written as ATTACKERS/HELD/HELD...:TERRITORIES:RULES.

    Only ATTACKERS is required. TERRITORIES may start with `any` or `end`.

    >>> parse_front("15:3"), parse_front("8"), parse_front("8:any2")
    (Front(15, territories=3), Front(8), Front(8, territories=2, shape='any'))
    >>> parse_front("20/8/3/2:end")
    Front(20, territories=3, shape='end', held=(8, 3, 2))
    >>> parse_front("8:1:capital").rules == find_rules("capital")
    True
    """
    stacks, colon, rest = text.partition(":")
    count, named, name = rest.partition(":")
    shape: Shape = next((shape for shape in SHAPES if count.startswith(shape)), "chain")
    number = count.removeprefix(shape)
    attackers, *held = stacks.split("/")
    return Front(
        parse_int(attackers, "attackers", minimum=1),
        len(held) or 1
        if not number and (held or not colon)
        else parse_int(number, "territories", minimum=1),
        shape,
        find_rules(name) if named else None,
        tuple(parse_int(text, "held") for text in held),
    )


def format_front(front: Front) -> str:
    """Return a front as a string that `parse_front` reads.

    >>> format_front(Front(8, 2, "any")), format_front(Front(8, rules="capital"))
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
    stop: StopRule | None = None,
    exact: bool = False,
) -> BestFronts:
    """Return the best division of armies among fronts that are attacked independently.

    armies: the armies to divide, in addition to the armies that the fronts already hold. Each empty
        territory gets at least one army.
    fronts: the fronts, each as a `Front`, or as the number of attackers beside a single territory.
    rules: `Rules`, or the name of a rule set, for fronts without their own rules.
    garrison: armies that must stay behind on each territory; `None` for the garrison of the rules.
    objective: the value that the defence minimises: `"break through"` for the chance that at least
        one front falls, or `"territories"` for the expected number of territories lost. The
        attackers of a chain maximise this value, as in `spread_defenders`.
    stop: the rule by which the attackers stop a battle and their attack.
    exact: whether to return the values as fractions.

    Each front is attacked by one stack, which attacks no other front. The stack attacks a chain as
    in `spread_defenders`, or starting at the first territory. Of territories side by side, it
    attacks only the territory that it is most likely to conquer.

    Dynamic programming compares all divisions, with floats if their proven error bound allows it,
    otherwise with fractions. `is_exact` is false if floats cannot distinguish more than a thousand
    divisions, or divisions for which fractions would take too long or are not available. If several
    divisions are equally good, the result is the most even division.

    Raises `IactaError` for fewer armies than territories, for rules under which armies can grow,
    for more than 10,000 armies, and for a chain of at least two territories with more than 2
    million spreads, or with more than 50 million spreads times attackers.

    >>> best = defend_fronts(20, [Front(15, 3), Front(8)])
    >>> [each.spread for each in best.fronts], round(best.value, 4)
    ([(4, 2, 6), (8,)], 0.7885)
    >>> best = defend_fronts(24, [15, Front(8, 2, "any")], objective="territories")
    >>> [each.spread for each in best.fronts], round(best.value, 4)
    ([(22,), (1, 1)], 1.1802)

    Source: `iacta.odds.fronts`.
    """
    total = read_int(armies, "armies", minimum=1, maximum=MAX_FRONT_ARMIES)
    given = read_list(fronts, "fronts", "fronts, such as [15, 8]")
    if not given:
        raise IllegalError("missing fronts", parameter="fronts")
    check_choice(objective, OBJECTIVES, "objective")
    check_choice(exact, (True, False), "exact")
    stops, common = read_stop(stop), find_rules(rules, garrison)
    models = [_read_front(front, common, stops, objective, exact) for front in given]
    empty = sum(sum(model.front.least) - sum(model.front.held) for model in models)
    if total < empty:
        raise IllegalError(
            f"you have {quote(empty)} empty {'territory' if empty == 1 else 'territories'}: "
            f"enter at least {quote(empty)} {'army' if empty == 1 else 'armies'}",
            parameter="armies",
        )
    curves = [model.compute_curve(total - empty + sum(model.front.least)) for model in models]
    total += sum(sum(model.front.held) for model in models)
    if total > MAX_FRONT_ARMIES:
        raise TooLargeError(
            f"armies must be at most {MAX_FRONT_ARMIES} in all, got {quote(total)}",
            parameter="armies",
        )
    loss = _LOSSES[objective]
    costs = [np.full(total + 1, np.inf) for _ in curves]
    for cost, curve in zip(costs, curves, strict=True):
        cost[: len(curve.taken)] = loss.cost(curve)
    best, is_exact = _choose_best_division(models, curves, costs, loss)
    spreads = [model.choose_best_spread(n) for model, n in zip(models, best, strict=True)]
    value: Probability
    values: Sequence[Probability]
    if exact:
        fractions = [
            model.compute_exact_value(spread) for model, spread in zip(models, spreads, strict=True)
        ]
        value, values = loss.exact_total(fractions), fractions
    else:
        values = [float(curve.taken[n]) for curve, n in zip(curves, best, strict=True)]
        value = loss.total(_sum_costs(costs, best))
    rows = zip([model.front for model in models], spreads, values, strict=True)
    return BestFronts(tuple(FrontSpread(*parts) for parts in rows), value, is_exact)


class _Curve(NamedTuple):
    """The value of a front to its attackers, for 0, 1, 2, ... defending armies.

    taken: the chance that the front falls, or the expected number of conquered territories.
    missing: the largest possible value minus `taken`, computed separately.
    error: a bound on the error of the smaller of `taken` and `missing`.
    """

    taken: Floats
    missing: Floats
    error: Error


class _Loss(NamedTuple):
    """Functions that convert between the values of fronts and their additive costs c_f.

    cost: a function from the values of a front to its costs.
    total: a function from the sum of the costs to the value of all fronts.
    weight: a function from a cost to the factor between errors of costs and errors of values.
    exact_total: a function from the values of the fronts to the value of all fronts.
    """

    cost: Callable[[_Curve], Floats]
    total: Callable[[float], float]
    weight: Callable[[float], float]
    exact_total: Callable[[Sequence[Fraction]], Fraction]


def _compute_fall_costs(curve: _Curve) -> Floats:
    held = np.maximum(curve.missing, MIN_HOLD_CHANCE)
    falls = -np.log1p(-np.minimum(curve.taken, 0.5))
    costs = np.where(curve.taken <= 0.5, falls, -np.log(held))
    return np.where(np.isinf(curve.taken), np.inf, costs)


_LOSSES: dict[Objective, _Loss] = {
    "break through": _Loss(
        cost=_compute_fall_costs,
        total=lambda cost: -expm1(-cost),
        weight=lambda cost: exp(min(cost, 600.0)),  # 1 / P(all fronts hold)
        exact_total=lambda values: 1 - prod((1 - value for value in values), start=Fraction(1)),
    ),
    "territories": _Loss(
        cost=lambda curve: curve.taken,
        total=float,
        weight=lambda _: 1.0,
        exact_total=lambda values: sum(values, start=Fraction(0)),
    ),
}


def _read_front(
    given: object, rules: Rules, stop: StopRule, objective: Objective, exact: bool
) -> "_Row | _Group":
    front = given if isinstance(given, Front) else Front(read_int(given, "fronts", minimum=1))
    own = rules if front.rules is None else find_rules(front.rules, rules.garrison)
    refuse_unfit(own, stop, exact, "to divide armies among fronts")
    if front.attackers > MAX_FRONT_ARMIES:
        raise TooLargeError(
            f"attackers must be at most {MAX_FRONT_ARMIES}, got {quote(front.attackers)}",
            parameter="attackers",
        )
    if front.shape == "any" or front.territories == 1:
        return _Group(front, own, stop)
    from_first = front.shape == "end"
    chain = AttackedChain(front.attackers, own, stop, objective, front.least, from_first)
    return _Row(front, own, chain)


class _Row(NamedTuple):
    """A front of territories in a row."""

    front: Front
    rules: Rules
    chain: AttackedChain

    def compute_curve(self, maximum: int) -> _Curve:
        chain = self.chain
        if not chain.is_small(comb(maximum, len(chain.least))):
            raise TooLargeError(
                f"a chain must have at most {MAX_SPREADS:.0e} spreads, and at most "
                f"{MAX_SPREAD_VALUES:.0e} spreads times attackers, "
                f"got {quote(format_front(self.front))} with up to {quote(maximum)} armies"
            )
        taken, missing = np.full(maximum + 1, np.inf), np.full(maximum + 1, -np.inf)
        battles, payoff = chain.tabulate_battles(maximum), chain.payoff
        for n in range(sum(chain.least), maximum + 1):
            taken[n] = chain.compute_all_values(n, payoff, battles)[1].min()
            missing[n] = chain.compute_all_values(n, payoff.complement(), battles)[1].max()
        return _Curve(taken, missing, chain.bound_error(maximum))

    def choose_best_spread(self, armies: int) -> Spread:
        return self.chain.find_best(armies).spreads[0]

    def compute_exact_value(self, spread: Spread) -> Fraction:
        return Fraction(self.chain.compute_value(spread, exact=True))


class _Group(NamedTuple):
    """A front of territories side by side, or of a single territory."""

    front: Front
    rules: Rules
    stop: StopRule

    def compute_curve(self, maximum: int) -> _Curve:
        if (
            len(self.front.least) > 1
            and len(self.front.least) * (maximum + 1) ** 2 > MAX_FRONT_STEPS
        ):
            raise TooLargeError(
                "the front must have fewer territories side by side, or fewer armies, got "
                f"{quote(format_front(self.front))} with up to {quote(maximum)} armies"
            )
        falls, holds = self._compute_fall_and_hold_chances(maximum)
        taken, missing = self._compute_weakest(falls)[-1], -self._compute_weakest(-holds)[-1]
        able = max(self._able, 1)
        error = (
            choose_kernel(self.rules, self.stop)
            .for_question("table", able, maximum)
            .error(able, maximum)
        )
        return _Curve(taken, missing, error)

    def choose_best_spread(self, armies: int) -> Spread:
        """Return the spread in which the weakest territory is hardest to conquer."""
        falls, _ = self._compute_fall_and_hold_chances(armies)
        even = simple_spreads(armies, self.front.territories)["even"]
        is_free = max(self.front.least) == 1  # whether no held armies restrict the spread
        if is_free and (np.diff(falls[1:]) <= 0).all():
            return even
        # Held armies restrict the spread, or more armies can be weaker under these rules.
        rest, spread = armies, []
        costs, least = self._tabulate_costs(falls), self._compute_weakest(falls)
        for before, cost in zip(least[-2::-1], costs[:0:-1], strict=True):
            spread.append(int(np.argmin(np.maximum(before[rest::-1], cost[: rest + 1]))))
            rest -= spread[-1]
        whole = (rest, *reversed(spread))
        if is_free:
            return min(even, tuple(sorted(whole)), key=lambda spread: max(falls[[*spread]]))
        return whole

    def compute_exact_value(self, spread: Spread) -> Fraction:
        kernel = choose_kernel(self.rules, self.stop, exact=True)
        return max(Fraction(kernel.win_probability(self._able, d)) for d in set(spread))

    @property
    def _able(self) -> int:
        return max(self.front.attackers - self.rules.garrison, 0)

    def _compute_fall_and_hold_chances(self, maximum: int) -> tuple[Floats, Floats]:
        """Return the chances that a territory with n armies falls, and that it holds.

        Index n is for n armies, up to `maximum`. Every territory needs an army, so index 0 is the
        worst possible value: `inf` for the chance to fall, `-inf` for the chance to hold.
        """
        kernel, able = choose_kernel(self.rules, self.stop), self._able
        falls, holds = np.zeros(maximum + 1), np.ones(maximum + 1)
        if able:
            kernel.for_question("table", able, maximum).refuse(able, maximum)
            for won, chances in ((1, falls), (0, holds)):
                values = Values(np.full(able + 1, won), np.full(maximum + 1, 1 - won))
                chances[1:] = [row[able] for row in kernel.run_backward(values)]
        falls = np.minimum(falls, 1.0)
        falls[0], holds[0] = np.inf, -np.inf
        return falls, holds

    def _tabulate_costs(self, costs: Floats) -> list[Floats]:
        """Return the costs of each territory, with infinite costs below its minimum of armies."""
        numbers = np.arange(len(costs))
        return [np.where(numbers < least, np.inf, costs) for least in self.front.least]

    def _compute_weakest(self, costs: Floats) -> list[Floats]:
        """Return the minimax cost of the first 1, 2, ... territories: the lowest possible maximum.

        Each array has one entry for each number of armies on these territories.
        """
        return _compute_least_costs(self._tabulate_costs(costs), np.maximum)


def _compute_least_costs(
    costs: Sequence[Floats], join: Callable[[Floats, Floats], Floats]
) -> list[Floats]:
    """Return C_1, C_2, ..., as defined in the docstring of this module; `join` combines costs."""
    least = [costs[0]]
    for cost in costs[1:]:
        before = least[-1]
        least.append(np.array([join(before[n::-1], cost[: n + 1]).min() for n in range(len(cost))]))
    return least


def _choose_best_division(
    models: Sequence[_Row | _Group],
    curves: Sequence[_Curve],
    costs: Sequence[Floats],
    loss: _Loss,
) -> tuple[Division, bool]:
    """Return the armies on each front, and whether this division is proven to be the best."""
    least = _compute_least_costs(costs, np.add)
    best = float(least[-1][-1])
    relative = 4 * max(curve.error.relative + 1e-15 for curve in curves) * len(curves)
    absolute = 4 * sum(curve.error.absolute for curve in curves) * loss.weight(best)
    near = list(_list_divisions(costs, least, best * (1 + relative) + absolute))
    keys = [frozenset(Counter(zip(models, division, strict=True)).items()) for division in near]
    # Divisions that differ only in the order of equal fronts have the same key.
    different = dict(zip(keys, near, strict=True))
    if len(different) == 1:
        return min(near, key=measure_unevenness), True
    steps = sum(
        n * model.front.attackers
        for one in different.values()
        for model, n in zip(models, one, strict=True)
    )
    inexact = any(model.rules.mode.inexact for model in models)
    if inexact or len(near) > MAX_COMPARED_DIVISIONS or steps > MAX_EXACT_FRONT_STEPS:
        return min(
            near[:MAX_COMPARED_DIVISIONS], key=lambda division: _sum_costs(costs, division)
        ), False
    exact = {
        key: loss.exact_total(
            [
                model.compute_exact_value(model.choose_best_spread(n))
                for model, n in zip(models, one, strict=True)
            ]
        )
        for key, one in different.items()
    }
    least_value = min(exact.values())
    equal = [
        division for division, key in zip(near, keys, strict=True) if exact[key] == least_value
    ]
    return min(equal, key=measure_unevenness), True


def _list_divisions(
    costs: Sequence[Floats], minimum: Sequence[Floats], maximum: float
) -> Iterator[Division]:
    """Yield up to `MAX_COMPARED_DIVISIONS` + 1 divisions with a cost of at most `maximum`.

    costs: the costs c_f of each front.
    minimum: the minimum costs C_1, C_2, ..., as returned by `_compute_least_costs`.
    """
    pending: list[tuple[int, float, Division]] = [(len(costs[0]) - 1, 0.0, ())]
    count = 0
    while pending and count <= MAX_COMPARED_DIVISIONS:
        rest, spent, division = pending.pop()
        index = len(costs) - len(division) - 1
        if index == 0:
            count += 1
            yield (rest, *division)
            continue
        cost = costs[index][: rest + 1]
        sums = minimum[index - 1][rest::-1] + cost + spent
        # The tolerance allows for rounding differences between sums in different orders.
        near = np.flatnonzero(sums <= maximum * (1 + 1e-14)).tolist()
        pending += [(rest - n, spent + float(cost[n]), (n, *division)) for n in near]


def _sum_costs(costs: Sequence[Floats], division: Division) -> float:
    return sum(float(cost[n]) for cost, n in zip(costs, division, strict=True))
