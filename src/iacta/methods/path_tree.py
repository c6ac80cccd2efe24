"""Path tree: small battles as a tree of states, with probabilities and numbers of paths.

The states of a battle are nodes, and each possible loss in a roll is a branch with a probability.
The probability of visiting a node is a sum over all paths to the node, in which each path counts as
the product of its branches. It is computed node by node instead of path by path:

    P(state)  =  Σ  P(state before) · p(loss)    over the branches that lead to the state.

Equal states are merged into one node, so the tree is a graph; `iacta_literature.tree` draws it. The
number of paths from a attackers (garrison excluded) against d defenders to the end is

    n(a, d) = Σ n(a', d')    over the states (a', d') after a roll,      n(a, 0) = n(0, d) = 1.

Sources: Van Wijgerden, "Let slip the dice of war", draws the tree and counts 7 paths from (3, 2);
"Analyzing the Board Game Risk" (pracpred.com) asks how many states and paths there are.
"""

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from iacta.inputs.checks import quote
from iacta.inputs.errors import TooLargeError
from iacta.methods.kernel import RollKernel, State
from iacta.probability.distribution import Distribution
from iacta.rules.roll import Losses, loss_counts
from iacta.rules.rules import Rules

MAX_PATH_STATES = 2500


class PathStep(NamedTuple):
    """A possible loss in a roll, with its probability and the next state."""

    losses: Losses
    probability: Fraction
    after: State


class PathTree(RollKernel):
    """An exact kernel for small battles, computed state by state.

    >>> from iacta.rules.rules import CLASSIC
    >>> PathTree(CLASSIC).win_probability(3, 2)
    Fraction(6610505, 10077696)
    """

    name = "path_tree"
    exact = True

    def refuse(self, attackers: int, defenders: int) -> None:
        """Raise `TooLargeError` for a battle with more than 2500 states."""
        if max(attackers, 0) * defenders > MAX_PATH_STATES:
            raise TooLargeError(
                f"a battle of {quote(attackers + self.garrison)} against {quote(defenders)} is too "
                f"large for the method {self.name!r}: it has more than {MAX_PATH_STATES} states"
            )

    def run_forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        self.refuse(max(start), defenders)
        visits = self.visits({State(a, defenders): Fraction(p) for a, p in start.items()})
        return Distribution({state: p for state, p in visits.items() if not self.steps(state)})

    def visits(self, start: dict[State, Fraction]) -> dict[State, Fraction]:
        waiting: dict[int, dict[State, Fraction]] = {}
        for state, probability in start.items():
            waiting.setdefault(sum(state), {})[state] = probability
        visits: dict[State, Fraction] = {}
        while waiting:  # every roll costs armies, so later states have smaller sums
            for state, probability in waiting.pop(max(waiting)).items():
                visits[state] = probability
                for step in self.steps(state):
                    level = waiting.setdefault(sum(step.after), {})
                    before = level.get(step.after, Fraction(0))
                    level[step.after] = before + probability * step.probability
        return visits

    def steps(self, state: State) -> list[PathStep]:
        attackers, defenders = state
        if attackers <= 0 or not defenders:
            return []
        attack, defence = self.rules.full_roll
        return [
            PathStep(losses, probability, State(attackers - losses[0], defenders - losses[1]))
            for losses, probability in _list_losses(
                min(attackers, attack), min(defenders, defence), self.rules
            )
        ]

    def state_count(self, attackers: int, defenders: int) -> int:
        able = max(attackers, 0)
        self.refuse_too_large(able, defenders, memory=400 * able * defenders)
        reached, frontier = set[State](), {State(attackers, defenders)}
        while frontier:
            reached |= frontier
            frontier = {step.after for state in frontier for step in self.steps(state)} - reached
        return len(reached)

    def path_count(self, attackers: int, defenders: int) -> int:
        able = max(attackers, 0)
        number_bytes = 150 + (able + defenders) // 4
        memory = (able + 1) * (defenders + 1) * number_bytes
        self.refuse_too_large(able, defenders, memory=memory)
        counts: dict[State, int] = {}
        for d in range(defenders + 1):
            for a in range(able + 1):
                after = [step.after for step in self.steps(State(a, d))]
                counts[State(a, d)] = sum(counts[state] for state in after) if after else 1
        return counts[State(able, defenders)]


@lru_cache(maxsize=256)
def _list_losses(
    attack_dice: int, defence_dice: int, rules: Rules
) -> list[tuple[Losses, Fraction]]:
    found = loss_counts(attack_dice, defence_dice, rules)
    return [
        (Losses(found.pair_count - k, k), Fraction(count, found.total))
        for k, count in enumerate(found.counts)
        if count
    ]
