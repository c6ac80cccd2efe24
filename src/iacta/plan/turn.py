"""The attack phase of one turn, roll by roll, as the rules allow it.

A state is who owns which territory, and the armies on each. The player may stop at any time, or
roll from a territory v of his own against a neighbour c with any number of dice that the rules
allow; nothing binds him to the battle of the roll before. When the last defender falls he sees the
dice, and then chooses how many armies advance: at least as many as the rules force, at most all
that need not remain.

    able      = armies on v − garrison of the rules: they may roll, one die each,
    spare     = armies on v − armies that must remain on v: they may be lost or move on.

A roll is legal if no result can cost more than the spare armies, or force more of them to advance.
Which rolls there are, and what they cost, is asked of the kernel (`iacta.methods.kernel.Choice`):
a roll of dice, a roll to which the defender replies, or a whole battle that is decided at once.
Let y be a throw of the attack dice, j what the defender chooses then, x the losses, and r(x) what
they pay: the reward for a conquest, minus the cost of the lost armies. The value function V, what
is still paid on average by the best play, satisfies Bellman's equation

    Q(s, roll) = Σ_y P(y) · min over j of Σ_x P(x | y, j) · (r(x) + V'(s after x)),
    V(s)       = max(0, max over rolls of Q(s, roll)),

where V' is V, or after a conquest the maximum of V over all advances. Each roll takes armies, so
the states that follow a state have fewer, and V is found in order of the number of armies
(`iacta.plan.exact_turn`).
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from iacta.methods.kernel import Choice, Result
from iacta.plan.goals import Rewards
from iacta.plan.problem import Problem, Remembers, bits

__all__ = ["BestRoll", "Roll", "Turn", "TurnState"]


class TurnState(NamedTuple):
    """What the player sees between two rolls.

    armies: the armies on each territory of the board.
    owned: the set of the player's territories. One that he has just conquered has no armies until
        they advance.
    """

    armies: tuple[int, ...]
    owned: int


class Roll(NamedTuple):
    """The attacking territory, the one that is attacked, and the number of attack dice."""

    start: int
    to: int
    dice: int


class BestRoll(NamedTuple):
    """The best roll of a state.

    roll: what to roll.
    worth: what is still paid on average, with this roll and the best play after it.
    advance: for each number of armies that may be left able to move if the roll conquers, how many
        of them move in.
    """

    roll: Roll
    worth: float
    advance: dict[int, int]


class Turn(Remembers):
    """The attack phase of a turn.

    problem: the position, its rules and its constraints.
    field: the set of the territories that may be attacked.
    rewards: what the goal pays.
    whole_battles: whether each battle is fought to its end, as if it were one roll: attackers that
        must remain stay out of it.

    >>> from iacta.board import Board, Holding, Position
    >>> from iacta.plan.problem import read_problem
    >>> from iacta.rules.rules import CLASSIC
    >>> board = Board("two", ("A", "B"), (("A", "B"), ("B", "A")))
    >>> position = Position(board, "red", (Holding("red", 4), Holding("blue", 1)))
    >>> turn = Turn(read_problem(position, CLASSIC, {}, ()), 0b10, Rewards(all_of=0b10))
    >>> state = turn.start()
    >>> roll = next(turn.rolls(state))
    >>> roll
    Roll(start=0, to=1, dice=3)
    >>> ((chance, options),) = turn.choice(state, roll).throws
    >>> [turn.after(state, roll, result).armies for result in options[0]]
    [(3, 1), (4, 0)]
    """

    def __init__(
        self, problem: Problem, field: int, rewards: Rewards, *, whole_battles: bool = False
    ) -> None:
        self.problem, self.field, self.rewards = problem, field, rewards
        self.whole_battles = whole_battles
        self._remember()

    def _remember(self) -> None:
        self._battle = lru_cache(maxsize=None)(self._battle_of)

    def _battle_of(self, kind: int, able: int, defenders: int) -> Choice:
        return self.problem.kernels[kind].battle(able, defenders)

    def start(self) -> TurnState:
        """Return the state before the first roll."""
        return TurnState(self.problem.armies, self.problem.owned)

    def left(self, state: TurnState) -> int:
        """Return the set of the territories that may be attacked and are not taken."""
        return self.field & ~state.owned

    def is_over(self, state: TurnState) -> bool:
        """Return whether all that can be paid is paid."""
        return self.rewards.is_over(self.left(state), self.field & state.owned)

    def spare(self, state: TurnState, v: int) -> int:
        """Return how many armies of a territory may be lost or move on."""
        return state.armies[v] - self.problem.garrisons[v]

    def choices(self, v: int, c: int, armies: int, defenders: int) -> tuple[Choice, ...]:
        """Return the rolls of a territory with some armies against one with some defenders."""
        spare = armies - self.problem.garrisons[v]
        if spare <= 0:
            return ()
        if self.whole_battles:
            return (self._battle(self.problem.kinds[c], spare, defenders),)
        able = armies - self.problem.rules.garrison
        return self.problem.kernel_of(c).rolls(able, defenders, spare)

    def rolls(self, state: TurnState) -> Iterator[Roll]:
        """Yield all legal rolls of a state; there is none when the turn is over."""
        if self.is_over(state):
            return
        for v in bits(state.owned & ~self.problem.resting):
            for c in bits(self.problem.borders.out[v] & self.left(state)):
                for choice in self.choices(v, c, state.armies[v], state.armies[c]):
                    yield Roll(v, c, choice.dice)

    def choice(self, state: TurnState, roll: Roll) -> Choice:
        """Return what a legal roll may show."""
        v, c, dice = roll
        choices = self.choices(v, c, state.armies[v], state.armies[c])
        return next(choice for choice in choices if choice.dice == dice)

    def after(self, state: TurnState, roll: Roll, result: Result) -> TurnState:
        """Return the state after a roll, before any armies advance."""
        armies = list(state.armies)
        armies[roll.start] -= result.attackers
        armies[roll.to] -= result.defenders
        taken = 0 if armies[roll.to] else 1 << roll.to
        return TurnState(tuple(armies), state.owned | taken)

    def advances(self, state: TurnState, roll: Roll, least: int) -> range:
        """Return how many armies may advance after a roll; none if it has not conquered.

        state: the state after the roll.
        least: what the rules force, `Choice.least`.
        """
        if state.armies[roll.to]:
            return range(0)
        spare = self.spare(state, roll.start)
        return range(min(least, spare), spare + 1)

    def after_advance(self, state: TurnState, roll: Roll, moved: int) -> TurnState:
        """Return the state after some armies have advanced."""
        armies = list(state.armies)
        armies[roll.start] -= moved
        armies[roll.to] += moved
        return TurnState(tuple(armies), state.owned)

    def paid(self, state: TurnState, roll: Roll, result: Result) -> float:
        """Return what a result of a roll pays at once."""
        lost = self.rewards.army * result.attackers
        if result.defenders < state.armies[roll.to]:
            return -lost
        return self.rewards.of(roll.to, self.left(state)) - lost

    def worth(self, state: TurnState, roll: Roll, value: Callable[[TurnState], float]) -> float:
        """Return Q, what a roll is worth if all that follows is worth what `value` says."""
        return sum(
            result.chance * self._worth_of(state, roll, result, value)
            for result in self.results(state, roll, value)
        )

    def results(
        self, state: TurnState, roll: Roll, value: Callable[[TurnState], float]
    ) -> list[Result]:
        """Return the results of a roll, with the answers that are the worst for the plan.

        value: what all that follows is worth.
        """
        chances: dict[tuple[int, int], float] = {}
        for throw in self.choice(state, roll).throws:
            answer = throw.options[0]
            if len(throw.options) > 1:
                answer = min(
                    throw.options,
                    key=lambda option: sum(
                        result.chance * self._worth_of(state, roll, result, value)
                        for result in option
                    ),
                )
            for chance, *losses in answer:
                key = losses[0], losses[1]
                chances[key] = chances.get(key, 0.0) + throw.chance * chance
        return [Result(chance, *losses) for losses, chance in chances.items()]

    def _worth_of(
        self,
        state: TurnState,
        roll: Roll,
        result: Result,
        value: Callable[[TurnState], float],
    ) -> float:
        """Return what a result pays, and what follows it is worth."""
        after = self.after(state, roll, result)
        advances = self.advances(after, roll, self.choice(state, roll).least)
        follows = max(
            (value(self.after_advance(after, roll, moved)) for moved in advances), default=None
        )
        return self.paid(state, roll, result) + (value(after) if follows is None else follows)
