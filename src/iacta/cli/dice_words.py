"""Rules in words, for people."""

from collections.abc import Iterator

from iacta.cli.show import armies
from iacta.rules.dice import Dice
from iacta.rules.rules import Rules

__all__ = ["dice_words", "rules_words"]

RANKS = ("highest", "second", "third", "fourth", "fifth")


def rules_words(rules: Rules) -> Iterator[str]:
    """Yield sentences that tell everything that the rules say.

    rules: the rules of a battle.

    >>> for sentence in rules_words(Rules()):
    ...     print(sentence)
    The attacker throws at most 3 dice with 6 faces each.
    The defender throws at most 2 dice with 6 faces each.
    Ties go to the defender; 1 army must stay behind.
    After a conquest at least as many armies move in as dice were thrown last.
    """
    for side, usual, full in (
        ("attacker", rules.attack, rules.full_attack),
        ("defender", rules.defence, rules.full_defence),
    ):
        yield f"The {side} throws at most {dice_words(len(usual.faces))} {_dice(usual)}."
        if full is not None:
            yield f"When both throw all their dice, the {side}'s are others, {_dice(full)}."
    garrison = rules.garrison
    yield f"Ties go to the {rules.ties}; {garrison} {armies(garrison)} must stay behind."
    yield from _special(rules)


def dice_words(count: int) -> str:
    """Return so many dice in words.

    count: how many.

    >>> dice_words(1), dice_words(3)
    ('1 die', '3 dice')
    """
    return f"{count} {'die' if count == 1 else 'dice'}"


def _special(rules: Rules) -> Iterator[str]:
    if rules.least_advance:
        yield "After a conquest at least as many armies move in as dice were thrown last."
    else:
        yield "After a conquest any number of armies may move in."
    if rules.dice_mode != "true random":
        yield f"Whole battles are decided by the dice mode {rules.dice_mode}."
    if rules.defender_sees_first:
        yield "The defender chooses how many dice to throw after the attack roll."
        yield "He takes the number that makes the conquest of his territory as unlikely as can be."
    gain = rules.all_ones_gain
    if gain:
        yield f"When all dice show one, both sides gain {gain} {armies(gain)} and nobody loses any."


def _dice(dice: Dice) -> str:
    return ", ".join(_parts(dice))


def _parts(dice: Dice) -> Iterator[str]:
    yield _faces(dice.faces)
    if dice.kept < len(dice.faces):
        yield f"of which the best {'one counts' if dice.kept == 1 else f'{dice.kept} count'}"
    if dice.reroll:
        yield f"a throw of {' or '.join(map(str, dice.reroll))} is thrown once more"
    for rank, bonus in enumerate(dice.bonus):
        if bonus:
            name = RANKS[rank] if rank < len(RANKS) else f"{rank + 1}th"
            yield f"{bonus:+} on the {name}"
    if dice.clamp is not None:
        lowest, highest = dice.clamp
        yield f"then at least {lowest} and at most {highest}"


def _faces(faces: tuple[int, ...]) -> str:
    if len(faces) > 1 and len(set(faces)) == 1:
        return f"with {faces[0]} faces each"
    *most, last = map(str, faces)
    first = f"{', '.join(most)} and " if most else ""
    return f"with {first}{last} faces"
