"""A turn, or a game against bots, as an environment of Gymnasium, for reinforcement learning.

The actions are numbers with a fixed meaning: end the phase; place all new armies on a territory;
attack over a border with as many dice as allowed; and move in as few or as many armies as allowed.
`info["action_mask"]` marks the legal actions:

    turn = iacta.Turn(position, place=5)
    environment = TurnEnvironment(turn, iacta.TakeAll("Asia"))
    observation, info = environment.reset(seed=1)
    number = environment.action_space.sample(info["action_mask"])
    observation, reward, terminated, truncated, info = environment.step(number)

`action_masks()` returns the same mask, as `sb3_contrib.MaskablePPO` expects.

The environment trades cards as soon as possible, and moves no armies at the end of a turn.
"""

from typing import Any, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from iacta import Turn
from iacta.game import Action, Advance, Attack, Defend, EndPhase, Place, Policy, Reveal
from iacta.plan.goals import Goal
from iacta.war import AIPolicy, ai

Observation: TypeAlias = dict[str, Any]
Meaning: TypeAlias = tuple[str, ...]

PHASES = ("place", "attack", "advance", "over")
MAX_ARMIES = 10**9
ILLEGAL = -1.0  # the reward of an illegal action, which does not change the turn


class TurnEnvironment(gymnasium.Env[Observation, np.int64]):
    """A turn of one player. The reward of an action is the change of the goal's payoff.

    turn: the start of each episode; the agent is the player whose turn it is.
    goal: the goal of the agent, such as `iacta.TakeAll("Asia")`.
    opponent: a policy, from a turn to a legal action, for the turns of all other players, or the
        name of an AI, such as `"simple"`, whose whole turns the core plays. With an opponent an
        episode is a whole game, without one it is the turn.
    render_mode: `"ansi"`, or `None`.

    An observation contains the owner of each territory (0 for nobody, 1 for the agent, 2 for the
    player after the agent, and so on), its armies, the new armies to place, the phase as an index
    into `PHASES`, and the border over which armies advance, counted from 1.
    """

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012 # the base class declares it so

    def __init__(
        self,
        turn: Turn,
        goal: Goal,
        opponent: Policy | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.start, self.opponent = turn, ai(opponent) if isinstance(opponent, str) else opponent
        self.goal = goal.resolve_names(turn.board)
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
        self.indices = {meaning: number for number, meaning in enumerate(self.meanings)}
        at = turn.players.index(self.agent)
        order = ("", *turn.players[at:], *turn.players[:at])
        self.numbers = {name: number for number, name in enumerate(order)}
        self.seen_owners: tuple[str, ...] = ()
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
        self.payoff = self._compute_payoff()
        return self._observe(), {"action_mask": self.action_masks()}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, Observation]:
        """Play an action, and go on to the agent's next choice."""
        chosen, reward = self.legal.get(int(action)), ILLEGAL
        if chosen is not None:
            before = self.payoff
            self._play(chosen)
            self._advance_to_choice()
            self.payoff = self._compute_payoff()
            reward = self.payoff - before
        info = {"action_mask": self.action_masks()}
        return self._observe(), reward, self.turn.phase == "over", False, info

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Return a new mask of the legal actions."""
        return self.mask.copy()

    def render(self) -> str:
        """Return the turn as a code of one line."""
        return self.turn.to_code()

    def _list_legal(self) -> dict[int, Action]:
        """Return the legal actions by their numbers."""
        legal, indices = dict[int, Action](), self.indices
        for part in self.turn.actions().parts:
            first = part[0]  # the actions of a part differ only in the number of armies or dice
            if isinstance(first, Attack):
                legal[indices["attack", first.start, first.to]] = first
            elif isinstance(first, Place):
                legal[indices["place", first.territory]] = part[-1]
            elif isinstance(first, Advance):
                legal[indices["advance", "least"]] = first
                legal[indices["advance", "most"]] = part[-1]
            else:
                legal[indices["stop",]] = first
        return legal

    def _play(self, action: Action) -> None:
        if isinstance(action, Attack | Defend | Reveal):
            self.turn, _ = self.turn.play_action(action, self.np_random)
        else:
            self.turn = self.turn.after(action)

    def _advance_to_choice(self) -> None:
        """Play until the agent must choose, and list the legal actions."""
        self._play_forced()
        self.legal = {} if self.turn.phase == "over" else self._list_legal()
        self.mask = np.zeros(len(self.meanings), np.int8)
        self.mask[[*self.legal]] = 1

    def _play_forced(self) -> None:
        """Play trades, defences and the turns of other players."""
        while (turn := self.turn).phase != "over" or self._has_next_turn():
            if turn.phase == "over":
                self.turn = turn.next()
            elif turn.phase == "defend":
                self._play(turn.careful_defence())
            elif turn.player != self.agent and self.opponent is not None:
                self._play_opponent(self.opponent)
            elif turn.phase in PHASES:
                return
            else:
                self._play(EndPhase() if turn.phase == "fortify" else turn.actions()[0])

    def _play_opponent(self, opponent: Policy) -> None:
        """Play an opponent's next action, or the whole turn of an AI."""
        if isinstance(opponent, AIPolicy):
            seed = int(self.np_random.integers(2**62))
            self.turn = opponent.play(self.turn, seed=seed).end
        else:
            self._play(opponent(self.turn))

    def _has_next_turn(self) -> bool:
        """Return whether the game goes on after the turn."""
        is_game = self.opponent is not None
        return is_game and self.agent in self.turn.owners and self.turn.winner is None

    def _compute_payoff(self) -> float:
        is_out = self.turn.player != self.agent
        return 0.0 if is_out else float(self.goal.worth(self.turn))

    def _observe(self) -> Observation:
        turn, border = self.turn, 0
        if turn.pending is not None:
            border = 1 + self.borders.index((turn.pending.start, turn.pending.to))
        if turn.owners is not self.seen_owners:  # most actions change no owners
            self.seen_owners = turn.owners
            self.owners = np.array([self.numbers[owner] for owner in turn.owners])
        return {
            "owners": self.owners.copy(),
            "armies": np.array(turn.armies, np.int64),
            "place": np.array([turn.place], np.int64),
            "phase": np.int64(PHASES.index(turn.phase)),
            "border": np.int64(border),
        }
