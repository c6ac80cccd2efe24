"""Without the compiled core small boards are planned all the same, and larger ones refused."""

import pytest

from iacta.errors import IactaError
from iacta.plan import TakeAll, best_plan
from iacta.plan.core import NO_CORE
from tests.plan.boards import BLUE, small_game
from tests.plan.coreless import hide_core


@pytest.mark.parametrize("seed", [3, 11, 21])
def test_small_boards_have_the_same_plans(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = small_game(seed).plan()
    hide_core(monkeypatch.setattr)
    other = small_game(seed).plan()
    assert other.value == pytest.approx(plan.value, abs=1e-12)
    assert (other.proven, other.next_move()) == (plan.proven, plan.next_move())


def test_larger_boards_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_core(monkeypatch.setattr)
    with pytest.raises(IactaError) as found:
        best_plan(BLUE, TakeAll("South America"))
    assert str(found.value) == NO_CORE
    assert "install" in NO_CORE
