"""Which battles the methods take on: what fits into memory and into an hour, and their rules."""

from iacta.checks import shown, whole_number
from iacta.errors import IllegalError, TooLargeError
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

__all__ = [
    "OUTCOME_BYTES",
    "check_rules",
    "read_battle",
    "read_rules",
    "refuse_dice_mode",
    "refuse_gains",
    "refuse_not_seen",
    "refuse_seen",
    "refuse_too_large",
]

MOST_STEPS = 2 * 10**10
MOST_BYTES = 4 * 2**30
OUTCOME_BYTES = 300
DIGIT_BYTES = 64


def check_rules(rules: Rules, *, exact: bool = False) -> None:
    """Refuse rules that no method solves, or none in fractions.

    rules: the rules of a battle.
    exact: whether fractions are asked for.
    """
    if rules.defender_sees_first and rules.dice_mode == "balanced blitz":
        raise IllegalError(
            "defender_sees_first must be False under balanced blitz, where no attack is thrown to "
            "be seen, got True"
        )
    if rules.defender_sees_first and rules.all_ones_gain:
        raise IllegalError(
            "all_ones_gain must be 0 where the defender sees the attack first, "
            f"got {rules.all_ones_gain}"
        )
    if exact and rules.dice_mode == "balanced blitz":
        raise IllegalError(
            "exact must be False under balanced blitz, whose powers give no fractions, got True"
        )


def read_rules(rules: Rules | str) -> Rules:
    """Return the rules of that name, or refuse those that no method solves.

    rules: `Rules`, or the name of a rule set.

    >>> read_rules("classic")
    Rules()
    """
    found = find_rules(rules)
    check_rules(found)
    return found


def read_battle(
    attackers: object, defenders: object, rules: Rules | str, fewest: int = 1
) -> tuple[int, int, Rules]:
    """Return a battle's armies as whole numbers and its rules, or refuse them.

    attackers: armies on the attacking territory, garrison included, at least 1.
    defenders: armies on the defended territory, at least `fewest`.
    rules: `Rules`, or the name of a rule set.
    fewest: the fewest defenders.

    >>> read_battle(5, -4, "classic")
    Traceback (most recent call last):
        ...
    iacta.errors.IllegalError: defenders must be a whole number of at least 1, got -4
    """
    return (
        whole_number(attackers, "attackers", least=1),
        whole_number(defenders, "defenders", least=fewest),
        read_rules(rules),
    )


def refuse_dice_mode(rules: Rules, method: str) -> None:
    """Refuse rules under which a roll is not one of true random dice, all chosen before it.

    rules: the rules of the battle.
    method: the method that is asked, for the message.
    """
    if rules.dice_mode != "true random":
        raise IllegalError(
            f"dice_mode must be 'true random' for the method {method!r}, got {rules.dice_mode!r}"
        )
    refuse_seen(rules, f"for the method {method!r}")


def refuse_seen(rules: Rules, purpose: str) -> None:
    """Refuse rules by which the defender sees the attack first.

    rules: the rules of the battle.
    purpose: what they are wanted for, for the message.
    """
    if rules.defender_sees_first:
        raise IllegalError(f"defender_sees_first must be False {purpose}, got True")


def refuse_not_seen(rules: Rules, method: str) -> None:
    """Refuse rules by which the defender does not see the attack first, or a battle is blitzed.

    rules: the rules of the battle.
    method: the method that is asked, for the message.
    """
    if not rules.defender_sees_first:
        raise IllegalError(f"defender_sees_first must be True for the method {method!r}, got False")
    check_rules(rules)


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
