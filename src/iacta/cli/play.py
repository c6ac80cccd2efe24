"""`iacta play`: a whole game against computers in the terminal."""

import shlex
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from io import TextIOWrapper
from secrets import randbits
from shutil import get_terminal_size

from iacta.board import Board
from iacta.board.built_in import classic_board
from iacta.board.files import read_board
from iacta.cli.dialogue import Dialogue, start_dialogue
from iacta.cli.game_text import LEVELS
from iacta.cli.play_commands import answer_line
from iacta.cli.print_answer import Command, command
from iacta.cli.saved_game import SavedGame, choose_file, load_game
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import name_victory_options, resolve_board
from iacta.forms.parameter_kinds import CommaList, FileName, Name, OneOf, Source, Whole
from iacta.game import EDITIONS, deal, deal_edition, find_edition
from iacta.game.deal import DEALT_VICTORIES
from iacta.game.missions import HIDDEN, Missions
from iacta.game.victory import Victory, make_victory
from iacta.inputs.errors import IactaError, IllegalError, MalformedError
from iacta.inputs.files import STREAM
from iacta.war.game import PERSON, Game

USUAL_OPPONENTS = ("medium", "medium")
COLOURS = ("red", "blue", "green", "yellow", "black", "purple")  # the person is the first player


@command(
    "play",
    Topic.TOOLS,
    Example("play", "play red against two computers of medium strength"),
    Example("play --against easy,hard,hard", "play against three computers"),
    Example("play --edition war", "play the Brazilian game with its missions"),
    Example("play --load risk-game.json", "go on with a saved game"),
)
class PlayCommand(Command):
    """Play a whole game against computers in the terminal.

    Type help in the game for a list of its commands. Ctrl-D ends the program, and saves the game.
    """

    against: tuple[str, ...] | None = parameter(
        CommaList(OneOf((*LEVELS, *LEVELS.values()))),
        "Your opponents, one to five: easy, medium or hard, or simple, usual or strong.",
        metavar="LEVEL,LEVEL...",
        usual=",".join(USUAL_OPPONENTS),
        excludes="load",
        default=None,
    )
    board: str | Board | None = parameter(
        Source(Board, read_board, ("classic",)),
        "The board (map).",
        metavar="FILE",
        usual="classic",
        excludes="load",
        default=None,
    )
    edition: str | None = parameter(
        Name(),
        f"A game with its rules, board and missions: {', '.join(each.name for each in EDITIONS)}.",
        metavar="NAME",
        excludes="load",
        default=None,
    )
    win_by: str | None = parameter(
        Name(),
        "Who wins: survivor, share=70%, capitals, missions, or missions=or30 (missions or 30 "
        "territories).",
        metavar="CONDITION",
        usual="survivor",
        excludes="load",
        default=None,
    )
    seed: int | None = parameter(
        Whole(minimum=0), "Seed of the deal and the dice.", usual="random", default=None
    )
    load: str | None = parameter(
        FileName(), "Go on with a game that the command save has written.", default=None
    )

    def run(self) -> int:
        if sys.stdin is None:
            raise MalformedError("standard input is closed")
        saved = load_game(self.load, self.seed) if self.load else SavedGame(self.deal_game())
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")  # a wrong byte makes a wrong command
        if sys.stdin.isatty():
            with suppress(ImportError):
                import readline  # noqa: F401 # gives `input` a history
        file = "" if self.load in (None, STREAM) else self.load
        dialogue, lines = start_dialogue(saved, width=get_terminal_size().columns, file=file)
        try:
            _print_lines(lines)
            while not dialogue.is_ended:
                dialogue = _ask(dialogue)
        except KeyboardInterrupt:
            print()
            _leave(dialogue)
            raise
        _leave(dialogue)
        return 0

    def deal_game(self) -> Game:
        """Return a new game."""
        seed = randbits(62) if self.seed is None else self.seed
        edition = None if self.edition is None else find_edition(self.edition)
        most = len(COLOURS) if edition is None else edition.most
        against = self.against or USUAL_OPPONENTS[: most - 1]
        levels = [LEVELS.get(level, level) for level in against]
        if len(levels) >= len(COLOURS):
            raise IllegalError(
                f"against must name at most {len(COLOURS) - 1} opponents, got {len(levels)}",
                parameter="against",
            )
        players = COLOURS[: len(levels) + 1]
        if edition is not None:
            if self.board is not None or self.win_by is not None:
                raise IllegalError("--edition must be given without --board and --win-by")
            start = deal_edition(edition.name, players, seed=seed)
            return Game(start, dict(zip(players, (PERSON, *levels), strict=True)), seed)
        board = resolve_board(self.board) or classic_board()
        with name_victory_options():
            victory = self._read_victory(players)
        start = deal(board, players, seed=seed, victory=victory)
        return Game(start, dict(zip(players, (PERSON, *levels), strict=True)), seed)

    def _read_victory(self, players: Iterable[str]) -> Victory | str | None:
        if self.win_by is None or self.win_by in DEALT_VICTORIES:
            return self.win_by
        word, value = (part.strip() for part in self.win_by.partition("=")[::2])
        hidden = dict.fromkeys(players, HIDDEN) if word == Missions.word else {}
        return make_victory({word: value, **hidden})


def _ask(dialogue: Dialogue) -> Dialogue:
    """Read a line, print the answer, and return the dialogue after it."""
    try:
        dialogue, lines = answer_line(dialogue, input(dialogue.prompt))
    except EOFError:
        print()
        return replace(dialogue, is_ended=True)
    except IactaError as error:
        message = str(error)
        lines = [message if message.endswith("?") else f"{message}."]
    _print_lines(lines)
    return dialogue


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines:
        print(line, flush=True)


def _leave(dialogue: Dialogue) -> None:
    """Save a game that is not over, and print the command that continues it."""
    if dialogue.game.is_over:
        return
    if not dialogue.is_saved:
        dialogue = dialogue.save(dialogue.file or choose_file())
    if dialogue.file:
        print(f"The game is saved. Go on with: iacta play --load {shlex.quote(dialogue.file)}")
