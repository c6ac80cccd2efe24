"""Take and hold: the chance to take targets and still own them at the start of the next turn.

The plan stops in some final state, called an *end*. After each end in which the goal is reached:

1. The player fortifies: some armies move from one territory to another within reach.
2. Each opponent, independently of the others, faces the position that the player leaves. The
   opponent places new armies where they help most and plays to take any target.
3. The targets are held if no opponent takes any target. If opponent i succeeds with chance p_i,
   the chance to hold is Π (1 − p_i).

If the player wins the game, the targets are held. If an opponent's conquest wins the game, or makes
another player win, the opponent's turn ends.

Opponents therefore neither help nor hinder each other. Ends are drawn at random, so the chance is
an estimate. If at most seven territories have owners, exact search compares all fortifying moves by
Π (1 − p_i), or only some if there are more than 200. Elsewhere the move is the best in a simplified
model, in which each stack of an opponent takes one route to a target, through at most two other
territories of the player (`iacta.plan.opponents`). The reported chances are for complete turns of
the opponents.

On a small board p_i is exact: the best combination of placement and play. Elsewhere p_i is the
value found by a quick search (`iacta.plan.placements`), and an opponent may be able to do
better, so Π (1 − p_i) is an upper bound. A lower bound is Π (1 − q_i), where q_i ≥ p_i bounds the
chance of opponent i even if each of their territories got all the new armies.

The best plan to take the targets may not be the best plan to hold them. `take_and_hold` also tries
plans in which a large stack stays at home, or in which armies stay behind next to enemies, and
chooses the plan with the greatest chance to take and hold.

The search counts ends and states instead of seconds, so its result is reproducible. A time limit
can reduce the number of ends, but cannot change the result of an end.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import comb, hypot, prod, sqrt
from typing import Any, NamedTuple

import numpy as np

from iacta.board.position import find_player
from iacta.game import EndPhase, Fortify, Turn
from iacta.inputs.checks import quote, read_int
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.meanings import Unit
from iacta.inputs.reprs import ChartLike, DisplayMixin
from iacta.native.bit_sets import bits, make_mask
from iacta.native.deadline import Deadline
from iacta.plan.best import count_default_threads, plan_within
from iacta.plan.opponents import (
    OpponentTakesAny,
    Routes,
    SingleBattles,
    begin_opponent_turn,
    list_attackers,
    list_fortify_moves,
    list_moves_to_compare,
    list_opponents,
)
from iacta.plan.placements import Placements, QuickValues, is_small, pose_reinforced_problem
from iacta.plan.plan import Plan
from iacta.plan.problem import Problem, SearchState, enter_phase, pose_problem
from iacta.plan.search import Search
from iacta.plan.simulated import play_games
from iacta.probability.estimate import NORMAL_QUANTILE, mean_error

BOUND_VALUES = 20_000  # maximum number of values in a relaxed game, for an upper bound
HOLD_ENDS = 100  # default number of ends (final states of the plan) to simulate
MIN_ENDS = 100  # minimum number of ends for an estimate, unless the caller asks for fewer
# No ends are simulated if the chance to reach the goal is not greater than this.
MIN_GOAL_CHANCE_TO_HOLD = 1e-4
SAME_AS_BOUND = 1e-9  # a plan whose value is this close to its upper bound is proven
BOUNDED_ENDS = 16  # upper bounds on the opponents' chances are computed for this many ends only
MAX_OPPONENT_STATES = 4_000  # maximum number of states in an exact search of an opponent's turn
MAX_SHARED_STATES = 80_000  # the same maximum in a search for all ends with the same owners
MAX_AT_HOME = 3  # maximum number of alternative plans in which a large stack may not attack
REARGUARDS = (2, 4)  # armies that must stay on targets next to enemies, in alternative plans
SCOUTING_ENDS = 12  # number of ends of each plan in the first comparison of plans
ALTERNATIVE_BUDGET = 0.25  # search budget for an alternative plan, relative to the default
MAX_HOLD_SHARE = 0.999  # alternatives are tried only if the plan holds less of its conquests
MAX_ROUTE = 3  # an opponent is expected to take at most this many territories to reach a target
MAX_COMPARED = 20_000  # maximum number of placements in all exact comparisons of moves
GAIN_BY_MOVE = 1e-9  # a fortifying move is better if its chance is greater by more than this
HOLD_GAIN = 1e-4  # an alternative plan must have a chance greater by more than this to be chosen


class Threat(NamedTuple):
    """The danger that an opponent takes back a target on their next turn.

    player: the opponent.
    chance: the chance of the best play found to take any target, after the goal is reached.
    armies: the mean number of the opponent's new armies.
    at_most: an upper bound on the chance of any play by this opponent.
    """

    player: str
    chance: Unit
    armies: float
    at_most: float


class Fortified(NamedTuple):
    """A fortifying move that the player makes at the end of some simulated turns.

    start: the territory that the armies leave; empty if no armies move.
    to: the territory that the armies enter; empty if no armies move.
    part: the fraction of ends after which the player makes this move.
    armies: the mean number of armies that move.
    """

    start: str
    to: str
    part: Unit
    armies: float


@dataclass(frozen=True, repr=False)
class Hold(DisplayMixin):
    """The chance to hold the targets of a plan until the player's next turn.

    plan: the plan.
    win_probability: the estimated chance to reach and hold the goal; `None` if the plan has no
        value or the time limit came before enough ends.
    error: the standard error of the chance.
    unfortified: the chance if the player does not fortify.
    at_least: a lower bound on the chance, computed from the upper bounds on the opponents' chances.
    proven: whether the play found for the opponents is optimal after every end. Otherwise the true
        chance may be as small as `at_least`.
    threats: the threats of the opponents, most dangerous first.
    moves: the fortifying moves, most frequent first.
    ends: the number of simulated ends behind the estimate.
    otherwise: the result for the best plan to take the targets, if another plan was chosen.
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
        """Plot the plan; `context` is as for `DisplayMixin.plot`."""
        return self.plan.plot(*context)

    def _summary(self) -> str:
        aim = self.plan.goal.phrase(self.plan.position)
        if self.win_probability is None:
            return f"{aim} and hold it, no estimate yet"
        return f"{aim} and hold it, {self.win_probability:.6g} (error {self.error:.2g})"

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of `win_probability`; `None` if that is `None`."""
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
    ends: int = HOLD_ENDS,
    seed: int = 0,
    time_limit: float | None = None,
) -> Hold:
    """Return the chance that a plan reaches its goal and no opponent takes back a target.

    plan: a plan to take all of some territories, or goals in order.
    get: the number of new armies of every opponent, or a mapping from players to numbers. Other
        opponents get new armies by the usual rule.
    ends: the number of ends to simulate.
    seed: the random seed for the dice.
    time_limit: the maximum time in seconds; `None` for no limit. The chance is `None` if fewer than
        100 ends (or fewer than `ends`, if that is less) were simulated in time.

    The player's fortifying move follows the rules of the plan's turn. Opponents play by the same
    rules, but without `keep` and `stay`, and decide after each roll.

    >>> from iacta import TakeAll, Turn, best_plan
    >>> turn = Turn.from_code("1;classic;red;Venezuela:red:12,Peru:blue:2,Brazil:blue:3")
    >>> found = hold(best_plan(turn, TakeAll("Peru")))
    >>> round(found.plan.win_probability, 2), round(found.win_probability, 2)
    (1.0, 0.85)
    """
    outlook = Outlook(plan, get)
    number = read_int(ends, "ends", minimum=1)
    return _Ends(outlook, plan, seed).hold(
        number, Deadline.from_time_limit(time_limit).disable_shares()
    )


def take_and_hold(
    plan: Plan,
    get: Mapping[str, int] | int | None = None,
    *,
    ends: int = HOLD_ENDS,
    seed: int = 0,
    time_limit: float | None = None,
) -> Hold:
    """Compare several plans; return the result of the plan with the best chance to take and hold.

    plan: the best plan to take the targets.
    get, ends, seed, time_limit: as for `hold`.

    In the alternative plans, a large stack stays at home or some armies must stay behind next to
    enemies. A few ends select the best alternative, which is then compared with the first plan over
    all ends. The first plan is kept unless the alternative is clearly better.

    >>> from iacta import TakeAll, Turn, best_plan
    >>> turn = Turn.from_code("1;classic;red;Venezuela:red:12,Peru:blue:2,Brazil:blue:3")
    >>> plan = best_plan(turn, TakeAll("Peru"))
    >>> take_and_hold(plan).win_probability >= hold(plan).win_probability
    True
    """
    outlook, number = Outlook(plan, get), read_int(ends, "ends", minimum=1)
    deadline = Deadline.from_time_limit(time_limit).disable_shares()
    few = min(SCOUTING_ENDS, number)
    first = _Ends(outlook, plan, seed)
    found = first.hold(number, deadline)
    if found.win_probability is None:
        return found
    tried = [(_compute_chance(first.hold(few, deadline)), first)]
    for constrained in _list_constrained_turns(plan):
        if deadline.is_over or tried[0][0] >= MAX_HOLD_SHARE * _compute_take_chance(plan):
            break
        other = plan_within(
            pose_problem(constrained, plan.goal),
            deadline,
            budget=ALTERNATIVE_BUDGET,
            threads=count_default_threads(),
        )
        if _compute_take_chance(other) > max(chance for chance, _ in tried):
            drawn = _Ends(outlook, other, seed)
            tried.append((_compute_chance(drawn.hold(few, deadline)), drawn))
    best = max(tried, key=lambda each: each[0])[1]
    chosen = found if best is first else best.hold(number, deadline)
    if chosen is found or chosen.win_probability is None:
        return found
    noise = NORMAL_QUANTILE * hypot(chosen.error, found.error)
    if _compute_chance(chosen) <= _compute_chance(found) + max(noise, HOLD_GAIN):
        return found
    # The upper bound of an alternative plan holds only under the plan's constraints, so report the
    # bound of the original plan.
    proven = (
        best.plan.interval is None
        and plan.upper_bound - best.plan.comparable_value <= SAME_AS_BOUND
    )
    reported = replace(best.plan, upper_bound=plan.upper_bound, proven=proven)
    return replace(chosen, plan=reported, otherwise=found)


def _list_constrained_turns(plan: Plan) -> Iterator[Turn]:
    """Yield the turn with constraints (`stay` or `keep`) for plans that may hold better."""
    turn, names = plan.turn, plan.goal.names
    mine = [plan.problem.name(v) for v in bits(plan.problem.stacks)]
    largest = sorted(mine, key=lambda name: -turn.armies_on(name))
    if len(largest) > 1:
        for name in largest[:MAX_AT_HOME]:
            yield turn.with_options(stay=(*turn.stay, name))
    edge = [name for name in names if {*list_attackers(turn, name)} - {*names}]
    for number in REARGUARDS if edge else ():
        yield turn.with_options(keep={**dict.fromkeys(edge, number), **turn.keep})


class OpponentTurns(NamedTuple):
    """The chances of the opponents' next turns after one end (final state) of the plan."""

    held: float  # the chance that no opponent takes a target
    unfortified: float  # the chance that no opponent takes a target if the player does not fortify
    threats: dict[str, Threat]  # the threat of each opponent, by the opponent's name
    move: Fortify

    @property
    def at_least(self) -> float:
        """A lower bound on the chance to hold, from the upper bounds on the opponents' chances."""
        return min(prod(1.0 - threat.at_most for threat in self.threats.values()), self.held)


NOTHING = Fortify("", "", 0)


class Outlook:
    """Evaluates the opponents' next turns after an end (final state) of any plan for a goal."""

    def __init__(self, plan: Plan, get: Mapping[str, int] | int | None) -> None:
        if not isinstance(plan, Plan):
            raise MalformedError(f"plan must be a Plan, got {quote(plan)}")
        if not plan.goal.names or plan.problem.rewards.once:
            raise IllegalError(f"goal to hold must be TakeAll or InOrder, got {quote(plan.goal)}")
        if not plan.turn.rules.garrison:
            raise IllegalError(
                "garrison must be at least 1 to hold conquests", parameter="garrison"
            )
        self.numbers, self.held = _read_reinforcements(plan.turn, get), plan.goal.names
        self.turn, self.model = plan.turn, SingleBattles(plan.turn)
        # The opponents whose turns have too many states or placements to solve exactly: after one
        # end, and after all ends with the same owners.
        self.large, self.shared_large = set[str](), set[str]()
        self._shared = dict[tuple[str, tuple[str, ...], int], tuple[int, QuickValues]]()
        self._exact = dict[tuple[str, tuple[str, ...], tuple[int, ...]], Threat]()
        self._compared = 0  # an upper bound on the number of placements in these exact threats

    def evaluate_end(self, end: Turn, is_bounded: bool, deadline: Deadline) -> OpponentTurns:
        """Return the chances of the opponents' next turns, after the player's fortifying move.

        end: the turn at the end of the plan.
        is_bounded: whether to compute upper bounds for opponents whose best play is unknown;
            otherwise their bound is 1.
        """
        turn = enter_phase(end, "fortify")
        if turn.after(EndPhase()).winner == turn.player:
            return OpponentTurns(1.0, 1.0, {}, NOTHING)
        move = self._choose_best_move(turn, deadline)
        threats = self._compute_threats(turn, deadline, is_bounded and move is NOTHING)
        held = unfortified = _compute_hold_chance(threats)
        if move is not NOTHING:
            fortified = self._compute_threats(turn.after(move), deadline, is_bounded)
            if _compute_hold_chance(fortified) >= held:
                threats, held = fortified, _compute_hold_chance(fortified)
            else:  # the simplified model recommends the move, but the full search does not
                move = NOTHING
        return OpponentTurns(held, unfortified, threats, move)

    def _compute_threats(
        self, end: Turn, deadline: Deadline, is_bounded: bool
    ) -> dict[str, Threat]:
        return {
            player: self._compute_threat(end, player, deadline, is_bounded)
            for player in list_opponents(end)
        }

    def _compute_threat(
        self, end: Turn, player: str, deadline: Deadline, is_bounded: bool
    ) -> Threat:
        is_exact = player not in self.shared_large and is_small(end)
        if is_exact and (threat := self._compute_exact_threat(end, player, deadline)):
            return threat
        new, problem = self._pose_problem(end, player)
        if not problem.stacks:
            return Threat(player, 0.0, new, 0.0)
        values = QuickValues(problem, deadline, 0 if player in self.large else MAX_OPPONENT_STATES)
        placements = Placements(SearchState(end.armies, problem.owned), values)
        chance = placements.value(placements.rank_placements(new)[0])
        if placements.has_tried_all or not placements.places:
            return Threat(player, chance, new, chance)
        self.large.add(player)
        bound = 1.0
        if is_bounded:
            bound = min(next(Search(problem).bounds(deadline, BOUND_VALUES)), 1.0)
        return Threat(player, chance, new, max(bound, chance))

    def _compute_exact_threat(self, end: Turn, player: str, deadline: Deadline) -> Threat | None:
        """Return the exact threat of an opponent on a small board; `None` if it is unknown.

        One search evaluates all ends with the same owners. Its problem gives each territory of the
        player all their armies, so each end is a state of this problem.
        """
        key = player, end.owners, end.armies
        if key in self._exact:
            return self._exact[key]
        pairs = [*zip(end.owners, end.armies, strict=True)]
        total = sum(armies for owner, armies in pairs if owner == end.player)
        most = 1 << (total - 1).bit_length()  # the same for most ends
        shared = player, end.owners, most
        if shared not in self._shared:
            start = dict(zip(self.turn.board.territories, self.turn.armies, strict=True))
            largest = tuple(
                most if owner == end.player else max(armies, start[name])
                for name, (owner, armies) in zip(end.board.territories, pairs, strict=True)
            )
            new, problem = self._pose_problem(end.replace_armies(end.owners, largest), player)
            self._shared[shared] = new, QuickValues(problem, deadline, MAX_SHARED_STATES)
        new, values = self._shared[shared]
        if not values.problem.stacks:
            return Threat(player, 0.0, new, 0.0)
        placements = Placements(SearchState(end.armies, values.problem.owned), values)
        self._compared += comb(new + len(placements.places), new)
        if self._compared > MAX_COMPARED:
            self.shared_large.add(player)
            return None
        chance = placements.value(placements.rank_placements(new)[0])
        if placements.places and not placements.has_tried_all:
            self.shared_large.add(player)
            return None
        if not deadline.is_over:
            self._exact[key] = Threat(player, chance, new, chance)
        return self._exact.get(key)

    def _pose_problem(self, end: Turn, player: str) -> tuple[int, Problem]:
        """Return the new armies of an opponent, and the problem of their turn after an end."""
        theirs = begin_opponent_turn(end, player)
        rolled = theirs.with_options(whole_battles=False) if theirs.whole_battles else theirs
        new = self._count_new_armies(theirs, player)
        return new, pose_reinforced_problem(rolled, OpponentTakesAny(self.held), new)

    def _count_new_armies(self, end: Turn, player: str) -> int:
        return self.numbers[player] if player in self.numbers else end.new_armies(player)

    def estimate_hold_chance(self, end: Turn) -> float:
        """Return the chance to hold in a model where each enemy stack takes one route."""
        return self._compute_model_chance(end, self._list_routes(end))

    def _choose_best_move(self, turn: Turn, deadline: Deadline) -> Fortify:
        """Return the best fortifying move by exact search, or in the model on a large board."""
        if is_small(turn) and not self.shared_large:
            move = self._choose_best_exact_move(turn, deadline)
            if move is not None:
                return move
        routes = self._list_routes(turn)
        exposed = {route[0] for ways, _ in routes for way in ways.values() for route in way}
        moves = {
            each: self._compute_model_chance(turn.after(each), routes)
            for each in list_fortify_moves(turn, exposed)
        }
        best = max(moves, key=lambda move: moves[move], default=NOTHING)
        return best if moves.get(best, 0.0) > self._compute_model_chance(turn, routes) else NOTHING

    def _choose_best_exact_move(self, turn: Turn, deadline: Deadline) -> Fortify | None:
        """Return the fortifying move that holds most often; `None` if exact search is too large.

        Of moves that hold equally often, it is the move of the fewest armies.
        """
        best, most = NOTHING, -1.0
        moves = sorted(list_moves_to_compare(turn), key=lambda move: move.armies)
        for move in (NOTHING, *moves):
            after, held = turn if move is NOTHING else turn.after(move), 1.0
            for player in list_opponents(turn):
                threat = self._compute_exact_threat(after, player, deadline)
                if threat is None:
                    return None
                held *= 1.0 - threat.chance
                if held <= most + GAIN_BY_MOVE:
                    break
            else:
                best, most = move, held
        return best

    def _list_routes(self, turn: Turn) -> list[tuple[Routes, int]]:
        """Return the routes of each opponent to the targets, with the opponent's new armies."""
        return [
            (routes, self._count_new_armies(turn, player))
            for player in list_opponents(turn)
            if (routes := self.model.list_routes(turn, player, self.held, MAX_ROUTE))
        ]

    def _compute_model_chance(self, turn: Turn, attackers: list[tuple[Routes, int]]) -> float:
        return prod(self.model.compute_hold_chance(turn, routes, new) for routes, new in attackers)


class _Ends:
    """Simulated ends (final states) of a plan that reach the goal, with the turns that follow.

    outlook: evaluates the opponents' turns after each end.
    seed: the random seed for the dice.
    """

    def __init__(self, outlook: Outlook, plan: Plan, seed: int) -> None:
        self.outlook, self.plan = outlook, plan
        self._found = list[OpponentTurns]()
        self._known = dict[SearchState, OpponentTurns]()
        self._rng = np.random.default_rng(seed)

    def hold(self, ends: int, deadline: Deadline) -> Hold:
        """Estimate the chance to take and hold from the first `ends` ends.

        The chance is `None` if the deadline comes before enough ends.
        """
        plan, found = self.plan, self._found
        if plan.value is None:
            return Hold(plan, None, 0.0, None, 0.0, False, (), (), 0)
        if _compute_take_chance(plan) > MIN_GOAL_CHANCE_TO_HOLD:
            if len(found) < ends:
                self._draw_ends(ends, deadline)
            if len(found) < min(ends, MIN_ENDS):
                return Hold(plan, None, 0.0, None, 0.0, False, (), (), len(found))
        return _summarise(plan, found[:ends], not self.outlook.large)

    def _draw_ends(self, ends: int, deadline: Deadline) -> None:
        """Simulate the plan until there are `ends` ends, or until the deadline."""
        plan, found = self.plan, self._found
        held = make_mask(map(plan.problem.place, self.outlook.held))
        for end, _ in play_games(plan.policy, self._rng, deadline=deadline):
            if held & ~end.owned or plan.problem.is_lost(end):
                continue
            if end not in self._known:
                turn, is_bounded = plan.problem.make_turn(end), len(found) < BOUNDED_ENDS
                afterwards = self.outlook.evaluate_end(turn, is_bounded, deadline)
                if deadline.is_over:
                    return  # do not use the last result, whose search may be unfinished
                self._known[end] = afterwards
            found.append(self._known[end])
            if len(found) >= ends:
                return


def _compute_hold_chance(threats: Mapping[str, Threat]) -> float:
    return prod(1.0 - threat.chance for threat in threats.values())


def _read_reinforcements(turn: Turn, get: Mapping[str, int] | int | None) -> dict[str, int]:
    opponents = list_opponents(turn)
    if get is None:
        return {}
    if not isinstance(get, Mapping):
        return dict.fromkeys(opponents, read_int(get, "get", minimum=0))
    numbers = {}
    for player, number in get.items():
        owner = find_player(player, "get", opponents)
        numbers[owner] = read_int(number, f"get of {player}", minimum=0)
    return numbers


def _compute_take_chance(plan: Plan) -> float:
    """Return the chance that a plan takes its targets, or 0 if the chance is unknown."""
    return plan.win_probability or 0.0


def _compute_chance(held: Hold) -> float:
    return held.win_probability or 0.0


def _summarise(plan: Plan, found: list[OpponentTurns], proven: bool) -> Hold:
    if not found:  # no ends were simulated, because the plan almost never reaches the goal
        return Hold(
            plan, 0.0, _compute_take_chance(plan) / NORMAL_QUANTILE, 0.0, 0.0, True, (), (), 0
        )
    held = np.array([each.held for each in found])
    error = mean_error(held.tolist())
    threats = []
    for player in dict.fromkeys(player for each in found for player in each.threats):
        none = Threat(player, 0.0, 0, 0.0)
        rows = [each.threats.get(player, none) for each in found]
        chance, armies = np.mean([(row.chance, row.armies) for row in rows], axis=0).tolist()
        most = chance if proven else float(np.mean([row.at_most for row in rows[:BOUNDED_ENDS]]))
        threats.append(Threat(player, chance, armies, max(most, chance)))
    moves = defaultdict[tuple[str, str], list[int]](list)
    for each in found:
        moves[each.move.start, each.move.to].append(each.move.armies)
    reached = _compute_take_chance(plan)
    if plan.interval is not None:
        missed = (plan.interval[1] - plan.interval[0]) / (2 * NORMAL_QUANTILE)
        if plan.stages:
            # The interval of a plan for several goals is for their total worth, so compute the
            # error of the chance from the number of games.
            missed = sqrt(reached * (1 - reached) / plan.games)
        error = hypot(error, missed * float(held.mean()) / reached)
    least = held.mean() if proven else np.mean([each.at_least for each in found[:BOUNDED_ENDS]])
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
