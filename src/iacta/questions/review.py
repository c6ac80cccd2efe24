"""Review of a recorded game: the luck of each player, and the cost of their decisions."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from iacta.board import Board
from iacta.board.files import read_board
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.parameter_kinds import FileName, Name, Source
from iacta.forms.percentages import format_goal_change
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import Count, KeyedRecord, key
from iacta.forms.sections import Section, Table, make_sections
from iacta.forms.sentences import count
from iacta.forms.shared_parameters import TIME_LIMIT
from iacta.plan.review import PlayerReview, Review, ReviewedStep, review

MAX_STEPS_SHOWN = 100
USUAL_LUCK = (
    "Usual luck is the standard deviation of luck: in about two of three games, luck lies between "
    "minus and plus this number."
)


@question(
    "review",
    Topic.STUDY,
    Example("review game.jsonl", "were you lucky, and which attacks were wrong?"),
    Example("review game.jsonl --time-limit 60", "the same, with a longer search?"),
)
class ReviewQuestion(Question):
    """Review a game: the luck of each player, and the cost of decisions."""

    one_of: ClassVar = ("file or log",)

    file: str | None = parameter(
        FileName(),
        "The log: JSON lines, one line per turn, or a recorded game; - is standard input.",
        is_argument=True,
        default=None,
    )
    log: str | None = parameter(
        Name(),
        "The log as text, as downloaded from the board, or a recorded game.",
        metavar="TEXT",
        excludes="file",
        default=None,
    )
    board: str | Board | None = parameter(
        Source(Board, read_board, ("classic",)),
        "The board file, if the log has no board.",
        metavar="FILE",
        usual="classic",
        default=None,
    )
    time_limit: Fraction | None = parameter(*TIME_LIMIT, metavar="SECONDS", default=None)

    def answer(self, watch: Watch | None = None) -> "ReviewAnswer":
        def progress(done: int, total: int) -> None:
            if watch is not None:
                watch(f"Replaying {total:,} battles", done / max(total, 1))

        source = Path(self.file) if self.file is not None else self.log or ""
        reviewed = review(source, board=self.board, time_limit=self.time_limit, progress=progress)
        return ReviewAnswer(self, reviewed)


class ReviewedPlayerRecord(KeyedRecord):
    """A player's game."""

    player: str = key("The player.")
    turns: Count = key("The number of turns.")
    battles: Count = key("The number of battles, or of rolls if the log has rolls.")
    luck: float = key("The total value that the dice added, as a chance or in points.")
    spread: float | None = key("The standard deviation of the luck; `null` if not known.")
    cost: float = key("The total value that decisions gave up against the best decisions.")


class ReviewedStepRecord(KeyedRecord):
    """A battle, a roll, or the end of the attacks of a turn."""

    turn: Count = key("The number of the turn.")
    player: str = key("The attacker.")
    from_: str = key("The attacking territory; empty for the end of the attacks.")
    to: str = key("The attacked territory; empty for the end of the attacks.")
    lost: Count = key("The armies that the attacker lost.")
    killed: Count = key("The armies that the defender lost.")
    moved: Count = key("The armies that moved in.")
    before: float = key("The value of the best plan found before the step.")
    after: float = key("The value of the best plan found after the step.")
    luck: float = key("The value that the dice added.")
    spread: float | None = key(
        "The standard deviation of the luck; `null` for several rolls at once."
    )
    cost: float = key("The value that the decision gave up against the best decision.")
    better: str = key("The better decision; empty if no better decision is known.")
    is_useful: bool = key("Whether the attack helped to reach the goal.")
    dice: Count | None = key("The attack dice of the decision; `null` if dice are not judged.")
    is_assumed: bool = key("Whether `dice` is assumed, so that luck may be biased.")

    @classmethod
    def of_step(cls, step: ReviewedStep) -> "ReviewedStepRecord":
        return cls.from_attributes(step, from_=step.start)


class ReviewRecord(KeyedRecord):
    """The review of a game: luck, and the cost of decisions."""

    is_chance: bool = key("Whether values are chances, and not points.")
    is_exact: bool = key("Whether all values are proven to be the values of the best play.")
    unclear: Mapping[str, int] = key(
        "The number of steps left out because the recording is unclear, by reason."
    )
    missed: Count = key("The number of battles at the end left out for lack of time.")
    players: Sequence[ReviewedPlayerRecord] = key("The totals of each player.")
    costliest: Sequence[ReviewedStepRecord] = key("The costliest decisions, at most 3.")
    steps: Sequence[ReviewedStepRecord] = key("All battles, and the ends of turns.")


class ReviewAnswer(Answer):
    """The review of a game.

    reviewed: the luck and the decisions of each step.
    """

    question: ReviewQuestion
    reviewed: Review

    @property
    def data(self) -> ReviewRecord:
        reviewed = self.reviewed
        return ReviewRecord.from_attributes(
            reviewed,
            is_exact=reviewed.proven,
            unclear=dict(reviewed.unclear),
            players=[ReviewedPlayerRecord.from_attributes(player) for player in reviewed.players],
            costliest=[ReviewedStepRecord.of_step(step) for step in reviewed.costliest],
            steps=[ReviewedStepRecord.of_step(step) for step in reviewed.steps],
        )

    def rows(self) -> Iterator[Sequence[object]]:
        yield (
            *("turn", "player", "from", "to", "lost", "killed", "moved", "before", "after"),
            *("luck", "spread", "cost", "better", "dice", "is_assumed"),
        )
        for step in self.reviewed.steps:
            spread, dice = ("" if x is None else x for x in (step.spread, step.dice))
            yield (*step[:10], spread, step.cost, step.better, dice, step.is_assumed)

    def sections(self) -> Iterator[Section]:
        return _sections(self.reviewed)

    def draw(self, charts: Charts) -> Any:
        return charts.game_review(self.reviewed)


@make_sections.register
def _sections(reviewed: Review) -> Iterator[Section]:
    yield Section([_sentence(reviewed, player) for player in reviewed.players])
    sentences = []
    if not reviewed.proven:
        sentences.append("Some values may be too low: a plan better than the best found may exist.")
    if reviewed.assumed:
        sentences.append(
            f"The log lacks the dice of {count(reviewed.assumed, 'attack', 'attacks')}; iacta "
            "assumes the best number that fits the losses (?), so luck may be biased."
        )
    if reviewed.unclear:
        unclear = ", ".join(f"{number} {why}" for why, number in reviewed.unclear)
        sentences.append(f"Ignored, because the recording is unclear: {unclear}.")
    if reviewed.missed:
        last = count(reviewed.missed, "battle was", "battles were")
        sentences.append(f"The time limit ended the review early: {last} left out.")
    if sentences:
        yield Section(sentences)
    lucks = [
        (
            player.player,
            _figure(reviewed, player.luck, "+"),
            "not known" if player.spread is None else _figure(reviewed, player.spread),
            _figure(reviewed, player.cost),
        )
        for player in reviewed.players
    ]
    yield Section([Table(("", "luck", "usual luck", "given away"), lucks), USUAL_LUCK])
    costliest = [step for step in reviewed.costliest if float(_figure(reviewed, step.cost))]
    if costliest:
        worst = [
            (
                f"turn {step.turn}, {step.player}",
                step.name,
                step.better,
                _figure(reviewed, step.cost),
            )
            for step in costliest
        ]
        yield Section(
            [Table(("", "done", "better", "cost"), worst)], title="The costliest decisions:"
        )
    rows = [
        (
            f"turn {step.turn}, {step.player}: {step.name}",
            "" if step.dice is None else f"{step.dice}{'?' if step.is_assumed else ''}",
            f"{step.lost}-{step.killed}" if step.to else "",
            _figure(reviewed, step.after),
            _figure(reviewed, step.luck, "+") if step.is_useful else "no use",
            _figure(reviewed, step.cost),
        )
        for step in reviewed.steps[:MAX_STEPS_SHOWN]
    ]
    more = len(reviewed.steps) - len(rows)
    notes = [f"The CSV lists {more:,} more steps."] if more else []
    unit = "chance" if reviewed.is_chance else "worth"
    columns = ("", "dice", "losses", unit, "luck", "cost")
    yield Section([Table(columns, rows), *notes], title="Step by step:")


def _sentence(reviewed: Review, player: PlayerReview) -> str:
    is_only = len(reviewed.players) == 1
    who = "You were" if is_only else f"{player.player[:1].upper()}{player.player[1:]} was"
    how = "lucky" if player.luck >= 0 else "unlucky"
    unit = " points" if reviewed.is_chance else ""
    luck, cost = _figure(reviewed, abs(player.luck)), _figure(reviewed, player.cost)
    return f"{who} {luck}{unit} {how}, and gave away {cost} through decisions."


def _figure(reviewed: Review, value: float, sign: str = "") -> str:
    return format_goal_change(value, is_chance=reviewed.is_chance, sign=sign)
