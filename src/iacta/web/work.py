"""Work: answers are computed in processes of their own, so that no question holds up another.

Most questions take milliseconds. They go to a process of the quick lane. A question that is not
answered there soon keeps its process, which gives way to all others from then on, and another
process takes its place. Plans begin in the long lane. At most `workers` questions of each kind take
long at a time; some more may wait, and others are refused at once.

A process ends when nobody waits for its answer any more, or when its time is over. It is never
interrupted and used again, as what it remembers could then be half written.
"""

import asyncio
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from time import clock_gettime, monotonic
from typing import Any

from iacta.errors import IactaError
from iacta.questions.question import Question, Watch
from iacta.web.plans import Plans
from iacta.web.worker import (
    PATIENT,
    Failed,
    Job,
    Part,
    Parts,
    Progress,
    Refused,
    Stopped,
    answered,
    serve,
    warm_up,
)

__all__ = ["BusyError", "DiedError", "FailedError", "Interrupt", "LateError", "Work"]

QUICK_WORKERS = 2
QUICK_SECONDS = 0.25  # until a question counts as long
DRAWING_SECONDS = 4.0  # the same for a picture: the first one of a process loads what draws
MOST_LOOKS = 4  # times as long, where a process gets no time to compute
CPU_CLOCK = 2  # of Linux: the clock of another process is named by its number and this
MOST_SECONDS = 30.0  # for an answer
FINISHING = 0.5  # so much more time for a search that is late to say what it has found
MOST_WAITING_SECONDS = 10.0  # for a process
MOST_STARTING_SECONDS = 60.0  # for the first one, which loads what all others share
MOST_QUICK_WAITING = 200
MOST_LONG_WAITING = 4  # for each worker
MOST_JOBS = 20_000  # of one process, which is then replaced, as it remembers more and more
MOST_RESIDENT = 600 * 2**20  # bytes of memory, with which a process is replaced
MOST_KEYS = 4
ENDING = "the server is ending"
BUSY_SECONDS = 2  # until to ask again
STARTING_SECONDS = 5
PRELOADED = ["iacta.web.map", "iacta.web.worker", "altair", "scipy.linalg", "vl_convert"]


class BusyError(Exception):
    """Too much is being computed already.

    seconds: when to ask again.
    """

    def __init__(self, sentence: str, seconds: int) -> None:
        super().__init__(sentence)
        self.seconds = seconds


class DiedError(BusyError):
    """The process that computed the answer has ended, perhaps killed by somebody else."""

    def __init__(self) -> None:
        super().__init__("the process that worked on this has ended; ask again", BUSY_SECONDS)


class LateError(Exception):
    """The answer was not found in time."""


class StoppedError(IactaError):
    """The work was interrupted before there was an answer."""


class FailedError(Exception):
    """A mistake in iacta; the text is for the server's log only."""


class Interrupt:
    """Lets a job end early with what it has found, as Ctrl-C does in a terminal."""

    def __init__(self) -> None:
        self._worker: _Worker | None = None
        self._is_wanted = False

    def now(self) -> None:
        """Interrupt the job; if it has not begun, as soon as it has."""
        self._is_wanted = True
        if self._worker is not None:
            self._worker.interrupt()

    def _watch_over(self, worker: "_Worker") -> None:
        self._worker = worker
        if self._is_wanted:
            worker.interrupt()


class Work:
    """Computes answers.

    workers: how many questions may take long at a time; by default one for each core.
    seconds: how long an answer may take.

    `plans` has the texts of the answers with plans that were found last.
    """

    def __init__(self, workers: int | None = None, seconds: float = MOST_SECONDS) -> None:
        self.workers = workers or os.cpu_count() or 1
        self.seconds = seconds
        self.plans = Plans()
        self._quick = _Lane(QUICK_WORKERS, MOST_QUICK_WAITING, is_patient=False)
        self._promoted: set[_Worker] = set()  # those that have left the quick lane
        self._long = _Lane(self.workers, MOST_LONG_WAITING * self.workers, is_patient=True)

    def start(self) -> None:
        """Start the processes, so that the first question does not wait for them."""
        self._quick.fill()
        self._long.fill()

    def close(self) -> None:
        """End all processes at once."""
        self._quick.close()
        self._long.close()
        for worker in self._promoted:
            worker.end(BusyError(ENDING, BUSY_SECONDS))

    async def answer(
        self, question: Question, parts: Sequence[Part], watch: Watch | None = None
    ) -> Parts:
        """Return parts of an answer.

        question: the question.
        parts: as `answered` takes them.
        watch: receives progress.

        An error of iacta is raised as it is.
        """
        is_long = question.name == "plan"
        key = question if is_long else None
        found: Parts = await self.run(
            answered, question, parts, key=key, watch=watch, is_long=is_long
        )
        return found

    async def run(
        self,
        function: Callable[..., Any],
        *args: Any,
        key: object = None,
        watch: Watch | None = None,
        interrupt: Interrupt | None = None,
        is_long: bool = False,
        is_drawn: bool = False,
    ) -> Any:
        """Return what a function returns in another process.

        function: a function of a module, which can be pickled, as its arguments and its result.
        args: its arguments.
        key: names what a process may remember; the process that last had it is preferred.
        watch: receives progress; then the function has a keyword `watch`.
        interrupt: ends the job early, if it is long.
        is_long: whether it may take long, as plans do, and skips the quick lane.
        is_drawn: whether a picture is drawn, for which a new process loads much.

        An error of iacta is raised as it is. If this is cancelled, the process is ended. A process
        of the quick lane that dies is not the fault of what is asked: that is tried once more.
        """
        job = Job(function, args, watch is not None)
        if not is_long:
            for is_last in (False, True):
                worker = await self._quick.take(key)
                reply = worker.begin(job, key, watch)
                try:
                    is_quick = await _is_quick(
                        worker, reply, DRAWING_SECONDS if is_drawn else QUICK_SECONDS
                    )
                except asyncio.CancelledError:
                    self._quick.end(worker)
                    raise
                if not is_quick:
                    break
                self._quick.give(worker)
                if is_last or not isinstance(reply.exception(), DiedError):
                    return reply.result()
            if len(self._promoted) < self.workers:
                self._promoted.add(worker)
                self._quick.leave(worker)
                worker.give_way()
                try:
                    return await self._finished(worker, reply, interrupt)
                finally:
                    worker.end()
                    self._promoted.discard(worker)
            self._quick.end(worker)
        worker = await self._long.take(key)
        reply = worker.begin(job, key, watch)
        try:
            return await self._finished(worker, reply, interrupt, keeps=True)
        finally:
            if reply.done():
                self._long.give(worker)
            else:
                self._long.end(worker)

    async def _finished(
        self,
        worker: "_Worker",
        reply: "asyncio.Future[Any]",
        interrupt: Interrupt | None,
        *,
        keeps: bool = False,
    ) -> Any:
        """Return a reply.

        keeps: whether what is late is interrupted, and may then still say what it has found.
        """
        if interrupt is not None:
            interrupt._watch_over(worker)
        await asyncio.wait((reply,), timeout=self.seconds)
        if not reply.done() and keeps:
            worker.interrupt()
            await asyncio.wait((reply,), timeout=FINISHING * self.seconds)
            if reply.done() and isinstance(reply.exception(), StoppedError):
                raise self._late()
        if not reply.done():
            raise self._late()
        return reply.result()

    def _late(self) -> LateError:
        return LateError(f"no answer was found within {self.seconds:g} seconds")


async def _is_quick(worker: "_Worker", reply: "asyncio.Future[Any]", seconds: float) -> bool:
    """Wait for a reply, and return whether it came soon.

    seconds: until a question counts as long.

    Where others use this machine too, more time passes than is computed.
    """
    begun, asked = worker.computed(), monotonic()
    while monotonic() - asked < MOST_LOOKS * seconds:
        await asyncio.wait((reply,), timeout=QUICK_SECONDS)
        if reply.done():
            return True
        if worker.computed() - begun > seconds / 2:
            return False
    return False


class _Lane:
    """Processes for one kind of work, and the jobs that wait for one.

    size: how many there are.
    most_waiting: how many jobs may wait.
    is_patient: whether they may take long; then they are warmed up, one after the other.
    """

    def __init__(self, size: int, most_waiting: int, *, is_patient: bool) -> None:
        self.size, self.most_waiting, self.is_patient = size, most_waiting, is_patient
        self._count = 0
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._waiting: deque[asyncio.Future[_Worker]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._warming = asyncio.Lock()
        self._is_ready = False
        self._is_closed = False

    def fill(self) -> None:
        """Start the processes that are missing."""
        while self._count < self.size and not self._is_closed:
            self._count += 1
            task = asyncio.get_running_loop().create_task(self._start())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _start(self) -> None:
        worker = _Worker(self.is_patient)
        self._all.add(worker)
        await asyncio.to_thread(worker.start)
        if self._is_closed:
            worker.end()
            return
        worker.listen()
        if self.is_patient:
            async with self._warming:
                with suppress(Exception):  # whatever it is, it comes again where it matters
                    await worker.begin(Job(warm_up, (), False), None, None)
        self._is_ready = True
        self.give(worker)

    def take_at_once(self, key: object = None) -> "_Worker | None":
        """Return an idle process, `None` if there is none; the caller gives it back."""
        self.fill()
        self._idle = [each for each in self._idle if not self._buried(each)]
        if not self._idle:
            return None
        known = (each for each in self._idle if key is not None and key in each.keys)
        worker = next(known, self._idle[0])
        self._idle.remove(worker)
        return worker

    async def take(self, key: object = None) -> "_Worker":
        """Return a process as soon as one is idle, or refuse if too many jobs wait already."""
        worker = self.take_at_once(key)
        if worker is not None:
            return worker
        if len(self._waiting) >= self.most_waiting:
            raise self._busy()
        turn: asyncio.Future[_Worker] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            is_starting = not self._is_ready and not self.is_patient
            patience = MOST_STARTING_SECONDS if is_starting else MOST_WAITING_SECONDS
            await asyncio.wait((turn,), timeout=patience)
            if not turn.done():
                raise self._busy()
            return turn.result()
        except BaseException:
            if turn in self._waiting:
                self._waiting.remove(turn)
            elif turn.done() and not turn.cancelled():
                self.give(turn.result())
            raise

    def _busy(self) -> BusyError:
        if self._is_ready:
            return BusyError("the server is too busy; ask again soon", BUSY_SECONDS)
        return BusyError("the server is starting; ask again soon", STARTING_SECONDS)

    def give(self, worker: "_Worker") -> None:
        """Take a process back, for the next job that waits."""
        is_worn = worker.is_full or worker.jobs >= MOST_JOBS
        if self._is_closed or is_worn or self._buried(worker):
            self.end(worker)
        elif self._waiting:
            self._waiting.popleft().set_result(worker)
        else:
            self._idle.append(worker)

    def _buried(self, worker: "_Worker") -> bool:
        """Return whether a process has died; if so, replace it."""
        if worker.is_dead:
            self.end(worker)
        return worker.is_dead

    def leave(self, worker: "_Worker") -> None:
        """Let a process go elsewhere, and start another one."""
        if worker in self._all:
            self._all.remove(worker)
            self._count -= 1
            self.fill()

    def end(self, worker: "_Worker") -> None:
        """End a process, and start another one."""
        worker.end()
        self.leave(worker)

    def close(self) -> None:
        """End all processes, and refuse the jobs that wait."""
        self._is_closed = True
        for worker in self._all:
            worker.end(BusyError(ENDING, BUSY_SECONDS))
        for turn in self._waiting:
            if not turn.done():
                turn.set_exception(BusyError(ENDING, BUSY_SECONDS))


class _Worker:
    """One process, seen from the server."""

    def __init__(self, is_patient: bool) -> None:
        self.is_dead = self.is_full = False
        self.jobs = 0
        self.keys: deque[object] = deque(maxlen=MOST_KEYS)
        self._jobs, theirs = _PROCESSES.Pipe()
        self._process = _PROCESSES.Process(
            target=serve, args=(theirs, is_patient), name="iacta answers", daemon=True
        )
        self._theirs: Connection | None = theirs
        self._reply: asyncio.Future[Any] | None = None
        self._watch: Watch | None = None

    def start(self) -> None:
        """Start the process; that takes a moment."""
        self._process.start()
        if self._theirs is not None:
            self._theirs.close()
            self._theirs = None

    def listen(self) -> None:
        """Receive what it sends, in the running loop."""
        if not self.is_dead:
            asyncio.get_running_loop().add_reader(self._jobs.fileno(), self._receive)
            # A loop may let it return at once; then only a part of a long result would be read.
            os.set_blocking(self._jobs.fileno(), True)

    def begin(self, job: Job, key: object, watch: Watch | None) -> "asyncio.Future[Any]":
        """Send a job, and return a future of its result."""
        self._reply = asyncio.get_running_loop().create_future()
        self._watch = watch
        self.jobs += 1
        if key is not None:
            self.keys.append(key)
        try:
            self._jobs.send(job)
        except OSError:
            self._die()
        return self._reply

    def _receive(self) -> None:
        try:
            message = self._jobs.recv()
        except (EOFError, OSError):
            self._die()
            return
        reply = self._reply
        if reply is None or reply.done():
            return
        if isinstance(message, Progress):
            if self._watch is not None:
                self._watch(message.doing, message.part, keeps=message.keeps)
        elif isinstance(message, Refused):
            error = IactaError(message.sentence)
            error.parameter = message.parameter
            reply.set_exception(error)
        elif isinstance(message, Stopped):
            reply.set_exception(StoppedError("the work was stopped before there was an answer"))
        elif isinstance(message, Failed):
            reply.set_exception(FailedError(message.report))
        else:
            value, resident = message
            self.is_full = resident > MOST_RESIDENT
            reply.set_result(value)

    def _die(self) -> None:
        """Note that the process has ended by itself."""
        self.end(DiedError())

    def computed(self) -> float:
        """Return its CPU time in seconds, or that of a clock where it is not known."""
        if sys.platform == "linux" and self._process.pid is not None:
            with suppress(OSError):
                return clock_gettime((~self._process.pid << 3) | CPU_CLOCK)
        return monotonic()

    def interrupt(self) -> None:
        """Let it end its job early."""
        if sys.platform != "win32" and not self.is_dead and self._process.pid is not None:
            os.kill(self._process.pid, signal.SIGUSR1)

    def give_way(self) -> None:
        """Let everything else on this machine go first."""
        if sys.platform != "win32" and self._process.pid is not None:
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, self._process.pid, PATIENT)

    def end(self, error: Exception | None = None) -> None:
        """End the process at once; a job that waits for it gets the error."""
        if self.is_dead:
            return
        self.is_dead = True
        if error is not None and self._reply is not None and not self._reply.done():
            self._reply.set_exception(error)
        with suppress(RuntimeError):  # the loop is closed already
            asyncio.get_running_loop().remove_reader(self._jobs.fileno())
        if self._process.pid is not None:
            self._process.kill()
        self._jobs.close()


def _processes() -> Any:
    """Return what starts processes: copies of one that has loaded everything, if possible."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


_PROCESSES = _processes()
