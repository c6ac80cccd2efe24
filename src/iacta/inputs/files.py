"""Bounded reads and atomic writes of files.

Input files are untrusted. Only regular files are opened, because a named pipe could block forever,
and every read has a size limit.

Output goes to a temporary file, which is synced and then renamed, so that readers never see a
partial file. Its name is random, so that nobody can plant a link under that name.
"""

import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from pkgutil import get_data
from typing import IO, Any, BinaryIO

from iacta.inputs.checks import quote
from iacta.inputs.errors import (
    IactaError,
    IllegalError,
    MalformedError,
    TooLargeError,
    find_error_class,
)

STREAM = "-"  # the path of standard input or standard output
OTHER_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}  # keys: byte order marks
TEMPORARY_SUFFIX = ".iacta-part"
MAX_PATH_LENGTH = 160  # characters of a path quoted in a message
SHELL_PIPES = Path("/dev/fd")
REASONS = {
    errno.ENOENT: "no such file",
    errno.ENOTDIR: "no such file",
    errno.EISDIR: "it is a folder",
    errno.EACCES: "permission denied",
}


def read_package_file(package: str, name: str) -> str:
    """Return the content of a package's data file, even if the package is in a zip archive.

    name: the file's path within the package, with `/`.
    """
    data = get_data(package, name)
    if data is None:
        raise FileNotFoundError(f"package {package} does not contain the file {name}")
    return data.decode("utf-8")


# Paths.


def read_path(path: object, what: str) -> Path:
    """Return a `Path`, or raise an error if `path` has another type.

    >>> read_path(7, "board")
    Traceback (most recent call last):
        ...
    iacta.MalformedError: board must be the path of a file, got 7
    """
    if isinstance(path, str | PathLike):
        with suppress(TypeError):
            return Path(path)
    raise MalformedError(f"{what} must be the path of a file, got {quote(path)}")


def quote_path(path: str | PathLike[str], what: str = "") -> str:
    r"""Return a path for an error message, quoted, escaped, and shortened if it is very long.

    what: the content of the file, such as `board`.

    >>> quote_path("own\n.toml"), quote_path("own.toml", "board"), quote_path("-", "board")
    ("'own\\n.toml'", "board file 'own.toml'", 'board on standard input')
    """
    if what and str(path) == STREAM:
        return f"{what} on standard input"
    text = repr(str(path))
    if len(text) > MAX_PATH_LENGTH:
        text = f"'...{text[-MAX_PATH_LENGTH:]}"  # keep the file name rather than the folders
    return f"{what} file {text}" if what else text


def format_path(path: str | PathLike[str]) -> str:
    """Return a path as it is if it is printable and short, otherwise as `quote_path` does."""
    text = str(path)
    return text if text.isprintable() and len(text) <= MAX_PATH_LENGTH else quote_path(path)


# Reading.


class UnreadableError(MalformedError):
    """A file cannot be read."""

    def __init__(self, file: str | PathLike[str], reason: str) -> None:
        super().__init__(f"cannot read {quote_path(file)}: {reason}")
        self.reason = reason


@contextmanager
def add_file_name(file: str | PathLike[str], what: str) -> Iterator[None]:
    """Prefix the message of any `IactaError` in a `with` block with a file name.

    what: the content of the file, such as `board`.

    >>> with add_file_name("own.toml", "board"):
    ...     raise MalformedError("line 3: invalid TOML: Invalid value")
    Traceback (most recent call last):
        ...
    iacta.MalformedError: board file 'own.toml': line 3: invalid TOML: Invalid value
    """
    try:
        yield
    except UnreadableError:  # its message already has the file name
        raise
    except IactaError as error:
        raise find_error_class(error)(f"{quote_path(file, what)}: {error}") from None


def open_file(file: Path) -> BinaryIO:
    """Open a regular file for reading bytes.

    file: a path, or `-` for standard input.

    Named pipes and devices are errors; the pipes of a shell's process substitution `<(...)` are
    not.
    """
    if str(file) == STREAM:
        if sys.stdin is None:
            raise MalformedError("standard input is closed")
        return sys.stdin.buffer
    try:
        opened = open(file, "rb", opener=_open_without_waiting)  # noqa: SIM115 # the caller closes it
    except (OSError, ValueError) as error:  # ValueError: NUL in the path
        raise UnreadableError(file, explain_error(error)) from None
    kind = os.fstat(opened.fileno()).st_mode
    if stat.S_ISFIFO(kind) and file.parent == SHELL_PIPES:
        os.set_blocking(opened.fileno(), True)
    elif not stat.S_ISREG(kind):
        opened.close()
        raise UnreadableError(file, "it is not a regular file")
    return opened


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # opening a pipe may block


def read_bytes(file: Path, most: int) -> bytes:
    """Return the content of a file, or raise an error above `most` bytes.

    file: a path, or `-` for standard input, which must not be empty.
    """
    opened = open_file(file)
    is_stream = str(file) == STREAM
    try:
        content = opened.read(most + 1)
    except OSError as error:
        raise UnreadableError(file, explain_error(error)) from None
    finally:
        if not is_stream:
            opened.close()
    if is_stream and not content:
        raise MalformedError("standard input is empty, or another option has read it")
    if len(content) > most:
        raise TooLargeError(f"the file must be at most {most} bytes")
    return content


def explain_error(error: Exception) -> str:
    """Return the reason for a file error on one line, without the file name."""
    known = REASONS.get(getattr(error, "errno", None) or 0)
    text = str(getattr(error, "strerror", None) or error or type(error).__name__)
    text = " ".join(text.strip().partition("\n")[0].split())
    return known or (text[:1].lower() + text[1:] if text[1:2].islower() else text)


# Writing.


class ErrorKeeper(io.RawIOBase):
    """A wrapper around a stream that remembers the first error of a write.

    Polars replaces an `OSError` with an exception without `errno`, which hides whether a pipe was
    closed or the disk is full. Closing the wrapper leaves the stream open.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        rest = memoryview(content).cast("B")
        try:
            while rest:  # writes to unbuffered standard output may be partial
                rest = rest[self.stream.write(rest) :]
        except OSError as error:
            self.error = self.error or error
            raise
        return memoryview(content).nbytes


def check_writable(file: str | PathLike[str]) -> None:
    """Raise an error if a file cannot be written; call this before a long computation."""
    place = Path(file)
    with _explain_write_errors(file):
        with suppress(FileNotFoundError):
            place.stat()
        if place.is_dir() or str(file).endswith(os.sep) or not place.name:
            raise IsADirectoryError(errno.EISDIR, "")
        if not place.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "")
        target = place.resolve()
        exists = target.exists()
        if exists and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "")
        if target.is_file() or not exists:
            part = make_temporary_path(
                target
            )  # permission bits do not prove that a file can be written
            part.open("xb").close()
            part.unlink()


def write_atomically(file: Path, content: bytes) -> None:
    """Write a file completely or not at all, as `open_atomically` does."""
    with open_atomically(file) as opened:
        opened.write(content)


@contextmanager
def open_atomically(file: Path) -> Iterator[BinaryIO]:
    """Open a temporary file, and rename it to `file` at the end of the `with` block.

    An error in the block leaves an existing file unchanged. A replaced file keeps its permissions.
    If `file` is a symbolic link, its target is replaced.
    """
    with _explain_write_errors(file):
        place = file.resolve()
        if place.exists() and not place.is_file():
            with place.open("wb") as opened:  # a pipe or a device; a folder raises an error
                yield opened
            return
        part = make_temporary_path(place)
        with part.open("xb") as opened:  # fails if the name exists, even as a symbolic link
            try:
                yield opened
                opened.flush()
                os.fsync(opened.fileno())
                if place.exists():
                    part.chmod(place.stat().st_mode)
                part.replace(place)
            except BaseException:
                part.unlink()
                raise


@contextmanager
def _explain_write_errors(file: str | PathLike[str]) -> Iterator[None]:
    try:
        yield
    except (IactaError, BrokenPipeError):  # callers handle a closed pipe
        raise
    except FileNotFoundError:
        raise IllegalError(f"cannot write {quote_path(file)}: no such folder") from None
    except (OSError, ValueError, RuntimeError) as error:  # long names, NULs, circular links
        raise IllegalError(f"cannot write {quote_path(file)}: {explain_error(error)}") from None


def make_temporary_path(place: Path) -> Path:
    """Return a random hidden path in the folder of a file."""
    return place.with_name(f".{os.urandom(8).hex()}{TEMPORARY_SUFFIX}")
