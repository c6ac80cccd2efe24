"""The board of a turn as arrays for the compiled core: borders, dice, whole battles, payoffs."""

from collections.abc import Sequence
from functools import lru_cache
from math import fsum
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from iacta.game import Turn
from iacta.inputs.errors import TooLargeError
from iacta.methods.kernel import Choice, Kernel, Throw
from iacta.native.bit_sets import bits
from iacta.native.core_library import CoreData, Library, compute_offsets
from iacta.native.deadline import Deadline
from iacta.plan.problem import Problem
from iacta.rules.roll import refuse_many_rolls

Floats: TypeAlias = npt.NDArray[np.float64]

SMALLEST = 1e-18  # smaller chances of the results of a whole battle are set to 0
MAX_BATTLE_TABLE_BYTES = 400e6  # maximum size of the tables of whole battles
MIN_SECONDS = 0.1  # preparing a table may always take this long, even after the deadline
MAX_SMALL_TABLE = 3_000  # tables with fewer battles are prepared in any case, in about 0.2 s

# The largest number of attack dice, the largest number of defenders with its own rolls, and the
# possible results of a roll for each number of dice and of defenders.
_Dice: TypeAlias = tuple[int, int, list[Choice]]

_known_dice: WeakKeyDictionary[Kernel, dict[bool, _Dice]] = WeakKeyDictionary()


def compute_dice(kernel: Kernel, is_whole: bool, deadline: Deadline) -> _Dice:
    """Return the results of all rolls under the rules of a kernel. Illegal rolls have no throws.

    After a roll that costs nobody an army, the player has the same choice as before. Therefore
    results without losses are left out. This changes no value and no chance of a plan, but numbers
    of rolls do not count the rolls without losses.

    is_whole: whether each attack is a battle to the end; it counts as one roll of one die.

    Raise an error if they take more time than `MIN_SECONDS` and than is left.
    """
    known = _known_dice.setdefault(kernel, {})
    if is_whole not in known:
        attack, defence = kernel.rules.full_roll
        seconds = max(deadline.measure_seconds_left(), MIN_SECONDS)
        refuse_many_rolls(attack, defence, kernel.rules, seconds)
        if is_whole:
            known[is_whole] = 1, 1, [Choice(1, kernel.battle(1, 1).least, ())]
        else:
            columns = kernel.distinct_defenders
            able = max(attack, 2 * columns)  # enough for any number of dice
            by_defenders = [
                {roll.dice: _drop_empty_result(roll) for roll in kernel.rolls(able, d + 1)}
                for d in range(columns)
            ]
            dice = range(1, attack + 1)
            illegal = {k: Choice(k, kernel.rules.count_required(k), ()) for k in dice}
            rolls = [row.get(k, illegal[k]) for k in dice for row in by_defenders]
            known[is_whole] = attack, columns, rolls
    return known[is_whole]


def _drop_empty_result(roll: Choice) -> Choice:
    """Return a roll without results that cost nobody an army.

    The chances of the other results are scaled to the sum 1.
    """
    results = [result for throw in roll.throws for result in throw.options[0]]
    costly = [each for each in results if each.attackers or each.defenders]
    if len(costly) == len(results):
        return roll
    total = fsum(each.chance for each in costly)
    given = tuple(each._replace(chance=each.chance / total) for each in costly)
    return roll._replace(throws=(Throw(1.0, (given,)),))


@lru_cache(maxsize=512)
def solve_battles(kernel: Kernel, able: int, defenders: int) -> tuple[Floats, Floats]:
    """Return the chances of all results of battles of 0 to `able` attackers against `defenders`.

    Entry [a, x] of the first array is the chance that a attackers win and lose x armies; trailing
    columns of zeros are cut off. Entry [a, e, b] of the second array is the chance that a attackers
    do not win, and that e defenders and b attackers who may not attack are left.
    """
    won, lost = kernel.compute_ends(able, defenders)
    a, x = np.indices(won.shape)
    by_lost = np.where(x < a, won[a, np.maximum(a - x, 0)], 0.0)
    by_lost[by_lost < SMALLEST] = 0.0
    width = int(np.flatnonzero(by_lost.any(axis=0)).max(initial=0)) + 1
    return by_lost[:, :width].copy(), lost


class BoardArrays(CoreData):
    """The board of a turn with its dice, as the structure `problem` of the core.

    library: the core.
    turn: the turn.
    deadline: when the tables must be ready.
    is_whole: whether all attacks are battles to the end.
    advances: for each territory, the fewest armies that must move in after a conquest, or as many
        as the rules allow; by default as few as the rules allow.
    borders: the neighbours that each territory can attack; by default all of the turn.
    values: fields of the structure, which replace the fields of the turn. By default no territory
        belongs to a side, and nothing has a payoff.
    """

    def __init__(
        self,
        library: Library,
        turn: Turn,
        deadline: Deadline,
        *,
        is_whole: bool = False,
        advances: Sequence[int] | None = None,
        borders: Sequence[Sequence[int]] | None = None,
        **values: Any,
    ) -> None:
        setting, lands, most = turn.setting, len(turn.armies), library.constant("MAX_ARMIES")
        pairs = [*zip(setting.kernels, advances or [0] * lands, strict=True)]
        kinds = [*dict.fromkeys(pairs)]
        self.kernels = [kernel for kernel, _ in kinds]  # the kernel of each kind of rules
        self.is_whole = [is_whole or not kernel.is_rolled for kernel in self.kernels]
        self.kind_of = [*map(kinds.index, pairs)]  # the kind of rules of each territory
        super().__init__(
            library,
            "problem",
            lands=lands,
            kind=self.kind_of,
            garrison=min(turn.rules.garrison, most),
            **{
                "armies": turn.armies,
                "keep": [min(garrison, most) for garrison in setting.garrisons],
                "owner": [2] * lands,
                "resting": setting.immobile,
                "pays": [0.0] * lands,
                "set_pays": [0.0],
                **values,
            },
        )
        self.set_rows(
            "border_first",
            "border_to",
            [*map(sorted, setting.borders)] if borders is None else borders,
        )
        self.set_rows("set_first", "set_lands", [])
        self.set_fields(most=[kernel.rules.limit_advance(most) for kernel in self.kernels])
        self._set_dice([advance for _, advance in kinds], deadline)

    def _set_dice(self, advances: Sequence[int], deadline: Deadline) -> None:
        """Set the results of all rolls under each kind of rules."""
        pairs = zip(self.kernels, self.is_whole, strict=True)
        dice = [compute_dice(*pair, deadline) for pair in pairs]
        rolls = [roll for _, _, some in dice for roll in some]
        throws = [throw for roll in rolls for throw in roll.throws]
        answers = [answer for throw in throws for answer in throw.options]
        results = [result for answer in answers for result in answer]
        least = [
            max(roll.least, advance)
            for (_, _, some), advance in zip(dice, advances, strict=True)
            for roll in some
        ]
        self.set_fields(
            kinds=len(dice),
            rows=len(rolls),
            throws=len(throws),
            answers=len(answers),
            results=len(results),
            whole=self.is_whole,
            attack_dice=[attack for attack, _, _ in dice],
            columns=[columns for _, columns, _ in dice],
            at_double=[
                kernel.needs_double and not is_whole
                for kernel, is_whole in zip(self.kernels, self.is_whole, strict=True)
            ],
            dice_first=compute_offsets(some for _, _, some in dice),
            least=least,
            throw_first=compute_offsets(each.throws for each in rolls),
            answer_first=compute_offsets(each.options for each in throws),
            result_first=compute_offsets(answers),
            throw_chance=[each.chance for each in throws],
            result_chance=[each.chance for each in results],
            result_attackers=[each.attackers for each in results],
            result_defenders=[each.defenders for each in results],
        )

    def set_battles(
        self, rows: Sequence[Sequence[tuple[Floats, Floats]]], able: int, longest: int
    ) -> None:
        """Set the tables of whole battles.

        rows: for each kind of rules, the results of `solve_battles` for 1, 2, ... defenders.
        able: the largest number of attackers.
        longest: the largest number of defenders.
        """
        battles = [each for some in rows for each in some]
        width = max((by_lost.shape[1] for by_lost, _ in battles), default=1)
        stops = max((held.shape[2] for _, held in battles), default=1)
        won = np.zeros((len(battles), able + 1, width))
        lost = np.zeros((len(battles), able + 1, longest + 1, stops))
        for row, (by_lost, held) in enumerate(battles):
            won[row, :, : by_lost.shape[1]] = by_lost
            lost[row, :, : held.shape[1], : held.shape[2]] = held
        self.set_fields(
            able=able,
            defenders=longest,
            battles=len(battles),
            width=width,
            stops=stops,
            won=won,
            lost=lost,
        )
        self.set_fields(battle_first=compute_offsets(rows))


def make_tables(library: Library, problem: Problem, until: int, deadline: Deadline) -> BoardArrays:
    """Convert a problem to the structure `problem` of the core.

    until: a set of territories; the turn ends when all are conquered. 0 for an empty set.
    deadline: when the tables must be ready.
    """
    turn, field, owned, rewards = problem.turn, problem.field, problem.owned, problem.rewards
    active, lands = problem.stacks | field, range(len(turn.armies))
    most, deadline = library.constant("MAX_ARMIES"), deadline.extend_to(MIN_SECONDS)
    # `able` is the largest number of armies that the core has to know: the armies of the largest
    # stack that can fight, or the armies that the goal requires on a territory.
    counted = problem.counted_armies
    if rewards.fortify != "none":  # the last move may take armies from any stack
        counted += max(counted, *problem.garrisons) if counted > 1 else 0
    able = max(counted, *(turn.armies[v] for v in bits(problem.stacks)), 0)
    find_smallest = problem.goal.compute_garrison
    ways, perils = problem.winning_ways, problem.perils
    arrays = BoardArrays(
        library,
        turn,
        deadline,
        is_whole=turn.whole_battles,
        advances=[0 if owned >> t & 1 else find_smallest(problem.name(t)) for t in lands],
        borders=[[*bits(mask)] for mask in problem.out],
        # The tables grow with the largest stack, so limit stacks that can never fight to `able`.
        armies=[n if active >> t & 1 else min(n, able) for t, n in enumerate(turn.armies)],
        keep=[min(garrison, most) for garrison in problem.garrisons],
        owner=[1 if owned >> t & 1 else 0 if field >> t & 1 else 2 for t in lands],
        resting=[problem.immobile >> t & 1 for t in lands],
        pays=[rewards.lands[t] if field >> t & 1 else 0.0 for t in lands],
        sets=len(rewards.sets),
        set_pays=[paid for _, paid in rewards.sets],
        price=rewards.price,
        margin_price=problem.price,
        once=rewards.once,
        wins=bool(rewards.ways),
        ways=len(ways),
        way_number=[way.number for way in ways],
        way_enough=[way.armies for way in ways],
        fortify=library.constant(f"FORTIFY_{rewards.fortify.upper()}"),
        ends_at_win=problem.ends_at_win,
        perils=len(perils),
        rival_number=[peril.number for peril in perils],
        held=problem.held if perils else 0.0,
        is_coarse=problem.is_coarse,
    )
    arrays.set_rows("set_first", "set_lands", [[*bits(mask)] for mask, _ in rewards.sets])
    arrays.set_rows("way_first", "way_lands", [[*bits(way.lands)] for way in ways])
    arrays.set_rows("peril_first", "peril_lands", [[*bits(each.lands)] for each in perils])
    arrays.set_rows("rival_first", "rival_lands", [[*bits(each.rivals)] for each in perils])
    _set_battles(arrays, problem, able, deadline)
    if until:
        arrays.set_fields(until=[until >> t & 1 for t in lands])
    return arrays


def _set_battles(arrays: BoardArrays, problem: Problem, able: int, deadline: Deadline) -> None:
    # Make tables for whole battles only; the core computes other attacks from the dice.
    most = [0] * len(arrays.kernels)
    for t in bits(problem.field):
        if arrays.is_whole[kind := arrays.kind_of[t]]:
            most[kind] = max(most[kind], problem.turn.armies[t])
    longest, width, stops = max(most), 1, 1
    rows = [list[tuple[Floats, Floats]]() for _ in most]
    what = f"a plan of {able:,} armies against up to {longest:,}"

    def check_size() -> None:
        row_length = (longest + 1) * stops + width
        if 8.0 * sum(most) * (able + 1) * row_length > MAX_BATTLE_TABLE_BYTES:
            raise TooLargeError(f"{what} takes too much memory")

    check_size()
    is_small = able * sum(most) <= MAX_SMALL_TABLE
    for kernel, number, row in zip(arrays.kernels, most, rows, strict=True):
        for d in range(1, number + 1):
            if deadline.is_over and not is_small:
                raise TooLargeError(
                    f"{what} cannot be prepared within the time limit", parameter="time_limit"
                )
            row.append(solve_battles(kernel, able, d))
            width, stops = max(width, row[-1][0].shape[1]), max(stops, row[-1][1].shape[2])
            check_size()
    arrays.set_battles(rows, able, longest)
