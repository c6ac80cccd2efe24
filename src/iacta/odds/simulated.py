"""Simulated: battles and campaigns fought many times with random dice."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.battle.territory import Stage, Territories, read_territories, stages
from iacta.inputs.checks import read_int
from iacta.inputs.reprs import PasteableMixin
from iacta.methods.kernel import Outcome
from iacta.probability.distribution import Distribution
from iacta.probability.estimate import Estimate
from iacta.rules.rules import Rules
from iacta.rules.stop import StopRule, read_stop
from iacta.rules.thrown import RUNS, SEED, End, Progress, Seed, simulate
from iacta.rules.variants import find_rules

if TYPE_CHECKING:
    from concurrent.futures import Executor

FIRST_RUNS = 10
STEPS_IN_TEN = 8  # estimates while the runs grow tenfold

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, repr=False)
class Simulated(PasteableMixin, Generic[T]):
    """How many runs with random dice ended.

    outcomes: how often each outcome came, as an exact part of all runs.
    won: how often the attackers took all that they attacked.

    >>> simulated = simulate_battle(3, 1, runs=1000)
    >>> simulated.won
    Estimate(runs=1000, successes=755)
    >>> simulated.outcomes[Outcome(attackers=3, defenders=0)]
    Fraction(581, 1000)
    """

    outcomes: Distribution[T]
    won: Estimate

    def _summary(self) -> str:
        return f"{self.won.successes} of {self.won.runs} runs won, {len(self.outcomes)} outcomes"

    def estimate(self, event: Callable[[T], object]) -> Estimate:
        """Return how often an outcome came for which `event` holds.

        event: a function of the outcome.

        >>> simulated = simulate_battle(3, 1, runs=1000)
        >>> simulated.estimate(lambda end: end.attackers == 3).successes
        581
        """
        return Estimate(self.won.runs, int(self.outcomes.prob(event) * self.won.runs))


def simulate_battle(
    attackers: int,
    defenders: int,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    stop: StopRule | None = None,
    runs: int = RUNS,
    seed: Seed = SEED,
    executor: "Executor | None" = None,
    progress: Progress | None = None,
) -> Simulated[Outcome]:
    """Fight a battle many times with random dice.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind; `None` leaves what the rules say, usually 1.
    stop: when the attackers choose to stop, a `StopRule`; `None` for never.
    runs: how many times it is fought.
    seed: a whole number, or a `numpy.random.Generator`; the same seed throws the same dice.
    executor: any `concurrent.futures.Executor`, over whose workers the runs are spread; `None`
        for none. The result does not depend on it.
    progress: is called with the number of runs done so far, whenever some are; `None` for none.

    The outcomes. `won.interval()` says how near the part of the won battles is to the chance to
    win. Battles that would take more than an hour on one processor are refused.

    >>> low, high = simulate_battle(12, 10).won.interval()
    >>> round(low, 4), round(high, 4)
    (0.6496, 0.6555)
    """
    rules = find_rules(rules, garrison)
    way = [Stage(read_int(defenders, "defenders", least=1), rules, read_stop(stop))]
    options = {"runs": runs, "seed": seed, "executor": executor, "progress": progress}

    def outcome(end: End) -> Outcome:
        return Outcome(end.attackers + end.conquered * rules.garrison, end.defenders)

    return _simulated(attackers, way, outcome, options)


def simulate_campaign(
    attackers: int,
    territories: Territories,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    stop: StopRule | None = None,
    runs: int = RUNS,
    seed: Seed = SEED,
    executor: "Executor | None" = None,
    progress: Progress | None = None,
) -> Simulated[CampaignOutcome]:
    """Lead a stack through a chain of territories many times, with random dice.

    attackers: armies on the territory from which the campaign starts, garrison included.
    territories: the way: for each territory its defenders, or a `Territory`.
    rules, garrison, stop: as for `Campaign`.
    runs, seed, executor, progress: as for `simulate_battle`.

    The outcomes; `won` counts the campaigns that took all territories. The same is refused as by
    `simulate_battle`.

    >>> unfinished = simulate_campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1])
    >>> unfinished.won
    Estimate(runs=100000, successes=81099)

    Source: the campaign is Norvig's, "The Unfinished Game ... of Risk" (2020).
    """
    rules = find_rules(rules, garrison)
    way = list(stages(read_territories(territories), rules, read_stop(stop)))
    options = {"runs": runs, "seed": seed, "executor": executor, "progress": progress}
    return _simulated(attackers, way, lambda end: CampaignOutcome(*end), options)


def running_estimates(
    fought: Battle | Campaign, *, runs: int = RUNS, seed: Seed = SEED
) -> tuple[Estimate, ...]:
    """Return the estimates of the chance to win after more and more runs, each with those before.

    fought: a `Battle` or a `Campaign`.
    runs: how many runs there are in the end.
    seed: a whole number, or a `numpy.random.Generator`; the same seed throws the same dice.

    The first estimate is that of 10 runs, and there are eight while the runs grow tenfold. The same
    is refused as by `simulate_battle`.

    >>> running_estimates(Battle(3, 1), runs=20)
    (Estimate(runs=10, successes=7), Estimate(runs=13, successes=10), \
Estimate(runs=17, successes=13), Estimate(runs=20, successes=16))
    """
    rng = seed
    if not isinstance(rng, np.random.Generator):
        rng = np.random.default_rng(read_int(seed, "seed", least=0))
    territories = fought.territories if isinstance(fought, Campaign) else [fought.defenders]
    way = list(stages(read_territories(territories), fought.rules, fought.stop))
    sizes = list(_growing(read_int(runs, "runs", least=1)))
    estimates, won = [], 0
    for before, size in zip([0, *sizes], sizes, strict=False):
        options = {"runs": size - before, "seed": rng}
        won += _simulated(fought.attackers, way, lambda end: end, options).won.successes
        estimates.append(Estimate(size, won))
    return tuple(estimates)


def _growing(most: int) -> Iterator[int]:
    """Yield numbers that grow evenly on a logarithmic scale, up to the most, which is the last."""
    step = 0
    while (size := int(FIRST_RUNS * 10 ** (step / STEPS_IN_TEN))) < most:
        yield size
        step += 1
    yield most


def _simulated(
    attackers: int, way: Sequence[Stage], outcome: Callable[[End], T], options: dict[str, Any]
) -> Simulated[T]:
    ends = simulate(attackers, way, **options)
    won = sum(count for end, count in ends.items() if end.conquered == len(way))
    outcomes = {outcome(end): count for end, count in ends.items()}
    return Simulated(Distribution(outcomes), Estimate(ends.total(), won))
