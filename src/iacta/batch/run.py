"""Batches of files, in memory or on a cluster.

The target is replaced atomically. If a run is killed, the old file remains. If two runs write to
the same target, the file of one of them remains.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any

import polars as pl

from iacta.batch.files import MAX_LINE_BYTES, BatchJob, BatchResult, find_format
from iacta.batch.rows import ERROR, answer_rows, read_question
from iacta.forms.question import Watch
from iacta.inputs.errors import IllegalError
from iacta.inputs.files import (
    STREAM,
    add_file_name,
    check_writable,
    open_atomically,
    quote_path,
    read_path,
)
from iacta.inputs.tabular import Tabular


def answer_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    question: str = "battle",
    *,
    columns: Sequence[str] | None = None,
    client: Any = None,
    watch: Watch | None = None,
    **given: Any,
) -> BatchResult:
    """Answer a question for each row of a file; write the rows with their answers.

    source: a file in CSV, JSON lines, Excel, Parquet or Arrow, detected from its content; or `-`
        for standard input.
    target: a file whose suffix determines the format; or `-` for standard output in the format of
        the source.
    question, columns, given: see `answer`.
    client: a Dask client whose workers process the file block by block; `None` to process it in
        memory.
    watch: a callback for progress.

    An existing target is replaced once the output is complete. A cluster writes Parquet into a new
    folder. Errors are raised as by `answer`.
    """
    asked = read_question(question, columns, given)
    to = read_path(target, "target")
    if str(to) != STREAM:
        find_format(to)
        check_writable(to)
    file = read_path(source, "source")
    if str(file) != STREAM and to.exists() and file.exists() and to.samefile(file):
        raise IllegalError(f"the source and the target are the same file, {quote_path(to)}")
    if client is not None:
        from iacta.batch.cluster import answer_blocks  # needs the extra `cluster`

        return answer_blocks(file, to, asked, client, watch)
    with add_file_name(file, "batch"), Tabular(file, MAX_LINE_BYTES) as table:
        job = BatchJob.for_table(table, to, asked)
        rows = job.check_rows(job.read(table))
        job = job.replace_delimiter(table.delimiter)
    found = [asked.empty_frame]
    for part in rows.iter_slices(asked.part_rows):
        found.append(answer_rows(part, asked))
        if watch is not None:
            done = sum(each.height for each in found)
            watch(f"{done:,} rows done", done / rows.height)
    answered = rows.hstack(pl.concat(found, rechunk=True))
    if str(to) == STREAM:
        stream: Any = getattr(sys.stdout, "buffer", None)
        if stream is None:
            raise IllegalError("standard output does not accept bytes")
        job.write(answered, stream)
        stream.flush()
    else:
        with open_atomically(to) as opened:
            job.write(answered, opened)
    return BatchResult(answered.height, answered.height - answered[ERROR].null_count())
