"""Run: a file of questions answered part by part, here or on other machines.

Parts are read one after another, answered by whatever takes them, and written in their order; only
a few are in memory at a time. Beside the target stands a folder in which each answered part is kept
until the whole is written, so that a run which was killed can go on.
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
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.metadata import version
from itertools import chain, islice
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.ipc

from iacta.answers.question import Watch
from iacta.batch.files import TEXT, Format, Source, Target, read_format
from iacta.batch.parts import HEAD, Job, answer_part, answer_sent, head_types, part_errors, sent
from iacta.batch.rows import Asked, read_asked
from iacta.checks import shown, whole_number
from iacta.errors import IllegalError, MissingError
from iacta.files import STREAM, check_writable, named, read_path, write_whole

__all__ = ["Done", "answer_file", "cluster", "kept_parts"]

KEPT = ".iacta-parts"  # the ending of the folder with the parts that are done
QUICK = ("battle", "roll")  # whose parts are answered in the time that reading and writing take
MOST_RESTARTS = 3  # of workers that are killed, without a part that is done between them
USUAL_WIDTH = 8  # workers of an executor that does not say how many it has
AHEAD = 2  # parts for each worker that are read before they are needed
ADDRESS = re.compile(r"[a-z]+://[^\s/]+:[0-9]+")
LONGEST_GREETING = 10  # seconds until a cluster must have answered


class Done(NamedTuple):
    """What a run has done.

    rows: how many rows were answered.
    errors: how many of them have an error.
    parts: in how many parts.
    resumed: how many of these an earlier run had done.
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

    source: the file that is read: CSV, JSON lines, Parquet or Arrow by its ending; or `-`.
    target: the file that is written, likewise; `-` is written in the format of the source.
    question, columns, given: as for `answer`.
    workers: how many processes answer; `None` for all cores.
    executor: what answers instead, such as Dask's `Client.get_executor()`; `workers` is how many it
        has.
    resume: whether to go on where a run of the same question was stopped.
    part_rows: how many rows are answered at once; `None` for as many as take seconds at most.
    watch: receives progress.

    What is written depends on the source and the question alone, to the last byte, and not on who
    answers or on the size of parts. A target that exists is replaced when all is done. Files that
    cannot be read or written, and what `answer` refuses, are refused.
    """
    begun = time.monotonic()
    asked = read_asked(question, columns, given)
    rows = asked.part_rows if part_rows is None else whole_number(part_rows, "part_rows", least=1)
    count = None if workers is None else whole_number(workers, "workers", least=1)
    to = read_path(target, "target")
    if str(to) != STREAM:
        read_format(to)
        check_writable(to, "the target")  # before anything is answered
    with Source(read_path(source, "source")) as read:
        if not read.is_stream and to.exists() and to.samefile(read.file):
            raise IllegalError(f"the target must be another file than the source, got {named(to)}")
        job = _job(read, to, asked)
        parts = iter(read.parts(rows))
        first = [*islice(parts, 2)]
        make, width = _makes(job, count, executor, is_short=len(first) < 2)
        with (
            _engine(make, width, is_own=executor is None) as engine,
            _writing(read, to, job, rows, resume=resume) as out,
        ):
            done = _answered(chain(first, parts), job, engine, out, read, watch)
    return done._replace(seconds=time.monotonic() - begun)


def _job(read: Source, target: Path, asked: Asked) -> Job:
    """Return what is done with each part."""
    to = Format(read.format.name) if str(target) == STREAM else read_format(target)
    types: dict[str, str] = {}
    if read.format.name == "jsonl":
        types = head_types(read.head(HEAD).column(TEXT).to_pylist())
        asked.parameters([*types])  # which may refuse them
    else:
        asked.parameters(read.schema.names)
        for field in read.schema if to.is_text else ():
            if kind := _unfit(field.type, to):
                raise IllegalError(
                    f"columns must be such that {to.name} can hold them, got {shown(field.name)} "
                    f"of {kind}"
                )
    return Job(asked, read.format, to, () if to.name == "jsonl" else tuple(types.items()))


def _unfit(kind: pa.DataType, to: Format) -> pa.DataType | None:
    """Return the part of a type that a text format does not hold, `None` if it holds all."""
    is_bytes = any(word in str(kind).split("[")[0] for word in ("binary", "decimal256"))
    inner = [kind.field(n).type for n in range(kind.num_fields)]
    if not inner and (is_bytes or (pa.types.is_duration(kind) and to.name == "csv")):
        return kind
    return next(filter(None, (_unfit(each, to) for each in inner)), None)


def _answered(
    parts: Iterable[pa.Table],
    job: Job,
    engine: "_Engine",
    out: "_Output",
    read: Source,
    watch: Watch | None,
) -> Done:
    """Answer parts and write them in their order; return what is done."""
    waiting: deque[_Waiting] = deque()
    done = Done()
    for number, part in enumerate(parts):
        is_kept = out.has(number)
        future = None if is_kept else engine.submit(part, job)
        waiting.append(_Waiting(number, part, read.done, future))
        if len(waiting) > engine.width * AHEAD:
            done = _taken(waiting, done, job, engine, out, watch)
    while waiting:
        done = _taken(waiting, done, job, engine, out, watch)
    return done


class _Waiting(NamedTuple):
    """A part that is being answered.

    number: its place.
    part: its rows.
    read: which part of the source ends with it, `None` if that is not known.
    future: its answer, `None` if an earlier run has kept it.
    """

    number: int
    part: pa.Table
    read: float | None
    future: "Future[pa.Table] | None"


def _taken(
    waiting: "deque[_Waiting]",
    done: Done,
    job: Job,
    engine: "_Engine",
    out: "_Output",
    watch: Watch | None,
) -> Done:
    """Write the first of the parts that wait; return what is done then."""
    while True:
        first = waiting[0]
        try:
            table = out.load(first.number) if first.future is None else first.future.result()
            break
        except BrokenExecutor:  # a worker was killed, and what the others had begun is lost too
            engine.restart()
            for place, each in enumerate(waiting):
                if each.future is not None and (not each.future.done() or each.future.exception()):
                    waiting[place] = each._replace(future=engine.submit(each.part, job))
    waiting.popleft()
    engine.is_alive()
    if first.future is not None:
        out.keep(first.number, table)
    for each in waiting:  # if this run is killed, they are not done again
        if each.future is not None and each.future.done() and not each.future.exception():
            out.keep(each.number, each.future.result())
    out.write(table)
    rows = done.rows + first.part.num_rows
    if watch is not None:
        watch(f"{rows:,} rows answered", first.read)
    return done._replace(
        rows=rows,
        errors=done.errors + part_errors(table),
        parts=done.parts + 1,
        resumed=done.resumed + (first.future is None),
    )


# Who answers.


class _Here(Executor):
    """Answers at once, in this process."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **named_args: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*args, **named_args))
        return future


def _makes(
    job: Job, workers: int | None, executor: Executor | None, *, is_short: bool
) -> tuple[Callable[[], Executor], int]:
    """Return what makes the executor, and how many parts it answers at once.

    is_short: whether there is one part at most.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    number = workers or cores or 1
    if executor is not None:
        return lambda: executor, workers or USUAL_WIDTH
    if is_short or number == 1:
        return _Here, 1
    if workers is None and job.asked.question in QUICK:
        return partial(ThreadPoolExecutor, number), number
    fresh = multiprocessing.get_context("spawn")
    return partial(ProcessPoolExecutor, number, fresh, _begin_worker), number


def _begin_worker() -> None:
    """Leave Ctrl-C to the process that began this one, and end with it even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


class _Engine:
    """What answers parts.

    make: makes it, and anew when its workers have been killed.
    width: how many parts it answers at once.
    is_own: whether it was made here.
    """

    def __init__(self, make: Callable[[], Executor], width: int, *, is_own: bool) -> None:
        self.make, self.width, self.is_own = make, width, is_own
        self.executor = make()
        self.restarts = 0

    def submit(self, part: pa.Table, job: Job) -> "Future[pa.Table]":
        """Have a part answered."""
        if isinstance(self.executor, _Here | ThreadPoolExecutor):
            return self.executor.submit(answer_part, part, job)
        try:
            return self.executor.submit(answer_sent, sent(part), job)
        except BrokenExecutor:
            self.restart()
            return self.executor.submit(answer_sent, sent(part), job)

    def is_alive(self) -> None:
        """Take note that a part is done."""
        self.restarts = 0

    def restart(self) -> None:
        """Begin anew with new workers, or refuse that if they end again and again."""
        self.restarts += 1
        if not self.is_own or self.restarts > MOST_RESTARTS:
            raise IllegalError("workers must stay alive, got them killed again and again")
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self.make()


@contextmanager
def _engine(make: Callable[[], Executor], width: int, *, is_own: bool) -> Iterator[_Engine]:
    """Make what answers, and end it; at once if not all is done."""
    others = {*multiprocessing.active_children()}
    engine = _Engine(make, width, is_own=is_own)
    try:
        yield engine
    except BaseException:
        if is_own:
            engine.executor.shutdown(wait=False, cancel_futures=True)
            for each in {*multiprocessing.active_children()} - others:
                each.terminate()
        raise
    if is_own:
        engine.executor.shutdown()


@contextmanager
def cluster(address: str) -> Iterator[tuple[Executor, int]]:
    """Yield the executor of a cluster of Dask that somebody keeps, and how many workers it has.

    address: that of its scheduler, such as `tcp://127.0.0.1:8786`.

    An address at which nobody answers is refused.
    """
    expected = "cluster must be the address of a Dask scheduler, such as tcp://127.0.0.1:8786"
    if not isinstance(address, str) or not ADDRESS.fullmatch(address):
        raise IllegalError(f"{expected}, got {shown(address)}")
    try:
        distributed: Any = import_module("distributed")  # an extra, which is slow to load
    except ImportError:
        raise MissingError(
            "a cluster needs Dask, which is not installed: pip install 'iacta[cluster]'"
        ) from None
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
    """The target, and beside it the parts that are done.

    target: what is written.
    folder: where parts are kept, `None` where nothing is.
    """

    def __init__(self, target: Target, folder: Path | None) -> None:
        self.target, self.folder = target, folder
        self.kept = set()
        if folder is not None:
            self.kept = {int(each.stem) for each in folder.glob("*.arrow") if each.stem.isdigit()}
        self.earlier = frozenset(self.kept)

    def has(self, number: int) -> bool:
        """Return whether an earlier run has done a part."""
        return number in self.earlier

    def keep(self, number: int, table: pa.Table) -> None:
        """Keep a part that is done."""
        if self.folder is None or number in self.kept:
            return
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        write_whole(self._file(number), sink.getvalue().to_pybytes(), "the folder of the parts")
        self.kept.add(number)

    def load(self, number: int) -> pa.Table:
        """Return a part that was kept."""
        with pa.memory_map(str(self._file(number))) as file:
            return pa.ipc.open_file(file).read_all()

    def write(self, table: pa.Table) -> None:
        """Write the next part."""
        self.target.write(table.replace_schema_metadata())

    def _file(self, number: int) -> Path:
        return (self.folder or Path()) / f"{number:08}.arrow"


@contextmanager
def _writing(read: Source, target: Path, job: Job, rows: int, *, resume: bool) -> Iterator[_Output]:
    """Open the target; a run that is not finished leaves it as it was, and keeps the parts done."""
    schema = answer_part(read.schema.empty_table(), job).schema.remove_metadata()
    header = job.header(read.schema)
    if str(target) == STREAM or (target.exists() and not (target.is_file() or target.is_dir())):
        if resume:
            raise IllegalError("resume must stand with a file that is written, got a pipe")
        with ExitStack() as stack:
            stream: Any = getattr(sys.stdout, "buffer", None)
            if str(target) != STREAM:
                stream = stack.enter_context(target.open("wb"))
            elif stream is None:
                raise IllegalError("standard output must be one that takes bytes")
            written = Target(stream, job.target, schema, header, is_pipe=True)
            yield _Output(written, None)
            written.close()
            stream.flush()
        return
    place, folder = target.resolve(), _folder(target)
    with _refusing(target):
        _begin(folder, _told(read, job, rows), resume=resume)
        part = folder / "whole"
        with suppress(FileNotFoundError):
            part.unlink()
        stream = part.open("xb")
        written = Target(stream, job.target, schema, header, is_pipe=False)
        out = _Output(written, folder)
        try:
            yield out
            written.close()
            stream.close()
            if place.exists():
                part.chmod(place.stat().st_mode)
            part.replace(place)
        except BaseException:
            written.abandon()
            stream.close()
            part.unlink(missing_ok=True)
            if not out.kept:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder)


@contextmanager
def _refusing(target: Path) -> Iterator[None]:
    """Say in one sentence what the system says of a place that cannot be written."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise IllegalError(
            f"the target must be one that can be written, got {named(target)}: {reason}"
        ) from None


def _folder(target: Path) -> Path:
    """Return the place of the folder with the parts of a target that are done."""
    place = target.resolve()
    return place.with_name(f".{place.name}{KEPT}")


def kept_parts(target: str | os.PathLike[str]) -> int:
    """Return how many parts of a target an earlier run has done."""
    return len([*_folder(Path(target)).glob("*.arrow")])


def _told(read: Source, job: Job, rows: int) -> dict[str, Any]:
    """Return what tells one run from another."""
    about = None if read.is_stream else read.file.stat()
    return {
        "iacta": version("iacta"),
        "question": job.asked.key,
        "source": str(read.file.resolve()),
        "size": about and about.st_size,
        "changed": about and about.st_mtime_ns,
        "formats": [*job.source, *job.target],
        "rows": rows,
    }


def _begin(folder: Path, told: dict[str, Any], *, resume: bool) -> None:
    """Make the folder for the parts of a run, or take up that of the same run."""
    about = folder / "run.json"
    if folder.is_symlink():
        raise IllegalError(f"the folder of the parts must not be a link, got {named(folder)}")
    if resume and folder.exists():
        if told["size"] is None:
            raise IllegalError("resume must stand with a file that is read, got a pipe")
        try:
            same = json.loads(about.read_text(encoding="utf-8")) == told
        except (FileNotFoundError, ValueError):
            same = False
        if not same:
            raise IllegalError(
                "resume must go on with the same question, files and part_rows, got others; "
                "without it all is done anew"
            )
        return
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    about.write_text(json.dumps(told), encoding="utf-8")
