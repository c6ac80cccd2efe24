"""Connections: how many there are, and how long a client may take to send and to receive.

A connection that waits for its client costs a descriptor, of which a process has few. So each part
of a request has its time, and where there are too many connections, the one that has waited for
its client longest is closed.
"""

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from iacta.web.guard import HEADERS
from iacta.web.limits import (
    BODY_SECONDS,
    HEAD_SECONDS,
    MOST_CONNECTIONS,
    MOST_HEAD_BYTES,
    MOST_OF_A_CLIENT,
    RETRY_SECONDS,
    TAKING_SECONDS,
)
from iacta.web.problems import ProblemDetails

__all__ = ["Connection"]


LATE = "the request did not arrive in time"
MANY = "the server has too many connections now; ask again soon"
LARGE = f"the headers are larger than {MOST_HEAD_BYTES:,} bytes"
UNREADABLE = "the request is not valid HTTP/1.1"


class Connection(HttpToolsProtocol):
    """A connection of a client.

    It is closed where a request, its body or the client's reading takes too long.
    """

    _reading: asyncio.TimerHandle | None = None  # until what has to come is late
    _writing: asyncio.TimerHandle | None = None  # until what is sent has not been taken
    _since = 0.0  # when the client was last heard of
    _head_bytes = 0
    _is_begun = _is_out = _is_upgraded = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 # of sockets
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that it says if anything is not taken
        self._expect(HEAD_SECONDS)
        there: list[Any] = [each for each in self.connections if not getattr(each, "_is_out", 0)]
        theirs = [each for each in there if _host(each) == _host(self)]
        for some, most in ((theirs, MOST_OF_A_CLIENT), (there, MOST_CONNECTIONS)):
            if len(some) > most:
                self._replace(some)
                return

    def _replace(self, others: list[Any]) -> None:
        """Close the connection that has waited for its client longest, if there is one."""
        waiting = [
            each
            for each in others
            if isinstance(each, Connection) and each is not self and each._is_waiting
        ]
        if waiting:
            out = min(waiting, key=lambda each: each._since)
            out._is_out = True
            out.transport.abort()
        else:
            self._refuse(ProblemDetails(503, MANY, headers={"Retry-After": str(RETRY_SECONDS)}))

    @property
    def _is_waiting(self) -> bool:
        timers = (self._reading, self._writing, self.timeout_keep_alive_task)
        return any(each is not None for each in timers)

    def data_received(self, data: bytes) -> None:
        """Read on, within the bounds of a request's head."""
        super().data_received(data)
        if self.transport.is_closing() or self.parser is None or self._is_upgraded:
            return
        is_over = self.cycle is None or self.cycle.response_complete
        if self._reading is None and is_over and self.timeout_keep_alive_task is None:
            self._expect(HEAD_SECONDS)  # empty lines, which are no request
        self._head_bytes += len(data) if self._is_begun else 0
        if self._head_bytes > MOST_HEAD_BYTES:
            self._refuse(ProblemDetails(431, LARGE))

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_begun, self._head_bytes = True, 0
        if self._reading is None:
            self._expect(HEAD_SECONDS)

    def on_headers_complete(self) -> None:
        self._is_begun, self._head_bytes = False, 0
        self._expect(BODY_SECONDS)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Expect nothing more."""
        self._heard()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """Leave the rest to a WebSocket."""
        self._heard()
        self._is_upgraded = True
        super().handle_websocket_upgrade()

    def connection_lost(self, exc: Exception | None) -> None:
        self._heard()
        self._taken()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._since = self.loop.time()
        self._writing = self.loop.call_later(TAKING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._taken()

    def send_400_response(self, msg: str) -> None:
        self._refuse(ProblemDetails(400, UNREADABLE))

    def _expect(self, seconds: float) -> None:
        self._heard()
        self._reading = self.loop.call_later(seconds, self._late)

    def _heard(self) -> None:
        self._since = self.loop.time()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _taken(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None

    def _late(self) -> None:
        self._reading = None
        if self.flow.read_paused:  # it waits for the server
            self._expect(HEAD_SECONDS)
        elif self._is_begun or (self.cycle is not None and not self.cycle.response_complete):
            self._refuse(ProblemDetails(408, LATE))
        else:
            self.transport.close()

    def _refuse(self, problem: ProblemDetails) -> None:
        """Close the connection, with a problem document where that is still possible."""
        cycle = self.cycle
        is_asked = cycle is not None and not cycle.response_complete
        is_half_answered = is_asked and (cycle.response_started or self._is_begun)
        if not (self.transport.is_closing() or self.pipeline or is_half_answered):
            response = problem.response()
            headers = [*response.raw_headers, *HEADERS, (b"connection", b"close")]
            lines = [f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}".encode()]
            lines += [name + b": " + value for name, value in headers]
            self.transport.write(b"\r\n".join([*lines, b"", bytes(response.body)]))
        self.transport.close()


def _host(connection: Any) -> str:
    """Return the address of a client, without its port."""
    return connection.client[0] if connection.client else ""
