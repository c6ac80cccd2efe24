"""Campaign: the battles of one stack through a chain of territories.

It is a product of kernels. Forward, they carry the distribution of the stack from one territory to
the next; backward, the value of what the stack may achieve.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from iacta.battle.territory import Stage, Territories, Territory, read_territories, stages
from iacta.inputs.checks import quote, read_int, set_field
from iacta.inputs.errors import MalformedError
from iacta.inputs.reprs import PasteableMixin
from iacta.methods.kernel import Kernel, State, Values
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.rules import Rules
from iacta.rules.stop import StopRule, read_stop, stop_argument
from iacta.rules.variants import find_rules, rules_argument

BELOW_ONE = 1 - 2.0**-53
MAX_CELLS = 4 * 10**6  # of the largest tables to go backward through
ROW_BYTES = 100  # for an army of either side, before a method refuses its rows
CELLS_IN_THE_TIME_OF_A_ROW = 1000
MAX_CELLS_IF_RARE = 10**8  # of those for a chance that could not be found forward
LIKELY = 1e-3
BEATEN_BY_ONE = 4  # defenders: a stack almost never gets as far as so many for each attacker


class CampaignOutcome(NamedTuple):
    """How a campaign ends.

    conquered: how many territories were taken.
    attackers: armies on the territory on which the stack ends.
    defenders: armies left on the territory that it failed, or stopped, to take; 0 if it took all.
    """

    conquered: int
    attackers: int
    defenders: int


class TerritoryOdds(NamedTuple):
    """The chances of one territory in a campaign.

    reach_probability: chance that all territories before it are taken.
    conquer_probability: chance that it is taken too.
    expected_attackers: mean armies of the stack that attacks it, garrison included, given that
        it is reached; 0 if it cannot be.
    """

    reach_probability: Probability
    conquer_probability: Probability
    expected_attackers: Probability


class PlayedBattle(NamedTuple):
    """One battle of a campaign that was played with dice.

    territory: its number on the way, from 1.
    attackers, defenders: armies before the battle, the attackers' garrison included.
    attackers_left, defenders_left: armies after it, before any advance.
    """

    territory: int
    attackers: int
    defenders: int
    attackers_left: int
    defenders_left: int


@dataclass(frozen=True, init=False, repr=False)
class Campaign(PasteableMixin):
    """A stack that takes one territory after another, and moves on with all but the garrison.

    attackers: armies on the territory from which the campaign starts, garrison included.
    territories: the way: for each territory its defenders; or a `Territory` with rules and a
        garrison of its own, or its text, such as `"8:capital@3"`.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind on each territory; `None` leaves what the rules say.
    stop: when the attackers choose to stop, a `StopRule` for each battle without its own; `None`
        for never.

    Each battle is fought until the territory is taken, the stack cannot go on, or its attackers
    stop: then the campaign ends there. Each battle counts its losses and rolls from zero, and
    `stop_at` counts the armies on the territory attacked from. Armies held back in a battle take no
    part in it; after a conquest all but the garrison move on, armies held back included. Answers
    are floats, or fractions with `exact=True`; `method` is as for `Battle`. The relative error of a
    float is at most the sum of the errors of the kernels, each at most 1e-12; twice that for
    `expected_attackers`, which is a ratio. Chances below 1e-150 may become 0. Where the first
    battle has more than a million states, distributions and the odds by territory leave out
    outcomes less likely than 1e-18 given that the battle is won or lost. Under balanced blitz,
    which reshapes the battle for each territory by itself, the error is absolute. A defender who
    sees the attack first makes the conquest of that territory as unlikely as possible, whatever is
    behind it.

    No territories, and numbers below 1 or not whole, are refused.

    >>> campaign = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1])
    >>> round(campaign.win_probability(), 10)
    0.8105485936
    >>> Campaign(4, [1, Territory(1, rules="capital")]).win_probability(exact=True)
    Fraction(108175, 186624)
    >>> Campaign(10, [])
    Traceback (most recent call last):
        ...
    iacta.IllegalError: missing territories
    """

    attackers: int
    territories: tuple[Territory, ...]
    rules: Rules
    stop: StopRule

    def __init__(
        self,
        attackers: int,
        territories: Territories,
        rules: Rules | str = "classic",
        *,
        garrison: int | None = None,
        stop: StopRule | None = None,
    ) -> None:
        set_field(self, "attackers", read_int(attackers, "attackers", least=1))
        set_field(self, "territories", read_territories(territories))
        set_field(self, "rules", find_rules(rules, garrison))
        set_field(self, "stop", read_stop(stop))

    def to_text(self) -> str:
        """Return the campaign as Python text, however long, that can be pasted back."""
        way = ", ".join(
            repr(territory if territory != Territory(territory.defenders) else territory.defenders)
            for territory in self.territories
        )
        more = rules_argument(self.rules) + stop_argument(self.stop)
        return f"Campaign({self.attackers}, [{way}]{more})"

    def _summary(self) -> str:
        return f"{self.attackers} armies through {len(self.territories)} territories"

    def outcomes(
        self, *, exact: bool = False, method: str = "auto"
    ) -> Distribution[CampaignOutcome]:
        """Return the distribution of how the campaign ends.

        >>> ends = Campaign(3, [1, 1]).outcomes(exact=True)
        >>> ends[CampaignOutcome(conquered=2, attackers=1, defenders=0)]
        Fraction(625, 2592)
        """
        ends: dict[CampaignOutcome, Probability] = {}
        for number, crossing in enumerate(self._crossings(exact, method)):
            for state, probability in crossing.ends.items():
                if state.defenders:
                    end = CampaignOutcome(number, state.attackers + crossing.garrison, state[1])
                elif number + 1 == len(self.territories):
                    end = CampaignOutcome(number + 1, state.attackers, 0)
                else:
                    continue
                ends[end] = _rounded(crossing.reached * probability, exact)
        return Distribution(ends) if exact else Distribution.from_probabilities(ends)

    @overload
    def win_probability(self, *, exact: Literal[False] = False, method: str = "auto") -> float: ...
    @overload
    def win_probability(self, *, exact: Literal[True], method: str = "auto") -> Fraction: ...
    @overload
    def win_probability(self, *, exact: bool, method: str = "auto") -> Probability: ...
    def win_probability(self, *, exact: bool = False, method: str = "auto") -> Probability:
        """Return the chance that all territories are taken.

        >>> Campaign(3, [1]).win_probability(exact=True)
        Fraction(1955, 2592)
        """
        way = self.stages()
        kernels = [stage.kernel(exact=exact, method=method) for stage in way]
        if len(way) == 1:
            able = self.attackers - way[0].rules.garrison
            return _rounded(kernels[0].win_probability(able, way[0].defenders), exact)
        if not _goes_backward(way, kernels, self.attackers, MAX_CELLS):
            odds = self.territory_odds(exact=exact, method=method)
            first, last = odds[0].conquer_probability, odds[-1].conquer_probability
            likely = exact or last > LIKELY * first  # else rare survivors count, who are left out
            if likely or not _goes_backward(way, kernels, self.attackers, MAX_CELLS_IF_RARE):
                return last
        return _rounded(chances_along(way, kernels, [self.attackers])[0], exact)

    @overload
    def stop_probability(self, *, exact: Literal[False] = False, method: str = "auto") -> float: ...
    @overload
    def stop_probability(self, *, exact: Literal[True], method: str = "auto") -> Fraction: ...
    @overload
    def stop_probability(self, *, exact: bool, method: str = "auto") -> Probability: ...
    def stop_probability(self, *, exact: bool = False, method: str = "auto") -> Probability:
        """Return the chance that the attackers stop on the way, with armies that might attack.

        >>> Campaign(4, [2], stop=StopRule(max_rolls=1)).stop_probability(exact=True)
        Fraction(2443, 3888)
        """
        return self.outcomes(exact=exact, method=method).prob(self.is_stopped)

    def is_stopped(self, end: CampaignOutcome) -> bool:
        """Return whether the attackers have stopped: with armies left that might attack.

        end: how the campaign ended.

        >>> campaign = Campaign(9, [2, 3], stop=StopRule(max_rolls=1))
        >>> campaign.is_stopped(CampaignOutcome(1, 7, 2))
        True
        """
        if end.conquered == len(self.territories):
            return False
        return self._stages[end.conquered].is_stopped(end.attackers, end.defenders)

    def stages(self) -> list[Stage]:
        """Return the battles of the campaign, each with the rules and the stop that it has.

        >>> Campaign(9, [Territory(2, garrison=3), 1]).stages()[1].rules
        Rules(garrison=3)
        """
        return list(self._stages)

    def territory_odds(
        self, *, exact: bool = False, method: str = "auto"
    ) -> tuple[TerritoryOdds, ...]:
        """Return the chances to reach and to take each territory.

        >>> first, second = Campaign(3, [1, 1]).territory_odds(exact=True)
        >>> first.conquer_probability == second.reach_probability
        True
        """
        odds = [
            TerritoryOdds(
                _rounded(crossing.reached, exact),
                _rounded(crossing.conquered, exact),
                _rounded(crossing.stack.mean(), exact),
            )
            for crossing in self._crossings(exact, method)
        ]
        never = TerritoryOdds(*[_rounded(Fraction(0), exact)] * 3)
        return tuple(odds + [never] * (len(self.territories) - len(odds)))

    def score(self, *, exact: bool = False, method: str = "auto") -> Distribution[int]:
        """Return the distribution of Norvig's score: armies left, less defenders left.

        The armies are those on the last territory. When the campaign fails, all defenders
        on the way count, those not yet attacked too.

        >>> score = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]).score()
        >>> round(score.mean(), 6), score.mode()
        (10.230852, 12)
        """
        return self.outcomes(exact=exact, method=method).map(self.score_of)

    def score_of(self, end: CampaignOutcome) -> int:
        """Return Norvig's score of one end: see `score`.

        end: how the campaign ends.

        >>> Campaign(3, [1, 5]).score_of(CampaignOutcome(conquered=0, attackers=1, defenders=1))
        -5
        """
        if not isinstance(end, CampaignOutcome):
            raise MalformedError(f"end must be a CampaignOutcome, got {quote(end)}")
        untouched = self.territories[end.conquered + 1 :]
        return end.attackers - end.defenders - sum(territory.defenders for territory in untouched)

    def play(self, rng: "np.random.Generator") -> tuple[PlayedBattle, ...]:
        """Return the battles of one campaign that is played with random dice.

        rng: a `numpy.random.Generator`; the same seed plays the same campaign.

        Battles that are not rolled with dice chosen before each roll, as under balanced blitz, end
        at random by the distribution of their outcome.

        >>> Campaign(12, [3, 2]).play(np.random.default_rng(1))[0]
        PlayedBattle(territory=1, attackers=12, defenders=3, attackers_left=11, defenders_left=0)
        """
        if not isinstance(rng, np.random.Generator):
            raise MalformedError(f"rng must be a numpy.random.Generator, got {quote(rng)}")
        way = self.stages()
        kernels = [stage.kernel() for stage in way]
        battles: list[PlayedBattle] = []
        stack = self.attackers
        for number, (stage, kernel) in enumerate(zip(way, kernels, strict=True), start=1):
            garrison = stage.rules.garrison
            able, defenders = kernel.play(stack - garrison, stage.defenders, rng)
            left = able + garrison, defenders
            battles.append(PlayedBattle(number, stack, stage.defenders, *left))
            if defenders:
                break
            stack = able
        return tuple(battles)

    @cached_property
    def _stages(self) -> tuple[Stage, ...]:
        return tuple(stages(self.territories, self.rules, self.stop))

    def _crossings(self, exact: bool, method: str) -> Iterator["_Crossing"]:
        """Yield what happens at each territory, as far as the stack can come."""
        reached: Probability = Fraction(1)
        stack = Distribution([self.attackers])
        way = self.stages()
        kernels = [stage.kernel(exact=exact, method=method) for stage in way]
        for number, (stage, kernel) in enumerate(zip(way, kernels, strict=True)):
            if number < 2:  # later stacks are no larger
                _refuse_together(way[number:], kernels[number:], stack)
            garrison = stage.rules.garrison
            able = stack.map(lambda n, garrison=garrison: n - garrison)  # type: ignore[misc]
            ends = kernel.forward(able, stage.defenders)
            conquered = reached * ends.prob(_is_taken)
            yield _Crossing(reached, conquered, stack, ends, garrison)
            if not conquered:
                break
            stack = ends.condition(_is_taken).map(
                lambda state: state.attackers
            )  # all but the garrison
            reached = conquered


class _Crossing(NamedTuple):
    """What happens at one territory, given that it is reached.

    reached, conquered: the chances to reach it, and to take it.
    stack: the distribution of the armies that attack it.
    ends: that of the absorbing state.
    garrison: armies that stay behind.
    """

    reached: Probability
    conquered: Probability
    stack: Distribution[int]
    ends: Distribution[State]
    garrison: int


def _is_taken(state: State) -> bool:
    return state.defenders == 0


def _rounded(number: Probability, exact: bool) -> Probability:
    return number if exact else float(number)


def _goes_backward(
    way: Sequence[Stage], kernels: Sequence[Kernel], attackers: int, most: int
) -> bool:
    """Return whether all battles have tables of floats, together of at most so many cells."""
    rows = sum(stage.defenders for stage in way)
    return (attackers + CELLS_IN_THE_TIME_OF_A_ROW) * rows <= most and all(
        kernel.by_rows
        and not kernel.exact  # fractions are as fast forward
        and kernel.most_left(attackers, stage.defenders) == (attackers, stage.defenders)
        for stage, kernel in zip(way, kernels, strict=True)
    )


def _refuse_together(
    way: Sequence[Stage], kernels: Sequence[Kernel], stack: Distribution[int]
) -> None:
    """Refuse a way before its first battle if all battles together would take too long.

    stack: the distribution of the armies that set out on it.

    In floats a huge first battle is answered without tables, and may leave few armies for the next.
    """
    most = max(stack) - way[0].rules.garrison
    if most <= 0 or len(way) == len(stack) == 1:  # a battle refuses by itself
        return
    question = "distribution" if len(stack) == 1 else "stack"
    if kernels[0].exact or kernels[0].by(question, most, way[0].defenders).by_rows:
        refuse_tables(way, kernels, most, "stack")


def refuse_tables(
    way: Sequence[Stage], kernels: Sequence[Kernel], able: int, question: str = "table"
) -> None:
    """Refuse a way that takes too long: together as long as a battle against all its defenders.

    able: attackers able to attack in the first battle.
    question: what is asked of the kernels, as in `Kernel.by`.
    """
    defended = [stage.defenders for stage in way]
    if question == "stack":  # it goes forward, and no further than it gets
        staying = accumulate(stage.rules.garrison for stage in way[1:])
        defended = defended[: 1 + sum(able > armies for armies in staying)]
        if not kernels[0].exact:  # what is too rare is left out
            room = BEATEN_BY_ONE * able
            before = accumulate(defended, initial=0)
            defended = [
                min(defenders, room - armies)
                for defenders, armies in zip(defended, before, strict=False)
                if armies < room
            ]
    for kernel in dict.fromkeys(kernels):
        method = kernel.by(question, able, sum(defended))
        if question == "table":  # whatever the method, a row has a number for each army
            size = able + sum(defended)
            method.refuse_too_large(able, sum(defended), memory=ROW_BYTES * size, states=0)
        method.refuse_way(able, defended)


def chances_along(
    way: Sequence[Stage], kernels: Sequence[Kernel], attackers: Sequence[int], keep: int = 0
) -> list[Probability]:
    """Return the chances to take a whole way, by one backward pass for all sizes of the stack.

    way: the battles, one after the other.
    kernels: the kernel of each.
    attackers: armies on the territory from which it starts, garrison included.
    keep: armies that must be left on the last territory.
    """
    able = [max(number - way[0].rules.garrison, 0) for number in attackers]
    most, defenders = max(able), way[0].defenders
    if most:  # before rows of that length are made
        refuse_tables(way, kernels, most)
    enough = np.arange(most + 1) >= keep

    def chances(*, against: bool) -> list[Any]:
        taken = (~enough if against else enough).astype(int)
        values = values_along(way[1:], kernels[1:], taken, int(against))
        row = kernels[0].value(Values(values, [int(against)] * (defenders + 1)), defenders)
        return [row[number] for number in able]

    won = chances(against=False)
    if all(isinstance(chance, int | Fraction) for chance in won):
        return [Fraction(chance) for chance in won]
    bounded: list[Probability] = [min(float(chance), 1.0) for chance in won]
    if any(kernel.certain for kernel in kernels):  # a sum to 1 may be rounded, one to 0 is exact
        lost = chances(against=True)
        return [min(a, BELOW_ONE) if b else 1.0 for a, b in zip(bounded, lost, strict=True)]
    return bounded


def values_along(
    way: Sequence[Stage], kernels: Sequence[Kernel], taken: npt.NDArray[Any], failed: int
) -> npt.NDArray[Any]:
    """Return the expected value of a way for each number of armies that set out on it.

    way: the battles, one after the other.
    kernels: the kernel of each.
    taken: `taken[n]` is the value of n armies on the last territory.
    failed: the value of whatever else happens.

    Entry `[n]`, as many as `taken` has, is for n armies on the territory from which it starts.
    """
    values = taken
    for stage, kernel in zip(reversed(way), reversed(kernels), strict=True):
        staying = min(stage.rules.garrison, len(values))
        able = len(values) - staying
        lost = [failed] * (stage.defenders + 1)
        row = kernel.value(Values(values[: max(able, 1)], lost), stage.defenders)
        kind = object if kernel.exact else float
        moved = np.array(row[np.arange(able)], dtype=kind)
        values = np.concatenate([np.full(staying, failed, kind), moved])
    return values
