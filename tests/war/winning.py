"""Wins within reach: an independent Python twin of `src/core/war/victory.hpp`.

The AIs take territories that win the game at once, and territories of a rival who is about to win.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush

from iacta.game import Turn
from iacta.game.victory import CoreMission

MAX_WANTED = 12  # a player who needs more territories is not about to win
WIN_PRIZE, STOP_PRIZE = 100.0, 10.0  # in armies
ATTACK_MARGIN = 1  # spare armies for an attack on a group of territories


class WinsInReach:
    """The wins within reach in a state of a turn.

    turn: the state of the turn.
    near: for each territory, the numbers of its neighbours.
    """

    def __init__(self, turn: Turn, near: Sequence[Sequence[int]]) -> None:
        self.turn, self.near = turn, near
        places = {name: t for t, name in enumerate(turn.board.territories)}
        self.continents = [
            [places[name] for name in each.territories] for each in turn.board.continents
        ]

    @cached_property
    def _missions(self) -> dict[str, CoreMission | None]:
        turn = self.turn
        found = turn.victory.list_missions(turn, turn.players)
        known = (None if each == CoreMission("hidden") else each for each in found)
        return dict(zip(turn.players, known, strict=True))

    def list_owned(self, player: str) -> list[int]:
        return [t for t, owner in enumerate(self.turn.owners) if owner == player]

    def _count_held(self, player: str, mission: CoreMission) -> int:
        return sum(self.turn.armies[t] >= mission.armies for t in self.list_owned(player))

    # The territories to take.

    def list_urgent(self, new: int) -> Iterator[tuple[int, float]]:
        """For each territory, yield the urgency of taking it, in armies.

        new: the new armies of the player to move.
        """
        turn = self.turn
        for name in turn.survivors:
            if name == turn.player:
                wanted = self.find_wanted(name, new)
                yield from ((t, WIN_PRIZE / len(wanted)) for t in wanted)
            elif not turn.victory.is_hidden(name) and self.find_wanted(name, turn.new_armies(name)):
                yield from ((t, STOP_PRIZE) for t in self._list_winning(name))

    def find_wanted(self, player: str, new: int) -> set[int]:
        """Return territories that a player is strong enough to take and that win the game."""
        mission = self._missions[player]
        if mission is None:
            return set()
        if mission.kind == "lands":
            wanted = self._find_cheap(player, mission.number - self._count_held(player, mission))
        else:
            wanted = self._find_ways(player, new, mission)
        armies, strength = self.turn.armies, new
        for v in self.list_owned(player):
            if any(c in wanted for c in self._list_near(v)):
                strength += self._count_spare(player, v)
        is_enough = strength >= sum(armies[t] + 1 for t in wanted)
        return wanted if wanted and is_enough else set()

    def _list_near(self, v: int) -> Sequence[int]:
        """Return the neighbours of a territory, and of a conquest into which it may advance."""
        pending = self.turn.pending if self.turn.phase == "advance" else None
        names = self.turn.board.territories
        if pending is None or names[v] != pending.start:
            return self.near[v]
        return (*self.near[v], *self.near[names.index(pending.to)])

    def _count_spare(self, player: str, v: int) -> int:
        turn, name = self.turn, self.turn.board.territories[v]
        keep = turn.rules.garrison
        if player == turn.player:
            if name in turn.stay:
                return 0
            keep = turn.keep.get(name, keep)
        return max(turn.armies[v] - keep, 0)

    def _find_cheap(self, player: str, number: int) -> set[int]:
        """Return `number` territories within reach with the fewest armies; empty if too few."""
        own, found = {*self.list_owned(player)}, set[int]()
        if number > MAX_WANTED:
            return found
        beside = {c for v in own for c in self.near[v]}
        while len(found) < number:
            rest = [c for c in beside - own - found if self.turn.armies[c]]
            if not rest:
                return set()
            best = min(rest, key=lambda c: (self.turn.armies[c], c))
            found.add(best)
            beside |= {*self.near[best]}
        return found

    def _find_ways(self, player: str, new: int, mission: CoreMission) -> set[int]:
        """Return the territories on the cheapest routes to the territories of a mission."""
        armies, own = self.turn.armies, {*self.list_owned(player)}
        most = sum(armies[t] for t in own) + new
        cost, before, done = dict.fromkeys(own, 0), dict[int, int](), set[int]()
        queue = [(0, v) for v in sorted(own)]
        while queue:
            paid, v = heappop(queue)
            if v in done:
                continue
            done.add(v)
            for c in self.near[v]:
                more = paid + armies[c] + 1
                if c not in done and armies[c] and more < cost.get(c, most + 1):
                    cost[c], before[c] = more, v
                    heappush(queue, (more, c))
        targets, found = self._find_targets(player, mission, cost, most), set[int]()
        if len(targets) > MAX_WANTED or not targets <= {*cost}:
            return found
        for t in targets:
            while t not in own:
                found.add(t)
                t = before[t]
        return found

    def _find_targets(
        self, player: str, mission: CoreMission, cost: dict[int, int], most: int
    ) -> set[int]:
        """Return the territories in a mission that belong to others."""
        own, entries, need = {*self.list_owned(player)}, mission.entries, mission.number
        if mission.kind == "eliminate":
            return {*self.list_owned(self.turn.players[entries[0]])}
        if mission.kind == "capitals":
            need -= sum(t in own for t in entries)
            first = {entries[0]} - own
            rest = sorted((cost.get(t, most + 1), t) for t in entries[1:] if t not in own)
            return first | {t for _, t in rest[: max(need - len(first), 0)]}
        named, others = set[int](), []
        for k, lands in enumerate(self.continents):
            if k in entries:
                named |= {*lands}
            elif lands and own >= {*lands}:
                need -= 1
            elif lands:
                missing = sum(self.turn.armies[t] + 1 for t in lands if t not in own)
                others.append((missing, k))
        for _, k in sorted(others)[: max(need, 0)]:
            named |= {*self.continents[k]}
        return named - own

    def _list_winning(self, player: str) -> list[int]:
        """Return the territories whose loss sets a player back from winning."""
        mission, own = self._missions[player], self.list_owned(player)
        if mission is None or mission.kind == "lands":
            return own
        named = {*mission.entries} if mission.kind == "capitals" else set[int]()
        if mission.kind == "continents":
            named = {t for k in mission.entries for t in self.continents[k]}
        return [t for t in own if t in named]

    # Wins by the number of armies on own territories.

    def _count_missing(self, mission: CoreMission | None) -> int | None:
        """Return how many more territories need enough armies; `None` for other missions."""
        if mission is None or mission.kind != "lands" or mission.armies < 1:
            return None
        return max(mission.number - self._count_held(self.turn.player, mission), 0)

    def find_winning_placement(self) -> tuple[int, int] | None:
        """Return the next placement that serves a win: a territory and a number of armies."""
        return self._find_placement_without_attacks() or self._find_placement_for_attacks()

    def _find_placement_for_attacks(self) -> tuple[int, int] | None:
        """Return the next placement for attacks on the wanted territories.

        Each new army goes to the stack with the smallest ratio of armies to need.
        """
        turn, own = self.turn, self.list_owned(self.turn.player)
        names, garrison = turn.board.territories, turn.rules.garrison
        room = {v: turn.armies[v] - turn.keep.get(names[v], garrison) for v in own}
        need, more = dict.fromkeys(own, 0), dict.fromkeys(own, 0)
        stacks = [v for v in own if names[v] not in turn.stay]
        for group in self._list_groups(self.find_wanted(turn.player, turn.place)):
            cost = ATTACK_MARGIN + sum(turn.armies[c] + 1 for c in group)
            beside = [v for v in stacks if group & {*self.near[v]}]
            fit = [v for v in beside if room[v] >= cost or v >= turn.first]
            if not fit:
                continue
            best = max(fit, key=lambda v: (room[v], -v))
            need[best] += cost
            room[best] -= cost
        fit = [v for v in own if need[v] and v >= turn.first]
        for _ in range(turn.place if fit else 0):
            more[min(fit, key=lambda v: (Fraction(room[v] + need[v] + more[v], need[v]), v))] += 1
        return next(((v, more[v]) for v in own if more[v]), None)

    def _list_groups(self, wanted: set[int]) -> Iterator[set[int]]:
        """Yield the groups of territories that borders connect, from the first territory on."""
        left = {*wanted}
        while left:
            group, fresh = set[int](), {min(left)}
            while fresh:
                c = min(fresh)
                group.add(c)
                fresh = (fresh | {*self.near[c]} & left) - group
            yield group
            left -= group

    def _find_placement_without_attacks(self) -> tuple[int, int] | None:
        turn, mission = self.turn, self._missions[self.turn.player]
        need = self._count_missing(mission)
        if not need or mission is None:
            return None
        own = self.list_owned(turn.player)
        missing = sorted(
            (mission.armies - turn.armies[t], t)
            for t in own
            if t >= turn.first and turn.armies[t] < mission.armies
        )[:need]
        if len(missing) < need or sum(number for number, _ in missing) > turn.place:
            return None
        first = min(t for _, t in missing)
        number = next(number for number, t in missing if t == first)
        return first, turn.place if first == own[-1] else number

    def may_win_by_move(self) -> bool:
        """Return whether fortifying can win at all."""
        return self._count_missing(self._missions[self.turn.player]) == 1

    def find_winning_move(self, start: int, to: int, most: int) -> int | None:
        """Return the fewest armies that win by moving from one own territory to another."""
        armies, mission = self.turn.armies, self._missions[self.turn.player]
        need = self._count_missing(mission)
        if need is None or mission is None:
            return None
        moved = max(mission.armies - armies[to], 0)
        bared = armies[start] >= mission.armies > armies[start] - moved
        gain = int(armies[to] < mission.armies) - int(bared)
        return moved if moved <= most and gain >= need else None
