"""The review of a game: each player's luck, and the cost of their decisions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from iacta.board import Board
from iacta.board.files import read_board
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import LEVEL
from iacta.forms.parameter_kinds import FileName, Flag, Name, Source
from iacta.forms.percentages import format_armies, format_goal_change, short_percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import OMITTED, IntervalRecord, KeyedRecord, key
from iacta.forms.sections import Section, Table, make_sections
from iacta.forms.sentences import add_noun, capitalise
from iacta.forms.shared_parameters import TIME_LIMIT
from iacta.forms.whole_game import (
    GAMES_CONDITION,
    PEOPLE,
    format_share_and_range,
)
from iacta.game import Turn
from iacta.inputs.meanings import Count, Unit
from iacta.native.deadline import Deadline
from iacta.plan.game_log import LoggedTurn, read_game
from iacta.plan.levels import USUAL
from iacta.plan.review import PlayerReview, Review, ReviewedStep, review
from iacta.war.turn_wins import TurnWins, measure_turn_wins

MAX_SHOWN_STEPS = 100  # maximum number of steps to list in an answer
REVIEW_TIME_SHARE = 0.5  # fraction of the time limit for the review, if games follow
EXAMPLE_GAME_LOG = (
    '{"turn": "1;classic;red;Venezuela:red:9,Brazil:blue:4,Peru:blue:2", '
    '"goal": {"take": "Brazil, Peru"}, "battles": ['
    '{"from": "Venezuela", "to": "Peru", "left": 8, "their_left": 0, "moved": 3}, '
    '{"from": "Venezuela", "to": "Brazil", "left": 1, "their_left": 2}]}\n'
)
USUAL_LUCK = (
    "Usual luck is the standard deviation of luck: in about two of three games, luck lies between "
    "minus and plus this number."
)


@question(
    "review",
    Topic.STUDY,
    Example("review game.jsonl", "were you lucky, and which attacks were mistakes?"),
    Example("review game.jsonl --time-limit 60", "the same, with at most a minute of search"),
)
class ReviewQuestion(Question):
    """Review a game: each player's luck, and the cost of their decisions."""

    headline: ClassVar = "Was it luck, or my mistakes?"
    first_texts: ClassVar = {"log": EXAMPLE_GAME_LOG}
    one_of: ClassVar = ("file or log",)

    file: str | None = parameter(
        FileName(),
        "The log of a game, as downloaded from the board, or a game recorded by another program.",
        is_argument=True,
        default=None,
    )
    log: str | None = parameter(
        Name(),
        "The text of a log or of a recorded game, instead of a file.",
        metavar="TEXT",
        excludes="file",
        default=None,
    )
    board: str | Board | None = parameter(
        Source(Board, read_board, ("classic",)),
        "The board (map), if the log does not contain it.",
        metavar="FILE",
        usual="classic",
        default=None,
    )
    worth: bool = parameter(
        Flag(),
        "Judge turns without a stated goal by the points they gain (as in plan --worth). Without "
        "this option, the decisions of such turns are not judged.",
        default=False,
    )
    win: bool = parameter(
        Flag(),
        "Also compare the chance to win before and after each turn without a goal.",
        default=False,
    )
    level: str = parameter(*LEVEL, default=USUAL.name)
    time_limit: Fraction | None = parameter(*TIME_LIMIT, metavar="SECONDS", default=None)

    def answer(self, watch: Watch | None = None) -> "ReviewAnswer":
        def progress(part: float, total: int, so_far: Review) -> None:
            if watch is not None:
                watch(f"Replaying {total:,} battles", part, so_far=ReviewAnswer(self, so_far))

        source = Path(self.file) if self.file is not None else self.log or ""
        deadline = Deadline.from_time_limit(self.time_limit)
        part = deadline.take_share(REVIEW_TIME_SHARE).time_limit if self.win else self.time_limit
        reviewed = review(
            source,
            board=self.board,
            time_limit=part,
            worth=self.worth,
            level=self.level,
            progress=progress,
        )
        if not self.win:
            return ReviewAnswer(self, reviewed)
        turns = [*_list_turns_without_goal(read_game(source, self.board).turns)]

        def show_turns(done: int, total: int) -> None:
            if watch is not None:
                watch(f"Playing games around {total:,} turns", done / total)

        wins = measure_turn_wins(turns, deadline=deadline, progress=show_turns)
        return ReviewAnswer(self, reviewed, tuple(wins), len(turns) - len(wins))


def _list_turns_without_goal(logged: Iterable[LoggedTurn]) -> Iterator[tuple[int, Turn, Turn]]:
    """Yield the number, the start and the end of each turn without a goal."""
    start: Turn | None = None
    for each in logged:  # a turn with unclear events has several parts
        start = each.turn if start is None else start
        if each.is_over:
            if not each.goals:
                yield each.number, start, each.end
            start = None


class ReviewedPlayerRecord(KeyedRecord, of=PlayerReview):
    """One player's luck and decisions in the game."""

    player: str
    turns: Count
    battles: Count
    luck: float | None
    spread: float | None
    cost: float | None
    luck_armies: float | None
    mistakes: Count


class TurnWinRecord(KeyedRecord):
    """The chance to win the game before and after a turn without a goal."""

    turn: Count = key("The number of the turn.")
    player: str = key("The player of the turn.")
    before: Unit = key("The share of games that the player wins from the first attack on.")
    before_interval: IntervalRecord = key("The 95% interval of `before`.")
    after: Unit = key("The share of games that the player wins after the last attack.")
    after_interval: IntervalRecord = key("The 95% interval of `after`.")
    change: float = key("`after` minus `before`.")
    second_opinion_change: float = key(
        "The same change if another AI of equal strength plays every side."
    )


class ReviewRecord(KeyedRecord, of=Review):
    """The review of a game: luck and the cost of decisions."""

    is_chance: bool
    level: str
    is_exact: bool = key("Whether all values are proven to be the best.")
    unclear: Mapping[str, int]
    missed: Count
    corrections: Sequence[str]
    players: Sequence[ReviewedPlayerRecord] = key("The game of each player.")
    costliest: Sequence[ReviewedStep] = key("The costliest decisions, at most 3.")
    steps: Sequence[ReviewedStep]
    wins: Sequence[TurnWinRecord] = key(
        f"The chance to win before and after each turn without a goal, {GAMES_CONDITION}.",
        default=OMITTED,
    )
    ambiguous: Count = key(default=OMITTED)


class ReviewAnswer(Answer):
    """The review of a game.

    reviewed: the review.
    wins: the chances to win before and after turns without a goal, if asked for.
    missed_wins: the number of turns without a goal for which there was no time.
    """

    question: ReviewQuestion
    reviewed: Review
    wins: tuple[TurnWins, ...] = ()
    missed_wins: int = 0

    @property
    def data(self) -> ReviewRecord:
        reviewed = self.reviewed
        return ReviewRecord.from_attributes(
            reviewed,
            is_exact=reviewed.proven,
            unclear=dict(reviewed.unclear),
            ambiguous=reviewed.ambiguous or OMITTED,
            players=[ReviewedPlayerRecord.from_attributes(player) for player in reviewed.players],
            wins=[_make_wins_record(win) for win in self.wins] if self.question.win else OMITTED,
        )

    def rows(self) -> Iterator[Sequence[object]]:
        yield (
            *("turn", "player", "from", "to", "lost", "killed", "moved", "before", "after"),
            *("luck", "spread", "cost", "better", "dice", "is_assumed", "luck_armies"),
        )
        for step in self.reviewed.steps:
            cells = (*step[:13], step.dice, step.is_assumed, step.luck_armies)
            yield tuple("" if cell is None else cell for cell in cells)

    def sections(self) -> Iterator[Section]:
        player_lines, *others = _make_sections(self.reviewed)
        yield player_lines
        if self.question.win:
            yield from self._list_wins()
        yield from others

    def _list_wins(self) -> Iterator[Section]:
        """Yield a section with the chances to win before and after turns without a goal."""
        notes = [PEOPLE] if self.wins else []
        if self.missed_wins:
            missed = add_noun(self.missed_wins, "turn", "turns")
            notes.append(f"There was no time for {missed} without a goal.")
        if not self.wins:
            yield Section(notes or ["Each turn has a goal, so the chance to win judges no turn."])
            return
        rows = []
        for win in self.wins:
            shown = [
                format_share_and_range(found.chance, found.interval)
                for found in (ends.chances.find_chance(win.player) for ends in win[2:])
            ]
            changes = (f"{100 * change:+.1f}" for change in (win.change, win.second_opinion_change))
            rows.append((f"turn {win.number}, {win.player}", *shown, *changes))
        table = Table(("", "before", "after", "change in points", "with the keeper AI"), rows)
        title = f"Chance to win before and after turns without a goal, {GAMES_CONDITION}:"
        yield Section([table, *notes], title=title)

    def draw(self, charts: Charts) -> Any:
        return charts.game_review(self.reviewed)


def _make_wins_record(wins: TurnWins) -> TurnWinRecord:
    before, after = (ends.chances.find_chance(wins.player) for ends in wins[2:])
    return TurnWinRecord.from_attributes(
        wins,
        turn=wins.number,
        before=before.chance,
        before_interval=IntervalRecord.from_interval(before.interval),
        after=after.chance,
        after_interval=IntervalRecord.from_interval(after.interval),
    )


@make_sections.register
def _make_sections(reviewed: Review) -> Iterator[Section]:
    yield Section([_describe_player(reviewed, player) for player in reviewed.players])
    sentences = []
    if not reviewed.proven:
        sentences.append(
            "Some values may be too low, because a better plan may exist than the one found."
        )
    if reviewed.assumed:
        sentences.append(
            f"The log lacks the dice of {add_noun(reviewed.assumed, 'attack', 'attacks')}; iacta "
            "assumes the best number that fits the losses (?), so luck may be biased."
        )
    if reviewed.unclear:
        unclear = ", ".join(f"{why} ({number})" for why, number in reviewed.unclear)
        sentences.append(f"Ignored, because the recording is unclear: {unclear}.")
    if reviewed.ambiguous:
        where = add_noun(reviewed.ambiguous, "turn", "turns")
        sentences.append(
            f"In {where}, the last armies to move may have moved in after the conquest, or have "
            "been the fortifying move. iacta takes armies that move forward as moving in, and "
            "armies that move back as the fortifying move."
        )
    if reviewed.corrections:
        corrections = "; ".join(reviewed.corrections)
        sentences.append(f"Corrected by hand, and not judged: {corrections}.")
    if reviewed.pending:
        battles = add_noun(reviewed.pending, "roll or battle is", "rolls or battles are")
        sentences.append(f"The review goes on: {battles} still to come.")
    if reviewed.missed:
        missed = add_noun(reviewed.missed, "roll or battle", "rolls or battles")
        sentences.append(f"There was no time to judge {missed}; allow more time.")
    if sentences:
        yield Section(sentences)
    unit = "points" if reviewed.is_chance else "worth"
    if any(player.luck is not None for player in reviewed.players):
        lucks = [
            (
                player.player,
                _format_armies(player.luck_armies),
                _format_value(reviewed, player.luck, "+"),
                "not known" if player.spread is None else _format_value(reviewed, player.spread),
                _format_value(reviewed, player.cost),
            )
            for player in reviewed.players
        ]
        names = ("", "luck in armies", f"luck in {unit}", "usual luck", "given away")
        yield Section([Table(names, lucks), USUAL_LUCK])
    costliest = [
        (
            f"turn {step.turn}, {step.player}",
            step.name,
            step.better,
            _format_value(reviewed, step.cost),
        )
        for step in reviewed.costliest
        if float(_format_value(reviewed, step.cost) or 0)
    ]
    if costliest:
        table = Table(("", "done", "better", "cost"), costliest)
        yield Section([table], title="The costliest decisions:")
    rows = [
        (
            f"turn {step.turn}, {step.player}: {step.name}",
            "" if step.dice is None else f"{step.dice}{'?' if step.is_assumed else ''}",
            f"{step.lost}-{step.killed}" if step.to else "",
            _format_armies(step.luck_armies) if step.to else "",
            _format_after(reviewed, step.after, is_over=not step.to),
            _format_value(reviewed, step.luck, "+") if step.is_useful else "no use",
            _format_value(reviewed, step.cost),
        )
        for step in reviewed.steps[:MAX_SHOWN_STEPS]
    ]
    more = len(reviewed.steps) - len(rows)
    notes = [f"The CSV has {more:,} more steps."] if more else []
    value = "chance" if reviewed.is_chance else "worth"
    columns = ("", "dice", "losses", "luck in armies", value, f"luck in {unit}", "cost")
    yield Section([Table(columns, rows), *notes], title="Step by step:")


def _describe_player(reviewed: Review, player: PlayerReview) -> str:
    """Describe a player's luck in armies, and the mistakes, in one sentence."""
    was = f"{capitalise(player.player)} was"
    if player.luck_armies is None:
        luck = f"{was} in a battle too large to measure its luck"
    elif not float(amount := f"{abs(player.luck_armies):.1f}"):
        luck = f"{was} neither lucky nor unlucky"
    else:
        armies = "1 army" if amount == "1.0" else f"{amount.removesuffix('.0')} armies"
        luck = f"{was} {armies} {'lucky' if player.luck_armies > 0 else 'unlucky'}"
    if player.cost is None:
        return f"{luck}."
    if player.worst is None:
        return f"{luck} and made no mistake."
    worst = player.worst
    cost = _format_value(reviewed, worst.cost)
    unit = "points" if reviewed.is_chance else "in territories and bonuses"
    done = f"{worst.name} in turn {worst.turn}; better: {worst.better} (cost {cost} {unit})"
    if player.mistakes == 1:
        return f"{luck} and made one mistake: {done}."
    return f"{luck} and made {player.mistakes:,} mistakes, the worst: {done}."


def _format_after(reviewed: Review, value: float | None, *, is_over: bool) -> str:
    """Return the value after a step; a chance is 0% or 100% only if that is certain.

    is_over: whether the attacks of the turn are over.
    """
    if value is None or not reviewed.is_chance:
        return _format_value(reviewed, value)
    is_exact = value == 1.0 or (value == 0.0 and is_over)
    return short_percent(Fraction(value) if is_exact else value, 1)


def _format_armies(luck: float | None) -> str:
    return "" if luck is None else format_armies(luck).removesuffix(" armies")


def _format_value(reviewed: Review, value: float | None, sign: str = "") -> str:
    if value is None:
        return ""
    return format_goal_change(value, is_chance=reviewed.is_chance, sign=sign)
