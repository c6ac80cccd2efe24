"""The AIs of the core as policies over `Turn`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from iacta.game import Action
from iacta.game.turn import Turn
from iacta.inputs.checks import read_int
from iacta.war.games import CHOSEN_AIM, Aim, War
from iacta.war.players import AS_LIKED, CHASE, ELIMINATE, Player, find_player


class NamedAim(NamedTuple):
    """The aim of a turn.

    aim: the aim, with the number of a seat for an aim against a player.
    victim: the name of that player, whose seat changes with each elimination.
    """

    aim: Aim = CHOSEN_AIM
    victim: str = ""

    def find_aim(self, war: War) -> Aim:
        """Return the aim for the seats of a later moment; a new aim replaces one with no victim."""
        if not self.victim:
            return self.aim
        if self.victim not in war.turn.owners:
            return CHOSEN_AIM if self.aim.kind == ELIMINATE else Aim(AS_LIKED)
        return Aim(self.aim.kind, war.seats.index(self.victim))


NO_AIM = NamedAim()


def choose_action(
    player: Player, turn: Turn, seed: int, aim: NamedAim = NO_AIM
) -> tuple[Action, NamedAim]:
    """Return the next action of an AI, and the aim of the rest of the turn.

    aim: the aim of the turn so far; without one the AI chooses it.
    """
    if turn.winner is not None:
        return turn.actions()[-1], aim  # advance all armies into the last territory
    war = War(turn)
    action, chosen = war.choose_action(player, seed, aim.find_aim(war))
    is_against = chosen.kind in (CHASE, ELIMINATE)
    return action, NamedAim(chosen, war.seats[chosen.which] if is_against else "")


@dataclass(frozen=True)
class AIPolicy:
    """An AI as a policy: a function from a turn in any phase to the next action.

    name: the name of the AI.
    seed: the seed of the turns that the AI samples to compare its aims.

    A call chooses the aim of the turn anew, and is a pure function of the turn and the seed.
    `Turn.play` and `tournament` call `follow` at the start of each turn, so that the AI keeps the
    aim of its turn and plays exactly as in the core.
    """

    name: str
    seed: int = 0

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, turn: Turn) -> Action:
        return choose_action(find_player(self.name), turn, self.seed)[0]

    def follow(self) -> Callable[[Turn], Action]:
        """Return a policy for one turn that keeps its aim from call to call."""
        aim = NO_AIM

        def choose(turn: Turn) -> Action:
            nonlocal aim
            action, aim = choose_action(find_player(self.name), turn, self.seed, aim)
            return action

        return choose


def ai(name: str = "usual", *, seed: int = 0) -> AIPolicy:
    """Return an AI as a policy, for `Turn.play`, `evaluate`, `tournament` and other programs.

    name: `"usual"`, `"simple"` or `"yardstick"`. Other names are errors.
    seed: the seed of the turns that the AI samples to compare its aims.

    >>> from iacta import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1")
    >>> ai("simple")(turn)
    Attack('Peru', 'Argentina', 3)
    >>> turn.play(ai("usual"), seed=1).end.winner
    'red'
    """
    find_player(name)
    return AIPolicy(name, read_int(seed, "seed"))
