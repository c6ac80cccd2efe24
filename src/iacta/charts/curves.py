"""Pictures of chances as curves."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from iacta.charts.lines import Axis, Lines, draw_lines, read_lines
from iacta.charts.theme import AnyChart, Row, finish
from iacta.charts.words import armies, per_cent, under_rules
from iacta.checks import whole_number
from iacta.questions.arrays import win_probability
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules, rules_name

__all__ = ["CHANCE", "MOST_ARMIES", "curves_by_advantage", "curves_by_delta", "curves_by_match_up"]

CHANCE = Axis("win_probability", "chance to win", 0, 1, "%")
ATTACKERS = "attackers, garrison included"
MOST_ARMIES = 1_000  # more points than these make a picture slow, and no clearer


def curves_by_delta(
    deltas: Sequence[int], defenders: int, rules: Rules | str = "classic", label: str = ""
) -> AnyChart:
    """Return the chance to win by the number of defenders, a curve for each lead of the attackers.

    deltas: how many more attackers than defenders there are, garrison included; fewer if negative.
    defenders: the most defenders.
    rules: `Rules`, or the name of a rule set.
    label: what the rules are called, if they have no name of their own.

    Battles without an attacker are left out. More than 20 deltas are refused, and more than 1000
    defenders.

    Source: the chart of Norvig, "The Unfinished Game ... of Risk".
    """
    most = whole_number(defenders, "defenders", least=1, most=MOST_ARMIES)
    leads = read_lines(deltas, "deltas", least=1 - most)
    found = find_rules(rules)
    against = np.arange(1, most + 1)
    rows = _rows(
        found, "delta", [(delta, np.maximum(against + delta, 0), against) for delta in leads]
    )
    lines = Lines(
        Axis("defenders", "defenders", 0, most),
        CHANCE,
        "delta",
        "attackers less defenders",
        leads,
        [f"{delta:+d}" if delta else "0" for delta in leads],
    )
    return finish(
        draw_lines(lines, "curves", rows),
        _title(
            f"Against {armies(most, 'defender')}", rows, "delta", [_lead(each) for each in leads]
        ),
        "Chance to win, by the defenders; at the end of each line, how many attackers more than "
        f"defenders there are, garrison included ({_under(found, label)}).",
        {"curves": rows},
    )


def curves_by_match_up(
    defenders: Sequence[int], attackers: int, rules: Rules | str = "classic", label: str = ""
) -> AnyChart:
    """Return the chance to win by the number of attackers, a curve for each number of defenders.

    defenders: armies on the defended territory.
    attackers: the most attackers, garrison included.
    rules: `Rules`, or the name of a rule set.
    label: what the rules are called, if they have no name of their own.

    More than 20 numbers of defenders are refused, and more than 1000 attackers.

    Source: the curves by match-up of "Analyzing the Board Game Risk" (pracpred).
    """
    most = whole_number(attackers, "attackers", least=1, most=MOST_ARMIES)
    defended = read_lines(defenders, "defenders", least=1)[::-1]
    found = find_rules(rules)
    count = np.arange(1, most + 1)
    rows = _rows(found, "defenders", [(d, count, np.full(most, d)) for d in defended])
    lines = Lines(
        Axis("attackers", ATTACKERS, 0, most),
        CHANCE,
        "defenders",
        "defenders",
        defended,
        [str(d) for d in defended],
    )
    return finish(
        draw_lines(lines, "curves", rows),
        _title(f"With {armies(most)}", rows, "defenders", [f"against {d}" for d in defended]),
        "Chance to win, by the attackers; at the end of each line, how many defenders there are "
        f"({_under(found, label)}).",
        {"curves": rows},
    )


def curves_by_advantage(
    advantages: Sequence[int], attackers: int, rules: Rules | str = "classic", label: str = ""
) -> AnyChart:
    """Return the chance to win by the number of attackers, a curve for each advantage over them.

    advantages: how many more attackers than defenders there are, garrison included; fewer if
        negative.
    attackers: the most attackers, garrison included.
    rules: `Rules`, or the name of a rule set.
    label: what the rules are called, if they have no name of their own.

    Battles without a defender are left out. More than 20 advantages are refused, and more than
    1000 attackers.

    Source: the curves by attacker advantage of "Analyzing the Board Game Risk" (pracpred), which
    leaves the garrison out.
    """
    most = whole_number(attackers, "attackers", least=2, most=MOST_ARMIES)
    leads = read_lines(advantages, "advantages", most=most - 1)
    found = find_rules(rules)
    count = np.arange(1, most + 1)
    rows = _rows(found, "advantage", [(lead, count, count - lead) for lead in leads])
    lines = Lines(
        Axis("attackers", ATTACKERS, 0, most),
        CHANCE,
        "advantage",
        "attackers less defenders",
        leads,
        [f"{lead:+d}" if lead else "0" for lead in leads],
    )
    return finish(
        draw_lines(lines, "curves", rows),
        _title(f"With {armies(most)}", rows, "advantage", [_against(lead) for lead in leads]),
        "Chance to win, by the attackers; at the end of each line, how many of them more than "
        f"defenders there are, garrison included ({_under(found, label)}).",
        {"curves": rows},
    )


Whole = npt.NDArray[np.int64]


def _rows(rules: Rules, column: str, curves: list[tuple[int, Whole, Whole]]) -> list[Row]:
    """Return the points of curves, each told by its value, its attackers and its defenders."""
    rows: list[Row] = []
    for value, attackers, defenders in curves:
        is_battle = (attackers > 0) & (defenders > 0)
        fought = attackers[is_battle], defenders[is_battle]
        chances = win_probability(*fought, rules)
        rows += [
            {"attackers": a, "defenders": d, column: value, "win_probability": chance}
            for a, d, chance in zip(*(each.tolist() for each in (*fought, chances)), strict=True)
        ]
    return rows


def _title(situation: str, rows: Sequence[Row], column: str, cases: Sequence[str]) -> str:
    """Return what the first and the last curve come to at their ends."""
    last = {row[column]: per_cent(row["win_probability"]) for row in rows}
    low, high = next(iter(last.values())), next(reversed(last.values()))
    sentence = f"{situation} you win {low} of the time {cases[0]}"
    return f"{sentence}." if len(cases) == 1 else f"{sentence}, {high} {cases[-1]}."


def _lead(delta: int) -> str:
    if not delta:
        return "with as many armies"
    return f"with {armies(abs(delta))} {'more' if delta > 0 else 'fewer'}"


def _against(lead: int) -> str:
    if not lead:
        return "against as many"
    return f"against {abs(lead)} {'fewer' if lead > 0 else 'more'}"


def _under(rules: Rules, label: str) -> str:
    return under_rules(label or rules_name(rules), rules.garrison)
