"""The pages of the library, which say what mkdocstrings is to show on them."""

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
from iacta_literature import chain, hoehle, taflin, tree
from iacta_literature import charts as figures


def _modules(package: ModuleType) -> dict[str, ModuleType]:
    """Return the files of a package by their names."""
    names = (each.name for each in iter_modules(package.__path__))
    return {name: import_module(f"{package.__name__}.{name}") for name in names}


# Every file of the methods has a page, and so have the dice that a simulation throws, the articles
# with equations of their own, and what shows the states of a battle.
METHODS: dict[str, ModuleType] = _modules(methods) | {
    each.__name__.rpartition(".")[2]: each for each in (thrown, taflin, hoehle, tree, chain)
}
SOURCES = Path(__file__).parents[2] / "docs" / "sources.md"


def reference_pages() -> dict[str, str]:
    """Return the pages that are made from docstrings, by their paths."""
    return {
        **_library_pages(),
        "charts.md": _charts_page(),
        "plans.md": _plans_page(),
        **{f"methods/{name}.md": _method_page(module) for name, module in METHODS.items()},
    }


def _library_pages() -> dict[str, str]:
    """Return a list of all public names, and a page for the names of each package."""
    listed = ["# Library", _prose("iacta")]
    pages = {}
    for module, names in _group_names(iacta, depth=2).items():
        rows = [
            f"| [`{name}`][iacta.{name}] | {_summary(getattr(iacta, name))} |" for name in names
        ]
        listed += [
            f"## {_title(module)}",
            "\n".join(["| name | what it is |", "| --- | --- |", *rows]),
        ]
        entries = [f"::: iacta.{name}" for name in names]
        pages[f"library/{_last(module)}.md"] = _page(
            f"# {_title(module)}", _prose(module.__name__), *entries
        )
    return {"library.md": _page(*listed, *_types()), **pages}


def _types() -> list[str]:
    """Return the end of the list: what the short names of types in signatures mean."""
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
    return ["## Types", *(_shown(each, "heading_level: 3") for each in sorted(found))]


def _charts_page() -> str:
    """Return a page with every function that draws, file by file."""
    parts = ["# Pictures from Python"]
    for package in (charts, figures):
        parts.append(f"What follows is imported from `{package.__name__}`.")
        for module, names in _group_names(package, depth=3).items():
            parts.append(f"## {_title(module)}")
            parts += [_shown(f"{module.__name__}.{name}", "heading_level: 3") for name in names]
    return _page(*parts)


def _plans_page() -> str:
    """Return a page with the mathematics of the plans, file by file."""
    parts = ["# How plans are found", _prose(plan.__name__)]
    for module in _modules(plan).values():
        if "\n\n" in inspect.cleandoc(module.__doc__ or ""):
            parts += [f"## {_title(module)}", _prose(module.__name__)]
    return _page(*parts)


def _method_page(module: ModuleType) -> str:
    """Return the page of a method: its mathematics, its functions, and where it is from."""
    names = re.findall(r"^## (.*)$", SOURCES.read_text(encoding="utf-8"), re.MULTILINE)
    text = inspect.getsource(module)
    own = [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__
        and not name.startswith("_")
        and name not in iacta.__all__
    ]
    sources = [f"[{name}](../sources.md#{anchor(name)})" for name in names if name in text]
    return _page(
        f"# {_title(module)}",
        _shown(
            module.__name__,
            "show_root_heading: false",
            "show_root_toc_entry: false",
            f"members: {own}",
        ),
        *["## Where it is from", " · ".join(sources)] * bool(sources),
    )


def _group_names(package: ModuleType, depth: int) -> dict[ModuleType, list[str]]:
    """Return the documented public names of a package by the package or file that has them.

    depth: how many parts of a module's name say where a name belongs.
    """
    found: dict[ModuleType, list[str]] = {}
    for name in package.__all__:
        documented = getattr(package, name)
        if callable(documented):
            place = ".".join(_find_module(documented).split(".")[:depth])
            found.setdefault(sys.modules[place], []).append(name)
    return dict(sorted(found.items(), key=lambda item: _title(item[0])))


def _find_module(documented: object) -> str:
    """Return the name of the file that has a public name; errors call themselves `iacta`'s."""
    return errors.__name__ if documented.__module__ == "iacta" else documented.__module__


def _page(*parts: str) -> str:
    return "\n\n".join(parts) + "\n"


def _shown(path: str, *options: str) -> str:
    """Return what asks mkdocstrings for the docstrings of something."""
    return "\n".join([f"::: {path}", "    options:", *(f"      {each}" for each in options)])


def _prose(path: str) -> str:
    return _shown(path, "show_root_heading: false", "show_root_toc_entry: false", "members: false")


def _title(module: ModuleType) -> str:
    """Return what a file says it is called, or else its name."""
    name, colon, _ = inspect.cleandoc(module.__doc__ or "").partition("\n")[0].partition(": ")
    return name if colon else _last(module).replace("_", " ").capitalize()


def _summary(documented: object) -> str:
    """Return the first paragraph of a docstring, fit for a table."""
    first = inspect.cleandoc(documented.__doc__ or "").partition("\n\n")[0]
    return " ".join(first.split()).replace("|", r"\|")


def _last(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def anchor(heading: str) -> str:
    """Return what the site calls a heading.

    heading: its words.
    """
    letters = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", letters))
