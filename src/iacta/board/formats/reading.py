r"""Parsers for files from untrusted sources, with size limits and with the line of every entry.

Board files are XML, JSON, TOML, or text with sections such as `[borders]`. Size limits are checked
before parsing. XML with a document type is refused. Therefore no entity can be declared, expanded
or fetched.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeAlias
from xml.parsers import expat

from iacta.board.board import MAX_BONUS, collapse_spaces, did_you_mean
from iacta.inputs.checks import parse_int, quote
from iacta.inputs.errors import IactaError, IllegalError, MalformedError, TooLargeError
from iacta.inputs.files import read_bytes
from iacta.inputs.json_and_toml import RepeatedKeyError, looks_like_json, parse_json, parse_toml

# Larger files would need more than a few seconds or a few hundred megabytes.
MAX_BOARD_BYTES = 4 * 10**6
MAX_BOARD_LINES = 10**5
MAX_ELEMENTS = 200_000
MAX_BOARD_DEPTH = 50
MAX_KEYS_NAMED = 8  # the maximum number of keys in the message about an unknown key
MAX_LINE_DEPTH = 6  # line numbers of entries with deeper nesting are not recorded
MAX_ID = 10**9
MAX_PLACE = 10**6
COMMENT_MARKS = (";", "#")

COORDINATE = re.compile(r"[+-]?\d{1,9}(?:\.\d{1,20})?", re.ASCII)
BINARY = {
    b"PK\x03\x04": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"%PDF": "a PDF",
    b"\x89PNG": "a PNG picture",
    b"GIF8": "a GIF picture",
    b"\xff\xd8\xff": "a JPEG picture",
}
# Clearer messages for error codes of expat, which calls code 3 "no element found".
EXPAT_REASONS = {3: "it ends before all of its elements are closed"}
DECLARED_ENCODING = re.compile(
    rb"<\?xml\s[^>]*?\bencoding\s*=\s*[\"']"
    rb"(iso-8859-(?:1[013-6]|[1-9])|windows-125[0-8]|koi8-[ru])[\"']",
    re.IGNORECASE,
)
XML = re.compile(r"\s*<")
HTML = re.compile(r"\s*<(?:!doctype\s+)?html\b", re.IGNORECASE)
JSON_OBJECT = re.compile(r"\s*\{")
MAX_ROOT_LENGTH = 40  # the maximum length of the name of an XML element in messages
SECTION = re.compile(r"\[([^\[\],;=\"']{1,40})\]")
JSON_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|\n|[^\s{}\[\],:"]+')
TOML_PART = re.compile(r"""[\w-]+|"[^"\n]*"|'[^'\n]*'""")
TOML_KEY = re.compile(rf"(?:{TOML_PART.pattern})(?:\s*\.\s*(?:{TOML_PART.pattern}))*(?=\s*[=\]])")

KeyPath: TypeAlias = tuple[str | int, ...]  # the keys and indices that lead to an entry
FindLine: TypeAlias = Callable[[KeyPath], int | None]


class FileText(NamedTuple):
    """The decoded content of a file.

    text: the content.
    guessed: the first line whose encoding is a guess; `None` for a known encoding.
    """

    text: str
    guessed: int | None = None


def read_file(file: Path) -> FileText:
    return decode(read_bytes(file, MAX_BOARD_BYTES))


def decode(content: bytes) -> FileText:
    r"""Decode the content of a file from UTF-16 (with a byte order mark), UTF-8 or Windows-1252.

    XML that is not UTF-8 may declare another single-byte encoding.

    >>> decode("Österreich".encode("cp1252")), decode(b"\xef\xbb\xbfPeru\r\nChile")
    (FileText(text='Österreich', guessed=1), FileText(text='Peru\nChile', guessed=None))
    """
    for beginning, kind in BINARY.items():
        if content.startswith(beginning):
            raise MalformedError(f"the file must be text, got {kind}")
    marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    with suppress(UnicodeDecodeError):
        return FileText(normalize_text(content.decode("utf-16" if marked else "utf-8-sig")))
    declared = DECLARED_ENCODING.match(content)
    if declared:
        encoding = declared[1].decode().lower()
        encoding = {"iso-8859-1": "cp1252"}.get(encoding, encoding)  # a superset
        return FileText(normalize_text(content.decode(encoding, "replace")))
    text = normalize_text(content.decode("cp1252", "replace"))
    before = re.match(r"[\0-\x7f]*", text)
    return FileText(text, before[0].count("\n") + 1 if before else 1)


def normalize_text(text: str) -> str:
    """Return a string with line feeds as line breaks; raise `IactaError` for a NUL character.

    Lone surrogates, which valid files never contain, are replaced by question marks.
    """
    text = (
        text.encode("utf-8", "replace")
        .decode()
        .removeprefix("\ufeff")
        .replace("\r\n", "\n")
        .replace("\r", "\n")
    )
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise MalformedError(f"line {line}: the text contains a NUL character")
    return text


class BoardText:
    """The text of a board file, which is parsed at most once for all formats."""

    def __init__(self, text: str) -> None:
        self.text = text

    def xml(self, root: str) -> "Element | None":
        """Return the root element of an XML file, or `None` if it has another name."""
        return self._top if self._top and self._top.name == root else None

    @cached_property
    def json(self) -> "FileTable | None":
        """The object in a JSON file; `None` for any other file."""
        return read_json(self.text) if JSON_OBJECT.match(self.text) else None

    @property
    def plain(self) -> str:
        """The content of the file, or an empty string for XML and JSON."""
        return "" if XML.match(self.text) or looks_like_json(self.text) else self.text

    @property
    def kind(self) -> str:
        """The type of the file, for the message about an unknown format; empty for plain text."""
        if not self.text.strip():
            return "an empty file"
        if HTML.match(self.text):
            return "a web page"
        if self._top is not None:
            return f"XML with the root <{self._top.name[:MAX_ROOT_LENGTH]}>"
        if looks_like_json(self.text):
            return "a JSON object" if JSON_OBJECT.match(self.text) else "a JSON list"
        return ""

    @cached_property
    def _top(self) -> "Element | None":
        is_xml = XML.match(self.text) and not HTML.match(self.text)
        return _read_xml(self.text) if is_xml else None


# Text with sections.


class TextLine(NamedTuple):
    """A line of a file with sections: its text, its section in lower case, and its line number."""

    section: str
    line: int
    text: str


def read_section_lines(text: str) -> list[TextLine]:
    r"""Return the lines of a file with sections, except comments and empty lines.

    >>> read_section_lines("; old\nname X\n[borders]\n1 2")
    [TextLine(section='', line=2, text='name X'), TextLine(section='borders', line=4, text='1 2')]
    """
    entries, section = [], ""
    lines = text.split("\n", MAX_BOARD_LINES)
    if len(lines) > MAX_BOARD_LINES:
        raise TooLargeError(f"the text must have at most {MAX_BOARD_LINES} lines")
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        heading = SECTION.fullmatch(bare)
        if heading:
            section = heading[1].strip().lower()
        elif bare and not bare.startswith(COMMENT_MARKS):
            entries.append(TextLine(section, number, bare))
    return entries


def prefix_line(line: int | None, sentence: str) -> str:
    """Prefix a message about a file with the line number, if this is known.

    >>> prefix_line(3, "bonus must be a whole number"), prefix_line(None, "no line")
    ('line 3: bonus must be a whole number', 'no line')
    """
    return sentence if line is None else f"line {line}: {sentence}"


def read_number(text: str, what: str, line: int, minimum: int, maximum: int) -> int:
    try:
        return parse_int(text.strip(), what, minimum, maximum)
    except ValueError as error:
        raise type(error)(prefix_line(line, str(error))) from None


def read_id(text: str, line: int) -> str:
    return str(read_number(text, "id", line, 0, MAX_ID))


def read_bonus(text: str, line: int) -> int:
    return read_number(text, "bonus", line, -MAX_BONUS, MAX_BONUS)


def read_place(x: str, y: str, line: int) -> tuple[float, float] | None:
    """Return the place with the given coordinates, or `None` if both strings are empty.

    >>> read_place("100", "50.5", 3), read_place("", "", 3)
    ((100.0, 50.5), None)
    """
    return (_read_coordinate(x, line), _read_coordinate(y, line)) if x or y else None


def _read_coordinate(text: str, line: int) -> float:
    if COORDINATE.fullmatch(text.strip()) and abs(float(text)) <= MAX_PLACE:
        return float(text)
    raise MalformedError(
        f"line {line}: place must be a number from {-MAX_PLACE} to {MAX_PLACE}, got {quote(text)}"
    )


# JSON and TOML.


class FileTable(NamedTuple):
    """A table from a file, or a mapping without line numbers.

    entries: the entries of the table.
    find_line: a function that returns the line of an entry, or of the innermost enclosing entry
        with a known line.
    """

    entries: Mapping[str, Any]
    find_line: FindLine = lambda path: None

    def refuse(
        self, path: KeyPath, sentence: str, kind: type[ValueError] = MalformedError
    ) -> NoReturn:
        raise kind(prefix_line(self.find_line(path), sentence))

    @contextmanager
    def add_line(self, path: KeyPath) -> Iterator[None]:
        try:
            yield
        except IactaError as error:
            self.refuse(path, str(error), type(error))

    def refuse_unknown(self, keys: Mapping[str, Any], known: Sequence[str], *path: str) -> None:
        for key in keys:
            if key not in known:
                named = ", ".join(known[:MAX_KEYS_NAMED])
                others = " or another key" if len(known) > MAX_KEYS_NAMED else ""
                hint = did_you_mean(str(key), known) or f"; expected {named}{others}"
                place = f" in {'.'.join(path)}" if path else ""
                sentence = f"unknown key {quote(key)}{place}{hint}"
                self.refuse((*path, key), sentence, IllegalError)

    def table(self, key: str) -> Mapping[str, Any]:
        inner = self.entries.get(key, {})
        if not isinstance(inner, Mapping):
            self.refuse((key,), f"{key} must be a table, got {quote(inner)}")
        return inner


def read_table(text: str) -> FileTable:
    """Parse the content of a JSON or TOML file that contains a table."""
    return read_json(text) if looks_like_json(text) else read_toml(text)


def read_json(text: str) -> FileTable:
    r"""Parse the content of a JSON file that contains an object.

    >>> table = read_json('{"a":\n [1,\n 2]}')
    >>> table.entries["a"], table.find_line(("a", 1))
    ([1, 2], 3)
    """
    try:
        value = parse_json(text)
    except RepeatedKeyError as error:
        raise MalformedError(
            prefix_line(_find_repeated_line(error.key, text), str(error))
        ) from None
    if not isinstance(value, dict):
        raise MalformedError(f"the JSON must be an object, got {quote(value)}")
    return FileTable(value, _index_lines(lambda: _scan_json(text)))


def _find_repeated_line(key: str, text: str) -> int | None:
    seen: set[KeyPath] = set()
    for path, line in _scan_json(text):
        if path in seen and path[-1] == key:
            return line
        seen.add(path)
    return None


def _index_lines(scan: Callable[[], Iterable[tuple[KeyPath, int]]]) -> FindLine:
    @cache
    def lines() -> dict[KeyPath, int]:
        lines: dict[KeyPath, int] = {}
        for path, line in scan():
            lines.setdefault(path, line)
        return lines

    def find_line(path: KeyPath) -> int | None:
        known = lines()
        while path and path not in known:
            path = path[:-1]
        return known.get(path)

    return find_line


def _scan_json(text: str) -> Iterator[tuple[KeyPath, int]]:
    """Yield the path and the line of each entry of a valid JSON file, including repeated keys."""
    yield (), 1
    path: list[str | int] = []
    in_list: list[bool] = []
    line, is_entry_start = 1, False
    for match in JSON_PART.finditer(text):
        part = match[0]
        if part == "\n":
            line += 1
            continue
        if is_entry_start and part not in "}]":
            key = path[-1] if in_list[-1] else json.loads(part)
            path[-1] = key
            if len(path) <= MAX_LINE_DEPTH:
                yield tuple(path), line
        is_entry_start = False
        if part in ("{", "["):
            in_list.append(part == "[")
            path.append(0)
            is_entry_start = True
        elif part in ("}", "]"):
            in_list.pop()
            path.pop()
        elif part == ",":
            if in_list[-1]:
                path[-1] += 1  # type: ignore[operator] # in a list this is an index
            is_entry_start = True


def read_toml(text: str) -> FileTable:
    r"""Parse the content of a TOML file.

    >>> table = read_toml('[territories]\n"North Africa" = ["Egypt"]')
    >>> table.find_line(("territories", "North Africa", 0))
    2
    """
    return FileTable(parse_toml(text), _index_lines(lambda: _scan_toml(text)))


def _scan_toml(text: str) -> Iterator[tuple[KeyPath, int]]:
    """Yield the path and the line of each heading, and of each key at the start of a line."""
    heading: KeyPath = ()
    for number, line in enumerate(text.split("\n"), 1):
        key = TOML_KEY.match(line.strip(" \t["))
        if key:
            path = tuple(part.strip("\"'") for part in TOML_PART.findall(key[0]))
            if line.lstrip().startswith("["):
                heading = path
                yield path, number
            else:
                yield (*heading, *path), number


# XML.


@dataclass
class Element:
    """An XML element, with its tag name in lower case."""

    name: str
    line: int
    attributes: Mapping[str, str] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)
    inner: "list[Element]" = field(default_factory=list)

    @property
    def text(self) -> str:
        return collapse_spaces("".join(self.parts))

    def find_all(self, *path: str) -> "Iterator[Element]":
        for part in self.inner:
            if part.name == path[0]:
                yield from part.find_all(*path[1:]) if len(path) > 1 else (part,)

    def find(self, *path: str) -> "Element | None":
        return next(self.find_all(*path), None)

    def require(self, name: str) -> "Element":
        """Return the first child element with a given name; raise `IactaError` if it is missing."""
        element = self.find(name)
        if element is None:
            raise MalformedError(f"line {self.line}: missing <{name}> in <{self.name}>")
        return element


def _read_xml(text: str) -> Element:
    """Parse an XML file, and return the root element.

    >>> _read_xml("<map><name> Peru </name></map>").require("name").text
    'Peru'
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    top = Element("", 1)
    unclosed = [top]
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS:
            raise TooLargeError(f"the XML must have at most {MAX_ELEMENTS} elements")
        line = parser.CurrentLineNumber
        if len(unclosed) > MAX_BOARD_DEPTH:
            raise TooLargeError(
                f"line {line}: elements must be nested at most {MAX_BOARD_DEPTH} deep"
            )
        element = Element(name.lower(), line, attributes)
        unclosed[-1].inner.append(element)
        unclosed.append(element)

    def end(name: str) -> None:
        unclosed.pop()

    def add(text: str) -> None:
        unclosed[-1].parts.append(text)

    def refuse(*_: object) -> NoReturn:
        raise MalformedError(
            f"line {parser.CurrentLineNumber}: document types and entities are not allowed in XML"
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = add
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(text, True)  # for a `str`, expat ignores the declared encoding
    except expat.ExpatError as error:
        reason = EXPAT_REASONS.get(error.code) or expat.ErrorString(error.code)
        raise MalformedError(f"line {error.lineno}: the text is not XML: {reason}") from None
    return top.inner[0]
