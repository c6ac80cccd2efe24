"""Delivery: HEAD requests, caching and compression for every URL."""

import asyncio
import gzip
from typing import Any

import pytest
from starlette.responses import Response
from starlette.types import Message, Scope

from iacta.web import delivery as delivery_module
from iacta.web.delivery import Delivery, EntityTags
from iacta.web.limits import MAX_UNREAD_BYTES, PART_BYTES
from tests.web.server import Server

QUERY = "attackers=12&defenders=10"
LARGE = [
    "/",
    "/map",
    "/docs",
    "/api/v1/board",
    "/openapi.json",
    "/static/base.css",
    "/static/vega.js",
]
SMALL = [f"/api/v1/battle?{QUERY}", f"/api/v1/battle.csv?{QUERY}", "/about", "/theme.json"]
DRAWN = [f"/api/v1/battle/picture.json?{QUERY}", f"/api/v1/battle/picture.svg?{QUERY}"]
HEADERS = ("Content-Type", "Content-Length", "ETag", "Cache-Control", "Vary")


@pytest.mark.parametrize("path", [*LARGE, *SMALL, *DRAWN, "/nothing", "/api/v1/battle"])
def test_head_requests_get_the_headers_of_get(server: Server, path: str) -> None:
    asked, head = server.ask(path), server.ask(path, method="HEAD")
    assert (head.status, head.body) == (asked.status, b"")
    assert [head.headers[each] for each in HEADERS] == [asked.headers[each] for each in HEADERS]
    assert int(head.headers["Content-Length"]) == len(asked.body) > 0


@pytest.mark.parametrize("path", [*LARGE, *SMALL, *DRAWN])
def test_unchanged_content_is_not_sent_again(server: Server, path: str) -> None:
    first = server.ask(path)
    tag = first.headers["ETag"]
    assert first.headers["Cache-Control"] == "no-cache"
    for known in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
        again = server.ask(path, headers={"If-None-Match": known})
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
        assert again.headers["Content-Security-Policy"]
    other = server.ask(path, headers={"If-None-Match": '"other"'})
    assert (other.status, other.body) == (200, first.body)


def test_problems_are_not_cached(server: Server) -> None:
    for path in ("/api/v1/battle?attackers=x", "/nothing", "/battle?attackers=x&defenders=3"):
        reply = server.ask(path)
        assert (reply.headers["Cache-Control"], reply.headers["ETag"]) == ("no-store", None)


@pytest.mark.parametrize("path", LARGE)
def test_large_bodies_are_compressed_for_clients_that_accept_it(server: Server, path: str) -> None:
    plain = server.ask(path)
    assert plain.headers["Content-Encoding"] is None
    small = server.ask(path, headers={"Accept-Encoding": "br, gzip;q=0.8"})
    assert small.headers["Content-Encoding"] == "gzip"
    assert small.headers["ETag"] == plain.headers["ETag"]
    assert gzip.decompress(small.body) == plain.body
    refused = server.ask(path, headers={"Accept-Encoding": "br, identity"})
    assert refused.body == plain.body


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/api/v1/battle", "GET, HEAD, POST"),
        ("/api/v1/battle.csv", "GET, HEAD"),
        ("/api/v1/board/read", "POST"),
        ("/battle", "GET, HEAD"),
        ("/static/base.css", "GET, HEAD"),
        ("/openapi.json", "GET, HEAD"),
    ],
)
def test_an_unsuitable_method_is_refused_with_a_list_of_suitable_methods(
    server: Server, path: str, methods: str
) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "QUERY"):
        reply = server.ask(path, method=method)
        assert (reply.status, reply.headers["Allow"]) == (405, methods)


SCOPE: Scope = {"type": "http", "method": "GET", "headers": [], "path": "/"}
HALF = Response(bytes(MAX_UNREAD_BYTES // 2 + 1))


class Client:
    """A client that reads only on request, and the messages sent to it."""

    def __init__(self) -> None:
        self.reads = asyncio.Event()
        self.sent: list[Message] = []

    async def send(self, message: Message) -> None:
        """Receive a message."""
        self.sent.append(message)
        if "body" in message:
            await self.reads.wait()

    def ask(self, delivery: Delivery) -> "asyncio.Task[None]":
        """Send a request."""
        return asyncio.ensure_future(delivery(SCOPE, never, self.send))


async def never() -> Message:
    """Wait forever."""
    await asyncio.Event().wait()
    return {}


async def run_all_that_is_ready() -> None:
    """Let the other tasks of the loop run until all of them wait."""
    for _ in range(100):
        await asyncio.sleep(0)


def test_a_client_gets_a_part_when_it_has_read_the_one_before() -> None:
    async def run() -> None:
        client = Client()
        task = client.ask(Delivery(Response(bytes(3 * PART_BYTES - 1))))
        await run_all_that_is_ready()
        assert [len(each.get("body", b"")) for each in client.sent] == [0, PART_BYTES]
        client.reads.set()
        await task
        sizes = [len(each["body"]) for each in client.sent[1:]]
        assert sizes == [PART_BYTES, PART_BYTES, PART_BYTES - 1]

    asyncio.run(run())


def test_large_answers_are_refused_while_too_many_are_not_read() -> None:
    async def run() -> None:
        delivery = Delivery(HALF)
        slow, other, later = Client(), Client(), Client()
        task = slow.ask(delivery)
        await run_all_that_is_ready()
        for client in (other, later):
            client.reads.set()
        await other.ask(delivery)
        assert other.sent[0]["status"] == 503
        slow.reads.set()
        await task
        await later.ask(delivery)
        assert later.sent[0]["status"] == 200

    asyncio.run(run())


def test_the_connection_of_a_client_that_does_not_read_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(delivery_module, "MAX_READ_SECONDS", 0.1)
    delivery = Delivery(HALF)

    async def run() -> None:
        for _ in range(3):  # three such responses together exceed the limit
            client = Client()
            await client.ask(delivery)
            assert client.sent[0]["status"] == 200
            assert client.sent[-1]["more_body"]

    asyncio.run(run())


def test_the_memory_of_a_request_is_released_before_its_answer_is_read() -> None:
    has_returned = False

    async def app(scope: Scope, receive: Any, send: Any) -> None:
        nonlocal has_returned
        await Response(b"3")(scope, receive, send)
        has_returned = True

    async def run() -> None:
        client = Client()
        task = client.ask(Delivery(EntityTags(app)))
        await run_all_that_is_ready()
        assert client.sent
        assert has_returned
        client.reads.set()
        await task

    asyncio.run(run())
