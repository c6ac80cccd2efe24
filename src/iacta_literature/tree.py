"""The tree of the states of a small battle, with all its paths.

`iacta.methods.path_tree` computes the chance of each state and each branch. Branches to the same
state share one node. The tree is therefore a graph, as in Van Wijgerden's drawing.

Source: Van Wijgerden, "Let slip the dice of war", draws the tree and counts 7 paths from (3, 2).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from iacta.methods.kernel import Outcome, State, read_battle
from iacta.methods.path_tree import PathTree
from iacta.rules.roll import Losses
from iacta.rules.rules import Rules


class TreeBranch(NamedTuple):
    """A possible result of the next roll.

    losses: the armies that both sides lose.
    probability: the exact probability of this result.
    node: the node of the state after the roll.
    """

    losses: Losses
    probability: Fraction
    node: "Node"


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """A state of the battle; all branches to this state lead to the same node.

    state: the armies of both sides, garrison included.
    probability: the exact probability of visiting this state.
    branches: the possible results of the next roll; empty if the battle is over.
    """

    state: Outcome
    probability: Fraction
    branches: tuple[TreeBranch, ...]

    def __repr__(self) -> str:
        return f"<Node {self.state!r}, probability {self.probability!r}>"


class Path(NamedTuple):
    """A path through a battle.

    states: the states on the path, from the start to the end.
    probability: the exact probability of the path.
    """

    states: tuple[Outcome, ...]
    probability: Fraction


def tree(attackers: int, defenders: int, rules: Rules | str = "classic") -> Node:
    """Return the root of the tree of a battle.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: `Rules`, or the name of a rule set.

    Raises `TooLargeError` for more than 2500 states.

    >>> from iacta.rules.rules import CLASSIC
    >>> for losses, probability, node in tree(4, 2, CLASSIC).branches:
    ...     print(losses.attackers, losses.defenders, probability, node.state)
    2 0 2275/7776 Outcome(attackers=2, defenders=2)
    1 1 2611/7776 Outcome(attackers=3, defenders=1)
    0 2 1445/3888 Outcome(attackers=4, defenders=0)

    Source: Van Wijgerden, "Creating a probability tree".
    """
    kernel, root = _read_battle(attackers, defenders, rules)
    visits = kernel.visits({root: Fraction(1)})
    made: dict[State, Node] = {}
    for state in sorted(visits, key=sum):
        branches = (TreeBranch(*step[:2], made[step.after]) for step in kernel.steps(state))
        shown_as = _include_garrison(state, kernel.garrison)
        made[state] = Node(shown_as, visits[state], tuple(branches))
    return made[root]


def _read_battle(attackers: int, defenders: int, rules: Rules | str) -> tuple[PathTree, State]:
    attackers, defenders, rules = read_battle(attackers, defenders, rules, fewest=0)
    kernel, root = PathTree(rules), State(attackers - rules.garrison, defenders)
    kernel.refuse(*root)
    return kernel, root


def _include_garrison(state: State, garrison: int) -> Outcome:
    return Outcome(state.attackers + garrison, state.defenders)


def nodes(root: Node) -> Iterator[Node]:
    """Yield each node of a tree once, in descending order of the number of armies.

    root: the root, as returned by `tree`.

    >>> from iacta.rules.rules import CLASSIC
    >>> [tuple(node.state) for node in nodes(tree(4, 2, CLASSIC))]
    [(4, 2), (4, 0), (3, 1), (2, 2), (3, 0), (2, 1), (1, 2), (2, 0), (1, 1)]
    """
    by_state = {root.state: root}
    frontier = [root]
    while frontier:
        below = {branch.node.state: branch.node for node in frontier for branch in node.branches}
        frontier = [node for state, node in below.items() if state not in by_state]
        by_state |= below
    yield from sorted(
        by_state.values(), key=lambda node: (sum(node.state), node.state), reverse=True
    )


def paths(attackers: int, defenders: int, rules: Rules | str = "classic") -> Iterator[Path]:
    """Return an iterator over all paths of a battle from the start to an end.

    The arguments and the exceptions are the same as for `tree`. Even small battles have many paths;
    `Battle.path_count` returns their number.

    >>> from iacta.rules.rules import CLASSIC
    >>> routes = list(paths(4, 2, CLASSIC))
    >>> len(routes), sum(path.probability for path in routes)
    (7, Fraction(1, 1))

    Source: Van Wijgerden, "Calculating end-state->p".
    """
    kernel, root = _read_battle(attackers, defenders, rules)
    return _list_paths(kernel, root)


def _list_paths(kernel: PathTree, root: State) -> Iterator[Path]:
    begun: list[tuple[tuple[State, ...], Fraction]] = [((root,), Fraction(1))]
    while begun:
        states, probability = begun.pop()
        steps = kernel.steps(states[-1])
        if not steps:
            yield Path(
                tuple(_include_garrison(state, kernel.garrison) for state in states), probability
            )
        begun += [
            ((*states, step.after), probability * step.probability) for step in reversed(steps)
        ]
