"""The AIs of the core as policies: functions from a turn to an action."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from iacta.game import Action, Reveal
from iacta.game.turn import Move, PlayedTurn, Turn
from iacta.inputs.checks import read_int
from iacta.inputs.errors import IllegalError
from iacta.war.game import must_reveal, play_ai
from iacta.war.games import CHOSEN_AIM, Aim, War, check_war
from iacta.war.players import AS_LIKED, CHASE, ELIMINATE, Player, find_player


class NamedAim(NamedTuple):
    """An aim that stores its victim's name, because eliminations renumber the seats.

    aim: the aim. For an aim against a player, `aim.which` is the seat of this player.
    victim: the name of this player; empty for other aims.
    """

    aim: Aim = CHOSEN_AIM
    victim: str = ""

    def choose_aim(self, war: War) -> Aim:
        """Return the aim with the victim's current seat, or a new aim after an elimination.

        The AI chooses a new aim only after the armies have advanced.
        """
        if not self.victim:
            return self.aim
        if self.victim not in war.turn.owners:
            is_chosen_anew = self.aim.kind == ELIMINATE and war.turn.phase != "advance"
            return CHOSEN_AIM if is_chosen_anew else Aim(AS_LIKED)
        return Aim(self.aim.kind, war.seats.index(self.victim))


NO_AIM = NamedAim()


def choose_action(
    ai: Player, turn: Turn, seed: int, aim: NamedAim = NO_AIM
) -> tuple[Action, NamedAim]:
    """Return the next action of an AI, and its aim for the rest of the turn.

    The AI decides from `turn.seen_by`: it knows no cards and secret missions of other players.

    aim: the current aim; with `NO_AIM` the AI chooses an aim.
    """
    if not turn.actions():
        raise IllegalError(f"the turn of {turn.player} must have a legal action, but it is over")
    seen = turn.seen_by(turn.to_act)
    if seen.winner is not None:
        return turn.actions()[-1], aim  # after the winning conquest, all armies advance
    war = War(seen)
    action, chosen = war.choose_action(ai, seed, aim.choose_aim(war))
    if aim.victim and turn.phase == "advance":
        return action, aim
    is_against = chosen.kind in (CHASE, ELIMINATE)
    return action, NamedAim(chosen, war.seats[chosen.which] if is_against else "")


@dataclass(frozen=True)
class AIPolicy:
    """An AI as a policy: a function from a turn in any phase to the next action.

    name: the name of the AI.
    seed: the seed of the simulations in which the AI compares its aims.

    Each call chooses a new aim; the result depends only on the turn and the seed. `Turn.play` and
    `tournament` call `follow` at the start of each turn. The AI then keeps its aim during the turn
    and plays exactly as in the core. The method `play` plays a whole turn in the core, about ten
    times as fast.
    """

    name: str
    seed: int = 0

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, turn: Turn) -> Action:
        return choose_action(find_player(self.name), turn, self.seed)[0]

    def play(self, turn: Turn, *, seed: int) -> PlayedTurn:
        """Play the turn to its end with random dice.

        turn: the turn, in any phase.
        seed: the seed of the dice, the unknown cards and the AI's simulations. `Turn.play` throws
            other dice for the same seed.

        Raises `IactaError` for a turn from which no whole games can be played.

        >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1")
        >>> ai("simple").play(turn, seed=1).end.winner
        'red'
        """
        check_war(turn)
        first, moves = read_int(seed, "seed"), list[Move]()
        while turn.phase != "over":
            if must_reveal(turn):
                rng = np.random.default_rng([first, len(moves)])
                after, cards = turn.play_action(Reveal(), rng)
                moves.append(Move(turn, Reveal(), cards))
                turn = after
            else:
                played = play_ai(turn, self.name, first + len(moves))
                moves += played.moves
                turn = played.end
        return PlayedTurn(tuple(moves), turn)

    def follow(self) -> Callable[[Turn], Action]:
        """Return a policy for one turn that keeps its aim between calls."""
        aim = NO_AIM

        def choose(turn: Turn) -> Action:
            nonlocal aim
            action, aim = choose_action(find_player(self.name), turn, self.seed, aim)
            return action

        return choose


def ai(name: str = "usual", *, seed: int = 0) -> AIPolicy:
    """Return an AI as a policy, for `Turn.play`, `evaluate`, `tournament` and other programs.

    name: `"usual"`, `"keeper"`, `"strong"` or `"simple"`.
    seed: the seed of the simulations in which the AI compares its aims.

    Raises `IllegalError` for an unknown name.

    >>> from iacta import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1")
    >>> ai("simple")(turn)
    Attack('Peru', 'Argentina', 3)
    >>> turn.play(ai("usual"), seed=1).end.winner
    'red'
    """
    find_player(name)
    return AIPolicy(name, read_int(seed, "seed"))
