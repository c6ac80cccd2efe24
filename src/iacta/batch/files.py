"""File formats of batches: reads files into Polars frames and writes frames to files.

The format of a source is detected from its content; the format of a target depends on its suffix.
CSV cells are read as strings, and JSON values that the question does not use are kept unchanged, so
a wrong value only affects its own row. A malformed table, such as one with too many cells in a row,
raises an error with the line number.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.csv

from iacta.batch.rows import WHOLE, BatchQuestion, format_json
from iacta.forms.parameter_kinds import Whole
from iacta.inputs.checks import quote
from iacta.inputs.csv_formulas import FORMULA_STARTS, escape_formulas
from iacta.inputs.errors import (
    IllegalError,
    MalformedError,
    TooLargeError,
    add_location,
    missing_error,
)
from iacta.inputs.files import STREAM, ErrorKeeper, explain_error, quote_path
from iacta.inputs.json_and_toml import check_surrogates, parse_json
from iacta.inputs.tabular import (
    MAX_SHEET_CELLS,
    MAX_SHEET_COLUMNS,
    LineBlock,
    Tabular,
    decode_line,
    split_row,
)

LINE_COLUMN = "\nline"  # column for the original JSON lines
FORMATS = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".xlsx": "excel",
}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
MAX_LINE_BYTES = 10**7  # limits memory
MAX_EXCEL_ROWS = 2**20 - 1  # Excel's limit, not counting the heading
MAX_EXCEL_TEXT = 2**15 - 1  # Excel's limit for characters in a cell
FIRST_EXCEL_YEAR = 1900
EXCEL_OPTIONS = {"in_memory": True, "strings_to_formulas": False, "nan_inf_to_errors": True}
JSON_STRING = r'"(?:[^"\\]|\\.)*"(?:\s*:)?'  # matches a string, or a key with its colon
MAX_EXACT = 2**53  # larger whole numbers are written as text, because Excel would round them
ARROW_LEVEL = pl.CompatLevel.oldest()  # readable by every implementation of Arrow
WORKBOOK_DATE = datetime(2000, 1, 1)  # a fixed date, so that equal workbooks are equal files


class BatchResult(NamedTuple):
    """The number of rows written and the number of rows with an error."""

    rows: int
    errors: int


class FileFormat(NamedTuple):
    """A file format.

    name: `csv`, `jsonl`, `parquet`, `arrow` or `excel`.
    compression: the compression of the file as a whole, or `None`.
    delimiter: the delimiter for CSV.
    """

    name: str
    compression: str | None = None
    delimiter: str = ","


def find_format(file: Path) -> FileFormat:
    """Return the format of a target from its suffix.

    >>> find_format(Path("battles.csv.gz"))
    FileFormat(name='csv', compression='gzip', delimiter=',')
    """
    compression = COMPRESSIONS.get(file.suffix.lower())
    ending = Path(file.stem).suffix.lower() if compression else file.suffix.lower()
    name = FORMATS.get(ending)
    if name is None or (compression and name not in ("csv", "jsonl")):
        raise IllegalError(
            f"the target must end in {', '.join(FORMATS)}, or in .csv or .jsonl followed by "
            f"{', '.join(COMPRESSIONS)}, got {quote_path(file)}"
        )
    return FileFormat(name, compression)


@dataclass(frozen=True)
class BatchJob:
    """A question to answer for every row of a file, with the formats of source and target.

    asked: the question.
    source, target: the file formats.
    is_pipe: whether the target is a pipe; if so, Arrow is written in its streaming format.
    """

    asked: BatchQuestion
    source: FileFormat
    target: FileFormat
    is_pipe: bool = False

    @classmethod
    def for_table(cls, table: Tabular, target: Path, asked: BatchQuestion) -> "BatchJob":
        """Return the job for a table that has been opened."""
        name = "jsonl" if table.format == "json" else table.format
        is_stream = str(target) == STREAM
        to = FileFormat(name) if is_stream else find_format(target)
        is_pipe = is_stream or (target.exists() and not target.is_file())
        return cls(asked, FileFormat(name), to, is_pipe)

    def replace_delimiter(self, delimiter: str) -> "BatchJob":
        """Return the job with another delimiter for a CSV target."""
        return replace(self, target=self.target._replace(delimiter=delimiter))

    @property
    def has_kept_lines(self) -> bool:
        """Whether to keep JSON lines as they are and only append the answers."""
        return self.source.name == self.target.name == "jsonl"

    def read(self, table: Tabular) -> pl.DataFrame:
        """Read the rows of a table."""
        if not table.is_text:
            schema, batches = table.read_batches()
            if "decimal256" in str(schema.types):  # Polars would panic
                raise MalformedError("decimals must have at most 38 digits")
            try:
                return pl.DataFrame(pa.Table.from_batches(batches, schema))
            except pl.exceptions.PolarsError as error:
                raise MalformedError(f"it cannot be read: {explain_error(error)}") from None
        names: list[str] = []
        blocks = table.read_lines()
        if self.source.name == "csv":
            names, _, blocks = read_heading(table)
            self.asked.check_columns(names)  # raise errors before reading the rows
        frames = [self.read_block(LineBlock(1, []), names, table.delimiter)]
        keys: set[str] = set()
        rows = size = 0
        for block in blocks:
            frames.append(self.read_block(block, names, table.delimiter))
            keys.update(name for name in frames[-1].columns if name != LINE_COLUMN)
            rows += frames[-1].height
            size += sum(map(len, block.lines))
            _check_density(rows, len(keys), size)
        return pl.concat(frames, how="diagonal_relaxed")

    def read_block(self, block: LineBlock, names: Sequence[str], delimiter: str) -> pl.DataFrame:
        """Parse lines of CSV or JSON.

        names, delimiter: for CSV, the column names and the delimiter.
        """
        if self.source.name == "csv":
            return _read_csv(block, names, delimiter)
        return self._read_json(block)

    def _read_json(self, block: LineBlock) -> pl.DataFrame:
        """Parse JSON lines. Lists, objects and columns of mixed types become strings."""
        numbered = [each for each in block.number_lines() if each[1].strip(b" \r")]
        texts = [decode_line(line, number).strip() for number, line in numbered]
        content = io.BytesIO("\n".join(texts).encode())
        for (number, _), text in zip(numbered, texts, strict=True):
            if "\\u" in text:
                check_surrogates(text, number)
        _check_density(len(texts), _count_keys(texts), len(content.getvalue()))
        try:
            kinds = dict(pl.scan_ndjson(content, infer_schema_length=None).collect_schema())
            columns = self._choose_columns(kinds)
            rows = pl.read_ndjson(content, schema=columns)
            if inexact := _list_inexact(rows, self.asked):
                columns |= dict.fromkeys(inexact, pl.String)
                rows = pl.read_ndjson(content, schema=columns)
        except pl.exceptions.PolarsError as error:
            keys: dict[str, pl.DataType] = {}
            for (number, _), text in zip(numbered, texts, strict=True):
                with add_location(f"line {number}"):
                    keys |= dict.fromkeys(_parse_object(text), pl.String())
            try:
                rows = pl.read_ndjson(content, schema=self._choose_columns(keys))
            except pl.exceptions.PolarsError:
                raise MalformedError(f"invalid JSON: {explain_error(error)}") from None
        if rows.height != len(texts):
            raise MalformedError(f"expected {len(texts)} JSON lines, got {rows.height}")
        return rows.with_columns(pl.Series(LINE_COLUMN, texts, pl.String))

    def _choose_columns(self, kinds: dict[str, pl.DataType]) -> dict[str, Any]:
        """Choose the columns of JSON lines to read, and their types."""
        parameters = self.asked.select_parameters([*kinds])
        kept = {*parameters, *self.asked.schema} if self.has_kept_lines else {*kinds}
        exact = pl.Int64, pl.Float64, pl.Null  # columns of larger integers become strings
        return {
            name: pl.String
            if kind.is_nested() or (name in parameters and kind not in exact)
            else kind
            for name, kind in kinds.items()
            if name in kept
        }

    def check_rows(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return rows after checking that they can be answered and written."""
        if rows.width > MAX_SHEET_COLUMNS:
            raise TooLargeError(
                f"there must be at most {MAX_SHEET_COLUMNS} columns, got {rows.width}"
            )
        if wrong := [name for name in rows.columns if "\0" in name]:
            raise MalformedError(
                f"the name of a column must not contain NUL, got {quote(wrong[0])}"
            )
        self.asked.check_columns(rows.columns)
        to = self.target.name
        for name, kind in rows.schema.items():
            if to in ("csv", "jsonl", "excel") and (unfit := _find_unsupported(kind, to)):
                raise IllegalError(f"{to} cannot store the column {quote(name)} of type {unfit}")
        return rows

    def write(self, answered: pl.DataFrame, stream: IO[bytes], *, is_first: bool = True) -> None:
        """Write rows with their answers.

        is_first: whether these rows start the file, so that CSV needs a heading.
        """
        rows = answered if self.has_kept_lines else answered.drop(LINE_COLUMN, strict=False)
        keeper = ErrorKeeper(stream)
        to: Any = keeper
        try:
            with ExitStack() as stack:
                if self.target.compression:
                    packed = pa.CompressedOutputStream(pa.PythonFile(to), self.target.compression)
                    to = stack.enter_context(packed)
                self._write_plain(rows, to, is_first=is_first)
        except (OSError, pl.exceptions.PolarsError) as error:
            if keeper.error is not None:
                raise keeper.error from None
            raise IllegalError(
                f"{self.target.name} cannot store the rows: {explain_error(error)}"
            ) from None

    def _write_plain(self, answered: pl.DataFrame, stream: Any, *, is_first: bool) -> None:
        match self.target.name:
            case "csv":
                self._write_csv(answered, stream, is_first=is_first)
            case "jsonl" if self.has_kept_lines:
                found = answered.select(*self.asked.schema)
                stream.write("".join(_splice_answers(answered[LINE_COLUMN], found)).encode())
            case "jsonl":
                self._convert_types(answered).write_ndjson(stream)
            case "parquet":
                self._convert_types(answered).write_parquet(stream)
            case "arrow" if self.is_pipe:
                self._convert_types(answered).write_ipc_stream(stream, compat_level=ARROW_LEVEL)
            case "arrow":
                self._convert_types(answered).write_ipc(stream, compat_level=ARROW_LEVEL)
            case _:
                _write_excel(_flatten(self._convert_types(answered)), stream)

    def _convert_types(self, answered: pl.DataFrame) -> pl.DataFrame:
        """For parameters that are whole numbers, convert strings from CSV to integers."""
        if self.source.name != "csv":
            return answered
        text = pl.col(pl.String)
        rows = answered.with_columns(pl.when(text != "").then(text).name.keep())
        return rows.with_columns(
            pl.col(name).str.replace(WHOLE, "$1").cast(pl.Int64, strict=False)
            for name, parameter in self.asked.select_parameters(rows.columns).items()
            if isinstance(parameter.kind, Whole)
        )

    def _write_csv(self, answered: pl.DataFrame, stream: Any, *, is_first: bool) -> None:
        delimiter, text = self.target.delimiter, pl.col(pl.String)
        names: list[object] = [*answered.columns]
        if self.source.name == "csv":
            plain: pl.Expr = pl.when(text != "").then(text)  # an empty cell becomes null
        else:  # escape formulas; cells from a CSV source are kept as they are
            begins = text.str.head(1).is_in(FORMULA_STARTS) & (text.str.len_chars() > 1)
            is_formula = begins & text.cast(pl.Float64, strict=False).is_null()
            plain = pl.when(is_formula).then(pl.lit("'") + text).otherwise(text)
            (names,) = escape_formulas([names])
        if is_first:
            line = io.StringIO()
            csv.writer(line, delimiter=delimiter, lineterminator="\n").writerow(names)
            stream.write(line.getvalue().encode())
        rows = _flatten(answered).with_columns(plain.name.keep())
        has_nul = rows.select(pl.any_horizontal(text.str.contains("\0", literal=True)))
        if (wrong := has_nul.to_series().arg_true()).len():
            raise IllegalError(f"row {wrong[0] + 1}: csv cannot store text with NUL")
        rows.write_csv(stream, include_header=False, separator=delimiter)


def _list_lines(block: LineBlock) -> list[bytes]:
    return [line for line in block.lines if line.strip(b" \r")]


def read_heading(table: Tabular) -> tuple[list[str], bytes, Iterator[LineBlock]]:
    """Read the heading of a CSV file; return its columns, its raw line, and the lines after it."""
    blocks = table.read_lines()
    for block in blocks:
        for index, (number, line) in enumerate(block.number_lines()):
            if line.strip(b" \r"):
                rest = LineBlock(number + 1 + line.count(b"\n"), block.lines[index + 1 :])
                return (
                    split_row(decode_line(line, number), table.delimiter),
                    line,
                    chain([rest], blocks),
                )
    raise MalformedError("the text is empty")


def _read_csv(block: LineBlock, names: Sequence[str], delimiter: str) -> pl.DataFrame:
    """Parse CSV to columns of strings.

    PyArrow does the parsing, because Polars accepts rows with missing cells.
    """
    lines = _list_lines(block)
    content = b"\n".join(lines)
    if not content:
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    try:
        table = pa.csv.read_csv(
            io.BytesIO(content),
            pa.csv.ReadOptions(column_names=names, block_size=len(content) + 1, use_threads=False),
            pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        _check_cell_counts(block, len(names), delimiter)
        raise MalformedError(f"invalid CSV: {explain_error(error)}") from None
    if b"\0" in content or table.num_rows != len(lines):
        _check_cell_counts(block, len(names), delimiter)
        raise MalformedError(f"expected {len(lines)} CSV rows, got {table.num_rows}")
    return pl.DataFrame(table)


def _check_cell_counts(block: LineBlock, count: int, delimiter: str) -> None:
    for number, line in block.number_lines():
        text = decode_line(line, number)
        if not text.strip():
            continue
        with add_location(f"line {number}"):
            row = split_row(text, delimiter)
            if len(row) != count:
                wanted = f"{count} cell{'s' if count > 1 else ''}"
                raise MalformedError(f"expected {wanted}, as in the heading, got {len(row)}")


def _parse_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, parse_constant=parse_json)  # `parse_json` rejects NaN
    except (ValueError, RecursionError):
        try:
            found = parse_json(text)
        except MalformedError as error:  # the caller names the line in the file
            raise MalformedError(str(error).removeprefix("line 1: ")) from None
    if not isinstance(found, dict):
        raise MalformedError(f"a line must be a JSON object, got {quote(found)}")
    return found


def _count_keys(lines: Sequence[str]) -> int:
    """Count the different keys of JSON objects, including nested objects."""
    texts = pl.Series(lines, dtype=pl.String).str.extract_all(JSON_STRING).explode().unique()
    return int(texts.str.ends_with(":").sum())


def _check_density(rows: int, keys: int, size: int) -> None:
    """Raise an error if the keys of JSON lines vary so much that most cells would be empty.

    rows, keys: the number of lines and the number of different keys.
    size: the size of the lines in bytes.
    """
    if keys > MAX_SHEET_COLUMNS:
        raise TooLargeError(
            f"rows must have at most {MAX_SHEET_COLUMNS} different keys, got {keys}"
        )
    if rows * keys > max(MAX_SHEET_CELLS, size):
        raise TooLargeError(
            f"rows with different keys must have at most {MAX_SHEET_CELLS} cells together, got "
            f"{rows} rows with {keys} keys"
        )


def _list_inexact(rows: pl.DataFrame, asked: BatchQuestion) -> list[str]:
    """Return the parameters whose columns contain numbers too large to be exact in floats."""
    numbers = (
        name for name in asked.select_parameters(rows.columns) if rows.schema[name] == pl.Float64
    )
    return [name for name in numbers if (rows[name].abs() >= MAX_EXACT).any()]


def _splice_answers(lines: Iterable[str], found: pl.DataFrame) -> Iterator[str]:
    for line, answer in zip(lines, found.write_ndjson().splitlines(), strict=True):
        body = line[1:-1].strip()
        yield f"{{{body}{',' if body else ''}{answer[1:]}\n"


def _find_unsupported(kind: pl.DataType, target: str) -> pl.DataType | None:
    """Return the type (or nested type) that a format cannot store, or `None`."""
    inner: list[Any] = [kind.inner] if isinstance(kind, pl.List | pl.Array) else []
    if isinstance(kind, pl.Struct):
        inner = [field.dtype for field in kind.fields]
    if isinstance(kind, pl.Binary | pl.Object) or (
        isinstance(kind, pl.Duration) and target != "jsonl"
    ):
        return kind
    return next(filter(None, (_find_unsupported(each, target) for each in inner)), None)


def _flatten(rows: pl.DataFrame) -> pl.DataFrame:
    """Replace nested values by JSON strings."""
    return rows.with_columns(
        pl.Series(each.name, [*map(format_json, each.to_list())], pl.String)
        for each in rows
        if each.dtype.is_nested()
    )


def _write_excel(rows: pl.DataFrame, stream: IO[bytes]) -> None:
    try:
        excel = import_module("xlsxwriter")
    except ImportError:
        raise missing_error("Excel needs XlsxWriter, which is not installed", "batch") from None
    if rows.height > MAX_EXCEL_ROWS:
        raise TooLargeError(
            f"an Excel file must have at most {MAX_EXCEL_ROWS} rows, got {rows.height}"
        )
    texts = rows.select(pl.col(pl.String).str.len_chars().max())
    if max(filter(None, texts.row(0)), default=0) > MAX_EXCEL_TEXT:
        raise TooLargeError(
            f"an Excel cell must have at most {MAX_EXCEL_TEXT} characters, got more"
        )
    as_texts = [each.cast(pl.String) for each in rows if not _is_excel_value(each)]
    content = io.BytesIO()  # written in one go, so that an error leaves no incomplete file
    book: Any = excel.Workbook(content, EXCEL_OPTIONS)
    book.set_properties({"created": WORKBOOK_DATE})
    rows.with_columns(as_texts).write_excel(book)
    book.close()
    stream.write(content.getvalue())


def _is_excel_value(column: pl.Series) -> bool:
    """Return whether Excel can store all values of a column exactly."""
    match column.dtype:
        case pl.Int64 | pl.UInt64:
            return column.is_between(-MAX_EXACT, MAX_EXACT).all() is not False
        case pl.Date | pl.Datetime:
            has_zone = getattr(column.dtype, "time_zone", None) is not None
            return not has_zone and (column.dt.year() >= FIRST_EXCEL_YEAR).all()
    return True
