"""Files of mission cards: TOML, JSON, or the `.cards` file of a Domination board.

A TOML file contains the missions as strings: `missions = ["Asia, Africa", "24 territories"]`. Each
line in the section `[missions]` of a `.cards` file contains a player, a number of territories, the
armies on each territory, three continents (numbers in the order of the board, 0 for none, `*` for
any), and a sentence.
"""

import re
from os import PathLike

from iacta.board import Board
from iacta.board.formats.reading import read_file, read_section_lines, read_table
from iacta.game.missions import Eliminate, Mission, OwnContinents, OwnTerritories, read_mission
from iacta.game.victory import replace_error_prefix
from iacta.inputs.checks import quote, read_list
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.files import add_file_name, read_path

COLUMNS = 6  # the number of columns before the sentence
ANY_MARK = "*"
NUMBER = re.compile("[0-9]{1,9}")


def read_mission_cards(
    file: str | PathLike[str], board: Board, players: tuple[str, ...]
) -> tuple[Mission, ...]:
    """Read the missions in a file of mission cards.

    file: the path of the file.
    board: the board. Its order determines the numbers of continents in a `.cards` file.
    players: the players in the order of play, which determines their numbers in a `.cards` file.

    Raises `IactaError` for an unreadable file and for an invalid mission.
    """
    path = read_path(str(file), "mission_cards")
    with add_file_name(path, "missions"):
        text = read_file(path).text
        lines = [line for line in read_section_lines(text) if line.section == "missions"]
        if lines:
            rows = (_read_line(line.text, line.line, board, players) for line in lines)
            found = tuple(row for row in rows if row is not None)
        else:
            entries = read_table(text).entries
            if {*entries} != {"missions"}:
                raise MalformedError(
                    f"the file must have one key, missions, got {quote(', '.join(entries))}"
                )
            given = read_list(entries["missions"], "missions", "texts")
            found = tuple(map(read_mission, given))
        if not found:
            raise IllegalError("the file must have at least one mission, got none")
    return found


def _read_line(text: str, line: int, board: Board, players: tuple[str, ...]) -> Mission | None:
    """Read a line of a `.cards` file; return `None` if the target is not in the game."""
    words = text.split(maxsplit=COLUMNS)
    numbers, marks = words[:3], words[3:COLUMNS]
    if len(words) < COLUMNS or not all(NUMBER.fullmatch(each) for each in numbers):
        raise MalformedError(
            f"line {line}: a mission must be six numbers and a sentence, got {quote(text)}"
        )
    player, number, armies = map(int, numbers)
    names = []
    for mark in marks:
        if mark == ANY_MARK:
            continue
        k = int(mark) if NUMBER.fullmatch(mark) else -1
        if not 0 <= k <= len(board.continents):
            raise IllegalError(
                f"line {line}: a continent must be from 1 to {len(board.continents)}, 0 or *, "
                f"got {quote(mark)}"
            )
        if k:
            names.append(board.continents[k - 1].name)
    if player:
        return Eliminate(players[player - 1]) if player <= len(players) else None
    with replace_error_prefix(f"line {line}: "):
        if number:
            return OwnTerritories(number, armies if armies > 1 else 0)
        return OwnContinents(tuple(names), marks.count(ANY_MARK))
