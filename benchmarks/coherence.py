"""Whole turns on the classic board: contradictions between the numbers about one position.

    python -m benchmarks.coherence [NUMBER ...]

`tests/coherence` plays shorter turns on small boards with the same checks.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.measure import Measurement
from iacta import Turn
from tests.coherence.checks import find_contradictions
from tests.coherence.play import play
from tests.coherence.positions import POSITIONS, play_turn, read_board_turns

LEVEL, ROLLS = "usual", 4


def list_turns() -> list[Turn]:
    """Return the turns: from played games, and positions of the board page."""
    return [*map(play_turn, range(POSITIONS)), *read_board_turns()]


def compare_numbers(numbers: Sequence[int] = ()) -> Iterator[Measurement]:
    """Play turns and count the contradictions; print each contradiction."""
    checked, wrong = Counter[str](), Counter[str]()
    for number, start in enumerate(list_turns()):
        if not numbers or number in numbers:
            moments = [*play(start, LEVEL, number, ROLLS)]
            for check, words in find_contradictions(moments, LEVEL, checked):
                wrong[check] += 1
                print(f"  turn {number}, {check}: {words}", flush=True)
    for check, count in checked.items():
        yield Measurement(f"contradictions: {check}", wrong[check], 0, False, count)


MEASURES = (compare_numbers,)

if __name__ == "__main__":
    for row in compare_numbers([*map(int, sys.argv[1:])]):
        print(row)
