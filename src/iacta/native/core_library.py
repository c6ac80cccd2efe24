"""Find, verify and load the shared library of the compiled core, once per process.

The core (`src/core/`) is a plain shared library whose functions take and return only numbers and
arrays. A build writes three files to `native/library/`: the library, its size and SHA-256 hash, and
a copy of its header.
"""

import ctypes
from collections.abc import Iterable, Mapping, Sequence, Sized
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from iacta.inputs.errors import IactaError
from iacta.native.header import NUMBERS, Header, read_header

FOLDER = Path(__file__).parent / "library"  # a folder of data, not a Python package
SOURCES = Path(__file__).parents[2] / "core"  # a folder that exists only in a checkout
SUFFIXES = (".so", ".dylib", ".dll")
POINTERS = {np.dtype(kind): ctypes.POINTER(kind) for kind in NUMBERS.values()}
# The version of the interface that this package calls, IACTA_VERSION in the header.
INTERFACE_VERSION = 7
MESSAGE_BYTES = 200  # the size of the buffer for an error message


@dataclass(frozen=True, eq=False)
class Library:
    """The loaded core and its interface."""

    functions: ctypes.CDLL
    header: Header

    def constant(self, name: str) -> int:
        """Return the value of a constant in the header, such as `DONE`."""
        return self.header.constants[name]

    def make_rows(self, name: str, number: int) -> Any:
        """Return an array of structures of the core, which is also a pointer to the first one.

        name: the name of the structure in the header, without `iacta_`.
        """
        return (self.header.structures[name] * number)()

    def names(self, prefix: str) -> Mapping[str, int]:
        """Return the constants whose names start with a prefix, by their lower-case names.

        prefix: such as `WEIGHT_`, which the returned names lack.
        """
        return _list_names(self, prefix)

    def open_handle(self, name: str, *arguments: Any) -> int:
        """Call a function of the core that returns a handle; raise `IactaError` if it fails.

        name: the name of the function in the header, without `iacta_`.
        """
        message = ctypes.create_string_buffer(MESSAGE_BYTES)
        function = getattr(self.functions, f"iacta_{name}")
        handle: int | None = function(*arguments, message, len(message))
        if not handle:
            raise IactaError(message.value.decode())
        return handle


@cache
def _list_names(library: Library, prefix: str) -> Mapping[str, int]:
    return {
        name.removeprefix(prefix).lower(): number
        for name, number in library.header.constants.items()
        if name.startswith(prefix)
    }


class CoreData:
    """A C structure of the core, together with the arrays to which its fields point.

    The arrays live as long as the structure.
    """

    def __init__(self, library: Library, name: str, **values: Any) -> None:
        """Create a structure.

        library: the core.
        name: the name of the structure in the header, without `iacta_`.
        values: the values of its fields; a sequence for a pointer.
        """
        self.data: Any = library.header.structures[name]()
        self._fields = _list_fields(type(self.data))
        # The C structure owns the arrays, because a call that Ctrl-C abandoned may outlive this
        # object.
        self.arrays: dict[str, npt.NDArray[Any]] = {}
        self.data.arrays = self.arrays
        self.set_fields(**values)

    def set_fields(self, **values: Any) -> None:
        """Set fields by name; sequences are converted to arrays of the type of the pointer."""
        for name, value in values.items():
            kind, dtype, is_array = self._fields[name]
            if dtype is not None:
                self.arrays[name] = np.ascontiguousarray(value, dtype=dtype)
                value = self.arrays[name].ctypes.data_as(kind)
            elif is_array:
                value = kind(*value)
            setattr(self.data, name, value)

    def set_rows(self, first: str, entries: str, rows: Sequence[Sequence[Any]]) -> None:
        """Set two fields to rows of different lengths: their offsets, and all entries in order."""
        self.set_fields(
            **{first: compute_offsets(rows), entries: [each for row in rows for each in row]}
        )

    def copy(self) -> Self:
        """Return a copy, which shares each array with the original until the array is replaced."""
        new = copy(self)
        new.data = type(self.data).from_buffer_copy(self.data)
        new.data.arrays = new.arrays = {**self.arrays}
        return new

    @property
    def reference(self) -> Any:
        """A pointer to the structure, as an argument for a function of the core."""
        return ctypes.byref(self.data)


@cache
def _list_fields(structure: Any) -> dict[str, tuple[Any, "np.dtype[Any] | None", bool]]:
    """Return the type of each field of a structure, with the data type of its array.

    The data type is `None` unless the field is a pointer. The last value is whether the field is an
    array of fixed length.
    """
    return {
        name: (
            kind,
            np.dtype(kind._type_) if hasattr(kind, "contents") else None,
            hasattr(kind, "_length_"),
        )
        for name, kind in structure._fields_
    }


def compute_offsets(rows: Iterable[Sized]) -> npt.NDArray[np.int64]:
    """Return the index at which each row begins, and the total number of entries."""
    return np.cumsum([0, *map(len, rows)])


def make_pointer(array: npt.NDArray[Any] | None) -> Any:
    """Return a C pointer to an array, which must outlive it, or a null pointer for `None`."""
    if array is None:
        return None
    return array.ctypes.data_as(POINTERS[array.dtype])


def load_library(feature: str) -> Library:
    """Return the compiled core, or raise `IactaError` if it is not installed.

    feature: the feature that needs the core, for the error message, such as `plans`.
    """
    library = find_library()
    if library is None:
        remedy = "install iacta again where there is a C++ compiler"
        if _is_checkout():
            remedy = "`make core` compiles it"
        raise IactaError(f"{feature} need the compiled core of iacta; {remedy}")
    return library


@cache
def find_library() -> Library | None:
    """Return the compiled core, or `None` if this machine cannot load it.

    Raises `IactaError` for a library that has changed since the build, and for a library with
    another version of the interface.
    """
    found = next(filter(Path.exists, (FOLDER / f"core{suffix}" for suffix in SUFFIXES)), None)
    if found is None:
        return None
    try:
        if not _is_as_built(found):
            what_to_do = "run `make -B core`" if _is_checkout() else "install iacta again"
            raise IactaError(f"the compiled core of iacta is damaged; {what_to_do}")
        functions = ctypes.CDLL(str(found))
    except OSError:
        return None
    if not hasattr(functions, "iacta_version") or functions.iacta_version() != INTERFACE_VERSION:
        what_to_do = "run `make core`" if _is_checkout() else "install iacta again"
        raise IactaError(f"the compiled core of iacta has another version; {what_to_do}")
    header = read_header((FOLDER / "iacta.h").read_text(encoding="utf-8"))
    for name, (result, arguments) in header.functions.items():
        function = getattr(functions, f"iacta_{name}")
        function.restype, function.argtypes = result, arguments
    return Library(functions, header)


def _is_checkout() -> bool:
    return (SOURCES / "iacta.h").exists()


def _is_as_built(library: Path) -> bool:
    """Return whether a library and its header match the sizes and hashes from the build."""
    record, header = library.with_name(f"{library.name}.sha256"), library.with_name("iacta.h")
    if not record.exists() or not header.exists():
        return False
    data = library.read_bytes()
    built = f"{len(data)} {_hash(data + header.read_bytes())}"
    return record.read_bytes().strip() == built.encode()


def _hash(data: bytes) -> str:
    import hashlib  # a slow import

    return hashlib.sha256(data).hexdigest()
