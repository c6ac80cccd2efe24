"""Turns the docstrings of the library into pages."""

import inspect
import re
import sys
import unicodedata
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import iacta
from docs.equations import typeset
from iacta import charts, methods, plan
from iacta_literature import hoehle, taflin

__all__ = ["METHODS", "anchor", "charts_page", "library_page", "method_page", "plans_page", "title"]


def _modules(package: ModuleType) -> dict[str, ModuleType]:
    """Return the files of a package by their names."""
    names = (each.name for each in iter_modules(package.__path__))
    return {name: import_module(f"{package.__name__}.{name}") for name in names}


# Every file of the methods has a page, and so have the articles with equations of their own.
METHODS: dict[str, ModuleType] = _modules(methods) | {"taflin": taflin, "hoehle": hoehle}
STARS = re.compile(r"(`[^`]*`|\*\w+\*)|\*")
SOURCES = Path(__file__).parent / "sources.md"
LONG = 40  # letters of a default value that says more than it helps
ARGUMENT = re.compile(r"^(?!Source)(\w+(?:, \w+)*): ")


def library_page() -> str:
    """Return a page with every public name, package by package."""
    parts = ["# Library", "Everything here is imported from `iacta`."]
    for module, names in _by_module(iacta, depth=2).items():
        parts += [f"## {title(module)}", *_prose(module)[:1]]
        for name in names:
            parts += _entry(name, getattr(iacta, name), "###")
    return "\n\n".join(parts) + "\n"


def charts_page() -> str:
    """Return a page with every function that draws, file by file."""
    parts = ["# Pictures from Python", "Everything here is imported from `iacta.charts`."]
    for module, names in _by_module(charts, depth=3).items():
        parts.append(f"## {title(module)}")
        for name in names:
            parts += _entry(name, getattr(charts, name), "###")
    return "\n\n".join(parts) + "\n"


def _by_module(package: ModuleType, depth: int) -> dict[ModuleType, list[str]]:
    """Return the documented public names of a package by the package or file that has them.

    depth: how many parts of a module's name tell where a name belongs.
    """
    found: dict[ModuleType, list[str]] = {}
    for name in package.__all__:
        documented = getattr(package, name)
        if callable(documented):
            place = ".".join(documented.__module__.split(".")[:depth])
            found.setdefault(sys.modules[place], []).append(name)
    return dict(sorted(found.items(), key=lambda item: title(item[0])))


def method_page(module: ModuleType) -> str:
    """Return the page of a method: its mathematics, its functions, and where it is from."""
    parts = [f"# {title(module)}", *_prose(module), "## Its functions"]
    for name in module.__all__:
        if callable(getattr(module, name)):
            parts += _entry(f"{_last(module)}.{name}", getattr(module, name), "###")
    if links := _sources("\n".join(parts)):
        parts += ["## Where it is from", links]
    return "\n\n".join(parts) + "\n"


def plans_page() -> str:
    """Return a page with the mathematics of the plans, file by file."""
    parts = ["# How plans are found", *_prose(plan)]
    for module in _modules(plan).values():
        _, *rest = prose = _prose(module)
        if rest:
            parts += [f"## {title(module)}", *prose]
    return "\n\n".join(parts) + "\n"


def title(module: ModuleType) -> str:
    """Return what a file says it is called, or else its name."""
    name, colon, _ = inspect.cleandoc(module.__doc__ or "").partition("\n")[0].partition(": ")
    return name if colon else _last(module).replace("_", " ").capitalize()


def _prose(module: ModuleType) -> list[str]:
    """Return the docstring of a file, without the name with which it may begin."""
    first, *rest = inspect.cleandoc(module.__doc__ or "").split("\n\n")
    name, _, said = first.partition(": ")
    lead = said or name
    return [lead[0].upper() + lead[1:], *map(_starred, rest)]


def _starred(paragraph: str) -> str:
    """Return a paragraph in which stars are stars, but for those around a word that is stressed.

    Equations, which are indented, are typeset.
    """
    if paragraph.startswith("    "):
        return typeset(paragraph)
    return STARS.sub(lambda found: found[1] or r"\*", paragraph)


def _last(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _sources(text: str) -> str:
    """Return links to the sources that a text names."""
    names = re.findall(r"^## (.*)$", SOURCES.read_text(encoding="utf-8"), re.MULTILINE)
    return " · ".join(f"[{name}](../sources.md#{anchor(name)})" for name in names if name in text)


def anchor(heading: str) -> str:
    """Return what the site calls a heading.

    heading: its words.
    """
    letters = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", letters))


def _entry(name: str, documented: Any, level: str) -> Iterator[str]:
    yield f"{level} `{name}`"
    if inspect.isfunction(documented) or _has_own_signature(documented):
        yield f"```python\n{name}{_signature(documented)}\n```"
    yield from _paragraphs(documented)
    if inspect.isclass(documented):
        for method_name, method in vars(documented).items():
            function = getattr(method, "__func__", method)
            if not method_name.startswith("_") and inspect.isfunction(function):
                yield from _entry(f"{name}.{method_name}", function, level + "#")


def _has_own_signature(documented: Any) -> bool:
    return inspect.isclass(documented) and not issubclass(documented, Exception)


def _signature(documented: Any) -> str:
    """Return the arguments without their types, which the text tells."""
    signature = inspect.signature(documented)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty, default=_default(parameter))
        for name, parameter in signature.parameters.items()
        if name not in ("self", "cls")
    ]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _default(parameter: inspect.Parameter) -> Any:
    """Return a default value; of one that takes long to tell only that there is one."""
    return ... if len(repr(parameter.default)) > LONG else parameter.default


def _paragraphs(documented: type | ModuleType | Any) -> Iterator[str]:
    """Yield the docstring as Markdown: arguments as a list, sessions as code."""
    for paragraph in inspect.cleandoc(documented.__doc__ or "").split("\n\n"):
        if paragraph.startswith(">>>"):
            yield f"```python\n{paragraph}\n```"
        elif ARGUMENT.match(paragraph):
            yield re.sub(r"^(\w+(?:, \w+)*): ", r"- `\1`: ", paragraph, flags=re.MULTILINE)
        else:
            yield _starred(paragraph)
