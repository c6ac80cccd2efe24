"""Rows: the sorted dice of one side, before and after the bonus, with their weights."""

from collections.abc import Mapping
from functools import lru_cache
from math import comb

from iacta.inputs.errors import TooLargeError
from iacta.rules.dice import Dice

SortedDice = tuple[int, ...]

MAX_ROLL_STEPS = 10**7


def list_dice_rows(dice: Dice, count: int, best: int) -> dict[SortedDice, int]:
    """Return the possible values of the `best` highest dice of `count` armies, with weights."""
    faces_thrown = max(dice.list_faces(count))
    ways = comb(faces_thrown + best - 1, best)
    if estimate_sorting_steps(dice, count, best) > MAX_ROLL_STEPS:
        raise TooLargeError(
            f"the best {best} of {len(dice.list_faces(count))} dice of up to {faces_thrown} faces "
            f"have {ways:.0e} different results, which would take more than half a minute to list"
        )
    rows: dict[SortedDice, int] = {(): 1}
    for faces in dice.list_faces(count):
        face_weights = list_face_weights(faces, dice.reroll)
        longer: dict[SortedDice, int] = {}
        for row, weight in rows.items():
            for face, face_weight in face_weights.items():
                key = tuple(sorted((*row, face), reverse=True)[:best])
                longer[key] = longer.get(key, 0) + weight * face_weight
        rows = longer
    return rows


def estimate_sorting_steps(dice: Dice, count: int, best: int) -> int:
    """Estimate the number of steps to find the `best` highest dice of a throw."""
    first, *others = dice.list_faces(count)
    return comb(max(first, *others, 1) + best - 1, best) * max(sum(others), 10)


def list_face_weights(faces: int, reroll: tuple[int, ...]) -> Mapping[int, int]:
    """Return the weight of each face if the faces in `reroll` are rerolled once."""
    rerolled = {face for face in reroll if face <= faces}
    if not rerolled:
        return dict.fromkeys(range(1, faces + 1), 1)
    again = len(rerolled)
    return {face: again + (0 if face in rerolled else faces) for face in range(1, faces + 1)}


@lru_cache(maxsize=1024)
def list_compared(dice: Dice, count: int, compared: int) -> Mapping[SortedDice, int]:
    """Return the possible compared dice of one side after bonus and sorting, with weights."""
    rows: dict[SortedDice, int] = {}
    for row, weight in list_dice_rows(
        dice, count, count_ranks_needed(dice, count, compared)
    ).items():
        key = pick_compared(row, dice, compared)
        rows[key] = rows.get(key, 0) + weight
    return rows


def pick_compared(row: SortedDice, dice: Dice, compared: int) -> SortedDice:
    changed = (add_bonus(value, rank, dice) for rank, value in enumerate(row))
    return tuple(sorted(changed, reverse=True) if dice.sort_again else changed)[:compared]


def add_bonus(value: int, rank: int, dice: Dice) -> int:
    total = value + (dice.bonus[rank] if rank < len(dice.bonus) else 0)
    if dice.clamp is None:
        return total
    lowest, highest = dice.clamp
    return max(lowest, min(total, highest))


def count_ranks_needed(dice: Dice, count: int, compared: int) -> int:
    """Return the number of ranks before the bonus that can be compared after the bonus.

    A larger bonus can make a die higher than a die of a higher rank. At most `compared` dice
    without a bonus can be compared.
    """
    is_reordered = dice.sort_again and dice.can_reorder(count)
    return min(count, len(dice.bonus) + compared) if is_reordered else compared
