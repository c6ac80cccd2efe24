"""Throws: real dice, thrown for many rolls at once.

A row holds one die of every roll, in the smallest type of number that has room for it. With
Y(1) ≥ Y(2) ≥ ... the attack dice that are kept and Z(1) ≥ Z(2) ≥ ... those of the defence, each
with the bonus of its rank, a roll of i against j dice costs the defenders

    K = #{r ≤ m : Y(r) > Z(r)},      m = min(i, j),

armies (≥ where the attacker wins ties), and the attackers m − K. Nothing here is computed from
that law: each die is drawn, and its row put into its place among the sorted rows by comparing
them. This is what lets a simulation catch a law that is wrong.

Source: Höhle (2025), appendix 1, which rolls and sorts the dice one roll at a time.
"""

from fractions import Fraction
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.rules.dice import Dice
from iacta.rules.rules import Rules

__all__ = ["ThrownLosses", "all_ones_probability", "throw_dice", "throw_losses"]

Row: TypeAlias = npt.NDArray[Any]

MOST_IN_A_BYTE = 255


class ThrownLosses(NamedTuple):
    """What many rolls cost: entry n is for roll n, and a gain is a negative loss.

    attackers: armies that the attackers lose.
    defenders: armies that the defenders lose.
    """

    attackers: npt.NDArray[np.int8]
    defenders: npt.NDArray[np.int8]


def throw_losses(
    attack_dice: int, defence_dice: int, rules: Rules, rolls: int, rng: "np.random.Generator"
) -> ThrownLosses:
    """Throw both sides' dice many times, and return what each roll costs.

    attack_dice, defence_dice: how many dice of each side count.
    rules: the rules of the rolls.
    rolls: how many rolls.
    rng: the source of chance.

    Two arrays as long as there are rolls.

    >>> from iacta.rules.rules import CLASSIC
    >>> lost = throw_losses(3, 2, CLASSIC, 10_000, np.random.default_rng(1))
    >>> np.bincount(lost.defenders).tolist()
    [2925, 3414, 3661]
    """
    attack, defence = rules.dice(attack_dice, defence_dice)
    compared = min(attack_dice, defence_dice)
    ours = throw_dice(attack, attack_dice, compared, rolls, rng)
    theirs = throw_dice(defence, defence_dice, compared, rolls, rng)
    gains = rules.all_ones_gain and (attack_dice, defence_dice) == rules.full_roll
    # The highest of all dice thrown is a one only if each of them is.
    all_ones = (ours[0] == 1) & (theirs[0] == 1) if gains else None
    _add_bonus(attack, ours)
    _add_bonus(defence, theirs)
    defenders = _ranks_won(ours, theirs, rules)
    attackers = np.int8(compared) - defenders
    if all_ones is not None:
        attackers[all_ones] = defenders[all_ones] = -rules.all_ones_gain
    return ThrownLosses(attackers, defenders)


def throw_dice(
    dice: Dice, fighting: int, best: int, rolls: int, rng: "np.random.Generator"
) -> list[Row]:
    """Throw one side's dice many times, and return the best of each throw, before any bonus.

    dice: the dice of that side.
    fighting: armies in the roll, which decide how many dice are thrown.
    best: how many of the dice are wanted.
    rolls: how many throws.
    rng: the source of chance.

    One row for the highest dice, one for the second highest, and so on.

    >>> throw_dice(Dice((6, 6, 6)), 3, 2, 4, np.random.default_rng(1))
    [array([6, 6, 2, 5], dtype=uint8), array([6, 5, 1, 4], dtype=uint8)]
    """
    number_type = _number_type(dice)
    ranks: list[Row] = []
    for faces in dice.thrown(fighting):
        _insert(_throw_die(faces, dice.reroll, rolls, number_type, rng), ranks, best)
    return ranks


def all_ones_probability(rules: Rules) -> Fraction:
    """Return the chance that each die of a full roll shows one, after any second throw.

    rules: the rules of the roll.

    >>> all_ones_probability(Rules())
    Fraction(1, 7776)
    """
    chances = (
        _one_probability(faces, dice.reroll)
        for dice in rules.dice(*rules.full_roll)
        for faces in dice.faces
    )
    return prod(chances, start=Fraction(1))


def _one_probability(faces: int, reroll: tuple[int, ...]) -> Fraction:
    thrown_again = Fraction(sum(face <= faces for face in reroll), faces)
    return ((1 not in reroll) + thrown_again) / faces


def _number_type(dice: Dice) -> type[np.uint8] | type[np.int32]:
    """Return bytes for dice that never leave 0 .. 255, and wider numbers for others."""
    numbers = (*dice.bonus, *(dice.clamp or ()))
    highest = max(dice.faces) + max((0, *numbers))
    return np.uint8 if min((0, *numbers)) >= 0 and highest <= MOST_IN_A_BYTE else np.int32


def _throw_die(
    faces: int,
    reroll: tuple[int, ...],
    rolls: int,
    number_type: type[np.uint8] | type[np.int32],
    rng: "np.random.Generator",
) -> Row:
    """Throw one die many times; the faces in `reroll` once more, and the second throw stands."""
    row: Row = rng.integers(1, faces, rolls, dtype=number_type, endpoint=True)
    if any(face <= faces for face in reroll):
        again = np.flatnonzero(np.isin(row, reroll))
        row[again] = rng.integers(1, faces, len(again), dtype=number_type, endpoint=True)
    return row


def _insert(row: Row, ranks: list[Row], best: int) -> None:
    """Put one more die of each throw into its place among the sorted ones, of which `best` stay."""
    for rank, highest in enumerate(ranks):
        lower = np.minimum(highest, row) if rank + 1 < best else None
        np.maximum(highest, row, out=highest)
        if lower is None:
            return
        row = lower
    ranks.append(row)


def _add_bonus(dice: Dice, ranks: list[Row]) -> None:
    """Add each rank's bonus and clamp, in place."""
    for row, bonus in zip(ranks, dice.bonus, strict=False):
        row += bonus
    if dice.clamp is not None:
        for row in ranks:
            np.clip(row, *dice.clamp, out=row)


def _ranks_won(ours: list[Row], theirs: list[Row], rules: Rules) -> npt.NDArray[np.int8]:
    """Return in how many ranks the attack dice win; at most 100 dice fit into a signed byte."""
    beats = np.greater_equal if rules.ties == "attacker" else np.greater
    first, *others = zip(ours, theirs, strict=True)
    won = beats(*first).view(np.int8)
    for pair in others:
        won += beats(*pair).view(np.int8)
    return won
