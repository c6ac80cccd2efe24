"""What `iacta plan` is asked: the position, the goal and the constraints, as options say them."""

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from iacta.board.board import Board
from iacta.board.formats.reading import MOST_BYTES, decode, read_table
from iacta.board.position import Position, read_position
from iacta.checks import parse_whole_number, read_fraction, shown
from iacta.errors import IactaError, IllegalError, TooLargeError
from iacta.plan import Goal, Plan, TakeAll, TakeAny, Worth, eliminate
from iacta.plan.goals import MOST_WORTH, deed

__all__ = [
    "GoalWords",
    "find_source",
    "read",
    "read_goal",
    "read_keep",
    "read_seconds",
    "refuse_hopeless",
]

GOALS = "--take, --take-any, --eliminate or --worth"


class GoalWords(NamedTuple):
    """The options that say what a plan is for.

    take, take_any: territories or a continent.
    player: who is to be eliminated.
    worth: whether the greatest expected worth is asked.
    territory, bonus, army: what each is worth.
    """

    take: str | None
    take_any: str | None
    player: str | None
    worth: bool
    territory: str | None
    bonus: str | None
    army: str | None


def read(source: str) -> Position:
    """Return the position in a file, or on standard input where the name is a hyphen."""
    if source != "-":
        return read_position(source)
    import sys

    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    try:
        if len(content) > MOST_BYTES:
            raise TooLargeError(f"the text must have at most {MOST_BYTES} bytes, got more")
        return read_position(read_table(decode(content)).entries)
    except IactaError as error:
        raise type(error)(f"position on standard input: {error}") from None


def read_goal(words: GoalWords, position: Position) -> Goal:
    """Return the goal that the options say; none or several are refused."""
    asked = [words.take, words.take_any, words.player, words.worth or None]
    if sum(each is not None for each in asked) != 1:
        got = "none" if not any(each is not None for each in asked) else "several"
        raise IllegalError(f"the goal must be one of {GOALS}, got {got}")
    values = {"territory": words.territory, "bonus": words.bonus, "army": words.army}
    for name, text in values.items():
        if text is not None and not words.worth:
            raise IllegalError(f"--{name}-value must go with --worth, got it without")
    if words.worth:
        return Worth(*(_value(name, text) for name, text in values.items()))
    if words.player is not None:
        return eliminate(position, words.player)
    if words.take is not None:
        return TakeAll(_theirs(position, position.board.find_set(words.take), "--take"))
    return TakeAny(_theirs(position, position.board.find_set(str(words.take_any)), "--take-any"))


def _value(name: str, text: str | None) -> float:
    default = 0.0 if name == "army" else 1.0
    if text is None:
        return default
    value = read_fraction(text, f"{name}-value", "be a number of at least 0")
    if value < 0:
        raise IllegalError(f"{name}-value must be a number of at least 0, got {shown(text)}")
    if value > MOST_WORTH:
        raise TooLargeError(f"{name}-value must be at most {MOST_WORTH:g}, got {shown(text)}")
    return float(value)


def _theirs(position: Position, names: tuple[str, ...], option: str) -> tuple[str, ...]:
    """Return the territories that are not the player's; if they all are, there is no goal."""
    theirs = tuple(name for name in names if position.of(name).owner != position.player)
    if not theirs:
        owned = "is" if len(names) == 1 else "are all"
        raise IllegalError(
            f"{option} must name a territory of another player, got {', '.join(names)[:60]}, "
            f"which {owned} {position.player}'s"
        )
    return theirs if option == "--take-any" else names


def read_keep(text: str | None, board: Board) -> dict[str, int]:
    """Return the garrisons that `--keep` gives, such as `Brazil:3,Egypt:2`."""
    kept: dict[str, int] = {}
    for part in text.split(",") if text is not None else ():
        name, colon, armies = part.rpartition(":")
        if not colon:
            raise IllegalError(f"--keep must be like 'Brazil:3,Egypt:2', got {shown(text)}")
        found = board.find(name.strip())
        kept[found] = parse_whole_number(armies.strip(), f"--keep of {found}", least=0)
    return kept


def read_seconds(text: str | None) -> float | None:
    """Return the limit that `--time-limit` gives."""
    if text is None:
        return None
    seconds = read_fraction(text, "--time-limit", "be seconds of at least 0")
    if seconds < 0:
        raise IllegalError(f"--time-limit must be seconds of at least 0, got {shown(text)}")
    return float(min(seconds, Fraction(10**9)))


def find_source(plan: Plan, name: str | None) -> str:
    """Return the territory whose armies are asked for: the largest stack if none is named."""
    board = plan.position.board
    if name is not None:
        return board.find(name)
    mine = plan.position.owned_by(plan.position.player)
    near = [each for each in mine if any(n not in mine for n in board.neighbours(each))]
    resting = plan.policy.game.problem.resting
    able = [each for each in near if not resting >> board.territories.index(each) & 1]
    return max(able or mine, key=lambda each: plan.position.of(each).armies)


def refuse_hopeless(plan: Plan) -> None:
    """Refuse a position in which there is nothing that a plan could do."""
    if isinstance(plan.goal, Worth) or plan.win_probability > 0.0:
        return
    problem, position = plan.policy.game.problem, plan.position
    what = deed(position, plan.goal)
    if not problem.stacks():
        raise IllegalError(
            f"to {what}, {position.player} must have a stack that may attack, got none: "
            f"each has too few armies, no enemy beside it, or must stay"
        )
    starts = [problem.name(v) for v, _ in problem.stacks()]
    within = _reached(position, starts)
    names = plan.goal.territories
    away = [name for name in names if name not in within]
    if away and (isinstance(plan.goal, TakeAll) or len(away) == len(names)):
        raise IllegalError(
            f"to {what}, the stacks of {position.player} must be able to reach it, got "
            f"{away[0]}, to which no way leads"
        )
    total = sum(armies for _, armies in problem.stacks())
    raise IllegalError(
        f"to {what}, {position.player} must have more armies, got {total} in all stacks that may "
        f"attack, which are too few whatever the dice show"
    )


def _reached(position: Position, starts: Iterable[str]) -> set[str]:
    """Return what can be reached through the territories of others, and what is the player's."""
    found = set(position.owned_by(position.player))
    waiting = list(starts)
    while waiting:
        for name in position.board.neighbours(waiting.pop()):
            if name not in found and position.of(name).armies:
                found.add(name)
                waiting.append(name)
    return found
