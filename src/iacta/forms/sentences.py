"""Sentences: lists, numbers with their nouns, and what many answers say."""

from collections.abc import Iterable

from iacta.rules.stop import StopRule


def join_phrases(parts: Iterable[object], between: str = ", ") -> str:
    """Return parts of a sentence as one, with *and* before the last.

    between: what separates them; of three or more, a semicolon separates the last too.

    >>> join_phrases([8, 3, 4]), join_phrases(["8, 3", "4"], "; ")
    ('8, 3 and 4', '8, 3 and 4')
    >>> join_phrases(["8, 3", "4", "5"], "; ")
    '8, 3; 4; and 5'
    """
    *others, last = map(str, parts)
    if not others:
        return last
    before = between.strip(", ") if len(others) > 1 else ""
    return f"{between.join(others)}{before} and {last}"


def under(rules: str) -> str:
    """Return the note on an answer under other rules than classic.

    >>> under("capital"), under("classic")
    (' (capital)', '')
    """
    return "" if rules == "classic" else f" ({rules})"


def count(number: int, one: str, many: str, form: str = "") -> str:
    """Return a number with its noun.

    form: how Python is to write the number.

    >>> count(1, "die", "dice"), count(3_000, "die", "dice"), count(3_000, "die", "dice", ",")
    ('1 die', '3000 dice', '3,000 dice')
    """
    return f"{number:{form}} {one if number == 1 else many}"


def armies(number: int, one: str = "", many: str = "") -> str:
    """Return a number of armies with a verb: `one` for one army, `many` for several.

    >>> armies(1, "takes", "take"), armies(2)
    ('1 army takes', '2 armies')
    """
    return count(number, f"army {one}", f"armies {many}").strip()


def cannot_attack(attackers: int, garrison: int) -> str:
    return f"{armies(attackers)} cannot attack: {garrison} must stay behind."


def describe_stop(stop: StopRule) -> list[str]:
    """Return sentences that tell armies held back from armies at which the attackers stop.

    >>> describe_stop(StopRule(hold_back=3, stop_at=6, charge=True))
    ['The attackers hold back 3 armies besides the garrison.', \
'The attackers stop once 6 armies are left, garrison included.']
    """
    held, least = stop.hold_back, stop.stop_at
    return [
        *([f"The attackers hold back {armies(held)} besides the garrison."] if held else []),
        *(
            [f"The attackers stop once {armies(least, 'is', 'are')} left, garrison included."]
            if least
            else []
        ),
    ]


def does_not_attack(attackers: int) -> str:
    """Return a sentence on armies that might attack, but stop before the first roll."""
    stops = "it stops" if attackers == 1 else "they stop"
    return f"{armies(attackers, 'does', 'do')} not attack: {stops} before the first roll."
