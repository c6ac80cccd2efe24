"""Rule variants: the named rules and their sources.

Each variant is a `RuleSet`. Variants that players of the official app can combine with other rules
are `Modifier` objects.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import combinations
from typing import Any, Literal

from iacta.inputs.checks import quote
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.inputs.reprs import PasteableMixin
from iacta.rules.dice import Dice
from iacta.rules.modes import (
    ArmiesGrow,
    AttackDieAgain,
    BalancedBlitz,
    DefenderSeesFirst,
    Fumble,
    LastDieAtTwoToOne,
    LateDefenceDice,
    Missiles,
    Mode,
    NeverFewerDice,
    OneDieFirst,
    TiesCost,
)
from iacta.rules.rules import CLASSIC, Rules

D6 = 6
D8 = 8


@dataclass(frozen=True, repr=False)
class Modifier(PasteableMixin):
    """A change that can be applied to any rules. The order of several changes does not matter.

    name, aliases: the names of the modifier.
    description: the change in one line.
    source: the game with this rule.
    attack_dice: the number of dice to add to the attack; negative to remove dice. At least one die
        remains.
    defence_dice: the number of dice to add to the defence; negative to remove dice.
    ties: the side that wins ties; `None` for no change.
    mode: the dice mode; `None` for no change.
    """

    name: str
    description: str
    source: str
    aliases: tuple[str, ...] = ()
    attack_dice: int = 0
    defence_dice: int = 0
    ties: Literal["attacker", "defender"] | None = None
    mode: Mode | None = None

    def _summary(self) -> str:
        return f"{self.name}. {self.description}"

    def apply(self, rules: Rules | str) -> Rules:
        """Return the rules with the change applied.

        rules: the rules to change: a `Rules` object or the name of a rule set.

        Dice are added as copies of the last die, and removed from the end. The dice of full rolls
        change in the same way.

        >>> capital, wall, *_ = MODIFIERS
        >>> wall.apply(capital.apply(CLASSIC))
        Rules(defence=Dice((6, 6, 6, 6)))
        """
        if not isinstance(rules, Rules):
            rules = find_rules(rules)
        return replace(
            rules,
            attack=_change_dice_count(rules.attack, self.attack_dice),
            full_attack=rules.full_attack
            and _change_dice_count(rules.full_attack, self.attack_dice),
            defence=_change_dice_count(rules.defence, self.defence_dice),
            full_defence=rules.full_defence
            and _change_dice_count(rules.full_defence, self.defence_dice),
            ties=self.ties or rules.ties,
            mode=self.mode or rules.mode,
        )


# In combined names, modifiers appear in this order.
MODIFIERS: tuple[Modifier, ...] = (
    Modifier(
        "capital",
        "The defender rolls one extra die.",
        "RISK: Global Domination, capitals",
        ("capitals",),
        defence_dice=1,
    ),
    Modifier(
        "wall",
        "The defender rolls one extra die.",
        "RISK: Global Domination, walls",
        ("walls",),
        defence_dice=1,
    ),
    Modifier(
        "zombie attacker",
        "The attacker rolls one die fewer, but at least one.",
        "RISK: Global Domination, zombies",
        ("zombies attacking",),
        attack_dice=-1,
    ),
    Modifier(
        "zombie defender",
        "Ties go to the attacker.",
        "RISK: Global Domination, zombies",
        ("zombies defending",),
        ties="attacker",
    ),
    Modifier(
        "balanced blitz",
        "A whole battle is decided at once, with less luck (2024 rules).",
        "RISK: Global Domination, dice modes",
        ("balanced", "balanced blitz (2024 rules)"),
        mode=BalancedBlitz(),
    ),
)


def _change_dice_count(dice: Dice, more: int) -> Dice:
    """Return dice with a different number of kept dice and the same number of spare dice.

    more: the number of kept dice to add; negative to remove dice.
    """
    more = max(more, 1 - dice.kept)
    kept, faces = dice.kept + more, (*dice.faces, *dice.faces[-1:] * more)
    faces = faces[: len(dice.faces) + more]
    return replace(
        dice,
        faces=faces,
        keep=kept,
        reroll=tuple(face for face in dice.reroll if face <= max(faces)),
        bonus=dice.bonus[:kept],
    )


@dataclass(frozen=True, repr=False)
class RuleSet(PasteableMixin):
    """Rules with a name and a description.

    name, aliases: the names of the rules. Case, spaces and hyphens do not matter.
    rules: the `Rules`.
    description: the difference from the classic rules, in one line.
    source: the game or document that contains the rules.
    """

    name: str
    rules: Rules
    description: str
    source: str
    aliases: tuple[str, ...] = ()

    def _summary(self) -> str:
        return f"{self.name}. {self.description}"


RULE_SETS: tuple[RuleSet, ...] = (
    RuleSet(
        "classic",
        CLASSIC,
        "Attacker at most three dice, defender at most two, ties to the defender.",
        "Risk (Parker Brothers, Hasbro)",
        ("standard", "true random", "official advance"),
    ),
    *(
        RuleSet(
            modifier.name,
            modifier.apply(CLASSIC),
            modifier.description,
            modifier.source,
            modifier.aliases,
        )
        for modifier in MODIFIERS
    ),
    RuleSet(
        "risiko",
        Rules(defence=Dice((D6, D6, D6))),
        "The defender rolls at most three dice.",
        "RisiKo! (Editrice Giochi), old English rules",
        ("old english",),
    ),
    RuleSet(
        "war",
        Rules(
            defence=Dice((D6, D6, D6)),
            least_advance=False,
            most_advance=3,
            territories_per_army=2,
        ),
        "Three defence dice; one to three armies move in; a new army for two territories.",
        "War (Grow), TEG (Yetem)",
        ("teg",),
    ),
    RuleSet(
        "attack leader",
        Rules(attack=Dice((D6, D6, D6), bonus=(1,))),
        "One is added to the highest attack die.",
        "Risk: The Lord of the Rings, leader; Castle Risk, general",
        ("leader", "general", "lord of the rings leader", "castle risk general"),
    ),
    RuleSet(
        "defence leader",
        Rules(defence=Dice((D6, D6), bonus=(1,))),
        "One is added to the highest defence die.",
        "Risk: The Lord of the Rings, leader and stronghold; Castle Risk, marshal",
        ("stronghold", "marshal", "lord of the rings stronghold", "castle risk marshal"),
    ),
    RuleSet(
        "attack commander",
        Rules(attack=Dice((D8, D6, D6))),
        "One of the attack dice has eight faces.",
        "Risk 2210 A.D., commander attacking in his own kind of territory",
        ("commander", "risk 2210 commander"),
    ),
    RuleSet(
        "defence commander",
        Rules(defence=Dice((D8, D6))),
        "One of the defence dice has eight faces.",
        "Risk 2210 A.D., commander defending",
        ("commander defending",),
    ),
    RuleSet(
        "space station",
        Rules(defence=Dice((D8, D8))),
        "Every defence die has eight faces.",
        "Risk 2210 A.D., space station",
        ("station", "risk 2210 space station"),
    ),
    RuleSet(
        "bunker",
        Rules(defence=Dice((D6, D6), bonus=(1,))),
        "One is added to the highest defence die.",
        "Risk Legacy, bunker",
        ("risk legacy bunker",),
    ),
    RuleSet(
        "ammo shortage",
        Rules(defence=Dice((D6, D6), bonus=(-1,), clamp=(1, D6))),
        "One is taken off the highest defence die, down to one at least; dice are sorted again.",
        "Risk Legacy, ammo shortage",
        (
            "ammo",
            "shortage",
            "risk legacy ammo shortage",
            "ammo shortage clamped",
            "ammo clamped",
        ),
    ),
    RuleSet(
        "fortification",
        Rules(defence=Dice((D6, D6), bonus=(1, 1))),
        "One is added to both defence dice.",
        "Risk Legacy, fortification",
        ("fortified", "risk legacy fortification"),
    ),
    RuleSet(
        "war god",
        Rules(ties="attacker"),
        "Ties go to the attacker.",
        "Risk Godstorm, war god attacking",
        ("godstorm war god",),
    ),
    RuleSet(
        "attack magic",
        Rules(attack=Dice((D6, D6, D6), reroll=(1,))),
        "The attacker rerolls ones, once.",
        "Risk Godstorm, magic",
        ("magic", "godstorm magic"),
    ),
    RuleSet(
        "defence magic",
        Rules(defence=Dice((D6, D6), reroll=(1,))),
        "The defender rerolls ones, once.",
        "Risk Godstorm, magic",
        ("godstorm magic in defence",),
    ),
    RuleSet(
        "attack bonus die",
        Rules(attack=Dice((D6, D6, D6, D6), keep=3)),
        "The attacker rolls one extra die and drops the lowest.",
        "Risk (2008 revision), bonus die",
        ("bonus die", "risk 2008 bonus die"),
    ),
    RuleSet(
        "defence bonus die",
        Rules(defence=Dice((D6, D6, D6), keep=2)),
        "The defender rolls one extra die and drops the lowest.",
        "Risk (2008 revision), bonus die",
        ("bonus die in defence",),
    ),
    RuleSet(
        "dominating12",
        Rules(full_attack=Dice((130, D6, D6)), full_defence=Dice((28, 28))),
        "A roll of three dice against two uses d130, d6, d6 against d28, d28.",
        "Dominating12, balanced dice",
        ("balanced dice",),
    ),
    RuleSet(
        "defender sees first",
        Rules(mode=DefenderSeesFirst()),
        "The defender chooses one or two dice after seeing the attack roll.",
        "Risk, as some groups play it",
        ("sees first", "defender chooses"),
    ),
    RuleSet(
        "one die first",
        Rules(mode=OneDieFirst()),
        "After the attack roll the defender rolls one die, and then decides on a second die.",
        "Risk, in some boxes",
        ("one die then decide",),
    ),
    RuleSet(
        "free advance",
        Rules(least_advance=False),
        "After a conquest, as few armies as you like may move in, whatever was rolled.",
        "Risk, as some groups play instead of the official rule",
        ("no least advance",),
    ),
    RuleSet(
        "ties cost nobody",
        Rules(mode=TiesCost("nobody")),
        "A tie costs nobody an army.",
        "house rule",
        ("ties nobody",),
    ),
    RuleSet(
        "ties cost both",
        Rules(mode=TiesCost("both")),
        "A tie costs both sides an army; nobody takes a territory that both have left.",
        "house rule",
        ("ties both",),
    ),
    RuleSet(
        "second die from three",
        Rules(mode=LateDefenceDice()),
        "The defender rolls a second die only with at least three armies.",
        "house rule",
    ),
    RuleSet(
        "risiko tournament",
        Rules(defence=Dice((D6, D6, D6)), mode=NeverFewerDice()),
        "Three defence dice; the attacker may not roll fewer dice than the defender.",
        "RisiKo!, tournaments",
        ("never fewer dice",),
    ),
    RuleSet(
        "fourth die",
        Rules(attack=Dice((D6,) * 4), defence=Dice((D6,) * 3), mode=LastDieAtTwoToOne()),
        "Three defence dice; a fourth attack die at two to one against three or more defenders.",
        "TEG, as some groups play it",
        ("teg fourth die",),
    ),
    RuleSet(
        "fumble",
        Rules(mode=Fumble()),
        "If all attack dice show one, the attacker loses an army for each die.",
        "house rule, risky dice",
        ("risky dice",),
    ),
    RuleSet(
        "attack die again",
        Rules(mode=AttackDieAgain()),
        "With the card of a territory, the attacker may roll one die again after each roll.",
        "Risk, a variation for experts in the rules of 1993",
        ("card reroll",),
    ),
    RuleSet(
        "missile",
        Rules(mode=Missiles(attack=1)),
        "The attacker may set one attack die to six after one roll of the battle.",
        "Risk Legacy; with a commander, a variation for experts in the rules of 1993",
    ),
    RuleSet(
        "defence missile",
        Rules(mode=Missiles(defence=1)),
        "The defender may set one defence die to six after one roll of the battle.",
        "Risk Legacy",
    ),
    RuleSet(
        "five ones",
        Rules(mode=ArmiesGrow()),
        "When all five dice show one, nobody loses an army and both sides gain one.",
        "Norvig, The Unfinished Game ... of Risk (2020), a rule that makes the game infinite",
        ("infinite",),
    ),
)


def find_rule_set(name: str) -> RuleSet:
    """Return the rule set with a given name or alias.

    name: a name, or names joined by `+` in any order. Case, spaces, hyphens and underscores do not
        matter.

    Joined rules make the changes of all their parts. Raises `IllegalError` for an unknown name,
    with similar names as a suggestion, and for joined names that are repeated or that change the
    same part of the rules.

    >>> find_rule_set("Zombie-Attacker").description
    'The attacker rolls one die fewer, but at least one.'
    >>> find_rule_set("wall + capital").name
    'capital+wall'
    >>> find_rule_set("marshal+general").name
    'attack leader+defence leader'
    >>> find_rule_set("capitol")
    Traceback (most recent call last):
        ...
    iacta.IllegalError: unknown rules 'capitol'; did you mean 'capital'?
    """
    if not isinstance(name, str):
        raise MalformedError(f"rules must be a name or Rules, got {quote(name)}")
    if "+" in name and not all(map(str.strip, name.split("+"))):
        raise IllegalError(f"rules need a name on both sides of each +, got {quote(name)}")
    parts = [_find_single(part) for part in name.split("+")]
    if len(parts) == 1:
        return parts[0]
    parts = parts[1:] if parts[0].rules == CLASSIC else parts
    return parts[0] if len(parts) == 1 else _join(parts)


def register_rule_set(name: str, rule_set: RuleSet) -> None:
    """Register rules under a name, for `find_rule_set` in this process."""
    _BY_KEY[_normalise_name(name)] = replace(rule_set, name=name)
    _list_names().setdefault(replace(rule_set.rules, garrison=CLASSIC.garrison), name)


def _find_single(name: str) -> RuleSet:
    rule_set = _BY_KEY.get(_normalise_name(name))
    if rule_set is not None:
        return rule_set
    names = _correct_joined_name(name) or _find_similar_names(_normalise_name(name))
    hint = f"did you mean {' or '.join(map(repr, names))}?" if names else "see iacta rules"
    if name.endswith(".toml"):
        hint = "--rules-file or read_rules_file reads a file"
    raise IllegalError(f"unknown rules {quote(name)}; {hint}")


def _correct_joined_name(name: str) -> list[str]:
    """Return the correct form of joined names, such as `capital+wall`.

    name: the name as typed, such as `capital, wall`.
    """
    parts = [
        _BY_KEY.get(_normalise_name(part)) for part in re.split(r"[\s,&]+(?:and\s+)?", name.strip())
    ]
    known = {modifier.name for modifier in MODIFIERS}
    names = [part.name for part in parts if part and part.name in known]
    return ["+".join(names)] if len(names) == len(parts) > 1 else []


def _find_similar_names(key: str) -> list[str]:
    """Return rule names with a similar spelling, or the rules of the game named `key`."""
    import difflib  # a slow import, only needed for errors

    near = difflib.get_close_matches(key, _BY_KEY, n=3)
    if near:
        return list(dict.fromkeys(_BY_KEY[key].name for key in near))
    return [
        rule_set.name
        for rule_set in RULE_SETS
        if len(key) > 3 and key in _normalise_name(rule_set.source)
    ]


def _join(parts: Sequence[RuleSet]) -> RuleSet:
    """Return the rules that make the changes of all parts; the order of the parts has no effect."""
    names = [part.name for part in parts]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise IllegalError(f"rules joined by + name {quote(twice)} twice")
    modifiers = tuple(each for each in MODIFIERS if each.name in names)
    added = {each.name for each in modifiers}
    order = [each.name for each in RULE_SETS]
    others = [part for part in parts if part.name not in added]
    others.sort(key=lambda part: (order.index(part.name) if part.name in order else 0, part.name))
    changes: dict[tuple[str, str], tuple[Any, str]] = {}
    for part in others:
        for place, value in _list_changes(part.rules).items():
            known, name = changes.setdefault(place, (value, part.name))
            if known != value:
                raise _make_clash_error(name, part.name, (known, value))
    rules, modes = CLASSIC, [part.name for part in others if part.rules.mode != CLASSIC.mode]
    for (field, key), (value, _) in changes.items():
        dice: Any = getattr(rules, field)
        new: dict[str, Any] = {field: replace(dice, **{key: value}) if key else value}
        rules = replace(rules, **new)
    for modifier in modifiers:
        if modes and modifier.mode is not None:
            raise _make_clash_error(modes[0], modifier.name, (rules.mode, modifier.mode))
        rules = modifier.apply(rules)
    listed: list[RuleSet | Modifier] = [*others, *modifiers]
    clauses = [
        f"{each.name}: {each.description[0].lower()}{each.description[1:].removesuffix('.')}"
        for each in listed
    ]
    return RuleSet(
        "+".join(each.name for each in listed),
        rules,
        "; ".join(clauses) + ".",
        "; ".join(dict.fromkeys(each.source for each in listed)),
    )


def _make_clash_error(first: str, second: str, values: tuple[object, object]) -> IllegalError:
    """Return the error for rules that give a part of the rules two values.

    first, second: the names of the rules.
    values: the values. Rules have one dice mode, so a rules file cannot combine two modes either.
    """
    are_modes = all(isinstance(value, Mode) for value in values)
    fits_file = not are_modes or type(values[0]) is type(values[1])
    hint = "; write a rules file" if fits_file else ""
    return IllegalError(
        f"{quote(first)} cannot be joined with {quote(second)}, because both change the same part "
        f"of the rules{hint}"
    )


def _list_changes(rules: Rules) -> dict[tuple[str, str], object]:
    """Return the values that are not classic, by field of the rules and field of the usual dice."""
    found: dict[tuple[str, str], object] = {}
    for field in fields(Rules):
        ours, classic = getattr(rules, field.name), getattr(CLASSIC, field.name)
        if isinstance(ours, Dice) and isinstance(classic, Dice):
            for key in (each.name for each in fields(Dice)):
                if getattr(ours, key) != getattr(classic, key):
                    found[field.name, key] = getattr(ours, key)
        elif ours != classic:
            found[field.name, ""] = ours
    return found


def find_rules(rules: Rules | str, garrison: int | None = None) -> Rules:
    """Return the rules with a given name, or the given rules, with their garrison set.

    rules: `Rules`, or a name such as `"capital"` in any spelling.
    garrison: the number of armies that must stay behind; `None` for the rules' own garrison.

    >>> find_rules("capital").defence
    Dice((6, 6, 6))
    >>> find_rules("classic", garrison=0)
    Rules(garrison=0)
    """
    rules = rules if isinstance(rules, Rules) else find_rule_set(rules).rules
    return rules if garrison is None else replace(rules, garrison=garrison)


def make_unfit_rules_error(rules: Rules, purpose: str) -> IllegalError:
    """Return the error to raise if rules can be used for single battles only.

    purpose: a phrase such as `"for a turn"`.

    >>> make_unfit_rules_error(find_rules("capital+missile"), "to plan")
    IllegalError("the rules 'missile' cannot be used to plan; use them with iacta battle")
    """
    names = (known.name for known in RULE_SETS if known.rules.mode == rules.mode)
    name = next(names, None)
    what = f"rules with {rules.mode.described}" if name is None else f"the rules {quote(name)}"
    return IllegalError(f"{what} cannot be used {purpose}; use them with iacta battle")


def rules_name(rules: Rules, preferred: str = "") -> str:
    """Return the name of rules, ignoring the garrison; the repr of rules without a name.

    preferred: a name, such as that of a board, to return if it is another name of the rules.

    >>> rules_name(Rules(defence=Dice((6, 6, 6)), garrison=3))
    'capital'
    >>> rules_name(Rules(attack=Dice((20,))))
    'Rules(attack=Dice((20,)))'
    >>> rules_name(find_rules("war")), rules_name(find_rules("war"), "teg")
    ('war', 'teg')
    """
    if not isinstance(rules, Rules):
        raise MalformedError(f"rules must be Rules, got {quote(rules)}")
    for known in RULE_SETS:
        if preferred in known.aliases and known.rules == rules:
            return preferred
    return _list_names().get(replace(rules, garrison=CLASSIC.garrison), repr(rules))


@cache
def _list_names() -> dict[Rules, str]:
    names: dict[Rules, str] = {}
    counts = range(2, len(MODIFIERS) + 1)
    stacks = (
        _join([_find_single(each.name) for each in modifiers])
        for count in counts
        for modifiers in combinations(MODIFIERS, count)
    )
    for known in (*RULE_SETS, *stacks):
        names.setdefault(known.rules, known.name)
    return names


def format_rules_argument(rules: Rules) -> str:
    """Format rules as the last argument of a repr; empty for the classic rules.

    >>> format_rules_argument(find_rules("capital")), format_rules_argument(CLASSIC)
    (", 'capital'", '')
    """
    if rules == CLASSIC:
        return ""
    known = _list_names().get(rules)
    return f", {rules!r}" if known is None else f", {known!r}"


def _normalise_name(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in " -_!")


_BY_KEY = {
    _normalise_name(name): known for known in RULE_SETS for name in (known.name, *known.aliases)
}
