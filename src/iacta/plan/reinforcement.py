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
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import TypeAlias, TypedDict, Unpack

from iacta.board import Holding, Position
from iacta.board.position import check_position
from iacta.game import Turn
from iacta.inputs.checks import quote, read_int, read_row
from iacta.inputs.errors import IllegalError
from iacta.inputs.reprs import DisplayMixin
from iacta.native.bit_sets import bits, make_mask
from iacta.native.deadline import Deadline
from iacta.odds.search import find_least
from iacta.plan.best import Improved, Progress, plan_within, rising, usual_threads
from iacta.plan.goals import Goal
from iacta.plan.plan import Plan
from iacta.plan.problem import PLAYS, Problem, TurnState, read_problem
from iacta.plan.search import Search, Style
from iacta.probability.chances import Chance, read_chance
from iacta.probability.estimate import MIN_GAMES, half_interval
from iacta.rules.rules import Rules

MAX_NEW = 1000  # armies; a search for the fewest ends there
FIRST_TRIED = 8
SETTLED = 2  # placements that are settled by plans with all the time there is
GAIN = 1e-9
MAX_PLACEMENTS = 2000  # the most placements for a comparison of all of them
MAX_STATES = 50_000  # of all turns after the placements, for the best play
QUICK_STATES = 1_000  # the same for a quick look
SMALL_BOARD = 7  # territories with an owner up to which all placements are compared
SMALL_PLACEMENTS = 100_000  # the most placements there
MAX_FLOW_STATES = 2_000  # the most states for the exact value of a policy
GAMES = 64  # games that estimate the value where there are more states
MANY_STATES = 10**6  # where there is a time limit
BEFORE = 0.2  # the share of the time for the plan without new armies
COMPARED = 0.5  # the share of the time left for the comparison of placements
EXACT = 0.5  # the share of that time for the best play
FOLLOWED = 0.5  # the share of the time left for the exact value of a policy

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
        Marginal(each, found.value(one), found.value(all_there))
        for each in found.places
        if found.find_rank(one := ((each, 1),)) is not None
        and found.find_rank(all_there := ((each, number),)) is not None
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
    values = QuickValues(problem, deadline.part(COMPARED), QUICK_STATES)
    found = Placements(TurnState.from_position(position), values)
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
    states = MANY_STATES if deadline.limited else MAX_STATES
    values = QuickValues(problem, deadline.part(COMPARED), states)
    return Placements(TurnState.from_position(position), values)


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

    def make_report(placement: Placement) -> Improved | None:
        def report(plan: Plan) -> None:
            if improved is not None and (
                best is None or plan.comparable_value > best[1].comparable_value
            ):
                improved(placement, plan)

        return None if improved is None else report

    for done, each in enumerate(few):
        if best is not None and deadline.is_over:
            break
        part = deadline.part(1 / (len(few) - done))
        there = placed(position, each)
        plan = planned(there, goal, options, part, progress, improved=make_report(each))
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
    improved: Improved | None = None,
) -> Plan:
    return plan_within(
        read_problem(position, goal, **options),
        deadline,
        threads=usual_threads(),
        progress=progress,
        improved=improved,
    )


class QuickValues:
    """The values of the states of a problem at a quick look.

    A value is that of the best play as long as there are few states, and else the estimate of
    lookahead.

    deadline: when all of it must end; the search for the best play has a part of the time.
    states: the most states of that search.
    """

    def __init__(self, problem: Problem, deadline: Deadline, states: int) -> None:
        self.problem, self.deadline = problem, deadline
        self.proven = states > 0  # whether all values so far are those of the best play
        self._exact, self._states = deadline.part(EXACT), states
        self._search = _make_search(problem)
        self._known: dict[TurnState, float] = {}

    def find(self, state: TurnState) -> float | None:
        """Return the expected payoff from a state on, `None` where there is no time for it."""
        if state in self._known:
            return self._known[state]
        value = None
        if self.proven:
            value = self._search.solve(self._exact, self._states, state, is_short=True)
        if self.proven and value is None:
            self._known.clear()
            self._search, self.proven = _make_search(self.problem), False
        if value is None and not self.deadline.is_over:
            value = self._search.find_value(state, self.deadline)
        if value is not None:
            self._known[state] = value
        return value

    def play(
        self, state: TurnState, deadline: Deadline
    ) -> tuple[float, tuple[float, float] | None, float] | None:
        """Return the value of quick play from a state on, its interval, and the armies it leaves.

        The interval, at 95%, is `None` where the value is exact; all is `None` where there is no
        time for it.
        """
        self.find(state)
        if deadline.is_over:
            return None
        part = deadline.part(FOLLOWED)
        report, interval = self._search.flow(part, MAX_FLOW_STATES, state), None
        value = 0.0 if report is None else report.value
        if report is None:
            gains, report = self._search.play(deadline, GAMES, start=state)
            if len(gains) < MIN_GAMES:
                return None
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


def is_small(turn: Turn) -> bool:
    """Return whether a turn has so few territories that all placements are compared."""
    return sum(map(bool, turn.owners)) <= SMALL_BOARD


class Placements:
    """Placements of new armies, and their values at a quick look.

    start: who holds what before the armies are placed.
    values: those of the problem with all new armies everywhere, from this state or an
        earlier one. Their deadline ends the comparison, too.
    """

    def __init__(self, start: TurnState, values: QuickValues) -> None:
        self.start, self.values = start, values
        problem = values.problem
        distances = _find_distances(problem)
        # Where new armies may be of use, the nearest to the goal first, then the largest stacks.
        self.places = tuple(
            problem.name(v)
            for v in sorted(
                bits(start.owned & ~problem.resting), key=lambda v: (distances[v], -start.armies[v])
            )
            if problem.out[v] & problem.field & ~start.owned
        )
        # Whether the last `compared` looked at all placements, and found the best play after each.
        self.has_tried_all = False

    def value(self, placement: Placement) -> float:
        """Return the value of a placement; of one without a rank, the value of an end at once."""
        problem, state = self.values.problem, self.after(placement)
        paid = min(self.values.find(state) or 0.0, problem.rewards.most)
        return paid + problem.paid(state) + problem.held

    def find_rank(self, placement: Placement) -> float | None:
        """Return the number by which placements are compared, `None` where there is no time."""
        state = self.after(placement)
        value = self.values.find(state)
        return None if value is None else value + self.values.problem.paid(state)

    def after(self, placement: Placement) -> TurnState:
        """Return the state in which the new armies are placed."""
        return self.start.add_armies({self.values.problem.place(name): n for name, n in placement})

    def compared(self, armies: int) -> list[Placement]:
        """Return some placements of the armies, or all of them, the best first.

        The first one is there even where there is no time to compare any.
        """
        self.has_tried_all = False
        if not self.places:
            most = max(bits(self.start.owned), key=lambda v: self.start.armies[v])
            return [((self.values.problem.name(most), armies),) if armies else ()]
        most = SMALL_PLACEMENTS if is_small(self.values.problem.turn) else MAX_PLACEMENTS
        ranks = dict[Placement, float]()
        if comb(armies + len(self.places) - 1, armies) <= most and self.values.proven:
            for row in combinations_with_replacement(self.places, armies):
                if not self._rank(_ordered(Counter(row)), ranks) or not self.values.proven:
                    break
            self.has_tried_all = self.values.proven
        if not self.has_tried_all:
            ranks = self._climb(armies)
        alone = ((self.places[0], armies),) if armies else ()
        return sorted(ranks, key=lambda each: (-ranks[each], len(each))) or [alone]

    def _rank(self, placement: Placement, ranks: dict[Placement, float]) -> bool:
        """Add the rank of a placement to some ranks; return whether there was time for it."""
        if placement not in ranks:
            rank = self.find_rank(placement)
            if rank is None:
                return False
            ranks[placement] = rank
        return True

    def _climb(self, armies: int) -> dict[Placement, float]:
        """Return the ranks of the placements that are compared where there are too many."""
        was_proven = self.values.proven
        ranks = self._find_ranks(armies)
        # A search that breaks off leaves values of two kinds, which do not compare.
        return self._find_ranks(armies) if was_proven and not self.values.proven else ranks

    def _find_ranks(self, armies: int) -> dict[Placement, float]:
        ranks = dict[Placement, float]()
        least, alone = self.find_rank(()), dict[str, Placement]()
        for place in self.places:
            alone[place] = ((place, armies),) if armies else ()
            if not self._rank(alone[place], ranks):
                return ranks
        least = (least or 0.0) + GAIN
        places = [each for each in alone if ranks[alone[each]] > least] or self.places
        for one, other in combinations(places, 2):
            pair = _ordered({one: armies - armies // 2, other: armies // 2})
            if armies > 1 and not self._rank(pair, ranks):
                return ranks
        best, step = max(ranks, key=lambda each: ranks[each]), max(armies // 2, 1)
        while step:
            moved = [*_moved(dict(best), places, step)]
            if not all(self._rank(each, ranks) for each in moved):
                return ranks
            better = max(moved, key=lambda each: ranks[each], default=best)
            if ranks[better] > ranks[best] + GAIN:
                best = better
            else:
                step //= 2
        return ranks


def _find_distances(problem: Problem) -> dict[int, int]:
    """Return for each territory how many attacks it is away from the targets of a problem.

    A problem whose territories pay one by one has no targets; then all distances are 0.
    """
    wanted = make_mask(map(problem.place, problem.goal.names)) & ~problem.owned
    found, near = dict.fromkeys(range(len(problem.out)), 0), wanted
    if not wanted:
        return found
    seen, distance = wanted, 0
    while near := make_mask(v for v, out in enumerate(problem.out) if out & near) & ~seen:
        distance += 1
        seen |= near
        found |= dict.fromkeys(bits(near), distance)
    return found


def _moved(placement: Mapping[str, int], places: Iterable[str], step: int) -> Iterator[Placement]:
    for start, there in placement.items():
        for to in places:
            if to != start and there >= step:
                changed = {**placement, start: there - step}
                changed[to] = changed.get(to, 0) + step
                yield _ordered({name: number for name, number in changed.items() if number})


def _ordered(placement: Mapping[str, int]) -> Placement:
    return tuple(sorted(placement.items(), key=lambda pair: (-pair[1], pair[0])))
