r"""A reader for tables in CSV, JSON, Excel, Parquet and Arrow, with limited memory.

Logs and batches use this reader. It detects the format and the compression from the first bytes,
never from the file name, and the delimiter of CSV from the first line. Text is read line by line to
give errors line numbers. Binary formats need the extra `batch`.
"""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

from iacta.inputs.checks import quote
from iacta.inputs.errors import (
    IactaError,
    IllegalError,
    MalformedError,
    TooLargeError,
    missing_error,
)
from iacta.inputs.files import OTHER_ENCODINGS, STREAM, UnreadableError, explain_error, open_file
from iacta.inputs.json_and_toml import parse_json

ARROW_STREAM = b"\xff\xff\xff\xff"
ZIP = b"PK\x03\x04"
TABLE_FORMATS = {b"PAR1": "parquet", b"ARROW1": "arrow", ARROW_STREAM: "arrow", ZIP: "excel"}
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz", b"(\xb5/\xfd": "zstd"}
FORMAT_NAMES = {"parquet": "Parquet", "arrow": "Arrow", "excel": "Excel"}
UTF8_BOM = b"\xef\xbb\xbf"
DELIMITERS = ",;\t"
BLOCK_BYTES = 2**20  # the number of bytes in one read
HEAD_BYTES = 2**13  # the number of bytes that are inspected to detect the format
BATCH_ROWS = 2**17  # the number of rows in a record batch
MAX_SHEET_COLUMNS = 2**14  # the limit of Excel
MAX_JSON_BYTES = 2**24  # the maximum size of a JSON document; JSON lines have no such limit
MAX_EXCEL_BYTES = 2**28  # the maximum size of an unpacked workbook
MAX_SHEET_CELLS = 2 * 10**7  # about 1 GB for a sheet, or for JSON lines with varying keys
CELL_PLACE = re.compile(rb'\br="([A-Z]{0,3})([0-9]{1,7})"')
MAX_CELL_PLACE_BYTES = 20  # the longest match of `CELL_PLACE`, and the overlap of two blocks
YEAR_1, YEAR_10000 = -62_135_596_800, 253_402_300_800  # Unix times in seconds
UNIT_SECONDS = {  # the keys are Arrow's names for units of time
    "day": 86_400,
    "s": 1,
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9),
}
READ_ERRORS = (
    *(OSError, EOFError, UnicodeDecodeError, NotImplementedError, RuntimeError),
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile),
)
LIBRARIES = ("pyarrow.lib", "polars.exceptions", "_fastexcel")


class LineBlock(NamedTuple):
    """Consecutive lines of a text file. A CSV row with quoted line breaks counts as one line.

    first: the line number of the first line.
    lines: the lines without line breaks at their ends.
    """

    first: int
    lines: list[bytes]

    def number_lines(self) -> Iterator[tuple[int, bytes]]:
        number = self.first
        for line in self.lines:
            yield number, line
            number += 1 + line.count(b"\n")


class Tabular:
    """A reader for one table, used in a `with` block.

    source: a path, `-` for standard input, or the content of a file. A `str` is the content of a
        file in a text format.
    max_bytes: the maximum length of a line in bytes.
    comment: the prefix of comment lines; empty if the format has no comments.

    At the start of the block, the reader sets `format` (`csv`, `jsonl`, `json`, `parquet`, `arrow`
    or `excel`), `head` (the first bytes of a text) and `compression` (empty for none).

    Set `has_heading` to a function that decides whether the first row of an Excel sheet contains
    the names of the columns. When a sheet is read, `is_headed` is set to the decision.
    """

    def __init__(self, source: Path | bytes | str, max_bytes: int, comment: bytes = b"") -> None:
        self.source, self.max_bytes, self.comment = source, max_bytes, comment
        self.is_stream = isinstance(source, Path) and str(source) == STREAM
        self.format = self.compression = ""
        self.head = b""
        self.delimiter = ","
        self.has_heading: Callable[[list[str]], bool] = bool
        self.is_headed = True
        self._stack = ExitStack()
        self._raw: Any = None
        self._stream: Any = None

    def __enter__(self) -> "Tabular":
        try:
            with self._explain_read_errors():
                self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _open(self) -> None:
        if isinstance(self.source, str):
            self._stream = _PeekableStream(io.BytesIO(self.source.encode("utf-8", "surrogatepass")))
            self._open_as_text()
            return
        if isinstance(self.source, bytes):
            self._raw = io.BytesIO(self.source)
        else:
            self._raw = open_file(self.source)
            if not self.is_stream:
                self._stack.callback(self._raw.close)
        self._stream = _PeekableStream(self._raw)
        self.format = self._detect_format()
        if self.format:
            if self.is_stream and not (self.format == "arrow" and self._has_prefix(ARROW_STREAM)):
                raise IllegalError(f"{FORMAT_NAMES[self.format]} is read from a file, not a pipe")
            return
        for magic, compression in COMPRESSIONS.items():
            if self._has_prefix(magic):
                self.compression = compression
                self._stream = _PeekableStream(_decompress(self._stream, compression))
                if other := self._detect_format():
                    raise IllegalError(f"only text may be compressed, got {FORMAT_NAMES[other]}")
                break
        self._open_as_text()

    def _open_as_text(self) -> None:
        for magic, encoding in OTHER_ENCODINGS.items():
            if self._has_prefix(magic):
                raise MalformedError(f"the text must be UTF-8, got {encoding}; save it as UTF-8")
        if self._has_prefix(UTF8_BOM):
            self._stream.read(len(UTF8_BOM))
        self.head = self._stream.peek(HEAD_BYTES)
        first = self.head.lstrip()
        if not first and len(self.head) < HEAD_BYTES:
            raise MalformedError("the text is empty")
        self.format = {b"{": "jsonl", b"[": "json"}.get(first[:1], "csv")

    def _detect_format(self) -> str:
        return next((name for magic, name in TABLE_FORMATS.items() if self._has_prefix(magic)), "")

    def _has_prefix(self, magic: bytes) -> bool:
        return bool(self._stream.peek(len(magic)) == magic)

    @property
    def is_text(self) -> bool:
        """Whether the format consists of lines of text."""
        return self.format not in FORMAT_NAMES

    @contextmanager
    def _explain_read_errors(self) -> Iterator[None]:
        """Convert exceptions of libraries to an `IactaError` that states the reason."""
        try:
            yield
        except IactaError:
            raise
        except Exception as error:
            if not (isinstance(error, READ_ERRORS) or type(error).__module__ in LIBRARIES):
                raise
            if isinstance(self.source, Path):
                raise UnreadableError(self.source, explain_error(error)) from None
            raise MalformedError(f"it cannot be read: {explain_error(error)}") from None

    # Text.

    def read_lines(self) -> Iterator[LineBlock]:
        """Yield the lines in blocks; each entry of a JSON list is returned as a line."""
        if self.format == "json":
            entries = self.read_document()
            yield LineBlock(1, [json.dumps(entry).encode() for entry in entries])
            return
        rest, number, is_first = b"", 1, True
        joined = LineJoiner(self.max_bytes)
        while True:
            with self._explain_read_errors():
                block = self._stream.read(BLOCK_BYTES)
            *lines, rest = (rest + block).split(b"\n")
            if not block and rest:
                lines, rest = [rest], b""
            self._check_length(number, lines, rest)
            begun, number = number - joined.backlog, number + len(lines)
            if any(lines) or joined.backlog:  # skip blocks of blank lines, which may be gigabytes
                if is_first and (first := next(filter(self._is_row, lines), None)) is not None:
                    self.delimiter, is_first = (
                        choose_delimiter(first.decode(errors="replace")),
                        False,
                    )
                if self.format == "csv":
                    lines = joined.join_lines(lines, self.delimiter, begun)
                if lines:
                    yield LineBlock(begun, lines)
            if not block:
                joined.check_end(number - joined.backlog)
                return

    def _is_row(self, line: bytes) -> bool:
        bare = line.strip()
        return bool(bare) and not (self.comment and bare.startswith(self.comment))

    def _check_length(self, number: int, lines: list[bytes], rest: bytes) -> None:
        if max(map(len, lines), default=0) <= self.max_bytes >= len(rest):
            return
        index = next((n for n, line in enumerate(lines) if len(line) > self.max_bytes), len(lines))
        raise TooLargeError(
            f"line {number + index}: a line must be at most {self.max_bytes} bytes, got more"
        )

    def read_document(self) -> Any:
        """Return the parsed JSON document."""
        with self._explain_read_errors():
            content = b""
            while block := self._stream.read(BLOCK_BYTES):
                content += block
                if len(content) > MAX_JSON_BYTES:
                    raise TooLargeError(
                        f"a JSON document must be at most {MAX_JSON_BYTES} bytes, got more; "
                        "JSON lines have no such limit"
                    )
        line = 1 + content.count(b"\n", 0, _find_wrong_byte(content))
        return parse_json(decode_line(content, line))

    # Binary formats.

    def read_batches(self) -> tuple[Any, Iterator[Any]]:
        """Return the schema and the record batches of a table, as PyArrow objects."""
        for name in ("polars", "pyarrow"):
            _import_library(name, self.format)
        with self._explain_read_errors():
            if not self.is_stream:
                self._raw.seek(0)
            schema, batches = getattr(self, f"_open_{self.format}")()
            for field in schema:
                _read_texts(field)
            fields = [field.with_type(_replace_views(field.type)) for field in schema]
            schema = import_module("pyarrow").schema(fields)
        if len(schema) > MAX_SHEET_COLUMNS:
            raise TooLargeError(f"a table must have at most {MAX_SHEET_COLUMNS} columns, got more")
        return schema, self._check_batches(batches, schema)

    def _check_batches(self, batches: Iterator[Any], schema: Any) -> Iterator[Any]:
        with self._explain_read_errors():
            for batch in batches:
                named = zip(schema.names, batch.columns, strict=True)
                columns = [read_column(name, column) for name, column in named]
                yield type(batch).from_arrays(columns, schema=schema)

    def read_records(self, is_read: Callable[[str], bool]) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table; floats such as 3.0 are converted to integers.

        is_read: a function that takes a normalised column name. If it returns false, the values of
            the column are replaced by null.
        """
        _, batches = self.read_batches()
        for batch in batches:
            columns = [
                _read_values(name, column)
                if is_read(normalise_column(name))
                else repeat(None, len(column))
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            ]
            for row in zip(*columns, strict=True):
                yield {
                    name: int(value) if isinstance(value, float) and value.is_integer() else value
                    for name, value in zip(batch.schema.names, row, strict=True)
                }

    def _open_parquet(self) -> tuple[Any, Iterator[Any]]:
        file = import_module("pyarrow.parquet").ParquetFile(self._raw, pre_buffer=False)
        return file.schema_arrow, file.iter_batches(BATCH_ROWS)

    def _open_arrow(self) -> tuple[Any, Iterator[Any]]:
        ipc = import_module("pyarrow.ipc")
        if self._has_prefix(ARROW_STREAM):
            reader = ipc.open_stream(self._stream if self.is_stream else self._raw)
            return reader.schema, iter(reader)
        file = ipc.open_file(self._raw)
        return file.schema, (file.get_batch(n) for n in range(file.num_record_batches))

    def _open_excel(self) -> tuple[Any, Iterator[Any]]:
        _check_excel_size(self._raw)
        polars = _import_library("polars", self.format)
        fastexcel = _import_library("fastexcel", self.format)
        import logging  # only needed here

        for name in ("fastexcel", "calamine"):  # suppress warnings about guessed types
            logging.getLogger(name).setLevel(logging.CRITICAL)
        content = self._raw.read()
        if not fastexcel.read_excel(content).sheet_names:
            raise MalformedError("the workbook has no sheet")
        heading = polars.read_excel(
            content, has_header=False, infer_schema_length=0, read_options={"n_rows": 1}
        )
        names = [name for name in heading.row(0) if name is not None]
        self.is_headed = self.has_heading(names)
        if self.is_headed and (twice := [name for name in names if names.count(name) > 1]):
            raise IllegalError(f"the column {quote(twice[0])} appears twice")
        sheet = polars.read_excel(content, has_header=self.is_headed, infer_schema_length=None)
        table = sheet.to_arrow(compat_level=polars.CompatLevel.oldest())
        return table.schema, iter(table.to_batches(BATCH_ROWS))


def _read_texts(field: Any) -> list[str]:
    """Return the names, time zones and metadata of an Arrow field and of its nested fields.

    Raises `UnicodeDecodeError` for text that is not UTF-8, because it would make Polars panic.
    """
    texts = [field.name, str(getattr(field.type, "tz", ""))]
    for key, value in (field.metadata or {}).items():
        texts += [key.decode(), value.decode()]
    for number in range(field.type.num_fields):
        texts += _read_texts(field.type.field(number))
    return texts


def read_column(name: str, column: Any) -> Any:
    """Validate an Arrow column, and return it with types that are safe for Polars.

    name: the name of the column, for error messages.
    column: an array or a chunked array.

    Polars does not validate lengths, offsets and UTF-8; a damaged column would crash Python. It
    also reads the undefined views of nulls; therefore views are cast to plain strings. Dates
    outside the years 1 to 9999 make Polars panic.
    """
    arrow: Any = import_module("pyarrow")
    try:
        column.validate(full=True)
    except arrow.ArrowException as error:
        raise MalformedError(
            f"the column {quote(name)} is damaged: {explain_error(error)}"
        ) from None
    for chunk in column.chunks if isinstance(column, arrow.ChunkedArray) else [column]:
        _check_dates(name, chunk)
    kind = _replace_views(column.type)
    return column if kind == column.type else column.cast(kind)


def _replace_views(kind: Any) -> Any:
    """Return an Arrow type in which plain strings and bytes replace views, even in nested types."""
    arrow: Any = import_module("pyarrow")
    kinds = arrow.types
    if kinds.is_string_view(kind):
        return arrow.large_string()
    if kinds.is_binary_view(kind):
        return arrow.large_binary()
    if kinds.is_struct(kind):
        return arrow.struct([field.with_type(_replace_views(field.type)) for field in kind])
    if kinds.is_map(kind):
        return arrow.map_(*map(_replace_views, (kind.key_type, kind.item_type)))
    if not (kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind)):
        return kind
    inner = kind.value_field.with_type(_replace_views(kind.value_type))
    if kinds.is_fixed_size_list(kind):
        return arrow.list_(inner, kind.list_size)
    return arrow.list_(inner) if kinds.is_list(kind) else arrow.large_list(inner)


def _check_dates(name: str, array: Any) -> None:
    """Raise an error for dates outside the years 1 to 9999, even in nested arrays."""
    arrow: Any = import_module("pyarrow")
    kinds, kind = arrow.types, array.type
    if isinstance(array, arrow.ExtensionArray):
        _check_dates(name, array.storage)
    elif kinds.is_dictionary(kind):
        _check_dates(name, array.dictionary)
    elif kinds.is_struct(kind):
        for part in array.flatten():
            _check_dates(name, part)
    elif kinds.is_nested(kind) and hasattr(array, "flatten"):  # Arrow cannot flatten unions
        if kinds.is_fixed_size_list(kind) and not kind.list_size:
            raise MalformedError(f"the column {quote(name)} must not have lists of size 0")
        _check_dates(name, array.flatten())
    elif kinds.is_date(kind) or kinds.is_timestamp(kind):
        unit = UNIT_SECONDS[getattr(kind, "unit", "day" if kinds.is_date32(kind) else "ms")]
        numbers = array.view(arrow.int32() if kinds.is_date32(kind) else arrow.int64())
        ends = import_module("pyarrow.compute").min_max(numbers).as_py()
        if ends["min"] is not None and not (
            ends["min"] * unit >= YEAR_1 and ends["max"] * unit < YEAR_10000
        ):
            raise MalformedError(f"the column {quote(name)} must have dates in the years 1 to 9999")


def _read_values(name: str, column: Any) -> list[Any]:
    """Return the values of an Arrow column; raise an error, for example, for unknown time zones."""
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError, LookupError) as error:
        raise MalformedError(f"the column {quote(name)} cannot be read: {error}") from None
    return values


def _import_library(name: str, format_: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        sentence = f"{FORMAT_NAMES[format_]} needs {name}, which is not installed"
        raise missing_error(sentence, "batch") from None


class _PeekableStream(io.RawIOBase):
    """A wrapper that adds the method `peek` to a stream."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._next = b""

    def readable(self) -> bool:
        return True

    def peek(self, size: int) -> bytes:
        while len(self._next) < size and (more := self.stream.read(size - len(self._next))):
            self._next += more
        return self._next[:size]

    def read(self, size: int = -1) -> bytes:
        content = self._next if size < 0 else self._next[:size]
        self._next = self._next[len(content) :]
        if size < 0:
            content += self.stream.read()
        elif len(content) < size:
            content += self.stream.read(size - len(content))
        return content

    def tell(self) -> int:
        return 0


def _decompress(stream: _PeekableStream, compression: str) -> Any:
    match compression:
        case "gzip":
            return gzip.GzipFile(fileobj=stream)
        case "bzip2":
            return bz2.BZ2File(stream)
        case "xz":
            return lzma.LZMAFile(stream)  # type: ignore[arg-type] # only calls `read`
        case _:
            try:
                arrow: Any = import_module("pyarrow")
            except ImportError:
                raise missing_error("zstd needs pyarrow, which is not installed", "batch") from None
            return arrow.CompressedInputStream(arrow.PythonFile(stream, mode="r"), "zstd")


def _check_excel_size(file: Any) -> None:
    """Raise an error for a workbook that would need far more memory than its size suggests.

    Readers allocate a full rectangle up to the last cell of a sheet, even if most cells are empty.
    """
    with zipfile.ZipFile(file) as parts:
        sizes = [part.file_size for part in parts.infolist()]
        sheets = [name for name in parts.namelist() if name.startswith("xl/worksheets/sheet")]
        if not sheets:
            raise MalformedError("a ZIP file must be an Excel workbook (.xlsx)")
        if sum(sizes) > MAX_EXCEL_BYTES:
            raise TooLargeError(f"a workbook must be at most {MAX_EXCEL_BYTES} bytes unpacked")
        for name in sheets:
            columns, rows, rest = 1, 1, b""
            with parts.open(name) as sheet:
                while block := sheet.read(BLOCK_BYTES):
                    for column, row in CELL_PLACE.findall(rest + block):
                        columns = max(columns, _parse_column_letters(column))
                        rows = max(rows, int(row))
                    rest = block[-MAX_CELL_PLACE_BYTES:]
            if columns * rows > MAX_SHEET_CELLS:
                raise TooLargeError(
                    f"a sheet must have at most {MAX_SHEET_CELLS} cells, got {columns} columns and "
                    f"{rows} rows"
                )
    file.seek(0)


@lru_cache
def _parse_column_letters(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


# Lines and cells.


def decode_line(line: bytes, number: int, unit: str = "line") -> str:
    r"""Decode a line from UTF-8; invalid bytes and NUL are errors.

    number: the line number, for error messages.
    unit: the word for a line in error messages.

    >>> decode_line(b"Z\xfcrich", 3)
    Traceback (most recent call last):
        ...
    iacta.MalformedError: line 3: the text must be UTF-8, got the byte 0xfc
    """
    try:
        text = line.decode().removesuffix("\r")
    except UnicodeDecodeError as error:
        wrong = line[error.start]
        raise MalformedError(
            f"{unit} {number}: the text must be UTF-8, got the byte {wrong:#04x}"
        ) from None
    if "\0" in text:
        raise MalformedError(f"{unit} {number}: the text must not contain NUL")
    return text


def _find_wrong_byte(content: bytes) -> int:
    try:
        content.decode()
    except UnicodeDecodeError as error:
        return error.start
    return max(content.find(b"\0"), 0)


def choose_delimiter(heading: str) -> str:
    r"""Return the delimiter in the first line of a CSV file: a comma, a semicolon or a tab.

    >>> [choose_delimiter(line) for line in ("Attackers;Defenders", '"a;b;c",d', "die")]
    [';', ',', ',']
    """
    return max(DELIMITERS, key=re.sub('"[^"]*"', "", heading).count)


def split_row(text: str, delimiter: str) -> list[str]:
    """Return the cells of a CSV row.

    >>> split_row('12,"capital, wall"', ",")
    ['12', 'capital, wall']
    """
    try:
        (row,) = csv.reader([text], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        raise MalformedError(f"not a CSV row: {quote(text)}") from None
    if len(row) > MAX_SHEET_COLUMNS:
        raise TooLargeError(f"a row must have at most {MAX_SHEET_COLUMNS} cells, got {len(row)}")
    return row


@lru_cache(maxsize=2**12)
def normalise_column(name: str) -> str:
    """Normalise the case, the spacing and the spelling of a column name.

    >>> normalise_column(" Attack Dice"), normalise_column("defense")
    ('attack_dice', 'defence')
    """
    name = re.sub(r"[\s_-]+", "_", name.strip().casefold())
    return name.replace("defense", "defence")


class LineJoiner:
    """Joins the lines of CSV rows that contain line breaks in quotes.

    max_bytes: the maximum length of a row in bytes.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._begun: list[bytes] = []
        self._size = 0

    @property
    def backlog(self) -> int:
        """The number of lines of the incomplete row that have been read so far."""
        return len(self._begun)

    def join_lines(self, lines: list[bytes], delimiter: str, first: int) -> list[bytes]:
        """Add lines, and return the rows that are now complete.

        lines: the new lines.
        delimiter: the delimiter between cells.
        first: the line number at which the incomplete row starts, or else of the first new line.
        """
        if not self._begun and not any(b'"' in line for line in lines):
            return lines
        rows: list[bytes] = []
        is_open = _match_open_row(delimiter)
        for line in lines:
            goes_on = is_open(b'"' + line if self._begun else line)
            if self._begun or goes_on:
                self._begun.append(line)
                self._size += len(line) + 1
                if self._size > self.max_bytes:
                    number = first + sum(1 + row.count(b"\n") for row in rows)
                    raise TooLargeError(
                        f"line {number}: quotes must be closed within {self.max_bytes} bytes"
                    )
            if goes_on:
                continue
            rows.append(b"\n".join(self._begun) if self._begun else line)
            self._begun, self._size = [], 0
        return rows

    def check_end(self, first: int) -> None:
        """Raise an error if the last row is incomplete."""
        if self._begun:
            raise MalformedError(f"line {first}: quotes must be closed before the end")


@lru_cache
def _match_open_row(delimiter: str) -> Any:
    """Return a function that matches lines that end inside quotes."""
    quoted, other = r'"(?:[^"]|"")*+', f"[^{delimiter}]*+"
    cell = f'(?:{quoted}"{other}|(?!"){other})'
    return re.compile(f"(?:{cell}{delimiter})*+{quoted}".encode(), re.DOTALL).fullmatch
