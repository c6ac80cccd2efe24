"""How a plan ends: which sets it takes, exactly, and positions at its end, drawn at random.

A plan goes from node to node, battle by battle. Where it is, and what of the sets it has taken,
carries a probability, which is passed on to all ends of the next battle. A task that is done leaves
no trace but what it took, so these are few.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from iacta.board import Holding, Position
from iacta.methods.kernel import Result
from iacta.plan.chain import ChainPlay
from iacta.plan.exact_policy import BestPlay
from iacta.plan.games import Drawn, RollPolicy
from iacta.plan.policy import Node, Policy
from iacta.plan.problem import union

__all__ = ["drawn_ends", "set_chances"]

NEVER = 1e-16


def set_chances(policy: Policy | RollPolicy, masks: Iterable[int]) -> tuple[float, ...]:
    """Return the chance that the player owns all of a set when the plan is over, for each set.

    policy: what the plan does; if it plays roll by roll, one whose chances are exact.
    masks: the sets.
    """
    if isinstance(policy, BestPlay | ChainPlay):
        return policy.set_chances(masks)
    if not isinstance(policy, Policy):
        raise TypeError("the chances of a policy of lookahead are not exact")
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


def drawn_ends(
    position: Position, policy: Policy | RollPolicy, rng: np.random.Generator, until: int = 0
) -> Iterator[Position]:
    """Yield the position at the end of a plan, again and again, with the dice of a generator.

    position: who holds what before the first battle.
    policy: what the plan does.
    rng: random numbers.
    until: a set; the plan ends as soon as all of it is taken. 0 for none.
    """
    if not isinstance(policy, Policy):
        yield from _ends_by_rolls(position, policy, rng, until)
        return
    problem = policy.game.problem
    names = problem.board.territories
    while True:
        node, changed, missing = policy.start, dict[int, Holding](), until & problem.enemy
        while node is not None and (missing or not until):
            attack, armies, defenders = policy.attack(node)
            garrison = problem.garrisons[attack.start]
            won, lost = policy.chances.battle(attack.to, defenders)
            ends = np.concatenate([won[armies - garrison], lost[armies - garrison]])
            drawn = int(np.searchsorted(ends.cumsum(), rng.random() * ends.sum(), side="right"))
            drawn = min(drawn, int(np.flatnonzero(ends)[-1]))
            moved, stays = 0, garrison
            if drawn < len(won[0]):
                moved, node = policy.after_win(node, drawn)
                stays += drawn - moved
                missing &= ~(1 << attack.to)
                changed[attack.to] = Holding(position.player, problem.armies_of(moved))
            else:
                left = drawn - len(won[0])
                node = policy.after_loss(node, left)
                owner = position.of(names[attack.to]).owner
                changed[attack.to] = Holding(owner, problem.defenders_of(left))
            changed[attack.start] = Holding(position.player, problem.armies_of(stays))
        holdings = [changed.get(t, each) for t, each in enumerate(position.holdings)]
        yield Position(position.board, position.player, tuple(holdings))


def _ends_by_rolls(
    position: Position, policy: RollPolicy, rng: np.random.Generator, until: int
) -> Iterator[Position]:
    """Yield the position at the end of a plan that plays roll by roll, again and again."""
    turn = policy.turn
    for game in policy.games(Drawn(rng)):
        state = turn.start()
        for roll, lost, killed, moved in game.rolls:
            if until and not until & ~state.owned:
                break
            state = turn.after(state, roll, Result(1.0, lost, killed))
            if moved:
                state = turn.after_advance(state, roll, moved)
        holdings = [
            Holding(position.player if state.owned >> t & 1 else each.owner, state.armies[t])
            for t, each in enumerate(position.holdings)
        ]
        yield Position(position.board, position.player, tuple(holdings))
