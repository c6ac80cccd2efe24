"""HTTP with a bounded amount of unanswered requests.

A client may pipeline requests: send them before it has the answers to earlier ones. uvicorn resumes
reading whenever an application waits for a disconnect, so a client that sends requests and reads no
answers could fill the memory. `BoundedProtocol` reads on only when all received requests are
answered.
"""

import asyncio

import h11
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedProtocol(H11Protocol):
    """Reads from a connection only while no complete request is in the buffer."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        self.flow = _Flow(transport, self.conn)

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state is h11.IDLE:  # the next request is not complete
            self.flow.resume_reading()


class _Flow(FlowControl):
    def __init__(self, transport: asyncio.Transport, connection: h11.Connection) -> None:
        super().__init__(transport)
        self._connection = connection

    def resume_reading(self) -> None:
        is_read = self._connection.their_state is h11.DONE
        if not (is_read and self._connection.trailing_data[0]):
            super().resume_reading()
