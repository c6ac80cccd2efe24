"""Threats: the goals that opponents could reach on their next turns, with their chances.

Each threat is considered alone: opponent q gets their usual new armies, places all of them where
they help goal g most, and plays only for g against the present position. Let f range over the
placements, and let V_g be the chance of the best play for g. Then

    threat(q, g) = max_f V_g(position with f),

An opponent can pursue only one threat at a time, so their chances must not be added. The goals are
to take a territory, to break a continent that the player owns, to eliminate the player, and to win
the game. A conquest that wins the game ends the opponent's turn. A quick estimate
(`iacta.plan.quick_estimates`) compares placements and bounds the chance of any play; a plan then
improves the play after the best placement. If one threat of an opponent implies another, as taking
a territory implies breaking its continent, its chance is not the greater of the two.

The player's loss is counted in new armies per turn: a continent counts as its bonus, and a
territory as a third of an army:

    loss = Σ_C max_q threat(q, C) · bonus(C) + Σ_t max_q threat(q, t) / 3.

The best fortifying move lowers the loss of bonuses most. Among moves whose bonuses agree to .01
armies, it lowers the loss of territories most. Bonuses come first because losing a single territory
loses the whole bonus, while three territories make one army. A move that does not lower the total
loss is never recommended. If at most seven territories have owners, exact search compares all
moves, or only some if there are more than 200. On larger boards, single battles
(`iacta.plan.opponents`) select a few moves, and quick estimates and plans decide between them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from operator import mul
from typing import Literal, NamedTuple, TypeAlias

from iacta.game import Fortify, Turn
from iacta.game.turn import TERRITORIES_PER_ARMY
from iacta.game.victory import SURVIVAL
from iacta.inputs.checks import quote
from iacta.inputs.errors import MalformedError
from iacta.inputs.meanings import Count, Unit
from iacta.native.deadline import Deadline, run_in_threads
from iacta.plan.goals import Goal, make_owned_mask
from iacta.plan.opponents import (
    OpponentTakesAll,
    OpponentTakesAny,
    SingleBattles,
    begin_opponent_turn,
    list_fortify_moves,
    list_moves_to_compare,
    list_opponents,
)
from iacta.plan.problem import SearchState, enter_phase, refuse_large_board
from iacta.plan.quick_estimates import (
    MIN_GAP,
    NOT_TRIED,
    SMALL_STATES,
    Conquest,
    QuickEstimate,
    estimate_goal,
    improve_estimate,
    list_implied,
    order_estimates,
)
from iacta.plan.reinforcement import (
    Placement,
    Placements,
    QuickValues,
    is_small,
    pose_reinforced_problem,
)
from iacta.plan.winning import find_win

Kind: TypeAlias = Literal["take", "break", "eliminate", "win"]

ESTIMATE_SHARE = 0.4  # fraction of the remaining time for quick estimates of the chances
PLAN_SHARE = 0.6  # fraction of the time after the estimates for plans; a move gets the rest
MAX_PLANNED_MOVES = 2  # maximum number of fortifying moves to compare on a large board
# The fortifying move must lower the greatest chance of a threat by at least this much.
MIN_LOWERED_CHANCE = 0.01
SMALL = 1e-9  # chances and reductions of a loss up to this limit are treated as 0


class Threatened(NamedTuple):
    """A goal that an opponent could reach on their next turn.

    player: the opponent.
    kind: `"take"` a territory, `"break"` a continent, `"eliminate"` the player, or `"win"`.
    name: the territory, the continent, or the player; empty for a win.
    chance: the chance of the best play found; 0 if there was no time to evaluate any play. For a
        win with a hidden mission, the mean over the missions that remain possible.
    interval: the 95% interval of an estimate from games; `None` for an exact chance, or if no play
        was evaluated.
    at_most: an upper bound on the chance with any placement and play.
    armies: the number of the opponent's new armies.
    placement: pairs (territory, number of new armies), most armies first; empty if no placement was
        found in time, and for a win with several possible missions.
    is_certain: whether the goal needs no attack, so that its chance is exactly 1.
    """

    player: str
    kind: Kind
    name: str
    chance: Unit
    interval: tuple[float, float] | None
    at_most: Unit
    armies: Count
    placement: Placement
    is_certain: bool = False


class HelpfulMove(NamedTuple):
    """The fortifying move that reduces the expected losses to opponents most.

    start: the territory that the armies leave.
    to: the territory that the armies enter.
    armies: the number of armies that move.
    kept: the reduction of the expected loss, in new armies per turn.
    before: the greatest threat, before the move, to the territory or continent that the move helps
        most.
    after: the greatest threat to the same territory or continent after the move.
    """

    start: str
    to: str
    armies: int
    kept: float
    before: Threatened
    after: Threatened


@dataclass(frozen=True)
class Threats:
    """The threats of all opponents to a player. Each threat is considered alone.

    player: the player.
    threats: the threats that are not known to be impossible (their upper bound is greater than 0),
        likeliest first.
    move: the best fortifying move, or `None` if no move is known to help.
    is_complete: whether there was enough time for the whole search.
    """

    player: str
    threats: tuple[Threatened, ...]
    move: HelpfulMove | None
    is_complete: bool


def threats(
    turn: Turn,
    *,
    time_limit: float | Fraction | None = None,
    progress: Callable[[Threats, float], object] | None = None,
) -> Threats:
    """Return the threats to the player to move, on the next turn of each opponent.

    turn: a turn in any phase. The threats are computed as if the player stopped at once.
    time_limit: the maximum time in seconds; a shorter search compares fewer plays.
    progress: a callback that receives the result so far and the fraction of the work that is done.

    Each threat is considered alone. Opponents get the usual new armies, trade in no cards, and are
    not restricted by `keep` or `stay`. A game that is over has no threats. Rules under which armies
    can grow raise an error.

    >>> turn = Turn.from_code("1;classic;red;Peru:red:3,Venezuela:blue:5,Brazil:green:1")
    >>> for each in threats(turn).threats:
    ...     print(each.player, each.kind, each.name, f"{each.chance:.4f}", each.placement)
    blue take Peru 0.9099 (('Venezuela', 3),)
    blue eliminate red 0.9099 (('Venezuela', 3),)
    green take Peru 0.4703 (('Brazil', 3),)
    green eliminate red 0.4703 (('Brazil', 3),)
    """
    if not isinstance(turn, Turn):
        raise MalformedError(f"turn must be a Turn, got {quote(turn)}")
    refuse_large_board(turn.board, "threats")
    if turn.winner is not None:
        return Threats(turn.player, (), None, is_complete=True)
    deadline = Deadline.from_time_limit(time_limit)
    aims = [*_list_aims(turn)]
    search, move, is_complete = _ThreatSearch(turn, aims), None, False

    def make_threats() -> Threats:
        estimates = search.make_consistent(search.known)
        every = ((aim, _make_threat(aim, estimate)) for aim, estimate in estimates.items())
        some = (each for each in _merge_wins(every) if each.at_most > SMALL)
        ranked = sorted(some, key=lambda each: (-each.chance, -each.at_most))
        return Threats(turn.player, tuple(ranked), move, is_complete)

    try:
        for part in search.estimate(deadline):
            if progress is not None:
                progress(make_threats(), part)
        move = _find_helpful_move(search, deadline)
        is_complete = not deadline.is_over
    except KeyboardInterrupt:
        deadline.stop()
        if not search.known:
            raise
    return make_threats()


class _Aim(NamedTuple):
    """A goal that an opponent may play for, with the player's loss if the opponent succeeds."""

    player: str
    kind: Kind
    name: str
    goal: Goal
    armies: int  # the number of the opponent's new armies
    worth: float  # the player's loss, in new armies per turn
    placement: Placement | None = None  # a placement that reaches the goal without any attack
    share: float = 1.0  # for a goal that wins: the chance that the opponent has this mission

    @property
    def lost(self) -> "_Lost":
        """The kind and the name of the territory or continent that the player would lose."""
        return self.kind, self.name


_Lost: TypeAlias = tuple[Kind, str]


def _list_aims(turn: Turn) -> Iterator[_Aim]:
    board, mine = turn.board, turn.position.list_territories(turn.player)
    whole = [
        continent
        for continent in board.continents
        if continent.territories and {*continent.territories} <= {*mine}
    ]
    for player in list_opponents(turn):
        new = turn.new_armies(player)
        for name in mine:
            goal = OpponentTakesAll((name,))
            yield _Aim(player, "take", name, goal, new, 1 / TERRITORIES_PER_ARMY)
        for each in whole:
            broken = OpponentTakesAny(each.territories)
            yield _Aim(player, "break", each.name, broken, new, each.bonus)
        yield _Aim(player, "eliminate", turn.player, OpponentTakesAll(tuple(mine)), new, 0.0)
        possible = turn.victory.list_possible(turn, player) if turn.victory != SURVIVAL else []
        for k, (share, victory) in enumerate(possible):
            win = find_win(turn.with_options(victory=victory), player)
            if win is not None:
                yield _Aim(player, "win", str(k), win.goal, new, 0.0, win.placement, share)


class _ThreatSearch:
    """A search for the chances of all opponents to reach their goals after a turn.

    turn: the turn, whose owners and armies the opponents face.
    aims: the opponents' goals.
    """

    def __init__(self, turn: Turn, aims: list[_Aim]) -> None:
        self.turn, self.aims = turn, aims
        self.theirs = dict[str, Turn]()  # the next turn of each opponent
        self.first = dict[_Aim, QuickEstimate]()  # the quick estimate of each goal
        self.known = dict[_Aim, QuickEstimate]()  # the estimate of each goal, improved by plans
        # For each goal, the goals that it implies. They depend only on the owners of territories,
        # so they stay the same after a fortifying move.
        self.implied = dict[_Aim, list[_Aim]]()
        for player in dict.fromkeys(aim.player for aim in aims):
            theirs = self.theirs[player] = begin_opponent_turn(turn, player)
            own = (aim for aim in aims if aim.player == player)
            self.implied |= list_implied({aim: Conquest.for_goal(aim.goal, theirs) for aim in own})

    def make_consistent(self, estimates: Mapping[_Aim, QuickEstimate]) -> dict[_Aim, QuickEstimate]:
        """Return the estimates of all goals, made consistent.

        No goal then has a greater chance than a goal that it implies.
        """
        return order_estimates(
            {aim: estimates.get(aim, NOT_TRIED) for aim in self.aims}, self.implied
        )

    def select_estimates(self, planned: set[_Lost]) -> dict[_Aim, QuickEstimate]:
        """Return consistent estimates of all goals.

        planned: the territories and continents for which estimates improved by plans are used.
        """
        estimates = ((self.known if aim.lost in planned else self.first) for aim in self.aims)
        return self.make_consistent(
            {aim: found[aim] for aim, found in zip(self.aims, estimates, strict=True)}
        )

    def estimate(self, deadline: Deadline) -> Iterator[float]:
        """Estimate the chance of each goal, then improve it by plans; yield the fraction done."""
        for done in self.estimate_first(deadline.take_share(ESTIMATE_SHARE)):
            yield 0.5 * done
        unsure = [aim for aim, each in self.known.items() if each.at_most - each.chance > MIN_GAP]
        unsure.sort(key=lambda aim: -self.known[aim].at_most * (aim.worth or SMALL))
        for done in self.plan(unsure, deadline.take_share(PLAN_SHARE)):
            yield 0.5 + 0.5 * done

    def estimate_first(self, deadline: Deadline) -> Iterator[float]:
        """Make a quick estimate of the chance of each goal; yield the fraction done."""
        estimates = run_in_threads(self._estimate, self.aims, deadline)
        for done, (aim, estimate) in enumerate(estimates, 1):
            self.first[aim] = self.known[aim] = estimate
            yield done / len(self.aims)

    def plan(self, aims: list[_Aim], deadline: Deadline) -> Iterator[float]:
        """Improve the estimated chances of some goals by plans; yield the fraction done."""
        for done, (aim, estimate) in enumerate(run_in_threads(self._plan, aims, deadline), 1):
            self.known[aim] = estimate
            yield done / len(aims)

    def _estimate(self, aim: _Aim, deadline: Deadline) -> QuickEstimate:
        return estimate_goal(self.theirs[aim.player], aim.goal, deadline)

    def _plan(self, aim: _Aim, deadline: Deadline) -> QuickEstimate:
        return improve_estimate(self.theirs[aim.player], aim.goal, self.known[aim], deadline)


def _make_threat(aim: _Aim, estimate: QuickEstimate) -> Threatened:
    if aim.placement is not None:
        return Threatened(*aim[:3], 1.0, None, 1.0, aim.armies, aim.placement, True)
    return Threatened(*aim[:3], *estimate[:3], aim.armies, estimate.placement)


def _merge_wins(threats: Iterable[tuple[_Aim, Threatened]]) -> Iterator[Threatened]:
    """Yield all threats, but only one threat to win for each opponent.

    Its chance is the mean of the chances for each mission that the opponent may have.
    """
    wins = dict[str, list[tuple[_Aim, Threatened]]]()
    for aim, each in threats:
        if aim.kind == "win":
            wins.setdefault(aim.player, []).append((aim, each))
        else:
            yield each
    for player, pairs in wins.items():
        spans = [each.interval or (each.chance, each.chance) for _, each in pairs]
        shares = [aim.share for aim, _ in pairs]
        low, high = (sum(map(mul, shares, ends)) for ends in zip(*spans, strict=True))
        chance, at_most = (
            sum(map(mul, shares, ends))
            for ends in zip(*((each.chance, each.at_most) for _, each in pairs), strict=True)
        )
        placement = pairs[0][1].placement if len(pairs) == 1 else ()
        interval = None if low == high else (low, high)
        is_certain = all(each.is_certain for _, each in pairs)
        numbers = chance, interval, at_most, pairs[0][0].armies
        yield Threatened(player, "win", "", *numbers, placement, is_certain)


def _find_helpful_move(search: _ThreatSearch, deadline: Deadline) -> HelpfulMove | None:
    """Return the fortifying move that lowers the loss most; `None` if no move is known to help."""
    turn = search.turn
    if turn.phase == "over" or turn.fortify == "none" or len(search.first) < len(search.aims):
        return None
    last = enter_phase(turn, "fortify")
    compare = _compare_all_moves if is_small(turn) else _compare_some_moves
    return _choose_best(compare(search, last, deadline))


_Estimates: TypeAlias = dict[_Aim, QuickEstimate]
# A list of fortifying moves, each with the estimates of all goals before and after the move.
_Compared: TypeAlias = list[tuple[Fortify, _Estimates, _Estimates]]


def _choose_best(compared: _Compared) -> HelpfulMove | None:
    """Return the fortifying move that lowers the loss most, or `None`.

    The greatest threat to the territory or continent that the move helps most must fall by at least
    `MIN_LOWERED_CHANCE`. Another opponent may be the most dangerous one after the move.
    """
    best, most = None, (0.0, SMALL)
    for move, before, after in compared:
        savings = _compute_savings(before, after)
        in_all = sum(savings.values())
        if in_all > SMALL and (rank := _make_savings_key(savings)) > most:
            first = max(savings, key=lambda lost: _make_savings_key({lost: savings[lost]}))
            threats = (
                _make_threat(*_choose_worst(estimates)[first]) for estimates in (before, after)
            )
            old, new = threats
            if old.chance - new.chance >= MIN_LOWERED_CHANCE:
                best = HelpfulMove(move.start, move.to, move.armies, in_all, old, new)
                most = rank
    return best


def _choose_worst(estimates: _Estimates) -> dict[_Lost, tuple[_Aim, QuickEstimate]]:
    """Return, for each territory and continent, the greatest threat to it and its estimate."""
    worst = dict[_Lost, tuple[_Aim, QuickEstimate]]()
    for aim, estimate in estimates.items():
        if aim.worth and (aim.lost not in worst or estimate.chance > worst[aim.lost][1].chance):
            worst[aim.lost] = aim, estimate
    return worst


def _compute_savings(before: _Estimates, after: _Estimates) -> dict[_Lost, float]:
    """Return, for each territory and continent, by how much a move reduces the expected loss."""
    worst = _choose_worst(after)
    return {
        lost: aim.worth * (estimate.chance - worst[lost][1].chance)
        for lost, (aim, estimate) in _choose_worst(before).items()
    }


def _make_savings_key(savings: Mapping[_Lost, float]) -> tuple[float, float]:
    """Return the reduction of the loss of bonuses, rounded to .01, and of the loss of territories.

    savings: the reduction of the expected loss for each territory and continent.
    """
    bonuses = sum(value for (kind, _), value in savings.items() if kind == "break")
    return round(bonuses, 2), sum(value for (kind, _), value in savings.items() if kind != "break")


def _compare_all_moves(search: _ThreatSearch, last: Turn, deadline: Deadline) -> _Compared:
    """Return all fortifying moves with the exact threats before and after each move.

    The result is empty if the search exceeds a limit. If there are more than 200 moves, each stack
    moves only certain fractions of its armies.

    One search per goal evaluates all moves. Its problem gives each territory the largest number of
    armies that any move leaves there, so the position after every move is a state of this problem.
    """
    moves = list_moves_to_compare(last)
    ends = [last, *(last.after(each) for each in moves)]
    largest = last.replace_armies(
        last.owners, tuple(map(max, zip(*(end.armies for end in ends), strict=True)))
    )
    estimates: list[_Estimates] = [{} for _ in ends]
    for aim in search.aims:
        if not aim.worth:
            continue
        theirs = begin_opponent_turn(largest, aim.player)
        problem = pose_reinforced_problem(theirs, aim.goal, aim.armies)
        values = QuickValues(problem, deadline, SMALL_STATES)
        for end, found in zip(ends, estimates, strict=True):
            placements = Placements(SearchState(end.armies, make_owned_mask(theirs)), values)
            best = placements.rank_placements(aim.armies)[0]
            if deadline.is_over or (placements.places and not placements.has_tried_all):
                return []
            chance = min(placements.value(best), 1.0)
            found[aim] = QuickEstimate(chance, None, chance, best)
    return [(move, estimates[0], after) for move, after in zip(moves, estimates[1:], strict=True)]


def _compare_some_moves(search: _ThreatSearch, last: Turn, deadline: Deadline) -> _Compared:
    """Compare the best moves by `_select_moves`; return them with threats before and after.

    Chances can be compared only if they come from the same kind of search. A move must therefore
    lower the loss both by quick estimates and by plans.
    """
    settled: _Compared = []
    moves = [*islice(_select_moves(search, last, deadline), MAX_PLANNED_MOVES)]
    before = search.make_consistent(search.first)
    for left, move in zip(range(len(moves), 0, -1), moves, strict=True):
        part = deadline.take_share(1 / left)
        there = _ThreatSearch(last.after(move), search.aims)
        for _ in there.estimate_first(part.take_share(ESTIMATE_SHARE)):
            pass
        if len(there.first) < len(search.aims):
            break
        savings = _compute_savings(before, there.make_consistent(there.first))
        if sum(savings.values()) <= SMALL or _make_savings_key(savings) <= (0.0, SMALL):
            continue
        changed = {lost for lost, value in savings.items() if abs(value) > SMALL}
        # The chance of a goal is at least the chance of any goal that implies it.
        changed |= {
            aim.lost
            for aim, implied in search.implied.items()
            if not changed.isdisjoint(other.lost for other in implied)
        }
        unsure = (
            aim
            for aim, estimate in there.first.items()
            if estimate.at_most - estimate.chance > MIN_GAP
        )
        for _ in there.plan([aim for aim in unsure if aim.lost in changed], part):
            pass
        if deadline.is_over:
            break
        settled.append((move, search.select_estimates(changed), there.select_estimates(changed)))
    return settled


def _select_moves(search: _ThreatSearch, last: Turn, deadline: Deadline) -> Iterator[Fortify]:
    """Yield the moves that lower the loss if each stack fights one battle, best first."""
    battles, beside = SingleBattles(last), {}
    for aim in search.aims:
        if deadline.is_over:
            return
        held = aim.goal.resolve_names(last.board).names if aim.worth else ()
        if near := battles.list_routes(last, aim.player, held, 1):
            beside[aim] = near

    def compute_loss(there: Turn) -> dict[_Lost, float]:
        worst = dict[_Lost, float]()
        for aim, near in beside.items():
            loss = aim.worth * (1.0 - battles.compute_hold_chance(there, near, aim.armies))
            worst[aim.lost] = max(worst.get(aim.lost, 0.0), loss)
        return worst

    before, ranks = compute_loss(last), dict[Fortify, tuple[float, float]]()
    exposed = {route[0] for near in beside.values() for route in chain(*near.values())}
    for move in list_fortify_moves(last, exposed):
        if deadline.is_over:
            break
        after = compute_loss(last.after(move))
        ranks[move] = _make_savings_key({lost: before[lost] - after[lost] for lost in before})
    helpful = (move for move, rank in ranks.items() if rank > (0.0, SMALL))
    yield from sorted(helpful, key=lambda move: ranks[move], reverse=True)
