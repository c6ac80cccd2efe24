"""Run: a file of questions answered part by part, here or on other machines.

Parts are read one after another, answered by any executor, and written in their order; only a few
are in memory at a time. A folder beside the target keeps each answered part, with a checksum, until
the output is complete, so that a run that was killed can be resumed.
"""

import json
import multiprocessing
import os
import re
import shutil
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import ExitStack, contextmanager
from functools import partial
from hashlib import file_digest, sha256
from importlib import import_module
from importlib.metadata import version
from itertools import chain, islice
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.ipc

from iacta.batch.files import BatchSource, BatchTarget, FileFormat, read_format
from iacta.batch.parts import (
    HEAD,
    BatchJob,
    answer_part,
    answer_sent,
    head_types,
    part_errors,
    sent,
)
from iacta.batch.rows import Asked, read_asked
from iacta.checks import shown, whole_number
from iacta.errors import IllegalError, TooLargeError, missing
from iacta.files import (
    STREAM,
    check_writable,
    named,
    put_in_place,
    read_path,
    reason_of,
    write_whole,
)
from iacta.questions.form import ClashError
from iacta.questions.question import Watch
from iacta.tabular import MOST_COLUMNS

KEPT = ".iacta-parts"  # the ending of the folder with the parts that are done
CHECKSUM = 32  # bytes at the beginning of a kept part
QUICK = ("battle", "roll")  # answered as fast as rows are read and written
MOST_RESTARTS = 3  # of killed workers, with no part done between them
USUAL_WIDTH = 8  # workers of an executor of unknown size
AHEAD = 2  # parts per worker that are read in advance
ADDRESS = re.compile(r"[a-z]+://[^\s/]+:[0-9]+")
LONGEST_GREETING = 10  # seconds in which a cluster must answer


class Done(NamedTuple):
    """The result of a run.

    rows: the number of rows.
    errors: the number of rows with an error.
    parts: the number of parts.
    resumed: the number of parts that an earlier run had answered.
    seconds: how long it took.
    """

    rows: int = 0
    errors: int = 0
    parts: int = 0
    resumed: int = 0
    seconds: float = 0.0


def answer_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    question: str = "battle",
    *,
    columns: Sequence[str] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    resume: bool = False,
    part_rows: int | None = None,
    watch: Watch | None = None,
    **given: Any,
) -> Done:
    """Answer a question for each row of a file, and write the rows with their answers.

    source: the file that is read: CSV, JSON lines, Excel, Parquet or Arrow, as its content says; or
        `-`.
    target: the file that is written, in the format of its ending; `-` is written in the format of
        the source.
    question, columns, given: as for `answer`.
    workers: how many processes answer; `None` for all cores.
    executor: answers instead, such as Dask's `Client.get_executor()`; `workers` is its size.
    resume: whether to continue a run with the same question and files that was stopped.
    part_rows: rows per part; `None` for as many as take at most a few seconds.
    watch: receives progress.

    The output depends on the source and the question alone, to the last byte, and not on the
    workers or the size of the parts. An existing target is replaced once the output is complete.
    Files that cannot be read or written are refused, and so is whatever `answer` refuses.
    """
    begun = time.monotonic()
    asked = read_asked(question, columns, given)
    rows = asked.part_rows if part_rows is None else whole_number(part_rows, "part_rows", least=1)
    count = None if workers is None else whole_number(workers, "workers", least=1)
    to = read_path(target, "target")
    if str(to) != STREAM:
        read_format(to)
        check_writable(to)  # before anything is answered
    done = Done()
    with BatchSource(read_path(source, "source")) as read:
        if not read.is_stream and to.exists() and to.samefile(read.file):
            raise IllegalError(f"the source and the target are the same file, {named(to)}")
        job = _job(read, to, asked)
        parts = iter(read.parts(rows))
        first = [*islice(parts, 2)]
        with (
            _Workers(job, count, executor, is_short=len(first) < 2) as answering,
            _writing(read, to, job, rows, resume=resume) as out,
        ):
            for each in _answered(chain(first, parts), job, answering, out, read):
                table = each.answer.result()
                out.target.write(table.replace_schema_metadata())
                done = done._replace(
                    rows=done.rows + each.part.num_rows,
                    errors=done.errors + part_errors(table),
                    parts=done.parts + 1,
                )
                if watch is not None:
                    watch(f"{done.rows:,} rows done", each.share)
    return done._replace(resumed=out.resumed, seconds=time.monotonic() - begun)


def _job(read: BatchSource, target: Path, asked: Asked) -> BatchJob:
    to = FileFormat(read.format.name) if str(target) == STREAM else read_format(target)
    if read.format.name == to.name == "csv":
        to = to._replace(mark=read.format.mark)
    names, types = read.names, dict.fromkeys(read.names, "text")
    if read.format.name == "jsonl":
        types = head_types(read.head(HEAD))
        names = [*types]
    if len(names) > MOST_COLUMNS:
        raise TooLargeError(f"there must be at most {MOST_COLUMNS} columns, got {len(names)}")
    asked.parameters(names)  # which may refuse them
    for field in read.schema if to.is_text or to.name == "excel" else ():
        if kind := _unfit(field.type, to):
            raise IllegalError(f"{to.name} cannot hold the column {shown(field.name)} of {kind}")
    is_kept = not read.format.is_text or read.format.name == to.name == "jsonl"
    return BatchJob(asked, read.format, to, () if is_kept else tuple(types.items()))


def _unfit(kind: pa.DataType, to: FileFormat) -> pa.DataType | None:
    """Return the part of a type that a format cannot hold, `None` if it can hold all."""
    is_bytes = any(word in str(kind).split("[")[0] for word in ("binary", "decimal256"))
    inner = [kind.field(n).type for n in range(kind.num_fields)]
    if not inner and (is_bytes or (pa.types.is_duration(kind) and to.name != "jsonl")):
        return kind
    return next(filter(None, (_unfit(each, to) for each in inner)), None)


class _Waiting(NamedTuple):
    """A part that is being answered, and how much of the source has been read up to its end."""

    number: int
    part: pa.Table
    share: float | None
    answer: "Future[pa.Table]"

    @property
    def is_answered(self) -> bool:
        return self.answer.done() and not self.answer.exception()


def _answered(
    parts: Iterable[pa.Table], job: BatchJob, workers: "_Workers", out: "_Output", read: BatchSource
) -> Iterator[_Waiting]:
    """Yield parts in their order, each once it is answered."""
    numbered = enumerate(parts)
    waiting: deque[_Waiting] = deque()
    while True:
        for number, part in islice(numbered, 1 + workers.width * AHEAD - len(waiting)):
            answer = out.load(number) or workers.submit(part, job)
            waiting.append(_Waiting(number, part, read.done, answer))
        if not waiting:
            return
        try:
            waiting[0].answer.result()
        except BrokenExecutor:  # a worker was killed, and what the others had begun is lost
            workers.restart()
            for place, each in enumerate(waiting):
                if not each.is_answered:
                    waiting[place] = each._replace(answer=workers.submit(each.part, job))
            continue
        workers.restarts = 0
        for each in waiting:  # so that a killed run need not repeat them
            if each.is_answered:
                out.keep(each.number, each.answer.result())
        yield waiting.popleft()


# Who answers.


def _finished(result: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(result)
    return future


class _Here(Executor):
    """Answers at once, in this process."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **named_args: Any) -> Future[Any]:
        return _finished(function(*args, **named_args))


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent process, and end with it even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


class _Workers:
    """The executor that answers parts, started again when its workers are killed.

    workers: how many there are; `None` for all cores.
    given: the executor to use; `None` to make one, which ends with the `with` block.
    is_short: whether there is at most one part.
    """

    def __init__(
        self, job: BatchJob, workers: int | None, given: Executor | None, *, is_short: bool
    ) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self.width = workers or cores or 1
        self.is_own = given is None
        self.restarts = 0
        self._others = {*multiprocessing.active_children()}
        self._make: Callable[[], Executor]
        if given is not None:
            self.width = workers or USUAL_WIDTH
            self._make = lambda: given
        elif is_short or self.width == 1:
            self.width = 1
            self._make = _Here
        elif workers is None and job.asked.question in QUICK:
            self._make = partial(ThreadPoolExecutor, self.width)
        else:
            fresh = multiprocessing.get_context("spawn")
            self._make = partial(ProcessPoolExecutor, self.width, fresh, _begin_worker)
        self.executor = self._make()

    def __enter__(self) -> "_Workers":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """End the workers: at once after an error."""
        if not self.is_own:
            return
        self.executor.shutdown(wait=kind is None, cancel_futures=kind is not None)
        if kind is not None:
            for each in {*multiprocessing.active_children()} - self._others:
                each.terminate()

    def submit(self, part: pa.Table, job: BatchJob) -> "Future[pa.Table]":
        if isinstance(self.executor, _Here | ThreadPoolExecutor):
            return self.executor.submit(answer_part, part, job)
        try:
            return self.executor.submit(answer_sent, sent(part), job)
        except BrokenExecutor:
            self.restart()
            return self.executor.submit(answer_sent, sent(part), job)

    def restart(self) -> None:
        """Start new workers, unless they are killed again and again."""
        self.restarts += 1
        if not self.is_own or self.restarts > MOST_RESTARTS:
            raise IllegalError("the workers were killed again and again")
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._make()


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """Yield the executor of a running Dask cluster, and how many workers it has.

    address: that of its scheduler, such as `tcp://127.0.0.1:8786`.

    An address without a scheduler is refused.
    """
    expected = "cluster must be the address of a Dask scheduler, such as tcp://127.0.0.1:8786"
    if not isinstance(address, str) or not ADDRESS.fullmatch(address):
        raise IllegalError(f"{expected}, got {shown(address)}")
    try:
        distributed: Any = import_module("distributed")  # an extra, which is slow to load
    except ImportError:
        raise missing("a cluster needs Dask, which is not installed", "cluster") from None
    try:
        client = distributed.Client(address, timeout=LONGEST_GREETING, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise IllegalError(f"{expected}, got {shown(address)}: {reason}") from None
    with client:
        executor = client.get_executor(pure=False, retries=MOST_RESTARTS)
        try:
            yield executor, max(sum(client.nthreads().values()), 1)
        except BaseException:
            executor.shutdown(wait=False)
            raise
        executor.shutdown()


# Where it is written.


class _Output:
    """The target, and the folder in which answered parts are kept, `None` for no folder."""

    def __init__(self, target: BatchTarget, folder: Path | None) -> None:
        self.target, self.folder = target, folder
        self.kept: set[int] = set()
        self.resumed = 0

    def keep(self, number: int, table: pa.Table) -> None:
        if self.folder is None or number in self.kept:
            return
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        content = sink.getvalue().to_pybytes()
        write_whole(self._file(number), sha256(content).digest() + content)
        self.kept.add(number)

    def load(self, number: int) -> "Future[pa.Table] | None":
        if self.folder is None or not self._file(number).is_file():
            return None
        with self._file(number).open("rb") as file:
            checksum, content = file.read(CHECKSUM), file.read()
        if sha256(content).digest() != checksum:
            return None
        self.kept.add(number)
        self.resumed += 1
        return _finished(pa.ipc.open_file(pa.py_buffer(content)).read_all())

    def _file(self, number: int) -> Path:
        return (self.folder or Path()) / f"{number:08}.arrow"


@contextmanager
def _writing(
    read: BatchSource, target: Path, job: BatchJob, rows: int, *, resume: bool
) -> Iterator[_Output]:
    """Open the target; an unfinished run leaves it as it was, and keeps the parts that are done."""
    schema = answer_part(read.schema.empty_table(), job).schema.remove_metadata()
    header = job.header(read.schema)
    if str(target) == STREAM or (target.exists() and not (target.is_file() or target.is_dir())):
        if resume:
            raise ClashError("{resume} needs a target that is a file, got a pipe")
        with ExitStack() as stack:
            stream: Any = getattr(sys.stdout, "buffer", None)
            if str(target) != STREAM:
                stream = stack.enter_context(target.open("wb"))
            elif stream is None:
                raise IllegalError("standard output takes no bytes")
            written = BatchTarget(stream, job.target, schema, header, is_pipe=True)
            yield _Output(written, None)
            written.close()
            stream.flush()
        return
    folder = _folder(target)
    try:
        _begin(folder, read, job, rows, resume=resume)
        part = folder / "whole"
        part.unlink(missing_ok=True)
        stream = part.open("xb")
        written = BatchTarget(stream, job.target, schema, header, is_pipe=False)
        out = _Output(written, folder)
        try:
            yield out
            written.close()
            stream.close()
            put_in_place(part, target.resolve())
        except BaseException:
            written.abandon()
            stream.close()
            part.unlink(missing_ok=True)
            if not out.kept:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder)
    except (OSError, pa.ArrowException) as error:
        raise IllegalError(f"cannot write {named(target)}: {reason_of(error)}") from None


def _folder(target: Path) -> Path:
    place = target.resolve()
    return place.with_name(f".{place.name}{KEPT}")


def kept_parts(target: str | os.PathLike[str]) -> int:
    return len([*_folder(Path(target)).glob("*.arrow")])


def _begin(folder: Path, read: BatchSource, job: BatchJob, rows: int, *, resume: bool) -> None:
    """Make the folder for the parts of a run, or go on with that of the same run."""
    checksum = None
    if not read.is_stream:
        with read.file.open("rb") as source:
            checksum = file_digest(source, "sha256").hexdigest()
    identity = {
        "iacta": version("iacta"),
        "question": job.asked.key,
        "source": checksum,
        "formats": [*job.source, *job.target],
        "rows": rows,
    }
    about = folder / "run.json"
    if folder.is_symlink():
        raise IllegalError(f"the folder of the parts must not be a link, got {named(folder)}")
    if resume and folder.exists():
        if checksum is None:
            raise ClashError("{resume} needs a source that is a file, got a pipe")
        try:
            is_same = json.loads(about.read_text(encoding="utf-8")) == identity
        except (FileNotFoundError, ValueError):
            is_same = False
        if not is_same:
            raise ClashError(
                "{resume} needs the question, files and {part_rows} of the first run; omit it to "
                "start over"
            )
        return
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    write_whole(about, json.dumps(identity).encode())
