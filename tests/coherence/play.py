"""A turn as a player plays it: each step follows the advice, and all questions are asked again."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from random import Random
from typing import Any, NamedTuple, TypeAlias

from iacta import Turn, classic_board
from iacta.game import Action, Advance, Attack, EndPhase, Fortify, Losses, Place
from iacta.inputs.checks import FrozenDict
from iacta.questions import ask

Record: TypeAlias = Mapping[str, Any]


class Moment(NamedTuple):
    """A state of a turn with all answers about it, as the API gives them.

    turn: the state.
    goal: the goal of the player, as in logs; empty for no goal.
    price: the price of a lost army since the goal began; `None` where it begins.
    step: the step that leads to this state, as in logs; empty at the start.
    plan: the answer of `plan` for the goal; empty without a goal.
    """

    turn: Turn
    goal: Record = FrozenDict({})
    price: float | None = None
    step: Record = FrozenDict({})
    plan: Record = FrozenDict({})

    @property
    def options(self) -> dict[str, Any]:
        """The goal and its price as parameters of `plan`."""
        price = {} if self.price is None else {"price": self.price}
        return {**self.goal, **price}


@cache
def _ask(name: str, parameters: str) -> str:
    return json.dumps(ask(name, **json.loads(parameters)).record())


def ask_api(name: str, **parameters: Any) -> Any:
    """Return the answer to a question as a program gets it; repeated questions are asked once."""
    return json.loads(_ask(name, json.dumps(parameters)))


def ask_about(name: str, turn: Turn, **parameters: Any) -> Any:
    return ask_api(name, position=turn.to_code(), **write_board(turn), **parameters)


def write_board(turn: Turn) -> dict[str, Any]:
    """Return the board of a turn as a parameter; nothing for the classic board."""
    board = turn.board
    if board == classic_board():
        return {}
    continents = {
        each.name: {"bonus": each.bonus, "territories": each.territories}
        for each in board.continents
    }
    borders = {name: board.neighbours(name) for name in board.territories}
    return {"board": {"name": board.name, "territories": borders, "continents": continents}}


def analyse(turn: Turn, level: str, **parameters: Any) -> Record:
    found: Record = ask_about("analysis", turn, level=level, **parameters)
    return found


def plan(turn: Turn, level: str, options: Mapping[str, Any]) -> Record:
    found: Record = ask_about("plan", turn, level=level, **options)
    return found


def play(start: Turn, level: str, seed: int, rolls: int) -> Iterator[Moment]:
    """Play a turn by the advice for one of its goals; yield each state with its plan.

    level: the level of all searches.
    seed: the number of the goal in the list, and the seed of the dice.
    rolls: the maximum number of rolls; the player then stops.
    """
    rng, turn, step, price = Random(seed), start, dict[str, Any](), None  # noqa: S311 # dice
    offered = [each for each in analyse(turn, level, parts=["goals"])["goals"] if "chance" in each]
    open_goals = [each for each in offered if each["chance"] < 1 and start.phase != "over"]
    goal = open_goals[seed % len(open_goals)]["parameters"] if open_goals else {}
    while True:
        moment = Moment(turn, goal, price, step)
        if goal and turn.phase in ("place", "attack", "advance"):
            moment = moment._replace(plan=plan(turn, level, moment.options))
            price = moment.plan.get("price") if price is None else price
        yield moment
        if turn.phase == "over":
            return
        action = choose_action(moment, level, rolls)
        if isinstance(action, dict):
            for name, armies in action.items():
                turn = turn.after(Place(name, armies))
            step = {"do": "place", "on": [*action.items()]}
            continue
        if isinstance(action, Attack):
            rolls -= 1
            results = turn.results(action)
            losses = rng.choices([*results], [*map(float, results.values())])[0]
            assert isinstance(losses, Losses)
            mine, theirs = turn.armies_on(action.start), turn.armies_on(action.to)
            step = {"do": "attack", "from": action.start, "to": action.to, "dice": action.dice}
            step |= {"left": mine - losses[0], "their_left": theirs - losses[1]}
            turn = turn.after(action, losses)
            continue
        step = write_step(action)
        turn = turn.after(action)


def write_step(action: Action) -> dict[str, Any]:
    if isinstance(action, Advance):
        return {"do": "advance", "armies": action.armies}
    if isinstance(action, Fortify):
        return {"do": "fortify", "from": action.start, "to": action.to, "armies": action.armies}
    return {"do": "stop"}


def choose_action(moment: Moment, level: str, rolls: int) -> Action | dict[str, int]:
    """Return the recommended action; for new armies, the number on each territory."""
    turn, found = moment.turn, moment.plan
    if turn.phase == "place":
        asked = [{**moment.goal}] if moment.goal else []
        entries = analyse(turn, level, goals=asked)["goals"] if asked else []
        mine = [entry for entry in entries if entry["parameters"] == moment.goal]
        placement = mine[0]["placement"] if mine else {}
        if sum(placement.values()) == turn.place:
            return {name: placement[name] for name in turn.board.territories if name in placement}
        return {turn.position.list_territories(turn.player)[0]: turn.place}
    if turn.phase == "advance":
        return Advance(found["move_in"]["best"]) if found.get("move_in") else turn.actions()[-1]
    if turn.phase == "attack" and rolls and found.get("moves"):
        first, stop = found["moves"][0], found.get("stop") or {"loss": 1.0}
        if stop["loss"] > 0 and not found.get("is_reached"):
            return Attack(first["from"], first["to"], first["dice"])
    if turn.phase == "fortify":
        move = analyse(turn, level, parts=["threats"]).get("move")
        if move:
            return Fortify(move["from"], move["to"], move["armies"])
    return EndPhase()
