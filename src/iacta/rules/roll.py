"""Roll: one throw of both sides' dice, and the exact distribution of the losses that it causes.

Equal throws of one side are collapsed into one sorted row of dice with a weight. The rows are then
compared rank by rank, so that rows which differ only in ranks already decided are collapsed again.
The result is counts of equally likely rolls, from which everything else follows.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from math import comb, prod
from typing import NamedTuple

from iacta.checks import put, shown, whole_number
from iacta.display import Pasted
from iacta.distribution import Distribution
from iacta.errors import IllegalError, TooLargeError
from iacta.rules.dice import Dice
from iacta.rules.modes import ArmiesGrow
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules, rules_argument

__all__ = [
    "LossCounts",
    "Losses",
    "Roll",
    "SeenLossCounts",
    "break_even_ratio",
    "gain_of",
    "loss_counts",
    "refuse_many_rolls",
    "seen_loss_counts",
]

SortedDice = tuple[int, ...]

MANY_FACES = 100  # dice with more may take long, so the full roll is checked first
MOST_ROWS = 10**6  # throws that differ, of one side or of both
MOST_COMPARISONS = 10**7  # about two microseconds each


class Losses(NamedTuple):
    """The armies that one roll costs.

    attackers: armies that the attackers lose.
    defenders: armies that the defenders lose.
    """

    attackers: int
    defenders: int


class LossCounts(NamedTuple):
    """The distribution of the losses of a roll, as counts of equally likely rolls.

    counts: `counts[k]` rolls of `total` cost the defenders k armies, and the attackers
        `compared − k`.
    total: the number of equally likely rolls.
    gains: the rolls in which both sides gain armies instead, as some rules have it.
    """

    counts: tuple[int, ...]
    total: int
    gains: int = 0

    @property
    def compared(self) -> int:
        """How many pairs of dice are compared, which is how many armies the roll takes."""
        return len(self.counts) - 1


SeenLossCounts = dict[tuple[LossCounts, ...], int]


@dataclass(frozen=True, init=False, repr=False)
class Roll(Pasted):
    """One throw of the dice of both sides.

    attack_dice: the attack dice that count, one for each attacking army in the roll.
    defence_dice: the defence dice that count.
    rules: `Rules` or the name of a rule set.

    More dice than the rules allow are refused.

    >>> Roll(3, 2).losses()
    Distribution({Losses(attackers=0, defenders=2): 2890, Losses(attackers=1, defenders=1): 2611, \
Losses(attackers=2, defenders=0): 2275})
    >>> Roll(4, 2)
    Traceback (most recent call last):
        ...
    iacta.errors.IllegalError: attack_dice must be a whole number from 1 to 3, got 4
    """

    attack_dice: int
    defence_dice: int
    rules: Rules

    def __init__(self, attack_dice: int, defence_dice: int, rules: Rules | str = "classic") -> None:
        found = find_rules(rules)
        for name, value, most in (
            ("attack_dice", attack_dice, found.attack.kept),
            ("defence_dice", defence_dice, found.defence.kept),
        ):
            put(self, name, whole_number(value, name, least=1, most=most))
        put(self, "rules", found)

    def to_text(self) -> str:
        """Return the roll as Python text, however long, that can be pasted back."""
        return f"Roll({self.attack_dice}, {self.defence_dice}{rules_argument(self.rules)})"

    def _summary(self) -> str:
        return f"{self.attack_dice} dice against {self.defence_dice}, rules of its own"

    def loss_counts(self) -> LossCounts:
        """Return how many of the equally likely rolls cost the defenders 0, 1, 2 ... armies.

        >>> Roll(2, 1).loss_counts()
        LossCounts(counts=(91, 125), total=216, gains=0)
        """
        return loss_counts(self.attack_dice, self.defence_dice, self.rules)

    def losses(self) -> Distribution[Losses]:
        """Return the exact distribution of the `Losses`; a gain is a negative loss.

        >>> Roll(1, 1).losses()[Losses(attackers=1, defenders=0)]
        Fraction(7, 12)
        >>> Roll(3, 2, "five ones").losses()[Losses(attackers=-1, defenders=-1)]
        Fraction(1, 7776)
        """
        found, gain = self.loss_counts(), gain_of(self.rules)
        weights = {Losses(found.compared - k, k): n for k, n in enumerate(found.counts)}
        return Distribution(weights | ({Losses(-gain, -gain): found.gains} if found.gains else {}))

    def expected_losses(self) -> tuple[Fraction, Fraction]:
        """Return the exact expected losses of attackers and of defenders (Taflin 2001, table 1).

        >>> attackers, defenders = Roll(3, 2).expected_losses()
        >>> round(float(attackers), 4), round(float(defenders), 4)
        (0.9209, 1.0791)
        """
        found = self.loss_counts()
        gained = found.gains * gain_of(self.rules)
        attackers = sum((found.compared - k) * n for k, n in enumerate(found.counts))
        defenders = sum(k * n for k, n in enumerate(found.counts))
        return Fraction(attackers - gained, found.total), Fraction(defenders - gained, found.total)

    def best_attack_dice(self, best: int | None = None) -> Distribution[SortedDice]:
        """Return the distribution of the highest attack dice, before any bonus, highest first.

        best: how many dice; `None` for all that count.

        They are the order statistics Y(1) ≥ Y(2) ≥ ... (Höhle, combos_sorted).

        >>> Roll(3, 2).best_attack_dice(2)[6, 5]
        Fraction(1, 8)
        """
        attack, _ = self.rules.dice(self.attack_dice, self.defence_dice)
        return _best_dice(attack, self.attack_dice, best)

    def best_defence_dice(self, best: int | None = None) -> Distribution[SortedDice]:
        """Return the distribution of the highest defence dice, before any bonus, highest first.

        best: how many dice; `None` for all that count.

        >>> Roll(3, 2).best_defence_dice(1)[6,]
        Fraction(11, 36)
        """
        _, defence = self.rules.dice(self.attack_dice, self.defence_dice)
        return _best_dice(defence, self.defence_dice, best)

    def compared_dice(self) -> Distribution[tuple[SortedDice, SortedDice]]:
        """Return the joint distribution of the dice that are compared, before any bonus.

        >>> Roll(3, 2).compared_dice()[(6, 6), (6, 5)]
        Fraction(1, 243)
        """
        compared = min(self.attack_dice, self.defence_dice)
        ours, theirs = self.best_attack_dice(compared), self.best_defence_dice(compared)
        if len(ours) * len(theirs) > MOST_ROWS:
            raise TooLargeError(
                f"the compared dice can fall in {len(ours) * len(theirs):.0e} ways, expected at "
                f"most {MOST_ROWS:.0e}"
            )
        return ours.product(theirs)


def break_even_ratio(rules: Rules | str = "classic") -> Fraction | None:
    """Return the number of attackers per defender at which a very large battle is even.

    rules: `Rules`, or the name of a rule set.

    An exact fraction: the expected attackers lost in a roll with all dice, divided by the expected
    defenders lost. 0 if the attackers lose none on average, and `None` if the defenders lose none,
    so that no number of attackers is enough.

    Where the defender sees the attack first, it is the greatest ratio r of any of their replies:
    with a attackers and d defenders, no reply makes a − r·d fall on average, and the replies of
    that ratio keep its mean. It moves in bounded steps. So by Azuma's inequality it stays above 0
    with more than r attackers per defender, and with fewer those replies keep it below 0, except
    with a chance that falls exponentially with the size of the battle.

    >>> round(float(break_even_ratio("classic")), 4)
    0.8534
    """
    found = find_rules(rules)
    if not found.mode.dice_chosen_first:
        return _break_even_ratio_if_seen(found)
    attackers, defenders = Roll(*found.full_roll, found).expected_losses()
    return max(attackers, Fraction(0)) / defenders if defenders > 0 else None


def _break_even_ratio_if_seen(rules: Rules) -> Fraction | None:
    """Return the greatest ratio of the mean losses of any replies, by Dinkelbach's method.

    It steps from a ratio r to that of the replies with the greatest mean of attackers lost − r ·
    defenders lost, until it rises no more.
    """
    throws, ratio = seen_loss_counts(*rules.full_roll, rules), Fraction(0)
    while True:
        attackers = defenders = Fraction(0)
        for row, weight in throws.items():
            means = [_means(losses) for losses in row]
            lost = max(means, key=lambda mean: mean[0] - ratio * mean[1])
            attackers, defenders = attackers + weight * lost[0], defenders + weight * lost[1]
        if attackers - ratio * defenders <= 0:
            return ratio
        if not defenders:
            return None
        ratio = attackers / defenders


def _means(losses: LossCounts) -> tuple[Fraction, Fraction]:
    defenders = Fraction(sum(k * n for k, n in enumerate(losses.counts)), losses.total)
    return losses.compared - defenders, defenders


def gain_of(rules: Rules) -> int:
    return rules.mode.gain if isinstance(rules.mode, ArmiesGrow) else 0


@lru_cache(maxsize=4096)
def loss_counts(attack_dice: int, defence_dice: int, rules: Rules) -> LossCounts:
    """Return the exact losses of a roll in which this many dice of each side count.

    Dice that would take more than half a minute are refused.

    >>> loss_counts(3, 2, Rules())
    LossCounts(counts=(2275, 2611, 2890), total=7776, gains=0)

    Source: Höhle (2025) sums p_adk over all rolls, and collapses each side's as here.
    """
    _refuse_roll(attack_dice, defence_dice, rules)
    dice = rules.dice(attack_dice, defence_dice)
    counts = _counts(attack_dice, defence_dice, *dice, rules.ties)
    if rules.mode.grows and (attack_dice, defence_dice) == rules.full_roll:
        return _with_gains(counts, rules)
    return LossCounts(counts, sum(counts))


@lru_cache(maxsize=4096)
def _counts(
    attack_dice: int, defence_dice: int, attack: Dice, defence: Dice, ties: str
) -> tuple[int, ...]:
    best = min(attack_dice, defence_dice)
    ours, theirs = _compared_rows(attack_dice, defence_dice, best, attack, defence, ties)
    # An attack die is as good as any other that beats the same values of the defence.
    values = sorted({value for row, _ in theirs for value in row})
    as_good: dict[SortedDice, int] = {}
    for row, weight in ours:
        beaten = tuple(bisect_left(values, value) for value in row)
        as_good[beaten] = as_good.get(beaten, 0) + weight
    ranked = [(tuple(map(values.index, row)), weights) for row, weights in theirs]
    return _decide(sorted(as_good.items()), ranked)


@lru_cache(maxsize=256)
def seen_loss_counts(attack_dice: int, most_defence_dice: int, rules: Rules) -> SeenLossCounts:
    """Return the losses after each attack throw, for each number of defence dice.

    attack_dice: how many attack dice count.
    most_defence_dice: the most defence dice that may answer them.
    rules: the rules; refused if the attack dice depend on the answer.

    A mapping from rows of losses, for 1, 2 ... defence dice, to the number of equally likely attack
    throws with those losses.

    >>> throws = seen_loss_counts(1, 1, Rules())
    >>> throws[LossCounts(counts=(1, 5), total=6),]  # a six loses to a six only
    1
    """
    if rules.full_attack is not None:
        raise IllegalError(
            "full_attack must be None if the attack is thrown before the defence, "
            f"got {shown(rules.full_attack)}"
        )
    found: dict[SortedDice, list[LossCounts]] = {}
    weights: dict[SortedDice, int] = {}
    for defence_dice in range(1, most_defence_dice + 1):
        _refuse_roll(attack_dice, defence_dice, rules)
        dice = rules.dice(attack_dice, defence_dice)
        ours, theirs = _compared_rows(attack_dice, defence_dice, attack_dice, *dice, rules.ties)
        compared = min(attack_dice, defence_dice)
        for row, weight in ours:
            counts = _decide([(row[:compared], 1)], theirs)
            found.setdefault(row, []).append(LossCounts(counts, sum(counts)))
            weights[row] = weight
    throws: SeenLossCounts = {}
    for row, answers in found.items():
        throws[tuple(answers)] = throws.get(tuple(answers), 0) + weights[row]
    return throws


def _compared_rows(
    attack_dice: int, defence_dice: int, attack_best: int, attack: Dice, defence: Dice, ties: str
) -> tuple[list[tuple[SortedDice, int]], list[tuple[SortedDice, tuple[int, ...]]]]:
    """Return the weighted rows of both sides in ascending order, with values that never tie.

    attack_best: how many of the attack dice are compared.
    """
    compared = min(attack_dice, defence_dice)
    ours = _with_bonus(attack, attack_dice, attack_best)
    theirs = _with_bonus(defence, defence_dice, compared)
    if ties == "attacker":
        ours = {tuple(2 * value + 1 for value in row): weight for row, weight in ours.items()}
        theirs = {tuple(2 * value for value in row): weight for row, weight in theirs.items()}
    return sorted(ours.items()), [(row, (n,)) for row, n in sorted(theirs.items())]


def _with_gains(counts: tuple[int, ...], rules: Rules) -> LossCounts:
    """Move the rolls in which all dice show one from the counts of a full roll to its gains."""
    compared = len(counts) - 1
    attack, defence = rules.dice(*rules.full_roll)
    ours, theirs = (
        [_final(1, rank, dice) for rank in range(compared)] for dice in (attack, defence)
    )
    ties_won = rules.ties == "attacker"
    lost = sum(y > z or (y == z and ties_won) for y, z in zip(ours, theirs, strict=True))
    gains = prod(
        _face_weights(faces, dice.reroll)[1] for dice in (attack, defence) for faces in dice.faces
    )
    left = tuple(count - gains * (k == lost) for k, count in enumerate(counts))
    return LossCounts(left, sum(counts), gains)


@lru_cache(maxsize=1024)
def refuse_many_rolls(attack_dice: int, defence_dice: int, rules: Rules) -> None:
    """Refuse dice whose rolls, with up to so many on each side, take too long together."""
    rolls = [(i, j) for i in range(1, attack_dice + 1) for j in range(1, defence_dice + 1)]
    needed = sum(_comparisons(*rules.dice(i, j), min(i, j)) for i, j in rolls)
    _refuse_too_many(*rules.dice(attack_dice, defence_dice), min(attack_dice, defence_dice), needed)


def _refuse_roll(attack_dice: int, defence_dice: int, rules: Rules) -> None:
    """Refuse a roll whose dice, or those of the full roll if they have many faces, are too many."""
    attack, defence = rules.dice(attack_dice, defence_dice)
    _refuse_too_many(attack, defence, min(attack_dice, defence_dice))
    if max(*attack.faces, *defence.faces) > MANY_FACES:
        _refuse_too_many(*rules.dice(*rules.full_roll), min(rules.full_roll))


def _refuse_too_many(attack: Dice, defence: Dice, compared: int, needed: int | None = None) -> None:
    comparisons = _comparisons(attack, defence, compared) if needed is None else needed
    if comparisons > MOST_COMPARISONS:
        raise TooLargeError(
            f"{compared} attack dice of up to {max(attack.faces)} faces against as many defence "
            f"dice of up to {max(defence.faces)} take {comparisons:.0e} comparisons, expected at "
            f"most {MOST_COMPARISONS:.0e}"
        )


def _comparisons(attack: Dice, defence: Dice, compared: int) -> int:
    ours, theirs = max(attack.faces), max(defence.faces)
    return sum(
        comb(ours + rank - 1, rank) * comb(theirs + compared - rank, compared - rank + 1)
        for rank in range(1, compared + 1)
    )


def _decide(
    attack: list[tuple[SortedDice, int]], defence: list[tuple[SortedDice, tuple[int, ...]]]
) -> tuple[int, ...]:
    """Return in how many pairs of rows the attack wins 0, 1, 2 ... ranks.

    attack: the rows of undecided ranks in ascending order, each with its weight.
    defence: the same, with weights by the number of ranks already lost.
    """
    if not attack[0][0]:
        weight = sum(weight for _, weight in attack)
        return tuple(weight * n for n in _column_sums(row for _, row in defence))
    results = []
    for highest, rows in groupby(attack, key=lambda item: item[0][0]):
        tails = [(row[1:], weight) for row, weight in rows]
        results.append(_decide(tails, _after_rank(highest, defence)))
    return _column_sums(results)


def _after_rank(
    highest: int, defence: list[tuple[SortedDice, tuple[int, ...]]]
) -> list[tuple[SortedDice, tuple[int, ...]]]:
    """Compare an attack die with the first die of each row, and merge rows with equal rests."""
    rests: dict[SortedDice, list[tuple[int, ...]]] = {}
    for row, weights in defence:
        decided = (0, *weights) if row[0] < highest else (*weights, 0)
        rests.setdefault(row[1:], []).append(decided)
    return [(rest, _column_sums(rows)) for rest, rows in rests.items()]


def _column_sums(rows: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*rows, strict=True)))


def _best_dice(dice: Dice, count: int, best: int | None) -> Distribution[SortedDice]:
    most = count if best is None else whole_number(best, "best", least=1, most=count)
    return Distribution(_sorted_dice(dice, count, most))


def _sorted_dice(dice: Dice, count: int, best: int) -> dict[SortedDice, int]:
    """Return the weights of the `best` highest of the dice thrown by `count` armies."""
    faces_thrown = max(dice.thrown(count))
    ways = comb(faces_thrown + best - 1, best)
    if ways > MOST_ROWS or ways * sum(dice.thrown(count)[1:]) > MOST_COMPARISONS:
        raise TooLargeError(
            f"the best {best} of {len(dice.thrown(count))} dice of up to {faces_thrown} faces can "
            f"fall in {ways:.0e} ways, too many for that many dice"
        )
    rows: dict[SortedDice, int] = {(): 1}
    for faces in dice.thrown(count):
        face_weights = _face_weights(faces, dice.reroll)
        longer: dict[SortedDice, int] = {}
        for row, weight in rows.items():
            for face, face_weight in face_weights.items():
                key = tuple(sorted((*row, face), reverse=True)[:best])
                longer[key] = longer.get(key, 0) + weight * face_weight
        rows = longer
    return rows


def _face_weights(faces: int, reroll: tuple[int, ...]) -> Mapping[int, int]:
    """Return the weight of each face; those in `reroll` are thrown once more."""
    rerolled = {face for face in reroll if face <= faces}
    if not rerolled:
        return dict.fromkeys(range(1, faces + 1), 1)
    again = len(rerolled)
    return {face: again + (0 if face in rerolled else faces) for face in range(1, faces + 1)}


@lru_cache(maxsize=1024)
def _with_bonus(dice: Dice, count: int, best: int) -> Mapping[SortedDice, int]:
    """Throw, add each rank's bonus, clamp, and merge the rows that become equal."""
    changed: dict[SortedDice, int] = {}
    for row, weight in _sorted_dice(dice, count, best).items():
        key = tuple(_final(value, rank, dice) for rank, value in enumerate(row))
        changed[key] = changed.get(key, 0) + weight
    return changed


def _final(value: int, rank: int, dice: Dice) -> int:
    total = value + (dice.bonus[rank] if rank < len(dice.bonus) else 0)
    if dice.clamp is None:
        return total
    lowest, highest = dice.clamp
    return max(lowest, min(total, highest))
