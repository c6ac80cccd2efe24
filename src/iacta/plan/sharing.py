"""Several stacks: which of them takes what.

Stacks that take separate sets do not meet, so the chance of a share R = R_1 + R_2 + ... is the
product of F(v_i, n_i, R_i), each set hanging together with its stack. The first territory of R must
be some stack's; its sets with that territory are tried in the order of their chances, until the
chance alone is no better than what was found: the other factors are at most 1.
"""

from typing import NamedTuple

from iacta.plan.problem import Stacks
from iacta.plan.stack import Reduced, StackChances

__all__ = ["Share", "Tasks", "best_share"]

Tasks = tuple[tuple[int, int, int], ...]  # (territory, armies, set to take) of each stack


class Share(NamedTuple):
    """Who takes what.

    chance: the chance that all is taken.
    tasks: the share, in the order in which it is carried out.
    """

    chance: float
    tasks: Tasks


NOTHING = Share(0.0, ())


def best_share(
    chances: StackChances, stacks: Stacks, targets: int, reduced: Reduced = (), floor: float = 0.0
) -> Share:
    """Return the best share of a set among stacks.

    chances: the chances of single stacks.
    stacks: (territory, armies) of each.
    targets: the set.
    reduced: what lost battles have left.
    floor: a chance; shares that are no better need not be found.
    """
    if not targets:
        return Share(1.0, ())
    borders = chances.problem.borders
    near = tuple(stack for stack in stacks if borders.out[stack[0]] & targets)
    if not near:
        return NOTHING
    if len(near) == 1:
        ((v, n),) = near
        if not borders.holds(v, targets):
            return NOTHING
        return Share(float(chances.chance(v, targets, reduced)[n]), ((v, n, targets),))
    best = NOTHING
    for chance, (v, n), part in _first_parts(chances, near, targets, reduced):
        if chance <= max(best.chance, floor):
            break
        others = tuple(stack for stack in near if stack[0] != v)
        least = max(best.chance, floor) / chance
        rest = best_share(chances, others, targets & ~part, reduced, least)
        if chance * rest.chance > best.chance:
            best = Share(chance * rest.chance, ((v, n, part), *rest.tasks))
    return best


def _first_parts(
    chances: StackChances, stacks: Stacks, targets: int, reduced: Reduced
) -> list[tuple[float, tuple[int, int], int]]:
    """Return the sets with the first territory that a stack may take, the best chance first."""
    first = targets & -targets
    parts = []
    for v, n in stacks:
        for part in chances.problem.borders.growths(v, targets):
            if part & first:
                chance = float(chances.chance(v, part, reduced)[n])
                if chance:
                    parts.append((chance, (v, n), part))
    return sorted(parts, key=lambda each: -each[0])
