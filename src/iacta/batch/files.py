"""Files: batches read part by part and written as they come, in bounded memory.

A part is a table with some rows, in the order of the file. Text is passed on as lines, which are
parsed where they are answered, so that a wrong value is an error of its row and not of the file.
The ending of a target's name determines its format and compression.

The output does not depend on the parts: texts are joined, and the row groups of Parquet and the
batches of Arrow have a fixed size.
"""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import datetime
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from iacta.errors import IllegalError, MalformedError, TooLargeError, missing
from iacta.files import in_file, named
from iacta.tabular import Tabular, cells, line_text

TEXT = "text"  # the column of lines, or of the text to write
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
GROUP = 2**17  # rows in a group of Parquet, or a batch of Arrow
LONGEST_LINE = 10**7  # bytes, to keep memory bounded
MOST_EXCEL_ROWS = 2**20 - 1  # in a sheet, below the headings
LONGEST_EXCEL = 2**15 - 1  # letters in a cell
MOST_EXACT = 2**53  # larger whole numbers become texts, as Excel would round them
MADE = datetime(2000, 1, 1)  # the date of every workbook, so that equal ones have equal bytes


class FileFormat(NamedTuple):
    """The format of a file.

    name: `csv`, `jsonl`, `parquet`, `arrow` or `excel`.
    compression: that of the whole file, `None` for none.
    mark: separates the cells of CSV.
    """

    name: str
    compression: str | None = None
    mark: str = ","

    @property
    def is_text(self) -> bool:
        return self.name in ("csv", "jsonl")


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
            f"{', '.join(COMPRESSIONS)}, got {named(file)}"
        )
    return FileFormat(name, compression)


# Reading.


class BatchSource:
    """A file, or `-` for standard input, that is read part by part in a `with` block.

    `names` are its columns (none are known for lines of JSON), and `schema` is that of its parts:
    one column of lines if it is text.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._table = Tabular(file, LONGEST_LINE)
        self.is_stream = self._table.is_stream
        self._batches: Iterator[pa.RecordBatch]

    def __enter__(self) -> "BatchSource":
        self.names: list[str] = []
        self.schema = pa.schema({TEXT: pa.string()})
        with ExitStack() as stack, in_file(self.file, "batch"):
            table = stack.enter_context(self._table)
            if table.is_text:
                batches = self._texts()
                if table.format == "csv":
                    heading = next(batches, None)
                    if heading is None:
                        raise MalformedError("the text is empty")
                    self.names = cells(heading[TEXT][0].as_py(), table.mark)
            else:
                schema, batches = table.batches()
                self.schema = _plain(schema.empty_table()).schema
                self.names = self.schema.names
            self._batches = self._named(batches)
            stack.pop_all()
        name = "jsonl" if table.format == "json" else table.format
        self.format = FileFormat(name, None, table.mark)
        return self

    def __exit__(self, *_: object) -> None:
        self._table.__exit__()

    def _named(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with in_file(self.file, "batch"):
            yield from batches

    def _texts(self) -> Iterator[pa.RecordBatch]:
        """Yield the lines that are not blank; the heading of CSV comes alone."""
        has_heading = self._table.format == "csv"
        for part in self._table.lines():
            texts = [
                line_text(line, number) for number, line in part.numbered() if line.strip(b" \r")
            ]
            if has_heading and texts:
                yield _lines(texts[:1])
                texts, has_heading = texts[1:], False
            if texts:
                yield _lines(texts)

    @property
    def done(self) -> float | None:
        return self._table.done

    def head(self, rows: int) -> list[str]:
        """Return the first lines; `parts` yields them too."""
        kept: list[pa.RecordBatch] = []
        while sum(each.num_rows for each in kept) < rows and (batch := next(self._batches, None)):
            kept.append(batch)
        self._batches = chain(kept, self._batches)
        lines: list[str] = pa.Table.from_batches(kept, self.schema).slice(0, rows)[TEXT].to_pylist()
        return lines

    def parts(self, rows: int) -> Iterator[pa.Table]:
        """Yield tables of so many rows; the last may have fewer.

        Dictionaries and views become plain texts.
        """
        kept: list[pa.Table] = []
        count = 0
        for batch in self._batches:
            kept.append(_plain(pa.Table.from_batches([batch])))
            count += batch.num_rows
            while count >= rows:
                whole = pa.concat_tables(kept)
                yield whole.slice(0, rows)
                kept, count = [whole.slice(rows)], count - rows
        if count:
            yield pa.concat_tables(kept)


def _lines(texts: list[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({TEXT: pa.array(texts, pa.string())})


def _plain(table: pa.Table) -> pa.Table:
    if "_view" in str(table.schema.types):
        table = arrow(pl.DataFrame(table))
    fields = [
        each.with_type(each.type.value_type) if pa.types.is_dictionary(each.type) else each
        for each in table.schema
    ]
    return table.cast(pa.schema(fields))


def arrow(found: pl.DataFrame) -> pa.Table:
    table = found.to_arrow(compat_level=pl.CompatLevel.oldest())
    texts = [pa.string() if kind == pa.large_string() else kind for kind in table.schema.types]
    return table.cast(pa.schema([*zip(table.schema.names, texts, strict=True)]))


# Writing.


class BatchTarget:
    """A file that is written table by table; those of a text format hold the text of a part each.

    is_pipe: whether it is a pipe, to which Arrow is written as a stream.
    """

    def __init__(
        self, stream: Any, format_: FileFormat, schema: pa.Schema, header: bytes, *, is_pipe: bool
    ) -> None:
        self.format, self.schema = format_, schema
        self._kept: list[pa.Table] = []
        self._rows = 0
        self._writer: Any = None
        if format_.compression:
            stream = pa.CompressedOutputStream(pa.PythonFile(stream, "w"), format_.compression)
        if format_.name == "excel":
            try:
                self._excel: Any = import_module("xlsxwriter")
            except ImportError:
                raise missing("Excel needs XlsxWriter, which is not installed", "batch") from None
        self._stream = stream
        if format_.name == "parquet":
            self._writer = pa.parquet.ParquetWriter(stream, schema, compression="zstd")
        elif format_.name == "arrow":
            self._writer = (pa.ipc.new_stream if is_pipe else pa.ipc.new_file)(stream, schema)
        elif header:
            stream.write(header)

    def write(self, table: pa.Table) -> None:
        if self.format.is_text:
            for text in table.column(TEXT):
                self._stream.write(text.as_buffer())
            return
        self._kept.append(table)
        if self.format.name == "excel":
            self._rows += table.num_rows
            if self._rows > MOST_EXCEL_ROWS:
                raise TooLargeError(f"Excel holds {MOST_EXCEL_ROWS} rows, got more")
            return
        while sum(each.num_rows for each in self._kept) >= GROUP:
            whole = pa.concat_tables(self._kept)
            self._write_group(whole.slice(0, GROUP))
            self._kept = [whole.slice(GROUP)]

    def _write_group(self, group: pa.Table) -> None:
        # Chunk borders would show in the pages of Parquet, and in the last bits of Arrow.
        if self.format.name == "arrow":
            group = group.take(pa.array(range(group.num_rows)))
        arrays = [pa.concat_arrays(each.chunks) for each in group.columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self.schema))

    def abandon(self) -> None:
        """Stop writing; what has been written is useless."""
        with suppress(OSError, ValueError, pa.ArrowException):
            if self._writer is not None:
                self._writer.close()

    def close(self) -> None:
        if self._writer is not None:
            left = pa.concat_tables([self.schema.empty_table(), *self._kept])
            if left.num_rows:
                self._write_group(left)
            self._writer.close()
        if self.format.name == "excel":
            self._write_excel(pa.concat_tables([self.schema.empty_table(), *self._kept]))
        if self.format.compression:
            self._stream.close()

    def _write_excel(self, table: pa.Table) -> None:
        frame: Any = pl.from_arrow(table)
        wide = [name for name, kind in frame.schema.items() if kind in (pl.Int64, pl.UInt64)]
        frame = frame.with_columns(
            frame[name].cast(pl.String)
            for name in wide
            if frame[name].is_between(-MOST_EXACT, MOST_EXACT).all() is False
        )
        texts = frame.select(pl.col(pl.String).str.len_chars().max())
        if max(filter(None, texts.row(0)), default=0) > LONGEST_EXCEL:
            raise TooLargeError(f"a cell of Excel holds {LONGEST_EXCEL} letters, got more")
        book = self._excel.Workbook(self._stream, {"in_memory": True, "strings_to_formulas": False})
        book.set_properties({"created": MADE})
        frame.write_excel(book)
        book.close()
