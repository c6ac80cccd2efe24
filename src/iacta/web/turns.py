"""Turns for the board page: a turn as JSON, and the turns after recorded steps.

The server stores no games. A client sends the code of a turn and the steps to take, and receives
the codes of the turns that follow. To undo a step, the client sends an earlier code.
"""

from collections.abc import Mapping
from typing import Any

from iacta.board import Board
from iacta.board.files import read_board
from iacta.forms.moment import describe_condition, describe_winner
from iacta.forms.percentages import describe_luck, percent, short_percent
from iacta.forms.sentences import add_noun
from iacta.game import BorderOdds, Fortify, Throw, Turn, list_border_odds
from iacta.game.steps import (
    Step,
    check_version,
    find_attack,
    find_border,
    list_advances,
    read_losses,
    read_tree,
    record_step,
    take_step,
)
from iacta.inputs.checks import quote, refuse_unknown_keys
from iacta.inputs.errors import MalformedError
from iacta.plan.judge import measure_army_luck
from iacta.probability.distribution import Probability
from iacta.rules.roll import Losses

MAX_ARMIES_FOR_LUCK = 1_000  # the luck of larger battles takes too long to compute
MAX_ROLLS_SHOWN = 12  # maximum number of results of a roll that are shown as buttons


def read_sent_board(body: Mapping[str, Any]) -> Board | None:
    """Read the `board` of a request; return `None` for the classic board."""
    given = body.get("board")
    if given is None or given == "classic":
        return None
    if isinstance(given, Mapping):
        return read_board(given)
    raise MalformedError(f"board must be 'classic' or an object, got {quote(given)}")


def read_text(body: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Read a text in a request."""
    value = body.get(name, default)
    if not isinstance(value, str):
        raise MalformedError(f"{name} must be text, got {quote(value)}")
    return value


def _read_turn(body: Mapping[str, Any], *more: str) -> Turn:
    refuse_unknown_keys(body, ("code", "board", *more))
    return Turn.from_code(read_text(body, "code"), read_sent_board(body))


def step_turn(body: Mapping[str, Any]) -> dict[str, Any]:
    """Take a step in a turn; return the next turn, and the step in the format of links.

    body: the request, with the `code` of the turn, the `step`, and the `board` unless it is the
        classic board.
    """
    turn, step = _read_turn(body, "step"), body.get("step")
    if not isinstance(step, Mapping):
        raise MalformedError(f"step must be an object, got {quote(step)}")
    after, words = take_step(turn, step)
    recorded = record_step(turn, step, after)
    luck = _describe_step_luck(turn, recorded, after)
    return {**describe_turn(after), "words": words, "luck": luck, "step": dict(recorded)}


def replay_turns(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a turn, and the turn after each step of a tree.

    body: the request, with the `code` of the turn, the `steps` as for `iacta.game.steps.read_tree`,
        and the `board` unless it is the classic board.

    An impossible step and all later steps have a `problem` instead of a turn.
    """
    turn = _read_turn(body, "steps", "version")
    check_version(body)
    nodes, states = read_tree(turn, body.get("steps", [])), [describe_turn(turn)]
    for node in nodes[1:]:
        before = nodes[node.before].turn
        if before is None or node.turn is None or node.step is None:
            states.append({"problem": node.words})
        else:
            luck = _describe_step_luck(before, node.step, node.turn)
            states.append({**describe_turn(node.turn), "words": node.words, "luck": luck})
    return {"turns": states}


def _describe_step_luck(before: Turn, step: Step, after: Turn) -> str:
    """Describe the luck of the dice in a recorded step; empty for a step without dice."""
    if step["do"] != "attack":
        return ""
    border, losses = find_border(before, step), read_losses(before, step)
    if sum(before.position.find_holding(name).armies for name in border) > MAX_ARMIES_FOR_LUCK:
        return ""
    dice = step.get("dice"), step.get("their_dice")
    armies = measure_army_luck(before, after, border, losses, *dice)
    return "" if armies is None else describe_luck(armies)


def describe_turn(turn: Turn) -> dict[str, Any]:
    """Return a turn as JSON values. Territories are numbers in the order of the board."""
    numbers = {name: t for t, name in enumerate(turn.board.territories)}
    state: dict[str, Any] = {
        "code": turn.to_code(),
        "phase": turn.phase,
        "player": turn.player,
        "owners": list(turn.owners),
        "armies": list(turn.armies),
        "new": turn.place,
        "usual": turn.new_armies(),
        "odds": [_describe_border(turn, odds, numbers) for odds in list_border_odds(turn)]
        if turn.phase == "attack"
        else [],
        "sentence": _describe_phase(turn),
        "condition": " ".join(filter(None, [*describe_condition(turn), describe_winner(turn)])),
        "winner": turn.winner,
    }
    if turn.phase == "advance" and turn.pending is not None:
        v, c = numbers[turn.pending.start], numbers[turn.pending.to]
        advances = list_advances(turn)
        state["advance"] = {"from": v, "to": c, "least": advances[0], "most": advances[-1]}
    if turn.phase == "fortify":
        most: dict[tuple[int, int], int] = {}
        for action in turn.actions():
            if isinstance(action, Fortify):
                most[numbers[action.start], numbers[action.to]] = action.armies
        state["fortify"] = [[v, c, number] for (v, c), number in most.items()]
    return state


def _describe_border(turn: Turn, odds: BorderOdds, numbers: Mapping[str, int]) -> dict[str, Any]:
    """Return the odds of a battle, and the possible losses in its next roll."""
    attack = find_attack(turn, odds.start, odds.to)
    assert attack is not None  # noqa: S101 # a border with odds has an attack
    thrown = add_noun(attack.dice, "die", "dice")
    rolls = [
        [*losses, *_describe_losses(losses, thrown, chance)]
        for losses, chance in turn.results(attack).items()
        if not isinstance(losses, Throw)
    ]
    return {
        "from": numbers[odds.start],
        "to": numbers[odds.to],
        "chance": odds.win_probability,
        "words": f"{odds.attackers:,} against {odds.defenders:,}: {percent(odds.win_probability)} "
        "to take it",
        "dice": attack.dice,
        "rolls": rolls if len(rolls) <= MAX_ROLLS_SHOWN else [],
    }


def _describe_losses(losses: Losses, thrown: str, chance: Probability) -> tuple[str, str]:
    """Return the losses of a roll as a short button label and as a sentence."""
    lost, killed = losses.attackers, losses.defenders
    words = f"I lose {lost}, they lose {killed} with {thrown}: {short_percent(chance, 1)}"
    return f"I lose {lost}, they {killed}", words


def _describe_phase(turn: Turn) -> str:
    if turn.phase == "over" and turn.winner:
        return f"{turn.winner} wins the game."
    match turn.phase:
        case "place":
            return f"{turn.player} places {add_noun(turn.place, 'new army', 'new armies')}."
        case "attack":
            return f"{turn.player} attacks."
        case "advance":
            to = turn.pending.to if turn.pending is not None else ""
            return f"{to} is taken: how many armies move in?"
        case "fortify":
            return f"{turn.player} may move armies once, and the turn ends."
        case "over":
            return f"{turn.player}'s turn is over."
    return f"{turn.to_act} decides."
