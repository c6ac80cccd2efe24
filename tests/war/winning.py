"""Wins within reach: an independent Python twin of `src/core/war/victory.hpp`.

The AIs take territories that win the game at once, and territories of a rival who is about to win.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations

from iacta.game import Missions, Turn
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
        found = turn.victory.encode_missions(turn, turn.players)
        known = (None if each == CoreMission("hidden") else each for each in found)
        missions = zip(turn.players, known, strict=True)
        return {name: mission and self._choose_nearer(name, mission) for name, mission in missions}

    def _choose_nearer(self, player: str, mission: CoreMission) -> CoreMission:
        """Return a mission, or the number of territories that also wins if it costs less."""
        common = CoreMission("lands", self.turn.victory.common_lands)
        if not common.number or self._count_cost(player, mission) <= self._count_cost(
            player, common
        ):
            return mission
        return common

    def pursues_common(self, player: str) -> bool:
        """Return whether the number of territories that also wins costs less than the mission."""
        common = CoreMission("lands", self.turn.victory.common_lands)
        return common.number > 0 and self._missions[player] == common

    def _count_cost(self, player: str, mission: CoreMission) -> int:
        """Return the armies that a mission costs, without the way to its territories."""
        armies, own = self.turn.armies, {*self.list_owned(player)}
        stay = max(mission.armies, 1)
        costs = {t: each + stay for t, each in enumerate(armies) if t not in own and each}
        if mission.kind != "lands":
            every = {t: costs.get(t, 0) for t in range(len(armies))} | dict.fromkeys(own, 0)
            return sum(every[t] for t in self._find_targets(player, mission, every, 0))
        lacks = {t: mission.armies - armies[t] for t in own if armies[t] < mission.armies}
        need = max(mission.number - self._count_held(player, mission), 0)
        return sum(sorted((costs | lacks).values())[:need])

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
                wanted = self.find_wanted(name, new) or ()
                yield from ((t, WIN_PRIZE / len(wanted)) for t in wanted)
            elif not turn.victory.is_hidden(name) and (
                self.find_wanted(name, turn.new_armies(name)) is not None
            ):
                yield from ((t, STOP_PRIZE) for t in self._list_winning(name))

    def find_wanted(self, player: str, new: int) -> set[int] | None:
        """Return territories that a player is strong enough to take and that win the game.

        The result is empty if the player wins without an attack, and `None` without a way to win.
        """
        mission = self._missions[player]
        if mission is None:
            return None
        if self.turn.victory.is_checked_at_end and self._has_fulfilled(player):
            return set()
        if mission.kind == "lands":
            stay = max(mission.armies, 1)
            weak = self._list_weak(player, new)
            need = mission.number - self._count_held(player, mission) - len(weak)
            new -= sum(number for number, _ in weak)
            if need > 0 and player == self.turn.player:
                need -= self._can_raise_by_move(weak)
            if (lacks := self._count_armies_to_advance(player, mission)) > 0:
                need, new = need - 1, new - lacks
            return self._find_cheap(player, need, stay, new)
        wanted = self._find_ways(player, new, mission)
        if not wanted:
            return None
        armies, strength = self.turn.armies, new
        for v in self.list_owned(player):
            if any(c in wanted for c in self._list_near(v)):
                strength += self._count_spare(player, v)
        return wanted if strength >= sum(armies[t] + 1 for t in wanted) else None

    def find_stay(self, new: int) -> int:
        """Return the armies that must stay on each territory for a win in reach, or 0.

        new: the new armies of the player to move.
        """
        least = self.find_least_armies()
        return least if least and self.find_wanted(self.turn.player, new) is not None else 0

    def find_least_armies(self, player: str = "") -> int:
        """Return the armies that a territory needs to count for a mission."""
        mission = self._missions[player or self.turn.player]
        return mission.armies if mission else 0

    def _has_fulfilled(self, player: str) -> bool:
        turn = self.turn.victory
        assert isinstance(turn, Missions)
        return replace(turn, at_end=False).is_fulfilled(self.turn, player)

    def wins_at_end(self) -> bool:
        """Return whether the player to move wins if the turn ends now."""
        return self.turn.victory.is_checked_at_end and self._has_fulfilled(self.turn.player)

    def _list_weak(self, player: str, new: int) -> list[tuple[int, int]]:
        """Return the territories that new armies make strong: the missing armies, and the number.

        A territory is weak if it has too few armies to count for its owner's mission.
        """
        turn, mission, found = self.turn, self._missions[player], list[tuple[int, int]]()
        if mission is None or mission.kind != "lands" or mission.armies < 1:
            return found
        first = turn.first if player == turn.player else 0
        missing = ((mission.armies - turn.armies[t], t) for t in self.list_owned(player))
        most = mission.number - self._count_held(player, mission)
        for number, t in sorted(each for each in missing if each[0] > 0 and each[1] >= first):
            if len(found) < most and number <= new:
                found.append((number, t))
                new -= number
            else:
                break
        return found

    def _can_raise_by_move(self, raised: list[tuple[int, int]]) -> bool:
        """Return whether the fortifying move can make a further territory strong.

        raised: the territories that new armies make strong.
        """
        turn, least = self.turn, self.find_least_armies()
        if least < 2 or turn.phase == "advance":
            return False
        own = {*self.list_owned(turn.player)} - {t for _, t in raised}
        for v in self.list_owned(turn.player):
            spare = self._count_spare(turn.player, v)
            ends = {*self.near[v]} if turn.fortify == "adjacent" else self._find_connected(v)
            if turn.fortify != "none" and any(
                0 < least - turn.armies[t] <= spare for t in (ends & own) - {v}
            ):
                return True
        return False

    def _find_connected(self, start: int) -> set[int]:
        own, seen, fresh = {*self.list_owned(self.turn.player)}, {start}, [start]
        while fresh:
            more = ({*self.near[fresh.pop()]} & own) - seen
            seen |= more
            fresh += more
        return seen

    def _count_armies_to_advance(self, player: str, mission: CoreMission) -> int:
        pending = self.turn.pending if self.turn.phase == "advance" else None
        if player != self.turn.player or pending is None:
            return 0
        start, to = map(self.turn.board.territories.index, (pending.start, pending.to))
        lacks = mission.armies - self.turn.armies[to]
        limit = self.turn.rules_of.get(pending.to, self.turn.rules).most_advance
        spare = self._count_spare(player, start)
        if limit is not None:
            spare = min(spare, max(limit - self.turn.armies[to], 0))
        return lacks if lacks <= spare else 0

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
        least = self.find_least_armies(player)
        return max(turn.armies[v] - (max(keep, least) if turn.armies[v] >= least else keep), 0)

    def _find_cheap(self, player: str, number: int, stay: int, new: int) -> set[int] | None:
        """Return a number of territories that stacks can take; `None` if there are too few.

        stay: the armies that must stay on each territory.
        new: the new armies, which may strengthen any stack.
        """
        own, found, armies = {*self.list_owned(player)}, set[int](), self.turn.armies
        if number > MAX_WANTED:
            return None
        room = {v: self._count_spare(player, v) for v in self.list_owned(player)}
        resting = self.turn.stay if player == self.turn.player else ()
        near = {
            v: {*self._list_near(v)} - own
            for v in room
            if (room[v] or new > 0) and self.turn.board.territories[v] not in resting
        }
        while len(found) < number:
            pairs = [(v, c) for v in near for c in near[v] - found if armies[c]]
            if not pairs:
                return None
            fit = [(v, c) for v, c in pairs if armies[c] + stay <= room[v] + new]
            if fit:
                first, land = min(fit, key=lambda each: (armies[each[1]], -room[each[0]], *each))
                using = [first]
            else:
                land = min((c for _, c in pairs), key=lambda c: (armies[c], c))
                using = [v for v in near if land in near[v]]
            cost = armies[land] + stay
            for v in using:
                used = min(room[v], cost)
                room[v], cost = room[v] - used, cost - used
                near[v] |= {*self.near[land]} - own
            if cost > new:
                return None
            new -= cost
            found.add(land)
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
        if mission.kind == "parts":
            return self._find_parts(own, mission, cost, most) - own
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

    def _find_parts(
        self, own: set[int], mission: CoreMission, cost: dict[int, int], most: int
    ) -> set[int]:
        """Return the cheapest territories of a mission for parts of continents."""
        armies, found, named = self.turn.armies, set[int](), set[int]()
        for k, number in zip(mission.entries[::2], mission.entries[1::2], strict=True):
            lands = self.continents[k]
            named |= {*lands}
            left = [(not armies[t], cost.get(t, most + 1), t) for t in lands if t not in own]
            need = max(number - len(own & {*lands}), 0)
            found |= {t for *_, t in sorted(left)[:need]}
        named |= {t for t, each in enumerate(armies) if not each and t not in own}
        price = {t: cost.get(t, most + 1) for t in range(len(armies))}
        return found | self._find_trio(own, mission, named, price)

    def _find_trio(
        self, own: set[int], mission: CoreMission, named: set[int], price: Mapping[int, int]
    ) -> set[int]:
        """Return the cheapest three neighbours that are not in `named`, if the mission asks so."""
        free = [t for t in range(len(self.near)) if t not in named] if mission.number else []
        trios = [
            (sum(0 if t in own else price[t] for t in trio), trio)
            for trio in combinations(free, 3)
            if all(a in self.near[b] or b in self.near[a] for a, b in combinations(trio, 2))
        ]
        return {*(min(trios)[1] if trios else ())}

    def _list_winning(self, player: str) -> list[int]:
        """Return the territories whose loss sets a player back from winning."""
        mission, own = self._missions[player], self.list_owned(player)
        if mission is None or mission.kind == "lands":
            return own
        named = {*mission.entries} if mission.kind == "capitals" else set[int]()
        if mission.kind == "continents":
            named = {t for k in mission.entries for t in self.continents[k]}
        if mission.kind == "parts":
            named = {t for k in mission.entries[::2] for t in self.continents[k]}
            empty = {t for t, each in enumerate(self.turn.armies) if not each and t not in own}
            price = dict.fromkeys(range(len(self.near)), 1)
            named |= self._find_trio({*own}, mission, named | empty, price)
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
        names, stay = turn.board.territories, max(self.find_least_armies(), 1)
        wanted = self.find_wanted(turn.player, turn.place)
        if not wanted:
            return None
        room = {v: self._count_spare(turn.player, v) for v in own}
        need, more = dict.fromkeys(own, 0), dict.fromkeys(own, 0)
        more |= {t: number for number, t in self._list_weak(turn.player, turn.place)}
        stacks = [v for v in own if names[v] not in turn.stay]
        for group in self._list_groups(wanted):
            cost = ATTACK_MARGIN + sum(turn.armies[c] + stay for c in group)
            beside = [v for v in stacks if group & {*self.near[v]}]
            fit = [v for v in beside if room[v] >= cost or v >= turn.first]
            if not fit:
                continue
            best = max(fit, key=lambda v: (room[v], -v))
            need[best] += cost
            room[best] -= cost
        fit = [v for v in own if need[v] and v >= turn.first]
        for _ in range(turn.place - sum(more.values()) if fit else 0):
            more[min(fit, key=lambda v: (Fraction(room[v] + need[v] + more[v], need[v]), v))] += 1
        first = next((v for v in own if more[v]), None)
        return None if first is None else self._place(first, more[first])

    def _place(self, t: int, number: int) -> tuple[int, int]:
        """Return a placement; the last territory of the player gets all armies that are left."""
        is_last = t == self.list_owned(self.turn.player)[-1]
        return t, self.turn.place if is_last else number

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
        need = self._count_missing(self._missions[self.turn.player])
        missing = self._list_weak(self.turn.player, self.turn.place)
        if not need or not missing or len(missing) + self._can_raise_by_move(missing) < need:
            return None
        number, first = min(missing, key=lambda each: each[1])
        return self._place(first, number)

    def may_win_by_fortifying(self) -> bool:
        """Return whether fortifying can win at all."""
        return self._count_missing(self._missions[self.turn.player]) == 1

    def find_armies_to_win_by_moving(self, start: int, to: int, most: int) -> int | None:
        """Return the fewest armies that win by moving from one own territory to another."""
        armies, mission = self.turn.armies, self._missions[self.turn.player]
        need = self._count_missing(mission)
        if need is None or mission is None:
            return None
        moved = max(mission.armies - armies[to], 0)
        bared = armies[start] >= mission.armies > armies[start] - moved
        gain = int(armies[to] < mission.armies) - int(bared)
        return moved if moved <= most and gain >= need else None
