"""Winning now: finds a goal for this turn that fulfils the victory condition.

A victory condition allows one or more ways to win (`iacta.game.victory.WayToWin`). If a way names
territories, the goal is to take all these territories. If a way requires a number of
territories, the goal is to own that number, each with enough armies. New armies alone may suffice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from iacta.board import Position
from iacta.game import Turn
from iacta.native.deadline import Deadline
from iacta.plan.goals import OwnAny, TakeAll
from iacta.plan.quick_estimates import QuickEstimate, estimate_goal
from iacta.plan.reinforcement import Placement, turn_options

WinningGoal: TypeAlias = TakeAll | OwnAny


class Win(NamedTuple):
    """A goal whose success wins the game.

    goal: the goal.
    at_most: an upper bound on the chance of any play to win; `None` if the bound of the goal
        applies.
    placement: new armies that win without an attack; `None` if an attack is needed.
    """

    goal: WinningGoal
    at_most: float | None = None
    placement: Placement | None = None


def find_win(turn: Turn, deadline: Deadline, player: str | None = None) -> Win | None:
    """Return the goal most likely to win the game this turn, or `None` if there is none.

    turn: the turn before the attacks.
    deadline: when to stop searching.
    player: the player who tries to win; `None` for the player to move. Another player gets the
        usual new armies and is not restricted by `keep` or `stay`.
    """
    search = _WinSearch(turn, turn.player if player is None else player, deadline)
    if (placement := search.find_placement()) is not None:
        return Win(TakeAll(tuple(name for name, _ in placement)), 1.0, placement)
    goals = [*dict.fromkeys(search.list_goals())]
    if len(goals) < 2:
        return Win(goals[0]) if goals else None
    looks = search.estimate(goals)
    best = max(goals, key=lambda goal: looks[goal].chance)
    return Win(best, min(sum(each.at_most for each in looks.values()), 1.0))


class _WinSearch:
    """A search for the goal that is most likely to win the game."""

    def __init__(self, turn: Turn, player: str, deadline: Deadline) -> None:
        self.turn, self.player, self.deadline = turn, player, deadline
        is_mover = player == turn.player
        self.position: Position = replace(turn.position, player=player)
        self.options = turn_options(turn)
        if not is_mover:
            self.options |= {"keep": None, "stay": ()}
        self.new = turn.place if is_mover else turn.new_armies(player)
        self.armies = dict(zip(turn.board.territories, turn.armies, strict=True))
        self.own = {*self.position.list_territories(player)}
        self.others = {name for name, n in self.armies.items() if n and name not in self.own}

    def find_placement(self) -> Placement | None:
        """Return a placement of new armies that wins without an attack, or `None`."""
        for way in self.turn.victory.list_ways(self.turn, self.player):
            missing = sorted(
                (way.armies - self.armies[name], name)
                for name in self._sort(self.own)
                if self.armies[name] < way.armies
            )
            need = way.number - (len(self.own) - len(missing))
            chosen = missing[: max(need, 0)]
            if 0 < need == len(chosen) and sum(number for number, _ in chosen) <= self.new:
                return tuple((name, number) for number, name in reversed(chosen))
        return None

    def list_goals(self) -> Iterator[WinningGoal]:
        """Yield goals whose success wins the game."""
        for way in self.turn.victory.list_ways(self.turn, self.player):
            named = {*way.territories} - self.own
            if not named <= self.others:
                continue  # an unowned territory cannot be taken
            if named:
                yield TakeAll(self._sort(named))
            elif way.number > len(self.own) or way.armies > 1:
                yield OwnAny(way.number, max(way.armies, 1))

    def _sort(self, names: Iterable[str]) -> tuple[str, ...]:
        chosen = {*names}
        return tuple(name for name in self.turn.board.territories if name in chosen)

    def estimate(self, goals: Sequence[WinningGoal]) -> dict[WinningGoal, QuickEstimate]:
        """Return quick estimates of the chances to reach some goals."""
        looks = dict[WinningGoal, QuickEstimate]()
        for left, goal in zip(range(len(goals), 0, -1), goals, strict=True):
            part = self.deadline.take_share(1 / left)
            looks[goal] = estimate_goal(self.position, goal, self.new, self.options, part)
        return looks
