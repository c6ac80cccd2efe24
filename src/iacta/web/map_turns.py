"""Turns on the map: where a turn is, what each step leads to, and what a goal is worth there.

The server remembers no game. A client sends the code of a turn and what was done in it, and gets
the code of the turn that follows; so steps are taken back, and tried in another way, by sending an
earlier code again. All rules are those of `iacta.game`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from iacta.board import Board
from iacta.board.files import read_board
from iacta.board.layout import is_drawn
from iacta.board.scene import scene_of
from iacta.charts.boards import arrows_of, chance_words
from iacta.forms.command_and_call import as_command, as_python
from iacta.forms.percentages import percent
from iacta.forms.question import Watch
from iacta.forms.sections import Part, Table, cell_text
from iacta.forms.sentences import count
from iacta.game import Advance, Attack, BorderOdds, Fortify, Place, Stop, Throw, Turn
from iacta.inputs.checks import row_of, shown, whole_number
from iacta.inputs.errors import IactaError, IllegalError, MalformedError
from iacta.native.deadline import Deadline
from iacta.plan import (
    Goal,
    Hold,
    Plan,
    Reinforcement,
    TakeAll,
    TakeAny,
    Worth,
    best_plan,
    eliminate,
    reinforce,
    take_and_hold,
)
from iacta.plan.alternatives import Alternative, best_over_borders, first_attacks
from iacta.plan.problem import TurnState
from iacta.plan.reinforcement import turn_options
from iacta.plan.report import main_line
from iacta.probability.distribution import Distribution
from iacta.questions.plan import PlanAnswer, PlanQuestion
from iacta.questions.plan.sentences import chance_so_far, gain_so_far, valued
from iacta.rules.thrown import shown_losses
from iacta.web.limits import (
    MOST_ADVANCES,
    MOST_PLAN_SECONDS,
    MOST_ROLLS,
    MOST_STEPS,
    USUAL_PLAN_SECONDS,
)

GOALS = ("take", "take_any", "eliminate", "worth")
COMPARED = 0.6  # of the time, for the numbers of armies that may move in
PLAN_PART = 0.4  # of the time, for the plan that is then made to hold
AS_GOOD = 0.0005  # less than this is no difference between chances; ten times that between worths


# Where a turn is.


def read_sent_board(body: Mapping[str, Any]) -> Board | None:
    """Return the `board` that is sent, `None` without one."""
    given = body.get("board")
    if given is None or given == "classic":
        return None
    if isinstance(given, Mapping):
        return read_board(given)
    raise MalformedError(f"board must be 'classic' or an object, got {shown(given)}")


def refuse_unknown(body: Mapping[str, Any], *known: str) -> None:
    for name in body:
        if name not in known:
            raise IllegalError(f"unknown key {shown(name)}; the keys are {', '.join(known)}")


def sent_text(body: Mapping[str, Any], name: str, usual: str | None = None) -> str:
    value = body.get(name, usual)
    if not isinstance(value, str):
        raise MalformedError(f"{name} must be text, got {shown(value)}")
    return value


def _read_turn(body: Mapping[str, Any], *more: str) -> Turn:
    """Return the turn that is sent, as a `code` and the `board` if it is not the classic one.

    more: what else may be sent; anything further is refused.
    """
    refuse_unknown(body, "code", "board", *more)
    return Turn.from_code(sent_text(body, "code"), read_sent_board(body))


def _turn_state(turn: Turn) -> dict[str, Any]:
    """Return where a turn is: its code, who holds what, and the odds of every border.

    Territories are numbers, in the order of the board.
    """
    place = {name: t for t, name in enumerate(turn.board.territories)}
    state: dict[str, Any] = {
        "code": turn.to_code(),
        "phase": turn.phase,
        "player": turn.player,
        "owners": list(turn.owners),
        "armies": list(turn.armies),
        "new": turn.place,
        "usual": turn.new_armies(),
        "odds": [_border(turn, odds, place) for odds in turn.odds()]
        if turn.phase == "attack"
        else [],
        "sentence": _sentence(turn),
    }
    if turn.phase == "advance" and turn.pending is not None:
        v, c = place[turn.pending.start], place[turn.pending.to]
        numbers = [action.armies for action in turn.actions() if isinstance(action, Advance)]
        state["advance"] = {"from": v, "to": c, "least": numbers[0], "most": numbers[-1]}
    if turn.phase == "fortify":
        most: dict[tuple[int, int], int] = {}
        for action in turn.actions():
            if isinstance(action, Fortify):
                most[place[action.start], place[action.to]] = action.armies
        state["fortify"] = [[v, c, number] for (v, c), number in most.items()]
    return state


def _border(turn: Turn, odds: BorderOdds, place: Mapping[str, int]) -> dict[str, Any]:
    """Return the odds of a battle, and what its next roll may cost."""
    attack = _attack(turn, odds.start, odds.to)
    assert attack is not None  # noqa: S101 # it has odds
    results = turn.results(attack)
    rolls = [
        [*losses, float(chance), f"I lose {losses.attackers}, they {losses.defenders}"]
        for losses, chance in results.items()
        if not isinstance(losses, Throw)
    ]
    return {
        "from": place[odds.start],
        "to": place[odds.to],
        "chance": odds.win_probability,
        "words": f"{odds.attackers:,} against {odds.defenders:,}: {percent(odds.win_probability)} "
        "to take it",
        "dice": attack.dice,
        "rolls": rolls if len(rolls) <= MOST_ADVANCES else [],
    }


def _sentence(turn: Turn) -> str:
    match turn.phase:
        case "place":
            return f"{turn.player} places {count(turn.place, 'new army', 'new armies')}."
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


# Steps.


def stepped(turn: Turn, step: Mapping[str, Any]) -> tuple[Turn, str]:
    """Return the turn that follows a step, and the step in words.

    turn: the turn.
    step: what is `do`ne, with territories by number: `attack` (`from`, `to`, `left`, `their_left`,
        and `dice`, the attack dice, for one roll), `roll` (`from`, `to`, `seed`, and `once` for one
        roll), `faces` (`from`, `to`, and the dice of both sides as `mine` and `theirs`), `advance`
        (`armies`), `get` (`armies`, such as those that cards bring), `place` (`on`: pairs of a
        territory and armies), `fortify` (`from`, `to`, `armies`), `stop`, or `next` for the turn of
        the next player.
    """
    do = step.get("do")
    if not isinstance(do, str) or do not in STEPS:
        raise MalformedError(f"do must be one of {', '.join(STEPS)}, got {shown(do)}")
    takes, take = STEPS[do]
    for name in step:
        if name not in ("do", *takes):
            raise MalformedError(f"unknown key {shown(name)} of a step {do!r}")
    return take(turn, step)


def _attacked(turn: Turn, step: Mapping[str, Any]) -> tuple[Turn, str]:
    start, to = _border_of(turn, step)
    numbers: tuple[Any, ...] = tuple(map(step.get, ("left", "their_left", "dice")))
    after, (left, their_left, _) = turn.fought(start, to, *numbers), numbers
    lost, killed = turn.position.of(start).armies - left, turn.position.of(to).armies - their_left
    return after, _happened(start, to, lost, killed, after)


def _rolled(turn: Turn, step: Mapping[str, Any]) -> tuple[Turn, str]:
    start, to = _attack_of(turn, step)
    rng = np.random.default_rng(whole_number(step.get("seed", 0), "seed"))
    most, rolls, lost, killed = 1 if step.get("once") else MOST_ROLLS, 0, 0, 0
    while rolls < most and (attack := _attack(turn, start, to)) is not None:
        (result,) = turn.results(attack).sample(1, rng)
        turn = turn.after(attack, result)
        if turn.phase == "defend":
            answer = turn.careful_defence()
            (result,) = turn.results(answer).sample(1, rng)
            turn = turn.after(answer, result)
        rolls, lost, killed = rolls + 1, lost + result.attackers, killed + result.defenders
    return turn, _happened(start, to, lost, killed, turn, rolls)


def _thrown(turn: Turn, step: Mapping[str, Any]) -> tuple[Turn, str]:
    start, to = _attack_of(turn, step)
    mine, theirs = (_faces(step.get(name), name) for name in ("mine", "theirs"))
    losses = shown_losses(mine, theirs, turn.rules_of.get(to, turn.rules))
    attack = Attack(start, to, len(mine))
    after = turn.after(attack, losses)
    return after, _happened(start, to, *losses, after, 1)


def _faces(given: object, name: str) -> list[int]:
    return [whole_number(face, name, least=1) for face in row_of(given, name, "numbers")]


def _moved(turn: Turn, step: Mapping[str, Any]) -> tuple[Turn, str]:
    numbers = [each.armies for each in turn.actions() if isinstance(each, Advance)]
    if turn.pending is None or not numbers:
        raise IllegalError("no armies can move in now: no territory has just been taken")
    to, span = turn.pending.to, (numbers[0], numbers[-1])
    armies = whole_number(step.get("armies"), f"armies that move into {to}", *span)
    return turn.after(Advance(armies)), f"{count(armies, 'army moves', 'armies move')} into {to}"


def _got(turn: Turn, step: Mapping[str, Any]) -> tuple[Turn, str]:
    if turn.phase not in ("trade", "place", "attack"):
        raise IllegalError(f"new armies come before or between attacks, not in {turn.phase!r}")
    armies = whole_number(step.get("armies"), "armies", least=1)
    named = {name: getattr(turn, name) for name in ("keep", "rules_of", "stay", "fortify")}
    more = {name: getattr(turn, name) for name in ("whole_battles", "players", "conquered")}
    after = Turn(turn.position, turn.rules, place=turn.place + armies, **named, **more)
    return after, f"{count(armies, 'new army', 'new armies')} more"


def _placed(turn: Turn, step: Mapping[str, Any]) -> tuple[Turn, str]:
    given = {}
    for entry in row_of(step.get("on"), "on", "pairs"):
        pair = row_of(entry, "on", "a territory and armies")
        if len(pair) != 2:
            raise MalformedError(f"on must be pairs of a territory and armies, got {shown(entry)}")
        name = _place(turn, pair[0])
        given[name] = whole_number(pair[1], f"new armies on {name}", least=1)
    if sum(given.values()) != turn.place:
        raise IllegalError(f"new armies must be {turn.place} in all, got {sum(given.values())}")
    for name in turn.board.territories:
        if name in given:
            if turn.position.of(name).owner != turn.player:
                raise IllegalError(f"{name} gets no new armies: it is not {turn.player}'s")
            turn = turn.after(Place(name, given[name]))
    return turn, "Place " + ", ".join(f"{number} on {name}" for name, number in given.items())


def _fortified(turn: Turn, step: Mapping[str, Any]) -> tuple[Turn, str]:
    start, to = _border_of(turn, step)
    ways = [action for action in turn.actions() if isinstance(action, Fortify)]
    most = max((move.armies for move in ways if (move.start, move.to) == (start, to)), default=0)
    if not most:
        raise IllegalError(f"no armies can move from {start} to {to} now")
    armies = whole_number(step.get("armies"), "armies to move", least=1, most=most)
    return (
        turn.after(Fortify(start, to, armies)),
        f"{count(armies, 'army moves', 'armies move')} from {start} to {to}",
    )


def _stopped(turn: Turn, step: Mapping[str, Any]) -> tuple[Turn, str]:
    del step
    return turn.after(Stop()), "Attack no more" if turn.phase == "attack" else "Move no armies"


def _passed(turn: Turn, step: Mapping[str, Any]) -> tuple[Turn, str]:
    del step
    after = turn.next()
    return after, f"{after.player}'s turn"


Taken: TypeAlias = Callable[[Turn, Mapping[str, Any]], tuple[Turn, str]]
STEPS: Mapping[str, tuple[tuple[str, ...], Taken]] = {
    "attack": (("from", "to", "left", "their_left", "dice"), _attacked),
    "roll": (("from", "to", "seed", "once"), _rolled),
    "faces": (("from", "to", "mine", "theirs"), _thrown),
    "advance": (("armies",), _moved),
    "get": (("armies",), _got),
    "place": (("on",), _placed),
    "fortify": (("from", "to", "armies"), _fortified),
    "stop": ((), _stopped),
    "next": ((), _passed),
}


def _place(turn: Turn, number: object) -> str:
    return turn.board.territories[
        whole_number(number, "territory", most=len(turn.board.territories) - 1)
    ]


def _border_of(turn: Turn, step: Mapping[str, Any]) -> tuple[str, str]:
    return _place(turn, step.get("from")), _place(turn, step.get("to"))


def _attack_of(turn: Turn, step: Mapping[str, Any]) -> tuple[str, str]:
    """Return the border of an attack; one that is not possible is refused, with the reason."""
    start, to = _border_of(turn, step)
    if _attack(turn, start, to) is None:
        turn.fought(start, to, 0, 0)  # which says why not
    return start, to


def _attack(turn: Turn, start: str, to: str) -> Attack | None:
    known = (action for action in turn.actions() if isinstance(action, Attack))
    return next((attack for attack in known if (attack.start, attack.to) == (start, to)), None)


def _happened(start: str, to: str, lost: int, killed: int, after: Turn, rolls: int = 0) -> str:
    thrown = f" in {count(rolls, 'roll', 'rolls')}" if rolls else ""
    taken = f"; {to} is taken" if after.position.of(to).owner == after.player else ""
    return f"{start} to {to}: you lose {lost}, they lose {killed}{thrown}{taken}"


def followed_by(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a turn is after a step.

    body: the `code`, the `board` if it is not the classic one, and the `step`.
    """
    turn, step = _read_turn(body, "step"), body.get("step")
    if not isinstance(step, Mapping):
        raise MalformedError(f"step must be an object, got {shown(step)}")
    after, words = stepped(turn, step)
    return {**_turn_state(after), "words": words}


class TreeTurn(NamedTuple):
    """A turn of a tree.

    turn: where it is; `None` where the step to it is not possible.
    words: the step in words, or why it is not possible.
    before: the number of the turn that the step is taken in.
    step: the step, `None` for the first turn.
    """

    turn: Turn | None
    words: str
    before: int = 0
    step: Mapping[str, Any] | None = None


def read_tree(body: Mapping[str, Any], *more: str) -> list[TreeTurn]:
    """Return the turns of a tree of steps that is sent.

    body: the `code`, and `steps`: each a step as `stepped` takes it, with the number of the one
        that it follows as `after`: 0 for the code, 1 for the first step, and so on; and the `board`
        if it is not the classic one.
    more: what else may be sent.
    """
    nodes = [TreeTurn(_read_turn(body, "steps", *more), "")]
    steps = row_of(body.get("steps", []), "steps", "steps")
    if len(steps) > MOST_STEPS:
        raise IllegalError(f"steps must be at most {MOST_STEPS}, got {len(steps)}")
    for number, given in enumerate(steps):
        if not isinstance(given, Mapping):
            raise MalformedError(f"step must be an object, got {shown(given)}")
        before = whole_number(given.get("after"), "after", most=number)
        step = {name: value for name, value in given.items() if name != "after"}
        start = nodes[before].turn
        if start is None:
            nodes.append(TreeTurn(None, "the step before it is not possible", before, step))
            continue
        try:
            nodes.append(TreeTurn(*stepped(start, step), before, step))
        except IactaError as error:
            nodes.append(TreeTurn(None, str(error), before, step))
    return nodes


def replayed(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return where a turn is, and where it is after each step of a tree, as `read_tree` reads it.

    A step that is not possible is returned as a `problem`, and so are those that follow it.
    """
    first, *others = read_tree(body)
    assert first.turn is not None  # noqa: S101 # it was sent
    states = [
        {"problem": node.words}
        if node.turn is None
        else {**_turn_state(node.turn), "words": node.words}
        for node in others
    ]
    return {"turns": [_turn_state(first.turn), *states]}


# What a goal is worth.


def analysed(body: Mapping[str, Any], watch: Watch | None = None) -> dict[str, Any]:
    """Return what a goal is worth in a turn, the best first moves, and the plan.

    body: the `code`, and the `board` if it is not the classic one; the goal, as for a plan
        (`take`, `take_any`, `eliminate` or `worth`); `hold` to hold it, too; and `time_limit` in
        seconds.
    watch: receives the best value so far.
    """
    turn = _read_turn(body, *GOALS, "hold", "time_limit")
    deadline = Deadline(min(read_limit(body, USUAL_PLAN_SECONDS), MOST_PLAN_SECONDS))
    goal = read_goal(body, turn)
    if goal is None or (goal.is_chance and goal.is_reached(turn)):
        return _ended(1.0, "100%", "The goal is reached.")
    if turn.phase == "advance":
        return _advances(turn, goal, deadline)
    if turn.phase not in ("place", "attack"):
        value = goal.worth(turn)
        if goal.is_chance:
            return _ended(value, "0%", "The goal is not reached.")
        return _ended(value, f"{value:.2f} points", "The turn has these points.")
    constraints = turn_options(turn)
    is_held = bool(body.get("hold")) and goal.is_chance
    part = deadline.part(PLAN_PART if is_held else 1.0)
    shared = {"progress": _progress(goal, watch), "time_limit": part.left()}
    new = held = None
    if turn.phase == "place":
        new = reinforce(turn.position, goal, turn.place, **constraints, **shared)
        plan = new.plan
    else:
        plan = best_plan(turn.position, goal, **constraints, **shared)
    if is_held:
        held = take_and_hold(plan, fortify=turn.fortify, time_limit=deadline.left(), **constraints)
        plan = held.plan
    return {**_found(plan, new, held), **_command_and_call(body, turn)}


def read_goal(body: Mapping[str, Any], turn: Turn) -> Goal | None:
    given = [name for name in GOALS if body.get(name)]
    if len(given) != 1:
        raise IllegalError(f"there must be one goal of {', '.join(GOALS)}, got {len(given)}")
    name = given[0]
    if name == "worth":
        return Worth()
    said = sent_text(body, name)
    if name == "eliminate":
        if said not in turn.owners:
            return None
        return eliminate(turn.position, said)
    names = turn.board.find_set(said)
    return TakeAny(names) if name == "take_any" else TakeAll(names)


def read_limit(body: Mapping[str, Any], usual: float) -> float:
    """Return the seconds that are sent as `time_limit`."""
    limit = body.get("time_limit", usual)
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0:
        raise MalformedError(f"time_limit must be seconds, got {shown(limit)}")
    return float(limit)


def _progress(goal: Goal, watch: Watch | None) -> Any:
    def show(value: float, bound: float) -> None:
        if watch is None:
            return
        words = chance_so_far(value, bound) if goal.is_chance else gain_so_far(value, bound)
        watch(f"{words} so far", value if goal.is_chance else None, keeps=True)

    return show


def _ended(value: float, figure: str, sentence: str) -> dict[str, Any]:
    same = dict.fromkeys(("value", "bound", "low", "high"), value)
    return {**same, "is_proven": True, "moves": [], "figure": figure, "sentences": [sentence]}


def _found(plan: Plan, new: Reinforcement | None, held: Hold | None) -> dict[str, Any]:
    question = PlanQuestion(plan.position, worth=True, rules=plan.rules)
    answer = PlanAnswer(question, plan, new=new, held=held)
    summary, *others = answer.sections()
    value, interval = plan.value, plan.interval
    if held:
        value, interval = held.win_probability, held.interval
    low, high = interval or (value, value)
    scene, numbers, chances = _drawn(plan)
    place = {name: t for t, name in enumerate(plan.position.board.territories)}
    return {
        "value": value,
        "bound": plan.upper_bound,
        "low": low,
        "high": high,
        "is_proven": plan.proven and not held,
        "is_chance": plan.goal.is_chance,
        "figure": _figure(plan, value),
        "sentences": [*map(str, summary.parts)],
        "stop": None if new or held else _stopping(plan),
        "moves": [] if new else [_to_take(move) if held else move for move in _moves(plan, place)],
        "placement": [[place[name], number] for name, number in new.placement] if new else None,
        "sections": [
            {
                "title": section.title.rstrip(":"),
                "parts": [_part(part, numbers) for part in section.parts],
            }
            for section in others
        ],
        "scene": scene,
        "chances": chances,
    }


def _figure(plan: Plan, value: float | None) -> str:
    """Return a value in large digits: a chance, or points; nothing where none is known."""
    return "" if value is None else valued(plan, value) + ("" if plan.goal.is_chance else " points")


def _stopping(plan: Plan) -> dict[str, Any] | None:
    """Return what it costs to attack no more, in words, too; `None` where no value is known."""
    if plan.value is None:
        return None
    loss = max(plan.counted - plan.problem.held, 0.0)
    return {"loss": loss, "words": _lost(plan, loss)}


def _to_take(move: dict[str, Any]) -> dict[str, Any]:
    """Return a move whose words say that its chance is that of taking, not of holding."""
    return {**move, "words": f"to take: {move['words']}"}


def _moves(plan: Plan, place: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield the first attacks, the best first, each with what it loses against the best.

    Of attacks that are as good, those of the main line come first, in its order.
    """
    every, ranked = first_attacks(plan), []
    ways = best_over_borders(every)
    line = [(leg.step.start, leg.step.to) for leg in main_line(plan)]
    for way in ways:
        loss = ways[0].value - way.value
        rank = line.index(way[:2]) if way[:2] in line else len(line)
        order = way.is_detour, 0.0 if _is_as_good(plan, loss) else loss, rank
        ranked.append((order, way, loss))
    for number, (_, way, loss) in enumerate(sorted(ranked, key=lambda entry: entry[0])):
        yield {
            "from": place[way.start],
            "to": place[way.to],
            "name": f"{way.start} to {way.to}",
            "dice": way.dice,
            "loss": loss,
            "by_dice": [
                {
                    "dice": other.dice,
                    "loss": ways[0].value - other.value,
                    "results": plan.problem.turn.losses_of(Attack(*other[:3])),
                }
                for other in every
                if other[:2] == way[:2]
            ],
            "words": "changes nothing" if way.is_detour else _lost(plan, loss, number),
            "figure": "no estimate yet" if plan.value is None else valued(plan, way.value),
            "success": _success(plan, way),
        }


def _is_as_good(plan: Plan, loss: float) -> bool:
    return loss < (AS_GOOD if plan.goal.is_chance else 10 * AS_GOOD)


def _lost(plan: Plan, loss: float, number: int = 1) -> str:
    if not number:
        return "best"
    if plan.value is None:
        return "not compared"
    if _is_as_good(plan, loss):
        return "as good"
    return f"{100 * loss:.1f} points less" if plan.goal.is_chance else f"{loss:.2f} points less"


def _success(plan: Plan, way: Alternative) -> str | None:
    """Return what the goal is worth once a battle is won, with the usual losses."""
    problem = plan.problem
    v, c = problem.place(way.start), problem.place(way.to)
    spare = problem.turn.armies[v] - problem.garrisons[v]
    if plan.value is None:
        return None
    throws = problem.kernels[c].battle(spare, problem.turn.armies[c]).throws
    won = [
        (spare - lost, p * chance.chance)
        for chance in throws
        for p, lost, killed in chance.options[0]
        if killed == problem.turn.armies[c] and spare > lost
    ]
    if not won:
        return None
    able = Distribution.from_pairs(won).median()
    armies, garrison = [*problem.start.armies], problem.garrisons[v]
    moved = max(plan.policy.advance(problem.start, v, c, able, 1), 1)
    armies[v], armies[c] = garrison + able - moved, moved
    state = TurnState(tuple(armies), problem.owned | 1 << c)
    # Where the policy sees less than the plan achieves, that is scaled as the alternatives are.
    now, held = plan.policy.decide(problem.start).value, problem.held
    scale = 1.0 if plan.policy.is_best or now <= 0.0 else (plan.counted - held) / now
    after = held + scale * (problem.paid(state) + plan.policy.decide(state).value)
    over = count(able + garrison, "army", "armies")
    return f"{valued(plan, after)} once it is taken with {over} left"


def _advances(turn: Turn, goal: Goal, deadline: Deadline) -> dict[str, Any]:
    """Return what it is worth to move in some numbers of armies, and the best of them."""
    numbers = [action.armies for action in turn.actions() if isinstance(action, Advance)]
    parts = min(len(numbers), MOST_ADVANCES) - 1 or 1
    tried = sorted({numbers[round(k * (len(numbers) - 1) / parts)] for k in range(parts + 1)})
    end, ranked = deadline.part(COMPARED), list[tuple[float, int]]()
    for number in tried:
        part = end.part(1 / (len(tried) - len(ranked)))
        ranked.append((_after_advance(turn, number, goal, part).counted, number))
    quick, best = max(ranked)
    plan = _after_advance(turn, best, goal, deadline)
    low, high = plan.interval or (plan.value, plan.value)
    return {
        "value": plan.value,
        "bound": plan.upper_bound,
        "low": low,
        "high": high,
        "is_proven": True,  # as far as it goes
        "moves": [],
        "is_chance": goal.is_chance,
        "figure": _figure(plan, plan.value),
        "sentences": [f"Best: move {count(best, 'army', 'armies')} in."],
        "advances": []
        if plan.value is None
        else [[number, plan.value + value - quick] for value, number in ranked],
        "best": best,
    }


def _after_advance(turn: Turn, armies: int, goal: Goal, deadline: Deadline) -> Plan:
    after = turn.after(Advance(armies))
    limit = deadline.left()
    return best_plan(after.position, goal, **turn_options(after), time_limit=limit)


def _command_and_call(body: Mapping[str, Any], turn: Turn) -> dict[str, Any]:
    """Return the command and the call that ask for the same plan, where there are any."""
    goal = {name: body[name] for name in GOALS if body.get(name)}
    with suppress(IactaError):
        question = PlanQuestion(turn.to_code(), board=turn.board, **goal)
        return {"command": as_command(question), "python": as_python(question)}
    return {"command": None, "python": None}


# What is drawn.


def _drawn(plan: Plan) -> tuple[dict[str, Any] | None, dict[str, int], list[float] | None]:
    """Return the arrows of a plan, their numbers by battle, and chances to own land that differ.

    Only the main line has arrows, so that these are one story; the plan's tables have the rest.
    """
    position = plan.position
    if not is_drawn(position.board):
        return None, {}, None
    arrows = [arrow for arrow in arrows_of(plan) if arrow.look != "rare"]
    names, words = position.board.territories, chance_words(plan, arrows)
    numbers = {f"{names[arrow.start]} to {names[arrow.to]}": arrow.number for arrow in arrows}
    chances = [
        1.0 if position.of(each.name).owner == position.player else each.own_probability
        for each in plan.territories
    ]
    scene = scene_of(position.board, arrows, words)
    drawn = {"arrows": [*map(asdict, scene.arrows)], "labels": [*map(asdict, scene.labels)]}
    return drawn, numbers, chances if words else None


def _part(part: Part, numbers: Mapping[str, int]) -> object:
    if not isinstance(part, Table):
        return part
    rows = [[cell_text(cell) for cell in row] for row in part.rows]
    numbered = [
        [f"{numbers[row[0]]}. {row[0]}", *row[1:]] if row[0] in numbers else row for row in rows
    ]
    return {"columns": list(part.columns), "rows": numbered}
