"""Plans: a policy with its statistics, and a way to follow it attack by attack.

`Plan` is the result of a search. `Play` is a position in which a player follows a plan: it has the
next attack and its possible losses, even in the middle of a battle. A plan that fights each battle
to the end continues every battle, roll by roll, until one side cannot go on.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from iacta.board import Position
from iacta.inputs.checks import FrozenDict, quote, read_int, set_field
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.meanings import Unit
from iacta.inputs.reprs import DisplayMixin, PasteableMixin
from iacta.methods.kernel import Choice, Result
from iacta.plan.goals import Goal
from iacta.plan.policy import Policy
from iacta.plan.problem import AttackResult, PolicyAction, Problem, TurnState
from iacta.rules.rules import Rules


@dataclass(frozen=True, repr=False)
class Step(PasteableMixin):
    """A battle that the plan may fight, over one border.

    start: the attacking territory.
    to: the attacked territory.
    reach_probability: the chance that the battle is fought.
    conquer_probability: the chance that the battle is fought and won.
    expected_armies: the expected number of armies that move in after a victory; 0 if no victory is
        possible.
    advances: for each number of armies able to move after a victory, in ascending order: this
        number, the chance of a victory that leaves it, and the expected number of armies that move.
    """

    start: str
    to: str
    reach_probability: Unit
    conquer_probability: Unit
    expected_armies: float
    advances: tuple[tuple[int, float, float], ...] = ()

    def _summary(self) -> str:
        fought, won = self.reach_probability, self.conquer_probability
        return f"{self.start} to {self.to}, fought with {fought:.6g}, won with {won:.6g}"


@dataclass(frozen=True)
class TerritoryEnd:
    """The owner and armies of a territory at the end of the plan, as chance and expected value.

    name: the name of the territory.
    own_probability: the chance that the player owns the territory.
    expected_armies: the expected number of the player's armies on the territory, counted as 0 if
        another player owns it.
    """

    name: str
    own_probability: Unit
    expected_armies: float


@dataclass(frozen=True)
class Ending:
    """A battle with which the plan may end before it reaches the goal.

    start: the attacking territory.
    to: the attacked territory.
    probability: the chance that the last attack of the plan goes over this border and the goal is
        not reached.
    """

    start: str
    to: str
    probability: Unit


@dataclass(frozen=True, repr=False)
class NextMove(PasteableMixin):
    """The next attack of a plan.

    start, to: the attacking and the defending territory.
    advance: the number of armies that move in after a conquest, for each number of armies able to
        move.
    dice: the number of attack dice.
    worth: the value of continuing the plan: the chance to reach the goal, or the expected gain.
        Unless the plan's policy is exact, this is a lookahead estimate.
    """

    start: str
    to: str
    advance: Mapping[int, int]
    dice: int
    worth: float

    def __post_init__(self) -> None:
        set_field(self, "advance", FrozenDict(self.advance))

    def _summary(self) -> str:
        return f"{self.start} to {self.to}, {self.dice} dice, {self.worth:.6g}"


@dataclass(frozen=True, repr=False)
class Plan(DisplayMixin):
    """The best plan that the search found for a goal, with an upper bound on any plan.

    A plan decides after each roll and may break off a battle at any time, or it fights each battle
    to the end, which makes it short enough to print on a card. Plans are immutable and can be
    pickled. Their `repr` is not valid Python code.

    position: the position before the first battle.
    goal: the goal, with names spelled as on the board.
    rules: the rules for battles, except for territories with rules of their own.
    win_probability: the chance to reach the goal, or all goals in order; 0 for a `Worth`. It is
        exact if there is no `interval`.
    value: the expected payoff: the chance to reach the goal; for a `Worth`, the expected worth of
        the player's final holdings; for goals in order, the expected worth of the goals reached.
        It is `None` if there was not enough time to simulate a single game. The chance is then
        `None`, too, or 0 for a `Worth` or goals in order.
    upper_bound: an upper bound on the value of any legal play. If the plan fights each battle to
        the end, the bound covers only plans that do so.
    proven: whether no play has a value greater by more than 1e-9; false for an estimate.
    steps: the borders that the plan may attack over, most likely first.
    territories: all territories at the end of the plan, in the order of the board.
    endings: the battles with which the plan may end before it reaches the goal, most likely first.
    seconds: the duration of the search in seconds.
    policy: the policy behind the plan.
    stages: for goals in order, the chance to reach each goal and all goals before it. The chances
        are estimates if there is an `interval`. Empty for other goals, or without a `value`.
    play: `"rolls"` if the plan may decide after each roll, or `"battles"` if it fights each battle
        to the end.
    interval: the 95% interval of an estimated value; `None` for an exact value, or without a value.
    battles_value: the value of the best plan that fights each battle to the end, if known.
    games: the number of simulated games; 0 if the numbers are exact, or without a value.
    """

    position: Position
    goal: Goal
    rules: Rules
    win_probability: float | None
    value: float | None
    upper_bound: float
    proven: bool
    steps: tuple[Step, ...]
    territories: tuple[TerritoryEnd, ...]
    endings: tuple[Ending, ...]
    seconds: float = field(compare=False)
    policy: Policy = field(compare=False)
    stages: tuple[float, ...] = ()
    play: str = "rolls"
    interval: tuple[float, float] | None = None
    battles_value: float | None = None
    games: int = 0

    def _summary(self) -> str:
        shown = "no estimate yet" if self.value is None else f"{self.value:.6g}"
        found = f"{self.goal.phrase(self.position)}, {shown}"
        if self.proven:
            return f"{found}, proven best"
        within = "" if self.interval is None else " ({:.6g} to {:.6g})".format(*self.interval)
        return f"{found}{within}, upper bound {self.upper_bound:.6g}"

    @property
    def problem(self) -> Problem:
        """The problem that the plan solves: the turn (with rules and constraints) and the goal."""
        return self.policy.problem

    @property
    def gap(self) -> float:
        """The upper bound minus the value: no play improves the value by more."""
        return max(self.upper_bound - self.comparable_value, 0.0)

    @property
    def comparable_value(self) -> float:
        """The value, or a lookahead estimate if the plan has no value."""
        if self.value is not None:
            return self.value
        return self.problem.held + self.policy.decide(self.problem.start).value

    def follow(self) -> "Play":
        """Return a `Play` at the start of the plan."""
        return self.resume(self.position)

    def resume(self, position: Position) -> "Play":
        """Return a `Play` that follows the plan from the given position.

        position: any position with the same board and player. It may be in the middle of a battle,
            or a position that the plan would never reach.
        """
        if not isinstance(position, Position) or position.board != self.position.board:
            raise MalformedError(
                f"position must be on the board of the plan, got {quote(position)}"
            )
        if position.player != self.position.player:
            raise IllegalError(
                f"player must be {self.position.player}, as in the plan, got {position.player}"
            )
        return Play(self, position)

    def next_move(self, position: Position | None = None) -> NextMove | None:
        """Return the next attack, or `None` if the plan makes no more attacks.

        position: as for `resume`; `None` for the start of the plan.
        """
        return self.resume(self.position if position is None else position).next_move()


@dataclass(frozen=True, repr=False)
class Play(DisplayMixin):
    """A position in which a player follows a plan.

    plan: the plan.
    position: the current position.
    battle: the border of a battle that has begun and that the plan fights to the end, or `None`.
    state: the current state if the player owns a territory without armies, which `position` shows
        as unowned; otherwise `None`.

    >>> from iacta.board import Board, Holding
    >>> from iacta.plan import TakeAll, best_plan
    >>> board = Board("two", ("A", "B"), (("A", "B"), ("B", "A")))
    >>> start = Position(board, "red", (Holding("red", 5), Holding("blue", 1)))
    >>> play = best_plan(start, TakeAll("B")).follow()
    >>> play.move.start, play.move.to, play.move.dice, play.results()
    ('A', 'B', 3, ((0, 1), (1, 0)))
    >>> won = play.after(0, 1, 4)
    >>> won.position.find_holding("B"), won.move
    (Holding(owner='red', armies=4), None)
    """

    plan: Plan = field(compare=False)
    position: Position
    battle: tuple[str, str] | None = None
    state: TurnState | None = field(default=None, repr=False)

    def _summary(self) -> str:
        aim, move = self.plan.goal.phrase(self.plan.position), self.move
        return f"{aim}, over" if move is None else f"{aim}, next {move.start} to {move.to}"

    @cached_property
    def problem(self) -> Problem:
        """The problem of the plan, but starting in this position."""
        if self.state is not None:
            return self.plan.problem.at_state(self.state)
        if self.position == self.plan.position:
            return self.plan.problem
        return self.plan.problem.at(self.position)

    @cached_property
    def _policy(self) -> Policy:
        return self.plan.policy.at(self.problem)

    @cached_property
    def _decision(self) -> PolicyAction:
        """The next action: the policy's action, or another roll if a battle has begun."""
        start = self.problem.start
        if self.battle is not None:
            v, c = map(self.problem.place, self.battle)
            if not start.owned >> c & 1 and start.armies[v] > self.problem.garrisons[v]:
                return self._policy.evaluate_attack(start, v, c)
        return self._policy.decide(start)

    @property
    def is_over(self) -> bool:
        """Whether the plan makes no more attacks."""
        return self.move is None

    def next_move(self) -> NextMove | None:
        """Return the next attack, or `None` if the plan makes no more attacks."""
        return self.move

    @cached_property
    def move(self) -> NextMove | None:
        """The next attack, or `None` if the plan makes no more attacks."""
        found, problem = self._decision, self.problem
        if not found.dice:
            return None
        moved = {self._spare - each.attackers: each.moved for each in found.outcomes if each.moved}
        names = problem.name(found.start), problem.name(found.to)
        return NextMove(*names, dict(sorted(moved.items())), self._choice.dice, found.value)

    @property
    def value(self) -> float | None:
        """The value of continuing the plan: the chance to reach the goal, or the expected gain.

        The value is `None` if the plan makes no more attacks, or at the start of a plan without a
        value. Unless the plan is exact, it may be estimated from simulated games.
        """
        return self._worth[0]

    @property
    def is_exact(self) -> bool:
        """Whether `value` is exact, not estimated from simulated games."""
        return self._worth[1]

    @cached_property
    def _worth(self) -> tuple[float | None, bool]:
        if self.move is None:
            return None, True
        if self._policy.is_exact:
            return self.move.worth, True
        if self.position == self.plan.position:
            value = self.plan.value
            return value if value is None else value - self.problem.held, self.plan.interval is None
        return self._policy.value(self.problem.start)

    @property
    def is_reached(self) -> bool:
        """Whether the goal is reached and cannot be lost again."""
        return self.problem.goal.is_reached(self.problem.turn)

    def _next(self) -> PolicyAction:
        if not self._decision.dice:
            raise IllegalError("a plan that is over has no next move")
        return self._decision

    @property
    def _spare(self) -> int:
        """The attackers of the next attack, without the armies that must stay behind."""
        start = self._next().start
        return self.problem.turn.armies[start] - self.problem.garrisons[start]

    @cached_property
    def _choice(self) -> Choice:
        """The next attack: one roll, or a whole battle under rules that resolve battles at once."""
        found, spare, turn = self._next(), self._spare, self.problem.turn
        kernel, defenders = self.problem.kernels[found.to], turn.armies[found.to]
        if not kernel.is_rolled:
            return kernel.battle(spare, defenders)
        choices = kernel.rolls(turn.armies[found.start] - turn.rules.garrison, defenders, spare)
        if turn.whole_battles:  # a battle to the end is always rolled with as many dice as possible
            return kernel.rolls(spare, defenders)[0]
        return next(each for each in choices if each.dice == found.dice)

    def results(self) -> tuple[tuple[int, int], ...]:
        """Return the possible losses in the next roll as pairs (attackers lost, defenders lost)."""
        options = [option for throw in self._choice.throws for option in throw.options]
        return tuple(sorted({(lost, killed) for option in options for _, lost, killed in option}))

    def draw_losses(self, rng: "np.random.Generator") -> tuple[int, int]:
        """Roll the dice for the next attack and return the losses.

        rng: the random number generator. A defender with a choice of dice chooses the worst for the
            plan.
        """
        drawn = self._loss_chances
        shares = np.array([each.chance for each in drawn])
        found = drawn[int(rng.choice(len(drawn), p=shares / shares.sum()))]
        return found.attackers, found.defenders

    def loss_chances(self) -> list[Result]:
        """Return the possible losses in the next roll with their chances.

        A defender with a choice of dice is assumed to minimise the value of the plan or, in a
        battle that is fought to the end, to maximise the chance to keep the territory.

        >>> from iacta.board import Board, Holding
        >>> from iacta.plan import TakeAll, best_plan
        >>> board = Board("two", ("A", "B"), (("A", "B"), ("B", "A")))
        >>> start = Position(board, "red", (Holding("red", 6), Holding("blue", 4)))
        >>> play = best_plan(start, TakeAll("B"), "defender sees first").follow()
        >>> for chance, attackers, defenders in sorted(play.loss_chances()):
        ...     print(f"{chance:.3f} {attackers}-{defenders}")
        0.101 0-2
        0.125 1-0
        0.172 1-1
        0.227 2-0
        0.375 0-1
        """
        return [*self._loss_chances]

    @cached_property
    def _loss_chances(self) -> tuple[Result, ...]:
        found = self._next()
        kernel = self.problem.kernels[found.to]
        if not self.problem.turn.whole_battles or not kernel.is_rolled:
            return tuple(Result(*each[:3]) for each in found.outcomes)
        spare, defenders = self._spare, self.problem.turn.armies[found.to]
        drawn: dict[tuple[int, int], float] = {}
        for throw in self._choice.throws:
            reply = throw.options[kernel.find_worst_reply(throw, spare, defenders)]
            for p, lost, killed in reply:
                drawn[lost, killed] = drawn.get((lost, killed), 0.0) + throw.chance * p
        return tuple(Result(p, *losses) for losses, p in drawn.items())

    def after(self, attackers: int, defenders: int, moved: int | None = None) -> "Play":
        """Return the play (a new position) after the next roll.

        attackers, defenders: the armies that each side lost, one of the pairs in `results()`.
        moved: the number of armies that move in after a conquest; `None` to follow the plan.
        """
        losses = read_int(attackers, "attackers"), read_int(defenders, "defenders")
        if losses not in self.results():
            known = ", ".join(f"{lost}-{killed}" for lost, killed in self.results())
            raise IllegalError(f"losses must be one of {known}, got {losses[0]}-{losses[1]}")
        return self._apply_losses(*losses, moved)

    def apply_battle(self, left: int, defenders: int, moved: int | None = None) -> "Play":
        """Return the play (a new position) after one or more rolls of the next battle.

        left: the armies left on the attacking territory, before any armies move in.
        defenders: the armies left on the attacked territory; 0 after a conquest.
        moved: the number of armies that move in after a conquest; `None` to follow the plan.

        Impossible numbers raise an error.

        >>> from iacta.board import Board, Holding
        >>> from iacta.plan import TakeAll, best_plan
        >>> board = Board("two", ("A", "B"), (("A", "B"), ("B", "A")))
        >>> start = Position(board, "red", (Holding("red", 5), Holding("blue", 2)))
        >>> play = best_plan(start, TakeAll("B")).follow()
        >>> play.apply_battle(4, 0).position.find_holding("B")
        Holding(owner='red', armies=3)
        >>> play.apply_battle(3, 1).position.find_holding("A")
        Holding(owner='red', armies=3)
        """
        found = self._next()
        mine, theirs = (self.problem.turn.armies[t] for t in (found.start, found.to))
        least = self.problem.garrisons[found.start]
        lost = mine - read_int(left, "left", least=least, most=mine)
        killed = theirs - read_int(defenders, "defenders", most=theirs)
        if not self.problem.kernels[found.to].is_rolled:
            # Under these rules a battle is decided at once, not roll by roll.
            return self.after(lost, killed, moved)
        return self._apply_losses(lost, killed, moved)

    def _apply_losses(self, lost: int, killed: int, moved: int | None) -> "Play":
        found, problem, able = self._next(), self.problem, self._spare - lost
        battle, number = None, 0
        if not self.conquers(killed):
            if problem.turn.whole_battles and able:
                battle = problem.name(found.start), problem.name(found.to)
        elif not able:
            raise IllegalError(
                f"left must exceed the garrison after a conquest of {problem.name(found.to)}, "
                f"got {problem.garrisons[found.start]}"
            )
        else:
            least, most, number = self.advances(lost)
            if moved is not None:
                number = read_int(moved, "moved", least=least, most=most)
        after = problem.start.after(found, AttackResult(1.0, lost, killed, number, 0.0))
        position = problem.make_position(after)
        is_shown = after == TurnState.from_position(position)
        return Play(self.plan, position, battle, None if is_shown else after)

    def conquers(self, defenders: int) -> bool:
        """Return whether the next roll conquers the territory by killing `defenders` armies."""
        return self.problem.turn.armies[self._next().to] == defenders

    def advances(self, attackers: int) -> tuple[int, int, int]:
        """Return the limits on the number of armies that move in after the next roll conquers.

        The result is the smallest number, the largest number, and the number that the plan chooses.

        attackers: the number of attackers lost in the last roll.
        """
        found, able = self._next(), self._spare - attackers
        least = min(self._choice.least, able)
        usual = self.move.advance.get(able) if self.move is not None else None
        if usual is None:
            # The policy's action has no advance for this number, which several rolls have left.
            start = self.problem.start
            usual = self._policy.advance(start, found.start, found.to, able, least)
        return least, able, max(usual, least)

    def win_battle(self, able: int) -> "Play":
        """Return the play after a victory in the next battle.

        able: the number of armies able to move after the victory, at least 1.
        """
        garrison = self.problem.garrisons[self._next().start]
        return self.apply_battle(read_int(able, "able", least=1, most=self._spare) + garrison, 0)

    def lose_battle(self, defenders: int) -> "Play":
        """Return the play after a defeat in the next battle.

        defenders: the number of defenders left, at least 1.
        """
        found = self._next()
        most = self.problem.turn.armies[found.to]
        left = read_int(defenders, "defenders", least=1, most=most)
        return self.apply_battle(self.problem.garrisons[found.start], left)

    def list_successors(self) -> Iterator[tuple["Play", float]]:
        """Yield every possible play after the next attack, with its chance.

        An attack is a roll, or a whole battle if the plan fights each battle to the end.
        """
        if self._decision.dice:
            for each in self._decision.outcomes:
                yield (
                    self._apply_losses(each.attackers, each.defenders, each.moved or None),
                    each.chance,
                )
