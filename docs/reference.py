"""Turns the docstrings of the library into pages."""

import inspect
import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import iacta
from docs.equations import typeset
from docs.signatures import aliases, has_own_signature, property_type, signature
from iacta import charts, methods, plan
from iacta.rules import thrown
from iacta_literature import chain, hoehle, taflin, tree

__all__ = [
    "METHODS",
    "anchor",
    "charts_page",
    "library_navigation",
    "library_pages",
    "method_page",
    "plans_page",
    "title",
]


def _modules(package: ModuleType) -> dict[str, ModuleType]:
    """Return the files of a package by their names."""
    names = (each.name for each in iter_modules(package.__path__))
    return {name: import_module(f"{package.__name__}.{name}") for name in names}


# Every file of the methods has a page, and so have the dice that a simulation throws, the articles
# with equations of their own, and what shows the states of a battle.
METHODS: dict[str, ModuleType] = _modules(methods) | {
    each.__name__.rpartition(".")[2]: each for each in (thrown, taflin, hoehle, tree, chain)
}
STARS = re.compile(r"(`[^`]*`|\*\w+\*)|\*")
SCRIPTS = re.compile(
    r"(?P<code>`[^`]*`)"
    r"|(?:(?<=\b[A-Za-zα-ωΦΨΣ])|(?<=max|min)|(?<=\)))_(?P<below>\{[^}]+\}|[A-Za-z0-9π]+\b)"  # noqa: RUF001
    r"|(?<=[\w)>])\^(?P<above>\{[^}]+\}|\([^()]+\)|[\w.]*\w)"
)
SOURCES = Path(__file__).parent / "sources.md"
ARGUMENT = re.compile(r"^(?!Source)(\w+(?:, \w+)*): ")


def library_pages() -> dict[str, str]:
    """Return the pages of the public names: a list of all, one for each class, and of functions."""
    listed = ["# Library", "Everything here is imported from `iacta`."]
    pages = {}
    for module, names in _by_module(iacta, depth=2).items():
        listed += [f"## {title(module)}", *_prose(module)[:1]]
        rows = ["| name | what it is |", "| --- | --- |"]
        functions: list[str] = []
        for name in names:
            documented = getattr(iacta, name)
            page = f"library/{name}.md"
            if inspect.isclass(documented):
                entry = [*_entry(name, documented, "#")]
                pages[page] = "\n\n".join([*entry, *_aliases(entry, [documented])]) + "\n"
            else:
                page = f"library/{_last(module)}-functions.md"
                functions += _entry(name, documented, "##")
                page += f"#{anchor(name)}"
            rows.append(f"| [`{name}`]({page}) | {_summary(documented)} |")
        if functions:
            head = [f"# Functions: {title(module).lower()}", *_prose(module)[:1]]
            page = f"library/{_last(module)}-functions.md"
            found = [getattr(iacta, name) for name in names]
            pages[page] = "\n\n".join([*head, *functions, *_aliases(functions, found)]) + "\n"
        listed.append("\n".join(rows))
    return {"library.md": "\n\n".join(listed) + "\n", **pages}


def _aliases(entries: list[str], documented: list[Any]) -> list[str]:
    """Return the end of a page: what the names of types in its signatures are short for."""
    shown = "\n".join(each for each in entries if re.match(r"```python\n(?!>>>)", each))
    modules = dict.fromkeys(each.__module__ for each in documented if callable(each))
    known = {name: text for module in modules for name, text in aliases(shown, module).items()}
    listed = "\n".join(f"- `{name}` is `{text}`" for name, text in sorted(known.items()))
    return ["## Types", listed] if listed else []


def library_navigation() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return for each package its title and its pages, each with what the menu calls it."""
    found = []
    for module, names in _by_module(iacta, depth=2).items():
        classes = [name for name in names if inspect.isclass(getattr(iacta, name))]
        pages = [(name, f"library/{name}.md") for name in classes]
        if len(classes) < len(names):
            pages.insert(0, ("Functions", f"library/{_last(module)}-functions.md"))
        found.append((title(module), pages))
    return found


def _summary(documented: Any) -> str:
    """Return the first sentence of a docstring, fit for a table."""
    first = " ".join(inspect.cleandoc(documented.__doc__ or "").partition("\n\n")[0].split())
    return _starred(first).replace("|", r"\|")


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

    depth: how many parts of a module's name say where a name belongs.
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
        documented = getattr(module, name)
        if callable(documented) and documented.__module__.startswith("iacta"):
            parts += _entry(f"{_last(module)}.{name}", documented, "###")
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
    starred = STARS.sub(lambda found: found[1] or r"\*", paragraph)
    return SCRIPTS.sub(_script, starred)


def _script(found: re.Match[str]) -> str:
    """Return what is set below or above in a sentence; code stays as it is."""
    if found["code"]:
        return found[0]
    tag, text = ("sub", found["below"]) if found["below"] else ("sup", found["above"])
    return f"<{tag}>{text.strip('(){}')}</{tag}>"


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
    if inspect.isroutine(inspect.unwrap(documented)) or has_own_signature(documented):
        yield f"```python\n{signature(name, documented)}\n```"
    yield from _paragraphs(documented)
    if inspect.isclass(documented):
        for method_name, method in vars(documented).items():
            function = getattr(method, "__func__", method)
            if method_name.startswith("_"):
                continue
            if inspect.isfunction(function):
                yield from _entry(f"{name}.{method_name}", function, level + "#")
            elif isinstance(method, property | cached_property):
                yield f"{level}# `{name}.{method_name}`"
                yield f"```python\n{name}.{method_name}: {property_type(method)}\n```"
                yield from _paragraphs(method)


def _paragraphs(documented: type | ModuleType | Any) -> Iterator[str]:
    """Yield the docstring as Markdown: arguments as a list, sessions as code."""
    for paragraph in inspect.cleandoc(documented.__doc__ or "").split("\n\n"):
        if paragraph.startswith(">>>"):
            yield f"```python\n{paragraph}\n```"
        elif ARGUMENT.match(paragraph):
            listed = re.sub(r"^(\w+(?:, \w+)*): ", r"- `\1`: ", paragraph, flags=re.MULTILINE)
            yield SCRIPTS.sub(_script, listed)
        else:
            yield _starred(paragraph)
