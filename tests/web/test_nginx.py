"""nginx with the configuration in `docs/serve.md`: accepted and rejected requests."""

import configparser
import html
import json
import re
import shlex
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Barrier
from typing import Any, NamedTuple

import pytest

from iacta import read_position
from iacta.cli.parse import read_words
from iacta.cli.serve import ServeCommand
from iacta.web.read_question import list_served_questions
from iacta.web.search_stream import LINES
from tests.web.nginx import NAME, NGINX, context, read_configuration, run_nginx
from tests.web.server import JSON, Reply, Server
from tests.web.test_serve import LONG

CODE = read_position("examples/eliminate-blue.json").to_code()
UNPROVEN: dict[str, Any] = {
    "position": CODE,
    "eliminate": "blue",
    "time_limit": 20,
}  # takes the whole time

needs_nginx = pytest.mark.skipif(NGINX is None, reason="needs nginx")
BATTLE = "/api/v1/battle?attackers=12&defenders=10"


class Proxy(NamedTuple):
    """nginx in front of a server.

    port: the TLS port.
    trust: the TLS context that trusts the certificate of nginx.
    """

    port: int
    trust: ssl.SSLContext

    @contextmanager
    def connect(self, client: str = "127.0.0.1", name: str = NAME) -> Iterator[ssl.SSLSocket]:
        """Connect from a local address to a host name."""
        with (
            socket.create_connection(("127.0.0.1", self.port), 60, (client, 0)) as plain,
            self.trust.wrap_socket(plain, server_hostname=name) as safe,
        ):
            yield safe

    @contextmanager
    def open_response(
        self,
        path: str,
        record: object = None,
        client: str = "127.0.0.1",
        seconds: float = 60,
        **headers: str,
    ) -> Iterator[Any]:
        """Send a request; yield the response before its body is read.

        seconds: the longest time between two parts of the response.
        """
        with self.connect(client) as safe:
            connection = HTTPConnection(NAME)
            connection.sock = safe
            body = None if record is None else json.dumps(record)
            method = "GET" if record is None else "POST"
            connection.request(method, path, body, {**JSON, **headers})
            safe.settimeout(seconds)
            yield connection.getresponse()

    def ask(self, path: str, record: object = None, client: str = "127.0.0.1") -> Reply:
        with self.open_response(path, record, client) as response:
            return Reply(response.status, response.headers, response.read())


@pytest.fixture(scope="module")
def proxy(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("nginx")
    with run_nginx(server.host, folder) as port:
        yield Proxy(port, context(folder))


@needs_nginx
def test_answers_pass_unchanged(proxy: Proxy, server: Server) -> None:
    mine, theirs = server.ask(BATTLE), proxy.ask(BATTLE)
    assert (theirs.status, theirs.body) == (200, mine.body)
    for name in ("ETag", "Content-Security-Policy", "Cache-Control"):
        assert theirs.headers[name] == mine.headers[name]
    assert "max-age" in theirs.headers["Strict-Transport-Security"]
    refused = proxy.ask("/api/v1/battle?attackers=0&defenders=1")
    assert refused.headers["Content-Type"] == "application/problem+json"


@needs_nginx
def test_the_lines_of_a_search_come_as_they_are_found(proxy: Proxy, server: Server) -> None:
    server.wait()
    headers = {"Accept": LINES, "Accept-Encoding": "gzip"}
    # nginx would pass buffered lines at the end of the search, which is later than the timeout.
    half = UNPROVEN["time_limit"] / 2
    with proxy.open_response("/api/v1/plan", UNPROVEN, seconds=half, **headers) as response:
        first = json.loads(next(iter(response)))
    assert "progress" in first or "answer" in first
    server.wait()


@needs_nginx
def test_searches_of_one_client_are_limited_and_do_not_delay_others(proxy: Proxy) -> None:
    together = Barrier(20)

    def search(_: int) -> tuple[int, str, str]:
        with proxy.connect() as safe:
            together.wait(60)
            body = json.dumps({**LONG, "time_limit": 2})
            head = f"POST /api/v1/plan HTTP/1.0\r\nHost: {NAME}\r\n"
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            safe.sendall((head + body).encode())
            reply = b"".join(iter(lambda: safe.recv(65536), b"")).decode()
            other = proxy.ask(BATTLE, client="127.0.0.2")
            assert other.status == 200
            return int(reply.split()[1]), reply.partition("\r\n\r\n")[0], reply

    with ThreadPoolExecutor(20) as pool:
        replies = [*pool.map(search, range(20))]
    refused = [each for each in replies if each[0] == 429]
    assert len(refused) == 16
    for _, head, reply in refused:
        assert "Retry-After: 2" in head
        assert json.loads(reply.rpartition("\r\n\r\n")[2])["status"] == 429


@needs_nginx
def test_requests_for_other_hosts_are_refused(proxy: Proxy) -> None:
    with pytest.raises(ssl.SSLError), proxy.connect(name="evil.example"):
        pass


@needs_nginx
def test_the_connection_of_a_slow_client_is_closed(server: Server, tmp_path: Path) -> None:
    with (
        run_nginx(server.host, tmp_path, **{"header_timeout 10s": "header_timeout 1s"}) as port,
        Proxy(port, context(tmp_path)).connect() as safe,
    ):
        safe.sendall(b"GET / HTTP/1.1\r\nHost:")
        assert safe.recv(1000) == b""


@needs_nginx
def test_the_site_works_below_a_path(tmp_path: Path) -> None:
    below = {
        "location / {": "location /iacta/ {",
        "proxy_pass http://iacta;": "proxy_pass http://iacta/;",
    }
    server = Server("--root-path", "/iacta")
    try:
        with run_nginx(server.host, tmp_path, **below) as port:
            proxy, places = Proxy(port, context(tmp_path)), dict[str, str]()
            for page in ("/iacta/", "/iacta/battle", "/iacta/about", "/iacta/map", "/iacta/docs"):
                found = proxy.ask(page)
                assert found.status == 200, page
                text = found.body.decode()
                links = re.findall(r'(?:href|src)="([^"#:]+)', html.unescape(text))
                assert links
                for link in {*links}:
                    assert not link.startswith("/") or link.startswith("/iacta/"), link
                    place = link if link.startswith("/") else page.rpartition("/")[0] + "/" + link
                    places[_without_dots(place)] = page
            slow = {f"/iacta/{name}" for name in list_served_questions()} - {"/iacta/battle"}
            assert len(slow & places.keys()) > 10  # the menu; other tests ask these questions
            for place in places.keys() - slow:
                assert proxy.ask(place).status == 200, (places[place], place)
            wrong = proxy.ask("/iacta/none/such")
            assert wrong.status == 404
            assert proxy.ask("/battle").status in (403, 404)  # nginx itself answers this path
            described = proxy.ask("/iacta/openapi.json").record
            assert described["servers"] == [{"url": "/iacta"}]
    finally:
        server.end()


def _without_dots(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def test_the_unit_starts_the_server() -> None:
    unit = configparser.ConfigParser()
    unit.optionxform = str  # type: ignore[assignment,method-assign] # keep capitals
    unit.read_string(read_configuration("ini"))
    program, command, *words = shlex.split(unit["Service"]["ExecStart"])
    assert (Path(program).name, command) == ("iacta", "serve")
    texts = read_words([*ServeCommand.parameters()], words, "iacta serve")
    assert ServeCommand.parse(texts).host == "127.0.0.1"
