"""Bounded reads and atomic writes of files.

Input files are untrusted. Only regular files are opened, because a named pipe could block forever.
Every read has a size limit.

Output is written to a temporary file, which is synced and then renamed. Readers never see a partial
file. The temporary file has a random name, so that nobody can plant a link with this name.
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
    choose_error_class,
)

STREAM = "-"  # the path of standard input or standard output
OTHER_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}  # the keys are byte order marks
TEMPORARY_SUFFIX = ".iacta-part"
MAX_PATH_LENGTH = 160  # the maximum number of characters of a path in an error message
SHELL_PIPES = Path("/dev/fd")
REASONS = {
    errno.ENOENT: "no such file",
    errno.ENOTDIR: "no such file",
    errno.EISDIR: "it is a folder",
    errno.EACCES: "permission denied",
}


def read_package_file(package: str, name: str) -> str:
    """Return the content of a data file of a package, even if the package is in a zip archive.

    name: the path of the file within the package, with `/` as separator.
    """
    data = get_data(package, name)
    if data is None:
        raise FileNotFoundError(f"package {package} does not contain the file {name}")
    return data.decode("utf-8")


# Paths.


def read_path(path: object, content: str) -> Path:
    """Return a path as a `Path`; raise an error for a value of another type.

    >>> read_path(7, "board")
    Traceback (most recent call last):
        ...
    iacta.MalformedError: board must be the path of a file, got 7
    """
    if isinstance(path, str | PathLike):
        with suppress(TypeError):
            return Path(path)
    raise MalformedError(f"{content} must be the path of a file, got {quote(path)}")


def quote_path(path: str | PathLike[str], content: str = "") -> str:
    r"""Return a path for an error message: quoted, escaped, and shortened if it is very long.

    content: the content of the file, such as `board`, which precedes the path; may be empty.

    >>> quote_path("own\n.toml"), quote_path("own.toml", "board"), quote_path("-", "board")
    ("'own\\n.toml'", "board file 'own.toml'", 'board on standard input')
    """
    if content and str(path) == STREAM:
        return f"{content} on standard input"
    text = repr(str(path))
    if len(text) > MAX_PATH_LENGTH:
        text = f"'...{text[-MAX_PATH_LENGTH:]}"  # keep the end, which has the file name
    return f"{content} file {text}" if content else text


def format_path(path: str | PathLike[str]) -> str:
    """Return a path unchanged if it is printable and short, otherwise quoted by `quote_path`."""
    text = str(path)
    return text if text.isprintable() and len(text) <= MAX_PATH_LENGTH else quote_path(path)


# Reading.


class UnreadableError(MalformedError):
    """A file cannot be read."""

    def __init__(self, file: str | PathLike[str], reason: str) -> None:
        super().__init__(f"cannot read {quote_path(file)}: {reason}")
        self.reason = reason


@contextmanager
def add_file_name(file: str | PathLike[str], content: str) -> Iterator[None]:
    """Return a context manager that prefixes the message of any `IactaError` with a file name.

    content: the content of the file, such as `board`.

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
        raise choose_error_class(error)(f"{quote_path(file, content)}: {error}") from None


def open_file(file: Path) -> BinaryIO:
    """Open a regular file for reading bytes.

    file: a path, or `-` for standard input.

    Named pipes and devices are errors, but the pipes of a shell's process substitution `<(...)` are
    allowed.
    """
    if str(file) == STREAM:
        if sys.stdin is None:
            raise MalformedError("standard input is closed")
        return sys.stdin.buffer
    try:
        opened = open(file, "rb", opener=_open_without_waiting)  # noqa: SIM115 # the caller closes it
    except (OSError, ValueError) as error:  # a path with NUL raises ValueError
        raise UnreadableError(file, explain_error(error)) from None
    kind = os.fstat(opened.fileno()).st_mode
    if stat.S_ISFIFO(kind) and file.parent == SHELL_PIPES:
        os.set_blocking(opened.fileno(), True)
    elif not stat.S_ISREG(kind):
        opened.close()
        raise UnreadableError(file, "it is not a regular file")
    return opened


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # opening a pipe could block


def read_bytes(file: Path, maximum: int) -> bytes:
    """Return the content of a file; raise an error for more than `maximum` bytes.

    file: a path, or `-` for standard input, which must not be empty.
    """
    opened = open_file(file)
    is_stream = str(file) == STREAM
    try:
        content = opened.read(maximum + 1)
    except OSError as error:
        raise UnreadableError(file, explain_error(error)) from None
    finally:
        if not is_stream:
            opened.close()
    if is_stream and not content:
        raise MalformedError("standard input is empty, or another option has read it")
    if len(content) > maximum:
        raise TooLargeError(f"the file must be at most {maximum} bytes")
    return content


def explain_error(error: Exception) -> str:
    """Return the reason for an error with a file, on one line and without the file name."""
    known = REASONS.get(getattr(error, "errno", None) or 0)
    text = str(getattr(error, "strerror", None) or error or type(error).__name__)
    text = " ".join(text.strip().partition("\n")[0].split())
    return known or (text[:1].lower() + text[1:] if text[1:2].islower() else text)


# Writing.


class ErrorKeeper(io.RawIOBase):
    """A wrapper around a stream that stores the first exception of a write.

    Polars replaces an `OSError` with an exception without `errno`. This hides whether a pipe was
    closed or the disk is full. Closing the wrapper does not close the stream.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        rest = memoryview(content).cast("B")
        try:
            while rest:  # a write to unbuffered standard output may be partial
                rest = rest[self.stream.write(rest) :]
        except OSError as error:
            self.error = self.error or error
            raise
        return memoryview(content).nbytes


def check_writable(file: str | PathLike[str]) -> None:
    """Raise an error if a file cannot be written. Call this before a long computation."""
    path = Path(file)
    with _explain_write_errors(file):
        with suppress(FileNotFoundError):
            path.stat()
        if path.is_dir() or str(file).endswith(os.sep) or not path.name:
            raise IsADirectoryError(errno.EISDIR, "")
        if not path.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "")
        target = path.resolve()
        exists = target.exists()
        if exists and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "")
        if target.is_file() or not exists:
            # Create a file as a test, because permission bits can be misleading.
            part = make_temporary_path(target)
            part.open("xb").close()
            part.unlink()


def write_atomically(file: Path, content: bytes) -> None:
    """Write a file either completely or not at all; see `open_atomically`."""
    with open_atomically(file) as opened:
        opened.write(content)


@contextmanager
def open_atomically(file: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that is renamed to `file` at the end of the `with` block.

    After an error in the block, an existing file is unchanged. A replaced file keeps its
    permissions. If `file` is a symbolic link, its target is replaced.
    """
    with _explain_write_errors(file):
        path = file.resolve()
        if path.exists() and not path.is_file():
            # A pipe or a device; for a folder, `open` raises an error.
            with path.open("wb") as opened:
                yield opened
            return
        part = make_temporary_path(path)
        with part.open("xb") as opened:  # raises an error if the name exists
            try:
                yield opened
                opened.flush()
                os.fsync(opened.fileno())
                if path.exists():
                    part.chmod(path.stat().st_mode)
                part.replace(path)
            except BaseException:
                part.unlink()
                raise


@contextmanager
def _explain_write_errors(file: str | PathLike[str]) -> Iterator[None]:
    try:
        yield
    except (IactaError, BrokenPipeError):  # the callers handle closed pipes
        raise
    except FileNotFoundError:
        raise IllegalError(f"cannot write {quote_path(file)}: no such folder") from None
    except (OSError, ValueError, RuntimeError) as error:  # long names, NULs, circular links
        raise IllegalError(f"cannot write {quote_path(file)}: {explain_error(error)}") from None


def make_temporary_path(path: Path) -> Path:
    """Return a random hidden path in the same folder as a file."""
    return path.with_name(f".{os.urandom(8).hex()}{TEMPORARY_SUFFIX}")
