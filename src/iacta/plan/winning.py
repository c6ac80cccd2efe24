"""Winning now: finds a goal for this turn that fulfils the victory condition.

A victory condition allows one or more ways to win (`iacta.game.victory.WayToWin`). If a way names
territories, the goal is to take these territories. If a way asks for a number of territories, the
goal is to own that number, each with enough armies; new armies, the fortifying move or both may
suffice. If the condition is fulfilled but only checked at the end of the turn, the player need not
attack.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from iacta.game import Fortify, Turn
from iacta.game.victory import MAX_WAYS_TO_WIN
from iacta.native.deadline import Deadline
from iacta.plan.goals import OwnAny, TakeAll
from iacta.plan.opponents import begin_opponent_turn
from iacta.plan.problem import enter_phase
from iacta.plan.quick_estimates import QuickEstimate, estimate_goal
from iacta.plan.reinforcement import Placement, place_armies

MAX_RIVAL_TERRITORIES = 12  # taking all rival territories is a goal only if there are no more

WinningGoal: TypeAlias = TakeAll | OwnAny


class Win(NamedTuple):
    """A way to win the game this turn: a goal, and perhaps moves that reach it without an attack.

    goal: the goal; reaching it wins the game.
    at_most: an upper bound on the chance of any play to win; `None` if the bound of the goal
        applies.
    placement: new armies that win without an attack, possibly none; `None` if an attack is needed.
    move: a fortifying move that is needed after the placement; `None` if no move is needed.
    """

    goal: WinningGoal
    at_most: float | None = None
    placement: Placement | None = None
    move: Fortify | None = None


def find_win(turn: Turn, deadline: Deadline, player: str | None = None) -> Win | None:
    """Return the goal most likely to win the game this turn, or `None` if no goal is found.

    turn: the turn before the attacks.
    deadline: when to stop searching.
    player: the player who tries to win; `None` for the player to move. Another player gets the
        usual new armies and is not restricted by `keep` or `stay`.
    """
    search = _WinSearch(turn, turn.player if player is None else player, deadline)
    if (win := search.find_win_without_attacks()) is not None:
        return win
    goals = [*dict.fromkeys(search.list_goals())]
    if not goals:
        return None
    # The upper bounds ignore the fortifying move after the attacks, which may still give a
    # territory enough armies.
    needs_armies = any(isinstance(goal, OwnAny) and goal.armies > 1 for goal in goals)
    is_bounded = not needs_armies or turn.fortify == "none"
    if len(turn.victory.list_ways(turn, search.player)) >= MAX_WAYS_TO_WIN:
        is_bounded = False  # the list may lack ways to win
    if len(goals) == 1:
        return Win(goals[0], None if is_bounded else 1.0)
    looks = search.estimate(goals)
    best = max(goals, key=lambda goal: looks[goal].chance)
    at_most = min(sum(each.at_most for each in looks.values()), 1.0)
    return Win(best, at_most if is_bounded else 1.0)


class _WinSearch:
    """A search for the goal that is most likely to win the game."""

    def __init__(self, turn: Turn, player: str, deadline: Deadline) -> None:
        self.turn, self.player, self.deadline = turn, player, deadline
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
                return Win(TakeAll(tuple(strong)), 1.0, ())
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
                return Win(TakeAll(tuple(name for name, _ in chosen)), 1.0, tuple(chosen))
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
                    return Win(TakeAll(names), 1.0, placement, move)
        return None

    def _find_move(
        self, placement: Placement, weak: Container[str], least: int, spare: int
    ) -> tuple[Fortify, int] | None:
        """Return a fortifying move that gives a weak territory enough armies, or `None`.

        The number is the fewest new armies that the territory needs in addition to the move.

        placement: the new armies that are placed first.
        weak: the names of the territories with too few armies.
        least: the number of armies that a territory needs.
        spare: the number of new armies after the placement; no move is found if it is negative.
        """
        if self.start.fortify == "none" or self.start.phase == "over" or spare < 0:
            return None
        last = enter_phase(place_armies(self.start, placement), "fortify")
        found = list[tuple[Fortify, int]]()
        for move in last.actions():
            if isinstance(move, Fortify) and move.to in weak:
                more = least - last.armies_on(move.to) - move.armies
                left = last.armies_on(move.start) - move.armies
                is_bared = left < least <= left + move.armies
                if 0 <= more <= spare and not is_bared:
                    found.append((move, more))
        return min(found, key=lambda each: each[1], default=None)

    def list_goals(self) -> Iterator[WinningGoal]:
        """Yield goals that win the game if they are reached this turn."""
        for way in self.turn.victory.list_ways(self.turn, self.player):
            named = {*way.territories} - self.own
            if not named <= self.others:
                continue  # a territory without an owner cannot be attacked
            if named:
                yield TakeAll(self._sort(named))
            elif way.number > len(self.own) or way.armies > 1:
                yield OwnAny(way.number, max(way.armies, 1))
        rivals = {*self.turn.survivors} - {self.player}
        theirs = [
            name
            for name, owner in zip(self.turn.board.territories, self.turn.owners, strict=True)
            if owner in rivals
        ]
        if 0 < len(theirs) <= MAX_RIVAL_TERRITORIES and {*theirs} <= self.others:
            yield TakeAll(tuple(theirs))  # the player would be the last survivor, who wins

    def _sort(self, names: Iterable[str]) -> tuple[str, ...]:
        chosen = {*names}
        return tuple(name for name in self.turn.board.territories if name in chosen)

    def estimate(self, goals: Sequence[WinningGoal]) -> dict[WinningGoal, QuickEstimate]:
        """Return a quick estimate of the chance to reach each goal."""
        looks = dict[WinningGoal, QuickEstimate]()
        for left, goal in zip(range(len(goals), 0, -1), goals, strict=True):
            part = self.deadline.take_share(1 / left)
            looks[goal] = estimate_goal(self.start, goal, part)
        return looks
