"""Simulation of battles and campaigns with random dice."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypedDict, TypeVar, Unpack

import numpy as np

from iacta.battle.battle import Battle
from iacta.battle.campaign import Campaign, CampaignOutcome
from iacta.battle.territory import Stage, Territories, read_territories, stages
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import MalformedError
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
STEPS_PER_DECADE = 8  # the number of estimates for each tenfold increase of the runs

T = TypeVar("T", bound=Hashable)


class SimulationOptions(TypedDict, total=False):
    """The options of a simulation, as for `simulate_battle`."""

    runs: int
    seed: Seed
    executor: "Executor | None"
    progress: Progress | None


@dataclass(frozen=True, repr=False)
class SimulationResult(PasteableMixin, Generic[T]):
    """The outcomes of many runs with random dice.

    outcomes: the fraction of all runs that had each outcome.
    won: the estimate of the chance that the attackers conquer all territories.

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
        """Estimate the chance of an event.

        event: a function that takes an outcome and returns whether the event occurred.

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
    **options: Unpack[SimulationOptions],
) -> SimulationResult[Outcome]:
    """Simulate a battle many times with random dice.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind; `None` for the garrison of the rules, usually 1.
    stop: a `StopRule`, or `None` to fight to the end.
    runs: the number of runs; 100,000 by default.
    seed: a whole number (1 by default), or a `numpy.random.Generator`. The same seed gives the same
        dice.
    executor: a `concurrent.futures.Executor` whose workers share the runs, or `None`. It does not
        affect the result.
    progress: a callback that takes the number of finished runs, or `None`.

    Returns a `SimulationResult`; its `won.interval()` is a confidence interval for the chance to
    win. Raises `IactaError` for simulations that would take more than an hour on one processor.

    >>> low, high = simulate_battle(12, 10).won.interval()
    >>> round(low, 4), round(high, 4)
    (0.6496, 0.6555)
    """
    rules = find_rules(rules, garrison)
    way = [Stage(read_int(defenders, "defenders", minimum=1), rules, read_stop(stop))]

    def make_outcome(end: End) -> Outcome:
        return Outcome(end.attackers + end.conquered * rules.garrison, end.defenders)

    return _simulate(attackers, way, make_outcome, **options)


def simulate_campaign(
    attackers: int,
    territories: Territories,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    stop: StopRule | None = None,
    **options: Unpack[SimulationOptions],
) -> SimulationResult[CampaignOutcome]:
    """Simulate a campaign through a chain of territories many times, with random dice.

    attackers: armies on the territory from which the campaign starts, garrison included.
    territories: the number of defenders of each territory on the way, or a `Territory` for each.
    rules, garrison, stop: the same as for `Campaign`.
    runs, seed, executor, progress: the same as for `simulate_battle`.

    Returns a `SimulationResult`; its `won` is the estimated chance to conquer all territories. The
    exceptions are the same as for `simulate_battle`.

    >>> unfinished = simulate_campaign(72, [22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1])
    >>> unfinished.won
    Estimate(runs=100000, successes=81099)

    Source: the campaign is Norvig's, "The Unfinished Game ... of Risk" (2020).
    """
    rules = find_rules(rules, garrison)
    way = list(stages(read_territories(territories), rules, read_stop(stop)))
    return _simulate(attackers, way, lambda end: CampaignOutcome(*end), **options)


def running_estimates(
    battle: Battle | Campaign, *, runs: int = RUNS, seed: Seed = SEED
) -> tuple[Estimate, ...]:
    """Return estimates of the chance to win after increasing numbers of simulated runs.

    battle: a `Battle` or a `Campaign`.
    runs: the number of runs in the last estimate.
    seed: a whole number, or a `numpy.random.Generator`. The same seed gives the same dice.

    The first estimate has 10 runs. There are eight estimates for each tenfold increase of the runs.
    The exceptions are the same as for `simulate_battle`.

    >>> running_estimates(Battle(3, 1), runs=20)
    (Estimate(runs=10, successes=7), Estimate(runs=13, successes=10), \
Estimate(runs=17, successes=13), Estimate(runs=20, successes=16))
    """
    rng = seed
    if not isinstance(rng, np.random.Generator):
        rng = np.random.default_rng(read_int(seed, "seed", minimum=0))
    if not isinstance(battle, Battle | Campaign):
        raise MalformedError(f"battle must be a Battle or a Campaign, got {quote(battle)}")
    territories = battle.territories if isinstance(battle, Campaign) else [battle.defenders]
    way = list(stages(read_territories(territories), battle.rules, battle.stop))
    sizes = list(_list_sizes(read_int(runs, "runs", minimum=1)))
    estimates, won = [], 0
    for before, size in zip([0, *sizes], sizes, strict=False):
        played = _simulate(battle.attackers, way, lambda end: end, runs=size - before, seed=rng)
        won += played.won.successes
        estimates.append(Estimate(size, won))
    return tuple(estimates)


def _list_sizes(maximum: int) -> Iterator[int]:
    """Yield numbers of runs, evenly spaced on a logarithmic scale and ending with `maximum`."""
    step = 0
    while (size := int(FIRST_RUNS * 10 ** (step / STEPS_PER_DECADE))) < maximum:
        yield size
        step += 1
    yield maximum


def _simulate(
    attackers: int,
    way: Sequence[Stage],
    outcome: Callable[[End], T],
    **options: Unpack[SimulationOptions],
) -> SimulationResult[T]:
    ends = simulate(attackers, way, **options)
    won = sum(count for end, count in ends.items() if end.conquered == len(way))
    outcomes = {outcome(end): count for end, count in ends.items()}
    return SimulationResult(Distribution(outcomes), Estimate(ends.total(), won))
