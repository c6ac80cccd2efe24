"""Path tree: small battles as a tree of states, with all paths through it and their probabilities.

A battle's states are nodes, and each loss that a roll can cause is a branch with its probability.
The probability of visiting a node is the sum over the paths to it of the product of their branches.
It is added up node by node, without walking each path:

    P(state)  =  Σ  P(state before) · p(loss)    over the branches that lead to the state.

Equal states are one node, so that the tree is a graph, as Van Wijgerden draws it. With a attackers
able to attack and d defenders, the number of paths from (a, d) to the end is

    n(a, d) = Σ n(a', d')    over the states (a', d') after a roll,      n(a, 0) = n(0, d) = 1.

Sources: Van Wijgerden, "Let slip the dice of war", draws the tree and counts 7 paths from (3, 2);
"Analyzing the Board Game Risk" (pracpred.com) asks how many states and paths there are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from iacta.checks import shown
from iacta.distribution import Distribution
from iacta.errors import TooLargeError
from iacta.methods.kernel import Error, Outcome, RollKernel, State, read_battle
from iacta.rules.roll import Losses, loss_counts
from iacta.rules.rules import Rules

__all__ = [
    "Branch",
    "Node",
    "Path",
    "PathTree",
    "nodes",
    "path_count",
    "paths",
    "state_count",
    "tree",
]

MOST_STATES = 2500


class Branch(NamedTuple):
    """One of the losses that a roll can cause.

    losses: the armies that the roll costs.
    probability: its exact probability.
    node: the node that it leads to.
    """

    losses: Losses
    probability: Fraction
    node: "Node"


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """A state of the battle; each is one node of a tree, however many branches lead to it.

    state: who is left, attackers with the garrison included.
    probability: the exact probability of visiting this state.
    branches: what the next roll can do; none where the battle is over.
    """

    state: Outcome
    probability: Fraction
    branches: tuple[Branch, ...]

    def __repr__(self) -> str:
        return f"<Node {self.state!r}, probability {self.probability!r}>"


class Path(NamedTuple):
    """One way that a battle can take.

    states: the states on it, from the start to the end.
    probability: the exact probability that the battle takes it.
    """

    states: tuple[Outcome, ...]
    probability: Fraction


class Step(NamedTuple):
    """One of the losses that a roll can cause, its probability, and the state after it."""

    losses: Losses
    probability: Fraction
    after: State


class PathTree(RollKernel):
    """The exact kernel of small battles, by the states that a battle can visit.

    >>> from iacta.rules.rules import CLASSIC
    >>> PathTree(CLASSIC).win_probability(3, 2)
    Fraction(6610505, 10077696)
    """

    name = "path_tree"
    exact = True

    def refuse(self, attackers: int, defenders: int) -> None:
        """Refuse all but small battles, of at most 2500 states."""
        if max(attackers, 0) * defenders > MOST_STATES:
            raise TooLargeError(
                f"a battle of {shown(attackers + self.garrison)} against {shown(defenders)} is too "
                f"large for the method {self.name!r}: it has more than {MOST_STATES} states"
            )

    def error(self, attackers: int, defenders: int) -> Error:
        """Return 0: this kernel is exact."""
        return Error(0.0)

    def forward(self, start: Distribution[int], defenders: int) -> Distribution[State]:
        """Return the exact distribution of the absorbing state."""
        self.refuse(max(start), defenders)
        visits = self.visits({State(a, defenders): Fraction(p) for a, p in start.items()})
        return Distribution({state: p for state, p in visits.items() if not self.steps(state)})

    def visits(self, start: dict[State, Fraction]) -> dict[State, Fraction]:
        """Return the probability of visiting each state, given those of the first ones."""
        waiting: dict[int, dict[State, Fraction]] = {}
        for state, probability in start.items():
            waiting.setdefault(sum(state), {})[state] = probability
        visits: dict[State, Fraction] = {}
        while waiting:  # each roll takes armies
            for state, probability in waiting.pop(max(waiting)).items():
                visits[state] = probability
                for step in self.steps(state):
                    level = waiting.setdefault(sum(step.after), {})
                    before = level.get(step.after, Fraction(0))
                    level[step.after] = before + probability * step.probability
        return visits

    def steps(self, state: State) -> list[Step]:
        """Return what one roll can do, nothing where the battle is over."""
        attackers, defenders = state
        if attackers <= 0 or not defenders:
            return []
        attack, defence = self.rules.full_roll
        return [
            Step(losses, probability, State(attackers - losses[0], defenders - losses[1]))
            for losses, probability in _losses(
                min(attackers, attack), min(defenders, defence), self.rules
            )
        ]


@lru_cache(maxsize=256)
def _losses(attack_dice: int, defence_dice: int, rules: Rules) -> list[tuple[Losses, Fraction]]:
    """Return the losses that a roll can cause, and their probabilities."""
    found = loss_counts(attack_dice, defence_dice, rules)
    return [
        (Losses(found.compared - k, k), Fraction(count, found.total))
        for k, count in enumerate(found.counts)
        if count
    ]


def tree(attackers: int, defenders: int, rules: Rules | str = "classic") -> Node:
    """Return the first node of a battle's tree, from which all others are reached.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.

    More than 2500 states are refused.

    >>> from iacta.rules.rules import CLASSIC
    >>> for losses, probability, node in tree(4, 2, CLASSIC).branches:
    ...     print(losses.attackers, losses.defenders, probability, node.state)
    2 0 2275/7776 Outcome(attackers=2, defenders=2)
    1 1 2611/7776 Outcome(attackers=3, defenders=1)
    0 2 1445/3888 Outcome(attackers=4, defenders=0)

    Source: Van Wijgerden, "Creating a probability tree".
    """
    kernel, root = _read(attackers, defenders, rules)
    kernel.refuse(*root)
    visits = kernel.visits({root: Fraction(1)})
    made: dict[State, Node] = {}
    for state in sorted(visits, key=sum):
        branches = (Branch(*step[:2], made[step.after]) for step in kernel.steps(state))
        shown_as = _with_garrison(state, kernel)
        made[state] = Node(shown_as, visits[state], tuple(branches))
    return made[root]


def _read(attackers: int, defenders: int, rules: Rules | str) -> tuple[PathTree, State]:
    """Return the kernel of a battle, and its first state."""
    attackers, defenders, rules = read_battle(attackers, defenders, rules, fewest=0)
    return PathTree(rules), State(attackers - rules.garrison, defenders)


def _with_garrison(state: State, kernel: PathTree) -> Outcome:
    return Outcome(state.attackers + kernel.garrison, state.defenders)


def nodes(root: Node) -> Iterator[Node]:
    """Yield each node of a tree once, those with the most armies first.

    root: the first node, from `tree`.

    >>> from iacta.rules.rules import CLASSIC
    >>> [tuple(node.state) for node in nodes(tree(4, 2, CLASSIC))]
    [(4, 2), (4, 0), (3, 1), (2, 2), (3, 0), (2, 1), (1, 2), (2, 0), (1, 1)]
    """
    found = {root.state: root}
    frontier = [root]
    while frontier:
        below = {each.node.state: each.node for node in frontier for each in node.branches}
        frontier = [node for state, node in below.items() if state not in found]
        found |= below
    yield from sorted(found.values(), key=lambda node: (sum(node.state), node.state), reverse=True)


def paths(attackers: int, defenders: int, rules: Rules | str = "classic") -> Iterator[Path]:
    """Return an iterator over all paths of a battle, one by one; their number grows fast.

    The arguments and refusals are those of `tree`; `path_count` says how many paths there are.

    >>> from iacta.rules.rules import CLASSIC
    >>> found = list(paths(4, 2, CLASSIC))
    >>> len(found), sum(path.probability for path in found)
    (7, Fraction(1, 1))

    Source: Van Wijgerden, "Calculating end-state->p".
    """
    kernel, root = _read(attackers, defenders, rules)
    kernel.refuse(*root)
    return _paths(kernel, root)


def _paths(kernel: PathTree, root: State) -> Iterator[Path]:
    begun: list[tuple[tuple[State, ...], Fraction]] = [((root,), Fraction(1))]
    while begun:
        states, probability = begun.pop()
        steps = kernel.steps(states[-1])
        if not steps:
            yield Path(tuple(_with_garrison(state, kernel) for state in states), probability)
        begun += [
            ((*states, step.after), probability * step.probability) for step in reversed(steps)
        ]


def state_count(attackers: int, defenders: int, rules: Rules | str = "classic") -> int:
    """Return the number of states that a battle can visit, its start and ends included.

    The arguments are those of `tree`.

    >>> from iacta.rules.rules import CLASSIC
    >>> state_count(4, 2, CLASSIC)
    9
    """
    kernel, root = _read(attackers, defenders, rules)
    able = max(root.attackers, 0)
    kernel.refuse_too_large(able, root.defenders, memory=400 * able * root.defenders)
    reached = {root}
    frontier = {root}
    while frontier:
        after = {step.after for state in frontier for step in kernel.steps(state)}
        frontier = after - reached
        reached |= frontier
    return len(reached)


def path_count(attackers: int, defenders: int, rules: Rules | str = "classic") -> int:
    """Return the number of different paths that a battle can take, roll by roll.

    The arguments are those of `tree`.

    >>> from iacta.rules.rules import CLASSIC
    >>> path_count(4, 2, CLASSIC)
    7
    """
    kernel, root = _read(attackers, defenders, rules)
    able, defenders = max(root.attackers, 0), root.defenders
    number_bytes = 150 + (able + defenders) // 4
    memory = (able + 1) * (defenders + 1) * number_bytes
    kernel.refuse_too_large(able, defenders, memory=memory)
    counts: dict[State, int] = {}
    for d in range(defenders + 1):
        for a in range(able + 1):
            after = [step.after for step in kernel.steps(State(a, d))]
            counts[State(a, d)] = sum(counts[state] for state in after) if after else 1
    return counts[State(able, defenders)]
