"""Threats: the goals that each opponent could reach on their next turn, with their chances.

Each threat is separate: an opponent q gets their usual new armies, places all of them where these
help one goal g most, and plays for that goal alone, against the position as it is. With f the
placements and V_g the chance of the best play for g,

    threat(q, g) = max_f V_g(position with f),

so threats of one opponent exclude each other, and those of several do not add up. The goals are to
take each border territory, to break each continent that the player owns, to eliminate them, and to
win the game. A quick look compares the placements and bounds all play (`iacta.plan.looks`); a plan
improves the play after the best placement. A threat never has a greater chance than a threat of the
same opponent that it implies: taking a territory breaks its continent.

A continent counts as its bonus, and a territory as a third of an army of the player's next turn:

    loss = Σ_C max_q threat(q, C) · bonus(C) + Σ_t max_q threat(q, t) / 3.

The best last move lowers the loss of bonuses most, and among moves that are equal to a hundredth of
an army the loss of territories. A continent is held only as a whole, while single territories count
by threes, and not at all where a player has few. A move after which the loss is not lower, over all
continents, territories and opponents, is never recommended. On a board of up to seven territories
all moves are compared, each with the best placements and plays. Elsewhere single battles
(`iacta.plan.opponents`) select a few moves, and quick looks and plans settle these.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, islice
from typing import Literal, NamedTuple, TypeAlias

from iacta.board import Holding, Position
from iacta.game import Fortify, Turn
from iacta.game.turn import TERRITORIES_PER_ARMY
from iacta.game.victory import SURVIVAL
from iacta.inputs.checks import quote
from iacta.inputs.errors import MalformedError
from iacta.native.deadline import Deadline, run_in_threads
from iacta.plan.goals import Goal, TakeAll, TakeAny
from iacta.plan.looks import (
    NEAR,
    NOT_TRIED,
    SMALL_STATES,
    Conquest,
    Look,
    find_implied,
    order_looks,
    quick_look,
    quick_plan,
)
from iacta.plan.opponents import (
    SingleBattles,
    enemies_beside,
    last_moves,
    opponents_in,
    usual_reinforcements,
)
from iacta.plan.problem import TurnState, refuse_large_board, turn_at
from iacta.plan.reinforcement import (
    Placement,
    Placements,
    PlanOptions,
    QuickValues,
    everywhere,
    is_small,
    turn_options,
)
from iacta.plan.winning import find_win

Kind: TypeAlias = Literal["take", "break", "eliminate", "win"]

WIN_PART = 0.2  # the share of the time for the choice of the goals that win
LOOK_PART = 0.4  # the share of the time for quick looks
PLAN_PART = 0.6  # the share of the time left for plans; the rest is for the last move
MAX_MOVES = 200  # the most moves for a comparison of all of them
SETTLED = 2  # moves that quick looks compare on a larger board
SMALL = 1e-9  # smaller chances and gains count as 0


class Threatened(NamedTuple):
    """A goal of an opponent for their next turn, if they play for this goal alone.

    player: the opponent.
    kind: `"take"` a territory, `"break"` a continent, `"eliminate"` the player, or `"win"`.
    name: the territory, the continent, or the player; empty for a win.
    chance: the chance of the best play found; 0 without time to try a play.
    interval: the 95% interval of an estimate from games; `None` for an exact chance.
    at_most: an upper bound on the chance of any placement and play.
    armies: the number of new armies.
    placement: (territory, new armies), the most first.
    """

    player: str
    kind: Kind
    name: str
    chance: float
    interval: tuple[float, float] | None
    at_most: float
    armies: int
    placement: Placement


class HelpfulMove(NamedTuple):
    """The last move of armies that helps most.

    start, to: the two territories.
    armies: the number of armies that move.
    kept: the new armies of the player's next turn that the move saves, on average.
    before: the greatest threat to the territory or continent that gains most by the move.
    after: the greatest threat to it after the move.
    """

    start: str
    to: str
    armies: int
    kept: float
    before: Threatened
    after: Threatened


@dataclass(frozen=True)
class Threats:
    """The threats of all opponents to a player, each threat separately.

    player: the player.
    threats: all threats with a chance, the likeliest first.
    move: the best last move of armies, `None` if no move is known to help.
    is_complete: whether the time was sufficient for the whole search.
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
    """Return the threats of each opponent to the player to move, on the opponent's next turn.

    turn: any moment of a turn; the position counts as it is, as if the player stopped now.
    time_limit: in seconds; a shorter search compares fewer plays.
    progress: a callback that receives the result so far and the share of the work done.

    Each chance is separate. Opponents get the usual new armies and trade no cards, and neither
    `keep` nor `stay` binds them. Rules under which a battle can gain armies raise an error.

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
    deadline = Deadline.from_time_limit(time_limit)
    aims = [*_aims(turn, deadline.take_share(WIN_PART))]
    study, move, is_complete = _Study(turn, aims), None, False

    def found() -> Threats:
        looks = study.order(study.known)
        every = (_threatened(aim, look) for aim, look in looks.items())
        some = (each for each in every if each.at_most > SMALL)
        ranked = sorted(some, key=lambda each: (-each.chance, -each.at_most))
        return Threats(turn.player, tuple(ranked), move, is_complete)

    try:
        for part in study.look(deadline):
            if progress is not None:
                progress(found(), part)
        move = _find_helpful_move(study, deadline)
        is_complete = not deadline.is_over
    except KeyboardInterrupt:
        deadline.stop()
        if not study.known:
            raise
    return found()


class _Aim(NamedTuple):
    """A goal that an opponent may play for."""

    player: str
    kind: Kind
    name: str
    goal: Goal
    armies: int  # their new armies
    worth: float  # the loss of the player, in new armies of their next turn
    at_most: float = 0.0  # a bound on the chance of all goals of which this one is the likeliest
    placement: Placement | None = None  # of new armies that reach the goal without an attack

    @property
    def lost(self) -> "_Lost":
        """The territory or the continent that the player loses."""
        return self.kind, self.name


_Lost: TypeAlias = tuple[Kind, str]


def _aims(turn: Turn, deadline: Deadline) -> Iterator[_Aim]:
    position = turn.position
    board, mine = position.board, position.list_territories(position.player)
    border = [name for name in mine if enemies_beside(position, name)]
    whole = [
        each for each in board.continents if each.territories and {*each.territories} <= {*mine}
    ]
    for player in opponents_in(position):
        new = usual_reinforcements(position, player)
        for name in border:
            yield _Aim(player, "take", name, TakeAll((name,)), new, 1 / TERRITORIES_PER_ARMY)
        for each in whole:
            yield _Aim(player, "break", each.name, TakeAny(each.territories), new, each.bonus)
        yield _Aim(player, "eliminate", position.player, TakeAll(tuple(mine)), new, 0.0)
        win = None if turn.victory == SURVIVAL else find_win(turn, deadline, player)
        if win is not None:
            at_most = win.at_most or 0.0
            yield _Aim(player, "win", "", win.goal, new, 0.0, at_most, win.placement)


class _Study:
    """The looks at all aims of opponents in a position.

    turn: the turn that has the rules.
    aims: the aims.
    position: the position; `None` for that of the turn.
    """

    def __init__(self, turn: Turn, aims: list[_Aim], position: Position | None = None) -> None:
        self.turn, self.aims = turn, aims
        self.position = turn.position if position is None else position
        self.first = dict[_Aim, Look]()  # the quick looks
        self.known = dict[_Aim, Look]()  # the best looks, with the plans
        # The owners of a position do not change, and so the same events imply each other.
        self.implied = dict[_Aim, list[_Aim]]()
        for player in dict.fromkeys(aim.player for aim in aims):
            theirs = replace(self.position, player=player)
            own = (aim for aim in aims if aim.player == player)
            self.implied |= find_implied({aim: Conquest.of(aim.goal, theirs) for aim in own})

    def order(self, looks: Mapping[_Aim, Look]) -> dict[_Aim, Look]:
        """Return the looks at all aims, in the order that the aims imply."""
        return order_looks({aim: looks.get(aim, NOT_TRIED) for aim in self.aims}, self.implied)

    def settle(self, planned: set[_Lost]) -> dict[_Aim, Look]:
        """Return the looks with the plans for some losses, and without plans for the others."""
        looks = ((self.known if aim.lost in planned else self.first) for aim in self.aims)
        return self.order({aim: found[aim] for aim, found in zip(self.aims, looks, strict=True)})

    def look(self, deadline: Deadline) -> Iterator[float]:
        """Look at each aim, and then plan for it; yield the share of the work that is done."""
        for done in self.look_first(deadline.take_share(LOOK_PART)):
            yield 0.5 * done
        unsure = [aim for aim, each in self.known.items() if each.at_most - each.chance > NEAR]
        unsure.sort(key=lambda aim: -self.known[aim].at_most * (aim.worth or SMALL))
        for done in self.plan(unsure, deadline.take_share(PLAN_PART)):
            yield 0.5 + 0.5 * done

    def look_first(self, deadline: Deadline) -> Iterator[float]:
        """Have a quick look at each aim; yield the share of the work that is done."""
        looks = run_in_threads(self._look, self.aims, deadline)
        for done, (aim, look) in enumerate(looks, 1):
            self.first[aim] = self.known[aim] = look
            yield done / len(self.aims)

    def plan(self, aims: list[_Aim], deadline: Deadline) -> Iterator[float]:
        """Improve the looks at some aims by plans; yield the share of the work that is done."""
        for done, (aim, look) in enumerate(run_in_threads(self._plan, aims, deadline), 1):
            self.known[aim] = look
            yield done / len(aims)

    def _look(self, aim: _Aim, deadline: Deadline) -> Look:
        theirs = replace(self.position, player=aim.player)
        return quick_look(theirs, aim.goal, aim.armies, _options(self.turn), deadline)

    def _plan(self, aim: _Aim, deadline: Deadline) -> Look:
        theirs = replace(self.position, player=aim.player)
        return quick_plan(theirs, aim.goal, _options(self.turn), self.known[aim], deadline)


def _options(turn: Turn) -> PlanOptions:
    """Return the rules for opponents, without the constraints of the player."""
    return {**turn_options(turn), "keep": None, "stay": ()}


def _threatened(aim: _Aim, look: Look) -> Threatened:
    if aim.placement is not None:
        return Threatened(*aim[:3], 1.0, None, 1.0, aim.armies, aim.placement)
    at_most = max(look.at_most, aim.at_most)
    return Threatened(*aim[:3], *look[:2], at_most, aim.armies, look.placement)


# The last move.


def _find_helpful_move(study: _Study, deadline: Deadline) -> HelpfulMove | None:
    """Return the last move that lowers the loss most, `None` where none is known to lower it."""
    turn = study.turn
    if turn.phase == "over" or turn.fortify == "none" or len(study.first) < len(study.aims):
        return None
    last = turn_at(turn, turn.position, "fortify", turn.fortify)
    compare = _compare_all_moves if is_small(turn) else _compare_some_moves
    return _find_best(compare(study, last, deadline))


_Looks: TypeAlias = dict[_Aim, Look]
_Compared: TypeAlias = list[tuple[Fortify, _Looks, _Looks]]  # with the looks before and after


def _find_best(compared: _Compared) -> HelpfulMove | None:
    """Return the best of the moves that lower the loss."""
    best, most = None, (0.0, SMALL)
    for move, before, after in compared:
        kept = _find_kept(before, after)
        in_all = sum(kept.values())
        if in_all > SMALL and (rank := _rank(kept)) > most:
            first = max(kept, key=lambda lost: _rank({lost: kept[lost]}))
            changes = (_threatened(*_find_worst(looks)[first]) for looks in (before, after))
            best = HelpfulMove(move.start, move.to, move.armies, in_all, *changes)
            most = rank
    return best


def _find_worst(looks: _Looks) -> dict[_Lost, tuple[_Aim, Look]]:
    """Return the greatest threat to each territory and continent."""
    worst = dict[_Lost, tuple[_Aim, Look]]()
    for aim, look in looks.items():
        if aim.worth and (aim.lost not in worst or look.chance > worst[aim.lost][1].chance):
            worst[aim.lost] = aim, look
    return worst


def _find_kept(before: _Looks, after: _Looks) -> dict[_Lost, float]:
    """Return by how much a move lowers the loss of each territory and continent."""
    worst = _find_worst(after)
    return {
        lost: aim.worth * (look.chance - worst[lost][1].chance)
        for lost, (aim, look) in _find_worst(before).items()
    }


def _rank(kept: Mapping[_Lost, float]) -> tuple[float, float]:
    """Return the armies that are kept of bonuses, and of territories."""
    bonuses = sum(value for (kind, _), value in kept.items() if kind == "break")
    return round(bonuses, 2), sum(value for (kind, _), value in kept.items() if kind != "break")


def _compare_all_moves(study: _Study, last: Turn, deadline: Deadline) -> _Compared:
    """Return moves with the best play of all opponents before and after each of them.

    The result is empty where the search takes too many states or too long. Of more than 200 moves
    only parts of each stack are compared.

    For each aim there is one search, of the position in which each territory has the most armies
    that any move leaves on it: all positions after moves are states of that problem.
    """
    moves = [each for each in last.actions() if isinstance(each, Fortify)]
    if len(moves) > MAX_MOVES:
        moves = [*last_moves(last, last.board.territories)]
    position, options = last.position, _options(study.turn)
    ends = [position, *(last.after(each).position for each in moves)]
    most = tuple(
        Holding(each.owner, max(end.holdings[t].armies for end in ends))
        for t, each in enumerate(position.holdings)
    )
    looks: list[_Looks] = [{} for _ in ends]
    for aim in study.aims:
        if not aim.worth:
            continue
        largest = replace(position, player=aim.player, holdings=most)
        problem = everywhere(largest, aim.goal, aim.armies, options)
        values = QuickValues(problem, deadline, SMALL_STATES)
        for end, found in zip(ends, looks, strict=True):
            start = TurnState.from_position(replace(end, player=aim.player))
            placements = Placements(start, values)
            best = placements.compared(aim.armies)[0]
            if deadline.is_over or (placements.places and not placements.has_tried_all):
                return []
            chance = min(placements.value(best), 1.0)
            found[aim] = Look(chance, None, chance, best)
    return [(move, looks[0], after) for move, after in zip(moves, looks[1:], strict=True)]


def _compare_some_moves(study: _Study, last: Turn, deadline: Deadline) -> _Compared:
    """Return moves that single battles select, with quick looks and plans before and after.

    Chances compare only if they come from the same kind of search. So a move that lowers the loss
    by quick looks must lower it also by plans, before and after.
    """
    settled: _Compared = []
    moves = [*islice(_select_moves(study, last, deadline), SETTLED)]
    before = study.order(study.first)
    for left, move in zip(range(len(moves), 0, -1), moves, strict=True):
        part = deadline.take_share(1 / left)
        there = _Study(study.turn, study.aims, last.after(move).position)
        for _ in there.look_first(part.take_share(LOOK_PART)):
            pass
        if len(there.first) < len(study.aims):
            break
        kept = _find_kept(before, there.order(there.first))
        if sum(kept.values()) <= SMALL or _rank(kept) <= (0.0, SMALL):
            continue
        changed = {lost for lost, value in kept.items() if abs(value) > SMALL}
        unsure = (aim for aim, look in there.first.items() if look.at_most - look.chance > NEAR)
        for _ in there.plan([aim for aim in unsure if aim.lost in changed], part):
            pass
        if deadline.is_over:
            break
        settled.append((move, study.settle(changed), there.settle(changed)))
    return settled


def _select_moves(study: _Study, last: Turn, deadline: Deadline) -> Iterator[Fortify]:
    """Yield the moves that lower the loss when each stack fights one battle, the best first."""
    position, battles, beside = last.position, SingleBattles(study.turn), {}
    for aim in study.aims:
        if deadline.is_over:
            return
        held = aim.goal.read(last.board).names if aim.worth else ()
        if near := battles.beside(position, aim.player, held):
            beside[aim] = near

    def find_loss(there: Position) -> dict[_Lost, float]:
        worst = dict[_Lost, float]()
        for aim, near in beside.items():
            loss = aim.worth * (1.0 - battles.missed(there, near, aim.armies))
            worst[aim.lost] = max(worst.get(aim.lost, 0.0), loss)
        return worst

    before, ranks = find_loss(position), dict[Fortify, tuple[float, float]]()
    exposed = {name for near in beside.values() for name in chain(*near.values())}
    for move in last_moves(last, exposed):
        if deadline.is_over:
            break
        after = find_loss(last.after(move).position)
        ranks[move] = _rank({lost: before[lost] - after[lost] for lost in before})
    helpful = (move for move, rank in ranks.items() if rank > (0.0, SMALL))
    yield from sorted(helpful, key=lambda move: ranks[move], reverse=True)
