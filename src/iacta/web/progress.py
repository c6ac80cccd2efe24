"""The progress of players towards winning, and the marks of a way to win on the board page."""

from typing import Any

from iacta.forms.sentences import add_noun
from iacta.game import Capitals, Turn


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
                "words": _describe_progress(turn, name),
                "is_secret": victory.is_hidden(name) and turn.winner is None,
                "targets": [numbers[each] for each in victory.list_targets(turn, name)],
            }
            for name in turn.survivors
        ],
        "capitals": [
            {
                "territory": numbers[territory],
                "player": name,
                "dice": turn.setting.kernels[numbers[territory]].rules.defence.kept,
            }
            for name, territory in capitals.items()
        ],
    }


def _describe_progress(turn: Turn, player: str) -> str:
    number = turn.owners.count(player)
    usual = f"{number} of {add_noun(sum(map(bool, turn.owners)), 'territory', 'territories')}"
    return turn.victory.describe_progress(turn, player) or usual
