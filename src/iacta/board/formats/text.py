"""The text of a file that a stranger may have made: bounded, decoded, cut into sections."""

import re
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from iacta.checks import parse_whole_number, shown
from iacta.errors import MalformedError, TooLargeError

__all__ = ["Entry", "decode", "entries", "read_bytes", "read_number", "read_path"]

MOST_BYTES = 4 * 10**6
MOST_LINES = 10**5
SECTION = re.compile(r"\[([^\[\],;=\"']{1,40})\]")


def read_path(path: str | PathLike[str], what: str) -> Path:
    """Return the path of a file, or refuse what is none."""
    try:
        return Path(path)
    except TypeError:
        raise MalformedError(f"{what} must be the path of a file, got {shown(path)}") from None


def read_bytes(file: Path, most: int = MOST_BYTES) -> bytes:
    """Return what a file holds; one that is larger than `most` bytes is refused unread."""
    try:
        with file.open("rb") as opened:
            content = opened.read(most + 1)
    except (OSError, ValueError) as error:  # a name can hold what no file name may
        reason = getattr(error, "strerror", None) or error
        raise MalformedError(f"the file must be one that can be read, got: {reason}") from None
    if len(content) > most:
        raise TooLargeError(f"the file must have at most {most} bytes, got more")
    return content


def decode(content: bytes) -> str:
    r"""Return bytes as text: UTF-8, UTF-16 if it says so at its start, else the older Latin-1.

    >>> decode("Österreich".encode("latin-1")), decode(b"\xef\xbb\xbfPeru\r\nChile")
    ('Österreich', 'Peru\nChile')
    """
    marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = content.decode("utf-16" if marked else "utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise MalformedError(f"line {line}: the text must have no NUL, got one")
    return text


class Entry(NamedTuple):
    """A line of a text with sections: the section in small letters, the line and its number."""

    section: str
    line: int
    text: str


def entries(text: str) -> list[Entry]:
    r"""Return the lines of a text in sections such as `[borders]`, without comments.

    >>> entries("; old\nname X\n[borders]\n1 2")
    [Entry(section='', line=2, text='name X'), Entry(section='borders', line=4, text='1 2')]
    """
    found, section = [], ""
    lines = text.split("\n", MOST_LINES)
    if len(lines) > MOST_LINES:
        raise TooLargeError(f"the text must have at most {MOST_LINES} lines, got more")
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        heading = SECTION.fullmatch(bare)
        if heading:
            section = heading[1].strip().lower()
        elif bare and not bare.startswith((";", "#")):
            found.append(Entry(section, number, bare))
    return found


def read_number(text: str, what: str, line: int | None, least: int, most: int) -> int:
    """Return the whole number of a file, or refuse it with its line."""
    try:
        return parse_whole_number(text.strip(), what, least, most)
    except ValueError as error:
        place = "" if line is None else f"line {line}: "
        raise type(error)(f"{place}{error}") from None
