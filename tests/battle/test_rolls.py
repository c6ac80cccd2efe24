"""The number of rolls of battles and campaigns, compared with recursions and with other methods."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

import iacta
from iacta import Battle, Campaign, Chain, Distribution, Rules, StopRule, Territory, find_rules
from iacta.battle.territory import Stage
from iacta.methods import choose_kernel
from iacta.rules.modes import DefenderSeesFirst
from tests import brute
from tests.adapters import SEVERAL_RULES, markov
from tests.battle.test_chain import BATTLES, count_rolls
from tests.cases import for_each
from tests.methods.test_agreement import assert_within
from tests.methods.test_markov import FIVE_ONES

STOPS = [
    StopRule(hold_back=2),
    StopRule(stop_at=4),
    StopRule(charge=True),
    StopRule(max_losses=2),
    StopRule(max_rolls=3),
    StopRule(max_rolls=0),
    StopRule(hold_back=1, stop_at=3, max_losses=3, max_rolls=4),
    StopRule(leave=1),
    StopRule(leave=3),
    StopRule(hold_back=1, stop_at=3, max_losses=3, max_rolls=4, leave=2),
]
Rolled = dict[tuple[int, int, int], Fraction]  # by attackers, defenders and rolls


def play(attackers: int, defenders: int, rules: Rules, stop: StopRule) -> Rolled:
    """Return the chances of (attackers left, defenders left, rolls), by following every roll."""
    held = rules.garrison + (stop.hold_back or 0)
    full = min(attackers - held, rules.attack.kept)

    @cache
    def follow(a: int, d: int, rolls: int) -> Rolled:
        dice = min(a - held, rules.attack.kept), min(d, rules.defence.kept)
        if (
            a <= held
            or not d
            or a <= (stop.stop_at or 0)
            or (stop.charge and dice[0] < full)
            or (stop.max_losses is not None and attackers - a >= stop.max_losses)
            or rolls == stop.max_rolls
            or d <= (stop.leave or 0)
        ):
            return {(a, d, rolls): Fraction(1)}
        found: Rolled = {}
        for (ours, theirs), p in brute.roll_losses(*dice, rules).items():
            for end, chance in follow(a - ours, d - theirs, rolls + 1).items():
                found[end] = found.get(end, Fraction(0)) + p * chance
        return found

    return follow(attackers, defenders, 0)


def march(attackers: int, way: list[Stage]) -> Iterator[tuple[int, Fraction]]:
    """Yield the numbers of rolls of a campaign with their chances, by following every battle."""
    stage, *later = way
    for (a, d, rolls), chance in play(attackers, stage.defenders, stage.rules, stage.stop).items():
        if d or not later:
            yield rolls, chance
        else:
            for more, p in march(stage.rules.limit_advance(a - stage.rules.garrison), later):
                yield rolls + more, chance * p


@for_each("name", SEVERAL_RULES)
@for_each("battle", BATTLES)
def test_the_rolls_of_a_battle_equal_a_recursion_over_the_first_roll(
    name: str, battle: tuple[int, int]
) -> None:
    rules = SEVERAL_RULES[name]
    expected = Distribution(count_rolls(*battle, rules))
    assert Battle(*battle, rules).rolls(exact=True) == expected
    found, bound = Battle(*battle, rules).rolls(), markov.relative_error(*battle, rules)
    for number in range(sum(battle) + 1):
        assert_within(float(found[number]), Fraction(expected[number]), bound)


@for_each("stop", STOPS)
@for_each("battle", [(9, 6), (6, 9), (4, 1), (2, 3)])
@for_each("rules", ["classic", "capital", "zombie attacker"])
def test_rolls_under_a_stop_rule_equal_every_path(
    stop: StopRule, battle: tuple[int, int], rules: str
) -> None:
    ends = play(*battle, find_rules(rules), stop)
    assert Battle(*battle, rules, stop=stop).rolls(exact=True) == Distribution.from_pairs(
        (rolls, p) for (_, _, rolls), p in ends.items()
    )


@for_each("stop", [stop for stop in STOPS if stop.leave])
@for_each("battle", [(9, 6), (6, 9), (4, 1), (2, 3), (1, 5)])
@for_each("rules", ["classic", "capital", "zombie attacker"])
def test_battles_that_leave_defenders_end_as_every_path_does(
    stop: StopRule, battle: tuple[int, int], rules: str
) -> None:
    ends = play(*battle, find_rules(rules), stop)
    expected = Distribution.from_pairs(((a, d), p) for (a, d, _), p in ends.items())
    exact = Battle(*battle, rules, stop=stop).outcomes(exact=True)
    assert dict(exact) == dict(expected)
    floats = Battle(*battle, rules, stop=stop).outcomes()
    assert dict(floats) == pytest.approx(dict(expected.to_float()), rel=1e-13)


def test_simulated_dice_leave_defenders_as_often() -> None:
    stop = StopRule(leave=4)
    battle = Battle(12, 10, stop=stop)
    simulated = iacta.simulate_battle(12, 10, stop=stop, runs=20_000)
    for reached in (lambda end: end.defenders <= 4, lambda end: end.defenders == 4):
        low, high = simulated.estimate(reached).interval("99.99%")
        assert low < battle.outcomes().prob(reached) < high


def test_a_stop_that_leaves_no_defender_is_a_fight_to_the_end() -> None:
    assert StopRule(leave=0) == StopRule()
    with pytest.raises(iacta.IllegalError, match="leave cannot be combined with a search"):
        iacta.armies_needed(5, "90%", stop=StopRule(leave=2))


@for_each("battle", [(12, 10), (20, 30), (41, 40)])
def test_a_battle_goes_on_after_n_rolls_as_often_as_a_limit_stops_it(
    battle: tuple[int, int],
) -> None:
    rolls = Battle(*battle).rolls(exact=True)
    for n in range(0, sum(battle), 5):
        limited = Battle(*battle, stop=StopRule(max_rolls=n))
        assert limited.stop_probability(exact=True) == rolls.sf(n)


@for_each("rules", ["classic", "capital", FIVE_ONES])
def test_mean_and_variance_are_those_of_the_chain(rules: Rules | str) -> None:
    chain, rolls = Chain(21, 20, rules), Battle(21, 20, rules).rolls()
    row = chain.transient.index(chain.start)
    assert rolls.mean() == pytest.approx(chain.t[row], rel=1e-12)
    assert rolls.variance() == pytest.approx(chain.variance[row], rel=1e-11)


@for_each("exact", [True, False])
@for_each("battle", [(5, 4), (4, 6), (2, 2)])
def test_rolls_against_a_defender_who_sees_first_follow_their_replies(
    exact: bool, battle: tuple[int, int]
) -> None:
    rules = Rules(mode=DefenderSeesFirst())
    kernel = choose_kernel(rules, exact=exact)

    @cache
    def follow(able: int, d: int) -> dict[int, float]:
        if able <= 0 or not d:
            return {0: 1.0}
        found: dict[int, float] = {}
        for throw in kernel.rolls(able, d)[0].throws:
            for result in throw.options[kernel.choose_worst_reply(throw, able, d)]:
                after = able - result.attackers, d - result.defenders
                for rolls, p in follow(*after).items():
                    chance = throw.chance * result.chance * p
                    found[rolls + 1] = found.get(rolls + 1, 0.0) + chance
        return found

    rolls = Battle(*battle, rules).rolls(exact=exact)
    assert rolls.is_exact == exact
    assert dict(rolls.to_float()) == pytest.approx(follow(battle[0] - 1, battle[1]), rel=1e-12)


@for_each("stop", [None, *STOPS])
@for_each("exact", [True, False])
def test_the_rolls_of_a_campaign_equal_every_path(stop: StopRule | None, exact: bool) -> None:
    way: list[int | Territory] = [
        2,
        Territory(1, garrison=2),
        Territory(3, "capital"),
        Territory(1, stop=StopRule()),
    ]
    for attackers in (1, 4, 9, 12):
        campaign = Campaign(attackers, way, stop=stop)
        expected = Distribution.from_pairs(march(attackers, campaign.stages()))
        if exact:
            assert campaign.rolls(exact=True) == expected
        else:
            assert dict(campaign.rolls()) == pytest.approx(dict(expected.to_float()), rel=1e-12)


@for_each("attackers", [3, 6, 11])
def test_the_rolls_of_a_campaign_follow_a_limit_of_the_armies_that_move_in(attackers: int) -> None:
    campaign = Campaign(attackers, [1, 2, 1], Rules(most_advance=3))
    expected = Distribution.from_pairs(march(attackers, campaign.stages()))
    assert campaign.rolls(exact=True) == expected
    assert attackers < 11 or expected != Campaign(attackers, [1, 2, 1]).rolls(exact=True)


def test_a_campaign_of_one_territory_has_the_rolls_of_its_battle() -> None:
    for attackers, defenders in product((1, 5, 30), (1, 25)):
        rolls = Campaign(attackers, [defenders]).rolls()
        assert rolls == Battle(attackers, defenders).rolls()


def test_simulated_dice_have_the_mean_number_of_rolls() -> None:
    rng, runs, total = np.random.default_rng(5), 2000, 0
    for _ in range(runs):
        attackers, defenders = 11, 10
        while attackers and defenders:
            ours, theirs = (
                sorted(rng.integers(1, 7, min(armies, most)), reverse=True)
                for armies, most in ((attackers, 3), (defenders, 2))
            )
            won = sum(y > z for y, z in zip(ours, theirs, strict=False))
            attackers -= min(len(ours), len(theirs)) - won
            defenders, total = defenders - won, total + 1
    rolls = Battle(12, 10).rolls()
    error = rolls.standard_deviation() / runs**0.5
    assert total / runs == pytest.approx(float(rolls.mean()), abs=4 * error)


def test_rolls_that_cannot_be_counted_are_refused_in_a_sentence() -> None:
    with pytest.raises(iacta.IllegalError, match="balanced blitz cannot be used to count rolls"):
        Battle(12, 10, "balanced blitz").rolls()
    with pytest.raises(iacta.IllegalError, match="cannot be used to count rolls"):
        Campaign(12, [3, Territory(2, "balanced blitz")]).rolls()
    with pytest.raises(iacta.IllegalError, match="exact is not possible where armies can grow"):
        Battle(12, 10, FIVE_ONES).rolls(exact=True)
    with pytest.raises(iacta.TooLargeError, match="it would take more than half a minute"):
        Battle(10**6, 10**6).rolls()
    with pytest.raises(iacta.TooLargeError):
        Battle(10**30, 10**30).rolls()
