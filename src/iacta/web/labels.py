"""Labels of the board page: the colours of players, and goals as short texts and in words.

The page keeps a goal as a short text `kind.hold.numbers`, such as `continent.0.3`, which is part of
its links. `hold` is 1 if conquests must also be held. The numbers are a continent, a player, or
territories, in the order of the board and of the players.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iacta.board import Board
from iacta.board.files import classic_board
from iacta.board.scene import shorten_name
from iacta.charts.board_layers import choose_digit_colour
from iacta.charts.theme import choose_colours, choose_shapes
from iacta.inputs.checks import parse_int, quote, read_list, refuse_unknown_keys
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.web.turns import read_sent_board, read_sent_players

# The order is that of the numbers that links of version 2 use for the goals of other turns.
KINDS = ("win", "continent", "all", "any", "eliminate", "worth", "now")
FIXED_KINDS = {
    "win": ("Win the game", {}),
    "now": ("Win this turn", {"win": True}),
    "worth": ("Gain the most points", {"worth": True}),
}
LISTS = {"all": "take", "any": "take_any"}  # the kinds that list territories
CAN_HOLD = ("win", "continent", "all", "eliminate")


def describe_labels(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the labels of players, the choice of goals, and descriptions of given goals.

    body: the request, with the `players`, the `goals` as short texts or as parameters of `plan`,
        and the `board` unless it is the classic board.
    """
    refuse_unknown_keys(body, ("board", "players", "goals"))
    board, players = read_sent_board(body) or classic_board(), read_sent_players(body)
    goals = read_list(body.get("goals", []), "goals", "goals")
    return {
        "players": describe_players(players),
        "choices": [*list_choices(board, players)],
        "goals": [_describe_if_possible(given, board, players) for given in goals],
    }


def _describe_if_possible(
    given: object, board: Board, players: Sequence[str]
) -> dict[str, Any] | None:
    try:
        return describe_goal(given, board, players)
    except IllegalError:  # the goal of a link may not fit its board
        return None


def describe_players(players: Sequence[str]) -> list[dict[str, str]]:
    """Return the short name, the colour, the colour of digits and the shape of each player."""
    colours = choose_colours(players)
    shapes = choose_shapes(colours)
    return [
        {
            "short": shorten_name(name),
            "colour": colours[name],
            "digits": choose_digit_colour(colours[name]),
            "shape": shapes[name],
        }
        for name in players
    ]


def list_choices(board: Board, players: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the goals to choose from: their texts in words, and a player to eliminate."""
    for kind in ("win", "now"):
        yield {"text": f"{kind}.0", "words": FIXED_KINDS[kind][0]}
    for number, each in enumerate(board.continents):
        words = f"Take {shorten_name(each.name)} ({each.bonus})"
        yield {"text": f"continent.0.{number}", "words": words}
    yield {"text": "all.0", "words": "Take territories …"}
    yield {"text": "any.0", "words": "Take any one of several …"}
    for number, name in enumerate(players):
        words = f"Eliminate {shorten_name(name)}"
        yield {"text": f"eliminate.0.{number}", "words": words, "player": number}
    yield {"text": "worth.0", "words": FIXED_KINDS["worth"][0]}


def describe_goal(given: object, board: Board, players: Sequence[str]) -> dict[str, Any]:
    """Return a goal as a text, in words, as parameters of `plan`, and its territories.

    given: the short text of a goal, or the parameters of `plan`.

    >>> label = describe_goal({"take": "Asia"}, classic_board(), ["red", "blue"])
    >>> label["text"], label["words"]
    ('continent.0.4', 'Take Asia')
    >>> describe_goal("eliminate.1.1", classic_board(), ["red", "blue"])["parameters"]
    {'eliminate': 'blue', 'hold': True}
    """
    text = _format_goal(given, board, players) if isinstance(given, Mapping) else given
    if not isinstance(text, str):
        raise MalformedError(f"goal must be a text or an object, got {quote(given)}")
    kind, *parts = text.split(".")
    if kind.isdecimal() and int(kind) < len(KINDS):
        kind = KINDS[int(kind)]
    if kind not in KINDS:
        raise IllegalError(f"goal must be one of {', '.join(KINDS)}, got {quote(kind)}")
    hold, *numbers = [parse_int(part, "goal") for part in parts if part] or [0]
    words, parameters, targets = _describe_kind(kind, numbers, board, players)
    if hold and kind in CAN_HOLD:
        parameters = {**parameters, "hold": True}
    return {
        "text": ".".join(map(str, (kind, hold, *numbers))),
        "words": shorten_name(words),
        "is_game": kind == "win",
        "is_list": kind in LISTS,
        "hold": bool(hold) if kind in CAN_HOLD else None,
        "parameters": parameters if parameters or kind == "win" else None,
        "targets": targets,
    }


def _describe_kind(
    kind: str, numbers: Sequence[int], board: Board, players: Sequence[str]
) -> tuple[str, dict[str, Any], list[int]]:
    """Return a goal in words, as parameters of `plan`, and the numbers of its territories."""
    if kind in FIXED_KINDS:
        return FIXED_KINDS[kind][0], dict(FIXED_KINDS[kind][1]), []
    names = board.territories
    number = numbers[0] if numbers else 0
    if kind == "continent":
        if number >= len(board.continents):
            raise IllegalError(f"continent must be less than {len(board.continents)}, got {number}")
        continent = board.continents[number]
        targets = [names.index(each) for each in continent.territories]
        return f"Take {continent.name}", {"take": continent.name}, targets
    if kind == "eliminate":
        if number >= len(players):
            raise IllegalError(f"player must be less than {len(players)}, got {number}")
        return f"Eliminate {players[number]}", {"eliminate": players[number]}, []
    targets = [each for each in numbers if each < len(names)]
    listed = ", ".join(names[each] for each in targets)
    parameters = {LISTS[kind]: listed} if listed else {}
    return f"Take {'any of ' if kind == 'any' else ''}{listed or '…'}", parameters, targets


def _format_goal(parameters: Mapping[str, Any], board: Board, players: Sequence[str]) -> str:
    """Return the short text of a goal that is given as parameters of `plan`."""
    hold = int(bool(parameters.get("hold")))
    for kind, (_, fixed) in FIXED_KINDS.items():
        if fixed and fixed.items() <= parameters.items():
            return f"{kind}.{hold}"
    if (victim := parameters.get("eliminate")) in players:
        return f"eliminate.{hold}.{players.index(victim)}"
    for number, continent in enumerate(board.continents):
        if parameters.get("take") == continent.name:
            return f"continent.{hold}.{number}"
    for kind, key in LISTS.items():
        if isinstance(listed := parameters.get(key), str):
            numbers = [board.territories.index(name) for name in board.find_set(listed)]
            return ".".join(map(str, (kind, hold, *numbers)))
    raise IllegalError(f"goal must be one of the page, got {quote(dict(parameters))}")
