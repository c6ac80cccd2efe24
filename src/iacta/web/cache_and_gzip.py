"""Delivery of responses: ETags for unchanged content, gzip for large bodies, limited memory."""

import asyncio
import gzip
import hashlib
import logging
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iacta.web.guard import HEADERS
from iacta.web.limits import (
    LARGE_BYTES,
    MAX_READ_SECONDS,
    MAX_UNREAD_BYTES,
    PART_BYTES,
)
from iacta.web.problems import find_problem
from iacta.web.process_pool import BusyError
from iacta.web.search_stream import LINES

LOG = logging.getLogger("uvicorn.error")
ENDING = "the server is shutting down"
UNREAD = "too many responses are waiting for slow clients; try again soon"
CONDITIONS = (b"if-none-match", b"if-modified-since", b"range")
LEVEL = 5  # takes half the time of gzip's default level, for a slightly larger result


class UnreadError(Exception):
    """Raised if a client does not read a part of its response in time."""


class Delivery:
    """Middleware that adds ETags and compression, and sends large responses in parts.

    Clients may cache responses but must revalidate them: a request with the current ETag gets
    status 304 without a body. The ETag is a hash of the uncompressed body. Error responses are not
    cached. `HEAD` is answered like `GET`, without the body.

    The server sends the next part of a response after the client has read the previous part, and
    closes the connection of a client that reads nothing for `MAX_READ_SECONDS`. If the unread bytes
    of all responses would exceed `MAX_UNREAD_BYTES`, a large response is replaced by status 503.

    app: the wrapped application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._unread = 0  # total size of unread responses, in bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_headers = Headers(scope=scope)
        start: Message = {}
        parts: list[bytes] = []
        has_begun = False

        async def send_on(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            try:
                async with asyncio.timeout(MAX_READ_SECONDS):
                    await send(message)
            except TimeoutError:
                raise UnreadError from None

        async def collect(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                if _is_stream(message):
                    await send_on(message)
            elif _is_stream(start):
                await send_on(message)
            else:
                parts.append(message.get("body", b""))

        # Hide conditional requests from the application, because `Delivery` handles them.
        headers = [header for header in scope["headers"] if header[0] not in CONDITIONS]
        is_head = scope["method"] == "HEAD"
        method = "GET" if is_head else scope["method"]
        try:
            await self.app({**scope, "method": method, "headers": headers}, receive, collect)
            # The application has returned and released its memory before the response is sent.
            if start and not _is_stream(start):
                body = await _prepare_response(start, b"".join(parts), request_headers)
                parts.clear()
                await self._send(start, b"" if is_head else body, send_on)
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
    response = find_problem(BusyError(sentence)).response()
    headers = [*response.raw_headers, *HEADERS, (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


async def _prepare_response(start: Message, body: bytes, request_headers: Headers) -> bytes:
    """Return the body to send, and update the status and the headers of the response.

    start: the message that starts the response.
    body: the complete body.
    request_headers: the headers of the request.
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
    known = re.findall(r'"([^"]*)"|(\*)', request_headers.get("if-none-match", ""))
    if (tag, "") in known or ("", "*") in known:
        start["status"] = 304
        for name in ("content-length", "content-type"):
            del headers[name]
        return b""
    if len(body) >= LARGE_BYTES and _accepts_gzip(request_headers.get("accept-encoding", "")):
        body = await asyncio.to_thread(gzip.compress, body, LEVEL, mtime=0)
        headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(body))
    return body


def _make_tag(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def _is_stream(start: Message) -> bool:
    """Return whether a response streams partial answers, which must not be buffered."""
    return Headers(raw=start["headers"]).get("content-type", "") == LINES


def _accepts_gzip(encodings: str) -> bool:
    """Return whether the client accepts gzip.

    >>> _accepts_gzip("br, gzip;q=0.5"), _accepts_gzip("gzip; q=0, *"), _accepts_gzip("")
    (True, False, False)
    """
    qualities = {}
    for encoding in encodings.lower().split(","):
        name, _, quality = encoding.replace(" ", "").partition(";")
        qualities[name] = re.fullmatch(r"q=0(\.0*)?", quality) is None
    return qualities.get("gzip", qualities.get("*", False))
