"""The audit: p-values, evidence, detectable bias and luck agree with independent computations."""

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from benchmarks.audits import WAYS, make_fair_log
from iacta import Battle, Campaign, Roll, Territory, audit
from iacta.fairness import p_values as library
from iacta.fairness.audit import Audit, count_tests
from iacta.fairness.e_values import log_evidence, log_factors
from iacta.fairness.luck import Gain, compute_army_moments, measure_chance_luck, measure_luck
from iacta.fairness.p_values import ThrowSequence, check_order, compare_with_fair, find_period
from iacta.fairness.throws import Throws
from iacta.fairness.trials import Trial, compute_outcome_chances
from iacta.forms.sections import Table
from iacta.inputs.errors import IllegalError, TooLargeError
from iacta.questions import ask
from iacta.questions.audit import PowerAnswer
from iacta.rules.variants import find_rules
from tests.cases import for_each

PUBLISHED = Path(__file__).parents[1] / "published"
CLASSIC = find_rules("classic")
DIE = np.full(6, 1 / 6)
LOSSES = np.array([2890, 2611, 2275]) / 7776
LOGS = 10_000


def p_value(found: Audit, question: str) -> float:
    """Return the p-value of a test."""
    (finding,) = (each for each in found.findings if each.question == question)
    return finding.p_value


def add_counts(counts: list[int], chances: np.ndarray) -> Throws:
    """Return throws with counts but no order."""
    return add_shared_counts({0: np.array(counts)}, chances)


def add_shared_counts(by_player: dict[int, np.ndarray], chances: np.ndarray) -> Throws:
    """Return throws with counts for each player."""
    return Throws("dice", "dice", (), chances, np.arange(float(len(chances))), by_player)


def add_walk(results: np.ndarray, kinds: int) -> Throws:
    """Return throws with counts of results and of pairs of consecutive results."""
    pairs = np.zeros((kinds, kinds), dtype=np.int64)
    np.add.at(pairs, (results[:-1], results[1:]), 1)
    found = add_shared_counts({0: np.bincount(results, minlength=kinds)}, np.full(kinds, 1 / kinds))
    return replace(found, pairs=pairs)


def add_sequence(faces: np.ndarray) -> ThrowSequence:
    """Return the throws of single dice in order."""
    return ThrowSequence("die", "dice", np.zeros_like(faces), faces, np.full(len(faces), 1 / 6))


def write_log(faces: np.ndarray, sizes: list[tuple[int, int]], *, is_sorted: bool) -> str:
    """Return a log of rolls whose dice are taken from a list."""
    lines, rest = ["attack,defence"], faces.tolist()
    for ours, theirs in sizes:
        sides = rest[:ours], rest[ours : ours + theirs]
        del rest[: ours + theirs]
        if is_sorted:
            sides = sorted(sides[0], reverse=True), sorted(sides[1], reverse=True)
        if len(sides[0]) == ours and len(sides[1]) == theirs:
            lines.append(",".join(" ".join(map(str, side)) for side in sides))
    return "\n".join(lines)


def test_the_rolls_that_dominating12_published_are_fair() -> None:
    found = audit(PUBLISHED / "dominating12_rolls.csv")
    rolls, luck = found.findings
    assert found.lines == 100_000
    assert round(rolls.statistic, 2) == 4.36
    assert rolls.interval is not None
    assert rolls.interval.low < stats.chi2.sf(rolls.statistic, 2) < rolls.interval.high
    assert round(rolls.p_value, 2) == 0.11
    assert luck.p_value > 0.01
    assert not found.is_alarm


def test_a_loaded_die_is_detected() -> None:
    found = audit(PUBLISHED / "loaded_die.csv")
    wanted = stats.chisquare([622, 698, 650, 684, 666, 812])
    assert found.findings[0].statistic == pytest.approx(wanted.statistic)
    assert wanted.pvalue < 1e-5
    assert p_value(found, "dice") < 3e-5
    assert found.is_alarm
    assert (
        math.exp(found.log_evidence) > 100
    )  # the e-value that `Audit.alarm` needs at a level of 1%
    assert [each.result for each in found.results if each.low > each.expected] == ["6"]


def fair_p_values(counts: np.ndarray, chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the simulated p-values of logs of equal length; each row has the counts of one log."""
    fair = np.sort(
        library._compute_pearson(
            rng.multinomial(counts[0].sum(), chances, size=library.DRAWS), chances
        )
    )
    below = np.searchsorted(
        fair, library._compute_pearson(counts, chances) * (1 - library.TOLERANCE)
    )
    return (library.DRAWS - below + 1) / (library.DRAWS + 1)


def test_p_values_of_many_logs_equal_single_p_values() -> None:
    row = np.array([370, 340, 290])
    (wanted,) = fair_p_values(row[None], LOSSES, np.random.default_rng(3))
    found = compare_with_fair("x", [add_counts(row.tolist(), LOSSES)], np.random.default_rng(3))
    assert (found.how, found.p_value) == ("simulated", wanted)


@pytest.mark.parametrize(
    ("counts", "chances"),
    [([3, 0, 4], LOSSES), ([1, 1, 0, 2, 0, 1], DIE), ([40, 20], np.array([0.5, 0.5]))],
)
def test_the_exact_test_sums_over_all_counts(counts: list[int], chances: np.ndarray) -> None:
    n = sum(counts)
    off = stats.chisquare(counts, n * chances).statistic
    total = 0.0
    for each in itertools.product(range(n + 1), repeat=len(counts) - 1):
        if sum(each) <= n:
            row = [*each, n - sum(each)]
            if stats.chisquare(row, n * chances).statistic >= off - 1e-9:
                total += stats.multinomial.pmf(row, n, chances)
    found = compare_with_fair("x", [add_counts(counts, chances)], np.random.default_rng(1))
    assert found.how == "exact"
    assert found.p_value == pytest.approx(total, rel=1e-9)


def test_the_exact_test_of_a_coin_is_binomial() -> None:
    found = compare_with_fair(
        "x", [add_counts([61, 39], np.array([0.5, 0.5]))], np.random.default_rng(1)
    )
    assert found.p_value == pytest.approx(stats.binomtest(61, 100).pvalue, rel=1e-9)


def test_a_simulated_p_value_has_its_interval() -> None:
    parts = [add_counts([370, 340, 290], LOSSES), add_counts([150, 190, 160, 170, 140, 190], DIE)]
    found = compare_with_fair("x", parts, np.random.default_rng(1))
    assert found.how == "simulated"
    assert found.interval is not None
    wanted = stats.chi2.sf(found.statistic, 2 + 5)
    assert found.interval.low - 0.003 < wanted < found.interval.high + 0.003


def test_odds_are_reported_as_far_as_the_simulated_logs_support_them() -> None:
    # None of 100,000 fair logs is this unusual, so Wilson's interval ends at z² / (n + z²).
    text = "die,count\n1,500\n2,500\n3,500\n4,500\n5,500\n6,1000\n"
    found = audit(text)
    (finding,) = found.findings
    square = stats.norm.isf(0.005) ** 2
    assert finding.interval == pytest.approx((0.0, square / (100_000 + square)))
    head, asked, *_ = ask("audit", log=text).sections()
    # The upper limit of the interval is 1 in 15,073.
    assert "fewer than 1 in 15,000 look this unusual" in str(head.parts[0])
    (table,) = asked.parts
    assert isinstance(table, Table)
    assert [row[1:] for row in table.rows] == [("< 0.00007", "< 0.00007")]


def test_holm_s_correction_agrees_with_its_publication() -> None:
    # Holm's step-down rule: the smallest of m p-values is multiplied by m, and the order is kept.
    assert library.correct_by_holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx(
        [0.03, 0.06, 0.06, 0.02]
    )
    assert library.correct_by_holm([0.9, 0.8]) == [1.0, 1.0]


@pytest.mark.parametrize("throws", [12, 100, 1000, 30_000])
@pytest.mark.parametrize("chances", [DIE, LOSSES], ids=["die", "losses"])
def test_ten_thousand_fair_logs_raise_no_more_alarms_than_stated(
    throws: int, chances: np.ndarray
) -> None:
    rng = np.random.default_rng(throws)
    p_values = fair_p_values(rng.multinomial(throws, chances, size=LOGS), chances, rng)
    for level in (0.001, 0.01, 0.05, 0.2):
        spread = 4 * math.sqrt(level * (1 - level) / LOGS)
        assert (p_values <= level).mean() <= level + spread
    if throws > 100:  # tests that rarely reject would be useless
        assert (p_values <= 0.05).mean() > 0.04


def test_ten_thousand_fair_logs_may_be_watched_after_every_roll() -> None:
    rng = np.random.default_rng(7)
    throws, chances = 400, LOSSES
    results = np.searchsorted(np.cumsum(chances)[:-1], rng.random((LOGS, throws)))
    seen, logs = np.zeros((LOGS, 3)), np.zeros(LOGS)
    most = np.zeros(LOGS)
    rows = np.arange(LOGS)
    for n in range(throws):
        kind = results[:, n]
        logs += np.log((100 * chances[kind] + seen[rows, kind]) / ((100 + n) * chances[kind]))
        seen[rows, kind] += 1
        most = np.maximum(most, logs)
    first = log_factors(results[0], np.zeros(3, dtype=np.int64), chances)
    assert first.sum() == pytest.approx(logs[0])
    assert log_evidence(seen[0].astype(np.int64), chances) == pytest.approx(logs[0])
    for level in (0.01, 0.05, 0.2):
        assert (most >= -math.log(level)).mean() <= level
    # A player who checks the p-value after every throw eventually finds a small one.
    peeked = np.zeros(LOGS, dtype=bool)
    for n in range(20, throws + 1, 20):
        counts = np.stack([(results[:, :n] == kind).sum(axis=1) for kind in range(3)], axis=1)
        off = ((counts - n * chances) ** 2 / (n * chances)).sum(axis=1)
        peeked |= off >= stats.chi2.isf(0.05, 2)
    assert peeked.mean() > 0.15


def test_the_evidence_of_a_log_follows_from_its_counts() -> None:
    rng = np.random.default_rng(5)
    rolls = [
        {"attack": list(each[:3]), "defence": list(each[3:])}
        for each in rng.integers(1, 7, (300, 5)).tolist()
    ]
    found = audit(rolls)
    logs = {each.kind: log_evidence(each.counts, each.chances) for each in found.throws}
    dice = logs["attack dice"] + logs["defence dice"]
    wanted = np.logaddexp(dice, logs["rolls"]) - math.log(2)
    assert found.log_evidence == pytest.approx(float(wanted), abs=1e-9)
    assert found.moments[-1].log_evidence == pytest.approx(float(wanted), abs=1e-9)
    assert found.most_evidence >= max(each.log_evidence for each in found.moments)


@pytest.mark.parametrize("rules", ["classic", "attack magic", "defence commander"])
def test_dice_and_their_losses_are_not_bet_on_together(rules: str) -> None:
    # If only one side's dice differ, the tests of that side alone show it; losses depend on both
    # sides.
    rng = np.random.default_rng(5)
    rolls = [f"{a} {b} {c},{d}" for a, b, c, d in rng.integers(1, 7, (300, 4)).tolist()]
    found = audit("\n".join(["attack,defence", *rolls]), rules=rules, draws=99)
    logs = {each.kind: log_evidence(each.counts, each.chances) for each in found.throws}
    dice = sum(log for kind, log in logs.items() if kind != "rolls")
    wanted = float(np.logaddexp(dice, logs["rolls"])) - math.log(2)
    assert found.log_evidence == pytest.approx(wanted, abs=1e-9)
    once, *others = rolls
    twice = "\n".join(["attack,defence,count", f"{once},2", *(f"{each},1" for each in others)])
    ordered = audit("\n".join(["attack,defence", once, *rolls]), rules=rules, draws=99)
    counts = audit(twice, rules=rules, draws=99)
    assert (ordered.is_ordered, counts.is_ordered) == (True, False)
    assert counts.log_evidence == pytest.approx(ordered.log_evidence, abs=1e-9)


def test_order_statistics_have_the_moments_over_all_orders() -> None:
    results = np.array([0, 0, 1, 2, 2, 2, 1])
    orders = np.array(list(itertools.permutations(results.tolist())))
    repeats = (orders[:, 1:] == orders[:, :-1]).sum(axis=1)
    counts = np.bincount(results)
    n = len(results)
    assert repeats.mean() == pytest.approx((counts * (counts - 1)).sum() / n)
    found = check_order([add_walk(results, 3)], np.random.default_rng(1))
    off = np.abs(repeats - repeats.mean())
    seen = (results[1:] == results[:-1]).sum()
    wanted = (off >= abs(seen - repeats.mean()) - 1e-9).mean()
    assert found[0].p_value == pytest.approx(wanted, abs=0.02)


def test_fair_orders_raise_no_more_alarms_than_stated() -> None:
    throws, logs, rng = 1100, 2000, np.random.default_rng(5)
    p_values = np.array(
        [
            [each.p_value for each in check_order([add_walk(rng.integers(0, 6, throws), 6)], rng)]
            for _ in range(logs)
        ]
    )
    for level in (0.01, 0.05, 0.2):
        spread = 4 * math.sqrt(level * (1 - level) / logs)
        assert ((p_values <= level).mean(axis=0) <= level + spread).all()


@pytest.mark.parametrize("throws", [400, 20_000])
def test_dice_with_a_memory_are_detected(throws: int) -> None:
    rng = np.random.default_rng(2)
    fresh = rng.integers(0, 6, throws)
    sticky = fresh.copy()
    for n in np.flatnonzero(rng.random(throws) < 0.2)[1:]:
        sticky[n] = sticky[n - 1]
    repeats, runs, correlation = check_order([add_walk(sticky, 6)], rng)
    assert max(repeats.p_value, runs.p_value, correlation.p_value) < 0.001
    assert min(each.p_value for each in check_order([add_walk(fresh, 6)], rng)) > 0.005


def test_a_repeated_sequence_is_detected_with_its_length() -> None:
    rng = np.random.default_rng(4)
    cycle = rng.integers(0, 6, 50_000)
    found = find_period([add_sequence(np.concatenate([cycle, cycle[:1000]]))])
    assert found is not None
    assert found.p_value < 1e-9
    assert found.statistic == 50_000
    fair = find_period([add_sequence(rng.integers(0, 6, 51_000))])
    assert fair is not None
    assert fair.p_value > 0.05


@pytest.mark.parametrize("is_sorted", [False, True], ids=["thrown", "sorted"])
@pytest.mark.parametrize("sizes", [((3, 2),), ((3, 2), (1, 1), (2, 2), (3, 1))], ids=str)
@pytest.mark.parametrize("length", [5_000, 4_999])
def test_repeated_rolls_are_detected_in_any_notation(
    length: int, sizes: tuple[tuple[int, int], ...], is_sorted: bool
) -> None:
    rng = np.random.default_rng(length)
    cycle = rng.integers(1, 7, length)
    faces = np.concatenate([cycle, cycle[:500]])
    thrown = [sizes[i] for i in rng.integers(0, len(sizes), 2000).tolist()]
    again = audit(write_log(faces, thrown, is_sorted=is_sorted), draws=199)
    assert p_value(again, "period") < 1e-6
    fair = audit(write_log(rng.integers(1, 7, 5_500), thrown, is_sorted=is_sorted), draws=199)
    assert p_value(fair, "period") > 0.05


@pytest.mark.parametrize("is_sorted", [False, True], ids=["thrown", "sorted"])
def test_repeated_results_are_detected_in_any_notation(is_sorted: bool) -> None:
    rng = np.random.default_rng(8)
    rolls = rng.integers(1, 7, (300, 5))
    for n in np.flatnonzero(rng.random(300) < 0.2)[1:]:
        rolls[n] = rolls[n - 1]
    found = audit(write_log(rolls.ravel(), [(3, 2)] * 300, is_sorted=is_sorted), draws=199)
    assert p_value(found, "period") < 1e-6
    (finding,) = (each for each in found.findings if each.question == "period")
    assert finding.detail == "after 1 roll"


@pytest.mark.parametrize("is_sorted", [False, True], ids=["thrown", "sorted"])
def test_equal_dice_in_a_roll_are_detected_in_any_notation(is_sorted: bool) -> None:
    rng = np.random.default_rng(8)
    rolls = rng.integers(1, 7, (300, 5))
    is_alike = rng.random(300) < 0.4
    rolls[is_alike, 1] = rolls[is_alike, 0]
    rolls[is_alike, 4] = rolls[is_alike, 3]
    found = audit(write_log(rolls.ravel(), [(3, 2)] * 300, is_sorted=is_sorted), draws=199)
    assert p_value(found, "period") < 0.001


def find_copies_slowly(way: ThrowSequence) -> list[float]:
    """Compute the log of the evidence for copied results at each distance, pair by pair."""
    n, found = len(way.results), []
    for distance in range(1, n):
        stakes = []
        for share in library.COPIED_SHARES:
            stake = 1.0
            for now, before in zip(range(distance, n), range(n), strict=False):
                if way.kinds[now] != way.kinds[before]:
                    continue
                stake *= 1 - share
                if way.results[now] == way.results[before]:
                    alike = (way.results == way.results[now]).sum()
                    of_kind = (way.kinds == way.kinds[now]).sum()
                    chance = max(way.chances[now], alike / of_kind)
                    stake *= (1 - share + share / chance) / (1 - share)
            stakes.append(stake)
        found.append(math.log(sum(stakes) / len(stakes)))
    return found


def test_the_evidence_for_copies_agrees_with_all_pairs() -> None:
    rng = np.random.default_rng(5)
    kinds = rng.integers(0, 3, 90)
    kinds[30:60] = kinds[:30]
    faces = rng.integers(0, 6, 90)
    faces[30:60] = faces[:30]
    chances = np.array([1 / 6, 1 / 9, 1 / 4])[kinds]
    way = ThrowSequence("roll", "rolls", kinds, 10 * kinds + faces, chances)
    assert library._compute_log_evidence_of_repeats(way) == pytest.approx(
        find_copies_slowly(way), rel=1e-9, abs=1e-9
    )
    # Pairs of a frequent result are counted by a Fourier transform.
    coins = rng.integers(0, 2, 2000)
    pairs = [int((coins[lag:] == coins[: 2000 - lag]).sum()) for lag in range(2000)]
    assert library._count_equal_pairs(np.arange(2000), coins).tolist() == pairs


def test_fair_dice_give_no_evidence_of_a_repeated_sequence() -> None:
    # Averaged over all results of six coins, the evidence at each distance is at most 1.
    results = [np.array(each) for each in itertools.product((0, 1), repeat=6)]
    zeros, half = np.zeros(6, dtype=int), np.full(6, 0.5)
    stakes = [
        np.exp(
            library._compute_log_evidence_of_repeats(
                ThrowSequence("coin", "coins", zeros, each, half)
            )
        )
        for each in results
    ]
    assert (np.mean(stakes, axis=0) <= 1 + 1e-12).all()


def test_loaded_dice_are_not_reported_as_a_repeated_sequence() -> None:
    loaded = np.random.default_rng(9).choice(6, 5000, p=[0.05, 0.05, 0.05, 0.05, 0.1, 0.7])
    for faces in (loaded, np.zeros(900, dtype=np.int64)):
        found = find_period([add_sequence(faces)])
        assert found is not None
        assert found.p_value > 0.05
    rolls = write_log(loaded + 1, [(3, 2)] * 1000, is_sorted=True)
    assert p_value(audit(rolls, draws=199), "period") > 0.05


def test_the_order_of_sorted_dice_is_not_tested() -> None:
    faces = sorted(np.random.default_rng(2).integers(1, 7, 300).tolist())
    for log in (faces, faces[::-1]):
        found = audit(log, draws=199)
        assert [each.question for each in found.findings] == ["dice"]
        assert not found.is_ordered
        assert found.alarm is None
        assert found.most_evidence == max(0.0, found.log_evidence)
        assert not found.moments
    assert audit([3, 3, 5, 6]).is_ordered  # four fair dice are often sorted by chance


def test_dice_that_favour_the_computer_are_detected() -> None:
    rng = np.random.default_rng(6)
    loved = np.array([0.1, 0.14, 0.16, 0.18, 0.2, 0.22])
    mine, computers = rng.multinomial(600, DIE), rng.multinomial(600, loved)
    (found,), _ = library.compare_players(
        [add_shared_counts({0: mine, 1: computers}, DIE)], ["Ada", "bot"], rng
    )
    assert found.p_value < 0.001
    wanted = stats.chi2_contingency([mine, computers], correction=False).pvalue
    assert wanted < 0.001
    assert found.interval is not None
    assert found.interval.low == 0 < found.p_value < found.interval.high


def test_dice_that_are_biased_for_everybody_favour_nobody() -> None:
    rng = np.random.default_rng(6)
    loaded = np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.5])
    mine, others = rng.multinomial(500, loaded), rng.multinomial(700, loaded)
    (found,), _ = library.compare_players(
        [add_shared_counts({0: mine, 1: others}, DIE)], ["Ada", "bot"], rng
    )
    wanted = stats.chi2_contingency([mine, others], correction=False).pvalue
    assert found.p_value == pytest.approx(wanted, abs=0.02)
    assert found.p_value > 0.05


@pytest.mark.parametrize("rules", ["classic", "balanced blitz", "capital+balanced blitz"])
def test_battles_of_all_sizes_are_one_kind_of_throw(rules: str) -> None:
    rng = np.random.default_rng(8)
    rows = [
        f"{attackers},{defenders},{end.attackers},{end.defenders}"
        for attackers, defenders in ((4, 3), (9, 6), (12, 10), (25, 20))
        for end in Battle(attackers, defenders, rules).outcomes().sample(400, rng)
    ]
    log = "\n".join(["attackers,defenders,attackers_left,defenders_left", *rows])
    fair = audit(log, rules=rules)
    assert not fair.is_alarm
    assert not fair.impossible
    assert p_value(fair, "battles") > 0.005
    # Under other rules, these battles raise an alarm.
    other = audit(log, rules="balanced blitz" if rules == "classic" else "classic")
    assert other.is_alarm


def test_battles_that_take_too_long_are_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    battle = {"attackers": 999, "attackers_left": 5, "defenders_left": 0}
    many = [battle | {"defenders": defenders} for defenders in range(700, 900)]
    rolls = [
        {"attack_dice": 3, "defence_dice": 2, "attackers_lost": 1, "attackers": 300}
        | {"defenders": 2 + number % 300}
        for number in range(1000)
    ]
    monkeypatch.setattr("iacta.fairness.throws.compute_outcome_chances", None)
    with pytest.raises(
        TooLargeError, match="too large: its different battles and rolls would take too long"
    ):
        audit(many)
    with pytest.raises(TooLargeError, match="row 1: attackers times all defenders must be"):
        audit([rolls[0] | {"attackers": 10_000, "ahead": "1000 1000"}])
    monkeypatch.undo()
    assert audit(rolls, draws=99).lines == 1000  # rolls need less work than battles


def test_impossible_dice_raise_an_alarm() -> None:
    row = {"attackers": 20, "defenders": 15, "attackers_left": 1, "defenders_left": 3}
    assert audit([row], rules="balanced blitz").impossible == 1  # 20 armies always beat 15
    assert audit([row], rules="balanced blitz").is_alarm
    assert not audit([row]).impossible


@pytest.mark.parametrize("degrees", [1, 2, 5, 9, 30, 99])
def test_chi_square_distributions_agree_with_scipy(degrees: int) -> None:
    for x in (0.0, 0.3, 2.0, 11.0, 60.0, 300.0):
        assert library.chi_square_sf(x, degrees) == pytest.approx(
            stats.chi2.sf(x, degrees), rel=1e-9
        )
    for off in (0.5, 7.0, 40.0):
        wanted = stats.ncx2.sf(stats.chi2.isf(0.01, degrees), degrees, off)
        assert library.chi_square_sf(
            library._compute_critical_value(degrees, 0.01), degrees, off
        ) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("throws", [1000, 20_000])
@pytest.mark.parametrize("chances", [DIE, LOSSES], ids=["die", "losses"])
def test_loaded_dice_raise_alarms_as_often_as_stated(throws: int, chances: np.ndarray) -> None:
    rng = np.random.default_rng(throws)
    bias = library.compute_detectable_bias(throws, chances, 0.01)
    assert bias is not None
    worst = int(np.argmax(chances * (1 - chances)))
    loaded = chances - bias * chances / (1 - chances[worst])
    loaded[worst] = chances[worst] + bias
    assert loaded.sum() == pytest.approx(1)
    p_values = fair_p_values(rng.multinomial(throws, loaded, size=LOGS), chances, rng)
    assert (p_values <= 0.01).mean() == pytest.approx(0.9, abs=0.03)
    assert library.count_throws_needed(bias, chances, 0.01) == pytest.approx(throws, abs=1)


@pytest.mark.parametrize("way", ["dice", "rolls", "battles"])
def test_the_power_accounts_for_all_tests(way: str) -> None:
    found = audit(make_fair_log(way, 60, np.random.default_rng(1)), draws=99)
    assert len(found.findings) == count_tests(way)
    answer = ask("audit", power=True, rolls=60)
    assert isinstance(answer, PowerAnswer)
    (kind,) = (each for each in answer.kinds if each.name.startswith(way))
    assert kind.level == pytest.approx(0.01 / len(found.findings))
    throws = {"dice": 0, "rolls": 2, "battles": 0}[way]
    assert found.throws[throws].kind == way
    if way != "rolls":
        assert answer.record()["bias_seen"][answer.kinds.index(kind)][
            "bias"
        ] == found.compute_detectable_bias(found.throws[throws])


@pytest.mark.slow
def test_dice_raise_the_alarm_as_often_as_the_power_says() -> None:
    rng = np.random.default_rng(1)
    bias = ask("audit", power=True, rolls=2892).record()["bias_seen"][0]["bias"]
    loaded = np.full(6, 1 / 6 - bias / 5)
    loaded[5] = 1 / 6 + bias
    logs = rng.choice(np.arange(1, 7), size=(30, 2892), p=loaded).tolist()
    alarms = sum(audit(faces, draws=9999, seed=n).is_alarm for n, faces in enumerate(logs))
    assert alarms >= 30 * (0.9 - 3 * math.sqrt(0.09 / 30))


@pytest.mark.parametrize("bias", ["1e-300", "1e-200", 1e-9])
def test_a_bias_too_small_for_any_log_is_refused(bias: str | float) -> None:
    with pytest.raises(IllegalError, match=r"bias must be at least 0\.0001%, got"):
        ask("audit", power=True, bias=bias)
    (needed, *_) = ask("audit", power=True, bias="0.0001%").record()["rolls_needed"]
    assert needed["count"] > 10**12


def test_too_few_rolls_for_any_alarm_reveal_no_bias() -> None:
    chances = np.array([15, 21]) / 36  # one die against one
    assert (
        library.compute_detectable_bias(8, chances, 0.01) is None
    )  # losing all 8 rolls has a chance of 0.0134
    assert library.compute_detectable_bias(12, chances, 0.01) is not None
    assert library.count_throws_needed(0.45, chances, 0.01) > 8


@pytest.mark.parametrize("bias", [0.01, 0.1])
@pytest.mark.parametrize("loss", [0.00038, 1e-11, 0.2], ids=["9 v 1", "25 v 1", "ordinary"])
def test_the_power_for_two_results_is_that_of_the_binomial_test(loss: float, bias: float) -> None:
    level = 0.01 / 4
    throws = np.arange(1, 6000)
    wanted = 0
    for chance in (loss, 1 - loss):
        if chance + bias <= 1:
            critical = stats.binom.isf(level / 2, throws, chance) + 1
            is_enough = stats.binom.sf(critical - 1, throws, chance + bias) >= 0.9
            wanted = max(wanted, int(throws[np.argmax(is_enough)]))
    chances = np.array([1 - loss, loss])
    if bias == 0.1 or loss < 0.1:
        assert library.count_throws_needed(bias, chances, level) == wanted
        found = library.compute_detectable_bias(wanted, chances, level)
        assert found is not None
        assert found <= bias * 1.001
    else:
        assert library.count_throws_needed(bias, chances, level) > 6000 > wanted == 1


@for_each("throws", [1, 30, 10_000, 10**7])
@for_each("chance", [0.0, 1e-6, 0.3, 0.9, 1.0])
def test_binomial_tails_agree_with_scipy(throws: int, chance: float) -> None:
    spread = math.sqrt(throws * chance * (1 - chance))
    for off in (-3, 0, 3):
        count = round(throws * chance + off * spread)
        assert library.binomial_tail(throws, count, chance) == pytest.approx(
            stats.binom.sf(count - 1, throws, chance), rel=1e-5, abs=1e-12
        )


@pytest.mark.parametrize(
    ("battle", "needed"), [("25,1,no", 230), ("9,1,no", 512), ("60,1,yes", 230)]
)
def test_a_favourite_that_may_lose_needs_a_few_hundred_battles(battle: str, needed: int) -> None:
    answer = ask("audit", log=f"attackers,defenders,won\n{battle}")
    *_, power = answer.sections()
    (line,) = power.parts
    assert str(line).endswith(f"to notice 1% takes {needed:,}.")


def test_luck_is_the_result_minus_its_mean() -> None:
    trial = Trial("roll", 3, 2, CLASSIC)
    attackers, defenders = Roll(3, 2).expected_losses()
    mean, variance = compute_army_moments(trial)
    assert mean == pytest.approx(float(defenders - attackers))
    square = sum(
        float(p) * (each.defenders - each.attackers) ** 2 for each, p in Roll(3, 2).losses().items()
    )
    assert variance == pytest.approx(square - mean**2)
    rolls = [(0, 2), (2, 0), (2, 0), (1, 1)]
    names = {"player": "Ada", "opponent": "Ben"}
    dice = {"attack_dice": 3, "defence_dice": 2}
    found = audit([dice | names | {"attackers_lost": ours} for ours, _ in rolls])
    ada, ben = sorted(found.lucks)
    assert (ada.result, ben.result) == (-2, 2)
    assert ada.armies == pytest.approx(-2 - 4 * mean)
    assert ada.armies == -ben.armies
    assert ada.spread == pytest.approx(math.sqrt(4 * variance))
    assert ada.as_bad == pytest.approx(ben.as_good)


def test_the_distribution_of_luck_is_exact() -> None:
    thrown = {
        (Trial("roll", 3, 2, CLASSIC), 1): 3,
        (Trial("roll", 1, 2, CLASSIC), -1): 2,
        (Trial("battle", 5, 3, CLASSIC), 1): 1,
    }
    total = {0: 1.0}
    for (trial, sign), count in thrown.items():
        for _ in range(count):
            longer: dict[int, float] = {}
            for before, p in total.items():
                for (ours, theirs), q in compute_outcome_chances(trial).items():
                    gain = before + sign * (theirs - ours)
                    longer[gain] = longer.get(gain, 0.0) + p * q
            total = longer
    for result in (-4, 0, 3):
        found = measure_luck("Ada", Gain(6, result, 0, 0, 0, 0), thrown)
        assert found.as_bad == pytest.approx(sum(p for gain, p in total.items() if gain <= result))
        assert found.as_good == pytest.approx(sum(p for gain, p in total.items() if gain >= result))


@pytest.mark.parametrize("names", ["", ",player", ",player,opponent"])
def test_luck_over_time_ends_with_the_luck_of_all_throws(names: str) -> None:
    rolls = ["653,42", "441,63", "621,55", "533,31", "662,62", "43,5"]
    called = {"": "", ",player": ",Ada", ",player,opponent": ",Ada,Ben"}[names]
    found = audit("\n".join([f"attack,defence{names}", *(roll + called for roll in rolls)]))
    luck = {each.player: each.armies for each in found.lucks}
    assert abs(luck[found.players[0]]) > 2
    assert found.players == (tuple(called.split(",")[1:]) or ("",))
    for number, player in enumerate(found.players):
        assert found.moments[-1].armies[number] == pytest.approx(luck[player])


def test_luck_in_chance_adds_up_to_the_end_of_the_battle() -> None:
    # In a battle, luck alone moves the chance to win from its first value to 0 or 1.
    rng = np.random.default_rng(3)
    attackers, defenders = 9, 7
    rows = ["attack_dice,defence_dice,attackers_lost,attackers,defenders"]
    start = float(Battle(attackers, defenders).win_probability())
    while attackers > 1 and defenders:
        dice = min(attackers - 1, 3), min(defenders, 2)
        losses = Roll(*dice).losses().to_float().sample(1, rng)[0]
        rows.append(f"{dice[0]},{dice[1]},{losses.attackers},{attackers},{defenders}")
        attackers, defenders = attackers - losses.attackers, defenders - losses.defenders
    (luck,) = audit("\n".join(rows)).lucks
    assert luck.wins == pytest.approx(float(not defenders) - start, abs=1e-9)
    gained, variance = measure_chance_luck(Trial("battle", 9, 7, CLASSIC), None, (2, 7))
    assert gained == pytest.approx(1 - start)
    assert variance == pytest.approx(start * (1 - start))


def test_luck_in_a_campaign_counts_all_territories_ahead() -> None:
    ahead = (Territory(2), Territory(3, rules="capital"))
    armies = (14, 5)
    trial = Trial("roll", 3, 2, CLASSIC)
    found = compute_outcome_chances(trial)
    before = float(Campaign(14, [5, *ahead]).win_probability())
    gains = {each: measure_chance_luck(trial, armies, each, ahead) for each in found}
    assert sum(p * gains[each][0] for each, p in found.items()) == pytest.approx(0, abs=1e-12)
    after = float(Campaign(14, [3, *ahead]).win_probability())
    assert gains[0, 2][0] == pytest.approx(after - before, abs=1e-12)
    # After the battle, 6 of 8 attackers are left, and 5 of them move on.
    whole = Trial("battle", 8, 5, CLASSIC)
    won, _ = measure_chance_luck(whole, None, (2, 5), ahead)
    start = float(Campaign(8, [5, *ahead]).win_probability())
    assert won == pytest.approx(float(Campaign(5, ahead).win_probability()) - start, abs=1e-12)
    lost, _ = measure_chance_luck(whole, None, (7, 4), ahead)
    assert lost == pytest.approx(-start, abs=1e-12)
    row = {"attackers": 8, "defenders": 5, "attackers_left": 6, "defenders_left": 0}
    (luck,) = audit([row | {"ahead": "2 3:capital"}]).lucks
    assert luck.wins == pytest.approx(won)


def test_luck_with_a_plan_is_the_change_of_its_chance() -> None:
    roll = {"attack_dice": 3, "defence_dice": 2}
    rows = [
        roll | {"attackers_lost": 0, "chance_before": "60%", "chance_after": 0.72},
        roll | {"attackers_lost": 2, "chance_before": 0.72, "chance_after": "0"},
    ]
    (luck,) = audit(rows).lucks
    assert luck.wins == pytest.approx(-0.6)
    assert luck.wins_spread == pytest.approx(math.sqrt(0.6 * 0.4))


@pytest.mark.parametrize(("way", "players"), [("sorted rolls", 1), *((way, 3) for way in WAYS)])
def test_whole_audits_of_fair_logs_raise_no_more_alarms_than_stated(way: str, players: int) -> None:
    # For 2,000 longer logs of each kind: python -m benchmarks.audits
    logs, rng = 40, np.random.default_rng(players)
    p_values: dict[str, list[float]] = {}
    most = np.zeros(logs)
    for n in range(logs):
        found = audit(make_fair_log(way, 40, rng, players), draws=99, seed=n)
        for each in found.findings:
            p_values.setdefault(each.question, []).append(each.p_value)
        p_values.setdefault("any", []).append(min(found.corrected))
        most[n] = found.most_evidence
    assert len(p_values) - 1 == len(found.findings)
    for level in (0.05, 0.3):
        spread = 4 * math.sqrt(level * (1 - level) / logs)
        for shares in p_values.values():
            assert (np.array(shares) <= level).sum() <= logs * (level + spread)
        assert (most >= -math.log(level)).mean() <= level + spread


def test_all_results_of_95_of_100_fair_logs_are_in_their_bands() -> None:
    rng, inside, runs = np.random.default_rng(3), 0, 300
    for _ in range(runs):
        found = audit([*map(int, rng.integers(1, 7, 120))], draws=1)
        pairs = zip(found.results, found.compute_fair_intervals(), strict=True)
        inside += all(low <= each.seen <= high for each, (low, high) in pairs)
    assert 0.92 <= inside / runs <= 0.99  # 95% ± four standard deviations
