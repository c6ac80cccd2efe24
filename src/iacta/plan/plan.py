"""Plans: a policy with its statistics."""

from dataclasses import dataclass, field

from iacta.board import Position
from iacta.game import Turn
from iacta.inputs.meanings import Unit
from iacta.inputs.reprs import DisplayMixin, PasteableMixin
from iacta.plan.goals import Goal
from iacta.plan.margin import compute_largest_sacrifice
from iacta.plan.policy import Policy
from iacta.plan.problem import Problem


@dataclass(frozen=True, repr=False)
class Step(PasteableMixin):
    """A battle that the plan may fight, over one border.

    start: the attacking territory.
    to: the attacked territory.
    reach_probability: the chance that the battle is fought, in any course of the plan.
    conquer_probability: the chance that the battle is fought and won, in any course of the plan. It
        may exceed the chance of an earlier battle of the main line, because other ways may lead to
        this battle.
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
class Plan(DisplayMixin):
    """The best plan that the search found for a goal, with an upper bound on any plan.

    A plan decides after each roll and may break off a battle at any time, or it fights each battle
    to the end, which makes it short enough to print on a card. Plans are immutable and can be
    pickled. Their `repr` is not valid Python code.

    To follow a plan, play the turn by its policy: `policy(turn)` returns the next action in `turn`
    and in every later state of this turn, whatever the dice.

    turn: the turn before the first attack, with its rules and constraints.
    goal: the goal, with names spelled as on the board.
    win_probability: the chance to reach the goal, or all goals in order; 0 for a `Worth`. It is
        exact if there is no `interval`.
    value: the expected payoff: the chance to reach the goal; for a `Worth`, the expected worth of
        the player's final holdings; for goals in order, the expected worth of the goals reached.
        It is `None` if there was not enough time to simulate a single game. The chance is then
        `None`, too, or 0 for a `Worth` or goals in order.
    upper_bound: an upper bound on the value of any legal play. If the plan fights each battle to
        the end, the bound covers only plans that do so.
    proven: whether the greatest value of any play is known to within 1e-9: `value`, or with a
        margin `value + sacrifice`.
    steps: the borders that the plan may attack over, most likely first.
    territories: all territories at the end of the plan, in the order of the board.
    endings: the battles with which the plan may end before it reaches the goal, most likely first.
    seconds: the duration of the search in seconds.
    policy: the policy behind the plan.
    stages: for goals in order, the chance to reach each goal and all goals before it. The chances
        are estimates if there is an `interval`. Empty for other goals, or without a `value`.
    interval: the 95% interval of an estimated value; `None` for an exact value, or without a value.
    battles_value: the value of the best plan that fights each battle to the end, if known.
    price: the price of a lost army by which plans were compared (see `iacta.plan.margin`); 0
        without a margin.
    sacrifice: the value that this plan gives up to lose fewer armies.
    greatest: the plan with the greatest value, if it is another plan.
    games: the number of simulated games; 0 if the numbers are exact, or without a value.

    >>> from iacta import Board, TakeAll, Turn, best_plan
    >>> board = Board.from_edges("row", [("A", "B"), ("B", "C")])
    >>> start = Position(board, "red", {"A": ("red", 7)}, others=("blue", 2))
    >>> turn = Turn(start)
    >>> plan = best_plan(turn, TakeAll("B,C"))
    >>> plan.policy(turn)
    Attack('A', 'B', 3)
    >>> turn = turn.after(plan.policy(turn), (0, 2))
    >>> turn.phase, plan.policy(turn)
    ('advance', Advance(6))
    """

    turn: Turn
    goal: Goal
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
    interval: tuple[float, float] | None = None
    battles_value: float | None = None
    games: int = 0
    price: float = 0.0
    sacrifice: float = 0.0
    greatest: "Plan | None" = field(default=None, compare=False)

    def _summary(self) -> str:
        shown = "no estimate yet" if self.value is None else f"{self.value:.6g}"
        found = f"{self.goal.phrase(self.position)}, {shown}"
        if self.proven:
            return f"{found}, proven best"
        within = "" if self.interval is None else " ({:.6g} to {:.6g})".format(*self.interval)
        return f"{found}{within}, upper bound {self.upper_bound:.6g}"

    @property
    def position(self) -> Position:
        """The position before the first attack."""
        return self.turn.position

    @property
    def problem(self) -> Problem:
        """The problem that the plan solves: the turn (with rules and constraints) and the goal."""
        return self.policy.problem

    @property
    def gap(self) -> float:
        """The upper bound minus the value: no play improves the value by more."""
        return max(self.upper_bound - self.comparable_value, 0.0)

    @property
    def margin(self) -> float:
        """The largest value that the plan may give up to lose fewer armies; 0 without a price."""
        if not self.price:
            return 0.0
        greatest = self.comparable_value + self.sacrifice - self.problem.held
        return compute_largest_sacrifice(self.problem, greatest)

    @property
    def expected_losses(self) -> float:
        """The expected number of armies that the player loses."""
        return self.problem.start.total - sum(
            territory.expected_armies for territory in self.territories
        )

    @property
    def comparable_value(self) -> float:
        """The value, or a lookahead estimate if the plan has no value."""
        if self.value is not None:
            return self.value
        return self.problem.held + self.policy.decide(self.problem.start).value
