"""The words of titles and subtitles: chances, armies, rules and stops."""

from iacta.distribution import Probability
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER, Stop
from iacta.rules.variants import rules_name

__all__ = [
    "armies",
    "fight",
    "joined",
    "per_cent",
    "rules_words",
    "seed_words",
    "stop_words",
    "under_rules",
]


def per_cent(chance: Probability, digits: int = 0) -> str:
    """Return a chance as a title says it; what is not quite certain is not called so.

    chance: the chance, of which only a fraction, or a whole number, is told to be 0 or 1.
    digits: how many after the point.

    >>> per_cent(0.6538), per_cent(0.9999), per_cent(1e-9), per_cent(1)
    ('65 %', 'more than 99 %', 'less than 1 %', '100 %')
    >>> per_cent(0.65382, 2)
    '65.38 %'
    """
    if not isinstance(chance, float) and chance in (0, 1):
        return f"{100 * int(chance)} %"
    told, least = 100 * float(chance), 10.0**-digits
    if told >= 100 - least / 2:
        return f"more than {100 - least:.{digits}f} %"
    return f"less than {least:.{digits}f} %" if told <= least / 2 else f"{told:.{digits}f} %"


def armies(count: int, what: str = "army", many: str = "") -> str:
    """Return a number with its noun.

    count: the number.
    what: the noun for one.
    many: the noun for several, if it is not the usual one.

    >>> armies(1), armies(2_000), armies(3, "defender")
    ('1 army', '2,000 armies', '3 defenders')
    """
    several = many or ("armies" if what == "army" else f"{what}s")
    return f"{count:,} {what if count == 1 else several}"


def joined(words: list[str]) -> str:
    """Return words as a list in a sentence.

    words: at least one.

    >>> joined(["14"]), joined(["14", "23", "31"])
    ('14', '14, 23 and 31')
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def under_rules(name: str, garrison: int) -> str:
    """Return the note of a subtitle on the rules.

    name: the name of the rules.
    garrison: armies that must stay behind.

    >>> under_rules("classic", 1), under_rules("capital", 0)
    ('classic rules', 'capital rules, garrison 0')
    """
    return f"{name} rules" if garrison == 1 else f"{name} rules, garrison {garrison}"


def rules_words(rules: Rules) -> str:
    """Return the name of the rules, with a garrison that is not the usual one.

    rules: the rules.

    >>> from iacta.rules.dice import Dice
    >>> rules_words(Rules(garrison=0)), rules_words(Rules(attack=Dice((20,))))
    ('classic rules, garrison 0', 'house rules')
    """
    name = rules_name(rules)
    name = "house" if name == repr(rules) else name
    return under_rules(name, rules.garrison)


def stop_words(stop: Stop) -> str:
    """Return when the attackers stop, as the end of a sentence; nothing if they never do.

    stop: when they stop.

    >>> stop_words(Stop(charge=True, max_rolls=3))
    ', and stop when dice run short or after 3 rolls'
    """
    if stop == NEVER:
        return ""
    lost, rolls = stop.max_losses, stop.max_rolls
    when = [
        *([f"with {stop.stop_at} kept out of the fight"] if stop.stop_at else []),
        *(["when dice run short"] if stop.charge else []),
        *([] if lost is None else [f"with {lost} lost"]),
        *([] if rolls is None else [f"after {rolls} {'roll' if rolls == 1 else 'rolls'}"]),
    ]
    return f", and stop {' or '.join(when)}"


def seed_words(seed: int | None) -> str:
    """Return which dice a simulation has thrown, as a part of a sentence; nothing if not known.

    seed: that of the dice.

    >>> seed_words(7), seed_words(None)
    (' (seed 7)', '')
    """
    return "" if seed is None else f" (seed {seed})"


def fight(attackers: int, defenders: int, rules: Rules, stop: Stop = NEVER) -> str:
    """Return who fights whom, under which rules, as the beginning of a subtitle.

    attackers: armies on the attacking territory, garrison included.
    defenders: armies on the defended territory.
    rules: the rules.
    stop: when the attackers stop.

    >>> fight(12, 10, Rules())
    '12 armies attack 10 (classic rules).'
    """
    verb = "attacks" if attackers == 1 else "attack"
    return f"{armies(attackers)} {verb} {defenders:,}{stop_words(stop)} ({rules_words(rules)})."
