"""Logs of totals: p-values agree with enumeration and SciPy, and remarks give the limits."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from iacta import Battle, audit
from iacta.fairness.audit import Audit
from iacta.fairness.p_values import Finding
from iacta.fairness.sums import compute_share_interval, compute_win_tails
from iacta.fairness.totals import compute_loss_moments, compute_loss_tail
from iacta.inputs.errors import IllegalError
from iacta.questions import ask

# By enumeration: of 7776 rolls of 3 dice against 2, 2890 cost the attackers nothing, 2611 one army
# and 2275 two; of 1296 rolls of 3 against 1, 855 cost them nothing and 441 one army.
THREE_TWO = {0: Fraction(2890, 7776), 1: Fraction(2611, 7776), 2: Fraction(2275, 7776)}
THREE_ONE = {0: Fraction(855, 1296), 1: Fraction(441, 1296)}
QUOTED = "100,000 rolls 3 v 2: attackers lost 92,351, defenders 107,649"
ROWS = "rolls,attack_dice,defence_dice,attackers_lost,defenders_lost\n"


def find_finding(audited: Audit, question: str) -> Finding:
    """Return the finding of a test."""
    (each,) = (each for each in audited.findings if each.question == question)
    return each


def moments(chances: dict[int, Fraction]) -> tuple[float, float]:
    """Return the mean and the variance of a distribution."""
    mean = sum(lost * p for lost, p in chances.items())
    return float(mean), float(sum(lost * lost * p for lost, p in chances.items()) - mean**2)


def normal_tails(rolls: int, lost: int) -> float:
    """Return the normal approximation to the chance of losses at least this far from the mean."""
    mean, variance = moments(THREE_TWO)
    off, spread = abs(lost - rolls * mean), math.sqrt(rolls * variance)
    few, many = math.floor(rolls * mean - off + 1e-6), math.ceil(rolls * mean + off - 1e-6)
    # Sums are whole numbers, so the normal tails begin half an army earlier.
    low, high = (few + 0.5 - rolls * mean) / spread, (many - 0.5 - rolls * mean) / spread
    return float(stats.norm.cdf(low) + stats.norm.sf(high))


def exact_sum(chances: dict[int, Fraction], rolls: int) -> dict[int, Fraction]:
    """Return the distribution of the losses in some rolls, adding one roll at a time."""
    total = {0: Fraction(1)}
    for _ in range(rolls):
        more: dict[int, Fraction] = {}
        for (before, p), (lost, q) in itertools.product(total.items(), chances.items()):
            more[before + lost] = more.get(before + lost, Fraction(0)) + p * q
        total = more
    return total


def test_the_quoted_totals_are_1_01_standard_deviations_off() -> None:
    mean, variance = moments(THREE_TWO)
    z = (92_351 - 100_000 * mean) / math.sqrt(100_000 * variance)
    found = audit(QUOTED)
    assert round(z, 2) == 1.01
    each = find_finding(found, "totals")
    assert each.statistic == pytest.approx(z, rel=1e-12)
    assert each.p_value == pytest.approx(normal_tails(100_000, 92_351), abs=1e-6)
    assert found.lines == 100_000
    assert not found.is_alarm
    assert [kind.total for kind in found.throws] == [200_000]
    (luck,) = found.lucks
    assert luck.armies == pytest.approx(-2 * (92_351 - 100_000 * mean))
    assert luck.spread == pytest.approx(2 * math.sqrt(100_000 * variance))
    assert luck.result == 107_649 - 92_351


@pytest.mark.parametrize(
    "log",
    [
        ROWS + "100000,3,2,92351,107649\n",
        ROWS + "60000,3,2,50000,70000\n40000,3,2,42351,37649\n",
        ROWS.replace("rolls,", "count,") + "100000,3,2,92351,107649\n",
        "rolls,attack_dice,defence_dice,defenders_lost\n100000,3,2,107649\n",
        [{"rolls": 100_000, "attack_dice": 3, "defence_dice": 2, "attackers_lost": 92_351}],
    ],
    ids=str,
)
def test_totals_in_columns_show_what_the_sentence_shows(log: Any) -> None:
    one, other = audit(log), audit(QUOTED)
    assert [each[:4] for each in one.findings] == [each[:4] for each in other.findings]
    assert [each.counts.tolist() for each in one.throws] == [[92_351, 107_649]]
    for mine, theirs in zip(one.lucks[0], other.lucks[0], strict=True):
        assert mine == theirs if isinstance(mine, str) else mine == pytest.approx(theirs)


@pytest.mark.parametrize(("rolls", "lost"), [(1, 2), (7, 0), (40, 52), (40, 37)])
def test_p_values_of_totals_agree_with_enumerated_sums(rolls: int, lost: int) -> None:
    total = exact_sum(THREE_TWO, rolls)
    mean = rolls * Fraction(7161, 7776)
    wanted = sum(float(p) for n, p in total.items() if abs(n - mean) >= abs(lost - mean))
    assert sum(total.values()) == 1
    found = audit(f"{ROWS}{rolls},3,2,{lost},{2 * rolls - lost}\n")
    each = find_finding(found, "totals")
    assert each.how == "exact"
    assert each.p_value == pytest.approx(wanted, rel=1e-9)


def test_long_totals_are_nearly_normal() -> None:
    chances = {lost: float(p) for lost, p in THREE_TWO.items()}
    mean, variance = compute_loss_moments(chances)
    assert (mean, variance) == pytest.approx(moments(THREE_TWO))
    for rolls in (131_071, 131_072, 10**9):  # the first case uses a Fourier transform
        lost = round(rolls * mean + 2.5 * math.sqrt(rolls * variance))
        tail, _ = compute_loss_tail(chances, rolls, lost)
        assert tail == pytest.approx(normal_tails(rolls, lost), rel=1e-4)


def test_several_kinds_of_rolls_are_one_question() -> None:
    found = audit(ROWS + "1000,3,2,960,1040\n500,3,1,190,310\n")
    each = find_finding(found, "totals")
    off = []
    for chances, rolls, lost in ((THREE_TWO, 1000, 960), (THREE_ONE, 500, 190)):
        mean, variance = moments(chances)
        off.append((lost - rolls * mean) / math.sqrt(rolls * variance))
    assert each.statistic == pytest.approx(sum(z * z for z in off))
    assert each.interval is not None
    assert each.interval.low - 0.005 < stats.chi2.sf(each.statistic, 2) < each.interval.high + 0.005
    assert len(found.findings) == 1


def test_intervals_of_totals_are_as_wide_as_totals_vary() -> None:
    found = audit(QUOTED)
    ours, theirs = found.results
    assert (ours.seen, theirs.seen) == (92_351, 107_649)
    _, variance = moments(THREE_TWO)
    z = stats.norm.isf(0.01 / 2 / 2)  # two-sided, and Bonferroni for two results
    assert ours.high - ours.low == pytest.approx(2 * z * math.sqrt(100_000 * variance), rel=0.01)
    low, high = next(found.compute_fair_intervals())
    z = stats.norm.isf(0.05 / 4)
    assert high - low == pytest.approx(2 * z * math.sqrt(100_000 * variance), rel=1e-9)


def test_loaded_totals_are_found_as_often_as_stated() -> None:
    found = audit(QUOTED)
    (totals,) = found.throws
    bias = found.compute_detectable_bias(totals)
    assert bias is not None
    _, variance = moments(THREE_TWO)
    moved = 2 * 100_000 * bias / math.sqrt(100_000 * variance)
    limit = stats.norm.isf(0.005)
    assert stats.norm.sf(limit - moved) == pytest.approx(0.9, abs=0.01)


def test_totals_need_rolls_with_a_fixed_total_loss() -> None:
    assert audit(QUOTED, rules="zombie defender").is_alarm
    with pytest.raises(IllegalError, match="to audit single rolls"):
        audit(QUOTED, rules="defender sees first")
    with pytest.raises(IllegalError, match="always take the same number of armies"):
        audit(QUOTED, rules="five ones")


def test_totals_and_rolls_may_be_mixed() -> None:
    rows = [
        {"rolls": 1000, "attack_dice": 3, "defence_dice": 2, "attackers_lost": 921},
        {"attack": "6 4 1", "defence": "5 3"},
    ]
    found = audit(rows, draws=99)
    assert {each.question for each in found.findings} >= {"totals", "rolls", "attack dice"}
    assert found.lines == 1001
    assert not found.is_ordered
    only = audit(rows[1:], draws=99)
    assert found.log_evidence == pytest.approx(only.log_evidence)  # totals add no evidence


# Battles of which only the winner is known.

FOUGHT = ((6, 1, False), (9, 3, False), (7, 2, True))


def find_chance_of_few_wins(chances: list[float], most: int) -> float:
    """Return the chance to win at most a number of battles, as a sum over all results."""
    total = 0.0
    for ends in itertools.product((0, 1), repeat=len(chances)):
        if sum(ends) <= most:
            total += math.prod(p if end else 1 - p for p, end in zip(chances, ends, strict=True))
    return total


def test_the_quoted_battles_are_compared_with_all_results() -> None:
    chances = [Battle(ours, theirs).win_probability() for ours, theirs, _ in FOUGHT]
    wanted = find_chance_of_few_wins(chances, 1)
    found = audit("6 v 1 lost, 9 v 3 lost, 7 v 2 won")
    each = find_finding(found, "wins")
    assert each.p_value == pytest.approx(2 * wanted, rel=1e-9)
    assert round(100 * wanted, 2) == 0.46
    assert "fair dice win at most 1 with a chance of 0.46%" in each.detail
    (luck,) = found.lucks
    assert luck.wins == pytest.approx(1 - sum(chances))
    assert luck.wins_spread == pytest.approx(math.sqrt(sum(p * (1 - p) for p in chances)))
    assert luck.as_bad == pytest.approx(wanted, rel=1e-9)
    assert luck.armies == luck.spread == 0


def test_four_chances_with_one_success_have_the_enumerated_probability() -> None:
    at_most, at_least = compute_win_tails({(p, 1 - p): 1 for p in (0.9, 0.8, 0.7, 0.6)}, 1)
    assert at_most == pytest.approx(find_chance_of_few_wins([0.9, 0.8, 0.7, 0.6], 1))
    assert at_least == pytest.approx(1 - find_chance_of_few_wins([0.9, 0.8, 0.7, 0.6], 0))
    assert round(100 * at_most, 2) == 4.28


@pytest.mark.parametrize(
    ("fought", "p", "won"),
    [(50, 0.3, 22), (2000, 0.999, 1990), (20_000, 0.4, 8200), (10**12, 1e-11, 22)],
)
def test_numbers_of_battles_won_are_binomial(fought: int, p: float, won: int) -> None:
    at_most, at_least = compute_win_tails({(p, 1 - p): fought}, won)
    error = 1e-3 if fought * p * (1 - p) > 2500 else 1e-9
    assert at_most == pytest.approx(stats.binom.cdf(won, fought, p), rel=error)
    assert at_least == pytest.approx(stats.binom.sf(won - 1, fought, p), rel=error)


def test_losing_almost_certain_battles_raises_an_alarm() -> None:
    one = audit("25 v 1 lost")
    wanted = 1 - Battle(25, 1).win_probability(exact=True)
    assert find_finding(one, "wins").p_value == pytest.approx(2 * float(wanted), rel=1e-9)
    assert one.is_alarm
    far = audit("200 v 1 lost")  # the chance to win is 1 as a float, but a win is not certain
    assert (far.is_alarm, far.impossible) == (True, 0)
    assert 0 < find_finding(far, "wins").p_value < 1e-30
    assert audit("21 v 15 lost", rules="balanced blitz").impossible == 1
    answer = ask("audit", log="attackers,defenders,won\n600,1,no\n")  # a chance of 1e-280
    head = str(next(iter(answer.sections())).parts[0])
    assert "1 result is impossible, or too unlikely to compute, under the rules" in head


def test_battles_of_which_only_the_winner_is_known_are_tested_as_chances_are() -> None:
    rows = [
        {"chance_before": Battle(ours, theirs).win_probability(), "chance_after": int(won)}
        for ours, theirs, won in FOUGHT
    ]
    battles, chances = audit("6 v 1 lost, 9 v 3 lost, 7 v 2 won"), audit(rows)
    for one, other in zip(battles.findings, chances.findings, strict=True):
        assert one.question == {"chances": "wins"}.get(other.question, other.question)
        assert one.p_value == pytest.approx(other.p_value)
    assert battles.is_ordered
    assert battles.log_evidence == pytest.approx(chances.log_evidence)
    assert [each.throws for each in battles.moments] == [1, 2, 3]
    assert battles.lucks[0][1:] == pytest.approx(chances.lucks[0][1:])


def test_an_extreme_battle_is_detected_despite_the_expected_number_of_wins() -> None:
    found = audit("9 v 8 won, 9 v 8 lost, " * 40 + "25 v 1 lost")
    assert find_finding(found, "wins").p_value > 0.1
    assert found.is_alarm
    each = find_finding(found, "most extreme")
    assert each.detail == "25 against 1 lost"
    assert each.p_value < 1e-9


def test_all_kinds_of_lines_make_one_log() -> None:
    rows = [
        {"chance_before": 0.9, "chance_after": 0, "player": "Ada"},
        {"chance_before": 0.5, "chance_after": 0.7, "player": "Ada"},
        {"attackers": 6, "defenders": 1, "won": False, "player": "Ada"},
        {"rolls": 100, "attack_dice": 3, "defence_dice": 2, "attackers_lost": 92, "player": "Ada"},
        {"attackers": 9, "defenders": 5, "attackers_left": 4, "defenders_left": 0, "player": "Ben"},
        {"attack": "6 4 1", "defence": "5 3", "player": "Ben"},
        {"die": 3},
    ]
    found = audit(rows, draws=99)
    questions = {each.question for each in found.findings}
    assert questions >= {"dice", "rolls", "battles", "totals", "wins", "chances", "luck", "spread"}
    assert (found.lines, found.chances, found.impossible) == (106, 2, 0)
    assert find_finding(found, "chances").how == "bound"
    assert find_finding(found, "wins").p_value == pytest.approx(
        2 * (1 - Battle(6, 1).win_probability())
    )
    ada, ben = found.lucks
    mean, _ = moments(THREE_TWO)
    assert ada.armies == pytest.approx(-2 * (92 - 100 * mean))  # rows of chances have no armies
    assert ada.wins == pytest.approx(-0.9 + 0.2 - Battle(6, 1).win_probability())
    assert (ada.throws, ben.throws) == (103, 2)


def test_a_stated_chance_needs_no_other_column() -> None:
    row = {"chance_before": 0.5, "chance_after": 1, "won": True}
    found = audit([row | {"attackers": 9, "defenders": 3}])
    assert found.unread == ("chance_before", "chance_after")
    assert found.lucks[0].wins == pytest.approx(1 - Battle(9, 3).win_probability())
    found = audit([row])
    assert (found.unread, found.chances) == (("won",), 1)


@pytest.mark.parametrize(
    "log",
    [
        "attackers,defenders,won,count\n9,8,yes,500000000\n",
        "attackers,defenders,won,count\n9,8,no,1000000000000\n9,3,yes,1000000000000\n",
        "attackers,defenders,attackers_left,defenders_left,count\n9,8,9,0,500000000\n",
        "chance_before,chance_after,count\n0.5,1,1000000000000\n",
        "1000000000000 rolls 3 v 2: attackers lost 0, defenders 2000000000000",
    ],
)
def test_nearly_impossible_long_logs_take_little_memory(log: str) -> None:
    found = audit(log, draws=9)
    assert found.is_alarm
    assert all(0 <= each.p_value <= 1 for each in found.findings)


def test_luck_of_both_sides_of_battles_is_opposite() -> None:
    rows = [
        {"attackers": ours, "defenders": theirs, "won": won, "player": "Ada", "opponent": "Ben"}
        for ours, theirs, won in FOUGHT
    ]
    ada, ben = audit(rows).lucks
    assert ada.wins == pytest.approx(-ben.wins)
    assert (ada.as_bad, ada.as_good) == pytest.approx((ben.as_good, ben.as_bad))


def test_intervals_of_shares_agree_with_clopper_and_pearson() -> None:
    for won, fought in ((0, 3), (3, 10), (99, 100)):
        wanted = stats.binomtest(won, fought).proportion_ci(0.99, method="exact")
        assert compute_share_interval(won, fought, 0.99) == pytest.approx((wanted.low, wanted.high))


def test_fair_totals_and_battles_raise_no_more_alarms_than_stated() -> None:
    rng, logs = np.random.default_rng(5), 2000
    sizes = [(3, 1), (4, 4), (9, 3), (6, 8), (12, 10)]
    chances = [Battle(*size).win_probability() for size in sizes]
    wins = np.zeros(logs)
    totals = np.zeros(logs)
    row = {lost: float(p) for lost, p in THREE_TWO.items()}
    for n in range(logs):
        count = int(rng.integers(1, 9))
        fought = {(p, 1 - p): count for p in chances}
        won = int(sum(rng.binomial(count, p) for p in chances))
        wins[n] = min(1.0, 2 * min(compute_win_tails(fought, won)))
        rolls = int(rng.integers(1, 300))
        lost = int(rng.multinomial(rolls, [*row.values()]) @ [*row])
        totals[n], _ = compute_loss_tail(row, rolls, lost)
    for level in (0.01, 0.05, 0.2):
        spread = 4 * math.sqrt(level * (1 - level) / logs)
        assert (wins <= level).mean() <= level + spread
        assert (totals <= level).mean() <= level + spread


# Sentences of the answer.


@pytest.mark.parametrize(
    ("log", "limit"),
    [
        (QUOTED, "Totals cannot show how often each face or loss came up"),
        ("6 v 1 lost", "cannot show losses, and its order is not tested"),
        ("3\n6\n2\n", "Single dice cannot show luck, or whether the losses match"),
        ("attack,defence\n6 4 1,5 3\n", None),
    ],
)
def test_the_answer_states_the_limits_of_a_log(log: str, limit: str | None) -> None:
    answer = ask("audit", log=log)
    head = " ".join(map(str, next(iter(answer.sections())).parts))
    assert ("cannot show" in head) == (limit is not None)
    assert limit is None or limit in head
    assert ("evidence" in head) == (log != QUOTED)


def test_the_answer_names_the_totals_and_the_battles() -> None:
    head = " ".join(map(str, next(iter(ask("audit", log=QUOTED).sections())).parts))
    assert "the attackers lost 92,351 armies, 260.0 more than average (z = +1.01)" in head
    assert "with the loss of 200,000 armies, the share of a side off by 0.50%" in head
    head = " ".join(map(str, next(iter(ask("audit", log="25 v 1 lost").sections())).parts))
    assert (
        "one battle has a result that is too unlikely, 25 against 1 lost. Among fair logs" in head
    )
    _, _, counted, luck, _ = ask("audit", log="6 v 1 lost, 9 v 3 lost").sections()
    assert luck.title == "Luck, in wins:"
    assert counted.title == "How often each result came up:"
