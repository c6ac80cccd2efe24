"""Which battles the methods take on: what fits into memory and into an hour, and their rules."""

from iacta.errors import IllegalError, TooLargeError
from iacta.numbers import shown
from iacta.rules import Rules

__all__ = ["OUTCOME_BYTES", "refuse_gains", "refuse_too_large"]

MOST_STEPS = 2 * 10**10
MOST_BYTES = 4 * 2**30
OUTCOME_BYTES = 300
DIGIT_BYTES = 64


def refuse_gains(rules: Rules, method: str) -> None:
    """Refuse rules under which armies can grow, for a method that needs every battle to end.

    rules: the rules of the battle.
    method: the method that is asked, for the message.
    """
    if rules.all_ones_gain:
        raise IllegalError(
            f"all_ones_gain must be 0 for the method {method!r}, which cannot let armies grow, "
            f"got {rules.all_ones_gain}"
        )


def refuse_too_large(
    attackers: int,
    defenders: int,
    *,
    memory: int,
    method: str,
    number_bytes: int = 8,
    states: int | None = None,
) -> None:
    """Refuse a battle whose states would take too many steps or too much memory.

    attackers, defenders: the size of the battle.
    memory: the bytes that are held at once.
    method: the method that is asked, for the message.
    number_bytes: the size of one number; the larger, the slower is a step.
    states: how many states the method comes by; `None` for all of them.
    """
    states = attackers * defenders if states is None else states
    steps = states * (1 + number_bytes // DIGIT_BYTES)
    if steps > MOST_STEPS or memory > MOST_BYTES:
        raise TooLargeError(
            f"a battle of {shown(attackers)} against {shown(defenders)} must be smaller for the "
            f"method {method!r}: expected at most {MOST_STEPS:.0e} steps and "
            f"{MOST_BYTES // 2**30} GiB of memory"
        )
