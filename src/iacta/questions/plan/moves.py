"""The first attacks of a plan, ranked by the value they give up compared with the best attack."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from iacta.forms.sentences import add_noun
from iacta.game import Attack
from iacta.inputs.meanings import Count
from iacta.native.deadline import Deadline
from iacta.plan import Plan
from iacta.plan.alternatives import Alternative, list_first_attacks, select_best_per_border
from iacta.plan.problem import SearchState
from iacta.plan.report import list_main_line
from iacta.probability.distribution import Distribution
from iacta.questions.plan.sentences import format_value

MIN_CHANCE_LOSS = 0.0005  # minimum loss of a chance to show
MIN_POINTS_LOSS = 0.005  # minimum loss of points to show
MAX_SUCCESS_LOSS = 0.05  # a conquest that lowers the value by more than this is not the aim


class DiceChoice(NamedTuple):
    """A number of dice for a first attack.

    dice: the number of attack dice.
    loss: the value given up against the best first attack.
    results: the possible losses of a roll: `[mine, theirs]`.
    """

    dice: Count
    loss: float
    results: Sequence[Sequence[Count]]


class RankedMove(NamedTuple):
    """A possible first attack over one border, with its best number of dice.

    start: the attacking territory.
    to: the attacked territory.
    dice: the best number of attack dice.
    loss: the value given up against the best first attack.
    by_dice: each number of attack dice, the best first.
    words: the loss in words, such as `best` or `as good`.
    figure: the value as text.
    success: the value after a conquest with median losses, in words; `None` if no conquest is
        possible.
    is_single_roll: whether the attack helps for some rolls only, and a conquest with median losses
        lowers the value. The plan may then stop this battle after any roll.
    """

    start: str
    to: str
    dice: Count
    loss: float
    by_dice: Sequence[DiceChoice]
    words: str
    figure: str
    success: str | None
    is_single_roll: bool


def rank_moves(plan: Plan, deadline: Deadline) -> Iterator[RankedMove]:
    """Yield the first attacks, best first. Equally good attacks follow the order of the main line.

    deadline: when to stop evaluating attacks other than the plan's own.
    """
    every = list_first_attacks(plan, deadline)
    ways = select_best_per_border(every)
    line = [(leg.step.start, leg.step.to) for leg in list_main_line(plan)]
    ranked = []
    for way in ways:
        loss = ways[0].value - way.value
        rank = line.index(way[:2]) if way[:2] in line else len(line)
        order = 0.0 if is_negligible(plan, loss) else loss, rank
        ranked.append((order, way, loss))
    for number, (_, way, loss) in enumerate(sorted(ranked, key=lambda entry: entry[0])):
        by_dice = tuple(
            DiceChoice(
                other.dice,
                ways[0].value - other.value,
                [[*losses] for losses in plan.problem.turn.list_losses(Attack(*other[:3]))],
            )
            for other in every
            if other[:2] == way[:2]
        )
        words = describe_loss(plan, loss, number)
        figure = "no estimate yet" if plan.value is None else format_value(plan, way.value)
        success = _find_success(plan, way)
        is_single = (
            plan.goal.is_chance
            and success is not None
            and way.value - success.value > MAX_SUCCESS_LOSS
        )
        said = None if success is None else _describe_success(plan, success)
        if is_single:
            said = f"roll once, then plan again; {said}"
        more = words, figure, said, is_single
        yield RankedMove(way.start, way.to, way.dice, loss, by_dice, *more)


def is_negligible(plan: Plan, loss: float) -> bool:
    """Return whether a loss of value is too small to show, or within the margin."""
    return loss < (MIN_CHANCE_LOSS if plan.goal.is_chance else MIN_POINTS_LOSS) or (
        loss <= plan.margin
    )


def describe_loss(plan: Plan, loss: float, rank: int = 1) -> str:
    """Describe the value that a move gives up.

    rank: the rank of the move; 0 for the best.
    """
    if not rank:
        return "best"
    if plan.value is None:
        return "not compared"
    if is_negligible(plan, loss):
        return "as good"
    points = f"{100 * loss:.1f}" if plan.goal.is_chance else f"{loss:.2f}"
    return f"gives up {points} points"


class _Success(NamedTuple):
    """A battle that is won with median losses.

    armies: the number of the attacker's armies left.
    value: the value of the plan after the conquest.
    is_reached: whether the conquest reaches the goal.
    """

    armies: int
    value: float
    is_reached: bool


def _find_success(plan: Plan, way: Alternative) -> _Success | None:
    """Return the conquest with median losses, or `None` if no conquest is possible."""
    problem = plan.problem
    v, c = problem.place(way.start), problem.place(way.to)
    spare = problem.turn.armies[v] - problem.garrisons[v]
    if plan.value is None:
        return None
    throws = problem.turn.setting.kernels[c].battle(spare, problem.turn.armies[c]).throws
    won = [
        (spare - lost, p * chance.chance)
        for chance in throws
        for p, lost, killed in chance.options[0]
        if killed == problem.turn.armies[c] and spare > lost
    ]
    if not won:
        return None
    able = Distribution.from_pairs(won).median()
    armies, garrison = [*problem.start.armies], problem.garrisons[v]
    moved = max(plan.policy.advance(problem.start, v, c, able, 1), 1)
    armies[v], armies[c] = garrison + able - moved, moved
    state = SearchState(tuple(armies), problem.owned | 1 << c)
    if plan.goal.is_chance and plan.goal.is_reached(problem.make_turn(state)):
        return _Success(able + garrison, 1.0, is_reached=True)
    # If lookahead underestimates the plan, scale the value as `list_first_attacks` does.
    now, held = plan.policy.decide(problem.start).value, problem.held
    scale = 1.0 if plan.policy.is_exact or now <= 0.0 else (plan.comparable_value - held) / now
    after = held + scale * (problem.sum_payoffs(state) + plan.policy.decide(state).value)
    return _Success(able + garrison, after, is_reached=False)


def _describe_success(plan: Plan, success: _Success) -> str:
    """Describe the value of the goal after a battle is won with median losses."""
    figure = "100%" if success.is_reached else format_value(plan, success.value)
    left = add_noun(success.armies, "army", "armies")
    return f"{figure} once it is taken with {left} left"
