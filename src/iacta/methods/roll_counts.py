"""Roll counts: the distribution of the number of rolls of a battle.

Let X_n(a, d) be the probability that a battle has had n rolls, goes on, and has a attackers
(garrison excluded) and d defenders. With the probability p_xy(a, d) a roll costs x attackers and y
defenders, so

    X_{n+1}(a, d) = Σ_{x,y} p_xy(a + x, d + y) · X_n(a + x, d + y).

The probabilities that reach a final state are removed and make the distribution of the number of
rolls T, jointly with the final state. As long as all dice are rolled, all states of X_n have the
same number of armies in total, so few states have a positive probability at the same time.

In floats there are only sums and products of non-negative numbers, so that the relative error is at
most that of `iacta.methods.markov` for the same battle. If armies can grow, T has no upper limit;
the sum ends when battles go on with a probability of less than 1e-18.

Source: Grinstead and Snell, "Introduction to Probability" (1997), section 11.2, for absorbing
chains.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods.kernel import Kernel, make_table, refuse_too_large
from iacta.probability.distribution import Distribution, Probability

Numbers: TypeAlias = npt.NDArray[Any]  # an array of floats, or of fractions as objects
Whole: TypeAlias = npt.NDArray[np.int64]

MAX_LEFT_OUT = 1e-18
TABLE_BYTES = 100  # a table needs so many bytes for each state
COUNTING_STEPS = 10  # the time for a state, in steps of `refuse_too_large`


class Rolled(NamedTuple):
    """States after a number of rolls, and their probabilities.

    rolls: the number of rolls.
    able: the attackers of each state, garrison excluded.
    defenders: the defenders of each state.
    chances: the probability of each state.
    """

    rolls: int
    able: Whole
    defenders: Whole
    chances: Numbers

    def select(self, chosen: npt.NDArray[np.bool_]) -> "Rolled":
        """Return the states for which the array is true."""
        return Rolled(self.rolls, *(each[chosen] for each in self[1:]))


def start_battle(able: int, defenders: int, *, exact: bool) -> Rolled:
    """Return the only state before the first roll of a battle.

    able: the attackers, garrison excluded.
    defenders: armies on the defended territory.
    exact: whether probabilities are fractions.
    """
    chance: Numbers = np.array([Fraction(1)], object if exact else float)
    return Rolled(0, np.array([able]), np.array([defenders]), chance)


def sum_by_rolls(ends: Iterable[Rolled], *, exact: bool) -> Distribution[int]:
    """Return the distribution of the number of rolls.

    ends: the final states by the number of rolls.
    exact: whether their probabilities are fractions.
    """
    chances: dict[int, Probability] = {}
    for end in ends:
        chances[end.rolls] = chances.get(end.rolls, 0) + end.chances.sum()
    return Distribution(chances) if exact else Distribution.from_probabilities(chances)


def count_rolls(kernel: Kernel, start: Iterable[Rolled]) -> Iterator[Rolled]:
    """Yield the final states of a battle by the number of rolls; a number may come repeatedly.

    kernel: the kernel of the battle.
    start: the states before the battle, by the number of rolls in earlier battles.

    Raises `IactaError` for battles without single rolls, and for battles that take too long.

    >>> from iacta.methods import choose_kernel
    >>> from iacta.rules.rules import CLASSIC
    >>> kernel = choose_kernel(CLASSIC, exact=True)
    >>> for after in count_rolls(kernel, [start_battle(2, 1, exact=True)]):
    ...     print(after.rolls, after.able, after.defenders, after.chances)
    1 [2] [0] [Fraction(125, 216)]
    2 [0 1] [1 0] [Fraction(637, 2592) Fraction(455, 2592)]
    """
    fighters, held_back = kernel.split_reserve()
    attack, rule = fighters.rules.full_roll[0], fighters.stop
    # Battles that stop at the same number of attackers and of rolls are counted together.
    groups: dict[tuple[int, int | None], list[Rolled]] = {}
    for before in start:
        last = None if rule.max_rolls is None else before.rolls + rule.max_rolls
        state = before._replace(able=before.able - held_back)
        fewest = np.array([rule.fewest_able(n, attack) for n in state.able.tolist()])
        for least in np.unique(fewest).tolist():
            groups.setdefault((least, last), []).append(state.select(fewest == least))
    for (fewest_able, last), states in groups.items():
        for end in _count_group(fighters, states, fewest_able, last):
            yield end._replace(able=end.able + held_back)


def tabulate_expected_rolls(kernel: Kernel, able: int, defenders: int) -> Numbers:
    """Return the expected numbers of rolls of all battles up to a size, `[defenders, attackers]`.

    kernel: the kernel of the battles, without a stop rule.
    able: the largest number of attackers, garrison excluded.
    defenders: the largest number of defenders.

    The table is filled by t(a, d) = 1 + Σ_{x,y} p_xy(a, d) · t(a − x, d − y), solved for t(a, d) if
    a roll may cost nobody an army. Exceptions are as for `count_rolls`; rules under which armies
    can grow also raise `IllegalError`.

    >>> from iacta.methods import choose_kernel
    >>> from iacta.rules.rules import CLASSIC
    >>> tabulate_expected_rolls(choose_kernel(CLASSIC), 2, 1).round(4).tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 1.4213]]
    """
    if kernel.rules.mode.grows:
        raise kernel.rules.mode.make_unfit_error("for a table of expected rolls")
    refuse_too_large(
        able + kernel.garrison,
        defenders,
        memory=TABLE_BYTES * able * defenders,
        method="roll_counts",
        states=COUNTING_STEPS * able * defenders,
    )
    moves = kernel.tabulate_moves(able, defenders)
    table = make_table((able, defenders), exact=kernel.exact)
    for total in range(2, able + defenders + 1):
        d = np.arange(max(1, total - able), min(defenders, total - 1) + 1)
        a, rolls, going_on = total - d, kernel.number(1), kernel.number(1)
        for (lost, killed), chances in moves.items():
            last_d, last_a = (size - 1 for size in chances.shape)
            chance = chances[np.minimum(d, last_d), np.minimum(a, last_a)]
            if lost == killed == 0:
                going_on = going_on - chance
            else:
                rolls = rolls + chance * table[d - killed, a - lost]
        table[d, a] = rolls / going_on
    return table


def _count_group(
    kernel: Kernel, start: list[Rolled], fewest: int, last: int | None
) -> Iterator[Rolled]:
    """Yield the final states of battles that stop with fewer attackers, or after the last roll."""
    able = max(int(state.able.max()) for state in start)
    defenders = max(int(state.defenders.max()) for state in start)
    most = kernel.most_left(max(able, 0), defenders)
    _refuse_slow(kernel, *most)
    moves = kernel.tabulate_moves(*most)
    waiting: dict[int, list[Rolled]] = {}
    for state in start:
        waiting.setdefault(state.rolls, []).append(state)
    now = start[0]._replace(rolls=min(waiting)).select(np.zeros(len(start[0].able), bool))
    # Rolls that add armies, or cost nobody, can go on without end.
    least_chance = MAX_LEFT_OUT if (0, 0) in moves or kernel.rules.mode.grows else 0
    while waiting or now.chances.sum() > least_chance:
        now = _merge([now, *waiting.pop(now.rolls, [])])
        is_over = (now.able < fewest) | (now.defenders <= (kernel.stop.leave or 0))
        ends = is_over | (now.rolls == last)
        if ends.any():
            yield now.select(ends)
        now = _merge([*_roll(now.select(~ends), moves)])


def _roll(now: Rolled, moves: Mapping[tuple[int, int], Numbers]) -> Iterator[Rolled]:
    """Yield the states after the next roll, first an empty array for battles without rolls."""
    yield now._replace(rolls=now.rolls + 1).select(np.zeros(len(now.able), bool))
    for (lost, killed), table in moves.items():
        d, a = (
            np.minimum(armies, size - 1)
            for armies, size in zip((now.defenders, now.able), table.shape, strict=True)
        )
        chances = now.chances * table[d, a]
        after = Rolled(now.rolls + 1, now.able - lost, now.defenders - killed, chances)
        yield after.select(chances != 0)


def _merge(parts: list[Rolled]) -> Rolled:
    """Add the probabilities of equal states."""
    able, defenders, chances = (np.concatenate(each) for each in list(zip(*parts, strict=True))[1:])
    width = int(defenders.max(initial=0)) + 1
    keys = able * width + defenders
    order = np.argsort(keys, kind="stable")
    first = np.unique(keys[order], return_index=True)[1]
    sums = np.add.reduceat(chances[order], first) if len(first) else chances
    return Rolled(parts[0].rolls, able[order][first], defenders[order][first], sums)


def _refuse_slow(kernel: Kernel, able: int, defenders: int) -> None:
    """Raise `TooLargeError` for a battle that takes too long.

    In all states without all dice, one side has too few armies for its dice.
    """
    attack, defence = kernel.rules.full_roll
    states = attack * (defenders + 1) + defence * (able + 1) + min(able, defenders)
    rolls = able + defenders if kernel.stop.max_rolls is None else kernel.stop.max_rolls
    refuse_too_large(
        able + kernel.garrison,
        defenders,
        memory=0,
        method="roll_counts",
        states=COUNTING_STEPS * states * min(rolls, able + defenders),
    )
