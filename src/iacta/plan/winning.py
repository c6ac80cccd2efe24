"""Winning now: finds a goal for this turn that fulfils the victory condition.

A victory condition allows one or more ways to win (`iacta.game.victory.WayToWin`). If a way names
territories, the goal is to take these territories. If a way asks for a number of territories, the
goal is to own that number, each with enough armies; new armies, the fortifying move or both may
suffice. If there are several ways, the goal is to fulfil any of them. If the condition is fulfilled
but only checked at the end of the turn, the player need not attack.
"""

from collections.abc import Container, Iterable
from typing import NamedTuple, TypeAlias

from iacta.game import Fortify, Turn
from iacta.game.victory import MAX_WAYS_TO_WIN, WayToWin
from iacta.plan.goals import OwnAny, TakeAll, WinGame
from iacta.plan.opponents import begin_opponent_turn
from iacta.plan.placements import Placement
from iacta.plan.problem import enter_phase
from iacta.plan.reinforcement import place_armies

# Maximum number of ways to win in a goal; the ways with the fewest defenders count.
MAX_GOAL_WAYS = 256

WinningGoal: TypeAlias = TakeAll | OwnAny | WinGame


class Win(NamedTuple):
    """A way to win the game this turn: a goal, and perhaps moves that reach it without an attack.

    goal: the goal; reaching it wins the game.
    placement: new armies that win without an attack, possibly none; `None` if an attack is needed.
    move: a fortifying move that is needed after the placement; `None` if no move is needed.
    """

    goal: WinningGoal
    placement: Placement | None = None
    move: Fortify | None = None


def find_win(turn: Turn, player: str | None = None) -> Win | None:
    """Return the goal to win the game this turn, or `None` if no goal is found.

    turn: the turn before the attacks.
    player: the player who tries to win; `None` for the player to move. Another player gets the
        usual new armies and is not restricted by `keep` or `stay`.
    """
    search = _WinSearch(turn, turn.player if player is None else player)
    if (win := search.find_win_without_attacks()) is not None:
        return win
    goal = search.find_goal()
    return None if goal is None else Win(goal)


class _WinSearch:
    """A search for the ways in which a player can win the game in a turn."""

    def __init__(self, turn: Turn, player: str) -> None:
        self.turn, self.player = turn, player
        self.start = turn if player == turn.player else begin_opponent_turn(turn, player)
        self.new = self.start.place
        self.armies = dict(zip(turn.board.territories, turn.armies, strict=True))
        self.own = {*self.start.position.list_territories(player)}
        self.others = {name for name, n in self.armies.items() if n and name not in self.own}

    def find_win_without_attacks(self) -> Win | None:
        """Return a win by new armies, by the fortifying move or by ending the turn, or `None`."""
        ways = self.turn.victory.list_ways(self.turn, self.player)
        for way in ways if self.turn.victory.is_checked_at_end else ():
            strong = [name for name in self._sort(self.own) if self.armies[name] >= way.armies]
            if {*way.territories} <= self.own and len(strong) >= way.number:
                return Win(TakeAll(tuple(strong)), ())
        for way in ways:
            missing = sorted(
                (way.armies - self.armies[name], name)
                for name in self._sort(self.own)
                if self.armies[name] < way.armies
            )
            need = way.number - (len(self.own) - len(missing))
            if not 0 < need <= len(missing):
                continue
            chosen = [(name, number) for number, name in reversed(missing[:need])]
            if sum(number for _, number in chosen) <= self.new:
                return Win(TakeAll(tuple(name for name, _ in chosen)), tuple(chosen))
            # One territory gets its armies by the move, and the cheapest others get new armies.
            cases = [({name for _, name in missing[need - 1 :]}, missing[: need - 1])]
            for _, to in missing[: need - 1]:
                cases.append(({to}, [each for each in missing[:need] if each[1] != to]))
            for weak, others in cases:
                placement = tuple((name, number) for number, name in reversed(others))
                spare = self.new - sum(number for _, number in placement)
                found = self._find_move(placement, weak, way.armies, spare)
                if found is not None:
                    move, more = found
                    names = *(name for name, _ in placement), move.to
                    placement = *placement, *([(move.to, more)] if more else [])
                    return Win(TakeAll(names), placement, move)
        return None

    def _find_move(
        self, placement: Placement, weak: Container[str], minimum: int, spare: int
    ) -> tuple[Fortify, int] | None:
        """Return a fortifying move that gives a weak territory enough armies, or `None`.

        The number is the fewest new armies that the territory needs in addition to the move.

        placement: the new armies that are placed first.
        weak: the names of the territories with too few armies.
        minimum: the number of armies that a territory needs.
        spare: the number of new armies after the placement; no move is found if it is negative.
        """
        if self.start.fortify == "none" or self.start.phase == "over" or spare < 0:
            return None
        last = enter_phase(place_armies(self.start, placement), "fortify")
        found = list[tuple[Fortify, int]]()
        for move in last.actions():
            if isinstance(move, Fortify) and move.to in weak:
                more = minimum - last.armies_on(move.to) - move.armies
                left = last.armies_on(move.start) - move.armies
                is_bared = left < minimum <= left + move.armies
                if 0 <= more <= spare and not is_bared:
                    found.append((move, more))
        return min(found, key=lambda each: each[1], default=None)

    def find_goal(self) -> WinningGoal | None:
        """Return the goal to win in any way that is possible by attacks, or `None`.

        A single way with territories to take, or with a number of territories, needs no `WinGame`.
        """
        ways = self._list_useful_ways()
        if len(ways) != 1 or ways[0].armies > 1:
            listed = len(self.turn.victory.list_ways(self.turn, self.player))
            is_complete = len(ways) <= MAX_GOAL_WAYS and listed < MAX_WAYS_TO_WIN
            few = tuple(sorted(ways, key=self._count_defenders)[:MAX_GOAL_WAYS])
            return WinGame(few, self.turn.fortify, is_complete) if few else None
        (way,) = ways
        return TakeAll(way.territories) if way.territories else OwnAny(way.number)

    def _list_useful_ways(self) -> list[WayToWin]:
        """Return the ways to win, with the territories still to take, that no other way includes.

        Taking all territories of all rivals wins, too.
        """
        rivals = {*self.turn.survivors} - {self.player}
        owners = zip(self.turn.board.territories, self.turn.owners, strict=True)
        theirs = tuple(name for name, owner in owners if owner in rivals)
        found = list[WayToWin]()
        for way in (*self.turn.victory.list_ways(self.turn, self.player), WayToWin(theirs)):
            named = {*way.territories} - self.own
            # A territory without an owner cannot be attacked.
            if named <= self.others and (named or way.number):
                found.append(way._replace(territories=self._sort(named)))
        if len(found) > MAX_GOAL_WAYS:
            return [*dict.fromkeys(found)]
        useful = list[WayToWin]()
        for way in sorted(found, key=lambda way: len(way.territories)):
            if not any(self._includes(way, other) for other in useful):
                useful = [other for other in useful if not self._includes(other, way)] + [way]
        return useful

    def _count_defenders(self, way: WayToWin) -> int:
        return sum(self.armies[name] for name in way.territories)

    def _includes(self, way: WayToWin, other: WayToWin) -> bool:
        """Return whether fulfilling a way always fulfils another way, too."""
        if not {*other.territories} <= {*way.territories}:
            return False
        if not other.number:
            return True
        if way.number >= other.number and way.armies >= other.armies:
            return True
        return other.armies <= 1 and len(self.own) + len(way.territories) >= other.number

    def _sort(self, names: Iterable[str]) -> tuple[str, ...]:
        chosen = {*names}
        return tuple(name for name in self.turn.board.territories if name in chosen)
