"""The review of a game on the board page: chances to win by turn, and costly decisions.

The page sends one turn or one decision at a time, so that a long game is judged in the background
by short requests. The page first requests rough costs of all decisions of persons, then measured
costs of the costliest decisions. The answer to a request that runs out of time names the number of
steps judged, and the page requests the other steps again. `iacta.war.decisions` judges the
decisions.
"""

from collections.abc import Mapping
from itertools import islice, pairwise
from typing import Any

from iacta.forms.sentences import name_armies
from iacta.game import PlayedStep, Turn
from iacta.game.step_fields import Step, describe_cards, read_cards, read_territory
from iacta.game.steps import TreeTurn, read_tree
from iacta.inputs.checks import read_int, read_list
from iacta.inputs.errors import IllegalError
from iacta.native.deadline import Deadline
from iacta.war.decisions import (
    MIN_COST,
    JudgedDecision,
    estimate_rough_cost,
    estimate_wins,
    is_decision,
    judge_decision,
)
from iacta.web.read_question import read_sent_players
from iacta.web.turns import read_step_texts, read_turn

MAX_JUDGE_SECONDS = 15.0  # time limit of a request
USUAL_JUDGE_SECONDS = 2.0  # afterwards, a request begins no further decision and no further games


def judge_turn(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rough costs of the decisions in a turn, or the chances to win at its start.

    body: the request, with the `code` of the turn; the short `texts` of its steps; the number of
        steps `done` by earlier requests; the `players` for the texts; and the `board` unless it is
        the classic board.

    A request without texts estimates only the chances, a request with texts only the costs.
    """
    deadline, soon = Deadline(MAX_JUDGE_SECONDS), Deadline(USUAL_JUDGE_SECONDS)
    turn, nodes = _read_nodes(body, "done")
    number = len(nodes) - 1
    done = read_int(body.get("done", 0), "done", maximum=number)
    if not number:
        wins = estimate_wins(turn, deadline=deadline)
        return {"wins": wins, "costs": [], "missed": 0, "done": 0}
    costs, missed = list[dict[str, Any]](), 0
    for k, (before, node) in enumerate(islice(pairwise(nodes), done, None), done):
        played = _find_decision(before, node)
        if played is None:
            continue
        if k > done and soon.is_over:
            number = k
            break
        cost = estimate_rough_cost(played.turn, played.step, deadline=deadline)
        missed += cost is None
        if cost is not None and cost >= MIN_COST:
            costs.append({"step": k, "cost": cost})
    return {"wins": None, "costs": costs, "missed": missed, "done": number}


def judge_last_decision(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the last decision of a part of a turn, if it clearly lowered the chance to win.

    body: the request, as for `judge_turn` without `done`; `texts` ends with the decision.
    """
    deadline, soon = Deadline(MAX_JUDGE_SECONDS), Deadline(USUAL_JUDGE_SECONDS)
    _, nodes = _read_nodes(body)
    played = _find_decision(*nodes[-2:]) if len(nodes) > 1 else None
    if played is None:
        raise IllegalError("texts must end with a decision that has an alternative")
    found = judge_decision(played.turn, played.step, deadline=deadline, soon=soon)
    if found is None or not found.is_clear or found.cost < MIN_COST:
        return {"moment": None, "missed": found is None}
    return {"moment": _describe_moment(found), "missed": False}


def _read_nodes(body: Mapping[str, Any], *others: str) -> tuple[Turn, list[TreeTurn]]:
    """Return a turn, and the states before its first step and after each step.

    others: further keys of the request.
    """
    turn, players = read_turn(body, "texts", "players", *others), read_sent_players(body)
    texts = read_list(body.get("texts", []), "texts", "texts")
    records = [{"after": k, "text": text} for k, text in enumerate(texts)]
    return turn, read_tree(turn, read_step_texts(records, turn.board, players))


def _find_decision(before: TreeTurn, node: TreeTurn) -> PlayedStep | None:
    """Return the step between two states if it is a decision with an alternative."""
    if before.turn is None or node.turn is None or node.step is None:
        return None
    played = PlayedStep(before.turn, node.step, node.turn)
    return played if is_decision(played) else None


def _describe_moment(found: JudgedDecision) -> dict[str, Any]:
    """Return a costly decision in words, and the better decision as a step."""
    number = round(100 * found.cost)
    return {
        "cost": found.cost,
        "figure": "1 point" if number == 1 else f"{number} points",
        "words": _compare(found.turn, found.better, found.step),
        "better": dict(found.better),
    }


def _compare(turn: Turn, better: Step, step: Step) -> str:
    """Return two decisions in words, such as "8 on Siam, not on India"."""
    if better["do"] == step["do"] == "place" and len(better["on"]) == len(step["on"]) == 1:
        (to, armies), (other, _) = better["on"][0], step["on"][0]
        names = [read_territory(turn, each, "on") for each in (to, other)]
        return f"{armies} on {names[0]}, not on {names[1]}"
    return f"{_describe(turn, better)} rather than {_describe(turn, step)}"


def _describe(turn: Turn, step: Step) -> str:
    """Return a decision in words."""
    match step["do"]:
        case "trade":
            return f"trade {describe_cards(read_cards(step['cards']))}"
        case "place":
            placed = (f"{n} on {read_territory(turn, to, 'on')}" for to, n in step["on"])
            return f"place {', '.join(placed)}"
        case "advance":
            return f"move {name_armies(step['armies'])} in"
        case "attack" | "fortify" as do:
            ends = [read_territory(turn, step[key], key) for key in ("from", "to")]
            if do == "attack":
                return f"attack {ends[1]} from {ends[0]}"
            return f"move {name_armies(step['armies'])} from {ends[0]} to {ends[1]}"
    stop = {"trade": "keep the cards", "attack": "stop attacking", "fortify": "move no armies"}
    return stop.get(turn.phase, "stop")
