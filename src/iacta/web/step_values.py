"""What each step of a tree was worth: values that fill in, luck, and what decisions cost.

A client sends a tree of steps, as to be replayed, and the turns in the order in which it wants
them. Each turn gets a quick plan of its own, so nothing need be kept between two requests. Its work
is bounded, and a turn that there is no time for has no value, so a longer time adds numbers and
changes none, but for this: a state is worth at least what the states that follow it prove, those
after a choice, or those after all results of a roll. A step has changed the value by `change`; what
its decision cost against the best one is `cost`, nothing where values are too uncertain to say so,
and the dice have done the rest of an attack, `luck`.

Source of the split: Zare, "A measure of luck" (GammOnLine, 2000), for backgammon.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

from iacta.forms.percentages import short_percent
from iacta.forms.question import Watch
from iacta.game import Advance, Attack, Throw, Turn
from iacta.inputs.checks import row_of, whole_number
from iacta.inputs.errors import IactaError
from iacta.native.deadline import Deadline, by_threads
from iacta.plan.alternatives import Alternative, first_attacks, sure_loss, uncertainty
from iacta.plan.best import plan_within
from iacta.plan.goals import Goal
from iacta.plan.problem import pose_problem
from iacta.plan.reinforcement import best_reinforced, turn_options
from iacta.plan.review import BUDGET
from iacta.web.limits import MOST_PLAN_SECONDS
from iacta.web.map_turns import GOALS, TreeTurn, read_goal, read_limit, read_tree

USUAL_SECONDS = 10.0
TRIED_ADVANCES = 3  # numbers of armies that move in, whose values are compared
LEAST = 0.0005  # a loss below it is no loss
CHOICES = ("place", "advance", "stop", "fortify")  # steps without dice
ROUGH = 0.002  # differences whose errors are larger are said to be rough


class Value(NamedTuple):
    """What a turn is worth.

    value: the chance of the goal, or points.
    error: half of its interval.
    unsure: how large a difference from it must be to say that it is one.
    ways: the attacks that are possible, with what plans are worth that begin with them.
    """

    value: float
    error: float = 0.0
    unsure: float = 0.0
    ways: tuple[Alternative, ...] = ()


class StepValue(NamedTuple):
    """What a step has changed.

    luck, cost: `None` where the decision cannot be judged.
    """

    change: float
    luck: float | None
    cost: float | None
    error: float


class Tree:
    """A tree of steps with the values that are known so far; it has a record.

    nodes: the turns, the first of them without a step.
    is_chance: whether values are chances, and not points.
    """

    def __init__(self, nodes: Sequence[TreeTurn], is_chance: bool) -> None:
        self.nodes, self.is_chance = nodes, is_chance
        self.values: dict[str, Value] = {}  # by the codes of turns
        self._best: list[Value | None] = []

    def record(self) -> dict[str, Any]:
        """Return what is known of each turn, `None` where nothing is."""
        self._prove()
        return {"values": [self._record(k) for k in range(len(self.nodes))]}

    def _prove(self) -> None:
        """Find what each turn is worth: its own value, or what those that follow it prove."""
        self._best = [
            None if node.turn is None else self.values.get(node.turn.to_code())
            for node in self.nodes
        ]
        rolls: dict[tuple[int, Attack], dict[tuple[int, int], Value]] = {}
        for k in range(len(self.nodes) - 1, -1, -1):  # a turn comes after the one before it
            node, value = self.nodes[k], self._best[k]
            for (before, attack), known in rolls.items():
                if before == k and node.turn is not None:
                    self._raise(k, _expected(node.turn, attack, known))
            value = self._best[k]
            if node.step is None or value is None:
                continue
            if node.step["do"] in CHOICES:
                self._raise(node.before, value)
            elif node.step["do"] == "attack" and node.step.get("dice"):
                attack, losses = self._roll(node)
                rolls.setdefault((node.before, attack), {})[losses] = value

    def _raise(self, k: int, proven: Value | None) -> None:
        value = self._best[k]
        if value is not None and proven is not None and proven.value > value.value:
            self._best[k] = proven._replace(ways=value.ways)

    def _roll(self, node: TreeTurn) -> tuple[Attack, tuple[int, int]]:
        """Return the attack of a step, and what both sides lost."""
        turn, step = self.nodes[node.before].turn, node.step or {}
        assert turn is not None  # noqa: S101 # the step is possible
        names = turn.board.territories
        start, to = names[step["from"]], names[step["to"]]
        lost = turn.position.of(start).armies - step["left"]
        killed = turn.position.of(to).armies - step["their_left"]
        return Attack(start, to, step.get("dice") or 0), (lost, killed)

    def _record(self, k: int) -> dict[str, Any] | None:
        value = self._best[k]
        if value is None:
            return None
        said, step = [self._figure(value.value)], self._step(k)
        row = {"value": value.value, "figure": said[0], "is_chance": self.is_chance}
        if step is not None:
            about = "about " if self._is_rough(step) else ""
            if step.luck is not None and abs(step.luck) >= LEAST:
                said.append(f"dice {about}{self._points(step.luck)}")
            if step.cost is not None and step.cost >= LEAST:
                said.append(f"choice {self._points(-step.cost)}")
            is_costly = step.cost is not None and step.cost >= LEAST
            row |= {**step._asdict(), "is_costly": is_costly, "is_rough": self._is_rough(step)}
        return {**row, "words": ", ".join(said), "sum": self._sum(k)}

    def _figure(self, value: float) -> str:
        if not self.is_chance:
            return f"{value:.2f} points"
        return "100%" if value == 1.0 else short_percent(value)

    def _points(self, value: float) -> str:
        number, digits = (100 * value, 1) if self.is_chance else (value, 2)
        rounded = round(number, digits) + 0.0  # never a zero with a sign
        return f"{rounded:{'+' if rounded else ''}.{digits}f}"

    def _is_rough(self, step: StepValue) -> bool:
        return step.error > ROUGH * (1.0 if self.is_chance else 10.0)

    def _step(self, k: int) -> StepValue | None:
        """Return what the step to a turn has changed, `None` while that is not known."""
        node = self.nodes[k]
        if node.step is None or node.step.get("do") == "next":
            return None
        before, after = self._best[node.before], self._best[k]
        if before is None or after is None:
            return None
        change, error = after.value - before.value, before.error + after.error
        if node.step["do"] in CHOICES:
            unsure = max(before.unsure, after.unsure)
            return StepValue(change, 0.0, sure_loss(-change, unsure), error)
        cost = self._cost_of_attack(node, before) if node.step["do"] == "attack" else None
        luck = None if cost is None else change + cost
        return StepValue(change, luck, cost, error)

    def _cost_of_attack(self, node: TreeTurn, before: Value) -> float | None:
        """Return what an attack lost against the best one, with the best dice that fit."""
        turn = self.nodes[node.before].turn
        if turn is None:
            return None
        attack, losses = self._roll(node)
        ways = [way for way in before.ways if way[:2] == (attack.start, attack.to)]
        fits = {attack.dice} if attack.dice else {*turn.dice_for(attack.start, attack.to, *losses)}
        some = [way for way in ways if way.dice in fits] or ways[:1]
        best = before.ways[0].value if before.ways else 0.0
        return min((sure_loss(best - way.value, before.unsure) for way in some), default=None)

    def _sum(self, k: int) -> str:
        """Return what dice and choices have done since the turn began, in words."""
        path = []
        while self.nodes[k].step is not None and self.nodes[k].step["do"] != "next":  # type: ignore[index] # there is one
            path.append(self._step(k))
            k = self.nodes[k].before
        known = [step for step in path if step is not None and step.luck is not None]
        if not known:
            return ""
        luck = sum(step.luck or 0.0 for step in known)
        cost = sum(step.cost or 0.0 for step in known)
        return f"dice {self._points(luck)}, choices {self._points(-cost)}"


def _expected(turn: Turn, attack: Attack, known: Mapping[tuple[int, int], Value]) -> Value | None:
    """Return the mean over all results of a roll, `None` where some are not known."""
    parts = list[tuple[float, Value]]()
    for losses, chance in turn.results(attack).items():
        value = None if isinstance(losses, Throw) else known.get((losses[0], losses[1]))
        if value is None:
            return None
        parts.append((float(chance), value))
    return Value(
        fsum(p * each.value for p, each in parts),
        fsum(p * each.error for p, each in parts),
        fsum(p * each.unsure for p, each in parts),
    )


def step_values(body: Mapping[str, Any], watch: Watch | None = None) -> dict[str, Any]:
    """Return what the turns of a tree are worth, and what its steps changed.

    body: the `code`, the `board` if it is not the classic one, and the `steps`, as to be replayed;
        the goal, as for a plan; optionally `order`, the numbers of the turns that are wanted, the
        first ones first, and `time_limit` in seconds.
    watch: receives what is known so far.
    """
    nodes = read_tree(body, *GOALS, "order", "time_limit")
    limit = read_limit(body, USUAL_SECONDS)
    numbers = row_of(body.get("order", [*range(len(nodes))]), "order", "numbers")
    order = [whole_number(each, "order", most=len(nodes) - 1) for each in numbers]
    wanted = dict.fromkeys(_with_before(nodes, order))
    turns = {turn.to_code(): turn for k in wanted if (turn := nodes[k].turn) is not None}
    tree = Tree(nodes, not body.get("worth"))
    deadline = Deadline(min(limit, MOST_PLAN_SECONDS)).undivided()

    def valued(code: str, part: Deadline) -> Value | None:
        turn = turns[code]
        try:
            value = _valued(turn, read_goal(body, turn), part)
        except IactaError:  # a goal of one player may be none of another's
            return None
        return None if part.is_over else value  # a longer search would find another

    for done, (code, value) in enumerate(by_threads(valued, [*turns], deadline), 1):
        if value is not None:
            tree.values[code] = value
        if watch is not None:
            watch("Looking at steps", done / len(turns), so_far=tree)
    return tree.record()


def _with_before(nodes: Sequence[TreeTurn], order: Sequence[int]) -> Iterator[int]:
    """Yield turns and, before each, the one that its step was taken in."""
    for k in order:
        if nodes[k].step is not None:
            yield nodes[k].before
        yield k


def _valued(turn: Turn, goal: Goal | None, deadline: Deadline) -> Value:
    if goal is None or (goal.is_chance and goal.is_reached(turn)):
        return Value(1.0)
    if turn.phase == "advance":
        numbers = [each.armies for each in turn.actions() if isinstance(each, Advance)]
        last = len(numbers) - 1
        tried = {numbers[last * k // (TRIED_ADVANCES - 1)] for k in range(TRIED_ADVANCES)}
        afters = [turn.after(Advance(number)) for number in sorted(tried)]
        return max((_valued(each, goal, deadline) for each in afters), key=lambda each: each.value)
    if turn.phase not in ("place", "attack"):
        return Value(goal.worth(turn))
    # Bounded work, so that a value is the same each time.
    if turn.phase == "place":
        options = turn_options(turn)
        plan = best_reinforced(turn.position, goal, turn.place, options, deadline, BUDGET)
    else:
        plan = plan_within(pose_problem(turn, goal), deadline, budget=BUDGET)
    low, high = plan.interval or (plan.counted, plan.counted)
    ways = first_attacks(plan) if turn.phase == "attack" else ()
    return Value(plan.counted, (high - low) / 2, uncertainty(plan), ways)
