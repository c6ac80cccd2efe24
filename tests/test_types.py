"""The types of public names; mypy checks this file."""

from fractions import Fraction
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import iacta
from iacta import Battle, Campaign, armies_needed, defenders_needed, win_probability, win_table
from iacta.game import Attack, EndPhase, FortifyReach, Losses, Phase, Result, Throw, Turn
from iacta.inputs.reprs import ChartLike
from iacta.probability.distribution import Distribution
from tests.cases import for_each
from tests.test_package import public_functions

Floats = npt.NDArray[np.float64]
Fractions = npt.NDArray[np.object_]


def test_a_chance_is_a_float_or_exactly_a_fraction() -> None:
    battle, campaign = Battle(3, 1), Campaign(3, [1])
    assert_type(battle.win_probability(), float)
    assert_type(battle.win_probability(exact=True), Fraction)
    assert_type(battle.stop_probability(), float)
    assert_type(campaign.win_probability(), float)
    assert_type(campaign.stop_probability(exact=True), Fraction)
    assert_type(win_probability(3, 1), float)
    assert_type(win_probability(3, 1, exact=True), Fraction)


def test_array_arguments_give_array_types() -> None:
    assert_type(win_probability([3, 4], 1), Floats)
    assert_type(win_probability([3, 4], 1, exact=True), Fractions)
    assert_type(win_probability(3, 1, ["classic", "capital"]), Floats)
    assert_type(win_table(3, 1), Floats)
    assert_type(armies_needed(10, "95%"), int)
    assert_type(armies_needed([10, 15], "95%"), npt.NDArray[np.int64])
    assert_type(defenders_needed(10, ["5%", "95%"]), npt.NDArray[np.int64])


def test_results_of_actions_have_the_types_of_their_kind() -> None:
    turn = Turn.from_code("1;classic;red;Peru:red:9,Brazil:blue:4")
    attack = Attack("Peru", "Brazil", 3)
    assert_type(turn.results(attack), Distribution[Losses | Throw])
    assert_type(turn.results(attack, 1), Distribution[Losses])
    assert_type(turn.results(EndPhase()), Distribution[None])
    assert_type(turn.results(turn.actions()[0]), Distribution[Result])
    assert_type(turn.phase, Phase)
    assert_type(turn.fortify, FortifyReach)


@for_each(("name", "function"), public_functions())
def test_no_public_function_returns_any(name: str, function: Any) -> None:
    assert function.__annotations__["return"] not in (Any, "Any")


def test_plot_returns_the_chart_protocol() -> None:
    shown = [each for each in vars(iacta).values() if isinstance(each, type)]
    found = {each.plot.__annotations__["return"] for each in shown if hasattr(each, "plot")}
    assert found == {ChartLike}


def test_a_signature_in_help_is_readable() -> None:
    for name in ("win_probability", "armies_needed", "defenders_needed", "win_table"):
        head = iacta.__dict__.get(name, getattr(iacta, name))
        types = head.__annotations__.values()
        assert all(isinstance(each, str) and "numpy" not in each for each in types), name
