"""Plans: what a player learns of one, and a plan that is followed.

A plan is a policy, and how it goes. From any position, also in the middle of a battle, it says what
to attack (`Play`). What that may cost is asked of the kernel. A plan that fights each battle to its
end goes on with the battle that has begun, roll by roll, as long as it can.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from iacta.board import Position
from iacta.inputs.checks import FrozenDict, quote, read_int, set_field
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.reprs import DisplayMixin, PasteableMixin
from iacta.methods.kernel import Choice, Result
from iacta.plan.goals import Goal
from iacta.plan.policy import Policy
from iacta.plan.problem import AttackResult, PolicyAction, Problem, TurnState
from iacta.rules.rules import Rules


@dataclass(frozen=True, repr=False)
class Step(PasteableMixin):
    """One border that the plan may attack over.

    start, to: the territory that attacks, and the one that is attacked.
    reach_probability: chance that this battle is fought.
    conquer_probability: chance that it is fought and won.
    expected_armies: expected number of armies that move in, given that it is won; 0 if it cannot
        be won.
    advances: what to do after the conquest: (armies left able to move, chance that it is won with
        that many left, expected number of those that move in then), the fewest first.
    """

    start: str
    to: str
    reach_probability: float
    conquer_probability: float
    expected_armies: float
    advances: tuple[tuple[int, float, float], ...] = ()

    def _summary(self) -> str:
        fought, won = self.reach_probability, self.conquer_probability
        return f"{self.start} to {self.to}, fought with {fought:.6g}, won with {won:.6g}"


@dataclass(frozen=True)
class TerritoryEnd:
    """One territory when the plan is over.

    name: its name.
    own_probability: chance that the player owns it.
    expected_armies: expected number of the player's armies on it, 0 counted where they do not
        own it.
    """

    name: str
    own_probability: float
    expected_armies: float


@dataclass(frozen=True)
class Ending:
    """A way in which the plan may fail.

    start, to: the battle whose loss ends it.
    chance: how likely that is.
    """

    start: str
    to: str
    chance: float


@dataclass(frozen=True, repr=False)
class NextMove(PasteableMixin):
    """What to do next.

    start, to: the territory that attacks, and the one that is attacked.
    advance: for each number of armies that may be left able to move after a conquest by this
        attack, how many of them move in.
    dice: how many dice to roll.
    worth: what going on is worth: the chance of the goal, or what is still gained on average. Where
        the plan is not proven, it is what the policy sees by looking ahead.
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
    """The best plan that was found for a goal, and how far it may be from the best there is.

    A plan decides after each roll, and may leave a battle after any of them; or it fights each
    battle to its end, so that it fits on a card. It does not change, and can be pickled, but not
    pasted back.

    position: who holds what before the first battle.
    goal: what it is for, with the names of the board.
    rules: the rules of all battles.
    win_probability: the chance that this plan reaches the goal, or all goals in order; with a
        `Worth` it is 0, and `value` counts. It is exact unless there is an `interval`.
    value: what the plan is worth on average: the chance, or with a `Worth` all that the player
        has at the end, or with goals in order what those that are reached are worth. `None`, as the
        chance, where there was no time for a single game.
    upper_bound: no play that the rules allow is worth more; of those that fight each battle to its
        end, if the plan does.
    proven: whether no play is worth more than this plan by more than 1e-9; an estimate proves
        nothing.
    steps: the borders that it may attack over, the most likely first.
    territories: all territories when it is over, in the order of the board.
    endings: where it may fail, the most likely first.
    seconds: how long it took to find.
    policy: what it does, whatever the dice show.
    stages: for goals in order, the chance that each of them, and all before it, is reached;
        estimated from games where there is an `interval`.
    play: `"rolls"`, or `"battles"` if it fights each battle to its end.
    interval: the interval at 95% for its value, where that is estimated from games; else `None`.
    battles_value: what the best plan that fights each battle to its end is worth, where that is
        known; else `None`.
    games: from how many games its numbers are estimated; 0 where they are exact.
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
        return f"{found}{within}, the best at most {self.upper_bound:.6g}"

    @property
    def problem(self) -> Problem:
        """The position, the goal, the rules and the constraints, as the planner has them."""
        return self.policy.problem

    @property
    def gap(self) -> float:
        """How much more than this plan the best one may be worth, at most."""
        return max(self.upper_bound - self.counted, 0.0)

    @property
    def counted(self) -> float:
        """What the plan counts as beside others: its value, without one what its policy sees."""
        if self.value is not None:
            return self.value
        return self.problem.held + self.policy.decide(self.problem.start).value

    def follow(self) -> "Play":
        """Return the plan before its first attack, to be followed."""
        return self.reached(self.position)

    def reached(self, position: Position) -> "Play":
        """Return the plan in a position, to be followed from there on.

        position: who holds what, also in the middle of a battle. It need not be one that the plan
            comes to; another board or player is refused.
        """
        if not isinstance(position, Position) or position.board != self.position.board:
            raise MalformedError(f"position must be one of the plan's board, got {quote(position)}")
        if position.player != self.position.player:
            raise IllegalError(
                f"player must be {self.position.player}, as in the plan, got {position.player}"
            )
        return Play(self, position)

    def next_move(self, position: Position | None = None) -> NextMove | None:
        """Return what to do next, or `None` when there is nothing left to do.

        position: as for `reached`; `None` for the start.
        """
        return self.reached(self.position if position is None else position).next_move()


@dataclass(frozen=True, repr=False)
class Play(DisplayMixin):
    """A plan and where it is.

    plan: the plan.
    position: who holds what now.
    battle: the border of a battle that has begun and is to be fought to its end, if there is one.
    state: who owns what, where the player owns a territory that all armies have left, which
        `position` shows as nobody's; `None` elsewhere.

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
        """The goal, the rules and the constraints of the plan, from this position on."""
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
        """What the plan does here: it goes on with a battle that has begun, or chooses freely."""
        start = self.problem.start
        if self.battle is not None:
            v, c = map(self.problem.place, self.battle)
            if not start.owned >> c & 1 and start.armies[v] > self.problem.garrisons[v]:
                return self._policy.judge(start, v, c)
        return self._policy.decide(start)

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to attack."""
        return self.move is None

    def next_move(self) -> NextMove | None:
        """Return what to do next, or `None` when the plan is over."""
        return self.move

    @cached_property
    def move(self) -> NextMove | None:
        """What to do next, or `None` when the plan is over."""
        found, problem = self._decision, self.problem
        if not found.dice:
            return None
        moved = {self._spare - each.attackers: each.moved for each in found.outcomes if each.moved}
        names = problem.name(found.start), problem.name(found.to)
        return NextMove(*names, dict(sorted(moved.items())), self._choice.dice, found.value)

    @property
    def value(self) -> float | None:
        """What going on is worth: the chance of the goal, or what is still gained on average.

        `None` where the plan is over. Where the plan is not proven best, it may be estimated from
        some games that the plan plays from here on.
        """
        return self._worth[0]

    @property
    def is_exact(self) -> bool:
        """Whether `value` is exact, and not estimated from games."""
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
        """Whether the goal is reached, and nothing that follows can change that."""
        return self.problem.goal.is_reached(self.problem.turn)

    def _next(self) -> PolicyAction:
        if not self._decision.dice:
            raise IllegalError("a plan that is over has no next move")
        return self._decision

    @property
    def _spare(self) -> int:
        """How many armies may leave the territory that attacks next."""
        start = self._next().start
        return self.problem.turn.armies[start] - self.problem.garrisons[start]

    @cached_property
    def _choice(self) -> Choice:
        """The next roll, or the next battle where these are decided at once."""
        found, spare, turn = self._next(), self._spare, self.problem.turn
        kernel, defenders = self.problem.kernels[found.to], turn.armies[found.to]
        if not kernel.is_rolled:
            return kernel.battle(spare, defenders)
        choices = kernel.rolls(turn.armies[found.start] - turn.rules.garrison, defenders, spare)
        if turn.whole_battles:  # all dice that the armies of the battle allow
            return kernel.rolls(spare, defenders)[0]
        return next(each for each in choices if each.dice == found.dice)

    def results(self) -> tuple[tuple[int, int], ...]:
        """Return what the next roll may cost: the armies of the player, and the defenders."""
        options = [option for throw in self._choice.throws for option in throw.options]
        return tuple(sorted({(lost, killed) for option in options for _, lost, killed in option}))

    def thrown(self, rng: "np.random.Generator") -> tuple[int, int]:
        """Return what the next roll costs with the dice of a generator.

        rng: the generator. A defender who may answer does what is worst for the plan.
        """
        drawn = self._chances
        shares = np.array([each.chance for each in drawn])
        found = drawn[int(rng.choice(len(drawn), p=shares / shares.sum()))]
        return found.attackers, found.defenders

    def chances(self) -> list[Result]:
        """Return what the next roll may cost, with the chance of each result.

        Where the defender may answer a throw, they do what is worst for the plan, as it sees it; in
        a battle that is fought to its end, they keep the territory as likely as they can.

        >>> from iacta.board import Board, Holding
        >>> from iacta.plan import TakeAll, best_plan
        >>> board = Board("two", ("A", "B"), (("A", "B"), ("B", "A")))
        >>> start = Position(board, "red", (Holding("red", 6), Holding("blue", 4)))
        >>> play = best_plan(start, TakeAll("B"), "defender sees first").follow()
        >>> for chance, attackers, defenders in sorted(play.chances()):
        ...     print(f"{chance:.3f} {attackers}-{defenders}")
        0.101 0-2
        0.125 1-0
        0.172 1-1
        0.227 2-0
        0.375 0-1
        """
        return [*self._chances]

    @cached_property
    def _chances(self) -> tuple[Result, ...]:
        found = self._next()
        kernel = self.problem.kernels[found.to]
        if not self.problem.turn.whole_battles or not kernel.is_rolled:
            return tuple(Result(*each[:3]) for each in found.outcomes)
        spare, defenders = self._spare, self.problem.turn.armies[found.to]
        drawn: dict[tuple[int, int], float] = {}
        for throw in self._choice.throws:
            reply = throw.options[kernel.careful_reply(throw, spare, defenders)]
            for p, lost, killed in reply:
                drawn[lost, killed] = drawn.get((lost, killed), 0.0) + throw.chance * p
        return tuple(Result(p, *losses) for losses, p in drawn.items())

    def after(self, attackers: int, defenders: int, moved: int | None = None) -> "Play":
        """Return where the plan is after the next roll.

        attackers, defenders: the armies that it cost; others than those in `results()` are refused.
        moved: how many armies move in if it conquers; `None` for as many as the plan says.
        """
        losses = read_int(attackers, "attackers"), read_int(defenders, "defenders")
        if losses not in self.results():
            known = ", ".join(f"{lost}-{killed}" for lost, killed in self.results())
            raise IllegalError(f"losses must be one of {known}, got {losses[0]}-{losses[1]}")
        return self._after(*losses, moved)

    def fought(self, left: int, defenders: int, moved: int | None = None) -> "Play":
        """Return where the plan is after any number of rolls of the next battle.

        left: the armies that the attacking territory has left, all of them before any move in.
        defenders: those that the attacked territory has left; 0 if it is taken.
        moved: how many armies move in then; `None` for as many as the plan says.

        More armies than there are, and losses that the dice cannot cause, are refused.

        >>> from iacta.board import Board, Holding
        >>> from iacta.plan import TakeAll, best_plan
        >>> board = Board("two", ("A", "B"), (("A", "B"), ("B", "A")))
        >>> start = Position(board, "red", (Holding("red", 5), Holding("blue", 2)))
        >>> play = best_plan(start, TakeAll("B")).follow()
        >>> play.fought(4, 0).position.find_holding("B")
        Holding(owner='red', armies=3)
        >>> play.fought(3, 1).position.find_holding("A")
        Holding(owner='red', armies=3)
        """
        found = self._next()
        mine, theirs = (self.problem.turn.armies[t] for t in (found.start, found.to))
        least = self.problem.garrisons[found.start]
        lost = mine - read_int(left, "left", least=least, most=mine)
        killed = theirs - read_int(defenders, "defenders", most=theirs)
        if not self.problem.kernels[found.to].is_rolled:  # the battle is one attack
            return self.after(lost, killed, moved)
        return self._after(lost, killed, moved)

    def _after(self, lost: int, killed: int, moved: int | None) -> "Play":
        found, problem, able = self._next(), self.problem, self._spare - lost
        battle, number = None, 0
        if not self.conquers(killed):
            if problem.turn.whole_battles and able:
                battle = problem.name(found.start), problem.name(found.to)
        elif not able:
            raise IllegalError(
                f"left must be more than the garrison when {problem.name(found.to)} is taken, "
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
        """Return whether the next roll conquers if it costs this many defenders."""
        return self.problem.turn.armies[self._next().to] == defenders

    def advances(self, attackers: int) -> tuple[int, int, int]:
        """Return the fewest and the most armies that may move in, and how many the plan moves in.

        attackers: the armies that the conquering roll cost.
        """
        found, able = self._next(), self._spare - attackers
        least = min(self._choice.least, able)
        usual = self.move.advance.get(able) if self.move is not None else None
        if usual is None:  # after several rolls
            start = self.problem.start
            usual = self._policy.advance(start, found.start, found.to, able, least)
        return least, able, max(usual, least)

    def won(self, able: int) -> "Play":
        """Return the plan after its next battle is won.

        able: the armies left able to move, at least 1.
        """
        garrison = self.problem.garrisons[self._next().start]
        return self.fought(read_int(able, "able", least=1, most=self._spare) + garrison, 0)

    def lost(self, defenders: int) -> "Play":
        """Return the plan after its next battle is fought to its end and lost.

        defenders: those left, at least 1.
        """
        found = self._next()
        most = self.problem.turn.armies[found.to]
        left = read_int(defenders, "defenders", least=1, most=most)
        return self.fought(self.problem.garrisons[found.start], left)

    def followers(self) -> Iterator[tuple["Play", float]]:
        """Yield the plan after each result of its next attack, with the chance of it.

        The attack is a roll, or the whole battle where the plan fights it to its end.
        """
        if self._decision.dice:
            for each in self._decision.outcomes:
                yield self._after(each.attackers, each.defenders, each.moved or None), each.chance
