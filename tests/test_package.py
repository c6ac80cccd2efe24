"""The package as a whole: its names, its floors, its promises."""

import ast
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import iacta

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "iacta"
FILES = sorted(SOURCE.rglob("*.py"))

# Each file imports only from files that stand on a line above its own.
FLOORS = [
    {"errors"},
    {"numbers"},
    {"records", "outcome", "weights"},
    {"distribution", "estimate"},
    {"dice"},
    {"rules"},
    {"modifiers"},
    {"variants", "stop"},
    {"roll", "territory", "rules_file"},
    {"board.names"},
    {"board.board", "board.text", "board.tables", "board.xml_tree"},
    {"board.draft"},
    {"board.conquer_club", "board.conquest", "board.domination", "board.lux", "board.plain"},
    {"board.warzone", "board.classic"},
    {"board.formats"},
    {"board.position"},
    {"board"},
    {"board"},
    {"plan.sets"},
    {
        "methods.limits",
        "methods.method",
        "methods.diagonals",
        "methods.walk",
        "methods.throws",
        "methods.workers",
    },
    {
        "methods.counting",
        "methods.lattice",
        "methods.path_tree",
        "methods.simulation",
        "methods.taflin_strips",
        "methods.tan_1997",
        "methods.chain",
    },
    {"methods.spreads", "methods.replies"},
    {
        "methods.sees_first",
        "methods.sees_first_exact",
        "methods.stopping",
        "methods.survivors",
        "methods.taflin_2001",
        "methods.closed_form",
        "methods.markov",
        "methods.optimal_play",
    },
    {"methods.leap"},
    {"methods.balanced_blitz"},
    {"methods.hand_or_blitz"},
    {"methods"},
    {"bracket", "large_requirement", "balanced_requirement", "stopped"},
    {"decision"},
    {"battle", "odds", "campaign", "requirement", "defence", "spread", "seen"},
    {"simulated", "break_even"},
    {"plan.goal", "plan.problem", "plan.transfer"},
    {"plan.stack", "plan.bound"},
    {"plan.sharing", "plan.states"},
    {"plan.exact", "plan.extras"},
    {"plan.policy"},
    {"plan.rescue", "plan.plan", "plan.forest"},
    {"plan.search", "plan.simulated"},
    {"plan.worth"},
    {"plan.best"},
    {"plan.needed"},
    {"plan"},
    {"plan_words", "plan_way"},
    {"charts.theme", "charts.converter", "charts.words"},
    {"charts.page", "charts.board_layout"},
    {"charts.files", "charts.board_layers", "charts.state_layers"},
    {"charts.lines", "charts.bars", "charts.boards"},
    {"charts.boundary", "charts.campaigns", "charts.decisions", "charts.laws", "charts.states"},
    {"charts.paths"},
    {"charts.curves", "charts.troops", "charts.requirements", "charts.simulations"},
    {"charts.tables", "charts.spreads", "charts.rules", "charts.comparison"},
    {"charts"},
    {"reproduce.data", "reproduce.verdict"},
    {"reproduce.tables", "reproduce.rolls", "reproduce.as_printed"},
    {"reproduce.pracpred", "reproduce.taflin", "reproduce.norvig"},
    {"reproduce.van_wijgerden", "reproduce.hoehle", "reproduce.figures"},
    {"reproduce.drawing"},
    {"reproduce.report"},
    {"reproduce.run"},
    {"reproduce"},
    {"cli.options", "cli.picture"},
    {"cli.show"},
    {"cli.endings", "cli.dice_words", "cli.chart_curves", "cli.chart_laws"},
    {"cli.decide_dice", "cli.plan_options", "cli.plan_show"},
    {
        "cli.chart",
        "cli.battle",
        "cli.board",
        "cli.campaign",
        "cli.compare",
        "cli.decide",
        "cli.defend",
        "cli.need",
        "cli.plan",
        "cli.simulate",
        "cli.table",
        "cli.reproduce",
        "cli.roll",
        "cli.rules",
    },
    {"cli.app"},
    {"cli"},
    {"__main__"},
]


def module_name(file: Path) -> str:
    """Return a file's name within the package."""
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__" or len(parts) == 1)


def imported(file: Path) -> set[str]:
    """Return the files of the package that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("iacta"):
            base = (node.module or "").removeprefix("iacta").removeprefix(".")
            for alias in node.names:
                below = f"{base}.{alias.name}".removeprefix(".")
                names.add(below if any(module_name(f) == below for f in FILES) else base)
    return names


@pytest.mark.parametrize("file", FILES, ids=module_name)
def test_a_file_imports_only_from_floors_below(file: Path) -> None:
    name = module_name(file)
    if name == "__init__":
        return  # the public names
    floors = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
    assert all(floors[below] < floors[name] for below in imported(file))


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


METHOD_FILES = [file.stem for file in sorted((SOURCE / "methods").glob("[!_]*.py"))]


@pytest.mark.parametrize("name", METHOD_FILES)
def test_functions_of_methods_tell_of_each_argument(name: str) -> None:
    module = import_module(f"iacta.methods.{name}")
    for public in module.__all__:
        function = getattr(module, public)
        if inspect.isfunction(function):
            text = (inspect.getdoc(function) or "").split(">>>")[0]
            for argument in inspect.signature(function).parameters:
                assert re.search(rf"\b{argument}\b", text), (public, argument)


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


def test_the_architecture_names_every_file() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for file in FILES:
        name = file.relative_to(SOURCE).as_posix()
        if name.startswith("cli/") or file.name in ("__init__.py", "__main__.py"):
            continue
        assert f"`{name}`" in text, name


def test_the_output_s_keys_are_documented() -> None:
    text = (ROOT / "docs" / "output.md").read_text(encoding="utf-8")
    for file in sorted((SOURCE / "cli").glob("*.py")):
        if file.name.startswith(("app", "chart")):
            continue  # settings of the command line
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Dict):
                for key in node.keys:
                    if isinstance(key, ast.Constant) and str(key.value).isidentifier():
                        assert str(key.value) in text, (file.name, key.value)
