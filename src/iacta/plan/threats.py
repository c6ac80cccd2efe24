"""Threats: what each opponent could do to a player on their next turn.

Each threat is separate: an opponent q gets their usual new armies, places all of them where these
help one goal g most, and plays for that goal alone, against the position as it is. With f the
placements and V_g the chance of the best play for g,

    threat(q, g) = max_f V_g(position with f),

so threats of one opponent exclude each other, and those of several do not add up. The goals are to
take each border territory, to break each continent that the player owns, and to eliminate them.
Placements are compared by a quick look (`iacta.plan.reinforcement`); the best of them is settled by
a plan. No play is better than that of an opponent who had all new armies everywhere at once, which
gives the bound.

The last move of armies that helps most is the one that keeps most of the new armies of the player's
next turn. A continent counts as its bonus, and a territory as a third of an army:

    loss = Σ_C max_q threat(q, C) · bonus(C) + Σ_t max_q threat(q, t) / 3.

The bonuses come first, to a hundredth of an army: a continent is held only as a whole, while single
territories count by threes, and not at all where a player has few. Moves are compared by single
battles (`iacta.plan.opponents`); what the best one changes is then settled by plans.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

from iacta.board import Position
from iacta.game import Turn
from iacta.game.turn import TERRITORIES_PER_ARMY
from iacta.inputs.checks import quote
from iacta.inputs.errors import MalformedError
from iacta.native.deadline import Deadline, run_in_threads
from iacta.plan.goals import Goal, TakeAll, TakeAny
from iacta.plan.opponents import (
    SingleBattles,
    enemies_beside,
    last_moves,
    opponents_in,
    usual_reinforcements,
)
from iacta.plan.problem import refuse_large_board, turn_at
from iacta.plan.reinforcement import (
    NEAR,
    Look,
    Placement,
    PlanOptions,
    quick_look,
    quick_plan,
    turn_options,
)

Kind: TypeAlias = Literal["take", "break", "eliminate"]

LOOK_PART = 0.4  # of the time, for quick looks at all threats
PLAN_PART = 0.8  # of what is left then, for plans of each; the rest is for the last move
SMALL = 1e-9  # chances below it count as none


class Threatened(NamedTuple):
    """What an opponent could do on their next turn, if they played for it alone.

    player: the opponent.
    kind: `"take"` a territory, `"break"` a continent, or `"eliminate"` the player.
    name: the territory, the continent, or the player.
    chance: the chance of the best play that was found.
    interval: the interval of it at 95% where it is estimated from games; else `None`.
    at_most: no play has a greater chance, wherever the new armies are placed.
    armies: their new armies.
    placement: where these are placed: (territory, new armies), the most first.
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
    armies: how many move.
    kept: how many more new armies of their next turn the player keeps by it.
    before: the greatest threat to what the player keeps most of by it.
    after: the greatest threat to the same after the move.
    """

    start: str
    to: str
    armies: int
    kept: float
    before: Threatened
    after: Threatened


@dataclass(frozen=True)
class Threats:
    """What opponents could do to a player, each threat separately.

    player: the player.
    threats: all that have a chance, the likeliest first.
    move: the last move of armies that helps most, `None` where none is known to help.
    is_complete: whether there was time for all of it.
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
    """Return what each opponent could do to who is to move, on their next turn.

    turn: any moment of a turn; the position counts as it is, as if the player stopped now.
    time_limit: the most seconds that it may take; fewer plays are compared where it comes first.
    progress: called with what is known so far, and which part of the work is done.

    Each chance is separate. Opponents get the usual new armies and trade no cards, and neither
    `keep` nor `stay` binds them. Refused are rules whose battles can grow.

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
    deadline, aims = Deadline.of(time_limit), [*_aims(turn.position)]
    known, move, is_complete = dict[_Aim, Look](), None, False

    def found() -> Threats:
        each_known = (_threatened(aim, known[aim]) for aim in aims if aim in known)
        some = (each for each in each_known if each.at_most > SMALL)
        ranked = sorted(some, key=lambda each: (-each.chance, -each.at_most))
        return Threats(turn.player, tuple(ranked), move, is_complete)

    try:
        for aim, look, part in _looks(turn, aims, known, deadline):
            known[aim] = look
            if progress is not None:
                progress(found(), part)
        move = _helpful_move(turn, known, deadline)
        is_complete = not deadline.is_over
    except KeyboardInterrupt:
        deadline.stop()
        if not known:
            raise
    return found()


class _Aim(NamedTuple):
    """What an opponent may try."""

    player: str
    kind: Kind
    name: str
    goal: Goal
    armies: int  # their new ones
    worth: float  # what it takes, in new armies of the player's next turn


def _aims(position: Position) -> Iterator[_Aim]:
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


def _looks(
    turn: Turn, aims: list[_Aim], known: Mapping[_Aim, Look], deadline: Deadline
) -> Iterator[tuple[_Aim, Look, float]]:
    """Yield what is found for each aim, with the part of the work that is done.

    known: what has been yielded.
    """
    look_at = partial(_look, turn, turn.position)
    looks = run_in_threads(look_at, aims, deadline.part(LOOK_PART))
    for done, (aim, look) in enumerate(looks, 1):
        yield aim, look, 0.5 * done / len(aims)
    unsure = [aim for aim, each in known.items() if each.at_most - each.chance > NEAR]
    unsure.sort(key=lambda aim: -known[aim].at_most * (aim.worth or SMALL))
    plan_for = partial(_planned, turn, turn.position, known)
    plans = run_in_threads(plan_for, unsure, deadline.part(PLAN_PART))
    for done, (aim, look) in enumerate(plans):
        yield aim, look, 0.5 + 0.5 * done / len(unsure)


def _options(turn: Turn) -> PlanOptions:
    """Return the rules by which opponents play; what the player must keep does not bind them."""
    return {**turn_options(turn), "keep": None, "stay": ()}


def _look(turn: Turn, position: Position, aim: _Aim, deadline: Deadline) -> Look:
    """Return what an opponent reaches by a quick look, and a bound on all that they could."""
    theirs = replace(position, player=aim.player)
    return quick_look(theirs, aim.goal, aim.armies, _options(turn), deadline)


def _planned(
    turn: Turn, position: Position, looks: Mapping[_Aim, Look], aim: _Aim, deadline: Deadline
) -> Look:
    """Return the same by a plan with the same placement, if that is better."""
    theirs = replace(position, player=aim.player)
    return quick_plan(theirs, aim.goal, _options(turn), looks[aim], deadline)


def _threatened(aim: _Aim, look: Look) -> Threatened:
    return Threatened(*aim[:3], *look[:3], aim.armies, look.placement)


# The last move.


def _helpful_move(turn: Turn, known: Mapping[_Aim, Look], deadline: Deadline) -> HelpfulMove | None:
    """Return the move after which the player keeps most, when each stack fights one battle."""
    if turn.phase == "over" or turn.fortify == "none":
        return None
    position, battles = turn.position, SingleBattles(turn)
    aims = [aim for aim in known if aim.kind != "eliminate"]
    beside = {
        aim: near
        for aim in aims
        if (near := battles.beside(position, aim.player, aim.goal.read(turn.board).names))
    }
    last = turn_at(turn, position, "fortify", turn.fortify)

    def lost(there: Position) -> dict[_Aim, float]:
        return {
            aim: aim.worth * (1.0 - battles.missed(there, near, aim.armies))
            for aim, near in beside.items()
        }

    before = _worst(lost(position))
    best, most, kept = None, (0.0, SMALL), dict[tuple[str, str], float]()
    for move in last_moves(
        last, {name for near in beside.values() for name in chain(*near.values())}
    ):
        after = _worst(lost(last.after(move).position))
        gained = {each: before[each] - after[each] for each in before}
        if (rank := _rank(gained)) > most:
            best, most, kept = move, rank, gained
    if best is None:
        return None
    there, settled = last.after(best).position, dict[tuple[str, str], float]()
    changes = dict[tuple[str, str], tuple[Threatened, Threatened]]()
    for which in (each for each, value in kept.items() if abs(value) > SMALL):
        same = [aim for aim in aims if (aim.kind, aim.name) == which]
        part = deadline.part(1 / len(kept))
        looks = dict(run_in_threads(partial(_look, turn, there), same, part.part(LOOK_PART)))
        aim = max(looks, key=lambda each: looks[each].chance)
        worst = max(same, key=lambda each: known[each].chance)
        now, then = known[worst], _planned(turn, there, looks, aim, part)
        settled[which] = aim.worth * (now.chance - then.chance)
        changes[which] = _threatened(worst, now), _threatened(aim, then)
    if _rank(settled) <= (0.0, SMALL):  # plans see what single battles do not
        return None
    first = max(settled, key=lambda which: _rank({which: settled[which]}))
    kept_in_all = sum(settled.values())
    return HelpfulMove(best.start, best.to, best.armies, kept_in_all, *changes[first])


def _rank(kept: Mapping[tuple[str, str], float]) -> tuple[float, float]:
    """Return what is kept of bonuses, and of territories, in armies."""
    bonuses = sum(value for (kind, _), value in kept.items() if kind == "break")
    return round(bonuses, 2), sum(value for (kind, _), value in kept.items() if kind != "break")


def _worst(lost: Mapping[_Aim, float]) -> dict[tuple[str, str], float]:
    """Return what is lost of each territory and continent by the greatest threat to it."""
    worst = dict[tuple[str, str], float]()
    for aim, value in lost.items():
        worst[aim.kind, aim.name] = max(worst.get((aim.kind, aim.name), 0.0), value)
    return worst
