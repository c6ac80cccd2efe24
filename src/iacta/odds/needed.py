"""Needed: the fewest armies with which an attack succeeds, or a territory holds."""

from __future__ import annotations  # for signatures that show the names of types

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from fractions import Fraction
from functools import partial
from math import ceil, prod, sqrt
from typing import Any, NamedTuple, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from iacta.battle.campaign import chances_along, refuse_tables, values_along
from iacta.battle.territory import Stage, Territories, read_territories, stages
from iacta.inputs.checks import MAX_ROW_LENGTH, broadcast_arrays, quote, read_int, read_int_array
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.methods import find_kernel
from iacta.methods.kernel import Chances, Error, Kernel, Values
from iacta.odds.arrays import Armies, Army, RuleSets, Whole, over_rules
from iacta.odds.search import Curve, decided, decided_by_floats, first, first_in_tables
from iacta.probability.chances import Chance, read_chance, read_chances
from iacta.probability.distribution import Probability
from iacta.rules.roll import loss_counts, refuse_many_rolls
from iacta.rules.rules import Rules
from iacta.rules.stop import StopRule, read_stop
from iacta.rules.variants import find_rules

Pair: TypeAlias = tuple[int, Fraction]  # armies of the other side and the wanted chance
Row: TypeAlias = npt.NDArray[Any]

LARGEST_IN_TABLES = 2_000
LONGEST_FRACTION = 40  # letters, in a message
SAFETY = 1.05  # of a guess with which tables begin
MAX_ARMIES_EXACTLY = 20_000  # both sides together, in fractions: some seconds
MIN_CHANCE_ALONE = Fraction(1, 10**140)  # a battle alone is right down to 1e-150
EVEN = Fraction(1, 2)


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

    defenders: armies on the defended territory; a whole number or an array of them.
    chance: the wanted chance, between 0 and 1, as a float, fraction, decimal or text such as
        `"95%"`; or an array of them. The two shapes are broadcast. A float is read as the
        decimal that shows it: 0.95 is 19/20.
    rules: `Rules`, or the name of a rule set; or an array of them, broadcast too.
    garrison: armies that must stay behind; `None` leaves what the rules say, usually 1.
    keep: armies that must be left at the end to move into the territory.
    stop: when the attackers choose to stop, a `StopRule`; `None` for never.

    An `int`, or an array of the broadcast shape. The comparison is exact: floats decide it only
    where their proven error bound lets them, and fractions where it does not. Where the defender
    sees the attack first and `keep` is above 0, it is exact if the replies that are best in floats
    are the best.

    Chances of 0 or 1 and beyond are refused, and those that no number of attackers reaches. Under
    balanced blitz a battle can be certain, so a chance of 1 is taken there; with `keep`, floats
    alone decide there.

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

    Source: Van Wijgerden, "Let slip the dice of war", whose T is `keep`.
    """
    return _needed(
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
    """Return the fewest attackers, garrison included, that take all territories of a campaign.

    territories: the way, as for `Campaign`.
    chance: the wanted chance, between 0 and 1, as for `armies_needed`.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind on each territory; `None` leaves what the rules say.
    keep: armies that must be left at the end on the last territory.
    stop: when the attackers stop, as for `Campaign`.

    The comparison is exact, and the same is refused as by `armies_needed`. With balanced blitz on
    the way, floats decide; a chance of 1 is taken where every battle is a balanced one. A defender
    who sees the attack first plays for that territory alone, as `Campaign` says; on such a way
    the comparison is exact if the replies that are best in floats are the best.

    >>> armies_needed_for_campaign([22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1], "95%")
    82
    """
    way = _read_way(territories, find_rules(rules, garrison), stop, keep)
    for stage in way.stages:
        _refuse_growing(stage.rules)
    certain = all(kernel.certain for kernel in way.kernels)
    wanted = read_chance(chance, certain=certain)
    defended = [stage.defenders for stage in way.stages]
    if len(defended) == 1:
        pair = defended[0], wanted
        able = _Search(way.kernels[0], True, way.keep).fewest([pair])[pair]
        return able + way.stages[0].rules.garrison

    def tables(most: int, _: Sequence[None]) -> Iterator[tuple[None, Curve]]:
        error = way.error(most)
        row = np.asarray(way.chances(most), dtype=float)
        yield None, Curve(row, error, partial(way.chances, most, against=True), way.exact_chances)

    def refuse(_: None, chance: Fraction) -> None:
        limits = (
            kernel.limit_of_attackers(defenders)
            for kernel, defenders in zip(way.kernels, defended, strict=True)
        )
        attained = certain or any(not stage.stop.is_reserve for stage in way.stages)
        _refuse_unreachable(prod(limits, start=Fraction(1)), chance, attained, "attackers")

    return first_in_tables({None: [wanted]}, tables, way.guess(wanted), refuse)[None, wanted]


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
    """Return the chances to take a whole way and have at least `keep` armies at its end.

    attackers: armies on the territory from which it starts, garrison included, of each stack; at
        least one stack.
    territories, rules, garrison, stop: as for `Campaign`.
    keep: armies that must be left at the end on the last territory.
    exact: whether to answer with fractions.

    >>> win_probabilities_keeping([2, 3], [1], keep=2, exact=True)
    [Fraction(0, 1), Fraction(125, 216)]
    """
    counts = [read_int(number, "attackers", least=1) for number in attackers]
    way = _read_way(territories, find_rules(rules, garrison), stop, keep, exact=exact)
    kernel, defenders = way.kernels[0], way.stages[0].defenders
    most = max(counts) - way.stages[0].rules.garrison
    if len(way.stages) == 1 and (kernel.certain or _leaps(kernel, most, defenders)):
        able = [count - way.stages[0].rules.garrison for count in counts]
        return [kernel.chances(number, defenders, way.keep).won for number in able]
    return chances_along(way.stages, way.kernels, counts, way.keep)


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

    attackers: armies on the attacking territory, garrison included; a whole number or an array
        of them.
    chance: the wanted chance, as for `armies_needed`; the two shapes are broadcast.
    rules: `Rules`, or the name of a rule set; or an array of them, broadcast too.
    garrison: armies that must stay behind; `None` leaves what the rules say, usually 1.
    stop: when the attackers choose to stop, a `StopRule`; `None` for never.

    An `int`, or an array of the broadcast shape. The comparison is exact: floats decide it only
    where their proven error bound lets them, and fractions where it does not. Against more than
    2000 attackers, more defenders are taken to hold with a higher chance.

    Chances of 0 or 1 and beyond are refused, and those that no number of defenders reaches. Under
    balanced blitz a battle can be certain, so a chance of 1 is taken there.

    >>> defenders_needed(12, 0.9)
    21
    >>> defenders_needed(12, "100%", "balanced blitz")
    19
    >>> defenders_needed([5, 10, 20], [["50%"], ["95%"]]).tolist()
    [[4, 10, 22], [11, 20, 36]]

    Source: the same chances as for `armies_needed`, asked from the other side of the table.
    """
    return _needed(attackers, chance, rules, attacking=False, garrison=garrison, stop=stop)


@dataclass(frozen=True)
class BreakEvenLine:
    """The line intercept + slope · defenders that is nearest to the fewest attackers.

    attackers: the fewest with an even chance or better, against 1, 2, ... defenders.
    intercept, slope: the line, in armies, by least squares.
    """

    attackers: tuple[int, ...]
    intercept: float
    slope: float


def break_even_line(
    defenders: int, rules: Rules | str = "classic", *, garrison: int | None = None
) -> BreakEvenLine:
    """Return the fewest attackers with an even chance by the number of defenders, as a line.

    defenders: the most defenders, at least 2, for a line takes two points.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind; `None` leaves what the rules say, usually 1.

    The fewest attackers are exact; the line is in floats. The same is refused as by
    `armies_needed`.

    >>> line = break_even_line(50, garrison=0)
    >>> line.attackers[14], line.attackers[24], line.attackers[34]
    (14, 23, 31)
    >>> round(line.intercept, 8), round(line.slope, 8)
    (1.22040816, 0.85253301)

    Source: Höhle's regression for up to 50 defenders, who leaves the garrison out.
    """
    count = np.arange(1, read_int(defenders, "defenders", least=2) + 1)
    attackers = armies_needed(count, EVEN, rules, garrison=garrison)
    slope, intercept = np.polyfit(count, attackers, 1)
    return BreakEvenLine(tuple(attackers.tolist()), float(intercept), float(slope))


def _needed(
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
        return over_rules(_needed, rules, others, chance, **options)
    rules = find_rules(rules, garrison)
    _refuse_growing(rules)
    kernel = find_kernel(rules, read_stop(stop))
    search = _Search(kernel, attacking, read_int(keep, "keep", least=0))
    numbers, wanted = broadcast_arrays(
        read_int_array(others, "defenders" if attacking else "attackers", least=1),
        read_chances(chance, certain=kernel.certain),
        most=MAX_ROW_LENGTH,
    )
    able = numbers if attacking else numbers - rules.garrison
    pairs = list(zip(able.reshape(-1).tolist(), wanted.reshape(-1).tolist(), strict=True))
    staying = rules.garrison if attacking else 0
    needed = {pair: n + staying for pair, n in search.fewest(dict.fromkeys(pairs)).items()}
    if not numbers.ndim:
        return needed[pairs[0]]
    try:
        return np.array([needed[pair] for pair in pairs], dtype=np.int64).reshape(numbers.shape)
    except OverflowError:
        raise TooLargeError(f"{max(needed.values())} armies do not fit in an array") from None


def _refuse_growing(rules: Rules) -> None:
    if rules.mode.grows:
        raise rules.mode.unfit("to find the armies needed for a chance")


class _Way(NamedTuple):
    """Battles that are all to be won, and armies to be left at their end.

    stages, kernels: the battles.
    keep: armies that must be left on the last territory.
    """

    stages: list[Stage]
    kernels: list[Kernel]
    keep: int

    def chances(self, most: int, *, against: bool = False) -> Row:
        """Return the chances of 0 .. most attackers to succeed, or not to."""
        enough = np.arange(most + 1) >= self.keep
        taken = (~enough if against else enough).astype(int)
        return values_along(self.stages, self.kernels, taken, int(against))

    def exact_chances(self, most: int) -> Row | None:
        kernels = _exact_kernels(self.stages)
        return None if kernels is None else self._replace(kernels=kernels).chances(most)

    def error(self, most: int) -> Error:
        """Return a bound on the error of these chances, or refuse what is too large."""
        defended = [stage.defenders for stage in self.stages]
        try:
            refuse_tables(self.stages, self.kernels, most)
        except TooLargeError:
            raise _too_many(defended, self.keep) from None
        errors = (
            kernel.by("table", most, defenders).error(most, defenders)
            for defenders, kernel in zip(defended, self.kernels, strict=True)
        )
        return Error(*map(sum, zip(*errors, strict=True)))

    def guess(self, wanted: Fraction) -> int:
        """Return about how many attackers have a chance, rather too many than too few."""
        losses = [_losses(stage.defenders, stage.rules, attacking=True) for stage in self.stages]
        staying = sum(_reserve_size(stage.rules.garrison, stage.stop) for stage in self.stages)
        return max(ceil(SAFETY * _at_chance(losses, wanted)), 0) + self.keep + 16 + staying


def _reserve_size(garrison: int, stop: StopRule) -> int:
    """Return how many armies are left when the attackers stop, as far as that is a fixed number."""
    return max(garrison + (stop.hold_back or 0), stop.stop_at or 0)


def _losses(others: int, rules: Rules, *, attacking: bool) -> tuple[float, float]:
    """Return the mean and the variance of what it costs a side to beat so many others.

    It is as if all dice were truly random, and thrown to the end.
    """
    losses = loss_counts(*rules.full_roll, rules)
    fallen = Fraction(sum(k * n for k, n in enumerate(losses.counts)), losses.total)
    squares = Fraction(sum(k * k * n for k, n in enumerate(losses.counts)), losses.total)
    theirs = fallen if attacking else losses.compared - fallen
    if not theirs:
        return 2.0 * others, 0.0  # no number is enough
    rolls = others / theirs
    variance = rolls * (squares - fallen**2) * (losses.compared / theirs) ** 2
    return float(rolls * (losses.compared - theirs)), float(variance)


def _at_chance(losses: Iterable[tuple[float, float]], wanted: Fraction) -> float:
    """Return what several losses together are below with a chance, as if they were normal."""
    from statistics import NormalDist  # slow to import, and only needed here

    mean, variance = map(sum, zip(*losses, strict=True))
    rare = max(min(wanted, 1 - wanted), MIN_CHANCE_ALONE)
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
    return _Way(way, kernels, read_int(keep, "keep", least=0))


def _exact_kernels(way: Iterable[Stage]) -> list[Kernel] | None:
    """Return the kernels that decide in fractions, or `None` if a battle has none."""
    try:
        return [stage.kernel(exact=True) for stage in way]
    except IllegalError:
        return None


class _UndecidedError(Exception):
    """No method can decide whether a chance reaches the wanted one."""


class _Search(NamedTuple):
    """The search for the fewest armies of one side, given the other's and a wanted chance.

    kernel: the kernel of the battles.
    attacking: whether attackers are looked for, of whom only those able to attack count here.
    keep: attackers that must be left to move into the territory.
    """

    kernel: Kernel
    attacking: bool
    keep: int = 0

    def battle(self, number: int, other: int) -> tuple[int, int]:
        return (number, other) if self.attacking else (other, number)

    def chances(self, kernel: Kernel, battle: tuple[int, int]) -> Chances:
        """Return the chances that this side succeeds, and that it does not."""
        won, lost = kernel.chances(*battle, self.keep)
        return Chances(won, lost) if self.attacking else Chances(lost, won)

    @property
    def side(self) -> str:
        return "attackers" if self.attacking else "defenders"

    @property
    def reserve(self) -> int:
        return _reserve_size(0, self.kernel.stop)

    def leaps(self, other: int) -> bool:
        return _leaps(self.kernel, *self.battle(max(self.keep, 1), other))

    def limit(self, other: int) -> Fraction:
        if self.attacking:
            return self.kernel.limit_of_attackers(other)
        return self.kernel.limit_of_defenders(other)

    def guess(self, other: int, wanted: Fraction) -> int:
        """Return about how many armies it takes."""
        rules, reserve = self.kernel.rules, self.reserve
        if self.attacking:
            lost = _at_chance([_losses(other, rules, attacking=True)], wanted)
            return max(ceil(lost), 1) + self.keep + reserve
        lost = _at_chance([_losses(max(other - reserve, 0), rules, attacking=False)], wanted)
        return max(ceil(lost), 1)

    def fewest(self, pairs: Collection[Pair]) -> dict[Pair, int]:
        none_attack = {pair: 1 for pair in pairs if pair[0] <= 0}
        deciding = {pair: self.kernel.decided_by(pair[1]) for pair in pairs if pair[0] > 0}
        decider = self
        numbers: dict[Pair, int] = {}
        undecided: dict[int, dict[Fraction, Fraction]] = {}
        for (other, chance), (kernel, wanted) in deciding.items():
            if kernel is not decider.kernel:
                decider = _Search(kernel, self.attacking)
            number = decider.without_tables(other, wanted)
            if number is None:
                undecided.setdefault(other, {})[wanted] = chance
            else:
                numbers[other, wanted] = number
        if undecided:
            numbers |= decider.by_tables(undecided, self)
        needed = {pair: numbers[pair[0], wanted] for pair, (_, wanted) in deciding.items()}
        if decider is not self and self.keep:
            return {pair: self.upward(*pair, number) for pair, number in needed.items()}
        return needed | none_attack

    def without_tables(self, other: int, wanted: Fraction) -> int | None:
        """Return the fewest, asking one battle at a time; `None` if tables shall decide."""
        if not self.leaps(other):
            return None
        try:
            return first(lambda n: self.reaches(n, other, wanted), self.guess(other, wanted))
        except _UndecidedError:
            return None

    def reaches(self, number: int, other: int, wanted: Fraction) -> bool:
        battle = self.battle(number, other)
        chances = self.chances(self.kernel, battle)
        reaches = decided(chances, wanted, self.kernel.error(*battle), MIN_CHANCE_ALONE)
        if reaches is None:
            if self.keep or sum(battle) > MAX_ARMIES_EXACTLY:
                raise _UndecidedError
            exact = find_kernel(self.kernel.rules, self.kernel.stop, exact=True)
            if exact.by("chance", *battle).by_rows:
                raise _UndecidedError
            reaches = self.chances(exact, battle).won >= wanted
        return reaches

    def upward(self, other: int, chance: Fraction, least: int) -> int:
        """Return the first number from `least` on that has a chance, where floats alone decide."""
        number = max(least, self.keep)
        while not decided_by_floats(self.kernel.chances(number, other, self.keep), chance):
            number += 1
        return number

    def by_tables(
        self, undecided: Mapping[int, Mapping[Fraction, Fraction]], question: _Search
    ) -> dict[Pair, int]:
        """Return the fewest, by tables of all battles up to a size.

        undecided: by the others and the wanted chance, the chance that `question` has wanted.
        """

        def refuse(other: int, wanted: Fraction) -> None:
            kernel, limit = question.kernel, question.limit(other)
            attained = (kernel.certain and limit == 1) or not kernel.stop.is_reserve
            _refuse_unreachable(limit, undecided[other][wanted], attained, self.side)

        largest = max(undecided)
        most = self.keep + 16 + 2 * largest + (self.reserve if self.attacking else 0)
        wanted = {other: list(chances) for other, chances in undecided.items()}
        try:
            return first_in_tables(wanted, self.tables, most, refuse)
        except TooLargeError:
            if not self.attacking:
                against = quote(largest + self.kernel.garrison)
                raise _too_long(f"the defenders needed against {against} attackers") from None
            if not self.leaps(largest):
                raise _too_many([largest], self.keep) from None
            raise TooLargeError(
                f"chance must lie between 1e-140 and 1 - 1e-140 against {quote(largest)}, "
                f"got {quote(str(next(iter(undecided[largest].values()))))}",
                parameter="chance",
            ) from None

    def tables(self, most: int, others: Sequence[int]) -> Iterator[tuple[int, Curve]]:
        battle = self.battle(most, max(others))
        table = self.kernel.by("table", *battle)
        refuse_tables([Stage(battle[1], self.kernel.rules)], [self.kernel], battle[0])
        against = self.rows(self.kernel, most, others, against=True)  # keeps up with the rows
        for other, row in self.rows(self.kernel, most, others):

            def con(other: int = other) -> Row:
                return next(row for known, row in against if known == other)

            def exact(n: int, other: int = other) -> Row | None:
                kernels = _exact_kernels([Stage(1, self.kernel.rules, self.kernel.stop)])
                return None if kernels is None else next(self.rows(kernels[0], n, [other]))[1]

            yield other, Curve(row, table.error(*self.battle(most, other)), con, exact)

    def rows(
        self, kernel: Kernel, most: int, others: Sequence[int], *, against: bool = False
    ) -> Iterator[tuple[int, Row]]:
        """Yield the chances of 0 .. most armies to succeed, or not to, against the others."""
        if self.attacking:
            enough = (np.arange(most + 1) >= self.keep) != against
            rows = kernel.backward(Values(enough.astype(int), [int(against)] * (max(others) + 1)))
            sizes, armies = set(others), np.arange(most + 1)
            yield from ((d, row[armies]) for d, row in enumerate(rows, start=1) if d in sizes)
        else:
            won, held = [int(against)] * (max(others) + 1), int(not against)
            rows = kernel.backward(Values(won, [held] * (most + 1)))
            armies = np.array(others)
            columns = np.vstack(
                [np.full(len(others), int(against)), *(row[armies] for row in rows)]
            )
            yield from zip(others, columns.T, strict=True)


def _leaps(kernel: Kernel, attackers: int, defenders: int) -> bool:
    """Return whether a battle is too large for tables, and answered without."""
    large = max(attackers, defenders) > LARGEST_IN_TABLES
    if not large or kernel.refusal(attackers, defenders) is not None:
        return False
    return not kernel.by("chance", attackers, defenders).by_rows


def _refuse_unreachable(limit: Fraction, chance: Fraction, attained: bool, side: str) -> None:
    """Refuse a chance that even endless armies do not have, once a fair number has been tried."""
    if chance > limit or (chance == limit and not attained):
        got = quote(str(chance))
        if not limit:
            raise IllegalError(
                f"chance is more than any number of {side} reaches, got {got}", parameter="chance"
            )
        most = str(limit)
        if len(most) > LONGEST_FRACTION:  # its first digits, which are never more than it is
            most = str(Context(12, ROUND_FLOOR).divide(limit.numerator, limit.denominator))
        bound = (
            f"at most {most}, the most that any number of {side} reaches"
            if attained
            else f"below {most}, which no number of {side} reaches"
        )
        raise IllegalError(f"chance must be {bound}, got {got}", parameter="chance")


def _too_many(defended: Sequence[int], keep: int) -> TooLargeError:
    places = f" on {len(defended)} territories" if len(defended) > 1 else ""
    more = f" with {quote(keep)} left" if keep else ""
    return _too_long(f"the attackers needed against {quote(sum(defended))} defenders{places}{more}")


def _too_long(what: str) -> TooLargeError:
    return TooLargeError(f"finding {what} would take more than half a minute")
