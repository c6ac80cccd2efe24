"""`--plot` of every command and every chart draws a picture or raises a clear error."""

import json
import sys
from pathlib import Path

import pytest

import iacta
from iacta.cli.print_answer import COMMANDS
from iacta.forms.question import QUESTIONS
from tests.cases import for_each
from tests.cli.run import Run
from tests.tables import table

COMMAND_LINES = [line for (line,) in table(__file__, "plots")[1]]
CHARTS = [form for form in COMMANDS.find("chart") if form.name != "chart"]
CHART_LINES = [
    form.examples[0].line.replace(f"{form.name.split()[1]}.svg", "{}") for form in CHARTS
]
LINES = [*COMMAND_LINES, *CHART_LINES]


def test_the_list_of_plots_has_every_question() -> None:
    drawn = {line.split()[0] for line in COMMAND_LINES}
    assert drawn == {form.name for form in QUESTIONS.load_all()}


@for_each("line", LINES)
def test_each_plot_is_drawn(run: Run, line: str, tmp_path: Path) -> None:
    file = tmp_path / "answer.csv"
    ended = run(line.format(file))
    assert (ended.code, ended.stderr.splitlines()[-1]) == (0, f"iacta: wrote {file}")
    heading, *rows = file.read_text(encoding="utf-8").splitlines()
    assert rows
    assert "," in heading
    assert [each.name for each in tmp_path.iterdir()] == ["answer.csv"]


def test_a_png_file_is_written(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "answer.png"
    assert run(f"battle 4 3 --plot {file}").code == 0
    assert file.read_bytes().startswith(b"\x89PNG")


@for_each("line", LINES)
def test_unknown_suffixes_and_missing_folders_are_refused(
    run: Run, line: str, tmp_path: Path
) -> None:
    file, lost = tmp_path / "answer.gif", tmp_path / "nowhere" / "answer.svg"
    endings = ".svg, .png, .pdf, .html, .json or .csv"
    for asked, said in (
        (file, f"a picture's name must end in {endings}, got {str(file)!r}"),
        (lost, f"cannot write {str(lost)!r}: no such folder"),
    ):
        assert run(line.format(asked)) == (2, "", f"iacta: {said}\n")


def test_unwritable_paths_are_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    file.mkdir()
    ended = run(f"battle 4 3 --plot {file}")
    assert ended.code == 2
    said = f"cannot write {str(file)!r}: it is a folder"
    assert ended.stderr == f"iacta: {said}\n"


def test_a_broken_link_is_refused_before_printing(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "answer.svg"
    file.symlink_to(tmp_path / "nowhere" / "answer.svg")
    said = f"cannot write {str(file)!r}: no such folder"
    assert run(f"battle 4 3 --plot {file}") == (2, "", f"iacta: {said}\n")


def test_a_folder_without_write_permission_is_refused_before_printing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # instead of permissions, which root ignores
    said = f"cannot write {str(tmp_path / 'x.svg')!r}: permission denied"
    assert run(f"battle 4 3 --plot {tmp_path / 'x.svg'}") == (2, "", f"iacta: {said}\n")


def test_a_log_of_impossible_results_has_no_picture(run: Run, tmp_path: Path) -> None:
    log, file = tmp_path / "log.csv", tmp_path / "answer.png"
    log.write_text("attackers,defenders,attackers_left,defenders_left\n20,15,1,3\n")
    ended = run(f"audit {log} --rules balanced-blitz --plot {file}")
    said = "nothing to draw: no result in the log is possible under the rules"
    assert ended == (2, "", f"iacta: {said}\n")
    assert not file.exists()
    shown = iacta.audit(log, rules="balanced blitz")._repr_mimebundle_()["text/html"]
    assert "1 result is impossible" in shown
    assert "<img" not in shown


@for_each("line", LINES)
def test_without_the_extra_the_message_has_the_command_to_install_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, line: str, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    said = "pictures need vl-convert, which is not installed: pip install vl-convert-python"
    assert run(line.format(tmp_path / "answer.svg")) == (2, "", f"iacta: {said}\n")


def test_csv_and_json_need_no_extra(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert run(f"battle 4 3 --plot {tmp_path / 'answer.csv'}").code == 0
    assert (tmp_path / "answer.csv").stat().st_size > 100


def test_the_seed_in_a_picture_repeats_the_simulation(run: Run, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    run(f"simulate 4 3 --runs 50 --plot {first}")
    drawn = json.loads(first.read_text(encoding="utf-8"))
    seed = drawn["description"].split("(seed ")[1].split(")")[0]
    run(f"simulate 4 3 --runs 50 --seed {seed} --plot {second}")
    assert json.loads(second.read_text(encoding="utf-8")) == drawn
