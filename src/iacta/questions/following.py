"""A plan that is followed, in words: where it is, and what to do next."""

from collections.abc import Iterator

from iacta.plan import Play
from iacta.questions.words import count, percent

__all__ = ["standing"]


def standing(play: Play, before: float | None) -> Iterator[str]:
    """Yield where a plan is, and what to do next.

    play: the plan and where it is.
    before: what it was worth before the last roll, if that is known.
    """
    goal, position, move = play.problem.goal, play.position, play.move
    if move is None:
        if play.is_reached:
            yield f"Done: you {play.plan.goal.phrase(play.plan.position)}."
        elif goal.is_chance or goal.in_order:
            yield "The plan is over: no attack can reach the goal."
        else:
            yield "No further attack pays."
        return
    mine, theirs = position.of(move.start).armies, position.of(move.to).armies
    rolled = count(move.dice, "die", "dice")
    if not play.problem.kernels[play.problem.place(move.to)].by_rolls:
        rolled = "the battle"
    yield f"{move.start} ({mine}) to {move.to} ({theirs}): roll {rolled}.{_worth(play, before)}"


def _worth(play: Play, before: float | None) -> str:
    """Return what going on is worth, and how much that has changed."""
    value = play.value
    if value is None:
        return ""
    if not play.problem.goal.is_chance:
        return f" Expected gain {value:.2f}."
    if not play.is_exact:
        return f" Chance about {100 * value:.0f}%."
    change = "" if before is None else f", {100 * (value - before):+.2f}"
    return f" Chance {percent(value)}{change}."
