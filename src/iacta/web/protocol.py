"""An HTTP protocol with a limited number of unanswered requests.

Clients may pipeline requests, that is, send a request before the response to an earlier request.
uvicorn continues to read while an application waits for a disconnect, so a client that sends
requests without reading responses could fill the memory. `BoundedProtocol` stops reading until all
received requests have been answered.
"""

import asyncio

import h11
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedProtocol(H11Protocol):
    """Stops reading from a connection while the buffer contains an unanswered request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        self.flow = _Flow(transport, self.conn)

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state is h11.IDLE:  # the next request is still incomplete
            self.flow.resume_reading()


class _Flow(FlowControl):
    def __init__(self, transport: asyncio.Transport, connection: h11.Connection) -> None:
        super().__init__(transport)
        self._connection = connection

    def resume_reading(self) -> None:
        is_read = self._connection.their_state is h11.DONE
        if not (is_read and self._connection.trailing_data[0]):
            super().resume_reading()
