"""The simple AI as a policy for `Turn`: an independent Python twin of the C++ implementation.

The twin follows the description in `iacta.war.players`. It shares only the weights and the odds of
battles with the core, and takes the same action in every state of a turn.
"""

from collections.abc import Iterator
from functools import cached_property, lru_cache, reduce
from itertools import combinations
from operator import add
from typing import NamedTuple

from iacta.board import Board, Position
from iacta.game import Action, Advance, Attack, EndPhase, Fortify, Hand, Place, Reveal, Trade, Turn
from iacta.game.cards import SYMBOLS, list_card_sets
from iacta.rules.rules import Rules
from iacta.war.games import War
from iacta.war.players import PLAYERS, Player
from tests.war.winning import WIN_PRIZE, WinsInReach

NEVER = -1e300


class SimplePolicy:
    """A policy that plays like an AI of the core without aims.

    player: the weights of the AI.

    >>> from iacta import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1")
    >>> SimplePolicy()(turn)
    Attack('Peru', 'Argentina', 3)
    """

    def __init__(self, player: Player = PLAYERS["simple"]) -> None:
        self.player = player

    def __call__(self, turn: Turn) -> Action:
        view = _View(turn, self.player)
        match turn.phase:
            case "trade":
                return view.choose_trade()
            case "place":
                return view.choose_placement()
            case "attack":
                return view.choose_attack()
            case "defend":
                return turn.careful_defence()
            case "advance":
                return view.choose_advance()
        return view.choose_fortify()


@lru_cache
def _open_battles(rules: Rules) -> War:
    """Open the core on a board of two territories, to look up the odds of battles."""
    board = Board.from_edges("battle", [("start", "to")])
    return War(Turn(Position(board, "us", {"start": ("us", 1), "to": ("them", 1)}), rules))


class _BattleValue(NamedTuple):
    value: float
    won: float
    lost: float


class _View:
    """The quantities that the AI derives from a state of a turn."""

    def __init__(self, turn: Turn, player: Player, more: int = 0) -> None:
        self.turn, self.n, self.more = turn, player, more
        self.names = turn.board.territories
        places = {name: t for t, name in enumerate(self.names)}
        self.near = [sorted(places[c] for c in turn.board.neighbours(v)) for v in self.names]
        self.into = [[v for v, row in enumerate(self.near) if t in row] for t in range(len(places))]
        self.continents = [
            (each.bonus, frozenset(places[t] for t in each.territories))
            for each in turn.board.continents
        ]
        self.mine = [t for t, owner in enumerate(turn.owners) if owner == turn.player]
        self.new = turn.place + more if turn.phase in ("trade", "place") else 0

    def count_armies(self, owner: str) -> int:
        return sum(n for n, o in zip(self.turn.armies, self.turn.owners, strict=True) if o == owner)

    def count_cards(self, owner: str) -> int:
        return self.turn.hand_of(owner).number

    def count_spare(self, v: int) -> int:
        turn = self.turn
        return turn.armies[v] - turn.keep.get(self.names[v], turn.rules.garrison)

    def count_movable(self, v: int) -> int:
        keep = self.turn.keep.get(self.names[v], self.turn.rules.garrison)
        return max(self.count_spare(v) - (keep == 0), 0)

    def is_resting(self, v: int) -> bool:
        return self.names[v] in self.turn.stay

    def list_enemies(self, lands: list[int]) -> Iterator[int]:
        turn = self.turn
        return (c for c in lands if turn.owners[c] != turn.player and turn.armies[c])

    def is_front(self, v: int) -> bool:
        return any(True for _ in self.list_enemies([*self.near[v], *self.into[v]]))

    def find_threat(self, v: int) -> int:
        turn = self.turn
        stacks = (c for c in self.list_enemies(self.into[v]) if turn.owners[c] in turn.players)
        return max((0, *(turn.armies[c] - turn.rules.garrison for c in stacks)))

    def is_owner(self, owner: str, lands: frozenset[int]) -> bool:
        return bool(lands) and all(self.turn.owners[t] == owner for t in lands)

    @cached_property
    def next_set(self) -> int:
        trade = self.turn.trade
        return trade.worth(Hand(1, 1, 1)) if trade.is_fixed else trade.nth(0)

    @cached_property
    def armies_in_reach(self) -> dict[int | str, int]:
        """The number of armies that could attack each continent and each player."""
        found: dict[int | str, int] = {}
        for v in self.mine:
            if self.count_spare(v) > 0 and not self.is_resting(v):
                seen: set[int | str] = set()
                for c in self.list_enemies(self.near[v]):
                    seen.add(self.turn.owners[c])
                    seen |= {k for k, (_, lands) in enumerate(self.continents) if c in lands}
                for each in seen:
                    found[each] = found.get(each, 0) + self.count_spare(v)
        return found

    @cached_property
    def prizes(self) -> dict[object, tuple[float, int]]:
        """The prize of each goal within reach, and its number of territories."""
        turn, n, found = self.turn, self.n, dict[object, tuple[float, int]]()
        for k, (bonus, lands) in enumerate(self.continents):
            left = [t for t in lands if turn.owners[t] != turn.player]
            if bonus < 1 or not left or not self.armies_in_reach.get(k):
                continue
            cost = len(left) + sum(turn.armies[t] for t in left)
            if self.armies_in_reach[k] + self.new > n.near_continent * cost:
                found[k] = n.continent_prize * bonus, len(left)
        for each in turn.survivors:
            lands_left = turn.owners.count(each)
            if each == turn.player or not self.armies_in_reach.get(each):
                continue
            if self.armies_in_reach[each] + self.new > n.near_player * (
                self.count_armies(each) + lands_left
            ):
                prize = n.elimination + n.their_cards * self.count_cards(each) * self.next_set / 3.0
                if len(turn.survivors) == 2:
                    prize += n.last_rival
                found[each] = prize, lands_left
        return found

    @cached_property
    def wins(self) -> WinsInReach:
        return WinsInReach(self.turn, self.near)

    @cached_property
    def urgency(self) -> dict[int, float]:
        """The urgency of taking territories, in order to win now or to stop a rival."""
        found: dict[int, float] = {}
        for t, urgency in self.wins.list_urgent(self.new):
            found[t] = found.get(t, 0.0) + urgency
        return found

    def count_room(self, v: int) -> int:
        """Return the armies that may leave a territory, without those that a win needs there."""
        armies, stay = self.turn.armies[v], self.wins.find_stay(self.new)
        return min(self.count_spare(v), armies - stay if armies >= stay else armies)

    # Values of attacks.

    @cached_property
    def _territory_values(self) -> dict[int, float]:
        return {}

    def value_territory(self, c: int) -> float:
        if c not in self._territory_values:
            self._territory_values[c] = self._compute_territory_value(c)
        return self._territory_values[c]

    def _compute_territory_value(self, c: int) -> float:
        turn, n, owner = self.turn, self.n, self.turn.owners[c]
        value = n.territory
        if turn.cards is not None and not turn.cards_due:
            value += n.card
        for k, (bonus, lands) in enumerate(self.continents):
            if bonus < 1 or c not in lands:
                continue
            after = sum(turn.owners[t] == turn.player for t in lands) + 1
            share = after / len(lands)
            if owner in turn.players and self.is_owner(owner, lands):
                value += n.breaking * bonus
            value += n.progress * bonus * share * share
            if after == len(lands):
                value += n.completing * bonus
            prize, left = self.prizes.get(k, (0.0, 1))
            value += prize / left
        if owner in turn.players:
            alive = len(turn.survivors)
            value += n.leader * (float(self.count_armies(owner)) * alive / sum(turn.armies) - 1.0)
            prize, left = self.prizes.get(owner, (0.0, 1))
            value += prize / left
        return value * (1.0 + n.growth * sum(turn.armies)) + self.urgency.get(c, 0.0)

    def evaluate_battle(self, c: int, able: int) -> _BattleValue:
        rules = self.turn.rules_of.get(self.names[c], self.turn.rules)
        won, lost, killed = _open_battles(rules).compute_odds(1, able, self.turn.armies[c])
        n = self.n
        owned = sum(map(bool, self.turn.owners))
        calm = min(1.0, n.patience * owned / sum(self.turn.armies))
        value = won * self.value_territory(c) + n.killed * killed - n.lost * calm * lost
        value -= (1.0 - won) * n.failed
        return _BattleValue(value, won, lost)

    def find_exposure(self, v: int, c: int) -> float:
        found = 0.0
        for bonus, lands in self.continents:
            if v in lands and bonus > 0 and self.is_owner(self.turn.player, lands):
                found += self.n.bare * bonus
        return found if any(each != c for each in self.list_enemies(self.into[v])) else 0.0

    def find_best_value(self, v: int, able: int) -> float:
        values = (
            self.evaluate_battle(c, able).value - self.find_exposure(v, c)
            for c in self.list_enemies(self.near[v])
        )
        return max(values, default=NEVER)

    def find_chain_value(self, v: int, able: int) -> float:
        """Return the value of the best sequence of two battles from a territory."""
        best = NEVER
        for c in self.list_enemies(self.near[v]):
            fight = self.evaluate_battle(c, able)
            left, more = int(float(able) - fight.lost) - 1, 0.0
            if left > 0:
                further = (
                    self.evaluate_battle(t, left).value for t in self.list_enemies(self.near[c])
                )
                more = max((0.0, *further))
            best = max(best, fight.value - self.find_exposure(v, c) + fight.won * more)
        return best

    # One action for each phase.

    def choose_attack(self) -> Action:
        if self.wins.wins_at_end() or self._find_winning_fortify() is not None:
            return EndPhase()
        best, most = None, NEVER
        legal = {
            (each.start, each.to): each
            for each in reversed(self.turn.actions())
            if isinstance(each, Attack)
        }
        for v in self.mine:
            room = self.count_room(v)
            if room > 0 and not self.is_resting(v):
                for c in self.list_enemies(self.near[v]):
                    attack = legal.get((self.names[v], self.names[c]))
                    value = self.evaluate_battle(c, room).value - self.find_exposure(v, c)
                    if attack is not None and value > most:
                        best, most = attack, value
        return best if best is not None and most > self.n.threshold else EndPhase()

    def choose_trade(self) -> Action:
        turn = self.turn
        hand = turn.hand
        if hand.unknown:
            return Reveal()
        trade = self.find_best_trade(hand)
        if hand.number >= turn.trade.must_trade:
            return trade
        if turn.trade.is_nuclear:
            return trade if self.count_damage(trade.cards) > 0 else EndPhase()
        richer = _View(turn, self.n, self.more + turn.trade.worth(trade.cards))
        before, after = (
            reduce(add, (prize for prize, _ in each.prizes.values()), 0.0)
            + WIN_PRIZE * (each.wins.find_wanted(turn.player, each.new) is not None)
            for each in (self, richer)
        )
        return trade if after > before else EndPhase()

    def find_best_trade(self, hand: Hand) -> Trade:
        turn = self.turn
        cards = self._list_cards(hand)
        best, most = None, NEVER
        for three in combinations(cards, 3):
            names = tuple(sorted(self.names[t] for _, t in three if t < len(self.names)))
            counts = [sum(symbol == each for symbol, _ in three) for each in range(4)]
            traded = Hand._make((*counts, 0, names))
            if not list_card_sets(traded, turn.trade):
                continue
            land = ""
            for _, t in three if not (turn.pictured or turn.trade.is_nuclear) else ():
                if t in self.mine and (
                    not land or (not self.is_front(self.names.index(land)) and self.is_front(t))
                ):
                    land = self.names[t]
            value = (
                float(turn.trade.worth(traded) + (turn.trade.pictured if land else 0))
                - self.n.joker * traded.jokers
            )
            if turn.trade.is_nuclear:
                value += self.count_damage(traded)
            if value > most:
                best, most = Trade(traded, land), value
        assert best is not None  # a trade is possible in this phase
        return best

    def count_damage(self, cards: Hand) -> int:
        """Return the armies that the others lose by a nuclear set, minus the player's own."""
        turn, struck = self.turn, {self.names.index(t) for t in cards.territories}
        if struck >= {*self.mine}:
            return -len(self.names) - self.count_armies(turn.player)
        theirs = sum(turn.armies[t] for t in struck if turn.owners[t] in turn.players)
        return theirs - 2 * sum(turn.armies[t] for t in struck & {*self.mine})

    def _list_cards(self, hand: Hand) -> list[tuple[int, int]]:
        """Return a hand of cards as (symbol, territory), in the order of the core."""
        unnamed = len(self.names)
        named = [
            (SYMBOLS.index(self.turn.symbols[t]), self.names.index(t)) for t in hand.territories
        ]
        found = [*named]
        for symbol in range(4):
            plain = hand.counts[symbol] - sum(each == symbol for each, _ in named)
            found += [(symbol, unnamed)] * plain
        return sorted(found)

    def choose_placement(self) -> Action:
        turn, first, n = self.turn, self.turn.first, self.n
        if (winning := self.wins.find_winning_placement()) is not None:
            return Place(self.names[winning[0]], winning[1])
        values = {
            v: NEVER
            if self.is_resting(v)
            else self.find_chain_value(v, self.count_spare(v) + turn.place)
            for v in self.mine
        }
        target = max(values, key=lambda v: (values[v], -v))
        target = target if values[target] > NEVER else -1
        may = [v for v in self.mine if v >= first]
        later = max(may, key=lambda v: (values[v], -v))
        fronts = [v for v in self.mine if self.is_front(v)]
        if fronts and (target < 0 or values[target] <= n.threshold):
            target = max(fronts, key=lambda v: (self.find_threat(v) - turn.armies[v], -v))
        guard, shortfall = -1, 0.0
        for v in fronts:
            is_border = any(
                v in lands and bonus > 0 and self.is_owner(turn.player, lands)
                for bonus, lands in self.continents
            )
            missing = n.guard_level * self.find_threat(v) - turn.armies[v]
            if v >= first and is_border and missing > shortfall:
                guard, shortfall = v, missing
        if guard == target:
            guard = -1
        need = 0
        if guard >= 0:
            need = min(turn.place, int(shortfall) + 1, int(n.guard_share * turn.place))
        if target < first:
            return Place(self.names[guard if guard >= 0 else later], turn.place)
        if need < 1:
            return Place(self.names[target], turn.place)
        if need == turn.place or guard < target:
            return Place(self.names[guard], need)
        return Place(self.names[target], turn.place - need)

    def choose_advance(self) -> Action:
        turn = self.turn
        assert turn.pending is not None  # an attack precedes this phase
        v, c = self.names.index(turn.pending.start), self.names.index(turn.pending.to)
        most = 0 if self.is_resting(v) else self.count_movable(v)
        limit = turn.rules_of.get(turn.pending.to, turn.rules).most_advance
        if limit is not None:
            most = min(most, max(limit - turn.armies[c], 0))
        moved = self.wins.find_armies_to_win_by_moving(v, c, most)
        if moved is None:
            moved = self._count_with_reserve(v, c, most) if most else 0
        return Advance(turn.armies[c] + moved)

    def _count_with_reserve(self, v: int, c: int, most: int) -> int:
        if self.wins.find_least_armies() < 2:
            return self._count_advancing(v, c, most)
        limit = min(max(self.count_room(v), 0), most)
        missing = max(self.wins.find_stay(self.new) - self.turn.armies[c], 0)
        return max(self._count_advancing(v, c, limit), min(missing, limit))

    def _count_advancing(self, v: int, c: int, most: int) -> int:
        if not self.is_front(v):
            return most
        danger, spare = self.find_threat(v), self.count_room(v)
        here = self.find_best_value(v, spare)
        there = self.find_best_value(c, self.turn.armies[c] + spare - self.turn.rules.garrison)
        behind = min(most, int(self.n.behind * danger))
        if max(here, there) <= self.n.threshold:
            return most - behind if self.find_threat(c) >= danger else 0
        return most - behind if there >= here else 0

    def _find_reach(self, turn: Turn) -> dict[int, list[int]]:
        """Return the territories to which armies may move in the last phase of a turn."""
        reach: dict[int, list[int]] = {}
        for part in turn.actions():
            if isinstance(part, Fortify):
                v, end = self.names.index(part.start), self.names.index(part.to)
                if end not in reach.setdefault(v, []):
                    reach[v].append(end)
        return reach

    def _find_winning_fortify(self) -> Fortify | None:
        if not self.wins.may_win_by_fortifying():
            return None
        turn = self.turn if self.turn.phase == "fortify" else self.turn.after(EndPhase())
        for v, ends in sorted(self._find_reach(turn).items()):
            for t in sorted(ends):
                if moved := self.wins.find_armies_to_win_by_moving(v, t, self.count_movable(v)):
                    return Fortify(self.names[v], self.names[t], moved)
        return None

    def choose_fortify(self) -> Action:
        if self.wins.wins_at_end():
            return EndPhase()
        if (winning := self._find_winning_fortify()) is not None:
            return winning
        reach = self._find_reach(self.turn)
        inner = [v for v in reach if self.count_movable(v) > 0 and not self.is_front(v)]
        if not inner:
            return EndPhase()
        start = max(inner, key=lambda v: (self.count_movable(v), -v))
        to: int | None
        if self.turn.fortify == "adjacent":
            to = self._step_to_front(start)
        else:
            fronts = [t for t in sorted(reach[start]) if self.is_front(t)]
            lack = {t: self.find_threat(t) - self.turn.armies[t] for t in fronts}
            to = max(fronts, key=lambda t: (lack[t], -t)) if fronts else None
        if to is None:
            return EndPhase()
        return Fortify(self.names[start], self.names[to], self.count_movable(start))

    def _step_to_front(self, start: int) -> int | None:
        own = {*self.mine}
        best: int | None = None
        shortest = len(self.names) + 1
        for t in (each for each in self.near[start] if each in own):
            seen, edge, steps = {start, t}, {t}, 1
            while edge and not any(map(self.is_front, edge)):
                edge = {c for v in edge for c in self.near[v] if c in own} - seen
                seen |= edge
                steps += 1
            if edge and steps < shortest:
                best, shortest = t, steps
        return best
