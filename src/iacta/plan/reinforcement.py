"""New armies: where to place them before the first attack, jointly with the plan.

It is the same game with more actions: each placement leads to a state, and all of these are states
of one problem, in which all new armies are everywhere. So one search says what each of them is
worth. Where there are few states, that is the value of the best play, and all placements are
compared, so that the best is proven.

Elsewhere it is what one step of lookahead sees. Then all new armies are tried on one territory, for
each that they may help; then half of them on each of two; then the best of these is improved by
moving armies from one territory to another, first half of them and in the end one at a time, as
long as that gains. The few best placements are settled by plans with all the time there is.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import NamedTuple, TypeAlias, TypedDict, Unpack

from iacta.board import Holding, Position
from iacta.board.position import check_position
from iacta.game import Turn
from iacta.inputs.checks import quote, read_int, read_row
from iacta.inputs.errors import IllegalError
from iacta.inputs.reprs import DisplayMixin
from iacta.native.bit_sets import bits
from iacta.native.deadline import Deadline
from iacta.odds.search import find_least
from iacta.plan.best import Improved, Progress, plan_within, rising, usual_threads
from iacta.plan.goals import Goal
from iacta.plan.plan import Plan
from iacta.plan.problem import PLAYS, Problem, TurnState, read_problem
from iacta.plan.search import Search, Style
from iacta.probability.chances import Chance, read_chance
from iacta.probability.estimate import half_interval
from iacta.rules.rules import Rules

MAX_NEW = 1000  # armies; a search for the fewest ends there
FIRST_TRIED = 8
SETTLED = 2  # placements that are settled by plans with all the time there is
GAIN = 1e-9
MOST_PLACEMENTS = 2000  # that are all looked at
MOST_STATES = 50_000  # that may follow them
QUICK_STATES = 1_000  # the same for a quick look
FLOWED, GAMES = 2_000, 64  # states up to which quick play is followed to its end, and else games
LOOK_BUDGET = 0.05  # of the usual work, for a plan after a quick look
NEAR = 0.001  # a gap below it needs no plan
BOUND_VALUES = 20_000  # of relaxed games, for one bound
MANY_STATES = 10**6  # where there is a time limit
BEFORE, EXACT, QUICK = 0.2, 0.25, 0.3  # parts of the time that is left

Placement: TypeAlias = tuple[tuple[str, int], ...]  # (territory, new armies), the most first


class PlanOptions(TypedDict, total=False):
    """The rules and constraints of a plan, as for `best_plan`."""

    rules: Rules | str
    play: str
    rules_of: Mapping[str, Rules | str] | None
    garrison: int | None
    keep: Mapping[str, int] | None
    stay: Iterable[str] | str


def turn_options(turn: Turn) -> PlanOptions:
    """Return the rules and constraints of a turn, as options of a plan from where it is."""
    return {
        "rules": turn.rules,
        "play": PLAYS[turn.whole_battles],
        "rules_of": dict(turn.rules_of),
        "keep": dict(turn.keep),
        "stay": [
            name for name in turn.stay if turn.position.find_holding(name).owner == turn.player
        ],
    }


@dataclass(frozen=True)
class Marginal:
    """What new armies on one territory are worth, at a quick look.

    territory: the territory.
    one: the value of the plan with one more army there.
    all: its value with all new armies there.
    """

    territory: str
    one: float
    all: float


@dataclass(frozen=True, repr=False)
class Reinforcement(DisplayMixin):
    """Where to place new armies, and the plan that follows.

    armies: how many there are.
    placement: how many of them are placed where: (territory, new armies), the most first.
    plan: the plan with them; its position has them.
    before: the plan without them.
    quick: the value of a plan without them at a quick look, with which `marginals` can be compared.
    marginals: for each territory where they may be of use, what they are worth there, the best
        first.
    has_tried_all: whether all placements were compared, each with the best play after it.
    """

    armies: int
    placement: Placement
    plan: Plan
    before: Plan
    quick: float
    marginals: tuple[Marginal, ...]
    has_tried_all: bool = False

    def _summary(self) -> str:
        where = ", ".join(f"{number} on {name}" for name, number in self.placement)
        aim = self.plan.goal.phrase(self.plan.position)
        values = (
            "no estimate" if value is None else f"{value:.6g}"
            for value in (self.plan.value, self.before.value)
        )
        return f"{where}; {aim}, {' instead of '.join(values)}"


def placed(position: Position, placement: Iterable[tuple[str, int]]) -> Position:
    """Return a position with new armies.

    position: who holds what.
    placement: (territory, new armies), each territory the player's.

    >>> from iacta.board import Board
    >>> board = Board("two", ("A", "B"), (("A", "B"), ("B", "A")))
    >>> position = Position(board, "red", (Holding("red", 4), Holding("blue", 1)))
    >>> placed(position, [("A", 3)]).find_holding("A").armies
    7
    """
    holdings = dict(zip(position.board.territories, position.holdings, strict=True))
    for name, number in read_row(placement, "placement", "pairs"):
        found = position.board.find(name)
        if holdings[found].owner != position.player:
            raise IllegalError(
                f"new armies must be placed on territories of {position.player}, got {found}"
            )
        armies = holdings[found].armies + read_int(number, f"new armies on {found}")
        holdings[found] = Holding(position.player, armies)
    return replace(position, holdings=tuple(holdings.values()))


def reinforce(
    position: Position,
    goal: Goal,
    armies: int,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    improved: Callable[[Reinforcement], object] | None = None,
    **options: Unpack[PlanOptions],
) -> Reinforcement:
    """Return the best placement of new armies that the search finds, with its plan.

    position: who holds what before they are placed.
    goal: as for `best_plan`.
    armies: how many new armies there are, from 1 to 1000; all of them are placed.
    time_limit: the most seconds that it may take; `None` for no limit, with a result that is the
        same each time.
    progress: called with the value of the best plan and its bound, while plans are settled.
    improved: called with the best placement and its plan so far, while plans are settled.
    options: `rules`, `play`, `rules_of`, `garrison`, `keep` and `stay`, as for `best_plan`.

    >>> from iacta.board import Board
    >>> from iacta.plan import TakeAll
    >>> borders = ("A", "B"), ("B", "A"), ("C", "D"), ("D", "C")
    >>> board = Board("pairs", ("A", "B", "C", "D"), borders)
    >>> mine, theirs = Holding("red", 4), Holding("blue", 2)
    >>> position = Position(board, "red", (mine, theirs, mine, theirs))
    >>> found = reinforce(position, TakeAll("B,D"), 4)
    >>> found.placement, round(found.before.value, 4), round(found.plan.value, 4)
    ((('A', 2), ('C', 2)), 0.4303, 0.7917)
    """
    number = read_int(armies, "armies", least=1, most=MAX_NEW)
    deadline, progress = Deadline.of(time_limit), rising(progress)
    before = planned(position, goal, options, deadline.part(BEFORE), progress)
    found = _placements(position, goal, number, options, deadline)
    some = found.compared(number)
    marginals = [
        Marginal(each, found.value(((each, 1),)), found.value(((each, number),)))
        for each in found.places
    ]
    marginals.sort(key=lambda each: (-each.all, -each.one))

    def combine(placement: Placement, plan: Plan) -> Reinforcement:
        quick, all_tried = found.value(()), found.has_tried_all
        return Reinforcement(number, placement, plan, before, quick, tuple(marginals), all_tried)

    report = None if improved is None else lambda *pair: improved(combine(*pair))
    settled = _settled(position, some[:SETTLED], found, goal, options, deadline, progress, report)
    return combine(*settled)


def best_reinforced(
    position: Position,
    goal: Goal,
    armies: int,
    options: PlanOptions,
    deadline: Deadline,
    budget: float,
) -> Plan:
    """Return the best of the plans with the placements that look best, with bounded work.

    budget: how much work each of two plans may do, 1 for the usual.
    """
    problem = everywhere(position, goal, armies, options)
    values = QuickValues(problem, deadline.part(EXACT), QUICK_STATES)
    start = TurnState.from_position(position)
    found = Placements(start, values, deadline.part(EXACT + QUICK))
    few, plans = found.compared(armies)[:SETTLED], list[Plan]()
    for each in few:
        there = read_problem(placed(position, each), goal, **options)
        part = deadline.part(1 / (len(few) - len(plans)))
        plans.append(plan_within(there, part, budget=budget))
    return max(plans, key=lambda plan: plan.comparable_value)


def reinforcements_needed(
    position: Position,
    goal: Goal,
    chance: Chance,
    *,
    time_limit: float | None = None,
    **options: Unpack[PlanOptions],
) -> Reinforcement:
    """Return the fewest new armies with which a plan reaches a wanted chance, best placed.

    position: who holds what before they are placed.
    goal: `TakeAll` or `TakeAny`.
    chance: the wanted chance, between 0 and 1.
    time_limit: the most seconds that it may take; refused is what takes longer.
    options: as for `reinforce`.

    A `Reinforcement` without marginals; its number is 0 where no new armies are needed. With one
    army less no plan with that chance was found, though there might be one. A chance that 1000 new
    armies do not reach is refused.
    """
    wanted = read_chance(chance)
    if not isinstance(goal, Goal) or not goal.is_chance:
        raise IllegalError(f"goal must be TakeAll or TakeAny to have a chance, got {quote(goal)}")
    deadline = Deadline.of(time_limit)

    @cache
    def add_armies(number: int) -> tuple[Placements, list[Placement]]:
        if deadline.is_over:
            raise IllegalError(
                f"time_limit must be more to find the fewest armies, got {time_limit} seconds",
                parameter="time_limit",
            )
        found = _placements(position, goal, number, options, deadline)
        return found, found.compared(number)[:SETTLED]

    @cache
    def best(number: int) -> tuple[Placement, Plan]:
        found, some = add_armies(number)
        return _settled(position, some, found, goal, options, deadline)

    def promises(number: int) -> bool:
        found, some = add_armies(number)
        return found.value(some[0]) >= wanted

    before = planned(position, goal, options, deadline.part(BEFORE))
    quick, fewest = add_armies(0)[0].value(()), 0
    if before.comparable_value < wanted:
        number = find_least(promises, FIRST_TRIED, step=FIRST_TRIED, most=MAX_NEW)
        if number is None:
            raise IllegalError(f"{MAX_NEW} new armies do not reach a chance of {chance}")
        while number < MAX_NEW and best(number)[1].comparable_value < wanted:
            number += 1  # a quick look has promised too much
        while number > 1 and best(number - 1)[1].comparable_value >= wanted:
            number -= 1  # a settled plan does with fewer
        fewest = number
    placement, plan = best(fewest) if fewest else ((), before)
    return Reinforcement(fewest, placement, plan, before, quick, ())


def _placements(
    position: Position, goal: Goal, armies: int, options: PlanOptions, deadline: Deadline
) -> "Placements":
    problem = everywhere(position, goal, armies, options)
    states = MANY_STATES if deadline.limited else MOST_STATES
    values = QuickValues(problem, deadline.part(EXACT), states)
    start = TurnState.from_position(position)
    return Placements(start, values, deadline.part(EXACT + QUICK))


def _settled(
    position: Position,
    placements: Sequence[Placement],
    found: "Placements",
    goal: Goal,
    options: PlanOptions,
    deadline: Deadline,
    progress: Progress | None = None,
    improved: Callable[[Placement, Plan], object] | None = None,
) -> tuple[Placement, Plan]:
    """Return the best of some placements, with its plan.

    position: who holds what before they are placed.
    placements: the best of them first.
    improved: called with the best placement so far and its plan.
    """
    few = placements[:1] if found.has_tried_all else placements
    best: tuple[Placement, Plan] | None = None

    def report(placement: Placement, plan: Plan) -> None:
        if improved is not None and (
            best is None or plan.comparable_value > best[1].comparable_value
        ):
            improved(placement, plan)

    for done, each in enumerate(few):
        part = deadline.part(1 / (len(few) - done))
        there = placed(position, each)
        plan = planned(there, goal, options, part, progress, improved=partial(report, each))
        if best is None or plan.comparable_value > best[1].comparable_value:
            best = each, plan
    assert best is not None  # noqa: S101 # there is a placement
    return best


def planned(
    position: Position,
    goal: Goal,
    options: PlanOptions,
    deadline: Deadline,
    progress: Progress | None = None,
    budget: float = 1.0,
    improved: Improved | None = None,
) -> Plan:
    problem, work = read_problem(position, goal, **options), None if deadline.limited else budget
    return plan_within(
        problem,
        deadline,
        budget=work,
        threads=usual_threads(),
        progress=progress,
        improved=improved,
    )


class QuickValues:
    """What states of a problem are worth at a quick look.

    That is the value of the best play as long as there are few states, and else what lookahead
    sees.

    deadline: when the search for the best play must end.
    states: how many states it may look at.
    """

    def __init__(self, problem: Problem, deadline: Deadline, states: int) -> None:
        self.problem, self._deadline, self._states = problem, deadline, states
        self.proven = states > 0  # whether all values so far are those of the best play
        self._search = _make_search(problem)
        self._known: dict[TurnState, float] = {}

    def of(self, state: TurnState) -> float:
        """Return what is still paid on average."""
        if state not in self._known:
            value = None
            if self.proven:
                value = self._search.solve(self._deadline, self._states, state)
            if self.proven and value is None:
                self._known.clear()
                self._search, self.proven = _make_search(self.problem), False
            self._known[state] = self._search.decide(state).value if value is None else value
        return self._known[state]

    def reached(self, state: TurnState) -> tuple[float, tuple[float, float] | None, float]:
        """Return what quick play is paid from a state on, its interval, and the armies it leaves.

        The interval, at 95%, is `None` where nothing is estimated from games.
        """
        self.of(state)
        report, interval = self._search.flow(Deadline(), FLOWED, state), None
        value = 0.0 if report is None else report.value
        if report is None:
            gains, report = self._search.play(Deadline(), GAMES, start=state)
            value, half = max(float(gains.mean()), 0.0), half_interval(gains)
            interval = max(value - half, 0.0), value + half
        touched = self.problem.field | self.problem.stacks
        idle = sum(state.armies[t] for t in bits(state.owned & ~touched))
        return value, interval, idle + sum(report.armies[t] for t in bits(touched))


def _make_search(problem: Problem) -> Search:
    """Return lookahead whose values can be compared with those of other positions."""
    search = Search(problem)
    search.follow(None, Style(idle=0.0))
    return search


def everywhere(position: Position, goal: Goal, armies: int, options: PlanOptions) -> Problem:
    """Return the problem with some new armies on each territory of the player."""
    check_position(position)
    mine = position.list_territories(position.player)
    return read_problem(placed(position, [(name, armies) for name in mine]), goal, **options)


class Placements:
    """Placements of new armies, and what they are worth at a quick look.

    start: who holds what before they are placed.
    values: those of the problem with all new armies everywhere, from this state or an
        earlier one.
    end: when the comparison must end.
    """

    def __init__(self, start: TurnState, values: QuickValues, end: Deadline) -> None:
        self.start, self.values, self.end = start, values, end
        problem = values.problem
        # Where new armies may be of use, the largest stacks first.
        self.places = tuple(
            problem.name(v)
            for v in sorted(bits(start.owned & ~problem.resting), key=lambda v: -start.armies[v])
            if problem.out[v] & problem.field & ~start.owned
        )
        # Whether the last `compared` looked at all placements, and found the best play after each.
        self.has_tried_all = False

    def value(self, placement: Placement) -> float:
        problem, state = self.values.problem, self.after(placement)
        paid = min(self.values.of(state), problem.rewards.most)
        return paid + problem.paid(state) + problem.held

    def rank(self, placement: Placement) -> float:
        """Return the number by which placements are compared."""
        state = self.after(placement)
        return self.values.of(state) + self.values.problem.paid(state)

    def after(self, placement: Placement) -> TurnState:
        """Return the state in which the new armies are placed."""
        return self.start.add_armies({self.values.problem.place(name): n for name, n in placement})

    def compared(self, armies: int) -> list[Placement]:
        """Return some placements of the armies, or all of them, the best first."""
        self.has_tried_all = False
        if not self.places:
            most = max(bits(self.start.owned), key=lambda v: self.start.armies[v])
            return [((self.values.problem.name(most), armies),) if armies else ()]
        if comb(armies + len(self.places) - 1, armies) <= MOST_PLACEMENTS:
            tried = list[Placement]()
            for row in combinations_with_replacement(self.places, armies):
                tried.append(_ordered(Counter(row)))
                self.rank(tried[-1])
                if not self.values.proven:
                    break
            self.has_tried_all = self.values.proven
        if not self.has_tried_all:
            tried = [*self._climbed(armies)]
        return sorted(tried, key=lambda each: (-self.rank(each), len(each)))

    def _climbed(self, armies: int) -> Iterator[Placement]:
        """Yield placements that are compared where there are too many."""
        alone: dict[str, Placement] = {each: ((each, armies),) for each in self.places}
        tried = dict.fromkeys(alone.values())
        least = self.rank(()) + GAIN
        places = [each for each in alone if self.rank(alone[each]) > least] or self.places
        for one, other in combinations(places, 2):
            if armies > 1 and not self.end.is_over:
                tried[_ordered({one: armies - armies // 2, other: armies // 2})] = None
        best, step = max(tried, key=self.rank), max(armies // 2, 1)
        while step and not self.end.is_over:
            moved = [*_moved(dict(best), places, step)]
            tried |= dict.fromkeys(moved)
            better = max(moved, key=self.rank, default=best)
            if self.rank(better) > self.rank(best) + GAIN:
                best = better
            else:
                step //= 2
        yield from tried


def _moved(placement: Mapping[str, int], places: Iterable[str], step: int) -> Iterator[Placement]:
    for start, there in placement.items():
        for to in places:
            if to != start and there >= step:
                changed = {**placement, start: there - step}
                changed[to] = changed.get(to, 0) + step
                yield _ordered({name: number for name, number in changed.items() if number})


def _ordered(placement: Mapping[str, int]) -> Placement:
    return tuple(sorted(placement.items(), key=lambda pair: (-pair[1], pair[0])))


# A quick look at a goal: what a first plan reaches, and what none can exceed.


class Look(NamedTuple):
    """What a quick look at a goal found."""

    chance: float  # that of the play that was found
    interval: tuple[float, float] | None  # at 95%, where it is estimated from games
    at_most: float  # no play has a greater chance, wherever the new armies are placed
    placement: Placement  # of the new armies
    left: float = 0.0  # the player's armies after the attacks, on average

    @property
    def low(self) -> float:
        """The lower end of what the play that was found may be worth."""
        return self.chance if self.interval is None else self.interval[0]


OUT_OF_REACH = Look(0.0, None, 0.0, ())


def quick_look(
    position: Position, goal: Goal, armies: int, options: PlanOptions, deadline: Deadline
) -> Look:
    """Return the chance of a goal at a first look, the new armies placed best.

    position: who holds what before they are placed.
    armies: how many new armies there are.
    """
    problem = everywhere(position, goal, armies, options)
    if problem.rewards.most <= 0.0:
        return OUT_OF_REACH
    values = QuickValues(problem, deadline, QUICK_STATES)
    placements = Placements(TurnState.from_position(position), values, deadline)
    best = placements.compared(armies)[0] if armies else ()
    chance, interval, left = values.reached(placements.after(best))
    if values.proven and (placements.has_tried_all or not armies):
        chance = min(placements.value(best), 1.0)
        return Look(chance, None, chance, best, left)
    at_most = min(next(Search(problem).bounds(deadline, BOUND_VALUES), 1.0), 1.0)
    if interval is not None:  # games have luck, by which their mean may exceed what can be
        chance = min(chance, at_most)
        interval = min(interval[0], at_most), min(interval[1], at_most)
    return Look(chance, interval, max(at_most, chance), best, left)


def quick_plan(
    position: Position, goal: Goal, options: PlanOptions, look: Look, deadline: Deadline
) -> Look:
    """Return the better of a look and a plan with the same placement, if that can gain much."""
    if look.at_most - look.low <= NEAR:
        return look
    problem = read_problem(placed(position, look.placement), goal, **options)
    plan = plan_within(problem, deadline, budget=LOOK_BUDGET)
    if plan.value is None or plan.value <= look.chance:
        return look
    at_most = max(look.at_most, plan.value)
    left = sum(each.expected_armies for each in plan.territories)
    return Look(plan.value, plan.interval, at_most, look.placement, left)
