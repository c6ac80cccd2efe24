"""The format of recorded steps of a turn, and the functions that apply steps to a turn.

A step is a JSON object. Its key `do` names the kind of step, and each kind has its own other keys:

    {"do": "attack", "from": "Peru", "to": "Brazil", "left": 4, "their_left": 0, "dice": 3}

A territory is given by name, or by its index in the order of the board. The board page, links and
logs record steps in this format. Alternative steps after the same step form a tree, which
`read_tree` reads. This module stores the goal of a step without interpreting it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from iacta.board import Board, Holding
from iacta.game.actions import Advance, Attack, EndPhase, Fortify, Trade
from iacta.game.cards import Hand
from iacta.game.legal import list_fortify_limits
from iacta.game.turn import Turn
from iacta.inputs.checks import quote, read_int, read_list
from iacta.inputs.errors import IactaError, IllegalError, MalformedError
from iacta.methods.kernel import Throw
from iacta.rules.dice import Dice, split_dice
from iacta.rules.roll import Losses, Roll
from iacta.rules.rules import Rules
from iacta.rules.thrown import compare_dice, throw_dice

STEPS_VERSION = 1  # the version of this format, also assumed for records without a version
MAX_TREE_STEPS = 500  # the maximum number of steps in a tree
BETWEEN_SIDES = re.compile(r"\s*(?:\bvs?\b\.?|\bagainst\b|[:;|])\s*", re.IGNORECASE)
CARD_KEYS = ("infantry", "cavalry", "artillery", "jokers", "territories")
STOPS = {"trade": "Keep the cards", "attack": "Stop attacking", "fortify": "Move no armies"}
MAX_STEP_ROLLS = 2_000  # the maximum number of rolls in a `roll` step
MAX_COURSES = 2_500  # maximum number of states of a battle whose last roll is drawn
MAX_THROWS = 1_000  # the maximum number of throws in search of faces with given losses

Faces: TypeAlias = tuple[list[int], list[int]]  # the dice of both sides, the highest first
Step: TypeAlias = Mapping[str, Any]


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
        mine, theirs = _read_dice(turn, start, to, step)
        record["dice"] = len(mine)
        if (number := count_reduced_dice(turn, start, to, len(theirs))) is not None:
            record["their_dice"] = number
    elif step.get("dice") is not None:
        record["dice"] = step["dice"]
    elif step.get("once") and attack is not None:
        record["dice"] = attack.dice
    return record


def record_battle(start: str, to: str, after: Turn) -> dict[str, Any]:
    """Return the step of a battle, without dice.

    start, to: the attacking and the attacked territory.
    after: the turn after the battle, before armies move in.
    """
    left, other = map(after.armies_on, (start, to))
    is_taken = after.owner_of(to) == after.player
    left, other = (left + other, 0) if is_taken else (left, other)
    return {"do": "attack", "from": start, "to": to, "left": left, "their_left": other}


def name_territories(board: Board, step: Step) -> dict[str, Any]:
    """Return a step with the names of its territories instead of their numbers, for logs.

    >>> board = Board.from_edges("two", [("A", "B")])
    >>> name_territories(board, {"do": "place", "on": [[0, 3]]})
    {'do': 'place', 'on': [['A', 3]]}
    """

    def name(given: object) -> object:
        return board.territories[given] if isinstance(given, int) else given

    named = {key: name(given) if key in ("from", "to") else given for key, given in step.items()}
    if "on" in step:
        named["on"] = [[name(place), *held] for place, *held in step["on"]]
    return named


def read_border(turn: Turn, step: Step) -> tuple[str, str]:
    """Return the names of the territories `from` and `to` of a step."""
    start, to = (read_territory(turn, step.get(name), name) for name in ("from", "to"))
    return start, to


def read_losses(turn: Turn, step: Step) -> Losses:
    """Return the losses of both sides in a recorded battle.

    turn: the turn before the battle.
    step: the battle, with the keys `from`, `to`, `left` and `their_left`.
    """
    left, their_left = (read_int(step.get(name), name) for name in ("left", "their_left"))
    mine, theirs = map(turn.armies_on, read_border(turn, step))
    return Losses(mine - left, theirs - their_left)


def find_attack(turn: Turn, start: str, to: str) -> Attack | None:
    """Return the legal attack from `start` on `to` with the most dice, or `None`."""
    known = (action for action in turn.actions() if isinstance(action, Attack))
    return next((attack for attack in known if (attack.start, attack.to) == (start, to)), None)


def count_reduced_dice(turn: Turn, start: str, to: str, number: int) -> int | None:
    """Return `number` if it is less than the usual number of defence dice, otherwise `None`.

    start, to: the attacking and the attacked territory.
    number: the number of defence dice that were rolled.
    """
    usual = turn.compute_dice_limits(start, to)[1]
    return number if number < usual and turn.has_fixed_defence(to) else None


def list_advances(turn: Turn) -> list[int]:
    """Return the legal numbers of armies that may advance into the conquered territory."""
    return [action.armies for action in turn.actions() if isinstance(action, Advance)]


# The short text of a step, as links record it: a letter for the kind, and numbers.

OPTIONAL_NUMBERS = ("dice", "their_dice")
# For each kind of recorded step, its letter and the keys of its numbers. A step `place` or
# `correct` has a row of numbers for each territory. A step `reveal` or `trade` has the numbers of
# cards with each symbol and of jokers, then the territories on the cards; in a trade, 1 + the
# territory that gets two more armies, or 0, comes before these territories.
STEP_TEXTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "attack": ("a", ("from", "to", "left", "their_left", *OPTIONAL_NUMBERS)),
    "advance": ("m", ("armies",)),
    "get": ("g", ("armies",)),
    "fortify": ("f", ("from", "to", "armies")),
    "place": ("p", ()),
    "correct": ("c", ()),
    "reveal": ("d", ()),
    "trade": ("t", ()),
    "stop": ("s", ()),
    "next": ("n", ()),
}
ROW_LENGTHS = {"place": 2, "correct": 3}
CARD_STEPS = ("reveal", "trade")
STEP_TEXT = re.compile(r"([a-z])(\d{1,10}(?:-\d{1,10})*)?")


def format_step_text(step: Step, board: Board, players: Sequence[str]) -> str:
    """Format a recorded step as a short text for links, for `parse_step_text`.

    step: the step, in the format of `record_step`; its keys `after` and `goal` are left out.
    board: the board, for the numbers of territories.
    players: the players, for the numbers of owners; 0 is nobody.

    >>> step = {"do": "attack", "from": "B", "to": 0, "left": 8, "their_left": 1, "dice": 3}
    >>> format_step_text(step, Board.from_edges("two", [("A", "B")]), ())
    'a1-0-8-1-3'
    """

    def number_territory(given: object) -> int:
        return board.territories.index(given) if isinstance(given, str) else read_int(given, "step")

    letter, keys = STEP_TEXTS[step["do"]]
    if step["do"] in CARD_STEPS:
        cards = step["cards"]
        counts = [cards.get(key, 0) for key in CARD_KEYS[:-1]]
        given = step.get("territory")
        gets = [1 + number_territory(given) if given else 0] if step["do"] == "trade" else []
        pictured = map(number_territory, cards.get("territories", ()))
        return letter + "-".join(map(str, [*counts, *gets, *pictured]))
    numbers = [number_territory(step[key]) for key in keys if step.get(key) is not None]
    for territory, *held in step["on"] if step["do"] in ROW_LENGTHS else ():
        *owner, armies = held
        owners = [players.index(name) + 1 if name else 0 for name in owner]
        numbers += [number_territory(territory), *owners, armies]
    return letter + "-".join(map(str, numbers))


def parse_step_text(text: str, players: Sequence[str], board: Board | None = None) -> Step:
    """Read a step from its short text, the inverse of `format_step_text`.

    text: the text.
    players: the players, for the numbers of owners.
    board: the board, for the territories on cards; `None` if no card pictures a territory.

    Raises `MalformedError` for an unreadable text.

    >>> parse_step_text("c2-1-5", ["red"]), parse_step_text("m7", [])
    ({'do': 'correct', 'on': [[2, 'red', 5]]}, {'do': 'advance', 'armies': 7})
    """
    found = STEP_TEXT.fullmatch(text)
    kinds = {letter: do for do, (letter, _) in STEP_TEXTS.items()}
    if found is None or found[1] not in kinds:
        raise MalformedError(f"cannot read the step {quote(text)}")
    do, numbers = kinds[found[1]], [int(each) for each in (found[2] or "").split("-") if each]
    if do in CARD_STEPS:
        return _read_card_step(do, numbers, () if board is None else board.territories, text)
    if size := ROW_LENGTHS.get(do):
        rows: list[list[Any]] = [
            numbers[k : k + size] for k in range(0, len(numbers) - size + 1, size)
        ]
        if do == "correct":
            names = ["", *players]
            for row in rows:
                row[1] = names[row[1]] if row[1] < len(names) else ""
        return {"do": do, "on": rows}
    keys = STEP_TEXTS[do][1]
    missing = keys[len(numbers) :]
    if len(numbers) > len(keys) or not {*missing} <= {*OPTIONAL_NUMBERS}:
        raise MalformedError(f"cannot read the step {quote(text)}")
    return {"do": do, **dict(zip(keys, numbers, strict=False))}


def _read_card_step(do: str, numbers: Sequence[int], places: Sequence[str], text: str) -> Step:
    """Read a step `reveal` or `trade` from the numbers of its short text.

    places: the territories of the board.
    text: the text, for error messages.
    """
    symbols = CARD_KEYS[:-1]
    size = len(symbols) + (do == "trade")
    gets, pictured = [t - 1 for t in numbers[len(symbols) : size] if t], numbers[size:]
    if len(numbers) < size or any(t >= len(places) for t in (*gets, *pictured)):
        raise MalformedError(f"cannot read the step {quote(text)}")
    cards: dict[str, Any] = {
        key: number for key, number in zip(symbols, numbers, strict=False) if number
    }
    if pictured:
        cards["territories"] = [places[t] for t in pictured]
    return {"do": do, "cards": cards, **({"territory": places[gets[0]]} if gets else {})}


def read_territory(turn: Turn, given: object, name: str) -> str:
    """Read a territory, given by name or by index in the order of the board.

    name: the name of the value, for error messages.
    """
    names = turn.board.territories
    if isinstance(given, str):
        return turn.board.find(given)
    if not isinstance(given, int) or isinstance(given, bool):
        raise MalformedError(f"{name} must be a territory, got {quote(given)}")
    return names[read_int(given, name, maximum=len(names) - 1)]


def _take_attack(turn: Turn, step: Step) -> tuple[Turn, str]:
    start, to = read_border(turn, step)
    numbers: tuple[Any, ...] = tuple(map(step.get, ("left", "their_left", "dice", "their_dice")))
    after = turn.apply_battle(start, to, *numbers)
    return after, describe_attack(start, to, *read_losses(turn, step), after, 0, numbers[-1])


class StepRoll(NamedTuple):
    """A roll in a step `roll`."""

    turn: Turn  # the turn before the roll
    dice: int  # the number of attack dice
    their_dice: int  # the number of defence dice
    losses: Losses
    after: Turn  # the turn after the roll


def list_rolls(turn: Turn, step: Step) -> list[StepRoll]:
    """Return the rolls of a step `roll`, which are the same for the same seed."""
    start, to = read_border(turn, step)
    legal, _ = turn.compute_dice_limits(start, to)  # raises an error if the attack is illegal
    dice = step.get("dice")
    if dice is not None and read_int(dice, "dice", minimum=1) not in legal:
        few = " or ".join(map(str, sorted(legal)))
        raise IllegalError(f"dice must be {few} from {start} to {to}, got {dice}")
    rng = np.random.default_rng(read_int(step.get("seed", 0), "seed"))
    is_single = step.get("once") or dice is not None
    most, rolls = 1 if is_single else MAX_STEP_ROLLS, list[StepRoll]()
    while len(rolls) < most and (attack := find_attack(turn, start, to)) is not None:
        attack = attack if dice is None else Attack(start, to, dice)
        their_dice = turn.compute_dice_limits(start, to)[1]
        (result,) = turn.results(attack).sample(1, rng)
        after = turn.after(attack, result)
        if isinstance(result, Throw):
            answer = after.careful_defence()
            their_dice = answer.dice
            (result,) = after.results(answer).sample(1, rng)
            after = after.after(answer, result)
        rolls.append(StepRoll(turn, attack.dice, their_dice, result, after))
        turn = after
    return rolls


def throw_faces(turn: Turn, step: Step) -> Faces | None:
    """Return the dice of both sides in the last roll of a step `roll`, the highest first.

    turn: the turn before the step.
    step: the step. Its seed decides the losses; the faces are drawn among the throws with
        these losses, so that losses and faces together are distributed like thrown dice.

    Return `None` if the battle has no single rolls, or if the losses are too unlikely.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2")
    >>> step = {"do": "roll", "from": "Peru", "to": "Brazil", "once": True, "seed": 4}
    >>> list_rolls(turn, step)[0].losses, throw_faces(turn, step)
    (Losses(attackers=2, defenders=0), ([5, 2, 1], [5, 4]))
    """
    to = read_border(turn, step)[1]
    rolls = list_rolls(turn, step)
    if not rolls or not turn.has_single_rolls(to):
        return None
    roll, rules = rolls[-1], turn.rules_of.get(to, turn.rules)
    rng = np.random.default_rng([read_int(step.get("seed", 0), "seed"), len(rolls)])
    return _throw_until(roll.losses, (roll.dice, roll.their_dice), rules, rng)


def _throw_until(
    losses: Losses, numbers: tuple[int, int], rules: Rules, rng: "np.random.Generator"
) -> Faces | None:
    """Return the first dice that cause the losses of a roll; `None` if they are too unlikely.

    numbers: the numbers of attack and defence dice.
    """
    sides = (
        throw_dice(dice, number, number, MAX_THROWS, rng)
        for dice, number in zip(rules.dice(*numbers), numbers, strict=True)
    )
    ours, theirs = (np.array(side, np.int64).T.tolist() for side in sides)
    for mine, yours in zip(ours, theirs, strict=True):
        if compare_dice(mine, yours, rules) == losses:
            return mine, yours
    return None


def throw_last_faces(turn: Turn, step: Step, seed: int) -> Faces | None:
    """Return dice of the last roll of a recorded battle, which only records all its losses.

    turn: the turn before the step.
    step: the step `attack`, in which both sides rolled as many dice as possible.
    seed: the seed of the dice. The last roll and its faces are drawn so that, together with the
        losses, they are distributed like the last roll of a battle.

    Return `None` for other steps, for battles without single rolls, and for very long battles.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:6,Brazil:blue:2")
    >>> step = {"do": "attack", "from": "Peru", "to": "Brazil", "left": 5, "their_left": 0}
    >>> mine, theirs = throw_last_faces(turn, step, seed=1)
    >>> compare_dice(mine, theirs, turn.rules).defenders > 0
    True
    """
    if step["do"] != "attack" or step.get("their_dice"):
        return None
    start, to = read_border(turn, step)
    ends, rules = read_losses(turn, step), turn.rules_of.get(to, turn.rules)
    too_long = (ends.attackers + 1) * (ends.defenders + 1) > MAX_COURSES
    if too_long or min(ends) < 0 or not turn.has_single_rolls(to):
        return None
    able = turn.armies_on(start) - turn.setting.garrisons[turn.setting.index[start]]
    reached = {(0, 0): 1.0}  # the chance of each number of losses of both sides
    lasts = list[tuple[float, Losses, tuple[int, int]]]()
    for lost in range(ends.attackers + 1):
        for killed in range(ends.defenders + 1):
            chance = reached.get((lost, killed), 0.0)
            left = able - lost, turn.armies_on(to) - killed
            if (lost, killed) == ends or not chance or min(left) < 1:
                continue
            numbers = (
                step.get("dice") or min(left[0], rules.attack.kept),
                min(left[1], rules.defence.kept),
            )
            for each, part in Roll(*numbers, rules).losses().items():
                after = lost + each.attackers, killed + each.defenders
                reached[after] = reached.get(after, 0.0) + chance * float(part)
                if after == ends:
                    lasts.append((chance * float(part), each, numbers))
    if not lasts:
        return None
    rng = np.random.default_rng(read_int(seed, "seed"))
    weights = np.array([weight for weight, *_ in lasts])
    _, losses, numbers = lasts[int(rng.choice(len(lasts), p=weights / weights.sum()))]
    return _throw_until(losses, numbers, rules, rng)


def _take_roll(turn: Turn, step: Step) -> tuple[Turn, str]:
    rolls = list_rolls(turn, step)
    after = rolls[-1].after if rolls else turn
    lost, killed = (
        sum(side) for side in zip((0, 0), *(roll.losses for roll in rolls), strict=True)
    )
    return after, describe_attack(*read_border(turn, step), lost, killed, after, len(rolls))


def _take_faces(turn: Turn, step: Step) -> tuple[Turn, str]:
    start, to = read_border(turn, step)
    mine, theirs = _read_dice(turn, start, to, step)
    attack = Attack(start, to, len(mine))
    lost, killed = losses = turn.compare_dice(attack, mine, theirs)
    reduced = count_reduced_dice(turn, start, to, len(theirs))
    after = turn.after(attack, losses, reduced)
    return after, describe_attack(start, to, lost, killed, after, 1, reduced)


def _read_dice(turn: Turn, start: str, to: str, step: Step) -> tuple[list[int], list[int]]:
    """Read the dice of both sides of a roll; refuse an impossible roll."""
    legal, most = turn.compute_dice_limits(start, to)
    if not turn.has_single_rolls(to):
        raise IllegalError(f"enter the armies left: the battle for {to} has no single rolls")
    rules = turn.rules_of.get(to, turn.rules)
    mine_given, theirs_given = step.get("mine"), step.get("theirs")
    if isinstance(mine_given, str) and not theirs_given:
        sides = BETWEEN_SIDES.split(mine_given)  # the dice of both sides in one field
        mine_given, theirs_given = sides if len(sides) == 2 else (mine_given, theirs_given)
    mine = _read_faces(mine_given, "mine", "you", rules.attack, legal)
    theirs = _read_faces(theirs_given, "theirs", "they", rules.defence, range(most, 0, -1))
    return mine, theirs


def _read_faces(
    given: object, name: str, side: str, dice: Dice, numbers: Sequence[int]
) -> list[int]:
    """Read the faces of one side's dice; refuse impossible faces and numbers of dice.

    given: the faces, as a string or a list.
    name: the key of the faces in the step, for error messages.
    side: the pronoun for the side in error messages: `"you"` or `"they"`.
    dice: the dice of the side.
    numbers: the legal numbers of dice, in descending order.
    """
    most = max(dice.faces)
    if isinstance(given, str):
        faces = split_dice(given, most)
    else:
        faces = [read_int(face, name) for face in read_list(given, name, "numbers")]
    if not faces:
        raise MalformedError(f"enter the dice that {side} rolled, such as 6 4", parameter=name)
    wrong = next((face for face in faces if not 1 <= face <= most), None)
    if wrong is not None:
        raise IllegalError(f"a die shows 1 to {most}, got {quote(wrong)}", parameter=name)
    if len(faces) not in numbers:
        can = f"can roll at most {_count_dice(numbers[0])}"
        if len(faces) < numbers[0]:
            can = f"must roll {' or '.join(map(str, sorted(numbers)))} dice"
        raise IllegalError(f"{side} {can}, got {len(faces)}", parameter=name)
    return faces


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
            f"{owner} {each.armies}".strip() if each.armies else "empty"
            for owner, each in zip(owners, (old, new), strict=True)
        ]
        if words[0] != words[1]:
            changes.append(f"{name} {' → '.join(words)}")
    if not changes:
        raise IllegalError("a correction must change the position")
    return turn.correct(given), f"Corrected: {', '.join(changes)}"


def read_corrections(turn: Turn, given: object) -> dict[str, Holding]:
    """Read the corrections: a mapping from territories to their new owners and armies.

    given: rows, each with a territory, its owner (`""` for nobody) and its armies.
    """
    found = dict[str, Holding]()
    for entry in read_list(given, "on", "rows of a territory, an owner and armies"):
        row = read_list(entry, "on", "a territory, an owner and armies")
        if len(row) != 3 or not isinstance(row[1], str):
            raise MalformedError(
                "on must be a list of rows, each with a territory, an owner and armies, "
                f"got {quote(entry)}"
            )
        name = read_territory(turn, row[0], "on")
        armies = read_int(row[2], f"armies on {name}", minimum=1 if row[1] else 0)
        if armies and not row[1]:
            raise IllegalError(f"{name} must have an owner or no armies, got {armies}")
        found[name] = Holding(row[1], armies)
    return found


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
    words = f"Trade {describe_cards(trade.cards)} for {after.place - turn.place} armies"
    if trade.territory:
        words += f", and {turn.trade.pictured} armies more on {trade.territory}"
    return after, words


def read_trade(turn: Turn, step: Step) -> Trade:
    """Return the trade of a step `trade`."""
    given = step.get("territory")
    name = "" if given in (None, "") else read_territory(turn, given, "territory")
    return Trade(read_cards(step.get("cards")), name)


def record_cards(cards: Hand) -> dict[str, Any]:
    """Return known cards as JSON, for `read_cards`.

    >>> record_cards(Hand(infantry=2, territories=("Peru",)))
    {'infantry': 2, 'territories': ['Peru']}
    """
    numbers = {name: number for name, number in cards._asdict().items() if number}
    return numbers | ({"territories": [*cards.territories]} if cards.territories else {})


def read_cards(given: object) -> Hand:
    """Read known cards from JSON: a mapping from symbols to numbers, and a list of territories."""
    if not isinstance(given, Mapping):
        raise MalformedError(f"cards must be a JSON object, got {quote(given)}")
    for name in given:
        if name not in CARD_KEYS:
            raise MalformedError(f"cards must be {', '.join(CARD_KEYS)}, got {quote(name)}")
    hand = Hand(**given)
    return hand._replace(territories=tuple(sorted(hand.territories)))


def describe_cards(cards: Hand) -> str:
    """Describe known cards, such as "2 infantry, 1 joker"."""
    words = [f"{number} {name}" for name, number in zip(CARD_KEYS[:3], cards, strict=False)]
    words.append(f"{cards.jokers} {'joker' if cards.jokers == 1 else 'jokers'}")
    return ", ".join(word for word in words if not word.startswith("0"))


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
        thrown += f" against {_count_dice(their_dice)}"
    taken = f"; {to} is taken" if after.owner_of(to) == after.player else ""
    return f"{start} to {to}: {sides[0]} {lost}, {sides[1]} {killed}{thrown}{taken}"


def _count_dice(number: int) -> str:
    return f"{number} {'die' if number == 1 else 'dice'}"


def _count(armies: int, verb: str, verbs: str) -> str:
    return f"{armies:,} army {verb}" if armies == 1 else f"{armies:,} armies {verbs}"


# Replays of the battles in a log.


class LoggedBattle(NamedTuple):
    """A battle in a log: an attack, and the armies that move in after a conquest."""

    start: str  # the attacking territory
    to: str  # the attacked territory
    lost: int  # the armies that the attacker lost
    killed: int  # the armies that the defender lost
    moved: int  # the armies that moved into the conquered territory
    # Pairs of a possible number of attack dice in the first roll, in descending order, and the turn
    # after the battle, before armies move in.
    ways: tuple[tuple[int, Turn], ...]
    after: Turn  # the turn after the battle, and after armies have moved in
    is_roll: bool  # whether a single roll can explain the losses
    is_assumed: bool  # whether the log omits the number of dice although several are possible
    dice: int | None  # the number of attack dice in the log, or `None`
    their_dice: int | None  # the number of defence dice in the log, or `None`


BATTLE_KEYS = ("from", "to", "left", "their_left", "moved", "dice", "their_dice")


def fight_battle(turn: Turn, record: Mapping[str, Any]) -> LoggedBattle:
    """Replay the battle in an entry of a log.

    turn: the turn before the battle.
    record: the entry, with the keys `BATTLE_KEYS`: the keys of a step `attack`, and `moved`, the
        number of armies that move in. An entry without `dice` may describe several rolls.

    Raises `IactaError` for an illegal battle.
    """
    start, to = read_border(turn, record)
    lost, killed = read_losses(turn, record)
    left, against = record["left"], record["their_left"]
    dice, their_dice = record.get("dice"), record.get("their_dice")
    moved, armies = record.get("moved"), 0
    ends = [turn.apply_battle(start, to, left, against, dice, their_dice)]
    after = ends[0]
    legal = [
        action.dice
        for action in turn.actions()
        if isinstance(action, Attack) and (action.start, action.to) == (start, to)
    ]
    is_assumed = dice is None and len(legal) > 1
    fit = turn.list_dice(start, to, lost, killed) if dice is None else (dice,)
    ways = [
        (number, turn.apply_battle(start, to, left, against, number, their_dice)) for number in fit
    ]
    if after.phase == "advance":
        if is_assumed:  # the number of dice in the last roll is the minimum that must move in
            last = turn.apply_battle(start, to, left, 1) if lost or killed > 1 else turn
            numbers = last.list_dice(start, to, 0, 1)
            ends += [last.apply_battle(start, to, left, 0, number) for number in numbers]
        armies = _read_moved(moved, list_advances(ends[0]), list_advances(ends[-1]))
        ways = [way for way in ways if armies in list_advances(way[1])]
        ends = [end for end in ends if armies in list_advances(end)]
        after = ends[0].after(Advance(armies))
    elif moved:
        raise IllegalError(f"moved must be 0 without a conquest, got {quote(moved)}")
    several = [(number, ends[0]) for number in legal]
    return LoggedBattle(
        start,
        to,
        lost,
        killed,
        armies,
        tuple(ways or several),
        after,
        bool(ways),
        is_assumed,
        dice,
        their_dice,
    )


def _read_moved(moved: object, usual: list[int], possible: list[int]) -> int:
    """Read the number of armies that moved in; refuse a number that contradicts the dice.

    moved: the number in the log, or `None`.
    usual: the possible numbers for the dice in the log, by default for the most dice.
    possible: the possible numbers for any legal dice.
    """
    if moved is None and len(usual) > 1:
        raise MalformedError(f"moved must be given, from {possible[0]} to {possible[-1]}")
    number = usual[0] if moved is None else read_int(moved, "moved")
    if number not in possible:
        raise IllegalError(f"moved must be from {possible[0]} to {possible[-1]}, got {number}")
    return number
