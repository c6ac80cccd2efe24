"""What a process of the server computes: the requested parts of an answer.

Such a process runs `serve`: it takes jobs from a socket, one after another, and sends back progress
and results. It neither reads nor writes files for clients.
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

from iacta.charts.converter import convert
from iacta.forms.question import Answer, Question, Recorded, Watch
from iacta.inputs.csv_formulas import csv_rows
from iacta.inputs.errors import IactaError
from iacta.questions.plan import PlanQuestion
from iacta.questions.review import ReviewQuestion
from iacta.questions.steps import StepsQuestion
from iacta.questions.threats import ThreatsQuestion
from iacta.questions.whole_game import WholeGame
from iacta.web.limits import (
    KEPT_SECONDS,
    LEAST_PAUSE,
    MOST_BYTES,
    MOST_KEPT,
    MOST_PLAN_SECONDS,
    MOST_RESIDENT,
    NICENESS,
    USUAL_PLAN_SECONDS,
)
from iacta.web.no_files import seal
from iacta.web.read_question import read_address, read_record, served_questions

Part: TypeAlias = Literal["record", "sections", "rows", "spec", "svg", "dark_svg"]
Parts: TypeAlias = dict[str, Any]

SEARCHES = (PlanQuestion, StepsQuestion, ThreatsQuestion, WholeGame)
FORMS = served_questions()  # loaded before the first question


class Job(NamedTuple):
    """A task for a process.

    function: a function of a module.
    args: its arguments.
    is_watched: whether it reports progress, to its keyword `watch`.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    is_watched: bool = False


class Progress(NamedTuple):
    """How far a job is, as a `Watch` receives it.

    so_far: the record of what has been found so far, of an answer that fills in.
    """

    doing: str
    part: float | None
    keeps: bool
    so_far: dict[str, Any] | None = None


class Reply(NamedTuple):
    """What a job came to.

    result: what its function returned.
    error: what it raised instead.
    is_worn: whether the process has had so much memory that another one should take its place.
    """

    result: Any
    error: Exception | None
    is_worn: bool


class StoppedError(IactaError):
    """The work was interrupted before there was an answer."""

    def __init__(self, sentence: str = "the work was stopped before there was an answer") -> None:
        super().__init__(sentence)


class FailedError(Exception):
    """A mistake in iacta; the text is for the server's log only."""


# Answers.


def answered(question: Question, parts: Sequence[Part], watch: Watch | None = None) -> Parts:
    """Return parts of the answer to a question, each as plain data that can be sent on.

    question: the question.
    parts: which parts: `"record"` as JSON, `"sections"` for people, `"rows"` as CSV, the picture as
        a Vega-Lite specification (`"spec"`, for a light page; a page gives it another theme) or as
        `"svg"`, or `"dark_svg"` on a dark ground.
    watch: receives progress.

    Plans are searched, and whole games played, for 2 seconds unless the question says how long, and
    for at most 20; games are reviewed for 20.
    """
    if not {"spec", "svg", "dark_svg"}.isdisjoint(parts):
        question.check_chart()
    if isinstance(question, (*SEARCHES, ReviewQuestion)):
        is_game = isinstance(question, ReviewQuestion)
        usual = MOST_PLAN_SECONDS if is_game else USUAL_PLAN_SECONDS
        limit = usual if question.time_limit is None else question.time_limit
        question = replace(question, time_limit=min(Fraction(limit), Fraction(MOST_PLAN_SECONDS)))
    answer = _answer_to(question, watch)
    return {part: _part(answer, part) for part in parts}


def _answer_to(question: Question, watch: Watch | None) -> Answer:
    if question in _kept:
        _kept.move_to_end(question)
        return _kept[question]
    begun = monotonic()
    answer = question.answer(watch)
    if monotonic() - begun > KEPT_SECONDS:
        _kept[question] = answer
        if len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return answer


_kept: OrderedDict[Question, Answer] = OrderedDict()


def _part(answer: Answer, part: Part) -> Any:
    if part == "record":
        return json.dumps(answer.record())
    if part == "sections":
        return list(answer.sections())
    if part == "rows":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(csv_rows(answer.rows()))
        return text.getvalue()
    kind = "json" if part == "spec" else "svg"
    picture: bytes = answer.plot().content(kind, dark=part == "dark_svg")
    return picture.decode()


def part_of(
    name: str,
    given: Mapping[str, Any] | Sequence[tuple[str, str]],
    part: Part,
    watch: Watch | None = None,
) -> str:
    """Return a part of the answer to a question; an error has the parameter that it is about.

    name: the name of the question.
    given: a JSON object, as `read_record` takes it, or names and texts, as `read_address` does.
    part: as `answered` takes it, one that is text.
    watch: receives progress.
    """
    form = FORMS[name]
    try:
        if isinstance(given, Mapping):
            question = read_record(form, given)
        else:
            question = read_address(form, given)
        return str(answered(question, (part,), watch)[part])
    except IactaError as error:
        error.parameter = form.about(error)
        raise


def found(name: str, given: Mapping[str, Any], watch: Watch | None = None) -> dict[str, Any]:
    """Return the record of what a search finds.

    name: the name of the question.
    given: as `read_record` takes it.
    watch: receives progress.
    """
    record: dict[str, Any] = json.loads(part_of(name, given, "record", watch))
    return record


def vega_script() -> bytes:
    """Return the script that draws charts in a browser."""
    return convert("", "html")


# The process.


def serve(link: socket.socket, is_patient: bool) -> None:
    """Do the jobs that come through a socket until it is closed.

    link: brings jobs as pickles, and takes `Progress` and a `Reply` to each, after their lengths.
    is_patient: whether its jobs may take long: then everything else on this machine goes first.

    Ctrl-C does not reach it. `SIGUSR1` interrupts a job as Ctrl-C does a command: a search
    then returns the best plan so far.
    """
    seal()
    is_busy = False

    def stop(*_: object) -> None:
        if is_busy:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        import resource

        signal.signal(signal.SIGUSR1, stop)
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
        if is_patient:
            os.nice(NICENESS)
    Thread(target=_end_with_parent, daemon=True).start()
    gc.freeze()
    jobs = link.makefile("rb")

    def send(message: Progress | Reply) -> None:
        text = pickle.dumps(message)
        link.sendall(len(text).to_bytes(8) + text)

    with suppress(EOFError, OSError):
        while True:
            job: Job = pickle.load(jobs)  # noqa: S301 # from the server
            result: Any = None
            error: Exception | None = None
            is_busy = True
            try:
                result = _done(job, send)
            except KeyboardInterrupt:
                error = StoppedError()
            except Exception as raised:
                error = _told(raised)
            finally:
                is_busy = False
            send(Reply(result, error, _is_worn()))
            if is_patient:
                result = None
                gc.collect()  # what refers to itself would be kept for long


def _done(job: Job, send: Callable[[Progress], None]) -> Any:
    if not job.is_watched:
        return job.function(*job.args)
    reported = -LEAST_PAUSE

    def watch(
        doing: str, part: float | None, *, keeps: bool = False, so_far: Recorded | None = None
    ) -> None:
        nonlocal reported
        if monotonic() - reported >= LEAST_PAUSE:
            send(Progress(doing, part, keeps, None if so_far is None else so_far.record()))
            reported = monotonic()

    return job.function(*job.args, watch=watch)


def _told(error: Exception) -> Exception:
    """Return an error as it is sent: those of iacta with their parameter, others for the log."""
    if isinstance(error, MemoryError):
        return IactaError("these numbers need more memory than a server gives")
    if not isinstance(error, IactaError):
        import traceback

        return FailedError("".join(traceback.format_exception(error)))
    return IactaError(str(error), parameter=error.parameter)


def _is_worn() -> bool:
    if sys.platform == "win32":
        return False
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MOST_RESIDENT


def _end_with_parent() -> None:
    """End this process when the server has ended, however that was."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
