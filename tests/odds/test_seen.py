"""A defender who sees the attack: chances equal those of a slow twin, throw by throw."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TypeAlias

import pytest

from iacta import (
    CLASSIC,
    Battle,
    Dice,
    DiceDecision,
    IllegalError,
    Rules,
    ask,
    charts,
    find_rules,
    how_many_dice,
    when_to_stop,
    win_probability,
    win_probability_if_seen,
)
from iacta.forms.sections import Grid
from iacta.methods import choose_kernel
from iacta.rules.modes import DefenderSeesFirst, OneDieFirst
from tests import brute

State: TypeAlias = tuple[int, int]


def find_win_if_seen(battle: State, rules: Rules, aim: str) -> Fraction:
    """Return the chance to win against a defender who sees each throw, throw by throw."""

    @cache
    def play(a: int, d: int) -> tuple[Fraction, Fraction]:
        """Return the chance to win and the expected number of defenders lost."""
        if not a or not d:
            return Fraction(not d), Fraction(0)
        won = lost = Fraction(0)
        dice = min(a, rules.attack.kept), min(d, rules.defence.kept)
        for throw, replies in brute.all_seen_losses(*dice, rules):
            after = []
            for losses in replies:
                ends = [(p, y, play(a - x, d - y)) for (x, y), p in losses.items()]
                after.append(
                    (sum(p * w for p, _, (w, _) in ends), sum(p * (y + k) for p, y, (_, k) in ends))
                )
            best = min(reversed(after), key=lambda end: end[aim == "losses"])
            won, lost = won + throw * best[0], lost + throw * best[1]
        return won, lost

    return play(*battle)[0]


@pytest.mark.parametrize("aim", ["conquest", "losses"])
@pytest.mark.parametrize("name", ["classic", "two faces", "ties to the attacker", "bunker"])
def test_replies_to_seen_throws_agree_with_the_slow_twin(name: str, aim: str) -> None:
    rules = {
        "classic": CLASSIC,
        "two faces": Rules(attack=Dice((4, 3, 3)), defence=Dice((4, 4, 2))),
        "ties to the attacker": Rules(ties="attacker", attack=Dice((5, 5))),
        "bunker": find_rules("bunker"),
    }[name]
    kernel = choose_kernel(replace(rules, mode=DefenderSeesFirst()))
    for battle in ((1, 1), (2, 2), (3, 4), (4, 2)):
        exact = find_win_if_seen(battle, rules, aim)
        chance = win_probability_if_seen(*battle, rules, aim=aim, garrison=0)  # type: ignore[arg-type]
        bound = kernel.error(*battle).relative
        assert abs(Fraction(chance) - exact) <= Fraction(bound) * exact


def test_seeing_the_attack_helps_and_saving_armies_helps_less() -> None:
    for battle in ((5, 5), (12, 10), (9, 14)):
        blind = win_probability(*battle)
        assert win_probability_if_seen(*battle) < blind
        sparing = win_probability_if_seen(*battle, aim="losses")
        assert win_probability_if_seen(*battle) < sparing < blind
    assert win_probability_if_seen(1, 3) == 0


SEEN = find_rules("defender sees first")
DECIDED = {
    "classic": SEEN,
    "two faces": replace(SEEN, attack=Dice((4, 3)), defence=Dice((4, 2)), ties="attacker"),
    "three defence dice": replace(SEEN, attack=Dice((3, 3, 3)), defence=Dice((3, 3, 3))),
    "attack leader": replace(find_rules("attack leader"), mode=SEEN.mode),
    "no garrison": replace(SEEN, garrison=0),
    "one die first": find_rules("one die first"),
    "one die first, two faces": replace(
        find_rules("one die first"), defence=Dice((4, 3), bonus=(1,)), ties="attacker"
    ),
}
REWARDS = ((1, 0, 0), (0, 0, 1), (3, 1, 0), (Fraction(5, 2), Fraction(1, 3), 1))
Values: TypeAlias = list[Fraction]
Seen: TypeAlias = tuple[tuple[int, ...], int | None]  # the attack dice, and the first defence die


@cache
def list_replies(
    attack_dice: int, most: int, rules: Rules
) -> list[tuple[Seen, Fraction, list[brute.Chances]]]:
    """Return all dice that the defender can see, with the losses after each reply."""
    counts = Counter(map(tuple, brute.throws(rules.attack, attack_dice)))
    found: list[tuple[Seen, Fraction, list[brute.Chances]]] = []
    for throw, n in counts.items():
        chance = Fraction(n, counts.total())
        if most == 1 or not isinstance(rules.mode, OneDieFirst):
            replies = brute.seen_losses(throw, most, rules, attack_dice)
            found.append(((throw, None), chance, replies))
            continue
        first_faces, second_faces = rules.defence.faces
        for first in range(1, first_faces + 1):
            both = [(first, second) for second in range(1, second_faces + 1)]
            thrown: list[list[tuple[int, ...]]] = [[(first,)], [*both]]
            replies = [list_losses(throw, rows, rules) for rows in thrown]
            found.append(((throw, first), chance / first_faces, replies))
    return found


def list_losses(
    throw: tuple[int, ...], rows: Sequence[tuple[int, ...]], rules: Rules
) -> brute.Chances:
    """Return the distribution of losses against equally likely defence dice."""
    chances: brute.Chances = {}
    for row in rows:
        kept = brute.keep_dice(row, rules.defence, len(row))
        pairs = [*zip(throw, kept, strict=False)]
        won = sum(y > z or (y == z and rules.ties == "attacker") for y, z in pairs)
        losses = len(pairs) - won, won
        chances[losses] = chances.get(losses, Fraction(0)) + Fraction(1, len(rows))
    return chances


def list_values(
    able: int, d: int, rules: Rules, reward: tuple[Fraction | int, ...], may_stop: bool
) -> dict[int, list[tuple[Seen, Fraction, Values]]]:
    """Return the attack rolls of each number of attack dice, with the values of all replies.

    A roll has its dice, its chance and its values. Every face of every die is enumerated.
    """
    prize, army_value, kill_value = reward

    @cache
    def find_gain(a: int, d: int) -> Fraction:
        if not a or not d:
            return Fraction(prize if not d else 0)
        means = [
            sum((chance * min(values) for _, chance, values in rolls), Fraction(0))
            for rolls in list_rolls(a, d).values()
        ]
        return max(*means, *([Fraction(0)] if may_stop else means))

    def list_rolls(a: int, d: int) -> dict[int, list[tuple[Seen, Fraction, Values]]]:
        most = min(d, rules.defence.kept)
        found: dict[int, list[tuple[Seen, Fraction, Values]]] = {}
        for dice in range(1, min(a, rules.attack.kept) + 1):
            for seen, chance, replies in list_replies(dice, most, rules):
                values = [
                    sum(
                        p * (kill_value * y - army_value * x + find_gain(a - x, d - y))
                        for (x, y), p in losses.items()
                    )
                    for losses in replies
                ]
                found.setdefault(dice, []).append((seen, chance, list(map(Fraction, values))))
        return found

    return list_rolls(able, d)


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("name", DECIDED)
def test_decisions_agree_with_an_enumeration_of_all_faces(
    name: str, reward: tuple[Fraction | int, ...]
) -> None:
    rules = DECIDED[name]
    prize, army_value, kill_value = reward

    def decide(attackers: int, d: int, may_stop: bool, *, exact: bool) -> DiceDecision:
        return how_many_dice(
            attackers,
            d,
            rules,
            may_stop=may_stop,
            prize=prize,
            army_value=army_value,
            kill_value=kill_value,
            exact=exact,
        )

    for able, d in ((1, 2), (2, 1), (3, 2), (4, 3)):
        attackers, kept = able + rules.garrison, (able + rules.garrison) * Fraction(reward[1])
        for may_stop in (False, True):
            twin = list_values(able, d, rules, reward, may_stop)
            means = {
                dice: sum(chance * min(values) for _, chance, values in rolls)
                for dice, rolls in twin.items()
            }
            best = max(means.values())
            exact, near = (decide(attackers, d, may_stop, exact=each) for each in (True, False))
            assert exact.value == kept + (max(best, Fraction(0)) if may_stop else best)
            assert abs(Fraction(near.value) - Fraction(exact.value)) <= near.error
            stops = may_stop and best <= 0
            fewest = max(dice for dice, mean in means.items() if mean == best)
            assert exact.attack_dice == (0 if stops else fewest) == near.attack_dice
            replies = {
                (each.attack_dice, each.attack, each.first_die): each for each in exact.replies
            }
            assert [each.defence_dice for each in near.replies] == [
                each.defence_dice for each in exact.replies
            ]
            for dice, rolls in twin.items():
                for (throw, first), _, after in rolls:
                    reply = replies[dice, throw[: min(d, rules.defence.kept)], first]
                    assert [value - kept for value in reply.values] == after
                    least = max(j for j, value in enumerate(after, 1) if value == min(after))
                    assert reply.defence_dice == least


def test_the_best_replies_give_the_chances_of_the_battle() -> None:
    for rules in DECIDED.values():
        for battle in ((2, 1), (7, 6), (12, 10)):
            chance = Battle(*battle, rules).win_probability(exact=True)
            assert how_many_dice(*battle, rules, chooser="nobody", exact=True).value == chance
            seen = how_many_dice(*battle, rules, chooser="nobody")
            assert abs(Fraction(seen.value) - chance) <= seen.error < 1e-11
            assert seen.win_probability == pytest.approx(float(chance), abs=1e-12)


def test_a_defender_who_saves_armies_loses_the_fewest() -> None:
    for attackers, defenders in ((5, 5), (10, 8)):
        saved = how_many_dice(attackers, defenders, SEEN, prize=0, kill_value=1).value
        left = Battle(attackers, defenders, SEEN).outcomes().map(lambda end: end.defenders).mean()
        assert float(saved) <= defenders - float(left)


def test_rolling_on_is_worth_less_if_the_defender_sees_the_roll() -> None:
    for prize in (2, 6, 15):
        seen = when_to_stop(12, 10, SEEN, prize=prize, exact=True)
        blind = when_to_stop(12, 10, prize=prize, exact=True)
        assert Fraction(seen.value) <= Fraction(blind.value)
        assert all(
            sees.attackers is None or (blinds.attackers or 0) <= sees.attackers
            for sees, blinds in zip(seen.boundary, blind.boundary, strict=True)
        )


def test_the_largest_stacks_roll_where_the_limit_says() -> None:
    for prize in (1, 4, 9):
        seen = when_to_stop(300, 8, SEEN, prize=prize)
        near = [point.attackers is not None for point in seen.boundary]
        assert near == seen.rolls[1:9, -1].tolist()


def test_the_answer_lists_the_reply_to_every_roll() -> None:
    answer = ask("decide", attackers=10, defenders=8, dice=True, rules="defender sees first")
    assert "the defender chooses their dice after seeing yours" in answer.sentence
    replies = {
        tuple(row["attack"]): row["defence_dice"] for row in answer.data.to_json()["replies"]
    }
    assert (replies[6, 3], replies[4, 4], replies[6, 6]) == (2, 1, 1)
    heading, *rows = answer.rows()
    assert heading == ("attack_dice", "attack", "defence_dice", "value_1_die", "value_2_dice")
    assert len(rows) == 21 + 21 + 6
    (grid,) = (
        part for section in answer.sections() for part in section.parts if isinstance(part, Grid)
    )
    assert [letter.text for letter in grid.rows[0][1]] == ["2", "2", "2", "1", "1", "1"]
    chart = charts.dice_map(how_many_dice(10, 8, SEEN))
    assert len(chart.tables["replies"]) == 21
    assert "replies" not in ask("decide", attackers=10, defenders=8, dice=True).data.to_json()


def test_seeing_their_own_first_die_helps_the_defender() -> None:
    for battle in ((3, 2), (10, 8), (20, 20)):
        chances = [win_probability(*battle, name) for name in ("one die first", SEEN, "classic")]
        assert chances == sorted(chances)
        assert chances[0] == win_probability_if_seen(*battle, "one die first")
    with pytest.raises(IllegalError, match="at most two dice if the defender throws one die first"):
        how_many_dice(5, 5, replace(find_rules("risiko"), mode=OneDieFirst()))


def test_the_answer_lists_the_second_die_after_every_first_die() -> None:
    answer = ask("decide", attackers=10, defenders=8, dice=True, rules="one die first")
    heading, *rows = answer.rows()
    assert heading[:4] == ("attack_dice", "attack", "first_die", "defence_dice")
    assert len(rows) == 6 * (21 + 21 + 6)
    (grid,) = (
        part for section in answer.sections() for part in section.parts if isinstance(part, Grid)
    )
    assert [(label, [letter.text for letter in letters]) for label, letters in grid.rows[2:4]] == [
        ("6 4", ["1", "1", "1", "2", "2", "1"]),
        ("6 3", ["1", "1", "2", "2", "2", "2"]),
    ]
    assert len(answer.plot().tables["replies"]) == 6 * 21
