"""Changed dice: house rules that let a side change one of its dice after a roll.

After both sides have rolled, the attacker may change a die; then the defender may change a die.
With `AttackDieAgain`, the attacker may roll one die again. With `Missiles`, a side may spend a
missile to set one of its dice to six. A roll is reduced to a set of choices, each with the losses
that follow. Rolls with the same set of choices are counted together; the 7,776 rolls of three dice
against two have a few dozen different sets.
"""

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from iacta.inputs.errors import TooLargeError
from iacta.rules.dice import Dice
from iacta.rules.modes import AttackDieAgain, Mode
from iacta.rules.rows import SortedDice, list_dice_rows, list_face_weights, pick_compared
from iacta.rules.rules import Rules

MISSILE_FACE = 6
MAX_PAIRS = 10**5  # the maximum number of pairs of different throws of the two sides


class DefenceChange(NamedTuple):
    """A choice of the defender after the choice of the attacker.

    missiles: the number of missiles that the defender uses, 0 or 1.
    wins: the number of equally likely rolls in which the defenders lose 0, 1, 2 ... armies.
    """

    missiles: int
    wins: tuple[int, ...]


class AttackChange(NamedTuple):
    """A choice of the attacker after the roll.

    missiles: the number of missiles that the attacker uses, 0 or 1.
    replies: the choices of the defender; the first reply uses no missile.
    """

    missiles: int
    replies: tuple[DefenceChange, ...]


Changes = tuple[AttackChange, ...]  # the choices of the attacker; the first changes no die


@lru_cache(maxsize=1024)
def count_changes(attack_dice: int, defence_dice: int, rules: Rules) -> Mapping[Changes, int]:
    """Return the number of equally likely rolls with each set of choices.

    attack_dice, defence_dice: the numbers of dice that count.
    rules: rules in which a side may change a die after the roll.

    Raises `IllegalError` for dice that cannot be changed, and `TooLargeError` for more than 100,000
    pairs of different throws.

    >>> again = count_changes(1, 1, Rules(mode=AttackDieAgain()))
    >>> sum(again.values())
    36
    >>> kept, thrown = (AttackChange(0, (DefenceChange(0, wins),)) for wins in ((1, 0), (6, 0)))
    >>> again[kept, thrown]  # the rolls in which the defender has a six
    6
    """
    attack, defence = rules.dice(attack_dice, defence_dice)
    _refuse_dice(attack, defence, rules.mode)
    ours, theirs = (
        list_dice_rows(dice, count, len(dice.list_faces(count)))
        for dice, count in ((attack, attack_dice), (defence, defence_dice))
    )
    if len(ours) * len(theirs) > MAX_PAIRS:
        raise TooLargeError(
            f"a roll with {rules.mode.described} may have at most {MAX_PAIRS:.0e} different pairs "
            f"of throws, got {len(ours) * len(theirs):.0e}"
        )
    counts: dict[Changes, int] = defaultdict(int)
    compare = _Comparison(attack, defence, min(attack_dice, defence_dice), rules.ties)
    list_changes = _list_rerolls if isinstance(rules.mode, AttackDieAgain) else _list_missiles
    for mine, weight in ours.items():
        for other, more in theirs.items():
            counts[tuple(list_changes(mine, other, compare))] += weight * more
    return dict(counts)


def count_killed_after_reroll(attack_dice: int, defence_dice: int, rules: Rules) -> tuple[int, ...]:
    """Return the numbers of equally likely rolls that cost the defenders 0, 1, ... armies.

    The attacker rolls a die again only if this increases the expected losses of the defenders, and
    chooses the die that increases them most.

    >>> count_killed_after_reroll(1, 1, Rules(mode=AttackDieAgain()))
    (91, 125)
    """
    faces, counts = rules.attack.faces[0], [0] * (min(attack_dice, defence_dice) + 1)
    for changes, count in count_changes(attack_dice, defence_dice, rules).items():
        rows = [change.replies[0].wins for change in changes]
        wins = max(rows, key=lambda row: Fraction(sum(k * n for k, n in enumerate(row)), sum(row)))
        for killed, n in enumerate(wins):
            counts[killed] += count * n * faces // sum(wins)
    return tuple(counts)


def _refuse_dice(attack: Dice, defence: Dice, mode: Mode) -> None:
    """Raise `IllegalError` if the sorted values of the dice do not identify the changed die."""
    if isinstance(mode, AttackDieAgain):
        if len({*attack.faces}) > 1 or attack.reroll:
            raise mode.make_unfit_error(
                "with attack dice of different faces or with rerolled faces"
            )
    elif any(any(dice.bonus) or dice.clamp for dice in (attack, defence)):
        raise mode.make_unfit_error("with dice that have a bonus or limits")


class _Comparison(NamedTuple):
    """The comparison of two sorted throws.

    attack, defence: the dice of the two sides.
    compared: the number of pairs of dice that are compared.
    ties: the side that wins ties.
    """

    attack: Dice
    defence: Dice
    compared: int
    ties: str

    def count_wins(self, mine: SortedDice, other: SortedDice) -> int:
        """Return the number of armies that the defenders lose."""
        ours = pick_compared(mine, self.attack, self.compared)
        theirs = pick_compared(other, self.defence, self.compared)
        wins_ties = self.ties == "attacker"
        return sum(y > z or (y == z and wins_ties) for y, z in zip(ours, theirs, strict=True))

    def make_reply(self, mine: SortedDice, other: SortedDice, missiles: int = 0) -> DefenceChange:
        wins = self.count_wins(mine, other)
        return DefenceChange(missiles, tuple(int(k == wins) for k in range(self.compared + 1)))


def _list_rerolls(
    mine: SortedDice, other: SortedDice, compare: _Comparison
) -> Iterator[AttackChange]:
    """Yield the choice to keep the roll, then the choices to roll one attack die again."""
    yield AttackChange(0, (compare.make_reply(mine, other),))
    found = set()
    weights = list_face_weights(compare.attack.faces[0], ())
    for die in dict.fromkeys(mine):
        wins: Counter[int] = Counter()
        for face, weight in weights.items():
            wins[compare.count_wins(_replace_die(mine, die, face), other)] += weight
        found.add(tuple(wins[k] for k in range(compare.compared + 1)))
    yield from (AttackChange(0, (DefenceChange(0, each),)) for each in sorted(found))


def _list_missiles(
    mine: SortedDice, other: SortedDice, compare: _Comparison
) -> Iterator[AttackChange]:
    """Yield the choice to use no missile, then the choices to set one die to six."""
    throws = [mine, *(_replace_die(mine, die, MISSILE_FACE) for die in dict.fromkeys(mine))]
    changes = []
    for missiles, ours in zip((0, *[1] * len(mine)), throws, strict=False):
        answers = {
            compare.make_reply(ours, _replace_die(other, die, MISSILE_FACE), 1)
            for die in dict.fromkeys(other)
        }
        changes.append(AttackChange(missiles, (compare.make_reply(ours, other), *sorted(answers))))
    yield changes[0]
    yield from sorted({*changes[1:]})


def _replace_die(row: SortedDice, die: int, face: int) -> SortedDice:
    """Return the sorted dice with the face of one die changed from `die` to `face`."""
    ascending = sorted(row)
    ascending.remove(die)
    insort(ascending, face)
    return tuple(reversed(ascending))
