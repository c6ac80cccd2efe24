"""Armies needed: the fewest attackers or defenders that succeed with a wanted chance."""

from __future__ import annotations  # signatures then show the names of types

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from fractions import Fraction
from functools import partial
from math import ceil, sqrt
from typing import Any, NamedTuple, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from iacta.battle.campaign import compute_way_chances, compute_way_values, refuse_tables
from iacta.battle.territory import Stage, Territories, read_territories, stages
from iacta.inputs.checks import MAX_ROW_LENGTH, broadcast_arrays, quote, read_int, read_int_array
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.methods import choose_kernel
from iacta.methods.kernel import Chances, Error, Kernel, Values
from iacta.odds.arrays import Armies, Army, RuleSets, Whole, broadcast_rules
from iacta.odds.search import (
    Curve,
    compare_chance,
    find_smallest,
    find_smallest_in_tables,
    is_reached_by_floats,
)
from iacta.probability.chances import Chance, read_chance, read_chances
from iacta.probability.distribution import Probability
from iacta.rules.roll import Roll, refuse_many_rolls
from iacta.rules.rules import Rules
from iacta.rules.stop import StopRule, read_stop
from iacta.rules.variants import find_rules

Chances1D: TypeAlias = npt.NDArray[Any]

MAX_TABLE_ARMIES = 2_000
MAX_FRACTION_LENGTH = 40  # the maximum number of characters of a fraction in an error message
GUESS_FACTOR = 1.05  # the safety factor for the size of the first table
MAX_ARMIES_EXACTLY = 20_000  # the limit for both sides together; fractions then take a few seconds
MIN_SINGLE_CHANCE = Fraction(1, 10**140)  # the error bound of a battle holds down to 1e-150
EVEN = Fraction(1, 2)


class Target(NamedTuple):
    """A chance to reach against a number of armies.

    others: the armies of the other side.
    chance: the wanted chance.
    """

    others: int
    chance: Fraction


class _SearchOptions(TypedDict, total=False):
    garrison: int | None
    stop: StopRule | None


class _Keeping(_SearchOptions, total=False):
    keep: int


@overload
def armies_needed(
    defenders: Army, chance: Chance, rules: Rules | str = "classic", **options: Unpack[_Keeping]
) -> int: ...
@overload
def armies_needed(
    defenders: Armies, chance: object, rules: RuleSets = "classic", **options: Unpack[_Keeping]
) -> Whole: ...
def armies_needed(
    defenders: Armies,
    chance: object,
    rules: RuleSets = "classic",
    *,
    garrison: int | None = None,
    keep: int = 0,
    stop: StopRule | None = None,
) -> int | Whole:
    """Return the fewest attackers, garrison included, that win with at least a wanted chance.

    defenders: armies on the defended territory; a whole number, or an array of whole numbers.
    chance: the wanted chance, between 0 and 1, as a float, fraction, decimal or string such as
        `"95%"`; or an array of chances, which is broadcast. A float means its decimal
        representation: 0.95 is 19/20.
    rules: `Rules`, the name of a rule set, or an array of these, which is also broadcast.
    garrison: armies that must stay behind; `None` for the garrison of the rules, usually 1.
    keep: the number of armies that must survive and move into the territory.
    stop: a `StopRule`, or `None` to fight to the end.

    Returns an `int`, or an array of the broadcast shape. The result is exact: chances are compared
    as floats only if the proven error bound allows it, otherwise as fractions. If the defender sees
    the attack roll first and `keep` is above 0, the result is exact provided that the defender's
    best replies, which are computed with floats, are correct.

    Raises `IactaError` for chances that are not between 0 and 1, and for chances that no number of
    attackers reaches. Under balanced blitz a battle can be certain. Therefore a chance of 1 is
    allowed there, and if `keep` is above 0, chances are compared only as floats.

    >>> armies_needed(10, 0.95)
    19
    >>> armies_needed([1, 2, 3], [["5%"], ["95%"]], "capital").tolist()
    [[2, 2, 3], [5, 8, 14]]
    >>> armies_needed(10, 0.95, ["classic", "capital"]).tolist()
    [19, 34]
    >>> armies_needed(10, 0.95, keep=5)
    23
    >>> armies_needed(10, 0.5, stop=StopRule(max_losses=10))
    11
    >>> armies_needed([10, 15, 20], "100%", "balanced blitz").tolist()
    [16, 21, 26]

    Source: Van Wijgerden, "Let slip the dice of war", where `keep` is called T.
    """
    return _compute_needed(
        defenders, chance, rules, attacking=True, garrison=garrison, keep=keep, stop=stop
    )


def armies_needed_for_campaign(
    territories: Territories,
    chance: Chance,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    keep: int = 0,
    stop: StopRule | None = None,
) -> int:
    """Return the fewest attackers, garrison included, that conquer all territories of a campaign.

    territories: the territories, in the format of `Campaign`.
    chance: the wanted chance, between 0 and 1, in the format of `armies_needed`.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind on each territory; `None` for the garrison of the rules.
    keep: the number of armies that must remain on the last territory at the end.
    stop: the rule by which the attackers stop, the same as for `Campaign`.

    The result is exact, and the exceptions are the same as for `armies_needed`. If any battle is a
    balanced blitz, chances are compared only as floats. If every battle is a balanced blitz, a
    chance of 1 is allowed. A defender who sees the attack roll first defends only their own
    territory, as in `Campaign`. With such a defender, the result is exact provided that the best
    replies, which are computed with floats, are correct.

    >>> armies_needed_for_campaign([22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1], "95%")
    82
    """
    way = _read_way(territories, find_rules(rules, garrison), stop, keep)
    for stage in way.stages:
        _refuse_growing(stage.rules)
    certain = all(kernel.certain for kernel in way.kernels)
    wanted = read_chance(chance, certain=certain)
    defended = [stage.defenders for stage in way.stages]
    _refuse_keep(way.keep, way.stages[-1].rules)
    if len(defended) == 1:
        target = Target(defended[0], wanted)
        able = _Search(way.kernels[0], True, way.keep).find_fewest_armies([target])[target]
        return able + way.stages[0].rules.garrison

    def tabulate(maximum: int, _: Sequence[None]) -> Iterator[tuple[None, Curve]]:
        error = way.bound_error(maximum)
        row = np.asarray(way.compute_chances(maximum), dtype=float)
        complement = partial(way.compute_chances, maximum, failing=True)
        yield None, Curve(row, error, complement, way.compute_fractions)

    def refuse(_: None, chance: Fraction) -> None:
        attained = certain or any(not stage.stop.is_reserve for stage in way.stages)
        _refuse_unreachable(way.compute_limit(), chance, attained, "attackers")

    most = way.estimate_armies(wanted)
    return find_smallest_in_tables({None: [wanted]}, tabulate, most, refuse)[None, wanted]


def win_probabilities_keeping(
    attackers: Sequence[int],
    territories: Territories,
    keep: int,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    stop: StopRule | None = None,
    exact: bool = False,
) -> list[Probability]:
    """Return the chances to conquer all territories with at least `keep` armies left at the end.

    attackers: the sizes of one or more stacks, garrison included. The result has one chance for
        each stack.
    territories, rules, garrison, stop: the same as for `Campaign`.
    keep: the number of armies that must remain on the last territory at the end.
    exact: whether to return fractions instead of floats.

    >>> win_probabilities_keeping([2, 3], [1], keep=2, exact=True)
    [Fraction(0, 1), Fraction(125, 216)]
    """
    counts = [read_int(number, "attackers", minimum=1) for number in attackers]
    way = _read_way(territories, find_rules(rules, garrison), stop, keep, exact=exact)
    kernel, defenders = way.kernels[0], way.stages[0].defenders
    if way.stages[-1].rules.limit_advance(way.keep) < way.keep:
        return [kernel.number(0)] * len(counts)
    most = max(counts) - way.stages[0].rules.garrison
    if len(way.stages) == 1 and (kernel.certain or _is_beyond_tables(kernel, most, defenders)):
        able = [count - way.stages[0].rules.garrison for count in counts]
        return [kernel.chances(number, defenders, way.keep).won for number in able]
    return compute_way_chances(way.stages, way.kernels, counts, way.keep)


@overload
def defenders_needed(
    attackers: Army,
    chance: Chance,
    rules: Rules | str = "classic",
    **options: Unpack[_SearchOptions],
) -> int: ...
@overload
def defenders_needed(
    attackers: Armies,
    chance: object,
    rules: RuleSets = "classic",
    **options: Unpack[_SearchOptions],
) -> Whole: ...
def defenders_needed(
    attackers: Armies,
    chance: object,
    rules: RuleSets = "classic",
    *,
    garrison: int | None = None,
    stop: StopRule | None = None,
) -> int | Whole:
    """Return the fewest defenders that hold their territory with at least a wanted chance.

    attackers: armies on the attacking territory, garrison included; a whole number, or an array of
        whole numbers.
    chance: the wanted chance, in the format of `armies_needed`, or an array of chances, which is
        broadcast.
    rules: `Rules`, the name of a rule set, or an array of these, which is also broadcast.
    garrison: armies that must stay behind; `None` for the garrison of the rules, usually 1.
    stop: a `StopRule`, or `None` to fight to the end.

    Returns an `int`, or an array of the broadcast shape. The result is exact: chances are compared
    as floats only if the proven error bound allows it, otherwise as fractions. Against more than
    2000 attackers, the search assumes that more defenders never have a smaller chance to hold.

    Raises `IactaError` for chances that are not between 0 and 1, and for chances that no number of
    defenders reaches. Under balanced blitz a battle can be certain, and a chance of 1 is allowed.

    >>> defenders_needed(12, 0.9)
    21
    >>> defenders_needed(12, "100%", "balanced blitz")
    19
    >>> defenders_needed([5, 10, 20], [["50%"], ["95%"]]).tolist()
    [[4, 10, 22], [11, 20, 36]]

    Source: the same computation as `armies_needed`, for the other side.
    """
    return _compute_needed(attackers, chance, rules, attacking=False, garrison=garrison, stop=stop)


@dataclass(frozen=True)
class BreakEvenLine:
    """A line fitted by least squares to the fewest attackers with an even chance.

    attackers: the fewest attackers with at least an even chance against 1, 2, ... defenders.
    intercept, slope: the coefficients of the line intercept + slope · defenders, in armies.
    """

    attackers: tuple[int, ...]
    intercept: float
    slope: float


def break_even_line(
    defenders: int, rules: Rules | str = "classic", *, garrison: int | None = None
) -> BreakEvenLine:
    """Fit a line to the fewest attackers with an even chance, as a function of the defenders.

    defenders: the largest number of defenders, at least 2.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind; `None` for the garrison of the rules, usually 1.

    The numbers of attackers are exact; the coefficients of the line are floats. The exceptions are
    the same as for `armies_needed`.

    >>> line = break_even_line(50, garrison=0)
    >>> line.attackers[14], line.attackers[24], line.attackers[34]
    (14, 23, 31)
    >>> round(line.intercept, 8), round(line.slope, 8)
    (1.22040816, 0.85253301)

    Source: Höhle's regression for up to 50 defenders, without a garrison.
    """
    count = np.arange(1, read_int(defenders, "defenders", minimum=2) + 1)
    attackers = armies_needed(count, EVEN, rules, garrison=garrison)
    slope, intercept = np.polyfit(count, attackers, 1)
    return BreakEvenLine(tuple(attackers.tolist()), float(intercept), float(slope))


def _compute_needed(
    others: Armies,
    chance: object,
    rules: RuleSets,
    *,
    attacking: bool,
    garrison: int | None,
    keep: int = 0,
    stop: StopRule | None,
) -> int | Whole:
    if isinstance(rules, list | tuple | np.ndarray):
        options = {"attacking": attacking, "garrison": garrison, "keep": keep, "stop": stop}
        return broadcast_rules(_compute_needed, rules, others, chance, **options)
    rules = find_rules(rules, garrison)
    _refuse_growing(rules)
    kernel = choose_kernel(rules, read_stop(stop))
    search = _Search(kernel, attacking, read_int(keep, "keep", minimum=0))
    _refuse_keep(search.keep, rules)
    numbers, wanted = broadcast_arrays(
        read_int_array(others, "defenders" if attacking else "attackers", minimum=1),
        read_chances(chance, certain=kernel.certain),
        maximum=MAX_ROW_LENGTH,
    )
    able = numbers if attacking else numbers - rules.garrison
    pairs = zip(able.reshape(-1).tolist(), wanted.reshape(-1).tolist(), strict=True)
    targets = list(map(Target._make, pairs))
    staying = rules.garrison if attacking else 0
    fewest = search.find_fewest_armies(dict.fromkeys(targets))
    needed = {target: n + staying for target, n in fewest.items()}
    if not numbers.ndim:
        return needed[targets[0]]
    try:
        return np.array([needed[target] for target in targets], dtype=np.int64).reshape(
            numbers.shape
        )
    except OverflowError:
        raise TooLargeError(f"{max(needed.values())} armies do not fit in an array") from None


def _refuse_growing(rules: Rules) -> None:
    if rules.mode.grows:
        raise rules.mode.make_unfit_error("to find the armies needed for a chance")


def _refuse_keep(keep: int, rules: Rules) -> None:
    if rules.limit_advance(keep) < keep:
        raise IllegalError(
            f"keep must be at most {rules.most_advance}, because no more armies may move in, "
            f"got {quote(keep)}"
        )


class _Way(NamedTuple):
    """Consecutive battles of one stack.

    stages, kernels: the battles and their kernels.
    keep: the number of armies that must remain on the last territory.
    """

    stages: list[Stage]
    kernels: list[Kernel]
    keep: int

    def compute_chances(self, maximum: int, *, failing: bool = False) -> Chances1D:
        """Return the chances that 0 to `maximum` attackers succeed, or that they fail."""
        enough = np.arange(maximum + 1) >= self.keep
        taken = (~enough if failing else enough).astype(int)
        return compute_way_values(self.stages, self.kernels, taken, int(failing))

    def compute_fractions(self, maximum: int) -> Chances1D | None:
        kernels = _list_exact_kernels(self.stages)
        return None if kernels is None else self._replace(kernels=kernels).compute_chances(maximum)

    def compute_limit(self) -> Fraction:
        """Return the limit of the chance to succeed as the number of attackers grows.

        The stack stays infinite until the rules limit how many armies move in.
        """
        limit = Fraction(1)
        for k, (stage, kernel) in enumerate(zip(self.stages, self.kernels, strict=True), 1):
            limit *= kernel.limit_of_attackers(stage.defenders)
            most, rest = stage.rules.most_advance, self.stages[k:]
            if most is not None and rest:
                kernels = _list_exact_kernels(rest) or self.kernels[k:]
                rest_of_way = _Way(rest, kernels, self.keep)
                return limit * Fraction(rest_of_way.compute_chances(most)[most])
        return limit

    def bound_error(self, maximum: int) -> Error:
        """Return a bound on the error of the chances of up to `maximum` attackers.

        Raises `TooLargeError` for battles that are too large.
        """
        defended = [stage.defenders for stage in self.stages]
        try:
            refuse_tables(self.stages, self.kernels, maximum)
        except TooLargeError:
            raise _make_size_error(defended, self.keep) from None
        errors = (
            kernel.for_question("table", maximum, defenders).error(maximum, defenders)
            for defenders, kernel in zip(defended, self.kernels, strict=True)
        )
        return Error(*map(sum, zip(*errors, strict=True)))

    def estimate_armies(self, wanted: Fraction) -> int:
        """Return an estimate of the attackers needed, which is usually too large."""
        losses = [
            _estimate_losses(stage.defenders, stage.rules, attacking=True) for stage in self.stages
        ]
        staying = sum(_count_reserve(stage.rules.garrison, stage.stop) for stage in self.stages)
        lost = max(ceil(GUESS_FACTOR * _compute_normal_quantile(losses, wanted)), 0)
        return lost + self.keep + 16 + staying


def _count_reserve(garrison: int, stop: StopRule) -> int:
    """Return the number of armies that the garrison or the stop rule keeps from attacking."""
    return max(garrison + (stop.hold_back or 0), stop.stop_at or 0)


def _estimate_losses(others: int, rules: Rules, *, attacking: bool) -> tuple[float, float]:
    """Estimate the mean and the variance of the losses of a side until the other side is destroyed.

    others: the armies of the other side.

    The estimate assumes that every roll is made with all dice.
    """
    losses = Roll(*rules.full_roll, rules).losses()
    fallen = losses.map(lambda lost: lost.defenders if attacking else lost.attackers)
    theirs, both = Fraction(fallen.mean()), Fraction(losses.map(sum).mean())
    if not theirs:
        return 2.0 * others, 0.0  # the other side never loses an army with these dice
    rolls = others / theirs
    variance = rolls * fallen.variance() * (both / theirs) ** 2
    return float(rolls * (both - theirs)), float(variance)


def _compute_normal_quantile(losses: Iterable[tuple[float, float]], wanted: Fraction) -> float:
    """Return a quantile of a sum of losses, by a normal approximation.

    losses: the mean and the variance of each loss.
    wanted: the probability that the sum is at most the quantile.
    """
    from statistics import NormalDist  # a slow import

    mean, variance = map(sum, zip(*losses, strict=True))
    rare = max(min(wanted, 1 - wanted), MIN_SINGLE_CHANCE)
    quantile = NormalDist().inv_cdf(float(rare)) * (1 if 2 * wanted < 1 else -1)
    return mean + quantile * sqrt(variance)


def _read_way(
    territories: Territories, rules: Rules, stop: StopRule | None, keep: int, *, exact: bool = False
) -> _Way:
    way = list(stages(read_territories(territories), rules, read_stop(stop)))
    kernels = [stage.kernel(exact=exact) for stage in way]
    for stage in way:
        most_attack, most_defence = stage.rules.full_roll
        refuse_many_rolls(most_attack, min(stage.defenders, most_defence), stage.rules)
    return _Way(way, kernels, read_int(keep, "keep", minimum=0))


def _list_exact_kernels(way: Iterable[Stage]) -> list[Kernel] | None:
    """Return kernels that compute with fractions, or `None` if a battle has no such kernel."""
    try:
        return [stage.kernel(exact=True) for stage in way]
    except IllegalError:
        return None


class _UndecidedError(Exception):
    """Single battles are not precise enough to decide whether a chance is reached."""


class _Search(NamedTuple):
    """The search for the fewest armies of one side, given the other side and a wanted chance.

    In this class attackers exclude the garrison.

    kernel: the kernel of the battles.
    attacking: whether the search is for attackers rather than for defenders.
    keep: the number of attackers that must survive to move into the territory.
    """

    kernel: Kernel
    attacking: bool
    keep: int = 0

    def order_sides(self, number: int, other: int) -> tuple[int, int]:
        """Return the armies of both sides as a pair (attackers, defenders)."""
        return (number, other) if self.attacking else (other, number)

    def compute_chances(self, kernel: Kernel, battle: tuple[int, int]) -> Chances:
        """Return the chance that the searched side succeeds, and the chance that it fails."""
        won, lost = kernel.chances(*battle, self.keep)
        return Chances(won, lost) if self.attacking else Chances(lost, won)

    @property
    def side(self) -> str:
        return "attackers" if self.attacking else "defenders"

    @property
    def reserve(self) -> int:
        return _count_reserve(0, self.kernel.stop)

    def is_beyond_tables(self, other: int) -> bool:
        return _is_beyond_tables(self.kernel, *self.order_sides(max(self.keep, 1), other))

    def compute_limit(self, other: int) -> Fraction:
        """Return the limit of the chance as the number of armies grows."""
        if self.attacking:
            return self.kernel.limit_of_attackers(other)
        return self.kernel.limit_of_defenders(other)

    def estimate_armies(self, other: int, wanted: Fraction) -> int:
        """Return a rough estimate of the armies needed."""
        rules, reserve = self.kernel.rules, self.reserve
        if self.attacking:
            losses = _estimate_losses(other, rules, attacking=True)
            return max(ceil(_compute_normal_quantile([losses], wanted)), 1) + self.keep + reserve
        losses = _estimate_losses(max(other - reserve, 0), rules, attacking=False)
        return max(ceil(_compute_normal_quantile([losses], wanted)), 1)

    def find_fewest_armies(self, targets: Collection[Target]) -> dict[Target, int]:
        none_attack = {target: 1 for target in targets if target.others <= 0}
        deciding = {
            target: self.kernel.choose_decider(target.chance)
            for target in targets
            if target.others > 0
        }
        decider = self
        numbers: dict[tuple[int, Fraction], int] = {}
        undecided: dict[int, dict[Fraction, Fraction]] = {}
        for (other, chance), (kernel, wanted) in deciding.items():
            if kernel is not decider.kernel:
                decider = _Search(kernel, self.attacking)
            number = decider.search_without_tables(other, wanted)
            if number is None:
                undecided.setdefault(other, {})[wanted] = chance
            else:
                numbers[other, wanted] = number
        if undecided:
            numbers |= decider.search_tables(undecided, self)
        needed = {
            target: numbers[target.others, wanted] for target, (_, wanted) in deciding.items()
        }
        if decider is not self and self.keep:
            return {
                target: self.search_upward(*target, number) for target, number in needed.items()
            }
        return needed | none_attack

    def search_without_tables(self, other: int, wanted: Fraction) -> int | None:
        """Find the fewest armies from single battles; return `None` if tables are necessary."""
        if not self.is_beyond_tables(other):
            return None
        try:
            return find_smallest(
                lambda n: self.is_enough(n, other, wanted), self.estimate_armies(other, wanted)
            )
        except _UndecidedError:
            return None

    def is_enough(self, number: int, other: int, wanted: Fraction) -> bool:
        battle = self.order_sides(number, other)
        chances = self.compute_chances(self.kernel, battle)
        reaches = compare_chance(chances, wanted, self.kernel.error(*battle), MIN_SINGLE_CHANCE)
        if reaches is None:
            if self.keep or sum(battle) > MAX_ARMIES_EXACTLY:
                raise _UndecidedError
            exact = choose_kernel(self.kernel.rules, self.kernel.stop, exact=True)
            if exact.for_question("chance", *battle).is_vectorised:
                raise _UndecidedError
            reaches = self.compute_chances(exact, battle).won >= wanted
        return reaches

    def search_upward(self, other: int, chance: Fraction, minimum: int) -> int:
        """Return the smallest number of armies from `minimum` on whose float chance is enough."""
        number = max(minimum, self.keep)
        while not is_reached_by_floats(self.kernel.chances(number, other, self.keep), chance):
            number += 1
        return number

    def search_tables(
        self, undecided: Mapping[int, Mapping[Fraction, Fraction]], original: _Search
    ) -> dict[tuple[int, Fraction], int]:
        """Return the fewest armies, found in tables of all battles up to a size.

        undecided: for each number of armies of the other side, a mapping from the wanted chances of
            this search to the wanted chances of `original`.
        original: the search that this search replaces, for error messages and keys of the result.
        """

        def refuse(other: int, wanted: Fraction) -> None:
            kernel, limit = original.kernel, original.compute_limit(other)
            attained = (kernel.certain and limit == 1) or not kernel.stop.is_reserve
            _refuse_unreachable(limit, undecided[other][wanted], attained, self.side)

        largest = max(undecided)
        most = self.keep + 16 + 2 * largest + (self.reserve if self.attacking else 0)
        wanted = {other: list(chances) for other, chances in undecided.items()}
        try:
            return find_smallest_in_tables(wanted, self.tabulate, most, refuse)
        except TooLargeError:
            if not self.attacking:
                against = quote(largest + self.kernel.garrison)
                raise _make_time_error(
                    f"the defenders needed against {against} attackers"
                ) from None
            if not self.is_beyond_tables(largest):
                raise _make_size_error([largest], self.keep) from None
            raise TooLargeError(
                f"chance must lie between 1e-140 and 1 - 1e-140 against {quote(largest)}, "
                f"got {quote(str(next(iter(undecided[largest].values()))))}",
                parameter="chance",
            ) from None

    def tabulate(self, maximum: int, others: Sequence[int]) -> Iterator[tuple[int, Curve]]:
        """Yield the chances of 0 to `maximum` armies against each number in `others`."""
        battle = self.order_sides(maximum, max(others))
        table = self.kernel.for_question("table", *battle)
        refuse_tables([Stage(battle[1], self.kernel.rules)], [self.kernel], battle[0])
        failures = self.compute_rows(self.kernel, maximum, others, failing=True)
        for other, row in self.compute_rows(self.kernel, maximum, others):

            def compute_complements(other: int = other) -> Chances1D:
                return next(row for number, row in failures if number == other)

            def compute_exactly(n: int, other: int = other) -> Chances1D | None:
                kernels = _list_exact_kernels([Stage(1, self.kernel.rules, self.kernel.stop)])
                if kernels is None:
                    return None
                return next(self.compute_rows(kernels[0], n, [other]))[1]

            error = table.error(*self.order_sides(maximum, other))
            yield other, Curve(row, error, compute_complements, compute_exactly)

    def compute_rows(
        self, kernel: Kernel, maximum: int, others: Sequence[int], *, failing: bool = False
    ) -> Iterator[tuple[int, Chances1D]]:
        """Yield each number in `others` with the chances of 0 to `maximum` armies.

        failing: whether the chances are chances of failure instead of success.
        """
        if self.attacking:
            enough = (np.arange(maximum + 1) >= self.keep) != failing
            rows = kernel.run_backward(
                Values(enough.astype(int), [int(failing)] * (max(others) + 1))
            )
            sizes, armies = set(others), np.arange(maximum + 1)
            yield from ((d, row[armies]) for d, row in enumerate(rows, start=1) if d in sizes)
        else:
            won, held = [int(failing)] * (max(others) + 1), int(not failing)
            rows = kernel.run_backward(Values(won, [held] * (maximum + 1)))
            armies = np.array(others)
            columns = np.vstack(
                [np.full(len(others), int(failing)), *(row[armies] for row in rows)]
            )
            yield from zip(others, columns.T, strict=True)


def _is_beyond_tables(kernel: Kernel, attackers: int, defenders: int) -> bool:
    """Return whether a battle is too large for tables, and a method without tables exists."""
    large = max(attackers, defenders) > MAX_TABLE_ARMIES
    if not large or kernel.refusal(attackers, defenders) is not None:
        return False
    return not kernel.for_question("chance", attackers, defenders).is_vectorised


def _refuse_unreachable(limit: Fraction, chance: Fraction, attained: bool, side: str) -> None:
    """Raise `IllegalError` if no number of armies reaches a chance."""
    if chance > limit or (chance == limit and not attained):
        is_short = (chance * 10**6).denominator == 1
        got = quote(f"{float(chance * 100):.6g}%" if is_short else str(chance))
        if not limit:
            raise IllegalError(
                f"no number of {side} reaches that chance, got {got}", parameter="chance"
            )
        most = str(limit)
        if len(most) > MAX_FRACTION_LENGTH:  # round a long fraction down
            most = str(Context(12, ROUND_FLOOR).divide(limit.numerator, limit.denominator))
        bound = (
            f"at most {most}, the highest chance that any number of {side} reaches"
            if attained
            else f"below {most}, which no number of {side} reaches"
        )
        raise IllegalError(f"chance must be {bound}, got {got}", parameter="chance")


def _make_size_error(defended: Sequence[int], keep: int) -> TooLargeError:
    where = f" on {len(defended)} territories" if len(defended) > 1 else ""
    more = f" with {quote(keep)} left" if keep else ""
    return _make_time_error(
        f"the attackers needed against {quote(sum(defended))} defenders{where}{more}"
    )


def _make_time_error(what: str) -> TooLargeError:
    return TooLargeError(f"finding {what} would take more than half a minute")
