"""The theme: text is readable on every background."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from iacta.charts.registry import list_charts as registered
from iacta.charts.subtitles import format_signed
from iacta.charts.theme import BAD, DEEP, GOOD, INK, MIDDLE, PAPER, compute_contrast
from tests.cases import for_each
from tests.charts.test_every_chart import EXAMPLES, example

READABLE = 4.5  # the minimum contrast of small text in WCAG 2.2, success criterion 1.4.3
SYMBOLS = "▲●"  # characters that are marks rather than text


def mix_colours(colour: str, other: str) -> Iterator[str]:
    """Yield colours in between two colours."""
    ends = [np.array([int(each[i : i + 2], 16) for i in (1, 3, 5)]) for each in (colour, other)]
    for part in np.linspace(0, 1, 21):
        tones = (ends[0] + part * (ends[1] - ends[0])).round().astype(int)
        yield "#" + "".join(f"{tone:02x}" for tone in tones)


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_readable_on_each_background(dark: bool) -> None:
    assert compute_contrast(INK[dark], PAPER[dark]) >= READABLE
    for end in (BAD[dark], GOOD[dark]):
        for tone in mix_colours(MIDDLE[dark], end):
            assert compute_contrast(INK[dark], tone) >= READABLE, tone


def test_white_text_is_readable_on_deep_colours() -> None:
    for tone in DEEP.values():
        assert compute_contrast("#ffffff", tone) >= READABLE
        assert compute_contrast(tone, PAPER[True]) >= 3  # visible on a dark background


def letters(part: Any, encoding: Any = None) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the mark and the encoding of every text in a specification."""
    if isinstance(part, list):
        for each in part:
            yield from letters(each)
    elif isinstance(part, dict):
        mark = part.get("mark")
        if isinstance(mark, dict) and mark["type"] == "text" and mark.get("text") not in {*SYMBOLS}:
            yield mark, part.get("encoding", {})
        for key in ("layer", "vconcat", "concat"):
            yield from letters(part.get(key, []))


@for_each("name", dict.fromkeys([*registered(), *EXAMPLES]))
def test_all_text_has_a_readable_colour(name: str) -> None:
    spec = example(name).to_dict()
    for mark, encoding in [*letters(spec), *letters(spec["usermeta"]["narrow"])]:
        assert "color" not in encoding, mark
        assert mark.get("color", "white") == "white"
        if mark.get("color"):
            assert any(tone in json.dumps(spec) for tone in DEEP.values())
        for digits in encoding.get("fill", {}).get("scale", {}).get("range", []):
            assert digits in ("#ffffff", "#1f2328")


@for_each("name", dict.fromkeys([*registered(), *EXAMPLES]))
def test_texts_use_true_minus_signs_and_no_space_before_percent(name: str) -> None:
    said = example(name).description
    assert " %" not in said
    assert " -" not in said


def test_numbers_have_a_minus_sign() -> None:
    assert format_signed(-1234.5, 1) == "\N{MINUS SIGN}1,234.5"
