"""How large a battle the methods take on: what fits into memory and into an hour."""

from iacta.errors import TooLargeError
from iacta.numbers import shown

__all__ = ["refuse_too_large"]

MOST_STEPS = 2 * 10**10
MOST_BYTES = 4 * 2**30


def refuse_too_large(
    attackers: int, defenders: int, kept_rows: int, bytes_each: int, method: str
) -> None:
    """Refuse a battle whose states would take too many steps or too much memory.

    attackers, defenders: the size of the battle.
    kept_rows: how many rows of states, one for each number of attackers, are kept at once.
    bytes_each: the memory that one state takes; a state of many bytes also takes many steps.
    method: the method that is asked, for the message.
    """
    steps = attackers * defenders * (1 + bytes_each // 64)
    memory = (attackers + 1) * kept_rows * bytes_each + 8 * defenders
    if steps > MOST_STEPS or memory > MOST_BYTES:
        raise TooLargeError(
            f"{shown(attackers)} attackers against {shown(defenders)} defenders are too many for "
            f"the method {method!r}, expected at most {MOST_STEPS:.0e} steps and "
            f"{MOST_BYTES // 2**30} GiB of memory"
        )
