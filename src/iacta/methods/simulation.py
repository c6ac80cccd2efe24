"""Simulation: battles and campaigns fought with real dice, many at once.

Nothing is computed from a law of the losses: dice are thrown by the rules, sorted and compared
(`methods/throws.py`). So a simulation is slow and inexact, but it catches a law that is wrong.
In n runs that succeed independently with chance p, the part of them that succeed has the standard
deviation

    √(p (1 − p) / n),

0.0012 in 100,000 runs of a chance of 0.81: chance decides how near the answer is.

The battles that throw the same dice are rolled together, a row of numbers for each die, and leave
when their dice change. As armies only get fewer, the dice do too: the groups are taken from the
most dice to the fewest, and none has to be looked at twice. (Where armies can grow, they do so in
a full roll only, after which the dice are as many.)

The runs are split into blocks of one size, each with a seed of its own, spawned from the first
one. So the answer depends on the seed alone, not on who fights which block, nor in which order.

Sources: Norvig, "The Unfinished Game ... of Risk" (2020, `campaign`), where 100,000 campaigns
took 33 s; Höhle (2025), appendix 1.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import shown, whole_number
from iacta.distribution import Distribution
from iacta.errors import IllegalError, MalformedError, TooLargeError
from iacta.methods.limits import check_rules, refuse_dice_mode
from iacta.methods.outcome import Outcome, Stage, is_won
from iacta.methods.throws import all_ones_probability, throw_losses
from iacta.methods.workers import check_executor, spread
from iacta.rules.dice import Dice
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, Stop

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = [
    "NAME",
    "RUNS",
    "SEED",
    "End",
    "Progress",
    "Seed",
    "fight",
    "fight_until",
    "outcomes",
    "refuse",
    "relative_error",
    "simulate",
    "win_probability",
]

NAME: str = "simulation"

RUNS = 100_000
SEED = 1

Armies: TypeAlias = npt.NDArray[np.int64]
Battles: TypeAlias = tuple[Armies, Armies]
Progress: TypeAlias = Callable[[int], object]
Seed: TypeAlias = "int | np.random.Generator"

RUNS_AT_ONCE = 25_000  # the rows of one block fit into a processor's cache
MOST_THROWN = 5 * 10**11
FEWEST_AT_ONCE = 1000  # to throw fewer dice at once takes as long
MOST_GARRISON = 2**62


class End(NamedTuple):
    """How one run ends: territories taken, and the armies left on the last two.

    conquered: how many territories were taken.
    attackers: armies on the territory on which the stack stands at the end.
    defenders: armies left on the territory that it failed to take; 0 if it took all.
    """

    conquered: int
    attackers: int
    defenders: int


class Block(NamedTuple):
    """What one worker is handed: a number of runs, and the seed of their dice."""

    stack: Distribution[int]
    way: tuple[Stage, ...]
    runs: int
    seed: "np.random.SeedSequence"


def refuse(attackers: int, defenders: int, rules: Rules) -> None:
    """Refuse a battle that `RUNS` runs do not end within an hour.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    Battles that might never end are refused too: where all dice show ones so often that a full
    roll brings more armies than it takes.
    """
    _refuse(attackers, [Stage(defenders, rules)], RUNS)


def relative_error(attackers: int, defenders: int, rules: Rules) -> float:
    """Return infinity: chance decides how near an answer is.

    attackers, defenders: armies on the two territories.
    rules: the rules of the battle.

    >>> relative_error(12, 10, Rules())
    inf
    """
    return math.inf


def win_probability(
    attackers: int, defenders: int, rules: Rules, *, runs: int = RUNS, seed: Seed = SEED
) -> float:
    """Return how many of many battles take the territory, as a part of all.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    runs: how many battles are fought.
    seed: a whole number, or a `numpy.random.Generator`; the same seed throws the same dice.

    >>> round(win_probability(3, 1, Rules()), 2)
    0.75
    """
    law = outcomes(Distribution([attackers]), defenders, rules, runs=runs, seed=seed)
    return float(law.prob(is_won))


def outcomes(
    stack: Distribution[int],
    defenders: int,
    rules: Rules,
    *,
    runs: int = RUNS,
    seed: Seed = SEED,
    stop: Stop = NEVER,
) -> Distribution[Outcome]:
    """Return how often each outcome came in many battles, as parts of all.

    stack: the law of the number of attackers on the territory, garrison included; each battle
        draws its own from it.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    runs: how many battles are fought.
    seed: a whole number, or a `numpy.random.Generator`; the same seed throws the same dice.
    stop: when the attackers stop.

    >>> law = outcomes(Distribution([3]), 1, Rules())
    >>> round(law[Outcome(attackers=3, defenders=0)], 2)
    0.58
    """
    if not defenders:
        return stack.to_float().map(lambda attackers: Outcome(attackers, 0))
    way = (Stage(defenders, rules, stop),)
    # Two like battles of one campaign shall not throw the same dice, hence their size.
    root = _root_seed(seed, max(stack), defenders)
    counts = _simulate(stack, way, runs, root, None, None)
    ends = {
        Outcome(end.attackers + end.conquered * rules.garrison, end.defenders): count
        for end, count in counts.items()
    }
    return Distribution(ends).to_float()


def simulate(
    attackers: int,
    way: Iterable[Stage],
    *,
    runs: int = RUNS,
    seed: Seed = SEED,
    executor: "Executor | None" = None,
    progress: Progress | None = None,
) -> Counter[End]:
    """Lead a stack along a way many times, and count how it ends.

    attackers: armies on the territory from which it starts, garrison included.
    way: the battles on the way, one after the other.
    runs: how many times.
    seed: a whole number, or a `numpy.random.Generator`; the same seed throws the same dice.
    executor: any `concurrent.futures.Executor`, over whose workers the runs are spread; `None`
        for none. The result does not depend on it.
    progress: is called with the number of runs done so far, whenever some are; `None` for none.

    Runs that would take more than an hour on one processor are refused.

    >>> ends = simulate(3, [Stage(1, Rules())], runs=1000)
    >>> sum(count for end, count in ends.items() if end.conquered)
    755
    """
    stack = Distribution([whole_number(attackers, "attackers", least=1)])
    return _simulate(stack, tuple(way), runs, _root_seed(seed), executor, progress)


def _simulate(
    stack: Distribution[int],
    way: tuple[Stage, ...],
    runs: int,
    root: "np.random.SeedSequence",
    executor: "Executor | None",
    progress: Progress | None,
) -> Counter[End]:
    count = whole_number(runs, "runs", least=1)
    for stage in way:
        check_rules(stage.rules)
    _refuse(max(stack), way, count)
    check_executor(executor)
    if progress is not None and not callable(progress):
        raise MalformedError(f"progress must be a function, got {shown(progress)}")
    ends: Counter[End] = Counter()
    with closing(spread(_play, _blocks(stack, way, count, root), executor)) as blocks:
        for block in blocks:
            ends.update(block)
            if progress is not None:
                progress(ends.total())
    return ends


def _blocks(
    stack: Distribution[int], way: tuple[Stage, ...], runs: int, root: "np.random.SeedSequence"
) -> Iterator[Block]:
    for first in range(0, runs, RUNS_AT_ONCE):
        yield Block(stack, way, min(RUNS_AT_ONCE, runs - first), root.spawn(1)[0])


def _play(block: Block) -> Counter[End]:
    """Fight all runs of a block, one territory after the other."""
    rng = np.random.default_rng(block.seed)
    attackers = _stacks(block.stack, block.runs, rng)
    ends: Counter[End] = Counter()
    for taken, (defenders, rules, stop) in enumerate(block.way):
        against = np.full(len(attackers), defenders, dtype=np.int64)
        fought = stop.rules_in_fight(rules)
        if stop.is_reserve:
            left, against = fight(attackers, against, fought, rng)
        else:
            left, against = fight_until(attackers, against, fought, stop, rng)
        won = against == 0
        _count(ends, taken, left[~won], against[~won])
        attackers = left[won] - _garrison(rules)
    _count(ends, len(block.way), attackers, np.zeros_like(attackers))
    return ends


def _stacks(stack: Distribution[int], runs: int, rng: "np.random.Generator") -> Armies:
    if len(stack) == 1:
        return np.full(runs, max(stack), dtype=np.int64)
    return np.array(stack.sample(runs, rng), dtype=np.int64)


def _count(ends: Counter[End], taken: int, attackers: Armies, defenders: Armies) -> None:
    pairs = Counter(zip(attackers.tolist(), defenders.tolist(), strict=True))
    for (left, against), count in sorted(pairs.items()):
        ends[End(taken, left, against)] += count


def fight(
    attackers: Armies, defenders: Armies, rules: Rules, rng: "np.random.Generator"
) -> Battles:
    """Fight many battles to their end, and return the attackers and defenders left.

    attackers: armies on the attacking territory of each battle, garrison included.
    defenders: armies on the defended territory of each.
    rules: the rules of the battles.
    rng: the source of chance.

    Two arrays as long as those given. Their entries belong together, but the battles come back
    in another order.

    >>> rng = np.random.default_rng(1)
    >>> left, against = fight(np.array([12, 12, 12]), np.array([10, 10, 10]), Rules(), rng)
    >>> left.tolist(), against.tolist()
    ([10, 1, 2], [0, 4, 0])
    """
    garrison = _garrison(rules)
    ended: list[Battles] = []
    going = _without_ended([(attackers - garrison, defenders)], ended)
    most = rules.full_roll
    for dice in ((i, j) for i in range(most[0], 0, -1) for j in range(most[1], 0, -1)):
        able, against = going
        here = (np.minimum(able, most[0]) == dice[0]) & (np.minimum(against, most[1]) == dice[1])
        if here.any():
            others = able[~here], against[~here]
            left = _roll_on(able[here], against[here], dice, rules, rng)
            going = _without_ended(chain([others], left), ended)
    able, against = (np.concatenate(side) for side in zip(*ended, strict=True))
    return able + garrison, against


def fight_until(
    attackers: Armies, defenders: Armies, rules: Rules, stop: Stop, rng: "np.random.Generator"
) -> Battles:
    """Fight many battles until the attackers stop, and return the attackers and defenders left.

    attackers, defenders, rng: as for `fight`.
    rules: the rules of the battles; their garrison includes the armies kept out of the fight.
    stop: when the attackers stop.

    Two arrays as long as those given, in the same order.

    >>> rng = np.random.default_rng(1)
    >>> twelve, ten = np.array([12, 12, 12]), np.array([10, 10, 10])
    >>> left, against = fight_until(twelve, ten, Rules(), Stop(max_losses=3), rng)
    >>> left.tolist(), against.tolist()
    ([8, 10, 8], [6, 0, 8])
    """
    most, rolled = rules.full_roll, 0
    at_first = attackers - _garrison(rules)
    able, against = at_first.copy(), defenders.copy()
    while stop.max_rolls is None or rolled < stop.max_rolls:
        going = (able > 0) & (against > 0)
        if stop.charge:
            going &= np.minimum(able, most[0]) == np.minimum(at_first, most[0])
        if stop.max_losses is not None:
            going &= at_first - able < stop.max_losses
        if not going.any():
            break
        _roll_once(able, against, np.flatnonzero(going), rules, rng)
        rolled += 1
    return able + _garrison(rules), against


def _roll_once(
    able: Armies, defenders: Armies, going: Armies, rules: Rules, rng: "np.random.Generator"
) -> None:
    """Roll some of the battles once, each with its own dice, and take their losses off."""
    most = rules.full_roll
    ours, theirs = np.minimum(able[going], most[0]), np.minimum(defenders[going], most[1])
    for dice in sorted(set(zip(ours.tolist(), theirs.tolist(), strict=True))):
        here = going[(ours == dice[0]) & (theirs == dice[1])]
        lost = throw_losses(*dice, rules, len(here), rng)
        able[here] -= lost.attackers
        defenders[here] -= lost.defenders


def _garrison(rules: Rules) -> int:
    """Return the garrison, or if it is larger than any stack, one that an int64 can hold."""
    return min(rules.garrison, MOST_GARRISON)


def _without_ended(parts: Iterable[Battles], ended: list[Battles]) -> Battles:
    """Put battles together, and set those that are over aside."""
    able, defenders = (np.concatenate(side) for side in zip(*parts, strict=True))
    going = (able > 0) & (defenders > 0)
    ended.append((able[~going], defenders[~going]))
    return able[going], defenders[going]


def _roll_on(
    able: Armies,
    defenders: Armies,
    dice: tuple[int, int],
    rules: Rules,
    rng: "np.random.Generator",
) -> Iterator[Battles]:
    """Roll battles that throw the same dice until none does, and yield those that leave."""
    while len(able):
        lost = throw_losses(*dice, rules, len(able), rng)
        able -= lost.attackers
        defenders -= lost.defenders
        stay = (able >= dice[0]) & (defenders >= dice[1])
        if not stay.all():
            yield able[~stay], defenders[~stay]
            able, defenders = able[stay], defenders[stay]


def _root_seed(seed: Seed, *battle: int) -> "np.random.SeedSequence":
    """Return the seed from which those of the blocks are spawned."""
    if isinstance(seed, np.random.Generator):
        return np.random.SeedSequence(seed.integers(2**32, size=4).tolist())
    number = whole_number(seed, "seed", least=0)
    return np.random.SeedSequence([number, *battle] if battle else number)


def _refuse(attackers: int, way: Sequence[Stage], runs: int) -> None:
    """Refuse runs that might throw more dice than an hour has room for, or none at all."""
    for stage in way:
        refuse_dice_mode(stage.rules, NAME)
        if stage.rules.all_ones_gain and not stage.stop.is_reserve:
            gain = stage.rules.all_ones_gain
            raise IllegalError(f"all_ones_gain must be 0 for a battle with a stop, got {gain}")
    armies = attackers + sum(stage.defenders for stage in way)
    rolls = armies / min(_armies_taken(stage.rules) for stage in way)
    dice = max(sum(map(_count_of_dice, stage.rules.dice(*stage.rules.full_roll))) for stage in way)
    if rolls * dice * max(runs, FEWEST_AT_ONCE) > MOST_THROWN:
        raise TooLargeError(
            f"{shown(runs)} runs with {shown(armies)} armies might throw more dice than the "
            f"method {NAME!r} throws in an hour: expected at most {MOST_THROWN:.0e}"
        )


def _count_of_dice(dice: Dice) -> int:
    return len(dice.faces)


def _armies_taken(rules: Rules) -> Fraction:
    """Return how many armies a roll takes at least, in the mean where armies can grow.

    Rules are refused under which a full roll brings more than it takes: its battles might go on
    for ever.
    """
    if not rules.all_ones_gain:
        return Fraction(1)
    ones = all_ones_probability(rules)
    taken = (1 - ones) * min(rules.full_roll) - 2 * ones * rules.all_ones_gain
    if taken <= 0:
        raise IllegalError(
            f"all_ones_gain must be so small that a full roll takes more armies than it brings, "
            f"or battles may never end, got {rules.all_ones_gain}"
        )
    return min(taken, Fraction(1))
