r"""Files: read within bounds that hold before they are parsed, and written whole or not at all.

A file may come from a stranger. Only regular files are opened, so that nothing waits for a pipe. No
more of a file is read than its bound, and TOML and JSON that would take far more memory than their
bytes are refused before a parser sees them: tables in tables, dotted keys, very many entries. XML
has its own guard, where boards are read.

A file is written under a random name until it is complete and on the disk, so that nobody sees half
of it, and a link planted under a predictable name is not followed.
"""

import errno
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from iacta.checks import LONGEST_SHOWN, shown
from iacta.errors import IactaError, IllegalError, MalformedError, TooLargeError, plainly

STREAM = "-"  # standard input, or standard output, where a file is named
OTHER_TEXTS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}  # by their byte order marks
UNFINISHED = ".iacta-part"  # the ending of what is being written
LONGEST_PATH = 160  # letters, in a message
# A file may come from a stranger: more would take minutes, gigabytes, or all of the stack.
MOST_TOML_BYTES = 10**6
MOST_DEPTH = 32
MOST_KEYS = 100_000
MOST_PARTS = 500_000

# Each matches a text or a comment to its end, or to that of the file. They are compiled when they
# are first needed: most commands read no file.
JSON_TEXT = r'(?s)"(?:[^"\\]++|\\.)*+"?'
TOML_TEXT = (
    r'(?s)"""(?:[^"\\]++|\\.|"(?!""))*+"{0,5}+'
    r"|'''(?:[^']++|'(?!''))*+'{0,5}+"
    r'|"(?:[^"\\\n]++|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+"
)
NOT_READ = ("Invalid value", "Expected '='", "Expecting value", "Expecting property")  # by parsers
REPHRASED = {
    "Unclosed inline table": "expected a comma or }",
    "Unclosed array": "expected a comma or ]",
    "Cannot overwrite a value": "a key appears twice",
}
QUOTES = "'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"  # that are none of TOML or JSON
BRACKET = r"[\[\]{}]"
BETWEEN_KEYS = r"[,=\[\]{}\n]"
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
SHELL_PIPES = Path("/dev/fd")
REASONS = {
    errno.ENOENT: "no such file",
    errno.ENOTDIR: "no such file",
    errno.EISDIR: "it is a folder",
    errno.EACCES: "permission denied",
}


# Names of files.


def read_path(path: object, what: str) -> Path:
    """Return the path of a file, or refuse what is not a path.

    >>> read_path(7, "board")
    Traceback (most recent call last):
        ...
    iacta.errors.MalformedError: board must be the path of a file, got 7
    """
    if isinstance(path, str | PathLike):
        with suppress(TypeError):
            return Path(path)
    raise MalformedError(f"{what} must be the path of a file, got {shown(path)}")


def named(path: str | PathLike[str], what: str = "") -> str:
    r"""Return the name of a file as messages show it: quoted, escaped, and cut if it is very long.

    what: what it holds, such as `board`.

    >>> named("own\n.toml"), named("own.toml", "board"), named("-", "board")
    ("'own\\n.toml'", "board file 'own.toml'", 'board on standard input')
    """
    if what and str(path) == STREAM:
        return f"{what} on standard input"
    text = repr(str(path))
    if len(text) > LONGEST_PATH:
        text = f"'...{text[-LONGEST_PATH:]}"  # the end says more than the folders
    return f"{what} file {text}" if what else text


def plain(path: str | PathLike[str]) -> str:
    """Return the name of a file as it is, unless it must be escaped or cut as by `named`."""
    text = str(path)
    return text if text.isprintable() and len(text) <= LONGEST_PATH else named(path)


# Reading.


class UnreadableError(MalformedError):
    """A file cannot be read.

    file: its path.
    reason: why not.
    """

    def __init__(self, file: str | PathLike[str], reason: str) -> None:
        super().__init__(f"cannot read {named(file)}: {reason}")
        self.reason = reason


@contextmanager
def in_file(file: str | PathLike[str], what: str) -> Iterator[None]:
    """Put the name of a file in front of what is wrong in it.

    file: its path.
    what: what it holds, such as `board`.

    >>> with in_file("own.toml", "board"):
    ...     raise MalformedError("line 3: invalid TOML: Invalid value")
    Traceback (most recent call last):
        ...
    iacta.errors.MalformedError: board file 'own.toml': line 3: invalid TOML: Invalid value
    """
    try:
        yield
    except UnreadableError:  # which names it
        raise
    except IactaError as error:
        raise plainly(error)(f"{named(file, what)}: {error}") from None


def seal() -> None:
    """Forbid this process to open files that a question names, as a server must.

    Files of Python and its packages, and the pictures' script in its cache, can still be read;
    every other file is refused, whoever opens it.
    """
    home, cache = os.path.expanduser("~"), os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    own = [sys.prefix, sys.base_prefix, str(Path(__file__).parents[1]), f"{home}/.local/lib"]
    folders = tuple(
        os.path.join(os.path.abspath(os.path.expanduser(each)), "")
        for each in (*own, f"{cache}/iacta")
    )

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            path = os.path.abspath(os.fsdecode(arguments[0]))
            if not path.startswith(folders) and path != os.devnull:
                raise IllegalError("a server reads no files; send what is in it")

    sys.addaudithook(refuse)


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
        opened = open(file, "rb", opener=_at_once)  # noqa: SIM115 # the caller closes it
    except (OSError, ValueError) as error:  # ValueError: the name contains a NUL
        raise UnreadableError(file, reason_of(error)) from None
    kind = os.fstat(opened.fileno()).st_mode
    if stat.S_ISFIFO(kind) and file.parent == SHELL_PIPES:
        os.set_blocking(opened.fileno(), True)
    elif not stat.S_ISREG(kind):
        opened.close()
        raise UnreadableError(file, "it is not a regular file")
    return opened


def _at_once(path: str, flags: int) -> int:
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
        raise UnreadableError(file, reason_of(error)) from None
    finally:
        if not is_stream:
            opened.close()
    if is_stream and not content:
        raise MalformedError("standard input is empty; only one file can be read from it")
    if len(content) > most:
        raise TooLargeError(f"the file must have at most {most} bytes")
    return content


def reason_of(error: Exception) -> str:
    """Return why a file cannot be read or written, in one line without its name."""
    known = REASONS.get(getattr(error, "errno", None) or 0)
    text = str(getattr(error, "strerror", None) or error or type(error).__name__)
    text = " ".join(text.strip().partition("\n")[0].split())
    return known or (text[:1].lower() + text[1:] if text[1:2].islower() else text)


# Parsing.


class RepeatedKeyError(MalformedError):
    """An object of JSON has a key twice."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {shown(key)} appears twice")
        self.key = key


def parse_json(text: str) -> Any:
    """Return the value of a JSON text.

    >>> parse_json('{"a": [1, 2]}')
    {'a': [1, 2]}
    >>> parse_json("[" * 1000)
    Traceback (most recent call last):
        ...
    iacta.errors.TooLargeError: lists and tables must be at most 32 deep
    """
    import json  # only needed here

    bare = re.sub(JSON_TEXT, "", text)
    _refuse_parts(sum(map(bare.count, ",[{")), MOST_PARTS)
    _refuse_deep(bare)
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        reason = _reason(error.msg, text, error.lineno, error.colno, ":")
        raise MalformedError(f"line {error.lineno}: invalid JSON: {reason}") from None
    except ValueError as error:
        if isinstance(error, RepeatedKeyError):
            raise
        raise MalformedError("invalid JSON: NaN, or a number that is too long") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise RepeatedKeyError(counts.most_common(1)[0][0])
    return found


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)


def looks_like_json(text: str) -> bool:
    r"""Return whether a text begins as JSON does and TOML does not.

    >>> looks_like_json(' {"a": 1}'), looks_like_json("[\n{}]"), looks_like_json("[[a]]\nb = 1")
    (True, True, False)
    """
    return re.match(r"\s*(\{|\[\s*[{\]])", text) is not None


def parse_toml(text: str) -> dict[str, Any]:
    r"""Return the table of a TOML text.

    >>> parse_toml('name = "Mars"')
    {'name': 'Mars'}
    >>> parse_toml('"a\\"#".' + "b." * 40 + "c = 1")
    Traceback (most recent call last):
        ...
    iacta.errors.TooLargeError: line 1: keys must have at most 32 parts
    """
    import tomllib  # only needed here

    if len(text) > MOST_TOML_BYTES or len(text.encode()) > MOST_TOML_BYTES:
        raise TooLargeError(f"TOML must have at most {MOST_TOML_BYTES} bytes")
    if looks_like_json(text):
        raise MalformedError("the text must be TOML, got JSON")
    _refuse_costly_toml(text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, place = str(error).rpartition(" (at ")
        found = re.match(r"line (\d+), column (\d+)", place)
        line = int(found[1]) if found else text.rstrip().count("\n") + 1
        reason = _reason(reason, text, line, int(found[2]), "=") if found else reason
        raise MalformedError(f"line {line}: invalid TOML: {reason}") from None
    except ValueError:
        raise MalformedError("invalid TOML: a number that is too long") from None


def _reason(reason: str, text: str, number: int, column: int, mark: str) -> str:
    """Return why a text is neither JSON nor TOML, in the words of who forgot the quotes.

    reason: what the parser says.
    number, column: where it stopped, both from 1.
    mark: what follows a key.
    """
    if not reason.startswith(NOT_READ):
        return REPHRASED.get(reason, reason)
    line, place = text.split("\n")[number - 1], column - 1
    begin = 1 + max(line.rfind(each, 0, place) for each in "{,")
    key = re.match(r"\s*(\w[\w -]*?)\s*([=:])", line[begin : begin + LONGEST_SHOWN])
    if key and begin + key.start(2) >= place:
        is_colon = (key[2], mark) == (":", "=")
        return f"expected = after {key[1]}, got :" if is_colon else f'text needs quotes: "{key[1]}"'
    value = re.match(rf"[{QUOTES}]?([^\W\d](?:[\w -]*\w)?)", line[place : place + LONGEST_SHOWN])
    if value and value[1].lower() in ("true", "false"):
        return f"did you mean {value[1].lower()}?"
    return f'text needs quotes: "{value[1]}"' if value else reason


def _refuse_costly_toml(text: str) -> None:
    """Refuse what costs a parser more than its bytes: each part of a key is several objects."""
    bare = re.sub(TOML_TEXT, lambda found: "\n" * found[0].count("\n"), text)
    _refuse_parts(bare.count(","), MOST_PARTS)
    _refuse_deep(bare)
    keys = bare.count("=")
    for number, line in enumerate(bare.split("\n"), 1):
        if "." in line:
            parts = [piece.count(".") + 1 for piece in re.split(BETWEEN_KEYS, line)]
            if max(parts) > MOST_DEPTH:
                raise TooLargeError(f"line {number}: keys must have at most {MOST_DEPTH} parts")
            keys += sum(each for each in parts if each > 2)
        keys += line.lstrip().startswith("[")
        if keys > MOST_KEYS:
            raise TooLargeError(f"TOML must have at most {MOST_KEYS} keys")


def _refuse_parts(count: int, most: int) -> None:
    if count > most:
        raise TooLargeError(f"lists and tables must have at most {most} parts, got {count}")


def _refuse_deep(bare: str) -> None:
    depth = 0
    for bracket in re.finditer(BRACKET, bare):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > MOST_DEPTH:
            raise TooLargeError(f"lists and tables must be at most {MOST_DEPTH} deep")


# Writing.


def check_writable(file: str | PathLike[str]) -> None:
    """Refuse a file that cannot be written, before its content is computed."""
    place = Path(file)
    with _writing(file):
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
            part = unfinished(target)  # a folder may refuse it whatever its rights say
            part.open("xb").close()
            part.unlink()


def write_whole(file: Path, content: bytes) -> None:
    """Write a file under another name, then move it to its place once it is on the disk.

    file: the place; a link is followed, and a file that is replaced keeps its permissions.
    content: what to write.
    """
    with written_whole(file) as opened:
        opened.write(content)


@contextmanager
def written_whole(file: Path) -> Iterator[BinaryIO]:
    """Open a file to be written under a random name; it gets its own at the end of the block.

    file: the place; a link is followed, and a file that is replaced keeps its permissions. After an
        error it stays as it was.
    """
    with _writing(file):
        place = file.resolve()
        if place.exists() and not place.is_file():
            with place.open("wb") as opened:  # a pipe or a device; a folder refuses it
                yield opened
            return
        part = unfinished(place)
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
def _writing(file: str | PathLike[str]) -> Iterator[None]:
    try:
        yield
    except IactaError:
        raise
    except FileNotFoundError:
        raise IllegalError(f"cannot write {named(file)}: no such folder") from None
    except (OSError, ValueError, RuntimeError) as error:  # a name too long, with a NUL, in a circle
        raise IllegalError(f"cannot write {named(file)}: {reason_of(error)}") from None


def unfinished(place: Path) -> Path:
    """Return a new name beside a file, under which it is written."""
    return place.with_name(f".{os.urandom(8).hex()}{UNFINISHED}")


# CSV.


def csv_rows(rows: Iterable[Iterable[object]]) -> Iterator[list[object]]:
    """Yield rows of CSV in which no text is a formula to a spreadsheet.

    A text that begins like a formula, such as a name from a file, gets an apostrophe in front, as
    spreadsheets mark texts. Numbers stay as they are.

    >>> list(csv_rows([["=1+1", "-2.5", -2.5, "Peru"]]))
    [["'=1+1", '-2.5', -2.5, 'Peru']]
    """
    for row in rows:
        yield [f"'{cell}" if _is_formula(cell) else cell for cell in row]


def _is_formula(cell: object) -> bool:
    if not isinstance(cell, str) or not cell.startswith(FORMULA):
        return False
    try:
        float(cell)
    except ValueError:
        return len(cell) > 1
    return False
