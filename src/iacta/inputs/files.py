"""Files: read within bounds, and written whole or not at all.

A file may come from a stranger. Only regular files are opened, so that nothing waits for a pipe,
and no more of a file is read than its bound.

A file is written under a random name until it is complete and on the disk, so that nobody sees half
of it, and a link planted under a predictable name is not followed.
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

STREAM = "-"  # standard input, or standard output, where a file is named
OTHER_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}  # by their byte order marks
TEMPORARY_SUFFIX = ".iacta-part"  # the ending of what is being written
MAX_PATH_LENGTH = 160  # letters, in a message
SHELL_PIPES = Path("/dev/fd")
REASONS = {
    errno.ENOENT: "no such file",
    errno.ENOTDIR: "no such file",
    errno.EISDIR: "it is a folder",
    errno.EACCES: "permission denied",
}


def read_package_file(package: str, name: str) -> str:
    """Return the text of a file that is part of a package, which may be in a zip archive.

    package: the package's name.
    name: the file's path within the package, with `/`.
    """
    data = get_data(package, name)
    if data is None:
        raise FileNotFoundError(f"{package} has no file {name}")
    return data.decode("utf-8")


# Names of files.


def read_path(path: object, what: str) -> Path:
    """Return the path of a file, or refuse what is not a path.

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
    r"""Return the name of a file as messages show it: quoted, escaped, and cut if it is very long.

    what: what it holds, such as `board`.

    >>> quote_path("own\n.toml"), quote_path("own.toml", "board"), quote_path("-", "board")
    ("'own\\n.toml'", "board file 'own.toml'", 'board on standard input')
    """
    if what and str(path) == STREAM:
        return f"{what} on standard input"
    text = repr(str(path))
    if len(text) > MAX_PATH_LENGTH:
        text = f"'...{text[-MAX_PATH_LENGTH:]}"  # the end says more than the folders
    return f"{what} file {text}" if what else text


def format_path(path: str | PathLike[str]) -> str:
    """Return the name of a file as it is, unless it must be escaped or cut as by `named`."""
    text = str(path)
    return text if text.isprintable() and len(text) <= MAX_PATH_LENGTH else quote_path(path)


# Reading.


class UnreadableError(MalformedError):
    """A file cannot be read.

    file: its path.
    reason: why not.
    """

    def __init__(self, file: str | PathLike[str], reason: str) -> None:
        super().__init__(f"cannot read {quote_path(file)}: {reason}")
        self.reason = reason


@contextmanager
def add_file_name(file: str | PathLike[str], what: str) -> Iterator[None]:
    """Put the name of a file in front of what is wrong in it.

    file: its path.
    what: what it holds, such as `board`.

    >>> with add_file_name("own.toml", "board"):
    ...     raise MalformedError("line 3: invalid TOML: Invalid value")
    Traceback (most recent call last):
        ...
    iacta.MalformedError: board file 'own.toml': line 3: invalid TOML: Invalid value
    """
    try:
        yield
    except UnreadableError:  # which names it
        raise
    except IactaError as error:
        raise find_error_class(error)(f"{quote_path(file, what)}: {error}") from None


def open_file(file: Path) -> BinaryIO:
    """Return a file opened to read its bytes, or refuse it.

    file: its path, or `-` for standard input.

    What is no regular file, such as a named pipe, is refused; a pipe that the shell has opened for
    the command, as for `<(...)`, is read.
    """
    if str(file) == STREAM:
        if sys.stdin is None:
            raise MalformedError("standard input is closed")
        return sys.stdin.buffer
    try:
        opened = open(file, "rb", opener=_open_without_waiting)  # noqa: SIM115 # the caller closes it
    except (OSError, ValueError) as error:  # ValueError: the name contains a NUL
        raise UnreadableError(file, explain_error(error)) from None
    kind = os.fstat(opened.fileno()).st_mode
    if stat.S_ISFIFO(kind) and file.parent == SHELL_PIPES:
        os.set_blocking(opened.fileno(), True)
    elif not stat.S_ISREG(kind):
        opened.close()
        raise UnreadableError(file, "it is not a regular file")
    return opened


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe would wait for a writer


def read_bytes(file: Path, most: int) -> bytes:
    """Return the content of a file; of one that is too large, no more than the limit is read.

    file: its path; `-` is standard input, which must not be empty.
    most: how many bytes it may have.
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
        raise MalformedError("standard input is empty; only one file can be read from it")
    if len(content) > most:
        raise TooLargeError(f"the file must have at most {most} bytes")
    return content


def explain_error(error: Exception) -> str:
    """Return why a file cannot be read or written, in one line without its name."""
    known = REASONS.get(getattr(error, "errno", None) or 0)
    text = str(getattr(error, "strerror", None) or error or type(error).__name__)
    text = " ".join(text.strip().partition("\n")[0].split())
    return known or (text[:1].lower() + text[1:] if text[1:2].islower() else text)


# Writing.


class ErrorKeeper(io.RawIOBase):
    """A stream that writes to another one and keeps the first error.

    Polars raises errors of its own, which lack the number of the error: a pipe whose reader has
    ended could not be told from a full disk. Closing this stream leaves the other one open.

    stream: the other stream.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        rest = memoryview(content).cast("B")
        try:
            while rest:  # standard output without a buffer may take a part at a time
                rest = rest[self.stream.write(rest) :]
        except OSError as error:
            self.error = self.error or error
            raise
        return memoryview(content).nbytes


def check_writable(file: str | PathLike[str]) -> None:
    """Refuse a file that cannot be written, before its content is computed."""
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
            part = make_temporary_path(target)  # a folder may refuse it whatever its rights say
            part.open("xb").close()
            part.unlink()


def write_atomically(file: Path, content: bytes) -> None:
    """Write a file under another name, then move it to its place once it is on the disk.

    file: the place; a link is followed, and a file that is replaced keeps its permissions.
    content: what to write.
    """
    with open_atomically(file) as opened:
        opened.write(content)


@contextmanager
def open_atomically(file: Path) -> Iterator[BinaryIO]:
    """Open a file to be written under a random name; it gets its own at the end of the block.

    file: the place; a link is followed, and a file that is replaced keeps its permissions. After an
        error it stays as it was.
    """
    with _explain_write_errors(file):
        place = file.resolve()
        if place.exists() and not place.is_file():
            with place.open("wb") as opened:  # a pipe or a device; a folder refuses it
                yield opened
            return
        part = make_temporary_path(place)
        with part.open("xb") as opened:  # fails if there is anything, be it a link, of this name
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
    except (IactaError, BrokenPipeError):  # the reader of a pipe has ended
        raise
    except FileNotFoundError:
        raise IllegalError(f"cannot write {quote_path(file)}: no such folder") from None
    except (OSError, ValueError, RuntimeError) as error:  # a name too long, with a NUL, in a circle
        raise IllegalError(f"cannot write {quote_path(file)}: {explain_error(error)}") from None


def make_temporary_path(place: Path) -> Path:
    """Return a new name beside a file, under which it is written."""
    return place.with_name(f".{os.urandom(8).hex()}{TEMPORARY_SUFFIX}")
