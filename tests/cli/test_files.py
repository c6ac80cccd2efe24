"""Untrusted files are rejected cheaply, and writing follows no planted link."""

import io
import json
import os
import stat
import sys
import tomllib
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacta import IactaError, IllegalError, TooLargeError, classic_board, read_board
from iacta.board.files import write_board
from iacta.inputs.csv_formulas import escape_formulas
from iacta.inputs.files import check_writable, quote_path, write_atomically
from iacta.inputs.json_and_toml import parse_json, parse_toml
from iacta.rules.files import read_rules_file
from tests.cases import for_each
from tests.cli.run import Run
from tests.tables import large_text, table

MAX_MEMORY = 100 * 10**6
JSONS = {
    "deep and many": "[" * 900 + ",".join(["1"] * 200_000) + "]" * 900,
    "deep objects": '{"a":' * 900 + "1" + "}" * 900,
    "very many": "[" + "[]," * 1_000_000 + "1]",
    "deep behind a quote": '["\\"", ' + "[" * 900 + "]" * 900 + "]",
    "an open text": '["' + '\\"' * 1_000_000 + "[",
}


@for_each(*table(__file__, "large_toml"))
@pytest.mark.slow
def test_toml_that_needs_far_more_memory_than_its_size_is_refused(
    kind: str, head: str, repeated: str, times: int, tail: str, tmp_path: Path
) -> None:
    text = large_text(head, repeated, times, tail)
    check_refused_with_little_memory(lambda: parse_toml(text))
    file = tmp_path / f"{kind}.toml"
    file.write_text(text)
    check_refused_with_little_memory(lambda: read_rules_file(file))
    check_refused_with_little_memory(lambda: read_board(file))


@pytest.mark.parametrize("kind", JSONS)
def test_json_that_needs_far_more_memory_than_its_size_is_refused(kind: str) -> None:
    check_refused_with_little_memory(lambda: parse_json(JSONS[kind]))


def check_refused_with_little_memory(read: Callable[[], object]) -> None:
    """Check that a reader raises an error without using much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(IactaError) as refused:
            read()
        assert tracemalloc.get_traced_memory()[1] < MAX_MEMORY
    finally:
        tracemalloc.stop()
    assert len(str(refused.value)) < 300


PLAIN = st.text("ab.\"'#\\\n =[]{},é", max_size=8)


@given(st.dictionaries(PLAIN.filter(bool), PLAIN | st.lists(PLAIN, max_size=3), max_size=4))
def test_small_files_are_parsed_as_by_other_parsers(table: dict[str, object]) -> None:
    text = json.dumps(table, ensure_ascii=False)
    assert parse_json(text) == table
    lines = (f"{json.dumps(key)} = {json.dumps(value)}" for key, value in table.items())
    assert parse_toml("\n".join(lines)) == table


@given(st.text("ab.\"'#\\\n =[]{},1", max_size=40))
def test_small_toml_is_parsed_as_python_does(text: str) -> None:
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(IactaError):
            parse_toml(text)
    else:
        assert parse_toml(text) == expected


def test_a_board_of_the_maximum_size_is_read() -> None:
    table = {
        "territories": {f"T{n}": [f"T{n - 1}"] if n else [] for n in range(10_000)},
        "places": {f"T{n}": [n, 0] for n in range(10_000)},
    }
    assert len(parse_json(json.dumps(table))["places"]) == 10_000


# Standard input.


def test_every_file_may_be_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def given(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    given('territories = {A = ["B"], B = []}')
    assert run("board -").stdout.startswith("board: 2 territories, 1 border,")
    given('base = "capital"')
    assert "20%" not in run("battle 9 8 --rules-file -").stderr
    given('base = "capital"')
    said = json.loads(run("battle 9 8 --rules-file - --json").stdout)["win_probability"]
    assert said == json.loads(run("battle 9 8 --rules capital --json").stdout)["win_probability"]
    given("tise = 'attacker'")
    assert run("battle 9 8 --rules-file -").stderr.startswith(
        "iacta: rules on standard input: unknown key 'tise'; did you mean 'ties'?"
    )


@pytest.mark.parametrize(
    "line", ["battle 9 8 --rules-file -", "board -", "plan - --take Peru", "need 9 --rules-file -"]
)
def test_empty_standard_input_is_refused(
    run: Run, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    ended = run(line)
    assert (ended.code, ended.stdout) == (2, "")
    assert "standard input is empty, or another option has read it" in ended.stderr
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in run(line).stderr


# Pipes.


def test_a_pipe_without_a_writer_is_refused_at_once(run: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    lines = ("battle 9 8 --rules-file {}", "board {}", "plan {} --take Peru", "audit {}")
    for line in (*lines, f"batch {{}} {tmp_path / 'out.csv'}"):
        said = f"iacta: cannot read {str(pipe)!r}: it is not a regular file\n"
        assert run(line.format(pipe)) == (2, "", said), line


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="no such folder on this system")
def test_a_pipe_that_the_shell_has_opened_is_read(run: Run) -> None:
    reading, writing = os.pipe()
    os.write(writing, b'base = "capital"\n')
    os.close(writing)
    try:
        ended = run(f"battle 9 8 --rules-file /dev/fd/{reading} --json")
    finally:
        os.close(reading)
    assert ended.code == 0
    assert ended.stdout.startswith(run("battle 9 8 --rules capital --json").stdout[:40])


@pytest.mark.parametrize("text", ["[{}", "[{}]", " [\n]", '[{"a": 1}]'])
def test_a_list_of_json_is_not_refused_as_toml(run: Run, text: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    wrong = "a position must be a code, or TOML or JSON with the keys player and territories, got "
    board = "not a board in a known format, but a JSON list; known: "
    for line, said in (("board {}", board), ("plan {} --take Peru", wrong)):
        ended = run(line.format(file))
        assert ended.code == 2
        assert said in ended.stderr, line
    said = f"iacta: rules file {str(file)!r}: the text must be TOML, got JSON\n"
    assert run(f"battle 9 8 --rules-file {file}") == (2, "", said)


# Writing.


def test_no_planted_link_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in (f".x.csv.{os.getpid()}.iacta-part", f".x.csv.{os.getpid()}"):
        (folder / name).symlink_to(precious)
    write_atomically(folder / "x.csv", b"theirs")
    assert (folder / "x.csv").read_bytes() == b"theirs"
    monkeypatch.setattr(os, "urandom", bytes)
    (folder / f".{bytes(8).hex()}.iacta-part").symlink_to(precious)
    with pytest.raises(IllegalError, match=r"cannot write .*: file exists"):
        write_atomically(folder / "x.csv", b"theirs")
    assert precious.read_text() == "mine"


def test_temporary_names_are_random(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    replace = Path.replace

    def spied(self: Path, target: Path) -> Path:
        seen.append(self.name)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", spied)
    for _ in range(3):
        write_board(classic_board(), tmp_path / "x.json")
    assert len(set(seen)) == 3
    assert [each.name for each in tmp_path.iterdir()] == ["x.json"]


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o604)
    write_atomically(tmp_path / "new", b"y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604


@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "nul\0.csv", "none/x.csv", ".", ""])
def test_unwritable_paths_are_refused_before_the_computation(name: str, tmp_path: Path) -> None:
    with pytest.raises(IllegalError, match="cannot write") as refused:
        check_writable(tmp_path / name)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    "line", ["battle 9 8 --plot {}", "chart delta {}", "board classic --to {}"]
)
def test_a_long_file_name_is_refused_before_printing(run: Run, line: str) -> None:
    ended = run(line.format("x" * 300 + ".json"))
    assert (ended.code, ended.stdout) == (2, "")
    assert "file name too long" in ended.stderr
    assert len(ended.stderr) < 300


def test_control_characters_in_names_of_files_are_escaped(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "a\x1b[31m.csv"
    ended = run(f"battle 4 3 --plot {file}")
    assert file.exists()
    assert ended.stderr.rstrip("\n").isprintable()
    ended = run(f"board classic --to {tmp_path}/b\x1b[31m.toml")
    assert "\x1b" not in ended.stdout
    assert quote_path("own\n.toml") == "'own\\n.toml'"
    assert len(quote_path("x" * 5000)) < 200


def test_an_empty_folder_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["iacta", "reproduce", ""])
    ended = run.words(["reproduce", ""])
    assert (ended.code, ended.stdout) == (2, "")
    assert ended.stderr == "iacta: DIR must be the name of a folder, got ''\n"


# CSV.


def test_csv_escapes_formulas(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "board.json"
    hostile = ("=1+1", "+1+1", "@SUM(1)", "-1+1")
    file.write_text(
        json.dumps({"territories": {name: ["Peru"] for name in hostile} | {"Peru": []}})
    )
    assert run(f"board {file} --csv --plot {tmp_path / 'x.csv'}").code == 0
    printed = run(f"board {file} --csv").stdout + (tmp_path / "x.csv").read_text()
    for name in hostile:
        assert f"'{name}" in printed
        assert f"\n{name}" not in printed
        assert f",{name}" not in printed


def test_csv_does_not_escape_numbers() -> None:
    cells: list[object] = [-1, -2.5, "-2.5", "+3", "-", "", None, "1 - 2"]
    assert list(escape_formulas([cells])) == [cells]


def test_too_many_bytes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TooLargeError, match="TOML must be at most 1000000 bytes"):
        parse_toml("#" * 1_000_001)
