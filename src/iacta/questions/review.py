"""How a game went: what the dice did for each player, and what their decisions cost."""

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

MOST_SHOWN = 100  # steps
USUAL_LUCK = (
    "Usual luck is the standard deviation of luck: about two games of three stay within it, to "
    "either side of 0."
)


@question(
    "review",
    Topic.STUDY,
    Example("review game.jsonl", "were you lucky, and which attacks were wrong?"),
    Example("review game.jsonl --time-limit 60", "the same, looked at for longer?"),
)
class ReviewQuestion(Question):
    """Replay the turns of a game: the luck of each player, and what decisions cost."""

    one_of: ClassVar = ("file or log",)

    file: str | None = parameter(
        FileName(),
        "The log: JSON lines, one for each turn, or a recorded game; - is standard input.",
        is_argument=True,
        default=None,
    )
    log: str | None = parameter(
        Name(),
        "The log as text, such as the one that the board downloads, or a recorded game.",
        metavar="TEXT",
        excludes="file",
        default=None,
    )
    board: str | Board | None = parameter(
        Source(Board, read_board, ("classic",)),
        "The board of the game, where the log has none, a file.",
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
    turns: Count = key("How many turns there were.")
    battles: Count = key("How many battles, or rolls where these are in the log.")
    luck: float = key("What the dice added in all, in chances or worths.")
    spread: float | None = key("The standard deviation of that luck; `null` if it is not known.")
    cost: float = key("What all decisions cost against the best ones.")


class ReviewedStepRecord(KeyedRecord):
    """A battle or a roll, or where a turn stopped."""

    turn: Count = key("The number of the turn.")
    player: str = key("Who attacked.")
    from_: str = key("The attacking territory; empty where the turn stopped.")
    to: str = key("The attacked territory; empty where the turn stopped.")
    lost: Count = key("The armies that the attacker lost.")
    killed: Count = key("The armies that the defender lost.")
    moved: Count = key("The armies that moved in.")
    before: float = key("What the best plan found was worth before.")
    after: float = key("What it was worth after.")
    luck: float = key("What the dice added.")
    spread: float | None = key(
        "The standard deviation of that luck; `null` for several rolls at once."
    )
    cost: float = key("What the decision cost against the best one.")
    better: str = key("The better decision; empty where none is known to be better.")
    is_useful: bool = key("Whether the attack was of use for the goal.")
    dice: Count | None = key("The attack dice of the decision; `null` where none are judged.")
    is_assumed: bool = key("Whether the log does not say these dice, so that luck may be biased.")

    @classmethod
    def of_step(cls, step: ReviewedStep) -> "ReviewedStepRecord":
        return cls.from_attributes(step, from_=step.start)


class ReviewRecord(KeyedRecord):
    """How a game went: luck, and what decisions cost."""

    is_chance: bool = key("Whether goals are chances; else they are worths.")
    is_exact: bool = key("Whether all values are those of the best play.")
    unclear: Mapping[str, int] = key(
        "What a recording does not show for certain, and so is left out: how often each."
    )
    missed: Count = key("How many battles at the end were left out, for want of time.")
    players: Sequence[ReviewedPlayerRecord] = key("The game of each player.")
    costliest: Sequence[ReviewedStepRecord] = key("The costliest decisions, at most 3.")
    steps: Sequence[ReviewedStepRecord] = key("All battles, and the ends of turns.")


class ReviewAnswer(Answer):
    """How a game went.

    reviewed: what was found.
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
        sentences.append("Some values are those of the best plan found, which may not be the best.")
    if reviewed.assumed:
        sentences.append(
            f"The log does not say the dice of {count(reviewed.assumed, 'attack', 'attacks')}; the "
            "best number that the losses allow is assumed (?), so luck may be biased."
        )
    if reviewed.unclear:
        unclear = ", ".join(f"{number} {why}" for why, number in reviewed.unclear)
        sentences.append(f"Not clear from the recording, so ignored: {unclear}.")
    if reviewed.missed:
        last = count(reviewed.missed, "battle was", "battles were")
        sentences.append(f"There was no time to review the end: {last} left out.")
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
        for step in reviewed.steps[:MOST_SHOWN]
    ]
    more = len(reviewed.steps) - len(rows)
    notes = [f"{more:,} more are in the CSV."] if more else []
    unit = "chance" if reviewed.is_chance else "worth"
    columns = ("", "dice", "losses", unit, "luck", "cost")
    yield Section([Table(columns, rows), *notes], title="Step by step:")


def _sentence(reviewed: Review, player: PlayerReview) -> str:
    is_only = len(reviewed.players) == 1
    who = "You were" if is_only else f"{player.player[:1].upper()}{player.player[1:]} was"
    how = "lucky" if player.luck >= 0 else "unlucky"
    unit = " points" if reviewed.is_chance else ""
    luck, cost = _figure(reviewed, abs(player.luck)), _figure(reviewed, player.cost)
    return f"{who} {luck}{unit} {how}, and gave away {cost} by decisions."


def _figure(reviewed: Review, value: float, sign: str = "") -> str:
    return format_goal_change(value, is_chance=reviewed.is_chance, sign=sign)
