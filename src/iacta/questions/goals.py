"""What a turn can be played for: how often it gets there, and who wins the game after it."""

from collections.abc import Iterator, Sequence
from typing import Any

from iacta.questions.form import Example, Topic, parameter
from iacta.questions.parameter_kinds import Flag
from iacta.questions.question import Answer, Charts, Question, Watch, question
from iacta.questions.record import OMITTED, Count, IntervalRecord, KeyedRecord, Unit, key
from iacta.questions.sections import Bar, Bars, Section, Table
from iacta.questions.sentences import joined
from iacta.questions.whole_game import (
    CONDITION,
    CONDITION_KEY,
    PEOPLE,
    WholeGame,
    interval_record,
    range_text,
    reported,
    share_of,
    share_text,
)
from iacta.war import GoalChance, Goals, best_goals
from iacta.war.goals import GAMES

HOW = {"tactics": "", "plan": "by a plan", "worth": "by a plan that spares armies"}


@question(
    "goals",
    Topic.BOARD,
    Example("goals game.toml", "what can this turn reach (game.toml: see iacta board)?"),
    Example("goals game.toml --win --time-limit 5", "and which of it helps to win the game?"),
)
class GoalsQuestion(WholeGame, Question):
    """Compare what a turn can be played for, by its chance and by the games that follow."""

    win: bool = parameter(
        Flag(), "Show how often the game is won after each goal, too.", default=False
    )

    def answer(self, watch: Watch | None = None) -> "GoalsAnswer":
        found = best_goals(
            self.turn,
            games=self.games or GAMES,
            time_limit=self.time_limit,
            seed=self.seed,
            progress=reported(watch, "goals"),
        )
        return GoalsAnswer(self, found)


WIN = "Which part of the games after it who is to move wins."


class TurnGoalRecord(KeyedRecord):
    """A goal of the turn."""

    goal: str = key("The goal.")
    how: str = key(
        "Who plays the turn: `tactics` for iacta's player, `plan` for the best plan, `worth` for "
        "the best plan where armies and the goal have a price."
    )
    chance: Unit = key("How often the turn reaches the goal; 1 where there is none to reach.")
    games: Count = key("How many games that is from.")
    win: Unit = key(WIN, default=OMITTED)
    interval: IntervalRecord = key("The 95% interval of `win`.", default=OMITTED)
    under_simple: Unit = key(
        "The same if everybody plays like iacta's simple player, in this turn too.", default=OMITTED
    )
    under_simple_interval: IntervalRecord = key(
        "The 95% interval of `under_simple`.", default=OMITTED
    )
    behind: float = key("By how much `win` of the best goal is higher.", default=OMITTED)
    behind_interval: IntervalRecord = key("The 95% interval of `behind`.", default=OMITTED)
    is_clear: bool = key("Whether `behind` is clearly more than 0.", default=OMITTED)


class GoalsRecord(KeyedRecord):
    """What a turn can be played for."""

    condition: str = key(CONDITION_KEY, is_column=True)
    player: str = key("Who is to move.", is_column=True)
    goal: str = key("The first of the goals.", is_column=True)
    chance: Unit = key("How often the turn reaches it.", is_column=True)
    goals: tuple[TurnGoalRecord, ...] = key(
        "All goals: those after which most games are won first, or else the likeliest."
    )
    win: Unit = key(WIN, is_column=True, default=OMITTED)
    under_simple: Unit = key(
        "The same if everybody plays like iacta's simple player.", is_column=True, default=OMITTED
    )


class GoalsAnswer(Answer):
    """What a turn can be played for.

    found: the goals.
    """

    question: GoalsQuestion
    found: Goals

    @property
    def goals(self) -> Sequence[GoalChance]:
        """The goals in the order in which they are shown; without games, only those to reach."""
        if self.question.win:
            return self.found.goals
        some = [each for each in self.found.goals if each.is_reachable]
        return sorted(some or self.found.goals, key=lambda each: -each.chance)

    @property
    def data(self) -> GoalsRecord:
        rows = tuple(self._record(each) for each in self.goals)
        first = rows[0]
        return GoalsRecord(
            CONDITION,
            self.found.player,
            first.goal,
            first.chance,
            rows,
            first.win,
            first.under_simple,
        )

    def _record(self, each: GoalChance) -> TurnGoalRecord:
        more: dict[str, Any] = {}
        if self.question.win:
            more = {
                "win": each.win,
                "interval": interval_record(each.interval),
                "under_simple": each.under_simple,
                "under_simple_interval": interval_record(each.under_simple_interval),
                "behind": each.behind,
                "behind_interval": interval_record(each.behind_interval),
                "is_clear": each.is_clear,
            }
        return TurnGoalRecord(each.goal, each.how, each.chance, each.games, **more)

    def rows(self) -> Iterator[Sequence[object]]:
        wins = ("win", "low", "high", "under_simple", "under_simple_low", "under_simple_high")
        compared = ("behind", "behind_low", "behind_high", "is_clear")
        more = (*wins, *compared) if self.question.win else ()
        yield ("goal", "how", "chance", "games", *more, "condition")
        for each in self.goals:
            simple = (each.under_simple, *each.under_simple_interval)
            numbers = (each.win, *each.interval, *simple, each.behind, *each.behind_interval)
            shown = (*numbers, each.is_clear) if self.question.win else ()
            yield (each.goal, each.how, each.chance, each.games, *shown, CONDITION)

    def sections(self) -> Iterator[Section]:
        if not self.question.win:
            yield Section([goals_sentence(self)])
            bars = [
                Bar(
                    ", ".join(filter(None, (each.goal, HOW[each.how]))),
                    share_of(each.chance),
                    "good",
                )
                for each in self.goals
            ]
            yield Section([Bars(bars)], title="How often the turn reaches each goal:")
            return
        yield Section([goals_sentence(self), *self._unclear(), PEOPLE])
        rows = [
            (
                each.goal,
                HOW[each.how],
                share_text(each.chance) if each.is_reachable else "",
                share_text(each.win),
                range_text(each.interval),
                "" if each is self.found.best else f"{100 * each.behind:.1f}",
                share_text(each.under_simple),
            )
            for each in self.goals
        ]
        columns = ("", "", "reached", "games won", "95% interval", "behind", "like simple")
        yield Section([Table(columns, rows)], title="What the turn is played for:")

    def _unclear(self) -> Iterator[str]:
        if unclear := [each.goal for each in self.found.unclear]:
            yield f"No clear difference from it: {joined(unclear)}."

    def draw(self, charts: Charts) -> Any:
        return charts.goal_bars(self)


def goals_sentence(answer: GoalsAnswer) -> str:
    """Return the first goal, in a sentence."""
    first, player = answer.goals[0], answer.found.player
    condition = f"{CONDITION[0].upper()}{CONDITION[1:]}"
    if not answer.question.win:
        return (
            f"{condition}, {player} most often manages to {first.goal}: in "
            f"{share_text(first.chance)} of {first.games:,} turns."
        )
    return (
        f"{condition}, {player} wins most often with this goal: {first.goal} "
        f"({share_text(first.win)} of the games; like its simple player, "
        f"{share_text(first.under_simple)})."
    )
