r"""Files: read within bounds that hold before they are parsed, and written whole or not at all.

A file may come from a stranger. No more of it is read than its bound, and TOML and JSON that would
take far more memory than their bytes are refused before a parser sees them: tables in tables,
dotted keys, very many entries. XML has its own guard, where boards are read.

What is written stands under a random name until it is complete, so that nobody sees half of a file,
and a link that was planted under a name that could be foreseen is not followed.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from iacta.checks import shown
from iacta.errors import IactaError, IllegalError, MalformedError, TooLargeError

__all__ = [
    "OTHER_TEXTS",
    "STREAM",
    "UNFINISHED",
    "RepeatedKeyError",
    "check_writable",
    "csv_rows",
    "named",
    "parse_json",
    "parse_toml",
    "plain",
    "read_bytes",
    "read_path",
    "seal",
    "write_whole",
]

STREAM = "-"  # standard input, or standard output, where a file is named
OTHER_TEXTS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}  # by the marks that they begin with
UNFINISHED = ".iacta-part"  # the ending of what is being written
LONGEST_PATH = 160
MOST_TOML_BYTES = 10**6
MOST_DEPTH = 32
MOST_KEYS = 100_000
MOST_PARTS = 500_000

# Each matches from wherever a text, or a comment, begins to its end or that of the file. They are
# not compiled yet: most commands read no file.
JSON_TEXT = r'(?s)"(?:[^"\\]++|\\.)*+"?'
TOML_TEXT = (
    r'(?s)"""(?:[^"\\]++|\\.|"(?!""))*+"{0,5}+'
    r"|'''(?:[^']++|'(?!''))*+'{0,5}+"
    r'|"(?:[^"\\\n]++|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+"
)
BRACKET = r"[\[\]{}]"
BETWEEN_KEYS = r"[,=\[\]{}\n]"
_is_sealed = False
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


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
    r"""Return the name of a file as sentences have it: quoted, escaped, and cut if it is very long.

    what: what it holds, such as `board`.

    >>> named("own\n.toml"), named("own.toml", "board"), named("-", "board")
    ("'own\\n.toml'", "board file 'own.toml'", 'board on standard input')
    """
    if what and str(path) == STREAM:
        return f"{what} on standard input"
    text = repr(str(path))
    if len(text) > LONGEST_PATH:
        text = f"'...{text[-LONGEST_PATH:]}"  # its end says more than the folders that it is in
    return f"{what} file {text}" if what else text


def plain(path: str | PathLike[str]) -> str:
    """Return the name of a file as it is, unless it must be escaped or cut as by `named`."""
    text = str(path)
    return text if text.isprintable() and len(text) <= LONGEST_PATH else named(path)


# Reading.


def seal() -> None:
    """Let this process open no file that a question names, as a server must not.

    Files of Python and of its packages can still be read, and what is compiled is still kept; every
    other file is refused, whoever opens it.
    """
    global _is_sealed
    _is_sealed = True
    home, cache = os.path.expanduser("~"), os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    own = [sys.prefix, sys.base_prefix, str(Path(__file__).parents[1]), f"{home}/.local/lib"]
    kept = [
        f"{cache}/iacta",
        f"{cache}/numba",
        os.environ.get("NUMBA_CACHE_DIR") or f"{cache}/numba",
    ]
    folders = tuple(
        os.path.join(os.path.abspath(os.path.expanduser(each)), "") for each in (*own, *kept)
    )

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            given = os.fsdecode(arguments[0])
            path = os.path.abspath(given)
            if not path.startswith(folders) and path != os.devnull:
                raise IllegalError(f"a file must not be named here, got {named(given)}")

    sys.addaudithook(refuse)


def _refuse_sealed(file: Path) -> None:
    if _is_sealed:
        raise IllegalError(f"a file must not be named here, got {named(file)}")


def read_bytes(file: Path, most: int) -> bytes:
    """Return what a file holds; of one that is too large no more than the limit is read.

    file: its path; `-` is standard input, which must not be empty.
    most: how many bytes it may have.
    """
    _refuse_sealed(file)
    try:
        if str(file) == STREAM:
            content = _standard_input(most)
        else:
            with file.open("rb") as opened:
                content = opened.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: the name contains a NUL
        raise MalformedError(
            f"the file must be one that can be read, got: {_reason(error)}"
        ) from None
    if len(content) > most:
        raise TooLargeError(f"the file must have at most {most} bytes, got more")
    return content


def _standard_input(most: int) -> bytes:
    if sys.stdin is None:
        raise MalformedError("standard input must be open, got it closed")
    content: bytes = sys.stdin.buffer.read(most + 1)
    if not content:
        raise MalformedError("standard input must have a text, and be named once, got none")
    return content


def _reason(error: Exception) -> str:
    """Return why something failed, in one line without the name of a file."""
    return " ".join(str(getattr(error, "strerror", None) or error).split())


# Parsing.


class RepeatedKeyError(MalformedError):
    """An object of JSON has a key twice."""

    def __init__(self, key: str) -> None:
        super().__init__(f"keys must be there once each, got {shown(key)} twice")
        self.key = key


def parse_json(text: str) -> Any:
    """Return what a JSON text says.

    >>> parse_json('{"a": [1, 2]}')
    {'a': [1, 2]}
    >>> parse_json("[" * 1000)
    Traceback (most recent call last):
        ...
    iacta.errors.TooLargeError: lists and tables must be at most 32 deep, got more
    """
    import json  # only needed here

    bare = re.sub(JSON_TEXT, "", text)
    _refuse_parts(sum(map(bare.count, ",[{")), MOST_PARTS)
    _refuse_deep(bare)
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise MalformedError(
            f"line {error.lineno}: the text must be JSON, got: {error.msg}"
        ) from None
    except ValueError as error:
        if isinstance(error, RepeatedKeyError):
            raise
        raise MalformedError("the text must be plain JSON, got a number too long or NaN") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise RepeatedKeyError(counts.most_common(1)[0][0])
    return found


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)


def parse_toml(text: str) -> dict[str, Any]:
    r"""Return what a TOML text says.

    >>> parse_toml('name = "Mars"')
    {'name': 'Mars'}
    >>> parse_toml('"a\\"#".' + "b." * 40 + "c = 1")
    Traceback (most recent call last):
        ...
    iacta.errors.TooLargeError: line 1: keys must have at most 32 parts, got more
    """
    import tomllib  # only needed here

    if len(text) > MOST_TOML_BYTES or len(text.encode()) > MOST_TOML_BYTES:
        raise TooLargeError(f"TOML must have at most {MOST_TOML_BYTES} bytes, got more")
    _refuse_costly_toml(text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, place = str(error).rpartition(" (at ")
        found = re.match(r"line (\d+)", place)
        line = found[1] if found else text.rstrip().count("\n") + 1
        raise MalformedError(f"line {line}: the text must be TOML, got: {reason}") from None
    except ValueError:
        raise MalformedError("the text must be plain TOML, got a number too long") from None


def _refuse_costly_toml(text: str) -> None:
    """Refuse what takes a parser more than its bytes: each part of a key is several objects."""
    bare = re.sub(TOML_TEXT, lambda found: "\n" * found[0].count("\n"), text)
    _refuse_parts(bare.count(","), MOST_PARTS)
    _refuse_deep(bare)
    keys = bare.count("=")
    for number, line in enumerate(bare.split("\n"), 1):
        if "." in line:
            parts = [piece.count(".") + 1 for piece in re.split(BETWEEN_KEYS, line)]
            if max(parts) > MOST_DEPTH:
                raise TooLargeError(
                    f"line {number}: keys must have at most {MOST_DEPTH} parts, got more"
                )
            keys += sum(each for each in parts if each > 2)
        keys += line.lstrip().startswith("[")
        if keys > MOST_KEYS:
            raise TooLargeError(f"TOML must have at most {MOST_KEYS} keys, got more")


def _refuse_parts(count: int, most: int) -> None:
    if count > most:
        raise TooLargeError(f"lists and tables must have at most {most} parts, got {count}")


def _refuse_deep(bare: str) -> None:
    depth = 0
    for bracket in re.finditer(BRACKET, bare):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > MOST_DEPTH:
            raise TooLargeError(f"lists and tables must be at most {MOST_DEPTH} deep, got more")


# Writing.


def check_writable(file: str | PathLike[str], what: str) -> None:
    """Refuse a place that cannot be written, before what belongs there is computed.

    file: the place.
    what: what the sentence calls it, such as `the file of a picture`.
    """
    place = Path(file)
    try:
        with suppress(FileNotFoundError):
            place.stat()
        if place.is_dir() or str(file).endswith(os.sep) or not place.name:
            raise IllegalError(f"{what} must not be a folder, got {named(file)}")
        if not place.parent.is_dir():
            raise IllegalError(f"the folder of {what} must exist, got {named(place.parent)}")
        target = place.resolve()
        exists = target.exists()
        writable = not exists or os.access(target, os.W_OK)
        if writable and (target.is_file() or not exists):
            part = _part_of(target)  # a folder may refuse it whatever its rights say
            part.open("xb").close()
            part.unlink()
    except IactaError:
        raise
    except (OSError, ValueError, RuntimeError) as error:  # a name too long, with a NUL, in a circle
        raise IllegalError(
            f"{what} must be writable, got {named(file)}: {_reason(error)}"
        ) from None
    if not writable:
        raise IllegalError(f"{what} must be writable, got {named(file)}")


def write_whole(file: Path, content: bytes, what: str) -> None:
    """Write a file under another name, then move it to its place.

    file: the place; if it is a link, it is followed, and a file that is replaced keeps its rights.
    content: what to write.
    what: what a sentence calls the place if it cannot be written.
    """
    _refuse_sealed(file)
    try:
        place = file.resolve()
        if place.exists() and not place.is_file():
            place.write_bytes(content)  # a pipe or a device; a folder refuses it
            return
        part = _part_of(place)
        with part.open("xb") as opened:  # fails if there is anything, be it a link, of this name
            try:
                opened.write(content)
                opened.flush()
                if place.exists():
                    part.chmod(place.stat().st_mode)
                part.replace(place)
            except BaseException:
                part.unlink()
                raise
    except (OSError, ValueError, RuntimeError) as error:
        raise IllegalError(
            f"{what} must be writable, got {named(file)}: {_reason(error)}"
        ) from None


def _part_of(place: Path) -> Path:
    return place.with_name(f".{os.urandom(8).hex()}{UNFINISHED}")


# CSV.


def csv_rows(rows: Iterable[Iterable[object]]) -> Iterator[list[object]]:
    """Yield rows of CSV in which no text is a formula to a spreadsheet.

    A text that begins as formulas do, such as a name from a file, gets an apostrophe in front, with
    which spreadsheets mark texts. Numbers stay as they are.

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
