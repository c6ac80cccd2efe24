"""The commands that a player types in `iacta play`.

`answer_line` takes a line and returns the next dialogue with the lines to print. A wrong line
raises an `IactaError` and changes nothing. Names of commands and territories may be abbreviated.
"""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from iacta.cli.dialogue import (
    NOTHING_PLACED,
    Dialogue,
    choose_move,
    explain_phase,
    list_moves,
    show_turn,
)
from iacta.cli.game_text import describe_hint, describe_odds, format_neighbours, list_trades
from iacta.cli.terminal import format_rows
from iacta.cli.typed_names import (
    Words,
    drop_noise,
    find_abbreviated,
    find_pair,
    find_territory,
    split_number,
)
from iacta.forms.sentences import add_noun, name_armies
from iacta.game import list_border_odds
from iacta.game.actions import Action, EndPhase
from iacta.game.legal import list_fortify_limits
from iacta.game.step_fields import list_advances
from iacta.game.turn import Turn
from iacta.inputs.checks import FrozenDict, parse_int, quote
from iacta.inputs.errors import IllegalError, MalformedError

MAX_ODDS = 15  # attacks that the command odds lists
Answer: TypeAlias = tuple[Dialogue, list[str]]
# The usage and the meaning of each command; {0} and {1} stand for two neighbouring territories.
HELP = (
    ("place 3 {0}", "place new armies; place {0} places all that are left"),
    ("attack {0} {1}", "roll once; attack {0} {1} all rolls to the end of the battle"),
    ("attack", "repeat the last attack; attack all rolls to the end"),
    ("move 5", "move armies into a conquered territory; move takes the usual number"),
    ("fortify {0} {1} 4", "move armies at the end of your turn; without 4, as many as possible"),
    ("trade", "trade the best set of cards; trade 2 trades the second set of the list"),
    ("done", "go on to the next phase, or end your turn"),
    ("hint", "show the best move of a computer of medium strength"),
    ("odds", "list the best attacks; odds {0} {1} shows the chance of one attack"),
    ("map", "show the map; map {0} shows a territory and its neighbours"),
    ("undo", "take back your last decision; new dice follow"),
    ("save game.json", "save the game, for iacta play --load game.json"),
    ("link", "show the turn as a code for the board of iacta serve"),
    ("resign", "let the computer play on with your armies"),
    ("quit", "leave the game, which is saved"),
)


def answer_line(dialogue: Dialogue, line: str) -> Answer:
    """Return the dialogue after a line, and the lines of the answer.

    line: a command, such as `place 3 Brazil`. An empty line changes nothing.

    Raises `IactaError` for a wrong line.
    """
    name, *words = line.split() or [""]
    if not name:
        return dialogue, [explain_phase(dialogue)]
    known = [each for each in COMMANDS if each.startswith(name.lower())]
    if len(known) != 1:
        which = f"; did you mean {' or '.join(known)}?" if known else "; type help for a list"
        raise IllegalError(f"unknown command {quote(name)}{which}")
    return COMMANDS[known[0]](dialogue, drop_noise(words))


def _need(dialogue: Dialogue, phase: str, reason: str) -> Turn:
    """Return the turn; raise an error in another phase."""
    if dialogue.game.turn.phase != phase:
        now = explain_phase(dialogue)
        raise IllegalError(f"{reason}; {now[:1].lower()}{now[1:].rstrip('.')}")
    return dialogue.game.turn


def _place(dialogue: Dialogue, words: Words) -> Answer:
    turn = _need(dialogue, "place", "you have no armies to place")
    number, names = split_number(words)
    if not names:
        raise MalformedError(f"name a territory, as in: {_insert_neighbours('place 3 {0}', turn)}")
    own = [name for name in turn.board.territories if turn.owner_of(name) == turn.player]
    found = find_abbreviated(" ".join(names), own)
    name = found[0] if len(found) == 1 else find_territory(turn, names)
    if name not in own:
        raise IllegalError(f"{name} belongs to {turn.owner_of(name) or 'nobody'}, not to you")
    armies = dialogue.left if number is None else number
    if armies > dialogue.left:
        raise IllegalError(f"armies must be at most {dialogue.left}, got {armies}")
    more = {name: dialogue.placed.get(name, 0) + armies}
    placed = FrozenDict({**dialogue.placed, **more})
    if sum(placed.values()) == turn.place:
        return dialogue.decide({"do": "place", "on": [[*row] for row in placed.items()]})
    after = replace(dialogue, placed=placed)
    return after, [f"{name} has {after.turn.armies_on(name)}. {name_armies(after.left)} left."]


def _attack(dialogue: Dialogue, words: Words) -> Answer:
    turn = _need(dialogue, "attack", "you cannot attack now")
    is_all = bool(words) and words[-1].lower() in ("all", "end")
    names = words[:-1] if is_all else words
    if names:
        pairs = [(each.start, each.to) for each in list_border_odds(turn)]
        start, to = find_pair(turn, names, pairs, _insert_neighbours("attack {0} {1}", turn))
    elif dialogue.last is not None:
        start, to = dialogue.last
    else:
        usage = _insert_neighbours("attack {0} {1}", turn)
        raise MalformedError(f"name two territories, as in: {usage}")
    turn.compute_dice_limits(start, to)  # raises an error if the attack is illegal
    odds = f"{describe_odds(turn, start, to)}."
    step = {"do": "roll", "from": start, "to": to, **({} if is_all else {"once": True})}
    after, lines = replace(dialogue, last=(start, to)).decide(step)
    if after.game.turn.phase == "attack" and after.game.waits_for:
        left = [f"{each} has {after.game.turn.armies_on(each)}" for each in (start, to)]
        lines.append(f"{left[0]}, {left[1]}.")
    return after, [odds, *lines]


def _move(dialogue: Dialogue, words: Words) -> Answer:
    turn = _need(dialogue, "advance", "no armies can move in now")
    number, rest = split_number(words)
    numbers = list_advances(turn)
    if rest and rest != ["all"]:
        raise MalformedError(f"move must be followed by a number, got {quote(' '.join(rest))}")
    armies = number if number is not None else numbers[-1] if rest else choose_move(turn)
    return dialogue.decide({"do": "advance", "armies": armies})


def _fortify(dialogue: Dialogue, words: Words) -> Answer:
    decisions = list[Action]()
    turn = dialogue.game.turn
    if turn.phase == "attack":  # the attacks end
        after = turn.after(EndPhase())
        if after.phase != "fortify":
            raise IllegalError("no armies can move at the end of this turn")
        decisions, turn = [EndPhase()], after
    else:
        _need(dialogue, "fortify", "you cannot fortify now")
    number, names = split_number(words)
    most = list_fortify_limits(turn)
    start, to = find_pair(turn, names, [*most], _insert_neighbours("fortify {0} {1} 4", turn))
    step: dict[str, Any] = {"do": "fortify", "from": start, "to": to}
    step["armies"] = most.get((start, to), 1) if number is None else number
    return dialogue.decide(*decisions, step)


def _trade(dialogue: Dialogue, words: Words) -> Answer:
    turn = _need(dialogue, "trade", "you cannot trade cards now")
    trades = list_trades(turn)
    number = parse_int(" ".join(words), "the number of a set", 1, len(trades)) if words else 1
    return dialogue.decide(trades[number - 1])


def _finish(dialogue: Dialogue, words: Words) -> Answer:
    del words
    phase = dialogue.game.turn.phase
    if phase == "trade" and EndPhase() not in dialogue.game.turn.actions():
        raise IllegalError("you must trade a set of cards first: type trade")
    if phase not in ("trade", "attack", "fortify"):
        raise IllegalError(explain_phase(dialogue).rstrip("."))
    return dialogue.decide(EndPhase())


def _hint(dialogue: Dialogue, words: Words) -> Answer:
    del words
    after = replace(dialogue, hints=dialogue.hints + 1)
    turn = dialogue.turn
    return after, [
        describe_hint(turn.with_options(place=dialogue.left) if dialogue.placed else turn)
    ]


def _odds(dialogue: Dialogue, words: Words) -> Answer:
    turn = dialogue.turn
    borders = list_border_odds(turn)
    if words:
        pairs = [(border.start, border.to) for border in borders]
        start, to = find_pair(turn, words, pairs, _insert_neighbours("odds {0} {1}", turn))
        if not (odds := describe_odds(turn, start, to)):
            turn.compute_dice_limits(start, to)  # raises an error with the reason
        return dialogue, [f"{odds}."]
    ordered = sorted(borders, key=lambda border: -border.win_probability)
    lines = [f"{describe_odds(turn, each.start, each.to)}." for each in ordered[:MAX_ODDS]]
    if rest := len(ordered) - len(lines):
        lines.append(f"{add_noun(rest, 'attack is', 'attacks are')} less likely to succeed.")
    return dialogue, lines or ["None of your territories can attack."]


def _map(dialogue: Dialogue, words: Words) -> Answer:
    if words:
        return dialogue, [*format_neighbours(dialogue.turn, find_territory(dialogue.turn, words))]
    return dialogue, show_turn(dialogue)


def _undo(dialogue: Dialogue, words: Words) -> Answer:
    del words
    if dialogue.placed:
        *rest, _ = dialogue.placed.items()
        after = replace(dialogue, placed=FrozenDict(dict(rest)))
        return after, [explain_phase(after)]
    game = dialogue.game.take_back()
    while len(list_moves(game.turn)) == 1:  # the dialogue made this decision itself
        game = game.take_back()
    after = replace(dialogue, game=game, undone=dialogue.undone + 1, is_saved=False, last=None)
    return after, show_turn(after)


def _save(dialogue: Dialogue, words: Words) -> Answer:
    file = " ".join(words) or dialogue.file
    if not file:
        raise MalformedError("name a file, as in: save game.json")
    if file != dialogue.file and Path(file).exists():
        raise IllegalError(f"{quote(file)} exists already; choose another name")
    return dialogue.save(file), [f"Saved. Go on later with: iacta play --load {shlex.quote(file)}"]


def _link(dialogue: Dialogue, words: Words) -> Answer:
    del words
    about = "Paste this code on the board that iacta serve shows:"
    return dialogue, [about, dialogue.game.turn.seen_by(dialogue.game.turn.player).to_code()]


def _resign(dialogue: Dialogue, words: Words) -> Answer:
    if words != ["yes"]:
        return dialogue, ["The computer will play on with your armies. Type resign yes to confirm."]
    game = dialogue.game.resign(dialogue.game.turn.player)
    after = replace(dialogue, game=game, placed=NOTHING_PLACED, is_saved=False)
    return after.play_on(["You have resigned."])


def _help(dialogue: Dialogue, words: Words) -> Answer:
    del words
    turn = dialogue.game.turn
    rows = [[_insert_neighbours(text, turn) for text in row] for row in HELP]
    return dialogue, [*format_rows(["", ""], rows), "You may abbreviate commands and names."]


def _insert_neighbours(usage: str, turn: Turn) -> str:
    """Return a text with two neighbouring territories for {0} and {1}, preferably single words."""
    borders = ((name, to) for name in turn.board.territories for to in turn.board.neighbours(name))
    return usage.format(*min(borders, key=lambda pair: sum(name.count(" ") for name in pair)))


def _quit(dialogue: Dialogue, words: Words) -> Answer:
    del words
    return replace(dialogue, is_ended=True), []


COMMANDS: Mapping[str, Callable[[Dialogue, Words], Answer]] = {
    "place": _place,
    "attack": _attack,
    "move": _move,
    "fortify": _fortify,
    "trade": _trade,
    "done": _finish,
    "hint": _hint,
    "odds": _odds,
    "map": _map,
    "undo": _undo,
    "save": _save,
    "link": _link,
    "resign": _resign,
    "help": _help,
    "quit": _quit,
}
