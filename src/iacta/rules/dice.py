"""Dice: the dice that one side rolls."""

import re
from dataclasses import dataclass
from itertools import pairwise

from iacta.inputs.checks import check_choice, quote, read_int, read_list, set_field
from iacta.inputs.errors import IllegalError
from iacta.inputs.reprs import format_short_repr

MAX_DICE = 100  # rolls with more dice would take minutes
MAX_FACES = 1_000_000


@dataclass(frozen=True, repr=False)
class Dice:
    """The dice that one side rolls.

    With n armies in a roll (at most `kept`), a side throws n dice plus its spare dice, and keeps
    the best n. These are the first dice in `faces`.

    faces: the number of faces of each die, such as `(6, 6, 6)`. Faces are numbered from 1.
    keep: how many dice of a full roll are kept; `None` keeps all. The other dice are spare dice:
        with `keep=2` and three dice, a single army throws two dice and keeps the better die.
    reroll: the faces that are rerolled once, such as `(1,)`. The second result stands.
    bonus: the numbers to add to the highest kept die, the second highest, and so on; may be
        negative.
    clamp: the lowest and the highest possible value of a die after its bonus; `None` for no limits.
    sort_again: whether to sort the kept dice again after bonus and clamp, before the comparison.
        Otherwise the dice keep the order of their faces.

    Impossible dice raise `IactaError`.

    >>> Dice((6, 6), bonus=(1,))
    Dice((6, 6), bonus=(1,))
    >>> Dice(())
    Traceback (most recent call last):
        ...
    iacta.IllegalError: the number of dice must be a whole number from 1 to 100, got 0
    """

    faces: tuple[int, ...] = (6, 6, 6)
    keep: int | None = None
    reroll: tuple[int, ...] = ()
    bonus: tuple[int, ...] = ()
    clamp: tuple[int, int] | None = None
    sort_again: bool = True

    def __post_init__(self) -> None:
        faces = _read_integers(self.faces, "faces", minimum=1, maximum=MAX_FACES)
        count = read_int(len(faces), "the number of dice", minimum=1, maximum=MAX_DICE)
        keep = None if self.keep is None else read_int(self.keep, "keep", 1, maximum=count)
        reroll = _read_integers(self.reroll, "reroll", minimum=1, maximum=max(faces))
        bonus = _read_integers(self.bonus, "bonus", minimum=-MAX_FACES, maximum=MAX_FACES)
        if len(bonus) > (keep or count):
            raise IllegalError(
                f"bonus must have at most one entry for each of the {keep or count} dice kept, "
                f"got {quote(bonus)}"
            )
        set_field(self, "faces", faces)
        set_field(self, "keep", None if keep == count else keep)
        set_field(self, "reroll", tuple(sorted(set(reroll))))
        set_field(self, "bonus", _strip_trailing_zeros(bonus))
        set_field(self, "clamp", None if self.clamp is None else _read_clamp(self.clamp))
        check_choice(self.sort_again, (True, False), "sort_again")

    @property
    def kept(self) -> int:
        """The number of dice that are kept in a full roll: one for each army in the roll."""
        return self.keep or len(self.faces)

    def list_faces(self, fighting: int) -> tuple[int, ...]:
        """Return the number of faces of each die in a throw, including spare dice.

        fighting: the number of armies in the roll, at most `kept`.
        """
        return self.faces[: len(self.faces) - self.kept + fighting]

    def can_reorder(self, fighting: int) -> bool:
        """Return whether the bonus can make a die higher than a die that showed a higher face.

        fighting: the number of armies in the roll, each with one kept die.

        >>> Dice((6, 6), bonus=(-1,)).can_reorder(2), Dice((6, 6), bonus=(1,)).can_reorder(2)
        (True, False)
        """
        bonus = (*self.bonus, *[0] * fighting)[:fighting]
        return any(low > high for high, low in pairwise(bonus))

    def __repr__(self) -> str:
        return format_short_repr(self, first="faces")


def _read_integers(values: object, name: str, minimum: int, maximum: int) -> tuple[int, ...]:
    entries = read_list(values, name, "whole numbers, such as [6, 6]")
    return tuple(read_int(value, name, minimum, maximum) for value in entries)


def _strip_trailing_zeros(values: tuple[int, ...]) -> tuple[int, ...]:
    while values and values[-1] == 0:
        values = values[:-1]
    return values


def _read_clamp(values: object) -> tuple[int, int]:
    pair = _read_integers(values, "clamp", minimum=-MAX_FACES, maximum=2 * MAX_FACES)
    if len(pair) != 2 or pair[0] > pair[1]:
        raise IllegalError(f"clamp must be a lowest and a highest value, got {quote(values)}")
    return pair[0], pair[1]


def split_dice(text: str, faces: int) -> list[int]:
    """Read the values of dice written as `6 4 1` or `641`.

    faces: the largest number of faces. Below ten, no space is needed between the digits.

    >>> split_dice("6, 4, 1", 6), split_dice("641", 6), split_dice("12 7", 20)
    ([6, 4, 1], [6, 4, 1], [12, 7])
    """
    parts = re.findall("[0-9]+", text)
    return [int(face) for face in (parts[0] if len(parts) == 1 and faces < 10 else parts)]
