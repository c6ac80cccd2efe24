"""Each player's chance to win the whole game if an AI plays every side."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import list_condition
from iacta.forms.parameter_kinds import Flag, OneOf
from iacta.forms.percentages import short_percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import (
    OMITTED,
    AnswerSectionRecord,
    Count,
    IntervalRecord,
    KeyedRecord,
    Unit,
    key,
)
from iacta.forms.sections import Section, Table
from iacta.forms.sentences import join_phrases
from iacta.forms.whole_game import (
    CONDITION,
    CONDITION_KEY,
    PEOPLE,
    WholeGameForm,
    describe_ai,
    describe_share,
    format_range,
    format_share,
    format_share_and_range,
    make_interval_record,
)
from iacta.war import WinChance, WinChances, WinEstimate, win_chances
from iacta.war.chances import CUT_ROUNDS, DEFAULT_GAMES
from iacta.war.games import OPEN_AIMS
from iacta.war.players import AS_LIKED, PLAYERS
from iacta.war.tournament import MAX_ROUNDS


@question(
    "win",
    Topic.BOARD,
    Example("win game.toml", "who is winning? (make game.toml with iacta board)"),
    Example("win game.toml --time-limit 1", "the same, within a second?"),
)
class WinQuestion(WholeGameForm, Question):
    """Estimate each player's chance to win by playing whole games."""

    player: str = parameter(
        OneOf(tuple(PLAYERS)),
        "The AI that plays every side: usual, simple, or yardstick, which hunts for cards.",
        metavar="NAME",
        default="usual",
    )

    best_goal: bool = parameter(
        Flag(),
        "The player to move plays this turn for the goal that wins the most games.",
        default=False,
    )

    def answer(self, watch: Watch | None = None) -> "WinAnswer":
        last: WinChances | None = None

        def show(found: WinChances | None, part: float) -> None:
            nonlocal last
            is_new, last = found is not last, found
            if watch is not None:
                so_far = WinAnswer(self, found) if found and is_new else None
                watch("Playing games", part, keeps=found is not None, so_far=so_far)

        try:
            found = win_chances(
                self.turn,
                player=self.player,
                best_goal=self.best_goal,
                games=self.games,
                time_limit=self.time_limit,
                seed=self.seed,
                progress=show,
            )
        except KeyboardInterrupt:
            if last is None:
                raise
            return WinAnswer(self, last, is_complete=False)
        return WinAnswer(self, found)


WIN = "The share of the games that the player wins."
UNDER_SIMPLE = "The same share if the simple AI plays every side."
INTERVAL = "The 95% interval of `win` for more such games, not for games among people."


class PlayerWinRecord(KeyedRecord):
    """The share of games that a player wins under the requested AI and under the simple AI."""

    player: str = key("The player.")
    win: Unit = key(WIN)
    interval: IntervalRecord = key(INTERVAL)
    under_simple: Unit = key(UNDER_SIMPLE)
    under_simple_interval: IntervalRecord = key("The 95% interval of `under_simple`.")
    figure: str = key("`win` in whole percent.")


class WinRecord(KeyedRecord):
    """The share of games that each player wins."""

    condition: str = key(CONDITION_KEY, is_column=True)
    player: str = key("The player to move.", is_column=True)
    win: Unit = key("The share of the games that the player to move wins.", is_column=True)
    interval: IntervalRecord = key(INTERVAL, is_column=True)
    under_simple: Unit = key(UNDER_SIMPLE, is_column=True)
    players: tuple[PlayerWinRecord, ...] = key("Each player, in the order of play.")
    games: Count = key("The number of games played.")
    cut: Count = key("The number of games cut short and decided by the learnt value function.")
    too_long: Count = key("The number of games undecided after 200 rounds and decided likewise.")
    allowance: Unit = key("The error that cutting games short may add to the interval.")
    games_under_simple: Count = key("The number of games played by the simple AI.")
    too_long_under_simple: Count = key(
        "The number of games by the simple AI undecided after 200 rounds."
    )
    is_complete: bool = key("Whether all games were played within the time limit.")
    words: str = key(
        "`win` in words; empty while the interval of a player is wider than 4 points to a side."
    )
    details: Sequence[AnswerSectionRecord] = key("How the shares were estimated, for readers.")
    goal: str = key("Only with `--best-goal`: the goal of the player to move.", default=OMITTED)


class WinAnswer(Answer):
    """The share of games that each player wins.

    found: the shares of wins with the requested AI, and with the simple AI.
    """

    question: WinQuestion
    found: WinChances

    def pairs(self) -> Iterator[tuple[WinChance, WinChance]]:
        """For each player, yield the share of wins with the requested AI and with the simple AI."""
        found = self.found
        yield from zip(found.chances.chances, found.under_simple.chances, strict=True)

    @property
    def condition(self) -> str:
        return CONDITION.replace(describe_ai("usual"), describe_ai(self.found.chances.ai))

    @property
    def data(self) -> WinRecord:
        found, name = self.found, self.question.turn.player
        rows = [
            PlayerWinRecord(
                usual.player,
                usual.chance,
                make_interval_record(usual.interval),
                simple.chance,
                make_interval_record(simple.interval),
                short_percent(usual.chance, 0),
            )
            for usual, simple in self.pairs()
        ]
        mover = next(row for row in rows if row.player == name)
        return WinRecord.from_attributes(
            found.chances,
            condition=self.condition,
            player=name,
            win=mover.win,
            interval=mover.interval,
            under_simple=mover.under_simple,
            players=tuple(rows),
            games_under_simple=found.under_simple.games,
            too_long_under_simple=found.under_simple.too_long,
            is_complete=self._is_complete(),
            words=self._describe_win(),
            goal=found.goal or OMITTED,
            details=[AnswerSectionRecord.from_section(each) for each in self._list_explanations()],
        )

    def _is_complete(self) -> bool:
        wanted, kinds = self.question.games, (self.found.chances, self.found.under_simple)
        return all(each.games in (0, wanted or DEFAULT_GAMES.get(each.ai, 2000)) for each in kinds)

    def _describe_win(self) -> str:
        """Describe the share of wins of the player to move, unless shares are too uncertain."""
        if not self.found.chances.games:
            return win_sentence(self)
        shares = {
            each.player: describe_share(each.chance, each.interval) for each, _ in self.pairs()
        }
        name = self.question.turn.player
        return f"{_capitalise(name)} wins {shares[name]}." if all(shares.values()) else ""

    def rows(self) -> Iterator[Sequence[object]]:
        under_simple = ("under_simple", "under_simple_low", "under_simple_high")
        yield ("player", "win", "low", "high", *under_simple, "condition")
        for usual, simple in self.pairs():
            numbers = (usual.chance, *usual.interval, simple.chance, *simple.interval)
            yield (usual.player, *numbers, self.condition)

    def sections(self) -> Iterator[Section]:
        first, *rest = self._list_explanations()
        sentence, *more = first.parts
        yield replace(first, parts=[sentence, *self.question.list_assumptions(), *more])
        yield from rest

    def _list_explanations(self) -> Iterator[Section]:
        """Yield the sections that explain the shares, without the assumptions about the moment."""
        chances, goal = self.found.chances, self.found.goal
        name = self.question.turn.player
        chosen = [f"In this turn {name} plays for the goal that won most games: {goal}."]
        is_chosen = goal not in ("", OPEN_AIMS[AS_LIKED])
        condition = list_condition(self.question.turn)
        people = [PEOPLE] if chances.games else []
        yield Section([win_sentence(self), *condition, *(chosen if is_chosen else []), *people])
        rows = [
            (
                usual.player,
                format_share(usual.chance),
                format_range(usual.interval),
                format_share(simple.chance),
                format_range(simple.interval),
            )
            for usual, simple in self.pairs()
        ]
        columns = ("", f"with {describe_ai(chances.ai)}", "95% interval", "with its simple AI")
        yield Section([Table((*columns, "95% interval"), rows)], title="Games won:")
        if chances.games:
            yield Section([_describe_games(chances), _describe_games(self.found.under_simple)])

    def draw(self, charts: Charts) -> Any:
        return charts.win_bar(self)


def win_sentence(answer: WinAnswer) -> str:
    """Return a sentence about the share of games that the player to move wins."""
    name = answer.question.turn.player
    found = (answer.found.chances, answer.found.under_simple)
    if not found[0].games:
        winner = next(each.player for each, _ in answer.pairs() if each.chance)
        rivals = {*answer.question.turn.survivors} - {winner}
        return f"{_capitalise(winner)} has won{'' if rivals else ': no other player is left'}."
    own = (each.find_chance(name) for each in found)
    usual, simple = (format_share_and_range(each.chance, each.interval) for each in own)
    sentence = f"{_capitalise(name)} wins about {usual} of games {answer.condition}"
    if answer.found.chances.ai == answer.found.under_simple.ai:
        return f"{sentence}."
    return f"{sentence}, and {simple} when a simpler AI does."


def _capitalise(name: str) -> str:
    return name[:1].upper() + name[1:]


def _describe_games(estimate: WinEstimate) -> str:
    games = f"{estimate.games:,} games with {describe_ai(estimate.ai)}"
    ended = [
        *([f"{estimate.cut:,} stopped after {CUT_ROUNDS} rounds"] if estimate.cut else []),
        *(
            [f"{estimate.too_long:,} stopped after {MAX_ROUNDS} rounds"]
            if estimate.too_long
            else []
        ),
    ]
    if not ended:
        return f"{games}, all played to the end."
    extra = 100 * estimate.allowance
    allow = f", so the result may be off by a further {extra:g} points" if extra else ""
    return f"{games}: {join_phrases(ended)}, and their winners estimated{allow}."
