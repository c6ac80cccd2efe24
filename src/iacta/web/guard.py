"""Security middleware for all routes: allowed hosts, request sizes and security headers."""

from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from socket import gethostname

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iacta.inputs.checks import quote
from iacta.web.limits import MAX_BODY_BYTES, MAX_QUERY_BYTES
from iacta.web.problems import ProblemDetails

API = "/api/v1/"
CONTENT = "Content-Type"
TOO_MUCH = f"the body is larger than {MAX_BODY_BYTES:,} bytes"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 # only compared, not bound
# Pages load nothing from other hosts and contain no inline scripts or styles.
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
    """Middleware that refuses foreign hosts and large requests, and adds security headers.

    Checking the host prevents DNS rebinding: another site can point its domain at this machine, but
    browsers then send this domain as the host. A server that listens on all addresses accepts every
    numeric address as the host, because a numeric address cannot be rebound.

    app: the wrapped application.
    host: the address that the server listens on.
    names: additional host names of this machine.
    """

    def __init__(self, app: ASGIApp, host: str = "127.0.0.1", names: Iterable[str] = ()) -> None:
        self.app = app
        self.names = {*LOOPBACK, host.lower(), *map(str.lower, names)}
        self.is_open = host in EVERYWHERE
        if self.is_open:
            self.names |= {gethostname().lower(), f"{gethostname().lower()}.local"}
        self._known: set[str] = set()  # the accepted values of the header `Host`

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request to the application, or refuse the request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        refusal = self._find_refusal(scope, headers)
        if refusal is not None:
            await refusal.response()(scope, receive, send_guarded)
        elif "transfer-encoding" in headers:
            await self.app(scope, _limit_body(receive), send_guarded)
        else:
            await self.app(scope, receive, send_guarded)

    def _find_refusal(self, scope: Scope, headers: Headers) -> ProblemDetails | None:
        host = headers.get("host", "")
        if not self._is_ours(host):
            return ProblemDetails(421, "the host in the request is not this server")
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            sentence = f"send the body uncompressed, not as {quote(encoding)}"
            return ProblemDetails(415, sentence, headers={"Accept-Encoding": "identity"})
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > MAX_BODY_BYTES:
            return ProblemDetails(413, TOO_MUCH)
        if len(scope["query_string"]) > MAX_QUERY_BYTES:
            return ProblemDetails(414, f"the query is longer than {MAX_QUERY_BYTES:,} bytes")
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
        is_ours = name in self.names or (self.is_open and _is_ip_address(name))
        if is_ours and len(self._known) < 100:
            self._known.add(host)
        return is_ours


def _is_ip_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _limit_body(receive: Receive) -> Receive:
    """Limit the size of a request body without a `Content-Length`."""
    received = 0

    async def receive_bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_BODY_BYTES:
            raise HTTPException(413, TOO_MUCH)
        return message

    return receive_bounded


class CrossOrigin:
    """Middleware that lets pages of other sites call the API.

    app: the wrapped application.
    origins: the origins of the sites, such as `https://example.org`; `*` for all sites.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self.app = app
        self.opened = CORSMiddleware(
            app, allow_origins=origins, allow_methods=["GET", "POST"], allow_headers=[CONTENT]
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; add CORS headers if it is for the API."""
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        await (self.opened if path.startswith(API) else self.app)(scope, receive, send)
