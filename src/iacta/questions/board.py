"""What a board is like, what is odd about its file, and the same board in other formats."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from types import ModuleType
from typing import Annotated, Any

from iacta.board.board import Board, Continent
from iacta.board.files import BUILT_IN, BoardFile, read_board_file, write_board
from iacta.board.formats import FORMATS
from iacta.board.formats.draft import Remark
from iacta.board.position import Holding, Position, position_toml
from iacta.files import plain
from iacta.questions.form import Example, Parameter, Topic
from iacta.questions.kinds import FileName, Flag
from iacta.questions.question import Answer, Question, Watch, question
from iacta.questions.sections import Section, Table, sections_of
from iacta.questions.words import count

__all__ = ["BoardAnswer", "BoardQuestion"]

MOST_NAMED = 8
TEMPLATE = """\
# Who holds what, and whose turn it is: edit owners and armies. Territories may be left out; then
# they cannot attack or be attacked, or are as `others` says, such as
# others = { owner = "blue", armies = 2 }
"""
BESIDE = "# Keep this file in the folder of the board's file.\n"
READ = ", ".join(dict.fromkeys(each.name for each in FORMATS))
WRITTEN = ", ".join(f"{each.ending} ({each.name})" for each in FORMATS if each.write)


@question(
    "board",
    Topic.BOARD,
    Example("board classic", "what is on the board?"),
    Example("board classic --to classic.toml", "a board file to edit"),
    Example("board classic --template > game.toml", "a position file to edit"),
)
@dataclass(frozen=True)
class BoardQuestion(Question):
    """Show a board, check its file, or convert it."""

    file: Annotated[
        str,
        Parameter(
            FileName(),
            f"The board: classic, or a file in one of these formats, - for standard input: {READ}.",
            is_argument=True,
            metavar="FILE",
        ),
    ]
    to: Annotated[
        str | None,
        Parameter(
            FileName(),
            f"Write the board to a file, whose ending chooses the format: {WRITTEN}.",
        ),
    ] = None
    template: Annotated[
        bool,
        Parameter(Flag(), "Print a position file with all its territories, ready to be edited."),
    ] = False

    def answer(self, watch: Watch | None = None) -> "BoardAnswer":
        found = read_board_file(self.file)
        if self.to is not None:
            write_board(found.board, self.to)
        return BoardAnswer(self, found)


@dataclass(frozen=True, repr=False)
class BoardAnswer(Answer):
    """A board, and what is odd about its file.

    found: the board as its file holds it.
    """

    question: BoardQuestion
    found: BoardFile

    @property
    def remarks(self) -> list[tuple[str, Remark]]:
        """What is odd about the board and its cards, each with its file."""
        cards = self.found.cards.remarks if self.found.cards else ()
        return [
            *(("board", remark) for remark in self.found.remarks),
            *(("cards", Remark(line or None, text)) for line, text in cards),
        ]

    @property
    def one_way_count(self) -> int:
        """How many borders lead one way only."""
        ways = set(self.found.board.borders)
        return sum((end, start) not in ways for start, end in ways)

    @property
    def border_count(self) -> int:
        """How many pairs of territories share a border, one way or both."""
        return (len(self.found.board.borders) + self.one_way_count) // 2

    def record(self) -> dict[str, Any]:
        board, cards, homes = self.found.board, self.found.cards, _homes(self.found.board)
        places = board.places or (None,) * len(board.territories)
        return {
            "name": board.name,
            "format": self.found.format,
            "border_count": self.border_count,
            "one_way_count": self.one_way_count,
            "territories": [
                {
                    "name": name,
                    "continents": homes[name],
                    "neighbours": list(board.neighbours(name)),
                    "place": None if place is None else list(place),
                }
                for name, place in zip(board.territories, places, strict=True)
            ],
            "continents": [
                {
                    "name": each.name,
                    "bonus": each.bonus,
                    "territories": list(each.territories),
                    "entries": _entries(board, each),
                }
                for each in board.continents
            ],
            "cards": None
            if cards is None
            else {
                "territories": cards.territories,
                "wildcards": cards.wildcards,
                "missions": cards.missions,
            },
            "remarks": [
                {"file": file, "line": remark.line, "text": remark.text}
                for file, remark in self.remarks
            ],
        }

    def rows(self) -> Iterator[Sequence[object]]:
        board, homes = self.found.board, _homes(self.found.board)
        places: Sequence[Sequence[object]] = board.places or (("", ""),) * len(board.territories)
        yield ("territory", "continents", "neighbours", "x", "y")
        for name, (x, y) in zip(board.territories, places, strict=True):
            yield (name, "; ".join(homes[name]), "; ".join(board.neighbours(name)), x, y)

    def draw(self, charts: ModuleType) -> Any:
        return charts.board_map(self.found.board)

    def template(self) -> str:
        """Return a position file in which red has the first territory, and blue the others."""
        board = self.found.board
        holdings = [Holding("red", 5)] + [Holding("blue", 2)] * (len(board.territories) - 1)
        is_classic = self.found.format == BUILT_IN
        name = "classic" if is_classic else PurePath(self.question.file).name
        text = position_toml(Position(board, "red", holdings), name)
        return TEMPLATE + ("" if is_classic else BESIDE) + text.removesuffix("\n")

    def sections(self) -> Iterator[Section]:
        if self.question.template:
            yield Section([self.template()])
            return
        board, cards = self.found.board, self.found.cards
        counts = (
            count(len(board.territories), "territory", "territories"),
            count(self.border_count, "border", "borders"),
            count(len(board.continents), "continent", "continents"),
        )
        lines = [f"{board.name}: {', '.join(counts)} ({self.found.format})."]
        if cards:
            lines.append(
                f"Cards: {count(cards.territories, 'territory', 'territories')}, "
                f"{count(cards.wildcards, 'wildcard', 'wildcards')}, "
                f"{count(cards.missions, 'mission', 'missions')}."
            )
        if not self.remarks:
            lines.append("All borders lead both ways, and every territory can be reached.")
        yield Section(lines)
        if self.remarks:
            yield self._oddities()
        yield from _board_sections(board)
        if self.question.to is not None:
            yield Section([f"Written to {plain(self.question.to)}."])

    def _oddities(self) -> Section:
        kinds, lines = Counter(file for file, _ in self.remarks), []
        for file, remark in self.remarks:
            line = "" if remark.line is None else f"line {remark.line}: "
            which = f"{file}, " if len(kinds) > 1 or file == "cards" else ""
            lines.append(f"{which}{line}{remark.text}")
        return Section(lines, title=f"{count(len(lines), 'oddity', 'oddities')}:")


def _board_sections(board: Board) -> Iterator[Section]:
    if board.continents:
        yield Section(
            [Table(("", "bonus", "territories", "entered through"), list(_continents(board)))],
            title="Continents, with the territories through which they are entered:",
        )
    neighbours = [(name, ", ".join(board.neighbours(name)) or "-") for name in board.territories]
    yield Section(
        [Table(("", ""), neighbours)], title="Territories, with those that they can attack:"
    )


def _homes(board: Board) -> dict[str, list[str]]:
    """Return the continents of each territory."""
    homes: dict[str, list[str]] = {name: [] for name in board.territories}
    for continent in board.continents:
        for name in continent.territories:
            homes[name].append(continent.name)
    return homes


def _entries(board: Board, continent: Continent) -> list[str]:
    """Return the territories of a continent that can be attacked from outside."""
    inside = set(continent.territories)
    entered = {end for start, end in board.borders if start not in inside}
    return [name for name in continent.territories if name in entered]


def _continents(board: Board) -> Iterator[Sequence[str]]:
    for each in board.continents:
        entries = _entries(board, each)
        named = ", ".join(entries) if len(entries) <= MOST_NAMED else f"{len(entries)} of them"
        yield (each.name, str(each.bonus), str(len(each.territories)), named or "-")


@sections_of.register
def _(value: Board) -> Iterator[Section]:
    yield Section([f"{value.name}: {count(len(value.territories), 'territory', 'territories')}."])
    yield from _board_sections(value)


@sections_of.register
def _(value: Position) -> Iterator[Section]:
    yield Section([f"{value.player} to move on {value.board.name}."])
    rows = [
        (name, holding.owner or "-", str(holding.armies))
        for name, holding in zip(value.board.territories, value.holdings, strict=True)
    ]
    yield Section([Table(("", "owner", "armies"), rows)])
