"""A plan that is carried out many times.

All runs fight their next battle at once, roll by roll with real dice (`iacta.methods.simulation`);
what follows is looked up in the policy. So nothing depends on the chances that the plan reports of
itself. Where a battle is not rolled with dice chosen before each roll, its end is drawn from the
distribution that the plan is computed with, and only the sequence of the battles is checked.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import shown, whole_number
from iacta.display import Pasted
from iacta.errors import IllegalError, MalformedError, TooLargeError
from iacta.estimate import Estimate
from iacta.methods.kernel import Transitions
from iacta.methods.simulation import RUNS, SEED, Seed, fight_until
from iacta.plan.games import Thrown, paid_in
from iacta.plan.goals import held_worth
from iacta.plan.plan import Plan
from iacta.plan.policy import Node, Policy
from iacta.rules.stop import NEVER

if TYPE_CHECKING:
    from iacta.plan.game import Attack

__all__ = ["SimulatedPlan", "simulate_plan"]

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

MOST_RUNS = 10_000_000


@dataclass(frozen=True, repr=False)
class SimulatedPlan(Pasted):
    """How many runs of a plan ended.

    won: how often the goal was reached; for a `Worth`, how often anything was gained.
    value: what the plan was worth on average, as `Plan.value`.
    error: the standard error of that average.
    owned: for each territory of the board, in its order, how often the player owned it at the end.
    """

    won: Estimate
    value: float
    error: float
    owned: tuple[Estimate, ...]

    def _summary(self) -> str:
        return f"{self.won.successes} of {self.won.runs} runs, value {self.value:.6g}"


class Group(NamedTuple):
    """Runs for which the policy is at the same node and has taken the same set."""

    node: Node
    taken: int


def simulate_plan(plan: Plan, runs: int = RUNS, seed: Seed = SEED) -> SimulatedPlan:
    """Carry out a plan many times, roll by roll with real dice where there are any.

    plan: the plan; under rules whose battles are not rolled with dice chosen before each roll, the
        ends of battles are drawn from their distribution.
    runs: how many times; more than 10,000,000 are refused.
    seed: a whole number, or a `numpy.random.Generator`; the same seed throws the same dice.

    A `SimulatedPlan`: how often each territory was owned, and the goal reached. `won.interval()`
    holds the plan's `win_probability` in 95% of all simulations.
    """
    if not isinstance(plan, Plan):
        raise MalformedError(f"plan must be a Plan, got {shown(plan)}")
    count = whole_number(runs, "runs", least=1)
    if count > MOST_RUNS:
        raise TooLargeError(f"runs must be at most {MOST_RUNS:,} of a plan, got {shown(count)}")
    number = seed if isinstance(seed, np.random.Generator) else whole_number(seed, "seed")
    rng = np.random.default_rng(number)
    policy = plan.policy
    if plan.step > 1:
        raise IllegalError(
            f"plan must count each army to be played with dice, got steps of {plan.step} armies"
        )
    if not isinstance(policy, Policy):
        games = [*islice(policy.games(Thrown(plan.problem, rng)), count)]
        gained = np.array([paid_in(game, policy.turn) for game in games])
        return _counted(plan, Counter(game.last.owned for game in games), gained)
    groups = [Group(policy.start, 0)]
    where = np.zeros(count, dtype=np.int64)
    gained = np.zeros(count)
    while any(group.node is not None for group in groups):
        groups, where = _next(policy, groups, where, gained, rng)
    taken: Counter[int] = Counter()
    for group, size in zip(groups, np.bincount(where, minlength=len(groups)).tolist(), strict=True):
        taken[plan.problem.owned | group.taken] += size
    return _counted(plan, taken, gained)


def _next(
    policy: Policy,
    groups: list[Group],
    where: Ints,
    gained: Floats,
    rng: "np.random.Generator",
) -> tuple[list[Group], Ints]:
    """Let all runs that are not over fight one battle, and return where they stand then."""
    battles = list(_battles(policy, groups))
    able = np.array([each[1] for each in battles])[where]
    defenders = np.array([each[2] for each in battles])[where]
    left, against = able.copy(), defenders.copy()
    going = np.flatnonzero(able)
    problem = policy.game.problem
    kinds = np.array([-1 if each[0] is None else problem.kinds[each[0].to] for each in battles])
    for kind in range(len(problem.all_rules)):
        here = going[kinds[where[going]] == kind]
        left[here], against[here] = _fight(policy, kind, able[here], defenders[here], rng)
    ends, index = np.unique(np.stack([where, left, against]), axis=1, return_inverse=True)
    index = index.reshape(-1)
    found: dict[Group, int] = {}
    places, paid = [], []
    for k, alive, hold in ends.T.tolist():
        group, value = _after(policy, groups[k], battles[k], alive, hold)
        places.append(found.setdefault(group, len(found)))
        paid.append(value)
    gained += np.array(paid)[index]
    return list(found), np.array(places)[index]


def _battles(policy: Policy, groups: list[Group]) -> Iterator[tuple["Attack | None", int, int]]:
    """Yield each group's next attack, its armies able to attack, and the defenders."""
    for group in groups:
        if group.node is None:
            yield None, 0, 0
        else:
            attack, armies, defenders = policy.attack(group.node)
            yield attack, armies - policy.game.problem.garrisons[attack.start], defenders


def _fight(
    policy: Policy, kind: int, able: Ints, defenders: Ints, rng: "np.random.Generator"
) -> tuple[Ints, Ints]:
    """Return how battles by the rules of one kind end."""
    kernel = policy.game.problem.kernels[kind]
    if kernel.rolled:
        return fight_until(able, defenders, kernel.rules, NEVER, rng)
    return _drawn(partial(policy.chances.battles, kind), able, defenders, rng)


def _drawn(
    battles: Callable[[int], Transitions], able: Ints, defenders: Ints, rng: "np.random.Generator"
) -> tuple[Ints, Ints]:
    """Draw the ends of battles from their distribution."""
    left, against = able.copy(), defenders.copy()
    for a, d in set(zip(able.tolist(), defenders.tolist(), strict=True)):
        here = np.flatnonzero((able == a) & (defenders == d))
        transition = battles(d)
        ends = np.concatenate([transition.won[a], transition.lost[a]])
        drawn = rng.choice(len(ends), size=len(here), p=ends / ends.sum())
        size = transition.won.shape[1]
        left[here] = np.where(drawn < size, drawn, 0)
        against[here] = np.where(drawn < size, 0, drawn - size)
    return left, against


def _after(
    policy: Policy,
    group: Group,
    battle: tuple["Attack | None", int, int],
    left: int,
    defenders: int,
) -> tuple[Group, float]:
    """Return where a group stands after its battle, and what that has paid."""
    attack, able, _ = battle
    if group.node is None or attack is None:
        return group, 0.0
    rewards, field = policy.game.rewards, policy.game.field
    lost = -rewards.army * (able - left)
    if defenders:
        return Group(policy.after_loss(group.node, defenders), group.taken), lost
    _, node = policy.after_win(group.node, left)
    paid = rewards.of(attack.to, field & ~group.taken)
    return Group(node, group.taken | 1 << attack.to), paid + lost


def _counted(plan: Plan, owned: Counter[int], gained: Floats) -> SimulatedPlan:
    """Return what runs show.

    owned: how many runs ended with each set of territories owned.
    gained: what each run gained.
    """
    problem, runs = plan.problem, len(gained)
    ends = tuple(
        Estimate(runs, sum(count for mask, count in owned.items() if mask >> t & 1))
        for t in range(len(problem.armies))
    )
    if plan.win_probability == 1.0 and not plan.steps:  # the goal was reached before
        won, held = runs, 1.0
    else:
        least = 0.5 if plan.rewards.is_chance else 0.0
        won, held = int((gained > least).sum()), held_worth(problem, plan.goal)
    error = float(gained.std() / np.sqrt(runs))
    return SimulatedPlan(Estimate(runs, won), float(gained.mean()) + held, error, ends)
