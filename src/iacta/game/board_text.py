"""A turn as a text of a few lines: the player to act, all players, and the territories by owner."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from iacta.game.state import TurnData

LINE_WIDTH = 100  # the maximum number of characters in a line
MAX_LINES = 50


def format_board(turn: TurnData) -> str:
    """Return a turn as text, with at most 50 lines.

    turn: the turn. Each continent has a paragraph with its bonus and its territories by owner;
        territories without an owner are omitted.

    >>> from iacta.game import Turn
    >>> print(format_board(Turn.from_code("1;classic;red;Peru:red:6,Siam:red:1,Brazil:blue:2")))
    red to attack on classic
    armies in territories: red 7 in 2, blue 2 in 1
    South America +2: red Peru 6; blue Brazil 2
    Asia +7: red Siam 1
    """
    lines = [f"{turn.to_act} to {turn.phase} on {turn.board.name}", _describe_players(turn)]
    if turn.phase == "place":
        lines[0] += f", with {turn.place} new"
    for title, names in _list_paragraphs(turn):
        held = _describe_territories(turn, names)
        if held:
            lines += wrap(f"{title}: {held}", LINE_WIDTH, subsequent_indent="  ")
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], f"({len(lines) - MAX_LINES + 1} more lines)"]
    return "\n".join(lines)


def _list_owners(turn: TurnData) -> list[str]:
    """Return the owners of territories: the player, the next players, then neutral owners."""
    return [name for name in dict.fromkeys([turn.player, *turn.players, *turn.owners]) if name]


def _describe_players(turn: TurnData) -> str:
    rows = list[str]()
    for name in _list_owners(turn):
        held = [n for owner, n in zip(turn.owners, turn.armies, strict=True) if owner == name]
        rows.append(f"{name} {sum(held)} in {len(held)}")
    return f"armies in territories: {', '.join(rows)}"


def _list_paragraphs(turn: TurnData) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the continents with their bonus, then the territories without a continent."""
    board = turn.board
    for continent in board.continents:
        yield f"{continent.name} {continent.bonus:+}", continent.territories
    inside = {name for continent in board.continents for name in continent.territories}
    title = "Without a continent" if inside else "Territories"
    yield title, [name for name in board.territories if name not in inside]


def _describe_territories(turn: TurnData, names: Sequence[str]) -> str:
    index = turn.setting.index
    parts = list[str]()
    for owner in _list_owners(turn):
        held = [name for name in names if turn.owners[index[name]] == owner]
        if held:
            parts.append(f"{owner} {', '.join(f'{t} {turn.armies[index[t]]}' for t in held)}")
    return "; ".join(parts)
