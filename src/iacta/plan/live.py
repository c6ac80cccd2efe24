"""A plan that is followed live: what to do next, what the dice did, and where that leads.

From any position, also in the middle of a battle, the plan says what to roll. What a roll may cost
is asked of the kernel. Where the plan fights each battle to its end, it goes on with the battle
that has begun.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from iacta.board import Holding, Position
from iacta.checks import whole_number
from iacta.errors import IllegalError
from iacta.methods.kernel import Choice, Result
from iacta.plan.alternatives import quick_gain
from iacta.plan.goals import held_worth
from iacta.plan.plan import NextMove, Plan
from iacta.plan.problem import Problem, mask_of
from iacta.plan.turn import Turn

__all__ = ["Live"]


@dataclass(frozen=True)
class Live:
    """A plan and where it stands.

    plan: the plan.
    position: who holds what now.
    begun: the move of a battle that is to be fought to its end; `None` where there is none.

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
    begun: NextMove | None = None

    @cached_property
    def move(self) -> NextMove | None:
        """What to do next, or `None` when the plan is over."""
        if self.begun is not None:
            able = self._able(self.begun)
            dice = min(able, self._problem.rules_of(self._at(self.begun.to)).attack.kept)
            if dice > 0:
                return replace(self.begun, dice=dice)
        return self.plan.next_move(self.position)

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
        board, mine = self.position.board, self.position.player
        owned = mask_of(
            t for t in range(len(board.territories)) if self.position.holdings[t].owner == mine
        )
        armies = tuple(each.armies for each in self.position.holdings)
        return replace(self.plan.problem, armies=armies, owned=owned)

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

        rng: the generator. Where the defender may answer, he answers as the plan expects.
        """
        drawn = self._drawn_results()
        chances = np.array([each.chance for each in drawn])
        found = drawn[int(rng.choice(len(drawn), p=chances / chances.sum()))]
        return found.attackers, found.defenders

    def _drawn_results(self) -> list[Result]:
        problem, move = self._problem, self._next()
        turn = Turn(problem, problem.enemy, self.plan.rewards)
        state = turn.start()
        rolls = [
            roll
            for roll in turn.rolls(state)
            if (problem.name(roll.start), problem.name(roll.to)) == (move.start, move.to)
        ]
        roll = next((each for each in rolls if each.dice == move.dice), rolls[0])

        def worst(_: object) -> float:
            return 0.0

        return turn.results(state, roll, worst)

    def after(self, attackers: int, defenders: int, moved: int | None = None) -> "Live":
        """Return where the plan stands after the next roll.

        attackers, defenders: the armies that it cost; others than those in `results()` are refused.
        moved: how many armies move in if it conquers; `None` for as many as the plan says.
        """
        move = self._next()
        losses = whole_number(attackers, "attackers"), whole_number(defenders, "defenders")
        if losses not in self.results():
            known = ", ".join(f"{lost}-{killed}" for lost, killed in self.results())
            raise IllegalError(f"losses must be one of {known}, got {losses[0]}-{losses[1]}")
        mine = self.position.of(move.start).armies - losses[0]
        theirs = self.position.of(move.to).armies - losses[1]
        if theirs:
            begun = move if self.plan.play == "battles" else None
            owner = self.position.of(move.to).owner
            return Live(self.plan, self._with(move, mine, Holding(owner, theirs)), begun)
        able = mine - self._problem.garrisons[self._at(move.start)]
        least = min(self._choice.least, able)
        usual = move.advance.get(able, able)
        number = usual if moved is None else whole_number(moved, "moved", least=least, most=able)
        position = self._with(move, mine - number, Holding(self.position.player, number))
        return Live(self.plan, position)

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
