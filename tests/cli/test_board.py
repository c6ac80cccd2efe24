"""`iacta board`: display, checks and conversion of boards."""

import json
import shutil
from pathlib import Path

import pytest

from iacta import read_board, read_position
from tests.cli.run import Run

FILES = Path(__file__).parent.parent / "board" / "files"


@pytest.mark.parametrize("ending", ["json", "toml", "map", "xml"])
def test_a_board_is_converted(run: Run, ending: str, tmp_path: Path) -> None:
    written = tmp_path / f"x.{ending}"
    result = run(f"board {FILES / 'domination.map'} --to {written}")
    assert result.code == 0
    assert result.stdout.splitlines()[-1] == f"Written to {written}."
    assert read_board(written).borders == read_board(FILES / "domination.map").borders


def test_oddities_are_reported_with_their_lines(run: Run, tmp_path: Path) -> None:
    text = (FILES / "domination.map").read_text().replace("\n2 1\n", "\n2\n")
    (tmp_path / "x.map").write_text(text)
    (tmp_path / "coasts.cards").write_text("[cards]\nInfantry 7\n")
    out = run(f"board {tmp_path / 'x.map'}").stdout
    assert "2 oddities:" in out
    assert "board, line 22: the border from 'Brazil' to 'Peru' leads one way only" in out
    assert "cards, line 2: a card must be a type and the id of a country" in out
    record = json.loads(run(f"board {tmp_path / 'x.map'} --json").stdout)
    assert record["border_count"] == 5
    assert record["one_way_count"] == 1
    assert record["cards"] == {"territories": 0, "wildcards": 0, "missions": 0}
    assert [each["line"] for each in record["remarks"]] == [22, 2]


@pytest.mark.parametrize("options", ["", "--json", "--csv"])
def test_a_wrong_file_gets_one_sentence(run: Run, options: str, tmp_path: Path) -> None:
    text = (FILES / "domination.map").read_text().replace("\n2 1\n", "\n2 9\n")
    (tmp_path / "x.map").write_text(text)
    result = run(f"board {tmp_path / 'x.map'} {options}")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr == (
        f"iacta: board file '{tmp_path / 'x.map'}': line 23: unknown neighbour of 'Peru': '9'\n"
    )


@pytest.mark.parametrize("board", ["classic", "own.json", "domination.map"])
def test_a_template_is_a_position_file_ready_to_be_edited(
    run: Run, board: str, tmp_path: Path
) -> None:
    if board != "classic":
        shutil.copy(FILES / board, tmp_path)
        board = str(tmp_path / board)
    result = run(f"board {board} --template")
    assert (result.code, result.stderr) == (0, "")
    file = tmp_path / "mine.toml"
    file.write_text(result.stdout, encoding="utf-8")
    found = read_position(file)
    assert found.board == read_board(board)
    assert found.player == "red"
    assert all(each.armies for each in found.holdings)
    # The lines for other players, which are comments, can be enabled.
    file.write_text(result.stdout.replace("# others", "others"), encoding="utf-8")
    assert read_position(file) == found


CODE = "1;classic;red;Peru:red:9,Brazil:blue:2,Argentina:blue:1"


def test_a_code_and_a_file_show_their_position(run: Run, tmp_path: Path) -> None:
    shown = run(f"board {CODE}")
    assert (shown.code, shown.stderr) == (0, "")
    assert shown.stdout.startswith("red to move on classic.\n")
    assert shown.stdout.endswith(f"\n\nThe code of this turn: {CODE};attack\n")
    assert "Argentina               blue       1\n" in shown.stdout
    (tmp_path / "code.txt").write_text(CODE)
    (tmp_path / "game.toml").write_text(run(f"board {CODE} --template").stdout)
    (tmp_path / "small.toml").write_text(
        'player = "red"\n[territories]\nPeru = { owner = "red", armies = 9 }\n'
        'Brazil = { owner = "blue", armies = 2 }\nArgentina = { owner = "blue", armies = 1 }\n'
    )
    for file in ("code.txt", "game.toml", "small.toml"):
        for options in ("", " --json", " --csv", " --odds", " --template"):
            assert run(f"board {tmp_path / file}{options}") == run(f"board {CODE}{options}")


def test_a_position_is_shown_with_its_board_which_can_be_saved(run: Run, tmp_path: Path) -> None:
    record = {"player": "red", "board": json.loads((FILES / "own.json").read_text())}
    record["territories"] = {"Peru": {"owner": "red", "armies": 4}}
    (tmp_path / "game.json").write_text(json.dumps(record))
    ended = run(f"board {tmp_path / 'game.json'} --to {tmp_path / 'x.json'}")
    assert ended.stdout.splitlines()[-1] == f"Written to {tmp_path / 'x.json'}."
    assert read_board(tmp_path / "x.json").territories == read_board(FILES / "own.json").territories
    shown = json.loads(run(f"board {tmp_path / 'game.json'} --json").stdout)
    assert {"name": "Peru", "owner": "red", "armies": 4} in shown["territories"]


def test_the_code_of_a_turn_shows_its_position(run: Run) -> None:
    turn = f"{CODE};attack;rules=capital"
    shown = run(f"board {turn}").stdout
    assert shown == run(f"board {CODE}").stdout.replace(f"{CODE};attack", turn)


def test_errors_about_a_position_file_name_the_position(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "game.toml"
    file.write_text('player = "red"\n[territories]\nBrasil = { owner = "red", armies = 7 }\n')
    assert run(f"board {file}").stderr == (
        f"iacta: position file {str(file)!r}: line 3: board 'classic' has no territory 'Brasil'; "
        "did you mean 'Brazil'?\n"
    )
