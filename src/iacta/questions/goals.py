"""The goals of a turn: the chance to reach each goal, and to win the game afterwards."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from iacta.analysis.analysis import Analysis, GoalAnalysis, analyse, check_open
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import LEVEL, describe_condition
from iacta.forms.parameter_kinds import Flag
from iacta.forms.percentages import (
    NOT_KNOWN,
    describe_chance,
    format_best_found,
    format_goal_value,
    shorten_percent,
)
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import OMITTED, IntervalRecord, KeyedRecord, key
from iacta.forms.sections import Section, Table
from iacta.forms.sentences import capitalise, join_phrases
from iacta.forms.whole_game import (
    CONDITION_KEY,
    GAMES_CONDITION,
    PEOPLE,
    WholeGameForm,
    format_range,
    format_share,
    format_share_and_range,
)
from iacta.inputs.meanings import Count, Unit
from iacta.native.deadline import Deadline
from iacta.plan.levels import USUAL, read_level
from iacta.questions.plan.armies_cards_hold import describe_placement
from iacta.war import GoalChance, Goals, best_goals
from iacta.war.goals import DEFAULT_GAMES

BEHIND = "behind: how many percentage points fewer games this goal wins than the first."
KEEPER = "keeper AI: the games won when another AI, which guards its continents, plays every side."
HOW = {"tactics": "", "plan": "with a plan", "worth": "with a more careful plan"}
MIN_WIN = 0.005  # a smaller chance to win counts as about 0%
MAX_AS_GOOD = 0.05  # goals that may be farther behind are not called about as good
REACH_SHARE = 0.35  # fraction of the time limit for the chances of goals, if games follow


@question(
    "goals",
    Topic.BOARD,
    Example("goals game.toml", "what can I achieve this turn? (make game.toml with iacta board)"),
    Example("goals game.toml --win --time-limit 5", "which goal helps most to win the game?"),
)
class GoalsQuestion(WholeGameForm, Question):
    """Compare the goals of a turn; with --win, also your chance to win after each goal."""

    headline: ClassVar = "What can this turn reach?"

    level: str = parameter(*LEVEL, default=USUAL.name)
    win: bool = parameter(
        Flag(), "Also estimate the chance to win the game after each goal.", default=False
    )

    def answer(self, watch: Watch | None = None) -> "GoalsAnswer":
        deadline, answer = Deadline.from_time_limit(self.time_limit), GoalsAnswer(self)

        def show(fraction_done: float, **found: Any) -> None:
            nonlocal answer
            answer = replace(answer, **found)
            if watch is not None:
                watch("Comparing goals", fraction_done, keeps=True, so_far=answer)

        share = REACH_SHARE if self.win else 1.0
        try:
            check_open(self.turn)
            found = analyse(
                self.turn,
                read_level(self.level),
                deadline=deadline.take_share(share),
                progress=lambda found, part: show(share * part, analysis=found),
            )
            show(share, analysis=found)
            if self.win:
                judged = best_goals(
                    self.turn,
                    games=self.games or DEFAULT_GAMES,
                    time_limit=deadline.time_limit,
                    seed=self.seed,
                    progress=lambda judged, part: show(
                        share + (1 - share) * part, judged=judged if judged.goals else None
                    ),
                )
                show(1.0, judged=judged)
        except KeyboardInterrupt:
            if not answer.goals:
                raise
            return replace(answer, is_complete=False)
        return answer


WINS_AFTER_GOAL = "The share of the games after the goal that the player to move wins."
SECOND_AI_AFTER_GOAL = (
    "The same share if another AI of equal strength plays every side, in this turn too."
)


class TurnGoalRecord(KeyedRecord):
    """A goal of the turn. A way to play without a goal has no chance, only results of games."""

    goal: str = key("The goal.")
    parameters: Mapping[str, str | bool] = key(
        "The parameters of `plan` that ask for the goal.", default=OMITTED
    )
    level: str = key("The level of the search; empty without a level.", default=OMITTED)
    chance: Unit = key("The chance of the best plan found.", default=OMITTED)
    interval: IntervalRecord = key(
        "From a lower bound on the chance of that plan to an upper bound on any play; a longer "
        "search stays within it.",
        default=OMITTED,
    )
    left: float = key("The armies left after the attacks, on average.", default=OMITTED)
    placement: Mapping[str, int] = key(
        "The new armies on each territory that help the goal most.", default=OMITTED
    )
    how: str = key(
        "How the turn is played in the games: `tactics` by the usual AI, `plan` by the best plan, "
        "`worth` by the best plan when armies and the goal have values.",
        default=OMITTED,
    )
    reached: Unit = key("The share of these games that reach the goal.", default=OMITTED)
    games: Count = key("The number of games.", default=OMITTED)
    win: Unit = key(WINS_AFTER_GOAL, default=OMITTED)
    win_interval: IntervalRecord = key("The 95% interval of `win`.", default=OMITTED)
    second_opinion: Unit = key(SECOND_AI_AFTER_GOAL, default=OMITTED)
    second_opinion_interval: IntervalRecord = key(
        "The 95% interval of `second_opinion`.", default=OMITTED
    )
    behind: float = key("`win` of the best goal minus `win` of this goal.", default=OMITTED)
    behind_interval: IntervalRecord = key("The 95% interval of `behind`.", default=OMITTED)
    is_clear: bool = key("Whether `behind` is clearly more than 0.", default=OMITTED)
    is_best: bool = key(
        "Whether the goal is clearly the best for the game. At most one goal is, often none.",
        default=OMITTED,
    )
    figure: str = key("`chance` as a percentage.", default=OMITTED)
    words: str = key(
        "The armies left and the comparison with the best goal for the game, in words.",
        default=OMITTED,
    )


class GoalsRecord(KeyedRecord):
    """The goals of a turn."""

    player: str = key("The player to move.", is_column=True)
    goal: str = key("The first of the goals; empty without a goal.", is_column=True)
    goals: Sequence[TurnGoalRecord] = key(
        "All goals: first by the share of games won, then by chance."
    )
    chance: Unit = key("The chance to reach the first goal.", is_column=True, default=OMITTED)
    win: Unit = key(WINS_AFTER_GOAL, is_column=True, default=OMITTED)
    win_interval: IntervalRecord = key(
        "The 95% interval of `win`.", is_column=True, default=OMITTED
    )
    second_opinion: Unit = key(SECOND_AI_AFTER_GOAL, is_column=True, default=OMITTED)
    win_condition: str = key(CONDITION_KEY, is_column=True, default=OMITTED)


class GoalRow(NamedTuple):
    """A goal, with the chance to reach it and the results of games, if known."""

    words: str
    reach: GoalAnalysis | None = None
    judged: GoalChance | None = None

    @property
    def how(self) -> str:
        """How the turn is played in the games, in words; empty if the usual AI plays it."""
        return HOW[self.judged.how] if self.judged else ""


class GoalsAnswer(Answer):
    """The goals of a turn, compared.

    analysis: the analysis of the turn; `None` before its first level.
    judged: the results of games played for each goal; `None` if games were not requested.
    """

    question: GoalsQuestion
    analysis: Analysis | None = None
    judged: Goals | None = None

    @property
    def reached(self) -> tuple[GoalAnalysis, ...]:
        """The goals within reach, with their chances."""
        return sort_known_first(self.analysis.goals) if self.analysis else ()

    @cached_property
    def goals(self) -> tuple[GoalRow, ...]:
        """The goals in the order in which they are shown."""
        reach = {each.words: each for each in self.reached}
        judged = self.judged.goals if self.judged else ()
        rows = [GoalRow(each.goal, reach.pop(each.goal, None), each) for each in judged]
        return (*rows, *(GoalRow(words, each) for words, each in reach.items()))

    @property
    def data(self) -> GoalsRecord:
        rows = [_make_record(row) for row in self.goals]
        first = rows[0] if rows else TurnGoalRecord(goal="")
        return GoalsRecord(
            player=self.question.turn.player,
            goal=first.goal,
            goals=rows,
            chance=first.chance,
            win=first.win,
            win_interval=first.win_interval,
            second_opinion=first.second_opinion,
            win_condition=GAMES_CONDITION if self.judged else OMITTED,
        )

    def rows(self) -> Iterator[Sequence[object]]:
        plans = ("level", "chance", "low", "at_most", "left")
        second = ("second_opinion", "second_opinion_low", "second_opinion_high")
        rank = ("behind", "is_clear", "is_best")
        wins = ("how", "win", "win_low", "win_high", *second, *rank, "win_condition")
        yield ("goal", *plans, *(wins if self.question.win else ()))
        for words, reach, judged in self.goals:
            numbers: list[object] = [""] * len(plans)
            if reach is not None:
                chance = "" if reach.value is None else reach.value
                numbers = [reach.level, chance, *find_range(reach), reach.left]
            if self.question.win:
                numbers += [""] * len(wins)
            if judged is not None:
                won, other = (judged.win, *judged.interval), judged.second_opinion_interval
                shown = (judged.how, *won, judged.second_opinion, *other)
                behind = judged.behind, judged.is_clear, judged.is_best, GAMES_CONDITION
                numbers[len(plans) :] = [*shown, *behind]
            yield (words, *numbers)

    def sections(self) -> Iterator[Section]:
        if not self.question.win:
            condition = describe_condition(self.question.turn)
            yield Section([goals_sentence(self), *condition, *self.question.list_assumptions()])
            rows: list[tuple[str, ...]] = [
                (each.words, *_make_reach_cells(each), _format_placement(each))
                for each in self.reached
            ]
            if rows:
                columns: tuple[str, ...] = "", "chance", "armies left", "new armies"
                if not any(row[-1] for row in rows):
                    columns, rows = columns[:-1], [row[:-1] for row in rows]
                yield Section([Table(columns, rows)], title="Goals within reach:")
            return
        assumed = [*describe_condition(self.question.turn), *self.question.list_assumptions()]
        yield Section([goals_sentence(self), *self._list_warnings(), *assumed, PEOPLE])
        table: list[tuple[str, ...]] = [
            (row.words, row.how, *_make_reach_cells(row.reach), *_make_win_cells(row.judged))
            for row in self.goals
        ]
        wins = ("games won", "95% interval", "behind", "keeper AI", "95% interval")
        columns = ("", "", "chance", "armies left", *wins)
        title = "Goals, and the games won after each goal:"
        yield Section([Table(columns, table), BEHIND, KEEPER], title=title)

    def _list_warnings(self) -> Iterator[str]:
        if self.judged is not None and not self.judged.goals:
            yield "There was no time to play games after each goal; allow more time."
        if self.judged is None or _is_lost(self.judged):
            return
        if best := next((each.goal for each in self.judged.goals if each.is_best), ""):
            yield f"This is clearly the best for the game: {best}."
        elif unclear := [each.goal for each in self.judged.unclear]:
            yield f"These goals are not clearly worse: {join_phrases(unclear)}."

    def draw(self, charts: Charts) -> Any:
        return charts.goal_bars(self)


def _make_record(row: GoalRow) -> TurnGoalRecord:
    more: dict[str, Any] = {}
    if (reach := row.reach) is not None:
        more |= {
            "parameters": dict(reach.parameters),
            "level": reach.level,
            "chance": OMITTED if reach.value is None else reach.value,
            "interval": IntervalRecord.from_interval(find_range(reach)),
            "left": reach.left,
            "figure": format_reach(reach),
            "placement": dict(reach.placement),
        }
    if (judged := row.judged) is not None:
        more |= {
            "how": judged.how,
            "reached": judged.chance,
            "games": judged.games,
            "win": judged.win,
            "win_interval": IntervalRecord.from_interval(judged.interval),
            "second_opinion": judged.second_opinion,
            "second_opinion_interval": IntervalRecord.from_interval(judged.second_opinion_interval),
            "behind": judged.behind,
            "behind_interval": IntervalRecord.from_interval(judged.behind_interval),
            "is_clear": judged.is_clear,
            "is_best": judged.is_best,
        }
    return TurnGoalRecord(goal=row.words, **more, words=_describe_numbers(row))


def _describe_numbers(row: GoalRow) -> str:
    """Describe the numbers of a goal other than its chance."""
    words = []
    if row.reach is not None and is_known(row.reach):
        words.append(f"{row.reach.left:.1f} armies left")
    if (judged := row.judged) is not None:
        # All goals are played with the same dice, so their differences are more precise than the
        # shares.
        if judged.is_best:
            words.append("best for the game")
        elif judged.is_clear:
            words.append(f"{100 * judged.behind:.0f} points worse for the game")
        elif judged.behind_interval.high <= MAX_AS_GOOD:
            words.append("about as good for the game")
    return ", ".join(words)


def _make_reach_cells(reach: GoalAnalysis | None) -> tuple[str, str]:
    """Return table cells: the chance of a goal, and the armies left."""
    if reach is None:
        return "", ""
    return format_reach(reach), f"{reach.left:.1f}" if is_known(reach) else ""


def format_reach(reach: GoalAnalysis) -> str:
    """Return the chance of a goal as text."""
    if reach.value is None:
        return NOT_KNOWN
    if not reach.is_chance:
        return format_goal_value(reach.value, is_chance=False)
    is_certain = reach.is_reached or reach.upper_bound <= 0
    chance = Fraction(round(reach.value)) if is_certain else reach.value
    return shorten_percent(format_best_found(chance, reach.interval, reach.upper_bound))


def find_range(reach: GoalAnalysis) -> tuple[float, float]:
    """Return a lower bound on the chance of a plan, and an upper bound on any play."""
    low = 0.0 if reach.value is None else reach.value
    return (reach.interval or (low,))[0], reach.upper_bound


def sort_known_first(goals: Iterable[GoalAnalysis]) -> tuple[GoalAnalysis, ...]:
    """Return the offered goals before the others, and goals with known chances first among each.

    The order of goals is otherwise unchanged.
    """
    return tuple(sorted(goals, key=lambda each: (not each.is_offered, not is_known(each))))


def is_known(reach: GoalAnalysis) -> bool:
    """Return whether the search found anything about the chance of a goal."""
    return format_reach(reach) != NOT_KNOWN


def _format_placement(reach: GoalAnalysis) -> str:
    return ", ".join(f"{number} on {name}" for name, number in reach.placement)


def _make_win_cells(judged: GoalChance | None) -> tuple[str, str, str, str, str]:
    if judged is None:
        return "", "", "", "", ""
    behind = f"{100 * judged.behind:.1f}" if judged.behind else ""
    won, second = format_share(judged.win), format_share(judged.second_opinion)
    within = format_range(judged.interval), format_range(judged.second_opinion_interval)
    return won, within[0], behind, second, within[1]


def goals_sentence(answer: GoalsAnswer) -> str:
    """Return a sentence about the first goal."""
    player, judged = answer.question.turn.player, answer.judged
    name = capitalise(player)
    if judged is not None and _is_lost(judged):
        return f"{name} hardly wins, whatever they choose: about 0% of games {GAMES_CONDITION}."
    if judged is not None and judged.goals:
        first = judged.best
        return (
            f"{name} wins most often with this choice: {first.goal}. That wins an estimated "
            f"{format_share_and_range(first.win, first.interval)} of games {GAMES_CONDITION}, and "
            f"{format_share_and_range(first.second_opinion, first.second_opinion_interval)} when "
            "another AI does."
        )
    if not answer.reached and answer.analysis is not None and answer.analysis.is_complete:
        return f"The search found no plan that reaches a goal for {player} this turn."
    if not answer.reached or not is_known(answer.reached[0]):
        return f"There was no time to compare {name}'s goals; allow more time."
    first_reach = answer.reached[0]
    chance = describe_chance(format_reach(first_reach))
    place = f", with {describe_placement(first_reach.placement)}" if first_reach.placement else ""
    return f"{name} can {first_reach.words} this turn with {chance}{place}."


def _is_lost(judged: Goals) -> bool:
    """Return whether the player wins almost no game, whichever goal they choose."""
    wins = [max(goal.win, goal.second_opinion) for goal in judged.goals]
    return bool(wins) and max(wins) < MIN_WIN
