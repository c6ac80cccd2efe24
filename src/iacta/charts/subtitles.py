"""Texts for charts (counts, rules and battles), and checks of arguments."""

from __future__ import annotations

from iacta.forms.sentences import add_noun
from iacta.inputs.checks import quote
from iacta.inputs.errors import MalformedError, TooLargeError
from iacta.probability.distribution import Probability
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, StopRule
from iacta.rules.variants import rules_name


def format_count(number: int, noun: str = "army", plural: str = "") -> str:
    """Format a number with its noun, such as "3 armies".

    plural: the plural of the noun; by default, an s is added.

    >>> format_count(1), format_count(2_000), format_count(3, "defender")
    ('1 army', '2,000 armies', '3 defenders')
    """
    return add_noun(number, noun, plural or ("armies" if noun == "army" else f"{noun}s"), ",")


def format_signed(number: Probability, digits: int = 0, *, plus: bool = False) -> str:
    """Format a number with a true minus sign in place of a hyphen.

    digits: the number of decimal places.
    plus: whether positive numbers get a plus sign.

    >>> format_signed(-2), format_signed(2, 1, plus=True), format_signed(0, plus=True)
    ('−2', '+2.0', '0')
    """
    sign = "+" if plus and number > 0 else ""
    return f"{sign}{float(number):,.{digits}f}".replace("-", "\N{MINUS SIGN}")


def format_rules(rules: Rules, label: str = "") -> str:
    """Return the name of rules, and the garrison unless it is 1.

    label: a name to use instead of the rules' own name.

    >>> from iacta.rules.dice import Dice
    >>> format_rules(Rules(garrison=0)), format_rules(Rules(attack=Dice((20,))), "my house")
    ('classic rules, garrison 0', 'my house rules')
    """
    name = label or rules_name(rules)
    return f"{name} rules" if rules.garrison == 1 else f"{name} rules, garrison {rules.garrison}"


def describe_rules(rules: Rules) -> str:
    """Return the name of rules as `format_rules` does; rules without a name are "house rules".

    >>> from iacta.rules.dice import Dice
    >>> describe_rules(Rules(attack=Dice((20,))))
    'house rules'
    """
    return format_rules(rules, "house" if rules_name(rules) == repr(rules) else "")


def format_stop(stop: StopRule) -> str:
    """Describe a stop rule at the end of a sentence; empty for a fight to the end.

    >>> format_stop(StopRule(charge=True, max_rolls=3))
    ', and stop when dice run short or after 3 rolls'
    >>> format_stop(StopRule(hold_back=3)), format_stop(StopRule(hold_back=3, stop_at=6))
    (', and hold back 3', ', hold back 3, and stop with 6 left')
    """
    lost, rolls = stop.max_losses, stop.max_rolls
    when = [
        *([f"with {stop.stop_at} left"] if stop.stop_at else []),
        *(["when dice run short"] if stop.charge else []),
        *([f"with {stop.leave} of theirs left"] if stop.leave else []),
        *([] if lost is None else [f"with {lost} lost"]),
        *([] if rolls is None else [f"after {add_noun(rolls, 'roll', 'rolls')}"]),
    ]
    held = f"hold back {stop.hold_back}" if stop.hold_back else ""
    stopped = f"stop {' or '.join(when)}" if when else ""
    if held and stopped:
        return f", {held}, and {stopped}"
    return f", and {held or stopped}" if held or stopped else ""


def format_seed(seed: int | None) -> str:
    """Return a phrase with the seed to append to a sentence; empty without a seed.

    >>> format_seed(7), format_seed(None)
    (' (seed 7)', '')
    """
    return "" if seed is None else f" (seed {seed})"


def format_battle(attackers: int, defenders: int, rules: Rules, stop: StopRule = NEVER) -> str:
    """Describe a battle and its rules in a sentence.

    >>> format_battle(12, 10, Rules())
    '12 armies attack 10 (classic rules).'
    """
    verb = "attacks" if attackers == 1 else "attack"
    armies = format_count(attackers)
    return f"{armies} {verb} {defenders:,}{format_stop(stop)} ({describe_rules(rules)})."


def check_size(size: int, maximum: int, requirement: str, got: str) -> None:
    """Raise an error if a chart would be too large.

    requirement: the requirement in words, with `{}` in place of the maximum.

    >>> check_size(31, 30, "a tree must have at most {} leaves", "31")
    Traceback (most recent call last):
        ...
    iacta.TooLargeError: a tree must have at most 30 leaves, got 31
    """
    if size > maximum:
        raise TooLargeError(f"{requirement.format(maximum)}, got {got}")


def check_type(value: object, kind: type, name: str) -> None:
    """Raise an error if an argument of a chart has the wrong type.

    >>> check_type("classic", Rules, "rules")
    Traceback (most recent call last):
        ...
    iacta.MalformedError: rules must be a Rules, got 'classic'
    """
    if not isinstance(value, kind):
        raise MalformedError(f"{name} must be a {kind.__name__}, got {quote(value)}")
