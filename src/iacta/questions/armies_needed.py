"""Requirement: the fewest armies with which an attack has a wanted chance."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from iacta.battle.territory import Territories, read_territories, stages
from iacta.checks import (
    Chance,
    broadcast,
    read_chance,
    read_chances,
    shown,
    whole_number,
    whole_numbers,
)
from iacta.distribution import Probability
from iacta.errors import IllegalError, TooLargeError
from iacta.methods import (
    balanced_blitz,
    check_rules,
    exact_table_method,
    float_table_method,
    load_method,
    refusal,
)
from iacta.methods.kernel import Stage
from iacta.questions.balanced_requirement import (
    chance_to_keep,
    chances_to_take,
    fewest_keeping,
    first_reaching,
    has_balanced_blitz,
    is_certain_possible,
)
from iacta.questions.bracket import Bracket
from iacta.rules.modes import TrueRandom
from iacta.rules.roll import loss_counts, seen_loss_counts
from iacta.rules.rules import Rules
from iacta.rules.stop import NEVER
from iacta.rules.variants import find_rules

__all__ = ["armies_needed", "armies_needed_for_campaign", "win_probability_keeping"]

Floats: TypeAlias = npt.NDArray[np.float64]
Pair: TypeAlias = tuple[int, Fraction]  # defenders and the wanted chance

LARGEST_IN_TABLES = 2_000


def armies_needed(
    defenders: npt.ArrayLike,
    chance: Any,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    keep: int = 0,
) -> Any:
    """Return the fewest attackers, garrison included, that win with at least a wanted chance.

    defenders: armies on the defended territory; a whole number or an array of them.
    chance: the wanted chance, between 0 and 1, as a float, fraction, decimal or text such as
        `"95%"`; or an array of them. The two shapes are broadcast. A float is read as the
        decimal that shows it: 0.95 is 19/20.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind; `None` leaves what the rules say, usually 1.
    keep: armies that must be left at the end to move into the territory.

    An `int`, or an array of the broadcast shape. The comparison is exact: floats decide it only
    where their proven error bound lets them, and fractions where it does not. Where the defender
    sees the attack first and `keep` is above 0, it is exact as long as the replies that floats tell
    to be the best are (`iacta.methods.sees_first`).

    Chances of 0 or 1 and beyond are refused, and those that no number of attackers reaches. Under
    balanced blitz a battle can be certain, so a chance of 1 is taken there; with `keep`, floats
    alone decide there.

    >>> armies_needed(10, 0.95)
    19
    >>> armies_needed([1, 2, 3], [["5%"], ["95%"]], "capital").tolist()
    [[2, 2, 3], [5, 8, 14]]
    >>> armies_needed(10, 0.95, keep=5)
    23
    >>> armies_needed([10, 15, 20], "100%", "balanced blitz").tolist()
    [16, 21, 26]

    Source: Van Wijgerden, "Let slip the dice of war", whose T is `keep`.
    """
    found = find_rules(rules, garrison)
    _check_rules(found)
    kept = whole_number(keep, "keep", least=0)
    defended = whole_numbers(defenders, "defenders", least=1)
    certain = found.dice_mode == "balanced blitz"
    first, second = broadcast(defended, read_chances(chance, certain=certain))
    pairs = list(zip(first.reshape(-1).tolist(), second.reshape(-1).tolist(), strict=True))
    found_armies = _fewest_for_battles(pairs, found, kept)
    needed = np.array(found_armies, dtype=np.int64).reshape(first.shape)
    return needed if needed.ndim else int(needed)


def armies_needed_for_campaign(
    territories: Territories,
    chance: Chance,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    keep: int = 0,
) -> int:
    """Return the fewest attackers, garrison included, that take all territories of a campaign.

    territories: the way, as for `Campaign`.
    chance: the wanted chance, between 0 and 1, as for `armies_needed`.
    rules: `Rules`, or the name of a rule set.
    garrison: armies that must stay behind on each territory; `None` leaves what the rules say.
    keep: armies that must be left at the end on the last territory.

    The comparison is exact, and the same is refused as by `armies_needed`. With balanced blitz on
    the way, floats decide; a chance of 1 is taken where every territory is fought for by it. A
    defender who sees the attack first plays for his own territory, as `Campaign` says; with him on
    the way, the comparison is exact as long as the replies that floats tell to be the best are.

    >>> armies_needed_for_campaign([22, 8, 2, 2, 2, 7, 1, 1, 3, 1, 2, 3, 5, 1], "95%")
    82
    """
    way = _way(territories, find_rules(rules, garrison))
    wanted = read_chance(chance, certain=is_certain_possible(way))
    kept = whole_number(keep, "keep", least=0)
    if len(way) == 1:
        return _fewest_for_battles([(way[0].defenders, wanted)], way[0].rules, kept)[0]
    if has_balanced_blitz(way):
        return _fewest_by_floats(way, wanted, kept)
    _refuse_too_large(way, kept)
    exact = partial(_exact_chances, way, kept)
    most = _first_guess(way, kept)
    while True:
        bracket = Bracket(_float_chances(way, kept, most), _relative_error(way, most), exact)
        needed = bracket.first_reaching(wanted)
        if needed is not None:
            return needed
        _refuse_unreachable(way, wanted)
        most *= 2


def win_probability_keeping(
    attackers: int,
    territories: Territories,
    keep: int,
    rules: Rules | str = "classic",
    *,
    garrison: int | None = None,
    exact: bool = False,
) -> Probability:
    """Return the chance to take a whole way and have at least `keep` armies at its end.

    attackers: armies on the territory from which it starts, garrison included.
    territories, rules, garrison: as for `Campaign`.
    keep: armies that must be left at the end on the last territory.
    exact: whether to answer with a fraction.

    >>> win_probability_keeping(3, [1], keep=2, exact=True)
    Fraction(125, 216)
    """
    count = whole_number(attackers, "attackers", least=1)
    kept = whole_number(keep, "keep", least=0)
    way = _way(territories, find_rules(rules, garrison))
    for stage in way:
        check_rules(stage.rules, exact=exact)
    if exact:
        return _exact_chances(way, kept, count)[-1]
    if has_balanced_blitz(way):
        if len(way) == 1:
            return chance_to_keep(count, way[0], kept)
        return float(chances_to_take(way, kept, count)[-1])
    if len(way) == 1 and _is_large(count, way[0].defenders, way[0].rules):
        from iacta.methods.leap import both_chances  # slow to import, and only needed here

        return both_chances(count, way[0].defenders, way[0].rules, kept)[0]
    return float(_float_chances(way, kept, count)[-1])


def _check_rules(rules: Rules) -> None:
    check_rules(rules)
    if rules.all_ones_gain:
        raise IllegalError(
            "all_ones_gain must be 0 to count the armies that a chance takes, "
            f"got {rules.all_ones_gain}"
        )


def _way(territories: Territories, rules: Rules) -> list[Stage]:
    """Return the battles of a way, each of which must be one that is fought to its end."""
    way = list(stages(read_territories(territories), rules))
    for stage in way:
        _check_rules(stage.rules)
        if stage.stop != NEVER:
            raise IllegalError(
                f"territories must have no stop where armies needed are asked, got {stage.stop!r}"
            )
    return way


def _exact_chances(way: Sequence[Stage], keep: int, most: int) -> list[Fraction]:
    """Return the exact chances to take a whole way, for 0 .. most attackers."""
    chances: Sequence[int | Fraction] = [int(n >= keep) for n in range(most + 1)]
    for defenders, rules, _ in reversed(way):
        chances = exact_table_method(rules).values(chances, [0] * (defenders + 1), defenders, rules)
    return [Fraction(chance) for chance in chances]


def _float_chances(way: Sequence[Stage], keep: int, most: int) -> Floats:
    """Return the chances to take a whole way, for 0 .. most attackers."""
    for defenders, rules, _ in way:
        float_table_method(rules).refuse(most, defenders, rules)
    chances = (np.arange(most + 1) >= keep).astype(float)
    for defenders, rules, _ in reversed(way):
        solver = float_table_method(rules)
        chances = solver.values(chances, np.zeros(defenders + 1), defenders, rules)
    return chances


def _fewest_by_floats(way: Sequence[Stage], wanted: Fraction, keep: int) -> int:
    """Return the fewest attackers for a way with balanced blitz on it."""
    most = _first_guess(way, keep)
    while True:
        try:
            chances = chances_to_take(way, keep, most)
        except TooLargeError:
            raise _too_large(way, keep) from None
        needed = first_reaching(wanted, chances)
        if needed is not None:
            return needed
        _refuse_unreachable(way, wanted)
        most *= 2


def _fewest_for_balanced_battles(pairs: Sequence[Pair], rules: Rules, keep: int) -> list[int]:
    """Return the same as `_fewest_for_battles`, under balanced blitz."""
    if keep:
        different = list(dict.fromkeys(pairs))
        winning = _fewest_for_balanced_battles(different, rules, 0)
        needed = {
            (defenders, chance): fewest_keeping(fewest, Stage(defenders, rules), chance, keep)
            for (defenders, chance), fewest in zip(different, winning, strict=True)
        }
        return [needed[pair] for pair in pairs]
    balanced_blitz.refuse(1, 1, rules)
    true_rules = replace(rules, mode=TrueRandom())
    true_pairs = [(defenders, balanced_blitz.true_chance(chance)) for defenders, chance in pairs]
    try:
        return _fewest_for_battles(true_pairs, true_rules, 0)
    except IllegalError:
        for defenders, chance in pairs:  # in the words of the question
            _refuse_unreachable([Stage(defenders, rules)], chance)
        raise


def _fewest_for_battles(pairs: Sequence[Pair], rules: Rules, keep: int) -> list[int]:
    """Return the fewest attackers for each pair of defenders and chance."""
    if rules.dice_mode == "balanced blitz":
        return _fewest_for_balanced_battles(pairs, rules, keep)
    different = dict.fromkeys(pairs)
    needed = _for_large_battles(different, rules, keep)
    missing = [pair for pair in different if pair not in needed]
    if not missing:
        return [needed[pair] for pair in pairs]
    largest = [Stage(max(defenders for defenders, _ in missing), rules)]
    if _is_large(keep, largest[0].defenders, rules):
        _refuse_undecided(missing, keep, rules)
    _refuse_too_large(largest, keep)
    most = _first_guess(largest, keep)
    while missing:
        needed |= _within(most, missing, rules, keep)
        missing = [pair for pair in missing if pair not in needed]
        for defenders, chance in missing:
            _refuse_unreachable([Stage(defenders, rules)], chance)
        most *= 2
    return [needed[pair] for pair in pairs]


def _for_large_battles(pairs: Iterable[Pair], rules: Rules, keep: int) -> dict[Pair, int]:
    """Return the fewest attackers for those pairs that are too large for a table."""
    needed = {}
    for defenders, chance in pairs:
        if _is_large(keep, defenders, rules):
            from iacta.questions.large_requirement import fewest_attackers  # slow to import

            attackers = fewest_attackers(defenders, chance, rules, keep)
            if attackers is not None:
                needed[defenders, chance] = attackers
    return needed


def _refuse_undecided(missing: Iterable[Pair], keep: int, rules: Rules) -> None:
    """Refuse a chance that no method can tell from those of large battles."""
    for defenders, chance in missing:
        if _is_large(keep, defenders, rules):
            raise TooLargeError(
                f"chance must be one that can be told from those of a battle against "
                f"{shown(defenders)}, between 1e-15 and 1 - 1e-15, got {shown(str(chance))}"
            )


def _is_large(attackers: int, defenders: int, rules: Rules) -> bool:
    """Tell whether a battle is better left to `leap`, which must take on its rules."""
    if max(attackers, defenders) <= LARGEST_IN_TABLES:
        return False
    return refusal(load_method("leap"), attackers, defenders, rules) is None


def _within(most: int, pairs: list[Pair], rules: Rules, keep: int) -> dict[Pair, int]:
    """Return the fewest attackers for those pairs for which `most` are enough."""
    chances_for: dict[int, list[Fraction]] = {}
    for defenders, chance in pairs:
        chances_for.setdefault(defenders, []).append(chance)
    solver = float_table_method(rules)
    solver.refuse(most, max(chances_for), rules)
    won = (np.arange(most + 1) >= keep).astype(float)
    rows = solver.value_rows(won, np.zeros(max(chances_for) + 1), rules)
    needed = {}
    for defenders, row in enumerate(rows, start=1):
        if defenders in chances_for:
            way = [Stage(defenders, rules)]
            bracket = Bracket(row, _relative_error(way, most), partial(_exact_chances, way, keep))
            for chance in chances_for[defenders]:
                attackers = bracket.first_reaching(chance)
                if attackers is not None:
                    needed[defenders, chance] = attackers
    return needed


def _relative_error(way: Sequence[Stage], most: int) -> float:
    return sum(
        float_table_method(rules).relative_error(most, defenders, rules)
        for defenders, rules, _ in way
    )


def _first_guess(way: Sequence[Stage], keep: int) -> int:
    return keep + 16 + sum(2 * stage.defenders + stage.rules.garrison for stage in way)


def _refuse_too_large(way: Sequence[Stage], keep: int) -> None:
    """Refuse defenders and armies to keep that are too many, in the words of the question."""
    try:
        for stage in way:
            solver = float_table_method(stage.rules)
            solver.refuse(_first_guess(way, keep), stage.defenders, stage.rules)
    except TooLargeError:
        raise _too_large(way, keep) from None


def _too_large(way: Sequence[Stage], keep: int) -> TooLargeError:
    many = " ".join(shown(stage.defenders) for stage in way[:9])
    most = "a few thousand" if has_balanced_blitz(way) else "some ten thousand"
    return TooLargeError(
        f"defenders and keep must be less than {most}, got {many} and {shown(keep)}"
    )


def _refuse_unreachable(way: Sequence[Stage], chance: Fraction) -> None:
    """Refuse a chance that even endless attackers do not have, once a fair number has been tried.

    Endless attackers lose only where the dice let no defender be lost.
    """
    limit = prod(map(_limit, way), start=Fraction(1))
    if chance >= limit and not (limit == 1 and is_certain_possible(way)):
        raise IllegalError(
            f"chance must be below {shown(str(limit))}, which endless attackers have, "
            f"got {shown(str(chance))}"
        )


def _limit(stage: Stage) -> Fraction:
    """Return the chance of endless attackers, reshaped if the battle is a balanced one."""
    endless = _endless_chance(stage)
    if is_certain_possible([stage]):
        return Fraction(float(balanced_blitz.reshaped_chances(float(endless))))
    return endless


def _endless_chance(stage: Stage) -> Fraction:
    """Return the chance of endless attackers: N(d) = Σ_{k≥1} p_k · N(d − k) / (1 − p_0)."""
    rules, most = stage.rules, min(stage.defenders, stage.rules.defence.kept)
    if rules.defender_sees_first:
        return _endless_chance_if_seen(most, rules)
    counts = {j: loss_counts(rules.attack.kept, j, rules).counts for j in range(1, most + 1)}
    if all(any(law[1:]) for law in counts.values()):
        return Fraction(1)
    chances = [Fraction(1)]
    for d in range(1, stage.defenders + 1):
        law = counts[min(d, most)]
        hits = sum(n * chances[d - k] for k, n in enumerate(law) if k)
        chances.append(hits / sum(law[1:]) if hits else Fraction(0))
    return chances[-1]


def _endless_chance_if_seen(most_dice: int, rules: Rules) -> Fraction:
    """Return the chance of endless attackers where the defender sees each throw.

    It is 0 if with some number of dice at hand he has a reply to each throw that surely costs him
    none, for then he gives it for ever; else each roll may cost him some, and all are lost at last.
    """
    for at_hand in range(1, most_dice + 1):
        laws = seen_loss_counts(rules.attack.kept, at_hand, rules)
        if all(any(not any(law.counts[1:]) for law in row) for row in laws):
            return Fraction(0)
    return Fraction(1)
