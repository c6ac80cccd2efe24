"""A server in a child process, and its responses."""

import atexit
import json
import subprocess
import sys
from functools import cache
from http.client import HTTPConnection, HTTPMessage
from time import sleep
from typing import Any, NamedTuple

JSON = {"Content-Type": "application/json"}
PATIENCE = 600  # attempts, 0.1 s apart, until long work can begin


class Reply(NamedTuple):
    """A response of a server."""

    status: int
    headers: HTTPMessage
    body: bytes

    @property
    def record(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Server:
    """`iacta serve` with one worker on a free port.

    options: additional words of the command line.
    """

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "iacta", "serve", "--port", "0", "--workers", "1"]
        self.process = subprocess.Popen(  # noqa: S603 # our own command
            [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()
        assert "http://" in self.line, self.process.communicate()
        self.address = next(word for word in self.line.split() if "://" in word).rstrip("/")
        self.host = self.address.removeprefix("http://")

    def ask(
        self,
        path: str,
        record: object = None,
        *,
        method: str | None = None,
        body: bytes | None = None,
        chunks: list[bytes] | None = None,
        headers: dict[str, str] | None = None,
    ) -> Reply:
        """Send a request and return the response of the server.

        path: the path and the query of the URL.
        record: the JSON to send.
        method: `None` for `POST` if something is sent, otherwise `GET`.
        body, chunks: other bytes to send, as one body or in chunks of unannounced length.
        headers: the headers of the request.
        """
        if record is not None:
            body = json.dumps(record).encode()
            headers = {**JSON, **(headers or {})}
        connection = HTTPConnection(self.host, timeout=300)
        try:
            sent = body if chunks is None else iter(chunks)
            method = method or ("GET" if sent is None else "POST")
            connection.request(method, path, sent, headers or {}, encode_chunked=chunks is not None)
            response = connection.getresponse()
            return Reply(response.status, response.headers, response.read())
        finally:
            connection.close()

    def wait(self) -> None:
        """Wait until the server is ready for long work."""
        for _ in range(PATIENCE):
            if self.ask("/api/v1/plan?from_=Peru=9&others=2&take=Brazil").status != 503:
                return
            sleep(0.1)

    def end(self) -> None:
        """Stop the server."""
        self.process.terminate()
        self.process.communicate()


@cache
def start_shared_server(*options: str) -> Server:
    """Return a server with the given options that runs until the tests end."""
    server = Server(*options)
    atexit.register(server.end)
    return server
