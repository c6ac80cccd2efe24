"""`iacta serve` as a process: start, end, and clients that disconnect."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from itertools import islice
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import psutil
import pytest

import iacta
from iacta.cli.serve import ServeCommand
from iacta.inputs.errors import IllegalError
from iacta.web.problems import PROBLEM
from iacta.web.search_stream import LINES
from tests.web.server import JSON, Server

STACKS = {"Ukraine": ("red", 42), "Brazil": ("red", 30)}
POSITION = iacta.Position(iacta.classic_board(), "red", STACKS, others=("blue", 3))
LONG: dict[str, object] = {"position": POSITION.to_code(), "take": "Asia", "time_limit": 20}
SMALL = "1;classic;red;Peru:red:9,Brazil:blue:2;attack"
FILE = "/static/map.js"
ENDLESS = "/api/v1/simulate?attackers=2000&territories=900+900&runs=10000000&rules=capital"


def connect(server: Server, timeout: float | None = None) -> socket.socket:
    """Open a connection to a server."""
    host, _, port = server.host.rpartition(":")
    return socket.create_connection((host, int(port)), timeout)


def send_request(server: Server, path: str) -> socket.socket:
    """Send a request without waiting for the response."""
    asked = connect(server)
    asked.sendall(f"GET {path} HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
    return asked


@contextmanager
def start_search(
    server: Server, asked: str | dict[str, object]
) -> Iterator[Iterator[dict[str, Any]]]:
    """Start a search, yield the lines of its response, then disconnect."""
    connection = HTTPConnection(server.host, timeout=300)
    body = asked if isinstance(asked, str) else json.dumps(asked)
    connection.request("POST", "/api/v1/plan", body, {**JSON, "Accept": LINES})
    with closing(connection):
        response = connection.getresponse()
        yield map(json.loads, response)


def test_ctrl_c_ends_running_work_and_leaves_no_process(own_server: Server) -> None:
    own_server.wait()
    asked = send_request(own_server, ENDLESS)
    with start_search(own_server, LONG) as lines:
        next(lines)  # the search has started
        children = psutil.Process(own_server.process.pid).children(recursive=True)
        assert len(children) >= 4
        own_server.process.send_signal(signal.SIGINT)
        output, complaint = own_server.process.communicate(timeout=300)
    asked.close()
    assert (own_server.process.returncode, output, complaint) == (130, "", "")
    assert psutil.wait_procs(children, timeout=300)[1] == []


@pytest.mark.parametrize("sent_signal", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_start_refuses_waiting_requests(
    own_server: Server, sent_signal: signal.Signals
) -> None:
    paths = ("/api/v1/battle?attackers=3&defenders=2", "/api/v1/plan?from_=Peru=9&take=Brazil")
    waiting = [send_request(own_server, path) for path in paths]
    assert own_server.ask("/theme.json").status == 200  # the server has read the earlier requests
    own_server.process.send_signal(sent_signal)
    for asked in waiting:
        with closing(HTTPResponse(asked)) as response:
            response.begin()
            assert response.status == 503
            assert json.loads(response.read())["detail"] == "the server is shutting down"
        asked.close()
    assert own_server.process.communicate(timeout=300) == ("", "")
    assert own_server.process.returncode == (
        130 if sent_signal == signal.SIGINT else -signal.SIGTERM
    )


def test_a_request_without_its_body_ends_with_the_server(own_server: Server) -> None:
    head = "POST /api/v1/battle HTTP/1.1\r\nContent-Type: application/json\r\n"
    with connect(own_server) as asked:
        asked.sendall(f"{head}Host: {own_server.host}\r\nContent-Length: 9\r\n\r\n".encode())
        assert own_server.ask("/theme.json").status == 200
        own_server.process.send_signal(signal.SIGINT)
        with closing(HTTPResponse(asked)) as response:
            response.begin()
            assert (response.status, response.headers["Content-Type"]) == (503, PROBLEM)
    output, complaint = own_server.process.communicate(timeout=300)
    assert output == ""
    assert "Traceback" not in complaint


def peak_memory(server: Server) -> int:
    """Return the peak memory of the server process in bytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return 1024 * int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0])


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs Linux")
def test_a_server_needs_little_memory_and_its_processes_end_if_it_is_killed(
    own_server: Server,
) -> None:
    assert own_server.ask("/table?attackers=12&defenders=12").status == 200
    before = peak_memory(own_server)
    reply = own_server.ask("/table?attackers=1200&defenders=1200")
    assert reply.status == 200
    # A page that keeps all its cells would take 1,000 times the size of its text.
    assert peak_memory(own_server) - before < 40 * len(reply.body)
    check_memory_of_waiting_requests(own_server)
    children = psutil.Process(own_server.process.pid).children(recursive=True)
    own_server.process.kill()
    assert psutil.wait_procs(children, timeout=300)[1] == []


def check_memory_of_waiting_requests(server: Server) -> None:
    """Check that a server stops reading when clients send more than it can answer."""
    process = psutil.Process(server.process.pid)
    assert server.ask(FILE).status == 200
    before = process.memory_info().rss
    asked = f"GET {FILE} HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode() * 100_000
    with ExitStack() as connections:
        for _ in range(5):
            link = connections.enter_context(connect(server, 0.5))
            with suppress(TimeoutError):  # the server has stopped reading
                link.sendall(asked)
        assert server.ask(FILE).status == 200
        assert process.memory_info().rss - before < 5 * 2**20  # 5 clients that sent 3 MB each


@pytest.mark.skipif(not hasattr(psutil.Process, "rlimit"), reason="needs Linux")
def test_faults_of_clients_get_few_lines_in_the_log(own_server: Server) -> None:
    process = psutil.Process(own_server.process.pid)
    own_server.wait()
    assert own_server.ask("/api/v1/battle/picture.svg?attackers=3&defenders=2").status == 200
    _, most = process.rlimit(psutil.RLIMIT_NOFILE)
    begun = monotonic()
    process.rlimit(psutil.RLIMIT_NOFILE, (process.num_fds() + 8, most))
    with ExitStack() as connections:
        for _ in range(40):
            connections.enter_context(connect(own_server))
        sleep(1.5)
    process.rlimit(psutil.RLIMIT_NOFILE, (most, most))
    assert own_server.ask("/api/v1/battle?attackers=3&defenders=2").status == 200
    seconds = monotonic() - begun
    broken = b"POST / HTTP/1.1\r\nHost: other\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    for _ in range(5):
        with connect(own_server) as asked:
            asked.sendall(broken)
            assert asked.recv(100).startswith(b"HTTP/1.1 400 ")
    own_server.process.terminate()
    lines = own_server.process.communicate(timeout=300)[1].splitlines()
    full = "ERROR: all file descriptors are in use; see `ulimit -n`"
    count = len([line for line in lines if "descriptors" in line])
    assert lines[0] == full
    assert count <= seconds + 1  # one line in a second
    assert lines[count] == "ERROR: a client sent invalid HTTP while the server was responding"
    assert {line.partition(" (")[0] for line in lines[count:]} == {lines[count]}


def test_pipelined_requests_are_answered_in_order(server: Server) -> None:
    numbers = [2 + k % 50 for k in range(1100)]  # more than Python's recursion limit
    paths = [f"/api/v1/battle?attackers={number}&defenders=2" for number in numbers]
    asked = "".join(f"GET {path} HTTP/1.1\r\nHost: {server.host}\r\n\r\n" for path in paths)
    body = b'{"attackers": 3, "defenders": 2}'
    head = "POST /api/v1/battle HTTP/1.1\r\nContent-Type: application/json\r\n"
    last = f"{head}Host: {server.host}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    with connect(server) as link:
        sending = Thread(target=link.sendall, args=(asked.encode() + last,))
        sending.start()
        with link.makefile("rb") as answers:
            for number in [*numbers, 3]:
                lines = [*iter(answers.readline, b"\r\n")]
                length = next(line for line in lines if line.lower().startswith(b"content-length"))
                record = json.loads(answers.read(int(length.split()[1])))
                assert record["attackers"] == number
        sending.join()


def test_a_disconnected_client_cancels_its_work(server: Server) -> None:
    server.wait()
    for _ in range(3):  # six searches, more than the queue may hold
        send_request(
            server, "/api/v1/plan?from_=Ukraine=42&others=3&take=Asia&time_limit=20"
        ).close()
        with start_search(server, LONG) as lines:
            next(lines)
    server.wait()
    small = server.ask("/api/v1/plan?from_=Peru=9&others=2&take=Brazil")
    assert small.status == 200


def test_a_search_answers_early_and_improves_later(server: Server) -> None:
    server.wait()
    with start_search(server, LONG) as lines:
        assert next(lines)["progress"]["keeps"]
        answers = [*islice((line["answer"] for line in lines if "answer" in line), 2)]
    assert len(answers) == 2
    for answer in answers:
        assert 0 < answer["value"] < 1
        assert len(answer["moves"]) > 3


def test_a_proven_answer_ends_the_search(server: Server) -> None:
    server.wait()
    with start_search(server, {"position": SMALL, "take": "Brazil", "time_limit": 20}) as lines:
        *_, answer = (line["answer"] for line in lines if "answer" in line)
    assert answer["proven"]


def test_plans_are_streamed_in_lines(server: Server) -> None:
    server.wait()
    asked = {"position": SMALL, "take": "Brazil"}
    plain = server.ask("/api/v1/plan", asked).record
    reply = server.ask("/api/v1/plan", asked, headers={"Accept": LINES})
    answer = json.loads(reply.body.splitlines()[-1])["answer"]
    assert {**answer, "seconds": 0} == {**plain, "seconds": 0}


WAR = "1;classic;red;Peru:red:9,Venezuela:green:4,Brazil:blue:6,Argentina:blue:1"


def test_games_are_streamed_in_lines_until_all_are_played(server: Server) -> None:
    server.wait()
    asked = {"code": WAR, "games": 20}
    plain = server.ask("/api/v1/win", asked).record
    reply = server.ask("/api/v1/win", {**asked, "time_limit": 20}, headers={"Accept": LINES})
    lines = [json.loads(line) for line in reply.body.splitlines()]
    answers = [line["answer"] for line in lines if "answer" in line]
    complete = [each for each in answers if each["is_complete"]]
    assert plain["is_complete"]
    assert 1 <= len(complete) <= 2  # the last stage may be reported before the answer
    assert answers[-len(complete) :] == complete == [plain] * len(complete)
    for said in answers:
        assert said["condition"] == "when the computer plays every side"
        assert 0 <= said["second_opinion"] <= 1


def test_goals_are_streamed_in_lines(server: Server) -> None:
    server.wait()
    asked = {"code": WAR, "games": 10, "win": True, "time_limit": 20}
    reply = server.ask("/api/v1/goals", asked, headers={"Accept": LINES})
    lines = [json.loads(line) for line in reply.body.splitlines()]
    answers = [line["answer"] for line in lines if "answer" in line]
    assert len(answers) > 1
    assert "answer" in lines[-1]
    goals = [goal for each in answers for goal in each["goals"]]
    assert all("chance" in goal or "second_opinion" in goal for goal in goals)
    assert "win" not in answers[0]["goals"][0]  # the chances to reach goals come first
    assert "second_opinion" in answers[-1]["goals"][0]


def test_pages_about_games_state_their_assumptions(server: Server) -> None:
    for path in ("/win", f"/goals?code={WAR.replace(';', '%3B')}&win=true&games=4"):
        page = server.ask(path).body.decode().replace("&#39;", "'")
        assert "when the computer plays every side" in page
        assert "when another AI does" in page


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ("nonsense", "JSON"),
        ("[]", "the body must be a JSON object"),
        ('{"take": "Asia"}', "missing position"),
        ('{"position": "1;classic;red;Peru:red:3,Brazil:blue:2", "take": "Mars"}', "'Mars'"),
    ],
)
def test_a_search_that_cannot_begin_states_the_reason(
    server: Server, sent: str, words: str
) -> None:
    server.wait()
    with start_search(server, sent) as lines:
        (said,) = lines
    assert words in said.get("problem", said)["detail"]


def test_a_port_in_use_is_reported_in_one_sentence(server: Server) -> None:
    port = server.host.rpartition(":")[2]
    command = [sys.executable, "-m", "iacta", "serve", "--port", port]
    second = subprocess.run(  # noqa: S603 # our own command
        command, capture_output=True, text=True, check=False
    )
    said = f"iacta: --port is in use by another program: {port}; try --port "
    assert (second.returncode, second.stdout) == (2, "")
    assert second.stderr.startswith(said)
    assert int(second.stderr.removeprefix(said)) > int(port)


def test_a_port_that_is_offered_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        with suppress(OSError), socket.create_server(("127.0.0.1", port + 1)):
            with pytest.raises(IllegalError, match="; try --port ") as refused:
                ServeCommand(port=port).run()
            offered = int(str(refused.value).rpartition(" ")[2])
            assert offered > port + 1
            socket.create_server(("127.0.0.1", offered)).close()
