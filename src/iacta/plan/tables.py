"""Converts a problem to arrays for the compiled core: borders, dice, whole battles, payoffs."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from iacta.inputs.errors import TooLargeError
from iacta.methods.kernel import Choice, Kernel
from iacta.native.bit_sets import bits
from iacta.native.core_library import CoreData, Library
from iacta.native.deadline import Deadline
from iacta.plan.problem import Problem
from iacta.rules.roll import refuse_many_rolls

Floats: TypeAlias = npt.NDArray[np.float64]

SMALLEST = 1e-18  # smaller chances of the results of a whole battle are set to 0
MAX_BYTES = 400e6  # maximum size of the tables of whole battles
MIN_SECONDS = 0.1  # preparing the tables may always take this long, even after the deadline

# The largest number of attack dice, the largest number of defence dice, and the possible results of
# a roll for each pair of numbers.
_Dice: TypeAlias = tuple[int, int, list[Choice]]

_known_dice: WeakKeyDictionary[Kernel, dict[bool, _Dice]] = WeakKeyDictionary()


def find_dice(kernel: Kernel, is_whole: bool, deadline: Deadline) -> _Dice:
    """Return the largest numbers of dice under the rules of a kernel, and the results of all rolls.

    is_whole: whether each attack is a battle to the end; it counts as one roll of one die.

    Raise an error if the deadline comes first.
    """
    known = _known_dice.setdefault(kernel, {})
    if is_whole not in known:
        attack, defence = kernel.rules.full_roll
        refuse_many_rolls(attack, defence, kernel.rules, deadline.find_seconds_left())
        if is_whole:
            known[is_whole] = 1, 1, [Choice(1, kernel.battle(1, 1).least, ())]
        else:
            by_defence = [kernel.rolls(attack, j + 1) for j in range(defence)]
            choices = [{each.dice: each for each in rolls} for rolls in by_defence]
            rolls = [each[k + 1] for k in range(attack) for each in choices]
            known[is_whole] = attack, defence, rolls
    return known[is_whole]


@lru_cache(maxsize=512)
def solve_battles(kernel: Kernel, able: int, defenders: int) -> tuple[Floats, Floats]:
    """Return the chances of all results of battles of 0 to `able` attackers against `defenders`.

    Entry [a, x] of the first array is the chance that a attackers win and lose x armies; trailing
    columns of zeros are cut off. Entry [a, e] of the second array is the chance that a attackers do
    not win and e defenders are left.
    """
    won, lost = kernel.find_transitions(able, defenders)
    a, x = np.indices(won.shape)
    by_lost = np.where(x < a, won[a, np.maximum(a - x, 0)], 0.0)
    by_lost[by_lost < SMALLEST] = 0.0
    width = int(np.flatnonzero(by_lost.any(axis=0)).max(initial=0)) + 1
    return by_lost[:, :width].copy(), lost


def make_tables(library: Library, problem: Problem, until: int, deadline: Deadline) -> CoreData:
    """Convert a problem to a C structure for the core.

    until: a set of territories; the turn ends when all are conquered. 0 for an empty set.
    deadline: when the tables must be ready.
    """
    turn, field = problem.turn, problem.field
    lands = len(problem.board.territories)
    borders = [[*bits(mask)] for mask in problem.out]
    active = problem.stacks | field
    # `able` is the largest number of armies that the core has to know: the armies of the largest
    # stack that can fight, or the armies that the goal requires on a territory.
    able = max(problem.rewards.armies, *(turn.armies[v] for v in bits(problem.stacks)), 0)
    # For each territory: the kernel of battles to conquer it, and the fewest armies that must move
    # in after a conquest.
    pairs = [
        (kernel, 0 if problem.owned >> t & 1 else problem.goal.find_garrison(problem.name(t)))
        for t, kernel in enumerate(problem.kernels)
    ]
    kinds = [*dict.fromkeys(pairs)]
    kernels, kind_of = [kernel for kernel, _ in kinds], [*map(kinds.index, pairs)]
    sets = [[*bits(mask)] for mask, _ in problem.rewards.sets]
    it = CoreData(
        library,
        "problem",
        lands=lands,
        border_first=np.cumsum([0, *map(len, borders)]),
        border_to=[c for row in borders for c in row],
        # The tables grow with the largest stack, so limit stacks that can never fight to `able`.
        armies=[n if active >> t & 1 else min(n, able) for t, n in enumerate(turn.armies)],
        keep=cap_garrisons(library, problem.garrisons),
        kind=kind_of,
        owner=[1 if problem.owned >> t & 1 else 0 if field >> t & 1 else 2 for t in range(lands)],
        resting=[problem.resting >> t & 1 for t in range(lands)],
        garrison=min(turn.rules.garrison, library.constant("MAX_ARMIES")),
        pays=[problem.rewards.lands[t] if field >> t & 1 else 0.0 for t in range(lands)],
        sets=len(sets),
        set_first=np.cumsum([0, *map(len, sets)]),
        set_lands=[t for row in sets for t in row],
        set_pays=[paid for _, paid in problem.rewards.sets],
        price=problem.rewards.price,
        once=problem.rewards.once,
        number=problem.rewards.number,
        enough=problem.rewards.armies,
    )
    deadline = deadline.extend_to(MIN_SECONDS)
    is_whole = [turn.whole_battles or not each.is_rolled for each in kernels]
    copy_dice(it, kernels, is_whole, deadline, [least for _, least in kinds])
    _put_battles(it, problem, kernels, kind_of, able, deadline)
    if until:
        it.set_fields(until=[until >> t & 1 for t in range(lands)])
    return it


def cap_garrisons(library: Library, garrisons: Iterable[int]) -> list[int]:
    """Limit garrisons to `MAX_ARMIES`, the largest number that the core accepts."""
    most = library.constant("MAX_ARMIES")
    return [min(garrison, most) for garrison in garrisons]


def copy_dice(
    it: CoreData,
    kernels: Sequence[Kernel],
    is_whole: Sequence[bool],
    deadline: Deadline,
    advances: Sequence[int] | None = None,
) -> None:
    """Copy the results of all rolls under the rules of some kernels into a structure of the core.

    is_whole: for each kernel, whether each attack is a battle to the end.
    advances: for each kernel, the fewest armies that must move in after a conquest.
    """
    dice = [find_dice(*pair, deadline) for pair in zip(kernels, is_whole, strict=True)]
    rolls = [roll for _, _, some in dice for roll in some]
    throws = [throw for roll in rolls for throw in roll.throws]
    answers = [answer for throw in throws for answer in throw.options]
    results = [result for answer in answers for result in answer]
    it.set_fields(
        kinds=len(kernels),
        rows=len(rolls),
        throws=len(throws),
        answers=len(answers),
        results=len(results),
        whole=is_whole,
        attack_dice=[attack for attack, _, _ in dice],
        defence_dice=[defence for _, defence, _ in dice],
        dice_first=np.cumsum([0, *(len(some) for _, _, some in dice)])[:-1],
        least=[
            max(roll.least, advance)
            for (_, _, some), advance in zip(dice, advances or [0] * len(dice), strict=True)
            for roll in some
        ],
        throw_first=np.cumsum([0, *(len(each.throws) for each in rolls)]),
        answer_first=np.cumsum([0, *(len(each.options) for each in throws)]),
        result_first=np.cumsum([0, *map(len, answers)]),
        throw_chance=[each.chance for each in throws],
        result_chance=[each.chance for each in results],
        result_attackers=[each.attackers for each in results],
        result_defenders=[each.defenders for each in results],
    )


def put_battles(
    it: CoreData, rows: Sequence[tuple[Floats, Floats]], able: int, longest: int
) -> None:
    """Copy tables of whole battles into a structure of the core.

    rows: the results from `solve_battles`, one entry for each number of defenders.
    able, longest: the largest number of attackers and of defenders.
    """
    width = max((by_lost.shape[1] for by_lost, _ in rows), default=1)
    won = np.zeros((len(rows), able + 1, width))
    lost = np.zeros((len(rows), able + 1, longest + 1))
    for row, (by_lost, held) in enumerate(rows):
        won[row, :, : by_lost.shape[1]] = by_lost
        lost[row, :, : held.shape[1]] = held
    it.set_fields(able=able, defenders=longest, battles=len(rows), width=width, won=won, lost=lost)


def _put_battles(
    it: CoreData,
    problem: Problem,
    kernels: Sequence[Kernel],
    kind_of: Sequence[int],
    able: int,
    deadline: Deadline,
) -> None:
    # Make tables for whole battles only; the core computes other attacks from the dice.
    most = [0] * len(kernels)
    for t in bits(problem.field):
        if problem.is_whole(t):
            most[kind_of[t]] = max(most[kind_of[t]], problem.turn.armies[t])
    longest, rows, width = max(most), list[tuple[Floats, Floats]](), 1
    what = f"a plan of {able:,} armies against up to {longest:,}"

    def check_size() -> None:
        if 8.0 * sum(most) * (able + 1) * (longest + 1 + width) > MAX_BYTES:
            raise TooLargeError(f"{what} takes too much memory")

    check_size()
    for kernel, number in zip(kernels, most, strict=True):
        for d in range(1, number + 1):
            if deadline.is_over:
                raise TooLargeError(f"{what} cannot be prepared within the time limit")
            rows.append(solve_battles(kernel, able, d))
            width = max(width, rows[-1][0].shape[1])
            check_size()
    put_battles(it, rows, able, longest)
    it.set_fields(battle_first=np.cumsum([0, *most])[:-1])
