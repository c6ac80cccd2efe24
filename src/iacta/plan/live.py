"""A plan that is followed live: what to do next, what the dice did, and where that leads.

From any position, also in the middle of a battle, the plan says what to roll. What a roll may cost
is asked of the kernel. A plan that fights each battle to its end goes on with the battle that has
begun, as long as the player does what it says.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from iacta.board import Holding, Position
from iacta.checks import whole_number
from iacta.errors import IllegalError
from iacta.methods.kernel import Choice, Result
from iacta.plan.alternatives import quick_gain
from iacta.plan.goals import Rewards, held_worth
from iacta.plan.plan import NextMove, Plan, Play
from iacta.plan.problem import Problem
from iacta.plan.turn import Roll, Turn, TurnState

__all__ = ["Live"]


@dataclass(frozen=True)
class Live:
    """A plan and where it stands.

    plan: the plan.
    position: who holds what now.
    play: where a plan by battles stands, which is before the battle that is being fought; `None`
        to find that out from the position.

    >>> from iacta.board import Board
    >>> from iacta.plan import TakeAll, best_plan
    >>> board = Board("two", ("A", "B"), (("A", "B"), ("B", "A")))
    >>> start = Position(board, "red", (Holding("red", 5), Holding("blue", 1)))
    >>> live = Live(best_plan(start, TakeAll("B")), start)
    >>> live.move.start, live.move.to, live.move.dice, live.results()
    ('A', 'B', 3, ((0, 1), (1, 0)))
    >>> won = live.after(0, 1, 4)
    >>> won.position.of("B"), won.move
    (Holding(owner='red', armies=4), None)
    """

    plan: Plan = field(compare=False, repr=False)
    position: Position
    play: Play | None = None

    @cached_property
    def move(self) -> NextMove | None:
        """What to do next, or `None` when the plan is over."""
        if self._play is None:
            return self.plan.next_move(self.position)
        move = self._play.next_move()
        if move is None:
            return None
        kept = self._problem.rules_of(self._at(move.to)).attack.kept
        return replace(move, dice=min(self._able(move), kept))

    @cached_property
    def _play(self) -> Play | None:
        return self.plan.reached(self.position) if self.play is None else self.play

    @cached_property
    def value(self) -> float | None:
        """What going on is worth: the chance of the goal, or what is still gained on average.

        `None` where the plan is over. Of a plan whose chance is an estimate it is what a lookahead
        says, and the plan may be worth more; of one that fights each battle to its end, what a
        quick plan gains from here.
        """
        if self.move is None or self.move.worth is not None:
            return None if self.move is None else self.move.worth
        if self.position == self.plan.position:
            return self.plan.value - held_worth(self.plan.problem, self.plan.goal)
        return quick_gain(self.plan, self.position)

    @cached_property
    def _problem(self) -> Problem:
        return self.plan.problem_at(self.position)

    def _at(self, name: str) -> int:
        return self.position.board.territories.index(name)

    def _able(self, move: NextMove) -> int:
        return self.position.of(move.start).armies - self._problem.garrisons[self._at(move.start)]

    def _next(self) -> NextMove:
        if self.move is None:
            raise IllegalError("a plan that is over has no next move")
        return self.move

    @cached_property
    def _choice(self) -> Choice:
        """What the next roll may show."""
        move, problem = self._next(), self._problem
        turn = Turn(problem, problem.enemy, self.plan.rewards)
        armies = [self.position.of(name).armies for name in (move.start, move.to)]
        choices = turn.choices(self._at(move.start), self._at(move.to), armies[0], armies[1])
        return next((each for each in choices if each.dice == move.dice), choices[0])

    def results(self) -> tuple[tuple[int, int], ...]:
        """Return what the next roll may cost: the armies of the player, and the defenders."""
        options = [option for throw in self._choice.throws for option in throw.options]
        return tuple(sorted({(lost, killed) for option in options for _, lost, killed in option}))

    def thrown(self, rng: np.random.Generator) -> tuple[int, int]:
        """Return what the next roll costs with the dice of a generator.

        rng: the generator. A defender who may answer does what is worst for the plan.
        """
        drawn = self.chances()
        shares = np.array([each.chance for each in drawn])
        found = drawn[int(rng.choice(len(drawn), p=shares / shares.sum()))]
        return found.attackers, found.defenders

    def chances(self) -> list[Result]:
        """Return what the next roll may cost, with the chance of each result.

        Where the defender may answer a throw, that depends on what the plan does next: a policy of
        real play says how they answer it; in a battle that is fought to its end, they keep the
        territory as likely as they can.

        >>> from iacta.board import Board
        >>> from iacta.plan import TakeAll, best_plan
        >>> board = Board("two", ("A", "B"), (("A", "B"), ("B", "A")))
        >>> start = Position(board, "red", (Holding("red", 6), Holding("blue", 4)))
        >>> live = Live(best_plan(start, TakeAll("B"), "defender sees first"), start)
        >>> for chance, attackers, defenders in sorted(live.chances()):
        ...     print(f"{chance:.3f} {attackers}-{defenders}")
        0.101 0-2
        0.125 1-0
        0.172 1-1
        0.227 2-0
        0.375 0-1
        """
        move, problem = self._next(), self._problem
        start, to = self._at(move.start), self._at(move.to)
        turn = Turn(problem, problem.enemy, self.plan.rewards)
        state = turn.start()
        roll = Roll(start, to, self._choice.dice)
        if all(len(throw.options) == 1 for throw in self._choice.throws):
            return turn.results(state, roll, lambda _: 0.0)
        policy = None if self._play is not None else self.plan.policy_at(self.position)
        if policy is not None:
            return policy.results(state, roll)
        kernel = problem.kernel_of(to)

        def chance(after: TurnState) -> float:
            if after.owned >> to & 1:
                return 0.0  # the conquest has been paid
            able = turn.spare(after, start)
            return float(kernel.win_probability(able, after.armies[to])) if able > 0 else 0.0

        return Turn(problem, problem.enemy, Rewards(all_of=1 << to)).results(state, roll, chance)

    def after(self, attackers: int, defenders: int, moved: int | None = None) -> "Live":
        """Return where the plan stands after the next roll.

        attackers, defenders: the armies that it cost; others than those in `results()` are refused.
        moved: how many armies move in if it conquers; `None` for as many as the plan says.
        """
        losses = whole_number(attackers, "attackers"), whole_number(defenders, "defenders")
        if losses not in self.results():
            known = ", ".join(f"{lost}-{killed}" for lost, killed in self.results())
            raise IllegalError(f"losses must be one of {known}, got {losses[0]}-{losses[1]}")
        return self._after(*losses, moved)

    def fought(self, left: int, defenders: int, moved: int | None = None) -> "Live":
        """Return where the plan stands after any number of rolls of the next battle.

        left: the armies that the attacking territory has left, all of them before any move in.
        defenders: those that the attacked territory has left; 0 if it is taken.
        moved: how many armies move in then; `None` for as many as the plan says.

        More armies than there are, and losses that the dice cannot cause, are refused.

        >>> from iacta.board import Board
        >>> from iacta.plan import TakeAll, best_plan
        >>> board = Board("two", ("A", "B"), (("A", "B"), ("B", "A")))
        >>> start = Position(board, "red", (Holding("red", 5), Holding("blue", 2)))
        >>> live = Live(best_plan(start, TakeAll("B")), start)
        >>> live.fought(4, 0).position.of("B"), live.fought(3, 1).position.of("A")
        (Holding(owner='red', armies=3), Holding(owner='red', armies=3))
        """
        move = self._next()
        mine, theirs = (self.position.of(name).armies for name in (move.start, move.to))
        least = self._problem.garrisons[self._at(move.start)]
        lost = mine - whole_number(left, "left", least=least, most=mine)
        return self._after(lost, theirs - whole_number(defenders, "defenders", most=theirs), moved)

    def _after(self, lost: int, killed: int, moved: int | None) -> "Live":
        move = self._next()
        mine = self.position.of(move.start).armies - lost
        theirs = self.position.of(move.to).armies - killed
        able = mine - self._problem.garrisons[self._at(move.start)]
        if not able and not theirs:
            raise IllegalError(
                f"left must be more than the garrison when {move.to} is taken, got {mine}"
            )
        play = self._play
        if theirs:
            owner = self.position.of(move.to).owner
            position = self._with(move, mine, Holding(owner, theirs))
            return Live(self.plan, position, play if play is None or able else play.lost(theirs))
        least = min(self._choice.least, able)
        usual = move.advance.get(able, able)
        number = usual if moved is None else whole_number(moved, "moved", least=least, most=able)
        position = self._with(move, mine - number, Holding(self.position.player, number))
        return Live(self.plan, position, play.won(able) if play and number == usual else None)

    def conquers(self, defenders: int) -> bool:
        """Return whether the next roll conquers if it costs so many defenders."""
        return self.position.of(self._next().to).armies == defenders

    def advances(self, attackers: int) -> tuple[int, int, int]:
        """Return the fewest and the most armies that may move in, and how many the plan moves in.

        attackers: the armies that the conquering roll cost.
        """
        move = self._next()
        able = self._able(move) - attackers
        return min(self._choice.least, able), able, move.advance.get(able, able)

    def _with(self, move: NextMove, mine: int, there: Holding) -> Position:
        holdings = dict(zip(self.position.board.territories, self.position.holdings, strict=True))
        holdings[move.start], holdings[move.to] = Holding(self.position.player, mine), there
        return replace(self.position, holdings=tuple(holdings.values()))
