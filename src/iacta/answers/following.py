"""A plan that is followed, in words: where it is, and what to do next."""

from collections.abc import Iterator

from iacta.answers.words import count, percent
from iacta.plan import TakeAll, TakeAny, Worth
from iacta.plan.goals import deed, names_in
from iacta.plan.live import Live

__all__ = ["LOOKED_AHEAD", "is_reached", "standing"]

LOOKED_AHEAD = "The chances below come from a lookahead; the plan may be worth more."


def standing(live: Live, before: float | None) -> Iterator[str]:
    """Yield where a plan is, and what to do next.

    live: the plan and where it is.
    before: what it was worth before the last roll, if that is known.
    """
    plan, position, move = live.plan, live.position, live.move
    if move is None:
        if isinstance(plan.goal, Worth):
            yield "No further attack pays."
        elif is_reached(live):
            yield f"Done: you {deed(plan.position, plan.goal)}."
        else:
            yield "The plan is over: no attack can reach the goal."
        return
    mine, theirs = position.of(move.start).armies, position.of(move.to).armies
    rolled = count(move.dice, "die", "dice")
    if not plan.problem.kernel_of(position.board.territories.index(move.to)).by_rolls:
        rolled = "the battle"
    worth = "" if live.value is None else f" {_worth(live, live.value, before)}"
    yield f"{move.start} ({mine}) to {move.to} ({theirs}): roll {rolled}.{worth}"


def _worth(live: Live, value: float, before: float | None) -> str:
    """Return what going on is worth, and how much that has changed."""
    if isinstance(live.plan.goal, TakeAll | TakeAny):
        change = "" if before is None else f", {100 * (value - before):+.2f}"
        return f"Chance {percent(value)}{change}."
    return f"Expected gain {value:.2f}."


def is_reached(live: Live) -> bool:
    """Return whether a goal other than a worth has been reached."""
    goal, position = live.plan.goal, live.position
    if isinstance(goal, Worth):
        return False
    mine = [position.of(name).owner == position.player for name in names_in(goal)]
    return any(mine) if isinstance(goal, TakeAny) else all(mine)
