"""The notebooks in `examples/` run, and their stored outputs are current."""

import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import nbformat
import pytest

from iacta import Battle, Roll, break_even_ratio, find_rules, win_probability
from tests import brute
from tests.notebooks import FOLDER, NOTEBOOKS, VERSION, list_outputs, run_notebook


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_stored_outputs_of_notebooks_are_current(file: Path) -> None:
    stored = nbformat.read(file, as_version=VERSION)
    nbformat.validate(stored)
    said, found = list_outputs(stored), list_outputs(run_notebook(file))
    for (source, before), (_, now) in zip(said, found, strict=True):
        assert now == before, source


def test_each_audience_has_a_notebook() -> None:
    assert [file.stem for file in NOTEBOOKS] == ["bots", "player", "programmer", "teacher"]
    for file in NOTEBOOKS:
        cells = nbformat.read(file, as_version=VERSION).cells
        assert cells[0].cell_type == "markdown"
        outputs = [each for cell in cells for each in cell.get("outputs", ())]
        kinds = {kind for each in outputs for kind in each.get("data", ())}
        assert "text/html" in kinds


# The exercises in the notebook for teachers, each with a solution.


def exercises() -> list[str]:
    """Return the exercises in the notebook for teachers."""
    cells = nbformat.read(FOLDER / "teacher.ipynb", as_version=VERSION).cells
    (cell,) = (each for each in cells if each.source.startswith("## Exercises"))
    return re.findall(r"^[0-9]+\. (.*(?:\n   .*)*)", cell.source, re.MULTILINE)


def count_states_and_paths(given: dict[str, Any]) -> None:
    """Count the states and paths of a battle of 6 against 4."""
    seen = set()

    @cache
    def paths(able: int, defenders: int) -> int:
        seen.add((able, defenders))
        if not (able and defenders):
            return 1
        taken = min(able, 3, defenders, 2)
        return sum(paths(able - lost, defenders - taken + lost) for lost in range(taken + 1))

    assert paths(5, 4) == Battle(6, 4).path_count()
    assert len(seen) == Battle(6, 4).state_count()
    assert len(seen) < paths(5, 4)
    assert given["f"](5, 4) == Battle(6, 4).win_probability(exact=True)


def show_that_capitals_are_never_better_than_even(_: dict[str, Any]) -> None:
    """Solve the Markov chain under capital rules, and compare the losses in a full roll."""

    @cache
    def f(attackers: int, defenders: int) -> Fraction:
        if not (attackers and defenders):
            return Fraction(not defenders)
        roll = Roll(min(attackers, 3), min(defenders, 3), rules="capital").losses()
        return sum(
            (Fraction(p) * f(attackers - a, defenders - d) for (a, d), p in roll.items()),
            Fraction(0),
        )

    even = [f(n, n) for n in range(1, 26)]
    assert all(chance < Fraction(1, 2) for chance in even)
    assert (max(even), round(float(even[0]), 3)) == (even[0], 0.417)
    assert even == sorted(even, reverse=True)
    large = win_probability(range(2, 302), range(1, 301), "capital")
    assert (large < 0.5).all()
    assert round(float(large[99]), 4) == 0.0017
    losses = brute.roll_losses(3, 3, find_rules("capital"))
    ours = sum(p * lost for (lost, _), p in losses.items())
    theirs = sum(p * lost for (_, lost), p in losses.items())
    assert (round(float(ours), 3), round(float(theirs), 3)) == (1.893, 1.107)
    assert break_even_ratio("capital") == ours / theirs
    assert round(float(ours / theirs), 2) == 1.71
    assert (
        win_probability(17_000, 10_000, "capital")
        < 0.5
        < win_probability(17_200, 10_000, "capital")
    )


def count_by_the_second_die(given: dict[str, Any]) -> None:
    """Count the rolls in which the attacker loses both armies, by the defender's second die."""
    # Let w be the higher and v the lower defence die. Both armies are lost if no attack die exceeds
    # w and at most one exceeds v: v^3 rolls without a die above v, and 3 v^2 (w - v) with one.
    lost = 0
    for v, w in product(range(1, 7), repeat=2):
        if w >= v:
            lost += (1 if w == v else 2) * (v**3 + 3 * v**2 * (w - v))
    assert lost == 2275
    assert given["by_hand"][2, 0] == Fraction(lost, 7776)


SOLUTIONS: dict[str, Callable[[dict[str, Any]], None]] = {
    "How many states and how many different paths": count_states_and_paths,
    "The defender of a capital throws three dice": show_that_capitals_are_never_better_than_even,
    "Derive P(the attacker loses both) = 2275/7776": count_by_the_second_die,
}


def test_every_exercise_has_a_solution_that_runs() -> None:
    given: dict[str, Any] = {}
    for cell in nbformat.read(FOLDER / "teacher.ipynb", as_version=VERSION).cells:
        if cell.cell_type == "code" and "plot" not in cell.source:
            exec(cell.source, given)  # noqa: S102 # our own notebook
    asked = exercises()
    assert len(asked) == len(SOLUTIONS)
    for exercise, (start, solution) in zip(asked, SOLUTIONS.items(), strict=True):
        assert exercise.startswith(start)
        solution(given)
