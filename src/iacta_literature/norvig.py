"""Peter Norvig, "The Unfinished Game ... of Risk". Armies include the garrison."""

from collections.abc import Callable
from fractions import Fraction
from itertools import count

from iacta import (
    Battle,
    Campaign,
    CampaignOutcome,
    Distribution,
    Estimate,
    Losses,
    Outcome,
    Roll,
    simulate_campaign,
)
from iacta.odds.simulation import running_estimates
from iacta_literature.charts import campaign_score, convergence, curves_by_delta
from iacta_literature.published import (
    Figure,
    Number,
    PrintedSource,
    Row,
    Timing,
    compare_example_dice,
    compute_roll_chance,
    count_rolls_of_five_dice,
    read_rows,
)

UNFINISHED = Campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1])
DEFENDERS = [territory.defenders for territory in UNFINISHED.territories]
RUNS = 100_000
RUNS_OF_ONE_BATTLE = 10_000
SEED = 1
DELTAS = (-5, -2, -1, 0, 1, 2, 5, 10)


def _win(attackers: int, defenders: int) -> Fraction:
    return Fraction(Battle(attackers, defenders).win_probability(exact=True))


def _check_armies_left(row: Row) -> Number:
    """Return the published number of armies that move in, or `"impossible"`."""
    left = Outcome(int(row["published"]) + 1, 0)  # garrison included
    battle = Battle(int(row["attackers"]), DEFENDERS[int(row["territory"]) - 1])
    return left.attackers - 1 if left in battle.outcomes() else "impossible"


def _measure_spike(number: int, score: Distribution[int]) -> int:
    """Return the width of a spike in Norvig's histogram: the number of scores that it covers.

    Campaigns that stop at territory `number` have one score for each number of defenders left. The
    dip is the least likely of these scores and the score just above them. The spike consists of the
    scores that are likelier than the dip.
    """
    stops = (CampaignOutcome(number, 1, left) for left in range(1, DEFENDERS[number] + 1))
    scores = [UNFINISHED.compute_score(stop) for stop in stops]
    dip = min(score[place] for place in (*scores, scores[0] + 1))
    return sum(score[place] > dip for place in scores)


def _measure_spikes() -> str:
    number, score = len(DEFENDERS), UNFINISHED.score()
    return ", ".join(str(_measure_spike(n, score)) for n in range(number - 4, number))


def _compute_simulation_error() -> Fraction:
    """Return the absolute error of the simulated chance in the article."""
    (row,) = (row for row in read_rows("norvig_values") if row["runs"] == "10000")
    return abs(_win(32, 30) - Fraction(row["published"]))


def _compute_half_interval() -> float:
    low, high = Estimate(RUNS, round(UNFINISHED.win_probability() * RUNS)).interval()
    return (high - low) / 2


VALUES: dict[str, Callable[[], Number]] = {
    "number of defenders against whom two more attackers have the lowest chance": lambda: min(
        range(1, 61), key=lambda defenders: _win(defenders + 2, defenders)
    ),
    "territories of the unfinished game": lambda: len(DEFENDERS),
    "defenders of the unfinished game": lambda: sum(DEFENDERS),
    "attackers minus defenders in the unfinished game": lambda: (
        UNFINISHED.attackers - sum(DEFENDERS)
    ),
    "chance to take all territories in the unfinished game": UNFINISHED.win_probability,
    "equally likely rolls of five dice": count_rolls_of_five_dice,
    "chance of 2 against 1": lambda: _win(2, 1),
    "chance of 12 against 10": lambda: _win(12, 10),
    "chance of 32 against 30": lambda: _win(32, 30),
    "chance of 32 against 30, simulated": lambda: _win(32, 30),
    "fewest armies on each side with a chance of one half": lambda: next(
        n for n in count(1) if _win(n, n) >= Fraction(1, 2)
    ),
    "chance of 60 against 60": lambda: _win(60, 60),
    "chance of 6 against 5": lambda: _win(6, 5),
    "chance of 3 against 1": lambda: _win(3, 1),
    "chance of 4 against 2": lambda: _win(4, 2),
    "chance of 55 against 60": lambda: _win(55, 60),
    "defenders of the last four territories": lambda: ", ".join(map(str, DEFENDERS[-4:])),
    "widths of the spikes at the last four territories, in scores": _measure_spikes,
    "chance of losing 17 full rolls in a row": lambda: Roll(3, 2).losses()[Losses(2, 0)] ** 17,
    "absolute error of the simulated chance of 32 against 30": _compute_simulation_error,
    "half the width of the 95% sampling interval of 100,000 simulations": _compute_half_interval,
    "accuracy of four bits": lambda: Fraction(1, 2**4),
    "score of the example campaign": lambda: UNFINISHED.compute_score(
        CampaignOutcome(len(DEFENDERS), 12, 0)
    ),
    "chance of five ones": lambda: Roll(3, 2, "five ones").losses()[Losses(-1, -1)],
}

SOURCE = PrintedSource(
    "norvig",
    "Peter Norvig, “The Unfinished Game ... of Risk” (2020)",
    {
        "roll_examples": compare_example_dice,
        "roll_losses": compute_roll_chance,
        "campaign": _check_armies_left,
        "values": lambda row: VALUES[row["quantity"]](),
    },
    (
        Figure(
            "campaign_score",
            "Histogram of the simulated scores of the unfinished game, as in the source, with the "
            "exact distribution, which iacta adds.",
            lambda: campaign_score(
                UNFINISHED,
                simulate_campaign(
                    UNFINISHED.attackers, UNFINISHED.territories, runs=RUNS, seed=SEED
                ),
            ),
        ),
        Figure(
            "curves_by_delta",
            "Chances by defenders, one curve for each lead of the attackers.",
            lambda: curves_by_delta(DELTAS, 60),
        ),
        Figure(
            "convergence",
            "Simulated and exact chance of 32 against 30. The source prints both numbers, after "
            "10,000 battles; this chart shows how the simulation approaches the exact chance.",
            lambda: convergence(
                running_estimates(Battle(32, 30), runs=RUNS_OF_ONE_BATTLE, seed=SEED),
                Battle(32, 30),
            ),
        ),
    ),
    (
        Timing(
            "the unfinished game, simulated 100,000 times",
            "33.2 s",
            lambda: simulate_campaign(UNFINISHED.attackers, UNFINISHED.territories, runs=RUNS),
        ),
    ),
)
