"""Path tree: small battles, drawn: the states, the paths through them and all their chances.

A battle's states are nodes, and each loss that a roll can cause is a branch with its chance. The
chance to come by a node is the sum over the paths to it of the product of their branches; adding
up as one goes does it without walking each path:

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
from typing import NamedTuple

from iacta.checks import shown
from iacta.distribution import Distribution
from iacta.errors import TooLargeError
from iacta.methods.limits import (
    read_battle,
    refuse_dice_mode,
    refuse_gains,
    refuse_too_large,
)
from iacta.methods.outcome import Outcome, is_won
from iacta.rules.roll import Losses, loss_law
from iacta.rules.rules import Rules

__all__ = [
    "NAME",
    "Branch",
    "Node",
    "Path",
    "nodes",
    "outcomes",
    "path_count",
    "paths",
    "refuse",
    "relative_error",
    "state_count",
    "tree",
    "win_probability",
]

NAME: str = "path_tree"

State = tuple[int, int]

MOST_STATES = 2500


class Branch(NamedTuple):
    """One of the losses that a roll can cause.

    losses: the armies that the roll costs.
    probability: the exact chance of it.
    node: the node that it leads to.
    """

    losses: Losses
    probability: Fraction
    node: "Node"


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """A state of the battle; each is one node of a tree, however many branches lead to it.

    state: who is left, attackers with the garrison included.
    probability: the exact chance that the battle comes by this state.
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
    probability: the exact chance that the battle takes it.
    """

    states: tuple[Outcome, ...]
    probability: Fraction


class _Step(NamedTuple):
    """One of the losses of a roll, its chance, and the state after it."""

    losses: Losses
    probability: Fraction
    after: Outcome


def refuse(attackers: int, defenders: int, rules: Rules) -> None:
    """Refuse all but small battles, of at most 2500 states.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.
    """
    refuse_dice_mode(rules, NAME)
    refuse_gains(rules, NAME)
    if max(attackers - rules.garrison, 0) * defenders > MOST_STATES:
        raise TooLargeError(
            f"a battle of {shown(attackers)} against {shown(defenders)} must be smaller for the "
            f"method {NAME!r}: expected at most {MOST_STATES} states"
        )


def relative_error(attackers: int, defenders: int, rules: Rules) -> float:
    """Return 0: this method is exact.

    attackers, defenders, rules: the battle.
    """
    return 0.0


def win_probability(attackers: int, defenders: int, rules: Rules) -> Fraction:
    """Return the exact chance that the territory is taken.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> win_probability(4, 2, CLASSIC)
    Fraction(6610505, 10077696)
    """
    return Fraction(outcomes(Distribution([attackers]), defenders, rules).prob(is_won))


def outcomes(stack: Distribution[int], defenders: int, rules: Rules) -> Distribution[Outcome]:
    """Return the exact law of the outcome of a battle.

    stack: the exact law of the number of attackers on the territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> outcomes(Distribution([4]), 2, CLASSIC)[Outcome(attackers=3, defenders=0)]
    Fraction(326375, 1679616)
    """
    refuse(max(stack), defenders, rules)
    start = {Outcome(n, defenders): Fraction(chance) for n, chance in stack.items()}
    chances = _chances(start, rules)
    return Distribution({state: p for state, p in chances.items() if not _steps(state, rules)})


def tree(attackers: int, defenders: int, rules: Rules | str = "classic") -> Node:
    """Return the first node of a battle's tree, from which all others are reached.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    More than 2500 states are refused.

    >>> from iacta.rules.rules import CLASSIC
    >>> for losses, probability, node in tree(4, 2, CLASSIC).branches:
    ...     print(losses.attackers, losses.defenders, probability, node.state)
    2 0 2275/7776 Outcome(attackers=2, defenders=2)
    1 1 2611/7776 Outcome(attackers=3, defenders=1)
    0 2 1445/3888 Outcome(attackers=4, defenders=0)

    Source: Van Wijgerden, "Creating a probability tree".
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules, fewest=0)
    refuse(attackers, defenders, rules)
    root = Outcome(attackers, defenders)
    chances = _chances({root: Fraction(1)}, rules)
    made: dict[Outcome, Node] = {}
    for state in sorted(chances, key=sum):
        branches = (Branch(*step[:2], made[step.after]) for step in _steps(state, rules))
        made[state] = Node(state, chances[state], tuple(branches))
    return made[root]


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

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    More than 2500 states are refused. How many paths there are, `path_count` says.

    >>> from iacta.rules.rules import CLASSIC
    >>> found = list(paths(4, 2, CLASSIC))
    >>> len(found), sum(path.probability for path in found)
    (7, Fraction(1, 1))

    Source: Van Wijgerden, "Calculating end-state->p".
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules, fewest=0)
    refuse(attackers, defenders, rules)
    return _paths(Path((Outcome(attackers, defenders),), Fraction(1)), rules)


def _paths(start: Path, rules: Rules) -> Iterator[Path]:
    begun = [start]
    while begun:
        states, chance = begun.pop()
        steps = _steps(states[-1], rules)
        if not steps:
            yield Path(states, chance)
        for _, probability, after in reversed(steps):
            begun.append(Path((*states, after), chance * probability))


def _chances(start: dict[Outcome, Fraction], rules: Rules) -> dict[Outcome, Fraction]:
    """Return the chance to come by each state, from the chances to start in some of them."""
    waiting: dict[int, dict[Outcome, Fraction]] = {}
    for state, chance in start.items():
        waiting.setdefault(sum(state), {})[state] = chance
    chances: dict[Outcome, Fraction] = {}
    for armies in range(max(waiting), -1, -1):  # a roll takes armies
        for state, chance in waiting.pop(armies, {}).items():
            chances[state] = chance
            for _, probability, after in _steps(state, rules):
                level = waiting.setdefault(sum(after), {})
                level[after] = level.get(after, Fraction(0)) + chance * probability
    return chances


def _steps(state: Outcome, rules: Rules) -> list[_Step]:
    """Return what one roll can do, nothing where the battle is over."""
    able, defenders = state.attackers - rules.garrison, state.defenders
    if able <= 0 or not defenders:
        return []
    law = loss_law(min(able, rules.attack.kept), min(defenders, rules.defence.kept), rules)
    return [
        _Step(
            Losses(law.compared - k, k),
            Fraction(count, law.total),
            Outcome(state.attackers - law.compared + k, defenders - k),
        )
        for k, count in enumerate(law.counts)
        if count
    ]


def state_count(attackers: int, defenders: int, rules: Rules | str = "classic") -> int:
    """Return the number of states that a battle can come by, its start and ends included.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> state_count(4, 2, CLASSIC)
    9
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules, fewest=0)
    refuse_dice_mode(rules, NAME)
    refuse_gains(rules, NAME)
    able = max(attackers - rules.garrison, 0)
    refuse_too_large(able, defenders, memory=400 * able * defenders, method=NAME)
    reached = {(able, defenders)}
    frontier = set(reached)
    while frontier:
        frontier = {after for state in frontier for after in _after(state, rules)} - reached
        reached |= frontier
    return len(reached)


def path_count(attackers: int, defenders: int, rules: Rules | str = "classic") -> int:
    """Return the number of different paths that a battle can take, roll by roll.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules of the battle.

    >>> from iacta.rules.rules import CLASSIC
    >>> path_count(4, 2, CLASSIC)
    7
    """
    attackers, defenders, rules = read_battle(attackers, defenders, rules, fewest=0)
    refuse_dice_mode(rules, NAME)
    refuse_gains(rules, NAME)
    able = max(attackers - rules.garrison, 0)
    number_bytes = 150 + (able + defenders) // 4
    memory = (able + 1) * (defenders + 1) * number_bytes
    refuse_too_large(able, defenders, memory=memory, method=NAME)
    counts: dict[State, int] = {}
    for d in range(defenders + 1):
        for a in range(able + 1):
            after = list(_after((a, d), rules))
            counts[a, d] = sum(counts[state] for state in after) if after else 1
    return counts[able, defenders]


def _after(state: State, rules: Rules) -> Iterator[State]:
    """Yield the states that one roll can lead to, none where the battle is over."""
    able, defenders = state
    if able and defenders:
        dice = min(able, rules.attack.kept), min(defenders, rules.defence.kept)
        law = loss_law(*dice, rules)
        for k, count in enumerate(law.counts):
            if count:
                yield able - law.compared + k, defenders - k
