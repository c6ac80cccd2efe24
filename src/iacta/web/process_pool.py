"""Worker processes that compute answers, so that no question delays another question.

There are four lanes. The quick lane answers most questions within milliseconds. The picture lane
has processes with a loaded V8. A job that takes more than a second in either lane moves to the slow
lane and restarts there. The fourth lane searches for plans. Each lane has a bounded queue and
refuses jobs when the queue is full.

A process is killed when its client disconnects or its time limit is over. A process is never used
again if its job has not returned, because its caches could be incomplete.
"""

import asyncio
import logging
import multiprocessing
import os
import pickle
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Thread
from typing import Any, TypeAlias

from iacta.web.limits import (
    FINISH_SHARE,
    MAX_QUEUE_SECONDS,
    MAX_QUEUED,
    MAX_QUEUED_PLANS,
    MAX_SECONDS,
    QUICK_SECONDS,
    QUICK_WORKERS,
    SEARCH_NICENESS,
    SLOW_NICENESS,
)
from iacta.web.worker import Job, Progress, Reply, StoppedError, serve

LOG = logging.getLogger("uvicorn.error")
PRELOADED = ["iacta.web.preload"]
Report: TypeAlias = Callable[[Progress], Awaitable[None]]


class BusyError(Exception):
    """The server is too busy to compute this answer."""


class DiedError(BusyError):
    """The process that computed the answer ended unexpectedly."""


class LateError(Exception):
    """The answer was not found in time.

    seconds: the time limit in seconds.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer was found within {seconds:g} seconds")


class Work:
    """All worker processes.

    workers: the number of processes in the slow lane, and in the lane of searches; by default, one
        per core.
    seconds: the time limit for an answer, including its time in the queue.
    """

    def __init__(self, workers: int | None = None, seconds: float = MAX_SECONDS) -> None:
        workers = workers or os.cpu_count() or 1
        self.seconds = seconds
        self._quick = _Lane(QUICK_WORKERS, MAX_QUEUED)
        self._pictures = _Lane(QUICK_WORKERS, MAX_QUEUED, draws=True)
        self._slow = _Lane(workers, MAX_QUEUED, niceness=SLOW_NICENESS)
        self._searches = _Lane(
            workers, MAX_QUEUED_PLANS * workers, niceness=SEARCH_NICENESS, finish_share=FINISH_SHARE
        )

    def start(self) -> None:
        self._quick.start()
        self._pictures.start()
        self._searches.start()

    def close(self) -> None:
        for lane in (self._quick, self._pictures, self._slow, self._searches):
            lane.close()

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a function in a worker process and return its result.

        function: a function at the top level of a module. Its arguments and result must be
            picklable.
        args: the arguments of the function.

        Raises the `IactaError` of the function. Cancelling this call kills the process. If a
        process of the quick lane dies, the job is tried once more.
        """
        return await self._run_in_lane(self._quick, Job(function, args))

    async def draw(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a function that draws a picture; see `run`."""
        return await self._run_in_lane(self._pictures, Job(function, args))

    async def _run_in_lane(self, lane: "_Lane", job: Job) -> Any:
        deadline = self._compute_deadline()
        try:
            return await lane.run(job, deadline, QUICK_SECONDS)
        except (LateError, DiedError):
            return await self._slow.run(job, deadline, self.seconds)

    async def search(
        self,
        function: Callable[..., Any],
        *args: Any,
        report: Report | None = None,
    ) -> Any:
        """Run a function that searches for a plan; see `run`.

        function, args: as for `run`.
        report: a callback for the progress that the function reports to its argument `watch`;
            `None` for no reports.
        """
        job = Job(function, args, report is not None)
        return await self._searches.run(job, self._compute_deadline(), self.seconds, report)

    def _compute_deadline(self) -> float:
        """Return the deadline of a new job, in event loop time."""
        return asyncio.get_running_loop().time() + self.seconds


class _Lane:
    """The processes for one kind of job, with a queue.

    size: the number of processes.
    max_queued: the maximum length of the queue.
    niceness: the niceness of the processes; greater numbers mean lower priority.
    finish_share: the fraction of the time limit that remains after an interrupt, in which a job can
        return its best result; 0 to kill jobs without an interrupt.
    draws: whether the processes load V8 before their first job.
    """

    def __init__(
        self,
        size: int,
        max_queued: int,
        *,
        niceness: int = 0,
        finish_share: float = 0.0,
        draws: bool = False,
    ) -> None:
        self._workers = [_Worker(niceness, finish_share, draws) for _ in range(size)]
        self._idle = [*self._workers]
        self._free = asyncio.Semaphore(size)
        self._waiting, self._max_queued = 0, max_queued
        self._is_closed = False

    def start(self) -> None:
        for worker in self._workers:
            worker.start()

    def close(self) -> None:
        self._is_closed = True
        for worker in self._workers:
            worker.close()

    async def run(
        self, job: Job, deadline: float, seconds: float, report: Report | None = None
    ) -> Any:
        """Run a job and return its result.

        job: the job.
        deadline: the deadline in event loop time.
        seconds: the maximum computing time.
        report: a callback for progress.
        """
        worker = await self._take_worker()
        try:
            if self._is_closed:
                raise DiedError
            try:
                async with asyncio.timeout_at(deadline):
                    await worker.wait_until_ready()
            except TimeoutError:
                raise LateError(seconds) from None
            return await worker.do_job(job, deadline, seconds, report)
        except DiedError:
            if self._is_closed:
                raise BusyError("the server is shutting down") from None
            raise
        finally:
            if worker.is_worn and not self._is_closed:
                worker.start()
                self._idle.insert(0, worker)  # used last, because the process needs time to start
            else:
                self._idle.append(worker)
            self._free.release()

    async def _take_worker(self) -> "_Worker":
        """Wait for an idle process; raise `BusyError` if the queue is full or the wait too long."""
        try:
            if self._waiting >= self._max_queued:
                raise TimeoutError
            self._waiting += 1
            try:
                async with asyncio.timeout(MAX_QUEUE_SECONDS):
                    await self._free.acquire()
            finally:
                self._waiting -= 1
        except TimeoutError:
            raise BusyError("the server is too busy; try again soon") from None
        return self._idle.pop()  # the most recent process, whose cache may contain the answer


class _Worker:
    """A worker process. If the process ends, a new process replaces it.

    niceness, finish_share, draws: the same as for `_Lane`.
    is_worn: whether the process must be replaced, because it uses too much memory or has not
        finished its job.
    """

    def __init__(self, niceness: int, finish_share: float, draws: bool) -> None:
        self.is_worn = False
        self._niceness, self._finish_share, self._draws = niceness, finish_share, draws
        self._starting: asyncio.Task[None] | None = None
        self._process: Any = None

    def start(self) -> None:
        self.kill()
        self.is_worn = False
        self._starting = asyncio.get_running_loop().create_task(self._start())

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            process = _PROCESSES.Process(
                target=serve,
                args=(theirs, self._niceness, self._draws),
                name="iacta answers",
                daemon=True,
            )
            await _start_in_thread(process, theirs)
            self._reader, self._writer = await asyncio.open_connection(sock=ours)
            self._process = process
            await self._receive()  # the reply `READY`
        except BaseException:
            ours.close()
            raise

    @property
    def _is_gone(self) -> bool:
        is_started = self._starting is not None and self._starting.done()
        return is_started and (self._process is None or self._reader.at_eof())

    async def wait_until_ready(self) -> None:
        """Wait until the process is ready; start the process if necessary."""
        if self._starting is None or self._is_gone:
            self.start()
        assert self._starting is not None  # noqa: S101 # started above
        starting = self._starting
        await asyncio.wait((starting,))  # cancelling this wait does not cancel the start
        if starting.cancelled():
            raise DiedError
        if isinstance(error := starting.exception(), OSError | EOFError):
            LOG.error("cannot start a process", exc_info=error)
            raise BusyError("the server cannot start another process; try again soon")
        starting.result()

    async def do_job(self, job: Job, deadline: float, seconds: float, report: Report | None) -> Any:
        """Run a job; return its result, or the best result at the deadline.

        job, deadline, seconds, report: the same as for `_Lane.run`.
        """
        loop = asyncio.get_running_loop()
        self.is_worn = True
        begun = loop.time()
        left = min(deadline - begun, seconds)
        deadline = begun + left
        timers = [loop.call_at(deadline, self.kill)]
        if self._finish_share:
            timers.append(loop.call_at(deadline - self._finish_share * left, self._interrupt))
        try:
            self._writer.write(pickle.dumps(job))
            reply = await self._receive()
            while isinstance(reply, Progress):
                if report is not None:
                    await report(reply)
                reply = await self._receive()
            self.is_worn = reply.is_worn
            if reply.error is not None:
                raise reply.error
            return reply.result
        except StoppedError:
            raise LateError(seconds) from None
        except DiedError:
            if loop.time() >= deadline:
                raise LateError(seconds) from None
            if self._process is not None:  # `kill` was not called
                LOG.error("a process that computed an answer has ended")
            raise
        finally:
            for timer in timers:
                timer.cancel()

    async def _receive(self) -> Progress | Reply:
        try:
            length = int.from_bytes(await self._reader.readexactly(8))
            reply: Progress | Reply = pickle.loads(await self._reader.readexactly(length))  # noqa: S301 # from our process
        except (EOFError, OSError):
            raise DiedError("the process that computed this answer has ended; try again") from None
        return reply

    def _interrupt(self) -> None:
        """Interrupt the job, like Ctrl-C in a terminal."""
        if sys.platform != "win32" and self._process is not None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGUSR1)

    def close(self) -> None:
        """Kill the process, or cancel its start."""
        self.kill()
        if self._starting is not None:
            self._starting.cancel()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None
            self._writer.close()


async def _start_in_thread(process: Any, link: socket.socket) -> None:
    """Start a process without blocking the event loop.

    process: the process.
    link: the socket for the process; closed in this process after the start.

    The first start waits until the fork server has loaded iacta. It runs in a daemon thread and not
    in an executor, because Python waits for executors at exit.
    """
    loop = asyncio.get_running_loop()
    started: asyncio.Future[None] = loop.create_future()

    def finish(error: Exception | None) -> None:
        if started.cancelled():
            if error is None:
                process.kill()
        elif error is None:
            started.set_result(None)
        else:
            started.set_exception(error)

    def start() -> None:
        error: Exception | None = None
        try:
            process.start()
        except Exception as raised:
            error = raised
        finally:
            link.close()
        with suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(finish, error)

    Thread(target=start, daemon=True).start()
    await started


def _make_context() -> Any:
    """Return a multiprocessing context; where available, with a fork server that preloads iacta."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


_PROCESSES = _make_context()


def end_forkserver() -> None:
    """Kill the fork server, which would otherwise finish its imports before it ends."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        from multiprocessing import forkserver  # not available on every system

        # Python has no public function that ends the fork server.
        process = getattr(forkserver, "_forkserver")._forkserver_pid  # noqa: B009 # untyped
        if process is not None:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
