"""Armies needed: the fewest armies on one territory with which a plan has a wanted chance."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from iacta.board import Holding, Position
from iacta.checks import Chance, read_chance, row_of, shown
from iacta.errors import IllegalError, MalformedError
from iacta.plan.best import better_plans
from iacta.plan.goal import Goal, Worth, read_goal
from iacta.plan.problem import read_problem
from iacta.plan.search import effort_of
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

__all__ = ["armies_needed_for_plan"]

MOST_ARMIES = 1000


def armies_needed_for_plan(
    position: Position,
    goal: Goal,
    chance: Chance,
    source: str,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    keep: Mapping[str, int] | None = None,
    may_not_move: Iterable[str] = (),
) -> int:
    """Return the fewest armies on a territory with which the best plan reaches a wanted chance.

    position: who holds what; the armies on `source` do not count.
    goal: `TakeAll` or `TakeAny`.
    chance: the wanted chance, between 0 and 1, as for `armies_needed`.
    source: the name of a territory of the player's that may attack.
    rules, garrison, keep, may_not_move: as for `best_plan`.

    A whole number of at least 1. With one army less, the best plan that is found has not that
    chance; where plans are not proven, a better one might. A chance that 1000 armies do not reach
    is refused.
    """
    if not isinstance(position, Position):
        raise MalformedError(f"position must be a Position, got {shown(position)}")
    if keep is not None and not isinstance(keep, Mapping):
        raise MalformedError(f"keep must be a mapping from names to armies, got {shown(keep)}")
    if isinstance(goal, Worth):
        raise IllegalError(f"goal must be TakeAll or TakeAny to have a chance, got {shown(goal)}")
    wanted = read_chance(chance)
    names = [may_not_move] if isinstance(may_not_move, str) else may_not_move
    resting = tuple(map(position.board.find, row_of(names, "may_not_move", "names")))
    name = _source(position, source, resting)
    named, found_rules = read_goal(goal, position.board), find_rules(rules, garrison)
    kept = {} if keep is None else keep

    def reaches(armies: int) -> bool:
        """Tell whether the best plan with so many armies has the wanted chance.

        armies: how many are on the territory.
        """
        there = with_armies(position, name, armies)
        problem = read_problem(there, found_rules, kept, resting)
        # Ctrl-C ends the whole search: half of one would tell a wrong number.
        *_, best = better_plans(problem, named, effort_of(None))
        return best.value >= wanted

    below, enough = 0, 8
    while not reaches(enough):
        if enough >= MOST_ARMIES:
            raise IllegalError(
                f"chance must be one that {MOST_ARMIES} armies on {name} reach, "
                f"got {shown(str(chance))}"
            )
        below, enough = enough, min(2 * enough, MOST_ARMIES)
    while enough - below > 1:
        middle = (below + enough) // 2
        below, enough = (below, middle) if reaches(middle) else (middle, enough)
    return enough


def _source(position: Position, source: str, resting: tuple[str, ...]) -> str:
    name = position.board.find(source)
    if position.of(name).owner != position.player:
        raise IllegalError(f"source must be a territory of {position.player}'s, got {name}")
    if name in resting:
        raise IllegalError(f"source must be a territory that may attack, got {name}")
    return name


def with_armies(position: Position, name: str, armies: int) -> Position:
    """Return a position with other armies on one territory.

    position: the position.
    name: the territory.
    armies: its armies.
    """
    place = position.board.territories.index(name)
    holdings = list(position.holdings)
    holdings[place] = Holding(holdings[place].owner, armies)
    return replace(position, holdings=tuple(holdings))
