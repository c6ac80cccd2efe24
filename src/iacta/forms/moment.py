"""The parameters of questions about a position, or about a turn in any phase."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, overload

from iacta.board.board import Board
from iacta.board.built_in import classic_board
from iacta.board.files import read_board
from iacta.board.position import Position
from iacta.forms.form import ClashError, Example, Form, parameter
from iacta.forms.parameter_kinds import (
    FileName,
    Flag,
    Name,
    OneOf,
    OtherArmies,
    Pairs,
    Source,
    Whole,
)
from iacta.forms.sentences import add_noun, capitalise
from iacta.game import Missions, Turn
from iacta.game.mission_cards import read_mission_cards
from iacta.game.moment import read_moment
from iacta.game.victory import SURVIVAL, VICTORIES, Capitals, find_survivor, make_victory
from iacta.inputs.checks import quote
from iacta.inputs.errors import IactaError, IllegalError
from iacta.plan.levels import LEVELS
from iacta.rules.variants import MODIFIERS

# The turn with which the pages of questions open.
EXAMPLE_CODE = (
    "1;classic;red;Venezuela:red:5,Peru:red:3,Brazil:red:9,Argentina:blue:2,North%20Africa:blue:4,"
    "Central%20America:green:6,Egypt:green:3;place;place=4"
)
CAPITAL = next(modifier for modifier in MODIFIERS if modifier.name == "capital")


@overload
def resolve_board(board: str | Board) -> Board: ...
@overload
def resolve_board(board: str | Board | None) -> Board | None: ...
def resolve_board(board: str | Board | None) -> Board | None:
    """Return a board; read it from a file if the argument is a path."""
    return read_board(board) if isinstance(board, str) else board


FROM = (
    Pairs(Whole(minimum=1), "Ukraine=42"),
    "Without a file: your armies (red), such as Ukraine=42.",
)
OTHERS = (
    OtherArmies(Whole(minimum=1), "2,Ural=4"),
    "Armies on all other territories (blue): 2 or 2,Ural=4.",
)


LEVEL = (
    OneOf(tuple(LEVELS)),
    "The work: quick, usual or long.",
)


def make_position(
    board: Board, armies: Iterable[tuple[str, int]], others: Iterable[tuple[str, int]]
) -> Position:
    """Return a position of red against blue, with red to move.

    armies: pairs of a territory of red and its armies.
    others: pairs of a territory of blue and its armies; an empty name stands for all others.
    """
    other_armies = dict(others)
    rest = other_armies.pop("", None)
    mine = {name: ("red", number) for name, number in armies}
    theirs = {name: ("blue", number) for name, number in other_armies.items()}
    if both := {*mine} & {*theirs}:
        raise ClashError("{from_} and {others} both name {0}", min(both))
    return Position(board, "red", mine | theirs, others=None if rest is None else ("blue", rest))


class VictoryForm(Form, kw_only=True):
    """Choose how the game is won, other than by being the last player left."""

    examples = (
        Example("win game.toml --win-by share=70%", "who wins by a share of the map?"),
        Example(
            "goals game.toml --win-by capitals --capital red=Brazil,blue=Ural",
            "can I take all capitals this turn?",
        ),
        Example(
            "plan game.toml --win-by missions --mission red='Asia, Africa' --mission blue=hidden "
            "--win",
            "how do I fulfil my mission this turn?",
        ),
    )

    win_by: str | None = parameter(
        Name(),
        "Who wins: survivor, share=70%, capitals or missions.",
        metavar="CONDITION",
        usual="as the position says",
        page="win_by",
        default=None,
    )
    capital: tuple[tuple[str, str], ...] | None = parameter(
        Pairs(Name(), "red=Brazil,blue=Ural"),
        "With --win-by capitals, the capital of each player: red=Brazil,blue=Ural.",
        metavar="PLAYERS",
        needs="win_by",
        page="win_by",
        default=None,
    )
    capital_dice: bool = parameter(
        Flag(),
        "Capitals defend with one more die, as in the official app.",
        needs="capital",
        page="win_by",
        default=False,
    )
    mission: tuple[tuple[str, str], ...] | None = parameter(
        Pairs(Name(), "red=Asia, Africa;blue=eliminate red", ";"),
        "With --win-by missions, the mission of a player: red='Asia, Africa' or red=hidden. Repeat "
        "the option for each player.",
        metavar="MISSIONS",
        needs="win_by",
        excludes="capital",
        page="win_by",
        default=None,
    )
    mission_cards: str | None = parameter(
        FileName(),
        "The cards from which hidden missions are dealt: a TOML file, or a .cards file of the "
        "program Domination.",
        usual="the cards of the 1993 edition",
        needs="mission",
        page="win_by",
        default=None,
    )

    def set_victory(self, turn: Turn) -> Turn:
        """Return a turn with the victory condition of the question."""
        if self.win_by is None:
            return turn
        word, _, value = self.win_by.partition("=")
        for option, needed in (("capital", Capitals.word), ("mission", Missions.word)):
            if self.has(option) and word.strip() != needed:
                raise ClashError(f"{{{option}}} also needs {{win_by}} {needed}")
        pairs, cards = self.capital or self.mission or (), None
        if self.mission_cards is not None:
            cards = read_mission_cards(self.mission_cards, turn.board, turn.players)
        with name_victory_options():
            player_texts = dict(pairs)
            if len(player_texts) < len(pairs):
                names = [name for name, _ in pairs]
                twice = next(name for name in names if names.count(name) > 1)
                word = "capital" if self.capital else "mission"
                raise IllegalError(f"{word} must name each player once, got {quote(twice)} twice")
            victory = make_victory({word.strip(): value.strip(), **player_texts})
            if isinstance(victory, Missions) and cards is not None:
                victory = replace(victory, cards=cards)
            found = turn.with_options(victory=victory)
        if not (self.capital_dice and isinstance(found.victory, Capitals)):
            return found
        own = dict.fromkeys(found.victory.capitals.values(), CAPITAL.apply(turn.rules))
        return found.with_options(rules_of={**turn.rules_of, **own})


@contextmanager
def name_victory_options() -> Iterator[None]:
    """In errors about victory conditions, use the names of the form's parameters."""
    try:
        yield
    except IactaError as error:
        text = re.sub(r"^mission card\b", "mission_cards: a card", str(error))
        word, _, rest = text.partition(" ")
        start = "win_by" if word == "win" else f"win_by {word}" if word in VICTORIES else word
        name = start.partition(" ")[0].removesuffix(":")
        raise type(error)(f"{start} {rest}", parameter=name) from None


class MomentForm(VictoryForm, kw_only=True):
    """A question about a moment: a position, or a turn in any phase."""

    first_texts: ClassVar[Mapping[str, str]] = {"code": EXAMPLE_CODE}
    one_of: ClassVar[tuple[str, ...]] = ("position or code or from_",)

    position: str | Position | Turn | None = parameter(
        Source(Turn, read_moment, reads=(Position,)),
        "A saved position or turn: a file, or a code from iacta's board in the browser.",
        is_argument=True,
        metavar="FILE",
        default=None,
    )
    code: str | None = parameter(
        Name(),
        "A position or turn as a code, copied from iacta's board in the browser.",
        metavar="TEXT",
        default=None,
    )
    board: str | Board | None = parameter(
        Source(Board, read_board, ("classic",)),
        "The board (map) for the code or for --from.",
        metavar="FILE",
        usual="classic",
        default=None,
    )
    from_: tuple[tuple[str, int], ...] | None = parameter(
        *FROM, needs="others", label="your armies", default=None
    )
    others: tuple[tuple[str, int], ...] | None = parameter(
        *OTHERS, excludes="position and code", label="their armies", default=None
    )

    @cached_property
    def turn(self) -> Turn:
        board = resolve_board(self.board)
        if self.from_ is not None:
            position = make_position(board or classic_board(), self.from_, self.others or ())
            return self.set_victory(Turn(position))
        try:
            if self.code is not None:
                turn = Turn.from_code(self.code, board)
            else:
                turn = read_moment(self.position or "", board)
        except IactaError as error:  # the error may name a part of the moment, such as its player
            error.parameter = "position" if self.code is None else "code"
            raise
        return self.set_victory(turn)


def describe_condition(turn: Turn) -> list[str]:
    """Return sentences about the victory condition and about each player's progress."""
    if turn.victory == SURVIVAL:
        return []
    found = ((name, turn.victory.describe_progress(turn, name)) for name in turn.survivors)
    progress = "; ".join(f"{name}: {words}" for name, words in found if words)
    return [turn.victory.describe(turn), *([f"So far: {progress}."] if progress else [])]


def describe_winner(turn: Turn) -> str:
    """Return a sentence with the winner and the reason; empty while the game goes on."""
    winner = turn.winner
    if winner is None:
        return ""
    how = turn.victory.describe_win(turn, winner)
    if find_survivor(turn):
        how = "no other player is left"
    return f"{capitalise(winner)} has won: {how}."


def describe_count(turn: Turn) -> str:
    """Return the winner by the number of territories, then of armies, as a clause.

    >>> describe_count(Turn.from_code("1;classic;red;Peru:red:3,Siam:blue:4,Ural:red:1"))
    'red wins by territories: 2 territories and 4 armies.'
    """

    def measure(player: str) -> tuple[int, int]:
        held = zip(turn.owners, turn.armies, strict=True)
        return turn.owners.count(player), sum(armies for owner, armies in held if owner == player)

    leader = max(turn.survivors, key=measure)
    territories, armies = measure(leader)
    return (
        f"{leader} wins by territories: {add_noun(territories, 'territory', 'territories')} and "
        f"{add_noun(armies, 'army', 'armies')}."
    )
