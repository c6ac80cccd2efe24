"""Numbers that a client received earlier for a turn, and sends again.

The server keeps no analysis. A client therefore sends the numbers that it has, and gets them back
together with new numbers. They are checked for their shape only: they are returned to the same
client, and no search uses them.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NamedTuple, TypeVar

from iacta.analysis.analysis import RANKS, GoalAnalysis
from iacta.analysis.threats import Threatened
from iacta.game import Turn
from iacta.inputs.checks import check_choice, quote, read_int, read_list
from iacta.inputs.errors import MalformedError
from iacta.plan.named_goals import read_goal_record
from iacta.plan.placements import Placement
from iacta.plan.reinforcement import MAX_PLACED_ARMIES
from iacta.questions.threats import HelpfulMoveRecord

MAX_KNOWN = 1_000  # maximum number of known goals, and of known threats
LIKELY = "take", "break", "eliminate", "win"  # the kinds of threats

T = TypeVar("T")


class Known(NamedTuple):
    """The numbers that a client has.

    goals: the goals of the player to move.
    threats: the threats, or `None` if the client has no threats.
    level: the level of the threats; empty without a level.
    move: the fortifying move that helps most, if any.
    """

    goals: tuple[GoalAnalysis, ...] = ()
    threats: tuple[Threatened, ...] | None = None
    level: str = ""
    move: HelpfulMoveRecord | None = None


def read_known(turn: Turn, value: object) -> Known:
    """Read an answer of the question `analysis` that a client sends again.

    turn: the canonical turn.
    value: the answer as JSON; unknown keys are ignored. A malformed value raises an error of one
        line.
    """
    record = _read_object(value, "known")
    goals = read_list(record.get("goals", []), "known goals", "objects", MAX_KNOWN)
    given = record.get("threats")
    threats = None
    if given is not None:
        items = read_list(given, "known threats", "objects", MAX_KNOWN)
        threats = tuple(_read_threat(_read_object(each, "known threat")) for each in items)
    return Known(
        tuple(_read_goal(turn, _read_object(each, "known goal")) for each in goals),
        threats,
        _read_level(record, "threats_level"),
        _read_move(record["move"]) if record.get("move") is not None else None,
    )


def _read_goal(turn: Turn, record: Mapping[str, Any]) -> GoalAnalysis:
    parameters = _read_object(record.get("parameters"), "parameters of a known goal")
    read_goal_record(turn, parameters)
    is_chance = _read_flag(record, "is_chance", default=True)
    level, value = _read_level(record, "level"), record.get("chance")
    read_value = read_chance if is_chance else read_number
    price, margin, sacrifice, losses, left = (
        read_number(record.get(name, 0.0), name, minimum=0.0)
        for name in ("price", "margin", "sacrifice", "losses", "left")
    )
    return GoalAnalysis(
        dict(parameters),
        _read_text(record, "goal"),
        _read_flag(record, "is_offered", default=False),
        is_chance,
        level if value is not None else "",
        None if value is None else read_value(value, "chance"),
        _read_interval(record, read_value),
        read_value(record.get("upper_bound", 1.0), "upper_bound"),
        _read_flag(record, "proven", default=False),
        price,
        margin,
        sacrifice,
        losses,
        left,
        _read_placement(record.get("placement", {})),
        None if record.get("move_in") is None else read_int(record["move_in"], "move_in"),
        _read_flag(record, "is_reached", default=False),
    )


def _read_threat(record: Mapping[str, Any]) -> Threatened:
    kind = record.get("kind")
    check_choice(kind, LIKELY, "kind")
    return Threatened(
        _read_text(record, "player"),
        kind,  # type: ignore[arg-type] # it has been checked
        _read_text(record, "name"),
        read_chance(record.get("chance"), "chance"),
        _read_interval(record, read_chance),
        read_chance(record.get("at_most"), "at_most"),
        read_int(record.get("armies"), "armies"),
        _read_placement(record.get("placement", {})),
        _read_flag(record, "is_certain", default=False),
        _read_level(record, "level"),
        dict(_read_object(record.get("parameters", {}), "parameters of a known threat")),
    )


def _read_move(value: object) -> HelpfulMoveRecord:
    record = _read_object(value, "move")
    return HelpfulMoveRecord(
        start=_read_text(record, "from"),
        to=_read_text(record, "to"),
        armies=read_int(record.get("armies"), "armies", minimum=1),
        kept=read_number(record.get("kept"), "kept"),
        goal=_read_text(record, "goal"),
        by=_read_text(record, "by"),
        before=read_chance(record.get("before"), "before"),
        after=read_chance(record.get("after"), "after"),
        words=_read_text(record, "words"),
    )


def _read_object(value: object, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MalformedError(f"{name} must be a JSON object, got {quote(value)}")
    return value


def _read_text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise MalformedError(f"{name} must be text, got {quote(value)}")
    return value


def _read_flag(record: Mapping[str, Any], name: str, default: bool) -> bool:
    value = record.get(name, default)
    if not isinstance(value, bool):
        raise MalformedError(f"{name} must be true or false, got {quote(value)}")
    return value


def _read_level(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name, "")
    check_choice(value, tuple(RANKS), name)
    return str(value)


def read_number(value: object, name: str, minimum: float | None = None) -> float:
    """Return a finite number; other values raise an error.

    name: the name of the value, for the error message.
    minimum: the smallest number; `None` for any number.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not isfinite(value) or (minimum is not None and value < minimum):  # type: ignore[arg-type,operator] # a number
        least = "" if minimum is None else f" of at least {minimum:g}"
        raise MalformedError(f"{name} must be a number{least}, got {quote(value)}")
    return float(value)  # type: ignore[arg-type] # a number


def read_chance(value: object, name: str) -> float:
    """Return a chance from 0 to 1; other values raise an error."""
    chance = read_number(value, name, minimum=0.0)
    if chance > 1.0:
        raise MalformedError(f"{name} must be a chance from 0 to 1, got {quote(value)}")
    return chance


def _read_interval(
    record: Mapping[str, Any], read_value: Callable[[object, str], float]
) -> tuple[float, float] | None:
    value = record.get("interval")
    if value is None:
        return None
    ends = _read_object(value, "interval")
    return read_value(ends.get("low"), "low"), read_value(ends.get("high"), "high")


def _read_placement(value: object) -> Placement:
    record = _read_object(value, "placement")
    return tuple(
        (str(name), read_int(number, "placement", maximum=MAX_PLACED_ARMIES))
        for name, number in record.items()
    )
