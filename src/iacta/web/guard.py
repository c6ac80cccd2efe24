"""The guard of every address: allowed hosts, sizes of requests, and security headers."""

from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from socket import gethostname

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iacta.inputs.checks import quote
from iacta.web.limits import MOST_BODY_BYTES, MOST_QUERY_BYTES
from iacta.web.problems import ProblemDetails

API = "/api/v1/"
CONTENT = "Content-Type"
TOO_MUCH = f"the body is larger than {MOST_BODY_BYTES:,} bytes"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 # for comparison, not bound
# Nothing comes from another host, and no page has a script or a style in its text.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Guard:
    """Refuses requests for other hosts and large ones, and adds the headers that browsers enforce.

    Another site can point its own name at this machine's address, and so ask a server here; but its
    requests name that site. Numeric addresses are nobody's name: a server that others can reach
    accepts every origin.

    app: the guarded application.
    host: the address that the server listens at.
    names: other names of that host.
    """

    def __init__(self, app: ASGIApp, host: str = "127.0.0.1", names: Iterable[str] = ()) -> None:
        self.app = app
        self.names = {*LOOPBACK, host.lower(), *map(str.lower, names)}
        self.is_open = host in EVERYWHERE
        if self.is_open:
            self.names |= {gethostname().lower(), f"{gethostname().lower()}.local"}
        self._known: set[str] = set()  # values of the header that are let in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal.response()(scope, receive, send_guarded)
        elif "transfer-encoding" in headers:
            await self.app(scope, _limit_body(receive), send_guarded)
        else:
            await self.app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> ProblemDetails | None:
        host = headers.get("host", "")
        if not self._is_ours(host):
            return ProblemDetails(421, "this server has another name than the request asks for")
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            sentence = f"send the body uncompressed, not as {quote(encoding)}"
            return ProblemDetails(415, sentence, headers={"Accept-Encoding": "identity"})
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > MOST_BODY_BYTES:
            return ProblemDetails(413, TOO_MUCH)
        if len(scope["query_string"]) > MOST_QUERY_BYTES:
            return ProblemDetails(414, f"the query is longer than {MOST_QUERY_BYTES:,} bytes")
        return None

    def _is_ours(self, host: str) -> bool:
        if host in self._known:
            return True
        name = host.lower()
        if name.startswith("["):
            name, _, port = name[1:].partition("]")
            port = port.removeprefix(":")
        else:
            name, _, port = name.partition(":")
        if port and not port.isdigit():
            return False
        is_ours = name in self.names or (self.is_open and _is_number(name))
        if is_ours and len(self._known) < 100:
            self._known.add(host)
        return is_ours


def _is_number(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _limit_body(receive: Receive) -> Receive:
    """Bound a body whose length is not known before."""
    received = 0

    async def receive_bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MOST_BODY_BYTES:
            raise HTTPException(413, TOO_MUCH)
        return message

    return receive_bounded


class OpenTo:
    """Lets the pages of other origins ask the API.

    app: what answers.
    origins: such as `https://example.org`, or `*` for all.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self.app = app
        self.opened = CORSMiddleware(
            app, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=[CONTENT]
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with the headers that let a browser pass the answer on."""
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        await (self.opened if path.startswith(API) else self.app)(scope, receive, send)
