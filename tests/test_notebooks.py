"""The notebooks of `examples/` run, and show what they show when they are opened."""

from pathlib import Path

import nbformat
import pytest

from tests.notebooks import NOTEBOOKS, VERSION, executed, shown


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_shows_what_its_cells_answer(file: Path) -> None:
    stored = nbformat.read(file, as_version=VERSION)
    nbformat.validate(stored)
    said, found = shown(stored), shown(executed(file))
    for (source, before), (_, now) in zip(said, found, strict=True):
        assert now == before, source


def test_there_is_one_for_bots_a_player_a_teacher_and_a_programmer() -> None:
    assert [file.stem for file in NOTEBOOKS] == ["bots", "player", "programmer", "teacher"]
    for file in NOTEBOOKS:
        cells = nbformat.read(file, as_version=VERSION).cells
        assert cells[0].cell_type == "markdown"
        outputs = [each for cell in cells for each in cell.get("outputs", ())]
        kinds = {kind for each in outputs for kind in each.get("data", ())}
        assert "text/html" in kinds
