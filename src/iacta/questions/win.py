"""How often each player wins the whole game if everybody plays like a player of iacta."""

from collections.abc import Iterator, Sequence
from typing import Any

from iacta.forms.form import Example, Topic, parameter
from iacta.forms.parameter_kinds import OneOf
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import Count, IntervalRecord, KeyedRecord, Unit, key
from iacta.forms.sections import Section, Table
from iacta.forms.sentences import join_phrases
from iacta.forms.whole_game import (
    CONDITION,
    CONDITION_KEY,
    PEOPLE,
    WholeGameForm,
    interval_record,
    like,
    range_text,
    reported,
    share_and_range,
    share_text,
)
from iacta.war import WinChance, WinChances, WinEstimate, win_chances
from iacta.war.chances import CUT_ROUNDS, DEFAULT_GAMES
from iacta.war.players import PLAYERS
from iacta.war.tournament import MAX_ROUNDS


@question(
    "win",
    Topic.BOARD,
    Example("win game.toml", "who is winning (game.toml: see iacta board)?"),
    Example("win game.toml --time-limit 1", "the same, looked at for a second?"),
)
class WinQuestion(WholeGameForm, Question):
    """Estimate each player's chance to win by playing whole games."""

    player: str = parameter(
        OneOf(tuple(PLAYERS)),
        "Like whom everybody plays, beside the simple player.",
        default="usual",
    )

    def answer(self, watch: Watch | None = None) -> "WinAnswer":
        found = win_chances(
            self.turn,
            player=self.player,
            games=self.games,
            time_limit=self.time_limit,
            seed=self.seed,
            progress=reported(watch, "games"),
        )
        return WinAnswer(self, found)


WIN = "Which part of the games the player wins."
LIKE_SIMPLE = "The same if everybody plays like iacta's simple player."
INTERVAL = "The 95% interval of `win`: of more such games, not of a game among people."


class PlayerWinRecord(KeyedRecord):
    """How often a player wins, under two players."""

    player: str = key("The player.")
    win: Unit = key(WIN)
    interval: IntervalRecord = key(INTERVAL)
    under_simple: Unit = key(LIKE_SIMPLE)
    under_simple_interval: IntervalRecord = key("The 95% interval of `under_simple`.")
    figure: str = key("`win` as a percentage.")
    range: str = key("`interval` as percentages; empty where `win` is exact.")
    figure_under_simple: str = key("`under_simple` as a percentage.")


class WinRecord(KeyedRecord):
    """How often each player wins the whole game."""

    condition: str = key(CONDITION_KEY, is_column=True)
    player: str = key("Who is to move.", is_column=True)
    win: Unit = key("Which part of the games who is to move wins.", is_column=True)
    interval: IntervalRecord = key(INTERVAL, is_column=True)
    under_simple: Unit = key(LIKE_SIMPLE, is_column=True)
    players: tuple[PlayerWinRecord, ...] = key("Each player, in the order of play.")
    games: Count = key("How many games were played.")
    cut: Count = key("How many of these were cut and ended by a learnt value of the position.")
    too_long: Count = key("How many were not won after 200 rounds, and were ended likewise.")
    allowance: Unit = key("What cutting may add to the error, besides the interval.")
    games_under_simple: Count = key("How many games of the simple player were played.")
    too_long_under_simple: Count = key("How many of these were not won after 200 rounds.")
    is_complete: bool = key("Whether all games were played before the time was over.")


class WinAnswer(Answer):
    """How often each player wins the whole game.

    found: the shares of games, under the player that was asked for and under the simple one.
    """

    question: WinQuestion
    found: WinChances

    def pairs(self) -> Iterator[tuple[WinChance, WinChance]]:
        """Yield each player's share of games, and that under the simple player."""
        found = self.found
        yield from zip(found.chances.chances, found.under_simple.chances, strict=True)

    @property
    def condition(self) -> str:
        return CONDITION.replace("iacta's player", like(self.found.chances.ai))

    @property
    def data(self) -> WinRecord:
        found, name = self.found, self.question.turn.player
        rows = [
            PlayerWinRecord(
                usual.player,
                usual.chance,
                interval_record(usual.interval),
                simple.chance,
                interval_record(simple.interval),
                share_text(usual.chance),
                range_text(usual.interval),
                share_text(simple.chance),
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
        )

    def _is_complete(self) -> bool:
        wanted, kinds = self.question.games, (self.found.chances, self.found.under_simple)
        return all(each.games in (0, wanted or DEFAULT_GAMES.get(each.ai, 2000)) for each in kinds)

    def rows(self) -> Iterator[Sequence[object]]:
        under_simple = ("under_simple", "under_simple_low", "under_simple_high")
        yield ("player", "win", "low", "high", *under_simple, "condition")
        for usual, simple in self.pairs():
            numbers = (usual.chance, *usual.interval, simple.chance, *simple.interval)
            yield (usual.player, *numbers, self.condition)

    def sections(self) -> Iterator[Section]:
        chances = self.found.chances
        assumed = self.question.list_assumptions()
        yield Section([win_sentence(self), *assumed, *([PEOPLE] if chances.games else [])])
        rows = [
            (
                usual.player,
                share_text(usual.chance),
                range_text(usual.interval),
                share_text(simple.chance),
                range_text(simple.interval),
            )
            for usual, simple in self.pairs()
        ]
        columns = ("", f"like {like(chances.ai)}", "95% interval", "like its simple player")
        yield Section([Table((*columns, "95% interval"), rows)], title="Games won:")
        if chances.games:
            yield Section([_played(chances), _played(self.found.under_simple)])

    def draw(self, charts: Charts) -> Any:
        return charts.win_bar(self)


def win_sentence(answer: WinAnswer) -> str:
    """Return who wins how often, in a sentence."""
    name, condition = answer.question.turn.player, answer.condition
    found = (answer.found.chances, answer.found.under_simple)
    if not found[0].games:
        winner = next(each.player for each, _ in answer.pairs() if each.chance)
        return f"{winner} has won, {condition} or like its simple player: nobody else is left."
    own = (each.find_chance(name) for each in found)
    usual, simple = (share_and_range(each.chance, each.interval) for each in own)
    return (
        f"{condition[0].upper()}{condition[1:]}, {name} wins {usual} of the games; like its "
        f"simple player, {simple}."
    )


def _played(estimate: WinEstimate) -> str:
    games = f"{estimate.games:,} games like {like(estimate.ai)}"
    ended = [
        *([f"{estimate.cut:,} cut after {CUT_ROUNDS} rounds"] if estimate.cut else []),
        *([f"{estimate.too_long:,} stopped after {MAX_ROUNDS}"] if estimate.too_long else []),
    ]
    if not ended:
        return f"{games}, all played to their end."
    allow = f", so allow {100 * estimate.allowance:g} points more" if estimate.allowance else ""
    return f"{games}: {join_phrases(ended)}, and judged by similar games{allow}."
