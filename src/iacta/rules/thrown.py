"""Thrown dice: simulations of many battles and campaigns.

The simulation does not use distributions of losses: it rolls, sorts and compares dice according to
the rules. This is slow and inexact, but can detect errors in the distributions.

The dice. An array contains one die of every roll, in the smallest suitable number type. The kept
dice of each side are sorted, get the bonus of their rank and the limits, and are sorted again. Let
Y(1) ≥ Y(2) ≥ ... be the resulting attack dice and Z(1) ≥ Z(2) ≥ ... the defence dice. In a roll of
i against j dice the defenders lose

    K = #{r ≤ m : Y(r) > Z(r)},      m = min(i, j),

armies (with ≥ if the attacker wins ties), and the attackers lose m − K. Each new die is inserted
into the sorted arrays by elementwise comparisons.

Battles with the same numbers of dice form a group, and are rolled together until these numbers
change. The numbers of dice only decrease. Therefore each group is processed once, in descending
order of dice. (Under some rules armies can grow, but only in a full roll, which is followed by
another full roll.) Under house rules for rolls the numbers of dice can increase; all battles then
roll once at a time.

The runs are split into blocks of equal size. Each block has its own seed, spawned from the root
seed. Therefore the result depends only on the seed, not on the executor.

Sources: Norvig, "The Unfinished Game ... of Risk" (2020, `campaign`), where 100,000 campaigns
took 33 seconds; Höhle (2025), appendix 1, which rolls and sorts the dice one roll at a time.
"""

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from itertools import chain, product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError, TooLargeError
from iacta.native.heartbeat import wait_for_result
from iacta.probability.distribution import Distribution
from iacta.rules.dice import Dice
from iacta.rules.modes import (
    ArmiesGrow,
    Fumble,
    HouseRolls,
    LastDieAtTwoToOne,
    LateDefenceDice,
    Mode,
    NeverFewerDice,
    TiesCost,
    TrueRandom,
)
from iacta.rules.roll import Losses, count_losses, make_endless_error
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, ROLL_STOP_PURPOSE, StopRule

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

RUNS = 100_000
SEED = 1

THROWN_MODES: tuple[type[Mode], ...] = (
    *(TrueRandom, ArmiesGrow, TiesCost, LateDefenceDice, NeverFewerDice, LastDieAtTwoToOne),
    Fumble,
)

Armies: TypeAlias = npt.NDArray[np.int64]
Battles: TypeAlias = tuple[Armies, Armies]
Fight: TypeAlias = tuple[int, Rules, StopRule]  # the number of defenders, the rules, the stop rule
Progress: TypeAlias = Callable[[int], object]
Row: TypeAlias = npt.NDArray[Any]
Seed: TypeAlias = "int | np.random.Generator"

Piece = TypeVar("Piece")
Result = TypeVar("Result")

RUNS_PER_BLOCK = 25_000  # small enough that the arrays of a block fit in the processor's cache
MAX_THROWN = 5 * 10**11  # the number of dice that can be thrown in about an hour
MIN_TIMED_RUNS = 1000  # fewer runs take as long as this number of runs
MAX_THROWN_GARRISON = 2**62  # larger garrisons are replaced by this number, to avoid int64 overflow
MAX_BYTE = 255
MAX_PENDING = 1000  # the maximum number of pending blocks in an executor


class End(NamedTuple):
    """The result of one run.

    conquered: the number of territories conquered.
    attackers: the armies on the last territory that the stack reached.
    defenders: the armies left on the territory that stopped the stack; 0 if all were conquered.
    """

    conquered: int
    attackers: int
    defenders: int


class Runs(NamedTuple):
    """A block of runs with its own seed."""

    stack: Distribution[int]
    way: tuple[Fight, ...]
    runs: int
    seed: "np.random.SeedSequence"


def simulate(
    attackers: int,
    way: Iterable[Fight],
    *,
    runs: int = RUNS,
    seed: Seed = SEED,
    executor: "Executor | None" = None,
    progress: Progress | None = None,
) -> Counter[End]:
    """Simulate a stack's campaign through several battles many times, and count the results.

    attackers: the armies on the first territory, garrison included.
    way: the battles in order, as triples of a number of defenders, rules and a stop rule.
    runs: the number of runs.
    seed: a whole number, which makes the simulation repeatable, or a `numpy.random.Generator`.
    executor: a `concurrent.futures.Executor` whose workers share the runs, or `None`. The result
        does not depend on the executor.
    progress: a callback that receives the number of finished runs, or `None`.

    Runs that would take more than an hour on one processor raise `TooLargeError`.

    >>> ends = simulate(3, [(1, Rules(), StopRule())], runs=1000)
    >>> sum(count for end, count in ends.items() if end.conquered)
    755
    """
    stack = Distribution([read_int(attackers, "attackers", minimum=1)])
    return simulate_stack(stack, tuple(way), runs, make_root_seed(seed), executor, progress)


def simulate_stack(
    stack: Distribution[int],
    way: tuple[Fight, ...],
    runs: int,
    root: "np.random.SeedSequence",
    executor: "Executor | None" = None,
    progress: Progress | None = None,
) -> Counter[End]:
    """Simulate the campaign of a stack of random size many times; see `simulate`."""
    count = read_int(runs, "runs", minimum=1)
    refuse_long(max(stack), way, count)
    _check_executor(executor)
    if progress is not None and not callable(progress):
        raise MalformedError(f"progress must be a function, got {quote(progress)}")
    ends: Counter[End] = Counter()
    with closing(
        map_in_order(_simulate_block, _split_into_blocks(stack, way, count, root), executor)
    ) as blocks:
        for block in blocks:
            ends.update(block)
            if progress is not None:
                progress(ends.total())
    return ends


def _split_into_blocks(
    stack: Distribution[int], way: tuple[Fight, ...], runs: int, root: "np.random.SeedSequence"
) -> Iterator[Runs]:
    for first in range(0, runs, RUNS_PER_BLOCK):
        yield Runs(stack, way, min(RUNS_PER_BLOCK, runs - first), root.spawn(1)[0])


def _simulate_block(block: Runs) -> Counter[End]:
    """Simulate all runs of a block, territory by territory."""
    rng = np.random.default_rng(block.seed)
    if len(block.stack) == 1:
        attackers = np.full(block.runs, max(block.stack), dtype=np.int64)
    else:
        attackers = np.array(block.stack.sample(block.runs, rng), dtype=np.int64)
    ends: Counter[End] = Counter()
    for taken, (defenders, rules, stop) in enumerate(block.way):
        against = np.full(len(attackers), defenders, dtype=np.int64)
        fought = stop.add_to_garrison(rules)
        if stop.is_reserve:
            left, against = fight(attackers, against, fought, rng)
        else:
            left, against = fight_until(attackers, against, fought, stop, rng)
        won = against == 0
        _add_ends(ends, taken, left[~won], against[~won])
        attackers = left[won] - _bound_garrison(rules)
        if rules.most_advance is not None:
            attackers = np.minimum(attackers, rules.most_advance)
    _add_ends(ends, len(block.way), attackers, np.zeros_like(attackers))
    return ends


def _add_ends(ends: Counter[End], taken: int, attackers: Armies, defenders: Armies) -> None:
    pairs = Counter(zip(attackers.tolist(), defenders.tolist(), strict=True))
    for (left, against), count in sorted(pairs.items()):
        ends[End(taken, left, against)] += count


def fight(
    attackers: Armies, defenders: Armies, rules: Rules, rng: "np.random.Generator"
) -> Battles:
    """Fight many battles to the end; return the attackers and defenders left.

    attackers: the armies on the attacking territory of each battle, garrison included.
    defenders: the armies on the defended territory of each battle.
    rules: the rules of the battles.
    rng: the random number generator.

    Return two arrays of the same length. The order of the battles changes.

    >>> rng = np.random.default_rng(1)
    >>> left, against = fight(np.array([12, 12, 12]), np.array([10, 10, 10]), Rules(), rng)
    >>> left.tolist(), against.tolist()
    ([10, 1, 2], [0, 4, 0])
    """
    if isinstance(rules.mode, HouseRolls):  # the number of attack dice can increase
        return fight_until(attackers, defenders, rules, NEVER, rng)
    garrison = _bound_garrison(rules)
    ended: list[Battles] = []
    going = _set_ended_aside([(attackers - garrison, defenders)], ended)
    most = rules.full_roll
    for dice in ((i, j) for i in range(most[0], 0, -1) for j in range(most[1], 0, -1)):
        able, against = going
        here = (np.minimum(able, most[0]) == dice[0]) & (np.minimum(against, most[1]) == dice[1])
        if here.any():
            others = able[~here], against[~here]
            left = _roll_while_same(able[here], against[here], dice, rules, rng)
            going = _set_ended_aside(chain([others], left), ended)
    able, against = (np.concatenate(side) for side in zip(*ended, strict=True))
    return able + garrison, against


def fight_until(
    attackers: Armies, defenders: Armies, rules: Rules, stop: StopRule, rng: "np.random.Generator"
) -> Battles:
    """Fight many battles until the attackers stop; return the attackers and defenders left.

    attackers, defenders, rng: as for `fight`.
    rules: the rules of the battles; their garrison includes the armies held back.
    stop: the stop rule of the attackers.

    Return two arrays of the same length, in the same order.

    >>> rng = np.random.default_rng(1)
    >>> twelve, ten = np.array([12, 12, 12]), np.array([10, 10, 10])
    >>> left, against = fight_until(twelve, ten, Rules(), StopRule(max_losses=3), rng)
    >>> left.tolist(), against.tolist()
    ([8, 10, 8], [6, 0, 8])
    """
    most, rolled = rules.full_roll, 0
    at_first = attackers - _bound_garrison(rules)
    able, against = at_first.copy(), defenders.copy()
    while stop.max_rolls is None or rolled < stop.max_rolls:
        going = (able > 0) & (against > 0)
        if stop.charge:
            going &= np.minimum(able, most[0]) == np.minimum(at_first, most[0])
        if stop.stop_at is not None:
            going &= able > stop.stop_at - _bound_garrison(rules)
        if stop.leave is not None:
            going &= against > stop.leave
        if stop.max_losses is not None:
            going &= at_first - able < stop.max_losses
        if not _roll_once(able, against, np.flatnonzero(going), rules, rng):
            break
        rolled += 1
    return able + _bound_garrison(rules), against


def _roll_once(
    able: Armies, defenders: Armies, going: Armies, rules: Rules, rng: "np.random.Generator"
) -> bool:
    """Roll once in each battle with an index in `going`, and subtract the losses.

    Return whether any attackers may roll.
    """
    ours, theirs = _count_dice(able[going], defenders[going], rules)
    pairs = sorted(set(zip(ours.tolist(), theirs.tolist(), strict=True)))
    for dice in (pair for pair in pairs if pair[0]):
        here = going[(ours == dice[0]) & (theirs == dice[1])]
        lost = throw_losses(*dice, rules, len(here), rng)
        able[here] -= lost.attackers
        defenders[here] -= lost.defenders
        if rules.mode == TiesCost("both"):  # nobody takes a territory that both sides have left
            defenders[here] += (able[here] == 0) & (defenders[here] == 0)
    return any(pair[0] for pair in pairs)


def _count_dice(able: Armies, defenders: Armies, rules: Rules) -> Battles:
    """Return the numbers of dice of both sides; 0 attack dice if the attackers may not roll."""
    most, mode = rules.full_roll, rules.mode
    if not isinstance(mode, HouseRolls):
        return np.minimum(able, most[0]), np.minimum(defenders, most[1])
    sizes = np.column_stack((able, defenders))
    found, where = np.unique(sizes, axis=0, return_inverse=True)
    dice = [mode.count_dice(a, d, most, _bound_garrison(rules)) for a, d in found.tolist()]
    return tuple(np.array(dice, dtype=np.int64).reshape(-1, 2)[where.ravel()].T)


def _bound_garrison(rules: Rules) -> int:
    return min(rules.garrison, MAX_THROWN_GARRISON)


def _set_ended_aside(parts: Iterable[Battles], ended: list[Battles]) -> Battles:
    """Concatenate groups of battles, move finished battles to `ended`, and return the others."""
    able, defenders = (np.concatenate(side) for side in zip(*parts, strict=True))
    going = (able > 0) & (defenders > 0)
    ended.append((able[~going], defenders[~going]))
    return able[going], defenders[going]


def _roll_while_same(
    able: Armies,
    defenders: Armies,
    dice: tuple[int, int],
    rules: Rules,
    rng: "np.random.Generator",
) -> Iterator[Battles]:
    """Roll in battles with equal numbers of dice; yield each battle when its numbers change."""
    while len(able):
        lost = throw_losses(*dice, rules, len(able), rng)
        able -= lost.attackers
        defenders -= lost.defenders
        stay = (able >= dice[0]) & (defenders >= dice[1])
        if not stay.all():
            yield able[~stay], defenders[~stay]
            able, defenders = able[stay], defenders[stay]


def make_root_seed(seed: Seed, *battle: int) -> "np.random.SeedSequence":
    """Return the root seed, from which the seeds of the blocks are spawned."""
    if isinstance(seed, np.random.Generator):
        return np.random.SeedSequence(seed.integers(2**32, size=4).tolist())
    number = read_int(seed, "seed", minimum=0)
    return np.random.SeedSequence([number, *battle] if battle else number)


def refuse_long(attackers: int, way: Sequence[Fight], runs: int) -> None:
    """Raise `IactaError` if the runs might take more than an hour or cannot be simulated."""
    for _, rules, stop in way:
        if type(rules.mode) not in THROWN_MODES:
            raise rules.mode.make_unfit_error("for the method 'simulation'")
        if rules.mode.grows and not stop.is_reserve:
            raise rules.mode.make_unfit_error(ROLL_STOP_PURPOSE)
    armies = attackers + sum(defenders for defenders, _, _ in way)
    rolls = armies / min(_compute_least_cost(rules) for _, rules, _ in way)
    dice = max(sum(len(dice.faces) for dice in rules.dice(*rules.full_roll)) for _, rules, _ in way)
    if rolls * dice * max(runs, MIN_TIMED_RUNS) > MAX_THROWN:
        raise TooLargeError(
            f"{quote(runs)} runs with {quote(armies)} armies might throw more than "
            f"{MAX_THROWN:.0e} dice, for which the method 'simulation' needs an hour"
        )


def _compute_least_cost(rules: Rules) -> Fraction:
    """Return the minimum total loss of armies in a roll; the mean loss if armies can grow.

    Raises `IllegalError` if a full roll adds more armies than it costs, because battles might never
    end.
    """
    if rules.mode == TiesCost("nobody"):
        dice = (range(1, most + 1) for most in rules.full_roll)
        return min(_compute_costly_share(i, j, rules) for i, j in product(*dice))
    if not isinstance(rules.mode, ArmiesGrow):
        return Fraction(1)
    ones = all_ones_probability(rules)
    taken = (1 - ones) * min(rules.full_roll) - 2 * ones * rules.mode.gain
    if taken <= 0:
        raise IllegalError(
            f"all_ones_gain must be so small that a full roll costs more armies than it adds, "
            f"or battles may never end, got {rules.mode.gain}"
        )
    return min(taken, Fraction(1))


def _compute_costly_share(attack_dice: int, defence_dice: int, rules: Rules) -> Fraction:
    """Return the chance that a roll costs an army; raise `IllegalError` if it never does."""
    counts = count_losses(attack_dice, defence_dice, rules)
    costly = sum(n for losses, n in counts.items() if any(losses))
    if not costly:
        raise make_endless_error(attack_dice, defence_dice)
    return Fraction(costly, sum(counts.values()))


class ThrownLosses(NamedTuple):
    """The losses in many rolls, as arrays with one entry per roll. A gain is a negative loss.

    attackers: the armies that the attackers lose.
    defenders: the armies that the defenders lose.
    """

    attackers: npt.NDArray[np.int8]
    defenders: npt.NDArray[np.int8]


def throw_losses(
    attack_dice: int, defence_dice: int, rules: Rules, rolls: int, rng: "np.random.Generator"
) -> ThrownLosses:
    """Roll the dice of both sides many times; return the losses in each roll.

    attack_dice, defence_dice: the numbers of dice that count.
    rules: the rules of the rolls.
    rolls: the number of rolls.
    rng: the random number generator.

    Return two arrays with one entry per roll.

    >>> from iacta.rules.rules import CLASSIC
    >>> lost = throw_losses(3, 2, CLASSIC, 10_000, np.random.default_rng(1))
    >>> np.bincount(lost.defenders).tolist()
    [2925, 3414, 3661]
    """
    attack, defence = rules.dice(attack_dice, defence_dice)
    compared = min(attack_dice, defence_dice)
    ours, theirs = (
        throw_dice(side, fighting, fighting if _is_sorted_again(side) else compared, rolls, rng)
        for side, fighting in ((attack, attack_dice), (defence, defence_dice))
    )
    gain = 0
    if isinstance(rules.mode, ArmiesGrow) and (attack_dice, defence_dice) == rules.full_roll:
        gain = rules.mode.gain
    # If the highest die shows one, so do all others.
    all_ones = (ours[0] == 1) & (theirs[0] == 1) if gain else None
    is_fumble = ours[0] == 1
    ours, theirs = _add_bonus(attack, ours, compared), _add_bonus(defence, theirs, compared)
    defenders = _count_ranks_won(ours, theirs, rules)
    attackers = np.int8(compared) - defenders
    if isinstance(rules.mode, TiesCost):
        defenders, attackers = _count_losses_with_ties(ours, theirs, rules.mode)
    if isinstance(rules.mode, Fumble):
        attackers[is_fumble], defenders[is_fumble] = attack_dice, 0
    if all_ones is not None:
        attackers[all_ones] = defenders[all_ones] = -gain
    return ThrownLosses(attackers, defenders)


def _count_losses_with_ties(
    ours: Sequence[Row], theirs: Sequence[Row], mode: TiesCost
) -> tuple[Row, Row]:
    """Return the losses of the defenders and of the attackers."""
    pairs = [*zip(ours, theirs, strict=True)]
    killed = sum((mine > other for mine, other in pairs), np.zeros(len(ours[0]), np.int8))
    lost = sum((mine < other for mine, other in pairs), np.zeros(len(ours[0]), np.int8))
    cost = np.int8(0) if mode.sides == "nobody" else np.int8(len(pairs)) - killed - lost
    return killed + cost, lost + cost


def compare_dice(attack: Sequence[int], defence: Sequence[int], rules: Rules) -> Losses:
    """Return the losses in a roll with known dice.

    attack, defence: the faces of the dice that count, in any order.
    rules: the rules of the roll.

    Missing dice, and faces that a die does not have, raise `IllegalError`.

    >>> from iacta.rules.rules import CLASSIC
    >>> compare_dice([6, 2, 5], [5, 5], CLASSIC)
    Losses(attackers=1, defenders=1)
    """
    for faces, whose in ((attack, "attacker"), (defence, "defender")):
        if not faces:
            raise IllegalError(f"missing the {whose}'s dice")
    dice = rules.dice(len(attack), len(defence))
    sides = []
    for side, faces in zip(dice, (attack, defence), strict=True):
        for face in faces:
            read_int(face, "face", minimum=1, maximum=max(side.faces))
        number = _choose_number_type(side)
        ranks = [np.array([face], number) for face in sorted(faces, reverse=True)]
        sides.append(_add_bonus(side, ranks, min(len(attack), len(defence))))
    is_full = (len(attack), len(defence)) == rules.full_roll
    if isinstance(rules.mode, ArmiesGrow) and is_full and {*attack, *defence} == {1}:
        return Losses(-rules.mode.gain, -rules.mode.gain)
    if isinstance(rules.mode, Fumble) and {*attack} == {1}:
        return Losses(len(attack), 0)
    killed = int(_count_ranks_won(sides[0], sides[1], rules)[0])
    if isinstance(rules.mode, TiesCost):
        ties = sum(int(mine[0] == other[0]) for mine, other in zip(*sides, strict=True))
        killed = sum(int(mine[0] > other[0]) for mine, other in zip(*sides, strict=True))
        cost = 0 if rules.mode.sides == "nobody" else ties
        return Losses(len(sides[0]) - killed - ties + cost, killed + cost)
    return Losses(len(sides[0]) - killed, killed)


def throw_dice(
    dice: Dice, fighting: int, best: int, rolls: int, rng: "np.random.Generator"
) -> list[Row]:
    """Roll one side's dice many times; return the highest dice of each roll before any bonus.

    dice: the dice of this side.
    fighting: the number of armies in each roll, which determines the number of dice.
    best: the number of highest dice to return.
    rolls: the number of rolls.
    rng: the random number generator.

    The first array contains the highest die of each roll, the second array the second highest die,
    and so on.

    >>> throw_dice(Dice((6, 6, 6)), 3, 2, 4, np.random.default_rng(1))
    [array([6, 6, 2, 5], dtype=uint8), array([6, 5, 1, 4], dtype=uint8)]
    """
    number_type = _choose_number_type(dice)
    ranks: list[Row] = []
    for faces in dice.list_faces(fighting):
        _insert(_throw_die(faces, dice.reroll, rolls, number_type, rng), ranks, best)
    return ranks


def all_ones_probability(rules: Rules) -> Fraction:
    """Return the probability that all dice of a full roll show one after any reroll.

    rules: the rules of the roll.

    >>> all_ones_probability(Rules())
    Fraction(1, 7776)
    """
    chances = (
        _compute_one_probability(faces, dice.reroll)
        for dice in rules.dice(*rules.full_roll)
        for faces in dice.faces
    )
    return prod(chances, start=Fraction(1))


def _compute_one_probability(faces: int, reroll: tuple[int, ...]) -> Fraction:
    thrown_again = Fraction(sum(face <= faces for face in reroll), faces)
    return ((1 not in reroll) + thrown_again) / faces


def _choose_number_type(dice: Dice) -> type[np.uint8] | type[np.int32]:
    """Return `uint8` if all values are from 0 to 255, otherwise `int32`."""
    numbers = (*dice.bonus, *(dice.clamp or ()))
    highest = max(dice.faces) + max((0, *numbers))
    return np.uint8 if min((0, *numbers)) >= 0 and highest <= MAX_BYTE else np.int32


def _throw_die(
    faces: int,
    reroll: tuple[int, ...],
    rolls: int,
    number_type: type[np.uint8] | type[np.int32],
    rng: "np.random.Generator",
) -> Row:
    row: Row = rng.integers(1, faces, rolls, dtype=number_type, endpoint=True)
    if any(face <= faces for face in reroll):
        again = np.flatnonzero(np.isin(row, reroll))
        row[again] = rng.integers(1, faces, len(again), dtype=number_type, endpoint=True)
    return row


def _insert(row: Row, ranks: list[Row], best: int) -> None:
    """Insert another die of each roll into the sorted dice; keep the `best` highest."""
    for rank, highest in enumerate(ranks):
        lower = np.minimum(highest, row) if rank + 1 < best else None
        np.maximum(highest, row, out=highest)
        if lower is None:
            return
        row = lower
    ranks.append(row)


def _is_sorted_again(dice: Dice) -> bool:
    return bool(dice.bonus) and dice.sort_again


def _add_bonus(dice: Dice, ranks: list[Row], compared: int) -> list[Row]:
    """Add the bonus of each rank, apply the limits, sort again, and return the compared dice."""
    for row, bonus in zip(ranks, dice.bonus, strict=False):
        row += bonus
    if dice.clamp is not None:
        for row in ranks:
            np.clip(row, *dice.clamp, out=row)
    if not _is_sorted_again(dice):
        return ranks[:compared]
    again: list[Row] = []
    for row in ranks:
        _insert(row, again, compared)
    return again


def _count_ranks_won(ours: list[Row], theirs: list[Row], rules: Rules) -> npt.NDArray[np.int8]:
    """Return the number of ranks that the attack wins in each roll (at most 100, so int8 fits)."""
    beats = np.greater_equal if rules.ties == "attacker" else np.greater
    first, *others = zip(ours, theirs, strict=True)
    won = beats(*first).view(np.int8)
    for pair in others:
        won += beats(*pair).view(np.int8)
    return won


def _check_executor(executor: object) -> None:
    """Raise `MalformedError` unless the argument is an executor or `None`.

    executor: any `concurrent.futures.Executor`, or `None`.

    >>> _check_executor("many hands")
    Traceback (most recent call last):
        ...
    iacta.MalformedError: executor must be a concurrent.futures.Executor, got 'many hands'
    """
    submits = callable(getattr(executor, "submit", None)) and not isinstance(executor, type)
    if executor is not None and not submits:
        raise MalformedError(
            f"executor must be a concurrent.futures.Executor, got {quote(executor)}"
        )


def map_in_order(
    work: Callable[[Piece], Result], pieces: Iterable[Piece], executor: "Executor | None"
) -> Generator[Result, None, None]:
    """Yield `work(piece)` for each piece, in order. Closing the generator cancels pending work.

    work: a function of one argument.
    pieces: the arguments.
    executor: the executor that calls the function; `None` to call it in this thread.

    An executor that accepts no work or returns no futures raises `IactaError`.

    >>> list(map_in_order(abs, [-1, 2], None))
    [1, 2]
    """
    if executor is None:
        yield from map(work, pieces)
        return
    pending: deque[Future[Result]] = deque()
    try:
        for piece in pieces:
            pending.append(_submit(work, piece, executor))
            if len(pending) >= MAX_PENDING:
                yield wait_for_result(pending.popleft())
        while pending:
            yield wait_for_result(pending.popleft())
    finally:
        for future in pending:
            future.cancel()


def _submit(
    work: Callable[[Piece], Result], piece: Piece, executor: "Executor"
) -> "Future[Result]":
    try:
        future = executor.submit(work, piece)
    except RuntimeError as error:  # the executor has been shut down
        raise IllegalError(f"executor must accept work, got {quote(executor)}: {error}") from None
    if not callable(getattr(future, "result", None)):
        raise MalformedError(f"executor must return futures, got {quote(future)}")
    return future
