"""Campaign: the battles of one stack through a chain of territories.

A campaign is a product of kernels. Forward, the kernels carry the distribution of the stack from
one territory to the next. Backward, they carry the value of the outcomes.
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
from iacta.inputs.checks import check_choice, quote, read_int, set_field
from iacta.inputs.errors import MalformedError
from iacta.inputs.meanings import Count
from iacta.inputs.reprs import PasteableMixin
from iacta.methods.kernel import Kernel, State, Values, value_victories
from iacta.methods.roll_counts import count_rolls, start_battle, sum_by_rolls
from iacta.probability.distribution import Distribution, Probability
from iacta.rules.rules import Rules
from iacta.rules.stop import StopRule, format_stop_argument, read_stop
from iacta.rules.variants import find_rules, format_rules_argument

BELOW_ONE = 1 - 2.0**-53
MAX_BACKWARD_CELLS = 4 * 10**6  # maximum size of the tables for a backward pass
ROW_BYTES = 100  # memory of a row, per army on either side
BACKWARD_CELLS_PER_ROW = 1000  # fixed cost of a row, in cells
MAX_CELLS_FOR_RARE_WINS = (
    10**8
)  # replaces MAX_BACKWARD_CELLS if a forward pass would miss rare victories
MIN_CHANCE_RATIO = 1e-3  # minimum ratio of last to first chance for an accurate forward pass
MAX_BEATEN_PER_ATTACKER = 4  # stacks almost never beat more defenders than this per attacker


class CampaignOutcome(NamedTuple):
    """The end of a campaign.

    conquered: the number of territories conquered.
    attackers: the armies on the last territory that the stack reached.
    defenders: the armies left on the first territory not conquered; 0 if all were conquered.
    """

    conquered: Count
    attackers: Count
    defenders: Count


class TerritoryOdds(NamedTuple):
    """The chances for one territory of a campaign.

    reach_probability: the chance that the stack conquers all territories before this one.
    conquer_probability: the chance that the stack also conquers this territory.
    expected_attackers: the expected size of the attacking stack, garrison included, given that it
        reaches this territory; 0 if it cannot reach it.
    """

    reach_probability: Probability
    conquer_probability: Probability
    expected_attackers: Probability


class PlayedBattle(NamedTuple):
    """One battle in a campaign that was played with random dice.

    territory: the number of the territory in the campaign, from 1.
    attackers: the attackers before the battle, garrison included.
    defenders: the defenders before the battle.
    attackers_left: the attackers after the battle, before the stack moves on.
    defenders_left: the defenders after the battle.
    """

    territory: Count
    attackers: Count
    defenders: Count
    attackers_left: Count
    defenders_left: Count


@dataclass(frozen=True, init=False, repr=False)
class Campaign(PasteableMixin):
    """A stack that attacks one territory after another and moves on with all but the garrison.

    Rules with `most_advance` limit how many armies move on; the others stay behind.

    attackers: the number of armies on the first attacking territory, garrison included.
    territories: one entry per territory: its number of defenders, a `Territory` with its own rules
        and garrison, or a string such as `"8:capital@3"`.
    rules: `Rules`, or the name of a rule set.
    garrison: the number of armies that must stay behind on each territory; `None` for the rules'
        garrison.
    stop: the `StopRule` for battles without their own, or `None` to fight to the end.

    The campaign ends when the stack has conquered all territories, cannot go on, or stops. Limits
    on losses and rolls apply to each battle separately, and `stop_at` counts the armies on the
    current attacking territory. Armies held back take no part in a battle; after a conquest, all
    armies except the garrison move on.

    Results are floats, or fractions with `exact=True`; `method` is as for `Battle`. The relative
    error of a float is at most the sum of the errors of the battles, each at most 1e-12, and twice
    this sum for `expected_attackers`, which is a ratio. Chances below 1e-150 may become 0. If the
    first battle has more than a million states, distributions and the odds by territory leave out
    outcomes whose chance is below 1e-18, given the winner of the battle. Balanced blitz applies to
    each battle separately and has an absolute error. A defender who sees the attack roll first only
    considers their own territory.

    Armies that are not whole numbers of at least 1, or a campaign without territories, raise
    `IactaError`.

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
        set_field(self, "attackers", read_int(attackers, "attackers", minimum=1))
        set_field(self, "territories", read_territories(territories))
        set_field(self, "rules", find_rules(rules, garrison))
        set_field(self, "stop", read_stop(stop))

    def to_text(self) -> str:
        """Return Python code of any length that creates this campaign."""
        way = ", ".join(
            repr(territory if territory != Territory(territory.defenders) else territory.defenders)
            for territory in self.territories
        )
        more = format_rules_argument(self.rules) + format_stop_argument(self.stop)
        return f"Campaign({self.attackers}, [{way}]{more})"

    def _summary(self) -> str:
        return f"{self.attackers} armies through {len(self.territories)} territories"

    def outcomes(
        self, *, exact: bool = False, method: str = "auto"
    ) -> Distribution[CampaignOutcome]:
        """Return the distribution of the outcome of the campaign.

        >>> ends = Campaign(3, [1, 1]).outcomes(exact=True)
        >>> ends[CampaignOutcome(conquered=2, attackers=1, defenders=0)]
        Fraction(625, 2592)
        """
        ends: dict[CampaignOutcome, Probability] = {}
        for number, crossing in enumerate(self._list_crossings(exact, method)):
            for state, probability in crossing.ends.items():
                if state.defenders:
                    left = state.attackers + crossing.rules.garrison
                    end = CampaignOutcome(number, left, state.defenders)
                elif number + 1 == len(self.territories):
                    moved = crossing.rules.limit_advance(state.attackers)
                    end = CampaignOutcome(number + 1, moved, 0)
                else:
                    continue
                ends[end] = ends.get(end, 0) + _convert(crossing.reached * probability, exact)
        return Distribution(ends) if exact else Distribution.from_probabilities(ends)

    @overload
    def win_probability(self, *, exact: Literal[False] = False, method: str = "auto") -> float: ...
    @overload
    def win_probability(self, *, exact: Literal[True], method: str = "auto") -> Fraction: ...
    @overload
    def win_probability(self, *, exact: bool, method: str = "auto") -> Probability: ...
    def win_probability(self, *, exact: bool = False, method: str = "auto") -> Probability:
        """Return the chance that the stack conquers all territories.

        >>> Campaign(3, [1]).win_probability(exact=True)
        Fraction(1955, 2592)
        """
        way = self.stages()
        kernels = [stage.kernel(exact=exact, method=method) for stage in way]
        if len(way) == 1:
            able = self.attackers - way[0].rules.garrison
            return _convert(kernels[0].win_probability(able, way[0].defenders), exact)
        if not _can_pass_backward(way, kernels, self.attackers, MAX_BACKWARD_CELLS):
            odds = self.territory_odds(exact=exact, method=method)
            first, last = odds[0].conquer_probability, odds[-1].conquer_probability
            # If `last` is much smaller than `first`, it depends on rare outcomes, which forward
            # passes omit.
            likely = exact or last > MIN_CHANCE_RATIO * first
            if likely or not _can_pass_backward(
                way, kernels, self.attackers, MAX_CELLS_FOR_RARE_WINS
            ):
                return last
        return _convert(compute_way_chances(way, kernels, [self.attackers])[0], exact)

    @overload
    def stop_probability(self, *, exact: Literal[False] = False, method: str = "auto") -> float: ...
    @overload
    def stop_probability(self, *, exact: Literal[True], method: str = "auto") -> Fraction: ...
    @overload
    def stop_probability(self, *, exact: bool, method: str = "auto") -> Probability: ...
    def stop_probability(self, *, exact: bool = False, method: str = "auto") -> Probability:
        """Return the chance that the attackers stop although they could still attack.

        >>> Campaign(4, [2], stop=StopRule(max_rolls=1)).stop_probability(exact=True)
        Fraction(2443, 3888)
        """
        return self.outcomes(exact=exact, method=method).prob(self.is_stopped)

    def is_stopped(self, end: CampaignOutcome) -> bool:
        """Return whether the attackers stopped although they could still attack.

        end: an outcome of the campaign.

        >>> campaign = Campaign(9, [2, 3], stop=StopRule(max_rolls=1))
        >>> campaign.is_stopped(CampaignOutcome(1, 7, 2))
        True
        """
        if end.conquered == len(self.territories):
            return False
        return self._stages[end.conquered].is_stopped(end.attackers, end.defenders)

    def stages(self) -> list[Stage]:
        """Return the battles of the campaign, each with its rules and its stop rule.

        >>> Campaign(9, [Territory(2, garrison=3), 1]).stages()[1].rules
        Rules(garrison=3)
        """
        return list(self._stages)

    def territory_odds(
        self, *, exact: bool = False, method: str = "auto"
    ) -> tuple[TerritoryOdds, ...]:
        """Return the chances to reach and to conquer each territory.

        >>> first, second = Campaign(3, [1, 1]).territory_odds(exact=True)
        >>> first.conquer_probability == second.reach_probability
        True
        """
        odds = [
            TerritoryOdds(
                _convert(crossing.reached, exact),
                _convert(crossing.conquered, exact),
                _convert(crossing.stack.mean(), exact),
            )
            for crossing in self._list_crossings(exact, method)
        ]
        never = TerritoryOdds(*[_convert(Fraction(0), exact)] * 3)
        return tuple(odds + [never] * (len(self.territories) - len(odds)))

    def count_possible_conquests(self) -> int:
        """Return the number of territories that the attackers conquer if they lose no army.

        Further conquests are impossible, unless armies can grow under the rules.

        >>> Campaign(3, [1, 1, 1]).count_possible_conquests()
        2
        """
        armies = self.attackers
        for conquered, stage in enumerate(self._stages):
            if stage.rules.mode.grows:
                return len(self._stages)
            armies -= stage.rules.garrison
            if armies <= (stage.stop.hold_back or 0) or stage.is_forbidden(armies):
                return conquered
            armies = min(armies, stage.rules.most_advance or armies)
        return len(self._stages)

    def score(self, *, exact: bool = False, method: str = "auto") -> Distribution[int]:
        """Return the distribution of Norvig's score: attackers left minus defenders left.

        Attackers count only on the territory where the stack ends; defenders count on all
        territories.

        >>> score = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1]).score()
        >>> round(score.mean(), 6), score.mode()
        (10.230852, 12)
        """
        return self.outcomes(exact=exact, method=method).map(self.compute_score)

    def rolls(self, *, exact: bool = False) -> Distribution[int]:
        """Return the distribution of the number of rolls in all battles of the campaign.

        The exceptions are the same as for `Battle.rolls`.

        >>> Campaign(4, [1, 1]).rolls(exact=True)
        Distribution({2: 11875, 3: 19229})
        """
        check_choice(exact, (True, False), "exact")
        way, ended = self.stages(), []
        stacks = [start_battle(self.attackers, way[0].defenders, exact=exact)]
        for number, stage in enumerate(way, start=1):
            starts = [
                stack._replace(
                    able=stack.able - stage.rules.garrison,
                    defenders=np.full_like(stack.able, stage.defenders),
                )
                for stack in stacks
            ]
            ends = list(count_rolls(stage.kernel(exact=exact), starts))
            moves_on = [(end.defenders == 0) & (number < len(way)) for end in ends]
            ended += [end.select(~here) for end, here in zip(ends, moves_on, strict=True)]
            stacks = [
                end.select(here) for end, here in zip(ends, moves_on, strict=True) if here.any()
            ]
            if stage.rules.most_advance is not None:
                most = stage.rules.most_advance
                stacks = [stack._replace(able=np.minimum(stack.able, most)) for stack in stacks]
        return sum_by_rolls(ended, exact=exact)

    def compute_score(self, outcome: CampaignOutcome) -> int:
        """Return Norvig's score of one outcome of the campaign, as in `score`.

        outcome: an outcome of the campaign.

        >>> outcome = CampaignOutcome(conquered=0, attackers=1, defenders=1)
        >>> Campaign(3, [1, 5]).compute_score(outcome)
        -5
        """
        if not isinstance(outcome, CampaignOutcome):
            raise MalformedError(f"outcome must be a CampaignOutcome, got {quote(outcome)}")
        untouched = self.territories[outcome.conquered + 1 :]
        return (
            outcome.attackers
            - outcome.defenders
            - sum(territory.defenders for territory in untouched)
        )

    def play(self, rng: "np.random.Generator") -> tuple[PlayedBattle, ...]:
        """Play the campaign once with random dice, and return its battles.

        rng: a `numpy.random.Generator`. Use the same seed to repeat a campaign.

        If battles have no single rolls, as in balanced blitz, their outcomes are drawn at random.

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
            stack = stage.rules.limit_advance(able)
        return tuple(battles)

    @cached_property
    def _stages(self) -> tuple[Stage, ...]:
        return tuple(stages(self.territories, self.rules, self.stop))

    def _list_crossings(self, exact: bool, method: str) -> Iterator["_Crossing"]:
        """Yield the battle for each territory that the stack can reach."""
        reached: Probability = Fraction(1)
        stack = Distribution([self.attackers])
        way = self.stages()
        kernels = [stage.kernel(exact=exact, method=method) for stage in way]
        for number, (stage, kernel) in enumerate(zip(way, kernels, strict=True)):
            if number < 2:  # later stacks are not larger, so they need no check
                _refuse_slow_way(way[number:], kernels[number:], stack)
            garrison = stage.rules.garrison
            able = stack.map(lambda n, garrison=garrison: n - garrison)  # type: ignore[misc]
            ends = kernel.run_forward(able, stage.defenders)
            conquered = reached * ends.prob(_is_taken)
            yield _Crossing(reached, conquered, stack, ends, stage.rules)
            if not conquered:
                break
            # As many attackers as possible move on.
            move_in = stage.rules.limit_advance
            left = ends.condition(_is_taken)
            stack = left.map(lambda state, move_in=move_in: move_in(state.attackers))  # type: ignore[misc]
            reached = conquered


class _Crossing(NamedTuple):
    """The battle for one territory, given that the stack reaches it.

    reached, conquered: the chances to reach and to conquer the territory.
    stack: the distribution of the size of the stack.
    ends: the distribution of the final state.
    rules: the rules of the battle.
    """

    reached: Probability
    conquered: Probability
    stack: Distribution[int]
    ends: Distribution[State]
    rules: Rules


def _is_taken(state: State) -> bool:
    return state.defenders == 0


def _convert(number: Probability, exact: bool) -> Probability:
    return number if exact else float(number)


def _can_pass_backward(
    way: Sequence[Stage], kernels: Sequence[Kernel], attackers: int, max_cells: int
) -> bool:
    """Return whether a backward pass in floats is possible and costs at most `max_cells` cells."""
    rows = sum(stage.defenders for stage in way)
    return (attackers + BACKWARD_CELLS_PER_ROW) * rows <= max_cells and all(
        kernel.is_vectorised
        and not kernel.exact  # in fractions, a forward pass is just as fast
        and kernel.most_left(attackers, stage.defenders) == (attackers, stage.defenders)
        for stage, kernel in zip(way, kernels, strict=True)
    )


def _refuse_slow_way(
    way: Sequence[Stage], kernels: Sequence[Kernel], stack: Distribution[int]
) -> None:
    """Raise `TooLargeError` before the first battle if the whole campaign would take too long.

    stack: the distribution of the armies at the start.

    In floats, a huge first battle needs no tables and may leave few armies for the next battle.
    """
    most = max(stack) - way[0].rules.garrison
    if most <= 0 or len(way) == len(stack) == 1:  # a single battle checks its own size
        return
    question = "distribution" if len(stack) == 1 else "stack"
    if kernels[0].exact or kernels[0].for_question(question, most, way[0].defenders).is_vectorised:
        refuse_tables(way, kernels, most, "stack")


def refuse_tables(
    way: Sequence[Stage], kernels: Sequence[Kernel], able: int, question: str = "table"
) -> None:
    """Raise `TooLargeError` if a campaign would take too long.

    able: the attackers in the first battle, without the garrison.
    question: the kind of question, as for `Kernel.for_question`.

    A campaign takes as long as a single battle against all its defenders.
    """
    defended = [stage.defenders for stage in way]
    if question == "stack":  # a forward pass ends where garrisons use up the stack
        staying = accumulate(stage.rules.garrison for stage in way[1:])
        defended = defended[: 1 + sum(able > armies for armies in staying)]
        if not kernels[0].exact:  # in floats, rare outcomes are omitted
            room = MAX_BEATEN_PER_ATTACKER * able
            before = accumulate(defended, initial=0)
            defended = [
                min(defenders, room - armies)
                for defenders, armies in zip(defended, before, strict=False)
                if armies < room
            ]
    for kernel in dict.fromkeys(kernels):
        method = kernel.for_question(question, able, sum(defended))
        if question == "table":  # a row has one number per army on either side
            size = able + sum(defended)
            method.refuse_too_large(able, sum(defended), memory=ROW_BYTES * size, states=0)
        method.refuse_way(able, defended)


def compute_way_chances(
    way: Sequence[Stage], kernels: Sequence[Kernel], attackers: Sequence[int], keep: int = 0
) -> list[Probability]:
    """Return the chances to conquer all territories, for several sizes of the stack at once.

    way: the battles in order.
    kernels: the kernel of each battle.
    attackers: the sizes of the stack on the first territory, garrison included.
    keep: the number of armies that must be left on the last territory.
    """
    able = [max(number - way[0].rules.garrison, 0) for number in attackers]
    most, defenders = max(able), way[0].defenders
    if most:
        refuse_tables(way, kernels, most)
    enough = np.arange(most + 1) >= keep

    def compute_chances(*, failing: bool) -> list[Any]:
        taken = (~enough if failing else enough).astype(int)
        values = compute_way_values(way[1:], kernels[1:], taken, int(failing))
        won = value_victories(values, way[0].rules)
        row = kernels[0].value(Values(won, [int(failing)] * (defenders + 1)), defenders)
        return [row[number] for number in able]

    won = compute_chances(failing=False)
    if all(isinstance(chance, int | Fraction) for chance in won):
        return [Fraction(chance) for chance in won]
    bounded: list[Probability] = [min(float(chance), 1.0) for chance in won]
    if any(kernel.certain for kernel in kernels):
        # A chance near 1 may be rounded, but the chance to fail is 0 only if the win is certain.
        lost = compute_chances(failing=True)
        return [min(a, BELOW_ONE) if b else 1.0 for a, b in zip(bounded, lost, strict=True)]
    return bounded


def compute_way_values(
    way: Sequence[Stage],
    kernels: Sequence[Kernel],
    taken_values: npt.NDArray[Any],
    failed_value: int,
) -> npt.NDArray[Any]:
    """Return the expected value of a campaign for each number of armies at the start.

    way: the battles in order.
    kernels: the kernel of each battle.
    taken_values: `taken_values[n]` is the value of n armies on the last territory.
    failed_value: the value of a campaign that fails.

    Return an array of the same length as `taken_values`; entry `[n]` is for n armies on the first
    territory.
    """
    values = taken_values
    for stage, kernel in zip(reversed(way), reversed(kernels), strict=True):
        staying = min(stage.rules.garrison, len(values))
        able = len(values) - staying
        lost = [failed_value] * (stage.defenders + 1)
        won = value_victories(values[: max(able, 1)], stage.rules)
        row = kernel.value(Values(won, lost), stage.defenders)
        kind = object if kernel.exact else float
        moved = np.array(row[np.arange(able)], dtype=kind)
        values = np.concatenate([np.full(staying, failed_value, kind), moved])
    return values
