"""Helpers for sentences: lists of phrases, numbers with nouns, and sentences of several answers."""

from collections.abc import Iterable

from iacta.rules.stop import StopRule


def capitalise(text: str) -> str:
    """Return a text with a capital first letter.

    >>> capitalise("blue, Ann's player")
    "Blue, Ann's player"
    """
    return text[:1].upper() + text[1:]


def join_phrases(parts: Iterable[object], between: str = ", ") -> str:
    """Join phrases with a separator, and with *and* before the last phrase.

    between: the separator. If it is a semicolon and there are at least three phrases, *and* also
        follows a semicolon.

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


def note_rules(rules: str) -> str:
    """Return a note on the rules in parentheses, or an empty string for classic rules.

    >>> note_rules("capital"), note_rules("classic")
    (' (rules: capital)', '')
    """
    return "" if rules == "classic" else f" (rules: {rules})"


def add_noun(number: int, one: str, many: str, form: str = "") -> str:
    """Return a number followed by a noun in the singular or the plural.

    one, many: the singular and the plural of the noun.
    form: the format specification for the number.

    >>> add_noun(1, "die", "dice"), add_noun(3_000, "die", "dice", ",")
    ('1 die', '3,000 dice')
    """
    return f"{number:{form}} {one if number == 1 else many}"


def name_armies(number: int, one: str = "", many: str = "") -> str:
    """Return a number of armies, followed by a verb: `one` in the singular, `many` in the plural.

    >>> name_armies(1, "takes", "take"), name_armies(2)
    ('1 army takes', '2 armies')
    """
    return add_noun(number, f"army {one}", f"armies {many}").strip()


def explain_no_attack(attackers: int, garrison: int) -> str:
    return f"{name_armies(attackers)} cannot attack: {garrison} must stay behind."


def describe_stop(stop: StopRule) -> list[str]:
    """Return sentences about the armies that are held back, and about when the attackers stop.

    >>> describe_stop(StopRule(hold_back=3, stop_at=6, charge=True))
    ['The attackers hold back 3 armies in addition to the garrison.', \
'The attackers stop once 6 armies are left, garrison included.']
    """
    held, least, leave = stop.hold_back, stop.stop_at, stop.leave
    return [
        *(
            [f"The attackers hold back {name_armies(held)} in addition to the garrison."]
            if held
            else []
        ),
        *(
            [f"The attackers stop once {name_armies(least, 'is', 'are')} left, garrison included."]
            if least
            else []
        ),
        *(
            [f"The attackers stop once {add_noun(leave, 'defender is', 'defenders are')} left."]
            if leave
            else []
        ),
    ]


def explain_stop_at_once(attackers: int) -> str:
    """Return a sentence about attackers who stop before the first roll."""
    stops = "it stops" if attackers == 1 else "they stop"
    return f"{name_armies(attackers, 'does', 'do')} not attack: {stops} before the first roll."
