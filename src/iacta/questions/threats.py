"""The threats of opponents on their next turns, and the fortifying move that helps most."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from iacta.analysis.threats import HelpfulMove, Threatened, Threats, find_threats
from iacta.board.scene import build_scene
from iacta.forms.form import Example, Topic, parameter
from iacta.forms.moment import LEVEL, MomentForm, describe_condition, describe_winner
from iacta.forms.percentages import describe_chance, format_best_found, shorten_percent
from iacta.forms.question import Answer, Charts, Question, Watch, question
from iacta.forms.record import OMITTED, IntervalRecord, KeyedRecord, key
from iacta.forms.sections import Section, Table
from iacta.forms.sentences import add_noun, capitalise, name_armies
from iacta.forms.shared_parameters import TIME_LIMIT
from iacta.game import Turn
from iacta.game.card_odds import OpponentCards, find_card_odds
from iacta.game.legal import list_fortifications
from iacta.inputs.meanings import Count, Unit
from iacta.native.deadline import Deadline
from iacta.plan.levels import USUAL, read_level
from iacta.plan.problem import enter_phase
from iacta.questions.cards import (
    OpponentCardsRecord,
    describe_opponents,
    make_opponent_record,
)
from iacta.questions.plan.armies_cards_hold import describe_placement

THREATS_CONDITION = (
    "each chance is separate: the opponent places all new armies for this one goal, plays only for "
    "this goal and trades no cards"
)
NO_MOVE_HELPS = (
    "No fortifying move helps: none that the search compared makes a threat less likely by 1 point."
)
MIN_SHOWN = 5e-5  # minimum chance to show


@question(
    "threats",
    Topic.BOARD,
    Example("threats game.toml", "what can they do to you? (make game.toml with iacta board)"),
    Example("threats game.toml --time-limit 1", "the same, but within a second"),
)
class ThreatsQuestion(MomentForm, Question):
    """Find the territories, bonuses and players under threat next turn."""

    headline: ClassVar = "What can they do to me?"
    is_search: ClassVar = True

    level: str = parameter(*LEVEL, default=USUAL.name)
    time_limit: Fraction | None = parameter(*TIME_LIMIT, metavar="SECONDS", default=None)

    def answer(self, watch: Watch | None = None) -> "ThreatsAnswer":
        level, deadline = read_level(self.level), Deadline.from_time_limit(self.time_limit)
        seen = self.turn.seen_by(self.turn.player)
        for found in find_threats(seen, level, deadline):
            answer = ThreatsAnswer(self, found)
            if watch is not None:
                doing = f"Looking at {add_noun(len(found.threats), 'threat', 'threats')}"
                watch(doing, None, keeps=True, so_far=answer)
        return answer


class ThreatenedRecord(KeyedRecord, of=Threatened):
    """A goal that an opponent could reach on their next turn."""

    player: str
    kind: str
    name: str
    parameters: Mapping[str, str | bool]
    level: str
    is_certain: bool
    goal: str = key("The threat in words.")
    chance: Unit
    at_most: Unit
    armies: Count
    placement: Mapping[str, int] = key(
        "The new armies on each territory that help the threat most."
    )
    interval: IntervalRecord = key(
        "The interval of the chance, if it is estimated from games.", default=OMITTED
    )
    figure: str = key(
        "The chance as text in whole percent; empty where it is too small to show.", default=""
    )


class HelpfulMoveRecord(KeyedRecord, of=HelpfulMove):
    """The fortifying move that helps most."""

    start: str
    to: str
    armies: Count
    kept: float
    goal: str = key("The threat whose chance the move lowers most, in words.")
    by: str = key("The most dangerous opponent for this threat before the move.")
    before: Unit = key("The chance of that opponent before the move.")
    after: Unit = key("The greatest chance of this threat, by any opponent, after the move.")
    words: str = key("The move and both chances, in words.")


class DangerRecord(KeyedRecord):
    """The greatest threat to each territory, on the map. Territories are in the board's order."""

    chances: Sequence[float | None] = key(
        "The greatest chance of one opponent to take the territory on their next turn, if they "
        "play only for this; `null` for territories of other players."
    )
    figures: Sequence[str] = key("`chances` as text; empty where a chance is too small to show.")
    labels: Sequence[Mapping[str, object]] = key("The labels of the map with these chances.")


class ThreatsRecord(KeyedRecord):
    """The threats of opponents on their next turns."""

    condition: str = key("The assumption behind each chance.", is_column=True)
    player: str = key("The threatened player, who is to move.", is_column=True)
    goal: str = key("The likeliest threat in words; empty without a threat.", is_column=True)
    by: str = key("The opponent with the likeliest threat.", is_column=True)
    chance: Unit = key("The chance of the likeliest threat.", is_column=True)
    at_most: Unit = key("An upper bound on the chance of that threat.", is_column=True)
    threats: Sequence[ThreatenedRecord] = key("All threats, likeliest first.")
    level: str = key("The level of the search; empty if the time was too short for any level.")
    is_complete: bool = key("Whether the search finished within the time limit.")
    cards: Sequence[OpponentCardsRecord] = key(
        "What the opponents' cards bring; left out without cards. The threats do not include "
        "these armies.",
        default=OMITTED,
    )
    move: HelpfulMoveRecord = key(
        "The fortifying move that helps most; left out if no move is known to help.",
        default=OMITTED,
    )


class ThreatsAnswer(Answer):
    """The threats of opponents on their next turns.

    found: the threats.
    """

    question: ThreatsQuestion
    found: Threats

    @cached_property
    def goals(self) -> dict[str, dict[str, Threatened]]:
        """The threats grouped by goal and opponent, the likeliest goal first."""
        goals: dict[str, dict[str, Threatened]] = {}
        for threat in self.found.threats:
            goals.setdefault(describe_threat(threat, self.found.player), {})[threat.player] = threat
        return goals

    @cached_property
    def cards(self) -> list[OpponentCards]:
        """What the opponents' cards bring; empty if no opponent holds cards."""
        seen = self.question.turn.seen_by(self.found.player)
        if seen.cards is None or seen.winner is not None:
            return []
        return [each for each in find_card_odds(seen).list_opponents() if each.number]

    @property
    def data(self) -> ThreatsRecord:
        found = self.found
        rows = [make_threat_record(threat, found.player) for threat in found.threats]
        first = rows[0] if rows else None
        return ThreatsRecord(
            condition=THREATS_CONDITION,
            player=found.player,
            goal=first.goal if first else "",
            by=first.player if first else "",
            chance=first.chance if first else 0.0,
            at_most=first.at_most if first else 0.0,
            threats=rows,
            level=found.level,
            is_complete=found.is_complete,
            cards=[make_opponent_record(each) for each in self.cards] or OMITTED,
            move=OMITTED if found.move is None else make_move_record(found.move, found.player),
        )

    def rows(self) -> Iterator[Sequence[object]]:
        yield "player", "kind", "name", "chance", "at_most", "armies", "placement", "condition"
        for threat in self.found.threats:
            where = "; ".join(f"{number} on {name}" for name, number in threat.placement)
            yield *threat[:4], threat.at_most, threat.armies, where, THREATS_CONDITION

    def sections(self) -> Iterator[Section]:
        found = self.found
        condition = f"{THREATS_CONDITION[0].upper()}{THREATS_CONDITION[1:]}."
        parts = [*_list_win_sentences(found, self.question.turn), threats_sentence(self)]
        parts += describe_condition(self.question.turn)
        if found.move is not None:
            parts.append(_describe_move(found.move, found.player))
        elif found.threats and found.is_complete and _may_fortify(self.question.turn):
            parts.append(NO_MOVE_HELPS)
        if not found.is_complete:
            parts.append(
                "The time was too short to search everything: opponents may have better attacks."
            )
        yield Section([*parts, condition] if found.threats else parts)
        players = [*dict.fromkeys(threat.player for threat in found.threats)]
        shown = {
            goal: by
            for goal, by in self.goals.items()
            if max(each.chance for each in by.values()) >= MIN_SHOWN
        }
        table = [
            (goal, *(format_threat(by[player]) if player in by else "" for player in players))
            for goal, by in shown.items()
        ]
        if table:
            columns = ("", *players)
            yield Section([Table(columns, table)], title="Threats on their next turn:")
        if self.cards:
            yield describe_opponents(self.cards, self.question.turn.trade)

    def draw(self, charts: Charts) -> Any:
        return charts.threat_bars(self)


def _may_fortify(turn: Turn) -> bool:
    """Return whether the player has a fortifying move in this turn."""
    if turn.phase == "over" or turn.fortify == "none":
        return False
    return any(list_fortifications(enter_phase(turn, "fortify")))


def describe_threat(threat: Threatened, player: str) -> str:
    """Return a threat as a verb phrase, such as "take Egypt".

    player: the threatened player.
    """
    if threat.kind == "win":
        return "win the game"
    return f"break {player}'s {threat.name}" if threat.kind == "break" else " ".join(threat[1:3])


def _list_win_sentences(found: Threats, turn: Turn) -> Iterator[str]:
    for threat in found.threats:
        if threat.kind == "win" and threat.chance >= MIN_SHOWN:
            name = capitalise(threat.player)
            is_hidden = len(turn.victory.list_possible(turn, threat.player)) > 1
            mean = ", on average over their possible missions" if is_hidden else ""
            chance = describe_chance(_format_chance(threat))
            yield f"{name} wins on their next turn with {chance}{mean}."


def threats_sentence(answer: ThreatsAnswer) -> str:
    """Return a sentence about the likeliest threat."""
    found = answer.found
    if winner := describe_winner(answer.question.turn):
        return winner
    if not found.level:
        return f"The threats to {found.player} are not known yet; allow more time."
    if not found.threats or found.threats[0].chance < MIN_SHOWN:
        return f"The search found no attack on {found.player} that succeeds next turn."
    first = found.threats[0]
    chance = describe_chance(_format_chance(first))
    placed = f", with {describe_placement(first.placement)}" if first.placement else ""
    return (
        f"On their next turn {first.player} can {describe_threat(first, found.player)} with "
        f"{chance}{placed}: the likeliest threat to {found.player}."
    )


def _describe_move(move: HelpfulMove, player: str) -> str:
    return (
        f"The best fortifying move is {name_armies(move.armies)} from {move.start} to {move.to}: "
        f"it lowers the greatest chance to {describe_threat(move.before, player)} from "
        f"{_format_chance(move.before)} to {_format_chance(move.after)}."
    )


def format_threat(threat: Threatened, digits: int = 2) -> str:
    """Return the chance of a threat as short text; empty if it is too small to show.

    digits: the maximum number of digits after the point.
    """
    return shorten_percent(_format_chance(threat, digits)) if threat.chance >= MIN_SHOWN else ""


def _format_chance(threat: Threatened, digits: int = 2) -> str:
    chance = Fraction(1) if threat.is_certain else threat.chance
    return format_best_found(chance, threat.interval, threat.at_most, digits)


def make_threat_record(each: Threatened, player: str) -> ThreatenedRecord:
    interval = OMITTED if each.interval is None else IntervalRecord.from_interval(each.interval)
    where = dict(each.placement)
    return ThreatenedRecord.from_attributes(
        each,
        goal=describe_threat(each, player),
        placement=where,
        parameters=dict(each.parameters),
        interval=interval,
        figure=format_threat(each, 0),
    )


def make_danger_record(turn: Turn, threats: Iterable[Threatened]) -> DangerRecord:
    """Return the greatest threat to each territory of the player to move.

    turn: the turn.
    threats: the threats to its player.
    """
    greatest = dict[str, Threatened]()
    for each in threats:
        known = greatest.get(each.name)
        if each.kind == "take" and (known is None or each.chance > known.chance):
            greatest[each.name] = each
    names, own = turn.board.territories, turn.position.list_territories(turn.player)
    figures = [format_threat(greatest[each], 0) if each in greatest else "" for each in names]
    scene = build_scene(turn.board, values={t: text for t, text in enumerate(figures) if text})
    return DangerRecord(
        chances=[
            None if each not in own else greatest[each].chance if each in greatest else 0.0
            for each in names
        ],
        figures=figures,
        labels=[{**asdict(label), "middle": [*label.middle]} for label in scene.labels],
    )


def make_move_record(move: HelpfulMove, player: str) -> HelpfulMoveRecord:
    goal, by = describe_threat(move.before, player), move.before.player
    words = (
        f"{name_armies(move.armies)} from {move.start} to {move.to}: the greatest chance to {goal} "
        f"falls from {_format_chance(move.before)} to {_format_chance(move.after)}"
    )
    return HelpfulMoveRecord.from_attributes(
        move, goal=goal, by=by, before=move.before.chance, after=move.after.chance, words=words
    )
