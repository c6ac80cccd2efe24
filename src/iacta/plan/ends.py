"""How a plan ends: the chance that it takes all of some sets, exactly.

A plan goes from node to node, battle by battle. Where it is, and what of the sets it has taken,
carries a probability, which is passed on to all ends of the next battle. A task that is done leaves
no trace but what it took, so these are few.
"""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from iacta.plan.policy import Node, Policy
from iacta.plan.problem import union

__all__ = ["set_chances"]

NEVER = 1e-16


def set_chances(policy: Policy, masks: Iterable[int]) -> tuple[float, ...]:
    """Return the chance that the player owns all of a set when the plan is over, for each set.

    policy: what the plan does.
    masks: the sets.
    """
    problem = policy.game.problem
    missing = [mask & problem.enemy for mask in masks]
    asked = union(missing)
    standing: dict[tuple[Node, int], float] = {(policy.start, 0): 1.0}
    ended: dict[int, float] = defaultdict(float)
    while standing:
        after: dict[tuple[Node, int], float] = defaultdict(float)
        for (node, taken), chance in standing.items():
            if node is None:
                ended[taken] += chance
                continue
            attack, armies, defenders = policy.attack(node)
            able = armies - problem.garrisons[attack.start]
            won, lost = policy.chances.battle(attack.to, defenders)
            more = taken | 1 << attack.to & asked
            for left in np.flatnonzero(won[able] * chance > NEVER).tolist():
                _, then = policy.after_win(node, left)
                after[then, more] += chance * float(won[able][left])
            for left in np.flatnonzero(lost[able] * chance > NEVER).tolist():
                after[policy.after_loss(node, left), taken] += chance * float(lost[able][left])
        standing = after
    return tuple(
        min(1.0, sum((chance for taken, chance in ended.items() if not mask & ~taken), 0.0))
        for mask in missing
    )
