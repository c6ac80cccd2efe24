"""Compiling: it is said, and no time limit counts it."""

from time import sleep

import pytest

from iacta.plan import compiled


@pytest.mark.skipif(not compiled.IS_COMPILED, reason="needs numba")
def test_compiling_is_told_and_stops_the_clock() -> None:
    from numba import njit
    from numba.core import event

    told: list[float] = []

    class Slow(event.Listener):
        def on_start(self, _: object) -> None:
            sleep(1.0)

        def on_end(self, _: object) -> None:
            pass

    slow = Slow()
    inner = njit(lambda n: n + 1)
    outer = njit(lambda n: inner(n) + 1)
    event.register("numba:compile", slow)  # type: ignore[no-untyped-call]
    try:
        with compiled.while_compiling(told.append):
            before = compiled.clock()
            assert outer(1) == 3
            passed = compiled.clock() - before
    finally:
        event.unregister("numba:compile", slow)  # type: ignore[no-untyped-call]
    assert len(told) == 2
    assert all(0 <= part <= 1 for part in told)
    assert passed < 1.0  # of two seconds and more
    outer(2)
    assert len(told) == 2
