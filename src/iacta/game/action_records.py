"""Actions as JSON, and played moves as recorded steps.

An action is a step without its result, in the format of `iacta.game.steps`: a decision to attack is
a step `roll`, and is recorded as a step `attack` with the losses. All rolls of a battle are one
step, and so is a whole placement of new armies.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from iacta.game.actions import (
    Action,
    Advance,
    Attack,
    Defend,
    EndPhase,
    Fortify,
    Place,
    Reveal,
    Trade,
)
from iacta.game.cards import Hand
from iacta.game.legal import find_legal_action
from iacta.game.state import TurnState
from iacta.game.step_fields import (
    CARD_KEYS,
    Step,
    read_border,
    read_losses,
    read_territory,
    read_trade,
    record_battle,
    record_cards,
)
from iacta.game.steps import describe_attack, record_step, take_step
from iacta.game.turn import Move, Turn
from iacta.inputs.checks import quote, read_int, read_list, refuse_unknown_keys
from iacta.inputs.errors import MalformedError
from iacta.rules.roll import Losses

_NAME = {"type": "string"}
_NUMBER = {"type": "integer", "minimum": 1}
_CARDS = {
    "type": "object",
    "properties": {
        **{name: {"type": "integer", "minimum": 0} for name in CARD_KEYS[:-1]},
        CARD_KEYS[-1]: {"type": "array", "items": _NAME},
    },
    "additionalProperties": False,
}
_ROW = {"type": "array", "prefixItems": [_NAME, _NUMBER], "minItems": 2, "maxItems": 2}
# For each kind of action, its keys with their schemas.
ACTION_KEYS: Mapping[str, Mapping[str, Any]] = {
    "reveal": {},
    "trade": {"cards": _CARDS, "territory": _NAME},
    "place": {"on": {"type": "array", "items": _ROW, "minItems": 1, "maxItems": 1}},
    "roll": {"from": _NAME, "to": _NAME, "dice": _NUMBER},
    "defend": {"dice": _NUMBER},
    "advance": {"armies": _NUMBER},
    "fortify": {"from": _NAME, "to": _NAME, "armies": _NUMBER},
    "stop": {},
}
OPTIONAL_KEYS = ("territory",)
ACTION_SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "An action of a turn",
    "oneOf": [
        {
            "type": "object",
            "properties": {"do": {"const": do}, **keys},
            "required": ["do", *(key for key in keys if key not in OPTIONAL_KEYS)],
            "additionalProperties": False,
        }
        for do, keys in ACTION_KEYS.items()
    ],
}


def record_action(action: Action) -> dict[str, Any]:
    """Return an action as JSON, for `read_action`.

    action: the action. `ACTION_SCHEMA` is the JSON schema of the result.

    >>> record_action(Attack("Peru", "Brazil", 3))
    {'do': 'roll', 'from': 'Peru', 'to': 'Brazil', 'dice': 3}
    >>> record_action(Place("Peru", 2))
    {'do': 'place', 'on': [['Peru', 2]]}
    """
    match action:
        case Reveal():
            return {"do": "reveal"}
        case Trade(cards, territory):
            more = {"territory": territory} if territory else {}
            return {"do": "trade", "cards": record_cards(cards), **more}
        case Place(territory, armies):
            return {"do": "place", "on": [[territory, armies]]}
        case Attack(start, to, dice):
            return {"do": "roll", "from": start, "to": to, "dice": dice}
        case Defend(dice):
            return {"do": "defend", "dice": dice}
        case Advance(armies):
            return {"do": "advance", "armies": armies}
        case Fortify(start, to, armies):
            return {"do": "fortify", "from": start, "to": to, "armies": armies}
        case EndPhase():
            return {"do": "stop"}
    raise MalformedError(f"action must be an action class of iacta.game, got {quote(action)}")


def read_action(turn: Turn, record: Mapping[str, Any]) -> Action:
    """Read a legal action of a turn from JSON, the inverse of `record_action`.

    turn: the turn.
    record: the action. Territories are given by name, or by index in the order of the board.

    Raises `IactaError` for a malformed record and for an illegal action.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2")
    >>> read_action(turn, {"do": "roll", "from": "peru", "to": "Brazil", "dice": 2})
    Attack('Peru', 'Brazil', 2)
    """
    if not isinstance(record, Mapping):
        raise MalformedError(f"action must be a JSON object, got {quote(record)}")
    do = record.get("do")
    if not isinstance(do, str) or do not in ACTION_KEYS:
        raise MalformedError(f"do must be one of {', '.join(ACTION_KEYS)}, got {quote(do)}")
    refuse_unknown_keys(record, ("do", *ACTION_KEYS[do]))
    for key in ACTION_KEYS[do]:
        if key not in record and key not in OPTIONAL_KEYS:
            raise MalformedError(f"{key} must be given for an action {do!r}")
    return find_legal_action(turn, _make_action(turn, do, record))


def _make_action(turn: Turn, do: str, record: Mapping[str, Any]) -> Action:
    match do:
        case "reveal":
            return Reveal()
        case "trade":
            return read_trade(turn, record)
        case "place":
            rows = read_list(record["on"], "on", "pairs")
            if len(rows) != 1 or not isinstance(rows[0], Sequence) or len(rows[0]) != 2:
                raise MalformedError(
                    f"on must be one pair of a territory and armies, got {quote(record['on'])}"
                )
            return Place(read_territory(turn, rows[0][0], "on"), read_int(rows[0][1], "armies", 1))
        case "roll":
            return Attack(*read_border(turn, record), read_int(record["dice"], "dice", 1))
        case "defend":
            return Defend(read_int(record["dice"], "dice", 1))
        case "advance":
            return Advance(read_int(record["armies"], "armies", 1))
        case "fortify":
            return Fortify(*read_border(turn, record), read_int(record["armies"], "armies", 1))
    return EndPhase()


class PlayedStep(NamedTuple):
    """A recorded step of a game.

    turn: the turn before the step.
    step: the step with its result, in the format of `iacta.game.steps`.
    after: the turn after the step.
    """

    turn: Turn
    step: Step
    after: Turn

    @property
    def words(self) -> str:
        """The step in words; a battle names both players."""
        if self.losses is None:
            return take_step(self.turn, self.step)[1]
        start, to = read_border(self.turn, self.step)
        sides = f"{self.turn.player} loses", f"{self.turn.owner_of(to)} loses"
        return describe_attack(start, to, *self.losses, self.after, sides=sides)

    @property
    def losses(self) -> Losses | None:
        """The losses of both sides in a step `attack`; `None` for other steps."""
        return read_losses(self.turn, self.step) if self.step["do"] == "attack" else None


def play_step(turn: Turn, step: Step) -> PlayedStep:
    """Play a step, and record it with its result instead of dice or a seed.

    turn: the turn before the step.
    step: the step, as for `iacta.game.steps.take_step`, which raises `IactaError` for an impossible
        step.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2")
    >>> played = play_step(turn, {"do": "roll", "from": "Peru", "to": "Brazil", "seed": 4})
    >>> played.step
    {'do': 'attack', 'from': 'Peru', 'to': 'Brazil', 'left': 2, 'their_left': 0}
    >>> played.losses
    Losses(attackers=4, defenders=2)
    """
    after, _ = take_step(turn, step)
    recorded = record_step(turn, step, after)
    if recorded is not step:  # a record of several rolls does not contain the last dice
        after, _ = take_step(turn, recorded)
    return PlayedStep(turn, recorded, after)


def record_moves(moves: Sequence[Move], end: Turn) -> Iterator[PlayedStep]:
    """Yield the steps of played moves: one step for each battle and for each placement.

    moves: consecutive moves.
    end: the turn after the last move.
    """
    ends = [*(move.turn for move in moves[1:]), end]
    turn = moves[0].turn if moves else end
    for _, numbers in groupby(range(len(moves)), lambda k: _name_step(k, moves[k])):
        group = [*numbers]
        for step in _record_group(turn, [moves[k] for k in group], ends[group[-1]]):
            yield step
            turn = step.after


def _name_step(number: int, move: Move) -> tuple[object, ...]:
    """Return a key that is the same for all moves of one step.

    number: the number of the move, which separates the steps of one move.
    """
    if isinstance(move.action, Place):
        return ("place",)
    attack = move.action if isinstance(move.action, Attack) else move.turn.pending
    is_roll = isinstance(move.action, Attack | Defend)
    return ("attack", attack.start, attack.to) if attack is not None and is_roll else (number,)


def _record_group(turn: Turn, moves: Sequence[Move], end: Turn) -> Iterator[PlayedStep]:
    """Yield the step of some moves; a battle that one step cannot record has one for each roll.

    turn: the turn before the moves.
    end: the turn after the moves.
    """
    action, result = moves[0].action, moves[0].result
    if isinstance(action, Place):
        rows = [[m.action.territory, m.action.armies] for m in moves if isinstance(m.action, Place)]
        yield PlayedStep(turn, {"do": "place", "on": rows}, end)
    elif isinstance(action, Attack):
        rolls = [k for k, move in enumerate(moves) if isinstance(move.action, Attack)]
        battle = record_battle(action.start, action.to, end)
        if len(rolls) == 1:
            yield PlayedStep(turn, {**battle, "dice": action.dice}, end)
            return
        step = play_step(turn, battle)
        if _drop_dice(step.after) == _drop_dice(end):
            yield step
            return
        for start, stop in pairwise([*rolls, len(moves)]):
            after = moves[stop].turn if stop < len(moves) else end
            for roll in _record_group(turn, moves[start:stop], after):
                yield roll
                turn = roll.after
    elif isinstance(action, Reveal) and isinstance(result, Hand):
        yield PlayedStep(turn, {"do": "reveal", "cards": record_cards(result)}, end)
    else:
        yield PlayedStep(turn, record_action(action), end)


def _drop_dice(turn: Turn) -> TurnState:
    """Return the state of a turn without the dice of the last roll, which no longer matter."""
    return turn.state._replace(pending=None)
