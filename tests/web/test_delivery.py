"""Delivery: every address can be asked for its head only, kept, and sent in a smaller form."""

import gzip

import pytest

from tests.web.served import Server

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
def test_head_is_answered_as_get_without_the_body(server: Server, path: str) -> None:
    asked, head = server.ask(path), server.ask(path, method="HEAD")
    assert (head.status, head.body) == (asked.status, b"")
    assert [head.headers[each] for each in HEADERS] == [asked.headers[each] for each in HEADERS]
    assert int(head.headers["Content-Length"]) == len(asked.body) > 0


@pytest.mark.parametrize("path", [*LARGE, *SMALL, *DRAWN])
def test_what_is_known_is_not_sent_again(server: Server, path: str) -> None:
    first = server.ask(path)
    tag = first.headers["ETag"]
    assert first.headers["Cache-Control"] == "no-cache"
    for known in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
        again = server.ask(path, headers={"If-None-Match": known})
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
        assert again.headers["Content-Security-Policy"]
    other = server.ask(path, headers={"If-None-Match": '"other"'})
    assert (other.status, other.body) == (200, first.body)


def test_problems_are_not_kept(server: Server) -> None:
    for path in ("/api/v1/battle?attackers=x", "/nothing", "/battle?attackers=x&defenders=3"):
        reply = server.ask(path)
        assert (reply.headers["Cache-Control"], reply.headers["ETag"]) == ("no-store", None)


@pytest.mark.parametrize("path", LARGE)
def test_what_is_large_is_sent_smaller_to_who_can_read_it(server: Server, path: str) -> None:
    plain = server.ask(path)
    assert plain.headers["Content-Encoding"] is None
    small = server.ask(path, headers={"Accept-Encoding": "br, gzip;q=0.8"})
    assert small.headers["Content-Encoding"] == "gzip"
    assert small.headers["ETag"] == plain.headers["ETag"]
    assert gzip.decompress(small.body) == plain.body
    refused = server.ask(path, headers={"Accept-Encoding": "gzip;q=0, identity"})
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
def test_a_method_that_is_not_taken_is_refused_with_those_that_are(
    server: Server, path: str, methods: str
) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "QUERY"):
        reply = server.ask(path, method=method)
        assert (reply.status, reply.headers["Allow"]) == (405, methods)
