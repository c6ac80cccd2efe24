"""Python loads the library that was built from the source code beside it."""

import re
import shutil
import sys
from collections.abc import Callable
from graphlib import TopologicalSorter
from pathlib import Path
from subprocess import run

import pytest

from iacta.inputs.errors import IactaError
from iacta.native import core_library
from iacta.native.core_library import Library, find_library
from iacta.native.header import read_header
from tests.compiled import NATIVE

pytestmark = pytest.mark.usefixtures("core")

SOURCE = Path(__file__).parents[2] / "src"
RECORD = SOURCE.parent / "cmake" / "record.py"
FILES = sorted((SOURCE / "core").rglob("*.*"))


def test_python_expects_the_version_in_the_header() -> None:
    header = read_header((SOURCE / "core" / "iacta.h").read_text(encoding="utf-8"))
    library = find_library()
    assert library is not None
    assert (
        header.constants["VERSION"]
        == core_library.INTERFACE_VERSION
        == library.functions.iacta_version()
    )


@pytest.mark.parametrize("is_checkout", [False, True])
def test_a_core_with_another_version_is_refused(
    library_copy: Path, monkeypatch: pytest.MonkeyPatch, is_checkout: bool
) -> None:
    assert library_copy.exists()
    monkeypatch.setattr(core_library, "INTERFACE_VERSION", core_library.INTERFACE_VERSION + 1)
    if is_checkout:
        core_library.SOURCES.mkdir()
        (core_library.SOURCES / "iacta.h").write_text("")
    remedy = "run `make core`" if is_checkout else "install iacta again"
    with pytest.raises(IactaError, match=f"has another version; {remedy}"):
        find_again()


def test_no_files_of_the_core_include_each_other_in_a_circle() -> None:
    sources = {file.relative_to(SOURCE / "core").as_posix(): file for file in FILES}
    below: dict[str, set[str]] = {
        name: {*re.findall(r'^#include "(.+)"', file.read_text("utf-8"), re.MULTILINE)}
        for name, file in sources.items()
    }
    assert {each for names in below.values() for each in names} <= {*sources}
    tuple(TopologicalSorter(below).static_order())  # raises CycleError for a cycle


def test_searches_and_whole_games_do_not_include_each_other() -> None:
    for folder, other in (("search", "war"), ("war", "search")):
        for file in (SOURCE / "core" / folder).iterdir():
            assert f'#include "{other}/' not in file.read_text("utf-8"), file


@pytest.fixture
def library_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the core in another folder, without its source code."""
    (built,) = NATIVE.glob("core.*[!6]")
    folder = tmp_path / "iacta" / "native" / "library"
    shutil.copytree(built.parent, folder)
    monkeypatch.setattr(core_library, "FOLDER", folder)
    monkeypatch.setattr(core_library, "SOURCES", tmp_path / "core")
    return folder / built.name


def change(library: Path, new: bytes) -> None:
    """Replace a file instead of changing it, because the old file may be loaded."""
    library.unlink()
    library.write_bytes(new)


def find_again() -> Library | None:
    return find_library.__wrapped__()


def test_an_unchanged_core_is_loaded(library_copy: Path) -> None:
    assert library_copy.exists()
    assert find_again() is not None


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut off": lambda data: data[: len(data) // 2],
    "garbled": lambda data: data[:1000] + b"alea iacta est" + data[1014:],
    "longer": lambda data: data + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_core_is_refused_before_it_is_loaded(library_copy: Path, damage: str) -> None:
    change(library_copy, DAMAGES[damage](library_copy.read_bytes()))
    with pytest.raises(IactaError, match="the compiled core of iacta is damaged; install iacta"):
        find_again()


@pytest.mark.parametrize("record", [None, "", "7\n", "\xff\n"])
def test_a_core_without_a_record_of_its_build_is_refused(
    library_copy: Path, record: str | None
) -> None:
    file = library_copy.with_name(f"{library_copy.name}.sha256")
    file.unlink()
    if record is not None:
        file.write_text(record, encoding="latin-1")
    with pytest.raises(IactaError, match="is damaged"):
        find_again()


def test_a_core_for_another_machine_counts_as_missing(library_copy: Path) -> None:
    change(library_copy, b"compiled for another machine")
    run([sys.executable, RECORD, "--foreign", library_copy], check=True)  # noqa: S603 # ours
    assert find_again() is None


def test_the_build_refuses_a_core_that_cannot_be_loaded(library_copy: Path) -> None:
    change(library_copy, b"garbage")
    ended = run([sys.executable, RECORD, library_copy], capture_output=True, text=True)  # noqa: S603
    assert ended.returncode == 1
    assert ended.stderr.startswith("the compiler made no library that can be loaded: ")


def test_an_unreadable_core_counts_as_missing(library_copy: Path) -> None:
    library_copy.unlink()
    library_copy.mkdir()
    assert find_again() is None


def test_in_a_checkout_the_message_says_to_compile(library_copy: Path) -> None:
    sources = core_library.SOURCES
    sources.mkdir()
    (sources / "iacta.h").write_text("")
    change(library_copy, b"")
    with pytest.raises(IactaError, match="run `make -B core`"):
        find_again()
