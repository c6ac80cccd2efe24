"""What each opponent could do to a player on their next turn, and which last move helps most."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import MomentForm
from iacta.forms.percentages import percent, short_percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import OMITTED, Count, IntervalRecord, KeyedRecord, Unit, key
from iacta.forms.sections import Section, Table
from iacta.forms.sentences import armies, count
from iacta.forms.shared_parameters import TIME_LIMIT
from iacta.plan.threats import HelpfulMove, Threatened, Threats, threats
from iacta.probability.estimate import CONFIDENCE
from iacta.questions.plan.armies_cards_hold import new_armies

CONDITION = (
    "each chance is separate: the opponent places all new armies for that one goal, plays for "
    "nothing else and trades no cards"
)
LEAST_SHOWN = 5e-5  # a chance below it is shown as none


@question(
    "threats",
    Topic.BOARD,
    Example("threats game.toml", "what can they do to me (game.toml: see iacta board)?"),
    Example("threats game.toml --time-limit 1", "the same, looked at for a second?"),
)
class ThreatsQuestion(MomentForm, Question):
    """Find what each opponent could take, break or end on their next turn."""

    is_search: ClassVar = True

    time_limit: Fraction | None = parameter(*TIME_LIMIT, metavar="SECONDS", default=None)

    def answer(self, watch: Watch | None = None) -> "ThreatsAnswer":
        def progress(found: Threats, part: float) -> None:
            if watch is not None:
                doing = f"Looking at {count(len(found.threats), 'threat', 'threats')}"
                watch(doing, part, keeps=True, so_far=ThreatsAnswer(self, found))

        found = threats(self.turn, time_limit=self.time_limit, progress=progress)
        return ThreatsAnswer(self, found)


class ThreatenedRecord(KeyedRecord):
    """What an opponent could do."""

    player: str = key("Who could do it.")
    kind: str = key("`take` a territory, `break` a continent, or `eliminate` who is to move.")
    name: str = key("The territory, the continent, or the player.")
    goal: str = key("The same in words.")
    chance: Unit = key("The chance of their best play that was found.")
    at_most: Unit = key("No play has a greater chance, wherever the new armies are placed.")
    armies: Count = key("Their new armies.")
    placement: Mapping[str, int] = key("Where these help that goal most, by territory.")
    interval: IntervalRecord = key(
        "Its interval, where it is estimated from games.", default=OMITTED
    )
    figure: str = key(
        "The chance as a percentage; empty where it is too small to show.", default=""
    )


class HelpfulMoveRecord(KeyedRecord):
    """The last move of armies that helps most."""

    from_: str = key("Where the armies come from.")
    to: str = key("Where they go.")
    armies: Count = key("How many move.")
    kept: float = key("How many more new armies of the next turn are kept by it.")
    goal: str = key("What it lessens the greatest chance of most, in words.")
    by: str = key("Who has that chance before the move.")
    before: Unit = key("That chance.")
    after: Unit = key("The greatest such chance after the move.")
    words: str = key("The move and both chances, in words.")


class ThreatsRecord(KeyedRecord):
    """What opponents could do on their next turn."""

    condition: str = key("What holds for each of the chances.", is_column=True)
    player: str = key("Who is threatened: who is to move.", is_column=True)
    goal: str = key("The likeliest threat in words; empty where there is none.", is_column=True)
    by: str = key("Who could do that.", is_column=True)
    chance: Unit = key("The chance of it.", is_column=True)
    at_most: Unit = key("No play has a greater chance of it.", is_column=True)
    threats: Sequence[ThreatenedRecord] = key("All threats, the likeliest first.")
    is_complete: bool = key("Whether there was time for all of it.")
    move: HelpfulMoveRecord = key(
        "The last move of armies that helps most, where one is known to help.", default=OMITTED
    )


class ThreatsAnswer(Answer):
    """What opponents could do on their next turn.

    found: the threats.
    """

    question: ThreatsQuestion
    found: Threats

    @cached_property
    def goals(self) -> dict[str, dict[str, Threatened]]:
        """The threats by goal and by opponent, the likeliest goal first."""
        goals: dict[str, dict[str, Threatened]] = {}
        for each in self.found.threats:
            goals.setdefault(in_words(each, self.found.player), {})[each.player] = each
        return goals

    @property
    def data(self) -> ThreatsRecord:
        found = self.found
        rows = [_record(each, found.player) for each in found.threats]
        first = rows[0] if rows else ThreatenedRecord("", "", "", "", 0.0, 0.0, 0, {})
        return ThreatsRecord(
            CONDITION,
            found.player,
            first.goal,
            first.player,
            first.chance,
            first.at_most,
            rows,
            found.is_complete,
            OMITTED if found.move is None else _move_record(found.move, found.player),
        )

    def rows(self) -> Iterator[Sequence[object]]:
        yield "player", "kind", "name", "chance", "at_most", "armies", "placement", "condition"
        for each in self.found.threats:
            where = "; ".join(f"{number} on {name}" for name, number in each.placement)
            yield *each[:4], each.at_most, each.armies, where, CONDITION

    def sections(self) -> Iterator[Section]:
        found = self.found
        condition = f"{CONDITION[0].upper()}{CONDITION[1:]}."
        parts = [threats_sentence(self)]
        if found.move is not None:
            parts.append(_move_sentence(found.move, found.player))
        yield Section([*parts, condition] if found.threats else parts)
        players = [*dict.fromkeys(each.player for each in found.threats)]
        shown = {
            goal: by
            for goal, by in self.goals.items()
            if max(each.chance for each in by.values()) >= LEAST_SHOWN
        }
        table = [
            (goal, *(_cell(by.get(player)) for player in players)) for goal, by in shown.items()
        ]
        if table:
            columns = ("", *players)
            yield Section([Table(columns, table)], title="What they can do on their next turn:")

    def draw(self, charts: Charts) -> Any:
        return charts.threat_bars(self)


def in_words(threat: Threatened, player: str) -> str:
    """Return what an opponent could do, as a verb with its object.

    player: who is threatened.
    """
    return f"break {player}'s {threat.name}" if threat.kind == "break" else " ".join(threat[1:3])


def threats_sentence(answer: ThreatsAnswer) -> str:
    """Return the likeliest threat, in a sentence."""
    found = answer.found
    if not found.threats or found.threats[0].chance < LEAST_SHOWN:
        return f"No play was found by which somebody takes anything from {found.player} next turn."
    first = found.threats[0]
    return (
        f"On their next turn {first.player} can {in_words(first, found.player)} with a chance of "
        f"{percent(first.chance)}, with {new_armies(first.placement)}: the likeliest threat to "
        f"{found.player}."
    )


def _move_sentence(move: HelpfulMove, player: str) -> str:
    return (
        f"The last move helps most from {move.start} to {move.to}: {armies(move.armies)} lower the "
        f"greatest chance to {in_words(move.before, player)} from {percent(move.before.chance)} to "
        f"{percent(move.after.chance)}."
    )


def _cell(threat: Threatened | None) -> str:
    if threat is None or threat.chance < LEAST_SHOWN:
        return ""
    return short_percent(threat.chance)


def _record(each: Threatened, player: str) -> ThreatenedRecord:
    interval = OMITTED if each.interval is None else IntervalRecord(CONFIDENCE, *each.interval)
    where = dict(each.placement)
    return ThreatenedRecord.from_attributes(
        each, goal=in_words(each, player), placement=where, interval=interval, figure=_cell(each)
    )


def _move_record(move: HelpfulMove, player: str) -> HelpfulMoveRecord:
    goal, by = in_words(move.before, player), move.before.player
    chances = move.before.chance, move.after.chance
    words = (
        f"{armies(move.armies)} from {move.start} to {move.to}: {by} can {goal} with "
        f"{percent(move.after.chance)} instead of {percent(move.before.chance)}"
    )
    return HelpfulMoveRecord(move.start, move.to, move.armies, move.kept, goal, by, *chances, words)
