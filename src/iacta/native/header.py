"""Read the C interface of the compiled core from its header.

`src/core/iacta.h` is the only declaration of the interface. A build puts a copy of the header
beside the compiled core, and `read_header` converts it to `ctypes` types. The header uses a small
subset of C: structures, functions, enumerations, numbers, pointers, and arrays of a fixed length.
"""

import ctypes
import re
from collections.abc import Iterator, Mapping
from ctypes import POINTER, Structure
from typing import Any, NamedTuple

# A mapping from the names of C types to `ctypes` types. A pointer to `char` is a string.
NUMBERS: Mapping[str, Any] = {
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint8_t": ctypes.c_uint8,
    "uint64_t": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
COMMENT = r"/\*.*?\*/|^\s*#[^\n]*$"
STRUCTURE = r"typedef struct \{(.*?)\} (\w+);"
OPAQUE = r"typedef struct (\w+) \1;"
ENUMERATION = r"enum \{(.*?)\};"
FUNCTION = r"IACTA_API\s+(.*?)(iacta_\w+)\((.*?)\);"
DECLARATOR = r"(\**)\s*(\w+)(?:\[(\d+)\])?"


class Function(NamedTuple):
    """A function of the core."""

    result: Any  # the `ctypes` type of the result; `None` for a function without a result
    arguments: tuple[Any, ...]  # the `ctypes` types of the arguments


class Header(NamedTuple):
    """The interface of the core. Keys are the names in the header without `iacta_`."""

    structures: Mapping[str, type[Structure]]
    functions: Mapping[str, Function]
    constants: Mapping[str, int]


def read_header(text: str) -> Header:
    """Return the interface that a header declares.

    text: the header, in the subset of C that the docstring of this module describes.

    >>> header = read_header('''
    ... enum { IACTA_DONE = 0, IACTA_BUSY = 6 };
    ... typedef struct { int32_t lands; const double *won, *lost; } iacta_problem;
    ... IACTA_API int32_t iacta_solve(const iacta_problem* problem, double* value);
    ... ''')
    >>> header.constants["BUSY"], [name for name, _ in header.structures["problem"]._fields_]
    (6, ['lands', 'won', 'lost'])
    """
    plain = " ".join(re.sub(COMMENT, " ", text, flags=re.DOTALL | re.MULTILINE).split())
    types: dict[str, Any] = dict(NUMBERS) | dict.fromkeys(re.findall(OPAQUE, plain))
    structures = {}
    for body, name in re.findall(STRUCTURE, plain):
        fields = [*_read_fields(body, types)]
        types[name] = structures[_short(name)] = type(name, (Structure,), {"_fields_": fields})
    functions = {
        _short(name): Function(_read_type(result, types), tuple(_read_arguments(arguments, types)))
        for result, name, arguments in re.findall(FUNCTION, plain)
    }
    constants = {
        _short(name): int(value)
        for body in re.findall(ENUMERATION, plain)
        for name, value in re.findall(r"(\w+) = (-?\d+)", body)
    }
    return Header(structures, functions, constants)


def _short(name: str) -> str:
    return re.sub("^iacta_", "", name, flags=re.IGNORECASE)


def _read_fields(body: str, types: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for declaration in filter(None, map(str.strip, body.split(";"))):
        kind, rest = declaration.removeprefix("const ").split(maxsplit=1)
        stars = "*" * kind.count("*")
        for part in rest.split(","):
            match = re.fullmatch(DECLARATOR, part.strip())
            assert match is not None, part  # noqa: S101 # the header is part of iacta
            found = _choose_type(kind.rstrip("*"), stars + match[1], types)
            yield match[2], found * int(match[3]) if match[3] else found


def _read_arguments(text: str, types: Mapping[str, Any]) -> Iterator[Any]:
    for argument in text.split(","):
        if argument.strip() != "void":
            yield _read_type(re.sub(r"\w+$", "", argument.strip()), types)


def _read_type(text: str, types: Mapping[str, Any]) -> Any:
    """Return the `ctypes` type of a C type such as `const double*`."""
    name = text.replace("const", "").replace("*", "").strip()
    return None if name == "void" else _choose_type(name, "*" * text.count("*"), types)


def _choose_type(name: str, stars: str, types: Mapping[str, Any]) -> Any:
    if stars and name == "char":
        return ctypes.c_char_p
    kind = types[name]
    if stars and kind is None:  # a pointer to an opaque structure
        return ctypes.c_void_p
    return POINTER(kind) if stars else kind
