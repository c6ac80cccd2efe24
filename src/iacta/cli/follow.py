"""`iacta plan --follow`: follow a plan in the terminal, move by move."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from iacta.checks import shown
from iacta.errors import IactaError, IllegalError
from iacta.plan import Play
from iacta.questions.following import standing
from iacta.questions.form import Form, parameter
from iacta.questions.kinds import Flag
from iacta.questions.plan import PlanAnswer
from iacta.questions.question import Answer

if TYPE_CHECKING:
    import numpy as np

__all__ = ["FollowOption", "follow"]

HELP = (
    "Type the losses of each roll, yours first, such as 1-1. Enter rolls the dice, u undoes, q "
    "quits."
)


class FollowOption(Form, kw_only=True):
    """Whether a plan is followed."""

    follow: bool = parameter(
        Flag(),
        "Follow the plan move by move: type what the dice did, or let iacta roll them.",
        default=False,
    )


def follow(
    answer: Answer, read: Callable[[str], str] | None = None, seed: int | None = None
) -> None:
    """Follow a plan until it is over, or the player quits.

    read: shows a prompt and returns the line that the player types, as `input` does.
    seed: that of the dice; `None` for different ones each time.
    """
    import numpy as np  # slow to load

    if not isinstance(answer, PlanAnswer):
        raise IllegalError(f"only the answer of a plan can be followed, got {shown(answer)}")

    ask = input if read is None else read
    rng = np.random.default_rng(seed)
    course = [answer.plan.follow()]
    print(HELP)
    while True:
        play = course[-1]
        for line in standing(play, course[-2].value if len(course) > 1 else None):
            print(line)
        try:
            words = ask("> ").strip().lower()
            if words in ("q", "quit"):
                return
            if words in ("u", "undo"):
                course = course[:-1] or course
            elif play.move is None:
                return
            elif (after := _after(play, words, ask, rng)) is not None:
                course.append(after)
        except EOFError:
            return
        except IactaError as error:
            print(f"iacta: {error}")


def _after(play: Play, words: str, read: Callable[[str], str], rng: "np.random.Generator") -> Play:
    lost, killed = _losses(words) if words else play.thrown(rng)
    if (lost, killed) not in play.results():
        return play.after(lost, killed)  # refuses them
    if not words:
        print(f"You lose {lost}, they lose {killed}.")
    if not play.conquers(killed):
        return play.after(lost, killed)
    least, most, usual = play.advances(lost)
    if least == most:
        print(f"Taken: move {most} in.")
        return play.after(lost, killed)
    typed = read(f"Taken: move {usual} in [{least} to {most}] > ").strip()
    if typed and not typed.isdigit():
        raise IllegalError(f"moved must be a number from {least} to {most}, got {shown(typed)}")
    return play.after(lost, killed, int(typed) if typed else None)


def _losses(words: str) -> tuple[int, int]:
    """Return the losses on a line.

    >>> _losses("1-1"), _losses("a2 d0"), _losses("0 2"), _losses("d2")
    ((1, 1), (2, 0), (0, 2), (0, 2))
    """
    named = dict(re.findall(r"([ad])\s*(\d+)", words))
    if named and not re.sub(r"[ad]\s*\d+|[\s,]", "", words):
        return int(named.get("a", 0)), int(named.get("d", 0))
    numbers = re.fullmatch(r"(\d+)[\s,:-]+(\d+)", words)
    if numbers is None:
        raise IllegalError(f"type losses such as 1-1 or a1 d1, yours first, got {shown(words)}")
    return int(numbers[1]), int(numbers[2])
