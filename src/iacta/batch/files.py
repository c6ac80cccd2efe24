"""Files: batches read part by part and written as they come, in bounded memory.

The ending of a name says the format and the compression. A part is a table of so many rows in the
order of the file. CSV is read as texts, and JSON lines as lines, so that a value which does not fit
is an error of its row and not of the file.

What is written does not depend on how it was divided: texts are joined, and the row groups of
Parquet and the batches of Arrow have a size of their own.
"""

import io
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from iacta.errors import IactaError, IllegalError, MalformedError
from iacta.files import OTHER_TEXTS, STREAM, named

__all__ = ["TEXT", "Format", "Source", "Target", "read_format"]

TEXT = "text"  # the column of lines, and of what was written of a part
FORMATS = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
ARROW_PADDING = 8  # bytes before the stream in a file
GROUP = 2**17  # rows of a group of Parquet, and of a batch of Arrow
BLOCK = 2**20  # bytes that are read at once
LONGEST_LINE = 10**7


class Format(NamedTuple):
    """How a file is written.

    name: `csv`, `jsonl`, `parquet` or `arrow`.
    compression: that of the whole file, `None` for none.
    """

    name: str
    compression: str | None = None

    @property
    def is_text(self) -> bool:
        """Whether rows are lines of text."""
        return self.name in ("csv", "jsonl")


def read_format(file: Path) -> Format:
    """Return the format that the ending of a name says, or refuse it.

    >>> read_format(Path("battles.csv.gz"))
    Format(name='csv', compression='gzip')
    """
    compression = COMPRESSIONS.get(file.suffix.lower())
    ending = Path(file.stem).suffix.lower() if compression else file.suffix.lower()
    name = FORMATS.get(ending)
    if name is None or (compression and name not in ("csv", "jsonl")):
        raise IllegalError(
            f"the file must end in {', '.join(FORMATS)}, or in .csv or .jsonl with "
            f"{', '.join(COMPRESSIONS)} behind it, got {named(file)}"
        )
    return Format(name, compression)


# Reading.


class Source:
    """A file, or standard input, that is read part by part.

    file: its path, `-` for standard input, of which the format is seen from its first bytes.

    It is to be used in a `with` block.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.is_stream = str(file) == STREAM
        self._stack = ExitStack()
        self._size = 0
        self._raw: Any

    def __enter__(self) -> "Source":
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _open(self) -> None:
        with self._refusing():
            if self.is_stream:
                if sys.stdin is None:
                    raise MalformedError("standard input must be open, got it closed")
                self._raw = _Begun(sys.stdin.buffer)
                self.format = _seen(self._raw.begin)
            else:
                self.format = read_format(self.file)
                self._raw = self._stack.enter_context(self.file.open("rb"))
                self._size = self.file.stat().st_size
            stream: Any = self._raw
            if self.format.compression:
                stream = pa.CompressedInputStream(pa.PythonFile(stream), self.format.compression)
            if self.format.is_text:
                stream = stream if isinstance(stream, _Begun) else _Begun(stream)
                if other := OTHER_TEXTS.get(stream.begin[:2]):
                    name = "standard input" if self.is_stream else named(self.file)
                    raise MalformedError(f"{name} must be UTF-8, got {other}; save it as UTF-8")
            getattr(self, f"_open_{self.format.name}")(stream)

    def _open_csv(self, stream: Any) -> None:
        texts = pa.csv.ConvertOptions(default_column_type=pa.string(), strings_can_be_null=False)
        reader = pa.csv.open_csv(
            stream,
            read_options=pa.csv.ReadOptions(block_size=BLOCK),
            parse_options=pa.csv.ParseOptions(newlines_in_values=True),
            convert_options=texts,
        )
        self.schema, self._batches = reader.schema, iter(reader)

    def _open_jsonl(self, stream: Any) -> None:
        self.schema = pa.schema({TEXT: pa.string()})
        self._batches = _lines(stream)

    def _open_parquet(self, stream: Any) -> None:
        if self.is_stream:
            raise IllegalError("Parquet must be read from a file, got it on standard input")
        file = pa.parquet.ParquetFile(stream, pre_buffer=False)
        self._rows, self._read = file.metadata.num_rows, 0
        self.schema, self._batches = file.schema_arrow, file.iter_batches(GROUP)

    def _open_arrow(self, stream: Any) -> None:
        begin = self._raw.begin if isinstance(self._raw, _Begun) else self._raw.read(8)
        is_file = begin.startswith(b"ARROW1")
        if isinstance(self._raw, _Begun):
            stream.read(ARROW_PADDING if is_file else 0)  # the stream stands in the file
        else:
            self._raw.seek(ARROW_PADDING if is_file else 0)
        reader = pa.ipc.open_stream(stream)
        self.schema, self._batches = reader.schema, iter(reader)

    def _refusing(self) -> "_Refusing":
        return _Refusing("standard input" if self.is_stream else named(self.file))

    @property
    def done(self) -> float | None:
        """Which part of the file has been read, `None` if that is not known."""
        if self.format.name == "parquet":
            return self._read / self._rows if self._rows else 1.0
        if not self._size:
            return None
        return 1.0 if self._raw.closed else min(self._raw.tell() / self._size, 1.0)

    def head(self, rows: int) -> pa.Table:
        """Return so many of the first rows; they will be read again as parts."""
        kept: list[pa.RecordBatch] = []
        with self._refusing():
            while sum(each.num_rows for each in kept) < rows:
                batch = next(self._batches, None)
                if batch is None:
                    break
                kept.append(batch)
        self._batches = chain(kept, self._batches)
        return pa.Table.from_batches(kept, self.schema).slice(0, rows)

    def parts(self, rows: int) -> Iterator[pa.Table]:
        """Yield tables of so many rows, the last of as many as are left.

        Dictionaries are left: texts that are numbered within a file are texts.
        """
        fields = [_without_dictionary(each) for each in self.schema]
        schema = pa.schema(fields)
        kept: list[pa.Table] = []
        count = 0
        with self._refusing():
            for batch in self._batches:
                table = pa.Table.from_batches([batch]).cast(schema)
                self._read = getattr(self, "_read", 0) + table.num_rows
                kept.append(table)
                count += table.num_rows
                while count >= rows:
                    whole = pa.concat_tables(kept)
                    yield whole.slice(0, rows)
                    kept, count = [whole.slice(rows)], count - rows
        if count:
            yield pa.concat_tables(kept)


def _without_dictionary(field: pa.Field) -> pa.Field:
    kind = field.type
    return field.with_type(kind.value_type) if pa.types.is_dictionary(kind) else field


class _Refusing:
    """Turns what a library says of a file that cannot be read into one sentence.

    name: that of the file.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, IactaError) or not isinstance(error, pa.ArrowException | OSError):
            return
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise MalformedError(
            f"{self.name} must be a file that can be read, got: {reason}"
        ) from None


class _Begun(io.RawIOBase):
    """A stream whose first bytes have been looked at.

    pipe: what is read.
    """

    def __init__(self, pipe: BinaryIO) -> None:
        self.pipe = pipe
        self.begin = pipe.read(ARROW_PADDING)
        self._left = self.begin

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            found, self._left = self._left + self.pipe.read(), b""
            return found
        found, self._left = self._left[:size], self._left[size:]
        return found + self.pipe.read(size - len(found)) if len(found) < size else found

    def tell(self) -> int:
        return 0


def _seen(begin: bytes) -> Format:
    """Return the format that the first bytes of a pipe show."""
    for magic, name in MAGIC.items():
        if begin.startswith(magic):
            return Format(name)
    for magic, compression in COMPRESSED.items():
        if begin.startswith(magic):
            raise IllegalError(
                f"standard input must not be compressed, got {compression}: unpack it before"
            )
    return Format("jsonl" if begin.lstrip().startswith(b"{") else "csv")


def _lines(stream: Any) -> Iterator[pa.RecordBatch]:
    """Yield the lines of a text that are not blank."""
    rest = b""
    while True:
        block = stream.read(BLOCK)
        *lines, rest = (rest + block).split(b"\n")
        if len(rest) > LONGEST_LINE:
            raise IllegalError(f"lines must have at most {LONGEST_LINE} bytes, got a longer one")
        if not block and rest:
            lines, rest = [rest], b""
        try:
            texts = [each.decode().strip() for each in lines]
        except UnicodeDecodeError:
            raise MalformedError("lines must be UTF-8, got other bytes") from None
        yield pa.RecordBatch.from_pydict({TEXT: pa.array([*filter(None, texts)], pa.string())})
        if not block:
            return


# Writing.


class Target:
    """A file that is written table by table.

    stream: where its bytes go.
    format: how it is written.
    schema: that of its tables; those of a text format hold the text of a part each.
    header: what stands before the texts.
    is_pipe: whether it is a pipe, to which Arrow goes as a stream.
    """

    def __init__(
        self, stream: Any, format_: Format, schema: pa.Schema, header: bytes, *, is_pipe: bool
    ) -> None:
        self.format, self.schema = format_, schema
        self._kept: list[pa.Table] = []
        self._writer: Any = None
        if format_.compression:
            stream = pa.CompressedOutputStream(pa.PythonFile(stream, "w"), format_.compression)
        self._stream = stream
        if format_.name == "parquet":
            self._writer = pa.parquet.ParquetWriter(stream, schema, compression="zstd")
        elif format_.name == "arrow":
            self._writer = (pa.ipc.new_stream if is_pipe else pa.ipc.new_file)(stream, schema)
        elif header:
            stream.write(header)

    def write(self, table: pa.Table) -> None:
        """Write the next rows."""
        if self.format.is_text:
            for text in table.column(TEXT):
                self._stream.write(text.as_buffer())
            return
        self._kept.append(table)
        while sum(each.num_rows for each in self._kept) >= GROUP:
            whole = pa.concat_tables(self._kept)
            self._write_group(whole.slice(0, GROUP))
            self._kept = [whole.slice(GROUP)]

    def _write_group(self, group: pa.Table) -> None:
        # Where chunks begin would be seen in the pages of Parquet, and in the last bits of Arrow.
        if self.format.name == "arrow":
            group = group.take(pa.array(range(group.num_rows)))
        arrays = [pa.concat_arrays(each.chunks) for each in group.columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=self.schema))

    def abandon(self) -> None:
        """Write no more; what is there is of no use."""
        with suppress(OSError, ValueError, pa.ArrowException):
            if self._writer is not None:
                self._writer.close()

    def close(self) -> None:
        """Write what is left, and the end."""
        if self._writer is not None:
            left = pa.concat_tables([self.schema.empty_table(), *self._kept])
            if left.num_rows:
                self._write_group(left)
            self._writer.close()
        if self.format.compression:
            self._stream.close()
