"""Run: a file answered in memory, in one process, or handed to a cluster.

The target is written under a random name, and gets its own when it is complete. So two runs with
one target, or one that is killed, leave a complete file or the old one.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any

import polars as pl

from iacta.batch.files import LONGEST_LINE, BatchJob, Done, read_format
from iacta.batch.rows import ERROR, answers, read_question
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
) -> Done:
    """Answer a question for each row of a file, and write the rows with their answers.

    source: the file that is read: CSV, JSON lines, Excel, Parquet or Arrow, as its content says; or
        `-`.
    target: the file that is written, in the format of its ending; `-` is written in the format of
        the source.
    question, columns, given: as for `answer`.
    client: a Dask client, whose workers read, answer and write the file in blocks; `None` for
        this process, in memory.
    watch: receives progress.

    An existing target is replaced once the output is complete; the Parquet of a cluster is a new
    folder. Files that cannot be read or written are refused, and so is whatever `answer` refuses.
    """
    asked = read_question(question, columns, given)
    to = read_path(target, "target")
    if str(to) != STREAM:
        read_format(to)
        check_writable(to)  # before anything is answered
    file = read_path(source, "source")
    if str(file) != STREAM and to.exists() and file.exists() and to.samefile(file):
        raise IllegalError(f"the source and the target are the same file, {quote_path(to)}")
    if client is not None:
        from iacta.batch.cluster import answer_blocks  # of another extra

        return answer_blocks(file, to, asked, client, watch)
    with add_file_name(file, "batch"), Tabular(file, LONGEST_LINE) as table:
        job = BatchJob.of(table, to, asked)
        rows = job.checked(job.read(table))
        job = job.marked(table.delimiter)
    found = [asked.none]
    for part in rows.iter_slices(asked.part_rows):
        found.append(answers(part, asked))
        if watch is not None:
            done = sum(each.height for each in found)
            watch(f"{done:,} rows done", done / rows.height)
    answered = rows.hstack(pl.concat(found, rechunk=True))
    if str(to) == STREAM:
        stream: Any = getattr(sys.stdout, "buffer", None)
        if stream is None:
            raise IllegalError("standard output takes no bytes")
        job.write(answered, stream)
        stream.flush()
    else:
        with open_atomically(to) as opened:
            job.write(answered, opened)
    return Done(answered.height, answered.height - answered[ERROR].null_count())
