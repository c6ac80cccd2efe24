"""Threats: the goals that opponents could reach on their next turns, with their chances.

A threat is a goal of an opponent's next turn from the present position: to take a territory, to
break a continent that the player owns, to eliminate the player, or to win the game. The opponent
gets the usual new armies, places all of them for this goal, and plays only for it. Its chance is
the chance of the opponent's plan (`iacta.plan.goal_plan`), so it is also the chance in the
opponent's own list of goals when their turn begins in the same position.

An opponent can pursue only one threat at a time, so their chances must not be added. The player's
loss is counted in new armies per turn: a continent counts as its bonus, and a territory as 1/n
army if the rules give an army for n territories (usually 3):

    loss = Σ_C max_q threat(q, C) · bonus(C) + Σ_t max_q threat(q, t) / n.

The best fortifying move lowers the loss of bonuses most. Among moves whose bonuses agree to .01
armies, it lowers the loss of territories most. Bonuses come first because losing a single territory
loses the whole bonus, while only n territories make one army. A move that does not lower the total
loss is never recommended. If at most seven territories have owners, exact search selects a few
moves among all, or among some if there are more than 200. On larger boards, single battles
(`iacta.plan.opponents`) select them. Plans of the same level decide between these moves, so the
chance that a move promises is the chance after the move.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from operator import mul
from typing import Literal, NamedTuple, TypeAlias

from iacta.analysis.analysis import (
    GoalAnalysis,
    Task,
    find_plans,
    make_numbers,
    may_succeed,
    order_goals,
)
from iacta.analysis.goals import GoalRecord
from iacta.game import Fortify, Turn
from iacta.game.victory import SURVIVAL
from iacta.inputs.checks import FrozenDict, quote
from iacta.inputs.errors import MalformedError
from iacta.inputs.meanings import Count, Unit
from iacta.native.deadline import Deadline
from iacta.plan.goal_plan import MIN_GOAL_CHANCE
from iacta.plan.goals import TakeAll, TakeAny, make_owned_mask
from iacta.plan.levels import USUAL, Level, list_levels, read_level
from iacta.plan.named_goals import read_goal_record
from iacta.plan.opponents import (
    OpponentTakesAll,
    OpponentTakesAny,
    SingleBattles,
    begin_opponent_turn,
    list_fortify_moves,
    list_moves_to_compare,
    list_opponents,
)
from iacta.plan.placements import (
    SMALL_STATES,
    Placement,
    Placements,
    QuickValues,
    is_small,
    pose_reinforced_problem,
)
from iacta.plan.problem import SearchState, enter_phase, refuse_large_board
from iacta.plan.winning import find_win

Kind: TypeAlias = Literal["take", "break", "eliminate", "win"]

MAX_PLANNED_MOVES = 2  # maximum number of fortifying moves that plans compare
# The fortifying move must lower the greatest chance of a threat by at least this much.
MIN_LOWERED_CHANCE = 0.01
SMALL = 1e-9  # reductions of a loss up to this limit are treated as 0


class Threatened(NamedTuple):
    """A goal that an opponent could reach on their next turn.

    player: the opponent.
    kind: `"take"` a territory, `"break"` a continent, `"eliminate"` the player, or `"win"`.
    name: the territory, the continent, or the player; empty for a win.
    chance: the chance of the opponent's plan. For a win with a hidden mission, the mean over the
        missions that remain possible.
    interval: the 95% interval of an estimate from games; `None` for an exact chance.
    at_most: an upper bound on the chance with any placement and play.
    armies: the number of the opponent's new armies.
    placement: pairs (territory, number of new armies), most armies first; empty for a win with
        several possible missions.
    is_certain: whether the goal needs no attack, so that its chance is exactly 1.
    level: the level of the search.
    parameters: the goal of the opponent, as in logs.
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
    level: str = ""
    parameters: GoalRecord = FrozenDict({})


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
    threats: the threats with a chance of at least 0.5%, likeliest first.
    move: the best fortifying move, or `None` if no move is known to help.
    level: the level that was reached; empty without a level.
    is_complete: whether this is the level that was asked for.
    """

    player: str
    threats: tuple[Threatened, ...]
    move: HelpfulMove | None
    level: str
    is_complete: bool


def threats(
    turn: Turn,
    level: str = USUAL.name,
    *,
    time_limit: float | Fraction | None = None,
) -> Threats:
    """Return the threats to the player to move, on the next turn of each opponent.

    turn: a turn in any phase. The threats are computed as if the player stopped at once.
    level: the amount of work: `"quick"`, `"usual"` or `"long"`.
    time_limit: the time limit in seconds. It decides which level is reached.

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
    *_, found = find_threats(turn, read_level(level), Deadline.from_time_limit(time_limit))
    return found


def find_threats(
    turn: Turn, level: Level, deadline: Deadline, lowest: Level | None = None
) -> Iterator[Threats]:
    """Yield the threats to the player to move at each level; without a level if time is short.

    turn, level: as for `threats`, but a `Level`.
    lowest: the first level to reach; `None` for the lowest of all.
    """
    if not isinstance(turn, Turn):
        raise MalformedError(f"turn must be a Turn, got {quote(turn)}")
    refuse_large_board(turn.board, "threats")
    if turn.winner is not None:
        yield Threats(turn.player, (), None, level.name, is_complete=True)
        return
    found, aims = Threats(turn.player, (), None, "", is_complete=False), None
    try:
        for each in list_levels(level, lowest):
            if aims is None:
                aims = [aim for aim in _list_aims(turn) if _may_succeed(aim, deadline)]
            numbers = _find_numbers(aims, each, deadline)
            if numbers is None:
                break
            aims = [
                aim
                for aim in aims
                if aim.key not in numbers or numbers[aim.key].chance >= MIN_GOAL_CHANCE
            ]
            move = _find_helpful_move(turn, _find_worst(aims, numbers), each, deadline)
            listed = sorted(
                _merge_wins((aim, numbers[aim.key]) for aim in aims if aim.key in numbers),
                key=lambda each: (-each.chance, -each.at_most),
            )
            found = Threats(turn.player, tuple(listed), move, each.name, each == level)
            yield found
    except KeyboardInterrupt:
        deadline.stop()
        if not found.level:
            raise
    if not found.level:
        yield found


class _Aim(NamedTuple):
    """A goal that an opponent may play for, with the player's loss if the opponent succeeds."""

    task: Task
    kind: Kind | Literal["continent"]  # no threat is listed for a whole continent
    name: str
    worth: float  # the player's loss, in new armies per turn
    placement: Placement | None = None  # a placement that reaches the goal without any attack
    share: float = 1.0  # for a goal that wins: the chance that the opponent has this mission

    @property
    def player(self) -> str:
        """The opponent."""
        return self.task.turn.player

    @property
    def lost(self) -> "_Lost":
        """The kind and the name of the territory or continent that the player would lose."""
        return self.kind, self.name

    @property
    def armies(self) -> int:
        """The number of the opponent's new armies."""
        return self.task.turn.place

    @property
    def key(self) -> tuple[str, str, str]:
        """The opponent and their goal."""
        return self.player, self.kind, self.name


_Lost: TypeAlias = tuple[str, str]
_Key: TypeAlias = tuple[str, str, str]


def _list_aims(turn: Turn) -> Iterator[_Aim]:
    board, mine = turn.board, turn.position.list_territories(turn.player)
    whole = [
        continent
        for continent in board.continents
        if continent.territories and {*continent.territories} <= {*mine}
    ]
    for player in list_opponents(turn):
        theirs = begin_opponent_turn(turn, player)

        def make_task(parameters: GoalRecord, start: Turn = theirs) -> Task:
            goal = read_goal_record(start, parameters)
            if isinstance(goal, TakeAll | TakeAny):
                is_all = isinstance(goal, TakeAll)
                goal = (OpponentTakesAll if is_all else OpponentTakesAny)(goal.territories)
            return Task(start, goal, None, parameters, "", is_offered=True)

        for name in mine:
            yield _Aim(make_task({"take": name}), "take", name, 1 / turn.rules.territories_per_army)
        for each in whole:
            parameters = {"take_any": ", ".join(each.territories)}
            yield _Aim(make_task(parameters), "break", each.name, each.bonus)
            yield _Aim(make_task({"take": each.name}), "continent", each.name, 0.0)
        yield _Aim(make_task({"eliminate": turn.player}), "eliminate", turn.player, 0.0)
        possible = turn.victory.list_possible(turn, player) if turn.victory != SURVIVAL else []
        for k, (share, victory) in enumerate(possible):
            start = theirs.with_options(victory=victory)
            win = find_win(start)
            if win is not None:
                task = Task(start, win.goal, None, {"win": True}, "", is_offered=True)
                yield _Aim(task, "win", str(k), 0.0, win.placement, share)


def _may_succeed(aim: _Aim, deadline: Deadline) -> bool:
    """Return whether a threat may be likely enough to be listed."""
    return aim.placement is not None or (not deadline.is_over and may_succeed(aim.task, deadline))


def _find_numbers(
    aims: Sequence[_Aim], level: Level, deadline: Deadline
) -> dict[_Key, Threatened] | None:
    """Return the threat of each aim at a level; `None` if the deadline interrupts the search.

    An opponent's threat is not likelier than another threat of theirs that it implies.
    """
    searched = [aim for aim in aims if aim.placement is None]
    plans = find_plans([aim.task for aim in searched], level, deadline)
    if plans is None:
        return None
    found = dict[_Key, GoalAnalysis]()
    for player in dict.fromkeys(aim.player for aim in searched):
        pairs = (
            (aim, make_numbers(aim.task, plan, is_offered=True))
            for aim, plan in zip(searched, plans, strict=True)
            if aim.player == player
        )
        numbers = {aim.key: (aim.task, each) for aim, each in pairs}
        # The opponent's own list of goals has no single territories.
        found |= order_goals(numbers, {key for key in numbers if key[1] != "take"})
    return {
        aim.key: _make_threat(aim, aim.kind, level, found.get(aim.key))
        for aim in aims
        if aim.kind != "continent"
    }


def _make_threat(aim: _Aim, kind: Kind, level: Level, numbers: GoalAnalysis | None) -> Threatened:
    """Return a threat; `numbers` is `None` if the goal needs no attack."""
    first = aim.player, kind, aim.name
    armies, last = aim.task.turn.place, (level.name, aim.task.parameters)
    if numbers is None:
        return Threatened(*first, 1.0, None, 1.0, armies, aim.placement or (), True, *last)
    return Threatened(
        *first,
        numbers.value or 0.0,
        numbers.interval,
        numbers.upper_bound,
        armies,
        numbers.placement,
        numbers.is_reached,
        *last,
    )


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
        numbers = chance, interval, at_most, pairs[0][1].armies
        last = pairs[0][1].level, pairs[0][1].parameters
        yield Threatened(player, "win", "", *numbers, placement, is_certain, *last)


# For each territory and continent: its worth in new armies per turn, and the greatest threat to it.
_Losses: TypeAlias = dict[_Lost, tuple[float, Threatened]]


def _find_helpful_move(
    turn: Turn, before: _Losses, level: Level, deadline: Deadline
) -> HelpfulMove | None:
    """Return the best of the promising fortifying moves that helps, or `None`.

    before: the greatest threat to each territory and continent without a move.
    """
    if turn.phase == "over" or turn.fortify == "none":
        return None
    last = enter_phase(turn, "fortify")
    aims = [aim for aim in _list_aims(turn) if aim.worth]
    rank_moves = _rank_all_moves if is_small(turn) else _rank_moves_by_battles
    for move in rank_moves(aims, last, deadline)[:MAX_PLANNED_MOVES]:
        there = last.after(move)
        left = [aim for aim in _list_aims(there) if _may_succeed(aim, deadline)]
        numbers = _find_numbers(left, level, deadline)
        if numbers is None:
            return None
        found = _describe_move(move, before, _find_worst(left, numbers))
        if found is not None:
            return found
    return None


def _find_worst(aims: Iterable[_Aim], numbers: Mapping[_Key, Threatened]) -> _Losses:
    """Return the greatest threat to each territory and continent."""
    worst: _Losses = {}
    for aim in aims:
        if aim.worth:
            threat = numbers[aim.key]
            if aim.lost not in worst or threat.chance > worst[aim.lost][1].chance:
                worst[aim.lost] = aim.worth, threat
    return worst


def _describe_move(move: Fortify, before: _Losses, after: _Losses) -> HelpfulMove | None:
    """Return a fortifying move with its effect, or `None` if it does not help.

    The greatest threat to the territory or continent that the move helps most must fall by at least
    `MIN_LOWERED_CHANCE`. Another opponent may be the most dangerous one after the move.
    """
    savings = dict[_Lost, float]()
    for lost in before | after:
        worth = (before.get(lost) or after[lost])[0]
        chances = (each[lost][1].chance if lost in each else 0.0 for each in (before, after))
        savings[lost] = worth * (next(chances) - next(chances))
    if not savings:
        return None
    in_all = sum(savings.values())
    first = max(savings, key=lambda lost: _make_savings_key({lost: savings[lost]}))
    if in_all <= SMALL or first not in before or _make_savings_key(savings) <= (0.0, SMALL):
        return None
    old = before[first][1]
    new = after[first][1] if first in after else old._replace(chance=0.0, placement=())
    if old.chance - new.chance < MIN_LOWERED_CHANCE:
        return None
    return HelpfulMove(move.start, move.to, move.armies, in_all, old, new)


def _make_savings_key(savings: Mapping[_Lost, float]) -> tuple[float, float]:
    """Return the reduction of the loss of bonuses, rounded to .01, and of the loss of territories.

    savings: the reduction of the expected loss for each territory and continent.
    """
    bonuses = sum(value for (kind, _), value in savings.items() if kind == "break")
    return round(bonuses, 2), sum(value for (kind, _), value in savings.items() if kind != "break")


def _rank_all_moves(aims: Sequence[_Aim], last: Turn, deadline: Deadline) -> list[Fortify]:
    """Return the fortifying moves that lower the loss by exact play, best first.

    The result is empty if the search exceeds a limit. If there are more than 200 moves, each stack
    moves only certain fractions of its armies.

    One search per goal evaluates all moves that leave the same territories without armies. Its
    problem gives each territory the largest number of armies that any of these moves leaves there,
    so the position after each move is a state of this problem.
    """
    moves = list_moves_to_compare(last)
    ends = [last, *(last.after(each) for each in moves)]
    losses: list[dict[_Lost, float]] = [{} for _ in ends]
    alike = dict[tuple[bool, ...], list[tuple[Turn, dict[_Lost, float]]]]()
    for end, found in zip(ends, losses, strict=True):
        alike.setdefault(tuple(map(bool, end.armies)), []).append((end, found))
    for aim, pairs in product(aims, alike.values()):
        armies_after = zip(*(end.armies for end, _ in pairs), strict=True)
        largest = last.replace_armies(last.owners, tuple(map(max, armies_after)))
        theirs, armies, goal = begin_opponent_turn(largest, aim.player), aim.armies, aim.task.goal
        if goal is None:
            continue
        problem = pose_reinforced_problem(theirs, goal, armies)
        values = QuickValues(problem, deadline.disable_shares(), SMALL_STATES)
        for end, found in pairs:
            placements = Placements(SearchState(end.armies, make_owned_mask(theirs)), values)
            best = placements.rank_placements(armies)[0]
            if deadline.is_over or (placements.places and not placements.has_tried_all):
                return []
            loss = aim.worth * min(placements.value(best), 1.0)
            found[aim.lost] = max(found.get(aim.lost, 0.0), loss)
    return _sort_moves(losses[0], dict(zip(moves, losses[1:], strict=True)))


def _rank_moves_by_battles(aims: Sequence[_Aim], last: Turn, deadline: Deadline) -> list[Fortify]:
    """Return the moves that lower the loss if each stack fights one battle, best first."""
    battles, beside = SingleBattles(last), {}
    for aim in aims:
        goal = aim.task.goal
        held = goal.resolve_names(last.board).names if goal is not None else ()
        if near := battles.list_routes(last, aim.player, held, 1):
            beside[aim.key] = aim, near

    def compute_loss(there: Turn) -> dict[_Lost, float]:
        worst = dict[_Lost, float]()
        for aim, near in beside.values():
            loss = aim.worth * (1.0 - battles.compute_hold_chance(there, near, aim.armies))
            worst[aim.lost] = max(worst.get(aim.lost, 0.0), loss)
        return worst

    exposed = {route[0] for _, near in beside.values() for route in chain(*near.values())}
    losses = dict[Fortify, dict[_Lost, float]]()
    for move in list_fortify_moves(last, exposed):
        if deadline.is_over:
            break
        losses[move] = compute_loss(last.after(move))
    return _sort_moves(compute_loss(last), losses)


def _sort_moves(
    before: Mapping[_Lost, float], losses: Mapping[Fortify, Mapping[_Lost, float]]
) -> list[Fortify]:
    """Return the moves that lower the loss, best first.

    before: the loss of each territory and continent without a move.
    losses: the losses after each move.
    """
    ranks = {
        move: _make_savings_key({lost: before[lost] - after[lost] for lost in before})
        for move, after in losses.items()
    }
    helpful = (move for move, rank in ranks.items() if rank > (0.0, SMALL))
    return sorted(helpful, key=lambda move: ranks[move], reverse=True)
