"""Winning now: finds a goal for this turn that fulfils the victory condition.

A victory condition allows one or more ways to win (`iacta.game.victory.WayToWin`). If a way names
territories, the goal is to take all of them. If a way asks for several armies on each territory, it
is considered only if new armies alone can fulfil it. If a way asks for a number of territories, the
player can choose which: with n territories missing,

    max_S V(take all of S) ≤ V(own any n more) ≤ V(take any territory),   |S| = n.

The search starts from sets of territories with few defenders, grown from the player's territories
and from each single territory of the player. It then exchanges single territories as long as the
quick estimate of the chance rises.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import NamedTuple, TypeAlias

from iacta.board import Position
from iacta.game import Turn
from iacta.game.victory import WayToWin
from iacta.native.deadline import Deadline
from iacta.plan.goals import TakeAll, TakeAny
from iacta.plan.quick_estimates import QuickEstimate, estimate_goal
from iacta.plan.reinforcement import Placement, turn_options

MAX_SETS = 6  # number of sets of territories to start from
MAX_ESTIMATES = 12  # number of quick estimates in one search
BOUND_SHARE = 0.2  # fraction of the time for the upper bound

Conquest: TypeAlias = TakeAll | TakeAny


class Win(NamedTuple):
    """A goal whose success wins the game.

    goal: the goal.
    at_most: an upper bound on the chance of any play to win; `None` if the bound of the goal
        applies.
    placement: new armies that win without an attack; `None` if an attack is needed.
    """

    goal: Conquest
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
    best = search.find_best(goals)
    return Win(best, search.bound(goals))


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
        self.known = dict[Conquest, QuickEstimate]()
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

    def list_goals(self) -> Iterator[Conquest]:
        """Yield goals that win; if there are many, only those with the fewest defenders."""
        for way in self.turn.victory.list_ways(self.turn, self.player):
            named = {*way.territories} - self.own
            if not named <= self.others:
                continue  # an unowned territory cannot be taken
            if named:
                yield TakeAll(self._sort(named))
            yield from self._list_sets(way)

    def _list_sets(self, way: WayToWin) -> Iterator[Conquest]:
        if way.armies > 1:
            return  # a conquest may leave fewer armies than needed
        need = way.number - len(self.own)
        if not 0 < need <= len(self.others):
            return
        if need == 1:
            yield TakeAny(self._sort(self.others))
        elif comb(len(self.others), need) <= MAX_SETS:
            yield from (TakeAll(self._sort(each)) for each in combinations(self.others, need))
        else:
            starts = [self.own, *({name} for name in self._sort(self.own))]
            sets = {frozenset(self._grow(start, need)) for start in starts}
            ranked = sorted(
                (sum(self.armies[name] + 1 for name in each), self._sort(each))
                for each in sets
                if len(each) == need
            )
            yield from (TakeAll(names) for _, names in ranked[:MAX_SETS])

    def _grow(self, start: Iterable[str], need: int) -> set[str]:
        """Choose adjacent territories one by one, each time the one with the fewest armies."""
        found, board = set[str](), self.turn.board
        beside = {near for name in start for near in board.neighbours(name)}
        while len(found) < need:
            rest = (beside & self.others) - found
            if not rest:
                break
            best = min(rest, key=lambda name: (self.armies[name], name))
            found.add(best)
            beside |= {*board.neighbours(best)}
        return found

    def _sort(self, names: Iterable[str]) -> tuple[str, ...]:
        chosen = {*names}
        return tuple(name for name in self.turn.board.territories if name in chosen)

    def find_best(self, goals: list[Conquest]) -> Conquest:
        """Return the likeliest goal after improving it by exchanging single territories."""
        best = max(goals, key=self._estimate)
        counts = [way.number for way in self.turn.victory.list_ways(self.turn, self.player)]
        if not any(counts) or isinstance(best, TakeAny):
            return best
        is_better = True
        while is_better and len(self.known) < MAX_ESTIMATES and not self.deadline.is_over:
            is_better = False
            for goal in self._exchange(best):
                if len(self.known) >= MAX_ESTIMATES or self.deadline.is_over:
                    break
                if self._estimate(goal) > self._estimate(best):
                    best, is_better = goal, True
        return best

    def _exchange(self, goal: Conquest) -> Iterator[TakeAll]:
        """Yield variants of a goal with one territory exchanged, fewest defenders first."""
        names = {*goal.names}
        board = self.turn.board
        beside = {near for name in (*self.own, *names) for near in board.neighbours(name)}
        pairs = sorted(
            (self.armies[new] - self.armies[old], old, new)
            for old in names
            for new in (beside & self.others) - names
        )
        yield from (TakeAll(self._sort(names - {old} | {new})) for _, old, new in pairs)

    def _estimate(self, goal: Conquest) -> float:
        if goal not in self.known:
            part = self.deadline.take_share(1.0 / (MAX_ESTIMATES - len(self.known) + 1))
            self.known[goal] = estimate_goal(self.position, goal, self.new, self.options, part)
        return self.known[goal].chance

    def bound(self, goals: list[Conquest]) -> float:
        """Return an upper bound on the chance to win in any way."""
        ways = self.turn.victory.list_ways(self.turn, self.player)
        if not any(way.number for way in ways):
            return min(sum(self.known[goal].at_most for goal in goals), 1.0)
        goal = TakeAny(self._sort(self.others))
        part = self.deadline.take_share(BOUND_SHARE)
        return estimate_goal(self.position, goal, self.new, self.options, part).at_most
