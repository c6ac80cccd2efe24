"""Levels: amounts of work of a search for a plan.

A level counts states, games and placements, never seconds, and uses no result of a search that is
cut short. A turn at a level therefore has the same plan and the same numbers on every machine. A
time limit only decides which level is reached.
"""

from typing import NamedTuple

from iacta.inputs.checks import check_choice


class Level(NamedTuple):
    """An amount of work.

    name: the name of the level.
    budget: the search budget of a plan, relative to the default of `best_plan`.
    trial_budget: the search budget of the plans that compare placements and advances.
    finalists: the number of placements or advances that plans compare.
    advances: the number of advances that are compared.
    placement_states: the maximum number of states in an exact search that compares placements.
    narrow_states: the maximum number of states in an exact search of the narrow problem after a
        placement; 0 to compare no placements in the narrow problem.
    """

    name: str
    budget: float
    trial_budget: float
    finalists: int
    advances: int
    placement_states: int
    narrow_states: int


QUICK = Level("quick", 0.02, 0.02, 1, 3, 1_000, 0)
USUAL = Level("usual", 1.0, 0.05, 2, 12, 50_000, 30_000)
LONG = Level("long", 8.0, 1.0, 3, 12, 200_000, 300_000)
LEVELS = {level.name: level for level in (QUICK, USUAL, LONG)}


def read_level(name: str) -> Level:
    """Return the level with a name.

    >>> read_level("quick").name
    'quick'
    """
    check_choice(name, tuple(LEVELS), "level")
    return LEVELS[name]


def list_levels(level: Level, lowest: Level | None = None) -> list[Level]:
    """Return all levels up to a level, the least work first.

    lowest: the first level; `None` for the lowest of all.

    >>> [each.name for each in list_levels(USUAL)]
    ['quick', 'usual']
    """
    found = [*LEVELS.values()]
    return found[0 if lowest is None else found.index(lowest) : found.index(level) + 1]
