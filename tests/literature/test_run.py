"""The command `iacta reproduce`: its files, its exit code, and interruption."""

import csv
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from iacta.cli.terminal import LONG_WORK
from iacta_literature import SOURCES, published
from iacta_literature import run as library
from tests.cli.run import Run
from tests.literature.conftest import Whole
from tests.literature.test_published import ERRATA, WITHOUT_VALUES, spoil


def test_every_value_and_figure_has_its_file(whole: Whole) -> None:
    folder, record = whole
    expected = {f"{source.key}.csv" for source in SOURCES} | {"report.html"}
    figures = [f"{source.key}_{each.name}.png" for source in SOURCES for each in source.figures]
    assert len(set(figures)) == len(figures)
    expected |= set(figures)
    assert {file.name for file in folder.iterdir()} == expected
    verdicts = [
        row["verdict"]
        for source in SOURCES
        for row in csv.DictReader((folder / f"{source.key}.csv").read_text("utf-8").splitlines())
    ]
    assert len(verdicts) == record["values"] == 1125
    assert verdicts.count("agrees") == record["agree"] == 1090
    assert verdicts.count("erratum") == sum(row["count"] for row in record["errata"]) == 35
    assert record["differ"] == []


def test_the_report_is_small_and_needs_no_network(whole: Whole) -> None:
    report = whole.report
    assert len(report) < 5_000_000
    loaded = re.findall(r"(?:src|srcset|href|url)\s*[=(]\s*\"?([^\">]{0,20})", report)
    assert loaded
    assert all(address.startswith(("data:image/svg+xml", "#")) for address in loaded)
    assert "<script" not in report
    assert "@import" not in report


def test_the_report_names_errata_and_run_times(whole: Whole) -> None:
    report = whole.report
    for row in whole.record["errata"]:
        has_values = row["where"] not in {ERRATA[name]["where"] for name in WITHOUT_VALUES}
        assert bool(row["count"]) == has_values
        assert row["where"] in report
    assert report.index("<p>35 values are errata") < report.index("<h2 ")
    assert not re.search(r"\b1 (dice|attackers|defenders)\b", report)
    assert "33.2 s" in report
    assert report.count("<figure>") == sum(len(source.figures) for source in SOURCES)
    assert report.endswith("</html>\n")


def test_the_main_table_of_each_section_is_open(whole: Whole) -> None:
    report = whole.report
    for part in report.split("<h2 ")[1:]:
        first, *others = re.findall(r"<details( open)?>(.*?)</details>", part, re.DOTALL)
        assert first[0] == " open"
        assert "<th>published</th><th>ours</th><th>difference</th><th>verdict</th>" in first[1]
        for is_open, table in others:
            assert bool(is_open) == ("! erratum" in re.sub("</?b>", "", table))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, run: Run) -> Run:
    """Run the command with the tables of a single source."""
    (hoehle,) = (source for source in SOURCES if source.key == "hoehle")
    monkeypatch.setattr(library, "SOURCES", (hoehle._replace(figures=()),))
    return run


def test_a_wrong_value_gives_exit_code_1(
    quick: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(tmp_path / "published")
    monkeypatch.setattr(published, "FOLDER", tmp_path / "published")
    ended = quick(f"reproduce {tmp_path / 'into'}")
    assert ended.code == 1
    assert "1 differs and is not a listed erratum:" in ended.stdout
    assert "10 against 10: published 0.567, ours 0.56759287" in ended.stdout
    assert "✗" in (tmp_path / "into" / "report.html").read_text(encoding="utf-8")


def test_reports_are_printed_in_words(quick: Run, tmp_path: Path) -> None:
    ended = quick(f"reproduce {tmp_path}")
    assert (ended.code, ended.stderr) == (0, "")
    first = ended.stdout.splitlines()[0]
    assert re.match(r"\d+ of the \d+ values and equations of the five sources agree", first)
    assert "Tan (1997) (3 values): Tan multiplied" in ended.stdout
    assert "Höhle, appendix 3, f(n) (no printed value): f(n) is defined" in ended.stdout


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_target_folder_that_is_a_file_is_refused(quick: Run, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    ended = quick(f"reproduce {tmp_path / place}")
    assert ended.code == 2
    assert "cannot write to '" in ended.stderr
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("missing", ["vl_convert", "scipy.stats"])
def test_without_its_packages_the_line_to_install_them_is_printed(
    quick: Run, tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    ended = quick(f"reproduce {tmp_path / 'into'}")
    assert ended.code == 2
    assert "pip install scipy vl-convert-python\n" in ended.stderr
    assert not (tmp_path / "into").exists()


FEW = """
import sys
from iacta.cli import main
from iacta_literature import run

sys.modules["scipy.stats"] = sys  # slow to import, and not needed
first, *_ = run.SOURCES
tables = {"dice": first.tables["dice"]}
# The further figures keep the run busy when it is interrupted after the first.
figures = (*first.figures[1:], *20 * first.figures[:1])
run.SOURCES = (first._replace(tables=tables, figures=figures),)
main()
"""


@pytest.fixture
def few(tmp_path: Path) -> list[str]:
    """Return a command line that writes its first files quickly."""
    script = tmp_path / "few.py"
    script.write_text(FEW, encoding="utf-8")
    return [sys.executable, str(script), "reproduce", str(tmp_path / "into")]


def test_a_killed_run_leaves_no_partial_file(few: list[str], tmp_path: Path) -> None:
    process = subprocess.Popen(few, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 # our own line
    wait_until(lambda: (tmp_path / "into" / "pracpred.csv").exists())
    drawing = children(process.pid)
    process.kill()
    process.wait()
    assert drawing
    check_whole(tmp_path / "into")
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in drawing))


@pytest.mark.parametrize("begun", ["pracpred.csv", "pracpred_curves_by_match_up.png"])
def test_ctrl_c_gives_exit_code_130_and_leaves_no_partial_file(
    few: list[str], tmp_path: Path, begun: str
) -> None:
    with subprocess.Popen(few, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603 # our own line
        wait_until(lambda: (tmp_path / "into" / begun).exists())
        drawing = children(process.pid)
        process.send_signal(signal.SIGINT)
        try:
            said = process.communicate(timeout=300)
        finally:
            process.kill()  # in case it is still running
    assert (process.returncode, said[0]) == (130, b"")
    assert said[1] in (b"", f"iacta: {LONG_WORK}\n".encode())  # a slow machine may print this
    check_whole(tmp_path / "into")
    assert not list((tmp_path / "into").glob(".*"))
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in drawing))


def check_whole(folder: Path) -> None:
    """Check that an interrupted run leaves complete files and no report."""
    left = [file for file in folder.iterdir() if not file.name.startswith(".")]
    assert left
    assert folder / "report.html" not in left
    for file in left:
        ending = b"\n" if file.suffix == ".csv" else b"IEND\xaeB`\x82"
        assert file.read_bytes().endswith(ending)


def children(process: int) -> list[str]:
    """Return the processes that a process started."""
    return Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()


def wait_until(comes_true: Any) -> None:
    """Wait until a condition is true, on machines of any speed."""
    end = time.monotonic() + 300
    while not comes_true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_other_files_are_not_changed(tmp_path: Path) -> None:
    theirs = [tmp_path / ".film.mkv.part", tmp_path / ".report.html.1.iacta-part", tmp_path / "x"]
    for file in theirs:
        file.write_text("precious", encoding="utf-8")
    (tmp_path / ".folder.iacta-part").mkdir()
    abandoned = tmp_path / ".taflin.csv.2.iacta-part"
    abandoned.write_text("half", encoding="utf-8")
    os.utime(abandoned, (0, 0))
    library._make_folder(tmp_path)
    assert all(file.exists() for file in theirs)
    assert not abandoned.exists()


@pytest.mark.parametrize("page", ["README.md", "docs/questions/trust.md"])
def test_pages_show_the_actual_output(whole: Whole, page: str) -> None:
    record = whole.record
    errata = sum(row["count"] for row in record["errata"])
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    assert (
        f"$ iacta reproduce\n{record['agree']} of the {record['values']} values and equations of "
        f"the five sources agree with iacta, and {errata} are errata.\n"
    ) in text
