"""Access to the API: from which pages, and how many searches at a time."""

from collections import Counter
from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from iacta.web.limits import MOST_AT_A_TIME, RETRY_SECONDS
from iacta.web.problems import ProblemDetails

__all__ = ["Access", "OpenTo"]

API = "/api/v1/"
CONTENT = "Content-Type"
SEARCHES = (f"{API}plan", f"{API}turn/analyse", "/live/turn", "/plan")  # which take long
MANY = f"you are searching {MOST_AT_A_TIME} plans at a time; wait for one of them"


class Access:
    """Bounds how many plans a client searches at a time.

    app: what answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._asking: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope.get("path") not in SEARCHES:
            await self.app(scope, receive, send)
            return
        client = (scope.get("client") or ("",))[0]
        if self._asking[client] >= MOST_AT_A_TIME:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1013})
            else:
                refused = ProblemDetails(429, MANY, headers={"Retry-After": str(RETRY_SECONDS)})
                await refused.response()(scope, receive, send)
            return
        self._asking[client] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._asking[client] -= 1
            if not self._asking[client]:
                del self._asking[client]


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
        is_api = scope["type"] == "http" and scope["path"].startswith(API)
        await (self.opened if is_api else self.app)(scope, receive, send)
