"""The picture of a finished game: the last map, everybody's chance to win by turn, one sentence."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from iacta.charts import board_map
from iacta.charts.converter import convert
from iacta.charts.theme import FAINT, FONT, INK, PAPER, choose_colours
from iacta.game import Turn
from iacta.inputs.checks import quote, read_list, refuse_unknown_keys
from iacta.inputs.errors import MalformedError
from iacta.web.read_question import read_sent_board, read_sent_players, read_text

WIDTH, MAP_HEIGHT, GRAPH_HEIGHT, MARGIN = 800, 480, 120, 24
MAX_TURNS = 2_000  # maximum number of turns in a graph
MAX_SENTENCE = 200  # characters


def draw_game(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the picture of a finished game as PNG in base64.

    body: the request, with the `code` of the last turn; the `wins` at the start of each turn, as
        mappings from players to chances; the `sentence` above the map; the `players` in the order
        of their colours; and the `board` unless it is the classic board.
    """
    refuse_unknown_keys(body, ("code", "board", "wins", "sentence", "players"))
    turn = Turn.from_code(read_text(body, "code"), read_sent_board(body))
    wins = [
        _read_wins(each) for each in read_list(body.get("wins", []), "wins", "objects", MAX_TURNS)
    ]
    sentence = read_text(body, "sentence")[:MAX_SENTENCE]
    drawn = write_svg(turn, wins, sentence, read_sent_players(body) or turn.players)
    return {"png": b64encode(convert(drawn, "raster")).decode()}


def _read_wins(given: object) -> dict[str, float]:
    if not isinstance(given, Mapping) or not all(
        isinstance(chance, int | float) and 0 <= chance <= 1 for chance in given.values()
    ):
        raise MalformedError(f"wins must map players to chances from 0 to 1, got {quote(given)}")
    return {str(name): float(chance) for name, chance in given.items()}


def write_svg(
    turn: Turn, wins: Sequence[Mapping[str, float]], sentence: str, players: Sequence[str]
) -> str:
    """Return the picture of a finished game as SVG.

    turn: the last turn.
    wins: each player's chance to win at the start of each turn.
    sentence: the sentence above the map.
    players: all players, in the order of their colours.
    """
    spec = board_map(turn.position).to_dict()
    spec["title"] = {**spec["title"], "text": sentence, "subtitle": ""}
    drawn = convert(json.dumps(spec), "svg").decode()
    board = _resize(_recolour(drawn, choose_colours(turn.survivors), choose_colours(players)))
    top = MAP_HEIGHT + MARGIN
    height = top + (GRAPH_HEIGHT + 2 * MARGIN if len(wins) > 1 else 0)
    graph = "".join(_draw_graph(wins, players, top + MARGIN / 2)) if len(wins) > 1 else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}"><rect width="{WIDTH}" height="{height}" '
        f'fill="{PAPER[False]}"/>{board}{graph}</svg>'
    )


def _recolour(drawn: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return a picture in which each player has the colour of the graph.

    before, after: the colour of each player in the picture, and in the graph.
    """
    for k, (name, colour) in enumerate(before.items()):
        drawn = drawn.replace(colour, f"#colour{k}" if name in after else colour)
    for k, name in enumerate(before):
        drawn = drawn.replace(f"#colour{k}", after.get(name, ""))
    return drawn


def _resize(board: str) -> str:
    """Return an SVG picture with the size of the map; its `viewBox` keeps the proportions."""
    head, end, rest = board.partition(">")
    parts = [part for part in head.split(" ") if not part.startswith(("width=", "height="))]
    return f'{" ".join(parts)} width="{WIDTH}" height="{MAP_HEIGHT}"{end}{rest}'


def _draw_graph(
    wins: Sequence[Mapping[str, float]], players: Sequence[str], top: float
) -> Iterator[str]:
    """Yield a curve for each player, between lines at 0%, 50% and 100%."""
    left, right = 3 * MARGIN, WIDTH - MARGIN
    step = (right - left) / (len(wins) - 1)

    def find_height(chance: float) -> float:
        return top + GRAPH_HEIGHT * (1 - chance)

    for chance in (0.0, 0.5, 1.0):
        y = find_height(chance)
        yield f'<path d="M{left},{y:.1f}H{right}" stroke="{FAINT[False]}" fill="none"/>'
        yield _write(f"{chance:.0%}", left - 8, y + 4, 12, anchor="end")
    for name, colour in choose_colours(players).items():
        points = (
            f"{left + k * step:.1f},{find_height(each.get(name, 0)):.1f}"
            for k, each in enumerate(wins)
        )
        yield (
            f'<path d="M{"L".join(points)}" stroke="{colour}" stroke-width="3" fill="none" '
            'stroke-linejoin="round"/>'
        )
    names = ", ".join(
        f'<tspan fill="{colour}" font-weight="bold">{escape(name)}</tspan>'
        for name, colour in choose_colours(players).items()
    )
    caption = _write("The chance to win by turn: @", left, top + GRAPH_HEIGHT + 18, 12)
    yield caption.replace("@", names)


def _write(text: str, x: float, y: float, size: int, anchor: str = "start") -> str:
    """Return a line of text as SVG."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-family="{FONT}" font-size="{size}" '
        f'text-anchor="{anchor}" fill="{INK[False]}">{escape(text)}</text>'
    )
