"""Simulation: a battle fought many times with dice that are thrown, as `iacta.rules.thrown` does.

In n runs that succeed independently with chance p, the part of them that succeed has the standard
deviation

    √(p (1 − p) / n),

0.0012 in 100,000 runs of a chance of 0.81: chance decides how near the answer is.
"""

from math import inf

from iacta.methods.kernel import Error, RollKernel, State
from iacta.probability.distribution import Distribution
from iacta.rules.thrown import (
    RUNS,
    SEED,
    THROWN_MODES,
    Seed,
    refuse_long,
    root_seed,
    simulate_stack,
)


class Simulation(RollKernel):
    """The kernel that fights `RUNS` battles, and answers with the parts of them.

    >>> from iacta.rules.rules import CLASSIC
    >>> round(Simulation(CLASSIC).win_probability(2, 1), 2)
    0.75
    """

    name = "simulation"
    quick_armies = 2_000
    modes = THROWN_MODES

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse a battle that `RUNS` runs do not end within an hour.

        Battles that might never end are refused too: where all dice show ones so often that a full
        roll brings more armies than it takes.
        """
        way = [(defenders, self.rules, self.stop)]
        refuse_long(attackers + self.garrison, way, RUNS)

    def error(self, attackers: int, defenders: int) -> Error:
        """Return infinity: chance decides how near an answer is."""
        return Error(inf)

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return how often each absorbing state came, as parts of all; always by the same seed."""
        return self.play_many(start, defenders)

    def play_many(
        self, start: Distribution[int], defenders: int, runs: int = RUNS, seed: Seed = SEED
    ) -> Distribution[State]:
        """Return how often each absorbing state came, as parts of all.

        runs: how many battles are fought; each draws its number of attackers from `start`.
        seed: a whole number, or a `numpy.random.Generator`; the same seed throws the same dice.
        """
        if not defenders:
            return start.to_float().map(lambda attackers: State(attackers, 0))
        way = ((defenders, self.rules, self.stop),)
        # The size keeps two battles of one campaign from throwing the same dice.
        root = root_seed(seed, max(start) + self.garrison, defenders)
        counts = simulate_stack(start, way, runs, root)
        states = {State(end.attackers, end.defenders): count for end, count in counts.items()}
        return Distribution(states).to_float()
