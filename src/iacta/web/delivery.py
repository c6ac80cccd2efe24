"""Delivery of responses: ETags for unchanged content, and limited memory for slow clients."""

import asyncio
import hashlib
import logging
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iacta.web.guard import HEADERS
from iacta.web.limits import MAX_READ_SECONDS, MAX_UNREAD_BYTES, PART_BYTES
from iacta.web.problems import describe_problem
from iacta.web.process_pool import BusyError
from iacta.web.search_stream import LINES

LOG = logging.getLogger("uvicorn.error")
ENDING = "the server is shutting down"
UNREAD = "too many responses are waiting for slow clients; try again soon"
CONDITIONS = (b"if-none-match", b"if-modified-since", b"range")


class UnreadError(Exception):
    """Raised if a client does not read a part of its response in time."""


class EntityTags:
    """Middleware that adds ETags, which are hashes of the bodies.

    Clients may cache responses but must revalidate them: a request with the current ETag gets
    status 304 without a body. Error responses are not cached. `HEAD` is answered like `GET`;
    uvicorn omits the body.

    app: the wrapped application. It returns, and releases its memory, before its response is sent.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start: Message = {}
        parts: list[bytes] = []

        async def collect(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
            if _is_stream(start):
                await send(message)
            else:
                parts.append(message.get("body", b""))

        # Hide conditional requests from the application.
        headers = [header for header in scope["headers"] if header[0] not in CONDITIONS]
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self.app({**scope, "method": method, "headers": headers}, receive, collect)
        if start and not _is_stream(start):
            body = b"".join(parts)
            parts.clear()
            known = Headers(scope=scope).get("if-none-match", "")
            body = await _add_tag(start, body, known)
            await send(start)
            await send({"type": "http.response.body", "body": body})


async def _add_tag(start: Message, body: bytes, known: str) -> bytes:
    """Return the body to send, and update the status and the headers of the response.

    start: the message that starts the response.
    body: the complete body.
    known: the header `If-None-Match` of the request.
    """
    start["headers"] = list(start["headers"])
    headers = MutableHeaders(raw=start["headers"])
    if start["status"] != 200:
        headers["Cache-Control"] = "no-store"
        return body
    is_large = len(body) > PART_BYTES
    headers["Cache-Control"] = "no-cache"
    headers.add_vary_header("Accept-Encoding")
    tag = await asyncio.to_thread(_make_tag, body) if is_large else _make_tag(body)
    headers["ETag"] = f'W/"{tag}"'
    tags = re.findall(r'"([^"]*)"|(\*)', known)
    if (tag, "") in tags or ("", "*") in tags:
        start["status"] = 304
        for name in ("content-length", "content-type"):
            del headers[name]
        return b""
    headers["Content-Length"] = str(len(body))
    return body


def _make_tag(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def _is_stream(start: Message) -> bool:
    """Return whether a response streams partial answers, which must not be buffered."""
    return Headers(raw=start.get("headers", [])).get("content-type", "") == LINES


class Delivery:
    """Middleware that limits the memory of responses for slow clients.

    The server sends the next part of a response after the client has read the previous part, and
    closes the connection of a client that reads nothing for `MAX_READ_SECONDS`. If the unread bytes
    of all responses would exceed `MAX_UNREAD_BYTES`, a large response is replaced by status 503.

    app: the wrapped application, which sends each response that is not a stream in one piece.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._unread = 0  # total size of unread responses, in bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start: Message = {}
        has_begun = False

        async def send_in_time(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            try:
                async with asyncio.timeout(MAX_READ_SECONDS):
                    await send(message)
            except TimeoutError:
                raise UnreadError from None

        async def send_parts(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
            elif not _is_stream(start):
                await self._send(start, message.get("body", b""), send_in_time)
                return
            if _is_stream(start):
                await send_in_time(message)

        try:
            await self.app(scope, receive, send_parts)
        except UnreadError:
            LOG.error("closed the connection of a client that did not read its answer")
        except asyncio.CancelledError:  # uvicorn cancels requests when it shuts down
            if not has_begun:
                await _refuse(ENDING, send)

    async def _send(self, start: Message, body: bytes, send: Send) -> None:
        size = len(body) if len(body) > PART_BYTES else 0
        if size and self._unread + size > MAX_UNREAD_BYTES:
            await _refuse(UNREAD, send)
            return
        self._unread += size
        try:
            await send(start)
            for begin in range(0, len(body) or 1, PART_BYTES):
                end = begin + PART_BYTES
                part = {"body": body[begin:end], "more_body": end < len(body)}
                await send({"type": "http.response.body", **part})
        finally:
            self._unread -= size


async def _refuse(sentence: str, send: Send) -> None:
    """Send an error response: the server is busy."""
    response = describe_problem(BusyError(sentence)).response()
    headers = [*response.raw_headers, *HEADERS, (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})
