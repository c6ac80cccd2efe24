"""Sentences about impossible outcomes say 0%, although their chances are floats."""

import re
from typing import Any

import pytest

from iacta import Campaign, StopRule, Territory, ask
from iacta.forms.sections import Shaded, Table
from iacta.rules.modes import ArmiesGrow
from iacta.rules.rules import Rules
from iacta.rules.variants import find_rules

POSITION = "1;classic;red;Peru:red:3,Brazil:blue:2,North%20Africa:blue:3,Egypt:blue:1,Siam:blue:3"
ROUNDED = re.compile(r"(less than|more than|<|>) (0|99)\.")

IMPOSSIBLE: list[tuple[str, dict[str, Any], str]] = [
    (
        "campaign",
        {"attackers": 2, "territories": [3, 3]},
        "take all 2 territories with a chance of 0%",
    ),
    (
        "campaign",
        {"attackers": 6, "territories": [1, "1@5", 1]},
        "all 3 territories with a chance of 0%",
    ),
    ("campaign", {"attackers": 5, "territories": [1, 1], "hold_back": 3}, "with a chance of 0%"),
    ("campaign", {"attackers": 9, "territories": [1, 1, 1, 1, 1], "rules": "war"}, "chance of 0%"),
    ("simulate", {"attackers": 3, "territories": [1, 1, 1], "runs": 20}, "The exact chance is 0%,"),
    ("compare", {"attackers": 1, "defenders": 3}, "1 army beats 3 with a chance of 0%."),
    ("battle", {"attackers": 1, "defenders": 3}, "1 army cannot attack"),
    ("defend", {"attackers": 2, "armies": 5, "territories": 3}, "2 attackers cannot break through"),
    ("fronts", {"fronts": [1], "armies": 3}, "the front holds"),
    ("cards", {"cards": 2}, "A hand of 2 cards contains no set."),
    ("plan", {"position": POSITION, "take": "Brazil", "then": "Siam"}, "then take Siam with 0%"),
    (
        "plan",
        {"position": POSITION, "take": "Brazil", "then": "North Africa, Egypt"},
        "then take North Africa and Egypt with 0%",
    ),
    (
        "plan",
        {"position": POSITION, "take": "Siam", "reinforce": 2},
        "Without the 2 new armies the chance is 0%.",
    ),
    (
        "plan",
        {"position": POSITION, "take": "Brazil, North Africa, Egypt", "reinforce": 2},
        "Without the 2 new armies the chance is 0%.",
    ),
]


@pytest.mark.parametrize(("question", "parameters", "words"), IMPOSSIBLE)
def test_an_impossible_outcome_has_a_chance_of_0_percent(
    question: str, parameters: dict[str, Any], words: str
) -> None:
    first = next(ask(question, **parameters).sections())
    text = "\n".join(part for part in first.parts if isinstance(part, str))
    assert words in text
    assert not ROUNDED.search(text)


@pytest.mark.parametrize(
    ("campaign", "count"),
    [
        (Campaign(3, [1, 1, 1]), 2),
        (Campaign(6, [1, Territory(1, garrison=5), 1]), 2),
        (Campaign(5, [1, 1], stop=StopRule(hold_back=3)), 1),
        (Campaign(9, [1, 1], Rules(most_advance=1)), 1),
        (Campaign(2, [1, 1], Rules(garrison=0)), 2),
        (Campaign(4, [1, 3], find_rules("risiko tournament")), 1),
        (Campaign(5, [1, 3], find_rules("risiko tournament")), 2),
        (Campaign(10, [5], find_rules("risiko tournament+capital")), 0),
        (Campaign(2, [1, 1], Rules(mode=ArmiesGrow(2))), 2),
    ],
)
def test_the_possible_conquests_are_those_with_a_positive_exact_chance(
    campaign: Campaign, count: int
) -> None:
    assert campaign.count_possible_conquests() == count
    if not campaign.rules.mode.grows:
        odds = campaign.territory_odds(exact=True)
        assert sum(each.conquer_probability > 0 for each in odds) == count


@pytest.mark.parametrize(
    ("rules", "texts"),
    [("classic", ("0", "<1", ">99")), ("balanced blitz", ("0", "0", "100"))],
)
def test_a_table_shows_0_and_100_only_for_certain_outcomes(
    rules: str, texts: tuple[str, str, str]
) -> None:
    answer = ask("table", attackers=12, defenders=8, rules=rules)
    tables = (part for section in answer.sections() for part in section.parts)
    rows = next(part for part in tables if isinstance(part, Table)).rows
    shown = rows[0][8], rows[1][8], rows[11][1]
    assert tuple(cell.text for cell in shown if isinstance(cell, Shaded)) == texts


def test_a_plan_without_a_legal_attack_says_that_the_rules_may_forbid_it() -> None:
    position = "1;classic;red;Venezuela:red:8,Brazil:blue:5"
    answer = ask("plan", position=position, take="Brazil", rules="risiko tournament+capital")
    assert "or the rules forbid their attacks" in answer.sentence
