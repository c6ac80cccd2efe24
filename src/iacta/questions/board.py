"""A board: its territories, remarks on its file, conversions, and the odds of a position."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import PurePath
from typing import Any

from iacta.board.board import Board, Continent
from iacta.board.files import BUILT_IN, BoardFile, add_continents, write_board
from iacta.board.formats import FORMATS
from iacta.board.formats.draft import Cards, Remark
from iacta.board.position import Holding, Position, format_position_toml
from iacta.forms.form import ClashError, Example, Topic, parameter
from iacta.forms.moment import VictoryForm, describe_condition, describe_winner
from iacta.forms.parameter_kinds import FileName, Flag, RulesName
from iacta.forms.percentages import percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import RULES_KEY, KeyedRecord, format_key, key
from iacta.forms.sections import Section, Table, make_sections
from iacta.forms.sentences import add_noun, join_phrases
from iacta.game import BorderOdds, Turn, list_border_odds
from iacta.game.moment import read_board_or_moment
from iacta.inputs.files import format_path
from iacta.inputs.meanings import Count
from iacta.rules.rules import Rules
from iacta.rules.variants import rules_name

MAX_NAMED_ENTRIES = 8  # names in a table cell; a longer list is replaced by its length
TEMPLATE = """\
# The owner and the armies of each territory, and the player to move. A territory that you leave out
# takes no part in attacks, unless `others` gives it an owner, such as
# others = { owner = "blue", armies = 2 }
"""
BESIDE = "# Keep this file in the folder of the board's file.\n"
READ = ", ".join(dict.fromkeys(board_format.name for board_format in FORMATS))
WRITTEN = ", ".join(
    f"{board_format.ending} ({board_format.name})" for board_format in FORMATS if board_format.write
)


@question(
    "board",
    Topic.BOARD,
    Example("board classic", "which territories and borders does the board have?"),
    Example("board classic --to classic.toml", "a board file to edit"),
    Example("board classic --template > game.toml", "a position file to edit"),
    Example("board game.toml --win-by share=70%", "the same position, won by a share of the map"),
    Example("board game.toml --odds", "which of my battles have good odds?"),
)
class BoardQuestion(VictoryForm, Question):
    """Show a board, check its file, convert it, or show the odds of a position."""

    file: str = parameter(
        FileName(),
        f"The board (map): classic, teg, or a file in one of these formats: {READ}. For the map of "
        "a recording of the official app, write such a file. Or a position: a file or a code.",
        is_argument=True,
        metavar="FILE",
    )
    to: str | None = parameter(
        FileName(),
        f"Write the board to a file; its ending sets the format: {WRITTEN}.",
        excludes="odds",
        default=None,
    )
    continents: str | None = parameter(
        FileName(),
        "Read the continents from a table (CSV): in each line a name, the bonus, and territories.",
        default=None,
    )
    template: bool = parameter(
        Flag(),
        "Print a position file for you to edit, with all territories; or the file of a position.",
        excludes="odds",
        default=False,
    )
    odds: bool = parameter(
        Flag(),
        "Show the odds of each battle that the player to move can fight.",
        default=False,
    )
    rules: str | Rules | None = parameter(
        RulesName(),
        "The rules for --odds (iacta rules lists them).",
        usual="classic",
        needs="odds",
        default=None,
    )

    def answer(self, watch: Watch | None = None) -> "BoardAnswer | PositionAnswer | OddsAnswer":
        content = read_board_or_moment(self.file)
        if isinstance(content, BoardFile):
            if self.continents is not None:
                content = add_continents(content, self.continents)
            if self.odds:
                raise ClashError("{odds} needs a position, got the board {0!r}", content.board.name)
            if self.win_by is not None:
                raise ClashError(
                    "{win_by} needs a position, got the board {0!r}", content.board.name
                )
            if self.to is not None:
                write_board(content.board, self.to)
            return BoardAnswer(self, content)
        if self.continents is not None:
            raise ClashError("{continents} needs a board, got a position")
        content = self.set_victory(content)
        if self.odds:
            return OddsAnswer(self, self._apply_rules(content))
        if self.to is not None:
            write_board(content.board, self.to)
        return PositionAnswer(self, content)

    def _apply_rules(self, turn: Turn) -> Turn:
        if self.rules is None:
            return turn
        keep, rules_of, stay = turn.keep, turn.rules_of, turn.stay
        victory = turn.victory
        return Turn(
            turn.position, self.rules, keep=keep, rules_of=rules_of, stay=stay, victory=victory
        )


class TerritoryRecord(KeyedRecord):
    """A territory of a board."""

    name: str = key("The name of the territory.")
    continents: Sequence[str] = key("The continents that contain the territory.")
    neighbours: Sequence[str] = key("The territories that can be attacked from here.")
    place: Sequence[float] | None = key("`[x, y]` on the map, or `null`.")


class ContinentRecord(KeyedRecord, of=Continent):
    """A continent of a board."""

    name: str
    bonus: int
    territories: Sequence[str]
    entries: Sequence[str] = key("The territories that can be attacked from outside.")


class CardsRecord(KeyedRecord, of=Cards):
    """The cards that come with a board, from a cards file beside the board file."""

    territories: Count
    wildcards: Count
    missions: Count


class RemarkRecord(KeyedRecord, of=Remark):
    """A remark on something unusual in a file."""

    file: str = key("`board` or `cards`.")
    line: int | None
    text: str


class BoardRecord(KeyedRecord):
    """A board: its borders, territories, continents and cards."""

    name: str = key("The name of the board.")
    format: str = key("`built in`, or the name of the file's format.")
    border_count: Count = key("The number of pairs of territories with a border in any direction.")
    one_way_count: Count = key("The number of borders that lead one way only.")
    territories: Sequence[TerritoryRecord] = key("Each territory.")
    continents: Sequence[ContinentRecord] = key("Each continent.")
    cards: CardsRecord | None = key("The cards, or `null` without a cards file.")
    remarks: Sequence[RemarkRecord] = key("Remarks on the files.")


class BoardAnswer(Answer):
    """A board with remarks on its file.

    file: the content of the board file.
    """

    question: BoardQuestion
    file: BoardFile

    @property
    def remarks(self) -> list[tuple[str, Remark]]:
        """Pairs of a file, `"board"` or `"cards"`, and a remark on this file."""
        cards = self.file.cards.remarks if self.file.cards else ()
        return [
            *(("board", remark) for remark in self.file.remarks),
            *(("cards", Remark(line or None, text)) for line, text in cards),
        ]

    @property
    def one_way_count(self) -> int:
        ways = set(self.file.board.borders)
        return sum((end, start) not in ways for start, end in ways)

    @property
    def border_count(self) -> int:
        return (len(self.file.board.borders) + self.one_way_count) // 2

    @property
    def data(self) -> BoardRecord:
        board, cards, homes = self.file.board, self.file.cards, _map_to_continents(self.file.board)
        places = board.places or (None,) * len(board.territories)
        return BoardRecord.from_attributes(
            self,
            name=board.name,
            format=self.file.format,
            territories=[
                TerritoryRecord(
                    name=name,
                    continents=homes[name],
                    neighbours=board.neighbours(name),
                    place=place,
                )
                for name, place in zip(board.territories, places, strict=True)
            ],
            continents=[
                ContinentRecord.from_attributes(continent, entries=_list_entries(board, continent))
                for continent in board.continents
            ],
            cards=cards and CardsRecord.from_attributes(cards),
            remarks=[
                RemarkRecord.from_attributes(remark, file=file) for file, remark in self.remarks
            ],
        )

    def rows(self) -> Iterator[Sequence[object]]:
        board, homes = self.file.board, _map_to_continents(self.file.board)
        places: Sequence[Sequence[object]] = board.places or (("", ""),) * len(board.territories)
        yield ("territory", "continents", "neighbours", "x", "y")
        for name, (x, y) in zip(board.territories, places, strict=True):
            yield (name, "; ".join(homes[name]), "; ".join(board.neighbours(name)), x, y)

    def draw(self, charts: Charts) -> Any:
        return charts.board_map(self.file.board)

    def template(self) -> str:
        """Return a position file in which red holds the first territory and blue the others."""
        board = self.file.board
        holdings = [Holding("red", 5)] + [Holding("blue", 2)] * (len(board.territories) - 1)
        is_classic = self.file.format == BUILT_IN
        name = "classic" if is_classic else PurePath(self.question.file).name
        text = format_position_toml(Position(board, "red", holdings), name)
        return TEMPLATE + ("" if is_classic else BESIDE) + text.removesuffix("\n")

    def sections(self) -> Iterator[Section]:
        if self.question.template:
            yield Section([self.template()])
            return
        board, cards = self.file.board, self.file.cards
        counts = (
            add_noun(len(board.territories), "territory", "territories"),
            add_noun(self.border_count, "border", "borders"),
            add_noun(len(board.continents), "continent", "continents"),
        )
        lines = [f"{board.name}: {', '.join(counts)} ({self.file.format})."]
        if cards:
            lines.append(
                f"Cards: {add_noun(cards.territories, 'territory', 'territories')}, "
                f"{add_noun(cards.wildcards, 'wildcard', 'wildcards')}, "
                f"{add_noun(cards.missions, 'mission', 'missions')}."
            )
        if not self.remarks:
            lines.append("All borders lead both ways, and every territory can be reached.")
        yield Section(lines)
        if self.remarks:
            yield self._make_remarks_section()
        yield from _make_board_sections(board)
        if self.question.to is not None:
            yield Section([f"Written to {format_path(self.question.to)}."])

    def _make_remarks_section(self) -> Section:
        kinds, lines = Counter(file for file, _ in self.remarks), []
        for file, remark in self.remarks:
            line = "" if remark.line is None else f"line {remark.line}: "
            which = f"{file}, " if len(kinds) > 1 or file == "cards" else ""
            lines.append(f"{which}{line}{remark.text}")
        return Section(lines, title=f"{add_noun(len(lines), 'oddity', 'oddities')}:")


class HoldingRecord(KeyedRecord, of=Holding):
    """The owner and the armies of a territory."""

    name: str = key("The name of the territory.")
    owner: str
    armies: Count


class OwnedRecord(KeyedRecord):
    """A continent that one player owns."""

    name: str = key("The name of the continent.")
    owner: str = key("The player who owns it.")
    bonus: int = key("Its bonus.")


class PositionRecord(KeyedRecord):
    """A position: owners, armies and the player to move."""

    code: str = key("The code of the turn.")
    board: str = key("The name of the board.")
    player: str = key("The player to move.")
    condition: str = key("The way to win, in words.")
    winner: str | None = key("The player who has won, or `null`.")
    territories: Sequence[HoldingRecord] = key("Each territory.")
    continents: Sequence[OwnedRecord] = key("Each continent that one player owns.")


class PositionAnswer(Answer):
    """A position: owners, armies and the player to move.

    turn: a turn in this position.
    """

    question: BoardQuestion
    turn: Turn

    @property
    def data(self) -> PositionRecord:
        position = self.turn.position
        return PositionRecord(
            code=self.turn.to_code(),
            board=position.board.name,
            player=position.player,
            condition=self.turn.victory.describe(self.turn),
            winner=self.turn.winner,
            territories=[
                HoldingRecord(name=name, owner=owner, armies=armies)
                for name, owner, armies in self._list_holdings()
            ],
            continents=self.list_owned(),
        )

    def _list_holdings(self) -> Iterator[tuple[str, str, int]]:
        position = self.turn.position
        for name, holding in zip(position.board.territories, position.holdings, strict=True):
            yield name, holding.owner, holding.armies

    def list_owned(self) -> list[OwnedRecord]:
        """Return the continents that one player owns."""
        position = self.turn.position
        found = []
        for continent in position.board.continents:
            owners = {position.find_holding(name).owner for name in continent.territories}
            if len(owners) == 1 and (owner := owners.pop()):
                found.append(OwnedRecord(name=continent.name, owner=owner, bonus=continent.bonus))
        return found

    def rows(self) -> Iterator[Sequence[object]]:
        yield from (("territory", "owner", "armies"), *self._list_holdings())

    def draw(self, charts: Charts) -> Any:
        return charts.board_map(self.turn.position)

    def sections(self) -> Iterator[Section]:
        if self.question.template:
            yield Section([self.turn.to_toml().removesuffix("\n")])
            return
        yield from make_sections(self.turn.position)
        lines = dict[str, list[str]]()
        for each in self.list_owned():
            lines.setdefault(each.owner, []).append(f"{each.name} ({each.bonus:+d})")
        if lines:
            owned = [f"{owner} owns {join_phrases(names)}" for owner, names in lines.items()]
            yield Section([f"{'; '.join(owned)}."])
        if condition := describe_condition(self.turn):
            yield Section([*condition, *filter(None, [describe_winner(self.turn)])])
        yield Section([f"The code of this turn: {self.turn.to_code()}"])
        if self.question.to is not None:
            yield Section([f"Written to {format_path(self.question.to)}."])


class OddsRecord(KeyedRecord):
    """The battles that the player to move could fight now."""

    code: str = key("The code of the turn.")
    player: str = key("The player to move.")
    rules: str = key(RULES_KEY, is_repeated=True)
    odds: Sequence[BorderOdds] = key("Each battle, the best first.")


class OddsAnswer(Answer):
    """The odds of each battle that the player to move could fight now.

    turn: the turn in its attack phase.
    """

    question: BoardQuestion
    turn: Turn

    @cached_property
    def odds(self) -> list[BorderOdds]:
        return sorted(list_border_odds(self.turn), key=lambda odds: -odds.win_probability)

    @property
    def data(self) -> OddsRecord:
        return OddsRecord(
            code=self.turn.to_code(),
            player=self.turn.player,
            rules=rules_name(self.turn.rules),
            odds=self.odds,
        )

    def draw(self, charts: Charts) -> Any:
        return charts.board_map(self.turn.position)

    def rows(self) -> Iterator[Sequence[object]]:
        yield tuple(map(format_key, BorderOdds._fields))
        yield from self.odds

    def sections(self) -> Iterator[Section]:
        player, odds = self.turn.player, self.odds
        if not odds:
            yield Section([f"{player} can attack nobody."])
        else:
            best = odds[0]
            battles = add_noun(len(odds), "battle", "battles")
            yield Section(
                [
                    f"{player} can fight {battles}; the best is {best.start} to {best.to}, "
                    f"{best.attackers:,} against {best.defenders:,}: "
                    f"{percent(best.win_probability)}."
                ]
            )
            rows = [
                (f"{v} to {c}", f"{a:,}", f"{d:,}", percent(chance)) for v, c, a, d, chance in odds
            ]
            yield Section([Table(("", "attackers", "defenders", "chance to take"), rows)])
        yield Section([f"The code of this turn: {self.turn.to_code()}"])


def _make_board_sections(board: Board) -> Iterator[Section]:
    if board.continents:
        yield Section(
            [
                Table(
                    ("", "bonus", "territories", "entry points"), list(_list_continent_rows(board))
                )
            ],
            title="Continents, with the territories that can be attacked from outside:",
        )
    neighbours = [(name, ", ".join(board.neighbours(name)) or "-") for name in board.territories]
    yield Section([Table(("", ""), neighbours)], title="Territories, with their possible targets:")


def _map_to_continents(board: Board) -> dict[str, list[str]]:
    homes: dict[str, list[str]] = {name: [] for name in board.territories}
    for continent in board.continents:
        for name in continent.territories:
            homes[name].append(continent.name)
    return homes


def _list_entries(board: Board, continent: Continent) -> list[str]:
    """Return the territories of a continent that can be attacked from outside it."""
    inside = set(continent.territories)
    entered = {end for start, end in board.borders if start not in inside}
    return [name for name in continent.territories if name in entered]


def _list_continent_rows(board: Board) -> Iterator[Sequence[str]]:
    for continent in board.continents:
        entries = _list_entries(board, continent)
        named = (
            ", ".join(entries)
            if len(entries) <= MAX_NAMED_ENTRIES
            else f"{len(entries)} territories"
        )
        yield (continent.name, str(continent.bonus), str(len(continent.territories)), named or "-")


@make_sections.register
def _(value: Board) -> Iterator[Section]:
    yield Section(
        [f"{value.name}: {add_noun(len(value.territories), 'territory', 'territories')}."]
    )
    yield from _make_board_sections(value)


@make_sections.register
def _(value: Turn) -> Iterator[Section]:
    yield Section(re.split(r"\n(?! )", str(value)))  # a paragraph for each continent


@make_sections.register
def _(value: Position) -> Iterator[Section]:
    yield Section([f"{value.player} to move on {value.board.name}."])
    rows = [
        (name, holding.owner or "-", str(holding.armies))
        for name, holding in zip(value.board.territories, value.holdings, strict=True)
    ]
    yield Section([Table(("", "owner", "armies"), rows)])
