"""Files of games that `iacta play` saves: a game as JSON, with the help that its player used."""

import json
from itertools import count
from pathlib import Path
from typing import NamedTuple

from iacta.inputs.checks import read_int
from iacta.inputs.errors import MalformedError
from iacta.inputs.files import add_file_name, read_bytes, write_atomically
from iacta.inputs.json_and_toml import parse_json
from iacta.war.game import Game

MAX_BYTES = 2**24
HELP_KEYS = ("hints", "undone")


class SavedGame(NamedTuple):
    """A game in a file.

    game: the game.
    hints, undone: how often the player asked for a hint, and took back a decision.
    """

    game: Game
    hints: int = 0
    undone: int = 0


def save_game(file: str, saved: SavedGame) -> None:
    """Write a game to a file, either completely or not at all."""
    record = {**saved.game.to_record(), "hints": saved.hints, "undone": saved.undone}
    write_atomically(Path(file), f"{json.dumps(record)}\n".encode())


def load_game(file: str, seed: int | None = None) -> SavedGame:
    """Read a game from a file.

    seed: the seed of the next dice; `None` for a random seed.

    Raises `IactaError`, with the name of the file, for a file that contains no game.
    """
    with add_file_name(file, "game"):
        try:
            text = read_bytes(Path(file), MAX_BYTES).decode()
        except UnicodeDecodeError:
            raise MalformedError("the file is not UTF-8") from None
        record = parse_json(text)
        if not isinstance(record, dict):
            raise MalformedError("the file must contain a JSON object")
        numbers = [read_int(record.pop(key, 0), key) for key in HELP_KEYS]
        return SavedGame(Game.from_record(record, seed=seed), *numbers)


def choose_file() -> str:
    """Return the name of a new file in the working directory."""
    names = (f"risk-game{'' if k == 1 else f'-{k}'}.json" for k in count(1))
    return next(name for name in names if not Path(name).exists())
