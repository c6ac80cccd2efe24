"""`Analysis`: the plans for the goals of one canonical turn, and the threats to its player.

A search at a level does the same work on every machine (`iacta.plan.levels`). Each goal has the
numbers of the highest level that was reached for it. A level that a deadline interrupts is
discarded as a whole.

A goal is offered if its plan of the level `quick` has a chance of at least 0.5%, and stays in the
list from then on. If goal g implies goal h and g has the greater chance, then h adopts the plan of
g, whose conquests also reach h.
"""

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, TypeAlias, TypeVar

from iacta.analysis.goals import (
    Conquest,
    GoalRecord,
    canonicalise,
    compute_bound,
    describe_goal,
    list_goals,
    list_implied,
    make_goal_key,
)
from iacta.game import Turn
from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.native.deadline import Deadline, run_in_threads
from iacta.plan.goal_plan import MIN_GOAL_CHANCE, OPEN_PHASES, GoalPlan, plan_goal
from iacta.plan.goals import Goal
from iacta.plan.levels import LEVELS, USUAL, Level, list_levels, read_level
from iacta.plan.named_goals import read_goal_record
from iacta.plan.placements import Placement
from iacta.war.games import WIN_NOW
from iacta.war.goals import ONE_CARD

MIN_LIKELY_CHANCE = 0.5  # larger goals with a greater chance come before the goal to take one card
MAX_ROUGH_GAP = 0.05  # a chance is rough if the upper bound exceeds it by more than this
GoalKey: TypeAlias = str  # a text that identifies a goal of a turn
Key = TypeVar("Key", bound=Hashable)

RANKS = {"": 0} | {name: number for number, name in enumerate(LEVELS, 1)}


@dataclass(frozen=True)
class GoalAnalysis:
    """The numbers of the plan for a goal of a turn.

    parameters: the goal as in logs, such as `{"take": "Asia"}`; together with the turn it
        determines the goal.
    words: the goal in words.
    is_offered: whether the goal belongs to the list of goals.
    is_chance: whether the value is a chance; otherwise it is the expected worth.
    level: the level of the search; empty if not even the first level was reached.
    value: the chance to reach the goal, or the expected worth; `None` without a level.
    interval: the 95% interval of an estimated value; `None` for an exact value.
    upper_bound: an upper bound on the value of any play.
    proven: whether no plan has a greater value.
    price: the price of a lost army by which plans are compared.
    margin: the largest value that the plan may give up to lose fewer armies.
    sacrifice: the value that the plan gives up.
    losses: the expected number of armies that the plan loses.
    left: the expected number of the player's armies after the attacks.
    placement: the new armies, as pairs of a territory and a number of armies.
    move_in: the number of armies to move in after a conquest; `None` in other phases.
    is_reached: whether the goal is reached.
    """

    parameters: GoalRecord
    words: str
    is_offered: bool = False
    is_chance: bool = True
    level: str = ""
    value: float | None = None
    interval: tuple[float, float] | None = None
    upper_bound: float = 1.0
    proven: bool = False
    price: float = 0.0
    margin: float = 0.0
    sacrifice: float = 0.0
    losses: float = 0.0
    left: float = 0.0
    placement: Placement = ()
    move_in: int | None = None
    is_reached: bool = False

    @property
    def key(self) -> GoalKey:
        """A text that identifies the goal."""
        return make_goal_key(self.parameters)

    @property
    def is_rough(self) -> bool:
        """Whether a better plan may have a much greater chance."""
        return self.value is None or (
            self.is_chance and self.upper_bound - self.value > MAX_ROUGH_GAP
        )

    def has_level(self, level: Level) -> bool:
        """Return whether the numbers have a level, or a higher level."""
        return RANKS[self.level] >= RANKS[level.name]


class AskedGoal(NamedTuple):
    """A goal whose numbers are wanted.

    parameters: the goal, as for `GoalAnalysis`.
    price: the price of a lost army since the goal began; `None` if the goal begins in this turn.
    """

    parameters: GoalRecord
    price: float | None = None


class Task(NamedTuple):
    """A search for the plan of a goal."""

    turn: Turn
    goal: Goal | None
    price: float | None
    parameters: GoalRecord
    words: str
    is_offered: bool

    @property
    def key(self) -> GoalKey:
        """A text that identifies the goal."""
        return make_goal_key(self.parameters)


@dataclass(frozen=True)
class Analysis:
    """The goals of a turn, with their numbers.

    turn: the canonical turn.
    goals: the goals in the order in which they are shown.
    level: the lowest level of the goals; empty without a level.
    is_complete: whether all goals have the level that was asked for.
    """

    turn: Turn
    goals: tuple[GoalAnalysis, ...]
    level: str
    is_complete: bool


Progress = Callable[[Analysis, float], object]
Improved = Callable[[GoalKey, GoalPlan], object]


def analyse(
    turn: Turn,
    level: Level = USUAL,
    *,
    goals: Sequence[AskedGoal] = (),
    has_offers: bool = True,
    known: Iterable[GoalAnalysis] = (),
    deadline: Deadline | None = None,
    progress: Progress | None = None,
    planned: Improved | None = None,
) -> Analysis:
    """Analyse the goals of a turn.

    turn: a turn in any phase; a finished turn counts as the next player's.
    level: the level to reach. The lower levels come first.
    goals: goals whose numbers are wanted.
    has_offers: whether the goals of the list are wanted.
    known: goals of an earlier analysis of the same turn. Goals that have the level keep their
        numbers.
    deadline: when to stop. It decides which level is reached.
    progress: a callback that receives the analysis after each level and its part of the work.
    planned: a callback that receives the key of each goal in `goals` and its plan.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1")
    >>> for each in analyse(turn).goals:
    ...     print(each.words, each.level, round(each.value, 4))
    eliminate blue usual 0.8894
    take one card usual 0.9996
    """
    search = _Analyser(canonicalise(turn), goals, known, deadline or Deadline())
    return search.run(level, has_offers=has_offers, progress=progress, planned=planned)


class _Analyser:
    """The state of `analyse`."""

    def __init__(
        self,
        turn: Turn,
        goals: Sequence[AskedGoal],
        known: Iterable[GoalAnalysis],
        deadline: Deadline,
    ) -> None:
        self.turn, self.deadline = turn, deadline
        self.known = {each.key: each for each in known}
        self.asked = [self._make_task(each.parameters, each.price) for each in goals]

    def _make_task(self, parameters: GoalRecord, price: float | None) -> Task:
        words = describe_goal(self.turn, parameters)
        goal = read_goal_record(self.turn, parameters)
        known = self.known.get(make_goal_key(parameters))
        is_offered = known is not None and known.is_offered
        return Task(self.turn, goal, price, parameters, words, is_offered)

    def run(
        self,
        level: Level,
        *,
        has_offers: bool,
        progress: Progress | None,
        planned: Improved | None,
    ) -> Analysis:
        """Reach a level; `has_offers`, `progress` and `planned` are as for `analyse`."""
        levels, is_complete = list_levels(level), False
        tasks = {each.key: each for each in self.asked}
        asked = {*tasks}
        try:
            if has_offers:
                for offer in self._list_offers():  # the first of two descriptions counts
                    first = tasks.setdefault(offer.key, offer)
                    tasks[offer.key] = first._replace(is_offered=True)
            for number, each in enumerate(levels, 1):
                wanted = [task for task in tasks.values() if not self._is_known(task, each)]
                found = find_plans(wanted, each, self.deadline)
                if found is None:
                    break
                for task in tasks.values():
                    self._offer_known(task)
                for task, plan in zip(wanted, found, strict=True):
                    self._add(task, plan)
                    if planned is not None and task.key in asked:
                        planned(task.key, plan)
                for key in [*tasks]:
                    if key not in asked and not self.known[key].is_offered:
                        del tasks[key], self.known[key]
                is_complete = each == level
                if progress is not None:
                    progress(self._make_analysis(tasks, is_complete), number / len(levels))
        except KeyboardInterrupt:
            self.deadline.stop()
            if not self.known:
                raise
        return self._make_analysis(tasks, is_complete)

    def _list_offers(self) -> Iterator[Task]:
        """Yield the goals that may be offered."""
        if self.turn.phase not in OPEN_PHASES or self.turn.winner is not None:
            return
        for words, parameters in list_goals(self.turn):
            if self.deadline.is_over:
                return
            goal = read_goal_record(self.turn, parameters)
            task = Task(self.turn, goal, None, parameters, words, is_offered=True)
            known = self.known.get(task.key)
            if goal is None or (goal.is_reached(self.turn) and "win" not in parameters):
                continue
            if (known is not None and known.is_offered) or may_succeed(task, self.deadline):
                yield task

    def _is_known(self, task: Task, level: Level) -> bool:
        known = self.known.get(task.key)
        if known is None or not known.has_level(level):
            return False
        return task.price is None or known.price == task.price

    def _offer_known(self, task: Task) -> None:
        """Offer a goal that an earlier analysis answered for another reason."""
        known = self.known.get(task.key)
        if known is not None and task.is_offered and (known.value or 0.0) >= MIN_GOAL_CHANCE:
            self.known[task.key] = replace(known, is_offered=True)

    def _add(self, task: Task, plan: GoalPlan) -> None:
        """Add the plan for a goal; a goal that was offered before stays in the list."""
        known = self.known.get(task.key)
        chance = plan.value or 0.0
        is_listed = known is not None and known.is_offered
        if task.is_offered and not is_listed:
            is_listed = chance >= MIN_GOAL_CHANCE
        self.known[task.key] = make_numbers(task, plan, is_offered=is_listed)

    def _make_analysis(self, tasks: Mapping[GoalKey, Task], is_complete: bool) -> Analysis:
        pairs = dict[GoalKey, tuple[Task, GoalAnalysis]]()
        for key, each in self.known.items():
            task = tasks.get(key) or self._make_task(each.parameters, None)
            pairs[key] = task, each
        for key, task in tasks.items():
            is_chance = task.goal is None or task.goal.is_chance
            unknown = GoalAnalysis(*task[3:5], is_offered=False, is_chance=is_chance)
            pairs.setdefault(key, (task, unknown))
        ordered = order_goals(pairs, {key for key, (_, each) in pairs.items() if each.is_offered})
        levels = [ordered[key].level for key in tasks]
        level = min(levels, key=RANKS.__getitem__, default="")
        return Analysis(
            self.turn, tuple(sorted(ordered.values(), key=_make_sort_key)), level, is_complete
        )


def _make_sort_key(each: GoalAnalysis) -> tuple[bool, bool, bool, float, str]:
    value = each.value or 0.0
    is_win = each.words == WIN_NOW and value >= MIN_GOAL_CHANCE
    is_large = each.words != ONE_CARD and value > MIN_LIKELY_CHANCE
    return not each.is_offered, not is_win, not is_large, -value, each.words


def may_succeed(task: Task, deadline: Deadline) -> bool:
    """Return whether the upper bound of a goal is large enough to offer the goal.

    The bound of a turn after a conquest is that of its largest and its smallest advance.
    """
    turn, goal = task.turn, task.goal
    if goal is None or goal.is_reached(turn):
        return True
    starts = [turn]
    if turn.phase == "advance":
        actions = [*turn.actions()]
        starts = [turn.after(actions[0]), turn.after(actions[-1])]
    return any(compute_bound(start, goal, deadline) >= MIN_GOAL_CHANCE for start in starts)


def find_plans(tasks: Sequence[Task], level: Level, deadline: Deadline) -> list[GoalPlan] | None:
    """Return the plans for some goals at a level; `None` if the deadline interrupts the search."""

    def work(number: int, part: Deadline) -> GoalPlan:
        task = tasks[number]
        return plan_goal(task.turn, task.goal, level, part, price=task.price)

    found = dict(run_in_threads(work, range(len(tasks)), deadline.disable_shares()))
    is_done = len(found) == len(tasks) and not deadline.is_over
    return [found[number] for number in range(len(tasks))] if is_done else None


def make_numbers(task: Task, found: GoalPlan, *, is_offered: bool) -> GoalAnalysis:
    """Return the numbers of a goal from its plan."""
    plan = found.plan
    goal = found.goal
    return GoalAnalysis(
        task.parameters,
        task.words,
        is_offered,
        goal is None or goal.is_chance,
        found.level.name if found.level else "",
        found.value,
        found.interval,
        found.upper_bound,
        plan is None or plan.proven,
        plan.price if plan else 0.0,
        plan.margin if plan else 0.0,
        plan.sacrifice if plan else 0.0,
        found.losses,
        found.left,
        found.placement,
        found.move_in.best if found.move_in else None,
        plan is None and found.value == 1.0 and (goal is None or goal.is_chance),
    )


def order_goals(
    goals: Mapping[Key, tuple[Task, GoalAnalysis]], listed: Container[Key]
) -> dict[Key, GoalAnalysis]:
    """Order the chances of a player's goals: no goal is likelier than a goal that it implies.

    goals: the numbers of each goal.
    listed: the goals whose numbers must not depend on other goals. They adopt no plans of other
        goals; the others have at most the chances of the listed goals that they imply.
    """
    conquests = {
        key: Conquest.for_goal(task.goal, task.turn)
        for key, (task, each) in goals.items()
        if task.goal is not None and task.goal.is_chance and not each.is_reached
    }
    alone = {key: each for key, (_, each) in goals.items()}
    some = {key: each for key, each in conquests.items() if key in listed}
    found = _order(alone, list_implied(conquests)) | {
        key: each for key, each in _order(alone, list_implied(some)).items() if key in listed
    }
    for key, names in list_implied(conquests).items():
        chances = (found[name].value for name in names if name in listed)
        least = min((chance for chance in chances if chance is not None), default=1.0)
        if key not in listed and (found[key].value or 0.0) > least:
            found[key] = replace(found[key], value=least, interval=None)
    return found


def _order(
    goals: Mapping[Key, GoalAnalysis], implied: Mapping[Key, Sequence[Key]]
) -> dict[Key, GoalAnalysis]:
    """Order the chances of some goals. A bound of an implied goal is also a bound of the goal.

    An estimate may exceed the exact chance of an implied goal by its error. It is then lowered.
    """
    goals = {key: _lower_estimate(one, implied.get(key, ()), goals) for key, one in goals.items()}
    found = {**goals}
    for key, names in implied.items():
        for name in names:
            found[name] = _adopt(found[name], goals[key])
    for key, names in implied.items():
        bound = min((found[name].upper_bound for name in names), default=1.0)
        found[key] = _lower_bound(found[key], bound)
    return found


def _lower_bound(one: GoalAnalysis, bound: float) -> GoalAnalysis:
    """Return the numbers of a goal with an upper bound that is not above another bound."""
    if one.value is None or bound >= one.upper_bound:
        return one
    return replace(one, upper_bound=max(bound, one.value))


def _lower_estimate(
    one: GoalAnalysis, implied: Sequence[Key], goals: Mapping[Key, GoalAnalysis]
) -> GoalAnalysis:
    """Return the numbers of a goal with an estimate that agrees with exact implied goals."""
    exact = (goals[name].value for name in implied if goals[name].interval is None)
    least = min((chance for chance in exact if chance is not None), default=1.0)
    if one.value is None or one.interval is None or not one.interval[0] <= least < one.value:
        return one
    return replace(one, value=least)


def _adopt(other: GoalAnalysis, one: GoalAnalysis) -> GoalAnalysis:
    """Return the numbers of a goal, with the plan of a goal that implies it if that is better."""
    if one.value is None or other.value is None or one.value <= other.value:
        return other
    return replace(
        other,
        level=max(one.level, other.level, key=RANKS.__getitem__),
        value=one.value,
        interval=one.interval,
        upper_bound=max(other.upper_bound, one.value),
        proven=False,
        sacrifice=0.0,
        losses=one.losses,
        left=one.left,
        placement=one.placement,
        move_in=one.move_in,
    )


def goals_in_reach(
    turn: Turn,
    level: str = USUAL.name,
    *,
    time_limit: float | Fraction | None = None,
) -> tuple[GoalAnalysis, ...]:
    """Return the goals with a chance of at least 0.5% this turn, the likeliest goal first.

    The goal of winning the game comes before all other goals. Continents and players that fall with
    a chance above 50% come before the goal to take one card, which is easier in every position.

    turn: a turn in any phase. Cards that are not traded yet are ignored.
    level: the amount of work: `"quick"`, `"usual"` or `"long"`.
    time_limit: the time limit in seconds. It decides which level is reached.

    The result may be empty. If the time is too short for the first level, the value of a goal is
    `None`. No goal has a greater chance than a goal that it implies. Raises `IactaError` for a turn
    that is over, and for rules under which a battle can gain armies.

    >>> from iacta import Turn
    >>> turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:3,Argentina:blue:1")
    >>> for each in goals_in_reach(turn):
    ...     print(each.words, round(each.value, 4), round(each.left, 2))
    eliminate blue 0.8894 6.26
    take one card 0.9996 8.48
    """
    if not isinstance(turn, Turn):
        raise MalformedError(f"turn must be a Turn, got {quote(turn)}")
    check_open(turn)
    wanted, deadline = read_level(level), Deadline.from_time_limit(time_limit)
    return analyse(turn, wanted, deadline=deadline).goals


def check_open(turn: Turn) -> None:
    """Raise an error if the game or the turn is over."""
    if turn.winner is not None:
        raise IllegalError(f"the game is over: {turn.winner} has won")
    if turn.phase == "over":
        raise IllegalError(f"turn must have an action left, got the phase {turn.phase!r}")
