"""Goals as users write them: a kind such as `take`, with territories or a player.

Each kind is a function that reads the goal, registered by `goal_kind`. Questions, logs, messages
and the board page read the kinds from `GOAL_KINDS`.
"""

import re
from collections.abc import Callable, Mapping
from math import inf
from typing import NamedTuple, TypeAlias

from iacta.board.board import fold_name
from iacta.game import Turn
from iacta.inputs.checks import check_choice, quote, read_int, refuse_unknown_keys
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.plan.goals import Goal, OwnAny, TakeAll, TakeAny, Worth, eliminate, make_owned_mask
from iacta.plan.winning import find_win

OWN_ANY = re.compile(r"(\d{1,9})(?: with (\d{1,9}) arm(?:y|ies))?", re.IGNORECASE)

Reader: TypeAlias = Callable[[Turn, str], Goal | None]


class GoalKind(NamedTuple):
    """A kind of goal that users can name.

    read: a function that returns the goal for a turn and a text.
    words: the goal in words, with `{}` for the named territories, player or number.
    names: what the goal names: `"territories"`, `"player"`, `"number"` or `""` for nothing.
    can_hold: whether a plan can also hold the goal until the player's next turn.
    is_logged: whether logs of games may state the goal.
    """

    read: Reader
    words: str
    names: str = "territories"
    can_hold: bool = False
    is_logged: bool = True


GOAL_KINDS: dict[str, GoalKind] = {}  # all kinds of goals by name


def goal_kind(
    name: str,
    words: str,
    names: str = "territories",
    *,
    can_hold: bool = False,
    is_logged: bool = True,
) -> Callable[[Reader], Reader]:
    """Return a decorator that registers a function as the reader of a kind of goal.

    name, words, names, can_hold, is_logged: the name of the kind, and the fields of its `GoalKind`.
    """

    def register(read: Reader) -> Reader:
        GOAL_KINDS[name] = GoalKind(read, words, names, can_hold, is_logged)
        return read

    return register


def read_goal(turn: Turn, kind: str, text: str = "") -> Goal | None:
    """Return the goal that a user describes by a kind and a text.

    turn: the turn in which the goal is to be reached.
    kind: one of `GOAL_KINDS`.
    text: the name of a continent or a player, or territories separated by commas; ignored for
        `worth` and `win`.

    `take_any` ignores territories that the player already owns, unless the player has conquered a
    territory this turn or owns all these territories. The goal may already be reached
    (`Goal.is_reached`). Return `None` for `eliminate` if the player to eliminate owns no territory,
    and for `win` if the player to move has already won.

    >>> from iacta.game import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:3,Brazil:blue:2")
    >>> read_goal(turn, "take", "brazil"), read_goal(turn, "eliminate", "blue")
    (TakeAll(territories=('Brazil',)), TakeAll(territories=('Brazil',)))
    """
    check_choice(kind, tuple(GOAL_KINDS), "goal")
    if not isinstance(text, str) and GOAL_KINDS[kind].names:
        raise MalformedError(f"{kind} must be text, got {quote(text)}", parameter=kind)
    return GOAL_KINDS[kind].read(turn, text)


@goal_kind("take", "Take {}", can_hold=True)
def _read_take(turn: Turn, text: str) -> Goal:
    return TakeAll(turn.board.find_set(text))


@goal_kind("take_any", "Take any of {}")
def _read_take_any(turn: Turn, text: str) -> Goal:
    names = turn.board.find_set(text)
    if turn.cards_due:
        return TakeAny(names)
    # A territory that the player owned from the start does not reach the goal.
    owned = turn.position.list_territories(turn.player)
    return TakeAny(tuple(name for name in names if name not in owned) or names)


@goal_kind("own_any", "Own more territories: {}", "number", is_logged=False)
def _read_own_any(turn: Turn, text: str) -> Goal:
    found = OWN_ANY.fullmatch(text.strip())
    if found is None:
        raise MalformedError(
            "own_any must be a number of territories, such as '3' or '3 with 2 armies', "
            f"got {quote(text)}",
            parameter="own_any",
        )
    number, armies = read_int(int(found[1]), "own_any", minimum=1), int(found[2] or 1)
    held = OwnAny(number, armies).count_held(make_owned_mask(turn), turn.armies)
    return OwnAny(held + number, armies)


@goal_kind("eliminate", "Eliminate {}", "player", can_hold=True)
def _read_eliminate(turn: Turn, text: str) -> Goal | None:
    gone = (name for name in turn.players if name not in turn.owners)
    return None if fold_name(text) in map(fold_name, gone) else eliminate(turn.position, text)


@goal_kind("worth", "Gain the most points", "")
def _read_worth(*_: object) -> Goal:
    return Worth()


@goal_kind("win", "Win this turn", "")
def _read_win(turn: Turn, _: str) -> Goal | None:
    winner, win = turn.winner, None
    if winner is None:
        win = find_win(turn)
    elif winner == turn.player:
        return None
    if win is None:
        reason = f"{winner} has won" if winner else "found no conquests this turn that win"
        raise IllegalError(f"win must be possible for {turn.player}; {reason}", parameter="win")
    return win.goal


def read_price(record: object) -> float | None:
    """Return the price of a lost army that a goal in a log states; `None` if it states no price.

    record: the JSON object of the goal, such as `{"take": "Africa", "price": 0.0013}`.
    """
    price = record.get("price") if isinstance(record, Mapping) else None
    is_number = isinstance(price, int | float) and not isinstance(price, bool)
    if price is not None and not (is_number and 0.0 <= price < inf):
        raise IllegalError(f"price must be a number of at least 0, got {quote(price)}")
    return None if price is None else float(price)


def read_goal_record(turn: Turn, record: object) -> Goal | None:
    """Read a goal from a JSON object with one key, a kind of goal that logs may state.

    turn: the turn in which the goal is to be reached.
    record: the JSON object, such as `{"take": "Africa"}` or `{"worth": true}`. Its key `price`, for
        `read_price`, is ignored.

    Return the goal, or `None` in the same cases as `read_goal`. A malformed object raises an error.
    """
    if not isinstance(record, Mapping):
        raise MalformedError(f"goal must be a JSON object, got {quote(record)}")
    record = {name: given for name, given in record.items() if name != "price"}
    kinds = [name for name, kind in GOAL_KINDS.items() if kind.is_logged]
    refuse_unknown_keys(record, kinds)
    if len(record) != 1:
        raise IllegalError(
            f"goal must have a single key, one of {', '.join(kinds)}, got {len(record)}"
        )
    ((kind, text),) = record.items()
    if not GOAL_KINDS[kind].names and text is not True:
        raise MalformedError(f"{kind} must be true, got {quote(text)}")
    return read_goal(turn, kind, text)
