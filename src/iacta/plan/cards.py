"""Cards: what an eliminated player's cards bring, and how the turn goes on with them.

Who eliminates a player gets his cards. Here all sets that the cards in hand hold are traded in at
once, and the new armies are placed, in the same turn. What is on the cards is not known: they are
taken to be dealt at random from the 44 of the game, 14 of each of three symbols and two jokers. A
set is three cards of a symbol or one of each, where a joker stands for any symbol. So five cards
are certain to hold one.

The turn goes on from where the first plan ends, which is drawn at random. On a small board the new
armies are placed there as is best, and the turn goes on as well as can be (`Search.proven`).
Elsewhere a quick search places them, and the next plan is a quick one. So the chance that is
estimated is that of a definite way to play, which more time to think might improve.

What comes after the first goal depends on where armies stand then. So several first plans are
tried: the best one to reach the first goal, the best one for all goals in order, also with the
later goals worth far more, and plans to reach the first goal that are paid for armies left.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain
from math import comb
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from iacta.board import Holding, Position
from iacta.checks import put, row_of, shown, whole_number
from iacta.display import Displayed
from iacta.distribution import Distribution
from iacta.errors import IllegalError, MalformedError
from iacta.plan.ends import drawn_ends, set_chances
from iacta.plan.goals import Goal, InOrder, TakeAll, Worth, deed, names_in, read_goal
from iacta.plan.plan import Plan, best_plan
from iacta.plan.problem import mask_of
from iacta.plan.reinforce import Placement, PlanOptions, Search, late_after

if TYPE_CHECKING:
    import altair

__all__ = ["Continuation", "Trade", "go_on", "traded_armies"]

SYMBOL, JOKERS = 14, 2  # cards of each symbol, and jokers
DECK = 3 * SYMBOL + JOKERS
PROGRESSIVE = (4, 6, 8, 10, 12, 15)
STEP = 5
FIXED = (4, 6, 8, 10)
MOST_VALUE = 1000
ENDS = 48
PILOT = 4  # of the ends, this part tells which of two plans is better
SCOUTS = 4  # ends at which all placements are tried
RARE = 1e-4  # ends of a plan that succeeds less often are not drawn
PLANNED = 0.6  # of the time, for the first plans
LATER = 20.0  # what later goals are worth, next to the first, in a plan that is tried
ARMY = (0.01, 0.04)  # what an army left is worth, next to the first goal, in plans that are tried
MOST_STATES = 2_000  # of what follows an end, for the best play
NORMAL = 1.96


@dataclass(frozen=True)
class Trade:
    """What sets of cards bring.

    values: the armies for the next sets, in order. After the last of them each set brings what
        follows in 4, 6, 8, 10, 12, 15, if it stands there, and otherwise 5 more than the one
        before.
    is_fixed: whether instead each set brings the same at any time: 4, 6 or 8 for three of the
        first, second or third symbol, and 10 for one of each, as in the app's fixed mode.

    >>> [Trade().nth(k) for k in range(8)]
    [4, 6, 8, 10, 12, 15, 20, 25]
    >>> [Trade((10,)).nth(k) for k in range(4)]
    [10, 12, 15, 20]
    """

    values: tuple[int, ...] = PROGRESSIVE
    is_fixed: bool = False

    def __post_init__(self) -> None:
        values = row_of(self.values, "values", "whole numbers")
        if not values:
            raise IllegalError("missing values of sets")
        put(self, "values", tuple(whole_number(v, "values", 0, MOST_VALUE) for v in values))

    def nth(self, place: int) -> int:
        """Return what the set at a place brings, the next one being at 0."""
        if place < len(self.values):
            return self.values[place]
        last, more = self.values[-1], place - len(self.values) + 1
        if last in PROGRESSIVE:
            coming = PROGRESSIVE[PROGRESSIVE.index(last) + 1 :]
            if more <= len(coming):
                return coming[more - 1]
            last, more = PROGRESSIVE[-1], more - len(coming)
        return last + STEP * more


def traded_armies(cards: int, trade: Trade | None = None) -> Distribution[int]:
    """Return the distribution of the new armies that some cards bring, exactly.

    cards: how many there are, all dealt at random; at most 44.
    trade: what sets bring; `None` for 4, 6, 8, 10, 12, 15 and then 5 more each.

    >>> traded_armies(3)[4], traded_armies(5)
    (Fraction(200, 473), Distribution({4: 1}))
    """
    number = whole_number(cards, "cards", least=0, most=DECK)
    table = Trade() if trade is None else trade
    if not isinstance(table, Trade):
        raise MalformedError(f"trade must be a Trade, got {shown(trade)}")
    return Distribution.from_pairs(
        (_brought(hand, table), Fraction(ways)) for hand, ways in _hands(number)
    )


def _hands(cards: int) -> Iterator[tuple[tuple[int, int, int, int], int]]:
    """Yield how many cards of each symbol and jokers there may be, and in how many ways."""
    for jokers in range(min(cards, JOKERS) + 1):
        for one in range(min(cards - jokers, SYMBOL) + 1):
            for two in range(min(cards - jokers - one, SYMBOL) + 1):
                three = cards - jokers - one - two
                if three <= SYMBOL:
                    ways = comb(SYMBOL, one) * comb(SYMBOL, two) * comb(SYMBOL, three)
                    yield (one, two, three, jokers), ways * comb(JOKERS, jokers)


@cache
def _best_sets(hand: tuple[int, int, int, int], values: tuple[int, ...]) -> int:
    """Return the most that disjoint sets of a hand bring.

    values: what three of each symbol bring, and one of each.
    """
    best = 0
    for value, needed in zip(values, ((3, 0, 0), (0, 3, 0), (0, 0, 3), (1, 1, 1)), strict=True):
        missing = sum(max(n - have, 0) for n, have in zip(needed, hand[:3], strict=True))
        if missing <= hand[3]:
            left = [max(have - n, 0) for n, have in zip(needed, hand[:3], strict=True)]
            rest = (left[0], left[1], left[2], hand[3] - missing)
            best = max(best, value + _best_sets(rest, values))
    return best


def _brought(hand: tuple[int, int, int, int], trade: Trade) -> int:
    if trade.is_fixed:
        return _best_sets(hand, FIXED)
    return sum(map(trade.nth, range(_best_sets(hand, (1, 1, 1, 1)))))


@dataclass(frozen=True, repr=False)
class Continuation(Displayed):
    """A turn that goes on with new armies when the first goal is reached.

    plan: the plan that is followed until the first goal is reached.
    first: the chance that it is reached, exactly.
    armies: the distribution of the new armies, once it is reached.
    win_probability: an estimate of the chance that the first goal and the next one are reached.
    error: its standard error.
    without: the same without new armies, from the same ends.
    ends: from how many ends of the first plan they are estimated.
    """

    plan: Plan
    first: float
    armies: Distribution[int]
    win_probability: float
    error: float
    without: float
    ends: int

    def plot(self, *context: Any) -> "altair.TopLevelMixin":
        """Return the picture of the plan; `context` is as for `Displayed.plot`."""
        return self.plan.plot(*context)

    def _summary(self) -> str:
        aim = deed(self.plan.position, self.plan.goal)
        return f"{aim} and go on, {self.win_probability:.6g} (error {self.error:.2g})"

    @property
    def interval(self) -> tuple[float, float]:
        """An interval that has the chance in 95% of all cases."""
        low, high = (self.win_probability + s * NORMAL * self.error for s in (-1, 1))
        return max(low, 0.0), min(high, self.first)


def go_on(
    position: Position,
    goal: InOrder,
    armies: Distribution[int] | Mapping[int, float],
    *,
    ends: int = ENDS,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[float, float], object] | None = None,
    **options: Unpack[PlanOptions],
) -> Continuation:
    """Return the best turn that is found when reaching the first of two goals brings new armies.

    position: who holds what.
    goal: the goals in order; where there are more than two, the second is to reach all the others.
    armies: the distribution of the new armies, such as that of `traded_armies`.
    ends: from how many ends of the first plan the chance is estimated.
    seed: of the dice by which these are drawn.
    time_limit: about how many seconds it may take; `None` for a moderate search.
    progress, options: as for `reinforce`.

    Several plans are tried that begin the turn. All of them end as soon as the first goal is
    reached.
    """
    new = armies if isinstance(armies, Distribution) else Distribution(armies)
    number = whole_number(ends, "ends", least=1)
    if not isinstance(goal, InOrder) or len(goal.goals) < 2:
        raise IllegalError(f"goal must be at least two goals in order, got {shown(goal)}")
    plans = list(_first_plans(position, goal, time_limit, progress, options))
    late = late_after(time_limit, 1.0)
    tried = [_Turn(plan, goal, new, seed, late, options) for plan in plans]
    for turn in tried:
        turn.look_at(max(number // PILOT, 2))
    best = max(tried, key=lambda turn: turn.value)
    best.look_at(number)
    return best.continuation()


def _first_plans(
    position: Position,
    goal: InOrder,
    time_limit: float | None,
    progress: Callable[[float, float], object] | None,
    options: PlanOptions,
) -> Iterator[Plan]:
    """Yield plans that may begin the turn, each for the first goal or for all in order."""
    first, *others = goal.goals
    later = InOrder(goal.goals, (1.0, *(LATER for _ in others)))
    goals: list[Goal] = [first, goal, later]
    goals += [Worth(0.0, bonus=0.0, army=army, prizes=((first, 1.0),)) for army in ARMY]
    limit = None if time_limit is None else PLANNED * time_limit / len(goals)
    plans: list[Plan] = []
    for each in goals:
        plan = best_plan(position, each, time_limit=limit, progress=progress, **options)
        if isinstance(each, Worth):
            board, best = position.board, plans[0]
            names = names_in(best.goal)  # type: ignore[arg-type] # it is `TakeAll`
            (chance,) = set_chances(plan.policy, [mask_of(map(board.territories.index, names))])
            plan = replace(
                plan,
                goal=best.goal,
                win_probability=chance,
                value=chance,
                upper_bound=best.upper_bound,
                proven=False,
                battles_value=None,
            )
        plans.append(plan)
        yield plan


def divide(shape: tuple[tuple[str, float], ...], armies: int, places: tuple[str, ...]) -> Placement:
    """Return a placement of some armies in the parts of another one; empty if it cannot be.

    shape: the parts: (territory, part of the armies).
    armies: how many there are.
    places: where they may stand.

    >>> divide((("A", 0.75), ("B", 0.25)), 5, ("A", "B"))
    (('A', 4), ('B', 1))
    """
    if any(name not in places for name, _ in shape):
        return ()
    placed, passed, given = [], 0.0, 0
    for name, part in shape:
        passed += part
        until = round(passed * armies)
        if until > given:
            placed.append((name, until - given))
        given = until
    return tuple(sorted(placed, key=lambda pair: (-pair[1], pair[0])))


class _Turn:
    """A turn that begins with a plan, as far as its ends have been looked at."""

    def __init__(
        self,
        plan: Plan,
        goal: InOrder,
        armies: Distribution[int],
        seed: int,
        late: Callable[[], bool],
        options: PlanOptions,
    ) -> None:
        board = plan.position.board
        read = read_goal(goal, board)
        names = [names_in(each) for each in read.goals]  # type: ignore[union-attr] # in order
        self.plan, self.armies, self.late, self.options = plan, armies, late, options
        self.then = TakeAll(tuple(dict.fromkeys(chain(*names[1:]))))
        self.first = plan.stages[0] if plan.stages else plan.win_probability
        self.values: list[float] = []
        self.stays: list[float] = []
        self._shapes: dict[tuple[tuple[str, float], ...], None] = {}  # of placements
        self._is_large = False
        self._known: dict[tuple[Holding, ...], tuple[float, float]] = {}
        wanted = names[0]
        until = mask_of(map(board.territories.index, wanted))
        drawn = drawn_ends(plan.position, plan.policy, np.random.default_rng(seed), until)
        mine = plan.position.player
        self._ends = (end for end in drawn if all(end.of(name).owner == mine for name in wanted))

    def look_at(self, ends: int) -> None:
        """Look at more ends, until there are so many, or the time is over."""
        while self.first > RARE and len(self.values) < ends:
            if len(self.values) >= SCOUTS and self.late():
                return
            end = next(self._ends)
            if end.holdings not in self._known:
                self._known[end.holdings] = self._values_of(end)
            value, stay = self._known[end.holdings]
            self.values.append(value)
            self.stays.append(stay)

    def _values_of(self, end: Position) -> tuple[float, float]:
        """Return the chance to reach all goals from an end, with the new armies and without."""
        search = Search(end, self.then, self.options, self.late)
        values = {number: self._value_with(search, number) for number in {0, *self.armies}}
        whole = sum(float(p) * values[number] for number, p in self.armies.items())
        return whole, values[0]

    def _value_with(self, search: Search, number: int) -> float:
        """Return the chance to reach all goals from an end with some new armies."""
        if not self._is_large:
            exact = search.proven(number, MOST_STATES)
            if exact is not None:
                return exact[1]
            self._is_large = any(
                search.position.of(name).owner != search.position.player
                for name in names_in(self.then)
            )
        if not number:
            return search.value(())
        if len(self._known) < SCOUTS:
            placement = search.placements(number)[0]
            self._shapes |= {tuple((name, n / number) for name, n in placement): None}
        divided = [divide(shape, number, search.places) for shape in self._shapes]
        places = [name for shape in self._shapes for name, _ in shape]
        tried = [search.value(each) for each in divided if each]
        return max(search.best_of(places, number), *tried, 0.0)

    @property
    def value(self) -> float:
        """An estimate of the chance that all goals are reached."""
        return self.first * float(np.mean(self.values)) if self.values else 0.0

    def continuation(self) -> Continuation:
        """Return what is known of it."""
        count = len(self.values)
        error = float(np.std(self.values, ddof=1)) / count**0.5 if count > 1 else 0.0
        without = self.first * float(np.mean(self.stays)) if count else 0.0
        return Continuation(
            self.plan, self.first, self.armies, self.value, self.first * error, without, count
        )
