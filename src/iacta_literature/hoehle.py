"""Höhle's article, and an error that Tan published. Part of this module is WRONG ON PURPOSE.

Höhle counts armies without the garrison. He also showed by simulation that Tan's published
distribution of a roll is wrong. `wrong_distribution` computes a distribution with the same mistake,
as an example of a plausible error that a minute of dice rolls reveals. Do not use it for anything
else.

Let Y(1) ≥ Y(2) ≥ ... be the sorted attack dice and Z(1) ≥ Z(2) ≥ ... the sorted defence dice. Tan
(1997) multiplied the chances of the two comparisons,

    P(Y(1) > Z(1), Y(2) > Z(2))  =  P(Y(1) > Z(1)) · P(Y(2) > Z(2)),            (wrong)

as if the comparisons were independent. They are not: if the highest defence die shows a one, the
second shows a one too. Each factor alone is correct. With the cumulative distribution function of
the r-th highest of n six-sided dice,

    P(Y(r) ≤ y)  =  Σ_{k<r}  C(n, k) · (1 − y/6)^k · (y/6)^(n−k),

the factors for three dice against two are 0.4716 and 0.6075. Their product, 0.2865, would be the
chance to win both comparisons; the correct chance is 2890/7776 = 0.3717.

For three dice against two, Tan printed (0.237, 0.504, 0.259) for 0, 1, 2 defenders lost. Products
of the exact factors give different numbers, (0.2074, 0.5061, 0.2865). An error in the second factor
alone cannot explain the difference: with the exact first factor, 0.237 implies a second factor from
0.5505 to 0.5525, and 0.259 implies 0.5481 to 0.5503. Simulated dice reject both distributions. If
only one pair of dice is compared, there is no product, and Tan's distribution is correct.

Sources: Tan, "Markov chains and the Risk board game" (Mathematics Magazine 70, 1997); Osborne
(Mathematics Magazine 76, 2003), who found the mistake; Höhle (2025), appendices 1 and 2, who
discusses the numbers and the simulation.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import comb, inf
from typing import NamedTuple

import numpy as np

from iacta import (
    CLASSIC,
    Battle,
    Chain,
    IllegalError,
    Losses,
    Outcome,
    Roll,
    StopRule,
    win_table,
)
from iacta.charts import roll_losses, win_chance_map
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import missing_error
from iacta.odds.simulation import running_estimates
from iacta.rules.thrown import throw_losses
from iacta_literature.charts import (
    break_even,
    convergence,
    final_difference,
    slices,
    transition_matrix,
)
from iacta_literature.pracpred import ABLE, compute_first_even, win
from iacta_literature.published import (
    Figure,
    Number,
    PrintedSource,
    Row,
    compare_example_dice,
    compute_roll_chance,
    count_rolls_of_five_dice,
    read_dice,
    read_rows,
)

PRINTED_3_AGAINST_2: tuple[float, float, float] = (0.237, 0.504, 0.259)

FACES = 6
MAX_TRIAL_ROLLS = 10**8  # the largest trial; it takes a few minutes
SUM_TOLERANCE = 1e-9


# --- Tan's error


class ChiSquare(NamedTuple):
    """The result of Pearson's chi-square test of a distribution.

    statistic: Σ (count − expected)² / expected.
    p_value: the probability of a statistic at least this large if the distribution is correct.
    """

    statistic: float
    p_value: float


class TanTrial(NamedTuple):
    """The test of Tan's method and of the exact distribution with simulated dice.

    counts: the numbers of rolls in which the defenders lost 0, 1, 2 armies.
    wrong: the test of the distribution from the product of the exact factors.
    right: the test of the exact distribution.
    """

    counts: tuple[int, ...]
    wrong: ChiSquare
    right: ChiSquare


def wrong_distribution(attack_dice: int, defence_dice: int) -> tuple[Fraction, ...]:
    """Return the chances of 0, 1, 2 defenders lost if the comparisons were independent.

    attack_dice: the number of attack dice, 1 to 3.
    defence_dice: the number of defence dice, 1 or 2.

    The results are exact fractions under this assumption, which is wrong for two defence dice
    against two or three attack dice.

    >>> [round(float(chance), 4) for chance in wrong_distribution(3, 2)]
    [0.2074, 0.5061, 0.2865]

    Source: Tan (1997); Höhle (2025), appendix 2.
    """
    attack, defence = _check_dice(attack_dice, defence_dice)
    chances = [Fraction(1)]
    for rank in range(1, min(attack, defence) + 1):
        won = _compute_rank_chance(attack, defence, rank)
        shifted = zip([*chances, Fraction(0)], [Fraction(0), *chances], strict=True)
        chances = [same * (1 - won) + fewer * won for same, fewer in shifted]
    return tuple(chances)


def right_distribution(attack_dice: int, defence_dice: int) -> tuple[Fraction, ...]:
    """Return the exact chances of 0, 1, 2 defenders lost, as fractions.

    attack_dice: the number of attack dice, 1 to 3.
    defence_dice: the number of defence dice, 1 or 2.

    >>> [round(float(chance), 4) for chance in right_distribution(3, 2)]
    [0.2926, 0.3358, 0.3717]
    """
    attack, defence = _check_dice(attack_dice, defence_dice)
    compared, losses = min(attack, defence), Roll(attack, defence).losses()
    return tuple(Fraction(losses[Losses(compared - k, k)]) for k in range(compared + 1))


def run_trial(
    attack_dice: int = 3, defence_dice: int = 2, *, rolls: int = 10_000, seed: int = 1
) -> TanTrial:
    """Test Tan's method and the exact distribution against simulated dice.

    attack_dice: the number of attack dice, 1 to 3.
    defence_dice: the number of defence dice, 1 or 2.
    rolls: the number of simulated rolls.
    seed: the seed of the dice, a whole number. The same seed gives the same dice.

    A tiny p-value rejects a distribution. (In one trial in a hundred, even the correct distribution
    has a p-value below 0.01.)

    >>> tested = run_trial()
    >>> tested.wrong.p_value < 1e-100
    True
    >>> tested.right.p_value > 0.01
    True
    """
    attack, defence = _check_dice(attack_dice, defence_dice)
    rng = np.random.default_rng(read_int(seed, "seed"))
    thrown = read_int(rolls, "rolls", minimum=1, maximum=MAX_TRIAL_ROLLS)
    lost = throw_losses(attack, defence, CLASSIC, thrown, rng).defenders
    counts = tuple(np.bincount(lost, minlength=min(attack, defence) + 1).tolist())
    return TanTrial(
        counts,
        chi_square(wrong_distribution(attack, defence), counts),
        chi_square(right_distribution(attack, defence), counts),
    )


def chi_square(distribution: Sequence[Fraction | float], counts: Sequence[int]) -> ChiSquare:
    """Return the result of Pearson's chi-square test of a distribution, in floats.

    distribution: the probability of each result. The probabilities must sum to 1.
    counts: the number of times that each result occurred.

    The statistic is infinite if a result with probability 0 occurred.

    >>> tested = chi_square([0.5, 0.5], [60, 40])
    >>> tested.statistic, round(tested.p_value, 4)
    (4.0, 0.0455)
    """
    try:
        from scipy.stats import chisquare
    except ImportError:
        raise missing_error(
            "the test 'chi_square' needs SciPy, which is not installed", "methods"
        ) from None
    if len(distribution) != len(counts) or min(counts, default=0) < 0 or not sum(counts):
        raise IllegalError(
            f"counts must be {len(distribution)} numbers of at least 0 and not all 0, one for each "
            f"probability, got {quote(counts)}"
        )
    if min(distribution) < 0 or abs(float(sum(distribution)) - 1) > SUM_TOLERANCE:
        raise IllegalError(
            f"distribution must be probabilities that sum to 1, got {quote(distribution)}"
        )
    possible = [(float(p), count) for p, count in zip(distribution, counts, strict=True) if p]
    total = sum(counts)
    if sum(count for _, count in possible) < total:
        return ChiSquare(inf, 0.0)
    if len(possible) == 1:
        return ChiSquare(0.0, 1.0)
    tested = chisquare([count for _, count in possible], [p * total for p, _ in possible])
    return ChiSquare(float(tested.statistic), float(tested.pvalue))


def _check_dice(attack_dice: int, defence_dice: int) -> tuple[int, int]:
    return (
        read_int(attack_dice, "attack_dice", minimum=1, maximum=CLASSIC.attack.kept),
        read_int(defence_dice, "defence_dice", minimum=1, maximum=CLASSIC.defence.kept),
    )


def _compute_rank_chance(attack: int, defence: int, rank: int) -> Fraction:
    """Return P(Y(r) > Z(r)), as defined in the docstring of this module, for rank r."""
    below = [_compute_cdf(defence, rank, face) for face in range(FACES)]
    reached = [_compute_cdf(attack, rank, face) for face in range(FACES + 1)]
    shows = (upper - lower for lower, upper in pairwise(reached))
    return sum((p * q for p, q in zip(shows, below, strict=True)), start=Fraction(0))


def _compute_cdf(dice: int, rank: int, face: int) -> Fraction:
    """Return P(Y(r) ≤ y), as defined in the docstring of this module, for rank r and face y."""
    chance = Fraction(face, FACES)
    return sum(
        (comb(dice, k) * (1 - chance) ** k * chance ** (dice - k) for k in range(rank)),
        start=Fraction(0),
    )


# --- Höhle's tables and values, recomputed

ROLLS = 100_000
SEED = 1
HOEHLE_DEFENDERS = 50  # the number of rows in the printed table
# The attackers win if the only roll kills both defenders.
ONE_ROLL = Battle(3, 2, ABLE, stop=StopRule(max_rolls=1))


def _compute_roll_chance(row: Row) -> Fraction:
    compared = min(int(row["attack_dice"]), int(row["defence_dice"]))
    return compute_roll_chance(
        {**row, "attackers_lost": str(compared - int(row["defenders_lost"]))}
    )


def _compute_full_roll_chance(row: Row) -> Fraction:
    return right_distribution(3, 2)[int(row["defenders_lost"])]


def _compute_best_dice_chance(row: Row) -> Fraction:
    best = int(row["first"]), int(row["second"])
    return Fraction(Roll(3, 2).best_attack_dice(2)[best])


def _compute_joint_chance(row: Row) -> Fraction:
    dice = read_dice(row["attack_dice"]), read_dice(row["defence_dice"])
    return Fraction(Roll(3, 2).compared_dice()[dice])


def _compute_comparison_chance(row: Row) -> Fraction:
    """Return the joint probability of both comparisons: exact, or assuming independence."""
    joint = Roll(3, 2).compared_dice().map(lambda d: (d[0][0] > d[1][0], d[0][1] > d[1][1]))
    if row["assumed"] == "independent":
        joint = joint.map(lambda won: won[0]).product(joint.map(lambda won: won[1]))
    return Fraction(joint[row["first"] == "won", row["second"] == "won"])


def _compute_state_chance(rolls: int) -> Callable[[Row], Number]:
    """Return a function that computes the probability of a row's state after `rolls` rolls."""
    return lambda row: Chain(10, 10, ABLE).after(rolls)[
        Outcome(int(row["attackers_left"]), int(row["defenders_left"]))
    ]


@cache
def _compute_fewest() -> tuple[int, ...]:
    table = win_table(HOEHLE_DEFENDERS + 10, HOEHLE_DEFENDERS, ABLE, exact=True)
    return tuple((1 + np.argmax(table > Fraction(1, 2), axis=0)).tolist())


@cache
def _fit_line() -> tuple[float, float]:
    slope, start = np.polyfit(np.arange(1, HOEHLE_DEFENDERS + 1), _compute_fewest(), 1)
    return float(start), float(slope)


@cache
def _count_states() -> tuple[int, int]:
    chain = Chain(10, 10, ABLE)
    return len(chain.transient), len(chain.absorbing)


def _compute_p_value(distribution: Sequence[Fraction | float]) -> float:
    """Return the p-value of a distribution, tested against Höhle's published simulation."""
    parts = [Fraction(row["published"]) for row in read_rows("hoehle_simulated")]
    return chi_square(distribution, [int(part * ROLLS) for part in parts]).p_value


@cache
def _run_trial() -> TanTrial:
    return run_trial(rolls=ROLLS)


def _list_compared_dice(*dice: int) -> str:
    """Return the two highest dice, which are compared, as a string."""
    return " ".join(map(str, sorted(dice, reverse=True)[:2]))


VALUES: dict[str, Callable[[], Number]] = {
    "compared dice of the roll 2 6 4, in the printed order": lambda: _list_compared_dice(2, 6, 4),
    "equally likely rolls of five dice": count_rolls_of_five_dice,
    "number of rolls in the sums of p_32k": lambda: Roll(3, 2).losses().weights()[1],
    "armies lost by 4 3 3 against 3 2": lambda: compare_example_dice(
        {"attack_dice": "4 3 3", "defence_dice": "3 2"}
    ),
    "states of 10 against 10, including the state without armies": lambda: sum(_count_states()) + 1,
    "absorbing states of 10 against 10": lambda: _count_states()[1],
    "transient states of 10 against 10": lambda: _count_states()[0],
    "chance of 10 against 10": lambda: win(10, 10),
    "chance of 10 against 10 (Osborne, table 3)": lambda: win(10, 10),
    "fewest armies on each side with a chance above one half": compute_first_even,
    "possible pairs of the best two of three dice": lambda: len(Roll(3, 2).best_attack_dice(2)),
    "possible losses in a roll, for all numbers of dice together": lambda: sum(
        len(Roll(attack, defence).losses()) for attack in (1, 2, 3) for defence in (1, 2)
    ),
    "states that follow 10 against 10": lambda: len(Chain(10, 10, ABLE).after(1)),
    "line fitted to the fewest attackers: intercept": lambda: _fit_line()[0],
    "line fitted to the fewest attackers: slope": lambda: _fit_line()[1],
    "chance of 50 against 50": lambda: win(50, 50),
    "mean losses of 50 attackers who win against 50 defenders": lambda: (
        Battle(50, 50, ABLE).attackers_lost_if_won().mean()
    ),
    "p-value of Tan's printed distribution, with Höhle's 100,000 rolls": lambda: _compute_p_value(
        PRINTED_3_AGAINST_2
    ),
    "p-value of the correct distribution, with Höhle's 100,000 rolls": lambda: _compute_p_value(
        right_distribution(3, 2)
    ),
    "p-value of Tan's printed distribution, with iacta's 100,000 rolls": lambda: (
        chi_square(PRINTED_3_AGAINST_2, _run_trial().counts).p_value
    ),
    "p-value of the product of the exact chances, with iacta's 100,000 rolls": lambda: (
        _run_trial().wrong.p_value
    ),
    "p-value of the correct distribution, with iacta's 100,000 rolls": lambda: (
        _run_trial().right.p_value
    ),
}

SOURCE = PrintedSource(
    "hoehle",
    "Michael Höhle, article on the board game Risk, Markov chains and counting (2025)",
    {
        "order_statistics": _compute_best_dice_chance,
        "joint": _compute_joint_chance,
        "roll_losses": _compute_roll_chance,
        "tan": _compute_full_roll_chance,
        "simulated": _compute_full_roll_chance,
        "independence": _compute_comparison_chance,
        "after_one_roll": _compute_state_chance(1),
        "outcomes_10v10": _compute_state_chance(20),
        "win_10x10": lambda row: win(int(row["attackers"]), int(row["defenders"])),
        "break_even": lambda row: _compute_fewest()[int(row["defenders"]) - 1],
        "values": lambda row: VALUES[row["quantity"]](),
    },
    (
        Figure(
            "roll_chances",
            "Figure 1: the distribution of a roll of three dice against two, which the source "
            "computes with the dice roller Troll.",
            lambda: roll_losses(Roll(3, 2)),
        ),
        Figure(
            "transition_matrix",
            "The transition matrix of 10 against 10 as an image; the source only describes it. Of "
            "the 121 states in the source, iacta omits the state without armies, which no battle "
            "reaches.",
            lambda: transition_matrix(10, 10, ABLE),
        ),
        Figure(
            "win_chance_map",
            "Coloured table of the chances of all battles up to 10 against 10. In the source, "
            "chances above one half are green; here, the colour changes from orange to blue at one "
            "half.",
            lambda: win_chance_map(win_table(10, 10, ABLE), ABLE),
        ),
        Figure(
            "break_even",
            "The battles up to 50 against 50 in which the attackers are favourites, and the fitted "
            "line.",
            lambda: break_even(50, 50, ABLE),
        ),
        Figure(
            "slices",
            "Chances of up to 50 attackers against 15, 25 and 35 defenders, which the source draws "
            "side by side.",
            lambda: slices((15, 25, 35), 50, ABLE),
        ),
        Figure(
            "final_difference",
            "The sawtooth distribution of attackers minus defenders at the end of 50 against 50.",
            lambda: final_difference(Battle(50, 50, ABLE)),
        ),
        Figure(
            "convergence",
            "Simulation of 100,000 rolls of three dice against two. The source prints the final "
            "shares; this chart shows the share of rolls in which both defenders fall (“won”), as "
            "the number of rolls grows.",
            lambda: convergence(running_estimates(ONE_ROLL, runs=ROLLS, seed=SEED), ONE_ROLL),
        ),
    ),
)
