"""The guard: allowed hosts and origins, limits on requests, and attacks."""

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlencode

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iacta.web.app import create_app
from iacta.web.guard import HEADERS, Guard
from iacta.web.limits import MAX_BODY_BYTES
from iacta.web.read_question import list_served_questions
from tests.tables import table
from tests.web.server import JSON, Server

BATTLE = "/api/v1/battle?attackers=3&defenders=2"
ADDRESSES = [
    BATTLE,
    "/",
    "/docs",
    "/openapi.json",
    "/static/base.css",
    "/nothing",
    "/api/v1/battle",
]
LOCAL = MappingProxyType({"Host": "127.0.0.1"})
HARMFUL = "<script>alert(1)</script>\"'"
BOARD = {"name": HARMFUL, "territories": {HARMFUL: ["B"], "B": []}}


@pytest.mark.parametrize(*table(__file__, "hosts"))
def test_only_requests_for_this_host_are_accepted(
    server: Server, host: str, is_let_in: bool
) -> None:
    port = server.host.rpartition(":")[2]
    for path in (BATTLE, "/", "/static/base.css"):
        reply = server.ask(path, headers={"Host": host.format(port=port)})
        assert reply.status == (200 if is_let_in else 421), path


@pytest.mark.parametrize(
    ("host", "is_let_in"),
    [("192.168.0.7", True), ("[fe80::1]:8000", True), ("my.box", True), ("evil.com", False)],
)
def test_a_server_on_all_addresses_accepts_numbers_and_its_names(
    host: str, is_let_in: bool
) -> None:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    guard = Guard(answer, "0.0.0.0", ["my.box"])  # noqa: S104 # nothing listens here
    (begun, *_) = collect_messages(guard, "/", headers={"Host": host})
    assert begun["status"] == (200 if is_let_in else 421)


@pytest.mark.parametrize("path", ADDRESSES)
def test_every_response_says_what_a_browser_may_do(server: Server, path: str) -> None:
    headers = server.ask(path).headers
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.partition("style-src")[0]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Set-Cookie"] is headers["Server"] is None
    assert headers["Access-Control-Allow-Origin"] is None


def test_unexpected_errors_have_security_headers() -> None:
    async def fail() -> None:
        raise RuntimeError

    app = create_app()
    app.add_api_route("/fails", fail)
    app.router.routes.insert(0, app.router.routes.pop())
    (begun, *_) = collect_messages(app, "/fails", raises=RuntimeError)  # the log needs it
    assert begun["status"] == 500
    assert {*HEADERS} <= {*begun["headers"]}


def test_a_large_body_is_refused(server: Server) -> None:
    text = b'{"attackers": 3, "defenders": 2, "rules": "%s"}'
    fits = server.ask("/api/v1/battle", body=text % (b"x" * 10_000), headers=JSON)
    assert fits.status == 422
    large = text % (b"x" * MAX_BODY_BYTES)
    assert server.ask("/api/v1/battle", body=large, headers=JSON).status == 413
    chunked = server.ask("/api/v1/battle", chunks=[large[:500_000], large[500_000:]], headers=JSON)
    assert chunked.status == 413
    assert chunked.record["detail"].startswith("the body is larger than 1,000,000 bytes")
    assert server.ask(f"{BATTLE}&rules={'x' * 20_000}").status == 414


@pytest.mark.parametrize("name", list_served_questions())
def test_no_parameter_reads_a_file(server: Server, name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"board": "classic", "player": "red", "territories": {}, "secret": 7}')
    form = list_served_questions()[name]
    for parameter in form.parameters():
        for path in (str(secret), "-", f"file://{secret}"):
            for reply in (
                server.ask(f"/api/v1/{name}", {parameter.name: path, **_list_needed(name)}),
                server.ask(f"/api/v1/{name}?{parameter.name}={path}"),
            ):
                assert reply.status == 422
                assert "secret': 7" not in reply.record["detail"]


def _list_needed(name: str) -> dict[str, object]:
    """Return the parameters that a question needs besides a position."""
    return {"take": "Asia"} if name == "plan" else {}


@pytest.mark.parametrize(*table(__file__, "paths"))
def test_no_path_of_the_server_is_read(server: Server, path: str) -> None:
    reply = server.ask(path)
    assert reply.status in (404, 405)
    assert b"root:" not in reply.body
    assert b"import" not in reply.body


def test_problems_reveal_nothing_about_the_machine(server: Server) -> None:
    said = [
        server.ask("/api/v1/battle?attackers=x&defenders=2"),
        server.ask("/api/v1/plan", {"position": "/etc/passwd", "take": "Asia"}),
        server.ask("/static/nothing.js"),
        server.ask("/api/v1/plan", {"position": {"board": "/etc/hostname"}, "take": "Asia"}),
    ]
    for reply in said:
        text = reply.body.decode()
        for word in (
            os.getcwd(),
            "site-packages",
            "Traceback",
            "iacta/",
            ".py",
            os.uname().nodename,
        ):
            assert word not in text


@pytest.mark.parametrize("name", ["position", "board"])
def test_no_file_is_read_for_a_client(server: Server, name: str, tmp_path: Path) -> None:
    file = tmp_path / "secret.toml"
    file.write_text("[territories]\nA = ['B']\nB = []\nsecret = ['none']")
    others = {"from_": {"A": 3}, "others": 2} if name == "board" else {}
    asked = {name: str(file), "take": "B", **others}
    replies = [
        server.ask("/api/v1/plan", asked),
        server.ask("/api/v1/plan?" + urlencode({**asked, "from_": "A=3"})),
    ]
    for reply in replies:
        assert reply.status == 422
        assert reply.record["detail"].endswith(
            "the server reads no files; send the contents of the file"
        )


def test_names_are_escaped_everywhere(server: Server) -> None:
    reply = server.ask("/api/v1/battle", {"attackers": 3, "defenders": 2, "rules": HARMFUL})
    assert reply.headers["Content-Type"] == "application/problem+json"
    for path in ("/battle?attackers=3&defenders=%3Cscript%3E", "/%3Cscript%3E"):
        page = server.ask(path, headers={"Accept": "text/html"})
        assert page.headers["Content-Type"].startswith("text/html")
        assert b"<script>" not in page.body
    server.wait()
    position = {
        "board": BOARD,
        "player": "red",
        "territories": {HARMFUL: {"owner": "red", "armies": 5}, "B": {"owner": "<b>", "armies": 2}},
    }
    plan = server.ask("/api/v1/plan", {"position": position, "take": "B"})
    assert plan.record["steps"][0]["from"] == HARMFUL
    assert plan.headers["Content-Type"] == "application/json"
    assert json.loads(plan.body)["territories"][0]["name"] == HARMFUL


def test_all_urls_of_the_api_contain_its_version(server: Server) -> None:
    assert all(path.startswith("/api/v1/") for path in server.ask("/openapi.json").record["paths"])


def test_other_sites_may_call_the_api_only_if_allowed() -> None:
    site = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    for origins, header in (((), None), (("https://example.org",), b"https://example.org")):
        app = create_app(origins=origins)
        (begun, *_) = collect_messages(app, "/api/v1/battle", "OPTIONS", site)
        assert dict(begun["headers"]).get(b"access-control-allow-origin") == header
    (begun, *_) = collect_messages(app, "/battle", "OPTIONS", site)
    assert b"access-control-allow-origin" not in dict(begun["headers"])


def collect_messages(
    app: ASGIApp,
    path: str,
    method: str = "GET",
    headers: Mapping[str, str] = LOCAL,
    raises: type[Exception] | None = None,
) -> list[Message]:
    """Return the messages that an app sends, even if it raises an error."""
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [
            (name.lower().encode(), text.encode()) for name, text in {**LOCAL, **headers}.items()
        ],
        "client": ("192.0.2.7", 1),
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    async def answer() -> None:
        await app(scope, receive, send)

    with pytest.raises(raises) if raises else nullcontext():
        asyncio.run(answer())
    return sent
