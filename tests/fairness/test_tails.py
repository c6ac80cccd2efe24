"""Tests of tails: exact for any length, rarely wrong, and more powerful than the test of tenths."""

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchmarks.audits import is_alarm_without_tails, make_battle_log, measure_level
from iacta import audit
from iacta.fairness.audit import Audit
from iacta.fairness.sums import Scores, bound_tail, compute_tail
from iacta.fairness.tails import BETS, compute_bet_changes, compute_tails
from iacta.fairness.throws import Registry
from iacta.fairness.trials import LOST, WON, Entry, Trial, compute_outcome_chances
from iacta.inputs.errors import IllegalError, MalformedError
from iacta.questions import ask
from iacta.rules.variants import find_rules
from tests.cases import for_each

CLASSIC = find_rules("classic")
CHANCES = Path(__file__).parent / "chances.csv"
HEADING = "attackers,defenders,attackers_left,defenders_left"
# The chances that 3, 2 and 1 attack dice lose to one defence die, by enumeration.
LOST_ROLLS = {3: Fraction(441, 1296), 2: Fraction(91, 216), 1: Fraction(21, 36)}


def lose_all(attackers: int) -> Fraction:
    """Return the probability that attackers lose every roll against one army."""
    return math.prod((LOST_ROLLS[min(able, 3)] for able in range(1, attackers)), start=Fraction(1))


def battles(*rows: str) -> str:
    """Return a log of battles."""
    return "\n".join([HEADING, *rows])


def p_values(found: Audit) -> dict[str, float]:
    """Return the p-value of each test."""
    return {finding.question: finding.p_value for finding in found.findings}


def answer_text(log: str) -> str:
    """Return the answer about a log as text, without tables."""
    answer = ask("audit", log=log)
    return "\n".join(str(part) for section in answer.sections() for part in section.parts)


@for_each("seed", range(20))
def test_tails_of_sums_agree_with_enumerated_terms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts, total = [], {0: 1.0}
    for _ in range(rng.integers(1, 5)):
        chances = rng.random(rng.integers(1, 5)) ** rng.integers(1, 12)
        scores = rng.integers(-5, 60, len(chances))
        parts.append(Scores(scores, chances / chances.sum(), int(rng.integers(1, 9))))
        for _ in range(parts[-1].times):
            longer: dict[int, float] = {}
            for before, p in total.items():
                for score, q in zip(scores.tolist(), parts[-1].chances.tolist(), strict=True):
                    longer[before + score] = longer.get(before + score, 0.0) + p * q
            total = longer
    for least in {min(total), max(total), *rng.choice([*total], 5).tolist()}:
        wanted = math.fsum(p for score, p in total.items() if score >= least)
        assert compute_tail(parts, least) == pytest.approx(wanted, rel=1e-5, abs=1e-280)
        assert bound_tail(parts, least) >= wanted * (1 - 1e-9)
    assert compute_tail(parts, max(total) + 1) == 0


@pytest.mark.parametrize(("coins", "heads"), [(10**4, 6000), (10**6, 502_500), (10**8, 50_020_000)])
def test_tails_of_many_coins_are_binomial(coins: int, heads: int) -> None:
    coin = Scores(np.array([0, 1]), np.array([0.5, 0.5]), coins)
    wanted = stats.binom.sf(heads - 1, coins, 0.5)
    assert compute_tail([coin], heads) == pytest.approx(wanted, rel=1e-6)


def test_three_battles_of_nine_against_one_that_are_lost_are_not_fair() -> None:
    found = audit(battles(*["9,1,1,1"] * 3))
    chance = float(lose_all(9) ** 3)
    assert chance == pytest.approx(5.6e-11, rel=0.01)
    assert p_values(found)["luck"] == pytest.approx(2 * chance, rel=1e-6)
    assert found.is_alarm
    assert min(found.corrected) < 1e-9
    assert found.alarm == 2  # the e-value exceeds its threshold after two battles
    assert not is_alarm_without_tails(audit(battles(*["9,1,1,1"] * 2)))


def test_one_battle_of_25_against_one_that_is_lost_is_not_fair() -> None:
    found = audit(battles("25,1,1,1"))
    chance = float(lose_all(25))
    assert chance == pytest.approx(1.2e-11, rel=0.03)
    assert p_values(found)["most extreme"] == pytest.approx(chance, rel=1e-6)
    assert p_values(found)["luck"] == pytest.approx(2 * chance, rel=1e-6)
    assert found.is_alarm
    assert found.alarm == 1
    assert not is_alarm_without_tails(found)


def test_one_extreme_battle_is_seen_among_many_fair_ones() -> None:
    fair = make_battle_log("fair", 300, np.random.default_rng(4))
    assert not audit(fair, draws=99).is_alarm
    found = audit(fair + "\n25,1,1,1", draws=99)
    assert found.is_alarm
    (finding,) = (each for each in found.findings if each.question == "most extreme")
    assert finding.detail == "25 against 1 lost, with 1 left"
    assert finding.p_value < 301 * float(lose_all(25)) * 2


def test_the_luck_test_of_attackers_is_two_sided() -> None:
    lucky = audit(battles(*["4,9,4,0"] * 2))
    (finding,) = (each for each in lucky.findings if each.question == "luck")
    assert finding.detail == "lucky"
    assert lucky.is_alarm


def test_tests_of_tails_keep_every_level_in_logs_of_few_battles() -> None:
    # Enumerate all possible logs of three small battles, so that no tolerance is needed.
    trials = [Trial("battle", *armies, CLASSIC) for armies in ((3, 1), (3, 1), (4, 2))]
    chances: dict[str, list[tuple[float, float]]] = {}
    for ends in itertools.product(*(compute_outcome_chances(trial).items() for trial in trials)):
        rows = [
            f"{trial.first},{trial.second},{trial.first - ours},{trial.second - theirs}"
            for trial, ((ours, theirs), _) in zip(trials, ends, strict=True)
        ]
        chance = math.prod(p for _, p in ends)
        for question, p_value in p_values(audit(battles(*rows), draws=1)).items():
            chances.setdefault(question, []).append((p_value, chance))
    for question in ("luck", "spread", "most extreme"):
        found = chances[question]
        assert math.fsum(chance for _, chance in found) == pytest.approx(1)
        for level, _ in found:
            as_small = math.fsum(chance for p_value, chance in found if p_value <= level)
            assert as_small <= level * (1 + 1e-9)


def test_fair_logs_of_battles_of_all_sizes_raise_no_more_alarms_than_stated() -> None:
    # For 10,000 longer logs: python -m benchmarks.audits level
    logs = 250
    found = measure_level(logs, 8)
    assert {"luck", "spread", "most extreme", "battles", "ALARM", "WATCHED"} <= found.keys()
    for level in (0.01, 0.05, 0.2):
        spread = 4 * math.sqrt(level * (1 - level) / logs)
        for values in found.values():
            assert (values <= level).mean() <= level + spread


@pytest.mark.parametrize("dice", ["blitz", "upsets"])
def test_tails_show_what_tenths_cannot(dice: str) -> None:
    # For more logs, and with loaded dice: python -m benchmarks.audits power
    rng = np.random.default_rng(1)
    logs = [audit(make_battle_log(dice, 60, rng), draws=999) for _ in range(12)]
    before = sum(map(is_alarm_without_tails, logs))
    after = sum(found.is_alarm for found in logs)
    assert after >= before + 4


def test_no_bet_on_tails_wins_with_fair_dice() -> None:
    trials = [
        Trial("battle", 9, 5, CLASSIC),
        Trial("battle", 25, 1, CLASSIC),
        Trial("battle", 6, 3, CLASSIC, is_recorded=True),
        Trial("chance", 0, 0, CLASSIC, chance=0.999),
    ]
    for trial in trials:
        chances, _, _ = compute_tails(trial)
        lines = [
            Registry().find_line(Entry(trial, end, chances=(0.999, 1.0)))
            for end in compute_outcome_chances(trial)
        ]
        if trial.kind == "chance":
            lines[1] = Registry().find_line(Entry(trial, LOST, chances=(0.999, 0.0)))
        factors = np.exp([compute_bet_changes(line) for line in lines if line is not None])
        assert chances @ factors == pytest.approx(np.ones(factors.shape[1]))
    # The chance of a plan goes from 60% to 100%, 50% or 0%, with probability 35%, 50% and 15%.
    ends = {1.0: 0.35, 0.5: 0.5, 0.0: 0.15}
    mean = np.zeros(BETS)
    for after, p in ends.items():
        is_decided = after in (0, 1)
        trial = Trial("chance", 0, 0, CLASSIC, chance=0.6, is_decided=is_decided)
        outcome = {1.0: WON, 0.0: LOST}.get(after, (0, 0))
        line = Registry().find_line(Entry(trial, outcome, chances=(0.6, after)))
        assert line is not None
        mean += p * np.exp(compute_bet_changes(line))
    assert mean == pytest.approx(np.ones(len(mean)))


# Logs with no dice, only chances.


def test_four_chances_that_were_won_once_have_their_probability() -> None:
    found = audit(CHANCES)
    (luck,) = found.lucks
    assert luck.as_bad == pytest.approx(0.0428)
    assert luck.wins == pytest.approx(-2)
    assert p_values(found)["chances"] == pytest.approx(2 * 0.0428)
    assert found.chances == found.lines == 4
    assert not found.is_alarm
    text = answer_text(CHANCES.read_text(encoding="utf-8"))
    assert "1 of 4 won, 3.0 expected; fair dice win at most 1 with a chance of 4.28%." in text
    assert "Nothing points to unfair dice, but 4 chances are too few to tell." in text
    assert "armies" not in text


def test_chances_belong_to_players_and_opponents() -> None:
    rows = [
        {"chance_before": before, "chance_after": after, "player": "Ada", "opponent": "Ben"}
        for before, after in ((0.9, 0), (0.8, 0), (0.7, 0), (0.6, 1))
    ]
    ada, ben = sorted(audit("\n".join(map(json.dumps, rows))).lucks)
    assert (ada.wins, ben.wins) == pytest.approx((-2, 2))
    assert ada.as_bad == pytest.approx(ben.as_good) == pytest.approx(0.0428)


def test_a_certain_chance_that_is_lost_is_impossible() -> None:
    found = audit("chance_before,chance_after\n1,0\n0.5,1\n")
    assert (found.impossible, found.is_alarm) == (1, True)
    assert (
        "1 result is impossible, or too unlikely to compute, under the rules, or by"
        in answer_text("chance_before,chance_after\n1,0\n")
    )
    assert audit("chance_before,chance_after\n1,0.5\n0,0.1\n").impossible == 2
    assert not audit("chance_before,chance_after\n1,1\n0,0\n").impossible


def test_chances_that_are_still_open_have_bounds_only() -> None:
    found = audit("chance_before,chance_after,count\n0.5,0.9,60\n0.5,0.4,3\n")
    (finding,) = found.findings
    assert (finding.question, finding.how) == ("chances", "bound")
    assert finding.p_value < 1e-5
    coins = Scores(np.array([0, 1]), np.array([0.5, 0.5]), 63)
    assert finding.p_value == pytest.approx(2 * bound_tail([coins], 60 * 0.9 + 3 * 0.4), rel=1e-6)
    fair = audit("chance_before,chance_after,count\n0.5,0.9,60\n0.5,0.1,60\n")
    assert not fair.is_alarm


def test_many_fair_chances_raise_no_alarm_and_show_a_bias() -> None:
    rng = np.random.default_rng(7)
    before = rng.random(3000).round(3)
    after = (rng.random(3000) < before).astype(int)
    rows = [f"{b},{a}" for b, a in zip(before, after, strict=True)]
    log = "\n".join(["chance_before,chance_after", *rows])
    assert not audit(log).is_alarm
    assert "with 3,000 chances, wins off by" in answer_text(log)
    # These wins have chances that are 20% closer to one half.
    bent = (rng.random(3000) < 0.8 * before + 0.1).astype(int)
    rows = [f"{b},{a}" for b, a in zip(before, bent, strict=True)]
    assert audit("\n".join(["chance_before,chance_after", *rows])).is_alarm


def test_one_chance_without_the_other_is_refused() -> None:
    with pytest.raises(MalformedError, match="line 2: missing chance_after"):
        audit("chance_before,attackers\n0.5,3\n")
    with pytest.raises(IllegalError, match="line 2: chance_after must lie between 0 and 1"):
        audit("chance_before,chance_after\n0.5,3\n")
    with pytest.raises(MalformedError, match="or chance_before and chance_after"):
        audit("attackers,defenders\n5,3\n")


def test_chances_beside_battles_are_not_tested() -> None:
    found = audit(f"{HEADING},chance_before,chance_after\n9,5,4,0,0.7,0.9")
    assert "chances" not in p_values(found)
    assert found.lucks[0].wins == pytest.approx(0.2)


ROLLS = ["653,55", "441,63", "621,55", "533,31", "662,62", "431,53", "641,51", "632,44", "661,62"]


def test_the_dice_of_both_sides_are_counted() -> None:
    text = answer_text("\n".join(["attack,defence", *ROLLS]))
    assert "but 27 attack dice and 18 defence dice are too few to tell." in text
    assert "Nothing points to unfair dice, but 1 attack die and 1 defence die are" in answer_text(
        "attack,defence\n6,1\n"
    )
    assert "but 2 dice are too few to tell" in answer_text("die\n3\n4\n")
    assert "but 1 battle is not enough to tell" in answer_text(battles("9,5,4,0"))


def test_luck_is_described_in_one_way() -> None:
    rows = ["653,55", "441,63", "621,55", "662,42", "653,22"]
    text = answer_text("\n".join(["attack,defence", *rows]))
    assert "neither" not in text
    (sentence,) = (line for line in text.split("\n") if "ordinary luck" in line)
    assert sentence.startswith("The attackers had ordinary luck: ")
    assert ", as good as " in sentence
    assert "had no luck, good or bad: every result was certain." in answer_text(
        "chance_before,chance_after\n1,1\n"
    )


@pytest.mark.parametrize(
    "log",
    [
        battles(*["9,1,1,1"] * 2, "9,5,4,0"),
        battles("25,1,1,1"),
        "die\n" + "6\n" * 4,
        "\n".join(["attack,defence", *ROLLS]),
        CHANCES.read_text(encoding="utf-8"),
    ],
)
def test_an_answer_does_not_contradict_itself(log: str) -> None:
    found, text = audit(log), answer_text(log)
    assert any(map(found.is_unusual, found.results)) <= found.is_alarm
    assert ("Nothing points to unfair dice" in text) == (not found.is_alarm and found.alarm is None)
    if found.is_alarm and found.alarm is None:
        assert (
            "the evidence against fair dice, which is less sensitive than the tests, never" in text
        )


def test_evidence_is_reported_even_without_an_alarm() -> None:
    # The evidence exceeds 100 to 1 after two battles; 200 fair battles then reduce it.
    fair = make_battle_log("fair", 200, np.random.default_rng(0)).split("\n")[1:]
    log = battles("9,1,1,1", "9,1,1,1", *fair)
    found = audit(log)
    assert (found.alarm, found.is_alarm) == (2, False)
    assert "No test raises an alarm: with 202 battles, " in answer_text(log)
