"""Armies held back, and stopping at a number of armies, compared with an independent chain.

The chain shares no code with the package. It enumerates its own dice, counts all armies on the
attacking territory, and knows only classic dice and the dice of a capital.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import iacta
from iacta import (
    Battle,
    Campaign,
    Front,
    IactaError,
    IllegalError,
    MalformedError,
    StopRule,
    Territory,
    armies_needed,
    armies_needed_for_campaign,
    ask,
    defend_fronts,
    defenders_needed,
    find_rules,
    simulate_battle,
    simulate_campaign,
    spread_defenders,
    spread_value,
)
from iacta.forms.question import QUESTIONS
from iacta.methods import choose_kernel
from iacta.odds.needed import win_probabilities_keeping
from tests.cases import for_each

ROOT = Path(__file__).resolve().parents[2]
DEFENCE_DICE = {"classic": 2, "capital": 3}


class Chain(NamedTuple):
    """The rules for the attackers: their dice, their garrison and when they stop."""

    rules: str = "classic"
    garrison: int = 1
    hold_back: int = 0
    stop_at: int = 0

    @property
    def stop(self) -> StopRule:
        return StopRule(hold_back=self.hold_back, stop_at=self.stop_at)


@cache
def chances_to_cost(attack_dice: int, defence_dice: int) -> dict[int, Fraction]:
    """Return the chances that 0, 1, 2 ... defenders die in a roll; the defenders win ties."""
    counts: Counter[int] = Counter()
    for dice in product(range(1, 7), repeat=attack_dice + defence_dice):
        ours, theirs = sorted(dice[:attack_dice])[::-1], sorted(dice[attack_dice:])[::-1]
        counts[sum(y > z for y, z in zip(ours, theirs, strict=False))] += 1
    return {lost: Fraction(count, counts.total()) for lost, count in counts.items()}


@cache
def ends(attackers: int, defenders: int, chain: Chain) -> dict[tuple[int, int], Fraction]:
    """Return the distribution of (attackers, defenders) left, garrison included."""
    able = attackers - chain.garrison - chain.hold_back
    if not defenders or able <= 0 or attackers <= chain.stop_at:
        return {(attackers, defenders): Fraction(1)}
    dice = min(able, 3), min(defenders, DEFENCE_DICE[chain.rules])
    found: dict[tuple[int, int], Fraction] = {}
    for lost, chance in chances_to_cost(*dice).items():
        left = attackers - (min(dice) - lost), defenders - lost
        for end, p in ends(*left, chain).items():
            found[end] = found.get(end, Fraction(0)) + chance * p
    return found


def win_chance(attackers: int, defenders: int, chain: Chain) -> Fraction:
    found = ends(attackers, defenders, chain)
    return sum((p for (_, d), p in found.items() if not d), Fraction(0))


def way_chance(attackers: int, way: tuple[int, ...], chain: Chain) -> Fraction:
    """Return the chance to take all territories if all armies but the garrison move on."""
    if not way:
        return Fraction(1)
    return sum(
        (
            p * way_chance(left - chain.garrison, way[1:], chain)
            for (left, d), p in ends(attackers, way[0], chain).items()
            if not d
        ),
        Fraction(0),
    )


BOTH = [(0, 0), (3, 0), (0, 3), (0, 1), (0, 6), (1, 2), (1, 5), (4, 3), (12, 0), (0, 12)]
CHAINS = [
    Chain(rules, garrison, *both)
    for rules in DEFENCE_DICE
    for garrison in (0, 1, 3)
    for both in BOTH
]


def test_ten_against_five_keeps_three_armies_in_two_ways() -> None:
    to_the_end, held_back, stopped = (
        Battle(10, 5, stop=stop) for stop in (None, StopRule(hold_back=3), StopRule(stop_at=3))
    )
    chances = [battle.win_probability() for battle in (to_the_end, held_back, stopped)]
    assert [f"{chance:.2%}" for chance in chances] == ["87.29%", "63.77%", "80.98%"]
    assert held_back.attackers_left().quantile(0) == 4  # 3 armies and the garrison
    assert stopped.attackers_left().quantile(0) == 2  # a roll may cost 2 of 4 armies
    assert stopped.outcomes(exact=True) == Battle(10, 5, stop=StopRule(max_losses=7)).outcomes(
        exact=True
    )


@for_each("chain", CHAINS)
def test_battles_end_as_in_the_chain(chain: Chain) -> None:
    for attackers, defenders in ((1, 1), (3, 2), (5, 1), (7, 4), (9, 3), (11, 6)):
        options: dict[str, Any] = {"garrison": chain.garrison, "stop": chain.stop}
        battle = Battle(attackers, defenders, chain.rules, **options)
        expected = ends(attackers, defenders, chain)
        assert dict(battle.outcomes(exact=True)) == expected
        assert battle.win_probability() == pytest.approx(
            float(win_chance(attackers, defenders, chain)), rel=1e-13, abs=0
        )
        stopped = sum(p for (a, d), p in expected.items() if d and a > chain.garrison)
        assert battle.stop_probability(exact=True) == stopped


@for_each("chain", CHAINS)
def test_campaigns_and_requirements_agree_with_the_chain(chain: Chain) -> None:
    options: dict[str, Any] = {"garrison": chain.garrison, "stop": chain.stop}
    way = (2, 1, 3)
    for attackers in (4, 9, 14):
        expected = way_chance(attackers, way, chain)
        campaign = Campaign(attackers, way, chain.rules, **options)
        assert campaign.win_probability(exact=True) == expected
        assert campaign.win_probability() == pytest.approx(float(expected), rel=1e-12, abs=0)
        kept = win_probabilities_keeping([attackers], way, 0, chain.rules, exact=True, **options)
        assert kept == [expected]
    if chain.stop_at < 12 > chain.hold_back:
        chances = (win_chance(n, 3, chain) for n in range(1, 40))
        first = next(n for n, p in enumerate(chances, start=1) if p >= Fraction(2, 3))
        assert armies_needed(3, "2/3", chain.rules, **options) == first
        ways = (way_chance(n, (2, 1), chain) for n in range(1, 40))
        first = next(n for n, p in enumerate(ways, start=1) if p >= Fraction(2, 3))
        assert armies_needed_for_campaign([2, 1], "2/3", chain.rules, **options) == first
        held = (1 - win_chance(8, d, chain) for d in range(1, 40))
        first = next(d for d, p in enumerate(held, start=1) if p >= Fraction(2, 3))
        assert defenders_needed(8, "2/3", chain.rules, **options) == first


@for_each("chain", CHAINS)
def test_fractions_decide_close_chances_with_the_same_stop_rule(chain: Chain) -> None:
    options: dict[str, Any] = {"garrison": chain.garrison, "stop": chain.stop}
    for attackers in (10, 15):
        chance = win_chance(attackers, 3, chain)
        if 0 < chance < 1:
            first = next(n for n in range(1, 20) if win_chance(n, 3, chain) >= chance)
            assert armies_needed(3, chance, chain.rules, **options) == first
            held = next(d for d in range(1, 9) if win_chance(attackers, d, chain) <= chance)
            assert defenders_needed(attackers, 1 - chance, chain.rules, **options) == held


@pytest.mark.parametrize("chain", CHAINS[1:8], ids=str)
def test_thrown_dice_and_spread_armies_follow_the_chain(chain: Chain) -> None:
    options: dict[str, Any] = {"garrison": chain.garrison, "stop": chain.stop}
    runs = 20_000
    found = simulate_battle(11, 6, chain.rules, runs=runs, **options).won.probability
    p = float(win_chance(11, 6, chain))
    assert abs(float(found) - p) <= 4.5 * (p * (1 - p) / runs) ** 0.5
    found = simulate_campaign(12, [3, 2], chain.rules, runs=runs, **options).won.probability
    p = float(way_chance(12, (3, 2), chain))
    assert abs(float(found) - p) <= 4.5 * (p * (1 - p) / runs) ** 0.5
    method = Battle(9, 4, chain.rules, **options).win_probability(method="simulation")
    assert method == pytest.approx(float(win_chance(9, 4, chain)), abs=0.01)
    # With two territories in a row, the stack starts from the end that lets it cross both.
    better = max(way_chance(10, spread, chain) for spread in ((2, 4), (4, 2)))
    assert spread_value(10, [2, 4], chain.rules, exact=True, **options) == better
    rng = np.random.default_rng(5)
    battles = [Campaign(9, [4, 1], chain.rules, **options).play(rng) for _ in range(300)]
    lefts = {(each[0].attackers_left, each[0].defenders_left) for each in battles}
    assert lefts <= ends(9, 4, chain).keys()


def test_a_territory_may_have_its_own_stop_rule() -> None:
    held, stopped = Chain(hold_back=2), Chain(stop_at=5)
    way: list[int | Territory] = [Territory(2, stop=stopped.stop), 3]
    expected = sum(
        p * win_chance(left - 1, 3, held) for (left, d), p in ends(10, 2, stopped).items() if not d
    )
    assert Campaign(10, way, stop=held.stop).win_probability(exact=True) == expected
    written = Campaign(12, [2, "3~4"], stop=stopped.stop)
    assert written.territories[1] == Territory(3, stop=StopRule(hold_back=4))
    expected = sum(
        p * win_chance(left - 1, 3, Chain(hold_back=4))
        for (left, d), p in ends(12, 2, stopped).items()
        if not d
    )
    assert written.win_probability(exact=True) == expected


# Under these rules, a battle cannot be stopped before its end.

WHOLE = ("balanced blitz", "wall+balanced blitz", "defender sees first", "five ones")


def solvers(rules: str, stop: StopRule) -> dict[str, Callable[[], object]]:
    """Return a call of each function that takes a stop rule, by name."""
    options: dict[str, Any] = {"rules": rules, "stop": stop}
    runs = {"runs": 100, **options}
    return {
        "Battle": Battle(9, 4, **options).win_probability,
        "Campaign": Campaign(9, [2, 2], **options).win_probability,
        "Territory": Campaign(9, [2, Territory(1, rules, stop=stop)]).win_probability,
        "armies_needed": lambda: armies_needed(4, 0.6, **options),
        "armies_needed_for_campaign": lambda: armies_needed_for_campaign([2, 1], 0.6, **options),
        "defend_fronts": lambda: defend_fronts(4, [Front(8), Front(6, 2)], **options),
        "defenders_needed": lambda: defenders_needed(7, 0.6, **options),
        "simulate_battle": lambda: simulate_battle(9, 4, **runs),
        "simulate_campaign": lambda: simulate_campaign(9, [2, 2], **runs),
        "spread_defenders": lambda: spread_defenders(8, 5, 2, **options),
        "spread_value": lambda: spread_value(8, [2, 3], **options),
    }


def test_every_function_with_a_stop_rule_is_tested_here() -> None:
    public = {name: getattr(iacta, name) for name in iacta.__all__}
    taking = {
        name
        for name, value in public.items()
        if inspect.isfunction(value) or inspect.isclass(value)
        if "stop" in _parameters(value)
    }
    assert taking == solvers("classic", StopRule()).keys()


def _parameters(value: Callable[..., object]) -> Iterable[str]:
    try:
        return inspect.signature(value).parameters
    except ValueError:
        return ()


@for_each("rules", WHOLE)
@for_each("name", solvers("classic", StopRule()))
def test_stop_at_needs_battles_that_can_be_stopped(rules: str, name: str) -> None:
    for stop in (StopRule(stop_at=3), StopRule(hold_back=1, stop_at=3)):
        with pytest.raises(IllegalError, match=r"^rules with .* cannot be used "):
            solvers(rules, stop)[name]()


@for_each("rules", ["classic", "capital", *WHOLE])
@for_each("name", solvers("classic", StopRule()))
def test_holding_back_acts_like_a_larger_garrison_or_is_refused(rules: str, name: str) -> None:
    def answer(stop: StopRule) -> object:
        try:
            return solvers(rules, stop)[name]()
        except IactaError as error:
            return str(error)

    never, held = answer(StopRule()), answer(StopRule(hold_back=2))
    if isinstance(never, str):
        assert held == never
        return
    assert not isinstance(held, str)
    if name == "Battle":
        larger = Battle(9, 4, rules, garrison=find_rules(rules).garrison + 2)
        assert held == pytest.approx(larger.win_probability(), rel=1e-12)
    elif isinstance(never, float) and isinstance(held, float):
        assert held < never


# Questions, their answers and their page in the docs.

TAKING = sorted(
    form.name
    for form in QUESTIONS.load_all()
    if any(p.name == "hold_back" for p in form.parameters())
)


def test_questions_with_one_stop_parameter_have_both() -> None:
    assert TAKING == ["battle", "campaign", "defend", "fronts", "need", "simulate"]
    for form in QUESTIONS.load_all():
        names = {parameter.name for parameter in form.parameters()}
        assert ("hold_back" in names) == ("stop_at" in names), form.name


def test_stop_parameters_of_questions_set_the_stop_rule() -> None:
    for chain in (Chain(hold_back=3), Chain(stop_at=3), Chain(hold_back=2, stop_at=5)):
        given: dict[str, Any] = {"hold_back": chain.hold_back, "stop_at": chain.stop_at}
        found: Any = ask("battle", attackers=10, defenders=5, **given)
        assert found.win_probability == pytest.approx(float(win_chance(10, 5, chain)), rel=1e-13)
        found = ask("campaign", attackers=10, territories=[2, 3], **given)
        assert found.win_probability == pytest.approx(
            float(way_chance(10, (2, 3), chain)), rel=1e-13
        )


def test_an_ambiguous_answer_states_its_meaning() -> None:
    asked: dict[str, dict[str, Any]] = {
        "battle": {"attackers": 10, "defenders": 5},
        "campaign": {"attackers": 10, "territories": [2, 2]},
        "defend": {"attackers": 10},
        "fronts": {"fronts": ["8", "6"], "armies": 5},
        "need": {"territories": [4], "chance": "60%"},
        "simulate": {"attackers": 10, "territories": [2], "runs": 100, "seed": 1},
    }
    assert sorted(asked) == TAKING
    for name, given in asked.items():
        held = lines_of(ask(name, **given, hold_back=1))
        assert "The attackers hold back 1 army in addition to the garrison." in held, name
        stopped = lines_of(ask(name, **given, stop_at=3))
        assert "The attackers stop once 3 armies are left, garrison included." in stopped, name


def lines_of(answer: Any) -> list[object]:
    return [part for section in answer.sections() for part in section.parts]


def test_a_page_shows_both_side_by_side() -> None:
    page = Path(ROOT, "docs", "questions", "cost.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) against (\d+) \| (.+?)% \| (.+?)% \| (.+?)% \|$", page, re.M)
    assert len(rows) == 3
    for attackers, defenders, *shown in rows:
        chains = Chain(), Chain(hold_back=3), Chain(stop_at=3)
        chances = [win_chance(int(attackers), int(defenders), chain) for chain in chains]
        assert [f"{100 * float(chance):.2f}" for chance in chances] == shown


# Refused input, and battles that are too large.


def test_a_number_is_refused_as_a_stop_rule_with_both_meanings() -> None:
    with pytest.raises(MalformedError) as caught:
        Battle(9, 7, stop=3)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "stop must be a StopRule, got 3; did you mean StopRule(hold_back=3) or StopRule(stop_at=3)?"
    )
    with pytest.raises(TypeError):
        StopRule(3)  # type: ignore[call-arg]


@pytest.mark.parametrize("exact", [False, True])
def test_numbers_beyond_every_stack_are_answered(exact: bool) -> None:
    huge = 10**100
    for stop in (
        StopRule(hold_back=huge),
        StopRule(stop_at=huge),
        StopRule(hold_back=huge, stop_at=huge),
        StopRule(stop_at=huge, charge=True, max_losses=huge, max_rolls=huge),
    ):
        battle = Battle(9, 4, stop=stop)
        assert battle.win_probability(exact=exact) == 0
        assert dict(battle.outcomes(exact=exact)) == {(9, 4): 1}
        assert Campaign(9, [4, 2], stop=stop).win_probability(exact=exact) == 0
        kernel = choose_kernel(find_rules("classic"), stop, exact=exact)
        assert not kernel.win_table(5, 4).any()
        assert simulate_battle(9, 4, stop=stop, runs=10).won.successes == 0
        assert defenders_needed(9, 0.9, stop=stop) == 1
        with pytest.raises(IactaError):
            armies_needed(4, 0.9, stop=stop)


def test_limits_on_losses_and_on_armies_left_agree() -> None:
    large = Battle(10**12, 900, stop=StopRule(stop_at=10**12 - 5)).attackers_lost(exact=True)
    assert large == Battle(10**12, 900, stop=StopRule(max_losses=5)).attackers_lost(exact=True)
