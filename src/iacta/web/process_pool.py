"""Work: answers are computed in processes of their own, so that no question holds up another.

Most questions take milliseconds, and are answered in the quick lane. One that takes longer is begun
anew in the slow lane; plans are searched in a third one. Some work may wait in each; more is
refused at once.

A process ends when nobody waits for its answer any more, or when its time is over. It is never
interrupted and used again before it has replied, as what it remembers could be half written.
"""

import asyncio
import multiprocessing
import os
import pickle
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

from iacta.web.limits import (
    FINISHING,
    MOST_SECONDS,
    MOST_WAITING,
    MOST_WAITING_PLANS,
    MOST_WAITING_SECONDS,
    QUICK_SECONDS,
    QUICK_WORKERS,
)
from iacta.web.worker import Job, Progress, Reply, StoppedError, serve

PRELOADED = ["iacta.web.map", "iacta.web.worker", "scipy.linalg", "vl_convert"]
Report: TypeAlias = Callable[[Progress], Awaitable[None]]


class BusyError(Exception):
    """Too much is being computed already."""


class DiedError(BusyError):
    """The process that computed the answer has ended, perhaps killed by somebody else."""


class LateError(Exception):
    """The answer was not found in time."""


class Work:
    """Computes answers.

    workers: how many questions may take long at a time; by default one for each core.
    seconds: how long an answer may take.
    """

    def __init__(self, workers: int | None = None, seconds: float = MOST_SECONDS) -> None:
        workers = workers or os.cpu_count() or 1
        self.seconds = seconds
        self._quick = _Lane(QUICK_WORKERS, MOST_WAITING, is_patient=False)
        self._slow = _Lane(workers, MOST_WAITING, is_patient=True)
        self._searches = _Lane(workers, MOST_WAITING_PLANS * workers, is_patient=True)

    def start(self) -> None:
        self._quick.start()
        self._searches.start()

    def close(self) -> None:
        for lane in (self._quick, self._slow, self._searches):
            lane.close()

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return what a function returns in another process.

        function: a function of a module, which can be pickled, as its arguments and its result.
        args: its arguments.

        An error of iacta is raised as it is. If this is cancelled, the process is ended. A process
        that dies soon is not the fault of what is asked: that is tried once more.
        """
        job = Job(function, args)
        try:
            return await self._quick.run(job, QUICK_SECONDS)
        except (LateError, DiedError):
            return await self._slow.run(job, self.seconds)

    async def search(
        self,
        function: Callable[..., Any],
        *args: Any,
        report: Report | None = None,
    ) -> Any:
        """Return what a function returns that searches a plan, as `run` does.

        function, args: as `run` takes them.
        report: receives progress; then the function has a keyword `watch`.
        """
        job = Job(function, args, report is not None)
        return await self._searches.run(job, self.seconds, report)


class _Lane:
    """Processes for one kind of work.

    size: how many there are.
    most_waiting: how many jobs may wait for one.
    is_patient: whether they let everything else on this machine go first.
    """

    def __init__(self, size: int, most_waiting: int, *, is_patient: bool) -> None:
        self._workers = [_Worker(is_patient) for _ in range(size)]
        self._idle = [*self._workers]
        self._free = asyncio.Semaphore(size)
        self._waiting, self._most_waiting = 0, most_waiting
        self._is_closed = False

    def start(self) -> None:
        for worker in self._workers:
            worker.start()

    def close(self) -> None:
        self._is_closed = True
        for worker in self._workers:
            worker.kill()

    async def run(self, job: Job, seconds: float, report: Report | None = None) -> Any:
        worker = await self._take()
        try:
            if self._is_closed:
                raise DiedError
            await worker.ready()
            return await worker.do(job, seconds, report)
        except DiedError:
            if self._is_closed:
                raise BusyError("the server is ending") from None
            raise
        finally:
            if worker.is_worn and not self._is_closed:
                worker.start()
            self._idle.append(worker)
            self._free.release()

    async def _take(self) -> "_Worker":
        """Return a process as soon as one is idle, or refuse if too many jobs wait already."""
        try:
            if self._waiting >= self._most_waiting:
                raise TimeoutError
            self._waiting += 1
            try:
                async with asyncio.timeout(MOST_WAITING_SECONDS):
                    await self._free.acquire()
            finally:
                self._waiting -= 1
        except TimeoutError:
            raise BusyError("the server is too busy; ask again soon") from None
        return self._idle.pop()  # the last one may remember what it is asked


class _Worker:
    """One process, seen from the server, and those that take its place.

    is_worn: whether another one should do so, as it is in the middle of something or too large.
    """

    def __init__(self, is_patient: bool) -> None:
        self.is_worn = False
        self._is_patient = is_patient
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
                target=serve, args=(theirs, self._is_patient), name="iacta answers", daemon=True
            )
            await asyncio.to_thread(process.start)
            self._reader, self._writer = await asyncio.open_connection(sock=ours)
            self._process = process
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()

    @property
    def _is_gone(self) -> bool:
        is_started = self._starting is not None and self._starting.done()
        return is_started and (self._process is None or self._reader.at_eof())

    async def ready(self) -> None:
        """Wait until there is a process."""
        if self._starting is None or self._is_gone:
            self.start()
        assert self._starting is not None  # noqa: S101 # it has just been
        await asyncio.shield(self._starting)

    async def do(self, job: Job, seconds: float, report: Report | None) -> Any:
        """Return the result of a job, or what it has found when it is late."""
        loop = asyncio.get_running_loop()
        self.is_worn = True
        late = loop.time() + seconds
        timers = [
            loop.call_at(late, self._interrupt if self._is_patient else self.kill),
            loop.call_at(late + FINISHING * seconds, self.kill),
        ]
        try:
            self._writer.write(pickle.dumps(job))
            reply = await self._received()
            while isinstance(reply, Progress):
                if report is not None:
                    await report(reply)
                reply = await self._received()
            self.is_worn = reply.is_worn
            if reply.error is not None:
                raise reply.error
            return reply.result
        except (DiedError, StoppedError):
            if loop.time() >= late:
                raise LateError(f"no answer was found within {seconds:g} seconds") from None
            raise
        finally:
            for timer in timers:
                timer.cancel()

    async def _received(self) -> Progress | Reply:
        try:
            length = int.from_bytes(await self._reader.readexactly(8))
            reply: Progress | Reply = pickle.loads(await self._reader.readexactly(length))  # noqa: S301 # from our process
        except (EOFError, OSError):
            raise DiedError("the process that worked on this has ended; ask again") from None
        return reply

    def _interrupt(self) -> None:
        """Let it end its job early, as Ctrl-C does in a terminal."""
        if sys.platform != "win32" and self._process is not None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGUSR1)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process = None
            self._writer.close()


def _processes() -> Any:
    """Return what starts processes: copies of one that has loaded everything, if possible."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context


_PROCESSES = _processes()
