"""JSON and TOML as tables whose entries know their lines, double keys refused."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, TypeAlias

from iacta.board.names import did_you_mean
from iacta.checks import shown
from iacta.errors import IllegalError, MalformedError, TooLargeError

__all__ = ["Locate", "Path", "Table", "nowhere", "read_json", "read_table", "read_toml"]

MOST_TOML_BYTES = 10**6
MOST_PARTS = 40
PART = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|\n|[^\s{}\[\],:"]+')
QUOTED = re.compile(r"""\"[^\"]*\"|'[^']*'""")
BETWEEN_KEYS = re.compile(r"[,=\[\]{}]")
TOML_PART = re.compile(r"""[\w-]+|"[^"\n]*"|'[^'\n]*'""")
TOML_KEY = re.compile(rf"(?:{TOML_PART.pattern})(?:\s*\.\s*(?:{TOML_PART.pattern}))*(?=\s*[=\]])")

Path: TypeAlias = tuple[str | int, ...]
Locate: TypeAlias = Callable[[Path], int | None]


class Table(NamedTuple):
    """A table read from a text or given by a program; `line_of` tells where an entry stands.

    A path is a row of keys and, within lists, of positions from 0.
    """

    entries: Mapping[str, Any]
    line_of: Locate

    def refuse(
        self, path: Path, sentence: str, kind: type[ValueError] = MalformedError
    ) -> NoReturn:
        """Refuse an entry, with its line if it has one."""
        line = self.line_of(path)
        raise kind(sentence if line is None else f"line {line}: {sentence}")

    def refuse_unknown(self, keys: Mapping[str, Any], known: Sequence[str], *path: str) -> None:
        """Refuse keys that are none of those known, with the nearest of them."""
        for key in keys:
            if key not in known:
                hint = did_you_mean(str(key), known) or f"; expected {', '.join(known)}"
                place = f" of {'.'.join(path)}" if path else ""
                sentence = f"keys{place} must be known ones, got {shown(key)}{hint}"
                self.refuse((*path, key), sentence, IllegalError)

    def table(self, key: str) -> Mapping[str, Any]:
        """Return the table of a key, an empty one if there is none."""
        found = self.entries.get(key, {})
        if not isinstance(found, Mapping):
            self.refuse((key,), f"{key} must be a table, got {shown(found)}")
        return found


def nowhere(path: Path) -> int | None:
    """Return that an entry stands in no line, as in a table given by a program."""
    return None


def read_table(text: str) -> Table:
    """Return the table of a text in JSON if it begins with a brace, else in TOML."""
    return read_json(text) if text.lstrip().startswith("{") else read_toml(text)


class _TwiceError(Exception):
    """A key stands twice in one object."""


def read_json(text: str) -> Table:
    r"""Return the table of a text in JSON.

    >>> table = read_json('{"a":\n [1,\n 2]}')
    >>> table.entries["a"], table.line_of(("a", 1))
    ([1, 2], 3)
    """
    try:
        found = json.loads(text, object_pairs_hook=_pairs, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise MalformedError(
            f"line {error.lineno}: the text must be JSON, got: {error.msg}"
        ) from None
    except _TwiceError as error:
        _refuse_twice(text, str(error))
    except (ValueError, RecursionError):
        raise MalformedError(
            "the text must be plain JSON, got a number too long, NaN, or lists too deep"
        ) from None
    if not isinstance(found, dict):
        raise MalformedError(f"the JSON must be an object, got {shown(found)}")
    return Table(found, _JsonLines(text))


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _TwiceError(counts.most_common(1)[0][0])
    return found


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)


def _refuse_twice(text: str, key: str) -> NoReturn:
    seen: set[Path] = set()
    for path, line in _json_paths(text):
        if path in seen and path[-1] == key:
            raise MalformedError(
                f"line {line}: keys must be there once each, got {shown(key)} twice"
            )
        seen.add(path)
    raise MalformedError(f"keys must be there once each, got {shown(key)} twice")


class _JsonLines:
    """Tells the lines of entries; the text is gone through when the first is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: dict[Path, int] | None = None

    def __call__(self, path: Path) -> int | None:
        if self.lines is None:
            self.lines = dict(_json_paths(self.text))
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def _json_paths(text: str) -> Iterator[tuple[Path, int]]:
    """Yield the path of each entry of a sound JSON text, with its line.

    A key that stands twice is told twice. The text must have been read as JSON before.
    """
    yield (), 1
    path: list[str | int] = []
    in_list: list[bool] = []
    line, fresh = 1, False  # fresh: an entry begins here
    for part in PART.findall(text):
        if part == "\n":
            line += 1
            continue
        if fresh and part not in "}]":
            key = path[-1] if in_list[-1] else json.loads(part)
            path[-1] = key
            yield tuple(path), line
        fresh = False
        if part in ("{", "["):
            in_list.append(part == "[")
            path.append(0)
            fresh = True
        elif part in ("}", "]"):
            in_list.pop()
            path.pop()
        elif part == ",":
            if in_list[-1]:
                path[-1] += 1  # type: ignore[operator] # lists have numbers for keys
            fresh = True


def read_toml(text: str) -> Table:
    r"""Return the table of a text in TOML.

    >>> table = read_toml('[territories]\n"North Africa" = ["Egypt"]')
    >>> table.line_of(("territories", "North Africa", 0))
    2
    """
    import tomllib  # only needed here

    if len(text.encode()) > MOST_TOML_BYTES:
        raise TooLargeError(f"TOML must have at most {MOST_TOML_BYTES} bytes, got more")
    _refuse_long_keys(text)
    try:
        return Table(tomllib.loads(text), _TomlLines(text))
    except tomllib.TOMLDecodeError as error:
        reason, _, place = str(error).rpartition(" (at ")
        found = re.match(r"line (\d+)", place)
        line = found[1] if found else text.rstrip().count("\n") + 1
        raise MalformedError(f"line {line}: the text must be TOML, got: {reason}") from None
    except (ValueError, RecursionError):
        raise MalformedError(
            "the text must be plain TOML, got a number too long or tables too deep"
        ) from None


def _refuse_long_keys(text: str) -> None:
    """Refuse dotted keys of very many parts, over which the reader of TOML takes very long."""
    for number, line in enumerate(text.split("\n"), 1):
        bare = QUOTED.sub("", line).partition("#")[0] if line.count(".") > MOST_PARTS else ""
        if bare.count(".") > MOST_PARTS and any(
            piece.count(".") > MOST_PARTS for piece in BETWEEN_KEYS.split(bare)
        ):
            raise TooLargeError(
                f"line {number}: keys must have at most {MOST_PARTS} parts, got more"
            )


class _TomlLines:
    """Tells the lines of tables and keys that begin a line; of others that of what holds them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: dict[Path, int] | None = None

    def __call__(self, path: Path) -> int | None:
        if self.lines is None:
            self.lines = _toml_lines(self.text)
        names = tuple(each for each in path if isinstance(each, str))
        while names and names not in self.lines:
            names = names[:-1]
        return self.lines.get(names)


def _toml_lines(text: str) -> dict[Path, int]:
    found: dict[Path, int] = {}
    heading: Path = ()
    for number, line in enumerate(text.split("\n"), 1):
        is_heading = line.lstrip().startswith("[")
        parts = TOML_KEY.match(line.strip(" \t["))
        if parts:
            path = tuple(part.strip("\"'") for part in TOML_PART.findall(parts[0]))
            heading = path if is_heading else heading
            found.setdefault(path if is_heading else (*heading, *path), number)
    return found
