"""XML as a small tree with line numbers: no document types, no entities, nothing fetched."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from iacta.board.names import one_line
from iacta.errors import MalformedError, TooLargeError

__all__ = ["Element", "read_xml"]

MOST_ELEMENTS = 200_000
MOST_DEPTH = 50


@dataclass
class Element:
    """An element: its name in small letters, its line, its text and the elements within."""

    name: str
    line: int
    parts: list[str] = field(default_factory=list)
    inner: "list[Element]" = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text with each run of spaces and line ends as one space."""
        return one_line("".join(self.parts))

    def all(self, *path: str) -> "Iterator[Element]":
        """Yield the elements that a path of names leads to."""
        for each in self.inner:
            if each.name == path[0]:
                yield from each.all(*path[1:]) if len(path) > 1 else (each,)

    def first(self, *path: str) -> "Element | None":
        """Return the first element that a path of names leads to, if there is one."""
        return next(self.all(*path), None)

    def needed(self, name: str) -> "Element":
        """Return the first element within that has a name, or refuse that there is none."""
        found = self.first(name)
        if found is None:
            raise MalformedError(f"line {self.line}: <{self.name}> must have a <{name}>, got none")
        return found


class _Builder:
    """Builds the tree from what the parser tells."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.data
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse
        self.parser.ExternalEntityRefHandler = self.refuse
        self.parser.buffer_text = True
        self.top = Element("", 1)
        self.open = [self.top]
        self.count = 0

    @property
    def line(self) -> int:
        """The line that the parser has come to."""
        return self.parser.CurrentLineNumber

    def start(self, name: str, attributes: object) -> None:
        """Open an element within the one that is open.

        name: its name.
        attributes: its attributes, which no map needs.
        """
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise TooLargeError(f"the XML must have at most {MOST_ELEMENTS} elements, got more")
        if len(self.open) > MOST_DEPTH:
            raise TooLargeError(
                f"line {self.line}: elements must be at most {MOST_DEPTH} deep, got more"
            )
        element = Element(name.lower(), self.line)
        self.open[-1].inner.append(element)
        self.open.append(element)

    def end(self, name: str) -> None:
        """Close the element that is open.

        name: its name, which the parser has checked.
        """
        self.open.pop()

    def data(self, text: str) -> None:
        """Add to the text of the element that is open.

        text: a part of it.
        """
        self.open[-1].parts.append(text)

    def refuse(self, *arguments: object) -> NoReturn:
        """Refuse a document type or an entity.

        arguments: what the parser tells of it, which is not looked at.
        """
        raise MalformedError(
            f"line {self.line}: the XML must have no document type and no entities, got one"
        )


def read_xml(text: str) -> Element:
    """Return the outermost element of an XML text.

    A document type is refused before anything in it is looked at, so that no entity can be
    declared, let alone expanded.

    >>> read_xml("<map><name> Peru </name></map>").needed("name").text
    'Peru'
    """
    builder = _Builder()
    try:
        builder.parser.Parse(text, True)  # whatever encoding it declares: it is decoded already
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise MalformedError(f"line {error.lineno}: the text must be XML, got: {reason}") from None
    return builder.top.inner[0]
