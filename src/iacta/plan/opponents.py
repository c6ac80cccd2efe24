"""The opponents' next turns: their new armies, and the chances of their single battles."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from typing import ClassVar, TypeAlias

from iacta.game import Fortify, Turn
from iacta.game.legal import list_fortify_limits
from iacta.plan.goals import TakeAll, TakeAny

# Territories that an opponent takes one after the other.
Route: TypeAlias = tuple[str, ...]
# For each territory of an opponent, the routes that begin beside it.
Routes: TypeAlias = Mapping[str, list[Route]]

MOVE_SHARES = (1.0, 0.75, 0.5, 0.25)  # fractions of a stack's spare armies in fortifying moves
MAX_MOVES = 200  # if there are more fortifying moves on a small board, only some are compared
MAX_SOURCES = 6  # only this many stacks, the largest, may give armies in a fortifying move


@dataclass(frozen=True, repr=False)
class OpponentTakesAll(TakeAll):
    """An opponent's goal to take all of some territories before the game is over."""

    ends_at_win: ClassVar = True


@dataclass(frozen=True, repr=False)
class OpponentTakesAny(TakeAny):
    """An opponent's goal to take any of some territories before the game is over."""

    ends_at_win: ClassVar = True


def list_opponents(turn: Turn) -> list[str]:
    """Return the players of the game who own territories, except the player to move, by name.

    Neutral owners have no turns, so they are not opponents.

    >>> list_opponents(Turn.from_code("1;classic;red;Peru:red:3,Brazil:grey:9,Egypt:blue:1"))
    ['blue', 'grey']
    >>> code = "1;classic;red;Peru:red:3,Brazil:grey:9,Egypt:blue:1;attack;players=red,blue"
    >>> list_opponents(Turn.from_code(code))
    ['blue']
    """
    return sorted({*turn.survivors} - {turn.player})


def list_attackers(turn: Turn, name: str) -> list[str]:
    """Return the opponents' territories from which a territory can be attacked."""
    opponents, board = {*list_opponents(turn)}, turn.board
    return [
        start
        for start, owner in zip(board.territories, turn.owners, strict=True)
        if owner in opponents and name in board.neighbours(start)
    ]


def begin_opponent_turn(turn: Turn, player: str) -> Turn:
    """Return the next turn of an opponent, from the present position, with the usual new armies.

    The constraints `keep` and `stay` of the player's turn do not apply.
    """
    return Turn(
        replace(turn.position, player=player),
        turn.rules,
        place=turn.new_armies(player),
        rules_of=turn.rules_of,
        fortify=turn.fortify,
        whole_battles=turn.whole_battles,
        players=turn.players,
        victory=turn.victory,
    )


class SingleBattles:
    """Quick estimates of opponents' chances: each of their stacks takes only one route.

    A route is a sequence of the player's territories that ends at a target. All armies on a route
    count as the defenders of one battle.

    turn: the turn whose rules apply.
    """

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self._win = cache(self._compute_win)

    def list_routes(self, turn: Turn, player: str, held: Iterable[str], maximum: int) -> Routes:
        """Return the routes of each territory of an opponent to a territory in `held`.

        maximum: the maximum number of territories on a route.
        """
        board, wanted = turn.board, {*held}
        mine = {*turn.position.list_territories(turn.player)}

        def extend(route: Route) -> Iterator[Route]:
            for name in board.neighbours(route[-1]):
                longer = *route, name
                if name in wanted:
                    yield longer[1:]
                elif name in mine and name not in route and len(route) < maximum:
                    yield from extend(longer)

        found = {name: [*extend((name,))] for name in turn.position.list_territories(player)}
        return {name: routes for name, routes in found.items() if routes}

    def compute_hold_chance(self, turn: Turn, routes: Routes, new: int) -> float:
        """Return the chance that an opponent with the best placement of new armies takes no target.

        Each stack of the opponent takes one route.

        turn: the turn with the present armies.
        routes: the result of `list_routes`.
        new: the number of new armies.
        """
        garrison = self.turn.rules.garrison
        armies_on = dict(zip(turn.board.territories, turn.armies, strict=True))

        def compute_failure(start: str, more: int) -> float:
            armies = armies_on[start] + more
            ways = (
                self._win(
                    armies - garrison * len(route),
                    route[-1],
                    sum(armies_on[each] for each in route),
                )
                for route in routes[start]
            )
            return 1.0 - max(ways)

        alone = {name: compute_failure(name, 0) for name in routes}
        return min(
            compute_failure(name, new) * prod(alone[other] for other in alone if other != name)
            for name in routes
        )

    def _compute_win(self, able: int, territory: str, defenders: int) -> float:
        setting = self.turn.setting
        kernel = setting.kernels[setting.index[territory]]
        return float(kernel.win_probability(able, defenders)) if able > 0 else 0.0


def list_moves_to_compare(turn: Turn) -> list[Fortify]:
    """Return all fortifying moves, or each stack's moves of certain fractions if there are many.

    turn: a turn in its fortify phase.
    """
    if sum(list_fortify_limits(turn).values()) > MAX_MOVES:
        return [*list_fortify_moves(turn, turn.board.territories)]
    return [action for action in turn.actions() if isinstance(action, Fortify)]


def list_fortify_moves(turn: Turn, exposed: Iterable[str]) -> Iterator[Fortify]:
    """Yield fortifying moves from large stacks to exposed territories.

    turn: a turn in its fortify phase.
    exposed: the territories that an opponent can attack.
    """
    wanted = {*exposed}
    most = list_fortify_limits(turn)
    largest = sorted({(-spare, start) for (start, _), spare in most.items()})[:MAX_SOURCES]
    for (start, to), spare in most.items():
        if to in wanted and (-spare, start) in largest:
            for number in sorted({int(part * spare) for part in MOVE_SHARES} - {0}):
                yield Fortify(start, to, number)
