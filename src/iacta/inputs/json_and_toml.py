"""JSON and TOML: parsed within bounds, with errors in the words of who forgot the quotes.

A text that would take far more memory than its bytes is refused before a parser sees it: tables in
tables, dotted keys, very many entries. XML has its own guard, where boards are read.
"""

import re
from collections import Counter
from typing import Any, NoReturn

from iacta.inputs.checks import MAX_VALUE_LENGTH, quote
from iacta.inputs.errors import MalformedError, TooLargeError

# A file may come from a stranger: more would take minutes, gigabytes, or all of the stack.
MAX_TOML_BYTES = 10**6
MAX_DEPTH = 32
MAX_KEYS = 100_000
MAX_ENTRIES = 500_000

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
# A surrogate pair, one half of a pair (in the group), or another escape of JSON.
SURROGATE = r"(?s)\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..|[\ud800-\udfff])|\\."
PARSER_MESSAGES = (
    "Invalid value",
    "Expected '='",
    "Expecting value",
    "Expecting property",
)  # by parsers
REPHRASED = {
    "Unclosed inline table": "expected a comma or }",
    "Unclosed array": "expected a comma or ]",
    "Cannot overwrite a value": "a key appears twice",
}
FOREIGN_QUOTES = "'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"  # that are none of TOML or JSON
BRACKET = r"[\[\]{}]"
BETWEEN_KEYS = r"[,=\[\]{}\n]"


class RepeatedKeyError(MalformedError):
    """An object of JSON has a key twice."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {quote(key)} appears twice")
        self.key = key


def parse_json(text: str) -> Any:
    """Return the value of a JSON text.

    >>> parse_json('{"a": [1, 2]}')
    {'a': [1, 2]}
    >>> parse_json("[" * 1000)
    Traceback (most recent call last):
        ...
    iacta.TooLargeError: lists and tables must be at most 32 deep
    """
    import json  # only needed here

    bare = re.sub(JSON_TEXT, "", text)
    _check_entries(sum(map(bare.count, ",[{")), MAX_ENTRIES)
    _check_depth(bare)
    try:
        found = json.loads(text, object_pairs_hook=_read_pairs, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        reason = _explain_syntax_error(error.msg, text, error.lineno, error.colno, ":")
        raise MalformedError(f"line {error.lineno}: invalid JSON: {reason}") from None
    except ValueError as error:
        if isinstance(error, RepeatedKeyError):
            raise
        raise MalformedError("invalid JSON: NaN, or a number that is too long") from None
    refuse_half_letters(text)
    return found


def refuse_half_letters(text: str, first: int = 1) -> None:
    r"""Refuse JSON with one half of a surrogate pair, which is not a letter in any encoding.

    first: the number of the first line.

    >>> refuse_half_letters(r'{"name": "\ud83d\ude00"}')
    >>> refuse_half_letters(r'{"name": "\ud83d"}', 3)
    Traceback (most recent call last):
        ...
    iacta.MalformedError: line 3: a text must have whole letters, got the half \ud83d of one
    """
    if "\\u" not in text and text.isascii():
        return
    for match in re.finditer(SURROGATE, text):
        if match[1]:
            line = first + text.count("\n", 0, match.start())
            half = match[1].encode("ascii", "backslashreplace").decode()
            raise MalformedError(
                f"line {line}: a text must have whole letters, got the half {half} of one"
            )


def _read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise RepeatedKeyError(counts.most_common(1)[0][0])
    return record


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
    iacta.TooLargeError: line 1: keys must have at most 32 parts
    """
    import tomllib  # only needed here

    if len(text) > MAX_TOML_BYTES or len(text.encode()) > MAX_TOML_BYTES:
        raise TooLargeError(f"TOML must have at most {MAX_TOML_BYTES} bytes")
    if looks_like_json(text):
        raise MalformedError("the text must be TOML, got JSON")
    _refuse_costly_toml(text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, place = str(error).rpartition(" (at ")
        match = re.match(r"line (\d+), column (\d+)", place)
        line = int(match[1]) if match else text.rstrip().count("\n") + 1
        known = REPHRASED.get(reason, reason)
        reason = _explain_syntax_error(reason, text, line, int(match[2]), "=") if match else known
        raise MalformedError(f"line {line}: invalid TOML: {reason}") from None
    except ValueError:
        raise MalformedError("invalid TOML: a number that is too long") from None


def _explain_syntax_error(reason: str, text: str, number: int, column: int, mark: str) -> str:
    """Return why a text is neither JSON nor TOML, in the words of who forgot the quotes.

    reason: what the parser says.
    number, column: where it stopped, both from 1.
    mark: what follows a key.
    """
    if not reason.startswith(PARSER_MESSAGES):
        return REPHRASED.get(reason, reason)
    line, place = text.split("\n")[number - 1], column - 1
    begin = 1 + max(line.rfind(opening, 0, place) for opening in "{,")
    key = re.match(r"\s*(\w[\w -]*?)\s*([=:])", line[begin : begin + MAX_VALUE_LENGTH])
    if key and begin + key.start(2) >= place:
        is_colon = (key[2], mark) == (":", "=")
        return f"expected = after {key[1]}, got :" if is_colon else f'text needs quotes: "{key[1]}"'
    value = re.match(
        rf"[{FOREIGN_QUOTES}]?([^\W\d](?:[\w -]*\w)?)", line[place : place + MAX_VALUE_LENGTH]
    )
    if value and value[1].lower() in ("true", "false"):
        return f"did you mean {value[1].lower()}?"
    return f'text needs quotes: "{value[1]}"' if value else reason


def _refuse_costly_toml(text: str) -> None:
    """Refuse what costs a parser more than its bytes: each part of a key is several objects."""
    bare = re.sub(TOML_TEXT, lambda match: "\n" * match[0].count("\n"), text)
    _check_entries(bare.count(","), MAX_ENTRIES)
    _check_depth(bare)
    keys = bare.count("=")
    for number, line in enumerate(bare.split("\n"), 1):
        if "." in line:
            parts = [piece.count(".") + 1 for piece in re.split(BETWEEN_KEYS, line)]
            if max(parts) > MAX_DEPTH:
                raise TooLargeError(f"line {number}: keys must have at most {MAX_DEPTH} parts")
            keys += sum(part for part in parts if part > 2)
        keys += line.lstrip().startswith("[")
        if keys > MAX_KEYS:
            raise TooLargeError(f"TOML must have at most {MAX_KEYS} keys")


def _check_entries(count: int, most: int) -> None:
    if count > most:
        raise TooLargeError(f"lists and tables must have at most {most} parts, got {count}")


def _check_depth(bare: str) -> None:
    depth = 0
    for bracket in re.finditer(BRACKET, bare):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > MAX_DEPTH:
            raise TooLargeError(f"lists and tables must be at most {MAX_DEPTH} deep")
