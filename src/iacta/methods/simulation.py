"""Simulation: many runs of a battle with simulated dice (`iacta.rules.thrown`).

The share of successes in n independent runs, each with chance p, has the standard deviation

    √(p·(1 − p) / n),

which is 0.0012 for 100,000 runs and p = 0.81. The error of a result is random.
"""

from math import inf

from iacta.methods.kernel import Error, RollKernel, State
from iacta.probability.distribution import Distribution
from iacta.rules.thrown import (
    RUNS,
    SEED,
    THROWN_MODES,
    Seed,
    make_root_seed,
    refuse_long,
    simulate_stack,
)


class SimulatedKernel(RollKernel):
    """A kernel that simulates `RUNS` battles and returns relative frequencies.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(SimulatedKernel(CLASSIC).win_probability(2, 1), 2)
    0.75
    """

    name = "simulation"
    quick_armies = 2_000
    modes = THROWN_MODES

    def refuse(self, attackers: int, defenders: int) -> None:
        """Raise `IactaError` if `RUNS` runs would take more than an hour or might never end.

        A battle might never end if a full roll adds more armies than it costs on average.
        """
        way = [(defenders, self.rules, self.stop)]
        refuse_long(attackers + self.garrison, way, RUNS)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return an infinite bound, because the error is random."""
        return Error(inf)

    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the relative frequencies of the final states; the seed is always the same."""
        return self.play_many(start, defenders)

    def play_many(
        self, start: Distribution[int], defenders: int, runs: int = RUNS, seed: Seed = SEED
    ) -> Distribution[State]:
        """Return the relative frequencies of the final states.

        runs: the number of battles. Each battle draws its number of attackers from `start`.
        seed: a whole number that makes the dice repeatable, or a `numpy.random.Generator`.
        """
        if not defenders:
            return start.to_float().map(lambda attackers: State(attackers, 0))
        way = ((defenders, self.rules, self.stop),)
        # The seed includes the size, so that two battles of a campaign have different dice.
        root = make_root_seed(seed, max(start) + self.garrison, defenders)
        counts = simulate_stack(start, way, runs, root)
        states = {State(end.attackers, end.defenders): count for end, count in counts.items()}
        return Distribution(states).to_float()
