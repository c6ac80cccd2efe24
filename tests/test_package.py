"""The package as a whole: names, layers and imports."""

import ast
import inspect
import io
import operator
import re
import subprocess
import tokenize
import tomllib
from functools import cache, cached_property
from pathlib import Path
from typing import Any, get_args, is_typeddict

import pytest

import iacta
from iacta.charts.registry import list_public_names
from iacta.inputs.errors import list_packages, missing_error
from iacta.methods import METHODS
from iacta.rules.modes import MODES
from iacta_literature.run import SOURCES
from tests.cases import for_each
from tests.processes import NUMPY_ONLY, run_python
from tests.tables import table

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "iacta"
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FILES = sorted(SOURCE.rglob("*.py"))
OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}


def module_name(file: Path) -> str:
    """Return the name of a file, relative to the package."""
    return ".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(file): file for file in FILES}


@cache
def read_syntax(file: Path) -> list[ast.AST]:
    """Return the nodes of a file's syntax tree."""
    return [*ast.walk(ast.parse(file.read_text(encoding="utf-8")))]


@cache
def find_imports() -> dict[str, set[str]]:
    """For each file, return the files of the package that it imports."""
    found: dict[str, set[str]] = {}
    for name, file in MODULES.items():
        found[name] = set()
        for node in read_syntax(file):
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("iacta."):
                base = f"{node.module}."[len("iacta.") :]
                names = (f"{base}{alias.name}" for alias in node.names)
                found[name] |= {each if each in MODULES else base[:-1] for each in names}
    return found


def read_layers() -> dict[str, int]:
    """Return the layer of each package from the architecture page; 0 is the lowest."""
    rows = re.findall(r"^\| (\w+) \| `(\w+)(?:/|\.py)` \|", ARCHITECTURE, re.MULTILINE)
    names = list(dict.fromkeys(layer for layer, _ in reversed(rows)))
    return {package: names.index(layer) for layer, package in rows}


def test_the_table_of_the_architecture_lists_each_package_once() -> None:
    packages = [file.parent.name for file in SOURCE.glob("*/__init__.py")]
    files = [file.stem for file in SOURCE.glob("*.py") if file.name != "__init__.py"]
    assert sorted(read_layers()) == sorted(packages + files)


def test_a_package_imports_only_from_layers_below() -> None:
    layer = read_layers()
    for name, below in find_imports().items():
        here = name.partition(".")[0]
        for other in {each.partition(".")[0] for each in below if name != "__init__"}:
            assert other == here or layer[other] < layer[here], (name, other)


def find_calls(name: str) -> dict[str, list[ast.Call]]:
    """Return the calls of a function in each file."""
    found: dict[str, list[ast.Call]] = {}
    for module, file in MODULES.items():
        for node in read_syntax(file):
            if isinstance(node, ast.Call) and name == getattr(node.func, "id", ""):
                found.setdefault(module, []).append(node)
    return found


# The late imports of higher layers that are allowed: (importing file, imported module).
CLIMBS = {
    ("inputs.reprs", "charts"),
    ("inputs.reprs", "forms.notebook"),
    ("forms.question", "charts"),
}


def test_only_listed_functions_import_higher_layers() -> None:
    climbs = find_calls("import_upper_module").items()
    assert {(name, ast.literal_eval(each.args[0])) for name, of in climbs for each in of} == CLIMBS


def test_only_interfaces_import_the_literature() -> None:
    for name, file in MODULES.items():
        for node in read_syntax(file):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(each.partition(".")[0] == "iacta_literature" for each in names):
                assert name.partition(".")[0] in ("cli", "web"), name


def test_only_native_uses_ctypes() -> None:
    wrong = set[str]()
    for name, file in MODULES.items():
        for node in read_syntax(file):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if "ctypes" in names and not name.startswith("native."):
                wrong.add(name)
    assert not wrong


def test_no_module_is_imported_by_a_name_that_hides_it() -> None:
    for name, found in find_calls("import_module").items():
        for argument in (ast.unparse(call.args[0]) for call in found):
            assert "iacta" not in argument or name == "inputs.reprs", (name, argument)


def test_there_are_no_import_cycles() -> None:
    below = find_imports()
    while free := {name for name, names in below.items() if not names & below.keys()}:
        below = {name: names for name, names in below.items() if name not in free}
    assert not below


def test_each_public_function_has_a_doctest() -> None:
    functions = filter(inspect.isfunction, (getattr(iacta, name) for name in iacta.__all__))
    assert not [each.__name__ for each in functions if ">>> " not in (each.__doc__ or "")]


def test_class_names_are_unique() -> None:
    found: dict[str, list[Path]] = {}
    for file in (ROOT / "src").rglob("*.py"):
        for node in read_syntax(file):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(file)
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def find_constants() -> dict[str, dict[int | float | str, list[str]]]:
    """For each name of a constant of a module, return its values and the files of each value."""
    values: dict[str, dict[int | float | str, list[str]]] = {}
    for file in sorted(SOURCE.parent.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ) if name.isupper() and (constant := compute_constant(value)) is not None:
                    values.setdefault(name, {}).setdefault(constant, []).append(file.name)
    return values


def compute_constant(expression: ast.expr) -> int | float | str | None:
    """Return the value of an expression of numbers or of a string, otherwise `None`."""
    match expression:
        case ast.Constant(value=int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.BinOp(left=first, op=sign, right=second) if type(sign) in OPERATORS:
            left, right = compute_constant(first), compute_constant(second)
            if isinstance(left, int | float) and isinstance(right, int | float):
                number: int | float = OPERATORS[type(sign)](left, right)
                return number
    return None


def test_a_constant_has_the_same_value_in_all_modules() -> None:
    constants = find_constants()
    assert constants["MAX_TERRITORIES"] == {10_000: ["territory.py", "board.py"]}
    assert not {name: values for name, values in constants.items() if len(values) > 1}


def test_higher_layers_only_use_kernels() -> None:
    found = {
        name
        for name, file in MODULES.items()
        if name.startswith("methods.") and name != "methods.kernel"
        if re.search(r"^class \w+\(.*Kernel\)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {f"methods.{each.removesuffix('_exact')}" for each in METHODS} < found
    for name, below in find_imports().items():
        assert name.startswith("methods") or not below & found, name


def test_only_rules_and_methods_name_a_mode() -> None:
    names = {mode.key for mode in MODES} | {mode.__name__ for mode in MODES}
    names |= {re.sub(r"(?<!^)([A-Z])", r"_\1", mode.__name__).lower() for mode in MODES}
    for name, file in MODULES.items():
        if name.partition(".")[0] not in ("rules", "methods"):
            code = tokenize.tokenize(io.BytesIO(file.read_bytes()).readline)
            assert not names & {token.string.strip("'\"") for token in code}, name


def test_public_names_are_sorted_and_there() -> None:
    names = iacta.__all__
    assert names == sorted(names, key=_place)
    assert len(names) == len(set(names))
    assert all(hasattr(iacta, name) for name in names)
    assert dir(iacta) == sorted([*names, "__version__", "charts"])
    assert not hasattr(iacta, "Any")


def test_private_names_start_with_an_underscore() -> None:
    for folder in ("iacta", "iacta_command", "iacta_literature"):
        for file in (SOURCE.parent / folder).rglob("*.py"):
            lists = [*re.finditer(r"^__all__ = (\[.*?\])$", file.read_text("utf-8"), re.M | re.S)]
            if file.name != "__init__.py":
                assert not lists, file
            elif lists:
                names = ast.literal_eval(lists[0][1])
                assert names == sorted(names, key=_place), file


def _place(name: str) -> tuple[bool, bool, str]:
    """Return a sort key: first constants, then classes, then functions, alphabetically."""
    return not name.isupper(), name[0].islower(), name


def test_names_of_charts_are_listed() -> None:
    ended = run_python("import iacta; print(*dir(iacta.charts))")
    names = ended.stdout.split()
    assert names == sorted(list_public_names()) == sorted(iacta.charts.__all__)
    assert {"choose_chart", "plan_map"} < {*names}
    seen_by_type_checkers = re.findall(
        r"from (iacta\.charts\.\w+) import \*", Path(iacta.charts.__file__).read_text("utf-8")
    )
    assert {each.__module__ for each in list_public_names().values()} == {*seen_by_type_checkers}


def test_the_version_equals_that_of_pyproject() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert iacta.__version__ == settings["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {iacta.__version__}\n" in citation
    assert f"\nabstract: {settings['project']['description']}\n" in citation
    assert citation.count("\n  - type: article\n") == len(SOURCES)


def test_make_help_lists_each_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    listed, *_helpers = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    help_of_make = ["make", "--no-print-directory", "help"]
    printed = subprocess.check_output(help_of_make, text=True, cwd=ROOT)  # noqa: S603 # our own
    assert [line.split()[0] for line in printed.splitlines()] == listed.split()


def test_messages_name_packages_rather_than_extras() -> None:
    for file in (ROOT / "src").rglob("*.py"):
        assert "iacta[" not in file.read_text(encoding="utf-8"), file
    assert {"dask[dataframe]", "distributed", "polars"} <= {*list_packages("cluster")}
    assert "pip install 'dask[dataframe]' distributed " in str(
        missing_error("it needs Dask", "cluster")
    )


def public_functions() -> list[tuple[str, Any]]:
    """Return every public function and every public method of a public class."""
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


def list_arguments(function: Any) -> list[str]:
    """Return the names of a function's arguments, also of the options in a `TypedDict`."""
    names: list[str] = []
    for name, argument in inspect.signature(function).parameters.items():
        options = next(filter(is_typeddict, get_args(argument.annotation)), None)
        names += [name] if options is None else options.__annotations__
    return names


@for_each(("name", "function"), public_functions())
def test_public_functions_describe_each_argument(name: str, function: Any) -> None:
    text = inspect.getdoc(function) or ""
    assert text.split("\n")[0].endswith("."), name
    assert ">>>" in text or "." in name, f"{name} needs a doctest"
    shared = {"self", "exact", "method"}  # described in the docstring of the class
    if "arguments" not in text:
        for argument in {*list_arguments(function)} - shared:
            assert re.search(rf"\b{argument}\b", text), (name, argument)


def test_public_classes_describe_each_field_and_property() -> None:
    for name in iacta.__all__:
        documented = getattr(iacta, name)
        if inspect.isclass(documented) and not issubclass(documented, Exception):
            for key, each in vars(documented).items():
                if isinstance(each, property | cached_property) and not key.startswith("_"):
                    assert inspect.getdoc(each), (name, key)
            for field in list_arguments(documented):
                assert re.search(rf"\b{field}\b", documented.__doc__ or ""), (name, field)


def test_importing_iacta_is_light() -> None:
    heavy = ("importlib.metadata", "rich", "scipy", "pandas", "vl_convert", "numpy.random")
    asked = "iacta.Battle(12, 10).win_probability(), iacta.armies_needed(10, 0.95)"
    for names, line in ((("numpy", *heavy), "None"), (heavy, asked)):
        code = f"import iacta, sys; {line}; print([n for n in {names!r} if n in sys.modules])"
        ended = run_python(code)
        assert ended.stdout == "[]\n"


@pytest.mark.parametrize(
    ("line", "unused"),
    [
        ("--help", ("iacta.questions.battle", "iacta.cli.serve", "iacta.odds", "numpy.random")),
        ("rules", ("scipy", "iacta.methods.leap", "iacta.plan", "numpy.random")),
        ("battle 12 10", ("iacta.methods.leap", "iacta.odds", "hashlib", "importlib.abc")),
        ("plan --help", ("numpy.random", "multiprocessing", "logging", "socket")),
        ("audit --help", ("numpy.random", "logging", "iacta.charts")),
    ],
)
def test_a_command_loads_only_what_it_uses(line: str, unused: tuple[str, ...]) -> None:
    code = (
        "import sys; from iacta.cli import main\n"
        f"sys.argv = ['iacta', *{line.split()!r}]\n"
        "try: main()\n"
        f"except SystemExit: print([n for n in {unused!r} if n in sys.modules], file=sys.stderr)"
    )
    ended = run_python(code)
    assert ended.stderr == "[]\n"


# Commands that need no package except NumPy.
NEEDS_NO_EXTRA = [
    *(line.removesuffix(" --plot {}") for (line,) in table(__file__, "cli/plots")[1]),
    "campaign 20 3 8:capital",
    "plan --from Ukraine=2000 --others 2 --take Ural",
]


@pytest.mark.slow
def test_the_core_needs_no_extra() -> None:
    code = (
        f"{NUMPY_ONLY}import iacta.cli\n"
        f"for line in {NEEDS_NO_EXTRA}:\n"
        "    sys.argv = ['iacta', *line.split()]\n"
        "    try:\n        iacta.cli.main()\n"
        "    except SystemExit as ended:\n        assert not ended.code, line\n"
    )
    ended = run_python(code, cwd=ROOT, check=False)
    # A slow machine may print progress messages.
    complaints = [line for line in ended.stderr.splitlines() if "Ctrl-C" not in line]
    assert (ended.returncode, complaints) == (0, [])


def test_the_core_needs_numpy_only() -> None:
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r"^dependencies = \[(.*)\]$", settings, re.MULTILINE)
    assert found is not None
    assert re.findall(r'"([a-z]+)', found.group(1)) == ["numpy"]
