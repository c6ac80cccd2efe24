"""The opponents' next turns: their new armies, and the chances of their single battles."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from math import prod

from iacta.game import Fortify, Turn

MOVE_SHARES = (1.0, 0.75, 0.5, 0.25)  # fractions of a stack's spare armies in fortifying moves
MAX_SOURCES = 6  # only this many stacks, the largest, may give armies in a fortifying move


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
    """Quick estimates of opponents' chances: each of their stacks fights only one battle.

    turn: the turn whose rules apply.
    """

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self._win = cache(self._find_win)

    def list_targets(self, turn: Turn, player: str, held: Iterable[str]) -> dict[str, list[str]]:
        """Return, for each territory of a player, the territories in `held` that it can attack."""
        wanted = {*held}
        found = {
            name: [each for each in turn.board.neighbours(name) if each in wanted]
            for name in turn.position.list_territories(player)
        }
        return {name: near for name, near in found.items() if near}

    def find_hold_chance(self, turn: Turn, beside: Mapping[str, list[str]], new: int) -> float:
        """Return the chance that an opponent with the best placement of new armies takes no target.

        Each stack of the opponent fights one battle.

        turn: the turn with the present armies.
        beside: the result of `list_targets`: for each territory of the opponent, its targets.
        new: the number of new armies.
        """

        def find_failure(name: str, more: int) -> float:
            armies = turn.armies_on(name) + more
            return 1.0 - max(self._win(armies, each, turn.armies_on(each)) for each in beside[name])

        alone = {name: find_failure(name, 0) for name in beside}
        return min(
            find_failure(name, new) * prod(alone[other] for other in alone if other != name)
            for name in beside
        )

    def _find_win(self, armies: int, territory: str, defenders: int) -> float:
        setting = self.turn.setting
        kernel = setting.kernels[setting.index[territory]]
        able = armies - self.turn.rules.garrison
        return float(kernel.win_probability(able, defenders)) if able > 0 else 0.0


def list_fortify_moves(turn: Turn, exposed: Iterable[str]) -> Iterator[Fortify]:
    """Yield fortifying moves from large stacks to exposed territories.

    turn: a turn in its fortify phase.
    exposed: the territories that an opponent can attack.
    """
    wanted = {*exposed}
    firsts = ((part[0], len(part)) for part in turn.actions().parts)
    most = {(one.start, one.to): spare for one, spare in firsts if isinstance(one, Fortify)}
    largest = sorted({(-spare, start) for (start, _), spare in most.items()})[:MAX_SOURCES]
    for (start, to), spare in most.items():
        if to in wanted and (-spare, start) in largest:
            for number in sorted({int(part * spare) for part in MOVE_SHARES} - {0}):
                yield Fortify(start, to, number)
