"""The package as a whole: its names, its floors, its promises."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import iacta
from tests.frozen.case import read_cases

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "iacta"
FILES = sorted(SOURCE.rglob("*.py"))

# From the ground up: a package imports only from those above it in this list, or from itself.
FLOORS = (
    ("errors", "checks", "display", "distribution", "estimate"),
    ("rules", "board"),
    ("methods",),
    ("battle",),
    ("questions",),
    ("plan",),
    ("answers",),
    ("charts",),
    ("cli", "web", "batch"),
    ("__main__",),
)
FLOOR = {package: floor for floor, packages in enumerate(FLOORS) for package in packages}


def module_name(file: Path) -> str:
    """Return a file's name within the package."""
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__" or len(parts) == 1)


def imported(file: Path) -> set[str]:
    """Return the files of the package that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and re.match(r"iacta(\.|$)", node.module or ""):
            base = (node.module or "").removeprefix("iacta").removeprefix(".")
            for alias in node.names:
                below = f"{base}.{alias.name}".removeprefix(".")
                names.add(below if any(module_name(f) == below for f in FILES) else base)
    return names


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_a_package_imports_only_from_floors_below(file: Path) -> None:
    here = module_name(file).partition(".")[0]
    if here != "__init__":  # the public names
        for below in (name.partition(".")[0] for name in imported(file)):
            assert below == here or FLOOR[below] < FLOOR[here] or not FLOOR[here], below


def test_no_file_imports_itself_in_a_circle() -> None:
    below = {module_name(file): imported(file) for file in FILES}
    while free := {name for name, names in below.items() if not names & below.keys()}:
        below = {name: names for name, names in below.items() if name not in free}
    assert not below


def test_public_names_are_sorted_and_there() -> None:
    names = iacta.__all__
    # Constants first, then classes, then functions, each by the alphabet.
    assert names == sorted(names, key=lambda name: (not name.isupper(), name[0].islower(), name))
    assert len(names) == len(set(names))
    assert all(hasattr(iacta, name) for name in names)


def public_functions() -> list[tuple[str, Any]]:
    """Return every public function, and every public method of a public class."""
    found = []
    for name in iacta.__all__:
        documented = getattr(iacta, name)
        if inspect.isfunction(documented):
            found.append((name, documented))
        elif inspect.isclass(documented):
            found += [
                (f"{name}.{key}", each)
                for key, each in vars(documented).items()
                if inspect.isfunction(each) and not key.startswith("_")
            ]
    return found


@pytest.mark.parametrize(
    ("name", "function"), public_functions(), ids=lambda value: getattr(value, "__name__", value)
)
def test_public_functions_tell_of_each_argument(name: str, function: Any) -> None:
    text = inspect.getdoc(function) or ""
    assert text.split("\n")[0].endswith("."), name
    shared = {"self", "exact", "method"}  # told once, by the class
    if "arguments" not in text:
        for argument in set(inspect.signature(function).parameters) - shared:
            assert re.search(rf"\b{argument}\b", text), (name, argument)


def test_public_classes_tell_of_each_field() -> None:
    for name in iacta.__all__:
        documented = getattr(iacta, name)
        if inspect.isclass(documented) and not issubclass(documented, Exception):
            for field in inspect.signature(documented).parameters:
                assert re.search(rf"\b{field}\b", documented.__doc__ or ""), (name, field)


def test_importing_iacta_starts_nothing_heavy() -> None:
    heavy = ("rich", "typer", "scipy", "pandas", "altair", "vl_convert", "numpy.random")
    code = f"import iacta, sys; print([name for name in {heavy!r} if name in sys.modules])"
    ended = subprocess.run(  # noqa: S603 # our own line
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "[]\n"


def test_the_core_needs_three_packages_only() -> None:
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r"^dependencies = \[(.*)\]$", settings, re.MULTILINE)
    assert found is not None
    assert re.findall(r'"([a-z]+)', found.group(1)) == ["numpy", "rich", "typer"]


def keys(record: Any) -> set[str]:
    """Return all keys of a record but those within rules, which have a page of their own."""
    if isinstance(record, dict):
        return set(record).union(*(keys(each) for key, each in record.items() if key != "fields"))
    return set().union(*map(keys, record)) if isinstance(record, list) else set()


def test_the_output_s_keys_are_documented() -> None:
    text = (ROOT / "docs" / "output.md").read_text(encoding="utf-8")
    for line, answer in read_cases("json").items():
        for key in keys(answer["stdout"]):
            assert f"`{key}`" in text, (line, key)
