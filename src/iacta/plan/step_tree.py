"""The values of a tree of turns, and the effect of each step between them.

A node of the tree is a state of a turn, and a step is an action with its result, such as an attack
with its losses. A separate search evaluates each node for the goal of its player, with the work of
one level for the whole tree. A node has no value if time runs out before its search. More time adds
values but does not change them, with one exception: the value of a node is raised to the value
after a decision without dice, or to the mean value after a roll whose results are all in the tree,
if that is greater.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import fsum
from typing import NamedTuple

from iacta.game import Attack, Losses, Throw, Turn
from iacta.game.step_fields import read_border, read_losses
from iacta.game.steps import TreeTurn
from iacta.inputs.errors import IactaError
from iacta.native.deadline import Deadline, run_in_threads
from iacta.plan.goal_plan import plan_goal
from iacta.plan.judge import (
    Judgement,
    StateValue,
    judge_attack,
    judge_choice,
    list_reduced_ends,
    measure_army_luck,
    value_goal,
)
from iacta.plan.levels import Level
from iacta.plan.named_goals import read_goal_record, read_price

CHOICES = ("place", "advance", "stop", "fortify")  # the names of steps that roll no dice


class StateSearch(NamedTuple):
    """A state of a turn to evaluate.

    turn: the state.
    goal: the goal of its player.
    start: the state in which the player chose this goal.
    """

    turn: Turn
    goal: object
    start: Turn

    @property
    def is_start(self) -> bool:
        return self.turn == self.start


class StepTree:
    """A tree of turns, the steps between them, and the values found so far.

    nodes: states of turns, each with the step that leads to it; the first node has no step.
    """

    def __init__(self, nodes: Sequence[TreeTurn]) -> None:
        self.nodes = nodes
        # The values found so far, by the code of the turn and the goal.
        self._known: dict[tuple[str, str], StateValue] = {}

    def evaluate(
        self, order: Iterable[int], level: Level, deadline: Deadline
    ) -> Iterator[tuple[int, int]]:
        """Evaluate turns, and yield the numbers of finished and of all searches after each search.

        order: the indexes of the turns to evaluate.
        level: the work of each search.
        """
        searches = self._list_searches(order)
        # The state in which a goal was chosen comes first, because it determines the price.
        starts = self._list_starts(searches)
        others = [each for each in searches if each not in starts]
        done = 0
        for some in (starts, others):
            for number, value in run_in_threads(
                partial(self._evaluate, some, level), range(len(some)), deadline.disable_shares()
            ):
                if value is not None:
                    self.add_value(some[number], value)
                done += 1
                yield done, len(starts) + len(others)

    def _evaluate(
        self, searches: Sequence[StateSearch], level: Level, number: int, deadline: Deadline
    ) -> StateValue | None:
        """Return the value of a state, or `None` if it is unknown when the deadline comes."""
        search = searches[number]
        price = None if search.is_start else self._find_price(search)
        if price is None and not search.is_start:
            return None  # the search for the price was interrupted
        try:
            goal = read_goal_record(search.turn, search.goal)
            value = value_goal(plan_goal(search.turn, goal, level, deadline, price=price))
        except IactaError:  # a recorded goal may not fit its turn
            return None
        # An interrupted search gives no reproducible value.
        return None if deadline.is_over else value

    def _list_searches(self, order: Iterable[int]) -> list[StateSearch]:
        """Return the turns that need a search, each with its goal, without duplicates.

        These are the turns to evaluate, the turn before each of their steps, and all possible
        results of a roll with fewer defence dice than usual.

        order: the indexes of the turns to evaluate.
        """
        found: dict[tuple[str, str], StateSearch] = {}
        for k in order:
            goal, start = self.nodes[k].goal, self.nodes[self._find_start(k)].turn
            if goal is None or start is None:
                continue
            for number in (self.nodes[k].before, k) if self.nodes[k].step else (k,):
                turn = self.nodes[number].turn
                if turn is not None and not self._begins_turn(k, number):
                    found.setdefault(_make_key(turn, goal), StateSearch(turn, goal, start))
            for _, turn in self._list_reduced_ends(k):
                found.setdefault(_make_key(turn, goal), StateSearch(turn, goal, start))
        return [*found.values()]

    def _find_start(self, k: int) -> int:
        """Return the index of the turn in which the player chose the goal of a turn."""
        goal = self.nodes[k].goal
        while (step := self.nodes[k].step) is not None and step["do"] != "next":
            k = self.nodes[k].before
            if self.nodes[k].goal != goal:
                break
        return k

    def _begins_turn(self, k: int, number: int) -> bool:
        """Return whether step `k` begins another player's turn and `number` is the turn before."""
        step = self.nodes[k].step
        return number != k and step is not None and step["do"] == "next"

    def _list_starts(self, searches: Iterable[StateSearch]) -> list[StateSearch]:
        """Return the states that determine the prices of other states, without duplicates."""
        found: dict[tuple[str, str], StateSearch] = {}
        for search in searches:
            if read_price(search.goal) is not None and not search.is_start:
                continue
            start = search._replace(turn=search.start)
            found.setdefault(_make_key(start.turn, start.goal), start)
        return [*found.values()]

    def _find_price(self, search: StateSearch) -> float | None:
        """Return the price of a lost army for a state; `None` while it is unknown."""
        stated = read_price(search.goal)
        if stated is not None:
            return stated
        value = self._known.get(_make_key(search.start, search.goal))
        return None if value is None else value.price

    def add_value(self, search: StateSearch, value: StateValue) -> None:
        """Store the value of a state."""
        self._known[_make_key(search.turn, search.goal)] = value

    def values(self) -> list[StateValue | None]:
        """Return the value of each turn, raised where later turns prove a greater value."""
        best = [self._find_known(k, self.nodes[k].goal) for k in range(len(self.nodes))]
        rolls: dict[tuple[int, Attack], dict[Losses, StateValue]] = {}
        # Visit each turn before its predecessor, which has a smaller index.
        for k in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[k]
            for (before, attack), known in rolls.items():
                if before == k and node.turn is not None:
                    best[k] = _raise_value(best[k], _average_roll(node.turn, attack, known))
            value = best[k]
            if node.step is None or value is None or node.goal != self.nodes[node.before].goal:
                continue
            if node.step["do"] in CHOICES:
                best[node.before] = _raise_value(best[node.before], value)
            elif (
                node.step["do"] == "attack" and node.step.get("dice") and not _is_reduced_roll(node)
            ):
                attack, losses = self._read_roll(node)
                rolls.setdefault((node.before, attack), {})[losses] = value
        return best

    def judge_step(self, k: int, values: Sequence[StateValue | None]) -> Judgement | None:
        """Return the luck and the cost of the step that leads to a turn; `None` if unknown.

        k: the index of the turn after the step.
        values: the values of all turns, from `values`.
        """
        node = self.nodes[k]
        turn = self.nodes[node.before].turn
        if node.step is None or node.turn is None or turn is None:
            return None
        do = node.step["do"]
        if do not in (*CHOICES, "attack", "get"):
            return None
        before, after = self.find_value_before(k, values), values[k]
        if do in CHOICES:
            return None if before is None or after is None else judge_choice(before, after)
        found = Judgement()
        if before is not None and after is not None:
            found = Judgement(after.value - before.value, error=before.error + after.error)
        if do == "get":
            return None if found.change is None else found
        attack, losses = self._read_roll(node)
        border = attack.start, attack.to
        expected, is_reduced = self._average_reduced_ends(k), _is_reduced_roll(node)
        if not any(losses) and not is_reduced:
            found = found._replace(luck=found.change, cost=None if found.change is None else 0.0)
        elif before is not None and after is not None and (expected is not None or not is_reduced):
            dice = [attack.dice] if attack.dice else [*turn.list_dice(*border, *losses)]
            found = judge_attack(before, after, border, dice, expected)
        their_dice = node.step.get("their_dice")
        armies = measure_army_luck(turn, node.turn, border, losses, attack.dice or None, their_dice)
        return found._replace(luck_armies=armies)

    def find_value_before(self, k: int, values: Sequence[StateValue | None]) -> StateValue | None:
        """Return the value before a step, for the goal of the step; `None` if it is unknown.

        k, values: as for `judge_step`.
        """
        before, goal = self.nodes[k].before, self.nodes[k].goal
        is_same = self.nodes[before].goal == goal
        return values[before] if is_same else self._find_known(before, goal)

    def list_path(self, k: int) -> Iterator[int]:
        """Yield the indexes of a node and its predecessors in the same player's turn."""
        while (step := self.nodes[k].step) is not None and step["do"] != "next":
            yield k
            k = self.nodes[k].before

    def _find_known(self, k: int, goal: object) -> StateValue | None:
        turn = self.nodes[k].turn
        return None if turn is None else self._known.get(_make_key(turn, goal))

    def _list_reduced_ends(self, k: int) -> list[tuple[float, Turn]]:
        """List the possible turns, with chances, after a roll with fewer defence dice than usual.

        k: the index of the turn after the actual roll. The list is empty for any other step.
        """
        node = self.nodes[k]
        turn = self.nodes[node.before].turn
        if turn is None or node.turn is None or not _is_reduced_roll(node):
            return []
        attack, _ = self._read_roll(node)
        their_dice = (node.step or {})["their_dice"]
        return list_reduced_ends(turn, (attack.start, attack.to), attack.dice, their_dice)

    def _average_reduced_ends(self, k: int) -> float | None:
        """Return the mean value after a roll with fewer defence dice than usual.

        The result is `None` for any other step, or if a value is unknown.
        """
        goal, parts = self.nodes[k].goal, list[float]()
        for chance, turn in self._list_reduced_ends(k):
            value = self._known.get(_make_key(turn, goal))
            if value is None:
                return None
            parts.append(chance * value.value)
        return fsum(parts) if parts else None

    def _read_roll(self, node: TreeTurn) -> tuple[Attack, Losses]:
        """Return the attack of a step and its losses; the attack has 0 dice for several rolls."""
        turn, step, after = self.nodes[node.before].turn, node.step or {}, node.turn
        assert turn is not None  # noqa: S101 # the step is possible
        assert after is not None  # noqa: S101
        start, to = read_border(turn, step)
        return Attack(start, to, step.get("dice") or 0), read_losses(turn, step)


def _is_reduced_roll(node: TreeTurn) -> bool:
    """Return whether a step is a roll with fewer defence dice than usual."""
    return node.step is not None and node.step.get("their_dice") is not None


def _make_key(turn: Turn, goal: object) -> tuple[str, str]:
    return turn.to_code(), json.dumps(goal, sort_keys=True)


def _raise_value(value: StateValue | None, proven: StateValue | None) -> StateValue | None:
    """Return the greater of a turn's own value and a value that later turns prove possible."""
    if value is not None and proven is not None and proven.value > value.value + value.margin:
        return value._replace(
            value=proven.value, error=proven.error, uncertainty=proven.uncertainty
        )
    return value


def _average_roll(
    turn: Turn, attack: Attack, known: Mapping[Losses, StateValue]
) -> StateValue | None:
    """Return the mean value after a roll, or `None` if the value of some result is unknown.

    known: the value after each result.
    """
    parts = list[tuple[float, StateValue]]()
    for losses, chance in turn.results(attack).items():
        value = None if isinstance(losses, Throw) else known.get(losses)
        if value is None:
            return None
        parts.append((float(chance), value))
    return StateValue(
        fsum(p * each.value for p, each in parts),
        fsum(p * each.error for p, each in parts),
        fsum(p * each.uncertainty for p, each in parts),
    )
