"""The functions that worker processes run to compute answers or parts of answers.

A worker process runs `serve`, which reads jobs from a socket and sends progress and results. It
reads and writes no files for clients. Results are complete response bodies in bytes, so the main
process parses no requests and writes no JSON or pages.
"""

import csv
import gc
import io
import json
import os
import pickle
import signal
import socket
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from multiprocessing import parent_process
from multiprocessing.connection import wait
from threading import Thread
from time import monotonic
from typing import Any, Literal, NamedTuple, TypeAlias

from iacta.charts.converter import WARM_UP_SPEC, convert
from iacta.forms.question import Answer, Question, Recordable, Watch
from iacta.inputs.checks import quote
from iacta.inputs.csv_formulas import escape_formulas
from iacta.inputs.errors import IactaError, MalformedError
from iacta.inputs.json_and_toml import parse_json
from iacta.web.limits import (
    MAX_ANSWER_BYTES,
    MAX_CACHED_ANSWERS,
    MAX_PLAN_SECONDS,
    MAX_PROCESS_BYTES,
    MAX_RESIDENT_BYTES,
    MIN_CACHED_SECONDS,
    MIN_PAUSE,
    USUAL_PLAN_SECONDS,
)
from iacta.web.no_files import seal
from iacta.web.read_question import list_served_questions, read_address, read_record

Part: TypeAlias = Literal["record", "rows", "spec", "svg", "dark_svg"]
Given: TypeAlias = bytes | Sequence[tuple[str, str]]

MAX_EXACT = 2**53  # floats represent all smaller integers exactly
FORMS = list_served_questions()  # loaded at import, so that the first question is not slower


class Job(NamedTuple):
    """A task for a worker process.

    function: a function at the top level of a module.
    args: the arguments of the function.
    is_watched: whether the function reports progress to its argument `watch`.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    is_watched: bool = False


class Progress(NamedTuple):
    """The progress of a job.

    doing, part, keeps: the arguments of a `Watch`.
    so_far: the partial answer as JSON.
    """

    doing: str
    part: float | None
    keeps: bool
    so_far: str | None = None


class Reply(NamedTuple):
    """The result of a job.

    result: the return value of the function.
    error: the exception that the function raised; `None` if it succeeded.
    is_worn: whether the process must be replaced because it uses too much memory.
    """

    result: Any
    error: Exception | None
    is_worn: bool


class Page(NamedTuple):
    """A page, as a complete response.

    body: the HTML.
    status: the HTTP status.
    """

    body: bytes
    status: int = 200


READY = Reply(None, None, is_worn=False)


class StoppedError(IactaError):
    """Raised if a job is interrupted before it has an answer."""

    def __init__(self, sentence: str = "the work was stopped before there was an answer") -> None:
        super().__init__(sentence)


class FailedError(Exception):
    """A bug in iacta. The message is for the server log only."""


def parse_body(body: bytes) -> dict[str, Any]:
    """Parse the body of a request as a JSON object."""
    try:
        record = parse_json(body.decode())
    except UnicodeDecodeError:
        raise MalformedError("the body is not UTF-8") from None
    except IactaError as error:
        raise MalformedError(f"the body: {error}") from None
    if not isinstance(record, dict):
        raise MalformedError(f"the body must be a JSON object, got {quote(record)}")
    return {name: _convert_whole_floats(value) for name, value in record.items()}


def _convert_whole_floats(value: Any) -> Any:
    """Convert floats such as 3.0 to integers, because JSON does not distinguish these types."""
    if isinstance(value, dict):
        return {name: _convert_whole_floats(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_convert_whole_floats(part) for part in value]
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < MAX_EXACT
    return int(value) if is_whole else value


def answer_within_limits(question: Question, watch: Watch | None = None) -> Answer:
    """Answer a question within the time limits of the server.

    question: the question.
    watch: a callback for progress.

    The default time limit is 2 seconds for a search and 20 seconds for a review. The maximum time
    limit is 20 seconds.
    """
    if any(parameter.name == "time_limit" for parameter in question.parameters()):
        given = getattr(question, "time_limit", None)
        usual = USUAL_PLAN_SECONDS if question.is_search else MAX_PLAN_SECONDS
        limit = min(Fraction(usual if given is None else given), Fraction(MAX_PLAN_SECONDS))
        changed: dict[str, Any] = {"time_limit": limit}
        question = replace(question, **changed)
    if question in _kept:
        _kept.move_to_end(question)
        return _kept[question]
    begun = monotonic()
    answer = question.answer(watch)
    if monotonic() - begun > MIN_CACHED_SECONDS:
        _kept[question] = answer
        if len(_kept) > MAX_CACHED_ANSWERS:
            _kept.popitem(last=False)
    return answer


_kept: OrderedDict[Question, Answer] = OrderedDict()


def write_part(answer: Answer, part: Part) -> str:
    """Return a part of an answer as text.

    answer: the answer.
    part: `"record"` for JSON, `"rows"` for CSV, `"svg"` or `"dark_svg"` for a picture on a light or
        dark background, or `"spec"` for the Vega-Lite specification of the picture.
    """
    if part == "record":
        return json.dumps(answer.record())
    if part == "rows":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(escape_formulas(answer.rows()))
        return text.getvalue()
    kind = "json" if part == "spec" else "svg"
    picture: bytes = answer.plot().content(kind, dark=part == "dark_svg")
    return picture.decode()


def answer_part(name: str, given: Given, part: Part, watch: Watch | None = None) -> bytes:
    """Answer a question and return a part of the answer.

    name: the name of the question.
    given: the body of a request, or the names and values of a query.
    part: the part to return; see `write_part`.
    watch: a callback for progress.

    Raises `IactaError` for an invalid parameter.
    """
    form = FORMS[name]
    try:
        question = (
            read_record(form, parse_body(given))
            if isinstance(given, bytes)
            else read_address(form, given)
        )
        if part in ("spec", "svg", "dark_svg"):
            question.check_chart()
        return write_part(answer_within_limits(question, watch), part).encode()
    except IactaError as error:
        error.parameter = form.find_faulty_parameter(error)
        raise


def answer_json(function: Callable[..., Mapping[str, Any]], body: bytes) -> bytes:
    """Call a function with the JSON object in a request body; return the result as JSON.

    function: a function of a JSON object.
    body: the body of the request.
    """
    return json.dumps(function(parse_body(body))).encode()


def write_vega_script() -> bytes:
    """Return the script that draws charts in browsers."""
    return convert("", "html")


def serve(link: socket.socket, niceness: int, draws: bool) -> None:
    """Run jobs that arrive through a socket until it is closed.

    link: the socket. It receives pickled jobs; it sends `READY`, progress and replies, each after
        its length.
    niceness: the niceness of the process; greater numbers mean lower priority.
    draws: whether to draw a picture before the first job, because the first picture takes half a
        second.

    The process ignores Ctrl-C. `SIGUSR1` interrupts a job as Ctrl-C interrupts a command: a search
    then returns the best plan so far. The process has no stderr, because V8 prints its native stack
    when it aborts, and clients could fill the log with such stacks.
    """
    seal()
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    is_busy = False

    def stop(*_: object) -> None:
        if is_busy:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        import resource

        signal.signal(signal.SIGUSR1, stop)
        resource.setrlimit(resource.RLIMIT_DATA, (MAX_PROCESS_BYTES, MAX_PROCESS_BYTES))
        os.nice(niceness)
    Thread(target=_end_with_parent, daemon=True).start()
    gc.freeze()
    jobs = link.makefile("rb")

    def send(message: Progress | Reply) -> None:
        text = pickle.dumps(message)
        link.sendall(len(text).to_bytes(8) + text)

    if draws:
        with suppress(Exception):  # the first picture will raise the same error
            convert(json.dumps(WARM_UP_SPEC), "svg")
    send(READY)
    with suppress(EOFError, OSError):
        while True:
            job: Job = pickle.load(jobs)  # noqa: S301 # from the server
            result: Any = None
            error: Exception | None = None
            is_busy = True
            try:
                result = _check_size(_do_job(job, send))
            except KeyboardInterrupt:
                error = StoppedError()
            except Exception as raised:
                error = _make_sendable(raised)
            finally:
                is_busy = False
            send(Reply(result, error, _has_high_memory_use()))
            if niceness:
                result = None
                gc.collect()  # free reference cycles


def _check_size(result: Any) -> Any:
    """Return a result; raise `IactaError` if it is larger than `MAX_ANSWER_BYTES`."""
    body = result.body if isinstance(result, Page) else result
    size = len(body) if isinstance(body, bytes) else 0
    if size > MAX_ANSWER_BYTES:
        raise IactaError(
            f"the answer is {size:,} bytes long, but the server sends at most "
            f"{MAX_ANSWER_BYTES:,} bytes; ask for less, or use the command line"
        )
    return result


def _do_job(job: Job, send: Callable[[Progress], None]) -> Any:
    if not job.is_watched:
        return job.function(*job.args)
    # Progress reports and partial answers have separate rate limits.
    reported = {False: -MIN_PAUSE, True: -MIN_PAUSE}

    def watch(
        doing: str, part: float | None, *, keeps: bool = False, so_far: Recordable | None = None
    ) -> None:
        if monotonic() - reported[so_far is not None] >= MIN_PAUSE:
            record = None if so_far is None else json.dumps(so_far.record())
            send(Progress(doing, part, keeps, record))
            reported[so_far is not None] = monotonic()

    return job.function(*job.args, watch=watch)


def _make_sendable(error: Exception) -> Exception:
    """Convert an exception for pickling: to an `IactaError`, or to a `FailedError` for the log."""
    if isinstance(error, MemoryError):
        return IactaError("these numbers need more memory than the server allows")
    if not isinstance(error, IactaError):
        import traceback

        return FailedError("".join(traceback.format_exception(error)))
    return IactaError(str(error), parameter=error.parameter)


def _has_high_memory_use() -> bool:
    if sys.platform == "win32":
        return False
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MAX_RESIDENT_BYTES


def _end_with_parent() -> None:
    """End this process when the main process ends."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
