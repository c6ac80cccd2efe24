"""The goals of a turn, and which goals imply others.

A goal is recorded as in logs: as a mapping with one kind of goal, such as `{"take": "Asia"}`. The
turn and this record determine the goal, so a goal in a list is the same as the goal that a user
names.

Some goals imply others: taking all of S implies taking every part of S, and any one territory of S.
If goal g implies goal h, then with the best play for each goal,

    chance(g) ≤ chance(h).
"""

import json
from collections.abc import Hashable, Iterator, Mapping
from math import inf
from typing import Any, NamedTuple, TypeAlias, TypeVar

from iacta.game import Turn
from iacta.game.victory import SURVIVAL
from iacta.inputs.errors import TooLargeError
from iacta.native.bit_sets import make_mask
from iacta.native.deadline import Deadline
from iacta.plan.goals import Goal, OwnAny, TakeAny, WinGame, make_owned_mask
from iacta.plan.named_goals import read_goal_record
from iacta.plan.opponents import list_opponents
from iacta.plan.placements import pose_reinforced_problem
from iacta.plan.problem import pose_problem
from iacta.plan.search import Search
from iacta.plan.winning import find_win
from iacta.war.games import WIN_NOW
from iacta.war.goals import ONE_CARD

BOUND_VALUES = 20_000  # maximum number of values to compute in a relaxed game, for an upper bound

GoalRecord: TypeAlias = Mapping[str, Any]
Key = TypeVar("Key", bound=Hashable)


def canonicalise(turn: Turn) -> Turn:
    """Return the turn to which the analysis of a turn belongs.

    A finished turn counts as the beginning of the next player's turn.
    """
    if turn.phase == "over" and turn.winner is None:
        turn = turn.next()
    return turn.replace_state(turn.state._replace(first=0)) if turn.state.first else turn


def make_goal_key(record: GoalRecord) -> str:
    """Return a text that identifies a goal of a turn."""
    return json.dumps(dict(record), sort_keys=True)


def list_goals(turn: Turn) -> Iterator[tuple[str, GoalRecord]]:
    """Yield the possible goals of a turn, as pairs of a description and a record.

    These goals are to win the game now, to take a continent, to break an opponent's continent, to
    eliminate an opponent, and to take a card.
    """
    # With two survivors, winning now would only repeat the goal to eliminate the opponent.
    is_elimination = turn.victory == SURVIVAL and len(turn.survivors) <= 2
    if not is_elimination and find_win(turn) is not None:
        yield WIN_NOW, {"win": True}
    opponents = {*list_opponents(turn)}
    for continent in turn.board.continents:
        owners = {turn.owner_of(name) for name in continent.territories}
        if not owners or "" in owners:
            continue
        yield f"take {continent.name}", {"take": continent.name}
        if len(owners) == 1 and owners <= opponents:
            words = f"break {min(owners)}'s {continent.name}"
            yield words, {"take_any": ", ".join(continent.territories)}
    for player in dict.fromkeys(turn.owners):
        if player in opponents:
            yield f"eliminate {player}", {"eliminate": player}
    owned = zip(turn.board.territories, turn.owners, strict=True)
    others = tuple(name for name, owner in owned if owner not in ("", turn.player))
    if not turn.cards_due and others:
        yield ONE_CARD, {"take_any": ", ".join(others)}


def describe_goal(turn: Turn, record: GoalRecord) -> str:
    """Return a goal in words, as in the list of goals."""
    key = make_goal_key(record)
    for words, offered in list_goals(turn):
        if make_goal_key(offered) == key:
            return words
    if "worth" in record:
        return "gain the most points"
    goal = read_goal_record(turn, record)
    return "win now" if goal is None else goal.phrase(turn.position)


def compute_bound(turn: Turn, goal: Goal, deadline: Deadline) -> float:
    """Return an upper bound on the chance to reach a goal, from a short search.

    turn: a turn before or during its attacks.
    deadline: the time limit. If it leaves no time for the tables of battles, the bound is 1.
    """
    problem = (
        pose_reinforced_problem(turn, goal, turn.place) if turn.place else pose_problem(turn, goal)
    )
    if problem.rewards.most <= 0.0:
        return 0.0
    if isinstance(goal, WinGame) and not goal.is_complete:
        return 1.0
    try:
        search = Search(problem, deadline)
    except TooLargeError as error:
        if error.parameter != "time_limit":
            raise
        return 1.0
    return min(next(search.bounds(deadline, BOUND_VALUES), 1.0), 1.0)


class Conquest(NamedTuple):
    """The conquests that reach a goal: a number of territories from a set.

    among: the set of territories whose conquest may help.
    least: the goal cannot be reached with fewer conquests in this set.
    enough: the goal is always reached with this number of conquests in this set.
    """

    among: int
    least: int
    enough: float

    @classmethod
    def for_goal(cls, goal: Goal, turn: Turn) -> "Conquest":
        """Return the conquests that reach a `TakeAll`, `TakeAny`, `OwnAny` or `WinGame`.

        turn: the turn before the attacks.
        """
        others = make_mask(range(len(turn.owners))) & ~make_owned_mask(turn)
        if isinstance(goal, OwnAny):
            missing = goal.number - (len(turn.owners) - others.bit_count())
            # If each territory needs several armies, no number of conquests is required or enough.
            span = (missing, missing) if goal.armies == 1 else (0, inf)
            return cls(others, *span)
        if isinstance(goal, WinGame):
            # No number of conquests is enough, because it depends on the territories.
            owned = len(turn.owners) - others.bit_count()
            least = min(
                len(way.territories) or (way.number - owned if way.armies <= 1 else 0)
                for way in goal.ways
            )
            return cls(others, least, inf)
        names = goal.resolve_names(turn.board).names
        theirs = make_mask(map(turn.board.territories.index, names)) & others
        number = theirs.bit_count()
        least = min(number, 1) if isinstance(goal, TakeAny) else number
        return cls(theirs, least, least)

    def implies(self, other: "Conquest") -> bool:
        """Return whether reaching this goal always reaches the other goal, too.

        >>> both, first, any_of_three = (Conquest(0b11, 2, 2), Conquest(0b1, 1, 1),
        ...     Conquest(0b111, 1, 1))
        >>> both.implies(first), first.implies(any_of_three), any_of_three.implies(first)
        (True, True, False)
        >>> Conquest(0b11, 2, 2).implies(Conquest(0b111, 2, 2))
        True
        """
        outside = (self.among & ~other.among).bit_count()
        return self.least - outside >= other.enough or not other.enough


def list_implied(conquests: Mapping[Key, Conquest]) -> dict[Key, list[Key]]:
    """Return, for the key of each goal, the keys of the other goals that it implies."""
    return {
        key: [name for name, other in conquests.items() if name != key and one.implies(other)]
        for key, one in conquests.items()
    }
