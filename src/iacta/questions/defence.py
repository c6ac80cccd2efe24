"""Defence: the fewest defenders that hold with a wanted chance."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.checks import broadcast, read_chances, shown, whole_numbers
from iacta.errors import IllegalError, TooLargeError
from iacta.methods import (
    balanced_blitz,
    check_rules,
    exact_table_method,
    float_table_method,
    load_method,
    refusal,
)
from iacta.questions.bracket import Bracket
from iacta.rules.modes import TrueRandom
from iacta.rules.roll import loss_counts, seen_loss_counts
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

__all__ = ["defenders_needed"]

Pair: TypeAlias = tuple[int, Fraction]  # attackers and the wanted chance

LARGEST_IN_TABLES = 2_000


def defenders_needed(
    attackers: npt.ArrayLike,
    chance: Any,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
) -> Any:
    """Return the fewest defenders that hold their territory with at least a wanted chance.

    attackers: armies on the attacking territory, garrison included; a whole number or an array
        of them. They fight to the end.
    chance: the wanted chance, between 0 and 1, as a float, fraction, decimal or text such as
        `"95%"`; or an array of them. The two shapes are broadcast. A float is read as the
        decimal that shows it: 0.95 is 19/20.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind; `None` leaves what the rules say, usually 1.

    An `int`, or an array of the broadcast shape. The comparison is exact: floats decide it only
    where their proven error bound lets them, and fractions where it does not. Against more than
    2000 attackers, more defenders are taken to hold with a higher chance.

    Chances of 0 or 1 and beyond are refused, and those that no number of defenders reaches. Under
    balanced blitz a battle can be certain, so a chance of 1 is taken there.

    >>> defenders_needed(12, 0.9)
    21
    >>> defenders_needed(12, "100%", "balanced blitz")
    19
    >>> defenders_needed([5, 10, 20], [["50%"], ["95%"]]).tolist()
    [[4, 10, 22], [11, 20, 36]]

    Source: the same chances as for `armies_needed`, asked from the other side of the table.
    """
    found = find_rules(rules, garrison)
    check_rules(found)
    armies = whole_numbers(attackers, "attackers", least=1)
    balanced = found.dice_mode == "balanced blitz"
    first, second = broadcast(armies, read_chances(chance, certain=balanced))
    pairs = list(zip(first.reshape(-1).tolist(), second.reshape(-1).tolist(), strict=True))
    fewest = (_fewest_if_balanced if balanced else _fewest_for_battles)(dict.fromkeys(pairs), found)
    needed = np.array([fewest[pair] for pair in pairs], dtype=np.int64).reshape(first.shape)
    return needed if needed.ndim else int(needed)


def _fewest_if_balanced(pairs: Iterable[Pair], rules: Rules) -> dict[Pair, int]:
    """Return the same under balanced blitz, which reshapes both sides' chances alike."""
    balanced_blitz.refuse(1, 1, rules)
    true_rules = replace(rules, mode=TrueRandom())
    true_pairs = {pair: (pair[0], balanced_blitz.true_chance(pair[1])) for pair in pairs}
    fewest = _fewest_for_battles(dict.fromkeys(true_pairs.values()), true_rules)
    return {pair: fewest[true_pair] for pair, true_pair in true_pairs.items()}


def _fewest_for_battles(pairs: Iterable[Pair], rules: Rules) -> dict[Pair, int]:
    """Return the fewest defenders for each pair of attackers and chance."""
    needed: dict[Pair, int] = {}
    for attackers, chance in pairs:
        if attackers <= rules.garrison:
            needed[attackers, chance] = 1
        elif attackers > LARGEST_IN_TABLES and _leaps(attackers, rules):
            from iacta.questions.large_requirement import fewest_defenders  # slow to import

            defenders = fewest_defenders(attackers, chance, rules)
            needed |= {} if defenders is None else {(attackers, chance): defenders}
    missing = [pair for pair in pairs if pair not in needed]
    most = 16 + 2 * max((attackers for attackers, _ in missing), default=0)
    while missing:
        needed |= _within(most, missing, rules)
        missing = [pair for pair in missing if pair not in needed]
        for attackers, chance in missing:
            _refuse_unreachable(attackers - rules.garrison, chance, rules)
        most *= 2
    return needed


def _leaps(attackers: int, rules: Rules) -> bool:
    return refusal(load_method("leap"), attackers, attackers, rules) is None


def _within(most: int, pairs: Sequence[Pair], rules: Rules) -> dict[Pair, int]:
    """Return the fewest defenders for those pairs for which `most` are enough."""
    armies = sorted({attackers for attackers, _ in pairs})
    _refuse_too_many(armies[-1], most, rules)
    solver = float_table_method(rules)
    rows = solver.value_rows(np.ones(armies[-1] + 1), np.zeros(most + 1), rules)
    lost = np.vstack([np.ones(len(armies)), *(row[armies] for row in rows)])
    brackets = {
        attackers: Bracket(
            lost[:, place],
            solver.relative_error(attackers, most, rules),
            _exact_chances(attackers, rules),
        )
        for place, attackers in enumerate(armies)
    }
    found = {pair: brackets[pair[0]].first_at_most(1 - pair[1]) for pair in pairs}
    return {pair: defenders for pair, defenders in found.items() if defenders is not None}


def _exact_chances(attackers: int, rules: Rules) -> Callable[[int], list[Fraction]]:
    """Return what tells the exact chances to lose the territory, for 0 .. most defenders."""

    def chances(most: int) -> list[Fraction]:
        """Return the chances to lose the territory, as fractions.

        most: the most defenders.
        """
        solver = exact_table_method(rules)
        rows = solver.value_rows([1] * (attackers + 1), [0] * (most + 1), rules)
        return [Fraction(1), *(row.worth(attackers) for row in rows)]

    return chances


def _refuse_too_many(attackers: int, defenders: int, rules: Rules) -> None:
    """Refuse attackers that are too many, in the words of the question."""
    try:
        float_table_method(rules).refuse(attackers, defenders, rules)
    except TooLargeError:
        raise TooLargeError(
            "attackers must be less than some ten thousand for these rules and this chance, "
            f"got {shown(attackers)}"
        ) from None


def _refuse_unreachable(able: int, chance: Fraction, rules: Rules) -> None:
    """Refuse a chance that even endless defenders do not have, once a fair number has been tried.

    Endless defenders lose only where the dice let no attacker be lost.
    """
    limit = _endless_chance(able, rules)
    if chance >= limit:
        raise IllegalError(
            f"chance must be below {shown(str(limit))}, which endless defenders have, "
            f"got {shown(str(chance))}"
        )


def _endless_chance(able: int, rules: Rules) -> Fraction:
    """Return the chance that endless defenders hold: N(a) = Σ_{l≥1} p_l · N(a − l) / (1 − p_0).

    Here p_l is the chance that a roll costs the attackers l armies.
    """
    if rules.defender_sees_first:
        return _endless_chance_if_seen(able, rules)
    dice = range(1, min(able, rules.attack.kept) + 1)
    laws = {i: loss_counts(i, rules.defence.kept, rules).counts[::-1] for i in dice}
    if all(any(law[1:]) for law in laws.values()):
        return Fraction(1)
    chances = [Fraction(1)]
    for a in range(1, able + 1):
        law = laws[min(a, rules.attack.kept)]
        hits = sum(n * chances[a - lost] for lost, n in enumerate(law) if lost)
        chances.append(hits / sum(law[1:]) if hits else Fraction(0))
    return chances[-1]


def _endless_chance_if_seen(able: int, rules: Rules) -> Fraction:
    """Return the chance that endless defenders hold who see each throw.

    It is 0 if the attackers have a number of dice to which no reply ever costs them one; else each
    roll may cost them some, and all are lost at last.
    """
    for attack_dice in range(1, min(able, rules.attack.kept) + 1):
        laws = seen_loss_counts(attack_dice, rules.defence.kept, rules)
        if not any(any(law.counts[:-1]) for row in laws for law in row):
            return Fraction(0)
    return Fraction(1)
