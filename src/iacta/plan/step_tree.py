"""The values of a tree of steps: of each turn in it, and what each step changed.

Each turn gets a quick search of its own, so nothing need be kept between two calls. A turn that
there is no time for has no value, so a longer time adds numbers and changes no number, with one
exception: a state is worth at least what the states after it prove, those after a choice, or those
after all results of a roll.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum

from iacta.game import Attack, Losses, Throw, Turn
from iacta.game.steps import TreeTurn, find_border, read_losses
from iacta.plan.judge import Judgement, StateValue, judge_attack, judge_choice

CHOICES = ("place", "advance", "stop", "fortify")  # steps without dice


class StepTree:
    """A tree of steps with the values that are known so far.

    nodes: the turns; the first of them has no step.
    """

    def __init__(self, nodes: Sequence[TreeTurn]) -> None:
        self.nodes = nodes
        self._known: dict[str, StateValue] = {}  # by the codes of turns

    def put(self, turn: Turn, value: StateValue) -> None:
        """Add the value of a turn."""
        self._known[turn.to_code()] = value

    def values(self) -> list[StateValue | None]:
        """Return the value of each turn: its own, or what the turns after it prove."""
        best = [
            None if node.turn is None else self._known.get(node.turn.to_code())
            for node in self.nodes
        ]
        rolls: dict[tuple[int, Attack], dict[Losses, StateValue]] = {}
        for k in range(len(self.nodes) - 1, -1, -1):  # a turn comes after the one before it
            node = self.nodes[k]
            for (before, attack), known in rolls.items():
                if before == k and node.turn is not None:
                    best[k] = _larger(best[k], _expect(node.turn, attack, known))
            value = best[k]
            if node.step is None or value is None:
                continue
            if node.step["do"] in CHOICES:
                best[node.before] = _larger(best[node.before], value)
            elif node.step["do"] == "attack" and node.step.get("dice"):
                attack, losses = self._read_roll(node)
                rolls.setdefault((node.before, attack), {})[losses] = value
        return best

    def judge(self, k: int, values: Sequence[StateValue | None]) -> Judgement | None:
        """Return what the step to a turn changed, `None` while that is not known.

        k: the number of the turn.
        values: the values of all turns, as `values` returns them.
        """
        node = self.nodes[k]
        if node.step is None or node.step.get("do") == "next":
            return None
        before, after = values[node.before], values[k]
        if before is None or after is None:
            return None
        if node.step["do"] in CHOICES:
            return judge_choice(before, after)
        turn = self.nodes[node.before].turn
        if node.step["do"] != "attack" or turn is None:
            change = after.value - before.value
            return Judgement(change, None, None, before.error + after.error)
        attack, losses = self._read_roll(node)
        border = attack.start, attack.to
        dice = [attack.dice] if attack.dice else [*turn.dice_for(*border, *losses)]
        return judge_attack(before, after, border, dice)

    def list_path(self, k: int) -> Iterator[int]:
        """Yield the numbers of a turn and of those before it, back to the start of its player."""
        while (step := self.nodes[k].step) is not None and step["do"] != "next":
            yield k
            k = self.nodes[k].before

    def _read_roll(self, node: TreeTurn) -> tuple[Attack, Losses]:
        """Return the attack of a step, and what both sides lost."""
        turn, step = self.nodes[node.before].turn, node.step or {}
        assert turn is not None  # noqa: S101 # the step is possible
        return Attack(*find_border(turn, step), step.get("dice") or 0), read_losses(turn, step)


def _larger(value: StateValue | None, proven: StateValue | None) -> StateValue | None:
    """Return a value, raised to the value that other states prove for the same state."""
    if value is not None and proven is not None and proven.value > value.value:
        return proven._replace(attacks=value.attacks)
    return value


def _expect(turn: Turn, attack: Attack, known: Mapping[Losses, StateValue]) -> StateValue | None:
    """Return the mean over all results of a roll, `None` where the value of one is missing."""
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
