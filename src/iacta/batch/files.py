"""Files: the formats of batches, each read into a frame of Polars and written from one.

The content of a file says what it is, the ending of a target how it is written. Cells of CSV are
read as texts, and what a question does not read in a line of JSON stays as it is, so that a wrong
value is an error of its row. Text that is no table, such as a row with a cell too many, is refused
with its line.
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

from iacta.batch.rows import WHOLE, BatchQuestion, json_text
from iacta.forms.parameter_kinds import Whole
from iacta.inputs.checks import quote
from iacta.inputs.csv_formulas import FORMULA_STARTS, escape_formulas
from iacta.inputs.errors import (
    IllegalError,
    MalformedError,
    TooLargeError,
    add_place,
    missing_error,
)
from iacta.inputs.files import STREAM, ErrorKeeper, explain_error, quote_path
from iacta.inputs.json_and_toml import check_surrogates, parse_json
from iacta.inputs.tabular import MAX_CELLS, MAX_COLUMNS, LineBlock, Tabular, decode_line, split_row

LINE = "\nline"  # the column of whole lines of JSON
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
LONGEST_LINE = 10**7  # bytes, to keep memory bounded
MOST_EXCEL_ROWS = 2**20 - 1  # in a sheet, below the headings
LONGEST_EXCEL = 2**15 - 1  # letters in a cell
FIRST_EXCEL_YEAR = 1900
EXCEL_OPTIONS = {"in_memory": True, "strings_to_formulas": False, "nan_inf_to_errors": True}
JSON_TEXT = r'"(?:[^"\\]|\\.)*"(?:\s*:)?'  # a key includes its colon
MOST_EXACT = 2**53  # larger whole numbers become texts, as Excel would round them
OLDEST = pl.CompatLevel.oldest()  # Arrow that every reader knows
MADE = datetime(2000, 1, 1)  # the date of every workbook, so that equal ones have equal bytes


class Done(NamedTuple):
    """The result of a run.

    rows: the number of rows that were written.
    errors: the number of rows with an error.
    """

    rows: int
    errors: int


class FileFormat(NamedTuple):
    """The format of a file.

    name: `csv`, `jsonl`, `parquet`, `arrow` or `excel`.
    compression: that of the whole file, `None` for none.
    mark: separates the cells of CSV.
    """

    name: str
    compression: str | None = None
    mark: str = ","


def read_format(file: Path) -> FileFormat:
    """Return the format that the ending of a name stands for, or refuse it.

    >>> read_format(Path("battles.csv.gz"))
    FileFormat(name='csv', compression='gzip', mark=',')
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
    """What is asked of every row of a file, and how its rows are read and written.

    asked: the question.
    source, target: the formats of the files.
    is_pipe: whether the target is a pipe, to which Arrow is written as a stream.
    """

    asked: BatchQuestion
    source: FileFormat
    target: FileFormat
    is_pipe: bool = False

    @classmethod
    def of(cls, table: Tabular, target: Path, asked: BatchQuestion) -> "BatchJob":
        """Return what is to do with a table that has been opened."""
        name = "jsonl" if table.format == "json" else table.format
        is_stream = str(target) == STREAM
        to = FileFormat(name) if is_stream else read_format(target)
        is_pipe = is_stream or (target.exists() and not target.is_file())
        return cls(asked, FileFormat(name), to, is_pipe)

    def marked(self, mark: str) -> "BatchJob":
        """Return the same, with what separates the cells of CSV also in the target."""
        return replace(self, target=self.target._replace(mark=mark))

    @property
    def keeps_lines(self) -> bool:
        """Whether lines of JSON are written as they were read, with the answers added."""
        return self.source.name == self.target.name == "jsonl"

    # Reading.

    def read(self, table: Tabular) -> pl.DataFrame:
        """Return the rows of a table."""
        if not table.is_text:
            schema, batches = table.read_batches()
            if "decimal256" in str(schema.types):  # at which Polars panics
                raise MalformedError("decimals must have at most 38 digits")
            try:
                return pl.DataFrame(pa.Table.from_batches(batches, schema))
            except pl.exceptions.PolarsError as error:
                raise MalformedError(f"it cannot be read: {explain_error(error)}") from None
        names: list[str] = []
        blocks = table.read_lines()
        if self.source.name == "csv":
            names, _, blocks = heading(table)
            self.asked.parameters(names)  # which may refuse them
        frames = [self.read_block(LineBlock(1, []), names, table.delimiter)]
        keys: set[str] = set()
        rows = size = 0
        for block in blocks:
            frames.append(self.read_block(block, names, table.delimiter))
            keys.update(name for name in frames[-1].columns if name != LINE)
            rows += frames[-1].height
            size += sum(map(len, block.lines))
            _refuse_sparse(rows, len(keys), size)
        return pl.concat(frames, how="diagonal_relaxed")

    def read_block(self, block: LineBlock, names: Sequence[str], mark: str) -> pl.DataFrame:
        """Return the rows of some lines; names and mark are those of CSV."""
        if self.source.name == "csv":
            return _read_csv(block, names, mark)
        return self._read_json(block)

    def _read_json(self, block: LineBlock) -> pl.DataFrame:
        """Return lines of JSON and their values: lists, objects and mixtures as texts."""
        numbered = [each for each in block.number_lines() if each[1].strip(b" \r")]
        texts = [decode_line(line, number).strip() for number, line in numbered]
        content = io.BytesIO("\n".join(texts).encode())
        for (number, _), text in zip(numbered, texts, strict=True):
            if "\\u" in text:
                check_surrogates(text, number)
        _refuse_sparse(len(texts), _count_keys(texts), len(content.getvalue()))
        try:
            kinds = dict(pl.scan_ndjson(content, infer_schema_length=None).collect_schema())
            columns = self._columns(kinds)
            rows = pl.read_ndjson(content, schema=columns)
            if inexact := _inexact(rows, self.asked):
                columns |= dict.fromkeys(inexact, pl.String)
                rows = pl.read_ndjson(content, schema=columns)
        except pl.exceptions.PolarsError as error:
            keys: dict[str, pl.DataType] = {}
            for (number, _), text in zip(numbered, texts, strict=True):
                with add_place(f"line {number}"):
                    keys |= dict.fromkeys(_object(text), pl.String())
            try:
                rows = pl.read_ndjson(content, schema=self._columns(keys))
            except pl.exceptions.PolarsError:
                raise MalformedError(f"invalid JSON: {explain_error(error)}") from None
        if rows.height != len(texts):
            raise MalformedError(f"expected {len(texts)} lines of JSON, got {rows.height}")
        return rows.with_columns(pl.Series(LINE, texts, pl.String))

    def _columns(self, kinds: dict[str, pl.DataType]) -> dict[str, Any]:
        """Return the columns of lines of JSON that are read, and the type of each."""
        parameters = self.asked.named([*kinds])
        kept = {*parameters, *self.asked.schema} if self.keeps_lines else {*kinds}
        exact = pl.Int64, pl.Float64, pl.Null  # whole numbers that are larger are texts
        return {
            name: pl.String
            if kind.is_nested() or (name in parameters and kind not in exact)
            else kind
            for name, kind in kinds.items()
            if name in kept
        }

    def checked(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return rows, or refuse them if they cannot be answered or written."""
        if rows.width > MAX_COLUMNS:
            raise TooLargeError(f"there must be at most {MAX_COLUMNS} columns, got {rows.width}")
        if wrong := [name for name in rows.columns if "\0" in name]:
            raise MalformedError(f"the name of a column must have no NUL, got {quote(wrong[0])}")
        self.asked.parameters(rows.columns)
        to = self.target.name
        for name, kind in rows.schema.items():
            if to in ("csv", "jsonl", "excel") and (unfit := _unfit(kind, to)):
                raise IllegalError(f"{to} cannot hold the column {quote(name)} of {unfit}")
        return rows

    # Writing.

    def write(self, answered: pl.DataFrame, stream: IO[bytes], *, is_first: bool = True) -> None:
        """Write rows with their answers; the first part of a file has the heading of CSV."""
        rows = answered if self.keeps_lines else answered.drop(LINE, strict=False)
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
                f"{self.target.name} cannot hold it: {explain_error(error)}"
            ) from None

    def _write_plain(self, answered: pl.DataFrame, stream: Any, *, is_first: bool) -> None:
        match self.target.name:
            case "csv":
                self._write_csv(answered, stream, is_first=is_first)
            case "jsonl" if self.keeps_lines:
                found = answered.select(*self.asked.schema)
                stream.write("".join(_spliced(answered[LINE], found)).encode())
            case "jsonl":
                self._typed(answered).write_ndjson(stream)
            case "parquet":
                self._typed(answered).write_parquet(stream)
            case "arrow" if self.is_pipe:
                self._typed(answered).write_ipc_stream(stream, compat_level=OLDEST)
            case "arrow":
                self._typed(answered).write_ipc(stream, compat_level=OLDEST)
            case _:
                _write_excel(_flat(self._typed(answered)), stream)

    def _typed(self, answered: pl.DataFrame) -> pl.DataFrame:
        """Return rows of CSV with whole numbers where the question asks for them, else nulls."""
        if self.source.name != "csv":
            return answered
        text = pl.col(pl.String)
        rows = answered.with_columns(pl.when(text != "").then(text).name.keep())
        return rows.with_columns(
            pl.col(name).str.replace(WHOLE, "$1").cast(pl.Int64, strict=False)
            for name, parameter in self.asked.named(rows.columns).items()
            if isinstance(parameter.kind, Whole)
        )

    def _write_csv(self, answered: pl.DataFrame, stream: Any, *, is_first: bool) -> None:
        mark, text = self.target.mark, pl.col(pl.String)
        names: list[object] = [*answered.columns]
        if self.source.name == "csv":
            plain: pl.Expr = pl.when(text != "").then(text)  # an empty text is not written as ""
        else:  # against formulas; texts that come from CSV stay as they are
            begins = text.str.head(1).is_in(FORMULA_STARTS) & (text.str.len_chars() > 1)
            is_formula = begins & text.cast(pl.Float64, strict=False).is_null()
            plain = pl.when(is_formula).then(pl.lit("'") + text).otherwise(text)
            (names,) = escape_formulas([names])
        if is_first:
            line = io.StringIO()
            csv.writer(line, delimiter=mark, lineterminator="\n").writerow(names)
            stream.write(line.getvalue().encode())
        rows = _flat(answered).with_columns(plain.name.keep())
        has_nul = rows.select(pl.any_horizontal(text.str.contains("\0", literal=True)))
        if (wrong := has_nul.to_series().arg_true()).len():
            raise IllegalError(f"row {wrong[0] + 1}: csv cannot hold a text with a NUL")
        rows.write_csv(stream, include_header=False, separator=mark)


def _lines(block: LineBlock) -> list[bytes]:
    return [line for line in block.lines if line.strip(b" \r")]


# CSV.


def heading(table: Tabular) -> tuple[list[str], bytes, Iterator[LineBlock]]:
    """Return the names of the columns of CSV, the line that has them, and what follows it."""
    blocks = table.read_lines()
    for block in blocks:
        for place, (number, line) in enumerate(block.number_lines()):
            if line.strip(b" \r"):
                rest = LineBlock(number + 1 + line.count(b"\n"), block.lines[place + 1 :])
                return (
                    split_row(decode_line(line, number), table.delimiter),
                    line,
                    chain([rest], blocks),
                )
    raise MalformedError("the text is empty")


def _read_csv(block: LineBlock, names: Sequence[str], mark: str) -> pl.DataFrame:
    """Return cells as texts. Polars would fill up rows with too few, so PyArrow reads them."""
    lines = _lines(block)
    content = b"\n".join(lines)
    if not content:
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    try:
        table = pa.csv.read_csv(
            io.BytesIO(content),
            pa.csv.ReadOptions(column_names=names, block_size=len(content) + 1, use_threads=False),
            pa.csv.ParseOptions(delimiter=mark, newlines_in_values=True),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        _refuse_ragged(block, len(names), mark)
        raise MalformedError(f"not rows of CSV: {explain_error(error)}") from None
    if b"\0" in content or table.num_rows != len(lines):
        _refuse_ragged(block, len(names), mark)
        raise MalformedError(f"expected {len(lines)} rows of CSV, got {table.num_rows}")
    return pl.DataFrame(table)


def _refuse_ragged(block: LineBlock, count: int, mark: str) -> None:
    for number, line in block.number_lines():
        text = decode_line(line, number)
        if not text.strip():
            continue
        with add_place(f"line {number}"):
            row = split_row(text, mark)
            if len(row) != count:
                wanted = f"{count} cell{'s' if count > 1 else ''}"
                raise MalformedError(f"expected {wanted}, as in the heading, got {len(row)}")


# JSON.


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, parse_constant=parse_json)  # which refuses NaN
    except (ValueError, RecursionError):
        found = parse_json(text)
    if not isinstance(found, dict):
        raise MalformedError(f"a line must be an object of JSON, got {quote(found)}")
    return found


def _count_keys(lines: Sequence[str]) -> int:
    """Return how many different keys the objects of some lines have, nested ones included."""
    texts = pl.Series(lines, dtype=pl.String).str.extract_all(JSON_TEXT).explode().unique()
    return int(texts.str.ends_with(":").sum())


def _refuse_sparse(rows: int, keys: int, size: int) -> None:
    """Refuse lines of JSON that would fill far more memory than their bytes with empty cells.

    size: the bytes of the lines.
    """
    if keys > MAX_COLUMNS:
        raise TooLargeError(f"rows must have at most {MAX_COLUMNS} different keys, got {keys}")
    if rows * keys > max(MAX_CELLS, size):
        raise TooLargeError(
            f"rows with different keys must have at most {MAX_CELLS} cells together, got "
            f"{rows} rows with {keys} keys"
        )


def _inexact(rows: pl.DataFrame, asked: BatchQuestion) -> list[str]:
    """Return the parameters that are columns of numbers too large for fractions to be exact."""
    numbers = (name for name in asked.named(rows.columns) if rows.schema[name] == pl.Float64)
    return [name for name in numbers if (rows[name].abs() >= MOST_EXACT).any()]


def _spliced(lines: Iterable[str], found: pl.DataFrame) -> Iterator[str]:
    for line, answer in zip(lines, found.write_ndjson().splitlines(), strict=True):
        body = line[1:-1].strip()
        yield f"{{{body}{',' if body else ''}{answer[1:]}\n"


# What a format can hold.


def _unfit(kind: pl.DataType, target: str) -> pl.DataType | None:
    """Return the part of a type that a format cannot hold, `None` if it can hold all."""
    inner: list[Any] = [kind.inner] if isinstance(kind, pl.List | pl.Array) else []
    if isinstance(kind, pl.Struct):
        inner = [field.dtype for field in kind.fields]
    if isinstance(kind, pl.Binary | pl.Object) or (
        isinstance(kind, pl.Duration) and target != "jsonl"
    ):
        return kind
    return next(filter(None, (_unfit(each, target) for each in inner)), None)


def _flat(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows with nested values as JSON."""
    return rows.with_columns(
        pl.Series(each.name, [*map(json_text, each.to_list())], pl.String)
        for each in rows
        if each.dtype.is_nested()
    )


def _write_excel(rows: pl.DataFrame, stream: IO[bytes]) -> None:
    try:
        excel = import_module("xlsxwriter")
    except ImportError:
        raise missing_error("Excel needs XlsxWriter, which is not installed", "batch") from None
    if rows.height > MOST_EXCEL_ROWS:
        raise TooLargeError(f"Excel holds {MOST_EXCEL_ROWS} rows, got {rows.height}")
    texts = rows.select(pl.col(pl.String).str.len_chars().max())
    if max(filter(None, texts.row(0)), default=0) > LONGEST_EXCEL:
        raise TooLargeError(f"a cell of Excel holds {LONGEST_EXCEL} letters, got more")
    as_texts = [each.cast(pl.String) for each in rows if not _is_excel_value(each)]
    content = io.BytesIO()  # Python would write the end of a ZIP file that is not whole once more
    book: Any = excel.Workbook(content, EXCEL_OPTIONS)
    book.set_properties({"created": MADE})
    rows.with_columns(as_texts).write_excel(book)
    book.close()
    stream.write(content.getvalue())


def _is_excel_value(column: pl.Series) -> bool:
    """Return whether Excel holds the values of a column without loss."""
    match column.dtype:
        case pl.Int64 | pl.UInt64:
            return column.is_between(-MOST_EXACT, MOST_EXACT).all() is not False
        case pl.Date | pl.Datetime:
            has_zone = getattr(column.dtype, "time_zone", None) is not None
            return not has_zone and (column.dt.year() >= FIRST_EXCEL_YEAR).all()
    return True
