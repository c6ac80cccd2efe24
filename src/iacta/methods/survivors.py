"""Survivors: who is left after a battle of any size.

Let a be the attackers able to attack and d the defenders, i and j their dice, and m the armies that
a full roll takes. Since armies never grow, a battle that stands where a ≥ i and d ≥ j has had all
dice all the way, so the chance that it comes by there is that of a free walk,

    X(a, d) = P(L = A − a)   after   s = (A + D − a − d) / m   rolls

(see `iacta.methods.walk`). The next roll may lead to fewer than i attackers or j defenders. From
there on, few rolls decide: those states are a strip of j − 1 rows, and one of i − 1 columns, and
`lattice.run` carries the chances on through them, to the end of the battle.

Only the cells that matter are computed. By Hoeffding's inequality, L is farther than
m·√(s·ln(2 / ε) / 2) from its mean with a chance of at most ε, here 1e-20 for the cells of a strip;
and armies beyond those that can be lost, but for a chance of 1e-30, stay out of the computation.
"""

from math import ceil, log, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.methods import lattice
from iacta.methods.walk import Walk, attackers_walk, defenders_walk, probabilities
from iacta.rules.rules import Rules

__all__ = ["Ends", "Window", "ends", "spare_armies"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]

OMITTED = 1e-20
NEVER = 1e-30


class Window(NamedTuple):
    """The chances of some whole numbers in a row; those of all others are negligible.

    first: the least of the numbers.
    chances: the chance of each.
    """

    first: int
    chances: Floats


class Ends(NamedTuple):
    """How a battle ends.

    attackers: the chances of the attackers able to attack left, when they have won.
    defenders: the chances of the defenders left, when they have.
    """

    attackers: Window
    defenders: Window


class _Side(NamedTuple):
    """One side of a battle, as the strip along which the other is nearly gone sees it.

    armies, dice: of this side.
    walk: its losses.
    steps: `lattice.Steps` by (its dice, the other's), with the other's losses.
    """

    armies: int
    dice: int
    walk: Walk
    steps: lattice.Steps


def ends(able: int, defenders: int, rules: Rules, margin: int) -> Ends:
    """Return the chances of all ends of a battle.

    able: attackers able to attack, at least as many as the attack dice.
    defenders: armies on the defended territory, at least as many as the defence dice.
    margin: armies that as good as never lose to fewer than all dice of the other side.
    rules: the rules of the battle.

    Floats; the relative error is at most 1e-12 for chances above 1e-15.

    >>> from iacta.rules.rules import CLASSIC
    >>> left = ends(853_400, 1_000_000, CLASSIC, margin=128)
    >>> round(float(left.attackers.chances.sum()), 10)
    0.4958367341
    """
    steps = lattice.steps_of(*rules.full_roll, rules)
    i, j = rules.full_roll
    ours = _Side(able, i, attackers_walk(rules), steps)
    mirrored = {(e, f): step[::-1] for (f, e), step in steps.items()}
    theirs = _Side(defenders, j, defenders_walk(rules), mirrored)
    won, few_left = _along_strip(ours, theirs, margin, least=0)
    lost, few_lost = _along_strip(theirs, ours, margin, least=j)
    return Ends(_with_few(won, few_lost), _with_few(lost, few_left))


def _with_few(window: Window, few: dict[int, float]) -> Window:
    """Add the chances of a few numbers, if they are in the window or matter."""
    missing = [
        number for number, chance in few.items() if chance > OMITTED and number < window.first
    ]
    if missing:
        padded = np.zeros(len(window.chances) + window.first)
        padded[window.first :] = window.chances
        window = Window(0, padded)
    for number, chance in few.items():
        if 0 <= number - window.first < len(window.chances):
            window.chances[number - window.first] += chance
    return window


def _along_strip(
    ours: _Side, theirs: _Side, margin: int, least: int
) -> tuple[Window, dict[int, float]]:
    """Return the chances of our armies left when they have none, and of theirs when we have none.

    least: our armies with which the strip may be entered; the corner belongs to one strip only.
    """
    cells = [_passed(ours, theirs, y) for y in range(theirs.dice, theirs.dice + _taken(ours))]
    lowest = min((int(xs[0]) for xs, _ in cells if len(xs)), default=0)
    highest = max((int(xs[-1]) for xs, _ in cells if len(xs)), default=0)
    first = max(lowest - margin - _taken(ours), 0)
    rows = _entered(ours, theirs, cells, least - first, first, highest - first + 1)
    left, few = rows[0], dict.fromkeys(range(1, theirs.dice), 0.0)
    for y in range(1, theirs.dice):
        won, lost = lattice.run(rows[y], y, ours.steps)
        left += won
        for number, chance in lost.items():
            few[number] += float(chance) if first == 0 else 0.0
    return Window(first, left), few


def _taken(side: _Side) -> int:
    return len(side.walk.counts) - 1


def _passed(ours: _Side, theirs: _Side, y: int) -> tuple[Whole, Floats]:
    """Return our armies x, and the chances that the battle comes by x against y."""
    if y > theirs.armies:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    taken, armies = _taken(ours), ours.armies + theirs.armies
    share = ours.walk.mean / taken  # of the armies that a roll takes
    middle = (ours.armies - share * (armies - y)) / (1 - share)
    width = _deviation(taken, armies // taken, OMITTED) / (1 - share)
    last = min(ceil(middle + width), ours.armies)
    last -= (last - (armies - y)) % taken  # each roll takes m armies
    first = max(int(middle - width), ours.dice)
    xs = np.arange(last, first - 1, -taken, dtype=np.int64)[::-1]
    rolls = (armies - y - xs) // taken
    chances = np.where(rolls == 0, 1.0, 0.0)
    some = rolls > 0
    chances[some] = probabilities(ours.walk, rolls[some], ours.armies - xs[some])
    return xs, chances


def _deviation(taken: int, rolls: int, chance: float) -> float:
    """Return how far the losses are from their mean with at most that chance (Hoeffding)."""
    return taken * sqrt(rolls * log(2 / chance) / 2)


def _entered(
    ours: _Side,
    theirs: _Side,
    cells: list[tuple[Whole, Floats]],
    least: int,
    first: int,
    width: int,
) -> list[Floats]:
    """Return the chances to enter the strip with x armies against y, for each y of the strip.

    cells: what `_passed` says of the lowest rows outside the strip.
    least: our armies with which the strip may be entered, counted from `first`.
    first, width: the window of the result.
    """
    taken = _taken(ours)
    rows = [np.zeros(width) for _ in range(theirs.dice)]
    step = ours.steps[ours.dice, theirs.dice]
    for y, (xs, chances) in enumerate(cells, start=theirs.dice):
        for k in range(y - theirs.dice + 1, taken + 1):
            after = xs - (taken - k) - first
            inside = after >= max(least, 0)
            rows[y - k][after[inside]] += step[k] * chances[inside]
    return rows


def spare_armies(armies: int, others: int, walk: Walk, margin: int) -> int:
    """Return how many armies of a side as good as never come into the battle.

    armies: the armies of the side.
    others: those of the other side.
    walk: the losses of the side.
    margin: as for `ends`.

    >>> from iacta.rules.rules import CLASSIC
    >>> spare_armies(10**6, 10, attackers_walk(CLASSIC), margin=128)
    999606
    """
    taken = len(walk.counts) - 1
    share, needed = walk.mean / taken, float(others)
    for _ in range(60):
        width = _deviation(taken, ceil((needed + others) / taken), NEVER)
        needed = (share * others + width) / (1 - share)
    return max(armies - ceil(needed) - margin, 0)
