"""Connections: who sends nothing or too slowly holds up nobody, and fills neither table nor log."""

import asyncio
import gzip
import logging
import resource
import signal
import socket
from contextlib import suppress
from time import sleep
from typing import Any

import psutil
import pytest
import uvicorn
from uvicorn.server import ServerState

from iacta.web.connection import Connection
from iacta.web.limits import LOG_RECORDS, MOST_CONNECTIONS, MOST_OF_A_CLIENT
from iacta.web.log import BoundedLog
from tests.web.served import JSON, Server

BATTLE = "/api/v1/battle?attackers=3&defenders=2"
SECONDS = 120.0  # far more than the server waits
POST = "POST /api/v1/battle HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
PARTIAL = POST + "Content-Length: 99\r\n\r\n{{"


def opened(server: Server, text: str = "") -> socket.socket:
    """Open a connection, and send a text."""
    host, _, port = server.host.rpartition(":")
    found = socket.create_connection((host, int(port)), timeout=SECONDS)
    found.sendall(text.format(host=server.host).encode())
    return found


def received(connection: socket.socket) -> str:
    """Return all that comes until a connection is closed."""
    text = b""
    with suppress(ConnectionResetError):  # the server had not read all that was sent
        while part := connection.recv(2**16):
            text += part
    connection.close()
    return text.decode()


def test_who_is_idle_or_leaves_in_mid_body_silences_nobody_and_nothing_is_logged(
    own_server: Server,
) -> None:
    process = psutil.Process(own_server.process.pid)
    process.rlimit(resource.RLIMIT_NOFILE, (1024, 1024))
    idle = [opened(own_server) for _ in range(1100)]
    assert own_server.ask(BATTLE).status == 200
    assert process.num_fds() < 1024
    half = [opened(own_server, PARTIAL) for _ in range(300)]
    assert own_server.ask(BATTLE).status == 200
    for each in [*idle, *half]:
        each.close()
    for text in (PARTIAL, POST + "Transfer-Encoding: chunked\r\n\r\n5\r\n{{"):
        leaving = opened(own_server, text)
        sleep(0.2)
        leaving.close()
    assert own_server.ask(BATTLE).status == 200
    own_server.process.send_signal(signal.SIGINT)
    assert own_server.process.communicate() == ("", "")


def test_what_does_not_arrive_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iacta.web.connection.HEAD_SECONDS", 0.2)
    monkeypatch.setattr("iacta.web.connection.BODY_SECONDS", 0.4)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body"})

    async def replies(*sent: str) -> list[str]:
        config, state = uvicorn.Config(app, log_config=None, timeout_keep_alive=1), ServerState()
        config.load()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Connection(config, state, {}), "127.0.0.1", 0)

        async def reply(text: str) -> str:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(text.format(host="x").encode())
            found = await reader.read()
            writer.close()
            return found.decode()

        async with server:
            return await asyncio.gather(*map(reply, sent))

    whole = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    silent, lines, answered, *late = asyncio.run(
        replies("", "\r\n", whole, "GET / HTTP/1.1\r\nHost", PARTIAL)
    )
    assert (silent, lines) == ("", "")
    assert answered.startswith("HTTP/1.1 200")
    for text in late:
        assert text.startswith("HTTP/1.1 408")
        assert "the request did not arrive in time" in text


def test_what_is_no_request_is_refused_in_a_problem_document(server: Server) -> None:
    assert "not valid HTTP/1.1" in received(opened(server, "nonsense\r\n\r\n"))
    endless = opened(server, "GET / HTTP/1.1\r\n")
    with suppress(ConnectionError):
        for _ in range(70):
            endless.sendall(b"X: " + b"x" * 1000 + b"\r\n")
    reply = received(endless)
    assert reply.startswith("HTTP/1.1 431")
    assert "larger than 65,536 bytes" in reply


@pytest.mark.parametrize("path", ["/api/", "/api/v1/", "/battle", "/static/", "/battle/?next="])
def test_no_text_of_an_address_becomes_a_header(server: Server, path: str) -> None:
    address = f"{path}%0d%0aX-Evil:1"
    first = f"GET {address} HTTP/1.1\r\nHost: {{host}}\r\n\r\n"
    last = f"GET {BATTLE} HTTP/1.1\r\nHost: {{host}}\r\nConnection: close\r\n\r\n"
    reply, _, after = received(opened(server, first + last)).partition("HTTP/1.1 200 OK")
    assert "x-evil" not in [line.partition(":")[0].lower() for line in reply.splitlines()]
    assert "win_probability" in after  # the connection is not dropped
    if "?" not in path:
        assert reply.startswith("HTTP/1.1 404 Not Found")
        assert server.ask(address).record["detail"] == "nothing is at this address"


def test_a_compressed_body_is_refused(server: Server) -> None:
    body = gzip.compress(b'{"attackers": 3, "defenders": 2}')
    reply = server.ask("/api/v1/battle", body=body, headers={**JSON, "Content-Encoding": "gzip"})
    assert (reply.status, reply.headers["Accept-Encoding"]) == (415, "identity")
    assert "send the body uncompressed" in reply.record["detail"]


class Wire(asyncio.Transport):
    """A connection that notes what happens to it."""

    def __init__(self, host: str) -> None:
        super().__init__({"peername": (host, 1), "sockname": ("127.0.0.1", 8000)})
        self.sent, self.is_out = b"", False

    def write(self, data: Any) -> None:
        """Note what is sent."""
        self.sent += data

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Keep no buffer."""

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Leave the connection to a WebSocket."""

    def is_closing(self) -> bool:
        """Return whether it is closed."""
        return self.is_out

    def close(self) -> None:
        """Close it."""
        self.is_out = True

    abort = close


def test_the_connection_that_has_waited_longest_makes_room_and_no_busy_one() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(SECONDS)

    async def many() -> None:
        config, state = uvicorn.Config(app, log_config=None), ServerState()

        def made(host: str, is_busy: bool) -> Wire:
            connection, wire = Connection(config, state, {}), Wire(host)
            connection.connection_made(wire)
            if is_busy:
                connection.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            return wire

        busy = made("192.0.2.1", True)
        waiting = [made("192.0.2.1", False) for _ in range(MOST_OF_A_CLIENT - 1)]
        assert not any(each.is_out for each in [busy, *waiting])
        newest = made("192.0.2.1", False)
        assert [each.is_out for each in [busy, *waiting, newest]].index(True) == 1
        assert sum(each.is_out for each in waiting) == 1
        others = [made(f"192.0.2.{k % 8 + 2}", True) for k in range(MOST_CONNECTIONS)]
        assert all(each.is_out for each in [*waiting, newest])  # they made room first
        refused = [each for each in others if each.is_out]
        assert len(refused) == 1
        assert refused[0].sent.startswith(b"HTTP/1.1 503")
        assert b"retry-after: 2" in refused[0].sent
        for task in state.tasks:
            task.cancel()

    asyncio.run(many())


def test_the_log_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.Logger("test")
    logger.addHandler(log := BoundedLog())
    for _ in range(1000):
        logger.error("x" * 10**5)
    text = capsys.readouterr().err
    assert text.count("ERROR") == LOG_RECORDS
    assert len(text) < 10**4 * (LOG_RECORDS + 1)
    log._begun -= 60
    logger.error("later")
    assert capsys.readouterr().err == "980 more messages were not logged\nERROR: later\n"


def test_a_websocket_is_not_closed_as_a_request_that_is_late() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(SECONDS)

    async def upgraded() -> None:
        config = uvicorn.Config(app, log_config=None, ws="websockets-sansio")
        config.load()
        state = ServerState()
        connection = Connection(config, state, {})
        connection.connection_made(Wire("192.0.2.1"))
        head = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        connection.data_received((head + key).encode())
        assert not connection._is_waiting
        for task in state.tasks:
            task.cancel()

    asyncio.run(upgraded())
