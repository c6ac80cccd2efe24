"""HTTP as uvicorn speaks it with h11, which bounds the head of a request.

A client may send requests before earlier ones are answered. uvicorn goes on reading them whenever
an application asks whether the client has left, so a client that sends and reads nothing could fill
the memory. Here a connection is read again once all requests that it has sent are being answered.
"""

import asyncio

import h11
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedProtocol(H11Protocol):
    """Reads on from a connection only when no request of it waits for its turn."""

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
