"""Each player's chance to win the whole game if an AI plays every side."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import describe_condition, describe_winner
from iacta.forms.parameter_kinds import Flag, Name, OneOf
from iacta.forms.percentages import short_percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import OMITTED, AnswerSectionRecord, IntervalRecord, KeyedRecord, key
from iacta.forms.sections import Section, Table
from iacta.forms.sentences import capitalise
from iacta.forms.whole_game import (
    CONDITION_KEY,
    GAMES_CONDITION,
    PEOPLE,
    WholeGameForm,
    describe_ai,
    describe_share,
    format_range,
    format_share,
    format_share_and_range,
)
from iacta.game import Turn
from iacta.game.deal import deal_missions
from iacta.inputs.errors import IactaError, IllegalError
from iacta.inputs.meanings import Count, Unit
from iacta.native.deadline import Deadline
from iacta.war import WinChance, WinChances, WinEstimate, win_chances
from iacta.war.chances import CUT_ROUNDS, DEFAULT_GAMES, WinChange
from iacta.war.game import MAX_ROUNDS
from iacta.war.games import (
    TimeIsOverError,
    War,
    choose_best_aim_per_goal,
    describe_aim,
)
from iacta.war.narration import describe_moves
from iacta.war.players import PLAYERS

SIDES = (
    "One AI plays every side: either the computer, iacta's usual AI, or the keeper AI, which is "
    "about as good and guards its continents."
)


@question(
    "win",
    Topic.BOARD,
    Example("win game.toml", "who is winning? (make game.toml with iacta board)"),
    Example("win game.toml --time-limit 1", "the same, but within a second"),
)
class WinQuestion(WholeGameForm, Question):
    """Estimate each player's chance to win by playing whole games."""

    headline: ClassVar = "Who is winning?"

    player: str = parameter(
        OneOf(tuple(PLAYERS)),
        "The AI that plays every side: usual; keeper (another style); simple (weaker); or strong "
        "(it wins 31% against three usual AIs, but is 20 times as slow and plays 200 games).",
        metavar="NAME",
        default="usual",
    )

    compare_to: str | None = parameter(
        Name(),
        "An earlier position as a code: also show how each player's share has changed since.",
        metavar="TEXT",
        default=None,
    )

    turn_: bool = parameter(
        Flag(),
        "Show how the AI would play the turn, and the goals that it compared.",
        default=False,
    )

    def answer(self, watch: Watch | None = None) -> "WinAnswer":
        deadline, answers = Deadline.from_time_limit(self.time_limit), list[WinAnswer]()
        earlier = self.read_earlier_turn()

        def estimate(turn: Turn, start: float, end: float, before: WinChances | None) -> WinChances:
            """Estimate the chances while the progress goes from `start` to `end`."""
            last: WinChances | None = None

            def show(found: WinChances | None, part: float) -> None:
                nonlocal last
                is_new, last = found is not None and found is not last, found
                if is_new and found is not None and turn is self.turn:
                    answers[:] = [WinAnswer(self, found, before)]
                if watch is not None:
                    so_far = answers[0] if is_new and answers else None
                    done = start + (end - start) * part
                    watch("Playing games", done, keeps=bool(answers), so_far=so_far)

            return win_chances(
                turn,
                player=self.player,
                games=self.games,
                time_limit=deadline.take_share(0.5 if turn is earlier else 1.0).time_limit,
                seed=self.seed,
                progress=show,
            )

        try:
            before = None if earlier is None else estimate(earlier, 0.0, 0.5, None)
            found = estimate(self.turn, 0.0 if before is None else 0.5, 1.0, before)
        except KeyboardInterrupt:
            if not answers:
                raise
            return replace(answers[0], is_complete=False)
        return WinAnswer(self, found, before)

    def read_earlier_turn(self) -> Turn | None:
        """Return the turn with which the chances are compared."""
        if self.compare_to is None:
            return None
        try:
            earlier = self.set_victory(Turn.from_code(self.compare_to, self.turn.board))
        except IactaError as error:
            error.parameter = "compare_to"
            raise
        if {*earlier.players} != {*self.turn.players}:
            raise IllegalError(
                f"compare_to must be a position of {', '.join(self.turn.players)}, got one of "
                f"{', '.join(earlier.players)}",
                parameter="compare_to",
            )
        return earlier


TURN_TIME_SHARE = 0.25  # the time for `--turn`, as a share of the time limit
WINS_OF_PLAYER = "The share of the games that the player wins."
SECOND_AI_WINS = "The same share if another AI of equal strength plays every side."
INTERVAL = "The 95% interval of `win` for more such games, not for games among people."


class PlayerWinRecord(KeyedRecord):
    """The share of games that a player wins with the requested AI and with a second AI."""

    player: str = key("The player.")
    win: Unit = key(WINS_OF_PLAYER)
    interval: IntervalRecord = key(INTERVAL)
    second_opinion: Unit = key(SECOND_AI_WINS)
    second_opinion_interval: IntervalRecord = key("The 95% interval of `second_opinion`.")
    figure: str = key("`win` in whole percent.")


class WinChangeRecord(KeyedRecord):
    """The change of the share of games that a player wins since an earlier position."""

    player: str = key("The player.")
    change: float = key("`win` minus the share in the earlier position, with the same dice.")
    interval: IntervalRecord = key("The 95% interval of `change`.")
    second_opinion: float = key("The same change if another AI of equal strength plays.")
    second_opinion_interval: IntervalRecord = key("The 95% interval of this change.")
    words: str = key("`change` in words, such as `+3 points (±2)`.")


class ComparedGoalRecord(KeyedRecord):
    """A goal that the AI compared for its turn."""

    goal: str = key("The goal.")
    value: float = key(
        "The AI's estimate of the turn with this goal: the share of games that it would win. A "
        "single estimate may be off by 15 points; only differences count."
    )


class WinRecord(KeyedRecord, of=WinEstimate):
    """The share of games that each player wins."""

    condition: str = key(CONDITION_KEY, is_column=True)
    player: str = key("The player to move.", is_column=True)
    win: Unit = key("The share of the games that the player to move wins.", is_column=True)
    interval: IntervalRecord = key(INTERVAL, is_column=True)
    second_opinion: Unit = key(SECOND_AI_WINS, is_column=True)
    players: tuple[PlayerWinRecord, ...] = key("Each player, in the order of play.")
    games: Count
    too_long: Count
    is_estimated: bool
    second_opinion_games: Count = key("The number of games played by the other AI.")
    second_opinion_too_long: Count = key("The number of these games undecided after 200 rounds.")
    is_complete: bool = key("Whether all games were played within the time limit.")
    words: str = key(
        "`win` in words; empty while the interval of any player extends by more than 12 points."
    )
    details: Sequence[AnswerSectionRecord] = key("How the shares were estimated, for readers.")
    changes: Sequence[WinChangeRecord] = key(
        "Only with `--compare-to`: the change of each player's share, in the order of play.",
        default=OMITTED,
    )
    turn: Sequence[str] = key(
        "Only with `--turn`: a turn as the AI plays it, with its own dice, in words.",
        default=OMITTED,
    )
    compared: Sequence[ComparedGoalRecord] = key(
        "Only with `--turn`: the goals that the AI compared for the turn, the chosen goal first.",
        default=OMITTED,
    )


class WinAnswer(Answer):
    """The share of games that each player wins.

    found: the shares of wins with the requested AI and with a second AI.
    before: the shares in the earlier position, if one is compared.
    """

    question: WinQuestion
    found: WinChances
    before: WinChances | None = None

    def pairs(self) -> Iterator[tuple[WinChance, WinChance]]:
        """For each player, yield the share of wins with the requested AI and with the second AI."""
        found = self.found
        yield from zip(found.chances.chances, found.second_opinion.chances, strict=True)

    def list_changes(self) -> list[tuple[str, WinChange, WinChange]]:
        """Return the changes since the earlier position for each player, one for each AI."""
        if self.before is None:
            return []
        before, found = self.before, self.found
        names = [each.player for each in found.chances.chances]
        return [
            (
                name,
                found.chances.compute_change(before.chances, name),
                found.second_opinion.compute_change(before.second_opinion, name),
            )
            for name in names
        ]

    @property
    def condition(self) -> str:
        return GAMES_CONDITION.replace(describe_ai("usual"), describe_ai(self.found.chances.ai))

    @property
    def data(self) -> WinRecord:
        found, name = self.found, self.question.turn.player
        rows = [
            PlayerWinRecord(
                player=first.player,
                win=first.chance,
                interval=IntervalRecord.from_interval(first.interval),
                second_opinion=second.chance,
                second_opinion_interval=IntervalRecord.from_interval(second.interval),
                figure=short_percent(first.chance, 0),
            )
            for first, second in self.pairs()
        ]
        mover = next(row for row in rows if row.player == name)
        return WinRecord.from_attributes(
            found.chances,
            condition=self.condition,
            player=name,
            win=mover.win,
            interval=mover.interval,
            second_opinion=mover.second_opinion,
            players=tuple(rows),
            second_opinion_games=found.second_opinion.games,
            second_opinion_too_long=found.second_opinion.too_long,
            is_complete=self._is_complete(),
            words=self._describe_win(),
            changes=[*map(_make_change_record, self.list_changes())] if self.before else OMITTED,
            turn=self.moves if self.question.turn_ else OMITTED,
            compared=self.compared if self.question.turn_ else OMITTED,
            details=[
                AnswerSectionRecord.from_section(explanation)
                for explanation in self._list_explanations()
            ],
        )

    @cached_property
    def moves(self) -> list[str]:
        """A turn of the AI, in words, with the winner if it ends the game; empty if it is over."""
        question = self.question
        if question.turn.phase == "over" or self.found.chances.is_decided:
            return []
        dealt = deal_missions(question.turn, question.seed)
        limit = self._limit_turn()
        try:
            record = War(dealt).play_turn(PLAYERS[question.player], question.seed, deadline=limit)
        except TimeIsOverError:
            return ["does not finish within the time limit"]
        moves = describe_moves(record) or ["does nothing"]
        return [*moves, *filter(None, [describe_winner(record.end)])]

    @cached_property
    def compared(self) -> list[ComparedGoalRecord]:
        """The goals that the AI compares for the turn; empty for an AI without goals."""
        question = self.question
        if question.turn.phase == "over" or self.found.chances.is_decided:
            return []
        war = War(question.turn)
        ai = PLAYERS[question.player]
        try:
            aims = choose_best_aim_per_goal(war, ai, question.seed, self._limit_turn())
        except TimeIsOverError:
            return []
        return [ComparedGoalRecord(goal=describe_aim(war, aim), value=value) for aim, value in aims]

    def _limit_turn(self) -> Deadline:
        """Return the deadline for a turn as the AI plays it, or for the comparison of its goals."""
        limit = self.question.time_limit
        return Deadline(None if limit is None else max(float(limit), 1.0) * TURN_TIME_SHARE)

    def _is_complete(self) -> bool:
        wanted, kinds = self.question.games, (self.found.chances, self.found.second_opinion)
        return all(
            kind.is_decided
            or (not kind.is_estimated and kind.games == (wanted or DEFAULT_GAMES[kind.ai]))
            for kind in kinds
        )

    def _describe_win(self) -> str:
        """Describe the share of wins of the player to move, unless shares are too uncertain."""
        if self.found.chances.is_decided:
            return win_sentence(self)
        shares = {
            each.player: describe_share(each.chance, each.interval, self._about)
            for each, _ in self.pairs()
        }
        name = self.question.turn.player
        return f"{capitalise(name)} wins {shares[name]}." if all(shares.values()) else ""

    @property
    def _about(self) -> str:
        """The word before a share: an estimate is replaced by complete games later."""
        return "an estimated" if self.found.chances.is_estimated else "about"

    def rows(self) -> Iterator[Sequence[object]]:
        second_opinion = ("second_opinion", "second_opinion_low", "second_opinion_high")
        yield ("player", "win", "low", "high", *second_opinion, "condition")
        for first, second in self.pairs():
            numbers = (first.chance, *first.interval, second.chance, *second.interval)
            yield (first.player, *numbers, self.condition)

    def sections(self) -> Iterator[Section]:
        first, *rest = self._list_explanations()
        sentence, *more = first.parts
        yield replace(first, parts=[sentence, *self.question.list_assumptions(), *more])
        yield from rest

    def _list_explanations(self) -> Iterator[Section]:
        """Yield the sections that explain the shares, without the assumptions about the moment."""
        chances = self.found.chances
        condition = describe_condition(self.question.turn)
        people = [] if chances.is_decided else [PEOPLE]
        yield Section([win_sentence(self), *condition, *people])
        rows = [
            (
                first.player,
                format_share(first.chance),
                format_range(first.interval),
                format_share(second.chance),
                format_range(second.interval),
            )
            for first, second in self.pairs()
        ]
        names = [f"with {describe_ai(each.ai)}" for each in (chances, self.found.second_opinion)]
        columns = ("", names[0], "95% interval", names[1], "95% interval")
        is_usual = {chances.ai, self.found.second_opinion.ai} == {"usual", "keeper"}
        notes = [SIDES] if is_usual and not chances.is_decided else []
        yield Section([Table(columns, rows), *notes], title="Games won:")
        if changes := self.list_changes():
            rows = [
                (name, *format_change(own), *format_change(second)) for name, own, second in changes
            ]
            title = "Changes since the earlier position, in percentage points:"
            yield Section([Table(columns, rows)], title=title)
        if not chances.is_decided:
            yield Section([_describe_games(chances), _describe_games(self.found.second_opinion)])
        if self.question.turn_ and self.moves:
            yield Section(self.moves, title=f"A turn as {describe_ai(chances.ai)} plays it:")
        if self.question.turn_ and self.compared:
            best = max(each.value for each in self.compared)
            table = [(each.goal, f"{100 * (best - each.value):.1f}") for each in self.compared]
            title = "Goals that the AI compared (it tried the worse goals less often):"
            if self.compared[0].value < best:
                title = (
                    "Goals that the AI compared, its choice first (it tried other goals less "
                    "often, or it prefers its choice to nearly equal goals):"
                )
            yield Section([Table(("", "points behind"), table)], title=title)

    def draw(self, charts: Charts) -> Any:
        return charts.win_bar(self)


def win_sentence(answer: WinAnswer) -> str:
    """Return a sentence about the share of games that the player to move wins."""
    name = answer.question.turn.player
    found = (answer.found.chances, answer.found.second_opinion)
    if found[0].is_decided:
        is_alone = f"{capitalise(name)} has won: no other player is left."
        return describe_winner(answer.question.turn) or is_alone
    own = (each.find_chance(name) for each in found)
    first, second = (format_share_and_range(each.chance, each.interval) for each in own)
    about = answer._about
    sentence = f"{capitalise(name)} wins {about} {first} of games {answer.condition}"
    return f"{sentence}, and {second} when another AI does."


def format_change(found: WinChange) -> tuple[str, str]:
    """Return a change in percentage points, and its interval ("" for a decided game).

    >>> from iacta.probability.estimate import Interval
    >>> format_change(WinChange(0.034, Interval(0.011, 0.057)))
    ('+3.4', '+1.1 to +5.7')
    """
    low, high = found.interval
    within = "" if low == high else f"{100 * low:+.1f} to {100 * high:+.1f}"
    return f"{100 * found.change:+.1f}", within


def _make_change_record(row: tuple[str, WinChange, WinChange]) -> WinChangeRecord:
    player, own, second = row
    margin = ceil(100 * max(own.interval.high - own.change, own.change - own.interval.low))
    return WinChangeRecord(
        player=player,
        change=own.change,
        interval=IntervalRecord.from_interval(own.interval),
        second_opinion=second.change,
        second_opinion_interval=IntervalRecord.from_interval(second.interval),
        words=f"{100 * own.change:+.0f} points (±{margin})",
    )


def _describe_games(estimate: WinEstimate) -> str:
    ai = describe_ai(estimate.ai)
    games = f"{estimate.games:,} games with {ai}"
    if estimate.is_estimated and not estimate.games:
        return (
            f"The time limit is too short for games with {ai}, so the shares are a rough estimate "
            "from the position alone, with wide intervals."
        )
    if estimate.is_estimated:
        return (
            f"{games}, stopped after {CUT_ROUNDS} rounds. A formula estimates who would have won, "
            "and the intervals include its error. More time plays complete games."
        )
    if estimate.too_long:
        return (
            f"{games}: {estimate.too_long:,} stopped after {MAX_ROUNDS} rounds, and their winners "
            "estimated."
        )
    return f"{games}, all played to the end."
