"""The short texts of recorded steps, for links: a letter for the kind of step, and numbers."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from iacta.board import Board
from iacta.game.step_fields import CARD_KEYS, Step
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import MalformedError

OPTIONAL_NUMBERS = ("dice", "their_dice")
# For each kind of recorded step, its letter and the keys of its numbers. A step `place` or
# `correct` has a row of numbers for each territory. A step `reveal` or `trade` has the numbers of
# cards with each symbol and of jokers, then the territories on the cards; in a trade, 1 + the
# territory that gets two more armies, or 0, comes before these territories.
STEP_TEXTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "attack": ("a", ("from", "to", "left", "their_left", *OPTIONAL_NUMBERS)),
    "advance": ("m", ("armies",)),
    "get": ("g", ("armies",)),
    "fortify": ("f", ("from", "to", "armies")),
    "place": ("p", ()),
    "correct": ("c", ()),
    "reveal": ("d", ()),
    "trade": ("t", ()),
    "stop": ("s", ()),
    "next": ("n", ()),
}
ROW_LENGTHS = {"place": 2, "correct": 3}
CARD_STEPS = ("reveal", "trade")
STEP_TEXT = re.compile(r"([a-z])(\d{1,10}(?:-\d{1,10})*)?")


def format_step_text(step: Step, board: Board, players: Sequence[str]) -> str:
    """Format a recorded step as a short text for links, for `parse_step_text`.

    step: the step, in the format of `record_step`; its keys `after` and `goal` are left out.
    board: the board, for the numbers of territories.
    players: the players, for the numbers of owners; 0 is nobody.

    >>> step = {"do": "attack", "from": "B", "to": 0, "left": 8, "their_left": 1, "dice": 3}
    >>> format_step_text(step, Board.from_edges("two", [("A", "B")]), ())
    'a1-0-8-1-3'
    """

    def number_territory(given: object) -> int:
        return board.territories.index(given) if isinstance(given, str) else read_int(given, "step")

    letter, keys = STEP_TEXTS[step["do"]]
    if step["do"] in CARD_STEPS:
        cards = step["cards"]
        counts = [cards.get(key, 0) for key in CARD_KEYS[:-1]]
        given = step.get("territory")
        gets = [1 + number_territory(given) if given else 0] if step["do"] == "trade" else []
        pictured = map(number_territory, cards.get("territories", ()))
        return letter + "-".join(map(str, [*counts, *gets, *pictured]))
    numbers = [number_territory(step[key]) for key in keys if step.get(key) is not None]
    for territory, *held in step["on"] if step["do"] in ROW_LENGTHS else ():
        *owner, armies = held
        owners = [players.index(name) + 1 if name else 0 for name in owner]
        numbers += [number_territory(territory), *owners, armies]
    return letter + "-".join(map(str, numbers))


def parse_step_text(text: str, players: Sequence[str], board: Board | None = None) -> Step:
    """Read a step from its short text, the inverse of `format_step_text`.

    text: the text.
    players: the players, for the numbers of owners.
    board: the board, for the territories on cards; `None` if no card pictures a territory.

    Raises `MalformedError` for an unreadable text.

    >>> parse_step_text("c2-1-5", ["red"]), parse_step_text("m7", [])
    ({'do': 'correct', 'on': [[2, 'red', 5]]}, {'do': 'advance', 'armies': 7})
    """
    found = STEP_TEXT.fullmatch(text)
    kinds = {letter: do for do, (letter, _) in STEP_TEXTS.items()}
    if found is None or found[1] not in kinds:
        raise MalformedError(f"cannot read the step {quote(text)}")
    do, numbers = kinds[found[1]], [int(each) for each in (found[2] or "").split("-") if each]
    if do in CARD_STEPS:
        return _read_card_step(do, numbers, () if board is None else board.territories, text)
    if size := ROW_LENGTHS.get(do):
        rows: list[list[Any]] = [
            numbers[k : k + size] for k in range(0, len(numbers) - size + 1, size)
        ]
        if do == "correct":
            names = ["", *players]
            for row in rows:
                row[1] = names[row[1]] if row[1] < len(names) else ""
        return {"do": do, "on": rows}
    keys = STEP_TEXTS[do][1]
    missing = keys[len(numbers) :]
    if len(numbers) > len(keys) or not {*missing} <= {*OPTIONAL_NUMBERS}:
        raise MalformedError(f"cannot read the step {quote(text)}")
    return {"do": do, **dict(zip(keys, numbers, strict=False))}


def _read_card_step(do: str, numbers: Sequence[int], places: Sequence[str], text: str) -> Step:
    """Read a step `reveal` or `trade` from the numbers of its short text.

    places: the territories of the board.
    text: the text, for error messages.
    """
    symbols = CARD_KEYS[:-1]
    size = len(symbols) + (do == "trade")
    gets, pictured = [t - 1 for t in numbers[len(symbols) : size] if t], numbers[size:]
    if len(numbers) < size or any(t >= len(places) for t in (*gets, *pictured)):
        raise MalformedError(f"cannot read the step {quote(text)}")
    cards: dict[str, Any] = {
        key: number for key, number in zip(symbols, numbers, strict=False) if number
    }
    if pictured:
        cards["territories"] = [places[t] for t in pictured]
    return {"do": do, "cards": cards, **({"territory": places[gets[0]]} if gets else {})}
