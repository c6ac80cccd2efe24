"""The load that a server can handle: battles, and small questions beside plans and large answers.

    python -m benchmarks.load [--seconds SECONDS] [--soak SECONDS]

Requests come from wrk on the same machine. The requirements are for two cores that are otherwise
idle.
"""

import argparse
import json
import math
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.measure import Measurement
from iacta.inputs.errors import list_packages
from tests.web.nginx import NAME, NGINX, context, run_nginx

SCRIPT = Path(__file__).with_name("load.lua")
CONNECTIONS = 8
PAUSE = 40  # milliseconds between two small questions of a client while plans run
PLAN = "/api/v1/plan?from_=Ukraine=42,Brazil=30&others=3&take=Asia&time_limit=2"
BATTLE = "/api/v1/battle?attackers=12"
PICTURE = "/api/v1/battle/picture.svg?attackers=12&defenders={}"
HEAVY = (
    "/table?attackers=1200&defenders=1200",
    "/table?attackers=2200&defenders=2200",
    "/api/v1/table?attackers=1200&defenders=1200",
    "/openapi.json",
    "/about",
)
PLANNERS = 2
SEARCHES, IDLE = 20, 500  # numbers of busy and idle connections of one client behind nginx
MIN_PER_SECOND = 1_000
MAX_SECONDS = 0.050  # limit in seconds for a small question while plans run
MAX_SECONDS_BESIDE_LARGE = 0.3
MAX_MEGABYTES = 128
MAX_GROWTH = 1.10
SETTLED = 60.0  # seconds of a soak test until all caches are full


class Report(NamedTuple):
    """The results that wrk reports.

    requests: the number of answers.
    seconds: the time of the measurement.
    half, most: the median and the 99th percentile of the latencies in seconds.
    lost: the number of requests that failed or got no answer.
    """

    requests: int
    seconds: float
    half: float
    most: float
    lost: int


def find_missing() -> str | None:
    """Return a sentence about missing programs, or `None` if nothing is missing."""
    if shutil.which("wrk") is None:
        return "wrk: apt-get install wrk"
    needed = ("fastapi", "jinja2", "uvicorn", "vl_convert")
    gone = [name for name in needed if find_spec(name) is None]
    return f"{gone[0]}: pip install {' '.join(list_packages('serve'))}" if gone else None


@contextmanager
def start_server() -> Iterator[tuple[str, psutil.Process]]:
    """Start a server; yield its address and its process."""
    command = [sys.executable, "-m", "iacta", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise RuntimeError("the server has no output")
        line = process.stdout.readline()
        address = next(word for word in line.split() if "://" in word).rstrip("/")
        while ask_path(address, PLAN) == 503:  # the server is still starting
            time.sleep(1)
        yield address, psutil.Process(process.pid)
        process.terminate()


def ask_path(address: str, path: str) -> int:
    """Request a path, read the complete answer, and return its status."""
    connection = HTTPConnection(address.removeprefix("http://"), timeout=60)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def run_wrk(address: str, seconds: float, pause: int = 0) -> Report:
    """Send small questions with wrk, and return the results.

    seconds: the duration in seconds.
    pause: the milliseconds between two questions of a client.
    """
    command = [
        *("wrk", "--threads", "1", "--connections", str(CONNECTIONS)),
        *("--duration", f"{seconds:.0f}s", "--timeout", "10s", "--script", str(SCRIPT)),
        *(address, "--", str(pause)),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return Report(**json.loads(ended.stdout.splitlines()[-1]))


@contextmanager
def keep_planning(address: str) -> Iterator[list[int]]:
    """Request plans in the background; yield the list of statuses so far."""
    paths = [PLAN.replace("Brazil=30", f"Brazil={30 + k}") for k in range(50)]
    with keep_asking(address, paths, PLANNERS) as statuses:
        yield statuses


@contextmanager
def keep_asking(address: str, paths: list[str], clients: int) -> Iterator[list[int]]:
    """Request paths in the background with several clients; yield the list of statuses so far."""
    is_over = threading.Event()
    statuses: list[int] = []

    def ask() -> None:
        while not is_over.is_set():
            statuses.append(ask_path(address, paths[len(statuses) % len(paths)]))

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    yield statuses
    is_over.set()
    for thread in threads:
        thread.join()


def measure_memory(process: psutil.Process) -> int:
    """Return the memory of a process and its children in bytes. Shared memory is counted once."""
    return sum(each.memory_full_info().pss for each in [process, *process.children(recursive=True)])


def measure_load(seconds: float = 10.0, soak: float = 0.0) -> Iterator[Measurement]:
    """Measure the load that a server can handle.

    seconds: the duration of each measurement in seconds.
    soak: the duration in seconds of a memory test under small questions and plans; 0 to skip it.
    """
    with start_server() as (address, process):
        yield from measure_behind_nginx(address, seconds)
        yield from measure_pictures_beside_plans(address, seconds)
        yield from measure_beside_large_answers(address, process, seconds)
    needed = find_missing()
    if needed is not None:
        print(f"  not measured; that needs {needed}")
        return
    with start_server() as (address, process):
        run_wrk(address, 2)
        found = run_wrk(address, seconds)
        per_second = found.requests / found.seconds
        yield Measurement("battles per second", per_second, MIN_PER_SECOND, True, found.requests)
        yield Measurement(
            "battles: median latency, seconds", found.half, None, False, found.requests
        )
        yield Measurement(
            "battles: 99th percentile, seconds", found.most, None, False, found.requests
        )
        yield Measurement("battles, lost", found.lost, 0, False, found.requests)
        with keep_planning(address) as statuses:
            found = run_wrk(address, seconds, PAUSE)
        yield Measurement(
            "battles beside plans: median latency, seconds", found.half, None, False, found.requests
        )
        yield Measurement(
            "battles beside plans: 99th percentile, seconds",
            found.most,
            MAX_SECONDS,
            False,
            found.requests,
        )
        yield Measurement("battles beside plans: lost", found.lost, 0, False, found.requests)
        unmade = sum(status != 200 for status in statuses)
        yield Measurement("plans, lost", unmade, 0, False, len(statuses))
        if soak:
            yield from _measure_soak(address, process, soak)


def measure_beside_large_answers(
    address: str, process: psutil.Process, seconds: float
) -> Iterator[Measurement]:
    """Measure the latency of small questions while another client requests large answers.

    address, process: the server.
    seconds: the duration of the measurement in seconds.
    """
    for path in HEAVY:
        before = process.memory_info().rss
        with keep_asking(address, [path], 1) as statuses, watch_memory(process) as peak:
            waits = measure_waits(address, f"{BATTLE}&defenders={{}}", seconds)
        most = MAX_SECONDS_BESIDE_LARGE
        wait = find_quantile(waits, 0.99)
        yield Measurement(
            f"battles beside {path}: 99th percentile, seconds", wait, most, False, len(waits)
        )
        refused = sum(status != 200 for status in statuses)
        yield Measurement(f"{path}, refused", refused, None, False, len(statuses))
        growth = (max(peak) - before) / 2**20
        yield Measurement(
            f"memory beside {path}: additional megabytes", growth, MAX_MEGABYTES, False, len(peak)
        )


def measure_pictures_beside_plans(address: str, seconds: float) -> Iterator[Measurement]:
    """Measure the latency of pictures with and without two clients that search for plans."""
    alone = measure_waits(address, PICTURE, seconds)
    with keep_planning(address):
        beside = measure_waits(address, PICTURE, seconds)
    for part in (0.5, 0.9, 0.99):
        claim = f"pictures beside plans, {part:.0%} within seconds"
        yield Measurement(claim, find_quantile(beside, part), None, False, len(beside))
    ratio = find_quantile(beside, 0.9) / find_quantile(alone, 0.9)
    yield Measurement(
        "pictures beside plans: latency relative to no plans", ratio, 2, False, len(beside)
    )


def measure_waits(address: str, path: str, seconds: float) -> list[float]:
    """Return the latencies of one client in seconds, in ascending order.

    address: the address of the server.
    path: the path of the question, with a placeholder for the number of defenders.
    seconds: the duration of the measurement in seconds.
    """
    waits, end = list[float](), time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.perf_counter()
        status = ask_path(address, path.format(5 + len(waits) % 40))
        waits.append(time.perf_counter() - begun if status == 200 else math.inf)
        time.sleep(PAUSE / 1000)
    return sorted(waits)


def find_quantile(waits: list[float], part: float) -> float:
    """Return a quantile of some latencies."""
    return waits[math.ceil(part * len(waits)) - 1]


@contextmanager
def watch_memory(process: psutil.Process) -> Iterator[list[int]]:
    """Sample the memory of a process in the background; yield the list of samples in bytes."""
    is_over, found = threading.Event(), [process.memory_info().rss]

    def look() -> None:
        while not is_over.wait(0.05):
            found.append(process.memory_info().rss)

    watching = threading.Thread(target=look)
    watching.start()
    yield found
    is_over.set()
    watching.join()


def _measure_soak(address: str, process: psutil.Process, seconds: float) -> Iterator[Measurement]:
    with keep_planning(address) as statuses:
        first = run_wrk(address, SETTLED)
        before = measure_memory(process)
        found = run_wrk(address, seconds)
        after = measure_memory(process)
    lost = first.lost + found.lost
    megabytes = [size / 2**20 for size in (before, after)]
    yield Measurement("soak, lost", lost, 0, False, first.requests + found.requests)
    unmade = sum(status != 200 for status in statuses)
    yield Measurement("soak, plans lost", unmade, 0, False, len(statuses))
    yield Measurement("soak test: megabytes at the start", megabytes[0], None, False, 1)
    most = MAX_GROWTH * megabytes[0]
    yield Measurement("soak test: megabytes at the end", megabytes[1], most, False, 1)


def measure_behind_nginx(address: str, seconds: float) -> Iterator[Measurement]:
    """Measure the latency of a client beside busy clients, behind nginx as in `docs/serve.md`.

    address: the address of the server.
    seconds: the duration of the measurement in seconds.
    """
    if NGINX is None:
        print("  not measured; that needs nginx: apt-get install nginx")
        return
    with (
        tempfile.TemporaryDirectory() as name,
        run_nginx(address.removeprefix("http://"), Path(name)) as port,
        ExitStack() as idle,
        ThreadPoolExecutor(SEARCHES) as pool,
    ):
        for _ in range(IDLE):
            idle.enter_context(socket.create_connection(("127.0.0.1", port)))
        ssl_context, end = context(Path(name)), time.monotonic() + seconds
        searches = [pool.submit(_search_plans, port, ssl_context, end) for _ in range(SEARCHES)]
        waits: list[float] = []
        with _connect(port, ssl_context, "127.0.0.2") as connection:
            while time.monotonic() < end:
                begun = time.perf_counter()
                connection.request("GET", f"{BATTLE}&defenders={5 + len(waits) % 40}")
                response = connection.getresponse()
                response.read()
                waits.append(time.perf_counter() - begun if response.status == 200 else math.inf)
                time.sleep(PAUSE / 1000)
        statuses = [status for each in searches for status in each.result()]
    waits.sort()
    most = waits[math.ceil(0.99 * len(waits)) - 1]
    claim = "beside 500 idle connections and 20 searches: 99th percentile, seconds"
    yield Measurement(claim, most, MAX_SECONDS, False, len(waits))
    yield Measurement(
        "searches of one client, refused", statuses.count(429), None, True, len(statuses)
    )


def _search_plans(port: int, ssl_context: ssl.SSLContext, end: float) -> list[int]:
    """Request plans until the time `end`; return the statuses of the answers."""
    statuses = []
    while time.monotonic() < end:
        with _connect(port, ssl_context, "127.0.0.1") as connection:
            connection.request("GET", PLAN)
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
        if statuses[-1] == 429:
            time.sleep(1)
    return statuses


@contextmanager
def _connect(
    port: int, ssl_context: ssl.SSLContext, client_address: str
) -> Iterator[HTTPConnection]:
    connection = HTTPConnection(NAME, timeout=60)
    with (
        socket.create_connection(("127.0.0.1", port), 60, (client_address, 0)) as plain,
        ssl_context.wrap_socket(plain, server_hostname=NAME) as connection.sock,
    ):
        yield connection


def main() -> int:
    """Run the benchmarks from the command line. Return 1 if a requirement is not met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--soak", type=float, default=0.0)
    words = parser.parse_args()
    missed = 0
    for mark in measure_load(words.seconds, words.soak):
        print(mark, flush=True)
        missed += not mark.is_met
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
