"""A turn, or a game against bots, as an environment of Gymnasium, for agents that learn to play.

An agent chooses one of some numbers, whose meanings never change: to stop; to place all new armies
on a territory; to roll over a border, with as many dice as it may; and to move in as few armies as
it must, or as many as it can. `info["action_mask"]` says which of them are legal now:

    turn = iacta.Turn(position, place=5)
    environment = TurnEnvironment(turn, iacta.TakeAll("Asia").read(turn.board))
    seen, info = environment.reset(seed=1)
    number = environment.action_space.sample(info["action_mask"])
    seen, reward, terminated, truncated, info = environment.step(number)

Cards are traded in as soon as they may be, and no armies move at the end of a turn.
"""

from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces

from iacta import Turn
from iacta.game import Action, Attack, EndPhase, Place, Policy

Seen: TypeAlias = dict[str, Any]
Meaning: TypeAlias = tuple[str, ...]

PHASES = ("place", "attack", "advance", "over")
MOST_ARMIES = 10**9
ILLEGAL = -1.0  # the reward of a number that is not legal, which changes nothing


class TurnEnvironment(gymnasium.Env[Seen, np.int64]):
    """A turn of one player, who is paid what each action adds to the worth of a goal.

    turn: where each episode begins; the agent is the player whose turn it is.
    goal: an object with `worth(turn)`, such as `iacta.TakeAll("Asia").read(turn.board)`.
    opponent: a policy, from a turn to a legal action, for the turns of all others. With it an
        episode is a whole game, and without it the turn.
    render_mode: `"ansi"`, or `None`.

    The agent sees who owns each territory (0 is nobody, 1 the agent, 2 the player after it, and so
    on), the armies there, those still to be placed, the phase as its number in `PHASES`, and the
    border over which armies advance, counted from 1.
    """

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012 # as the base class has it

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
                "armies": spaces.Box(0, MOST_ARMIES, (len(names),), np.int64),
                "place": spaces.Box(0, MOST_ARMIES, (1,), np.int64),
                "phase": spaces.Discrete(len(PHASES)),
                "border": spaces.Discrete(len(self.borders) + 1),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, Seen]:
        """Begin an episode; the same seed throws the same dice."""
        super().reset(seed=seed, options=options)
        self.turn = self.start
        self._go_on()
        return self._seen(), self._info()

    def step(self, action: np.int64) -> tuple[Seen, float, bool, bool, Seen]:
        """Do what a number means, and go on to the agent's next choice."""
        chosen, reward = self.legal().get(self.meanings[action]), ILLEGAL
        if chosen is not None:
            before = self._worth()
            self._do(chosen)
            self._go_on()
            reward = self._worth() - before
        return self._seen(), reward, self.turn.phase == "over", False, self._info()

    def render(self) -> str:
        """Return the turn as a code of one line."""
        return self.turn.to_code()

    def legal(self) -> dict[Meaning, Action]:
        """Return the legal actions by their meanings."""
        turn, actions = self.turn, self.turn.actions()
        if turn.phase == "advance":
            return {("advance", "most"): actions[-1], ("advance", "least"): actions[0]}
        if turn.phase == "place":
            every = (Place(name, turn.place) for name in turn.board.territories)
            return {("place", each.territory): each for each in every if each in actions}
        rolls = (each for each in reversed(actions) if isinstance(each, Attack))
        found: dict[Meaning, Action] = {("attack", each.start, each.to): each for each in rolls}
        return found | ({("stop",): EndPhase()} if turn.phase == "attack" else {})

    def _do(self, action: Action) -> None:
        (result,) = self.turn.results(action).sample(1, self.np_random)
        self.turn = self.turn.after(action, result)

    def _go_on(self) -> None:
        """Do all that the agent does not choose: trades, answers, and the turns of others."""
        while (turn := self.turn).phase != "over" or self._goes_on():
            if turn.phase == "over":
                self.turn = turn.next()
            elif turn.player != self.agent and self.opponent is not None:
                self._do(turn.decided(self.opponent))
            elif turn.phase in PHASES:
                return
            elif turn.phase == "defend":
                self._do(turn.careful_defence())
            else:
                self._do(EndPhase() if turn.phase == "fortify" else turn.actions()[0])

    def _goes_on(self) -> bool:
        """Return whether another turn follows one that is over."""
        return self.opponent is not None and {self.agent} < {*self.turn.alive}

    def _worth(self) -> float:
        is_out = self.turn.player != self.agent
        return 0.0 if is_out else float(self.goal.worth(self.turn))

    def _seen(self) -> Seen:
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

    def _info(self) -> Seen:
        legal = self.legal()
        return {"action_mask": np.array([each in legal for each in self.meanings], np.int8)}
