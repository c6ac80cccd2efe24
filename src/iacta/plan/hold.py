"""Take and hold: the chance that what a plan takes is still the player's at his next turn.

The model, for each end of the plan in which its goal is reached:

1. The player fortifies: he moves some armies of one territory to another one, which is joined to it
   by his own territories (or beside it, or not at all, by the rule of the house).
2. Each opponent, by himself, meets the position as the player has left it. He gets new armies,
   places them where they help him most, and follows the best plan to take any of what is to be
   held, roll by roll.
3. It is held if no opponent takes any of it: with p_i the chances of their plans, Π (1 − p_i).

So opponents neither help each other nor stand in each other's way, and what one of them destroys is
there again for the next. The ends are drawn at random, so the chance is an estimate. The move that
fortifies is the one that leaves the greatest Π (1 − p_i) when each stack of an opponent fights one
battle, against the weakest territory beside it; the chances told are then those of whole plans.

On a small board p_i is that of the best of all placements and plays (`Search.proven`). Elsewhere an
opponent may have a better plan than the one that is found. Then Π (1 − p_i) is only the most that
can be hoped for, and Π (1 − q_i), with bounds q_i ≥ p_i of `iacta.plan.bound`, the least.

A plan that is best to take need not be best to hold. `take_and_hold` also tries plans in which one
of the largest stacks stays at home, or armies must remain on what is taken beside enemies, and
chooses the one with the greatest chance to take and hold.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from math import hypot, prod
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from iacta.board import Holding, Position
from iacta.checks import check_choice, read_seconds, shown, whole_number
from iacta.display import Displayed
from iacta.errors import IllegalError, MalformedError
from iacta.plan.bound import Bound
from iacta.plan.ends import drawn_ends
from iacta.plan.goals import InOrder, TakeAll, TakeAny, Worth, deed, names_in
from iacta.plan.plan import Plan, best_plan
from iacta.plan.problem import Problem, bits, mask_of, read_problem
from iacta.plan.reinforce import PlanOptions, Search, late_after, placed
from iacta.plan.search import reachable

if TYPE_CHECKING:
    import altair

__all__ = [
    "FORTIFY",
    "Fortified",
    "Hold",
    "Threat",
    "hold",
    "take_and_hold",
    "usual_reinforcements",
]

FORTIFY = ("connected", "adjacent", "none")
ENDS = 64
RARE = 1e-4  # ends of a plan that succeeds less often are not drawn
FEWEST_ENDS = 4
PARTS = (1.0, 0.75, 0.5, 0.25)  # of the armies that may move
MOST_SOURCES = 6
LANDS_FOR_AN_ARMY, FEWEST_NEW = 3, 3
NORMAL = 1.96
SAME = 1e-9
BOUNDED = 16  # ends at which the plans of opponents are bounded, where better ones may exist
MOST_STATES = 4_000  # of an opponent's turn, for the best play
MOST_AT_HOME = 3  # stacks, each of which stays at home in a plan that is tried
REMAIN = (2, 4)  # armies that must remain beside enemies in plans that are tried
SCOUTED = 12  # ends from which these plans are compared
MOST_TRIED = 1 + MOST_AT_HOME + len(REMAIN)
HOLD_PART = 0.5  # of the time, to compare them
ENOUGH = 0.999  # of the chance to take; where as much is held, no other plan is tried
GAIN = 1e-4


class Threat(NamedTuple):
    """What an opponent does to what is to be held.

    player: the opponent.
    chance: the chance that he takes any of it by the best plan that is found, if the goal was
        reached.
    armies: the new armies that he gets, on average.
    at_most: no plan of his takes any of it with a greater chance.
    """

    player: str
    chance: float
    armies: float
    at_most: float


class Fortified(NamedTuple):
    """A move at the end of the turn.

    start, to: the two territories; both empty where nothing is moved.
    part: in which part of the ends it is made.
    armies: how many armies move, on average.
    """

    start: str
    to: str
    part: float
    armies: float


@dataclass(frozen=True, repr=False)
class Hold(Displayed):
    """The chance that what a plan takes is held.

    plan: the plan.
    win_probability: the chance that the goal is reached and then held, an estimate.
    error: its standard error.
    unfortified: the same without a move at the end of the turn.
    at_least: what remains of the chance if each opponent's plan is as good as its bound.
    is_exact: whether the best plans of all opponents were found, at each end. If not, they may have
        better ones, and the chance may be smaller, down to `at_least`.
    threats: the opponents, the most dangerous first.
    moves: how the player fortifies, the most frequent move first.
    ends: from how many ends of the plan the chance is estimated.
    otherwise: what the best plan to take would hold, where another plan was chosen.
    """

    plan: Plan
    win_probability: float
    error: float
    unfortified: float
    at_least: float
    is_exact: bool
    threats: tuple[Threat, ...]
    moves: tuple[Fortified, ...]
    ends: int
    otherwise: "Hold | None" = None

    def plot(self, *context: Any) -> "altair.TopLevelMixin":
        """Return the picture of the plan; `context` is as for `Displayed.plot`."""
        return self.plan.plot(*context)

    def _summary(self) -> str:
        aim = deed(self.plan.position, self.plan.goal)
        return f"{aim} and hold it, {self.win_probability:.6g} (error {self.error:.2g})"

    @property
    def interval(self) -> tuple[float, float]:
        """An interval that has the chance in 95% of all cases."""
        low, high = (self.win_probability + s * NORMAL * self.error for s in (-1, 1))
        return max(low, 0.0), min(high, self.plan.win_probability)


def usual_reinforcements(position: Position, player: str) -> int:
    """Return the new armies of a player by the usual rule.

    position: who holds what.
    player: the player.

    One for each three territories, rounded down, but at least three; and the bonus of each
    continent that he owns.

    >>> from iacta.board.files import classic_board
    >>> mine = [Holding("red", 1)] * 9 + [Holding("blue", 1)] * 33
    >>> position = Position(classic_board(), "red", tuple(mine))
    >>> usual_reinforcements(position, "red")  # 9 territories, which are North America
    8
    """
    if not isinstance(position, Position):
        raise MalformedError(f"position must be a Position, got {shown(position)}")
    lands = {*position.owned_by(player)}
    bonus = sum(each.bonus for each in position.board.continents if lands >= {*each.territories})
    return max(len(lands) // LANDS_FOR_AN_ARMY, FEWEST_NEW) + bonus


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
    """Return the chance that a plan reaches its goal and no opponent takes any of it back.

    plan: a plan to take all of some territories, or goals in order.
    get: the new armies of each opponent, or a mapping from players to numbers; those not named,
        and all with `None`, get what the usual rule gives.
    fortify: `connected`, `adjacent` or `none`: where the armies may go that are moved at the end.
    ends: from how many ends of the plan the chance is estimated.
    seed: of the dice by which these are drawn.
    time_limit: about how many seconds it may take; at least four ends are looked at.
    options: as for `reinforce`; opponents play by the same rules, without the constraints.
    """
    if not isinstance(plan, Plan):
        raise MalformedError(f"plan must be a Plan, got {shown(plan)}")
    if not isinstance(plan.goal, TakeAll | InOrder):
        raise IllegalError(f"goal must be TakeAll or InOrder to be held, got {shown(plan.goal)}")
    if not plan.rules.garrison:
        raise IllegalError("garrison must be at least 1 to hold what is taken")
    check_choice(fortify, FORTIFY, "fortify")
    number = whole_number(ends, "ends", least=1)
    numbers = _reinforcements(plan.position, get)
    late = late_after(time_limit, 1.0)
    outlook = _Outlook(plan, numbers, fortify, options)
    found: list[_Afterwards] = []
    known: dict[tuple[Holding, ...], _Afterwards] = {}
    for end in islice(outlook.ends(seed), number):
        if end.holdings not in known:
            known[end.holdings] = outlook.afterwards(end, len(found) < BOUNDED)
        found.append(known[end.holdings])
        if len(found) >= FEWEST_ENDS and late():
            break
    return _told(plan, found, not outlook.large)


def _reinforcements(position: Position, get: Mapping[str, int] | int | None) -> dict[str, int]:
    """Return the new armies of the opponents for whom they are given."""
    others = {each.owner for each in position.holdings} - {"", position.player}
    if get is None:
        return {}
    if not isinstance(get, Mapping):
        return dict.fromkeys(others, whole_number(get, "get", least=0))
    numbers = {}
    for player, number in get.items():
        owner = position.of(position.owned_by(player)[0]).owner
        if owner == position.player:
            raise IllegalError(f"get must name opponents, got {owner}")
        numbers[owner] = whole_number(number, f"get of {player}", least=0)
    return numbers


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
    """Return the plan with the greatest chance to take and hold, of some that are tried.

    plan: the best plan to take, the first that is tried.
    get, fortify, ends, seed, time_limit: as for `hold`.
    options: as for `reinforce`, those of the plan.

    In the others one of the largest stacks stays at home, or some armies must remain on all that is
    taken beside enemies. They are compared by a few ends, and the best of them with the first by
    all; where the estimates do not tell them apart, the first is chosen.
    """
    time_limit = None if time_limit is None else read_seconds(time_limit, "time_limit")
    late = late_after(time_limit, HOLD_PART)
    given: dict[str, Any] = {"get": get, "fortify": fortify, "seed": seed}
    few = min(SCOUTED, whole_number(ends, "ends", least=1))
    part = None if time_limit is None else time_limit * HOLD_PART / MOST_TRIED
    tried = [hold(plan, ends=few, time_limit=part, **given, **options)]
    for more in _constraints(plan, options):
        if late() or tried[0].win_probability >= ENOUGH * plan.win_probability:
            break
        limited: PlanOptions = {**options, **more, "rules": plan.rules}
        other = best_plan(plan.position, plan.goal, time_limit=part, **limited)
        if other.win_probability > max(each.win_probability for each in tried):
            tried.append(hold(other, ends=few, time_limit=part, **given, **options))
    best = max(tried, key=lambda each: each.win_probability).plan
    rest = None if time_limit is None else time_limit * (1.0 - HOLD_PART) / 2
    found = hold(plan, ends=ends, time_limit=rest, **given, **options)
    if best is plan:
        return found
    chosen = hold(best, ends=ends, time_limit=rest, **given, **options)
    noise = NORMAL * hypot(chosen.error, found.error)
    if chosen.win_probability <= found.win_probability + max(noise, GAIN):
        return found
    # What bounds all play bounds the chosen plan, not what its own constraints allow.
    proven = best.interval is None and plan.upper_bound - best.value <= SAME
    told = replace(best, upper_bound=plan.upper_bound, proven=proven)
    return replace(chosen, plan=told, otherwise=found)


def _constraints(plan: Plan, options: PlanOptions) -> Iterator[PlanOptions]:
    """Yield constraints under which plans may hold more of what they take."""
    position, names = plan.position, names_in(plan.goal)  # type: ignore[arg-type] # not a worth
    stay = options.get("may_not_move", ())
    resting = (stay,) if isinstance(stay, str) else tuple(stay)
    mine = [position.board.territories[v] for v, _ in plan.problem.stacks()]
    largest = sorted(mine, key=lambda name: -position.of(name).armies)
    if len(largest) > 1:
        for name in largest[:MOST_AT_HOME]:
            yield {"may_not_move": (*resting, name)}
    edge = [
        name
        for name in names
        if any(
            position.of(near).owner not in ("", position.player) and near not in names
            for near in position.board.neighbours(name)
        )
    ]
    for number in REMAIN if edge else ():
        yield {"keep": {**dict.fromkeys(edge, number), **(options.get("keep") or {})}}


class _Afterwards(NamedTuple):
    """What becomes of an end of the plan.

    held, unfortified: the chances that it is held, with and without a move before.
    threats: what the opponents do.
    move: the two territories of the move, and the armies.
    """

    held: float
    unfortified: float
    threats: dict[str, Threat]
    move: tuple[str, str, int]

    @property
    def at_least(self) -> float:
        """The chance that it is held if each opponent's plan is as good as its bound."""
        return prod(1.0 - each.at_most for each in self.threats.values())


def _told(plan: Plan, found: list[_Afterwards], is_exact: bool) -> Hold:
    if not found:
        return Hold(plan, 0.0, 0.0, 0.0, 0.0, True, (), (), 0)
    held = np.array([each.held for each in found])
    error = float(held.std(ddof=1)) / len(found) ** 0.5 if len(found) > 1 else 0.0
    players = dict.fromkeys(player for each in found for player in each.threats)
    threats = []
    for player in players:
        none = Threat(player, 0.0, 0, 0.0)
        rows = [each.threats.get(player, none) for each in found]
        chance, armies = np.mean([(each.chance, each.armies) for each in rows], axis=0).tolist()
        most = chance if is_exact else float(np.mean([each.at_most for each in rows[:BOUNDED]]))
        threats.append(Threat(player, chance, armies, max(most, chance)))
    least = [min(each.at_least, each.held) for each in found[:BOUNDED]]
    moves = Counter(each.move[:2] for each in found)
    armies = {
        pair: float(np.mean([each.move[2] for each in found if each.move[:2] == pair]))
        for pair in moves
    }
    reached = plan.win_probability
    return Hold(
        plan,
        reached * float(held.mean()),
        reached * error,
        reached * float(np.mean([each.unfortified for each in found])),
        reached * float(held.mean() if is_exact else np.mean(least)),
        is_exact,
        tuple(sorted(threats, key=lambda threat: -threat.chance)),
        tuple(
            Fortified(*pair, count / len(found), armies[pair])
            for pair, count in moves.most_common()
        ),
        len(found),
    )


class _Outlook:
    """What opponents may do after a plan."""

    def __init__(
        self, plan: Plan, numbers: Mapping[str, int], fortify: str, options: PlanOptions
    ) -> None:
        self.plan, self.numbers, self.fortify = plan, numbers, fortify
        self.problem: Problem = plan.problem
        goal = plan.goal
        self.held = () if isinstance(goal, Worth) else names_in(goal)
        theirs: dict[str, Any] = {
            name: value
            for name, value in options.items()
            if name not in ("keep", "may_not_move", "rules", "play")
        }
        self.theirs: Any = {"rules": plan.rules, **theirs}
        self.large: set[str] = set()  # the opponents with too many states for the best play
        self.places = {name: t for t, name in enumerate(plan.position.board.territories)}
        self._wins = cache(self._find_wins)

    def ends(self, seed: int) -> Iterator[Position]:
        """Yield ends of the plan in which its goal is reached."""
        if self.plan.win_probability <= RARE:
            return
        plan, rng = self.plan, np.random.default_rng(seed)
        for end in drawn_ends(plan.position, plan.policy, rng):
            if all(end.of(name).owner == end.player for name in self.held):
                yield end

    def afterwards(self, end: Position, is_bounded: bool) -> _Afterwards:
        """Return what becomes of an end.

        is_bounded: whether the plans of opponents are bounded; otherwise the bound is 1, unless
            their best plans are found.
        """
        move = self._best_move(end)
        threats = self._threats(_moved(end, move))
        before = threats if not move[2] else self._threats(end)
        held, unfortified = (
            prod(1.0 - each.chance for each in some.values()) for some in (threats, before)
        )
        if unfortified > held:  # whole plans see what single battles do not
            held, threats, move = unfortified, before, ("", "", 0)
        if is_bounded:
            after = _moved(end, move)
            threats = {player: self._bounded(after, each) for player, each in threats.items()}
        return _Afterwards(held, unfortified, threats, move)

    def _opponents(self, end: Position) -> list[str]:
        return sorted({each.owner for each in end.holdings} - {"", end.player})

    def _new(self, end: Position, player: str) -> int:
        if player in self.numbers:
            return self.numbers[player]
        return usual_reinforcements(end, player)

    def _threats(self, end: Position) -> dict[str, Threat]:
        """Return what each opponent does, by the best plan that is found."""
        return {player: self._threat(end, player) for player in self._opponents(end)}

    def _threat(self, end: Position, player: str) -> Threat:
        new, theirs = self._new(end, player), replace(end, player=player)
        if player not in self.large:
            exact = self._proven(theirs, new)
            if exact is not None:
                return Threat(player, exact, new, exact)
            self.large.add(player)
        beside = self._beside(end, player)
        largest = max(end.owned_by(player), key=lambda name: end.of(name).armies)
        places = {largest: None}
        if beside:
            places |= {self._missed(end, beside, new)[1]: None}
        goal, rules = TakeAny(self.held), self.theirs
        plans = [
            best_plan(placed(theirs, [(name, new)]), goal, play="battles", time_limit=0, **rules)
            for name in places
        ]
        chance = max(plan.value for plan in plans)
        return Threat(player, chance, new, 1.0)

    def _bounded(self, end: Position, threat: Threat) -> Threat:
        """Return what an opponent does, with a bound on what he could do."""
        if threat.player not in self.large:
            return threat
        bound = self._bound(replace(end, player=threat.player), self._new(end, threat.player))
        return threat._replace(at_most=max(min(bound, threat.at_most), threat.chance))

    def _proven(self, theirs: Position, new: int) -> float | None:
        """Return the chance of an opponent's best play, if it can be found."""
        search = Search(theirs, TakeAny(self.held), self.theirs)
        if not search.places:
            return 0.0
        found = search.proven(new, MOST_STATES)
        return None if found is None else found[1]

    def _bound(self, theirs: Position, new: int) -> float:
        """Return a bound on the chance of any play of an opponent, wherever his new armies stand.

        The bound of `iacta.plan.bound` rises with the armies that stacks have left when they come
        next to a target. Their sum is convex in the placement, so greatest where all new armies
        stand together. One more army makes a stack of each territory that has too few.
        """
        places = Search(theirs, TakeAny(self.held), self.theirs).places
        few = [name for name in places if theirs.of(name).armies <= self.problem.rules.garrison]
        raised = placed(theirs, [(name, 1) for name in few])
        most = max((raised.of(name).armies for name in places), default=0) + new
        best = dict.fromkeys(self._outer(), 0.0)
        for name in places:
            rules_of = self.theirs.get("rules_of")
            there = placed(raised, [(name, new)])
            problem = read_problem(there, self.theirs["rules"], {}, (), rules_of)
            bound, field = Bound(problem), reachable(problem)
            bound.most = most - problem.rules.garrison
            for t in best:
                best[t] = max(best[t], bound.chance(1 << t, field))
        return min(1.0, sum(best.values()))

    def _outer(self) -> list[int]:
        """Return what of all that is to be held can be attacked first."""
        near, held = self.problem.borders.near, mask_of(self.places[name] for name in self.held)
        return [t for t in bits(held) if near[t] & ~held]

    def _beside(self, end: Position, player: str) -> dict[str, list[str]]:
        """Return what an opponent's territories can attack of what is to be held."""
        held, neighbours = {*self.held}, end.board.neighbours
        found = {
            name: [each for each in neighbours(name) if each in held]
            for name in end.owned_by(player)
        }
        return {name: near for name, near in found.items() if near}

    def _missed(
        self, end: Position, beside: Mapping[str, list[str]], new: int
    ) -> tuple[float, str]:
        """Return the chance that no stack of an opponent wins its battle, and his best placement.

        beside: what his territories can attack.
        """

        def missed(name: str, more: int) -> float:
            armies = end.of(name).armies + more
            return 1.0 - max(self._win(armies, each, end.of(each).armies) for each in beside[name])

        alone = {name: missed(name, 0) for name in beside}
        options = []
        for name in beside:
            others = prod(chance for other, chance in alone.items() if other != name)
            options.append((missed(name, new) * others, name))
        return min(options)

    def _win(self, armies: int, territory: str, defenders: int) -> float:
        able = armies - self.problem.rules.garrison
        if able <= 0:
            return 0.0
        size = 1 << (able - 1).bit_length()  # few tables serve all numbers
        kind = self.problem.kinds[self.places[territory]]
        return float(self._wins(kind, size, defenders)[able])

    def _find_wins(self, kind: int, able: int, defenders: int) -> npt.NDArray[np.float64]:
        transition = self.problem.kernels[kind].transitions(able, defenders)
        return np.asarray(transition.won.sum(axis=1))

    def _best_move(self, end: Position) -> tuple[str, str, int]:
        """Return the move that leaves opponents the least, when each stack fights one battle."""
        players = [(self._beside(end, each), self._new(end, each)) for each in self._opponents(end)]
        threats = [(beside, new) for beside, new in players if beside]
        if not threats:
            return "", "", 0

        def held(position: Position) -> float:
            return prod(self._missed(position, beside, new)[0] for beside, new in threats)

        exposed = {name for beside, _ in threats for near in beside.values() for name in near}
        best, best_held = ("", "", 0), held(end)
        for move in self._moves(end, exposed):
            value = held(_moved(end, move))
            if value > best_held:
                best, best_held = move, value
        return best

    def _moves(self, end: Position, exposed: set[str]) -> Iterator[tuple[str, str, int]]:
        """Yield moves from the largest stacks to territories that can be attacked."""
        if self.fortify == "none":
            return
        spare = {
            name: end.of(name).armies - self.problem.garrisons[self.places[name]]
            for name in end.owned_by(end.player)
        }
        sources = sorted(spare, key=lambda name: -spare[name])[:MOST_SOURCES]
        for start in sources:
            for to in self._within_reach(end, start):
                if to in exposed and to != start:
                    numbers = {int(part * spare[start]) for part in PARTS}
                    yield from ((start, to, number) for number in numbers if number > 0)

    def _within_reach(self, end: Position, start: str) -> list[str]:
        """Return where the armies of a territory may be moved at the end of the turn."""
        mine = {*end.owned_by(end.player)}
        reached = [name for name in end.board.neighbours(start) if name in mine]
        if self.fortify == "connected":
            for name in reached:
                more = (each for each in end.board.neighbours(name) if each in mine)
                reached += [each for each in more if each not in reached and each != start]
        return reached


def _moved(end: Position, move: tuple[str, str, int]) -> Position:
    """Return a position after the move of some armies."""
    start, to, number = move
    if not number:
        return end
    holdings = dict(zip(end.board.territories, end.holdings, strict=True))
    holdings[start] = Holding(end.player, holdings[start].armies - number)
    holdings[to] = Holding(end.player, holdings[to].armies + number)
    return replace(end, holdings=tuple(holdings.values()))
