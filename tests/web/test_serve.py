"""`iacta serve` as a process: how it begins, how it ends, and who goes away."""

import json
import signal
import socket
import subprocess
import sys
from contextlib import suppress

import psutil
import pytest
from websockets.sync.client import connect

import iacta
from iacta.cli.serve import ServeCommand
from iacta.errors import IllegalError
from tests.web.served import Server

STACKS = {"Ukraine": ("red", 42), "Brazil": ("red", 30)}
POSITION = iacta.Position(iacta.classic_board(), "red", STACKS, others=("blue", 3))
LONG = {"code": POSITION.to_code(), "take": "Asia", "time_limit": 20}
ENDLESS = "/api/v1/simulate?attackers=2000&territories=900+900&runs=10000000&rules=capital"


def sent(server: Server, path: str) -> socket.socket:
    """Ask without waiting for the answer."""
    host, _, port = server.host.rpartition(":")
    asked = socket.create_connection((host, int(port)))
    asked.sendall(f"GET {path} HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode())
    return asked


def test_ctrl_c_ends_it_with_work_running_and_leaves_no_process(own_server: Server) -> None:
    own_server.wait()
    asked = sent(own_server, ENDLESS)
    with connect(f"ws://{own_server.host}/live/turn") as live:
        live.send(json.dumps(LONG))
        assert "progress" in json.loads(live.recv())
        children = psutil.Process(own_server.process.pid).children(recursive=True)
        assert len(children) >= 4
        own_server.process.send_signal(signal.SIGINT)
        output, complaint = own_server.process.communicate(timeout=300)
    asked.close()
    assert (own_server.process.returncode, output, complaint) == (130, "", "")
    assert psutil.wait_procs(children, timeout=300)[1] == []


def test_processes_end_with_a_server_that_is_killed(own_server: Server) -> None:
    assert own_server.ask("/api/v1/battle?attackers=3&defenders=2").status == 200
    children = psutil.Process(own_server.process.pid).children(recursive=True)
    own_server.process.kill()
    assert psutil.wait_procs(children, timeout=300)[1] == []


def test_a_client_that_goes_away_ends_its_work(server: Server) -> None:
    server.wait()
    for _ in range(3):  # with two searches each, more than may wait
        sent(server, "/api/v1/plan?from_=Ukraine=42&others=3&take=Asia&time_limit=20").close()
        with connect(f"ws://{server.host}/live/turn") as live:
            live.send(json.dumps(LONG))
            said = json.loads(live.recv())
            assert said.keys() <= {"progress", "problem"}
    server.wait()
    small = server.ask("/api/v1/plan?from_=Peru=9&others=2&take=Brazil")
    assert small.status == 200


def test_a_search_is_stopped_with_what_it_has_found(server: Server) -> None:
    server.wait()
    with connect(f"ws://{server.host}/live/turn") as live:
        live.send(json.dumps(LONG))
        assert json.loads(live.recv())["progress"]["keeps"]
        live.send(json.dumps({"stop": True}))
        said = {}
        while "answer" not in said:
            said = json.loads(live.recv())
            assert "problem" not in said
    assert 0 < said["answer"]["value"] < 1
    assert len(said["answer"]["moves"]) > 3


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ("nonsense", "JSON"),
        ("[]", "the body must be an object"),
        ('{"take": "Asia"}', "code must be text"),
        ('{"code": "1;classic;red;Peru:red:3,Brazil:blue:2", "take": "Mars"}', "'Mars'"),
    ],
)
def test_a_search_that_cannot_begin_says_why(server: Server, sent: str, words: str) -> None:
    server.wait()
    with connect(f"ws://{server.host}/live/turn") as live:
        live.send(sent)
        assert words in json.loads(live.recv())["problem"]["detail"]


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


@pytest.mark.parametrize("host", ["not a host", "192.0.2.1", "\u202e"])
def test_a_host_that_is_not_here_is_reported_in_one_sentence(host: str) -> None:
    command = [sys.executable, "-m", "iacta", "serve", "--host", host]
    ended = subprocess.run(  # noqa: S603 # our own command
        command, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("iacta: --host is not an address of this machine: ")
    assert ended.stderr.count("\n") == 1
