"""Parsers for JSON and TOML with limits, and with helpful errors for hand-written files.

Input with deep nesting, long dotted keys or very many entries would need far more memory than its
size suggests. Such input is rejected before parsing.
"""

import re
from collections import Counter
from typing import Any, NoReturn

from iacta.inputs.checks import MAX_VALUE_LENGTH, quote
from iacta.inputs.errors import MalformedError, TooLargeError

# Larger files could take minutes or gigabytes, or overflow the stack.
MAX_TOML_BYTES = 10**6
MAX_DOCUMENT_DEPTH = 32
MAX_KEYS = 100_000
MAX_DOCUMENT_ENTRIES = 500_000

# Each pattern matches a string or a comment. An unclosed string extends to the end of the file. The
# patterns are compiled when they are first used, because most commands do not read files.
JSON_TEXT = r'(?s)"(?:[^"\\]++|\\.)*+"?'
TOML_TEXT = (
    r'(?s)"""(?:[^"\\]++|\\.|"(?!""))*+"{0,5}+'
    r"|'''(?:[^']++|'(?!''))*+'{0,5}+"
    r'|"(?:[^"\\\n]++|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+"
)
# A surrogate pair, a lone surrogate (captured), or another JSON escape.
SURROGATE = r"(?s)\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..|[\ud800-\udfff])|\\."
# Messages of the parsers that may be caused by a missing quote.
PARSER_MESSAGES = ("Invalid value", "Expected '='", "Expecting value", "Expecting property")
REPHRASED = {
    "Unclosed inline table": "expected a comma or }",
    "Unclosed array": "expected a comma or ]",
    "Cannot overwrite a value": "a key appears twice",
}
FOREIGN_QUOTES = "'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"  # invalid quotes in TOML and JSON
BRACKET = r"[\[\]{}]"
BETWEEN_KEYS = r"[,=\[\]{}\n]"


class RepeatedKeyError(MalformedError):
    """A JSON object contains a key twice."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the key {quote(key)} appears twice")
        self.key = key


def parse_json(text: str) -> Any:
    """Parse JSON with limits on depth and entries; NaN and repeated keys are errors.

    >>> parse_json('{"a": [1, 2]}')
    {'a': [1, 2]}
    >>> parse_json("[" * 1000)
    Traceback (most recent call last):
        ...
    iacta.TooLargeError: lists and tables must be nested at most 32 deep
    """
    import json  # only needed here

    bare = re.sub(JSON_TEXT, "", text)
    _check_entries(sum(map(bare.count, ",[{")), MAX_DOCUMENT_ENTRIES)
    _check_depth(bare)
    try:
        found = json.loads(text, object_pairs_hook=_read_pairs, parse_constant=_reject_constant)
    except json.JSONDecodeError as error:
        reason = _explain_syntax_error(error.msg, text, error.lineno, error.colno, ":")
        raise MalformedError(f"line {error.lineno}: invalid JSON: {reason}") from None
    except ValueError as error:
        if isinstance(error, RepeatedKeyError):
            raise
        raise MalformedError("invalid JSON: NaN, or a number that is too long") from None
    check_surrogates(text)
    return found


def check_surrogates(text: str, first_line: int = 1) -> None:
    r"""Raise an error if JSON contains a lone surrogate, which cannot be encoded.

    first_line: the number of the first line, for error messages.

    >>> check_surrogates(r'{"name": "\ud83d\ude00"}')
    >>> check_surrogates(r'{"name": "\ud83d"}', 3)
    Traceback (most recent call last):
        ...
    iacta.MalformedError: line 3: text must not contain half a surrogate pair, got \ud83d
    """
    if "\\u" not in text and text.isascii():
        return
    for match in re.finditer(SURROGATE, text):
        if match[1]:
            line = first_line + text.count("\n", 0, match.start())
            half = match[1].encode("ascii", "backslashreplace").decode()
            raise MalformedError(
                f"line {line}: text must not contain half a surrogate pair, got {half}"
            )


def _read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise RepeatedKeyError(counts.most_common(1)[0][0])
    return record


def _reject_constant(text: str) -> NoReturn:
    raise ValueError(text)


def looks_like_json(text: str) -> bool:
    r"""Return whether a string begins like JSON but not like TOML.

    >>> looks_like_json(' {"a": 1}'), looks_like_json("[\n{}]"), looks_like_json("[[a]]\nb = 1")
    (True, True, False)
    """
    return re.match(r"\s*(\{|\[\s*[{\]])", text) is not None


def parse_toml(text: str) -> dict[str, Any]:
    r"""Parse TOML with limits on size, depth and number of keys.

    >>> parse_toml('name = "Mars"')
    {'name': 'Mars'}
    >>> parse_toml('"a\\"#".' + "b." * 40 + "c = 1")
    Traceback (most recent call last):
        ...
    iacta.TooLargeError: line 1: keys must have at most 32 parts
    """
    import tomllib  # only needed here

    if len(text) > MAX_TOML_BYTES or len(text.encode()) > MAX_TOML_BYTES:
        raise TooLargeError(f"TOML must be at most {MAX_TOML_BYTES} bytes")
    if looks_like_json(text):
        raise MalformedError("the text must be TOML, got JSON")
    _check_toml_size(text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, location = str(error).rpartition(" (at ")
        match = re.match(r"line (\d+), column (\d+)", location)
        line = int(match[1]) if match else text.rstrip().count("\n") + 1
        known = REPHRASED.get(reason, reason)
        reason = _explain_syntax_error(reason, text, line, int(match[2]), "=") if match else known
        raise MalformedError(f"line {line}: invalid TOML: {reason}") from None
    except ValueError:
        raise MalformedError("invalid TOML: a number that is too long") from None


def _explain_syntax_error(
    reason: str, text: str, line_number: int, column: int, separator: str
) -> str:
    """Return an explanation of a syntax error, if possible with a suggested correction.

    reason: the message of the parser.
    text: the text that was parsed.
    line_number, column: the line and the column of the error, counted from 1.
    separator: the separator between a key and its value, `:` or `=`.
    """
    if not reason.startswith(PARSER_MESSAGES):
        return REPHRASED.get(reason, reason)
    line, offset = text.split("\n")[line_number - 1], column - 1
    begin = 1 + max(line.rfind(opening, 0, offset) for opening in "{,")
    key = re.match(r"\s*(\w[\w -]*?)\s*([=:])", line[begin : begin + MAX_VALUE_LENGTH])
    if key and begin + key.start(2) >= offset:
        is_colon = (key[2], separator) == (":", "=")
        return f"expected = after {key[1]}, got :" if is_colon else f'text needs quotes: "{key[1]}"'
    value = re.match(
        rf"[{FOREIGN_QUOTES}]?([^\W\d](?:[\w -]*\w)?)", line[offset : offset + MAX_VALUE_LENGTH]
    )
    if value and value[1].lower() in ("true", "false"):
        return f"did you mean {value[1].lower()}?"
    return f'text needs quotes: "{value[1]}"' if value else reason


def _check_toml_size(text: str) -> None:
    """Raise `IactaError` for too many keys or for dotted keys that are too long."""
    bare = re.sub(TOML_TEXT, lambda match: "\n" * match[0].count("\n"), text)
    _check_entries(bare.count(","), MAX_DOCUMENT_ENTRIES)
    _check_depth(bare)
    keys = bare.count("=")
    for number, line in enumerate(bare.split("\n"), 1):
        if "." in line:
            parts = [piece.count(".") + 1 for piece in re.split(BETWEEN_KEYS, line)]
            if max(parts) > MAX_DOCUMENT_DEPTH:
                raise TooLargeError(
                    f"line {number}: keys must have at most {MAX_DOCUMENT_DEPTH} parts"
                )
            keys += sum(part for part in parts if part > 2)
        keys += line.lstrip().startswith("[")
        if keys > MAX_KEYS:
            raise TooLargeError(f"TOML must have at most {MAX_KEYS} keys")


def _check_entries(count: int, maximum: int) -> None:
    if count > maximum:
        raise TooLargeError(f"lists and tables must have at most {maximum} parts, got {count}")


def _check_depth(bare: str) -> None:
    depth = 0
    for bracket in re.finditer(BRACKET, bare):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > MAX_DOCUMENT_DEPTH:
            raise TooLargeError(
                f"lists and tables must be nested at most {MAX_DOCUMENT_DEPTH} deep"
            )
