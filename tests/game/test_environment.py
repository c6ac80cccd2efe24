"""The example environment follows Gymnasium's interface and the rules of the game."""

from math import fsum
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from examples.environment import ILLEGAL, TurnEnvironment
from iacta import Share, TakeAll, Turn, classic_board, deal
from iacta.game import Action, Advance, Attack, EndPhase, Place
from iacta.rules.modes import DefenderSeesFirst
from iacta.rules.rules import Rules
from tests.game.plain_environment import PlainEnvironment
from tests.game.positions import make_line_turn

MOST_STEPS = 2000
EAST = TakeAll(("B", "C"))


def choose_boldly(turn: Turn) -> Action:
    """Return the first legal action: attack while possible."""
    return EndPhase() if turn.phase == "fortify" else turn.actions()[0]


def list_legal_numbers(environment: TurnEnvironment) -> set[int]:
    """Return the numbers of the legal actions, from all actions of the turn."""
    turn = environment.turn
    found = set[tuple[str, ...]]()
    for action in turn.actions():
        match action:
            case Place(territory, armies) if armies == turn.place:
                found.add(("place", territory))
            case Attack(start, to):
                found.add(("attack", start, to))
            case Advance():
                found |= {("advance", "least"), ("advance", "most")}
            case EndPhase():
                found.add(("stop",))
    return {environment.meanings.index(meaning) for meaning in found}


def play_episode(environment: TurnEnvironment, seed: int) -> list[Any]:
    """Return the record of an episode with random legal actions."""
    dice = np.random.default_rng(seed)
    seen, info = environment.reset(seed=seed)
    found: list[Any] = [seen]
    over = False
    for _ in range(MOST_STEPS):
        if over:
            break
        assert environment.observation_space.contains(seen)
        assert (environment.action_masks() == info["action_mask"]).all()
        assert {*np.flatnonzero(info["action_mask"])} == list_legal_numbers(environment)
        number = dice.choice(np.flatnonzero(info["action_mask"]))
        seen, reward, over, truncated, info = environment.step(number)
        assert not truncated
        found.append((environment.render(), reward, seen))
    assert over
    assert not info["action_mask"].any()
    return found


ENVIRONMENTS = {
    "a turn": TurnEnvironment(make_line_turn("r9 b2 g1", place=3), EAST),
    "a turn with cards and answers": TurnEnvironment(
        make_line_turn(
            "r9 b2 g1", rules=Rules(mode=DefenderSeesFirst()), phase="trade", cards={"red": 5}
        ),
        EAST,
    ),
    "a game": TurnEnvironment(
        make_line_turn("r9 b2 g1 b1 g2", place=3, cards={}), EAST, choose_boldly
    ),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_environment_passes_the_checks_of_gymnasium(name: str) -> None:
    check_env(ENVIRONMENTS[name], skip_render_check=True)


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.slow
def test_the_same_seed_plays_the_same_episode(name: str) -> None:
    environment = ENVIRONMENTS[name]
    episodes = [play_episode(environment, seed) for seed in range(5)]
    assert repr([play_episode(environment, seed) for seed in range(5)]) == repr(episodes)
    assert len({*map(repr, episodes)}) > 1
    for episode in episodes:
        end = Turn.from_code(episode[-1][0], environment.turn.board)
        assert end.phase == "over"
        paid = fsum(reward for _, reward, _ in episode[1:])
        assert paid == EAST.worth(end) * (end.player == "red")


def test_illegal_actions_change_nothing_and_are_penalised() -> None:
    environment = ENVIRONMENTS["a turn"]
    environment.reset(seed=1)
    before = environment.turn
    stop = np.int64(environment.meanings.index(("stop",)))
    assert environment.step(stop)[1:3] == (ILLEGAL, False)
    assert environment.turn is before


CLASSIC = deal(classic_board(), ["red", "blue", "green"], seed=5, victory=Share("60%"))
START = CLASSIC.position
# The start of the episodes, the opponent, and the number of random steps.
COMPARED = {
    "a turn": (CLASSIC, None, 800),
    "a turn of whole battles": (CLASSIC.with_options(whole_battles=True), None, 200),
    "a turn with cards and answers": (
        Turn(START, Rules(mode=DefenderSeesFirst()), place=4, cards={"red": 5}),
        None,
        300,
    ),
    "a turn with constraints": (
        Turn(START, place=9, keep={START.list_territories("red")[0]: 3}, fortify="adjacent"),
        None,
        200,
    ),
    "a game against a policy": (CLASSIC, choose_boldly, 200),
    "a game against an AI": (CLASSIC, "simple", 400),
}


@pytest.mark.parametrize("name", COMPARED)
@pytest.mark.slow
def test_the_environment_agrees_with_plain_turns(name: str) -> None:
    start, opponent, steps = COMPARED[name]
    goal, over, dice = TakeAll("Asia"), True, np.random.default_rng(7)
    environments = [make(start, goal, opponent) for make in (TurnEnvironment, PlainEnvironment)]
    fast, plain = environments
    info: dict[str, Any] = {}
    for seed in range(steps):
        if over:
            seen, twin = (each.reset(seed=seed) for each in environments)
            assert repr(seen) == repr(twin)
            info = seen[1]
        number = dice.choice(np.flatnonzero(info["action_mask"]))
        moved, twin_moved = (each.step(number) for each in environments)
        assert repr(moved) == repr(twin_moved)
        assert fast.turn == plain.turn
        over, info = moved[2], moved[4]
