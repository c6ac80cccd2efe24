"""Generates the reference pages: Markdown files with directives for mkdocstrings."""

import inspect
import re
import sys
import unicodedata
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import griffe

import iacta
from iacta import charts, methods, plan
from iacta.inputs import errors
from iacta.rules import thrown
from iacta_literature import charts as figures
from iacta_literature import hoehle, taflin, tree


def _list_modules(package: ModuleType) -> dict[str, ModuleType]:
    """Return the modules of a package by name."""
    names = (each.name for each in iter_modules(package.__path__))
    return {name: import_module(f"{package.__name__}.{name}") for name in names}


# Modules with their own page: all methods, simulation, articles with equations, and battle states.
METHODS: dict[str, ModuleType] = _list_modules(methods) | {
    each.__name__.rpartition(".")[2]: each for each in (thrown, taflin, hoehle, tree)
}
SOURCES = Path(__file__).parents[2] / "docs" / "sources.md"


def make_reference_pages() -> dict[str, str]:
    """Return the pages generated from docstrings, by path."""
    return {
        **_make_library_pages(),
        "charts.md": _make_charts_page(),
        "plans.md": _make_plans_page(),
        **{f"methods/{name}.md": _make_method_page(module) for name, module in METHODS.items()},
    }


def _make_library_pages() -> dict[str, str]:
    """Return a list of all public names, and a page for each package."""
    listed = ["# Library", _make_prose_directive("iacta")]
    pages = {}
    for module, names in _group_names(iacta, depth=2).items():
        rows = [
            f"| [`{name}`][iacta.{name}] | {_summarise(getattr(iacta, name))} |" for name in names
        ]
        listed += [
            f"## {_find_title(module)}",
            "\n".join(["| name | summary |", "| --- | --- |", *rows]),
        ]
        entries = [f"::: iacta.{name}" for name in names]
        pages[f"library/{_get_short_name(module)}.md"] = _join_parts(
            f"# {_find_title(module)}", _make_prose_directive(module.__name__), *entries
        )
    return {"library.md": _join_parts(*listed, *_list_types()), **pages}


def _list_types() -> list[str]:
    """Return a section about the type aliases that occur in signatures."""
    public = (getattr(iacta, name) for name in iacta.__all__)
    files = {_find_module(each) for each in public if hasattr(each, "__module__")}
    read = griffe.load("iacta", search_paths=[SOURCES.parents[1] / "src"])
    named = [
        each for file in files for each in read[file.removeprefix("iacta.")].attributes.values()
    ]
    found = {
        each.canonical_path
        for each in named
        if not each.is_private and str(each.annotation) == "TypeAlias"
    }
    return ["## Types", *(_make_directive(each, "heading_level: 3") for each in sorted(found))]


def _make_charts_page() -> str:
    """Return a page with all charts, grouped by module."""
    parts = ["# Pictures from Python"]
    for package in (charts, figures):
        parts.append(f"Import the following functions from `{package.__name__}`.")
        for module, names in _group_names(package, depth=3).items():
            parts.append(f"## {_find_title(module)}")
            parts += [
                _make_directive(f"{module.__name__}.{name}", "heading_level: 3") for name in names
            ]
    return _join_parts(*parts)


def _make_plans_page() -> str:
    """Return a page about the mathematics of plans, grouped by module."""
    parts = ["# How plans are found", _make_prose_directive(plan.__name__)]
    for module in _list_modules(plan).values():
        if "\n\n" in inspect.cleandoc(module.__doc__ or ""):
            parts += [f"## {_find_title(module)}", _make_prose_directive(module.__name__)]
    return _join_parts(*parts)


def _make_method_page(module: ModuleType) -> str:
    """Return the page about a method: mathematics, functions and sources."""
    names = re.findall(r"^## (.*)$", SOURCES.read_text(encoding="utf-8"), re.MULTILINE)
    text = inspect.getsource(module)
    own = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__
        and not name.startswith("_")
        and name not in iacta.__all__
    ]
    sources = [f"[{name}](../sources.md#{make_anchor(name)})" for name in names if name in text]
    return _join_parts(
        f"# {_find_title(module)}",
        _make_directive(
            module.__name__,
            "show_root_heading: false",
            "show_root_toc_entry: false",
            f"members: {own}",
        ),
        *["## Sources", " · ".join(sources)] * bool(sources),
    )


def _group_names(package: ModuleType, depth: int) -> dict[ModuleType, list[str]]:
    """Group the public names of a package by module or subpackage.

    depth: how many parts of a module's dotted name to group by.
    """
    found: dict[ModuleType, list[str]] = {}
    for name in package.__all__:
        documented = getattr(package, name)
        if callable(documented):
            place = ".".join(_find_module(documented).split(".")[:depth])
            found.setdefault(sys.modules[place], []).append(name)
    return dict(sorted(found.items(), key=lambda item: _find_title(item[0])))


def _find_module(documented: object) -> str:
    """Return the module of a public name; the `__module__` of errors is always `iacta`."""
    return errors.__name__ if documented.__module__ == "iacta" else documented.__module__


def _join_parts(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def _make_directive(path: str, *options: str) -> str:
    """Return a directive that inserts the docstrings of an object."""
    return "\n".join([f"::: {path}", "    options:", *(f"      {each}" for each in options)])


def _make_prose_directive(path: str) -> str:
    return _make_directive(
        path, "show_root_heading: false", "show_root_toc_entry: false", "members: false"
    )


def _find_title(module: ModuleType) -> str:
    """Return the text before the colon in the first line of a module's docstring, or its name."""
    name, colon, _ = inspect.cleandoc(module.__doc__ or "").partition("\n")[0].partition(": ")
    return name if colon else _get_short_name(module).replace("_", " ").capitalize()


def _summarise(documented: object) -> str:
    """Return the first paragraph of a docstring, escaped for a Markdown table."""
    first = inspect.cleandoc(documented.__doc__ or "").partition("\n\n")[0]
    return " ".join(first.split()).replace("|", r"\|")


def _get_short_name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def make_anchor(heading: str) -> str:
    """Return the anchor that MkDocs generates for a heading."""
    letters = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", letters))
