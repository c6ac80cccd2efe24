"""The progress of players towards winning, and the marks of a way to win on the board page."""

from collections.abc import Mapping
from typing import Any

from iacta.board import Board
from iacta.game import Capitals, Turn
from iacta.game.codes import format_rules, read_rules


def describe_ways_to_win(turn: Turn) -> dict[str, Any]:
    """Return the progress of each surviving player, and the capitals, as JSON values.

    turn: the turn, with the secret missions of all players.
    """
    numbers = {name: t for t, name in enumerate(turn.board.territories)}
    victory = turn.victory
    capitals = victory.capitals if isinstance(victory, Capitals) else {}
    return {
        "progress": [
            {
                "player": name,
                "part": round(min(victory.measure_progress(turn, name), 1), 4),
                "words": victory.describe_progress(turn, name),
                "is_secret": victory.is_hidden(name) and turn.winner is None,
                "targets": [numbers[each] for each in victory.list_targets(turn, name)],
            }
            for name in turn.survivors
        ],
        "capitals": mark_capitals(
            turn.board,
            capitals,
            format_rules(turn.rules),
            {name: format_rules(rules) for name, rules in turn.rules_of.items()},
        ),
    }


def mark_capitals(
    board: Board, capitals: Mapping[str, str], rules: str, rules_of: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the marks of capitals on the map: the territory, the player, the defence dice.

    board: the board.
    capitals: a mapping from players to their capitals.
    rules: the rules as text.
    rules_of: a mapping from territories to the rules of attacks on them, as texts.
    """
    return [
        {
            "territory": board.territories.index(territory),
            "player": name,
            "dice": read_rules(rules_of.get(territory, rules)).defence.kept,
        }
        for name, territory in capitals.items()
        if territory in board.territories
    ]
