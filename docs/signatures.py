"""The signatures of the library, with the types as its files write them."""

import ast
import inspect
import json
import re
import sys
from functools import cache, cached_property
from typing import Any

__all__ = ["aliases", "has_own_signature", "property_type", "signature"]

LONG = 40  # letters of a default value that says more than it helps
WIDTH = 80


class _Written:
    """A type or a default value that is shown as the source has it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def has_own_signature(documented: Any) -> bool:
    """Return whether something is a class that is called with arguments of its own."""
    return inspect.isclass(documented) and not issubclass(documented, Exception)


def signature(name: str, documented: Any) -> str:
    """Return how a function or class is called, with types, a parameter a line if it is long.

    name: what it is called.
    """
    bare = inspect.unwrap(documented)
    types, returned = _class_types(bare) if inspect.isclass(bare) else _function_types(bare)
    parameters = [
        each.replace(annotation=_written(types.get(each.name)), default=_default(each))
        for each in inspect.signature(bare).parameters.values()
        if each.name not in ("self", "cls")
    ]
    arrow = f" -> {returned}" if returned else ""
    line = f"{name}{inspect.Signature(parameters)}{arrow}"
    if len(line) <= WIDTH:
        return line
    rows = "".join(f"    {each},\n" for each in _rows(parameters))
    return f"{name}(\n{rows}){arrow}"


def property_type(documented: Any) -> str:
    """Return the type of a property."""
    is_cached = isinstance(documented, cached_property)
    return _function_types(documented.func if is_cached else documented.fget)[1]


def aliases(text: str, module: str) -> dict[str, str]:
    """Return the meanings of the names in signatures that are only short for other types.

    text: the signatures.
    module: the file in which they are written.
    """
    found = {name: _alias(name, module) for name in re.findall(r"\b[A-Z]\w+", text)}
    return {name: meaning for name, meaning in sorted(found.items()) if meaning}


def _alias(name: str, module: str) -> str:
    """Return what a name is short for in a file, or nothing."""
    for node in _parsed(module).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == name:
            return _text(node.value) if ast.unparse(node.annotation) == "TypeAlias" else ""
        if isinstance(node, ast.ImportFrom) and name in [each.name for each in node.names]:
            return (
                _alias(name, node.module) if node.module and node.module.startswith("iacta") else ""
            )
    return ""


def _written(text: str | None) -> Any:
    return _Written(text) if text else inspect.Parameter.empty


def _default(parameter: inspect.Parameter) -> Any:
    """Return a default value, or three dots for a long one."""
    if isinstance(parameter.default, str):
        return _Written(json.dumps(parameter.default, ensure_ascii=False))
    return ... if len(repr(parameter.default)) > LONG else parameter.default


def _rows(parameters: list[inspect.Parameter]) -> list[str]:
    """Return the parameters of a signature, and the marks between their kinds."""
    rows: list[str] = []
    kinds = [each.kind for each in parameters]
    for number, each in enumerate(parameters):
        before = kinds[:number]
        if each.kind is each.KEYWORD_ONLY and not {each.KEYWORD_ONLY, each.VAR_POSITIONAL} & {
            *before
        }:
            rows.append("*")
        rows.append(str(each))
        if each.kind is each.POSITIONAL_ONLY and each.kind not in kinds[number + 1 :]:
            rows.append("/")
    return rows


def _function_types(function: Any) -> tuple[dict[str, str], str]:
    """Return the types of the parameters of a function, and of what it returns."""
    node = _definition(function)
    if not isinstance(node, ast.FunctionDef):
        raise TypeError(f"a function must be defined by `def`, got {function!r}")
    arguments = node.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += [each for each in (arguments.vararg, arguments.kwarg) if each]
    types = {each.arg: _text(each.annotation) for each in named}
    return types, _text(node.returns)


def _class_types(documented: type) -> tuple[dict[str, str], str]:
    """Return the types of the arguments of a class: those of its fields, or of its `__init__`."""
    types: dict[str, str] = {}
    for level in reversed(documented.__mro__):
        if not level.__module__.startswith("iacta"):
            continue
        for each in getattr(_definition(level), "body", []):
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                types[each.target.id] = _text(each.annotation)
        own = vars(level).get("__init__") or vars(level).get("__new__")
        if inspect.isfunction(own) and own.__code__.co_filename == inspect.getsourcefile(level):
            types |= _function_types(own)[0]
    return types, ""


def _text(annotation: ast.expr | None) -> str:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value  # a name that is defined further below
    return ast.unparse(annotation) if annotation else ""


def _definition(documented: Any) -> ast.AST:
    """Return where a function or class is defined."""
    node: ast.AST = _parsed(documented.__module__)
    for name in documented.__qualname__.split("."):
        node = [
            each
            for each in getattr(node, "body", [])
            if isinstance(each, ast.ClassDef | ast.FunctionDef) and each.name == name
        ][-1]  # what is overloaded comes last
    return node


@cache
def _parsed(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(sys.modules[module]))
