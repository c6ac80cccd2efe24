"""The named rule sets: what people play, what it is called, and where it is written down."""

from dataclasses import dataclass, replace

from iacta.dice import Dice
from iacta.errors import IllegalError, MalformedError
from iacta.numbers import shown
from iacta.rules import CLASSIC, Rules

__all__ = ["RULE_SETS", "RuleSet", "find_rule_set", "find_rules", "rules_argument", "rules_name"]

D6 = 6
D8 = 8


@dataclass(frozen=True)
class RuleSet:
    """Rules with the names under which they are known.

    name, aliases: any of them finds the rules, without regard to case, spaces and hyphens.
    rules: the `Rules` themselves.
    description: what differs from classic, in one line.
    source: the game or document that has the rule.
    """

    name: str
    rules: Rules
    description: str
    source: str
    aliases: tuple[str, ...] = ()


THREE_DEFENCE_DICE = Rules(defence=Dice((D6, D6, D6)))

RULE_SETS: tuple[RuleSet, ...] = (
    RuleSet(
        "classic",
        CLASSIC,
        "Attacker at most three dice, defender at most two, ties to the defender.",
        "Risk (Parker Brothers, Hasbro)",
        ("standard", "true random"),
    ),
    RuleSet(
        "capital",
        THREE_DEFENCE_DICE,
        "The defender throws at most three dice.",
        "RISK: Global Domination, capitals",
    ),
    RuleSet(
        "wall",
        THREE_DEFENCE_DICE,
        "The defender throws at most three dice.",
        "RISK: Global Domination, walls",
    ),
    RuleSet(
        "risiko",
        THREE_DEFENCE_DICE,
        "The defender throws at most three dice.",
        "RisiKo! (Editrice Giochi), TEG, old English rules",
        ("teg", "old english"),
    ),
    RuleSet(
        "zombie attacker",
        Rules(attack=Dice((D6, D6))),
        "The attacker throws at most two dice.",
        "RISK: Global Domination, zombies",
    ),
    RuleSet(
        "zombie defender",
        Rules(ties="attacker"),
        "Ties go to the attacker.",
        "RISK: Global Domination, zombies",
    ),
    RuleSet(
        "attack leader",
        Rules(attack=Dice((D6, D6, D6), bonus=(1,))),
        "One is added to the highest attack die.",
        "Risk: The Lord of the Rings, leader; Castle Risk, general",
        ("leader", "general"),
    ),
    RuleSet(
        "defence leader",
        Rules(defence=Dice((D6, D6), bonus=(1,))),
        "One is added to the highest defence die.",
        "Risk: The Lord of the Rings, leader and stronghold; Castle Risk, marshal",
        ("stronghold", "marshal"),
    ),
    RuleSet(
        "attack commander",
        Rules(attack=Dice((D8, D6, D6))),
        "One of the attack dice has eight faces.",
        "Risk 2210 A.D., commander attacking by his type",
        ("commander",),
    ),
    RuleSet(
        "defence commander",
        Rules(defence=Dice((D8, D6))),
        "One of the defence dice has eight faces.",
        "Risk 2210 A.D., commander defending",
    ),
    RuleSet(
        "space station",
        Rules(defence=Dice((D8, D8))),
        "Every defence die has eight faces.",
        "Risk 2210 A.D., space station",
    ),
    RuleSet(
        "bunker",
        Rules(defence=Dice((D6, D6), bonus=(1,))),
        "One is added to the highest defence die.",
        "Risk Legacy, bunker",
    ),
    RuleSet(
        "ammo shortage",
        Rules(defence=Dice((D6, D6), bonus=(-1,))),
        "One is taken from the highest defence die.",
        "Risk Legacy, ammo shortage",
    ),
    RuleSet(
        "ammo shortage clamped",
        Rules(defence=Dice((D6, D6), bonus=(-1,), clamp=(1, D6))),
        "One is taken from the highest defence die, which cannot fall below one.",
        "Risk Legacy, ammo shortage as some groups play it",
    ),
    RuleSet(
        "fortification",
        Rules(defence=Dice((D6, D6), bonus=(1, 1))),
        "One is added to both defence dice.",
        "Risk Legacy, fortification",
    ),
    RuleSet(
        "war god",
        Rules(ties="attacker"),
        "Ties go to the attacker.",
        "Risk Godstorm, war god attacking",
    ),
    RuleSet(
        "attack magic",
        Rules(attack=Dice((D6, D6, D6), reroll=(1,))),
        "The attacker throws his ones once more.",
        "Risk Godstorm, magic",
    ),
    RuleSet(
        "defence magic",
        Rules(defence=Dice((D6, D6), reroll=(1,))),
        "The defender throws his ones once more.",
        "Risk Godstorm, magic",
    ),
    RuleSet(
        "attack bonus die",
        Rules(attack=Dice((D6, D6, D6, D6), keep=3)),
        "The attacker throws one die more and leaves out the lowest.",
        "Risk (2008 revision), bonus die",
    ),
    RuleSet(
        "defence bonus die",
        Rules(defence=Dice((D6, D6, D6), keep=2)),
        "The defender throws one die more and leaves out the lowest.",
        "Risk (2008 revision), bonus die",
    ),
    RuleSet(
        "dominating12",
        Rules(full_attack=Dice((130, D6, D6)), full_defence=Dice((28, 28))),
        "Three against two: the attacker throws d130, d6, d6 and the defender d28, d28.",
        "Dominating12, balanced dice",
    ),
    RuleSet(
        "five ones",
        Rules(all_ones_gain=1),
        "When all five dice show one, nobody loses an army and both sides gain one.",
        "Norvig, The Unfinished Game ... of Risk (2020), a rule that makes the game infinite",
    ),
)


def find_rule_set(name: str) -> RuleSet:
    """Return the rule set known under `name` or one of its aliases, in any spelling.

    Case, spaces, hyphens and underscores do not matter. An unknown name is refused, and the
    nearest ones are suggested.

    >>> find_rule_set("Zombie-Attacker").description
    'The attacker throws at most two dice.'
    >>> find_rule_set("capitol")
    Traceback (most recent call last):
        ...
    iacta.errors.IllegalError: rules must be a known name, got 'capitol'; did you mean 'capital'?
    """
    if not isinstance(name, str):
        raise MalformedError(f"rules must be a name or Rules, got {shown(name)}")
    found = _BY_KEY.get(_key(name))
    if found is not None:
        return found
    import difflib  # slow to import, and only needed here

    near = difflib.get_close_matches(_key(name), _BY_KEY, n=3)
    names = dict.fromkeys(_BY_KEY[key].name for key in near)
    hint = f"did you mean {' or '.join(map(repr, names))}?" if names else "see the list of rules"
    raise IllegalError(f"rules must be a known name, got {shown(name)}; {hint}")


def find_rules(rules: Rules | str, garrison: int | None = None) -> Rules:
    """Return the rules of that name, or `rules` themselves, with another garrison if one is given.

    rules: `Rules`, or a name such as `"capital"` in any spelling.
    garrison: armies that must stay behind; `None` leaves what the rules say.

    >>> find_rules("capital").defence
    Dice((6, 6, 6))
    >>> find_rules("classic", garrison=0)
    Rules(garrison=0)
    """
    found = rules if isinstance(rules, Rules) else find_rule_set(rules).rules
    return found if garrison is None else replace(found, garrison=garrison)


def rules_name(rules: Rules) -> str:
    """Return the first name under which the rules are known, whatever their garrison.

    Rules without a name are shown in full.

    >>> rules_name(Rules(defence=Dice((6, 6, 6)), garrison=3))
    'capital'
    >>> rules_name(Rules(attack=Dice((20,))))
    'Rules(attack=Dice((20,)))'
    """
    if not isinstance(rules, Rules):
        raise MalformedError(f"rules must be Rules, got {shown(rules)}")
    unfortified = replace(rules, garrison=CLASSIC.garrison)
    return next((known.name for known in RULE_SETS if known.rules == unfortified), repr(rules))


def rules_argument(rules: Rules) -> str:
    """Return the rules as a last argument in a repr: nothing if classic, their name, or all.

    >>> rules_argument(find_rules("capital")), rules_argument(CLASSIC)
    (", 'capital'", '')
    """
    if rules == CLASSIC:
        return ""
    known = next((known for known in RULE_SETS if known.rules == rules), None)
    return f", {rules!r}" if known is None else f", {known.name!r}"


def _key(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in " -_!")


_BY_KEY = {_key(name): known for known in RULE_SETS for name in (known.name, *known.aliases)}
