"""Path tree: the states that a battle can come by, and the paths through them.

With a attackers able to attack and d defenders, the number of paths from (a, d) to the end is

    n(a, d) = Σ n(a', d')    over the states (a', d') after a roll,      n(a, 0) = n(0, d) = 1.

Sources: "Analyzing the Board Game Risk" (pracpred.com) asks how many states and paths there are;
Van Wijgerden, "Let slip the dice of war", draws the tree and counts 7 paths from (3, 2).
"""

from collections.abc import Iterator

from iacta.methods.limits import refuse_gains, refuse_too_large
from iacta.roll import loss_law
from iacta.rules import Rules

__all__ = ["NAME", "path_count", "state_count"]

NAME: str = "path_tree"

State = tuple[int, int]


def state_count(attackers: int, defenders: int, rules: Rules) -> int:
    """Return the number of states that a battle can come by, its start and ends included.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.

    >>> from iacta.rules import CLASSIC
    >>> state_count(4, 2, CLASSIC)
    9
    """
    refuse_gains(rules, NAME)
    able = max(attackers - rules.garrison, 0)
    refuse_too_large(able, defenders, memory=400 * able * defenders, method=NAME)
    reached = {(able, defenders)}
    frontier = set(reached)
    while frontier:
        frontier = {after for state in frontier for after in _after(state, rules)} - reached
        reached |= frontier
    return len(reached)


def path_count(attackers: int, defenders: int, rules: Rules) -> int:
    """Return the number of different paths that a battle can take, roll by roll.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.

    >>> from iacta.rules import CLASSIC
    >>> path_count(4, 2, CLASSIC)
    7
    """
    refuse_gains(rules, NAME)
    able = max(attackers - rules.garrison, 0)
    number_bytes = 150 + (able + defenders) // 4
    memory = (able + 1) * (defenders + 1) * number_bytes
    refuse_too_large(able, defenders, memory=memory, method=NAME)
    paths: dict[State, int] = {}
    for d in range(defenders + 1):
        for a in range(able + 1):
            after = list(_after((a, d), rules))
            paths[a, d] = sum(paths[state] for state in after) if after else 1
    return paths[able, defenders]


def _after(state: State, rules: Rules) -> Iterator[State]:
    """Yield the states that one roll can lead to, none where the battle is over."""
    able, defenders = state
    if able and defenders:
        dice = min(able, rules.attack.kept), min(defenders, rules.defence.kept)
        law = loss_law(*dice, rules)
        for k, count in enumerate(law.counts):
            if count:
                yield able - law.compared + k, defenders - k
