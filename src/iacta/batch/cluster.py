"""Batches on a Dask cluster, for files larger than memory.

Dask reads the file in blocks, computes the answers for each block as a data frame, and repeats a
block if a worker is lost. Each block is written atomically to its own file in a temporary folder
next to the target, so repeating a block does no harm. At the end, the files are joined; for
Parquet, the folder is renamed to the target instead.
"""

import os
import re
import shutil
import signal
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from logging import CRITICAL
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from iacta.batch.files import MAX_LINE_BYTES, BatchJob, BatchResult, read_heading
from iacta.batch.frames import answer_frame
from iacta.batch.rows import ERROR, BatchQuestion
from iacta.forms.question import Watch
from iacta.inputs.checks import quote
from iacta.inputs.errors import (
    IactaError,
    IllegalError,
    MalformedError,
    add_location,
    missing_error,
)
from iacta.inputs.files import (
    add_file_name,
    explain_error,
    make_temporary_path,
    open_atomically,
    quote_path,
)
from iacta.inputs.tabular import (
    UTF8_BOM,
    LineBlock,
    LineJoiner,
    Tabular,
    read_column,
)

LOCAL = "local"
CLUSTER_BLOCK_BYTES = 2**24  # block size of CSV and JSON lines; a Parquet block is a row group
BLOCKS_PER_THREAD = 4  # the minimum; larger blocks are split
FORMATS = {"csv", "jsonl", "parquet"}
ADDRESS = re.compile(r"[a-z]+://[^\s/]+:[0-9]+")
CONNECT_TIMEOUT = 10  # seconds


@contextmanager
def open_cluster(address: str) -> Iterator[Any]:
    """Connect to a Dask cluster and yield its client, for a `with` block.

    address: the address of the scheduler, such as `tcp://127.0.0.1:8786`. `local` starts a cluster
        on this machine with one worker per core.
    """
    expected = "cluster must be local or the address of a Dask scheduler, such as "
    expected += "tcp://127.0.0.1:8786"
    if address != LOCAL and not (isinstance(address, str) and ADDRESS.fullmatch(address)):
        raise IllegalError(f"{expected}, got {quote(address)}")
    try:
        distributed: Any = import_module("distributed")  # optional, and slow to import
        import_module("dask.dataframe")
    except ImportError:
        raise missing_error("a cluster needs Dask, which is not installed", "cluster") from None
    if address == LOCAL:
        with ExitStack() as stack:
            # Start the tracker here: a worker that started the tracker would unblock Ctrl-C.
            import_module("multiprocessing.resource_tracker").ensure_running()
            with _block_interrupts():
                here = distributed.LocalCluster(
                    n_workers=0,
                    host="127.0.0.1",
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=CRITICAL,  # errors are raised in this process instead
                )
                stack.callback(here.close)
            here.scale(import_module("dask.system").CPU_COUNT)
            stack.enter_context(here)  # on exit, wait for the workers
            yield stack.enter_context(distributed.Client(here, set_as_default=False))
        return
    try:
        client = distributed.Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise IllegalError(f"{expected}, got {quote(address)}: {reason}") from None
    with client:
        yield client


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Block Ctrl-C inside a `with` block and in all threads and processes started there.

    A terminal sends Ctrl-C to the worker processes too, which would then print tracebacks or fail
    to start.
    """
    if sys.platform == "win32":
        yield
        return
    usual = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, usual)


def answer_blocks(
    source: Path, target: Path, asked: BatchQuestion, client: Any, watch: Watch | None
) -> BatchResult:
    """Answer the rows of a file block by block on the workers of a Dask client."""
    job, frame = _read_blocks(source, target, asked)
    if job.is_pipe:
        raise IllegalError(f"a cluster cannot write to a pipe, got {quote_path(target)}")
    path = target.resolve()
    if job.target.name == "parquet" and path.exists():
        raise IllegalError(
            f"a cluster writes Parquet into a new folder, and {quote_path(target)} exists"
        )
    least = BLOCKS_PER_THREAD * sum(client.nthreads().values())
    if frame.npartitions < least:
        frame = frame.repartition(npartitions=least)
    answered = frame.map_partitions(answer_frame, asked, meta=answer_frame(frame._meta, asked))
    folder = make_temporary_path(path)
    folder.mkdir()
    try:
        with add_file_name(source, "batch"):
            done = _write_blocks(answered, folder, job, client, watch)
        rows, errors, size = map(sum, zip(*done.values(), strict=True))
        if job.target.name == "parquet":
            _rename_folder(folder, path, done, rows)
        else:
            _join_files(done, path, size)
    finally:
        if folder.exists():
            left = folder.rename(make_temporary_path(path))  # hidden from late workers
            shutil.rmtree(left, ignore_errors=True)
    return BatchResult(rows, errors)


def _read_blocks(source: Path, target: Path, asked: BatchQuestion) -> tuple[BatchJob, Any]:
    """Return the job for a file, with the rows of the file as a Dask data frame."""
    frames: Any = import_module("dask.dataframe")
    read_as_is = import_module("dask.config").set({"dataframe.convert-string": False})
    file = str(source.resolve())
    with read_as_is, add_file_name(source, "batch"), Tabular(source, MAX_LINE_BYTES) as table:
        job = BatchJob.for_table(table, target, asked)
        if (
            table.is_stream
            or table.format == "json"
            or {job.source.name, job.target.name} - FORMATS
        ):
            raise IllegalError("a cluster can only read and write CSV, JSON lines and Parquet")
        if not table.is_text:
            options = {"dtype_backend": "pyarrow", "index": False, "split_row_groups": True}
            frame = frames.read_parquet(file, **options)
            job.check_rows(pl.from_pandas(frame._meta))
            return job, frame.map_partitions(_check_block, meta=frame._meta)
        names: list[str] = []
        line, blocks = b"", table.read_lines()
        if job.source.name == "csv":
            names, line, blocks = read_heading(table)
            job = job.replace_delimiter(table.delimiter)
        first = job.check_rows(job.read_block(next(blocks), names, table.delimiter)).clear()
        if job.source.name == "jsonl":  # types of values may differ between blocks
            first = first.cast(dict.fromkeys(asked.select_parameters(first.columns), pl.String))
        whole = os.path.getsize(file)
        size = whole if table.compression else CLUSTER_BLOCK_BYTES
        read = _TextBlockReader(
            file, size, job, tuple(names), table.delimiter, line, first, bool(table.compression)
        )
        return job, frames.from_map(read, range(0, whole, size), meta=_convert_to_pandas(first))


@dataclass(frozen=True)
class _TextBlockReader:
    """A callable that reads the block at a given byte offset of a text file.

    file: the path of the file, which must be the same on every worker.
    size: the size of a block in bytes.
    names, delimiter, heading: for CSV, the column names, the delimiter and the first line.
    columns: an empty frame with the types of the columns.
    is_packed: whether the file is compressed; it then forms a single block.
    """

    file: str
    size: int
    job: BatchJob
    names: tuple[str, ...]
    delimiter: str
    heading: bytes
    columns: pl.DataFrame
    is_packed: bool

    def __call__(self, offset: int) -> Any:
        if self.is_packed:
            with Tabular(Path(self.file), MAX_LINE_BYTES) as table:
                return _convert_to_pandas(self._fit_columns(self.job.read(table)))
        with add_location(f"the block at byte {offset:,}"):
            try:
                with open(self.file, "rb") as file:
                    content = import_module("fsspec.utils").read_block(
                        file, offset, self.size, b"\n"
                    )
            except OSError as error:
                raise MalformedError(f"a worker cannot read it: {explain_error(error)}") from None
            if not offset:
                content = content.removeprefix(UTF8_BOM)
                content = content.partition(self.heading)[2] if self.heading else content
            is_csv = self.job.source.name == "csv"
            if is_csv and content.count(b'"') % 2:
                raise MalformedError(
                    "a quoted cell must not contain a line break at the end of a block"
                )
            lines = content.split(b"\n")
            joined = (
                LineJoiner(MAX_LINE_BYTES).join_lines(lines, self.delimiter, 1) if is_csv else lines
            )
            rows = self.job.read_block(LineBlock(1, joined), self.names, self.delimiter)
            return _convert_to_pandas(self._fit_columns(rows))

    def _fit_columns(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Convert rows to the columns and types of the first block."""
        for name, kind in rows.schema.items():
            wanted = self.columns.schema.get(name)
            if wanted is None:
                raise MalformedError(f"the key {quote(name)} must also be in the first lines")
            fits = kind in (wanted, pl.Null) or wanted == pl.String
            if not (fits or (wanted == pl.Float64 and kind == pl.Int64)):
                raise MalformedError(f"{name} must be {wanted} as in the first lines, got {kind}")
        whole = pl.concat([self.columns, rows], how="diagonal_relaxed")
        return whole.cast(self.columns.schema)


def _check_block(block: Any) -> Any:
    """Return a Parquet block after checking its columns."""
    for name in block.columns:
        read_column(name, pa.array(block[name]))
    return block


def _convert_to_pandas(rows: pl.DataFrame) -> Any:
    return rows.to_pandas(use_pyarrow_extension_array=True)


def _write_blocks(
    answered: Any, folder: Path, job: BatchJob, client: Any, watch: Watch | None
) -> dict[Path, tuple[int, int, int]]:
    """Write all blocks.

    Return, for the file of each block, its number of rows, its number of rows with errors, and its
    size in bytes.
    """
    delayed, as_completed = import_module("dask").delayed, import_module("distributed").as_completed
    blocks = answered.to_delayed()
    files = [folder / f"part.{number:08}.{job.target.name}" for number in range(len(blocks))]
    write = delayed(_write_block, pure=False)
    futures = client.compute(
        [
            write(block, file, job, is_first=file == files[0])
            for block, file in zip(blocks, files, strict=True)
        ]
    )
    done: dict[Any, tuple[int, int, int]] = {}
    try:
        for future in as_completed(futures, loop=client.loop):
            done[future] = future.result()
            if watch is not None:
                rows = sum(each[0] for each in done.values())
                watch(f"{rows:,} rows done", len(done) / len(futures))
    except IactaError:
        raise
    except Exception as error:
        raise IllegalError(f"the cluster failed: {explain_error(error)}") from error
    finally:
        client.cancel(futures)
    return {file: done[future] for file, future in zip(files, futures, strict=True)}


def _write_block(block: Any, file: Path, job: BatchJob, *, is_first: bool) -> tuple[int, int, int]:
    """Write a block with its answers; count the rows, the rows with errors, and the bytes."""
    rows = pl.from_pandas(block).cast(pl.Schema(job.asked.schema))  # columns of nulls lack types
    with open_atomically(file) as opened:
        job.write(rows, opened, is_first=is_first)
        opened.flush()
        size = os.fstat(opened.fileno()).st_size
    return rows.height, rows.height - rows[ERROR].null_count(), size


def _join_files(files: Iterable[Path], target: Path, size: int) -> None:
    """Concatenate files into the target."""
    with open_atomically(target) as whole:
        for file in files:
            with file.open("rb") as part:
                shutil.copyfileobj(part, whole)
        if whole.tell() != size:
            raise IllegalError(f"the blocks must have {size:,} bytes, got {whole.tell():,}")


def _rename_folder(folder: Path, target: Path, files: Collection[Path], rows: int) -> None:
    """Rename the folder of Parquet files to the target, which must not exist."""
    for other in {*folder.iterdir()} - {*files}:  # incomplete files of lost workers
        other.unlink()
    if (found := pl.scan_parquet([*files]).select(pl.len()).collect().item()) != rows:
        raise IllegalError(f"the blocks must have {rows:,} rows, got {found:,}")
    try:
        folder.rename(target)
    except OSError as error:
        raise IllegalError(f"cannot write {quote_path(target)}: {explain_error(error)}") from None
