"""The review of a game on the board page: chances to win by turn, and costly decisions.

The page sends one turn at a time, so that a long game is judged in the background by short
requests. A request that runs out of time says which steps it has judged, and the page asks again
for the others. `iacta.war.decisions` judges the decisions.
"""

from collections.abc import Mapping
from itertools import islice, pairwise
from typing import Any

from iacta.forms.sentences import name_armies
from iacta.game import PlayedStep, Turn
from iacta.game.steps import Step, describe_cards, read_cards, read_territory, read_tree
from iacta.inputs.checks import read_int, read_list
from iacta.native.deadline import Deadline
from iacta.war.decisions import JudgedDecision, estimate_wins, is_decision, judge_decision
from iacta.web.read_question import read_sent_players
from iacta.web.turns import read_step_texts, read_turn

MAX_JUDGE_SECONDS = 15.0  # time limit of a request
USUAL_JUDGE_SECONDS = 3.0  # afterwards, a request begins to judge no further decision
MIN_MOMENT_COST = 0.02  # smaller costs are not worth showing
MAX_MOMENT_ERROR = 0.08  # a cost that is not clear is only shown if its error is at most this


def judge_turn(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the players' chances to win at the start of a turn, and the costly decisions in it.

    body: the request, with the `code` of the turn; the short `texts` of its steps; the number of
        steps `done` by earlier requests; the `players` for the texts; and the `board` unless it is
        the classic board.

    Without texts, only the chances are estimated.
    """
    deadline, soon = Deadline(MAX_JUDGE_SECONDS), Deadline(USUAL_JUDGE_SECONDS)
    turn, players = read_turn(body, "texts", "done", "players"), read_sent_players(body)
    texts = read_list(body.get("texts", []), "texts", "texts")
    done = read_int(body.get("done", 0), "done", maximum=len(texts))
    records = [{"after": k, "text": text} for k, text in enumerate(texts)]
    nodes = read_tree(turn, read_step_texts(records, turn.board, players))
    wins = None if done else estimate_wins(turn, deadline=deadline)
    moments, missed, first = list[dict[str, Any]](), 0, done
    for k, (before, node) in enumerate(islice(pairwise(nodes), first, None), first):
        if before.turn is None or node.turn is None or node.step is None:
            break
        played = PlayedStep(before.turn, node.step, node.turn)
        if is_decision(played):
            if done > first and soon.is_over:
                return {"wins": wins, "moments": moments, "missed": missed, "done": done}
            found = judge_decision(played.turn, played.step, deadline=deadline)
            missed += found is None
            if found is not None and _is_shown(found):
                moments.append({"step": k, **_describe_moment(found)})
        done = k + 1
    return {"wins": wins, "moments": moments, "missed": missed, "done": len(texts)}


def _is_shown(found: JudgedDecision) -> bool:
    """Return whether a decision has a cost that is large and certain enough to show."""
    is_precise = found.interval.high - found.cost <= MAX_MOMENT_ERROR
    return found.cost >= MIN_MOMENT_COST and (found.is_clear or is_precise)


def _describe_moment(found: JudgedDecision) -> dict[str, Any]:
    """Return a costly decision in words, and the better decision as a step."""
    number = round(100 * found.cost)
    points = "1 point" if number == 1 else f"{number} points"
    return {
        "cost": found.cost,
        "figure": points if found.is_clear else f"about {points}",
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
