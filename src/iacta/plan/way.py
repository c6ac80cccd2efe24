"""The usual way of a plan, for a player to follow: which battles, and how many stay behind."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.plan.games import usual_game
from iacta.plan.plan import Plan, Play, Step
from iacta.plan.policy import Policy

__all__ = ["Branch", "Rearguard", "UsualBattle", "rearguards", "usual_way"]

Floats: TypeAlias = npt.NDArray[np.float64]
Border: TypeAlias = tuple[str, str]
Steps: TypeAlias = Mapping[Border | None, Step]

NEVER = 1e-9
RARE = 0.01  # of the conquests at a border, this part may be left out at either end
WELL = 0.1  # the usual next battle follows at least this part of the conquests


@dataclass(frozen=True)
class Branch:
    """Another battle that may come next.

    start, to: the territory that attacks, and the one that is attacked.
    armies: with how many armies left after the battle before, garrison included, it comes next.
    """

    start: str
    to: str
    armies: tuple[int, ...]


@dataclass(frozen=True)
class UsualBattle:
    """A battle of the usual way.

    step: the battle.
    fewest: the fewest armies left, garrison included, with which the plan goes on after it;
        `None` where it does so with any, or where nothing is left to do.
    branches: the battles other than the usual one that may come next.
    """

    step: Step
    fewest: int | None
    branches: tuple[Branch, ...]


def usual_way(plan: Plan) -> tuple[UsualBattle, ...]:
    """Return the battles of a plan in the order in which they are usually fought.

    Each battle is won, and of the next battles that are likely enough then, the one follows that
    the plan as a whole fights most often. A plan that plays roll by roll is followed through a game
    in which the losses are as on average.
    """
    steps: Steps = {(step.start, step.to): step for step in plan.steps}
    if not isinstance(plan.policy, Policy):
        name = plan.problem.name
        borders = (
            (name(made.roll.start), name(made.roll.to))
            for _, made in usual_game(plan.policy)
            if made.moved
        )
        return tuple(UsualBattle(steps[each], None, ()) for each in borders if each in steps)
    play: Play | None = plan.follow()
    way: list[UsualBattle] = []
    while play is not None and (border := _border(play)) is not None:
        if border not in steps or any(battle.step == steps[border] for battle in way):
            break
        battle, play = _battle(play, steps)
        way.append(battle)
    return tuple(way)


def _battle(play: Play, steps: Steps) -> tuple[UsualBattle, Play | None]:
    """Return the next battle, and the plan after it, as it most often goes on."""
    attack, armies, defenders = play.battle()
    policy = play.policy
    garrison, armies_of = policy.game.problem.garrisons[attack.start], policy.game.problem.armies_of
    won = policy.chances.battle(attack.to, defenders).won[armies - garrison]
    after = {left: play.won(left) for left in range(1, len(won)) if won[left]}
    borders = {left: _border(each) for left, each in after.items()}
    usual = _usual(borders, won, steps)
    going = [armies_of(left + garrison) for left, border in borders.items() if border is not None]
    fewest = min(going) if going and len(going) < len(borders) else None
    others = {n: each for n, each in borders.items() if won[n] > NEVER and each != usual}
    branches = tuple(
        Branch(
            *border, tuple(armies_of(left + garrison) for left in others if others[left] == border)
        )
        for border in dict.fromkeys(others.values())
        if border is not None
    )
    battle = UsualBattle(steps[_border(play)], fewest, branches)
    if usual not in borders.values():
        return battle, None
    return battle, after[max((n for n in after if borders[n] == usual), key=lambda n: won[n])]


def _usual(borders: Mapping[int, Border | None], won: Floats, steps: Steps) -> Border | None:
    """Return the next battle that is fought most often, of those that are likely enough."""
    weights: dict[Border | None, float] = defaultdict(float)
    for left, border in borders.items():
        weights[border] += won[left]
    likely = [border for border in weights if weights[border] > WELL * sum(weights.values())]
    return max(
        likely,
        key=lambda each: steps[each].reach_probability if each in steps else 0.0,
        default=None,
    )


def _border(play: Play) -> Border | None:
    """Return the border over which a plan attacks next."""
    if play.is_over:
        return None
    attack, *_ = play.battle()
    name = play.plan.problem.name
    return name(attack.start), name(attack.to)


@dataclass(frozen=True)
class Rearguard:
    """How many armies stay behind when a plan has taken a territory, garrison included.

    start, to: the territory that attacked, and the one that is taken.
    probability: the chance that it is taken from there.
    least, most: the range of armies that stay behind, in nearly all cases.
    usual: how many most often stay behind.
    garrison: how many must stay behind.
    """

    start: str
    to: str
    probability: float
    least: int
    most: int
    usual: int
    garrison: int

    @property
    def is_all(self) -> bool:
        """Whether all move in that may."""
        return self.most <= self.garrison


def rearguards(plan: Plan) -> tuple[Rearguard, ...]:
    """Return how many armies stay behind at each border that a plan may attack over.

    They are in the order of `plan.steps`, without the borders over which nothing is ever taken. In
    1 of 100 cases fewer may stay behind than `least`, in as many more than `most`.
    """
    problem = plan.problem
    found = []
    for step in plan.steps:
        garrison = problem.garrisons[problem.board.territories.index(step.start)]
        stays: dict[int, float] = defaultdict(float)
        for able, chance, moved in step.advances:
            stays[round(able - moved) + garrison] += chance
        total = sum(stays.values())
        if total > 0.0:
            rising = sorted(stays.items())
            least, most = _first(rising, total), _first(rising[::-1], total)
            usual = max(rising, key=lambda each: each[1])[0]
            chance = min(total, 1.0)
            found.append(Rearguard(step.start, step.to, chance, least, most, usual, garrison))
    return tuple(found)


def _first(distribution: list[tuple[int, float]], total: float) -> int:
    """Return the first number that is not among the rarest."""
    passed = 0.0
    for number, chance in distribution:
        passed += chance
        if passed > RARE * total:
            return number
    return distribution[-1][0]
