"""Labels of the board page: the colours of players, and goals as short texts and in words.

A goal is a short text `kind.hold.numbers`, such as `continent.0.3`. `hold` is 1 if conquests must
also be held. The numbers are a continent, a player, or territories, in the order of the board and
of the players. In links a goal is a step such as `o1-0-0-3`: the number of the kind, `hold`, 1 +
the price of a lost army in billionths (0 if it is unknown), and the numbers. `GOAL_KINDS` has the
words of goals, and says which goals can be held.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from iacta.board import Board
from iacta.board.built_in import classic_board
from iacta.board.scene import shorten_name
from iacta.charts.board_layers import choose_digit_colour
from iacta.charts.theme import choose_colours, choose_shapes
from iacta.game.step_fields import Step
from iacta.inputs.checks import parse_int, quote, read_list, refuse_unknown_keys
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.plan.named_goals import GOAL_KINDS
from iacta.web.read_question import read_sent_board, read_sent_players

MAX_GOAL_WORDS = 72  # characters: three lines beside the map
T = TypeVar("T")

CONTINENT_KIND = "continent"
# The kinds of goals on the page, and the kinds of goals of plans. The numbers of kinds in links
# follow this order from 1; in links of version 2, 0 was the wish to win the game.
LINK_KINDS = {
    CONTINENT_KIND: "take",
    "all": "take",
    "any": "take_any",
    "eliminate": "eliminate",
    "worth": "worth",
    "now": "win",
}
# A goal of the page lasts until it changes or the turn ends, and is written into logs, so
# `own_any`, which counts from the present position, is left out.
KINDS = LINK_KINDS | {
    name: name
    for name, kind in GOAL_KINDS.items()
    if kind.is_logged and name not in LINK_KINDS.values()
}
FIRST_KIND = "now"  # the first goal of the menu


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
    for kind in sorted(KINDS, key=lambda kind: kind != FIRST_KIND):
        words, names = GOAL_KINDS[KINDS[kind]].words, _name_kind(kind)
        if names == CONTINENT_KIND:
            for number, land in enumerate(board.continents):
                taken = f"{words.format(shorten_name(land.name))} ({land.bonus})"
                yield {"text": f"{kind}.0.{number}", "words": taken}
        elif names == "player":
            for number, name in enumerate(players):
                eliminated = words.format(shorten_name(name))
                yield {"text": f"{kind}.0.{number}", "words": eliminated, "player": number}
        else:
            yield {"text": f"{kind}.0", "words": words.format("several territories …")}


def _name_kind(kind: str) -> str:
    """Return the kind of things in the name of a goal, such as `"player"`; `""` for none."""
    return kind if kind == CONTINENT_KIND else GOAL_KINDS[KINDS[kind]].names


def describe_goal(given: object, board: Board, players: Sequence[str]) -> dict[str, Any]:
    """Return a goal as a text, in words, as parameters of `plan`, and its territories.

    given: the short text of a goal, or the parameters of `plan`.

    >>> label = describe_goal({"take": "Asia"}, classic_board(), ["red", "blue"])
    >>> label["text"], label["step"], label["words"]
    ('continent.0.4', 'o1-0-0-4', 'Take Asia')
    >>> describe_goal("eliminate.1.1", classic_board(), ["red", "blue"])["parameters"]
    {'eliminate': 'blue', 'hold': True}
    """
    text = _format_goal(given, board, players) if isinstance(given, Mapping) else given
    if not isinstance(text, str):
        raise MalformedError(f"goal must be a text or an object, got {quote(given)}")
    kind, *parts = text.split(".")
    if kind.isdecimal() and 1 <= int(kind) <= len(KINDS):
        kind = [*KINDS][int(kind) - 1]
    if kind not in KINDS:
        raise IllegalError(f"goal must be one of {', '.join(KINDS)}, got {quote(kind)}")
    hold, *numbers = [parse_int(part, "goal") for part in parts if part] or [0]
    words, parameters, targets = _describe_kind(kind, numbers, board, players)
    can_hold = GOAL_KINDS[KINDS[kind]].can_hold
    if hold and can_hold:
        parameters = {**parameters, "hold": True}
    return {
        "text": ".".join(map(str, (kind, hold, *numbers))),
        "step": f"o{'-'.join(map(str, ([*KINDS].index(kind) + 1, hold, 0, *numbers)))}",
        "words": shorten_name(words, MAX_GOAL_WORDS),
        "is_list": _name_kind(kind) == "territories",
        "hold": bool(hold) if can_hold else None,
        "parameters": parameters or None,
        "targets": targets,
    }


def read_goal_step(text: str, board: Board, players: Sequence[str]) -> Step:
    """Read the text of a step that changes the goal; a goal that does not fit is left out.

    >>> read_goal_step("o4-1-0-1", classic_board(), ["red", "blue"])
    {'do': 'goal', 'goal': {'eliminate': 'blue'}}
    """
    kind, hold, _, *numbers = [*text.removeprefix("o").split("-"), "", ""]
    label = None
    if kind:
        label = _describe_if_possible(".".join((kind, hold, *numbers)), board, players)
    goal = dict((label or {}).get("parameters") or {})
    goal.pop("hold", None)  # steps are judged without it
    return {"do": "goal", "goal": goal or None}


def _describe_kind(
    kind: str, numbers: Sequence[int], board: Board, players: Sequence[str]
) -> tuple[str, dict[str, Any], list[int]]:
    """Return a goal in words, as parameters of `plan`, and the numbers of its territories."""
    names, key = _name_kind(kind), KINDS[kind]
    words = GOAL_KINDS[key].words
    number, targets = numbers[0] if numbers else 0, list[int]()
    if not names:
        return words, {key: True}, targets
    if names == CONTINENT_KIND:
        continent = _choose(board.continents, number, names)
        targets = [board.territories.index(name) for name in continent.territories]
        return words.format(continent.name), {key: continent.name}, targets
    if names == "player":
        player = _choose(players, number, names)
        return words.format(player), {key: player}, targets
    targets = [t for t in numbers if t < len(board.territories)]
    listed = ", ".join(board.territories[t] for t in targets)
    return words.format(listed or "…"), {key: listed} if listed else {}, targets


def _choose(items: Sequence[T], number: int, what: str) -> T:
    if number >= len(items):
        raise IllegalError(f"{what} must be less than {len(items)}, got {number}")
    return items[number]


def _format_goal(parameters: Mapping[str, Any], board: Board, players: Sequence[str]) -> str:
    """Return the short text of a goal that is given as parameters of `plan`."""
    hold = int(bool(parameters.get("hold")))
    for kind, key in KINDS.items():
        numbers = _list_numbers(kind, parameters.get(key), board, players)
        if numbers is not None:
            return ".".join(map(str, (kind, hold, *numbers)))
    raise IllegalError(f"goal must be one that the page offers, got {quote(dict(parameters))}")


def _list_numbers(
    kind: str, named: object, board: Board, players: Sequence[str]
) -> list[int] | None:
    """Return the numbers of the short text of a goal; `None` for a goal of another kind."""
    match _name_kind(kind), named:
        case "", True:
            return []
        case "player", str() if named in players:
            return [players.index(named)]
        case "continent", str():
            same = (n for n, land in enumerate(board.continents) if land.name == named)
            return [*islice(same, 1)] or None
        case "territories", str():
            return [board.territories.index(name) for name in board.find_set(named)]
    return None
