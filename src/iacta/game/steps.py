"""The format of recorded steps of a turn, and the functions that apply steps to a turn.

A step is a JSON object. Its key `do` names the kind of step, and each kind has its own other keys:

    {"do": "attack", "from": "Peru", "to": "Brazil", "left": 4, "their_left": 0, "dice": 3}

A territory is given by name, or by its index in the order of the board. The board page, links and
logs record steps in this format. Alternative steps after the same step form a tree, which
`read_tree` reads. This module stores the goal of a step without interpreting it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from iacta.game.actions import Advance, Attack, EndPhase, Fortify
from iacta.game.legal import list_fortify_limits
from iacta.game.step_dice import count_dice, list_rolls, read_dice
from iacta.game.step_fields import (
    Step,
    count_reduced_dice,
    describe_cards,
    describe_gain,
    find_attack,
    list_advances,
    read_border,
    read_cards,
    read_corrections,
    read_losses,
    read_territory,
    read_trade,
    record_battle,
    record_cards,
)
from iacta.game.turn import Turn
from iacta.inputs.checks import quote, read_int, read_list
from iacta.inputs.errors import IactaError, IllegalError, MalformedError

STEPS_VERSION = 1  # the version of this format, also assumed for records without a version
MAX_TREE_STEPS = 500  # the maximum number of steps in a tree
STOPS = {"trade": "Keep the cards", "attack": "Stop attacking", "fortify": "Move no armies"}


def check_version(record: Mapping[str, Any]) -> None:
    """Raise an error if a record has an unknown `version`."""
    version = record.get("version", STEPS_VERSION)
    if version != STEPS_VERSION or isinstance(version, bool):
        raise IllegalError(
            f"version must be {STEPS_VERSION}, got {quote(version)}", parameter="version"
        )


class TreeTurn(NamedTuple):
    """A node of a tree of steps: a step, and the turn after it."""

    turn: Turn | None  # the turn after the step; `None` if the step is impossible
    words: str  # the step in words, or the reason why it is impossible
    before: int = 0  # the index of the parent node
    # The step in the format of `record_step`; an impossible step is unchanged. `None` for the root.
    step: Step | None = None
    goal: object = None  # the player's goal, a JSON value; `None` for no goal


def read_tree(
    turn: Turn, steps: object, goal: object = None, maximum: int = MAX_TREE_STEPS
) -> list[TreeTurn]:
    """Return the nodes of a tree of steps, beginning with the root.

    turn: the turn at the root.
    steps: the steps. The key `after` of a step is the number of its parent: 0 for the turn at the
        root, 1 for the first step, and so on.
    goal: the goal of the player at the root, a JSON value.
    maximum: the maximum number of steps.

    The key `goal` of a step sets the player's goal from this step on. A goal lasts until the end of
    the turn: the next player has no goal unless the step `next`, or a later step, sets one.

    An impossible step and all steps after it have no turn.
    """
    nodes = [TreeTurn(turn, "", goal=goal)]
    given = read_list(steps, "steps", "steps")
    if len(given) > maximum:
        raise IllegalError(f"steps must be at most {maximum}, got {len(given)}")
    for number, record in enumerate(given):
        if not isinstance(record, Mapping):
            raise MalformedError(f"step must be an object, got {quote(record)}")
        before = read_int(record.get("after"), "after", maximum=number)
        step = {name: value for name, value in record.items() if name != "after"}
        start, usual = nodes[before].turn, None if step.get("do") == "next" else nodes[before].goal
        own = step.get("goal", usual)
        if start is None:
            nodes.append(TreeTurn(None, "an earlier step is impossible", before, step, own))
            continue
        try:
            after, words = take_step(start, step)
        except IactaError as error:
            nodes.append(TreeTurn(None, str(error), before, step, own))
            continue
        nodes.append(TreeTurn(after, words, before, record_step(start, step, after), own))
    return nodes


def take_step(turn: Turn, step: Step) -> tuple[Turn, str]:
    """Return the turn after a step, and the step in words.

    turn: the turn before the step.
    step: the step. Its key `do` is one of the following words; parentheses list its other keys.

    - `attack` (`from`, `to`, the armies `left` and `their_left`). A single roll may also have the
      number of attack `dice`, and of defence dice (`their_dice`) if the defender rolled fewer than
      possible.
    - `roll` (`from`, `to`, `seed`, and `once` for a single roll, or its number of `dice`)
    - `faces` (`from`, `to`, and the dice of both sides: `mine` and `theirs`, such as `[6, 4, 1]` or
      `"6 4 1"`)
    - `advance` (`armies`)
    - `get` (new `armies`, for example for cards)
    - `reveal` (the `cards`, such as `{"infantry": 2}`, or a `seed` with which they are drawn)
    - `trade` (the `cards`, and the `territory` that gets two more armies, if a card pictures it)
    - `place` (`on`: pairs of a territory and armies)
    - `fortify` (`from`, `to`, `armies`)
    - `correct` (`on`: rows of a territory, its owner, or `""` for nobody, and its armies)
    - `stop`
    - `next`: the next player's turn begins
    - `goal`: the player changes the goal

    Any step may have the key `goal`: the player's goal, a JSON object or `null`.

    Raises `IactaError` for an impossible step.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2")
    >>> step = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 5, "their_left": 1}
    >>> after, words = take_step(turn, step)
    >>> after.position.find_holding("Brazil").armies, words
    (1, 'Peru to Brazil: you lose 1, they lose 1')
    """
    if not isinstance(step, Mapping):
        raise MalformedError(f"step must be an object, got {quote(step)}")
    do = step.get("do")
    if not isinstance(do, str) or do not in STEPS:
        raise MalformedError(f"do must be one of {', '.join(STEPS)}, got {quote(do)}")
    keys, take = STEPS[do]
    for name in step:
        if name not in ("do", "goal", *keys):
            raise MalformedError(f"unknown key {quote(name)} of a step {do!r}")
    return take(turn, step)


def record_step(turn: Turn, step: Step, after: Turn) -> Step:
    """Convert a step to the format of links and logs, with its result instead of dice or a seed.

    turn: the turn before the step.
    step: the step, in the format of `take_step`.
    after: the turn after the step.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2")
    >>> step = {"do": "faces", "from": "Peru", "to": "Brazil", "mine": "6 5 1", "theirs": "6 2"}
    >>> record_step(turn, step, take_step(turn, step)[0])
    {'do': 'attack', 'from': 'Peru', 'to': 'Brazil', 'left': 5, 'their_left': 1, 'dice': 3}
    """
    if step["do"] == "reveal":
        shown = after.hand_of(turn.player).known - turn.hand.known
        return {"do": "reveal", "cards": record_cards(shown)}
    if step["do"] not in ("roll", "faces"):
        return step
    start, to = read_border(turn, step)
    attack = find_attack(turn, start, to)
    ends = {"from": step["from"], "to": step["to"]}
    record = {**record_battle(start, to, after), **ends}
    if step["do"] == "faces":
        mine, theirs = read_dice(turn, start, to, step)
        record["dice"] = len(mine)
        if (number := count_reduced_dice(turn, start, to, len(theirs))) is not None:
            record["their_dice"] = number
    elif step.get("dice") is not None:
        record["dice"] = step["dice"]
    elif step.get("once") and attack is not None:
        record["dice"] = attack.dice
    return record


def _take_attack(turn: Turn, step: Step) -> tuple[Turn, str]:
    start, to = read_border(turn, step)
    numbers: tuple[Any, ...] = tuple(map(step.get, ("left", "their_left", "dice", "their_dice")))
    after = turn.apply_battle(start, to, *numbers)
    return after, describe_attack(start, to, *read_losses(turn, step), after, 0, numbers[-1])


def _take_roll(turn: Turn, step: Step) -> tuple[Turn, str]:
    rolls = list_rolls(turn, step)
    after = rolls[-1].after if rolls else turn
    lost, killed = (
        sum(side) for side in zip((0, 0), *(roll.losses for roll in rolls), strict=True)
    )
    return after, describe_attack(*read_border(turn, step), lost, killed, after, len(rolls))


def _take_faces(turn: Turn, step: Step) -> tuple[Turn, str]:
    start, to = read_border(turn, step)
    mine, theirs = read_dice(turn, start, to, step)
    attack = Attack(start, to, len(mine))
    lost, killed = losses = turn.compare_dice(attack, mine, theirs)
    reduced = count_reduced_dice(turn, start, to, len(theirs))
    after = turn.after(attack, losses, reduced)
    return after, describe_attack(start, to, lost, killed, after, 1, reduced)


def _take_advance(turn: Turn, step: Step) -> tuple[Turn, str]:
    numbers = list_advances(turn)
    if turn.pending is None or not numbers:
        raise IllegalError("no armies can move in now: no territory has just been taken")
    to, span = turn.pending.to, (numbers[0], numbers[-1])
    armies = read_int(step.get("armies"), f"armies that move into {to}", *span)
    return turn.after(Advance(armies)), f"{_count(armies, 'moves', 'move')} into {to}"


def _take_new_armies(turn: Turn, step: Step) -> tuple[Turn, str]:
    armies = read_int(step.get("armies"), "armies", minimum=1)
    after = turn.with_options(place=turn.place + armies)
    return after, f"{armies} new {'army' if armies == 1 else 'armies'} more"


def _take_placement(turn: Turn, step: Step) -> tuple[Turn, str]:
    given: dict[str, int] = {}
    for entry in read_list(step.get("on"), "on", "pairs"):
        pair = read_list(entry, "on", "a territory and armies")
        if len(pair) != 2:
            raise MalformedError(f"on must be pairs of a territory and armies, got {quote(entry)}")
        name = read_territory(turn, pair[0], "on")
        given[name] = read_int(pair[1], f"new armies on {name}", minimum=1)
    turn = turn.place_armies(given)
    return turn, "Place " + ", ".join(f"{number} on {name}" for name, number in given.items())


def _take_fortification(turn: Turn, step: Step) -> tuple[Turn, str]:
    start, to = read_border(turn, step)
    is_legal = turn.phase == "fortify"
    most = list_fortify_limits(turn).get((start, to), 0) if is_legal else 0
    if not most:
        raise IllegalError(f"no armies can move from {start} to {to} now")
    armies = read_int(step.get("armies"), "armies to move", minimum=1, maximum=most)
    words = f"{_count(armies, 'moves', 'move')} from {start} to {to}"
    return turn.after(Fortify(start, to, armies)), words


def _take_correction(turn: Turn, step: Step) -> tuple[Turn, str]:
    changes = list[str]()
    given = read_corrections(turn, step.get("on"))
    for name, new in given.items():
        old = turn.position.find_holding(name)
        owners = (old.owner, new.owner) if old.owner != new.owner else ("", "")
        words = [
            f"{owner} {each.armies}".strip() if each.owner else "empty"
            for owner, each in zip(owners, (old, new), strict=True)
        ]
        if words[0] != words[1]:
            changes.append(f"{name} {' → '.join(words)}")
    if not changes:
        raise IllegalError("a correction must change the position")
    return turn.correct(given), f"Corrected: {', '.join(changes)}"


def _take_stop(turn: Turn, step: Step) -> tuple[Turn, str]:
    del step
    return turn.after(EndPhase()), STOPS.get(turn.phase, "Stop")


def _take_reveal(turn: Turn, step: Step) -> tuple[Turn, str]:
    if step.get("cards") is not None:
        hand = read_cards(step["cards"])
    else:
        rng = np.random.default_rng(read_int(step.get("seed", 0), "seed"))
        hand = turn.draw_cards(rng)
    return turn.reveal(hand), f"Reveal {describe_cards(hand)}"


def _take_trade(turn: Turn, step: Step) -> tuple[Turn, str]:
    trade = read_trade(turn, step)
    after = turn.after(trade)
    return after, f"Trade {describe_cards(trade.cards)} {describe_gain(turn, trade)}"


def _take_next(turn: Turn, step: Step) -> tuple[Turn, str]:
    del step
    after = turn.next()
    return after, f"{after.player}'s turn"


def _take_goal(turn: Turn, step: Step) -> tuple[Turn, str]:
    if "goal" not in step:
        raise MalformedError("goal must be given: an object, or null for no goal")
    goal = step["goal"]
    if goal is None:
        return turn, "No goal"
    if not isinstance(goal, Mapping):
        raise MalformedError(f"goal must be a JSON object, got {quote(goal)}")
    words = [
        str(kind).replace("_", " ") + ("" if target is True else f" {target}")
        for kind, target in goal.items()
        if kind != "price"
    ]
    return turn, f"Goal: {', '.join(words)}"


# For each kind of step, its keys, and the function that applies it to a turn.
STEPS: Mapping[str, tuple[Sequence[str], Callable[[Turn, Step], tuple[Turn, str]]]] = {
    "attack": (("from", "to", "left", "their_left", "dice", "their_dice"), _take_attack),
    "roll": (("from", "to", "seed", "once", "dice"), _take_roll),
    "faces": (("from", "to", "mine", "theirs"), _take_faces),
    "advance": (("armies",), _take_advance),
    "get": (("armies",), _take_new_armies),
    "place": (("on",), _take_placement),
    "reveal": (("cards", "seed"), _take_reveal),
    "trade": (("cards", "territory"), _take_trade),
    "fortify": (("from", "to", "armies"), _take_fortification),
    "correct": (("on",), _take_correction),
    "stop": ((), _take_stop),
    "next": ((), _take_next),
    "goal": ((), _take_goal),
}


def describe_attack(
    start: str,
    to: str,
    lost: int,
    killed: int,
    after: Turn,
    rolls: int = 0,
    their_dice: int | None = None,
    sides: tuple[str, str] = ("you lose", "they lose"),
) -> str:
    """Describe the losses in a battle.

    start, to: the attacking and the attacked territory.
    lost, killed: the armies that the attacker and the defender lost.
    after: the turn after the battle.
    rolls: the number of rolls; 0 if it is unknown.
    their_dice: the number of defence dice, if fewer than possible.
    sides: the subject and verb for each side.
    """
    thrown = f" in {rolls:,} {'roll' if rolls == 1 else 'rolls'}" if rolls else ""
    if their_dice is not None:
        thrown += f" against {count_dice(their_dice)}"
    taken = f"; {to} is taken" if after.owner_of(to) == after.player else ""
    return f"{start} to {to}: {sides[0]} {lost}, {sides[1]} {killed}{thrown}{taken}"


def _count(armies: int, verb: str, verbs: str) -> str:
    return f"{armies:,} army {verb}" if armies == 1 else f"{armies:,} armies {verbs}"
