"""Take and hold: the chance to take targets and still own them at the player's next turn.

The model, for each end of the plan with its goal reached:

1. The player fortifies: some armies move from one territory to another one within reach.
2. Each opponent, alone, faces the position that the player leaves. Opponents place their new armies
   where these help them most, and play to take any target.
3. The targets are held if no opponent takes any target. With p_i the chance of opponent i, the
   chance to hold is Π (1 − p_i).

So opponents neither help nor hinder each other. Ends are random, and the chance is an estimate. The
player fortifies by the move with the greatest Π (1 − p_i) when each stack of an opponent fights one
battle, against the weakest territory beside it. The reported chances are those of whole turns.

On a small board p_i is exact: the best of all placements and plays. Elsewhere p_i is the value of a
quick search (`iacta.plan.reinforcement`), and an opponent may have a better play. Then Π (1 − p_i)
is an upper bound, and Π (1 − q_i) a lower bound, with bounds q_i ≥ p_i: no play of an opponent with
all new armies everywhere at once has a greater value than q_i.

The best plan to take may not be the best plan to hold. `take_and_hold` also tries plans in which a
large stack stays at home, or armies remain on the targets beside enemies, and chooses the plan with
the greatest chance to take and hold.

The work is bounded by numbers of ends and states, not by shares of the time. So a time limit ends
the work, but does not change a chance.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import hypot, prod, sqrt
from typing import Any, NamedTuple, Unpack

import numpy as np

from iacta.board import Position
from iacta.board.position import find_player
from iacta.game import Fortify, Turn
from iacta.game.turn import FORTIFY
from iacta.inputs.checks import check_choice, quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.reprs import ChartLike, DisplayMixin
from iacta.native.bit_sets import bits, make_mask
from iacta.native.deadline import Deadline
from iacta.plan.best import plan_within, usual_threads
from iacta.plan.goals import TakeAny
from iacta.plan.looks import BOUND_VALUES
from iacta.plan.opponents import (
    SingleBattles,
    enemies_beside,
    last_moves,
    opponents_in,
    usual_reinforcements,
)
from iacta.plan.plan import Plan
from iacta.plan.problem import TurnState, read_problem, turn_at
from iacta.plan.reinforcement import (
    Placements,
    PlanOptions,
    QuickValues,
    everywhere,
)
from iacta.plan.search import Search
from iacta.plan.simulated import games
from iacta.probability.estimate import NORMAL_QUANTILE, mean_error

ENDS = 100
MIN_ENDS = 100  # a chance needs so many ends, or all `ends` if these are fewer
RARE = 1e-4  # a plan with a smaller chance to take has no ends
SAME = 1e-9
BOUNDED = 16  # ends with bounds on the plays of opponents
MAX_STATES = 4_000  # the most states of an opponent's turn for an exact solution
MAX_AT_HOME = 3  # the most stacks that stay at home, one in each alternative plan
REMAIN = (2, 4)  # armies that must remain beside enemies in alternative plans
SCOUTED = 12  # ends for the comparison of plans
OTHERS = 0.25  # the share of the usual work for an alternative plan
ENOUGH = 0.999  # no alternative is tried where this share of the chance to take is held
GAIN = 1e-4


class Threat(NamedTuple):
    """An opponent's threat to the targets.

    player: the opponent.
    chance: the chance to take any target by the best play found, after the goal is reached.
    armies: the mean number of new armies.
    at_most: an upper bound on the chance of any play.
    """

    player: str
    chance: float
    armies: float
    at_most: float


class Fortified(NamedTuple):
    """A move at the end of the turn.

    start, to: the two territories; both are empty for no move.
    part: the share of the ends with this move.
    armies: the mean number of armies that move.
    """

    start: str
    to: str
    part: float
    armies: float


@dataclass(frozen=True, repr=False)
class Hold(DisplayMixin):
    """The chance to hold the targets of a plan.

    plan: the plan.
    win_probability: the estimated chance to reach and hold the goal; `None` if the plan has no
        value, or without time for enough ends.
    error: the standard error of the chance.
    unfortified: the chance without a move at the end of the turn.
    at_least: the chance if each opponent's play is as good as its bound.
    proven: whether the plays of all opponents are optimal, at each end. If not, the chance may be
        smaller, down to `at_least`.
    threats: the opponents, the most dangerous first.
    moves: the moves at the end of the turn, the most frequent first.
    ends: the number of ends behind the estimate.
    otherwise: the result for the best plan to take, if another plan was chosen.
    """

    plan: Plan
    win_probability: float | None
    error: float
    unfortified: float | None
    at_least: float
    proven: bool
    threats: tuple[Threat, ...]
    moves: tuple[Fortified, ...]
    ends: int
    otherwise: "Hold | None" = None

    def plot(self, *context: Any) -> ChartLike:
        """Return the picture of the plan; `context` is as for `DisplayMixin.plot`."""
        return self.plan.plot(*context)

    def _summary(self) -> str:
        aim = self.plan.goal.phrase(self.plan.position)
        if self.win_probability is None:
            return f"{aim} and hold it, no estimate yet"
        return f"{aim} and hold it, {self.win_probability:.6g} (error {self.error:.2g})"

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of the chance; `None` without a chance."""
        if self.win_probability is None:
            return None
        low, high = (self.win_probability + s * NORMAL_QUANTILE * self.error for s in (-1, 1))
        known = self.plan.interval[1] if self.plan.interval else self.plan.win_probability
        most = 1.0 if known is None else known
        return max(low, 0.0), min(high, most, 1.0)


def hold(
    plan: Plan,
    get: Mapping[str, int] | int | None = None,
    *,
    fortify: str = "connected",
    ends: int = ENDS,
    seed: int = 0,
    time_limit: float | None = None,
    **options: Unpack[PlanOptions],
) -> Hold:
    """Return the chance that a plan reaches its goal and no opponent takes a target back.

    plan: a plan to take all of some territories, or goals in order.
    get: the new armies of each opponent, or a mapping from players to numbers. Other players, and
        all players with `None`, get new armies by the usual rule.
    fortify: the range of the move at the end: `connected`, `adjacent` or `none`.
    ends: the number of ends of the plan for the estimate.
    seed: the seed of the dice.
    time_limit: in seconds. There is no chance if the time ends before 100 ends, or before all
        `ends` if these are fewer.
    options: as for `reinforce`; opponents play by the same rules, without the constraints.
    """
    outlook = _Outlook(plan, get, fortify, options)
    number = read_int(ends, "ends", least=1)
    return _Ends(outlook, plan, seed).hold(
        number, Deadline.from_time_limit(time_limit).disable_shares()
    )


def take_and_hold(
    plan: Plan,
    get: Mapping[str, int] | int | None = None,
    *,
    fortify: str = "connected",
    ends: int = ENDS,
    seed: int = 0,
    time_limit: float | None = None,
    **options: Unpack[PlanOptions],
) -> Hold:
    """Return the plan with the greatest chance to take and hold, of several plans.

    plan: the best plan to take.
    get, fortify, ends, seed, time_limit: as for `hold`.
    options: the options of the plan, as for `reinforce`.

    In the alternative plans, a large stack stays at home, or some armies must remain on the targets
    beside enemies. A few ends select the best alternative; all ends compare it with the first plan.
    If the estimates do not clearly differ, the first plan is chosen.
    """
    outlook, number = _Outlook(plan, get, fortify, options), read_int(ends, "ends", least=1)
    deadline, few = Deadline.from_time_limit(time_limit).disable_shares(), min(SCOUTED, number)
    first = _Ends(outlook, plan, seed)
    found = first.hold(number, deadline)
    if found.win_probability is None:
        return found
    tried = [(_chance(first.hold(few, deadline)), first)]
    for more in _constraints(plan, options):
        if deadline.is_over or tried[0][0] >= ENOUGH * _reached(plan):
            break
        limited: PlanOptions = {**options, **more, "rules": plan.rules}
        problem = read_problem(plan.position, plan.goal, **limited)
        other = plan_within(problem, deadline, budget=OTHERS, threads=usual_threads())
        if _reached(other) > max(chance for chance, _ in tried):
            drawn = _Ends(outlook, other, seed)
            tried.append((_chance(drawn.hold(few, deadline)), drawn))
    best = max(tried, key=lambda each: each[0])[1]
    chosen = found if best is first else best.hold(number, deadline)
    if chosen is found or chosen.win_probability is None:
        return found
    noise = NORMAL_QUANTILE * hypot(chosen.error, found.error)
    if _chance(chosen) <= _chance(found) + max(noise, GAIN):
        return found
    # The bound holds for all play; the bound of the alternative holds under its constraints only.
    proven = best.plan.interval is None and plan.upper_bound - best.plan.comparable_value <= SAME
    reported = replace(best.plan, upper_bound=plan.upper_bound, proven=proven)
    return replace(chosen, plan=reported, otherwise=found)


def _constraints(plan: Plan, options: PlanOptions) -> Iterator[PlanOptions]:
    """Yield constraints for plans that may hold more targets."""
    position, names = plan.position, plan.goal.names
    stay = options.get("stay", ())
    resting = (stay,) if isinstance(stay, str) else tuple(stay)
    mine = [position.board.territories[v] for v in bits(plan.problem.stacks)]
    largest = sorted(mine, key=lambda name: -position.find_holding(name).armies)
    if len(largest) > 1:
        for name in largest[:MAX_AT_HOME]:
            yield {"stay": (*resting, name)}
    edge = [name for name in names if {*enemies_beside(position, name)} - {*names}]
    for number in REMAIN if edge else ():
        yield {"keep": {**dict.fromkeys(edge, number), **(options.get("keep") or {})}}


class _Afterwards(NamedTuple):
    """The opponents' next turns after an end of the plan."""

    held: float  # the chance to hold the targets
    unfortified: float  # the chance without a move before
    threats: dict[str, Threat]  # by opponent
    move: Fortify

    @property
    def at_least(self) -> float:
        """The chance to hold if each opponent's play is as good as its bound."""
        return min(prod(1.0 - each.at_most for each in self.threats.values()), self.held)


NOTHING = Fortify("", "", 0)


class _Outlook:
    """The model of the opponents after plans for one goal."""

    def __init__(
        self, plan: Plan, get: Mapping[str, int] | int | None, fortify: str, options: PlanOptions
    ) -> None:
        if not isinstance(plan, Plan):
            raise MalformedError(f"plan must be a Plan, got {quote(plan)}")
        if not plan.goal.names or plan.problem.rewards.once:
            raise IllegalError(
                f"goal must be TakeAll or InOrder to be held, got {quote(plan.goal)}"
            )
        if not plan.rules.garrison:
            raise IllegalError(
                "garrison must be at least 1 to hold what is taken", parameter="garrison"
            )
        check_choice(fortify, FORTIFY, "fortify")
        self.numbers, self.fortify = _reinforcements(plan.position, get), fortify
        self.held, self.problem = plan.goal.names, plan.problem
        self.theirs: PlanOptions = {"rules": plan.rules}
        if "rules_of" in options:
            self.theirs["rules_of"] = options["rules_of"]
        self.battles = SingleBattles(plan.problem.turn)
        self.large = set[str]()  # the opponents with too many states for the best play

    def look_at(
        self, plan: Plan, end: Position, is_bounded: bool, deadline: Deadline
    ) -> _Afterwards:
        """Return the opponents' next turns after an end.

        is_bounded: whether to compute bounds on plays that are not optimal; otherwise these bounds
            are 1.
        """
        turn = turn_at(plan.problem.turn, end, "fortify", self.fortify)
        move = self._best_move(turn)
        threats = self._threats(end, deadline, is_bounded and move is NOTHING)
        held = unfortified = _left(threats)
        if move is not NOTHING:
            fortified = self._threats(turn.after(move).position, deadline, is_bounded)
            if _left(fortified) >= held:
                threats, held = fortified, _left(fortified)
            else:  # whole turns contradict the single battles
                move = NOTHING
        return _Afterwards(held, unfortified, threats, move)

    def _threats(self, end: Position, deadline: Deadline, is_bounded: bool) -> dict[str, Threat]:
        return {
            player: self._threat(replace(end, player=player), deadline, is_bounded)
            for player in opponents_in(end)
        }

    def _threat(self, theirs: Position, deadline: Deadline, is_bounded: bool) -> Threat:
        player = theirs.player
        new = self._new(theirs, player)
        problem = everywhere(theirs, TakeAny(self.held), new, self.theirs)
        if not problem.stacks:
            return Threat(player, 0.0, new, 0.0)
        values = QuickValues(problem, deadline, 0 if player in self.large else MAX_STATES)
        placements = Placements(TurnState.from_position(theirs), values)
        chance = placements.value(placements.compared(new)[0])
        if placements.has_tried_all or not placements.places:
            return Threat(player, chance, new, chance)
        self.large.add(player)
        bound = 1.0
        if is_bounded:
            bound = min(next(Search(problem).bounds(deadline, BOUND_VALUES)), 1.0)
        return Threat(player, chance, new, max(bound, chance))

    def _new(self, end: Position, player: str) -> int:
        if player in self.numbers:
            return self.numbers[player]
        return usual_reinforcements(end, player)

    def _best_move(self, turn: Turn) -> Fortify:
        """Return the move that holds best when each stack fights one battle."""
        end = turn.position
        threats = [
            (beside, self._new(end, player))
            for player in opponents_in(end)
            if (beside := self.battles.beside(end, player, self.held))
        ]
        exposed = {name for beside, _ in threats for near in beside.values() for name in near}

        def held(position: Position) -> float:
            return prod(self.battles.missed(position, beside, new) for beside, new in threats)

        moves = {each: held(turn.after(each).position) for each in last_moves(turn, exposed)}
        best = max(moves, key=lambda move: moves[move], default=NOTHING)
        return best if moves.get(best, 0.0) > held(end) else NOTHING


class _Ends:
    """Random ends of a plan with its goal reached, and the opponents' turns after them.

    seed: the seed of the dice.
    """

    def __init__(self, outlook: _Outlook, plan: Plan, seed: int) -> None:
        self.outlook, self.plan = outlook, plan
        self._found = list[_Afterwards]()
        self._known = dict[TurnState, _Afterwards]()
        self._rng = np.random.default_rng(seed)

    def hold(self, ends: int, deadline: Deadline) -> Hold:
        """Return the chance to take and hold, estimated from the first ends.

        There is no chance if the deadline comes before enough ends.
        """
        plan, found = self.plan, self._found
        if plan.value is None:
            return Hold(plan, None, 0.0, None, 0.0, False, (), (), 0)
        if _reached(plan) > RARE:
            if len(found) < ends:
                self._draw(ends, deadline)
            if len(found) < min(ends, MIN_ENDS):
                return Hold(plan, None, 0.0, None, 0.0, False, (), (), len(found))
        return _summed(plan, found[:ends], not self.outlook.large)

    def _draw(self, ends: int, deadline: Deadline) -> None:
        """Draw ends until there are so many, or until the deadline."""
        plan, found = self.plan, self._found
        held = make_mask(map(plan.problem.place, self.outlook.held))
        for end, _ in games(plan.policy, self._rng, deadline=deadline):
            if held & ~end.owned:
                continue
            if end not in self._known:
                position, is_bounded = plan.problem.make_position(end), len(found) < BOUNDED
                afterwards = self.outlook.look_at(plan, position, is_bounded, deadline)
                if deadline.is_over:  # the search may be cut short
                    return
                self._known[end] = afterwards
            found.append(self._known[end])
            if len(found) >= ends:
                return


def _left(threats: Mapping[str, Threat]) -> float:
    return prod(1.0 - each.chance for each in threats.values())


def _reinforcements(position: Position, get: Mapping[str, int] | int | None) -> dict[str, int]:
    if get is None:
        return {}
    if not isinstance(get, Mapping):
        return dict.fromkeys(opponents_in(position), read_int(get, "get", least=0))
    numbers = {}
    for player, number in get.items():
        owner = find_player(player, "get", opponents_in(position))
        numbers[owner] = read_int(number, f"get of {player}", least=0)
    return numbers


def _reached(plan: Plan) -> float:
    """Return the chance to reach the goal, 0 for an unknown chance."""
    return plan.win_probability or 0.0


def _chance(held: Hold) -> float:
    return held.win_probability or 0.0


def _summed(plan: Plan, found: list[_Afterwards], proven: bool) -> Hold:
    if not found:  # the goal is hardly ever reached
        return Hold(plan, 0.0, _reached(plan) / NORMAL_QUANTILE, 0.0, 0.0, True, (), (), 0)
    held = np.array([each.held for each in found])
    error = mean_error(held.tolist())
    threats = []
    for player in dict.fromkeys(player for each in found for player in each.threats):
        none = Threat(player, 0.0, 0, 0.0)
        rows = [each.threats.get(player, none) for each in found]
        chance, armies = np.mean([(each.chance, each.armies) for each in rows], axis=0).tolist()
        most = chance if proven else float(np.mean([each.at_most for each in rows[:BOUNDED]]))
        threats.append(Threat(player, chance, armies, max(most, chance)))
    moves = defaultdict[tuple[str, str], list[int]](list)
    for each in found:
        moves[each.move.start, each.move.to].append(each.move.armies)
    reached = _reached(plan)
    if plan.interval is not None:
        missed = (plan.interval[1] - plan.interval[0]) / (2 * NORMAL_QUANTILE)
        if plan.stages:  # the interval is that of what all goals in order pay
            missed = sqrt(reached * (1 - reached) / plan.games)
        error = hypot(error, missed * float(held.mean()) / reached)
    least = held.mean() if proven else np.mean([each.at_least for each in found[:BOUNDED]])
    return Hold(
        plan,
        reached * float(held.mean()),
        reached * error,
        reached * float(np.mean([each.unfortified for each in found])),
        reached * float(least),
        proven,
        tuple(sorted(threats, key=lambda threat: -threat.chance)),
        tuple(
            Fortified(*pair, len(armies) / len(found), float(np.mean(armies)))
            for pair, armies in sorted(moves.items(), key=lambda move: -len(move[1]))
        ),
        len(found),
    )
