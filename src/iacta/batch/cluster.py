"""Cluster: a file answered by the workers of Dask, for what is larger than memory.

Dask's data frames read the file in blocks, each answered as a frame, and Dask gives the blocks of a
lost worker to another. Each answered block is a file of its own, in a new folder beside the target:
a block that is answered twice has the same content, and is put in place whole. When all are there,
they are joined into one file, or for Parquet the folder gets the name of the target.
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

from iacta.batch.files import LONGEST_LINE, BatchJob, Done, heading
from iacta.batch.frames import answer_frame
from iacta.batch.rows import ERROR, BatchQuestion
from iacta.forms.question import Watch
from iacta.inputs.checks import quote
from iacta.inputs.errors import IactaError, IllegalError, MalformedError, add_place, missing_error
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

LOCAL = "local"  # the cluster of this machine's cores
BLOCK = 2**24  # bytes of a block of text; those of Parquet are its row groups
BLOCKS = 4  # for each thread, at least
FORMATS = {"csv", "jsonl", "parquet"}  # that are read and written in blocks
ADDRESS = re.compile(r"[a-z]+://[^\s/]+:[0-9]+")
LONGEST_GREETING = 10  # seconds in which a cluster must answer


@contextmanager
def cluster(address: str) -> Iterator[Any]:
    """Yield the client of a Dask cluster.

    address: that of its scheduler, such as `tcp://127.0.0.1:8786`; `local` starts one here, with a
        worker for each core.

    An address without a scheduler is refused.
    """
    expected = "cluster must be local or the address of a Dask scheduler, such as "
    expected += "tcp://127.0.0.1:8786"
    if address != LOCAL and not (isinstance(address, str) and ADDRESS.fullmatch(address)):
        raise IllegalError(f"{expected}, got {quote(address)}")
    try:
        distributed: Any = import_module("distributed")  # an extra, which is slow to load
        import_module("dask.dataframe")
    except ImportError:
        raise missing_error("a cluster needs Dask, which is not installed", "cluster") from None
    if address == LOCAL:
        with ExitStack() as stack:
            # Python starts its tracker with the first worker, and would unblock Ctrl-C there.
            import_module("multiprocessing.resource_tracker").ensure_running()
            with _hold_ctrl_c():
                here = distributed.LocalCluster(
                    n_workers=0,
                    host="127.0.0.1",
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=CRITICAL,  # this process raises the errors
                )
                stack.callback(here.close)
            here.scale(import_module("dask.system").CPU_COUNT)
            stack.enter_context(here)  # waits for the workers
            yield stack.enter_context(distributed.Client(here, set_as_default=False))
        return
    try:
        client = distributed.Client(address, timeout=LONGEST_GREETING, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise IllegalError(f"{expected}, got {quote(address)}: {reason}") from None
    with client:
        yield client


@contextmanager
def _hold_ctrl_c() -> Iterator[None]:
    """Hold Ctrl-C back during a block, and keep it from all threads and processes begun there.

    A terminal sends Ctrl-C to the workers too, which would print tracebacks, or fail to start.
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
) -> Done:
    """Answer a file in blocks, on the workers of a Dask client."""
    job, frame = _blocks(source, target, asked)
    if job.is_pipe:
        raise IllegalError(f"a cluster writes a file, got the pipe {quote_path(target)}")
    place = target.resolve()
    if job.target.name == "parquet" and place.exists():
        raise IllegalError(
            f"a cluster writes Parquet into a new folder, and {quote_path(target)} exists"
        )
    least = BLOCKS * sum(client.nthreads().values())
    if frame.npartitions < least:
        frame = frame.repartition(npartitions=least)
    answered = frame.map_partitions(answer_frame, asked, meta=answer_frame(frame._meta, asked))
    folder = make_temporary_path(place)
    folder.mkdir()
    try:
        with add_file_name(source, "batch"):
            done = _written(answered, folder, job, client, watch)
        rows, errors, size = map(sum, zip(*done.values(), strict=True))
        if job.target.name == "parquet":
            _name_folder(folder, place, done, rows)
        else:
            _join(done, place, size)
    finally:
        if folder.exists():
            left = folder.rename(make_temporary_path(place))  # so that no worker writes on
            shutil.rmtree(left, ignore_errors=True)
    return Done(rows, errors)


# Reading.


def _blocks(source: Path, target: Path, asked: BatchQuestion) -> tuple[BatchJob, Any]:
    """Return what is to do with a file, and its rows as a data frame of Dask."""
    frames: Any = import_module("dask.dataframe")
    read_as_is = import_module("dask.config").set({"dataframe.convert-string": False})
    file = str(source.resolve())
    with read_as_is, add_file_name(source, "batch"), Tabular(source, LONGEST_LINE) as table:
        job = BatchJob.of(table, target, asked)
        if (
            table.is_stream
            or table.format == "json"
            or {job.source.name, job.target.name} - FORMATS
        ):
            raise IllegalError("a cluster reads and writes files of CSV, JSON lines and Parquet")
        if not table.is_text:
            options = {"dtype_backend": "pyarrow", "index": False, "split_row_groups": True}
            frame = frames.read_parquet(file, **options)
            job.checked(pl.from_pandas(frame._meta))
            return job, frame.map_partitions(_check_block, meta=frame._meta)
        names: list[str] = []
        line, blocks = b"", table.read_lines()
        if job.source.name == "csv":
            names, line, blocks = heading(table)
            job = job.marked(table.delimiter)
        first = job.checked(job.read_block(next(blocks), names, table.delimiter)).clear()
        if job.source.name == "jsonl":  # of which other blocks may have values of other kinds
            first = first.cast(dict.fromkeys(asked.named(first.columns), pl.String))
        whole = os.path.getsize(file)
        size = whole if table.compression else BLOCK
        read = _TextBlocks(
            file, size, job, tuple(names), table.delimiter, line, first, bool(table.compression)
        )
        return job, frames.from_map(read, range(0, whole, size), meta=_pandas(first))


@dataclass(frozen=True)
class _TextBlocks:
    """Reads a block of a text by its place in bytes.

    file: the path of the text, on every worker.
    size: the bytes of a block.
    names, mark, heading: those of CSV.
    columns: a frame without rows, with the types of the columns.
    is_packed: whether the text is compressed, and so one block.
    """

    file: str
    size: int
    job: BatchJob
    names: tuple[str, ...]
    mark: str
    heading: bytes
    columns: pl.DataFrame
    is_packed: bool

    def __call__(self, offset: int) -> Any:
        if self.is_packed:
            with Tabular(Path(self.file), LONGEST_LINE) as table:
                return _pandas(self._fitted(self.job.read(table)))
        with add_place(f"the block at byte {offset:,}"):
            try:
                with open(self.file, "rb") as file:
                    content = import_module("fsspec.utils").read_block(
                        file, offset, self.size, b"\n"
                    )
            except OSError as error:
                raise MalformedError(
                    f"cannot read it on a worker: {explain_error(error)}"
                ) from None
            if not offset:
                content = content.removeprefix(UTF8_BOM)
                content = content.partition(self.heading)[2] if self.heading else content
            is_csv = self.job.source.name == "csv"
            if is_csv and content.count(b'"') % 2:
                raise MalformedError("quotes must close in the block where they open")
            lines = content.split(b"\n")
            joined = LineJoiner(LONGEST_LINE).join_lines(lines, self.mark, 1) if is_csv else lines
            rows = self.job.read_block(LineBlock(1, joined), self.names, self.mark)
            return _pandas(self._fitted(rows))

    def _fitted(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return rows with the columns of all blocks, or refuse what does not fit."""
        for name, kind in rows.schema.items():
            wanted = self.columns.schema.get(name)
            if wanted is None:
                raise MalformedError(f"the key {quote(name)} is not in the first lines")
            fits = kind in (wanted, pl.Null) or wanted == pl.String
            if not (fits or (wanted == pl.Float64 and kind == pl.Int64)):
                raise MalformedError(f"{name} must be {wanted}, as in the first lines, got {kind}")
        whole = pl.concat([self.columns, rows], how="diagonal_relaxed")
        return whole.cast(self.columns.schema)


def _check_block(block: Any) -> Any:
    """Return a block of Parquet, or refuse it if a column is damaged."""
    for name in block.columns:
        read_column(name, pa.array(block[name]))
    return block


def _pandas(rows: pl.DataFrame) -> Any:
    return rows.to_pandas(use_pyarrow_extension_array=True)


# Writing.


def _written(
    answered: Any, folder: Path, job: BatchJob, client: Any, watch: Watch | None
) -> dict[Path, tuple[int, int, int]]:
    """Return the file of each block, in order, with its rows, errors and bytes."""
    delayed, as_completed = import_module("dask").delayed, import_module("distributed").as_completed
    blocks = answered.to_delayed()
    files = [folder / f"part.{number:08}.{job.target.name}" for number in range(len(blocks))]
    write = delayed(_write, pure=False)
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
        raise IllegalError(f"the cluster cannot answer it: {explain_error(error)}") from error
    finally:
        client.cancel(futures)
    return {file: done[future] for file, future in zip(files, futures, strict=True)}


def _write(block: Any, file: Path, job: BatchJob, *, is_first: bool) -> tuple[int, int, int]:
    """Write an answered block, and return its rows, errors and bytes."""
    rows = pl.from_pandas(block).cast(pl.Schema(job.asked.schema))  # a column may have nulls alone
    with open_atomically(file) as opened:
        job.write(rows, opened, is_first=is_first)
        opened.flush()
        size = os.fstat(opened.fileno()).st_size
    return rows.height, rows.height - rows[ERROR].null_count(), size


def _join(files: Iterable[Path], target: Path, size: int) -> None:
    """Write files one after the other into one."""
    with open_atomically(target) as whole:
        for file in files:
            with file.open("rb") as part:
                shutil.copyfileobj(part, whole)
        if whole.tell() != size:
            raise IllegalError(f"the blocks must have {size:,} bytes, got {whole.tell():,}")


def _name_folder(folder: Path, target: Path, files: Collection[Path], rows: int) -> None:
    """Give a folder of Parquet its name, which nothing else may have."""
    for other in {*folder.iterdir()} - {*files}:  # what a killed worker has begun
        other.unlink()
    if (found := pl.scan_parquet([*files]).select(pl.len()).collect().item()) != rows:
        raise IllegalError(f"the blocks must have {rows:,} rows, got {found:,}")
    try:
        folder.rename(target)
    except OSError as error:
        raise IllegalError(f"cannot write {quote_path(target)}: {explain_error(error)}") from None
