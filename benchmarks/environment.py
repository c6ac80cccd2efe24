"""Benchmarks of the example environment for reinforcement learning, with random legal actions."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Comparison, Measurement
from examples.environment import TurnEnvironment
from iacta import TakeAll, Turn, classic_board, deal
from iacta.game import Action, EndPhase
from iacta.game.turn import PlayedTurn
from iacta.war import AIPolicy
from tests.game.plain_environment import PlainEnvironment

MIN_TURN_STEPS, MIN_GAME_STEPS = 20_000, 5_000  # steps per second
STEPS, PLAIN_STEPS, RUNS = 2_000, 100, 7
GOAL = TakeAll("Asia")


class _TimedAI(AIPolicy):
    """An AI that records the time of its turns."""

    seconds = 0.0

    def play(self, turn: Turn, *, seed: int) -> PlayedTurn:
        begun = time.process_time()
        played = super().play(turn, seed=seed)
        _TimedAI.seconds += time.process_time() - begun
        return played


def _attack(turn: Turn) -> Action:
    """Return the first attack, if there is one."""
    return EndPhase() if turn.phase == "fortify" else turn.actions()[0]


def _time_step(environment: TurnEnvironment, steps: int) -> float:
    """Return the processor time of a step on average, in seconds."""
    rng, over = np.random.default_rng(1), True
    info: dict[str, Any] = {}
    begun = time.process_time()
    environment.reset(seed=1)
    for _ in range(steps):
        if over:
            _, info = environment.reset()
        legal = np.flatnonzero(info["action_mask"])
        _, _, over, _, info = environment.step(legal[rng.integers(len(legal))])
    return (time.process_time() - begun) / steps


def measure_environment() -> Iterator[Comparison | Measurement]:
    """Measure the steps of turns and of games for three, from a random deal."""
    start = deal(classic_board(), ["red", "blue", "green"], seed=5)
    seconds = min(_time_step(TurnEnvironment(start, GOAL), STEPS) for _ in range(RUNS))
    plain = min(_time_step(PlainEnvironment(start, GOAL), PLAIN_STEPS) for _ in range(RUNS))
    yield Measurement("steps per second of a turn", 1 / seconds, MIN_TURN_STEPS, True, STEPS)
    yield Comparison("a step of a turn", seconds, "plain turns, read from codes", plain, 10)
    seconds = min(_time_step(TurnEnvironment(start, GOAL, _attack), STEPS) for _ in range(RUNS))
    claim = "steps per second of a game, opponents that attack"
    yield Measurement(claim, 1 / seconds, MIN_GAME_STEPS, True, STEPS)
    for name in ("simple", "usual"):
        fastest, share = 0.0, 0.0
        for _ in range(RUNS):
            _TimedAI.seconds = 0.0
            seconds = _time_step(TurnEnvironment(start, GOAL, _TimedAI(name)), STEPS)
            if 1 / seconds > fastest:
                fastest, share = 1 / seconds, _TimedAI.seconds / (seconds * STEPS)
        yield Measurement(f"steps per second of a game, {name} AI", fastest, None, True, STEPS)
        yield Measurement("  share of time for turns of the AI", share, None, True, STEPS)


MEASURES = (measure_environment,)
