"""The way of a plan, told so that a player can follow it: which battles, and who moves in."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.plan import Plan, Play, Step

__all__ = ["Advance", "Branch", "Turn", "advances", "usual_way"]

Floats: TypeAlias = npt.NDArray[np.float64]
Border: TypeAlias = tuple[str, str]
Steps: TypeAlias = Mapping[Border | None, Step]

NEVER = 1e-9
RARE = 0.01  # of the conquests at a border, so many may be left out at either end

WELL = 0.1  # of the conquests, so many must lead on to a battle for it to be the usual next one


@dataclass(frozen=True)
class Advance:
    """How many armies stay behind when a plan has taken a territory, garrison included.

    start, to: the territory that attacked, and the one that is taken.
    probability: the chance that it is taken from there.
    least, most: of the armies that stay behind, in nearly all cases.
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
class Turn:
    """A battle of the usual way.

    step: the battle.
    fewest: the fewest armies left, garrison included, with which the plan goes on after it;
        `None` where it does so with any, or where nothing is left to do.
    branches: the battles other than the usual one that may come next.
    """

    step: Step
    fewest: int | None
    branches: tuple[Branch, ...]


def usual_way(plan: Plan) -> tuple[Turn, ...]:
    """Return the battles of a plan in the order in which they are fought if all goes as usual.

    plan: the plan.

    Each battle is won, and of the next battles that may then well be fought it is the one that
    the plan as a whole fights most often.
    """
    steps: Steps = {(step.start, step.to): step for step in plan.steps}
    play: Play | None = plan.play()
    way: list[Turn] = []
    while play is not None and (border := _border(play)) is not None:
        if border not in steps or any(turn.step == steps[border] for turn in way):
            break
        turn, play = _turn(plan, play, steps)
        way.append(turn)
    return tuple(way)


def _turn(plan: Plan, play: Play, steps: Steps) -> tuple[Turn, Play | None]:
    """Return the next battle, and the plan after it, as it most often goes on."""
    attack, armies, defenders = play.battle()
    garrison = plan.policy.world.problem.garrisons[attack.start]
    won = plan.policy.chances.transfers.of(defenders).won[armies - garrison]
    after = {left: play.won(left) for left in range(1, len(won)) if won[left]}
    borders = {left: _border(each) for left, each in after.items()}
    usual = _usual(borders, won, steps)
    going = [left + garrison for left, border in borders.items() if border is not None]
    fewest = min(going) if going and len(going) < len(borders) else None
    others = {n: each for n, each in borders.items() if won[n] > NEVER and each != usual}
    branches = tuple(
        Branch(*border, tuple(left + garrison for left in others if others[left] == border))
        for border in dict.fromkeys(others.values())
        if border is not None
    )
    turn = Turn(steps[_border(play)], fewest, branches)
    if usual not in borders.values():
        return turn, None
    return turn, after[max((n for n in after if borders[n] == usual), key=lambda n: won[n])]


def _usual(borders: Mapping[int, Border | None], won: Floats, steps: Steps) -> Border | None:
    """Return the next battle that is fought most often, of those that may well be."""
    weights: dict[Border | None, float] = defaultdict(float)
    for left, border in borders.items():
        weights[border] += won[left]
    well = [border for border in weights if weights[border] > WELL * sum(weights.values())]
    return max(
        well, key=lambda each: steps[each].reach_probability if each in steps else 0.0, default=None
    )


def _border(play: Play) -> Border | None:
    """Return the border over which a plan attacks next."""
    move = None if play.is_over else play.battle()[0]
    name = play.plan.policy.world.problem.name
    return None if move is None else (name(move.start), name(move.to))


def advances(plan: Plan) -> tuple[Advance, ...]:
    """Return how many armies stay behind at each border that a plan may attack over.

    plan: the plan.

    In the order of `plan.steps`; borders over which nothing is ever taken are left out. In 1 of 100
    cases fewer may stay behind than `least`, in as many more than `most`.
    """
    told = []
    for step in plan.steps:
        garrison = _garrison(plan, step.start)
        stays: dict[int, float] = defaultdict(float)
        for able, chance, moved in step.advances:
            stays[round(able - moved) + garrison] += chance
        if sum(stays.values()) > 0.0:
            told.append(_advance((step.start, step.to), stays, garrison))
    return tuple(told)


def _garrison(plan: Plan, name: str) -> int:
    problem = plan.policy.world.problem
    return problem.garrisons[problem.board.territories.index(name)]


def _advance(border: tuple[str, str], stays: dict[int, float], garrison: int) -> Advance:
    law, total = sorted(stays.items()), sum(stays.values())
    usual = max(law, key=lambda each: each[1])[0]
    least, most = _first(law, total), _first(law[::-1], total)
    return Advance(*border, min(total, 1.0), least, most, usual, garrison)


def _first(law: list[tuple[int, float]], total: float) -> int:
    """Return the first number that is not among the rarest."""
    passed = 0.0
    for number, chance in law:
        passed += chance
        if passed > RARE * total:
            return number
    return law[-1][0]
