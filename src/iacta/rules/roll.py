"""Roll: one throw of the dice of both sides, and the exact distribution of its losses.

There are two algorithms. The first algorithm visits the values of dice in descending order. Its
state consists of the number of dice on each side that show at least the current value, and the
number of ranks that the attack has won. An attack die wins its rank if the defence die of the same
rank has a lower value, which is visited later. The algorithm needs a few additions per value,
independent of the number of possible throws.

The second algorithm also works if ranks have different bonuses, or if the defender sees the attack
roll first. It represents equal throws of one side by sorted dice with a weight, and sorts the dice
again after the bonus. It compares the dice of both sides rank by rank, and merges throws that only
differ in compared ranks.

Both algorithms return counts of equally likely rolls.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, product
from math import comb, inf, prod
from operator import itemgetter
from typing import NamedTuple

from iacta.inputs.checks import quote, read_int, set_field
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.inputs.reprs import PasteableMixin
from iacta.probability.distribution import Distribution
from iacta.rules.changed_dice import count_killed_after_reroll
from iacta.rules.dice import Dice
from iacta.rules.modes import (
    ArmiesGrow,
    AttackDieAgain,
    Fumble,
    HouseRolls,
    OneDieFirst,
    TiesCost,
)
from iacta.rules.rows import (
    MAX_ROLL_STEPS,
    SortedDice,
    add_bonus,
    count_ranks_needed,
    estimate_sorting_steps,
    list_compared,
    list_dice_rows,
    list_face_weights,
    pick_compared,
)
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules, format_rules_argument

EVEN_ARMIES = 10**6  # with equally many armies, the dice of a very large even battle
MAX_UNCHECKED_FACES = 100  # dice with more faces are refused unless a full roll is feasible
MAX_THROW_PAIRS = 10**6  # the maximum number of pairs of different throws in `Roll.compared_dice`
STEPS_PER_SECOND = 10**6


class Losses(NamedTuple):
    """The armies lost in one roll.

    attackers: the number of armies that the attackers lose.
    defenders: the number of armies that the defenders lose.
    """

    attackers: int
    defenders: int


class LossCounts(NamedTuple):
    """The distribution of the losses in a roll, as counts of equally likely rolls.

    counts: `counts[k]` is the number of rolls in which the defenders lose k armies and the
        attackers lose `pair_count − k`.
    total: the total number of equally likely rolls.
    gains: the number of rolls in which both sides gain armies instead; 0 under most rules.
    """

    counts: tuple[int, ...]
    total: int
    gains: int = 0

    @property
    def pair_count(self) -> int:
        """The number of pairs of dice that are compared, which is the number of armies lost."""
        return len(self.counts) - 1


SeenLossCounts = dict[tuple[LossCounts, ...], int]


class SeenThrow(NamedTuple):
    """An attack roll that the defender sees before their own roll.

    attack: the attack dice that can be compared, highest first, with their bonuses.
    weight: the number of equally likely rolls with these dice.
    replies: the distributions of losses for replies with 1, 2, ... defence dice.
    first_die: the first defence die, without a bonus, if the defender sees it before they decide on
        a second die; otherwise `None`.
    """

    attack: SortedDice
    weight: int
    replies: tuple[LossCounts, ...]
    first_die: int | None = None


@dataclass(frozen=True, init=False, repr=False)
class Roll(PasteableMixin):
    """One throw of the dice of both sides.

    attack_dice: the number of attack dice that count, one for each attacking army in the roll.
    defence_dice: the number of defence dice that count.
    rules: `Rules`, or the name of a rule set.

    More dice than the rules allow raise `IactaError`.

    >>> Roll(3, 2).losses()
    Distribution({Losses(attackers=0, defenders=2): 2890, Losses(attackers=1, defenders=1): 2611, \
Losses(attackers=2, defenders=0): 2275})
    >>> Roll(4, 2)
    Traceback (most recent call last):
        ...
    iacta.IllegalError: attack_dice must be a whole number from 1 to 3, got 4
    """

    attack_dice: int
    defence_dice: int
    rules: Rules

    def __init__(self, attack_dice: int, defence_dice: int, rules: Rules | str = "classic") -> None:
        rules = find_rules(rules)
        for name, value, most in (
            ("attack_dice", attack_dice, rules.attack.kept),
            ("defence_dice", defence_dice, rules.defence.kept),
        ):
            set_field(self, name, read_int(value, name, minimum=1, maximum=most))
        set_field(self, "rules", rules)

    def to_text(self) -> str:
        """Return Python code that creates this roll, of any length."""
        return f"Roll({self.attack_dice}, {self.defence_dice}{format_rules_argument(self.rules)})"

    def _summary(self) -> str:
        return f"{self.attack_dice} dice against {self.defence_dice}, rules of its own"

    def loss_counts(self) -> LossCounts:
        """Return the numbers of equally likely rolls in which the defenders lose 0, 1, ... armies.

        >>> Roll(2, 1).loss_counts()
        LossCounts(counts=(91, 125), total=216, gains=0)
        """
        return loss_counts(self.attack_dice, self.defence_dice, self.rules)

    def losses(self) -> Distribution[Losses]:
        """Return the exact distribution of the `Losses`. A gain is a negative loss.

        >>> Roll(1, 1).losses()[Losses(attackers=1, defenders=0)]
        Fraction(7, 12)
        >>> Roll(3, 2, "five ones").losses()[Losses(attackers=-1, defenders=-1)]
        Fraction(1, 7776)
        """
        return Distribution(count_losses(self.attack_dice, self.defence_dice, self.rules))

    def expected_losses(self) -> tuple[Fraction, Fraction]:
        """Return the exact expected losses of the attackers and of the defenders.

        Source: Taflin (2001), table 1.

        >>> attackers, defenders = Roll(3, 2).expected_losses()
        >>> round(float(attackers), 4), round(float(defenders), 4)
        (0.9209, 1.0791)
        """
        counts = count_losses(self.attack_dice, self.defence_dice, self.rules)
        attackers = sum(losses.attackers * n for losses, n in counts.items())
        defenders = sum(losses.defenders * n for losses, n in counts.items())
        total = sum(counts.values())
        return Fraction(attackers, total), Fraction(defenders, total)

    def expected_losses_if_seen(self) -> tuple[Fraction, Fraction]:
        """Return the expected losses against a defender who sees the attack roll before theirs.

        The defender throws up to `defence_dice` dice: the number that costs them the fewest armies
        compared with the attackers.

        >>> attackers, defenders = Roll(3, 2, "defender sees first").expected_losses_if_seen()
        >>> round(float(attackers), 4), round(float(defenders), 4)
        (0.7735, 0.7728)
        """
        throws = count_losses_by_throw(self.attack_dice, self.defence_dice, self.rules)
        total = sum(throws.values())
        attackers, defenders = _sum_losses_if_seen(throws, Fraction(1))
        return attackers / total, defenders / total

    def best_attack_dice(self, best: int | None = None) -> Distribution[SortedDice]:
        """Return the joint distribution of the highest attack dice, before any bonus.

        best: the number of dice to return, highest first; `None` for all dice that count.

        These are the order statistics Y(1) ≥ Y(2) ≥ ... (`combos_sorted` in Höhle).

        >>> Roll(3, 2).best_attack_dice(2)[6, 5]
        Fraction(1, 8)
        """
        attack, _ = self.rules.dice(self.attack_dice, self.defence_dice)
        return _compute_best_dice(attack, self.attack_dice, best)

    def best_defence_dice(self, best: int | None = None) -> Distribution[SortedDice]:
        """Return the joint distribution of the highest defence dice, before any bonus.

        best: the number of dice to return, highest first; `None` for all dice that count.

        >>> Roll(3, 2).best_defence_dice(1)[6,]
        Fraction(11, 36)
        """
        _, defence = self.rules.dice(self.attack_dice, self.defence_dice)
        return _compute_best_dice(defence, self.defence_dice, best)

    def compared_dice(self) -> Distribution[tuple[SortedDice, SortedDice]]:
        """Return the joint distribution of the compared dice, before any bonus.

        >>> Roll(3, 2).compared_dice()[(6, 6), (6, 5)]
        Fraction(1, 243)
        """
        compared = min(self.attack_dice, self.defence_dice)
        ours, theirs = self.best_attack_dice(compared), self.best_defence_dice(compared)
        if len(ours) * len(theirs) > MAX_THROW_PAIRS:
            raise TooLargeError(
                f"the compared dice have {len(ours) * len(theirs):.0e} different results, expected "
                f"at most {MAX_THROW_PAIRS:.0e}"
            )
        return ours.product(theirs)


def break_even_ratio(rules: Rules | str = "classic") -> Fraction | None:
    """Return the number of attackers per defender that makes a very large battle even.

    rules: `Rules`, or the name of a rule set.

    The result is an exact fraction: the expected losses of the attackers in a full roll divided by
    the expected losses of the defenders. It is 0 if the attackers lose no armies on average, and
    `None` if the defenders lose no armies, because then no number of attackers is sufficient.

    If the defender sees the attack roll first, the result is the largest ratio r over all policies
    of replies. For a attackers and d defenders, no reply decreases the expected value of a − r·d,
    and the policy with the ratio r does not change this value. The steps of a − r·d are bounded.
    Therefore, by Azuma's inequality, a − r·d stays above 0 for more than r attackers per defender,
    and below 0 for fewer attackers and this policy, except with a probability that decreases
    exponentially with the size of the battle.

    >>> round(float(break_even_ratio("classic")), 4)
    0.8534
    """
    rules = find_rules(rules)
    if not rules.mode.dice_chosen_first:
        return _compute_ratio_if_seen(rules)
    dice = rules.full_roll
    if isinstance(rules.mode, HouseRolls):
        dice = rules.mode.count_dice(EVEN_ARMIES, EVEN_ARMIES, dice, rules.garrison)
        if not dice[0]:
            return None
    attackers, defenders = Roll(*dice, rules).expected_losses()
    return max(attackers, Fraction(0)) / defenders if defenders > 0 else None


def _compute_ratio_if_seen(rules: Rules) -> Fraction | None:
    """Return the largest ratio of expected losses over all policies, by Dinkelbach's method.

    Each step replaces r by the ratio of the best replies, until r no longer increases.
    """
    throws, ratio = count_losses_by_throw(*rules.full_roll, rules), Fraction(0)
    while True:
        attackers, defenders = _sum_losses_if_seen(throws, ratio)
        if attackers - ratio * defenders <= 0:
            return ratio
        if not defenders:
            return None
        ratio = attackers / defenders


def _sum_losses_if_seen(throws: SeenLossCounts, ratio: Fraction) -> tuple[Fraction, Fraction]:
    """Return the losses of both sides, summed over all attack rolls, for the best replies.

    The replies maximise the expected value of attackers lost − ratio · defenders lost. Of equally
    good replies, the defender throws the most dice.
    """
    attackers = defenders = Fraction(0)
    for row, weight in throws.items():
        means = [_compute_expected_losses(losses) for losses in reversed(row)]
        lost = max(means, key=lambda mean: mean[0] - ratio * mean[1])
        attackers, defenders = attackers + weight * lost[0], defenders + weight * lost[1]
    return attackers, defenders


def _compute_expected_losses(losses: LossCounts) -> tuple[Fraction, Fraction]:
    defenders = Fraction(sum(k * n for k, n in enumerate(losses.counts)), losses.total)
    return losses.pair_count - defenders, defenders


def compute_gain(rules: Rules) -> int:
    return rules.mode.gain if isinstance(rules.mode, ArmiesGrow) else 0


@lru_cache(maxsize=4096)
def count_losses(attack_dice: int, defence_dice: int, rules: Rules) -> Mapping[Losses, int]:
    """Return the number of equally likely rolls with each loss, best for the attackers last.

    >>> from iacta.rules.modes import TiesCost
    >>> dict(count_losses(1, 1, Rules(mode=TiesCost("nobody"))))
    {Losses(attackers=0, defenders=0): 6, Losses(attackers=0, defenders=1): 15, \
Losses(attackers=1, defenders=0): 15}
    """
    if isinstance(rules.mode, TiesCost):
        return _count_losses_with_ties(attack_dice, defence_dice, rules, rules.mode)
    if isinstance(rules.mode, Fumble):
        return _count_losses_with_fumble(attack_dice, defence_dice, rules)
    if isinstance(rules.mode, AttackDieAgain):
        compared = min(attack_dice, defence_dice)
        killed = count_killed_after_reroll(attack_dice, defence_dice, rules)
        return {Losses(compared - k, k): n for k, n in enumerate(killed) if n}
    losses, gain = loss_counts(attack_dice, defence_dice, rules), compute_gain(rules)
    counts = {Losses(losses.pair_count - k, k): n for k, n in enumerate(losses.counts)}
    return counts | ({Losses(-gain, -gain): losses.gains} if losses.gains else {})


def make_endless_error(attack_dice: int, defence_dice: int) -> IllegalError:
    """Return the error to raise if a roll never costs an army, so that battles never end."""
    return IllegalError(
        f"a battle must be able to end, but a roll of {attack_dice} attack dice against "
        f"{defence_dice} never costs an army under these rules"
    )


def _count_losses_with_ties(
    attack_dice: int, defence_dice: int, rules: Rules, mode: TiesCost
) -> Mapping[Losses, int]:
    compared = min(attack_dice, defence_dice)
    sides = zip(rules.dice(attack_dice, defence_dice), (attack_dice, defence_dice), strict=True)
    _refuse_roll(attack_dice, defence_dice, rules, _estimate_steps)
    ours, theirs = (list_compared(dice, count, compared) for dice, count in sides)
    if len(ours) * len(theirs) > MAX_THROW_PAIRS:
        raise TooLargeError(
            f"a roll with {mode.described} may have at most {MAX_THROW_PAIRS:.0e} different "
            f"results, got {len(ours) * len(theirs):.0e}"
        )
    tied = int(mode.sides != "nobody")
    counts: dict[Losses, int] = defaultdict(int)
    for (mine, weight), (other, more) in product(ours.items(), theirs.items()):
        pairs = [*zip(mine, other, strict=True)]
        cost = tied * sum(y == z for y, z in pairs)
        lost, killed = sum(y < z for y, z in pairs), sum(y > z for y, z in pairs)
        counts[Losses(lost + cost, killed + cost)] += weight * more
    return dict(sorted(counts.items()))


def _count_losses_with_fumble(
    attack_dice: int, defence_dice: int, rules: Rules
) -> Mapping[Losses, int]:
    """Return the losses where an attack roll of ones costs an army for each attack die."""
    attack, defence = rules.dice(attack_dice, defence_dice)
    compared = min(attack_dice, defence_dice)
    usual = loss_counts(attack_dice, defence_dice, rules).counts
    ones = pick_compared((1,) * attack_dice, attack, compared)
    (wins,) = _count_wins([ones], list_compared(defence, defence_dice, compared), rules.ties)
    ways = prod(
        list_face_weights(faces, attack.reroll)[1] for faces in attack.list_faces(attack_dice)
    )
    counts: dict[Losses, int] = {Losses(attack_dice, 0): 0}
    for killed, (count, with_ones) in enumerate(zip(usual, wins, strict=True)):
        counts[Losses(compared - killed, killed)] = count - ways * with_ones
    counts[Losses(attack_dice, 0)] += ways * sum(wins)
    return {losses: count for losses, count in counts.items() if count}


@lru_cache(maxsize=4096)
def loss_counts(attack_dice: int, defence_dice: int, rules: Rules) -> LossCounts:
    """Return the exact distribution of the losses in a roll with the given numbers of dice.

    Raises `TooLargeError` for a roll that would take more than half a minute.

    >>> loss_counts(3, 2, Rules())
    LossCounts(counts=(2275, 2611, 2890), total=7776, gains=0)

    Source: Höhle (2025) sums p_adk over all rolls, and merges equal throws of each side.
    """
    if isinstance(rules.mode, TiesCost):
        raise rules.mode.make_unfit_error("where each pair of dice costs one army")
    _refuse_roll(attack_dice, defence_dice, rules, _estimate_steps)
    dice = rules.dice(attack_dice, defence_dice)
    counts = _count_losses(attack_dice, defence_dice, *dice, rules.ties)
    if rules.mode.grows and (attack_dice, defence_dice) == rules.full_roll:
        return _separate_gains(counts, rules)
    return LossCounts(counts, sum(counts))


@lru_cache(maxsize=4096)
def _count_losses(
    attack_dice: int, defence_dice: int, attack: Dice, defence: Dice, ties: str
) -> tuple[int, ...]:
    dice = attack_dice, defence_dice, attack, defence
    count = (
        _count_by_row
        if _estimate_row_steps(*dice) < _estimate_value_steps(*dice)
        else _count_by_value
    )
    return count(*dice, ties)


class _Value(NamedTuple):
    """A value that a die of one side can show. The first algorithm visits values in sorted order.

    final: the value after bonus and limits.
    wins_ties: whether this side wins ties, so that its value comes before an equal value of the
        other side.
    face: the face of the die.
    is_attack: whether the die belongs to the attack.
    short: the number of dice of this side that have too few faces to show this face.
    lower, weight: the total weight of all lower faces of a die, and the weight of this face.
    """

    final: int
    wins_ties: bool
    face: int
    is_attack: bool
    short: int
    lower: int
    weight: int


def _list_values(dice: Dice, faces: list[int], *, is_attack: bool, ties: str) -> Iterator[_Value]:
    wins_ties, lower = is_attack == (ties == "attacker"), 0
    for face, weight in list_face_weights(faces[-1], dice.reroll).items():
        short = bisect_left(faces, face)
        final = add_bonus(face, 0, dice)
        yield _Value(final, wins_ties, face, is_attack, short, lower, weight)
        lower += weight


def _count_by_value(
    attack_dice: int, defence_dice: int, attack: Dice, defence: Dice, ties: str
) -> tuple[int, ...]:
    compared = min(attack_dice, defence_dice)
    ours, theirs = sorted(attack.list_faces(attack_dice)), sorted(defence.list_faces(defence_dice))
    values = [
        *_list_values(attack, ours, is_attack=True, ties=ties),
        *_list_values(defence, theirs, is_attack=False, ties=ties),
    ]
    # The number of throws by state. A state consists of the number of ranks with an attack die, the
    # number of ranks with a defence die, and the number of ranks that the attack has won.
    table = {(0, 0, 0): 1}
    for (is_attack, short), group in groupby(
        sorted(values, reverse=True), key=lambda value: (value.is_attack, value.short)
    ):
        run = [*group]  # consecutive values of the same side
        weight, lower = sum(value.weight for value in run), run[-1].lower
        faces = ours if is_attack else theirs
        ways = [_count_ways(faces, short, n, compared, weight, lower) for n in range(compared + 1)]
        after: dict[tuple[int, int, int], int] = defaultdict(int)
        for (i, j, won), count in table.items():
            for more, factor in enumerate(ways[i if is_attack else j]):
                if is_attack:
                    after[i + more, j, won + max(i + more - max(i, j), 0)] += count * factor
                else:
                    after[i, j + more, won] += count * factor
        table = after
    return tuple(table.get((compared, compared, won), 0) for won in range(compared + 1))


def _count_ways(
    faces: list[int], short: int, known: int, compared: int, weight: int, lower: int
) -> list[int]:
    """Return the numbers of ways in which 0, 1, 2, ... more dice of one side show certain values.

    faces: the number of faces of every die, in ascending order.
    short: the number of dice that cannot show these values.
    known: the number of dice with higher values.
    compared: the number of ranks. If every rank has a die, the other dice may have any value.
    weight: the weight of these values.
    lower: the total weight of all lower values.
    """
    dice, ranks = len(faces) - short - known, compared - known
    if not ranks:
        return [1]
    counts = [comb(dice, more) * weight**more for more in range(min(dice + 1, ranks))]
    if dice >= ranks:
        too_few = sum(ways * lower ** (dice - more) for more, ways in enumerate(counts))
        counts.append(((weight + lower) ** dice - too_few) * prod(faces[:short]))
    return counts


def _count_by_row(
    attack_dice: int, defence_dice: int, attack: Dice, defence: Dice, ties: str
) -> tuple[int, ...]:
    compared = min(attack_dice, defence_dice)
    ours, theirs = (
        list_compared(dice, count, compared)
        for dice, count in ((attack, attack_dice), (defence, defence_dice))
    )
    rows = zip(ours.values(), _count_wins([*ours], theirs, ties), strict=True)
    return _sum_columns(tuple(weight * n for n in wins) for weight, wins in rows)


@lru_cache(maxsize=256)
def list_seen_throws(
    attack_dice: int, most_defence_dice: int, rules: Rules
) -> tuple[SeenThrow, ...]:
    """Return every attack roll with the losses after each reply, in ascending order of the dice.

    attack_dice: the number of attack dice that count.
    most_defence_dice: the largest number of dice in a reply.
    rules: the rules of the roll.

    Raises `IllegalError` if the attack dice depend on the reply, or if the defender throws one die
    first and may throw more than two.

    >>> *_, sixes = list_seen_throws(3, 2, Rules())
    >>> sixes.attack, sixes.weight, sixes.replies[0]
    ((6, 6), 16, LossCounts(counts=(1, 5), total=6, gains=0))
    """
    if rules.full_attack is not None:
        raise IllegalError(
            f"full_attack must be None if the attacker rolls first, got {quote(rules.full_attack)}"
        )
    _refuse_roll(attack_dice, most_defence_dice, rules, _estimate_seen_steps)
    ours: dict[SortedDice, int] = {}
    for row, weight in sorted(list_compared(rules.attack, attack_dice, attack_dice).items()):
        ours[row[:most_defence_dice]] = ours.get(row[:most_defence_dice], 0) + weight
    if isinstance(rules.mode, OneDieFirst) and most_defence_dice > 1:
        return tuple(_list_throws_with_first_die(ours, attack_dice, most_defence_dice, rules))
    replies: list[list[LossCounts]] = []
    for defence_dice in range(1, most_defence_dice + 1):
        compared = min(attack_dice, defence_dice)
        _, defence = rules.dice(attack_dice, defence_dice)
        theirs = list_compared(defence, defence_dice, compared)
        replies.append(_list_losses(ours, theirs, compared, rules))
    return tuple(
        SeenThrow(row, weight, found)
        for (row, weight), found in zip(ours.items(), zip(*replies, strict=True), strict=True)
    )


def _list_losses(
    ours: Iterable[SortedDice], theirs: Mapping[SortedDice, int], compared: int, rules: Rules
) -> list[LossCounts]:
    """Return the distribution of losses for each attack roll.

    theirs: the compared defence dice, with weights.
    """
    wins = _count_wins([row[:compared] for row in ours], theirs, rules.ties)
    return [LossCounts(counts, sum(theirs.values())) for counts in wins]


def _list_throws_with_first_die(
    ours: Mapping[SortedDice, int], attack_dice: int, most_defence_dice: int, rules: Rules
) -> Iterator[SeenThrow]:
    """Yield every attack roll with every first defence die."""
    (_, one), (_, two) = (rules.dice(attack_dice, dice) for dice in (1, 2))
    first_faces, second_faces = one.list_faces(1), two.list_faces(2)
    if most_defence_dice > 2 or (len(first_faces), len(second_faces)) != (1, 2):
        raise IllegalError(
            f"defence must have at most two dice if the defender throws one die first, got {two}"
        )
    compared = min(attack_dice, 2)
    for first, weight in list_face_weights(first_faces[0], one.reroll).items():
        both: dict[SortedDice, int] = {}
        for second, ways in list_face_weights(second_faces[1], two.reroll).items():
            row = pick_compared(tuple(sorted((first, second), reverse=True)), two, compared)
            both[row] = both.get(row, 0) + ways
        replies = zip(
            _list_losses(ours, {pick_compared((first,), one, 1): 1}, 1, rules),
            _list_losses(ours, both, compared, rules),
            strict=True,
        )
        for (row, count), found in zip(ours.items(), replies, strict=True):
            yield SeenThrow(row, count * weight, found, first)


@lru_cache(maxsize=256)
def count_losses_by_throw(attack_dice: int, most_defence_dice: int, rules: Rules) -> SeenLossCounts:
    """Return the distributions of losses for each attack roll and each reply to this roll.

    The arguments and the exceptions are the same as for `list_seen_throws`.

    The keys of the result are tuples of distributions, one for each reply with 1, 2, ... defence
    dice. The values are the numbers of equally likely attack rolls with these distributions.

    >>> throws = count_losses_by_throw(1, 1, Rules())
    >>> throws[LossCounts(counts=(1, 5), total=6),]  # a six loses to a six only
    1
    """
    throws: SeenLossCounts = {}
    for throw in list_seen_throws(attack_dice, most_defence_dice, rules):
        throws[throw.replies] = throws.get(throw.replies, 0) + throw.weight
    return throws


def _separate_gains(counts: tuple[int, ...], rules: Rules) -> LossCounts:
    """Return the losses in a full roll, and count rolls in which all dice show one as gains."""
    compared = len(counts) - 1
    attack, defence = rules.dice(*rules.full_roll)
    ours, theirs = (pick_compared((1,) * dice.kept, dice, compared) for dice in (attack, defence))
    ties_won = rules.ties == "attacker"
    lost = sum(y > z or (y == z and ties_won) for y, z in zip(ours, theirs, strict=True))
    gains = prod(
        list_face_weights(faces, dice.reroll)[1]
        for dice in (attack, defence)
        for faces in dice.faces
    )
    left = tuple(count - gains * (k == lost) for k, count in enumerate(counts))
    return LossCounts(left, sum(counts), gains)


def refuse_many_rolls(
    attack_dice: int, defence_dice: int, rules: Rules, seconds: float = inf
) -> None:
    """Raise `TooLargeError` if computing all rolls up to these numbers of dice takes too long.

    seconds: the time limit in seconds.
    """
    steps = _sum_steps(attack_dice, defence_dice, rules)
    _refuse_too_many(attack_dice, defence_dice, rules, steps, seconds)


@lru_cache(maxsize=1024)
def _sum_steps(attack_dice: int, defence_dice: int, rules: Rules) -> int:
    steps = _estimate_steps if rules.mode.dice_chosen_first else _estimate_seen_steps
    rolls = product(range(1, attack_dice + 1), range(1, defence_dice + 1))
    return sum(steps(i, j, rules) for i, j in rolls)


def _estimate_steps(attack_dice: int, defence_dice: int, rules: Rules) -> int:
    dice = attack_dice, defence_dice, *rules.dice(attack_dice, defence_dice)
    return int(min(_estimate_row_steps(*dice), _estimate_value_steps(*dice)))


def _estimate_seen_steps(attack_dice: int, most_defence_dice: int, rules: Rules) -> int:
    rows = estimate_sorting_steps(rules.attack, attack_dice, attack_dice)
    dice = ((attack_dice, j, *rules.dice(attack_dice, j)) for j in range(1, most_defence_dice + 1))
    return rows + sum(_estimate_row_steps(*die) for die in dice)


def _estimate_row_steps(attack_dice: int, defence_dice: int, attack: Dice, defence: Dice) -> int:
    """Estimate the steps of the second algorithm, which sorts throws and compares pairs."""
    compared = min(attack_dice, defence_dice)
    return max(
        estimate_sorting_steps(
            attack, attack_dice, count_ranks_needed(attack, attack_dice, compared)
        ),
        estimate_sorting_steps(
            defence, defence_dice, count_ranks_needed(defence, defence_dice, compared)
        ),
        sum(
            _bound_row_count(attack, attack_dice, rank)
            * _bound_row_count(defence, defence_dice, compared - rank + 1)
            for rank in range(1, compared + 1)
        ),
    )


def _bound_row_count(dice: Dice, count: int, ranks: int) -> int:
    """Return an upper bound on the number of different values of the `ranks` highest dice."""
    faces, bonus = max(dice.faces), (*dice.bonus, 0)
    if not (dice.sort_again and dice.can_reorder(count)):
        return comb(faces + ranks - 1, ranks)
    most = count_ranks_needed(dice, count, ranks)
    values = min(faces + max(bonus) - min(bonus), faces * len({*bonus}))
    return min(comb(faces + most - 1, most), comb(values + ranks - 1, ranks))


def _estimate_value_steps(
    attack_dice: int, defence_dice: int, attack: Dice, defence: Dice
) -> float:
    """Estimate the number of additions in the first algorithm; infinite if it does not apply.

    The first algorithm requires an equal bonus for all compared ranks that cannot reorder the dice.
    It does not apply to rerolled dice with different numbers of faces, because the same face then
    has different weights.
    """
    compared = min(attack_dice, defence_dice)
    for dice, count in ((attack, attack_dice), (defence, defence_dice)):
        bonus = (*dice.bonus, *[0] * compared)[:compared]
        if len({*bonus}) > 1 or (dice.sort_again and dice.can_reorder(count)):
            return inf
        if dice.reroll and len({*dice.list_faces(count)}) > 1:
            return inf
    ours, theirs = max(attack.faces), max(defence.faces)
    groups = 2 * min(ours, theirs) + len({*attack.faces, *defence.faces})
    return 4 * (ours + theirs) + groups * (10 + (compared + 1) ** 4 // 10)


def _refuse_roll(
    attack_dice: int, defence_dice: int, rules: Rules, steps: Callable[[int, int, Rules], int]
) -> None:
    """Raise `TooLargeError` for a roll that would take too long.

    If the dice have more than `MAX_UNCHECKED_FACES` faces, a full roll must also be feasible.
    """
    rolls = [(attack_dice, defence_dice)]
    attack, defence = rules.dice(attack_dice, defence_dice)
    if max(*attack.faces, *defence.faces) > MAX_UNCHECKED_FACES:
        rolls.append(rules.full_roll)
    for roll in rolls:
        _refuse_too_many(*roll, rules, steps(*roll, rules))


def _refuse_too_many(
    attack_dice: int, defence_dice: int, rules: Rules, steps: int, seconds: float = inf
) -> None:
    most = min(MAX_ROLL_STEPS, seconds * STEPS_PER_SECOND)
    if steps > most:
        attack, defence = rules.dice(attack_dice, defence_dice)
        raise TooLargeError(
            f"{attack_dice} attack dice of up to {max(attack.faces)} faces against {defence_dice} "
            f"defence dice of up to {max(defence.faces)} take {steps:.0e} steps, expected at most "
            f"{most:.0e}{' within the time limit' if most < MAX_ROLL_STEPS else ''}",
            parameter="time_limit" if most < MAX_ROLL_STEPS else None,
        )


def _count_wins(
    attack: list[SortedDice], defence: Mapping[SortedDice, int], ties: str
) -> list[tuple[int, ...]]:
    """Return, for each attack throw, the weights of winning 0, 1, 2, ... ranks.

    attack: the sorted dice of each attack throw.
    defence: the sorted dice of the defence throws, with their weights.
    """
    # Attack dice that beat the same defence values are equivalent.
    values = sorted({value for row in defence for value in row})
    beats = bisect_right if ties == "attacker" else bisect_left
    beaten = {value: beats(values, value) for row in attack for value in row}
    as_good = [tuple(map(beaten.__getitem__, row)) for row in attack]
    different = sorted({*as_good})
    rank = {value: number for number, value in enumerate(values)}
    placed: list[tuple[SortedDice, tuple[int, ...]]]
    placed = [(tuple(map(rank.__getitem__, row)), (n,)) for row, n in defence.items()]
    wins = dict(zip(different, _weigh_ranks_won(different, placed), strict=True))
    return [wins[row] for row in as_good]


def _weigh_ranks_won(
    attack_throws: list[SortedDice], defence_throws: list[tuple[SortedDice, tuple[int, ...]]]
) -> Iterator[tuple[int, ...]]:
    """Yield, for each attack throw, the weights of winning 0, 1, 2, ... ranks.

    attack_throws: the uncompared dice of each attack throw. A die is represented by the number of
        defence values that it beats.
    defence_throws: the uncompared dice of each defence throw, and the weights of the throw by the
        number of ranks that the attack has won. A die is represented by the index of its value.
    """
    if not attack_throws[0]:
        yield _sum_columns(weights for _, weights in defence_throws)
        return
    for highest, rows in groupby(attack_throws, key=itemgetter(0)):
        yield from _weigh_ranks_won(
            [row[1:] for row in rows], _compare_rank(highest, defence_throws)
        )


def _compare_rank(
    highest: int, defence_throws: list[tuple[SortedDice, tuple[int, ...]]]
) -> list[tuple[SortedDice, tuple[int, ...]]]:
    """Compare an attack die with the first die of each defence throw; merge equal other dice."""
    rests: dict[SortedDice, list[tuple[int, ...]]] = {}
    for row, weights in defence_throws:
        decided = (0, *weights) if row[0] < highest else (*weights, 0)
        rests.setdefault(row[1:], []).append(decided)
    return [(rest, _sum_columns(rows)) for rest, rows in rests.items()]


def _sum_columns(rows: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*rows, strict=True)))


def _compute_best_dice(dice: Dice, count: int, best: int | None) -> Distribution[SortedDice]:
    most = count if best is None else read_int(best, "best", minimum=1, maximum=count)
    return Distribution(list_dice_rows(dice, count, most))
