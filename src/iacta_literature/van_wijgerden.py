"""Van Wijgerden, "Let slip the dice of war": states without the garrison, requirements with it."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from iacta.battle.battle import Battle
from iacta.methods import path_tree
from iacta.methods.outcome import Outcome
from iacta.questions.armies_needed import armies_needed
from iacta.rules.roll import Losses, Roll
from iacta_literature.data import Row, read_rows
from iacta_literature.pracpred import ABLE, ending, win
from iacta_literature.rolls import example_losses, roll_chance
from iacta_literature.tables import Source, Table, Timing
from iacta_literature.verdict import Number

__all__ = ["CHANCES", "MOST_DEFENDERS", "SOURCE", "needed"]

MOST_DEFENDERS = 200
CHANCES = tuple(
    Fraction(n, 100) for n in (1, 5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99)
)


@cache
def needed(rules: str) -> npt.NDArray[Any]:
    """Return the fewest attackers, garrison included, for `CHANCES` (rows) by defenders (columns).

    rules: `"classic"` or `"capital"`.
    """
    defenders = np.arange(1, MOST_DEFENDERS + 1)
    wanted = np.array(CHANCES, dtype=object)[:, np.newaxis]
    found: npt.NDArray[Any] = armies_needed(defenders, wanted, rules)
    return found


def _path(row: Row) -> Fraction:
    """Return the chance of one path, told by its states."""
    states = [Outcome(*map(int, state.split())) for state in row["path"].split(", ")]
    found = path_tree.paths(*states[0], ABLE)
    return next(path.probability for path in found if list(path.states) == states)


def _first_roll_wins() -> Fraction:
    return Fraction(Roll(2, 1).losses()[Losses(0, 1)])


def _end(attackers_left: int, defenders_left: int) -> Fraction:
    """Return the chance of one end of 2 against 1."""
    law = Battle(2, 1, ABLE).outcomes(exact=True)
    return Fraction(law[Outcome(attackers_left, defenders_left)])


def _one_lost(defence_dice: int, rules: str) -> Fraction:
    """Return the chance that a single attack die costs its army."""
    return Fraction(Roll(1, defence_dice, rules).losses()[Losses(1, 0)])


def _sum_of_ends() -> Fraction:
    law = Battle(3, 2, ABLE).outcomes(exact=True)
    return sum((Fraction(chance) for chance in law.values()), Fraction(0))


def _entries_too_low() -> int:
    """Count the entries of Hendel's table that are one below ours."""
    rows = read_rows("van_wijgerden_hendel")
    return sum(_fewest(row) - int(row["published"]) == 1 for row in rows)


def _fewest(row: Row) -> int:
    return int(armies_needed(int(row["defenders"]), row["chance"]))


def _spike_of_capitals() -> int:
    """Return the defenders, from 2 on, that take the most attackers for each of them at 99 %."""
    of_each = needed("capital")[-1] / np.arange(1, MOST_DEFENDERS + 1)
    return 2 + int(np.argmax(of_each[1:]))


def _mean_ratio() -> float:
    return float((needed("capital") / needed("classic")).mean())


VALUES: dict[str, Callable[[], Number]] = {
    "equally likely rolls of five dice": lambda: Roll(3, 2).law().total,
    "paths from 3 against 2": lambda: Battle(3, 2, ABLE).path_count(),
    "sum of the chances of all ends of 3 against 2": _sum_of_ends,
    "chance that 3 against 2 is won": lambda: win(3, 2),
    "chance that 3 against 2 is won, rounded": lambda: win(3, 2),
    "chance that 3 against 2 is won, in per cent": lambda: win(3, 2),
    "chance that 1 against 1 is lost": lambda: 1 - win(1, 1),
    "chance that 1 against 1 is won": lambda: win(1, 1),
    "chance that the first roll of 2 against 1 wins": _first_roll_wins,
    "chance that 2 against 1 is lost": lambda: _end(0, 1),
    "chance that 2 against 1 ends with 1 attacker": lambda: _end(1, 0),
    "chance of the loss 1 0 from 1 against 3 on a capital": lambda: _one_lost(3, "capital"),
    "chance of the loss 1 0 from 1 against 3 on a territory": lambda: _one_lost(2, "classic"),
    "attackers needed against 2 for 20 %": lambda: int(armies_needed(2, "20%")),
    "chance of 2 attackers, garrison counted, against 2": lambda: win(1, 2),
    "chance of 3 attackers, garrison counted, against 2": lambda: win(2, 2),
    "attackers needed against 10 for 95 %, by defender": lambda: Fraction(
        int(armies_needed(10, "95%")), 10
    ),
    "chance that 3 against 2 ends with 1 attacker, in per cent": lambda: Fraction(
        Battle(3, 2, ABLE).outcomes(exact=True)[Outcome(1, 0)]
    ),
    "defenders at the spike of the 99 % line of capitals": _spike_of_capitals,
    "attackers needed on a capital, by those on a territory (mean)": _mean_ratio,
    "entries of Hendel's table that are one too low": _entries_too_low,
    "chance of 5 against 10, if the headings of Osborne's table 3 were right": lambda: win(5, 10),
}

SOURCE = Source(
    "van_wijgerden",
    "Jeroen van Wijgerden, “Let slip the dice of war”",
    (
        Table(
            "van_wijgerden_roll_losses",
            "Armies that a roll costs, on a territory (classic) and on a capital",
            "{rules}, {attack_dice} dice against {defence_dice}: {attackers_lost} attackers and "
            "{defenders_lost} defenders",
            roll_chance,
        ),
        Table(
            "van_wijgerden_roll_examples",
            "Single rolls: attackers and defenders lost",
            "{attack_dice} against {defence_dice}",
            example_losses,
        ),
        Table("van_wijgerden_paths", "Paths through the tree of 3 against 2", "{path}", _path),
        Table(
            "van_wijgerden_outcomes",
            "Ends of 3 against 2",
            "{attackers_left} attackers and {defenders_left} defenders left",
            ending,
        ),
        Table(
            "van_wijgerden_values", "Single values", "{quantity}", lambda r: VALUES[r["quantity"]]()
        ),
        Table(
            "van_wijgerden_hendel",
            "Fewest attackers, as Hendel and others print them",
            "chance {chance} against {defenders}",
            _fewest,
        ),
    ),
    (
        Timing(
            "the fewest attackers against 1 to 200 defenders for 15 chances, on territories and on "
            "capitals, decided exactly",
            "many hours (exact), some minutes (rounded)",
            lambda: (needed.__wrapped__("classic"), needed.__wrapped__("capital")),
        ),
    ),
)
