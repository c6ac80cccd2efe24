"""Words of charts: numbers with their nouns, rules, who fights whom, and what is refused."""

from __future__ import annotations

from iacta.forms.sentences import count
from iacta.inputs.checks import quote
from iacta.inputs.errors import MalformedError, TooLargeError
from iacta.probability.distribution import Probability
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, StopRule
from iacta.rules.variants import rules_name


def counted(number: int, noun: str = "army", plural: str = "") -> str:
    """Return a number with its noun, whose plural is given unless it ends in s.

    >>> counted(1), counted(2_000), counted(3, "defender")
    ('1 army', '2,000 armies', '3 defenders')
    """
    return count(number, noun, plural or ("armies" if noun == "army" else f"{noun}s"), ",")


def signed(number: Probability, digits: int = 0, *, plus: bool = False) -> str:
    """Return a number with a minus sign, which is wider than a hyphen.

    number: the number.
    digits: how many after the point.
    plus: whether positive numbers have their sign too.

    >>> signed(-2), signed(2, 1, plus=True), signed(0, plus=True)
    ('−2', '+2.0', '0')
    """
    sign = "+" if plus and number > 0 else ""
    return f"{sign}{float(number):,.{digits}f}".replace("-", "\N{MINUS SIGN}")


def under_rules(rules: Rules, label: str = "") -> str:
    """Return the name of rules, with a garrison that is not the usual one.

    rules: the rules.
    label: their name, if it is not one of ours.

    >>> from iacta.rules.dice import Dice
    >>> under_rules(Rules(garrison=0)), under_rules(Rules(attack=Dice((20,))), "my house")
    ('classic rules, garrison 0', 'my house rules')
    """
    name = label or rules_name(rules)
    return f"{name} rules" if rules.garrison == 1 else f"{name} rules, garrison {rules.garrison}"


def rules_words(rules: Rules) -> str:
    """Return the name of rules as `under_rules` does, "house rules" if they have none.

    >>> from iacta.rules.dice import Dice
    >>> rules_words(Rules(attack=Dice((20,))))
    'house rules'
    """
    return under_rules(rules, "house" if rules_name(rules) == repr(rules) else "")


def stop_words(stop: StopRule) -> str:
    """Return how many armies are held back and when the attackers stop, to end a sentence.

    Empty if they hold back no army and never stop.

    >>> stop_words(StopRule(charge=True, max_rolls=3))
    ', and stop when dice run short or after 3 rolls'
    >>> stop_words(StopRule(hold_back=3)), stop_words(StopRule(hold_back=3, stop_at=6))
    (', and hold back 3', ', hold back 3, and stop with 6 left')
    """
    lost, rolls = stop.max_losses, stop.max_rolls
    when = [
        *([f"with {stop.stop_at} left"] if stop.stop_at else []),
        *(["when dice run short"] if stop.charge else []),
        *([] if lost is None else [f"with {lost} lost"]),
        *([] if rolls is None else [f"after {count(rolls, 'roll', 'rolls')}"]),
    ]
    held = f"hold back {stop.hold_back}" if stop.hold_back else ""
    stopped = f"stop {' or '.join(when)}" if when else ""
    if held and stopped:
        return f", {held}, and {stopped}"
    return f", and {held or stopped}" if held or stopped else ""


def seed_words(seed: int | None) -> str:
    """Return the seed of a simulation's dice as part of a sentence; nothing if it is not known.

    >>> seed_words(7), seed_words(None)
    (' (seed 7)', '')
    """
    return "" if seed is None else f" (seed {seed})"


def fight(attackers: int, defenders: int, rules: Rules, stop: StopRule = NEVER) -> str:
    """Return who fights whom under which rules, as the beginning of a subtitle.

    >>> fight(12, 10, Rules())
    '12 armies attack 10 (classic rules).'
    """
    verb = "attacks" if attackers == 1 else "attack"
    return f"{counted(attackers)} {verb} {defenders:,}{stop_words(stop)} ({rules_words(rules)})."


def limit(size: int, most: int, rule: str, got: str) -> None:
    """Refuse to draw what is too large.

    >>> limit(31, 30, "a tree must have at most {} leaves", "31")
    Traceback (most recent call last):
        ...
    iacta.TooLargeError: a tree must have at most 30 leaves, got 31
    """
    if size > most:
        raise TooLargeError(f"{rule.format(most)}, got {got}")


def expect(value: object, kind: type, name: str) -> None:
    """Refuse a value that is not of the kind of which a chart is asked.

    >>> expect("classic", Rules, "rules")
    Traceback (most recent call last):
        ...
    iacta.MalformedError: rules must be a Rules, got 'classic'
    """
    if not isinstance(value, kind):
        raise MalformedError(f"{name} must be a {kind.__name__}, got {quote(value)}")
