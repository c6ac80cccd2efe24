"""How answers travel: nothing twice to who has it already, and what is large in a smaller form."""

import asyncio
import gzip
import hashlib
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iacta.web.limits import LARGE_BYTES
from iacta.web.search_stream import LINES

CONDITIONS = (b"if-none-match", b"if-modified-since", b"range")
LEVEL = 5  # of gzip: twice as fast as the usual one, and hardly larger


class Delivery:
    """Answers `HEAD` as `GET` without the body, and adds what caches need.

    Whoever keeps an answer asks each time whether it is still the same, and if so, gets only that
    said: the ETag is that of the text, whichever form it is sent in. Problems are not kept.

    app: what answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_headers = Headers(scope=scope)
        is_head = scope["method"] == "HEAD"
        start: Message = {}
        parts: list[bytes] = []

        async def send_whole(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                if _comes_in_lines(message):
                    await send(message)
                return
            if _comes_in_lines(start):
                await send(message)
                return
            parts.append(message.get("body", b""))
            if message.get("more_body"):
                return
            body = await _prepared(start, b"".join(parts), request_headers)
            await send(start)
            await send({"type": "http.response.body", "body": b"" if is_head else body})

        # What is asked under conditions is asked without: they are checked here.
        headers = [header for header in scope["headers"] if header[0] not in CONDITIONS]
        method = "GET" if is_head else scope["method"]
        await self.app({**scope, "method": method, "headers": headers}, receive, send_whole)


async def _prepared(start: Message, body: bytes, request_headers: Headers) -> bytes:
    """Return the body to send, and change the start of a response to what goes with it.

    start: with status and headers.
    body: all of it.
    request_headers: the headers of the request.
    """
    start["headers"] = list(start["headers"])
    headers = MutableHeaders(raw=start["headers"])
    if start["status"] != 200:
        headers["Cache-Control"] = "no-store"
        return body
    headers["Cache-Control"] = "no-cache"
    headers.add_vary_header("Accept-Encoding")
    tag = hashlib.blake2b(body, digest_size=16).hexdigest()
    headers["ETag"] = f'W/"{tag}"'
    known = re.findall(r'"([^"]*)"|(\*)', request_headers.get("if-none-match", ""))
    if (tag, "") in known or ("", "*") in known:
        start["status"] = 304
        for name in ("content-length", "content-type"):
            del headers[name]
        return b""
    if len(body) >= LARGE_BYTES and _takes_gzip(request_headers.get("accept-encoding", "")):
        body = await asyncio.to_thread(gzip.compress, body, LEVEL, mtime=0)
        headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(body))
    return body


def _comes_in_lines(start: Message) -> bool:
    """Return whether a response improves while it is sent, so that nothing of it may wait."""
    return Headers(raw=start["headers"]).get("content-type", "") == LINES


def _takes_gzip(encodings: str) -> bool:
    """Return whether a client takes gzip.

    >>> _takes_gzip("br, gzip;q=0.5"), _takes_gzip("gzip; q=0, *"), _takes_gzip("")
    (True, False, False)
    """
    qualities = {}
    for encoding in encodings.lower().split(","):
        name, _, quality = encoding.replace(" ", "").partition(";")
        qualities[name] = re.fullmatch(r"q=0(\.0*)?", quality) is None
    return qualities.get("gzip", qualities.get("*", False))
