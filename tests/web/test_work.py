"""Work: jobs do not block each other, and abandoned jobs end."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import psutil
import pytest

from iacta import IactaError, Position, ask, classic_board
from iacta.board.files import read_board
from iacta.web.app import create_app
from iacta.web.limits import MAX_ANSWER_BYTES, QUICK_SECONDS, SLOW_NICENESS
from iacta.web.process_pool import BusyError, DiedError, LateError, Work
from iacta.web.question_page import write_page, write_problem
from iacta.web.worker import FailedError, Page, Progress, answer_part

FOREVER = 600  # in seconds; no test takes this long
SOON = 0.5  # seconds
BATTLE = "battle", [("attackers", "3"), ("defenders", "2")]
CLOCK = "__import__('time').process_time"
BUSY = f"(lambda end: next(t for t in iter({CLOCK}, 0) if t > end))({CLOCK}() + 1.1)"  # for 1.1 s


class RecordingWork(Work):
    """Work that records jobs instead of running them."""

    def __init__(self, fault: IactaError | None = None) -> None:
        self.jobs: list[tuple[object, ...]] = []
        self.fault = fault

    def start(self) -> None: ...

    def close(self) -> None: ...

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        self.jobs.append((function, *args))
        if self.fault is not None and function is write_page:
            raise self.fault
        return Page(b"written", 422 if function is write_problem else 200)


def visit(work: Work, address: str) -> httpx.Response:
    """Return the response of an application to a request, without a server."""

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(work))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(address)

    return asyncio.run(ask())


@pytest.mark.parametrize("pairs", [[], [("attackers", "many"), ("defenders", "3")]])
def test_a_worker_reads_the_question_of_a_page(pairs: list[tuple[str, str]]) -> None:
    work = RecordingWork()
    reply = visit(work, f"/battle?{urlencode(pairs)}")
    assert (reply.status_code, reply.text) == (200, "written")
    assert work.jobs == [(write_page, "battle", pairs)]


def test_a_stopped_page_shows_the_problem_in_its_form() -> None:
    work = RecordingWork(stopped := IactaError("the work was stopped"))
    reply = visit(work, "/battle?attackers=9")
    assert (reply.status_code, reply.text) == (422, "written")
    assert work.jobs[1] == (write_problem, "battle", [("attackers", "9")], stopped)
    page = write_problem("battle", [("attackers", "9")], stopped)
    assert page.status == 422
    assert b"the work was stopped" in page.body.lower()


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as found:
        yield found


@pytest.fixture(scope="module")
def work(runner: asyncio.Runner) -> Iterator[Work]:
    found = Work(workers=1, seconds=FOREVER)
    yield found
    found.close()


def run_in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in an event loop that all tests share."""

    @wraps(test)
    def run(**fixtures: Any) -> None:
        fixtures["runner"].run(test(**fixtures))

    return run


async def run_when_ready(work: Work, function: Callable[..., Any], *args: Any) -> Any:
    """Return the result of long work; try again while no process is ready."""
    while True:
        try:
            return await work.search(function, *args)
        except BusyError:
            await asyncio.sleep(0.01)


async def wait_for_end(process: int) -> bool:
    """Wait until a process has ended."""
    with suppress(psutil.NoSuchProcess):
        while psutil.Process(process).status() != "zombie":
            await asyncio.sleep(0.01)
    return True


async def start_endless_work(work: Work, count: int = 1) -> list["asyncio.Task[Any]"]:
    """Start work that never ends."""
    tasks = [asyncio.ensure_future(work.search(time.sleep, FOREVER)) for _ in range(count)]
    await asyncio.sleep(0.1)
    return tasks


def interrupt_searches_soon(patch: pytest.MonkeyPatch, work: Work) -> None:
    """Interrupt searches early, and let them finish on the slowest machine."""
    patch.setattr(work, "seconds", FOREVER)
    for worker in work._searches._workers:
        patch.setattr(worker, "_finish_share", 1 - SOON / FOREVER)


async def cancel_tasks(tasks: list["asyncio.Task[Any]"]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@run_in_loop
async def test_answers_equal_the_library_s(runner: asyncio.Runner, work: Work) -> None:
    rows = await work.run(answer_part, *BATTLE, "rows")
    assert rows.startswith(b"attackers,defenders,probability\n3,0,0.2276")
    record = await work.run(answer_part, *BATTLE, "record")
    assert json.loads(record) == ask("battle", attackers=3, defenders=2).record()


@run_in_loop
async def test_work_that_nobody_waits_for_is_ended(runner: asyncio.Runner, work: Work) -> None:
    process = await run_when_ready(work, os.getpid)
    await cancel_tasks(await start_endless_work(work))
    assert await wait_for_end(process)
    assert await run_when_ready(work, os.getpid) != process


@run_in_loop
async def test_quick_questions_are_answered_while_others_take_long(
    runner: asyncio.Runner, work: Work
) -> None:
    await run_when_ready(work, os.getpid)
    tasks = await start_endless_work(work)
    tasks.append(asyncio.ensure_future(work.run(time.sleep, FOREVER)))  # moves to the slow lane
    await asyncio.sleep(1.2 * QUICK_SECONDS)
    for _ in range(20):
        assert await work.run(answer_part, *BATTLE, "record")
    await cancel_tasks(tasks)


def test_work_moved_to_the_slow_lane_is_answered(runner: asyncio.Runner, work: Work) -> None:
    own = os.nice(0)  # the tests may run with a lower priority
    assert runner.run(work.run(os.nice, 0)) == own
    asked = f"{BUSY} and __import__('os').nice(0)"
    assert runner.run(work.run(eval, asked)) == min(own + SLOW_NICENESS, 19)


@run_in_loop
async def test_a_full_queue_refuses_work_at_once(runner: asyncio.Runner, work: Work) -> None:
    await run_when_ready(work, os.getpid)
    tasks = await start_endless_work(work, 5)
    with pytest.raises(BusyError, match="too busy"):
        await work.search(os.getpid)
    assert not any(task.done() for task in tasks)
    await cancel_tasks(tasks)


@run_in_loop
async def test_work_that_takes_too_long_is_ended(
    runner: asyncio.Runner, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = await run_when_ready(work, os.getpid)
    interrupt_searches_soon(monkeypatch, work)
    with pytest.raises(LateError, match=rf"no answer was found within {FOREVER} seconds"):
        await work.search(time.sleep, FOREVER)
    monkeypatch.undo()
    assert await run_when_ready(work, os.getpid) == process
    monkeypatch.setattr(work, "seconds", 0.5)
    with pytest.raises(LateError):
        await work.search(eval, "sum(range(10**12))")  # cannot be interrupted
    assert await wait_for_end(process)
    with pytest.raises(LateError):
        await work.run(time.sleep, FOREVER)


@run_in_loop
async def test_searches_that_take_too_long_return_their_best_result(
    runner: asyncio.Runner, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run_when_ready(work, os.getpid)
    interrupt_searches_soon(monkeypatch, work)
    found = "try: __import__('time').sleep(600)\nexcept KeyboardInterrupt: found = 3"
    result = f"(names := {{}}, exec({found!r}, names), names['found'])[2]"
    assert await work.search(eval, result) == 3


@run_in_loop
async def test_progress_is_reported(runner: asyncio.Runner, work: Work) -> None:
    is_enough = asyncio.Event()

    async def report(progress: Progress) -> None:
        assert progress.doing == "Planning"
        assert progress.keeps
        if progress.so_far:
            is_enough.set()

    held = {"Ukraine": ("red", 42)}
    code = Position(classic_board(), "red", held, others=("blue", 3)).to_code()
    asked = json.dumps({"position": code, "take": "Asia", "time_limit": 60}).encode()
    await run_when_ready(work, os.getpid)
    search = work.search(answer_part, "plan", asked, "record", report=report)
    tasks = [asyncio.ensure_future(each) for each in (search, is_enough.wait())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    await cancel_tasks(tasks)
    assert is_enough.is_set()


@run_in_loop
async def test_late_answers_are_not_awaited(
    runner: asyncio.Runner, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The interrupted search opens a descriptor, which the test sees, and sleeps before its answer.
    late = (
        "import os, time\n"
        "try: time.sleep(600)\n"
        "except KeyboardInterrupt: os.dup(1), time.sleep(600)"
    )
    process = psutil.Process(await run_when_ready(work, os.getpid))
    descriptors = process.num_fds()
    interrupt_searches_soon(monkeypatch, work)
    monkeypatch.setattr(work, "seconds", 8)
    task = asyncio.ensure_future(work.search(eval, f"exec({late!r})"))
    while process.num_fds() == descriptors:
        assert not task.done()
        await asyncio.sleep(0.01)
    assert not task.done()
    with pytest.raises(LateError, match="within 8 seconds"):
        await task
    assert await wait_for_end(process.pid)  # during its second sleep, before the late answer


def test_an_answer_is_not_larger_than_a_server_sends(runner: asyncio.Runner, work: Work) -> None:
    sentence = r"the answer is 33,554,433 bytes long, but the server sends at most"
    assert len(runner.run(work.run(bytes, MAX_ANSWER_BYTES))) == MAX_ANSWER_BYTES
    with pytest.raises(IactaError, match=sentence):
        runner.run(work.run(bytes, MAX_ANSWER_BYTES + 1))


def test_pictures_use_the_process_that_has_loaded_v8(runner: asyncio.Runner, work: Work) -> None:
    drawing, other = runner.run(work.draw(os.getpid)), runner.run(work.run(os.getpid))
    assert psutil.Process(drawing).num_threads() > psutil.Process(other).num_threads()
    assert psutil.Process(drawing).nice() == psutil.Process(other).nice()
    drawn = runner.run(work.draw(answer_part, *BATTLE, "svg"))
    assert drawn.startswith(b"<svg")


def test_output_of_native_code_does_not_reach_the_log(runner: asyncio.Runner, work: Work) -> None:
    device = "__import__('os').fstat(2).st_rdev"  # of the standard error of a process
    assert runner.run(work.run(eval, device)) == os.stat(os.devnull).st_rdev != 0


def test_memory_is_bounded(runner: asyncio.Runner, work: Work) -> None:
    with pytest.raises(IactaError, match="need more memory than the server allows"):
        runner.run(work.run(bytearray, 2**33))


@run_in_loop
async def test_a_process_that_has_had_much_memory_is_not_used_again(
    runner: asyncio.Runner, work: Work
) -> None:
    process = await run_when_ready(work, os.getpid)
    await work.search(eval, "len(b'x' * 10**9)")
    assert await wait_for_end(process)
    assert await run_when_ready(work, os.getpid) != process


def test_a_process_that_dies_is_replaced(runner: asyncio.Runner, work: Work) -> None:
    with pytest.raises(DiedError, match="has ended; try again"):
        runner.run(work.run(os.abort))
    assert runner.run(work.run(abs, -3)) == 3


@run_in_loop
async def test_a_small_question_whose_process_is_killed_is_answered_by_another(
    runner: asyncio.Runner, work: Work
) -> None:
    process = await work.run(os.getpid)
    task = asyncio.ensure_future(work.run(eval, f"{BUSY} and __import__('os').getpid()"))
    await asyncio.sleep(0.1)
    psutil.Process(process).kill()
    assert await task != process


@run_in_loop
async def test_an_idle_process_that_is_killed_is_replaced(
    runner: asyncio.Runner, work: Work
) -> None:
    process = await run_when_ready(work, os.getpid)
    psutil.Process(process).kill()
    assert await wait_for_end(process)
    await asyncio.sleep(0.1)
    assert await run_when_ready(work, os.getpid) != process


def test_bugs_are_reported_only_in_the_log(runner: asyncio.Runner, work: Work) -> None:
    with pytest.raises(FailedError, match="ZeroDivisionError"):
        runner.run(work.run(divmod, 1, 0))


def test_no_file_is_read(runner: asyncio.Runner, work: Work, tmp_path: Path) -> None:
    (tmp_path / "board.json").write_text('{"name": "A", "territories": {"A": []}}')
    with pytest.raises(IactaError, match="the server reads no files; send the contents"):
        runner.run(work.run(read_board, str(tmp_path / "board.json")))


@run_in_loop
async def test_all_processes_end_with_the_work(runner: asyncio.Runner) -> None:
    work = Work(workers=1)
    processes = [await run_when_ready(work, os.getpid), await work.run(os.getpid)]
    tasks = await start_endless_work(work, 2)
    work.close()
    for task in tasks:
        with pytest.raises(BusyError, match="the server is shutting down"):
            await task
    for process in processes:
        assert await wait_for_end(process)
