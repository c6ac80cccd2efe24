"""Simulated plan: a plan that is carried out many times.

All runs fight their next battle at once, roll by roll with real dice (`iacta.methods.simulation`);
what is done after it is looked up in the plan. So nothing is taken from the chances that the plan
tells of itself. Under balanced blitz, and where the defender sees the attack first, there are no
such dice: each battle's end is drawn from its law, the same that the plan is computed with, and
only how the battles follow each other is checked.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import shown, whole_number
from iacta.errors import MalformedError, TooLargeError
from iacta.estimate import Estimate
from iacta.methods.simulation import RUNS, SEED, Seed, fight_until
from iacta.plan.plan import Plan, held_worth
from iacta.plan.policy import Policy, Standing
from iacta.plan.transfer import Transfers
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER

if TYPE_CHECKING:
    from iacta.plan.states import Attack

__all__ = ["SimulatedPlan", "check_runs", "has_real_dice", "simulate_plan"]

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

MOST_RUNS = 10_000_000


@dataclass(frozen=True)
class SimulatedPlan:
    """How many runs of a plan ended.

    won: how often the goal was reached; for a `Worth`, how often anything was gained.
    value: what the plan was worth in the mean, as `Plan.value`.
    error: the standard error of that mean.
    owned: for each territory of the board, in its order, how often the player owned it at the end.
    """

    won: Estimate
    value: float
    error: float
    owned: tuple[Estimate, ...]


class Group(NamedTuple):
    """Runs that stand at the same point.

    standing: where the plan stands.
    taken: the set of what it has taken.
    """

    standing: Standing
    taken: int


def simulate_plan(plan: Plan, runs: int = RUNS, seed: Seed = SEED) -> SimulatedPlan:
    """Carry out a plan many times, roll by roll with real dice where there are any.

    plan: the plan; under balanced blitz, and where the defender sees the attack first, the ends of
        battles are drawn from their laws.
    runs: how many times; more than 10,000,000 are refused.
    seed: a whole number, or a `numpy.random.Generator`; the same seed throws the same dice.

    How often each territory was owned, and the goal reached; `won.interval()` tells how near that
    is to the plan's `win_probability`.
    """
    if not isinstance(plan, Plan):
        raise MalformedError(f"plan must be a Plan, got {shown(plan)}")
    count = check_runs(runs)
    number = seed if isinstance(seed, np.random.Generator) else whole_number(seed, "seed")
    rng = np.random.default_rng(number)
    policy = plan.policy
    groups = [Group(policy.settled(policy.start), 0)]
    where = np.zeros(count, dtype=np.int64)
    gained = np.zeros(count)
    while any(group.standing is not None for group in groups):
        groups, where = _next(policy, groups, where, gained, rng)
    return _counted(plan, groups, where, gained)


def check_runs(runs: object) -> int:
    """Return a number of runs, or refuse it.

    runs: how many times a plan is to be carried out.
    """
    count = whole_number(runs, "runs", least=1)
    if count > MOST_RUNS:
        raise TooLargeError(f"runs must be at most {MOST_RUNS:,} of a plan, got {shown(count)}")
    return count


def has_real_dice(rules: Rules) -> bool:
    """Tell whether battles are fought roll by roll, and not drawn from their laws.

    rules: the rules of the battles.
    """
    return rules.dice_mode == "true random" and not rules.defender_sees_first


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
    left[going], against[going] = _fight(policy, able[going], defenders[going], rng)
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
        if group.standing is None:
            yield None, 0, 0
        else:
            attack, armies, defenders = policy.attack(group.standing)
            yield attack, armies - policy.world.problem.garrisons[attack.start], defenders


def _fight(
    policy: Policy, able: Ints, defenders: Ints, rng: "np.random.Generator"
) -> tuple[Ints, Ints]:
    rules = policy.world.problem.rules
    if has_real_dice(rules):
        return fight_until(able, defenders, replace(rules, garrison=0), NEVER, rng)
    return _drawn(policy.chances.transfers, able, defenders, rng)


def _drawn(
    transfers: Transfers, able: Ints, defenders: Ints, rng: "np.random.Generator"
) -> tuple[Ints, Ints]:
    """Draw the ends of battles from their laws."""
    left, against = able.copy(), defenders.copy()
    for a, d in set(zip(able.tolist(), defenders.tolist(), strict=True)):
        here = np.flatnonzero((able == a) & (defenders == d))
        law = transfers.of(d)
        line = np.concatenate([law.won[a], law.lost[a]])
        drawn = rng.choice(len(line), size=len(here), p=line / line.sum())
        won = drawn < law.won.shape[1]
        left[here] = np.where(won, drawn, 0)
        against[here] = np.where(won, 0, drawn - law.won.shape[1])
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
    if group.standing is None or attack is None:
        return group, 0.0
    rewards, field = policy.world.rewards, policy.world.field
    lost = -rewards.army * (able - left)
    if defenders:
        return Group(policy.after_loss(group.standing, defenders), group.taken), lost
    _, standing = policy.after_win(group.standing, left)
    paid = rewards.of(attack.to, field & ~group.taken)
    return Group(standing, group.taken | 1 << attack.to), paid + lost


def _counted(plan: Plan, groups: list[Group], where: Ints, gained: Floats) -> SimulatedPlan:
    problem, runs = plan.policy.world.problem, len(where)
    sizes = np.bincount(where, minlength=len(groups)).tolist()
    owned = []
    for t in range(len(problem.armies)):
        taken = sum(size for size, group in zip(sizes, groups, strict=True) if group.taken >> t & 1)
        owned.append(Estimate(runs, runs if problem.owned >> t & 1 else taken))
    held = 1.0 if _has_won_before(plan) else held_worth(problem, plan.goal)
    won = runs if _has_won_before(plan) else int((gained > 0.5 * _least(plan)).sum())
    error = float(gained.std() / np.sqrt(runs))
    return SimulatedPlan(Estimate(runs, won), float(gained.mean()) + held, error, tuple(owned))


def _has_won_before(plan: Plan) -> bool:
    return plan.win_probability == 1.0 and not plan.steps


def _least(plan: Plan) -> float:
    return 1.0 if plan.policy.world.rewards.is_chance else 0.0
