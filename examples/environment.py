"""A turn, or a game against bots, as an environment of Gymnasium, for reinforcement learning.

The actions are numbers with a fixed meaning: end the phase; place all new armies on a territory;
attack over a border with as many dice as allowed; and move in as few or as many armies as allowed.
`info["action_mask"]` marks the legal actions:

    turn = iacta.Turn(position, place=5)
    environment = TurnEnvironment(turn, iacta.TakeAll("Asia").read(turn.board))
    observation, info = environment.reset(seed=1)
    number = environment.action_space.sample(info["action_mask"])
    observation, reward, terminated, truncated, info = environment.step(number)

The environment trades cards as soon as possible, and moves no armies at the end of a turn.
"""

from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces

from iacta import Turn
from iacta.game import Action, Attack, EndPhase, Place, Policy

Observation: TypeAlias = dict[str, Any]
Meaning: TypeAlias = tuple[str, ...]

PHASES = ("place", "attack", "advance", "over")
MAX_ARMIES = 10**9
ILLEGAL = -1.0  # the reward of an illegal action, which does not change the turn


class TurnEnvironment(gymnasium.Env[Observation, np.int64]):
    """A turn of one player. The reward of an action is the change of the goal's payoff.

    turn: the start of each episode; the agent is the player whose turn it is.
    goal: an object with `worth(turn)`, such as `iacta.TakeAll("Asia").read(turn.board)`.
    opponent: a policy, from a turn to a legal action, for the turns of all other players. With an
        opponent an episode is a whole game, without one it is the turn.
    render_mode: `"ansi"`, or `None`.

    An observation contains the owner of each territory (0 for nobody, 1 for the agent, 2 for the
    player after the agent, and so on), its armies, the new armies to place, the phase as an index
    into `PHASES`, and the border over which armies advance, counted from 1.
    """

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012 # the base class declares it so

    def __init__(
        self,
        turn: Turn,
        goal: Any,
        opponent: Policy | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.start, self.goal, self.opponent = turn, goal, opponent
        self.render_mode, self.agent = render_mode, turn.player
        names, self.borders = turn.board.territories, turn.board.borders
        places = (("place", name) for name in names)
        attacks = (("attack", *border) for border in self.borders)
        self.meanings: tuple[Meaning, ...] = (
            ("stop",),
            *places,
            *attacks,
            ("advance", "least"),
            ("advance", "most"),
        )
        at = turn.players.index(self.agent)
        order = ("", *turn.players[at:], *turn.players[:at])
        self.numbers = {name: number for number, name in enumerate(order)}
        self.action_space = spaces.Discrete(len(self.meanings))
        self.observation_space = spaces.Dict(
            {
                "owners": spaces.MultiDiscrete([len(order)] * len(names)),
                "armies": spaces.Box(0, MAX_ARMIES, (len(names),), np.int64),
                "place": spaces.Box(0, MAX_ARMIES, (1,), np.int64),
                "phase": spaces.Discrete(len(PHASES)),
                "border": spaces.Discrete(len(self.borders) + 1),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Observation]:
        """Begin an episode. Pass `seed` to repeat the dice."""
        super().reset(seed=seed, options=options)
        self.turn = self.start
        self._advance_to_choice()
        return self._observe(), self._make_info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, Observation]:
        """Play an action, and go on to the agent's next choice."""
        chosen, reward = self.list_legal().get(self.meanings[action]), ILLEGAL
        if chosen is not None:
            before = self._payoff()
            self._play(chosen)
            self._advance_to_choice()
            reward = self._payoff() - before
        return self._observe(), reward, self.turn.phase == "over", False, self._make_info()

    def render(self) -> str:
        """Return the turn as a code of one line."""
        return self.turn.to_code()

    def list_legal(self) -> dict[Meaning, Action]:
        """Return the legal actions by their meaning."""
        turn, actions = self.turn, self.turn.actions()
        if turn.phase == "advance":
            return {("advance", "most"): actions[-1], ("advance", "least"): actions[0]}
        if turn.phase == "place":
            every = (Place(name, turn.place) for name in turn.board.territories)
            return {("place", each.territory): each for each in every if each in actions}
        rolls = (each for each in reversed(actions) if isinstance(each, Attack))
        found: dict[Meaning, Action] = {("attack", each.start, each.to): each for each in rolls}
        return found | ({("stop",): EndPhase()} if turn.phase == "attack" else {})

    def _play(self, action: Action) -> None:
        (result,) = self.turn.results(action).sample(1, self.np_random)
        self.turn = self.turn.after(action, result)

    def _advance_to_choice(self) -> None:
        """Play until the agent must choose: trades, defences and the turns of other players."""
        while (turn := self.turn).phase != "over" or self._has_next_turn():
            if turn.phase == "over":
                self.turn = turn.next()
            elif turn.player != self.agent and self.opponent is not None:
                self._play(turn.decide(self.opponent))
            elif turn.phase in PHASES:
                return
            elif turn.phase == "defend":
                self._play(turn.careful_defence())
            else:
                self._play(EndPhase() if turn.phase == "fortify" else turn.actions()[0])

    def _has_next_turn(self) -> bool:
        """Return whether the game goes on after the turn."""
        return self.opponent is not None and {self.agent} < {*self.turn.survivors}

    def _payoff(self) -> float:
        is_out = self.turn.player != self.agent
        return 0.0 if is_out else float(self.goal.worth(self.turn))

    def _observe(self) -> Observation:
        turn, border = self.turn, 0
        if turn.pending is not None:
            border = 1 + self.borders.index((turn.pending.start, turn.pending.to))
        return {
            "owners": np.array([self.numbers[owner] for owner in turn.owners]),
            "armies": np.array(turn.armies, np.int64),
            "place": np.array([turn.place], np.int64),
            "phase": np.int64(PHASES.index(turn.phase)),
            "border": np.int64(border),
        }

    def _make_info(self) -> Observation:
        legal = self.list_legal()
        return {"action_mask": np.array([each in legal for each in self.meanings], np.int8)}
