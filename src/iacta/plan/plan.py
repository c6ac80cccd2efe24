"""Plans: what a player asks for, and the answer in his words."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count, islice
from operator import ne
from typing import Any

from iacta.board import Holding, Position
from iacta.checks import (
    Chance,
    FrozenDict,
    check_choice,
    put,
    read_chance,
    read_seconds,
    row_of,
    shown,
    whole_number,
)
from iacta.display import Displayed, Pasted
from iacta.errors import IllegalError, MalformedError
from iacta.plan.ends import set_chances
from iacta.plan.game import Attack
from iacta.plan.games import Game, RollPolicy, owned_in
from iacta.plan.goals import (
    Goal,
    InOrder,
    Rewards,
    TakeAll,
    TakeAny,
    Worth,
    deed,
    held_worth,
    names_in,
    paying_sets,
    read_goal,
)
from iacta.plan.one_stack import MOST_ABLE
from iacta.plan.policy import Node, Policy, Visits
from iacta.plan.problem import Problem, bits, mask_of, read_problem
from iacta.plan.real_play import Clock, Search, battle_plans, policy_anew
from iacta.plan.scaled import ScaledProblem, in_armies, is_giant, next_roll, scaled_plan
from iacta.plan.search import PROVEN, effort_of
from iacta.plan.turn import TurnState
from iacta.questions.search import first
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

__all__ = [
    "Ending",
    "NextMove",
    "Plan",
    "Play",
    "Step",
    "TerritoryEnd",
    "armies_needed_for_plan",
    "best_plan",
]

SELDOM = 1e-12
MOST_ARMIES = 1000
FIRST_TRIED = 8
MOST_PLAYS = 200


@dataclass(frozen=True, repr=False)
class Step(Pasted):
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
    expected_armies: expected number of the player's armies on it, 0 counted where he does not
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
class NextMove(Pasted):
    """What to do next.

    start, to: the territory that attacks, and the one that is attacked.
    advance: for each number of armies that may be left able to move after a conquest, how many
        of them move in.
    dice: how many dice to roll.
    worth: what it is worth to do so: the chance of the goal, or what is still gained on average;
        `None` where the plan fights battle by battle.
    """

    start: str
    to: str
    advance: Mapping[int, int]
    dice: int
    worth: float | None = None

    def __post_init__(self) -> None:
        put(self, "advance", FrozenDict(self.advance))

    def _summary(self) -> str:
        worth = "" if self.worth is None else f", {self.worth:.6g}"
        return f"{self.start} to {self.to}, {self.dice} dice{worth}"


@dataclass(frozen=True, repr=False)
class Plan(Displayed):
    """The best plan that was found for a goal, and how far it may be from the best there is.

    A plan plays roll by roll, and may leave a battle after any roll; or it fights each battle to
    its end, so that it fits on a card. It does not change, and can be pickled, but not pasted back.

    position: who holds what before the first battle.
    goal: what it is for, with the names of the board.
    rules: the rules of all battles.
    win_probability: the chance that this plan reaches the goal, or all goals in order; with a
        `Worth` it is 0, and `value` counts. It is exact unless there is an `interval`.
    value: what the plan is worth on average: the chance, or with a `Worth` all that the player
        has at the end, or with goals in order what those that are reached are worth.
    upper_bound: no play that the rules allow is worth more, roll by roll and with any dice.
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
    battles_value: what the best plan that was found is worth if each battle is fought to its end.
    games: the games from which the value is estimated.
    has_tried_rolls: whether play roll by roll was looked at too.
    step: armies are counted in steps of this, 1 unless stacks have many thousands. With a greater
        one the chance is that of a model, `iacta.plan.scaled`.
    """

    position: Position
    goal: Goal
    rules: Rules
    win_probability: float
    value: float
    upper_bound: float
    proven: bool
    steps: tuple[Step, ...]
    territories: tuple[TerritoryEnd, ...]
    endings: tuple[Ending, ...]
    seconds: float = field(compare=False)
    policy: Policy | RollPolicy = field(compare=False)
    stages: tuple[float, ...] = ()
    play: str = "battles"
    interval: tuple[float, float] | None = None
    battles_value: float | None = None
    games: tuple[Game, ...] = field(default=(), compare=False)
    has_tried_rolls: bool = field(default=False, compare=False)
    step: int = 1

    def _summary(self) -> str:
        found = f"{deed(self.position, self.goal)}, {self.value:.6g}"
        if self.proven:
            return f"{found}, proven best"
        within = "" if self.interval is None else " ({:.6g} to {:.6g})".format(*self.interval)
        return f"{found}{within}, the best at most {self.upper_bound:.6g}"

    @property
    def problem(self) -> Problem:
        """The position, the rules and the constraints, as the search has them."""
        if isinstance(self.policy, Policy):
            problem = self.policy.game.problem
            scaled = isinstance(problem, ScaledProblem) and problem.real
            return scaled or problem
        return self.policy.turn.problem

    def constraints_at(self, position: Position) -> dict[str, Any]:
        """Return the plan's constraints in another position, as arguments of `best_plan`.

        position: who holds what.
        """
        names, problem = self.position.board.territories, self.problem
        mine = position.owned_by(position.player)
        return {
            "rules_of": {names[t]: rules for t, rules in problem.special},
            "keep": {names[t]: number for t, number in enumerate(problem.garrisons)},
            "may_not_move": [names[t] for t in bits(problem.resting) if names[t] in mine],
        }

    def problem_at(self, position: Position) -> Problem:
        """Return the problem of another position, with the plan's rules and constraints.

        position: who holds what.
        """
        return read_problem(position, self.rules, **self.constraints_at(position))

    @property
    def rewards(self) -> Rewards:
        """What the goal pays."""
        if isinstance(self.policy, Policy):
            return self.policy.game.rewards
        return self.policy.turn.rewards

    @property
    def gap(self) -> float:
        """How much more than this plan the best one may be worth, at most."""
        return max(self.upper_bound - self.value, 0.0)

    def follow(self) -> "Play":
        """Return the plan before its first battle, to be followed battle by battle.

        One that plays roll by roll is refused: `next_move` says what it does in any position.
        """
        if not isinstance(self.policy, Policy):
            raise IllegalError("play must be 'battles' to follow a plan by battles, got 'rolls'")
        # With armies in steps it leads through the units of its model.
        return Play(self, self.policy.start)

    def next_move(self, position: Position | None = None) -> NextMove | None:
        """Return what to do next, or `None` when there is nothing left to do.

        position: who holds what, also in the middle of a battle; `None` for the start. It need not
            be one that the plan comes to.
        """
        if position is None:
            position = self.position
        play = self.reached(position)
        return self._next_roll(position) if play is None else play.next_move()

    def reached(self, position: Position) -> "Play | None":
        """Return the plan where it has come to a position, to be followed on battle by battle.

        position: who holds what.

        `None` where the plan plays roll by roll, or does not seem to come there between battles.
        """
        if not isinstance(position, Position) or position.board != self.position.board:
            raise MalformedError(f"position must be one of the plan's board, got {shown(position)}")
        if position.player != self.position.player:
            raise IllegalError(
                f"player must be {self.position.player}, as in the plan, got {position.player}"
            )
        _refuse_unlisted(position, self.goal)
        if not isinstance(self.policy, Policy) or self.step > 1:
            return None
        plays = islice(self._plays(position), MOST_PLAYS)
        return next((play for play in plays if play.position() == position), None)

    def policy_at(self, position: Position) -> RollPolicy | None:
        """Return the policy of real play that says what to do in a position; `None` for none.

        position: who holds what.

        It is the plan's own where that knows the position, elsewhere one that is made for it.
        """
        problem = self.problem_at(position)
        policy = self.policy
        is_open = problem.borders.out == self.problem.borders.out  # as from the plan's start
        state = TurnState(problem.armies, problem.owned)
        if not isinstance(policy, Policy) and is_open and policy.covers(state):
            return policy
        return policy_anew(problem, self.goal)

    def _next_roll(self, position: Position) -> NextMove | None:
        problem = self.problem_at(position)
        wanted = self.rewards.all_of & problem.enemy
        if self.step > 1 and is_giant(problem, wanted):
            best = next_roll(problem, wanted)
        else:
            policy = self.policy_at(position)
            best = policy.best_roll(TurnState(problem.armies, problem.owned)) if policy else None
        if best is None:
            return None
        (start, to, dice), worth, advance = best
        return NextMove(problem.name(start), problem.name(to), advance, dice, worth)

    def _plays(self, towards: Position) -> Iterator["Play"]:
        """Yield the plan at the points from which it can come to a position, each once.

        Those that differ from it on the fewest territories come first.
        """
        number = count(0, -1)
        waiting, seen = [(0, next(number), self.follow())], set()
        while waiting:
            *_, play = heappop(waiting)
            if play in seen:
                continue
            seen.add(play)
            yield play
            for each in play.followers():
                holdings = each.position().holdings
                if each not in seen and each.can_lead_to(towards):
                    differing = sum(map(ne, holdings, towards.holdings))
                    heappush(waiting, (differing, next(number), each))


@dataclass(frozen=True, repr=False)
class Play(Displayed):
    """A plan that is being followed.

    plan: the plan.
    standing: where its policy is.
    holdings: armies on the territories that are not as at the start, and whether they are the
        player's: (territory, armies, owned).
    """

    plan: Plan = field(compare=False)
    standing: Node
    holdings: tuple[tuple[int, int, bool], ...] = ()

    def _summary(self) -> str:
        aim = deed(self.plan.position, self.plan.goal)
        move = self.next_move()
        return f"{aim}, over" if move is None else f"{aim}, next {move.start} to {move.to}"

    @property
    def is_over(self) -> bool:
        """Whether there is no battle left to fight."""
        return self.standing is None

    @property
    def policy(self) -> Policy:
        """What the plan does."""
        assert isinstance(self.plan.policy, Policy)  # noqa: S101 # `Plan.follow` has looked
        return self.plan.policy

    def battle(self) -> tuple[Attack, int, int]:
        """Return the next attack, the armies on the attacking territory, and the defenders."""
        attack, armies, _ = self.policy.attack(self._node)
        changed = {territory: armies for territory, armies, _ in self.holdings}
        return attack, armies, changed.get(attack.to, self._problem.armies[attack.to])

    def next_move(self) -> NextMove | None:
        """Return what to do next, or `None` when the plan is over."""
        if self.standing is None:
            return None
        (attack, armies, _), (won, _) = self.battle(), self._ends()
        advance = {left: self.policy.after_win(self.standing, left)[0] for left in won}
        able = armies - self._problem.garrisons[attack.start]
        dice = min(able, self._problem.rules_of(attack.to).attack.kept)
        name = self._problem.name
        return NextMove(name(attack.start), name(attack.to), advance, dice)

    def won(self, able: int) -> "Play":
        """Return the plan after its next battle is won, and its armies moved in.

        able: the armies left able to move: one of those in `next_move().advance`; others are
            refused.
        """
        left = whole_number(able, "able", least=1)
        won, _ = self._ends()
        if left not in won:
            raise IllegalError(
                f"able must be one of the numbers in next_move().advance, from {won[0]} to "
                f"{won[-1]}, got {left}"
            )
        return self._after_win(left)

    def _after_win(self, able: int) -> "Play":
        attack, *_ = self.battle()
        moved, node = self.policy.after_win(self._node, able)
        stays = able + self._problem.garrisons[attack.start] - moved
        return self._with(node, (attack.start, stays, True), (attack.to, moved, True))

    def lost(self, defenders: int) -> "Play":
        """Return the plan after its next battle is lost.

        defenders: those left, from 1 to those that are there; numbers that cannot be left are
            refused.
        """
        _, _, there = self.battle()
        left = whole_number(defenders, "defenders", least=1, most=there)
        _, lost = self._ends()
        if left not in lost:
            raise IllegalError(
                f"defenders must be as many as a lost battle can leave, which are "
                f"{f'{lost[0]} to {lost[-1]}' if lost else 'none'}, got {left}"
            )
        return self._after_loss(left)

    def _after_loss(self, defenders: int) -> "Play":
        attack, *_ = self.battle()
        node = self.policy.after_loss(self._node, defenders)
        stays = self._problem.garrisons[attack.start]
        return self._with(node, (attack.start, stays, True), (attack.to, defenders, False))

    def followers(self) -> Iterator["Play"]:
        """Yield the plan after each way in which its next battle can end."""
        if self.standing is not None:
            won, lost = self._ends()
            yield from map(self._after_win, won)
            yield from map(self._after_loss, lost)

    def position(self) -> Position:
        """Return who holds what."""
        start = self.plan.position
        holdings = list(start.holdings)
        for territory, armies, owned in self.holdings:
            owner = start.player if owned else holdings[territory].owner
            holdings[territory] = Holding(owner, armies)
        return Position(start.board, start.player, tuple(holdings))

    def can_lead_to(self, position: Position) -> bool:
        """Return whether a position may come later.

        position: who holds what.

        No armies appear, no territories are lost, and from one without enemies beside it no armies
        go away.
        """
        here, player = self.position().holdings, position.player
        enemies = mask_of(t for t, each in enumerate(here) if each.owner != player)
        out, ours, theirs = self._problem.borders.out, 0, 0
        for t, (now, then) in enumerate(zip(here, position.holdings, strict=True)):
            mine, then_mine = now.owner == player, then.owner == player
            if mine > then_mine or (mine == then_mine and then.armies > now.armies):
                return False
            if mine and then.armies < now.armies and not out[t] & enemies:
                return False
            ours += now.armies * mine
            theirs += then.armies * then_mine
        return ours >= theirs

    @property
    def _node(self) -> Node:
        if self.standing is None:
            raise IllegalError("a plan that is over has no next battle")
        return self.standing

    @property
    def _problem(self) -> Problem:
        return self.policy.game.problem

    def _ends(self) -> tuple[list[int], list[int]]:
        """Return how many may be left of the next battle: armies able to move, or defenders."""
        attack, armies, defenders = self.battle()
        able = armies - self._problem.garrisons[attack.start]
        won, lost = self.policy.chances.battle(attack.to, defenders)
        return (
            [left for left in range(1, able + 1) if won[able][left]],
            [left for left in range(1, defenders + 1) if lost[able][left]],
        )

    def _with(self, node: Node, *changes: tuple[int, int, bool]) -> "Play":
        changed = {each[0]: each for each in (*self.holdings, *changes)}
        return Play(self.plan, node, tuple(sorted(changed.values())))


def best_plan(
    position: Position,
    goal: Goal,
    rules: Rules | str = "classic",
    *,
    play: str = "rolls",
    rules_of: Mapping[str, Rules | str] | None = None,
    garrison: int | None = None,
    keep: Mapping[str, int] | None = None,
    may_not_move: Iterable[str] = (),
    time_limit: float | None = None,
    prove: float | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> Plan:
    """Return the best plan for a goal that the search finds.

    position: who holds what; the player is the one whose turn it is.
    goal: `TakeAll`, `TakeAny`, `Worth` or `InOrder`; `eliminate` makes the first of a player's
        name.
    rules: `Rules`, or the name of a rule set; those under which armies grow are refused.
    play: `"rolls"` for a plan that decides after each roll; `"battles"` for one that fights each
        battle to its end.
    rules_of: by name, the rules of the battles for a territory, where they are its own.
    garrison: armies that must stay behind on each territory; `None` leaves what the rules say.
    keep: by name, armies that must remain on a territory at all times, if they are more.
    may_not_move: names of the player's territories that may not attack.
    time_limit: about how many seconds the search may take, unless it ends before; `None` for a
        moderate search, which is the same each time.
    prove: the search for a bound goes on until the gap is at most this, or the time is over.
    progress: called with the value of the best plan and the bound, whenever a plan is found.

    A plan that takes all of a set with stacks of more than 2000 armies able to attack, against
    thousands, counts armies in steps (`Plan.step`), and its chance is that of a model. For other
    goals, rules under which battles are not rolled with free dice, and few defenders, at most 2000
    armies of a stack are counted: the plan leaves the rest behind.

    A `Plan`. Its value is exact for what the plan does, to some 1e-12, or an estimate with an
    interval; `proven` says whether no play is better, and `gap` how much better one may be. Where
    a goal has too many territories to be played roll by roll, the plan fights battle by battle, and
    says so. Ctrl-C ends the search with the best plan so far. Unknown
    names are refused, and goals without territories or with some that the position does not list.

    >>> from iacta.board import Board, Holding, Position
    >>> from iacta.plan import TakeAll
    >>> borders = ("A", "B"), ("B", "A"), ("B", "C"), ("C", "B")
    >>> board = Board("three", ("A", "B", "C"), borders)
    >>> holdings = Holding("red", 7), Holding("blue", 2), Holding("blue", 1)
    >>> position = Position(board, "red", holdings)
    >>> plan = best_plan(position, TakeAll("B,C"))
    >>> round(plan.win_probability, 6), plan.proven
    (0.839586, True)
    """
    if progress is not None and not callable(progress):
        raise MalformedError(f"progress must be a function, got {shown(progress)}")
    check_choice(play, ("rolls", "battles"), "play")
    clock = Clock(None if time_limit is None else read_seconds(time_limit, "time_limit"))
    problem = read_problem(
        position,
        find_rules(rules, garrison),
        {} if keep is None else keep,
        may_not_move,
        rules_of,
    )
    named = read_goal(goal, position.board)
    _refuse_targets(position, named)
    if isinstance(named, TakeAll):
        wanted = mask_of(map(position.board.territories.index, names_in(named))) & problem.enemy
        if is_giant(problem, wanted):
            return _scaled_plan(position, problem, named, clock)
    search = Search(_without_surplus(problem), named, play, clock, prove)
    try:
        for _ in search.run():
            if progress is not None:
                progress(search.value, search.upper_bound)
    except KeyboardInterrupt:
        if search.battles is None:
            raise
    try:
        return _plan(position, search, clock.seconds)
    except KeyboardInterrupt:  # what has been found is not thrown away
        return _plan(position, search, clock.seconds)


def _scaled_plan(position: Position, problem: Problem, goal: TakeAll, clock: Clock) -> Plan:
    """Return a plan in steps of many armies."""
    wanted = mask_of(map(position.board.territories.index, names_in(goal))) & problem.enemy
    found = scaled_plan(problem, wanted, clock.late)
    scaled, visits = found.policy.game.problem, found.policy.visits()
    step = 1
    if isinstance(scaled, ScaledProblem):
        step, visits = scaled.step, in_armies(visits, scaled.step, scaled.stays)
    return Plan(
        position,
        goal,
        problem.rules,
        win_probability=found.value,
        value=found.value,
        upper_bound=found.upper_bound,
        proven=found.upper_bound <= 0.0,
        steps=_steps(problem, visits),
        territories=_territories(problem, visits),
        endings=_endings(problem, visits),
        seconds=clock.seconds,
        policy=found.policy,
        battles_value=found.value,
        step=step,
    )


def _without_surplus(problem: Problem) -> Problem:
    """Return a problem without the armies of a stack beyond the most that a plan can count."""
    most = MOST_ABLE + min(problem.garrisons)
    armies = (min(n, most) if problem.owned >> t & 1 else n for t, n in enumerate(problem.armies))
    return replace(problem, armies=tuple(armies))


def _refuse_targets(position: Position, goal: Goal) -> None:
    """Refuse a goal with territories that nobody holds, or that are not to be taken."""
    _refuse_unlisted(position, goal)
    if isinstance(goal, TakeAny):
        owned = position.owned_by(position.player)
        mine = [
            name for name in position.board.territories if name in {*goal.territories} & {*owned}
        ]
        if mine:
            raise IllegalError(
                f"territories of TakeAny must be other players'; yours are {', '.join(mine)}"
            )


def _refuse_unlisted(position: Position, goal: Goal) -> None:
    """Refuse a goal with territories that nobody holds in a position."""
    for name in () if isinstance(goal, Worth) else names_in(goal):
        if not position.of(name).armies:
            raise IllegalError(f"territories to take must be held by somebody; nobody holds {name}")


def _plan(position: Position, search: Search, seconds: float) -> Plan:
    """Return a plan with all that a player asks about it."""
    problem, goal, battles, rolls = search.problem, search.goal, search.battles, search.rolls
    held = held_worth(problem, goal)
    policy: Policy | RollPolicy
    if rolls is not None and search.is_by_rolls:
        policy, visits, value, interval = rolls.policy, rolls.visits, rolls.value, rolls.interval
    elif battles is not None:
        policy, visits, value, interval = (
            battles.policy,
            battles.policy.visits(),
            battles.value,
            None,
        )
    stages: tuple[float, ...] = ()
    if isinstance(goal, InOrder):
        masks = [mask for mask, _ in paying_sets(problem, goal)]
        if rolls is not None and interval is not None:
            counted = owned_in(rolls.games, masks)
            stages = tuple(
                rolls.chances.get(mask & problem.enemy, chance)
                for mask, chance in zip(masks, counted, strict=True)
            )
        else:
            stages = set_chances(policy, masks)
    won = 0.0 if isinstance(goal, Worth) else value
    return Plan(
        position,
        goal,
        problem.rules,
        win_probability=min(stages[-1] if stages else won, 1.0),
        value=value + held,
        upper_bound=search.upper_bound + held,
        proven=interval is None and search.upper_bound - value <= PROVEN,
        steps=_steps(problem, visits),
        territories=_territories(problem, visits),
        endings=_endings(problem, visits),
        seconds=seconds,
        policy=policy,
        stages=stages,
        play="rolls" if search.is_by_rolls else "battles",
        interval=interval and (interval[0] + held, interval[1] + held),
        battles_value=None if battles is None else battles.value + held,
        has_tried_rolls=rolls is not None,
        games=rolls.games if rolls is not None and search.is_by_rolls else (),
    )


def _steps(problem: Problem, visits: Visits) -> tuple[Step, ...]:
    steps = [
        Step(
            problem.name(attack.start),
            problem.name(attack.to),
            min(visit.reached, 1.0),
            min(visit.conquered, 1.0),
            visit.arrived / visit.conquered if visit.conquered else 0.0,
            tuple(
                (able, chance, moved / chance)
                for able, (chance, moved) in sorted(visits.advances[attack].items())
                if chance > SELDOM
            ),
        )
        for attack, visit in visits.battles.items()
        if visit.reached > SELDOM
    ]
    return tuple(sorted(steps, key=lambda step: -step.reach_probability))


def _territories(problem: Problem, visits: Visits) -> tuple[TerritoryEnd, ...]:
    conquered: list[float] = [0] * len(problem.armies)
    for attack, visit in visits.battles.items():
        conquered[attack.to] += visit.conquered
    ends = []
    for t, name in enumerate(problem.board.territories):
        owned = bool(problem.owned >> t & 1)
        armies = visits.armies.get(t, 0.0) + owned * problem.armies[t]
        ends.append(TerritoryEnd(name, 1.0 if owned else min(conquered[t], 1.0), max(armies, 0.0)))
    return tuple(ends)


def _endings(problem: Problem, visits: Visits) -> tuple[Ending, ...]:
    ends = [
        Ending(problem.name(attack.start), problem.name(attack.to), visit.ended)
        for attack, visit in visits.battles.items()
        if visit.ended > SELDOM
    ]
    return tuple(sorted(ends, key=lambda end: -end.chance))


def armies_needed_for_plan(
    position: Position,
    goal: Goal,
    chance: Chance,
    source: str,
    rules: Rules | str = "classic",
    *,
    play: str = "rolls",
    rules_of: Mapping[str, Rules | str] | None = None,
    garrison: int | None = None,
    keep: Mapping[str, int] | None = None,
    may_not_move: Iterable[str] = (),
) -> int:
    """Return the fewest armies on a territory with which the best plan reaches a wanted chance.

    position: who holds what; the armies on `source` do not count.
    goal: `TakeAll` or `TakeAny`.
    chance: the wanted chance, between 0 and 1, as for `armies_needed`.
    source: the name of a territory of the player's that may attack.
    rules, play, rules_of, garrison, keep, may_not_move: as for `best_plan`.

    A whole number of at least 1. With one army less, the best plan that is found does not have that
    chance; where plans are not proven, a better one might. A chance that 1000 armies do not reach
    is refused.
    """
    if not isinstance(position, Position):
        raise MalformedError(f"position must be a Position, got {shown(position)}")
    if keep is not None and not isinstance(keep, Mapping):
        raise MalformedError(f"keep must be a mapping from names to armies, got {shown(keep)}")
    if isinstance(goal, Worth | InOrder):
        raise IllegalError(f"goal must be TakeAll or TakeAny to have a chance, got {shown(goal)}")
    check_choice(play, ("rolls", "battles"), "play")
    wanted = read_chance(chance)
    names = [may_not_move] if isinstance(may_not_move, str) else may_not_move
    resting = tuple(map(position.board.find, row_of(names, "may_not_move", "names")))
    name = position.board.find(source)
    if position.of(name).owner != position.player:
        raise IllegalError(f"source must be a territory of {position.player}, got {name}")
    if name in resting:
        raise IllegalError(f"source must be a territory that may attack, got {name}")
    named, found_rules = read_goal(goal, position.board), find_rules(rules, garrison)
    kept = {} if keep is None else keep
    place = position.board.territories.index(name)

    def problem_with(armies: int) -> Problem:
        holdings = list(position.holdings)
        holdings[place] = Holding(position.player, armies)
        there = replace(position, holdings=tuple(holdings))
        return read_problem(there, found_rules, kept, resting, rules_of)

    # Ctrl-C ends the whole search: half of one would give a wrong number.
    def reaches(armies: int) -> bool:
        found = battle_plans(problem_with(armies), named, effort_of(None))
        return max(each.value for each in found) >= wanted

    def reaches_by_rolls(armies: int) -> bool:
        search = Search(problem_with(armies), named, play, Clock(None))
        for _ in search.run():
            pass
        return search.value >= wanted

    fewest = first(reaches, FIRST_TRIED, step=FIRST_TRIED, most=MOST_ARMIES)
    if fewest is None:
        raise IllegalError(f"{MOST_ARMIES} armies on {name} do not reach a chance of {chance}")
    while play == "rolls" and fewest > 1 and reaches_by_rolls(fewest - 1):
        fewest -= 1
    return fewest
