"""A slow twin of the example environment, from plain turns, their actions and their results."""

from typing import Any

import numpy as np

from examples.environment import PHASES, Observation, TurnEnvironment
from iacta import Distribution, Turn
from iacta.game import Action, Advance, Attack, EndPhase, Place


class PlainEnvironment(TurnEnvironment):
    """The environment without shortcuts: each turn is read from its code, and nothing is cached."""

    def _list_legal(self) -> dict[int, Action]:
        turn = self.turn = Turn.from_code(self.turn.to_code(), self.start.board)
        legal = dict[int, Action]()
        moves = [each for each in turn.actions() if isinstance(each, Advance)]
        for action in turn.actions():
            match action:
                case Place(territory, armies) if armies == turn.place:
                    legal[self.meanings.index(("place", territory))] = action
                case Attack(start, to):
                    legal.setdefault(self.meanings.index(("attack", start, to)), action)
                case Advance():
                    legal[self.meanings.index(("advance", "least"))] = moves[0]
                    legal[self.meanings.index(("advance", "most"))] = moves[-1]
                case EndPhase():
                    legal[self.meanings.index(("stop",))] = action
        return legal

    def _play(self, action: Action) -> None:
        turn = Turn.from_code(self.turn.to_code(), self.start.board)
        result, results = None, turn.results(action)
        if [*results] != [None]:
            (result,) = Distribution(dict(results.items())).sample(1, self.np_random)
        self.turn = turn.after(action, result)

    def _observe(self) -> Observation:
        turn, order = self.turn, self.start.players
        at = order.index(self.agent)
        seats = ["", *order[at:], *order[:at]]
        pending = turn.pending
        border = 0 if pending is None else 1 + self.borders.index((pending.start, pending.to))
        found: dict[str, Any] = {
            "owners": np.array([seats.index(turn.owner_of(t)) for t in turn.board.territories]),
            "armies": np.array([turn.armies_on(t) for t in turn.board.territories]),
            "place": np.array([turn.place]),
            "phase": np.int64(PHASES.index(turn.phase)),
            "border": np.int64(border),
        }
        return found
